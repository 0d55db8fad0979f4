"""Requests and replies in the words of Chat Completions, as other programs speak it to us. Pure.

`chat_api` is the other side: there we are the client.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.core.wording import words
from harness.solve.base import Message, Reply, Request, Sampling, Tool, ToolCall


class NotUnderstoodError(ValueError):
    """A body that is no request of Chat Completions, or asks for what cannot be passed on."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Part(_Model):
    type: str = "text"
    text: str | None = None
    refusal: str | None = None


class _Function(_Model):
    name: str
    arguments: str = "{}"


class _Call(_Model):
    id: str = ""
    function: _Function


class _Turn(_Model):
    role: str
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None


class _Declared(_Model):
    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class _Tool(_Model):
    type: str = "function"
    function: _Declared


class _StreamOptions(_Model):
    include_usage: bool = False


PASSED_ON = words(
    "frequency_penalty logit_bias parallel_tool_calls presence_penalty reasoning_effort response_format stop"
    " tool_choice verbosity"
)


class ChatBody(_Model):
    """What a client of Chat Completions sends."""

    model_config = ConfigDict(extra="allow")
    model: str = ""
    messages: list[_Turn] = Field(min_length=1)
    tools: list[_Tool] = Field(default_factory=list)
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = None
    stream: bool = False
    stream_options: _StreamOptions = Field(default_factory=_StreamOptions)

    def extra(self) -> dict[str, Any]:
        """Settings that are passed on as they are; others are left out, such as those that change the price."""
        return {name: value for name, value in (self.model_extra or {}).items() if name in PASSED_ON}


_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


def body(raw: bytes | str) -> ChatBody:
    """Read a request's body.

    Raises:
        NotUnderstoodError: it is none.

    """
    try:
        chat_body = ChatBody.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        raise NotUnderstoodError(f"{'.'.join(map(str, first['loc'])) or 'body'}: {first['msg']}") from error
    if chat_body.n not in (None, 1):
        raise NotUnderstoodError("n: only one answer a request")
    return chat_body


def request(chat_body: ChatBody, sampling: Sampling, sample: int) -> Request:
    """As ours. What `sampling` sets stands, whatever a client asks for; the rest is the client's.

    Raises:
        NotUnderstoodError: it has pictures, or a role that nobody knows.

    """
    return Request(
        messages=tuple(map(_message, chat_body.messages)),
        tools=tuple(
            Tool(name=tool.function.name, description=tool.function.description, parameters=tool.function.parameters)
            for tool in chat_body.tools
        ),
        sampling=Sampling(
            temperature=sampling.temperature if sampling.temperature is not None else chat_body.temperature,
            top_p=sampling.top_p if sampling.top_p is not None else chat_body.top_p,
            seed=sampling.seed if sampling.seed is not None else chat_body.seed,
            max_output_tokens=sampling.max_output_tokens or chat_body.max_completion_tokens or chat_body.max_tokens,
        ),
        sample=sample,
        extra=chat_body.extra(),
    )


def _message(turn: _Turn) -> Message:
    if turn.role not in _ROLES:
        raise NotUnderstoodError(f"role: {turn.role!r} is none")
    calls = tuple(
        ToolCall(call_id=call.id, name=call.function.name, arguments=call.function.arguments)
        for call in turn.tool_calls or ()
    )
    return Message(
        role=_ROLES[turn.role],  # type: ignore[arg-type]  # one of the four
        content=_text(turn.content),
        tool_calls=calls,
        tool_call_id=turn.tool_call_id,
    )


def _text(content: str | list[_Part] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if other := [part.type for part in content if part.type not in ("text", "refusal")]:
        raise NotUnderstoodError(f"content: {other[0]!r} cannot be passed on, only text")
    return "\n".join(part.text or part.refusal or "" for part in content)


def message_fields(message: Message) -> dict[str, Any]:
    """A model's message as the API writes it."""
    fields: dict[str, Any] = {"role": message.role, "content": message.content or None}
    if message.tool_calls:
        fields["tool_calls"] = [
            {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return fields


def completion(reply: Reply, number: str) -> dict[str, Any]:
    """A whole answer."""
    choice = {
        "index": 0,
        "message": {**message_fields(reply.message), "refusal": reply.refusal},
        "finish_reason": _finish(reply),
    }
    return {
        **_head(reply, number, "chat.completion"),
        "choices": [{**choice, "logprobs": None}],
        "usage": _usage(reply),
    }


def chunks(reply: Reply, number: str, *, include_usage: bool) -> list[dict[str, Any]]:
    """The same as a stream: the answer in one piece, its end, and what it used."""
    head = _head(reply, number, "chat.completion.chunk")
    delta = message_fields(reply.message)
    for index, call in enumerate(delta.get("tool_calls", ())):
        call["index"] = index
    pieces = [{"index": 0, "delta": delta, "finish_reason": None}]
    pieces.append({"index": 0, "delta": {}, "finish_reason": _finish(reply)})
    pieces_of_stream: list[dict[str, Any]] = [{**head, "choices": [piece]} for piece in pieces]
    if include_usage:
        pieces_of_stream.append({**head, "choices": [], "usage": _usage(reply)})
    return pieces_of_stream


def _head(reply: Reply, number: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": reply.model}


def _finish(reply: Reply) -> str:
    finish_reasons = ("stop", "length", "tool_calls", "content_filter")
    return reply.finish_reason if reply.finish_reason in finish_reasons else "stop"


def _usage(reply: Reply) -> dict[str, int]:
    read, written = reply.usage.input_tokens or 0, reply.usage.output_tokens or 0
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
