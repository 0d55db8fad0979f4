"""How a prediction failed: one ordered table from structured evidence to a class. Pure.

A class is a label beside the verdict and never changes it: part of what it stands on comes from the process that ran
the untrusted patch. Nothing here reads printed text. docs/failures.md shows the table; a test holds it to this one.
"""

from __future__ import annotations

import errno
import signal
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.core.instance import Outcome, TestStatus
from harness.grading.grade import TestsStatus
from harness.grading.time_words import TimeTests
from harness.languages.base import PROCESS_EXIT, Chain, Raised

CLASSES_VERSION = 6
"""Goes up when a row below changes, so that labels of different rules are never counted together."""

FAR_BEYOND = 5.0
"""From how many times gold's seconds on a failing run is one of performance."""
_BEYOND_SECONDS = 5.0
"""And by how many seconds it is slower at least: less says more of the machine than of the patch."""
_NEARLY_ALL_MEMORY = 0.8
_MOST = 0.5


class FailureClass(StrEnum):
    """How a prediction failed."""

    INFRA_ERROR = "infra_error"
    """A machine failed; `cause` says how."""
    TAMPERED = "tampered"
    """The result channel was broken, or values came out that no test hands out."""
    NO_PATCH = "no_patch"
    """The model gave nothing, or text without a patch in it."""
    EMPTY_PATCH = "empty_patch"
    """The patch is blank, or screening leaves nothing of it."""
    UNSAFE_OPERATION = "unsafe_operation"
    """The patch would write outside the work tree, or its code ended the test process."""
    APPLY_FAILED = "apply_failed"
    """The patch is broken or does not apply."""
    OUT_OF_MEMORY = "out_of_memory"
    """The memory limit was hit."""
    PERFORMANCE_ERROR = "performance_error"
    """The tests or the build before them ran out of time, or the tests printed without end or took far longer than with
    the fix."""
    COMPILE_ERROR = "compile_error"
    """The patch changes what is compiled, and that can't be built; or most failing tests can't be compiled with it."""
    REGRESSION = "regression"
    """Every FAIL_TO_PASS test passes, and a PASS_TO_PASS test no longer does."""
    SYNTAX_ERROR = "syntax_error"
    """Most failing tests raise a syntax error."""
    PERMISSION_DENIED = "permission_denied"
    """Most failing tests are refused a file or an operation."""
    MISSING_DEPENDENCY = "missing_dependency"
    """Most failing tests miss a package."""
    IMPORT_ERROR = "import_error"
    """Most failing tests can't import something of the project."""
    TEMPORAL_REASONING_ERROR = "temporal_reasoning_error"
    """Every failing test that can be read is about time, and fails by an assertion."""
    EDGE_CASE_ERROR = "edge_case_error"
    """More than half of the FAIL_TO_PASS tests pass."""
    RUNTIME_ERROR = "runtime_error"
    """Most failing tests raise another exception, or the test process crashed."""
    LOGIC_ERROR = "logic_error"
    """Most failing tests fail by an assertion."""
    NEEDS_REVIEW = "needs_review"
    """Every listed test passed, and code of the patch looked at what judges it."""


class PatchState(StrEnum):
    """What the host found in the text that a model gave."""

    GIVEN = "given"
    NONE = "none"
    """The model gave nothing."""
    BLANK = "blank"
    NO_PATCH = "no_patch"
    """Text, and no patch in it."""
    UNSAFE = "unsafe"
    """It would write outside the tree, into git's own folder, or a link."""
    REFUSED = "refused"
    """Broken, too large, or one that contradicts itself."""
    NOTHING_LEFT = "nothing_left"
    """Every part of it was left out before it was applied, or it is no change by design."""


class Kind(StrEnum):
    """What one failing test came up against."""

    SYNTAX = "syntax"
    COMPILE = "compile"
    MEMORY = "memory"
    LIMIT = "limit"
    PERMISSION = "permission"
    UNSAFE = "unsafe"
    MISSING = "missing"
    IMPORT = "import"
    RUNTIME = "runtime"
    ASSERTION = "assertion"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All that the table looks at. The defaults are those of a prediction that no container was started for."""

    outcome: Outcome
    patch: PatchState = PatchState.GIVEN
    signs: Collection[str] = frozenset()
    """Review flags of the patch (harness/patches/flags.py)."""
    tests: TestsStatus = field(default_factory=TestsStatus)
    """The listed tests, in the round that decided."""
    raised: Mapping[str, Chain] = field(default_factory=dict)
    """By test id."""
    collect_raised: Mapping[str, Chain] = field(default_factory=dict)
    """By file that could not be collected."""
    internal_raised: Chain = ()
    """What ended the test runner itself."""
    time_tests: TimeTests = field(default_factory=TimeTests)
    ran_out_of_memory: bool = False
    """The engine saw the container's memory limit hit."""
    ran_out_of_time: bool = False
    flooded: bool = False
    """The tests were ended, as they printed without end."""
    built: bool = True
    """There was nothing to be built before the tests, or that was done."""
    supervised: bool = True
    """The supervisor lived to see the test process end."""
    finished: bool = True
    """The test process said that it was done."""
    child_exit: int | None = 0
    child_signal: int | None = None
    seconds: float = 0.0
    gold_seconds: float = 0.0
    """What gold took at most when the task was proved, times the slowdown of this machine; 0 where unknown."""
    memory_share: float = 0.0
    """The largest process, as a share of the memory limit."""

    @property
    def kinds(self) -> Counter[Kind]:
        """How many FAIL_TO_PASS tests came up against what."""
        return Counter(kind_of(self._chain(test_id, status), status) for test_id, status in self.tests.failing.items())

    @property
    def main_kind(self) -> Kind | None:
        """What most failing FAIL_TO_PASS tests came up against; of equally many, the first of `Kind`."""
        order = list(Kind)
        return min(self.kinds, key=lambda kind: (-self.kinds[kind], order.index(kind)), default=None)

    def _chain(self, test_id: str, status: TestStatus | None) -> Chain:
        """What stopped a test: its own exception, or for one without a result that of its file, or of the runner."""
        if status is not None:
            return self.raised.get(test_id, ())
        path = test_id.split("::", 1)[0]
        return self.collect_raised.get(path) or next(iter(self.collect_raised.values()), self.internal_raised)


