"""Assertions of other classes in Java, copied into a test file to be taken out there. Pure.

Of a base class the methods that assert are copied: those of the class's own name go before them, as of any base class.
A class whose static methods the file calls is copied as a whole, under a name of its own.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from tree_sitter import Node

from harness.core.syntax import Place, field_of, is_field, named, place_of, rendered, text_of, upward, walk, words
from miner.languages.java.stripping.scopes import annotation_of, has_modifier, modifiers_of, name_of, parse
from miner.languages.java.stripping.static import FIXED, LOOKING

_ASSERTING = re.compile(r"\b(?:assert|fail|verify)\w*\s*\(")
_HINDERING = ("private", "abstract", "final", "native")
_OF_LIBRARIES = re.compile(
    r"assert(?:All|(?:Not)?(?:Equals|Same|Null)|(?:Array|Iterable)Equals|True|False|That|Throws\w*|InstanceOf)|fail|verify"
)
"""Methods that a file may have of others by the same names."""
_RUN = words("Test ParameterizedTest RepeatedTest TestFactory Before After BeforeClass AfterClass")
_RUN |= words("BeforeEach AfterEach BeforeAll AfterAll BeforeMethod AfterMethod DataProvider")
"""Annotations of methods that a runner calls."""
_APART = tuple(f"import static {package}." for package in ("org.mockito", "org.hamcrest", "java"))
"""How imports begin of members that are called like no assertions."""
_FIXED = FIXED | words("Pattern Charset Logger Duration Class<?>")
"""Types of what is one thing at all times."""
_HOLDING = re.compile(
    r"(?:List|Set|Map|Deque|Queue|Stack|Vector|Collection|Iterator|Builder|Buffer|Adder|Accumulator|Random|Writer|Stream"
    r"|ThreadLocal|\bObject)(?:<.*)?$|\bAtomic|\["
)
"""Types of what holds other things."""
_SETTING = re.compile(
    r"(?:add|put|remove|set|clear|push|pop|poll|offer|append|increment|decrement|getAnd|compareAnd|accept|register|reset"
    r"|insert|delete|merge|compute|next|take|close|write|sort|retain|count|start|stop|begin|end)(?![a-z])"
)
"""How methods are called that change what they are of."""
_NAMES = frozenset({"identifier", "type_identifier"})
_LANG = words("Boolean Byte Character CharSequence Class Comparable Double Enum Error Exception Float Integer Iterable")
_LANG |= words(
    "Long Math Number Object Override Runnable Short String StringBuffer StringBuilder SuppressWarnings System"
)
_LANG |= words("AssertionError Deprecated IllegalArgumentException IllegalStateException RuntimeException SafeVarargs")
_LANG |= words("StackTraceElement System Thread Throwable Void")
"""What any file may name without an import."""


def borrow(source: bytes, others: Sequence[bytes], beside: Collection[str] = ()) -> bytes:
    """A test file with what its classes have of base classes in `others`; as it is where that is nothing, or unclear.

    A method stays where it is if it reaches what the base class alone has, or its names mean other things in the file.
    `beside` are the classes of the file's package.
    """
    try:
        root = parse(source)
        files = list(map(parse, dict.fromkeys(others)))
        bases = [(file, node) for file in files for node in named(file) if node.type == "class_declaration"]
        classes = (node for node in named(root) if node.type == "class_declaration")
        edits = [edit for node in classes for edit in _edits(root, node, _above(root, node, bases), beside)]
    except (ValueError, RecursionError):
        return source
    for (start, end), text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source


_Class = tuple[Node, Node]
"""A file and a class of its top level."""


def _above(root: Node, node: Node, bases: Sequence[_Class]) -> list[_Class]:
    """The classes that one of a file extends, as far as it is clear which they are, the nearest first."""
    chain: list[_Class] = []
    file = root
    while True:
        fitting = [base for base in bases if name_of(base[1]) == _base_of(node) and _sees(file, base)]
        if len(fitting) != 1 or fitting[0] in chain or fitting[0] == (root, node):
            return chain
        chain += fitting
        file, node = fitting[0]


def _sees(file: Node, base: _Class, beside: Collection[str] = ()) -> bool:
    """Whether a class is the one that its name stands for in a file of a package that has classes `beside`."""
    imports, package, name = _imports(file), _package(base[0]), name_of(base[1])
    if name in imports:
        return imports[name] == f"import {package}.{name};".encode()
    return package == _package(file) or (f"import {package}.*;" in imports and name not in beside)


def _edits(root: Node, node: Node, chain: Sequence[_Class], beside: Collection[str]) -> Iterator[tuple[Place, bytes]]:
    """What one of a file's classes gets of those above it, and loses, each at its place."""
    body, nearer = field_of(node, "body"), _methods(node)
    own = set(map(_form, nearer))
    calls = [call for call in walk(body) if text_of(field_of(call, "object")) == "super" and _form(call) not in own]
    imports, declared = _imports(root), _declared(root) | _declared(body)
    for place, (file, base) in enumerate(chain):
        above = [method for _, other in chain[place:] for method in _methods(other)]
        for method in _methods(base):
            names = _names_in(method)
            needed = _needed(names - set(map(name_of, above)), file, root, imports, beside)
            is_hidden = _form(method) in own or names & declared or _is_another(method, nearer, above)
            if body is None or needed is None or is_hidden or not _may_move(method, base, names):
                continue
            own.add(_form(method))
            yield from _imported(root, [needed[name] for name in needed.keys() - imports.keys()])
            imports |= needed
            yield (body.end_byte - 1, body.end_byte - 1), (method.text or b"") + b"\n"
            for call in calls:
                name = field_of(call, "name")
                if name is not None and _form(call) == _form(method):
                    yield (call.start_byte, name.start_byte), b""
        nearer = [*nearer, *_methods(base)]
        own |= set(map(_form, nearer))
        declared |= _declared(field_of(base, "body"))


