"""The seam: what goldseam needs to know of a language's tests. A language is a folder beside this one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.core.instance import TestSpec, TestStatus
from harness.judging.values import Event
from harness.patches.patch import FilePatch


@dataclass(frozen=True, kw_only=True)
class Raised:
    """One exception of a failure: what untrusted code says of itself, so good for a label and for nothing else."""

    names: tuple[str, ...]
    """The names of its class and of that one's bases, nearest first."""
    errno: int | None = None
    """What the system said, where it is an OSError."""
    missing: str = ""
    """The module that is not there, where an import failed for want of the whole of it."""
    file: str = ""
    """The file that cannot be parsed, where it is a SyntaxError."""
    says: str = ""
    """Its message, where it can tell of a name that is not there."""


Chain = tuple[Raised, ...]
"""An exception and those that led to it, outermost first."""


def chain(frame: Any) -> Chain:
    """A chain as a frame or a file tells it; what is not of that form is left out."""
    links = (_link(link) for link in frame[:_LINKS]) if isinstance(frame, list) else ()
    return tuple(link for link in links if link is not None)


_LINKS, _NAMES, _LETTERS = 6, 12, 500

PROCESS_EXIT = "ProcessExit"
"""What a file raises, in no language's own words, in whose process code ended that before its tests were done."""


def _link(link: Any) -> Raised | None:
    if not isinstance(link, dict) or not isinstance(link.get("names"), list):
        return None
    names = tuple(name[:_LETTERS] for name in link["names"][:_NAMES] if isinstance(name, str))
    errno, missing, file, says = (link.get(name) for name in ("errno", "missing", "file", "says"))
    return Raised(
        names=names,
        errno=errno if type(errno) is int and abs(errno) < 1 << 31 else None,
        missing=missing[:_LETTERS] if isinstance(missing, str) else "",
        file=file[:_LETTERS] if isinstance(file, str) else "",
        says=says[:_LETTERS] if isinstance(says, str) else "",
    )


@dataclass(frozen=True, kw_only=True)
class TestReport:
    """What one run of a framework said, once its frames are read."""

    __test__ = False

    statuses: Mapping[str, TestStatus] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Per test id: set-up, call and tear-down together."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Per test id that did not pass: what the framework said."""
    raised: Mapping[str, Chain] = field(default_factory=dict)
    """Per test id that failed: what its first failing step raised."""
    collected: tuple[str, ...] = ()
    begun: str = ""
    """The last test that began, where a runner does not list them all before."""
    collect_errors: Mapping[str, str] = field(default_factory=dict)
    """Per file that could not be collected: what the framework said."""
    collect_raised: Mapping[str, Chain] = field(default_factory=dict)
    """Per file that could not be collected: what was raised."""
    collect_skips: Mapping[str, str] = field(default_factory=dict)
    """Per file that its own code skips: what the framework said."""
    internal_error: str = ""
    internal_raised: Chain = ()
    events: tuple[Event, ...] = ()
    """What assertions handed out, in the order in which it came; each key once."""
    compile_seconds: float | None = None
    """What compiling took, before the first test ran; None where nothing is compiled."""
    finished: bool = False
    exit_code: int | None = None
    violations: tuple[str, ...] = ()
    """Where the frames contradict each other."""

    @property
    def exited(self) -> tuple[str, ...]:
        """Files whose process ended before their tests did, by code in it."""
        return tuple(path for path, raised in self.collect_raised.items() if raised and PROCESS_EXIT in raised[0].names)


class Framework(Protocol):
    """One test framework: what its frames mean."""

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        """Per-test results from the frames of the test process, values that assertions handed out among them."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """What runs the tests of one trial inside its container, beside goldseam's own supervisor."""

    interpreter: str
    """The Python (3.6 or later) in the image that the supervisor runs on."""
    sources: tuple[tuple[str, bytes], ...]
    """Source of parts by name: the same bytes for every trial of the language, of a proof and of an evaluation.

    They are run in the names of harness/grading/inside/supervisor.py. One part in use defines
    `run_tests(spec, frames, watch)`, which is called in the process of the tests and never returns.
    """
    parts: tuple[str, ...]
    """The parts that this trial uses, in their order."""
    spec: Mapping[str, Any]
    """What they are told, as JSON can say it. A request (`Language.program`) that is left out is not met."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of the container, before those that the task has."""
    modules: tuple[str, ...] = ()
    """What a container imports of the standard library while it waits for a trial: the same for all of the language."""


