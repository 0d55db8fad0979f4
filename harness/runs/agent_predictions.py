"""Predictions as agents leave them, read into SWE-bench's fields: SWE-agent, mini-swe-agent, OpenHands.

What each writes was read off its source: SWE-agent's `save_predictions` and `merge_predictions`, mini-swe-agent's
`update_preds_file` and `DefaultAgent.serialize`, OpenHands' `EvalOutput`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.core import json_text
from harness.core.errors import InputError
from harness.core.instance import INSTANCE_ID, NOT_READ
from harness.core.json_text import mapping

PREDS_FILE = "preds.json"
"""SWE-agent's merged predictions, and mini-swe-agent's: an object by instance id."""
OUTPUT_FILE = "output.jsonl"
"""OpenHands': one object a line."""
_TRAJECTORIES = (".traj", ".traj.json")
"""SWE-agent's, mini-swe-agent's."""
_LARGEST = 32 * 1024 * 1024
"""Bytes of a trajectory that is looked into for cost and tokens."""


def files_of(folder: Path) -> tuple[Path, ...]:
    """The files of an agent's output folder that hold its predictions, sorted.

    Merged predictions stand for all; else there is one `.pred` a task, OpenHands' `output.jsonl`, or nothing but
    trajectories, whose last word is the patch.

    Raises:
        InputError: there is none of them.

    """
    for name in (PREDS_FILE, OUTPUT_FILE):
        if (folder / name).is_file():
            return (folder / name,)
    patterns = ("*.pred", *(f"*{ending}" for ending in _TRAJECTORIES))
    for pattern in patterns:
        if paths := sorted(path for path in folder.rglob(pattern) if path.is_file()):
            return tuple(paths)
    raise InputError(
        f"{folder} holds no predictions: expected {PREDS_FILE}, {OUTPUT_FILE}, .pred or .traj files in it",
        hint="name the file of predictions itself",
    )


def normal(value: Mapping[str, Any], *, path: Path) -> dict[str, Any]:
    """One object of a file in SWE-bench's fields; what is in them already stays as it is."""
    fields = _normal(value, path)
    return {**fields, NOT_READ: value[NOT_READ]} if NOT_READ in value else fields


def _normal(value: Mapping[str, Any], path: Path) -> dict[str, Any]:
    if is_trajectory(path) and "info" in value:
        return _from_trajectory(value, path)
    if "model_patch" not in value and _patch_of_openhands(value) is not _NOTHING:
        return _from_openhands(value)
    return {**_beside(value.get("instance_id"), path.parent), **value}


def is_trajectory(path: Path) -> bool:
    """Whether a file is one task's trajectory."""
    return path.name.endswith(_TRAJECTORIES)


_NOTHING = object()


def _patch_of_openhands(value: Mapping[str, Any]) -> Any:
    """The patch where OpenHands puts it, today or before."""
    result = value.get("test_result")
    if isinstance(result, dict) and "git_patch" in result:
        return result["git_patch"]
    return value.get("git_patch", _NOTHING)


def _from_openhands(value: Mapping[str, Any]) -> dict[str, Any]:
    config = mapping(mapping(value.get("metadata")).get("llm_config"))
    metrics = mapping(value.get("metrics"))
    usage = mapping(metrics.get("accumulated_token_usage"))
    tokens = {name: usage[name] for name in ("prompt_tokens", "completion_tokens") if name in usage}
    latencies = metrics.get("response_latencies")
    waits = [mapping(latency).get("latency") for latency in latencies] if isinstance(latencies, list) else []
    fields = {
        "cost_usd": _cost(metrics.get("accumulated_cost"), bool(waits) or any(tokens.values())),
        "tokens": tokens or None,
        "latency_seconds": sum(wait for wait in waits if isinstance(wait, int | float)) or None,
        "temperature": config.get("temperature"),
        "model_name_or_path": config.get("model"),
        "error": value.get("error") or None,
    }
    known_fields = {name: value for name, value in fields.items() if value is not None}
    return {"instance_id": value.get("instance_id"), "model_patch": _patch_of_openhands(value), **known_fields}


def _from_trajectory(value: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """A trajectory by itself: the patch is what the agent submitted last."""
    info = mapping(value.get("info"))
    name = path.name
    for ending in _TRAJECTORIES:
        name = name.removesuffix(ending)
    model = mapping(mapping(info.get("config")).get("model")).get("model_name")
    return {
        "instance_id": value.get("instance_id", name),
        "model_patch": info.get("submission"),
        **({"model_name_or_path": model} if model is not None else {}),
        **_stats(value),
    }


def _beside(instance_id: Any, folder: Path) -> dict[str, Any]:
    """What the trajectory beside a prediction tells of cost and tokens; nothing where there is none to read."""
    if not isinstance(instance_id, str) or not INSTANCE_ID.fullmatch(instance_id):
        return {}
    for place in (folder, folder / instance_id):
        for ending in _TRAJECTORIES:
            path = place / f"{instance_id}{ending}"
            if path.is_file():
                try:
                    is_small = path.stat().st_size <= _LARGEST
                    return _stats(json_text.loads(path.read_bytes())) if is_small else {}
                except (OSError, ValueError):
                    return {}
    return {}


def _stats(trajectory: Any) -> dict[str, Any]:
    """Cost and tokens of a trajectory, in the fields of a prediction."""
    trajectory = mapping(trajectory)
    stats = mapping(mapping(trajectory.get("info")).get("model_stats"))
    tokens = {
        ours: stats[theirs]
        for ours, theirs in (("prompt_tokens", "tokens_sent"), ("completion_tokens", "tokens_received"))
        if stats.get(theirs)
    } or _tokens_of_messages(trajectory.get("messages"))
    cost = _cost(stats.get("instance_cost"), bool(stats.get("api_calls")) or bool(tokens))
    return {name: value for name, value in (("cost_usd", cost), ("tokens", tokens or None)) if value is not None}


def _tokens_of_messages(messages: Any) -> dict[str, int]:
    """mini-swe-agent keeps each answer of the API in the message that it became."""
    tokens: dict[str, int] = {}
    for message in messages if isinstance(messages, list) else ():
        usage = mapping(mapping(mapping(mapping(message).get("extra")).get("response")).get("usage"))
        for name in ("prompt_tokens", "completion_tokens"):
            if isinstance(usage.get(name), int):
                tokens[name] = tokens.get(name, 0) + usage[name]
    return tokens


def _cost(cost: Any, is_used: bool) -> float | None:
    """A cost; nothing spent on a model that was called means that nobody knew its price."""
    if not isinstance(cost, int | float) or isinstance(cost, bool) or (is_used and not cost):
        return None
    return float(cost)
