"""What tests borrow of other test files, copied into the file that uses it: functions that assert, tables. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from tree_sitter import Node

from harness.core.syntax import (
    callee_of,
    covers,
    field_of,
    field_text,
    named,
    place_of,
    rendered,
    text_of,
    walk,
)
from harness.languages.javascript.source import FUNCTIONS, parse, property_of
from miner.languages.javascript.stripping.scopes import Binding, Scopes, dotted
from miner.languages.javascript.stripping.static import Statics
from miner.languages.stripping.source import Edits

Module = tuple[str, bytes]
"""A file's path and what it holds."""
ModuleOf = Callable[[str, str], Module | None]
"""Gives a module of tests by the path of a file and the name under which that imports it."""
ASSERTS = re.compile(
    r"\bexpect\s*\(|\bassert\b|\bshould\b|\.(?:equal|strictEqual|deepEqual|same|is|ok|notOk|match|throws|rejects)\("
)
_THROWS = re.compile(r"\bif\b.*?\bthrow new \w*Error\b", re.DOTALL)
_PLACED = frozenset({"this", "super", "meta_property", "import"})
_OF_PLACE = frozenset({"__dirname", "__filename", "require", "module", "exports", "arguments", "eval"})
"""By what a function can tell where it stands."""
SAME_EVERYWHERE = frozenset({"expect", "describe", "it", "test"})
"""Names that a test file may import and a helper take from the runner's globals."""
_MOST_DEEP = 2
_MOST = 40
"""Functions and values that are copied of one module."""


class _RefusedError(Exception):
    """Something can't be copied as it is."""


def borrow(source: bytes, path: str, module: ModuleOf, depth: int = 0) -> bytes:
    """A test file with what it imports of these copied in; as it is where there is nothing.

    What they need is copied along where it is a function or a plain value, else imported. `module` gives a test module
    by the name under which a file imports it: first that file's path, then the name.
    """
    try:
        root = parse(source, path)
    except (ValueError, RecursionError):
        return source
    names = Scopes(root)
    occupied = {binding.name for binding in names.bindings()}
    edits: Edits = {}
    written: dict[str, None] = {}
    """The lines that are new; what several helpers need is there once."""
    for statement in root.named_children:
        bound = [binding for binding in names.declared_in(statement) if binding.module.startswith(".") and binding.uses]
        lent = module(path, bound[0].module) if bound and len({binding.module for binding in bound}) == 1 else None
        if lent is None:
            continue
        other_path, other = lent
        other = borrow(other, other_path, module, depth + 1) if depth < _MOST_DEEP else other
        lender = _Lender(other, other_path, path, bound[0].module, written)
        copied: dict[str, Binding] = {}
        lines: dict[str, None] = {}
        for binding in bound:
            try:
                fresh = lender.copied(binding, names, occupied)
            except _RefusedError:
                of_members, uses = _of_members(binding, lender, names, occupied)
                end = statement.end_byte
                if uses:
                    written |= of_members
                    edits |= {**uses, (end, end): ("\n", *(f"{line}\n" for line in of_members))}
                continue
            copied[binding.name] = binding
            lines |= fresh
        shortened = _without(statement, copied, bound[0].module) if copied else None
        if shortened is not None:
            written |= lines
            edits[place_of(statement)] = (shortened, *(f"\n{line}" for line in lines), "\n")
        occupied |= lender.brought
    return rendered(source, 0, len(source), edits) if edits else source


def _of_members(binding: Binding, lender: _Lender, names: Scopes, occupied: set[str]) -> tuple[dict[str, None], Edits]:
    """The lines for what is called as `module.name(…)`, and the names by which it is called then."""
    lines: dict[str, None] = {}
    edits: Edits = {}
    called = [use.parent for use in binding.uses if use.parent is not None and _is_called_of(use)]
    for member in dict.fromkeys(map(property_of, called)) if binding.imported == "*" else ():
        alias = replace(binding, name=f"{member}_of_{binding.name}", imported=member)
        try:
            fresh = lender.copied(alias, names, occupied)
        except _RefusedError:
            continue
        if alias.name not in occupied:
            lines |= fresh
            edits |= {place_of(node): (alias.name,) for node in called if property_of(node) == member}
    return lines, edits


