"""The test runners that a package's scripts call, and how. Pure."""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_OF_TESTS = re.compile(r"test|unit|spec|mocha|jest|tap")
_RUNS_OTHERS = re.compile(r"\b(?:npm|pnpm|yarn|bun|npm-run-all2?|run-[sp]|concurrently)\b")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=([^$]*)")
_NEVER = frozenset({"PATH", "HOME", "CI"})
"""Variables that are not the scripts' to say."""
_RUNNERS = {
    **{name: name for name in ("vitest", "jest", "mocha", "ava", "jasmine", "uvu", "qunit", "lab")},
    **dict.fromkeys(("_mocha", "ts-mocha"), "mocha"),
}
_INSTALLED = re.compile(r"(?:.*/)?node_modules/(?:\.bin/)?([\w-]+).*")
"""The file of a package that Node is given."""
_TAKES_A_VALUE = frozenset(
    {"--require", "-r", "--import", "--loader", "--ui", "-u", "--timeout", "-t", "--config", "-c"}
)
_KEPT = re.compile(
    r"(--?(?:require|r|import|loader|ui|u|timeout|t|config|c|experimental-[\w-]+|env|no-warnings|check-leaks))(?:=|$)"
)
_SURROUNDS = re.compile(
    r"(?:(?P<value>--config|-c|--env|--environment|--testEnvironment|--preset|--pool)|--dom|--globals)(?:=|$)"
)

_OF_LAB = re.compile(r"(?P<value>--timeout|-m|--transform|-T|--require|-R)(?:=|$)|--typescript$")


@dataclass(frozen=True)
class Call:
    """One call of a runner."""

    framework: str
    """As harness/languages/javascript knows it."""
    options: tuple[str, ...] = ()
    """Those that say how files are loaded; which tests there are is not the scripts' to say."""
    env: tuple[tuple[str, str], ...] = ()
    """The variables that are set for it."""


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
    scripts, wired = (table if isinstance(table, dict) else {} for table in map(manifest.get, ("scripts", "wireit")))
    commands = {name: task.get("command") for name, task in wired.items() if isinstance(task, dict)}
    both = {
        **scripts,
        **{name: command for name, command in commands.items() if scripts.get(name, "wireit") == "wireit"},
    }
    return {name: text for name, text in both.items() if isinstance(text, str)}


def _run_by(script: str, names: Mapping[str, str]) -> Iterator[str]:
    if _RUNS_OTHERS.search(script):
        for word in re.findall(r"[\w:.*-]+", script):
            beginning = word.rstrip("*")
            yield from (name for name in names if name == word or (beginning != word and name.startswith(beginning)))


def called(manifest: Mapping[str, Any]) -> list[Call]:
    """The runners that the scripts for tests call."""
    found = []
    for script in test_scripts(manifest, around=True):
        for part in re.split(r"&&|\|\||;", script):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            if (call := _call(words)) is not None:
                found.append(call)
    return found


def _call(words: Sequence[str]) -> Call | None:
    for at, word in enumerate(words):
        name, options = posixpath.basename(word), words[at + 1 :]
        if name in _RUNNERS:
            # what decides which tests there are is ours to say
            kept = _options(options) if _RUNNERS[name] in ("mocha", "uvu", "qunit") else _config(name, options)
            return Call(_RUNNERS[name], kept, _variables(words[:at]))
        if name in ("tape", "tap", "tape-run"):
            return Call("tap", _options(options) if name == "tape" else (), _variables(words[:at]))
        if name in ("node", "tsx") and "--test" in options:
            loader = ("--import", "tsx") if name == "tsx" else ()
            kept = tuple(option for option in _options(options) if option != "--test")
            return Call("node:test", (*loader, *kept), _variables(words[:at]))
        if name == "node":
            return _by_node(words[:at], options)
    return None


def _by_node(before: Sequence[str], words: Sequence[str]) -> Call | None:
    """A runner whose file Node is given, with what Node is told of loading files."""
    for at, word in enumerate(words):
        if (match := _INSTALLED.fullmatch(word)) and (call := _call([*before, match[1], *words[at + 1 :]])):
            env = dict(call.env)
            told = " ".join(filter(None, (env.get("NODE_OPTIONS"), *_options(words[:at]))))
            return replace(call, env=tuple({**env, "NODE_OPTIONS": told}.items())) if told else call
    return None


def _variables(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What is assigned before a program, by the shell or by cross-env."""
    found = (_ASSIGNED.fullmatch(word) for word in words)
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
        pattern = _OF_LAB if name == "lab" else _SURROUNDS
        if (match := pattern.match(word)) and (name != "jest" or match[0] != "--globals"):  # jest's has a value
            kept += words[at : at + (2 if match["value"] and "=" not in word else 1)]
    return tuple(kept)
