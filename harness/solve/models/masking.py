"""Secrets taken out of text before it is kept or shown: keys, bearer tokens, the environment's own. Pure.

What is masked is put as `[masked: what it was]`, so that a reader sees that something stood there.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_SHORTEST = 8
"""Characters from which a named secret is looked for: a shorter one would mask ordinary words."""
_SHORTEST_RANDOM = 24
_RANDOM_BITS = 3.8
"""Shannon entropy a character from which a long value of the environment is taken for a secret, whatever its name."""
_SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:API_?)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)(?:_|$)"
)
_ONE_WORD = re.compile(r"[A-Za-z0-9_+=.~-]+")

_SHAPES = (
    (
        "private key",
        re.compile(r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ),
    ("bearer token", re.compile(r"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{8,}")),
    ("password", re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")),
    (
        "key",
        re.compile(
            r"\b(?:sk-[A-Za-z0-9_-]{16,}|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
            r"|AIza[A-Za-z0-9_-]{30,}|A[KS]IA[A-Z0-9]{16}|hf_[A-Za-z0-9]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}"
            r"|gsk_[A-Za-z0-9]{20,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"
            r"|AGE-SECRET-KEY-1[A-Z0-9]{20,})"
        ),
    ),
)


class Masker:
    """Masks the secrets it was told, and whatever has the shape of one."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets` are values by what to call them, such as the name of their variable."""
        by_value = {value: name for name, value in secrets.items() if len(value) >= _SHORTEST}
        self._known = by_value
        longest_first = sorted(by_value, key=len, reverse=True)
        self._values = re.compile("|".join(map(re.escape, longest_first))) if by_value else None

    def text(self, text: str) -> str:
        """The text without secrets."""
        if self._values is not None:
            text = self._values.sub(lambda match: f"[masked: {self._known[match[0]]}]", text)
        for kind, shape in _SHAPES:
            text = shape.sub(f"[masked: {kind}]", text)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.value(element) for key, element in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(element) for element in value]
        return value


def of_environment(environment: Mapping[str, str], *, names: Iterable[str] = ()) -> Masker:
    """A masker for what an environment keeps secret.

    That is every value whose name says so (`…_KEY`, `…TOKEN…`, `…PASSWORD…`), those of `names`, and any value that is
    one long random word.
    """
    secret_names = set(names)
    return Masker(
        {
            name: value.strip()
            for name, value in environment.items()
            if name in secret_names or _SECRET_NAME.search(name) or _is_random(value.strip())
        }
    )


def _is_random(value: str) -> bool:
    if len(value) < _SHORTEST_RANDOM or not _ONE_WORD.fullmatch(value):
        return False
    if not (re.search(r"[0-9]", value) and re.search(r"[A-Za-z]", value)):
        return False
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares) >= _RANDOM_BITS
