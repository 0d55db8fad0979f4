"""From a dataset and predictions to verdicts on disk: one prediction, and a whole run that can be stopped anywhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol

from harness.core import files, origin
from harness.core.errors import InfrastructureError, InputError
from harness.core.instance import PASSING, Outcome, Prediction, Task, TaskState
from harness.core.wording import counted
from harness.dataset import content
from harness.dataset.folder import Dataset
from harness.dataset.ledger import chain, ledger
from harness.dataset.seal import access_log
from harness.differential.replay import replayed
from harness.grading import calibration as control
from harness.grading import scoring, trial
from harness.grading.failures import CLASSES_VERSION
from harness.grading.grade import GRADING_VERSION
from harness.grading.scoring import Demands, Scored
from harness.grading.trial import Trial
from harness.runs import bug_log, run_folder, task_store, verdict
from harness.runs.predictions import GOLD, NULL, is_withheld, of_null, read_transcript, refuse_unknown, transcript_path
from harness.runs.redaction import Redaction, veil_for
from harness.runs.run_folder import InstanceReport, RunFolder, RunRecord
from harness.runs.task_metadata import TaskFacts, read_facts
from harness.runs.task_store import TaskStore, filled
from harness.runs.verdict import ScoringRequest, ScreenedPatch, Verdict
from harness.runs.verdict_cache import VerdictCache
from harness.sandbox.executors.base import Executor
from harness.sandbox.job import MissingImageError, Sandbox, SandboxError
from harness.signals import attach, observed, static

CONTROLS = 3
"""Tasks on which gold is run first, unless somebody asks for more or none."""


class Observer(Protocol):
    """Told about a run as it goes."""

    def begin(self, *, total: int, reused: int) -> None:
        """`total` predictions are in the run; `reused` of them were finished before."""

    def started(self, prediction: Prediction) -> None:
        """A prediction is being scored; told from any thread."""

    def finished(self, report: InstanceReport) -> None:
        """One more prediction has a report."""

    def note(self, text: str) -> None:
        """Something that a person should know of the run as a whole."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run is done."""

    demands: Demands = field(default_factory=Demands)
    retry_errors: bool = False
    """Score again what an earlier call could not score for want of infrastructure."""
    cache: bool = True
    """Take over verdicts that this run folder already holds."""
    runtime: str | None = None
    """The engine's runtime that containers had; told in run.json, no part of a verdict."""
    executor: str = "local"
    """Where containers ran, `local` or `ray`; told in run.json, no part of a verdict."""
    control: int = 0
    """On how many tasks gold is run first, to see how fast this machine is."""
    slowdown: float = 1.0
    """By how much the tasks' own time budgets are longer; what the control finds, where there is one."""
    split: str | None = None
    """The split whose tasks count, with or without a prediction; None where all do."""
    signals: bool = False
    """Measure more than the verdict; see harness/signals. No part of a verdict."""
    replay: bool = False
    """Make recorded calls on what passes its tests; see harness/differential. No part of a verdict."""
    keep_evidence: bool = False
    """Write what quotes hidden content in the clear, though the dataset is sealed."""


def evaluate_one(task: Task, prediction: Prediction, sandbox: Sandbox, *, settings: Settings) -> Verdict:
    """Score one prediction. Infrastructure errors are retried a few times and then become the outcome.

    Raises:
        InfrastructureError: the engine cannot be reached at all, so no further prediction could be scored either.
        InterruptedRunError: the run was interrupted.

    """
    request = _request(task, prediction, settings)
    patch = verdict.look(task, prediction)
    watch = observed.request(patch.patch, task.instance.test, task.instance.budgets) if settings.signals else None
    verdict_found, trial = _scored(request, patch, sandbox, watch=watch)
    if _lacks_replay(verdict_found.report, settings):
        figures = replayed(task, patch.patch, sandbox)
        verdict_found = replace(verdict_found, report=verdict_found.report.model_copy(update={"replay": figures}))
    return attach.to_verdict(verdict_found, task, patch.patch, trial) if settings.signals else verdict_found


