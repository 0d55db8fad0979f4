"""The words of the field as values: tasks, predictions, statuses, outcomes. Pure.

Names follow SWE-bench (https://www.swebench.com), because users know them.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from harness.core.expectations import Expectations

INSTANCE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
"""What an instance id looks like: it names a folder, so nothing that a file system could misread."""


class TestStatus(StrEnum):
    """What became of one test id in one run."""

    __test__ = False  # not a pytest class

    PASSED = "PASSED"
    FAILED = "FAILED"
    ERROR = "ERROR"
    SKIPPED = "SKIPPED"
    XFAIL = "XFAIL"
    XPASS = "XPASS"


class Outcome(StrEnum):
    """What one prediction came to."""

    RESOLVED = "resolved"
    """Every listed test passed."""
    UNRESOLVED = "unresolved"
    """A listed test failed, or the tests did not finish."""
    EMPTY_PATCH = "empty_patch"
    """There was nothing to apply."""
    APPLY_FAILED = "apply_failed"
    """The patch can't be read or does not apply."""
    TAMPERED = "tampered"
    """The result channel was broken, or values came out that no test hands out."""
    NEEDS_REVIEW = "needs_review"
    """Every listed test passed, and code of the patch looked at what judges it: not resolved until a person says so."""
    INFRA_ERROR = "infra_error"
    """A machine failed, not the model: never counted as a wrong answer."""


PASSING = frozenset({Outcome.RESOLVED, Outcome.NEEDS_REVIEW})
"""Outcomes of a patch with which every listed test passed."""


class TaskState(StrEnum):
    """Where a task stands in its life."""

    CANDIDATE = "candidate"
    """Recognised and split, not proved."""
    PROVED = "proved"
    """Its tests fail before the fix and pass after it; it counts in scores."""
    QUARANTINED = "quarantined"
    """Out of all scores until it is released."""
    RETIRED = "retired"
    """Out of the holdout for good."""


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """What one run of a task's tests may use."""

    seconds: float = 300.0
    """Wall time of the tests, inside the container."""
    memory_mb: int = 2048
    cpus: float = 1.0
    pids: int = 256
    output_bytes: int = 4 * 1024 * 1024
    """How much test output is kept; the middle of a longer one is dropped and its size recorded."""
    disk_mb: int = 1024
    """Size of the writable work tree, and again of /tmp (both tmpfs, so they count as memory)."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Fields of task.yaml that this version does not know; they change no verdict."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A program that tests talk to, such as a database, in a container of its own beside theirs."""

    name: str
    image: str
    """Always a digest: `repo@sha256:…` or the engine's image id `sha256:…`."""
    hosts: tuple[str, ...] = ()
    """Further names that tests know it by."""
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    """In place of the image's own; empty for that."""
    ports: tuple[str, ...] = ()
    """`LISTEN:INNER`: where tests find a port of it on localhost, and which one that is."""
    health: str = ""
    """A shell command that ends with 0, in its container, once it is ready; empty where a port that answers will do."""
    folders: tuple[str, ...] = ()
    """Where it may write; in memory, and empty at the start of each trial. `PATH`, or `PATH:UID:GID:MODE`."""
    read_only: bool = True
    """Whether it can write nowhere else."""
    memory_mb: int = 1024
    start_seconds: float = 120.0
    """How long it may take until it is ready."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Fields of task.yaml that this version does not know; they change no verdict."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that tests know it by."""
        return tuple(dict.fromkeys((self.name, *self.hosts)))

    @property
    def forwards(self) -> tuple[tuple[int, int], ...]:
        """`ports` as numbers."""
        pairs = (port.split(":") for port in self.ports)
        return tuple((int(listen), int(inner)) for listen, inner in pairs)

    def key(self) -> tuple[object, ...]:
        """Everything that can change a verdict."""
        return (self.name, self.image, self.hosts, sorted(self.env.items()), self.command, self.ports, self.memory_mb)


