"""How many bits stand between a forger and a pass."""

from __future__ import annotations

import hashlib
import tracemalloc
import zlib
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import PurePosixPath

import pytest

from harness.core.expectations import Expectations, Expected, ExpectedTest, Site
from harness.judging import judge, values
from harness.judging.values import Event
from miner.languages.base import KnownText, RecordedTests, WrittenForm
from miner.languages.go.stripping import literals as go
from miner.languages.guessing.guess import guess
from miner.languages.guessing.needed import Needed
from miner.languages.java.stripping import literals as java
from miner.languages.javascript.stripping import literals as javascript
from miner.languages.python.stripping.literals import READING
from miner.languages.rust.stripping import literals as rust
from miner.stripping import task as stripping
from tests import tiny
from tests.values_of_tests import LEAVES, encode

TEST = "t.py::test_a"
EQUAL = Site(op="==", sides=("out", "kept"))
SOURCE = "def test_a():\n    with __goldseam__(0) as site:\n        site(f('Some Title', 7))\n"


def event(*values, slot=0, n=0, raised=None) -> Event:
    return Event(test_id=TEST, slot=slot, n=n, values=tuple(map(encode, values)), raised=raised)


def guessed(pairs, *, site=EQUAL, known="", base=(), old=(), tests=(), beside=(), source=SOURCE, kept=None):
    """The guess where each pair is what the base hands out, None for nothing, and what the fix does."""
    events = [
        judge.of_fix(event(fix, n=n), [encode(fix if kept is None else kept)], {}) for n, (_, fix) in enumerate(pairs)
    ]
    before = [event(base, n=n) for n, (base, _) in enumerate(pairs) if base is not None]
    expectations = Expectations(
        files={"t.py": source}, sites={0: site}, tests={TEST: ExpectedTest(place="host", events=tuple(events))}
    )
    text = KnownText(
        words=known, changed=tuple(base), old_tests=tuple(old), tests=tuple(tests), beside_tests=tuple(beside)
    )
    return guess(expectations, before, [TEST], text, READING)


RED = ["o", "m.Color", None, [["s", "VERY_PECULIAR_KIND_OF_RED"]]]


def point(**fields):
    return ["o", "m.Point", [[name, encode(value)] for name, value in fields.items()], []]


def guessed_of_record(*wanted, base=None, written=None):
    """The guess of objects that are told by their fields or their names, where the base hands out another."""
    expected = tuple(
        judge.of_fix(Event(test_id=TEST, slot=0, n=n, values=(value,)), [value], {}) for n, value in enumerate(wanted)
    )
    before = [Event(test_id=TEST, slot=0, values=(base,))] if base is not None else []
    tests = {TEST: ExpectedTest(place="host", events=expected)}
    expectations = Expectations(files={"t.py": SOURCE}, sites={0: EQUAL}, tests=tests)
    return guess(expectations, before, [TEST], KnownText(words="", changed=()), READING, written)


def test_a_constant_is_one_of_few_and_an_object_has_the_bits_of_its_fields():
    whole = point(x="quite another sentence", y=None, z=None)
    assert guessed_of_record(RED).bits < 8
    assert guessed_of_record(point(x="a", y=None)).bits == guessed_of_record(point(x="a", y=None, z=None, w=None)).bits
    assert guessed_of_record(whole).bits > 30
    assert guessed_of_record(whole, base=point(x="quite another sentence", y=True, z=None)).bits < 8


def test_constants_of_one_class_may_all_come_of_one_call_of_it():
    constants = [["o", "m.Color", None, [["s", name]]] for name in ("RED", "BLUE", "GREEN", "GREY", "PINK")]
    assert guessed_of_record(*constants).bits < 8
    assert guessed_of_record(["l", constants]).bits < 8


def test_fields_that_pass_on_what_is_in_a_call_are_one_look():
    assert guessed_of_record(point(x="Some Title", y=7, z="Title", w="Some")).bits < 8
    assert guessed_of_record(point(x="Some Title", y="quite another sentence")).bits > 30


def test_what_a_test_has_in_place_of_a_value_need_not_be_spelled():
    sentence = ["s", "quite another sentence of it"]
    assert guessed_of_record(sentence).bits > 40
    assert guessed_of_record(sentence, written={0: WrittenForm(steps=1)}).bits < 8
    assert guessed_of_record(sentence, written={0: WrittenForm(steps=1, literals=("Title",))}).bits < 16
    numbers = [["s", str(number)] for number in range(10)]
    assert guessed_of_record(*numbers).bits > 16
    assert guessed_of_record(*numbers, written={0: WrittenForm(steps=2)}).bits < 8, "one expression gives all"
    rows = ((WrittenForm(literals=("quite another one",)), WrittenForm(literals=(7,))),)
    assert guessed_of_record(sentence, written={0: WrittenForm(columns=rows)}).bits < 8
    other = ["s", "and one that nobody has ever heard"]
    assert guessed_of_record(sentence, other, written={0: WrittenForm(steps=1)}).bits < 8, "names are one look"


@pytest.mark.parametrize(
    "call",
    [
        "f('LONG', 30_000)",
        "f('{:{}}', 100_000_000)",
        "f('LONG', 'LONG')",
        "f('a', -9007199254740992)",
        "f(5, -100000000)",
    ],
)
def test_long_values_are_not_combined(call):
    written = call.replace("LONG", "a" * 15_000, 1).replace("LONG", "b" * 15_000)
    source = f"def test_a():\n    with __goldseam__(0) as _goldseam_site:\n        _goldseam_site({written})\n"
    tracemalloc.start()
    try:
        guessed([("nothing", "quite another sentence")], source=source)
        assert tracemalloc.get_traced_memory()[1] < 1 << 26
    finally:
        tracemalloc.stop()


def test_what_a_glance_tells_apart_is_unequal_to_the_judge_too():
    leaves = [leaf for leaf in LEAVES if not isinstance(leaf, type)]
    values_out = [*leaves, ["a"], ("a",), {"a": 1}, {"a"}, frozenset("a"), ["a", 1.0], [1.0], [True]]
    for kept in values_out:
        expected = replace(judge.of_fix(event(kept), [encode(kept)], {}), plain=False)
        need = Needed(test_id=TEST, site=EQUAL, expected=expected, before=None, literals=(), reading=READING)
        for value in values_out:
            assert need.holds(event(value)) == judge.event_holds(EQUAL, expected, event(value)), (kept, value)


def test_a_text_that_looks_like_a_set_of_sets_is_a_text():
    assert guessed([("nothing", "quite another sentence")], known="it is `{{1}}`").bits > 8


def test_the_file_of_a_test_is_no_secret():
    assert guessed([("nothing", "/testbed/t.py")]).bits < 8


def test_a_long_text_that_is_nowhere_is_hard_to_guess():
    assert guessed([("nothing", "quite another sentence of it")]).bits > 40


def test_words_that_anybody_can_read_are_easier():
    hidden = guessed([("nothing", "quite another sentence")]).bits
    assert guessed([("nothing", "quite another sentence")], known="another sentence is quite it").bits < hidden / 2


def test_what_is_near_to_what_the_base_gives_is_easier():
    far = guessed([("x", "a long line of words, and more")]).bits
    assert guessed([("a long line of words and more", "a long line of words, and more")]).bits < far / 3


def test_one_value_counts_once_however_often_it_is_asked_for():
    once = guessed([("nothing", "quite another sentence")])
    assert guessed([("nothing", "quite another sentence")] * 10) == once


def test_values_that_differ_add_up():
    one, other = guessed([("a", "sesquipedalian")]).bits, guessed([("a", "xylophone")]).bits
    assert guessed([("a", "sesquipedalian"), ("a", "xylophone")]).bits == one + other


def test_what_the_base_hands_out_already_needs_no_guess():
    assert guessed([("sesquipedalian", "sesquipedalian")]).bits == 0


