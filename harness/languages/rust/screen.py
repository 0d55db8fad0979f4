"""What of a model's patch may not reach Rust's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.patches.patch import FilePatch

TESTS, BUILD, COMPILED = "test_code", "build_files", "compiled_code"
ALLOWABLE = frozenset({BUILD})
"""Reasons that do not stand against a file which the fix itself changes."""
_BUILD = frozenset({"Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml"})


def reason(file: FilePatch, path: str) -> str | None:
    """Why a file may not reach the tests by this path: it is a test, or says how they are compiled.

    Tests within `src` are compiled with the product, and named by it.
    """
    del file
    *folders, name = path.split("/")
    if "src" not in folders and "tests" in folders:
        return TESTS
    if name in _BUILD or ".cargo" in folders:
        return BUILD
    return COMPILED if "target" in folders and "src" not in folders else None
