"""A task in the making: what a candidate has come to so far, and the task that it becomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.expectations import Expectations
from harness.core.instance import Hidden, Instance, Task, TaskState, TestSpec
from harness.core.test_ids import files
from harness.dataset import task_states
from harness.dataset.folder import Dataset
from harness.dataset.hidden_files import is_hidden
from harness.patches import patch
from harness.sandbox.job import Sandbox
from miner.candidates.split import language
from miner.candidates.statement import hints, spoken_language
from miner.languages import LANGUAGES, language_of
from miner.languages.built import Attempt, BuiltImage
from miner.layers.layer import COMPRESSED
from miner.layers.package_index import Index
from miner.proof import DEFAULT_CONFIDENCE, Notebook, Proof, Spending, Subject, counted, names_of_fix, sensitivity
from miner.proof.services import Pins
from miner.quality import assessment
from miner.quality.known_duplicates import Neighbours
from miner.sources.bare import BareRepository, MissingObjectsError
from miner.sources.change import Candidate, Kind, Rejection, Split

if TYPE_CHECKING:
    from harness.config.settings import Settings
    from harness.scaffold.reveal import PublicTests
    from miner.assist.repair.run import Repairer
    from miner.assist.statement_writer_run import Writer, WrittenStatement
    from miner.images.image_builders import Images
    from miner.quality.strength.result import Strength


@dataclass(frozen=True, kw_only=True)
class MiningContext:
    """What every stage of a mine shares."""

    repo: BareRepository
    dataset: Dataset
    settings: Settings
    sandbox: Sandbox
    images: Images
    """Where task images are built."""
    runs: int
    note: Callable[[str], None]
    """Tells a person what is being done just now."""
    index: Index = field(default_factory=lambda: Index(url=None))
    """Where it is asked whether a fix has been released."""
    neighbours: Neighbours = field(default_factory=Neighbours)
    """What a task should not double."""
    repairer: Repairer | None = None
    """Proposes recipes where no rung of the ladder does; None where that is not asked for."""
    writer: Writer | None = None
    """Writes statements where there is no issue; None where that is not asked for."""
    confidence: float = DEFAULT_CONFIDENCE
    """How sure the runs' bound is."""
    quarantine: bool = False
    """Whether a task whose FAIL_TO_PASS is unstable is kept, out of all scores."""
    reveal: int = 0
    """Up to how many test functions of FAIL_TO_PASS a task shows."""
    pins: Pins = field(default_factory=Pins)
    """The images of services, each looked for once."""

    @property
    def workings(self) -> Path:
        """Logs and unfinished proofs: ours alone, safe to delete between mines."""
        return self.dataset.path / ".goldseam"

    def cancel(self) -> None:
        """End what is under way in other threads."""
        self.sandbox.cancel()
        self.images.cancel()
        for asking in (self.writer, self.repairer):
            if asking is not None:
                asking.stop()


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A task in the making."""

    candidate: Candidate
    split: Split | None = None
    statement: str = ""
    cleaned: assessment.CleanStatement = field(default_factory=lambda: assessment.CleanStatement(statement=""))
    """What was found in statement and patches that should be in none."""
    image: BuiltImage | None = None
    test: TestSpec = field(default_factory=TestSpec)
    searched: Mapping[str, float] = field(default_factory=dict)
    """The containers' seconds that went by before the proof and are of its budget, by stage."""
    proof: Proof | None = None
    suite: tuple[str, ...] = ()
    """The test files that the proof is of, where these are more than the change touches (`--p2p all`)."""
    expectations: Expectations = field(default_factory=Expectations)
    strength: Strength | None = None
    """What the hidden tests let live; None where it is not measured."""
    written: WrittenStatement | None = None
    """What came of asking a model for the statement; None where none was asked."""
    revealed: PublicTests | None = None
    """The hidden tests that the task shows; None where that is not asked for."""
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds by stage."""

    @property
    def instance_id(self) -> str:
        return self.candidate.change.instance_id

    @property
    def parts(self) -> Split:
        """What it was taken apart into, which is the first thing that happens to it."""
        assert self.split is not None  # noqa: S101
        return self.split

    @property
    def set_aside(self) -> Rejection | None:
        """Why the task is kept and must not count."""
        return self.proof.set_aside if self.proof else None

    @property
    def given_up(self) -> tuple[str, ...]:
        """What its proof had no budget for, one sentence each."""
        return tuple(self.spending.given_up)

    @property
    def spending(self) -> Spending:
        """What its proof has cost so far."""
        return self.proof.spending if self.proof else Spending()

    @property
    def unstable(self) -> dict[str, int]:
        """How many unstable tests depend on what."""
        return counted(self.proof.flaky, self.proof.evidence.get("causes", {})) if self.proof else {}


@contextmanager
def timed(draft: Draft, stage: str) -> Iterator[None]:
    """Add the seconds spent inside to those of a stage."""
    began = time.monotonic()
    try:
        yield
    finally:
        draft.timings[stage] = draft.timings.get(stage, 0.0) + time.monotonic() - began


def spoken_in(parts: Split) -> str:
    """The language of what a change does to the code; of its tests where these are in another, or the code is in C."""
    of_code = language(path for path, kind in parts.kinds.items() if kind in (Kind.GOLD, Kind.MIXED))
    of_tests = [one for path in parts.test_files if (one := LANGUAGES.get(language([path])))]
    mined = LANGUAGES.get(of_code)
    is_tested_in = not of_tests or type(mined) in map(type, of_tests)
    return of_code if mined and is_tested_in else language(parts.test_files)


def subject_of(draft: Draft) -> Subject:
    """What a built draft gives to the proof."""
    assert draft.image is not None  # noqa: S101
    return Subject(
        instance_id=draft.instance_id,
        image=draft.image.image_id,
        test=draft.test,
        test_files=draft.parts.test_files,
        gold_patch=draft.parts.gold_patch,
        test_patch=draft.parts.test_patch,
    )


def brings(draft: Draft, repo: BareRepository) -> frozenset[str]:
    """The names that a draft's fix brings; none where git alone understands its patch."""

    def read(path: str) -> bytes | None:
        try:
            return repo.read_file(draft.candidate.change.base_commit, path)
        except MissingObjectsError:
            return None  # a partial clone

    try:
        return names_of_fix(draft.parts.gold_patch, read, language_of(draft.test).code)
    except patch.PatchError:
        return frozenset()


