"""Campaigns: what is asked, what is written down, how they go on. The real client, files and ledger; no container."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.analysis.usage import usage_of
from harness.core.errors import BugError, InfrastructureError, InputError
from harness.dataset.folder import write_instances
from harness.dataset.ledger import ledger
from harness.runs.predictions import read_predictions
from harness.solve import call as calls
from harness.solve import prompts
from harness.solve.agents.single import SingleAgent
from harness.solve.base import Fault
from harness.solve.models.meter import Limits
from harness.solve.models.retry import RetryPolicy
from harness.solve.plan import chosen
from tests import tiny
from tests.model_server import Asked, Fail, ModelServer, Say, Spent, overflow
from tests.solve_room import EDIT, GOOD, MemoryWorkspaces, Room, make_dataset, which_task

KEY = "sk-proj-abcdefghijklmnop0123456789"


@pytest.fixture
def room(tmp_path, monkeypatch):
    """Makes a room for a script; nothing is tried again unless a test says so."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setattr("harness.solve.models.stack.RetryPolicy", lambda: RetryPolicy(retries={}))
    with contextlib.ExitStack() as made:

        def make(script, *, tasks=1, **more) -> Room:
            server = made.enter_context(ModelServer({"m": script}, **more))
            workspaces = MemoryWorkspaces()
            monkeypatch.setattr(calls, "Workspaces", workspaces)
            dataset = make_dataset(tmp_path / "dataset", tasks)
            return Room(folder=tmp_path, server=server, dataset=dataset, workspaces=workspaces)

        yield make


def _exposures(place: Room) -> list[ledger.Entry]:
    return [one for one in ledger.read(place.dataset) if one.event == "exposed"]


def test_a_sample_is_a_prediction_with_all_that_is_known_of_it(room):
    told = Spent(prompt=700, completion=50, cached=30, reasoning=20)
    place = room(Say(text=EDIT, spent=told, snapshot="m-2026-01-01"))
    report = place.run(temperatures=(0.5,), seed=7, max_output_tokens=900, top_p=0.9)
    (one,) = read_predictions(place.out)
    assert (report.made, report.patches, report.left, report.errors) == (1, 1, 0, 0)
    assert (one.instance_id, one.model_name_or_path, one.sample) == ("tiny__calc-1", "m", 0)
    assert "+    return a + b" in one.model_patch
    expected = {
        "agent": "single",
        "agent_version": 1,
        "prompt": "single-edits-v1",
        "prompt_sha256": prompts.load().digest,
        "temperature": 0.5,
        "temperature_sample": 0,
        "top_p": 0.9,
        "seed": 7,
        "max_output_tokens": 900,
        "endpoint": f"127.0.0.1:{place.server.port}",
        "model": "m",
        "snapshot": "m-2026-01-01",
        "tokens": {"input": 700, "output": 50, "cached_input": 30, "reasoning": 20, "total": 750},
        "cost_usd": None,
        "finish_reason": "stop",
        "request_ids": ["req_0001"],
        "questions": 1,
        "no_patch": None,
        "tolerance": ["edit_blocks"],
        "oracle_files": False,
        "files_shown": ["src/calc/__init__.py", "tests/test_calc.py", "pyproject.toml"],
    }
    assert {name: one.extra[name] for name in expected} == expected
    assert 0 < one.extra["time_to_first_token_seconds"] <= one.extra["latency_seconds"]


def test_what_reports_read_of_a_prediction_is_there(room):
    place = room(GOOD)
    place.run(temperatures=(0.5,))
    usage = usage_of(read_predictions(place.out)[0].extra)
    assert (usage.temperature, usage.prompt, usage.cost_usd) == (0.5, "single-edits-v1", None)
    assert usage.tokens > 100
    assert usage.latency_seconds > 0


def test_the_transcript_holds_the_whole_conversation_without_secrets(room):
    place = room(Say(text=f"I saw {KEY} there.\n{EDIT}"), keys={KEY})
    place.environment["OPENAI_API_KEY"] = KEY
    place.run()
    (one,) = read_predictions(place.out)
    text = (place.folder / one.extra["transcript"]).read_text()
    found = json.loads(text)
    assert [message["role"] for message in found["messages"]] == ["system", "user", "assistant"]
    assert "Adding subtracts in task1." in found["messages"][1]["content"]
    assert "I saw [masked: OPENAI_API_KEY] there." in found["messages"][2]["content"]
    everything = [path.read_text() for path in place.folder.rglob("*") if path.is_file()]
    assert not [text for text in everything if KEY in text]


