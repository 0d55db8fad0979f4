"""Go behind the seam of `harness.languages.base`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from harness.core.instance import TestSpec
from harness.languages import parts
from harness.languages.base import Framework, Language, Program, Reason
from harness.languages.reporting import Runner
from harness.patches.patch import FilePatch

FRAMEWORK = "go test"
ROOT, MODULES, CACHE = "/opt/goldseam/go", "/opt/goldseam/gomodules", "/opt/goldseam/gocache"
"""Toolchain, module cache and what is compiled, in an image."""
ENV: Mapping[str, str] = {
    "GOROOT": ROOT,
    "GOPATH": "/tmp/go",  # noqa: S108 - inside the container, as the next
    "GOCACHE": "/tmp/go-build",  # noqa: S108
    "GOMODCACHE": MODULES,
    "GOENV": "off",
    "GOPROXY": "off",
    "GOSUMDB": "off",
    "GOTOOLCHAIN": "local",
    "GOTELEMETRY": "off",
    "PATH": f"{ROOT}/bin:/usr/local/bin:/usr/bin:/bin",
}
"""Variables of whatever calls the toolchain in a trial: nothing is downloaded."""
_FUNCTION = re.compile(r"\w+")
_BY_HAND = f"""\
[ -d "$GOCACHE" ] || cp -rs {CACHE} "$GOCACHE"
names=$1 packages=. code=0; shift
if [ $# = 0 ]; then
    packages=./...
    set -- $(find . -name go.mod ! -path '*/vendor/*' ! -path '*/testdata/*' -exec dirname {{}} +)
    [ $# != 0 ] || set -- .
fi
for folder; do (cd "$folder" && go test -vet=off -run "$names" "$packages") || code=1; done
exit $code
"""
TESTS, MANIFEST, VENDORED = "test_code", "module_manifest", "vendored_modules"
"""Why a file of a model's patch may not reach the tests."""
_MANIFESTS = frozenset({"go.mod", "go.sum", "go.work", "go.work.sum"})


part = partial(parts.part, language="go")
"""Gives a file of the folder `inside`."""


def sources() -> dict[str, str]:
    """What is compiled into the testing package, by name."""
    return {name: part(name) for name in ("recorder.go", "handout.go")}


def _reason(_file: FilePatch, path: str) -> str | None:
    """Why a file may not reach the tests by this path: it is compiled with them, or says which modules are."""
    folders, _, name = path.rpartition("/")
    if name.endswith("_test.go"):
        return TESTS
    if "vendor" in (*folders.split("/"), name):
        return VENDORED
    return MANIFEST if name in _MANIFESTS else None


class Go(Language):
    """The toolchain's own tests, with a recorder of ours in the testing package."""

    name = "go"
    frameworks: Mapping[str, Framework] = {FRAMEWORK: Runner()}
    allowable = frozenset({MANIFEST, VENDORED})

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """The driver, as a program of its own: it compiles, then runs. No program of Go takes a clock from outside."""
        order = requests.get("vary", {}).get("order")
        settings = {
            "cache": CACHE,
            "sources": sources(),
            "run": [] if order is None else [f"-test.shuffle={order}"],
        }
        program = parts.part("child.py") + part("overlay.py") + part("driver.py")
        return parts.driver(program, settings, requests, ("vary",), ENV)

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """Tests, which are compiled into the same program, and what says which modules are compiled."""
        return _reason

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """`go test` in the folder of each package, or of each module: several modules have no common root."""
        folders = dict.fromkeys(posixpath.dirname(path.partition("::")[0]) for path in paths)
        names = dict.fromkeys(
            match[0] for path in paths if (match := _FUNCTION.match(path.partition("::")[2])) is not None
        )
        pattern = f"^({'|'.join(names)})$" if names else "."
        words = ("sh", "-c", _BY_HAND, "sh", pattern, *(folder or "." for folder in folders))
        return parts.with_env({**ENV, **test.env}, *words)


GO = Go()
