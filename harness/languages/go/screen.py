"""What of a model's patch may not reach Go's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.patches.patch import FilePatch

TESTS, MANIFEST, VENDORED = "test_code", "module_manifest", "vendored_modules"
ALLOWABLE = frozenset({MANIFEST, VENDORED})
"""Reasons that do not stand against a file which the fix itself changes."""
_MANIFESTS = frozenset({"go.mod", "go.sum", "go.work", "go.work.sum"})


def reason(file: FilePatch, path: str) -> str | None:
    """Why a file may not reach the tests by this path: it is compiled with them, or says which modules are."""
    del file
    folders, _, name = path.rpartition("/")
    if name.endswith("_test.go"):
        return TESTS
    if "vendor" in (*folders.split("/"), name):
        return VENDORED
    return MANIFEST if name in _MANIFESTS else None
