"""One question, one answer: the statement and the files that fit it best, and the patch that the answer holds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.solve import retrieve
from harness.solve.answers.extract import NoPatch, extract
from harness.solve.base import (
    Agent,
    Attempt,
    Fault,
    LimitReachedError,
    Message,
    Model,
    ModelError,
    Reply,
    Request,
    SolveJob,
    Workspace,
)
from harness.solve.models.tokens import LIMIT_UNTOLD
from harness.solve.prompts import Prompt

FILE_TOKENS = 24_000
"""How much of the repository is shown by default, by our rule of thumb."""
_SHRINKS = 4
"""How often a prompt that is too long is halved before it is given up."""
_KEPT_TREES = 4
_SHOWN_PATHS = 2000


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A repository in memory."""

    contents: Mapping[str, bytes]

    @classmethod
    def of(cls, workspace: Workspace) -> Snapshot:
        read_many = getattr(workspace, "read_many", None)
        paths = workspace.files()
        if read_many is not None:
            return cls(contents=dict(read_many(paths)))
        return cls(contents={path: workspace.read(path) for path in paths})

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self.contents))

    def read(self, path: str) -> bytes:
        try:
            return self.contents[path]
        except KeyError:
            raise FileNotFoundError(path) from None


@dataclass(kw_only=True)
class _SharedSnapshot:
    """A snapshot that is made by the first who needs it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    snapshot: Snapshot | None = None


class SingleAgent(Agent):
    """Asks once. Safe to use from several threads."""

    name = "single"
    version = 1

    def __init__(self, prompt: Prompt, *, file_tokens: int = FILE_TOKENS) -> None:
        """`file_tokens` is how much of the repository is shown."""
        self.prompt = prompt
        self.file_tokens = file_tokens
        self._lock = threading.Lock()
        self._trees: OrderedDict[str, _SharedSnapshot] = OrderedDict()

    def settings(self) -> dict[str, Any]:
        """What, beside its version, makes its answers what they are."""
        return {"file_tokens": self.file_tokens}

    def attempt(self, job: SolveJob, model: Model) -> Attempt:
        tree = self._tree(job)
        files = retrieve.texts(tree.contents)
        budget = self.file_tokens
        for shrinks in range(_SHRINKS + 1):
            messages, facts = self._question(job, files, budget)
            facts["prompt_shrunk"] = shrinks
            try:
                reply = model.ask(Request(messages=messages, sampling=job.sampling, sample=job.sample))
            except LimitReachedError as limit:
                return _nothing(NoPatch.LIMIT, str(limit), messages, facts, stopped=limit.limit)
            except ModelError as error:
                if error.fault is not Fault.CONTEXT_OVERFLOW:
                    raise
                if shrinks == _SHRINKS:
                    return _nothing(NoPatch.CONTEXT_OVERFLOW, error.message, messages, facts)
                budget //= 2
                continue
            return _attempt(reply, job, tree, messages, facts)
        raise AssertionError  # pragma: no cover - the last round returns

    def _question(
        self, job: SolveJob, files: Mapping[str, str], budget: int
    ) -> tuple[tuple[Message, ...], dict[str, Any]]:
        only: Iterable[str] | None = job.oracle_files or None
        excerpts = retrieve.choose(job.instance.problem_statement, files, budget=budget, only=only)
        messages = self.prompt.messages(job.instance, excerpts, paths=sorted(files)[:_SHOWN_PATHS], header=job.header)
        facts = {
            "files_shown": list(dict.fromkeys(excerpt.path for excerpt in excerpts)),
            "files_shown_in_part": sorted({excerpt.path for excerpt in excerpts if not excerpt.is_whole}),
        }
        return messages, facts

    def _tree(self, job: SolveJob) -> Snapshot:
        """The task's tree; samples of one task share it."""
        instance_id = job.instance.instance_id
        with self._lock:
            snapshot = self._trees.setdefault(instance_id, _SharedSnapshot())
            self._trees.move_to_end(instance_id)
            while len(self._trees) > _KEPT_TREES:
                self._trees.popitem(last=False)
        with snapshot.lock:
            if snapshot.snapshot is None:
                with job.open_workspace() as workspace:
                    snapshot.snapshot = Snapshot.of(workspace)
            return snapshot.snapshot


def _attempt(
    reply: Reply, job: SolveJob, tree: Snapshot, messages: tuple[Message, ...], facts: dict[str, Any]
) -> Attempt:
    extracted = extract(
        "" if reply.refusal else reply.message.content,
        tree,
        finish_reason="length" if LIMIT_UNTOLD in reply.notes else reply.finish_reason,
        refusal=reply.refusal,
        version=job.instance.version if job.instance.language == "python" else "",
    )
    return Attempt(**vars(extracted), replies=(reply,), messages=(*messages, reply.message), facts=facts)


def _nothing(
    reason: NoPatch, detail: str, messages: tuple[Message, ...], facts: dict[str, Any], *, stopped: str | None = None
) -> Attempt:
    return Attempt(patch=None, no_patch=reason, detail=detail, messages=messages, facts=facts, stopped=stopped)
