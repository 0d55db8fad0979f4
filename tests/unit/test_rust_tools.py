"""How Rust comes into an image: what manifests and CI say, crates as of a day, tests inside of code."""

from __future__ import annotations

import json
import runpy
from datetime import date
from pathlib import Path

import pytest

import miner.languages.rust
from harness.config.settings import ImageSettings
from harness.core import process
from harness.languages.rust.inside import inline
from miner.candidates import inline as miner_inline
from miner.candidates.split import declares_tests
from miner.languages.rust import cargo
from miner.languages.rust.build import layer_of_rust
from tests.tiny import MemoryTree

DAY = Path(miner.languages.rust.__file__).parent / "tools/day.py"
MANIFEST = '[package]\nname = "app"\nedition = "2021"\nrust-version = "1.70"\n\n[[test]]\nname = "own"\n'
FEATURES = MANIFEST + "\n[features]\na = []\nb = []\nc = []\nd = []\n"
WORKFLOW = """\
      - run: cargo test --target ${{ matrix.target }} --all-features
      - run: cargo test --verbose
      - run: cargo +nightly test --features "a b" --tests -- --skip ui
      - run: cargo test --no-default-features --features=c
"""


def test_a_toolchain_of_this_machine_is_copied_for_its_own_version_and_platform_alone(tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("rustc", "cargo"):
        (tmp_path / "bin" / name).write_bytes(b"program")
    settings = ImageSettings(rusts={"1.95": tmp_path})
    [folder] = layer_of_rust("base", 95, settings).folders
    assert (folder.path, folder.context) == (tmp_path, "rust-1.95")
    assert not layer_of_rust("base", 85, settings).folders
    assert not layer_of_rust("base", 95, settings.model_copy(update={"platform": "linux/s390x"})).folders
    for version in ("stable", "1.95.0"):
        with pytest.raises(ValueError, match=r"expected a version such as 1\.85"):
            ImageSettings(rusts={version: tmp_path})


def test_the_toolchain_is_no_older_than_what_is_asked_for_and_the_newest_of_the_day_that_is_there():
    asks = MemoryTree(
        {"Cargo.toml": MANIFEST, "Cargo.lock": "version = 4\n", "rust-toolchain.toml": 'channel = "1.60.0"\n'}
    )
    assert cargo.oldest(asks, {""}) == 78
    assert cargo.oldest(MemoryTree({"Cargo.toml": MANIFEST, "rust-toolchain": "1.90.1\n"}), {""}) == 90
    assert cargo.minors([95, 70], 60, date(2023, 9, 1)) == (70, 95)
    assert cargo.minors([95], 0, date(2026, 6, 1)) == (95,)
    assert cargo.minors([63, 96, 97], 0, date(2025, 6, 1)) == (96, 63)
    assert cargo.minors([63, 96, 97], 0, date(2018, 6, 1)) == (63, 96)
    assert cargo.minors([95], 96, date(2026, 6, 1)) == ()


@pytest.mark.parametrize(
    ("text", "has_tests"),
    [
        ("#[test]\nfn a() {}\n", True),
        ("#[tokio::test]\nasync fn a() {}\n", True),
        ("#[rstest]\nfn a() {}\n", True),
        ("mod util;\n", True),
        ("proptest! {}\n", True),
        ("fn main() -> ExitCode { run() }\n", True),
        ("fn main() {}\n", False),
        ("pub fn helper() {}\n", False),
    ],
)
def test_a_file_below_tests_has_tests_by_what_is_in_it(text, has_tests):
    assert declares_tests("tests/ui/a.rs", text.encode()) is has_tests


def test_libraries_of_the_system_are_those_that_the_locked_crates_link_with():
    lock = (
        '[[package]]\nname = "openssl-sys"\nversion = "0.9.1"\n\n[[package]]\nname = "url"\ndependencies = ["cmake"]\n'
    )
    assert cargo.system_packages(lock.encode()) == ("libssl-dev",)
    assert cargo.system_packages(b"") == ()


@pytest.mark.parametrize(
    ("gate", "options"),
    [
        ("", ()),
        ('#[cfg(feature = "a")]\n#[should_panic]\n#[test]\nfn one() {}\n', ("--features", "a,b")),
        ('#[test]\n#[cfg(not(feature = "a"))]\nfn one() {}\n#[cfg(feature = "c")]\nfn two() {}\n', ()),
        ('#![cfg(not(feature = "a"))]', ()),
        ('#![cfg(feature = "b")]', ("--features", "a,b")),
        ('#![cfg(all(feature = "c", feature = "d"))]', ("--no-default-features", "--features", "c", "--features", "d")),
    ],
)
def test_features_are_those_of_a_call_in_ci_that_has_what_tests_are_gated_by(gate, options):
    files = {"Cargo.toml": FEATURES, ".github/workflows/ci.yml": WORKFLOW, "tests/it.rs": gate}
    assert cargo.options(MemoryTree(files), ["tests/it.rs"])[-2:][0] == options


@pytest.mark.parametrize(
    ("workflow", "source", "options"),
    [
        ("run: cargo test\n", '#[cfg(feature = "d")]\n#[test]\nfn one() {}\n', [("--features", "d"), ()]),
        ("run: cargo test\n", '#[cfg(feature = "gone")]\n#[test]\nfn one() {}\n', [()]),
        ("m:\n  with: [a, 'b,no']\nrun: cargo test -F ${{ matrix.with }}\n", "", [("--features", "a"), ()]),
        ("uses: x\nwith:\n  command: test\n  use-cross: true\n  args: --all-features\n", "", [("--all-features",), ()]),
        ("run: cargo test --features of_another\n", "", [()]),
    ],
    ids=["of a test alone", "of no package", "of a matrix", "of an action", "of another package"],
)
def test_features_are_read_where_ci_has_them_and_none_that_the_package_lacks(workflow, source, options):
    files = {"Cargo.toml": FEATURES, ".github/workflows/ci.yml": workflow, "tests/it.rs": source}
    assert cargo.options(MemoryTree(files), ["tests/it.rs"]) == tuple(options)


def test_features_that_stable_compilers_refuse_are_left_out_and_named_are_the_others_in_place_of_all():
    manifest = (
        '[package]\nname = "a"\n[dependencies]\nserde = { version = "1", optional = true }\n[features]\n'
        'api = []\nbench_api = ["api"]\nblink = ["blink-alloc/nightly"]\nboxed = []\nwith_serde = ["dep:serde"]\n'
    )
    files = {
        "Cargo.toml": manifest,
        ".github/workflows/ci.yml": "run: cargo test --all-features\n",
        "src/lib.rs": '#![cfg_attr(feature = "api", feature(allocator_api))]\n',
        "tests/it.rs": '#![cfg(feature = "api")]\n',
    }
    assert cargo.options(MemoryTree(files), ["tests/it.rs"]) == (("--features", "boxed,with_serde"), ())


def test_features_that_a_target_of_the_manifest_or_the_file_of_a_module_requires_are_added():
    roots = {"tests/it/main.rs": '#![cfg(feature = "a")]\n#[cfg(feature = "b")]\nmod one;\nmod two;\n'}
    files = {"Cargo.toml": FEATURES, **roots, "tests/it/one.rs": "", "tests/it/two.rs": ""}
    assert cargo.options(MemoryTree(files), ["tests/it/one.rs"]) == (("--features", "a,b"),)
    assert cargo.options(MemoryTree(files), ["tests/it/two.rs"]) == (("--features", "a"),)
    files = {"Cargo.toml": FEATURES.replace('"own"', '"own"\nrequired-features = ["c"]'), "tests/own/one.rs": ""}
    assert cargo.options(MemoryTree(files), ["tests/own/one.rs"]) == (("--features", "c"),)


def test_packages_and_their_workspace_are_found_and_a_skeleton_has_every_target_without_its_code():
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
        "crates/app/Cargo.toml": MANIFEST,
        **dict.fromkeys(("crates/app/src/lib.rs", "crates/app/src/de.rs", "crates/app/tests/own.rs"), "mod code;\n"),
        "README.md": "",
    }
    assert cargo.packages(MemoryTree(files), ["crates/app/src/de.rs", "README.md"]) == ("crates/app",)
    assert cargo.workspace_of(MemoryTree(files), "crates/app") == ""
    left_out = {**files, "Cargo.toml": '[workspace]\nexclude = ["crates/"]\n'}
    assert cargo.workspace_of(MemoryTree(left_out), "crates/app") == "crates/app"
    skeleton = dict(cargo.skeleton(MemoryTree(files), ""))
    assert sorted(skeleton) == [
        "Cargo.toml",
        "crates/app/Cargo.toml",
        "crates/app/src/lib.rs",
        "crates/app/tests/own.rs",
    ]
    assert skeleton["crates/app/src/lib.rs"] == b""