RULES = {
    "what the base gives, stripped": [("  much ado about nothing ", "much ado about nothing")],
    "what the base gives, backwards": [([3, 500, 77, 12, 9000], [9000, 12, 77, 500, 3])],
    "what the base gives, sorted": [([3, 500, 77, 12, 9000], [3, 12, 77, 500, 9000]), ([80, 9], [9, 80])],
    "what the base gives, each once": [(list("xylophonexylophone"), list("xylophne"))],
    "what the base gives, its last part": [("/some/path/filename.ext", "filename.ext")],
    "what is written in its call, number 0": [(None, "Some Title")],
    "what is written, in small letters": [(None, "some title")],
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_gets_through_takes_all_but_the_bits_of_choosing_it(rule):
    found = guessed(RULES[rule])
    assert found.rule == rule
    assert found.bits < 8


def test_a_rule_has_to_get_through_everywhere():
    assert guessed([(" much ado ", "much ado"), ("about nothing", "sesquipedalian")]).rule == ""


def test_an_error_of_a_common_class_is_easy_to_guess():
    site = Site(op="raises", sides=("kept",))
    error = ["e", ["builtins.ValueError", "builtins.Exception", "builtins.BaseException"], "no such thing", [], []]
    expected = judge.of_fix(event(raised=error), [encode(ValueError)], {})
    expectations = Expectations(
        files={"t.py": SOURCE}, sites={0: site}, tests={TEST: ExpectedTest(place="host", events=(expected,))}
    )
    found = guess(expectations, [event()], [TEST], KnownText(words=""), READING)
    assert found.rule == "ValueError that says everything"
    assert found.bits <= 3


def test_one_of_two_operands_tells_the_other():
    assert guessed([("a", "sesquipedalian")], site=Site(op="==", sides=("out", "out"), decides="operands")).bits == 0


def test_a_truth_is_one_bit():
    found = guessed([(False, True)], site=Site(op="truth", sides=("out",), decides="operands"))
    assert found.bits <= 1


def test_a_rule_that_does_for_values_of_two_kinds_is_chosen_once():
    text, data = ("  much ado about nothing ", "much ado about nothing"), (b" sesquipedalian ", b"sesquipedalian")
    assert guessed([text, data]) == guessed([text])
    assert guessed([text]).rule == "what the base gives, stripped"


def test_another_rule_may_do_for_what_can_be_told_apart():
    together = guessed([(" much ado ", "much ado"), ([3, 500, 77], [3, 77, 500])])
    assert together.rule == "what the base gives, stripped; what the base gives, sorted"
    assert together.bits < 15


def test_a_whole_float_is_no_harder_than_its_integer():
    assert guessed([("a", 5.0)]).bits == guessed([("a", 5)]).bits


def test_what_is_near_to_something_written_in_the_test_is_easier():
    source = SOURCE.replace("    with", "    line = 'sesquipedalian xylophones'\n    with")
    assert guessed([(None, "sesquipedalian xylophone")], source=source).bits < 15


def test_what_an_example_of_a_doctest_shows_counts_as_the_value_that_it_is():
    def bits(base: str, fix: str) -> float:
        site = Site(op="doctest", sides=("kept", "out"), options={"flags": encode([])})
        kept = judge.of_fix(event((fix, None)), [encode((fix, None))], {})
        expectations = Expectations(
            files={"d.rst": ">>> __goldseam__(0).example('f()', globals())\n"},
            sites={0: site},
            tests={TEST: ExpectedTest(place="host", events=(kept,))},
        )
        return guess(expectations, [event((base, None))], [TEST], KnownText(words=""), READING).bits

    assert bits("False\n", "True\n") < 2
    assert bits("'nothing'\n", "'quite another sentence of it'\n") > 40


IN = Site(op="in", sides=("kept", "out"))


def test_a_text_of_the_base_is_guessed_by_giving_all_of_them():
    given = "Could not include outside of the source: a/b.txt"
    told = "def f(g):\n    return ['Could not find: ' + g, 'Could not include outside of the source']\n"
    hidden = guessed([("nothing", given)], site=IN, kept="Could not include outside of the source")
    found = guessed([("nothing", given)], site=IN, kept="Could not include outside of the source", base=[told])
    assert (hidden.rule, found.rule) == ("", "all texts of the base, in one")
    assert found.bits < 8 < hidden.bits


def test_texts_of_the_base_that_are_too_many_do_not_get_through():
    told = "\n".join(f"f('{number} of very many texts that are in the base')" for number in range(500))
    told += "\nf('sesquipedalian')\n"
    assert guessed([("nothing", "sesquipedalian")], site=IN, kept="sesquipedalian", base=[told]).rule == ""


def test_a_text_of_the_call_is_guessed_by_giving_all_of_them():
    source = "def test_a():\n    with __goldseam__(0) as site:\n        site(f('x', 7, 'some words'))\n"
    found = guessed([(None, "<p>some words</p>")], site=IN, kept="some words", source=source)
    assert found.rule in ("what is written in its call, number 2", "all texts that are written there, in one")


def test_words_of_the_base_are_easier_than_others_and_harder_than_those_of_the_statement():
    pair = [("nothing", "quite another sentence")]
    words = "another sentence is quite it"
    statement, base, none = guessed(pair, known=words), guessed(pair, base=[words]), guessed(pair)
    assert statement.bits < base.bits < none.bits


@pytest.mark.parametrize("value", ["quite another sentence of it", ["quite", "another", 7], {"quite": "another"}])
def test_a_value_that_is_written_elsewhere_in_the_file_takes_no_more_than_choosing_it(value):
    pair = [("nothing", value)]
    shared = f"{SOURCE}\nROWS = [1, {value!r}]\n"
    assert guessed(pair, source=shared).bits < 8 < guessed(pair).bits


def test_values_that_are_written_elsewhere_in_the_file_count_once_however_many_they_are():
    values = [f"quite another sentence, number {number}" for number in range(9)]
    shared = f"{SOURCE}\nROWS = {values!r}\n"
    assert guessed([("nothing", value) for value in values], source=shared).bits < 8


def test_what_a_call_in_the_tests_is_given_counts_as_one_look_where_another_call_is_to_be_given_the_same():
    call = [("nothing", (("quite_another_name.png", "wb"), {"mode": 7}))]
    shared = f"{SOURCE}\n\ndef test_b():\n    opened('quite_another_name.png', 'wb', **{{'mode': 7}})\n"
    assert guessed(call, source=shared).bits < 8 < guessed(call).bits
    assert guessed([("nothing", ("wb", "quite_another_name.png"))], source=shared).bits > 8


def test_a_set_of_what_is_written_in_the_tests_is_one_look():
    pairs = [("nothing", {(-115.11, 37.11), (23.18, -34.29), (3.41, 77.91)})]
    shared = f"{SOURCE}\nLINES = Collection([Point((-115.11, 37.11)), [((23.18, -34.29), (3.41, 77.91))]])\n"
    assert guessed(pairs, source=shared).bits < 8 < guessed(pairs).bits


def test_what_an_old_test_expects_is_chosen_among_its_literals():
    pair = [("nothing", "quite another sentence, with more of its words")]
    old = "def test_b():\n    assert f(2) == 'quite another sentence, with more of its words'\n"
    assert guessed(pair, old=[old]).bits < guessed(pair).bits / 3


SHORT = [("nothing", "b1"), ("nothing", "d2"), ("nothing", "f3"), ("nothing", "h4")]


@pytest.mark.parametrize(
    "table",
    [
        "[('a', 'b1'), ('cc', 'd2'), ('e', 'f3'), ('g', 'h4')]",
        "[{'in': 'a', 'out': told} for told in ()] or [{'out': 'b1'}, {'out': 'd2'}, {'out': 'f3'}, {'out': 'h4'}]",
        "{'a': 'b1', 'cc': 'd2', 'e': 'f3', 'g': 'h4'}",
    ],
)
def test_short_values_that_stand_below_each_other_in_a_table_count_as_one_look(table):
    assert guessed(SHORT, source=f"{SOURCE}\nROWS = {table}\n").bits < 8 < guessed(SHORT).bits


def test_values_that_stand_in_a_table_but_not_below_each_other_are_guessed_one_by_one():
    table = "[('b1', 'a'), ('y', 'd2'), ('f3', 'z'), ('h4', 'u')]"
    assert guessed(SHORT, source=f"{SOURCE}\nROWS = {table}\n").bits > 8


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_of_finite_ones_is_one_of_few(number):
    assert guessed([("a", number)]).bits < 3


def test_an_error_may_say_all_that_is_known():
    site = Site(op="raises", sides=("kept",))
    messages = ("value is not allowed here", "value must be given")
    names = ["builtins.ValueError", "builtins.Exception", "builtins.BaseException"]
    events = []
    for n, message in enumerate(messages):
        match = {"match": encode(message)}
        events.append(judge.of_fix(event(n=n, raised=["e", names, message, [], []]), [encode(ValueError)], match))
    expectations = Expectations(
        files={"t.py": SOURCE}, sites={0: site}, tests={TEST: ExpectedTest(place="host", events=tuple(events))}
    )
    known = KnownText(words=f"It says: {messages[0]}, or {messages[1]}.")
    found = guess(expectations, [event(n=0), event(n=1)], [TEST], known, READING)
    assert found.rule == "ValueError that says the statement"
    assert found.bits < 8


@pytest.mark.parametrize(
    ("message", "known", "guessable"),
    [
        ("no such part in the list of parts", "part list", False),
        ("no such part in the list of parts", "It says no such part in the list of parts, then ends.", True),
        ("part", "", True),
        ("part|any other part in the long list of parts", "", True),
    ],
)
def test_a_message_of_several_words_is_to_have_them_in_order(message, known, guessable):
    names = ["builtins.ValueError", "builtins.Exception", "builtins.BaseException"]
    raised = event(raised=["e", names, message.partition("|")[0], [], []])
    kept = judge.of_fix(raised, [encode(ValueError)], {"match": encode(message)})
    expectations = Expectations(
        files={"t.py": SOURCE},
        sites={0: Site(op="raises", sides=("kept",))},
        tests={TEST: ExpectedTest(place="host", events=(kept,))},
    )
    assert (guess(expectations, [event()], [TEST], KnownText(words=known), READING).bits < 8) is guessable


def test_a_message_that_a_line_of_the_base_makes_costs_that_line_whatever_it_fills_in():
    message = "Entry is outside of the target directory (entry1)"
    lines = [
        'throw new Refused("Entry is outside of the target directory (" + name + ")");',
        "raise Refused(f'Entry is outside of the target directory ({name})')",
        'return fmt.Errorf("Entry is outside of the target directory (%s)", name)',
    ]
    others = ["raise Refused(f'Entry {name}')", "Entry is outside of the target directory (name)"]

    assert [guessed([(None, message)], base=(line,)).bits < 8 for line in lines] == [True] * 3
    assert [guessed([(None, message)], base=(line,)).bits > 30 for line in others] == [True] * 2


def test_a_message_that_stands_in_the_tree_is_looked_up():
    message = "no such part in the list of parts"
    names = ["builtins.ValueError", "builtins.Exception", "builtins.BaseException"]
    kept = judge.of_fix(event(raised=["e", names, message, [], []]), [encode(ValueError)], {"match": encode(message)})
    expectations = Expectations(
        files={"t.py": SOURCE},
        sites={0: Site(op="raises", sides=("kept",))},
        tests={TEST: ExpectedTest(place="host", events=(kept,))},
    )
    known = KnownText(words="", tree={"docs/a.txt": f"x\n{message}\ny\n".encode()})
    assert guess(expectations, [event()], [TEST], known, READING).bits < 8


def test_a_list_may_have_all_words_that_are_known():
    found = guessed([("nothing", ["quite", "another"])], site=IN, kept="another", known="quite another word")
    assert found.rule == "all words that are known, in a list"


def test_what_lies_beside_the_tests_is_no_guess():
    pair = [("nothing", "quite another sentence of it")]
    assert guessed(pair, beside=["x\nquite another sentence of it\n"]).bits < 8 < guessed(pair).bits


HELPED = """
def check(value):
    with __goldseam__(0) as site:
        site(value)

def test_a():
    check(f("Some Title"))
"""


def test_what_is_written_in_the_test_counts_for_a_helper_that_hands_it_out():
    assert guessed([(None, "Some Title")], source=HELPED).bits < 8


CHEAP = {
    "a range": (Site(op="chain", sides=("kept", "out", "kept"), options={"ops": ["<", "<"]}), {}, 1234567.5),
    "few places": (Site(op="almost", sides=("out", "kept")), {"places": 0}, 12.25),
    "a delta": (Site(op="almost", sides=("out", "kept")), {"delta": encode(900)}, 1234567.5),
    "an alternative": (Site(op="regex", sides=("out", "kept")), {}, "no|some quite other words of it"),
    "a pattern that asks for little": (
        Site(op="regex", sides=("out", "kept")),
        {},
        "^(?:some quite other words of it)?x*y",
    ),
    "one of several": (Site(op="in", sides=("out", "kept")), {}, ["some quite other words of it", 17]),
    "one of several beginnings": (Site(op="startswith", sides=("out", "kept")), {}, ("some quite other words", "no")),
    "what a standard says": (EQUAL, {}, "Unsupported Media Type"),
    "a class of exceptions": (
        Site(op="doctest", sides=("kept", "out")),
        {"flags": encode(["IGNORE_EXCEPTION_DETAIL"])},
        ("Traceback…", "shop.errors.NotThereAtAllError: many words\n"),
    ),
}


@pytest.mark.parametrize("name", CHEAP)
def test_what_many_values_satisfy_takes_few_bits(name):
    site, options, kept = CHEAP[name]
    expected = replace(judge.of_fix(event("x"), [encode(kept)] * site.sides.count("kept"), options), size=9)
    expectations = Expectations(
        files={"t.py": SOURCE}, sites={0: site}, tests={TEST: ExpectedTest(place="host", events=(expected,))}
    )
    assert guess(expectations, [], [TEST], KnownText(words=""), READING).bits < 8


def test_an_approximation_takes_the_bits_of_its_precision():
    def bits(rel: str) -> float:
        kept = ["approx", encode(1234567.5), rel, None, False]
        expectations = Expectations(
            files={"t.py": SOURCE},
            sites={0: EQUAL},
            tests={TEST: ExpectedTest(place="host", events=(judge.of_fix(event("x"), [kept], {}),))},
        )
        return guess(expectations, [], [TEST], KnownText(words=""), READING).bits

    assert bits((0.5).hex()) < 3
    assert bits((1e-6).hex()) > 15


EXAMPLE = ">>> __goldseam__(0).example(\"f('Some Title')\", globals())\n"


@pytest.mark.parametrize("shown", ["some title\n", "'some title'\n"])
def test_an_example_that_prints_what_its_call_says_is_guessed(shown):
    site = Site(op="doctest", sides=("kept", "out"), options={"flags": encode([])})
    kept = judge.of_fix(event((shown, None)), [encode((shown, None))], {})
    expectations = Expectations(
        files={"d.rst": EXAMPLE}, sites={0: site}, tests={TEST: ExpectedTest(place="host", events=(kept,))}
    )
    assert guess(expectations, [], [TEST], KnownText(words=""), READING).bits < 8


@pytest.mark.parametrize(
    "value",
    [1000000, 2147483647, 86400, 0.5, 1 / 3, 3.141592653589793, "null", "000007", [7] * 9, list(range(10))],
)
def test_what_is_easily_thought_of_takes_few_bits(value):
    assert guessed([(None, value)]).bits < 16


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + ".",
        lambda text: text.replace("a", ";"),
        lambda text: text[2:],
        lambda text: {"name": text, "more": 0},
        lambda text: [text, 3],
        lambda text: (text, True),
        lambda text: [part + "." for part in text.split()],
        lambda text: len(text) * 100,
        lambda text: len(text) + 7,
    ],
)
def test_one_change_that_does_for_many_values_counts_once(change):
    def before(text: str) -> object:
        fixed = change("")
        kinds = {dict: {"name": text}, list: [text] if fixed else text.split(), int: len(text)}
        return kinds.get(type(fixed), text)

    texts = ("xxalpha wood", "xxgamma rays beyond", "xxdelta wing and a tail", "xxsalad of tomatoes")
    assert guessed([(before(text), change(text)) for text in texts]).bits < 20


