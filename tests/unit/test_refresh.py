"""What a refresh makes of verdicts, keeps of them and does about them."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from harness.cli import refresh
from harness.core.errors import AnswerIsNoError, InfrastructureError, InputError
from harness.core.instance import Outcome, TaskState
from harness.dataset import content, task_states
from harness.dataset.folder import open_dataset
from harness.dataset.ledger import ledger
from harness.runs.refresh import drift, record
from harness.runs.refresh import run as work
from harness.runs.refresh.drift import Finding, Result, Tally
from harness.runs.refresh.notes import MOST_HOURS, Notes, folder_of, request_of
from harness.runs.refresh.seen import Kind, Slot, VerdictSummary
from tests import tiny

TASK = tiny.task()
ID = TASK.instance_id
ASKED = request_of((), quarantined=False)


def gold(number=1, *, repeat=False, f2p="P", p2p="P", cause="tests_failed", seconds=1.0):
    good = set(f2p + p2p) == {"P"}
    return VerdictSummary(
        slot=Slot(instance_id=ID, kind=Kind.GOLD, number=number, repeat=repeat),
        outcome=Outcome.RESOLVED if good else Outcome.UNRESOLVED,
        cause=None if good else cause,
        fail_to_pass=f2p,
        pass_to_pass=p2p,
        seconds=seconds,
        containers=1,
    )


def null(number=1, *, repeat=False, f2p="F", resolved=False):
    return VerdictSummary(
        slot=Slot(instance_id=ID, kind=Kind.NULL, number=number, repeat=repeat),
        outcome=Outcome.RESOLVED if resolved else Outcome.UNRESOLVED,
        cause=None if resolved else "tests_failed",
        fail_to_pass=f2p,
        pass_to_pass="P",
        seconds=1.0,
        containers=1,
    )


def repeats(make, **how):
    return [make(number, repeat=True, **how) for number in (1, 2, 3)]


def test_a_task_whose_verdicts_are_all_as_proved_holds():
    found = drift.judge(TASK, [gold(), null(), gold(2), null(2)])
    assert (found.result, found.gold, found.null.resolved, found.changes, found.why) == (
        Result.HOLDS,
        Tally(resolved=2, runs=2, off=0),
        0,
        (),
        "",
    )


def test_a_task_that_gold_fails_every_time_it_is_repeated_has_drifted():
    found = drift.judge(TASK, [gold(p2p="-"), null(), *repeats(gold, p2p="-")])
    assert found.result is Result.DRIFTED
    assert "0 of 1 FAIL_TO_PASS and 1 of 1 PASS_TO_PASS tests do not pass" in found.why
    assert "in 4 of 4 runs" in found.why


def test_each_id_that_changed_is_told_with_before_and_after():
    found = drift.judge(TASK, [gold(f2p="F"), null(), *repeats(gold, f2p="-")])
    [change] = found.changes
    assert (change.test_id, change.listed, change.before) == ("tests/test_calc.py::test_two", "FAIL_TO_PASS", "passed")
    assert change.after == {"FAILED": 1, "gone": 3}


def test_one_verdict_that_no_repeat_confirms_is_noise():
    found = drift.judge(TASK, [gold(f2p="F"), null(), *repeats(gold)])
    assert found.result is Result.ONCE


def test_a_task_that_fails_in_some_repeats_is_unstable():
    found = drift.judge(TASK, [gold(f2p="F"), null(), gold(1, repeat=True), gold(2, repeat=True, f2p="F")])
    assert found.result is Result.UNSTABLE


def test_two_planned_verdicts_that_are_off_are_unstable_though_no_repeat_is():
    found = drift.judge(TASK, [gold(f2p="F"), gold(2, f2p="F"), gold(3), null(), *repeats(gold)])
    assert found.result is Result.UNSTABLE


def test_a_fail_to_pass_test_that_passes_without_the_fix_is_drift():
    found = drift.judge(replace_lists(("a", "b")), [gold(f2p="PP"), null(f2p="PF"), *repeats(null, f2p="PF")])
    assert found.result is Result.DRIFTED
    assert "1 of 2 FAIL_TO_PASS tests pass without the fix" in found.why
    assert [change.test_id for change in found.changes] == ["a"]


def replace_lists(fail_to_pass):
    return replace(TASK, hidden=replace(TASK.hidden, fail_to_pass=fail_to_pass))


def test_a_task_resolved_without_the_fix_has_drifted():
    found = drift.judge(TASK, [gold(), null(f2p="P", resolved=True), *repeats(null, f2p="P", resolved=True)])
    assert found.result is Result.DRIFTED
    assert "resolved without the fix" in found.why


def test_a_reason_names_no_hidden_test():
    found = drift.judge(TASK, [gold(f2p="F"), null(f2p="P"), *repeats(gold, f2p="F"), *repeats(null, f2p="P")])
    assert "test_two" not in found.why


def finding(name, result=Result.HOLDS, **more):
    return Finding(instance_id=name, result=result, gold=Tally(resolved=1, runs=1), null=Tally(runs=1), **more)


@pytest.mark.parametrize(
    ("wrong", "right", "mass"), [(1, 0, False), (2, 1, False), (3, 9, False), (3, 8, True), (20, 55, True)]
)
def test_many_tasks_that_go_wrong_at_once_look_like_the_machine(wrong, right, mass):
    findings = [finding(f"w{n}", Result.DRIFTED) for n in range(wrong)] + [finding(f"r{n}") for n in range(right)]
    assert drift.looks_like_the_machine(findings) is mass


def test_tasks_that_could_not_be_looked_at_are_no_part_of_that_share():
    findings = [finding(f"w{n}", Result.DRIFTED) for n in range(3)] + [
        drift.unscored(f"u{n}", "no image") for n in range(30)
    ]
    assert drift.looks_like_the_machine(findings)


def test_tests_that_are_late_on_a_slow_machine_say_nothing_of_their_task():
    late = finding("late", Result.DRIFTED, seconds=60.0, proof_seconds=5.0, late=True)
    others = [finding(f"r{n}", seconds=15.0, proof_seconds=5.0) for n in range(5)]
    found = work._decided((late, *others), work.Settings())
    assert (found.slowdown, found.findings[0].result) == (3.0, Result.UNSCORED)


def test_tests_that_are_late_where_others_are_in_time_have_drifted():
    late = finding("late", Result.DRIFTED, seconds=60.0, proof_seconds=5.0, late=True)
    others = [finding(f"r{n}", seconds=5.0, proof_seconds=5.0) for n in range(5)]
    assert work._decided((late, *others), work.Settings()).findings[0].result is Result.DRIFTED


@pytest.fixture
def dataset(tmp_path):
    return tiny.dataset(tmp_path / "ds", TASK, tiny.task(instance_id="tiny__calc-2"))


def test_a_refresh_that_was_broken_off_goes_on_with_its_verdicts(dataset):
    Notes(dataset, ASKED, [ID], again=False).add(gold(), "key")
    notes = Notes(dataset, ASKED, [ID], again=False)
    assert notes.goes_on
    assert notes.get(gold().slot, "key") == gold()


def test_a_verdict_on_another_content_of_the_task_is_not_taken_over(dataset):
    Notes(dataset, ASKED, [ID], again=False).add(gold(), "key")
    assert Notes(dataset, ASKED, [ID], again=False).get(gold().slot, "other") is None


def test_half_a_line_of_a_killed_process_is_left_out_and_the_next_line_is_kept(dataset):
    Notes(dataset, ASKED, [ID], again=False).add(gold(), "key")
    path = folder_of(dataset) / "notes.jsonl"
    path.write_bytes(path.read_bytes() + b'{"key": "key", "ta')
    Notes(dataset, ASKED, [ID], again=False).add(null(), "key")
    notes = Notes(dataset, ASKED, [ID], again=False)
    assert (notes.get(gold().slot, "key"), notes.get(null().slot, "key")) == (gold(), null())


def test_a_refresh_after_one_that_ended_begins_anew(dataset):
    notes = Notes(dataset, ASKED, [ID], again=False)
    notes.add(gold(), "key")
    notes.end()
    assert not Notes(dataset, ASKED, [ID], again=False).goes_on


def test_with_retry_a_refresh_takes_over_what_an_ended_one_has_seen(dataset):
    notes = Notes(dataset, ASKED, [ID], again=False)
    notes.add(gold(), "key")
    notes.end()
    assert Notes(dataset, ASKED, [ID], again=True).get(gold().slot, "key") == gold()


def test_verdicts_of_another_day_are_not_taken_over(dataset, monkeypatch):
    Notes(dataset, ASKED, [ID], again=False).add(gold(), "key")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + MOST_HOURS * 3600 + 1)
    assert not Notes(dataset, ASKED, [ID], again=True).goes_on


@pytest.mark.parametrize("hours", [-9, +9])
def test_a_refresh_goes_on_though_the_clock_was_set_meanwhile(hours, dataset, monkeypatch):
    Notes(dataset, ASKED, [ID], again=False).add(gold(), "key")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + hours * 3600)
    assert Notes(dataset, ASKED, [ID], again=False).goes_on


def test_a_refresh_of_other_tasks_does_not_go_on_from_this_one(dataset):
    Notes(dataset, ASKED, [ID], again=False)
    assert not Notes(dataset, request_of((ID,), quarantined=False), [ID], again=False).goes_on


def test_notes_name_no_hidden_test(dataset):
    Notes(dataset, ASKED, [ID], again=False).add(gold(f2p="F"), "key")
    assert b"test_two" not in (folder_of(dataset) / "notes.jsonl").read_bytes()


def line(results, *, runs=1):
    tasks = {name: record.TaskLine(result=result) for name, result in results.items()}
    return record.RefreshLine(
        at="2026-06-01T00:00:00Z", goldseam_version="1", grading_version=1, runs=runs, tasks=tasks
    )


@pytest.mark.parametrize(
    ("now", "new"),
    [
        (line({"a": "holds"}), False),
        (line({"a": "once"}), False),
        (line({"a": "drifted"}), True),
        (line({"a": "holds"}, runs=5), True),
        (line({"b": "holds"}), True),
    ],
)
def test_a_line_is_written_only_where_it_says_something_new(now, new):
    assert record.says_something_new(now, [line({"a": "drifted"}), line({"a": "holds"})]) is new


def test_lines_are_read_as_they_were_written(dataset):
    record.append(dataset, line({"a": "holds"}))
    record.append(dataset, line({"a": "drifted"}))
    first, second = record.read(dataset)
    assert (first.tasks, second) == (line({"a": "holds"}).tasks, line({"a": "drifted"}))


def test_the_first_line_has_the_canary(dataset):
    record.append(dataset, line({"a": "holds"}))
    assert dataset.canary in (dataset.path / record.REFRESH_FILE).read_text()


@pytest.mark.parametrize("broken", [b"not json\n", b"[]\n", b'{"at": 3}\n', b"\xff\xfe\n"])
def test_a_line_that_is_no_record_is_refused_by_its_number(dataset, broken):
    record.append(dataset, line({"a": "holds"}))
    path = dataset.path / record.REFRESH_FILE
    path.write_bytes(path.read_bytes() + broken)
    with pytest.raises(InputError, match="line 2"):
        record.read(dataset)


def test_quarantined_tasks_have_each_their_own_reason_and_the_dataset_one_new_version(dataset):
    before = content.settle(dataset).number
    with content.locked(dataset):
        version = task_states.quarantine_all(dataset, {ID: "one", "tiny__calc-2": "two"})
    assert version.number == before + 1
    assert [dataset.instance(one).extra["quarantined"] for one in dataset.ids()] == ["one", "two"]
    told = [entry.facts["why"] for entry in ledger.read(dataset) if entry.event == "quarantined"]
    assert told == ["one", "two"]


def test_a_task_that_is_in_quarantine_already_keeps_its_reason(dataset):
    task_states.quarantine(dataset, [ID], why="flaky")
    with content.locked(dataset):
        task_states.quarantine_all(dataset, {ID: "refresh"})
    assert dataset.instance(ID).extra["quarantined"] == "flaky"


def test_all_proved_tasks_are_looked_at_unless_some_are_named(dataset):
    task_states.quarantine(dataset, [ID], why="flaky")
    assert work.choose(dataset, (), quarantined=False) == ("tiny__calc-2",)
    assert work.choose(dataset, (), quarantined=True) == (ID,)


@pytest.mark.parametrize("ids", [["none"], [ID, ID]])
def test_ids_that_are_unknown_or_named_twice_are_refused(dataset, ids):
    with pytest.raises(InputError):
        work.choose(dataset, ids, quarantined=False)


def test_a_named_task_in_another_state_is_refused(dataset):
    task_states.retire(dataset, [ID], why="leaked")
    with pytest.raises(InputError, match="retired"):
        work.choose(dataset, [ID], quarantined=False)


def test_that_none_is_in_quarantine_is_no_error(dataset):
    assert work.choose(dataset, (), quarantined=True) == ()


def test_a_dataset_without_proved_tasks_is_refused(tmp_path):
    empty = tiny.dataset(tmp_path / "ds", tiny.with_state(TASK, TaskState.CANDIDATE))
    with pytest.raises(InputError, match="no proved task"):
        work.choose(open_dataset(empty.path), (), quarantined=False)


def gone_wrong(dataset, **more):
    findings = tuple(finding(one, Result.DRIFTED, why="gold does not resolve") for one in dataset.ids())
    return work.Refreshed(findings=findings, mass=True, slowdown=1.0, settings=work.Settings(**more))


def test_tasks_that_all_go_wrong_at_once_are_left_alone(dataset):
    assert work._changed(dataset, gone_wrong(dataset)).quarantined == ()
    assert {one.state for one in dataset.instances()} == {TaskState.PROVED}


def test_tasks_that_all_go_wrong_at_once_are_quarantined_by_force(dataset):
    assert work._changed(dataset, gone_wrong(dataset, force=True)).quarantined == dataset.ids()
    assert {one.state for one in dataset.instances()} == {TaskState.QUARANTINED}


def test_so_many_at_once_is_a_matter_of_infrastructure(dataset):
    with pytest.raises(InfrastructureError, match="went wrong together"):
        refresh._answer(gone_wrong(dataset), dataset.path)


def test_what_drifted_is_told_before_what_could_not_be_looked_at(dataset):
    findings = (finding("a", Result.DRIFTED), drift.unscored("b", "no image"))
    found = work.Refreshed(findings=findings, mass=False, slowdown=1.0, settings=work.Settings())
    with pytest.raises(AnswerIsNoError, match="1 could not be looked at"):
        refresh._answer(found, dataset.path)


def test_the_bound_of_a_task_is_that_of_its_own_runs_and_of_all_that_of_all():
    findings = tuple(
        replace(finding(name), gold=Tally(resolved=20, runs=20), null=Tally(runs=20)) for name in ("a", "b")
    )
    found = work.Refreshed(findings=findings, settings=work.Settings(runs=20), mass=False, slowdown=1.0)
    assert found.bound_each == pytest.approx(0.1391, abs=1e-4)
    assert found.bound_all == pytest.approx(0.0722, abs=1e-4)


def test_the_json_of_a_finding_is_json():
    found = drift.judge(TASK, [gold(f2p="F"), null(), *repeats(gold, f2p="F")])
    assert json.loads(json.dumps(record.finding_as_json(found)))["changes"][0]["kind"] == "gold"