def test_a_bug_of_ours_costs_one_sample_which_the_same_call_makes_again(room, monkeypatch, tmp_path):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    place = room(lambda asked: GOOD, tasks=3)
    true = SingleAgent.attempt

    def planted(agent, job, model):
        if job.instance.instance_id == "tiny__calc-2":
            raise ZeroDivisionError
        return true(agent, job, model)

    with monkeypatch.context() as patched:
        patched.setattr(SingleAgent, "attempt", planted)
        report = place.run()
    assert (report.made, report.errors, report.left) == (2, 1, 1)
    assert isinstance(report.trouble, BugError)
    assert report.trouble.message.startswith("a bug of goldseam (ZeroDivisionError); please report it with ")
    (line,) = (place.folder / "predictions.errors.jsonl").read_text().splitlines()
    assert (json.loads(line)["instance_id"], json.loads(line)["fault"]) == ("tiny__calc-2", "bug")
    again = place.run()
    assert (again.made, again.errors, again.left) == (1, 0, 0)


def test_every_prompt_begins_with_the_canary(room):
    place = room(GOOD)
    place.run()
    assert place.server.requests[0].messages[0][1].startswith(f"{place.dataset.canary}\n\n")


def test_a_sweep_gives_every_sample_a_number_of_its_own(room):
    place = room(GOOD, tasks=2)
    place.run(temperatures=(0.0, 0.8), samples=2, seed=10)
    found = read_predictions(place.out)
    assert sorted((one.instance_id[-1], one.sample, one.extra["temperature"], one.extra["seed"]) for one in found) == [
        (task, number, heat, seed)
        for task in "12"
        for number, (heat, seed) in enumerate([(0.0, 10), (0.0, 11), (0.8, 10), (0.8, 11)])
    ]
    sent = sorted((one.body["temperature"], one.body["seed"]) for one in place.server.requests)
    assert sent == sorted([(0.0, 10), (0.0, 11), (0.8, 10), (0.8, 11)] * 2)


def test_the_same_command_again_asks_nothing_and_more_samples_ask_only_for_those(room):
    place = room(GOOD, tasks=2)
    place.run(samples=2)
    before = place.out.read_bytes()
    again = place.run(samples=2)
    assert (again.made, again.earlier, len(place.server.requests)) == (0, 4, 4)
    assert place.out.read_bytes() == before
    more = place.run(samples=3, temperatures=(None, 0.5))
    assert (more.made, more.earlier) == (8, 4)
    assert place.out.read_bytes().startswith(before)
    numbers = sorted((one.instance_id[-1], one.sample) for one in read_predictions(place.out))
    assert numbers == [(task, number) for task in "12" for number in range(6)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 3}, "seed was None, now 3"),
        ({"name": "other"}, "name was 'm', now 'other'"),
        ({"max_output_tokens": 5}, "max_output_tokens was None, now 5"),
        ({"template": prompts.load("single-diff-v1")}, "prompt was 'single-edits-v1', now 'single-diff-v1'"),
        ({"agent": SingleAgent(prompts.load(), file_tokens=500)}, "agent_file_tokens was 24000, now 500"),
    ],
)
def test_another_setting_is_refused_before_anything_is_asked(room, change, told):
    place = room(GOOD)
    place.run()
    with pytest.raises(InputError, match=told) as raised:
        place.run(**change)
    assert "another file" in raised.value.hint
    assert len(place.server.requests) == 1


def test_a_prompt_of_the_same_name_and_another_text_is_another_setting(room):
    place = room(GOOD)
    place.run()
    with pytest.raises(InputError, match="prompt_sha256"):
        place.run(template=replace(prompts.load(), text="{{ statement }}"))


def test_a_task_that_has_changed_is_refused(room):
    place = room(GOOD)
    place.run()
    instance = place.dataset.instance("tiny__calc-1")
    (place.dataset.task_folder("tiny__calc-1") / "problem_statement.md").write_text("Adding subtracts in taskX.")
    write_instances(place.dataset, (instance,))
    with pytest.raises(InputError, match="tiny__calc-1 has changed"):
        place.run()


def test_predictions_that_others_wrote_are_not_written_into(room):
    place = room(GOOD)
    tiny.write_predictions(place.out, {"other": "x"})
    with pytest.raises(InputError, match="did not write"):
        place.run()


@pytest.mark.parametrize("data", [b"\xff\xfe", b'{"instance_id": "x"'])
def test_a_file_that_is_not_ours_is_neither_mended_nor_written_into(room, data):
    place = room(GOOD)
    place.out.write_bytes(data)
    with pytest.raises(InputError):
        place.run()
    assert place.out.read_bytes() == data
    assert place.server.requests == []


