"""Which names of a product a fix leaves as they were, by both sides of the files that it changes. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from harness.core import python_source
from harness.core.wording import words
from harness.patches.patch import FilePatch
from harness.quality.change import change_of
from miner.languages.python.stripping.reading.syntax import stored

_Read = tuple[str, tuple[str, ...], bool]
"""A file, a name that is read in it, with attributes, and whether objects of a class matter."""
_MAKING = ("__new__", "__init__", "__post_init__", "_generate_next_value_")
"""Methods that say what is in what a class makes."""
_READING = frozenset(
    {"open", *(f".{name}" for name in words("open read_text read_bytes get_data open_text open_binary files"))}
)
"""Calls that may give what a file holds."""
_CHANGING = words("append extend insert add update setdefault pop popitem remove discard clear sort reverse appendleft")
"""Methods that change what a list, set or mapping holds."""
_SETTING = ("setattr", "patch", "object")
"""What sets attributes by their names: Python's function, pytest's method, and what `mock` has for it."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, kw_only=True)
class _Definition:
    """A statement that gives a name what it stands for, in the terms of its module."""

    text: str
    """Its syntax tree, and that of what it stands in."""
    reads: frozenset[str]
    """Names that it reads, with their attributes; `.name` for attributes of anything else."""
    kind: type[ast.stmt]


@dataclass(frozen=True, kw_only=True)
class _Module:
    """What a module does as it is loaded."""

    definitions: Mapping[str, Sequence[_Definition]] = field(default_factory=dict)
    """By name, or `Class.member`."""
    imports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By name: the parts of what it is imported from, the folders of this module first where that is relative."""
    stars: tuple[tuple[str, ...], ...] = ()
    """Modules of which it has all names."""
    sets: frozenset[str] = frozenset()
    """Names whose values its functions change, alone, without what these are names of."""

    @property
    def texts(self) -> dict[str, list[str]]:
        """By name, or `Class.member`: the text of each definition."""
        return {name: [definition.text for definition in several] for name, several in self.definitions.items()}

    def members(self, name: str) -> list[str]:
        """What is defined in a class: `Class.member`."""
        return [other for other in self.definitions if other.startswith(f"{name}.")]


class Changes:
    """What a fix changes of a product's names, and of what is made of them as modules are loaded."""

    def __init__(self, files: Iterable[FilePatch], tree: Mapping[str, bytes]) -> None:
        """`files` are those of the fix; `tree` has the files of the base by path, as far as they are known."""
        self._tree = dict(tree)
        self._names: dict[str, frozenset[str]] = {}
        self.paths = frozenset[str]()
        """The files that it changes, by both of their names."""
        for file in files:
            change = change_of(file, tree.get(file.old_path or ""))
            before, after = _parsed(file.old_path, change.before), _parsed(file.new_path, change.after)
            if before is None or after is None:
                text = b"\n".join((file.raw, change.before or b"", change.after or b""))
                names = frozenset(re.findall(r"\w+", text.decode("utf-8", "replace")))
            else:
                texts = before.texts, after.texts
                names = frozenset(name for name in {**texts[0], **texts[1]} if texts[0].get(name) != texts[1].get(name))
            self._names.update(dict.fromkeys(file.paths, names))
            self.paths |= file.paths
            if change.after is not None:
                self._tree[change.path] = change.after
        self._modules: dict[str, _Module] = {}
        self._set_later: dict[str, bool] = {}
        self._changed = {name.rpartition(".")[2] for names in self._names.values() for name in names}

    def leaves(self, dotted: str, *, is_called: bool) -> bool:
        """Whether the fix leaves alone what a dotted name stands for, and what that is made of.

        A module may have the name from any other. What a class makes may hang on all of its module, and a package may
        have it from any of its modules.
        """
        *module, name = dotted.split(".")
        names = {name, *(part for part in module if part[:1].isupper())}
        module = [part for part in module if part not in names]
        if "" in module or (is_called and any(_may_have(path, module) for path in self.paths)):
            return False
        if names & self._changed or any(map(self._is_set_later, names)):
            return False
        return not self._is_changed(dotted, is_made=is_called)

    def _is_set_later(self, name: str) -> bool:
        """Whether a function, of the product or of its tests, may give a name another value, or change the value."""
        if name not in self._set_later:
            text = name.encode()
            paths = (path for path, source in self._tree.items() if path.endswith(".py") and text in source)
            self._set_later[name] = any(name in self._module(path).sets for path in paths)
        return self._set_later[name]

    @cached_property
    def _places(self) -> Mapping[tuple[str, ...], list[str]]:
        """By the last parts of its dotted name: the files that a module may be."""
        places: dict[tuple[str, ...], list[str]] = {}
        for path in self._tree:
            if path.endswith(".py"):
                parts = _parts(path)
                for start in range(len(parts)):
                    places.setdefault(parts[start:], []).append(path)
        return places

    def _module(self, path: str) -> _Module:
        if path not in self._modules:
            self._modules[path] = _parsed(path, self._tree.get(path)) or _Module()
        return self._modules[path]

    def _is_changed(self, dotted: str, *, is_made: bool) -> bool:
        """Whether a name is changed, or what it is made of; of a class what its objects are too, if it `is_made`."""
        queue = self._imported_reads(tuple(dotted.split(".")), is_made=is_made)
        visited = set(queue)
        for path, parts, makes in queue:
            made_of = self._made_of(path, parts, is_made=makes)
            if made_of is None:
                return True
            new = [step for step in dict.fromkeys(made_of) if step not in visited]
            visited.update(new)
            queue += new
        return False

    def _imported_reads(self, parts: tuple[str, ...], *, is_made: bool) -> list[_Read]:
        """What is read of modules where a name is imported from there."""
        counts = (count for count in range(len(parts) - 1, 0, -1) if parts[:count] in self._places)
        count = next(counts, 0)
        return [(path, parts[count:], is_made) for path in self._places.get(parts[:count], ())]

    def _made_of(self, path: str, parts: tuple[str, ...], *, is_made: bool) -> list[_Read] | None:
        """What a name with attributes is made of in a module, or imported as there; None where it is changed."""
        module, (name, *rest) = self._module(path), parts
        if name in module.imports:
            return self._imported_reads((*module.imports[name], *rest), is_made=is_made)
        if name not in module.definitions:
            return [read for star in module.stars for read in self._imported_reads((*star, *parts), is_made=is_made)]
        member = f"{name}.{rest[0]}" if rest else ""
        name, changed = member if member in module.definitions else name, self._names.get(path, ())
        names = {name}
        around = name.rpartition(".")[0]
        if around:
            names |= {around, *(f"{around}.{method}" for method in _MAKING)}
        elif is_made:
            names.update(module.members(name))
        if not names.isdisjoint(changed):
            return None
        is_class = any(definition.kind is ast.ClassDef for definition in module.definitions.get(name, ()))
        reads = {
            read
            for other in names
            for definition in module.definitions.get(other, ())
            if other == name or definition.kind not in _FUNCTIONS or other.rpartition(".")[2] in _MAKING
            for read in definition.reads
        }
        counts_members = around and any(read.rpartition(".")[2] == "auto" for read in reads)
        if counts_members and not set(module.members(around)).isdisjoint(changed):
            return None
        if not reads.isdisjoint(_READING) and not all(path.endswith(".py") for path in self.paths):
            return None
        makes = is_made or not is_class
        return [(path, tuple(read.split(".")), makes) for read in reads if not read.startswith(".")]


