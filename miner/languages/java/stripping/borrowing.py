"""Assertions of other classes in Java, copied into a test file to be taken out there. Pure.

Of a base class the methods that assert are copied: those of the class's own name go before them, as of any base class.
A class whose static methods the file calls is copied as a whole, under a name of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from tree_sitter import Node

from harness.core.syntax import Place, field_of, named, place_of, rendered, text_of, walk, words
from miner.languages.java.stripping.scopes import annotation_of, has_modifier, modifiers_of, name_of, parse

_ASSERTING = re.compile(r"\b(?:assert|fail|verify)\w*\s*\(")
_HINDERING = ("private", "abstract", "final", "native")
_OF_LIBRARIES = re.compile(
    r"assert(?:All|(?:Not)?(?:Equals|Same|Null)|(?:Array|Iterable)Equals|True|False|That|Throws\w*|InstanceOf)|fail|verify"
)
"""Methods that a file may have of others by the same names."""
_RUN = words("Test ParameterizedTest RepeatedTest TestFactory Before After BeforeClass AfterClass")
_RUN |= words("BeforeEach AfterEach BeforeAll AfterAll BeforeMethod AfterMethod DataProvider")
"""Annotations of methods that a runner calls."""
_NAMES = frozenset({"identifier", "type_identifier"})
_LANG = words("Boolean Byte Character CharSequence Class Comparable Double Enum Error Exception Float Integer Iterable")
_LANG |= words(
    "Long Math Number Object Override Runnable Short String StringBuffer StringBuilder SuppressWarnings System"
)
_LANG |= words("AssertionError Deprecated IllegalArgumentException IllegalStateException RuntimeException SafeVarargs")
_LANG |= words("StackTraceElement System Thread Throwable Void")
"""What any file may name without an import."""


def borrow(source: bytes, others: Sequence[bytes]) -> bytes:
    """A test file with what its classes have of base classes in `others`; as it is where that is nothing, or unclear.

    A method stays where it is if it reaches what the base class alone has, or its names mean other things in the file.
    """
    try:
        root = parse(source)
        bases: _Bases = {}
        for other in map(parse, others):
            bases |= {name_of(node): (other, node) for node in named(other) if node.type == "class_declaration"}
        edits = [edit for node in named(root) if node.type == "class_declaration" for edit in _edits(root, node, bases)]
    except (ValueError, RecursionError):
        return source
    for (start, end), text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source


_Bases = dict[str, tuple[Node, Node]]
"""By name: a file and a class of its top level."""


def _edits(root: Node, node: Node, bases: _Bases) -> Iterator[tuple[Place, bytes]]:
    """What one of a file's classes gets, and loses, each at its place."""
    body, own = field_of(node, "body"), {_form(method) for method in _methods(node)}
    calls = [call for call in walk(body) if text_of(field_of(call, "object")) == "super" and _form(call) not in own]
    imports, declared, seen = _imports(root), _declared(root) | _declared(body), set[str]()
    while body is not None and (base := bases.get(_base_of(node))) and name_of(base[1]) not in seen:
        file, node = base
        seen.add(name_of(node))
        for method in _methods(node):
            names = _names_in(method)
            needed = _needed(names, file, root, imports)
            if needed is None or _form(method) in own or names & declared or not _may_move(method, node, names):
                continue
            own.add(_form(method))
            yield from _imported(root, [needed[name] for name in needed.keys() - imports.keys()])
            imports |= needed
            yield (body.end_byte - 1, body.end_byte - 1), (method.text or b"") + b"\n"
            for call in calls:
                name = field_of(call, "name")
                if name is not None and _form(call) == _form(method):
                    yield (call.start_byte, name.start_byte), b""


def _needed(
    names: set[str], file: Node, root: Node, imports: Mapping[str, bytes], *, is_whole: bool = False
) -> dict[str, bytes] | None:
    """The imports by which names of a file mean the same in another that has some; None where that can't be told.

    With `is_whole` names that nothing explains are taken for those of its package.
    """
    theirs = _imports(file)
    unknown = {name for name in names - theirs.keys() - _LANG if name[:1].isupper()}
    brings = ("import static ", "import ") if unknown else ("import static ",)
    many = {name for name in theirs if name.endswith("*;") and name.startswith(brings)}
    needed = {name: text for name, text in theirs.items() if name in names | many}
    is_clear = bool(_heads(root)) and all(imports.get(name, text) == text for name, text in needed.items())
    if unknown and _package(root) != _package(file):
        whole = f"import {_package(file)}.*;"
        is_clear, needed[whole] = is_clear and is_whole, whole.encode()
    return needed if is_clear else None


def _imported(root: Node, imports: Iterable[bytes]) -> Iterator[tuple[Place, bytes]]:
    """The edits that add imports to a file."""
    last = _heads(root)[-1].end_byte
    yield from (((last, last), b" " + text) for text in imports)


def _heads(root: Node) -> list[Node]:
    return [child for child in named(root) if child.type in ("import_declaration", "package_declaration")]


def _names_in(node: Node) -> set[str]:
    """The names that a node uses, but for members of what it names."""
    members = {name.id for part in walk(node) if (name := field_of(part, "field")) is not None}
    return {text_of(part) for part in walk(node) if part.type in _NAMES and part.id not in members}


