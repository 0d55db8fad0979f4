"""A judge's file: one line a judgement, held against the run it is about. No verdict of a run is read from it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.core import files
from harness.core.errors import InputError
from harness.core.files import refuse_newer
from harness.core.instance import Outcome, Prediction
from harness.core.records import OpenRecord
from harness.core.wording import did_you_mean, file_problems
from harness.dataset.model_files import read_text
from harness.runs.predictions import CONTROLS, is_withheld
from harness.runs.run_folder import InstanceReport, RunFolder
from harness.solve.judge.agreement import Case, Grade, Tally, tally
from harness.solve.models.meter import Spending

SCHEMA_VERSION = 1
PROMPT_VERSION = 1
"""Goes up when what surrounds the rubric changes: judgements of different versions are not the same thing."""
_CONTAINER_STEPS = ("create", "attach", "start", "run", "wait")


class JudgeIdentity(BaseModel):
    """Who judged, and by what: judgements with different identities are never mixed."""

    model_config = ConfigDict(frozen=True)

    model: str
    endpoint: str
    """Host and port."""
    rubric: str
    """Name of the file."""
    rubric_sha256: str
    prompt_version: int = PROMPT_VERSION
    with_gold: bool = False
    """The judge was shown the gold patch too."""
    temperature: float | None = None


JudgementKey = tuple[str, str, int, str, JudgeIdentity]
"""What a judgement is known by."""


class Judgement(OpenRecord):
    """One line of a judge's file."""

    schema_version: int = SCHEMA_VERSION
    instance_id: str
    model_name_or_path: str
    """That wrote the patch."""
    sample: int = 0
    patch_sha256: str
    judge: JudgeIdentity
    verdict: Grade
    reason: str = ""
    """In the judge's words; where its verdict can't be read, why not."""
    reply: str = ""
    """All that the judge said."""
    snapshot: str = ""
    """The model that the endpoint says it used."""
    finish_reason: str = ""
    request_id: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    cached: bool = False
    retries: int = 0
    judged_at: str = ""

    @property
    def key(self) -> JudgementKey:
        """Whose patch, for what, which, by whom."""
        return (self.model_name_or_path, self.instance_id, self.sample, self.patch_sha256, self.judge)


@dataclass(frozen=True, kw_only=True)
class Patch:
    """What is to be judged: a prediction with a patch, and what the tests said of it."""

    prediction: Prediction
    report: InstanceReport

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.prediction.patch_bytes()).hexdigest()

    @property
    def key(self) -> tuple[str, str, int, str]:
        prediction = self.prediction
        return (*prediction.identity, self.sha256)

    def key_by(self, judge: JudgeIdentity) -> JudgementKey:
        """The key of a judgement of it by this judge."""
        return (*self.key, judge)

    @property
    def empty(self) -> bool:
        return not (self.prediction.model_patch or "").strip()


@dataclass(frozen=True, kw_only=True)
class Bill:
    """What judging and running the tests of the same patches took. Unknown is None and never 0."""

    judged: int
    tokens: int | None
    cost_usd: float | None
    judge_seconds: float
    """Of the answers, one after the other."""
    scored: int
    container_seconds: float
    """Of the containers that the tests ran in, one after the other."""


def patches(runs: Iterable[Path], *, only: Collection[str] = ()) -> tuple[Patch, ...]:
    """The predictions of runs that tests have judged, of these models alone; not what infrastructure failed to score.

    Without `only`, of all but gold and null: to judge gold is to show a provider the fix. A patch that a run does not
    hold, as gold's of a sealed dataset, is not judged.

    Raises:
        InputError: one is no run folder, a model is in none, or nothing is scored.

    """
    by_key: dict[tuple[str, str, int, str], Patch] = {}
    models: set[str] = set()
    for run in runs:
        folder = RunFolder(path=run)
        predictions = folder.predictions()
        if not predictions:
            raise InputError(
                f"{run} holds no prediction", hint="give a run folder, as `goldseam evaluate … -o RUN` leaves it"
            )
        models |= {prediction.model_name_or_path for prediction in predictions}
        for prediction in predictions:
            name = prediction.model_name_or_path
            if name not in only if only else name in CONTROLS:
                continue
            report = None if is_withheld(prediction) else folder.read(prediction)
            if report is not None and report.outcome is not Outcome.INFRA_ERROR:
                patch = Patch(prediction=prediction, report=report)
                by_key.setdefault(patch.key, patch)
    if unknown := sorted(set(only) - models):
        hint = did_you_mean(unknown[0], models, otherwise=f"there are: {', '.join(sorted(models))}")
        raise InputError(f"no run has patches of {', '.join(unknown)}", hint=hint)
    if not by_key:
        raise InputError(
            "these runs have no scored patch to judge",
            hint="let `goldseam evaluate` finish first; gold's are judged with --only gold",
        )
    return tuple(by_key.values())


