"""A verdict kept from another run has the failure class of today's table."""

from __future__ import annotations

from harness.runs import evaluate
from harness.runs.verdict_cache import VerdictCache
from tests import tiny
from tests.unit.test_regrade_replay import FAILED, judged, trial

SETTINGS = evaluate.Settings()


def kept(tmp_path, *, results=None, **changes) -> VerdictCache:
    """A cache with the verdict on a regression, as some earlier version wrote it."""
    cache = VerdictCache(path=tmp_path / "verdicts")
    found = judged(tiny.task(), trial(p2p=FAILED))
    evidence = found.evidence if results is None else evaluate.run_folder.Evidence(patch=b"", results=results)
    cache.store(found.report.model_copy(update=changes), evidence)
    return cache


def taken(cache):
    found = evaluate._cached(cache, tiny.task(), tiny.prediction(model="another"), SETTINGS)
    return None if found is None else found.report


def test_a_label_of_todays_table_is_taken_over(tmp_path):
    found = taken(kept(tmp_path))
    assert (found.failure_class, found.model_name_or_path, found.reused) == ("regression", "another", True)


def test_a_label_of_another_table_is_found_again_from_the_evidence(tmp_path):
    found = taken(kept(tmp_path, failure_class="tests_failed", classes_version=0))
    assert (found.failure_class, found.model_name_or_path, found.reused) == ("regression", "another", True)


def test_a_verdict_whose_evidence_is_too_old_for_a_label_is_not_taken_over(tmp_path):
    assert taken(kept(tmp_path, results={"schema_version": 1}, failure_class="tests_failed", classes_version=0)) is None
