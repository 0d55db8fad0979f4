"""From what tools find before and after a patch to what the patch brings and takes away. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from harness.core.records import PartialRecord
from harness.signals.model import (
    Complexity,
    EslintLint,
    FunctionComplexity,
    Lint,
    LintFinding,
    Measure,
    Security,
    SecurityFinding,
)

LISTED = 200
"""Findings listed of one kind; all are counted."""
LISTED_FUNCTIONS = 50
OWN_CWE = {"B102": 95, "B307": 95}
"""Where bandit's number is broader than the weakness: `exec` and `eval` are CWE-95, not any injection of commands."""


_One = TypeVar("_One")


class RuffFinding(PartialRecord):
    """One line of ruff's report, as the program in the tools image passes it on."""

    rule: str
    path: str
    line: int
    message: str
    text: str


class BanditFinding(PartialRecord):
    """One result of bandit's report."""

    rule: str
    cwe: int | None
    path: str
    line: int
    severity: str
    confidence: str
    message: str
    text: str


class Function(PartialRecord):
    """A function as lizard sees it; `digest` is of its text."""

    path: str
    function: str
    complexity: int
    digest: str


class Unread(PartialRecord):
    """A file that a tool could not parse."""

    path: str
    why: str


class UnreadSides(PartialRecord):
    """Files that a tool could not parse."""

    before: tuple[Unread, ...] = ()
    after: tuple[Unread, ...] = ()


class Sides(PartialRecord, Generic[_One]):
    """What a tool says before and after a patch, or why it says nothing."""

    before: tuple[_One, ...] = ()
    after: tuple[_One, ...] = ()
    unread: UnreadSides = Field(default_factory=UnreadSides)
    error: str = ""
    why_not: str = ""


RuffSides = Sides[RuffFinding]
BanditSides = Sides[BanditFinding]
SemgrepSides = Sides[BanditFinding]
"""In the form of bandit's."""
LizardSides = Sides[Function]


class EslintSides(Sides[RuffFinding]):
    """Findings of eslint, in the form of ruff's."""

    config: Literal["", "repository", "recommended"] = ""
    notes: tuple[str, ...] = ()


class Answer(PartialRecord):
    """Results of all tools for one prediction."""

    ruff: RuffSides
    bandit: BanditSides
    lizard: LizardSides
    semgrep: SemgrepSides = SemgrepSides(why_not="semgrep is not in the tools image")
    eslint: EslintSides = EslintSides(why_not="eslint is not in the tools image")


def _difference(
    before: Sequence[_One], after: Sequence[_One], identity: Callable[[_One], Hashable]
) -> tuple[list[_One], list[_One]]:
    """New findings and gone ones, as multisets: a finding whose line only moved is neither."""
    left = Counter(map(identity, before))
    new = []
    for entry in after:
        if left[identity(entry)] > 0:
            left[identity(entry)] -= 1
        else:
            new.append(entry)
    fixed = []
    for entry in reversed(before):
        if left[identity(entry)] > 0:
            left[identity(entry)] -= 1
            fixed.append(entry)
    return new, fixed[::-1]


def lint(sides: RuffSides) -> Lint:
    """The difference in lint: findings are the same by rule, file and content of the line."""
    if sides.error:
        return Lint(measured=False, why_not=f"ruff failed: {sides.error}")
    new, findings = _difference(sides.before, sides.after, lambda finding: (finding.rule, finding.path, finding.text))
    return Lint(
        new=tuple(LintFinding(**finding.model_dump()) for finding in new[:LISTED]),
        gone=tuple(LintFinding(**finding.model_dump()) for finding in findings[:LISTED]),
        new_by_rule=_counts(finding.rule for finding in new),
        gone_by_rule=_counts(finding.rule for finding in findings),
    )


def eslint(sides: EslintSides) -> EslintLint:
    """The difference in what eslint finds, as for `lint`.

    A file that it can't read on either side is left out; where nothing new is found in the others, this was not
    measured.
    """
    if sides.error or sides.why_not:
        return EslintLint(measured=False, why_not=sides.why_not or f"eslint failed: {sides.error}")
    unread = _unread(sides.unread)
    ruff_sides = RuffSides(
        before=tuple(finding for finding in sides.before if finding.path not in unread),
        after=tuple(finding for finding in sides.after if finding.path not in unread),
    )
    fields = dict(lint(ruff_sides))
    fields |= {"measured": bool(fields["new"]) or not unread, "why_not": _could_not_read("eslint", unread)}
    return EslintLint(**fields, config=sides.config, notes=sides.notes)


