"""The server that an agent takes for the endpoint: it passes on what may pass, and refuses and writes down the rest."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import socket
import socketserver
import threading
import time
from dataclasses import replace

import openai
import pytest

from harness.core.errors import InputError
from harness.solve.base import Fault, LimitReachedError, Message, ModelError, Request, Sampling
from harness.solve.models.endpoint import Api, Endpoint
from harness.solve.models.openai_model import OpenAIModel
from harness.solve.models.response_cache import Asker
from harness.solve.proxy import DoorLimits, Gateway, host_and_port
from tests.model_server import ModelServer, Say
from tests.scripted import Scripted, call, say

TOOLS = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]
HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture
def opened():
    """Opens gateways, and closes them."""
    gateways = []

    def make(*lines, **options):
        model = Scripted(*(lines or [say("hi")]))
        options = {"sampling": Sampling(temperature=0.5), "sample": 3, **options}
        gateway = Gateway(model, **options).at_port().__enter__()
        gateways.append(gateway)
        return gateway, model

    yield make
    for gateway in gateways:
        gateway.__exit__(None, None, None)


@pytest.fixture
def client_of():
    clients = []

    def make(gateway, **options):
        options = {"api_key": gateway.key, "base_url": f"http://127.0.0.1:{gateway.port}/v1", **options}
        clients.append(openai.OpenAI(**options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def test_the_openai_client_takes_it_for_an_endpoint(opened, client_of):
    gateway, model = opened()
    parts = [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    found = client_of(gateway).chat.completions.create(
        model="any", messages=parts, temperature=0.9, top_p=0.1, stop=["x"]
    )
    assert (found.choices[0].message.content, found.choices[0].finish_reason) == ("hi", "stop")
    assert (found.usage.prompt_tokens, found.usage.completion_tokens, found.model) == (10, 5, "scripted-2026-01-01")
    asked = model.requests[0]
    assert [(one.role, one.content) for one in asked.messages] == [("system", "s"), ("user", "hello")]
    assert asked.extra == {"stop": ["x"]}
    assert (asked.sampling, asked.sample) == (Sampling(temperature=0.5, top_p=0.1), 3)
    assert [reply.cost for reply in gateway.passed.replies] == [0.25]
    assert [one.content for one in gateway.passed.messages] == ["s", "hello", "hi"]


def test_tools_go_there_and_back(opened, client_of):
    gateway, model = opened(call("f", x=1))
    turns = [
        *HELLO,
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "result"},
    ]
    found = client_of(gateway).chat.completions.create(model="any", messages=turns, tools=TOOLS).choices[0]
    assert (found.finish_reason, found.message.tool_calls[0].function.arguments) == ("tool_calls", '{"x": 1}')
    assert model.requests[0].tools[0].name == "f"
    assert model.requests[0].messages[1].tool_calls[0].call_id == "c"
    assert (model.requests[0].messages[2].role, model.requests[0].messages[2].tool_call_id) == ("tool", "c")


def test_a_stream_comes_whole_with_its_usage_at_the_end(opened, client_of):
    gateway, _ = opened(call("f", x=1))
    stream = client_of(gateway).chat.completions.create(
        model="any", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert chunks[0].choices[0].delta.tool_calls[0].function.name == "f"
    assert chunks[1].choices[0].finish_reason == "tool_calls"
    assert chunks[2].usage.total_tokens == 15


def test_it_offers_the_one_model(opened, client_of):
    gateway, _ = opened()
    assert [one.id for one in client_of(gateway).models.list()] == ["scripted"]


def test_another_key_opens_nothing(opened, client_of):
    gateway, model = opened()
    with pytest.raises(openai.AuthenticationError):
        client_of(gateway, api_key="sk-other").chat.completions.create(model="any", messages=HELLO)
    assert not model.requests


def test_a_limit_ends_it_and_is_not_asked_again(opened, client_of):
    ended = []
    gateway, model = opened(LimitReachedError("task_cost", "enough"), on_end=lambda: ended.append(1))
    for _ in range(2):
        with pytest.raises(openai.PermissionDeniedError, match="enough"):
            client_of(gateway).chat.completions.create(model="any", messages=HELLO)
    assert (gateway.passed.limit.limit, len(model.requests), ended) == ("task_cost", 1, [1])


def test_a_conversation_that_is_too_long_is_told_as_endpoints_tell_it(opened, client_of):
    gateway, _ = opened(ModelError("too long", fault=Fault.CONTEXT_OVERFLOW), say("shorter"))
    with pytest.raises(openai.BadRequestError) as failed:
        client_of(gateway).chat.completions.create(model="any", messages=HELLO)
    assert failed.value.code == "context_length_exceeded"
    assert (
        client_of(gateway).chat.completions.create(model="any", messages=HELLO).choices[0].message.content == "shorter"
    )
    assert gateway.passed.trouble is None


def test_an_endpoint_that_fails_is_told_once_and_kept_as_trouble(opened, client_of):
    gateway, model = opened(ModelError("down", fault=Fault.SERVER))
    with pytest.raises(openai.InternalServerError, match="down"):
        client_of(gateway).chat.completions.create(model="any", messages=HELLO)
    assert (gateway.passed.trouble.fault, len(model.requests)) == (Fault.SERVER, 1)
    assert gateway.passed.over.is_set()


WRONG = {
    "no JSON": b"{",
    "no object": b"[]",
    "no message": b'{"messages": []}',
    "an unknown role": b'{"messages": [{"role": "king", "content": "x"}]}',
    "a picture": b'{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}',
    "several answers": b'{"messages": [{"role": "user", "content": "x"}], "n": 2}',
    "no UTF-8": b'{"messages": [{"role": "user", "content": "\xff"}]}',
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_what_cannot_be_passed_on_is_refused_with_a_reason(body, opened):
    gateway, model = opened()
    answer = asked(gateway, "POST", "/v1/chat/completions", body)
    assert answer[0] == 400
    assert json.loads(answer[1])["error"]["message"]
    assert not model.requests


def asked(gateway, method, path, body=None, headers=()):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=120)
    try:
        connection.request(method, path, body, {"Authorization": f"Bearer {gateway.key}", **dict(headers)})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


REFUSED = {
    "another path": ("POST", "/v1/files"),
    "another method": ("DELETE", "/v1/models"),
    "another host": ("GET", "http://127.0.0.1:1/x"),
    "a tunnel": ("CONNECT", "example.org:443"),
    "a tunnel to nowhere": ("CONNECT", ":::"),
    "a tunnel without a port": ("CONNECT", "127.0.0.1"),
    "the metadata address": ("GET", "http://169.254.169.254/latest/meta-data/"),
    "another scheme": ("GET", "ftp://127.0.0.1/x"),
}


@pytest.mark.parametrize(("method", "path"), REFUSED.values(), ids=REFUSED)
def test_everything_else_is_refused_and_written_down(method, path, opened):
    gateway, model = opened()
    assert asked(gateway, method, path, b"" if method == "POST" else None)[0] in (403, 404)
    assert gateway.passed.refused == [f"{method} {path}"]
    assert not model.requests


def test_a_body_without_or_beyond_a_length_is_refused(opened):
    gateway, _ = opened()
    for length in ("x", "-1", str(10**12)):
        assert asked(gateway, "POST", "/v1/chat/completions", None, {"Content-Length": length})[0] == 411


@pytest.fixture
def web():
    """A plain web server, and what it was asked."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            seen.append((self.path, self.headers["Host"], self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(201)
            self.end_headers()
            self.wfile.write(b"from there")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}", seen
        server.shutdown()
        thread.join()


