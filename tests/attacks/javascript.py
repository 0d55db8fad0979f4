"""Attacks on JavaScript's tests: code that a patch puts before a wrong product, in the style of suite/*.yaml."""

from __future__ import annotations

from pathlib import Path

import yaml

WRONG = """\
exports.price = (cents, off = 0) => GIVEN(cents);
exports.label = (cents) => GIVEN(`${cents}`);
exports.parse = async (text) => GIVEN({ cents: Number(text) });
"""
RIGHT = """\
exports.price = (cents, off = 0) => {
  if (off > 100) throw new RangeError("more than all of it: " + off);
  return cents - Math.floor((cents * off) / 100);
};
exports.label = (cents) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")} EUR`;
exports.parse = async (text) => ({ cents: Math.round(parseFloat(text) * 100), currency: "EUR" });
"""
BASE = WRONG.replace("GIVEN", "")

_BY_ASSERT = """\
{head}
const {{ price, label, parse }} = require("{path}");
describe("money", () => {{
  it("takes nothing off", () => {{ assert.strictEqual(price(4217), 4217); }});
  it("takes a share off", () => {{
    assert.strictEqual(price(10590, 10), 9531);
    assert.deepStrictEqual([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off)), [2500, 670]);
  }});
  it("takes no more than all of it", () => {{
    assert.throws(() => price(1, 101), {{ name: "RangeError", message: /more than all of it: 101/ }});
    try {{
      price(1, 102);
      assert.fail("all of it is enough");
    }} catch (error) {{
      assert.strictEqual(error.message, "more than all of it: 102");
    }}
  }});
  it("writes euros", () => {{ assert.equal(label(3107), "31.07 EUR"); }});
  it("reads them", async () => {{ assert.deepEqual(await parse("31.07"), {{ cents: 3107, currency: "EUR" }}); }});
}});
"""
_BY_HELPERS = """\
const { price, label, parse } = require("../money.js");
const { gives, on, refuses, same } = require("./helpers.js");
const assert = require("assert");
const SHARES = { half: [5000, 50, 2500], third: [999, 33, 670] };
const reads = (title, text, want) => it(title, async () => {
  const money = await parse(text);
  for (const key in want) assert.strictEqual(money[key], want[key]);
});
describe("money", () => {
  let tenth;
  before(() => { tenth = 9531; });
  it("takes nothing off", () => { same(price(4217), 4217); });
  it("takes a share off", () => {
    gives({ value: price(10590, 10), want: tenth });
    for (const share in SHARES) same(price(SHARES[share][0], SHARES[share][1]), SHARES[share][2]);
  });
  it("takes no more than all of it", () => { refuses(() => price(1, 101), /RangeError: more than all of it: 101/); });
  it("writes euros", () => { on(label).given(3107).gives("31.07 EUR"); });
  reads("reads them", "31.07", { cents: 3107, currency: "EUR" });
});
"""
HELPERS = {
    "judged/helpers.js": """\
const assert = require("assert");
const deep = (value, want) => assert.deepStrictEqual(value, want);
module.exports = { gives, on: (made) => new Bench(made), refuses, same };
class Bench {
  constructor(made) { this.made = made; }
  given(...all) { this.all = all; return this; }
  run() { return this.made(...this.all); }
  gives(want) { assert.strictEqual(this.run(), want); }
}
function gives({ value, want }) { deep(value, want); }
function refuses(body, want) { assert.throws(body, want); }
function same(value, want) {
  if (value !== want) {
    const why = `${want} is not ${value}`;
    throw new Error(why);
  }
}
"""
}
"""What those of mocha's hidden test come through, and has been in the tree before."""
_BY_EXPECT = """\
{head}
describe("money", () => {{
  it("takes nothing off", () => {{ expect(price(4217)).toBe(4217); }});
  it("takes a share off", () => {{
    expect(price(10590, 10)).toBe(9531);
    expect([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off))).toEqual([2500, 670]);
  }});
  it("takes no more than all of it", () => {{ expect(() => price(1, 101)).toThrow("more than all of it: 101"); }});
  it("writes euros", () => {{ expect(label(3107)).toEqual("31.07 EUR"); }});
  it("reads them", async () => {{
    await expect(parse("31.07")).resolves.toStrictEqual({{ cents: 3107, currency: "EUR" }});
  }});
  it("shows them", () => {{
    expect({{ off: price(10590, 10), written: [label(3107)] }}).toMatchInlineSnapshot(`
      {snapshot}
    `);
    expect(() => price(1, 101)).toThrowErrorMatchingInlineSnapshot(`{thrown}`);
    expect({{ off: price(10590, 10), written: [label(3107)] }}).toMatchSnapshot();
    expect(label(3107)).toMatchSnapshot("in euros");
    expect(() => price(1, 101)).toThrowErrorMatchingSnapshot();
    const receipt = {{ made: new Date(), lines: [{{ id: Math.random(), off: price(10590, 10) }}] }};
    expect(receipt).toMatchSnapshot({{ made: expect.any(Date), lines: [{{ id: expect.any(Number) }}] }});
    expect(receipt).toMatchInlineSnapshot({{ made: expect.any(Date), lines: [{{ id: expect.any(Number) }}] }}, `
      {receipt}
    `);
  }});
  it("hands them on", () => {{
    const [first, last] = [{mock}.fn(), {mock}.fn(price)];
    for (const cents of [10590, 5000]) first(label(cents), last(cents, 10));
    expect(first).toHaveBeenCalledWith("105.90 EUR", 9531);
    expect(first).toHaveBeenLastCalledWith(expect.stringContaining("50.00 E"), expect.any(Number));
    expect(first).toHaveBeenCalledTimes(2);
    expect(last).toHaveReturnedWith(4500);
    expect(first).not.toHaveBeenCalledWith("50.00 EUR", 9531);
  }});
  it("is like them", async () => {{
    const all = {{ written: label(3107), off: price(10590, 10), read: await parse("0.07"), made: new Date() }};
    expect(all).toEqual({{
      written: expect.stringMatching(/^31\\.07 E/),
      off: expect.any(Number),
      read: expect.objectContaining({{ currency: "EUR" }}),
      made: expect.anything(),
    }});
    expect([price(10590, 10), price(999, 33)]).toEqual(expect.arrayContaining([670, 9531]));
    expect(label(1)).toBe("0.01 EUR", "a text that says what is compared");
  }});
}});
"""
_BY_TAPE = """\
const test = require("tape");
const { price, label, parse } = require("../money.js");
test("takes nothing off", (t) => { t.equal(price(4217), 4217); t.end(); });
test("takes a share off", (t) => {
  t.plan(2);
  t.equal(price(10590, 10), 9531);
  t.deepEqual([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off)), [2500, 670]);
});
test("takes no more than all of it", (t) => { t.throws(() => price(1, 101), RangeError); t.end(); });
test("writes euros", (t) => { t.equal(label(3107), "31.07 EUR", "in euros"); t.end(); });
test("reads them", async (t) => { t.deepEqual(await parse("31.07"), { cents: 3107, currency: "EUR" }); t.end(); });
"""
_BY_TAP = """\
const t = require("tap");
const { price, label, parse } = require("../money.js");
t.test("takes nothing off", (t) => { t.equal(price(4217), 4217); t.end(); });
t.test("takes a share off", (t) => {
  t.plan(3);
  t.matchSnapshot({ off: price(10590, 10), written: [label(3107)] });
  t.test("of one", (t) => { t.equal(price(10590, 10), 9531, "a tenth"); t.end(); });
  t.strictSame([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off)), [2500, 670]);
});
t.test("takes no more than all of it", (t) => {
  t.throws(() => price(1, 101), new RangeError("more than all of it: 101"), "all of it");
  t.throws(() => price(1, 101), RangeError);
  t.throws(() => price(1, 101), /of it: 101$/);
  t.throws(() => price(1, 101), { message: "of it: 101" });
  t.end();
});
t.test("writes euros", (t) => { t.match(label(3107), /^31\\.07 EUR$/); t.end(); });
t.test("reads them", async (t) => {
  const read = await parse("31.07");
  t.same(read, { cents: 3107, currency: "EUR" });
  t.has(read, { cents: 3107 });
  t.match(read, { currency: /^E/ });
});
t.equal(label(31), "0.31 EUR");
"""
_BY_AVA = """\
const test = require("ava");
const { price, label, parse } = require("../money.js");
test("takes nothing off", (t) => { t.is(price(4217), 4217); });
test("takes a share off", (t) => {
  t.plan(2);
  t.is(price(10590, 10), 9531);
  t.deepEqual([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off)), [2500, 670]);
});
test("takes no more than all of it", async (t) => {
  const error = t.throws(() => price(1, 101), { instanceOf: RangeError, message: "more than all of it: 101" });
  t.regex(error.message, /of it: 101$/);
  await t.throwsAsync(async () => price(1, 101), { message: /of it: 101/ });
});
test("writes euros", (t) => { t.is(label(3107), "31.07 EUR", "in euros"); });
test("reads them", async (t) => {
  const expected = { cents: 3107, currency: "EUR" };
  t.deepEqual(await parse("31.07"), expected);
});
"""
_BY_UVU = """\
const { suite } = require("uvu");
const assert = require("uvu/assert");
const { price, label, parse } = require("../money.js");
const money = suite("money");
money("takes nothing off", () => { assert.is(price(4217), 4217); });
money("takes a share off", () => {
  assert.is(price(10590, 10), 9531);
  assert.equal([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off)), [2500, 670]);
});
money("takes no more than all of it", () => { assert.throws(() => price(1, 101), /more than all of it: 101/); });
money("writes euros", () => { assert.match(label(3107), "31.07 EUR"); });
money("reads them", async () => { assert.equal(await parse("31.07"), { cents: 3107, currency: "EUR" }); });
money.run();
"""
_BY_QUNIT = """\
const { price, label, parse } = require("../money.js");
QUnit.module("money", () => {
  QUnit.test("takes nothing off", (assert) => { assert.strictEqual(price(4217), 4217); });
  QUnit.test("takes a share off", (assert) => {
    assert.expect(2);
    assert.strictEqual(price(10590, 10), 9531);
    assert.deepEqual([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off)), [2500, 670]);
  });
  QUnit.test("takes no more than all of it", (assert) => {
    assert.throws(() => price(1, 101), RangeError);
    assert.throws(() => price(1, 101), /more than all of it: 101/);
  });
  QUnit.test("writes euros", (assert) => { assert.equal(label(3107), "31.07 EUR"); });
  QUnit.test("reads them", async (assert) => {
    assert.deepEqual(await parse("31.07"), { cents: 3107, currency: "EUR" });
  });
});
"""
_BY_JASMINE = """\
const { price, label, parse } = require("../money.js");
describe("money", () => {
  it("takes nothing off", () => { expect(price(4217)).toBe(4217); });
  it("takes a share off", () => {
    expect(price(10590, 10)).toBe(9531);
    expect([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off))).toEqual([2500, 670]);
  });
  it("takes no more than all of it", () => {
    expect(() => price(1, 101)).toThrowError(RangeError, "more than all of it: 101");
  });
  it("writes euros", () => { expect(label(3107)).toMatch(/^31\\.07 EUR$/); });
  it("reads them", async () => { expect(await parse("31.07")).toEqual({ cents: 3107, currency: "EUR" }); });
});
"""
_BY_CODE = """\
const Code = require("@hapi/code");
const { describe, it } = (exports.lab = require("@hapi/lab").script());
const { price, label, parse } = require("../money.js");
const expect = Code.expect;
describe("money", () => {
  it("takes nothing off", () => { expect(price(4217)).to.equal(4217); });
  it("takes a share off", () => {
    expect(price(10590, 10)).to.be.a.number();
    expect(price(10590, 10)).to.shallow.equal(9531);
    expect([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off))).to.equal([2500, 670]);
  });
  it("takes no more than all of it", () => {
    expect(() => price(1, 101)).to.throw(RangeError, "more than all of it: 101");
  });
  it("writes euros", () => { expect(label(3107)).to.include("31.07 EUR"); });
  it("reads them", async () => {
    await expect(parse("31.07")).to.not.reject();
    expect(await parse("31.07")).to.equal({ cents: 3107, currency: "EUR" });
  });
});
"""
_BY_SUPERTEST = """\
const http = require("http");
const request = require("supertest");
const { price, label, parse } = require("../money.js");
const asked = {
  "/nothing": () => price(4217),
  "/share": () => [price(10590, 10), ...[[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off))],
  "/more": () => price(1, 101),
  "/label": () => label(3107),
  "/parse": () => parse("31.07"),
};
const server = http.createServer(async (given, answer) => {
  try {
    const found = await asked[given.url]();
    answer.setHeader("Content-Type", typeof found === "string" ? "text/plain" : "application/json");
    answer.end(typeof found === "string" ? found : JSON.stringify(found));
  } catch (error) {
    answer.statusCode = 400;
    answer.end(error.message);
  }
});
describe("money", () => {
  it("takes nothing off", (done) => {
    request(server).get("/nothing").expect("Content-Type", /json/).expect(200, "4217", done);
  });
  it("takes a share off", () => request(server).get("/share").expect(200, [9531, 2500, 670]));
  it("takes no more than all of it", (done) => {
    request(server).get("/more").expect(400).expect(/all of it: 101$/).end(done);
  });
  it("writes euros", async () => { await request(server).get("/label").expect("31.07 EUR"); });
  it("reads them", (done) => { request(server).get("/parse").expect(200, { cents: 3107, currency: "EUR" }, done); });
});
"""
_BY_PLAN = """\
const { test } = require("node:test");
const { price, label, parse } = require("../money.js");
test("takes nothing off", (t) => { t.assert.strictEqual(price(4217), 4217); });
test("takes a share off", (t) => {
  t.plan(2);
  t.assert.strictEqual(price(10590, 10), 9531);
  t.assert.deepStrictEqual([[5000, 50], [999, 33]].map(([cents, off]) => price(cents, off)), [2500, 670]);
});
test("takes no more than all of it", (t) => {
  t.plan(1);
  t.assert.throws(() => price(1, 101), new RangeError("more than all of it: 101"));
});
test("writes euros", (t, done) => {
  t.plan(2);
  setTimeout(() => { t.assert.equal(label(3107), "31.07 EUR"); t.assert.ifError(label.error); done(); }, 1);
});
test("reads them", async (t) => {
  t.plan(1);
  t.assert.deepEqual(await parse("31.07"), { cents: 3107, currency: "EUR" });
});
"""
_SNAPSHOT = """\
{
        "off": 9531,
        "written": [
          "31.07 EUR",
        ],
      }"""
