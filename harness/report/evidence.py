"""What one prediction left in its run folder, as the page may show it. Hidden files are opened only with leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.analysis.usage import usage_of
from harness.core import json_text
from harness.core.instance import Prediction
from harness.core.json_text import mapping
from harness.core.wording import words
from harness.report import data
from harness.report.text import CutText, clean, ends, head, head_of_file
from harness.runs import public_reason
from harness.runs.run_folder import InstanceReport, RunFolder

_RESULTS_BYTES = 64 * 1024 * 1024
_TESTS_SHOWN = 200
_TEXTS_SHOWN = 20
_TEXT_BYTES = 3 * 1024
_REASON_CHARACTERS = 2000
_TELLING = frozenset({"error", "paths"})
"""Fields of signals that may quote a hidden test: what a failed import said, files that the tests wrote."""
_SECTIONS = words("compiles complexity eslint imports lint network patch runtime security semgrep skipped tools writes")
"""Signals whose words are those of tools about the model's own patch; of others only numbers are shown."""


@dataclass(frozen=True, kw_only=True)
class Leave:
    """What may be shown, and how much of it."""

    hidden: bool
    bytes_each: int
    transcript_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Item:
    """One prediction of one run."""

    folder: RunFolder
    column: int
    prediction: Prediction
    report: InstanceReport | None


def view(item: Item, gold: bytes | None, leave: Leave) -> data.PredictionView:
    """One prediction as the page shows it; `gold` is the task's gold patch, to see whether this is the same."""
    prediction, report = item.prediction, item.report
    raw_patch = prediction.patch_bytes()
    is_gold = prediction.model_name_or_path == "gold" or (bool(raw_patch.strip()) and raw_patch == gold)
    sheltered = is_gold and not leave.hidden
    patch, note = _patch(item, leave, sheltered=sheltered)
    transcript = None if sheltered else data.transcript_of(item.folder.path, prediction, leave.transcript_bytes)
    shown = data.PredictionView(
        column=item.column,
        instance_id=prediction.instance_id,
        sample=prediction.sample,
        patch=patch,
        patch_note=note,
        transcript=transcript,
        usage=usage_of(prediction.extra),
    )
    if report is None:
        return shown
    return replace(
        shown,
        outcome=report.outcome,
        failure_class="" if report.resolved else clean(report.failure_class or report.outcome.value),
        reason=clean(report.reason if leave.hidden else public_reason.words(report, is_gold=is_gold))[
            :_REASON_CHARACTERS
        ],
        fail_to_pass=public_reason.counts(report, "FAIL_TO_PASS"),
        pass_to_pass=public_reason.counts(report, "PASS_TO_PASS"),
        dropped=(
            tuple(public_reason.dropped_part(part) for part in report.dropped)
            if leave.hidden
            else public_reason.dropped(report, is_gold=is_gold)
        ),
        repairs=tuple(report.repairs),
        timings=report.timings,
        max_rss_kb=report.max_rss_kb,
        cpu_seconds=report.cpu_seconds,
        attempts=report.attempts,
        place=report.place.value,
        flags=() if sheltered else tuple((flag.get("path", "?"), flag.get("sign", "?")) for flag in report.flags),
        tripwires=() if sheltered else tuple((hit.get("path", "?"), hit.get("kind", "?")) for hit in report.tripwires),
        replay=report.replay.words() if report.replay else "",
        signals={} if sheltered else _signals(report, leave),
        hidden=_hidden(item, report, leave) if leave.hidden else None,
    )


def _patch(item: Item, leave: Leave, *, sheltered: bool) -> tuple[CutText | None, str]:
    if sheltered:
        return None, "this is the gold patch, which is hidden"
    text = head_of_file(item.folder.sample_folder(item.prediction) / "patch.diff", leave.bytes_each)
    patch = text if text is not None else head(item.prediction.patch_bytes(), leave.bytes_each)
    return (patch, "") if patch.size else (None, "no patch")


def _signals(report: InstanceReport, leave: Leave) -> Mapping[str, Any]:
    """What was measured beside the verdict, as JSON values, whatever version wrote it."""
    signals = report.model_dump(mode="json").get("signals")
    if not isinstance(signals, dict):
        return {}
    if leave.hidden:
        return signals
    return {name: _public_signal(value, words=name in _SECTIONS) for name, value in signals.items()}


def _public_signal(value: Any, *, words: bool) -> Any:
    """A signal without what may quote a hidden test."""
    if isinstance(value, dict):
        return {name: _public_signal(part, words=words) for name, part in value.items() if name not in _TELLING}
    if isinstance(value, list):
        return [_public_signal(part, words=words) for part in value]
    return value if words or isinstance(value, int | float | None) else "not shown"


def _hidden(item: Item, report: InstanceReport, leave: Leave) -> data.HiddenDetails:
    folder = item.folder.sample_folder(item.prediction)
    results, notes = _results(folder / "results.json")
    rows, left_out = _test_rows(report, results)
    for name, text in list(mapping(results.get("collect_errors")).items())[:_TEXTS_SHOWN]:
        notes.append(f"{name} could not be collected: {clean(str(text))[:_TEXT_BYTES]}")
    violations = results.get("violations")
    notes += [clean(str(text))[:500] for text in violations[:_TEXTS_SHOWN]] if isinstance(violations, list) else []
    return data.HiddenDetails(
        tests=rows, left_out=left_out, output=ends(folder / "test_output.txt", leave.bytes_each), notes=tuple(notes)
    )


def _results(path: Path) -> tuple[Mapping[str, Any], list[str]]:
    """results.json, read leniently: it is evidence, and a broken one must not hide the verdict."""
    try:
        size = path.stat().st_size
        if size > _RESULTS_BYTES:
            return {}, [f"results.json is not shown: it has {size // 1024 // 1024} MB"]
        return mapping(json_text.loads(path.read_bytes())), []
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError) as error:
        return {}, [f"results.json cannot be read: {error}"]


def _test_rows(report: InstanceReport, results: Mapping[str, Any]) -> tuple[tuple[data.TestRow, ...], int]:
    """Per-test results: what did not pass first, FAIL_TO_PASS before the rest; and how many more there are."""
    fields = mapping(results.get("tests"))
    groups = {
        test_id: group
        for name, group in (("FAIL_TO_PASS", "F2P"), ("PASS_TO_PASS", "P2P"))
        for ids in report.tests_status.get(name, {}).values()
        for test_id in ids
    }
    ids = sorted(
        groups.keys() | fields.keys(),
        key=lambda name: (_status(fields, name) == "PASSED", groups.get(name, "~"), name),
    )
    texts = 0
    rows: list[data.TestRow] = []
    for test_id in ids[:_TESTS_SHOWN]:
        result = mapping(fields.get(test_id))
        text = result.get("text")
        texts += bool(text)
        seconds = result.get("seconds")
        rows.append(
            data.TestRow(
                test_id=clean(test_id)[:500],
                group=groups.get(test_id, ""),
                status=_status(fields, test_id),
                seconds=float(seconds) if isinstance(seconds, int | float) else None,
                text=head(str(text).encode("utf-8", "surrogatepass"), _TEXT_BYTES)
                if text and texts <= _TEXTS_SHOWN
                else None,
            )
        )
    return tuple(rows), max(0, len(ids) - _TESTS_SHOWN)


def _status(fields: Mapping[str, Any], test_id: str) -> str:
    return str(mapping(fields.get(test_id)).get("status") or "no result")
