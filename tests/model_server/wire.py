"""Answers as the two APIs write them: whole bodies, and the events of a stream. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.model_server.behaviours import Asked, Call, Say

CREATED = 1_780_000_000
_PER_TOKEN = 4


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A scripted answer to one request, ready to be written."""

    asked: Asked
    say: Say
    number: int
    """Which answer of the server it is: makes ids."""

    @property
    def model(self) -> str:
        return self.say.snapshot or self.asked.model

    @property
    def finish(self) -> str:
        return self.say.finish or ("tool_calls" if self.say.calls else "stop")

    @property
    def pieces(self) -> list[str]:
        text = self.say.text
        return [text[at : at + self.say.piece] for at in range(0, len(text), self.say.piece)]

    def call_id(self, at: int, call: Call) -> str:
        return call.call_id or f"call_{self.number:04d}_{at}"

    def counts(self) -> dict[str, int | None] | None:
        """prompt, completion, cached, reasoning, total."""
        spent = self.say.spent
        if spent == "untold":
            return None
        if spent == "counted":
            written = len(self.say.text) + sum(len(call.arguments) for call in self.say.calls)
            prompt, completion = len(self.asked.text) // _PER_TOKEN + 1, written // _PER_TOKEN + 1
            return {
                "prompt": prompt,
                "completion": completion,
                "cached": 0,
                "reasoning": 0,
                "total": prompt + completion,
            }
        total = spent.prompt + spent.completion if spent.total is None else spent.total
        return {
            "prompt": spent.prompt,
            "completion": spent.completion,
            "cached": spent.cached,
            "reasoning": spent.reasoning,
            "total": total,
        }


# -- Chat Completions


def _chat_usage(answer: Answer) -> dict[str, Any] | None:
    counts = answer.counts()
    if counts is None:
        return None
    usage: dict[str, Any] = {
        "prompt_tokens": counts["prompt"],
        "completion_tokens": counts["completion"],
        "total_tokens": counts["total"],
    }
    if counts["cached"] is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": counts["cached"]}
    if counts["reasoning"] is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": counts["reasoning"]}
    return usage


def chat_body(answer: Answer) -> dict[str, Any]:
    """The body of `/chat/completions`."""
    say = answer.say
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None, "refusal": say.refusal}
    if say.calls:
        message["tool_calls"] = [
            {"id": answer.call_id(at, call), "type": "function", "function": _function(call)}
            for at, call in enumerate(say.calls)
        ]
    body: dict[str, Any] = {
        "id": f"chatcmpl-{answer.number:04d}",
        "object": "chat.completion",
        "created": CREATED,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish, "logprobs": None}],
    }
    usage = _chat_usage(answer)
    return body if usage is None else {**body, "usage": usage}


def _function(call: Call) -> dict[str, str]:
    return {"name": call.name, "arguments": call.arguments}