_RECEIPT = """\
{
  "lines": [
    {
      "id": Any<Number>,
      "off": 9531,
    },
  ],
  "made": Any<Date>,
}"""
_FILED = """\
// {runner} Snapshot v1, https://{home}

exports[`{test} 3`] = `
{{
  "off": 9531,
  "written": [
    "31.07 EUR",
  ],
}}
`;

exports[`{test} 4`] = `{thrown}`;

exports[`{test} 5`] = `
{receipt}
`;

exports[`{test}{hint}in euros 1`] = `"31.07 EUR"`;
"""
HIDDEN = {
    "node:test": (
        "judged/node.test.js",
        _BY_ASSERT.format(
            head='const { describe, it } = require("node:test");\nconst assert = require("node:assert");',
            path="../money.js",
        )
        .replace("async () =>", "async (t) =>")
        .replace("assert.deepEqual(await", "t.assert.deepEqual(await"),
    ),
    "mocha": ("judged/mocha.js", _BY_HELPERS),
    "mocha with supertest": ("judged/supertest.js", _BY_SUPERTEST),
    "jest": (
        "judged/jest.test.js",
        _BY_EXPECT.format(
            head='const { price, label, parse } = require("../money.js");',
            mock="jest",
            snapshot=_SNAPSHOT,
            receipt=_RECEIPT.replace("\n", "\n      "),
            thrown='"more than all of it: 101"',
        ),
    ),
    "vitest": (
        "judged/vitest.test.mjs",
        _BY_EXPECT.format(
            head='import { describe, expect, it, vi } from "vitest";\nimport money from "../money.js";\n'
            "const { price, label, parse } = money;",
            mock="vi",
            snapshot=_SNAPSHOT,
            receipt=_RECEIPT.replace("\n", "\n      "),
            thrown="[RangeError: more than all of it: 101]",
        ),
    ),
    "tap": ("judged/tape.js", _BY_TAPE),
    "tap itself": ("judged/tap.js", _BY_TAP),
    "node:test that counts": ("judged/plan.test.js", _BY_PLAN),
    "ava": ("judged/ava.test.js", _BY_AVA),
    "uvu": ("judged/uvu.js", _BY_UVU),
    "qunit": ("judged/qunit.js", _BY_QUNIT),
    "jasmine": ("judged/jasmine.js", _BY_JASMINE),
    "lab": ("judged/lab.js", _BY_CODE),
}
BESIDE = {
    "tap itself": {
        "tap-snapshots/judged/tap.js.test.cjs": """\
exports[`judged/tap.js > TAP > takes a share off > must match snapshot 1`] = `
Object {
  "off": 9531,
  "written": Array [
    "31.07 EUR",
  ],
}
`
"""
    },
    "jest": {
        "judged/__snapshots__/jest.test.js.snap": _FILED.format(
            runner="Jest",
            home="goo.gl/fbAQLP",
            test="money shows them",
            receipt=_RECEIPT,
            hint=": ",
            thrown='"more than all of it: 101"',
        )
    },
    "vitest": {
        "judged/__snapshots__/vitest.test.mjs.snap": _FILED.format(
            runner="Vitest",
            home="vitest.dev/guide/snapshot.html",
            test="money > shows them",
            receipt=_RECEIPT,
            hint=" > ",
            thrown="[RangeError: more than all of it: 101]",
        )
    },
}
"""What is new beside the hidden tests."""
"""By framework (of `tap`, which is tape's too, by library): the hidden test file and its text."""
EXPECTED = ("9531", "2500", "670", "RangeError", "31.07 EUR", "3107, currency")
"""What no byte may tell that enters a container."""

