"""The signals of one prediction, as its report.json has them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.core.records import OpenRecord

SCHEMA_VERSION = 1


class Measure(OpenRecord):
    """Something that was measured, or not, and then why not."""

    measured: bool = True
    why_not: str = ""


class CompiledFile(OpenRecord):
    """One changed Python file."""

    path: str
    ok: bool | None
    """None where the compiler could not say."""
    error: str = ""
    line: int = 0


class Compiles(Measure):
    """Whether the changed Python files compile, with the task's own interpreter, before any test runs."""

    ok: bool | None = None
    files: tuple[CompiledFile, ...] = ()


class ImportedFile(OpenRecord):
    """One changed Python file."""

    path: str
    status: Literal["loaded", "imports", "fails", "unknown"]
    """`loaded` by the tests; `imports` or `fails` when tried afterwards."""
    error: str = ""


class Imports(Measure):
    """Whether the changed modules can be imported. What the process under test says of itself."""

    ok: bool | None = None
    """None where some could not be told and none fails."""
    files: tuple[ImportedFile, ...] = ()


class LintFinding(OpenRecord):
    """One finding of a linter in a changed file."""

    rule: str
    path: str
    line: int
    message: str = ""
    text: str = ""
    """The line itself, without its indentation."""


class Lint(Measure):
    """Findings that the patch brings and those that it takes away, moved lines left out."""

    new: tuple[LintFinding, ...] = ()
    """At most 200; `new_by_rule` counts all."""
    gone: tuple[LintFinding, ...] = ()
    new_by_rule: dict[str, int] = Field(default_factory=dict)
    gone_by_rule: dict[str, int] = Field(default_factory=dict)


class EslintLint(Lint):
    """Findings of eslint in changed JavaScript and TypeScript, in the form of `Lint`."""

    config: Literal["", "repository", "recommended"] = ""
    """The rules: the repository's declared ones, or `eslint:recommended` where its configuration is code."""
    notes: tuple[str, ...] = ()
    """Parts of the configuration that were not followed; at most 20."""


class SecurityFinding(OpenRecord):
    """One finding of a security tool in a changed file."""

    tool: str
    rule: str
    """The tool's own id, such as `B602`."""
    cwe: int | None
    """Number in the Common Weakness Enumeration."""
    severity: Literal["low", "medium", "high"]
    confidence: Literal["low", "medium", "high"]
    path: str
    line: int
    """In the patched file for a new finding, in the base's for one that is gone."""
    message: str = ""
    text: str = ""
    """The line itself, without its indentation."""


class Security(Measure):
    """Findings that the patch brings and those that it takes away, moved lines left out."""

    new: tuple[SecurityFinding, ...] = ()
    """At most 200; `new_by_cwe` counts all."""
    gone: tuple[SecurityFinding, ...] = ()
    new_by_cwe: dict[str, int] = Field(default_factory=dict)
    """By CWE number as text; `none` where the tool names none."""
    gone_by_cwe: dict[str, int] = Field(default_factory=dict)


class FunctionComplexity(OpenRecord):
    """Cyclomatic complexity of a function that the patch changes; null where it is not there."""

    path: str
    function: str
    before: int | None
    after: int | None


class Complexity(Measure):
    """Cyclomatic complexity of the changed functions, all languages that lizard reads."""

    before: int = 0
    after: int = 0
    delta: int = 0
    highest: int = 0
    """Of a changed function, after the patch."""
    functions: tuple[FunctionComplexity, ...] = ()
    """At most 50, those that changed most first."""


class PatchSize(OpenRecord):
    """Size of what was applied: the patch without the parts that were left out."""

    files: int = 0
    hunks: int = 0
    added: int = 0
    removed: int = 0


class Runtime(Measure):
    """The tests' time and memory against gold's when the task was proved."""

    seconds: float = 0.0
    gold_seconds: float | None = None
    seconds_ratio: float | None = None
    max_rss_kb: int = 0
    gold_max_rss_kb: int | None = None
    memory_ratio: float | None = None


class Network(Measure):
    """The kernel's counts in the container's own network namespace while the tests ran."""

    attempts: int = 0
    """Connections and datagrams to addresses outside; none has a route."""
    lookups: int = 0
    """Datagrams to a closed port of this machine: what a name look-up looks like where there is no name server."""
    loopback_packets: int = 0
    """Packets from this container to itself, as tests with a server of their own send."""


class Writes(Measure):
    """Files outside the work tree that are there after the tests and were not before."""

    files: int = 0
    bytes: int = 0
    paths: tuple[str, ...] = ()
    """The first ten."""
    own_files: int = 0
    """Files in pytest's own temporary folders; in none of the figures above."""
    more: bool = False
    """There was more than is looked through."""


class Skipped(OpenRecord):
    """A changed file that was not looked into."""

    path: str
    why: str


class Signals(OpenRecord):
    """All signals of one prediction. They never change its verdict."""

    schema_version: int = SCHEMA_VERSION
    patch: PatchSize = Field(default_factory=PatchSize)
    compiles: Compiles
    imports: Imports
    lint: Lint
    eslint: EslintLint
    security: Security
    semgrep: Measure
    complexity: Complexity
    runtime: Runtime
    network: Network
    writes: Writes
    skipped: tuple[Skipped, ...] = ()
    """Changed files that the tools did not read."""
    tools: dict[str, str] = Field(default_factory=dict)
    """Version by tool, and `image`, where they ran."""
