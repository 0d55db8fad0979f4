"""Which hosts a build may reach, and how it gets there."""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import re
import socket
import subprocess  # noqa: TID251 - the far end of the relay, as it runs inside a build
import sys
import threading
import urllib.error
import urllib.request
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from miner.image import egress, relay
from miner.image.egress import Allowed
from miner.image.secrets import BuildSecrets
from tests.tiny import MemoryTree

if TYPE_CHECKING:
    from collections.abc import Iterator

BIG = bytes(range(256)) * 40_000
"""More than may be on its way at once."""


def given(**variables: str) -> BuildSecrets:
    return BuildSecrets(variables=variables, ca_bundle=None)


def test_without_an_index_of_ones_own_the_public_one_and_its_files_may_be_reached():
    allowed = egress.allowed(given())
    assert allowed.has("pypi.org", 443)
    assert allowed.has("files.pythonhosted.org", 443)
    assert not allowed.has("github.com", 443)
    assert not allowed.has("pypi.org", 22)


def test_what_a_user_allows_may_be_a_host_a_port_or_all_below_a_domain():
    allowed = egress.allowed(given(), further=("one.example", "two.example:8443", "*.three.example"))
    assert allowed.has("ONE.example.", 80)
    assert allowed.has("two.example", 8443)
    assert not allowed.has("two.example", 443)
    assert allowed.has("deep.three.example", 443)
    assert not allowed.has("three.example", 443)
    assert not allowed.has("xthree.example", 443)


def test_proxies_of_dockers_own_configuration_hold_where_the_user_names_none():
    docker = {"https_proxy": "http://docker.example:3128"}
    assert given().with_proxies(docker).variables == docker
    own = given(HTTP_PROXY="http://own.example")
    assert own.with_proxies(docker) == own


def test_hosts_that_requirements_name_are_found_and_links_of_other_kinds_are_not():
    tree = MemoryTree(
        {
            "requirements/dev.txt": "git+https://me:secret@git.example/a/b.git@main\n"
            "--extra-index-url https://wheels.example:8443/simple\nhttps://files.example/x-1.0.tar.gz\n# https://no.example",
            "pyproject.toml": '[project]\ndependencies = ["a @ https://direct.example/a.whl"]\n'
            '[project.urls]\nHomepage = "https://home.example"\n[tool.poetry.dependencies]\n'
            'b = {git = "https://poetry.example/b.git"}\n',
            "setup.py": "setup(url='https://page.example', install_requires=['c @ git+ssh://git@ssh.example/c'])",
            "src/x.py": "'git+https://code.example/x'",
        }
    )  # fmt: skip
    assert egress.named_hosts(tree, ["d @ git+https://ci.example/d"]) == (
        "ci.example",
        "direct.example",
        "files.example",
        "git.example",
        "poetry.example",
        "ssh.example",
        "wheels.example:8443",
    )


def test_a_named_host_brings_those_that_it_sends_one_on_to():
    assert egress.allowed(given()).and_named(("github.com",)).has("codeload.github.com", 443)


class Site(http.server.BaseHTTPRequestHandler):
    """An index whose files are elsewhere, a page, and a proxy in front of all."""

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Proxy-Authorization")))
        page = {"/simple/pytest/": json.dumps({"files": [{"url": "https://files.elsewhere.example/a.whl"}]}).encode()}
        body = page.get(self.path, BIG if self.path.endswith("/big") else b"hello")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self):
        self.server.asked.append((self.path, self.headers.get("Proxy-Authorization")))
        self.send_response(200)
        self.end_headers()
        with socket.create_connection(self.server.server_address) as far:
            far.sendall(self.connection.recv(65536))
            while data := far.recv(65536):
                self.connection.sendall(data)
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def site() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}", server.asked
        finally:
            server.shutdown()
            thread.join()


def test_an_index_is_asked_where_its_files_are():
    with site() as (here, _):
        allowed = egress.allowed(given(UV_DEFAULT_INDEX=f"http://me:secret@{here}/simple"))
    host, _, port = here.partition(":")
    assert allowed.has(host, int(port))
    assert allowed.has("files.elsewhere.example", 443)
    assert not allowed.has("pypi.org", 443)


