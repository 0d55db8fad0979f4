"""Methods of objects that tests are given, written out where they are called if they only assert. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from harness.core.syntax import Piece, field_of, field_text, named, place_of, rendered, text_of, walk
from harness.languages.javascript.source import FUNCTIONS, SOURCES, arguments_of, parse, root_of
from miner.evidence.tree import folders_above
from miner.languages.javascript.stripping.borrowing import ASSERTS, SAME_EVERYWHERE, Module, ModuleOf
from miner.languages.javascript.stripping.scopes import Binding, Scopes, dotted, parameters
from miner.languages.stripping.source import Edits

_CONFIGURATIONS = (
    "package.json",
    *(f".mocharc.{ending}" for ending in ("js", "cjs", "json", "yml", "yaml")),
    *(f"{name}.config.{ending}" for name in ("vitest", "vite", "jest") for ending in ("js", "mjs", "cjs", "ts", "mts")),
)
_FILE = re.compile(r"""(?:^|["'\s=:])((?:\.{1,2}/)*[\w@<>/.-]+)(?=["'\s,]|$)""", re.MULTILINE)
_IMPORTED = re.compile(r"""["'](\.{1,2}/[^"'\n]+)["']""")
_GLOBAL = r"\b(?:global|globalThis|window|self)\.%s\s*="
_KINDS = frozenset({"static", "get", "set", "async", "*"})
_DOING = FUNCTIONS | {"call_expression", "new_expression", "await_expression", "yield_expression"}
"""What may do something while an argument is made."""


@dataclass(frozen=True, eq=False)
class _Method:
    """An assertion with holes: where it has `this` (-1), and its parameters by their number."""

    source: bytes
    body: Node
    holes: tuple[tuple[Node, int], ...]
    globals: frozenset[str]
    imported: frozenset[tuple[str, str, str]]
    """What it needs of packages: name, module, and what is taken of that."""

    def pieces(self, receiver: Node, arguments: list[Node]) -> Iterator[Piece]:
        at = self.body.start_byte
        for node, number in self.holes:
            yield self.source[at : node.start_byte].decode("utf-8", "replace")
            yield place_of(receiver if number < 0 else arguments[number])
            at = node.end_byte
        yield self.source[at : self.body.end_byte].decode("utf-8", "replace")


def configurations_of(test_file: str) -> Iterator[str]:
    """The files that may say what is loaded before a test file."""
    return (posixpath.join(folder, name) for folder in folders_above(test_file) for name in _CONFIGURATIONS)


def named_in(configuration: Module) -> Iterator[str]:
    """The files of code that a configuration names."""
    path, content = configuration
    for name in _FILE.findall(content.decode("utf-8", "replace")):
        if name.endswith(SOURCES):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(path), name.replace("<rootDir>/", "")))


def imported_by(source: bytes) -> list[str]:
    """What a module of tests seems to import of others, by relative names."""
    return _IMPORTED.findall(source.decode("utf-8", "replace"))


def written_out(source: bytes, path: str, loaded: Collection[Module], module: ModuleOf) -> bytes:
    """A test file in which `bench(1).gives(2)` is `expect(bench(1).run()).toBe(2)` where that is all `gives` does.

    `bench` is imported of a test module, that `module` gives as `borrow` has it, or a global that one of those sets
    which are `loaded` before.
    """
    try:
        root = parse(source, path)
    except (ValueError, RecursionError):
        return source
    names = Scopes(root)
    own = (binding for binding in names.bindings() if not (binding.module and binding.name in SAME_EVERYWHERE))
    bound = {binding.name for binding in own}
    imported = set(map(_import_of, names.bindings()))
    by_maker: dict[str, Mapping[str, _Method]] = {}
    edits: Edits = {}
    for node in walk(root):
        function = field_of(node, "function") if node.type == "call_expression" else None
        receiver, first = field_of(function, "object"), root_of(function)
        is_statement = node.parent is not None and node.parent.type == "expression_statement"
        if receiver is None or first is None or first.type != "identifier" or not is_statement:
            continue
        if text_of(first) not in by_maker:
            by_maker[text_of(first)] = _methods_of(_makers(first, names.resolve(first), path, loaded, module))
        method, arguments = by_maker[text_of(first)].get(field_text(function, "property")), arguments_of(node)
        if (
            method is None
            or len(arguments) != len(method.holes) - 1
            or method.globals & bound
            or method.imported - imported
        ):
            continue
        if not any(
            part.type in _DOING or part.type == "spread_element" for argument in arguments for part in walk(argument)
        ):
            edits[place_of(node)] = tuple(method.pieces(receiver, arguments))
    return rendered(source, 0, len(source), edits) if edits else source


