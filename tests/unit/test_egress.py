"""Which hosts a build may reach, and how it gets there."""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import re
import socket
import socketserver
import ssl
import subprocess  # noqa: TID251 - the far end of the relay, as it runs inside a build
import sys
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from miner.layers import egress, relay
from miner.layers.egress import Allowed
from miner.layers.secrets import BuildSecrets
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


def test_a_rust_extension_needs_the_hosts_of_crates_and_those_that_its_manifest_names():
    manifest = '[dependencies]\npyo3 = "0.22"\nx = { git = "https://git.example/x" }\n'
    assert egress.named_hosts(MemoryTree({"rust/Cargo.toml": manifest})) == (
        "git.example",
        "index.crates.io",
        "static.crates.io",
    )


def test_a_named_host_brings_those_that_it_sends_one_on_to():
    assert egress.allowed(given()).and_named(("github.com",)).has("codeload.github.com", 443)


@pytest.mark.parametrize("index", ["index.crates.io", "registry.npmjs.org", "proxy.golang.org"])
def test_indexes_of_crates_npm_and_go_may_be_at_any_address_and_other_names_may_not(index):
    reached = egress.allowed(given()).and_named((index, "git.example"))
    assert reached.trusts(index, 443)
    assert not reached.trusts("git.example", 443)


def test_npms_registry_is_reached_where_a_build_needs_it_or_the_user_names_one():
    assert not egress.allowed(given()).has("registry.npmjs.org", 443)
    assert egress.allowed(given(NPM_CONFIG_REGISTRY="https://npm.example/x")).trusts("npm.example", 443)


def test_each_module_proxy_that_the_user_names_is_reached():
    allowed = egress.allowed(given(GOPROXY="https://go.example/x,https://mirror.example|direct"))
    assert allowed.trusts("go.example", 443)
    assert allowed.trusts("mirror.example", 443)


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
        self.connection.sendall(self.connection.recv(65536))
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
    held = socket.socket()  # as long as it listens to nobody, a server may take its port, and nobody is given it
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    port = held.getsockname()[1]
    program = str(resources.files("miner.layers").joinpath("tools/relay.py"))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with held, subprocess.Popen([sys.executable, "-I", "-S", program, str(port)], bufsize=0, **pipes) as far:
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
    with opener.open(url, timeout=120) as answer:
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
    with socket.create_connection((host, int(port)), timeout=120) as wire:
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


def hello(name: str) -> bytes:
    """What a TLS client says first, in a connection to a server of this name."""
    said = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), said, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return said.read()


@contextlib.contextmanager
def echo() -> Iterator[tuple[str, list[bytes]]]:
    """A server that says back what it is told; its address, and what it was told."""
    told: list[bytes] = []

    class Echo(socketserver.BaseRequestHandler):
        def handle(self):
            while data := self.request.recv(65536):
                told.append(data)
                self.request.sendall(data)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}", told
        finally:
            server.shutdown()
            thread.join()


def test_a_tunnel_leads_where_it_is_asked_to():
    said = hello("127.0.0.1")
    with echo() as (here, _), build(Allowed.of([here])) as (_near, proxy):
        assert tunnel(here, proxy, said) == said


def test_a_tunnel_to_one_host_carries_no_tls_to_another():
    with echo() as (here, told), build(Allowed.of([here])) as (near, proxy):
        assert tunnel(here, proxy, hello("inside.example")) == b""
    assert told == []
    assert near.refused == [f"inside.example:{here.partition(':')[2]}"]


@pytest.mark.parametrize(
    "said", [b"GET / HTTP/1.1\r\nHost: inside.example\r\n\r\n", b"\x16\x03\x01\x00\x05\x02" + b"x" * 9]
)
def test_a_tunnel_carries_nothing_but_tls(said):
    with echo() as (here, told), build(Allowed.of([here])) as (_, proxy):
        assert tunnel(here, proxy, said) == b""
    assert told == []


def test_the_users_own_proxy_is_gone_through_and_its_password_stays_here():
    said = hello("index.example")
    with site() as (proxying, asked), build(
        Allowed.of(["index.example"]), HTTP_PROXY=f"http://me:p%40ss@{proxying}", https_proxy=f"http://{proxying}"
    ) as (_, proxy):  # fmt: skip
        assert fetch("http://index.example/x", proxy) == b"hello"
        assert tunnel("index.example:443", proxy, said).endswith(said)
    token = base64.b64encode(b"me:p@ss").decode()
    assert asked == [("http://index.example:80/x", f"Basic {token}"), ("index.example:443", None)]


NOT_PUBLIC = [
    "127.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.1.2.3",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::8.8.8.8",
    "5f00::1",
    "localhost",
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_of_the_public_internet_is_known(address):
    assert not egress.is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::"]
)
def test_an_address_of_the_public_internet_is_known(address):
    assert egress.is_public(address)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1", "2130706433", "0", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_host_that_the_repository_names_is_not_reached_at_an_address_inside(host):
    with site() as (here, asked):
        named = f"{host}:{here.partition(':')[2]}"
        with build(Allowed.of([]).and_named([named])) as (near, proxy):
            with pytest.raises(urllib.error.HTTPError, match="403") as caught:
                fetch(f"http://{named}/x", proxy)
            why = caught.value.read().decode()
        assert asked == []
    assert near.refused == [named.replace("[", "").replace("]", "")]
    assert "not a public address" in why
    assert "[images] allow_hosts" in why


