"""pytest: how it is called, and what its frames mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from harness.core.instance import TestSpec, TestStatus
from harness.core.test_ids import stable_ids
from harness.core.wording import words
from harness.judging import values
from harness.judging.frames import Shapes
from harness.languages.base import Chain, TestReport, chain
from harness.languages.reporting import SHAPES, is_of

BLOCKED_PLUGINS = words(
    "cov flakefinder forked pytest_cov pytest_cov.plugin random_order randomly reporter rerunfailures retry sugar"
    " xdist xdist.looponfail"
)
"""Entry point names of plugins that reorder, repeat, distribute or measure; none of them may shape a verdict."""
LINTERS = words("black checkdocs codestyle enabler flake8 flakes isort mypy pep8 pycodestyle pydocstyle pylint ruff")
"""Of those that make a test of how each file looks, and of what turns these on: a stripped file looks another way."""

CHDIR = "--chdir="
"""An option of ours: the folder, from the repository's root, that the tests are started in."""
KEPT_WITH_VALUE = (
    "--import-mode", "--doctest-glob", "--asyncio-mode", "--ds", "--dc", "--timeout", "--pythonwarnings",
    "--config-file", "--override-ini", "-m", "-W", "-p", "-o", "-c",
)  # fmt: skip
"""Options that are kept with the word that follows them."""
_KEPT = (
    "--doctest-modules", "--doctest-continue-on-failure", "--doctest-ignore-import-errors", "--strict-markers",
    "--strict", "--runxfail", "--reuse-db", "--no-migrations", "--nomigrations",
)  # fmt: skip
_QUIET_PLUGINS = frozenset({"warnings", "logging", "unraisableexception", "threadexception", "faulthandler", "anyio"})
"""What `-p no:` may leave out: plugins that turn something into a failure or set something up."""
_CACHE = "/tmp/pytest-of-cache"  # noqa: S108 - inside the container
"""Where `config.cache`, which tests and fixtures may use, begins empty: beside the tree, with pytest's own files."""
_SHOWN = ("addopts", "cache_dir", "log_", "junit", "console", "tmp_path_retention", "verbosity", "testpaths")
"""Settings, by their beginning, that concern how results are shown and which files are taken."""
_SHAPES: Shapes = {
    **SHAPES,
    "report": {
        "id": (str,),
        "when": (str,),
        "outcome": (str,),
        "xfail": (bool,),
        "seconds": (float, int),
        "text": (str,),
    },
    "collect_skip": {"id": (str,), "text": (str,)},
}
"""What the recorder of harness/grading/inside/supervisor.py writes; a frame of any other form is somebody else's."""
_SEVERITY = (
    TestStatus.FAILED,
    TestStatus.ERROR,
    TestStatus.XPASS,
    TestStatus.XFAIL,
    TestStatus.SKIPPED,
    TestStatus.PASSED,
)


def argv(spec: TestSpec) -> tuple[str, ...]:
    """Arguments before the test files: the task's own options, and nothing that hides a result.

    Plugins are loaded by pytest itself, which knows them by the names of their entry points: `-p` would take such a
    name for a module's, such as `asyncio`, and have the standard library's rewritten.
    """
    return (
        "-o",
        f"cache_dir={_CACHE}",
        "-o",
        "addopts=",
        "-o",
        "required_plugins=",
        "--rootdir=/testbed",
        "--confcutdir=/testbed",
        "--continue-on-collection-errors",
        "--tb=short",
        "-v",
        *(word for plugin in sorted(_kept_off(spec.plugins)) for word in ("-p", f"no:{plugin}")),
        *(("--benchmark-disable",) if "benchmark" in spec.plugins else ()),
        *(word for word in spec.options if not word.startswith(CHDIR)),
        "-W",
        "ignore:Unknown config",  # of plugins that are kept off
    )


