"""A JavaScript package whose fix adds a dependency, and patches that change its manifest: right ones and others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.repos import Repository

_NAMED: Mapping[str, Any] = {"name": "span-kit", "version": "1.0.0", "license": "MIT"}
_ENTRIES: Mapping[str, Any] = {
    ".": {"import": "./index.mjs", "require": "./index.js"},
    "./package.json": "./package.json",
}
_SCRIPTS: Mapping[str, Any] = {"test": "node --test test/"}
_MS: Mapping[str, str] = {"ms": "^2.1.3"}


def _json(value: Mapping[str, Any], indent: int | str = 2) -> str:
    return json.dumps(value, indent=indent) + "\n"


def _manifest(**changes: Any) -> str:
    return _json({**_NAMED, "main": "./index.js", "exports": _ENTRIES, "scripts": _SCRIPTS, **changes})


def _lock(packages: Mapping[str, Any], **own: Any) -> str:
    return _json({**_NAMED, "lockfileVersion": 3, "requires": True, "packages": {"": {**_NAMED, **own}, **packages}})


_INSTALLED = {
    "node_modules/ms": {
        "version": "2.1.3",
        "integrity": "sha512-6FlzubTLZG3J2a/NVCAleEhjzq5oxgHyaCU9yYXvcLsvoVaHJq/s5xXI6/XXP6tz7R9xAOtHnSO/tXtF3WRTlA==",
        "license": "MIT",
    }
}
_WRONG = "exports.span = (text) => Number(text);\nexports.spans = async (texts) => texts.map(Number);\n"
_BEFORE = """\
import assert from "node:assert";
import { createRequire } from "node:module";
import test from "node:test";
import { span, spans } from "span-kit";

const kit = createRequire(import.meta.url)("span-kit");
test("of numbers", () => assert.strictEqual(span("7"), 7));
"""
_AFTER = (
    _BEFORE
    + """\
