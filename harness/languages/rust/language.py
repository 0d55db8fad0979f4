"""Rust behind the seam of `harness.languages.base`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from harness.core.instance import TestSpec
from harness.languages import parts
from harness.languages.base import Framework, Language, Program, Reason
from harness.languages.reporting import Runner
from harness.patches.patch import FilePatch

FRAMEWORK = "cargo test"
HOME = "/opt/goldseam/rust"
TOOLCHAIN, CARGO_HOME, TARGET = f"{HOME}/toolchain", f"{HOME}/cargo", f"{HOME}/target"
"""Toolchain, downloaded crates and what is compiled, in an image."""
EXAMPLES = "goldseam_examples.rs"
"""What a file of tests is called that has examples of documentation (doctests)."""
HANDOUT = "/tmp/goldseam_handout.rs"  # noqa: S108 - inside the container
"""Where the module is that stripped files hand out by."""
ENV: Mapping[str, str] = {
    "CARGO_HOME": CARGO_HOME,
    "CARGO_NET_OFFLINE": "true",
    "CARGO_TARGET_DIR": "/tmp/target",  # noqa: S108 - inside the container
    "CARGO_TERM_COLOR": "never",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_TEST_DEBUG": "0",
    "RUST_BACKTRACE": "0",
    "PATH": f"{TOOLCHAIN}/bin:/usr/local/bin:/usr/bin:/bin",
}
"""Variables of whatever calls the toolchain in a trial: nothing is downloaded."""
_BY_HAND = f"""\
[ -d "$CARGO_TARGET_DIR" ] || cp -r --preserve=timestamps {TARGET} "$CARGO_TARGET_DIR"
names=$1 options=$2 code=0; shift 2
for path in "${{@:-Cargo.toml}}"; do
    folder=$(dirname "$path")
    while [ ! -e "$folder/Cargo.toml" ] && [ "$folder" != . ]; do folder=$(dirname "$folder"); done
    echo "$folder"
done | sort -u | {{
    while read -r folder; do
        (cd "$folder" && cargo test --offline --tests $options -- --exact $names < /dev/null) || code=1
    done
    exit $code
}}
"""
TESTS, BUILD, COMPILED = "test_code", "build_files", "compiled_code"
"""Why a file of a model's patch may not reach the tests."""
_BUILD = frozenset({"Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml"})


part = partial(parts.part, language="rust")
"""Gives a file of the folder `inside`."""


def _reason(_file: FilePatch, path: str) -> str | None:
    """Why a file may not reach the tests by this path: it is a test, or says how they are compiled.

    Tests within `src` are compiled with the product, and named by it.
    """
    *folders, name = path.split("/")
    if "src" not in folders and "tests" in folders:
        return TESTS
    is_module = name == "build.rs" and "src" in folders
    if (name in _BUILD and not is_module) or ".cargo" in folders:
        return BUILD
    return COMPILED if "target" in folders and "src" not in folders else None


class Rust(Language):
    """Tests of libtest, the harness of Rust's toolchain: compiled by cargo, each run as a process of its own."""

    name = "rust"
    frameworks: Mapping[str, Framework] = {FRAMEWORK: Runner()}
    allowable = frozenset({BUILD})

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """The driver, as a program of its own: it compiles, then runs."""
        settings = {
            "warm": TARGET,
            "kept": HOME,
            "recorder": part("recorder.c"),
            "options": list(test.options),
            "handout": HANDOUT,
            "source": part("handout.rs"),
            "examples": EXAMPLES,
        }
        program = parts.part("child.py") + part("examples.py") + part("driver.py")
        driver = parts.driver(program, settings, requests, ("vary", "clock"), ENV)
        cut = [path for path in test.allowed_paths if path.endswith(".rs")]
        return replace(
            driver,
            sources=(*driver.sources, ("inline", part("inline.py").encode())),
            parts=(*driver.parts, *(("inline",) if cut else ())),
            spec={**driver.spec, **({"inline": cut} if cut else {})},
        )

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """Tests in folders of their own, and what says how they are compiled."""
        return _reason

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """`cargo test` in the packages of these files, or of the root; by the names of tests where they are given."""
        names = dict.fromkeys(path.partition("::")[2] for path in paths)
        files = dict.fromkeys(path.partition("::")[0] for path in paths)
        options = " ".join(test.options)
        words = ("bash", "-c", _BY_HAND, "bash", " ".join(filter(None, names)), options, *files)
        return parts.with_env({**ENV, **test.env}, *words)


RUST = Rust()
