from datetime import date

import pytest

from pocketledger.ledger import Entry, Ledger, new_reference, share_entry

RENT = Entry(day=date(2024, 3, 1), text="Rent March", amount=-80000, category="home", reference="B1")
BREAD = Entry(day=date(2024, 3, 5), text="Bakery", amount=-420, category="food", reference="B2")
PAY = Entry(day=date(2024, 2, 28), text="Salary", amount=250000, category="income", reference="B3")


def test_entries_come_in_the_order_of_their_days():
    assert [entry.text for entry in Ledger([BREAD, RENT, PAY])] == ["Salary", "Rent March", "Bakery"]


def test_an_entry_is_kept_once():
    ledger = Ledger([RENT])
    assert not ledger.add(RENT)
    assert len(ledger) == 1


def test_the_balance_is_the_sum():
    assert Ledger([RENT, BREAD, PAY]).balance() == 169580


def test_the_balance_of_a_day_counts_that_day():
    assert Ledger([RENT, BREAD, PAY]).balance(until=date(2024, 3, 1)) == 170000


def test_an_empty_ledger_is_worth_nothing():
    assert Ledger().balance() == 0


def test_sums_by_category_are_sorted():
    assert Ledger([RENT, BREAD, PAY]).by_category() == {"food": -420, "home": -80000, "income": 250000}


def test_a_reference_is_an_m_and_four_digits():
    reference = new_reference()
    assert reference[0] == "M"
    assert len(reference) == 5
    assert reference[1:].isdigit()


def test_an_entry_is_shared():
    shares = share_entry(RENT, ["Ada", "Ben"])
    assert [(share.person, share.amount) for share in shares] == [("Ada", -40000), ("Ben", -40000)]


def test_an_entry_is_not_shared_by_nobody():
    with pytest.raises(ValueError, match="one person"):
        share_entry(RENT, [])
