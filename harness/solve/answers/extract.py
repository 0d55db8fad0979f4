"""From a model's answer to a patch, or to the one word that says why there is none. Pure but for reading the tree.

Tolerant towards form and strict towards meaning: fences, headers, line numbers and spaces may be wrong, and what was
forgiven is recorded; where an edit could be meant in two ways, neither is chosen. Changed Python
files have to parse still where that can be judged: the file parsed before the change, or is new and no test's fixture,
and our own interpreter knows the grammar of the task's version.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.core import python_source
from harness.solve.answers import answer
from harness.solve.answers.draft import Draft, Readable
from harness.solve.answers.edits import Change, EditError, Tolerance

_LOWEST = (3, 7)
"""`ast.parse` takes older grammars for this one."""


class NoPatch(StrEnum):
    """Why an answer has no patch that could be run."""

    EMPTY = "empty"
    """Nothing was said, or the edits change nothing."""
    REFUSED = "refused"
    """The model would not, or its endpoint filtered the answer."""
    NO_CODE = "no_code"
    """Prose alone."""
    NO_PATCH_IN_ANSWER = "no_patch_in_answer"
    """Code, but nothing that says which file it belongs to or what it takes the place of."""
    DOES_NOT_APPLY = "does_not_apply"
    """The edits are for files or lines that are not there."""
    AMBIGUOUS = "ambiguous"
    """The edits fit in more than one place, or do not say where."""
    DOES_NOT_PARSE = "does_not_parse"
    """A Python file that parsed would no longer."""
    CUT = "cut"
    """The answer ended at its token limit in the middle of a block, or before one."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The prompt did not fit, not even with fewer files."""
    LIMIT = "limit"
    """A limit of the task, on money, tokens, time or turns, was used up first."""
    NO_CHANGE = "no_change"
    """An agent ended its work, and the tree is as it was."""
    WORKSPACE_LOST = "workspace_lost"
    """What an agent ran took its own container down, or left nothing to read."""


@dataclass(frozen=True, kw_only=True)
class Extracted:
    """What came of an answer: a patch, or a reason."""

    patch: str | None
    no_patch: NoPatch | None = None
    detail: str = ""
    """For people: what was found in place of a patch."""
    tolerance: tuple[str, ...] = ()
    """Words of `Tolerance`, sorted."""
    unusable: str | None = None
    """The patch that was made but does not parse."""


_REFUSAL = re.compile(
    r"^\W*(?:i(?:'m| am)? (?:sorry|unable|not able|can(?:no|')t|won'?t|must decline)|sorry, (?:but )?i|i can(?:no|')t\b"
    r"|as an ai\b|i will not\b)",
    re.IGNORECASE,
)
_SHOWN = 160
_KEPT_SHARE = 0.5
"""Of a file's lines that say something, how many a whole-file block has to keep: less is a part that is passed off as
the whole, or another file."""


def extract(
    text: str, tree: Readable, *, finish_reason: str = "stop", refusal: str | None = None, version: str = ""
) -> Extracted:
    """Find the patch in an answer.

    Args:
        text: what the model said.
        tree: the repository at the base commit.
        finish_reason: as the endpoint says it; `length` is an answer that was cut.
        refusal: what the endpoint marks as a refusal.
        version: of the task's interpreter, for Python files to parse by.

    """
    if refusal is not None or (finish_reason == "content_filter" and not text.strip()):
        return _none(NoPatch.REFUSED, refusal or "the endpoint filtered the answer")
    cut = finish_reason == "length"
    if not text.strip():
        if cut:
            return _none(NoPatch.CUT, "the token limit was used up before anything was said")
        return _none(NoPatch.EMPTY, "the answer is empty")
    answer_read = answer.read(text)
    if cut and (answer_read.is_open or not answer_read.changes):
        return _none(
            NoPatch.CUT, f"the answer ends at its token limit, after {len(text)} characters", answer_read.tolerance
        )
    if not answer_read.changes:
        return _none(*_why_nothing(text, answer_read), answer_read.tolerance)
    extracted = _make(answer_read.changes, tree, version)
    extra = set(answer_read.tolerance) | ({Tolerance.CUT} if cut else set())
    return replace(extracted, tolerance=tuple(sorted({*extracted.tolerance, *extra})))


