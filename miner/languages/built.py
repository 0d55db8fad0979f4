"""What comes of building a task's image, as values: the image, the attempts at it, what could be collected in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from harness.config.settings import DeclaredSettings
from harness.core.instance import Build, TestSpec
from miner.evidence.tree import Recipe


@dataclass(frozen=True, kw_only=True)
class BuildSubject:
    """The change that an image is built for."""

    repo: str
    base_commit: str
    when: datetime
    """The date of base_commit, in UTC: dependencies are those of that day."""
    version_hint: str | None = None
    """The version that git's tags would give."""
    touched: tuple[str, ...] = ()
    """The files of the change, by which the project is found where the repository holds several."""
    declared: DeclaredSettings | None = None
    """How the repository's tests are run, where goldseam.toml says so."""
    fixed: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The files that the change touches, as it leaves them."""
    fixed_at: datetime | None = None
    """The date of the change, in UTC."""
    message: str = ""
    """The change's title, and the messages of its commits."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One step of one rung of the ladder, tried."""

    rung: str
    python: str
    step: str
    """`system`, `resolve`, `install`, `source` or `collect`."""
    ok: bool
    seconds: float
    failure: str = ""
    """End of the output, where it failed; of `collect` only what was missing, as the tests are hidden."""
    command: str = ""
    """What was run, where it is one command."""
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the rung stands on, by kind; given with the rung's first step only."""


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What pytest could collect of a candidate's test files, with the fix in place."""

    ok: bool
    """Every file was collected, or nothing can be said about it."""
    seconds: float = 0.0
    tests: int = 0
    lost: int = 0
    """Files or folders that could not be collected."""
    failed: int = 0
    """Tests that failed, where a language can collect them only by running them."""
    missing: tuple[str, ...] = ()
    """Modules of whose package nothing is there."""
    optional: tuple[str, ...] = ()
    """Such modules without which a file is skipped."""
    parts: tuple[str, ...] = ()
    """Modules that are not there although something of their package is: of a namespace that is spread, perhaps."""
    failure: str = ""
    """In words that tell nothing of the tests."""
    output: str = field(default="", repr=False)
    """What was said, for the log and for finding missing system libraries; never public."""
    way: int = 0
    """Which of the ways to call the tests this is, see miner/languages/python/test_command.py."""
    command: str = ""
    """The runner that was called, for a person."""


@dataclass(frozen=True, kw_only=True)
class BuiltImage:
    """The image of a task, and how it came to be."""

    image_id: str
    """`sha256:…`, as the engine knows it."""
    dockerfile: str
    locks: dict[str, str]
    """Lock files by name."""
    inputs: Mapping[str, bytes] = field(default_factory=dict)
    """What its layers read beside the tree, compressed, by `Input.stored_name`."""
    rung: str
    attempts: tuple[Attempt, ...]
    layers: tuple[str, ...]
    """Tags of the layers, from the base up."""
    seconds: dict[str, float]
    """Wall time by step; a reused layer took 0."""
    layer_bytes: dict[str, int]
    """Bytes that each layer adds."""
    python: str = ""
    """Full version of the interpreter, such as `3.11.2`; this and the next four for Python alone."""
    pytest: str = ""
    """Version of pytest."""
    pytest_plugins: tuple[str, ...] = ()
    """Entry point names of group pytest11."""
    modules: tuple[str, ...] = ()
    """Top-level modules and packages of the dependencies."""
    pythonpath: tuple[str, ...] = ()
    """Folders of the repository that had to be put on sys.path, since it can't be installed."""
    platform: str = ""
    """For which machines it is, `os/architecture[/variant]`."""
    root: str = ""
    """The folder of the project that the tests are of, where it is not the repository's root."""
    system: tuple[str, ...] = ()
    """Debian packages beside those of the base, as `name=version`."""
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the repository's CI says of tests beside what is installed: services, variables."""
    notes: tuple[str, ...] = ()
    """What could not be read or was left out, one sentence each."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the tests."""
    own_runner: bool = False
    """Whether the project is the runner that its tests are run by."""
    build: Build | None = None
    """How what is compiled of the project is built again after a patch."""
    repair: Repair | None = None
    """Who proposed the recipe, where that was a model."""
    test: TestSpec | None = None
    """How its tests are run, where goldseam.toml declares that."""
    way: int = 0
    """By which of the ways to call them the tests were collected, see miner/languages/python/test_command.py."""


@dataclass(frozen=True, kw_only=True)
class Failing:
    """A recipe that came to nothing, and what may be said of why: nothing that hidden tests print."""

    recipe: Recipe
    python: str
    step: str
    """See `Attempt.step`."""
    said: str


@dataclass(frozen=True, kw_only=True)
class Repair:
    """A model's part in an environment."""

    model: str
    endpoint: str
    """Its host."""
    snapshot: str
    prompt: int
    """Version of what it is told."""
    rounds: int
    """Recipes that it was asked for."""
    why: str
    """What it said of the last."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class Repairing(Protocol):
    """What is asked for a better recipe, where the ladder has come to its end."""

    def propose(self, failing: Failing) -> Recipe | None:
        """The recipe to try next; None where there is none any more."""

    def summary(self, *, mended: bool) -> Repair | None:
        """What was asked in all, once it is over; None where nothing was asked."""


Collect = Callable[[BuiltImage], Collected]
"""Tries to collect a candidate's tests in an image."""
