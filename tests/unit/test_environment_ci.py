"""What CI files of each service say of tests; none of them is ever run."""

from __future__ import annotations

import pytest

from miner.languages.python.detect import detect
from miner.languages.python.evidence import declared_ci
from tests.trees import Files

GITHUB = """\
on: [push]
env: {TZ: UTC}
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - run: pip install flake8-docs && flake8
  test:
    runs-on: ${{ matrix.os }}
    services:
      postgres: {image: "postgres:13"}
    strategy:
      matrix:
        os: [ubuntu-latest, windows-latest]
        python-version: [3.9, "3.10", "3.13-dev", pypy3.9]
        include:
          - {python-version: 3.8, os: ubuntu-latest}
        exclude:
          - {python-version: 3.7}
    steps:
      - uses: actions/setup-python@v5
        with: {python-version: "${{ matrix.python-version }}"}
      - run: |
          sudo apt-get install -y libxml2-dev
          pip install -e .[test] -r ci/extra.txt -r gone.txt mock
      - run: choco install x
        if: runner.os == 'Windows'
      - run: pytest --cov
        env: {SETTING: one, API_TOKEN: x, FROM: "${{ secrets.A }}"}
"""
PROJECT = "[project]\nname='x'\n[project.optional-dependencies]\ntest=['pytest']\n"


def read(path, text, **more):
    tree = Files({path: text, "ci/extra.txt": "", "pyproject.toml": PROJECT, **more})
    return declared_ci.read(tree, tree)


def test_packages_that_a_matrix_names_are_installed():
    text = """\
jobs:
  test:
    strategy:
      matrix:
        python-version: ["3.12"]
        include:
          - {python-version: "3.12", binding: "PyQt6~=6.8.0 PyQt6-Qt6"}
          - {python-version: "3.12", binding: PySide6}
    steps:
      - run: |
          pip install mock ${{ matrix.binding }} numpy==${{ matrix.python-version }}
          tox -e ${{ matrix.binding }}
"""
    evidence = read(".github/workflows/test.yml", text).evidence
    assert evidence is not None
    assert evidence.requirements == ("mock", "PyQt6~=6.8.0", "PyQt6-Qt6")


def test_packages_that_a_variable_names_are_installed():
    text = """\
env: {MORE: attrs}
jobs:
  test:
    env: {DEPS: "mock .[test]", VERSION: "3.12", OTHERS: "${{ secrets.X }}"}
    steps:
      - run: pip install $DEPS ${MORE} numpy==$VERSION $VERSION $OTHERS $NOWHERE
      - run: pytest $MORE
"""
    evidence = read(".github/workflows/test.yml", text).evidence
    assert evidence is not None
    assert (evidence.requirements, evidence.extras) == (("mock", "attrs"), ("test",))


@pytest.mark.parametrize(
    ("default", "groups"),
    [("", ("dev",)), ('["dev", "tests", "docs", "gone"]', ("dev", "tests")), ("'all'", ("tests", "dev")), ("[]", None)],
)
def test_the_groups_that_uv_installs_unasked_are_installed(default, groups):
    listed = f"[tool.uv]\ndefault-groups = {default}\n" if default else ""
    project = f"[dependency-groups]\ntests = ['six']\ndev = ['mock']\ndocs = ['sphinx']\n{listed}"
    text = "jobs: {test: {steps: [{run: uv run pytest}]}}"
    evidence = read(".github/workflows/test.yml", text, **{"pyproject.toml": project}).evidence
    assert (evidence and evidence.groups) == groups


def test_github_actions():
    found = read(".github/workflows/test.yml", GITHUB)
    assert found.tested == ("3.10", "3.9", "3.8")
    assert found.apt == ("libxml2-dev",)
    assert found.services == ("postgres:13",)
    assert found.env == ("TZ=UTC", "SETTING=one")
    assert found.evidence is not None
    assert found.evidence.requirements == ("mock",)
    assert found.evidence.files == ("ci/extra.txt",)
    assert found.evidence.extras == ("test",)
    assert found.notes == (".github/workflows/test.yml names gone.txt, which is not there",)


def test_of_several_jobs_the_one_on_the_most_pythons_counts():
    job = (
        "    runs-on: ubuntu-latest\n    strategy: {{matrix: {{python: [{}]}}}}\n"
        "    steps: [{{run: pip install {}}}, {{run: tox}}]\n"
    )
    text = "jobs:\n  test-a:\n" + job.format("'3.9'", "mock") + "  test-b:\n" + job.format("'3.8', '3.9'", "six")
    found = read(".github/workflows/test.yml", text)
    assert found.evidence is not None
    assert found.evidence.requirements == ("six",)


def test_a_job_of_another_system_alone_says_nothing():
    text = "jobs:\n  test:\n    runs-on: macos-latest\n    steps: [{run: pip install mock}, {run: pytest}]\n"
    assert read(".github/workflows/test.yml", text) == declared_ci.Declared()


