"""A test file cut down: as it was before the change, plus some of the change's tests and what these need. Pure.

What is kept is named by functions. Everything else that the change brought stays out: other tests, and helpers, data
and imports that only those use. Where that cannot be told, nothing is cut.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from harness.core import python_source
from harness.languages.base import CannotCutError, Names, lines_of

_DEEPEST = 2
_SET_UP = frozenset(
    f"{when}_{scope}" for when in ("setup", "teardown") for scope in ("module", "function", "class", "method")
) | {"setUp", "tearDown", "setUpClass", "tearDownClass", "setUpModule", "tearDownModule"}
_FOR_ALL = frozenset({"pytestmark", "pytest_plugins"})
_IMPORTS = ast.Import | ast.ImportFrom
_BLOCKS = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class _File:
    lines: list[str]
    items: tuple[Item, ...]


@dataclass(frozen=True, kw_only=True)
class _Edit:
    start: int
    end: int
    lines: str


@dataclass(kw_only=True)
class _Plan:
    """What of the changed file is wanted."""

    whole: set[int] = field(default_factory=set)
    """Items of the module, by their places."""
    members: dict[int, set[int]] = field(default_factory=dict)
    """Of a class that holds tests: the places of its members."""
    names: set[str] = field(default_factory=set)
    """All that is needed, by name."""


def cut(before: str | None, after: str, keep: Collection[Names]) -> str:
    """The file as it was before (None where it is new), with these tests of how it is after.

    Raises:
        CannotCutError: a test or what it needs cannot be told from the rest.

    """
    new, old = _parsed(after), _parsed(before or "")
    plan = _needed(new, keep)
    result = _written(old, new, plan) if before is not None else _fresh(new, plan)
    _check(old, result, keep)
    return result


def _parsed(text: str) -> _File:
    try:
        tree = python_source.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise CannotCutError("the file is no Python that can be read") from error
    lines = lines_of(text)
    return _File(lines=lines, items=items(tree.body, lines))


def _needed(new: _File, keep: Collection[Names]) -> _Plan:
    """The kept tests and everything that they need, whatever the file was before."""
    plan = _Plan()
    seeds: list[ast.AST] = []
    for names in sorted(keep):
        seeds += _add_test(new, names, plan)
    for place, item in enumerate(new.items):
        if item.is_for_all and not holds_tests(item.node):
            plan.whole.add(place)
            seeds.append(item.node)
    closure: set[str] = set()
    while fresh := needs(seeds) - closure:
        closure |= fresh
        seeds = []
        for place, item in enumerate(new.items):
            if place in plan.whole or not item.names & fresh:
                continue
            if holds_tests(item.node):
                if place in plan.members or item.is_test:
                    continue  # a class whose test is kept names itself; a test is no helper
                raise CannotCutError("a test needs a class or a block that holds hidden tests")
            plan.whole.add(place)
            seeds.append(item.node)
    plan.names = closure
    return plan


def _add_test(new: _File, names: Names, plan: _Plan) -> list[ast.AST]:
    """Take a test in; returns what it is made of."""
    if len(names) > _DEEPEST:
        raise CannotCutError("a test is in a class within a class")
    place = next((at for at, item in enumerate(new.items) if names[0] in item.names), None)
    if place is None:
        raise CannotCutError("a test is not defined in its file itself")
    item = new.items[place]
    if len(names) == 1:
        if not item.is_test:
            raise CannotCutError("a test is not a plain function")
        plan.whole.add(place)
        return [item.node]
    if not isinstance(item.node, ast.ClassDef):
        raise CannotCutError("a test is in something that is not a plain class")
    members = items(item.node.body, new.lines)
    added = _members(members, names[1])
    plan.members.setdefault(place, set()).update(added)
    return [*_head(item.node), *(members[at].node for at in added)]


def _head(node: ast.ClassDef) -> list[ast.AST]:
    """What a class is made with, its members aside."""
    return [*node.decorator_list, *node.bases, *node.keywords]


def _members(members: Sequence[Item], name: str) -> set[int]:
    """A test of a class, and the members that it needs."""
    test = next((at for at, item in enumerate(members) if name in item.names and item.is_test), None)
    if test is None:
        raise CannotCutError("a test is not defined in its class itself")
    chosen = {test} | {at for at, item in enumerate(members) if item.is_for_all and not item.is_test}
    nodes: list[ast.AST] = [members[at].node for at in chosen]
    while nodes:
        names = needs(nodes) | members_needed(nodes)
        more = {at for at, item in enumerate(members) if at not in chosen and not item.is_test and item.names & names}
        chosen |= more
        nodes = [members[at].node for at in more]
    return chosen


def _fresh(new: _File, plan: _Plan) -> str:
    """A new file."""
    parts = []
    for place, item in enumerate(new.items):
        if place in plan.whole:
            parts.append((item, _import(item, plan.names) if item.is_import else item.text))
        elif place in plan.members:
            parts.append((item, _class(new, item, plan.members[place])))
    text = ""
    for number, (item, part) in enumerate(parts):
        gap = "" if number == 0 else _gap(parts[number - 1][0], item)
        text += gap + _ended(part)
    return text


def _gap(last: Item, following: Item) -> str:
    if last.is_import and following.is_import:
        return ""
    is_block = isinstance(last.node, _BLOCKS) or isinstance(following.node, _BLOCKS)
    return "\n\n" if is_block else "\n" if last.is_import else ""


def _class(new: _File, item: Item, members_wanted: Collection[int]) -> str:
    """A class with some of its members."""
    assert isinstance(item.node, ast.ClassDef)  # noqa: S101 - `_add_test` has seen to it
    members = items(item.node.body, new.lines)
    head = "".join(new.lines[item.start : members[0].start]).rstrip("\n") + "\n"
    if members[0].start < item.node.lineno:
        raise CannotCutError("a class is on one line")
    return head + "\n".join(_ended(members[at].text) for at in sorted(members_wanted))


def _written(old: _File, new: _File, plan: _Plan) -> str:
    """The file as it was, with what is wanted put in."""
    edits: list[_Edit] = []
    helpers: list[str] = []
    imports: list[str] = []
    tail: list[str] = []
    for place, item in enumerate(new.items):
        twin = _twin(item, old.items)
        if place in plan.members and twin is not None:
            edits += _class_edits(old, new, twin, item, plan.members[place])
        elif place in plan.members:
            tail.append(_class(new, item, plan.members[place]))
        elif place not in plan.whole or any(other.text == item.text for other in old.items):
            continue
        elif item.is_import:
            imports.append(_import(item, plan.names, old))
        elif twin is not None:
            edits.append(_Edit(start=twin.start, end=twin.end, lines=_ended(item.text)))
        else:
            (tail if item.is_test else helpers).append(_ended(item.text))
    if helpers and edits:
        at = min(edit.start for edit in edits)
        edits.append(_Edit(start=at, end=at, lines="\n\n".join(helpers) + "\n\n"))
    elif helpers:
        tail.insert(0, "\n\n".join(helpers))
    at = _after_imports(old)
    return _applied(old, [*edits, _Edit(start=at, end=at, lines="".join(imports))], tail)


def _twin(item: Item, before: Iterable[Item]) -> Item | None:
    """What defined the same before."""
    return next((former for former in before if former.names == item.names and item.names), None)


def _import(item: Item, names: Collection[str], old: _File | None = None) -> str:
    """An import of what is needed alone, less what the file had before."""
    node = item.node
    if not isinstance(node, _IMPORTS):
        return _ended(item.text)
    imported = {_imported(item.node, alias) for item in (old.items if old else ()) for alias in _aliases(item.node)}
    left = [
        alias
        for alias in node.names
        if (alias.name == "*" or item.is_for_all or (alias.asname or alias.name).partition(".")[0] in names)
        and _imported(node, alias) not in imported
    ]
    if len(left) == len(node.names):
        return _ended(item.text)
    if not left:
        return ""
    narrowed = copy.copy(node)
    narrowed.names = left
    return _ended(ast.unparse(narrowed))


def _aliases(node: ast.stmt) -> list[ast.alias]:
    return node.names if isinstance(node, _IMPORTS) else []


def _imported(node: ast.stmt, alias: ast.alias) -> tuple[str, ...]:
    where = (str(node.level), node.module or "") if isinstance(node, ast.ImportFrom) else ("",)
    return (*where, alias.name, alias.asname or "")


def _class_edits(old: _File, new: _File, was: Item, now: Item, members_wanted: Collection[int]) -> list[_Edit]:
    if not isinstance(was.node, ast.ClassDef) or not isinstance(now.node, ast.ClassDef):
        raise CannotCutError("a class was something else before")
    before, after = items(was.node.body, old.lines), items(now.node.body, new.lines)
    if list(map(ast.dump, _head(was.node))) != list(map(ast.dump, _head(now.node))):
        raise CannotCutError("a class itself was changed")
    texts = {item.text for item in before}
    edits: list[_Edit] = []
    more: list[str] = []
    for at in sorted(members_wanted):
        member = after[at]
        if member.text in texts:
            continue
        twin = _twin(member, before)
        if twin is None:
            more.append("\n" + _ended(member.text))
        else:
            edits.append(_Edit(start=twin.start, end=twin.end, lines=_ended(member.text)))
    if more:
        edits.append(_Edit(start=before[-1].end, end=before[-1].end, lines="".join(more)))
    return edits


def _after_imports(old: _File) -> int:
    """The line where an import may stand: after those that are there, or after the docstring."""
    ends = [item.end for item in old.items if item.is_import]
    if ends:
        return ends[-1]
    first = old.items[0] if old.items else None
    is_docstring = first and isinstance(first.node, ast.Expr) and isinstance(first.node.value, ast.Constant)
    return first.end if first and is_docstring else 0


def _applied(old: _File, edits: list[_Edit], tail: list[str]) -> str:
    lines = list(old.lines)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        lines[edit.start : edit.end] = [edit.lines]
    text = "".join(lines)
    for part in tail:
        text = (text.rstrip("\n") + "\n\n\n" if text.strip() else "") + _ended(part)
    return text


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _check(old: _File, result: str, keep: Collection[Names]) -> None:
    """No test is new or other than before but the kept ones, and each of these is there."""
    before, after = _tests(old), _tests(_parsed(result))
    other = {names for names, text in after.items() if before.get(names) != text}
    if other - set(keep):
        raise CannotCutError("another hidden test would come along")
    if set(keep) - after.keys():
        raise CannotCutError("a test would not be there")


def _tests(file: _File) -> dict[Names, str]:
    tests: dict[Names, str] = {}
    for item in file.items:
        for node in ast.walk(item.node):
            if not (isinstance(node, ast.stmt) and is_test(node)):
                continue
            name = getattr(node, "name", "")
            owner = () if node is item.node else (next(iter(item.names), ""),)
            tests[*owner, name] = ast.dump(node)
    return tests


@dataclass(frozen=True, kw_only=True)
class Item:
    """One statement: of a module, or of a class."""

    node: ast.stmt
    start: int
    """Its first line, decorators included, from 0."""
    end: int
    """After its last line."""
    text: str
    names: frozenset[str]
    """What it defines."""

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, _IMPORTS)

    @property
    def is_test(self) -> bool:
        """A test function, by pytest's and unittest's names."""
        return is_test(self.node)

    @property
    def is_for_all(self) -> bool:
        """It works without being named: what sets up, marks, or is a fixture that every test has."""
        return bool(self.names & (_SET_UP | _FOR_ALL)) or _is_autouse(self.node) or _is_future(self.node)


def is_test(node: ast.stmt) -> bool:
    """Whether a statement is a test function, by pytest's and unittest's names."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")


