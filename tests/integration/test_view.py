"""`goldseam view` in a real browser and over HTTP: what it shows, what it follows, and whom it answers."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess  # noqa: TID251 - a server that runs while it is asked
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harness.core.errors import InputError
from harness.core.instance import Outcome
from harness.report.view.server import View
from harness.report.view.shelf import Shelf
from harness.runs import evaluate
from harness.runs.run_folder import RunFolder
from harness.sandbox.executors.local import LocalExecutor
from tests import tiny
from tests.github_server.schemas import fetch
from tests.report_runs import (
    SECRET_OUTPUT,
    SECRET_TEST,
    add,
    add_transcript,
    make_dataset,
    make_run,
    record,
)
from tests.silent import Silent

ONE, TWO = "acme__widgets-100", "acme__widgets-101"


@pytest.fixture
def runs(tmp_path) -> Path:
    """Two finished runs of six tasks, and one of two predictions of which one is scored."""
    folder = tmp_path / "runs"
    for name, models in {"monday": {"org/alpha": 1, "beta": 0}, "tuesday": {"org/alpha": 0}}.items():
        make_run(folder / name, 6, models)
        RunFolder(path=folder / name).write_run(record(list(models), started_at=f"2026-11-{len(name) + 10}T02:00:00Z"))
    half = folder / "wednesday"
    extra = {"transcript": add_transcript(half, ONE, "org/alpha")}
    made = [add(half, ONE, "org/alpha", extra=extra, output=SECRET_OUTPUT.encode()), add(half, TWO, "org/alpha")]
    RunFolder(path=half).write_predictions(made)
    RunFolder(path=half).write_run(record(["org/alpha"], started_at="2026-11-20T02:00:00Z"))
    (RunFolder(path=half).sample_folder(made[1]) / "report.json").unlink()
    return folder


@pytest.fixture
def view(runs):
    with View(shelf=Shelf(paths=(runs,))) as running:
        thread = threading.Thread(target=running.serve)
        thread.start()
        yield running
        running.stop()
        thread.join()


def _get(url: str, path: str = "", *, method: str = "GET", **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    connection.request(method, parts.path + path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def test_runs_are_listed_newest_first_with_their_progress_and_rates(browser, view):
    page = browser.page().visit(view.url)
    page.until("document.querySelectorAll('#_runs li').length === 4")
    assert page.texts("#_runs th a") == ["wednesday", "tuesday", "monday"]
    assert page.texts("#_runs td:nth-child(5) span") == ["1 of 2", "6 of 6", "12 of 12"]
    assert page.texts("#_runs tr:nth-child(3) .rate") == ["100%", "0%"]
    assert page.troubles() == []


@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing_in_the_list(browser, view, width):
    page = browser.page(width=width).visit(view.url)
    page.until("document.querySelectorAll('#_runs li').length === 4")
    page.run(fetch("axe").read_text(encoding="utf-8") + ";0")
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("axe.run(document).then(done => done.violations.map(one => one.id + one.nodes[0].html))") == []


def test_hostile_names_are_shown_as_text(browser, tmp_path):
    probe = "<img src=x onerror=\"document.title='owned'\">"
    run = tmp_path / "runs" / f"{probe.replace('/', '')}\u202e&run=x#"
    RunFolder(path=run).write_predictions([add(run, ONE, f"model {probe}")])
    with View(shelf=Shelf(paths=(run.parent,))) as running:
        thread = threading.Thread(target=running.serve)
        thread.start()
        page = browser.page().visit(running.url)
        page.until("document.querySelectorAll('#_runs li').length === 1")
        assert probe in page.text("#_runs li")
        page.leave("document.querySelector('#_runs th a').click()")
        assert "owned" not in page.run("document.title").split("–")[0].replace("document.title='owned'", "")
        assert page.run("document.images.length") == 0
        assert page.troubles() == []
        running.stop()
        thread.join()


@pytest.mark.engine
def test_the_progress_of_an_evaluation_in_containers_moves_on_the_open_page(browser, tiny_image, sandbox, tmp_path):
    models = ["one", "three", "two"]
    shown = "document.querySelector('#_runs td:nth-child(5) span')?.textContent"
    (tmp_path / "runs").mkdir()

    class Onlooker(Silent):
        """Lets the next prediction begin when the page has shown the last one."""

        def begin(self, *, total, reused):
            page.until(f"{shown} === '0 of 3'")

        def finished(self, report):
            numbers.append(report.model_name_or_path)
            page.until(f"{shown} === '{len(numbers)} of 3'")

    numbers = []
    with View(shelf=Shelf(paths=(tmp_path / "runs",))) as running:
        thread = threading.Thread(target=running.serve)
        thread.start()
        page = browser.page().visit(running.url)
        evaluate.run(
            tiny.dataset(tmp_path / "ds", tiny.task(tiny_image)),
            [tiny.prediction(model=model) for model in models],
            tmp_path / "runs" / "live",
            sandbox=sandbox,
            executor=LocalExecutor(jobs=1),
            settings=evaluate.Settings(),
            observer=Onlooker(),
        )
        page.until("document.querySelector('#_runs progress').hidden")
        page.until("[...document.querySelectorAll('#_runs .rate')].map(e => e.innerText).join() === '100%,100%,100%'")
        assert page.troubles() == []
        running.stop()
        thread.join()


def test_a_prediction_that_is_scored_meanwhile_shows_by_itself(browser, view, runs):
    page = browser.page().visit(view.url)
    page.until("document.querySelectorAll('#_runs tr').length === 3")
    add(runs / "wednesday", TWO, "org/alpha")
    page.until("document.querySelector('#_runs td:nth-child(5) span').textContent === '2 of 2'")


def test_an_open_report_offers_results_that_came_after_it(browser, view, runs):
    page = browser.page().visit(f"{view.url}report?run=wednesday#{ONE}")
    page.until("_live.textContent.includes('1 of 2 scored')")
    add(runs / "wednesday", TWO, "org/alpha")
    page.until("_live.querySelector('a')")
    page.leave("_live.querySelector('a').click()")
    page.until("document.querySelectorAll('td.o-resolved').length === 2")


def test_an_open_report_whose_run_is_deleted_says_so_and_not_that_the_view_has_ended(browser, view, runs):
    page = browser.page().visit(f"{view.url}report?run=wednesday")
    page.until("_live.textContent.includes('1 of 2 scored')")
    shutil.rmtree(runs / "wednesday")
    page.until("_live.textContent.includes('no run is named')")


def test_two_runs_are_compared_from_the_list(browser, view):
    page = browser.page().visit(view.url)
    page.until("document.querySelectorAll('#_runs tr').length === 3")
    assert page.run("_compare.disabled")
    page.run("for (const name of ['monday', 'tuesday']) document.querySelector(`input[value=${name}]`).click()")
    page.leave("_compare.click()")
    assert set(page.texts(".models .full")) >= {"org/alpha (monday)", "org/alpha (tuesday)"}


def test_a_task_is_opened_with_its_patch_and_its_transcript(browser, view):
    page = browser.page().visit(f"{view.url}report?run=wednesday#{ONE}/org%2Falpha/transcript")
    page.until("document.querySelector('.turn')")
    assert page.texts(".turn .call") == ["bash"]
    page.run("document.querySelector('[data-key=patch]').click()")
    page.until("document.querySelector('.add')")
    assert page.troubles() == []


def test_hidden_content_is_served_with_leave_alone(view, runs):
    closed = _get(view.url, "report?run=wednesday")[1]
    assert [secret for secret in (SECRET_OUTPUT, SECRET_TEST) if secret in closed] == []
    assert SECRET_OUTPUT in Shelf(paths=(runs,), with_hidden=True).report(["wednesday"], live="state.json")


@pytest.mark.parametrize("path", ["/", "/runs.json", "/wrong/", "/wrong/runs.json", "//", "/../etc/passwd"])
def test_without_the_token_there_is_nothing(view, path):
    parts = urlsplit(view.url)
    assert _get(f"http://{parts.netloc}", path)[0] == 404


def test_another_host_is_refused(view):
    status, text, _ = _get(view.url, Host="evil.example")
    assert (status, "Runs" in text) == (421, False)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_but_reading_is_answered(view, method):
    assert _get(view.url, method=method)[0] == 501


def test_no_other_site_may_read_an_answer(view):
    _, _, headers = _get(view.url, "runs.json", Origin="https://evil.example")
    assert headers["Access-Control-Allow-Origin"] is None
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("run", ["..", "../runs/monday", "nope", ""])
def test_only_runs_of_the_list_are_read(view, run):
    status, text, _ = _get(view.url, f"report?run={run}")
    assert (status, "no run is" in text) == (422, True)


def test_a_broken_run_does_not_end_the_view(view, runs):
    (runs / "monday" / "predictions.jsonl").write_text("{broken")
    assert _get(view.url, "report?run=monday")[0] == 422
    assert _get(view.url, "report?run=tuesday")[0] == 200


def test_a_changed_dataset_shows_in_a_report_of_the_same_runs(runs, tmp_path):
    dataset = make_dataset(tmp_path / "ds", 6)
    shelf = Shelf(paths=(runs,), dataset=dataset.path)
    before = shelf.state(["monday"])["version"]
    assert "Another statement" not in shelf.report(["monday"], live="state.json")
    next(dataset.path.glob("tasks/*/problem_statement.md")).write_text("# Another statement\n")
    assert shelf.state(["monday"])["version"] != before
    assert "Another statement" in shelf.report(["monday"], live="state.json")


def test_a_page_that_takes_long_keeps_no_other_page_waiting(runs):
    """A patch of one run is a pipe that nobody writes to until the other run's page is there."""
    pipe = next((runs / "monday").glob("results/*/*/*/patch.diff"))
    pipe.unlink()
    os.mkfifo(pipe)
    shelf, pages = Shelf(paths=(runs,)), []
    slow = threading.Thread(target=lambda: pages.append(shelf.report(["monday"], live="monday")))
    slow.start()
    while not any(slot.lock.locked() for slot in shelf._cache.values()):
        assert slow.is_alive()
    assert "org/alpha" in shelf.report(["tuesday"], live="tuesday")
    assert pages == []
    pipe.write_bytes(b"")
    slow.join()
    assert len(pages) == 1