def _may_have(path: str, module: Sequence[str]) -> bool:
    """Whether a module, or a package that has its names from there, may be this file."""
    parts = PurePosixPath(path).with_suffix("").parts
    tails = (parts[start:] for start in range(len(parts)))
    return any(all(ours == theirs for ours, theirs in zip(module, tail, strict=False)) for tail in tails)


def _parts(path: str) -> tuple[str, ...]:
    """The parts of a module's name that is this file, from the root of the repository."""
    parts = PurePosixPath(path).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _parsed(path: str | None, text: bytes | None) -> _Module | None:
    """A module; one of nothing where there is no file, None where it can't be read."""
    if path is None:
        return _Module()
    tree = python_source.parsed(text) if path.endswith(".py") else None
    return _Reader(PurePosixPath(path).parts[:-1]).read(tree) if tree is not None else None


class _Reader:
    """Reads what a module does as it is loaded."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        """`folders` are those that the module is in."""
        self._folders = folders
        self._definitions: dict[str, list[_Definition]] = {}
        self._imports: dict[str, tuple[str, ...]] = {}
        self._stars: list[tuple[str, ...]] = []

    def read(self, tree: ast.Module) -> _Module:
        self._block(tree.body, "", ())
        functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
        sets = frozenset(name for function in functions for node in ast.walk(function) for name in _set_by(node))
        return _Module(definitions=self._definitions, imports=self._imports, stars=tuple(self._stars), sets=sets)

    def _block(self, body: Iterable[ast.stmt], prefix: str, around: tuple[ast.AST, ...]) -> None:
        """Read statements that stand in a class, whose name is the prefix, or in blocks `around`."""
        for statement in body:
            inner = [value for _, value in ast.iter_fields(statement) if _is_block(value)]
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self._import(statement)
            if isinstance(statement, ast.ClassDef):
                self._define([prefix + statement.name], _heads(statement), statement, around)
                self._block(statement.body, f"{prefix}{statement.name}.", around)
            elif isinstance(statement, _FUNCTIONS) or not inner:
                self._define([prefix + name for name in _bound(statement)], [statement], statement, around)
            else:
                heads = _heads(statement)
                names = {name for head in heads for node in ast.walk(head) for name in stored(node)}
                self._define([prefix + name for name in names], heads, statement, around)
                parts = [part for block in inner for part in block]
                within = [part.body for part in parts if not isinstance(part, ast.stmt)]  # handlers and cases
                heads += [head for part in parts if not isinstance(part, ast.stmt) for head in _heads(part)]
                self._block((part for part in parts if isinstance(part, ast.stmt)), prefix, (*around, *heads))
                for block in within:
                    self._block(block, prefix, (*around, *heads))

    def _define(
        self, names: Iterable[str], nodes: Sequence[ast.AST], statement: ast.stmt, around: Sequence[ast.AST]
    ) -> None:
        text = "\n".join(map(ast.dump, (*nodes, *around)))
        reads = frozenset(read for node in (*nodes, *around) for read in _reads(node))
        for name in names:
            definition = _Definition(text=text, reads=reads, kind=type(statement))
            self._definitions.setdefault(name, []).append(definition)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                top = alias.name if alias.asname else alias.name.partition(".")[0]
                self._imports[alias.asname or top] = tuple(top.split("."))
                continue
            folders = self._folders[: len(self._folders) + 1 - node.level] if node.level else ()
            module = (*folders, *(node.module.split(".") if node.module else ()))
            if alias.name == "*":
                self._stars.append(module)
            else:
                self._imports[alias.asname or alias.name] = (*module, alias.name)


def _is_block(value: object) -> bool:
    return (
        isinstance(value, list) and bool(value) and isinstance(value[0], ast.stmt | ast.excepthandler | ast.match_case)
    )


def _heads(statement: ast.AST) -> list[ast.AST]:
    """What a statement is beside the blocks in it."""
    heads: list[ast.AST] = []
    for _, value in ast.iter_fields(statement):
        parts = value if isinstance(value, list) and not _is_block(value) else [value]
        heads += [part for part in parts if isinstance(part, ast.AST)]
    return heads


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement without blocks, or a function, may give another value, or change the value of."""
    if isinstance(statement, _FUNCTIONS):
        outer = (node.names for node in ast.walk(statement) if isinstance(node, ast.Global))
        return {statement.name, *(name for names in outer for name in names)}
    if isinstance(statement, ast.Expr):  # such as `NAMES.append("c")`
        return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    targets = [target for target in getattr(statement, "targets", [getattr(statement, "target", None)]) if target]
    changed = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return changed | {name for node in ast.walk(statement) for name in stored(node)}


