"""What a stripped test of JavaScript hands out, by Node itself: within limits whatever a value says of its size."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from harness.core import process
from harness.languages.parts import part

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")

TOO_LARGE = ["js", ["x", "too large"]]
VALUES = {
    "Array(20000).fill(1)": TOO_LARGE,
    '"a".repeat((1 << 18) + 1)': TOO_LARGE,
    "new Uint8Array(20001)": TOO_LARGE,
    "[sized(NaN), ...Array(20000).fill(1)]": TOO_LARGE,
    "[sized(Infinity)]": TOO_LARGE,
    "sized(1, 1e5)": ["js", ["T", "Uint8Array", ["0"], []]],
    "new (called(1 << 19))()": TOO_LARGE,
    "called(1 << 19)": TOO_LARGE,
    "Symbol.for('a'.repeat(1 << 19))": TOO_LARGE,
    "new RegExp('a'.repeat(1 << 19))": TOO_LARGE,
    "2n ** (1n << 20n)": TOO_LARGE,
    "messages('b', 'a'.repeat(1 << 19))": ["js", ["E", ["Told", "Error"], "Error", "b", [], []]],
}
CODED = """(() => {
  class Coded extends RangeError {
    get code() { return "E_ITEM"; }
    get where() { throw new Error("nowhere"); }
    get items() { return []; }
    show() {}
  }
  class Told extends Coded { get code() { return "E_TOLD"; } }
  Coded.prototype.status = 404;
  return Object.assign(new Told("b"), { own: 1 });
})()"""
PROGRAM = """\
const fs_ = require("fs");
const ASKED = { framework: "mocha", values: "values" };
HANDOUT
const sized = (...sizes) => {
  const valueOf = () => (sizes.length > 1 ? sizes.shift() : sizes[0]);
  return Object.defineProperty(new Uint8Array(1), "length", { value: { valueOf } });
};
const called = (size) => Object.defineProperty(class {}, "name", { value: "a".repeat(size) });
const messages = (...texts) => {
  class Told extends Error {}
  return Object.defineProperty(new Told(), "message", { get: () => texts.shift() });
};
const site = process.__goldseam__(globalThis, "a.js");
"""


def handed_out(folder: Path, *codes: str) -> list[Any]:
    calls = "".join(f"site({slot}, () => [{code}]);\n" for slot, code in enumerate(codes))
    (folder / "program.cjs").write_text(PROGRAM.replace("HANDOUT", part("handout.js", "javascript")) + calls)
    process.run(["node", "program.cjs"], cwd=folder)
    return [json.loads(line)["values"][0] for line in (folder / "values").read_text().splitlines()]


def test_no_value_is_larger_than_the_limits(tmp_path):
    assert dict(zip(VALUES, handed_out(tmp_path, *VALUES), strict=True)) == VALUES


def test_a_view_tells_its_own_bytes_and_what_is_no_index_is_a_property(tmp_path):
    codes = (
        "new DataView(new Uint8Array([9, 8, 7, 6]).buffer, 1, 2)",
        "new Uint8Array([9, 8]).buffer",
        "Object.assign([4], { 4294967295: 2 })",
        "Object.assign(/a/g, { lastIndex: 2 })",
    )
    assert handed_out(tmp_path, *codes) == [
        ["js", ["T", "DataView", ["8", "7"], []]],
        ["js", ["T", "ArrayBuffer", ["9", "8"], []]],
        ["js", ["a", "Array", [["N", "4"]], [[["s", "4294967295"], ["N", "2"]]]]],
        ["js", ["R", "RegExp", "a", "g", [[["s", "lastIndex"], ["N", "2"]]]]],
    ]


def test_an_object_tells_what_it_calls_itself_and_what_a_loop_over_its_names_finds_besides(tmp_path):
    codes = (
        "Object.create({ z: 1, f() {} })",
        "new (class Point { get [Symbol.toStringTag]() { return 'P'; } })()",
        "new (class { get x() { return 1; } f() {} })()",
        "Object.assign(Object.create({ z: 1 }), { z: 2 })",
        "new Proxy({}, { get(_, key) { throw new Error(String(key)); } })",
    )
    assert handed_out(tmp_path, *codes) == [
        ["js", ["O", "", [], ["", "z", "f"]]],
        ["js", ["O", "Point", [], ["P"]]],
        ["js", ["O", "", []]],
        ["js", ["O", "", [[["s", "z"], ["N", "2"]]]]],
        ["js", ["x", "it can't be read"]],
    ]


def test_an_error_tells_what_it_has_of_its_classes_where_that_is_plain(tmp_path):
    [[_, [tag, chain, *_, props, _, inherited]]] = handed_out(tmp_path, CODED)
    assert (tag, chain, props) == ("E", ["Told", "Coded", "RangeError", "Error"], [[["s", "own"], ["N", "1"]]])
    assert inherited == [[["s", "code"], ["s", "E_TOLD"]], [["s", "status"], ["N", "404"]]]


def test_what_an_object_hides_or_is_called_for_another_is_told(tmp_path):
    codes = (
        "Object.defineProperty({ a: 1 }, 'b', { value: 2 })",
        "new (class Object {})()",
        "new (class { asymmetricMatch() { return true; } })()",
        "site.keysOf({ a: 1, [Symbol.iterator]: 2 })",
        "require('vm').runInNewContext('({})')",
    )
    assert handed_out(tmp_path, *codes) == [
        ["js", ["O", "Object", [[["s", "a"], ["N", "1"]]], [""], ["b"]]],
        ["js", ["O", "", []]],
        ["js", ["x", "it compares itself"]],
        ["js", ["a", "Array", [["s", "a"], ["Y", "Symbol(Symbol.iterator)"]], []]],
        ["js", ["O", "Object", []]],
    ]


def test_what_is_no_function_throws_nothing_and_a_function_is_called_of_no_object(tmp_path):
    codes = (
        "(() => { site.tried(undefined); return 1; })()",
        "(() => { const of = { f() { 'use strict'; of.it = this; } }; site.tried(of.f); return of.it; })()",
    )
    assert handed_out(tmp_path, *codes) == [["js", ["N", "1"]], ["js", ["u"]]]