def semgrep(sides: SemgrepSides) -> Measure:
    """Whether semgrep looked; what it found stands in `security`."""
    if sides.error or sides.why_not:
        return Measure(measured=False, why_not=sides.why_not or f"semgrep failed: {sides.error}")
    unread = _unread(sides.unread)
    return Measure(measured=not unread, why_not=_could_not_read("semgrep", unread))


def _unread(sides: UnreadSides) -> dict[str, str]:
    return {unread.path: unread.why for unread in (*sides.before, *sides.after)}


def _could_not_read(tool: str, unread: Mapping[str, str]) -> str:
    return "; ".join(f"{tool} could not read {path}: {why}" for path, why in sorted(unread.items())[:3])


def security(sides: BanditSides, more: SemgrepSides | None = None) -> Security:
    """The difference in security: what bandit finds, and what semgrep does where it looked.

    What semgrep could not read is told by `semgrep`, not here.
    """
    findings_of_bandit = _one_tool("bandit", sides)
    if more is None or more.error or more.why_not:
        return findings_of_bandit
    other = _one_tool("semgrep", more)
    new, findings = (*findings_of_bandit.new, *other.new), (*findings_of_bandit.gone, *other.gone)
    return findings_of_bandit.model_copy(
        update={
            "measured": findings_of_bandit.measured or bool(new),
            "new": new[:LISTED],
            "gone": findings[:LISTED],
            "new_by_cwe": _sums(findings_of_bandit.new_by_cwe, other.new_by_cwe),
            "gone_by_cwe": _sums(findings_of_bandit.gone_by_cwe, other.gone_by_cwe),
        }
    )


def _sums(left: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted((Counter(left) + Counter(other)).items()))


def _one_tool(tool: str, sides: BanditSides) -> Security:
    """The difference in security: findings are the same by rule, CWE, severity, file and content of the line.

    A file that the tool can't parse on either side is left out; where nothing new is found in the others, this was not
    measured.
    """
    if sides.error:
        return Security(measured=False, why_not=f"{tool} failed: {sides.error}")
    unread = _unread(sides.unread)
    new, findings = _difference(
        [_security(tool, finding) for finding in sides.before if finding.path not in unread],
        [_security(tool, finding) for finding in sides.after if finding.path not in unread],
        lambda finding: (finding.rule, finding.cwe, finding.severity, finding.path, finding.text),
    )
    return Security(
        measured=bool(new) or not unread,
        why_not=_could_not_read(tool, unread),
        new=tuple(new[:LISTED]),
        gone=tuple(findings[:LISTED]),
        new_by_cwe=_counts(str(finding.cwe or "none") for finding in new),
        gone_by_cwe=_counts(str(finding.cwe or "none") for finding in findings),
    )


def _security(tool: str, finding: BanditFinding) -> SecurityFinding:
    level: Mapping[str, Any] = {"severity": _level(finding.severity), "confidence": _level(finding.confidence)}
    fields = {**finding.model_dump(), **level, "cwe": OWN_CWE.get(finding.rule, finding.cwe)}
    return SecurityFinding(tool=tool, **fields)


def _level(word: str) -> str:
    return word if word in ("low", "medium", "high") else "low"


def _counts(words: Any) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def complexity(sides: LizardSides) -> Complexity:
    """The difference in cyclomatic complexity (McCabe 1976, as lizard counts it) of functions whose text differs."""
    if sides.error:
        return Complexity(measured=False, why_not=f"lizard failed: {sides.error}")
    changed: list[FunctionComplexity] = []
    before, after = _by_name(sides.before), _by_name(sides.after)
    for path, name in sorted({*before, *after}):
        new, old = _difference(before[path, name], after[path, name], lambda function: function.digest)
        for was, now in zip_longest((lost.complexity for lost in old), (gained.complexity for gained in new)):
            changed.append(FunctionComplexity(path=path, function=name, before=was, after=now))
    changed.sort(key=lambda change: -abs((change.after or 0) - (change.before or 0)))
    total_before = sum(change.before or 0 for change in changed)
    total_after = sum(change.after or 0 for change in changed)
    return Complexity(
        before=total_before,
        after=total_after,
        delta=total_after - total_before,
        highest=max((change.after or 0 for change in changed), default=0),
        functions=tuple(changed[:LISTED_FUNCTIONS]),
    )


def _by_name(functions: Sequence[Function]) -> defaultdict[tuple[str, str], list[Function]]:
    by_name = defaultdict(list)
    for function in functions:
        by_name[function.path, function.function.partition("(")[0].strip()].append(function)
    return by_name
