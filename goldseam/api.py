"""What `import goldseam` offers: the functions that the commands call, with values in place of options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.analysis import compare as comparison
from harness.analysis import scoresheet
from harness.analysis.gate import files as gate_files
from harness.analysis.gate.decision import Decision
from harness.analysis.scoresheet import Scoresheet
from harness.config.settings import load_gate_rules, load_settings
from harness.core.errors import InputError
from harness.core.instance import Instance, Outcome, Prediction
from harness.dataset.folder import Dataset as DatasetFolder
from harness.dataset.folder import open_dataset
from harness.dataset.seal.identity import load_keys
from harness.grading.scoring import Demands
from harness.interop.mirrors import local_copy
from harness.report import work as report_work
from harness.report.work import Report
from harness.runs import evaluate as runs
from harness.runs.predictions import read_predictions
from harness.runs.run_folder import InstanceReport, RunFolder
from harness.sandbox.executors.choose import Kind, choose

_TASK_COLUMNS = ("instance_id", "repo", "base_commit", "created_at", "language", "version", "state", "split", "image")
_RUN_COLUMNS = (
    "instance_id", "model_name_or_path", "sample", "outcome", "resolved", "failure_class", "cause", "reason",
)  # fmt: skip
_PAIR_COLUMNS = ("instance_id", "base_resolved", "base_scored", "candidate_resolved", "candidate_scored", "change")
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A benchmark: proved tasks in a folder."""

    path: Path
    folder: DatasetFolder = field(repr=False)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all tasks, in order."""
        return self.folder.ids()

    def __len__(self) -> int:
        return len(self.ids)

    def task(self, instance_id: str) -> Instance:
        """The public side of a task: what a model may see.

        Raises:
            InputError: there is no such task.

        """
        return self.folder.instance(instance_id)

    def rows(self) -> list[Row]:
        """One row a task: id, repository, commit, date, language, state, split and image."""
        return [{name: _plain(getattr(task, name)) for name in _TASK_COLUMNS} for task in self.folder.instances()]

    def to_pandas(self) -> Any:
        """`rows` as a `pandas.DataFrame`.

        Raises:
            InputError: pandas is not installed.

        """
        return to_pandas(self.rows(), _TASK_COLUMNS)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Predictions and their verdicts in a run folder."""

    path: Path
    notes: tuple[str, ...] = ()
    """What a person should know of this evaluation; empty for a run that was only opened."""

    @property
    def reports(self) -> tuple[InstanceReport, ...]:
        """One report a prediction that has been scored."""
        return tuple(RunFolder(path=self.path).reports())

    @property
    def scores(self) -> dict[str, Scoresheet]:
        """By model: rates with 95% intervals, coverage, costs."""
        return {sheet.model: sheet for sheet in scoresheet.read(self.path)}

    @property
    def complete(self) -> bool:
        """Whether each prediction has a verdict; an infrastructure failure is none."""
        folder, reports = RunFolder(path=self.path), self.reports
        scored = {_identity(report) for report in reports if report.outcome != Outcome.INFRA_ERROR}
        predicted = {_identity(prediction) for prediction in folder.predictions()}
        return predicted | {_identity(report) for report in reports} <= scored

    def rows(self) -> list[Row]:
        """One row a prediction: id, model, sample, outcome, and why it failed."""
        return [{name: _plain(getattr(report, name)) for name in _RUN_COLUMNS} for report in self.reports]

    def to_pandas(self) -> Any:
        """`rows` as a `pandas.DataFrame`.

        Raises:
            InputError: pandas is not installed.

        """
        return to_pandas(self.rows(), _RUN_COLUMNS)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A candidate against a base, paired by task."""

    result: comparison.Comparison = field(repr=False)

    @property
    def answer(self) -> str:
        """`better`, `worse` or `can't tell`."""
        return self.result.answer.value

    @property
    def difference(self) -> float:
        """The candidate's mean rate less the base's, from -1 to 1."""
        return self.result.difference

    @property
    def interval(self) -> tuple[float, float]:
        """95% bounds of the difference."""
        return self.result.interval.low, self.result.interval.high

    @property
    def p(self) -> float:
        """Two-sided p-value of "there is no difference"."""
        return self.result.p_adjusted

    def rows(self) -> list[Row]:
        """One row a task that both have a verdict on: resolved and scored samples, and the change of the rate."""
        rows: list[Row] = []
        for task_id in self.result.common:
            base, candidate = self.result.base.tasks[task_id], self.result.candidate.tasks[task_id]
            change = (candidate.rate or 0.0) - (base.rate or 0.0)
            values = (task_id, base.resolved, base.scored, candidate.resolved, candidate.scored, float(change))
            rows.append(dict(zip(_PAIR_COLUMNS, values, strict=True)))
        return rows

    def to_pandas(self) -> Any:
        """`rows` as a `pandas.DataFrame`.

        Raises:
            InputError: pandas is not installed.

        """
        return to_pandas(self.rows(), _PAIR_COLUMNS)


def load(dataset: str | Path, *, identity: str | None = None) -> Dataset:
    """Open a dataset: a folder, or the URL of a store that one was pushed to.

    `identity` opens a sealed one, as the option `--identity` does: a key file, `env:VAR` or `command:CMD`.

        >>> import goldseam
        >>> try:
        ...     goldseam.load("no/such/folder")
        ... except goldseam.GoldseamError as error:
        ...     print(error.exit_code)
        2

    Raises:
        InputError: there is no dataset, or the identity holds no key.
        InfrastructureError: the store cannot be reached.

    """
    path = local_copy(str(dataset)) if "://" in str(dataset) else Path(dataset)
    folder = open_dataset(path)
    if identity is not None and folder.sealed:
        folder = folder.with_keys(load_keys(identity, path))
    return Dataset(path=path, folder=folder)


def open_run(path: str | Path) -> Evaluation:
    """A run folder that is there already.

    Raises:
        InputError: it is no run folder.

    """
    scoresheet.read(Path(path))
    return Evaluation(path=Path(path))


class _Notes:
    """An observer that keeps notes and shows nothing."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def begin(self, *, total: int, reused: int) -> None:
        pass

    def started(self, prediction: Prediction) -> None:
        pass

    def finished(self, report: InstanceReport) -> None:
        pass

    def note(self, text: str) -> None:
        self.lines.append(text)


