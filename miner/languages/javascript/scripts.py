"""The test runners that a package's scripts call, and how. Pure."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from harness.core.wording import words
from harness.languages.javascript.language import THROUGH

_OF_TESTS = re.compile(r"test|unit|spec|mocha|jest|tap")
_RUNS_OTHERS = re.compile(r"\b(?:npm|pnpm|yarn|bun|npm-run-all2?|run-[sp]|concurrently)\b")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=([^$]*)")
_OWN_OPTIONS = re.compile(r"\s*\$(?:NODE_OPTIONS\b|\{NODE_OPTIONS[^}]*\})\s*")
_OF_SHELL = re.compile(r"""\b(?:ba)?sh -c (["'])(.*?)\1""")
"""A script in a script."""
_REQUIRING = frozenset({"mocha", "tap", "uvu", "qunit", "node:test"})
_TSX = {"node": (), "tsx": ("--import", "tsx")}
_BABEL_NODE = "babel-node"
_NEVER = frozenset({"PATH", "HOME", "CI"})
"""Variables that are not the scripts' to say."""
_RUNNERS = {
    **{name: name for name in ("vitest", "jest", "mocha", "ava", "jasmine", "uvu", "qunit", "lab")},
    **dict.fromkeys(("_mocha", "ts-mocha"), "mocha"),
}
_INSTALLED = re.compile(r"(?:.*/)?node_modules/(?:\.bin/)?([\w-]+).*")
"""The file of a package that Node is given."""
_TAKES_A_VALUE = words(
    "--require -r --import --loader --conditions --node-option -n --ui -u --timeout -t --config -c "
    "--compilers --opts --file"
)
_KEPT = re.compile(
    r"(--?(?:require|r|import|loader|conditions|node-option|n|ui|u|timeout|t|config|c|env|delay|check-leaks|no-warnings"
    r"|compilers|opts|file|env-file(?:-if-exists)?|no-deprecation|preserve-symlinks|dns-result-order|test-global-setup"
    r"|enable-source-maps|(?:no-)?experimental-(?!test-(?:coverage|isolation))[\w-]+|harmony[\w-]*|expose[-_]gc"
    r"|allow-natives-syntax|disable-proto|stack-size|unhandled-rejections|openssl-legacy-provider))(?:=|$)"
)
_SURROUNDS = re.compile(
    r"(?:(?P<value>--config|-c|--env|--environment|--testEnvironment|--preset|--pool|--rootDir|--testMatch|--testRegex"
    r"|--selectProjects|--project|--workspace|--mode)|--dom|--globals)(?:=|$)"
)
_SETS_UP = re.compile(
    r"[^*?{}]*(?:setup|bootstrap|init|helper|hooks?|globals?|env|prepare|common)[^*?{}/]*\.[cm]?[jt]s"
)
"""A file that mocha is given before those with tests."""
_THROUGH = frozenset({"kcd-scripts", "react-scripts", "tsdx", "dts"})
"""Tools whose command `test` calls jest with a configuration of theirs, and what else they are told."""

_LOADING = {
    "lab": re.compile(r"(?P<value>--timeout|-m|--transform|-T|--require|-R)(?:=|$)|--typescript$"),
    "ava": re.compile(r"(?P<value>--config|--require|-r)(?:=|$)"),
}
"""Options of runners that are told in ways of their own how files are loaded."""


@dataclass(frozen=True)
class Call:
    """One call of a runner."""

    framework: str
    """As harness/languages/javascript knows it."""
    options: tuple[str, ...] = ()
    """Those that say how files are loaded; which tests there are is not the scripts' to say."""
    env: tuple[tuple[str, str], ...] = ()
    """The variables that are set for it."""


def table(manifest: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A table of a manifest; empty where it is none."""
    part = manifest.get(key)
    return part if isinstance(part, dict) else {}


def test_scripts(manifest: Mapping[str, Any], *, around: bool) -> list[str]:
    """The scripts that are called like tests, `test` first, each before those that it runs.

    Without `around` none of those that npm runs by itself before and after others.
    """
    texts = _texts(manifest)
    begun = sorted(filter(_OF_TESTS.search, texts), key=lambda name: (name != "test", len(name)))
    begun = [name for name in begun if around or not name.startswith(("pre", "post"))]
    reached: dict[str, str] = {}
    waiting = begun[::-1]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = texts[name]
            waiting += [*_run_by(texts[name], texts)][::-1]
    return list(reached.values())


def _texts(manifest: Mapping[str, Any]) -> dict[str, str]:
    """What each script runs: of those that only call wireit, what that has under the same name."""
    scripts, wired = table(manifest, "scripts"), table(manifest, "wireit")
    called_by_wireit = (
        name for name in wired if isinstance(wired[name], dict) and scripts.get(name, "wireit") == "wireit"
    )
    commands = {name: wired[name].get("command") for name in called_by_wireit}
    return {name: text for name, text in {**scripts, **commands}.items() if isinstance(text, str)}


def _run_by(script: str, names: Mapping[str, str]) -> Iterator[str]:
    if _RUNS_OTHERS.search(script):
        for word in re.findall(r"[\w:.*-]+", script):
            beginning = word.rstrip("*")
            yield from (name for name in names if name == word or (beginning != word and name.startswith(beginning)))


def called(manifest: Mapping[str, Any]) -> list[Call]:
    """The runners that the scripts for tests call, with what nyc or babel-node has them require."""
    programs = list(_programs(manifest))
    calls = [_compiled(call, words, manifest) for words in programs if (call := _call(words)) is not None]
    required = table(manifest, "nyc").get("require") if any("nyc" in words for words in programs) else None
    for name in reversed(required if isinstance(required, list) else []):
        calls = [
            replace(call, options=("--require", str(name), *call.options))
            if call.framework in _REQUIRING and name not in call.options
            else call
            for call in calls
        ]
    return calls


def _compiled(call: Call, program: Sequence[str], manifest: Mapping[str, Any]) -> Call:
    """A call with what babel-node has Node load in all processes, where that starts it."""
    if _BABEL_NODE not in map(posixpath.basename, program):
        return call
    return _told(call, " ".join(_registering(manifest)))


def _registering(manifest: Mapping[str, Any]) -> tuple[str, str]:
    """What has Node compile all that it loads, as babel-node does."""
    depended = str(manifest.get("devDependencies")) + str(manifest.get("dependencies"))
    return ("--require", "@babel/register" if "@babel/" in depended else "babel-register")


def told_node(manifest: Mapping[str, Any]) -> Call | None:
    """How a script for tests that calls no runner has Node load files: for tests that need none to be called."""
    for program in _programs(manifest):
        is_babel = [posixpath.basename(word) == _BABEL_NODE for word in program]
        at = next((at for at, word in enumerate(program) if word in _TSX or is_babel[at]), None)
        if at is not None and _call(program) is None:
            loading = _registering(manifest) if is_babel[at] else _TSX[program[at]]
            kept = (*loading, *_options(program[at + 1 :]))
            if kept:
                return Call("node:test", kept, _variables(program[:at]))
    return None


def _programs(manifest: Mapping[str, Any]) -> Iterator[list[str]]:
    """The programs that the scripts for tests start, with their arguments, after the variables that they are given."""
    names = _texts(manifest)
    for script in test_scripts(manifest, around=True):
        exported: list[str] = []
        for part in re.split(r"&&|\|\||;", _OF_SHELL.sub(r"\2", script)):
            try:
                words = shlex.split(part.lstrip(" ("))
            except ValueError:
                continue
            exported += words[1:] if words[:1] == ["export"] else []
            yield [*exported, *_without_scripts(words, names)]


def _without_scripts(words: list[str], names: Collection[str]) -> list[str]:
    """What is before a script that a package manager is told to run, whatever that is called."""
    for at in range(2, len(words)):
        if words[at] in names and words[at - 1] in ("run", "run-script") and _RUNS_OTHERS.fullmatch(words[at - 2]):
            return words[: at - 2]
    return words


def _call(words: Sequence[str]) -> Call | None:
    for at, word in enumerate(words):
        name, options = posixpath.basename(word), words[at + 1 :]
        if name in _RUNNERS:
            # what decides which tests there are is ours to say
            kept = _options(options) if _RUNNERS[name] in ("mocha", "uvu", "qunit") else _config(name, options)
            kept += _setting_up(options) if _RUNNERS[name] == "mocha" else ()
            return Call(_RUNNERS[name], kept, _variables(words[:at]))
        if name in _THROUGH and options[:1] == ["test"]:
            return Call("jest", (f"{THROUGH}{name}", *_config("jest", options)), _variables(words[:at]))
        if name in ("tape", "tap", "tape-run"):
            return Call("tap", _options(options) if name == "tape" else (), _variables(words[:at]))
        if name in ("node", "tsx") and "--test" in options:
            kept = tuple(option for option in _options(options) if option != "--test")
            return Call("node:test", (*_TSX[name], *kept), _variables(words[:at]))
        if name == "node":
            return _by_node(words[:at], options)
    return None


def _setting_up(words: Sequence[str]) -> tuple[str, ...]:
    """Files without tests that mocha is given before others."""
    given = [
        word
        for before, word in pairwise(("", *words))
        if not word.startswith("-") and before not in _TAKES_A_VALUE and re.search(r"[./*]", word)
    ]
    return tuple(filter(_SETS_UP.fullmatch, given)) if len(given) > 1 else ()


def _by_node(before: Sequence[str], words: Sequence[str]) -> Call | None:
    """A runner whose file Node is given, with what Node is told of loading files."""
    for at, word in enumerate(words):
        if (match := _INSTALLED.fullmatch(word)) and (call := _call([*before, match[1], *words[at + 1 :]])):
            return _told(call, " ".join(_options(words[:at])))
    return None


def _told(call: Call, options: str) -> Call:
    """A call with more that Node is told."""
    env = dict(call.env)
    told = " ".join(filter(None, (env.get("NODE_OPTIONS"), options)))
    return replace(call, env=tuple({**env, "NODE_OPTIONS": told}.items())) if told else call


def _variables(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What is assigned before a program, by the shell or by cross-env."""
    found = (_ASSIGNED.fullmatch(_OWN_OPTIONS.sub("", word)) for word in words)
    return tuple((match[1], match[2]) for match in found if match and match[1] not in _NEVER)


def _options(words: Sequence[str]) -> tuple[str, ...]:
    kept: list[str] = []
    left = iter(words)
    for word in left:
        if not (match := _KEPT.match(word)):
            continue
        kept.append(word)
        if match[1] in _TAKES_A_VALUE and "=" not in word and (value := next(left, None)) is not None:
            kept.append(value)
    return tuple(kept)


def _config(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """Of the runners that load files themselves: where that is configured, and the surroundings that they make."""
    kept: list[str] = []
    for at, word in enumerate(words):
        pattern = _LOADING.get(name, _SURROUNDS)
        if (match := pattern.match(word)) and (name != "jest" or match[0] != "--globals"):  # jest's has a value
            kept += words[at : at + (2 if match["value"] and "=" not in word else 1)]
    return tuple(kept)
