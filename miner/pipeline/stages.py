"""The stages of a candidate: each a function from a draft to a fuller draft, or to the one reason it ends here."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from harness.checks import hygiene
from harness.core import test_ids
from harness.core.expectations import Expectations
from harness.core.instance import Task, TestSpec
from harness.dataset.folder import write_task
from harness.dataset.similarity import near
from harness.grading import scoring, trial
from harness.judging.places import carded
from harness.languages import screening
from harness.sandbox.job import Sandbox
from harness.scaffold.reveal import applied, reveal
from miner.assist import statement_writer
from miner.assist.statement_writer_run import WritingJob, WrittenStatement
from miner.candidates import test_data
from miner.candidates.split import CommitTree, is_data, split, test_modules
from miner.candidates.statement import problem_statement
from miner.evidence import ci
from miner.images.task_image import Order
from miner.languages import LANGUAGES, language_of
from miner.languages.base import Language, TestCommand
from miner.languages.built import BuiltImage, Collected
from miner.pipeline.data_readers import UNREAD
from miner.pipeline.draft import (
    Draft,
    MiningContext,
    brings,
    notebook_of,
    recipe,
    rewritten,
    spoken_in,
    subject_of,
    task_of,
    timed,
)
from miner.proof import Budget, Proof, Subject, proof_at_fix_date, services, test_collection, validate
from miner.proof.test_collection import collect
from miner.quality import assessment
from miner.quality.strength.result import Bounds
from miner.quality.strength.run import CannotMeasureError, measure
from miner.sources.bare import BareRepository, MissingObjectsError
from miner.sources.change import Kind, Rejection, Split, Stage
from miner.stripping import task as stripping

if TYPE_CHECKING:
    from miner.assist.statement_writer import Material

_TEMPLATE = re.compile(
    r"(?:\.github/|docs/|\.gitlab/)?(?:PULL_REQUEST_TEMPLATE|ISSUE_TEMPLATE|merge_request_templates)(?:\.\w+|/[^/]+\.md)",
    re.IGNORECASE,
)


_LEAST_STRENGTH = 3.0
"""Plain runs that measuring strength takes at least: the fix, a trace of its lines, and one wrong patch."""


def take_apart(draft: Draft, site: MiningContext) -> Draft | Rejection:
    """Gold patch, test patch, statement."""
    with timed(draft, "split"):
        declared = site.settings.declared_for(draft.candidate.change.repo)
        parts = split(site.repo, draft.candidate, declared.tests if declared else ())
        if isinstance(parts, Rejection):
            return parts
        if parts.data:
            parts = _with_readers(site.repo, draft.candidate.change.head_commit, parts)
        if not parts.test_files and parts.data:
            detail = f"{parts.data[0]}: no test file names it, its folders or a helper that does"
            return Stage.SPLIT.no(UNREAD, detail)
        if not parts.test_files:
            return Stage.SPLIT.no("no_test_file", "the change leaves no test file")
        change = draft.candidate.change
        templates = _templates(site.repo, change.base_commit)
        statement = problem_statement(change, gold_patch=parts.gold_patch, templates=templates)
        clean = assessment.cleaned(statement, parts, site.settings.mining.secrets)
        if isinstance(clean, Rejection):
            return clean
        fix = near.fix_of(draft.instance_id, parts.gold_patch, clean.statement)
        if site.settings.mining.near_duplicates == "reject" and (rejection := site.neighbours.rejection(fix)):
            return rejection
        return replace(draft, split=parts, statement=clean.statement, cleaned=clean)


def _with_readers(repo: BareRepository, head: str, parts: Split) -> Split:
    """With the test files of the tree that may read the data of a change without any."""
    runnable, helpers = test_data.candidates(repo.list_files(head))
    readers = test_data.readers(parts.data, runnable, repo.read_files(head, (*runnable, *helpers)))
    by_name, suite = readers.by_name, readers.suite
    changed_helpers = [path for path in parts.data if not is_data(path)]
    if changed_helpers and not (by_name or suite):
        return replace(parts, test_files=test_modules(changed_helpers, ()), data=())
    return replace(parts, test_files=by_name or suite, suite=suite if by_name else ())


def _templates(repo: BareRepository, commit: str) -> list[str]:
    """The forms that a repository gives to whoever writes an issue or a pull request."""
    paths = (path for path in repo.list_files(commit) if _TEMPLATE.fullmatch(path))
    contents = (repo.read_file(commit, path) for path in paths)
    return [content.decode("utf-8", "replace") for content in contents if content]


def build(draft: Draft, site: MiningContext) -> Draft | Rejection:
    """The image the tests run in, and how they are called."""
    change = draft.candidate.change
    declared = site.settings.declared_for(change.repo)
    spoken = "declared" if declared else spoken_in(draft.parts)
    language = LANGUAGES.get(spoken)
    if language is None:
        return Stage.ENVIRONMENT.no("language_unsupported", spoken)
    with timed(draft, "image"):
        commands = language.test_commands(CommitTree(site.repo, change.head_commit), draft.parts.test_files)
        order = Order(
            language=spoken,
            repo=change.repo,
            base_commit=change.base_commit,
            when=site.repo.commit_date(change.base_commit),
            version_hint=site.repo.nearest_version(change.base_commit),
            touched=(*draft.parts.test_files, *draft.parts.kinds),
            declared=declared,
            fixed=site.repo.read_files(change.head_commit, draft.parts.kinds),
            fixed_at=site.repo.commit_date(change.head_commit),
            message="\n".join((change.title, *change.messages)),
            collect=_Collecting(draft=draft, language=spoken, commands=commands),
        )
        tree = CommitTree(site.repo, change.base_commit)
        log = site.workings / "logs" / f"{draft.instance_id}.log"
        built = site.images.build(
            order,
            tree,
            lambda: io.BytesIO(site.repo.archive_bytes(change.base_commit)),
            sandbox=site.sandbox,
            log=log,
            progress=lambda text: site.note(f"{draft.instance_id}: {text}"),
            repairing=site.repairer.on(draft.instance_id, tree) if site.repairer else None,
        )
    if isinstance(built, Rejection):
        note = f"\nThe whole log is {log.relative_to(site.dataset.path)}" if log.exists() else ""
        return replace(built, detail=f"{built.detail}{note}")
    return _called(draft, built, language, commands[built.way])


@dataclass(frozen=True, kw_only=True)
class _Collecting:
    """Collects a draft's tests in an image; a value, since it goes where the image is built.

    Where tests are collected by running them, a command under which most fail is the last that is taken.
    """

    draft: Draft
    language: str
    commands: tuple[TestCommand, ...]

    def __call__(self, image: BuiltImage, sandbox: Sandbox) -> Collected:
        """What the first command collects that finds all tests in every file; else what finds, or passes, the most."""
        best: Collected | None = None
        spent = 0.0
        for number, command in enumerate(self.commands):
            if best is not None and best.missing and command.imports_alike:
                continue
            subject = subject_of(_called(self.draft, image, LANGUAGES[self.language], command))
            collected = collect(subject, sandbox)
            spent += collected.seconds
            collected = replace(collected, way=number, command=command.runner, seconds=spent)
            if collected.ok and collected.tests >= max(1, command.expects, 2 * collected.failed):
                return collected
            if best is None or _worth(best) < _worth(collected):
                best = collected
        assert best is not None  # noqa: S101 - there is always a command
        return replace(best, seconds=spent)


def _worth(collected: Collected) -> tuple[bool, int, int]:
    return collected.ok and collected.tests > 0, collected.tests - collected.failed, collected.tests


def _called(draft: Draft, built: BuiltImage, language: Language, command: TestCommand) -> Draft:
    """A draft with an image, and how its tests are called there."""
    test = language.spec(built, command)
    test = replace(test, allowed_paths=_allowed_paths(draft.parts, test))
    return replace(draft, image=built, test=test)


def _allowed_paths(parts: Split, test: TestSpec) -> tuple[str, ...]:
    """What the gold patch changes although it looks like the judge's, and files of code with hidden tests inside."""
    allowed = screening.allowed_by(parts.gold_patch, parts, test)
    return tuple(sorted({*allowed, *(path for path, kind in parts.kinds.items() if kind is Kind.MIXED)}))