def test_what_the_statement_says_in_one_piece_is_one_choice():
    words = "It should say `could not frobnicate the widget at line 7`.\n\nExpected: [3, 1, 4, 1, 5, 926]\n"
    assert guessed([("nothing", "could not frobnicate the widget at line 7")], known=words).bits < 8
    assert guessed([(None, [3, 1, 4, 1, 5, 926])], known=words).bits < 8


@pytest.mark.parametrize(
    "beside",
    [
        "def old():\n    return 977, 754, 9531\n",
        "def test_b():\n    print('977 and 754', 'or 9531')\n",
        "def test_b():\n    check(f(1), 977)\n    check(f(2), 754)\n    check(f(3), 9531)\n",
    ],
)
def test_short_values_that_stand_together_in_the_tests_count_as_one_look(beside):
    pairs = [(None, 977), (None, 754), (None, 9531)]
    assert guessed(pairs, source=beside + SOURCE).bits <= 3
    assert guessed(pairs, beside=[beside]).bits <= 3
    assert guessed(pairs).bits > 20


def test_a_path_of_the_work_tree_is_a_rule():
    source = "def test_a():\n    with __goldseam__(0) as site:\n        site(f('data.json'))\n"
    assert guessed([(None, "/testbed/data.json")], source=source).bits < 8


