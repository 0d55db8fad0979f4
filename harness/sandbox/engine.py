"""The container engine: the one place that imports `docker`. Docker and Podman speak the same API here."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker  # noqa: TID251 - this is the place
import docker.errors  # noqa: TID251
import docker.utils  # noqa: TID251
import requests
import urllib3.exceptions
from docker.utils.socket import frames_iter  # noqa: TID251

from harness.core.errors import InfrastructureError, InputError

if TYPE_CHECKING:
    from docker import APIClient  # noqa: TID251

LABEL_OWNER = "dev.goldseam.owner"
"""On every container of ours: `<host name>:<process id>:<start time of that process>`."""
LABEL_KIND = "dev.goldseam.kind"
"""What an image or container is for: `base`, `python`, `deps`, `task`, `resolve`, `run`…"""
LABEL_KEY = "dev.goldseam.key"
"""SHA-256 of everything an image layer was built from."""

EngineError = docker.errors.DockerException
ApiError = docker.errors.APIError
NotFoundError = docker.errors.NotFound
ConnectionLost = (
    requests.exceptions.RequestException,
    urllib3.exceptions.HTTPError,  # what requests lets through where an answer is read bit by bit
    docker.errors.DockerException,
    OSError,
)
"""What a call raises when the engine goes away in the middle of it."""

_CALL_SECONDS = 120
_PING_SECONDS = 10.0
_HINTS = {
    "no space left on device": "make room on the engine's disk, for example with `goldseam images gc DATASET`",
    "address pool": "remove networks that nothing uses (`docker network prune`), or give the engine more address pools",
    "setting rlimit": "the engine's runtime may not set its limits here: it needs CAP_SYS_RESOURCE",
    "container-init binary": "install Podman's init: sudo apt-get install catatonit",
}
_local = threading.local()
_versions: dict[str | None, dict[str, Any]] = {}
"""By address of an engine, what it says of itself."""
_clients: dict[threading.Thread, APIClient] = {}
_clients_lock = threading.Lock()
LABEL_CLOCK = "dev.goldseam.clock"
"""On every image whose base layer has libfaketime; images made from it inherit the label, also over a registry."""


def _addresses() -> list[str | None]:
    """Where an engine may listen, best first; None means docker-py's own default."""
    address = os.environ.get("DOCKER_HOST")
    if address:
        return [None] if not address.startswith("unix://") or Path(address.removeprefix("unix://")).is_socket() else []
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    sockets = [Path("/var/run/docker.sock")]
    if runtime:
        sockets += [Path(runtime, "docker.sock"), Path(runtime, "podman/podman.sock")]
    sockets.append(Path("/run/podman/podman.sock"))
    return [f"unix://{path}" for path in sockets if path.is_socket()]


def connect() -> Any:
    """A client of the engine, one per thread: docker-py's, whose stubs lack most of what we call.

    DOCKER_HOST is honoured, so Podman's socket works.

    Raises:
        InfrastructureError: no engine answers.

    """
    client: APIClient | None = getattr(_local, "client", None)
    if client is not None and _local.pid == os.getpid():
        return client
    reason = "no socket found"
    for address in _addresses():
        try:
            options: dict[str, Any] = dict(docker.utils.kwargs_from_env())
            if address:
                options["base_url"] = address
            client = _Client(version="auto", timeout=_CALL_SECONDS, **options)
        except ConnectionLost as error:
            reason = str(error)
            continue
        _local.client, _local.pid = client, os.getpid()
        _keep(client)
        return client
    where = os.environ.get("DOCKER_HOST") or "the usual sockets"
    raise InfrastructureError(
        f"no container engine answers at {where} ({reason})", hint="run `goldseam doctor`; it says what to start"
    )


class _Client(docker.APIClient):
    """docker-py's client, without its habit of letting some calls, such as pulls, wait for ever."""

    patience: float | None = None
    """Seconds that such a call may be silent."""

    def __init__(self, *, base_url: str | None = None, **options: Any) -> None:
        self._address = base_url
        if base_url and base_url.startswith("unix://"):
            with socket.socket(socket.AF_UNIX) as probe:  # docker-py forgets to close the one that it fails to connect
                probe.settimeout(options["timeout"])
                probe.connect(base_url.removeprefix("unix://"))
        try:
            super().__init__(base_url=base_url, **options)
        except BaseException:
            self.close()
            raise
        if base_url and base_url.startswith("unix://"):
            self.trust_env = False  # no proxy is on the way to a socket, and looking for one at each call takes long

    def version(self, api_version: bool = True) -> dict[str, Any]:
        """What the engine says of itself; asked once, since it starts other programs for the answer."""
        if self._address not in _versions:
            _versions[self._address] = super().version(api_version)
        return _versions[self._address]

    def send(self, request: Any, **options: Any) -> Any:
        if options.get("timeout") is None and self.patience:
            options["timeout"] = self.patience
        return super().send(request, **options)


@contextmanager
def patient(seconds: float) -> Iterator[Any]:
    """The thread's client, whose longest calls may be silent for so long."""
    client = connect()
    client.patience = seconds
    try:
        yield client
    finally:
        client.patience = None


