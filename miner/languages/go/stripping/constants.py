"""Constants of a product in Go that a fix leaves as they are. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from posixpath import dirname, join, normpath

from tree_sitter import Node

from harness.core.syntax import bare, field_of, field_text, named, text_of, walk, words
from harness.patches.patch import FilePatch
from harness.quality.change import change_of
from miner.languages.go.stripping import scopes
from miner.languages.go.stripping.package import name_of
from miner.languages.go.stripping.scopes import Scopes, listed

_MODULE = re.compile(rb'^module\s+"?([^\s"]+)', re.MULTILINE)
_KIND = rb"(?:\biter\.Seq|\bfunc\(|\bmap\[|\bchan\b%s)"
"""What a loop may go over in another way than a list, and more such."""
_FUNCTION = rb"^func\s*(?:\([^()]*\)\s*)?(\w+)\s*(?:\[[^\n]*\]\s*)?\([^\n]*\)\s*\(?[^\n({]*" + _KIND
"""What declares a function that gives such."""
_FIELD = rb"(?:^[ \t]+|struct *\{ *)(\w+)[ \t]+\**" + _KIND
_TYPE = re.compile(rb"^(?:type)?[ \t]+(\w+)[ \t]*(?:\[\w+ [^\n]*?\][ \t]*)?=?[ \t]*" + _KIND % b"", re.MULTILINE)
_WRITTEN = words(
    "int_literal float_literal rune_literal interpreted_string_literal raw_string_literal true false unary_expression"
    " binary_expression parenthesized_expression"
)
_MOST_STEPS = 8


class Constants:
    """Constants of packages that are written out as numbers or texts, before a fix and after it alike."""

    def __init__(self, files: Iterable[FilePatch], tree: Mapping[str, bytes]) -> None:
        """`files` are those of the fix; `tree` has the files of the base by path, as far as they are known."""
        after = dict(tree)
        for file in files:
            change = change_of(file, tree.get(file.old_path or ""))
            after.pop(file.old_path or "", None)
            if file.new_path is not None:
                after[file.new_path] = change.after if change.after is not None else b"?"
        self._after = after
        self._sides = (_Side(tree), _Side(after))
        sources = (text for files in (tree, after) for path, text in files.items() if path.endswith(".go"))
        self.iterating = _iterating(list(sources))
        """Functions and methods that give an iterator, a map or a channel, and fields and types of such, by name."""

    def are_settled(self, folder: str, path: str, name: str) -> bool:
        """Whether a name is such a constant, of a package by its path, or by its folder where there is no path."""
        path = path.removeprefix(scopes.OWN)
        values = [side.value_of(side.folder_of(path) if path else folder, name) for side in self._sides]
        return values[0] is not None and values[0] == values[1]

    def is_own(self, path: str) -> bool:
        """Whether the tree itself has the package of a path."""
        return any(side.folder_of(path) is not None for side in self._sides)

    def types_of(self, packages: Collection[str], tests: Iterable[bytes]) -> set[str]:
        """The types that packages of some names declare after the fix, or in tests, but for other names of a type."""
        names: set[str] = set()
        aliases: set[str] = set()
        sources = [text for path, text in self._after.items() if path.endswith(".go")]
        for source in (*sources, *tests):
            package = name_of(source).decode()
            if package in packages:
                for node in _types_in(source):
                    (aliases if node.type == "type_alias" else names).add(f"{package}.{field_text(node, 'name')}")
        return names - aliases


def _types_in(source: bytes) -> list[Node]:
    """What declares a type in a source; nothing where it can't be read."""
    try:
        return [node for node in walk(scopes.parse(source)) if node.type in ("type_spec", "type_alias")]
    except ValueError:
        return []


