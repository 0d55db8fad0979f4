"""Tests that are data: golden files, fixtures and snapshots of a suite, and the test files that may read them. Pure.

Such a file is test material by its place below a folder of tests, not by its ending. Which test reads it, its name and
the names of its folders suggest; what is true of that is found out by running (miner/pipeline/data_readers.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from miner.candidates.split import classify, declares_tests, in_data_folder, is_data, is_source, is_test_module
from miner.sources.change import Kind

MOST_NAMED = 12
"""Test files that are tried because they name the data: the ones that do so best."""
MOST_OF_SUITE = 60
"""Test files of a suite that are tried where no name tells."""

_RUNNABLE = re.compile(r"tests?.*|.*tests?", re.IGNORECASE)
"""Stems of what may be given to a runner; projects with names of their own for test modules keep to that."""
_SNAPSHOTS = frozenset({".snap", ".snapshot", ".ambr"})
_OF_TAP = re.compile(r"((?:.*/)?)tap-snapshots/(.*)\.test\.cjs")
_GLOB = re.compile(r"""["']([^"'\s]*[*?][^"'\s]*)["']""")
_SHORTEST = 4
"""Characters of a stem that stands for itself in a text."""
_BY_NAME, _BY_STEM, _BY_PATTERN, _BY_FOLDER, _BY_ENDING = 16, 14, 12, 10, 1


@dataclass(frozen=True, kw_only=True)
class Readers:
    """Test files that may read some data, the likeliest first."""

    by_name: tuple[str, ...]
    """Those that name it, its folder or a helper that does."""
    suite: tuple[str, ...]
    """The others of the suite that it belongs to; empty where there are too many."""


def candidates(files: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of a tree's files those that a runner may be given, and the helpers beside them."""
    tests = [path for path in files if classify(path) is Kind.TEST and is_source(path)]
    runnable = tuple(path for path in tests if _runnable(path))
    return runnable, tuple(path for path in tests if path not in set(runnable))


def _runnable(path: str) -> bool:
    stem = PurePosixPath(path).stem
    like_one = bool(_RUNNABLE.fullmatch(stem)) and stem != "conftest" and not in_data_folder(path)
    return (is_test_module(path) and not is_data(path)) or like_one


def readers(data: Sequence[str], runnable: Collection[str], contents: Mapping[str, bytes]) -> Readers:
    """The test files that may read `data`; `contents` has those of `runnable` and of the helpers beside them."""
    runnable = [path for path in runnable if path not in data and _has_tests(path, contents.get(path))]
    if owners := [path for path in runnable if any(_is_snapshot_of(path, of) for of in data)]:
        return Readers(by_name=tuple(sorted(owners)[:MOST_NAMED]), suite=())
    texts = {path: content.decode("utf-8", "replace") for path, content in contents.items()}
    scores = {path: max(_score(text, of) for of in data) for path, text in texts.items()}
    helpers = {path: score for path, score in scores.items() if score > _BY_ENDING and path not in runnable}
    words = {word for of in data for word in _own_folders(PurePosixPath(of))}
    for path in runnable:
        through = [score - 1 for helper, score in helpers.items() if _speaks_of(texts.get(path, ""), helper)]
        scores[path] = max(scores.get(path, 0), *through, 0)
        scores[path] += 3 * (bool(scores[path]) and any(word in path for word in words))
    order = sorted((path for path in runnable if scores[path]), key=lambda path: (-scores[path], path))
    tops = {of.partition("/")[0] for of in data}
    order = [path for path in order if path.partition("/")[0] in tops] or order  # other projects need other packages
    suite = sorted({path for of in data for path in _suite(of, runnable)} - set(order[:MOST_NAMED]))
    return Readers(by_name=tuple(order[:MOST_NAMED]), suite=tuple(suite) if len(suite) <= MOST_OF_SUITE else ())


def _is_snapshot_of(path: str, data: str) -> bool:
    """Whether data are the snapshots of a test file: below its folder, by its name and one ending more.

    Those of tap have a folder of their own, in which they lie as the tests do.
    """
    if match := _OF_TAP.fullmatch(data):
        return path == match[1] + match[2]
    pure, test = PurePosixPath(data), PurePosixPath(path)
    return pure.suffix in _SNAPSHOTS and pure.stem in (test.name, test.stem) and test.parent in pure.parents


def _has_tests(path: str, source: bytes | None) -> bool:
    """Whether a runner has use for a file, where any name will do for one."""
    return not source or not is_test_module(path) or declares_tests(path, source)


def _score(text: str, path: str) -> int:
    """How plainly a source names a data file, or imports a helper; 0 for not at all."""
    pure = PurePosixPath(path)
    if _word(pure.name, text):
        return _BY_NAME
    if (len(pure.stem) >= _SHORTEST and _quoted(pure.stem, text)) or (is_source(path) and _speaks_of(text, path)):
        return _BY_STEM
    patterns = [pattern.rpartition("/")[2] for pattern in _GLOB.findall(text)]
    matching = [pattern for pattern in patterns if fnmatchcase(pure.name, pattern)]
    if any(re.search(r"\w", pattern.removesuffix(pure.suffix)) for pattern in matching):
        return _BY_PATTERN
    for distance, folder in enumerate(reversed(_own_folders(pure))):
        if _quoted(folder, text):
            return max(_BY_FOLDER - 2 * distance, 2)
    return _BY_ENDING if matching and any(pure.suffix and pure.suffix in pattern for pattern in matching) else 0


def _own_folders(pure: PurePosixPath) -> tuple[str, ...]:
    """The folders that belong to the data, below the suite's own."""
    folders = pure.parts[:-1]
    for place in range(1, len(folders) + 1):
        if classify("/".join((*folders[:place], "x.dat"))) is not Kind.GOLD:
            return folders[place:]
    return folders[-1:]


def _word(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", text) is not None


def _quoted(word: str, text: str) -> bool:
    """Whether a text has a word as a string or as a part of a path in one."""
    return re.search(rf"""["'/\\]{re.escape(word)}["'/\\]""", text) is not None


def _speaks_of(text: str, helper: str) -> bool:
    """Whether a test file imports a helper module, or what is in its package, or extends a class of its name."""
    pure = PurePosixPath(helper)
    name = pure.parent.name if pure.stem == "__init__" else pure.stem
    word = re.escape(name)
    named = rf"^.*\b(?:import|extends)\b.*\b{word}\b|\b{word} import\b"
    return re.search(named, text, re.MULTILINE) is not None


def _suite(path: str, runnable: Collection[str]) -> tuple[str, ...]:
    """The test files of the nearest folder around a data file that has any."""
    for folder in PurePosixPath(path).parents:
        prefix = "" if str(folder) == "." else f"{folder}/"
        if inside := tuple(file for file in runnable if file.startswith(prefix)):
            return inside
    return ()