def read_judgements(path: Path) -> tuple[Judgement, ...]:
    """The lines of a judge's file; none where there is no file. A last line that was cut short does not count.

    Raises:
        InputError: a line is broken, or of a newer version.

    """
    if not path.exists():
        return ()
    judgements = []
    text = read_text(path)
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), start=1):
        try:
            judgement = Judgement.model_validate_json(line)
        except ValidationError as error:
            raise InputError(f"{path}, line {number} is not a judgement: {file_problems(error.errors())}") from error
        refuse_newer(f"{path}, line {number}", judgement.schema_version, SCHEMA_VERSION)
        judgements.append(judgement)
    return tuple(judgements)


def cut_half_line(path: Path) -> None:
    """Make the file, or drop a last line of it that was cut short.

    Raises:
        InputError: lines can't be added to it.

    """
    files.refuse_special(path)
    with files.explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


def cases(patches_judged: Iterable[Patch], judgements: Iterable[Judgement], judge: JudgeIdentity) -> tuple[Case, ...]:
    """Every patch with what this judge said of it."""
    grades = {judgement.key: judgement.verdict for judgement in judgements}
    return tuple(
        Case(
            model=patch.prediction.model_name_or_path,
            instance_id=patch.prediction.instance_id,
            resolved=patch.report.resolved,
            failure_class=patch.report.failure_class,
            grade=None if patch.empty else grades.get(patch.key_by(judge)),
            empty=patch.empty,
        )
        for patch in patches_judged
    )


def judges(judgements: Iterable[Judgement]) -> tuple[JudgeIdentity, ...]:
    """Who judged in a file, in order of first appearance."""
    return tuple(dict.fromkeys(judgement.judge for judgement in judgements))


def tally_of(patches_judged: Sequence[Patch], judgements: Iterable[Judgement], judge: JudgeIdentity) -> Tally:
    """The tally of one judge."""
    return tally(cases(patches_judged, judgements, judge), unranked=frozenset(CONTROLS))


def spent(judgements: Iterable[Judgement]) -> Spending:
    """What the judgements of a file cost when they were made; what is unknown counts as far as it is known."""
    paid = [judgement for judgement in judgements if not judgement.cached]
    return Spending(
        cost=sum(judgement.cost_usd or 0.0 for judgement in paid),
        unpriced=sum(judgement.cost_usd is None for judgement in paid),
        input_tokens=sum(judgement.input_tokens or 0 for judgement in paid),
        output_tokens=sum(judgement.output_tokens or 0 for judgement in paid),
        questions=len(paid),
    )


def bill(patches_judged: Iterable[Patch], judgements: Iterable[Judgement], judge: JudgeIdentity) -> Bill:
    """What the judge took, and what the containers took, for the patches that it has judged."""
    by_identity = {judgement.key: judgement for judgement in judgements}
    both = [(patch, by_identity[key]) for patch in patches_judged if (key := patch.key_by(judge)) in by_identity]
    tokens = [_tokens(judgement) for _, judgement in both]
    costs = [judgement.cost_usd for _, judgement in both]
    return Bill(
        judged=len(both),
        tokens=None if None in tokens else sum(count or 0 for count in tokens),
        cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        judge_seconds=sum(judgement.seconds for _, judgement in both),
        scored=len(both),
        container_seconds=sum(container_seconds(patch.report) for patch, _ in both),
    )


def container_seconds(report: InstanceReport) -> float:
    """How long containers worked for one verdict; the steps inside a run are part of it."""
    timings = report.timings
    steps = _CONTAINER_STEPS if "run" in timings else tuple(timings)
    return sum(timings.get(step, 0.0) for step in steps)


def _tokens(judgement: Judgement) -> int | None:
    if judgement.input_tokens is None or judgement.output_tokens is None:
        return None
    return judgement.input_tokens + judgement.output_tokens
