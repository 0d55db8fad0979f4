"""Make docs/images/report.png: the top of a report that a real run has, in light colours, without the machine's name.

goldseam demo -o demo-out && python scripts/report_picture.py demo-out/report.html [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.browser import Browser, installed

WIDTH, HEIGHT = 1280, 780


def main() -> None:
    """Take the picture."""
    html = Path(sys.argv[1]).resolve()
    file = Path(sys.argv[2]) if len(sys.argv) > 2 else Path("docs/images/report.png")  # noqa: PLR2004
    program = installed()
    if program is None:
        sys.exit("no browser on this machine: install chromium")
    with Browser(program) as browser:
        page = browser.page(width=WIDTH, height=HEIGHT).open(html)
        page.run("document.documentElement.style.overflow = 'hidden'")  # no scrollbar in the picture
        page.run("[...document.querySelectorAll('.origin div')].find(e => /^machine/.test(e.textContent)).remove()")
        page.settle()
        page.picture(file)
    print(f"{file}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
