"""One trial: a task's tests, run once in a fresh container on base + patches. Proof and grading both stand on it."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from harness.core import clock
from harness.core.instance import Budgets, Build, Instance, TestSpec
from harness.judging import frames, tripwires
from harness.judging.tripwires import Watch
from harness.languages import framework, language_of, parts
from harness.languages.base import Program, TestReport
from harness.patches.patch import Patch
from harness.sandbox.job import GRACE_SECONDS, Job, JobResult, MissingImageError, Sandbox

_IMPORTS = """\
import sys
sys.path[:]=[path for path in sys.path if path]
import {}
"""
_BOOTSTRAP = """\
def take(n):
    data=bytearray()
    while len(data)<n:
        chunk=os.read(0,min(1<<20,n-len(data)))
        if not chunk: raise SystemExit(71)
        data+=chunk
    return bytes(data)
head=json.loads(take(int(take(8),16)).decode())
parts={name:take(size) for name,size in head["runner"]}
runner=b"\\n".join(parts.pop(name) for name in head["spec"]["parts"])
del parts
exec(compile(runner,"<goldseam>","exec"))
if"clock"not in head["spec"]: del runner
blobs={name:take(head[name]) for name in("model","tests","overlay")}
keys=[bytearray(32),bytearray(32)]
for key in keys:
    left=memoryview(key)
    while left:
        left=left[os.readv(0,[left])or sys.exit(71):]
del left
main(head.pop("spec"),blobs,keys)
"""


_MOST_SAID = 300
"""Characters of what is wrong with the channel, which may name a test as long as the channel."""
NO_CLOCK = "the image has no libfaketime"
"""What harness/languages/inside/clock.py says then."""


class MissingClockError(MissingImageError):
    """The image has no libfaketime, so its tests can't be given a clock of their own."""


@dataclass(frozen=True, kw_only=True)
class TrialSpec:
    """What to run: the image, the patches on top of it, the tests and what they may use."""

    image: str
    test: TestSpec
    files: tuple[str, ...]
    """Test files, or functions in them (`path::Class::function`); those whose file is not there are left out."""
    budgets: Budgets
    model_patch: Patch | None = None
    test_patch: Patch | None = None
    overlay: Mapping[str, bytes] = field(default_factory=dict)
    """Files put in place after the patches, by path."""
    env: Mapping[str, str] = field(default_factory=dict)
    clock: str | None = None
    """When it is for the tests as they start, ISO 8601 in UTC, in place of what the task says; None leaves that as it
    is (`test.clock`, or the real time)."""
    watch: Mapping[str, Any] | None = None
    """What the supervisor is asked to tell besides, for harness/signals; None for nothing."""
    order: int | None = None
    """Runs of a proof only: 0 turns the order of the tests round, another number shuffles them, by it; None leaves it.
    Files, classes and the tests in them stay together."""
    cpu_count: int | None = None
    """Runs of a proof only: how many processors the tests are told there are, and at most may use; None for all."""
    calls: Mapping[str, Any] | None = None
    """What `inside/calls.py` is to record or replay; see harness/differential. None in every verdict."""


@dataclass(frozen=True, kw_only=True)
class BuildRun:
    """The build before the tests, where the patch changed what is built."""

    ok: bool
    why: str = ""
    """Why there is nothing to test."""
    output: str = ""
    """The end of what it printed."""
    code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What came of it, from structured evidence only."""

    report: TestReport
    violations: tuple[str, ...]
    """Where the result channel was broken or contradicts itself: somebody tampered with it."""
    model_apply_error: str | None
    test_apply_error: str | None
    setup_error: str | None
    ran: bool
    """The tests were started."""
    exited: bool
    """The supervisor saw the test process end."""
    child_exit: int | None
    child_signal: int | None
    timed_out: bool
    oom_killed: bool
    seconds: float
    cpu_seconds: float
    max_rss_kb: int
    output: bytes
    output_size: int
    timings: Mapping[str, float]
    container_seconds: float = 0.0
    """From the container's making to its end."""
    watched: tuple[Mapping[str, Any], ...] | None = None
    """The supervisor's frames, where the trial was watched."""
    tripwires: Watch = field(default_factory=Watch)
    build: BuildRun | None = None
    flooded: bool = False
    """The tests were ended, as they printed without end."""


def run(spec: TrialSpec, sandbox: Sandbox) -> Trial:
    """Run the tests once.

    Raises:
        MissingClockError: the tests need a clock of their own, which the image can't give them.
        InfrastructureError: the engine failed, or the image is not there; says nothing about the patch.

    """
    keys = frames.Keys(supervisor=secrets.token_bytes(32), tests=secrets.token_bytes(32))
    ran = read(sandbox.run(job(spec, keys)), keys, spec)
    if ran.setup_error == NO_CLOCK:
        raise MissingClockError(
            f"image {spec.image} can't give its tests a clock of their own, as libfaketime is not in it: "
            "mine the task again, for an image that has it",
            hint="base images that this version builds include it",
        )
    return ran


