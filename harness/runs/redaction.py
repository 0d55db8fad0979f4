"""What a run of a sealed dataset leaves in its folder.

Verdicts and counts stand there in the clear; whatever quotes a hidden test or the fix is in one sealed file.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.core import json_text
from harness.core.errors import InputError
from harness.core.instance import Hidden, Prediction, Task
from harness.dataset.folder import Dataset
from harness.dataset.seal import sealed
from harness.dataset.seal.identity import Keys, encrypt, recipients_digest
from harness.dataset.seal.sealed import Container
from harness.runs import public_reason
from harness.runs.predictions import GOLD
from harness.runs.run_folder import InstanceReport
from harness.runs.verdict import Verdict
from harness.signals.model import Imports, Network, Runtime, Signals, Writes

KIND = "evidence"
_SHORTEST = 12
"""Characters from which on a line is taken for a quotation."""
_PLAIN_CAUSES = frozenset({"engine", "missing_image", "too_slow"})
"""What our own side says where it failed: a text about the engine, not about tests."""


@dataclass(frozen=True, kw_only=True)
class Redaction:
    """Covers what is hidden in the verdicts of one dataset."""

    recipients: tuple[str, ...]
    keys: Keys | None = field(default=None, repr=False)

    @property
    def scope(self) -> str:
        """Whom the sealed evidence is for."""
        return recipients_digest(self.recipients)

    def over(self, verdict: Verdict, task: Task, prediction: Prediction) -> Verdict:
        """A verdict as it may be written: its report covered, its evidence sealed."""
        evidence = verdict.evidence
        files = {
            "report.json": verdict.report.model_dump_json(indent=1).encode() + b"\n",
            "results.json": json.dumps(evidence.results, indent=1).encode() + b"\n",
            "test_output.txt": evidence.output,
        }
        is_gold = prediction.model_name_or_path == GOLD
        if is_gold:
            files["patch.diff"] = evidence.patch or b""
        packed = Container(kind=KIND, name=_name(prediction), files=files).packed()
        sealed = replace(
            evidence,
            patch=None if is_gold else evidence.patch,
            output=b"",
            results={},
            sources=b"" if is_gold else evidence.sources,
            sealed=encrypt(packed, self.recipients),
        )
        return Verdict(report=self.report(verdict.report, task), evidence=sealed)

    def report(self, report: InstanceReport, task: Task) -> InstanceReport:
        """A report that quotes neither a hidden test nor the fix; its counts are as they were."""
        is_gold = report.model_name_or_path == GOLD
        quotes = _Quotes(task.hidden)
        return report.model_copy(
            update={
                "reason": _reason(report, quotes, is_gold=is_gold),
                "tests_status": {
                    name: {
                        word: [pseudonym(task.hidden, test_id) for test_id in ids] for word, ids in by_status.items()
                    }
                    for name, by_status in report.tests_status.items()
                },
                **_coarse_figures(report),
                "dropped": [_dropped(part, is_gold=is_gold) for part in report.dropped],
                "flags": [{**flag, "path": "hidden"} if is_gold else flag for flag in report.flags],
                "tripwires": [{**hit, "path": "hidden"} if is_gold else hit for hit in report.tripwires],
                "repairs": [repair for repair in report.repairs if not quotes.within(repair)],
                "signals": None if is_gold else _signals(report.signals, quotes),
            }
        )

    def results(self, data: bytes, prediction: Prediction, *, where: Path | str) -> Mapping[str, Any]:
        """As `lift`, for results.json alone."""
        return results_of(self.lift(data, prediction, where=where), where=where)

    def lift(self, data: bytes, prediction: Prediction, *, where: Path | str) -> Mapping[str, bytes]:
        """The files of a prediction's sealed evidence, in memory.

        Raises:
            InputError: no key, a wrong one, a damaged file, or the evidence of another prediction.

        """
        if self.keys is None:
            raise InputError(f"{where} is sealed", hint="give a key with --identity")
        plain = self.keys.open(data, where=str(where))
        return sealed.unpack(plain, kind=KIND, name=_name(prediction), where=str(where)).files


def results_of(files: Mapping[str, bytes], *, where: Path | str) -> Mapping[str, Any]:
    """results.json of lifted evidence.

    Raises:
        InputError: there is none that can be read.

    """
    try:
        return json_text.mapping(json_text.loads(files["results.json"]))
    except (KeyError, ValueError):
        raise InputError(f"{where} holds no results.json that can be read") from None


def veil_for(dataset: Dataset) -> Redaction | None:
    """What covers verdicts on a dataset; None where it is not sealed."""
    return Redaction(recipients=dataset.recipients, keys=dataset.keys) if dataset.sealed else None


def pseudonym(hidden: Hidden, test_id: str) -> str:
    """What a hidden test is called where its name must not be told: the same in every run of the task."""
    digest = hmac.new(hidden.secret.encode(), test_id.encode("utf-8", "surrogatepass"), hashlib.sha256)
    return f"hidden-{digest.hexdigest()[:16]}"


def _name(prediction: Prediction) -> str:
    """Whose evidence it is: of this patch on this task, whoever gave it."""
    return f"{prediction.instance_id} {hashlib.sha256(prediction.patch_bytes()).hexdigest()}"


class _Quotes:
    """Finds words of a task's hidden side in a text."""

    def __init__(self, hidden: Hidden) -> None:
        lines = {
            line[1:].strip()
            for patch in (hidden.gold_patch, hidden.test_patch)
            for line in patch.decode("utf-8", "replace").splitlines()
            if line[:1] in {"+", "-"}
        }
        ids = (*hidden.listed, *hidden.flaky)
        names = {name for test_id in ids for name in (test_id, test_id.rpartition("::")[2].partition("[")[0])}
        self._words = {word for word in {*lines, *names, *hidden.test_files} if len(word) >= _SHORTEST} | set(ids)

    def within(self, text: str) -> bool:
        return any(word in text for word in self._words)


