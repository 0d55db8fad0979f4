"""Exposure and rotation: what the ledger says of a task, and when it leaves the holdout."""

from __future__ import annotations

import signal
import sys
from datetime import date

import pytest

from harness.config.settings import load_policy
from harness.core import process
from harness.core.errors import InputError
from harness.dataset import policy, rotation
from harness.dataset.folder import open_dataset, write_task
from harness.dataset.ledger import ledger
from harness.dataset.ledger.entry import GENESIS, Entry, Event
from harness.dataset.policy import Policy, parse_policy, reasons
from tests import report_runs

TODAY = date(2026, 11, 22)
ONE, TWO = "acme__widgets-100", "acme__widgets-101"


def shown(*tasks: str, at: str = "2026-05-01T00:00:00Z", model: str = "m", endpoint: str = "https://api.a.example/v1"):
    return Entry(
        schema_version=1, seq=1, at=at, who="x", event=Event.EXPOSED, tasks=tasks, prev=GENESIS, hash=GENESIS,
        model=model, endpoint=endpoint, shown=["statement"],
    )  # fmt: skip


def test_a_day_and_model_counts_once():
    found = policy.exposures(
        [
            shown(ONE),
            shown(ONE, at="2026-05-01T23:00:00Z"),
            shown(ONE, at="2026-05-02T00:00:00Z"),
            shown(ONE, model="n"),
        ]
    )

    assert found[ONE] == {"api.a.example": 3}


def test_providers_are_counted_for_themselves():
    found = policy.exposures([shown(ONE, TWO), shown(ONE, endpoint="https://b.example")])

    assert found[ONE] == {"api.a.example": 1, "b.example": 1}
    assert found[TWO] == {"api.a.example": 1}


@pytest.mark.parametrize(
    "endpoint",
    ["http://localhost:8000/v1", "http://127.0.0.1:1", "http://[::1]:8000", "https://llm.corp.example/v1"],
)
def test_an_own_endpoint_is_no_outside_provider(endpoint):
    assert policy.exposures([shown(ONE, endpoint=endpoint)], own=["*.corp.example"]) == {}


def test_an_endpoint_that_is_not_known_counts():
    assert policy.exposures([shown(ONE, endpoint="")])[ONE] == {"unknown": 1}


INSTANCE = report_runs.make_task(1).instance  # merged on 2024-03-02


@pytest.mark.parametrize(
    ("rules", "by_endpoint", "why"),
    [
        ({"max_exposures": 3}, {"a": 2, "b": 2}, None),
        ({"max_exposures": 3}, {"a": 3}, "shown 3 times to a"),
        ({"max_endpoints": 1}, {"a": 9}, None),
        ({"max_endpoints": 1}, {"a": 1, "b": 1}, "shown to 2 providers"),
        ({"max_age": 995}, {}, None),
        ({"max_age": 994}, {}, "merged 995 days ago"),
        ({"after_cutoffs": True, "cutoffs": {"m": "2024-03-02"}}, {}, None),
        ({"after_cutoffs": True, "cutoffs": {"m": "2024-03-03"}}, {}, "before 2024-03-03, the training cut-off of m"),
        ({"after_cutoffs": True}, {}, None),
        ({"cutoffs": {"m": "2026-01-01"}}, {}, None),
    ],
)
def test_when_a_task_has_to_leave(rules, by_endpoint, why):
    found = reasons(INSTANCE, by_endpoint, Policy.model_validate(rules), today=TODAY)

    assert [why in one for one in found] == ([True] if why else [])


@pytest.mark.parametrize(
    ("model", "day"),
    [("gpt-5", "2025-01-01"), ("GPT-5-mini", "2024-06-01"), ("gpt-5-pro", "2024-01-01"), ("other", None)],
)
def test_a_model_has_the_cut_off_of_its_closest_name(model, day):
    cutoffs = {
        "gpt-5": date(2025, 1, 1), "gpt-*": date(2024, 1, 1), "gpt-5-m*": date(2024, 6, 1)
    }  # fmt: skip

    assert policy.cutoff_of(model, cutoffs) == (date.fromisoformat(day) if day else None)


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        ({"max_exposure": 1}, "unknown rule"),
        ({"max_age": 0}, "max_age"),
        ({"cutoffs": {"m": "soon"}}, "cutoffs.m"),
        ({"max_exposures": "many"}, "max_exposures"),
    ],
)
def test_a_policy_that_is_none_is_refused(raw, what):
    with pytest.raises(InputError, match=what):
        parse_policy(raw, where="dataset.yaml: policy")


def test_the_policy_of_the_settings_is_read(tmp_path):
    (tmp_path / "s.toml").write_text('[holdout]\nmax_age = 400\n[holdout.cutoffs]\n"gpt-5*" = 2024-10-01\n')

    assert load_policy(tmp_path / "s.toml") == Policy(max_age=400, cutoffs={"gpt-5*": date(2024, 10, 1)})


@pytest.fixture
def dataset(tmp_path):
    made = report_runs.make_dataset(tmp_path / "ds", 4)
    ledger.record_exposure(made, [ONE, TWO], model="m", endpoint="https://a.example/v1", parts=["statement"])
    return made


