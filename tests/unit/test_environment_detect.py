from dataclasses import dataclass, field

import pytest

from miner.evidence.tree import Evidence
from miner.languages.python.detect import detect
from miner.languages.python.evidence.metadata import caret_to_specifier
from miner.languages.python.recipes.extensions import made_by_cython


@dataclass
class Files:
    contents: dict[str, str] = field(default_factory=dict)

    def read(self, path):
        return self.contents[path].encode() if path in self.contents else None

    def files(self):
        return tuple(sorted(self.contents))


def rungs(**contents):
    return [recipe.rung for recipe in detect(tree(**contents)).recipes]


def tree(**contents):
    return Files(
        {name.replace("__", "/").replace("_dot_", ".").replace("_dash_", "-"): text for name, text in contents.items()}
    )


def recipe(contents, number=0):
    return detect(Files(contents)).recipes[number]


def test_a_tree_without_any_evidence_gets_pytest_and_no_project():
    found = detect(Files({"a.py": ""}))
    assert [(one.rung, one.project) for one in found.recipes] == [("pytest", None)]


def test_a_test_group_is_preferred_to_a_dev_group():
    first = recipe({"pyproject.toml": "[project]\nname='x'\n[dependency-groups]\ndev=['ruff']\ntests=['pytest']\n"})
    assert first.evidence.groups == ("tests",)


def test_a_dev_group_is_taken_where_there_is_none_for_tests():
    first = recipe({"pyproject.toml": "[project]\nname='x'\n[dependency-groups]\ndev=['pytest']\n"})
    assert first.evidence.groups == ("dev",)


def test_the_richest_rung_holds_all_evidence_and_the_last_is_plain_pytest():
    names = rungs(
        pyproject_dot_toml="[project]\nname='x'\n[project.optional-dependencies]\ntest=['pytest']\n",
        requirements_dash_dev_dot_txt="pytest\n",
    )
    assert names == [
        "extra:test+requirements:requirements-dev.txt",
        "extra:test",
        "requirements:requirements-dev.txt",
        "pytest",
    ]


def test_extras_of_setup_py_are_read_without_running_it():
    text = "raise SystemExit\nEXTRA = {'testing': ['mock']}\nsetup(name='x', extras_require=EXTRA)\n"
    assert recipe({"setup.py": text}).evidence.extras == ("testing",)


def test_extras_whose_requirements_are_computed_still_count_by_name():
    text = "from setuptools import setup\nsetup(extras_require={'test': open('x').read().split()})\n"
    assert recipe({"setup.py": text}).evidence.extras == ("test",)


def test_a_setup_py_of_python_2_is_no_obstacle():
    found = detect(Files({"setup.py": "print 'hello'\n"}))
    assert found.recipes[0].project == "setup.py"


def test_tests_require_becomes_requirements():
    first = recipe(
        {"setup.cfg": "[metadata]\nname = x\n[options]\ntests_require =\n    mock  # for old Pythons\n    nose\n"}
    )
    assert first.evidence.requirements == ("mock", "nose")


def test_tox_deps_bound_to_a_factor_are_left_out():
    deps = ("pytest", "py27: mock", "-r{toxinidir}/requirements/tests.txt", "-c limits.txt", "{env:X}")
    ini = "[testenv]\ndeps =\n" + "".join(f"    {line}\n" for line in deps)
    first = recipe({"tox.ini": ini, "requirements/tests.txt": "", "limits.txt": ""})
    assert (first.evidence.requirements, first.evidence.files, first.evidence.constraints) == (
        ("pytest",),
        ("requirements/tests.txt",),
        ("limits.txt",),
    )


@pytest.mark.parametrize(
    "line", [".[test, fast]", "-e .[test,fast]", "-e{toxinidir}[test,fast]", "{tox_root}/[test,fast]"]
)
def test_extras_of_the_project_that_tox_has_among_deps_are_installed(line):
    assert recipe({"tox.ini": f"[testenv]\ndeps =\n    {line}\n    pytest\n"}).evidence.extras == ("test", "fast")


@pytest.mark.parametrize(
    ("values", "requirements"),
    [
        ("[base]\ndeps =\n    pytest\n    {[more]deps}\n[more]\ndeps = mock", ("pytest", "mock", "attrs")),
        ("[base]\n", ("attrs",)),
        ("[base]\ndeps = {[base]deps}{[base]deps}{[base]deps}{[base]deps}", ("attrs",)),
    ],
)
def test_values_of_tox_that_refer_to_others_are_read_with_these(values, requirements):
    ini = f"{values}\n[testenv]\ndeps =\n    {{[base]deps}}\n    attrs\n"
    assert recipe({"tox.ini": ini}).evidence.requirements == requirements


