"""The GitHub action, the GitLab template and the script for other systems, run as those systems run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import check_jsonschema
import jsonschema
import pytest
import yaml

from harness.core.process import run
from tests import served, tiny
from tests.gate_runs import make_run
from tests.model_server import ModelServer
from tests.model_server.server import KEY
from tests.solve_room import GOOD, make_dataset

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((ROOT / "docs/ci/gitlab.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ours():
    """The path of goldseam."""
    with served.program() as started:
        yield str(started)


def schema(name):
    """A schema of SchemaStore, as check-jsonschema brings it."""
    folder = Path(check_jsonschema.__file__).parent / "builtin_schemas" / "vendor"
    return json.loads((folder / f"{name}.json").read_bytes())


@pytest.mark.parametrize(
    ("path", "name"),
    [("action.yml", "github-actions"), ("docs/ci/github.yml", "github-workflows"), ("docs/ci/gitlab.yml", "gitlab-ci")],
)
def test_a_template_is_valid_by_its_published_schema(path, name):
    document = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    if True in document:
        document["on"] = document.pop(True)  # YAML 1.1 takes the key `on` for a boolean; GitHub does not
    kind = schema(name)

    found = jsonschema.validators.validator_for(kind)(kind).iter_errors(document)

    assert [error.message for error in found] == []


EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+(?:\s*\|\|\s*[\w.-]+)*)\s*\}\}")
"""A name, or the first of several that is not empty."""


def expressions(value):
    text = json.dumps(value)
    assert len(EXPRESSION.findall(text)) == text.count("${{")
    return {name.strip() for names in EXPRESSION.findall(text) for name in names.split("||")}


def test_the_action_uses_each_of_its_inputs_and_no_other():
    used = {name.removeprefix("inputs.") for name in expressions(ACTION) if name.startswith("inputs.")}

    assert used == set(ACTION["inputs"])


def test_no_input_is_pasted_into_a_script():
    assert [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step["run"]] == []


def test_the_action_uploads_nothing_and_calls_no_other_action():
    assert [step for step in ACTION["runs"]["steps"] if "uses" in step] == []


def test_the_workflow_example_gives_only_inputs_that_there_are():
    workflow = yaml.safe_load((ROOT / "docs/ci/github.yml").read_text(encoding="utf-8"))
    [step] = [step for step in workflow["jobs"]["gate"]["steps"] if step.get("id") == "gate"]

    assert set(step["with"]) <= set(ACTION["inputs"])
    assert {"verdict", "junit"} <= set(ACTION["outputs"])


class Runner:
    """What GitHub's runner does with a composite action."""

    def __init__(self, folder: Path, **inputs: object) -> None:
        self.folder = folder
        self.outputs: dict[str, dict[str, str]] = {}
        self.code = 0
        self.text = ""
        self.summary = folder / "summary.md"
        given = {name: str(spec.get("default", "")) for name, spec in ACTION["inputs"].items()}
        given |= {name: str(value) for name, value in inputs.items()}
        self.known = {f"inputs.{name}": value for name, value in given.items()}
        self.known |= {"github.action_path": str(ROOT), "runner.temp": str(folder / "temp")}
        (folder / "temp").mkdir()

    def start(self) -> Runner:
        for step in ACTION["runs"]["steps"]:
            if self.code == 0:
                self._step(step)
        return self

    def _step(self, step) -> None:
        output = self.folder / f"{step['id']}.output"
        output.touch()
        env = {name: self._filled(value) for name, value in step["env"].items()}
        env |= {"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.summary)}
        script = self.folder / f"{step['id']}.sh"
        script.write_text(step["run"], encoding="utf-8")
        done = run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder,
            env={**os.environ, **env},
            check=False,
        )
        self.code, self.text = done.returncode, self.text + done.stdout.decode() + done.stderr.decode()
        lines = (line.partition("=") for line in output.read_text(encoding="utf-8").splitlines())
        self.outputs[step["id"]] = {name: value for name, _, value in lines}

    def output(self, name: str) -> str:
        """An output of the action."""
        return self._filled(ACTION["outputs"][name]["value"])

    def _value(self, name: str) -> str:
        if name.startswith("steps."):
            _, step, _, output = name.split(".")
            return self.outputs.get(step, {}).get(output, "")
        return self.known[name]

    def _filled(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            return next(filter(None, (self._value(name.strip()) for name in match[1].split("||"))), "")

        return EXPRESSION.sub(value, text)


def test_the_action_passes_and_accepts_the_first_run(tmp_path, ours):
    make_run(tmp_path / "next run", 26)

    done = Runner(
        tmp_path, candidate="next run", baseline="kept.json", command=ours, **{"accept-to": "kept.json"}
    ).start()

    assert (done.code, done.outputs["gate"]["verdict"], done.outputs["gate"]["exit-code"]) == (0, "pass", "0")
    assert (tmp_path / "kept.json").is_file()
    assert (tmp_path / "goldseam-junit.xml").is_file()
    assert done.summary.read_text(encoding="utf-8").startswith("## ✅ Pass")


def test_the_action_fails_on_a_regression(tmp_path, ours):
    make_run(tmp_path / "base", 26)
    make_run(tmp_path / "-next", 8)

    done = Runner(tmp_path, candidate="-next", baseline="base", command=ours, sarif="x.sarif").start()

    assert (done.code, done.outputs["gate"]["verdict"], done.outputs["gate"]["lost"]) == (1, "regression", "18")
    assert "::error title=goldseam gate%3A max_drop::" in done.text
    assert (tmp_path / "x.sarif").is_file()


def test_the_action_tells_unusable_input_by_its_exit_code(tmp_path, ours):
    done = Runner(tmp_path, candidate="nowhere", baseline="neither", command=ours).start()

    assert (done.code, done.outputs["gate"]) == (2, {"exit-code": "2"})


EVIL = '$(touch owned)`touch owned`";touch owned;"'


def test_inputs_are_no_shell_code(tmp_path, ours):
    make_run(tmp_path / "next", 26)

    done = Runner(tmp_path, candidate="next", baseline=EVIL, model=EVIL, command=ours).start()

    assert done.code == 2
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("predictions", ["", EVIL], ids=["solve", "evaluate"])
def test_inputs_for_a_run_are_no_shell_code(predictions, tmp_path, ours):
    names = ("dataset", "model", "base-url", "api-key-env", "samples", "max-cost", "assume-price")
    evil = dict.fromkeys((*names, "run", "identity", "jobs", "config"), EVIL)

    done = Runner(tmp_path, command=ours, predictions=predictions, **evil).start()

    assert (done.code, done.output("exit-code")) == (2, "2")
    assert not (tmp_path / "owned").exists()


@pytest.mark.engine
def test_the_action_makes_a_run_of_predictions_and_gates_it(tmp_path, tiny_image, ours):
    tiny.dataset(tmp_path / "bench", tiny.task(tiny_image))
    tiny.write_predictions(tmp_path / "p.jsonl", {"first": tiny.GOLD, "second": tiny.GOLD})

    done = Runner(
        tmp_path,
        command=ours,
        dataset="bench",
        predictions="p.jsonl",
        run="-next run",
        model="second",
        require="inside",
        jobs=1,
        **{"accept-to": "kept.json"},
    ).start()

    assert (done.code, done.output("verdict"), done.output("exit-code")) == (0, "pass", "0"), done.text
    assert (done.output("run"), done.output("resolved-rate")) == ("-next run", "1.0000")
    assert json.loads((tmp_path / "-next run" / "report.json").read_bytes())["resolved_instances"] == 2
    assert json.loads((tmp_path / "kept.json").read_bytes())["model"] == "second"


@pytest.mark.engine
def test_the_action_fails_where_the_run_it_made_breaks_a_rule(tmp_path, ours):
    tiny.dataset(tmp_path / "bench", tiny.task())
    tiny.write_predictions(tmp_path / "p.jsonl", {"model": ""})  # an empty patch needs no container
    (tmp_path / "rules.toml").write_text('[gate]\nrequire = "inside"\nmust_pass = ["tiny__calc-1"]\n', encoding="utf-8")

    done = Runner(tmp_path, command=ours, dataset="bench", predictions="p.jsonl", config="rules.toml").start()

    assert (done.code, done.output("verdict"), done.output("exit-code")) == (1, "regression", "1"), done.text


@pytest.mark.engine
def test_the_action_cannot_tell_of_a_run_without_a_task_that_counts(tmp_path, ours):
    tiny.dataset(tmp_path / "bench", tiny.task())  # judged inside, so that it does not count by default
    tiny.write_predictions(tmp_path / "p.jsonl", {"model": ""})

    done = Runner(tmp_path, command=ours, dataset="bench", predictions="p.jsonl").start()

    assert (done.code, done.output("verdict"), done.output("exit-code")) == (3, "inconclusive", "3"), done.text


@pytest.mark.engine
def test_the_action_asks_a_model_and_gates_the_run_of_its_answers(tmp_path, tiny_image, monkeypatch, ours):
    make_dataset(tmp_path / "bench", 1, image=tiny_image)
    monkeypatch.setenv("ACME_KEY", KEY)

    with ModelServer({"acme-1": lambda _: GOOD}, offers=("chat",), keys=(KEY,)) as server:
        inputs = {
            "base-url": server.base_url,
            "api-key-env": "ACME_KEY",
            "samples": 2,
            "max-cost": 5,
            "assume-price": "3/15",
        }
        done = Runner(tmp_path, command=ours, dataset="bench", model="acme-1", require="inside", **inputs).start()

    assert (done.code, done.output("verdict"), done.output("run")) == (0, "pass", "runs/candidate"), done.text
    assert len((tmp_path / "runs" / "candidate.predictions.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    assert server.problems == []


def test_the_action_gates_nothing_where_no_run_could_be_made(tmp_path, ours):
    done = Runner(tmp_path, command=ours, dataset="nowhere", predictions="neither").start()

    assert (done.code, done.output("exit-code"), done.output("verdict")) == (2, "2", "")
    assert "gate" not in done.outputs


@pytest.mark.parametrize(
    "inputs", [{}, {"candidate": "next", "dataset": "bench"}], ids=["no dataset", "no run to make"]
)
def test_the_action_refuses_predictions_that_it_would_not_score(inputs, tmp_path, ours):
    done = Runner(tmp_path, command=ours, predictions="p.jsonl", **inputs).start()

    assert (done.code, done.output("exit-code")) == (2, "2")
    assert "predictions are scored on a dataset" in done.text


def test_the_action_names_a_dataset_without_anything_to_score(tmp_path, ours):
    done = Runner(tmp_path, command=ours, dataset="bench").start()

    assert (done.code, done.output("exit-code")) == (2, "2")
    assert "set predictions, or model to ask for them" in done.text


def test_the_action_names_a_command_that_is_not_there(tmp_path):
    done = Runner(tmp_path, candidate="next", command="no-such-goldseam").start()

    assert done.code == 2
    assert "::error::there is no no-such-goldseam" in done.text


def test_the_action_installs_what_it_came_with(tmp_path, monkeypatch):
    """Its dependencies are there already; `make package` installs it where nothing is."""
    make_run(tmp_path / "next", 26)
    (tmp_path / "dependencies").mkdir()
    for installed in Path(pytest.__file__).parents[1].iterdir():
        if "goldseam" not in installed.name:
            (tmp_path / "dependencies" / installed.name).symlink_to(installed)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "dependencies"))

    done = Runner(tmp_path, candidate="next", python=sys.executable).start()

    assert done.code == 0, done.text
    assert done.outputs["install"]["command"] == str(tmp_path / "temp" / "goldseam" / "bin" / "goldseam")


def gitlab(ours, folder, branch, tmp_path, **variables):
    """The job's script as GitLab's runner puts it together, with goldseam as if installed."""
    job = GITLAB["goldseam gate"]
    tools = folder / ".goldseam" / "venv" / "bin"
    tools.mkdir(parents=True, exist_ok=True)
    if not (tools / "goldseam").exists():
        (tools / "goldseam").symlink_to(ours)
    lines = [line for line in job["script"] if "venv .goldseam" not in line and "pip install" not in line]
    assert len(lines) == len(job["script"]) - 2
    script = tmp_path / "job.sh"
    script.write_text("set -e\n" + "\n".join(lines) + "\n", encoding="utf-8")
    env = {**os.environ, **GITLAB["variables"], **variables, "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_BRANCH": branch}
    return run(["sh", str(script)], cwd=folder, env=env, check=False)


def test_the_gitlab_job_accepts_on_the_default_branch_and_fails_on_a_regression(tmp_path, ours):
    folder = tmp_path / "project"
    make_run(folder / "runs" / "candidate", 26)
    assert gitlab(ours, folder, "main", tmp_path).returncode == 0
    make_run(folder / "runs" / "candidate", 8)

    done = gitlab(ours, folder, "topic", tmp_path)

    assert done.returncode == 1
    assert (folder / GITLAB["goldseam gate"]["artifacts"]["reports"]["junit"]).is_file()
    assert json.loads((folder / ".goldseam" / "accepted.json").read_bytes())["run"] == "candidate"


def test_the_gitlab_job_accepts_nothing_on_other_branches(tmp_path, ours):
    folder = tmp_path / "project"
    make_run(folder / "runs" / "candidate", 26)

    assert gitlab(ours, folder, "topic", tmp_path).returncode == 0
    assert not (folder / ".goldseam" / "accepted.json").exists()


@pytest.mark.engine
def test_the_gitlab_job_makes_a_run_of_predictions_and_gates_it(tmp_path, tiny_image, ours):
    folder = tmp_path / "project"
    tiny.dataset(folder / "bench", tiny.task(tiny_image))
    tiny.write_predictions(folder / "p.jsonl", {"model": tiny.GOLD})
    made = {"GOLDSEAM_DATASET": "bench", "GOLDSEAM_PREDICTIONS": "p.jsonl", "GOLDSEAM_GATE_REQUIRE": "inside"}

    done = gitlab(ours, folder, "main", tmp_path, **made)

    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((folder / "runs/candidate/report.json").read_bytes())["resolved_instances"] == 1
    assert (folder / ".goldseam" / "accepted.json").is_file()


@pytest.mark.engine
def test_the_gitlab_job_asks_a_model_and_gates_the_run_of_its_answers(tmp_path, tiny_image, ours):
    folder = tmp_path / "project"
    make_dataset(folder / "bench", 1, image=tiny_image)

    with ModelServer({"acme-1": lambda _: GOOD}, offers=("chat",), keys=(KEY,)) as server:
        asked = {"GOLDSEAM_MODEL": "acme-1", "OPENAI_BASE_URL": server.base_url, "GOLDSEAM_API_KEY_ENV": "ACME_KEY"}
        limits = {"GOLDSEAM_MAX_COST": "5", "GOLDSEAM_ASSUME_PRICE": "3/15"}
        made = {"GOLDSEAM_DATASET": "bench", "ACME_KEY": KEY, "GOLDSEAM_GATE_REQUIRE": "inside"}
        done = gitlab(ours, folder, "topic", tmp_path, **asked, **limits, **made)

    assert done.returncode == 0, done.stdout + done.stderr
    assert server.problems == []


def test_the_gitlab_job_names_a_dataset_without_anything_to_score(tmp_path, ours):
    done = gitlab(ours, tmp_path, "main", tmp_path, GOLDSEAM_DATASET="bench")

    assert (done.returncode, done.stderr) == (2, b"set GOLDSEAM_PREDICTIONS or GOLDSEAM_MODEL\n")


def other_system(ours, folder, **variables):
    """The script for other systems, and the gate after it, as the guide has them."""
    guide = (ROOT / "docs" / "howto" / "ci.md").read_text(encoding="utf-8")
    [call, gate] = re.search(r"^    (DATASET=.*)\n    (goldseam gate .*)$", guide, re.MULTILINE).groups()
    script = ROOT / "docs" / "ci" / "evaluate-candidate.sh"
    call = " ".join([str(script), *call.split("evaluate-candidate.sh")[1].split()])
    path = f"{Path(ours).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "DATASET": "bench", "GOLDSEAM_GATE_REQUIRE": "inside", **variables}
    return run(["bash", "-ec", f"{call}\n{gate}"], cwd=folder, env=env, check=False)


@pytest.mark.engine
def test_the_script_scores_predictions_and_the_gate_accepts_them(tmp_path, tiny_image, ours):
    tiny.dataset(tmp_path / "bench", tiny.task(tiny_image))
    tiny.write_predictions(tmp_path / "p.jsonl", {"model": tiny.GOLD})

    done = other_system(ours, tmp_path, PREDICTIONS="p.jsonl")

    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "runs" / "candidate" / "report.json").read_bytes())["resolved_instances"] == 1
    assert json.loads((tmp_path / "accepted.json").read_bytes())["model"] == "model"
    assert (tmp_path / "junit.xml").is_file()


