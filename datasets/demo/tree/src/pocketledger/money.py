"""Amounts of money as whole numbers of the smallest unit: cents, pence, öre."""

from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from pathlib import Path

_CURRENCIES = Path(__file__).parent / "data" / "währungen.txt"


@lru_cache(maxsize=None)
def _currencies():
    table = {}
    for line in _CURRENCIES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            code, digits = line.split()
            table[code] = int(digits)
    return table


def digits(currency):
    """Digits after the point in a currency; 2 for one we don't know."""
    return _currencies().get(currency, 2)


def parse_amount(text, currency="EUR"):
    """Read an amount such as `1,250.50` as a number of the smallest unit.

    Raises ValueError for text that is not an amount.
    """
    cleaned = text.strip().replace(",", "").replace(" ", "")
    whole, _, fraction = cleaned.partition(".")
    places = digits(currency)
    if len(fraction) > places or (fraction and not fraction.isdigit()):
        raise ValueError(f"not an amount in {currency}: {text!r}")
    try:
        units = int(whole) * 10**places
    except ValueError:
        raise ValueError(f"not an amount in {currency}: {text!r}") from None
    rest = int(fraction.ljust(places, "0") or "0")
    return units + rest if units >= 0 else units - rest


def format_amount(amount, currency="EUR"):
    """Write an amount with its currency: `1250.50 EUR`."""
    places = digits(currency)
    text = str(abs(amount)).rjust(places + 1, "0")
    sign = "-" if amount < 0 else ""
    return f"{sign}{text[:-places]}.{text[-places:]} {currency}"


def percentage(amount, percent):
    """A share of an amount, rounded to the smallest unit."""
    share = Decimal(amount) * Decimal(str(percent)) / 100
    return int(share.quantize(Decimal(1), rounding=ROUND_HALF_EVEN))


def split_evenly(total, parts):
    """Divide an amount into `parts` shares."""
    if parts < 1:
        raise ValueError("an amount is split into one part or more")
    return [total // parts] * parts
