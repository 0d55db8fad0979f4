"""What of a model's patch may not reach JavaScript's tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.patches.patch import FilePatch

MANIFEST, CONFIGURATION, INSTALLED, SNAPSHOT = "package_manifest", "test_configuration", "installed_modules", "snapshot"
ALLOWABLE = frozenset({MANIFEST, CONFIGURATION, SNAPSHOT})
"""Reasons that do not stand against a file which the fix itself changes."""
_MANIFESTS = frozenset(
    {"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml"}
)
_CONFIGURATIONS = re.compile(
    r"(?:jest|vitest|vite|babel|ava|karma|mocha|tap|nyc|swc|esbuild|tsup|rollup|webpack)[.-](?:config|conf|setup|preset|workspace)"
    r"\b.*|\.(?:babelrc|swcrc|mocharc|nycrc|taprc|npmrc|yarnrc|c8rc|pnp)\b.*|[jt]sconfig.*\.json|jasmine\.(?:json|[cm]?js)|mocha\.opts|\.pnpmfile\.cjs|test-setup\..*"
)


def reason(file: FilePatch, path: str) -> str | None:
    """Why a file may not reach the tests by this path: it would change how they are found, loaded or run."""
    del file
    folders, _, name = path.rpartition("/")
    parts = folders.split("/")
    if "node_modules" in (*parts, name) or parts[0] == "__mocks__":
        return INSTALLED
    if name in _MANIFESTS:
        return MANIFEST
    if _CONFIGURATIONS.fullmatch(name):
        return CONFIGURATION
    return SNAPSHOT if name.endswith(".snap") else None
