import pytest

from table import cell, split


@pytest.mark.parametrize(("value", "width", "text"), [("ab", 4, "ab  "), ("", 2, "  "), (True, 5, "True ")])
def test_text_is_on_the_left(value, width, text):
    assert cell(value, width) == text


def test_a_row_is_split_at_its_bars():
    assert split("a | b|c ") == ["a", "b", "c"]
