"""Whatever GitHub does on the way: waited out, asked for less, or said plainly; never a secret in the words."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from miner.sources import github_client
from miner.sources.github import GithubForge
from miner.sources.github_auth import Credential, host_of
from miner.sources.github_client import CredentialsError, Gateway, GithubError, NotThereError
from tests.github_server import GithubServer, World, faults

TOKEN = "ghp_SecretOfAda0123456789"


@pytest.fixture
def server(tmp_path):
    world = World(tmp_path)
    repo = world.repository("acme/app")
    for number in range(1, 8):
        repo.pull(number, f"Fix {number}", head=repo.git.sha(), merge=repo.git.sha())
    with GithubServer(world) as running:
        yield running
    assert running.problems == []


@pytest.fixture
def waits():
    return []


@pytest.fixture
def gateway(server, waits):
    credential = Credential(kind="token", secret=TOKEN)
    return Gateway(host_of(server.api_url), credential, max_wait=7200, sleep=waits.append)


def pulls(gateway, page_size=50):
    forge = GithubForge(gateway, "acme/app", page_size=page_size)
    forge.read_pages()
    return [pull.number for pull in forge.pulls]


ALL = [7, 6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("fault", "least", "most"),
    [
        (lambda: faults.primary(900), 890, 902),
        (lambda: faults.secondary(retry_after=30), 30, 30),
        (faults.secondary, 60, 60),
        (lambda: faults.secondary(status=429), 60, 60),
        (faults.too_many, 60, 60),
        (lambda: faults.graphql_rate_limited(600), 590, 602),
    ],
    ids=["primary", "secondary with Retry-After", "secondary", "secondary 429", "bare 429", "RATE_LIMITED in a 200"],
)
def test_a_rate_limit_is_waited_out(server, gateway, waits, fault, least, most):
    server.inject(fault())
    assert pulls(gateway) == ALL
    assert len(waits) == 1
    assert least <= waits[0] <= most


@pytest.mark.parametrize("hours", [-9, +9])
def test_a_rate_limit_is_waited_out_by_the_clock_of_the_server_and_not_by_ours(
    server, gateway, waits, hours, monkeypatch
):
    server.inject(faults.primary(900))
    ours = SimpleNamespace(time=lambda: time.time() + hours * 3600)
    monkeypatch.setattr(github_client, "time", ours)
    assert pulls(gateway) == ALL
    assert 890 <= waits[0] <= 902


def test_repeated_secondary_limits_are_waited_out_ever_longer(server, gateway, waits):
    server.inject(faults.too_many(times=3))
    assert pulls(gateway) == ALL
    assert waits == [60, 120, 240]


def test_a_wait_longer_than_allowed_is_an_error_that_says_so(server, waits):
    gateway = Gateway(host_of(server.api_url), Credential(kind="token", secret=TOKEN), max_wait=100, sleep=waits.append)
    server.inject(faults.primary(900))
    with pytest.raises(GithubError, match="the rate limit is used up"):
        pulls(gateway)
    assert waits == []


@pytest.mark.parametrize("status", [502, 504])
def test_a_page_that_is_too_much_is_halved_until_it_comes(server, gateway, waits, status):
    server.inject(faults.bad_gateway(status, times=None, where=faults.pages_over(3)))
    assert pulls(gateway, page_size=8) == ALL
    sizes = [request.query["variables"]["first"] for request in server.requests]
    assert sizes[:3] == [8, 4, 2]
    assert waits == []


def test_partial_data_is_asked_for_again_in_smaller_pages(server, gateway):
    server.inject(faults.partial(times=None, where=faults.pages_over(5)))
    assert pulls(gateway, page_size=8) == ALL


@pytest.mark.parametrize("fault", [faults.dropped, faults.not_json, faults.bad_gateway, faults.partial])
def test_a_fault_that_passes_is_tried_again(server, gateway, fault):
    server.inject(fault(times=2))
    assert pulls(gateway, page_size=1) == ALL


@pytest.mark.parametrize("fault", [faults.dropped, faults.not_json, faults.bad_gateway, faults.partial])
def test_a_fault_that_stays_is_an_error_after_a_few_tries(server, gateway, waits, fault):
    server.inject(fault(times=None))
    with pytest.raises(GithubError, match="gave up asking"):
        pulls(gateway, page_size=2)
    assert 3 <= len(waits) <= 6


def test_details_that_are_too_much_are_asked_for_in_smaller_parts(server, gateway, tmp_path):
    from miner.sources.change import Change, MergeStyle  # noqa: PLC0415

    repo = server.world.repos["acme/app"]
    repo.issue(100, "It fails", labels=("bug",))
    for pull in repo.pulls.values():
        pull.closes = (100,)
    server.inject(faults.bad_gateway(times=None, where=lambda _, query: len(query["variables"].get("ids", ())) > 2))
    forge = GithubForge(gateway, "acme/app")
    forge.read_pages()
    changes = [
        Change(repo="acme/app", base_commit="b", head_commit="h", merge_commit=f"m{number}", style=MergeStyle.MERGE,
               created_at="", title="", body="", messages=(), number=number)
        for number in ALL
    ]  # fmt: skip
    detailed = forge.detail(changes)
    assert [[issue.title for issue in change.issues] for change in detailed] == [["It fails"]] * 7


def test_an_expired_token_is_said_to_be_one(server, gateway):
    server.inject(faults.expired(times=None))
    with pytest.raises(CredentialsError, match="does not accept the credential") as caught:
        pulls(gateway)
    assert "GITHUB_TOKEN" in (caught.value.hint or "")


def test_an_app_whose_token_was_refused_gets_a_new_one(server, waits):
    credential = Credential(kind="app", secret=server.app_key, app_id="4711", installation=42)
    gateway = Gateway(host_of(server.api_url), credential, max_wait=100, sleep=waits.append)
    assert pulls(gateway) == ALL
    server.tokens = {token for token in server.tokens if not token.startswith("ghs_")}
    assert pulls(gateway) == ALL
    assert server.issued == 2


@pytest.mark.parametrize("how", ["header", "graphql"])
def test_an_organisation_behind_single_sign_on_is_named(server, gateway, how):
    if how == "header":
        server.inject(faults.sso(times=None))
    else:
        server.world.blocked.add("acme")
    with pytest.raises(GithubError, match="single sign-on") as caught:
        pulls(gateway)
    assert "SECRETREQUEST" not in caught.value.message + (caught.value.hint or "")


def test_a_vanished_repository_is_named(server, gateway):
    server.world.repos["acme/app"].gone = True
    with pytest.raises(NotThereError, match="acme/app"):
        pulls(gateway)


def test_a_renamed_repository_goes_by_its_new_name(server, gateway):
    server.world.rename("acme/app", "acme/application")
    forge = GithubForge(gateway, "acme/app")
    forge.read_pages()
    assert forge.repository == "acme/application"
    assert len(forge.pulls) == 7


def test_no_fault_brings_a_secret_into_the_words(server, gateway):
    for fault in (faults.expired(), faults.sso(), faults.primary(99999)):
        server.inject(fault)
        with pytest.raises(GithubError) as caught:
            pulls(gateway)
        assert TOKEN not in f"{caught.value.message} {caught.value.hint} {gateway!r}"
    assert TOKEN not in repr(Credential(kind="token", secret=TOKEN))


def test_each_thread_has_a_client_of_its_own(server, gateway):
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    def client(_place):
        return id(gateway._client()), pulls(gateway)

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(client, range(6)))
    assert all(numbers == ALL for _, numbers in found)
    assert len({one for one, _ in found}) >= 2


def test_the_server_itself_refuses_what_github_would_refuse(server, gateway):
    questions = {
        "Cannot query field 'nonsense'": "query { viewer { nonsense } }",
        "EXCESSIVE_PAGINATION": 'query { repository(owner: "a", name: "b") { issues(first: 101) { totalCount } } }',
        "MISSING_PAGINATION": 'query { repository(owner: "a", name: "b") { issues { nodes { number } } } }',
        "MAX_NODE_LIMIT": 'query { repository(owner: "a", name: "b") { issues(first: 100) { nodes {'
        " comments(first: 100) { nodes { reactions(first: 100) { nodes { id } } } } } } } }",
    }
    for text in questions.values():
        with pytest.raises(GithubError):
            gateway.query(text, {}, about="a test")
    assert all(any(word in problem for problem in server.problems) for word in questions)
    server.problems.clear()
