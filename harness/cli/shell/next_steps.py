"""The command that comes next after each command that ended well."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.core.files import STANDARD_OUTPUT

ITSELF = "the command names it, from what it found"
_FIELD = re.compile(r"\{(\w+)\}")
_PREDICTIONS = "-p predictions.jsonl -o RUN"


def _after_report(params: Mapping[str, Any]) -> str:
    runs = params["runs"]
    if len(runs) > 1:
        return shlex.join(["goldseam", "compare", *map(str, runs[:2])])
    return "goldseam gate CANDIDATE --baseline {runs}"


def _after_compare(params: Mapping[str, Any]) -> str:
    models = (" --baseline-model {base_model}" if params["base_model"] else "") + (
        " --model {models}" if params["models"] else ""
    )
    return "goldseam gate {candidates} --baseline {base}" + models


def _after_gate(params: Mapping[str, Any]) -> str | None:
    return None if params["accept_to"] else "{again} --accept-to accepted.json"


STEPS: Mapping[str, str | Callable[[Mapping[str, Any]], str | None] | None] = {
    "doctor": "goldseam demo -o demo",
    "demo": ITSELF,
    "mine": ITSELF,
    "solve": ITSELF,
    "judge": None,
    "evaluate": "goldseam report {out} --dataset {dataset} -o {out}/report.html",
    "regrade": "goldseam report {run}",
    "report": _after_report,
    "scores": _after_report,
    "view": None,
    "compare": _after_compare,
    "gate": _after_gate,
    "history": None,
    "holdout ls": ITSELF,
    "holdout show": None,
    "holdout check": "goldseam evaluate {dataset} --gold --null -o runs/controls",
    "holdout stats": None,
    "holdout split": "goldseam holdout ls {dataset} --split dev",
    "holdout merge": "goldseam holdout check {out}",
    "holdout import": "goldseam holdout ls {out}",
    "holdout export": None,
    "holdout push": "goldseam holdout pull {url} FOLDER",
    "holdout pull": "goldseam holdout check {dataset}",
    "holdout refresh": "goldseam holdout check {dataset}",
    "holdout quarantine": "goldseam holdout ls {dataset} --state quarantined",
    "holdout release": "goldseam holdout ls {dataset}",
    "holdout retire": "goldseam holdout ls {dataset} --state retired",
    "holdout rotate": ITSELF,
    "holdout dedupe": "goldseam holdout check {dataset}",
    "holdout strip": "goldseam evaluate {dataset} --gold --null -o runs/controls",
    "holdout reveal": "goldseam solve {dataset} -m MODEL -o predictions.jsonl",
    "holdout quality": "goldseam holdout check {dataset} --max-leak 0.5",
    "holdout difficulty": "goldseam holdout ls {dataset}",
    "holdout strength": "goldseam holdout check {dataset} --min-strength 0.8",
    "holdout calls": "goldseam evaluate {dataset} " + _PREDICTIONS + " --replay",
    "holdout seal": "goldseam holdout log {dataset} --verify",
    "holdout open": "goldseam holdout log {dataset}",
    "holdout log": None,
    "holdout bind": "goldseam holdout log {dataset} --verify",
    "holdout canary": "goldseam holdout scan {dataset} PATH",
    "holdout scan": None,
    "images base": "goldseam mine SOURCE -o DATASET",
    "images tools": "goldseam evaluate DATASET " + _PREDICTIONS,
    "images ls": None,
    "images du": "goldseam images gc DATASET --dry-run",
    "images gc": "goldseam images du",
    "images push": "goldseam images pull {dataset}",
    "images pull": "goldseam evaluate {dataset} " + _PREDICTIONS,
    "images rebuild": "goldseam images push {dataset}",
}
"""By command. `{name}` is what the user gave for that parameter, of a list its first item; `{again}` the same call.

None is after a command that answers a question or goes on until it is ended: whatever follows depends on the answer.
"""


def after(path: str, params: Mapping[str, Any], words: Sequence[str]) -> str | None:
    """The command line that follows a call of the command at `path`, whose arguments were `words`."""
    if params.get("json_") or STANDARD_OUTPUT in params.values():
        return None
    if params.get("dry_run"):
        missing = ["-o", "DATASET"] if "out" in params and params["out"] is None else []
        return shlex.join(["goldseam", *path.split(), *(word for word in words if word != "--dry-run"), *missing])
    step = STEPS.get(path)
    template = step(params) if callable(step) else step
    if template is None or template == ITSELF:
        return None
    values = {**params, "again": shlex.join(["goldseam", *path.split(), *words])}
    if any(values[name] is None for name in _FIELD.findall(template)):
        return None
    return _FIELD.sub(lambda match: values["again"] if match[1] == "again" else _quoted(values[match[1]]), template)


def _quoted(value: Any) -> str:
    return shlex.quote(str(value[0] if isinstance(value, (list, tuple)) else value))
