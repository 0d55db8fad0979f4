"""What a statement gives away of the fix, and what it leaves untold that hidden tests ask for."""

from __future__ import annotations

import json

import pytest

from harness.patches.patch import PatchError
from harness.quality.base import Subject
from harness.quality.leaks import leaks, pointers, shas
from tests.quality_parts import CODE, OLD, OLD_TESTS, TESTS, subject

FIXED = OLD.replace("sum(self.items)", "sum(item.price for item in self.items)")
GOLD = {CODE: (OLD, FIXED)}
ROUNDED = OLD.replace("    def total(self):\n", "    def total(self, rounding=None):\n")


def test_a_statement_that_tells_nothing_of_the_fix_overlaps_with_nothing_of_it():
    found = leaks(subject(GOLD))

    assert (found.lines, found.ngrams, found.overlap) == (0.0, 0.0, 0.0)


def test_a_quoted_line_counts_whatever_its_blanks():
    found = leaks(subject(GOLD, statement="Write `return  sum(item.price for\nitem in self.items)` there."))

    assert found.lines == 1.0
    assert found.quoted_lines == ("return sum(item.price for item in self.items)",)


def test_half_of_the_lines_are_half():
    after = FIXED.replace("    return Cart([])", "    return Cart(list(iter(())))")

    assert leaks(subject({CODE: (OLD, after)}, statement="return Cart(list(iter(())))")).lines == 0.5


def test_a_line_that_the_tree_has_elsewhere_gives_nothing_away():
    tree = {"src/shop/other.py": "def price(self):\n    return sum(item.price for item in self.items)\n"}

    assert leaks(subject(GOLD, statement="return sum(item.price for item in self.items)", tree=tree)).lines is None


def test_a_part_of_a_line_counts_by_its_tokens():
    found = leaks(subject(GOLD, statement="Perhaps item.price for item in self.items?"))

    assert found.lines == 0.0
    assert 0 < (found.ngrams or 0) < 1
    assert found.overlap == found.ngrams


def test_code_that_was_there_before_is_no_leak():
    assert leaks(subject(GOLD, statement="I see `def total(self):\n return sum(self.items)`")).overlap == 0.0


def test_documentation_is_no_part_of_the_fix():
    news = "CHANGES.md"
    gold = {**GOLD, news: ("# Changes\n", "# Changes\n\n* The total of a cart counts prices.\n")}
    statement = "* The total of a cart counts prices."

    assert leaks(subject(gold, statement=statement)).overlap == 0.5
    assert leaks(subject(gold, statement=statement, docs=frozenset({news}))).overlap == 0.0


def test_new_names_that_the_statement_tells_are_a_share():
    after = OLD + "\n\ndef cheapest_item():\n    return None\n\n\ndef dearest_item():\n    return None\n"
    found = leaks(subject({CODE: (OLD, after)}, statement="Add cheapest_item."))

    assert (found.names, found.told_names) == (0.5, ("cheapest_item",))


def test_a_name_that_only_fix_and_test_have_is_unshown():
    asking = OLD_TESTS.replace("import Cart", "import Cart, cheapest_item")
    gold = {CODE: (OLD, OLD + "\n\ndef cheapest_item():\n    return None\n")}

    assert leaks(subject(gold, {TESTS: (OLD_TESTS, asking)})).unshown_names == ("cheapest_item",)


@pytest.mark.parametrize("where", ["statement", "tree"])
def test_a_name_that_statement_or_tree_show_is_not_unshown(where):
    asking = OLD_TESTS.replace("import Cart", "import Cart, cheapest_item")
    gold = {CODE: (OLD, OLD + "\n\ndef cheapest_item():\n    return None\n")}
    shown = {"statement": "Add cheapest_item()."} if where == "statement" else {"tree": {"TODO.md": "cheapest_item\n"}}

    assert leaks(subject(gold, {TESTS: (OLD_TESTS, asking)}, **shown)).unshown_names == ()


def test_a_name_that_tests_make_themselves_is_asked_of_nobody():
    asking = OLD_TESTS + "\n\ndef cheapest_item():\n    pass\n\n\ndef test_it():\n    cheapest_item()\n"
    gold = {CODE: (OLD, OLD + "\n\ndef cheapest_item():\n    return None\n")}

    assert leaks(subject(gold, {TESTS: (OLD_TESTS, asking)})).unshown_names == ()


def test_what_is_local_to_a_function_of_the_fix_can_be_asked_by_no_test():
    after = OLD.replace("return sum(self.items)", "net_sum = sum(self.items)\n        return net_sum")
    asking = OLD_TESTS + "\n\ndef test_it(cart):\n    assert cart.net_sum\n"

    assert leaks(subject({CODE: (OLD, after)}, {TESTS: (OLD_TESTS, asking)})).unshown_names == ()


def test_a_parameter_new_to_what_a_test_calls_is_unshown_although_the_tree_has_the_word():
    asking = OLD_TESTS + "\n\ndef test_it():\n    assert Cart([1]).total(rounding=2) == 1\n"
    tree = {"src/shop/tax.py": "def tax(rounding):\n    return rounding\n"}
    found = leaks(subject({CODE: (OLD, ROUNDED)}, {TESTS: (OLD_TESTS, asking)}, tree=tree))

    assert found.unshown_names == ("rounding",)