def test_a_host_that_was_named_is_reached_as_through_any_proxy(opened, web):
    host, seen = web
    gateway, _ = opened(allow=[host_and_port(host)])
    answer = asked(gateway, "POST", f"http://{host}/a?b=c", b"data", {"Host": "liar", "Proxy-Authorization": "secret"})
    assert answer == (201, b"from there")
    assert seen == [("/a?b=c", host, b"data")]


def test_a_tunnel_to_a_host_that_was_named_carries_both_ways(opened, web):
    host, seen = web
    gateway, _ = opened(allow=[host_and_port(host)])
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=120) as near:
        near.sendall(f"CONNECT {host} HTTP/1.1\r\n\r\n".encode())
        assert near.recv(1000).startswith(b"HTTP/1.1 200")
        near.sendall(b"POST /x HTTP/1.0\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi")
        assert b"from there" in b"".join(iter(lambda: near.recv(1000), b""))
    assert seen == [("/x", "h", b"hi")]
    assert gateway.passed.refused == []


def test_a_port_that_was_not_named_is_another_host(opened, web):
    host, port = host_and_port(web[0])
    gateway, _ = opened(allow=[(host, port + 1)])
    assert asked(gateway, "POST", f"http://{web[0]}/", b"")[0] == 403


@contextlib.contextmanager
def tunnel(gateway, host):
    """A connection to a host through the gateway, opened."""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=120) as near:
        near.sendall(f"CONNECT {host} HTTP/1.1\r\n\r\n".encode())
        assert b" 200 " in near.recv(1000)
        yield near


def rest(near) -> bytes:
    """What comes until the gateway lets go."""
    got = b""
    with contextlib.suppress(ConnectionError):
        while data := near.recv(65536):
            got += data
    return got