def _set_by(node: ast.AST) -> Iterator[str]:
    """The names, without what they are of, to which a node gives a value, or whose value it changes."""
    match node:
        case ast.Global(names=names):
            yield from names
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            yield name
        case (
            ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), ctx=ast.Store() | ast.Del())
            | ast.AugAssign(target=ast.Name(id=name) | ast.Attribute(attr=name))
        ):
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=method)) if (
            method in _CHANGING
        ):
            yield name
        case ast.Call(func=ast.Name(id=method) | ast.Attribute(attr=method), args=args) if method in _SETTING:
            texts = (argument.value for argument in args if isinstance(argument, ast.Constant))
            yield from (text.rpartition(".")[2] for text in texts if isinstance(text, str))


def _reads(node: ast.AST) -> Iterator[str]:
    """The names that a statement or expression reads, with their attributes; those of functions are their own."""
    own = set[str]()
    if isinstance(node, _FUNCTIONS):
        own = {name for inner in ast.walk(node) for name in stored(inner)}
        own |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute):
            yield f".{inner.attr}"
        chain = _chain(inner)
        if chain and chain[0] not in own:
            yield ".".join(chain)


def _chain(node: ast.AST) -> tuple[str, ...]:
    """The parts of a name with attributes; empty of anything else."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return (name,)
        case ast.Attribute(value=value, attr=attr):
            return (*inner, attr) if (inner := _chain(value)) else ()
    return ()
