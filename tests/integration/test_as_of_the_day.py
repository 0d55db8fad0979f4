"""Dependencies of the day: what was taken back, what has gone, what came again, and git repositories."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from harness.config.settings import load_settings
from harness.core import process
from harness.core.errors import InfrastructureError
from miner.images.task_image import Order, build_environment
from miner.languages.built import BuiltImage
from miner.layers import base
from tests.own_index import OwnIndex, sdist, wheel
from tests.repos import Repository
from tests.tiny import MemoryTree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.engine

WHEN = datetime(2024, 1, 10, tzinfo=UTC)
FIXED_AT = datetime(2024, 1, 11, 9, tzinfo=UTC)
LOGIN = "robot:canaryToken"
NEEDY = "import gsshelf\nfrom setuptools import setup\nsetup(name='gsbuilt', version='1.0')\n"
FILES = (
    wheel("gsshelf", "1.0", uploaded="2023-05-01T00:00:00Z"),
    wheel("gsshelf", "1.1", uploaded="2023-06-01T00:00:00Z", yanked="it eats books"),
    wheel("gsshelf", "2.0", uploaded="2024-02-01T00:00:00Z"),
    wheel("gsfixed", "1.0", uploaded="2023-05-01T00:00:00Z"),
    wheel("gsfixed", "2.0", uploaded="2024-01-11T08:00:00Z"),
    wheel("gsfixed", "3.0", uploaded="2024-01-13T00:00:00Z"),
    wheel("gspinned", "3.0", uploaded="2023-05-01T00:00:00Z", yanked="wrong licence"),
    wheel("gsagain", "0.9", uploaded="2024-05-01T00:00:00Z"),
    wheel("gsagain", "1.0", uploaded="2024-05-01T00:00:00Z"),
    sdist("gsbuilt", "1.0", uploaded="2023-05-01T00:00:00Z", setup=NEEDY),
)
"""`gsagain` was uploaded again: all that there is of it is younger than the day."""


@pytest.fixture(scope="module")
def repositories(tmp_path_factory) -> Path:
    """`gsleaf.git`: its branch had moved on after the day."""
    folder = tmp_path_factory.mktemp("git")
    repo = Repository(folder / "work")
    repo.write(
        "pyproject.toml", "[project]\nname = 'gsleaf'\nversion = '1'\n[tool.setuptools]\npy-modules = ['gsleaf']\n"
    )
    for number, day in enumerate((5, 25), start=1):
        repo.clock = datetime(2024, 1, day, tzinfo=UTC)
        repo.write("gsleaf.py", f"VERSION = {number}\n")
        repo.git("add", ".")
        repo.git("commit", "-qm", f"{number}")
    process.run(["git", "clone", "-q", "--bare", repo.path, folder / "gsleaf.git"])
    return folder


@pytest.fixture(scope="module")
def index(repositories) -> Iterator[OwnIndex]:
    with OwnIndex(FILES, repositories=repositories, login=LOGIN) as running:
        yield running


@pytest.fixture(scope="module")
def built(index, tmp_path_factory) -> tuple[BuiltImage, str]:
    """The environment of a project that asks for all of that, and the build's log."""
    settings = load_settings().images.model_copy(update={"python_downloads": False, "pythons": {}})
    try:
        base.resolve(settings)
    except InfrastructureError:
        base.from_debian()
    wanted = (
        "gsshelf",
        "gsbuilt",
        "gspinned==3.0",
        f"gsleaf @ git+http://{LOGIN}@127.0.0.1:{index.port}/git/gsleaf.git@main",
    )
    setup = "[metadata]\nname = shop\nversion = 1\n[options]\npy_modules = shop\ninstall_requires =\n    gsfixed>=1\n"
    order = Order(
        repo="tests/day",
        base_commit="0" * 40,
        when=WHEN,
        fixed={"setup.cfg": setup.replace(">=1", ">=2").encode()},
        fixed_at=FIXED_AT,
    )
    tree = MemoryTree(
        {
            "setup.cfg": setup,
            "setup.py": "import setuptools\nsetuptools.setup()\n",
            "shop.py": "",
            "requirements-test.txt": "gsagain==1.0\n" + "".join(f"{one}\n" for one in wanted),
        }
    )
    log = tmp_path_factory.mktemp("log") / "log"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("UV_DEFAULT_INDEX", index.url)
        image = build_environment(order, tree, tree.tar, settings=settings, log=log, progress=lambda _: None)
    assert isinstance(image, BuiltImage), image
    return image, log.read_text()


def pinned(image: BuiltImage) -> dict[str, str]:
    lines = image.locks["requirements.lock"].splitlines()
    return dict(line.split()[0].split("==") for line in lines if "==" in line and not line.startswith(" "))


def test_a_yanked_version_is_passed_over_and_so_is_one_that_came_later(built):
    assert pinned(built[0])["gsshelf"] == "1.0"


