"""docs/reference/ is what the program says today, and leaves nothing out."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)
PAGES = reference.pages()
SETTINGS = PAGES["settings.md"]
_VARIABLE = re.compile(r"\bGOLDSEAM_[A-Z]+(?:_[A-Z]+)*\b(?!_)")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_is_what_the_program_says(name):
    assert (reference.FOLDER / name).read_text(encoding="utf-8") == PAGES[name], "run `make reference`"


def test_every_section_of_the_settings_has_its_table():
    assert set(reference.SECTIONS) == set(reference.settings.Settings.model_fields)


@pytest.mark.parametrize("section", reference.SECTIONS)
def test_a_key_of_the_settings_says_what_it_means(section):
    table = SETTINGS.partition(f"`[{reference.NAMED.get(section, section)}]`")[2]
    rows = {
        name: re.search(rf"^\| `{name}` \|.*\| (.+) \|$", table, re.MULTILINE)
        for name in reference.SECTIONS[section].model_fields
    }

    assert {name for name, row in rows.items() if row is None or not row[1].strip()} == set()


def _read_by_the_program() -> set[str]:
    files = (path for package in reference.PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {name for path in files for name in _VARIABLE.findall(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", sorted(_read_by_the_program() - reference.INTERNAL))
def test_a_variable_that_the_program_reads_is_described(name):
    assert f"`{name}`" in SETTINGS + PAGES["commands.md"]


@pytest.mark.parametrize("kind", [kind for lists in reference.LISTS.values() for _, kind in lists])
def test_every_word_of_a_closed_list_says_what_it_means(kind):
    undescribed = [member.name for member in kind if not reference.docstrings(kind).get(member.name)]

    assert undescribed == []