def _scored(
    request: ScoringRequest, patch: ScreenedPatch, sandbox: Sandbox, *, watch: Mapping[str, Any] | None
) -> tuple[Verdict, Trial | None]:
    """The verdict, and the trial that tells most about it, where there was one."""
    if patch.refused is not None:
        return verdict.refused(request, patch), None
    try:
        scored = _run(request, patch, sandbox, watch=watch)
        if scored.trial.timed_out and request.demands.timeout is None:
            longer = control.time_enough(request.task, sandbox, factor=request.slowdown)
            if longer is not None:
                request = replace(request, slowdown=longer)
                scored = _run(request, patch, sandbox, watch=watch)
    except control.TooSlowError as error:
        return verdict.unscored(request, patch, cause="too_slow", why=error.message), None
    except MissingImageError as error:
        return verdict.unscored(request, patch, cause="missing_image", why=error.message), None
    except SandboxError as error:
        if not sandbox.is_healthy():
            raise
        return verdict.unscored(request, patch, cause="engine", why=error.message), None
    return verdict.graded(request, patch, scored), scored.trial


def _run(request: ScoringRequest, patch: ScreenedPatch, sandbox: Sandbox, *, watch: Mapping[str, Any] | None) -> Scored:
    task = control.slowed(request.task, request.slowdown)
    return scoring.score(task, patch.patch, sandbox, request.demands, watch=watch)


def gold_predictions(dataset: Dataset, ids: Collection[str]) -> tuple[Prediction, ...]:
    """The gold patches as predictions of a model called `gold`; they must all resolve."""
    return tuple(task_store.gold_prediction(dataset, instance_id) for instance_id in ids)


def null_predictions(ids: Iterable[str]) -> tuple[Prediction, ...]:
    """A model called `null` that changes nothing; its tests are really run, and none may resolve."""
    return tuple(of_null(instance_id) for instance_id in ids)


def scorable_ids(dataset: Dataset, chosen: Sequence[str] = (), *, split: str | None = None) -> tuple[str, ...]:
    """The ids a run scores: the chosen ones, or every proved task of a split, or of all where none is given.

    Raises:
        InputError: a chosen id is not in the dataset, or there is nothing to score.

    """
    dataset.require(chosen)
    if chosen:
        return tuple(dict.fromkeys(chosen))
    proved = tuple(instance for instance in dataset.instances() if instance.state is TaskState.PROVED)
    ids = tuple(instance.instance_id for instance in proved if split in (None, instance.split))
    if not proved:
        raise InputError(f"{dataset.path} has no proved task", hint="mine some with `goldseam mine SOURCE -o DATASET`")
    if not ids:
        raise InputError(
            f"none of the {len(proved)} proved tasks of {dataset.path} is in split {split!r}",
            hint=f"it has: {', '.join(sorted({instance.split for instance in proved}))}; choose with --split",
        )
    return ids


def of_split(
    dataset: Dataset, predictions: Sequence[Prediction], split: str | None
) -> tuple[tuple[Prediction, ...], tuple[Prediction, ...]]:
    """The predictions for tasks of a split, and the others; all are of it where none is given.

    Raises:
        InputError: a task is not in the dataset.

    """
    if split is None:
        return tuple(predictions), ()
    refuse_unknown(predictions, dataset.ids())
    where = {
        task_id: dataset.instance(task_id).split for task_id in {prediction.instance_id for prediction in predictions}
    }
    inside = tuple(prediction for prediction in predictions if where[prediction.instance_id] == split)
    return inside, tuple(prediction for prediction in predictions if where[prediction.instance_id] != split)


