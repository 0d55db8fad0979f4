"""A document of doctests without what its examples are to print. Pure."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import PurePosixPath

from harness.core import python_source
from miner.languages.base import Mode, Slot
from miner.languages.python.stripping.reading.module import Settled, unsettled
from miner.languages.python.stripping.sites import HAND_OUT, Assertion, Operand
from miner.languages.python.stripping.source import StrippedSource

for _name in ("ALLOW_UNICODE", "ALLOW_BYTES", "NUMBER"):  # pytest's own, which examples may ask for by name
    doctest.register_optionflag(_name)


def parsed(
    path: str,
    source: bytes,
    first: int,
    *,
    product: Callable[[str], bool],
    settled: Settled = unsettled,
) -> StrippedSource | StrippedDocument:
    """A module of tests, or a document by any other name; see `StrippedSource` for what is raised."""
    if path.endswith(".py"):
        return StrippedSource(source, first=first, product=product, settled=settled)
    return StrippedDocument(source, path=path, first=first)


class StrippedDocument:
    """A text file whose examples say nothing of their output, one by one; what stands between them is left out."""

    def __init__(self, source: bytes, *, path: str, first: int) -> None:
        """Parse a file; `first` is the number of its first slot.

        Raises:
            ValueError: it is no UTF-8, or an example of it is malformed.

        """
        self._examples = doctest.DocTestParser().get_examples(source.decode())
        self._numbers = {
            at: first + number
            for number, at in enumerate(at for at, example in enumerate(self._examples) if _hands_out(example))
        }
        function = (PurePosixPath(path).name,)  # pytest's id of it is the name of the file
        self.slots: tuple[Slot[Assertion], ...] = tuple(
            Slot(number=number, function=function, assertion=_assertion(self._examples[at]))
            for at, number in self._numbers.items()
        )

    def recording(self, modes: Mapping[int, Mode]) -> str:
        """The file handing out what each example prints and what it is to print. For the fix alone."""
        return self._write(modes, lambda example: f", {(example.want, example.exc_msg)!r}")

    def stripped(self, modes: Mapping[int, Mode], _whole: Collection[str] = ()) -> str:
        """The file that enters a container when patches are judged; of what stays as it is there is nothing here."""
        return self._write(modes, lambda _: "")

    def unstopped(self, text: str, _output: str, _attempt: int) -> str:
        """The same: the next example is run in any case."""
        return text

    def _write(self, modes: Mapping[int, Mode], expected_of: Callable[[doctest.Example], str]) -> str:
        return "\n".join("\n".join(self._lines(at, modes, expected_of)) + "\n" for at in range(len(self._examples)))

    def _lines(
        self, at: int, modes: Mapping[int, Mode], expected_of: Callable[[doctest.Example], str]
    ) -> Iterator[str]:
        example, number = self._examples[at], self._numbers.get(at)
        if number is None or modes[number] is Mode.INSIDE:
            first, *more = (_plain(example) or example.source).splitlines()
            yield f">>> {first}{_directive(example)}"
            yield from (f"... {line}" for line in more)
            yield from example.want.splitlines()
            return
        call = f"{HAND_OUT}({number}).example({_plain(example)!r}, globals(){expected_of(example)})"
        yield f">>> {call}{_directive(example)}"


def _hands_out(example: doctest.Example) -> bool:
    return bool(example.want) and bool(_plain(example)) and not example.options.get(doctest.SKIP)


def _plain(example: doctest.Example) -> str:
    """An example's code without its comments; empty where it can't be read."""
    try:
        return ast.unparse(python_source.parse(example.source))
    except (SyntaxError, ValueError, RecursionError):
        return ""


def _directive(example: doctest.Example) -> str:
    names = {flag: name for name, flag in doctest.OPTIONFLAGS_BY_NAME.items()}
    options = [f"{'+' if on else '-'}{names[flag]}" for flag, on in example.options.items()]
    return f"  # doctest: {', '.join(options)}" if options and _plain(example) else ""


def _assertion(example: doctest.Example) -> Assertion:
    node = ast.Constant(value=example.source)
    operands = (Operand(node=ast.Constant(value=example.want), static=True), Operand(node=node, static=False))
    return Assertion(op="doctest", operands=operands, kept={"flags": ast.Constant(value=None)})
