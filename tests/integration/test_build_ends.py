"""What ends a build: each cause has its reason, and no build takes the mine with it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from harness.config.settings import load_settings
from harness.core.errors import InfrastructureError, InterruptedRunError
from harness.sandbox import engine, owners
from miner.images.task_image import Order, build_environment
from miner.languages.built import BuiltImage
from miner.layers import base
from miner.sources.change import Rejection
from tests import tiny, waiting
from tests.repos import Repository
from tests.tiny import MemoryTree

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.engine

WHEN = datetime(2024, 6, 1, tzinfo=UTC)
SETUP = "from setuptools import setup\n{0}\nsetup(name='shop', version='1', py_modules=['shop'])\n"
LOCAL_BACKEND = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
BACKEND = "def get_requires_for_build_wheel(settings=None):\n    {0}\n    return []\n"
"""A build backend that needs nothing from the index, so that what it does comes at once."""


@pytest.fixture(scope="module")
def settings():
    chosen = load_settings().images.model_copy(update={"python_downloads": False, "pythons": {}})
    try:
        base.resolve(chosen)
    except InfrastructureError:
        base.from_debian()
    return chosen


def backend(*lines: str) -> dict[str, str]:
    """A project whose build does this."""
    return {"pyproject.toml": f"{LOCAL_BACKEND}[project]\nname = 'shop'\ndynamic = ['version']\n",
            "backend.py": BACKEND.format("\n    ".join(lines)), "shop.py": ""}  # fmt: skip


def build(files, settings, log: Path, interrupted: Event | None = None):
    tree = MemoryTree(files)
    return build_environment(
        Order(repo="tests/ends", base_commit="0" * 40, when=WHEN), tree, tree.tar,
        settings=settings, log=log, progress=lambda _: None, interrupted=interrupted,
    )  # fmt: skip


CAUSES = {
    "needs_network": (
        backend("import urllib.request", "urllib.request.urlopen('https://example.org/data')"),
        {},
        "example.org",
    ),
    "needs_gpu": (backend("raise OSError('CUDA_HOME environment variable is not set.')"), {}, "CUDA_HOME"),
    "needs_compiler": (
        backend("import subprocess", "open('/tmp/a.c', 'w').write('#include <no/such.h>')",
                "subprocess.run(['cc', '-c', '/tmp/a.c'], check=True)"),
        {},
        "no/such.h",
    ),
    "build_timeout": (backend("import time", "time.sleep(600)"), {"build_seconds": 3.0}, "build_seconds"),
    "build_oom": (backend("b'x' * (700 << 20)"), {"build_memory_mb": 500}, "build_memory_mb"),
    "build_disk": (
        backend("import time", "open('/filler', 'wb').write(bytes(64 << 20))", "time.sleep(600)"),
        {"build_disk_mb": 32},
        "build_disk_mb",
    ),
    "no_interpreter": ({"setup.cfg": "[metadata]\nname = shop\n[options]\npython_requires = >=3.99\n"}, {}, ">=3.99"),
    "unresolvable": (
        {"pyproject.toml": "[project]\nname = 'shop'\nversion = '1'\ndependencies = ['six>99']\n"},
        {},
        "six",
    ),
    "install_failed": (backend("raise SystemExit(3)"), {}, "exit status: 3"),
}  # fmt: skip


@pytest.mark.parametrize("reason", CAUSES)
def test_each_cause_has_its_reason_and_a_log(reason, settings, tmp_path):
    files, limits, said = CAUSES[reason]
    found = build(files, settings.model_copy(update=limits), tmp_path / "log")
    assert isinstance(found, Rejection), found
    assert found.reason == reason
    assert said in found.detail
    assert f"given up: {reason}" in (tmp_path / "log").read_text()


def test_a_build_that_nobody_waits_for_ends_with_its_container(settings, tmp_path):
    interrupted, ours = Event(), {"label": f"{engine.LABEL_OWNER}={owners.owner()}"}

    def interrupt():
        waiting.until(lambda: engine.connect().containers(filters=ours))
        interrupted.set()

    asking = Thread(target=interrupt)
    asking.start()
    with pytest.raises(InterruptedRunError):
        build(backend("import time", "time.sleep(600)"), settings, tmp_path / "log", interrupted)
    asking.join()
    assert waiting.left(lambda: engine.connect().containers(all=True, filters=ours)) == []


def test_a_socket_is_told_by_its_hosts_name_too(settings, tmp_path):
    files = backend("import socket", "socket.create_connection(('collector.example.org', 80))")
    found = build(files, settings, tmp_path / "log")
    assert found.reason == "needs_network"
    assert "collector.example.org" in found.detail


def test_a_build_that_tries_a_host_in_vain_and_goes_on_is_built_and_the_log_tells(settings, tmp_path):
    gone = (
        "import urllib.request\ntry:\n    urllib.request.urlopen('http://stats.example.org')\nexcept OSError:\n    pass"
    )
    found = build({"setup.py": SETUP.format(gone), "shop.py": ""}, settings, tmp_path / "log")
    assert isinstance(found, BuiltImage), found
    assert "a build may not reach stats.example.org" in (tmp_path / "log").read_text()


def test_a_build_may_be_let_out(settings, tmp_path):
    files = backend("import urllib.request", "urllib.request.urlopen('http://127.0.0.1:9/x')")
    opened = settings.model_copy(update={"allow_hosts": ("127.0.0.1:9",)})
    found = build(files, opened, tmp_path / "log")
    assert found.reason == "install_failed"
    assert "may not reach" not in (tmp_path / "log").read_text()


PROJECT = "[project]\nname = 'shop'\nversion = '1'\nrequires-python = '{0}'\n[tool.setuptools]\npy-modules = ['shop']\n"
SHOP = "def {0}(a, b):\n    return a {1} b\n"
CHECK = "import shop\n\n\ndef test_{0}():\n    assert shop.{0}(3, 2) == {1}\n"


@pytest.fixture(scope="module")
def mined(tmp_path_factory) -> Path:
    """The dataset of a history with two fixes; the project can't be built at the first."""
    folder = tmp_path_factory.mktemp("mined")
    repo = Repository(folder / "shop")

    def files(python: str, name: str, sign: str, test: str) -> dict[str, str]:
        return {
            "pyproject.toml": PROJECT.format(python),
            "shop.py": SHOP.format(name, sign),
            f"test_{name}.py": test,
        }

    repo.commit("Begin", files(">=3.99", "add", "-", ""))
    one = repo.commit("Fix adding", files(">=3.99", "add", "+", CHECK.format("add", 5)))
    repo.commit("Ask for less", files(">=3.8", "take", "+", ""))
    two = repo.commit("Fix taking", files(">=3.8", "take", "-", CHECK.format("take", 1)))
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", "--commit", one, "--commit", two, "--runs", "1")
    assert done.returncode == 0, done.error_text
    return folder / "dataset"


def test_a_mine_goes_on_after_a_build_that_failed_and_says_where_its_log_is(mined):
    lines = [json.loads(line) for line in (mined / "funnel.jsonl").read_text().splitlines()[1:]]
    failed, accepted = sorted(lines, key=lambda line: line["title"])
    assert (failed["reason"], accepted["reason"]) == ("no_interpreter", "accepted")
    assert ">=3.99" in failed["detail"]
    log = mined / failed["detail"].rpartition("The whole log is ")[2]
    assert "given up: no_interpreter" in log.read_text()
