"""Functions of a Go package's other test files that fail a test, copied into the file that calls them. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from harness.core.syntax import Place, field_of, field_text, is_in, named, place_of, rendered, text_of, walk
from miner.languages.go.stripping import scopes
from miner.languages.go.stripping.package import package_of
from miner.languages.go.stripping.scopes import Binding, Scopes
from miner.languages.go.stripping.sites import TESTERS

_RUN_ALONE = re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?:[^a-z].*)?|init|main")
_CONSTRAINT = re.compile(rb"^//\s*(?:go:build|\+build)\b.*", re.MULTILINE)


def borrowed(sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The test files of one package, each with what it calls of the others; as it is where that is nothing, or unclear.

    A copy has a name of its own, made of that of the file, since all are in one package. What only compares what it is
    given is read where it is called, and is not copied.
    """
    files = {path: file for path, source in sources.items() if (file := _File.read(source)) is not None}
    lent = _lent(files.values(), checks=package_of(sources.values()).checks)
    return {path: _with_copies(path, files[path], lent) if path in files else sources[path] for path in sources}


@dataclass(frozen=True)
class _File:
    source: bytes
    root: Node
    names: Scopes
    imports: Mapping[str, Binding]
    """By name."""
    constraints: list[bytes]

    @staticmethod
    def read(source: bytes) -> _File | None:
        """None of one with code of C, or whose imports can't be told: a name that nothing uses is not theirs."""
        try:
            root = scopes.parse(source)
        except (ValueError, RecursionError):
            return None
        names = Scopes(root)
        imports = {binding.name: binding for binding in names.bindings() if binding.kind == "import"}
        is_clear = "C" not in imports and all(binding.uses or name == "_" for name, binding in imports.items())
        return _File(source, root, names, imports, _CONSTRAINT.findall(source)) if is_clear else None

    def called(self, within: Node) -> Iterator[Node]:
        """The names in a node that may be of functions of the package."""
        for node in walk(within):
            if node.type == "identifier" and not _is_key(node):
                binding = self.names.resolve(node)
                if binding is None or (binding.kind == "func" and within is not self.root):
                    yield node

    def with_names(self, within: Node, names: Collection[str], suffix: str, more: Mapping[Place, str]) -> bytes:
        """The text of a node where functions that are copied have their new names, and with more edits."""
        edits = {place_of(node): (text_of(node) + suffix,) for node in self.called(within) if text_of(node) in names}
        edits |= {place: (text,) for place, text in more.items()}
        start, end = (0, len(self.source)) if within is self.root else place_of(within)
        return rendered(self.source, start, end, edits)


@dataclass(frozen=True)
class _Lent:
    """A function that is given a test."""

    file: _File
    node: Node

    def imports(self) -> list[Binding]:
        """What it uses of its file's imports."""
        within = [place_of(self.node)]
        return [name for name in self.file.imports.values() if any(is_in(use, within) for use in name.uses)]

    def fits(self, own: _File, imports: Mapping[str, Binding]) -> bool:
        """Whether it means the same in another file, which has some imports then."""
        if self.file is own or self.file.constraints not in ([], own.constraints) or "." in self.file.imports:
            return False
        return all(imports.get(binding.name, binding).path == binding.path for binding in self.imports())


def _lent(files: Iterable[_File], checks: Collection[str]) -> dict[str, _Lent]:
    """By name: the functions of some files that are given a test, but for known ones and those of a name in two."""
    found: dict[str, list[_Lent]] = {}
    for file in files:
        for node in named(file.root):
            name = field_text(node, "name")
            if node.type == "function_declaration" and name not in checks and not _RUN_ALONE.fullmatch(name):
                found.setdefault(name, []).append(_Lent(file, node))
    return {name: same[0] for name, same in found.items() if len(same) == 1 and _is_given_a_test(same[0].node)}


def _is_given_a_test(function: Node) -> bool:
    kinds = (field_text(parameter, "type") for parameter in named(field_of(function, "parameters")))
    return any(map(TESTERS.fullmatch, kinds))


def _with_copies(path: str, own: _File, lent: Mapping[str, _Lent]) -> bytes:
    copied: dict[str, _Lent] = {}
    imports = dict(own.imports)
    rest = list(map(text_of, own.called(own.root)))
    while rest:
        name = rest.pop()
        if name in lent and name not in copied and lent[name].fits(own, imports):
            copied[name] = lent[name]
            imports |= {binding.name: binding for binding in lent[name].imports()}
            rest += map(text_of, lent[name].file.called(lent[name].node))
    if not copied:
        return own.source
    suffix = f"_{hashlib.sha256(path.encode()).hexdigest()[:8]}"
    at = next(node for node in named(own.root) if node.type == "package_clause").end_byte
    added = "".join(f"; import {text_of(imports[name].statement)}" for name in sorted(imports.keys() - own.imports))
    texts = [own.with_names(own.root, copied, suffix, {(at, at): added})]
    texts += [function.file.with_names(function.node, copied, suffix, {}) for function in copied.values()]
    return b"\n\n".join([*texts, b""])


def _is_key(node: Node) -> bool:
    """Whether a name may be that of a field in a composite literal."""
    element = node.parent
    pair = element.parent if element is not None and element.type == "literal_element" else None
    return pair is not None and pair.type == "keyed_element" and field_of(pair, "key") == element
