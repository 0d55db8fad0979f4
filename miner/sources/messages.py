"""Commit messages and texts of changes, read: number, title, body, reverts, issues that they name. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SQUASH = re.compile(r"^(?P<title>.*?)\s*\((?:PR )?#(?P<number>\d+)\)\s*$")
_NUMBERED_MERGES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^Merge pull request #(?P<number>\d+)(?: from (?P<branch>\S+))?",  # GitHub
        r"^Merged in (?P<branch>\S+) \(pull request #(?P<number>\d+)\)",  # Bitbucket Cloud
        r"^Pull request #(?P<number>\d+): (?P<title>.+)",  # Bitbucket Server
        r"^Merged PR (?P<number>\d+): (?P<title>.+)",  # Azure DevOps
        r"^Auto merge of #(?P<number>\d+)\b",  # homu
        r"^Merge #(?P<number>\d+)(?:: (?P<title>.+))?$",  # bors
        r"^Merge PR #(?P<number>\d+)(?:[:,]? (?P<title>.+))?$",
    )
)
_PLAIN_MERGE = re.compile(r"^Merged? (?:(?:remote[- ]tracking )?branch|branches|tag|commit|remote)\b", re.IGNORECASE)
_GITLAB = re.compile(r"^See merge request \S*!(?P<number>\d+)\s*$", re.MULTILINE)
_REVERTS_COMMIT = re.compile(r"\bThis reverts commits? ([0-9a-f]{7,64})\b", re.IGNORECASE)
_REVERTS_NUMBER = re.compile(r"^Reverts (?:[\w.-]+/[\w.-]+)?[#!](\d+)\b", re.MULTILINE)
_REVERT_TITLE = re.compile(r'^Revert\b.*?["“”](?P<title>.+)["“”]')
_CHERRY_PICK = re.compile(r"\(cherry[- ]picked from (?:commit )?([0-9a-f]{7,64})\)", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_KEYWORD = re.compile(
    r"\b(?P<word>close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+"
    r"(?:(?P<repo>[\w.-]+/[\w.-]+)?#|GH-|https?://[\w.:-]+/(?P<url>[\w.-]+/[\w.-]+)/(?:-/)?issues/)(?P<number>\d+)\b",
    re.IGNORECASE,
)
_ISSUE_KEY = re.compile(
    r"\b(?!(?:UTF|ISO|SHA|PEP|RFC|CVE|GH|PR|MD|CWE|ASCII|AES|RSA|HTTP)-)[A-Z][A-Z0-9]{1,9}-[1-9]\d{0,6}\b"
)


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message, read."""

    title: str
    """Empty for a merge whose message names no change, such as `Merge branch 'x'`."""
    body: str
    number: int | None = None
    cherry_picked_from: tuple[str, ...] = ()


def read_message(message: str) -> Message:
    """Title, body and number of the change that a commit on a branch brought.

    Knows the messages that GitHub, GitLab, Bitbucket, Azure DevOps, bors and plain `git merge` write.
    """
    subject, body = _cut(message)
    picked = tuple(_CHERRY_PICK.findall(message))
    for pattern in _NUMBERED_MERGES:
        if match := pattern.match(subject):
            title = match.groupdict().get("title") or ""
            if not title:
                title, body = _cut(body)
            squash = _SQUASH.match(title)
            title = squash["title"] if squash and squash["number"] == match["number"] else title
            return Message(title=title, body=body, number=int(match["number"]), cherry_picked_from=picked)
    if _PLAIN_MERGE.match(subject):
        gitlab = _GITLAB.search(body)
        title, body = _cut(_GITLAB.sub("", body)) if gitlab else ("", body)
        return Message(
            title=title, body=body, number=int(gitlab["number"]) if gitlab else None, cherry_picked_from=picked
        )
    if match := _SQUASH.match(subject):
        return Message(title=match["title"], body=body, number=int(match["number"]), cherry_picked_from=picked)
    return Message(title=subject, body=body, cherry_picked_from=picked)


def _cut(text: str) -> tuple[str, str]:
    """First non-empty line, and the rest."""
    first, _, rest = text.strip().partition("\n")
    return first.strip(), rest.strip()


def is_branch_merge_title(title: str) -> bool:
    """Whether a pull request only carries one long-lived branch into another: `Merge stable into main`."""
    return bool(re.match(r"^(?:back-?port )?merge (?:branch )?\S+ (?:back )?(?:in)?to \S+", title, re.IGNORECASE))


def is_revert_title(title: str) -> bool:
    """Whether a title says that the change takes another one back (and not that it brings one back)."""
    return bool(re.match(r"^revert\b", title, re.IGNORECASE)) and not re.match(
        r'^revert "revert\b', title, re.IGNORECASE
    )


def reverted_commits(message: str) -> tuple[str, ...]:
    """(Abbreviated) SHAs after `This reverts commit`, lower case."""
    return tuple(sha.lower() for sha in _REVERTS_COMMIT.findall(message))


def reverted_numbers(title: str, body: str) -> tuple[int, ...]:
    """Pull requests that a revert names: `Reverts owner/name#12` or `Revert "Title (#12)"`."""
    numbers = [int(number) for number in _REVERTS_NUMBER.findall(body)]
    if (quoted := _REVERT_TITLE.match(title)) and (match := _SQUASH.match(quoted["title"])):
        numbers.append(int(match["number"]))
    return tuple(dict.fromkeys(numbers))


@dataclass(frozen=True, kw_only=True)
class IssueReference:
    """An issue that a text says it closes."""

    number: int
    repo: str | None = None
    """`owner/name` where the text names one."""


def without_code(text: str) -> str:
    """Markdown text without HTML comments, code blocks and code spans."""
    return _SPAN.sub(" ", _FENCE.sub(" ", _COMMENT.sub(" ", text)))


def closing_references(text: str) -> tuple[IssueReference, ...]:
    """Issues that a text closes by GitHub's keywords; each issue needs its own keyword, as on GitHub.

    Code and HTML comments are skipped.
    https://docs.github.com/en/issues/tracking-your-work-with-issues/linking-a-pull-request-to-an-issue
    """
    references = (
        IssueReference(number=int(match["number"]), repo=match["repo"] or match["url"])
        for match in _KEYWORD.finditer(without_code(text))
    )
    return tuple(dict.fromkeys(references))


def issue_keys(text: str) -> tuple[str, ...]:
    """Jira-like keys (`ABC-123`) in a text."""
    return tuple(dict.fromkeys(_ISSUE_KEY.findall(without_code(text))))
