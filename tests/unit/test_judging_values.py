"""What comes out of a container, decoded: Python's own values come back, and nothing else gets past."""

from __future__ import annotations

import random
import time

import pytest

from harness.judging.values import (
    MAX_DEPTH,
    MAX_HEX_DIGITS,
    MAX_ITEMS,
    MAX_TEXT,
    MalformedError,
    Opaque,
    Raised,
    decode,
    load,
    size,
)
from tests.values_of_tests import LEAVES, encode, exception, random_value


def nested(depth: int) -> list:
    value = ["l", []]
    for _ in range(depth):
        value = ["l", [value]]
    return value


@pytest.mark.parametrize("value", LEAVES, ids=repr)
def test_a_plain_value_comes_back_as_it_went(value):
    back = decode(encode(value))

    if not isinstance(value, type):
        assert repr(back) == repr(value)
        assert type(back) is type(value)
    assert load(encode(value)).plain


def test_containers_come_back_as_they_went():
    rng = random.Random(7)
    for _ in range(2000):
        value = random_value(rng)
        back = decode(encode(value))
        assert type(back) is type(value) or isinstance(value, type)
        assert are_alike(value, back)


def are_alike(value: object, back: object) -> bool:
    """Whether both are equal, or hold what equals nothing (NaN) or has another class here (a class)."""
    return back == value or any(word in repr(value) for word in ("nan", "NaN", "<class"))


@pytest.mark.parametrize("kept_only", [["approx", ["i", "1"], None, None, False], ["any"], ["re", ["s", "a"], 0]])
@pytest.mark.parametrize("around", [lambda enc: enc, lambda enc: ["l", [enc]], lambda enc: ["d", [[["i", "1"], enc]]]])
def test_what_only_the_host_has_is_refused_in_a_frame(kept_only, around):
    decode(around(kept_only), kept=True)
    with pytest.raises(MalformedError):
        decode(around(kept_only))


