"""One row from its line to its task: placed, built, proved here, judged id by id, kept or marked."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.core import origin
from harness.core.errors import BugError
from harness.core.instance import Task, TaskState
from harness.core.test_ids import files
from harness.dataset.folder import write_task
from harness.judging.places import carded
from harness.runs import bug_log
from miner import proof
from miner.candidates.funnel import FunnelLine
from miner.candidates.statement import spoken_language
from miner.importing.ids import printed
from miner.importing.judge import Holds, JudgedId, Judgement, RowRuns, counts, hopeless, judge
from miner.importing.place import SIGNAL, place
from miner.importing.rows import Row
from miner.languages import language_of
from miner.pipeline import stages
from miner.pipeline.draft import Draft, MiningContext, brings, notebook_of, recipe, subject_of, task_of, timed
from miner.proof import Notebook, ObservedRun, Proof, Repeats, State, Subject, blame, new_names, stability_evidence
from miner.proof.ids import reasons
from miner.sources.bare import MissingObjectsError
from miner.sources.change import INTERNAL_ERROR, Rejection, Stage

IN_PART = "fail_to_pass_in_part"
"""The reason of a row of which some, but not all, of FAIL_TO_PASS holds here."""


@dataclass(frozen=True, kw_only=True)
class RowOutcome:
    """How far a row came."""

    draft: Draft | None = None
    judgement: Judgement | None = None
    rejection: Rejection | None = None


def take(row: Row, site: MiningContext, *, accept_part: bool) -> FunnelLine:
    """Take a row to its task and its line in the funnel.

    Raises:
        InfrastructureError: the engine, the index or the disk failed; nothing is said of the row.

    """
    began = time.monotonic()
    try:
        with bug_log.of_one_item():
            outcome = _make(row, site, accept_part=accept_part)
            if outcome.draft is not None:
                task = task_of_row(row, outcome.draft, outcome.judgement, outcome.rejection)
                write_task(site.dataset, carded(task), public_files=recipe(outcome.draft))
            return line_of(row, outcome, seconds=time.monotonic() - began)
    except BugError as error:
        return unplaced(row, Stage.VALIDATION.no(INTERNAL_ERROR, error.message))


def line_of(row: Row, outcome: RowOutcome, *, seconds: float = 0.0) -> FunnelLine:
    """A row's line in the funnel."""
    if outcome.draft is None:
        assert outcome.rejection is not None  # noqa: S101 - what has no draft was rejected
        return unplaced(row, outcome.rejection)
    part = outcome.judgement is not None and outcome.judgement.holds is Holds.PART
    return FunnelLine.of(
        outcome.draft.candidate.change,
        outcome.rejection,
        signals=(SIGNAL, IN_PART) if part and outcome.rejection is None else (SIGNAL,),
        seconds=seconds,
        timings=outcome.draft.timings,
    )


def unplaced(row: Row, rejection: Rejection) -> FunnelLine:
    """The line of a row that has no place in a history."""
    return FunnelLine(
        repo=row.repo,
        change=row.digest,
        title=row.instance_id,
        stage=rejection.stage,
        reason=rejection.reason,
        detail=rejection.detail,
        signals=(SIGNAL,),
        instance_id=row.instance_id,
        created_at=row.created_at,
        decided_at=origin.now(),
    )


def _make(row: Row, site: MiningContext, *, accept_part: bool) -> RowOutcome:
    placed = place(site.repo, row)
    if isinstance(placed, Rejection):
        return RowOutcome(rejection=placed)
    draft = placed.draft
    if placed.refused is not None:
        return RowOutcome(draft=draft, rejection=placed.refused)
    built = _built(draft, site)
    if isinstance(built, Rejection):
        return RowOutcome(draft=draft, rejection=built)
    outcome = prove(row, built, site)
    if outcome.draft is None or outcome.judgement is None or outcome.rejection is not None:
        return outcome
    if outcome.judgement.holds is Holds.PART and not accept_part:
        return replace(outcome, rejection=Stage.VALIDATION.no(IN_PART, outcome.judgement.why()))
    return _finish(outcome.draft, outcome.judgement, site)