_MEMORY_KB = (1024 * 1024, 4 * 1024 * 1024)
_SECONDS = (1, 10, 100)


def _coarse_figures(report: InstanceReport) -> dict[str, Any]:
    """Time and memory of the tests in steps so wide that all of them together carry less than a byte.

    The patch runs beside the hidden tests and decides how long it takes: exact figures would carry out what it read.
    """
    seconds = report.timings.get("tests")
    return {
        "timings": {} if seconds is None else {"tests": float(_coarse(seconds, _SECONDS))},
        "max_rss_kb": _coarse(report.max_rss_kb, _MEMORY_KB),
        "cpu_seconds": 0.0,
    }


def _coarse(value: float, steps: Sequence[int]) -> int:
    """The first step that is not below a value, or the last; 0 for nothing."""
    return next((step for step in steps if value <= step), steps[-1]) if value > 0 else 0


def _reason(report: InstanceReport, quotes: _Quotes, *, is_gold: bool) -> str:
    sentence = report.reason if report.cause in _PLAIN_CAUSES else public_reason.words(report, is_gold=is_gold)
    return sentence if not quotes.within(sentence) else "the reason quotes what is hidden; it is in the sealed evidence"


def _dropped(part: Mapping[str, str], *, is_gold: bool) -> dict[str, str]:
    return {**part, "path": "hidden"} if is_gold or part.get("reason") in public_reason.TELLING_DROPS else dict(part)


def _signals(signals: Signals | None, quotes: _Quotes) -> Signals | None:
    """Signals without what a failed import said and what files the tests wrote, and without quotations."""
    if signals is None:
        return None
    return Signals.model_validate({**_covered(signals.model_dump(mode="json"), quotes), **_coarse_signals(signals)})


def _coarse_signals(signals: Signals) -> dict[str, Any]:
    """The signals that code under test decides while the hidden tests run: whether there was any, and no more."""
    runtime, network, writes = signals.runtime, signals.network, signals.writes
    return {
        "imports": Imports(measured=signals.imports.measured, why_not=signals.imports.why_not, ok=signals.imports.ok),
        "runtime": Runtime(
            measured=runtime.measured,
            why_not=runtime.why_not,
            seconds=_coarse(runtime.seconds, _SECONDS),
            max_rss_kb=_coarse(runtime.max_rss_kb, _MEMORY_KB),
        ),
        "network": Network(measured=network.measured, why_not=network.why_not, attempts=min(1, network.attempts)),
        "writes": Writes(measured=writes.measured, why_not=writes.why_not, files=min(1, writes.files)),
    }


def _covered(value: Any, quotes: _Quotes) -> Any:
    if isinstance(value, dict):
        return {name: "" if name == _SAID else _covered(part, quotes) for name, part in value.items()}
    if isinstance(value, list):
        return [_covered(part, quotes) for part in value]
    return "hidden" if isinstance(value, str) and quotes.within(value) else value


_SAID = "error"
"""The field of signals that holds what code under test said."""
