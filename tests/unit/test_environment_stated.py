"""What a repository's files say of how its tests are run, and how they are called for that."""

from __future__ import annotations

import pytest

from miner.languages.base import TestCommand
from miner.languages.python.declared_test_commands import commands, read
from miner.languages.python.test_command import test_commands as ways_of
from tests.trees import Files

RUNNER = "import django\nfrom django.test.runner import DiscoverRunner\nDiscoverRunner().run_tests(['app'])\n"
SUITE = "import unittest\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n        pass\n"
FOR_PYTEST = "def test_it():\n    pass\n"


def tox(command: str, *, more: str = "") -> dict[str, str]:
    return {"tox.ini": f"[testenv]\n{more}commands =\n    {command}\n"}


@pytest.mark.parametrize(
    ("command", "runner", "words"),
    [
        ("pytest {posargs}", "pytest", ()),
        ("py.test -q tests", "pytest", ("-q", "tests")),
        ("python -m pytest -x", "pytest", ("-x",)),
        ("{envpython} -m pytest", "pytest", ()),
        ("coverage run -m pytest tests", "pytest", ("tests",)),
        ("coverage run --source lib -a -m pytest", "pytest", ()),
        ("python -m coverage run -p -m pytest", "pytest", ()),
        ("poetry run pytest -v", "pytest", ("-v",)),
        ("uv run --group test pytest", "pytest", ()),
        ("hatch run pytest", "pytest", ()),
        ("xvfb-run -a pytest", "pytest", ()),
        ("{envbindir}/pytest", "pytest", ()),
        ("py39: pytest", "pytest", ()),
        ("python -m unittest discover -s tests", "unittest", ("discover", "-s", "tests")),
        ("coverage run -m unittest", "unittest", ()),
        ("nosetests --with-coverage", "nose", ("--with-coverage",)),
        ("python -m nose tests", "nose", ("tests",)),
        ("stestr run", "stestr", ("run",)),
        ("python -m testtools.run discover", "unittest", ("discover",)),
        ("trial tests", "trial", ("tests",)),
    ],
)
def test_a_command_is_read_through_what_stands_before_it(command, runner, words):
    (called,) = commands(Files(tox(command)))
    assert (called.runner, called.words) == (runner, words)


@pytest.mark.parametrize(
    "command", ["flake8 src", "python setup.py sdist", "pip install pytest", "python -c 'x'", "-m"]
)
def test_a_command_that_runs_no_tests_says_nothing(command):
    assert commands(Files(tox(command))) == ()


def test_the_interpreters_warning_filters_are_kept():
    called = read(("python", "-W", "error", "-Wignore::ResourceWarning", "-X", "dev", "-m", "pytest"), Files({}))
    assert called is not None
    assert called.warnings == ("error", "ignore::ResourceWarning")


@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({**tox("python runtests.py --failfast -v2"), "runtests.py": RUNNER}, ("--", "runtests.py")),
        ({**tox("coverage run -a runtests.py {posargs}"), "runtests.py": RUNNER}, ("--", "runtests.py")),
        (
            {**tox("python runtests.py --tag fast app.tests"), "runtests.py": RUNNER},
            ("--", "runtests.py", "--tag", "fast"),
        ),
        (
            {**tox("python runtests.py", more="changedir = tests\n"), "tests/runtests.py": RUNNER},
            ("--chdir=tests", "--", "runtests.py"),
        ),
        (
            {**tox("python -Werror runtests.py"), "runtests.py": RUNNER + "ALWAYS_INSTALLED_APPS = []\n"},
            ("-W", "error", "--labels", "--", "runtests.py"),
        ),
        ({"tests/runtests.py": RUNNER}, ("--", "tests/runtests.py")),
        (
            {**tox("django-admin test --settings=tests.settings --parallel 4 tests")},
            ("--", "-m", "django", "test", "--settings=tests.settings"),
        ),
        (
            {"setup.py": "setup(name='x', test_suite='runtests.run')", "Makefile": "test:\n\tpython setup.py test\n",
             "runtests.py": RUNNER},
            ("--", "runtests.py"),
        ),
        (
            {".travis.yml": "script:\n  - cd tests\n  - python manage.py test --keepdb\n",
             "tests/manage.py": "from django.core.management import execute_from_command_line\n"},
            ("--chdir=tests", "--", "manage.py", "test"),
        ),
    ],
)  # fmt: skip
def test_djangos_suites_are_run_by_the_repositorys_own_program(files, options):
    first, *_, last = ways_of(Files({**files, "tests/test_it.py": SUITE}), ["tests/test_it.py"])
    assert first == TestCommand(framework="django", options=options)
    assert last.framework == "pytest"


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("python -m unittest", ()),
        ("python -m unittest discover -s tests", ("--top=tests",)),
        ("python -m unittest discover tests", ("--top=tests",)),
        ("python -m unittest discover -s ./tests/unit/ -t tests", ("--top=tests",)),
        ("python -m unittest discover -s tests -t .", ()),
        ("python -W error -m unittest discover", ("-W", "error")),
        ("stestr run {posargs}", ("--top=lib",)),
        ("green", ()),
    ],
)
def test_suites_that_unittest_runs_are_run_by_unittest(command, options):
    files = {
        **tox(command),
        "tests/test_it.py": SUITE,
        ".stestr.conf": "[DEFAULT]\ntest_path=./lib/tests\ntop_dir=./lib\n",
    }
    first = ways_of(Files(files), ["tests/test_it.py"])[0]
    assert first == TestCommand(framework="unittest", options=options)


