"""What hatch, pdm, uv, flit, nox and conda say the tests need."""

from __future__ import annotations

import json

import pytest

from miner.languages.python.detect import FURTHER, PLAINEST, detect
from miner.languages.python.evidence import conda, locks, nox, tools
from tests.trees import Files


def project(text):
    return Files({"pyproject.toml": text})


def test_hatch_reads_the_test_environment_and_the_one_it_builds_on():
    found = tools.hatch(
        project(
            "[tool.hatch.envs.default]\ndependencies=['six']\n"
            "[tool.hatch.envs.test]\ndependencies=['mock', '{env:X}']\nfeatures=['cli']\n"
        )
    )
    assert found is not None
    assert (found.rung, found.requirements, found.extras) == ("hatch:test", ("mock", "six"), ("cli",))


def test_hatch_reads_its_own_file_as_well():
    found = tools.hatch(Files({"hatch.toml": "[envs.default]\ndependencies=['mock']\n"}))
    assert found is not None
    assert found.requirements == ("mock",)


def test_environments_of_hatch_that_build_on_each_other_end():
    text = "[tool.hatch.envs.test]\ntemplate='dev'\ndependencies=['a']\n[tool.hatch.envs.dev]\ntemplate='test'\n"
    found = tools.hatch(project(text))
    assert found is not None
    assert found.requirements == ("a",)


def test_pdm_and_uv_have_development_dependencies_of_their_own():
    pdm = tools.pdm(project("[tool.pdm.dev-dependencies]\nlint=['ruff']\ntest=['mock', '-e file:///x']\n"))
    uv = tools.uv(project("[tool.uv]\ndev-dependencies=['six']\n"))
    assert pdm is not None
    assert (pdm.rung, pdm.requirements) == ("pdm:test", ("mock",))
    assert uv is not None
    assert uv.requirements == ("six",)


def test_a_project_of_flits_old_table_is_a_project():
    text = "[tool.flit.metadata]\nmodule='x'\nrequires-python='>=3.6'\n"
    text += "[tool.flit.metadata.requires-extra]\ntest=['mock']\n"
    found = detect(project(text))
    assert found.recipes[0].evidence.extras == ("test",)
    assert (found.recipes[0].project, found.name, found.requires_python) == ("pyproject.toml", "x", ">=3.6")


def test_nox_is_parsed_and_never_run():
    source = (
        "raise SystemExit\nimport nox\nDEPS = ['mock', 'six']\n"
        "def helper(session):\n    session.install('-r', 'dev.txt', *DEPS)\n"
        "@nox.session\ndef lint(session):\n    session.install('flake8-docs')\n"
        "@nox.session(python=['3.9'])\ndef tests(session):\n    helper(session)\n"
        "    session.install('.[test]', f'x{1}')\n"
        "    session.run('uv', 'sync', '--extra', 'cli')\n"
    )
    found = nox.detect(Files({"noxfile.py": source, "dev.txt": ""}))
    assert found is not None
    assert (found.rung, found.requirements, found.files) == ("nox:tests", ("mock", "six"), ("dev.txt",))
    assert set(found.extras) == {"test", "cli"}


@pytest.mark.parametrize("source", ["def (", "\x00", "x = 1", "@nox.session\ndef tests(s): tests(s)", "(" * 10_000])
def test_a_noxfile_that_says_nothing_is_no_evidence(source):
    assert nox.detect(Files({"noxfile.py": source})) is None


ENVIRONMENT = """\
name: x
channels: [conda-forge]
dependencies:
  - python=3.9
  - numpy=1.20
  - conda-forge::pytorch>=1.8
  - scipy=1.5=py38_0
  - libgdal
  - pip
  - pip: [mock, "-e .", six>=1]
"""


def test_conda_environments_have_a_pip_part_and_names_of_their_own():
    found = conda.detect(Files({"environment.yml": ENVIRONMENT}))
    assert found is not None
    assert found.requirements == ("numpy==1.20.*", "torch>=1.8", "scipy==1.5.*", "mock", "six>=1")


def test_the_plainest_of_several_conda_environments_is_taken():
    names = ("environment-no-optional-deps", "environment", "environment-all-min-deps", "upstream-dev-env", "doc")
    found = conda.detect(Files({f"ci/{name}.yml": ENVIRONMENT for name in names}))
    assert found is not None
    assert found.rung == "conda:ci/environment.yml"


def test_conda_is_the_last_but_one_where_other_files_speak():
    named = [one.rung for one in detect(Files({"environment.yml": ENVIRONMENT, "dev-requirements.txt": "a"})).recipes]
    assert named[-2:] == ["conda:environment.yml", "pytest"]
    assert named[0] == "requirements:dev-requirements.txt"


@pytest.mark.parametrize(
    ("step", "first"),
    [
        ({"uses": "mamba-org/setup-micromamba@v2", "with": {"environment-file": "${{ env.FILE }}"}}, True),
        ({"run": "conda env create -f environment.yml"}, True),
        ({"run": "pip install ."}, False),
    ],
)
def test_conda_counts_from_the_start_where_ci_is_set_up_with_it(step, first):
    workflow = {"jobs": {"test": {"steps": [step, {"run": "pytest"}]}}}
    files = {
        "environment.yml": ENVIRONMENT,
        "dev-requirements.txt": "a",
        ".github/workflows/ci.yml": json.dumps(workflow),
    }
    assert ("conda:environment.yml" in detect(Files(files)).recipes[0].rung) is first


@pytest.mark.parametrize(
    "text", ["", "[", "dependencies: text", "dependencies: {a: b}", "- a", "dependencies: [[a], {pip: 3}]"]
)
def test_an_environment_of_another_form_is_no_evidence(text):
    found = detect(Files({"environment.yml": text}))
    assert found.recipes[-1].rung == "pytest"


WRONG = ("3", "'text'", "[1, [2]]", "{a = 1}", "[{a = 'b'}]", "true", "2020-01-01")
PLACES = (
    "project",
    "dependency-groups",
    "dependency-groups.test",
    "project.optional-dependencies",
    "project.requires-python",
    "project.classifiers",
    "tool",
    "tool.tox.env_run_base.deps",
    "tool.tox.legacy_tox_ini",
    "tool.tox.env_run_base.set_env",
    "tool.tox.env_run_base.set_env.MODE",
    "tool.poetry.group.test.dependencies",
    "tool.poetry.dev-dependencies.mock",
    "tool.poetry.dependencies.python",
    "tool.hatch.envs",
    "tool.hatch.envs.test",
    "tool.hatch.envs.test.dependencies",
    "tool.hatch.envs.test.template",
    "tool.pdm.dev-dependencies",
    "tool.pdm.dev-dependencies.test",
    "tool.uv.dev-dependencies",
    "tool.flit.metadata",
    "tool.flit.metadata.requires-extra",
    "tool.pytest.ini_options",
    "tool.pytest.ini_options.DJANGO_SETTINGS_MODULE",
)


@pytest.mark.parametrize("place", PLACES)
def test_a_value_of_the_wrong_type_is_no_obstacle(place):
    for value in WRONG:
        assert detect(project(f"{place} = {value}\n")).recipes[-1].rung in {"pytest", "group:test"}, value


def test_every_kind_says_nothing_of_an_empty_tree():
    detectors = (locks.detect, *PLAINEST, *FURTHER, conda.detect)
    assert [detector(Files()) for detector in detectors] == [None] * len(detectors)
