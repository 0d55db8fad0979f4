"""The plugins that projects use most, each by itself on an old and on a new pytest, where warnings are errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from harness.core.instance import Budgets, TestSpec
from harness.grading import trial
from harness.languages.python.pytest import BLOCKED_PLUGINS, safe_plugins
from tests import tiny

if TYPE_CHECKING:
    from harness.sandbox.docker import DockerSandbox

USES = {
    "anyio": "@pytest.mark.anyio\nasync def test_it():\n    import anyio\n    await anyio.sleep(0)\n",
    "asyncio": "import asyncio\n@pytest.mark.asyncio\nasync def test_it():\n    await asyncio.sleep(0)\n",
    "aiohttp": (
        "from aiohttp import web\nasync def test_it(aiohttp_client):\n"
        "    client = await aiohttp_client(web.Application())\n    assert (await client.get('/')).status == 404\n"
    ),
    "benchmark": "def test_it(benchmark):\n    assert benchmark(int) == 0\n",
    "check": "def test_it(check):\n    check.equal(1, 1)\n",
    "console-scripts": (
        "@pytest.mark.script_launch_mode('subprocess')\ndef test_it(script_runner):\n"
        "    assert script_runner.run(['true']).success\n"
    ),
    "dependency": "@pytest.mark.dependency\ndef test_first(): pass\n",
    "django": (
        "def test_it(settings):\n    settings.DEBUG = True\n    from django.conf import settings\n"
        "    assert settings.DEBUG\n"
    ),
    "env": "import os\ndef test_it():\n    assert os.environ['SAID'] == 'so'\n",
    "pytest-factoryboy": (
        "import factory\nfrom pytest_factoryboy import register\nclass A:\n    pass\n"
        "class AFactory(factory.Factory):\n    class Meta:\n        model = A\nregister(AFactory)\n"
        "def test_it(a_factory):\n    assert a_factory()\n"
    ),
    "faker": "def test_it(faker):\n    assert faker.name()\n",
    "flask": (
        "import flask\n@pytest.fixture\ndef app():\n    return flask.Flask('a')\n"
        "def test_it(client):\n    assert client.get('/').status_code == 404\n"
    ),
    "freezer": (
        "import datetime\ndef test_it(freezer):\n    freezer.move_to('2020-01-01')\n"
        "    assert datetime.date.today().year == 2020\n"
    ),
    "html": "def test_it(): pass\n",
    "hypothesispytest": (
        "from hypothesis import given, strategies\n@given(strategies.integers())\ndef test_it(n):\n    assert n == n\n"
    ),
    "inline_snapshot": "from inline_snapshot import snapshot\ndef test_it():\n    assert 1 == snapshot(1)\n",
    "instafail": "def test_it(): pass\n",
    "lazy-fixture": (
        "@pytest.fixture\ndef one():\n    return 1\n@pytest.mark.parametrize('n', [pytest.lazy_fixture('one')])\n"
        "def test_it(n):\n    assert n == 1\n"
    ),
    "localserver": "def test_it(httpserver):\n    assert httpserver.url\n",
    "metadata": "def test_it(metadata):\n    assert metadata['Python']\n",
    "pytest_mock": "def test_it(mocker):\n    assert mocker.Mock()() is not None\n",
    "pytest_order": "@pytest.mark.order(2)\ndef test_it(): pass\n",
    "pytest-bdd": (
        "from pytest_bdd import scenarios\nscenarios('one.feature')\nfrom pytest_bdd import given\n"
        "@given('it is so')\ndef it(): pass\n"
    ),
    "pytest-datadir": "def test_it(datadir):\n    assert (datadir / 'one.feature').exists()\n",
    "pytest-subprocess": (
        "import subprocess\ndef test_it(fp):\n    fp.register(['no'], stdout='x')\n"
        "    assert subprocess.check_output(['no']) == b'x'\n"
    ),
    "cases": "from pytest_cases import parametrize\n@parametrize('n', [1])\ndef test_it(n):\n    assert n == 1\n",
    "pytest_doctestplus": "def test_it(): pass\n",
    "fakefs": "def test_it(fs):\n    fs.create_file('/a')\n    assert open('/a').read() == ''\n",
    "pytest_httpserver": "def test_it(httpserver):\n    assert httpserver.url_for('/')\n",
    "pytest_httpx": (
        "import httpx\ndef test_it(httpx_mock):\n    httpx_mock.add_response(text='a')\n"
        "    assert httpx.get('http://a/').text == 'a'\n"
    ),
    "pytest_jsonreport": "def test_it(): pass\n",
    "recording": "@pytest.mark.vcr\ndef test_it(vcr_config): pass\n",
    "regressions": "def test_it(data_regression):\n    data_regression.check({'a': 1})\n",
    "pytest_remotedata": "@pytest.mark.remote_data\ndef test_it(): pass\ndef test_here(): pass\n",
    "requests_mock": (
        "import requests\ndef test_it(requests_mock):\n"
        "    requests_mock.get('http://a/', text='a')\n"
        "    assert requests.get('http://a/').text == 'a'\n"
    ),
    "respx": (
        "import httpx\ndef test_it(respx_mock):\n    respx_mock.get('http://a/')\n"
        "    assert httpx.get('http://a/').status_code == 200\n"
    ),
    "snapshot": (
        "def test_it(snapshot):\n"
        "    snapshot.snapshot_dir = __file__.replace('test_snapshot.py', 'of_snapshot')\n"
        "    snapshot.assert_match('a', 'a.txt')\n"
    ),
    "socket": (
        "import socket\nfrom pytest_socket import SocketBlockedError\n@pytest.mark.disable_socket\n"
        "@pytest.mark.filterwarnings('ignore')\n"
        "def test_it():\n    with pytest.raises(SocketBlockedError):\n        socket.socket()\n"
    ),
    "subtests": "def test_it(subtests):\n    with subtests.test(n=1):\n        assert True\n",
    "syrupy": "def test_it(snapshot):\n    assert 1 == snapshot\n",
    "time_machine": (
        "import datetime\ndef test_it(time_machine):\n    time_machine.move_to('2020-01-01')\n"
        "    assert datetime.date.today().year == 2020\n"
    ),
    "timeout": "@pytest.mark.timeout(9)\ndef test_it(): pass\n",
    "trio": "import trio\n@pytest.mark.trio\nasync def test_it():\n    await trio.sleep(0)\n",
    "twisted": (
        "import pytest_twisted\nfrom twisted.internet import defer\n@pytest_twisted.inlineCallbacks\n"
        "def test_it():\n    assert (yield defer.succeed(1)) == 1\n"
    ),
    "typeguard": "def test_it(): pass\n",
    "vcr": "@pytest.mark.vcr()\ndef test_it(vcr_config): pass\n",
}
"""By the name of an entry point: a test that needs its plugin, or that any plugin could break."""
BESIDE = {"aiohttp": ("asyncio",), "html": ("metadata",), "regressions": ("pytest-datadir",)}
"""The plugins that a plugin works with."""
OPTIONS = {"aiohttp": ("-o", "asyncio_mode=auto"), "django": ("--ds=settings_of_it",)}
PROJECTS = {
    "env": "pytest-env",
    "faker": "faker",
    "hypothesispytest": "hypothesis",
    "inline_snapshot": "inline-snapshot",
    "fakefs": "pyfakefs",
    "pytest_jsonreport": "pytest-json-report",
    "requests_mock": "requests-mock",
    "time_machine": "time-machine",
    "typeguard": "typeguard",
}
"""The distributions of plugins that aren't called after their entry points."""
ALONE = {*OPTIONS, "localserver", "recording", "snapshot", "twisted"}
"""Plugins that do not work beside all others."""
PYTESTS = {"old": "pytest==6.2.5", "new": "pytest==9.0.1"}
MISSING = {"old": ("anyio",), "new": ("lazy-fixture",)}
"""Plugins that do not work with a pytest, although their distributions say so."""
OFF = ("pytest-cov", "pytest-randomly", "pytest-random-order", "pytest-rerunfailures", "pytest-sugar", "pytest-xdist")
MORE = ("django", "pyyaml", "requests", "httpx", "twisted", "trio")
SUPPORT = {
    "pytest.ini": "[pytest]\nfilterwarnings = error\nenv =\n    SAID=so\n",
    "pyproject.toml": '[project]\nname = "room"\nversion = "1"\nrequires-python = ">=3.10"\n'
    "[project.optional-dependencies]\ntests = {requirements}\n[tool.setuptools]\npy-modules = []\n",
    "settings_of_it.py": "SECRET_KEY = 'a'\nUSE_TZ = True\n",
    "tests/one.feature": "Feature: one\n  Scenario: it\n    Given it is so\n",
    "tests/test_pytest_datadir/one.feature": "",
    "tests/test_regressions/test_it.yml": "a: 1\n",
    "tests/of_snapshot/a.txt": "a",
    "tests/__snapshots__/test_syrupy.ambr": "# serializer version: 1\n# name: test_it\n  1\n# ---\n",
}
NONE_LOADED = f"""\
def test_it(pytestconfig):
    loaded = dict(pytestconfig.pluginmanager.list_name_plugin())
    assert [name for name in {sorted(BLOCKED_PLUGINS)} if loaded.get(name)] == []
"""
ASKING = """\
import pytest

@pytest.mark.flaky(reruns=3)
@pytest.mark.xdist_group("a")
@pytest.mark.no_cover
def test_it(worker_id, testrun_uid, no_cover, cov, cache, pytestconfig):
    assert cache.get("cache/lastfailed", {}) == {}
    pytestconfig.cache.set("own", 1)
    assert cache.get("own", None) == 1
    assert (worker_id, cov, pytestconfig.getoption("dist")) == ("master", None, "no")
    assert (pytestconfig.option.numprocesses, pytestconfig.getoption("--cov")) == (None, [])
"""
HOOKED = """\
def pytest_xdist_auto_num_workers(config):
    return 1

def pytest_configure_node(node):
    raise AssertionError("there are no nodes")

def pytest_testnodedown(node, error):
    raise AssertionError("there are no nodes")

def pytest_xdist_make_scheduler(config, log):
    raise AssertionError("nothing is scheduled")
"""


