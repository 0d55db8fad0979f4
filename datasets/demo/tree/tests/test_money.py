import pytest

from pocketledger.money import digits, format_amount, parse_amount, percentage, split_evenly


@pytest.mark.parametrize(
    ("text", "cents"),
    [("12.50", 1250), ("12.5", 1250), ("12", 1200), ("1,250.50", 125050), (" 7 ", 700), ("-3.20", -320), ("+3", 300)],
)
def test_amounts_are_read(text, cents):
    assert parse_amount(text) == cents


@pytest.mark.parametrize("text", ["", "abc", "1.2.3", "1.-5", "1.234"])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match="not an amount"):
        parse_amount(text)


def test_amounts_are_written_with_two_digits():
    assert format_amount(125050) == "1250.50 EUR"


def test_small_and_negative_amounts_are_written():
    assert format_amount(5) == "0.05 EUR"
    assert format_amount(-320, "USD") == "-3.20 USD"


def test_an_unknown_currency_has_two_digits():
    assert digits("XXX") == 2


def test_percentages_are_rounded():
    assert percentage(1000, 19) == 190
    assert percentage(999, 19) == 190


def test_amounts_are_split():
    assert split_evenly(900, 3) == [300, 300, 300]


def test_nothing_is_split_into_no_parts():
    with pytest.raises(ValueError, match="one part"):
        split_evenly(900, 0)
