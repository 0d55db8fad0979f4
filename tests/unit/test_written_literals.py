"""Literals that other texts write out, as guessers read them, where they are no literals of their language."""

from __future__ import annotations

import pytest

from miner.languages.go.stripping import literals as of_go
from miner.languages.java.stripping import literals as of_java
from miner.languages.javascript.stripping import literals as of_javascript
from miner.languages.rust.stripping import literals as of_rust

MINUS = [
    (of_go.READING, 'package a\n\nfunc f() { g(-2, -"a", -INF, -nil, []any{-"b"}) }\n'),
    (of_java.READING, 'class A { void f() { g(-2, -"a", -INF, -null, new Object[] {-"b"}); } }\n'),
    (of_javascript.READING, 'g(-2, -"a", -Infinity, -null, [-"b"], { c: -"d" });\n'),
    (of_rust.READING, 'fn f() { g(-2, -"a", -Inf, -None, [-"b"]); }\n'),
]


@pytest.mark.parametrize(("reading", "text"), MINUS, ids=["go", "java", "javascript", "rust"])
def test_a_minus_before_what_is_no_number_makes_no_value(reading, text):
    found = list(reading.written(text))
    assert -2 in found
    assert not any("-" in str(value) for value in found if isinstance(value, str))
