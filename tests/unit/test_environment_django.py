"""Django projects run under pytest-django with the settings that their own runner uses."""

from __future__ import annotations

import pytest

from miner.languages.python.detect import detect
from miner.languages.python.test_command import options_of, usable
from tests.trees import Files

SETTINGS = {"tests/settings.py": ""}


@pytest.mark.parametrize(
    "named",
    [
        {"manage.py": "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'tests.settings')\n"},
        {"runtests.py": "import os\nos.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n"},
        {"tests/manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'settings')\n"},
        {"tox.ini": "[testenv]\nsetenv = DJANGO_SETTINGS_MODULE=tests.settings\n"},
        {"tox.ini": "[testenv]\ncommands = django-admin test --settings=tests.settings\n"},
        {"Makefile": "test:\n\tpython -m django test --settings tests.settings\n"},
    ],
)
def test_settings_are_found_where_the_project_names_them(named):
    tree = Files({**SETTINGS, **named})
    assert {"pytest-django", "django"} <= set(detect(tree).recipes[0].evidence.requirements)
    assert options_of(tree)[-1] in {"--ds=tests.settings", "--ds=settings"}


def test_settings_that_are_not_there_are_not_named():
    tree = Files({"manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site.settings')\n"})
    assert options_of(tree) == ()
    assert [one.rung for one in detect(tree).recipes] == ["pytest"]


def test_settings_in_pytests_own_options_are_kept_as_they_are():
    tree = Files({**SETTINGS, "pytest.ini": "[pytest]\naddopts = --ds=other\n", "manage.py": ""})
    assert options_of(tree) == ("--ds=other",)


@pytest.mark.parametrize(
    "source", ["(", "\x00", "os.environ['DJANGO_SETTINGS_MODULE'] = 3", "f('DJANGO_SETTINGS_MODULE', x)"]
)
def test_a_manage_py_that_says_nothing_is_no_obstacle(source):
    assert options_of(Files({"manage.py": source})) == ()


def test_options_of_plugins_that_are_not_there_are_left_out():
    options = ("--ds=a.b", "--timeout", "60", "--asyncio-mode=auto", "-m", "not slow", "--doctest-modules")
    assert usable(options, ()) == ("-m", "not slow", "--doctest-modules")
    assert usable(options, ("timeout", "asyncio")) == options[1:]
    assert usable(options, ("django",)) == ("--ds=a.b", *options[4:])
