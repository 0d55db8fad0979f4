"""Fake but well-formed datasets and runs for the report, made with the project's own writers."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.core.instance import Hidden, Instance, Outcome, Prediction, Task, TaskState, TestStatus
from harness.dataset.folder import Dataset, create_dataset, write_task
from harness.grading.grade import GRADING_VERSION, Grade, TestsStatus
from harness.grading.scoring import Demands
from harness.judging.places import Place
from harness.runs import verdict
from harness.runs.run_folder import Evidence, RunFolder, RunRecord, instance_report

SECRET_TEST = "tests/test_secret_place.py::test_secret_name"
SECRET_GOLD = "gold_secret_line"
SECRET_OUTPUT = "secret_assertion_text"

PATCH = """\
diff --git a/src/{name}.py b/src/{name}.py
--- a/src/{name}.py
+++ b/src/{name}.py
@@ -10,7 +10,8 @@ def parse(value):
     value = value.strip()
     if not value:
         return None
-    return int(value)
+    number = int(value, base=10)
+    return number if number >= 0 else -number


 def render(value):
"""
_TITLES = (
    "Parsing an empty header raises instead of returning None",
    "Durations over a day are rendered without the days",
    "Wrong plural for numbers that end in 11",
    "Cache key ignores the encoding, so two users share an entry",
    "Retry loop never gives up when the server says 429",
)


def make_task(
    number: int,
    *,
    statement: str | None = None,
    instance_id: str | None = None,
    repo: str = "acme/widgets",
    difficulty: str | None = None,
    state: TaskState = TaskState.PROVED,
) -> Task:
    title = _TITLES[number % len(_TITLES)]
    text = statement if statement is not None else f"# {title}\n\nSteps: call `parse('')`.\n\nExpected: None.\n"
    return Task(
        instance=Instance(
            instance_id=instance_id or f"acme__widgets-{100 + number}",
            repo=repo,
            base_commit=f"{number:040x}",
            created_at=f"2024-03-{1 + number % 28:02d}T12:00:00Z",
            language="python",
            version="3.12",
            image="sha256:" + f"{number:064x}",
            problem_statement=text,
            state=state,
            quality={"difficulty": {"tier": difficulty}} if difficulty else {},
        ),
        hidden=Hidden(
            gold_patch=PATCH.format(name=SECRET_GOLD).encode(),
            test_patch=PATCH.format(name="hidden_test_patch").encode(),
            fail_to_pass=(SECRET_TEST, "tests/test_a.py::test_b"),
            pass_to_pass=tuple(f"tests/test_a.py::test_{index}" for index in range(30)),
            test_files=("tests/test_secret_place.py",),
        ),
    )


def make_dataset(path: Path, tasks: int | list[Task]) -> Dataset:
    dataset = create_dataset(path, name="widgets-holdout")
    for task in [make_task(number) for number in range(tasks)] if isinstance(tasks, int) else tasks:
        write_task(dataset, task)
    return dataset


TASK = "0" * 64
"""The digest of every task that reports of these runs stand on."""


def add(
    run: Path,
    instance_id: str,
    model: str,
    outcome: Outcome = Outcome.RESOLVED,
    *,
    sample: int = 0,
    patch: str | None = None,
    reason: str | None = None,
    failure_class: str | None = None,
    output: bytes = b"",
    seconds: float = 1.5,
    dropped: tuple[dict[str, str], ...] = (),
    extra: Mapping[str, Any] | None = None,
    place: Place = Place.HOST,
    **fields: Any,
) -> Prediction:
    """Put one scored prediction into a run folder."""
    given = PATCH.format(name="parser") if patch is None and outcome is not Outcome.EMPTY_PATCH else patch
    prediction = Prediction(
        instance_id=instance_id, model_name_or_path=model, model_patch=given, sample=sample, extra=extra or {}
    )
    folder = RunFolder(path=run)
    ran = outcome in (Outcome.RESOLVED, Outcome.UNRESOLVED)
    passed, failed = TestStatus.PASSED, TestStatus.FAILED
    f2p = {SECRET_TEST: passed if outcome is Outcome.RESOLVED else failed, "tests/test_a.py::test_b": passed}
    p2p = {f"tests/test_a.py::test_{index}": passed for index in range(30)}
    default = "tests_failed" if outcome is Outcome.UNRESOLVED else outcome.value
    word = failure_class or (None if outcome is Outcome.RESOLVED else default)
    graded = Grade(
        outcome=outcome,
        cause=word,
        reason=reason
        or ("every listed test passed" if outcome is Outcome.RESOLVED else "1 of 2 FAIL_TO_PASS tests do not pass"),
        tests=TestsStatus(fail_to_pass=f2p, pass_to_pass=p2p) if ran else TestsStatus(),
    )
    timings = {"create": 0.02, "start": 0.09, "tests": seconds} if ran else {}
    report = instance_report(
        prediction,
        graded,
        failure_class=word,
        timings=timings,
        max_rss_kb=51200,
        cpu_seconds=1.1,
        dropped=list(dropped),
        place=place,
        key=verdict.key_of(TASK, prediction, Demands(), grading=GRADING_VERSION),
        grading_version=GRADING_VERSION,
        **fields,
    )
    tests = {
        name: {
            "status": status.value,
            "seconds": 0.012,
            **({} if status is passed else {"text": f"E   AssertionError: {SECRET_OUTPUT} {model}"}),
        }
        for name, status in ({**f2p, **p2p} if ran else {}).items()
    }
    evidence = Evidence(patch=prediction.patch_bytes(), output=output, results={"schema_version": 1, "tests": tests})
    folder.write(prediction, report, evidence)
    return prediction


def make_run(path: Path, tasks: int, models: dict[str, float], *, seed: int = 7) -> Path:
    """A run in which each model resolves about its share of the tasks, and fails in every way there is."""
    chance = random.Random(seed)
    bad = [Outcome.UNRESOLVED] * 7 + [Outcome.EMPTY_PATCH, Outcome.APPLY_FAILED, Outcome.TAMPERED, Outcome.INFRA_ERROR]
    made = []
    for number in range(tasks):
        ease = chance.random()
        for model, share in models.items():
            won = share >= 1 or (share > 0 and 0.5 * ease + 0.5 * chance.random() < share)
            outcome = Outcome.RESOLVED if won else Outcome.UNRESOLVED if model == "null" else chance.choice(bad)
            output = f"collected 32 items\n\x1b[31mFAILED\x1b[0m {SECRET_TEST} - {SECRET_OUTPUT}\n".encode()
            made.append(add(path, f"acme__widgets-{100 + number}", model, outcome, output=output, seconds=1 + ease))
    RunFolder(path=path).write_predictions(made)
    return path


REPOS = ("acme/widgets", "acme/gears", "acme/ledger")
TIERS = ("easy", "medium", "hard", "brutal")
CLASSES = ("logic_error", "logic_error", "edge_case_error", "regression", "runtime_error", "performance_error")


def signals(number: int) -> dict[str, Any]:
    """What was measured beside a verdict."""
    finding = {
        "tool": "bandit",
        "rule": "B602",
        "cwe": 78,
        "severity": "high",
        "confidence": "high",
        "path": "src/parser.py",
        "line": 12,
        "message": "subprocess call with shell=True",
    }
    return {
        "schema_version": 1,
        "patch": {"files": 1, "hunks": 1, "added": 2, "removed": 1},
        "imports": {"ok": True},
        "lint": {},
        "eslint": {"measured": False, "why_not": "no JavaScript"},
        "complexity": {"before": 4, "after": 6, "delta": 2, "highest": 6},
        "network": {"attempts": 0},
        "compiles": {"measured": True, "ok": True, "files": [{"path": "src/parser.py", "ok": True, "error": ""}]},
        "security": {"measured": True, "new": [finding] * (number % 3), "gone": []},
        "semgrep": {"measured": False, "why_not": "not installed"},
        "runtime": {"measured": True, "seconds": 1.5, "gold_seconds": 1.2, "seconds_ratio": 1.25},
        "writes": {"measured": True, "files": 1, "bytes": 10, "paths": [f"/tmp/{SECRET_OUTPUT}"]},
    }


def make_rich(
    place: Path, tasks: int, models: Mapping[str, float], *, hunks: int = 1, seed: int = 7
) -> tuple[Path, Path]:
    """A dataset and a run with all that a report can show: repositories, tiers, cost, signals, flags, a funnel."""
    chance = random.Random(seed)
    made = [make_task(n, repo=REPOS[n % len(REPOS)], difficulty=TIERS[n % len(TIERS)]) for n in range(tasks)]
    dataset = make_dataset(place / "ds", made)
    (dataset.path / "funnel.jsonl").write_text(FUNNEL)
    predictions = []
    for number, task in enumerate(made):
        ease = chance.random() - 0.1 * (number % len(TIERS))
        for rank, (model, share) in enumerate(models.items()):
            won = share >= 1 or (share > 0 and 0.5 * ease + 0.5 * chance.random() < share)
            others = [Outcome.UNRESOLVED] * 8 + [Outcome.EMPTY_PATCH, Outcome.APPLY_FAILED, Outcome.INFRA_ERROR]
            outcome = Outcome.RESOLVED if won else Outcome.UNRESOLVED if model == "null" else chance.choice(others)
            log = f"collected 32 items\n\x1b[31mFAILED\x1b[0m {SECRET_TEST} - {SECRET_OUTPUT}\n".encode() * hunks
            predictions.append(
                add(
                    place / "run",
                    task.instance_id,
                    model,
                    outcome,
                    patch="".join(PATCH.format(name=f"part_{part}_{model}") for part in range(hunks)),
                    failure_class=chance.choice(CLASSES) if outcome is Outcome.UNRESOLVED else None,
                    output=log,
                    seconds=1 + abs(ease),
                    extra={}
                    if rank == 0
                    else {
                        "cost_usd": 0.01 * rank * (1 + ease),
                        "latency_seconds": 20.0 + rank,
                        "transcript": add_transcript(
                            place / "run", task.instance_id, model, folder=f"asked-{rank}.transcripts"
                        ),
                    },
                    signals=signals(number),
                    flags=[{"path": "src/parser.py", "sign": "exit"}] if won and number % 9 == 0 else [],
                )
            )
    RunFolder(path=place / "run").write_predictions(predictions)
    return dataset.path, place / "run"


FUNNEL = "".join(
    f'{{"schema_version":1,"repo":"acme/widgets","change":"{number:040x}","stage":"{stage}","reason":"{reason}"}}\n'
    for number, (stage, reason) in enumerate(
        [("history", "merge_of_default_branch")] * 31
        + [("recognition", "not_a_bug_fix")] * 122
        + [("recognition", "documentation_only")] * 40
        + [("split", "no_tests")] * 58
        + [("environment", "no_lock")] * 6
        + [("validation", "flaky")] * 5
        + [("validation", "nothing_fails_before")] * 9
        + [("accepted", "accepted")] * 40
    )
)


REALISTIC_MODELS = {
    "anthropic/claude-opus-4-5-20251101": 0.71,
    "openai/gpt-5.1-codex-max-2025-11-13": 0.69,
    "google/gemini-3-pro-preview-11-2025": 0.66,
    "anthropic/claude-sonnet-4-5-20250929": 0.60,
    "moonshotai/Kimi-K2-Thinking": 0.52,
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": 0.47,
    "deepseek-ai/DeepSeek-V3.2-Exp": 0.44,
    "mistralai/devstral-medium-2507": 0.31,
}
"""Eight names as long as real ones, and the share of tasks that each is to resolve, about."""
_THINGS = (
    "header parser",
    "duration formatter",
    "cache key",
    "retry loop",
    "CSV writer",
    "date range",
    "token refresh",
)
_FAULTS = (
    "raises TypeError on empty input",
    "drops the last element when the count is odd",
    "ignores the timezone of the second argument",
    "returns a stale value after a concurrent update",
    "rejects identifiers with a trailing dot",
)
_STATEMENT = """\
# The {thing} {fault}

