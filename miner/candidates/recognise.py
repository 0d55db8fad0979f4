"""Does a change look like a bug fix with tests, and if not, why not? Pure.

Every signal seen is kept. No single one is needed: projects differ too much in how they name a fix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from miner.candidates.split import is_code, is_config, is_data, is_docs
from miner.sources.change import Candidate, Change, ChangedFile, Kind, Rejection, Stage
from miner.sources.messages import closing_references, issue_keys, without_code

RULES = 4
"""Counts up when recognition changes, so that changes left under older rules are looked at again."""
THRESHOLD = 2.0
"""A change whose signals sum to this or more is taken for a bug fix."""

_BUG_LABEL = re.compile(
    r"(?:^|[\W_])(?:bug|bugfix|type[:/ -]*bug|kind/bug|regression|defect|crash)(?:$|[\W_])", re.IGNORECASE
)
_CONVENTIONAL_FIX = re.compile(r"^(?:fix|bugfix|hotfix)(?:\([^)]*\))?!?:", re.IGNORECASE)
_CONVENTIONAL_OTHER = re.compile(
    r"^(?:(?:feat|feature|docs?|chore|ci|style|tests?|refactor|build|deps|release|perf)(?:\([^)]*\))?"
    r"|\w+\((?:docs?|ci|tests?|types?|typing|lint|deps|build|release)\))!?:",
    re.IGNORECASE,
)
_EMOJI = re.compile(r"(?:[^\w\[\s]\W*(?=\s)|:\w+:)?\s*")
"""What goes before a title's words."""
_BRACKET_FIX = re.compile(r"^\[?(?:bug ?fix|bug|fix|hotfix)\]|^(?:BUG|FIX)\b[:\s]")
_FIX_WORDS = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bug(?:fix)?|hotfix|regressions?|crash(?:e[sd]|ing)?|repair(?:s|ed)?|correct(?:s|ed|ly)?"
    r"|incorrect(?:ly)?|wrong(?:ly)?|broken|mishandl\w+|prevent(?:s|ed)?|avoid(?:s|ed)?|resolve[sd]?|fail(?:s|ed|ing|ure)?"
    r"|traceback|segfault|leak(?:s|ed|ing)?|deadlock|race|overflow|off[- ]by[- ]one|infinite loop|hang(?:s|ing)?"
    r"|(?:un)?handled?|don'?t|doesn'?t|do not|does not|no longer|stop(?:s|ped)?|properly|respect(?:s|ed)?|invalid)\b",
    re.IGNORECASE,
)
_STRONG_WORDS = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bug(?:fix)?|hotfix|regressions?|crash(?:e[sd]|ing)?)\b", re.IGNORECASE
)
_ERROR_NAMES = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_NOT_A_FIX = re.compile(
    r"\b(?:typos?|lint(?:s|ing|er)?|clippy|docs?|documentation|docstrings?|ci|bump(?:s|ed)?|release|changelog"
    r"|(?:mis)?spell(?:ed|ings?)|codespell|readme|pre-commit|type hints?|typing|mypy|flake8|pylint|black|ruff|isort"
    r"|javadocs?|checkstyle|pmd|spotbugs|findbugs"
    r"|codeql|coverage|deprecat\w+|(?:drop(?:s|ped|ping)?|remov(?:e[sd]?|ing)|stop(?:s|ped|ping)?) support(?:ing)?"
    r"|tests? fix(?:es)?|fix(?:e[sd]|ing)? (?:(?!and\b)[\w-]+ ){0,2}tests?|failing (?:[\w-]+ )?tests?)\b"
    r"|^\W*(?:\w+ )?refactor\w*"
    r"|\bfix(?:e[sd]|ing)? (?:(?:all|some|more|various|new|minor|compil\w+|build|javac|gcc|clang|ide|intellij|eclipse"
    r"|sonar\w*|code|static|analysis|raw|unchecked|unused) ){0,3}warnings?\W*$",
    re.IGNORECASE,
)
_BOT_TITLE = re.compile(
    r"^(?:\[pre-commit\.ci\]|build\(deps|chore\(deps|Bump \S+ from \S+ to \S+|Bump the .+ group|Update dependency "
    r"|(?:chore: )?Update \S+ (?:action|digest|docker tag|requirement)\b|Lock file maintenance|pre-commit autoupdate"
    r"|Scheduled \w+ dependency update|Update (?:all|github[- ]actions?)\b)",
    re.IGNORECASE,
)

_no = Stage.RECOGNITION.no
_WEIGHTS: Mapping[str, float] = {
    "issue_label_bug": 4.0,
    "label_bug": 4.0,
    "conventional_fix": 4.0,
    "fix_tag": 3.0,
    "closes_issue": 2.0,
    "fix_word_in_title": 2.5,
    "fault_word_in_title": 2.0,
    "error_name_in_title": 2.0,
    "fix_word_in_body": 1.0,
    "fix_word_in_commits": 1.0,
    "issue_key": 0.5,
    "not_a_fix_word_in_title": -2.0,
    "conventional_other": -3.0,
}