_ASSERTIONS = frozenset({"AssertionError", "Failed", "DocTestFailure", "MultipleDoctestFailures"})
"""An assertion, pytest's `fail` and `raises`, a doctest."""
_LIMITS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EAGAIN})
_UNSAFE = frozenset({errno.EROFS, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})
_TREE = "/testbed/"

KIND_ROWS: tuple[tuple[Kind, str, Callable[[Raised], bool]], ...] = (
    (
        Kind.SYNTAX,
        "`SyntaxError` about a file of the work tree",
        lambda link: "SyntaxError" in link.names and link.file.startswith(_TREE),
    ),
    (Kind.COMPILE, "`CompileError`: what a compiler refuses", lambda link: "CompileError" in link.names),
    (
        Kind.MEMORY,
        "`MemoryError`, or the system's ENOMEM",
        lambda link: "MemoryError" in link.names or link.errno == errno.ENOMEM,
    ),
    (
        Kind.LIMIT,
        "the system says that disk, descriptors or processes are used up (ENOSPC, EDQUOT, EMFILE, ENFILE, EAGAIN)",
        lambda link: link.errno in _LIMITS,
    ),
    (
        Kind.PERMISSION,
        "`PermissionError` (EACCES, EPERM)",
        lambda link: "PermissionError" in link.names or link.errno in (errno.EACCES, errno.EPERM),
    ),
    (
        Kind.UNSAFE,
        "a write outside the tree (EROFS), a network (`gaierror`, ENETUNREACH, EHOSTUNREACH, ENETDOWN), `ProcessExit`",
        lambda link: not {"gaierror", PROCESS_EXIT}.isdisjoint(link.names) or link.errno in _UNSAFE,
    ),
    (Kind.MISSING, "an import of a package of which nothing is there", lambda link: bool(link.missing)),
    (
        Kind.IMPORT,
        "any other `ImportError`: a name or a part that a package does not have",
        lambda link: "ImportError" in link.names,
    ),
)


def kind_of(chain: Chain, status: TestStatus | None) -> Kind:
    """What a failing test came up against.

    The outermost exception decides if it is an assertion; else the first of the chain that a row knows. A test that
    neither passed nor raised (skipped, or a value that was compared on the host) failed like an assertion; one that
    gave no result at all was stopped.
    """
    if not chain:
        return Kind.RUNTIME if status is None else Kind.ASSERTION
    if not _ASSERTIONS.isdisjoint(chain[0].names):
        return Kind.ASSERTION
    for link in chain:
        for kind, _, holds in KIND_ROWS:
            if holds(link):
                return kind
    return Kind.RUNTIME


@dataclass(frozen=True)
class Row:
    """One row of the table: the first whose condition holds gives the class."""

    failure_class: FailureClass
    when: str
    """The condition in words; docs/failures.md has the same."""
    holds: Callable[[Facts], bool]


def _ended_itself(facts: Facts) -> bool:
    """The test process ended in a way that only code which means to can bring about."""
    if facts.finished:
        return False
    if not facts.supervised or not {"exit", "ctypes"}.isdisjoint(facts.signs):
        return True
    if facts.child_signal is not None:
        return facts.child_signal not in _CRASHES
    return facts.child_exit != _RUNNER_GAVE_UP


_CRASHES = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL})
_RUNNER_GAVE_UP = 70
"""The exit code of harness/grading/inside/supervisor.py where an exception went through pytest itself."""


def _took_all_memory(facts: Facts) -> bool:
    killed = not facts.finished and facts.child_signal == signal.SIGKILL and facts.memory_share >= _NEARLY_ALL_MEMORY
    return facts.ran_out_of_memory or killed


