"""What is left of a test file in JavaScript, and what is taken out of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from harness.core.expectations import Expectations, Expected, ExpectedTest, Site
from harness.judging import judge
from harness.judging.values import Event
from miner.languages.base import KnownText, Mode
from miner.languages.guessing.guess import guess
from miner.languages.javascript.stripping import literals, snapshots
from miner.languages.javascript.stripping.source import StrippedSource

ASSERT = 'const assert = require("assert");\n'
STRICT = 'import { strict as assert, equal } from "node:assert";\n'


def parsed(text: str, path: str = "a.test.js") -> StrippedSource:
    return StrippedSource(text.encode(), path=path, first=0)


def best(source: StrippedSource) -> dict[int, Mode]:
    return {slot.number: slot.assertion.modes[0] for slot in source.slots}


def stripped(text: str, path: str = "a.test.js") -> str:
    """The file with every assertion in its best mode, without what is put in front of its first statement."""
    source = parsed(text, path)
    head, found, rest = source.stripped(best(source)).partition(" : globalThis")
    return head.rpartition("const")[0] + rest.partition("; ")[2] if found else head


def recorded(text: str) -> str:
    source = parsed(text)
    return source.recording(best(source)).partition("; ")[2]


@pytest.mark.parametrize(
    ("statement", "left", "op"),
    [
        ("assert.equal(f(1), 3);", "__goldseam__(0, () => [f(1)]);", "js.=="),
        ("assert.strictEqual(f(1), 3, 'three');", "__goldseam__(0, () => [f(1)]);", "js.is"),
        ("assert.deepStrictEqual(f(1), { a: [1, -2] });", "__goldseam__(0, () => [f(1)]);", "js.deep"),
        ("assert.notStrictEqual(3, f(1));", "__goldseam__(0, () => [f(1)]);", "js.is"),
        ("assert(f(1));", "__goldseam__(0, () => [f(1)]);", "js.truth"),
        ("assert.ok(!f(1));", "__goldseam__(0, () => [f(1)]);", "js.truth"),
        ("assert(f(1) === 'x');", "__goldseam__(0, () => [f(1)]);", "js.==="),
        ("assert.strictEqual(f(1), f(2));", "__goldseam__(0, () => [f(1), f(2)]);", "js.is"),
        ("assert.throws(() => f(), /no/);", "__goldseam__(0, () => { (() => f())(); return []; });", "js.raises"),
        ("assert.throws(() => f());", "__goldseam__(0, () => { (() => f())(); return []; });", "js.raises"),
        ("assert.doesNotThrow(f);", "__goldseam__(0, () => { (f)(); return []; });", "no_raise"),
        (
            "await assert.rejects(f(), TypeError);",
            "await __goldseam__(0, async () => { await __goldseam__.rejected(() => (f())); return []; });",
            "js.raises",
        ),
        ("assert.match(f(1), /x+/i);", "__goldseam__(0, () => [f(1)]);", "js.match"),
        ("expect(f(1)).toBe(3);", "__goldseam__(0, () => [f(1)]);", "js.is"),
        ("expect(f(1)).not.toEqual([3]);", "__goldseam__(0, () => [f(1)]);", "js.deep"),
        ("expect(f(1)).toBeNull();", "__goldseam__(0, () => [f(1)]);", "js.is"),
        ("expect(f(1)).toBeFalsy();", "__goldseam__(0, () => [f(1)]);", "js.truth"),
        ("expect(f(1)).toHaveProperty('a.b', 2);", "__goldseam__(0, () => [f(1)]);", "js.property"),
        ("expect(f).toThrow('no');", "__goldseam__(0, () => { __goldseam__.tried(f); return []; });", "js.raises"),
        ("expect(f).not.toThrow();", "__goldseam__(0, () => { (f)(); return []; });", "no_raise"),
        (
            "await expect(f(1)).resolves.toBe(3);",
            "await __goldseam__(0, async () => [await __goldseam__.fulfilled(f(1))]);",
            "js.is",
        ),
        (
            "await expect(f(1)).rejects.toBe(3);",
            "await __goldseam__(0, async () => [await __goldseam__.reason(f(1))]);",
            "js.is",
        ),
        ("expect(f(1)).toBe(3, 'three');", "__goldseam__(0, () => [f(1)]);", "js.is"),
        ("expect(f(1)).toBeTypeOf('number');", "__goldseam__(0, () => [typeof (f(1))]);", "js.is"),
        ("expect(f(1)).toEqual({ a: expect.any(Number) });", "__goldseam__(0, () => [f(1)]);", "js.deep"),
        ("expect(f(1)).toEqual(expect.not.stringMatching(/x/));", "__goldseam__(0, () => [f(1)]);", "js.deep"),
        (
            "expect(f(1)).toMatchInlineSnapshot(`3`);",
            "__goldseam__(0, () => [__goldseam__.shown(f(1))]);",
            "js.snapshot",
        ),
        (
            "await expect(f(1)).resolves.toMatchInlineSnapshot(`3`);",
            "await __goldseam__(0, async () => [__goldseam__.shown(await __goldseam__.fulfilled(f(1)))]);",
            "js.snapshot",
        ),
        (
            "await expect(f(1)).rejects.toMatchInlineSnapshot(`[Error: no]`);",
            "await __goldseam__(0, async () => [__goldseam__.shown(await __goldseam__.reason(f(1)))]);",
            "js.snapshot",
        ),
        (
            "expect(f(1)).toMatchInlineSnapshot({ at: expect.any(Date) }, `3`);",
            "__goldseam__(0, () => [__goldseam__.shown(f(1))]);",
            "js.snapshot",
        ),
        (
            "expect(f).toThrowErrorMatchingInlineSnapshot(`[Error: no]`);",
            "__goldseam__(0, () => { __goldseam__.tried(f); return []; });",
            "js.raises",
        ),
        ("expect(f).toHaveBeenCalledTimes(2);", "__goldseam__(0, () => [(f).mock.calls.length]);", "js.is"),
        ("expect(f).not.toHaveBeenCalled();", "__goldseam__(0, () => [(f).mock.calls.length]);", "js.is"),
        ("expect(f).toBeCalled();", "__goldseam__(0, () => [(f).mock.calls.length]);", "js.>"),
        ("expect(f).toHaveBeenCalledWith(1, 'a');", "__goldseam__(0, () => [(f).mock.calls]);", "js.called"),
        ("expect(f).toHaveBeenNthCalledWith(2, 'a');", "__goldseam__(0, () => [(f).mock.calls]);", "js.called"),
    ],
)
def test_an_assertion_hands_out_what_depends_on_the_product(statement, left, op):
    text = f"{ASSERT}test('a', async () => {{ {statement} }});\n"
    assert stripped(text) == f"{ASSERT}test('a', async () => {{ {left} }});\n"
    assert [slot.assertion.op for slot in parsed(text).slots] == [op]


CHAI = 'const chai = require("chai");\nconst sinon = require("sinon");\nconst { expect, assert } = chai;\n'


@pytest.mark.parametrize(
    ("statement", "left", "op"),
    [
        ("expect(f(1)).to.equal(3);", "__goldseam__(0, () => [f(1)]);", "js.==="),
        ("expect(f(1)).to.not.deep.equal([3]);", "__goldseam__(0, () => [f(1)]);", "js.deep"),
        ("expect(f(1)).to.be.true;", "__goldseam__(0, () => [f(1)]);", "js.is"),
        ("expect(f(1)).to.be.ok;", "__goldseam__(0, () => [f(1)]);", "js.truth"),
        ("f(1).should.eql([3]);", "__goldseam__(0, () => [f(1)]);", "js.deep"),
        ("expect(f).to.throw('no');", "__goldseam__(0, () => { __goldseam__.tried(f); return []; });", "js.raises"),
        ("expect(f(1)).to.have.lengthOf(3);", "__goldseam__(0, () => [f(1)]);", "js.length"),
        ("assert.isTrue(f(1), 'yes');", "__goldseam__(0, () => [f(1)]);", "js.is"),
        ("assert.deepEqual(f(1), [3]);", "__goldseam__(0, () => [f(1)]);", "js.deep"),
        ("assert(f(1));", "__goldseam__(0, () => [f(1)]);", "js.truth"),
        ("expect(f(1)).to.have.property('a.b', 3);", "__goldseam__(0, () => [f(1)]);", "js.property"),
        ("expect(f(1)).to.be.an('array');", "__goldseam__(0, () => [f(1)]);", "js.kind"),
        ("expect(f(1)).to.exist;", "__goldseam__(0, () => [f(1)]);", "js.=="),
        ("expect(f(1)).to.include({ a: 1 });", "__goldseam__(0, () => [f(1)]);", "js.object"),
        (
            "expect(f).to.throw(TypeError, /no/);",
            "__goldseam__(0, () => { __goldseam__.tried(f); return []; });",
            "js.raises",
        ),
        ("assert.throws(f, 'no');", "__goldseam__(0, () => { __goldseam__.tried(f); return []; });", "js.raises"),
        ("expect(f).to.have.been.calledOnce;", "__goldseam__(0, () => [(f).callCount]);", "js.is"),
        ("expect(f).to.have.been.calledWith(1);", "__goldseam__(0, () => [(f).args]);", "js.called"),
        ("sinon.assert.callCount(f, 2);", "__goldseam__(0, () => [(f).callCount]);", "js.is"),
        ("sinon.assert.notCalled(f);", "__goldseam__(0, () => [(f).callCount]);", "js.is"),
        ("expect(f(1)).to.have.string('b1');", "__goldseam__(0, () => [f(1)]);", "js.contain"),
        ("expect(f(1)).to.have.members(['b1', 'b2']);", "__goldseam__(0, () => [f(1)]);", "js.members"),
        ("expect(f(1)).to.have.deep.members([['b1']]);", "__goldseam__(0, () => [f(1)]);", "js.members"),
        ("expect(f(1)).to.be.oneOf(['b1', 'b2']);", "__goldseam__(0, () => [f(1)]);", "js.contain"),
        (
            "expect(f(1)).to.have.all.keys(['b1', 'b2']);",
            "__goldseam__(0, () => [__goldseam__.keysOf(f(1))]);",
            "js.members",
        ),
        ("f(1).should.have.keys('b1', 'b2');", "__goldseam__(0, () => [__goldseam__.keysOf(f(1))]);", "js.members"),
        ("assert.isString(f(1));", "__goldseam__(0, () => [f(1)]);", "js.kind"),
        ("assert.isObject(f(1));", "__goldseam__(0, () => [f(1)]);", "js.kind"),
        ("assert.notProperty(f(1), 'a');", "__goldseam__(0, () => [f(1)]);", "js.property"),
        ("assert.deepInclude(f(1), { a: [1] });", "__goldseam__(0, () => [f(1)]);", "js.object"),
        ("assert.typeOf(f(1), 'string');", "__goldseam__(0, () => [f(1)]);", "js.kind"),
        ("assert.exists(f(1));", "__goldseam__(0, () => [f(1)]);", "js.=="),
        ("assert.isDefined(f(1));", "__goldseam__(0, () => [f(1)]);", "js.is"),
        ("assert.isAtLeast(f(1), 3);", "__goldseam__(0, () => [f(1)]);", "js.>="),
        ("assert.sameMembers(f(1), ['b1']);", "__goldseam__(0, () => [f(1)]);", "js.members"),
    ],
)
def test_chai_is_read_in_each_of_its_styles(statement, left, op):
    text = f"{CHAI}it('a', () => {{ {statement} }});\n"
    assert stripped(text) == f"{CHAI}it('a', () => {{ {left} }});\n"
    assert [slot.assertion.op for slot in parsed(text).slots] == [op]


@pytest.mark.parametrize(
    "statement",
    ["expect(f(1)).to.contain.keys(['a']);", "expect(f(1)).to.deep.include(3);", "expect(f(1)).to.be.within(1, 2);"],
)
def test_what_of_chai_is_not_read_stays(statement):
    assert parsed(f"{CHAI}it('a', () => {{ {statement} }});\n").slots == ()


def test_tape_counts_what_is_taken_out():
    head = 'const test = require("tape");\n'
    text = f"{head}test('a', (t) => {{ t.equal(f(1), 3, 'x'); t.test('b', (st) => {{ st.ok(f(1)); }}); t.end(); }});\n"
    assert stripped(text) == (
        f"{head}test('a', (t) => {{ __goldseam__(0, () => [f(1)], null, t); "
        "t.test('b', (st) => { __goldseam__(1, () => [f(1)], null, st); }); t.end(); });\n"
    )
    assert parsed('const test = require("other");\ntest("a", (t) => { t.is(f(1), 3); });').slots == ()


IN_LAB = """\
const Code = require('@hapi/code');
const expect = Code.expect;
"""


@pytest.mark.parametrize(
    ("statement", "op", "options"),
    [
        ("expect(f(1)).to.equal({ a: 1 });", "js.deep", {"rules": "code"}),
        ("expect(f(1), 'it').to.not.equal(2);", "js.deep", {"rules": "code", "not": True}),
        ("expect(f(1)).to.shallow.equal(2);", "js.===", {}),
        ("expect(f(1)).to.be.true();", "js.is", {}),
        ("expect(f(1)).to.exist();", "js.==", {"not": True}),
        ("expect(f(1)).to.not.exist();", "js.==", {}),
        ("expect(f(1)).to.be.an.array();", "js.kind", {}),
        ("expect(f(1)).to.not.be.empty();", "js.length", {"by": "keys", "rules": "code", "not": True}),
        ("expect(f(1)).to.have.length(3);", "js.length", {"by": "keys", "rules": "code"}),
        ("expect(f(1)).to.include('abc');", "js.contain", {}),
        ("expect(f(1)).to.be.at.least(2);", "js.>=", {}),
        ("expect(f(1)).to.match(/a/);", "js.match", {}),
        ("expect(f(1)).to.be.an.instanceof(TypeError);", "js.instance", {}),
        ("expect(() => f(1)).to.throw(TypeError, 'no');", "js.raises", {"by": "exact"}),
        ("await expect(f(1)).to.reject(/no/);", "js.raises", {"by": "exact"}),
        ("expect(() => f(1)).to.not.throw();", "no_raise", {}),
        ("Code.expect(f(1)).to.equal(2);", "js.deep", {"rules": "code"}),
        ("Code.fail('never');", "no_raise", {}),
    ],
)
def test_assertions_of_code_are_read_where_the_host_has_the_same(statement, op, options):
    [slot] = parsed(f"{IN_LAB}it('a', async () => {{ {statement} }});").slots
    assert (slot.assertion.op, dict(slot.assertion.options)) == (op, options)
    assert not slot.assertion.is_unread


@pytest.mark.parametrize(
    "statement",
    [
        "expect(f(1)).to.equal(2, { prototype: true });",
        "expect(f(1)).to.include({ a: 1 });",
        "expect(f(1)).to.only.include('a');",
        "expect(f(1)).to.be.an.error('no');",
        "expect(f(1), g()).to.equal(2);",
        "const error = expect(() => f(1)).to.throw();",
        "use(await expect(f(1)).to.reject());",
    ],
)
def test_what_of_code_is_not_read_stays_and_counts_as_inside(statement):
    source = parsed(f"{IN_LAB}it('a', async () => {{ expect(f(2)).to.equal(3); {statement} }});")
    assert [slot.assertion.is_unread for slot in source.slots] == [False, True]


def test_what_libraries_or_their_versions_refuse_of_what_is_thrown_is_told_to_the_host():
    of_node = parsed(f"{ASSERT}it('a', () => {{ assert.throws(f, 'no'); assert.throws(f, `${{x}}`); }});\n").slots
    of_jest = parsed("it('a', () => { expect(f).toThrow(new Error('no')); expect(f).toThrow(); });\n").slots
    head = 'const { expect } = require("chai");\n'
    of_chai = parsed(f"{head}it('a', () => {{ expect(f).to.throw('no'); }});\n").slots
    options = [dict(slot.assertion.options) for slot in (*of_node, *of_jest, *of_chai)]
    assert options[:2] == [{"unlike": "no"}, {}]
    assert options[2:4] == [{"by": "message", "alike": "cause"}, {"by": "message"}]
    assert options[4:] == [{"by": "message", "only": "truthy"}]


def test_tap_compares_by_its_own_rules_and_tells_the_titles_of_outermost_tests_alone():
    head = 'const t = require("tap");\n'
    text = (
        f"{head}t.test('a', (t) => {{ t.same(f(1), [3]); t.strictSame(f(1), [3]); t.throws(f, TypeError('n')); "
        "t.test('b', (t) => { t.match(f(1), /x/); t.match(f(1), { a: 1 }); t.match(f(1), [1]); t.end(); }); "
        "t.end(); });\n"
    )
    slots = parsed(text).slots
    assert [slot.assertion.options.get("rules") for slot in slots] == ["tap", "tap strict", *[None] * 4]
    assert [slot.assertion.op for slot in slots[2:]] == ["js.raises", "js.match", "js.object", "js.truth"]
    assert {slot.function for slot in slots} == {("a",)}
    assert [best(parsed(text))[slot.number] for slot in slots][-1] is Mode.INSIDE
    assert "t.match(f(1), [1]); t.end(); });" in stripped(text)


def test_to_tap_a_file_is_a_test_and_snapshots_are_in_a_folder_of_their_own():
    text = "var tap = require('tap'); var test = tap.test;\ntap.equal(f(1), 3);\n"
    text += "test('a', function (t) { t.matchSnapshot(f(2)); t.resolveMatchSnapshot(f(3), 'm'); t.end() });\n"
    source = StrippedSource(text.encode(), path="test/a.js", first=0, framework="tap", has_snapshots=True)
    assert [slot.function for slot in source.slots] == [("",), ("a",), ("a",)]
    assert source.stripped(best(source)).endswith(
        "__goldseam__(0, () => [f(1)], null, tap);\n"
        "test('a', function (t) { __goldseam__(1, () => [__goldseam__.shown(f(2))], null, t); "
        "__goldseam__(2, async () => [__goldseam__.shown(await __goldseam__.fulfilled(f(3)))], null, t); t.end() });\n"
    )
    assert [slot.assertion.op for slot in parsed(text).slots] == ["js.===", "js.truth", "js.truth"]
    files = [
        "p/tap-snapshots/test/a.js.test.cjs",
        "tap-snapshots/p-test-a.js-TAP.test.js",
        "tap-snapshots/a.js.test.cjs",
    ]
    assert list(snapshots.emptied({"p/test/a.js"}, {"p/test/a.js": b"f(1);"}, files)) == files[:2]
    assert set(files[:2]) <= set(snapshots.places_of("p/test/a.js"))


def test_ava_has_snapshots_beside_a_test_file_and_shows_them_to_people():
    text = "import test from 'ava';\ntest('a', (t) => { t.snapshot(f(1), 'the first'); t.snapshot(f(2)); });\n"
    source = StrippedSource(text.encode(), path="test/a.js", first=0, framework="ava", has_snapshots=True)
    assert source.stripped(best(source)).endswith(
        "test('a', (t) => { __goldseam__(0, () => [f(1)], null, t); __goldseam__(1, () => [f(2)], null, t); });\n"
    )
    assert "[f(1), __goldseam__.same], null, t)" in source.recording(best(source))
    assert [slot.assertion.options for slot in source.slots] == [{"rules": "ava"}] * 2
    assert parsed(text).slots == ()
    files = ["test/snapshots/a.js.snap", "test/snapshots/a.js.md", "test/snapshots/b.js.md", "test/a.md"]
    assert set(files[:2]) <= set(snapshots.places_of("test/a.js"))
    assert snapshots.used({"test/a.js": text.encode()}, files) == {"test/a.js"}
    assert list(snapshots.emptied({"test/a.js"}, {"test/a.js": b"f(1);"}, files)) == files[:2]


def asked(chain: str) -> str:
    """The chain of a request, as a stripped file has it."""
    head = 'const request = require("supertest");\n'
    return stripped(f"{head}it('a', (done) => request(app).get('/'){chain});\n").partition("get('/')")[2][:-3]


@pytest.mark.parametrize(
    ("chain", "handed", "end"),
    [
        (".expect(200)", "__response__.status", ""),
        (".expect('text', done)", "__response__.text", ".end(done)"),
        (".expect(/te*xt/)", "__response__.text", ""),
        (".expect({ a: [1] })", "__response__.body", ""),
        (".expect('X-Y', 'z')", "__response__.headers['X-Y'.toLowerCase()]", ""),
        (".expect(200, 'text', done)", "[__response__.status, __response__.text]", ".end(done)"),
        (".expect(200, { a: 1 })", "[__response__.status, __response__.body]", ""),
    ],
)
def test_what_supertest_is_to_expect_of_a_response_is_handed_out(chain, handed, end):
    assert asked(chain) == f".expect((__response__) => {{ __goldseam__(0, () => [{handed}]); }}){end}"


@pytest.mark.parametrize(
    "chain", [".expect(check)", ".expect(200, /te*xt/)", ".expect([200, 201])", ".expect('X-Y', f(1))"]
)
def test_what_of_supertest_is_made_of_something_stays(chain):
    assert asked(f".expect(200){chain}").endswith(chain)


def of_runner(text: str, framework: str) -> StrippedSource:
    return StrippedSource(text.encode(), path="a.test.js", first=0, framework=framework)


@pytest.mark.parametrize(
    ("framework", "head", "before", "after"),
    [
        ("vitest", 'import { it } from "vitest";', "it('a', ({ expect }) => { expect(f(1)).toBe(3); });", "[f(1)]"),
        ("vitest", 'import { it, assert } from "vitest";', "it('a', () => { assert.equal(f(1), 3); });", "[f(1)]"),
        (
            "tape",
            'const test = require("tape");',
            "test('a', (t) => { t['deepEqual'](f(1), [3]); });",
            "[f(1)], null, t",
        ),
        ("tape", 'const { test } = require("./util");', "test('a', (t) => { t.is(f(1), 3); });", "[f(1)], null, t"),
        (
            "qunit",
            "",
            "(function (Q) { Q.test('a', (assert) => { assert.equal(f(1), 3); }); })(QUnit);",
            "[f(1)], null, assert",
        ),
        *(
            ("qunit", f"var QUnit = {init};", "QUnit.test('a', function (q) { q.equal(f(1), 3); });", "[f(1)], null, q")
            for init in ('require("qunitjs")', 'root.QUnit || require("qunit-extras")')
        ),
        (
            "tape",
            'const test = require("tape");',
            "const check = function (st, want) { st.equal(f(1), want); }; test('a', (t) => { check(t, 3); });",
            "[f(1)], null, st",
        ),
    ],
)
def test_an_assertion_is_known_by_what_gives_it(framework, head, before, after):
    source = of_runner(f"{head}\n{before}\n", framework)
    text = source.stripped(best(source))
    assert f"__goldseam__(0, () => {after});" in text
    assert "3" not in text.replace("globalThis", "")


def test_what_a_module_of_the_repository_calls_qunit_gives_no_assertion():
    text = "const QUnit = require('./q');\nQUnit.test('a', (assert) => { assert.equal(f(1), 3); });\n"
    assert of_runner(text, "qunit").slots == ()


def test_a_name_that_no_test_is_given_gives_no_assertion():
    helper = "const check = (st) => { st.equal(f(1), 3); };"
    for use in ("check(t); check({});", "g(check);", "check(...t);"):
        assert (
            of_runner(f"const test = require('tape');\n{helper} test('a', (t) => {{ {use} }});\n", "tape").slots == ()
        )


@pytest.mark.parametrize(
    ("helper", "calls", "after"),
    [
        (
            "function check(a, want) { expect(f(a)).toBe(want); }",
            "check('x', 3); check('y', 4);",
            "check('x', undefined);",
        ),
        (
            "const check = ({ a, want }) => { expect(f(a)).toBe(want); };",
            "for (const [a, want] of [['x', 3]]) check({ a, want: want });",
            "for (const [a, want] of [['x', undefined]]) check({ a, want: undefined });",
        ),
        (
            "function check(want) { for (const [a, b] of Object.entries(want)) expect(f(a)).toBe(b); }",
            "check({ x: 3 });",
            "check({ x: undefined });",
        ),
        (
            "function check(a, want) { assert.equal(f(a), want, `it should be ${want}`); }",
            "check('x', 3);",
            "check('x', undefined);",
        ),
        (
            "function check(a, want) { if (f(a) !== want) { const why = `no ${want}`; throw new Error(why); } }",
            "check('x', 3);",
            "check('x', undefined);",
        ),
        (
            "const same = (a, b) => expect(a).toEqual(b); function check(a, want) { same(f(a), want); }",
            "check('x', [3]);",
            "check('x', undefined);",
        ),
        (
            "const same = (a, b) => g(b); function check(a, w) { expect(f(a)).toEqual(w); same(a, w); }",
            "check(1, [3]);",
            None,
        ),
        ("function check(a, want) { expect(f(a)).toBe(want); }", "check('x', g());", None),
        ("function check(a, want) { expect(f(a)).toBe(want); }", "check('x', 3); check(...g());", None),
        ("function check(a, want) { expect(f(arguments)).toBe(want); }", "check('x', 3);", None),
        ("function check(a, want) { want.x = g(); expect(f(a)).toEqual(want); }", "check('x', {});", None),
        ("export function check(a, want) { expect(f(a)).toBe(want); }", "check('x', 3);", None),
        ("function check(a, want) { expect(f(a)).toBe(want); }", "check('x', 3); [].map(check);", None),
    ],
)
def test_what_all_calls_of_a_helper_write_out_is_expected(helper, calls, after):
    text = f"{ASSERT}{helper}\ntest('a', () => {{ {calls} }});\n"
    assert best(parsed(text))[0] is (Mode.EXPECTED if after else Mode.OPERANDS)
    assert (after or calls) in stripped(text)


@pytest.mark.parametrize(
    ("statement", "handed", "rules"),
    [
        ("expect(f(1)).to.be(3);", "[f(1)]", None),
        ("expect(f(1)).to.eql([3]);", "[f(1)]", "expect.js"),
        ("expect(f(1)).to.not.eql([3]);", None, None),
        ("expect(f(1)).to.be.a('array');", "[f(1)]", None),
        ("expect(f(1)).to.not.be.ok();", "[f(1)]", None),
        ("expect(f).to.throwError(/no/);", "{ __goldseam__.tried(f); return []; }", None),
        ("expect(f(1)).to.be.an('object');", None, None),
        ("expect(f).to.throwError('no');", None, None),
        ("expect(f).to.throwError(function (error) { g(error); });", None, None),
    ],
)
def test_expect_js_is_read_where_it_says_the_same(statement, handed, rules):
    text = f"const expect = require('expect.js');\nit('a', () => {{ {statement} expect(f(2)).to.be(4); }});\n"
    source = of_runner(text, "mocha")
    first = source.slots[0].assertion
    assert (f"__goldseam__(0, () => {handed});" in source.stripped(best(source))) is (handed is not None)
    assert (first.options.get("rules"), first.is_unread) == (rules, handed is None)


@pytest.mark.parametrize(
    ("head", "is_read"),
    [
        ("let expect; before(async () => { ({ expect } = await import('chai')); });", True),
        (
            "var expect; if (global.require) expect = require('chai').expect; else expect = window.expect;",
            True,
        ),
        ("var expect; expect = require('expect.js');", True),
        ("let expect; before(async () => { ({ expect } = await import('other')); });", False),
        ("let expect = other; expect = require('chai').expect;", False),
    ],
)
def test_a_name_that_is_set_to_chai_later_is_chai(head, is_read):
    source = of_runner(f"{head}\nit('a', () => {{ expect(f(1)).to.equal(3); }});\n", "mocha")
    assert [slot.assertion.op for slot in source.slots] == (["js.==="] if is_read else [])


def test_should_js_is_read_where_it_says_the_same():
    first, second = "f(1).should.be.exactly(3); f(1).should.be.true();", "should.exist(f(1)); should.not.exist(f(1));"
    text = f"it('a', () => {{ {first} {second} f.should.throw('no'); }});\n"
    source = of_runner(f"const should = require('should');\n{text}", "mocha")
    operators = [(slot.assertion.op, "not" in slot.assertion.options) for slot in source.slots]
    assert operators == [("js.===", False), ("js.is", False), ("js.==", True), ("js.==", False)]
    assert "f.should.throw('no');" in source.stripped(best(source))


@pytest.mark.parametrize(
    ("table", "loop", "left"),
    [
        (
            "{ a: { in: 1, out: 2 } }",
            "for (const k in all) test(k, () => { TEST });",
            "{ a: { in: 1, out: undefined } }",
        ),
        ("{ a: 2 }", "Object.keys(all).forEach((k) => { test(k, () => { TEST }); });", "{ a: undefined }"),
        ("{ a: 2 }", "for (const k of Object.keys(all)) test(k, () => { TEST });", "{ a: undefined }"),
        ("{ a: 2 }", "for (const k in all) test(k, () => { g(all); TEST });", None),
        ("{ a: 2 }", "for (const k in other) test(k, () => { TEST });", None),
        ("{ a: 2, ...more }", "for (const k in all) test(k, () => { TEST });", None),
    ],
)
def test_a_table_by_keys_loses_what_only_expectations_read(table, loop, left):
    inner = "expect(f(all[k].in)).toBe(all[k].out);" if "in:" in table else "expect(f(k)).toBe(all[k]);"
    text = f"const all = {table};\n{loop.replace('TEST', inner)}\n"
    assert best(parsed(text))[0] is (Mode.EXPECTED if left else Mode.OPERANDS)
    assert f"const all = {left or table};" in stripped(text)


def test_a_callback_of_supertest_may_be_made_by_a_call():
    text = "const cb = after(2, done); request(app).get('/').expect(200, cb);"
    source = of_runner(f"const request = require('supertest');\nit('a', (done) => {{ {text} }});\n", "mocha")
    assert "() => [__response__.status]); }).end(cb);" in source.stripped(best(source))


def test_chains_of_should_go_on_behind_a_property():
    text = f"{CHAI}it('a', () => {{ f().should.have.property('_').with.length(2); }});\n"
    handed = "((__it__) => { __goldseam__(0, () => [__it__]); __goldseam__(1, () => [__it__['_']]); })(f());"
    assert handed in stripped(text)
    assert [slot.assertion.op for slot in parsed(text).slots] == ["js.property", "js.length"]


@pytest.mark.parametrize(
    ("statement", "handed"),
    [
        ("if (f(1) !== true) { const why = `no`; throw new Error(why); }", "[f(1)]"),
        ("if (f(1) == null) throw new TypeError('no');", "[f(1)]"),
        ("if (!f(1)) throw new Error('no');", "[f(1)]"),
        ("[1].forEach((x) => { if (f(x) !== 3) throw new Error('no'); });", "[f(x)]"),
        ("try { expect(f(1)).toBe(3); } catch (error) { const why = `no`; throw new Error(why); }", "[f(1)]"),
        ("if (f(1) !== 3) { g(); throw new Error('no'); }", None),
        ("if (f(1) !== 3) throw g();", None),
        ("if (f(1) !== 3) throw new Error('no'); else g();", None),
        ("f((x) => { if (x !== 3) throw new Error('no'); });", None),
        ("f({ read(x) { if (x !== 3) throw new Error('no'); } });", None),
    ],
)
def test_an_if_that_only_throws_asserts_where_the_product_does_not_call_it(statement, handed):
    text = f"test('a', () => {{ {statement} expect(f(2)).toBe(4); }});\n"
    assert (f"__goldseam__(0, () => {handed});" in stripped(text)) is (handed is not None)
    assert (statement in stripped(text)) is (handed is None)


def test_under_mocha_chai_may_be_global():
    text = "it('a', () => { expect(f(1)).to.equal(3); });\n"
    source = StrippedSource(text.encode(), path="a.js", first=0, framework="mocha")
    assert [slot.assertion.op for slot in source.slots] == ["js.==="]
    assert parsed(text).slots == ()


AVA = 'import test from "ava";\n'
UVU = 'import { suite } from "uvu";\nimport * as assert from "uvu/assert";\nconst it = suite("a");\n'


@pytest.mark.parametrize(
    ("head", "statement", "left", "op"),
    [
        (AVA, "t.is(f(1), 3);", "__goldseam__(0, () => [f(1)], null, t);", "js.is"),
        (AVA, "t.deepEqual(f(1), [3], 'three');", "__goldseam__(0, () => [f(1)], null, t);", "js.deep"),
        (AVA, "t.true(f(1));", "__goldseam__(0, () => [f(1)], null, t);", "js.is"),
        (AVA, "t.notRegex(f(1), /x/);", "__goldseam__(0, () => [f(1)], null, t);", "js.match"),
        (
            AVA,
            "const error = t.throws(f, { code: 'E' });",
            "const error = __goldseam__(0, () => { __goldseam__.tried(f); return []; }, null, t, true);",
            "js.raises",
        ),
        (
            AVA,
            "const error = await t.throwsAsync(f(1));",
            (
                "const error = await __goldseam__(0, async () => { await __goldseam__.rejected(() => (f(1))); "
                "return []; }, null, t, true);"
            ),
            "js.raises",
        ),
        (
            AVA,
            "await t.notThrowsAsync(f(1));",
            "await __goldseam__(0, async () => { await __goldseam__.fulfilledOf((f(1))); return []; }, null, t);",
            "no_raise",
        ),
        (UVU, "assert.is(f(1), 3);", "__goldseam__(0, () => [f(1)]);", "js.==="),
        (UVU, "assert.is.not(f(1), 3);", "__goldseam__(0, () => [f(1)]);", "js.==="),
        (UVU, "assert.not(f(1));", "__goldseam__(0, () => [f(1)]);", "js.truth"),
        (UVU, "assert.type(f(1), 'number');", "__goldseam__(0, () => [typeof (f(1))]);", "js.is"),
        (
            UVU,
            "assert.throws(() => f(1), /no/);",
            "__goldseam__(0, () => { (() => f(1))(); return []; });",
            "js.raises",
        ),
    ],
)
def test_assertions_of_ava_and_uvu_are_taken_out(head, statement, left, op):
    call, given = ("test", "async (t)") if head is AVA else ("it", "async ()")
    text = f"{head}{call}('b', {given} => {{ {statement} }});\n"
    assert stripped(text) == text.replace(statement, left)
    [slot] = parsed(text).slots
    assert (slot.assertion.op, slot.function) == (op, ("b",) if head is AVA else ("a > b",))


@pytest.mark.parametrize(
    "statement",
    [
        "t.throws(f, (error) => error.code === 'E');",
        "const told = t.is(f(1), 3);",
        "t.like(f(1), { a: 1 });",
        "t.snapshot(f(1));",
    ],
)
def test_what_ava_has_that_the_host_has_not_stays(statement):
    text = f"{AVA}test('b', (t) => {{ t.is(f(1), 3); {statement} }});\n"
    assert statement in stripped(text)
    assert best(parsed(text))[1] is Mode.INSIDE


def test_the_tests_of_qunit_have_the_titles_of_their_modules():
    head = "QUnit.module('a');\n"
    text = f"{head}QUnit.test('b', (assert) => {{ assert.expect(1); assert.deepEqual(f(1), [3]); }});\n"
    assert "assert.expect(1); __goldseam__(0, () => [f(1)], null, assert);" in stripped(text)
    assert parsed(text).slots[0].function == ("a > b",)
    nested = "QUnit.module('c', () => { QUnit.test('d', (assert) => { assert.ok(f(1)); }); });\n"
    assert parsed(nested).slots[0].function == ("c > d",)
    taken = "const { test } = QUnit;\ntest('d', (assert) => { assert.throws(f, /no/); });\n"
    assert parsed(taken).slots[0].assertion.op == "js.raises"


@pytest.mark.parametrize(
    ("statement", "is_taken"),
    [
        ("expect(f(1)).toEqual([3]);", True),
        ("expect(f(1)).not.toBe(3);", True),
        ("expect(f).toThrowError(TypeError, 'no');", True),
        ("expect(f(1)).toMatch(/x/);", True),
        ("expect(f).toThrow('no');", False),
        ("expect(f(1)).toMatch('x.y');", False),
        ("expect(f(1)).toStrictEqual([3]);", False),
    ],
)
def test_of_jasmine_its_own_matchers_are_read(statement, is_taken):
    text = f"it('a', () => {{ expect(f(2)).toBe(4); {statement} }});\n"
    source = StrippedSource(text.encode(), path="a.spec.js", first=0, framework="jasmine")
    assert (statement not in source.stripped(best(source))) is is_taken


def test_the_context_of_node_test_counts_what_is_taken_out_where_it_plans():
    head = 'import { test } from "node:test";\n'
    text = f"{head}test('a', (t) => {{ t.assert.strictEqual(f(1), 3); }});\n"
    assert stripped(text) == f"{head}test('a', (t) => {{ __goldseam__(0, () => [f(1)]); }});\n"
    planned = stripped(text.replace("{ t.assert", "{ t.plan(1); t.assert"))
    assert planned == f"{head}test('a', (t) => {{ t.plan(1); __goldseam__(0, () => [f(1)], null, t); }});\n"
    assert parsed(text.replace("node:test", "other")).slots == ()


@pytest.mark.parametrize(
    "head", ["const tspl = require('@matteo.collina/tspl');\n", "import { tspl } from '@matteo.collina/tspl';\n"]
)
@pytest.mark.parametrize(
    ("name", "made"), [("plan", "const plan = tspl(t, { plan: 1 })"), ("t", "t = tspl(t, { plan: 1 })")]
)
def test_what_tspl_plans_is_nodes_assert_and_counted(head, name, made):
    text = f"{head}test('a', async (t) => {{ {made}; {name}.equal(f(1), 3); await {name}; }});\n"
    assert f"{made}; __goldseam__(0, () => [f(1)], null, {name}); await {name};" in stripped(text)
    assert parsed(text.replace("@matteo.collina/tspl", "other")).slots == ()


@pytest.mark.parametrize(
    "other",
    [
        "expect(f(2)).toMatchSnapshot();",
        "expect(f(2)).to.be.within(1, 2);",
        "const y = assert.equal(f(2), 3);",
        "expect(f(2)).toMatchInlineSnapshot(f(3), `3`);",
    ],
)
def test_an_assertion_that_is_not_read_counts_as_left_inside(other):
    text = f"{ASSERT}test('a', () => {{ expect(f(1)).toBe(3); {other} }});\n"
    [first, second] = parsed(text).slots
    assert (first.assertion.modes[0], second.assertion.modes) == (Mode.EXPECTED, (Mode.INSIDE,))
    assert (first.function, second.function) == (("a",), ("a",))
    assert other in stripped(text)


@pytest.mark.parametrize(
    "statement",
    [
        "assert.fail('never');",
        "assert.ok('it came here');",
        "assert(true);",
        "t.pass();",
        "t.ok(true);",
        "expect(true).toBe(false);",
    ],
)
def test_a_place_is_come_to_as_often_as_with_the_fix(statement):
    head = f"{ASSERT}const test = require('tape');\n"
    text = f"{head}test('a', (t) => {{ {statement} }});\n"
    counted = ", null, t" if statement.startswith("t.") else ""
    assert stripped(text) == f"{head}test('a', (t) => {{ __goldseam__(0, () => []{counted}); }});\n"
    [slot] = parsed(text).slots
    assert (slot.assertion.op, slot.assertion.modes[0]) == ("no_raise", Mode.EXPECTED)


@pytest.mark.parametrize(
    ("statement", "is_taken"),
    [
        ("assert(!{}.polluted);", True),
        ("expect({}.polluted).toBe(undefined);", True),
        ("expect(own['polluted']).toBeUndefined();", True),
        ("expect(own.a).toBe(1);", False),
    ],
)
def test_what_a_product_may_add_to_every_object_is_handed_out(statement, is_taken):
    text = f"{ASSERT}const own = {{ a: 1 }};\ntest('a', () => {{ {statement} expect(own).toBe(f()); }});\n"
    assert ("polluted" in stripped(text)) is is_taken
    assert (statement in stripped(text)) is not is_taken


@pytest.mark.parametrize("handler", ["throw error;", "done(error);", "return done(error); // it failed"])
def test_a_catch_that_only_ends_the_test_waits_for_no_assertion(handler):
    text = f"{ASSERT}it('a', (done) => {{ try {{ assert.equal(f(1), 3); }} catch (error) {{ {handler}\n }} }});\n"
    assert "try { __goldseam__(0, () => [f(1)]); } catch" in stripped(text)


def test_what_waits_in_an_operand_is_waited_for():
    text = f"{ASSERT}test('a', async () => {{ assert.equal(await f(1), 3)\n g() }});\n"
    assert "await __goldseam__(0, async () => [await f(1)])\n g()" in stripped(text)


@pytest.mark.parametrize(
    ("head", "rules"),
    [(ASSERT, "loose"), (STRICT, "strict"), ('const assert = require("assert").strict;\n', "strict")],
)
def test_strict_mode_compares_strictly(head, rules):
    [slot] = parsed(f"{head}assert.deepEqual(f(1), [1]);\n").slots
    assert slot.assertion.options == {"rules": rules}


@pytest.mark.parametrize(
    "statement",
    [
        "const y = assert.equal(f(1), 3);",
        "try { assert.equal(f(1), 3); } catch (error) { g(error); }",
        "assert.equal(...f(1));",
        "expect(f(1)).toMatchSnapshot();",
        "expect(f(1)).toBe(3).and(4);",
        "other.equal(f(1), 3);",
        "assert.throws(() => f(), (error) => error.code === 1);",
        "assert.equal(1, 1);",
        "try { assert.equal(f(1), 3); } catch (error) { done(error.cause); }",
    ],
)
def test_what_is_read_in_no_way_that_is_safe_stays(statement):
    text = f"{ASSERT}test('a', () => {{ {statement} }});\n"
    assert parsed(text).slots == ()
    assert stripped(text) == text


def test_an_expect_of_another_package_stays():
    assert parsed('import { expect } from "chai";\nexpect(f(1)).toBe(3);\n').slots == ()


def test_tests_that_run_beside_each_other_stay():
    with pytest.raises(ValueError, match="beside"):
        parsed("test.concurrent('a', () => { expect(f(1)).toBe(3); });\n")


@pytest.mark.parametrize(
    ("statement", "handed", "ops"),
    [
        (
            "expect(f()).to.be.a('string').and.not.equal('x');",
            "void ((__it__) => { __goldseam__(0, () => [__it__]); __goldseam__(1, () => [__it__]); })(f());",
            ["js.kind", "js.==="],
        ),
        (
            "expect(f()).to.have.property('a').and.equal(3);",
            "void ((__it__) => { __goldseam__(0, () => [__it__]); __goldseam__(1, () => [__it__['a']]); })(f());",
            ["js.property", "js.==="],
        ),
        (
            "return expect(f()).to.eventually.be.rejected.and.be.an.instanceOf(E).and.include({ a: 3 });",
            (
                "return (async () => { const __it__ = await __goldseam__.reason(f()); "
                "__goldseam__(0, () => [__it__]); __goldseam__(1, () => [__it__]); })();"
            ),
            ["js.instance", "js.object"],
        ),
    ],
)
def test_a_chain_of_chai_is_several_assertions_of_one_value(statement, handed, ops):
    head = "const { expect } = require('chai');\n"
    source = parsed(f"{head}it('a', () => {{ {statement} }});\n")
    assert [slot.assertion.op for slot in source.slots] == ops
    assert f"{{ {handed} }}" in source.stripped(best(source))
    assert statement in source.stripped({**best(source), 1: Mode.INSIDE})
    assert "__it__" in source.recording(best(source))


def test_a_chain_is_no_call_of_what_a_line_without_a_semicolon_ends_with():
    body = "const it = f()\n  it.should.have.property('a').and.equal(3)\n"
    source = parsed(f"require('chai').should()\ntest('a', () => {{\n  {body}}})\n")
    assert "const it = f()\n  void ((__it__) => {" in source.stripped(best(source))


@pytest.mark.parametrize(
    "statement",
    [
        "expect(f()).to.not.be.a('string').and.equal('x');",
        "expect(f).to.throw(E).and.have.property('a');",
        "expect(f()).to.not.be.rejected.and.equal(3);",
        "expect(f()).to.be.a('string').and.satisfy(g);",
        "expect(await f()).to.be.a('string').and.equal('x');",
    ],
)
def test_a_chain_with_what_is_not_read_stays(statement):
    head = "const { expect } = require('chai');\n"
    source = parsed(f"{head}it('a', async () => {{ expect(g()).to.equal(1); {statement} }});\n")
    assert statement in source.stripped(best(source))


DOM = 'import { expect, it } from "vitest";\nit("shows", () => { %s });\n'


@pytest.mark.parametrize(
    ("statement", "handed", "op"),
    [
        (
            "expect(f()).toBeVisible()",
            "__goldseam__.either((it) => expect(it).toBeVisible(), (it) => expect(it).not.toBeVisible(), f())",
            "js.is",
        ),
        ("expect(f()).toHaveTextContent('2 of 3')", "__goldseam__.textOf(f())", "js.contain"),
        ("expect(f()).not.toHaveTextContent(/of/)", "__goldseam__.textOf(f())", "js.match"),
        ("expect(f()).toHaveValue(3)", "__goldseam__.valueOf(f())", "js.deep"),
        ("expect(f()).toHaveClass('on')", "[...(f()).classList]", "js.contain"),
        ("expect(f()).toHaveAttribute('href', '/a')", "(f()).getAttribute('href')", "js.is"),
        ("expect(f()).not.toHaveAttribute('href')", "(f()).hasAttribute('href')", "js.is"),
        ("expect(f()).to.be.a('function')", "f()", "js.kind"),
        ("expect(f()).to.be.true", "f()", "js.is"),
    ],
)
def test_matchers_of_jest_dom_and_of_chai_in_vitest_are_read(statement, handed, op):
    source = StrippedSource((DOM % statement).encode(), path="a.test.js", first=0, framework="vitest")
    assert [slot.assertion.op for slot in source.slots] == [op]
    assert f"() => {{ __goldseam__(0, () => [{handed}]) }}" in source.stripped(best(source))


@pytest.mark.parametrize("matcher", ["toHaveTextContent('')", "toHaveClass('a b')", "toHaveStyle('a: b')", "toBeOdd()"])
def test_other_matchers_of_elements_stay(matcher):
    source = StrippedSource((DOM % f"expect(f()).{matcher}").encode(), path="a.test.js", first=0, framework="vitest")
    assert source.slots == ()


FILED = """\
it("shows", () => {
  expect(f(1)).toMatchSnapshot();
  expect(f(2)).toMatchSnapshot("a hint");
  expect(() => f(3)).toThrowErrorMatchingSnapshot();
  expect(f(4)).toMatchSnapshot({ at: expect.any(Date) });
  expect(f(5)).toMatchSnapshot(f(6));
});
"""


def test_snapshots_in_the_file_beside_are_taken_out_where_there_is_one():
    source = StrippedSource(FILED.encode(), path="a.test.js", first=0, has_snapshots=True)
    assert [slot.assertion.op for slot in source.slots] == [
        "js.snapshot",
        "js.snapshot",
        "js.raises",
        "js.snapshot",
        "js.truth",
    ]
    assert source.stripped(best(source)).split("\n")[1:5] == [
        "  __goldseam__(0, () => [__goldseam__.shown(f(1))]);",
        "  __goldseam__(1, () => [__goldseam__.shown(f(2))]);",
        "  __goldseam__(2, () => { (() => f(3))(); return []; });",
        "  __goldseam__(3, () => [__goldseam__.shown(f(4))]);",
    ]
    assert source.recording(best(source)).split("\n")[2:5] == [
        "  __goldseam__(1, () => [__goldseam__.shown(f(2)), __goldseam__.same]);",
        "  __goldseam__(2, () => { (() => f(3))(); return []; }, () => [__goldseam__.same]);",
        "  __goldseam__(3, () => [__goldseam__.shown(f(4)), __goldseam__.sameBut({ at: expect.any(Date) })]);",
    ]
    assert parsed(FILED).slots == ()


def test_a_file_of_snapshots_goes_where_nothing_compares_with_it_any_more():
    test, files = "src/a.test.js", {"src/__snapshots__/a.test.js.v5.snap", "src/__snapshots__/a.test.jsx.snap"}
    own = ["src/__snapshots__/a.test.js.v5.snap"]
    assert snapshots.used({test: FILED.encode(), "b.test.js": FILED.encode()}, files) == {test}
    assert list(snapshots.emptied({test}, {test: b"f(1);"}, files)) == own
    assert list(snapshots.emptied({test}, {test: FILED.encode()}, files)) == []
    assert list(snapshots.emptied(set(), {test: b"f(1);"}, files)) == []


@pytest.mark.parametrize(
    ("name", "text", "is_hidden"),
    [
        ("Doc", '`\nDoc {\n  "a": "\\`",\n}\n`', False),
        ("Doc", "`AB`", True),
        ("Doc", None, True),
        ("Object", "`AB`", False),
    ],
)
def test_an_object_of_a_class_that_a_snapshot_shows_in_another_form_stays(name, text, is_hidden):
    kept = ["js", ["O", name, [[["s", "a"], ["s", "`"]]]]]
    test = ExpectedTest(place="host", events=(Expected(slot=0, kept=(kept,)),))
    sites = {0: Site(op="js.snapshot", sides=("out", "kept"), options={"by": "value"})}
    expectations = Expectations(files={}, sites=sites, tests={"src/a.test.js::a": test})
    beside = {} if text is None else {"src/__snapshots__/a.test.js.snap": f"exports[`a 1`] = {text};\n".encode()}
    found = snapshots.shown_otherwise(expectations, {"src/a.test.js": b"", **beside}, ["src/a.test.js"])
    assert found == ({"src/a.test.js"} if is_hidden else set())


def test_a_recording_hands_out_both_sides():
    text = f"{ASSERT}const want = {{ a: 1 }};\nassert.deepEqual(f(1), want, 'w');\nassert.throws(f, /x/);\n"
    assert recorded(text).endswith(
        "__goldseam__(0, () => [f(1), want]);\n"
        "__goldseam__(1, () => { __goldseam__.tried(f); return []; }, () => [/x/]);\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("const want = 3;\nexpect(f(1)).toBe(want);", "const want = undefined;\n__goldseam__(0, () => [f(1)]);"),
        ("const want = [3];\nf(want);\nexpect(f(1)).toEqual(want);", None),
        (
            "const want = 3;\nf(want);\nexpect(f(1)).toBe(want);",
            "const want = 3;\nf(want);\n__goldseam__(0, () => [f(1)]);",
        ),
        (
            "for (const t of [{ a: 1, b: 2 }]) test(`a ${t.a}`, () => { expect(f(t.a)).toBe(t.b); });",
            "for (const t of [{ a: 1, b: undefined }]) test(`a ${t.a}`, () => { __goldseam__(0, () => [f(t.a)]); });",
        ),
        (
            "for (const t of [{ in: 1, out: 2 }]) test(`a ${t.out}`, () => { expect(f(t.in)).toBe(t.out); });",
            "for (const t of [{ in: 1, out: 2 }]) test(`a ${t.out}`, () => { __goldseam__(0, () => [f(t.in)]); });",
        ),
        (
            "it.each([[1, 2]])('%i', (a, b) => { expect(f(a)).toBe(b); });",
            "it.each([[1, undefined]])('%i', (a, b) => { __goldseam__(0, () => [f(a)]); });",
        ),
        (
            "it.each([[1, 2]])('%i is %i', (a, b) => { expect(f(a)).toBe(b); });",
            "it.each([[1, 2]])('%i is %i', (a, b) => { __goldseam__(0, () => [f(a)]); });",
        ),
        (
            "const all = { x: 2 };\nfor (const [a, b] of Object.entries(all)) expect(f(a)).toBe(b);",
            "const all = { x: undefined };\nfor (const [a, b] of Object.entries(all)) __goldseam__(0, () => [f(a)]);",
        ),
        ("// it gives 3\nexpect(f(1)).toBe(3); /* three\n */", "\n__goldseam__(0, () => [f(1)]);         \n   "),
        (
            "// @ts-expect-error\nexpect(f(1)).toBe(3); // eslint-disable-line -- it is 3",
            "// @ts-expect-error\n__goldseam__(0, () => [f(1)]); ",
        ),
        (
            "const low = (s) => s.trim().toLowerCase();\nconst want = ' A';\nexpect(low(f(1))).toBe(low(want));",
            "const low = (s) => s.trim().toLowerCase();\nconst want = undefined;\n__goldseam__(0, () => [low(f(1))]);",
        ),
        (
            "function low(s, n) {\n  const t = s.trim();\n  return t.repeat(n);\n}\nexpect(f(1)).toBe(low(' A', 2));",
            "function low(s, n) {}\n__goldseam__(0, () => [f(1)]);",
        ),
        ("const old = [3];\nexpect(f(1)).toBe(3);", "const old = undefined;\n__goldseam__(0, () => [f(1)]);"),
    ],
)
def test_what_only_expectations_read_is_taken_out(before, after):
    if after is None:
        assert [operand.static for operand in parsed(before).slots[0].assertion.operands] == [False, False]
    else:
        assert stripped(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "const seen = [];\non((x) => seen.push(x));\nexpect(seen).toEqual(f(1));",
        "let seen = 0;\non(() => { seen += 1; });\nexpect(seen).toBe(f(1));",
        "const seen = {};\non((x) => { seen[x] = 1; });\nexpect(seen).toEqual(f(1));",
        "for (const t of [{ a: 1 }]) { t.a = f(2); expect(t.a).toBe(f(1)); }",
        "for (const t of [{ a: [1] }]) { f(t.a); expect(t.a).toEqual(f(1)); }",
        "for (const t of [{ a: 1 }]) { f(t); expect(t.a).toEqual(f(1)); }",
        "const now = new Date();\nexpect(f(1)).toEqual(now);",
        "const rows = [{ a: 1 }];\nfor (const row of rows) f(row);\nexpect(rows).toEqual(f(1));",
        "const rows = [{ a: 1 }];\nrows.forEach((row) => f(row));\nexpect(rows).toEqual(f(1));",
        "const rows = [{ a: 1 }];\nrows.forEach(f);\nexpect(rows).toEqual(f(1));",
        "const rows = [{ a: 1 }];\nf(rows.slice());\nexpect(rows).toEqual(f(1));",
        "const all = { x: { a: 1 } };\nf(Object.values(all));\nexpect(all).toEqual(f(1));",
        "const o = { a: 1 };\ntest.each([[o]])('a', (x) => { f(x); });\nexpect(o).toEqual(f(1));",
        "const o = { a: 1 };\nfor (const x of [o]) f(x);\nexpect(o).toEqual(f(1));",
        "const o = null || { a: 1 };\nf(o);\nexpect(o).toEqual(f(1));",
        "const o = { a: 1 };\nf`${o}`;\nexpect(o).toEqual(f(1));",
        "import { want } from './want';\nexpect(f(1)).toEqual(want);",
        "const low = (s) => g(s);\nexpect(f(1)).toBe(low('A'));",
        "const low = (s) => s.x;\nexpect(f(1)).toBe(low('A'));",
        "const low = (s) => s + 1;\nexpect(f(1)).toBe(low.call(g, 'A'));",
        "const low = (s) => { s = g(s); return s; };\nexpect(f(1)).toBe(low('A'));",
        "const low = (s) => { g(s); return s; };\nexpect(f(1)).toBe(low('A'));",
        "const low = (s, t = g()) => s + t;\nexpect(f(1)).toBe(low('A'));",
        "let low = (s) => s.trim();\nlow = g;\nexpect(f(1)).toBe(low('A'));",
    ],
)
def test_what_the_product_may_have_made_is_no_expectation(text):
    assert [operand.static for operand in parsed(text).slots[0].assertion.operands] == [False, False]


@pytest.mark.parametrize(
    "text",
    [
        "const all = [1, 2];\nfor (const one of all) f(one);\nf(all.slice());\nexpect(f(1)).toEqual(all);",
        "const all = { x: 1 };\nf(Object.values(all));\nall.x.toString();\nexpect(f(1)).toEqual(all);",
        "const all = [{ a: [1], b: [2] }];\nfor (const { a, b } of all) { f(a); expect(f(1)).toEqual(b); }",
        "const all = [{ a: [1], b: [2] }];\nfor (const t of all) { f(t.a); expect(f(1)).toEqual(t.b); }",
        "const all = [[[1], [2]]];\nit.each(all)('a', (a, b) => { f(a); expect(f(1)).toEqual(b); });",
        "const o = { a: 1 };\nf(`${o}`);\nexpect(f(1)).toEqual(o);",
        "const rows = [{ a: 1 }];\nfor (const row of rows) f(row.a);\nexpect(f(1)).toEqual(rows);",
    ],
)
def test_what_the_product_is_given_only_parts_of_is_an_expectation_where_nobody_can_change_these(text):
    assert [operand.static for operand in parsed(text).slots[0].assertion.operands] == [False, True]


@pytest.mark.parametrize(
    ("wanted", "handed"),
    [
        *(("lib.BAD", "lib.BAD"), ("message", "message"), ("lib.BadError", ""), ("HTTPError", ""), ("'no'", "")),
        *(("new BadError('no')", ""), ("{ code: 'E', is: BadError }", ""), ("{ code: lib.E }", "{ code: lib.E }")),
        *(("lib.told('no')", "lib.told('no')"), ("`${lib.BAD}!`", "`${lib.BAD}!`")),
    ],
)
def test_what_an_error_says_comes_out_where_the_product_says_it_and_no_class_does(wanted, handed):
    text = f"{ASSERT}import {{ f, message }} from './lib';\ntest('a', () => {{ expect(f).toThrow({wanted}); }});\n"
    beside = f", () => [{handed}]" if handed else ""
    assert f"__goldseam__(0, () => {{ __goldseam__.tried(f); return []; }}{beside});" in stripped(text)
    assert f", () => [{wanted}]);" in recorded(text)


def test_a_text_in_throws_of_uvu_only_says_what_is_tested():
    text = 'import * as assert from "uvu/assert";\nassert.throws(f, "no");\nassert.throws(f, /no/);\n'
    assert [len(slot.assertion.operands) for slot in parsed(text).slots] == [0, 1]


def test_a_literal_type_is_no_place_to_tell_what_is_expected():
    text = 'const r: "b1" | undefined = f(a);\nexpect(r as "b1").toBe("b1");\n'
    source = StrippedSource(text.encode(), path="a.test.ts", first=0)
    assert "b1" not in source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots})


def test_a_directive_stays_first_and_types_are_not_checked():
    assert (
        parsed('"use strict";\nexpect(f(1)).toBe(3);')
        .stripped({0: Mode.EXPECTED})
        .startswith('"use strict";\nconst __')
    )
    source = parsed("/** @jest-environment jsdom */\nexpect(f(1) as number).toBe(3);\n", "a.test.ts")
    text = source.stripped(best(source))
    assert text.startswith("/** @jest-environment jsdom */\n// @ts-nocheck\nconst __goldseam__ =")
    assert text.endswith("__goldseam__(0, () => [f(1) as number]);\n")


def test_where_assertions_are_counted_those_that_are_taken_out_count_as_well():
    text = "test('a', () => { expect.assertions(2); expect(f(1)).toBe(3); expect(f(2)).toBeOdd(); });\n"
    handed = "__goldseam__(0, () => [f(1)], null, expect);"
    assert stripped(text) == text.replace("expect(f(1)).toBe(3);", handed)


def test_an_assertion_is_known_by_the_titles_around_it():
    one = "expect(f(1)).toBe(3);"
    text = f"describe('a', () => {{ it('b', () => {{ {one} }}); it(`c${{d}}`, () => {{ {one} }}); }});"
    assert [slot.function for slot in parsed(text).slots] == [("a > b",), ()]


def test_what_is_left_inside_is_as_it_was():
    text = f"{ASSERT}const want = 3; // three\nassert.equal(f(1), want);\n"
    assert parsed(text).stripped({0: Mode.INSIDE}) == text


def test_literals_are_read_as_values():
    assert list(literals.READING.written("f('a\\n', [1, -2.5], { b: null })")) == [
        *("a\n", [1, -2.5], 1, -2.5, 2.5),
        *({"b": None}, None),
    ]
    with pytest.raises(ValueError, match="grammar"):
        list(literals.READING.written("It is wrong, as (all"))


def guessed(pairs, *, op: str = "js.is", words: str = "", kept=None, title: str = "a", inner: str = "b"):
    """The guess where each pair is what the base hands out and what the fix does, encoded."""
    test = f"a.test.js::{title}"
    gold = [Event(test_id=test, slot=0, n=n, values=(["js", fix],)) for n, (_, fix) in enumerate(pairs)]
    before = [Event(test_id=test, slot=0, n=n, values=(["js", base],)) for n, (base, _) in enumerate(pairs)]
    events = tuple(judge.of_fix(one, [["js", fix] for fix in kept or one.values[0][1:]], {}) for one in gold)
    expectations = Expectations(
        files={"a.test.js": f"test('{title}', () => {{ __goldseam__(0, () => [f('Some Title')]); }});"},
        sites={0: Site(op=op, sides=("out", *("kept" for _ in kept or "1")))},
        tests={test: ExpectedTest(place="host", events=events)},
    )
    return guess(expectations, before, [test, f"{test} > {inner}"], KnownText(words=words), literals.READING)


TEXT = ["s", "nothing"]
PATTERN = ["R", "RegExp", "^[0-9a-f]{8}-[0-9a-f]{4}$", "", []]


@pytest.mark.parametrize(
    ("op", "fix", "kept"),
    [
        ("js.close", ["N", "0.0042"], [["N", "0.0042"]]),
        ("js.close", ["N", "3.25"], [["N", "3.25"], ["N", "0"]]),
        ("js.is", ["N", "NaN"], None),
        ("js.deep", ["D", "Date", "NaN", []], None),
        ("js.deep", ["s", "0123abcd-12ab"], [["m", "StringMatching", False, PATTERN, None]]),
        ("js.snapshot", ["M", "Map", [], []], [["s", "Map {}"]]),
    ],
)
def test_what_many_values_satisfy_or_few_are_takes_few_bits(op, fix, kept):
    assert guessed([(TEXT, fix)], op=op, kept=kept).bits < 8


def test_values_of_another_kind_may_have_another_rule():
    pairs = [(["s", " much ado "], ["s", "much ado"]), (False, True)]
    assert guessed(pairs).rule == "what the base gives, stripped; always True"


def test_what_the_title_of_a_test_tells_is_no_guess():
    pairs = [(TEXT, ["s", "xyzzy-plugh"])]
    for title in ("gives xyzzy-plugh for it", '{"in": 1, "out": "xyzzy-plugh"}'):
        assert guessed(pairs, title=title).bits < 8
    for title in ("gives plugh-xyzzy for it", "gives axyzzy-plugh"):
        assert guessed(pairs, title=title).bits > 8
    assert guessed(pairs, inner="xyzzy-plugh").bits < 8


def test_bits_of_javascript_follow_the_same_rules():
    def bits(base: str, fix: str, words: str = "") -> float:
        return guessed([(["s", base], ["s", fix])], words=words).bits

    assert bits("nothing", "quite another sentence of it") > 40
    assert bits("nothing", "SOME TITLE") < 8
    assert bits("nothing", "quite another", words="another quite") < bits("nothing", "quite another") / 2


@pytest.mark.parametrize(
    ("statement", "goes_on"),
    [
        ("missing();", "try { missing(); } catch {}"),
        ("await missing()", "try { await missing(); } catch {}"),
        (
            "const x = missing(), y = 2;",
            "let x; try { (x = missing()); } catch {} let y; try { (y = 2); } catch {} ",
        ),
        ("const { x } = missing();", "let x; try { ({ x } = missing()); } catch {} "),
        ("for (const x of [1]) { f(x); }", "for (const x of [1]) { try { f(x); } catch {} }"),
        ("while (f()) { g(); }", "while (f()) { g(); }"),
        ("try { f(); } catch (e) { g(); }", "try { f(); } catch (e) { g(); }"),
        ("__goldseam__(0, () => { f(); return []; });", "try { __goldseam__(0, () => { f(); return []; }); } catch {}"),
    ],
)
def test_where_nothing_ends_a_test_its_statements_stand_alone(statement, goes_on):
    text = f'"use strict";\nit("a", async () => {{ {statement} }});\n'

    assert (
        parsed("").unstopped(text, "", 0)
        == f'"use strict";\ntry {{ it("a", async () => {{ {goes_on} }}); }} catch {{}}\n'
    )


def test_names_that_a_module_lacks_are_made_up_where_nothing_ends_a_test():
    imports = 'import test from "node:test";\nimport own, { a, b as c } from "./x.js";\n'
    text = f'{imports}import * as all from "./y.js";\nall.d(c);\n'

    left = parsed("").unstopped(text, "", 0)

    assert 'import test from "node:test";\n' in left
    assert 'try { __module_30__ = (await import("./x.js")); } catch {}' in left
    for name, value in {"own": '"default"', "a": '"a"', "c": '"b"'}.items():
        assert f"var {name} = __lend__(__of__(__module_30__, {value}), []);" in left
    assert 'var all = __lend__({ ...__module_71__ }, ["d"]);' in left
    required = parsed("").unstopped(left, "", 1)
    assert required == left.replace("await import(", "require(")
    assert parsed("").unstopped(required, "", 2) == required


def test_what_is_printed_or_never_run_goes_and_what_other_files_may_read_stays():
    text = """\
