"""Run build commands in a container: limits, mounts, secrets, log; nothing of it outlives the block."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import shutil
import stat
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.config.settings import ImageSettings
from harness.core.errors import InfrastructureError, InterruptedRunError
from harness.sandbox import engine, owners
from harness.sandbox.ahead import Ahead
from harness.sandbox.containers import end_of
from harness.sandbox.streams import STDERR
from miner.layers import dockerfile, reasons, uvcache
from miner.layers.egress import Allowed
from miner.layers.layer import CACHE_DIR, INPUT_DIR, OUT_DIR, Folder, Input, tool
from miner.layers.limits import Watch
from miner.layers.prestarted_containers import PrestartedContainer, remove
from miner.layers.relay import PORT, PROXY, Relay, Way
from miner.layers.secrets import CA_PATH, BuildSecrets

if TYPE_CHECKING:
    from miner.images.layer_registry import LayerRegistry

_RELAY = "relay.py"
_BOOT = (
    "exec 2>&1; "
    'while IFS= read -r line && [ "$line" != . ]; do export "$line"; done; '
    f"exec </dev/null; exec sh {INPUT_DIR}/steps.sh"
)
"""Variables come over standard input, so they are in no configuration, no file and no log."""
_BOOT_RELAYED = (
    "exec 3>&2 2>&1 4<&0; "
    'while IFS= read -r line && [ "$line" != . ]; do export "$line"; done; '
    f'said="$(/usr/bin/python3 -I -S {INPUT_DIR}/{_RELAY} {PORT} <&4 2>&1 >&3 3>&- 4<&- &)"; '
    'if [ -n "$said" ]; then echo "$said"; exit 125; fi; '
    f"exec 3>&- 4<&- </dev/null; exec sh {INPUT_DIR}/steps.sh"
)
"""The same, where standard input and error go on to carry the build's network (miner/layers/relay.py). The relay closes
its standard error when it listens, so nothing is asked before."""

_KEPT_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"]
_TO_ANSWER = ["NET_BIND_SERVICE"]
"""What the relay needs to be asked for names, where the engine keeps low ports to itself (Podman)."""
_TAIL = 20_000
_PIDS = 1024
_MUCH = 1024 * 1024 * 1024
"""Where a build wrote so many bytes and then the disk was full, it is the build that filled it."""
_LARGEST_FILE = 32 * 1024 * 1024
_BUILD_VARIABLES = {**dockerfile.VARIABLES, "UV_CONFIG_FILE": f"{INPUT_DIR}/{uvcache.NAME}"}

_PROXIES = {name: PROXY for word in ("http_proxy", "https_proxy", "all_proxy") for name in (word, word.upper())}
_PROXIES |= {"no_proxy": "", "NO_PROXY": ""}


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What came of a container's commands."""

    container: str
    out: Path
    """The folder of this machine that the commands saw as OUT_DIR."""
    exit_code: int
    seconds: float
    tail: str
    """End of the output, credentials masked."""
    timed_out: bool
    out_of_memory: bool
    disk_full: bool = False
    """It had written more than `[images] build_disk_mb`, or so much that it was what filled the disk."""
    refused: tuple[str, ...] = ()
    """Hosts that its programs tried to reach, and may not."""

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not (self.timed_out or self.out_of_memory or self.disk_full)


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """Where the builds of one task happen: settings, secrets, a scratch folder, the log."""

    settings: ImageSettings
    secrets: BuildSecrets
    folder: Path
    log: Path
    progress: Callable[[str], None]
    cache: Path
    """uv's cache on this machine; one per repository, since a build could poison it for those that share it."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """More variables for builds, which are not part of a layer's key."""
    shelf: LayerRegistry | None = None
    """Where layers are that other engines built; None where this one is alone."""
    allowed: Allowed | None = None
    """What builds that run the repository's code may reach; None lets them reach what the engine's network does."""

    reached: tuple[str, ...] = ()
    """What is `allowed` for this repository alone."""
    discard: Callable[[str], object] = remove
    """Has a container removed; the workshop is not closed before that is done."""
    ahead: Ahead[PrestartedContainer] = field(default_factory=Ahead)
    """Containers that are ready before it is known what they will do."""
    interrupted: threading.Event = field(default_factory=threading.Event)
    """Set where nobody waits for what is built any more."""
    as_of: datetime | None = None
    """The day that dependencies are of; None for today."""
    uv_settings: str = ""
    """What uv's configuration says besides, in TOML."""
    built_with: tuple[tuple[str, str], ...] = ()
    """Distributions, each with one that it needs to be built and does not say so."""

    def write_log(self, text: str) -> None:
        with self.log.open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)

    def input(self, name: str, data: bytes, *, is_of_fix: bool = False) -> Input:
        """Bytes as a file that a build reads."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.folder / f"{digest[:16]}-{name}"
        path.write_bytes(data)
        return Input(name=name, path=path, sha256=digest, is_of_fix=is_of_fix)

    def packed(self, name: str, files: Iterable[tuple[str, bytes]], *, is_of_fix: bool = False) -> Input:
        """Files, each with its path, as a tar that a build reads: the same bytes for the same files."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for path, data in files:
                entry = tarfile.TarInfo(path)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
        return self.input(name, buffer.getvalue(), is_of_fix=is_of_fix)

    def reaching(self, hosts: Collection[str]) -> Workshop:
        """The same, where builds may reach hosts as well that the repository names."""
        reached = tuple(dict.fromkeys((*self.reached, *hosts)))
        return replace(self, allowed=self.allowed and self.allowed.and_named(hosts), reached=reached)

    @contextlib.contextmanager
    def run(
        self,
        image: str,
        script: str,
        *,
        kind: str,
        inputs: tuple[Input, ...] = (),
        folders: tuple[Folder, ...] = (),
        needs_root: bool = False,
        foreign: bool = False,
    ) -> Iterator[Ran]:
        """Run a script as root of a new container of `image`; the container is there while the block lasts.

        `foreign` says that it runs code of the repository or of its dependencies: that reaches only what is `allowed`.

        Raises:
            InfrastructureError: the engine failed.
            InterruptedRunError: nobody waits for it.

        """
        began = time.monotonic()
        self._raise_if_interrupted()
        berth = self.ahead.take((image, kind)) if foreign and not (folders or needs_root) else None
        berth = berth or self._lay(image, kind, folders, needs_root=needs_root, foreign=foreign)
        try:
            (berth.inputs / "steps.sh").write_text(script, encoding="utf-8")
            for file in inputs:
                _place(file.path, berth.inputs / file.name)
            exported = {**_BUILD_VARIABLES, **self.secrets.exported(), **self.variables}
            if berth.relayed:
                exported |= _PROXIES
            settled = uvcache.config(exported, self.as_of) + self.uv_settings
            settled += _extra_build_dependencies(self.built_with)
            (berth.inputs / uvcache.NAME).write_text(settled, encoding="utf-8")
            self.write_log(f"--- {kind} on {image}\n")
            try:
                ran = self._follow(berth, exported, began)
                self.write_log(f"--- {kind} ended with {ran.exit_code} after {ran.seconds:.1f} s\n")
                self._raise_if_interrupted()
                yield ran
            except BaseException:
                remove(berth.container)  # it may be running, and write to what goes next
                raise
            self.discard(berth.container)
        finally:
            berth.leave()

    def _raise_if_interrupted(self) -> None:
        if self.interrupted.is_set():
            raise InterruptedRunError("the build was interrupted")

    def expect(self, image: str, kind: str) -> None:
        """Have a container of `image` ready for code of the repository or its dependencies, which may never come."""
        self.ahead.have((image, kind), lambda: self._lay(image, kind, (), needs_root=False, foreign=True))

    def _lay(
        self, image: str, kind: str, folders: tuple[Folder, ...], *, needs_root: bool, foreign: bool
    ) -> PrestartedContainer:
        """Start a container that waits for what it is to do.

        Raises:
            InfrastructureError: the engine failed.

        """
        scratch = Path(tempfile.mkdtemp(dir=self.folder, prefix=f"{kind}-"))
        relayed = foreign and self.allowed is not None
        with contextlib.ExitStack() as undoing:
            undoing.callback(shutil.rmtree, scratch, ignore_errors=True)
            path, out = scratch / "in", scratch / "out"
            path.mkdir()
            out.mkdir()
            if engine.has_user_namespaces():
                _open_to_all(out)
                _open_to_all(self.cache)
            mounts = [_bind(path, INPUT_DIR), _bind(out, OUT_DIR, writable=True)]
            mounts.append(_bind(self.cache, CACHE_DIR, writable=True))
            mounts += [_bind(folder.path, folder.target) for folder in folders]
            if self.secrets.ca_bundle:
                mounts.append(_bind(self.secrets.ca_bundle, CA_PATH))
            if relayed:
                mounts.append(_bind(_resolver(path), "/etc/resolv.conf"))
                (path / _RELAY).write_text(_relay_source(), encoding="utf-8")
            container = self._create(image, kind, mounts, needs_root=needs_root, relayed=relayed)
            undoing.callback(remove, container)
            with engine.calling("running a build") as client:
                attached = undoing.enter_context(contextlib.closing(engine.attach(container)))
                client.start(container)
            undoing.pop_all()
        return PrestartedContainer(container=container, scratch=scratch, attached=attached, relayed=relayed)

    def _create(self, image: str, kind: str, mounts: list[dict[str, Any]], *, needs_root: bool, relayed: bool) -> str:
        memory = self.settings.build_memory_mb * 1024 * 1024
        limits: dict[str, Any] = {
            "mounts": mounts,
            "tmpfs": {"/run": "rw,exec,mode=0755", "/tmp": "rw,exec,mode=1777"},  # noqa: S108 - inside the container
            "mem_limit": memory,
            "memswap_limit": memory,
            "pids_limit": _PIDS,
            "network_mode": "none" if relayed else self.settings.network,
            "security_opt": ["no-new-privileges"],
            "init": True,
        }
        if not needs_root:
            limits |= {"cap_drop": ["ALL"], "cap_add": _KEPT_CAPABILITIES + (_TO_ANSWER if relayed else [])}
        with engine.calling(f"creating a container for {kind}") as client:
            container = client.create_container(
                image,
                command=["/bin/sh", "-c", _BOOT_RELAYED if relayed else _BOOT],
                entrypoint=[""],  # resets that of the image; one that is set here could not be taken back at commit
                user="0:0",
                working_dir="/",
                stdin_open=True,
                labels={engine.LABEL_OWNER: owners.owner(), engine.LABEL_KIND: f"build-{kind}"},
                use_config_proxy=False,  # it would be committed
                host_config=client.create_host_config(**limits),
            )
        return str(container["Id"])

    def _follow(self, berth: PrestartedContainer, exported: Mapping[str, str], began: float) -> Ran:
        """Feed a container its variables, read its output to the end, see what became of it."""
        settings, allowed = self.settings, self.allowed if berth.relayed else None
        watch = Watch(
            container=berth.container, seconds=settings.build_seconds, disk_mb=settings.build_disk_mb, out=berth.out,
            cache=self.cache, interrupted=self.interrupted,
        )  # fmt: skip
        tail = ""
        way = Way(self.secrets.variables, self.secrets.ca_bundle)
        with (
            engine.calling("running a build"),
            watch,
            Relay(allowed, lambda data: engine.send(berth.attached, data), way) as relay,
        ):
            lines = [f"{name}={value}\n" for name, value in exported.items()]
            engine.send(berth.attached, "".join([*lines, ".\n"]).encode())
            for line in _lines(_output(engine.streams(berth.attached), relay if allowed else None)):
                text = self.secrets.mask(line.decode("utf-8", "replace"))
                self.write_log(text)
                tail = (tail + text)[-_TAIL:]
            end = end_of(berth.container, ended_by_us=watch.fired)
            disk_full = watch.disk_full or (reasons.is_full(tail) and watch.written() > _MUCH)
        notes = "".join(f"goldseam: a build may not reach {host} ([images] allow_hosts)\n" for host in relay.refused)
        self.write_log(notes)
        return Ran(
            container=berth.container,
            out=berth.out,
            exit_code=end.exit_code,
            seconds=time.monotonic() - began,
            tail=tail + notes,
            timed_out=watch.timed_out,
            out_of_memory=end.out_of_memory,
            disk_full=disk_full,
            refused=tuple(relay.refused),
        )


