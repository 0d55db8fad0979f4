"""The problem statement of a change without a person's help: the issue's words, else the change's own. Pure.

Never the diff. What only serves the machinery of merging is removed: it tells nothing of the problem, or too much of
the fix.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miner.sources.messages import read_message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miner.change import Change, LinkedIssue

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TRAILER = re.compile(
    r"^(?:signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|reported-by|suggested-by|approved-by|change-id"
    r"|cc|refs?|bug|pr-url|reviewed-on|git-svn-id|differential revision|commit-queue|cla)\s*:\s.*$",
    re.IGNORECASE | re.MULTILINE,
)
_CHERRY_PICK = re.compile(
    r"^\(cherry[- ]picked from .*\)\s*$|^\(backported from .*\)\s*$", re.IGNORECASE | re.MULTILINE
)
_CHECKBOX = re.compile(r"^\s*[-*+]\s*\[[ xX]\].*$", re.MULTILINE)
_CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|related to|part of|addresses)\b:?\s+"
    r"(?:issue\s+)?(?:(?:[\w.-]+/[\w.-]+)?#\d+|GH-\d+|https?://\S+/(?:issues|pull|merge_requests)/\d+\S*)"
    r"(?:\s*(?:,|and|&)\s*(?:[\w.-]+/[\w.-]+)?#\d+)*[.,;]?",
    re.IGNORECASE,
)
_PULL_LINK = re.compile(
    r"https?://\S+/(?:pull|merge_requests)/\d+\S*|https?://\S+/commits?/[0-9a-f]{7,}\S*", re.IGNORECASE
)
_NUMBER = re.compile(r"\s*\((?:(?:[\w.-]+/[\w.-]+)?(?:#|GH-)\d+(?:,\s*)?)+\)|(?<![\w/])(?:[\w.-]+/[\w.-]+)?#\d+\b")
_SHA = re.compile(r"(?<![\w/#.-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w/.-])")
_EMPTY_HEADING = re.compile(r"^#{1,6}[^\n]*\n+(?=#{1,6} |\Z)", re.MULTILINE)
_EMPTY_ITEM = re.compile(r"^[ \t]*[-*+][ \t]*[.,:;]?[ \t]*$", re.MULTILINE)
_BLANK = re.compile(r"\n{3,}")
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_LEFTOVER = re.compile(r"(?<!\S)\(\s*\)")
_NOISE_SUBJECT = re.compile(
    r"^(?:merge (?:branch|remote|pull|master|main)|fixup!|squash!|wip\b|apply suggestions from code review"
    r"|update \S+$|address (?:review|comments)|lint|typo|pre-commit|\[pre-commit)",
    re.IGNORECASE,
)


def problem_statement(change: Change) -> str:
    """Markdown text that states the problem a change solves; never empty, ends with one line feed.

    Linked issues are told in their own words. Without them the change's title and body are told, cleaned; for a merge
    that says nothing, the messages of its commits.
    """
    if change.issues:
        text = "\n\n".join(_issue(issue) for issue in change.issues)
    else:
        title = clean(change.title)
        body = clean(change.body) or clean(_commit_messages(change.messages, said=change.title))
        text = _without_repeats(f"{title}\n\n{body}".strip(), title)
    fallback = (
        change.title.strip() or next((line for line in change.messages if line.strip()), "") or change.instance_id
    )
    return (text.strip() or fallback.strip()) + "\n"


def _issue(issue: LinkedIssue) -> str:
    body = _COMMENT.sub("", issue.body.replace("\r\n", "\n")).strip()
    return f"{issue.title.strip()}\n\n{body}".strip()


def clean(text: str) -> str:
    """A message without merge boilerplate, trailers, check lists, template comments, SHAs and pull request numbers."""
    text = _COMMENT.sub("", text.replace("\r\n", "\n"))
    for pattern in (_TRAILER, _CHERRY_PICK, _CHECKBOX, _CLOSING, _PULL_LINK, _NUMBER, _SHA, _LEFTOVER, _EMPTY_ITEM):
        text = pattern.sub("", text)
    text = _TRAILING.sub("", text)
    while (shorter := _EMPTY_HEADING.sub("", text)) != text:
        text = shorter
    return _BLANK.sub("\n\n", text).strip()


def _commit_messages(messages: Iterable[str], *, said: str) -> str:
    """What the change's own commits say beyond its title, each thing once."""
    paragraphs: list[str] = []
    for message in messages:
        told = read_message(message)
        if not told.title or _NOISE_SUBJECT.match(told.title):
            continue
        if told.title != said:
            paragraphs.append(told.title)
        if told.body:
            paragraphs.append(told.body)
    return "\n\n".join(dict.fromkeys(paragraphs))


def _without_repeats(text: str, title: str) -> str:
    """Drop list items and lines that repeat the title or one another, as squash messages do."""
    kept: list[str] = []
    seen: set[str] = set()
    fenced = False
    for place, line in enumerate(text.split("\n")):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        said = re.sub(r"^[\s*+-]+", "", line).strip().lower()
        listed = bool(re.match(r"^\s*[*+-]\s", line))
        if place and not fenced and said and (said == title.lower() or (listed and said in seen)):
            continue
        seen.add(said)
        kept.append(line)
    return _BLANK.sub("\n\n", "\n".join(kept))
