"""What is kept of an imported row: its own lists unchanged, beside what became of each of their ids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.core.instance import Task, TaskState
from miner.candidates.statement import spoken_language
from miner.importing.ids import printed
from miner.importing.judge import counts
from miner.pipeline.draft import task_of
from miner.proof import Repeats, blame, new_names, stability_evidence
from miner.proof.ids import reasons

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from miner.importing.judge import JudgedId, Judgement, RowRuns
    from miner.importing.rows import Row
    from miner.pipeline.draft import Draft
    from miner.sources.change import Rejection


def task(row: Row, draft: Draft, judgement: Judgement | None, rejection: Rejection | None) -> Task:
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