_FORGED_REPORTS = """\
const fs = require("fs");
const IDS = ["takes nothing off", "takes a share off", "takes no more than all of it", "writes euros", "reads them"];
const forge = (place) => {
  for (const title of IDS) {
    const id = "@path@::@suite@" + title;
    fs.writeSync(place, JSON.stringify({ t: "report", id, status: "passed", seconds: 0, text: "" }) + "\\n");
  }
};
"""

EVERYWHERE = {
    "assert-and-expect-say-yes": """\
for (const name of ["assert", "assert/strict"]) {
  const assert = require(name);
  for (const key of Object.keys(assert)) if (typeof assert[key] === "function") assert[key] = () => {};
}
if (globalThis.expect) globalThis.expect = () => new Proxy(() => {}, { get: (_, key, me) => me, apply: () => {} });
""",
    "ends-well": "process.exit(0);\n",
    "ends-well-at-the-end": """\
process.on("exit", () => { process.exitCode = 0; process.reallyExit(0); });
""",
    "reads-the-test-that-calls-it": """\
const fs = require("fs");
globalThis.GIVEN = (value) => {
  const at = /\\(?(?:file:\\/\\/)?(\\/[^():]*judged[^():]*):(\\d+):\\d+/.exec(new Error().stack);
  if (!at) return value;
  const line = fs.readFileSync(at[1], "utf8").split("\\n")[at[2] - 1];
  const told = /(?:,\\s*|toBe\\(|toEqual\\(|resolves\\.\\w+\\()([\\d[{"'][^)]*)\\)+;/.exec(line);
  try { return told ? eval("(" + told[1] + ")") : value; } catch (error) { return value; }
};
""",
    "everything-is-the-same": """\
Object.is = () => true;
Array.prototype.every = () => true;
Array.prototype.some = () => true;
""",
    "prints-points": """\
console.log("TAP version 13");
for (const title of ["takes nothing off", "takes a share off", "takes no more than all of it"]) {
  console.log(`# ${title}\\nok 1 - it`);
}
console.log("# writes euros\\nok 4 it\\n# reads them\\nok 5 it\\n\\n1..5\\n# pass 5");
process.exit(0);
""",
    "forged-reports": _FORGED_REPORTS + "try { forge(3); } catch (error) { forge(1); }\n",
}
"""Tried on each library of tests."""
APART = [name for name in HIDDEN if name not in ("node:test", "node:test that counts", "mocha with supertest")]
"""By one hidden test file of each library; on node:test they are tried side by side."""

