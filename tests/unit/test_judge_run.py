"""`goldseam judge` at work: against our scripted server, on runs made by our own writers; no verdict is touched."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.program import run_app
from harness.core.instance import Outcome
from harness.dataset.folder import open_dataset
from harness.dataset.ledger import ledger
from harness.solve.judge import run as judge_run
from miner.cli.main import app
from tests import report_runs
from tests.model_server import ModelServer, Say, overflow, server_error

YES, NO = Say(text='{"verdict": "correct", "reason": "looks fine"}'), Say(text='{"verdict": "incorrect"}')
TASKS = ("acme__widgets-100", "acme__widgets-101")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A dataset of two tasks, and a run: `good` resolves both, `bad` none, `none` has no patch."""
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    report_runs.make_dataset(tmp_path / "dataset", 2)
    made = []
    for number, task in enumerate(TASKS):
        right, wrong = Outcome.RESOLVED, Outcome.UNRESOLVED
        made += [
            report_runs.add(tmp_path / "run", task, "good", right, patch=patch(f"good{number}")),
            report_runs.add(tmp_path / "run", task, "bad", wrong, patch=patch(f"bad{number}"), failure_class="logic"),
            report_runs.add(tmp_path / "run", task, "none", Outcome.EMPTY_PATCH, patch=""),
        ]
    report_runs.RunFolder(path=tmp_path / "run").write_predictions(made)
    return tmp_path


def patch(name: str) -> str:
    return report_runs.PATCH.format(name=name)


def judge(server: ModelServer, *more: str) -> int:
    argv = ["judge", "run", "--dataset", "dataset", "-o", "j.jsonl", "--model", "m", "--base-url", server.base_url]
    code = run_app(app, [*argv, "--api", "chat", "-j", "2", *more])
    assert server.problems == []
    return code


def told(capsys) -> dict:
    return json.loads(capsys.readouterr().out)


def lines() -> list[dict]:
    return [json.loads(line) for line in Path("j.jsonl").read_text().splitlines()]


@pytest.fixture
def lenient():
    with ModelServer({"m": YES}) as server:
        yield server


def test_every_patch_is_judged_and_held_against_the_tests(world, lenient, capsys):
    assert judge(lenient, "--json", "--assume-price", "1/2") == 0
    found = told(capsys)["judges"][0]
    assert found["all"]["matrix"]["right_passed"] == 2
    assert found["all"]["matrix"]["wrong_passed"] == 2
    assert found["all"]["matrix"]["empty"] == 2
    assert found["all"]["waved_through"]["value"] == 1
    assert found["all"]["by_class"]["logic"]["patches"] == 2
    assert [(pair["one"], pair["other"], pair["order"]) for pair in found["pairs"]] == [
        ("bad", "good", "tie by judge"),
        ("bad", "none", "tie by tests"),
        ("good", "none", "same"),
    ]
    assert found["bill"]["judged"] == 4
    assert found["bill"]["cost_usd"] > 0
    assert found["bill"]["container_seconds"] == pytest.approx(4 * (0.02 + 0.09 + 1.5))


