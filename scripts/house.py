"""Print the size and the words of the code by room, and check the limits that CONTRIBUTING.md names.

Code lines are lines without blanks, comments and docstrings. A vague name is a binding that says nothing of what is
bound; its share is of all names that are bound. Run as `python scripts/house.py`; `--check` only checks.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("goldseam", "harness", "miner")
SENT = ("inside", "tools")
"""Folders of programs that run in containers; `analyst.py` of the signals is one as well."""
MOST_MODULES = 16
"""Modules side by side in one folder."""
MOST_VAGUE = 0.01
"""Share of vague names in one package. It may only fall."""
_VAGUE = """
    answered asked brought came come done each everything fits found given gone got had held here kept knows
    known lies looked made meant named one ones put said same seen sent shown stands such taken that
    them there these they thing things those told took used wanted what which who whose works
"""
VAGUE = frozenset(_VAGUE.split())
_PARTICIPLES = """
    Asked Answered Begun Bound Broken Brought Built Called Checked Chosen Cleaned Counted Cut Done Drawn Driven
    Ended Found Gauged Given Gone Graded Held Joined Judged Kept Known Left Looked Lost Made Marked Measured Met
    Moved Named Noted Observed Opened Ordered Parsed Picked Placed Proved Put Reached Read Recorded Refused
    Returned Revealed Run Said Sealed Seen Sent Shown Sorted Spent Started Stated Stopped Stripped Taken Told
    Tried Used Wanted Written
"""
PARTICIPLES = frozenset(_PARTICIPLES.split())


@dataclass
class Room:
    """Counts of one folder of modules."""

    modules: int = 0
    code: int = 0
    names: int = 0
    vague: Counter[str] = field(default_factory=Counter)
    participles: list[str] = field(default_factory=list)
    lazy: int = 0
    """Imports inside of functions."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="print only what is over a limit")
    parser.add_argument("--names", metavar="FOLDER", help="print where the vague names of a folder stand")
    options = parser.parse_args()
    if options.names:
        print("\n".join(line for path in sorted(Path(options.names).rglob("*.py")) for line in _vague_in(path)))
        return 0
    rooms = {folder: room for package in PACKAGES for folder, room in rooms_of(ROOT / package).items()}
    if not options.check:
        _print(rooms)
    problems = tuple(_problems(rooms))
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return 1 if problems else 0


def rooms_of(package: Path) -> dict[str, Room]:
    """Every folder below a package that holds modules, with its counts."""
    rooms: dict[str, Room] = {}
    for path in sorted(package.rglob("*.py")):
        folder = path.parent.relative_to(ROOT).as_posix()
        room = rooms.setdefault(folder, Room())
        room.modules += path.name != "__init__.py"
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        room.code += code_lines(text, tree)
        bound = bindings(tree)
        room.names += len(bound)
        room.vague.update(name for name, _ in bound if is_vague(name))
        room.participles += [
            f"{path.relative_to(ROOT).as_posix()}: {node.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and node.name.strip("_") in PARTICIPLES and not _is_sent(path)
        ]
        room.lazy += 0 if _is_sent(path) else _imports_inside(tree)
    return rooms


def code_lines(text: str, tree: ast.Module) -> int:
    """Lines that hold code."""
    lines: set[int] = set()
    skipped = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
        tokenize.ENDMARKER,
    }  # fmt: skip
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str):
                lines.difference_update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return len(lines)


def bindings(tree: ast.Module) -> list[tuple[str, int]]:
    """Every name that is bound, with its line: variables, parameters, functions, classes, fields."""
    names: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append((node.id, node.lineno))
        elif isinstance(node, ast.arg):
            names.append((node.arg, node.lineno))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append((node.name, node.lineno))
    return names


def _is_sent(path: Path) -> bool:
    return bool(set(SENT) & set(path.parts)) or path.name == "analyst.py"


def is_vague(name: str) -> bool:
    """Whether a name says nothing of what is bound."""
    return name.strip("_") in VAGUE


def _vague_in(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        f"{path}:{line}: {name}" for name, line in sorted(bindings(tree), key=lambda pair: pair[1]) if is_vague(name)
    ]


def _imports_inside(tree: ast.Module) -> int:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = (node for function in functions for node in ast.walk(function))
    return len({id(node) for node in inner if isinstance(node, ast.Import | ast.ImportFrom)})


def _print(rooms: dict[str, Room]) -> None:
    row = "{:<45} {:>8} {:>8} {:>8} {:>12} {:>5}"
    print(row.format("room", "modules", "code", "vague", "participles", "lazy"))
    for folder, room in rooms.items():
        share = f"{sum(room.vague.values()) / (room.names or 1):.1%}"
        print(row.format(folder, room.modules, room.code, share, len(room.participles), room.lazy))
    for package in (*PACKAGES, ""):
        parts = [room for folder, room in rooms.items() if folder.split("/")[0] == package or not package]
        vague = sum(sum(room.vague.values()) for room in parts) / sum(room.names for room in parts)
        counts = (sum(room.modules for room in parts), sum(room.code for room in parts), f"{vague:.1%}")
        lists = (sum(len(room.participles) for room in parts), sum(room.lazy for room in parts))
        print(row.format(package or "in all", *counts, *lists))


def _problems(rooms: dict[str, Room]) -> list[str]:
    problems = [
        f"{folder}: {room.modules} modules side by side, at most {MOST_MODULES}"
        for folder, room in rooms.items()
        if room.modules > MOST_MODULES
    ]
    for package in PACKAGES:
        parts = [room for folder, room in rooms.items() if folder.split("/")[0] == package]
        words = sum((room.vague for room in parts), Counter[str]())
        share = words.total() / sum(room.names for room in parts)
        if share > MOST_VAGUE:
            most = words.most_common(12)
            problems.append(f"{package}: {share:.1%} of names are vague, at most {MOST_VAGUE:.0%}: {most}")
        problems += [f"{place}: a class is called by a bare participle" for room in parts for place in room.participles]
    return problems


if __name__ == "__main__":
    sys.exit(main())