def rewritten(draft: Draft, repo: BareRepository) -> frozenset[str]:
    """What tests may be called that a draft's change alters and does not add."""
    change, code = draft.candidate.change, language_of(draft.test).code
    paths = [path for path in files(draft.parts.test_files) if code.reads(path)]
    try:
        before, after = (repo.read_files(commit, paths) for commit in (change.base_commit, change.head_commit))
    except MissingObjectsError:
        return frozenset()  # a partial clone
    old, new = (
        {
            (path, name.replace(".", "::")): lines[place.start - 1 : place.stop - 1]
            for path, source in sources.items()
            for lines in [source.splitlines()]
            for name, place in (code.functions(path, source) or {}).items()
        }
        for sources in (before, after)
    )
    altered = [place for place, lines in old.items() if lines != new.get(place, lines)]
    return frozenset(name for place in altered for name in code.test_ids(*place))


def notebook_of(subject: Subject, site: MiningContext) -> Notebook:
    """Where the runs of a subject are kept until it is decided."""
    return Notebook(site.workings / "proofs" / f"{subject.instance_id}.jsonl", subject)


def recipe(draft: Draft) -> dict[str, str]:
    """How a draft's image came to be: public files of its task, by name."""
    if draft.image is None:
        return {}
    inputs = {
        name: content.decode("utf-8", "surrogateescape")
        for name, content in draft.image.inputs.items()
        if not is_hidden(name) and name.removesuffix(COMPRESSED) not in draft.image.locks
    }
    return {"Dockerfile": draft.image.dockerfile, **inputs, **draft.image.locks}