def test_a_person_is_told_the_same_and_that_it_decides_nothing(world, lenient, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert judge(lenient, "--assume-price", "1/2") == 0
    shown = capsys.readouterr().out
    assert "judged 4 of 4 patches. It passes 100%" in shown.replace("\n", " ")
    assert "no gate reads what a judge says" in shown


def test_the_judge_sees_statement_patch_and_canary_and_nothing_hidden(world, lenient):
    assert judge(lenient) == 0
    text = "\n".join(asked.text for asked in lenient.requests)
    assert "Parsing an empty header" in text
    assert "src/good0.py" in text
    assert "goldseam-canary" in text
    assert report_runs.SECRET_GOLD not in text
    assert report_runs.SECRET_TEST not in text


def test_the_known_fix_is_shown_only_where_that_is_asked_for_and_the_ledger_says_so(world, lenient):
    assert judge(lenient, "--with-gold") == 0
    assert not (world / "cache" / "answers").exists(), "an answer may quote the fix"
    assert report_runs.SECRET_GOLD in lenient.requests[0].text
    entries = ledger.read(open_dataset(world / "dataset"))
    assert {tuple(entry.facts["shown"]) for entry in entries if entry.event == "exposed"} == {
        ("code", "gold", "statement")
    }


def test_the_ledger_tells_each_exposure_before_the_first_question(world, capsys):
    seen = []

    def script(asked):
        seen.append((world / "dataset" / "ledger.jsonl").read_text().count('"exposed"'))
        return YES

    with ModelServer({"m": script}) as server:
        assert judge(server) == 0
    assert min(seen) >= 1
    assert (world / "dataset" / "ledger.jsonl").read_text().count('"exposed"') == 2


def test_the_fix_is_judged_only_where_it_is_named_and_the_ledger_says_that_it_was_shown(world, lenient):
    folder = report_runs.RunFolder(path=world / "run")
    gold = report_runs.add(world / "run", TASKS[0], "gold", patch=patch("the_fix"))
    folder.write_predictions([*folder.predictions(), gold])
    assert judge(lenient) == 0
    assert "the_fix" not in "\n".join(asked.text for asked in lenient.requests)
    assert judge(lenient, "--only", "gold") == 0
    assert "the_fix" in lenient.requests[-1].text
    shown = [entry.facts["shown"] for entry in ledger.read(open_dataset(world / "dataset")) if entry.event == "exposed"]
    assert [("gold" in one) for one in shown] == [False, False, True]


def test_a_patch_cannot_speak_to_the_judge_from_its_frame(world, lenient):
    """The mark around others' words is made from them, so they can't hold it."""
    assert judge(lenient) == 0
    for asked in lenient.requests:
        system, user = (text for _, text in asked.messages)
        mark = user.split("]")[0].strip("[")
        assert mark in system
        assert user.count(mark) == 4


def test_the_same_command_asks_nothing_twice(world, lenient):
    assert judge(lenient) == 0
    assert judge(lenient) == 0
    assert len(lenient.requests) == 4
    assert len(lines()) == 4


def test_another_rubric_is_another_judge_and_is_asked_anew(world, lenient, capsys):
    Path("strict.md").write_text("Be strict.")
    assert judge(lenient) == 0
    assert judge(lenient, "--rubric", "strict.md") == 0
    assert len(lenient.requests) == 8
    assert "Be strict." in lenient.requests[-1].text
    capsys.readouterr()
    assert run_app(app, ["judge", "run", "-o", "j.jsonl", "--json"]) == 0
    assert [one["judge"]["rubric"] for one in told(capsys)["judges"]] == ["goldseam", "strict.md"]


def test_a_patch_that_changed_is_judged_anew(world, lenient):
    assert judge(lenient) == 0
    folder = report_runs.RunFolder(path=world / "run")
    changed = [
        replace(one, model_patch=patch("other")) if one.model_name_or_path == "bad" else one
        for one in folder.predictions()
    ]
    folder.write_predictions(changed)
    assert judge(lenient) == 0
    assert len(lenient.requests) == 6


def test_what_cannot_be_read_has_its_own_column(world, capsys):
    with ModelServer({"m": Say(text="Looks good to me!")}) as server:
        assert judge(server, "--json") == 0
        found = told(capsys)["judges"][0]["all"]
        assert (found["matrix"]["right_unreadable"], found["matrix"]["wrong_unreadable"]) == (2, 2)
        assert found["waved_through"]["value"] is None
        assert judge(server) == 0
        assert len(server.requests) == 4, "an answer that can't be read is an answer"


def test_a_patch_too_long_for_the_judge_is_unreadable_with_the_reason(world):
    with ModelServer({"m": overflow()}) as server:
        assert judge(server) == 0
    assert {line["verdict"] for line in lines()} == {"unreadable"}
    assert "maximum context length" in lines()[0]["reason"]


def test_a_limit_ends_it_gracefully_and_a_higher_one_goes_on(world, lenient, capsys):
    assert judge(lenient, "--max-tokens", "2000", "--max-output-tokens", "100", "-j", "1", "--json") == 0
    first = told(capsys)
    done = len(lenient.requests)
    assert 0 < done < 4
    assert "tokens are used" in first["stopped"]
    assert first["judges"][0]["all"]["matrix"]["unasked"] == 4 - done
    assert judge(lenient, "--max-tokens", "60000", "--max-output-tokens", "100", "--json") == 0
    assert told(capsys)["stopped"] is None
    assert len(lenient.requests) == 4


def test_what_the_endpoint_failed_at_is_told_and_asked_again(world, capsys):
    def script(asked):
        return server_error(401) if "good" in asked.text and not healed else YES

    healed: list[bool] = []
    with ModelServer({"m": script}) as server:
        assert judge(server, "-j", "1") == 4
        assert "could not be judged" in capsys.readouterr().err
        healed.append(True)
        assert judge(server) == 0
    assert len(lines()) == 4


def test_a_bug_of_ours_costs_one_question_which_the_same_command_asks_again(world, capsys, monkeypatch):
    true = judge_run.read

    def planted(text):
        if "good0" in text:
            raise ZeroDivisionError
        return true(text)

    def script(asked):
        return Say(text=f"{YES.text} good0") if "good0" in asked.text else YES

    with ModelServer({"m": script}) as server:
        with monkeypatch.context() as patched:
            patched.setattr(judge_run, "read", planted)
            assert judge(server, "-j", "1") == 70
        assert "1 patch could not be judged: a bug of goldseam (ZeroDivisionError)" in capsys.readouterr().err
        assert len(lines()) == 3
        assert judge(server) == 0
    assert len(lines()) == 4
    [log] = (world / "cache" / "logs").iterdir()
    assert "ZeroDivisionError" in log.read_text()


def test_an_unknown_price_with_a_limit_of_money_is_refused(world, lenient, capsys):
    assert judge(lenient, "--max-cost", "1") == 2
    assert "--assume-price" in capsys.readouterr().err
    assert lenient.requests == []


PRICE = "prices: [{model: m, input: INPUT, output: 0, source: us, seen: 2026-11-01}]"


def test_a_price_is_taken_from_the_flag_before_the_variable_before_the_settings(world, lenient, monkeypatch):
    """Each names a table of its own; which one held is told by what a judgement cost."""
    for number, name in enumerate(("settings", "variable", "flag"), start=1):
        Path(f"{name}.yaml").write_text(PRICE.replace("INPUT", str(1000 * number)))
    costs = []
    Path("goldseam.toml").write_text('[solve]\nprices = "settings.yaml"\n')
    for setup in ("settings", "variable", "flag"):
        if setup == "variable":
            monkeypatch.setenv("GOLDSEAM_SOLVE_PRICES", "variable.yaml")
        Path("j.jsonl").unlink(missing_ok=True)
        assert judge(lenient, "--no-cache", "-j", "1", *(["--prices", "flag.yaml"] if setup == "flag" else [])) == 0
        first = min(lines(), key=lambda line: (line["model_name_or_path"], line["instance_id"]))
        costs.append(first["cost_usd"] / first["input_tokens"])
    assert costs == pytest.approx([0.001, 0.002, 0.003])


def test_a_line_cut_short_by_a_crash_is_judged_again(world, lenient):
    assert judge(lenient) == 0
    data = Path("j.jsonl").read_bytes()
    Path("j.jsonl").write_bytes(data[:-50])
    assert judge(lenient, "--no-cache") == 0
    assert len(lenient.requests) == 5
    assert len(lines()) == 4


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["judge", "run", "-o", "j.jsonl"], "holds no judgement"),
        (["judge", "run"], "with -o FILE"),
        (["judge", "run", "-o", "j.jsonl", "--model", "m"], "--dataset"),
        (["judge", "nowhere", "-o", "j.jsonl"], "holds no prediction"),
        (["judge", "run", "-o", "j.jsonl", "--only", "nobody"], "no run has patches of nobody"),
        (["judge", "run", "-o", "broken.jsonl"], "line 1 is not a judgement"),
    ],
)
def test_wrong_usage_is_told_with_what_to_do(world, capsys, argv, said):
    Path("broken.jsonl").write_text("{}\n")
    assert run_app(app, argv) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_no_gate_and_no_score_reads_a_judge(world, lenient, capsys):
    """The judge's file lies where a gate looks, says that all is wrong, and changes nothing."""
    ask = ["gate", "run", "--model", "good", "--baseline", "run", "--baseline-model", "bad", "--json"]
    scores = ["scores", "run", "--json"]
    before = []
    for argv in (ask, scores):
        run_app(app, argv)
        before.append(capsys.readouterr().out)
    with ModelServer({"m": NO}) as server:
        assert judge(server) == 0
    Path("j.jsonl").rename("run/judgements.jsonl")
    capsys.readouterr()
    for argv, said in zip((ask, scores), before, strict=True):
        run_app(app, argv)
        assert capsys.readouterr().out == said
