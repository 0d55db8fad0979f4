"""Which side of a task a changed file belongs to, and the two patches.

Classification goes by path segment and file name, never by substring: `src/contest/api.py`, `src/latest/x.py` are code.

Where the undecided files go (each such decision is in the split's notes):

- runner configuration that only test runs read (pytest.ini, tox.ini, noxfile.py, runtests.py, .coveragerc,
  jest.config.js…, CI files) goes with the test patch;
- pyproject.toml, setup.cfg, setup.py and other project files, which also say how the code is built, stay in the gold
  patch;
- documentation and changelogs stay in the gold patch, so that both patches make the whole merged tree (SWE-bench
  leaves them out of both).
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from harness.core.instance import is_matched
from miner.candidates import inline
from miner.candidates.examples import files_with_examples, test_patch
from miner.evidence.tree import Fixed, Remembered
from miner.languages import LANGUAGES
from miner.languages.base import Contents
from miner.languages.python.evidence.subproject import PROJECT_FILES
from miner.sources.change import Candidate, Change, ChangedFile, Kind, Rejection, Split, Stage

if TYPE_CHECKING:
    from miner.sources.bare import BareRepository


MAX_GOLD_BYTES = 1024 * 1024
"""A larger gold patch is no task: graders refuse such patches from models too."""

_PATHS = 1 << 14
"""Paths whose kind is remembered: a history touches the same ones again and again."""

_OTHERS: Mapping[str, str] = {
    **dict.fromkeys((".scala", ".sc"), "scala"),
    **dict.fromkeys((".rb", ".rake"), "ruby"),
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".ipp"), "cpp"),
    **dict.fromkeys((".php", ".phpt"), "php"),
    **dict.fromkeys((".cs", ".fs", ".vb"), "csharp"),
    ".swift": "swift",
    **dict.fromkeys((".sh", ".bash", ".zsh", ".fish"), "shell"),
    **dict.fromkeys((".ex", ".exs"), "elixir"),
    ".lua": "lua",
    ".sql": "sql",
}
"""Languages that are told but not mined, by file name extension."""

_TEST_FOLDER = re.compile(
    r"(?:.*[-_.])?tests|(?:.*\.)?test|(?:unit|integration|functional|regression|acceptance|snapshot)[-_]?tests?"
    r"|__tests__|specs?|e2e|cypress"
)
_JVM_TEST_SETS = frozenset(
    {"androidtest", "integrationtest", "testfixtures", "functionaltest", "commontest", "jvmtest"}
)
_JVM = frozenset({"java", "kotlin", "scala", "groovy"})
"""Languages whose builds find no test below `src/main`, whatever it is called."""
_SUPPORT_FOLDERS = frozenset(
    {"testdata", "test-data", "test_data", "__snapshots__", "tap-snapshots", "__fixtures__", "__mocks__"}
)
_DATA_FOLDERS = re.compile(
    r"(?:.*[-_.])?(?:data|fixtures?|cases|testcases|goldens?|snapshots?|expected|samples?|resources|inputs?|outputs?|examples"
    r"|functional|corpus|regressions?|assets)(?:[-_.].*)?"
)
"""Folders below a suite's whose code, where it is not called like a test module, is what tests read."""
_FIXTURES = re.compile(r"(?:.*[-_.])?(?:data|files|fixtures?|goldens?|snapshots?|expected|samples?)(?:[-_.].*)?")
"""The same in a language whose runners take files of any name, in which the others may as well hold tests."""

_THEIR_TESTS: Mapping[str, re.Pattern[str]] = {
    "scala": re.compile(r".*(Test|Tests|TestCase|IT|Spec|Suite)\.scala"),
    "ruby": re.compile(r".*_(spec|test)\.rb|test_.*\.rb"),
    "c": re.compile(r"test_.*\.[ch]|.*_(test|unittest)\.[ch]"),
    "cpp": re.compile(r"test_.*\.\w+|.*_(test|unittest)\.\w+|.*Tests?\.(cc|cpp|cxx)"),
    "php": re.compile(r".*Test(Case)?\.php|.*\.phpt"),
    "csharp": re.compile(r".*Tests?\.(cs|fs|vb)"),
    "elixir": re.compile(r".*_test\.exs"),
    "swift": re.compile(r".*Tests?\.swift"),
}