@contextlib.contextmanager
def build(allowed: Allowed, **variables: str) -> Iterator[tuple[relay.Relay, str]]:
    """The relay with the program at its far end, which is not in a container here; the proxy's address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = str(resources.files("miner.image").joinpath("tools/relay.py"))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-I", "-S", program, str(port)], bufsize=0, **pipes) as far:
        assert far.stderr.read() == b""

        def send(data: bytes) -> None:
            view = memoryview(data)
            while view:
                view = view[far.stdin.write(view) :]

        with relay.Relay(allowed, send, relay.Way(variables, None)) as near:

            def follow() -> None:
                while data := far.stdout.read(65536):
                    near.feed(data)

            following = threading.Thread(target=follow)
            following.start()
            yield near, f"127.0.0.1:{port}"
            far.kill()
            following.join()


def fetch(url: str, proxy: str) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://{proxy}"}))
    with opener.open(url, timeout=20) as answer:
        return answer.read()


def test_what_is_allowed_comes_through_whole_however_large_and_many_at_once():
    with site() as (here, _), build(Allowed.of([here])) as (near, proxy):
        got: list[bytes] = []
        threads = [threading.Thread(target=lambda: got.append(fetch(f"http://{here}/big", proxy))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == [BIG] * 4
    assert near.refused == []


def test_what_is_not_allowed_is_refused_and_told():
    with site() as (here, asked), build(Allowed.of(["other.example"])) as (near, proxy):
        with pytest.raises(urllib.error.HTTPError, match="403") as caught:
            fetch(f"http://{here}/x", proxy)
        caught.value.close()
    assert asked == []
    assert near.refused == [here]


def test_a_host_that_does_not_answer_is_no_refusal():
    with build(Allowed.of(["127.0.0.1:9"])) as (near, proxy):
        with pytest.raises(urllib.error.HTTPError, match="502") as caught:
            fetch("http://127.0.0.1:9/x", proxy)
        caught.value.close()
    assert near.refused == []


def tunnel(target: str, proxy: str, said: bytes) -> bytes:
    host, _, port = proxy.partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as wire:
        wire.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += wire.recv(1)
        wire.sendall(said)
        wire.shutdown(socket.SHUT_WR)
        rest = b""
        while data := wire.recv(65536):
            rest += data
        return rest


def test_a_tunnel_leads_where_it_is_asked_to():
    with site() as (here, _), build(Allowed.of([here])) as (_near, proxy):
        assert tunnel(here, proxy, b"GET / HTTP/1.0\r\n\r\n").endswith(b"hello")


def test_the_users_own_proxy_is_gone_through_and_its_password_stays_here():
    with site() as (proxying, asked), build(
        Allowed.of(["index.example"]), HTTP_PROXY=f"http://me:p%40ss@{proxying}", https_proxy=f"http://{proxying}"
    ) as (_, proxy):  # fmt: skip
        assert fetch("http://index.example/x", proxy) == b"hello"
        assert tunnel("index.example:443", proxy, b"GET /y HTTP/1.0\r\n\r\n").endswith(b"hello")
    token = base64.b64encode(b"me:p@ss").decode()
    assert asked == [("http://index.example:80/x", f"Basic {token}"), ("index.example:443", None), ("/y", None)]


def test_a_second_request_on_a_connection_can_not_go_elsewhere():
    with site() as (here, asked), build(Allowed.of([here])) as (_, proxy):
        host, _, port = proxy.partition(":")
        with socket.create_connection((host, int(port)), timeout=20) as wire:
            wire.sendall(f"GET http://{here}/a HTTP/1.1\r\nHost: {here}\r\n\r\n".encode() * 2)
            got = b""
            while data := wire.recv(65536):
                got += data
    assert len(re.findall(rb"HTTP/1\.[01] 200", got)) == 1
    assert [path for path, _ in asked] == ["/a"]


def test_rubbish_from_a_build_spoils_nothing():
    sent: list[bytes] = []
    with relay.Relay(Allowed.of(["a.example"]), sent.append, relay.Way({}, None)) as near:
        near.feed(b"\x00\x00\x00\x01\x00\x00\x00")
        near.feed(b"\x00\x00\x00\x01\x01\x00\x04\xff\xff\xff\xff" + b"\xff" * 200)
        for number in range(1000):
            near.feed(number.to_bytes(4, "big") + b"\x00\x00\x00")
        near.feed(b"\x00\x00\x00\x00\x04\x00\x09\n<script>")
    assert near.refused == []
