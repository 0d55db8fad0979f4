"""Source files of Rust, read as text by their syntax trees. Pure."""

from __future__ import annotations

import re

import tree_sitter_rust

from harness.core import syntax
from harness.core.syntax import words
from miner.languages.parsed import Grammar, ParsedCode

CODE = ParsedCode(
    Grammar(
        suffix=".rs",
        parse=syntax.reader(tree_sitter_rust.language()),
        declared=words(
            "struct_item enum_item union_item trait_item type_item const_item static_item mod_item"
            " macro_definition field_declaration enum_variant function_signature_item"
        ),
        functions=frozenset({"function_item"}),
        owners=frozenset({"impl_item", "trait_item", "mod_item"}),
        bodies=frozenset({"block"}),
        strings=frozenset({"string_literal", "raw_string_literal"}),
        left_alone=words("line_comment block_comment attribute_item inner_attribute_item use_declaration array_type"),
        told=re.compile(
            r"(?:panic|unreachable|todo|unimplemented|(?:debug_)?assert\w*|e?print(?:ln)?|(?:log::|tracing::)?"
            r"(?:trace|debug|info|warn|error))!"
        ),
        methods=(
            *(("to_lowercase", "to_uppercase"), ("to_ascii_lowercase", "to_ascii_uppercase")),
            *(("trim_start", "trim_end"), ("starts_with", "ends_with"), ("find", "rfind"), ("split", "rsplit")),
        ),
        called=("function", "field"),
    )
)
