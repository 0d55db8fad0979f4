"""A tiny project with one bug, its task image, and tasks, patches and predictions around it."""

from __future__ import annotations

import difflib
import io
import json
import tarfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from harness.config.settings import load_settings
from harness.core.errors import InfrastructureError
from harness.core.instance import Budgets, Hidden, Instance, Prediction, Task, TaskState, TestSpec
from harness.dataset.folder import Dataset, create_dataset, write_task
from miner.images.task_image import Order, build_environment
from miner.languages.built import BuiltImage
from miner.layers import base
from tests import forked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


CALC = "src/calc/__init__.py"
TESTS = "tests/test_calc.py"
BUGGY = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
BASE_TESTS = "import calc\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n"
HIDDEN_TESTS = BASE_TESTS + "\n\ndef test_two():\n    assert calc.add(1, 1) == 2\n"
PYPROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "calc"
version = "1.0"

[project.optional-dependencies]
tests = ["pytest"]

[tool.setuptools.packages.find]
where = ["src"]

[tool.pytest.ini_options]
addopts = "--no-such-option-so-addopts-must-not-be-read"
"""
FILES: Mapping[str, str] = {CALC: BUGGY, TESTS: BASE_TESTS, "pyproject.toml": PYPROJECT}
COMMIT = "1234567890abcdef1234567890abcdef12345678"
WHEN = datetime(2026, 6, 1, tzinfo=UTC)
NO_IMAGE = "sha256:" + "0" * 64
goldseam = forked.goldseam


@dataclass(frozen=True)
class MemoryTree:
    """A `miner.evidence.tree.Tree` of texts."""

    texts: Mapping[str, str]

    def read(self, path: str) -> bytes | None:
        return self.texts[path].encode() if path in self.texts else None

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self.texts))

    def tar(self) -> io.BytesIO:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for path in self.files():
                member = tarfile.TarInfo(path)
                member.size, member.mode = len(self.texts[path].encode()), 0o644
                archive.addfile(member, io.BytesIO(self.texts[path].encode()))
        out.seek(0)
        return out


def build_image(folder: Path, files: Mapping[str, str] = FILES) -> str:
    """The id of the task image of a tree."""
    return built_image(folder, files).image_id


def built_image(folder: Path, files: Mapping[str, str]) -> BuiltImage:
    """The task image of a tree; built by the miner's own road, and found again where the engine holds it."""
    settings = load_settings().images
    try:
        base.resolve(settings)
    except InfrastructureError:
        base.from_debian()  # no registry here
    tree = MemoryTree(files)
    built = build_environment(
        Order(repo="tiny/calc", base_commit=COMMIT, when=WHEN),
        tree,
        tree.tar,
        settings=settings,
        log=folder / "build.log",
        progress=lambda _text: None,
    )
    assert isinstance(built, BuiltImage), built
    return built


_IMPORTED = ("ctypes", "hashlib", "json", "selectors", "socket", "tempfile", "traceback")
SHADOWS = {f"{name}.py": "import os\nos._exit(0)\n" for name in _IMPORTED}
"""Modules at the root of a tree, called like those that what starts tests and signs their frames imports."""


def diff(path: str, old: str | None, new: str | None) -> str:
    """A unified diff of one file; None where it is not there."""
    lines = difflib.unified_diff(
        (old or "").splitlines(keepends=True),
        (new or "").splitlines(keepends=True),
        "/dev/null" if old is None else f"a/{path}",
        "/dev/null" if new is None else f"b/{path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def fix(*body: str, top: Sequence[str] = ()) -> str:
    """A patch that gives `add` another body; `top` comes before the function."""
    return diff(CALC, BUGGY, "".join(f"{line}\n" for line in [*top, "def add(a, b):", *(f"    {x}" for x in body)]))


GOLD = diff(CALC, BUGGY, FIXED)


def task(
    image: str | None = NO_IMAGE,
    *,
    instance_id: str = "tiny__calc-1",
    tests: Mapping[str, tuple[str | None, str | None]] | None = None,
    fail_to_pass: Sequence[str] = ("tests/test_calc.py::test_two",),
    pass_to_pass: Sequence[str] = ("tests/test_calc.py::test_zero",),
    gold: str = GOLD,
    budgets: Budgets | None = None,
    spec: TestSpec | None = None,
) -> Task:
    """A proved task; `tests` are the hidden test files, each before and after."""
    tests = {TESTS: (BASE_TESTS, HIDDEN_TESTS)} if tests is None else tests
    return Task(
        instance=Instance(
            instance_id=instance_id,
            repo="tiny/calc",
            base_commit=COMMIT,
            created_at="2026-06-01T00:00:00Z",
            language="python",
            version="3.11",
            image=image,
            problem_statement="Adding subtracts.",
            state=TaskState.PROVED,
            test=spec or TestSpec(),
            budgets=budgets or Budgets(seconds=20, memory_mb=256, pids=64, disk_mb=64),
        ),
        hidden=Hidden(
            gold_patch=gold.encode(),
            test_patch="".join(diff(path, *sides) for path, sides in tests.items()).encode(),
            fail_to_pass=tuple(fail_to_pass),
            pass_to_pass=tuple(pass_to_pass),
            test_files=tuple(path for path, (_, after) in tests.items() if after is not None and "test_" in path),
        ),
    )


def with_state(task: Task, state: TaskState) -> Task:
    return replace(task, instance=replace(task.instance, state=state))


def dataset(path: Path, *tasks: Task) -> Dataset:
    """A dataset folder with these tasks."""
    made = create_dataset(path, name="tiny")
    for one in tasks:
        write_task(made, one, public_files={"Dockerfile": "FROM scratch\n"})
    return made


def prediction(patch: str | None = GOLD, *, model: str = "model", instance_id: str = "tiny__calc-1") -> Prediction:
    return Prediction(instance_id=instance_id, model_name_or_path=model, model_patch=patch)


def write_predictions(path: Path, patches: Mapping[str, str | None], *, instance_id: str = "tiny__calc-1") -> Path:
    """A predictions file: one prediction a model, each for the same task."""
    rows = (
        {"instance_id": instance_id, "model_name_or_path": model, "model_patch": patch}
        for model, patch in patches.items()
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
