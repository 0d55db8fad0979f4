"""Another order of tests, for pytest of any age."""

from __future__ import annotations

import itertools
import random

import pytest

from tests import inside


class Node:
    """What the order is made from: a node of pytest's tree."""

    def __init__(self, name, parent=None):
        self.nodeid = f"{parent.nodeid}::{name}" if parent else name
        self.parent = parent

    def listchain(self):
        return [*(self.parent.listchain() if self.parent else []), self]

    def __repr__(self):
        return self.nodeid


@pytest.fixture(scope="module")
def reordered():
    names = {}
    exec(inside.part("vary"), names)
    return names["reordered"]


@pytest.fixture
def items():
    """Three files; in each a class of three tests between two functions."""
    root, found = Node("root"), []
    for file in "abc":
        module = Node(file, root)
        found.append(Node("first", module))
        kind = Node("Class", module)
        found += [Node(name, kind) for name in ("x", "y", "z")]
        found.append(Node("last", module))
    return found


def groups(items, depth):
    """The nodes at a depth, in the order in which the tests reach them."""
    return [node for node, _ in itertools.groupby(item.listchain()[depth] for item in items)]


@pytest.mark.parametrize("seed", range(20))
def test_files_and_classes_stay_together_and_no_test_is_lost(reordered, items, seed):
    found = reordered(items, seed)
    assert sorted(map(id, found)) == sorted(map(id, items))
    for depth in (1, 2):
        assert len(groups(found, depth)) == len(set(groups(items, depth)))


def test_the_order_is_turned_round_whole(reordered, items):
    assert reordered(items, 0) == items[::-1]


def test_a_seed_gives_the_same_order_each_time_and_another_one_than_others(reordered, items):
    orders = [tuple(reordered(items, seed)) for seed in range(1, 6)]
    assert orders == [tuple(reordered(items, seed)) for seed in range(1, 6)]
    assert len(set(orders)) == 5


def test_the_order_by_a_seed_does_not_hang_on_the_order_that_was(reordered, items):
    shuffled = sorted(items, key=lambda node: random.Random(1).random())
    assert reordered(shuffled, 3) == reordered(items, 3)


def test_two_tests_of_one_name_are_both_kept(reordered):
    root = Node("root")
    twins = [Node("same", root), Node("same", root)]
    assert sorted(map(id, reordered(twins, 5))) == sorted(map(id, twins))
