"""Which pytest options of a repository are kept, and from which file."""

from __future__ import annotations

import pytest

from miner.languages.python.test_command import options_of, pytest_options
from miner.languages.python.test_command import test_commands as ways_of
from tests.trees import Files

DOCTEST = ("--doctest-modules",)


@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({}, ()),
        ({"pytest.ini": b"[pytest]\naddopts = -q\n  --doctest-modules\n"}, DOCTEST),
        ({"pytest.ini": b"[pytest]\n", "setup.cfg": b"[tool:pytest]\naddopts = --doctest-modules"}, ()),
        ({"pyproject.toml": b'[tool.pytest.ini_options]\naddopts = "--doctest-modules"'}, DOCTEST),
        ({"pyproject.toml": b'[tool.pytest.ini_options]\naddopts = ["-q", "--doctest-modules"]'}, DOCTEST),
        ({"pyproject.toml": b"[tool]\n", "tox.ini": b"[pytest]\naddopts = --doctest-modules"}, DOCTEST),
        ({"pyproject.toml": b"[broken", "setup.cfg": b"[tool:pytest]\naddopts = --doctest-modules"}, DOCTEST),
        ({"setup.cfg": b"[pytest]\naddopts = --doctest-modules"}, DOCTEST),
        ({"pytest.ini": b"\xff[broken"}, ()),
    ],
)
def test_the_file_that_pytest_would_read_counts(files, options):
    assert pytest_options(files.get) == options


def test_what_setup_cfg_has_in_a_section_that_pytest_refuses_is_given_setting_by_setting():
    old = "[pytest]\naddopts = -q --doctest-modules\ntestpaths = tests\npython_files = check_*.py\n"
    files = {"setup.cfg": old}
    assert options_of(Files(files)) == ("-c", "/dev/null", "-o", "python_files=check_*.py", "--doctest-modules")
    assert options_of(Files({**files, "tox.ini": "[pytest]\n"})) == ()


NOT_SLOW = ("-m", "not slow")
WRITTEN = [
    # packaging: a list in pyproject.toml
    ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["-ra", "-m", "not property"]'}, ("-m", "not property")),
    # attrs, structlog: a list of options without values
    ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["-ra", "--strict-markers"]'}, ("--strict-markers",)),
    # pandas: a text of several options
    ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--strict-markers --capture=no"'}, ("--strict-markers",)),
    # aiohttp: one option a line, some of coverage
    (
        {
            "setup.cfg": (
                "[tool:pytest]\naddopts =\n  --cov=aiohttp\n  -v\n  # a word\n  -m 'not dev_mode and not autobahn'\n"
            )
        },
        ("-m", "not dev_mode and not autobahn"),
    ),
    # quotes of both kinds, and blanks within them
    (
        {"pytest.ini": "[pytest]\naddopts = -m \"not slow\" -W 'ignore:a  b:UserWarning'"},
        (*NOT_SLOW, "-W", "ignore:a  b:UserWarning"),
    ),
    ({"tox.ini": "[pytest]\naddopts = -p no:warnings -m 'not slow'"}, ("-p", "no:warnings", *NOT_SLOW)),
    # pytest: a plugin that it brings along and does not load by itself
    ({"pyproject.toml": '[tool.pytest]\naddopts = ["-rfEX", "-p", "pytester"]'}, ("-p", "pytester")),
    # pytest 9: tables of its own
    ({"pyproject.toml": '[tool.pytest]\naddopts = ["-m", "not slow"]'}, NOT_SLOW),
    ({"pytest.toml": '[pytest]\naddopts = ["-m", "not slow"]'}, NOT_SLOW),
    (
        {".pytest.toml": '[pytest]\naddopts = ["-m", "not slow"]', "pytest.ini": "[pytest]\naddopts = --runxfail"},
        NOT_SLOW,
    ),
    # an item of a list is one word, quotes and all
    ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["-W", "error:it\'s"]'}, ("-W", "error:it's")),
    # a byte order mark
    ({"pytest.ini": "\ufeff[pytest]\naddopts = --runxfail"}, ("--runxfail",)),
    # tox, as text and as TOML
    (
        {"tox.ini": "[testenv]\ncommands = pytest -W 'error::DeprecationWarning' {posargs}"},
        ("-W", "error::DeprecationWarning"),
    ),
    (
        {"tox.ini": "[testenv]\ncommands = pytest -c {toxinidir}/test_a.py --runxfail {posargs}"},
        ("-c", "test_a.py", "--runxfail"),
    ),
    ({"tox.ini": "[testenv]\ncommands = pytest -W {env:FILTER} --runxfail"}, ("--runxfail",)),
    (
        {"pyproject.toml": '[tool.tox.env_run_base]\ncommands = [["pytest", "-W", "error: a b", "tests"]]'},
        ("-W", "error: a b"),
    ),
    # nox
    (
        {
            "noxfile.py": (
                "@nox.session\ndef tests(session):\n    session.run('pytest', '-W', 'error: a b', *session.posargs)"
            )
        },
        ("-W", "error: a b"),
    ),
    (
        {"noxfile.py": "@nox.session\ndef tests(session):\n    session.run('pytest', '-c', f'{a}.ini', '--runxfail')"},
        ("--runxfail",),
    ),
    # a service
    (
        {".github/workflows/a.yml": 'jobs:\n  a:\n    steps:\n    - run: |\n       pytest -W "error: a" ${{ a.b }}\n'},
        ("-W", "error: a"),
    ),
]
"""How `addopts` and commands of well-known projects are written, and what pytest makes of them."""


@pytest.mark.parametrize(("files", "options"), WRITTEN)
def test_options_stay_the_words_that_they_are(files, options):
    assert ways_of(Files({"test_a.py": "def test_a(): pass\n", **files}), ["test_a.py"])[0].options == options


def test_the_repositorys_options_are_done_without_last_of_all():
    tree = Files({"test_a.py": "import pytest\n", "pytest.ini": "[pytest]\naddopts = --runxfail\n"})
    assert [way.options for way in ways_of(tree, ["test_a.py"])] == [("--runxfail",), ()]
    assert len(ways_of(Files({"test_a.py": "import pytest\n"}), ["test_a.py"])) == 1