@pytest.mark.parametrize(
    "enc",
    [
        pytest.param(1, id="a bare number"),
        pytest.param("a", id="a bare text"),
        pytest.param({}, id="an object"),
        pytest.param([], id="no tag"),
        pytest.param([["s"], "a"], id="a tag that is no text"),
        pytest.param([None, "a"], id="a tag that is nothing"),
        pytest.param(["z", "a"], id="an unknown tag"),
        pytest.param(["s"], id="a text without text"),
        pytest.param(["s", 1], id="a text of a number"),
        pytest.param(["s", "a", "b"], id="two texts"),
        pytest.param(["i", "0x1"], id="a prefix"),
        pytest.param(["i", "1_0"], id="an underscore"),
        pytest.param(["i", "F"], id="capital digits"),
        pytest.param(["i", ""], id="no digits"),
        pytest.param(["i", "1\n"], id="a line end behind digits"),
        pytest.param(["i", "\u0661"], id="digits of another script"),
        pytest.param(["i", 1], id="an int that is one"),
        pytest.param(["f", 1.0], id="a float that is one"),
        pytest.param(["f", "1.0"], id="a decimal float"),
        pytest.param(["f", "0x1.0p+9999"], id="a float that overflows"),
        pytest.param(["f", "infinity"], id="a long infinity"),
        pytest.param(["c", "nan"], id="half a complex number"),
        pytest.param(["b", "6"], id="half a byte"),
        pytest.param(["b", "6 1"], id="bytes with a gap"),
        pytest.param(["k", "None"], id="an unknown constant"),
        pytest.param(["k", ["x"]], id="a constant that is a list"),
        pytest.param(["l", "ab"], id="a list that is a text"),
        pytest.param(["l", {"a": 1}], id="a list that is an object"),
        pytest.param(["l"], id="a list without items"),
        pytest.param(["S", [["l", []]]], id="a list in a set"),
        pytest.param(["F", [["d", []]]], id="a dict in a set"),
        pytest.param(["S", [["t", [["l", []]]]]], id="a list in a tuple in a set"),
        pytest.param(["S", [["n", "decimal.Decimal", "sNaN"]]], id="a signalling NaN in a set"),
        pytest.param(["S", [["i", "1"], ["i", "1"]]], id="a member twice"),
        pytest.param(["S", [["i", "1"], True]], id="equal members"),
        pytest.param(["d", [[["l", []], None]]], id="a list as a key"),
        pytest.param(["d", [[["B", "61"], None]]], id="a bytearray as a key"),
        pytest.param(["d", [[["i", "1"], None], [["f", "0x1.0p+0"], None]]], id="a key twice"),
        pytest.param(["d", [[["i", "1"]]]], id="a key without a value"),
        pytest.param(["d", [["ab", "cd"]]], id="texts for a pair"),
        pytest.param(["n"], id="no standard type"),
        pytest.param(["n", "os.system", "true"], id="an unknown standard type"),
        pytest.param(["n", "datetime.date", "2020-02-31"], id="no such day"),
        pytest.param(["n", "datetime.date", "20200101"], id="a day written otherwise"),
        pytest.param(["n", "datetime.timedelta", "9999999999", "0", "0"], id="too long a time"),
        pytest.param(["n", "datetime.timedelta", "0", "86400", "0"], id="a day of seconds"),
        pytest.param(["n", "datetime.timedelta", "0 0", "0"], id="parts in one"),
        pytest.param(["n", "decimal.Decimal", "1e1000000000"], id="a huge Decimal"),
        pytest.param(["n", "decimal.Decimal", "1E+6145"], id="a Decimal over the limit"),
        pytest.param(["n", "decimal.Decimal", " 1"], id="a Decimal with a gap"),
        pytest.param(["n", "decimal.Decimal", "1" * 30_000], id="a long Decimal"),
        pytest.param(["n", "fractions.Fraction", "1/0"], id="a fraction of nothing"),
        pytest.param(["n", "fractions.Fraction", "2/4"], id="a fraction not reduced"),
        pytest.param(["n", "fractions.Fraction", "9" * 5000 + "/1"], id="a long fraction"),
        pytest.param(["n", "range", "0", "1", "0"], id="a range without a step"),
        pytest.param(["n", "range", "0", "1"], id="a range without parts"),
        pytest.param(["n", "uuid.UUID", "7"], id="no UUID"),
        pytest.param(["n", "ipaddress.IPv4Network", "10.0.0.1/8"], id="a network with host bits"),
        pytest.param(["n", "type"], id="a class without a name"),
        pytest.param(["e", "builtins.ValueError", "", [], []], id="names that are one"),
        pytest.param(["e", [1], "", [], []], id="a name that is a number"),
        pytest.param(["e", ["a"], None, [], []], id="an exception without a text"),
        pytest.param(["e", ["a"], "", []], id="an exception without attributes"),
        pytest.param(["o", "a", [["b"]], None], id="an attribute without a value"),
        pytest.param(["o", "a", None], id="an object without items"),
        pytest.param(["x"], id="unreadable for no reason"),
    ],
)
def test_what_is_not_of_the_form_is_malformed(enc):
    with pytest.raises(MalformedError):
        decode(enc)