def safe_plugins(installed: Iterable[str]) -> tuple[str, ...]:
    """Of the installed plugins' entry points, those that a task's tests may use."""
    return tuple(sorted(set(installed) - _kept_off(())))


def _kept_off(plugins: Collection[str]) -> frozenset[str]:
    """Plugins that are not loaded; a task from before linters were kept off has them among its own."""
    return BLOCKED_PLUGINS | LINTERS.difference(plugins)


def kept_words(words: Sequence[str]) -> tuple[str, ...]:
    """The part of a repository's options that changes what a test means, not how results are shown.

    Everything else (coverage, xdist, `-x`, `-q`, reports to files) is left out, because it hides or costs per-test
    results. `-Werror` and `-W error` are read alike.
    """
    selected: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        name, equals, value = word.partition("=")
        joined = word[:2] in _SHORT and len(word) > 2  # noqa: PLR2004 - `-Werror`
        if word in _KEPT:
            selected.append(word)
        elif word in KEPT_WITH_VALUE and index + 1 < len(words):
            if _matters(word, words[index + 1]):
                selected += [word, words[index + 1]]
            index += 1
        elif (name.startswith("--") and equals and name in KEPT_WITH_VALUE and _matters(name, value)) or (
            joined and _matters(word[:2], word[2:].lstrip("="))
        ):
            selected.append(word)
        elif word in _TAKES_VALUE and not "".join(words[index + 1 : index + 2]).startswith("-"):
            index += 1
        index += 1
    return tuple(selected)


_SHORT = tuple(name for name in KEPT_WITH_VALUE if not name.startswith("--"))
_TAKES_VALUE = frozenset({"-n", "-k", "-r", "--maxfail", "--tb", "--cov", "--ignore", "--deselect", "--durations"})
"""Options that are left out with the word that follows them."""


def _matters(name: str, value: str) -> bool:
    """Whether an option of this value changes what a test means."""
    if name == "-p":
        left_out = value.removeprefix("no:")
        return left_out in _QUIET_PLUGINS if value.startswith("no:") else value not in _kept_off(())
    if name in ("-o", "--override-ini"):
        return not value.startswith(_SHOWN)
    return True


