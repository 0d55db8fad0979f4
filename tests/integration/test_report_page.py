"""The page in a real browser: hostile text does nothing, links open what they name, filters filter, keys work."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from harness.core.instance import Outcome
from harness.report import page
from harness.runs.run_folder import RunFolder
from tests.browser import Page
from tests.github_server.schemas import fetch
from tests.report_runs import (
    PATCH,
    SECRET_GOLD,
    SECRET_OUTPUT,
    add,
    add_transcript,
    make_dataset,
    make_realistic,
    make_rich,
    make_run,
    make_task,
)

ONE, TWO, LAST = "acme__widgets-100", "acme__widgets-101", "acme__widgets-105"
PROBE = "<script>document.title='owned'</script>"
EVIL = (
    f"</script>{PROBE}<!--<script> ]]> \u202etxet\u202c \x00 \x1b[31mred\x1b[0m \u2028 {{{{7*7}}}} "
    "<img src=x onerror=\"document.title='owned'\">"
)


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
    return page.run("[...document.querySelectorAll('.drawer')].filter(e => !e.hidden).map(e => e.closest('tbody').id)")


def _shown_rows(page: Page) -> list[str]:
    """The tasks that a filter leaves, whether or not they are near enough to be drawn."""
    return page.run("[...document.querySelectorAll('tbody.task')].filter(e => !e.hidden).map(e => e.id)")


def _choose(page: Page, tab: str) -> None:
    """One of the tabs of what is open."""
    page.run(
        "[...document.querySelectorAll('.drawer .panel:not([hidden]) [role=tab]')]"
        f".find(e => e.dataset.key === '{tab}').click()"
    )
    page.settle()


def test_hostile_text_is_shown_as_text_and_runs_nothing(browser, hostile):
    page = browser.page().open(hostile, f"#{ONE}/alpha%3Cscript%3Edocument.title%3D%27owned%27%3C%2Fscript%3E")
    page.settle()
    shown = page.text(f"#{ONE}")
    assert "owned" not in page.run("document.title").split("–")[0]
    assert shown.count(PROBE) >= 4, "title, model, reason and patch"
    assert page.run("document.images.length") == 0
    assert {"U+202E", "U+0000", "U+2028", "0xFF"} <= set(page.texts(".task .ctl"))
    assert "\x1b" not in shown
    page.run(f"document.querySelector('#{ONE} [role=tab]').click()")
    assert PROBE in page.text(f"#{ONE} .markdown")
    assert page.run("document.images.length") == 0
    assert "owned" not in page.run("document.title").split("–")[0]
    assert page.troubles() == []


def test_a_statement_is_shown_as_markdown_whose_links_and_images_do_no_harm(browser, tmp_path):
    statement = (
        "# Broken\n\nUse `parse('')` **now**, see [docs](https://example.org/a), [run](javascript:alert(1)) and "
        "[data](data:text/html,x).\n\n![pixel](https://tracker.example/p.png)\n\n"
        "<b onmouseover=alert(1)>raw</b>\n\n| a | b |\n|---|---|\n| 1 | \u202e2 |\n"
    )
    dataset = make_dataset(tmp_path / "ds", [make_task(0, statement=statement)])
    RunFolder(path=tmp_path / "run").write_predictions([add(tmp_path / "run", ONE, "alpha")])
    out = tmp_path / "report.html"
    out.write_text(page.render([tmp_path / "run"], dataset=dataset.path), encoding="utf-8")
    opened = browser.page().open(out, f"#{ONE}")
    opened.settle()
    links = opened.run("[...document.querySelectorAll('.markdown a')].map(e => [e.href, e.rel])")
    assert links == [
        ["https://example.org/a", "noopener noreferrer nofollow"],
        ["https://tracker.example/p.png", "noopener noreferrer nofollow"],
    ]
    assert opened.texts(".markdown h4, .markdown code, .markdown strong") == ["Broken", "parse('')", "now"]
    assert opened.texts(".markdown td") == ["1", "U+202E2"]
    assert "<b onmouseover=alert(1)>raw</b>" in opened.text(".markdown")
    assert [each for each in opened.asked_for() if not each.startswith("data:")] == [out.as_uri()]
    assert opened.troubles() == []


def test_a_huge_log_is_cut_in_the_middle_and_its_size_is_told(browser, hostile):
    page = browser.page().open(hostile, f"#{ONE}/alpha%3Cscript%3Edocument.title%3D%27owned%27%3C%2Fscript%3E/output")
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


@pytest.mark.parametrize("width", [400, 1280])
def test_eight_long_model_names_are_nowhere_cut_off(browser, tmp_path_factory, width):
    dataset, run = make_realistic(tmp_path_factory.mktemp("realistic"), 12)
    out = run.parent / "report.html"
    out.write_text(page.render([run], dataset=dataset), encoding="utf-8")
    opened = browser.page(width=width).open(out, "#acme__widgets-16/openai%2Fgpt-5.1-codex-max-2025-11-13")
    opened.settle()
    clipped = opened.run(
        "[...document.querySelectorAll('table.models, .card, .card *, .models th, .models td, .key *, .forest th, "
        ".classes th, .matrix thead th, .task > tr > th, .tab, .sheet h3')]"
        ".filter(e => e.checkVisibility() && !e.closest('.sr') && "
        "(e.scrollWidth > e.clientWidth + 1 && e.clientWidth || e.getBoundingClientRect().right > innerWidth))"
        ".map(e => e.className + ': ' + e.textContent)"
    )
    assert clipped == []
    lines = opened.run("[...document.querySelectorAll('.forest .group a')].map(a => a.getClientRects().length)")
    assert set(lines) == {1}
    assert opened.run("document.documentElement.scrollWidth") <= width
    assert len(set(opened.run("[...document.querySelectorAll('.card')].map(e => e.offsetHeight)"))) == 1


def test_tasks_are_closed_and_empty_until_they_are_asked_for(opened):
    assert _open_tasks(opened) == []
    assert opened.run("document.querySelectorAll('.drawer').length") == 0


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
    opened.run("document.querySelector('.task th a').click()")
    opened.until("document.querySelector('.drawer')")
    assert opened.run("location.hash") == f"#{ONE}"
    assert _open_tasks(opened) == [ONE]


def test_a_task_that_is_open_is_closed_by_the_same_click_and_by_its_button(browser, plain):
    opened = browser.page().open(plain, f"#{TWO}")
    opened.run(f"document.querySelector('#{TWO} th a').click()")
    assert _open_tasks(opened) == []
    opened.run(f"document.querySelector('#{TWO} th a').click()")
    opened.until("!document.querySelector('.drawer').hidden")
    opened.run("document.querySelector('.sheet-top button').click()")
    assert _open_tasks(opened) == []


def test_a_task_is_shown_once_directly_below_its_row(browser, plain):
    opened = browser.page().open(plain, f"#{TWO}/beta")
    assert opened.run("document.querySelectorAll('.drawer').length") == 1
    assert opened.run(f"[...document.getElementById('{TWO}').rows].map(e => e.className)") == ["", "drawer"]


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
    page.until("location.hash.startsWith('#?') && _shown.value.includes(' of ')")
    assert len(_shown_rows(page)) == number


def test_a_group_of_a_cohort_leads_to_its_tasks(browser, rich):
    page = browser.page().open(rich)
    page.run("[...document.querySelectorAll('.forest a')].find(one => one.textContent.trim() === 'acme/gears').click()")
    page.until("location.hash.startsWith('#?') && _shown.value.includes(' of ')")
    assert len(_shown_rows(page)) == 8


def test_sorting_puts_the_hardest_tasks_first(browser, rich):
    page = browser.page().open(rich)
    page.choose("#_sort", "hard")
    solved = page.run("[...document.querySelectorAll('.task')].map(one => Number(one.dataset.solved))")
    assert solved == sorted(solved)


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
    opened.until("document.querySelectorAll('.drawer').length === 1")
    assert _open_tasks(opened) == [TWO]
    opened.press("k")
    opened.press("Enter")
    opened.until("document.querySelectorAll('.drawer').length === 2")
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
    assert page.texts(f"#{ONE} .side-name")[:2] == ["alpha", "beta"]


def test_code_in_a_patch_is_highlighted(browser, rich):
    page = browser.page().open(rich, "#acme__widgets-100/beta")
    assert "return" in page.texts(".diff .c-word")
    assert "10" in page.texts(".diff .c-number")


def test_signals_are_shown_with_what_stands_out_first(browser, rich):
    page = browser.page().open(rich, "#acme__widgets-101/beta")
    _choose(page, "signals")
    shown = page.text("#acme__widgets-101")
    assert "1 security finding" in shown
    assert "B602" in shown
    assert "not measured: not installed" in shown


def test_tests_are_shown_with_their_text_and_output(browser, rich):
    failed = "[...document.querySelectorAll('#_matrix tbody td.o-unresolved a')][0].getAttribute('href')"
    page = browser.page().open(rich)
    page.run(f"location.hash = {failed}")
    page.until("document.querySelector('.drawer')")
    _choose(page, "tests")
    assert any(SECRET_OUTPUT in text for text in page.texts(".results .test"))
    _choose(page, "output")
    assert any("collected 32 items" in text for text in page.texts("[aria-label='Test output']"))


def test_a_transcript_has_a_tab_with_every_turn_and_tool_call(browser, tmp_path):
    run = tmp_path / "run"
    extra = {"transcript": add_transcript(run, ONE, "alpha", text=f"thinking {EVIL}")}
    RunFolder(path=run).write_predictions([add(run, ONE, "alpha", extra=extra)])
    out = tmp_path / "report.html"
    out.write_text(page.render([run]), encoding="utf-8")
    opened = browser.page().open(out, f"#{ONE}/alpha/transcript")
    opened.settle()
    assert opened.texts(".turn .role") == ["system", "user", "assistant", "tool", "assistant"]
    assert opened.texts(".turn .call") == ["bash"]
    assert PROBE in opened.text(".t-assistant")
    assert "owned" not in opened.run("document.title").split("–")[0]
    assert opened.troubles() == []


def test_the_csv_has_a_line_for_each_prediction_shown_and_no_formula(browser, tmp_path):
    run = tmp_path / "run"
    made = [add(run, ONE, '=cmd|" /c x"'), add(run, TWO, '=cmd|" /c x"', Outcome.UNRESOLVED)]
    RunFolder(path=run).write_predictions(made)
    out = tmp_path / "report.html"
    out.write_text(page.render([run]), encoding="utf-8")
    opened = browser.page().open(out, "#?outcome=unresolved")
    opened.run(
        "URL.createObjectURL = blob => { window.saved = blob.text(); return '#'; }; URL.revokeObjectURL = () => {};"
        "HTMLAnchorElement.prototype.click = function () { window.file = this.download; }; _csv.click()"
    )
    assert opened.run("window.file") == "goldseam.csv"
    rows = list(csv.DictReader(io.StringIO(opened.run("window.saved"))))
    assert [(row["instance_id"], row["model"], row["outcome"]) for row in rows] == [
        (TWO, '\'=cmd|" /c x"', "unresolved")
    ]


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
    assert page.texts(".drawer .sheet-top code") == [TWO]
    assert page.printed().startswith(b"%PDF")


@pytest.mark.parametrize("tab", ["", "tests", "signals", "transcript"])
@pytest.mark.parametrize(("dark", "width"), [(False, 400), (True, 1280)], ids=["light and narrow", "dark and wide"])
def test_axe_finds_nothing(browser, rich, dark, width, tab):
    page = browser.page(dark=dark, width=width).open(rich, "#acme__widgets-101" + (f"/beta/{tab}" if tab else ""))
    page.settle()
    page.run(fetch("axe").read_text(encoding="utf-8") + ";0")
    found = page.run(
        "axe.run(document, { resultTypes: ['violations'] }).then(done => done.violations.map("
        "one => [one.id, one.help, ...one.nodes.slice(0, 3).map(node => node.html.slice(0, 200))].join(' | ')))"
    )
    assert found == []


def test_the_matrix_is_a_table_to_a_screen_reader(browser, plain):
    page = browser.page().open(plain)
    page.settle()
    page.ask("Accessibility.enable")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    names = {
        (node["role"]["value"], re.sub(r"\s+", " ", node.get("name", {}).get("value", "")).strip())
        for node in nodes
        if "role" in node
    }
    assert ("heading", "alpha is better than beta here") in names
    assert ("columnheader", "A alpha") in names
    assert ("link", "resolved") in names
    assert ("search", "Filter the tasks") in names
    assert ("searchbox", "Search") in names
