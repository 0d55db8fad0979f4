"""Runs inside the tools image, after analyst.py: semgrep and eslint, where the image has them.

eslint's Linter reads texts, not files, so that a configuration's patterns see the paths of the repository.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

from harness.signals import analyst, eslint_config

SEMGREP = Path("/opt/goldseam/semgrep")
ESLINT = Path("/opt/goldseam/eslint")
NODE = "/usr/bin/node"
RULES = Path("/tmp/rules")  # noqa: S108 - a tmpfs of a container that is used once
REFUSED = "ended with 7"
"""Semgrep's exit code where no rule of a configuration, or not every one, is valid."""
_LEVELS = {"INFO": "low", "WARNING": "medium", "ERROR": "high", "CRITICAL": "high"}
_CWE = re.compile(r"(?:CWE-)?(\d{1,5})\b", re.IGNORECASE)


def main(request: bytes) -> None:
    """Answer one question, as `analyst.main` does, with these tools besides."""
    analyst.main(request, semgrep=semgrep, eslint=eslint)


def semgrep(question: dict[str, Any], items: list[analyst.Item]) -> tuple[str, dict[str, Any]]:
    """Version, and what semgrep says by prediction."""
    version = _semgrep_version()
    if not version:
        return "", _nothing(items, "semgrep is not in the tools image; `goldseam images tools --with semgrep` adds it")
    if not question.get("rules"):
        return "", _nothing(items, "no rules are named: semgrep_rules under [signals] in goldseam.toml")
    for rule in question["rules"]:
        target = RULES / rule["name"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rule["text"], encoding="utf-8")
    try:
        findings = _semgrep(analyst.distinct(items), analyst.SECONDS_FOR_ALL)
    except RuntimeError as error:
        if REFUSED in str(error):  # it would refuse them for each prediction
            return version, {item.id: {"error": "it refuses the rules"} for item in items}
        return version, _semgrep_each(items)
    return version, {item.id: analyst.by_own_path(item, findings) for item in items}


def _semgrep_each(items: list[analyst.Item]) -> dict[str, Any]:
    """Findings of semgrep for each prediction alone, as far as the time goes: it takes seconds to start."""
    end = time.monotonic() + analyst.SECONDS_FOR_ALL
    answers: dict[str, Any] = {}
    for item in items:
        try:
            left = max(end - time.monotonic(), 0.1)
            answers[item.id] = analyst.by_own_path(
                item, _semgrep(analyst.distinct([item]), min(left, 2 * analyst.SECONDS_FOR_ONE))
            )
        except Exception as error:  # noqa: BLE001 - each failure is told
            answers[item.id] = {"error": f"{type(error).__name__}: {error}"[:300]}
    return answers


def _semgrep_version() -> str:
    installed = sorted(SEMGREP.glob("lib/python3*/site-packages/semgrep-*.dist-info"))
    return installed[0].name.removesuffix(".dist-info").rpartition("-")[2] if installed else ""


def _semgrep(copies: list[analyst.Copy], seconds: float) -> analyst.Findings:
    """Findings of the rules. `nosemgrep` comments are not heeded. A file that it can't parse whole is named."""
    by_path = {str(copy.path): copy for copy in copies}
    argv = [str(SEMGREP / "bin/semgrep"), "scan", "--json", "--quiet", "--metrics=off", "--disable-version-check"]
    argv += ["--oss-only", "--no-git-ignore", "--disable-nosem", "--no-rewrite-rule-ids", "--jobs=1", "--timeout=5"]
    report = json.loads(analyst.run([*argv, f"--config={RULES}", *by_path], seconds, env=_SEMGREP_ENV))
    return semgrep_findings(report, by_path)


_SEMGREP_ENV = {
    "PATH": f"{SEMGREP}/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108
    "SEMGREP_SEND_METRICS": "off",
    "SEMGREP_ENABLE_VERSION_CHECK": "0",
    "SEMGREP_SETTINGS_FILE": "/tmp/semgrep-settings.yml",  # noqa: S108
    "SEMGREP_LOG_FILE": "/tmp/semgrep.log",  # noqa: S108
}


def semgrep_findings(report: dict[str, Any], by_path: dict[str, analyst.Copy]) -> analyst.Findings:
    """Findings on these copies in a report of semgrep."""
    findings = analyst.Findings()
    for error in report["results"]:
        copy, extra = by_path[error["path"]], error.get("extra") or {}
        metadata = extra.get("metadata") or {}
        line = int((error.get("start") or {}).get("line") or 0)
        severity = str(extra.get("severity", "")).upper()
        entry = {"rule": str(error["check_id"])[:200], "cwe": cwe(metadata.get("cwe")), "line": line}
        entry |= {"severity": _LEVELS.get(severity, severity.lower())}
        entry |= {"confidence": str(metadata.get("confidence", "medium")).lower()}
        entry |= {"message": str(extra.get("message", ""))[:300], "text": copy.text(line)}
        findings.add(error["path"], entry)
    for error in report.get("errors") or []:
        path = error.get("path")
        if path in by_path:
            kind = error.get("type")
            findings.unread[path] = str(kind[0] if isinstance(kind, list) else kind)[:200]
    return findings


