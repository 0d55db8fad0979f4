"""Security findings as SARIF 2.1.0, as GitHub's code scanning and other viewers read it.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", 2020.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from harness.analysis.gate.ci.texts import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.analysis.gate.decision import Finding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"high": "error", "medium": "warning", "low": "note"}
_SCORES = {"high": "8.0", "medium": "5.0", "low": "2.0"}
"""GitHub's `security-severity`, on the scale of CVSS."""


def render(findings: Sequence[Finding], *, version: str) -> str:
    """One run of one tool; a rule for each distinct tool and rule, a result for each finding.

    A finding's place is `<repo>/<path>`: it lies in a task's tree, not in the repository that the gate runs in.
    """
    rules = sorted({_rule_id(finding): finding for finding in findings}.items())
    driver = {
        "name": "goldseam",
        "semanticVersion": version,
        "rules": [_rule(name, finding) for name, finding in rules],
    }
    index = {name: number for number, (name, _) in enumerate(rules)}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index) for finding in findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule_id(finding: Finding) -> str:
    return visible(f"{finding.tool}/{finding.rule}")


def _rule(name: str, finding: Finding) -> dict[str, Any]:
    tags = ["security", *([f"external/cwe/cwe-{finding.cwe:03d}"] if finding.cwe else [])]
    properties: dict[str, Any] = {"tags": tags}
    if finding.severity.lower() in _SCORES:
        properties["security-severity"] = _SCORES[finding.severity.lower()]
    return {
        "id": name,
        "name": visible(finding.rule),
        "shortDescription": {"text": visible(finding.message, limit=200) or name},
        "properties": properties,
    }


def _result(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    name = _rule_id(finding)
    text = f"{finding.model} introduced this in {finding.instance_id} (sample {finding.sample}): {finding.message}"
    result: dict[str, Any] = {
        "ruleId": name,
        "ruleIndex": index[name],
        "level": _LEVELS.get(finding.severity.lower(), "warning"),
        "message": {"text": visible(text, limit=1000)},
        "partialFingerprints": {"goldseam/v1": _fingerprint(finding)},
        "properties": {
            "instance_id": visible(finding.instance_id),
            "model": visible(finding.model),
            "sample": finding.sample,
        },
    }
    if finding.path:
        region = {"region": {"startLine": finding.line}} if finding.line and finding.line > 0 else {}
        result["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": _uri(finding)}, **region}}]
    return result


def _uri(finding: Finding) -> str:
    parts: Iterable[str] = f"{finding.repo}/{finding.path}".split("/")
    return "/".join(quote(visible(part), safe="") for part in parts if part not in ("", ".", ".."))


def _fingerprint(finding: Finding) -> str:
    """Equal for the same finding of the same model in the next run, so that a viewer does not count it twice."""
    facts = (finding.instance_id, finding.model, finding.tool, finding.rule, finding.path, finding.message)
    return hashlib.sha256("\0".join(facts).encode("utf-8", "backslashreplace")).hexdigest()
