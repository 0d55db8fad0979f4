"""The ladder in real containers: it ends at the first environment in which the tests can be collected."""

from __future__ import annotations

import io
import tarfile
from datetime import UTC, datetime

import pytest

from harness.config.settings import ImageSettings
from harness.core.errors import InfrastructureError
from harness.core.instance import Budgets, TestSpec
from harness.grading import trial
from harness.languages.python import pytest as framework
from miner.images.task_image import Order, build_environment
from miner.languages.built import BuiltImage
from miner.layers import base
from miner.proof.test_collection import judged
from tests.trees import Files

pytestmark = pytest.mark.engine

TEST = "libs/core/tests/test_core.py"
MONOREPO = {
    "libs/core/pyproject.toml": (
        "[project]\nname = 'core'\nversion = '1'\ndependencies = ['util']\n"
        "[tool.uv.sources]\nutil = { path = '../util' }\n[tool.setuptools]\npy-modules = ['core']\n"
    ),
    "libs/core/core.py": "import util\n",
    "ci/helpers.py": "",
    TEST: "import core\nimport helpers\nimport tomli_w\n\n\ndef test_core():\n    assert core.util.A == 1\n",
    "libs/util/pyproject.toml": "[project]\nname = 'util'\nversion = '1'\n[tool.setuptools]\npy-modules = ['util']\n",
    "libs/util/util.py": "A = 1\n",
    ".github/workflows/test.yml": (
        "jobs:\n  test:\n    runs-on: ubuntu-latest\n    services: {db: {image: 'postgres:13'}}\n"
        "    steps:\n      - run: pip install six\n      - run: pytest\n"
    ),
}


@pytest.fixture(scope="module")
def built(sandbox, tmp_path_factory):
    return build(Files(MONOREPO), sandbox, tmp_path_factory.mktemp("cache"), TEST)


def build(tree, sandbox, folder, test):
    settings = ImageSettings(cache_dir=folder, python_downloads=False)
    try:
        base.resolve(settings)
    except InfrastructureError:
        base.from_debian()
    image = build_environment(
        Order(
            repo="goldseam-tests/ladder",
            base_commit="0" * 40,
            when=datetime(2024, 6, 1, tzinfo=UTC),
            touched=(test,),
            collect=lambda image, sandbox: judged(run(image, sandbox, "--collect-only", file=test)),
        ),
        tree,
        lambda: tar_of(tree),
        settings=settings,
        log=folder / "build.log",
        progress=lambda _: None,
        sandbox=sandbox,
    )
    assert isinstance(image, BuiltImage), image
    return image


def tar_of(tree):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in tree.files():
            data = tree.read(path)
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    buffer.seek(0)
    return buffer


def run(image, sandbox, *options, file=TEST):
    test = TestSpec(options=options, plugins=framework.safe_plugins(image.pytest_plugins), pythonpath=image.pythonpath)
    return trial.run(trial.TrialSpec(image=image.image_id, test=test, files=(file,), budgets=Budgets()), sandbox)


def test_what_the_tests_import_and_nothing_declares_is_added(built):
    assert "tomli-w==" in built.locks["requirements.lock"]
    collected = [attempt.ok for attempt in built.attempts if attempt.step == "collect"]
    assert collected == [False, False, True]
    assert built.rung.endswith("+missing:tomli-w")


def test_the_tests_of_a_project_in_a_folder_pass_with_the_one_beside_it(built, sandbox):
    found = run(built, sandbox)
    assert [status.value for status in found.report.statuses.values()] == ["PASSED"]
    assert built.root == "libs/core"


def test_a_module_of_the_repository_that_is_on_no_path_is_put_on_one(built):
    assert built.pythonpath == ("ci",)


def test_the_record_tells_the_evidence_the_command_and_what_ci_declares(built):
    first = built.attempts[0]
    assert first.evidence["project"] == ("libs/core/pyproject.toml",)
    assert first.evidence["requirements"] == ("six", "util @ file:///testbed/libs/util")
    assert "pip compile" in first.command
    assert built.declared["services"] == ("postgres:13",)


def test_a_project_that_cannot_be_built_is_put_on_the_path_with_what_it_needs(sandbox, tmp_path):
    setup = "import sys\nsys.exit('not here')\nsetup(install_requires=['iniconfig'])\n"
    files = {"setup.py": setup, "pkg.py": "import iniconfig\n", "test_pkg.py": "import pkg\n\n\ndef test_pkg(): ...\n"}
    image = build(Files(files), sandbox, tmp_path, "test_pkg.py")
    assert (image.rung, image.pythonpath) == ("unbuilt", (".",))
    assert [(attempt.step, attempt.ok) for attempt in image.attempts][-4:] == [
        ("resolve", True),
        ("install", True),
        ("source", True),
        ("collect", True),
    ]
