"""Secrets, private keys and e-mail addresses in a text: found, counted by kind, masked. Pure.

What a secret looks like is detect-secrets' knowledge (https://github.com/Yelp/detect-secrets): its detectors of keys
with a form of their own. Those that guess (high entropy, a word such as `password` before a value, IP addresses) are
left out: in code and in its tests they are wrong far more often than right.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector

PRIVATE_KEY = "private_key"
EMAIL = "email"
_DETECTORS = (
    "AWSKeyDetector", "ArtifactoryDetector", "AzureStorageKeyDetector", "BasicAuthDetector",
    "DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "IbmCloudIamDetector",
    "JwtTokenDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector", "PypiTokenDetector", "SendGridDetector",
    "SlackDetector", "SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector",
)  # fmt: skip
_KEY = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----(?P<body>.*?)(?:-----END (?P=kind)-----|\Z)", re.DOTALL
)
_SHORTEST = 6
_LONGEST_LINE = 20_000
"""Signs of a line that are looked through; longer ones are data."""
_KEY_BODY = 64
"""Signs of base64 from which a block is a key and no placeholder."""
_EMAIL = re.compile(
    r"(?<![\w.+%@:/-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?P<host>(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+"
    r"[A-Za-z]{2,24})(?![\w@-])"
)
_NOBODY = re.compile(
    r"(?:.*\.)?(?:example(?:\.(?:com|org|net|edu))?|test|invalid|localhost|local|users\.noreply\.github\.com)",
    re.IGNORECASE,
)
"""Hosts that belong to nobody: RFC 2606, RFC 6761, and GitHub's addresses for people who hide theirs."""
_SERVICE = re.compile(r"(?:git|hg|svn|noreply|no-reply)@", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"(?:user(?:name)?|pass(?:word|wd)?|pwd|secret|foo|bar|baz|test|example|dummy|x+|\*+|\.+|<.*>|\$?\{.*\}|%s)\d*",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Find:
    """One secret or address, by its place in the text."""

    kind: str
    """A word such as `github_token`, `private_key` or `email`."""
    begin: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was found, without saying it: counts by kind."""

    statement: Mapping[str, int] = field(default_factory=dict)
    patches: Mapping[str, int] = field(default_factory=dict)

    def public(self) -> dict[str, object]:
        """As it stands in task.yaml."""
        return {"statement": dict(self.statement), "patches": dict(self.patches)}


@functools.cache
def _plugins() -> tuple[RegexBasedDetector, ...]:
    from detect_secrets import plugins  # noqa: F401, PLC0415 - takes half a second, and few commands need it
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class  # noqa: PLC0415

    kinds: Iterable[type[RegexBasedDetector]] = get_mapping_from_secret_type_to_class().values()
    by_name = {kind.__name__: kind for kind in kinds}
    return tuple(by_name[name]() for name in _DETECTORS if name in by_name)


def find(text: str) -> tuple[Find, ...]:
    """Every secret, private key and e-mail address of a text, by place; none within another."""
    finds = sorted({*_keys(text), *_tokens(text), *_emails(text)}, key=lambda find: (find.begin, -find.end))
    finds_kept: list[Find] = []
    for find in finds:
        if not finds_kept or find.begin >= finds_kept[-1].end:
            finds_kept.append(find)
    return tuple(finds_kept)


def _keys(text: str) -> Iterator[Find]:
    for match in _KEY.finditer(text):
        if len(re.findall(r"[A-Za-z0-9+/=]", match["body"])) >= _KEY_BODY:
            yield Find(kind=PRIVATE_KEY, begin=match.start(), end=match.end())


def _tokens(text: str) -> Iterator[Find]:
    at = 0
    for line in text.splitlines(keepends=True):
        head = line[:_LONGEST_LINE]
        for plugin in _plugins():
            values = set(plugin.analyze_string(head))
            for begin, end in _spans(plugin, head, values) if values else ():
                kind = re.sub(r"\W+", "_", plugin.secret_type.lower()).strip("_")
                yield Find(kind=kind, begin=at + begin, end=at + end)
        at += len(line)


def _spans(plugin: RegexBasedDetector, line: str, values: set[str]) -> Iterator[tuple[int, int]]:
    """Where the values that a detector found stand: it tells no places, and of some tokens only their first letters."""
    for pattern in plugin.denylist:
        for match in pattern.finditer(line):
            groups = [number for number in range(1, pattern.groups + 1) if match[number]] or [0]
            longest = max(groups, key=lambda number: len(match[number]))
            first_letters = len(match[longest]) < _SHORTEST and match.start(longest) == match.start()
            chosen = 0 if first_letters else longest
            is_value = any(match[number] in values for number in groups)
            if is_value and not _PLACEHOLDER.fullmatch(match[longest]) and len(match[chosen]) >= _SHORTEST:
                yield match.span(chosen)


def _emails(text: str) -> Iterator[Find]:
    for match in _EMAIL.finditer(text):
        if not _NOBODY.fullmatch(match["host"]) and not _SERVICE.match(match[0]):
            yield Find(kind=EMAIL, begin=match.start(), end=match.end())


def counts(text: str) -> dict[str, int]:
    """How many of each kind a text holds."""
    return dict(sorted(Counter(match.kind for match in find(text)).items()))


def patch_counts(*patches: bytes) -> dict[str, int]:
    """How many of each kind patches hold, in any of their lines: a removed secret is one too."""
    total: Counter[str] = Counter()
    for data in patches:
        lines = data.decode("utf-8", "replace").split("\n")
        total.update(counts("\n".join(line[1:] if line[:1] in ("+", "-", " ") else line for line in lines)))
    return dict(sorted(total.items()))


def mask(text: str) -> str:
    """A text with `<kind>` in the place of every find."""
    for match in reversed(find(text)):
        text = f"{text[: match.begin]}<{match.kind}>{text[match.end :]}"
    return text