def select(
    dataset: Dataset,
    files: Sequence[Sequence[Prediction]],
    *,
    gold: bool,
    null: bool,
    ids: Sequence[str],
    split: str | None,
    note: Callable[[str], None],
) -> tuple[Prediction, ...]:
    """The predictions of the chosen tasks, with the controls that are asked for; `note` is told of those left out.

    Raises:
        InputError: nothing to score, or an unknown task.

    """
    if not (files or gold or null):
        raise InputError("nothing to score", hint="give predictions with -p FILE, or --gold, or --null")
    predictions: tuple[Prediction, ...] = ()
    chosen = scorable_ids(dataset, ids, split=split) if (gold or null or ids) else ()
    if gold:
        predictions += gold_predictions(dataset, chosen)
    if null:
        predictions += null_predictions(chosen)
    for file in files:
        chosen_here = [prediction for prediction in file if not ids or prediction.instance_id in chosen]
        predictions = run_folder.merge_predictions(predictions, chosen_here)
    predictions, others = of_split(dataset, predictions, split)
    if others:
        examples = ", ".join(sorted({prediction.instance_id for prediction in others})[:3])
        number = counted(len(others), "prediction")
        text = f"not scored: {number} for tasks outside split {split}, such as {examples}"
        if not predictions:
            raise InputError(text, hint="--split all scores every task")
        note(text)
    if not predictions:
        raise InputError(f"no prediction is for {', '.join(ids)}" if ids else "there is no prediction to score")
    return predictions


def evaluate(
    dataset: Dataset,
    predictions: Sequence[Prediction],
    out: Path,
    *,
    executor: Executor,
    settings: Settings,
    observer: Observer,
    cache_dir: Path,
    semgrep_rules: Path | None = None,
    engine_wait: float | None = None,
    sources: Sequence[Path] = (),
    append: bool = False,
) -> dict[str, object]:
    """`run` in an executor's containers, with the verdicts that `cache_dir` keeps and, for signals, the tools there.

    Raises:
        AnswerIsNoError, InputError, InfrastructureError: as `run`; also for semgrep rules that can't be read.

    """
    semgrep = static.read_rules(semgrep_rules) if settings.signals and semgrep_rules else None
    with (
        executor.sandbox(runtime=settings.runtime, engine_wait=engine_wait, note=observer.note) as sandbox,
        ThreadPoolExecutor(1) as beside,
    ):
        return run(
            dataset,
            predictions,
            out,
            sandbox=sandbox,
            executor=executor,
            settings=settings,
            observer=observer,
            cache=VerdictCache(path=cache_dir / "verdicts"),
            tools=beside.submit(executor.tools_image).result if settings.signals else None,
            rules=semgrep,
            sources=sources,
            append=append,
        )


