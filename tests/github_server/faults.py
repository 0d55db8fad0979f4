"""What can go wrong on the way, as GitHub does it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Where = Callable[[str, dict[str, Any]], bool]


@dataclass
class Fault:
    """An answer in place of the right one, `times` times (for ever with None), where `where` says so."""

    status: int
    body: Any = ""
    headers: dict[str, str] = field(default_factory=dict)
    times: int | None = 1
    where: Where = lambda _path, _query: True
    drops: bool = False
    """Close the connection without an answer."""

    def payload(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()

    def strikes(self, path: str, query: dict[str, Any]) -> bool:
        if self.times == 0 or not self.where(path, query):
            return False
        if self.times is not None:
            self.times -= 1
        return True


def _reset(seconds: float) -> dict[str, str]:
    return {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": str(int(time.time() + seconds)),
    }


def primary(seconds: float = 900, **more) -> Fault:
    message = "API rate limit exceeded for user ID 1."
    return Fault(403, {"message": message, "documentation_url": "https://docs.github.com"}, _reset(seconds), **more)


def secondary(retry_after: int | None = None, status: int = 403, **more) -> Fault:
    message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    headers = {"retry-after": str(retry_after)} if retry_after is not None else {}
    return Fault(status, {"message": message}, headers, **more)


def too_many(**more) -> Fault:
    """429 and not a word on how long to wait."""
    return Fault(429, {"message": "Too Many Requests"}, **more)


def graphql_rate_limited(seconds: float = 600, **more) -> Fault:
    error = {"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}
    return Fault(200, {"data": None, "errors": [error]}, _reset(seconds), **more)


def partial(**more) -> Fault:
    """Some of the answer, and an apology for the rest."""
    message = "Something went wrong while executing your query. This may be the result of a timeout."
    return Fault(200, {"data": {"repository": None}, "errors": [{"message": message}]}, **more)


def bad_gateway(status: int = 502, **more) -> Fault:
    return Fault(status, "<html>Unicorn!</html>", {"content-type": "text/html"}, **more)


def not_json(**more) -> Fault:
    return Fault(200, "<html>a proxy's page</html>", {"content-type": "text/html"}, **more)


def dropped(**more) -> Fault:
    return Fault(0, drops=True, **more)


def expired(**more) -> Fault:
    return Fault(401, {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"}, **more)


def sso(**more) -> Fault:
    message = "Resource protected by organization SAML enforcement. You must grant your OAuth token access."
    header = {"x-github-sso": "required; url=https://github.com/orgs/acme/sso?authorization_request=SECRETREQUEST"}
    return Fault(403, {"message": message}, header, **more)


def asks_for(name: str) -> Where:
    """Questions about one repository."""
    owner, _, short = name.partition("/")

    def where(path: str, query: dict[str, Any]) -> bool:
        variables = query.get("variables", {})
        return name in path or (variables.get("owner"), variables.get("name")) == (owner, short)

    return where


def pages_over(size: int) -> Where:
    """Questions for more than so many nodes a page."""

    def where(_path: str, query: dict[str, Any]) -> bool:
        variables = query.get("variables", {})
        return max(variables.get("first", 0), len(variables.get("ids", ()))) > size

    return where
