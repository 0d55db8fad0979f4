"""The GraphQL questions, and their answers read into values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from harness.core.wording import problems
from miner.sources.bare import SHA
from miner.sources.change import LinkedIssue, PullRequest
from miner.sources.github_client import GithubError

LABELS = 20
ISSUES = 10
COMMENTS = 50
EDITS = 20
RENAMES = 10
DETAILS_PAGE = 20
"""Pull requests whose issues are asked for at once."""

_PULL = f"""
  id number title body mergedAt updatedAt baseRefName headRefOid mergeCommit {{ oid }} commits {{ totalCount }}
  labels(first: {LABELS}) {{ nodes {{ name }} }}
  closingIssuesReferences(first: {ISSUES}) {{ nodes {{ number repository {{ nameWithOwner }} }} }}
"""
_ISSUE = f"""
  number title body createdAt lastEditedAt
  labels(first: {LABELS}) {{ nodes {{ name }} }}
  comments(first: {COMMENTS}) {{ nodes {{ body createdAt lastEditedAt }} }}
  userContentEdits(first: {EDITS}) {{ nodes {{ editedAt diff }} }}
  timelineItems(first: {RENAMES}, itemTypes: [RENAMED_TITLE_EVENT]) {{
    nodes {{ ... on RenamedTitleEvent {{ createdAt previousTitle }} }}
  }}
"""

PULLS = f"""
query MergedPullRequests($owner: String!, $name: String!, $first: Int!, $after: String, $order: IssueOrder!) {{
  repository(owner: $owner, name: $name) {{
    nameWithOwner
    pullRequests(first: $first, after: $after, states: MERGED, orderBy: $order) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{ {_PULL} }}
    }}
  }}
}}
"""


def pulls_by_number(numbers: Iterable[int]) -> str:
    """The question for single pull requests."""
    fields = "\n".join(f"p{number}: pullRequest(number: {number:d}) {{ state {_PULL} }}" for number in numbers)
    return f"""
query PullRequests($owner: String!, $name: String!) {{
  repository(owner: $owner, name: $name) {{ nameWithOwner {fields} }}
}}
"""


def details(issues: Mapping[str, Sequence[int]]) -> tuple[str, dict[str, str]]:
    """The question for the issues of some pull requests, and of issues that only their words name, by repository.

    Returns the text and the variables it needs beside `ids`.
    """
    parts, variables, declared = [], {}, []
    for place, (repository, numbers) in enumerate(sorted(issues.items())):
        variables[f"owner{place}"], _, variables[f"name{place}"] = repository.partition("/")
        declared.append(f", $owner{place}: String!, $name{place}: String!")
        fields = " ".join(f"i{number}: issue(number: {number:d}) {{ {_ISSUE} }}" for number in sorted(set(numbers)))
        parts.append(f"r{place}: repository(owner: $owner{place}, name: $name{place}) {{ nameWithOwner {fields} }}")
    text = f"""
