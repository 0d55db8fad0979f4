"""Failing patches with the class that a person gave each on reading it: data in suite/*.yaml, as tasks and patches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from harness.core.instance import Budgets, Hidden, Prediction, Task, TestSpec
from harness.grading.failures import FailureClass
from miner.proof import Notebook, Proof, Subject, validate
from tests import tiny
from tests.attacks.projects import FOLDER, tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.sandbox.job import Sandbox

SUITE = Path(__file__).parent / "suite"


class Label(BaseModel):
    """One failing patch, and its class."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=r"[a-z0-9-]+")]
    project: str
    label: FailureClass
    why: str
    """What a person saw in the patch."""
    start: Literal["base", "gold"] = "base"
    """Which tree `replace` starts from; the patch is from base in any case."""
    replace: dict[str, dict[str, str]] = {}
    """By path: old text → new text."""
    files: dict[str, str] = {}
    """Whole texts by path."""
    text: str | None = None
    """What the model gave, as it is."""
    none: bool = False
    """The model gave nothing."""
    seconds: float | None = None
    """What its tests may take, where it would use up any time that they have."""
    broken: Literal["image", "tests", "lists"] | None = None
    """What is wrong with the task, where it is not the patch."""

    def prediction(self, project: Project) -> Prediction:
        """The patch as a prediction of a model with the label's name."""
        return Prediction(
            instance_id=project.instance_id(self.broken),
            model_name_or_path=self.id,
            model_patch=None if self.none else self.text if self.text is not None else self._patch(project),
        )

    def _patch(self, project: Project) -> str:
        start = {**project.base, **(project.gold if self.start == "gold" else {})}
        changed = {path: text for path, text in start.items() if text != project.base[path]}
        for path, swaps in self.replace.items():
            text = start[path]
            for old, new in swaps.items():
                assert text.count(old) == 1, (self.id, old, text.count(old))
                text = text.replace(old, new)
            changed[path] = text
        changed.update(self.files)
        return "".join(tiny.diff(path, project.base.get(path), text) for path, text in changed.items())


@dataclass(frozen=True)
class Project:
    """A small project with a few bugs; `gold` and `hidden` hold only what they change."""

    name: str
    budgets: Budgets

    def instance_id(self, broken: str | None = None) -> str:
        return f"labelled__{self.name}-{broken or 'whole'}"

    @cached_property
    def base(self) -> dict[str, str]:
        return tree(FOLDER / f"classed_{self.name}" / "base")

    @cached_property
    def gold(self) -> dict[str, str]:
        return tree(FOLDER / f"classed_{self.name}" / "gold")

    @cached_property
    def hidden(self) -> dict[str, str]:
        return tree(FOLDER / f"classed_{self.name}" / "hidden")

    def _diff(self, changes: Mapping[str, str]) -> bytes:
        return "".join(tiny.diff(path, self.base.get(path), text) for path, text in changes.items()).encode()

    def tasks(self, sandbox: Sandbox, folder: Path) -> dict[str, Task]:
        """The proved task, and the same with something wrong on our side, by instance id."""
        subject = Subject(
            instance_id=self.instance_id(),
            image=tiny.build_image(folder, self.base),
            test=TestSpec(),
            test_files=tuple(self.hidden),
            gold_patch=self._diff(self.gold),
            test_patch=self._diff(self.hidden),
        )
        notebook = Notebook(folder / f"{self.name}.jsonl", subject)
        proof = validate(subject, sandbox, runs=1, notebook=notebook, progress=lambda _text: None)
        assert isinstance(proof, Proof), proof
        hidden = Hidden(
            gold_patch=subject.gold_patch,
            test_patch=subject.test_patch,
            fail_to_pass=proof.fail_to_pass,
            pass_to_pass=proof.pass_to_pass,
            test_files=subject.test_files,
            evidence=proof.evidence,
        )
        made = tiny.task(subject.image, instance_id=subject.instance_id, budgets=self.budgets)
        whole = replace(made, hidden=hidden)
        return {whole.instance_id: whole, **{task.instance_id: task for task in self._broken(whole)}}

    def _broken(self, whole: Task) -> tuple[Task, ...]:
        def named(broken: str, *, image: str | None = whole.instance.image, hidden: Hidden = whole.hidden) -> Task:
            instance = replace(whole.instance, instance_id=self.instance_id(broken), image=image)
            return Task(instance=instance, hidden=hidden)

        path, text = next(iter(self.hidden.items()))
        other = tiny.diff(path, "a line that the file does not have\n", text).encode()
        return (
            named("image", image=tiny.NO_IMAGE),
            named("tests", hidden=replace(whole.hidden, test_patch=other)),
            named("lists", hidden=replace(whole.hidden, fail_to_pass=())),
        )


BUDGETS = Budgets(seconds=25, memory_mb=256, pids=64, disk_mb=64, output_bytes=64 * 1024)
PROJECTS = {name: Project(name, BUDGETS) for name in ("rota", "table", "cart")}
"""Functions about dates and about texts; parametrised tests; unittest."""


def labels() -> tuple[Label, ...]:
    """Every labelled patch, in the order of the files."""
    found = [
        Label.model_validate({"project": path.stem, **raw})
        for path in sorted(SUITE.glob("*.yaml"))
        for raw in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]
    assert len({label.id for label in found}) == len(found)
    return tuple(found)
