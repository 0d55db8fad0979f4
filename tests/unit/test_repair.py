"""Recipes that a model proposes: what of its answers is taken, what it is told, when it is asked no more."""

from __future__ import annotations

import json

import pytest

from harness.solve.models import prices
from harness.solve.models.endpoint import Api, Endpoint
from harness.solve.models.meter import Limits, Spending
from harness.solve.models.openai_model import OpenAIModel
from harness.solve.models.retry import RetryPolicy
from harness.solve.models.stack import Wrapped
from miner.assist import model_session
from miner.assist.repair import proposal
from miner.assist.repair.run import Repairer
from miner.evidence.tree import Evidence, Recipe
from miner.languages.built import Failing
from tests.model_server import ModelServer, Say, server_error
from tests.program import goldseam
from tests.trees import Files

RECIPE = Recipe(
    project="pyproject.toml",
    evidence=Evidence(rung="extra:test", requirements=("six", "Pillow<9"), pins=("pillow==8.0", "attrs==20.1")),
    apt=("libpq-dev",),
    env={"KEPT": "1"},
    commands=("make old",),
)
FAILING = Failing(recipe=RECIPE, python="3.11", step="install", said="error: libfoo.h: No such file")


def answer(**members: object) -> str:
    return json.dumps(members)


def test_a_proposal_is_added_to_the_recipe():
    found = proposal.read(answer(requirements=["pillow>=10"], apt=["libfoo-dev"], env={"APP": "x"}, commands=["make"]))
    got = proposal.applied(RECIPE, found, number=2)

    assert got.evidence.requirements == ("six", "pillow>=10")
    assert got.evidence.pins == ("attrs==20.1",)
    assert (got.apt, got.commands) == (("libpq-dev", "libfoo-dev"), ("make",))
    assert got.env == {"KEPT": "1", "APP": "x"}
    assert got.overrides == ("pillow>=10",)
    assert got.rung == "extra:test+repair:2"


def test_what_is_not_to_be_asked_for_loses_its_pin_too():
    got = proposal.applied(RECIPE, proposal.read(answer(without=["Pillow"])), number=1)
    assert (got.evidence.requirements, got.evidence.pins) == (("six",), ("attrs==20.1",))


def test_a_second_proposal_stands_on_the_first():
    first = proposal.applied(RECIPE, proposal.read(answer(apt=["a1"])), number=1)
    second = proposal.applied(first, proposal.read(answer(apt=["b1"])), number=2)
    assert (second.apt, second.rung) == (("libpq-dev", "a1", "b1"), "extra:test+repair:2")


def test_words_around_the_object_do_no_harm():
    assert proposal.read('Sure:\n```json\n{"apt": ["libfoo-dev"]}\n```\n').apt == ("libfoo-dev",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("install libfoo", "no JSON object"),
        ("{apt: libfoo}", "no JSON"),
        ("{" * 5000 + "}" * 5000, "JSON"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "JSON"),
        ("{}", "changes nothing"),
        (answer(why="no idea"), "changes nothing"),
        (answer(apt="libfoo-dev"), "apt"),
        (answer(apt=["libfoo-dev; rm -rf /"]), "apt"),
        (answer(tests=["x"]), "tests"),
        (answer(requirements=["not a requirement!"]), "PEP 508"),
        (answer(requirements=["x @ https://example.org/x.whl"]), "address"),
        (answer(requirements=["x"] * 41), "requirements"),
        (answer(env={"PYTEST_ADDOPTS": "--co"}), "PYTEST_ADDOPTS"),
        (answer(env={"LD_PRELOAD": "x"}), "LD_PRELOAD"),
        (answer(env={"a b": "x"}), "env"),
        (answer(env={"A": "x\ny"}), "env"),
        (answer(commands=["one\ntwo"]), "commands"),
        (answer(commands=["x" * 501]), "commands"),
        ('{"apt": ["\ud800"]}', "apt"),
    ],
)
def test_an_answer_without_a_usable_recipe_says_why(text, why):
    with pytest.raises(proposal.NoProposalError, match=why):
        proposal.read(text)