def test_tox_in_pyproject_is_read_as_well():
    text = "[project]\nname='x'\n[tool.tox.env_run_base]\ndeps=['pytest', 'mock']\n"
    assert recipe({"pyproject.toml": text}).evidence == Evidence(rung="tox", requirements=("pytest", "mock"))


def test_a_compiled_requirements_file_falls_back_on_its_source():
    names = rungs(requirements__tests_dot_txt="pytest==1", requirements__tests_dot_in="pytest")
    assert names == ["requirements:requirements/tests.txt", "requirements:requirements/tests.in", "pytest"]


def test_a_project_that_cannot_be_installed_needs_its_requirements_file():
    found = recipe({"requirements.txt": "six\n", "a.py": ""})
    assert (found.project, found.evidence.files) == (None, ("requirements.txt",))


def test_test_helpers_are_known_by_import_and_by_fixture():
    text = "from freezegun import freeze_time\nimport helpers\ndef test_a(mocker): ...\n"
    found = recipe({"tests/test_a.py": text, "tests/helpers.py": ""})
    assert found.evidence.requirements == ("freezegun", "pytest-mock")


def test_a_module_of_the_repository_itself_is_no_requirement():
    assert rungs(six_dot_py="", test_six_dot_py="import six\n") == ["pytest"]


def test_poetry_groups_become_requirements():
    text = (
        "[tool.poetry]\nname='x'\n[tool.poetry.dependencies]\npython='^3.7'\n"
        "[tool.poetry.dev-dependencies]\npytest='^6.2'\ntomli={version='*', python='<3.11'}\nlocal={path='.'}\n"
    )
    found = detect(Files({"pyproject.toml": text}))
    assert found.recipes[0].evidence.requirements == ("pytest<7,>=6.2", 'tomli; python_version < "3.11"')
    assert found.requires_python == ">=3.7,<4"


@pytest.mark.parametrize(
    ("constraint", "specifier"),
    [
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^3.7", ">=3.7,<4"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("*", ""),
        ("1.2.*", "==1.2.*"),
        ("1.2", "==1.2"),
        (">=1.2, <2", ">=1.2,<2"),
        (">=1.2 <2", ">=1.2,<2"),
        (">= 3.6", ">=3.6"),
        ("~=1.2", "~=1.2"),
        ("^2.0 || ^3.0", ">=2.0,<3"),
    ],
)
def test_constraints_of_poetry_become_specifiers(constraint, specifier):
    assert caret_to_specifier(constraint) == specifier


def test_broken_files_are_no_evidence():
    assert rungs(pyproject_dot_toml="[project", tox_dot_ini="testenv", setup_dot_cfg="\x00") == ["pytest"]


def test_toml_is_read_behind_a_byte_order_mark_and_too_deep_a_document_is_none():
    text = "\ufeff[project]\nname='x'\n[dependency-groups]\ntests=['six']\n"
    assert recipe({"pyproject.toml": text}).evidence == recipe({"pyproject.toml": text[1:]}).evidence
    assert rungs(pyproject_dot_toml="a = " + "[" * 5000) == ["pytest"]


def test_sources_that_setup_names_and_the_tree_lacks_are_cythons_to_make():
    files = {"setup.py": "Extension('a', ['a/_a.c', 'a/other.c'])", "a/_a.pyx": "", "a/b.pyx": "", "a/other.c": ""}
    assert made_by_cython(Files(files), "") == ("a/_a.c",)
    assert made_by_cython(Files({**files, "a/_a.c": ""}), "") == ()
    assert "cython" in recipe(files).evidence.requirements


def test_a_rust_extension_needs_rust_from_the_start():
    backend = '[build-system]\nrequires = ["maturin>=1"]\nbuild-backend = "maturin"\n'
    assert recipe({"pyproject.toml": backend, "Cargo.toml": ""}).apt == ("cargo-web|cargo",)
    assert recipe({"pyproject.toml": backend}).apt == ()


def test_arguments_of_setup_are_read_from_the_names_that_hold_them():
    setup = (
        "uvloop = 'uvloop' + marker\nNEEDS = ['six', uvloop]\n"
        "about = {'name': 'x', 'python_requires': '>=3.10', 'long_description': open('x').read()}\n"
        "about['extras_require'] = {'test': NEEDS}\nsetup(**about)\n"
    )
    found = detect(Files({"setup.py": setup}))
    assert found.requires_python == ">=3.10"
    assert found.recipes[0].rung == "extra:test"


def test_classifiers_name_minor_versions():
    trove = [f"Programming Language :: Python :: {version}" for version in ("3", "3.9")]
    text = f"[project]\nname='x'\nclassifiers={trove}\n"
    assert detect(Files({"pyproject.toml": text})).classifiers == ("3.9",)


