"""Plain text tables."""


def shorten(text, width):
    """Cut a text to at most `width` characters; a cut one ends in `…`."""
    if len(text) < width:
        return text
    return text[: width - 1] + "…"


def render(headers, rows, widest=30):
    """Draw a table; numbers stand on the right, everything else on the left.

    No column is wider than `widest` characters.
    """
    numeric = [all(isinstance(row[at], int) for row in rows) for at in range(len(headers))]
    cells = [[shorten(str(cell), widest) for cell in row] for row in rows]
    widths = [max(len(headers[at]), max(len(row[at]) for row in cells)) for at in range(len(headers))]

    def line(values):
        drawn = [
            value.rjust(width) if right else value.ljust(width)
            for value, width, right in zip(values, widths, numeric)
        ]
        return "  ".join(drawn).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(headers), rule, *(line(row) for row in cells)])
