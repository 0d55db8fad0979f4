"""Discounts by code."""

CODES = {"TEN": 10, "HALF": 50}


def discount(cents, code):
    """What a code takes off, rounded down; an unknown code is refused."""
    if code is None:
        return 0
    if code not in CODES:
        raise ValueError(f"no such code: {code}")
    return cents * CODES[code] // 100
