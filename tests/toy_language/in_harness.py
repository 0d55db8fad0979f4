"""The toy language's side in the harness: a program of its own inside, and what its frames mean."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

from harness.core.instance import TestStatus
from harness.languages.base import Language, Program, TestReport

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from harness.core.instance import TestSpec
    from harness.languages.base import Framework, Reason

RUNNER = """
import json, os, pathlib, sys
facts = {line for path in pathlib.Path("src").rglob("*.toy") for line in path.read_text().splitlines()}
tests = [(path, line) for path in sys.argv[2:] for line in pathlib.Path(path).read_text().splitlines()]
frames = open(3, "w", closefd=False)
say = lambda **frame: print(json.dumps(frame), file=frames, flush=True)
say(t="collected", ids=[f"{path}::{line.partition(':')[0]}" for path, line in tests])
for path, line in tests if sys.argv[1] == "run" else []:
    name, _, fact = line.partition(": ")
    say(t="report", id=f"{path}::{name}", passed=fact in facts, text=f"nobody says {fact}")
"""


class Facts:
    """The toy's only framework."""

    name = "facts"

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        statuses: dict[str, TestStatus] = {}
        texts: dict[str, str] = {}
        collected: tuple[str, ...] = ()
        code: int | None = None
        for frame in frames:
            if frame["t"] == "collected":
                collected = tuple(frame["ids"])
            elif frame["t"] == "report":
                statuses[frame["id"]] = TestStatus.PASSED if frame["passed"] else TestStatus.FAILED
                texts |= {} if frame["passed"] else {frame["id"]: frame["text"]}
            elif frame["t"] == "finish":
                code = frame["code"]
        return TestReport(
            statuses=statuses, texts=texts, collected=collected, finished=code is not None, exit_code=code
        )


class Toy(Language):
    name = "toy"
    frameworks: Mapping[str, Framework] = {"facts": Facts()}
    allowable: frozenset[str] = frozenset()

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        source = resources.files("harness.languages.inside").joinpath("command.py").read_bytes()
        return Program(
            interpreter="/usr/bin/python3",
            sources=(("command", source),),
            parts=("command",),
            spec={"argv": ["python3", "-c", RUNNER, *(test.options or ("run",))]},
        )

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        return lambda file, path: None

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        return ("grep", "-h", "", *paths)


TOY: Language = Toy()
