"""GitHub as a person mines it: an organisation, a repository, a pull request; and what never gets out."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from harness.core import process
from harness.dataset.folder import open_dataset
from tests import program
from tests.github_server import Comment, GithubServer, World, faults
from tests.repos import FIX, Repository
from tests.trees import words_in

TOKEN = "ghp_SecretOfAda0123456789"
FIXED = FIX["src/app.py"]


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "github")


@pytest.fixture
def server(world):
    with GithubServer(world) as running:
        yield running
    assert running.problems == []


def squash(repo, number: int, message: str, files: dict, **more) -> str:
    """A pull request of one commit, squashed into main."""
    git: Repository = repo.git
    git.branch(f"topic-{number}", "main")
    head = git.commit(message, files)
    git.checkout("main")
    merge = git.squash(f"topic-{number}", f"{message} (#{number})")
    git.git("branch", "-D", f"topic-{number}")
    repo.pull(number, message, head=head, merge=merge, **more)
    return merge


def fix(name: str) -> dict:
    return {f"src/{name}.py": f"{name} = 1\n", f"tests/test_{name}.py": f"def test_{name}(): ...\n"}


def surroundings(tmp_path: Path) -> dict[str, str]:
    """A person's variables; nothing of whoever runs the tests."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return {
        "GITHUB_TOKEN": TOKEN, "GH_TOKEN": "", "GOLDSEAM_GITHUB_TOKEN": "", "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"), "GOLDSEAM_CACHE_DIR": str(home / "cache"),
    }  # fmt: skip


def goldseam(server, tmp_path: Path, *words: str | Path, **more: str) -> program.Ran:
    done = program.goldseam("mine", *words, "--api-url", server.api_url, **{**surroundings(tmp_path), **more})
    assert TOKEN not in done.stdout + done.error_text
    return done


def looked(server, tmp_path, *words, **more) -> dict[str, dict]:
    done = goldseam(server, tmp_path, *words, "--dry-run", "--json", **more)
    assert done.returncode == 0, done.error_text
    return {line["instance_id"]: line for line in json.loads(done.stdout)["changes"]}


def mined(server, tmp_path, out, *words, code: int = 0, **more) -> dict[str, str]:
    """Reasons by instance id, as the funnel has them."""
    done = goldseam(server, tmp_path, *words, "-o", out, "--no-validate", **more)
    assert done.returncode == code, done.error_text
    lines = [json.loads(line) for line in (out / "funnel.jsonl").read_text().splitlines()[1:]]
    return {line["instance_id"]: line["reason"] for line in lines}


def test_a_repository_is_mined_with_the_issues_its_pull_requests_close(server, world, tmp_path):
    repo = world.repository("acme/app")
    talk = (
        Comment("I see it too.", "2023-12-05T00:00:00Z"),
        Comment("Fixed by adding instead.", "2024-01-05T00:00:00Z", login=None),
    )
    repo.issue(7, "add() subtracts", body="`add(1, 1)` is 0.", labels=("bug",), comments=talk,
               last_edited_at="2024-01-06T00:00:00Z")  # fmt: skip
    squash(repo, 12, "Correct add", FIX, closes=(7,), first_commit_at="2024-01-01T00:00:00Z", labels=("kind/bug",))
    out = tmp_path / "dataset"
    assert mined(server, tmp_path, out, "acme/app")["acme__app-12"] == "accepted"
    task = open_dataset(out).task("acme__app-12")
    assert task.instance.problem_statement == "add() subtracts\n\n`add(1, 1)` is 0.\n"
    assert task.hidden.hints == "I see it too.\n"
    origin = task.instance.extra["origin"]
    assert origin["issues"] == [7]
    assert origin["issues_edited"]["7"] == {"last_edited_at": "2024-01-06T00:00:00Z", "after_the_fix_began": True}
    assert "issue_label_bug:bug" in origin["signals"]
    assert "label_bug:kind/bug" in origin["signals"]
    assert origin["statement_language"] == "en"


