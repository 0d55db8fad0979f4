from pocketledger.table import render, shorten


def test_a_table_has_a_header_and_a_rule():
    assert render(["Text", "Cents"], [["Tea", 350], ["Rent", 80000]]) == (
        "Text  Cents\n"
        "----  -----\n"
        "Tea     350\n"
        "Rent  80000"
    )


def test_a_long_text_is_cut():
    assert shorten("Municipal waterworks", 10) == "Municipal…"


def test_a_short_text_stays():
    assert shorten("Tea", 10) == "Tea"


def test_a_wide_column_is_cut():
    assert "Municipa…" in render(["Text"], [["Municipal waterworks"]], widest=9)