def cwe(metadata: Any) -> int | None:
    """The first number of `CWE-78: …`, a list of such, or a bare number."""
    for text in metadata if isinstance(metadata, list) else [metadata]:
        hit = _CWE.match(str(text).strip()) if text is not None else None
        if hit:
            return int(hit[1])
    return None


def eslint(question: dict[str, Any], items: list[analyst.Item]) -> tuple[str, dict[str, Any]]:
    """Version, and what eslint says by prediction."""
    manifest = ESLINT / "node_modules/eslint/package.json"
    if not manifest.exists():
        return "", _nothing(items, "eslint is not in the tools image; `goldseam images tools --with eslint` adds it")
    runner = analyst.ROOT.parent / "eslint_runner.cjs"
    runner.write_text(question["eslint_runner"], encoding="utf-8")
    answers: dict[str, Any] = {}
    texts: dict[str, list[dict[str, Any]]] = {}
    plans: dict[str, dict[str, eslint_config.Plan]] = {}
    for item in items:
        try:
            plans[item.id] = _plans(item)
        except ValueError as error:
            answers[item.id] = {"why_not": str(error)[:300]}
            continue
        texts[item.id] = _texts(item, plans[item.id])
        if not texts[item.id]:
            answers[item.id] = {"why_not": _no_text(item)}
    waiting = [item for item in items if item.id not in answers]
    results = _all_or_each(runner, {item.id: texts[item.id] for item in waiting})
    for item in waiting:
        result = results[item.id]
        if isinstance(result, str):
            answers[item.id] = {"error": result}
        elif refused := next((reply["error"] for reply in result if "error" in reply), ""):
            answers[item.id] = {"error": refused}
        else:
            answers[item.id] = eslint_findings(item, plans[item.id], list(zip(texts[item.id], result, strict=True)))
    return str(json.loads(manifest.read_text(encoding="utf-8"))["version"]), answers


def _plans(item: analyst.Item) -> dict[str, eslint_config.Plan]:
    paths = {path for side in analyst.SIDES for path, _ in item.copies[side] if path.endswith(eslint_config.SUFFIXES)}
    return {path: eslint_config.plan(path, item.configs) for path in sorted(paths)}


def _texts(item: analyst.Item, plans: dict[str, eslint_config.Plan]) -> list[dict[str, Any]]:
    return [
        {"side": side, "path": path, "text": "\n".join(copy.lines), "layers": plans[path].layers}
        for side in analyst.SIDES
        for path, copy in item.copies[side]
        if path in plans and plans[path].kind
    ]


def _no_text(item: analyst.Item) -> str:
    every = [path for side in analyst.SIDES for path, _ in item.copies[side]]
    if any(path.endswith(eslint_config.SUFFIXES) for path in every):
        return "the repository has no eslint configuration for the changed files"
    return "no JavaScript or TypeScript is changed"


def _all_or_each(runner: Path, by_prediction: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]] | str]:
    """Eslint's answers by prediction, or why it failed: all in one process, else one each."""
    if not by_prediction:
        return {}
    try:
        replies = iter(
            _run_eslint(
                runner, [text for texts in by_prediction.values() for text in texts], analyst.SECONDS_FOR_ALL / 2
            )
        )
        return {key: [next(replies) for _ in texts] for key, texts in by_prediction.items()}
    except Exception:  # noqa: BLE001 - one by one, then, and each failure is told
        by_key: dict[str, list[dict[str, Any]] | str] = {}
        for key, texts in by_prediction.items():
            try:
                by_key[key] = _run_eslint(runner, texts, analyst.SECONDS_FOR_ONE / 2)
            except Exception as error:  # noqa: BLE001
                by_key[key] = f"{type(error).__name__}: {error}"[:300]
        return by_key


def _run_eslint(runner: Path, texts: list[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    output = analyst.run([NODE, "--max-old-space-size=400", str(runner)], seconds, stdin=json.dumps(texts).encode())
    replies: list[dict[str, Any]] = json.loads(output)
    return replies


def eslint_findings(
    item: analyst.Item, plans: dict[str, eslint_config.Plan], replies: list[tuple[dict[str, Any], dict[str, Any]]]
) -> dict[str, Any]:
    """Findings of eslint on one prediction. A file that only a parser of the repository's own could read is named."""
    lines = {(side, path): copy for side in analyst.SIDES for path, copy in item.copies[side]}
    answer: dict[str, Any] = {side: [] for side in analyst.SIDES}
    unread: dict[str, list[dict[str, str]]] = {side: [] for side in analyst.SIDES}
    notes = [note for plan in plans.values() for note in plan.notes]
    for text, result in replies:
        side, path = text["side"], text["path"]
        notes += result["notes"]
        if result["fatal"] and (plans[path].parser or path.endswith((".ts", ".tsx"))):
            unread[side].append({"path": path, "why": result["fatal"]})
            continue
        copy = lines[side, path]
        answer[side] += [{**finding, "path": path, "text": copy.text(finding["line"])} for finding in result["found"]]
    kinds = {plan.kind for plan in plans.values() if plan.kind}
    config = "recommended" if "recommended" in kinds else "repository"
    notes = list(dict.fromkeys(notes))[:20]
    return {**answer, "unread": unread, "config": config, "notes": notes}


def _nothing(items: list[analyst.Item], why: str) -> dict[str, Any]:
    return {item.id: {"why_not": why} for item in items}
