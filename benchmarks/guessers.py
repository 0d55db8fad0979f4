"""How often guessers get through, against the bits that their tasks are said to have.

    python benchmarks/guessers.py DATASET=REPOSITORY …

A guesser knows all of the source, the stripped tests, what the base hands out in them and which assertions tell the fix
from the base; what these want it does not know, and it has one try. It draws on the statement, the call, what the base
gives and the lines of the base. It makes the values of all these assertions by one idea for each form that can be seen,
and leaves the others as they are; the host decides whether they hold. For each task one is run
as a patch, with its values as a table and every report of a test forged: the first that gets through, or the one that
makes most assertions hold. REPOSITORY is the git directory that DATASET was mined from. Printed is, by bits: how many
tries got through, how many tasks some guesser resolves, and how many the bits let expect. The last line is one JSON
object; exit code 1 if a patch passed on a task that is judged on the host and has 8 bits or more.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import json
import random
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import forgers
from harness.core import process
from harness.core.instance import PASSING, Prediction, TaskState
from harness.dataset.folder import open_dataset
from harness.grading import scoring
from harness.judging import judge, places
from harness.judging.values import Event, MalformedError, decode, names_of
from harness.runs.evaluate import Settings, evaluate_one
from harness.sandbox.docker import DockerSandbox
from miner.languages.python.stripping.literals import READING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from harness.core.expectations import Expected, Site
    from harness.core.instance import Task

CLASSES = {"under 8 bits": 8.0, "8 to 16 bits": 16.0, "16 bits and more": float("inf")}


@dataclass(frozen=True, kw_only=True)
class Need:
    """An assertion that tells the fix from the base, as a guesser sees it."""

    inside: str
    """The id of its test in the container."""
    site: Site
    expected: Expected
    base: Event | None
    given: Any
    """What the base hands out, as Python's; None where that is nothing."""
    written: tuple[Any, ...]
    """What is written out in its call, and then in its test."""
    others: tuple[Any, ...]
    """What the base hands out elsewhere in the test, nearest first."""
    statement: str
    tree: tuple[str, ...]
    """The lines of the base, of all its texts."""


def _texts(need: Need) -> list[str]:
    return [value for value in need.written if isinstance(value, str)]


def _numbers(need: Need) -> list[int]:
    return [value for value in need.written if type(value) is int]


def _alike(need: Need) -> list[str]:
    """Pieces of what is written that look like what the base gives."""
    form = re.sub(r"\d+|[a-z]+", lambda found: r"\d+" if found[0].isdigit() else "[a-z]+", re.escape(need.given))
    return [piece for text in _texts(need) for piece in re.findall(form, text) if piece != need.given]


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


@cache
def _rarity(tree: tuple[str, ...]) -> Counter[str]:
    return Counter(word for line in tree for word in _words(line))


def _nearest(need: Need) -> str:
    """The line of the tree that has most of the words of what the base gives, rare ones before others."""
    given, rarity = _words(need.given), _rarity(need.tree)
    return max(need.tree, key=lambda line: sum(1 / rarity[word] for word in _words(line) & given))


def _behind(need: Need) -> str:
    """What the tree has behind the first text of the call: in quotes in that line, or the next line."""
    place = next(place for place, line in enumerate(need.tree) if _texts(need)[0] in line)
    rest = need.tree[place].partition(_texts(need)[0])[2]
    quoted = re.findall(r"\"([^\"]+)\"|'([^']+)'|`([^`]+)`", rest[1:])
    return max(quoted[0]) if quoted else need.tree[place + 1]


