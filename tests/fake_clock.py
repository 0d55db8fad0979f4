"""A clock that is set forth and back under a program that runs.

A small library goes before libc and adds some seconds to the time of day, for Python and for C alike; the clock that
only counts (CLOCK_MONOTONIC) stays as it is. libfaketime can't be used for this: with it, sleeping goes wrong as well.
"""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING

from harness.core import process

if TYPE_CHECKING:
    from pathlib import Path

_SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead;

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("TEST_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    void *page = file < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) ahead = page;
    if (file >= 0) close(file);
}

int clock_gettime(clockid_t which, struct timespec *now)
{
    int code = syscall(SYS_clock_gettime, which, now);
    if (!code && ahead && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec += *ahead;
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int code = syscall(SYS_gettimeofday, now, zone);
    if (!code && now && ahead) now->tv_sec += *ahead;
    return code;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
"""


def lacking() -> str | None:
    """Why there can be no such clock here; None where there can."""
    return None if process.which("cc") else "a clock that can be set takes a C compiler (cc)"


class FakeClock:
    """`env` is the environment of programs that go by it."""

    def __init__(self, folder: Path) -> None:
        source, library, told = folder / "clock.c", folder / "clock.so", folder / "clock"
        source.write_text(_SOURCE, encoding="ascii")
        process.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)])
        told.write_bytes(bytes(8))
        with told.open("r+b") as file:
            self._ahead = mmap.mmap(file.fileno(), 8)
        self.env = {"LD_PRELOAD": str(library), "TEST_CLOCK": str(told)}

    def set(self, *, hours: int) -> None:
        """Set it so far from real time, for whoever goes by it just now, too."""
        self._ahead[:] = struct.pack("q", hours * 3600)