class _Side:
    """A tree, before a fix or after it."""

    def __init__(self, tree: Mapping[str, bytes]) -> None:
        self._tree = tree
        self._constants: dict[str, dict[str, list[Node | None]] | None] = {}

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        """By folder: the files of its package that hold no tests."""
        folders: dict[str, list[str]] = {}
        for path in self._tree:
            if path.endswith(".go") and not path.endswith("_test.go"):
                folders.setdefault(dirname(path), []).append(path)
        return folders

    @cached_property
    def _modules(self) -> list[tuple[str, str]]:
        """Paths of modules with their folders, the longest first."""
        named_files = ((path, _MODULE.search(text)) for path, text in self._tree.items() if path.endswith("go.mod"))
        modules = [(match[1].decode(), dirname(path)) for path, match in named_files if match is not None]
        return sorted(modules, key=lambda module: -len(module[0]))

    def folder_of(self, path: str) -> str | None:
        for module, folder in self._modules:
            if path == module or path.startswith(f"{module}/"):
                return normpath(join(folder, path[len(module) + 1 :])).removeprefix(".").removeprefix("/")
        return None

    def value_of(self, folder: str | None, name: str, steps: int = 0) -> str | None:
        """How a constant is written out, with what it is made of; None where it is no such constant."""
        specs = (self._specs(folder) or {}).get(name, []) if folder is not None else []
        if len(specs) != 1 or specs[0] is None or steps > _MOST_STEPS:
            return None
        spec = specs[0]
        values = listed(field_of(spec, "value"))
        if len(values) != 1 or len(spec.children_by_field_name("name")) != 1:
            return None
        written: list[str] = [text_of(spec)]
        for node in _parts(values[0]):
            if node.type in ("identifier", "selector_expression"):
                inner = self._read(folder or "", node)
                value = self.value_of(*inner, steps + 1) if inner is not None else None
                if value is None:
                    return None
                written.append(value)
            elif node.type not in _WRITTEN:
                return None
        return "\n".join(written)

    def _read(self, folder: str, node: Node) -> tuple[str | None, str] | None:
        if node.type == "identifier":
            return (folder, text_of(node))
        root = node
        while root.parent is not None:
            root = root.parent
        package, name = text_of(field_of(node, "operand")), text_of(field_of(node, "field"))
        imports = (binding for binding in Scopes(root).bindings() if binding.kind == "import")
        path = next((binding.path for binding in imports if binding.name == package), None)
        return (self.folder_of(path), name) if path is not None else None

    def _specs(self, folder: str) -> dict[str, list[Node | None]] | None:
        """By name: what declares it in a folder, None for what is no constant; None where a file can't be read."""
        if folder not in self._constants:
            self._constants[folder] = self._declared(folder)
        return self._constants[folder]

    def _declared(self, folder: str) -> dict[str, list[Node | None]] | None:
        declared: dict[str, list[Node | None]] = {}
        for path in self._folders.get(folder, ()):
            try:
                root = scopes.parse(self._tree[path])
            except ValueError:
                return None
            for node in named(root):
                is_constant = node.type == "const_declaration"
                specs = [spec for spec in walk(node, ("block",)) if spec.type in ("const_spec", "var_spec")]
                for spec in specs:
                    for name in spec.children_by_field_name("name"):
                        declared.setdefault(text_of(name), []).append(spec if is_constant else None)
        return declared


def _iterating(sources: Sequence[bytes]) -> frozenset[str]:
    """The names that sources give to what a loop may go over in another way than a list."""
    types = {name for text in sources for name in _TYPE.findall(text)}
    more = b"".join(rb"|\b" + name + rb"\b" for name in sorted(types))
    forms = [re.compile(form % more, re.MULTILINE) for form in (_FUNCTION, _FIELD)]
    others = {name for text in sources for form in forms for name in form.findall(text)}
    return frozenset(name.decode() for name in types | others)


def _parts(node: Node) -> list[Node]:
    """An expression's operands and signs, down to names and literals."""
    node = bare(node)
    if node.type in ("unary_expression", "binary_expression"):
        return [node, *(part for child in named(node) for part in _parts(child))]
    return [node]
