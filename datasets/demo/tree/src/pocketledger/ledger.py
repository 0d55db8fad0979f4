"""Entries and the ledger that keeps them."""

import random
from dataclasses import dataclass, replace
from datetime import date


@dataclass(frozen=True)
class Entry:
    """One line of a ledger; `amount` counts cents and is negative for money spent."""

    day: date
    text: str
    amount: int
    category: str = ""
    reference: str = ""
    person: str = ""


def new_reference():
    """A short reference for an entry typed in by hand, such as `M0427`."""
    return f"M{random.randrange(10_000):04d}"


class Ledger:
    """Entries in the order of their days."""

    def __init__(self, entries=()):
        self._entries = []
        self._references = set()
        for entry in entries:
            self.add(entry)

    def __len__(self):
        return len(self._entries)

    def __iter__(self):
        return iter(sorted(self._entries, key=lambda entry: entry.day))

    def add(self, entry):
        """Keep an entry; False when it is there already, as when a statement is imported twice."""
        if entry.reference in self._references:
            return False
        self._references.add(entry.reference)
        self._entries.append(entry)
        return True

    def balance(self, until=None):
        """Sum of all amounts, up to and with a day."""
        return sum(entry.amount for entry in self if until is None or entry.day <= until)

    def by_category(self):
        """Sums by category, in alphabetical order."""
        sums = {}
        for entry in self:
            sums[entry.category] = sums.get(entry.category, 0) + entry.amount
        return dict(sorted(sums.items()))


def share_entry(entry, people):
    """One entry for each person, together worth the entry."""
    if not people:
        raise ValueError("an entry is shared by one person or more")
    share = int(entry.amount / len(people))
    return [replace(entry, amount=share, person=person) for person in people]
