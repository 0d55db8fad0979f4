"""What a scripted model does with a request, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import threading


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request that reached the server, as it came and in words that both APIs share."""

    api: str
    """`chat`, `responses` or `models`."""
    model: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    """Names in lower case."""
    turn: int
    """How many requests for this model came before."""
    at: float
    """time.monotonic() when it came."""

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """(role, text) of each turn; of a tool's result, ("tool", text)."""
        if self.api == "chat":
            return tuple((one["role"], text_of(one.get("content"))) for one in self.body["messages"])
        given = self.body["input"]
        if isinstance(given, str):
            return (("user", given),)
        head = (("system", self.body["instructions"]),) if self.body.get("instructions") else ()
        return head + tuple(_turn(item) for item in given if item.get("type") != "function_call")

    @property
    def text(self) -> str:
        """All that was said so far, in one piece."""
        return "\n".join(text for _, text in self.messages)

    @property
    def results(self) -> tuple[str, ...]:
        """What tools gave back so far."""
        return tuple(text for role, text in self.messages if role == "tool")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the offered tools."""
        return tuple((one.get("function") or one)["name"] for one in self.body.get("tools") or ())


def _turn(item: Mapping[str, Any]) -> tuple[str, str]:
    if item.get("type") == "function_call_output":
        return "tool", text_of(item["output"])
    return item["role"], text_of(item["content"])


def text_of(content: Any) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or part.get("refusal") or "" for part in content)


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call the model makes; `arguments` is sent as it is, broken JSON too."""

    name: str
    arguments: str = "{}"
    call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The usage that the server tells, true or not."""

    prompt: int
    completion: int
    cached: int | None = None
    reasoning: int | None = None
    total: int | None = None
    """Left out: the sum."""


@dataclass(frozen=True, kw_only=True)
class Say:
    """An answer."""

    text: str = ""
    calls: Sequence[Call] = ()
    refusal: str | None = None
    finish: Literal["stop", "length", "tool_calls", "content_filter"] | None = None
    """Left out: what fits."""
    spent: Spent | Literal["counted", "untold"] = "counted"
    """`counted`: a token for every four characters; `untold`: no usage at all."""
    snapshot: str | None = None
    """The model that the answer names; left out: the one asked for."""
    piece: int = 40
    """Characters in one streamed piece."""
    pause: float = 0.0
    """Seconds before each streamed piece."""
    gate: threading.Event | None = None
    """Waited for after the first streamed piece, so that a test decides how slow is slow."""
    cut_after: int | None = None
    """Streamed pieces after which the connection is closed without an end."""
    cut_politely: bool = False
    """The cut looks like an orderly end of the body, as behind some proxies: only the last event is missing."""
    garbled: bool = False
    """The body, or the last piece of a stream, is no JSON."""


@dataclass(frozen=True, kw_only=True)
class Fail:
    """An error in place of an answer."""

    status: int = 500
    message: str = "The server had an error while processing your request."
    code: str | None = None
    kind: str = "server_error"
    headers: Mapping[str, str] = field(default_factory=dict)
    drops: bool = False
    """The connection is closed without a word."""
    html: bool = False
    """The body is a proxy's page, no JSON."""


Behaviour = Say | Fail
Script = Behaviour | Sequence[Behaviour] | Callable[[Asked], Behaviour]
"""One behaviour for ever; one a request, the last one again and again; or a function of the request."""


def rate_limit(*, seconds: float | None = None, milliseconds: int | None = None, date: str | None = None) -> Fail:
    """429, with the waiting time that real servers send in one of three ways."""
    headers = {}
    if seconds is not None:
        headers["Retry-After"] = f"{seconds:g}"
    if date is not None:
        headers["Retry-After"] = date
    if milliseconds is not None:
        headers["Retry-After-Ms"] = str(milliseconds)
    return Fail(
        status=429,
        message="Rate limit reached for requests",
        code="rate_limit_exceeded",
        kind="requests",
        headers=headers,
    )


def storm(count: int, then: Behaviour, *, fault: Fail | None = None) -> tuple[Behaviour, ...]:
    """A fault again and again, then an answer."""
    return (*[fault or rate_limit(seconds=0)] * count, then)


def server_error(status: int = 500) -> Fail:
    return Fail(status=status)


def overflow(limit: int = 8192, *, status: int = 400) -> Fail:
    """What OpenAI and vLLM say to a prompt that is too long."""
    return Fail(
        status=status,
        message=f"This model's maximum context length is {limit} tokens. Please reduce the length of the messages.",
        code="context_length_exceeded",
        kind="invalid_request_error",
    )
