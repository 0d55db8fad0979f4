"""The page in a real browser: hostile text does nothing, links open what they name, filters filter, keys work."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from harness.core.instance import Outcome
from harness.report import page
from harness.runs.run_folder import RunFolder
from tests.browser import BROWSERS, Browser, Page, installed
from tests.github_server.schemas import fetch
from tests.report_runs import PATCH, SECRET_GOLD, SECRET_OUTPUT, add, make_dataset, make_rich, make_run, make_task

ONE, TWO, LAST = "acme__widgets-100", "acme__widgets-101", "acme__widgets-105"
PROBE = "<script>document.title='owned'</script>"
EVIL = (
    f"</script>{PROBE}<!--<script> ]]> \u202etxet\u202c \x00 \x1b[31mred\x1b[0m \u2028 {{{{7*7}}}} "
    "<img src=x onerror=\"document.title='owned'\">"
)


@pytest.fixture(scope="module")
def browser():
    program = installed()
    if program is None:
        why = f"no browser on this machine: none of {', '.join(BROWSERS)} is on PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{why}; install chromium, so that the page is really looked at")
        pytest.skip(why)
    with Browser(program) as running:
        yield running


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    """A page whose every text wants out."""
    place = tmp_path_factory.mktemp("hostile")
    evil_patch = PATCH.format(name="x") + f"+{EVIL}\n+\udcff\n"
    dataset = make_dataset(place / "ds", [make_task(0, statement=f"# {EVIL}\n"), make_task(1)])
    made = [
        add(place / "run", ONE, f"alpha{PROBE}", Outcome.UNRESOLVED, patch=evil_patch, reason=EVIL, output=b"{log}"),
        add(place / "run", TWO, f"alpha{PROBE}"),
    ]
    RunFolder(path=place / "run").write_predictions(made)
    log = place / "run" / "results"
    with next(log.glob(f"*/{ONE}/0/test_output.txt")).open("wb") as file:
        file.write(b"\x1b]0;owned\x07first\n" + EVIL.encode() + b"\n")
        file.truncate(50 * 1024 * 1024)
        file.seek(0, 2)
        file.write(b"\n\xff last\n")
    out = place / "report.html"
    out.write_text(page.render([place / "run"], dataset=dataset.path, with_hidden=True), encoding="utf-8")
    return out


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Path:
    """Six tasks; alpha resolves all, beta none."""
    place = tmp_path_factory.mktemp("plain")
    dataset = make_dataset(place / "ds", 6)
    run = make_run(place / "run", 6, {"org/alpha": 1, "beta": 0})
    out = place / "report.html"
    out.write_text(page.render([run], dataset=dataset.path), encoding="utf-8")
    return out


@pytest.fixture(scope="module")
def rich(tmp_path_factory) -> Path:
    """All that a page can show, hidden content included."""
    dataset, run = make_rich(tmp_path_factory.mktemp("rich"), 24, {"org/alpha": 0.8, "beta": 0.3, "gold": 1})
    out = dataset.parent / "report.html"
    out.write_text(page.render([run], dataset=dataset, with_hidden=True), encoding="utf-8")
    return out


@pytest.fixture
def opened(browser, plain) -> Page:
    return browser.page().open(plain)


def _open_tasks(page: Page) -> list[str]:
    return page.run("[...document.querySelectorAll('details.task[open]')].map(one => one.id)")


def _shown_rows(page: Page) -> list[str]:
    return [text.split()[0] for text in page.texts("#_matrix tbody th")]


def test_hostile_text_is_shown_as_text_and_runs_nothing(browser, hostile):
    page = browser.page().open(hostile, f"#{ONE}/alpha%3Cscript%3Edocument.title%3D%27owned%27%3C%2Fscript%3E")
    page.settle()
    shown = page.text(f"#{ONE}")
    assert "owned" not in page.run("document.title").split("–")[0]
    assert shown.count(PROBE) >= 4, "statement, model, reason and patch"
    assert page.run("document.images.length") == 0
    assert {"U+202E", "U+0000", "U+2028", "0xFF"} <= set(page.texts(".task .ctl"))
    assert "\x1b" not in shown
    assert page.troubles() == []


def test_a_huge_log_is_cut_in_the_middle_and_its_size_is_told(browser, hostile):
    page = browser.page().open(hostile, f"#{ONE}/alpha%3Cscript%3Edocument.title%3D%27owned%27%3C%2Fscript%3E")
    output = page.text("[aria-label='Test output']")
    assert output.startswith("first\n")
    assert output.rstrip().endswith("0xFF last")
    assert "of 50.0 MB left out here" in output
    assert hostile.stat().st_size < 1_000_000


def test_a_script_that_got_into_the_page_would_still_be_refused(browser, hostile, tmp_path):
    html = hostile.read_text(encoding="utf-8")
    (tmp_path / "broken.html").write_text(html.replace("<main>", f"<main>{PROBE}"), encoding="utf-8")
    page = browser.page().open(tmp_path / "broken.html")
    assert "owned" not in page.run("document.title").split("–")[0]
    assert any("Content Security Policy" in trouble for trouble in page.troubles())


def test_the_page_asks_for_nothing_but_itself_and_has_no_trouble(browser, rich):
    page = browser.page().open(rich, "#acme__widgets-100")
    page.settle()
    asked = [address for address in page.asked_for() if not address.startswith("data:")]
    assert asked == [rich.as_uri()]
    assert page.troubles() == []


def test_the_first_screen_says_who_is_better_how_sure_where_it_fails_and_whether_it_may_ship(browser, plain):
    page = browser.page(width=1280, height=800).open(plain)
    bottoms = page.run(
        "[...document.querySelectorAll('h1, .card, .answers > div')].map(e => e.getBoundingClientRect().bottom)"
    )
    assert max(bottoms) < 800
    assert page.texts(".answers h2") == ["How sure?", "Where does it fail?", "May it ship?"]


@pytest.mark.parametrize("width", [320, 400, 1280])
def test_nothing_makes_the_page_wider_than_its_window(browser, rich, width):
    page = browser.page(width=width).open(rich, "#acme__widgets-100/beta")
    page.settle()
    assert page.run("document.documentElement.scrollWidth") <= width


def test_tasks_are_closed_and_empty_until_they_are_asked_for(opened):
    assert _open_tasks(opened) == []
    assert opened.run("[...document.querySelectorAll('.task .body')].every(one => !one.childNodes.length)")


def test_a_deep_link_opens_its_task_and_no_other(browser, plain):
    page = browser.page().open(plain, f"#{TWO}")
    assert _open_tasks(page) == [TWO]
    assert "Problem statement" in page.text(f"#{TWO}")


def test_a_deep_link_to_a_model_opens_its_patch(browser, plain):
    page = browser.page().open(plain, f"#{TWO}/org%2Falpha")
    assert "+    number = int(value, base=10)" in page.texts(f"#{TWO} .add")[0]


def test_a_deep_link_to_a_filter_shows_what_it_leaves(browser, plain):
    page = browser.page().open(plain, "#?model=beta&outcome=resolved")
    assert _shown_rows(page) == []
    assert page.text("#_nothing") == "No task matches the filter."


def test_a_link_to_nothing_leaves_the_page_as_it_is(browser, plain):
    page = browser.page().open(plain, "#nowhere%E0%A4%A")
    assert _open_tasks(page) == []
    assert page.troubles() == []


def test_opening_a_task_makes_the_address_name_it(opened):
    opened.run("document.querySelector('.task > summary').click()")
    assert opened.run("location.hash") == f"#{ONE}"


def test_search_leaves_the_tasks_that_match_and_the_address_names_it(opened):
    opened.press("/")
    opened.type("WIDGETS-103")
    opened.until("location.hash === '#?q=WIDGETS-103'")
    assert _shown_rows(opened) == ["acme__widgets-103"]
    assert opened.text("#_shown") == "1 of 6 tasks"


def test_search_reads_patches_too(opened):
    opened.press("/")
    opened.type("base=10")
    opened.until("location.hash === '#?q=base%3D10' && !_shown.value.includes('so far')")
    assert len(_shown_rows(opened)) == 6


def test_the_outcome_filter_counts_one_model_where_one_is_chosen(opened):
    opened.choose("#_outcome", "resolved")
    opened.choose("#_model", "org/alpha")
    assert len(_shown_rows(opened)) == 6
    opened.choose("#_model", "beta")
    assert _shown_rows(opened) == []


def test_a_number_of_a_failure_class_leads_to_its_tasks(browser, rich):
    page = browser.page().open(rich)
    link = "document.querySelector('.classes td.num a')"
    number = int(page.run(f"{link}.textContent"))
    page.run(f"{link}.click()")
    page.settle()
    assert len(_shown_rows(page)) == number


def test_a_group_of_a_cohort_leads_to_its_tasks(browser, rich):
    page = browser.page().open(rich)
    page.run("[...document.querySelectorAll('.forest a')].find(one => one.textContent.trim() === 'acme/gears').click()")
    page.settle()
    assert len(_shown_rows(page)) == 8


def test_sorting_puts_the_hardest_tasks_first_in_matrix_and_list(browser, rich):
    page = browser.page().open(rich)
    page.choose("#_sort", "hard")
    solved = page.run("[...document.querySelectorAll('.task')].map(one => Number(one.dataset.solved))")
    assert solved == sorted(solved)
    assert _shown_rows(page) == page.run("[...document.querySelectorAll('.task')].map(one => one.id)")


def test_arrow_keys_move_between_the_cells_of_the_matrix(opened):
    opened.run("document.querySelector('#_matrix tbody a').focus()")
    opened.press("ArrowDown")
    opened.press("ArrowRight")
    assert opened.run("document.activeElement.getAttribute('href')") == f"#{TWO}/org%2Falpha"


def test_one_cell_of_the_matrix_is_in_the_tab_order(opened):
    assert opened.run("document.querySelectorAll('#_matrix tbody a[tabindex=\"0\"]').length") == 1


def test_a_task_is_reached_and_opened_with_the_keyboard_alone(opened):
    opened.press("j")
    opened.press("j")
    opened.press("Enter")
    assert _open_tasks(opened) == [TWO]
    opened.press("k")
    opened.press("Enter")
    assert sorted(_open_tasks(opened)) == [ONE, TWO]


def test_the_help_opens_and_closes_with_the_keyboard(opened):
    opened.press("?")
    assert opened.run("_help.open")
    opened.press("Escape")
    assert not opened.run("_help.open")


def test_the_gold_patch_stands_beside_the_models_file_by_file(browser, rich):
    page = browser.page().open(rich, "#acme__widgets-100/beta")
    sides = page.texts("#acme__widgets-100 .beside .side-name")[:2]
    assert sides == ["beta", "Gold patch"]
    assert any(SECRET_GOLD in text for text in page.texts(".beside .diff"))


def test_without_hidden_content_another_models_patch_can_stand_beside(browser, plain):
    page = browser.page().open(plain, f"#{ONE}/org%2Falpha")
    if page.run(f"document.querySelectorAll('#{ONE} .choice option').length") == 0:
        pytest.fail("no choice of another patch")
    page.choose(f"#{ONE} .choice select", "0")
    assert page.texts(f"#{ONE} .side-name")[:2] == ["org/alpha", "beta"]


def test_code_in_a_patch_is_highlighted(browser, rich):
    page = browser.page().open(rich, "#acme__widgets-100/beta")
    assert "return" in page.texts(".diff .c-word")
    assert "10" in page.texts(".diff .c-number")


def test_signals_are_shown_with_what_stands_out_first(browser, rich):
    page = browser.page().open(rich, "#acme__widgets-101/beta")
    summary = next(text for text in page.texts("#acme__widgets-101 .more > summary") if text.startswith("Signals"))
    assert "1 security finding" in summary
    page.run("[...document.querySelectorAll('#acme__widgets-101 .more')].forEach(one => { one.open = true; })")
    page.settle()
    shown = page.text("#acme__widgets-101")
    assert "B602" in shown
    assert "not measured: not installed" in shown


def test_tests_are_shown_with_their_text_and_output(browser, rich):
    failed = "[...document.querySelectorAll('#_matrix tbody td.o-unresolved a')][0].getAttribute('href')"
    page = browser.page().open(rich)
    page.run(f"location.hash = {failed}")
    page.settle()
    assert any(SECRET_OUTPUT in text for text in page.texts(".results .test"))
    assert any("collected 32 items" in text for text in page.texts("[aria-label='Test output']"))


def test_the_theme_is_chosen_by_hand_over_the_systems(browser, plain):
    page = browser.page(dark=True).open(plain)
    dark = page.run("getComputedStyle(document.body).backgroundColor")
    page.run("_theme.click()")
    assert page.run("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert page.run("getComputedStyle(document.body).backgroundColor") != dark


def test_the_page_prints_light_with_open_tasks_and_without_controls(browser, plain):
    page = browser.page(dark=True).open(plain, f"#{TWO}/org%2Falpha")
    page.ask("Emulation.setEmulatedMedia", media="print")
    assert page.run("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert page.texts("button, .tools") == []
    assert page.run("[...document.querySelectorAll('.task')].filter(e => e.checkVisibility()).map(e => e.id)") == [TWO]
    assert page.printed().startswith(b"%PDF")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing(browser, rich, dark, width):
    page = browser.page(dark=dark, width=width).open(rich, "#acme__widgets-101/beta")
    page.run("[...document.querySelectorAll('.task[open] details')].forEach(one => { one.open = true; })")
    page.settle()
    page.run(fetch("axe").read_text(encoding="utf-8") + ";0")
    found = page.run(
        "axe.run(document, { resultTypes: ['violations'] }).then(done => done.violations.map("
        "one => [one.id, one.help, ...one.nodes.slice(0, 3).map(node => node.html.slice(0, 200))].join(' | ')))"
    )
    assert found == []


def test_the_matrix_is_a_table_to_a_screen_reader(browser, plain):
    page = browser.page().open(plain)
    page.ask("Accessibility.enable")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    names = {
        (node["role"]["value"], re.sub(r"\s+", " ", node.get("name", {}).get("value", "")).strip())
        for node in nodes
        if "role" in node
    }
    assert ("heading", "org/alpha is better than beta here") in names
    assert ("columnheader", "org/alpha") in names
    assert ("link", "resolved") in names
    assert ("search", "Filter the tasks") in names
    assert ("searchbox", "Search") in names
