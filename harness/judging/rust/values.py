"""Values of Rust as they come out of a container: from the text of their `Debug` to what operators compare. Pure.

docs/judging.md has the form. Whatever is not of it raises `ValueError`, and the reader's limits hold while it is read.
A text that can't be read as one of standard or derived forms is whole, and what can't be told of outside counts as
plain here: it is the operators that need more of a value or less.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from harness.judging.parts import Part, type_name

if TYPE_CHECKING:
    from harness.judging.values import Reader

PANIC = "!"
"""What stands for the type of a panic, whose text is the message."""
_TOKEN = re.compile(
    r"""\s*+(?:
        (?P<string>"(?:\\.|[^"\\])*+")
      | (?P<bytes>b"(?:\\.|[^"\\])*+")
      | (?P<char>'(?:\\u\{[0-9a-f]{1,6}\}|\\.|[^'\\])')
      | (?P<float>-?(?:\d{1,400}\.\d{1,400}(?:e-?\d{1,4})?|\d{1,20}e-?\d{1,4}|inf\b)|NaN\b)
      | (?P<int>-?\d{1,40}(?![\w.]))
      | (?P<name>(?:r\#)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)
      | (?P<sign>[\[\](){},:])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_NO_LETTERS, _ASCII = 0xDC00, 0x80
"""Where what a text holds of bytes that are no UTF-8 lies apart from its letters."""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_OTHER_CRATE = re.compile(r"(?<![\w:])(?!(?:core|alloc|std)::)[A-Za-z_]\w*::|dyn ")
_TEXT = re.compile(r"\b(?:str|String|OsStr|OsString)\b")
_LENT = re.compile(r"(?:&(?:mut )?)+")
_WORDS = {"true": True, "false": False}
_ENDS = {"[": "]", "(": ")", "{": "}"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Value:
    """What an assertion looks at."""

    kind: str
    """Its type, as the compiler writes it."""
    text: str | None
    """What its `Debug` gives; None where there is none. Of a panic: its message."""
    part: Part | None
    """What that text says, where it has the form of standard and derived ones."""

    @property
    def is_standard(self) -> bool:
        """Whether the type is of the standard library, and so is all in it."""
        return _OTHER_CRATE.search(self.kind) is None

    @property
    def is_of_standard(self) -> bool:
        """Whether its type is, whatever is in it."""
        return _OTHER_CRATE.match(_LENT.sub("", self.kind, count=1)) is None

    @property
    def is_path(self) -> bool:
        """Whether each text in it is of a path."""
        return "std::path::Path" in self.kind and self.is_standard and _TEXT.search(self.kind) is None

    @property
    def chain(self) -> tuple[str, ...]:
        """Nothing: a panic is of no class."""
        return ()


def read(reader: Reader, parts: list[Any], depth: int) -> object:
    """A value of Rust, within the limits of a reader.

    Raises:
        ValueError: it is not of the form, or over a limit.

    """
    kind, text = parts
    if depth > 1:
        raise ValueError("not a value of Rust")
    kind = type_name(reader, kind)
    text = None if text is None else reader.text(text)
    if text is None or kind == PANIC:
        return Value(kind=kind, text=text, part=None)
    part, items = _part_of(type(reader), text)  # type: ignore[arg-type] # a class has a hash
    reader.count_more(items)
    return Value(kind=kind, text=text, part=part)


@lru_cache(maxsize=1 << 8)
def _part_of(kind: type[Reader], text: str) -> tuple[Part | None, int]:
    """What a text says, and how many items that is: both sides of what holds, in each run, say the same."""
    reader = kind(kept=False)
    return _Debug(reader, text).whole(), reader.items


class _OtherFormError(ValueError):
    """A text that is in no standard form."""


class _Debug:
    """Reads what `{:?}` gives of a value that has the form of standard and derived ones."""

    def __init__(self, reader: Reader, text: str) -> None:
        self._reader, self._text, self._at = reader, text, 0
        self._kind, self._word = "", ""

    def whole(self) -> Part | None:
        try:
            self._next()
            part = self._value(1)
        except _OtherFormError:
            return None
        return part if not self._kind else None

    def _next(self) -> None:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            if self._text[self._at :].strip():
                raise _OtherFormError
            self._kind = self._word = ""
            return
        self._kind, self._at = str(match.lastgroup), match.end()
        self._word = match[self._kind]

    def _value(self, depth: int) -> Part:
        self._reader.count(depth)
        kind, token = self._kind, self._word
        self._next()
        match kind:
            case "string":
                return Part(tag="s", kind="", plain=unescaped(token[1:-1], beyond=_NO_LETTERS))
            case "bytes":
                return Part(tag="l", kind="", parts=tuple(map(_byte, unescaped(token[2:-1]))))
            case "char":
                return Part(tag="c", kind="", plain=unescaped(token[1:-1]))
            case "float":
                return Part(tag="f", kind="", plain=float(token))
            case "int":
                return Part(tag="i", kind="", plain=int(token))
            case "name":
                return self._named(token, depth)
        if token in _ENDS:
            return self._bracketed(token, "", depth)
        raise _OtherFormError

    def _named(self, name: str, depth: int) -> Part:
        if name in _WORDS:
            return Part(tag="b", kind="", plain=_WORDS[name])
        if self._kind == "sign" and self._word in _ENDS:
            sign = self._word
            self._next()
            return self._bracketed(sign, name, depth)
        return Part(tag="n", kind=name)

    def _bracketed(self, sign: str, name: str, depth: int) -> Part:
        """What is in brackets: a list, a tuple, a set or map, or the fields of a structure."""
        items: list[Any] = []
        has_keys = False
        while self._word != _ENDS[sign] or self._kind != "sign":
            item: Any = self._value(depth + 1)
            if sign == "{" and self._kind == "sign" and self._word == ":":
                self._next()
                item, has_keys = (item, self._value(depth + 1)), True
            if items and isinstance(items[0], tuple) is not isinstance(item, tuple):
                raise _OtherFormError
            items.append(item)
            if self._kind == "sign" and self._word == ",":
                self._next()
            elif self._word != _ENDS[sign]:
                raise _OtherFormError
        self._next()
        tags = {"[": "l", "(": "t", "{": "m" if has_keys or not items else "S"}
        return Part(tag=tags[sign], kind=name, parts=tuple(items))


def _byte(letter: str) -> Part:
    return Part(tag="i", kind="", plain=ord(letter))


def unescaped(text: str, beyond: int = 0) -> str:
    """What stands between quotes, as Rust writes it; bytes that are no letters are raised by `beyond`."""

    def letter(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code is None:
            return _ESCAPES.get(match[3], match[3])
        number = int(code, 16)
        return chr(number + beyond if match[2] and number >= _ASCII else number)

    return _ESCAPE.sub(letter, text)
