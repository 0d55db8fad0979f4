"""A request and its streamed answer in the words of the Responses API."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from harness.solve.base import Fault, Message, ModelError, Reply, Request, ToolCall
from harness.solve.models.tokens import checked, counts, untold_limit

if TYPE_CHECKING:
    import openai


_ENDS = ("response.completed", "response.incomplete", "response.failed")
_FINISH = {"max_output_tokens": "length", "content_filter": "content_filter"}


def ask(client: openai.OpenAI, model: str, request: Request, *, official: bool) -> Reply:
    """Ask once. Nothing is stored at the endpoint (`store` is off).

    Raises:
        ModelError: the answer broke off, failed, or is none; or a seed was given, which this API does not take.
        openai.OpenAIError: as the client says it.

    """
    del official
    if request.sampling.seed is not None:
        raise ModelError(
            "the Responses API takes no seed", fault=Fault.BAD_REQUEST, hint="leave --seed out, or give --api chat"
        )
    started, first, heard, end = time.monotonic(), None, 0, None
    with client.responses.create(**_body(model, request)) as stream:
        for event in stream:
            kind = str(getattr(event, "type", ""))
            if kind.endswith(".delta"):
                first = time.monotonic() - started if first is None else first
                heard += len(str(getattr(event, "delta", "")))
            elif kind in _ENDS:
                end = event.response
            elif kind == "error":
                raise _failed(event)
        request_id = stream.response.headers.get("x-request-id")
    if end is None:
        raise ModelError(f"the answer broke off after {heard} characters: the stream has no end", fault=Fault.NETWORK)
    most = request.sampling.max_output_tokens
    return _reply(end, request_id=request_id or end.id, seconds=time.monotonic() - started, first=first, most=most)


def _failed(error: Any) -> ModelError:
    code = str(getattr(error, "code", None) or "server_error")
    faults = {"rate_limit_exceeded": Fault.RATE_LIMIT, "context_length_exceeded": Fault.CONTEXT_OVERFLOW}
    return ModelError(
        f"the endpoint gave up on the answer: {getattr(error, 'message', None) or code}",
        fault=faults.get(code, Fault.SERVER),
    )


def _body(model: str, request: Request) -> dict[str, Any]:
    sampling = request.sampling
    settings = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_output_tokens": sampling.max_output_tokens,
    }
    body: dict[str, Any] = {
        "model": model,
        "input": [item for message in request.messages for item in _items(message)],
        "stream": True,
        "store": False,
        **{name: value for name, value in settings.items() if value is not None},
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "strict": False,
            }
            for tool in request.tools
        ]
    return body


def _items(message: Message) -> Iterable[dict[str, Any]]:
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": message.tool_call_id or "", "output": message.content}
        return
    if message.content or not message.tool_calls:
        yield {"role": message.role, "content": message.content}
    for call in message.tool_calls:
        yield {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments}


def _reply(end: Any, *, request_id: str | None, seconds: float, first: float | None, most: int | None) -> Reply:
    if end.status == "failed":
        raise _failed(end.error)
    text, refusal, calls = "", "", []
    for item in end.output or ():
        if item.type == "message":
            for part in item.content or ():
                text += getattr(part, "text", None) or ""
                refusal += getattr(part, "refusal", None) or ""
        elif item.type == "function_call":
            calls.append(ToolCall(call_id=item.call_id, name=item.name, arguments=item.arguments))
    reason = getattr(end.incomplete_details, "reason", None) if end.status == "incomplete" else None
    ended = "tool_calls" if calls else "stop"
    finish = _FINISH.get(reason or "", reason or "incomplete") if end.status == "incomplete" else ended
    usage, notes = checked(counts(end.usage, "input", "output"), written=text or refusal or calls)
    return Reply(
        message=Message(role="assistant", content=text or refusal, tool_calls=tuple(calls)),
        finish_reason=finish,
        usage=usage,
        model=str(end.model or ""),
        request_id=request_id,
        seconds=seconds,
        first_token_seconds=first,
        refusal=refusal or None,
        notes=notes + untold_limit(usage, most=most, finish=finish),
    )
