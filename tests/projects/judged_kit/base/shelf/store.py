"""A small least-recently-used store."""

from collections import OrderedDict


class Shelf:
    """Keeps the `size` values that were used last."""

    def __init__(self, size):
        self.size = size
        self._kept = OrderedDict()

    def put(self, key, value):
        self._kept[key] = value
        while len(self._kept) > self.size:
            self._kept.popitem(last=False)

    def get(self, key, default=None):
        return self._kept.get(key, default)

    def keys(self):
        return list(self._kept)