FIXED_AT = "2024-01-01T00:00:00Z"
WRITTEN = "2023-12-01T00:00:00Z"
LATER = "2024-01-06T00:00:00Z"
EDITED = {
    "the text from before the fix": (((LATER, "Told."), ("2023-12-09T00:00:00Z", "Clear."), (WRITTEN, "Vague.")),
                                     WRITTEN, "Clear."),
    "today's text where the earlier one was deleted": (((LATER, "Told."), (WRITTEN, None)), WRITTEN, "Told."),
    "today's text where no earlier one is kept": ((), WRITTEN, "Told."),
    "the first text of an issue written after the fix": (((LATER, "Told."), ("2024-01-03T00:00:00Z", "First.")),
                                                         "2024-01-03T00:00:00Z", "First."),
}  # fmt: skip


@pytest.mark.parametrize("case", EDITED)
def test_an_issue_edited_since_speaks_with(server, world, tmp_path, case):
    versions, created, expected = EDITED[case]
    repo = world.repository("acme/app")
    repo.issue(7, "add() fails", body="Told.", created_at=created, last_edited_at=LATER, versions=versions)
    squash(repo, 12, "Correct add", FIX, closes=(7,), first_commit_at=FIXED_AT)
    out = tmp_path / "dataset"
    mined(server, tmp_path, out, "acme/app")
    instance = open_dataset(out).task("acme__app-12").instance
    assert instance.problem_statement == f"add() fails\n\n{expected}\n"
    told = {text: moment for moment, text in versions if text != "Told."}
    assert instance.extra["origin"]["issues_edited"]["7"].get("told_as_of") == told.get(expected)


def test_an_issue_renamed_since_goes_by_its_title_from_before_the_fix(server, world, tmp_path):
    repo = world.repository("acme/app")
    titles = (("2023-12-05T00:00:00Z", "Help"), (LATER, "add() fails"), ("2024-01-07T00:00:00Z", "Use + in add"))
    repo.issue(7, "Use + instead of - in add", titles=titles)
    squash(repo, 12, "Correct add", FIX, closes=(7,), first_commit_at=FIXED_AT)
    out = tmp_path / "dataset"
    mined(server, tmp_path, out, "acme/app")
    assert open_dataset(out).task("acme__app-12").instance.problem_statement == "add() fails\n"


def test_a_comment_rewritten_after_the_fix_began_is_no_hint(server, world, tmp_path):
    repo = world.repository("acme/app")
    talk = (Comment("Same here.", WRITTEN), Comment("Use +.", WRITTEN, last_edited_at=LATER))
    repo.issue(7, "add() fails", comments=talk)
    squash(repo, 12, "Correct add", FIX, closes=(7,), first_commit_at=FIXED_AT)
    out = tmp_path / "dataset"
    mined(server, tmp_path, out, "acme/app")
    assert open_dataset(out).task("acme__app-12").hidden.hints == "Same here.\n"


def test_where_github_links_no_issue_the_words_of_the_change_do(server, world, tmp_path):
    repo = world.repository("acme/app")
    other = world.repository("acme/lib")
    repo.issue(7, "add() subtracts")
    other.issue(9, "the same in lib")
    squash(repo, 12, "Correct add", FIX, body="Fixes #7, closes acme/lib#9, resolves #404. `fixes #8`")
    out = tmp_path / "dataset"
    mined(server, tmp_path, out, "acme/app")
    task = open_dataset(out).task("acme__app-12")
    assert task.instance.problem_statement == "add() subtracts\n\nthe same in lib\n"


def test_a_keyword_in_a_pull_request_into_another_branch_counts(server, world, tmp_path):
    repo = world.repository("acme/app")
    repo.issue(7, "add() subtracts")
    repo.git.branch("1.x")
    merge = repo.git.commit("Correct add (#5)", FIX)
    repo.git.checkout("main")
    repo.pull(5, "Correct add", head=merge, merge=merge, base="1.x", body="Fixes #7", closes=(7,))
    out = tmp_path / "dataset"
    assert mined(server, tmp_path, out, "acme/app")["acme__app-5"] == "accepted"
    assert open_dataset(out).task("acme__app-5").instance.problem_statement == "add() subtracts\n"


