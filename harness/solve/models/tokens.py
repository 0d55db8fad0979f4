"""How many tokens a text is likely to be, without the model's own tokenizer. Pure.

Nobody but the endpoint knows: each model cuts text in its own way. For a look ahead a rule of thumb will do; a limit
needs a bound. `benchmarks/token_rule.py` measures both on real prompts.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.solve.base import Message, Reply, Request

BYTES_PER_TOKEN = 3.6
"""Of code and prose about code, in UTF-8; see docs/solve.md for how it was measured."""
FEWEST_BYTES_PER_TOKEN = 2.0
"""What a reservation counts with: no prompt that was measured had fewer than 3.4."""
_PER_MESSAGE = 16
"""Bytes that a turn costs beside its text: role and separators."""


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
