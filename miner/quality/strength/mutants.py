"""Faults put into the lines that a fix brings, one at a time. Python, by mutmut's operators. Pure.

mutmut (https://mutmut.readthedocs.io) knows what can become of a node of libcst's tree. Only its operators are used:
what it would do to a project's files, and how it runs tests, is another road than the one that grades patches.
"""

from __future__ import annotations

import codecs
import random
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import MetadataWrapper, WhitespaceInclusivePositionProvider
from mutmut.mutation.mutators import mutation_operators

from harness.core import python_source
from miner.quality.strength.variant import Kind, Variant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from libcst.metadata import CodeRange

    from miner.quality.strength.pieces import Fix

_LOGGERS = frozenset({"log", "logger", "logging", "_log", "_logger", "warnings", "LOG", "LOGGER"})
_TELLING = frozenset({"debug", "info", "warn", "warning", "error", "exception", "critical", "log"})
_TYPING = frozenset({"cast", "TypeVar", "ParamSpec", "NewType", "overload"})
_DUNDER = re.compile(r"__\w+__")
_LINE_END = re.compile(r"\r\n?|\n")
_LONGEST = 200
LINE_MOST = 3
"""Mutants of one line, so that a line that no test runs is not told of ten times."""


@dataclass(frozen=True, kw_only=True)
class _Fault:
    """A fault, and where it is."""

    section: int
    function: str
    node: int
    """Which node of the file it is a fault of."""
    operator: str
    line: int
    start: int
    end: int
    text: str
    """What comes in place of the source from `start` to `end`."""


@dataclass(frozen=True, kw_only=True)
class _Source:
    """A fixed file that can be mutated."""

    section: int
    text: str
    changed: frozenset[int]
    module: cst.Module
    places: Mapping[cst.CSTNode, CodeRange]
    starts: tuple[int, ...]
    """Offset of each line."""
    forms: frozenset[str | None]
    """What the file comes to with the fix, and without."""

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        place = self.places[node]
        return (
            self.starts[place.start.line - 1] + place.start.column,
            self.starts[place.end.line - 1] + place.end.column,
        )

    def line(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def touched(self, start: int, end: int, text: str) -> tuple[int, int]:
        """First and last line that differ where `text` comes in place of a stretch."""
        old = self.text[start:end]
        common = _common(old, text)
        tail = _common(old[common:][::-1], text[common:][::-1])
        first, last = start + common, max(start + common, end - tail - 1)
        return self.line(first), self.line(last)


def mutants(fix: Fix, *, most: int, seed: str) -> tuple[Variant, ...]:
    """Mutants of the lines that a fix adds or changes in Python files, at most `most`.

    They are spread over functions first, then over places and operators, with no more than three of one line, by a
    choice that is the same for the same seed. A mutant that runs as the fix does, or as the code did without it, is
    none; docs/quality.md lists what is left alone.
    """
    rng = random.Random(seed)  # noqa: S311 - repeatable, no secret
    sources = {source.section: source for source in _sources(fix)}
    groups: dict[tuple[int, str], list[_Fault]] = {}
    for source in sources.values():
        for fault in _faults(source):
            groups.setdefault((fault.section, fault.function), []).append(fault)
    queues = [_spread(group, rng) for _, group in sorted(groups.items())]
    rng.shuffle(queues)
    variants: list[Variant] = []
    states_seen: set[object] = set()
    on_line: Counter[tuple[int, int]] = Counter()
    for fault in (one for row in zip_longest(*queues) for one in row if one is not None):
        if len(variants) == most:
            break
        line = (fault.section, fault.line)
        variant = _variant(fix, sources[fault.section], fault, states_seen) if on_line[line] < LINE_MOST else None
        if variant is not None:
            variants.append(variant)
            on_line[line] += 1
    return tuple(variants)


def _sources(fix: Fix) -> Iterator[_Source]:
    lines = fix.changed_lines()
    for at, section in enumerate(fix.sections):
        data = section.fixed() if lines.get(section.path) else None
        if data is None or python_source.parsed(data) is None:
            continue
        try:
            wrapper = MetadataWrapper(cst.parse_module(data), unsafe_skip_copy=True)
            text = wrapper.module.code
            if text.encode(wrapper.module.encoding) != data:
                continue
        except (cst.ParserSyntaxError, UnicodeError, LookupError, RecursionError):
            continue  # a grammar that libcst does not know: no mutants
        yield _Source(
            section=at,
            text=text,
            changed=frozenset(lines[section.path]),
            module=wrapper.module,
            places=wrapper.resolve(WhitespaceInclusivePositionProvider),
            starts=(0, *(match.end() for match in _LINE_END.finditer(text))),
            forms=frozenset(section.form(side) for side in (section.old, data) if side is not None),
        )


def _faults(source: _Source) -> Iterator[_Fault]:
    numbers: dict[int, int] = {}
    for node, function in _nodes(source, source.module, ""):
        for kind, operator in mutation_operators:
            if not isinstance(node, kind):
                continue
            if operator.__name__ == "operator_assignment" and _is_none(getattr(node, "value", None)):
                continue  # None becomes "": what asks whether something is there sees no difference
            start, end = source.span(node)
            for other in operator(node):
                text = source.module.code_for_node(other)
                first, last = source.touched(start, end, text)
                if set(range(first, last + 1)) <= source.changed and not _is_same_codec(node, other):
                    yield _Fault(
                        section=source.section,
                        function=function,
                        node=numbers.setdefault(id(node), len(numbers)),
                        operator=operator.__name__.removeprefix("operator_"),
                        line=first,
                        start=start,
                        end=end,
                        text=text,
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


def _spread(faults: Iterable[_Fault], rng: random.Random) -> list[_Fault]:
    """The faults of one function, so that the first ones are of different places, and of different operators."""
    shuffled = list(faults)
    rng.shuffle(shuffled)
    places: dict[int, int] = {}
    kinds: dict[str, int] = {}
    ranked = []
    for fault in shuffled:
        places[fault.node] = places.get(fault.node, 0) + 1
        kinds[fault.operator] = kinds.get(fault.operator, 0) + 1
        ranked.append((places[fault.node], kinds[fault.operator], fault))
    return [fault for _, _, fault in sorted(ranked, key=lambda ranked_fault: ranked_fault[:2])]


def _variant(fix: Fix, source: _Source, fault: _Fault, states_seen: set[object]) -> Variant | None:
    """The mutant as a patch; None where nothing that runs differs, or an earlier one is the same."""
    text = source.text[: fault.start] + fault.text + source.text[fault.end :]
    content = text.encode(source.module.encoding, "surrogateescape")
    section = fix.sections[source.section]
    form = section.form(content)
    if form is None or form in source.forms or (source.section, form) in states_seen:
        return None
    states_seen.add((source.section, form))
    first, last = source.touched(fault.start, fault.end, fault.text)
    shift = len(fault.text) - (fault.end - fault.start)
    path, begin = section.path, source.starts[first - 1]
    end = source.starts[last] if last < len(source.starts) else len(source.text)
    return Variant(
        kind=Kind.MUTANT,
        patch=fix.with_content(source.section, content),
        path=path,
        line=first,
        what=f"{fault.operator.replace('_', ' ')} in {fault.function or 'the module'}, {path}:{first}",
        operator=fault.operator,
        before=source.text[begin:end][:_LONGEST],
        after=text[begin : end + shift][:_LONGEST],
    )


def _common(one: str, other: str) -> int:
    """Length of what two texts begin with alike."""
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return number
    return min(len(one), len(other))
