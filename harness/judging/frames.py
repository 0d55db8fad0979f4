"""The result channel between a container and the host: numbered, signed lines. Pure.

The code under test shares a process with the code that signs, so a signature proves little by itself: it is a tripwire.
What it catches is everything clumsier than reading the key out of the process: printed results, replays, gaps, forks.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.core.test_ids import readable

_MAX_LINES = 1 << 20
"""Of one run: what the channel holds at most (64 MiB) are fewer frames."""
_LAST_BYTES = 1 << 20
"""Of what has more lines, to be read: the supervisor speaks last."""
_MAX_VIOLATIONS = 100
_LINE = re.compile(rb"([stw])(\d{1,9}) ([0-9a-f]{32}) (\{.*\})", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Keys:
    """One key for the supervisor, one for the process that runs the tests; 32 random bytes each, new for every job."""

    supervisor: bytes
    tests: bytes

    @property
    def closing(self) -> bytes:
        """What the supervisor writes last, on both streams, where the tests' process ended by itself."""
        return sign(self.supervisor, b"closing", b"")

    @property
    def tripwires(self) -> bytes:
        """Of the watch in the process of the tests, which derives it in the same way."""
        return hashlib.sha256(b"tripwires" + self.tests).digest()


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """The frames of one job, by sender, and what was wrong with the channel."""

    supervisor: tuple[dict[str, Any], ...]
    tests: tuple[dict[str, Any], ...]
    tripwires: tuple[dict[str, Any], ...]
    """Told beside the tests, by a watch that shares their process (harness/languages/python/inside/tripwire.py)."""
    violations: tuple[str, ...]


def sign(key: bytes, head: bytes, body: bytes) -> bytes:
    """The first 128 bits of HMAC-SHA256, hexadecimal."""
    return hmac.digest(key, head + b" " + body, "sha256").hex()[:32].encode()


def read(stdout: bytes, keys: Keys) -> Transcript:
    """Take the channel apart and hold every frame against its number and its signature.

    A last line without a newline is a sender that was killed while writing; it is left out and is no violation. The
    same holds for a line that breaks off right before the supervisor says that it saw the test process killed. Of more
    than `_MAX_LINES` the first are read and the last, and of more than `_MAX_VIOLATIONS` the first are told.
    """
    by_sender: dict[bytes, list[dict[str, Any]]] = {b"s": [], b"t": [], b"w": []}
    key_of = {b"s": keys.supervisor, b"t": keys.tests, b"w": keys.tripwires}
    violations: dict[int, str] = {}
    *lines, rest = stdout.split(b"\n", _MAX_LINES)
    if b"\n" in rest:
        violations[-1] = "more lines than any run has frames"
        lines += rest[-_LAST_BYTES:].split(b"\n")[1:-1]
    ended = -1
    for index, line in enumerate(lines):
        if not line and lines[index + 1 : index + 2] and lines[index + 1].startswith(b"s"):
            continue  # the supervisor begins its last frame on a line of its own
        problem = _take(line, key_of, by_sender)
        if problem is not None and len(violations) < _MAX_VIOLATIONS:
            violations[index] = f"frame {index + 1}: {problem}"
        elif problem is None and line.startswith(b"s") and by_sender[b"s"][-1]["t"] == "exit":
            ended = index
    if _was_killed(by_sender):
        violations.pop(ended - 1, None)
    return Transcript(
        supervisor=tuple(by_sender[b"s"]),
        tests=tuple(by_sender[b"t"]),
        tripwires=tuple(by_sender[b"w"]),
        violations=tuple(violations.values()),
    )


def _was_killed(by_sender: Mapping[bytes, list[dict[str, Any]]]) -> bool:
    """Whether the supervisor saw the test process die of a signal, before that had said that it was done."""
    last, tests = by_sender[b"s"][-2:], by_sender[b"t"]
    killed = any(frame["t"] == "exit" and frame.get("signal") is not None for frame in last)
    return killed and not any(frame["t"] == "finish" for frame in tests)


Shapes = Mapping[str, Mapping[str, tuple[type, ...]]]
"""By a frame's kind: its fields, each with the types it may have."""


def has_shape(frame: Mapping[str, Any], shapes: Shapes) -> bool:
    """Whether a frame has the fields of its kind, each of a type it may have, and every number is finite."""
    fields = shapes.get(frame["t"])
    if fields is None:
        return False
    for name, types in fields.items():
        value = frame.get(name, _ABSENT)
        if type(value) not in types or (type(value) is float and not math.isfinite(value)):
            return False
    return True


_ABSENT = object()


def _take(line: bytes, key_of: Mapping[bytes, bytes], by_sender: dict[bytes, list[dict[str, Any]]]) -> str | None:
    match = _LINE.fullmatch(line)
    if match is None:
        return "not a frame"
    sender, number, mac, body = match.groups()
    if not hmac.compare_digest(mac, sign(key_of[sender], sender + number, body)):
        return "the signature is wrong"
    if sender != b"w" and int(number) != len(by_sender[sender]):  # forks of the tests tell of tripwires, too
        return f"number {int(number)} where {len(by_sender[sender])} was due"
    if sender == b"t" and by_sender[sender] and by_sender[sender][-1]["t"] == "finish":
        return "a frame after the last one"
    try:
        frame = _loads(body)
    except (ValueError, RecursionError) as error:
        return str(error) if isinstance(error, _BoundsError) else "not JSON"
    if not isinstance(frame, dict) or not isinstance(frame.get("t"), str):
        return "not a frame object"
    by_sender[sender].append(frame)
    return None


class _BoundsError(ValueError):
    """A frame holds what no sender of ours writes, and what code that reads it might stumble over."""


def _loads(body: bytes) -> Any:
    """A frame, no deeper than ours are, with numbers within bounds, and no text but a value with half a character."""
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_deep(body):
        raise _BoundsError("nested too deep")
    frame = _DECODER.decode(body.decode())
    if isinstance(frame, dict) and re.search(rb"\\u[dD]", body) is not None:
        large_fields = ("values", "raised", "value") if frame.get("t") == "value" else ()
        return {
            in_characters(name): inner if name in large_fields else in_characters(inner)
            for name, inner in frame.items()
        }
    return frame


MAX_DEPTH = 256
"""Of a frame's JSON: a value of 64 levels takes three for each."""
MAX_NUMBER = 1 << 53
"""Of a frame: what a double holds exactly."""
_MAX_DIGITS = len(str(-MAX_NUMBER))
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _is_deep(body: bytes) -> bool:
    """Whether JSON is nested deeper than `MAX_DEPTH`, without following it: its levels go, the innermost first."""
    brackets = _TEXT.sub(b"", body).translate(_SQUARE, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS or abs(int(text)) > MAX_NUMBER:
        raise _BoundsError("a number out of bounds")
    return int(text)


def _real(text: str) -> float:
    number = float(text)
    if not abs(number) <= MAX_NUMBER:
        raise _BoundsError("a number out of bounds")
    return number


_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_real, parse_constant=_real)


def in_characters(decoded: Any) -> Any:
    """What of JSON can be written as UTF-8: half a surrogate pair becomes an escape."""
    if isinstance(decoded, str):
        return readable(decoded)
    if isinstance(decoded, dict):
        return {in_characters(name): in_characters(inner) for name, inner in decoded.items()}
    return [in_characters(inner) for inner in decoded] if isinstance(decoded, list) else decoded
