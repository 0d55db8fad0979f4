"""Reports and kept verdicts carry a code by this machine's key; what was made elsewhere, or by hand, is found."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from harness.analysis.gate import files
from harness.analysis.gate.config import GateRules
from harness.core.errors import InputError
from harness.runs import regrade, report_mac
from harness.runs.run_folder import RunFolder
from tests.gate_runs import make_run
from tests.program import goldseam

ONE = "acme__widgets-0"


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A machine of its own."""
    monkeypatch.delenv(report_mac.VARIABLE, raising=False)
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Called, it goes on on another machine."""
    return lambda: monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "another"))


def report_of(run, number=0):
    return run / "results" / "model" / f"acme__widgets-{number}" / "0" / "report.json"


def edit(path, **fields):
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **fields}), encoding="utf-8")


def unauthenticated(run):
    return RunFolder(path=run).unauthenticated("model")


def decision(run, baseline, rules=None, **fields):
    question = files.Question(candidate=run, baseline=baseline, **fields)
    return files.ask(question, rules or GateRules(max_drop=0.5)).decision


def test_the_key_is_made_at_first_use_for_its_owner_alone(machine):
    report_mac.of("kind", b"x")

    assert (machine / report_mac.KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert list(machine.iterdir()) == [machine / report_mac.KEY_FILE]


def test_two_that_are_first_at_once_have_one_key(machine):
    def fresh(_number):
        report_mac._key.cache_clear()
        return report_mac.of("kind", b"x")

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(fresh, range(32)))) == 1


def test_asking_makes_no_key(machine):
    assert not report_mac.holds("0" * 64, "kind", b"x")
    assert not machine.exists()


def test_parts_cannot_be_shifted_into_each_other():
    assert not report_mac.holds(report_mac.of("kind", b"ab", b"c"), "kind", b"a", b"bc")


@pytest.mark.parametrize("text", ["", "short"])
def test_a_shared_key_that_is_none_is_refused(tmp_path, monkeypatch, text):
    (tmp_path / "key").write_text(text)
    monkeypatch.setenv(report_mac.VARIABLE, str(tmp_path / "key"))

    with pytest.raises(InputError, match="GOLDSEAM_REPORT_KEY"):
        report_mac.of("kind", b"x")


def test_a_run_of_this_machine_is_authentic(tmp_path):
    assert unauthenticated(make_run(tmp_path / "run", 20)) == ()


@pytest.mark.parametrize(
    "fields",
    [{"resolved": True}, {"outcome": "resolved"}, {"mac": ""}, {"mac": "0" * 64}, {"mac": None}, {"instance_id": "b"}],
    ids=str,
)
def test_a_report_that_was_written_by_hand_is_not(tmp_path, fields):
    run = make_run(tmp_path / "run", 0)
    edit(report_of(run), **fields)

    assert unauthenticated(run) == (str(report_of(run).relative_to(run)),)


def test_a_report_taken_over_from_a_run_of_another_patch_is_not(tmp_path):
    run, good = make_run(tmp_path / "run", 0), make_run(tmp_path / "good", 30, patch="other")
    shutil.copy(report_of(good), report_of(run))

    assert unauthenticated(run) == (str(report_of(run).relative_to(run)),)


def test_a_report_of_this_machine_on_another_task_of_the_same_name_is_no_green_answer(tmp_path):
    run, base, other = (make_run(tmp_path / name, won) for name, won in (("run", 24), ("base", 25), ("other", 25)))
    record = RunFolder(path=run).record()
    RunFolder(path=run).write_run(record.model_copy(update={"tasks": {**record.tasks, ONE: "1" * 64}}))
    shutil.copy(report_of(other, int(ONE.rpartition("-")[2])), report_of(run, int(ONE.rpartition("-")[2])))

    said = decision(run, base)

    (line,) = [one for one in said.rules if one.name == "authenticated"]
    assert (said.exit_code, line.found) == (3, "1 file without a MAC of this machine's key")


def test_a_report_in_another_place_is_not(tmp_path):
    run = make_run(tmp_path / "run", 1)
    place = run / "results" / "model" / "acme__widgets-0" / "1"
    shutil.copytree(report_of(run).parent, place)

    assert unauthenticated(run) == ("results/model/acme__widgets-0/1/report.json",)


def test_predictions_cannot_be_taken_out(tmp_path):
    run = make_run(tmp_path / "run", 20)
    lines = (run / "predictions.jsonl").read_text().splitlines(keepends=True)
    (run / "predictions.jsonl").write_text("".join(lines[:-1]))
    shutil.rmtree(report_of(run, 29).parent)

    assert unauthenticated(run) == ("run.json",)


def test_what_a_run_knows_of_its_tasks_cannot_be_changed(tmp_path):
    run = make_run(tmp_path / "run", 20)
    facts = json.loads((run / "run.json").read_bytes())["facts"]
    edit(run / "run.json", facts={**facts, ONE: {**facts[ONE], "state": "quarantined"}})

    assert unauthenticated(run) == ("run.json",)


def test_the_gate_does_not_pass_a_run_of_another_machine(tmp_path, elsewhere):
    run, base = make_run(tmp_path / "run", 25), make_run(tmp_path / "base", 25)
    assert decision(run, base).exit_code == 0
    elsewhere()

    said = decision(run, base)

    (line,) = [one for one in said.rules if one.name == "authenticated"]
    assert (said.exit_code, line.found) == (3, "62 files without a MAC of this machine's key")
    assert "results/model" in line.sentence or "run.json of run" in line.sentence


def test_a_forged_report_is_no_green_answer_even_where_what_cannot_be_told_may_pass(tmp_path):
    run, base = make_run(tmp_path / "run", 25), make_run(tmp_path / "base", 25)
    edit(report_of(run, 29), outcome="resolved", resolved=True)

    assert decision(run, base, GateRules(max_drop=0.5, inconclusive="pass")).exit_code == 3


@pytest.mark.parametrize("which", ["baseline", "confirm"])
def test_a_baseline_or_a_second_run_of_another_machine_is_no_green_answer_either(tmp_path, elsewhere, which):
    other = make_run(tmp_path / "other", 25, patch="other")
    elsewhere()
    run, base = make_run(tmp_path / "run", 25), make_run(tmp_path / "base", 25)
    given = {"baseline": base, which: other}

    assert decision(run, given["baseline"], confirm=given.get("confirm")).exit_code == 3


def test_told_to_the_gate_takes_it_and_says_so(tmp_path, elsewhere):
    run, base = make_run(tmp_path / "run", 25), make_run(tmp_path / "base", 25)
    elsewhere()

    done = goldseam("gate", run, "--baseline", base, "--max-drop", "0.5", "--allow-unauthenticated", COLUMNS="300")

    assert done.returncode == 0
    assert "run has 31 files without a MAC of this machine's key" in done.stdout


def test_machines_that_share_a_key_believe_each_other(tmp_path, elsewhere, monkeypatch):
    monkeypatch.setenv(report_mac.VARIABLE, "env:SHARED")
    monkeypatch.setenv("SHARED", "5" * 64)
    run, base = make_run(tmp_path / "run", 25), make_run(tmp_path / "base", 25)
    elsewhere()

    assert decision(run, base).exit_code == 0


def test_an_accepted_file_is_the_users_own(tmp_path, elsewhere):
    run, base = make_run(tmp_path / "run", 25), make_run(tmp_path / "base", 25)
    file = tmp_path / "accepted.json"
    assert goldseam("gate", run, "--baseline", base, "--max-drop", "0.5", "--accept-to", file).returncode == 0
    elsewhere()

    assert decision(make_run(tmp_path / "next", 25), file).exit_code == 0


def test_a_report_written_again_stays_authentic_and_a_forged_one_stays_forged(tmp_path):
    run = make_run(tmp_path / "run", 20)
    folder = RunFolder(path=run)
    good, forged, *_ = folder.predictions()
    edit(report_of(run, 1), outcome="unresolved")
    for one in (good, forged):
        folder.write_report(one, folder.read(one).model_copy(update={"reason": "said again"}))

    assert (folder.is_authentic(good), folder.is_authentic(forged)) == (True, False)


def test_a_run_that_somebody_changed_is_not_vouched_for_by_writing_it_again(tmp_path):
    run = make_run(tmp_path / "run", 20)
    folder = RunFolder(path=run)
    edit(run / "run.json", dataset="another")

    regrade._write_run(folder, regrade.Summary(predictions=()))

    assert unauthenticated(run) == ("run.json",)


def test_evidence_is_known_by_its_digest(tmp_path):
    run = make_run(tmp_path / "run", 20)
    folder = RunFolder(path=run)
    one = folder.predictions()[0]
    assert folder.has_own_evidence(one)

    (report_of(run).parent / "results.json").write_text("{}")

    assert not folder.has_own_evidence(replace(one, extra={}))