def task_of(draft: Draft) -> Task:
    """The task that a draft has come to."""
    change, image, proof = draft.candidate.change, draft.image, draft.proof
    instance = Instance(
        instance_id=draft.instance_id,
        repo=change.repo,
        base_commit=change.base_commit,
        created_at=change.created_at,
        language=spoken_in(draft.parts),
        version=".".join(image.python.split(".")[:2]) if image else "",
        image=image.image_id if image else None,
        problem_statement=draft.statement,
        state=TaskState.PROVED if proof else TaskState.CANDIDATE,
        test=draft.test,
        quality=assessment.fields(draft.parts.gold_patch, draft.parts.test_patch, draft.statement),
        extra={"origin": _origin(draft), **({"environment": _environment(image)} if image else {})},
    )
    hidden = Hidden(
        gold_patch=draft.parts.gold_patch,
        test_patch=draft.parts.test_patch,
        test_files=draft.suite or draft.parts.test_files,
        hints=draft.cleaned.of_hints(hints(change)),
        original_statement=draft.written.original if draft.written and draft.written.use == "written" else "",
        inputs={name: content for name, content in image.inputs.items() if is_hidden(name)} if image else {},
    )
    if proof:
        sensitive = sensitivity(proof)
        quality = {**instance.quality, **({"sensitive": sensitive} if sensitive is not None else {})}
        instance = replace(instance, budgets=proof.budgets, quality=quality)
        if proof.set_aside is not None:
            dependences = ", ".join(f"{count} {cause}" for cause, count in draft.unstable.items())
            why = f"{proof.set_aside.reason}: unstable tests by what they depend on: {dependences}"
            instance = task_states.changed(instance, TaskState.QUARANTINED, why=why)
        hidden = replace(
            hidden,
            fail_to_pass=proof.fail_to_pass,
            pass_to_pass=proof.pass_to_pass,
            flaky=proof.flaky,
            evidence={**proof.evidence, **({"price": proof.spending.as_json()} if proof.spending.stages else {})},
            expectations=draft.expectations,
        )
    task = Task(instance=instance, hidden=hidden)
    return draft.strength.kept_in(task) if draft.strength else task


def _origin(draft: Draft) -> dict[str, object]:
    """Where the task comes from, less what would name the fix: no SHA but the base's."""
    change = draft.candidate.change
    by_model = draft.written is not None and draft.written.use == "written"
    return {
        "number": change.number,
        "merge_style": change.style.value,
        "issues": [issue.number for issue in change.issues],
        "issues_edited": {
            str(issue.number): {
                "last_edited_at": issue.last_edited_at,
                "after_the_fix_began": issue.edited_after_fix,
                **({"told_as_of": issue.body_of} if issue.body_of else {}),
            }
            for issue in change.issues
            if issue.last_edited_at
        },
        "statement_from": "model" if by_model else "issue" if change.issues else "change",
        **({"statement_model": draft.written.public()} if draft.written else {}),
        "statement_language": spoken_language(draft.statement),
        "signals": list(draft.candidate.signals),
        "notes": list(draft.parts.notes),
    }


def _attempt(attempt: Attempt) -> dict[str, object]:
    """An attempt, less what is empty of it."""
    fields = asdict(attempt) | {"evidence": {kind: list(words) for kind, words in attempt.evidence.items()}}
    return {name: value for name, value in fields.items() if value or name not in {"command", "evidence"}}


def _environment(image: BuiltImage) -> dict[str, object]:
    """The build record: what was tried on what evidence, what it cost, and what CI declares beside it."""
    more = {
        "root": image.root,
        "system": list(image.system),
        "declared": {kind: list(words) for kind, words in image.declared.items()},
        "notes": list(image.notes),
        "repair": asdict(image.repair) if image.repair else {},
    }
    return {
        "rung": image.rung,
        "platform": image.platform,
        "python": image.python,
        "pytest": image.pytest,
        "attempts": [_attempt(attempt) for attempt in image.attempts],
        "seconds": {step: round(seconds, 2) for step, seconds in image.seconds.items()},
        "layer_bytes": image.layer_bytes,
        **{name: value for name, value in more.items() if value},
    }
