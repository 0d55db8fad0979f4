"""Whether the real fixes of a repository are taken in every form that people and agents write patches.

    python benchmarks/honest_patches.py BARE_REPOSITORY [--fixes 40]

Each commit that changes Python files is written down in many forms, some with what agents leave behind beside a fix,
read and screened as a model's patch, and applied to its base as the supervisor does it. The tree that comes of it has
to be the commit's own, but for leftovers that may be applied. No container is started.
The last line is one JSON object; exit code 1 if a single one is refused or comes to another tree.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import stat
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.core.instance import TestSpec
from harness.core.process import run
from harness.languages.screening import screen
from harness.patches.patch import PatchError, parse
from tests.applied import built

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def new_file(path: str, mode: int, body: bytes, count: int = 1) -> bytes:
    """A file that a patch brings."""
    name = path.encode()
    head = b"diff --git a/%s b/%s\nnew file mode %06d\nindex 0000000..1111111\n" % (name, name, mode)
    return (
        head
        + b"--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n" % (name, count)
        + b"+"
        + body.replace(b"\n", b"\n+")
        + b"\n"
    )


LINK = new_file("latest.log", 120000, b"out.log") + b"\\ No newline at end of file\n"
GITLINK = new_file("repro", 160000, b"Subproject commit " + b"0123456789" * 4)
LARGE = new_file("out.log", 100644, b"\n".join([b"0123456789ab"] * 99999), 99999)
BINARY = (
    b"diff --git a/x.png b/x.png\nnew file mode 100644\nindex 0000000..1111111\n"
    b"Binary files /dev/null and b/x.png differ\n"
)
HEAP = "heap"
MANY = b"".join(new_file(f"{HEAP}/{number}.txt", 100644, b"x") for number in range(150))


def without_index(text: bytes) -> bytes:
    return b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"index "))


def plain(text: bytes) -> bytes:
    """As `diff -u` prints it: no headers of git."""
    heads = (b"diff --git ", b"index ")
    return b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(heads))


def fenced(text: bytes) -> bytes:
    return b"Here is the fix:\n\n```diff\n" + text + b"```\n\nIt works now.\n"


def crlf(text: bytes) -> bytes:
    return text.replace(b"\n", b"\r\n")


def mail(text: bytes) -> bytes:
    return b"From: Ada <ada@example.org>\nSubject: [PATCH] Fix it\n\n---\n x.py | 2 +-\n\n" + text + b"-- \n2.39.2\n\n"


FORMS: dict[str, tuple[tuple[str, ...], Callable[[bytes], bytes]]] = {
    "git": ((), bytes),
    "U0": (("-U0",), bytes),
    "U1": (("-U1",), bytes),
    "U10": (("-U10",), bytes),
    "no-prefix": (("--no-prefix",), bytes),
    "no-prefix-U0": (("--no-prefix", "-U0"), bytes),
    "mnemonic": (("--src-prefix=i/", "--dst-prefix=w/"), bytes),
    "folders": (("--src-prefix=orig/", "--dst-prefix=changed/"), bytes),
    "renames": (("-M",), bytes),
    "no-prefix-renames": (("--no-prefix", "-M"), bytes),
    "crlf": ((), crlf),
    "crlf-U0-no-prefix": (("-U0", "--no-prefix"), crlf),
    "no-index-lines": ((), without_index),
    "diff-u": ((), plain),
    "diff-u-no-prefix": (("--no-prefix",), plain),
    "mail": ((), mail),
    "fenced": ((), fenced),
    "fenced-crlf": ((), lambda text: crlf(fenced(text))),
    "no-last-newline": ((), lambda text: text.rstrip(b"\n")),
    "link-left": ((), lambda text: text + LINK),
    "submodule-left": ((), lambda text: GITLINK + text),
    "large-log-left": ((), lambda text: LARGE + text),
    "binary-left": ((), lambda text: text + BINARY),
    "many-files-left": ((), lambda text: MANY + text),
}


def fixes(git: list[str], count: int) -> Iterator[tuple[str, str]]:
    """The newest commits that change text files of Python alone, and their parents."""
    log = run([*git, "log", "--no-merges", "--format=%H %P", "--diff-filter=AMRD", "--", "*.py"]).stdout.decode()
    for line in log.splitlines():
        words = line.split()
        if len(words) != 2:  # noqa: PLR2004 - the root has no parent
            continue
        rows = run([*git, "diff-tree", "-r", "--no-commit-id", words[1], words[0]]).stdout.decode().splitlines()
        if len(rows) > 20 or any("120000" in row or "160000" in row or not row.endswith(".py") for row in rows):  # noqa: PLR2004
            continue
        yield words[1], words[0]
        count -= 1
        if not count:
            return


def tree(folder: Path) -> dict[str, tuple[bytes, bool]]:
    """Every file below a folder: its bytes, or a link's target, and whether it may be run."""
    found = {}
    for where, folders, names in os.walk(folder):
        for name in (*names, *(one for one in folders if Path(where, one).is_symlink())):
            path = Path(where, name)
            data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(folder))] = (data, bool(path.lstat().st_mode & stat.S_IXUSR))
    return found


def check_out(git: list[str], commit: str, folder: Path) -> None:
    folder.mkdir()
    with tarfile.open(fileobj=io.BytesIO(run([*git, "archive", commit]).stdout)) as archive:
        archive.extractall(folder, filter="tar")


def judged(text: bytes, base: Path, wanted: dict[str, tuple[bytes, bool]], work: Path) -> str:
    """`same`, or what went wrong."""
    try:
        kept = screen(parse(text), (), TestSpec()).kept
    except PatchError as error:
        return f"refused: {error}"
    paths = {path for path in kept.paths if not path.startswith(HEAP)}
    lost = {path for path in parse(text).paths if not path.startswith(HEAP)} - paths
    if lost:  # what screening takes for the judge's, such as a conftest.py
        return "screened"
    if why_not := built(base, kept, work):
        return f"refused: {why_not}"
    found = {path: data for path, data in tree(work).items() if not path.startswith(HEAP)}
    return "same" if found == wanted else "another tree"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", type=Path)
    parser.add_argument("--fixes", type=int, default=40)
    given = parser.parse_args()
    git = ["git", f"--git-dir={given.repository}"]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for number, (base, fix) in enumerate(fixes(git, given.fixes)):
            before, after = Path(scratch, f"{number}-before"), Path(scratch, f"{number}-after")
            check_out(git, base, before)
            check_out(git, fix, after)
            wanted = tree(after)
            for form, (words, decorate) in FORMS.items():
                whole = run([*git, "diff", "--no-renames", *words, base, fix]).stdout
                text = decorate(whole)
                if decorate is plain and text.count(b"+++ ") < whole.count(b"diff --git "):
                    continue  # an empty file, or a mode: nothing that such a text could say
                came = judged(text, before, wanted, Path(scratch, "work"))
                counts[came.partition(":")[0]] += 1
                if came not in ("same", "screened"):
                    print(f"  {fix[:12]} as {form}: {came[:300]}")
    print(
        json.dumps(
            {
                "forms": len(FORMS),
                "honest": counts.total() - counts["screened"],
                "same": counts["same"],
                "refused": counts["refused"],
                "misapplied": counts["another tree"],
                "screened": counts["screened"],
            }
        )
    )
    return 1 if counts["refused"] + counts["another tree"] else 0


if __name__ == "__main__":
    sys.exit(main())
