"""Dates as statements write them, and the arithmetic of months."""

from datetime import date, datetime, timedelta

_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y")

_MONTHS = {
    "Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6,
    "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12,
}


def parse_date(text):
    """Read `2024-05-03`, `03.05.2024`, `03/05/2024` or `3 May 2024`.

    Raises ValueError for text that is not a date.
    """
    text = text.strip()
    words = text.split()
    if len(words) == 3:
        day, month, year = words
        return date(int(year), _MONTHS[month], int(day))
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    raise ValueError(f"not a date: {text!r}")


def add_months(day, months):
    """The same day some months later, or earlier when `months` is negative."""
    index = day.year * 12 + day.month - 1 + months
    return day.replace(year=index // 12, month=index % 12 + 1)


def occurrences(start, count, every=1):
    """The first `count` dates of something that repeats every `every` months."""
    days = []
    current = start
    for _ in range(count):
        days.append(current)
        current = add_months(current, every)
    return days


def month_range(year, month):
    """First and last day of a month."""
    return date(year, month, 1), date(year, month + 1, 1) - timedelta(days=1)