def test_what_a_user_names_is_reached_wherever_it_is_though_the_repository_names_it_too():
    with site() as (here, _), build(Allowed.of([here]).and_named([here])) as (_near, proxy):
        assert fetch(f"http://{here}/x", proxy) == b"hello"


def test_a_host_that_a_user_names_opens_no_other_port_to_the_repository():
    with site() as (here, asked), build(Allowed.of(["127.0.0.1:9"]).and_named([here])) as (_, proxy):
        with pytest.raises(urllib.error.HTTPError, match="403") as caught:
            fetch(f"http://{here}/x", proxy)
        caught.value.close()
    assert asked == []


def test_a_pattern_in_requirements_names_no_host():
    assert not Allowed.of([]).and_named(["*.example", "*"]).has("a.example", 443)


def answers(monkeypatch, *each: list[str]) -> None:
    """Have names looked up to these addresses, one answer after the other; addresses are themselves."""
    real, left = socket.getaddrinfo, list(each)

    def answer(host, port, *more, **options):
        if not str(host).endswith(".example"):
            return real(host, port, *more, **options)
        if not (found := left.pop(0)):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


def test_a_host_that_the_repository_names_is_asked_of_the_proxy_by_the_address_that_was_looked_at(monkeypatch):
    said = hello("git.example")
    answers(monkeypatch, ["10.0.0.1", "93.184.215.14"], ["127.0.0.1"])
    with site() as (proxying, asked), build(
        Allowed.of([]).and_named(["git.example", "inside.example"]),
        http_proxy=f"http://{proxying}",
        https_proxy=f"http://{proxying}",
    ) as (_, proxy):  # fmt: skip
        assert tunnel("git.example:443", proxy, said).endswith(said)
        assert fetch("http://git.example/x", proxy) == b"hello"
        with pytest.raises(urllib.error.HTTPError, match="403") as caught:
            fetch("http://inside.example/x", proxy)
        caught.value.close()
    assert [path for path, _ in asked] == ["93.184.215.14:443", "http://93.184.215.14:80/x"]


def test_a_host_is_looked_up_once_for_all_connections_of_a_build(monkeypatch):
    with site() as (place, asked), ThreadPoolExecutor(8) as pool:
        answers(monkeypatch, ["127.0.0.1"])
        port = place.rpartition(":")[2]
        with build(Allowed.of([f"index.example:{port}"])) as (_, proxy):
            bodies = list(pool.map(lambda _: fetch(f"http://index.example:{port}/x", proxy), range(16)))
    assert (set(bodies), len(asked)) == ({b"hello"}, 16)


def test_a_host_that_the_repository_names_and_that_only_a_proxy_could_look_up_is_refused(monkeypatch):
    answers(monkeypatch, [])
    with site() as (proxying, asked), build(
        Allowed.of([]).and_named(["git.example"]), http_proxy=f"http://{proxying}"
    ) as (_, proxy):  # fmt: skip
        with pytest.raises(urllib.error.HTTPError, match="403") as caught:
            fetch("http://git.example/x", proxy)
        assert "allow_hosts" in caught.value.read().decode()
    assert asked == []


def ask(proxy: str, said: bytes) -> bytes:
    """The answer to a request as it stands here."""
    host, _, port = proxy.partition(":")
    with socket.create_connection((host, int(port)), timeout=120) as wire:
        wire.sendall(said)
        wire.shutdown(socket.SHUT_WR)
        got = b""
        while data := wire.recv(65536):
            got += data
    return got


@pytest.mark.parametrize(
    "headers",
    [
        "Host: inside.example",
        "Host: {here}\r\nHost: inside.example",
        "Host: {here}1",
        "X: a\nHost: inside.example",
        "Host: {here}\r\n folded",
        "Host : inside.example",
        "Transfer-Encoding: chunked",
        "Content-Length: 1\r\nContent-Length: 2",
        "Content-Length: +1",
    ],
)
def test_a_request_that_could_be_read_as_one_for_another_host_is_not_passed_on(headers):
    with site() as (here, asked), build(Allowed.of([here])) as (_, proxy):
        said = f"GET http://{here}/a HTTP/1.1\r\n{headers.format(here=here)}\r\n\r\n"
        assert ask(proxy, said.encode()).startswith(b"HTTP/1.1 400 ")
    assert asked == []


def test_the_far_side_is_told_the_host_that_was_allowed():
    with echo() as (here, told), build(Allowed.of([here])) as (_, proxy):
        ask(proxy, f"GET http://{here}/a HTTP/1.0\r\n\r\n".encode())
    assert f"\r\nHost: {here}\r\n".encode() in b"".join(told)


def test_no_more_than_the_body_of_a_request_follows_it():
    with echo() as (here, told), build(Allowed.of([here])) as (_, proxy):
        said = f"POST http://{here}/a HTTP/1.1\r\nHost: {here}\r\nContent-Length: 3\r\n\r\nabc"
        ask(proxy, f"{said}GET / HTTP/1.1\r\nHost: inside.example\r\n\r\n".encode())
    assert b"".join(told).endswith(b"\r\n\r\nabc")
    assert b"".join(told).count(b"Host:") == 1


def test_a_second_request_on_a_connection_can_not_go_elsewhere():
    with site() as (here, asked), build(Allowed.of([here])) as (_, proxy):
        host, _, port = proxy.partition(":")
        with socket.create_connection((host, int(port)), timeout=120) as wire:
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