def _is_another(method: Node, nearer: Iterable[Node], above: Iterable[Node]) -> bool:
    """Whether a method calls one by its name alone that a nearer class has, and does not override what is meant."""
    called = {name_of(call) for call in walk(method) if call.type == "method_invocation" and _is_of_this(call)}
    overridden = {_signature(other) for other in above if not has_modifier(other, "static", "private")}
    return any(
        name_of(other) in called and (has_modifier(other, "static") or _signature(other) not in overridden)
        for other in nearer
    )


def _is_of_this(call: Node) -> bool:
    return text_of(field_of(call, "object")) in ("", "this")


def _signature(method: Node) -> tuple[str, ...]:
    types = (text_of(field_of(parameter, "type")) for parameter in named(field_of(method, "parameters")))
    return name_of(method), *types


def _needed(
    names: set[str],
    file: Node,
    root: Node,
    imports: Mapping[str, bytes],
    beside: Collection[str] = (),
    *,
    is_whole: bool = False,
) -> dict[str, bytes] | None:
    """The imports by which names of a file mean the same in another that has some; None where that can't be told.

    With `is_whole` names that nothing explains are taken for those of its package. `beside` are the other's classes.
    """
    theirs, package = _imports(file), _package(file)
    unknown = {name for name in names - theirs.keys() - _LANG if name[:1].isupper()}
    brings = ("import static ", "import ") if unknown else ("import static ",)
    many = {name for name in theirs if name.endswith("*;") and name.startswith(brings)}
    needed = {name: text for name, text in theirs.items() if name in names | many}
    is_clear = bool(_heads(root)) and all(imports.get(name, text) == text for name, text in needed.items())
    is_clear &= not _are_mixed(imports, needed)
    is_clear &= all(
        _is_among(imports[name].decode(), package, theirs) for name in names & imports.keys() - theirs.keys()
    )
    if _package(root) != package:
        own = set() if f"import {_package(root)}.*;" in theirs else set(beside)
        is_clear &= not (names - theirs.keys()) & (own | _declared(root))
        if unknown:
            whole = f"import {package}.*;"
            is_clear, needed[whole] = is_clear and is_whole, whole.encode()
    return needed if is_clear else None


