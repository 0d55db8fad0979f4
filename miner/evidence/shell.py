"""Shell commands of strangers, split into words, followed to those that they call, and never run. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

from miner.evidence.tree import Tree

_LONGEST = 50_000
_MOST = 500
_ENDS = frozenset({"&&", "||", ";", "|", "&", ";;", "(", ")", "|&"})
_OPENERS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "exec", "command"})
_WITHOUT_MEANING = frozenset({"sudo", "env", "nice", "retry", "travis_retry", "travis_wait", "xvfb-run", "call", "-"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}|\$\([\w.]+\)|<<\s*\w[\w.-]*\s*>>")
"""What a CI service puts values in for."""
_DUPLICATED = re.compile(r"\s(?:\d?>&\d|&>)(?=\s|$)")
_CONTINUED = re.compile(r"[ \t]*[\\`^]\r?\n[ \t]*")
_DEEPEST = 3
_MOST_SCRIPTS = 1000
_LONGEST_SCRIPT = 50_000
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
_SHELLS = frozenset({"bash", "sh", "source", ".", "zsh"})
_RULE = re.compile(r"([\w./ -]+?)\s*::?(?!=)\s*([\w./ -]*)(?:#.*)?$")


def commands(text: str) -> Iterator[tuple[str, ...]]:
    """The simple commands in a script, as words; redirections, assignments and `sudo` are left out.

    A line that can't be split (an open quote) is skipped. Conditions are not judged: both branches are given.
    """
    depth_given = 0
    for line in _CONTINUED.sub(" ", text[:_LONGEST]).splitlines():
        for words in _split(line):
            plain = _plain(words)
            if plain:
                yield plain
                depth_given += 1
            if depth_given >= _MOST:
                return


def _split(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(
        _DUPLICATED.sub(" ", _EXPRESSION.sub("$expression", line)), posix=True, punctuation_chars=";&|()"
    )
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words: list[str] = []
    try:
        for word in lexer:
            if word in _ENDS:
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:
        return
    yield words


def _plain(words: list[str]) -> tuple[str, ...]:
    """A command without what stands before it and without redirections."""
    start = 0
    while start < len(words) and (
        words[start] in _OPENERS | _WITHOUT_MEANING
        or _ASSIGNMENT.match(words[start])
        or (start and words[start - 1] == "sudo" and words[start].startswith("-"))
    ):
        start += 1
    words_kept: list[str] = []
    skip = False
    for word in words[start:]:
        if skip:
            skip = False
        elif re.fullmatch(r"\d?(?:>>?|<)", word):
            skip = True
        elif not re.match(r"\d?(?:>>?&?|<)\S", word) or _VERSION.match(word):
            words_kept.append(word)
    return tuple(words_kept)


_VERSION = re.compile(r"[<>]=?\d")


def followed(tree: Tree, argvs: Iterable[tuple[str, ...]], depth: int = 0) -> list[tuple[str, ...]]:
    """The commands, each followed by those that it calls in the repository."""
    scripts: list[tuple[str, ...]] = []
    for words in argvs:
        scripts.append(words)
        called = _called(tree, words) if depth < _DEEPEST else ""
        if called:
            scripts += followed(tree, commands(called), depth + 1)
        if len(scripts) > _MOST_SCRIPTS:
            return scripts[:_MOST_SCRIPTS]
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
    if len(data) > _LONGEST_SCRIPT or not (
        (data[:40].startswith(b"#!") and b"sh" in data[:40]) or path.endswith(".sh")
    ):
        return ""
    return data.decode("utf-8", "replace")


def _makefile(tree: Tree) -> str:
    texts = (tree.read(name) for name in _MAKEFILES)
    return next((text for text in texts if text is not None), b"")[:_LONGEST_SCRIPT].decode("utf-8", "replace")


def _recipe(makefile: str, target: str, depth: int) -> str:
    """The commands of a target and of those that it depends on, those first."""
    lines: list[str] = []
    before: list[str] = []
    inside = False
    for line in makefile.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            if inside:
                command = line.strip().lstrip("@-")
                lines.append(command.replace("$(", "${").replace(")", "}") if "$(" in command else command)
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