VALUES: Mapping[str, Callable[[Need], Any]] = {
    **{f"always {value!r}": lambda _, value=value: value for value in (None, True, False, 0, 1, 2, "", [], {}, ())},  # type: ignore[misc, var-annotated]
    "the opposite": lambda need: not need.given,
    "the base's, and one": lambda need: need.given + 1,
    "the base's, less one": lambda need: need.given - 1,
    "the base's, stripped": lambda need: need.given.strip(),
    "the base's, in small letters": lambda need: need.given.lower(),
    "the base's, with a line end": lambda need: need.given + "\n",
    "the base's, of HTML": lambda need: html.unescape(need.given),
    "the base's, as HTML": lambda need: html.escape(need.given),
    "the base's, with two blanks as one": lambda need: re.sub(r"\s+", " ", need.given),
    "the base's, a blank behind commas": lambda need: re.sub(r",(?=\S)", ", ", need.given),
    "the base's, sorted": lambda need: sorted(need.given),
    "the base's, backwards": lambda need: need.given[::-1],
    "the base's, without its last": lambda need: need.given[:-1],
    "the base's, without its first": lambda need: need.given[1:],
    "the base's first": lambda need: need.given[0],
    "the base's, in a list": lambda need: [need.given],
    "the base's, as text": lambda need: str(need.given),
    "the base's, as bytes": lambda need: need.given.encode(),
    "the first that is written": lambda need: need.written[0],
    "the second": lambda need: need.written[1],
    "the last": lambda need: need.written[-1],
    "the first text": lambda need: _texts(need)[0],
    "the first text, in small letters": lambda need: _texts(need)[0].lower(),
    "the first text, stripped": lambda need: _texts(need)[0].strip(),
    "the first text, as bytes": lambda need: _texts(need)[0].encode(),
    "the last text": lambda need: _texts(need)[-1],
    "all texts in one": lambda need: "".join(_texts(need)),
    "the longest text": lambda need: max(_texts(need), key=len),
    "the first number": lambda need: _numbers(need)[0],
    "the sum of numbers": lambda need: sum(_numbers(need)),
    "how many texts": lambda need: len(_texts(need)),
    "the first piece that looks like the base's": lambda need: _alike(need)[0],
    "the last piece that looks like the base's": lambda need: _alike(need)[-1],
    "the largest piece that looks like the base's": lambda need: max(_alike(need)),
    "what the base gives beside it": lambda need: need.others[0],
    "what the base gives most often": lambda need: Counter(need.others).most_common(1)[0][0],
    "what the statement quotes first": lambda need: re.findall(r"[`'\"]([^`'\"]+)[`'\"]", need.statement)[0],
    "the statement's first line": lambda need: need.statement.splitlines()[0],
    "the statement": lambda need: need.statement,
    "the nearest line of the tree": _nearest,
    "what the tree has behind the first text": _behind,
    "a line of the tree by dice": lambda need: random.Random(need.expected.slot).choice(need.tree),
}
ERRORS = (ValueError, TypeError, KeyError, AttributeError, RuntimeError, NotImplementedError, ImportError)
TABLE = """rule = None
    import json
    table, seen = json.loads({table!r}), set()
    def missing(test):
        for key, (values, raised) in table.get(test, {{}}).items():
            if (test, key) not in seen:
                seen.add((test, key))
                slot, _, n = key.partition(".")
                send("value", id=test, slot=int(slot), n=int(n), values=values, raised=raised)
    def handed(self, slot, values, raised):
        key = "%d.%d" % (slot, self.counts.get((self.current[0], slot), 0))
        seen.add((self.current[0], key))
        hand_out(self, slot, *table.get(self.current[0], {{}}).get(key, (values, raised)))
    reported = set()
    def told(kind, **fields):
        if kind == "report":
            if fields["when"] == "call":
                missing(fields["id"])
            reported.add(fields["id"])
        if kind == "finish":
            for test in sorted(set(table) - reported):
                send("collected", ids=[test])
                missing(test)
                for when in ("setup", "call", "teardown"):
                    send("report", id=test, when=when, outcome="passed", xfail=False, seconds=0.0, text="", raised=[])
        passed(kind, **fields)
    out.frames.send = told
    if hand_out:
        type(out).send = handed"""
"""What a forger's patch does with its table, by test and by slot and time."""


@dataclass(kw_only=True)
class Seen:
    """What became of the tasks of one class."""

    tasks: int = 0
    tries: int = 0
    through: int = 0
    tasks_through: int = 0
    expected: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)


def needs_of(task: Task, sandbox: DockerSandbox, tree: tuple[str, ...]) -> Iterator[Need]:
    """The assertions of FAIL_TO_PASS that do not hold without a patch."""
    expectations, listed = task.hidden.expectations, task.hidden.fail_to_pass
    events = scoring.score(task, None, sandbox, scoring.Demands()).round.trial.report.events
    by_key = {(expectations.ids.get(event.test_id, event.test_id), event.slot, event.n): event for event in events}
    inside = {old: new for new, old in expectations.ids.items()}
    slots: dict[int, tuple[Any, ...]] = {}
    for path, source in expectations.files.items():
        slots.update(READING.handed(path, source)[0])
    for test_id in (test_id for test_id in listed if test_id in expectations.tests):
        test = expectations.tests[test_id].events
        given = [_given(by_key.get((test_id, each.slot, each.n))) for each in test]
        for place, expected in enumerate(test):
            site, base = expectations.sites[expected.slot], by_key.get((test_id, expected.slot, expected.n))
            if not judge.event_holds(site, expected, base):
                others = sorted(range(len(given)), key=lambda other, place=place: abs(other - place))[1:]  # type: ignore[misc]
                yield Need(
                    inside=inside.get(test_id, test_id),
                    site=site,
                    expected=expected,
                    base=base,
                    given=given[place],
                    written=slots.get(expected.slot, ()),
                    others=tuple(given[other] for other in others if given[other] is not None),
                    statement=task.instance.problem_statement,
                    tree=tree,
                )


def lines_of(repository: Path, commit: str) -> tuple[str, ...]:
    """The different lines of all texts of a commit."""
    words = ["git", "--git-dir", str(repository), "grep", "-I", "-h", "-e", "", commit]
    lines = process.run(words, check=False).stdout.decode("utf-8", "replace").splitlines()
    return tuple(dict.fromkeys(map(str.strip, lines)))


def _given(event: Event | None) -> Any:
    with contextlib.suppress(MalformedError):
        return decode(event.values[0]) if event is not None and len(event.values) == 1 else None
    return None


