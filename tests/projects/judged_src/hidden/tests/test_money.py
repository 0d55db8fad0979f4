import pytest

from tally import parse_cents, show, split_evenly


@pytest.mark.parametrize("text, cents", [("12.50", 1250), ("3", 300), (" 0.7 ", 70)])
def test_parse(text, cents):
    assert parse_cents(text) == cents


def test_show():
    assert show(1205) == "12.05 EUR"


def test_split_without_rest():
    assert split_evenly(900, 3) == [300, 300, 300]


@pytest.mark.parametrize(
    "cents, parts, expected",
    [(1000, 3, [334, 333, 333]), (5, 4, [2, 1, 1, 1]), (1, 2, [1, 0])],
    ids=["a third", "[four] parts", "one/cent"],
)
def test_split_with_rest(cents, parts, expected):
    assert split_evenly(cents, parts) == expected


def test_nothing_is_lost():
    assert sum(split_evenly(1003, 7)) == 1003
