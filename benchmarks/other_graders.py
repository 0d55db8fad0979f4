"""`swebench` and Harbor on the task of bench_task.py, as their users run them: warm in a batch, and as a command.

Each is installed once from the package index into an environment of its own (tests/pypi_tools.py). A batch is timed
inside a process that has loaded the tool already; a command is timed from its start to its end. How many of the gold
patches were graded as resolved is counted: a fast wrong answer is no answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from benchmarks.bench_task import test_command, timed
from harness.core.process import dialogue, run
from tests import pypi_tools

if TYPE_CHECKING:
    from types import TracebackType

    from harness.core.instance import Task
    from harness.core.process import Dialogue

_PLUGIN = """\
#!/bin/sh
if [ "$1" = docker-cli-plugin-metadata ]; then
    echo '{{"SchemaVersion":"0.1.0","Vendor":"goldseam benchmarks","Version":"stand-in"}}'
    exit
fi
exec {python} -S -E -s {program} "$@"
"""


class Tool:
    """A program from the package index, kept running in a folder of its own: one batch in, milliseconds out."""

    name: str
    program: str

    def __init__(self, python: Path, folder: Path, *, at_once: bool = False) -> None:
        self.python, self.folder, self.at_once = python, folder, at_once
        self.env = {**os.environ, "HF_HUB_OFFLINE": "1"}
        self.runs = self.graded = self.solved = 0
        self._stack = contextlib.ExitStack()
        self._talk: Dialogue
        folder.mkdir(parents=True)

    def __enter__(self) -> Self:
        argv: list[str | Path] = [self.python, "-c", self.program]
        self._talk = self._stack.enter_context(dialogue(argv, env=self.env, cwd=self.folder))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def batch(self, count: int, workers: int) -> float:
        """Milliseconds that a batch of so many evaluations takes in the running process."""
        self.runs += 1
        self._talk.heard.write(json.dumps(self._job(count, workers)).encode() + b"\n")
        self._talk.heard.flush()
        line = self._talk.said.readline()
        if not line:
            sys.exit(f"{self.name} ended: {self._talk.error_text}")
        self._check(count)
        return float(line)

    def command(self) -> float:
        """Milliseconds that the whole command takes for one prediction."""
        self.runs += 1
        argv = self._argv()
        took = timed(lambda: run(argv, env=self.env, cwd=self.folder, check=False))
        self._check(1)
        return took

    def _check(self, count: int) -> None:
        solved = self._solved()
        if not solved:
            sys.exit(f"{self.name} resolved none of {count} with the gold patch")
        self.graded += count
        self.solved += solved

    def _job(self, count: int, workers: int) -> dict[str, object]:
        raise NotImplementedError

    def _argv(self) -> list[str | Path]:
        raise NotImplementedError

    def _solved(self) -> int:
        raise NotImplementedError


class Swebench(Tool):
    """`swebench` 5: `run_instances`, and `swebench eval`."""

    name = "swebench"
    program = """\
import contextlib, json, sys, time
from swebench.harness.run_evaluation import run_instances
for line in sys.stdin:
    job = json.loads(line)
    began = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        run_instances(job["predictions"], job["instances"], job["workers"], job["run"], 1800)
    print(1000 * (time.perf_counter() - began), flush=True)