def _may_move(method: Node, base: Node, names: set[str]) -> bool:
    """Whether a method that asserts means the same in a class that extends its own."""
    body = field_of(base, "body")
    hidden = {name for member in named(body) if has_modifier(member, "private") for name in _names_of(member)}
    is_marked = any(child.type.endswith("annotation") for child in named(modifiers_of(method)))
    is_bound = field_of(base, "type_parameters") is not None or any(part.type == "super" for part in walk(method))
    is_plain = not (is_marked or is_bound or has_modifier(method, *_HINDERING) or hidden & names)
    return is_plain and bool(_ASSERTING.search(text_of(method)))


def lend(source: bytes, path: str, other: bytes, helpers: Collection[str] = ()) -> bytes:
    """A test file with a copy of a class whose static methods assert for it; as it is where that is none, or unclear.

    Methods by names in `helpers` are read where they are called. The copy has a name of its own, made of that of the
    file; nothing of it is run as a test.
    """
    try:
        root, file = parse(source), parse(other)
        lender = next(node for node in named(file) if node.type == "class_declaration")
        fresh = f"{name_of(lender)}_{hashlib.sha256(path.encode()).hexdigest()[:8]}"
        edits = _pointed(root, file, lender, fresh) if _asserts_for(root, lender, helpers) else {}
    except (ValueError, RecursionError, StopIteration):
        return source
    copy = rendered(other, *place_of(lender), _made_own(lender, fresh)) if edits else b""
    return b"\n".join(filter(None, (rendered(source, 0, len(source), edits), copy)))


def _asserts_for(root: Node, lender: Node, helpers: Collection[str]) -> bool:
    """Whether a file calls methods of a class by their names that assert, beside such helpers."""
    methods = (method for method in _methods(lender) if has_modifier(method, "static"))
    asserting = {name_of(method) for method in methods if _ASSERTING.search(text_of(field_of(method, "body")))}
    return any(node.type == "method_invocation" and name_of(node) in asserting - {*helpers} for node in walk(root))


def _pointed(root: Node, file: Node, lender: Node, fresh: str) -> dict[Place, tuple[str, ...]]:
    """The edits by which a file calls the copy of a class, and has its imports; none where it can't have it."""
    name, package, imports = name_of(lender), _package(root), _imports(root)
    own = {name} | _declared(field_of(lender, "body"))
    own |= {text_of(part) for node in walk(lender) if node.type == "type_parameter" for part in named(node)[:1]}
    needed = _needed(_names_in(lender) - own, file, root, imports, is_whole=True)
    if needed is None or not package or _is_bound(root, lender):
        return {}
    path = f"{_package(file)}.{name}"
    edits: dict[Place, tuple[str, ...]] = {
        place_of(head): (text_of(head).replace(f" {path}.", f" {package}.{fresh}."),)
        for head in _heads(root)
        if text_of(head).startswith(f"import static {path}.")
    }
    if imports.get(name) == f"import {path};".encode() or _package(file) == package:
        calls = (call for call in walk(root) if call.type == "method_invocation")
        holders = (holder for call in calls if (holder := field_of(call, "object")) is not None)
        edits |= {place_of(holder): (fresh,) for holder in holders if text_of(holder) == name}
    if not edits:
        return {}
    last = _heads(root)[-1].end_byte
    added = (f" {needed[key].decode()}" for key in sorted(needed.keys() - imports.keys()))
    return {**edits, (last, last): tuple(added)}


def _is_bound(root: Node, lender: Node) -> bool:
    """Whether a class means something else beside those of a file."""
    is_base = any(_base_of(node) == name_of(lender) for node in named(root))
    hides = any(_OF_LIBRARIES.fullmatch(name_of(method)) for method in _methods(lender))
    return is_base or hides or any(child.type in ("superclass", "type_parameters") for child in lender.children)


def _made_own(lender: Node, fresh: str) -> dict[Place, tuple[str, ...]]:
    """The edits that give a class another name, for a file that has one of its own, and take out what is run of it."""
    names = (node for node in walk(lender) if node.type in _NAMES and text_of(node) == name_of(lender))
    marks = modifiers_of(lender)
    public = (child for child in (marks.children if marks is not None else ()) if child.type == "public")
    run = (method for method in _methods(lender) if annotation_of(method, *_RUN) is not None)
    return {**{place_of(node): (fresh,) for node in names}, **{place_of(node): ("",) for node in (*public, *run)}}


def _names_of(member: Node) -> list[str]:
    return [name_of(node) for node in (member, *member.children_by_field_name("declarator"))]


def _declared(body: Node | None) -> set[str]:
    """The names of classes and fields that stand in a file or a class."""
    members = [member for member in named(body) if member.type != "method_declaration"]
    return {name for member in members for name in _names_of(member) if name}


def _methods(node: Node) -> list[Node]:
    return [member for member in named(field_of(node, "body")) if member.type == "method_declaration"]


def _form(method: Node) -> tuple[str, int]:
    """The name of a method, or of one that is called, and how many parameters it has."""
    return name_of(method), len(named(field_of(method, "parameters") or field_of(method, "arguments")))


def _base_of(node: Node) -> str:
    """The name of the class that one extends; empty where it extends none."""
    extended = next((part for part in walk(field_of(node, "superclass")) if part.type == "type_identifier"), None)
    return text_of(extended)


def _package(root: Node) -> str:
    return next((text_of(named(node)[-1]) for node in named(root) if node.type == "package_declaration"), "")


def _imports(root: Node) -> dict[str, bytes]:
    """By the name that it brings, or by its text where it brings many: each import of a file."""
    texts = [text_of(node) for node in named(root) if node.type == "import_declaration"]
    return {text if "*" in text else text.rpartition(".")[2].rstrip("; "): text.encode() for text in texts}
