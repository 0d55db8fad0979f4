"""Where the Node of a JavaScript image comes from, and registries that have none of it or ask for a token."""

from __future__ import annotations

import io
import json
import tarfile
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.config.settings import load_settings
from harness.core import process
from harness.core.errors import InfrastructureError
from harness.judging.places import Place, place_of
from harness.sandbox import engine
from miner.images.task_image import Order, build_environment
from miner.languages.built import BuiltImage
from miner.layers import base
from miner.sources.change import Rejection
from tests.local_http import LocalServer
from tests.proved_task import mined
from tests.repos import Repository
from tests.tiny import MemoryTree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.config.settings import ImageSettings

pytestmark = pytest.mark.engine

WHEN = datetime(2026, 1, 10, tzinfo=UTC)
PUBLIC = "https://registry.npmjs.org"
SECRET = "canaryOfTheRepository"
TEST = "test/a.test.js"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path.startswith("/node-linux-"):
            self.send_response(HTTPStatus.NOT_FOUND)
        elif self.path.startswith("/@corp"):
            self.send_response(HTTPStatus.UNAUTHORIZED)
        else:
            self.send_response(HTTPStatus.TEMPORARY_REDIRECT)
            self.send_header("Location", f"{PUBLIC}{self.path}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


@pytest.fixture(scope="module")
def registry() -> Iterator[str]:
    """Of npm: it has no Node, asks for a token for one scope, and has all else."""
    with LocalServer(_Handler) as running:
        yield f"127.0.0.1:{running.port}"


@pytest.fixture(scope="module")
def settings() -> ImageSettings:
    chosen = load_settings().images.model_copy(update={"nodes": {}})
    try:
        base.resolve(chosen)
    except InfrastructureError:
        base.from_debian()
    return chosen


@pytest.fixture(scope="module")
def bare(settings) -> Iterator[str]:
    """A base without Node, of which no layer is built yet."""
    yield from _based(settings, {})


@pytest.fixture(scope="module")
def with_node(settings) -> Iterator[str]:
    """A base with this machine's Node."""
    program = process.which("node")
    if program is None:
        pytest.skip("there is no Node here")
    yield from _based(settings, {"usr/local/bin/node": Path(program).resolve().read_bytes()})


def _based(settings: ImageSettings, files: dict[str, bytes]) -> Iterator[str]:
    name = f"goldseam-tests/base-{'node' if files else 'bare'}"
    client: Any = engine.connect()
    made = client.create_container(base.resolve(settings), ["true"], network_disabled=True)["Id"]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, data in {**files, "etc/goldseam-tests": datetime.now(tz=UTC).isoformat().encode()}.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), 0o755
            archive.addfile(entry, io.BytesIO(data))
    client.put_archive(made, "/", packed.getvalue())
    client.commit(made, name, "one")
    client.remove_container(made)
    yield f"{name}:one"
    client.remove_image(f"{name}:one", force=True)


def build(
    settings: ImageSettings, log: Path, registry: str | None, package: dict[str, Any], **files: str
) -> BuiltImage | Rejection:
    contents = {"package.json": json.dumps({"name": "a", "scripts": {"test": "node --test"}, **package}), **files}
    tree = MemoryTree({**contents, TEST: 'require("node:test").test("a", () => {});\n'})
    order = Order(repo="tests/nodes", base_commit="0" * 40, when=WHEN, touched=(TEST,), language="javascript")
    with pytest.MonkeyPatch.context() as patched:
        if registry:
            patched.setenv("NPM_CONFIG_REGISTRY", f"http://{registry}/")
        return build_environment(order, tree, tree.tar, settings=settings, log=log, progress=lambda _: None)


def test_the_bases_own_node_is_taken_where_npm_has_none_and_said(settings, with_node, registry, tmp_path):
    chosen = settings.model_copy(update={"base": with_node})
    image = build(chosen, tmp_path / "log", registry, {"engines": {"node": "18"}})
    assert isinstance(image, BuiltImage), image
    version = process.run(["node", "--version"]).stdout.decode().strip()
    assert image.notes[:2] == (f"Node {version}", "this Node is the base's own: of 18 none could be had")
    argv = ["docker", "run", "--rm", "--network=none", image.image_id, "/opt/goldseam/node/bin/node", "--version"]
    assert process.run(argv).stdout.decode().strip() == version


def test_a_node_that_can_be_had_nowhere_is_named_with_what_to_do(settings, bare, registry, tmp_path):
    chosen = settings.model_copy(update={"base": bare})
    refused = build(chosen, tmp_path / "log", registry, {"engines": {"node": "18"}})
    assert isinstance(refused, Rejection), refused
    assert refused.reason == "no_node"
    assert refused.detail.startswith("Node 18 can't be had from npm's registry (")
    assert "404" in refused.detail
    assert '"18" under [images.nodes]' in refused.detail


def test_a_private_registry_without_a_token_is_named_and_the_repositorys_own_goes_nowhere(settings, registry, tmp_path):
    npmrc = f"@corp:registry=http://{registry}/\n//{registry}/:_authToken={SECRET}\n"
    asks = settings.model_copy(update={"allow_hosts": (registry,)})
    for chosen, reason in ((asks, "registry_login"), (settings, "needs_network")):
        log = tmp_path / reason
        refused = build(chosen, log, None, {"dependencies": {"@corp/a": "^1.0.0"}}, **{".npmrc": npmrc})
        assert isinstance(refused, Rejection), refused
        assert refused.reason == reason, refused.detail
        assert registry.partition(":")[0] in refused.detail.partition("\n")[0]
        assert SECRET not in refused.detail + log.read_text()


def test_a_script_of_an_old_node_that_starts_qunit_itself_is_a_task(tmp_path):
    """Node 8 reads options from its environment in another form than later ones."""
    wrong, right = (f"exports.add = function (a, b) {{ return a {sign} b; }};\n" for sign in "-+")
    test = """\
var QUnit = require("qunitjs");
var add = require("../calc").add;
QUnit.config.autostart = false;
QUnit.module("calc");
QUnit.test("zero", function (assert) { assert.strictEqual(add(0, 0), 0); });
%sQUnit.load();
QUnit.start();
"""
    sums = 'QUnit.test("sums", function (assert) { assert.strictEqual(add(1, 1), 2); });\n'
    package = {"engines": {"node": "8"}, "scripts": {"test": "node test/calc"}, "devDependencies": {"qunitjs": "2.4.1"}}
    repo = Repository(tmp_path / "repo")
    start = {"package.json": json.dumps({"name": "calc", **package}), ".gitignore": "node_modules\n"}
    repo.commit("Start", {**start, "calc.js": wrong, "test/calc.js": test % ""})
    fix = repo.commit("Fix wrong sums", {"calc.js": right, "test/calc.js": test % sums})
    task = mined(tmp_path, repo, fix, GOLDSEAM_MINING_MUTANTS="0")
    assert task.hidden.fail_to_pass == ("test/calc.js::calc > sums",)
    assert task.hidden.pass_to_pass == ("test/calc.js::calc > zero",)
    assert place_of(task) is Place.HOST
