"""What of a model's patch may not reach Java's tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.patches.patch import FilePatch

TESTS, BUILD, CONFIGURATION, COMPILED = "test_code", "build_files", "test_configuration", "compiled_code"
ALLOWABLE = frozenset({BUILD, CONFIGURATION})
"""Reasons that do not stand against a file which the fix itself changes."""
OWN_PACKAGE = "goldseam"
"""The package of what records tests (harness/languages/java/inside)."""
_BUILD = re.compile(
    r"pom\.xml|[^/]*\.gradle(\.kts)?|gradle\.properties|gradle\.lockfile|libs\.versions\.toml|mvnw(\.cmd)?|gradlew(\.bat)?"
)
_CONFIGURATIONS = re.compile(r"junit-platform\.properties|junit-jupiter\.properties|testng[^/]*\.xml|jqwik\.properties")
_TEST_SETS = re.compile(r"(?:.*/)?src/(?:test|[a-zA-Z]*Test|it)/.*")
_OUTPUTS = frozenset({"target", "build"})


def reason(file: FilePatch, path: str) -> str | None:
    """Why a file may not reach the tests by this path: it is compiled with them, or says how they are built or run."""
    del file
    folders, _, name = path.rpartition("/")
    parts = folders.split("/")
    if _TEST_SETS.fullmatch(path) or parts[-1] == OWN_PACKAGE:
        return TESTS
    if _BUILD.fullmatch(name) or ".mvn" in parts or "buildSrc" in parts or parts[0] == "gradle":
        return BUILD
    if _CONFIGURATIONS.fullmatch(name) or folders.endswith("META-INF/services") or name == "MANIFEST.MF":
        return CONFIGURATION
    outside = "src" not in parts and not _OUTPUTS.isdisjoint(parts)
    return COMPILED if outside or name.endswith((".class", ".jar")) else None