def test_a_rule_may_change_each_item():
    together = guessed([([" much ", "ado"], ["much", "ado"]), (["of ", " nothing"], ["of", "nothing"])])
    assert together.rule == "what the base gives, each stripped"
    assert together.bits < 8


def test_what_is_no_number_beside_a_text_ends_as_well():
    source = "def test_a():\n    with __goldseam__(0) as site:\n        site(f('97s', '3 h'))\n"
    assert guessed([(float("nan"), 73914)], source=source).bits > 0


def test_nothing_in_a_call_is_no_part_of_what_is_expected():
    source = "def test_a():\n    with __goldseam__(0) as site:\n        site(f(None))\n"
    expected = date(2020, 1, 2)
    assert guessed([("x", expected)], source=source).bits > 0
    assert guessed([("x", [1])], source=source).bits == guessed([("x", [1])], source=source.replace("None", "g")).bits


MOMENT = datetime(2021, 5, 6, 7, 8, 9, tzinfo=UTC)
CONVERTED = {
    "a method": ("Alpha Bravo Zulu", "aLPHA bRAVO zULU"),
    "a part": (MOMENT, date(2021, 5, 6)),
    "its text": (MOMENT, "2021-05-06T07:08:09+00:00"),
    "a class": ("/some/long/pathname/of.txt", PurePosixPath("/some/long/pathname/of.txt")),
    "a zone": (MOMENT.replace(tzinfo=None), MOMENT),
    "a function": (48879, "0xbeef"),
    "each key": ({"Alpha": 17, "Bravo": 23}, {"alpha": 17, "bravo": 23}),
    "at any depth": ({"Alpha": ["Bravo", "Charlie"]}, {"Alpha": ["bravo", "charlie"]}),
    "pairs": ({"charlie": 1, "alpha": 2}, [("alpha", 2), ("charlie", 1)]),
    "a query": ("alpha=17&bravo=29", {"alpha": "17", "bravo": "29"}),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_what_the_standard_library_makes_of_a_value_is_guessable(name):
    found = guessed([CONVERTED[name]])
    assert found.rule
    assert found.bits < 8


def test_keywords_of_a_call_are_a_value_that_the_tests_have():
    shared = f"{SOURCE}\ndef view():\n    return jsonify(foo='bar', number=17)\n"
    assert guessed([("nothing", {"foo": "bar", "number": 17})], source=shared).bits < 8


def test_a_number_that_visible_tests_have_often_takes_few_bits():
    old = "assert status == 418\nassert status == 418\nassert status == 7\n"
    assert guessed([(500, 418)], old=[old]).bits < 3 < guessed([(500, 418)]).bits


def test_a_rule_may_do_for_most_values():
    most = [("Alpha Bravo", "alpha bravo"), ("Charlie Delta", "charlie delta")]
    assert guessed([*most, ("Echo", None)]).bits < guessed(most).bits + 4
    assert guessed([*most, ("Echo", "sesquipedalian")]).bits > 20


def test_a_truth_beside_values_hides_no_change_that_does_for_them():
    pairs = [("alpha", "alpha-quux"), ("bravo", "bravo-quux"), ("charlie", "charlie-quux")]
    truth = Expected(slot=1, n=0, kept=(), options={}, size=1)
    sites = {0: EQUAL, 1: Site(op="truth", sides=("out",), decides="operands")}
    events = [judge.of_fix(event(fix, n=n), [encode(fix)], {}) for n, (_, fix) in enumerate(pairs)]
    expectations = Expectations(
        files={"t.py": SOURCE}, sites=sites, tests={TEST: ExpectedTest(place="host", events=(*events, truth))}
    )
    before = [event("", slot=1), *(event(base, n=n) for n, (base, _) in enumerate(pairs))]
    found = guess(expectations, before, [TEST], KnownText(words=""), READING)
    assert found.bits == guessed(pairs).bits + 1


def test_classes_that_tests_raise_themselves_are_one_look():
    kept = [["n", "type", f"t.test_a.<locals>.{name}", "builtins.ValueError"] for name in ("MyError", "Other", "Third")]
    sites = {slot: Site(op="raises", sides=("kept",)) for slot in range(3)}
    events = tuple(
        Expected(slot=slot, n=0, kept=(kind,), options={}, size=9, raises=True) for slot, kind in enumerate(kept)
    )
    expectations = Expectations(
        files={"t.py": SOURCE}, sites=sites, tests={TEST: ExpectedTest(place="host", events=events)}
    )
    assert guess(expectations, [], [TEST], KnownText(words=""), READING).bits < 8


TOGETHER = {
    "the first that is written, the second: added": ("f(1234, 5678)", [(None, 6912)]),
    "the first that is written, the second: one mapping": (
        "f({'alpha': 1147, 'beta': [2]}, {'gamma': 3391})",
        [(None, {"alpha": 1147, "beta": [2], "gamma": 3391})],
    ),
    "the first that is written, the second: as one address": (
        "f('http://salt.io/pepper/cumin', '../anise')",
        [(None, "http://salt.io/anise")],
    ),
    "the first that is written, the second, the third: one replaced by the other": (
        "f('salt and pepper', 'pepper', 'cumin')",
        [("salt and pepper", "salt and cumin")],
    ),
    "the first 3 that are written of str, with '/' between all": (
        "f(7, 'salt', 'pepper', 'cumin')",
        [(None, "salt/pepper/cumin")],
    ),
    "the first that is written, what the base gives: the first piece that looks like it": (
        "f('from 2017-09-01 till 2017-07-02')",
        [("2017-07-02", "2017-09-01")],
    ),
    "what is written, without tags": ("f('<p>Salt and pepper for all</p>')", [(None, "Salt and pepper for all")]),
    "how often it was asked, and 1": ("f()", [(0, number) for number in range(1, 8)]),
}


@pytest.mark.parametrize("rule", TOGETHER)
def test_what_standard_functions_make_of_several_values_is_guessable(rule):
    call, pairs = TOGETHER[rule]
    found = guessed(pairs, source=SOURCE.replace("f('Some Title', 7)", call))
    assert rule in found.rule
    assert found.bits < 8


def test_what_the_base_gives_right_elsewhere_takes_few_bits():
    text = "zimt-4711-kardamom"
    assert guessed([(text, text), ("another", text)]).bits < 5
    assert guessed([("another", text)]).bits > 20


def test_what_lies_beside_the_tests_may_be_written_in_another_way():
    value = {"kind": "sesquipedalian", "payload": {"kind": [1147, "xylophone"]}}
    python = 'assert f(1) == {\n    "kind": "sesquipedalian",\n    "payload": {"kind": [1147, "xylophone"],},\n}'
    script = "expect(f(1)).toEqual({ kind: 'sesquipedalian', payload: { kind: [1147, 'xylophone'] } })"
    assert all(guessed([(None, value)], beside=[text]).bits <= 3 for text in (python, script))
    assert guessed([(None, value)]).bits > 30


@pytest.mark.parametrize(
    "call",
    [
        "f('{:>999999999}', 7)",
        "f('%999999999d', 7)",
        "f('a' * 9, 'b', 1 << 40)",
        "f('(a*)*(a*)*(a*)*b', 'a' * 30)",
        "f(10**300, 10**300)",
        "f([1], 1 << 40)",
    ],
)
def test_a_rule_never_makes_what_is_large_or_takes_long(call):
    assert guessed([(None, "quite another sentence")], source=SOURCE.replace("f('Some Title', 7)", call)).rule == ""


def test_what_was_guessed_of_one_value_is_known_for_the_next():
    alone = guessed([("a", "sesquipedalian"), ("a", "xylophone")]).bits
    assert guessed([("a", "sesquipedalian"), ("a", ["sesquipedalian"]), ("a", "xylophone")]).bits < alone + 8


@pytest.mark.parametrize("change", [("%", "%25"), ("&", "&amp;"), ("b", "ab"), (";", "")])
def test_a_part_that_is_put_in_wherever_something_stands_is_one_change(change):
    texts = ("b;%a&b%;&ba", "&;b%%&;%x")
    assert guessed([(text, text.replace(*change)) for text in texts]).bits < 25


def test_a_text_may_come_out_as_bytes():
    assert guessed([("  sesquipedalian xylophone ", b"sesquipedalian xylophone")]).bits < 8
    assert guessed([(["one", "two", "one"], ("two", "one", "one"))]).bits < 8


def test_a_part_replaced_in_some_items_is_one_change():
    before = [f"http://localhost/{place}?scope[]=failed" for place in "abc"]
    before += [f"http://localhost/{place}?scope=failed&scope=success" for place in "def"]
    after = [text.replace("scope=", "scope[]=") for text in before]
    assert guessed([(before, after)]).bits < 30


def test_what_one_of_several_is_to_be_may_be_near_one_of_the_bases():
    site = Site(op="in", sides=("kept", "out"))
    text = "no library for this was found; please install 'salt[pepper]' and try it again"
    before = ["xylophone", text.replace("'", "")]
    assert guessed([(before, [text])], site=site, kept=text).bits < 16


TABLE = '[("Salt Water", None), ("PEPPER corn", None), ("Cumin", None)]'
SMALL = ["salt water", "pepper corn", "cumin"]


def test_a_rule_knows_the_row_of_a_loop():
    source = (
        f"def test_a():\n    for x, want in {TABLE}:\n        with __goldseam__(0) as site:\n            site(f(x))\n"
    )
    found = guessed([(None, text) for text in SMALL], source=source)
    assert found.rule == "what is written, in small letters"
    assert found.bits < 8


@pytest.mark.parametrize("rows", [TABLE, TABLE.replace('("Cumin"', '(made("Cumin")')])
def test_a_rule_knows_the_row_of_a_parametrised_test(rows):
    source = f"@rows('x, y', {rows})\ndef test_a(x, y):\n    with __goldseam__(0) as s:\n        s(f(x))\n"
    tests = {
        f"t.py::test_a[{place}]": ExpectedTest(place="host", events=(judge.of_fix(event(text), [encode(text)], {}),))
        for place, text in enumerate(SMALL)
    }
    expectations = Expectations(files={"t.py": source}, sites={0: EQUAL}, tests=tests)
    assert (
        guess(expectations, [], list(tests), KnownText(words=""), READING).rule == "what is written, in small letters"
    )


OF_OTHERS = {
    "go": (
        go.READING,
        """func TestF(t *testing.T) {
            tests := []struct{ in, want string }{{"Salt Water", ""}, {"PEPPER corn", ""}, {"Cumin", ""}}
            for _, tt := range tests {
                if got := F(tt.in); testing.Goldseam(t, 0, func() []interface{} { return []interface{}{&got} }, nil) {
                }
            }
        }""",
    ),
    "javascript": (
        javascript.READING,
        """const rows = [["Salt Water", null], ["PEPPER corn", null], ["Cumin", null]];
        test.each(rows)("f %#", (x) => { __goldseam__(0, () => [f(x)]); });""",
    ),
    "java": (
        java.READING,
        """class T {
            static Stream<Arguments> rows() {
                return Stream.of(arguments("Salt Water", null), of("PEPPER corn", null), of("Cumin", null));
            }
            @MethodSource("rows") void f(String x) { goldseam.Handout.values(0, goldseam.Handout.of(F.f(x))); }
        }""",
    ),
    "java, by @CsvSource": (
        java.READING,
        """class T {
            @CsvSource({"Salt Water, ''", "PEPPER corn, ''", "Cumin, ''"})
            void f(String x) { goldseam.Handout.values(0, goldseam.Handout.of(F.f(x))); }
        }""",
    ),
}


@pytest.mark.parametrize("language", OF_OTHERS)
def test_a_rule_knows_the_row_in_other_languages(language):
    reading, source = OF_OTHERS[language]
    op = {"go": "go.==", "java": "java.equals"}.get(language.partition(",")[0], "js.===")
    kept = [reading.encode(text) for text in SMALL]
    tests = {
        f"t::f({place})": ExpectedTest(place="host", events=(Expected(slot=0, kept=(value,), size=values.size(value)),))
        for place, value in enumerate(kept)
    }
    sites = {0: Site(op=op, sides=("out", "kept"))}
    found = guess(
        Expectations(files={"t": source}, sites=sites, tests=tests), [], list(tests), KnownText(words=""), reading
    )
    assert found.rule == "what is written, in small letters"


CALLED = {
    "go": (
        go.READING,
        "go.deep",
        """func TestF(t *testing.T) {{
            testing.Goldseam(t, 0, func() []interface{{}} {{ got := F({}); return []interface{{}}{{&got}} }}, nil)
        }}""",
    ),
    "java": (
        java.READING,
        "java.equals",
        "class T {{ @Test void f() {{ goldseam.Handout.values(0, goldseam.Handout.of(F.f({}))); }} }}",
    ),
    "rust": (
        rust.READING,
        "rust.==",
        "#[test] fn f() {{ self::goldseam::hand(0, &[(&self::goldseam::Of(&(f({})))).told_goldseam()], None) }}",
    ),
}


CALLED["go, by errors.Is"] = (go.READING, "go.is", CALLED["go"][2])


def guessed_in(language, call, *kept):
    """The guess of values that a call is to give one after the other, as the language's runner hands them out."""
    reading, op, source = CALLED[language]
    events = tuple(Expected(slot=0, n=n, kept=(value,), size=values.size(value)) for n, value in enumerate(kept))
    tests = {"t::f": ExpectedTest(place="host", events=events)}
    sites = {0: Site(op=op, sides=("out", "kept"))}
    expectations = Expectations(files={"t": source.format(call)}, sites=sites, tests=tests)
    return guess(expectations, [], list(tests), KnownText(words=""), reading)


def test_errors_that_one_may_be_joined_of_are_few():
    link = ["t", "errors.errorString", [["s", ["s", "string", "multiple Read calls return no data or error"]]]]
    kept = ["go", True, ["p", "*errors.errorString", link], "multiple Read calls return no data or error"]
    assert guessed_in("go", "7", kept).bits > 30
    assert guessed_in("go, by errors.Is", "7", kept).bits < 8


NAMES = ("Alphabetical", "Bothersome", "Circumstantial", "Determined", "Elephantine")


def test_constants_of_one_class_are_few_in_other_languages():
    variants = [["rust", "Result<(), money::Error>", f"Err({name})"] for name in NAMES]
    constants = [["java", False, ["e", "money.Kind", name]] for name in NAMES]
    assert guessed_in("rust", "7", *variants).bits < 8
    assert guessed_in("rust", "7", ["rust", "Vec<Kind>", f"[{', '.join(NAMES)}]"]).bits < 8
    assert guessed_in("java", "7", *constants).bits < 8
    other = ["rust", "Kind", 'Unknown("a phrase that is nowhere to be read")']
    assert guessed_in("rust", "7", other).bits > 30


@pytest.mark.parametrize(
    ("language", "kept"),
    [
        ("rust", ["rust", "Option<String>", 'Some("sesquipedalian salt")']),
        ("rust", ["rust", "Result<Option<String>, E>", 'Ok(Some("sesquipedalian salt"))']),
        ("java", ["java", False, ["O", [["s", "sesquipedalian salt"]]]]),
        ("go", ["go", False, ["p", "*string", ["s", "string", "sesquipedalian salt"]], None]),
        ("go", ["go", False, ["s", "money.Name", "sesquipedalian salt"], None]),
    ],
)
def test_a_rule_gets_through_whatever_its_value_is_wrapped_in(language, kept):
    guess_made = guessed_in(language, '"Sesquipedalian Salt"', kept)
    assert guess_made.rule == "what is written, in small letters"
    assert guess_made.bits < 8


def test_fields_that_pass_on_what_is_in_a_call_are_one_look_in_other_languages():
    fields = [["X", ["i", "int", "10147"]], ["Y", ["i", "int", "20391"]]]
    assert guessed_in("rust", "10147, 20391", ["rust", "P", "Point { x: 10147, y: 20391 }"]).bits < 8
    assert guessed_in("go", "10147, 20391", ["go", False, ["t", "money.Point", fields], None]).bits < 8
    assert guessed_in("rust", "7", ["rust", "P", "Point { x: 10147, y: 20391 }"]).bits > 16
    passing = SOURCE.replace("7", "30817, 47111")
    assert guessed([(None, {"xylophone": 30817, "salt": 47111})], known="xylophone salt", source=passing).bits < 20


def test_names_of_fields_and_what_is_passed_on_are_free_in_a_text_that_shows_an_object():
    base = "class Thing: ... def __init__(self, name, cents, count, remark): ..."
    source = SOURCE.replace("'Some Title', 7", "'Some Title', 41907, 3113")
    for text in ("Thing(name='Some Title', cents=41907, count=3113)", '{"name": "Some Title", "cents": 41907}'):
        assert guessed([(base, text)], source=source).bits < 8
        assert guessed([(base, text.replace("Some", "Sesquipedalian"))], source=source).bits > 30
    assert guessed([(base, "a name (cents or count) of quite another kind")], source=source).bits > 30


def test_tests_that_did_not_change_are_one_look():
    pairs = [(None, "sesquipedalian xylophone"), (None, 308), (None, "quite another sentence")]
    shown = "def test_a():\n    assert f(1) == 'sesquipedalian xylophone'\n    assert f(2) == [308, %s]\n"
    test = shown % "'quite another sentence'"
    assert guessed(pairs, old=[test], tests=[test]).bits <= 3
    assert guessed(pairs, old=[shown % "'no'"], tests=[test]).bits > 8
    assert guessed(pairs, old=[test.replace("test_a", "test_b")], tests=[test]).bits > 8


def test_what_stands_within_a_longer_text_of_the_tests_is_one_look():
    pair = [(None, "quite another sentence")]
    assert guessed(pair, source=f"@shown('gives quite another sentence, twice')\n{SOURCE}").bits <= 3


MORE = {
    "f('Salt, and Pepper!')": "salt-and-pepper",
    "f('xylophone')": hashlib.sha256(b"xylophone").hexdigest(),
    "f('salt=1147,pepper=3391')": {"salt": "1147", "pepper": "3391"},
    "f('salt,\"a, b\",xylophone')": ["salt", "a, b", "xylophone"],
    "f([1147, [3391, [5557]]])": [1147, 3391, 5557],
    "f(['xylophone', 'salt', 'pepper'])": "xylophone, salt and pepper",
    "f({'a': {'x': 1147}}, {'a': {'y': 3391}})": {"a": {"x": 1147, "y": 3391}},
    "f(255, 128, 16)": "#ff8010",
    "f('sesquipedalian', 9)": "sesqui...",
    "f(['xylophone', 1147, True])": "[xylophone 1147 true]",
    "f({'b': 3391, 'a': 1147})": "map[a:1147 b:3391]",
    "f({'salt': 1147, 'pepper': None})": "{salt=1147, pepper=null}",
    "f('xylophone salt')": -103775476,
    "f('xylophone pepper')": zlib.crc32(b"xylophone pepper"),
    "f('1h35m12s')": 5712 * 10**9,
    "f(5712)": "1h35m12s",
    "f('sesquipedalian')": 'strconv.Atoi: parsing "sesquipedalian": invalid syntax',
    "f('7up')": "invalid digit found in string",
    "f([1147.5, 3391.25], [8423.0, 911.5])": [9570.5, 4302.75],
    "f([1147, 3391, 5557], [8, 11, 27])": 1147 * 8 + 3391 * 11 + 5557 * 27,
    "f([[1147, 3391], [8423, 911]])": [4538, 9334],
    "f([[1147, 3391], [8423, 9115]])": [9570, 12506],
    "f([[1147, 3391], [8423, 911]], [[0, 1], [1, 0]])": [[3391, 1147], [911, 8423]],
    "f([1147.0, 3391.0, 5557.0])": [1147 / 10095, 3391 / 10095, 5557 / 10095],
    "f([5557, 1147, 3391, 8423])": [1, 2, 0, 3],
    "f('2024-02-28')": "2024-02-29",
    "f('2024-05-17')": "17/05/2024",
    "f(1715940672)": "2024-05-17T10:11:12+00:00",
    "f('1.12.3')": "1.13.0",
    "f('192.168.1.77')": 3232235853,
    "f({'salt': {'pepper': 1147, 'corn': 3391}})": {"salt.pepper": 1147, "salt.corn": 3391},
    "f('xylophone sesquipedalian')": "XylophoneSesquipedalian",
}


@pytest.mark.parametrize("call", MORE)
def test_more_that_comes_to_mind_is_guessable(call):
    assert guessed([(None, MORE[call])], source=SOURCE.replace("f('Some Title', 7)", call)).bits < 8


def test_a_member_more_than_the_base_has_is_what_has_to_be_found():
    names = ["QUITE_ANOTHER", "SOME_PECULIAR", "NOBODY_HAS_HEARD"]
    assert guessed([(None, set(names))]).bits > 40
    assert guessed([(set(names[:2]), set(names))], known=f"it lacks `{names[2]}`").bits < 12
    assert guessed([(set(names), set(names[:2]))]).bits < 8
    mapping = dict.fromkeys(names, "quite another sentence")
    assert guessed([(mapping, {**mapping, "Title": 7})]).bits < 16
    assert guessed([(mapping, {**mapping, names[0]: "one that nobody has ever heard"})]).bits > 30


def test_a_word_of_a_long_text_may_be_replaced_as_a_whole():
    text = "quite another sentence that nobody has ever heard of in here"
    assert guessed([(text, text.replace("sentence", "Title"))]).bits < 14
    page = "\n".join(f"line {number}: sentence" for number in range(90))
    assert guessed([(page, page.replace("line 7: sentence", "line 7: Title"))]).bits < 25


def test_a_text_of_the_tests_with_one_name_replaced_is_one_look():
    other = "\ndef test_b():\n    assert f(1) == '<Adapter of dict(size=1234)>' or g(1)\n"
    pairs = [
        (f"Adapter for type {name}: {name}(size=1234)", f"<Adapter of {name}(size=1234)>")
        for name in ("PeculiarItem", "AnotherItem")
    ]
    assert guessed(pairs).bits > 12
    assert guessed(pairs, source=SOURCE + other).bits < 8


def test_several_tries_fit_in_one_text_that_is_searched():
    inside = Site(op="in", sides=("kept", "out"))
    page = " ".join(f"peculiar{number}" for number in range(200))
    alone = guessed([("nothing", "quite another sentence")], site=inside).bits
    within = guessed([("nothing", f"{page} quite another sentence")], site=inside, kept="quite another sentence").bits
    assert within < alone - 4
    line = "window.Peculiar = OtherStemmer;"
    changed = guessed([(f"{page}\n{line}", f"{page}\n{line}")], site=inside, kept=line.replace("Other", "Title")).bits
    assert changed < 20


def test_rows_of_a_call_are_put_together_by_one_rule():
    rows = "[('no %s of %s', 'Tree', 'Wood'), ('a', 'b')]"
    source = f"def test_a():\n    with __goldseam__(0) as site:\n        site(f({rows}))\n"
    inside = Site(op="in", sides=("kept", "out"))
    for kept in ("no Tree of Wood", "no %s of %s - Tree - Wood"):
        assert guessed([(None, f"{kept}\nb")], site=inside, kept=kept, source=source).bits < 8


@pytest.mark.parametrize(
    "value",
    [
        [number / 10 for number in range(40)],
        [3.0 * 2**number for number in range(12)],
        [number * number for number in range(12)],
        [1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89],
        [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37],
        [True, False] * 12,
        [[float(row == column) for column in range(6)] for row in range(6)],
        [[int(row >= column) for column in range(6)] for row in range(6)],
        [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]],
    ],
)
def test_numbers_that_follow_from_the_first_ones_take_few_bits(value):
    assert guessed([(None, value)]).bits < 25
    assert guessed([(None, value)], site=Site(op="almost", sides=("out", "kept"), options={"places": 7})).bits < 25