@dataclass(frozen=True, kw_only=True)
class InnerGrading:
    """What harness/languages/inside/grader.py has to know of a language, in a container of another tool."""

    interpreter: str
    """The Python (3.6 or later) in the image that it runs on."""
    argv: tuple[str, ...]
    """Arguments of pytest or of the runner of suites, or (`program`) the program to which test files are given."""
    program: bool = False
    """Whether `argv` is a program that tells of each test on descriptor 3, one JSON object a line."""
    suites: bool = False
    nose: bool = False
    chdir: str = ""
    """The folder that pytest is started in, from the repository's root."""
    env: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, bytes] = field(default_factory=dict)
    """Files beside the grader, by name."""
    inline: tuple[str, ...] = ()
    """Files that hold code and tests at once; the part `inline.py` puts back the latter."""

    @classmethod
    def of_program(cls, program: Program) -> InnerGrading:
        """A trial's program that is one of its own (harness/languages/inside/command.py), with nothing around it."""
        inline = tuple(program.spec.get("inline", ()))
        return cls(
            interpreter=program.interpreter,
            argv=tuple(program.spec["argv"]),
            program=True,
            env=program.env,
            parts={"inline.py": dict(program.sources)["inline"]} if inline else {},
            inline=inline,
        )


Reason = Callable[["FilePatch", str], str | None]
"""Why a file of a patch may not reach the tests by one of its paths: a stable word, or None where it may."""


class Language(Protocol):
    """How the tests of one language are started and recorded inside a container, and what that says. No state."""

    name: str
    """As `language` of task.yaml has it."""
    frameworks: Mapping[str, Framework]
    """Its test frameworks by name."""
    has_tripwires: bool = False
    """Whether its programs tell where code of a patch looks at what judges it (harness/judging/tripwires.py)."""
    allowable: frozenset[str]
    """Reasons of `screen` that do not stand against a file which the gold patch itself changes."""

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """The program of a trial.

        `requests` holds what is asked besides, by name: `watch` (what signals are made from), `vary` (the order of
        tests, the number of processors), `clock` (harness/core/clock.py), `calls` (harness/differential).
        """

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """What of a model's patch may not reach these tests."""

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """The command by which a person or an agent runs the tests in some files, or all, at the root of a work tree.

        Raises:
            InputError: the task's clock is none.

        """

    def graded(self, test: TestSpec) -> InnerGrading:
        """How a grader inside another tool's container runs these tests, whole and in one process with the product.

        By default that is the program of a trial, with nothing around it.
        """
        return InnerGrading.of_program(self.program(test, {}))

    def cut(self, path: str, before: str | None, after: str, keep: Collection[Names]) -> str:
        """A test file as it was before a change (None where it is new), with these tests of how it is after it.

        Raises:
            CannotCutError: a test or what it needs cannot be told from the rest; by default, of every file.

        """
        raise CannotCutError(f"tests of the language {self.name} cannot be shown one by one")

    def caveat(self, test: TestSpec, paths: Sequence[str]) -> str:
        """What a person should know of a patch to these paths that resolves nothing; empty where there is nothing."""
        return ""


Names = tuple[str, ...]
"""A test function: its name, or its class's and its own; or all the titles of a test in one text."""


class CannotCutError(Exception):
    """A test cannot be taken out of its file; the text says why, and names nothing hidden."""


def lines_of(text: str) -> list[str]:
    """The lines of a file, with their ends.

    Raises:
        CannotCutError: some end otherwise than with a line feed, so that a patch could not tell them apart.

    """
    if "\r" in text or "\f" in text:
        raise CannotCutError("the file has lines that end otherwise than with a line feed")
    lines = text.splitlines(keepends=True)
    if len(lines) != text.count("\n") + (not text.endswith("\n") and bool(text)):
        raise CannotCutError("the file has characters that part lines")
    return lines
