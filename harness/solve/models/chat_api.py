"""A request and its streamed answer in the words of Chat Completions."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.solve.base import Fault, Message, ModelError, Reply, Request, ToolCall
from harness.solve.models.openai_schema import message_fields
from harness.solve.models.tokens import checked, counts, untold_limit

if TYPE_CHECKING:
    import openai


def ask(client: openai.OpenAI, model: str, request: Request, *, official: bool) -> Reply:
    """Ask once. `official` endpoints know `max_completion_tokens`; others know the older `max_tokens` for sure.

    Raises:
        ModelError: the answer broke off, or is none.
        openai.OpenAIError: as the client says it.

    """
    started = time.monotonic()
    heard = _Heard()
    with client.chat.completions.create(**_body(model, request, official=official)) as stream:
        for chunk in stream:
            heard.chunk(chunk, seconds=time.monotonic() - started)
        request_id = stream.response.headers.get("x-request-id")
    return heard.reply(
        request_id=request_id, seconds=time.monotonic() - started, most=request.sampling.max_output_tokens
    )


def _body(model: str, request: Request, *, official: bool) -> dict[str, Any]:
    sampling = request.sampling
    limit = "max_completion_tokens" if official else "max_tokens"
    settings = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        limit: sampling.max_output_tokens,
    }
    body: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        **{name: value for name, value in settings.items() if value is not None},
    }
    if request.extra:
        body["extra_body"] = dict(request.extra)
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in request.tools
        ]
    return body


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "content": message.content, "tool_call_id": message.tool_call_id or ""}
    if not message.tool_calls:
        return {"role": message.role, "content": message.content}
    return message_fields(message)


@dataclass(kw_only=True)
class _Call:
    call_id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(kw_only=True)
class _Heard:
    """What came of a streamed answer so far."""

    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[int, _Call] = field(default_factory=dict)
    finish: str | None = None
    model: str = ""
    answer_id: str | None = None
    """What an endpoint without request ids can be asked about."""
    usage: Any = None
    first: float | None = None

    def chunk(self, chunk: Any, *, seconds: float) -> None:
        if not hasattr(chunk, "choices"):
            raise ModelError("the endpoint streams something that is not a chat completion", fault=Fault.BAD_REPLY)
        self.model = chunk.model or self.model
        self.answer_id = chunk.id or self.answer_id
        self.usage = chunk.usage or self.usage
        for choice in (chunk.choices or ())[:1]:
            self.finish = choice.finish_reason or self.finish
            if choice.delta is not None and self._delta(choice.delta) and self.first is None:
                self.first = seconds

    def _delta(self, delta: Any) -> bool:
        """Take a piece in; whether the model said anything with it (thinking aloud counts)."""
        if delta.content:
            self.text.append(delta.content)
        if delta.refusal:
            self.refusal.append(delta.refusal)
        for part in delta.tool_calls or ():
            call = self.calls.setdefault(part.index if part.index is not None else len(self.calls), _Call())
            call.call_id = part.id or call.call_id
            if part.function is not None:
                call.name += part.function.name or ""
                call.arguments += part.function.arguments or ""
        thinking = (delta.model_extra or {}).get("reasoning_content") or (delta.model_extra or {}).get("reasoning")
        return bool(delta.content or delta.refusal or delta.tool_calls or thinking)

    def reply(self, *, request_id: str | None, seconds: float, most: int | None) -> Reply:
        text, refusal = "".join(self.text), "".join(self.refusal)
        if self.finish is None:
            raise ModelError(
                f"the answer broke off after {len(text)} characters: the stream has no finish reason",
                fault=Fault.NETWORK,
            )
        calls = tuple(
            ToolCall(call_id=call.call_id or f"call_{at}", name=call.name, arguments=call.arguments)
            for at, call in sorted(self.calls.items())
        )
        usage, notes = checked(counts(self.usage, "prompt", "completion"), written=text or refusal or calls)
        return Reply(
            message=Message(role="assistant", content=text or refusal, tool_calls=calls),
            finish_reason=self.finish,
            usage=usage,
            model=self.model,
            request_id=request_id or self.answer_id,
            seconds=seconds,
            first_token_seconds=self.first,
            refusal=refusal or None,
            notes=notes + untold_limit(usage, most=most, finish=self.finish),
        )
