"""What this machine has and lacks for mining and evaluating, and the command that mends each lack."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, Field

from harness.config.settings import Settings, load_settings
from harness.core import process
from harness.core.errors import InfrastructureError
from harness.core.extras import install_command
from harness.sandbox import engine
from harness.sandbox.images import platforms

DEFAULT_BASE = "debian:bookworm-slim"
"""Looked for in the registry when neither settings nor the caller name a base image."""

_GIT_NEEDED, _GIT_WANTED = (2, 30), (2, 38)
_DISK_NEEDED_GB, _DISK_WANTED_GB = 2.0, 10.0
_REGISTRY_SECONDS = 15
_INDEX_SECONDS = 30.0
_TELLS = {
    "node": ("bin/node", "--version"),
    "go": ("bin/go", "version"),
    "jdk": ("bin/javac", "-version"),
    "rust": ("bin/rustc", "--version"),
}
"""By toolchain: the program of its folder that tells which version it is, and how."""
_MANY = 4
"""From so many versions on the first and the last are named."""


class Status(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    """Works, but less safely or only for part of the work."""
    MISSING = "missing"
    """Mining can't run without it."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing looked at."""

    name: str
    status: Status
    found: str
    mend: str = ""
    """The command or step that mends it; empty when all is well."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """All checks, in the order a person would mend them."""

    checks: tuple[Check, ...]

    @property
    def can_mine(self) -> bool:
        """Nothing that mining needs is missing."""
        return all(check.status is not Status.MISSING for check in self.checks)


class Toolchain(Protocol):
    """What tests are compiled and run by, in versions of here and elsewhere (miner/languages/toolchain.py)."""

    @property
    def name(self) -> str:
        """Its setting is `[images.{name}s]`."""

    @property
    def origin(self) -> str:
        """Where versions are from that the settings do not name."""

    @property
    def remedy(self) -> str:
        """What helps where nobody answers there."""

    @property
    def versions(self) -> Callable[[], tuple[str, ...] | None]:
        """These versions, oldest first; None where nobody answers."""


class EngineInfo(BaseModel):
    """What an engine's `info` call tells that matters here (Docker Engine API, `GET /info`)."""

    server_version: str = Field("", alias="ServerVersion")
    driver: str = Field("", alias="Driver")
    root: str = Field("", alias="DockerRootDir")
    memory_limit: bool = Field(default=False, alias="MemoryLimit")
    pids_limit: bool = Field(default=False, alias="PidsLimit")
    cpu_quota: bool = Field(default=False, alias="CpuCfsQuota")
    security: list[str] = Field(default_factory=list, alias="SecurityOptions")


def examine(
    settings: Settings | None = None,
    *,
    base: str | None = None,
    toolchains: Sequence[Toolchain] = (),
    held: Callable[[], Mapping[str, Collection[str]]] = dict,
) -> Diagnosis:
    """Look at everything mining and evaluating need; takes seconds, changes nothing.

    `base` is the image that tasks start from where the settings name none, `toolchains` are those of languages, `held`
    tells by name which versions of them images of the engine have.

    Raises:
        InputError: goldseam.toml or a GOLDSEAM_* variable can't be used.

    """
    settings = settings or load_settings()
    checks = [_python(), judge_git(_output("git", "--version"))]
    try:
        client = engine.connect()
        info = EngineInfo.model_validate(client.info())
    except (InfrastructureError, *engine.ConnectionLost) as error:
        checks.append(judge_silence(str(error), host=os.environ.get("DOCKER_HOST"), root=os.geteuid() == 0))
        info = None
    builder = process.which("mmdebstrap") or process.which("debootstrap")
    if info is not None:
        checks += [judge_engine(info), judge_limits(info), judge_seccomp(info)]
        ref = settings.images.base or base or DEFAULT_BASE
        checks.append(_base(client, ref, chosen=settings.images.base is not None, builder=builder))
    checks += [judge_builder(builder), judge_services(settings.images.services)]
    checks.append(judge_strength(settings.mining.mutants, installed=find_spec("mutmut") is not None))
    checks += [_disk(info), _index()]
    ready = held() if info is not None else {}
    for toolchain in toolchains:
        own: Mapping[str, Path] = getattr(settings.images, f"{toolchain.name}s")
        program, how = _TELLS.get(toolchain.name, ("", ""))
        is_told = program and platforms.is_of_here(settings.images.platform)
        outputs = {version: _output(str(folder / program), how) for version, folder in own.items()} if is_told else {}
        check = judge_toolchain(toolchain, own, toolchain.versions(), outputs)
        versions = ", ".join(ready.get(toolchain.name, ()))
        checks.append(replace(check, found="; ready: ".join(filter(None, (check.found, versions)))))
    return Diagnosis(checks=tuple(checks))


