"""What a model's answer holds: search/replace blocks, a diff, or whole files. Tolerant, and pure.

Nothing is looked up here: whether the edits fit the repository is found out by `harness/solve/answers/draft.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.solve.answers import diff_text
from harness.solve.answers.edits import Change, Hunk, Tolerance

_FENCE = re.compile(r"^(?P<indent>\s{0,3})(?P<mark>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
_SEARCH = re.compile(r"^\s{0,3}<{5,9}\s*(?:SEARCH|ORIGINAL|HEAD|OLD|BEFORE)?\s*$", re.IGNORECASE)
_DIVIDER = re.compile(r"^\s{0,3}={5,9}\s*$")
_REPLACE = re.compile(r"^\s{0,3}>{5,9}\s*(?:REPLACE|UPDATED|NEW|AFTER|[\w./-]+)?\s*$", re.IGNORECASE)
_THINKING = re.compile(r"\A(?:\s*<(think|thinking|reasoning)>)?.*?</(?:think|thinking|reasoning)>", re.DOTALL)
_ELIDED = re.compile(
    r"^\s*(?:#|//|--)?\s*(?:\.\.\.|…|(?:the )?(?:rest|remainder) of|(?:existing|unchanged|other|previous) code)",
    re.IGNORECASE | re.MULTILINE,
)
_PATH = re.compile(r"[\w@+.\-/ ()\[\]]*[\w)\]]")
_LANGUAGE = re.compile(r"^(?:[A-Za-z0-9_+#.-]+)(?:[:\s]+|$)")
_LOOKS_BACK = 3
"""Lines above a block in which its path is looked for."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer, taken apart."""

    changes: tuple[Change, ...] = ()
    tolerance: frozenset[Tolerance] = frozenset()
    has_code: bool = False
    """There is code, or something like it, whether or not it says where it belongs."""
    is_open: bool = False
    """It ends in the middle of a block."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block."""

    info: str
    lines: tuple[str, ...]
    above: tuple[str, ...]
    """The last lines before it that say something, the nearest first."""
    closed: bool


def read(text: str) -> Answer:
    """Take an answer apart. Edit blocks go before diffs, and those before whole files: a mix is one way of speaking."""
    text = text.replace("\r\n", "\n")
    answer_text, thought = _without_thinking(text)
    tolerance = frozenset({Tolerance.THINKING}) if thought else frozenset()
    lines = answer_text.split("\n")
    blocks = tuple(fenced(lines))
    is_open = any(not block.closed for block in blocks)
    has_code = any(any(line.strip() for line in block.lines) for block in blocks)
    if any(_SEARCH.match(line) for line in lines):
        changes, unfinished = _edit_blocks(lines)
        answer = Answer(changes=changes, has_code=True, is_open=unfinished)
    elif changes := _diffs(lines, blocks):
        answer = Answer(changes=changes, has_code=True, is_open=is_open)
    else:
        answer = Answer(changes=_whole_files(blocks), has_code=has_code, is_open=is_open)
    return replace(answer, tolerance=tolerance)


def _without_thinking(text: str) -> tuple[str, bool]:
    """What was said after thinking aloud; and whether that was so."""
    match = _THINKING.match(text)
    if match is not None:
        return text[match.end() :], True
    if re.match(r"\s*<(?:think|thinking|reasoning)>", text):
        return "", True  # it never came to its answer
    return text, False


def fenced(lines: Sequence[str]) -> Iterator[Block]:
    """Every fenced block; one that is never closed goes to the end."""
    at = 0
    above: tuple[str, ...] = ()
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            if lines[at].strip():
                above = (lines[at], *above)[:_LOOKS_BACK]
            at += 1
            continue
        closing = re.compile(rf"^\s{{0,3}}{re.escape(opening['mark'][0])}{{{len(opening['mark'])},}}\s*$")
        end = next((number for number in range(at + 1, len(lines)) if closing.match(lines[number])), None)
        last = len(lines) if end is None else end
        yield Block(
            info=opening["info"].strip(), lines=tuple(lines[at + 1 : last]), above=above, closed=end is not None
        )
        at, above = last + 1, ()


