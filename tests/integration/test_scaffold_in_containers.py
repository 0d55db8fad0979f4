"""Hidden tests that a task shows: cut out, proved, shown to solvers and scored apart, in real containers."""

from __future__ import annotations

import json
import shutil

import pytest
from pyrage import x25519

from harness.dataset.folder import open_dataset
from harness.dataset.ledger import ledger
from harness.dataset.revealed import candidates, revealed_ids, statement_with
from tests import tiny

pytestmark = pytest.mark.engine

TESTS = (
    tiny.BASE_TESTS.replace("import calc\n", "import calc\nimport pytest\n")
    + '\n\n@pytest.mark.parametrize("n", [11, 12])\ndef test_shown_or_not(n):\n    assert calc.add(n, n) == n * 2\n'
    + "\n\ndef test_the_other_one():\n    assert calc.add(5, 6) == 11\n"
)
IDS = (
    "tests/test_calc.py::test_shown_or_not[11]",
    "tests/test_calc.py::test_shown_or_not[12]",
    "tests/test_calc.py::test_the_other_one",
)
LONELY = "tiny__calc-2"


@pytest.fixture(scope="module")
def dataset(tiny_image, tmp_path_factory):
    """Two tasks, of which one has a single function in FAIL_TO_PASS; and what `reveal` said of them."""
    two = tiny.task(tiny_image, tests={tiny.TESTS: (tiny.BASE_TESTS, TESTS)}, fail_to_pass=IDS)
    one = tiny.task(tiny_image, instance_id=LONELY)
    made = tiny.dataset(tmp_path_factory.mktemp("scaffold") / "ds", two, one)
    done = tiny.goldseam("holdout", "reveal", made.path, "--tests", "5", "--json")
    assert done.returncode == 0, done.error_text
    return made, json.loads(done.stdout)


def shown_and_hidden(dataset):
    task = dataset.task("tiny__calc-1")
    shown = set(revealed_ids(task.instance))
    return task, shown, set(IDS) - shown


def test_one_function_at_least_stays_hidden_and_all_rows_of_one_belong_together(dataset):
    made, told = dataset
    _, shown, hidden = shown_and_hidden(made)
    assert [one["functions"] for one in told["tasks"]] == [1, 0]
    assert shown in ({IDS[2]}, {*IDS[:2]})
    assert hidden


def test_a_task_with_one_function_shows_none_and_says_so(dataset):
    made, told = dataset
    assert "one at least stays hidden" in told["tasks"][1]["why_not"][0]
    assert made.instance(LONELY).scaffold == b""


def test_a_task_whose_image_is_gone_says_so_and_the_others_are_shown(tiny_image, tmp_path):
    gone = tiny.task("sha256:" + "0" * 64, instance_id=LONELY)
    there = tiny.task(
        tiny_image, instance_id="tiny__calc-3", tests={tiny.TESTS: (tiny.BASE_TESTS, TESTS)}, fail_to_pass=IDS
    )
    made = tiny.dataset(tmp_path / "ds", gone, there)
    done = tiny.goldseam("holdout", "reveal", made.path, "--tests", "1", "--json")
    told = json.loads(done.stdout)["tasks"]
    assert (done.returncode, [one["functions"] for one in told]) == (0, [0, 1])
    assert "image" in told[0]["why_not"][0]


def test_the_scaffold_holds_the_shown_test_and_nothing_of_the_hidden_one(dataset):
    made, _ = dataset
    task, shown, hidden = shown_and_hidden(made)
    text = task.instance.scaffold.decode()
    assert all(one.partition("::")[2].partition("[")[0] in text for one in shown)
    assert not any(one.partition("::")[2].partition("[")[0] in text for one in hidden)


def test_the_choice_is_the_first_by_the_documented_order(dataset):
    made, _ = dataset
    task, shown, _ = shown_and_hidden(made)
    assert str(candidates(task.instance_id, task.hidden)[0]) in {one.partition("[")[0] for one in shown}


def test_the_ledger_tells_and_the_version_goes_up_and_the_check_is_content(dataset):
    made, told = dataset
    assert [entry.event for entry in ledger.read(made)][-2:] == ["revealed", "bound"]
    assert told["version"] == open_dataset(made.path).version
    checked = tiny.goldseam("holdout", "check", made.path)
    assert checked.returncode == 0, checked.stdout.decode()


def test_a_solver_is_given_the_ids_and_the_code(dataset):
    made, _ = dataset
    task, shown, hidden = shown_and_hidden(made)
    told = statement_with(task.instance)
    assert all(one in told for one in shown)
    assert not any(one in told for one in hidden)
    assert "diff --git" in told


def test_a_patch_made_for_the_shown_tests_alone_is_visible(dataset, tmp_path):
    made, _ = dataset
    _, shown, _ = shown_and_hidden(made)
    numbers = {11: 22, 12: 24} if IDS[0] in shown else {5: 11}
    cheat = tiny.fix(f"return {{**{numbers}}}.get(a, a - b)")
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", {"cheat": cheat, "honest": tiny.GOLD})
    options = ("-p", predictions, "-o", tmp_path / "run", "--no-signals", "--control", "0", "--force")
    done = tiny.goldseam("evaluate", made.path, *options)
    assert done.returncode == 0, done.error_text
    report = json.loads((tmp_path / "run/report.json").read_bytes())["goldseam"]
    found = {
        path.parts[-4]: json.loads(path.read_bytes()) for path in (tmp_path / "run").glob("results/*/*/*/report.json")
    }
    assert (report["kind"], report["revealed"]) == ("scaffolded", 1)
    assert found["cheat"]["scaffold"]["passes_revealed_only"]
    assert "passes revealed tests only" in found["cheat"]["reason"]
    assert found["honest"]["scaffold"]["resolved_hidden"]
    assert [one["resolved_hidden"] for one in report["models"]] == [0, 1]
    assert "over hidden tests only: 1/1" in done.stdout.decode()


def test_a_sealed_dataset_has_no_hidden_byte_but_what_was_revealed(dataset, tmp_path):
    made, _ = dataset
    _, shown, hidden = shown_and_hidden(made)
    copy = tmp_path / "sealed"
    shutil.copytree(made.path, copy, ignore=shutil.ignore_patterns(".goldseam"))
    identity = x25519.Identity.generate()
    sealed = tiny.goldseam("holdout", "seal", copy, "--to", str(identity.to_public()))
    assert sealed.returncode == 0, sealed.error_text
    written = b"".join(path.read_bytes() for path in copy.rglob("*") if path.is_file())
    names = {one.partition("::")[2].partition("[")[0].encode() for one in shown}
    assert all(name in written for name in names)
    assert not any(one.partition("::")[2].partition("[")[0].encode() in written for one in hidden)
    assert b"return a + b" not in written