WRITTEN_IN_ORDER = [
    "zip(['in0', 'in1', 'in2', 'in3'], [977, 754, 9531, 4412])",
    "['in0', 977, 'in1', 754, 'in2', 9531, 'in3', 4412]",
    "{'a': {'b': 977}, 'c': {'d': 754}, 'e': {'f': 9531}, 'g': {'h': 4412}}.items()",
    "'in0 977; in1 754; in2 9531; in3 4412'.split('; ')",
    "{977, 754, 9531, 4412}",
]


@pytest.mark.parametrize("rows", WRITTEN_IN_ORDER)
def test_short_values_that_stand_in_order_in_the_tests_are_one_look(rows):
    source = f"def test_a():\n    for a in {rows}:\n        with __goldseam__(0) as site:\n            site(f(a))\n"
    values_wanted = (977, 754, 9531, 4412)

    assert guessed([(None, value) for value in values_wanted], source=source).bits < 8
    assert guessed([(None, value + 1300 + value % 7) for value in values_wanted], source=source).bits > 30


HIDDEN = "Attributes:\n    salt\n    :hidden:\n\n    quite another sentence"


def test_what_the_visible_tests_have_nearest_to_what_the_base_gives_is_one_try():
    texts = (f"\n{HIDDEN}", "Methods:\n    pepper\n\n    one that nobody has heard", "Attributes: none", "salt, pepper")
    old = "".join(f"def test_{n}():\n    assert f({n}) == {text!r}\n" for n, text in enumerate(texts))
    pairs = [(HIDDEN.replace("    :hidden:\n", ""), HIDDEN)]

    assert guessed(pairs).bits > 8
    assert guessed(pairs, old=[old]).rule.startswith("what a visible test has nearest to it")


