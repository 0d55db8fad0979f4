"""GitHub as a source: an organisation, a repository or a pull request.

The plan, so that a thousand merged pull requests cost about thirty requests: git tells the changes (one bare clone),
pages of fifty tell which pull request each one is, and only what looks like a bug fix is asked about further, twenty
at a time. Diffs never come from the API: it cuts long ones off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.core.errors import GoldseamError
from harness.core.grouping import grouped
from miner.sources import github_queries as queries
from miner.sources.address import Address, Filter
from miner.sources.change import Change, LinkedIssue, PullRequest
from miner.sources.git import Access, open_source
from miner.sources.github_client import Gateway, NotThereError, TooMuchError
from miner.sources.history import ChangeFilter
from miner.sources.messages import closing_references
from miner.sources.origin import OpenOrigin, Progress

_NUMBERS_PAGE = 40


def origins_of(
    address: Address, gateway: Gateway, chosen: Filter, *, cache: Path, page_size: int
) -> list[GithubOrigin]:
    """The repositories that an address names, forks last: of two equal fixes the first one found is kept.

    Raises:
        GithubError: the owner can't be asked about.

    """
    if address.name is not None:
        whole = f"{address.owner}/{address.name.removesuffix('.git')}"
        numbers = frozenset({address.number} if address.number else ())
        return [GithubOrigin(gateway=gateway, repository=whole, cache=cache, page_size=page_size, numbers=numbers)]
    every = list(gateway.repositories(address.owner))
    repositories = [repository for repository in every if chosen.why_not(repository) is None]
    if not repositories:
        none = "no repository that this credential can see"
        sight = f"{len(every)} repositories, and the filter leaves none" if every else none
        raise NotThereError(f"{address.owner} on {gateway.host.name} has {sight}")
    repositories.sort(key=lambda repository: repository.fork)
    return [
        GithubOrigin(gateway=gateway, repository=repository.full_name, cache=cache, page_size=page_size)
        for repository in repositories
    ]


@dataclass(frozen=True, kw_only=True)
class GithubOrigin:
    """One repository on GitHub; a `miner.sources.origin.Origin`."""

    gateway: Gateway
    repository: str
    """`owner/name`."""
    cache: Path
    page_size: int = 50
    numbers: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        host = self.gateway.host.name
        return self.repository if host == "github.com" else f"{host}/{self.repository}"

    def narrow(self, change_filter: ChangeFilter) -> ChangeFilter:
        return replace(change_filter, numbers=change_filter.numbers | self.numbers) if self.numbers else change_filter

    def open(self, change_filter: ChangeFilter, reached: Progress | None) -> OpenOrigin:
        forge = GithubForge(self.gateway, self.repository, page_size=self.page_size)
        if change_filter.numbers and not change_filter.commits:
            forge.read_numbers(sorted(change_filter.numbers))
        else:
            since = change_filter.since.strftime("%Y-%m-%dT%H:%M:%SZ") if change_filter.since else ""
            forge.read_pages(since=max(since, reached.updated if reached else ""))
        try:
            repo = open_source(
                self.gateway.host.clone_url(forge.repository),
                cache=self.cache,
                name=forge.repository,
                access=Access(token=self.gateway.token(), pulls=forge.pulls),
            )
        except GoldseamError as error:
            raise type(error)(self.gateway.scrub(error.message), hint=error.hint) from None
        return OpenOrigin(repo=repo, forge=forge)


@dataclass
class GithubForge:
    """What GitHub tells of one repository; a `miner.sources.origin.Forge`."""

    gateway: Gateway
    repository: str
    """`owner/name`; the new one once GitHub has told it."""
    page_size: int = 50
    pulls: tuple[PullRequest, ...] = ()

    @property
    def updated(self) -> str:
        return max((pull.updated_at for pull in self.pulls), default="")

    @property
    def _variables(self) -> dict[str, str]:
        owner, _, name = self.repository.partition("/")
        return {"owner": owner, "name": name}

    # -- lists

    def read_pages(self, *, since: str = "") -> None:
        """List merged pull requests: all of them, or those changed since a moment (ISO 8601 in UTC).

        Raises:
            GithubError: the list can't be had.

        """
        order = {"field": "UPDATED_AT" if since else "CREATED_AT", "direction": "DESC"}
        pulls: dict[int, PullRequest] = {}
        size, after = self.page_size, None
        while True:
            variables = {**self._variables, "first": size, "after": after, "order": order}
            try:
                answer = self.gateway.query(queries.PULLS, variables, about=self.repository, shrinks=size > 1)
            except TooMuchError:
                size = max(1, size // 2)
                continue
            page = queries.read_page(self._whole(answer))
            self.repository = page.repository
            pulls.update((pull.number, pull) for pull in page.pulls if pull.updated_at >= since)
            old = since and any(pull.updated_at < since for pull in page.pulls)
            if page.next_cursor is None or old:
                break
            after = page.next_cursor
        self.pulls = tuple(pulls.values())

    def read_numbers(self, numbers: Sequence[int]) -> None:
        """Read single pull requests; those that are not there or not merged are left out."""
        requests: list[PullRequest] = []
        for start in range(0, len(numbers), _NUMBERS_PAGE):
            text = queries.pulls_by_number(numbers[start : start + _NUMBERS_PAGE])
            answer = self.gateway.query(text, self._variables, about=self.repository)
            page = queries.read_pulls(self._whole(answer))
            self.repository = page.repository
            requests.extend(page.pulls)
        self.pulls = tuple(requests)

    def _whole(self, data: object) -> dict[str, object]:
        if not isinstance(data, dict) or not data.get("repository"):
            raise NotThereError(
                f"{self.gateway.host.name} has no repository {self.repository}, or does not show it to this credential"
            )
        return data

    # -- details

    def detail(self, changes: Sequence[Change]) -> list[Change]:
        """The same changes with the issues they close.

        Issues that GitHub links; where it links none (a base that is not the default branch, keywords in commits
        only), those that the change's words name with a closing keyword.
        """
        pulls = {pull.number: pull for pull in self.pulls}
        issues: dict[int, tuple[LinkedIssue, ...]] = {}
        changes_asked = [change for change in changes if change.number in pulls]
        size = queries.DETAILS_PAGE
        start = 0
        while start < len(changes_asked):
            part = changes_asked[start : start + size]
            try:
                issues.update(self._issues_of(part, pulls, shrinks=size > 1))
            except TooMuchError:
                size = max(1, size // 2)
                continue
            start += len(part)
        return [replace(change, issues=issues.get(change.number or 0, ()) or change.issues) for change in changes]

    def _issues_of(
        self, changes: Sequence[Change], pulls: dict[int, PullRequest], *, shrinks: bool
    ) -> dict[int, tuple[LinkedIssue, ...]]:
        by_words = {change.number or 0: self._named_by(change) for change in changes}
        references_asked = {
            number: [] if pulls[number].closes else references for number, references in by_words.items()
        }
        issues = grouped(reference for references in references_asked.values() for reference in references)
        text, variables = queries.details(issues)
        ids = [pulls[number].node_id for number in by_words]
        answer = self.gateway.query(text, {**variables, "ids": ids}, about=self.repository, shrinks=shrinks)
        details = queries.read_details(answer, issues)
        result: dict[int, tuple[LinkedIssue, ...]] = {}
        for number, references in references_asked.items():
            before = details.begun.get(number, "")
            linked_issues = (details.named_issue(where, number, before=before) for where, number in references)
            result[number] = details.by_pull.get(number, ()) or tuple(issue for issue in linked_issues if issue)
        return result

    def _named_by(self, change: Change) -> list[tuple[str, int]]:
        words = "\n".join((change.title, change.body, *change.messages))
        named_issues = [
            (closing_reference.repo or self.repository, closing_reference.number)
            for closing_reference in closing_references(words)
        ]
        return list(dict.fromkeys(named_issues))[: queries.ISSUES]