def prove(draft: Draft, site: MiningContext) -> Draft | Rejection:
    """The lists, from three states run several times."""
    names, tests = brings(draft, site.repo), rewritten(draft, site.repo)
    subject = replace(subject_of(draft), brings=names, rewritten=tests)
    mining = site.settings.mining

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
            can_fake=site.images.can_fake,
            budget=Budget(plain_runs=mining.proof_budget_runs, seconds=mining.proof_budget_seconds),
            searched=draft.searched,
        )

    with timed(draft, "proof"):
        tried = services.settle(subject, _beside(draft, site, attempt))
        settled = tried.settled
        subject, proof = settled.subject, settled.proof
        if site.settings.mining.p2p == "all" and not isinstance(proof, Rejection) and proof.set_aside is None:
            site.note(f"{draft.instance_id}: collecting the whole suite")
            tree = CommitTree(site.repo, draft.candidate.change.base_commit)
            subject, proof = test_collection.widened(
                subject, proof, test_collection.files_of(subject, tree, site.sandbox), attempt
            )
    notebook_of(subject, site).close()
    if isinstance(proof, Rejection):
        return proof
    suite = subject.test_files if subject.test_files != subject_of(draft).test_files else ()
    return replace(draft, image=_noted(draft.image, tried.notes), proof=proof, suite=suite, test=subject.test)


