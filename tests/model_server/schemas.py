"""Bodies held against the types of the `openai` package, which are generated from the official OpenAPI document.

Only the types that we use are made into validators: those of every item that a request may hold take seconds to build.
"""

from __future__ import annotations

import functools
import json
from typing import Any, get_args

from openai.types import Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk, completion_create_params
from openai.types.chat.chat_completion_function_tool_param import ChatCompletionFunctionToolParam
from openai.types.chat.chat_completion_message_param import ChatCompletionMessageParam
from openai.types.responses import (
    EasyInputMessageParam,
    FunctionToolParam,
    Response,
    ResponseFunctionToolCallParam,
    ResponseStreamEvent,
    response_create_params,
)
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import BaseModel, TypeAdapter, ValidationError

_EVENTS = {
    get_args(event.model_fields["type"].annotation)[0]: event for event in get_args(get_args(ResponseStreamEvent)[0])
}
_BODIES: dict[str, type[BaseModel]] = {
    "chat": ChatCompletion,
    "chat.chunk": ChatCompletionChunk,
    "responses": Response,
    "model": Model,
}
_REQUESTS: dict[str, Any] = {
    "chat.request": completion_create_params.CompletionCreateParamsBase,
    "responses.request": response_create_params.ResponseCreateParamsBase,
}
_ITEMS: dict[tuple[str, str], Any] = {
    ("chat.request", "messages"): list[ChatCompletionMessageParam],
    ("chat.request", "tools"): list[ChatCompletionFunctionToolParam],
    ("responses.request", "input"): str
    | list[EasyInputMessageParam | FunctionCallOutput | ResponseFunctionToolCallParam],
    ("responses.request", "tools"): list[FunctionToolParam],
}


@functools.cache
def _adapter(kind: str, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_ITEMS[kind, name])


def problems(kind: str, body: Any) -> list[str]:
    """What is wrong with a body: a missing field, a wrong type, a field that the API does not have."""
    if kind in _REQUESTS:
        return _request_problems(kind, body)
    made = _BODIES.get(kind) or _EVENTS.get(body.get("type"))
    if made is None:
        return [f"{kind}: there is no event {body.get('type')!r}"]
    try:
        value = made.model_validate_json(json.dumps(body), strict=True)
    except ValidationError as error:
        return _told(kind, error)
    return [f"{kind}: there is no field {where}" for where in _unknown(value)]


def _request_problems(kind: str, body: dict[str, Any]) -> list[str]:
    known = {*_REQUESTS[kind].__annotations__, "stream"}
    found = [f"{kind}: there is no field {name!r}" for name in body if name not in known]
    for of, name in _ITEMS:
        if of != kind or name not in body:
            continue
        try:
            _adapter(of, name).validate_python(body[name])
        except ValidationError as error:
            found += _told(f"{kind} {name}", error)
    return found


def _told(kind: str, error: ValidationError) -> list[str]:
    return [f"{kind} {item['loc']}: {item['msg']}" for item in error.errors()]


def _unknown(value: Any, where: str = "") -> list[str]:
    if isinstance(value, list):
        return [found for number, one in enumerate(value) for found in _unknown(one, f"{where}[{number}]")]
    if not isinstance(value, BaseModel):
        return []
    found = [f"{where}.{name}" for name in value.model_extra or {}]
    for name in type(value).model_fields:
        found += _unknown(getattr(value, name), f"{where}.{name}")
    return found