def chat_chunks(answer: Answer) -> Iterator[dict[str, Any]]:
    """The chunks of a streamed answer, the usage last where it was asked for."""
    with_usage = bool((answer.asked.body.get("stream_options") or {}).get("include_usage"))

    def chunk(choices: list[dict[str, Any]], usage: dict[str, Any] | None = None) -> dict[str, Any]:
        made: dict[str, Any] = {
            "id": f"chatcmpl-{answer.number:04d}",
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": answer.model,
            "choices": choices,
        }
        return {**made, "usage": usage} if with_usage else made

    def delta(value: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return chunk([{"index": 0, "delta": value, "finish_reason": finish, "logprobs": None}])

    yield delta({"role": "assistant", "content": "", "refusal": None})
    for piece in answer.pieces:
        yield delta({"content": piece})
    if answer.say.refusal:
        yield delta({"refusal": answer.say.refusal})
    for at, call in enumerate(answer.say.calls):
        half = len(call.arguments) // 2
        first = {"name": call.name, "arguments": call.arguments[:half]}
        yield delta(
            {"tool_calls": [{"index": at, "id": answer.call_id(at, call), "type": "function", "function": first}]}
        )
        yield delta({"tool_calls": [{"index": at, "function": {"arguments": call.arguments[half:]}}]})
    yield delta({}, answer.finish)
    usage = _chat_usage(answer)
    if with_usage and usage is not None:
        yield chunk([], usage)


# -- Responses


def response_body(answer: Answer, *, status: str | None = None) -> dict[str, Any]:
    """The body of `/responses`; while it is `in_progress`, without output or usage."""
    begun = status == "in_progress"
    incomplete = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.finish)
    asked = answer.asked.body
    body: dict[str, Any] = {
        "id": f"resp_{answer.number:04d}",
        "object": "response",
        "created_at": float(CREATED),
        "status": status or ("incomplete" if incomplete else "completed"),
        "error": None,
        "incomplete_details": {"reason": incomplete} if incomplete and not begun else None,
        "instructions": asked.get("instructions"),
        "metadata": {},
        "model": answer.model,
        "output": [] if begun else _items(answer),
        "parallel_tool_calls": True,
        "temperature": asked.get("temperature"),
        "tool_choice": "auto",
        "tools": list(asked.get("tools") or ()),
        "top_p": asked.get("top_p"),
    }
    counts = None if begun else answer.counts()
    if counts is not None:
        body["usage"] = {
            "input_tokens": counts["prompt"],
            "input_tokens_details": {"cached_tokens": counts["cached"] or 0, "cache_write_tokens": 0},
            "output_tokens": counts["completion"],
            "output_tokens_details": {"reasoning_tokens": counts["reasoning"] or 0},
            "total_tokens": counts["total"],
        }
    return body


def _items(answer: Answer) -> list[dict[str, Any]]:
    items = []
    if answer.say.text or answer.say.refusal or not answer.say.calls:
        items.append(_message(answer, status="incomplete" if answer.finish == "length" else "completed"))
    return items + [_call(answer, at, call, call.arguments) for at, call in enumerate(answer.say.calls)]


def _message(answer: Answer, *, status: str) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if answer.say.text:
        parts.append({"type": "output_text", "text": answer.say.text, "annotations": []})
    if answer.say.refusal:
        parts.append({"type": "refusal", "refusal": answer.say.refusal})
    content = [] if status == "in_progress" else parts
    return {
        "id": f"msg_{answer.number:04d}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _call(answer: Answer, at: int, call: Call, arguments: str, status: str = "completed") -> dict[str, Any]:
    return {
        "id": f"fc_{answer.number:04d}_{at}",
        "type": "function_call",
        "status": status,
        "call_id": answer.call_id(at, call),
        "name": call.name,
        "arguments": arguments,
    }


def response_events(answer: Answer) -> Iterator[dict[str, Any]]:
    """The events of a streamed response, numbered."""
    for number, event in enumerate(_events(answer)):
        yield {**event, "sequence_number": number}


def _events(answer: Answer) -> Iterator[dict[str, Any]]:
    begun = response_body(answer, status="in_progress")
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    items = _items(answer)
    for index, item in enumerate(items):
        yield from _item_events(answer, index, item)
    incomplete = answer.finish in ("length", "content_filter")
    yield {"type": f"response.{'incomplete' if incomplete else 'completed'}", "response": response_body(answer)}


def _item_events(answer: Answer, index: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index}
    if item["type"] == "function_call":
        half = len(item["arguments"]) // 2
        started = {**item, "arguments": "", "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": index, "item": started}
        for part in (item["arguments"][:half], item["arguments"][half:]):
            yield {"type": "response.function_call_arguments.delta", **place, "delta": part}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}
    else:
        yield {
            "type": "response.output_item.added",
            "output_index": index,
            "item": _message(answer, status="in_progress"),
        }
        for number, part in enumerate(item["content"]):
            yield from _part_events({**place, "content_index": number}, part, answer.pieces)
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _part_events(place: dict[str, Any], part: dict[str, Any], pieces: list[str]) -> Iterator[dict[str, Any]]:
    if part["type"] == "refusal":
        yield {"type": "response.content_part.added", **place, "part": {**part, "refusal": ""}}
        yield {"type": "response.refusal.delta", **place, "delta": part["refusal"]}
        yield {"type": "response.refusal.done", **place, "refusal": part["refusal"]}
    else:
        yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
        for piece in pieces:
            yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}
