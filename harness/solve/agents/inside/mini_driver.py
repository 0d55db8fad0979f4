# Runs in the environment that mini-swe-agent is installed in, and knows nothing of goldseam. It is mini-swe-agent's own
# agent with its own configuration for SWE-bench; its model and its environment are whoever talks to this program, in
# lines of JSON: a question or a command goes out, the answer comes in.
import json
import os
import sys
from types import SimpleNamespace

import yaml
from minisweagent import __version__, config
from minisweagent.agents.default import DefaultAgent
from minisweagent.exceptions import FormatError, InterruptAgentFlow, LimitsExceeded, Submitted
from minisweagent.models.utils.actions_toolcall import (
    BASH_TOOL,
    format_toolcall_observation_messages,
    parse_toolcall_actions,
)

CONFIG = os.path.join(os.path.dirname(config.__file__), "benchmarks", "swebench.yaml")
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
HEARD, SAID = sys.stdin, sys.stdout
sys.stdout = sys.stderr


def ask(kind, **fields):
    SAID.write(json.dumps({"t": kind, **fields}) + "\n")
    SAID.flush()
    answer = json.loads(HEARD.readline())
    if "stop" in answer:
        raise LimitsExceeded(exit_message(answer["stop"]))
    return answer


def exit_message(status, submission=""):
    return {"role": "exit", "content": submission, "extra": {"exit_status": status, "submission": submission}}


class Model:
    def __init__(self, settings):
        self.settings = settings
        self.config = SimpleNamespace(model_dump=lambda **_: dict(settings))

    def query(self, messages, **_):
        plain = [{key: value for key, value in message.items() if key != "extra"} for message in messages]
        reply = ask("query", messages=plain, tools=[BASH_TOOL])
        message = reply["message"]
        calls = [
            SimpleNamespace(id=call["id"], function=SimpleNamespace(**call["function"]))
            for call in message.get("tool_calls") or ()
        ]
        cost = {"cost": reply["cost"]}
        try:
            actions = parse_toolcall_actions(
                calls,
                format_error_template=self.settings["format_error_template"],
                template_kwargs={"finish_reason": reply["finish_reason"]},
            )
        except FormatError as error:
            error.messages[0]["extra"].update(cost)
            raise
        return {**message, "extra": {"actions": actions, **cost}}

    def format_message(self, **fields):
        return fields

    def format_observation_messages(self, message, outputs, template_vars=None):
        return format_toolcall_observation_messages(
            actions=message.get("extra", {}).get("actions", []),
            outputs=outputs,
            observation_template=self.settings["observation_template"],
            template_vars=template_vars,
        )

    def get_template_vars(self, **_):
        return dict(self.settings)

    def serialize(self):
        return {}


class Environment:
    def __init__(self, settings, about):
        self.settings = settings
        self.about = about
        self.config = SimpleNamespace(model_dump=lambda **_: dict(settings))

    def execute(self, action, cwd=""):
        output = ask("execute", command=action.get("command", ""), seconds=self.settings.get("timeout", 60))
        lines = output["output"].lstrip().splitlines(keepends=True)
        if lines and lines[0].strip() == SUBMIT and output["returncode"] == 0:
            raise Submitted(exit_message("Submitted", "".join(lines[1:])))
        return output

    def get_template_vars(self, **_):
        return {**self.settings, **self.about}

    def serialize(self):
        return {}


def main():
    job = json.loads(HEARD.readline())
    with open(CONFIG, encoding="utf-8") as file:
        settings = yaml.safe_load(file)
    # what a question costs is known outside, and so are the limits
    agent_settings = {
        **settings["agent"],
        "cost_limit": 0.0,
        "step_limit": job["step_limit"] or settings["agent"]["step_limit"],
    }
    agent_settings["system_template"] = "{{goldseam_header}}" + agent_settings["system_template"]
    agent = DefaultAgent(
        Model(settings["model"]), Environment(settings.get("environment") or {}, job["about"]), **agent_settings
    )
    header = job["header"] + "\n\n" if job["header"] else ""
    ended = agent.run(job["task"], goldseam_header=header)
    SAID.write(
        json.dumps({"t": "end", "status": ended.get("exit_status", ""), "submission": ended.get("submission", "")})
        + "\n"
    )
    SAID.flush()


main()
