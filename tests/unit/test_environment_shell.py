"""Commands in CI files are split into words, and never run."""

from __future__ import annotations

import pytest

from miner.evidence import shell
from miner.evidence.shell import followed
from miner.languages.python.recipes import installs
from tests.trees import Files


def read(text):
    return installs.read(shell.commands(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pip install a && pytest", [("pip", "install", "a"), ("pytest",)]),
        ("A=1 B='x y' sudo -E apt-get update", [("apt-get", "update")]),
        ("pip install \\\n  a \\\n  b", [("pip", "install", "a", "b")]),
        ("echo x > out.txt 2>&1", [("echo", "x")]),
        ('pip install "a>=1" b>=2', [("pip", "install", "a>=1", "b>=2")]),
        ("if true; then tox; fi", [("true",), ("tox",), ("fi",)]),
        ("pip install ${{ matrix.deps }} a  # why", [("pip", "install", "$expression", "a")]),
        ("echo 'open\npytest", [("pytest",)]),
        ("", []),
    ],
)
def test_a_script_is_split_into_commands(text, expected):
    assert list(shell.commands(text)) == expected


def test_a_script_without_end_is_cut():
    assert len(list(shell.commands("a\n" * 100_000))) == 500


def test_pip_is_understood_in_its_forms():
    found = read(
        "python -m pip install -U pip wheel 'six>=1' -r reqs/test.txt -c limits.txt -e .[test,docs]\n"
        "pip3 install --requirement=dev.txt --index-url https://index.example/simple ./sub[extra] pkg.whl $NAME\n"
        "uv pip install mock\npip --quiet install --group ci\npip download nothing"
    )
    assert found.requirements == ["six>=1", "mock"]
    assert found.files == ["reqs/test.txt", "dev.txt"]
    assert found.constraints == ["limits.txt"]
    assert found.extras == ["test", "docs", "extra"]
    assert found.groups == ["ci"]


def test_project_managers_are_understood():
    found = read("poetry install --with dev,test -E 'a b'\nuv sync --group=ci --extra x\npdm install -G :tests")
    assert found.groups == ["dev", "test", "ci", "tests"]
    assert found.extras == ["a", "b", "x"]


def test_the_options_of_a_program_that_uv_runs_are_its_own():
    found = read("uv run --with six --with 'no requirement!' pytest --group nothing")
    assert (found.requirements, found.groups) == (["six"], [])


@pytest.mark.parametrize(
    ("command", "is_installed"),
    [
        ("uv sync", True),
        ("uv run --group ci pytest", True),
        ("uv sync --no-dev", False),
        ("uv sync --only-group=test", False),
        ("uv pip install x", False),
    ],
)
def test_uv_installs_default_groups_unless_it_is_told_not_to(command, is_installed):
    assert read(command).has_default_groups is is_installed


def test_debian_packages_are_told_from_what_every_machine_has():
    found = read("sudo apt-get install -y -qq python3-dev libpq-dev=1.2 graphviz git tox\napt-get update")
    assert found.apt == ["libpq-dev", "graphviz"]


def test_packages_of_conda_get_the_names_of_the_index():
    found = read("conda install -c conda-forge -n test python=3.9 numpy=1.20 pytorch 'dask-core>=2'")
    assert found.requirements == ["numpy==1.20.*", "torch", "dask>=2"]


def test_make_targets_and_scripts_are_followed():
    tree = Files(
        {
            "Makefile": "test: deps\n\t@pytest\ndeps:\n\t$(PIP) install -r dev.txt\nother:\n\tpip install no\n",
            "ci/install.sh": "#!/bin/sh\npip install mock\n",
        }
    )
    found = followed(tree, [("make", "test"), ("bash", "ci/install.sh")])
    assert ("pytest",) in found
    assert ("pip", "install", "no") not in found
    assert installs.read(found).files == ["dev.txt"]
    assert installs.read(found).requirements == ["mock"]


def test_scripts_that_call_each_other_end():
    tree = Files({"a.sh": "./a.sh\n./a.sh\n./a.sh\n./a.sh\n", "Makefile": "a: b\n\tmake a\nb: a\n\tmake b\n"})
    assert len(followed(tree, [("./a.sh",), ("make", "a")])) <= 1000