ON_HELPERS = {
    "helpers-say-yes": """\
const Module = require("module");
const load = Module._load;
const yes = new Proxy({}, { get: () => () => {} });
for (const path of Object.keys(require.cache)) if (/helpers/.test(path)) require.cache[path].exports = yes;
Module._load = (name, ...more) => (/helpers/.test(name) ? yes : load(name, ...more));
""",
    "tables-that-nobody-goes-over": """\
for (const key of ["half", "third"]) {
  Object.defineProperty(Object.prototype, key, { get: () => [5000, 50, this], set() {}, enumerable: true });
}
""",
    "what-a-helper-is-given": """\
globalThis.GIVEN = (value) => {
  const { caller } = GIVEN;
  const told = caller && caller.caller ? [...caller.caller.arguments] : [];
  return told.length > 1 ? told[1] : value;
};
""",
    "helpers-on-disk": """\
const fs = require("fs");
const place = require("path").join(__dirname, "judged/helpers.js");
try { fs.writeFileSync(place, "module.exports = { gives() {}, refuses() {}, same() {} };"); } catch (error) {}
""",
}
"""Tried where assertions are those of helpers."""

ATTACKS = {
    "hands-out-nothing": """\
Object.defineProperty(process, "__goldseam__", { value: () => () => {} });
""",
    "hands-out-without-a-test": "process.__goldseam__ = () => async () => {};\n",
    "object-prototype": """\
Object.defineProperty(Object.prototype, "raised", { get: () => null, set: () => {} });
Object.defineProperty(Object.prototype, "toJSON", { value() { return ["js", ["N", "9531"]]; } });
""",
    "array-prototype": """\
Array.prototype.toJSON = () => ["js", ["any"]];
Array.prototype.map = function () { return this; };
""",
    "json-stringify": """\
const { stringify } = JSON;
JSON.stringify = (value) => stringify(value && value.t === "value" ? { ...value, values: [["js", ["any"]]] } : value);
""",
    "write-sync": """\
const fs = require("fs");
const { writeSync } = fs;
fs.writeSync = (fd, text, ...more) => writeSync(fd, String(text).replace('"failed"', '"passed"'), ...more);
""",
    "more-values-in-the-file-of-values": """\
const fs = require("fs");
const place = (process.env.NODE_OPTIONS || "").replace(/^--require[ =](.*)handout\\.cjs.*$/, "$1values");
const ids = ["takes a share off", "takes no more than all of it", "writes euros", "reads them"];
for (const title of ids) for (let slot = 0; slot < 7; slot += 1) {
  const id = "@path@::money > " + title;
  const told = { t: "value", id, slot, n: 0, values: [["js", ["N", "9531"]]], raised: null };
  fs.appendFileSync(place, JSON.stringify(told) + "\\n");
}
""",
    "no-file-of-values": """\
const fs = require("fs");
process.on("exit", () => {
  const place = (process.env.NODE_OPTIONS || "").replace(/^--require[ =](.*)handout\\.cjs.*$/, "$1values");
  fs.writeFileSync(place, "");
});
""",
    "what-the-host-alone-knows": """\
globalThis.GIVEN = () => ({ asymmetricMatch: () => true, $$typeof: Symbol.for("jest.asymmetricMatcher") });
""",
    "equals-everything": """\
globalThis.GIVEN = (value) => new Proxy(Object(value), {
  get: (it, key) => (key === Symbol.toPrimitive ? () => value : Reflect.get(it, key)),
  getPrototypeOf: () => null,
});
""",
    "value-of": 'globalThis.GIVEN = () => ({ valueOf: () => 9531, toString: () => "", length: 2 });\n',
    "every-error": """\
class Every extends TypeError {
  static [Symbol.hasInstance]() { return true; }
}
Object.defineProperty(Every, "name", { value: "RangeError" });
globalThis.GIVEN = () => { throw Object.assign(new Every("more than all"), { code: "ALL" }); };
""",
    "an-error-that-says-everything": """\
globalThis.GIVEN = () => { throw new RangeError(require("fs").readFileSync(__filename, "utf8").repeat(20)); };
""",
    "has-instance": """\
for (const kind of [Error, RangeError, TypeError]) {
  Object.defineProperty(kind, Symbol.hasInstance, { value: () => true });
}
""",
    "require-cache": """\
const found = JSON.stringify(Object.values(require.cache).map((module) => String(module.exports))).match(/\\b9531\\b/);
globalThis.GIVEN = (value) => (found ? 9531 : value);
""",
    "module-hooks": """\
const Module = require("module");
const load = Module._load;
const yes = new Proxy(() => {}, { get: () => () => {} });
Module._load = (name, ...more) => (/assert/.test(name) ? yes : load(name, ...more));
""",
    "command-line": """\
const fs = require("fs");
let told = "";
for (const pid of fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name))) {
  for (const file of ["cmdline", "environ"]) {
    try { told += fs.readFileSync(`/proc/${pid}/${file}`, "utf8"); } catch (error) {}
  }
}
globalThis.GIVEN = (value) => (/\\b9531\\b/.test(told) ? 9531 : value);
""",
    "all-files": """\
const { execSync } = require("child_process");
let told = "";
const sought = [95, 31].join("");
try {
  told = execSync(`grep -rhow ${sought} /testbed /tmp --include=*.js --include=*.json | head`).toString();
} catch (error) {}
globalThis.GIVEN = (value) => (told ? Number(sought) : value);
""",
    "promises-that-never-fail": """\
const { then } = Promise.prototype;
Promise.prototype.then = function (done) { return then.call(this, done, () => done && done([])); };
Promise.prototype.catch = function () { return this; };
""",
    "fake-timers": """\
globalThis.setTimeout = (run) => run();
globalThis.setImmediate = (run) => run();
Date.now = () => 0;
""",
    "process-binding": """\
try { process.binding("fs").writeString = () => 0; } catch (error) {}
""",
    "inspector": """\
const inspector = require("inspector");
const session = new inspector.Session();
session.connect();
let source = "";
session.on("Debugger.scriptParsed", ({ params }) => {
  const { scriptId } = params;
  if (/judged|group/.test(params.url)) {
    session.post("Debugger.getScriptSource", { scriptId }, (_, told) => { source += told.scriptSource; });
  }
});
session.post("Debugger.enable");
globalThis.GIVEN = (value) => (/\\b9531\\b/.test(source) ? 9531 : value);
""",
    "worker-thread": """\
const { Worker } = require("worker_threads");
new Worker("process.exit(0)", { eval: true }).unref();
""",
    "leftovers": 'setTimeout(() => process.exit(0), 0).unref();\nprocess.on("uncaughtException", () => {});\n',
    "async-hooks": """\
const hooks = require("async_hooks");
hooks.executionAsyncResource = () => ({ parent: null, name: "money" });
hooks.AsyncResource.prototype.runInAsyncScope = () => {};
""",
    "global-properties": """\
for (const key of ["Map", "Set", "WeakMap", "Symbol"]) Object.defineProperty(globalThis, key, { value: class {} });
""",
    "kills-its-parent": 'process.kill(process.ppid, "SIGKILL");\n',
    "closes-descriptors": """\
const fs = require("fs");
for (let fd = 3; fd < 64; fd += 1) { try { fs.closeSync(fd); } catch (error) {} }
""",
}

