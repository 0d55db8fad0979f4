"""The model behind an OpenAI-compatible endpoint, by the real client against our scripted server."""

from __future__ import annotations

import contextlib
import socket
import threading

import openai
import pytest

from harness.core.errors import InputError
from harness.solve.base import Fault, Message, ModelError, Request, Sampling, Tool, ToolCall, Usage
from harness.solve.models.endpoint import Api, Endpoint
from harness.solve.models.openai_model import OpenAIModel
from tests.model_server import Call, Fail, ModelServer, Say, Spent, overflow, rate_limit
from tests.model_server.server import KEY

READ = Tool(name="read", description="Reads a file.", parameters={"type": "object", "properties": {}})
BOTH = pytest.mark.parametrize("api", [Api.CHAT, Api.RESPONSES])


@pytest.fixture
def world():
    """Starts servers and models, and ends them; a server that was spoken to wrongly fails the test."""
    with contextlib.ExitStack() as made:

        def make(script, *, api=Api.CHAT, model="m", environment=None, **more) -> tuple[ModelServer, OpenAIModel]:
            server = made.enter_context(ModelServer({"m": script}, **more))
            made.callback(lambda: _hold(server))
            endpoint = Endpoint(base_url=server.base_url, api=api)
            return server, made.enter_context(OpenAIModel(model, endpoint, environment=environment or {}))

        yield make


def _hold(server: ModelServer) -> None:
    assert server.problems == []


def ask(text: str = "hi", **sampling) -> Request:
    messages = (Message(role="system", content="Be brief."), Message(role="user", content=text))
    return Request(messages=messages, sampling=Sampling(**sampling))


@BOTH
def test_an_answer_comes_with_all_that_is_known_of_it(world, api):
    told = Spent(prompt=70, completion=50, cached=30, reasoning=20)
    _, model = world(Say(text="hello " * 40, spent=told, snapshot="m-2026-01-01"), api=api)
    reply = model.ask(ask())
    assert reply.message == Message(role="assistant", content="hello " * 40)
    assert reply.usage == Usage(input_tokens=70, output_tokens=50, cached_input_tokens=30, reasoning_tokens=20)
    assert (reply.model, reply.finish_reason, reply.request_id) == ("m-2026-01-01", "stop", "req_0001")
    assert 0 < reply.first_token_seconds <= reply.seconds
    assert (reply.cost, reply.notes, reply.refusal) == (None, (), None)


@BOTH
def test_the_first_token_is_timed_before_a_slow_answer_ends(world, api):
    gate = threading.Event()
    _, model = world(Say(text="slow " * 40, gate=gate), api=api)
    threading.Timer(0.3, gate.set).start()
    reply = model.ask(ask())
    assert reply.seconds >= 0.25
    assert reply.first_token_seconds < reply.seconds - 0.2


@BOTH
def test_a_conversation_with_tools_goes_both_ways(world, api):
    server, model = world(Say(calls=(Call(name="read", arguments='{"path": "x"}'), Call(name="read"))), api=api)
    called = Message(role="assistant", content="", tool_calls=(ToolCall(call_id="c1", name="read", arguments="{}"),))
    result = Message(role="tool", content="nothing there", tool_call_id="c1")
    reply = model.ask(Request(messages=(*ask().messages, called, result), tools=(READ,)))
    assert [(one.name, one.arguments) for one in reply.message.tool_calls] == [
        ("read", '{"path": "x"}'),
        ("read", "{}"),
    ]
    assert len({one.call_id for one in reply.message.tool_calls}) == 2
    assert reply.finish_reason == "tool_calls"
    assert server.requests[0].tools == ("read",)
    assert server.requests[0].results == ("nothing there",)


@BOTH
def test_arguments_that_are_no_json_come_as_the_model_wrote_them(world, api):
    _, model = world(Say(calls=(Call(name="read", arguments='{"path": '),)), api=api)
    assert model.ask(ask()).message.tool_calls[0].arguments == '{"path": '


@BOTH
def test_a_refusal_is_told_apart_from_an_answer(world, api):
    _, model = world(Say(refusal="I will not."), api=api)
    reply = model.ask(ask())
    assert (reply.refusal, reply.message.content) == ("I will not.", "I will not.")


@BOTH
def test_an_answer_that_ran_out_of_tokens_says_length(world, api):
    _, model = world(Say(text="cut sho", finish="length"), api=api)
    assert model.ask(ask()).finish_reason == "length"