_RUNNER_NAMES = re.compile(
    r"pytest\.(ini|toml)|\.pytest\.(ini|toml)|tox\.(ini|toml)|noxfile\.py|\.coveragerc|coverage\.cfg|codecov\.ya?ml|\.codecov\.ya?ml"
    r"|(jest|vitest|karma|playwright|cypress|wdio|ava|mocha|nyc)\.(config|conf|setup)\.\w+|vitest\.workspace\.\w+"
    r"|\.mocharc\.?\w*|\.nycrc\w*|cypress\.json|phpunit\.xml(\.dist)?|\.rspec|\.travis\.ya?ml|appveyor\.ya?ml|\.appveyor\.ya?ml"
    r"|\.gitlab-ci\.ya?ml|azure-pipelines\.ya?ml|Jenkinsfile|bitbucket-pipelines\.ya?ml|\.cirrus\.ya?ml|\.drone\.ya?ml"
    r"|codspeed\.ya?ml|run_?tests?\.py|quick_?tests?\.py"
)
_CI_FOLDERS = (".github", ".circleci", ".buildkite", ".azure-pipelines", ".gitlab")

_DOC_SUFFIXES = frozenset({".md", ".rst", ".adoc", ".txt", ".markdown", ".mdx", ".textile", ".pod", ".man"})
_DOC_FOLDERS = frozenset({"docs", "doc", "changelog", "changelog.d", "changes", "changes.d", "newsfragments", "news",
                          "examples", "example", "artwork", "man"})  # fmt: skip
