import pytest

from tally import parse_cents, show, split_evenly


@pytest.mark.parametrize("text, cents", [("12.50", 1250), ("3", 300), (" 0.7 ", 70)])
def test_parse(text, cents):
    assert parse_cents(text) == cents


def test_show():
    assert show(1205) == "12.05 EUR"


def test_split_without_rest():
    assert split_evenly(900, 3) == [300, 300, 300]
