"""Where a file of ours comes from: when, on which machine, and by which goldseam it was written."""

from __future__ import annotations

import os
import platform
import time
from importlib import metadata


def now() -> str:
    """The time, ISO 8601 in UTC to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def machine() -> dict[str, str | int | None]:
    """The machine that this runs on, as runs and refreshes remember it."""
    return {"platform": platform.platform(), "machine": platform.machine(), "cpus": os.cpu_count()}


def version() -> str:
    """The version of goldseam that is installed."""
    return metadata.version("goldseam")