def test_numbers_and_words_come_from_github_where_commits_have_none(server, world, tmp_path):
    repo = world.repository("acme/app")
    git = repo.git
    git.branch("topic")
    git.commit("One", {"src/app.py": FIXED})
    head = git.commit("Two", {"tests/test_app.py": FIX["tests/test_app.py"]})
    git.checkout("main")
    git.commit("Meanwhile", {"README.md": "# Other\n"})
    last = git.rebase_merge("topic")
    repo.pull(3, "Fix add", head=head, merge=last, commits=2)
    found = looked(server, tmp_path, "acme/app")
    assert found["acme__app-3"]["reason"] == "accepted"
    assert found["acme__app-3"]["title"] == "Fix add"
    assert not [one for one in found if one.endswith((git.sha("main")[:8], git.sha("main~1")[:8]))]


def test_a_number_in_a_message_that_is_another_pull_requests_counts_for_nothing(server, world, tmp_path):
    repo = world.repository("acme/app")
    mention = repo.git.commit("Fix what came up in (#12)", fix("mention"))
    squash(repo, 12, "Fix add", FIX)
    found = looked(server, tmp_path, "acme/app")
    assert found["acme__app-12"]["title"] == "Fix add"
    assert f"acme__app-{mention[:8]}" in found


def test_a_pull_request_that_came_with_another_one_is_part_of_it(server, world, tmp_path):
    repo = world.repository("acme/app")
    git = repo.git
    git.branch("below")
    git.commit("Fix below", fix("below"))
    git.branch("above")
    above = git.commit("Fix above", fix("above"))
    git.checkout("below")
    git.merge("above", "Merge pull request #2 from acme/above\n\nFix above")
    stacked = git.sha()
    git.checkout("main")
    merge = git.merge("below", "Merge pull request #1 from acme/below\n\nFix below")
    repo.pull(1, "Fix below", head=stacked, merge=merge)
    repo.pull(2, "Fix above", head=above, merge=stacked, base="below")
    found = looked(server, tmp_path, "acme/app")
    assert found["acme__app-1"]["reason"] == "accepted"
    assert found["acme__app-2"]["reason"] == "part_of_another"


def test_a_squash_whose_head_is_gone_is_taken_and_what_could_be_a_rebase_is_not(server, world, tmp_path):
    repo = world.repository("acme/app")
    one = repo.git.commit("Fix add (#1)", FIX)
    two = repo.git.commit("Fix more", fix("more"))
    repo.pull(1, "Fix add", head="0" * 40, merge=one, commits=3)
    repo.pull(2, "Fix more", head="0" * 40, merge=two, commits=3)
    found = looked(server, tmp_path, "acme/app")
    assert found["acme__app-1"]["reason"] == "accepted"
    assert (found["acme__app-2"]["reason"], "head of pull request 2 is gone" in found["acme__app-2"]["detail"]) == (
        "base_unknown",
        True,
    )


def test_a_pull_request_into_a_branch_that_is_gone_has_a_reason_of_its_own(server, world, tmp_path):
    repo = world.repository("acme/app")
    repo.pull(4, "Fix add", head="0" * 40, merge="1" * 40, base="old")
    found = looked(server, tmp_path, "acme/app")
    assert found["acme__app-4"]["reason"] == "not_in_history"


def test_a_single_pull_request_is_named_by_its_url_or_number(server, world, tmp_path):
    repo = world.repository("acme/app")
    squash(repo, 12, "Add a word", FIX)
    squash(repo, 13, "Fix more", fix("more"))
    assert set(looked(server, tmp_path, f"{server.site}/acme/app/pull/12")) == {"acme__app-12"}
    assert set(looked(server, tmp_path, "acme/app", "--pr", "13")) == {"acme__app-13"}
    done = goldseam(server, tmp_path, "acme/app", "--pr", "99", "--dry-run")
    assert (done.returncode, "pull request 99" in done.error_text) == (2, True)


def test_a_pull_request_of_another_github_is_not_asked_for(server, world, tmp_path):
    done = goldseam(server, tmp_path, "https://github.com/acme/app/pull/12", "--dry-run")
    assert (done.returncode, server.requests) == (2, [])
    assert "--api-url" in done.error_text


