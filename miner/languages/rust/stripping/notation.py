"""What a test in Rust writes of the values that it expects: names, literals and types. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from tree_sitter import Node

from harness.core.syntax import arguments_of, bare, field_of, field_text, named, text_of, words
from miner.languages.rust.stripping.patterns import is_type, literal_of
from miner.languages.rust.stripping.scopes import TEXTS, Scopes, macro_of
from miner.languages.rust.stripping.static import TYPE, Statics
from miner.languages.stripping.static import MOST_DEPTH

Words = Counter[tuple[str, object]]
"""Names, numbers, texts and characters, each with its tag in the host's form."""
_OF_TEXT = words("to_string to_owned into as_str")
"""Methods that give of a text the same."""
_NUMBERS = words("u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64")
_NAMES = words("identifier scoped_identifier type_identifier scoped_type_identifier")
_FORMS = {"Some": "Option<{}>", "Ok": "Result<{},_>", "Err": "Result<_,{}>"}
_COLLECTIONS = words("HashMap BTreeMap HashSet BTreeSet VecDeque")
_MAPS, _PAIRS = words("HashMap BTreeMap"), re.compile(r"\[\(.*\)\]")
_POINTERS = words("Box Rc Arc")
_SUFFIX = {"i": re.compile(r"[iu](?:8|16|32|64|128|size)$"), "f": re.compile(r"f(?:32|64)$")}
_TAGS = {"i": "{int}", "f": "{float}", "s": "&str", "c": "char", "b": "bool"}


