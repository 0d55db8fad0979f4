"""What a repository's files say of Go: modules, versions, flags, and what decides which packages are compiled."""

from __future__ import annotations

from datetime import date

import pytest

from miner.languages.go import modules
from tests.trees import Files

DAY = date(2024, 3, 1)
CI = """\
jobs:
  test:
    strategy:
      matrix:
        go: ['1.20', "1.21"]
    steps:
      - uses: actions/setup-go@v5
        with: {python-version: 3.11}
"""


@pytest.mark.parametrize(
    ("files", "minors"),
    [
        ({"go.mod": "module a\n"}, (22,)),
        ({"go.mod": "module a\n\ngo 1.12\n"}, (22,)),
        ({"go.mod": "module a\n\ngo 1.12\n", ".github/workflows/ci.yml": CI}, (21, 22)),
        ({"go.mod": "module a\n\ngo 1.22.1\n", ".github/workflows/ci.yml": CI}, (22,)),
        ({"go.mod": "module a\n\ngo 1.21\n\ntoolchain go1.21.6\n", ".github/workflows/ci.yml": CI}, (21, 22)),
        ({"go.mod": "module a\n\ngo 1.23\n"}, (23,)),
        ({"go.mod": "module a\n", ".travis.yml": "language: go\ngo:\n  - 1.11.x\n  - 1.19.x\n  - tip\n"}, (19, 22)),
        ({"go.mod": "module a\n", ".travis.yml": "go:\n- 1.8\n- '1.11'\n"}, (18, 22)),
        ({"go.mod": "module a\n\ngo 1.99\n"}, ()),
        ({"go.mod": "module a\n", "vendor/b/go.mod": "module b\n\ngo 1.99\n"}, (22,)),
    ],
)
def test_go_is_what_the_repository_names_then_the_newest_of_the_day(files, minors):
    assert modules.minors(Files(files), DAY) == minors


def test_the_module_of_a_file_is_the_nearest_above_it():
    tree = Files({"go.mod": "", "tools/go.mod": "", "testdata/go.mod": "", "tools/x/a_test.go": ""})
    folders = modules.module_folders(tree)
    assert folders == ("", "tools")
    assert modules.module_of(folders, "tools/x/a_test.go") == "tools"
    assert modules.module_of(folders, "toolsmith/a_test.go") == ""
    assert modules.module_of(("tools",), "a_test.go") is None


@pytest.mark.parametrize(
    ("files", "flags"),
    [
        ({"go.mod": "go 1.20\n"}, "-mod=mod"),
        ({"go.mod": "go 1.20\n", "go.work": "go 1.20\n"}, ""),
        ({"go.mod": "go 1.20\n", "vendor/modules.txt": ""}, ""),
        ({"go.mod": "module a\n", "vendor/modules.txt": ""}, "-mod=vendor"),
    ],
)
def test_modules_come_from_where_the_repository_has_them(files, flags):
    assert modules.flags(Files(files)) == flags


def test_a_skeleton_has_manifests_and_imports_and_changes_with_nothing_else():
    head = '//go:build linux\n\npackage a\n\nimport "example.com/b"\n\n'
    files = {"go.mod": "module a\n", "a.go": head + "func F() {}\n", "README.md": "", "testdata/x.go": "package x\n"}
    first = dict(modules.skeleton(Files(files)))
    assert first == {"go.mod": b"module a\n", "a.go": head.rstrip("\n").encode() + b"\n"}
    assert dict(modules.skeleton(Files({**files, "a.go": "// Comment.\n" + head + "var x = 1\n"}))) == first


def test_of_a_fix_there_is_what_may_ask_for_other_modules_beside_what_the_tree_has():
    manifest, source = "module example.org/a\n\nrequire example.com/b v1.0.0\n", 'package a\n\nimport "example.com/b"\n'
    tree = Files({"go.mod": manifest, "a.go": source})
    same = {"a.go": source.encode() + b"\nvar x = 1\n", "a_test.go": b'package a\n\nimport "testing"\n'}
    assert modules.of_fix(tree, same) == {}
    later = manifest.replace("v1.0.0", "v1.1.0").encode()
    assert modules.of_fix(tree, {"go.mod": later, "README.md": b""}) == {"go.mod": later}
    more = {"in/b_test.go": b'package b\n\nimport "example.com/c/d"'}
    assert modules.of_fix(tree, more) == {"in/of_fix_b_test.go": more["in/b_test.go"]}
    old = modules.WithManifest(Files({"a.go": source}), "acme/a")
    assert modules.of_fix(old, {"go.mod": later} | more) == {"in/of_fix_b_test.go": more["in/b_test.go"]}


@pytest.mark.parametrize(
    ("files", "repo", "path"),
    [
        ({"a.go": 'package a\n\nimport "fmt"\n'}, "acme/a", "github.com/acme/a"),
        ({"x/main.go": 'package main\n\nimport "github.com/acme/a-go"\n'}, "acme/a.go", "github.com/acme/a-go"),
        ({"x.go": 'package a\n\nimport (\n\t"github.com/acme/b"\n)\n'}, "acme/a", "github.com/acme/a"),
        ({"x.go": 'package a\n\nimport "github.com/other/a"\n'}, "acme/a", "github.com/acme/a"),
        (
            {"x.go": 'package a\n\nimport (\n\t"github.com/acme/A/c"\n\t"github.com/acme/a/b"\n)\n'},
            "acme/a",
            "github.com/acme/a",
        ),
        ({"x_test.go": 'package a_test\n\nimport . "gopkg.in/yaml.v2/b"\n'}, "go-yaml/yaml", "gopkg.in/yaml.v2"),
        ({"x_test.go": 'package a_test\n\nimport . "gopkg.in/acme/a.v1"\n'}, "acme/a", "gopkg.in/acme/a.v1"),
        ({"x_test.go": 'package a_test\n\nimport . "gopkg.in/check.v1"\n'}, "acme/a", "github.com/acme/a"),
        ({"a.go": 'package a // import "acme.dev/a"\n'}, "acme/a", "acme.dev/a"),
        ({"b/b.go": 'package b // import "acme.dev/a/b"\n'}, "acme/a", "acme.dev/a"),
        ({"c/b.go": 'package b // import "acme.dev/a/b"\n'}, "acme/a", "github.com/acme/a"),
    ],
)
def test_a_tree_of_before_modules_is_called_as_its_own_sources_call_it(files, repo, path):
    tree = Files({name: text.encode() for name, text in files.items()})
    assert modules.WithManifest(tree, repo).manifest.splitlines()[0].decode() == f"module {path}"


def test_a_tree_of_before_modules_gets_one():
    tree = Files({"a.go": 'package a\n\nimport "fmt"\n\nfunc A() {}\n', "testdata/x.go": 'import "x.org/y"\n'})
    whole = modules.WithManifest(tree, "acme/a")
    assert modules.module_folders(whole) == ("",)
    assert modules.minors(whole, DAY) == (22,)
    assert ("go.mod", b"module github.com/acme/a\n\ngo 1.16\n") in list(modules.skeleton(whole))
