"""The documentation as a site, opened from the disk in a browser: its search works, and nothing remote is loaded."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from harness.core import process

ELEMENT = re.compile(r'<(\w+)[^>]*? class="?([^">]*)')
LOADED = re.compile(r'<(?!a\b)[^>]*? (?:href|src|srcset|data|poster)="?((?:https?:)?//[^">]*)')
ROOT = Path(__file__).parents[2]
PAGES = [place.relative_to(ROOT / "docs").with_suffix(".html") for place in sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = ("mkdocs", "build", "--quiet", "--strict", "--config-file", ROOT / "mkdocs.yml", "--site-dir", folder)
    process.run((sys.executable, "-m", *words), env={"NO_MKDOCS_2_WARNING": "1"})
    return folder


def test_the_search_finds_a_page_without_a_server(site, browser):
    page = browser.page().open(site / "howto" / "ci.html")

    page.run("document.querySelector('[data-md-component=search-query]').focus()")
    page.type("secrets exposures rotate")
    page.until("document.querySelectorAll('.md-search-result__item').length > 0")

    assert "Keeping a holdout" in page.texts(".md-search-result__item h1")
    assert page.troubles() == []
    page.close()


def test_no_page_loads_anything_from_elsewhere(site, browser):
    """Each page that has a kind of element which none before it had is opened: what a script makes of it is seen."""
    opened, kinds = 0, set()
    for name in PAGES:
        text = (site / name).read_text(encoding="utf-8")
        assert LOADED.findall(text) == [], name
        found = set(ELEMENT.findall(text))
        if found <= kinds:
            continue
        opened, kinds = opened + 1, kinds | found
        page = browser.page().open(site / name)
        foreign = [address for address in page.asked_for() if not address.startswith(("file:", "data:"))]
        assert foreign == [], name
        page.close()
    assert opened > 5
