"""The tasks of a run: what has to be known of each at once, and each whole for as long as it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from harness.core.errors import GoldseamError, InputError
from harness.core.instance import Instance, Prediction, Task
from harness.dataset.folder import Dataset
from harness.dataset.hidden_files import TEST_FILE
from harness.dataset.ledger import ledger
from harness.grading import calibration
from harness.languages import framework
from harness.patches import patch
from harness.runs.predictions import GOLD, WITHHELD, is_withheld, of_gold


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a run has to know of a task without having it open."""

    digest: str
    image: str
    timed: bool
    """Its proof tells gold's time, so it can be a control."""


class TaskStore:
    """The tasks that a run is about. Sealed ones are opened when asked for and kept by nobody here."""

    def __init__(self, dataset: Dataset, ids: Iterable[str]) -> None:
        """Look at every task once.

        Raises:
            InputError: a task is broken, or cannot be opened; the message names it.

        """
        self._dataset = dataset
        self._held: dict[str, Task] = {}
        self.cards: dict[str, Card] = {}
        for task_id in sorted(set(ids)):
            task = usable(dataset, task_id)
            card = Card(digest=task.digest(), image=task.instance.image or "", timed=calibration.is_timed(task))
            self.cards[task_id] = card
            if not dataset.sealed:
                self._held[task_id] = task

    def task(self, task_id: str) -> Task:
        """A task, whole."""
        return self._held.get(task_id) or self._dataset.task(task_id)

    def instance(self, task_id: str) -> Instance:
        """The public side of a task; nothing is opened."""
        held_task = self._held.get(task_id)
        return held_task.instance if held_task else self._dataset.instance(task_id)

    def control_ids(self, ids: Iterable[str], count: int) -> tuple[str, ...]:
        """Some of the tasks that can be controls, the same ones each time."""
        return calibration.sample_ids((card_id for card_id in ids if self.cards[card_id].timed), count)


def usable(dataset: Dataset, instance_id: str) -> Task:
    """A task that predictions can be scored on.

    Raises:
        InputError: a file of it is broken; the message names it.

    """
    task = dataset.task(instance_id)
    framework(task.instance.test.framework)
    try:
        patch.parse(task.hidden.test_patch, trusted=True)
    except patch.PatchError as error:
        where = dataset.task_folder(instance_id) / TEST_FILE
        hint = "`goldseam holdout check` reports every problem of a dataset"
        raise InputError(f"{where} is not a patch: {error}", hint=hint) from (None if dataset.sealed else error)
    return task


def gold_prediction(dataset: Dataset, instance_id: str) -> Prediction:
    """The gold patch as a prediction of a model called `gold`; of a sealed task without its patch, see `filled`."""
    if dataset.sealed:
        return Prediction(instance_id=instance_id, model_name_or_path=GOLD, model_patch=None, extra={WITHHELD: True})
    return of_gold(dataset.task(instance_id))


def filled(prediction: Prediction, task: Task) -> Prediction:
    """A prediction with its patch, where that was withheld."""
    if not is_withheld(prediction):
        return prediction
    return replace(prediction, model_patch=of_gold(task).model_patch)


def tell_evaluated(
    dataset: Dataset, predictions: Iterable[Prediction], *, run: str, note: Callable[[str], None]
) -> None:
    """Tell the ledger that predictions are scored: one line for all of them.

    Raises:
        InputError: the dataset is sealed and its ledger cannot be written.

    """
    predictions = tuple(predictions)
    if not predictions:
        return
    ids = sorted({prediction.instance_id for prediction in predictions})
    models = sorted({prediction.model_name_or_path for prediction in predictions})
    try:
        ledger.record(dataset, ledger.Event.EVALUATED, ids, models=models, predictions=len(predictions), run=run)
    except GoldseamError as error:
        if dataset.sealed:
            raise
        note(f"the dataset's ledger has no record of this run: {error.message}")
