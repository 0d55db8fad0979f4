"""Signals into reports: what a trial tells at once, what the tools say when a run is through. The verdict stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core.errors import GoldseamError
from harness.core.instance import Prediction, Task
from harness.core.wording import counted
from harness.patches.patch import Patch
from harness.sandbox.executors.base import Executor
from harness.sandbox.job import Sandbox
from harness.signals import assemble, static
from harness.signals.assemble import NO_TOOLS
from harness.signals.observed import Observations
from harness.signals.sources import FILE, Sources, to_read

if TYPE_CHECKING:
    from harness.grading.trial import Trial
    from harness.runs.run_folder import InstanceReport, RunFolder
    from harness.runs.verdict import Verdict
    from harness.signals.static import Rules

EVIDENCE = "signals"
"""The field of results.json that keeps what signals are made from."""
PENDING = "the run was stopped before the tools had read the files; the same command resumes it"


def to_verdict(verdict: Verdict, task: Task, patch: Patch | None, trial: Trial | None) -> Verdict:
    """A verdict with the signals that its trial tells. Where they can't be made, it is as it was."""
    try:
        return _with_signals(verdict, task, patch, trial)
    except Exception as error:  # noqa: BLE001 - a signal must never cost a verdict
        why = f"making the signals failed: {type(error).__name__}"
        nothing = assemble.first(None, assemble.SignalInputs(why_not=why))
        return replace(verdict, report=verdict.report.model_copy(update={"signals": nothing}))


def _with_signals(verdict: Verdict, task: Task, patch: Patch | None, trial: Trial | None) -> Verdict:
    report = verdict.report
    why = _no_trial(report, trial)
    observed = Observations.read(trial.watched or ()) if trial else Observations()
    inputs = assemble.SignalInputs(
        **vars(observed),
        why_not=why,
        exited=trial.exited if trial else False,
        seconds=trial.seconds if trial else 0.0,
        max_rss_kb=trial.max_rss_kb if trial else 0,
        gold=task.hidden.evidence,
    )
    sources = None if why else to_read(task.instance.version, inputs.sources, inputs.configs)
    signals = assemble.first(patch, inputs, static=PENDING if sources else _nothing_to_read(inputs))
    evidence = replace(
        verdict.evidence,
        results={**verdict.evidence.results, EVIDENCE: assemble.evidence(inputs)},
        sources=sources.packed() if sources else b"",
    )
    return replace(verdict, report=report.model_copy(update={"signals": signals}), evidence=evidence)


def _no_trial(report: InstanceReport, trial: Trial | None) -> str:
    if trial is None:
        return f"no test was run: {report.outcome.value.replace('_', ' ')}"
    if trial.model_apply_error is not None:
        return "the patch does not apply"
    return "" if trial.ran else "the tests were not started"


def _nothing_to_read(inputs: assemble.SignalInputs) -> str:
    return next((source.why_not for source in inputs.sources if source.why_not), "the supervisor did not report it")


def again(report: InstanceReport, results: Mapping[str, Any], task: Task, patch: Patch | None) -> InstanceReport:
    """A report with the signals that today's rules make of the evidence in results.json; what the tools said stays.

    Where signals were not asked for, or their evidence is broken, the report is as it was.
    """
    evidence, old = results.get(EVIDENCE), report.signals
    if not isinstance(evidence, Mapping) or old is None:
        return report
    try:
        inputs = assemble.from_evidence(
            evidence,
            seconds=report.timings.get("tests", 0.0),
            max_rss_kb=report.max_rss_kb,
            gold=task.hidden.evidence,
        )
    except ValueError:
        return report
    stays = {name: getattr(old, name) for name in ("lint", "security", "complexity", "tools", "eslint", "semgrep")}
    return report.model_copy(update={"signals": assemble.first(patch, inputs).model_copy(update=stays)})


@dataclass(frozen=True, kw_only=True)
class Tools:
    """Where the tools run."""

    image: str
    sandbox: Sandbox
    rules: Rules | None = None
    """For semgrep."""


def read_pending(
    folder: RunFolder,
    predictions: Iterable[Prediction],
    tools: Tools | None,
    executor: Executor,
    *,
    note: Callable[[str], None],
    on_complete: Callable[[InstanceReport], None],
) -> None:
    """Have the tools read the files that trials of this run left for them, and write what they say into the reports.

    Stopped anywhere, the next call goes on. `note` gets one line of what could not be done, `on_complete` each report.

    Raises:
        InterruptedRunError: the run was interrupted.

    """
    waiting = {path: item for item in predictions if (path := folder.sample_folder(item) / FILE).exists()}
    if not waiting:
        return
    if tools is None:
        note(f"signals: lint, security and complexity are not measured: {NO_TOOLS}")
        for item in waiting.values():
            _finish(folder, item, static.Reading(why_not=NO_TOOLS, again=True), on_complete)
        return
    troubles: list[str] = []
    groups = tuple(static.batches((str(path), path.stat().st_size * _PACKED) for path in waiting))

    def work(group: tuple[str, ...]) -> Mapping[str, static.Reading]:
        return _read_group(group, tools)

    for readings in executor.map(work, groups, cancel=tools.sandbox.cancel):
        for path, item in ((path, item) for path, item in waiting.items() if str(path) in readings):
            reading = readings[str(path)]
            troubles += [reading.why_not] if reading.again else []
            _finish(folder, item, reading, on_complete)
    if troubles:
        note(f"signals: the tools could not read {counted(len(troubles), 'prediction')}: {troubles[0]}")


_PACKED = 4
"""About how many times its size on disk a packed file takes."""


def _read_group(group: tuple[str, ...], tools: Tools) -> Mapping[str, static.Reading]:
    """The tools' readings of pending files, by path."""
    sources_by_path: dict[str, Sources] = {}
    readings: dict[str, static.Reading] = {}
    for path in group:
        try:
            sources_by_path[path] = Sources.unpacked(Path(path).read_bytes())
        except (OSError, ValueError):
            readings[path] = static.Reading(why_not="the kept files can't be read")
    if not sources_by_path:
        return readings
    try:
        return readings | static.read(sources_by_path, tools.image, tools.sandbox, rules=tools.rules)
    except GoldseamError:
        raise
    except Exception as error:  # noqa: BLE001 - a signal must never cost a run
        failed = static.Reading(why_not=f"the tools failed: {type(error).__name__}")
        return readings | dict.fromkeys(sources_by_path, failed)


def _finish(
    folder: RunFolder, item: Prediction, reading: static.Reading, on_complete: Callable[[InstanceReport], None]
) -> None:
    """Write what the tools say, then let go of the files, unless another try may fare better."""
    report = folder.read(item)
    if report is not None and report.signals is not None:
        new = report.model_copy(update={"signals": assemble.with_static(report.signals, reading)})
        if new != report:
            folder.write_report(item, new)
        if not reading.again:
            on_complete(new)
    if not reading.again:
        (folder.sample_folder(item) / FILE).unlink(missing_ok=True)