def is_matched(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of these patterns is about a path. One without a slash is about the file's name: `*.c`.

    `*` goes across folders, and `**/` is about none as well. One that begins with a slash is about the whole path.
    """
    name = path.rpartition("/")[2]
    forms = {form for pattern in patterns for form in (pattern, pattern.replace("**/", ""))}
    return any(fnmatch.fnmatchcase(path if "/" in form else name, form.removeprefix("/")) for form in forms)


@dataclass(frozen=True, kw_only=True)
class Build:
    """How what the tests load is built again, where a patch changes what it is built from. In any language."""

    argv: tuple[str, ...]
    """The program, as the image has it; it starts in the root of the tree and needs no network."""
    inputs: tuple[str, ...]
    """Patterns of paths. One without a slash is about the file's name: `*.c`."""
    outputs: tuple[str, ...]
    """Files of the tree, by path; one that ends in a slash is a folder with all below it. Nothing else that a build
    writes is there when the tests start."""
    env: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 600.0
    """Wall time that it may take, apart from that of the tests."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Fields of task.yaml that this version does not know; they change no verdict."""

    def is_touched_by(self, paths: Iterable[str]) -> bool:
        """Whether a patch to these paths changes what is built."""
        return any(is_matched(path, self.inputs) for path in paths)

    def key(self) -> tuple[object, ...]:
        """Everything that can change a verdict."""
        return (self.argv, self.inputs, self.outputs, sorted(self.env.items()), self.seconds)


PLACEHOLDER = re.compile(r"(?<![$#])\{(files?)\}")
"""What stands for test files in a declared command; `${file}` is a variable of the shell, `#{file}` one of Ruby."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """How tests are run and where their results lie, as goldseam.toml says it of a repository. In any language."""

    test: str
    """A command for `sh`, in the root of the tree. `{files}` stands for the test files; where it has `{file}`, it is
    run once for each of them."""
    results: str
    """Pattern of the files that it leaves its results in, below the root of the tree; they are removed before it."""
    build: tuple[str, ...] = ()
    """Commands before it, with the patch and the hidden tests in place."""
    tests: tuple[str, ...] = ()
    """Patterns of test files."""
    protected: tuple[str, ...] = ()
    """Patterns of further files that no model's patch may change, such as what the image has besides the tree."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Fields of task.yaml that this version does not know; they change no verdict."""

    def key(self) -> tuple[object, ...]:
        """Everything that can change a verdict."""
        return (self.test, self.results, self.build, self.tests, self.protected)

    @property
    def is_each(self) -> bool:
        """Whether the command is run once for each test file."""
        return "file" in PLACEHOLDER.findall(self.test)

    @property
    def takes_files(self) -> bool:
        """Whether the command is given test files, and so means nothing without one."""
        return PLACEHOLDER.search(self.test) is not None

    @property
    def command(self) -> str:
        """The command, to which files are given as arguments of a shell."""
        return PLACEHOLDER.sub(lambda match: '"$@"' if match[1] == "files" else '"$1"', self.test)


@dataclass(frozen=True, kw_only=True)
class TestSpec:
    """How the tests of a task are run. Public: it names no hidden test."""

    __test__ = False

    framework: str = "pytest"
    options: tuple[str, ...] = ()
    """Options for the framework, as the repository sets them, less those that hide per-test results."""
    plugins: tuple[str, ...] = ()
    """Installed pytest plugins (names of entry points) or modules to load as such; no other plugin is loaded."""
    pythonpath: tuple[str, ...] = ()
    """Folders of the repository put on sys.path, relative to its root."""
    allowed_paths: tuple[str, ...] = ()
    """Files that the gold patch changes and that screening would leave out of a patch: a model may change them too."""
    modules: tuple[str, ...] = ()
    """Top-level modules of the installed dependencies: a model patch may not bring others of these names."""
    env: Mapping[str, str] = field(default_factory=dict)
    clock: str | None = None
    """When it is for the tests as they start, ISO 8601 in UTC (`2021-05-03T12:00:00Z`); from there time runs on.
    None for the real time."""
    services: tuple[Service, ...] = ()
    """What runs beside the tests, anew for each trial."""
    own_runner: bool = False
    """Whether the repository is the runner itself: a patch may change what reports the results."""
    build: Build | None = None
    """How extension modules and the like are built; None where a patch to any file works as it is."""
    declared: Declared | None = None
    """How the tests are run where no language of goldseam's does that; None where one does."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Fields of task.yaml that this version does not know; they change no verdict."""

    def key(self) -> tuple[object, ...]:
        """Everything that can change a verdict."""
        return (
            self.framework,
            self.options,
            self.plugins,
            self.pythonpath,
            self.allowed_paths,
            self.modules,
            sorted(self.env.items()),
            *((self.clock,) if self.clock else ()),  # so that tasks on real time keep the digest they had
            *(service.key() for service in self.services),
            *(("own_runner",) if self.own_runner else ()),
            *(self.build.key() if self.build else ()),
            *(("declared", *self.declared.key()) if self.declared else ()),
        )


@dataclass(frozen=True, kw_only=True)
class Instance:
    """The public side of a task: all that a model may see."""

    instance_id: str
    repo: str
    base_commit: str
    created_at: str
    """When the fix was merged, ISO 8601 in UTC."""
    language: str
    version: str
    """Version of the interpreter the tests run on, such as `3.11`."""
    image: str | None
    """Always a digest: `repo@sha256:…` or the engine's image id `sha256:…`; None for a candidate."""
    problem_statement: str
    state: TaskState = TaskState.CANDIDATE
    split: str = "holdout"
    test: TestSpec = field(default_factory=TestSpec)
    budgets: Budgets = field(default_factory=Budgets)
    quality: Mapping[str, Any] = field(default_factory=dict)
    scaffold: bytes = b""
    """A patch that adds the hidden tests which were made public; empty where none was. See harness/scaffold."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of task.yaml this version does not know; they survive a round trip."""


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """The hidden side of a task: never in an image, never shown to a model."""

    gold_patch: bytes
    test_patch: bytes
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()
    """Files given to the test runner, relative to the repository's root."""
    hints: str = ""
    original_statement: str = ""
    """What the change itself says, where a model wrote the statement; empty where none did."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """What the proof saw: runs per state and per-test counts."""
    expectations: Expectations = field(default_factory=Expectations)
    """The hidden tests without their expectations, and these; empty for a task that is judged inside."""
    survivors: Mapping[str, bytes] = field(default_factory=dict)
    """Wrong patches that the hidden tests let live, as files by name; evidence, which decides no verdict."""
    calls: bytes = b""
    """calls.json: what harness/differential replays; evidence, which decides no verdict. Empty where nothing is
    recorded."""
    inputs: Mapping[str, bytes] = field(default_factory=dict)
    """What its image's build reads of the fix, compressed, as files by name; they decide no verdict."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    secret: str = field(default="", repr=False)
    """Of a sealed task: random hex digits that name its hidden tests in run folders without telling them."""

    @property
    def listed(self) -> tuple[str, ...]:
        """The tests that have to pass with the fix."""
        return (*self.fail_to_pass, *self.pass_to_pass)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One proved problem, whole."""

    instance: Instance
    hidden: Hidden

    @property
    def instance_id(self) -> str:
        return self.instance.instance_id

    def digest(self) -> str:
        """SHA-256 (hex) over everything that can change a verdict: image, tests, lists, gold patch, how tests run."""
        budgets = self.instance.budgets
        parts: list[object] = [
            self.instance.instance_id,
            self.instance.image,
            self.instance.test.key(),
            (budgets.memory_mb, budgets.cpus, budgets.pids, budgets.disk_mb, budgets.seconds),
            hashlib.sha256(self.hidden.test_patch).hexdigest(),
            hashlib.sha256(self.hidden.gold_patch).hexdigest(),
            self.hidden.fail_to_pass,
            self.hidden.pass_to_pass,
            self.hidden.test_files,
            *((self.hidden.expectations.digest,) if self.hidden.expectations.tests else ()),
            *self._tripped(),
        ]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _tripped(self) -> list[object]:
        """What the fix itself does that a tripwire tells; nothing for most, so that they keep the digest they had."""
        tripped = self.hidden.evidence.get("tripwires")
        return [repr(tripped)] if tripped else []


NOT_READ = "not_read"
"""Field of a prediction whose patch was too much to be read: why."""


Identity = tuple[str, str, int]
"""What no two predictions of a run have alike: model, task and sample."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One model patch for one task, in SWE-bench's fields plus a sample number."""

    instance_id: str
    model_name_or_path: str
    model_patch: str | None
    """The patch as text; bytes that are not UTF-8 are kept as surrogate escapes. None where the model gave none."""
    sample: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Cost, latency, tokens, settings…: kept, never needed."""

    @property
    def identity(self) -> Identity:
        return (self.model_name_or_path, self.instance_id, self.sample)

    @property
    def not_read(self) -> str:
        """Why there is a patch and it was not read; empty where it was, or there is none."""
        why = self.extra.get(NOT_READ)
        return why if self.model_patch is None and isinstance(why, str) else ""

    def patch_bytes(self) -> bytes:
        text = self.model_patch or ""
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # half a surrogate pair, as JSON can hold it: no character, so no valid UTF-8 either
            return text.encode("utf-8", "surrogatepass")