query Details($ids: [ID!]!{"".join(declared)}) {{
  nodes(ids: $ids) {{
    ... on PullRequest {{
      number
      commits(first: 1) {{ nodes {{ commit {{ authoredDate }} }} }}
      closingIssuesReferences(first: {ISSUES}) {{ nodes {{ {_ISSUE} }} }}
    }}
  }}
  {" ".join(parts)}
}}
"""
    return text, variables


class _Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True)


Node = TypeVar("Node", bound=_Model)


class _Nodes(_Model, Generic[Node]):
    nodes: tuple[Node | None, ...] | None = ()

    @property
    def present(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes or () if node is not None)


class _Listed(_Nodes[Node], Generic[Node]):
    """Nodes that GitHub may leave out, or have null for."""

    @model_validator(mode="before")
    @classmethod
    def _none(cls, nodes: Any) -> Any:
        return {} if nodes is None else nodes


class _NamedNode(_Model):
    name: str


class _Repository(_Model):
    name_with_owner: str


class _Reference(_Model):
    number: int
    repository: _Repository


class _Oid(_Model):
    oid: str


class _Count(_Model):
    total_count: int


class _PageInfo(_Model):
    has_next_page: bool
    end_cursor: str | None = None


class _Pull(_Model):
    id: str
    number: int
    title: str
    body: str
    merged_at: str | None
    updated_at: str
    base_ref_name: str
    head_ref_oid: str
    merge_commit: _Oid | None
    commits: _Count
    labels: _Listed[_NamedNode] = _Listed()
    closing_issues_references: _Listed[_Reference] = _Listed()
    state: str = "MERGED"

    def value(self) -> PullRequest:
        merge = self.merge_commit.oid if self.merge_commit else None
        return PullRequest(
            number=self.number,
            title=self.title,
            body=self.body.replace("\r\n", "\n"),
            head_commit=self.head_ref_oid if SHA.fullmatch(self.head_ref_oid) else "",
            base_branch=self.base_ref_name,
            merge_commit=merge if merge and SHA.fullmatch(merge) else None,
            merged_at=self.merged_at or "",
            updated_at=self.updated_at,
            commits=self.commits.total_count,
            labels=tuple(label.name for label in self.labels.present),
            closes=tuple(
                (reference.repository.name_with_owner, reference.number)
                for reference in self.closing_issues_references.present
            ),
            node_id=self.id,
        )


class _Pulls(_Nodes[_Pull]):
    page_info: _PageInfo


class _RepositoryPulls(_Repository):
    pull_requests: _Pulls


class _Comment(_Model):
    body: str
    created_at: str
    last_edited_at: str | None = None

    def made_before(self, moment: str) -> bool:
        return not moment or max(self.created_at, self.last_edited_at or "") < moment


class _Edit(_Model):
    """One version of a text, the first one included once there is a second; newest first."""

    edited_at: str
    diff: str | None = None
    """Despite its name the whole text as it was after the edit; None where somebody deleted it."""


class _Rename(_Model):
    created_at: str
    previous_title: str


class _Issue(_Model):
    number: int
    title: str
    body: str
    created_at: str
    last_edited_at: str | None = None
    labels: _Listed[_NamedNode] = _Listed()
    comments: _Listed[_Comment] = _Listed()
    user_content_edits: _Listed[_Edit] = _Listed()
    timeline_items: _Listed[_Rename] = _Listed()

    def value(self, before: str) -> LinkedIssue:
        """The issue as of before a moment (ISO 8601 in UTC, which sorts as text), as far as GitHub keeps it."""
        edited = self.last_edited_at
        body, version = self._body_before(before)
        return LinkedIssue(
            number=self.number,
            title=self._title_before(before),
            body=body.replace("\r\n", "\n"),
            labels=tuple(label.name for label in self.labels.present),
            last_edited_at=edited,
            comments=tuple(
                comment.body.replace("\r\n", "\n") for comment in self.comments.present if comment.made_before(before)
            ),
            edited_after_fix=bool(edited and before and edited >= before),
            body_of=version,
        )

    def _body_before(self, before: str) -> tuple[str, str]:
        """The newest text written before a moment, and when; an issue written later speaks by its first text."""
        if not before or not self.last_edited_at or self.last_edited_at < before:
            return self.body, ""
        edits = self.user_content_edits.present
        versions = sorted((edit.edited_at, edit.diff) for edit in edits if edit.diff is not None)
        earlier = [version for version in versions if version[0] < before]
        if not earlier and self.created_at >= before:
            earlier = versions[:1]
        return (earlier[-1][1], earlier[-1][0]) if earlier else (self.body, "")

    def _title_before(self, before: str) -> str:
        events = self.timeline_items.present
        later = sorted(
            (event.created_at, event.previous_title) for event in events if before and event.created_at >= before
        )
        return later[0][1] if later else self.title


class _Commit(_Model):
    authored_date: str


class _PullCommit(_Model):
    commit: _Commit


class _Detail(_Model):
    number: int
    commits: _Nodes[_PullCommit]
    closing_issues_references: _Listed[_Issue] = _Listed()


class Page(BaseModel):
    """One page of merged pull requests."""

    model_config = ConfigDict(frozen=True)

    repository: str
    """`owner/name` as it is now: a renamed repository tells its new name."""
    pulls: tuple[PullRequest, ...]
    next_cursor: str | None = None


def read_page(data: Mapping[str, Any]) -> Page:
    """The answer to `PULLS`."""
    pulls = _read(_RepositoryPulls, data["repository"])
    info = pulls.pull_requests.page_info
    return Page(
        repository=pulls.name_with_owner,
        pulls=tuple(pull.value() for pull in pulls.pull_requests.present),
        next_cursor=info.end_cursor if info.has_next_page else None,
    )


def read_pulls(data: Mapping[str, Any]) -> Page:
    """The answer to `pulls_by_number`: the merged ones among those that are there."""
    answers = data["repository"]
    pulls = [_read(_Pull, value) for key, value in answers.items() if key[0] == "p" and key[1:].isdigit() and value]
    return Page(
        repository=str(answers["nameWithOwner"]), pulls=tuple(pull.value() for pull in pulls if pull.state == "MERGED")
    )


class Details(BaseModel):
    """What the candidates' issues say."""

    model_config = ConfigDict(frozen=True)

    by_pull: dict[int, tuple[LinkedIssue, ...]] = Field(default_factory=dict)
    begun: dict[int, str] = Field(default_factory=dict)
    """When the first commit of each was written, ISO 8601 in UTC."""
    by_reference: dict[tuple[str, int], _Issue] = Field(default_factory=dict)
    """Issues asked for by number."""

    def named_issue(self, repository: str, number: int, *, before: str) -> LinkedIssue | None:
        """An issue asked for by number, as it stood before a moment."""
        issue = self.by_reference.get((repository, number))
        return issue.value(before) if issue else None


def read_details(data: Mapping[str, Any], issues: Mapping[str, Sequence[int]]) -> Details:
    """The answer to `details`."""
    by_pull: dict[int, tuple[LinkedIssue, ...]] = {}
    begun: dict[int, str] = {}
    for raw in data.get("nodes") or ():
        if not raw:
            continue
        node = _read(_Detail, raw)
        first = next(iter(node.commits.present), None)
        begun[node.number] = first.commit.authored_date if first else ""
        linked = node.closing_issues_references.present
        by_pull[node.number] = tuple(issue.value(begun[node.number]) for issue in linked)
    by_number: dict[tuple[str, int], _Issue] = {}
    for place, (repository, numbers) in enumerate(sorted(issues.items())):
        answer = data.get(f"r{place}") or {}
        for number in numbers:
            if raw := answer.get(f"i{number}"):
                by_number[repository, number] = _read(_Issue, raw)
    return Details(by_pull=by_pull, begun=begun, by_reference=by_number)


Model = TypeVar("Model", bound=_Model)


def _read(kind: type[Model], raw: Any) -> Model:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise GithubError(f"GitHub's answer is not what its schema says: {problems(error.errors())}") from None
