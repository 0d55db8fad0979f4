"""How many bits an expectation has that also stands in a file of the base that no patch touches."""

from __future__ import annotations

import itertools
import math
import random
import re
from dataclasses import replace

import pytest

from harness.core.expectations import Expectations, Expected, ExpectedTest, Site
from harness.judging import judge, values
from harness.judging.values import Event
from miner.languages.base import Guess, KnownText, RecordedTests
from miner.languages.go.stripping import literals as go
from miner.languages.guessing.guess import guess
from miner.languages.java.stripping import literals as java
from miner.languages.javascript.stripping import literals as javascript
from miner.languages.python.stripping.literals import READING
from miner.languages.rust.stripping import literals as rust
from miner.stripping import task as stripping
from tests import tiny
from tests.values_of_tests import encode

TEST = "t.py::test_a"
SOURCE = "def test_a():\n    with __goldseam__(0) as site:\n        site(f('Some Title', 7))\n"
WORDS = ["".join(parts) for parts in itertools.product("bdfghk", ("ra", "li", "mo"), ("net", "sup", "vik"))]


def prose(seed: int, lines: int = 40) -> str:
    """Text of made-up words, each of which is in many files."""
    chance = random.Random(seed)
    return "\n".join(" ".join(chance.choices(WORDS, k=9)) for _ in range(lines))


def a_tree(**more: str) -> dict[str, bytes]:
    files = {f"docs/page{number}.md": prose(number) for number in range(40)}
    return {path: text.encode() for path, text in {**files, **more}.items()}


def guessed(*wanted: object, tree: dict[str, bytes], base: object = None, source: str = SOURCE) -> Guess:
    """The guess of what one assertion wants, one time after the other."""
    site = Site(op="==", sides=("out", "kept"))
    events, before = [], []
    for n, value in enumerate(wanted):
        event = Event(test_id=TEST, slot=0, n=n, values=(encode(value),))
        events.append(judge.of_fix(event, [encode(value)], {}))
        before += [Event(test_id=TEST, slot=0, n=n, values=(encode(base),))] if base is not None else []
    tests = {TEST: ExpectedTest(place="host", events=tuple(events))}
    expectations = Expectations(files={"t.py": source}, sites={0: site}, tests=tests)
    return guess(expectations, before, [TEST], KnownText(words="", tree=tree), READING)


SENTENCE = "quite another sentence, which nobody has ever heard of before"
STANDS = {
    "a line": f"first\n   {SENTENCE}\nlast",
    "what is in quotes": f'say("{SENTENCE}")',
    "a part of a line": f"It says {SENTENCE}, and more.",
    "a whole file": SENTENCE,
}


@pytest.mark.parametrize("place", STANDS)
def test_a_text_that_stands_in_the_tree_costs_no_more_than_to_pick_it_there(place):
    alone = guessed(SENTENCE, tree={}).bits
    bits = guessed(SENTENCE, tree=a_tree(**{"README.md": STANDS[place]})).bits
    assert 5 < bits < 26 < alone


@pytest.mark.parametrize(
    "value",
    [
        48171923,
        7341.625,
        b"quite another sentence of it",
        ["quite another", "sentence of it", 73914],
        "two lines of it\nand the quite other one",
    ],
)
def test_other_values_that_stand_in_the_tree_cost_no_more_either(value):
    written = value.decode() if isinstance(value, bytes) else value if isinstance(value, str) else repr(value)
    alone, there = (guessed(value, tree=a_tree(**more)).bits for more in ({}, {"data/table.txt": f"x\n{written}\ny\n"}))
    assert there < alone


@pytest.mark.parametrize(
    "content", [b"\n\nSome Title\n\n", b"\n", b" ", b"'", b"\xff\xfe Some Title", b"'\\N{' 7 Some\n\n\n"]
)
def test_a_file_of_any_form_is_looked_through(content):
    tree = {**a_tree(), "odd.txt": content}
    assert guessed("Some Title, and more", tree=tree, base="Some Title").bits < 128


def test_short_values_cost_what_they_did():
    tree = a_tree(**{"README.md": "b1 d2 7 True None"})
    assert guessed("b1", tree=tree).bits == guessed("b1", tree={}).bits
    assert guessed(7, tree=tree).bits == guessed(7, tree={}).bits


def test_what_stands_in_one_file_costs_its_choice_once():
    texts = [f"{word} is {other} and nobody says why" for word, other in zip(WORDS[:12], WORDS[40:52], strict=True)]
    shuffled = random.Random(3).sample(texts, len(texts))
    together = guessed(*texts[:6], tree=a_tree(**{"data/words.txt": "\n".join(shuffled)})).bits
    apart = guessed(*texts[:6], tree=a_tree(**{f"data/{n}.txt": f"{text}\n{n}" for n, text in enumerate(texts)})).bits
    assert together < apart
    in_order = guessed(*texts[:6], tree=a_tree(**{"data/words.txt": "\n".join(texts)})).bits
    assert in_order < together


def test_a_file_that_the_tests_name_is_picked_first():
    source = SOURCE.replace("Some Title", "invoices.md")
    tree = a_tree(**{"data/invoices.html": f"{SENTENCE}\n{prose(77)}"})
    wanted = tree["data/invoices.html"].decode()
    assert guessed(wanted, tree=tree, source=source).bits + 3 < guessed(wanted, tree=tree).bits


