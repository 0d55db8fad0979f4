"""Which of forty faults in the product the tests notice.

    python benchmarks/planted_faults.py draw SEED > FAULTS.jsonl
    python benchmarks/planted_faults.py try FAULTS.jsonl [--tree CHECKOUT] [--integration]

`draw` chooses a line of each room (and one more in the largest ones) and what becomes of it, by mutmut's operators
without those on texts; the same seed and product give the same faults. `try` plants them one by one in a checkout, runs
the test files that import the module, or import what imports it, until one fails, and says which test that was. Unit
tests alone, unless `--integration` is given. A fault that changes nothing can survive, so figures of two suites are to
be compared, not read alone. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))

from harness.core import process  # noqa: E402 - of this checkout
from miner.languages.python.mutants import faulty  # noqa: E402

FAULTS = 40
SENT = {"inside", "tools"}
"""Folders of programs that run in containers: text to the host."""
SPARED = {"operator_string", "operator_arg_removal"}
SECONDS = 600


def rooms(tree: Path) -> dict[str, list[Path]]:
    """The modules of each room, the largest room first."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(path for package in ("harness", "miner") for path in (tree / package).rglob("*.py")):
        parts = path.relative_to(tree).parts
        if parts[1] != path.name and not SENT & set(parts):
            found["/".join(parts[:2])].append(path)
    return dict(sorted(found.items(), key=lambda room: -sum(path.stat().st_size for path in room[1])))


def draw(tree: Path, seed: str) -> list[dict[str, str]]:
    """The faults, in the order of the rooms."""
    rng, found = random.Random(seed), []
    by_room = list(rooms(tree).items())
    for room, paths in [*by_room, *by_room[: FAULTS - len(by_room)]]:
        while True:
            path = rng.choices(paths, weights=[path.stat().st_size for path in paths])[0]
            data = path.read_bytes()
            source = faulty(data, range(1, data.count(b"\n") + 2))
            if source is None:
                continue
            faults = [one for one in source.faults if one.operator not in SPARED and one.function]
            if not faults:
                continue
            fault = rng.choice(faults)
            start = source.text.rfind("\n", 0, fault.start) + 1
            end = source.text.find("\n", fault.end)
            old = source.text[start:end]
            new = source.text[start : fault.start] + fault.text + source.text[fault.end : end]
            if "\n" not in old and source.text.count(f"\n{old}\n") == 1 and ast.unparse(ast.parse(data)):
                break
        found.append({"room": room, "path": str(path.relative_to(tree)), "old": old, "new": new})
    return found


def importers(tree: Path, path: str) -> list[list[str]]:
    """Test files that import a module, and those that import what imports it."""
    texts = {
        str(file.relative_to(tree)): file.read_text("utf-8")
        for package in ("harness", "miner", "tests")
        for file in (tree / package).rglob("*.py")
        if "projects" not in file.parts
    }

    def of(module: str) -> set[str]:
        name = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        room, _, last = name.rpartition(".")
        here, above = re.escape(name), re.escape(room)
        wanted = re.compile(
            rf"^\s*(from {here} import|import {here}\b|from {above} import [^#\n]*\b{last}\b)", re.MULTILINE
        )
        return {file for file, text in texts.items() if wanted.search(text)}

    first = of(path)
    second = {file for module in first for file in of(module)} - first
    return [sorted(file for file in files if Path(file).name.startswith("test_")) for files in (first, second)]


def attempt(tree: Path, fault: dict[str, str], *, integration: bool) -> str:
    """The test that fails with the fault; empty where none does."""
    place = tree / fault["path"]
    text = place.read_text("utf-8")
    assert text.count(f"\n{fault['old']}\n") == 1, fault
    kinds = ("tests/unit/", "tests/integration/") if integration else ("tests/unit/",)
    env = {"PYTHONPATH": str(tree)}
    place.write_text(text.replace(f"\n{fault['old']}\n", f"\n{fault['new']}\n"), "utf-8")
    try:
        for files in importers(tree, fault["path"]):
            for kind in kinds:
                chosen = [file for file in files if file.startswith(kind)]
                argv = [str(tree / ".venv/bin/python"), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *chosen]
                done = process.run(argv, cwd=tree, env=env, check=False, timeout=SECONDS) if chosen else None
                if done is not None and done.returncode:
                    failed = re.findall(
                        r"^(?:FAILED|ERROR) (\S+)", done.stdout.decode("utf-8", "replace"), re.MULTILINE
                    )
                    return failed[0] if failed else f"pytest ended with {done.returncode}"
    finally:
        place.write_text(text, "utf-8")
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "try"))
    parser.add_argument("given", help="a seed, or a file of faults")
    parser.add_argument("--tree", type=Path, default=HERE)
    parser.add_argument("--integration", action="store_true")
    args = parser.parse_args()
    if args.what == "draw":
        print("\n".join(map(json.dumps, draw(args.tree, args.given))))
        return 0
    faults = [json.loads(line) for line in Path(args.given).read_text("utf-8").splitlines()]
    found = []
    for number, fault in enumerate(faults):
        found.append(attempt(args.tree.resolve(), fault, integration=args.integration))
        print(f"{number} {fault['path']}: {fault['new'].strip()} -> {found[-1] or 'SURVIVED'}", flush=True)
    print(json.dumps({"faults": len(found), "noticed": sum(map(bool, found))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