@pytest.fixture
def unreadable():
    """A folder of two runs of which one may not be looked into."""
    folder = Path(tempfile.mkdtemp(prefix="goldseam-view-test-"))
    folder.chmod(0o755)
    for name in ("closed", "open"):
        make_run(folder / name, 2, {"org/alpha": 1})
    (folder / "closed").chmod(0)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)  # root may look into everything
    yield folder
    if is_root:
        os.seteuid(0)
    (folder / "closed").chmod(0o755)
    shutil.rmtree(folder)


def test_a_run_that_may_not_be_read_is_told_at_its_place_and_the_others_are_shown(unreadable):
    with View(shelf=Shelf(paths=(unreadable,))) as running:
        thread = threading.Thread(target=running.serve)
        thread.start()
        try:
            status, text, _ = _get(running.url, "summary.json?run=closed")
            assert (status, text) == (
                422,
                f"{unreadable / 'closed/predictions.jsonl'} can't be read: Permission denied\n",
            )
            assert _get(running.url, "report?run=closed")[:2] == (422, text)
            assert {row["name"] for row in json.loads(_get(running.url, "runs.json")[1])} == {"closed", "open"}
            assert _get(running.url, "report?run=open")[0] == 200
        finally:
            running.stop()
            thread.join()


def test_the_browser_is_led_to_the_page_without_the_token_in_its_arguments(browser, tmp_path, runs):
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/noted\nmv {tmp_path}/noted {tmp_path}/arguments\n')
    script.chmod(0o755)
    environment = {**os.environ, "BROWSER": f"{script} %s", "DISPLAY": ":0", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "miner.cli.main", "view", str(runs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as child:
        url = child.stdout.readline().strip()
        while not (tmp_path / "arguments").exists():
            assert child.poll() is None
        address = (tmp_path / "arguments").read_text().strip()
        door = Path(urlsplit(address).path)
        assert urlsplit(url).path.strip("/") not in address
        assert (door.stat().st_mode & 0o777, door.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        page = browser.page()
        page.visit(address)
        browser.event(page._session, "Page.loadEventFired")  # of the page that it leads to
        page.until("document.querySelectorAll('#_runs li').length === 4")
        child.send_signal(signal.SIGINT)
        assert child.wait(240) == 0
    assert not door.exists()


def test_a_port_in_use_is_refused_by_name(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is in use"), View(shelf=Shelf(paths=(tmp_path,)), port=port):
            pass


def test_ctrl_c_ends_the_command_well(tmp_path):
    make_dataset(tmp_path / "ds", 1)
    command = [
        sys.executable,
        "-m",
        "miner.cli.main",
        "view",
        str(tmp_path),
        "--no-open",
        "--dataset",
        str(tmp_path / "ds"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", url)
        assert _get(url, "runs.json")[:2] == (200, "[]")
        child.send_signal(signal.SIGINT)
        assert child.wait(240) == 0


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        Shelf(paths=(tmp_path / "gone",)).check()


def test_a_sealed_runs_gold_patch_is_not_shown(tmp_path):
    run = tmp_path / "run"
    made = [add(run, ONE, "gold")]
    RunFolder(path=run).write_predictions(made)
    RunFolder(path=run).write_run(record(["gold"], sealed=True))
    shelf = Shelf(paths=(run,))
    assert shelf.listing()[0]["sealed"] is True
    assert "return number if number" not in shelf.report(["run"], live="state.json")
    assert Outcome.RESOLVED.value in shelf.report(["run"], live="state.json")
