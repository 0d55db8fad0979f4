"""A shopping cart; money is in cents."""

from prices import discount


class Cart:
    def __init__(self):
        self._lines = {}

    def add(self, name, cents, count=1):
        self._lines[name] = (cents, count)

    def remove(self, name):
        del self._lines[name]

    def names(self):
        return list(self._lines)

    def total(self, code=None):
        total = sum(cents for cents, _ in self._lines.values())
        return total - discount(total, code)