def answers() -> bool:
    """Whether an engine is there and answers within seconds; a call that hangs is no answer."""
    try:
        client = connect()
        usual, client.timeout = client.timeout, min(_PING_SECONDS, client.timeout)
        try:
            return bool(client.ping())
        finally:
            client.timeout = usual
    except (InfrastructureError, *ConnectionLost):
        return False


def watch() -> socket.socket:
    """A connection on which the engine says nothing, and that breaks when it ends; reading from it never waits.

    Raises:
        ConnectionLost: the engine does not answer.

    """
    with patient(_CALL_SECONDS) as client:
        events = client.events(filters={"label": [f"{LABEL_OWNER}=nobody"]})
        wire = _own_socket(client._get_raw_response_socket(events._response), events._response)  # noqa: SLF001
    wire.setblocking(False)
    return wire


def happened(event: str, container: str, *, since: int, until: int) -> bool:
    """Whether the engine knows of an event of a container in a span of its own clock, in seconds since 1970.

    The end of the span is waited for, but not for long: the engine's clock may have been put back.

    Raises:
        ConnectionLost: the engine failed, or that end did not come.

    """
    with patient(_PING_SECONDS) as client:
        events = client.events(since=since, until=until, filters={"container": container, "event": event}, decode=True)
        with closing(events):
            return any(True for _ in events)


def _keep(client: APIClient) -> None:
    """Remember a thread's client, and close those of threads that have ended."""
    with _clients_lock:
        for thread in [thread for thread in _clients if not thread.is_alive()]:
            _clients.pop(thread).close()
        _clients[threading.current_thread()] = client


def disconnect() -> None:
    """Close every thread's connections; the next call of `connect` in this thread opens a new one."""
    _local.client = None
    _versions.clear()
    with _clients_lock:
        while _clients:
            _clients.popitem()[1].close()


@dataclass(frozen=True, kw_only=True)
class ImageFacts:
    """What the engine says of an image it holds."""

    id: str
    tags: tuple[str, ...]
    size: int
    """Bytes of all its layers together."""
    parent: str | None
    """Id of the image it was committed from, where that is known."""
    labels: Mapping[str, str]
    digests: tuple[str, ...]
    """`repository@sha256:…` it is known under in registries."""
    platform: str = ""
    """`os/architecture[/variant]`, such as `linux/arm64`."""


def platform() -> str:
    """What the engine's machine is, `os/architecture`.

    Raises:
        InfrastructureError: the engine failed.

    """
    version = _version()
    return f"{str(version.get('Os') or 'linux').lower()}/{version.get('Arch') or ''}"


def is_podman() -> bool:
    """Whether the engine is Podman, which speaks Docker's API but knows fewer options.

    Raises:
        InfrastructureError: the engine failed.

    """
    return any("podman" in str(part.get("Name")).lower() for part in _version().get("Components") or ())


def _version() -> Mapping[str, Any]:
    with calling("asking for its version") as client:
        version: Mapping[str, Any] = client.version()
    return version


def configured_proxies() -> dict[str, str]:
    """The proxies that Docker's own configuration (`config.json`) names for containers, as variables.

    docker-py puts them into every container it makes unless told not to, and so into what is committed from one.

    Raises:
        InfrastructureError: no engine answers.

    """
    return dict(connect()._proxy_configs.get_environment())  # noqa: SLF001 - it has no other door


def inspect_image(ref: str) -> ImageFacts | None:
    """What the engine knows of a tag, digest or id; None if it holds no such image.

    Raises:
        InfrastructureError: the engine failed.

    """
    with calling(f"looking up image {ref}") as client:
        try:
            raw = client.inspect_image(ref)
        except NotFoundError:
            return None
    return ImageFacts(
        id=raw["Id"],
        tags=tuple(raw.get("RepoTags") or ()),
        size=raw.get("Size") or 0,
        parent=raw.get("Parent") or None,
        labels=(raw.get("Config") or {}).get("Labels") or {},
        digests=tuple(raw.get("RepoDigests") or ()),
        platform="/".join(part for name in ("Os", "Architecture", "Variant") if (part := raw.get(name))),
    )


def image_id(ref: str) -> str | None:
    """The engine's id (`sha256:…`) of a tag, digest or id; None if it holds no such image."""
    facts = inspect_image(ref)
    return facts.id if facts else None


def tag_image(ref: str, name: str) -> None:
    """Give an image one more name, `repository:tag`.

    Raises:
        InfrastructureError: the engine failed.

    """
    repository, _, tag = name.rpartition(":")
    with calling(f"naming image {ref} {name}") as client:
        client.tag(ref, repository, tag)


@contextmanager
def calling(doing: str, *further: type[Exception]) -> Iterator[Any]:
    """A client of the engine for a block that is `doing` something; `further` exceptions are the engine's as well.

    Raises:
        InfrastructureError: no engine answers, or it failed at that.

    """
    client = connect()
    failures: tuple[type[BaseException], ...] = (*ConnectionLost, *further)
    try:
        yield client
    except failures as error:
        raise engine_failed(doing, error) from error