def test_an_organisation_is_mined_but_for_forks_and_archives(server, world, tmp_path):
    for name, more in {"one": {}, "two": {}, "fork": {"fork": True}, "attic": {"archived": True}}.items():
        squash(world.repository(f"acme/{name}", **more), 1, "Fix add", fix(name))
    out = tmp_path / "dataset"
    accepted = {one for one, reason in mined(server, tmp_path, out, "acme").items() if reason == "accepted"}
    assert accepted == {"acme__one-1", "acme__two-1"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--repos", "api-*"), {"api-one", "api-two"}),
        (("--repos", "API-*", "--repos", "!*-two"), {"api-one"}),
        (("--topic", "web"), {"api-one"}),
        (("--language", "go"), {"tool"}),
        (("--visibility", "internal"), {"tool"}),
        (("--archived", "--repos", "attic"), {"attic"}),
        (("--forks", "--repos", "fork"), {"fork"}),
    ],
)
def test_an_organisation_is_narrowed(server, world, tmp_path, words, expected):
    settings = {
        "api-one": {"topics": ("web", "api")}, "api-two": {}, "tool": {"language": "Go", "visibility": "internal"},
        "attic": {"archived": True}, "fork": {"fork": True},
    }  # fmt: skip
    for name, more in settings.items():
        world.repository(f"acme/{name}", **more)
    found = looked(server, tmp_path, "acme", *words)
    assert {re.sub(r"^acme__(.*)-\w+$", r"\1", one) for one in found} == expected


def test_a_person_is_an_owner_too(server, world, tmp_path):
    world.users.add("ada")
    squash(world.repository("ada/app"), 1, "Fix add", FIX)
    assert looked(server, tmp_path, "ada")["ada__app-1"]["reason"] == "accepted"


def test_nobody_of_that_name_is_an_error(server, world, tmp_path):
    done = goldseam(server, tmp_path, "nobody", "--dry-run")
    assert (done.returncode, "nobody" in done.error_text) == (4, True)