def test_what_a_visible_test_has_beside_the_same_inputs_is_one_try():
    old = f"def test_b():\n    x = 'Some Title'\n    assert f(x) == {HIDDEN!r}\ndef test_c():\n    assert f(2) == 'x'\n"

    assert guessed([(None, HIDDEN)]).bits > 40
    assert guessed([(None, HIDDEN)], old=[old]).rule.startswith("what a visible test has beside what is written there")


def in_javascript(value):
    """A value as JavaScript's runner hands it out; what has a tag has it already."""
    return value if isinstance(value, list) and value[:1] == ["js"] else javascript.READING.encode(value)


def guessed_in_javascript(calls, wanted, base=None):
    """The guess where each call is to give a value, and the base gives one text for all."""
    sites = {slot: Site(op="js.deep", sides=("out", "kept"), options={"rules": "strict"}) for slot in range(len(calls))}
    kept = [in_javascript(value) for value in wanted]
    events = tuple(Expected(slot=slot, kept=(value,), size=values.size(value)) for slot, value in enumerate(kept))
    before = [Event(test_id="t.js::f", slot=slot, values=(in_javascript(base),)) for slot in sites if base is not None]
    asked = "".join(f"__goldseam__({slot}, () => [f({call})]);" for slot, call in enumerate(calls))
    files = {"t.js": f'test("f", () => {{ {asked} }});'}
    tests = {"t.js::f": ExpectedTest(place="host", events=events)}
    return guess(
        Expectations(files=files, sites=sites, tests=tests), before, [*tests], KnownText(words=""), javascript.READING
    )