const test = require("node:test");
const assert = require("assert");
const want = "b1";
function old() { return [want, "b3"]; }
const lost = () => { return "b4"; };
export function kept() { return "b5"; }
test("a", (t) => {
  console.log("want", want, f(2));
  t.diagnostic("b7");
  "b6";
  assert.strictEqual(f(1), want);
});
"""
    source = parsed(text)
    left = source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots})
    assert re.findall(r"b\d", left) == ["b5"]
    assert "f(2)" in left


RULE_TESTS = """\
const { RuleTester } = require("eslint");
const rule = require("../rule");
const tester = new RuleTester();
const said = (name) => ({ message: `b1 ${name}` });
function more() { return [{ line: 31, ...OTHERS }]; }
const OTHERS = { column: 32 };
const SHARED = [said("b2")];
tester.run("rule", rule, {
  valid: ["a;", { code: "c;", options: [{ errors: 1 }] }],
  invalid: [
    { code: "d;", output: "b4;", errors: SHARED },
    { code: "e;", output: null, errors: more() },
    ...[["f;", "b5"]].map(([code, text]) => ({ code, errors: [{ message: text }] })),
  ],
});
"""


def test_of_cases_of_a_linter_their_code_stays_and_nothing_that_they_expect():
    source = parsed(RULE_TESTS)
    [slot] = source.slots
    assert (slot.assertion.op, slot.assertion.is_unread) == ("js.lint", False)
    left = source.stripped(best(source))
    assert '__goldseam__.linted(0, tester, "rule", rule, {' in left
    assert '...[["f;", undefined]].map(([code, text]) => ({ code, errors: [] })),' in left
    assert [code for code in ('"a;"', '"c;"', '"d;"', '"e;"', '"f;"') if code not in left] == []
    assert re.findall(r"b\d|\b3\d|null", left) == []
    assert "options: [{ errors: 1 }]" in left
    recorded_text = source.recording(best(source))
    assert "}, true);" in recorded_text
    assert recorded_text.count("b4;") == RULE_TESTS.count("b4;")


@pytest.mark.parametrize(
    "expected",
    ["rule.meta.messages.a", "helper('a')", "require('../rule').text", "[...told]"],
)
def test_cases_of_a_linter_stay_where_the_product_says_what_they_expect(expected):
    head = 'const rule = require("../rule");\nconst { helper } = require("./helper");\nconst told = rule.told;\n'
    text = f'new RuleTester().run("rule", rule, {{ valid: [], invalid: [{{ code: "a;", errors: [{expected}] }}] }});\n'
    source = parsed(f'{head}it("b", () => expect(f(1)).toBe(2));\n{text}')
    assert [slot.assertion.is_unread for slot in source.slots] == [False, True]
    assert text in source.stripped(best(source))


def test_what_only_runs_something_is_no_test_of_a_linter():
    assert parsed('const app = new App();\napp.run("a", b, { invalid: [{ code: "a;", errors: [] }] });\n').slots == ()


@pytest.mark.parametrize("failing", ['assert.fail("b1");', "expect(true).toBe(false);", 'assert(false, "b1");'])
def test_what_only_fails_into_a_handler_that_asserts_stays_and_keeps_nothing_inside(failing):
    handler = "assert.strictEqual(error.message, 'b2');"
    text = f'{ASSERT}it("a", async () => {{ try {{ await f(); {failing} }} catch (error) {{ HANDLER }} }});\n'
    source = parsed(text.replace("HANDLER", handler))
    assert [(slot.assertion.op, slot.assertion.is_unread) for slot in source.slots] == [("js.is", False)]
    left = source.stripped(best(source))
    assert failing.partition("(")[0] in left
    assert "__goldseam__(0, () => [error.message])" in left
    assert "b2" not in left
    other = 'it("b", () => expect(f(1)).toBe(2));\n'
    for unsure in ("log(error);", "if (error.code) assert.equal(error.code, 3);"):
        looking = parsed(text.replace("HANDLER", unsure) + other)
        assert looking.slots[0].assertion.is_unread


def test_what_fixes_make_of_a_case_is_as_hard_to_guess_as_what_they_change():
    def text(value: str) -> list[str]:
        return ["s", value]

    def outcome(said: list[str], output: str) -> Any:
        told = [["O", "Object", [[text("messageId"), text(name)]]] for name in said]
        pairs = [["messages", ["a", "Array", told, []]], ["output", text(output)], ["isFixed", bool(said)]]
        return ["js", ["O", "Object", [[text(key), value] for key, value in pairs]]]

    code = "const flavour = pistachio + stracciatella + hazelnut;"
    wanted = [["since", ["N", "9"]], ["errors", ["a", "Array", [text("spaced")], []]]]
    kept = ["js", ["O", "Object", [[text(key), value] for key, value in (*wanted, ("output", text(code + " ")))]]]
    site = Site(op="js.lint", sides=("out", "kept"))
    expected = Expected(slot=0, n=0, kept=(kept,), size=9, plain=True)
    expectations = Expectations(files={}, sites={0: site}, tests={"t": ExpectedTest(place="host", events=(expected,))})
    before = Event(test_id="t", slot=0, values=(outcome([], code),))
    known = KnownText(words="")
    bits = guess(expectations, [before], ["t"], known, literals.READING).bits
    assert 8 < bits < 40


def test_a_tagged_template_may_have_escapes_that_mean_nothing_elsewhere():
    text = "test('x', () => { expect(f(String.raw`.\\undefined\\x`)).toBe(String.raw`\\unicode`);"
    text += " expect(f(1)).toBe(2); });\n"
    for path in ("a.test.ts", "a.test.js"):
        source = parsed(text, path)
        assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.EXPECTED, Mode.EXPECTED]
        left = stripped(text, path)
        assert "String.raw`.\\undefined\\x`" in left
        assert "unicode" not in left


@pytest.mark.parametrize("text", ["f(`\\undefined`);", "f('\\undefined');", "f(String.raw`a`;", "g`\\x${`;"])
def test_other_escapes_and_what_else_the_grammar_does_not_read_are_refused(text):
    with pytest.raises(ValueError, match="grammar"):
        parsed(text)


def test_a_name_that_is_declared_again_keeps_what_it_is_set_to():
    text = (
        ASSERT + "it('x', () => { var code = 'a'; assert.equal(f(code), 'b'); var code = 'c';"
        " assert.equal(f(code), 'd'); });\n"
    )
    assert stripped(text).endswith(
        "it('x', () => { var code = 'a'; __goldseam__(0, () => [f(code)]); var code = 'c';"
        " __goldseam__(1, () => [f(code)]); });\n"
    )


def test_a_parameter_with_a_type_is_expected_where_all_calls_give_it_such_values():
    text = "function check(text: string, want: any) { expect(f(text)).toBe(want); }\n"
    text += "test('x', () => check('a', 'b'));\n"
    assert best(parsed(text, "a.test.ts")) == {0: Mode.EXPECTED}
    assert "'b'" not in stripped(text, "a.test.ts")


@pytest.mark.parametrize(
    ("head", "value"),
    [
        ('import { EOL } from "os";', "['a', 'b'].join(EOL)"),
        ('const os = require("node:os");', "'a'.repeat(2) + os.EOL"),
        ('const os = require("os"), path = require("path");', "path.join(os.tmpdir(), 'a')"),
        ("", "String(12).padStart(3)"),
    ],
)
def test_a_text_that_is_made_of_such_values_is_expected_whoever_gets_it(head, value):
    assert best(parsed(f"{head}test('x', () => {{ const code = {value}; expect(print(code)).toBe(code); }});\n")) == {
        0: Mode.EXPECTED
    }


@pytest.mark.parametrize(
    ("parts", "mode"),
    [
        ("__dirname, 'a'", Mode.EXPECTED),
        ("'/a', 'b'", Mode.EXPECTED),
        ("'a'", Mode.OPERANDS),
        ("name", Mode.OPERANDS),
        ("", Mode.OPERANDS),
    ],
)
def test_a_path_below_the_folder_that_the_process_is_in_is_no_expectation(parts, mode):
    head = "import { resolve } from 'path'; const name = 'a';"
    assert best(parsed(f"{head}test('x', () => {{ expect(f()).toBe(resolve({parts})); }});\n")) == {0: mode}


def test_a_list_that_the_product_gets_is_not_expected_though_a_method_made_it():
    for value in ("['a'].slice()", "'a b'.split(' ')", "[[1]].flat()", "Array.from('ab')"):
        text = f"test('x', () => {{ const given = {value}; expect(sorted(given)).toEqual(given); }});\n"
        assert best(parsed(text)) == {0: Mode.OPERANDS}


def test_what_a_helper_is_given_by_names_and_loops_is_expected_where_it_is_texts():
    text = (
        "function check(code, want) { expect(print(code)).toBe(code); expect(size(code)).toEqual(want); }\n"
        "test('x', () => { const first = 'a'; check(first, 1); ['b', 'c'].forEach((one) => check(one, 2)); });\n"
    )
    assert best(parsed(text)) == {0: Mode.EXPECTED, 1: Mode.EXPECTED}
    changed = text.replace("'a'", "['a']")
    assert best(parsed(changed)) == {0: Mode.OPERANDS, 1: Mode.EXPECTED}


def test_a_name_that_is_set_once_in_front_of_tests_is_expected_and_goes():
    text = "let want, dir;\nbeforeEach(() => { want = 'abc'; dir = 'd'; });\n"
    text += "it('x', () => { expect(f(dir)).toBe(want); });\n"
    assert best(parsed(text)) == {0: Mode.EXPECTED}
    assert stripped(text).startswith("let want, dir;\nbeforeEach(() => { want = undefined; dir = 'd'; });")


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("let want;\nbeforeEach(() => { want = f(2); });", "expect(f(1)).toBe(want);"),
        ("let want;\nbeforeEach(() => { if (f(2)) want = 1; });", "expect(f(1)).toBe(want);"),
        ("let want;\nbeforeEach(() => { f(() => { want = 1; }); });", "expect(f(1)).toBe(want);"),
        ("let want;\nbeforeEach(() => { want = 1; });", "f(() => { want = 2; }); expect(f(1)).toBe(want);"),
        ("let want = 2;\nbeforeEach(() => { want = 1; });", "expect(f(1)).toBe(want);"),
        ("let want;\non(() => { want = 1; });", "expect(f(1)).toBe(want);"),
        ("let want;\nbeforeEach(() => { want += 1; });", "expect(f(1)).toBe(want);"),
        ("let want;\nbeforeEach(() => { want = [1]; });", "expect(f(want)).toEqual(want);"),
    ],
)
def test_a_name_that_the_product_may_set_or_change_is_not_expected(head, body):
    assert best(parsed(f"{head}\nit('x', () => {{ {body} }});\n"))[0] is Mode.OPERANDS


GIVEN = """\
const first = { name: 'one', size: 3, parts: [1] };
function check(text, want) {
  it('reads ' + want.name, () => { for (const key in want) expect(f(text)[key]).toEqual(want[key]); });
}
check('a', first);
check('b', { name: 'two', size: 4 });
"""


def test_what_objects_of_a_helper_hold_by_their_keys_is_expected_and_goes_but_for_what_a_title_has():
    assert best(parsed(GIVEN)) == {0: Mode.EXPECTED}
    left = stripped(GIVEN)
    assert "first = { name: 'one', size: undefined, parts: undefined };" in left
    assert "check('b', { name: 'two', size: undefined });" in left
    rows = "for (const want of [{ a: 1 }, { a: 2 }]) it('x', () => {"
    rows += " Object.keys(want).forEach((key) => { expect(f()[key]).toBe(want[key]); }); });\n"
    assert best(parsed(rows)) == {0: Mode.EXPECTED}
    assert "[{ a: undefined }, { a: undefined }]" in stripped(rows)


@pytest.mark.parametrize("more", ["f(first);", "first.size = f(2);", "check('c', f(3));", "check('c', { ...f(3) });"])
def test_objects_that_the_product_has_a_part_in_are_not_expected_by_their_keys(more):
    assert best(parsed(GIVEN + more))[0] is Mode.OPERANDS


@pytest.mark.parametrize("more", ["console.table(first.parts);", "it('y', () => f(first.size));"])
def test_objects_that_something_else_reads_stay_though_they_are_expected(more):
    assert "parts: [1]" in stripped(GIVEN + more)


LIB = f"{ASSERT}const lib = require('../lib');\n"
SAME = f"{LIB}function same(value, want) {{ assert.equal(value, want); }}\n"


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ("if (lib.isA()) same(lib.f(), 1); else same(lib.f(), 2);", Mode.OPERANDS),
        ("if (lib.isA()) { same(lib.f(), 1); return; } same(lib.f(), 2);", Mode.OPERANDS),
        ("switch (lib.kind()) { case 1: same(lib.f(), 1); break; default: same(lib.f(), 2); }", Mode.OPERANDS),
        ("lib.isA() ? same(lib.f(), 1) : same(lib.f(), 2);", Mode.OPERANDS),
        ("lib.isA() && same(lib.f(), 1); same(lib.f(), 2);", Mode.OPERANDS),
        ("function one() { same(lib.f(), 1); } function two() { same(lib.f(), 2); } if (lib.isA()) one(); else two();",
         Mode.OPERANDS),
        ("function one() { same(lib.f(), 1); } function two() { same(lib.f(), 2); } one(); two();", Mode.EXPECTED),
        ("try { lib.g(); same(lib.f(), 1); } catch { same(lib.f(), 2); }", Mode.OPERANDS),
        ("if (lib.isA()) same(lib.f(), 1); else same(lib.g(), 1);", Mode.EXPECTED),
        ("if (process.platform === 'win32') same(lib.f(), 1); else same(lib.f(), 2);", Mode.EXPECTED),
        ("same(lib.f(), 1); same(lib.f(), 2);", Mode.EXPECTED),
    ],
)  # fmt: skip
def test_what_a_helper_is_given_where_the_product_says_which_call_is_come_to_is_not_expected(body, mode):
    assert best(parsed(f"{SAME}it('x', () => {{ {body} }});\n"))[0] is mode


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ("if (!lib.takes(a)) continue; assert.equal(lib.f(a), want);", Mode.OPERANDS),
        ("if (lib.takes(a)) assert.equal(lib.f(a), want);", Mode.OPERANDS),
        ("if (lib.takes(a)) { same(lib.f(a), want); }", Mode.OPERANDS),
        ("if (a) { if (!lib.takes(a)) continue; } assert.equal(lib.f(a), want);", Mode.OPERANDS),
        ("switch (lib.takes(a)) { case 1: continue; } assert.equal(lib.f(a), want);", Mode.OPERANDS),
        ("while (lib.takes(a)) { break; } assert.equal(lib.f(a), want);", Mode.EXPECTED),
        ("const sum = want + 1; if (!lib.takes(a)) continue; assert.equal(lib.f(a), sum);", Mode.OPERANDS),
        ("const sum = want + 1, all = [sum]; if (lib.takes(a)) assert.deepEqual(lib.f(a), all);", Mode.OPERANDS),
        ("const sum = want + 1; assert.equal(lib.f(a), sum);", Mode.EXPECTED),
        ("const sum = 1 + 1; if (!lib.takes(a)) continue; assert.equal(lib.f(a), sum);", Mode.EXPECTED),
        ("if (want === null) continue; assert.equal(lib.f(a), want);", Mode.EXPECTED),
        ("if (a) assert.equal(lib.f(a), want); else assert.equal(lib.g(a), want);", Mode.EXPECTED),
        ("assert.equal(lib.f(a), want);", Mode.EXPECTED),
    ],
)
@pytest.mark.parametrize(
    "loop", ["for (const [a, want] of [[1, 2], [3, 4]]) { BODY }", "[[1, 2], [3, 4]].forEach(([a, want]) => { BODY });"]
)
def test_what_a_row_expects_where_the_product_says_which_rows_are_come_to_is_not_expected(loop, body, mode):
    body = body if "for (" in loop else body.replace("continue", "return")
    text = f"{SAME if 'same(' in body else LIB}it('x', () => {{ {loop.replace('BODY', body)} }});\n"
    assert best(parsed(text))[0] is mode


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ("if (!lib.takes(a)) return; assert.equal(lib.f(a), want);", Mode.OPERANDS),
        ("if (lib.takes(a)) assert.equal(lib.f(a), want);", Mode.OPERANDS),
        ("const sum = want + 1; if (!lib.takes(a)) return; assert.equal(lib.f(a), sum);", Mode.OPERANDS),
        ("if (a === 2) return; assert.equal(lib.f(a), want);", Mode.EXPECTED),
        ("assert.equal(lib.f(a), want);", Mode.EXPECTED),
    ],
)
@pytest.mark.parametrize("function", ["function row(a, want) { BODY }", "const row = (a, want) => { BODY };"])
def test_what_a_function_is_given_is_not_expected_where_the_product_says_of_which_call_it_is(function, body, mode):
    text = f"{LIB}{function.replace('BODY', body)}\nit('x', () => {{ row(1, 2); row(3, 4); }});\n"
    assert best(parsed(text))[0] is mode


def test_a_row_of_each_that_the_product_leaves_out_is_a_test_of_its_own():
    body = "if (lib.takes(a)) assert.equal(lib.f(a), want);"
    text = f"{LIB}it.each([[1, 2], [3, 4]])('%s', (a, want) => {{ {body} }});\n"
    assert best(parsed(text))[0] is Mode.EXPECTED


def test_what_is_empty_and_what_has_a_length_are_told_apart():
    head = 'const { expect } = require("chai");\n'
    text = f"{head}expect(f(1)).to.not.be.empty;\nexpect(f(2)).to.have.lengthOf(2);\nexpect(f(3)).to.be.empty;"
    options = [dict(slot.assertion.options) for slot in parsed(text).slots]
    assert options == [{"by": "keys", "not": True}, {"by": "length"}, {"by": "keys"}]


def test_tape_compares_by_rules_of_its_own():
    text = 'const test = require("tape");\ntest("a", (t) => { t.deepEqual(f(1), { a: 1 }); t.notSame(f(2), [1]); });'
    source = StrippedSource(text.encode(), path="a.js", first=0, framework="tap")
    options = [dict(slot.assertion.options) for slot in source.slots]
    assert options == [{"rules": "tape"}, {"rules": "tape", "not": True}]


@pytest.mark.parametrize(
    ("loop", "mode"),
    [
        ("for (const key of Object.keys(table)) if (f(key)) expect(g(key)).toBe(table[key]);", Mode.OPERANDS),
        ("for (const key in table) { if (f(key)) continue; expect(g(key)).toBe(table[key].want); }", Mode.OPERANDS),
        ("Object.keys(table).forEach((key) => { if (f(key)) expect(g(key)).toBe(table[key]); });", Mode.OPERANDS),
        ("for (const key of Object.keys(table)) expect(g(key)).toBe(table[key]);", Mode.EXPECTED),
    ],
)
def test_a_row_that_a_key_leads_to_is_not_expected_where_the_product_says_of_which(loop, mode):
    rows = "{ want: 1 }, b: { want: 2 }" if ".want" in loop else "1, b: 2"
    head = "import { f, g } from './lib';\n"
    assert set(best(parsed(f"{head}test('x', () => {{ const table = {{ a: {rows} }}; {loop} }});")).values()) == {mode}


ROWS = "[['a', 1], ['b', 2]]"
ONE = "const one = async () => { expect(await lib.f(a)).toBe(w); };"
CHECK = "function check(value, want) { expect(value).toBe(want); }\n"
WAITING = "async function check(name, want) { expect(await lib.f(name)).toBe(want); }\n"
ASKING = "const check = (name, want) => lib.f(name).then((value) => { expect(value).toBe(want); });\n"


@pytest.mark.parametrize(
    ("head", "body", "mode"),
    [
        ("", f"await Promise.all({ROWS}.map(async ([a, w]) => {{ expect(await lib.f(a)).toBe(w); }}));", "operands"),
        ("", f"{ROWS}.forEach(([a, w]) => {{ lib.get(a, (value) => {{ expect(value).toBe(w); }}); }});", "operands"),
        ("", f"for (const [a, w] of {ROWS}) all.push(lib.f(a).then((it) => expect(it).toBe(w)));", "operands"),
        ("", f"for (const [a, w] of {ROWS}) lib.walk({{ enter(it) {{ expect(it).toBe(w); }} }});", "operands"),
        ("", f"for (const [a, w] of {ROWS}) (async () => {{ expect(await lib.f(a)).toBe(w); }})();", "operands"),
        ("", f"for (const [a, w] of {ROWS}) {{ expect(await lib.f(a)).toBe(w); }}", "expected"),
        ("", f"for (const [a, w] of {ROWS}) {{ {ONE} await one(); }}", "expected"),
        ("", f"for (const [a, w] of {ROWS}) {{ {ONE} all.push(one()); }}", "operands"),
        ("", f"for (const [a, w] of {ROWS}) {{ const is = (it) => expect(it).toBe(w); is(lib.f(a)); }}", "expected"),
        ("", f"for (const [a, w] of {ROWS}) new Promise((done) => {{ expect(lib.f(a)).toBe(w); }});", "expected"),
        (CHECK, "lib.on('a', (it) => check(it, 1)); lib.on('b', (it) => check(it, 2));", "operands"),
        (CHECK, "lib.run(jest.fn((it) => check(it, 1)), jest.fn((it) => check(it, 2)));", "operands"),
        (CHECK, "lib.walk({ enter(it) { check(it, 1); }, leave(it) { check(it, 2); } });", "operands"),
        (CHECK, "lib.a((it) => { check(it, 1); lib.b((one) => { check(one, 2); }); });", "operands"),
        (CHECK, "setTimeout(() => check(lib.f(), 1)); [1].forEach(() => check(lib.f(), 2));", "expected"),
        (WAITING, "await Promise.all([check('a', 1), check('b', 2)]);", "operands"),
        (WAITING, "await check('a', 1); await check('b', 2);", "expected"),
        (ASKING, "await Promise.all([check('a', 1), check('b', 2)]);", "operands"),
        (ASKING, "await check('a', 1); }); it('y', () => { return check('b', 2);", "expected"),
        (ASKING, "}); beforeEach(() => check('a', 1)); it('y', () => { return check('b', 2);", "operands"),
    ],
)
def test_what_a_row_or_call_expects_where_the_product_says_in_which_order_they_come_is_not_expected(head, body, mode):
    text = f"const lib = require('../lib');\n{head}it('x', async () => {{ {body} }});\n"
    assert best(parsed(text)) == {0: Mode(mode)}


def test_a_row_that_makes_a_test_of_its_own_is_expected_whatever_that_waits_for():
    for test in (
        "it(a, (done) => { lib.get(a, (it) => { expect(it).toBe(w); done(); }); });",
        "test('is ' + a, async () => { if (!lib.has(a)) return; expect(await lib.f(a)).toBe(w); });",
    ):
        text = f"const lib = require('../lib');\n{ROWS}.forEach(([a, w]) => {{ {test} }});\n"
        assert best(parsed(text)) == {0: Mode.EXPECTED}
    of_product = f"it('x', () => {{ {ROWS}.forEach(([a, w]) => lib.test(a, (it) => {{ expect(it).toBe(w); }})); }});\n"
    assert best(parsed("const lib = require('../lib');\n" + of_product)) == {0: Mode.OPERANDS}


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ("if (lib.ok()) { var want = 3; } expect(lib.f()).toBe(want);", Mode.OPERANDS),
        ("if (lib.ok()) { var want = 3; expect(lib.f()).toBe(want); }", Mode.EXPECTED),
        ("switch (lib.k()) { case 1: const want = 3; default: expect(lib.f()).toBe(want); }", Mode.OPERANDS),
        ("switch (lib.k()) { case 1: const want = 3; expect(lib.f()).toBe(want); }", Mode.EXPECTED),
        ("}); let want; before(() => { if (lib.off) return; want = 3; }); it('y', () => { expect(lib.f()).toBe(want);",
         Mode.OPERANDS),
    ],
)  # fmt: skip
def test_a_name_of_which_the_product_says_whether_it_is_set_is_not_expected(body, mode):
    assert best(parsed(f"const lib = require('../lib');\nit('x', () => {{ {body} }});\n")) == {0: mode}


def test_what_is_to_throw_is_called_of_no_object_and_only_if_it_is_a_function():
    text = f"{ASSERT}it('a', () => {{ STATEMENT }});\n"
    for statement, handed in (
        ("assert.throws(lib.f);", "__goldseam__(0, () => { __goldseam__.tried(lib.f); return []; });"),
        ("expect(lib.f).toThrow();", "__goldseam__(0, () => { __goldseam__.tried(lib.f); return []; });"),
        ("expect(lib.f).not.toThrow();", "__goldseam__(0, () => { (0, lib.f)(); return []; });"),
        ("expect(() => lib.f()).toThrow();", "__goldseam__(0, () => { (() => lib.f())(); return []; });"),
    ):
        assert handed in stripped(text.replace("STATEMENT", statement))


def test_what_a_message_asks_is_asked_without_its_words():
    head = ASSERT + "const lib = require('../lib');\nconst want = 3;\n"
    for message, asked in (
        ("`was ${r.error.text()} at ${r.rows[0].a}, not ${want}`", "r.error.text(), r.rows[0].a"),
        ("'was ' + show(r.code.text, want)", "r.code.text"),
        ("r.error && r.error.text", "r.error && r.error.text"),
        ("r.error ? r.error.text : 'nothing'", "r.error"),
    ):
        text = f"{head}it('a', () => {{ const r = lib.f(); assert.equal(r.a, want, {message}); }});\n"
        handed = f"__goldseam__(0, () => {{ const __it__ = [r.a]; void [{asked}]; return __it__; }});"
        assert handed in stripped(text).replace("show, ", "")
        assert "want = undefined" in stripped(text)
    for message in ("'is ' + want", "`of ${r}`", "JSON.stringify(want)", "() => r.error.text"):
        text = f"{head}it('a', () => {{ const r = lib.f(); assert.equal(r.a, want, {message}); }});\n"
        assert "__goldseam__(0, () => [r.a]);" in stripped(text)


def test_what_stands_beside_a_promise_is_made_before_that_is_waited_for():
    text = "it('a', async () => { await expect(f(1)).resolves.toBe(lib.count); });\n"
    assert (
        "await __goldseam__(0, async (__it__ = [f(1), lib.count]) => "
        "[await __goldseam__.fulfilled(__it__[0]), __it__[1]]);"
    ) in stripped(text)


def test_a_should_asks_for_an_object_and_some_libraries_for_errors():
    should = parsed(
        'const chai = require("chai");\nit("a", () => { f(1).should.not.equal(3); expect(f(1)).to.equal(3); });\n'
    )
    ava = parsed(
        'import test from "ava";\ntest("a", (t) => { t.throws(f); t.throws(() => f(), { message: "b" }); });\n'
    )
    text = "it('a', () => { expect(f).toThrow(); expect(f).toThrowError(); });\n"
    jasmine = StrippedSource(text.encode(), path="a.js", first=0, framework="jasmine")
    vitest = StrippedSource(text.encode(), path="a.js", first=0, framework="vitest")
    options = [[dict(slot.assertion.options) for slot in source.slots] for source in (should, ava, jasmine, vitest)]
    of_errors = {"by": "exact", "only": "errors"}
    assert options == [
        [{"not": True, "asks": "should"}, {}],
        [of_errors, of_errors],
        [{"by": "exact"}, of_errors],
        [{"by": "message", "only": "truthy"}] * 2,
    ]


def test_an_empty_text_that_is_looked_for_is_another_thing_to_vitest_and_tap():
    tap = 'const t = require("tap");\nt.match(f(1), "");\nt.match(f(1), "b");\n'
    assert [slot.assertion.is_unread for slot in of_runner(tap, "tap").slots] == [True, False]
    text = b"it('a', () => { expect(f).toThrow(''); expect(f).toThrow('b'); });\n"
    source = StrippedSource(text, path="a.js", first=0, framework="vitest")
    assert [slot.assertion.is_unread for slot in source.slots] == [True, False]


@pytest.mark.parametrize("adds", ["expect.addEqualityTesters([same])", "jasmine.addCustomEqualityTester(same)"])
def test_a_file_that_says_what_is_equal_stays(adds):
    with pytest.raises(ValueError, match="equal"):
        parsed(f"beforeEach(() => {{ {adds}; }});\nit('a', () => {{ expect(f(1)).toEqual(2); }});\n")


def test_an_expect_that_goes_on_or_asks_again_counts_as_left_inside():
    text = "it('a', () => { expect.soft(f(1)).toBe(2); expect.poll(() => f(1)).toBe(2); expect(f(1)).toBe(2); });\n"
    source = StrippedSource(text.encode(), path="a.js", first=0, framework="vitest")
    assert [slot.assertion.is_unread for slot in source.slots] == [True, True, False]


def test_libraries_that_say_the_same_words_compare_in_their_own_ways():
    tape = 'const test = require("tape");\ntest("a", (t) => { t.equal(f(1), 3); t.notEqual(f(1), 3); });\n'
    qunit = 'QUnit.test("a", (assert) => { assert.throws(f); assert.rejects(f()); assert.equal(f(1), 3); });\n'
    jasmine = "it('a', () => { expect(f(1)).toContain(3); });\n"
    should = 'const should = require("should");\nit("a", () => { f(1).should.eql(3); f(1).should.match("b"); });\n'
    of_chai = 'const { expect } = require("chai");\nit("a", () => { expect(f).to.throw(new Error("b")); });\n'
    told = [
        [(slot.assertion.op, dict(slot.assertion.options)) for slot in of_runner(text, runner).slots]
        for text, runner in ((tape, "tap"), (qunit, "qunit"), (jasmine, "jasmine"), (should, "mocha"))
    ]
    assert told == [
        [("js.is", {}), ("js.===", {"by": "both", "not": True})],
        [("js.raises", {"only": "truthy"}), ("js.raises", {}), ("js.==", {"by": "=="})],
        [("js.contain", {"by": "jasmine"})],
        [("js.deep", {"rules": "should", "asks": "should"})],
    ]
    assert of_runner(of_chai, "mocha").slots == ()


def test_a_file_with_types_of_flow_is_read():
    text = (
        'import assert from "assert";\nimport type { A } from "./a";\n'
        "const make = (a: ?string, n: number): A => f(a, n);\n"
        'test("a", (): void => { assert.equal((make("b", 2): any), 7); });\n'
    )
    assert '__goldseam__(0, () => [(make("b", 2): any)]);' in stripped(text)
    assert "7" not in stripped(text)
