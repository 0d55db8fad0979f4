"""`goldseam gate` and `goldseam history` as a person or a CI job calls them."""

from __future__ import annotations

import json

import pytest

from harness.analysis.gate.decision import GateVerdict
from tests import report_runs
from tests.gate_runs import make_run
from tests.tiny import goldseam

SECRETS = (report_runs.SECRET_TEST, report_runs.SECRET_OUTPUT, report_runs.SECRET_GOLD)


@pytest.fixture
def base(tmp_path):
    return make_run(tmp_path / "base", 26)


def gate(candidate, *words, **env):
    return goldseam("gate", candidate, *words, env={"COLUMNS": "80", **env} if env else {"COLUMNS": "80"})


@pytest.mark.parametrize(
    ("won", "code", "word"),
    [(26, 0, "PASS"), (10, 1, "REGRESSION"), (23, 3, "INCONCLUSIVE")],
    ids=["same", "worse", "may be"],
)
def test_the_exit_code_and_the_last_line_tell_the_answer(tmp_path, base, won, code, word):
    done = gate(make_run(tmp_path / "next", won), "--baseline", base)

    assert done.returncode == code
    lines = done.stdout.decode().splitlines()
    assert any(line.startswith(word) for line in lines[-3:])
    assert max(map(len, lines)) <= 80


def test_json_is_one_document_and_the_exit_code_stays(tmp_path, base):
    done = gate(make_run(tmp_path / "next", 10), "--baseline", base, "--json")

    document = json.loads(done.stdout)
    assert (done.returncode, document["verdict"]) == (1, GateVerdict.REGRESSION)
    assert "broken" in {rule["ruling"] for rule in document["rules"]}


def test_what_is_left_for_ci_names_no_hidden_test(tmp_path, base):
    files = [tmp_path / name for name in ("junit.xml", "x.sarif", "summary.md", "step", "output")]

    done = gate(
        make_run(tmp_path / "next", 10),
        "--baseline",
        base,
        *("--junit", files[0], "--sarif", files[1], "--summary", files[2]),
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(files[3]),
        GITHUB_OUTPUT=str(files[4]),
    )

    everything = [done.stdout, done.stderr, *(file.read_bytes() for file in files)]
    assert not [secret for secret in SECRETS for text in everything if secret.encode() in text]
    assert b"::error title=goldseam gate%3A max_drop::" in done.stderr
    assert b"verdict=regression\n" in files[4].read_bytes()


def test_a_run_that_passes_is_accepted_and_the_next_is_compared_with_it(tmp_path, base):
    accepted = tmp_path / "kept" / "accepted.json"

    first = gate(base, "--baseline", accepted, "--allow-missing-baseline", "--accept-to", accepted)
    worse = gate(make_run(tmp_path / "worse", 10), "--baseline", accepted, "--accept-to", accepted)

    assert (first.returncode, worse.returncode) == (0, 1)
    kept = json.loads(accepted.read_bytes())
    assert (kept["run"], len(kept["tasks"])) == ("base", 30)
    assert not [secret for secret in SECRETS if secret.encode() in accepted.read_bytes()]
    assert [path.name for path in accepted.parent.iterdir()] == ["accepted.json"]


def test_quarantined_tasks_do_not_count_wherever_they_are_lost(tmp_path, base):
    done = gate(make_run(tmp_path / "next", 10, quarantined=range(10, 30)), "--baseline", base)

    assert done.returncode == 0


def test_the_same_model_is_found_in_a_baseline_with_several(tmp_path):
    base = make_run(tmp_path / "base", 26, models=("model", "other"))

    assert gate(make_run(tmp_path / "next", 26), "--baseline", base).returncode == 0


def test_two_models_of_one_run_can_be_compared(tmp_path):
    run = make_run(tmp_path / "run", 26, models=("a", "b"))

    assert gate(run, "--model", "a", "--baseline", run, "--baseline-model", "b").returncode == 0


def test_a_drop_has_to_show_again_on_fresh_samples(tmp_path, base):
    worse, again = make_run(tmp_path / "worse", 10), make_run(tmp_path / "again", 26, patch="fresh")

    assert gate(worse, "--baseline", base, "--confirm-run", again).returncode == 3


def refused(done, *expected):
    assert done.returncode == 2
    text = " ".join(done.stderr.decode().split())
    assert all(part in text for part in expected), text
    assert "Traceback" not in text


def test_the_same_patches_confirm_nothing(tmp_path, base):
    worse, again = make_run(tmp_path / "worse", 10), make_run(tmp_path / "again", 10)

    refused(gate(worse, "--baseline", base, "--confirm-run", again), "same patches")


def test_a_run_that_is_compared_with_itself_passes_and_says_so(base):
    done = gate(base, "--baseline", base)

    assert done.returncode == 0
    assert b"the candidate is compared with itself" in done.stdout


def test_no_baseline_is_refused_with_the_way_out(base):
    refused(gate(base), "--allow-missing-baseline")
    refused(gate(base, "--baseline", base.parent / "nowhere"), "nowhere", "--allow-missing-baseline")


def test_wrong_rules_are_refused_with_file_and_key(tmp_path, base):
    config = tmp_path / "my.toml"
    config.write_text("[gate]\nmax_dorp = 0.1\n", encoding="utf-8")

    refused(gate(base, "--baseline", base, "--config", config), "my.toml", "gate.max_dorp", "max_drop")


def test_a_model_that_is_not_there_is_refused_with_those_that_are(base):
    refused(gate(base, "--baseline", base, "--model", "modle"), "did you mean model?")
    refused(gate(base, "--baseline", base, "--model", "gpt"), "it has: model")


def test_a_candidate_that_is_no_run_is_refused(tmp_path, base):
    refused(gate(tmp_path / "nowhere", "--baseline", base), "no such folder")


def test_history_finds_the_step_in_a_folder_of_runs(tmp_path):
    for number, won in enumerate((26, 26, 8, 8)):
        run = make_run(tmp_path / "runs" / f"run-{number}", won)
        record = json.loads((run / "run.json").read_bytes())
        (run / "run.json").write_text(json.dumps({**record, "started_at": f"2026-03-0{number + 1}T00:00:00Z"}))

    done = goldseam("history", tmp_path / "runs", "--json")

    assert done.returncode == 0
    [trend] = json.loads(done.stdout)["trends"]
    assert [step["run"] for step in trend["steps"]] == ["run-2"]


def test_history_of_a_folder_without_runs_is_refused(tmp_path):
    refused(goldseam("history", tmp_path), "holds no run folders")