@pytest.mark.parametrize(
    ("within", "over"),
    [
        pytest.param(lambda: nested(MAX_DEPTH), lambda: nested(MAX_DEPTH + 1), id="depth"),
        pytest.param(lambda: ["l", [None] * (MAX_ITEMS - 1)], lambda: ["l", [None] * MAX_ITEMS], id="items"),
        pytest.param(lambda: ["s", "a" * MAX_TEXT], lambda: ["s", "a" * (MAX_TEXT + 1)], id="text"),
        pytest.param(
            lambda: ["l", [["s", "a" * (MAX_TEXT // 2)]] * 2], lambda: ["l", [["s", "a" * MAX_TEXT]] * 2], id="texts"
        ),
        pytest.param(
            lambda: ["i", "-" + "f" * MAX_HEX_DIGITS], lambda: ["i", "-" + "f" * (MAX_HEX_DIGITS + 1)], id="digits"
        ),
        pytest.param(
            lambda: ["n", "decimal.Decimal", "1E+6144"], lambda: ["n", "decimal.Decimal", "1E-6145"], id="exponent"
        ),
    ],
)
def test_a_limit_holds_and_no_sooner(within, over):
    decode(within())
    with pytest.raises(MalformedError):
        decode(over())


def test_nesting_that_python_itself_could_not_follow_is_malformed():
    with pytest.raises(MalformedError):
        decode(nested(100_000))


def test_members_whose_hashes_were_chosen_to_clash_are_refused_at_once():
    clash = ["S", [["i", format(number * (2**61 - 1), "x")] for number in range(20_000)]]
    began = time.process_time()

    with pytest.raises(MalformedError):
        decode(clash)
    assert time.process_time() - began < 5


def test_members_whose_hashes_happen_to_clash_are_taken():
    places = {(x, y) for x in range(-50, 50) for y in range(-50, 50)}
    assert decode(encode(places)) == places


def test_objects_and_exceptions_are_told_but_not_plain():
    enc = ["l", [["o", "m.C", [["a", ["i", "1"]]], None], exception(ValueError("b")), ["x", "too deep"]]]
    thing, error, _ = decode(enc)

    assert isinstance(thing, Opaque)
    assert thing.attrs == (("a", 1),)
    assert isinstance(error, Raised)
    assert error.names == ("builtins.ValueError", "builtins.Exception", "builtins.BaseException")
    assert not load(enc).plain


@pytest.mark.parametrize("value", [["o", "m.C", None, None], exception(ValueError("b")), ["x", ""]])
def test_an_object_equals_nothing_that_came_otherwise(value):
    assert decode(value) != decode(value)


def record(*fields, name="m.Point", items=(), kept=False):
    return decode(["o", name, [list(field) for field in fields], list(items)], kept=kept)


X, Y, MORE = ("x", ["i", "1"]), ("y", ["l", [["i", "2"]]]), ("z", None)


def test_an_object_that_is_told_by_its_fields_is_compared_by_these():
    kept = record(X, Y, kept=True)
    assert record(X, Y) == kept == record(MORE, Y, X)
    assert record(X, Y) == record(Y, X) != record(X, Y, MORE)
    for other in (record(X), record(X, ("y", ["l", []])), record(X, Y, name="m.Other"), record(X, Y, items=[None])):
        assert other != kept != other
    assert not load(["o", "m.Point", [], []]).plain
    assert decode(["S", [["o", "m.C", None, [["s", "RED"]]]]]) == {record(name="m.C", items=[["s", "RED"]])}


def test_what_compares_itself_equals_what_the_fix_leaves_to_its_fields():
    kept, own = record(X, Y, kept=True), ["o", "other.Point", [list(MORE), list(Y), list(X)], None]
    assert decode(own) == kept == decode(own)
    assert decode(own) in [None, kept]
    assert kept in [None, decode(own)]
    assert decode(own) != record(X, Y)
    assert record(kept=True) != decode(["o", "m.Point", None, None])
    for other in (["o", "m.Point", [list(X)], None], ["o", "m.Other", own[2], None], ["o", "m.Point", None, None]):
        assert decode(other) != kept != decode(other)
    assert size(own) == size(["o", "other.Point", None, None])


def test_objects_whose_fields_were_made_to_clash_are_refused_in_a_set():
    clash = [
        ["o", "m.C", [["x", ["t", [["i", "0"]] * 90 + [["i", format(n * (2**61 - 1), "x")]]]]], []] for n in range(900)
    ]
    with pytest.raises(MalformedError, match="clash"):
        decode(["S", clash])


def test_the_size_counts_items_characters_and_bytes():
    assert size(encode(["abc", b"de"])) == 1 + 1 + 3 + 1 + 2
    assert size(encode({1: None})) == 1 + 1 + 1 + 1


def test_the_size_of_an_exception_counts_its_message():
    assert size(exception(ValueError("a" * 1000))) > 2000
