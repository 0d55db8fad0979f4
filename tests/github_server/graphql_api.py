"""The GraphQL side: every question validated against the official schema and GitHub's limits, then executed."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLObjectType,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    execute_sync,
    get_named_type,
    parse,
    validate,
    value_from_ast_untyped,
)

from tests.github_server.schemas import graphql_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.github_server.world import Issue, Pull, Repo, World

LARGEST_PAGE = 100
LARGEST_ANSWER = 500_000
"""https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api"""


class ProblemError(Exception):
    """The question is not one that GitHub would answer."""


def answer(world: World, body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The answer to a question, and its price in points.

    Raises:
        ProblemError: the question is not valid by the official schema, or breaks a limit.

    """
    variables = body.get("variables") or {}
    document = parse(body["query"])
    schema = graphql_schema()
    if errors := validate(schema, document):
        raise ProblemError("; ".join(error.message for error in errors))
    points = _price(document, variables)
    result = execute_sync(schema, document, _root(world), variable_values=variables)
    payload: dict[str, Any] = {"data": result.data}
    if result.errors:
        payload["errors"] = [_error(error) for error in result.errors]
    return payload, points


def _error(error: GraphQLError) -> dict[str, Any]:
    kind = (error.extensions or {}).get("type")
    return {**({"type": kind} if kind else {}), "path": error.path, "message": error.message}


def _missing(what: str) -> GraphQLError:
    return GraphQLError(f"Could not resolve to {what}.", extensions={"type": "NOT_FOUND"})


# -- limits


def _price(document: DocumentNode, variables: dict[str, Any]) -> int:
    schema = graphql_schema()
    [operation] = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
    totals = {"nodes": 0, "requests": 1}
    assert schema.query_type
    _walk(operation.selection_set, schema.query_type, 1, variables, totals)
    if totals["nodes"] > LARGEST_ANSWER:
        raise ProblemError(f"MAX_NODE_LIMIT_EXCEEDED: {totals['nodes']} nodes")
    return max(1, round(totals["requests"] / 100))


def _walk(chosen: SelectionSetNode | None, kind: Any, times: int, variables: dict[str, Any], totals: dict) -> None:
    for one in chosen.selections if chosen else ():
        if isinstance(one, InlineFragmentNode):
            assert one.type_condition
            inner = graphql_schema().get_type(one.type_condition.name.value)
            _walk(one.selection_set, inner, times, variables, totals)
            continue
        assert isinstance(one, FieldNode)
        if one.name.value.startswith("__"):
            continue
        found = get_named_type(kind.fields[one.name.value].type)
        given = {
            argument.name.value: value_from_ast_untyped(argument.value, variables) for argument in one.arguments or ()
        }
        inner_times = times
        if found.name.endswith("Connection"):
            inner_times = _page(one, given, times, totals)
        elif "ids" in given:
            inner_times = len(given["ids"])
            if inner_times > LARGEST_PAGE:
                raise ProblemError(f"{inner_times} ids")
        if isinstance(found, GraphQLObjectType) or one.selection_set:
            _walk(one.selection_set, found, inner_times, variables, totals)


def _page(field: FieldNode, given: dict[str, Any], times: int, totals: dict) -> int:
    size = given.get("first", given.get("last"))
    wanted = {one.name.value for one in field.selection_set.selections if isinstance(one, FieldNode)}  # type: ignore[union-attr]
    if size is None:
        if wanted & {"nodes", "edges"}:
            raise ProblemError(f"MISSING_PAGINATION_BOUNDARIES: {field.name.value}")
        return times
    if not 1 <= size <= LARGEST_PAGE:
        raise ProblemError(f"EXCESSIVE_PAGINATION: {field.name.value} {size}")
    totals["requests"] += times
    totals["nodes"] += times * size
    return times * size


# -- resolvers: graphql-core calls what is callable with the arguments of the field


def _root(world: World) -> dict[str, Any]:
    def repository(_info: Any, owner: str, name: str, followRenames: bool = True) -> dict[str, Any]:  # noqa: N803
        if owner in world.blocked:
            message = "Resource protected by organization SAML enforcement. You must grant access."
            raise GraphQLError(message, extensions={"type": "FORBIDDEN"})
        repo = world.find(f"{owner}/{name}")
        if repo is None:
            raise _missing(f"a Repository with the name '{owner}/{name}'")
        return _repository(world, repo)

    def nodes(_info: Any, ids: list[str]) -> list[dict[str, Any]]:
        found = []
        for one in ids:
            full_name, _, number = base64.b64decode(one).decode().rpartition("#")
            repo = world.find(full_name)
            assert repo is not None
            found.append(_pull(world, repo, repo.pulls[int(number)]))
        return found

    return {"repository": repository, "nodes": nodes}