def _is_among(text: str, package: str, imports: Collection[str]) -> bool:
    """Whether an import of one name brings what another file has of a whole package or class."""
    whole = f"{text.rpartition('.')[0]}.*;"
    return whole in imports or whole == f"import {package}.*;"


def _are_mixed(imports: Collection[str], others: Collection[str]) -> bool:
    """Whether each of two files has all members of a class that the other lacks: a name may be one of either then."""
    sides = [
        {name for name in side if name.startswith("import static ") and name.endswith("*;")}
        for side in (imports, others)
    ]
    only = [
        {name for name in side if not name.startswith(_APART)} for side in (sides[0] - sides[1], sides[1] - sides[0])
    ]
    return all(only)


def _imported(root: Node, imports: Iterable[bytes]) -> Iterator[tuple[Place, bytes]]:
    """The edits that add imports to a file."""
    last = _heads(root)[-1].end_byte
    yield from (((last, last), b" " + text) for text in imports)


def _heads(root: Node) -> list[Node]:
    return [child for child in named(root) if child.type in ("import_declaration", "package_declaration")]


def _names_in(node: Node) -> set[str]:
    """The names that a node uses, but for members of what it names."""
    members = {name.id for part in walk(node) if (name := field_of(part, "field")) is not None}
    calls = (part for part in walk(node) if part.type == "method_invocation" and not _is_of_this(part))
    members |= {name.id for call in calls if (name := field_of(call, "name")) is not None}
    return {text_of(part) for part in walk(node) if part.type in _NAMES and part.id not in members}


def _may_move(method: Node, base: Node, names: set[str]) -> bool:
    """Whether a method that asserts means the same in a class that extends its own."""
    body = field_of(base, "body")
    hidden = {name for member in named(body) if has_modifier(member, "private") for name in _names_of(member)}
    is_marked = any(child.type.endswith("annotation") for child in named(modifiers_of(method)))
    is_bound = field_of(base, "type_parameters") is not None or any(part.type == "super" for part in walk(method))
    is_plain = not (is_marked or is_bound or has_modifier(method, *_HINDERING) or hidden & names)
    return is_plain and bool(_ASSERTING.search(text_of(method)))


def lend(source: bytes, path: str, other: bytes, helpers: Collection[str] = (), beside: Collection[str] = ()) -> bytes:
    """A test file with a copy of a class whose static methods assert for it; as it is where that is none, or unclear.

    Methods by names in `helpers` are read where they are called. The copy has a name of its own, made of that of the
    file; nothing of it is run as a test. `beside` are the classes of the file's package.
    """
    try:
        root, file = parse(source), parse(other)
        lender = next(node for node in named(file) if node.type == "class_declaration")
        fresh = f"{name_of(lender)}_{hashlib.sha256(path.encode()).hexdigest()[:8]}"
        edits = _pointed(root, file, lender, fresh, beside) if _asserts_for(root, lender, helpers) else {}
    except (ValueError, RecursionError, StopIteration):
        return source
    copy = rendered(other, *place_of(lender), _made_own(lender, fresh)) if edits else b""
    return b"\n".join(filter(None, (rendered(source, 0, len(source), edits), copy)))


def _asserts_for(root: Node, lender: Node, helpers: Collection[str]) -> bool:
    """Whether a file calls methods of a class by their names that assert, beside such helpers."""
    methods = (method for method in _methods(lender) if has_modifier(method, "static"))
    asserting = {name_of(method) for method in methods if _ASSERTING.search(text_of(field_of(method, "body")))}
    return any(node.type == "method_invocation" and name_of(node) in asserting - {*helpers} for node in walk(root))


