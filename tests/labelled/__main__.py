"""`python -m tests.labelled`: every labelled patch; `--write` puts the matrix into docs/failures.md.

The last line is one JSON object.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from harness.sandbox.docker import DockerSandbox
from tests.labelled import campaign
from tests.labelled.labels import labels

PAGE = Path(__file__).parents[2] / "docs" / "failures.md"
BEGIN, END = "<!-- matrix: written by `python -m tests.labelled --write` -->\n", "<!-- end of matrix -->\n"


def main(words: list[str]) -> int:
    """Run all of it, or those whose id begins with one of `words`; 0 if at least 95% agree."""
    began = time.monotonic()
    names = [word for word in words if not word.startswith("--")]
    chosen = [label for label in labels() if not names or label.id.startswith(tuple(names))]
    with DockerSandbox() as sandbox, tempfile.TemporaryDirectory() as folder:
        opened = campaign.dataset(sandbox, Path(folder))
        found = campaign.run(opened, Path(folder) / "run", sandbox, chosen)
    counts = campaign.matrix(found)
    print(campaign.table(counts))
    for one in found:
        if not one.agrees:
            print(f"DIFFERS: {one.row}")
    agreed = sum(one.agrees for one in found)
    if "--write" in words:
        write(campaign.table(counts), agreed, len(found))
    figures = {
        "labelled": len(found),
        "agreed": agreed,
        "share": round(agreed / len(found), 4),
        "classes": len({one.label.label for one in found}),
        "projects": len({one.label.project for one in found}),
        "seconds": round(time.monotonic() - began, 1),
    }
    print(json.dumps(figures))
    return 0 if agreed >= 0.95 * len(found) else 1


def write(table: str, agreed: int, total: int) -> None:
    """Put the matrix between its marks in docs/failures.md."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    told = (
        f"{agreed} of {total} labelled patches are on the diagonal ({agreed / total:.1%}). A row is the class that a\n"
        "person read, a column the class that the table found, by the number of its row; a blank is 0.\n\n"
    )
    PAGE.write_text(f"{before}{BEGIN}\n{told}{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