def test_what_the_fix_alone_requires_is_as_of_its_day(built):
    assert pinned(built[0])["gsfixed"] == "2.0"


def test_a_yanked_version_that_is_asked_for_by_number_is_taken_and_said(built):
    assert pinned(built[0])["gspinned"] == "3.0"
    assert any("gspinned" in note and "yanked" in note for note in built[0].notes)


def test_a_version_that_was_uploaded_again_is_taken_as_of_then_and_said(built):
    assert pinned(built[0])["gsagain"] == "1.0"
    assert any("gsagain" in note and "2024-05-02" in note for note in built[0].notes)


def test_what_a_distribution_needs_to_be_built_and_does_not_say_is_there(built):
    assert pinned(built[0])["gsbuilt"] == "1.0"
    assert "+build:gsshelf" in built[0].rung


def test_a_branch_is_pinned_to_the_commit_that_it_had_on_the_day(built, repositories):
    then = Repository(repositories / "gsleaf.git", bare=True).git("rev-parse", "main~1")
    line = next(line for line in built[0].locks["requirements.lock"].splitlines() if line.startswith("gsleaf"))
    assert f"git/gsleaf.git@{then}" in line
    assert any("gsleaf" in note and then[:12] in note and "2024-01-10" in note for note in built[0].notes)
    argv = ["docker", "run", "--rm", "--network=none", built[0].image_id, "python", "-c"]
    assert process.run([*argv, "import gsleaf; print(gsleaf.VERSION)"]).stdout.strip() == b"1"


def test_the_password_of_a_git_host_is_in_no_lock_no_log_and_no_layer(built):
    image, log = built
    record = [image.dockerfile, *image.locks.values(), *image.notes, *(one.failure for one in image.attempts), log]
    assert not any("canaryToken" in text for text in record)
    script = "grep -rlE 'canaryToken' /opt/goldseam/venv /root /etc /tmp /run 2>/dev/null | head -n 3"
    argv = ["docker", "run", "--rm", "--network=none", image.image_id, "sh", "-c", script]
    assert process.run(argv, check=False).stdout == b""


OLD = """\
from setuptools import setup
import gsbuild
assert gsbuild.VERSION == "1.0"
setup(name="shop", version="1", py_modules=["shop"], setup_requires=["gsasked"],
      entry_points={"pytest11": ["shopping = shop"], "console_scripts": ["shop = shop:main"]})
"""


@pytest.fixture(scope="module")
def developed(tmp_path_factory) -> BuiltImage:
    """A project of the years of setup.py: it imports what it is built with, and asks setuptools for more."""
    files = [wheel(name, version, uploaded=f"{day}T00:00:00Z") for name in ("gsbuild", "gsasked")
             for version, day in (("1.0", "2022-01-01"), ("2.0", "2023-01-01"))]  # fmt: skip
    files += [wheel("shop", "0.5", uploaded="2022-01-01T00:00:00Z"),
              wheel("gsneeds", "1.0", uploaded="2022-01-01T00:00:00Z", requires=["shop"])]  # fmt: skip
    wanted = "gsbuild\ngsneeds\n"
    setup = {"setup.py": OLD, "shop.py": "def main():\n    print('open')\n", "requirements-test.txt": wanted}
    tree = MemoryTree({**setup, "pyproject.toml": "[build-system]\nrequires = ['setuptools', 'gsbuild']\n"})
    with OwnIndex(files) as index, pytest.MonkeyPatch.context() as patched:
        patched.setenv("UV_DEFAULT_INDEX", index.url)
        image = build_environment(
            Order(repo="tests/old", base_commit="0" * 40, when=datetime(2022, 11, 20, tzinfo=UTC)),
            tree, tree.tar,
            settings=load_settings().images.model_copy(update={"python_downloads": False, "pythons": {}}),
            log=tmp_path_factory.mktemp("log") / "log", progress=lambda _: None,
        )  # fmt: skip
    assert isinstance(image, BuiltImage), image
    assert [attempt.failure for attempt in image.attempts if not attempt.ok] == []
    return image


def test_an_old_project_is_installed_by_setup_py_with_setuptools_of_its_day(developed):
    (how,) = (attempt.command for attempt in developed.attempts if attempt.step == "source")
    assert how == "python setup.py develop --no-deps (setuptools 65.6.0)"


def test_an_old_project_has_its_plugins_scripts_and_modules_from_the_tree(developed):
    assert "shop==0.5" in developed.locks["requirements.lock"]  # a distribution that it tests with needs the project
    assert "shopping" in developed.pytest_plugins
    script = "shop; python -c 'import shop; print(shop.__file__)'; git status --short"
    argv = ["docker", "run", "--rm", "--network=none", developed.image_id, "sh", "-ec", script]
    assert process.run(argv).stdout.decode().split() == ["open", "/testbed/shop.py"]
