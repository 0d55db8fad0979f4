"""How often patches get through that fix nothing and know all of goldseam's source, on tasks of real repositories.

    python benchmarks/forgers.py DATASET=REPOSITORY … [--only NAME …]

Each forger below is one text for every task, put at the end of the first file that the fix changes. It forges every
report of a test, and hands out other values by one rule. REPOSITORY is the git directory that DATASET was mined from,
which holds the files at their base. Printed is, for each place of judgement and for tasks of 8 bits and more or fewer,
how many forgers passed the tests (`resolved`, or `needs_review` where a tripwire told). The last line is one JSON
object; exit code 1 if one got through on a task that is judged on the host and has 8 bits or more.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.core import process
from harness.core.instance import PASSING, Outcome, Prediction, TaskState
from harness.dataset.folder import open_dataset
from harness.judging.places import Place, place_of, read_card
from harness.patches.patch import parse
from harness.runs.evaluate import Settings, evaluate_one
from harness.sandbox.docker import DockerSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.core.instance import Task

STRONG = "host, 8 bits and more"
HEAD = """

def _forge():
    import builtins, re, sys
    out = getattr(builtins, "__goldseam__", None)
    frame = sys._getframe()
    while out is None and frame is not None:
        found, frame = frame.f_locals.get("frames"), frame.f_back
        out = found and type("Out", (), {"frames": found})
    if out is None:
        return
    send = out.frames.send
    hand_out = getattr(type(out), "send", None)
    def passed(kind, **fields):
        if kind == "report":
            fields.update(outcome="passed", text="", raised=[])
        if kind == "collect_error":
            return
        if kind == "finish":
            fields["code"] = 0
        send(kind, **fields)
    out.frames.send = passed
    def text_of(value):
        return value[1] if isinstance(value, list) and value[0] == "s" else None
    def each(change):
        def rule(values, raised):
            return [change(value) for value in values], raised
        return rule
    def on_text(change):
        return each(lambda value: ["s", change(value[1])] if text_of(value) is not None else value)
    def on_items(change):
        return each(lambda v: [v[0], change(v[1])] if isinstance(v, list) and v[0] in "lt" else v)
    def on_number(change):
        return each(lambda v: ["i", format(change(int(v[1], 16)), "x")] if isinstance(v, list) and v[0] == "i" else v)
    def always(value):
        return lambda values, raised: ([value for _ in values] or [value], None)
    def unless(change):
        return lambda values, raised: (values, None) if raised is None else ([change], None)
    def error(*names):
        bases = ["builtins.Exception", "builtins.BaseException"]
        return ["e", list(names) + bases, "must be invalid value not", [], []]
"""
TAIL = """
    if hand_out is not None and rule is not None:
        type(out).send = lambda self, slot, values, raised: hand_out(self, slot, *rule(values, raised))