def _output(*argv: str) -> str | None:
    """What a program prints first, to either stream; None where it does not run."""
    try:
        completed = process.run(argv, env={"GOTOOLCHAIN": "local"}, timeout=20)
        return (completed.stdout.decode("utf-8", "replace").strip() or completed.error_text).partition("\n")[0]
    except InfrastructureError:
        return None


def _python() -> Check:
    """The interpreter that runs: no older one than is needed gets so far."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check(name="python", status=Status.OK, found=f"{version} ({sys.executable})")


def judge_git(output: str | None) -> Check:
    """The check of `git --version`'s output, None where git does not run."""
    match = re.search(r"(\d+)\.(\d+)[\d.]*", output or "")
    install = "apt-get install git, or your system's way to get git 2.38 or later"
    if match is None:
        return Check(name="git", status=Status.MISSING, found=output or "not installed", mend=install)
    version = int(match[1]), int(match[2])
    if version >= _GIT_WANTED:
        return Check(name="git", status=Status.OK, found=match[0])
    status = Status.WARN if version >= _GIT_NEEDED else Status.MISSING
    return Check(name="git", status=status, found=match[0], mend=install)


def judge_silence(reason: str, *, host: str | None, root: bool) -> Check:
    """The check of an engine that does not answer, and why that may be."""
    if host:
        mend = f"start the engine at DOCKER_HOST={host}, or unset DOCKER_HOST to use this machine's own"
    elif "Permission denied" in reason or "permission denied" in reason:
        mend = "sudo usermod -aG docker $USER, then log in again"
    elif root:
        mend = "apt-get install -y docker.io, then start dockerd (systemctl start docker); in a checkout: make setup"
    else:
        mend = "sudo apt-get install -y docker.io; or, with Podman: systemctl --user start podman.socket"
    return Check(name="engine", status=Status.MISSING, found=reason, mend=mend)


def judge_engine(info: EngineInfo) -> Check:
    """The check of an engine that answers."""
    text = f"version {info.server_version}, storage {info.driver}, data in {info.root or 'an unknown place'}"
    if info.driver == "vfs":
        mend = "keep the engine's data on ext4 or xfs, so that it can share layers (overlay2)"
        return Check(name="engine", status=Status.WARN, found=f"{text}; every layer is a full copy", mend=mend)
    return Check(name="engine", status=Status.OK, found=text)


def judge_limits(info: EngineInfo) -> Check:
    """Whether the engine can hold untrusted code to its memory, its number of processes and its share of CPU."""
    limits = {"memory": info.memory_limit, "processes": info.pids_limit, "cpu": info.cpu_quota}
    lacking = [name for name, is_there in limits.items() if not is_there]
    if not lacking:
        return Check(name="limits", status=Status.OK, found="memory, processes and cpu can be limited")
    return Check(
        name="limits",
        status=Status.WARN,
        found=f"the engine can't limit {', '.join(lacking)}",
        mend="use cgroup v2, or enable the cgroup controllers; a rootless engine needs them delegated",
    )


