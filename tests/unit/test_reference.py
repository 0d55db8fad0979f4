"""docs/reference/ is what the program says today, and leaves nothing out."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)
pages = functools.cache(reference.pages)
_VARIABLE = re.compile(r"\bGOLDSEAM_[A-Z]+(?:_[A-Z]+)*\b(?!_)")


def test_a_page_of_the_reference_is_what_the_program_says():
    for name, text in pages().items():
        assert (reference.FOLDER / name).read_text(encoding="utf-8") == text, "run `make reference`"


def test_every_section_of_the_settings_has_its_table():
    assert set(reference.SECTIONS) == set(reference.settings.Settings.model_fields)


def test_a_key_of_the_settings_says_what_it_means():
    for section, model in reference.SECTIONS.items():
        table = pages()["settings.md"].partition(f"`[{reference.NAMED.get(section, section)}]`")[2]
        rows = {name: re.search(rf"^\| `{name}` \|.*\| (.+) \|$", table, re.MULTILINE) for name in model.model_fields}
        assert {name for name, row in rows.items() if row is None or not row[1].strip()} == set(), section


def test_a_variable_that_the_program_reads_is_described():
    files = (path for package in reference.PACKAGES for path in (ROOT / package).rglob("*.py"))
    read = {name for path in files for name in _VARIABLE.findall(path.read_text(encoding="utf-8"))}
    described = pages()["settings.md"] + pages()["commands.md"]

    assert read > reference.INTERNAL
    assert {name for name in read - reference.INTERNAL if f"`{name}`" not in described} == set()


def test_every_word_of_a_closed_list_says_what_it_means():
    for kind in [kind for lists in reference.LISTS.values() for _, kind in lists]:
        described = reference.docstrings(kind)
        assert [member.name for member in kind if not described.get(member.name)] == [], kind
