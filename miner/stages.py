"""The stages of a candidate: each a function from a draft to a fuller draft, or to the one reason it ends here."""

from __future__ import annotations

import hashlib
import io
import re
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import IO, TYPE_CHECKING

from harness import hygiene, imageclock, patch, scoring, screening, trial
from harness.dataset import care
from harness.dataset.folder import write_task
from harness.evaluate import screen
from harness.frameworks import pytest
from harness.imagecheck import inspect_image
from harness.instance import Hidden, Instance, Outcome, Task, TaskState, TestSpec, TrustMaterial
from harness.quality import near
from harness.scaffold.reveal import applied, reveal
from miner import quality
from miner.against import Neighbours
from miner.change import Kind, Rejection, Stage
from miner.harden import function_of, prepare
from miner.image import build_environment
from miner.proof import DEFAULT_CONFIDENCE, Notebook, Subject, brought, counted, frozen, validate
from miner.sources.bare import MissingObjectsError
from miner.sources.package_index import Index
from miner.split import language, split
from miner.statement import hints, problem_statement, spoken_language
from miner.strength import Bounds, CannotMeasureError, Strength, measure
from miner.test_command import pytest_options

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from harness.dataset.folder import Dataset
    from harness.patch import Patch
    from harness.sandbox.base import Sandbox
    from harness.scaffold.reveal import Revealed
    from harness.settings import Settings
    from harness.trial import Trial
    from miner.change import Candidate, Split
    from miner.image import BuiltImage
    from miner.proof import Proof
    from miner.sources.bare import BareRepository
    from miner.statement_writer_run import Writer, Written


