"""From what a supervisor tells to signals, and what they say where it tells nothing."""

from __future__ import annotations

import json

import pytest

from harness.patches import patch
from harness.signals import assemble, static
from harness.signals.assemble import SignalInputs
from harness.signals.observed import AfterFrame, CompiledFrame, Observations, Source, request
from harness.signals.sources import Sources, to_read
from tests import tiny

PATCH = patch.parse(tiny.GOLD.encode())
AFTER = {
    "network": {"IpOutNoRoutes": 2, "Ip6OutNoRoutes": 1, "UdpNoPorts": 4, "sent_lo": 6},
    "files": 1,
    "bytes": 10,
    "paths": ["/tmp/x"],
    "own_files": 3,
    "more": False,
    "modules": [tiny.CALC],
    "loaded": "1",
    "imports": [],
    "why": "",
}


def after(**fields):
    return AfterFrame.model_validate({**AFTER, **fields})


def compiled(ok, error=""):
    return CompiledFrame(files=((tiny.CALC, ok, error, 1),), why="")


def seen(**fields):
    told = {"exited": True, "seconds": 2.0, "max_rss_kb": 300, "compiled": compiled(ok=True), "after": after()}
    return SignalInputs(**{**told, **fields})


def test_network_counts_both_families_and_tells_loopback_apart():
    found = assemble.first(PATCH, seen()).network
    assert (found.attempts, found.lookups, found.loopback_packets) == (3, 4, 6)


def test_a_kernel_without_the_counters_measures_no_network():
    found = assemble.first(PATCH, seen(after=after(network={"sent_lo": 1}))).network
    assert not found.measured
    assert "kernel" in found.why_not


def test_time_and_memory_are_told_against_gold():
    found = assemble.first(PATCH, seen(gold={"gold_seconds": 0.5, "gold_max_rss_kb": 100})).runtime
    assert (found.seconds_ratio, found.memory_ratio) == (4.0, 3.0)


@pytest.mark.parametrize("gold", [{}, {"gold_seconds": 0, "gold_max_rss_kb": None}, {"gold_seconds": "fast"}])
def test_without_gold_there_is_no_ratio(gold):
    found = assemble.first(PATCH, seen(gold=gold)).runtime
    assert found.measured
    assert (found.seconds_ratio, found.memory_ratio) == (None, None)


def test_one_file_that_does_not_compile_is_enough():
    found = assemble.first(PATCH, seen(compiled=compiled(ok=False, error="invalid syntax"))).compiles
    assert found.ok is False
    assert found.files[0].error == "invalid syntax"


def test_a_compiler_that_could_not_tell_measures_nothing():
    found = assemble.first(PATCH, seen(compiled=compiled(ok=None))).compiles
    assert (found.measured, found.ok) == (False, None)
    assert found.why_not


@pytest.mark.parametrize(
    ("loaded", "imports", "ok"),
    [
        ("1", [], True),
        ("0", [[tiny.CALC, "imports", ""]], True),
        ("0", [[tiny.CALC, "fails", "KeyError"]], False),
        ("0", [[tiny.CALC, "unknown", "on no import path"]], None),
        ("0", [[tiny.CALC, "no such word", ""]], None),
    ],
)
def test_imports_are_what_the_tests_loaded_and_what_was_tried(loaded, imports, ok):
    found = assemble.first(PATCH, seen(after=after(loaded=loaded, imports=imports))).imports
    assert found.measured
    assert found.ok is ok


def test_a_process_that_did_not_say_what_it_loaded_measures_no_imports():
    assert not assemble.first(PATCH, seen(after=after(loaded=None))).imports.measured


def test_a_silent_supervisor_measures_nothing_but_the_patch():
    found = assemble.first(PATCH, SignalInputs(), static="the files are not there")
    parts = found.model_dump(exclude={"patch", "skipped", "tools", "schema_version"})
    assert [name for name, part in parts.items() if part["measured"]] == []
    assert [name for name, part in parts.items() if not part["why_not"]] == []
    assert (found.patch.files, found.patch.added, found.patch.removed) == (1, 1, 1)


def test_a_patch_that_no_tool_reads_has_no_findings():
    words = patch.parse(tiny.diff("README.md", "a\n", "b\n").encode())
    found = assemble.first(words, seen(compiled=None), static="pending")
    assert (found.lint.measured, found.security.measured, found.complexity.measured) == (True, True, True)
    assert (found.compiles.ok, found.imports.ok) == (True, True)


def test_what_is_too_large_is_skipped_and_says_so():
    source = Source(path=tiny.CALC, before=None, after=None, why_not="too large")
    found = assemble.first(PATCH, seen(sources=(source,), compiled=None))
    assert "too large" in found.skipped[0].why
    assert found.compiles.why_not == "too large"


def test_the_same_signals_come_from_kept_evidence():
    source = Source(path="big.py", before=None, after=None, why_not="too large")
    what = seen(sources=(source,), gold={"gold_seconds": 1.0})
    kept = json.loads(json.dumps(assemble.evidence(what)))
    again = assemble.from_evidence(kept, seconds=2.0, max_rss_kb=300, gold={"gold_seconds": 1.0})
    assert assemble.first(PATCH, again) == assemble.first(PATCH, what)


@pytest.mark.parametrize("kept", [{}, {"why_not": "", "exited": True, "compiled": 3, "after": None, "skipped": []}])
def test_broken_evidence_is_refused(kept):
    with pytest.raises(ValueError, match="evidence"):
        assemble.from_evidence(kept, seconds=1, max_rss_kb=1, gold={})


@pytest.mark.parametrize(
    "frame",
    [
        {"t": "source", "old": None, "new": "a.py", "before": None, "after": "no base64!", "why": ""},
        {"t": "compiled", "files": [["a.py", "yes"]], "why": ""},
        {"t": "after", "network": {"x": "y"}},
    ],
)
def test_a_frame_that_does_not_fit_is_left_out(frame):
    assert Observations.read([frame]) == Observations()


def test_names_that_are_no_utf8_can_be_written():
    frame = {"t": "source", "old": None, "new": "a\udc80.py", "before": None, "after": "", "why": ""}
    found = Observations.read([frame])
    assert found.sources[0].path == "a\\udc80.py"


def test_what_is_asked_for_leaves_out_what_no_tool_reads():
    both = patch.parse((tiny.GOLD + tiny.diff("notes.txt", "a\n", "b\n")).encode())
    budgets, spec = tiny.task().instance.budgets, tiny.task().instance.test
    assert request(both, spec, budgets)["files"] == [[tiny.CALC, tiny.CALC]]


def test_sources_come_back_as_they_were_packed():
    files = (Source(path="a.py", before=None, after=b"\x00\xff\n"), Source(path="b.py", before=b"", after=None))
    kept = Sources(python="3.11", files=files)
    assert Sources.unpacked(kept.packed()) == kept


@pytest.mark.parametrize("data", [b"", b"text", b"\x1f\x8b broken"])
def test_what_is_no_packed_file_is_refused(data):
    with pytest.raises(ValueError, match="no kept sources"):
        Sources.unpacked(data)


def test_files_without_content_leave_nothing_to_read():
    assert to_read("3.11", [Source(path="a.py", before=None, after=None, why_not="too large")]) is None


def test_batches_end_where_they_are_full():
    sizes = [("a", static.BATCH_BYTES - 1), ("b", 2), ("c", 1), ("huge", static.BATCH_BYTES * 2)]
    assert list(static.batches(sizes)) == [("a",), ("b", "c"), ("huge",)]
    assert [len(group) for group in static.batches((str(n), 1) for n in range(30))] == [24, 6]