def _none(reason: NoPatch, detail: str, tolerance: frozenset[Tolerance] = frozenset()) -> Extracted:
    return Extracted(patch=None, no_patch=reason, detail=detail, tolerance=tuple(sorted(tolerance)))


def _why_nothing(text: str, answer_read: answer.Answer) -> tuple[NoPatch, str]:
    squeezed = " ".join(text.split())
    squeezed = squeezed if len(squeezed) <= _SHOWN else f"{squeezed[:_SHOWN]}…"
    if answer_read.has_code or answer_read.is_open:
        problem = "an edit block without an end" if answer_read.is_open else "code without a file it belongs to"
        return NoPatch.NO_PATCH_IN_ANSWER, f"{problem}: {squeezed}"
    if _REFUSAL.search(text):
        return NoPatch.REFUSED, squeezed
    if Tolerance.THINKING in answer_read.tolerance and "</" not in text:
        return NoPatch.EMPTY, "the model never stopped thinking aloud"
    return NoPatch.NO_CODE, squeezed


def _make(changes: Sequence[Change], tree: Readable, version: str) -> Extracted:
    draft = Draft(tree=tree)
    changes_made: list[Change] = []
    try:
        for change in changes:
            if change in changes_made:
                draft.tolerance.add(Tolerance.REPEATED)
                continue
            if change.content is not None and not change.creates:
                _refuse_parts(change, draft)
            draft.make(change)
            changes_made.append(change)
    except EditError as error:
        reason = NoPatch.AMBIGUOUS if error.ambiguous else NoPatch.DOES_NOT_APPLY
        return _none(reason, str(error), frozenset(draft.tolerance))
    changed = draft.changed()
    if not changed:
        return _none(NoPatch.EMPTY, "the edits change nothing", frozenset(draft.tolerance))
    extracted = Extracted(patch=draft.patch(), tolerance=tuple(sorted(draft.tolerance)))
    broken = broken_file(changed, version)
    if broken is None:
        return extracted
    return replace(extracted, patch=None, unusable=extracted.patch, no_patch=NoPatch.DOES_NOT_PARSE, detail=broken)


def _refuse_parts(change: Change, draft: Draft) -> None:
    """See that a block that is to take a whole file's place is not only a part of it.

    Raises:
        EditError: it keeps too little of the file.

    """
    before = draft.lines_of(change)
    if before is None:
        return
    left = [line.strip() for line in (change.content or "").split("\n")]
    total = sum(line.strip() in left for line in before if line.strip())
    lines_with_text = sum(bool(line.strip()) for line in before)
    if lines_with_text and total < lines_with_text * _KEPT_SHARE:
        raise EditError(
            f"a block named {change.path} holds {total} of the file's {lines_with_text} lines: "
            "a part, or another file?",
            ambiguous=True,
        )


def broken_file(changed: Mapping[str, tuple[bytes | None, bytes | None]], version: str) -> str | None:
    """The first Python file that no longer parses, and why; None where all do, or none can be judged.

    Args:
        changed: by path, what a file held before and holds now; None where it is not there.
        version: of the task's interpreter, such as `3.11`.

    """
    for path, (old, new) in changed.items():
        if new is None or not path.endswith((".py", ".pyi")):
            continue
        if old is None and not _is_plain(path):
            continue
        if old is not None and _problem(old, version) is not None:
            continue
        problem = _problem(new, version)
        if problem is not None:
            return f"{path}, {problem}"
    return None


def _is_plain(path: str) -> bool:
    """Whether a new file is code that is meant to run: no template, no data of a test."""
    return not re.search(r"[{}]|(?:^|/)(?:tests?|testing|fixtures|data|templates)(?:/|$)", path)


def _problem(source: bytes, version: str) -> str | None:
    match = re.fullmatch(r"(\d+)\.(\d+)(?:\..*)?", version)
    target = (int(match[1]), int(match[2])) if match else sys.version_info[:2]
    if target > sys.version_info[:2]:
        return None  # a newer grammar than ours
    try:
        python_source.parse(source, feature_version=max(target, _LOWEST))
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return None
