"""How fast the report opens and answers: 400 tasks by 6 models in headless Chromium.

    python benchmarks/report.py [--tasks N] [--models N] [--hunks N] [--rounds N] [--keep FILE]

Makes a dataset and a run (patches of several hunks, logs, signals, costs; hidden content included, which makes the
page larger), writes the page with the code of `goldseam report`, and opens it from disk in a fresh tab each round.
`load` is from the start of the navigation until the page's script has run and two frames are drawn, so that a click is
answered; `reach` is the jump to the search field, with the matrix drawn for the first time; `key` is from a key in the
search field until the filtered matrix is drawn, the field's own 80 ms of waiting for further keys included; `open_task`
is a task being opened. Medians, and the slowest; `longest_task` is the longest that the page ever held its thread.
Compared with: 2 s to open, 100 ms beyond the wait for a key (docs/report.md). The last line is one JSON object; times
are milliseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness.report import work
from tests.browser import Browser, Page, installed
from tests.report_runs import make_rich

_WATCH = """
window.longest = 0;
new PerformanceObserver(found => {
  for (const one of found.getEntries()) window.longest = Math.max(window.longest, one.duration);
}).observe({ type: 'longtask', buffered: true });
"""
_DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"


def load(page: Page, file: Path) -> float:
    """From the start of the navigation until a click would be answered."""
    page.open(file)
    ready: float = page.run(_DRAWN)
    page.run(_WATCH)
    return ready


def key(page: Page, character: str) -> float:
    """From one more key in the search field until the page shows what it leaves."""
    page.run(
        "window.before = performance.now();"
        " window.told = new Promise(done => new PerformanceObserver((found, me) => {"
        " if (found.getEntriesByName('goldseam-filtered').length) { me.disconnect(); done(0); } })"
        ".observe({ type: 'mark' })); 0"
    )
    page.type(character)
    took: float = page.run(f"told.then(() => {_DRAWN}).then(now => now - window.before)")
    return took


def reach(page: Page) -> float:
    """From the jump to the search field until it and the matrix below it are drawn, which they were not before."""
    took: float = page.run(
        f"(() => {{ const before = performance.now(); _search.focus(); return {_DRAWN}.then(now => now - before); }})()"
    )
    return took


def open_task(page: Page) -> float:
    """A task opened, with its statement and predictions."""
    took: float = page.run(
        "(() => { const before = performance.now();"
        " document.querySelector('tbody.task:not([hidden]) th a').click();"
        f" return {_DRAWN}.then(now => now - before); }})()"
    )
    return took


def measure(browser: Browser, file: Path, rounds: int) -> dict[str, float]:
    """All times over some rounds, each in a tab of its own."""
    loads, reaches, keys, opens, longest = [], [], [], [], []
    for _ in range(rounds):
        page = browser.page()
        loads.append(load(page, file))
        reaches.append(reach(page))
        keys += [key(page, character) for character in "part_3"]
        page.run("_tools.reset()")
        page.settle()
        opens.append(open_task(page))
        longest.append(page.run("window.longest"))
    return {
        "load_ms": round(statistics.median(loads)),
        "load_worst_ms": round(max(loads)),
        "reach_ms": round(statistics.median(reaches)),
        "key_ms": round(statistics.median(keys)),
        "key_worst_ms": round(max(keys)),
        "open_task_ms": round(statistics.median(opens)),
        "longest_task_ms": round(max(longest)),
    }


def main() -> None:
    """Make a run, write its page, open it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--models", type=int, default=6)
    parser.add_argument("--hunks", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    program = installed()
    if program is None:
        sys.exit("no browser on this machine: install chromium")
    with tempfile.TemporaryDirectory() as place, Browser(program) as browser:
        models = {f"org/model-{number}": 0.75 - 0.09 * number for number in range(asked.models)}
        dataset, run = make_rich(Path(place), asked.tasks, models, hunks=asked.hunks)
        file = asked.keep or Path(place) / "report.html"
        began = time.perf_counter()
        work.make([run], dataset=dataset, with_hidden=True).write_page(file)
        wrote = time.perf_counter() - began
        figures = measure(browser, file, asked.rounds)
        figures |= {"write_seconds": round(wrote, 1), "page_mb": round(file.stat().st_size / 1e6, 1)}
    for name, value in figures.items():
        print(f"{name:18} {value:>8}")
    print(json.dumps({"tasks": asked.tasks, "models": asked.models, "rounds": asked.rounds, **figures}))


if __name__ == "__main__":
    main()
