"""The problem statement of a change without a person's help: the issue's words, else the change's own. Pure.

Never the diff. What only serves the machinery of merging is removed: it tells nothing of the problem, or too much of
the fix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from miner.sources.change import Change, LinkedIssue
from miner.sources.messages import read_message, without_code

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
_MOST_BLANKS, _LONGEST = 100, 1 << 16
_LONG_BLANK = re.compile(rf"[ \t]{{{_MOST_BLANKS},}}")
_BLANK_LINES = re.compile(r"(?:[ \t]*\n){4,}")
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_LEFTOVER = re.compile(r"(?<!\S)\(\s*\)")
_TELLING = 12
"""Characters of a line, blanks aside, from which it is no chance that a text has it too."""
_BLOCK = re.compile(r"^[ ]{0,3}(?P<fence>```+|~~~+)(?P<info>[^\n`~]*)\n(?P<code>.*?)(?:^[ ]{0,3}(?P=fence)[ ]*$\n?|\Z)",
                    re.DOTALL | re.MULTILINE)  # fmt: skip
_IMAGE = re.compile(r"!\[(?P<words>[^\]\n]{0,500})\]\((?P<address>[^)\s]+)[^)\n]*\)")
_HTML_IMAGE = re.compile(r"<img\b[^>]{0,500}?\bsrc=[\"']?(?P<address>[^\"'\s>]+)[^>]*>", re.IGNORECASE)
_SCRIPTS = {
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "ko": re.compile(r"[\uac00-\ud7af]"),
    "zh": re.compile(r"[\u4e00-\u9fff]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "el": re.compile(r"[\u0370-\u03ff]"),
    "he": re.compile(r"[\u0590-\u05ff]"),
    "ar": re.compile(r"[\u0600-\u06ff]"),
    "hi": re.compile(r"[\u0900-\u097f]"),
    "th": re.compile(r"[\u0e00-\u0e7f]"),
}
_SMALL_WORDS = {
    code: frozenset(words.split())
    for code, words in {
        "en": "the and is are this that with when for not it of to in if be should from does fix",
        "de": "der die das und ist nicht wenn mit ein eine für auf dem den wird werden bei zu",
        "fr": "le la les et est une dans pas pour avec que qui sur des du lorsque quand au",
        "es": "el los las es una no con para que cuando por se del al como está y en",
        "pt": "o os as um uma não com para que quando por do da em como está ao e",
        "it": "il lo gli è una non con per che quando di del della nel come sono si e",
        "nl": "de het een niet met voor dat wanneer van op als wordt zijn bij naar ook en",
        "pl": "nie jest się na do że dla przy gdy oraz jak po są to w z i",
    }.items()
}
_NOISE_SUBJECT = re.compile(
    r"^(?:merge (?:branch|remote|pull|master|main)|fixup!|squash!|wip\b|apply suggestions from code review"
    r"|update \S+$|address (?:review|comments)|lint|typo|pre-commit|\[pre-commit)",
    re.IGNORECASE,
)


def _bounded(text: str) -> str:
    """A text of no more than people write, whose blanks take no pattern long."""
    text = _LONG_BLANK.sub(" " * _MOST_BLANKS, text.replace("\r\n", "\n"))
    return _BLANK_LINES.sub("\n\n\n", text)[:_LONGEST]


def problem_statement(change: Change, *, gold_patch: bytes = b"", templates: Sequence[str] = ()) -> str:
    """Markdown text that states the problem a change solves; never empty, ends with one line feed.

    Linked issues are told in their own words. Without them the change's title and body are told, cleaned; for a merge
    that says nothing, the messages of its commits. Code of the fix is left out of either, as are lines of the
    repository's `templates` for pull requests and issues.
    """
    fix = fix_lines(gold_patch)
    if change.issues:
        text = "\n\n".join(_issue(issue, fix, templates) for issue in change.issues)
    else:
        title = clean(change.title)
        description = without_fix(without_template(_bounded(change.body), templates), fix)
        body = clean(description) or clean(without_fix(_commit_messages(change.messages, title=change.title), fix))
        text = _without_repeats(links_only(f"{title}\n\n{body}".strip()), title)
    fallback = (
        change.title.strip() or next((line for line in change.messages if line.strip()), "") or change.instance_id
    )
    return (text.strip() or fallback.strip()) + "\n"


def _issue(issue: LinkedIssue, fix: frozenset[str], templates: Sequence[str]) -> str:
    text = without_fix(without_template(_COMMENT.sub("", _bounded(issue.body)), templates), fix)
    while (shorter := _EMPTY_HEADING.sub("", text)) != text:
        text = shorter
    body = _BLANK.sub("\n\n", links_only(text)).strip()
    return f"{issue.title.strip()}\n\n{body}".strip()


def hints(change: Change) -> str:
    """What people said in the linked issues before the fix was begun; empty where nobody did."""
    comments = [comment.strip() for issue in change.issues for comment in issue.comments if comment.strip()]
    return "\n\n---\n\n".join(comments) + "\n" if comments else ""


def fix_lines(gold_patch: bytes) -> frozenset[str]:
    """Lines that a patch adds and that say enough to be known again, without their blanks."""
    lines = gold_patch.decode("utf-8", "replace").split("\n")
    added = {_squeezed(line[1:]) for line in lines if line.startswith("+") and not line.startswith("+++")}
    removed = {_squeezed(line[1:]) for line in lines if line[:1] in ("-", " ")}
    return frozenset(line for line in added - removed if len(line) >= _TELLING)


def _squeezed(line: str) -> str:
    return "".join(line.split())


def without_fix(text: str, fix: frozenset[str]) -> str:
    """Markdown without code blocks that are a diff or hold a line of the fix, and without such lines elsewhere."""

    def block(match: re.Match[str]) -> str:
        inside = match["code"].split("\n")
        is_diff = match["info"].strip().lower() in ("diff", "patch", "suggestion") or "\n@@ -" in match["code"]
        is_fix = any(_squeezed(line.lstrip("+>")) in fix for line in inside)
        return "" if is_diff or is_fix else match[0]

    text = _BLOCK.sub(block, text)
    return "\n".join(line for line in text.split("\n") if _squeezed(line.strip("`+> ")) not in fix)


def without_template(text: str, templates: Sequence[str]) -> str:
    """A text without the lines that its form came with; code blocks are the author's own."""
    form = {line.strip() for template in templates for line in template.replace("\r\n", "\n").split("\n")}
    form -= {"", "```", "~~~"}
    lines_kept, fenced = [], False
    for line in text.replace("\r\n", "\n").split("\n"):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if fenced or line.strip() not in form or line.lstrip().startswith("#"):
            lines_kept.append(line)
    return "\n".join(lines_kept)


