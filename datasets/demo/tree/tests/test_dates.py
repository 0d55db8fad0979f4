from datetime import date

import pytest

from pocketledger.dates import add_months, month_range, occurrences, parse_date


@pytest.mark.parametrize("text", ["2024-05-03", "03.05.2024", "03/05/2024", "3 May 2024"])
def test_dates_are_read(text):
    assert parse_date(text) == date(2024, 5, 3)


def test_other_text_is_no_date():
    with pytest.raises(ValueError, match="not a date"):
        parse_date("tomorrow")


def test_months_are_added():
    assert add_months(date(2024, 1, 15), 1) == date(2024, 2, 15)
    assert add_months(date(2024, 11, 15), 3) == date(2025, 2, 15)


def test_months_are_taken_away():
    assert add_months(date(2024, 1, 15), -2) == date(2023, 11, 15)


def test_a_rent_falls_due_every_month():
    assert occurrences(date(2024, 11, 1), 3) == [date(2024, 11, 1), date(2024, 12, 1), date(2025, 1, 1)]


def test_an_insurance_falls_due_every_quarter():
    assert occurrences(date(2024, 1, 10), 2, every=3) == [date(2024, 1, 10), date(2024, 4, 10)]


@pytest.mark.parametrize(("month", "last"), [(1, 31), (2, 29), (4, 30)])
def test_a_month_ends_on_its_last_day(month, last):
    assert month_range(2024, month) == (date(2024, month, 1), date(2024, month, last))