def _is_called_of(use: Node) -> bool:
    """Whether a name is used as `name.member(…)`."""
    member = use.parent
    return member is not None and member.type == "member_expression" and callee_of(member.parent) == member


class _Lender:
    """One module of tests that others import from."""

    def __init__(self, source: bytes, path: str, borrower: str, known_as: str, written: Collection[str]) -> None:
        self._path, self._borrower, self._known_as, self._written = path, borrower, known_as, written
        self.brought: set[str] = set()
        """The names that are new in the other file."""
        self._source, self._renamed = source, dict[str, str]()
        self._bindings: dict[str, Binding] = {}
        self._exported: dict[str, str] = {}
        """The names by which others import what the module calls so, by that name."""
        self._anonymous: Node | None = None
        try:
            self._root = parse(source, path)
        except (ValueError, RecursionError):
            return
        self._names = Scopes(self._root)
        self._statics = Statics(self._names, frozenset())
        for statement in self._root.named_children:
            inner = field_of(statement, "declaration") if statement.type == "export_statement" else statement
            for binding in self._names.declared_in(inner) if inner is not None else ():
                if self._names.resolve(binding.declared) is binding:
                    self._bindings.setdefault(binding.name, binding)
            self._exports(statement)

    def copied(self, importing: Binding, names: Scopes, occupied: Iterable[str]) -> dict[str, None]:
        """The lines that stand for what another file imports, in the order in which they have to stand.

        Raises:
            _RefusedError: it is no function that asserts, or can't be moved.

        """
        if not self._bindings and self._anonymous is None:
            raise _RefusedError
        own = self._exported.get(importing.imported, "")
        if importing.imported in ("default", "*") and self._anonymous is not None and not own:
            root, name = self._anonymous, ""
        else:
            binding = self._bindings.get(own)
            if (
                binding is None
                or binding.init is None
                or not (binding.init.type in FUNCTIONS or _is_table(binding.init))
            ):
                raise _RefusedError
            root, name = binding.init, own if binding.init.type in FUNCTIONS else ""
        needed: dict[str, Binding] = {}
        self._need(root, needed)
        parts = [root, *(binding.init for binding in needed.values() if binding.init is not None)]
        if not (_is_table(root) or any(map(_is_asserting, parts))):
            raise _RefusedError
        others = set(occupied) - {importing.name}
        if self._globals(root, needed) & (others - SAME_EVERYWHERE):
            raise _RefusedError
        lines: dict[str, None] = {}
        for binding in needed.values():
            if binding.name != name:
                lines |= self._line(binding, names, others)
        if not name:
            lines[f"const {importing.name} = {self._text(root)};"] = None
        else:
            lines |= self._line(self._bindings[name], names, others)
            if (own := self._renamed.get(name, name)) != importing.name:
                lines[f"const {importing.name} = {own};"] = None
        return lines

    def _globals(self, root: Node, needed: Mapping[str, Binding]) -> set[str]:
        """The names that what is copied uses and that are none of the module's."""
        moved = [
            root,
            *(binding.init for binding in needed.values() if self._is_moved(binding) and binding.init is not None),
        ]
        parts = (part for node in moved for part in walk(node) if part.type == "identifier")
        return {text_of(part) for part in parts if self._names.resolve(part) is None}

    def _text(self, node: Node) -> str:
        """The source of a function or value, with the names that what it needs has in the other file."""
        edits: Edits = {}
        for part in walk(node):
            if part.type not in ("identifier", "shorthand_property_identifier"):
                continue
            binding, name = self._names.resolve(part), text_of(part)
            if name in self._renamed and binding is self._bindings.get(name):
                fresh = self._renamed[name]
                edits[place_of(part)] = (fresh if part.type == "identifier" else f"{name}: {fresh}",)
        return rendered(self._source, node.start_byte, node.end_byte, edits).decode("utf-8", "replace")

    def _need(self, node: Node, needed: dict[str, Binding]) -> None:
        """What of the module a function uses, and what that uses; what it needs stands before it."""
        for part in walk(node):
            if part.type in _PLACED or (part.type == "identifier" and text_of(part) in _OF_PLACE):
                raise _RefusedError
            if part.type not in ("identifier", "shorthand_property_identifier"):
                continue
            binding = self._names.resolve(part)
            if binding is None or self._bindings.get(binding.name) is not binding:
                continue
            if binding.name in needed or covers(place_of(node), place_of(binding.declared)):
                continue
            if len(needed) >= _MOST:
                raise _RefusedError
            needed[binding.name] = binding
            if self._is_moved(binding) and binding.init is not None:
                self._need(binding.init, needed)
                needed[binding.name] = needed.pop(binding.name)

    def _is_moved(self, binding: Binding) -> bool:
        """Whether a name's declaration may stand in another file as well."""
        if binding.is_written or binding.init is None or not binding.is_whole or binding.module:
            return False
        is_shared = binding.name in self._exported.values()  # others may change what it holds
        return binding.init.type in FUNCTIONS or (not is_shared and self._statics.is_static_binding(binding))

    def _line(self, binding: Binding, names: Scopes, occupied: set[str]) -> dict[str, None]:
        """The line that a name needs in the other file; none where that has the same already."""
        module = self._module(binding.module)
        if binding.module:
            for present in names.bindings():
                if (present.name, present.module, present.imported) == (binding.name, module, binding.imported):
                    return {}
        name = binding.name
        line = self._declared(binding, name, module)
        if line in self._written:
            return {}
        if name in occupied and name not in self.brought:
            ways = (f"{name}_of_helper{number or ''}" for number in range(_MOST))
            name = self._renamed.setdefault(name, next((way for way in ways if way not in occupied), name))
            line = self._declared(binding, name, module)
        self.brought.add(name)
        return {line: None}

    def _declared(self, binding: Binding, name: str, module: str) -> str:
        """What makes a name in the other file what a binding is here."""
        if binding.module:
            return _import_of(binding.imported, name, module, is_esm=binding.kind == "import")
        if self._is_moved(binding) and binding.init is not None:
            text = self._text(binding.init)
            return text if binding.init.type.endswith("declaration") else f"const {name} = {text};"
        exported = {own: exported for exported, own in self._exported.items()}.get(binding.name)
        if exported is None or binding.is_written:
            raise _RefusedError
        is_esm = any(node.type in ("import_statement", "export_statement") for node in self._root.named_children)
        return _import_of(exported, name, self._known_as, is_esm=is_esm)

    def _module(self, name: str) -> str:
        """A module by the name under which the other file imports it."""
        if not name.startswith("."):
            return name
        target = posixpath.normpath(posixpath.join(posixpath.dirname(self._path), name))
        moved = posixpath.relpath(target, posixpath.dirname(self._borrower) or ".")
        moved = moved if moved.startswith("..") else f"./{moved}"
        return moved + "/" * (name.endswith("/") or name in (".", ".."))

    def _exports(self, statement: Node) -> None:
        """Learn the names that a statement exports."""
        if statement.type != "export_statement":
            self._assigns(statement)
            return
        is_default = any(child.type == "default" for child in statement.children)
        declared, value = map(statement.child_by_field_name, ("declaration", "value"))
        if declared is not None and is_default:
            self._exported["default"] = field_text(declared, "name")
        elif declared is not None:
            own = [binding.name for binding in self._names.declared_in(declared) if binding.name in self._bindings]
            self._exported |= {name: name for name in own}
        elif is_default and value is not None:
            self._whole("default", value)
        for part in walk(statement) if field_of(statement, "source") is None else ():
            if part.type == "export_specifier":
                own_name = field_text(part, "name")
                self._exported[field_text(part, "alias") or own_name] = own_name

    def _assigns(self, statement: Node) -> None:
        """The same of `module.exports = …` and `exports.name = …`."""
        set_to = statement.named_children[0] if statement.type == "expression_statement" else None
        if set_to is None or set_to.type != "assignment_expression":
            return
        value = field_of(set_to, "right")
        words, first = dotted(field_of(set_to, "left"))
        words = [text_of(first), *words]
        words = words[1:] if words[:2] == ["module", "exports"] else words
        if words[:1] != ["exports"] or value is None or len(words) > 2:  # noqa: PLR2004 - `exports` and a name
            return
        if len(words) > 1:
            self._exported[words[1]] = text_of(value)
        elif value.type == "object":
            for part in value.named_children:
                key, inner = field_of(part, "key") or part, field_of(part, "value") or part
                self._exported[text_of(key)] = text_of(inner)
        else:
            self._whole("*", value)

    def _whole(self, key: str, value: Node) -> None:
        if value.type in FUNCTIONS or _is_table(value):
            self._anonymous = value
        else:
            self._exported[key] = text_of(value)