def test_a_project_that_cannot_be_built_needs_what_is_written_down():
    setup = "EXTRA = {'test': ['mock']}\nsetup(name='x', install_requires=['six', f'{1}'], extras_require=EXTRA)\n"
    found = detect(Files({"setup.py": setup, "requirements.txt": "", "tox.ini": "[testenv]\ndeps = attrs\n"})).unbuilt
    assert found is not None
    assert (found.project, found.rung) == (None, "unbuilt")
    assert found.evidence.requirements == ("six", "mock", "attrs")
    assert (found.evidence.extras, found.evidence.files) == ((), ("requirements.txt",))


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": "[project]\nname='x'\ndependencies=['six']\n"},
        {"pyproject.toml": "[tool.poetry]\nname='x'\n[tool.poetry.dependencies]\npython='*'\nsix='*'\n"},
        {"pyproject.toml": "[tool.flit.metadata]\nmodule='x'\nrequires=['six']\n"},
        {"setup.cfg": "[metadata]\nname=x\n[options]\ninstall_requires=\n  six\n"},
        {"setup.py": "from setuptools import setup\nsetup(install_requires=['six'])\n"},
    ],
)
def test_what_a_project_needs_is_read_wherever_it_is_written_down(files):
    found = detect(Files(files)).unbuilt
    assert found is not None
    assert found.evidence.requirements == ("six",)


def test_variables_that_tox_sets_for_tests_are_kept_where_they_are_literal():
    ini = (
        "[testenv]\nsetenv =\n    DJANGO_SETTINGS_MODULE = tests.settings\n    MODE=fast  # why\n"
        "    PYTHONPATH = {toxinidir}\n    PYTHONHASHSEED=1\n    COVERAGE_FILE=x\n    FROM={env:X}\n    lower=1\n"
        "    PATH=/tmp\n    TZ=Asia/Tokyo\n    py27: OLD=1\n"
    )
    found = recipe({"tox.ini": ini}).env
    assert found == {"DJANGO_SETTINGS_MODULE": "tests.settings", "MODE": "fast"}


def test_variables_of_tox_in_pyproject_are_kept_as_well():
    text = "[tool.tox.env_run_base]\nset_env = {MODE = 'fast', N = 3, PIP_INDEX_URL = 'x'}\n"
    assert recipe({"pyproject.toml": text}).env == {"MODE": "fast"}


def test_no_file_is_read_twice_and_none_that_is_not_there():
    asked = []

    class Watched(Files):
        def read(self, path):
            asked.append(path)
            return super().read(path)

    detect(Watched({"pyproject.toml": "[project]\nname='x'\n", "tox.ini": "[testenv]\ndeps=a\n", "test_a.py": ""}))
    assert sorted(asked) == ["pyproject.toml", "test_a.py", "tox.ini"]


@pytest.mark.parametrize(
    ("python", "wanted"), [("~2.7 || ^3.5", ">=3.5,<4"), ("^3.6|~2.7", ">=3.6,<4"), ("^3.8", ">=3.8,<4"), ("*", None)]
)
def test_of_alternative_pythons_the_one_that_can_be_had_counts(python, wanted):
    text = f"[tool.poetry]\nname='x'\n[tool.poetry.dependencies]\npython='{python}'\n"
    assert detect(Files({"pyproject.toml": text})).requires_python == wanted


@pytest.mark.parametrize(
    ("files", "draws"),
    [
        ({"requirements.txt": "numpy\npyqt6>=6.5\n"}, True),
        ({"pyproject.toml": "[project]\nname = 'a'\ndependencies = ['PySide6']\n"}, True),
        ({"tox.ini": "[testenv]\ndeps = pytest\n    PyQt5==5.15\n"}, True),
        ({"pyproject.toml": "[project]\nname = 'a'\ndependencies = ['pyqt6.helpers']\n"}, False),
    ],
)
def test_what_draws_with_qt_has_its_libraries_and_no_screen(files, draws):
    recipe = detect(Files(files)).recipes[0]
    assert ("libegl1" in recipe.apt, recipe.env.get("QT_QPA_PLATFORM") == "offscreen") == (draws, draws)


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        ('pytest_plugins = ("anyio",)', ("anyio",)),
        ('pytest_plugins = [\n    "pytester",\n    "celery.contrib.pytest",\n    "tests.own",\n]', ("celery",)),
        ('pytest_plugins: str = "pytest_asyncio"', ("pytest-asyncio",)),
    ],
)
def test_plugins_that_tests_name_are_installed(text, requirements):
    assert recipe({"tests/conftest.py": f"import os\n{text}\n"}).evidence.requirements == requirements