RULES = Policy(max_exposures=1)


def states(dataset):
    return {one.instance_id: one.state.value for one in dataset.instances()}


def test_what_is_due_is_retired_and_logged(dataset):
    found = rotation.rotate(dataset, RULES, today=TODAY)

    assert [due.instance_id for due in found.due] == [ONE, TWO]
    assert [task for task, state in states(dataset).items() if state == "retired"] == [ONE, TWO]
    assert dataset.instance(ONE).split == "retired"
    entry = ledger.read(dataset)[-1]
    assert (entry.event, entry.tasks, entry.facts["wanted"]) == ("rotated", (ONE, TWO), 2)
    assert "shown 1 time to a.example" in entry.facts["why"][ONE]
    assert open_dataset(dataset.path).version == 2


def test_a_second_rotation_finds_nothing(dataset):
    rotation.rotate(dataset, RULES, today=TODAY)
    lines = len(ledger.read(dataset))
    again = rotation.rotate(dataset, RULES, today=TODAY)

    assert (again.due, again.left, again.version.changed) == ((), 2, False)
    assert len(ledger.read(dataset)) == lines


def test_a_dry_run_writes_nothing(dataset):
    before = {path: path.read_bytes() for path in dataset.path.rglob("*") if path.is_file()}
    found = rotation.rotate(dataset, RULES, dry_run=True, today=TODAY)

    assert len(found.due) == 2
    assert {path: path.read_bytes() for path in dataset.path.rglob("*") if path.is_file()} == before


def test_the_wish_names_how_much_to_mine_and_how(dataset):
    lines = [
        f'{{"repo":"acme/widgets","change":"{n}","reason":"{"accepted" if n < 2 else "no_tests"}"}}' for n in range(50)
    ]
    (dataset.path / "funnel.jsonl").write_text("\n".join(lines) + "\n")
    wish = rotation.rotate(dataset, RULES, dry_run=True, today=TODAY).wish

    assert (wish.tasks, wish.changes) == (2, 50)
    assert wish.command == f"goldseam mine acme/widgets --since 2024-03-04 -o {dataset.path}"


def test_sources_are_those_that_were_mined(dataset):
    (dataset.path / "cursors.json").write_text('{"schema_version": 1, "origins": {"/srv/git/widgets.git": {}}}')

    assert (
        "mine /srv/git/widgets.git --since" in rotation.rotate(dataset, RULES, dry_run=True, today=TODAY).wish.command
    )


def test_a_holdout_that_is_too_small_wants_more(dataset):
    found = rotation.rotate(dataset, Policy(max_exposures=1, min_tasks=10), dry_run=True, today=TODAY)

    assert found.wish.tasks == 8


def test_a_policy_without_a_rule_is_refused(dataset):
    with pytest.raises(InputError, match="no policy"):
        rotation.rotate(dataset, Policy(cutoffs={"m": TODAY}), today=TODAY)


def test_the_policy_of_the_dataset_goes_before_that_of_the_settings(dataset):
    file = dataset.path / "dataset.yaml"
    file.write_text(file.read_text().replace("policy: {}", "policy: {max_age: 10, cutoffs: {m: 2025-01-01}}"))
    settings = Policy(max_age=99, max_exposures=5, cutoffs={"n": date(2024, 1, 1)})
    found = rotation.policy_of(dataset, settings)

    assert (found.max_age, found.max_exposures, set(found.cutoffs)) == (10, 5, {"m", "n"})


KILLED = """
import os, signal, sys
from datetime import date
from pathlib import Path
from harness.dataset import folder, rotation
from harness.dataset.folder import open_dataset
from harness.dataset.policy import Policy

written = folder.write_model

def then_die(path, model):
    written(path, model)
    if getattr(model, "state", "") == "retired":
        os.kill(os.getpid(), signal.SIGKILL)

folder.write_model = then_die
rotation.rotate(open_dataset(Path(sys.argv[1])), Policy(max_exposures=1), today=date(2026, 11, 22))
"""


def test_a_rotation_killed_half_way_is_finished_by_the_next(dataset):
    done = process.run([sys.executable, "-c", KILLED, dataset.path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert sorted(states(dataset).values()) == ["proved", "proved", "proved", "retired"]
    assert ledger.read(dataset)[-1].tasks == (ONE, TWO)

    rotation.rotate(dataset, RULES, today=TODAY)

    assert sorted(states(dataset).values()) == ["proved", "proved", "retired", "retired"]
    assert open_dataset(dataset.path).version == 3  # the killed one's change was found first


def test_a_task_without_a_date_is_told(dataset):
    broken = report_runs.make_task(1)
    write_task(dataset, broken)
    file = dataset.task_folder(TWO) / "task.yaml"
    file.write_text(file.read_text().replace("created_at: '2024-03-02T12:00:00Z'", "created_at: once"))

    with pytest.raises(InputError, match="not a date"):
        rotation.rotate(dataset, Policy(max_age=5), today=TODAY)
