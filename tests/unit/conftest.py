"""What unit tests share."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", autouse=True)
def _disk_is_not_waited_for() -> Iterator[None]:
    """None of them cuts the power."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _handle: None)
        yield


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the tests themselves, which stay: it looks at them a thousand times."""
    gc.collect()
    gc.freeze()