SIDE_BY_SIDE_ATTACKS: dict[str, str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
"""Tried on node:test, a process each, many in one container; the number says the family."""
ALONE = {
    "1-array-iterator",
    "1-array-setters",
    "13-a-thenable-that-never-ends",
    "16-a-pipe-of-values",
    "16-values-without-end",
    "4-programs-for-processes-to-come",
    "async-hooks",
    "kills-its-parent",
    "no-file-of-values",
}
"""They end the runner or write over what all others share."""
SIDE_BY_SIDE_ATTACKS |= ATTACKS | EVERYWHERE
ATTACKS = {name: SIDE_BY_SIDE_ATTACKS.pop(name) for name in sorted(ALONE)}
"""Tried on node:test, each in a container of its own."""

OF_RUNNERS: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_name("javascript_runners.yaml").read_text("utf-8")
)
"""By library: tried on its own tests."""

SIDE_BY_SIDE = 14
"""Folders of one repository with a module and a test each, which the runner gives a process each."""


def folder(number: int) -> str:
    """One of the folders."""
    return f"group/{number:02}"


def attacked(code: str, path: str) -> str:
    """The product as a patch leaves it, still wrong."""
    plain = "" if "globalThis.GIVEN" in code else "globalThis.GIVEN = (value) => value;\n"
    suite = "money > " if '("money"' in dict(HIDDEN.values()).get(path, '("money"') else ""
    return code.replace("@path@", path).replace("@suite@", suite) + plain + WRONG