def _makers(
    first: Node,
    binding: Binding | None,
    path: str,
    loaded: Collection[Module],
    module: ModuleOf,
) -> Collection[Module]:
    """The modules that may make what a chain begins with."""
    if binding is not None:
        lent = module(path, binding.module) if binding.module.startswith(".") and not binding.is_written else None
        return [lent] if lent is not None else []
    pattern = re.compile(_GLOBAL % re.escape(text_of(first)))
    return loaded if any(pattern.search(content.decode("utf-8", "replace")) for _, content in loaded) else []


def _methods_of(modules: Iterable[Module]) -> Mapping[str, _Method]:
    """By name, the methods of some modules that only assert; none of a name that several have."""
    methods: dict[str, list[_Method | None]] = {}
    for path, content in modules:
        try:
            root = parse(content, path)
        except (ValueError, RecursionError):
            continue
        names = Scopes(root)
        for node in walk(root):
            name, function = _defined(node)
            if function is not None:
                methods.setdefault(name, []).append(_asserting(function, content, names))
    return {name: only[0] for name, only in methods.items() if len(only) == 1 and only[0] is not None}


def _defined(node: Node) -> tuple[str, Node | None]:
    """The name and the function of a method, in a class or set on a prototype."""
    if node.type == "method_definition":
        return field_text(node, "name"), node
    path, _ = dotted(field_of(node, "left")) if node.type == "assignment_expression" else ([], None)
    function = field_of(node, "right")
    is_method = path[-2:-1] == ["prototype"] and function is not None and function.type == "function_expression"
    return (path[-1], function) if is_method else ("", None)


def _asserting(function: Node, source: bytes, names: Scopes) -> _Method | None:
    """A method of which an assertion is all; None of another."""
    statements = named(field_of(function, "body"))
    is_alone = len(statements) == 1 and statements[0].type == "expression_statement"
    if not is_alone or any(child.type in _KINDS for child in function.children):
        return None
    body, listed = statements[0].named_children[0], parameters(function)
    own = [names.declared_in(parameter) for parameter in listed]
    holes: list[tuple[Node, int]] = []
    unbound: set[str] = set()
    imported: set[tuple[str, str, str]] = set()
    for part in walk(body):
        binding = names.resolve(part) if part.type == "identifier" else None
        places = [place for place, bindings in enumerate(own) if binding in bindings and binding is not None]
        if part.type == "this" or places:
            holes.append((part, places[0] if places else -1))
        elif part.type == "identifier" and binding is None:
            unbound.add(text_of(part))
        elif binding is not None and binding.module and not binding.module.startswith("."):
            imported.add(_import_of(binding))
        elif binding is not None or part.type in FUNCTIONS | {"super", "await_expression", "yield_expression"}:
            return None
    is_simple = all(
        node.type in ("identifier", "required_parameter") and not field_of(node, "value") for node in listed
    )
    is_once = sorted(number for _, number in holes) == list(range(-1, len(listed)))
    if not (is_simple and is_once and ASSERTS.search(text_of(body))) or "arguments" in unbound:
        return None
    return _Method(source, body, tuple(holes), frozenset(unbound), frozenset(imported))


def _import_of(binding: Binding) -> tuple[str, str, str]:
    return binding.name, binding.module, binding.imported
