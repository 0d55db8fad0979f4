"""The scripted server speaks the API's own dialect: the real client reads it, and the official types hold for it."""

from __future__ import annotations

import contextlib

import openai
import pytest

from tests.model_server import Asked, Call, Fail, ModelServer, Say, Spent, overflow, rate_limit, schemas, storm

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
TOOL = {"name": "read", "description": "Reads.", "parameters": {"type": "object", "properties": {}}}


@pytest.fixture
def client():
    """Makes clients, and closes them at the end."""
    with contextlib.ExitStack() as made:

        def make(server: ModelServer, key: str = "none") -> openai.OpenAI:
            return made.enter_context(openai.OpenAI(base_url=server.base_url, api_key=key, max_retries=0))

        yield make


SCRIPT = {
    "text": Say(text="hello " * 30, spent=Spent(prompt=7, completion=5, cached=3, reasoning=1), snapshot="text-2026"),
    "calls": Say(calls=(Call(name="read", arguments='{"path": "x"}'), Call(name="read", arguments="{broken"))),
    "refuses": Say(refusal="I will not."),
    "filtered": Say(refusal="no", finish="content_filter"),
    "long": Say(text="cut sho", finish="length"),
    "untold": Say(text="hi", spent="untold"),
}


@pytest.mark.parametrize("model", SCRIPT)
@pytest.mark.parametrize("stream", [False, True])
def test_every_answer_holds_to_the_official_types(model, stream, client):
    with ModelServer(SCRIPT) as server:
        asked = client(server)
        more = {"stream_options": {"include_usage": True}} if stream else {}
        chat = asked.chat.completions.create(
            model=model, messages=MESSAGES, tools=[{"type": "function", "function": TOOL}], stream=stream, **more
        )
        responses = asked.responses.create(
            model=model, input=MESSAGES, tools=[{"type": "function", "strict": False, **TOOL}], stream=stream
        )
        if stream:
            list(chat), list(responses)
    assert server.problems == []
    assert [one.messages for one in server.requests] == [(("system", "Be brief."), ("user", "hi"))] * 2
    assert [one.tools for one in server.requests] == [("read",)] * 2


def test_a_field_that_the_api_does_not_have_is_a_problem():
    assert schemas.problems("model", {"id": "m", "object": "model", "created": 1, "owned_by": "me", "size": 7})
    assert schemas.problems("chat.request", {"model": "m", "messages": [], "max_retries": 3})
    assert schemas.problems("chat.request", {"model": "m", "messages": [{"role": "nobody"}]})
    assert not schemas.problems("chat.request", {"model": "m", "messages": [], "seed": 3, "stream": False})


def test_a_script_answers_in_turn_and_then_repeats_its_last(client):
    with ModelServer({"m": storm(1, Say(text="at last"), fault=rate_limit(milliseconds=20))}) as server:
        asked = client(server)
        with pytest.raises(openai.RateLimitError) as refused:
            asked.responses.create(model="m", input="hi")
        assert refused.value.response.headers["retry-after-ms"] == "20"
        assert [asked.responses.create(model="m", input="hi").output_text for _ in range(2)] == ["at last"] * 2


def test_a_script_may_be_a_function_of_the_request(client):
    def echo(asked: Asked) -> Say:
        return Say(text=asked.text.upper())

    with ModelServer({"m": echo}) as server:
        assert client(server).responses.create(model="m", input="hi").output_text == "HI"


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (overflow(), openai.BadRequestError),
        (Fail(status=503), openai.InternalServerError),
        (Fail(drops=True), openai.APIConnectionError),
        (Fail(status=502, html=True), openai.InternalServerError),
    ],
)
def test_faults_reach_the_client_as_what_they_are(fault, raised, client):
    with ModelServer({"m": fault}) as server, pytest.raises(raised):
        client(server).responses.create(model="m", input="hi")


def test_a_server_with_keys_refuses_others(client):
    with ModelServer({"m": Say(text="hi")}, keys={"right"}) as server:
        with pytest.raises(openai.AuthenticationError):
            client(server, "wrong").responses.create(model="m", input="hi")
        assert client(server, "right").responses.create(model="m", input="hi").output_text == "hi"


def test_an_api_that_is_not_offered_is_not_found(client):
    with ModelServer({"m": Say(text="hi")}, offers=("chat",)) as server, pytest.raises(openai.NotFoundError):
        client(server).responses.create(model="m", input="hi")