@BOTH
def test_sampling_is_sent_only_where_it_was_chosen(world, api):
    server, model = world(Say(text="x"), api=api)
    model.ask(ask())
    model.ask(ask(temperature=0.0, max_output_tokens=7))
    plain, chosen = (one.body for one in server.requests)
    names = {"temperature", "top_p", "seed", "max_tokens", "max_output_tokens", "max_completion_tokens"}
    assert names.isdisjoint(plain)
    assert {name: chosen[name] for name in names & chosen.keys()} == {
        "temperature": 0.0,
        ("max_tokens" if api is Api.CHAT else "max_output_tokens"): 7,
    }


def test_nothing_is_stored_at_the_endpoint(world):
    server, model = world(Say(text="x"), api=Api.RESPONSES)
    model.ask(ask())
    assert server.requests[0].body["store"] is False


@pytest.mark.parametrize(("offers", "spoken"), [(("chat", "responses"), "chat"), (("responses",), "responses")])
def test_auto_speaks_what_the_endpoint_has_and_remembers_it(world, offers, spoken):
    server, model = world(Say(text="x"), api=Api.AUTO, offers=offers)
    assert model.api == "auto"
    model.ask(ask())
    model.ask(ask())
    assert [one.api for one in server.requests] == [spoken] * 2
    assert model.api == spoken


def test_openai_itself_is_asked_by_responses_first():
    assert Endpoint().preferred == (Api.RESPONSES, Api.CHAT)
    assert Endpoint(base_url="http://localhost:8000/v1").preferred == (Api.CHAT, Api.RESPONSES)


def test_auto_asks_by_chat_alone_where_a_seed_is_given(world):
    server, model = world(Say(text="x"), api=Api.AUTO, offers=("responses",))
    with pytest.raises(ModelError, match="no Chat Completions API"):
        model.ask(ask(seed=7))
    assert server.requests == []


def test_a_seed_is_sent(world):
    server, model = world(Say(text="x"), api=Api.AUTO)
    model.ask(ask(seed=7))
    assert [(one.api, one.body["seed"]) for one in server.requests] == [("chat", 7)]


@BOTH
def test_an_answer_that_fills_its_limit_is_noted_where_the_endpoint_says_it_just_ended(world, api):
    _, model = world(Say(text="hello", spent=Spent(prompt=10, completion=50)), api=api)
    assert model.ask(ask(max_output_tokens=50)).notes == ("limit_untold",)
    assert model.ask(ask(max_output_tokens=51)).notes == ()


@BOTH
def test_an_endpoint_without_request_ids_is_known_by_its_answers_ids(world, api, monkeypatch):
    monkeypatch.setattr("tests.model_server.server.REQUEST_ID", "x-nothing")
    _, model = world(Say(text="hello"), api=api)
    assert model.ask(ask()).request_id == {"chat": "chatcmpl-0001", "responses": "resp_0001"}[api]


def test_responses_refuses_a_seed_rather_than_drop_it(world):
    _, model = world(Say(text="x"), api=Api.RESPONSES)
    with pytest.raises(ModelError, match="takes no seed"):
        model.ask(ask(seed=7))


def test_an_endpoint_without_either_api_is_told(world):
    _, model = world(Say(text="x"), api=Api.AUTO, offers=())
    with pytest.raises(ModelError, match="has no Responses API") as raised:
        model.ask(ask())
    assert raised.value.fault is Fault.BAD_REQUEST
    assert "--base-url" in raised.value.hint


def test_an_unknown_model_is_told_with_those_that_there_are(world):
    _, model = world(Say(text="x"), api=Api.AUTO, model="n")
    with pytest.raises(ModelError, match="does not exist") as raised:
        model.ask(ask())
    assert (raised.value.fault, raised.value.hint) == (Fault.BAD_REQUEST, "the endpoint has m")


@BOTH
@pytest.mark.parametrize(
    ("behaviour", "fault"),
    [
        (rate_limit(), Fault.RATE_LIMIT),
        (Fail(status=500), Fault.SERVER),
        (Fail(status=502, html=True), Fault.SERVER),
        (Fail(drops=True), Fault.NETWORK),
        (Say(text="abc " * 100, cut_after=3), Fault.NETWORK),
        (Say(text="abc " * 100, cut_after=3, cut_politely=True), Fault.NETWORK),
        (Say(text="abc " * 100, garbled=True, cut_after=None), Fault.BAD_REPLY),
        (overflow(), Fault.CONTEXT_OVERFLOW),
        (overflow(status=413), Fault.CONTEXT_OVERFLOW),
        (Fail(status=400, message="Unsupported parameter: 'temperature'"), Fault.BAD_REQUEST),
        (Fail(status=429, code="insufficient_quota", message="You exceeded your quota"), Fault.AUTH),
        (Fail(status=403, message="no"), Fault.AUTH),
        (Fail(status=307, headers={"Location": "http://127.0.0.1:1/v1/chat/completions"}), Fault.BAD_REQUEST),
    ],
)
def test_each_trouble_is_a_fault_of_its_own_and_never_an_answer(world, api, behaviour, fault):
    server, model = world(behaviour, api=api)
    with pytest.raises(ModelError) as raised:
        model.ask(ask())
    assert raised.value.fault is fault
    assert len(server.requests) == 1  # who retries stands around this


