"""Examples of documentation (doctests) in Rust without their expectations: read as code, line by line. Pure.

rustdoc makes a program of each: what it says is the body of `main`, unless it has one itself
(https://doc.rust-lang.org/rustdoc/write-documentation/documentation-tests.html).
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.languages.rust.language import EXAMPLES, HANDOUT
from miner.languages.base import Mode, Slot, WrittenForm
from miner.languages.rust.stripping import scopes
from miner.languages.rust.stripping.source import MODULE, StrippedSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from miner.languages.rust.stripping.sites import Assertion

_MAIN = "main"
_FENCE = re.compile(r"/// ?(?:`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"pub mod (\w+) \{\}")
_RUNS = re.compile(r"(?:rust|edition\d{4}|standalone(?:_crate)?|[\s,{}])*")
"""What is said behind the fence of one that is to end well."""
_PROGRAM = re.compile(rf"^\s*(?:pub\s+)?(?:async\s+)?fn\s+{_MAIN}\s*\(", re.MULTILINE)
_LEADING = re.compile(r"\s*(?:$|//|#!\[|#\[macro_use|extern\s+crate\b)")
"""What stands at the top of a program, before what `main` has."""
_ADDED = f'#[path = "{HANDOUT}"] mod {MODULE};'
_UP = re.compile(rf"\bsuper::(?=((?:super::)*){MODULE}\b)")


def is_of_examples(path: str) -> bool:
    """Whether a file of tests holds examples and nothing else."""
    return posixpath.basename(path) == EXAMPLES


def function_of_example(test_id: str) -> str:
    """What an example is as code: the function of its program, in a module of its name."""
    path, _, name = test_id.partition("::")
    return f"{path}::{name.replace('#', '__')}::{_MAIN}"


@dataclass(frozen=True, kw_only=True)
class _Example:
    """One that is read: its name, its lines between the fences, and whether it is a whole program."""

    name: str
    start: int
    end: int
    is_program: bool


class _Page:
    """The lines of a file of examples, and as many of code: each example that runs, in a module of its name."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._examples = list(self._read())
        code = [""] * len(self._lines)
        for example in self._examples:
            code[example.start - 1] = f"mod {example.name} {{" + ("" if example.is_program else f" fn {_MAIN}() {{")
            code[example.start : example.end] = self._code_of(example.start, example.end)
            code[example.end] = "}" if example.is_program else "} }"
        self.code = "\n".join(code)

    def documented(self, code: str) -> str:
        """The file with other code in its examples, of as many lines; what hands out has the module for it."""
        code_lines = code.split("\n")
        lines = list(self._lines)
        for example in reversed(self._examples):
            marks = ["/// # " if _is_hidden(line) else "/// " for line in lines[example.start : example.end]]
            texts = [_UP.sub(_lowered, line) for line in code_lines[example.start : example.end]]
            if any(f"{MODULE}::" in text for text in texts) and _ADDED not in "".join(texts):
                texts, marks = _as_program(texts, is_program=example.is_program), [*marks, "/// # "]
            lines[example.start : example.end] = [
                (mark + text).rstrip() for mark, text in zip(marks, texts, strict=True)
            ]
        return "\n".join(lines)

    def _read(self) -> Iterator[_Example]:
        times: Counter[str] = Counter()
        waiting: list[tuple[int, int, str]] = []
        opened = None
        for place, line in enumerate(self._lines):
            fence = _FENCE.fullmatch(line)
            if fence and opened is None:
                opened = place + 1, fence[1]
            elif fence and opened is not None and not fence[1].strip():
                waiting.append((opened[0], place, opened[1]))
                opened = None
            elif item := _ITEM.fullmatch(line):
                for start, end, words in waiting:
                    times[item[1]] += 1
                    name = item[1] + (f"__{times[item[1]]}" if times[item[1]] > 1 else "")
                    text = "\n".join(self._code_of(start, end))
                    if _RUNS.fullmatch(words) and _is_code(text):
                        yield _Example(name=name, start=start, end=end, is_program=bool(_PROGRAM.search(text)))
                waiting = []

    def _code_of(self, start: int, end: int) -> list[str]:
        return [_code(line) for line in self._lines[start:end]]


def _code(line: str) -> str:
    """What rustdoc compiles of a line."""
    text = line.removeprefix("///").removeprefix(" ")
    return text.strip()[1:].removeprefix(" ") if _is_hidden(line) else text


def _is_hidden(line: str) -> bool:
    """Whether a line of an example is compiled and not shown."""
    text = line.removeprefix("///").strip()
    return text == "#" or text.startswith("# ")


def _is_code(text: str) -> bool:
    """Whether the grammar reads an example, which has no other marks than rustdoc's plain one."""
    if any(line.lstrip().startswith("##") for line in text.split("\n")):
        return False
    try:
        scopes.parse(f"fn f() {{ {text}\n}}".encode())
    except ValueError:
        return False
    return True


def _lowered(match: re.Match[str]) -> str:
    """A path from the module that an example is as code, as it is from its program."""
    return "" if match[1] else "self::"


def _as_program(texts: Sequence[str], *, is_program: bool) -> list[str]:
    """An example as a program, which rustdoc leaves as it is, with the module of the hand-out at its top."""
    opening, closing = "", ""
    if not is_program and "".join(texts).rstrip().endswith("(())"):  # it ends with `?`: as rustdoc has it
        opening = f"fn {_MAIN}() {{ fn goldseam_inner() -> Result<(), impl core::fmt::Debug> {{"
        closing = "} goldseam_inner().unwrap() }"
    elif not is_program:
        opening, closing = f"fn {_MAIN}() {{", "}"
    first = next((place for place, text in enumerate(texts) if not _LEADING.match(text)), 0)
    return [*texts[:first], f"{_ADDED} {opening} {texts[first]}", *texts[first + 1 :], closing]


class StrippedExamples:
    """A file of examples whose assertions can be taken out, one by one (`miner.languages.base.Strippable`)."""

    def __init__(self, source: bytes, *, path: str, first: int) -> None:
        """Read a file; `first` is the number of its first slot.

        Raises:
            ValueError: it is no text, or the grammar does not read it.

        """
        self._page = _Page(source.decode())
        self._source = StrippedSource(self._page.code.encode(), path=path, first=first)
        self.slots: tuple[Slot[Assertion], ...] = self._source.slots

    def recording(self, modes: Mapping[int, Mode]) -> str:
        """The file handing out both sides of each assertion."""
        return self._page.documented(self._source.recording(modes))

    def stripped(self, modes: Mapping[int, Mode], whole: Collection[str] = ()) -> str:
        """The file that enters a container when patches are judged."""
        return self._page.documented(self._source.stripped(modes, whole))

    def written(self, literal: Callable[[Node], Any]) -> dict[int, WrittenForm]:
        """By slot how its test has what it expects."""
        return self._source.written(literal)

    def unstopped(self, text: str, output: str, attempt: int) -> str:
        """The file without what the compiler complained of in it, as far as it can go on without."""
        page = _Page(text)
        return page.documented(self._source.unstopped(page.code, output, attempt))
