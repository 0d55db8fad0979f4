from datetime import date
from pathlib import Path

import pytest

from pocketledger.statements import delimiter_of, read_entries

DATA = Path(__file__).parent / "data"


def test_a_statement_is_read():
    entries = read_entries((DATA / "april.csv").read_text(encoding="utf-8"))
    assert [(entry.day, entry.text, entry.amount) for entry in entries] == [
        (date(2024, 4, 2), "Green Grocer", -1899),
        (date(2024, 4, 15), "Salary", 250000),
    ]


def test_references_are_kept():
    entries = read_entries("date,text,amount,reference\n2024-04-02,Tea,-3.50,X17\n")
    assert entries[0].reference == "X17"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
def test_the_delimiter_is_found(delimiter):
    assert delimiter_of(delimiter.join(["date", "text", "amount"])) == delimiter


def test_an_empty_file_has_no_entries():
    assert read_entries("") == []


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="missing columns: amount"):
        read_entries("date,text\n2024-04-02,Tea\n")


def test_a_broken_line_is_named():
    with pytest.raises(ValueError, match="line 3"):
        read_entries("date,text,amount\n2024-04-02,Tea,-3.50\n2024-04-03,Tea,much\n")