def test_settings_may_be_mended_while_nothing_is_made(room):
    place = room((Fail(status=400), GOOD))
    assert place.run(temperatures=(0.0,), seed=1).errors == 1
    assert place.run(temperatures=(0.0,), seed=2).made == 1


@pytest.mark.parametrize("text", ["{{ nosuch }}", "{% block user %} {% endblock %}", "{{ statement.x.y }}"])
def test_a_prompt_that_cannot_be_filled_in_is_refused_before_anything_is_shown(room, text):
    place = room(GOOD)
    with pytest.raises(InputError, match="the prompt mine"):
        place.run(template=prompts.Prompt(name="mine", text=text))
    assert (place.server.requests, _exposures(place)) == ([], [])


def test_a_task_of_another_split_is_refused(room):
    place = room(GOOD)
    with pytest.raises(InputError, match="not in split 'dev': tiny__calc-1"):
        chosen(place.dataset, ids=["tiny__calc-1"], split="dev")


def test_a_line_that_a_crash_cut_short_is_taken_away_and_made_again(room):
    place = room(GOOD, tasks=2)
    place.run()
    whole = place.out.read_bytes()
    place.out.write_bytes(whole[:-40])
    report = place.run()
    assert (report.made, report.earlier) == (1, 1)
    assert len(read_predictions(place.out)) == 2


def test_a_whole_line_that_lost_only_its_end_is_kept(room):
    place = room(GOOD)
    place.run()
    whole = place.out.read_bytes()
    place.out.write_bytes(whole[:-1])
    assert place.run().made == 0
    assert place.out.read_bytes() == whole


def test_two_calls_do_not_write_the_same_file(room):
    def second(_: Asked) -> Say:
        with pytest.raises(InputError, match="another `goldseam solve` is writing"):
            place.run()
        return GOOD

    place = room(second)
    assert place.run().made == 1
    assert place.server.problems == []


def test_each_task_stands_in_the_ledger_before_it_is_shown(room):
    seen = []

    def look(asked: Asked) -> Say:
        seen.append((which_task(asked), [task for one in _exposures(place) for task in one.tasks]))
        return GOOD

    place = room(look, tasks=2)
    place.run(samples=2)
    assert seen == [
        ("task1", ["tiny__calc-1"]),
        ("task1", ["tiny__calc-1"]),
        ("task2", ["tiny__calc-1", "tiny__calc-2"]),
        ("task2", ["tiny__calc-1", "tiny__calc-2"]),
    ]
    entry = _exposures(place)[0]
    assert (entry.facts["model"], entry.facts["endpoint"]) == ("m", place.server.base_url)
    assert entry.facts["shown"] == ["code", "statement"]


def test_no_hidden_file_is_read(room):
    place = room(GOOD)
    for name in ("gold.patch", "test.patch", "tests.json"):
        (place.dataset.task_folder("tiny__calc-1") / name).unlink()
    assert place.run().made == 1


def test_oracle_files_are_shown_and_told_in_record_and_ledger(room):
    place = room(GOOD)
    place.run(oracle=True)
    (one,) = read_predictions(place.out)
    assert (one.extra["oracle_files"], one.extra["files_shown"]) == (True, [tiny.CALC])
    facts = _exposures(place)[0].facts
    assert (facts["oracle_files"], facts["endpoint"]) == (True, place.server.base_url)


NO_PATCH = {
    "empty": Say(text=""),
    "refused": Say(refusal="I will not."),
    "no_code": Say(text="The sign is wrong."),
    "no_patch_in_answer": Say(text="```python\nreturn a + b\n```"),
    "does_not_apply": Say(text=EDIT.replace("a - b", "a * b")),
    "ambiguous": Say(text=EDIT.replace(tiny.CALC, "")),
    "does_not_parse": Say(text=EDIT.replace("a + b", "(a +")),
    "cut": Say(text=EDIT[:60], spent=Spent(prompt=100, completion=400)),
    "context_overflow": overflow(),
}


@pytest.mark.parametrize("reason", NO_PATCH)
def test_an_answer_without_a_patch_is_a_prediction_with_its_reason(room, reason):
    place = room(NO_PATCH[reason])
    report = place.run(max_output_tokens=400)
    (one,) = read_predictions(place.out)
    assert (one.model_patch, one.extra["no_patch"]) == (None, reason)
    assert one.extra["no_patch_detail"]
    assert (report.made, report.patches, dict(report.no_patch)) == (1, 0, {reason: 1})
    assert place.run(max_output_tokens=400).made == 0  # it is an answer: it is not asked again


