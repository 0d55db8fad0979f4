"""Model names that say which model they mean, and those that mean another one tomorrow. Pure."""

from __future__ import annotations

import ipaddress
import re

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