def holds_tests(node: ast.stmt) -> bool:
    """Whether it is a test function, or anything that has one inside."""
    return any(is_test(inner) for inner in ast.walk(node) if isinstance(inner, ast.stmt))


def items(body: Sequence[ast.stmt], lines: Sequence[str]) -> tuple[Item, ...]:
    """The statements of a body.

    Raises:
        CannotCutError: two of them share a line.

    """
    items_found: list[Item] = []
    for node in body:
        decorators = getattr(node, "decorator_list", [])
        start = min(part.lineno for part in (node, *decorators)) - 1
        end = node.end_lineno or node.lineno
        if items_found and start < items_found[-1].end:
            raise CannotCutError("two statements share a line")
        text = "".join(lines[start:end])
        items_found.append(Item(node=node, start=start, end=end, text=text, names=frozenset(_defined(node))))
    return tuple(items_found)


def needs(nodes: Iterable[ast.AST]) -> set[str]:
    """Every name that could stand for something defined elsewhere: names, arguments (fixtures), names in strings."""
    names: set[str] = set()
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                names.add(inner.id)
            elif isinstance(inner, ast.arg):
                names.add(inner.arg)
            elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.isidentifier():
                names.add(inner.value)
    return names


def members_needed(nodes: Iterable[ast.AST]) -> set[str]:
    """Names of attributes: what of its class a method may use, whatever it calls itself."""
    return {inner.attr for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, _BLOCKS):
        return {node.name}
    if isinstance(node, ast.Import):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    ids = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load)}
    for inner in ast.walk(node):
        if inner is not node and isinstance(inner, _BLOCKS | _IMPORTS):
            ids |= _defined(inner)
    return ids


def _is_autouse(node: ast.stmt) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any(
        keyword.arg == "autouse"
        for decorator in decorators
        for inner in ast.walk(decorator)
        if isinstance(inner, ast.Call)
        for keyword in inner.keywords
    )


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
