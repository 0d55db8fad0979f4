"""A bug of ours that one prediction brings up costs that prediction, is logged, and is named at the end."""

from __future__ import annotations

import pytest

from harness.cli.evaluate import _refuse_gaps
from harness.core.errors import BugError
from harness.core.instance import Outcome
from harness.runs import evaluate
from harness.runs.run_folder import RunFolder
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.job import JobResult
from tests import tiny
from tests.silent import Listening


class Engine:
    """An engine whose containers write nothing, and which has a bug that one patch brings up."""

    def run(self, job) -> JobResult:
        if b"the bug" in job.stdin:
            raise ZeroDivisionError
        return JobResult(
            exit_code=0, stdout=b"", stderr=b"", stderr_size=0, oom_killed=False, timed_out=True, stdout_overflow=False
        )

    def expect(self, job) -> None: ...

    def is_healthy(self) -> bool:
        return True

    def cancel(self) -> None: ...


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run over two predictions, the first of which brings the bug up: its folder, and what was told of it."""
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    dataset = tiny.dataset(tmp_path / "dataset", tiny.task())
    asked = [tiny.prediction(tiny.fix("return a + b  # the bug"), model="one"), tiny.prediction(model="two")]
    observer = Listening()
    evaluate.run(
        dataset,
        asked,
        tmp_path / "run",
        sandbox=Engine(),
        executor=LocalExecutor(jobs=1),
        settings=evaluate.Settings(demands=evaluate.Demands(timeout=1.0)),
        observer=observer,
    )
    return RunFolder(path=tmp_path / "run"), {report.model_name_or_path: report for report in observer.reports}


def test_the_others_get_their_verdicts(run):
    _, reports = run
    assert reports["one"].outcome is Outcome.INFRA_ERROR
    assert reports["one"].cause == "bug"
    assert reports["two"].outcome is Outcome.UNRESOLVED


def test_the_log_says_where_it_went_wrong(run, tmp_path):
    (log,) = (tmp_path / "cache" / "logs").iterdir()
    assert "ZeroDivisionError" in log.read_text()
    assert log.name in run[1]["one"].reason


def test_the_command_ends_as_with_any_bug_and_names_the_log(run):
    with pytest.raises(BugError, match=r"bug-.*\.log") as caught:
        _refuse_gaps(tuple(run[0].reports()))
    assert caught.value.exit_code == 70