_DOC_NAMES = re.compile(
    r"(CHANGE(S|LOG)|HISTORY|NEWS|README|AUTHORS|CONTRIBUTORS|CONTRIBUTING|LICEN[SC]E|COPYING|NOTICE|THANKS|CREDITS"
    r"|CODE_OF_CONDUCT|SECURITY|UPGRADING|MIGRATION|RELEASE(-?NOTES)?|TODO|ROADMAP)([-._].*)?",
    re.IGNORECASE,
)
_CONFIG_NAMES = re.compile(
    r"pyproject\.toml|setup\.(cfg|py)|requirements.*\.(txt|in)|constraints.*\.txt|Pipfile(\.lock)?|poetry\.lock|uv\.lock|pdm\.lock"
    r"|MANIFEST\.in|Makefile|GNUmakefile|CMakeLists\.txt|meson\.build|package(-lock)?\.json|yarn\.lock|pnpm-lock\.yaml"
    r"|tsconfig.*\.json|go\.(mod|sum)|Cargo\.(toml|lock)|pom\.xml|build\.gradle(\.kts)?|settings\.gradle(\.kts)?"
    r"|gradle\.properties|Gemfile(\.lock)?|composer\.(json|lock)|Dockerfile.*|docker-compose.*\.ya?ml|justfile"
    r"|environment\.ya?ml|mypy\.ini|ruff\.toml|renovate\.json5?|bower\.json|.*\.gemspec|.*\.csproj|.*\.sln|tasks\.py",
    re.IGNORECASE,
)
_KEPT_OFF = re.compile(rb"skip|xfail|ignore|disabled|todo|pending|only|expected_?failure", re.IGNORECASE).search
"""What keeps a test from running, in the languages' words."""
_NOT_DOCS = re.compile(r"requirements.*\.txt|constraints.*\.txt|CMakeLists\.txt", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class _Parts:
    folders: tuple[str, ...]
    """Lower case."""
    name: str
    language: str


def _language_of(suffix: str) -> str:
    """The language of a file name extension; empty where nobody knows it."""
    for language in LANGUAGES.values():
        if suffix in language.suffixes:
            return language.name
    return _OTHERS.get(suffix, "")


def _parts(path: str) -> _Parts:
    pure = PurePosixPath(path)
    language = _language_of(pure.suffix.lower())
    return _Parts(folders=tuple(folder.lower() for folder in pure.parts[:-1]), name=pure.name, language=language)


def _is_test_folder(parts: _Parts) -> bool:
    if any(map(_TEST_FOLDER.fullmatch, parts.folders)):
        return True
    if parts.folders[:1] == ("testing",):  # pytest's own habit; deeper down it is a package for users' tests
        return True
    return any(source_set in _JVM_TEST_SETS for source_set in _source_sets(parts))


def _source_sets(parts: _Parts) -> list[str]:
    """The folders that are below one called `src`."""
    return [name for above, name in itertools.pairwise(parts.folders) if above == "src"]


@functools.lru_cache(maxsize=_PATHS)
def classify(path: str) -> Kind:
    """Which side of a task a path belongs to, by its segments and file name alone."""
    parts = _parts(path)
    if _RUNNER_NAMES.fullmatch(parts.name) or parts.folders[:1] in {(folder,) for folder in _CI_FOLDERS}:
        return Kind.RUNNER
    if any(folder in _SUPPORT_FOLDERS for folder in parts.folders):
        return Kind.SUPPORT
    if parts.language in _JVM and "main" in _source_sets(parts)[:1]:
        return Kind.GOLD
    mined = LANGUAGES.get(parts.language)
    names = mined.test_names if mined else _THEIR_TESTS.get(parts.language)
    if names and names.fullmatch(parts.name):
        return Kind.TEST
    if _is_test_folder(parts):
        code = parts.language and parts.language not in {"shell", "sql"} and parts.name != "__init__.py"
        return Kind.TEST if code else Kind.SUPPORT
    return Kind.SUPPORT if parts.name.endswith((".snap", ".snapshot", ".ambr")) else Kind.GOLD


@functools.lru_cache(maxsize=_PATHS)
def is_data(path: str) -> bool:
    """Whether a path is data of a suite by its place: a fixture, golden file or snapshot, of whatever ending.

    Papers and settings beside the tests are none (`tests/README.md`, `tests/requirements.txt`), nor are helpers.
    """
    kind = classify(path)
    name = PurePosixPath(path).name
    if kind is Kind.TEST:
        if _unnamed_test(path):
            return in_data_folder(path, _FIXTURES)
        return in_data_folder(path) and not is_test_module(path) and name != "conftest.py"
    if kind is not Kind.SUPPORT or name in {"__init__.py", ".gitignore", ".gitattributes"}:
        return False
    return in_data_folder(path) or not (_DOC_NAMES.fullmatch(name) or is_config(path))


def in_data_folder(path: str, names: re.Pattern[str] = _DATA_FOLDERS) -> bool:
    """Whether a path below a suite's folder lies in one for data, by what such are called."""
    folders = _parts(path).folders
    first = next((place for place, folder in enumerate(folders) if _holds_tests(folder)), len(folders))
    return any(map(names.fullmatch, folders[first:]))


def _holds_tests(folder: str) -> bool:
    return folder in _SUPPORT_FOLDERS or folder == "testing" or _TEST_FOLDER.fullmatch(folder) is not None


@functools.lru_cache(maxsize=_PATHS)
def is_docs(path: str) -> bool:
    """Whether a path is documentation or a changelog."""
    parts = _parts(path)
    if _NOT_DOCS.fullmatch(parts.name):
        return False
    pure = PurePosixPath(path)
    return (
        pure.suffix.lower() in _DOC_SUFFIXES
        or bool(_DOC_NAMES.fullmatch(parts.name) and not parts.language)
        or any(folder in _DOC_FOLDERS for folder in parts.folders[:1])
    )


@functools.lru_cache(maxsize=_PATHS)
def is_config(path: str) -> bool:
    """Whether a path is configuration of the project, of its tools or of its runner: nothing that a test imports."""
    parts = _parts(path)
    hidden = parts.name.startswith(".") or any(folder.startswith(".") for folder in parts.folders)
    pinned = parts.folders[:1] == ("requirements",) and not parts.language
    return hidden or pinned or bool(_CONFIG_NAMES.fullmatch(parts.name)) or classify(path) is Kind.RUNNER


def is_source(path: str) -> bool:
    """Whether a path is source code of a language that is mined."""
    return _parts(path).language in LANGUAGES


def is_code(path: str) -> bool:
    """Whether a path is source code outside tests, docs and configuration."""
    return bool(_parts(path).language) and classify(path) is Kind.GOLD and not is_docs(path) and not is_config(path)


def language(paths: Iterable[str]) -> str:
    """The language most of the given paths are written in (code first), or `unknown`."""
    every = tuple(paths)
    for chosen in (tuple(path for path in every if is_code(path)), every):
        counts = Counter(name for path in chosen if (name := _parts(path).language))
        if counts:
            return counts.most_common(1)[0][0]
    return "unknown"


def kinds_of(files: Iterable[ChangedFile], tests: Collection[str] = ()) -> dict[str, Kind]:
    """The kind of each changed path; `tests` are patterns of tests that a repository is declared to have besides."""
    return {file.path: Kind.TEST if is_matched(file.path, tests) else classify(file.path) for file in files}


def test_modules(paths: Iterable[str], declaring: Collection[str]) -> tuple[str, ...]:
    """Of test files, those to be given to a runner: the ones named like test modules of their language, if any are.

    Those that are known to declare tests (`declaring`) are among them, whatever their names.
    """
    every = tuple(path for path in paths if PurePosixPath(path).name not in {"conftest.py", "__init__.py"})
    return tuple(path for path in every if is_test_module(path) or path in declaring) or every


def _of_one_language(tests: Sequence[str], kinds: Mapping[str, Kind]) -> Sequence[str]:
    """Of test files, those that go with most code of a change: one runner takes no others; all where none does."""
    most = LANGUAGES.get(language(path for path, kind in kinds.items() if kind is not Kind.TEST))
    mined = {path: LANGUAGES.get(_parts(path).language) for path in tests}
    if not any(type(one) is type(most) for one in mined.values()):
        return tests
    return [path for path, one in mined.items() if one is None or type(one) is type(most)]


def is_test_module(path: str) -> bool:
    """Whether a test file is called like those that are given to a runner, where its language has a name for these."""
    language = LANGUAGES.get(_parts(path).language)
    return not language or not language.test_modules or bool(language.test_modules.fullmatch(PurePosixPath(path).name))


def declares_tests(path: str, source: bytes) -> bool:
    """Whether a test file may have tests of its own: by its name and what is in it, else by that; helpers have none."""
    name = PurePosixPath(path).name
    language = LANGUAGES.get(_parts(path).language)
    if language is None or name == "conftest.py":
        return language is None
    if language.test_bases and language.test_bases.search(source):
        return False
    if (language.test_modules or language.test_names).fullmatch(name):
        return language.test_signs is None or not source or bool(language.test_signs.search(source))
    return bool(language.test_marks.search(source)) if language.test_marks else not language.test_modules


def _unnamed_test(path: str) -> bool:
    """Whether only its folder makes a file a test, in a language where that will do."""
    language = LANGUAGES.get(_parts(path).language)
    return bool(language and not language.test_modules and not language.test_names.fullmatch(PurePosixPath(path).name))


def documents(repo: Contents, base: str, head: str, kinds: Mapping[str, Kind]) -> list[str]:
    """Changed files that are tests of some language, although neither their names nor their folders say so.

    Raises:
        MissingObjectsError: of a partial clone, which lacks a file.

    """
    return [path for language in LANGUAGES.values() for path in language.documents(repo, base, head, kinds)]


def without_effect(repo: BareRepository, change: Change, kinds: Mapping[str, Kind]) -> Rejection | None:
    """Why no test of a change can tell before from after: nothing runs otherwise of its code, or of its tests.

    Raises:
        MissingObjectsError: of a partial clone, which lacks a file.

    """
    if Kind.MIXED in kinds.values():
        return None
    code = [path for path, kind in kinds.items() if kind is Kind.GOLD and not is_docs(path)]
    tests = [] if any(map(is_data, kinds)) else [path for path, kind in kinds.items() if kind is Kind.TEST]
    read = _ReadOnce(repo, (change.base_commit, change.head_commit), [*code, *tests])
    if _never_runs(read, change, code):
        return Stage.RECOGNITION.no("no_code", "of its code only types, comments or layout change")
    if not tests:
        return None
    gaining = [path for path in tests if not _only_loses(*(read.read_file(commit, path) for commit in read.commits))]
    if not gaining:
        return Stage.RECOGNITION.no("no_tests", "its tests only lose lines")
    if _never_runs(read, change, gaining):
        return Stage.RECOGNITION.no("no_tests", "of its tests only types, comments or layout change")
    return None


def untestable(repo: BareRepository, change: Change, kinds: Mapping[str, Kind]) -> Rejection | None:
    """Why the tests of a change can't be run by anything that is known, whatever its image.

    Raises:
        MissingObjectsError: of a partial clone, which lacks a file.

    """
    tests = [path for path, kind in kinds.items() if kind is Kind.TEST and not is_data(path)]
    of_tests = LANGUAGES.get(language(_of_one_language(tests, kinds))) if tests else None
    if of_tests is None or Kind.MIXED in kinds.values():
        return None
    there = repo.read_files(change.head_commit, kinds)
    tree = Remembered(Fixed(CommitTree(repo, change.head_commit), there))
    code = [path for path in there if kinds[path] is Kind.GOLD and of_tests.code.reads(path)]
    why = of_tests.untestable(tree, [path for path in there if path in tests], code)
    return Stage.RECOGNITION.no(why[0], why[1]) if why else None


class _ReadOnce:
    """A repository some of whose files are read by one program a commit; history has many changes."""

    def __init__(self, repo: BareRepository, commits: tuple[str, str], paths: Collection[str]) -> None:
        self.commits = commits
        self._repo, self._paths = repo, frozenset(paths)
        self._files = {commit: repo.read_files(commit, paths) for commit in commits}

    def read_file(self, commit: str, path: str) -> bytes | None:
        return self._files[commit].get(path) if path in self._paths else self._repo.read_file(commit, path)

    def diff_sections(self, base: str, head: str) -> dict[str, bytes]:
        return self._repo.diff_sections(base, head)


def _never_runs(repo: Contents, change: Change, paths: Sequence[str]) -> bool:
    languages = {_parts(path).language for path in paths if not is_config(path)}
    language = LANGUAGES.get(languages.pop()) if len(languages) == 1 else None
    return language is not None and language.never_runs(repo, change.base_commit, change.head_commit, paths)


def _only_loses(before: bytes | None, after: bytes | None) -> bool:
    """Whether a file gains no line, and loses some, none of which kept a test from running."""
    old, new = (before or b"").splitlines(), [line for line in (after or b"").splitlines() if line.strip()]
    left = iter(old)
    lost = b"\n".join(Counter(filter(bytes.strip, old)) - Counter(new))
    return bool(lost) and all(line in left for line in new) and not _KEPT_OFF(lost)


test_modules.__test__ = False  # type: ignore[attr-defined]  # pytest must not take it for a test


def split(repo: Contents, candidate: Candidate, tests_declared: Collection[str] = ()) -> Split | Rejection:
    """Cut a candidate's diff into gold and test patch, raw bytes: base + gold + test_patch is the head's tree.

    `tests_declared` are patterns of test files, see `kinds_of`; of changed tests these are given to the runner.

    Returns a Rejection with reason `mixed` (a file holds code and tests), `too_large` or `no_code`.
    """
    change = candidate.change
    kinds = kinds_of(candidate.files, tests_declared)
    commits = change.base_commit, change.head_commit
    documents_changed = documents(repo, *commits, kinds)
    kinds.update(dict.fromkeys(documents_changed, Kind.TEST))
    parts = _code_and_tests(repo, change, kinds)
    if isinstance(parts, Rejection):
        return parts
    gold, tests = parts
    documented = files_with_examples(repo, *commits, kinds)
    example_files = test_patch(repo, *commits, documented)
    tests += b"".join(example_files.values())
    kinds.update(dict.fromkeys(example_files, Kind.TEST))
    if not gold:
        return Stage.SPLIT.no("no_code", "nothing remains for the gold patch")
    if len(gold) > MAX_GOLD_BYTES:
        return Stage.SPLIT.no("too_large", f"a gold patch of {len(gold)} bytes, more than {MAX_GOLD_BYTES}")
    paths = (file.path for file in candidate.files if file.status != "D")
    present = [path for path in paths if kinds[path] in (Kind.TEST, Kind.MIXED) or is_data(path)]
    declared_tests = [path for path in present if is_matched(path, tests_declared)]
    data = tuple(
        path for path in present if path not in documents_changed and path not in declared_tests and is_data(path)
    )
    tests_changed = [path for path in present if path not in data]
    tests_by_settings = [
        path
        for language in LANGUAGES.values()
        for path in language.tests_by_settings(repo, change.head_commit, tests_changed)
    ]
    declaring = [
        path
        for path in tests_changed
        if kinds[path] is Kind.MIXED
        or path in (*documents_changed, *declared_tests, *tests_by_settings)
        or declares_tests(path, repo.read_file(change.head_commit, path) or b"")
    ]
    if declaring:  # of others, those that only their folder makes tests are helpers
        tests_changed = [path for path in tests_changed if path in declaring or not _unnamed_test(path)]
    else:
        data, tests_changed = data or tuple(tests_changed), []  # helpers of whatever reads the data, or runs at all
    notes = (
        *_notes(kinds),
        *(
            f"{path} {'is test data' if is_data(path) else 'has no tests'}: the tests that read it are looked for"
            for path in data
            if not tests_changed
        ),
        *(f"the examples in {path} are doctests: they go with the test patch" for path in documents_changed),
        *(f"the examples in {path} are doctests: a file of its own has them" for path in documented),
    )
    return Split(
        gold_patch=gold,
        test_patch=tests,
        kinds=kinds,
        test_files=tuple(declared_tests)
        or tuple(example_files)
        or test_modules(_of_one_language(tests_changed, kinds), declaring),
        data=() if tests_changed else data,
        notes=notes,
    )


def _code_and_tests(repo: Contents, change: Change, kinds: dict[str, Kind]) -> tuple[bytes, bytes] | Rejection:
    """What of a diff changes code, and what changes tests; `kinds` gets which files hold both, and can be cut."""
    gold, tests = b"", b""
    for path, raw in repo.diff_sections(change.base_commit, change.head_commit).items():
        if kinds[path] is not Kind.GOLD:
            tests += raw
            continue
        code, test = raw, b""
        if inline.holds_tests(path, raw):
            sides = (repo.read_file(commit, path) for commit in (change.base_commit, change.head_commit))
            if (parts := inline.cut(path, raw, *sides)) is None:
                return Stage.SPLIT.no("mixed", f"{path} holds code and tests, and the change touches the tests in it")
            code, test = parts
            kinds[path] = Kind.MIXED if test else Kind.GOLD
        gold += code
        tests += test
    return gold, tests


def _notes(kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    notes = [f"runner configuration {path} goes with the test patch" for path in _of(kinds, Kind.RUNNER)]
    notes += [f"{path} holds code and tests: cut by the line" for path in _of(kinds, Kind.MIXED)]
    gold = _of(kinds, Kind.GOLD)
    notes += [f"project file {path} stays in the gold patch" for path in gold if is_config(path)]
    notes += [f"documentation {path} stays in the gold patch" for path in gold if is_docs(path) and not is_config(path)]
    return tuple(notes)


def _of(kinds: Mapping[str, Kind], kind_wanted: Kind) -> Sequence[str]:
    return [path for path, kind in kinds.items() if kind is kind_wanted]


class CommitTree:
    """The tree of a commit in a bare repository."""

    def __init__(self, repo: BareRepository, commit: str) -> None:
        self._repo = repo
        self._commit = commit
        self._projects: dict[str, bytes] | None = None

    def read(self, path: str) -> bytes | None:
        if path.rpartition("/")[2] not in PROJECT_FILES:
            return self._repo.read_file(self._commit, path)
        if self._projects is None:  # where there are several, all are asked for
            files = (file for file in self.files() if file.rpartition("/")[2] in PROJECT_FILES)
            self._projects = self._repo.read_files(self._commit, files)
        return self._projects.get(path)

    def files(self) -> tuple[str, ...]:
        return self._repo.list_files(self._commit)
