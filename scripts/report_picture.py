"""Make docs/images/report.png: the first screen of a report of eight models on 400 tasks, in light colours.

python scripts/report_picture.py [FILE]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness.report import work
from tests.browser import Browser, installed
from tests.report_runs import make_realistic

WIDTH, HEIGHT = 1280, 800


def main() -> None:
    """Make the runs, write their page, and take its picture."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "images" / "report.png"
    program = installed()
    if program is None:
        sys.exit("no browser on this machine: install chromium")
    with tempfile.TemporaryDirectory() as place, Browser(program) as browser:
        dataset, run = make_realistic(Path(place))
        html = Path(place) / "report.html"
        work.make([run], dataset=dataset).write_page(html)
        page = browser.page(width=WIDTH, height=HEIGHT).open(html)
        page.ask("Emulation.setScrollbarsHidden", hidden=True)
        page.settle()
        file.parent.mkdir(parents=True, exist_ok=True)
        page.picture(file)
    print(f"{file}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