def _pointed(root: Node, file: Node, lender: Node, fresh: str, beside: Collection[str]) -> dict[Place, tuple[str, ...]]:
    """The edits by which a file calls the copy of a class, and has its imports; none where it can't have it."""
    name, package, imports = name_of(lender), _package(root), _imports(root)
    own = {name} | _declared(field_of(lender, "body")) | set(map(name_of, _methods(lender)))
    own |= {text_of(part) for node in walk(lender) if node.type == "type_parameter" for part in named(node)[:1]}
    path = f"{_package(file)}.{name}"
    others = {key: text for key, text in imports.items() if key != f"import static {path}.*;"}
    needed = _needed(_names_in(lender) - own, file, root, others, beside, is_whole=True)
    is_apart = package != _package(file) and "getResource" in text_of(lender)
    if needed is None or not package or is_apart or _is_bound(root, file, lender):
        return {}
    edits: dict[Place, tuple[str, ...]] = {
        place_of(head): (text_of(head).replace(f" {path}.", f" {package}.{fresh}."),)
        for head in _heads(root)
        if text_of(head).startswith(f"import static {path}.")
    }
    edits |= {place_of(holder): (fresh,) for holder in _holders(root, name) if _sees(root, (file, lender), beside)}
    if not edits:
        return {}
    last = _heads(root)[-1].end_byte
    added = (f" {needed[key].decode()}" for key in sorted(needed.keys() - imports.keys()))
    return {**edits, (last, last): tuple(added)}


def _holders(root: Node, name: str) -> list[Node]:
    """Where methods are called of a class by its name."""
    calls = (call for call in walk(root) if call.type == "method_invocation")
    holders = (holder for call in calls if (holder := field_of(call, "object")) is not None)
    return [holder for holder in holders if text_of(holder) == name]


def _is_bound(root: Node, file: Node, lender: Node) -> bool:
    """Whether a class means something else beside those of a file, which may name more of it, or what others set."""
    name, holders = name_of(lender), {holder.id for holder in _holders(root, name_of(lender))}
    body = (node for part in named(root) if part.type != "import_declaration" for node in walk(part))
    is_named = any(node.type in _NAMES and text_of(node) == name and node.id not in holders for node in body)
    is_named |= any(text_of(head).startswith(f"import {_package(file)}.{name}.") for head in _heads(root))
    hides = any(_OF_LIBRARIES.fullmatch(name_of(method)) for method in _methods(lender))
    is_general = any(child.type in ("superclass", "type_parameters") for child in lender.children)
    return is_named or hides or is_general or _has_state(lender)


def _has_state(lender: Node) -> bool:
    """Whether a class keeps what may be another thing later, or for another class: its copy would not share it."""
    fields = [node for node in walk(lender) if node.type == "field_declaration"]
    shared = [node for node in fields if has_modifier(node, "static")]
    return any(not _is_kept(node, name, lender) for node in shared for name in _names_of(node)[1:])


def _is_kept(field: Node, name: str, lender: Node) -> bool:
    """Whether a static field is the same at all times, and for all that can name it."""
    kind = text_of(field_of(field, "type"))
    if not has_modifier(field, "final"):
        return False
    if kind in _FIXED:
        return True
    around = itertools.takewhile(lambda at: at != lender, upward(field))
    is_private = any(has_modifier(at, "private") for at in around)
    uses = (node for node in walk(lender) if node.type == "identifier" and text_of(node) == name)
    return is_private and all(_only_asks(use, is_open=_HOLDING.search(kind) is not None) for use in uses)


def _only_asks(use: Node, *, is_open: bool) -> bool:
    """Whether a use of what does not change by itself leaves it as it is; with `is_open` it does if it is looked at."""
    around = use.parent
    if around is None or is_field(around, "name", use):
        return True
    if around.type == "method_invocation" and is_field(around, "object", use):
        return name_of(around) in LOOKING if is_open else not _SETTING.match(name_of(around))
    return not is_open or around.type in ("enhanced_for_statement", "binary_expression")


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
