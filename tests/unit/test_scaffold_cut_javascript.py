"""A test file of JavaScript or TypeScript cut down to some of its tests."""

from __future__ import annotations

import pytest

from harness.dataset.revealed import function_of
from harness.languages.base import CannotCutError
from harness.languages.javascript.cut import cut

BEFORE = """\
import { describe, expect, it } from "vitest";
import { add } from "../src/calc";

describe("add", () => {
  const BIG = 10;

  it("adds nothing", () => {
    expect(add(0, 0)).toBe(0);
  });

  it("adds much", () => {
    expect(add(BIG, 0)).toBe(10);
  });
});
"""
AFTER = """\
import { beforeEach, describe, expect, it, vi } from "vitest";
import { add, more, secret } from "../src/calc";
import fs from "node:fs";

const ROWS = [[1, 2]];
const SECRET_ROWS = [[7, 8]];

function helper(n: number) {
  return n * ROWS.length;
}

function hiddenHelper() {
  return fs.readFileSync(SECRET_ROWS[0]);
}

describe("add", () => {
  const BIG = 11;

  beforeEach(() => {
    more.reset();
  });

  it("adds nothing", () => {
    expect(add(0, 0)).toBe(0);
  });

  it("adds much", () => {
    expect(add(BIG, 1)).toBe(12);
  });

  // as people do it
  it("adds [more] #1", () => {
    expect(more(1)).toBe(helper(2));
  });

  it("is hidden", () => {
    expect(hiddenHelper()).toBe(secret(vi));
  });
});

describe("other", () => {
  const shared = more;
  const own = secret;

  describe("inner", () => {
    it("shares", () => {
      expect(shared(1)).toBe(1);
    });

    it("is alone", () => {
      expect(own(1)).toBe(1);
    });
  });
});
"""
TABLE = """\
const tests = [
  { input: "a", out: "A" },
  { input: "b", out: "B" }%s
];
for (const t of tests) {
  it(`upper ${t.input}`, () => assert.equal(upper(t.input), t.out));
}
"""


def shown(title, before=BEFORE, after=AFTER, path="tests/calc.test.ts"):
    return cut(path, before, after, [(title,)])


def test_a_kept_test_brings_what_it_needs_and_nothing_that_only_others_need():
    found = shown("add > adds [more] #1")
    for word in ('it("adds [more] #1"', "ROWS = [[1", "function helper", "add, more }", "more.reset()", "beforeEach,"):
        assert word in found, word
    for word in ("idden", "secret", "SECRET", "node:fs", "vi }", "BIG = 11", "other"):
        assert word not in found, word


def test_what_was_there_before_stays_as_it_was_and_a_comment_comes_along():
    found = shown("add > adds [more] #1")
    assert "BIG = 10" in found
    assert "  // as people do it\n  it(" in found
    assert found.count("adds nothing") == found.count("adds much") == found.count('describe("add"') == 1


def test_a_changed_test_takes_the_place_of_the_old_one():
    found = shown("add > adds much")
    assert "toBe(12)" in found
    assert "toBe(10)" not in found
    assert "BIG = 11" in found


def test_of_a_new_suite_only_the_kept_test_is_there_with_what_it_needs():
    found = shown("other > inner > shares")
    assert "const shared = more;" in found
    assert "is alone" not in found
    assert "secret" not in found


def test_of_a_new_file_only_what_is_needed_is_there():
    found = shown("other > inner > is alone", None)
    assert "const own = secret;" in found
    assert "import { secret }" in found
    assert not any(word in found for word in ("shares", "ROWS", "adds", "more", "fs"))


def test_of_a_table_only_the_row_is_there_that_a_title_is_made_of():
    after = TABLE % ',\n  { input: "ab", out: "AB" },\n  { input: "x", out: "X" }'
    found = shown("upper x", TABLE % "", after)
    assert found == TABLE % ',\n  { input: "x", out: "X" }'


def test_a_changed_row_takes_the_place_of_the_old_one():
    after = TABLE.replace('"B"', '"BB"').replace('"A"', '"AA"')
    assert shown("upper b", TABLE % "", after % "") == TABLE.replace('"B"', '"BB"') % ""


def test_a_test_within_a_loop_and_an_object_that_were_there_is_put_there():
    text = "for (const d of all) {\n  describe(d, () => {\n    check({\n      more: (c) => {\n%s        it('old', f);\n"
    before = text % "" + "      },\n    });\n  });\n}\n"
    after = before.replace("        it('old'", "        it('new', f);\n        it('other', f);\n        it('old'")
    assert shown("x > new", before, after) == after.replace("        it('other', f);\n", "")


def test_rows_given_to_a_test_by_itself_are_taken_one_by_one():
    before = 'test.each([\n  ["a", 1],\n])("size of %s", (text, size) => {\n  expect(text.length).toBe(size);\n});\n'
    after = before.replace("1],\n", '1],\n  ["bc", 2],\n  ["def", 3],\n')
    found = shown("size of def", before, after)
    assert '["def", 3],' in found
    assert '"bc"' not in found


@pytest.mark.parametrize(
    ("after", "title"),
    [
        ("const test = require('tape');\ntest('a b', (t) => {\n  t.equal(1, 1);\n});\n", "a b"),
        ("t.test('a', t => {\n  t.test('inner', t => t.end());\n  t.end();\n});\n", "a"),
        ("import test from 'ava';\n\ntest('a', macro, 1);\n", "a"),
        (
            "import {suite} from 'uvu';\nconst Price = suite('price');\nPrice('a', () => {});\nPrice.run();\n",
            "price > a",
        ),
        ("test('a', async (t) => {\n  await t.test('b', () => {});\n});\n", "a > b"),
        ("const {describe, it} = require('node:test');\ndescribe('a', () => {\n  it('b', () => {});\n});\n", "a > b"),
        ("QUnit.module('a');\nQUnit.test('b', function (assert) {\n  assert.ok(1);\n});\n", "a > b"),
        ("it('it\\'s \"a\"', function () {});\n", 'it\'s "a"'),
        ("it('a' + 1, function () {});\n", "a1"),
    ],
)
def test_each_runner_s_tests_are_found_by_their_titles(after, title):
    assert shown(title, None, after, "tests/a.mjs") == after


@pytest.mark.parametrize(
    ("before", "after", "title"),
    [
        ("", "it('a', () => {\n", "a"),
        ("", "it('b', () => {});\n", "a"),
        ("", "it('a', () => {});\r\n", "a"),
        ("", "function all() {\n  it('b', () => {});\n}\nit('a', () => all());\n", "a"),
        ("", "for (const x of y) all(() => it(x, f), () => it('b', f));\n", "b"),
        ("it('a', () => {});\n", "it('a', () => {});\nit('b', () => {});\n", "a"),
        (
            "describe('a', one, () => {\n  it('b', f);\n});\n",
            "describe('a', () => {\n  it('b', g);\n  it('c', f);\n});\n",
            "a > b",
        ),
    ],
)
def test_a_test_that_cannot_be_told_from_the_rest_is_not_cut(before, after, title):
    with pytest.raises(CannotCutError):
        shown(title, before, after)


def test_a_function_is_all_titles_whatever_is_in_them_without_which_of_several_it_is():
    assert function_of("a.test.ts::b [c] > d::e #2") == function_of("a.test.ts::b [c] > d::e")
    assert function_of("a.test.ts::b [c] > d") != function_of("a.test.ts::b [e] > d")