def test_one_broken_repository_is_reported_and_the_others_are_mined(server, world, tmp_path):
    for name in ("one", "two", "three"):
        squash(world.repository(f"acme/{name}"), 1, "Fix add", fix(name))
    world.repos["acme/one"].gone = True
    server.inject(faults.sso(times=None, where=faults.asks_for("acme/two")))
    out = tmp_path / "dataset"
    done = goldseam(server, tmp_path, "acme", "-o", out, "--no-validate", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 4
    assert told["accepted"] == 1
    assert set(told["not_mined"]) == {f"{server.site.removeprefix('http://')}/acme/{name}" for name in ("one", "two")}
    assert open_dataset(out).ids() == ("acme__three-1",)


def test_an_app_installation_mines_and_clones(server, world, tmp_path):
    key = tmp_path / "app.pem"
    key.write_text(server.app_key)
    squash(world.repository("acme/app", visibility="private"), 1, "Fix add", FIX)
    found = looked(
        server, tmp_path, "acme/app", GITHUB_TOKEN="", GOLDSEAM_GITHUB_APP_ID="4711",
        GOLDSEAM_GITHUB_APP_INSTALLATION_ID="42", GOLDSEAM_GITHUB_APP_PRIVATE_KEY_FILE=str(key),
    )  # fmt: skip
    assert found["acme__app-1"]["reason"] == "accepted"


def test_netrc_is_read(server, world, tmp_path):
    squash(world.repository("acme/app"), 1, "Fix add", FIX)
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine 127.0.0.1 login ada password {TOKEN}\n")
    netrc.chmod(0o600)
    found = looked(server, tmp_path, "acme/app", GITHUB_TOKEN="", NETRC=str(netrc))
    assert found["acme__app-1"]["reason"] == "accepted"


def test_gh_is_asked_for_its_token(server, world, tmp_path):
    squash(world.repository("acme/app"), 1, "Fix add", FIX)
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(f'#!/bin/sh\n[ "$*" = "auth token --hostname {server.site[7:]}" ] && echo {TOKEN}\n')
    gh.chmod(0o755)
    import os  # noqa: PLC0415

    found = looked(server, tmp_path, "acme/app", GITHUB_TOKEN="", PATH=f"{gh.parent}:{os.environ['PATH']}")
    assert found["acme__app-1"]["reason"] == "accepted"


def test_without_a_credential_nothing_is_asked_and_the_ways_are_named(server, world, tmp_path):
    done = goldseam(server, tmp_path, "acme/app", "--dry-run", GITHUB_TOKEN="")
    assert (done.returncode, server.requests) == (2, [])
    assert "GITHUB_TOKEN" in done.error_text


def test_a_token_is_never_sent_in_the_clear(world, server, tmp_path):
    words = ("mine", "acme/app", "--dry-run", "--api-url", "http://github.example.com")
    done = program.goldseam(*words, GITHUB_TOKEN=TOKEN)
    assert (done.returncode, "not encrypted" in done.error_text) == (2, True)


def test_no_token_reaches_the_disk_or_the_output_of_the_real_program(server, world, tmp_path):
    squash(world.repository("acme/app"), 1, "Fix add", FIX)
    argv = [
        sys.executable,
        "-m",
        "miner.cli.main",
        "mine",
        "acme/app",
        "--api-url",
        server.api_url,
        "--no-validate",
        "-o",
    ]
    done = process.run([*argv, tmp_path / "dataset"], env=surroundings(tmp_path))
    assert open_dataset(tmp_path / "dataset").ids() == ("acme__app-1",)
    assert TOKEN.encode() not in done.stdout + done.stderr
    secrets = (TOKEN.encode(), b"eC1hY2Nlc3MtdG9rZW46")  # the second is how git's header begins
    for root in ("home", "dataset"):
        assert words_in(tmp_path / root, secrets) == set()


def test_a_path_or_clone_url_asks_github_nothing(server, world, tmp_path):
    repo = world.repository("acme/app")
    repo.git.commit("Fix add", FIX)
    looked(server, tmp_path, repo.git.path)
    assert server.requests == []


def test_only_heads_that_tell_a_squash_from_a_rebase_are_fetched(server, world, tmp_path):
    repo = world.repository("acme/app")
    squash(repo, 1, "Fix add", FIX)
    repo.git.branch("topic", "main")
    head = repo.git.commit("Fix more", fix("more"))
    repo.git.checkout("main")
    repo.pull(2, "Fix more", head=head, merge=repo.git.merge("topic", "Merge pull request #2 from acme/topic"))
    repo.git.pull_head(3, head)  # never merged
    looked(server, tmp_path, "acme/app")
    [copy] = (tmp_path / "home" / "cache" / "sources").glob("*.git")
    refs = process.run(["git", f"--git-dir={copy}", "for-each-ref", "--format=%(refname)", "refs/pull"]).stdout
    assert refs.decode().split() == ["refs/pull/1/head"]


def test_the_same_patch_in_several_repositories_is_one_task(server, world, tmp_path):
    origin = world.repository("acme/app")
    squash(origin, 1, "Fix add", FIX)
    copy = Repository(tmp_path / "copy")
    copy.git("fetch", "--quiet", str(origin.git.path), "main")
    copy.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    world.repository("acme/a-fork", copy, fork=True)
    other = world.repository("acme/vendored")
    squash(other, 9, "Fix add", FIX)
    found = mined(server, tmp_path, tmp_path / "dataset", "acme", "--forks")
    assert [one for one, reason in found.items() if reason == "accepted"] == ["acme__app-1"]
    assert found["acme__vendored-9"] == "duplicate"
    assert found["acme__a-fork-1"] == "duplicate"


def test_a_second_mine_asks_only_for_what_is_new(server, world, tmp_path):
    repo = world.repository("acme/app")
    for number in range(1, 6):
        squash(repo, number, f"Fix {number}", fix(f"m{number}"), updated_at=f"2024-03-{number:02}T00:00:00Z")
    out = tmp_path / "dataset"
    mined(server, tmp_path, out, "acme/app", GOLDSEAM_GITHUB_PAGE_SIZE="2")
    first = len(server.requests)
    squash(repo, 6, "Fix 6", fix("m6"), updated_at="2024-03-09T00:00:00Z")
    found = mined(server, tmp_path, out, "acme/app")
    assert found["acme__app-6"] == "accepted"
    again = server.requests[first:]
    assert (first, len(again)) == (4, 2)
    asked = [request.query["variables"].get("ids", []) for request in again]
    assert [len(ids) for ids in asked] == [0, 1]
