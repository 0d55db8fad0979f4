"""A sealed dataset evaluated: what is hidden leaves no trace outside, and everything still works."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyrage
import pytest

from harness.core import process
from harness.dataset import folder
from harness.dataset.ledger import chain, ledger
from harness.dataset.seal import sealing
from harness.dataset.seal.identity import load_keys
from harness.runs.run_folder import EVIDENCE_FILE, RunFolder
from harness.sandbox import engine
from harness.sandbox.images import layers
from tests import second_engine, tiny
from tests.program import goldseam
from tests.trees import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.engine

HIDDEN = """\
import calc


def test_zero():
    assert calc.add(0, 0) == 0


def test_two_of_a_kind():
    wanted_from_two_ones = 1 + 1
    assert calc.add(1, 1) == wanted_from_two_ones, calc.hidden_fix_marker(1)
"""
FIXED = "def add(a, b):\n    return a + b\n\n\ndef hidden_fix_marker(a):\n    return a\n"
WORDS = (b"wanted_from_two_ones", b"test_two_of_a_kind", b"hidden_fix_marker", b"test_calc.py::")
"""What nothing outside may hold: code of the hidden tests, ids of them, the fix."""
MODELS = {
    "wrong": tiny.fix("return 7"),
    "broken": tiny.fix("return a", top=["import nothing_of_that_name", ""]),
    "printing": tiny.fix("print(open(__file__).read())", "return a - b"),
}


@dataclass(frozen=True, kw_only=True)
class World:
    """A sealed dataset, a key, runs of it, and all that the program said."""

    root: Path
    said: bytes

    @property
    def dataset(self) -> Path:
        return self.root / "dataset"

    @property
    def key(self) -> str:
        return str(self.root / "key")

    def env(self, **more: str) -> dict[str, str]:
        return {"GOLDSEAM_CACHE_DIR": str(self.root / "cache"), "GOLDSEAM_USER": "me", "COLUMNS": "200", **more}

    def goldseam(self, *words: str | Path, **more: str):
        return goldseam(*words, **self.env(**more))


@pytest.fixture(scope="module")
def image(slim_image) -> Iterator[str]:
    """A tenth of the task image, of which every file is looked at below."""
    yield second_engine.load(slim_image, "tiny/custody")
    engine.connect().remove_image("tiny/custody:slim")


@pytest.fixture(scope="module")
def world(image, tmp_path_factory) -> World:
    root = tmp_path_factory.mktemp("custody")
    identity = pyrage.x25519.Identity.generate()
    (root / "key").write_text(f"{identity}\n")
    task = tiny.task(
        image,
        tests={tiny.TESTS: (tiny.BASE_TESTS, HIDDEN)},
        fail_to_pass=["tests/test_calc.py::test_two_of_a_kind"],
        gold=tiny.diff(tiny.CALC, tiny.BUGGY, FIXED),
    )
    tiny.dataset(root / "dataset", task)
    predictions = tiny.write_predictions(root / "p.jsonl", MODELS)
    made = World(root=root, said=b"")
    env = made.env()
    seal_it = tiny.goldseam("holdout", "seal", made.dataset, "--to", str(identity.to_public()), env=env)
    run = tiny.goldseam(
        "evaluate", made.dataset, "-p", predictions, "--gold", "--null", "-o", root / "run", "--no-signals",
        "--control", "0", "--identity", made.key, env=env,
    )  # fmt: skip
    assert (seal_it.returncode, run.returncode) == (0, 0), run.error_text
    said = b"".join((seal_it.stdout, seal_it.stderr, run.stdout, run.stderr))
    return World(root=root, said=said)


def outcomes(run: Path) -> dict[str, str]:
    return {report.model_name_or_path: report.outcome.value for report in RunFolder(path=run).reports()}


def test_verdicts_are_those_of_the_readable_dataset(world):
    assert outcomes(world.root / "run") == {"gold": "resolved", "null": "unresolved"} | dict.fromkeys(
        MODELS, "unresolved"
    )


def test_nothing_hidden_is_in_the_run_folder_the_cache_the_dataset_or_what_was_said(world):
    for place in ("run", "cache", "dataset"):
        assert words_in(world.root / place, WORDS) == set()
    assert [word for word in WORDS if word in world.said] == []


def test_nothing_hidden_is_in_any_layer_or_the_config_of_the_image(world, image):
    with_config = [("config", json.dumps(engine.connect().inspect_image(image)).encode())]
    every = [*layers.every_layer(image), *with_config]

    assert len(every) > 100
    assert [(path, word) for path, data in every for word in WORDS if word in data] == []


def test_names_of_hidden_tests_are_the_same_in_every_report(world):
    reports = {report.model_name_or_path: report for report in RunFolder(path=world.root / "run").reports()}

    gold, null = (reports[model].tests_status["FAIL_TO_PASS"] for model in ("gold", "null"))
    assert len(gold["success"]) == 1
    assert gold["success"] == null["failure"]


def test_regrading_with_a_key_finds_the_same_verdicts(world):
    done = world.goldseam("regrade", world.dataset, world.root / "run", "--identity", world.key)

    assert done.returncode == 0, done.error_text
    assert "5 unchanged" in done.stdout
    assert words_in(world.root / "run", WORDS) == set()


def test_the_same_command_again_does_nothing_again(world):
    before = {path: path.stat().st_mtime_ns for path in (world.root / "run").rglob("report.json") if "0" in path.parts}

    done = world.goldseam(
        "evaluate", world.dataset, "-p", world.root / "p.jsonl", "--gold", "--null", "-o", world.root / "run",
        "--no-signals", GOLDSEAM_IDENTITY=world.key,
    )  # fmt: skip

    assert done.returncode == 0, done.error_text
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_verdict_kept_from_one_run_serves_another(world):
    done = world.goldseam(
        "evaluate", world.dataset, "-p", world.root / "p.jsonl", "-o", world.root / "run2", "--no-signals",
        "--identity", world.key,
    )  # fmt: skip

    assert done.returncode == 0, done.error_text
    assert all(report.reused for report in RunFolder(path=world.root / "run2").reports())
    assert world.goldseam("regrade", world.dataset, world.root / "run2", "--identity", world.key).returncode == 0


def test_reports_and_the_gate_read_such_a_run(world):
    page = world.root / "report.html"
    report = world.goldseam("report", world.root / "run", "--dataset", world.dataset, "-o", page, "--with-hidden")
    gate = world.goldseam(
        "gate", world.root / "run", "--baseline", world.root / "run", "--model", "wrong", "--baseline-model", "wrong",
        "--junit", world.root / "junit.xml",
    )  # fmt: skip

    assert report.returncode == 0, report.error_text
    assert gate.returncode in {0, 3}, gate.error_text
    assert [word for word in WORDS if word in page.read_bytes()] == []


def test_kept_evidence_is_readable_and_said_to_be(world):
    run = world.root / "plain"
    done = world.goldseam(
        "evaluate", world.dataset, "--null", "-o", run, "--no-signals", "--keep-evidence", "--identity", world.key
    )

    assert done.returncode == 0, done.error_text
    assert "in the clear" in done.error_text
    assert words_in(run, WORDS)
    assert not list(run.rglob(EVIDENCE_FILE))


def test_the_ledger_tells_of_the_opening_and_of_the_evaluation_once_a_run(world):
    opened = folder.open_dataset(world.dataset)
    of_run = [entry for entry in ledger.read(opened) if entry.facts.get("run") == "run"]

    assert [entry.event for entry in of_run[:2]] == ["opened", "evaluated"]
    assert [entry.event for entry in of_run].count("evaluated") == 1
    assert of_run[1].facts["models"] == sorted([*MODELS, "gold", "null"])
    assert chain.verify(opened).problems == ()


def test_sealed_evidence_of_another_prediction_is_noticed(world, tmp_path):
    run = tmp_path / "run"
    process.run(["cp", "-r", world.root / "run", run])
    wrong, broken = (run / "results" / model / "tiny__calc-1" / "0" / EVIDENCE_FILE for model in ("wrong", "broken"))
    wrong.write_bytes(broken.read_bytes())

    done = world.goldseam("regrade", world.dataset, run, "--identity", world.key, "--json")

    told = {one["model_name_or_path"]: one["why_not"] for one in json.loads(done.stdout)["predictions"]}
    assert done.returncode == 1
    assert "holds another evidence" in told["wrong"]


@pytest.mark.parametrize("words", [(), ("--identity", "/no/such/key")])
def test_without_its_key_a_sealed_dataset_is_not_scored(world, tmp_path, words):
    done = world.goldseam("evaluate", world.dataset, "--null", "-o", tmp_path / "run", *words)

    assert done.returncode == 2
    assert not list((tmp_path / "run").rglob("report.json"))


def test_a_dataset_whose_ledger_cannot_be_written_is_not_opened(world, tmp_path):
    copy = tmp_path / "dataset"
    process.run(["cp", "-r", world.dataset, copy])
    (copy / ledger.LEDGER_FILE).unlink()
    (copy / ledger.LEDGER_FILE).mkdir()

    done = world.goldseam("evaluate", copy, "--null", "-o", tmp_path / "run", "--identity", world.key)

    assert (done.returncode, "ledger" in done.error_text) == (2, True)
    assert not (tmp_path / "run").exists()


def test_a_readable_copy_scores_the_same(world, tmp_path):
    keys = load_keys(world.key, world.dataset)
    sealing.open_into(folder.open_dataset(world.dataset, keys=keys), tmp_path / "copy")

    done = world.goldseam("evaluate", tmp_path / "copy", "--gold", "-o", tmp_path / "run", "--no-signals")

    assert done.returncode == 0, done.error_text
    assert outcomes(tmp_path / "run") == {"gold": "resolved"}


def test_an_added_recipient_is_refused_before_anything_is_sealed_to_them(world, tmp_path):
    copy = tmp_path / "dataset"
    process.run(["cp", "-r", world.dataset, copy])
    mine, theirs = folder.open_dataset(copy).recipients[0], str(pyrage.x25519.Identity.generate().to_public())
    path = copy / "dataset.yaml"
    path.write_text(path.read_text().replace(f"- {mine}\n", f"- {mine}\n- {theirs}\n"))

    done = world.goldseam("evaluate", copy, "--null", "-o", tmp_path / "run", "--identity", world.key)

    assert (done.returncode, "recipients of dataset.yaml" in done.error_text) == (1, True), done.error_text
    assert not (tmp_path / "run").exists()
    assert world.goldseam("holdout", "check", copy).returncode == 1
    assert world.goldseam("holdout", "log", copy, "--verify").returncode == 1


def test_figures_of_a_sealed_run_are_coarse(world):
    for report in RunFolder(path=world.root / "run").reports():
        assert set(report.timings) <= {"tests"}
        assert set(report.timings.values()) <= {1.0, 10.0, 100.0}
        assert report.max_rss_kb in {0, 1024 * 1024, 4 * 1024 * 1024}
        assert report.cpu_seconds == 0


def test_a_forged_report_is_no_green_answer_and_is_scored_again(world, tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", world.env()["GOLDSEAM_CACHE_DIR"])
    run = tmp_path / "run"
    process.run(["cp", "-r", world.root / "run", run])
    assert RunFolder(path=run).unauthenticated("wrong") == ()
    path = run / "results" / "wrong" / "tiny__calc-1" / "0" / "report.json"
    report = json.loads(path.read_bytes())
    path.write_text(json.dumps({**report, "outcome": "resolved", "resolved": True}))
    assert outcomes(run)["wrong"] == "resolved"

    gate = world.goldseam("gate", run, "--allow-missing-baseline", "--model", "wrong")
    again = world.goldseam(
        "evaluate", world.dataset, "-p", world.root / "p.jsonl", "-o", run, "--no-signals", "--identity", world.key
    )

    assert (gate.returncode, "authenticated" in gate.stdout) == (3, True), gate.error_text
    assert again.returncode == 0, again.error_text
    assert outcomes(run)["wrong"] == "unresolved"
    assert RunFolder(path=run).unauthenticated("wrong") == ()


def test_a_prediction_that_calls_itself_gold_is_refused(world, tmp_path):
    path = tmp_path / "p.jsonl"
    row = {"instance_id": "tiny__calc-1", "model_name_or_path": "gold", "model_patch": None, "withheld": True}
    path.write_text(json.dumps(row) + "\n")

    done = world.goldseam("evaluate", world.dataset, "-p", path, "-o", tmp_path / "run", "--identity", world.key)

    assert (done.returncode, "keeps for its own controls" in done.error_text) == (2, True)
