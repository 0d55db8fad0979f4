"""What a score is broken down by: the public facts of a task, as a run remembers them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from harness.core.instance import TaskState
from harness.core.records import OpenRecord
from harness.dataset.folder import TASK_FILE, Dataset
from harness.dataset.inventory import tier_of
from harness.dataset.model_files import read_model
from harness.dataset.revealed import FIELD as SCAFFOLD
from harness.dataset.revealed import functions_shown
from harness.dataset.schema import TaskModel
from harness.judging.places import Place, read_card, weakest


class TaskFacts(OpenRecord):
    """`facts` of run.json, and what cohorts are made of. None where it is not known."""

    repo: str | None = None
    language: str | None = None
    split: str | None = None
    state: TaskState | None = None
    """When the run was made, or now where a dataset was given."""
    difficulty: str | None = None
    """The tier, as the dataset names it."""
    task_type: str | None = None
    created_at: str | None = None
    """When the fix was merged, ISO 8601 in UTC."""
    revealed: int = 0
    """Hidden test functions that the task shows; its score is `scaffolded` where there is one."""
    place: Place | None = None
    """Where it is judged, by its card; `judged` is what counts."""
    guessable: bool | None = None
    """Whether a forger who has one try may well guess what its tests want."""

    @property
    def judged(self) -> Place:
        """Where the task is judged: inside where nobody says, as it was before there were places."""
        return self.place or Place.INSIDE

    def judged_at(self, places: Iterable[Place | None]) -> TaskFacts:
        """The facts with the weakest place said: a card of today can't strengthen verdicts of yesterday."""
        all_places = (place for place in (self.place, *places) if place)
        return self.model_copy(update={"place": weakest(all_places)})

    @property
    def counts(self) -> bool:
        """Whether the task counts in a score: proved, or of a run that does not say."""
        return self.state in (None, TaskState.PROVED)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the verdicts on some tasks stand on."""

    tasks: int
    judged: Mapping[Place, int]
    """How many are judged in each place."""
    guessable: int
    """How many are known to be guessable."""

    def told(self) -> str:
        """What a patch that aims at goldseam may pass, in a sentence; empty where it is none of these tasks."""
        weak = [f"{count} judged {place}" for place, count in self.judged.items() if count and place is not Place.HOST]
        weak += [f"{self.guessable} guessable"] if self.guessable else []
        if not weak:
            return ""
        many = "1 task" if self.tasks == 1 else f"{self.tasks} tasks"
        return f"Of {many}, {', '.join(weak)}: a patch written to defeat goldseam may pass these (docs/security.md)."


def standing(facts: Iterable[TaskFacts]) -> Standing:
    """Count where tasks are judged, and how many are guessable."""
    task_facts = tuple(facts)
    count = Counter(task_fact.judged for task_fact in task_facts)
    return Standing(
        tasks=len(task_facts),
        judged={place: count[place] for place in Place if place.is_common or count[place]},
        guessable=sum(task_fact.guessable is True for task_fact in task_facts),
    )


def facts_of(task: TaskModel) -> TaskFacts:
    """The facts of a task, from its public file alone."""
    card = read_card(task.quality)
    return TaskFacts(
        repo=task.repo,
        language=task.language,
        split=task.split,
        state=TaskState(task.state),
        difficulty=_word(task, "difficulty"),
        task_type=_word(task, "task_type"),
        created_at=task.created_at,
        revealed=functions_shown((task.model_extra or {}).get(SCAFFOLD)),
        place=card.place,
        guessable=card.guessable,
    )


def read_facts(dataset: Dataset, *, also: Collection[str] = (), split: str | None = None) -> Mapping[str, TaskFacts]:
    """The facts of every proved task of a dataset, or of one split of it, and of the others named, by id.

    Raises:
        InputError: a task.yaml is missing or broken.

    """
    task_facts = {
        task_id: facts_of(read_model(dataset.task_folder(task_id) / TASK_FILE, TaskModel)) for task_id in dataset.ids()
    }
    return {
        task_id: facts
        for task_id, facts in task_facts.items()
        if task_id in also or (facts.counts and split in (None, facts.split))
    }


def _word(task: TaskModel, name: str) -> str | None:
    """A field of `quality`, or of the task itself; of a mapping its `tier`."""
    return tier_of(task.quality.get(name, (task.model_extra or {}).get(name)))