def expect(instance: Instance, sandbox: Sandbox) -> None:
    """Have a container of a task started for a trial that is about to come, which itself tells what may be wrong."""
    if instance.image is None:
        return
    with contextlib.suppress(Exception):
        spec = TrialSpec(image=instance.image, test=instance.test, files=(), budgets=instance.budgets)
        sandbox.expect(job(spec, frames.Keys(supervisor=b"", tests=b"")))


def job(spec: TrialSpec, keys: frames.Keys) -> Job:
    """The trial as a job for a sandbox."""
    program = language_of(spec.test.framework).program(spec.test, _requests(spec))
    return Job(
        image=spec.image,
        argv=(program.interpreter, "-s", "-S", "-B", "-c", _bootstrap(program)),
        stdin=_stdin(spec, program, keys),
        budgets=spec.budgets,
        env={**program.env, **spec.test.env, **spec.env},
        grace_seconds=GRACE_SECONDS + (build.seconds if (build := _build(spec)) else 0.0),
        services=spec.test.services,
        closing=keys.closing,
    )


def _bootstrap(program: Program) -> str:
    """What reads the trial from standard input, behind what it will import: a container that waits has done that."""
    supervisor = "\n".join(source.decode() for name, source in _supervisor() if name != _BUILDING)
    modules = dict.fromkeys((*parts.imported(supervisor), *program.modules))
    return _IMPORTS.format(",".join(modules)) + _BOOTSTRAP


def _build(spec: TrialSpec) -> Build | None:
    """What has to be built before the tests: nothing where the image has it already."""
    build, patch = spec.test.build, spec.model_patch
    return build if build and patch and build.is_touched_by(patch.paths) else None


_BUILDING = "building"
_SUPERVISOR = ("supervisor", "applying", _BUILDING)


@functools.cache
def _supervisor() -> tuple[tuple[str, bytes], ...]:
    """The supervisor's parts by name; read once, so that a run never mixes two versions of it."""
    folder = resources.files("harness.grading.inside")
    return tuple((part, folder.joinpath(f"{part}.py").read_bytes()) for part in _SUPERVISOR)


def _requests(spec: TrialSpec) -> dict[str, Any]:
    """What the trial asks for besides the tests' results, by name (`Language.program`)."""
    varied = {"order": spec.order, "cpu_count": spec.cpu_count}
    varied = {name: value for name, value in varied.items() if value is not None}
    return {
        **({"watch": spec.watch} if spec.watch is not None else {}),
        **({"vary": varied} if varied or "HOME" in spec.env else {}),
        **clock.request(spec.clock or spec.test.clock),
        **({"calls": spec.calls} if spec.calls is not None else {}),
    }


def _stdin(spec: TrialSpec, program: Program, keys: frames.Keys) -> bytes:
    patches = {"model": spec.model_patch or Patch(files=()), "tests": _beside(spec.overlay, spec.test_patch)}
    blobs = {**{name: patch.raw for name, patch in patches.items()}, "overlay": b"".join(spec.overlay.values())}
    build = _build(spec)
    supervisor = tuple(part for part in _supervisor() if build or part[0] != _BUILDING)
    sources = (*supervisor, *program.sources)
    head = {
        "runner": [[name, len(source)] for name, source in sources],
        **{name: len(blob) for name, blob in blobs.items()},
        "spec": {
            "parts": [*(name for name, _ in supervisor), *program.parts],
            "files": spec.files,
            "seconds": spec.budgets.seconds,
            "patches": {name: patch_facts(patch) for name, patch in patches.items()},
            "overlay": [[path, len(data)] for path, data in spec.overlay.items()],
            **({"build": _as_json(build, spec.test.env)} if build else {}),
            **program.spec,
        },
    }
    encoded = json.dumps(head).encode()
    texts = (*(source for _, source in sources), *blobs.values())
    return b"%08x" % len(encoded) + encoded + b"".join(texts) + keys.supervisor + keys.tests


def _as_json(build: Build, of_tests: Collection[str]) -> dict[str, Any]:
    """What harness/grading/inside/building.py is told of a build, which has none of the variables of the tests."""
    facts = {"argv": build.argv, "outputs": build.outputs, "env": dict(build.env), "seconds": build.seconds}
    return {**facts, "without": sorted(of_tests)}


def _beside(overlay: Collection[str], tests: Patch | None) -> Patch:
    """The patch of the tests without what the overlay has in their place: no byte of that enters a container."""
    patches = []
    for file in tests.files if tests else ():
        if file.new_path not in overlay:
            patches.append(file)
        elif file.unmakes_file:  # its old path has to go
            patches.append(replace(file, raw=file.raw[: file.hunks_at] if file.hunks else file.raw))
    return Patch(files=tuple(patches))


def patch_facts(patch: Patch) -> dict[str, Any]:
    """What harness/grading/inside/applying.py is told of a patch."""
    return {"paths": sorted(patch.paths), "hunks": patch.without_crlf, "zero_context": patch.zero_context}