def _beside(draft: Draft, site: MiningContext, attempt: proof_at_fix_date.Attempt) -> services.Bench:
    """How a draft is proved on whichever clock it needs, and beside what CI has beside its tests."""
    tree = CommitTree(site.repo, draft.candidate.change.base_commit)

    def note(text: str) -> None:
        site.note(f"{draft.instance_id}: {text}")

    def settle(subject: Subject) -> proof_at_fix_date.Settled:
        return proof_at_fix_date.settle(
            subject,
            merged=draft.candidate.change.created_at,
            attempt=attempt,
            sandbox=site.sandbox,
            notebook_of=lambda subject: notebook_of(subject, site),
            can_fake=site.images.can_fake,
        )

    return services.Bench(
        sandbox=site.sandbox,
        notebook_of=lambda subject: notebook_of(subject, site),
        settle=settle,
        declared=lambda: ci.read(tree),
        images=site.settings.images.services,
        find=lambda name: site.pins.find(name, lambda name: site.images.service(name, note)),
        note=note,
    )


def _noted(image: BuiltImage | None, notes: tuple[str, ...]) -> BuiltImage | None:
    """With what the build record has to say of services that were not run."""
    return replace(image, notes=(*image.notes, *notes)) if image and notes else image


def inspect(draft: Draft, site: MiningContext) -> Draft | Rejection:
    """The image holds nothing that only the fix and its tests have."""
    assert draft.image is not None  # noqa: S101
    change = draft.candidate.change
    commits = {change.head_commit, change.merge_commit} - {change.base_commit}
    parts = draft.parts
    secrets = hygiene.secrets(parts.gold_patch, parts.test_patch, commits=commits, made=change.created_at)
    site.note(f"{draft.instance_id}: searching the image for the fix")
    with timed(draft, "inspect"):
        leaks = site.images.inspect(draft.image.image_id, secrets)
    if leaks:
        text = "; ".join(f"{leak.where}: {leak.text}" for leak in leaks[:5])
        return Stage.IMAGE.no("leaks_fix", text)
    return draft


def strip(draft: Draft, site: MiningContext) -> Draft:
    """The hidden tests without their expectations, which are recorded from the fix and kept outside."""
    site.note(f"{draft.instance_id}: recording what its tests expect")
    with timed(draft, "strip"):
        task = task_of(draft)
        change, read = draft.candidate.change, site.repo.read_files
        listed = partial(site.repo.list_files, change.head_commit)
        tests = test_ids.files(draft.parts.test_files)
        read_fixed = partial(read, change.head_commit)
        sources = stripping.sources(task, tests, read_fixed, listed)
        data = stripping.data(task, sources, read_fixed)
        base = read(change.base_commit, stripping.changed_paths(task))
        tree = stripping.unpatched(task, site.repo.files(change.base_commit, largest=stripping.LARGEST_IN_TREE))
        sandbox = draft.spending.metered(site.sandbox, "stripping")
        hidden = stripping.stripped(task, sources, base, sandbox, data, tree).hidden
    return _with_evidence(replace(draft, expectations=hidden.expectations), hidden.evidence)


def confirm(draft: Draft, site: MiningContext) -> Draft | Rejection:
    """The task as evaluation will see it: gold resolves it. That nothing else did, the proof and `strip` have seen.

    What the fix itself does that a tripwire tells goes into the evidence: of others it is no news then.
    """
    with timed(draft, "confirm"):
        confirmed = stripping.confirmed(task_of(draft), draft.spending.metered(site.sandbox, "stripping"))
    if isinstance(confirmed, str) and draft.expectations.tests:
        plain = replace(draft, expectations=Expectations())
        return confirm(_with_evidence(plain, {"guess_bits": 0.0, "guess_rule": ""}), site)
    if isinstance(confirmed, str):
        return Stage.VALIDATION.no("gold_unresolved", confirmed)
    return _with_evidence(draft, confirmed.hidden.evidence)


