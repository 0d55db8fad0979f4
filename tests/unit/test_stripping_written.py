"""How tests of languages that tree-sitter reads have what they expect, in place of spelling it."""

from __future__ import annotations

import pytest

from miner.languages.base import WrittenForm
from miner.languages.go.stripping import literals as go
from miner.languages.go.stripping.source import StrippedSource as Go
from miner.languages.java.stripping import literals as java
from miner.languages.java.stripping.source import StrippedSource as Java
from miner.languages.javascript.stripping import literals as javascript
from miner.languages.javascript.stripping.source import StrippedSource as JavaScript
from miner.languages.rust.stripping import patterns as rust
from miner.languages.rust.stripping.source import StrippedSource as Rust

OF_GO = """package m

import ("strings"; "testing")

const long = "a sentence"

func TestA(t *testing.T) {
	if got := F(1); got != "plain" { t.Error(got) }
	if got := F(2); got != strings.Repeat("ab", 7000) { t.Error(got) }
	want := "abc" + long
	if got := F(3); got != want { t.Errorf("%s %s", got, want) }
	for _, row := range []struct{ in, want string }{{"a", "b"}} {
		if got := F(row.in); got != row.want { t.Error(got) }
	}
}
"""
OF_JAVA = """import static org.junit.jupiter.api.Assertions.*;
import java.util.*;

class T {
    @Test void f() {
        assertEquals("plain", F.f(1));
        assertEquals("ab".repeat(7000), F.f(2));
        String want = "abc" + "a sentence";
        assertEquals(want, F.f(3));
        List<String> filled = new ArrayList<>();
        filled.add("secret");
        assertEquals(filled, F.f(4));
    }
}
"""
OF_RUST = """#[test]
fn f() {
    assert_eq!(g(1), "plain");
    assert_eq!(g(2), "ab".repeat(7000));
    let want = format!("abc{}", "a sentence");
    assert_eq!(g(3), want);
    for (a, b) in [(1, "x"), (2, "y")] { assert_eq!(g(a), b); }
}
"""
OF_JAVASCRIPT = """const assert = require("assert");
const { f } = require("./f");
it("a", () => {
  assert.strictEqual(f(1), "plain");
  assert.strictEqual(f(2), "ab".repeat(7000));
  const want = "abc" + "a sentence";
  assert.strictEqual(f(3), want);
  const filled = [];
  filled.push("secret");
  assert.deepStrictEqual(f(4), filled);
});
"""
SOURCES = {
    "go": (Go(OF_GO.encode(), path="a_test.go", first=0), go.value_of, 2),
    "java": (Java(OF_JAVA.encode(), path="T.java", first=0), java.value_of, 1),
    "rust": (Rust(OF_RUST.encode(), path="t.rs", first=0), rust.value_of, 1),
    "javascript": (JavaScript(OF_JAVASCRIPT.encode(), path="t.js", first=0, framework="mocha"), javascript.value_of, 1),
}


@pytest.mark.parametrize("language", SOURCES)
def test_operations_names_and_literals_count_and_what_is_filled_or_stands_in_rows_is_not_told(language):
    source, value_of, steps = SOURCES[language]
    written = source.written(value_of)
    assert written.pop(1) == WrittenForm(steps=steps, literals=("ab", 7000))
    joined = written.pop(2)
    assert (joined.steps, joined.literals[-1]) == (1, "a sentence")
    assert written == {}
