"""How a canary stands in a file, by the file's kind, and how reading takes it out again. Pure."""

from __future__ import annotations

import json
import re
import uuid

from harness.core import json_text

FIELD = "canary"
FUNNEL_FILE = "funnel.jsonl"
_HTML = re.compile(r"\A<!-- [^\n]*canary[^\n]* -->\n\n?")
_COMMENT = re.compile(rb"\A# [^\n]*canary[^\n]*\n")
_GZIP, _COMMENTED = b"\x1f\x8b\x08\x00", b"\x1f\x8b\x08\x10"
_GZIP_HEADER = 10
_DIRECTIVE = re.compile(r"#\s*(syntax|escape|check)\s*=", re.IGNORECASE)


def new() -> str:
    """A canary that no other dataset has."""
    return f"goldseam-canary {uuid.uuid4()}"


def in_markdown(canary: str) -> str:
    """The canary before Markdown; nothing where there is none."""
    return f"<!-- {_marked(canary)} -->\n\n" if canary else ""


def in_comment(canary: str) -> str:
    """The canary before a patch, a Dockerfile or a lock; nothing where there is none.

    `git apply` passes over text before a patch.
    """
    return f"# {_marked(canary)}\n" if canary else ""


def _marked(canary: str) -> str:
    return canary if FIELD in canary else f"{FIELD} {canary}"


def without_in_markdown(text: str) -> str:
    """Markdown without the canary before it."""
    return _HTML.sub("", text, count=1)


def without_in_patch(data: bytes) -> bytes:
    """A patch without the canary before it."""
    return _COMMENT.sub(b"", data, count=1)


def in_file(name: str, data: bytes, canary: str) -> bytes:
    """A file's bytes with the canary, by the file's name; unchanged where it is there, or there is no place for it."""
    if not canary or canary.encode() in data:
        return data
    if name.endswith(".md"):
        return in_markdown(canary).encode() + data
    if name == FUNNEL_FILE:
        return funnel_line(canary) + data
    if data.startswith(_GZIP):
        return _COMMENTED + data[len(_GZIP) : _GZIP_HEADER] + canary.encode() + b"\0" + data[_GZIP_HEADER:]
    if _is_json(name, data):
        return _in_json(data, canary)
    if name.endswith(".jsonl"):
        return data
    return _in_comments(data, canary)


def without_in_file(name: str, data: bytes, canary: str) -> bytes:
    """The bytes that `in_file` was given."""
    if not canary or canary.encode() not in data:
        return data
    if data.startswith(_COMMENTED):
        return without_in_gzip(data)
    if _is_json(name, data):
        return _in_json(data, None)
    return b"\n".join(line for line in data.split(b"\n") if canary.encode() not in line)


def without_in_gzip(data: bytes) -> bytes:
    """A compressed file without the canary, which is the comment of its header (RFC 1952)."""
    if not data.startswith(_COMMENTED):
        return data
    return _GZIP + data[len(_GZIP) : _GZIP_HEADER] + data[_GZIP_HEADER:].partition(b"\0")[2]


def funnel_line(canary: str) -> bytes:
    """The first line of funnel.jsonl; it is about no change."""
    return json.dumps({"schema_version": 1, FIELD: canary}).encode() + b"\n"


def is_canary_line(line: bytes) -> bool:
    """True for a line of funnel.jsonl that is about the dataset and no change."""
    if b'"canary"' not in line[:200]:
        return False
    value = json_text.read_object(line)
    return value is not None and FIELD in value and "change" not in value


def _is_json(name: str, data: bytes) -> bool:
    return name.endswith(".json") or data.lstrip()[:1] == b"{"


def _in_json(data: bytes, canary: str | None) -> bytes:
    if (value := json_text.read_object(data)) is None:
        return data
    indent = 2 if data.startswith(b'{\n  "') else 1
    bare = {name: field for name, field in value.items() if name != FIELD}
    return json.dumps({**bare, **({FIELD: canary} if canary else {})}, indent=indent).encode() + b"\n"


def _in_comments(data: bytes, canary: str) -> bytes:
    """A comment in the first line, or behind the directives that a Dockerfile has to begin with."""
    lines = data.split(b"\n")
    start = 0
    while start < len(lines) and _DIRECTIVE.match(lines[start].decode("utf-8", "replace")):
        start += 1
    return b"\n".join([*lines[:start], in_comment(canary).encode().rstrip(b"\n"), *lines[start:]])