def _built(draft: Draft, site: MiningContext) -> Draft | Rejection:
    if not draft.parts.test_files:
        return Stage.SPLIT.no("no_test_file", "neither the test patch nor the lists name one")
    try:
        built = stages.build(draft, site)
    except MissingObjectsError as error:
        return Stage.HISTORY.no("missing_objects", error.message)
    if isinstance(built, Rejection):
        return built
    return replace(built, test=language_of(built.test).terse(built.test))


def prove(row: Row, draft: Draft, site: MiningContext) -> RowOutcome:
    """Run the tests with and without the fix, several times, and judge the row's lists by that."""
    subject = subject_of(draft)
    notebook = notebook_of(subject, site)
    with timed(draft, "proof"):
        row_runs = _run(row, subject, notebook, site)
    notebook.close()
    if isinstance(row_runs, Rejection):
        return RowOutcome(draft=draft, rejection=row_runs)
    judgement = judge(row.fail_to_pass, row.pass_to_pass, row_runs)
    graded = {*files((*judgement.graded_fail_to_pass, *judgement.graded_pass_to_pass))}
    read = tuple(path for path in draft.parts.test_files if path in graded or path in draft.parts.kinds)
    proved = replace(
        draft,
        split=replace(draft.parts, test_files=read) if draft.parts.data and graded else draft.parts,
        proof=Proof(
            fail_to_pass=judgement.graded_fail_to_pass,
            pass_to_pass=judgement.graded_pass_to_pass,
            flaky=flaky(judgement, row_runs),
            budgets=proof.budgets(row_runs.after),
            evidence=evidence(row_runs, judgement, brings=brings(draft, site.repo)),
        ),
    )
    nothing = judgement.holds is Holds.NOTHING
    rejection = Stage.VALIDATION.no("fail_to_pass_does_not_hold", judgement.why()) if nothing else None
    return RowOutcome(draft=proved, judgement=judgement, rejection=rejection)


def _run(row: Row, subject: Subject, notebook: Notebook, site: MiningContext) -> RowRuns | Rejection:
    """The runs: with the fix and without, by turns; where nothing can hold after the first pair, it stays at that."""
    patches = proof.prepare(subject)
    if isinstance(patches, Rejection):
        return patches
    after: list[ObservedRun] = []
    before: list[ObservedRun] = []
    states: tuple[tuple[State, list[ObservedRun]], ...] = (("after", after), ("before", before))
    for number in range(site.runs):
        for state, runs in states:
            site.note(f"{subject.instance_id}: {state} {number + 1}/{site.runs}")
            runs.append(proof.observe(subject, patches, state, number, site.sandbox, notebook))
            if (trouble := proof.troubled(runs[-1])) is not None:
                return trouble
        if hopeless(row.fail_to_pass, row_runs := RowRuns(after=after, before=before)):
            return row_runs
    return RowRuns(after=after, before=before)


def _finish(draft: Draft, judgement: Judgement, site: MiningContext) -> RowOutcome:
    """What every proved task has to stand besides its lists."""
    for stage in (stages.inspect, stages.strip, stages.confirm):
        result = stage(draft, site)
        if isinstance(result, Rejection):
            return RowOutcome(draft=draft, judgement=judgement, rejection=result)
        draft = result
    return RowOutcome(draft=draft, judgement=judgement)


def task_of_row(row: Row, draft: Draft, judgement: Judgement | None, rejection: Rejection | None) -> Task:
    """The task that a row has come to: proved, or marked with the reason why not.

    Without an image it is a candidate, as such a task can't be run; else what does not hold is quarantined.
    """
    task_made = task_of(draft)
    state = TaskState.PROVED
    if rejection is not None:
        state = TaskState.QUARANTINED if draft.image else TaskState.CANDIDATE
    extra = {key: value for key, value in task_made.instance.extra.items() if key != "origin"}
    origin = {"statement_from": "row", "statement_language": spoken_language(draft.statement), "signals": ["imported"]}
    difficulty = row.further.get("difficulty")
    quality = {**task_made.instance.quality, **({"difficulty": difficulty} if isinstance(difficulty, str) else {})}
    instance = replace(
        task_made.instance,
        state=state,
        quality=quality,
        extra={"origin": origin, "imported": _public(row, judgement, rejection), **extra},
    )
    evidence = {**task_made.hidden.evidence, "imported": _hidden(row, judgement)}
    return Task(instance=instance, hidden=replace(task_made.hidden, hints=row.hints, evidence=evidence))


