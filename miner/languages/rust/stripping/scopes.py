"""What names of a Rust file are bound to, and where they are used. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import tree_sitter_rust
from tree_sitter import Node

from harness.core import syntax
from harness.core.syntax import (
    COMMENTS,
    covers,
    field_of,
    field_text,
    named,
    place_of,
    text_of,
    upward,
    walk,
    words,
)
from harness.languages.rust.inside import inline
from miner.languages.stripping import scopes as stripping

ASSERTIONS = ("assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne")
MATCHING = ("matches", "assert_matches", "debug_assert_matches")
"""Macros of a value and a pattern."""
SNAPSHOTS = {
    **dict.fromkeys(("assert_snapshot", "assert_display_snapshot"), "{}"),
    "assert_debug_snapshot": "{:#?}",
    "assert_compact_debug_snapshot": "{:?}",
}
"""Macros that compare the text of a value with one that is kept, each with how that text is made."""
_LIBRARIES = ("std", "core", "alloc", "pretty_assertions", "similar_asserts", "assert_matches", "matches", "insta")
"""Crates whose macros of these names compare alike."""
_HANDING_ON = "tRY"
"""The macro `try`, as it is read."""
_KNOWN = frozenset({*ASSERTIONS, *MATCHING, *SNAPSHOTS, "format", "concat", "vec", _HANDING_ON})
_OPENED = re.compile(rf"(?:(?:::)?(?:{'|'.join(_LIBRARIES)})::)?(?:assert_matches::)?({'|'.join(_KNOWN - {'vec'})})")
_SEPARATORS = {"=>": b", ", ";": b",", ":": b","}
_MARKS = {"@": b" "}
"""What stands before a snapshot."""
_VEC = re.compile(r"(?:(?:::)?(?:std|alloc)::)?vec")
TEXTS = frozenset({"string_literal", "raw_string_literal"})
CAPTURED = re.compile(r"(?<!\{)(?:\{\{)*\{([a-z_]\w*)[:}]")
"""In a text: a name that it shows."""
_IMPORTED = re.compile(r"\w+(?=\s*(?:[,}]|$))")
"""Of the path of an import: what it ends in."""
_TYPES = words("struct_item enum_item type_item trait_item")
_PATHS = words("scoped_identifier macro_invocation function_item")
"""In which a name is none of a variable."""
_LEAVING = re.compile(r"\b(?:continue|break|return)\b")
_OWN_CRATE = words("super self crate")
_INSIDE = words("each parameter other")
"""Kinds of names that are declared inside of the scope that they are seen in."""
_SEEN_BEFORE = _INSIDE | {"constant"}


_read = syntax.reader(tree_sitter_rust.language())
_read_parts = syntax.reader(tree_sitter_rust.language(), lambda _error: True)
_MISTAKEN = re.compile(r"\b(?:str|try)(?=!\s*[\[({])")
"""Macros that the grammar takes for a type (snapbox's `str![[…]]`) or a keyword (`try!(f())`, before `?`)."""


_UNKNOWN_PLACE = re.compile(
    r"#\[cfg\([^\]\n]*\)\](?=\s*(?:(?:ref|mut)\s+)*\w+\s*[,}])|#\[(?:future(?:\(awt\))?|notrace|by_ref|ignore)\]"
    r"|#\[(?:rustfmt::skip|(?:allow|expect)\([^\]\n]*\))\]|~"
)
"""Attributes where the grammar knows none or one alone: of a pattern's fields, of rstest's parameters, of what is set.
And a sign."""


def parse(source: bytes) -> Node:
    """The syntax tree of a file; see `syntax.reader`. Attributes that the grammar has no place for are not there.

    A tilde, which macros alone are given, is another sign.
    """
    source = _by_other_names(source)
    try:
        return _read(source)
    except ValueError:
        text = bytearray(source)
        for match in _UNKNOWN_PLACE.finditer(inline.without_words(source.decode("latin-1"))):
            text[match.start() : match.end()] = b"^" if match[0] == "~" else b" " * len(match[0])
        if bytes(text) == source:
            raise
        return _read(bytes(text))


def parse_parts(source: bytes) -> Node:
    """The syntax tree of what a file of code has of tests, where a macro that is left out may be around some."""
    return _read_parts(_by_other_names(source))


def _by_other_names(source: bytes) -> bytes:
    text, letters = bytearray(source), source.decode("latin-1")
    if _MISTAKEN.search(letters):
        for macro in _MISTAKEN.finditer(inline.without_words(letters)):
            text[macro.start() + 1 : macro.end()] = macro[0][1:].upper().encode()
    return bytes(text)


def opened(source: bytes) -> tuple[bytes, Node]:
    """A source whose macros that take expressions are calls, `assert_eq_(…)`, each byte in its place, and its tree.

    `vec![…]` is an array there, what the file's own macros are given are arguments, of a value and a pattern the value
    alone is there, and a snapshot is a text behind it. What a file gives one of the known names itself stays as it is.

    Raises:
        ValueError: the grammar does not read it.

    """
    root = parse(source)
    own = {field_text(node, "name") for node in walk(root) if node.type == "macro_definition"}
    own |= {*_imported_macros(root), *(SNAPSHOTS.keys() - _imported_snapshots(root))}
    while True:
        text = bytearray(source)
        for node in walk(root, ("macro_definition",)):
            if node.type == "macro_invocation":
                _open(text, node, own - _KNOWN, own)
        if bytes(text) == source:
            return source, root
        source = bytes(text)
        root = parse(source)


def _imported_macros(root: Node) -> Iterator[str]:
    """Names of macros that are those of another crate than the known ones."""
    for node in walk(root):
        if node.type == "use_declaration":
            path = field_text(node, "argument")
            if path.lstrip(":").partition("::")[0] not in _LIBRARIES:
                yield from _IMPORTED.findall(path)
            yield from (name for name in re.findall(r"\bas\s+(\w+)", path))


def _imported_snapshots(root: Node) -> set[str]:
    """Names of macros that are insta's: others may be called so that compare something else."""
    names: set[str] = set()
    for node in walk(root):
        path = field_text(node, "argument").lstrip(":") if node.type == "use_declaration" else ""
        if path.startswith("insta::"):
            names |= SNAPSHOTS.keys() if "*" in path else set(_IMPORTED.findall(path))
    return names


def _open(text: bytearray, node: Node, calls: set[str], own: set[str]) -> None:
    macro = field_of(node, "macro")
    trees = [child for child in node.children if child.type == "token_tree"]
    if macro is None or len(trees) != 1 or (node.parent is not None and node.parent.type == "declaration_list"):
        return  # among the items of a module stands no call
    name, start, end = text_of(macro), macro.start_byte, trees[0].start_byte
    mark = text.index(b"!", macro.end_byte, end)
    copied = bytearray(text[start : trees[0].end_byte])
    match = _OPENED.fullmatch(name)
    if _VEC.fullmatch(name) and (name != "vec" or name not in own) and copied[end - start : end - start + 1] == b"[":
        copied[: end - start] = b" " * (end - start)
    elif copied[end - start : end - start + 1] == b"(" and (
        name in calls or (match is not None and (match[1] not in own or "insta::" in name))
    ):
        copied[macro.end_byte - start : end - start] = b"_" + b" " * (end - macro.end_byte - 1)
        if mark - macro.end_byte > 0:
            return
        if match is not None and match[1] in MATCHING:
            comma = next((part.start_byte for part in trees[0].children if part.type == ","), trees[0].end_byte - 1)
            behind = slice(comma - start, len(copied) - 1)
            copied[behind] = bytes(byte if byte == ord("\n") else ord(" ") for byte in copied[behind])
        marks = _SEPARATORS if name in calls else _MARKS
        for part in trees[0].children:
            if part.type in marks:
                copied[part.start_byte - start : part.end_byte - start] = marks[part.type]
    else:
        return
    try:
        parse(b"fn f() { let _ = " + bytes(copied) + b"; }")
    except ValueError:
        return
    text[start : trees[0].end_byte] = copied


def macro_of(call: Node) -> str:
    """The macro that a call of an opened source is one of, without its path; empty for a function."""
    name = field_text(call, "function") if call.type == "call_expression" else ""
    return name.rpartition("::")[2].removesuffix("_") if name.endswith("_") else ""


def hands_on(node: Node) -> bool:
    """Whether it leaves a function where what it is given is an error."""
    return node.type == "try_expression" or macro_of(node) == "try"


def _is_macro(node: Node) -> bool:
    return node.type == "macro_invocation" or macro_of(node) != ""


def functions_around(node: Node) -> list[Node]:
    """The functions that a node is in or is, the innermost first."""
    return [at for at in upward(node) if at.type == "function_item"]


def modules_around(node: Node) -> list[str]:
    """The names of the modules of the file that a node is in, the outermost first."""
    return [field_text(at, "name") for at in upward(node.parent) if at.type == "mod_item"][::-1]


def function_of(node: Node) -> tuple[str, ...]:
    """The names of the outermost function that a node is in, and of the modules around it; empty in none."""
    functions = functions_around(node)
    return (*modules_around(functions[-1]), field_text(functions[-1], "name")) if functions else ()


def attributes_of(item: Node) -> list[Node]:
    """The attributes in front of an item."""
    attributes: list[Node] = []
    before = item.prev_sibling
    while before is not None and (before.type == "attribute_item" or before.type in COMMENTS):
        attributes += [before] if before.type == "attribute_item" else []
        before = before.prev_sibling
    return attributes


@dataclass(eq=False)
class Binding(stripping.Binding):
    """A name in one scope: a `local`, `constant`, `parameter`, `each` (of a loop over something) or `other`."""

    steps: tuple[int, ...] = ()
    """Of `each`: which part of a row it is."""
    shown: list[Node] = field(default_factory=list)
    """The texts that show it (`{name}`), where they are a macro's."""


class Scopes(stripping.Scopes[Binding]):
    """The bindings of one file, each with its uses; its imports and functions."""

    opening = words(
        "source_file block declaration_list function_item closure_expression for_expression match_arm if_expression"
        " while_expression"
    )

    def __init__(self, root: Node) -> None:
        self.imports: dict[str, str] = {}
        """By the last name: the path of what is imported alone; empty where the file imports several of that name."""
        self._crates: dict[str, set[str]] = {}
        """By the last name: how the paths begin that it is imported by."""
        self.mentions: Counter[str] = Counter()
        """How often a name stands anywhere, but for imports that do not give it another."""
        self.types: set[str] = set()
        """Of the file itself."""
        macros = [node for node in walk(root) if node.type == "macro_definition"]
        self.leaving = {field_text(node, "name") for node in macros if _LEAVING.search(text_of(node))}
        """Macros of the file that may leave a turn of a loop, or the function, that they are called in."""
        modules = [node for node in walk(root) if node.type == "mod_item"]
        self.modules = {field_text(node, "name") for node in modules}
        self.has_modules = any(field_of(node, "body") is None for node in modules)
        """Whether other files hold modules of this one, which see all that is in it."""
        super().__init__(root)
        for text in (node for node in walk(root) if node.type in TEXTS):
            names = CAPTURED.findall(text_of(text))
            if names and any(map(_is_macro, upward(text))):
                for binding in filter(None, (self.seen(name, text) for name in names)):
                    binding.shown.append(text)

    def _seen_from(self, node: Node) -> Binding | None:
        is_path = node.parent is not None and node.parent.type in _PATHS
        return None if is_path else super()._seen_from(node)

    def _is_seen(self, binding: Binding, scope: Node, node: Node) -> bool:
        return binding.kind in _SEEN_BEFORE or binding.statement.end_byte <= node.start_byte

    def parameters(self, function: Node) -> list[Binding | None]:
        """Those of a function, in order; None for one without a plain name."""
        patterns = (field_of(parameter, "pattern") for parameter in named(field_of(function, "parameters")))
        return [self._declared.get(pattern.id) if pattern is not None else None for pattern in patterns]

    def _name(self, statement: Node, name: Node, kind: str, init: Node | None, steps: tuple[int, ...] = ()) -> None:
        if text_of(name) == "_":
            return
        around = name.parent or name
        is_mutable = any(child.type == "mutable_specifier" for child in (*statement.children, *around.children))
        binding = Binding(text_of(name), kind, name, statement, init=init, steps=steps, is_written=is_mutable)
        self._bind(statement if kind in _INSIDE else statement.parent, binding)

    def _declare(self, node: Node) -> None:
        pattern, value = (field_of(node, word) for word in ("pattern", "value"))
        match node.type:
            case "let_declaration":
                for name, init, _ in parts_of(pattern, value):
                    self._name(node, name, "local", init)
            case "for_expression":
                for name, _, steps in parts_of(pattern, None):
                    self._name(node, name, "each" if steps is not None else "other", value, steps or ())
            case "const_item" | "static_item":
                for name in node.children_by_field_name("name"):
                    self._name(node, name, "constant", value)
            case "parameter":
                is_plain = pattern is not None and pattern.type == "identifier"
                for name, _, _ in parts_of(pattern, None):
                    self._name(node, name, "parameter" if is_plain else "other", None)
            case "match_pattern" | "let_condition" | "closure_parameters":
                self._declare_others(node, value)
        self._declare_item(node)

    def function_called(self, call: Node) -> Node | None:
        """The file's own function that a call by a name alone is one of, as far as it tells."""
        name = _name_called(call)
        is_own = self.of_name(name) is None and not self.is_of_others(text_of(name))
        functions = self.functions.get(text_of(name), []) if is_own else []
        for at in upward(call):
            is_of_type = at.parent is not None and at.parent.type in ("impl_item", "trait_item")
            seen = [] if is_of_type else [function for function in functions if function.parent == at]
            if seen:
                return seen[0] if len(seen) == 1 else None
            if at.parent is not None and at.parent.type == "mod_item":
                break
        return functions[0] if len(functions) == 1 else None  # by an import

    def is_of_others(self, name: str) -> bool:
        """Whether a name is imported somewhere in the file from another crate than its own."""
        return not self._crates.get(name, set()) <= _OWN_CRATE | self.modules

    def is_called_alone(self, name: str) -> bool:
        """Whether all that a file does with its function of a name is to call it by that name."""
        return self.mentions[name] == len(self.calls.get(name, ())) + len(self.functions.get(name, ()))

    def _declare_item(self, node: Node) -> None:
        name_node = field_of(node, "name")
        if node.type == "call_expression":
            function = _name_called(node)
            if function is not None:
                self.calls.setdefault(text_of(function), []).append(node)
        elif node.type == "function_item":
            self.functions.setdefault(text_of(name_node), []).append(node)
        elif node.type in _TYPES:
            self.types.add(text_of(name_node))
        elif node.type == "identifier":
            self.mentions[text_of(node)] += 1
        elif node.type == "use_declaration":
            self._import(field_of(node, "argument"), "")
            if not re.search(r"\bas\b", text_of(node)):
                self.mentions.subtract(text_of(part) for part in walk(node) if part.type == "identifier")

    def _declare_others(self, node: Node, value: Node | None) -> None:
        """Names of patterns that hold for what is looked at there."""
        for name in walk(node):
            is_name = name.type == "identifier" and not text_of(name)[:1].isupper()
            if (
                is_name
                and name.id not in self._declared
                and not (value is not None and covers(place_of(value), place_of(name)))
            ):
                self._name(node, name, "other", None)

    def _import(self, node: Node | None, head: str) -> None:
        if node is None:
            return
        if node.type in ("scoped_use_list", "use_list"):
            path = field_text(node, "path")
            inner = field_of(node, "list") if node.type == "scoped_use_list" else node
            for child in named(inner):
                self._import(child, "::".join(filter(None, (head, path))))
        elif node.type == "use_as_clause":
            path = field_text(node, "path")
            self._imported(field_text(node, "alias"), "::".join(filter(None, (head, path))))
        elif node.type in ("identifier", "scoped_identifier", "self"):
            path = "::".join(filter(None, (head, text_of(node) if node.type != "self" else "")))
            self._imported(path.rpartition("::")[2], path)

    def _imported(self, name: str, path: str) -> None:
        self._crates.setdefault(name, set()).add(path.lstrip(":").partition("::")[0])
        self.imports[name] = path if self.imports.get(name, path) == path else ""


def _name_called(call: Node) -> Node | None:
    """The name alone that a call calls; None of a path or anything else."""
    function = field_of(call, "function")
    if function is not None and function.type == "generic_function":
        function = field_of(function, "function")
    return function if function is not None and function.type == "identifier" else None


def parts_of(pattern: Node | None, value: Node | None) -> Iterator[tuple[Node, Node | None, tuple[int, ...] | None]]:
    """The names of a pattern, each with the part of a value that it is, and the steps there through tuples.

    The steps are None where a name is another part of it.
    """
    rest: list[tuple[Node | None, Node | None, tuple[int, ...] | None]] = [(pattern, value, ())]
    while rest:
        at, part, steps = rest.pop()
        if at is None:
            continue
        if at.type == "identifier":
            yield at, part, steps
        elif at.type in ("reference_pattern", "mut_pattern", "ref_pattern"):
            inner = [child for child in named(at) if child.type != "mutable_specifier"]
            rest.extend((child, part, steps) for child in inner)
        elif at.type == "tuple_pattern":
            values = named(part) if part is not None and part.type == "tuple_expression" else []
            children = [child for child in at.children if child.is_named or child.type == "_"]
            for place, child in enumerate(children):
                own = values[place] if len(values) == len(children) else None
                rest.append((child, own, None if steps is None else (*steps, place)))
        else:
            rest.extend((child, None, None) for child in named(at) if not text_of(child)[:1].isupper())