**Version:** 4.{minor}.1 · *reported by several users*

Since the last release the {thing} {fault}. It worked in `4.{before}`:

```python
from acme import core

core.run(None, strict=True)  # expected: None
```

| input | expected | actual |
|---|---|---|
| `""` | `None` | `TypeError` |
| `"a,b"` | `["a", "b"]` | `["a"]` |

1. Install the package
2. Call it as above

> Seen on Linux and macOS. See also [the discussion](https://example.org/discussions/{minor}).

- [x] searched for existing issues
- [ ] can provide a patch
"""


def transcript(
    instance_id: str, model: str, sample: int = 0, *, text: str = "I look at the parser first."
) -> dict[str, Any]:
    """A conversation as `goldseam solve` writes it."""
    call = {"call_id": "c1", "name": "bash", "arguments": '{"command": "grep -rn strip src"}'}
    messages = [
        {"role": "system", "content": "You fix bugs.", "tool_calls": [], "tool_call_id": None},
        {"role": "user", "content": "The parser fails on an empty header.", "tool_calls": [], "tool_call_id": None},
        {"role": "assistant", "content": text, "tool_calls": [call], "tool_call_id": None},
        {"role": "tool", "content": "src/parser.py:11: value.strip()", "tool_calls": [], "tool_call_id": "c1"},
        {"role": "assistant", "content": "Fixed.", "tool_calls": [], "tool_call_id": None},
    ]
    identity = {"instance_id": instance_id, "model_name_or_path": model, "sample": 0}
    return {"schema_version": 1, **identity, "messages": messages, "replies": []}


def add_transcript(
    run: Path, instance_id: str, model: str, *, folder: str = "predictions.transcripts", **options: Any
) -> str:
    """Write a transcript beside a run, and return the name that a prediction has it by."""
    name = f"{folder}/{instance_id}/0.json"
    path = run.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(transcript(instance_id, model, **options)))
    return name


def make_realistic(place: Path, tasks: int = 400, *, seed: int = 7) -> tuple[Path, Path]:
    """A dataset and a run as a team has them: eight models with long names, both controls, three repositories."""
    chance = random.Random(seed)
    made = []
    for number in range(tasks):
        repo = REPOS[(0, 0, 0, 1, 1, 2)[number % 6]]
        text = _STATEMENT.format(
            thing=_THINGS[number % len(_THINGS)], fault=_FAULTS[number % len(_FAULTS)], minor=number, before=number - 1
        )
        tier = TIERS[chance.choices(range(4), (6, 4, 3, 1))[0]]
        name = f"{repo.replace('/', '__')}-{16 + 7 * number}"
        made.append(make_task(number, repo=repo, difficulty=tier, statement=text, instance_id=name))
    dataset = make_dataset(place / "holdout", made)
    (dataset.path / "funnel.jsonl").write_text(FUNNEL)
    run = place / "2026-11-nightly"
    predictions = []
    for number, task in enumerate(made):
        tier = TIERS.index(task.instance.quality["difficulty"]["tier"])
        ease = chance.gauss(0.12 - 0.11 * tier, 0.2)
        for rank, (model, share) in enumerate({**REALISTIC_MODELS, "gold": 1.0, "null": 0.0}.items()):
            control = model in ("gold", "null")
            won = share == 1 if control else chance.gauss(ease, 0.35) + share > 0.5
            others = [Outcome.UNRESOLVED] * 20 + [Outcome.EMPTY_PATCH, Outcome.APPLY_FAILED, Outcome.INFRA_ERROR]
            outcome = Outcome.RESOLVED if won else Outcome.UNRESOLVED if control else chance.choice(others)
            cost = 0.04 * (9 - rank) * (0.6 + chance.random())
            extra = {} if control else {"cost_usd": cost, "latency_seconds": 60.0 + 200 * chance.random()}
            if not control and number < 12:
                extra["transcript"] = add_transcript(
                    run, task.instance_id, model, folder=f"predictions-{rank}.transcripts"
                )
            predictions.append(
                add(
                    run,
                    task.instance_id,
                    model,
                    outcome,
                    patch="" if model == "null" else PATCH.format(name=f"part_{number}_{rank}"),
                    failure_class=chance.choice(CLASSES) if outcome is Outcome.UNRESOLVED and not control else None,
                    output=f"collected 32 items\nFAILED {SECRET_TEST} - {SECRET_OUTPUT}\n".encode(),
                    seconds=1 + 3 * chance.random(),
                    extra=extra,
                    signals=None if control else signals(number),
                    flags=[{"path": "src/parser.py", "sign": "exit"}]
                    if won and not control and number % 97 == 5
                    else [],
                    place=(Place.HOST, Place.HOST, Place.HOST, Place.HOST, Place.MIXED, Place.INSIDE)[number % 6],
                )
            )
    folder = RunFolder(path=run)
    folder.write_predictions(predictions)
    folder.write_run(record([*REALISTIC_MODELS, "gold", "null"]))
    return dataset.path, run


def record(models: list[str], **fields: Any) -> RunRecord:
    """run.json of a run over the datasets of this module."""
    return RunRecord(
        **{
            "goldseam_version": "0.1.0",
            "grading_version": GRADING_VERSION,
            "dataset": "widgets-holdout",
            "dataset_version": 1,
            "tasks": {},
            "images": {},
            "models": models,
            "settings": {},
            "machine": {"platform": "Linux-6.1.0-amd64", "machine": "x86_64", "cpus": 16},
            "started_at": "2026-11-21T02:00:00Z",
            **fields,
        }
    )
