"""Source files of Java, read as text by their syntax trees. Pure."""

from __future__ import annotations

import re

from harness.core.syntax import words
from miner.languages.java.stripping.scopes import parse
from miner.languages.parsed import Grammar, ParsedCode

_TYPES = words(
    "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
)


CODE = ParsedCode(
    Grammar(
        suffix=".java",
        parse=parse,
        declared=_TYPES | {"variable_declarator", "enum_constant"},
        functions=frozenset({"method_declaration", "constructor_declaration"}),
        owners=_TYPES,
        bodies=frozenset({"block", "constructor_body"}),
        strings=frozenset({"string_literal"}),
        left_alone=words(
            "line_comment block_comment package_declaration import_declaration annotation marker_annotation"
            " throw_statement assert_statement"
        ),
        told=re.compile(r"(?:\w+\.)*(?:log|logger|LOG|LOGGER|System\.(?:err|out))\.\w+\("),
        methods=(
            *(("toLowerCase", "toUpperCase"), ("stripLeading", "stripTrailing"), ("indexOf", "lastIndexOf")),
            *(("startsWith", "endsWith"), ("anyMatch", "allMatch"), ("findFirst", "findAny")),
        ),
        called=("name",),
    )
)
