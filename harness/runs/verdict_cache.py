"""Verdicts kept across run folders: the same patch on the same task under the same rules is not run twice."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from harness.core import files, json_text
from harness.core.instance import Outcome, Prediction
from harness.runs import report_mac
from harness.runs.predictions import own_fields
from harness.runs.run_folder import EVIDENCE_FILE, Evidence, InstanceReport
from harness.signals.sources import FILE as SOURCES_FILE

_REPORT, _RESULTS, _OUTPUT, _MAC = "report.json", "results.json", "test_output.txt", "mac"


_KIND = "verdict"
_COVERED = (_REPORT, _RESULTS, _OUTPUT, EVIDENCE_FILE, SOURCES_FILE)


def _parts(folder: Path) -> list[bytes]:
    """The key's folder, and the files in it; a missing one is empty."""
    paths = (folder / name for name in _COVERED)
    return [folder.name.encode(), *(path.read_bytes() if path.exists() else b"" for path in paths)]


@dataclass(frozen=True, kw_only=True)
class VerdictCache:
    """A folder of verdicts by key (`runs.verdict.key`); its owner's alone, since evidence quotes hidden tests."""

    path: Path
    scope: str = ""
    """Whom sealed evidence is for; empty where it is not sealed."""

    def holds(self, key: str) -> bool:
        """Whether something is kept under a key, to be believed or not."""
        return self._folder(key).exists()

    def get(self, key: str, prediction: Prediction) -> tuple[InstanceReport, Evidence] | None:
        """The verdict kept under a key, as this prediction's own; None where there is none that can be believed.

        A broken one cannot, nor one that this machine's key did not put there.
        """
        folder = self._folder(key)
        if not self._is_ours(folder):
            return None
        try:
            report = InstanceReport.model_validate_json((folder / _REPORT).read_bytes())
            sealed = (folder / EVIDENCE_FILE).read_bytes() if self.scope else b""
            results = {} if self.scope else json_text.loads((folder / _RESULTS).read_bytes())
            output = b"" if self.scope else (folder / _OUTPUT).read_bytes()
            sources = path.read_bytes() if (path := folder / SOURCES_FILE).exists() else b""
        except (OSError, ValueError):
            return None
        patch = prediction.patch_bytes()
        evidence = Evidence(patch=patch, output=output, results=results, sources=sources, sealed=sealed)
        return report.model_copy(update={**own_fields(prediction), "reused": True}), evidence

    def store(self, report: InstanceReport, evidence: Evidence) -> None:
        """Keep a verdict. What infrastructure failed to score is none."""
        if report.outcome is Outcome.INFRA_ERROR or not report.key or bool(self.scope) != bool(evidence.sealed):
            return
        folder = self._folder(report.key)
        with files.explained(self.path):
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.scope:
            files.write_bytes(folder / EVIDENCE_FILE, evidence.sealed, durable=False)
        else:
            files.write_bytes(folder / _OUTPUT, evidence.output, durable=False)
            files.write_bytes(folder / _RESULTS, json.dumps(evidence.results).encode(), durable=False)
        if evidence.sources:
            files.write_bytes(folder / SOURCES_FILE, evidence.sources, durable=False)
        self._write_report(folder, report)

    def complete(self, report: InstanceReport) -> None:
        """Take over what the tools said of a kept verdict's files, which then need not be kept."""
        folder = self._folder(report.key)
        if report.key and self._is_ours(folder):
            (folder / SOURCES_FILE).unlink(missing_ok=True)
            self._write_report(folder, report)

    def _write_report(self, folder: Path, report: InstanceReport) -> None:
        """The report, and the code over all that is there, which vouches for it."""
        files.write_bytes(folder / _REPORT, report.model_dump_json().encode(), durable=False)
        files.write_text(folder / _MAC, report_mac.of(_KIND, *_parts(folder)))

    def _is_ours(self, folder: Path) -> bool:
        path = folder / _MAC
        return path.exists() and report_mac.holds(path.read_text(errors="replace"), _KIND, *_parts(folder))

    def _folder(self, key: str) -> Path:
        name = hashlib.sha256(f"{key} {self.scope}".encode()).hexdigest() if self.scope else key
        return self.path / name[:2] / name