def read(result: JobResult, keys: frames.Keys, spec: TrialSpec) -> Trial:
    """Make sense of what a job left behind. Pure."""
    transcript = frames.read(result.stdout, keys)
    orderly = _is_orderly(transcript.supervisor)
    from_us = transcript.supervisor if orderly else ()
    frames_by_kind: dict[str, Mapping[str, Any]] = {frame["t"]: frame for frame in from_us if frame["t"] != "apply"}
    applied = {frame["which"]: frame for frame in from_us if frame["t"] == "apply"}
    report = framework(spec.test.framework).read(transcript.tests)
    ended = frames_by_kind.get("exit", {})
    build = _build_run(frames_by_kind)
    prepared = float(frames_by_kind.get("ready", {}).get("seconds", 0.0)) - (build.seconds if build else 0.0)
    violations = [*transcript.violations, *report.violations]
    sound = tripwires.is_sound(transcript.tripwires)
    if not sound:
        violations.append("a frame that no tripwire writes")
    if not orderly:
        violations.append("the supervisor's frames are not those of a supervisor")
    if result.stdout_overflow:
        violations.append("the result channel was flooded")
    if report.finished and ended and ended["code"] != 0:
        violations.append("the test process ended differently than its last frame says")
    return Trial(
        report=report,
        violations=tuple(violation[:_MOST_SAID] for violation in violations),
        model_apply_error=_apply_error(applied.get("model")),
        test_apply_error=_apply_error(applied.get("tests")),
        setup_error=frames_by_kind["setup_error"]["text"] if "setup_error" in frames_by_kind else None,
        ran="ready" in frames_by_kind,
        exited="exit" in frames_by_kind,
        child_exit=ended.get("code"),
        child_signal=ended.get("signal"),
        timed_out=bool(ended.get("timed_out")) or result.timed_out,
        flooded=bool(ended.get("flooded")),
        oom_killed=result.oom_killed,
        seconds=float(ended.get("seconds", 0.0)),
        cpu_seconds=float(ended.get("cpu_seconds", 0.0)),
        max_rss_kb=int(ended.get("max_rss_kb", 0)),
        output=result.stderr,
        output_size=result.stderr_size,
        timings={
            **result.timings,
            "prepare": max(0.0, round(prepared, 6)),
            **({"build": build.seconds} if build else {}),
            **({} if report.compile_seconds is None else {"compile": report.compile_seconds}),
        },
        container_seconds=sum(result.timings.values()),
        watched=tuple(from_us) if spec.watch is not None else None,
        tripwires=tripwires.read(
            transcript.tripwires if sound else (),
            paths=spec.model_patch.paths if spec.model_patch else (),
            finished=report.finished and language_of(spec.test.framework).has_tripwires,
            built=build is not None and build.ok,
        ),
        build=build,
    )


def _build_run(frames_by_kind: Mapping[str, Mapping[str, Any]]) -> BuildRun | None:
    """What came of the build; one that its end is not told of has ended the supervisor."""
    if "building" not in frames_by_kind:
        return None
    ended = frames_by_kind.get("build")
    if ended is None:
        return BuildRun(ok=False, why="it ended the container's supervisor")
    return BuildRun(**{name: value for name, value in ended.items() if name in _SHAPES["build"]})


_SHAPES: frames.Shapes = {
    "apply": {"which": (str,), "ok": (bool,), "error": (str,)},
    "setup_error": {"text": (str,)},
    "building": {},
    "build": {
        "ok": (bool,),
        "why": (str,),
        "output": (str,),
        "code": (int, type(None)),
        "signal": (int, type(None)),
        "timed_out": (bool,),
        "seconds": (float, int),
        "cpu_seconds": (float, int),
    },
    "ready": {"seconds": (float, int), "python": (str,)},
    "exit": {
        "code": (int, type(None)),
        "signal": (int, type(None)),
        "timed_out": (bool,),
        "flooded": (bool,),
        "seconds": (float, int),
        "cpu_seconds": (float, int),
        "max_rss_kb": (int,),
    },
    "source": {
        "old": (str, type(None)),
        "new": (str, type(None)),
        "before": (str, type(None)),
        "after": (str, type(None)),
        "why": (str,),
    },
    "compiled": {"files": (list,), "why": (str,)},
    "after": {"network": (dict,), "files": (int,), "bytes": (int,), "paths": (list,), "modules": (list,)},
}
_ORDER = re.compile(r"(apply (source )*(compiled )?(building (build )?)?)*(setup_error |ready (exit (after )?)?)?")


def _is_orderly(supervisor_frames: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the frames are what the supervisor writes, in its order."""
    order = "".join(f"{frame['t']} " for frame in supervisor_frames)
    return all(frames.has_shape(frame, _SHAPES) for frame in supervisor_frames) and _ORDER.fullmatch(order) is not None


def _apply_error(frame: Mapping[str, Any] | None) -> str | None:
    return None if frame is None or frame["ok"] else str(frame["error"]).strip() or "git apply refused it"
