"""What the search of images finds of planted leaks, how many honest candidates it rejects, and how long it takes.

    python benchmarks/image_leaks.py IMAGE REPOSITORY… [--fixes 40] [--planted 40] [--cache FOLDER]

IMAGE is a task's, built here; its shared layers (base, interpreter, dependencies) are what is searched. Of each
repository, a git folder, the newest changes to both a module and a test of Python are taken, with the tree before them.
These are in the layers by chance alone, so each leak there is a false alarm. Then each is planted into a layer of its
own: every hunk, each fixed file, the file as it is ten changes later among installed packages, byte code, and git
objects, loose and packed. A hunk of less than three new lines, and byte code without a new name or text, are planted as
well and counted apart. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import copy
import json
import py_compile
import sys
import tarfile
import tempfile
import time
import zlib
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.checks import hygiene, image_search
from harness.checks.image_search import parents, unpack
from harness.core.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.checks.hygiene import Leak, Secrets

_SITE = "opt/goldseam/venv/lib/python3.12/site-packages/"
_LATER = 10


def _git(repo: Path, *words: str) -> bytes:
    return run(["git", "-C", str(repo), *words]).stdout


def _is_test(path: str) -> bool:
    return "test" in path.lower()


def _fixes(repo: Path, most: int) -> Iterator[tuple[str, list[str]]]:
    """Commits and their changed modules, newest first; both a test and another module are among these."""
    log = _git(repo, "log", "--no-merges", "--format=%x00%H", "--name-only", "--diff-filter=M", "-n", "3000", "HEAD")
    fixes = 0
    for entry in log.decode().split("\0")[1:]:
        commit, *paths = entry.split()
        modules = [path for path in paths if path.endswith(".py")]
        if len({_is_test(path) for path in modules}) == 2 and len(modules) <= 6:  # noqa: PLR2004
            yield commit, modules
            fixes += 1
        if fixes == most:
            return


def _tree(repo: Path, commit: str) -> dict[str, bytes]:
    with tarfile.open(fileobj=BytesIO(_git(repo, "archive", f"{commit}^"))) as archive:
        return {
            member.name: data.read()
            for member in archive
            if member.isfile() and (data := archive.extractfile(member)) is not None
        }


def _of_tree(secrets: Secrets, tree: dict[str, bytes]) -> hygiene.Search:
    search = hygiene.Search(secrets=secrets, unpack=unpack)
    for path, data in tree.items():
        search.feed(f"testbed/{path}", data)
    return search


def _leaks(of_tree: hygiene.Search, indexes: list[image_search.LayerIndex]) -> tuple[Leak, ...]:
    search = copy.deepcopy(of_tree)
    for index in indexes:
        index.feed(search)
    return search.leaks()


def _show(repo: Path, commit: str, path: str) -> bytes:
    return _git(repo, "show", f"{commit}:{path}")


def _package(path: str) -> str:
    return path.removeprefix("src/").removeprefix("lib/")


def _plants(
    repo: Path, commit: str, modules: list[str], secrets: Secrets, tree: dict[str, bytes]
) -> Iterator[tuple[str, dict[str, bytes]]]:
    known = {line.strip() for data in tree.values() for line in data.split(b"\n")}
    news = {file.path: file for file in secrets.by_file if file.lines - known}
    later = _git(repo, "log", "--format=%H", "--reverse", f"{commit}..HEAD").decode().split()[:_LATER]
    for path in modules:
        if path not in news:
            continue
        fixed = _show(repo, commit, path)
        for hunk in news[path].hunks:
            kind = "hunk" if len(hunk - known) >= 3 else "hunk of one or two lines"  # noqa: PLR2004
            around = b"import os\n" * 3
            yield kind, {"usr/share/x/notes.txt": around + b"\n".join(sorted(hunk)) + b"\n" + around}
        yield "fixed file", {f"usr/share/x/{_package(path)}": fixed}
        yield "fixed file in site-packages", {f"{_SITE}{_package(path)}": fixed}
        yield "loose object", {"srv/x/.git/objects/ab/" + "c" * 38: zlib.compress(b"blob %d\0" % len(fixed) + fixed)}
        yield "packed object", {"srv/x/.git/objects/pack/pack-1.pack": _pack(fixed)}
        if later and _git(repo, "ls-tree", later[-1], "--", path):
            yield "later release in site-packages", {f"{_SITE}{_package(path)}": _show(repo, later[-1], path)}
        compiled = _compiled(fixed)
        if compiled:
            everything = b"\n".join(tree.values())
            words = {word for word in news[path].words if word in compiled and word not in everything}
            kind = "byte code" if words else "byte code without a new name or text"
            folder, _, name = _package(path).rpartition("/")
            yield kind, {f"{_SITE}{folder}/__pycache__/{name.removesuffix('.py')}.cpython-312.pyc": compiled}


def _compiled(source: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.py"
        path.write_bytes(source)
        try:
            py_compile.compile(str(path), str(path.with_suffix(".pyc")), doraise=True)
            return path.with_suffix(".pyc").read_bytes()
        except py_compile.PyCompileError:
            return b""


def _pack(content: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        _git(repo, "init", "-q", "--bare")
        sha = run(["git", "-C", folder, "hash-object", "-w", "--stdin"], input=content).stdout
        return run(["git", "-C", folder, "pack-objects", "-q", "--stdout"], input=sha).stdout


def main() -> None:
    """Search, plant, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--fixes", type=int, default=40)
    parser.add_argument("--planted", type=int, default=40, help="so many of each repository's are planted")
    parser.add_argument("--cache", type=Path, help="keep what is remembered of layers here; else it is made anew")
    args = parser.parse_args()
    seconds: dict[str, list[float]] = {"first": [], "again": []}
    with tempfile.TemporaryDirectory(prefix="goldseam-") as temporary:
        folder = args.cache or Path(temporary)
        for taken in seconds.values():
            for parent in parents(args.image):
                began = time.monotonic()
                image_search.of(parent, folder, unpack)
                taken.append(round(time.monotonic() - began, 2))
        indexes = [image_search.of(parent, folder, unpack) for parent in parents(args.image)]
    honest, planted, detected = 0, Counter[str](), Counter[str]()
    rejected: list[str] = []
    searching: list[float] = []
    for repo in args.repositories:
        for number, (commit, modules) in enumerate(_fixes(repo, args.fixes)):
            parts = [[path for path in modules if _is_test(path) is is_test] for is_test in (False, True)]
            gold, tests = (_git(repo, "diff", f"{commit}^", commit, "--", *paths) for paths in parts)
            secrets = hygiene.secrets(gold, tests, commits=[commit])
            tree = _tree(repo, commit)
            honest += 1
            began = time.monotonic()
            of_tree = _of_tree(secrets, tree)
            leaks = _leaks(of_tree, indexes)
            searching.append(time.monotonic() - began)
            if leaks:
                rejected.append(f"{repo} {commit[:9]}: {leaks[0].where}: {leaks[0].text}")
                print("rejected", rejected[-1], flush=True)
            plants = _plants(repo, commit, modules, secrets, tree) if number < args.planted else ()
            for kind, files in plants:
                planted[kind] += 1
                detected[kind] += bool(_leaks(of_tree, [image_search.build(files.items(), unpack)]))
    for kind, count in sorted(planted.items()):
        print(f"{kind}: {detected[kind]} of {count}")
    print(f"rejected {len(rejected)} of {honest}; layers {seconds}")
    report = {"honest": honest, "rejected": len(rejected), "planted": planted, "detected": detected, "seconds": seconds}
    print(json.dumps({**report, "slowest_search": round(max(searching, default=0), 2)}))


if __name__ == "__main__":
    main()
