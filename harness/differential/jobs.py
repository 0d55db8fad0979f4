"""Containers that record or answer calls: how each is started, and what came out of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from harness.core import clock
from harness.core.instance import Task
from harness.differential.corpus import Answer, Steps
from harness.grading import scoring, trial
from harness.grading.trial import TrialSpec
from harness.judging import frames
from harness.patches.patch import Patch
from harness.sandbox.job import Sandbox

_SECONDS = 180.0
_RECORDING_FACTOR = 8.0
"""By how much tests may take longer while calls are recorded."""
_RECORDED = 300
_OF_ONE_FUNCTION = 60
_DATES = (datetime(2031, 1, 1, tzinfo=UTC), datetime(2037, 12, 1, tzinfo=UTC))
_TIMES_IN_TESTS = 3


class NoReplayError(Exception):
    """The calls could not be made; the message says why."""


def _some_date() -> str:
    first, last = (moment.timestamp() for moment in _DATES)
    return clock.text_of(datetime.fromtimestamp(first + secrets.randbelow(int(last - first)), tz=UTC))


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a program could tell a test run by; anew for each replay."""

    hostname: str = field(default_factory=lambda: f"app-{secrets.token_hex(4)}")
    clock: str | None = field(default_factory=_some_date)
    hash_seed: int = field(default_factory=lambda: secrets.randbelow(2**32))
    order: int = field(default_factory=lambda: secrets.randbelow(2**31))


@dataclass(frozen=True, kw_only=True)
class RecordedCall:
    """A call as a test made it."""

    steps: Steps
    direct: bool
    """Tests make it themselves, with nothing of the product in between."""


def record(task: Task, gold: Patch, changed: Mapping[str, Sequence[int]], sandbox: Sandbox) -> tuple[RecordedCall, ...]:
    """The calls, from hidden tests to the fix, in which a changed function runs.

    `changed` are the lines that the fix changes by path, as they are after it.

    Raises:
        NoReplayError: the tests did not run.
        InfrastructureError: the engine failed.

    """
    spec = scoring.trial_spec(task, gold)
    budgets = replace(spec.budgets, seconds=max(_SECONDS, _RECORDING_FACTOR * spec.budgets.seconds))
    fields = {**_request(task, "record"), "changed": {**changed}, "limit": _RECORDED, "each": _OF_ONE_FUNCTION}
    frames_seen = _frames(replace(spec, budgets=budgets, calls=fields), sandbox)
    return tuple(
        RecordedCall(steps=frame["steps"], direct=frame["direct"] is True)
        for frame in frames_seen
        if frame["t"] == "call" and isinstance(frame.get("steps"), list) and "direct" in frame
    )


def answers(
    task: Task, model_patch: Patch | None, calls: Sequence[Steps], sandbox: Sandbox, surroundings: Surroundings
) -> list[Answer | None]:
    """What a patched product answers without a test runner, its tests or their surroundings; None where nothing.

    Raises:
        NoReplayError: the calls could not be made.
        InfrastructureError: the engine failed.

    """
    fields = {**_request(task, "replay"), "calls": calls, "order": surroundings.order}
    spec = scoring.trial_spec(task, model_patch)
    spec = replace(
        spec,
        budgets=replace(spec.budgets, seconds=_SECONDS),
        files=(),
        test_patch=None,
        overlay={},
        calls=fields,
        clock=surroundings.clock,
    )
    by_call: list[Answer | None] = [None] * len(calls)
    for frame in _frames(spec, sandbox, surroundings):
        if _is_answer(frame, len(calls)):
            by_call[frame["call"]] = frame["answer"]
    return by_call


def answers_in_tests(
    task: Task, model_patch: Patch | None, calls: Sequence[Steps], sandbox: Sandbox
) -> list[list[Answer]]:
    """For each call what the patched product answers while hidden tests run, once a test for the first few.

    Raises:
        NoReplayError: the calls could not be made.
        InfrastructureError: the engine failed.

    """
    fields = {**_request(task, "tests"), "calls": calls, "order": 0, "times": _TIMES_IN_TESTS}
    spec = scoring.trial_spec(task, model_patch)
    spec = replace(
        spec,
        budgets=replace(spec.budgets, seconds=_SECONDS + spec.budgets.seconds),
        files=tuple(dict.fromkeys(test_id.split("[")[0] for test_id in task.hidden.fail_to_pass)),
        calls=fields,
    )
    tests: list[list[Answer]] = [[] for _ in calls]
    for frame in _frames(spec, sandbox):
        if _is_answer(frame, len(calls)):
            tests[frame["call"]].append(frame["answer"])
    return tests


def _request(task: Task, mode: str) -> dict[str, Any]:
    return {"mode": mode, "tests": task.hidden.test_files, "changed": {}}


def _is_answer(frame: Mapping[str, Any], count: int) -> bool:
    call = frame.get("call")
    return frame["t"] == "answer" and type(call) is int and 0 <= call < count and isinstance(frame.get("answer"), dict)


def _frames(spec: TrialSpec, sandbox: Sandbox, surroundings: Surroundings | None = None) -> Sequence[dict[str, Any]]:
    """The frames of the process under test.

    Raises:
        NoReplayError: it did not come to its end, or the channel was tampered with.
        InfrastructureError: the engine failed.

    """
    keys = frames.Keys(supervisor=secrets.token_bytes(32), tests=secrets.token_bytes(32))
    job = trial.job(spec, keys)
    if surroundings is not None:
        env = {name: value for name, value in job.env.items() if not name.startswith("PYTEST_")}
        env["PYTHONHASHSEED"] = str(surroundings.hash_seed)
        job = replace(job, hostname=surroundings.hostname, env=env)
    transcript = frames.read(sandbox.run(job).stdout, keys)
    by_kind = {frame["t"]: frame for frame in transcript.supervisor}
    if by_kind.get("setup_error", {}).get("text") == trial.NO_CLOCK and surroundings is not None and surroundings.clock:
        return _frames(replace(spec, clock=None), sandbox, replace(surroundings, clock=None))
    if transcript.violations:
        raise NoReplayError("its result channel was tampered with")
    if "ready" not in by_kind:
        raise NoReplayError("the patched tree could not be made")
    if not any(frame["t"] == "finish" for frame in transcript.tests):
        raise NoReplayError("it ended before every call was made")
    return transcript.tests