"""

    def __init__(self, python: Path, task: Task, folder: Path, *, at_once: bool = False) -> None:
        super().__init__(python, folder, at_once=at_once)
        self.task = task
        if at_once:
            self.env |= {"PATH": pypi_tools.hasty_docker(folder)}
        self._write("rows.jsonl", self._instance(0))
        self._write("predictions.jsonl", self._prediction(0))

    def _write(self, name: str, row: dict[str, object]) -> None:
        (self.folder / name).write_text(json.dumps(row) + "\n")

    def _prediction(self, number: int) -> dict[str, object]:
        patch = self.task.hidden.gold_patch.decode()
        return {"instance_id": f"bench__calc-{number}", "model_name_or_path": "gold", "model_patch": patch}

    def _instance(self, number: int) -> dict[str, object]:
        script = [
            "cd /testbed",
            "cat > /tmp/test.patch <<'EOF_TESTS'",
            self.task.hidden.test_patch.decode().rstrip("\n"),
            "EOF_TESTS",
            "git apply /tmp/test.patch",
            ": '>>>>> Start Test Output'",
            f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {test_command(self.task, '-rA')}",
            ": '>>>>> End Test Output'",
        ]
        return {
            "instance_id": f"bench__calc-{number}",
            "image": self.task.instance.image,
            "repo": "bench/calc",
            "version": "1",
            "FAIL_TO_PASS": list(self.task.hidden.fail_to_pass),
            "PASS_TO_PASS": [],
            "log_parser": "parse_log_pytest",
            "eval_type": "pass_and_fail",
            "eval_script": "\n".join(script) + "\n",
        }

    def _job(self, count: int, workers: int) -> dict[str, object]:
        predictions = {f"bench__calc-{number}": self._prediction(number) for number in range(count)}
        instances = [self._instance(number) for number in range(count)]
        return {"instances": instances, "predictions": predictions, "workers": workers, "run": f"bench{self.runs}"}

    def _argv(self) -> list[str | Path]:
        program = self.python.parent / "swebench"
        return [program, "eval", "rows.jsonl", "-p", "predictions.jsonl", "-j", "1", "--run-id", f"bench{self.runs}"]

    def _solved(self) -> int:
        reports = self.folder.glob(f"logs/run_evaluation/bench{self.runs}/*/*/report.json")
        return sum('"resolved": true' in report.read_text() for report in reports)


class Harbor(Tool):
    """Harbor's own Docker environment and its agent `oracle`: a job, and `harbor run`."""

    name = "harbor"
    program = """\
import asyncio, contextlib, json, sys, time
from harbor.job import Job
from harbor.models.job.config import JobConfig
async def run(config):
    await (await Job.create(JobConfig.model_validate(config))).run()
for line in sys.stdin:
    config = json.loads(line)
    began = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        asyncio.run(run(config))
    print(1000 * (time.perf_counter() - began), flush=True)
"""

    def __init__(self, python: Path, task: Task, folder: Path, *, at_once: bool = False) -> None:
        super().__init__(python, folder, at_once=at_once)
        self.env |= {"HARBOR_TELEMETRY": "0", "HOME": str(folder)}
        self.compose = "docker compose"
        if run(["docker", "compose", "version"], check=False).returncode:
            self.compose = "the stand-in for docker compose"
            self.env["DOCKER_CONFIG"] = str(_plugin(folder / "docker"))
            if at_once:
                self.env["STAND_IN_STOP_SECONDS"] = "0"
        _harbor_task(task, folder / "task")

    def _job(self, count: int, workers: int) -> dict[str, object]:
        return {
            "job_name": f"bench{self.runs}",
            "jobs_dir": str(self.folder / "jobs"),
            "n_attempts": count,
            "n_concurrent_trials": workers,
            "quiet": True,
            "tasks": [{"path": str(self.folder / "task")}],
            "agents": [{"name": "oracle"}],
        }

    def _argv(self) -> list[str | Path]:
        program = self.python.parent / "harbor"
        name = f"bench{self.runs}"
        return [program, "run", "-p", "task", "-a", "oracle", "-o", "jobs", "--job-name", name, "-n", "1", "--yes"]

    def _solved(self) -> int:
        found: list[Any] = [
            json.loads(path.read_bytes()) for path in self.folder.glob(f"jobs/bench{self.runs}/*/result.json")
        ]
        return sum((one.get("verifier_result") or {}).get("rewards", {}).get("reward") == 1 for one in found)


def _plugin(folder: Path) -> Path:
    """A docker configuration in which `docker compose` is our stand-in."""
    script = folder / "cli-plugins/docker-compose"
    script.parent.mkdir(parents=True)
    program = Path(__file__).parent / "compose_stand_in.py"
    script.write_text(_PLUGIN.format(python=Path(sys.executable).resolve(), program=program))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


def _harbor_task(task: Task, folder: Path) -> None:
    """The task by Harbor's format: the same patches, the same test command; pytest's exit code is the reward."""
    texts = {
        "task.toml": 'schema_version = "1.4"\n[task]\nname = "bench/calc"\nversion = "1"\n'
        f'[environment]\nworkdir = "/testbed"\ndocker_image = "{task.instance.image}"\n',
        "instruction.md": "Adding subtracts.\n",
        "environment/Dockerfile": f"FROM {task.instance.image}\n",
        "solution/solve.sh": "#!/bin/bash\ncd /testbed && git apply /solution/gold.patch\n",
        "solution/gold.patch": task.hidden.gold_patch.decode(),
        "tests/test.sh": "#!/bin/bash\ncd /testbed && git apply /tests/test.patch\n"
        f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {test_command(task)}\n"
        "[ $? = 0 ] && reward=1 || reward=0\necho $reward > /logs/verifier/reward.txt\n",
        "tests/test.patch": task.hidden.test_patch.decode(),
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