def test_a_parameter_of_init_is_its_class_s():
    after = OLD.replace("def __init__(self, items):", "def __init__(self, items, currency=None):")
    asking = OLD_TESTS + "\n\ndef test_it():\n    assert Cart([1], currency='EUR')\n"

    assert leaks(subject({CODE: (OLD, after)}, {TESTS: (OLD_TESTS, asking)})).unshown_names == ("currency",)


def test_an_ordinary_word_in_a_comment_shows_no_name_and_between_backticks_it_does():
    asking = OLD_TESTS.replace("import Cart", "import Cart, cheapest")
    gold = {CODE: (OLD, OLD + "\n\ndef cheapest():\n    return None\n")}

    def unshown(text: str) -> tuple[str, ...] | None:
        return leaks(subject(gold, {TESTS: (OLD_TESTS, asking)}, tree={"notes.py": text})).unshown_names

    assert unshown("# the cheapest way\n") == ("cheapest",)
    assert unshown("# `cheapest` is missing\n") == ()
    assert unshown("cheapest = 1\n") == ()


def test_a_message_that_only_fix_and_test_have_is_unshown():
    after = OLD.replace(
        "return sum", 'if not self.items:\n            raise ValueError("no item (yet)")\n        return sum'
    )
    asking = OLD_TESTS + '\n\ndef test_it():\n    with raises(ValueError, match=r"no item \\(yet"):\n        pass\n'
    gold, tests = {CODE: (OLD, after)}, {TESTS: (OLD_TESTS, asking)}

    assert leaks(subject(gold, tests)).unshown_texts == ("no item (yet",)
    assert leaks(subject(gold, tests, statement="Say “No item (yet)”.")).unshown_texts == ()


def test_python_that_cannot_be_read_leaves_names_unknown_and_the_rest_known():
    found = leaks(subject({CODE: (OLD, OLD + "print 'hello'\n")}))

    assert (found.names, found.unshown_names, found.unshown_texts) == (None, None, None)
    assert found.lines == 0.0


def test_another_language_has_no_new_python_names():
    found = leaks(subject({"src/shop/cart.js": ("let a = 1;\n", "let a = total_of(items);\n")}))

    assert (found.unshown_names, found.lines) == ((), 0.0)


def test_the_public_part_holds_counts_and_shares_alone():
    asking = OLD_TESTS.replace("import Cart", "import Cart, cheapest_item")
    gold = {CODE: (OLD, OLD + '\n\ndef cheapest_item():\n    return "nothing at all"\n')}
    found = leaks(subject(gold, {TESTS: (OLD_TESTS, asking)}, statement='return "nothing at all"'))

    assert found.quoted_lines
    assert "nothing at all" in json.dumps(found.hidden())
    assert all(value is None or isinstance(value, int | float) for value in found.public().values())


def test_a_broken_patch_is_an_error():
    with pytest.raises(PatchError):
        leaks(Subject(gold_patch=b"nonsense", test_patch=b"", statement="", base=subject(GOLD).base))


SHA = "0123abc4567"


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        (f"Broken since {SHA}.", "shas"),
        ("https://git.example/acme/shop/pull/12", "links"),
        ("See https://git.example/fork/shop/pull/40/files.", "links"),
        (f"(https://git.example/acme/shop/commit/{SHA})", "links"),
        ("https://git.example/acme/shop/compare/main...fix", "links"),
        ("https://git.example/acme/shop/releases/tag/v1.3.0", "links"),
        ("Done in #12", "numbers"),
        ("This is fixed in version 1.3.", "versions"),
        ("Upgrading to 2.0.1 helps", "versions"),
    ],
)
def test_what_leads_to_the_fix_is_counted(statement, kind):
    found = pointers(subject(GOLD, statement=statement, version="1.2.0"))

    assert getattr(found, kind) == 1
    assert found.total == 1


@pytest.mark.parametrize(
    "statement",
    [
        "https://git.example/acme/shop/issues/12",
        "https://git.example/acme/shop/pull/11",
        "https://git.example/acme/other/pull/99",
        "https://git.example/acme/shop/releases/tag/v1.2.0",
        "It was fixed in 1.1.0 and is back in 1.2.0.",
        "Python 3.13.0 on Linux",
        "See #11 and other/shop#12.",
        "deadbeef and 1234567 are no SHAs of ours",
    ],
)
def test_what_came_before_and_what_is_something_else_is_not(statement):
    assert pointers(subject(GOLD, statement=statement, version="1.2.0")).total == 0


def test_a_commit_of_the_base_s_own_history_leads_nowhere():
    text = f"Broken since {SHA}, see https://git.example/acme/shop/commit/{SHA}"

    assert shas(text) == (SHA,)
    assert pointers(subject(GOLD, statement=text, earlier=frozenset({SHA}))).total == 0
