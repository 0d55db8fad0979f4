"""Cells of a table in plain text."""

import re


def cell(value, width):
    """A value in a column: numbers to the right, all else to the left; a text that is too long ends in `~`."""
    if value is None:
        value = ""
    text = str(value)
    if len(text) > width:
        text = text[: width - 1] + "~"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return text.rjust(width) if is_number else text.ljust(width)


def split(line):
    """A row's cells; a bar in a cell is written with a backslash before it."""
    return [part.strip().replace("\\|", "|") for part in re.split(r"(?<!\\)\|", line)]
