"""Commands that call others of the repository: make targets and shell scripts, read and never run. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miner.evidence import shell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miner.evidence.tree import Tree

_DEEPEST = 3
_MOST = 1000
_LONGEST = 50_000
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
_SHELLS = frozenset({"bash", "sh", "source", ".", "zsh"})
_RULE = re.compile(r"([\w./ -]+?)\s*::?(?!=)\s*([\w./ -]*)(?:#.*)?$")


def followed(tree: Tree, commands: Iterable[tuple[str, ...]], depth: int = 0) -> list[tuple[str, ...]]:
    """The commands, each followed by those that it calls in the repository."""
    scripts: list[tuple[str, ...]] = []
    for words in commands:
        scripts.append(words)
        called = _called(tree, words) if depth < _DEEPEST else ""
        if called:
            scripts += followed(tree, shell.commands(called), depth + 1)
        if len(scripts) > _MOST:
            return scripts[:_MOST]
    return scripts


def _called(tree: Tree, words: tuple[str, ...]) -> str:
    """The text of the target or script that a command calls; empty where it is none of the repository's."""
    if words[0] == "make" or words[0].endswith("/make"):
        targets = [word for word in words[1:] if re.fullmatch(r"[\w./-]+", word) and not word.startswith("-")]
        return "\n".join(_recipe(_makefile(tree), target, 0) for target in targets[:5])
    name = next((word for word in words[1:2] if words[0] in _SHELLS), words[0])
    path = re.sub(r"^(?:\./|\$\{?\w+\}?/)", "", name)
    if "/" not in path and not path.endswith((".sh", ".bash")):
        return ""
    data = tree.read(path) or b""
    if len(data) > _LONGEST or not ((data[:40].startswith(b"#!") and b"sh" in data[:40]) or path.endswith(".sh")):
        return ""
    return data.decode("utf-8", "replace")


def _makefile(tree: Tree) -> str:
    for name in _MAKEFILES:
        data = tree.read(name)
        if data is not None:
            return data[:_LONGEST].decode("utf-8", "replace")
    return ""


def _recipe(makefile: str, target: str, depth: int) -> str:
    """The commands of a target and of those that it depends on, those first."""
    lines: list[str] = []
    before: list[str] = []
    inside = False
    for line in makefile.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            if inside:
                lines.append(line.strip().lstrip("@-").replace("$(", "${").replace(")", "}") if "$(" in line
                             else line.strip().lstrip("@-"))  # fmt: skip
            continue
        match = _RULE.match(line)
        if match:
            inside = target in match[1].split()
            if inside:
                before += match[2].split()
        elif line.strip() and not line.startswith("#"):
            inside = False
    if depth < _DEEPEST:
        lines = [
            *(_recipe(makefile, target_before, depth + 1) for target_before in before[:5] if target_before != target),
            *lines,
        ]
    return "\n".join(lines)
