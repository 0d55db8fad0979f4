"""A package index asked whether a fix has been released: a real server, the real protocol."""

from __future__ import annotations

import base64
import http.server
import json
import platform
import threading
from datetime import UTC, datetime
from typing import ClassVar

import pytest

from harness.config.settings import MiningSettings
from miner.layers.package_index import Index, configured, go_versions, node_lines, release_times

MERGED = datetime(2024, 6, 1, tzinfo=UTC)


def file(name: str, uploaded: str | None, **fields: object) -> dict[str, object]:
    return {"filename": name, "url": f"https://files.example/{name}", "hashes": {}, **fields} | (
        {"upload-time": uploaded} if uploaded else {}
    )


SHOP = {
    "meta": {"api-version": "1.1"},
    "name": "my-shop",
    "files": [
        file("my_shop-1.0-py3-none-any.whl", "2024-01-01T00:00:00Z"),
        file("my_shop-1.0.tar.gz", "2024-07-01T00:00:00.5Z"),
        file("my_shop-1.1.tar.gz", "2024-06-02T00:00:00Z"),
        file("my_shop-1.1-py3-none-any.whl", "2024-06-03T00:00:00+02:00"),
        file("my_shop-1.2.tar.gz", "2024-08-01T00:00:00Z"),
        file("my_shop-1.3.tar.gz", "2024-08-02T00:00:00Z", yanked="broken"),
        file("my_shop-1.4-py2.7.egg", None),
    ],
}


class Handler(http.server.BaseHTTPRequestHandler):
    asked: ClassVar[list[tuple[str, str | None, str | None]]] = []

    def do_GET(self):
        Handler.asked.append((self.path, self.headers["Accept"], self.headers["Authorization"]))
        pages = {"/simple/my-shop/": (200, json.dumps(SHOP)), "/simple/html/": (200, "<html>"),
                 "/simple/broken/": (500, ""), "/simple/odd/": (200, '{"files": 3}')}  # fmt: skip
        if self.path.startswith("/npm/node-linux-"):
            pages[self.path] = (
                200,
                json.dumps({"versions": {key: {} for key in ("0.10.48", "22.1.0", "8.0.0", "22.0.0")}}),
            )
        if self.path == "/go/golang.org/toolchain/@v/list":
            builds = ("1.9.2.linux-{0}", "1.24.linux-{0}", "1.24.1.linux-{0}", "1.30rc1.linux-{0}", "1.25.other-{0}")
            machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
            pages[self.path] = (200, "\n".join(f"v0.0.1-go{build}" for build in builds).format(machine))
        code, body = pages.get(self.path, (404, ""))
        self.send_response(code)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_releases_after_the_merge_are_counted_by_their_first_file_without_yanked_ones(server):
    assert Index(url=f"http://{server}/simple/").releases_since("My.Shop", MERGED) == 2


def test_a_distribution_is_asked_for_once_and_in_json(server):
    Handler.asked.clear()
    index = Index(url=f"http://{server}/simple")
    for name in ("my-shop", "My_Shop"):
        index.releases_since(name, MERGED)

    assert Handler.asked == [("/simple/my-shop/", "application/vnd.pypi.simple.v1+json", None)]


def test_what_the_index_does_not_know_was_never_released_there(server):
    assert Index(url=f"http://{server}/simple").releases_since("unheard-of", MERGED) == 0


@pytest.mark.parametrize("name", ["html", "broken", "odd"])
def test_an_index_that_does_not_tell_leaves_it_unknown(server, name):
    assert Index(url=f"http://{server}/simple").releases_since(name, MERGED) is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/simple", "file:///etc", "ftp://host/simple", None])
def test_an_index_that_cannot_be_asked_leaves_it_unknown(url):
    assert Index(url=url).releases_since("my-shop", MERGED) is None


def test_a_project_without_a_name_is_asked_of_nobody(server):
    Handler.asked.clear()

    assert Index(url=f"http://{server}/simple").releases_since(None, MERGED) is None
    assert Handler.asked == []


def test_files_without_a_time_leave_it_unknown():
    data = json.dumps({"files": [file("a-1.0.tar.gz", "2024-01-01T00:00:00Z"), file("a-1.1.tar.gz", None)]})

    assert release_times(data.encode()) is None


def test_credentials_go_in_a_header_and_not_in_the_address(server):
    Handler.asked.clear()
    Index(url=f"http://me:p%40ss@{server}/simple").releases_since("my-shop", MERGED)

    assert Handler.asked[0][2] == "Basic " + base64.b64encode(b"me:p@ss").decode()


def test_settings_win_over_the_environment_and_without_either_nobody_is_asked():
    variables = {"PIP_INDEX_URL": "https://index.example/simple"}

    assert (
        configured(MiningSettings(package_index="https://own.example/simple"), variables).url
        == "https://own.example/simple"
    )
    assert configured(MiningSettings(), variables).url == "https://index.example/simple"
    assert configured(MiningSettings(), {}).url is None


def test_npms_registry_tells_the_lines_of_node_that_images_can_have(server):
    assert node_lines({"NPM_CONFIG_REGISTRY": f"http://{server}/npm/"}) == ("8", "22")
    assert node_lines({"npm_config_registry": f"http://{server}/simple/broken"}) is None


def test_the_module_proxy_tells_the_versions_of_go_that_images_can_have(server):
    assert go_versions({"GOPROXY": f"off,http://{server}/go|direct"}) == ("1.9", "1.24")
    assert go_versions({"GOPROXY": f"http://{server}/nothing"}) is None