def pairs(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Kept options one by one, each with the value that follows it."""
    pairs_found: list[tuple[str, ...]] = []
    words_left = list(words)
    while words_left:
        word = words_left.pop(0)
        pairs_found.append((word, words_left.pop(0)) if word in KEPT_WITH_VALUE and words_left else (word,))
    return tuple(pairs_found)


def read(frames: Sequence[Mapping[str, Any]]) -> TestReport:
    """Per-test results from the recorder's frames, under ids that are the same in every run.

    A test has up to three reports (set-up, call, tear-down), more with subtests (`part`) or where several tests have
    one id; the worst of them is its status, and a part that is skipped counts only where none passes. A failure outside
    the call is an ERROR, as pytest's own summary counts it.
    """
    if not all(is_of(frame, _SHAPES) for frame in frames):
        return TestReport(violations=("a frame that the recorder does not write",))
    test_statuses: dict[str, set[TestStatus]] = {}
    part_statuses: dict[str, set[TestStatus]] = {}
    finished: set[str] = set()
    seconds: dict[str, float] = {}
    texts: dict[str, list[str]] = {}
    collected: list[str] = []
    errors: dict[str, str] = {}
    skips: dict[str, str] = {}
    internal = ""
    exit_code: int | None = None
    frames = _renamed(frames)
    for frame in frames:
        kind = frame["t"]
        if kind == "report":
            test_id = str(frame["id"])
            by_id = part_statuses if frame["when"] == "part" else test_statuses
            by_id.setdefault(test_id, set()).add(_status(frame))
            seconds[test_id] = seconds.get(test_id, 0.0) + float(frame["seconds"])
            if frame["text"]:
                texts.setdefault(test_id, []).append(str(frame["text"]))
            if frame["when"] == "teardown":
                finished.add(test_id)
        elif kind == "collected":
            collected += [str(test_id) for test_id in frame["ids"]]
        elif kind in ("collect_error", "collect_skip"):
            (errors if kind == "collect_error" else skips)[str(frame["id"])] = str(frame["text"])
        elif kind == "internal_error":
            internal = str(frame["text"])
        elif kind == "finish":
            exit_code = int(frame["code"])
    statuses = {
        test_id: min({*seen, *_counted(part_statuses.get(test_id, set()))}, key=_SEVERITY.index)
        for test_id, seen in test_statuses.items()
        if test_id in finished
    }
    events = tuple(values.event_of(frame) for frame in frames if frame["t"] == "value")
    return TestReport(
        statuses=statuses,
        seconds=seconds,
        texts={test_id: "\n".join(lines).strip() for test_id, lines in texts.items()},
        raised=_raised(frames, "report"),
        collected=tuple(collected),
        collect_errors=errors,
        collect_raised=_raised(frames, "collect_error"),
        collect_skips=skips,
        internal_error=internal,
        internal_raised=_raised(frames, "internal_error").get("", ()),
        events=events,
        finished=exit_code is not None,
        exit_code=exit_code,
        violations=(*_violations(statuses, collected, errors, exit_code), *values.repeated(events)),
    )


def _renamed(frames: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The frames with the ids that tests go by in place of those that the runner gave them."""
    listed = [str(test_id) for frame in frames if frame["t"] == "collected" for test_id in frame["ids"]]
    names = stable_ids({*listed, *(frame["id"] for frame in frames if "id" in frame)})
    return [
        {**frame, "ids": [names[str(test_id)] for test_id in frame["ids"]]}
        if frame["t"] == "collected"
        else {**frame, "id": names[frame["id"]]}
        if frame["t"] in _OF_ONE
        else frame
        for frame in frames
    ]


_OF_ONE = ("report", "value", "collect_error", "collect_skip")
"""Frames that are about one id."""


def _raised(frames: Sequence[Mapping[str, Any]], kind: str) -> dict[str, Chain]:
    """By id: what the first failing frame of a kind says was raised. Read leniently, since no verdict stands on it."""
    by_id: dict[str, Chain] = {}
    for frame in frames:
        if frame["t"] == kind and (links := chain(frame.get("raised"))):
            by_id.setdefault(str(frame.get("id", "")), links)
    return by_id


def _counted(parts: set[TestStatus]) -> set[TestStatus]:
    """The statuses of subtests that count for their test."""
    return parts - {TestStatus.SKIPPED} if TestStatus.PASSED in parts else parts


def _status(frame: Mapping[str, Any]) -> TestStatus:
    outcome, in_call, xfail = frame["outcome"], frame["when"] in ("call", "part"), frame["xfail"]
    if outcome == "failed":
        return TestStatus.FAILED if in_call else TestStatus.ERROR
    if outcome == "skipped":
        return TestStatus.XFAIL if xfail else TestStatus.SKIPPED
    if outcome != "passed":
        return TestStatus.ERROR  # a plugin's own word, such as `rerun`; never a pass
    return TestStatus.XPASS if xfail and in_call else TestStatus.PASSED


def _violations(
    statuses: Mapping[str, TestStatus], collected: Sequence[str], errors: Mapping[str, str], exit_code: int | None
) -> tuple[str, ...]:
    """What an honest pytest never says: results for tests it did not collect, or an exit code that denies them."""
    problems: list[str] = []
    strangers = sorted(set(statuses) - set(collected))
    if strangers:
        problems.append(f"a result for a test that was not collected: {strangers[0]}")
    bad = bool(errors) or any(status in (TestStatus.FAILED, TestStatus.ERROR) for status in statuses.values())
    if exit_code == 0 and bad:
        problems.append("the runner ended with success although tests failed")
    return tuple(problems)
