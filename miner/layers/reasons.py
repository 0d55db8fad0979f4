"""Why a build came to nothing: one stable word for the funnel, and what a person can do about it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.config.settings import ImageSettings

if TYPE_CHECKING:
    from miner.layers.runner import Ran

_NETWORK = re.compile(
    r"error sending request|dns error|[Tt]emporary failure (in name resolution|resolving)|[Nn]etwork is unreachable"
    r"|[Cc]onnection (refused|reset|timed out)|[Cc]ould not connect|tls handshake|invalid peer certificate"
    r"|certificate verify failed|HTTP status (server|client) error \((5|401|403|407|429)|operation timed out"
    r"|NewConnectionError|ReadTimeoutError|Could not resolve"
)
_SHUT_OUT = re.compile(
    rf"{_NETWORK.pattern}|Name or service not known|No address associated|nodename nor servname"
    r"|Tunnel connection failed|CONNECT tunnel failed|tunnel error|HTTP Error 403|403 Forbidden|ProxyError"
    r"|Unknown host|Failed to fetch"
)
_GPU = (
    r"CUDA_HOME environment variable is not set",
    r"(?:[Ff]ailed to|[Cc]ould not|[Cc]annot|[Uu]nable to) find (?:a )?(?:nvcc|hipcc|CUDA\w*|ROCm|GPU)",
    r"No (?:CUDA )?GPUs? (?:are |is )?(?:available|found|detected)",
    r"nvcc: (?:command )?not found|'(?:\S*/)?nvcc'",
    r"(?:cuda|cudnn|cublas|hip_runtime)\w*\.h: No such file or directory",
    r"lib(?:cuda|cudart|cudnn|nvrtc)\.so",
    r"requires (?:a |an |the )?(?:NVIDIA|CUDA)[^\n]{0,60}",
)
_PROGRAM = r"[\w./+-]*(?:gcc|g\+\+|cc|c\+\+|clang|gfortran|f95|rustc|cargo|cmake|swig|nasm|yasm)"
_COMPILER = (
    r"[\w./+-]+\.(?:h|hpp|hh|mod): No such file or directory",
    rf"(?:unable to execute|No such file or directory:) '{_PROGRAM}'",
    rf"command '{_PROGRAM}' failed: No such file or directory",
    r"can't find Rust compiler|(?:requires|needs) (?:a |the )?(?:Rust|cargo|CMake|Fortran|SWIG|C compiler)[^\n]{0,60}",
    r"CMake must be installed[^\n]{0,60}|Problem with the CMake installation[^\n]{0,60}",
    r"(?:[Uu]nknown|[Nn]o|[Mm]issing) (?:suitable )?(?:\w+ )?[Cc]ompiler(?:s|\(s\))?\b[^\n]{0,60}",
    r"cannot find -l[\w.+-]+",
)
_SUBMODULE = (r"[^\n]{0,120}git submodule (?:update|init)[^\n]{0,60}",)
_BACKEND = re.compile(r"build backend returned an error|Failed to (?:download and )?build |Call to `[^`]+` failed")
_FULL = "No space left on device"
_SHOWN = 2000


def looks_like_network(ran: Ran) -> bool:
    """Whether a failed step tells of a network that fails; whose fault that is has to be asked."""
    return not (ran.timed_out or ran.out_of_memory or ran.disk_full) and _NETWORK.search(ran.tail) is not None


def network_line(text: str) -> str:
    """The last line that tells of the network."""
    hits = [line.strip() for line in text.splitlines() if _NETWORK.search(line)]
    return (hits or ["no answer"])[-1][:300]


def is_full(text: str) -> bool:
    """Whether an output tells of a disk without room."""
    return _FULL in text


def of(ran: Ran, settings: ImageSettings) -> tuple[str, str]:
    """The reason of a failed build, and a sentence with what it came to (empty where there is no more to say)."""
    if ran.timed_out:
        return "build_timeout", f"it took longer than {settings.build_seconds:.0f} s ([images] build_seconds)"
    if ran.out_of_memory:
        return "build_oom", f"it took more than {settings.build_memory_mb} MB ([images] build_memory_mb)"
    if ran.disk_full:
        return (
            "build_disk",
            f"it filled the disk, or wrote more than {settings.build_disk_mb} MB ([images] build_disk_mb)",
        )
    if is_full(ran.tail):
        return (
            "build_disk",
            f"it filled /tmp, which is in memory: {settings.build_memory_mb} MB ([images] build_memory_mb)",
        )
    if ran.refused and _SHUT_OUT.search(ran.tail):
        hosts = ", ".join(ran.refused)
        return (
            "needs_network",
            f"it tried to reach {hosts}, which builds may not reach ([images] allow_hosts allows it)",
        )
    if line := _first(_GPU, ran.tail):
        return "needs_gpu", f"it needs a GPU or its tools: {line}"
    if line := _first(_SUBMODULE, ran.tail):
        return "needs_submodule", f"it needs a submodule that the clone has not checked out: {line}"
    if line := _first(_COMPILER, ran.tail):
        return "needs_compiler", f"it needs a compiler, header or library that was not found: {line}"
    return "install_failed", ""


def _first(patterns: Iterable[str], text: str) -> str:
    """The words that one of the patterns finds first; patterns go before places."""
    return next((match[0].strip() for pattern in patterns if (match := re.search(pattern, text))), "")


def of_resolving(ran: Ran, settings: ImageSettings) -> tuple[str, str]:
    """The same of a lock that could not be made."""
    reason, why = of(ran, settings)
    if reason == "install_failed" and not _BACKEND.search(ran.tail):
        return "unresolvable", why
    return reason, why


def detail(why: str, ran: Ran) -> str:
    """What is kept of a failed build: the sentence, and the end of what it said."""
    end = ran.tail[-_SHOWN:]
    whole = end if len(end) == len(ran.tail) else end.partition("\n")[2] or end
    return "\n".join(filter(None, (why, whole.strip())))