def run(
    dataset: Dataset,
    predictions: Sequence[Prediction],
    out: Path,
    *,
    sandbox: Sandbox,
    executor: Executor,
    settings: Settings,
    observer: Observer,
    cache: VerdictCache | None = None,
    tools: Callable[[], str | None] | None = None,
    rules: static.Rules | None = None,
    sources: Sequence[Path] = (),
    append: bool = False,
) -> dict[str, object]:
    """Score predictions into a run folder and return its report. What the folder already holds is not done again.

    `append` puts a model's verdicts beside those of others that the folder has.

    `cache` has verdicts of other runs; gold and null, which are there to see that tasks still hold, never come from it.
    `tools` gives the image where the tools for signals are; they read when every prediction has its verdict;
    `rules` are those for semgrep.
    `sources` are predictions files: the transcripts that predictions name are copied from beside them.

    Raises:
        AnswerIsNoError: the dataset is not what its ledger binds; nothing was opened or run.
        InputError: an unknown id, or a folder that cannot be written, is in use, or has what is not of this run.
        InfrastructureError: the engine is gone; what was scored until then is kept.

    """
    refuse_unknown(predictions, dataset.ids())
    folder = RunFolder(path=out)
    _refuse_others(folder, predictions, append=append)
    ids = {prediction.instance_id for prediction in predictions}
    for note in chain.require(dataset):
        observer.note(note)
    head = ledger.head(dataset)
    access_log.tell(dataset, ids, purpose="evaluate", run=out.name)
    tasks = TaskStore(dataset, ids)
    veil = None if settings.keep_evidence else veil_for(dataset)
    if settings.keep_evidence and dataset.sealed:
        observer.note(f"{out} will quote hidden tests and the fix in the clear (--keep-evidence)")
        cache = None
    elif cache and veil:
        cache = replace(cache, scope=veil.scope)
    with files.locked(out / ".lock", busy=f"another goldseam is writing {out}"):
        folder.remove_strays()
        every = run_folder.merge_predictions(folder.predictions(), predictions)
        former = folder.record()
        digest = run_folder.predictions_digest(every)
        vouched = former is None or _is_vouched(folder, former, digest)
        facts = read_facts(dataset, also={prediction.instance_id for prediction in every}, split=settings.split)
        due = [item for item in predictions if not _is_done(folder, tasks, item, settings)]
        of_models = {item.instance_id for item in due if item.model_name_or_path not in (GOLD, NULL)}
        controls = tasks.control_ids(of_models, settings.control)
        _expect(tasks, (*controls, *(item.instance_id for item in due[:1])), sandbox)
        foreign = sum(folder.read(item) is not None and not folder.is_authentic(item) for item in due)
        if foreign and settings.cache:
            observer.note(f"scored again: {counted(foreign, 'report')} without a MAC of this machine's key")
        record = _with_former(_record(dataset, tasks, every, settings, facts, head=head), former, due=due)
        folder.write_run(record, predictions=digest, vouched=vouched)
        folder.write_predictions(every)
        _keep_transcripts(folder, predictions, sources)
        task_store.tell_evaluated(dataset, due, run=out.name, note=observer.note)
        observer.begin(total=len(predictions), reused=len(predictions) - len(due))
        work = _Work(
            tasks=tasks,
            sandbox=sandbox,
            settings=settings,
            folder=folder,
            cache=cache,
            veil=veil,
            started=observer.started,
        )
        items = work.in_turn(controls, due, tools or (lambda: None))
        for outcome in executor.map(work.do, items, cancel=sandbox.cancel):
            if isinstance(outcome, InstanceReport):
                observer.finished(outcome)
            elif outcome:
                work.settings = replace(settings, slowdown=control.slowdown(outcome))
                warnings = control.warnings(outcome)
                fields = {"control": [asdict(reading) for reading in outcome], "drift": warnings}
                record = _with_former(_record(dataset, tasks, every, work.settings, facts, head=head), former, due=due)
                folder.write_run(record.model_copy(update=fields), vouched=vouched)
                for warning in warnings:
                    observer.note(warning)
        summary = write_report(dataset, folder)
        if settings.signals:
            image = tools() if tools else None
            attach.read_pending(
                folder,
                predictions,
                attach.Tools(image=image, sandbox=sandbox, rules=rules) if image else None,
                executor,
                note=observer.note,
                on_complete=cache.complete if cache else lambda _report: None,
            )
        return summary


def _keep_transcripts(folder: RunFolder, predictions: Sequence[Prediction], sources: Sequence[Path]) -> None:
    """Copy transcripts beside the results of their predictions, where a report finds them."""
    for source in filter(Path.is_file, sources):
        for prediction in predictions:
            path = transcript_path(prediction, source.parent)
            if path is not None and read_transcript(path, prediction):
                copy = folder.sample_folder(prediction) / run_folder.TRANSCRIPT_FILE
                files.write_bytes(copy, path.read_bytes(), durable=False)


def _refuse_others(folder: RunFolder, predictions: Sequence[Prediction], *, append: bool) -> None:
    """Leave alone a folder that is no run, and the run of another model unless they are to be mixed."""
    if not (folder.path / run_folder.RUN_FILE).exists():
        if folder.path.is_dir() and any(not path.name.startswith(".") for path in folder.path.iterdir()):
            raise InputError(
                f"{folder.path} has files and is not a run folder: expected {run_folder.RUN_FILE} in it, or nothing",
                hint="give a new folder with -o",
            )
        return
    models = {prediction.model_name_or_path for prediction in folder.predictions()} - {GOLD, NULL}
    added = {prediction.model_name_or_path for prediction in predictions} - models - {GOLD, NULL}
    if models and added and not append:
        raise InputError(
            f"{folder.path} is the run of {', '.join(sorted(models))}, not of {', '.join(sorted(added))}",
            hint="give another folder with -o, or --append to have them in one run",
        )