def _is_far_beyond_gold(facts: Facts) -> bool:
    slow = facts.seconds >= facts.gold_seconds * FAR_BEYOND and facts.seconds - facts.gold_seconds >= _BEYOND_SECONDS
    return facts.gold_seconds > 0 and slow


def _fails_only_in_time(facts: Facts) -> bool:
    tests = facts.time_tests
    in_time = facts.tests.failing.keys() <= tests.about_time and tests.about_else.isdisjoint(facts.tests.broken)
    return in_time and set(facts.kinds) == {Kind.ASSERTION}


def _most_pass(facts: Facts) -> bool:
    total = len(facts.tests.fail_to_pass)
    return total > 0 and (total - len(facts.tests.failing)) / total > _MOST


def _mostly(failure_class: FailureClass, kind: Kind) -> Row:
    return Row(failure_class, f"most failing tests: {kind}", lambda facts: facts.main_kind is kind)


ROWS: tuple[Row, ...] = (
    Row(
        FailureClass.INFRA_ERROR,
        "our side failed; `cause` says how",
        lambda facts: facts.outcome is Outcome.INFRA_ERROR,
    ),
    Row(
        FailureClass.TAMPERED,
        "the result channel was broken, or values came out that no test hands out",
        lambda facts: facts.outcome is Outcome.TAMPERED,
    ),
    Row(
        FailureClass.NEEDS_REVIEW,
        "every listed test passed, and code of the patch looked at what judges it",
        lambda facts: facts.outcome is Outcome.NEEDS_REVIEW,
    ),
    Row(
        FailureClass.NO_PATCH,
        "the model gave nothing, or text without a patch in it",
        lambda facts: facts.patch in (PatchState.NONE, PatchState.NO_PATCH),
    ),
    Row(
        FailureClass.EMPTY_PATCH,
        "the patch is blank, or nothing of it is left after screening",
        lambda facts: facts.patch in (PatchState.BLANK, PatchState.NOTHING_LEFT),
    ),
    Row(
        FailureClass.UNSAFE_OPERATION,
        "the patch would write outside the work tree, into git's own folder, or a link",
        lambda facts: facts.patch is PatchState.UNSAFE,
    ),
    Row(
        FailureClass.APPLY_FAILED,
        "the patch is broken or does not apply",
        lambda facts: facts.outcome is Outcome.APPLY_FAILED,
    ),
    Row(
        FailureClass.OUT_OF_MEMORY,
        "the memory limit was hit, or the test process was killed with at least 80% of it in use",
        _took_all_memory,
    ),
    Row(
        FailureClass.PERFORMANCE_ERROR,
        "the tests ran out of time or printed without end, or the build before them ran out of time",
        lambda facts: facts.ran_out_of_time or facts.flooded,
    ),
    Row(
        FailureClass.COMPILE_ERROR,
        "the patched code was to be built before the tests, and that failed",
        lambda facts: not facts.built,
    ),
    Row(
        FailureClass.UNSAFE_OPERATION,
        "the code ended the test process by an exit or a signal of its own, or its supervisor",
        _ended_itself,
    ),
    Row(
        FailureClass.RUNTIME_ERROR,
        "the test process crashed before its tests were done",
        lambda facts: not facts.finished,
    ),
    Row(
        FailureClass.REGRESSION,
        "every FAIL_TO_PASS test passes, and a PASS_TO_PASS test no longer does",
        lambda facts: bool(facts.tests.broken) and not facts.tests.failing,
    ),
    _mostly(FailureClass.SYNTAX_ERROR, Kind.SYNTAX),
    _mostly(FailureClass.COMPILE_ERROR, Kind.COMPILE),
    _mostly(FailureClass.OUT_OF_MEMORY, Kind.MEMORY),
    _mostly(FailureClass.PERFORMANCE_ERROR, Kind.LIMIT),
    _mostly(FailureClass.PERMISSION_DENIED, Kind.PERMISSION),
    _mostly(FailureClass.UNSAFE_OPERATION, Kind.UNSAFE),
    _mostly(FailureClass.MISSING_DEPENDENCY, Kind.MISSING),
    _mostly(FailureClass.IMPORT_ERROR, Kind.IMPORT),
    Row(
        FailureClass.PERFORMANCE_ERROR,
        "the tests took at least 5 times as long as with the fix, and 5 s longer",
        _is_far_beyond_gold,
    ),
    Row(
        FailureClass.TEMPORAL_REASONING_ERROR,
        "every failing test whose source is to be seen is about time, and fails by an assertion",
        _fails_only_in_time,
    ),
    Row(FailureClass.EDGE_CASE_ERROR, "more than half of the FAIL_TO_PASS tests pass", _most_pass),
    _mostly(FailureClass.RUNTIME_ERROR, Kind.RUNTIME),
    Row(FailureClass.LOGIC_ERROR, "anything else: most failing tests fail by an assertion", lambda _: True),
)


def classify(facts: Facts) -> FailureClass | None:
    """The class by the first row that holds; None where the prediction resolved its task."""
    if facts.outcome is Outcome.RESOLVED:
        return None
    return next(row.failure_class for row in ROWS if row.holds(facts))