def signals_of(change: Change) -> tuple[str, ...]:
    """Everything in a change's words that speaks for or against a bug fix, strongest first.

    A signal is `name` or `name:what was seen`; its weight is that of the name.
    """
    text = "\n".join((change.title, change.body, *change.messages))
    title = change.title[_EMOJI.match(change.title).end() :]  # type: ignore[union-attr]  # it matches nothing as well
    signals: list[str] = []
    signals += _first(
        "issue_label_bug", [label for issue in change.issues for label in issue.labels if _BUG_LABEL.search(label)]
    )
    signals += _first("label_bug", [label for label in change.labels if _BUG_LABEL.search(label)])
    signals += _matched("conventional_fix", _CONVENTIONAL_FIX, title)
    signals += _matched("fix_tag", _BRACKET_FIX, title)
    plain = _NOT_A_FIX.sub("", title)
    if not signals or not signals[-1].startswith(("conventional_fix", "fix_tag")):
        strong = _matched("fix_word_in_title", _STRONG_WORDS, plain)
        signals += strong or _matched("fault_word_in_title", _FIX_WORDS, plain)
    signals += _matched("error_name_in_title", _ERROR_NAMES, title)
    references = closing_references(text)
    linked = [f"{ref.repo or ''}#{ref.number}" for ref in references] or [f"#{issue.number}" for issue in change.issues]
    signals += _first("closes_issue", linked)
    signals += _matched("fix_word_in_body", _STRONG_WORDS, without_code(change.body))
    subjects = "\n".join(message.partition("\n")[0] for message in change.messages)
    signals += _matched("fix_word_in_commits", _STRONG_WORDS, subjects if subjects.strip() != title else "")
    signals += [f"issue_key:{key}" for key in issue_keys(text)[:1]]
    signals += _matched("not_a_fix_word_in_title", _NOT_A_FIX, title)
    signals += _matched("conventional_other", _CONVENTIONAL_OTHER, title)
    return tuple(signals)


def _first(name: str, signals_seen: Sequence[str]) -> list[str]:
    return [f"{name}:{signals_seen[0]}"] if signals_seen else []


def _matched(name: str, pattern: re.Pattern[str], text: str) -> list[str]:
    match = pattern.search(text)
    return [f"{name}:{match[0].strip().lower()}"] if match else []


def score_of(signals: Sequence[str]) -> float:
    """The sum of the signals' weights."""
    return sum(_WEIGHTS[signal.partition(":")[0]] for signal in signals)


def recognise(
    change: Change, files: tuple[ChangedFile, ...], kinds: Mapping[str, Kind], *, threshold: float = THRESHOLD
) -> Candidate | Rejection:
    """Take a change for a bug fix with tests, or say the one reason why not."""
    if change.reverted_by:
        return _no("reverted", f"by {change.reverted_by}")
    if rejection := _by_files(files, kinds):
        return rejection
    if bot := _BOT_TITLE.match(change.title):
        return _no("not_a_bug_fix", f"an update by a bot: {bot[0]!r}")
    signals = signals_of(change)
    score = score_of(signals)
    if score < threshold:
        signals_seen = ", ".join(signals) or "no signal"
        return _no("not_a_bug_fix", f"score {score:g} below {threshold:g}: {signals_seen}")
    return Candidate(change=change, files=files, signals=signals, score=score)


def _by_files(files: Sequence[ChangedFile], kinds: Mapping[str, Kind]) -> Rejection | None:
    paths = [file.path for file in files]
    gold = [path for path in paths if kinds[path] in (Kind.GOLD, Kind.MIXED)]
    # A test that is only deleted proves nothing.
    present = [file.path for file in files if file.status != "D"]
    tests = [path for path in present if kinds[path] in (Kind.TEST, Kind.MIXED) or is_data(path)]
    product = [path for path in gold if not is_docs(path) and not is_config(path)]
    if product and not tests:
        code = [path for path in product if is_code(path)]
        return _no("no_tests", f"changes {code[0]}, and no test") if code else _no("no_code", f"changes {product[0]}")
    if product:
        return None
    if tests:
        only = [path for path in gold if is_config(path)]
        return _no("config_only", f"{only[0]} and tests") if only else _no("tests_only", f"changes {tests[0]}")
    if all(is_docs(path) for path in paths):
        return _no("docs_only", f"changes {paths[0]}")
    if all(is_docs(path) or is_config(path) for path in paths):
        return _no("config_only", f"changes {next(path for path in paths if not is_docs(path) or is_config(path))}")
    return _no("tests_only", f"changes {next(path for path in paths if kinds[path] is not Kind.GOLD)}")
