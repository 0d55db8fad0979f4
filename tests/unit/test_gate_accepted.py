"""The accepted run as a file: it says what the run said, and is refused where it is something else."""

from __future__ import annotations

import json

import pytest

from harness.analysis.gate import baseline
from harness.core.errors import InputError
from harness.core.instance import TaskState
from tests.sheets import GAP, LOST, WON, sheet, task

HEAD = {"accepted_at": "2026-06-01T00:00:00Z", "model": "m", "run": "r"}
SAMPLE = {"outcome": "resolved"}


def written(path, run):
    baseline.write(
        path, run, run="run-1", started_at="2026-06-01T00:00:00Z", accepted_at="2026-06-02T00:00:00Z", version="1"
    )
    return path


def test_what_was_written_reads_as_the_same_results(tmp_path):
    run = sheet(
        task(1, [WON, LOST], cost=0.5, difficulty="easy"), task(2, [GAP]), task(3, [None]), demands={"pairs": 2}
    )

    back, file = baseline.read(written(tmp_path / "accepted.json", run))

    def figures(tasks):
        return {
            one: (t.resolved, t.scored, t.asked, t.facts, t.digest, [sample.usage.cost_usd for sample in t.samples])
            for one, t in tasks.items()
        }

    assert figures(back.tasks) == figures(run.tasks)
    assert (back.model, back.dataset, back.grading_version, back.demands) == ("model", "widgets", 2, {"pairs": 2})
    assert (file.run, file.accepted_at) == ("run-1", "2026-06-02T00:00:00Z")


def test_tasks_that_do_not_count_are_not_kept(tmp_path):
    run = sheet(task(1), task(2, state=TaskState.QUARANTINED))

    assert list(baseline.read(written(tmp_path / "accepted.json", run))[0].tasks) == ["acme__widgets-1"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not an accepted run"),
        (b"{", "is not an accepted run"),
        (b"[]", "is not an accepted run"),
        (b"\xff\xfe", "is not UTF-8"),
        (json.dumps({**HEAD}).encode(), "tasks: is missing"),
        (json.dumps({**HEAD, "tasks": {}, "schema_version": 99}).encode(), "reads up to 1"),
        (json.dumps({**HEAD, "tasks": {}, "kind": "report"}).encode(), "expected kind"),
        (json.dumps({**HEAD, "tasks": {"a": {"samples": [{"outcome": "won"}]}}}).encode(), "tasks.a.samples.0.outcome"),
        (json.dumps({**HEAD, "tasks": {"a": {"samples": []}}}).encode(), "tasks.a.samples"),
        (json.dumps({**HEAD, "tasks": {"../x": {"samples": [SAMPLE]}}}).encode(), "is not an instance id"),
    ],
)
def test_a_file_that_is_no_accepted_run_is_refused(tmp_path, data, said):
    path = tmp_path / "accepted.json"
    path.write_bytes(data)

    with pytest.raises(InputError) as error:
        baseline.read(path)

    assert str(path) in error.value.message
    assert said in error.value.message
