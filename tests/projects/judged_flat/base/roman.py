"""Roman numerals."""

_SIGNS = [(1000, "M"), (900, "CM"), (500, "D"), (100, "C"), (90, "XC"), (50, "L"), (10, "X"), (9, "IX"), (5, "V"), (1, "I")]


def to_roman(number):
    """A number from 1 to 3999 as a Roman numeral."""
    if not 0 < number < 4000:
        raise ValueError("no Roman numeral for %r" % (number,))
    text = ""
    for value, sign in _SIGNS:
        text += sign * (number // value)
        number %= value
    return text


def is_roman(text):
    """Whether a text has only Roman signs."""
    return bool(text) and not set(text) - set("IVXLCDM")
