"""What cutting a test file down to some of its tests is in every language. Pure."""

from __future__ import annotations

Names = tuple[str, ...]
"""A test function: its name, or its class's and its own; or all the titles of a test in one text."""


class CannotCutError(Exception):
    """A test cannot be taken out of its file; the text says why, and names nothing hidden."""


def lines_of(text: str) -> list[str]:
    """The lines of a file, with their ends.

    Raises:
        CannotCutError: some end otherwise than with a line feed, so that a patch could not tell them apart.

    """
    if "\r" in text or "\f" in text:
        raise CannotCutError("the file has lines that end otherwise than with a line feed")
    lines = text.splitlines(keepends=True)
    if len(lines) != text.count("\n") + (not text.endswith("\n") and bool(text)):
        raise CannotCutError("the file has characters that part lines")
    return lines