def _is_vouched(folder: RunFolder, former: RunRecord, digest: str) -> bool:
    """Whether an earlier call left the folder as it is, or was killed before it wrote the predictions asked for now."""
    return folder.vouches(former) and (folder.is_whole() or former.predictions_sha256 == digest)


@dataclass(kw_only=True)
class _Work:
    """What scoring one prediction after the other needs; its settings are others once the control has been read."""

    tasks: TaskStore
    sandbox: Sandbox
    settings: Settings
    folder: RunFolder
    cache: VerdictCache | None
    veil: Redaction | None
    started: Callable[[Prediction], None]

    def in_turn(
        self, controls: tuple[str, ...], due: Sequence[Prediction], tools: Callable[[], str | None]
    ) -> Iterator[Prediction | tuple[str, ...]]:
        """The tasks of the control, if there is one, and the predictions, each as it is to be begun.

        The container of the next prediction is started meanwhile. The control runs beside the first predictions where
        there is room: one that runs out of time before it is read is only believed if gold is in time right after it.
        """
        if controls:
            yield controls
        for prediction, following in zip_longest(due, due[1:]):
            if following is None:
                with suppress(InfrastructureError):  # raised again by the reading of the files
                    static.expect(tools(), self.sandbox)
            elif not self._is_kept(following):
                trial.expect(self.tasks.instance(following.instance_id), self.sandbox)
            yield prediction

    def _is_kept(self, prediction: Prediction) -> bool:
        cache = self._cache_for(prediction)
        digest = self.tasks.cards[prediction.instance_id].digest
        return cache is not None and cache.holds(verdict.key_of(digest, prediction, self.settings.demands))

    def _cache_for(self, prediction: Prediction) -> VerdictCache | None:
        """Where verdicts of such a prediction are kept; gold and null are always run."""
        return self.cache if self.settings.cache and prediction.model_name_or_path not in (GOLD, NULL) else None

    def do(self, item: Prediction | tuple[str, ...]) -> InstanceReport | tuple[control.Reading, ...]:
        """Score a prediction, or run gold on the tasks of the control."""
        if isinstance(item, Prediction):
            return self.score(item)
        return control.read(map(self.tasks.task, item), self.sandbox)

    def score(self, prediction: Prediction) -> InstanceReport:
        """Score one prediction and write what is found; a sealed task is open while this runs."""
        self.started(prediction)
        task = self.tasks.task(prediction.instance_id)
        filled_prediction = filled(prediction, task)
        cache = self._cache_for(prediction)
        kept_verdict = None
        try:
            kept_verdict = _cached(cache, task, filled_prediction, self.settings, self.veil) if cache else None
            verdict_made = kept_verdict or self._covered(
                evaluate_one(task, filled_prediction, self.sandbox, settings=self.settings), task, filled_prediction
            )
            self.folder.write(prediction, verdict_made.report, verdict_made.evidence)
        except Exception as error:
            if not bug_log.is_of_one_item(error):
                raise
            kept_verdict = None
            request = _request(task, filled_prediction, self.settings)
            verdict_made = verdict.broken(request, error, log=bug_log.write())
            verdict_made = self._covered(verdict_made, task, filled_prediction)
            self.folder.write(prediction, verdict_made.report, verdict_made.evidence)
        if cache and not kept_verdict:
            cache.store(verdict_made.report, verdict_made.evidence)
        return verdict_made.report

    def _covered(self, verdict_made: Verdict, task: Task, prediction: Prediction) -> Verdict:
        return self.veil.over(verdict_made, task, prediction) if self.veil else verdict_made


def _request(task: Task, prediction: Prediction, settings: Settings) -> ScoringRequest:
    return ScoringRequest(task=task, prediction=prediction, demands=settings.demands, slowdown=settings.slowdown)


