"""Bank statements: CSV as banks export it."""

import csv
import io

from pocketledger.dates import parse_date
from pocketledger.ledger import Entry
from pocketledger.money import parse_amount

_REQUIRED = ("date", "text", "amount")


def delimiter_of(header):
    """The character that separates the columns of a header line."""
    return max(",;\t", key=header.count)


def read_entries(content):
    """Read the entries of a CSV statement.

    The header names the columns `date`, `text`, `amount` and, where the bank has it, `reference`.
    Raises ValueError when a column is missing or a line can't be read; the message names the line.
    """
    lines = content.splitlines()
    if not lines:
        return []
    reader = csv.DictReader(io.StringIO(content), delimiter=delimiter_of(lines[0]))
    missing = [name for name in _REQUIRED if name not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"missing columns: {', '.join(missing)}")
    entries = []
    for row in reader:
        try:
            day, amount = parse_date(row["date"]), parse_amount(row["amount"])
        except ValueError as error:
            raise ValueError(f"line {reader.line_num}: {error}") from None
        entries.append(Entry(day=day, text=row["text"].strip(), amount=amount, reference=row.get("reference") or ""))
    return entries
