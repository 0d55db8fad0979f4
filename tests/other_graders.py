"""What another tool makes of tasks that were exported for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core import process
from tests import pypi_tools, tiny

if TYPE_CHECKING:
    from harness.core.instance import Task

TOOLS = Path(__file__).parent / "other_tools"
HARBOR_REWARDS = {"oracle": {"reward": 1.0}, "nop": {"reward": 0.0}}
"""Of the agent that has the fix and of the one that does nothing, where an export is right."""


def exported(dataset: Path, kind: str, into: Path, *options: str) -> Path:
    """The folder of an export, with the hidden side unless `options` say otherwise."""
    words = options or ("--with-hidden",)
    done = tiny.goldseam("holdout", "export", dataset, "--format", kind, *words, "-o", into)
    assert done.returncode == 0, done.error_text
    return into


def harbor(tasks: Path, folder: Path) -> dict[str, Any]:
    """What Harbor loads, and how it rewards two agents on the first task; its trials are left in `folder`."""
    argv = [pypi_tools.environment(pypi_tools.HARBOR).python, TOOLS / "harbor_run.py", tasks, folder / "trials"]
    done = process.run(argv, env={"HOME": str(folder)}, check=False)
    assert done.returncode == 0, done.error_text
    found: dict[str, Any] = json.loads((folder / "trials/found.json").read_text())
    return found


def rewards(task: Task, folder: Path) -> dict[str, Any]:
    """How Harbor rewards two agents on an export of a task."""
    tiny.dataset(folder / "dataset", task)
    return dict(harbor(exported(folder / "dataset", "harbor", folder / "harbor"), folder)["rewards"])
