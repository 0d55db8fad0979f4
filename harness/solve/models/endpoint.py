"""A model's endpoint, and whether its name will mean the same model tomorrow. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

OPENAI_URL = "https://api.openai.com/v1"
_PINNED = re.compile(
    r"""
    [-_@.:/]
    (?: (?:19|20)\d\d -? (?:0[1-9]|1[0-2]) -? (?:0[1-9]|[12]\d|3[01])   # a day: 2024-08-06, 20250514
      | (?:0[1-9]|1[0-2]) -? (?:0[1-9]|[12]\d|3[01])                    # a day without its year: 0613, 06-05
      | 2\d (?:0[1-9]|1[0-2])                                           # a month: 2411
      | v? 0\d\d                                                        # a numbered release: 001
      | (?:sha256:)? [0-9a-f]{12,64}                                    # a digest or a commit
    )
    (?: - v\d+ (?: : \d+ )? )?                                          # a cloud's own revision: -v1:0
    $""",
    re.VERBOSE,
)


class Api(StrEnum):
    """Which of the two APIs is spoken."""

    AUTO = "auto"
    """What the endpoint has; found out by the first question.

    OpenAI itself is asked by Responses first, all others by Chat Completions: few of them have the whole of the other
    one; some never say there that an answer was cut.
    """
    CHAT = "chat"
    RESPONSES = "responses"


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a model is, and how it is spoken to."""

    base_url: str = OPENAI_URL
    api_key_env: str = "OPENAI_API_KEY"
    """Name of the variable that holds the key; the key itself is in no file and on no command line."""
    api: Api = Api.AUTO
    timeout: float = 600.0
    """Seconds without a word from the endpoint after which the connection is taken for dead."""

    @property
    def host(self) -> str:
        """Host and port, without path or password: what is recorded."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def is_official(self) -> bool:
        """Whether it is OpenAI's own."""
        return urlsplit(self.base_url).hostname == "api.openai.com"

    @property
    def preferred(self) -> tuple[Api, Api]:
        """The order in which `auto` tries the APIs."""
        return (Api.RESPONSES, Api.CHAT) if self.is_official else (Api.CHAT, Api.RESPONSES)

    @property
    def is_local(self) -> bool:
        return is_local(urlsplit(self.base_url).hostname or "")


def is_pinned(name: str) -> bool:
    """Whether a model's name ends in a date, a release number or a digest, and so means one model for good.

    `gpt-4o-2024-08-06`, `claude-sonnet-4-20250514`, `gemini-2.0-flash-001` and `model@sha256:…` do; `gpt-4o`,
    `claude-3-5-sonnet-latest` and `gemini-2.5-pro` are moved from one snapshot to the next by who serves them.
    """
    return _PINNED.search(name) is not None


def is_local(host: str) -> bool:
    """Whether a host is this machine or one of its own network: loopback, a private address, a name without a dot."""
    bare = host.strip("[]").lower()
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return "." not in bare or bare.endswith((".local", ".internal", ".localhost", ".lan"))
    return address.is_loopback or address.is_private or address.is_link_local


def floating_warning(name: str, host: str) -> str | None:
    """What to tell the user of a name that floats; None where it is pinned, or where nobody else moves it.

    On a server of one's own a name stands for files that stay until one changes them oneself.
    """
    if is_pinned(name) or is_local(host):
        return None
    return (
        f"{name!r} is a floating name: {host} may serve another model under it tomorrow, and scores of two days are "
        "then not of one model. Give the dated snapshot where there is one; what the server reports is recorded"
    )