@pytest.mark.parametrize(
    "text",
    [
        f">>> f('Some Title', 7)\n'{SENTENCE}'\n",
        f"f('Some Title', 7) gives `{SENTENCE}`\n",
        f"f('Some Title', 7)  # -> {SENTENCE}\n",
        f"f('Some Title', 7)\n{SENTENCE}\n",
        f"assert f('Some Title', 7) == '{SENTENCE}'\n",
    ],
)
def test_what_the_tree_has_beside_the_same_call_is_one_try(text):
    readme = f"{prose(5)}\n\n{text}\n{prose(6)}\n"
    found = guessed(SENTENCE, tree=a_tree(**{"README.md": readme, "other.py": "f('Some', 8)\nx = 'Title'\n"}))
    assert found.bits < 8
    assert "of the tree has beside what is written there" in found.rule


def test_what_the_tree_has_nearest_to_what_the_base_gives_is_one_try():
    near = SENTENCE.replace("quite ", "")
    found = guessed(
        SENTENCE, tree=a_tree(**{"locale/en.txt": f"{prose(5)}\n{SENTENCE}\n{prose(6)}"}), base=f"({near}!)"
    )
    assert found.bits < 8


ANYTHING = re.compile(r"\w+")


def guessers(tree: dict[str, bytes], value: str) -> dict[str, float]:
    """How likely those who draw on the tree get a value with one try."""
    texts = {path: content.decode() for path, content in tree.items()}
    pieces = {path: {*map(str.strip, text.splitlines()), *ANYTHING.findall(text)} for path, text in texts.items()}
    places = [word for text in texts.values() for word in text.split()]
    return {
        "one of all pieces": 1 / len(set().union(*pieces.values())),
        "a file, then a piece of it": sum((value in some) / len(some) for some in pieces.values()) / len(pieces),
        "a line of all lines": sum(text.splitlines().count(value) for text in texts.values())
        / sum(len(text.splitlines()) for text in texts.values()),
        "a word anywhere": places.count(value) / len(places),
        "a whole file": sum(text.strip() == value for text in texts.values()) / len(texts),
    }


def test_who_draws_on_the_tree_gets_through_no_more_often_than_the_bits_say():
    told = "\n".join(f"{SENTENCE}, {number}" for number in range(30))
    tree = a_tree(**{"README.md": told, "LICENSE": SENTENCE, "a/b.txt": f"{SENTENCE}\nzanzibarian\n"})
    lines = [line for path in ("README.md", "docs/page3.md") for line in tree[path].decode().splitlines()[:4]]
    strong = 0
    for value in (*lines, SENTENCE, "zanzibarian"):
        bits = guessed(value, tree=tree).bits
        strong += bits >= 8
        for name, chance in guessers(tree, value).items():
            assert chance <= 2.0**-bits * 1.1 or bits < 8, (name, value, bits, math.log2(1 / chance))
    assert strong > 6


OTHERS = {
    "go.==": go.READING,
    "java.equals": java.READING,
    "js.===": javascript.READING,
    "rust.==": rust.READING,
}


@pytest.mark.parametrize("op", OTHERS)
def test_the_tree_is_looked_through_for_every_language(op):
    reading = OTHERS[op]
    kept = (reading.encode(SENTENCE),)
    tests = {"t::f": ExpectedTest(place="host", events=(Expected(slot=0, kept=kept, size=values.size(kept[0])),))}
    expectations = Expectations(sites={0: Site(op=op, sides=("out", "kept"))}, tests=tests)
    known = KnownText(words="", tree=a_tree(**{"README.md": f'say("{SENTENCE}")'}))
    alone = guess(expectations, [], ["t::f"], KnownText(words=""), reading).bits
    assert guess(expectations, [], ["t::f"], known, reading).bits < 26 < alone


MOVED = b"""\
diff --git a/old.txt b/new.txt
similarity index 60%
rename from old.txt
rename to new.txt
--- a/old.txt
+++ b/new.txt
@@ -2 +2 @@
-a line
+another line
"""


def test_the_tree_of_a_task_is_what_its_patches_leave_alone_as_far_as_it_is_text():
    task = tiny.task()
    task = replace(task, hidden=replace(task.hidden, test_patch=MOVED))
    gold = {path for path in stripping.changed_paths(task) if path != "old.txt"}
    files = {
        "old.txt": b"a",
        "new.txt": b"b",
        "kept.md": b"c",
        "data.bin": b"\0d",
        "empty": b"",
        **dict.fromkeys(gold, b"e"),
    }
    assert gold
    assert stripping.unpatched(task, files.items()) == {"kept.md": b"c"}


def test_a_task_has_fewer_bits_where_its_tree_has_what_is_expected():
    wanted = Event(test_id=TEST, slot=0, values=(encode(SENTENCE),))
    tests = {TEST: ExpectedTest(place="host", events=(judge.of_fix(wanted, [wanted.values[0]], {}),))}
    sites = {0: Site(op="==", sides=("out", "kept"))}
    recorded = RecordedTests(expectations=Expectations(files={"t.py": SOURCE}, sites=sites, tests=tests))
    task = tiny.task()
    task = replace(task, hidden=replace(task.hidden, fail_to_pass=(TEST,)))
    alone, there = (
        stripping.guess(task, recorded, {}, {"t.py": SOURCE}, a_tree(**more)).bits for more in ({}, {"x.md": SENTENCE})
    )
    assert there < 26 < alone