def test_code_that_does_not_parse_is_kept(room):
    place = room(NO_PATCH["does_not_parse"])
    place.run()
    assert "+    return (a +" in read_predictions(place.out)[0].extra["unusable_patch"]


def test_a_prompt_that_is_too_long_is_asked_with_fewer_files(room):
    place = room((overflow(), overflow(), GOOD))
    place.run()
    (one,) = read_predictions(place.out)
    assert (one.extra["prompt_shrunk"], one.extra["no_patch"]) == (2, None)


@pytest.mark.parametrize(
    ("behaviour", "fault"),
    [
        (Fail(status=500), Fault.SERVER),
        (Fail(drops=True), Fault.NETWORK),
        (Say(text=EDIT, cut_after=1), Fault.NETWORK),
        (Say(text=EDIT, garbled=True), Fault.BAD_REPLY),
        (Fail(status=401), Fault.AUTH),
    ],
)
def test_trouble_is_no_answer_and_is_asked_again_next_time(room, behaviour, fault):
    place = room((behaviour, GOOD))
    first = place.run()
    assert (first.made, first.errors, first.left) == (0, 1, 1)
    assert not place.out.exists()
    (line,) = (place.folder / "predictions.errors.jsonl").read_text().splitlines()
    error = json.loads(line)
    assert (error["instance_id"], error["sample"], error["fault"]) == ("tiny__calc-1", 0, fault.value)
    second = place.run()
    assert (second.made, second.errors, second.left) == (1, 0, 0)


def test_an_engine_that_fails_is_trouble_too(room):
    place = room(GOOD)
    place.workspaces.trouble = InfrastructureError("no engine")
    assert place.run().errors == 1
    assert place.server.requests == []
    assert _exposures(place) == []


def test_a_wrong_key_ends_the_call_at_once(room):
    place = room(Fail(status=401), tasks=4)
    report = place.run()
    assert (report.stopped, report.left) == ("trouble", 4)
    assert len(place.server.requests) <= 2  # the next one may be on its way already


def test_an_endpoint_that_only_fails_is_given_up(room):
    place = room(Fail(status=500), tasks=9)
    report = place.run()
    assert report.stopped == "trouble"
    assert report.errors <= 6  # the next one may be on its way already


def test_a_limit_of_the_call_leaves_the_rest_for_the_next(room):
    place = room(Say(text=EDIT, spent=Spent(prompt=900, completion=100)), tasks=3)
    report = place.run(limits=Limits(tokens=2500), max_output_tokens=200)
    assert report.stopped == "tokens"
    assert 0 < report.made < 3
    rest = place.run(limits=Limits(tokens=60000), max_output_tokens=200)
    assert (rest.left, rest.stopped) == (0, None)
    assert rest.spent.tokens == 3000  # earlier calls count


def test_a_limit_of_a_sample_is_an_answer(room):
    place = room(GOOD, tasks=2)
    report = place.run(limits=Limits(task_tokens=10))
    assert (report.made, report.stopped, dict(report.no_patch)) == (2, None, {"limit": 2})


def test_the_tree_of_a_task_is_read_once_for_all_its_samples(room):
    place = room(GOOD)
    place.run(samples=5, jobs=3)
    assert place.workspaces.opened == 1


def test_ctrl_c_keeps_what_is_finished(room):
    place = room(GOOD, tasks=6)
    place.watcher.done = lambda done, *, spent: _interrupt()

    with pytest.raises(KeyboardInterrupt):
        place.run()
    kept = len(read_predictions(place.out))
    assert 1 <= kept <= 3
    place.watcher.done = lambda done, *, spent: None
    report = place.run()
    assert (report.earlier, report.left) == (kept, 0)
    assert len(read_predictions(place.out)) == 6


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_standard_output_gets_predictions_and_nothing_stays_beside_it(room, tmp_path, monkeypatch, capsysbinary):
    place = room(GOOD, tasks=2)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    report = calls.run(place.call(), Path("-"), environment={}, watcher=place.watcher)
    rows = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert report.made == 2
    assert [(row["instance_id"], "+    return a + b" in row["model_patch"]) for row in rows] == [
        ("tiny__calc-1", True),
        ("tiny__calc-2", True),
    ]
    assert all("transcript" not in row for row in rows)
    assert list(Path().iterdir()) == []