def path_of(plugin: str) -> str:
    return f"tests/test_{plugin.replace('-', '_')}.py"


def project_of(plugin: str) -> str:
    return PROJECTS.get(plugin) or (
        plugin if plugin.startswith(("pytest", "anyio", "respx", "syrupy")) else f"pytest-{plugin}"
    )


@dataclass(frozen=True)
class Room:
    age: str
    image: str
    installed: tuple[str, ...]
    sandbox: DockerSandbox

    def run(self, *paths: str, plugins: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> trial.Trial:
        test = TestSpec(options=options, plugins=plugins, pythonpath=(".",))
        return trial.run(trial.TrialSpec(image=self.image, test=test, files=paths, budgets=Budgets()), self.sandbox)

    def run_plugins(self, *plugins: str) -> trial.Trial:
        beside = dict.fromkeys(name for plugin in plugins for name in (plugin, *BESIDE.get(plugin, ())))
        options = tuple(option for plugin in plugins for option in OPTIONS.get(plugin, ()))
        return self.run(*map(path_of, plugins), plugins=tuple(beside), options=options)


@pytest.fixture(scope="module", params=PYTESTS)
def room(request, tmp_path_factory, sandbox) -> Room:
    uses = {plugin: use for plugin, use in USES.items() if plugin not in MISSING[request.param]}
    requirements = [PYTESTS[request.param], *map(project_of, uses), *OFF, *MORE]
    files = {
        **{path_of(plugin): f"import pytest\n{use}" for plugin, use in uses.items()},
        **{
            path: text.format(requirements=requirements) if "{requirements}" in text else text
            for path, text in SUPPORT.items()
        },
        "tests/test_off.py": NONE_LOADED,
        "tests/test_asking.py": ASKING,
        "tests/conftest.py": HOOKED,
    }
    built = tiny.built_image(tmp_path_factory.mktemp("plugins"), files)
    assert built.pytest == PYTESTS[request.param].partition("==")[2]
    return Room(age=request.param, image=built.image_id, installed=built.pytest_plugins, sandbox=sandbox)


@pytest.fixture(scope="module")
def together(room) -> trial.Trial:
    """A run of the tests of all plugins that take each other."""
    return room.run_plugins(*(plugin for plugin in USES if plugin not in {*MISSING[room.age], *ALONE}))


@pytest.mark.parametrize("plugin", USES)
def test_a_plugin_works_where_warnings_are_errors(room, together, plugin):
    if plugin in MISSING[room.age]:
        pytest.skip("it does not work with this pytest")
    assert plugin in safe_plugins(room.installed)
    ran = room.run_plugins(plugin) if plugin in ALONE else together
    statuses = {status.value for name, status in ran.report.statuses.items() if name.startswith(path_of(plugin))}
    assert statuses <= {"PASSED", "SKIPPED"}, ran.output.decode()
    assert "PASSED" in statuses, ran.output.decode()


def test_what_reorders_repeats_distributes_or_measures_is_kept_off(room):
    off = set(room.installed) - set(safe_plugins(room.installed))
    assert {"pytest_cov", "xdist", "randomly", "rerunfailures", "random_order", "sugar"} <= off
    assert [status.value for status in room.run("tests/test_off.py").report.statuses.values()] == ["PASSED"]


def test_what_tests_ask_of_a_plugin_that_is_kept_off_is_there(room):
    ran = room.run("tests/test_asking.py", options=("--strict-markers",))
    assert [status.value for status in ran.report.statuses.values()] == ["PASSED"], ran.output.decode()


def test_a_plugin_that_a_task_does_not_have_is_not_loaded(room):
    ran = room.run(path_of("pytest_mock"))
    assert [status.value for status in ran.report.statuses.values()] == ["ERROR"]
    assert "fixture 'mocker' not found" in ran.report.texts[f"{path_of('pytest_mock')}::test_it"]