def test_a_way_without_pytest_says_how_many_tests_it_has_to_find():
    mixed = (
        SUITE
        + "class More(Mixin):\n    def test_a(self): ...\n    async def test_b(self): ...\n    def helper(self): ...\n"
    )
    ways = ways_of(Files({**tox("python -m unittest"), "t.py": mixed, "u.py": SUITE}), ["t.py", "u.py"])
    assert [way.expects for way in ways] == [4, 0]


@pytest.mark.parametrize(
    "source", [FOR_PYTEST, "class TestIt:\n    def test_it(self): ...\n", "import pytest\n" + SUITE]
)
def test_a_file_that_unittest_could_not_run_is_left_to_pytest(source):
    files = {**tox("python -m unittest"), "tests/test_it.py": source}
    assert [way.framework for way in ways_of(Files(files), ["tests/test_it.py"])] == ["pytest"]


@pytest.mark.parametrize(("command", "framework"), [("pytest", "pytest"), ("nosetests", "nose"), ("", "pytest")])
def test_pytest_comes_first_where_the_repository_speaks_of_it_or_of_nothing(command, framework):
    files = {**tox(command), "tests/test_it.py": SUITE}
    assert [way.framework for way in ways_of(Files(files), ["tests/test_it.py"])] == [framework, "unittest"]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("pytest --doctest-modules src tests -p no:warnings", ("--doctest-modules", "-p", "no:warnings")),
        ("pytest -x -q -n 4 --cov-fail-under=100 --maxfail=1 -p no:terminal --tb short -rA", ()),
        ("pytest -n auto --dist loadfile --reruns 3 --cov --cov-report xml --durations 5 -k 'not slow'", ()),
        ("python -m pytest -W error", ("-W", "error")),
        ("python -Werror -m pytest", ("-W", "error")),
        ("python -Wall -m pytest", ()),
        ("pytest -o xfail_strict=true -o cache_dir=x", ("-o", "xfail_strict=true")),
        ("pytest -m 'not slow'", ()),
        ("pytest --import-mode=importlib --runxfail", ("--import-mode=importlib", "--runxfail")),
        ("pytest -p tests.plugin -p other.plugin -p xdist", ("-p", "tests.plugin")),
        ("pytest -c tests/pytest.ini -c gone.ini", ("-c", "tests/pytest.ini")),
        ("pytest --doctest-glob '*.rst' docs", ("--doctest-glob", "*.rst")),
    ],
)
def test_of_a_commands_options_those_are_kept_that_change_what_a_test_means(command, options):
    files = {**tox(command), "tests/test_it.py": FOR_PYTEST, "tests/plugin.py": "", "tests/pytest.ini": "[pytest]\n"}
    assert ways_of(Files(files), ["tests/test_it.py"])[0] == TestCommand(framework="pytest", options=options)


def test_doctests_options_are_kept_of_every_command_and_others_of_the_first():
    files = tox("pytest tests\n    pytest --doctest-modules --runxfail src")
    assert ways_of(Files({**files, "t.py": FOR_PYTEST}), ["t.py"])[0].options == ("--doctest-modules",)


