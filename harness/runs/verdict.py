"""One prediction's verdict: from its patch and the round it was run in to its report and evidence. Pure.

A fresh round and one read back from a run folder take the same road, so that regrading with unchanged rules gives the
identical report.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.core.instance import Outcome, Prediction, Task, TestSpec
from harness.core.test_ids import readable
from harness.grading import evidence, failures, scoring
from harness.grading.failures import CLASSES_VERSION, PatchState
from harness.grading.grade import GRADING_VERSION, Grade
from harness.grading.scoring import Demands, Round, Scored
from harness.grading.time_words import time_tests
from harness.grading.trial import Trial
from harness.judging.places import by_place, place_of
from harness.languages import screening
from harness.languages.base import Chain
from harness.patches import flags, patch
from harness.patches.patch import Dropped
from harness.runs import run_folder, scaffold_score
from harness.runs.predictions import NULL, is_withheld
from harness.runs.run_folder import Evidence, InstanceReport, RunFolder
from harness.runs.scaffold_score import ScaffoldScore

_SHOWN = 300
"""Characters of what is told about an answer without a patch."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One prediction's report, and the evidence behind it."""

    report: InstanceReport
    evidence: Evidence


@dataclass(frozen=True, kw_only=True)
class ScoringRequest:
    """One prediction to be judged, and how."""

    task: Task
    prediction: Prediction
    demands: Demands = field(default_factory=Demands)
    slowdown: float = 1.0
    """By how much the task's time budget was longer."""


@dataclass(frozen=True, kw_only=True)
class ScreenedPatch:
    """What the host makes of a patch before any container is started."""

    state: PatchState
    patch: patch.Patch | None = None
    """What of it reaches the work tree; None for no change at all."""
    dropped: tuple[Dropped, ...] = ()
    refused: Grade | None = None
    """The verdict, where no container is needed for it."""

    @property
    def applied(self) -> str | None:
        """SHA-256 of what a container is given; None where none is started."""
        if self.refused is not None:
            return None
        return hashlib.sha256(self.patch.raw if self.patch else b"").hexdigest()


def key(task: Task, prediction: Prediction, demands: Demands) -> str:
    """SHA-256 over everything the verdict depends on."""
    return key_of(task.digest(), prediction, demands)


