"""Faults that can be put into a Python file, by mutmut's operators. Pure.

mutmut (https://mutmut.readthedocs.io) knows what can become of a node of libcst's tree. Only its operators are used:
what it would do to a project's files, and how it runs tests, is another road than the one that grades patches.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, WhitespaceInclusivePositionProvider
from mutmut.mutation.mutators import mutation_operators

from harness.core import python_source
from miner.languages.base import Fault, FaultySource

_LOGGERS = frozenset({"log", "logger", "logging", "_log", "_logger", "warnings", "LOG", "LOGGER"})
_TELLING = frozenset({"debug", "info", "warn", "warning", "error", "exception", "critical", "log"})
_TYPING = frozenset({"cast", "TypeVar", "ParamSpec", "NewType", "overload"})
_DUNDER = re.compile(r"__\w+__")
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, kw_only=True)
class _Source:
    """A file as libcst reads it."""

    changed: Collection[int]
    module: cst.Module
    places: Mapping[cst.CSTNode, CodeRange]
    starts: tuple[int, ...]
    """Offset of each line."""

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        place = self.places[node]
        return (
            self.starts[place.start.line - 1] + place.start.column,
            self.starts[place.end.line - 1] + place.end.column,
        )


def faulty(data: bytes, changed: Collection[int]) -> FaultySource | None:
    """The faults of nodes on some lines; None where libcst can't read the file. What is spared: docs/quality.md."""
    if python_source.parsed(data) is None:
        return None
    try:
        wrapper = MetadataWrapper(cst.parse_module(data), unsafe_skip_copy=True)
        text, encoding = wrapper.module.code, wrapper.module.encoding
        if text.encode(encoding) != data:
            return None
    except (cst.ParserSyntaxError, UnicodeError, LookupError, RecursionError):
        return None  # a grammar that libcst does not know: no mutants
    source = _Source(
        changed=changed,
        module=wrapper.module,
        places=wrapper.resolve(WhitespaceInclusivePositionProvider),
        starts=(0, *(match.end() for match in _LINE_END.finditer(text))),
    )
    return FaultySource(text=text, encoding=encoding, faults=tuple(_faults(source)))


def _faults(source: _Source) -> Iterator[Fault]:
    numbers: dict[int, int] = {}
    for node, function in _nodes(source, source.module, ""):
        for kind, operator in mutation_operators:
            if not isinstance(node, kind):
                continue
            if operator.__name__ == "operator_assignment" and _is_none(getattr(node, "value", None)):
                continue  # None becomes "": what asks whether something is there sees no difference
            start, end = source.span(node)
            for other in operator(node):
                if not _is_same_codec(node, other):
                    yield Fault(
                        function=function,
                        node=numbers.setdefault(id(node), len(numbers)),
                        operator=operator.__name__.removeprefix("operator_"),
                        start=start,
                        end=end,
                        text=source.module.code_for_node(other),
                    )


def _nodes(source: _Source, node: cst.CSTNode, function: str) -> Iterator[tuple[cst.CSTNode, str]]:
    """Nodes on changed lines that may be mutated, each with the names of what it stands in."""
    if _is_left_alone(node):
        return
    place = source.places.get(node)
    if place is not None:
        if not any(place.start.line <= line <= place.end.line for line in source.changed):
            return
        yield node, function
    inside = (
        f"{function}.{node.name.value}".lstrip(".") if isinstance(node, cst.FunctionDef | cst.ClassDef) else function
    )
    for child in node.children:
        yield from _nodes(source, child, inside)


def _is_left_alone(node: cst.CSTNode) -> bool:
    """What no test of behaviour would look at: types, imports, what is told to people, names of the module itself."""
    if isinstance(node, cst.Annotation | cst.Import | cst.ImportFrom | cst.Raise | cst.Assert):
        return True
    if isinstance(node, cst.Expr):
        return isinstance(node.value, cst.SimpleString | cst.ConcatenatedString)
    if isinstance(node, cst.Call):
        return _tells(node.func) or _last(node.func) in _TYPING
    if isinstance(node, cst.If):
        return _last(node.test) == "TYPE_CHECKING"
    if isinstance(node, cst.FunctionDef):
        return any(_last(decorator.decorator) == "overload" for decorator in node.decorators)
    if isinstance(node, cst.Arg):
        return node.keyword is not None and node.keyword.value == "stacklevel"
    targets = [target.target for target in node.targets] if isinstance(node, cst.Assign) else []
    targets += [node.target] if isinstance(node, cst.AnnAssign) else []
    return any(isinstance(target, cst.Name) and _DUNDER.fullmatch(target.value) for target in targets)


def _tells(function: cst.BaseExpression) -> bool:
    """Whether a call writes to a log or warns."""
    if isinstance(function, cst.Attribute):
        return function.attr.value in _TELLING and _last(function.value) in _LOGGERS
    return _last(function) == "warn"


def _is_same_codec(node: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two texts name one encoding: `utf-8`, `UTF-8`."""
    if not isinstance(node, cst.SimpleString) or not isinstance(other, cst.SimpleString):
        return False
    names = [literal.evaluated_value for literal in (node, other)]
    try:
        first, second = (codecs.lookup(name) for name in names if isinstance(name, str))
    except (LookupError, ValueError):
        return False
    return first.name == second.name


def _last(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def _is_none(node: object) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"