def evaluate(
    dataset: Dataset | str | Path,
    predictions: str | Path | Iterable[Prediction],
    *,
    output: str | Path,
    ids: Sequence[str] = (),
    split: str | None = "holdout",
    model_name: str | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    runtime: str | None = None,
    retry_errors: bool = False,
    append: bool = False,
    signals: bool = False,
) -> Evaluation:
    """Apply the patches, run the hidden tests in containers, and write a run folder; an unfinished one goes on.

    Args:
        dataset: a dataset, or where one is.
        predictions: a file, an agent's output folder, `"gold"` or `"null"` for the controls, or predictions.
        output: the run folder.
        ids: only these tasks; none for all of the split.
        split: only tasks of this split; None or "all" for all.
        model_name: the model of predictions that do not name theirs.
        jobs: predictions scored in parallel; None for what the machine has room for.
        timeout: seconds that a task's tests may take, in place of its budget.
        runtime: the engine's OCI runtime, such as `runsc`.
        retry_errors: score again what infrastructure failed to score.
        append: put another model's verdicts into a run that has some already.
        signals: measure lint, security and complexity too, beside the verdict.

    Raises:
        InputError: unusable predictions, an unknown task, or a folder that is no run.
        InfrastructureError: the engine is gone; the same call goes on from there.
        AnswerIsNoError: the dataset is not what its ledger binds.

    """
    data = dataset if isinstance(dataset, Dataset) else load(dataset)
    notes = _Notes()
    source = str(predictions) if isinstance(predictions, (str, Path)) else None
    sources = [Path(source)] if source not in (None, "gold", "null") else []
    if source in ("gold", "null"):
        files: list[Sequence[Prediction]] = []
    elif isinstance(predictions, (str, Path)):
        files = [read_predictions(Path(predictions), model_name=model_name)]
    else:
        files = [tuple(predictions)]
    split = None if split == "all" else split
    chosen = runs.select(
        data.folder,
        files,
        gold=source == "gold",
        null=source == "null",
        ids=ids,
        split=None if ids else split,
        note=notes.note,
    )
    settings = load_settings()
    runs.evaluate(
        data.folder,
        chosen,
        Path(output),
        executor=choose(Kind.LOCAL, jobs=jobs),
        settings=runs.Settings(
            demands=Demands(timeout=timeout),
            retry_errors=retry_errors,
            runtime=runtime,
            control=runs.CONTROLS,
            split=split,
            signals=signals,
        ),
        observer=notes,
        cache_dir=settings.images.cache_dir,
        semgrep_rules=settings.signals.semgrep_rules,
        sources=sources,
        append=append,
    )
    return Evaluation(path=Path(output), notes=tuple(notes.lines))