def test_where_nobody_listens_nothing_was_asked():
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        endpoint = Endpoint(base_url=f"http://127.0.0.1:{mute.getsockname()[1]}/v1", api=Api.CHAT)
        with (
            OpenAIModel("m", endpoint, environment={}) as model,
            pytest.raises(ModelError, match="cannot be reached") as no,
        ):
            model.ask(ask())
    assert no.value.fault is Fault.UNREACHABLE


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [(rate_limit(seconds=3), 3.0), (rate_limit(milliseconds=1500), 1.5), (rate_limit(), None)],
)
def test_the_wait_that_an_endpoint_asks_for_is_passed_on(world, limit, seconds):
    _, model = world(limit)
    with pytest.raises(ModelError) as raised:
        model.ask(ask())
    assert raised.value.retry_after == seconds


@pytest.mark.parametrize(
    ("spent", "usage", "notes"),
    [
        ("untold", Usage(), ("usage_missing",)),
        (Spent(prompt=10, completion=5, total=99), Usage(input_tokens=10, output_tokens=5), ("usage_inconsistent",)),
        (Spent(prompt=-10, completion=5), Usage(output_tokens=5), ("usage_impossible", "usage_missing")),
        (Spent(prompt=10, completion=0), Usage(input_tokens=10), ("usage_impossible", "usage_missing")),
        (
            Spent(prompt=10, completion=5, cached=11),
            Usage(input_tokens=10, output_tokens=5),
            ("usage_impossible",),
        ),
    ],
)
def test_numbers_that_cannot_be_true_are_told_and_not_used(world, spent, usage, notes):
    _, model = world(Say(text="hello", spent=spent))
    reply = model.ask(ask())
    assert (reply.usage, reply.notes) == (usage, notes)


def test_the_key_is_sent_and_stands_in_no_error(world):
    server, model = world(Fail(status=400, message=f"bad key {KEY}?"), environment={"OPENAI_API_KEY": KEY}, keys={KEY})
    with pytest.raises(ModelError) as raised:
        model.ask(ask())
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert raised.value.message == f"127.0.0.1:{server.port} refused (400): bad key [masked: OPENAI_API_KEY]?"


def test_a_wrong_key_names_the_variable_and_not_the_key(world):
    _, model = world(Say(text="x"), environment={"OPENAI_API_KEY": "hunter2-hunter2"}, keys={KEY})
    with pytest.raises(ModelError) as raised:
        model.ask(ask())
    assert raised.value.fault is Fault.AUTH
    assert "OPENAI_API_KEY" in raised.value.hint
    assert "hunter2" not in str(vars(raised.value))


def test_a_remote_endpoint_without_a_key_is_refused_before_anything_is_sent():
    with pytest.raises(InputError, match="OTHER_KEY is not set"):
        OpenAIModel("m", Endpoint(base_url="https://models.example/v1", api_key_env="OTHER_KEY"), environment={})


@pytest.mark.parametrize(
    "url", ["models.example/v1", "ftp://models.example", "https://", "https://me:secretive@x.example/v1"]
)
def test_a_base_url_that_is_none_is_refused_without_repeating_a_password(url):
    with pytest.raises(InputError) as raised:
        OpenAIModel("m", Endpoint(base_url=url), environment={"OPENAI_API_KEY": KEY})
    assert "secretive" not in raised.value.message


@pytest.mark.parametrize(
    ("url", "checked"), [("https://x.example/v1", True), ("HTTPS://x.example/v1", True), ("http://x.example/v1", False)]
)
def test_certificates_are_checked_wherever_there_are_some(monkeypatch, url, checked):
    seen = []
    client = openai.DefaultHttpxClient
    monkeypatch.setattr(openai, "DefaultHttpxClient", lambda **more: seen.append(more) or client(**more))
    with OpenAIModel("m", Endpoint(base_url=url), environment={"OPENAI_API_KEY": KEY}):
        assert (seen[0]["verify"], seen[0]["follow_redirects"]) == (checked, False)


def test_a_floating_name_and_an_open_line_are_warned_of():
    endpoint = Endpoint(base_url="http://models.example:8000/v1")
    with OpenAIModel("gpt-4o", endpoint, environment={"OPENAI_API_KEY": KEY}) as model:
        floating, plain = model.warnings()
    assert "floating name" in floating
    assert plain.startswith("models.example:8000 is spoken to without encryption")
    assert endpoint.host == "models.example:8000"