test("of units", () => {
  assert.strictEqual(span("97s"), 97000);
  assert.strictEqual(kit.span("3h"), 10800000);
});
test("of many", async () => assert.deepStrictEqual(await spans(["7m", "2d"]), [420000, 172800000]));
test("of nothing", () => assert.throws(() => kit.span("soon"), { name: "TypeError", message: "no span: soon" }));
"""
)
TEST = "test/span.test.mjs"
BASE: Mapping[str, str] = {
    "package.json": _manifest(),
    "package-lock.json": _lock({}),
    "index.js": _WRONG,
    "index.mjs": 'import kit from "./index.js";\nexport const { span, spans } = kit;\nexport default kit;\n',
    TEST: _BEFORE,
    ".gitignore": "node_modules\n",
}
_BODY = """\
const span = (text) => {
  const found = ms(text);
  if (found === undefined) throw new TypeError(`no span: ${text}`);
  return found;
};
const spans = async (texts) => texts.map(span);
"""
_CJS = f'const ms = require("ms");\n\n{_BODY}module.exports = {{ span, spans }};\n'
_ESM = f'import ms from "ms";\n\n{_BODY}export {{ span, spans }};\nexport default {{ span, spans }};\n'
_FIXED = _manifest(dependencies=_MS)
_LOCKED = _lock(_INSTALLED, dependencies=_MS)
FIX: Mapping[str, str] = {"package.json": _FIXED, "package-lock.json": _LOCKED, "index.js": _CJS, TEST: _AFTER}
_OWN = """\
const UNITS = { "": 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 };
const ms = (text) => {
  const [, number, unit] = /^(\\d+)([smhd]?)$/.exec(text) || [];
  return unit === undefined ? undefined : number * UNITS[unit];
};
"""

Changes = dict[str, "str | None"]
HONEST: Mapping[str, Changes] = {
    "the-dependency-of-the-fix": {"package.json": _FIXED, "index.js": _CJS.replace("found", "given")},
    "the-dependency-and-its-lock": {"package.json": _FIXED, "package-lock.json": _LOCKED, "index.js": _CJS},
    "another-range": {"package.json": _manifest(dependencies={"ms": "2.x"}), "index.js": _CJS},
    "a-tool-that-nothing-needs": {
        "package.json": _manifest(dependencies=_MS, devDependencies={"prettier": "^3.0.0"}),
        "index.js": _CJS,
    },
    "an-optional-dependency": {"package.json": _manifest(optionalDependencies=_MS), "index.js": _CJS},
    "a-lock-of-another-manager": {
        "package.json": _FIXED,
        "yarn.lock": '# yarn lockfile v1\n\n\nms@^2.1.3:\n  version "2.1.3"\n',
        "index.js": _CJS,
    },
    "no-dependency": {"index.js": f"{_OWN}{_BODY}module.exports = {{ span, spans }};\n"},
    "the-dependency-taken-over": {
        "lib/ms.js": f"{_OWN}module.exports = ms;\n",
        "index.js": _CJS.replace('"ms"', '"./lib/ms.js"'),
    },
    "crlf": {name: text.replace("\n", "\r\n") for name, text in {"package.json": _FIXED, "index.js": _CJS}.items()},
    "a-manifest-written-anew": {
        "package.json": _json({**json.loads(_FIXED), "version": "1.1.0"}, "\t"),
        "CHANGELOG.md": "# 1.1.0\n\nSpans have units.\n",
        "index.js": _CJS,
    },
    "more-entries": {
        "package.json": _manifest(
            dependencies=_MS,
            exports={
                ".": {"types": "./index.d.ts", "node": _ENTRIES["."], "default": "./index.mjs"},
                "./lib/*": "./lib/*.js",
                "./package.json": "./package.json",
            },
            types="./index.d.ts",
            sideEffects=False,
        ),
        "index.d.ts": "export declare function span(text: string): number;\n",
        "lib/span.js": _CJS,
        "index.js": 'module.exports = require("span-kit/lib/span");\n',
    },
    "moved-to-esm": {
        "package.json": _manifest(
            dependencies=_MS,
            type="module",
            main="./index.cjs",
            exports={".": {"import": "./index.js", "require": "./index.cjs"}},
        ),
        "index.js": _ESM,
        "index.mjs": None,
        "index.cjs": _CJS,
    },
    "moved-to-esm-alone": {
        "package.json": _manifest(dependencies=_MS, type="module", exports="./index.js"),
        "index.js": _ESM,
        "index.mjs": None,
    },
    "moved-to-cjs-alone": {
        "package.json": _manifest(dependencies=_MS, type="commonjs", exports="./index.js"),
        "index.js": _CJS,
        "index.mjs": None,
    },
    "moved-and-exported-again": {
        "package.json": _manifest(
            dependencies=_MS,
            main="./lib/index.js",
            exports={".": {"import": "./lib/index.mjs", "require": "./lib/index.js"}},
        ),
        "lib/index.js": _CJS,
        "lib/index.mjs": BASE["index.mjs"],
        "index.js": 'module.exports = require("./lib/index.js");\n',
        "index.mjs": None,
    },
    "built-and-committed": {
        "package.json": _manifest(
            dependencies=_MS,
            main="./dist/index.cjs",
            files=["dist"],
            exports={".": {"import": "./dist/index.mjs", "require": "./dist/index.cjs"}},
        ),
        "src/index.ts": _ESM.replace("(text)", "(text: string)").replace("(texts)", "(texts: string[])"),
        "dist/index.mjs": _ESM,
        "dist/index.cjs": f'"use strict";\n{_CJS}',
        "dist/index.d.ts": "export declare const span: (text: string) => number;\n",
    },
    "names-within-the-package": {
        "package.json": _manifest(dependencies=_MS, imports={"#span": "./lib/span.js", "#ms": "ms"}),
        "lib/span.js": _CJS.replace('"ms"', '"#ms"'),
        "index.js": 'module.exports = require("#span");\n',
    },
    "a-program-beside": {
        "package.json": _manifest(dependencies=_MS, bin={"span": "bin/span.js"}),
        "bin/span.js": '#!/usr/bin/env node\nconsole.log(require("../index.js").span(process.argv[2]));\n',
        "index.js": f"#!/usr/bin/env node\n{_CJS}",
    },
    "scripts-of-its-own": {
        "package.json": _manifest(
            dependencies=_MS,
            scripts={**_SCRIPTS, "lint": "eslint .", "prepublishOnly": "npm test"},
            engines={"node": ">=18"},
        ),
        "index.js": _CJS,
    },
}
"""By name: the files of a right patch, None where one is gone."""
ATTACKS: Mapping[str, Changes] = {
    "another-script": {"package.json": _manifest(dependencies=_MS, scripts={"test": "true", "pretest": "exit 0"})},
    "the-test-is-the-package": {"package.json": _manifest(dependencies=_MS, exports={".": f"./{TEST}"})},
    "assertions-within-the-package": {
        "package.json": _manifest(dependencies=_MS, imports={"#assert": "./yes.js"}, browser={"assert": "./yes.js"}),
        "yes.js": "module.exports = new Proxy(() => {}, { get: (_, key, me) => me });\n",
    },
    "a-dependency-of-its-own": {
        "package.json": _manifest(dependencies={**_MS, "assert": "file:yes"}, overrides={"ms": "file:yes"}),
        "yes/index.js": "module.exports = () => {};\n",
        "yes/package.json": '{"name": "assert", "version": "9.0.0"}\n',
    },
}
"""By name: what a patch makes of the manifest and puts beside it; the product stays wrong."""
EXECUTABLE = frozenset({"bin/span.js", "index.js"})
"""Files of the program `a-program-beside` that it makes executable."""


def patch(repo: Repository, base: str, changes: Changes, *, executable: frozenset[str] = frozenset()) -> bytes:
    """The patch that git makes of these changes of a commit, renames told as such."""
    repo.git("checkout", "--quiet", "--force", base)
    for path, text in changes.items():
        repo.write(path, text, executable=path in executable)
    repo.git("add", "--all")
    place = repo.path.with_suffix(".patch")
    repo.git("diff", "--cached", "-M30%", f"--output={place}", base)
    repo.git("reset", "--quiet", "--hard", base)
    return place.read_bytes()