def _is_table(value: Node) -> bool:
    """Whether a value is an array of rows that are written out."""
    rows = named(value) if value.type == "array" else []
    is_plain = not any(node.type in FUNCTIONS or node.type in _PLACED for row in rows for node in walk(row))
    return bool(rows) and is_plain and all(row.type in ("array", "object") for row in rows)


def _is_asserting(function: Node) -> bool:
    """Whether a function asserts, or does nothing but to throw where something is not as it should be."""
    text = text_of(function)
    return bool(ASSERTS.search(text) or (_THROWS.search(text) and not _returns(function)))


def _returns(function: Node) -> bool:
    """Whether it gives anything, by itself."""
    rest = list(function.named_children)
    while rest:
        node = rest.pop()
        if node.type in ("return_statement", "await_expression") and node.named_children:
            return True
        rest += node.named_children if node.type not in FUNCTIONS else ()
    return False


def _import_of(imported: str, name: str, module: str, *, is_esm: bool) -> str:
    """What imports something of a module under a name."""
    text = json.dumps(module)
    if not is_esm:
        if imported in ("*", "default"):
            return f"const {name} = require({text});"
        return f"const {{ {imported}{'' if imported == name else f': {name}'} }} = require({text});"
    if imported == "*":
        return f"import * as {name} from {text};"
    if imported == "default":
        return f"import {name} from {text};"
    return f"import {{ {imported}{'' if imported == name else f' as {name}'} }} from {text};"