def test_the_model_sees_the_files_that_say_how_tests_run_and_the_log_without_secrets():
    key = "ghp_" + "a1B2" * 9
    tree = Files({"pyproject.toml": "[project]\nname='x'", "src/x.py": "SECRET = 1", "tests/test_x.py": "def test"})
    failing = Failing(recipe=RECIPE, python="3.11", step="install", said=f"error: libfoo.h\ntoken {key}")
    said = "\n".join(one.content for one in proposal.question(failing, tree))

    assert "name='x'" in said
    assert "libfoo.h" in said
    assert '"apt": [\n  "libpq-dev"' in said
    assert "def test" not in said
    assert "SECRET" not in said
    assert key not in said


def test_files_of_the_project_are_those_of_its_own_folder():
    tree = Files({"pyproject.toml": "whole", "libs/a/pyproject.toml": "mine", "libs/b/pyproject.toml": "other"})
    recipe = Recipe(project=None, evidence=Evidence(rung="x"), root="libs/a")
    failing = Failing(recipe=recipe, python="3.11", step="resolve", said="")
    said = proposal.question(failing, tree)[1].content
    assert "mine" in said
    assert "other" not in said


def test_broken_bytes_in_files_and_answers_can_be_sent():
    asked = proposal.question(FAILING, Files({"setup.py": b"\xff\xfe"}))
    again = proposal.failed_again(asked, "\ud800", FAILING)
    assert all(one.content.encode() for one in again)


@pytest.fixture
def repairer_on(tmp_path):
    """A repairer that asks a scripted server, and what a person was told."""
    with ModelServer({"m": Say()}) as server:
        endpoint = Endpoint(base_url=server.base_url, api=Api.CHAT)
        with OpenAIModel("m", endpoint, environment={"OPENAI_API_KEY": "none"}) as client:

            def made(script, *, rounds=3, limits=None, earlier=None):
                server.script["m"] = script
                told = []
                wrapped = Wrapped(
                    client, endpoint=endpoint.base_url, cache=None, prices=prices.load(None),
                    limits=limits or Limits(), policy=RetryPolicy(retries={}), earlier=earlier or Spending(),
                )  # fmt: skip
                place = tmp_path / "repairs.json"
                return Repairer(wrapped, name="m", host="here", rounds=rounds, place=place, warn=told.append), told

            yield made, server, tmp_path / "repairs.json"


def test_an_answer_that_can_not_be_taken_is_asked_for_once_more(repairer_on):
    made, server, place = repairer_on
    repairer, _ = made((Say(text="hm"), Say(text=answer(apt=["libfoo-dev"]))))
    session = repairer.on("x-1", Files())
    found = session.propose(FAILING)

    assert found.apt == ("libpq-dev", "libfoo-dev")
    assert "no JSON object" in server.requests[1].text
    told = session.summary(mended=True)
    assert (told.rounds, told.model, told.endpoint, repairer.mended) == (1, "m", "here", 1)
    assert model_session.earlier(place, "repairs") == repairer.spent
    assert told.input_tokens == repairer.spent.input_tokens > 0


def test_after_the_last_round_nothing_is_proposed(repairer_on):
    made, server, _ = repairer_on
    repairer, _ = made(Say(text=answer(apt=["libfoo-dev"])), rounds=2)
    session = repairer.on("x-1", Files())
    found = [session.propose(FAILING) for _ in range(3)]

    assert [one is None for one in found] == [False, False, True]
    assert len(server.requests) == 2
    assert "tried and failed, too" in server.requests[1].text


def test_a_limit_ends_repairs_of_all_tasks_and_a_person_is_told_once(repairer_on):
    made, server, _ = repairer_on
    repairer, told = made(Say(text=answer(apt=["x1"])), limits=Limits(tokens=10), earlier=Spending(input_tokens=20))
    assert [repairer.on(name, Files()).propose(FAILING) for name in ("a", "b")] == [None, None]
    assert len(told) == 1
    assert "limit on tokens" in told[0]
    assert server.requests == []


def test_an_endpoint_that_fails_rejects_nothing_else(repairer_on):
    made, _, _ = repairer_on
    repairer, told = made(server_error(400))
    session = repairer.on("a", Files())
    assert session.propose(FAILING) is None
    assert session.summary(mended=False) is None
    assert "could not be asked" in told[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--no-validate",), "--no-validate builds none"),
        (("--executor", "ray"), "one machine only"),
    ],
)
def test_repairs_that_can_not_be_are_refused(tmp_path, words, said):
    done = goldseam("mine", tmp_path, "-o", tmp_path / "out", "--repair-model", "m", *words)
    assert done.returncode == 2
    assert said in done.error_text