@pytest.mark.engine
def test_the_script_asks_a_model_and_continues_what_was_asked(tmp_path, tiny_image, ours):
    make_dataset(tmp_path / "bench", 1, image=tiny_image)

    with ModelServer({"acme-1": lambda _: GOOD}, offers=("chat",), keys=(KEY,)) as server:
        asked = {"MODEL": "acme-1", "ASSUME_PRICE": "3/15", "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        done = other_system(ours, tmp_path, **asked)
        lines = (tmp_path / "predictions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "predictions.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")
        shutil.rmtree(tmp_path / "runs")
        (tmp_path / "accepted.json").unlink()
        again = other_system(ours, tmp_path, **asked)

    assert done.returncode == 0, done.stdout + done.stderr
    assert again.returncode == 0, again.stdout + again.stderr
    assert len((tmp_path / "predictions.jsonl").read_text(encoding="utf-8").splitlines()) == len(lines) == 3
    assert server.problems == []


@pytest.mark.engine
def test_the_script_ends_before_the_model_is_scored_where_a_task_no_longer_holds(tmp_path, tiny_image, ours):
    tiny.dataset(tmp_path / "bench", tiny.task(tiny_image, gold=tiny.fix("return a * b + 1")))
    tiny.write_predictions(tmp_path / "p.jsonl", {"model": tiny.GOLD})

    done = other_system(ours, tmp_path, PREDICTIONS="p.jsonl")

    assert done.returncode == 1, done.stdout + done.stderr
    assert not (tmp_path / "runs" / "candidate").exists()