def _cached(
    cache: VerdictCache, task: Task, prediction: Prediction, settings: Settings, veil: Redaction | None = None
) -> Verdict | None:
    """A kept verdict, its failure class by today's table; None where its evidence is too old for that."""
    kept_pair = cache.get(verdict.key(task, prediction, settings.demands), prediction)
    if kept_pair is None:
        return None
    report, evidence = kept_pair
    if _lacks_replay(report, settings):
        return None
    if report.classes_version != CLASSES_VERSION:
        try:
            results = veil.results(evidence.sealed, prediction, where=cache.path) if veil else evidence.results
            report = verdict.carried(report, verdict.replay(task, prediction, results))
        except (verdict.CannotReplayError, InputError):
            return None
        report = veil.report(report, task) if veil else report
    return Verdict(report=report, evidence=evidence)


def _expect(tasks: TaskStore, task_ids: Iterable[str], sandbox: Sandbox) -> None:
    """Have the containers of these tasks started, before they are needed."""
    for task_id in task_ids:
        trial.expect(tasks.instance(task_id), sandbox)


def _with_former(record: RunRecord, former: RunRecord | None, *, due: Sequence[Prediction]) -> RunRecord:
    """A record with what an earlier call found: the verdicts that the folder holds stand on its tasks and control."""
    if former is None:
        return record
    fields: dict[str, object] = {name: value for name, value in (former.model_extra or {}).items() if name in _CONTROL}
    for name in ("tasks", "images"):
        fields[name] = dict(sorted({**getattr(former, name), **getattr(record, name)}.items()))
    if not due and any(name in fields for name in _CONTROL):
        fields["settings"] = {**record.settings, "slowdown": former.settings.get("slowdown", 1.0)}
    return record.model_copy(update=fields)


_CONTROL = ("control", "drift")
"""Fields of run.json that the control adds."""


def _record(
    dataset: Dataset,
    tasks: TaskStore,
    predictions: Iterable[Prediction],
    settings: Settings,
    facts: Mapping[str, TaskFacts],
    *,
    head: str | None,
) -> RunRecord:
    return RunRecord(
        goldseam_version=origin.version(),
        grading_version=GRADING_VERSION,
        classes_version=CLASSES_VERSION,
        dataset=dataset.name,
        dataset_version=dataset.version,
        dataset_content=content.content_told_now(dataset),
        sealed=dataset.sealed,
        ledger_head=head,
        tasks={task_id: card.digest for task_id, card in sorted(tasks.cards.items())},
        images={task_id: card.image for task_id, card in sorted(tasks.cards.items())},
        facts=dict(facts),
        models=sorted({prediction.model_name_or_path for prediction in predictions}),
        settings=asdict(settings),
        machine=origin.machine(),
        started_at=origin.now(),
    )


def write_report(dataset: Dataset, folder: RunFolder) -> dict[str, object]:
    """Write a run's report.json from what it holds, and return it."""
    record = folder.record()
    split = record.settings.get("split") if record else None  # of the last call that scored something
    ids = [
        instance.instance_id
        for instance in dataset.instances()
        if instance.state is TaskState.PROVED and split in (None, instance.split)
    ]
    report = run_folder.run_report(ids, folder.predictions(), folder.reports())
    files.write_json(folder.path / run_folder.REPORT_FILE, report)
    return report


def _is_done(folder: RunFolder, tasks: TaskStore, prediction: Prediction, settings: Settings) -> bool:
    report = folder.read(prediction) if settings.cache else None
    if report is None or not folder.is_authentic(prediction):
        return False
    filled_prediction = (
        filled(prediction, tasks.task(prediction.instance_id)) if is_withheld(prediction) else prediction
    )
    digest = tasks.cards[prediction.instance_id].digest
    if report.key != verdict.key_of(digest, filled_prediction, settings.demands) or _lacks_replay(report, settings):
        return False
    return report.outcome is not Outcome.INFRA_ERROR or not (settings.retry_errors or report.cause == "bug")


def _lacks_replay(report: InstanceReport, settings: Settings) -> bool:
    """Whether a replay is asked for that the report of a pass does not have."""
    return settings.replay and report.outcome in PASSING and report.replay is None