def judge_seccomp(info: EngineInfo) -> Check:
    """Whether system calls of untrusted code are filtered."""
    profiles = [option for option in info.security if option.startswith("name=seccomp")]
    if profiles and "profile=unconfined" not in profiles[0]:
        return Check(name="seccomp", status=Status.OK, found="system calls are filtered")
    mend = "run an engine with seccomp's default profile; until then evaluate only patches you trust"
    return Check(name="seccomp", status=Status.WARN, found="system calls are not filtered", mend=mend)


def judge_services(chosen: bool | dict[str, str]) -> Check:
    """Whether services that CI declares run beside tests, and where their images come from."""
    if chosen is False:
        return Check(name="services", status=Status.OK, found="not run, as [images] services = false asks for")
    where = "" if chosen is True else f", {len(chosen)} images mapped by [images.services]"
    return Check(name="services", status=Status.OK, found=f"run beside the tests that need them{where}")


def judge_builder(builder: str | None) -> Check:
    """Whether a base image could be built from Debian packages, should none be pullable."""
    if builder:
        return Check(name="debian builder", status=Status.OK, found=builder)
    return Check(
        name="debian builder",
        status=Status.WARN,
        found="neither mmdebstrap nor debootstrap; needed only where no base image can be pulled",
        mend="apt-get install -y --no-install-recommends mmdebstrap",
    )


def judge_strength(mutants: int, *, installed: bool) -> Check:
    """The check of what measures how strong a task's tests are; mining works without it."""
    if installed or mutants == 0:
        text = "measured when a task is mined" if installed else "not measured, as [mining] mutants = 0 asks for"
        return Check(name="test strength", status=Status.OK, found=text)
    text = "not measured: mutmut is not installed"
    return Check(name="test strength", status=Status.WARN, found=text, mend=install_command("strength"))


def judge_toolchain(
    toolchain: Toolchain, own: Collection[str], others: tuple[str, ...] | None, told: Mapping[str, str | None]
) -> Check:
    """The check of a toolchain's versions that images can have: `own`, of folders of this machine, and `others`.

    `told` is what programs of the folders say of their version, None where they don't run.
    """
    name = toolchain.name
    versions = sorted(own, key=_numbers)
    local = f"{', '.join(versions)} of [images.{name}s]" if own else ""
    wrong = [f"{version} says {text or 'nothing'}" for version, text in told.items() if not _is_version(version, text)]
    if wrong:
        mend = f"correct [images.{name}s] in goldseam.toml"
        return Check(name=name, status=Status.WARN, found=f"of {local}, {'; '.join(wrong)}", mend=mend)
    if others is None:
        text = f"{toolchain.origin} does not answer; {f'only {local}' if local else 'none can be had'}"
        return Check(name=name, status=Status.WARN, found=text, mend=toolchain.remedy)
    span = ", ".join(others) if len(others) < _MANY else f"{others[0]} to {others[-1]}"
    return Check(
        name=name,
        status=Status.OK,
        found=" and ".join(filter(None, (local, f"{span or 'that'} of {toolchain.origin}"))),
    )


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _is_version(version: str, text: str | None) -> bool:
    """Whether a program that says this is of a version; Java 8 calls itself 1.8."""
    match = re.search(r"\d+(?:\.\d+)+|\d+", text or "")
    digits = match[0] if match else ""
    numbers = _numbers(digits if "." in version else digits.removeprefix("1."))
    return numbers[: len(_numbers(version))] == _numbers(version)


@contextmanager
def _patience(client: Any) -> Iterator[None]:
    """Let calls of a client take at most so long: an engine without a network keeps a registry call waiting."""
    usual, client.timeout = client.timeout, _REGISTRY_SECONDS
    try:
        yield
    finally:
        client.timeout = usual


def _base_of_ours(client: Any) -> engine.ImageFacts | None:
    """A Debian built on this machine, or a base layer made earlier: either will do where none was chosen."""
    for kind in ("debian", "base"):
        for image in client.images(filters={"label": [f"{engine.LABEL_KIND}={kind}"]}, quiet=True):
            return engine.inspect_image(image)
    return None


