"""The page in a real browser: hostile text does nothing, links open what they name, filters filter."""

from __future__ import annotations

import os
import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from harness import process
from harness.instance import Outcome
from harness.report import page
from harness.run_folder import RunFolder
from tests.report_runs import PATCH, add, make_dataset, make_run, make_task

ONE, TWO = "acme__widgets-100", "acme__widgets-101"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--virtual-time-budget=5000",
)
PROBE = "<script>document.title='owned'</script>"
EVIL = (
    f"</script>{PROBE}<!--<script> ]]> \u202etxet\u202c \x00 \x1b[31mred\x1b[0m \u2028 {{{{7*7}}}} "
    "<img src=x onerror=\"document.title='owned'\">"
)


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        why = f"no browser on this machine: none of {', '.join(BROWSERS)} is on PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{why}; install chromium, so that the page is really looked at")
        pytest.skip(why)
    return found


class Browser:
    """Headless Chromium; each page in a fresh profile."""

    def __init__(self, program: str, scratch: Path) -> None:
        self.program = program
        self.scratch = scratch

    def dom(self, file: Path, fragment: str = "") -> str:
        """The page's document as its script left it."""
        profile = self.scratch / f"profile-{len(list(self.scratch.iterdir()))}"
        done = process.run(
            [self.program, *OPTIONS, f"--user-data-dir={profile}", "--dump-dom", file.as_uri() + fragment], timeout=120
        )
        return done.stdout.decode("utf-8", "replace")


@pytest.fixture
def chromium(browser, tmp_path_factory) -> Browser:
    return Browser(browser, tmp_path_factory.mktemp("browser"))


def _title(dom: str) -> str:
    return unescape(re.findall(r"<title>(.*?)</title>", dom, re.DOTALL)[0])


def _open_tasks(dom: str) -> list[str]:
    tags = re.findall(r"<details\b[^>]*>", dom)
    return [re.findall(r'\bid="([^"]*)"', tag)[0] for tag in tags if "task" in tag and re.search(r"\bopen\b", tag)]


def _task(dom: str, instance_id: str) -> str:
    return dom[dom.index(f'<details class="task" id="{instance_id}"') :]


@pytest.fixture
def hostile(tmp_path) -> Path:
    """A page whose every text wants out."""
    evil_patch = PATCH.format(name="x") + f"+{EVIL}\n+\udcff\n"
    dataset = make_dataset(tmp_path / "ds", [make_task(0, statement=f"# {EVIL}\n"), make_task(1)])
    run = tmp_path / "run"
    log = b"\x1b]0;owned\x07" + b"noise \xff\n" * 100_000 + EVIL.encode() + b"\n"
    made = [
        add(run, ONE, f"alpha{PROBE}", Outcome.UNRESOLVED, patch=evil_patch, reason=EVIL, output=log),
        add(run, TWO, f"alpha{PROBE}"),
    ]
    RunFolder(path=run).write_predictions(made)
    out = tmp_path / "report.html"
    page.write([run], out, dataset=dataset.path, with_hidden=True)
    return out


def test_hostile_text_is_shown_as_text_and_runs_nothing(chromium, hostile):
    dom = chromium.dom(hostile, f"#{ONE}/alpha%3Cscript%3Edocument.title%3D%27owned%27%3C%2Fscript%3E")
    assert "owned" not in _title(dom)
    shown = _task(dom, ONE)
    assert "&lt;script&gt;document.title='owned'&lt;/script&gt;" in shown
    assert "<img" not in dom
    assert '<span class="ctl">U+202E</span>txet' in shown
    assert '<span class="ctl">U+0000</span>' in shown
    assert '<span class="ctl">0xFF</span>' in shown
    assert "cut: the last" in shown
    assert "\x1b" not in shown


def test_a_script_that_got_into_the_page_would_still_be_refused(chromium, hostile):
    html = hostile.read_text(encoding="utf-8")
    hostile.write_text(html.replace("<main>", f"<main>{PROBE}"), encoding="utf-8")
    assert "owned" not in _title(chromium.dom(hostile))


@pytest.fixture
def plain(tmp_path) -> Path:
    dataset = make_dataset(tmp_path / "ds", 6)
    out = tmp_path / "report.html"
    page.write([make_run(tmp_path / "run", 6, {"org/alpha": 1, "beta": 0})], out, dataset=dataset.path)
    return out


def test_tasks_are_closed_and_empty_until_they_are_asked_for(chromium, plain):
    dom = chromium.dom(plain)
    assert _open_tasks(dom) == []
    assert dom.count('<div class="body"></div>') == 6


def test_a_deep_link_opens_its_task_and_no_other(chromium, plain):
    dom = chromium.dom(plain, f"#{TWO}")
    assert _open_tasks(dom) == [TWO]
    assert "Problem statement" in _task(dom, TWO)


def test_a_deep_link_to_a_model_opens_its_patch(chromium, plain):
    dom = chromium.dom(plain, f"#{TWO}/org%2Falpha")
    assert 'class="l add"' in _task(dom, TWO)


def test_a_link_to_nothing_leaves_the_page_as_it_is(chromium, plain):
    assert _open_tasks(chromium.dom(plain, "#nowhere%E0%A4%A")) == []


def _driven(plain: Path, script: str) -> Path:
    """The page with a second script that does what a person would; its own policy would refuse it."""
    html = plain.read_text(encoding="utf-8")
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    driven = plain.with_name("driven.html")
    driven.write_text(html.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return driven


def _shown_rows(dom: str) -> list[str]:
    body = dom[dom.index('id="_matrix"') : dom.index('id="_tasks"')]
    tags = re.findall(r"<tr data-task[^>]*>", body)
    return [re.findall(r'data-task="([^"]*)"', tag)[0] for tag in tags if " hidden" not in tag]


def test_search_leaves_the_tasks_that_match(chromium, plain):
    script = "_search.value='WIDGETS-103'; _search.dispatchEvent(new Event('input'))"
    assert _shown_rows(chromium.dom(_driven(plain, script))) == ["acme__widgets-103"]


def test_the_outcome_filter_counts_one_model_where_one_is_chosen(chromium, plain):
    script = "_outcome.value='resolved'; _model.value='0'; _model.dispatchEvent(new Event('change'))"

    dom = chromium.dom(_driven(plain, script))
    other = chromium.dom(_driven(plain, script.replace("'0'", "'1'")))
    assert {len(_shown_rows(dom)), len(_shown_rows(other))} == {0, 6}


def test_arrow_keys_move_between_the_cells_of_the_matrix(chromium, plain):
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown',{key:'%s',bubbles:true}))"
    script = (
        f"document.querySelector('#_matrix tbody a').focus(); {press % 'ArrowDown'}; {press % 'ArrowRight'}; "
        "document.title = document.activeElement.getAttribute('href')"
    )
    assert _title(chromium.dom(_driven(plain, script))) == f"#{TWO}/org%2Falpha"