def compare(
    base: Evaluation | str | Path,
    candidate: Evaluation | str | Path,
    *,
    base_model: str | None = None,
    model: str | None = None,
) -> Comparison:
    """Whether the candidate is better than the base, worse, or that it can't be told; both are runs or their folders.

    Raises:
        InputError: no run, or several models in one and none named.
        NothingComparableError: no task has a verdict in both.

    """
    sheet = comparison.pick(scoresheet.read(_path(base)), base_model)
    sheets = scoresheet.read(_path(candidate))
    return Comparison(result=comparison.compare(sheet, comparison.pick(sheets, model)))


def gate(
    candidate: Evaluation | str | Path,
    *,
    baseline: Evaluation | str | Path | None = None,
    config: str | Path | None = None,
    model: str | None = None,
) -> Decision:
    """Whether a run may ship, by the rules of goldseam.toml: its `exit_code` is 0 pass, 1 regression, 3 can't tell.

    Without a baseline only the rules that need none are asked.

    Raises:
        InputError: no run, no such model, no baseline, or a broken file.

    """
    rules = load_gate_rules(Path(config) if config is not None else None)
    question = gate_files.Question(
        candidate=_path(candidate),
        baseline=_path(baseline) if baseline is not None else None,
        first=baseline is None,
        model=model,
    )
    return gate_files.ask(question, rules).decision


def report(
    *candidates: Evaluation | str | Path, dataset: Dataset | str | Path | None = None, output: str | Path | None = None
) -> Report:
    """Which model is better and where it fails; written as one HTML file where `output` is given.

    Raises:
        InputError: no run, or a file that cannot be written.

    """
    if not candidates:
        raise InputError("no run to report on", hint="goldseam.report('runs/next')")
    folder = dataset.path if isinstance(dataset, Dataset) else Path(dataset) if dataset is not None else None
    document = report_work.make([_path(candidate) for candidate in candidates], dataset=folder)
    if output is not None:
        document.write_page(Path(output))
    return document


def _path(run: Evaluation | str | Path) -> Path:
    return run.path if isinstance(run, Evaluation) else Path(run)


def _identity(part: InstanceReport | Prediction) -> tuple[str, str, int]:
    return part.instance_id, part.model_name_or_path, part.sample


def _plain(value: Any) -> Any:
    """Words of an enumeration as plain strings."""
    return str(value) if isinstance(value, str) else value


def to_pandas(rows: Sequence[Row], columns: Sequence[str]) -> Any:
    """A `pandas.DataFrame` with one line a row.

    Raises:
        InputError: pandas is not installed.

    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise InputError("to_pandas() needs pandas, which is not installed", hint="pip install pandas") from error
    return pandas.DataFrame(list(rows), columns=list(columns))