def test_crates_are_those_of_the_day_and_yanked_ones_only_where_they_are_asked_for():
    of_day = runpy.run_path(str(DAY))["of_day"]
    versions = [{"vers": "1.0", "pubtime": "2024-01-01T00:00:00Z", "yanked": True}, {"vers": "1.1"}]
    entries = "\n".join(map(json.dumps, [*versions, {"vers": "2.0", "pubtime": "2025-01-01T00:00:00Z"}])).encode()

    def read(*, yanked: bool) -> list[dict[str, object]]:
        return list(map(json.loads, of_day(entries, "2024-06-01T00:00:00Z", yanked=yanked).splitlines()))

    assert read(yanked=False) == versions
    assert [version.get("yanked") for version in read(yanked=True)] == [False, False]
    later = {"name": "rustc-serialize", "pubtime": "2025-01-01T00:00:00Z"}
    kept = [
        json.loads(of_day(json.dumps({**later, "vers": vers}).encode(), "2017", yanked=False) or b"0")
        for vers in ("0.3.25", "0.3.26")
    ]
    assert [bool(each) for each in kept] == [True, False]


def test_what_a_patch_changes_of_tests_inside_of_code_is_undone_and_its_code_stays(tmp_path):
    before = "fn one() -> u8 { 2 }\n\n#[cfg(not(test))]\nfn two() {}\n\n#[cfg(test)]\nmod tests {\n    fn old() {}\n}\n"
    after = (
        before.replace("{ 2 }", "{ 1 }")
        .replace("two", "three")
        .replace("    fn old() {}\n", "    fn new() { broken }\n")
    )
    for folder, text in (("base", before), ("work", after)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lib.rs").write_text(text)
    inline.put_back_tests(str(tmp_path / "work"), str(tmp_path / "base"), ["lib.rs", "gone.rs"])
    assert (tmp_path / "work/lib.rs").read_text() == before.replace("{ 2 }", "{ 1 }").replace("two", "three")


def test_code_keeps_its_own_lines_where_tests_have_some_that_are_alike():
    code = "impl {0} {{\n    fn f() {{\n        {1}\n    }}\n}}\n"
    tests = "#[cfg(test)]\nmod {0} {{\n    #[test]\n    fn f() {{\n        assert!(g());\n    }}\n}}\n"
    before = "".join(code.format(name, 1) for name in "ABC")
    parts = [code.format(name, 2) + "impl R {\n}\n" for name in "ABC"]
    after = "".join(part + tests.format(name) for part, name in zip(parts, "abc", strict=True))

    def between(old: str, new: str) -> str:
        return b"".join(inline.with_tests_of(*(inline.lines_of(text.encode()) for text in (old, new)))).decode()

    assert between(before, after) == "".join(parts)
    assert between(after, before).count("mod ") == len("abc")
    assert between(between(after, before), after) == after


def test_lines_between_two_tests_go_with_the_tests(tmp_path):
    last = "#[test]\nfn last() {\n    one();\n}\n"
    before = f"fn one() -> u8 {{ 2 }}\n\n{ALONE}\n{last}"
    after = before.replace("{ 2 }", "{ 1 }").replace(
        last, f"#[test]\nfn new() {{\n    one();\n}}\n\n// why\n#[cfg(unix)]\n{last}"
    )
    raw = b"diff --git a/lib.rs b/lib.rs\nindex 1..2 100644\n--- a/lib.rs\n+++ b/lib.rs\n@@ -1 +1 @@\n"
    code, tests = miner_inline.cut("lib.rs", raw, before.encode(), after.encode()) or (b"", b"")
    assert (b"+\n" in code, b"why" in code) == (False, False)
    for folder, text in (("base", before), ("work", before)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lib.rs").write_text(text)
    for patch in (code, tests):
        process.run(("git", "apply", "-"), cwd=tmp_path / "work", input=patch)
        if patch is code:
            inline.put_back_tests(str(tmp_path / "work"), str(tmp_path / "base"), ["lib.rs"])
    assert (tmp_path / "work/lib.rs").read_text() == after


def test_what_stands_right_before_a_test_is_of_it():
    text = b"/// Doc.\n#[cfg(unix)]\n#[test]\nfn a() {}\n\n#[inline]\nfn b() {}\n"
    assert inline.test_lines(inline.lines_of(text)) == {0, 1, 2, 3}


@pytest.mark.parametrize("macro", ["quote! {{ {} }}", "parse_quote!({})", "quote::quote_spanned![at=> {}]"])
def test_a_test_that_a_macro_makes_is_code(macro):
    made = macro.format("#[test] fn #name() { #body }")
    text = f"fn made() -> Tokens {{\n    {made}\n}}\n\n#[test]\nfn a() {{}}\n".encode()
    assert inline.test_lines(inline.lines_of(text)) == {4, 5}


CODE = "fn one() -> u8 { 2 }\n"
OLD, NEW = (f"#[cfg(test)]\nmod tests {{\n    fn {name}() {{}}\n}}\n" for name in ("old", "new"))
ALONE = "#[test]\nfn alone() {}\n"


@pytest.mark.parametrize(
    ("before", "hidden", "after"),
    [
        (CODE + OLD, "\n" + NEW, CODE + NEW),
        (OLD + CODE, NEW + "\n", NEW + CODE),
        (CODE, "\n" + NEW, CODE + "\n" + NEW),
        (ALONE + CODE + OLD, "\n" + NEW, CODE + "\n" + NEW),
        (ALONE + CODE + OLD, ALONE + "\n" + NEW, ALONE + CODE + NEW),
        (None, NEW, NEW),
    ],
)
def test_hidden_tests_are_laid_into_the_code_of_a_patch(tmp_path, before, hidden, after):
    place = tmp_path / "lib.rs"
    if before is not None:
        place.write_text(before)
    assert inline.with_hidden_tests(str(place), hidden.encode()).decode() == after


@pytest.mark.parametrize(
    ("there", "asked", "found"),
    [
        ("a.rs", "a.rs", "a.rs"),
        ("a/mod.rs", "a.rs", "a/mod.rs"),
        ("a.rs", "a/mod.rs", "a.rs"),
        ("b.rs", "a.rs", "a.rs"),
    ],
)
def test_hidden_tests_follow_a_module_that_a_patch_has_moved(tmp_path, there, asked, found):
    (tmp_path / "a").mkdir()
    (tmp_path / there).touch()
    assert inline.place_of_module(str(tmp_path / asked)) == str(tmp_path / found)


def test_a_file_without_its_code_has_the_lines_of_its_tests():
    assert inline.without_code((CODE + NEW + CODE).encode()).decode() == "\n" + NEW + "\n"


@pytest.mark.parametrize("line", [b'r##"\n', b"/*\n", b"#[cfg(test\n"])
def test_a_source_that_is_made_to_take_long_takes_none_the_longer(line):
    assert inline.test_lines([line] * 50_000) in (frozenset(), frozenset(range(50_000)))