def links_only(text: str) -> str:
    """Markdown with every image as a link to it."""
    text = _HTML_IMAGE.sub(lambda match: f"[image]({match['address']})", text)
    return _IMAGE.sub(lambda match: f"[{match['words'] or 'image'}]({match['address']})", text)


def spoken_language(text: str) -> str:
    """The language that a text is written in, as ISO 639-1; `und` where it can't be told.

    By script where that tells, else by the commonest small words. Code doesn't count.
    """
    words = re.sub(r"https?://\S+", " ", without_code(text))
    letters = [character for character in words if character.isalpha()]
    for code, pattern in _SCRIPTS.items():
        if letters and len(pattern.findall(words)) * 5 > len(letters):
            return code
    tokens = re.findall(r"[^\W\d_]+", words.lower())
    counts = {code: sum(token in small for token in tokens) for code, small in _SMALL_WORDS.items()}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] else "und"


def clean(text: str) -> str:
    """A message without merge boilerplate, trailers, check lists, template comments, SHAs and pull request numbers."""
    text = _COMMENT.sub("", _bounded(text))
    for pattern in (_TRAILER, _CHERRY_PICK, _CHECKBOX, _CLOSING, _PULL_LINK, _NUMBER, _SHA, _LEFTOVER, _EMPTY_ITEM):
        text = pattern.sub("", text)
    text = _TRAILING.sub("", text)
    while (shorter := _EMPTY_HEADING.sub("", text)) != text:
        text = shorter
    return _BLANK.sub("\n\n", text).strip()


def _commit_messages(messages: Iterable[str], *, title: str) -> str:
    """What the change's own commits say beyond its title, each thing once."""
    paragraphs: list[str] = []
    for message in messages:
        message_read = read_message(message)
        if not message_read.title or _NOISE_SUBJECT.match(message_read.title):
            continue
        if message_read.title != title:
            paragraphs.append(message_read.title)
        if message_read.body:
            paragraphs.append(message_read.body)
    return "\n\n".join(dict.fromkeys(paragraphs))


def _without_repeats(text: str, title: str) -> str:
    """Drop list items and lines that repeat the title or one another, as squash messages do."""
    lines_kept: list[str] = []
    lines_seen: set[str] = set()
    fenced = False
    for place, line in enumerate(text.split("\n")):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        words = re.sub(r"^[\s*+-]+", "", line).strip().lower()
        listed = bool(re.match(r"^\s*[*+-]\s", line))
        if place and not fenced and words and (words == title.lower() or (listed and words in lines_seen)):
            continue
        lines_seen.add(words)
        lines_kept.append(line)
    return _BLANK.sub("\n\n", "\n".join(lines_kept))