def _with_evidence(draft: Draft, fields: Mapping[str, object]) -> Draft:
    assert draft.proof is not None  # noqa: S101
    return replace(draft, proof=replace(draft.proof, evidence={**draft.proof.evidence, **fields}))


def strengthen(draft: Draft, site: MiningContext) -> Draft:
    """How much of what should not resolve the task its hidden tests catch; it rejects nothing."""
    mutants = site.settings.mining.mutants
    if not mutants:
        return draft
    spending = draft.spending
    if not spending.allows(_LEAST_STRENGTH * spending.plain):
        spending.give_up("the strength of its tests; `goldseam holdout strength` measures it")
        return draft
    with timed(draft, "strength"):
        try:
            strength = measure(
                task_of(draft),
                spending.metered(site.sandbox, "strength"),
                Bounds(mutants=mutants),
                note=lambda text: site.note(f"{draft.instance_id}: strength, {text}"),
                allows=spending.allows,
            )
        except CannotMeasureError as error:
            site.note(f"{draft.instance_id}: its strength is unknown: {error}")
            return draft
    if strength.not_tried:
        spending.give_up(f"{strength.not_tried} wrong patches, so it is unknown whether the tests catch these")
    return replace(draft, strength=strength)


def show(draft: Draft, site: MiningContext) -> Draft:
    """Up to so many of the hidden tests, made public and proved as the solver gets them; it rejects nothing."""
    if not site.reveal:
        return draft
    base = draft.candidate.change.base_commit
    site.note(f"{draft.instance_id}: cutting tests out to show")
    with timed(draft, "reveal"):
        tests = reveal(task_of(draft), site.reveal, lambda path: site.repo.read_file(base, path), site.sandbox)
    return replace(draft, revealed=tests)


def keep(draft: Draft, site: MiningContext) -> Draft:
    """The task's folder in the dataset."""
    with timed(draft, "quality"):
        task = assessment.appraised(task_of(draft), site.repo, site.index, hygiene=draft.cleaned.public())
        task = site.neighbours.marked(task)
    if draft.revealed is not None:
        task = applied(task, draft.revealed, count=site.reveal)
    write_task(site.dataset, carded(task), public_files=recipe(draft))
    return draft


def write_statement(draft: Draft, site: MiningContext) -> Draft:
    """The statement in a model's words where there is no issue and a model is named; else the draft as it is.

    It is the last thing before the task is kept: nothing is shown of a task that is then none.
    """
    if site.writer is None or draft.candidate.change.issues:
        return draft
    task = task_of(draft)
    try:
        tree = assessment.base_tree(site.repo, task.instance.base_commit, language_of(task.instance.test).code)
        job = WritingJob(
            instance_id=draft.instance_id,
            subject=assessment.subject_of(task, site.repo, tree),
            material=lambda: _material(task, site),
            mask=site.settings.mining.secrets == "mask",
        )
    except MissingObjectsError:
        site.writer.leave(draft.instance_id, "the source lacks files to check another one against")
        return draft
    site.note(f"{draft.instance_id}: asking for a statement")
    with timed(draft, "statement"):
        written = site.writer.write(job)
    return with_written_statement(draft, written)


def with_written_statement(draft: Draft, written: WrittenStatement) -> Draft:
    """A draft with what came of a statement that was asked for."""
    text = written.note.text if written.use == "written" and written.note else None
    return replace(draft, statement=text or draft.statement, written=written)


def _material(task: Task, site: MiningContext) -> Material:
    """What a model may be shown of a task: runs its failing tests once, without the fix."""
    at_stake = test_ids.functions(task.hidden.fail_to_pass)
    spec = replace(scoring.trial_spec(task, None), files=at_stake, overlay={})  # as they are, so that failures tell
    ran = trial.run(spec, site.sandbox)
    failures = statement_writer.failures_of(ran.report, task.hidden.fail_to_pass)
    problem_statement = task.instance.problem_statement
    return statement_writer.material(task.instance.repo, problem_statement, failures, task.hidden.gold_patch)