_TEMPLATE = re.compile(
    r"(?:\.github/|docs/|\.gitlab/)?(?:PULL_REQUEST_TEMPLATE|ISSUE_TEMPLATE|merge_request_templates)(?:\.\w+|/[^/]+\.md)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Site:
    """What every stage of a mine shares."""

    repo: BareRepository
    dataset: Dataset
    settings: Settings
    sandbox: Sandbox
    runs: int
    note: Callable[[str], None]
    """Tells a person what is being done just now."""
    index: Index = field(default_factory=lambda: Index(url=None))
    """Where it is asked whether a fix has been released."""
    neighbours: Neighbours = field(default_factory=Neighbours)
    """What a task should not double."""
    writer: Writer | None = None
    """Writes statements where there is no issue; None where that is not asked for."""
    confidence: float = DEFAULT_CONFIDENCE
    """How sure the runs' bound is."""
    quarantine: bool = False
    """Whether a task whose FAIL_TO_PASS is unstable is kept, out of all scores."""
    reveal: int = 0
    """Up to how many test functions of FAIL_TO_PASS a task shows."""

    @property
    def workings(self) -> Path:
        """Logs and unfinished proofs: ours alone, safe to delete between mines."""
        return self.dataset.path / ".goldseam"

    def cancel(self) -> None:
        """End what is under way in other threads."""
        self.sandbox.cancel()
        if self.writer is not None:
            self.writer.stop()


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A task in the making."""

    candidate: Candidate
    split: Split | None = None
    statement: str = ""
    cleaned: quality.Cleaned = field(default_factory=lambda: quality.Cleaned(statement=""))
    """What was found in statement and patches that should be in none."""
    image: BuiltImage | None = None
    test: TestSpec = field(default_factory=TestSpec)
    proof: Proof | None = None
    trust: TrustMaterial = field(default_factory=TrustMaterial)
    strength: Strength | None = None
    """What the hidden tests let live; None where it is not measured."""
    written: Written | None = None
    """What came of asking a model for the statement; None where none was asked."""
    revealed: Revealed | None = None
    """The hidden tests that the task shows; None where that is not asked for."""
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds by stage."""

    @property
    def instance_id(self) -> str:
        return self.candidate.change.instance_id

    @property
    def set_aside(self) -> Rejection | None:
        """Why the task is kept and must not count."""
        return self.proof.set_aside if self.proof else None

    @property
    def unstable(self) -> dict[str, int]:
        """How many unstable tests hang on what."""
        return counted(self.proof.flaky, self.proof.evidence.get("causes", {})) if self.proof else {}


class CommitTree:
    """A commit's files, as environment detection reads them."""

    def __init__(self, repo: BareRepository, commit: str) -> None:
        self._repo = repo
        self._commit = commit

    def read(self, path: str) -> bytes | None:
        return self._repo.read_file(self._commit, path)

    def files(self) -> tuple[str, ...]:
        return self._repo.list_files(self._commit)


@contextmanager
def _timed(draft: Draft, stage: str) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        draft.timings[stage] = draft.timings.get(stage, 0.0) + time.monotonic() - began


def take_apart(draft: Draft, site: Site) -> Draft | Rejection:
    """Gold patch, test patch, statement."""
    with _timed(draft, "split"):
        parts = split(site.repo, draft.candidate)
        if isinstance(parts, Rejection):
            return parts
        if not parts.test_files:
            return Rejection(stage=Stage.SPLIT, reason="no_test_file", detail="no test file is left after the change")
        change = draft.candidate.change
        templates = _templates(site.repo, change.base_commit)
        told = problem_statement(change, gold_patch=parts.gold_patch, templates=templates)
        clean = quality.cleaned(told, parts, site.settings.mining.secrets)
        if isinstance(clean, Rejection):
            return clean
        fix = near.fix_of(draft.instance_id, parts.gold_patch, clean.statement)
        if site.settings.mining.near_duplicates == "reject" and (known := site.neighbours.known(fix)):
            return known
        return replace(draft, split=parts, statement=clean.statement, cleaned=clean)


def _templates(repo: BareRepository, commit: str) -> list[str]:
    """The forms that a repository gives to whoever writes an issue or a pull request."""
    paths = (path for path in repo.list_files(commit) if _TEMPLATE.fullmatch(path))
    found = (repo.read_file(commit, path) for path in paths)
    return [content.decode("utf-8", "replace") for content in found if content]


def spoken_in(parts: Split) -> str:
    """The language of what a change does to the code; of its tests where it is a fix to data alone."""
    kinds = parts.kinds
    found = language(path for path in kinds if kinds[path] in (Kind.GOLD, Kind.MIXED))
    return language(parts.test_files) if found == "unknown" else found


def build(draft: Draft, site: Site) -> Draft | Rejection:
    """The image the tests run in, and how they are called."""
    assert draft.split is not None  # noqa: S101 - the stage before made it
    change = draft.candidate.change
    spoken = spoken_in(draft.split)
    if spoken != "python":
        return Rejection(stage=Stage.ENVIRONMENT, reason="language_unsupported", detail=spoken)
    with _timed(draft, "image"):
        built = build_environment(
            CommitTree(site.repo, change.base_commit),
            repo=change.repo,
            base_commit=change.base_commit,
            when=site.repo.commit_date(change.base_commit),
            version_hint=site.repo.nearest_version(change.base_commit),
            tar=lambda: _tar(site.repo, change.base_commit),
            settings=site.settings.images,
            log=site.workings / "logs" / f"{draft.instance_id}.log",
            progress=lambda text: site.note(f"{draft.instance_id}: {text}"),
        )
    if isinstance(built, Rejection):
        return built
    test = TestSpec(
        options=pytest_options(lambda path: site.repo.read_file(change.head_commit, path)),
        plugins=pytest.safe_plugins(built.pytest_plugins),
        pythonpath=built.pythonpath,
        allowed_paths=_allowed_paths(draft.split, built.modules),
        modules=built.modules,
    )
    return replace(draft, image=built, test=test)


def _allowed_paths(parts: Split, modules: Collection[str]) -> tuple[str, ...]:
    """What the gold patch changes although it looks like the judge's."""
    gold = patch.parse(parts.gold_patch, trusted=True)
    screened = screening.screen_for(gold, parts, TestSpec(modules=tuple(modules)))
    return tuple(sorted(part.path for part in screened.dropped if part.reason in screening.ALLOWABLE))


def subject_of(draft: Draft) -> Subject:
    """What a built draft gives to the proof."""
    assert draft.split is not None  # noqa: S101
    assert draft.image is not None  # noqa: S101
    return Subject(
        instance_id=draft.instance_id,
        image=draft.image.image_id,
        test=draft.test,
        test_files=draft.split.test_files,
        gold_patch=draft.split.gold_patch,
        test_patch=draft.split.test_patch,
    )


def brings(draft: Draft, repo: BareRepository) -> frozenset[str]:
    """The names that a draft's fix brings; none where git alone understands its patch."""
    assert draft.split is not None  # noqa: S101

    def read(path: str) -> bytes | None:
        try:
            return repo.read_file(draft.candidate.change.base_commit, path)
        except MissingObjectsError:
            return None  # a partial clone

    try:
        return brought(draft.split.gold_patch, read)
    except patch.PatchError:
        return frozenset()


def notebook_of(subject: Subject, site: Site) -> Notebook:
    """Where the runs of a subject are kept until it is decided."""
    return Notebook(site.workings / "proofs" / f"{subject.instance_id}.jsonl", subject)


def prove(draft: Draft, site: Site) -> Draft | Rejection:
    """The lists, from three states run several times."""
    subject = replace(subject_of(draft), brings=brings(draft, site.repo))

    def attempt(subject: Subject) -> Proof | Rejection:
        on = f" on {subject.test.clock}" if subject.test.clock else ""
        return validate(
            subject,
            site.sandbox,
            runs=site.runs,
            confidence=site.confidence,
            quarantine=site.quarantine,
            notebook=notebook_of(subject, site),
            progress=lambda text: site.note(f"{draft.instance_id}: {text}{on}"),
        )

    with _timed(draft, "proof"):
        settled = frozen.settle(
            subject,
            merged=draft.candidate.change.created_at,
            attempt=attempt,
            sandbox=site.sandbox,
            notebook_of=lambda subject: notebook_of(subject, site),
            can_fake=imageclock.can_fake,
        )
    notebook_of(subject, site).close()
    if isinstance(settled.proof, Rejection):
        return settled.proof
    return replace(draft, proof=settled.proof, test=settled.subject.test)


def inspect(draft: Draft, site: Site) -> Draft | Rejection:
    """The image holds nothing that only the fix and its tests have."""
    assert draft.split is not None  # noqa: S101
    assert draft.image is not None  # noqa: S101
    change = draft.candidate.change
    commits = {change.head_commit, change.merge_commit} - {change.base_commit}
    wanted = hygiene.secrets(draft.split.gold_patch, draft.split.test_patch, commits=commits)
    site.note(f"{draft.instance_id}: searching the image for the fix")
    with _timed(draft, "inspect"):
        leaks = inspect_image(draft.image.image_id, wanted, cache=site.settings.images.cache_dir / "layers")
    if leaks:
        told = "; ".join(f"{leak.where}: {leak.what}" for leak in leaks[:5])
        return Rejection(stage=Stage.IMAGE, reason="leaks_fix", detail=told)
    return draft


def harden(draft: Draft, site: Site) -> Draft:
    """Twins and blind tests, as far as the hidden tests allow them."""
    assert draft.split is not None  # noqa: S101
    assert draft.proof is not None  # noqa: S101
    task = task_of(draft)
    fix = gold_patch(task)
    head = draft.candidate.change.head_commit
    found = {path: site.repo.read_file(head, path) for path in draft.split.test_files if path.endswith(".py")}

    # The functions at stake are enough here; `confirm` runs everything in the forms that come out of it.
    at_stake = tuple(sorted({"::".join((path, *names)) for path, names in map(function_of, task.hidden.fail_to_pass)}))

    def run(files: Mapping[str, bytes], *, gold: bool, twin: bool = False) -> Trial:
        spec = scoring.trial_spec(task, fix if gold else None)
        return trial.run(replace(spec, files=at_stake, overlay=files, twin=twin), site.sandbox)

    site.note(f"{draft.instance_id}: twins and blind tests")
    with _timed(draft, "harden"):
        material = prepare(
            {path: source for path, source in found.items() if source is not None},
            fail_to_pass=task.hidden.fail_to_pass,
            pass_to_pass=task.hidden.pass_to_pass,
            seed=hashlib.sha256(task.hidden.test_patch + task.hidden.gold_patch).hexdigest(),
            run=run,
        )
    return replace(draft, trust=material)


def confirm(draft: Draft, site: Site) -> Draft | Rejection:
    """The task as evaluation will see it: gold resolves it. That nothing else did, the proof and `harden` have seen."""
    task = task_of(draft)
    gold, demands = gold_patch(task), scoring.Demands()
    with _timed(draft, "confirm"):
        scored = scoring.score(task, gold, site.sandbox, demands)
        if scored.grade.outcome is not Outcome.RESOLVED and draft.trust.files:
            plain = replace(draft, trust=TrustMaterial())
            return confirm(plain, site)
        if scored.grade.outcome is not Outcome.RESOLVED:
            return Rejection(stage=Stage.VALIDATION, reason="gold_unresolved", detail=scored.grade.reason)
    return draft


def strengthen(draft: Draft, site: Site) -> Draft:
    """How much of what should not resolve the task its hidden tests catch; it rejects nothing."""
    mutants = site.settings.mining.mutants
    if not mutants:
        return draft
    with _timed(draft, "strength"):
        try:
            found = measure(
                task_of(draft),
                site.sandbox,
                Bounds(mutants=mutants),
                note=lambda text: site.note(f"{draft.instance_id}: {text}"),
            )
        except CannotMeasureError as error:
            site.note(f"{draft.instance_id}: its strength is unknown: {error}")
            return draft
    return replace(draft, strength=found)


def show(draft: Draft, site: Site) -> Draft:
    """Up to so many of the hidden tests, made public and proved as the solver gets them; it rejects nothing."""
    if not site.reveal:
        return draft
    base = draft.candidate.change.base_commit
    site.note(f"{draft.instance_id}: cutting tests out to show")
    with _timed(draft, "reveal"):
        found = reveal(task_of(draft), site.reveal, lambda path: site.repo.read_file(base, path), site.sandbox)
    return replace(draft, revealed=found)


def gold_patch(task: Task) -> Patch:
    """The gold patch by the road of a model's patch."""
    return screen(task, task.hidden.gold_patch).kept


def keep(draft: Draft, site: Site) -> Draft:
    """The task's folder in the dataset."""
    with _timed(draft, "quality"):
        task = quality.appraised(task_of(draft), site.repo, site.index, hygiene=draft.cleaned.public())
        task = site.neighbours.marked(task)
    if draft.revealed is not None:
        task = applied(task, draft.revealed, asked=site.reveal)
    write_task(site.dataset, task, public_files=recipe(draft))
    return draft


def recipe(draft: Draft) -> dict[str, str]:
    """How a draft's image came to be: public files of its task, by name."""
    return {"Dockerfile": draft.image.dockerfile, **draft.image.locks} if draft.image is not None else {}


def task_of(draft: Draft) -> Task:
    """The task that a draft has come to."""
    assert draft.split is not None  # noqa: S101
    change, image, proof = draft.candidate.change, draft.image, draft.proof
    instance = Instance(
        instance_id=draft.instance_id,
        repo=change.repo,
        base_commit=change.base_commit,
        created_at=change.created_at,
        language=spoken_in(draft.split),
        version=".".join(image.python.split(".")[:2]) if image else "",
        image=image.image_id if image else None,
        problem_statement=draft.statement,
        state=TaskState.PROVED if proof else TaskState.CANDIDATE,
        test=draft.test,
        quality=quality.fields(draft.split.gold_patch, draft.split.test_patch, draft.statement),
        extra={"origin": _origin(draft), **({"environment": _environment(image)} if image else {})},
    )
    hidden = Hidden(
        gold_patch=draft.split.gold_patch,
        test_patch=draft.split.test_patch,
        test_files=draft.split.test_files,
        hints=draft.cleaned.of_hints(hints(change)),
        original_statement=draft.written.original if draft.written and draft.written.use == "written" else "",
    )
    if proof:
        instance = replace(instance, budgets=proof.budgets)
        if proof.set_aside is not None:
            hangs_on = ", ".join(f"{count} {cause}" for cause, count in draft.unstable.items())
            why = f"{proof.set_aside.reason}: unstable tests by what they hang on: {hangs_on}"
            instance = care.changed(instance, TaskState.QUARANTINED, why=why)
        hidden = replace(
            hidden,
            fail_to_pass=proof.fail_to_pass,
            pass_to_pass=proof.pass_to_pass,
            flaky=proof.flaky,
            evidence=proof.evidence,
            trust=draft.trust,
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
        "notes": list(draft.split.notes) if draft.split else [],
    }


def _environment(image: BuiltImage) -> dict[str, object]:
    """The build record: what was tried, what it cost."""
    return {
        "rung": image.rung,
        "python": image.python,
        "pytest": image.pytest,
        "attempts": [asdict(attempt) for attempt in image.attempts],
        "seconds": {step: round(took, 2) for step, took in image.seconds.items()},
        "layer_bytes": image.layer_bytes,
    }


def _tar(repo: BareRepository, commit: str) -> IO[bytes]:
    return io.BytesIO(repo.archive_bytes(commit))