def key_of(task_digest: str, prediction: Prediction, demands: Demands, *, grading: int | None = None) -> str:
    """As `key`, for a task that is known by its digest, and by the rules of a grading version where one is given."""
    digest = hashlib.sha256()
    for part in (
        task_digest,
        repr(demands.key()),
        str(grading or GRADING_VERSION),
        prediction.model_name_or_path == NULL,
    ):
        digest.update(f"{part}\0".encode())
    digest.update(prediction.patch_bytes())
    if prediction.not_read:
        digest.update(f"\0not read: {prediction.not_read}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def of_other_tasks(folder: RunFolder, model: str) -> tuple[str, ...]:
    """The reports about a model that were not found on the tasks that run.json tells of, relative to the folder."""
    record = folder.record()
    if record is None:
        return ()
    timeout = (record.settings.get("demands") or {}).get("timeout")
    tasks = []
    for prediction in folder.predictions():
        digest, report = record.tasks.get(prediction.instance_id), folder.read(prediction)
        if prediction.model_name_or_path != model or digest is None or report is None or is_withheld(prediction):
            continue
        if report.key != key_of(digest, prediction, Demands(timeout=timeout), grading=report.grading_version):
            tasks.append(str((folder.sample_folder(prediction) / run_folder.REPORT_FILE).relative_to(folder.path)))
    return tuple(tasks)


def look(task: Task, prediction: Prediction) -> ScreenedPatch:
    """Parse and screen a patch."""
    data = prediction.patch_bytes()
    if prediction.not_read:
        why = f"the prediction is too much to be read: {' '.join(prediction.not_read.split())[:_SHOWN]}"
        refused = Grade(outcome=Outcome.APPLY_FAILED, cause=Outcome.APPLY_FAILED.value, reason=why)
        return ScreenedPatch(state=PatchState.REFUSED, refused=refused)
    if not data.strip():
        if prediction.model_name_or_path == NULL:
            return ScreenedPatch(state=PatchState.NOTHING_LEFT)
        has_patch = prediction.model_patch is not None
        why = "the model patch is empty" if has_patch else _why_none(prediction)
        refused = Grade(outcome=Outcome.EMPTY_PATCH, cause=Outcome.EMPTY_PATCH.value, reason=why)
        return ScreenedPatch(state=PatchState.BLANK if has_patch else PatchState.NONE, refused=refused)
    try:
        screened = screening.screen_task(task, data)
    except patch.PatchError as error:
        refused = Grade(outcome=Outcome.APPLY_FAILED, cause=Outcome.APPLY_FAILED.value, reason=str(error))
        states = {patch.NoPatchError: PatchState.NO_PATCH, patch.UnsafePatchError: PatchState.UNSAFE}
        return ScreenedPatch(state=states.get(type(error), PatchState.REFUSED), refused=refused)
    state = PatchState.GIVEN if screened.kept.files else PatchState.NOTHING_LEFT
    return ScreenedPatch(state=state, patch=screened.kept, dropped=screened.dropped)


def _why_none(prediction: Prediction) -> str:
    """That there is no patch, and why, where the prediction tells (as those of `goldseam solve` do)."""
    detail = prediction.extra.get("no_patch_detail")
    note = f" ({' '.join(detail.split())[:_SHOWN]})" if isinstance(detail, str) and detail.strip() else ""
    word = run_folder.no_patch_word(prediction)
    return f"the model gave no patch: {word}{note}" if word else "the model gave no patch"


def refused(request: ScoringRequest, screened_patch: ScreenedPatch) -> Verdict:
    """The verdict on a patch that no container needs to see."""
    assert screened_patch.refused is not None  # noqa: S101 - who calls has looked
    return _without_trial(request, screened_patch, screened_patch.refused)


def unscored(request: ScoringRequest, screened_patch: ScreenedPatch, *, cause: str, why: str) -> Verdict:
    """The outcome where infrastructure failed: nothing is said of the patch."""
    graded = Grade(outcome=Outcome.INFRA_ERROR, cause=cause, reason=why)
    return _without_trial(request, screened_patch, graded, unscored=(cause, why))


def broken(request: ScoringRequest, error: Exception, *, log: Path) -> Verdict:
    """The outcome where a bug of ours came up while a prediction was judged: nothing is said of the patch."""
    try:
        screened_patch = look(request.task, request.prediction)
    except Exception:  # noqa: BLE001 - it may be what the bug is in
        screened_patch = ScreenedPatch(state=PatchState.GIVEN)
    why = f"a bug of goldseam ({type(error).__name__}); its log is {log.name}"
    return unscored(request, screened_patch, cause="bug", why=why)


def graded(request: ScoringRequest, screened_patch: ScreenedPatch, scored: Scored) -> Verdict:
    """The verdict on a patch that was run."""
    trial = scored.trial
    facts = _facts(request, screened_patch, scored)
    parts = scaffold_score.score(request.task, scored.grade)
    report = run_folder.instance_report(
        request.prediction,
        _with_patch(_with_parts(scored.grade, parts), screened_patch, request.task.instance.test),
        scaffold=parts,
        failure_class=failures.classify(facts),
        dropped=[{"path": readable(part.path), "reason": part.reason} for part in screened_patch.dropped],
        flags=[{"path": readable(flag.path), "sign": flag.sign} for flag in _flags(screened_patch)],
        tripwires=[{"path": readable(hit.path), "kind": hit.kind.value} for hit in trial.tripwires.hits],
        audited=trial.tripwires.audited,
        repairs=list(screened_patch.patch.repairs) if screened_patch.patch else [],
        timings={**trial.timings, "tests": trial.seconds},
        max_rss_kb=trial.max_rss_kb,
        cpu_seconds=trial.cpu_seconds,
        attempts=scored.round.attempts,
        **_standing(request),
    )
    results = {**_results(trial), "evidence": _saved(request, screened_patch, round_=scored.round)}
    return Verdict(
        report=report,
        evidence=Evidence(patch=request.prediction.patch_bytes(), output=trial.output, results=results),
    )


def _without_trial(
    request: ScoringRequest, screened_patch: ScreenedPatch, graded: Grade, *, unscored: tuple[str, str] | None = None
) -> Verdict:
    facts = failures.Facts(outcome=graded.outcome, patch=screened_patch.state)
    report = run_folder.instance_report(
        request.prediction,
        graded,
        failure_class=failures.classify(facts),
        **_standing(request),
    )
    results = {
        "schema_version": run_folder.SCHEMA_VERSION,
        "evidence": _saved(request, screened_patch, unscored=unscored),
    }
    return Verdict(report=report, evidence=Evidence(patch=request.prediction.patch_bytes(), results=results))


def _standing(request: ScoringRequest) -> dict[str, Any]:
    """By which rules the task's tests were judged, and where: that is a property of the task alone."""
    task = request.task
    return {
        "place": place_of(task),
        "judged": {
            "FAIL_TO_PASS": by_place(task, task.hidden.fail_to_pass),
            "PASS_TO_PASS": by_place(task, task.hidden.pass_to_pass),
        },
        "key": key(request.task, request.prediction, request.demands),
        "grading_version": GRADING_VERSION,
        "classes_version": CLASSES_VERSION,
    }


def _saved(
    request: ScoringRequest,
    screened_patch: ScreenedPatch,
    *,
    round_: Round | None = None,
    unscored: tuple[str, str] | None = None,
) -> dict[str, Any]:
    saved = evidence.Saved(
        task_digest=request.task.digest(),
        demands=request.demands,
        slowdown=request.slowdown,
        applied=screened_patch.applied,
        unscored=unscored,
        round=round_,
    )
    return evidence.written(saved)


def _facts(request: ScoringRequest, screened_patch: ScreenedPatch, scored: Scored) -> failures.Facts:
    trial, tests = scored.trial, scored.grade.tests
    report, task = trial.report, request.task
    gold = task.hidden.evidence.get("gold_seconds")
    return failures.Facts(
        outcome=scored.grade.outcome,
        patch=screened_patch.state,
        signs=frozenset(flag.sign for flag in _flags(screened_patch)),
        tests=tests,
        raised={test_id: chain for test_id, chain in report.raised.items() if test_id in report.statuses},
        collect_raised=report.collect_raised,
        internal_raised=report.internal_raised,
        time_tests=time_tests(task.hidden),
        ran_out_of_memory=trial.oom_killed,
        ran_out_of_time=trial.timed_out or bool(trial.build and trial.build.timed_out),
        flooded=trial.flooded,
        built=trial.build is None or trial.build.ok,
        supervised=trial.exited,
        finished=report.finished,
        child_exit=trial.child_exit,
        child_signal=trial.child_signal,
        seconds=trial.seconds,
        gold_seconds=float(gold) * request.slowdown if isinstance(gold, int | float) else 0.0,
        memory_share=trial.max_rss_kb / 1024 / task.instance.budgets.memory_mb,
    )


def _flags(screened_patch: ScreenedPatch) -> Sequence[flags.Flag]:
    return flags.flags(screened_patch.patch) if screened_patch.patch else ()


def _with_parts(graded: Grade, parts: ScaffoldScore | None) -> Grade:
    """The reason, saying so where a patch does for the tests that the task shows and for none that it hides."""
    if parts is None or not parts.passes_revealed_only:
        return graded
    return replace(graded, reason=f"{graded.reason}; it passes revealed tests only")


def _with_patch(graded: Grade, screened_patch: ScreenedPatch, test: TestSpec) -> Grade:
    """The reason, with the parts of the patch that had no effect: whoever reads it may be looking for them."""
    if graded.outcome is Outcome.RESOLVED:
        return graded
    reason = graded.reason
    if screened_patch.dropped:
        parts = ", ".join(f"{part.path} ({part.reason})" for part in screened_patch.dropped[:3])
        reason += f"; left out of the patch: {parts}"
    if screened_patch.patch and (note := screening.caveat(screened_patch.patch, test)):
        reason += f"; {note}"
    return replace(graded, reason=reason)


def _results(trial: Trial) -> dict[str, Any]:
    """What people and reports read of the round that decided."""
    report = trial.report
    return {
        "schema_version": run_folder.SCHEMA_VERSION,
        "tests": {
            test_id: {
                "status": status.value,
                "seconds": round(report.seconds.get(test_id, 0.0), 6),
                **_raised(report.raised.get(test_id, ())),
                **({"text": report.texts[test_id]} if test_id in report.texts else {}),
            }
            for test_id, status in sorted(report.statuses.items())
        },
        "collect_errors": dict(report.collect_errors),
        "violations": list(trial.violations),
        "apply_error": trial.model_apply_error,
        "output_bytes": trial.output_size,
        **({"build": asdict(trial.build)} if trial.build else {}),
    }


def _raised(chain: Chain) -> dict[str, str]:
    return {"raised": readable(chain[0].names[0])} if chain and chain[0].names else {}


class CannotReplayError(ValueError):
    """The evidence does not carry a verdict under today's rules; the message says why."""


def replay(task: Task, prediction: Prediction, results: Mapping[str, Any]) -> InstanceReport:
    """What today's rules say of the evidence in a results.json.

    Raises:
        CannotReplayError: the evidence is too old or broken, is of another task, or the rules ask for something that
            was not run.

    """
    try:
        saved = evidence.read(results)
    except evidence.NoEvidenceError as error:
        raise CannotReplayError(str(error)) from error
    if saved.task_digest != task.digest():
        raise CannotReplayError("the task has changed since it was scored")
    request = ScoringRequest(task=task, prediction=prediction, demands=saved.demands, slowdown=saved.slowdown)
    patch = look(task, prediction)
    if patch.refused is not None:
        return refused(request, patch).report
    if patch.applied != saved.applied:
        raise CannotReplayError("screening now keeps another part of the patch than the one that ran")
    if saved.unscored is not None:
        cause, why = saved.unscored
        return unscored(request, patch, cause=cause, why=why).report
    if saved.round is None:
        raise CannotReplayError("it has no finished round to base a verdict on")
    return graded(request, patch, scoring.decide(task, saved.round)).report


def carried(old: InstanceReport, fresh: InstanceReport) -> InstanceReport:
    """The old report with what grading says of it now; what others put into it (signals, say) stays."""
    return old.model_copy(update={name: getattr(fresh, name) for name in fresh.model_fields_set})
