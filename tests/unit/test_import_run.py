"""What of a file of rows is decided without building anything, and said once."""

from __future__ import annotations

import json

import pytest

from harness.config.settings import Settings
from harness.core.errors import InputError
from harness.core.instance import Hidden, Instance, Task
from harness.dataset.folder import create_dataset, write_task
from harness.dataset.ledger import ledger
from harness.sandbox.executors.local import LocalExecutor
from miner.importing.run import Options, import_rows
from tests.silent import NoSandbox

PATCH = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"


class Silent:
    def __init__(self) -> None:
        self.lines = []

    def note(self, text: str) -> None:
        pass

    def decided(self, line) -> None:
        self.lines.append(line.reason)


def row(instance_id="acme__app-1", **changes) -> str:
    return json.dumps(
        {
            "instance_id": instance_id,
            "repo": "acme/app",
            "base_commit": "a" * 40,
            "patch": PATCH.format("app.py"),
            "test_patch": PATCH.format("tests/test_app.py"),
            "problem_statement": "It is broken.",
            "FAIL_TO_PASS": ["tests/test_app.py::test_a"],
            "PASS_TO_PASS": ["[100%]"],
            **changes,
        }
    )


@pytest.fixture
def dataset(tmp_path):
    return create_dataset(tmp_path / "dataset")


@pytest.fixture
def run(tmp_path, dataset):
    def run(*lines: str, sources=None, **options):
        path = tmp_path / "rows.jsonl"
        path.write_text("\n".join(lines))
        told = Silent()
        imported = import_rows(
            path,
            sources or {},
            dataset,
            Options(**options),
            settings=Settings(),
            sandbox=NoSandbox(),
            executor=LocalExecutor(jobs=1),
            observer=told,
        )
        return imported, told.lines

    return run


def reasons(imported) -> list[str]:
    return [line.reason for line in imported.lines]


def test_each_row_has_a_line_and_what_cannot_be_judged_is_counted_so(run):
    imported, _ = run(row(PASS_TO_PASS=[]), "{", row())
    assert reasons(imported) == ["no_source", "row_unreadable", "duplicate"]
    assert dict(imported.tallies[0].fail_to_pass) == {"unjudged": 1}
    assert dict(imported.tallies[0].pass_to_pass) == {}
    assert imported.tallies[0].rows == 2


def test_what_the_funnel_has_said_is_not_said_again(run, dataset):
    run(row())
    before = (dataset.path / "funnel.jsonl").read_bytes()
    _, said = run(row())
    assert said == []
    assert (dataset.path / "funnel.jsonl").read_bytes() == before


def test_a_task_that_was_mined_keeps_its_id(run, dataset):
    instance = Instance(
        instance_id="acme__app-1",
        repo="acme/app",
        base_commit="b" * 40,
        created_at="2024-01-01T00:00:00Z",
        language="python",
        version="",
        image=None,
        problem_statement="Mined.",
    )
    write_task(dataset, Task(instance=instance, hidden=Hidden(gold_patch=b"", test_patch=b"")))

    imported, _ = run(row(), sources={"acme/app": "/nowhere"}, fresh=True)

    assert reasons(imported) == ["id_taken"]
    assert dataset.instance("acme__app-1").problem_statement == "Mined."


def test_an_import_that_makes_no_task_is_no_event_for_the_ledger(run, dataset):
    run(row())
    assert [entry for entry in ledger.read(dataset) if entry.event == "imported"] == []


def test_a_file_of_which_nothing_can_be_read_is_refused(run):
    with pytest.raises(InputError, match="no row that can be read; line 1: not JSON"):
        run("{", "[1")


def test_a_row_that_is_not_there_cannot_be_chosen(run):
    with pytest.raises(InputError, match="has no row acme__app-2"):
        run(row(), chosen=frozenset({"acme__app-2"}))
