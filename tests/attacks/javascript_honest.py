"""Honest patches of JavaScript: right modules that give what the fix gives in another way, or lie elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

WRONG = """\
exports.total = (items) => items.length;
exports.summary = (items) => ({ count: 0 });
exports.stock = (items) => new Map();
exports.tags = (items) => new Set();
exports.find = (items, id) => undefined;
exports.later = async (items) => ({ count: 0 });
exports.due = (items, day) => [];
exports.each = (items, done) => {};
exports.lines = (items) => "";
"""
RIGHT = """\
exports.total = (items) => items.reduce((sum, { price, count }) => sum + price * count, 0);
exports.summary = (items) => ({
  count: items.length,
  total: exports.total(items),
  tags: [...exports.tags(items)],
});
exports.stock = (items) => new Map(items.map(({ id, count }) => [id, count]));
exports.tags = (items) => new Set([].concat(...items.map(({ tags }) => tags)).sort());
exports.find = (items, id) => {
  const found = items.find((item) => item.id === id);
  if (!found) throw Object.assign(new RangeError("no item " + id), { code: "E_ITEM" });
  return found;
};
exports.later = async (items) => exports.summary(items);
exports.due = (items, day) => items.map((_, n) => new Date(day + n * 864e5));
exports.each = (items, done) => items.forEach(({ id, price }) => done(id, price));
exports.lines = (items) => items.map(({ id, price }) => `${id} ${price}`).join("\\n");
"""
_ITEMS = """\
const ITEMS = [
  { id: "a", price: 500, count: 2, tags: ["new", "big"] },
  { id: "b", price: 250, count: 1, tags: ["new"] },
];
"""
_BY_ASSERT = (
    """\
const { describe, it } = require("node:test");
const assert = require("node:assert");
const DUE = { 0: "1970-01-02T00:00:00.000Z", 5: "1970-01-02T00:00:00.005Z" };
function gives({ value, want }) { assert.deepEqual(value, want); }
const same = (value, want) => { if (value !== want) throw new Error(`${value} is not ${want}`); };
"""
    + _ITEMS
    + """\
const names = require("fs").readdirSync(__dirname + "/honest").filter((name) => !/[.]js$/.test(name));
for (const name of names.sort()) describe(name, () => {
  const shop = require(`./honest/${name}/shop.js`);
  it("totals", () => {
    assert.strictEqual(shop.total(ITEMS), 1250);
    assert.ok(shop.total(ITEMS) > 1249);
  });
  it("sums up", () => assert.deepEqual(shop.summary(ITEMS), { count: 2, total: 1250, tags: ["big", "new"] }));
  it("keeps stock", () => {
    assert.deepEqual([...shop.stock(ITEMS)], [["a", 2], ["b", 1]]);
    assert.deepEqual(shop.stock(ITEMS), new Map([["b", 1], ["a", 2]]));
  });
  it("keeps tags", () => gives({ value: shop.tags(ITEMS), want: new Set(["new", "big"]) }));
  it("finds one", () => assert.deepEqual(shop.find(ITEMS, "b").tags, ["new"]));
  it("finds nothing", () => {
    assert.throws(() => shop.find(ITEMS, "z"), { name: "RangeError", code: "E_ITEM", message: /^no item/ });
    assert.throws(() => shop.find(ITEMS, "z"), RangeError);
  });
  it("is later", async () => {
    assert.deepEqual(await shop.later(ITEMS), { count: 2, total: 1250, tags: ["big", "new"] });
  });
  it("is due", () => {
    assert.deepEqual(shop.due(ITEMS, 0), [new Date(0), new Date(86400000)]);
    for (const from in DUE) same(shop.due(ITEMS, Number(from))[1].toISOString(), DUE[from]);
  });
  it("goes over each", (t) => {
    const seen = t.mock.fn();
    shop.each(ITEMS, seen);
    assert.deepEqual(seen.mock.calls.map((call) => call.arguments.slice(0, 2)), [["a", 500], ["b", 250]]);
  });
  it("writes lines", () => assert.match(shop.lines(ITEMS), /^a 500\\nb 250$/));
});
"""
)
_BY_EXPECT = (
    """\
import { createRequire } from "node:module";
import fs from "node:fs";
import { describe, expect, it, vi } from "vitest";
const load = createRequire(import.meta.url);
"""
    + _ITEMS
    + """\
