"""Inspect's sandbox on a bare engine: its own needs Docker Compose, which not every machine has.

Run by Inspect's Python: `inspect_engine.py LOGS FOLDER:{gold|agent}…` evaluates exported tasks, with their own fixes or
with the mock model as an agent, and prints what became of every sample: a JSON list with one object a folder.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.util import ExecResult, SandboxEnvironment, sandboxenv


@sandboxenv(name="plain")
class PlainDocker(SandboxEnvironment):
    """One container of the sample's image, as its compose file says, driven by the docker command."""

    def __init__(self, container):
        super().__init__()
        self.container = container

    @classmethod
    async def sample_init(cls, task_name, config, metadata):
        service = yaml.safe_load(Path(config).read_text())["services"]["default"]
        options = ["--network", service["network_mode"], "--memory", service["mem_limit"], "-w", service["working_dir"]]
        done = docker("run", "-d", "--rm", "--init", *options, service["image"], *service["command"].split())
        assert done.returncode == 0, done.stderr
        return {"default": cls(done.stdout.decode().strip())}

    @classmethod
    async def sample_cleanup(cls, task_name, config, environments, interrupted):
        for environment in environments.values():
            docker("kill", environment.container)

    async def exec(
        self, cmd, input=None, cwd=None, env=None, user=None, timeout=None, timeout_retry=True, concurrency=True
    ):
        options = [word for pair in (env or {}).items() for word in ("-e", "=".join(pair))]
        given = input.encode() if isinstance(input, str) else input
        done = docker(
            "exec", "-i", *options, "-w", cwd or "/testbed", self.container, *cmd, given=given, timeout=timeout
        )
        return ExecResult(done.returncode == 0, done.returncode, done.stdout.decode(), done.stderr.decode())

    async def write_file(self, file, contents):
        given = contents.encode() if isinstance(contents, str) else contents
        script = f"mkdir -p $(dirname {file}) && cat > {file}"
        assert docker("exec", "-i", self.container, "sh", "-c", script, given=given).returncode == 0

    async def read_file(self, file, text=True):
        found = docker("exec", self.container, "cat", file)
        if found.returncode:
            raise FileNotFoundError(file)
        return found.stdout.decode() if text else found.stdout


def docker(*words, given=None, timeout=None):
    given = {"input": given} if given is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run(["docker", *words], capture_output=True, timeout=timeout, check=False, **given)


def answer(messages, tools, tool_choice, config):
    """What the mock model says: one command that mends the bug, unless the statement asks not to, then the end."""
    mend = "s/a - b/a * b/" if "Leave it" in messages[-1].text else "s/a - b/b + a/"
    if messages[-1].role == "user":
        output = ModelOutput.for_tool_call("mock", "bash", {"command": f"sed -i '{mend}' src/calc/__init__.py"})
    else:
        output = ModelOutput.for_tool_call("mock", "submit", {"answer": "done"})
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it counts them with a download
    return output


def outcome(logs, folder, how):
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    arguments = {"sandbox": "plain", "gold": how == "gold"}
    os.chdir(Path(folder).parent)  # Inspect takes relative paths alone
    [log] = inspect_eval(f"{Path(folder).name}/task.py", task_args=arguments, model=model, log_dir=logs, display="none")
    assert log.status == "success", log.error
    return {sample.id: score.model_dump() for sample in log.samples for score in sample.scores.values()}


print(json.dumps([outcome(sys.argv[1], *job.split(":")) for job in sys.argv[2:]]))
