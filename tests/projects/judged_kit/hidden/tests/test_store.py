from shelf import Shelf

from .support import check_keys


def test_put_drops_the_oldest(shelf):
    shelf.put("c", 3)
    check_keys(shelf, ["b", "c"])


def test_get_gives_the_default(shelf):
    assert shelf.get("x") is None
    assert shelf.get("x", 0) == 0


def test_empty():
    check_keys(Shelf(1), [])


def test_get_counts_as_use(shelf):
    assert shelf.get("a") == 1
    shelf.put("c", 3)
    check_keys(shelf, ["a", "c"])


class TestOrder:
    def test_last_read_comes_last(self, shelf):
        shelf.get("a")
        assert shelf.keys() == ["b", "a"]
