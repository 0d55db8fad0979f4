"""What all tests share: their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

LONGEST = ("test_fuzz_transcripts.py", "test_patch_fuzz.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files: where CI has them try more, a worker would be alone with one of them at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