class Notation:
    """Tells it of the operands of one file."""

    def __init__(self, scopes: Scopes, statics: Statics) -> None:
        self._scopes, self._statics = scopes, statics

    def words(self, node: Node, depth: int = 0) -> list[Words]:
        """What each of the values that an expression may stand for has to say of itself, as far as that is written."""
        node = bare(node)
        values = self._statics.stands_for(node) if depth <= MOST_DEPTH else []
        if values != [node]:
            return [claims for value in values for claims in self.words(value, depth + 1)] or [Counter()]
        with suppress(ValueError, SyntaxError):
            return [_words_of_literal(node)]
        name, inner = self._parts(node)
        claims: Words = Counter({("n", name): 1} if name else {})
        for part in inner:
            choices = self.words(part, depth + 1)
            claims += choices[0] if len(choices) == 1 else Counter()
        return [claims]

    def _parts(self, node: Node) -> tuple[str, Sequence[Node]]:
        """The name that a value is shown by, and what else of it is shown."""
        match node.type:
            case "reference_expression":
                return "", named(node)[-1:]
            case "array_expression" | "tuple_expression" if field_of(node, "length") is None:
                return "", named(node)
            case "identifier" | "scoped_identifier":
                return self._name(node), ()
            case "struct_expression":
                fields = named(field_of(node, "body"))
                return self._name(field_of(node, "name")), [
                    field_of(part, "value") or named(part)[0] for part in fields
                ]
            case "call_expression":
                function = field_of(node, "function")
                if function is not None and field_text(function, "field") in _OF_TEXT:
                    return "", named(function)[:1]
                is_made = TYPE.fullmatch(text_of(function).rpartition("::")[2]) is not None
                return self._name(function), arguments_of(node) if is_made else ()
        return "", ()

    def _name(self, node: Node | None) -> str:
        """The name of a variant or a structure, which its `Debug` gives as well; empty of what may have another."""
        path, _, name = text_of(node).rpartition("::")
        is_other = name in self._scopes.types or not self._scopes.imports.get(name, name).endswith(name)
        is_name = node is not None and node.type in _NAMES and TYPE.fullmatch(name) is not None
        return name if is_name and not is_other and name != "Self" and path.rpartition("::")[2] != "Cow" else ""

    def kind(self, node: Node, depth: int = 0) -> str:
        """The type of an expression, as far as it is written.

        `_` stands for any, `{int}` for any of integers, and `{Color}` for what `Color::Red` is a variant of.
        """
        node = bare(node)
        if declared := self._declared(node):
            return declared
        values = self._statics.stands_for(node) if depth <= MOST_DEPTH else []
        if values != [node]:
            return self._kind_of(values, depth)
        with suppress(ValueError, SyntaxError):
            return _kind_of_literal(node)
        match node.type:
            case "type_cast_expression":
                return field_text(node, "type")
            case "reference_expression":
                return f"&{self.kind(named(node)[-1], depth + 1)}"
            case "array_expression":
                return f"[{self._kind_of(named(node), depth)}]"
            case "tuple_expression" | "unit_expression":
                return f"({','.join(self.kind(part, depth + 1) for part in named(node))})"
            case "identifier" | "scoped_identifier":
                path = field_text(node, "path")
                return path if path in _NUMBERS else "Option<_>" if text_of(node) == "None" else self._owner(node)
        return self._kind_of_call(node, depth)

    def _kind_of_call(self, node: Node, depth: int) -> str:
        named_by = field_of(node, "function") or field_of(node, "name")
        path, _, name = text_of(named_by).rpartition("::")
        if name in _FORMS and len(arguments_of(node)) == 1:
            return _FORMS[name].format(self.kind(arguments_of(node)[0], depth + 1))
        of_path = path.rpartition("::")[2]
        if of_path in _POINTERS and name == "new" and self._is_of_standard(of_path):
            return f"{of_path}<{self._kind_of(arguments_of(node), depth)}>"
        if of_path in _MAPS and name == "from" and _PAIRS.fullmatch(rows := self._kind_of(arguments_of(node), depth)):
            return f"{of_path}<{rows[2:-2]}>"
        return of_path if of_path in _COLLECTIONS else "String" if _is_string(node) else self._owner(named_by)

    def _is_of_standard(self, name: str) -> bool:
        path = self._scopes.imports.get(name, "std::")
        return name not in self._scopes.types and path.partition("::")[0] in ("std", "core", "alloc")

    def _owner(self, node: Node | None) -> str:
        """The type of a variant by its path, in braces; `_` of anything else."""
        *before, name = text_of(node).split("::")
        owner = self._scopes.imports.get(before[-1], before[-1]).rpartition("::")[2] if before else ""
        return f"{{{owner}}}" if is_type(owner) and TYPE.fullmatch(name) else "_"

    def _kind_of(self, nodes: Sequence[Node], depth: int) -> str:
        """The type that all have; any, if they differ."""
        kinds = {self.kind(node, depth + 1) for node in nodes}
        return kinds.pop() if len(kinds) == 1 else "_"

    def _declared(self, node: Node) -> str:
        """The type that a name is declared with; empty without."""
        binding = self._scopes.of_name(node)
        if binding is None or binding.kind not in ("local", "constant", "parameter"):
            return ""
        pattern = field_of(binding.statement, "pattern")
        return field_text(binding.statement, "type") if pattern in (None, binding.declared) else ""


def _is_string(node: Node) -> bool:
    """Whether a call makes a `String`."""
    function = field_of(node, "function")
    value = field_of(function, "value")
    is_text = value is not None and value.type in TEXTS
    is_made = is_text and field_text(function, "field") in ("to_string", "to_owned")
    return is_made or macro_of(node) == "format" or text_of(function) in ("String::from", "String::new")


def _kind_of_literal(node: Node) -> str:
    tag = literal_of(node)[0]
    if tag == "slice":
        return "&[u8]"
    if text_of(node).startswith("b'"):
        return "u8"
    suffix = _SUFFIX[tag].search(text_of(node)) if tag in _SUFFIX else None
    return suffix[0] if suffix else _TAGS[tag]


def _words_of_literal(node: Node) -> Words:
    tag, value, *inner = literal_of(node)
    return Counter([(tag, value)] if tag != "slice" else [(kind, byte) for kind, byte in inner[0]])
