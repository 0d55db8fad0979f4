"""What an endpoint's refusal means, in our words. Pure."""

from __future__ import annotations

import re

import openai

from harness.solve.base import Fault

_TOO_LONG = re.compile(
    r"context.?(?:length|window|size)|maximum context|prompt is too long|too many (?:input )?tokens|input is too long"
    r"|exceeds? the (?:model'?s )?(?:maximum|available context|limit of \d+ tokens)"
    r"|reduce the length of the (?:messages|prompt)",
    re.IGNORECASE,
)
"""How OpenAI, Anthropic, Google, vLLM, llama.cpp and LM Studio say that a prompt does not fit."""
_NOT_SUPPORTED = re.compile(r"unsupported|not supported|does not support|unrecognized|unknown", re.IGNORECASE)
_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_STREAM_CODES = {"rate_limit_exceeded": Fault.RATE_LIMIT, "server_error": Fault.SERVER, "overloaded": Fault.SERVER}
_NOT_FOUND, _NOT_ALLOWED, _NOT_IMPLEMENTED = 404, 405, 501
_REQUEST_TIMEOUT, _CONFLICT, _TOO_LARGE, _TOO_MANY, _SERVER = 408, 409, 413, 429, 500


def fault_of(error: openai.APIError) -> tuple[Fault, str | None]:
    """The fault and, where there is something to do about it, what."""
    code = str(getattr(error, "code", None) or "")
    text = f"{error.message} {error.body if isinstance(error.body, str) else ''}"
    if code in _QUOTA:
        return Fault.AUTH, "the account has no credit left: asking again would not help"
    if code == "context_length_exceeded" or (_status(error) in (400, 413, 422, None) and _TOO_LONG.search(text)):
        return Fault.CONTEXT_OVERFLOW, None
    status = _status(error)
    if status is None:  # an error in the middle of a stream: only its code tells
        return _STREAM_CODES.get(code, Fault.SERVER), None
    if status in (401, 403):
        return Fault.AUTH, None
    if status == _TOO_MANY:
        return Fault.RATE_LIMIT, None
    if status in (_REQUEST_TIMEOUT, _CONFLICT) or status >= _SERVER:
        return Fault.SERVER, None
    if _NOT_SUPPORTED.search(text) and re.search(r"temperature|top_p|seed|tools|max_", text):
        return Fault.BAD_REQUEST, "this model does not take that setting: leave it out"
    return Fault.BAD_REQUEST, None


def is_missing_api(error: openai.APIError) -> bool:
    """Whether the endpoint does not have the API at all, as opposed to not having the model."""
    status = _status(error)
    if status in (_NOT_ALLOWED, _NOT_IMPLEMENTED):
        return True
    if status != _NOT_FOUND:
        return False
    code = str(getattr(error, "code", None) or "")
    return code != "model_not_found" and "model" not in error.message.lower()


def _status(error: openai.APIError) -> int | None:
    return error.status_code if isinstance(error, openai.APIStatusError) else None