def _without(statement: Node, dropped: Mapping[str, Binding], module: str) -> str | None:
    """An import without some of its names, which still loads the module; None of one in another form."""
    text = json.dumps(module)
    if statement.type == "import_statement":
        if any(child.type == "type" for child in statement.children):
            return None
        clause = next((child for child in statement.named_children if child.type == "import_clause"), statement)
        parts = [text_of(child) for child in clause.named_children if child.type in ("identifier", "namespace_import")]
        parts = [part for part in parts if part not in dropped]
        specifiers = [part for part in walk(clause) if part.type == "import_specifier"]
        local = {part: text_of(field_of(part, "alias") or field_of(part, "name")) for part in specifiers}
        listed = [text_of(part) for part in specifiers if local[part] not in dropped]
        parts += [f"{{ {', '.join(listed)} }}"] if listed else []
        return f"import {text};" + (f" import {', '.join(parts)} from {text};" if parts else "")
    if statement.type not in ("lexical_declaration", "variable_declaration"):
        return None
    declarators = [child for child in statement.named_children if child.type == "variable_declarator"]
    named_node, value = (field_of(declarators[0], key) for key in ("name", "value")) if declarators else (None,) * 2
    if named_node is None or value is None or len(declarators) != 1 or value.type != "call_expression":
        return None
    if named_node.type == "identifier":
        return f"require({text});"
    shortened = [part for part in named_node.named_children if text_of(field_of(part, "value") or part) not in dropped]
    pattern = f"{text_of(statement.children[0])} {{ {', '.join(map(text_of, shortened))} }} = require({text});"
    return pattern if shortened else f"require({text});"
