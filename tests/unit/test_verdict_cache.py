"""Verdicts kept across run folders."""

from __future__ import annotations

import pytest

from harness.core.instance import Outcome, Prediction
from harness.runs.run_folder import Evidence, InstanceReport
from harness.runs.verdict_cache import VerdictCache

KEY = "ab" + "0" * 62
PREDICTION = Prediction(instance_id="a__b-1", model_name_or_path="second", model_patch="diff", sample=3)


@pytest.fixture(autouse=True)
def _machine(tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "machine"))


@pytest.fixture
def cache(tmp_path) -> VerdictCache:
    return VerdictCache(path=tmp_path / "verdicts")


def report(outcome: Outcome = Outcome.UNRESOLVED) -> InstanceReport:
    return InstanceReport(
        instance_id="a__b-1", model_name_or_path="first", outcome=outcome, resolved=False, reason="why", key=KEY
    )


def test_a_verdict_comes_back_as_the_asking_predictions_own(cache):
    cache.store(report(), Evidence(patch=b"diff", output=b"printed", results={"tests": {}}))

    found, evidence = cache.get(KEY, PREDICTION)

    assert (found.model_name_or_path, found.sample, found.reused) == ("second", 3, True)
    assert (found.outcome, found.reason) == (Outcome.UNRESOLVED, "why")
    assert (evidence.patch, evidence.output, evidence.results) == (b"diff", b"printed", {"tests": {}})


def test_an_infrastructure_error_is_never_kept(cache):
    cache.store(report(Outcome.INFRA_ERROR), Evidence(patch=b""))

    assert cache.get(KEY, PREDICTION) is None


def test_an_unknown_key_has_no_verdict(cache):
    assert cache.get("cd" + "0" * 62, PREDICTION) is None


def test_a_broken_entry_is_no_verdict(cache):
    cache.store(report(), Evidence(patch=b"diff"))
    next(cache.path.rglob("report.json")).write_bytes(b'{"half')

    assert cache.get(KEY, PREDICTION) is None


def test_nobody_else_can_read_the_cache(cache):
    cache.store(report(), Evidence(patch=b"diff"))

    assert cache.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["report.json", "results.json", "test_output.txt", "mac"])
def test_a_verdict_that_somebody_changed_is_none(cache, name):
    cache.store(report(), Evidence(patch=b"diff", output=b"printed", results={"tests": {}}))
    path = next(cache.path.rglob(name))
    path.write_bytes(path.read_bytes().replace(b"unresolved", b"resolved").replace(b"printed", b"said") + b" ")

    assert cache.get(KEY, PREDICTION) is None


def test_a_verdict_that_was_put_there_by_hand_is_none(cache):
    folder = cache.path / KEY[:2] / KEY
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(report().model_dump_json())
    (folder / "results.json").write_text("{}")
    (folder / "test_output.txt").write_text("")

    assert cache.get(KEY, PREDICTION) is None


def test_a_verdict_under_another_key_than_its_own_is_none(cache):
    cache.store(report(), Evidence(patch=b"diff"))
    other = "cd" + "0" * 62
    (cache.path / "cd").mkdir()
    (cache.path / KEY[:2] / KEY).rename(cache.path / "cd" / other)

    assert cache.get(other, PREDICTION) is None


def test_what_the_tools_said_can_be_added_to_a_kept_verdict(cache):
    cache.store(report(), Evidence(patch=b"diff", sources=b"packed"))

    cache.complete(report().model_copy(update={"repairs": ["said"]}))

    found, evidence = cache.get(KEY, PREDICTION)
    assert (found.repairs, evidence.sources) == (["said"], b"")