def test_an_option_that_pytests_settings_have_is_not_given_twice():
    files = {**tox("pytest --import-mode=append"), "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n"}
    assert ways_of(Files({**files, "t.py": FOR_PYTEST}), ["t.py"])[0].options == ("--import-mode=importlib",)


def test_noxs_session_for_tests_says_how_they_are_run():
    session = (
        "import nox\n@nox.session\ndef tests(session):\n    session.install('.', 'django')\n"
        "    session.run('python', '-Werror', 'runtests.py', *session.posargs)\n"
    )
    files = {"noxfile.py": session, "runtests.py": RUNNER, "tests/test_it.py": SUITE}
    first = ways_of(Files(files), ["tests/test_it.py"])[0]
    assert first == TestCommand(framework="django", options=("-W", "error", "--", "runtests.py"))


def test_what_nose_takes_for_tests_is_taken_where_nose_ran_them():
    named = ("-o", "python_functions=test* Test* *_test* *_Test*")
    assert ways_of(Files({**tox("nosetests"), "t.py": FOR_PYTEST}), ["t.py"]) == (
        TestCommand(framework="nose", options=named),
    )
    assert ways_of(Files({**tox("nosetests\n    pytest"), "t.py": FOR_PYTEST}), ["t.py"]) == (
        TestCommand(framework="pytest"),
    )


@pytest.mark.parametrize(
    ("body", "framework"),
    [
        ("def test_it():\n    yield check, 1\n", "nose"),
        ("class TestIt:\n    def test_it(self):\n        for n in range(3):\n            yield check, n\n", "nose"),
        ("@pytest.fixture\ndef test_client():\n    yield 1, 2\n", "pytest"),
        ("def test_it():\n    yield\n", "pytest"),
        ("def numbers():\n    yield 1, 2\n", "pytest"),
    ],
)
def test_tests_that_yield_others_are_run_as_nose_did(body, framework):
    assert ways_of(Files({"t.py": f"import pytest\n{body}"}), ["t.py"])[0].framework == framework


def test_the_project_that_the_tests_are_in_says_how_they_are_run():
    files = {
        "pyproject.toml": "[project]\nname = 'all'\n",
        **tox("pytest --runxfail"),
        "packages/one/setup.py": "setup(name='one')",
        "packages/one/tox.ini": "[testenv]\nchangedir = suite\ncommands = python runtests.py\n",
        "packages/one/suite/runtests.py": RUNNER,
        "packages/one/suite/test_it.py": SUITE,
        "packages/two/setup.py": "setup(name='two')",
        "packages/two/test_it.py": SUITE,
    }
    one, two = (
        ways_of(Files(files), [path])[0] for path in ("packages/one/suite/test_it.py", "packages/two/test_it.py")
    )
    assert one == TestCommand(framework="django", options=("--chdir=packages/one/suite", "--", "runtests.py"))
    assert two == TestCommand(framework="pytest", options=("--runxfail",))


def test_a_program_of_all_tests_runs_them():
    files = {**tox("python alltests.py", more="changedir = test\n"), "test/alltests.py": RUNNER.replace("django", "x")}
    way = ways_of(Files({**files, "test/test_it.py": SUITE}), ["test/test_it.py"])[0]
    assert way.options == ("--chdir=test", "--", "alltests.py")


def test_pytest_is_started_in_the_folder_that_the_project_starts_it_in():
    of_one = {"one/setup.py": "setup(name='one')", "one/tox.ini": "[testenv]\ncommands = pytest --runxfail\n"}
    first, *_, last = ways_of(Files({**of_one, "one/test_it.py": "def test_it(): pass"}), ["one/test_it.py"])
    assert first.options == ("--chdir=one", "--runxfail")
    assert last.options == ()
    at_root = tox("pytest", more="changedir = tests\n")
    assert ways_of(Files({**at_root, "tests/test_it.py": ""}), ["tests/test_it.py"])[0].options == ("--chdir=tests",)
    assert ways_of(Files({**at_root, "src/test_it.py": ""}), ["src/test_it.py"])[0].options == ()


@pytest.mark.parametrize("broken", ["[testenv\ncommands = pytest", "[testenv]\ncommands = 'pytest", "\x00"])
def test_a_broken_tox_ini_says_nothing(broken):
    assert commands(Files({"tox.ini": broken})) == ()
