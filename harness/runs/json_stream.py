"""JSON read from a file piece by piece, so that a value of any size costs no more memory than asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from harness.core import json_text

DEEPEST = 100
"""Levels of a value that is taken: few enough to be written again, wherever that happens."""
_LONGEST_NUMBER = 1000
_PIECE = 1 << 16
_LONGEST_NAME = 1000
_IN_STRING = re.compile(rb'[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+')
_TO_STRUCTURE = re.compile(rb'[^"\[\]{}\n]*+')
_STRUCTURE = re.compile(rb'"|[\[{]+|[\]}]+|\n')
_SCALAR = re.compile(rb"[-+.\w]*+")


class TooMuchError(ValueError):
    """A value of JSON that is too long, too deep, or a number with too many digits: not wrong, but not taken."""


def loads(text: str | bytes) -> Any:
    """A value of JSON; a name given twice in one object is an error, since one of two values would be lost.

    Raises:
        TooMuchError: it has more than `DEEPEST` levels, or a number of more than a thousand digits.
        ValueError: it is no JSON.

    """
    try:
        value = json_text.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json_text.NestedError as error:
        raise TooMuchError(f"more than {DEEPEST} levels") from error
    level = [value]
    for _ in range(DEEPEST):
        level = [part for element in level for part in _parts(element)]
        if not level:
            return value
    raise TooMuchError(f"more than {DEEPEST} levels")


def _parts(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [part for part in inner if isinstance(part, dict | list)]


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise TooMuchError(f"a number of {len(digits)} digits")
    return int(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is given twice in one object")
    return fields


class Pieces:
    """A file of JSON, and a place in it.

    What is passed over is not held to the whole grammar: its strings and brackets have to end. With `by_line` a value
    ends on the line that it begins on.
    """

    def __init__(self, file: BinaryIO, *, by_line: bool = False) -> None:
        self._file = file
        self._by_line = by_line
        self._piece = b""
        self._at = 0

    def tell(self) -> int:
        return self._file.tell() - len(self._piece) + self._at

    def seek(self, place: int) -> None:
        self._file.seek(place)
        self._piece, self._at = b"", 0

    def peek(self) -> bytes:
        """The next byte that is no white space; none at the end. A line's end is none where values end with it."""
        space = b" \t\r" if self._by_line else b" \t\r\n"
        while self._fill() and self._piece[self._at] in space:
            self._at += 1
        return self._piece[self._at : self._at + 1]

    def take(self, expected: bytes) -> None:
        """Pass one byte.

        Raises:
            ValueError: it is another one.

        """
        if self.peek() != expected:
            raise ValueError(f"expected {expected.decode()!r} at byte {self.tell()}")
        self._at += 1

    def end(self) -> None:
        """See that nothing follows, on this line where values end with it.

        Raises:
            ValueError: something does.

        """
        if self.peek() not in (b"", b"\n"):
            raise ValueError(f"more than one value, at byte {self.tell()}")

    def value(self, limit: int) -> bytes | None:
        """The next value as it stands in the file; None where it is longer than `limit` bytes, and passed over.

        Raises:
            ValueError: there is none, or it does not end.

        """
        first, buffer = self.peek(), _Buffer(limit)
        if first == b'"':
            self._keep(1, buffer)
            self._string(buffer)
        elif first and first in b"[{":
            self._nested(buffer)
        elif not _SCALAR.fullmatch(first) or not first:
            raise ValueError(f"expected a value at byte {self.tell()}")
        else:
            self._while(_SCALAR, buffer)
        return buffer.data

    def _nested(self, buffer: _Buffer) -> None:
        depth = 0
        while True:
            self._while(_TO_STRUCTURE, buffer)
            match = _STRUCTURE.match(self._piece, self._at)
            if match is None:
                raise ValueError("a list or an object does not end")
            if match[0] == b'"':
                self._keep(1, buffer)
                self._string(buffer)
            elif match[0] == b"\n":
                if self._by_line:
                    raise ValueError("a list or an object does not end")
                self._keep(1, buffer)
            elif match[0][:1] in b"[{":
                depth += len(match[0])
                self._keep(len(match[0]), buffer)
            else:
                closed = min(depth, len(match[0]))
                depth -= closed
                self._keep(closed, buffer)
                if not depth:
                    return

    def _string(self, buffer: _Buffer) -> None:
        """The rest of a string, from behind its first quotation mark."""
        while True:
            self._while(_IN_STRING, buffer)
            if self._piece[self._at : self._at + 1] == b'"':
                self._keep(1, buffer)
                return
            if self._piece[self._at :] != b"\\":  # else the piece ends within an escape
                raise ValueError("a string does not end")
            self._keep(1, buffer)
            if not self._fill() or self._piece[self._at] < ord(" "):
                raise ValueError("a string does not end")
            self._keep(1, buffer)

    def _while(self, pattern: re.Pattern[bytes], buffer: _Buffer) -> None:
        """Pass what a pattern takes, over any number of pieces."""
        while self._fill():
            match = pattern.match(self._piece, self._at)
            size = match.end() - self._at if match else 0
            self._keep(size, buffer)
            if self._at < len(self._piece):
                return

    def _keep(self, size: int, buffer: _Buffer) -> None:
        buffer.add(self._piece[self._at : self._at + size])
        self._at += size

    def _fill(self) -> bool:
        if self._at >= len(self._piece):
            self._piece, self._at = self._file.read(_PIECE), 0
        return bool(self._piece)

    def members(self) -> Iterator[str]:
        """The names of an object; after each, whoever asks takes its `value`.

        Raises:
            ValueError: it is no object.

        """
        self.take(b"{")
        if self.peek() != b"}":
            yield self._name()
            while self.peek() == b",":
                self.take(b",")
                yield self._name()
        self.take(b"}")

    def _name(self) -> str:
        """A name and the colon after it."""
        if self.peek() != b'"':
            raise ValueError(f"expected a name at byte {self.tell()}")
        raw = self.value(_LONGEST_NAME)
        if raw is None:
            raise ValueError(f"a name of more than {_LONGEST_NAME} bytes before byte {self.tell()}")
        self.take(b":")
        return str(json.loads(raw))

    def items(self) -> Iterator[int]:
        """The numbers, from 1, of a list's values; after each, whoever asks takes its `value`.

        Raises:
            ValueError: it is no list.

        """
        self.take(b"[")
        if self.peek() != b"]":
            yield (number := 1)
            while self.peek() == b",":
                self.take(b",")
                yield (number := number + 1)
        self.take(b"]")


class _Buffer:
    """Bytes up to a limit, and none at all beyond it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data: bytearray | None = bytearray()

    def add(self, data: bytes) -> None:
        if self._data is not None and len(self._data) + len(data) > self._limit:
            self._data = None
        if self._data is not None:
            self._data += data

    @property
    def data(self) -> bytes | None:
        return None if self._data is None else bytes(self._data)
