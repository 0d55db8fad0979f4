"""The words of `solve` as values, and the two Protocols everything in it stands on: Model and Agent. Pure.

A model is asked with a `Request` and answers with a `Reply`; what is wrapped around it (retries, a response cache, a
meter for money) is a `Model` again, so an agent never knows. An agent gets a `SolveJob` and gives an `Attempt`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from harness.core.errors import InfrastructureError
from harness.core.instance import Instance


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A tool that the model wants to be called."""

    call_id: str
    name: str
    arguments: str
    """JSON as the model wrote it, which may be broken."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    """For `tool`: the call that this is the result of."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A function the model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema of its arguments."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a model draws its answer; None leaves it to the endpoint's own default."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_output_tokens: int | None = None
    """Of one reply."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a model is asked once."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    sampling: Sampling = field(default_factory=Sampling)
    sample: int = 0
    """Which of several answers to the same question this is: a part of what a cached answer is kept under."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further settings in Chat Completions' own words, such as `stop`: what a program that is an agent asks for."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens, as the endpoint counts them; None where it does not say."""

    input_tokens: int | None = None
    """All of the prompt, cached part included."""
    output_tokens: int | None = None
    """All that was written, reasoning included."""
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model answered, and what is known of how."""

    message: Message
    finish_reason: str
    """As the endpoint says it: `stop`, `length`, `tool_calls`, `content_filter`…; `cut` where the stream broke off."""
    usage: Usage
    model: str
    """The snapshot that the endpoint says it used."""
    request_id: str | None = None
    seconds: float = 0.0
    first_token_seconds: float | None = None
    cost: float | None = None
    """In dollars; None where no price is known, never 0 for that."""
    cached: bool = False
    """Taken from the response cache: it cost nothing this time; `cost` is what it cost when it was asked for."""
    refusal: str | None = None
    """What the endpoint marks as a refusal, in words; it stands in the message too."""
    notes: tuple[str, ...] = ()
    """What is odd about the answer, told and not guessed at: `usage_missing`, `usage_inconsistent`, …"""
    retries: tuple[Fault, ...] = ()
    """Why it was asked again, once for each try before this answer."""
    waited_seconds: float = 0.0
    """Waits between the tries; no part of `seconds`."""


class Fault(StrEnum):
    """Why a model could not answer."""

    AUTH = "auth"
    """The endpoint refused the key."""
    RATE_LIMIT = "rate_limit"
    """Too many requests, or the quota is spent."""
    SERVER = "server"
    """The endpoint failed."""
    UNREACHABLE = "unreachable"
    """No connection was made: nothing was asked, so nothing can be billed."""
    NETWORK = "network"
    """The connection broke or timed out after the request was sent."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The prompt is longer than the model takes."""
    BAD_REQUEST = "bad_request"
    """The endpoint refused the request."""
    BAD_REPLY = "bad_reply"
    """The reply does not have the form of the API."""


class ModelError(InfrastructureError):
    """A model could not be asked, or its answer is no answer; never the fault of the task."""

    def __init__(
        self, message: str, *, fault: Fault, retry_after: float | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.fault = fault
        self.retry_after = retry_after
        """Seconds that the endpoint asks to wait."""


class LimitReachedError(Exception):
    """A limit of money, tokens or time is used up: the attempt ends here, gracefully. `limit` names it."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


def marked(parts: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """A mark that none of some texts can hold, and these by their names, each between two of it."""
    mark = hashlib.sha256("\0".join(text for _, text in parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return mark, "\n".join(f"[{mark}] {name}\n{text}\n[{mark}] end of {name}" for name, text in parts)


class Model(Protocol):
    """Something that answers. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """What the user called it."""

    def ask(self, request: Request) -> Reply:
        """Answer once.

        Raises:
            ModelError: it could not; `fault` says why.
            LimitReachedError: no further question may be asked.

        """


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """What a command in a workspace did. Its output is untrusted."""

    exit_code: int
    output: str
    """Both streams as they came, cut in the middle where longer than asked for."""
    timed_out: bool = False


class Workspace(Protocol):
    """A task's tree at its base commit, in its own image, without network, to be worked in; gone at the end."""

    def files(self) -> tuple[str, ...]:
        """Paths of all tracked files, relative to the root, sorted."""

    def read(self, path: str) -> bytes:
        """A file's bytes.

        Raises:
            FileNotFoundError: there is none, or the path leads out of the tree.

        """

    def write(self, path: str, data: bytes) -> None:
        """Replace or make a file."""

    def run(self, argv: tuple[str, ...], *, seconds: float, max_output: int = 100_000) -> CommandResult:
        """Run a program at the root of the tree."""

    def diff(self) -> bytes:
        """All that changed since the base commit, new files included, as a patch that `git apply` takes."""


@dataclass(frozen=True, kw_only=True)
class SolveJob:
    """One sample of one task for one model."""

    instance: Instance
    """The public side. Nothing hidden ever reaches an agent."""
    sample: int
    sampling: Sampling
    open_workspace: Callable[[], AbstractContextManager[Workspace]]
    """A fresh workspace; made only when asked for, since not every agent needs one."""
    header: str = ""
    """Stands at the head of every prompt: the dataset's canary."""
    oracle_files: tuple[str, ...] = ()
    """Files that the fix changes, for calibration runs only; whoever is told them is told so in the record."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What an agent came to."""

    patch: str | None
    """A unified diff for `git apply`; None where there is none."""
    no_patch: str | None = None
    """Why there is no usable patch, by a word of `harness/solve/answers/extract.py`; None where there is one."""
    detail: str = ""
    """For people: what was found in place of a patch."""
    tolerance: tuple[str, ...] = ()
    """What had to be forgiven to read the patch, such as `fence` or `line_numbers`."""
    replies: tuple[Reply, ...] = ()
    """All that the model said on the way, in order."""
    messages: tuple[Message, ...] = ()
    """The whole conversation, for the transcript."""
    stopped: str | None = None
    """The limit that ended it early, where one did."""
    unusable: str | None = None
    """A patch that was made but is not worth running, such as one whose code does not parse: kept for the record."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else is worth a place in the record, by name: the prompt, the files shown…"""


class Agent(Protocol):
    """One way of working. Knows nothing of money, retries or files on disk."""

    name: str
    version: int
    """Goes up when its behaviour or its prompts change: scores of different versions are not the same thing."""

    def attempt(self, job: SolveJob, model: Model) -> Attempt:
        """Work on one task until there is a patch, or it is clear that there will be none.

        Raises:
            ModelError: the model could not be asked; says nothing about what it can do.

        """