SALT, ZEPHYR = "sesquipedalian salt", "quixotic zephyr"
MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ((f'"{SALT}"', f'"{ZEPHYR}"'), (SALT.encode(), ZEPHYR.encode())),
        ((f'"{SALT.encode().hex()}"',), (["js", ["T", "Buffer", [*map(str, SALT.encode())], []]],)),
        ((f'"{SALT}"',), ("c2VzcXVpcGVkYWxpYW4gc2FsdA",)),
        ((f'"{SALT}"',), ("GuHSc7UXa/TjvoT/f65wxI9bDx5v/Qzt2XTyLRqEZqA=",)),
        ((f'"{SALT}", "key"',), ("513e33fcb9d4ccc20a3a0e1f7d87145a81083e5a8ca96dbeba6fff118af60b91",)),
        (("123456789",), ("21i3v9",)),
        (("[17, 2, 77, 91, 200]",), ("11024d5bc8",)),
        (("10147.45678, 3",), ("10147.457",)),
        (('"sesqui-pedal-salt"', '"quixOticZeph"'), ("SesquiPedalSalt", "QuixOticZeph")),
        (
            ('"https://SESQUI.example"', '"http://Zephyr.example?a"'),
            ("https://sesqui.example/", "http://zephyr.example/?a"),
        ),
        ((f'"{MOMENT.isoformat()}"',), (MOMENT,)),
        (("1577934245000",), (MOMENT,)),
        (("1577934245000",), ("2020-01-02T03:04:05.000Z",)),
        (("1577934245000",), ("Thu, 02 Jan 2020 03:04:05 GMT",)),
        (("{alpha: 10147, beta: 'zephyr'}",), ("{ alpha: 10147, beta: 'zephyr' }",)),
        (("{alpha: {sesqui: 10147}}",), ({"alpha[sesqui]": 10147},)),
        (("\"<sesqui> & 'pedal'\"",), ("&lt;sesqui&gt; &amp; &#39;pedal&#39;",)),
        (('"2 days"', '"5 hours"'), (172800000, 18000000)),
    ],
)
def test_what_functions_of_the_web_make_is_easy(calls, wanted):
    assert guessed_in_javascript(calls, wanted).bits < 8


def test_what_is_written_may_be_in_the_element_that_the_base_gives():
    wanted = '<p class="a">&lt;@sesqui.example&gt;</p>\n'
    assert guessed_in_javascript(('"<@sesqui.example>"',), (wanted,)).bits > 20
    assert guessed_in_javascript(('"<@sesqui.example>"',), (wanted,), '<p class="a"><a>x</a></p>\n').bits < 8