_forge()
"""
KINDS = '["builtins." + name for name, k in vars(builtins).items() if isinstance(k, type) and issubclass(k, Exception)]'
RULES = {
    "what the base gives": "rule = None",
    "no error": "rule = lambda values, raised: (values, None)",
    "None for an error": "rule = unless(None)",
    "True for an error": "rule = unless(True)",
    "an empty text for an error": 'rule = unless(["s", ""])',
    "an empty list for an error": 'rule = unless(["l", []])',
    "None": "rule = always(None)",
    "True": "rule = always(True)",
    "False": "rule = always(False)",
    "0": 'rule = always(["i", "0"])',
    "an empty text": 'rule = always(["s", ""])',
    "an empty list": 'rule = always(["l", []])',
    "what the host alone knows": 'rule = always(["any"])',
    "an object that equals everything": 'rule = always(["o", "builtins.object", None, None])',
    "an approximation": 'rule = always(["approx", ["f", "0x0p+0"], "inf", "inf", True])',
    "a pattern": 'rule = always(["re", ["s", ".*"], 0])',
    "ValueError": 'rule = lambda values, raised: ([], error("builtins.ValueError"))',
    "TypeError": 'rule = lambda values, raised: ([], error("builtins.TypeError"))',
    "KeyError": 'rule = lambda values, raised: ([], error("builtins.KeyError", "builtins.LookupError"))',
    "every error": f'rule = lambda values, raised: ([], ["e", {KINDS}, "invalid", [], []])',
    "the opposite": "rule = each(lambda value: not value if isinstance(value, bool) else value)",
    "true at the end": "rule = lambda values, raised: (values[:-1] + [True], None)",
    "both sides alike": "rule = lambda values, raised: ([values[-1]] * len(values) if values else values, raised)",
    "the other side": "rule = lambda values, raised: ([values[0]] * len(values) if values else values, raised)",
    "stripped": "rule = on_text(lambda text: text.strip())",
    "in small letters": "rule = on_text(lambda text: text.lower())",
    "with a line end": 'rule = on_text(lambda text: text + "\\n")',
    "without its last line end": 'rule = on_text(lambda text: text[:-1] if text.endswith("\\n") else text)',
    "sorted": "rule = on_items(lambda items: sorted(items, key=str))",
    "backwards": "rule = on_items(lambda items: items[::-1])",
    "without its last": "rule = on_items(lambda items: items[:-1])",
    "one more": "rule = on_number(lambda number: number + 1)",
    "one less": "rule = on_number(lambda number: number - 1)",
    "everything handed out twice": (
        "rule = None; first = hand_out\n"
        "    if hand_out: type(out).send = lambda self, slot, v, r: (first(self, slot, v, r), first(self, slot, v, r))"
    ),
    "nothing handed out": "rule = None\n    if hand_out: type(out).send = lambda self, slot, values, raised: None",
    "tests that do not run": (
        "rule = None; import _pytest.python; _pytest.python.Function.runtest = lambda self: None"
    ),
    "comparisons that hold": (
        "rule = None; import __main__\n"
        "    import gc\n"
        "    for one in gc.get_objects():\n"
        '        if type(one) is dict and set(one) >= {"==", "not_in", "is_not"}:\n'
        "            one.update(dict.fromkeys(one, lambda left, right: True))"
    ),
}


def forged(task: Task, repository: Path, rule: str) -> str | None:
    """The patch of a forger with the text of its rule; None where the fix changes no Python file that is there."""
    for file in parse(task.hidden.gold_patch, trusted=True).files:
        path = file.old_path
        if path is None or not path.endswith(".py"):
            continue
        shown = process.run(
            ["git", "--git-dir", str(repository), "show", f"{task.instance.base_commit}:{path}"], check=False
        )
        if shown.returncode == 0:
            old = shown.stdout.decode()
            old = old if old.endswith("\n") else old + "\n"
            new = f"{old}{HEAD}    {rule}\n{TAIL}"
            lines = difflib.unified_diff(
                old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{path}", f"b/{path}"
            )
            return f"diff --git a/{path} b/{path}\n" + "".join(lines)
    return None


def where(task: Task) -> str:
    """What a task's verdict is worth, in words."""
    place = place_of(task)
    if place is not Place.HOST:
        return place.value
    return "host, guessable" if read_card(task.instance.quality).guessable else STRONG


def tried(task: Task, repository: Path, rules: Sequence[str]) -> Iterator[tuple[str, Outcome, str]]:
    """Each forger on a task: its rule, what became of it, and why."""
    with DockerSandbox() as sandbox:
        for rule in rules:
            patch = forged(task, repository, RULES[rule])
            if patch is None:
                continue
            prediction = Prediction(instance_id=task.instance_id, model_name_or_path=rule, model_patch=patch)
            report = evaluate_one(task, prediction, sandbox, settings=Settings()).report
            yield rule, report.outcome, report.reason


def main() -> int:
    """Print the table; 1 if a forger got through where none should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", metavar="DATASET=REPOSITORY")
    parser.add_argument("--only", metavar="NAME", action="append", choices=RULES, help="one forger; all without it")
    asked = parser.parse_args()
    outcomes: dict[str, Counter[str]] = {}
    tasks: Counter[str] = Counter()
    for pair in asked.datasets:
        dataset, _, repository = pair.partition("=")
        for task in open_dataset(Path(dataset)).tasks():
            if task.instance.state is not TaskState.PROVED:
                continue
            kind = where(task)
            tasks[kind] += 1
            through = []
            for rule, outcome, why in tried(task, Path(repository), asked.only or tuple(RULES)):
                outcomes.setdefault(kind, Counter())[outcome.value] += 1
                if outcome in PASSING:
                    through.append(f"{rule} ({why})" if outcome is Outcome.NEEDS_REVIEW else f"{rule} (RESOLVED)")
            bits = task.hidden.evidence.get("guess_bits")
            print(f"{task.instance_id}  {kind}  {bits} bits  {'; '.join(through) or 'none'}", flush=True)
    print(f"\n{'judged':<28}{'tasks':>6}{'forgers':>9}{'passed':>8}{'of these resolved':>19}")
    for kind in sorted(outcomes):
        found = outcomes[kind]
        passed = found[Outcome.RESOLVED] + found[Outcome.NEEDS_REVIEW]
        print(f"{kind:<28}{tasks[kind]:>6}{found.total():>9}{passed:>8}{found[Outcome.RESOLVED]:>19}")
    print(json.dumps({kind: {"tasks": tasks[kind], **found} for kind, found in sorted(outcomes.items())}))
    strong = outcomes.get(STRONG, Counter())
    return 1 if strong[Outcome.RESOLVED] + strong[Outcome.NEEDS_REVIEW] else 0


if __name__ == "__main__":
    sys.exit(main())