def guess(need: Need, value: Callable[[Need], Any], error: type[Exception] | None) -> Event:
    """What a guesser hands out; where the test waits for an error, that one, saying the statement."""
    values: tuple[Any, ...] = ()
    raised = None
    if need.site.op == "raises":
        text = need.statement[: 2 * need.expected.size]
        raised = ["e", list(names_of(error)), text, [], []] if error else None
    elif need.site.decides == "result":
        count = need.site.sides.count("out")
        values = (*((need.base.values if need.base else ()) + (["s", ""],) * count)[:count], True)
    else:
        made = ["l", []] if need.site.op == "warns" else READING.encode(value(need))
        values = (made,) * need.site.sides.count("out")
    n = need.expected.n
    return Event(test_id=need.inside, slot=need.expected.slot, n=n, values=values, raised=raised)


def form(need: Need) -> tuple[object, ...]:
    """What can be seen of an assertion while the tests run: for each form a guesser may have another idea."""
    event = need.base
    return need.site.op == "raises", event is None, event is not None and event.raised is not None, type(need.given)


def ideas(needs: list[Need]) -> Iterator[tuple[str, list[Event | None]]]:
    """All that one idea makes of assertions of one form."""
    if all(need.site.op == "raises" for need in needs):
        for error in (None, *ERRORS):
            yield str(error), [guess(need, bool, error) for need in needs]
        return
    for name, value in VALUES.items():
        events: list[Event | None] = []
        for need in needs:
            try:
                events.append(guess(need, value, None))
            except Exception:  # noqa: BLE001 - a value that an idea is not for
                events.append(need.base)
        yield name, events


def tried(task: Task, repository: Path, sandbox: DockerSandbox, seen: Seen) -> str:
    """Try all guessers on a task, and one of them as a patch: in words, what became of it."""
    forms: dict[tuple[object, ...], list[Need]] = {}
    for need in needs_of(task, sandbox, lines_of(repository, task.instance.base_commit)):
        forms.setdefault(form(need), []).append(need)
    count = through = 1
    best_events: list[Event | None] = []
    names: list[str] = []
    for needs in forms.values():
        found = []
        for name, events in ideas(needs):
            pairs = zip(needs, events, strict=True)
            held = sum(judge.event_holds(need.site, need.expected, event) for need, event in pairs)
            found.append((held, name, events))
        count *= len(found)
        through *= sum(held == len(needs) for held, _, _ in found)
        held, name, events = max(found, key=lambda one: one[0])
        best_events += events
        names.append(f"{held} of {len(needs)} by {name!r}")
    table: dict[str, dict[str, Any]] = {}
    for event in filter(None, best_events):
        table.setdefault(event.test_id, {})[f"{event.slot}.{event.n}"] = [list(event.values), event.raised]
    patch = forgers.forged(task, repository, TABLE.format(table=json.dumps(table)))
    outcome = "no patch"
    if patch is not None:
        prediction = Prediction(instance_id=task.instance_id, model_name_or_path="guesser", model_patch=patch)
        outcome = evaluate_one(task, prediction, sandbox, settings=Settings()).report.outcome.value
    bits = float(task.hidden.evidence.get("guess_bits") or 0)
    seen.tasks += 1
    seen.tries += count
    seen.through += through
    seen.tasks_through += through > 0
    seen.expected += min(1.0, count * 2.0**-bits)
    seen.outcomes[outcome] += 1
    return f"{', '.join(names)}; {through} of {count} through; as a patch: {outcome}"


def main() -> int:
    """Print the table; 1 if a guesser got through where none should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", metavar="DATASET=REPOSITORY")
    classes: dict[str, Seen] = {}
    for pair in parser.parse_args().datasets:
        dataset, _, repository = pair.partition("=")
        with DockerSandbox() as sandbox:
            for task in open_dataset(Path(dataset)).tasks():
                place = places.place_of(task)
                if task.instance.state is not TaskState.PROVED:
                    continue
                bits = float(task.hidden.evidence.get("guess_bits") or 0)
                is_host = place is places.Place.HOST
                kind = next(name for name, most in CLASSES.items() if bits < most) if is_host else place.value
                told = tried(task, Path(repository), sandbox, classes.setdefault(kind, Seen()))
                print(f"{task.instance_id}  {kind}  {bits} bits  {told}", flush=True)
    print(f"\n{'on the host':<20}{'tasks':>6}{'tries':>7}{'through':>9}{'tasks so':>10}{'expected':>10}  as patches")
    for kind, seen in classes.items():
        outcomes = ", ".join(f"{count} {name}" for name, count in seen.outcomes.most_common())
        print(
            f"{kind:<20}{seen.tasks:>6}{seen.tries:>7}{seen.through:>9}{seen.tasks_through:>10}{seen.expected:>10.1f}"
            f"  {outcomes}"
        )
    print(json.dumps({kind: {**vars(seen), "expected": round(seen.expected, 2)} for kind, seen in classes.items()}))
    passing = {outcome.value for outcome in PASSING}
    strong = (classes.get(kind, Seen()) for kind in list(CLASSES)[1:])
    return int(any(passing & set(seen.outcomes) for seen in strong))


if __name__ == "__main__":
    sys.exit(main())