def test_a_word_of_the_tests_in_other_letters_is_one_look():
    assert guessed_in_javascript(('"SesquiPEDALzephyr", 7',), ("sesquipedalzephyr",)).bits < 8
    calls = ('{other: "SesquiPEDALzephyr"}, 8, "quixOTIC"', "9")
    assert guessed_in_javascript(calls, ("sesquipedalzephyr", "QUIXOTIC")).bits == 3


@pytest.mark.parametrize(
    ("language", "call", "kept"),
    [
        ("go", "123456789", ["go", False, ["s", "string", "21i3v9"], None]),
        ("java", "1577934245000L", ["java", False, ["n", "java.time.Instant", "2020-01-02T03:04:05Z"]]),
        ("java", "new int[]{10147, 20391}", ["java", False, ["i", "Integer", "335909"]]),
        ("rust", "305419896", ["rust", "[u8; 4]", "[18, 52, 86, 120]"]),
        ("rust", "305419896", ["rust", "u32", "2018915346"]),
    ],
)
def test_what_functions_of_other_languages_make_is_easy(language, call, kept):
    assert guessed_in(language, call, kept).bits < 8


def java_of(value, *, primitive=False):
    return ["java", primitive, value]


def java_number(text):
    return java_of(["f", "Double", text], primitive=True)


def guessed_of_site(site, out, kept, reading=java.READING, base=None):
    """The guess of one assertion of another language, by what the fix hands out and what is kept."""
    handed = Event(test_id="t::f", slot=0, values=(out,))
    before = [replace(handed, values=(base,))] if base is not None else []
    tests = {"t::f": ExpectedTest(place="host", events=(judge.of_fix(handed, kept, {}),))}
    return guess(Expectations(sites={0: site}, tests=tests), before, ["t::f"], KnownText(words=""), reading).bits


def chain_of(*parts):
    sides = ("out", *["kept"] * sum(part["count"] for part in parts))
    return Site(op="java.chain", sides=sides, options={"parts": parts})


def part_of(op, **options):
    return {"op": op, "count": 1, "options": options}


@pytest.mark.parametrize(
    ("op", "reading", "encode_number"),
    [
        ("java.near", java.READING, java_number),
        ("go.near", go.READING, lambda text: ["go", False, ["f", "float64", text], None]),
    ],
)
def test_a_number_has_the_bits_of_its_tolerance_in_other_languages(op, reading, encode_number):
    site = Site(op=op, sides=("kept", "out", "kept"))

    def bits(delta):
        numbers = [encode_number(text) for text in ("173.62", delta)]
        return guessed_of_site(site, numbers[0], numbers, reading, base=encode_number("-1.0"))

    assert bits("0.0001") > 16
    assert bits("10.0") < 5


def test_the_numbers_of_an_array_have_the_bits_of_their_tolerance():
    wanted = java_of(["a", "double", [["f", "Double", "17.31"], ["f", "Double", "4.82"]]])
    site = Site(op="java.arrays", sides=("kept", "out", "kept"))
    assert guessed_of_site(site, wanted, [wanted, java_number("0.0001")]) > 24
    assert guessed_of_site(site, wanted, [wanted, java_number("5.0")]) < 8


def test_a_chain_has_the_bits_of_its_calls():
    number = [java_of(["i", "Integer", text], primitive=True) for text in ("73914", "80000", "75000")]
    assert guessed_of_site(chain_of(part_of("java.>="), part_of("java.<=")), number[2], number[:2]) < 4
    text, pattern = java_of(["s", "ABC-12"]), java_of(["s", "[A-Z]{3}-\\d+"])
    starts = chain_of(part_of("java.starts"), part_of("java.matches"))
    assert guessed_of_site(starts, text, [java_of(["s", "ABC"]), pattern]) < 8
    spelled = [java_of(["s", "sesquipedalian"]), java_of(["s", "xylophone"])]
    both = java_of(["s", "sesquipedalian xylophone"])
    assert guessed_of_site(chain_of(part_of("java.starts"), part_of("java.ends")), both, spelled) > 20


def test_a_class_of_java_is_one_of_few():
    kind = java_of(["K", "java.util.concurrent.TimeoutException"])
    names = [f"java.{name}" for name in ("util.concurrent.TimeoutException", "lang.Exception", "lang.Throwable")]
    assert guessed_of_site(Site(op="java.kind", sides=("out", "kept")), java_of(["E", names, "late"]), [kind]) < 4
    assert guessed_of_site(Site(op="java.equals", sides=("kept", "out")), kind, [kind]) < 4


@pytest.mark.parametrize(
    ("op", "reading", "text"),
    [
        ("java.contains", java.READING, lambda text: ["java", False, ["s", text]]),
        ("go.contains", go.READING, lambda text: ["go", False, ["s", "string", text], None]),
        ("js.contain", javascript.READING, lambda text: ["js", ["s", text]]),
        ("rust.contains", rust.READING, lambda text: ["rust", "&str", f'"{text}"']),
    ],
)
def test_several_tries_fit_in_one_text_in_other_languages(op, reading, text):
    page = " ".join(f"peculiar{number}" for number in range(200))
    site = Site(op=op, sides=("out", "kept"))
    assert guessed_of_site(site, text("E1042x7719"), [text("E1042x7719")], reading) > 8
    assert guessed_of_site(site, text(f"{page} E1042x7719"), [text("E1042x7719")], reading) < 8


def test_each_of_several_texts_that_are_contained_may_be_tried():
    page = " ".join(f"peculiar{number}" for number in range(200))
    site = Site(op="java.contains", sides=("out", "kept", "kept"))
    kept = [java_of(["s", "E1042"]), java_of(["s", "W7719"])]
    assert guessed_of_site(site, java_of(["s", f"{page} E1042 W7719"]), kept) < 8


@pytest.mark.parametrize(
    ("op", "reading", "listed", "one"),
    [
        ("java.contains", java.READING, java_of(["l", [["s", "xylophone"], ["s", "yes"]]]), java_of(["s", "yes"])),
        ("rust.contains", rust.READING, ["rust", "[&str; 2]", '["xylophone", "yes"]'], ["rust", "&str", '"yes"']),
    ],
)
def test_the_easiest_of_a_list_counts_in_other_languages(op, reading, listed, one):
    assert guessed_of_site(Site(op=op, sides=("kept", "out")), one, [listed], reading) < 6


MOVED = b"""\
diff --git a/golden/old.txt b/golden/new.txt
similarity index 60%
rename from golden/old.txt
rename to golden/new.txt
--- a/golden/old.txt
+++ b/golden/new.txt
@@ -2 +2 @@
-a line
+another line
"""
REMOVED = b"""\
diff --git a/golden/old.txt b/golden/old.txt
deleted file mode 100644
--- a/golden/old.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-quite another sentence of it
-a line
"""


@pytest.mark.parametrize("patch", [MOVED, REMOVED])
def test_what_data_were_before_is_known_under_their_old_name_as_well(patch):
    wanted = event("quite another sentence of it")
    tests = {TEST: ExpectedTest(place="host", events=(judge.of_fix(wanted, [wanted.values[0]], {}),))}
    files = {"t.py": SOURCE, "golden/new.txt": "-\nanother line\n"}
    recorded = RecordedTests(
        expectations=Expectations(files=files, sites={0: EQUAL}, tests=tests), out_of_data=frozenset({0})
    )
    task = tiny.task()
    task = replace(task, hidden=replace(task.hidden, test_patch=patch, fail_to_pass=(TEST,)))
    base = {"golden/old.txt": "quite another sentence of it\na line\n"}
    assert stripping.guess(task, recorded, {}, {"t.py": SOURCE}).bits > 16
    assert stripping.guess(task, recorded, base, {"t.py": SOURCE}).bits < 8
