"""Changes of which nothing runs: types, comments and layout, by language."""

from __future__ import annotations

import pytest

from miner.languages import LANGUAGES
from tests.trees import Files


class Commits:
    """Two commits of a repository, as texts by path."""

    def __init__(self, base: dict[str, str], head: dict[str, str]) -> None:
        self._commits = {"base": base, "head": {**base, **head}}

    def read_file(self, commit: str, path: str) -> bytes | None:
        text = self._commits[commit].get(path)
        return None if text is None else text.encode()

    def diff_sections(self, base: str, head: str) -> dict[str, bytes]:
        raise NotImplementedError


TYPED = "export interface A { a: string }\nexport type B = string;\nexport const c: B = 'x';\n"
PACKAGE = '{"devDependencies": {"%s": "1"}}'


@pytest.mark.parametrize(
    ("language", "base", "head", "never"),
    [
        ("typescript", {"a.ts": TYPED}, {"a.ts": TYPED.replace("string", "number")}, True),
        ("typescript", {"a.ts": TYPED}, {"a.ts": TYPED + "export type { D } from './d';\nexport type E = 1;\n"}, True),
        ("typescript", {"a.ts": TYPED}, {"a.ts": TYPED.replace("'x'", "'y'")}, False),
        ("typescript", {}, {"types.ts": "// types\nexport interface A {}\n"}, True),
        ("typescript", {}, {"more.ts": "export const a = 1;\n"}, False),
        ("typescript", {}, {"index.d.ts": "export const a: number;\n"}, True),
        ("typescript", {}, {"index.test-d.ts": "expectType<string>(a());\n"}, True),
        ("typescript", {"package.json": PACKAGE % "ts-jest"}, {"index.d.ts": ""}, False),
        ("typescript", {"packages/a/package.json": PACKAGE % "ts-jest"}, {"packages/a/src/index.d.ts": ""}, False),
        ("python", {"p/a.py": "", "p/a.pyi": ""}, {"p/a.pyi": "x: int\n"}, True),
        ("python", {"p/a.c": ""}, {"p/a.pyi": "x: int\n"}, True),
        ("python", {"p/a.py": ""}, {"p/a.pyi": "x: int\n", "p/a.py": "x = 1\n"}, False),
        ("python", {"a.py": "x = (1,2)  # two\n"}, {"a.py": "x = (1, 2)\n"}, True),
        ("python", {"a.py": "x: int = 1\n"}, {"a.py": "x: float = 1\n"}, False),
        ("python", {"a.py": "x = 1\n"}, {"a.py": "x = True\n"}, False),
        ("python", {"a.py": "f(1)\n"}, {"a.py": "f(1, 2)\n"}, False),
        ("python", {}, {"a.py": "x = 1\n"}, False),
        ("python", {"a.py": "x = 1\n", "b.toml": ""}, {"a.py": "x = 1 # 1\n", "b.toml": "b = 1"}, False),
        ("python", {"tool/typeshed/os.pyi": ""}, {"tool/typeshed/os.pyi": "x: int\n"}, False),
        ("java", {"A.java": "/** {@link B }. */\nclass A { }\n"}, {"A.java": "/** {@link B}. */\nclass A {}\n"}, True),
        ("java", {"A.java": "class A { int b = 1; }\n"}, {"A.java": "class A { int b = 2; }\n"}, False),
        ("java", {"A.java": "class A {}\n"}, {"A.java": "class A {} //\n", "pom.xml": "<project/>"}, False),
        ("java", {}, {"A.java": "class A {}\n"}, False),
        ("go", {"a.go": "package a\n// one\nvar b = 1\n"}, {"a.go": "package a\n\nvar  b = 1 // 1\n"}, True),
        ("go", {"a.go": "package a\nvar b = 1\n"}, {"a.go": "package a\nvar b = 2\n"}, False),
        ("go", {"a.go": "package a\n"}, {"a.go": "//go:build linux\npackage a\n"}, False),
        ("go", {"a_test.go": "package a\n// Output: 1\n"}, {"a_test.go": "package a\n// Output: 2\n"}, False),
        ("go", {"a.go": "package a\n"}, {"a.go": "package a // a\n", "go.mod": "module a\n"}, False),
        ("rust", {"a.rs": "/// One.\nfn a() {}\n"}, {"a.rs": "/// Two.\nfn  a() {}\n"}, True),
        ("rust", {"a.rs": "fn a() { b(1) }\n"}, {"a.rs": "fn a() { b(2) }\n"}, False),
        ("rust", {"a.rs": "#[derive(Args)]\nstruct A;\n"}, {"a.rs": "/// A\n#[derive(Args)]\nstruct A;\n"}, False),
        ("kotlin", {"A.kt": "class A\n"}, {"A.kt": "class A // A\n"}, False),
        ("python", {"p/a.py": "", "tox.ini": "deps = pytest-mypy-plugins"}, {"p/a.pyi": ""}, False),
    ],
)
def test_types_alone_run_nowhere_but_where_something_reads_them(language, base, head, never):
    assert LANGUAGES[language].never_runs(Commits(base, head), "base", "head", list(head)) is never


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"test_a.py": "def test_a():\n    print 'a'\n"}, "print 'a'"),
        ({"test_a.py": "try:\n    a()\nexcept StandardError, e:\n    pass\n"}, "except StandardError, e:"),
        ({"test_a.py": "assert 1 <> 2\n"}, "assert 1 <> 2"),
        ({"test_a.py": "assert oct(8) == 010\n"}, "assert oct(8) == 010"),
        ({"test_a.py": "from itertools import izip, repeat\n"}, "from itertools import izip, repeat"),
        ({"test_a.py": "import urllib2\n"}, "import urllib2"),
        ({"test_a.py": "", "setup.py": "print 'old'\n"}, "print 'old'"),
        ({"test_a.py": "", "a.py": "print 'old'\n", "b.py": "raise A, 'b'\n"}, "print 'old'"),
        ({"test_a.py": "", "a.py": "print 'old'\n", "b.py": ""}, ""),
        ({"test_a.py": "try:\n    import urllib2\nexcept ImportError:\n    import urllib.request\n"}, ""),
        ({"test_a.py": "async = 1\n"}, ""),
        ({"test_a.py": 'assert f"`{d["a"]}` 01" == b\n'}, ""),
        ({"test_a.py": "x = f(\n"}, ""),
        ({"test_a.py": "print 1\n", "test_b.py": "x = 1\n"}, ""),
    ],
)
def test_what_only_python_2_reads_is_run_in_no_image(files, named):
    tests = [path for path in files if path.startswith("test_")]
    code = [path for path in files if path not in (*tests, "setup.py")]
    told = LANGUAGES["python"].untestable(Files(files), tests, code)
    assert told == (None if not named else ("language_unsupported", told[1]))
    assert told is None or told[1].endswith(named)


@pytest.mark.parametrize(
    ("build_file", "reason"),
    [("pom.xml", ""), ("a/build.gradle.kts", ""), ("build.sbt", "no_build_file"), ("b/pom.xml", "no_build_file")],
)
def test_what_neither_maven_nor_gradle_builds_is_no_candidate(build_file, reason):
    test = "a/src/test/java/ATest.java"
    refused = LANGUAGES["java"].untestable(Files({build_file: "<project/>", test: ""}), [test], [])
    assert (refused or ("", ""))[0] == reason
