"""Fake but well-formed datasets and runs for the report, made with the project's own writers."""

from __future__ import annotations

import random
from pathlib import Path

from harness.dataset.folder import Dataset, create_dataset, write_task
from harness.grading import Grade, TestsStatus
from harness.instance import Hidden, Instance, Outcome, Prediction, Task, TaskState, TestStatus
from harness.run_folder import Evidence, RunFolder, instance_report

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


def make_task(number: int, *, statement: str | None = None, instance_id: str | None = None) -> Task:
    title = _TITLES[number % len(_TITLES)]
    text = statement if statement is not None else f"# {title}\n\nSteps: call `parse('')`.\n\nExpected: None.\n"
    return Task(
        instance=Instance(
            instance_id=instance_id or f"acme__widgets-{100 + number}",
            repo="acme/widgets",
            base_commit=f"{number:040x}",
            created_at=f"2024-03-{1 + number % 28:02d}T12:00:00Z",
            language="python",
            version="3.12",
            image="sha256:" + f"{number:064x}",
            problem_statement=text,
            state=TaskState.PROVED,
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
) -> Prediction:
    """Put one scored prediction into a run folder."""
    given = PATCH.format(name="parser") if patch is None and outcome is not Outcome.EMPTY_PATCH else patch
    prediction = Prediction(instance_id=instance_id, model_name_or_path=model, model_patch=given, sample=sample)
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
