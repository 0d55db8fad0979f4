"""A model that writes statements in a mine: asked within limits, its answers kept, each task's exposure recorded."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from harness.core import files
from harness.core.records import StrictRecord
from harness.dataset.folder import Dataset
from harness.dataset.ledger.ledger import record_exposure
from harness.patches.patch import PatchError
from harness.quality.base import Subject
from harness.quality.leaks import leaks
from harness.solve.base import Reply
from harness.solve.models.meter import Spending
from harness.solve.models.stack import Wrapped
from miner.assist import statement_writer
from miner.assist.model_session import NotAskedError, Questions, bill
from miner.assist.statement_writer import PROMPT, TRIES, Fault, Material

Use = Literal["written", "refused", "not_asked"]


class Note(StrictRecord):
    """What came of one task, as it is kept on disk until the dataset is sealed, so that nothing is asked twice."""

    key: str
    """Hash of everything that the answer and its check depend on."""
    text: str | None
    """None where no answer could be taken."""
    faults: tuple[Fault, ...]
    """Of the last answer."""
    tries: int
    snapshot: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, kw_only=True)
class WrittenStatement:
    """What a model came to for one task, and what it was made from."""

    use: Use
    why: str
    """Why the change's own words stay; empty where they don't."""
    original: str
    """The change's own words."""
    model: str
    endpoint: str
    note: Note | None = None
    tests: Mapping[str, object] | None = None
    """What the statement has of the hidden tests."""
    original_leaks: Mapping[str, object] | None = None

    def public(self) -> dict[str, object]:
        """`origin.statement_model` of task.yaml."""
        fields: dict[str, object] = {"model": self.model, "endpoint": self.endpoint, "prompt": PROMPT, "use": self.use}
        if self.why:
            fields["why"] = self.why
        if self.note is not None:
            fields |= self.note.model_dump(include={"tries", "snapshot", "input_tokens", "output_tokens", "cost_usd"})
        if self.use == "written":
            fields |= {"tests": dict(self.tests or {}), "original_leaks": dict(self.original_leaks or {})}
        return fields


@dataclass(frozen=True, kw_only=True)
class WritingJob:
    """One statement to be written."""

    instance_id: str
    subject: Subject
    """The task with the change's own words as its statement."""
    material: Callable[[], Material]
    """Made only where the model has to be asked: it takes a run of the tests."""
    mask: bool
    """Whether secrets are taken out of what is written."""


class Writer:
    """Writes statements; shared by the threads of a mine."""

    def __init__(
        self, model: Wrapped, *, name: str, endpoint: str, host: str, dataset: Dataset, warn: Callable[[str], None]
    ) -> None:
        self._questions = Questions(model, name=name, place=tally_of(dataset))
        self._dataset, self._warn = dataset, warn
        self._name, self._endpoint, self._host = name, endpoint, host
        self._lock = threading.Lock()
        self.counts: Counter[Use] = Counter()

    @property
    def spent(self) -> Spending:
        """Over all mines into the dataset."""
        return self._questions.model.spent

    def stop(self) -> None:
        """Ask nothing more; who waits for a turn gives up."""
        self._questions.model.stop()

    def write(self, job: WritingJob) -> WrittenStatement:
        """The statement of one task, or why the change's own words stay; a person is warned of that.

        Raises:
            InterruptedRunError: the mine was stopped meanwhile; nothing is decided.

        """
        written = self._write(job)
        with self._lock:
            self.counts[written.use] += 1
        if written.why:
            self.leave(job.instance_id, written.why)
        return written

    def leave(self, instance_id: str, why: str) -> None:
        """Tell a person that a change's own words stay its statement, and why."""
        self._warn(f"{instance_id}: the change's own words stay its statement: {why}")

    def _write(self, job: WritingJob) -> WrittenStatement:
        key = self._key(job)
        note = read_note(self._place(job)) if self._place(job).exists() else None
        if note is None or note.key != key:
            try:
                note = self._ask(job, key)
            except NotAskedError as error:
                return self._answered(job, "not_asked", str(error))
            files.write_json(self._place(job), note.model_dump(mode="json"))
        if note.text is None:
            text = ", ".join(note.faults)
            return self._answered(job, "refused", f"no answer of {self._name} could be used ({text})", note)
        try:
            before = leaks(job.subject)
            measures = statement_writer.measured(replace(job.subject, statement=note.text))
        except PatchError as error:
            return self._answered(job, "refused", f"what was written can't be checked: {error}", note)
        written = self._answered(job, "written", "", note)
        return replace(written, tests=measures.tests.public(), original_leaks=before.public())

    def _answered(self, job: WritingJob, use: Use, why: str, note: Note | None = None) -> WrittenStatement:
        return WrittenStatement(
            use=use, why=why, original=job.subject.statement, model=self._name, endpoint=self._host, note=note
        )

    def _place(self, job: WritingJob) -> Path:
        return self._dataset.path / ".goldseam" / "statements" / f"{job.instance_id}.json"

    def _key(self, job: WritingJob) -> str:
        subject = job.subject
        parts = (PROMPT, TRIES, self._name, self._endpoint, subject.statement, subject.gold_patch, subject.test_patch)
        return hashlib.sha256(repr((*parts, subject.fail_to_pass, job.mask)).encode()).hexdigest()

    def _ask(self, job: WritingJob, key: str) -> Note:
        """Ask, and ask again where the answer can't be taken."""
        self._questions.see_that_open()
        messages = statement_writer.question(job.material(), canary=self._dataset.canary)
        record_exposure(  # more than a solver is shown, as it quotes what hidden tests print
            self._dataset,
            [job.instance_id],
            model=self._name,
            endpoint=self._endpoint,
            parts={"statement", "test_output"},
        )
        asking, replies = self._questions.model.for_attempt(), list[Reply]()
        while True:
            reply = self._questions.ask(asking, messages)
            replies.append(reply)
            text = statement_writer.read(reply.message.content, mask=job.mask)
            faults = _faults(reply, text, job.subject)
            if faults in ((), (Fault.UNCLEAR,)) or len(replies) == TRIES:
                kept = None if faults else text
                return Note(key=key, text=kept, faults=faults, tries=len(replies), **asdict(bill(replies)))
            messages = statement_writer.again(messages, reply.message.content, faults)


def _faults(reply: Reply, text: str, subject: Subject) -> tuple[Fault, ...]:
    if reply.refusal or not reply.message.content.strip():
        return (Fault.UNCLEAR,)
    if reply.finish_reason not in ("stop", "completed", ""):
        return (Fault.FORM,)
    try:
        return statement_writer.measured(replace(subject, statement=text)).faults
    except PatchError:
        return (Fault.FORM,)


def read_note(path: Path) -> Note | None:
    """What is kept of an earlier answer; None where it can't be read, so that the model is asked anew."""
    try:
        return Note.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def tally_of(dataset: Dataset) -> Path:
    """The file that says what all mines into a dataset spent on statements."""
    return dataset.path / ".goldseam" / "statements.json"
