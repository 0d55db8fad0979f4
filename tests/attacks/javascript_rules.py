"""A rule of ESLint with a test written with its RuleTester: attacks on that, and right rules that are not the fix."""

from __future__ import annotations

from pathlib import Path

import yaml

_META = """\
const META = {
  type: "problem", fixable: "code", hasSuggestions: true, schema: [],
  messages: { found: "'{{ name }}' is no name for money.", rename: "Call it '{{ name }}'." },
};
"""
BASE = (
    _META
    + """\
module.exports = {
  meta: META,
  create: (context) => ({
    Identifier(node) {
      const data = { name: "money" };
      if (node.name.includes("cash")) context.report({ node: node.parent, messageId: "found", data });
    },
  }),
};
"""
)
_RIGHT = """\
module.exports = {
  meta: META,
  create: (context) => ({
    Identifier(node) {
      const [data, fix] = [{ name: node.name }, (fixer) => fixer.replaceText(node, "cents")];
      const suggest = [{ messageId: "rename", data: { name: "cents" }, fix }];
      if (node.name === "cash") context.report({ node, messageId: "found", data, fix });
      if (node.name === "coin") context.report({ node, messageId: "found", data, suggest });
    },
  }),
};
"""
RIGHT = _META + _RIGHT
TEST = """\
const { describe, it } = require("node:test");
const { RuleTester } = require("eslint");
const rule = require("./rule.js");
Object.assign(RuleTester, { describe, it });
const tester = new RuleTester();
const found = (name, more) => ({ messageId: "found", data: { name }, ...more });
const CENTS = { messageId: "rename", data: { name: "cents" }, output: "cents = 3" };
const TOLD = "'cash' is no name for money.";
tester.run("money", rule, {
  valid: ["cents;", { name: "a part of a name", code: "cashier + 8417;" }],
  invalid: [
    { code: "cash;", output: "cents;", errors: [found("cash", { line: 1, column: 1, endColumn: 5 })] },
    { code: "pay(cash, cash)", output: "pay(cents, cents)", errors: [found("cash"), found("cash", { column: 11 })] },
    { code: "count(cash)", output: "count(cents)", errors: [TOLD] },
    {
      code: "coin = 3",
      output: null,
      errors: [{ message: /^'coin' is no/, suggestions: [CENTS] }],
    },
  ],
});
"""
CASES = 6
EXPECTED = ("is no name", "cents, cents", "column", "messageId", "rename", "count(cents)", "'coin'")
"""Words that only what it expects has."""
_FILE = yaml.safe_load(Path(__file__).with_name("javascript_rules.yaml").read_text())
_ATTACKS: dict[str, str] = _FILE["attacks"]
_RIGHT_ONES: dict[str, str] = _FILE["right"]
PLACES = {name: f"rules/{name}" for name in (*_RIGHT_ONES, *_ATTACKS)}
"""The folder of each, which has a rule and its test."""
ATTACKS = frozenset(_ATTACKS)


def rules() -> dict[str, str]:
    """By name: the module of a rule as a patch leaves it."""
    right = {name: _META + text.replace("@right@", _RIGHT) for name, text in _RIGHT_ONES.items()}
    return right | {name: _attacked(text, f"{PLACES[name]}/lint.js") for name, text in _ATTACKS.items()}


def _attacked(code: str, path: str) -> str:
    """What an attack on the test at a path puts beside a wrong rule."""
    return f"{BASE}{code.replace('@path@', path)}"
