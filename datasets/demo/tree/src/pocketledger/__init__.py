"""A small household ledger."""

from pocketledger.categories import Rules
from pocketledger.dates import parse_date
from pocketledger.ledger import Entry, Ledger
from pocketledger.money import format_amount, parse_amount
from pocketledger.statements import read_entries
from pocketledger.table import render

__all__ = ["Entry", "Ledger", "Rules", "format_amount", "parse_amount", "parse_date", "read_entries", "render"]