def _base(client: Any, ref: str, *, chosen: bool, builder: str | None) -> Check:
    try:
        present = engine.inspect_image(ref) or (None if chosen else _base_of_ours(client))
    except (InfrastructureError, *engine.ConnectionLost) as error:
        return Check(name="base image", status=Status.MISSING, found=f"the engine failed: {error}", mend="ask again")
    if present:
        return Check(name="base image", status=Status.OK, found=f"{present.id[:19]}, {present.size / 1e6:.0f} MB")
    if engine.is_podman():  # it can't ask a registry without pulling
        return Check(name="base image", status=Status.OK, found=f"{ref} is not here; the first mine pulls it")
    try:
        with _patience(client):
            client.inspect_distribution(ref)
    except engine.ConnectionLost as error:
        return judge_base(ref, reason=str(getattr(error, "explanation", None) or error), builder=builder)
    return Check(name="base image", status=Status.OK, found=f"{ref} can be pulled")


def judge_base(ref: str, *, reason: str, builder: str | None) -> Check:
    """The check of a base image that is neither here nor in reach."""
    build = "goldseam images base --from-debian"
    why = (reason.strip().splitlines() or ["no answer"])[0][:160]
    return Check(
        name="base image",
        status=Status.WARN if builder else Status.MISSING,
        found=f"{ref} is not here and can't be pulled ({why})",
        mend=build if builder else f"apt-get install -y --no-install-recommends mmdebstrap && {build}",
    )


def _disk(info: EngineInfo | None) -> Check:
    """Room where the engine keeps images, or here when that is not a folder of this machine."""
    root = Path(info.root) if info is not None and info.root else Path.cwd()
    try:
        return judge_disk(shutil.disk_usage(root).free, where=str(root))
    except OSError:
        return judge_disk(shutil.disk_usage(Path.cwd()).free, where=str(Path.cwd()))


def judge_disk(free: int, *, where: str) -> Check:
    """The check of `free` bytes at a place."""
    size = free / 1e9
    text = f"{size:.0f} GB free at {where}"
    if size >= _DISK_WANTED_GB:
        return Check(name="disk", status=Status.OK, found=text)
    status = Status.WARN if size >= _DISK_NEEDED_GB else Status.MISSING
    return Check(name="disk", status=status, found=text, mend="goldseam images gc, or make room")


def _index() -> Check:
    """Ask uv, so that its own settings for index, proxy and certificates are the ones that are tried."""
    places = (Path(sys.prefix, "bin", "uv"), Path(sys.prefix).parent / ".venv-uv/bin/uv")  # the second is make setup's
    uv = next((str(path) for path in places if path.is_file()), None) or process.which("uv")
    if uv is None:
        answer = "not checked: this needs uv, which is only in the images here"
        return Check(name="package index", status=Status.WARN, found=answer, mend="pip install uv")
    argv = [uv, "pip", "compile", "--quiet", "--no-cache", "--no-deps", "--python", sys.executable, "-"]
    try:
        completed = process.run(argv, input=b"iniconfig\n", check=False, timeout=_INDEX_SECONDS)
    except InfrastructureError as error:
        return judge_index(str(error))
    return judge_index(None if completed.returncode == 0 else completed.error_text)


def judge_index(problem: str | None) -> Check:
    """The check of the package index: None, or what uv said when it could not read it."""
    if problem is None:
        return Check(name="package index", status=Status.OK, found="answers")
    lines = problem.strip().splitlines() or ["no answer"]
    return Check(
        name="package index",
        status=Status.WARN,
        found=f"does not answer: {lines[-1].strip()[:200]}",
        mend="name yours in UV_DEFAULT_INDEX, its certificate in SSL_CERT_FILE, a proxy in HTTPS_PROXY",
    )
