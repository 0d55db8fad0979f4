"""Questions to GitHub that come back with an answer, whatever the service does on the way.

Each fault has one of four ends: wait and ask again, ask for less, say that the thing is not there, or give up on this
repository. What the service says in a fault and where it says it:
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
PyGithub's own retries are off: they don't wait on a 429 without Retry-After, nor on RATE_LIMITED in a 200.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeVar

import requests
from github import Github, GithubException

from harness.core.errors import InfrastructureError
from miner.sources.github_auth import Credential, Host, scrub

if TYPE_CHECKING:
    from github.Repository import Repository


T = TypeVar("T")

_TIMEOUT_SECONDS = 60
_SECONDARY_SECONDS = 60.0
"""What GitHub asks for after a secondary limit without a Retry-After; doubled each further time."""
_FAULT_SECONDS = 2.0
_ATTEMPTS = 6
"""Tries of one question against faults that pass (not against rate limits, which only time ends)."""
_SHOWN = 300


class GithubError(InfrastructureError):
    """GitHub could not be asked about one repository or owner; others may be well."""


class NotThereError(GithubError):
    """It does not exist, or not for us."""


class CredentialsError(GithubError):
    """GitHub does not know us, or not any more."""


class _End(Enum):
    WAIT = auto()
    LESS = auto()
    FAIL = auto()


@dataclass(frozen=True, kw_only=True)
class _Verdict:
    """What to do about one fault."""

    end: _End
    seconds: float = 0.0
    why: str = ""
    error: GithubError | None = None
    limit: bool = False
    """A rate limit: time alone ends it, so tries are not counted."""


class TooMuchError(Exception):
    """The service could not answer a question of this size; ask for less."""

    def __init__(self, error: GithubError) -> None:
        super().__init__(error.message)
        self.error = error


class Gateway:
    """One GitHub as one somebody. May be used from several threads: each gets a client of its own."""

    def __init__(
        self,
        host: Host,
        credential: Credential,
        *,
        max_wait: float,
        note: Callable[[str], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.host = host
        self._credential = credential
        self._max_wait = max_wait
        self._note = note or (lambda _text: None)
        self._sleep = sleep
        self._mine = threading.local()
        self._secrets: set[str] = {credential.secret}

    def _client(self) -> Github:
        client: Github | None = getattr(self._mine, "client", None)
        if client is None:
            client = Github(
                auth=self._credential.auth(),
                base_url=self.host.api_url,
                user_agent="goldseam",
                timeout=_TIMEOUT_SECONDS,
                per_page=100,
                retry=None,
                seconds_between_requests=None,
                seconds_between_writes=None,  # our POSTs are GraphQL queries: they write nothing
                lazy=True,
            )
            self._mine.client = client
        return client

    def scrub(self, text: str) -> str:
        """A text without any secret of ours."""
        return scrub(text, *self._secrets)

    def token(self) -> str:
        """A token to clone with; of an App, one that holds for about an hour.

        Raises:
            GithubError: an App's token can't be had.

        """
        auth = self._client().requester.auth
        if auth is None:
            raise CredentialsError(f"no credential for {self.host.name}")
        token = str(self._ask(lambda: auth.token, "an installation token"))
        self._secrets.add(token)
        return token

    # -- questions

    def query(self, text: str, variables: Mapping[str, Any], *, about: str, shrinks: bool = False) -> Mapping[str, Any]:
        """Ask a GraphQL question, for the data of its answer; `about` names its object in messages.

        Raises:
            TooMuchError: the service could not answer a question of this size; only where the caller `shrinks` it.
            GithubError: no answer can be had.

        """

        def ask() -> Mapping[str, Any]:
            try:
                _, body = self._client().requester.graphql_query(text, dict(variables))
            except GithubException as error:
                return _partial(error)
            if not isinstance(data := body.get("data"), dict):
                raise ValueError("no data")  # noqa: TRY004 - not JSON we can use
            return data

        return self._ask(ask, about, shrinks=shrinks)

    def repositories(self, owner: str) -> Iterator[Repository]:
        """An organisation's repositories, or a user's, a hundred a request.

        Raises:
            NotThereError: nobody is called so.
            GithubError: no answer can be had.

        """
        client = self._client()
        try:
            pages = client.get_organization(owner).get_repos(type="all")
            first = self._ask(lambda: pages.get_page(0), owner)
        except NotThereError:
            pages = self._ask(lambda: client.get_user(owner), owner).get_repos(type="owner")
            first = self._ask(lambda: pages.get_page(0), owner)
        yield from first
        number, page = 1, first
        while len(page) == 100:  # noqa: PLR2004 - a full page: there may be another
            page = self._ask(lambda number=number: pages.get_page(number), owner)  # type: ignore[misc]
            yield from page
            number += 1

    def _ask(self, question: Callable[[], T], about: str, *, shrinks: bool = False) -> T:
        """Ask until there is an answer or no hope."""
        waited, tries = 0.0, 0
        while True:
            try:
                return question()
            except (GithubException, requests.RequestException, _GraphqlError, ValueError) as error:
                verdict = _judge(error, about, self.host.name, tries)
            if verdict.end is _End.LESS and shrinks and verdict.error:
                raise TooMuchError(self._clean(verdict.error))
            if isinstance(verdict.error, CredentialsError) and self._credential.renews and tries == 0:
                self._mine.client = None  # an App's token may have run out on the way
                tries += 1
                continue
            tries += 0 if verdict.limit else 1
            waited += verdict.seconds
            if verdict.end is _End.FAIL or tries >= _ATTEMPTS or waited > self._max_wait:
                raise self._clean(verdict.error or self._given_up(verdict, about, waited)) from None
            self._note(f"{self.host.name}: {verdict.why}; waiting {verdict.seconds:.0f} s")
            self._sleep(verdict.seconds)

    def _given_up(self, verdict: _Verdict, about: str, waited: float) -> GithubError:
        return GithubError(
            f"gave up asking {self.host.name} about {about}: {verdict.why} (waited {waited:.0f} s)",
            hint="run the same command again later: it resumes; [github] max_wait_seconds says how long to wait",
        )

    def _clean(self, error: GithubError) -> GithubError:
        return type(error)(self.scrub(error.message), hint=error.hint)


class _GraphqlError(Exception):
    """GraphQL answered 200 with errors and nothing to work with."""

    def __init__(self, errors: Sequence[Mapping[str, Any]], headers: Mapping[str, str]) -> None:
        super().__init__("; ".join(str(error.get("message", "")) for error in errors))
        self.errors = errors
        self.headers = headers

    @property
    def types(self) -> frozenset[str]:
        return frozenset(str(error.get("type") or "") for error in self.errors)


def _partial(error: GithubException) -> Mapping[str, Any]:
    """The data within a GraphQL error, where only single things were not there.

    PyGithub raises for any error, and keeps the body in the exception.
    """
    body = error.data if isinstance(error.data, dict) else {}
    errors = body.get("errors")
    if not isinstance(errors, list) or not errors:
        raise error
    errors_read = [problem for problem in errors if isinstance(problem, dict)]
    data = body.get("data")
    if isinstance(data, dict) and all(problem.get("type") == "NOT_FOUND" for problem in errors_read):
        return data
    raise _GraphqlError(errors_read, error.headers or {})


def _judge(error: Exception, about: str, host: str, tries: int) -> _Verdict:
    """What one fault asks for."""
    if isinstance(error, _GraphqlError):
        return _judge_graphql(error, about, host, tries)
    if isinstance(error, GithubException):
        headers = {key.lower(): str(value) for key, value in (error.headers or {}).items()}
        return _judge_status(error.status, headers, _message(error), about, host, tries)
    why = "no answer" if isinstance(error, requests.RequestException) else "an answer that is not JSON"
    kind = type(error).__name__
    return _fault(f"{why} ({kind})", about, host, tries)


def _judge_status(status: int, headers: Mapping[str, str], message: str, about: str, host: str, tries: int) -> _Verdict:
    if status in (403, 429):
        return _judge_refusal(status, headers, message, about, host, tries)
    if status == 401:  # noqa: PLR2004
        return _fail(
            CredentialsError(
                f"{host} does not accept the credential: {message or 'it is wrong, or has run out'}",
                hint="set GITHUB_TOKEN to a valid token, or run `gh auth login`",
            )
        )
    if status in (404, 410, 451):
        return _fail(NotThereError(f"{host} has no {about}, or does not show it to this credential ({status})"))
    if status >= 500:  # noqa: PLR2004
        return _fault(f"status {status}", about, host, tries)
    return _fail(GithubError(f"{host} refused a question about {about}: status {status}, {message}"))


def _judge_refusal(
    status: int, headers: Mapping[str, str], message: str, about: str, host: str, tries: int
) -> _Verdict:
    lower = message.lower()
    if "x-github-sso" in headers or "saml" in lower:
        return _sso(about, host)
    if (after := _number(headers.get("retry-after"))) is not None:
        return _Verdict(end=_End.WAIT, seconds=after, why="asked to wait", limit=True)
    if headers.get("x-ratelimit-remaining") == "0" or lower.startswith("api rate limit exceeded"):
        return _Verdict(end=_End.WAIT, seconds=_until_reset(headers), why="the rate limit is used up", limit=True)
    if status == 429 or "secondary rate limit" in lower or "abuse" in lower or "try again later" in lower:  # noqa: PLR2004
        return _Verdict(end=_End.WAIT, seconds=_SECONDARY_SECONDS * 2**tries, why="a secondary rate limit")
    return _forbidden(about, host, message or "forbidden")


def _judge_graphql(error: _GraphqlError, about: str, host: str, tries: int) -> _Verdict:
    headers = {key.lower(): str(value) for key, value in error.headers.items()}
    text = str(error)
    if error.types & {"RATE_LIMITED", "RATE_LIMIT"}:
        return _Verdict(end=_End.WAIT, seconds=_until_reset(headers), why="the rate limit is used up", limit=True)
    if "secondary rate limit" in text.lower():
        return _Verdict(end=_End.WAIT, seconds=_SECONDARY_SECONDS * 2**tries, why="a secondary rate limit")
    if "saml" in text.lower():
        return _sso(about, host)
    if error.types & {"NOT_FOUND"}:
        return _fail(NotThereError(f"{host} has no {about}, or does not show it to this credential"))
    if error.types & {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
        return _forbidden(about, host, text[:_SHOWN])
    if any(error.types) and not error.types & {"MAX_NODE_LIMIT_EXCEEDED", "RESOURCE_LIMITS_EXCEEDED", "TIMEOUT"}:
        return _fail(GithubError(f"{host} can't answer a question about {about}: {text[:_SHOWN]}"))
    return _fault(f"part of the answer is missing: {text[:_SHOWN]}", about, host, tries)


def _fault(why: str, about: str, host: str, tries: int) -> _Verdict:
    """Something broke on the way: less of it may go through, and if not, the same a little later."""
    error = GithubError(
        f"gave up asking {host} about {about}: {why}", hint="run the same command again later: it resumes"
    )
    if tries + 1 < _ATTEMPTS:
        return _Verdict(end=_End.LESS, seconds=_FAULT_SECONDS * 2**tries, why=why, error=error)
    return _fail(error)


def _fail(error: GithubError) -> _Verdict:
    return _Verdict(end=_End.FAIL, error=error)


def _sso(about: str, host: str) -> _Verdict:
    return _fail(
        GithubError(
            f"{host} shows {about} only to credentials authorised for its single sign-on (SAML)",
            hint=f"authorise the token for the organisation at https://{host}/settings/tokens (`Configure SSO`)",
        )
    )


def _forbidden(about: str, host: str, why: str) -> _Verdict:
    return _fail(
        GithubError(
            f"{host} does not allow this credential to read {about}: {why}",
            hint="give the credential read access to contents, issues and pull requests",
        )
    )


def _message(error: GithubException) -> str:
    data = error.data
    text = data.get("message") if isinstance(data, dict) else None
    return " ".join(str(text or error.message or "").split())[:_SHOWN]


def _number(text: str | None) -> float | None:
    return float(text) if text and text.strip().isdigit() else None


def _until_reset(headers: Mapping[str, str]) -> float:
    """Seconds until the limit starts anew, and one more, as nobody says when in that second."""
    reset = _number(headers.get("x-ratelimit-reset"))
    return max(reset - _server_time(headers), 0.0) + 1 if reset is not None else _SECONDARY_SECONDS


def _server_time(headers: Mapping[str, str]) -> float:
    """Seconds since 1970 by the server's clock, since ours may be wrong; by ours where the answer has no date."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (TypeError, ValueError):
        return time.time()
