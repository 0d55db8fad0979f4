"""Whole cents: parsing, splitting, showing."""


def parse_cents(text):
    """The cents in a text such as `12.50`."""
    whole, _, part = text.strip().partition(".")
    return int(whole) * 100 + int((part + "00")[:2])


def show(cents, symbol="EUR"):
    """A sum as a person writes it."""
    return "%d.%02d %s" % (cents // 100, cents % 100, symbol)


def split_evenly(cents, parts):
    """Split a sum into parts that differ by at most one cent."""
    share, rest = divmod(cents, parts)
    return [share + 1] * rest + [share] * (parts - rest)