def _public(row: Row, judgement: Judgement | None, rejection: Rejection | None) -> dict[str, Any]:
    """`imported` of task.yaml: counts, and no id of a test."""
    fields: dict[str, Any] = {
        "row": row.digest,
        "version": row.version,
        "reason": rejection.reason if rejection else "",
        "holds": judgement.holds.value if judgement else "",
    }
    for name, ids_given, judged in _lists(row, judgement):
        fields[name] = {"given": len(ids_given), **(counts(judged) if judged is not None else {})}
    return fields


def _hidden(row: Row, judgement: Judgement | None) -> dict[str, Any]:
    """`evidence.imported` of tests.json: the row's lists as they were, the verdict on each id, what it stands for."""
    verdicts: dict[str, dict[str, list[str]]] = {}
    renamed: dict[str, list[str]] = {}
    for name, _, judged in _lists(row, judgement):
        for judged_id in judged or ():
            verdicts.setdefault(name, {}).setdefault(judged_id.verdict.value, []).append(judged_id.row_id)
            if judged_id.ours and tuple(map(printed, judged_id.ours)) != (judged_id.row_id,):
                renamed[judged_id.row_id] = list(judged_id.ours)
    return {
        "FAIL_TO_PASS": list(row.fail_to_pass),
        "PASS_TO_PASS": list(row.pass_to_pass),
        "verdicts": verdicts,
        "stands_for": renamed,
        "fields": row.further,
    }


def _lists(row: Row, judgement: Judgement | None) -> Sequence[tuple[str, Sequence[str], Sequence[JudgedId] | None]]:
    return (
        ("FAIL_TO_PASS", row.fail_to_pass, judgement.fail_to_pass if judgement else None),
        ("PASS_TO_PASS", row.pass_to_pass, judgement.pass_to_pass if judgement else None),
    )


def evidence(runs: RowRuns, judgement: Judgement, *, brings: Collection[str] = frozenset()) -> dict[str, Any]:
    """What the runs showed, in the fields of every proof; nothing was run as it was, without the hidden tests.

    `brings` are the names that the fix brings.
    """
    names = new_names(judgement.graded_fail_to_pass, runs.before, brings)
    listed = {test_id for judged_id in (*judgement.fail_to_pass, *judgement.pass_to_pass) for test_id in judged_id.ours}
    beside = {
        test_id
        for test_id in runs.ids() - listed
        if runs.passes(runs.after, test_id) == len(runs.after) and not runs.passes(runs.before, test_id)
    }
    runs_seen = (*runs.after, *runs.before)
    return {
        "runs": len(runs.after),
        "new_api": bool(names),
        "new_names": list(names),
        "quarantined": dict(reasons(flaky(judgement, runs), (runs.after, runs.before))),
        "passes": {
            test_id: [0, runs.passes(runs.before, test_id), runs.passes(runs.after, test_id)]
            for test_id in sorted(runs.ids())
        },
        "gold_seconds": round(max(run.seconds for run in runs.after), 3),
        "gold_max_rss_kb": max(run.max_rss_kb for run in runs.after),
        **stability_evidence(
            runs_seen, blame(runs_seen), Repeats(runs=len(runs.after)), [run.variation for run in runs.after]
        ),
        "fail_to_pass_beside": sorted(beside),
    }


def flaky(judgement: Judgement, row_runs: RowRuns) -> tuple[str, ...]:
    """Ids that did not give the same result every time; none of them is graded."""
    graded = {*judgement.graded_fail_to_pass, *judgement.graded_pass_to_pass}
    unstable = {
        test_id
        for runs in (row_runs.after, row_runs.before)
        for test_id in row_runs.ids()
        if 0 < row_runs.passes(runs, test_id) < len(runs)
    }
    return tuple(sorted(unstable - graded))