def _connection(items: Sequence[Any], more: bool = False, cursor: str | None = None) -> dict[str, Any]:
    return {"totalCount": len(items), "nodes": list(items), "pageInfo": {"hasNextPage": more, "endCursor": cursor}}


def _page_of(items: Sequence[Any]):
    def page(_info: Any, first: int | None = None, after: str | None = None, **_more: Any) -> dict[str, Any]:
        start = int(after) if after else 0
        size = first or 0
        taken = list(items[start : start + size])
        found = _connection(taken, start + size < len(items), str(start + len(taken)))
        return {**found, "totalCount": len(items)}

    return page


def _repository(world: World, repo: Repo) -> dict[str, Any]:
    def pull_requests(info: Any, states: Any = None, orderBy: Any = None, **paging: Any) -> dict[str, Any]:  # noqa: N803
        wanted = states if isinstance(states, list) else [states]
        pulls = [pull for pull in repo.pulls.values() if states is None or pull.state in wanted]
        by = {"UPDATED_AT": lambda pull: (pull.updated_at, pull.number), "CREATED_AT": lambda pull: pull.number}
        if orderBy:
            pulls.sort(key=by[orderBy["field"]], reverse=orderBy["direction"] == "DESC")
        page = _page_of(pulls)(info, **paging)
        return {**page, "nodes": [_pull(world, repo, pull) for pull in page["nodes"]]}

    def pull_request(_info: Any, number: int) -> dict[str, Any]:
        if number not in repo.pulls:
            raise _missing(f"a PullRequest with the number of {number}")
        return _pull(world, repo, repo.pulls[number])

    def issue(_info: Any, number: int) -> dict[str, Any]:
        if number not in repo.issues:
            raise _missing(f"an Issue with the number of {number}")
        return _issue(repo, repo.issues[number])

    return {
        "__typename": "Repository",
        "nameWithOwner": repo.full_name,
        "pullRequests": pull_requests,
        "pullRequest": pull_request,
        "issue": issue,
    }


def _pull(world: World, repo: Repo, pull: Pull) -> dict[str, Any]:
    closes = pull.closes if pull.base == repo.default_branch else ()  # as GitHub does
    pairs = [one if isinstance(one, tuple) else (repo.full_name, one) for one in closes]
    issues = [_issue(world.repos[name], world.repos[name].issues[number]) for name, number in pairs]
    first = {"commit": {"__typename": "Commit", "authoredDate": pull.first_commit_at}}
    return {
        "__typename": "PullRequest",
        "id": base64.b64encode(f"{repo.full_name}#{pull.number}".encode()).decode(),
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "state": pull.state,
        "mergedAt": pull.merged_at,
        "updatedAt": pull.updated_at or pull.merged_at,
        "baseRefName": pull.base,
        "headRefOid": pull.head or "0" * 40,
        "mergeCommit": {"__typename": "Commit", "oid": pull.merge} if pull.merge else None,
        "commits": _page_of([first] * pull.commits),
        "labels": _page_of([{"name": label} for label in pull.labels]),
        "closingIssuesReferences": _page_of(issues),
    }


def _issue(repo: Repo, issue: Issue) -> dict[str, Any]:
    comments = [
        {
            "body": one.body,
            "createdAt": one.created_at,
            "lastEditedAt": one.last_edited_at,
            "author": {"__typename": "User", "login": one.login} if one.login else None,
        }
        for one in issue.comments
    ]
    return {
        "__typename": "Issue",
        "number": issue.number,
        "title": issue.title,
        "body": issue.body,
        "createdAt": issue.created_at,
        "lastEditedAt": issue.last_edited_at,
        "repository": {"__typename": "Repository", "nameWithOwner": repo.full_name},
        "labels": _page_of([{"name": label} for label in issue.labels]),
        "comments": _page_of(comments),
        "userContentEdits": _page_of([{"editedAt": moment, "diff": text} for moment, text in issue.versions]),
        "timelineItems": _page_of(
            [
                {"__typename": "RenamedTitleEvent", "createdAt": moment, "previousTitle": title}
                for moment, title in issue.titles
            ]
        ),
    }
