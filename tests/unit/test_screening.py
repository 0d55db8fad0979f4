"""What of a model patch reaches the work tree."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from harness.core.instance import Build, TestSpec
from harness.languages.python.frameworks import program_of
from harness.languages.screening import allowed_by, caveat, screen
from harness.patches.patch import MAX_BYTES, MAX_FILES, parse
from miner.languages.python.recipes.extensions import build_of

HIDDEN = ("pkg/core/tests/test_x.py",)
EDIT = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"
NEW = "--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+b\n"
APPENDED_TO_NOTHING = "--- a/{0}\n+++ b/{0}\n@@ -0,0 +1 @@\n+b\n"
GONE = "--- a/{0}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
COPIED = "diff --git a/{0} b/kept.py\nsimilarity index 100%\ncopy from {0}\ncopy to kept.py\n"
MOVED = "diff --git a/{0} b/kept.py\nsimilarity index 100%\nrename from {0}\nrename to kept.py\n"


def reasons(form: str, path: str, **spec) -> list[str]:
    return [part.reason for part in screen(parse(form.format(path).encode()), HIDDEN, TestSpec(**spec)).dropped]


@pytest.mark.parametrize(
    ("form", "path", "reason"),
    [
        (EDIT, "pkg/core/tests/test_x.py", "hidden_test"),
        (MOVED, "pkg/core/tests/test_x.py", "hidden_test"),
        (NEW, "pkg/core/tests", "hidden_test"),
        (NEW, "pkg/core/tests/test_x.py/y", "hidden_test"),
        (GONE, "conftest.py", "conftest"),
        (MOVED, "a/conftest.py", "conftest"),
        (EDIT, "pyproject.toml", "runner_config"),
        (NEW, "pkg/core/tests/pytest.toml", "runner_config"),
        (NEW, "pkg/random.py", "shadows_module"),
        (APPENDED_TO_NOTHING, "pkg/random.py", "shadows_module"),
        (NEW, "src/_pytest/runner.py", "shadows_module"),
        (NEW, "usercustomize.py", "startup_module"),
        (GONE, "pkg/core/__init__.py", "import_root"),
        (MOVED, "pkg/__init__.py", "import_root"),
        (NEW, "x.dist-info/entry_points.txt", "package_metadata"),
        (NEW, "x.DIST-INFO/entry_points.txt", "package_metadata"),
        (NEW, "pkg/fast.so", "compiled_or_path_file"),
        (NEW, "pkg/.gitattributes", "git_settings"),
    ],
)
def test_what_could_touch_the_judge_is_dropped(form, path, reason):
    assert reasons(form, path) == [reason]


@pytest.mark.parametrize(
    ("form", "path"),
    [
        (EDIT, "pkg/core/numbers.py"),
        (EDIT, "src/attr/_make.py"),
        (NEW, "pkg/core/__init__.py"),
        (EDIT, "pkg/core/__init__.py"),
        (COPIED, "pkg/core/__init__.py"),
        (GONE, "other/__init__.py"),
        (NEW, "docs/random.py"),
        (NEW, "randomness.py"),
    ],
)
def test_honest_changes_are_kept(form, path):
    assert reasons(form, path) == []


@pytest.mark.parametrize("form", [EDIT, NEW, MOVED])
@pytest.mark.parametrize(
    ("reason", "paths"),
    [
        ("package_manifest", "package.json packages/a/package.json package-lock.json npm-shrinkwrap.json yarn.lock"),
        ("package_manifest", "pnpm-lock.yaml pnpm-workspace.yaml"),
        ("test_configuration", "jest.config.js jest.config.ts jest.setup.js jest-preset.json vitest.config.mts"),
        ("test_configuration", "vitest.workspace.ts vitest.setup.ts vite.config.js babel.config.cjs .babelrc .swcrc"),
        ("test_configuration", ".mocharc.yml .mocharc.cjs test/mocha.opts .taprc .nycrc.json ava.config.js .npmrc"),
        ("test_configuration", ".yarnrc.yml .pnp.cjs .pnpmfile.cjs tsconfig.json packages/a/tsconfig.test.json"),
        (
            "test_configuration",
            "jsconfig.json spec/support/jasmine.json karma.conf.js rollup.config.mjs tsup.config.ts",
        ),
        ("installed_modules", "node_modules/assert/index.js a/node_modules/.bin/mocha __mocks__/fs.js node_modules"),
        ("installed_modules", "src/__mocks__/supertest.js packages/a/__mocks__/@x/b.ts __mocks__"),
        ("snapshot", "test/__snapshots__/a.test.js.snap"),
        ("snapshot", "tap-snapshots/test/a.js.test.cjs"),
    ],
)
def test_what_says_how_tests_of_javascript_run_is_dropped(form, reason, paths):
    for path in paths.split():
        assert reasons(form, path, framework="jest") == [reason]
        assert reasons(form, path, framework="jest", allowed_paths=frozenset({path, "kept.py"})) == []


@pytest.mark.parametrize("form", [EDIT, NEW, GONE, MOVED])
@pytest.mark.parametrize(
    "path",
    [
        *("src/index.js", "src/index.ts", "lib/money.mjs", "lib/money.cjs", "index.d.ts", "src/types.d.mts"),
        *("src/a/index.tsx", "src/jest.js", "src/config.js", "src/setup.js", "src/vite.js", "lib/rollup.js"),
        *("src/mocks/api.js", "src/snapshot.js", "src/locale/de.json", "data/table.json", "dist/index.js"),
        *("scripts/build.js", "bin/cli.js", "docs/api.md", "README.md", "CHANGELOG.md", "LICENSE", ".eslintrc.json"),
        *(".prettierrc", "examples/package/index.js", "src/package.js", "src/tsconfig.ts", "benchmarks/run.js"),
    ],
)
def test_honest_changes_of_javascript_are_kept(form, path):
    assert reasons(form, path, framework="mocha") == []


@pytest.mark.parametrize("form", [EDIT, NEW, GONE])
@pytest.mark.parametrize(
    ("framework", "path", "reason"),
    [
        ("junit", "src/main/resources/META-INF/services/money.Rounding", None),
        ("junit", "src/main/resources/META-INF/services/javax.annotation.processing.Processor", "test_configuration"),
        (
            "junit",
            "core/src/main/resources/META-INF/services/org.junit.platform.engine.TestEngine",
            "test_configuration",
        ),
        (
            "junit",
            "src/main/resources/META-INF/services/org.codehaus.groovy.transform.ASTTransformation",
            "test_configuration",
        ),
        ("junit", "src/main/resources/templates/pom.xml", None),
        ("junit", "core/pom.xml", "build_files"),
        ("junit", "build-logic/src/main/kotlin/Tests.kt", "build_files"),
        ("cargo test", "src/build.rs", None),
        ("cargo test", "src/commands/build.rs", None),
        ("cargo test", "build.rs", "build_files"),
        ("cargo test", "macros/build.rs", "build_files"),
    ],
)
def test_of_java_and_rust_what_builds_and_judges_is_dropped_and_code_of_like_names_is_kept(
    form, framework, path, reason
):
    assert reasons(form, path, framework=framework) == ([reason] if reason else [])


def test_where_the_repository_is_the_runner_its_own_new_modules_are_kept():
    assert reasons(NEW, "src/_pytest/runner.py", own_runner=True) == []
    assert reasons(NEW, "src/pluggy/runner.py", own_runner=True) == ["shadows_module"]


def test_a_new_module_of_a_library_that_pytest_may_need_is_kept_where_the_repository_is_that_library():
    installed = ("_pytest", "pytest", "pluggy", "iniconfig")
    assert reasons(NEW, "src/attr/_new.py", modules=installed) == []
    assert reasons(NEW, "src/pluggy/_new.py", modules=installed) == ["shadows_module"]
    assert reasons(NEW, "src/attr/_new.py") == ["shadows_module"]


def test_what_the_gold_patch_changes_is_allowed():
    assert reasons(EDIT, "setup.cfg", allowed_paths=("setup.cfg",)) == []


@pytest.mark.parametrize(
    "path", ["pkg/core/tests/test_mine.py", "pkg/core/tests/helpers.py", "pkg/core/tests/data/golden.json"]
)
def test_everything_beside_the_hidden_tests_is_left_out(path):
    assert reasons(NEW, path) == ["test_support"]


@pytest.mark.parametrize(
    ("hidden", "path", "kept"),
    [
        ("ropetest/refactor/x_test.py", "ropetest/testutils.py", False),
        ("unit_tests/test_x.py", "unit_tests/helpers.py", False),
        ("testing/test_x.py", "testing/helpers.py", False),
        ("webtest/tests/test_x.py", "webtest/app.py", True),
        ("pkg/testing/test_x.py", "pkg/testing/helpers.py", True),
        ("contest/tests.py", "contest/models.py", True),
        ("pkg/test_x.py", "pkg/helpers.py", True),
    ],
)
def test_a_folder_of_hidden_tests_that_is_called_otherwise_is_told_by_its_words(hidden, path, kept):
    dropped = screen(parse(NEW.format(path).encode()), (hidden,), TestSpec()).dropped
    assert [part.reason for part in dropped] == ([] if kept else ["test_support"])


def test_what_the_gold_patch_changes_is_allowed_in_tasks_that_do_not_list_it():
    @dataclass
    class Tests:
        test_patch: bytes = EDIT.format("ropetest/x_test.py").encode()
        test_files: tuple[str, ...] = ("ropetest/x_test.py",)

    gold = "".join(map(EDIT.format, ("rope/a.py", "ropetest/testutils.py", "ropetest/conftest.py")))
    assert allowed_by(gold.encode(), Tests(), TestSpec(allowed_paths=("b.py",))) == ("b.py", "ropetest/testutils.py")


def test_a_folder_for_tests_without_hidden_ones_is_kept():
    assert reasons(NEW, "elsewhere/tests/helpers.py") == []


@pytest.mark.parametrize(
    ("path", "kept"),
    [("suite/runtests.py", False), ("suite/random.py", False), ("runtests.py", True), ("pkg/a.py", True)],
)
def test_the_program_that_runs_the_tests_is_the_judges_and_so_is_what_lies_beside_it(path, kept):
    options = ("--chdir=suite", "--", "./runtests.py", "--tag", "x")
    form = NEW if path.endswith("random.py") else EDIT
    assert (reasons(form, path, options=options) == []) is kept


def test_a_program_that_the_fix_changes_may_be_changed():
    assert reasons(EDIT, "runtests.py", options=("--", "runtests.py"), allowed_paths=("runtests.py",)) == []


@pytest.mark.parametrize("options", [(), ("--",), ("--", "-m", "django", "test"), ("--doctest-modules",)])
def test_options_without_a_program_name_none(options):
    assert program_of(options) == ""


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (["a.py", "docs/c.md"], ""),
        (
            ["src/fast.c"],
            "the patch changes src/fast.c, and the task does not say how that is built, so it had no effect",
        ),
        (
            ["a.py", "b.pyx", "c.rs"],
            "the patch changes b.pyx and 1 more, and the task does not say how that is built",
        ),
    ],
)
def test_a_change_that_would_have_to_be_compiled_is_told_of(paths, told):
    found = caveat(parse("".join(EDIT.format(path) for path in paths).encode()), TestSpec())

    assert found.startswith(told)
    assert bool(found) == bool(told)


@pytest.mark.parametrize("path", ["cmake/Find.cmake", "CMakeLists.txt", "rust/Cargo.toml", ".cargo/config.toml"])
def test_how_modules_are_built_is_no_models_to_change(path):
    build = Build(argv=("x",), inputs=(), outputs=())
    assert reasons(EDIT, path) == []
    assert reasons(EDIT, path, build=build) == ["build_config"]


@pytest.mark.parametrize("path", ["a/khash.pxi.in", "a/loops.c.src", "a/table.inc", "a.cmake", "a/b.pyx"])
def test_templates_and_included_sources_are_inputs_of_a_build(path):
    build = build_of({"build": {"outputs": ["a.so"], "shadowed": [], "seconds": 1.0}}, "python")
    assert build is not None
    assert build.is_touched_by([path])


def new_file(path: str, size: int = 2) -> str:
    return f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{'x' * size}\n"


@pytest.mark.parametrize("fix", [EDIT.format("pkg/a.py"), NEW.format("pkg/zzz.py"), NEW.format("other/new.py")])
def test_a_fix_is_kept_beside_more_files_than_may_be(fix):
    heap = "".join(new_file(f"out/deep{n % 7}/{n}.txt") for n in range(MAX_FILES + 20))
    screened = screen(parse((heap + fix).encode()), HIDDEN, TestSpec())
    assert parse(fix.encode()).paths < screened.kept.paths
    assert len(screened.kept.files) == MAX_FILES
    assert {part.reason for part in screened.dropped} == {"too_many_files"}


def test_a_fix_is_kept_beside_files_that_are_too_large_together():
    heap = "".join(new_file(f"{n}.log", MAX_BYTES // 4) for n in range(6))
    screened = screen(parse((heap + EDIT.format("pkg/a.py")).encode()), HIDDEN, TestSpec())
    assert screened.kept.paths == {"0.log", "1.log", "2.log", "pkg/a.py"}
    assert [(part.path, part.reason) for part in screened.dropped] == [(f"{n}.log", "too_large") for n in (3, 4, 5)]


def test_what_is_left_out_does_not_count_for_the_limits():
    tests = "".join(new_file(f"pkg/core/tests/test_{n}.py") for n in range(MAX_FILES))
    edits = "".join(EDIT.format(f"pkg/{n}.py") for n in range(MAX_FILES))
    assert len(screen(parse((tests + edits).encode()), HIDDEN, TestSpec()).kept.files) == MAX_FILES


def test_a_long_list_of_what_was_left_out_ends_in_a_count():
    heap = "".join(new_file(f"out/{n}.txt") for n in range(3 * MAX_FILES))
    dropped = screen(parse(heap.encode()), HIDDEN, TestSpec()).dropped
    assert len(dropped) == MAX_FILES + 1
    assert dropped[-1].path == f"{MAX_FILES} more"


def test_links_and_large_files_are_in_the_list():
    link = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n"
    large = new_file("big.log", MAX_BYTES)
    screened = screen(parse((link + large + EDIT.format("pkg/a.py")).encode()), HIDDEN, TestSpec())
    assert screened.kept.paths == {"pkg/a.py"}
    assert [part.reason for part in screened.dropped] == ["symbolic_link", "too_large"]
