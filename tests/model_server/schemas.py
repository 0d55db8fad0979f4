"""Bodies held against the types of the `openai` package, which are generated from the official OpenAPI document."""

from __future__ import annotations

import functools
import json
from typing import Any

from openai.types import Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk, completion_create_params
from openai.types.responses import Response, ResponseStreamEvent, response_create_params
from pydantic import BaseModel, TypeAdapter, ValidationError

_KINDS: dict[str, Any] = {
    "chat": ChatCompletion,
    "chat.chunk": ChatCompletionChunk,
    "responses": Response,
    "responses.event": ResponseStreamEvent,
    "model": Model,
    "chat.request": completion_create_params.CompletionCreateParams,
    "responses.request": response_create_params.ResponseCreateParams,
}


@functools.cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(_KINDS[kind])


def problems(kind: str, body: Any) -> list[str]:
    """What is wrong with a body: a missing field, a wrong type, a field that the API does not have."""
    try:
        made = _adapter(kind).validate_json(json.dumps(body), strict=not kind.endswith(".request"))
        _look_at_items(made)
    except ValidationError as error:
        return [f"{kind} {item['loc']}: {item['msg']}" for item in error.errors()]
    if isinstance(body, dict) and kind.endswith(".request"):
        known = _fields(_KINDS[kind])
        return [f"{kind}: there is no field {name!r}" for name in body if name not in known]
    return [f"{kind}: there is no field {where}" for where in _unknown(made)]


def _look_at_items(made: Any) -> None:
    """What the types call Iterable is checked only while one goes over it: the turns and the tools of a request."""
    if isinstance(made, dict):
        for name in ("messages", "tools"):
            for _ in made.get(name) or ():
                pass


def _fields(kind: Any) -> set[str]:
    """The fields of a union of TypedDicts."""
    return {name for one in getattr(kind, "__args__", (kind,)) for name in one.__annotations__} | {
        name
        for one in getattr(kind, "__args__", (kind,))
        for base in one.__orig_bases__
        for name in base.__annotations__
    }


def _unknown(value: Any, where: str = "") -> list[str]:
    if isinstance(value, list):
        return [found for number, one in enumerate(value) for found in _unknown(one, f"{where}[{number}]")]
    if not isinstance(value, BaseModel):
        return []
    found = [f"{where}.{name}" for name in value.model_extra or {}]
    for name in type(value).model_fields:
        found += _unknown(getattr(value, name), f"{where}.{name}")
    return found
