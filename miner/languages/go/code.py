"""Source files of Go, read as text by their syntax trees. Pure."""

from __future__ import annotations

import re

from miner.languages.go.stripping.scopes import parse
from miner.languages.parsed import Grammar, ParsedCode
from miner.languages.syntax import words

CODE = ParsedCode(
    Grammar(
        suffix=".go",
        parse=parse,
        declared=words("type_spec type_alias const_spec var_spec field_declaration method_elem"),
        functions=frozenset({"function_declaration", "method_declaration"}),
        owners=frozenset(),
        bodies=frozenset({"block"}),
        strings=frozenset({"interpreted_string_literal", "raw_string_literal"}),
        left_alone=words("comment import_spec import_declaration package_clause field_declaration"),
        told=re.compile(r"(?:panic|errors\.New|fmt\.Errorf|(?:\w+\.)*(?:log|logger|Log|Logger)\.\w+)\("),
        methods=(
            *(("ToLower", "ToUpper"), ("TrimLeft", "TrimRight"), ("TrimPrefix", "TrimSuffix")),
            *(("HasPrefix", "HasSuffix"), ("Index", "LastIndex"), ("IndexByte", "LastIndexByte")),
        ),
        called=("function", "field"),
    )
)
