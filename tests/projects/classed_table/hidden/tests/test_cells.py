import pytest

from table import cell, split


@pytest.mark.parametrize(("value", "width", "text"), [("ab", 4, "ab  "), ("", 2, "  "), (True, 5, "True ")])
def test_text_is_on_the_left(value, width, text):
    assert cell(value, width) == text


@pytest.mark.parametrize(("value", "width", "text"), [(1, 3, "  1"), (-12, 5, "  -12"), (1.5, 4, " 1.5"), (0, 2, " 0")])
def test_numbers_are_on_the_right(value, width, text):
    assert cell(value, width) == text


def test_a_long_text_is_cut():
    assert cell("abcdef", 4) == "abc~"


def test_nothing_is_blank():
    assert cell(None, 3) == "   "


def test_a_row_is_split_at_its_bars():
    assert split("a | b|c ") == ["a", "b", "c"]


def test_a_bar_can_stand_in_a_cell():
    assert split(r"a\|b | c") == ["a|b", "c"]