def test_gitlab():
    text = (
        "image: python:3.8\nservices: [redis]\n.base: {before_script: [pip install mock]}\n"
        "docs: {script: [make html]}\n"
        "tests:\n  extends: .base\n  script:\n    - pip install -r ci/extra.txt\n    - pytest\n"
    )
    found = read(".gitlab-ci.yml", text)
    assert (found.tested, found.services) == (("3.8",), ("redis",))
    assert found.evidence is not None
    assert (found.evidence.requirements, found.evidence.files) == (("mock",), ("ci/extra.txt",))


def test_travis():
    text = (
        "language: python\npython: [2.7, 3.5, '3.6']\nservices: [mysql]\naddons: {apt: {packages: [libgeos-dev]}}\n"
        "env: [DEPS=full]\nmatrix: {include: [{python: 3.7, env: TOXENV=py37}]}\n"
        "install: [pip install mock, travis_retry pip install six]\nscript: python setup.py test\n"
    )
    found = read(".travis.yml", text)
    assert found.tested == ("3.7", "3.6", "3.5")
    assert (found.apt, found.services, found.env) == (("libgeos-dev",), ("mysql",), ("DEPS=full",))
    assert found.evidence is not None
    assert found.evidence.requirements == ("mock", "six")


def test_circle():
    text = (
        "version: 2\njobs:\n  build:\n    docker: [{image: 'cimg/python:3.9.1'}, {image: 'postgres:9'}]\n"
        "    steps:\n      - checkout\n      - run: pip install mock\n      - run: {name: t, command: pytest tests}\n"
    )
    found = read(".circleci/config.yml", text)
    assert (found.tested, found.services) == (("3.9",), ("postgres:9",))
    assert found.evidence is not None
    assert found.evidence.requirements == ("mock",)


def test_azure():
    text = (
        "strategy: {matrix: {a: {python.version: '3.7'}, b: {python.version: '3.8'}}}\n"
        "steps:\n- task: UsePythonVersion@0\n  inputs: {versionSpec: $(python.version)}\n"
        "- script: |\n    pip install mock\n    pytest\n"
    )
    found = read("azure-pipelines.yml", text)
    assert found.tested == ("3.8", "3.7")
    assert found.evidence is not None
    assert found.evidence.requirements == ("mock",)


def test_appveyor():
    text = (
        "environment:\n  matrix:\n    - PYTHON: C:\\Python36-x64\n"
        "install: ['%PYTHON%\\python.exe -m pip install mock']\ntest_script: [tox -e py]\n"
    )
    assert read("appveyor.yml", text).tested == ("3.6",)


def test_a_service_of_today_goes_before_one_that_was_left():
    found = read(".github/workflows/test.yml", GITHUB, **{".travis.yml": "python: 3.5\nscript: pytest\n"})
    assert found.file == ".github/workflows/test.yml"


def test_a_service_that_runs_no_tests_gives_way_to_one_that_does():
    text = "jobs: {docs: {runs-on: ubuntu-latest, steps: [{run: make html}]}}"
    found = read(".github/workflows/docs.yml", text, **{".travis.yml": "python: 3.5\nscript: pytest\n"})
    assert (found.file, found.tested) == (".travis.yml", ("3.5",))


@pytest.mark.parametrize("path", [".github/workflows/a.yml", ".gitlab-ci.yml", ".circleci/config.yml", ".travis.yml"])
@pytest.mark.parametrize(
    "text",
    [
        "jobs: [a, b]",
        "jobs: {a: [1], b: text, c: {steps: text, strategy: [x], services: [y], env: z, runs-on: [q]}}",
        "- a\n- b\n",
        "just words",
        "",
        "jobs: {a: {steps: [{run: [pytest, {a: b}]}, text, [x], {with: y, env: [z], if: [w]}]}}",
        "script: {a: {b: pytest}}\nenv: {matrix: [{}]}\nservices: {a: {b: c}}\npython: {x: [{y: 3.9}]}",
        "tests: {script: pytest, extends: [[a], {b: c}, tests], services: 3, variables: [x]}",
        "jobs: {t: {docker: {a: b}, steps: [run, {run: {command: [x, y]}}]}}\nworkflows: [a]",
    ],
)
def test_a_file_of_any_other_form_is_no_obstacle(path, text):
    assert detect(Files({path: text, "pyproject.toml": PROJECT})).recipes[-1].rung == "pytest"


def test_a_file_that_cannot_be_read_is_noted():
    found = detect(Files({".travis.yml": "script: [pytest"}))
    assert found.notes[0].startswith(".travis.yml can't be read: ")


def test_an_empty_file_is_nothing():
    assert read(".travis.yml", b"") == declared_ci.Declared()