def named_path(line: str) -> str | None:
    """The path that a line names and that is all it names: `path`, **path**, # path, File: path."""
    bare = line.strip().strip("*#").strip()
    bare = re.sub(r"^(?:(?:in|file|filename|path|update[ds]?|modif(?:y|ied)|edit|create|new file)\b[:\s]*)+", "", bare,
                  flags=re.IGNORECASE)  # fmt: skip
    bare = bare.strip().rstrip(":").strip().strip("*`'\"").strip()
    if not bare or not _PATH.fullmatch(bare) or (" " in bare and "/" not in bare):
        return None
    return bare if "/" in bare or re.search(r"\.\w{1,8}$", bare) else None


# -- search/replace blocks


def _edit_blocks(lines: Sequence[str]) -> tuple[tuple[Change, ...], bool]:
    """The changes, and whether the last block has no end."""
    changes: list[Change] = []
    above: list[str] = []
    carried: str | None = None
    at = 0
    while at < len(lines):
        if not _SEARCH.match(lines[at]):
            if lines[at].strip() and not re.fullmatch(r"\s*[`~]{3,}\s*", lines[at]):
                above.insert(0, lines[at])
            at += 1
            continue
        divider = _next(lines, at + 1, _DIVIDER)
        end = _next(lines, divider + 1, _REPLACE) if divider is not None else None
        if divider is None or end is None:
            return tuple(changes), True
        path = _path_above(above)
        how = {Tolerance.EDIT_BLOCKS} | ({Tolerance.PATH_CARRIED} if path is None else set())
        carried = path or carried
        changes.append(_replacement(carried, lines[at + 1 : divider], lines[divider + 1 : end], frozenset(how)))
        at, above = end + 1, []
    return tuple(changes), False


def _next(lines: Sequence[str], start: int, pattern: re.Pattern[str]) -> int | None:
    return next((at for at in range(start, len(lines)) if pattern.match(lines[at])), None)


def _path_above(above: Sequence[str]) -> str | None:
    for line in above[:_LOOKS_BACK]:
        fence = _FENCE.match(line)
        path = _info_path(fence["info"]) if fence is not None else named_path(line)
        if path is not None:
            return path
    return None


def _info_path(info: str) -> str | None:
    """A path behind the language of a fence: ```python src/x.py, ```python:src/x.py, ```src/x.py."""
    info = re.sub(r"\b(?:title|file|filename|path)=", "", info.strip()).strip("{}").strip()
    return named_path(_LANGUAGE.sub("", info, count=1)) or named_path(info)


def _replacement(path: str | None, old: Sequence[str], new: Sequence[str], how: frozenset[Tolerance]) -> Change:
    if not any(line.strip() for line in old):
        content = "".join(f"{line}\n" for line in new)
        return Change(path=path, creates=True, content=content, tolerance=how)
    hunk = Hunk(lines=tuple(diff_text.between(list(old), list(new))))
    return Change(path=path, hunks=(hunk,), tolerance=how)


# -- diffs


def _diffs(lines: Sequence[str], blocks: Sequence[Block]) -> tuple[Change, ...]:
    """Of the fenced blocks that hold diffs; where none does, of the whole text."""
    changes: list[Change] = []
    for block in blocks:
        how = {Tolerance.FENCE} | (set() if block.closed else {Tolerance.OPEN_FENCE})
        path = _info_path(block.info) or next((path for line in block.above if (path := named_path(line))), None)
        sections = diff_text.sections(block.lines, path=path, in_fence=True)
        changes += [replace(section, tolerance=section.tolerance | how) for section in sections]
    return tuple(changes) or tuple(diff_text.sections(lines, path=None, in_fence=False))


# -- whole files


def _whole_files(blocks: Sequence[Block]) -> tuple[Change, ...]:
    """Blocks whose path stands right above them, behind their language, or in a comment at their head."""
    changes = []
    for block in blocks:
        path = _info_path(block.info) or (named_path(block.above[0]) if block.above else None)
        body = list(block.lines)
        if path is None and body:
            comment = re.fullmatch(r"\s*(?:#|//|--|/\*)\s*(\S+)(?:\s*\*/)?\s*", body[0])
            path = named_path(comment[1]) if comment else None
            body = body[1:] if path else body
        if path is None or not block.closed or _ELIDED.search("\n".join(body)):
            continue
        how = frozenset({Tolerance.FENCE, Tolerance.WHOLE_FILE})
        changes.append(Change(path=path, content="".join(f"{line}\n" for line in body), tolerance=how))
    return tuple(changes)