const names = fs.readdirSync(new URL("./honest", import.meta.url)).filter((name) => !/[.]js$/.test(name));
for (const name of names.sort()) describe(name, () => {
  const shop = load(`./honest/${name}/shop.js`);
  it("totals", () => {
    expect(shop.total(ITEMS)).toBe(1250);
    expect(shop.total(ITEMS)).toBeGreaterThan(1249);
  });
  it("sums up", () => {
    expect(shop.summary(ITEMS)).toEqual({ count: 2, total: expect.any(Number), tags: ["big", "new"] });
    expect(shop.summary(ITEMS)).toMatchObject({ total: 1250 });
    expect(shop.summary(ITEMS)).toEqual(expect.objectContaining({ tags: expect.arrayContaining(["new"]) }));
  });
  it("shows", () => {
    expect([shop.total(ITEMS), shop.lines(ITEMS)]).toMatchInlineSnapshot(`
      [
        1250,
        "a 500
      b 250",
      ]
    `);
  });
  it("keeps stock", () => expect([...shop.stock(ITEMS)]).toEqual([["a", 2], ["b", 1]]));
  it("keeps tags", () => expect([...shop.tags(ITEMS)]).toEqual(expect.arrayContaining(["new", "big"])));
  it("finds one", () => expect(shop.find(ITEMS, "b")).toHaveProperty("tags", ["new"]));
  it("finds nothing", () => {
    expect(() => shop.find(ITEMS, "z")).toThrow("no item z");
    expect(() => shop.find(ITEMS, "z")).toThrow(RangeError);
    expect(() => shop.find(ITEMS, "z")).toThrowErrorMatchingInlineSnapshot(`[RangeError: no item z]`);
  });
  it("is later", async () => {
    await expect(shop.later(ITEMS)).resolves.toEqual({ count: 2, total: 1250, tags: ["big", "new"] });
  });
  it("is due", () => expect(shop.due(ITEMS, 0).map((day) => +day)).toEqual([0, 86400000]));
  it("goes over each", () => {
    const seen = vi.fn();
    shop.each(ITEMS, seen);
    expect(seen).toHaveBeenCalledTimes(2);
    expect(seen).toHaveBeenCalledWith("a", 500);
    expect(seen).toHaveBeenLastCalledWith(expect.any(String), 250);
  });
  it("writes lines", () => {
    expect(shop.lines(ITEMS)).toMatch(/b 250$/);
    expect(shop.lines(ITEMS)).toContain("a 500");
  });
});
"""
)
EACH = "!/[.]js$/.test(name)"
"""The condition in each test file on the names of folders that it tests."""
PLACE = "honest"
"""The folder that holds one for each module, and `shop.js`, which each is at first."""
ALIAS = 'module.exports = require("../shop.js");\n'
HIDDEN = {"node:test": ("shop.test.js", _BY_ASSERT), "vitest": ("shop.test.mjs", _BY_EXPECT)}
"""By framework: the test file of all modules, and its text."""

_BY_LIBRARY = (
    """\
HEAD
const names = require("fs").readdirSync(__dirname + "/honest").filter((name) => !/[.]js$/.test(name));
"""
    + _ITEMS
    + """\
for (const name of names.sort()) SUITE
  const shop = require(`./honest/${name}/shop.js`);
  TEST"totals", async (GIVEN) => { SAME(shop.total(ITEMS), 1250); TRUE(shop.total(ITEMS) > 1249); });
  TEST"sums up", async (GIVEN) => { DEEP(shop.summary(ITEMS), { count: 2, total: 1250, tags: ["big", "new"] }); });
  TEST"keeps stock", async (GIVEN) => { DEEP([...shop.stock(ITEMS)], [["a", 2], ["b", 1]]); });
  TEST"keeps tags", async (GIVEN) => { DEEP(shop.tags(ITEMS), new Set(["big", "new"])); });
  TEST"finds one", async (GIVEN) => { DEEP(shop.find(ITEMS, "b").tags, ["new"]); });
  TEST"finds nothing", async (GIVEN) => { THROWS(() => shop.find(ITEMS, "z"), /no item z/); });
  TEST"is later", async (GIVEN) => { DEEP(await shop.later(ITEMS), { count: 2, total: 1250, tags: ["big", "new"] }); });
  TEST"is due", async (GIVEN) => { DEEP(shop.due(ITEMS, 0), [new Date(0), new Date(86400000)]); });
  TEST"writes lines", async (GIVEN) => { MATCHES(shop.lines(ITEMS), /^a 500\\nb 250$/); });