@pytest.fixture
def pouring():
    """A server that reads all that comes, then answers a megabyte."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                self.request.recv(1)
                self.request.sendall(b"x" * 1_000_000)
                while self.request.recv(65536):
                    pass

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_more_bytes_to_the_agent_than_it_may_have_end_it(opened, pouring):
    ended = []
    gateway, _ = opened(
        allow=[host_and_port(pouring)], limits=DoorLimits(received_bytes=300_000), on_end=lambda: ended.append(1)
    )
    with tunnel(gateway, pouring) as near:
        near.sendall(b"x")
        assert len(rest(near)) < 300_000
    assert (gateway.passed.limit.limit, ended) == ("task_received_bytes", [1])
    assert gateway.passed.refused == ["300000 bytes were received, as many as one attempt may; the attempt ends"]


def test_more_bytes_from_the_agent_than_it_may_send_end_it(opened, pouring):
    gateway, _ = opened(allow=[host_and_port(pouring)], limits=DoorLimits(sent_bytes=300_000))
    with tunnel(gateway, pouring) as near, contextlib.suppress(ConnectionError):
        near.sendall(b"x" * 1_000_000)
        rest(near)
    assert gateway.passed.limit.limit == "task_sent_bytes"
    assert "300000 bytes were sent" in gateway.passed.refused[0]


def test_bytes_are_counted_over_all_connections_and_questions(opened, client_of):
    gateway, model = opened(say("one"), say("two"), say("three"), limits=DoorLimits(sent_bytes=30_000))
    client = client_of(gateway, max_retries=0)
    question = {"model": "any", "messages": [{"role": "user", "content": "x" * 12_000}]}
    for _ in range(2):
        client.chat.completions.create(**question)
    with pytest.raises(openai.APIError):
        client.chat.completions.create(**question)
    assert len(model.requests) == 2
    assert gateway.passed.limit.limit == "task_sent_bytes"


def test_more_connections_at_once_than_it_may_have_are_refused_with_a_reason_and_free_when_one_ends(opened, pouring):
    gateway, _ = opened(allow=[host_and_port(pouring)], limits=DoorLimits(at_once=2))
    with tunnel(gateway, pouring), tunnel(gateway, pouring):
        status, body = asked(gateway, "GET", "/v1/models")
        assert (status, json.loads(body)["error"]["message"]) == (
            503,
            "at most 2 connections may be open at the same time",
        )
    assert gateway.passed.refused == ["at most 2 connections may be open at the same time"]
    deadline = time.monotonic() + 120
    while asked(gateway, "GET", "/v1/models")[0] == 503:
        assert time.monotonic() < deadline
    assert gateway.passed.limit is None


def test_more_connections_in_all_than_it_may_make_end_it(opened):
    gateway, _ = opened(limits=DoorLimits(connections=3))
    assert [asked(gateway, "GET", "/v1/models")[0] for _ in range(3)] == [200] * 3
    status, body = asked(gateway, "GET", "/v1/models")
    assert (status, json.loads(body)["error"]["code"]) == (503, "limit_reached")
    assert gateway.passed.limit.limit == "task_connections"
    assert gateway.passed.over.is_set()


def test_an_answer_of_another_host_comes_whole_however_long(opened):
    body = b"y" * 5_000_000

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        host = f"127.0.0.1:{server.server_address[1]}"
        gateway, _ = opened(allow=[host_and_port(host)])
        assert asked(gateway, "GET", f"http://{host}/") == (200, body)
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("text", ["", "host", "host:", ":80", "host:x", "http://host:80", "user@host:80", "host:99999"])
def test_what_is_no_host_and_port_is_told(text):
    with pytest.raises(InputError, match="HOST:PORT"):
        host_and_port(text)


def test_a_host_may_be_an_address_of_either_kind_in_any_case():
    assert host_and_port("API.Example.com:443") == ("api.example.com", 443)
    assert host_and_port("[::1]:8080") == ("::1", 8080)


def test_further_settings_reach_the_endpoint_by_chat_completions_and_part_kept_answers():
    asked = Request(messages=(Message(role="user", content="hello"),), extra={"stop": ["x"], "tool_choice": "none"})
    with ModelServer({"m": lambda _: Say(text="hi")}) as server, of(server, Api.AUTO) as model:
        model.ask(replace(asked, extra={}))
        model.ask(asked)
        assert [one.api for one in server.requests] == ["chat", "chat"]
        assert (server.requests[1].body["stop"], server.requests[1].body["tool_choice"]) == (["x"], "none")
        with of(server, Api.RESPONSES) as other, pytest.raises(ModelError, match="stop, tool_choice") as failed:
            other.ask(asked)
        assert failed.value.fault is Fault.BAD_REQUEST
    keys = Asker(endpoint="e", api="chat", model="m", day=None)
    assert keys.key(asked) != keys.key(replace(asked, extra={}))


def of(server, api):
    return OpenAIModel("m", Endpoint(base_url=server.base_url, api=api), environment={})


def test_a_unix_socket_is_a_door_with_the_same_limits(tmp_path):
    gateway = Gateway(Scripted(say("hi")), sampling=Sampling(), sample=0, limits=DoorLimits(connections=1))
    with gateway.at_socket(tmp_path / "door"):
        told = []
        for _ in range(2):
            with socket.socket(socket.AF_UNIX) as near:
                near.connect(str(tmp_path / "door"))
                with contextlib.suppress(BrokenPipeError):  # it may have been refused already
                    near.sendall(f"GET /v1/models HTTP/1.0\r\nAuthorization: Bearer {gateway.key}\r\n\r\n".encode())
                told.append(rest(near).split(b" ")[1])
    assert told == [b"200", b"503"]
