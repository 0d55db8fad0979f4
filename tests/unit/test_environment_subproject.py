"""Of several projects in a repository, the one that a change touches."""

from __future__ import annotations

import pytest

from miner.languages.python.detect import detect
from miner.languages.python.evidence.subproject import root_of
from tests.trees import Files

PROJECT = "[project]\nname='{}'\n[dependency-groups]\ntest=['pytest']\n"
MONOREPO = Files(
    {
        "libs/core/pyproject.toml": PROJECT.format("core"),
        "libs/core/src/core/a.py": "",
        "libs/core/dev-requirements.txt": "",
        "libs/core/tests/test_a.py": "import freezegun",
        "libs/web/setup.py": "setup(name='web')",
        "libs/web/web.py": "",
        "pyproject.toml": "[tool.ruff]\n",
        "docs/setup.py": "",
    }
)


def test_the_project_that_holds_all_touched_code_is_taken():
    assert root_of(MONOREPO, ["libs/core/src/core/a.py", "libs/core/tests/test_a.py", "README.md"]) == "libs/core"


def test_where_the_root_is_no_project_the_one_that_is_touched_most_counts():
    assert root_of(MONOREPO, ["libs/web/web.py", "libs/core/src/core/a.py", "libs/core/tests/test_a.py"]) == "libs/core"


@pytest.mark.parametrize(
    ("beside", "backend", "root"),
    [
        ({}, 'build-backend = "setuptools.build_meta"', "libs/core"),
        ({}, "", "libs/core"),
        ({}, 'build-backend = "maturin"', ""),
        ({"setup.py": ""}, "", ""),
        ({"setup.cfg": "[metadata]\n"}, "", ""),
        ({"setup.cfg": "[flake8]\n"}, "", "libs/core"),
    ],
)
def test_a_file_that_only_says_how_to_build_is_no_project_to_setuptools(beside, backend, root):
    text = f"[build-system]\nrequires = []\n{backend}\n"
    tree = Files({**MONOREPO.contents, **beside, "pyproject.toml": text})
    assert root_of(tree, ["libs/core/src/core/a.py", "tests/test_a.py"]) == root


def test_a_change_of_no_project_is_of_the_root():
    assert root_of(MONOREPO, ["scripts/a.py"]) == ""
    assert root_of(MONOREPO, []) == ""


def test_a_root_project_keeps_what_reaches_beyond_one_folder():
    tree = Files({**MONOREPO.contents, "pyproject.toml": PROJECT.format("all")})
    assert root_of(tree, ["a.py", "libs/core/src/core/a.py"]) == ""
    assert root_of(tree, ["libs/core/src/core/a.py"]) == "libs/core"


def test_projects_among_tests_and_documents_are_material():
    tree = Files({"setup.py": "", "tests/data/pkg/setup.py": "", "docs/conf/pyproject.toml": PROJECT.format("x")})
    assert root_of(tree, ["tests/data/pkg/a.py"]) == ""


def test_evidence_of_the_folder_is_told_from_the_root():
    found = detect(MONOREPO, ["libs/core/src/core/a.py"])
    first = found.recipes[0]
    assert (first.root, first.project) == ("libs/core", "libs/core/pyproject.toml")
    assert first.evidence.files == ("libs/core/dev-requirements.txt",)
    assert first.evidence.groups == ("test",)
    assert first.evidence.requirements == ("freezegun",)
    assert found.name == "core"


def siblings_of(root, tree):
    rungs = {word for recipe in detect(tree, [f"{root}/a.py"]).recipes for word in recipe.evidence.requirements}
    return sorted(word for word in rungs if " @ " in word)


def test_projects_of_the_same_repository_are_taken_from_it_and_so_is_what_they_need():
    tree = Files(
        {
            "api/setup.cfg": "[metadata]\nname = My.API\n",
            "sdk/setup.cfg": "[metadata]\nname = my-sdk\n[options]\ninstall_requires = my-api==0.9.dev0\n",
            "ext/setup.py": "setup(name='ext', install_requires=['my_sdk', 'x'], extras_require={'test': ['helper']})",
            "ext/a.py": "",
            "tests/util/setup.py": "setup(name='helper')",
            "docs/setup.py": "setup(name='unrelated')",
        }
    )
    assert siblings_of("ext", tree) == [
        "helper @ file:///testbed/tests/util",
        "my-api @ file:///testbed/api",
        "my-sdk @ file:///testbed/sdk",
    ]


def test_every_project_that_a_change_touches_is_there():
    tree = Files({"a/setup.py": "setup(name='a')", "b/setup.py": "setup(name='b')", "c/setup.py": "setup(name='c')"})
    tree = Files({**tree.contents, "examples/d/setup.py": "setup(name='d')"})
    recipe = detect(tree, ["a/a.py", "b/tests/data.json", "examples/d/d.txt"]).recipes[0]
    assert (recipe.root, recipe.evidence.requirements) == ("a", ("b @ file:///testbed/b",))


def test_a_project_is_no_sibling_of_its_own():
    tree = Files(
        {"a/setup.py": "setup(name='a', install_requires=['a[x]', 'requests'])", "b/setup.py": "setup(name='b')"}
    )
    assert siblings_of("a", tree) == []