END
"""
)
_WORDS = {
    "ava": {
        "HEAD": 'const test = require("ava");',
        "SUITE": "{",
        "TEST": "test(name + ' > ' + ",
        "GIVEN": "t",
        "SAME": "t.is",
        "TRUE": "t.true",
        "DEEP": "t.deepEqual",
        "THROWS": "t.throws",
        "MATCHES": "t.regex",
        "/no item z/": "{ message: /no item z/ }",
        "END": "}",
    },
    "uvu": {
        "HEAD": 'const { suite } = require("uvu");\nconst assert = require("uvu/assert");',
        "SUITE": "{ const it = suite(name);",
        "TEST": "it(",
        "GIVEN": "",
        "SAME": "assert.is",
        "TRUE": "assert.ok",
        "DEEP": "assert.equal",
        "THROWS": "assert.throws",
        "MATCHES": "assert.match",
        "END": "it.run(); }",
    },
    "qunit": {
        "HEAD": "",
        "SUITE": "QUnit.module(name, () => {",
        "TEST": "QUnit.test(",
        "GIVEN": "assert",
        "SAME": "assert.strictEqual",
        "TRUE": "assert.ok",
        "DEEP": "assert.deepEqual",
        "THROWS": "assert.throws",
        "MATCHES(shop.lines(ITEMS), ": "assert.ok(shop.lines(ITEMS).match(",
        "b 250$/": "b 250$/)",
        "END": "});",
    },
    "jasmine": {
        "HEAD": "",
        "SUITE": "describe(name, () => {",
        "TEST": "it(",
        "GIVEN": "",
        "END": "});",
        "SAME(shop.total(ITEMS), 1250)": "expect(shop.total(ITEMS)).toBe(1250)",
        "TRUE(shop.total(ITEMS) > 1249)": "expect(shop.total(ITEMS)).toBeGreaterThan(1249)",
        'THROWS(() => shop.find(ITEMS, "z"), ': 'expect(() => shop.find(ITEMS, "z")).toThrowError(',
        "MATCHES(shop.lines(ITEMS), ": "expect(shop.lines(ITEMS)).toMatch(",
    },
}


def _of_library(framework: str) -> str:
    text = _BY_LIBRARY
    for word, meant in _WORDS[framework].items():
        text = text.replace(word, meant)
    return re.sub(r"DEEP\((.*), (?=\[\[|\[\"n|\{ c|new S|\[new D)(.*)\); \}\);", r"expect(\1).toEqual(\2); });", text)


AS_LIBRARIES = {framework: (f"shop.{framework}.js", _of_library(framework)) for framework in _WORDS}
"""By framework: a test file of all modules, of which the library itself says which it takes."""

VALUES: Mapping[str, str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
"""By name: what comes after the right module, and leaves it right."""
_LIB = 'require("./lib.js")'
_NAMES = '"total summary stock tags find later due each lines".split(" ")'
_EACH = "total, summary, stock, tags, find, later, due, each, lines"
_READ = 'require("fs").readFileSync(require("path").join(__dirname, "step.txt"), "utf8")'
_BY_STEP = RIGHT.replace("864e5", "step")
_AS_MODULE = 'Object.defineProperty(exports, "__esModule", { value: true });\n'


def _as_esm(text: str) -> str:
    for name in ("total", "tags", "summary"):
        text = text.replace(f"exports.{name}(", f"{name}(")
    return text.replace("exports.", "export const ")


LAYOUTS: Mapping[str, Mapping[str, str]] = {
    "crlf": {"shop.js": RIGHT.replace("\n", "\r\n")},
    "byte-order-mark": {"shop.js": "\ufeff" + RIGHT},
    "no-last-newline": {"shop.js": RIGHT.rstrip("\n")},
    "strict": {"shop.js": '"use strict";\n' + RIGHT},
    "module-exports": {
        "shop.js": "const shop = {};\n" + RIGHT.replace("exports.", "shop.") + "module.exports = shop;\n"
    },
    "a-new-module": {"shop.js": f"module.exports = {_LIB};\n", "lib.js": RIGHT},
    "a-new-folder": {"shop.js": 'module.exports = require("./lib");\n', "lib/index.js": RIGHT},
    "moved-to-cjs": {"shop.js": 'module.exports = require("./shop.cjs");\n', "shop.cjs": RIGHT},
    "moved-to-esm": {"shop.js": 'module.exports = { ...require("./shop.mjs") };\n', "shop.mjs": _as_esm(RIGHT)},
    "split-in-two": {
        "shop.js": f'module.exports = {{ ...{_LIB}, ...require("./version.js") }};\n',
        "lib.js": RIGHT,
        "version.js": "exports.version = 2;\n",
    },
    "reads-its-own-data": {
        "shop.js": 'const { step } = require("./data.json");\n' + _BY_STEP,
        "data.json": '{ "step": 86400000 }\n',
    },
    "reads-a-file": {"shop.js": f"const step = Number({_READ});\n{_BY_STEP}", "step.txt": "86400000\n"},
    "with-types": {"shop.js": RIGHT, "shop.d.ts": "export function total(items: object[]): number;\n"},
    "with-notes": {"shop.js": RIGHT, "NOTES.md": "# Notes\n\nTotals are in cents.\n"},
    "minified": {"shop.js": "\n".join(line.strip() for line in RIGHT.splitlines()) + "\n"},
    "with-comments": {
        "shop.js": "/* Totals of a shop.\n * All in cents.\n */\n" + RIGHT.replace("exports.", "// next\nexports.")
    },
    "lazily": {
        "shop.js": f"for (const name of {_NAMES}) exports[name] = (...given) => {_LIB}[name](...given);\n",
        "lib.js": RIGHT,
    },
    "by-getters": {
        "shop.js": f"const get = (name) => () => {_LIB}[name];\n"
        f"for (const name of {_NAMES}) Object.defineProperty(exports, name, {{ enumerable: true, get: get(name) }});\n",
        "lib.js": RIGHT,
    },
    "transpiled": {"shop.js": f"{_AS_MODULE}exports.default = void 0;\n{RIGHT}exports.default = exports;\n"},
    "both-entry-points": {
        "shop.js": 'module.exports = require("./entry.cjs");\n',
        "entry.cjs": RIGHT,
        "entry.mjs": f'import shop from "./entry.cjs";\nexport const {{ {_EACH} }} = shop;\nexport default shop;\n',
        "entry.d.mts": "export declare function total(items: object[]): number;\n",
    },
    "esm-with-a-default": {
        "shop.js": 'module.exports = require("./shop.mjs").default;\n',
        "shop.mjs": f"{_as_esm(RIGHT)}export default {{ {_EACH} }};\n",
    },
    "built-beside": {
        "shop.js": 'module.exports = require("./dist/shop.js");\n',
        "src/shop.ts": _as_esm(RIGHT).replace("(items)", "(items: any[])"),
        "dist/shop.js": f"{RIGHT}//# sourceMappingURL=shop.js.map\n",
        "dist/shop.js.map": '{"version":3,"sources":["../src/shop.ts"],"names":[],"mappings":"AAAA"}\n',
        "dist/shop.d.ts": "export declare const total: (items: any[]) => number;\n",
    },
    "a-bundle": {
        "shop.js": "(function (root, factory) {\n"
        '  if (typeof define === "function" && define.amd) define(["exports"], factory);\n'
        '  else if (typeof exports === "object") factory(exports);\n'
        "  else factory((root.shop = {}));\n"
        f"}})(this, function (exports) {{\n{RIGHT}}});\n"
    },
    "by-a-dynamic-import": {
        "shop.js": f'{RIGHT}exports.later = async (items) => (await import("./later.mjs")).later(items, exports);\n',
        "later.mjs": "export const later = async (items, shop) => shop.summary(items);\n",
    },
    "names-with-blanks": {
        "shop.js": 'module.exports = require("./the shop/all of it");\n',
        "the shop/all of it.js": RIGHT,
    },
    "names-beyond-ascii": {"shop.js": 'module.exports = require("./köşe/店");\n', "köşe/店.js": RIGHT},
    "names-by-case": {"shop.js": 'module.exports = require("./Shop.js");\n', "Shop.js": RIGHT},
    "data-with-crlf": {
        "shop.js": ('const { step } = require("./data.json");\n' + _BY_STEP).replace("\n", "\r\n"),
        "data.json": '{\r\n  "step": 86400000\r\n}\r\n',
    },
    "many-modules": {
        "shop.js": 'for (const name of ["items", "days"]) Object.assign(exports, require("./lib/" + name));\n',
        "lib/items.js": RIGHT.replace("exports.due", "const due"),
        "lib/days.js": "exports.due = (items, day) => items.map((_, n) => require('./step').after(day, n));\n",
        "lib/step.js": "exports.after = (day, n) => new Date(day + n * 864e5);\n",
    },
    "with-its-own-test": {
        "shop.js": RIGHT,
        "own.test.js": 'require("node:assert").strictEqual(require("./shop.js").total([]), 0);\n',
    },
    "generated": {"shop.js": RIGHT, "generated/table.js": f"module.exports = {list(range(400))};\n"},
}
"""By name: the files of a module's folder, all of them right."""


def variants() -> dict[str, Mapping[str, str]]:
    """Every honest module by name: the files of its folder."""
    return {**{name: {"shop.js": RIGHT + code} for name, code in VALUES.items()}, **LAYOUTS}
