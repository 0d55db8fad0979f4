"""A shopping cart; money is in cents."""

from prices import discount


class Cart:
    def __init__(self):
        self._lines = {}

    def add(self, name, cents, count=1):
        _, before = self._lines.get(name, (cents, 0))
        self._lines[name] = (cents, before + count)

    def remove(self, name):
        self._lines.pop(name, None)

    def names(self):
        return list(self._lines)

    def total(self, code=None):
        total = sum(cents * count for cents, count in self._lines.values())
        return total - discount(total, code)