def engine_failed(doing: str, error: BaseException) -> InfrastructureError:
    """The error to raise when the engine failed at what it was `doing`."""
    why = cause(error)
    return InfrastructureError(f"the container engine failed at {doing}: {why}", hint=advice(why))


def cause(error: BaseException) -> str:
    """What the engine says went wrong, without the call that it was."""
    return str(getattr(error, "explanation", None) or error)


def is_silence(error: BaseException) -> bool:
    """Whether a call was given up because the engine said nothing for too long."""
    return isinstance(error, requests.exceptions.Timeout) or "read timed out" in str(error).lower()


def is_full(error: BaseException) -> bool:
    """Whether the engine's disk has no room left, so that nothing can be done on it for now."""
    return "no space left on device" in str(error).lower()


def advice(why: str) -> str:
    """What to do about it."""
    return next((hint for sign, hint in _HINTS.items() if sign in why.lower()), "run `goldseam doctor`")


def frames(attached: Any) -> Iterator[bytes]:
    """The output of an attached container (no tty), in order; both streams as one."""
    for _, data in streams(attached):
        yield data


def streams(attached: Any) -> Iterator[tuple[int, bytes]]:
    """The same, with the number of the stream that each piece is of: 1 for standard output, 2 for standard error."""
    read: Any = frames_iter
    for stream, data in read(attached, tty=False):
        yield stream, bytes(data)


def attach(container: str, *, stdin: bool = True) -> socket.socket:
    """The socket that carries a created container's standard input and both output streams, multiplexed."""
    with patient(_CALL_SECONDS) as client:
        params = {"stdin": int(stdin), "stdout": 1, "stderr": 1, "stream": 1}
        attached = client.attach_socket(container, params=params)
        wire = _own_socket(attached, getattr(attached, "_response", None))
    wire.settimeout(None)  # the call had a limit; what comes after it takes as long as it takes
    return wire


def execute(container: str, argv: Sequence[str], *, env: Mapping[str, str], workdir: str) -> tuple[str, socket.socket]:
    """Start a program in a running container: the engine's id of it, and the socket with its three streams.

    What the program writes before the caller reads may get lost in docker-py's buffers: let it wait for a line first.

    Raises:
        ConnectionLost: the engine failed, or the container runs no more.

    """
    with patient(_CALL_SECONDS) as client:
        exec_id = client.exec_create(container, list(argv), stdin=True, environment=dict(env), workdir=workdir)["Id"]
        attached = client.exec_start(exec_id, socket=True)
        wire = _own_socket(attached, getattr(attached, "_response", None))
    wire.settimeout(None)
    return exec_id, wire


def _own_socket(attached: Any, response: Any) -> socket.socket:
    """The socket below one of docker-py's streams, free of all that holds it."""
    wire: socket.socket = getattr(attached, "_sock", attached)
    if type(wire) is not socket.socket:
        return wire  # TLS: such a socket has no second handle
    own = wire.dup()
    for holder in (response, attached, wire):  # each keeps the connection open
        if holder is not None:
            holder.close()
    return own


def send(attached: Any, data: bytes) -> None:
    """Write to the standard input of an attached container."""
    getattr(attached, "_sock", attached).sendall(data)


def remove_container(container: str) -> None:
    """Remove a container, running or not, with its anonymous volumes; one that is gone already is fine."""
    with suppress(NotFoundError):
        connect().remove_container(container, force=True, v=True)


def has_user_namespaces() -> bool:
    """Whether root in a container is another user outside of it, to whom the folders of this one are closed.

    Raises:
        InfrastructureError: the engine failed.

    """
    with calling("asking for its security options") as client:
        return "name=userns" in (client.info().get("SecurityOptions") or ())


def check_runtime(name: str) -> None:
    """See that the engine knows an OCI runtime.

    Raises:
        InputError: it does not.
        InfrastructureError: the engine failed.

    """
    with calling("listing its runtimes") as client:
        runtimes = sorted(client.info().get("Runtimes") or ())
    if runtimes and name not in runtimes:
        hint = "register it in the engine's daemon.json; docs/security.md says how"
        raise InputError(f"the engine has no runtime {name!r}; it has {', '.join(runtimes)}", hint=hint)


def size_together(images: Sequence[str]) -> tuple[int, int]:
    """Bytes of all layers of these images, and how many of the images the engine holds.

    Layers are told apart as far as the engine knows an image's parents: those of pulled images are counted with each.

    Raises:
        InfrastructureError: the engine failed.

    """
    sizes: dict[str, int] = {}
    total = 0
    for image in images:
        facts = inspect_image(image)
        total += facts is not None
        while facts is not None and facts.id not in sizes:
            parent = inspect_image(facts.parent) if facts.parent else None
            sizes[facts.id] = facts.size - (parent.size if parent else 0)
            facts = parent
    return sum(sizes.values()), total


def can_fake_clock(image: str) -> bool:
    """Whether tests in this image can run on another date than today's; False where the engine does not hold it.

    Images made before there were clocks, and images of other makers, can't.

    Raises:
        InfrastructureError: the engine failed.

    """
    facts = inspect_image(image)
    return facts is not None and bool(facts.labels.get(LABEL_CLOCK))
