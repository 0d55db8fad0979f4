"""What a prediction says of how it was made: the fields beside SWE-bench's. Pure. docs/formats.md names them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.solve.plan import digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.solve.base import Agent, Attempt, Reply
    from harness.solve.plan import Plan, Unit


def facts_of(unit: Unit, attempt: Attempt, *, plan: Plan, agent: Agent, latency: float) -> dict[str, Any]:
    """The further fields of a prediction; docs/formats.md names them all."""
    replies = attempt.replies
    costs = [reply.cost for reply in replies]
    first = replies[0].first_token_seconds if replies else None
    facts: dict[str, Any] = {
        "agent": agent.name,
        "agent_version": agent.version,
        "prompt": plan.prompt,
        "prompt_sha256": plan.prompt_sha256,
        "temperature": unit.temperature,
        "temperature_sample": unit.index,
        "top_p": plan.top_p,
        "seed": None if plan.seed is None else plan.seed + unit.index,
        "max_output_tokens": plan.max_output_tokens,
        "endpoint": plan.endpoint,
        "model": plan.model,
        "snapshot": replies[-1].model if replies else None,
        "snapshots": list(dict.fromkeys(reply.model for reply in replies)),
        "tokens": _tokens(replies),
        "cost_usd": None if not costs or None in costs else sum(cost for cost in costs if cost is not None),
        "latency_seconds": round(latency, 3),
        "time_to_first_token_seconds": None if first is None else round(first, 3),
        "finish_reason": replies[-1].finish_reason if replies else None,
        "request_ids": [reply.request_id for reply in replies if reply.request_id],
        "questions": len(replies),
        "cached_answers": sum(reply.cached for reply in replies),
        "retries": sum(len(reply.retries) for reply in replies),
        "odd": sorted({note for reply in replies for note in reply.notes}),
        "no_patch": attempt.no_patch,
        "no_patch_detail": attempt.detail or None,
        "unusable_patch": attempt.unusable,
        "tolerance": list(attempt.tolerance),
        "stopped": attempt.stopped,
        "oracle_files": plan.oracle,
        "task_digest": digest_of(unit.instance),
    }
    return {**facts, **{name: value for name, value in attempt.facts.items() if name not in facts}}


def _tokens(replies: Sequence[Reply]) -> dict[str, int | None]:
    """Sums over all replies; None where one of them does not say."""

    def total(name: str) -> int | None:
        counts = [getattr(reply.usage, name) for reply in replies]
        return None if not counts or None in counts else sum(counts)

    read, written = total("input_tokens"), total("output_tokens")
    return {
        "input": read,
        "output": written,
        "cached_input": total("cached_input_tokens"),
        "reasoning": total("reasoning_tokens"),
        "total": None if read is None or written is None else read + written,
    }