def _output(frames: Iterator[tuple[int, bytes]], relay: Relay | None) -> Iterator[bytes]:
    """The output; what the second stream carries goes to the relay, where there is one."""
    for stream, data in frames:
        if relay is not None and stream == STDERR:
            relay.feed(data)
        else:
            yield data


def _extra_build_dependencies(pairs: tuple[tuple[str, str], ...]) -> str:
    """What uv's configuration says of what distributions need to be built beside what they declare."""
    if not pairs:
        return ""
    needed = {name: [requirement for distribution, requirement in pairs if distribution == name] for name, _ in pairs}
    return "[extra-build-dependencies]\n" + "".join(
        f"{name} = {json.dumps(requirements)}\n" for name, requirements in needed.items()
    )


def _resolver(folder: Path) -> Path:
    """The file that sends questions for names to the relay."""
    path = folder / "resolv.conf"
    path.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n", encoding="ascii")
    return path


@functools.cache
def _relay_source() -> str:
    return tool("miner.layers", _RELAY)


def _open_to_all(folder: Path) -> None:
    """Let a container's root write here that is nobody outside of it; the folder above keeps others here out."""
    folder.parent.chmod(0o700)
    folder.chmod(0o777)


def _bind(source: Path, target: str, *, writable: bool = False) -> dict[str, Any]:
    """A bind mount in the engine's API; the short form can't hold a path with a colon."""
    return {"Type": "bind", "Source": str(source), "Target": target, "ReadOnly": not writable}


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Whole lines, so that no credential is cut in two before it is masked; a very long line comes in parts."""
    rest = b""
    for chunk in chunks:
        whole, newline, rest = (rest + chunk).rpartition(b"\n")
        if newline:
            yield whole + newline
        if len(rest) > _TAIL:
            yield rest
            rest = b""
    if rest:
        yield rest


def _place(source: Path, target: Path) -> None:
    """Make a file appear at another path, without copying where the file system can."""
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)


def read_result(path: Path) -> bytes:
    """A file that a build left in OUT_DIR. A build may be hostile: no link is followed, no more than 32 MiB are read.

    Raises:
        InfrastructureError: there is no such regular file, or it is larger.

    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InfrastructureError(f"{path.name} of a build is not a regular file")
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise InfrastructureError(f"{path.name} of a build can't be read: {error.strerror}") from error
    if len(data) > _LARGEST_FILE:
        raise InfrastructureError(f"{path.name} of a build is larger than {_LARGEST_FILE} bytes")
    return data
