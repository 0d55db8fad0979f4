"""Discounts by code."""

CODES = {"TEN": 10, "HALF": 50}


def discount(cents, code):
    """What a code takes off, rounded down; an unknown code is refused."""
    return round(cents * CODES.get(code, 0) / 100)
