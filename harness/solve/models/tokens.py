"""How many tokens a text is likely to be, without the model's own tokenizer; an endpoint's counts. Pure.

Nobody but the endpoint knows: each model cuts text in its own way. For a look ahead a rule of thumb will do; a limit
needs a bound. `benchmarks/token_rule.py` measures both on real prompts.

Of an endpoint's own counts, what cannot be true is left out and told by a note, never mended: a guess would look like
a measurement.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from harness.solve.base import Message, Reply, Request, Usage

BYTES_PER_TOKEN = 3.6
"""Of code and prose about code, in UTF-8; see docs/solve.md for how it was measured."""
FEWEST_BYTES_PER_TOKEN = 2.0
"""What a reservation counts with: no prompt that was measured had fewer than 3.4."""
_PER_MESSAGE = 16
"""Bytes that a turn costs beside its text: role and separators."""
MISSING = "usage_missing"
"""The endpoint does not say how many tokens were read or written."""
IMPOSSIBLE = "usage_impossible"
"""A count is negative or no whole number; or nothing was counted where something was written; or a part is more than
the whole. That count is left out."""
INCONSISTENT = "usage_inconsistent"
"""The total is not the sum. Both parts are kept as they were told."""

LIMIT_UNTOLD = "limit_untold"
"""The answer has as many tokens as it may have, and the endpoint says that it ended by itself: taken for cut."""


def likely(size: float) -> int:
    """Tokens that so many bytes are likely to be."""
    return math.ceil(size / BYTES_PER_TOKEN)


def at_most(size: float) -> int:
    """Tokens that so many bytes are, counted high."""
    return math.ceil(size / FEWEST_BYTES_PER_TOKEN)


def request_bytes(request: Request) -> int:
    """Size of all that a model has to read, in UTF-8."""
    tools = (
        len(json.dumps({"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}))
        for tool in request.tools
    )
    return messages_bytes(request.messages) + sum(tools)


def messages_bytes(messages: Iterable[Message]) -> int:
    """Size of a conversation, in UTF-8."""
    return sum(_message_bytes(message) + _PER_MESSAGE for message in messages)


def reply_bytes(reply: Reply) -> int:
    """Size of what a model wrote, as far as it is shown."""
    return _message_bytes(reply.message)


def _message_bytes(message: Message) -> int:
    calls = sum(_size(call.name) + _size(call.arguments) for call in message.tool_calls)
    return _size(message.content) + calls


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def untold_limit(usage: Usage, *, most: int | None, finish: str) -> tuple[str, ...]:
    """`LIMIT_UNTOLD` where that is so. Some servers' Responses API never says that an answer was cut."""
    is_full = most is not None and usage.output_tokens is not None and usage.output_tokens >= most
    return (LIMIT_UNTOLD,) if is_full and finish == "stop" else ()


def counts(usage: Any, read: str, written: str) -> dict[str, Any]:
    """An endpoint's own counts as `checked` takes them; `read` and `written` are what its API calls the two sides."""
    if usage is None:
        return {}
    read_details, written_details = (getattr(usage, f"{side}_tokens_details") for side in (read, written))
    return {
        "input": getattr(usage, f"{read}_tokens"),
        "output": getattr(usage, f"{written}_tokens"),
        "total": usage.total_tokens,
        "cached": read_details.cached_tokens if read_details is not None else None,
        "reasoning": written_details.reasoning_tokens if written_details is not None else None,
    }


def checked(usage_counts: Mapping[str, Any], *, written: object) -> tuple[Usage, tuple[str, ...]]:
    """The usage that can be true, and what is odd about what was told.

    `usage_counts` has `input`, `output`, `cached`, `reasoning` and `total`; `written` is true where there is an answer.
    """
    notes: list[str] = []
    fields = {
        name: _count(usage_counts.get(name), notes) for name in ("input", "output", "cached", "reasoning", "total")
    }
    if fields["output"] == 0 and written:
        fields["output"] = None
        notes.append(IMPOSSIBLE)
    for part, whole in (("cached", "input"), ("reasoning", "output")):
        most = fields[whole]
        if most is not None and (fields[part] or 0) > most:
            fields[part] = None
            notes.append(IMPOSSIBLE)
    if None not in (fields["input"], fields["output"], fields["total"]):
        if (fields["input"] or 0) + (fields["output"] or 0) != fields["total"]:
            notes.append(INCONSISTENT)
    elif fields["input"] is None or fields["output"] is None:
        notes.append(MISSING)
    usage = Usage(
        input_tokens=fields["input"],
        output_tokens=fields["output"],
        cached_input_tokens=fields["cached"],
        reasoning_tokens=fields["reasoning"],
    )
    return usage, tuple(dict.fromkeys(notes))


def _count(value: Any, notes: list[str]) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        notes.append(IMPOSSIBLE)
        return None
    return value
