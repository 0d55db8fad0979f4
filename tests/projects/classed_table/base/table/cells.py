"""Cells of a table in plain text."""


def cell(value, width):
    """A value in a column: numbers to the right, all else to the left; a text that is too long ends in `~`."""
    return str(value).ljust(width)


def split(line):
    """A row's cells; a bar in a cell is written with a backslash before it."""
    return [part.strip() for part in line.split("|")]
