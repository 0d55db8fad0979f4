"""How many API requests a mine of GitHub makes, beside SWE-bench's collector on the same history.

    python benchmarks/github_requests.py [--pulls 1000] [--candidates 0.2] [--page-size 50]

Ours is counted by the test server (tests/github_server) while the real client reads a history of merged pull requests
from it. SWE-bench's is computed from the access pattern of its collector (swebench/collect/utils.py, read in 2026): the
list of closed pull requests; the commits of every one of them, to look for keywords; of each candidate its issue, its
commits again and the issue's comments. Its diffs (one a candidate, unauthenticated, from the web site) and its calls to
/rate_limit are not counted. Every pull request here is merged; closed ones would cost the collector more, and us
nothing. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from miner.sources.address import Filter, address_of
from miner.sources.change import Change, MergeStyle
from miner.sources.github import GithubForge, origins_of
from miner.sources.github_auth import Credential, host_of
from miner.sources.github_client import Gateway
from tests.github_server import Comment, GithubServer, World

LIMIT = 35
COMMENTS = 5
"""Issues have none to four comments, in turn."""


def build(world: World, pulls: int, share: float) -> list[int]:
    """A repository of merged pull requests; the numbers of its candidates, each of which closes an issue."""
    repo = world.repository("acme/app")
    every = round(1 / share)
    candidates = [number for number in range(1, pulls + 1) if number % every == 0]
    sha = repo.git.sha()
    for number in range(1, pulls + 1):
        pull = repo.pull(number, f"Change {number}", merge=sha)
        pull.head = sha
    for place, number in enumerate(candidates):
        comments = tuple(Comment("Me too.", "2023-12-05T00:00:00Z") for _ in range(place % COMMENTS))
        repo.issue(pulls + number, f"Fault {number}", body="It fails.", comments=comments)
        repo.pulls[number].title = f"Fix {number}"
        if place % 2:  # half by GitHub's own link, half by a keyword only
            repo.pulls[number].closes = (pulls + number,)
        else:
            repo.pulls[number].body = f"Fixes #{pulls + number}"
    return candidates


def ours(server: GithubServer, candidates: list[int], page_size: int) -> tuple[int, int, int]:
    """Requests and GraphQL points of a whole look, and issues that came of it."""
    gateway = Gateway(host_of(server.api_url), Credential(kind="token", secret=next(iter(server.tokens))), max_wait=0)
    address = address_of("acme", gateway.host)
    assert address is not None
    [origin] = origins_of(address, gateway, Filter(), cache=Path(), page_size=page_size)
    forge = GithubForge(gateway, origin.repository, page_size=page_size)
    forge.read_pages()
    told = {pull.number: pull for pull in forge.pulls}
    issues = 0
    for start in range(0, len(candidates), 20):
        part = [_change(told[number].title, told[number].body, number) for number in candidates[start : start + 20]]
        issues += sum(len(change.issues) for change in forge.detail(part))
    return len(server.requests), sum(request.points for request in server.requests), issues


def _change(title: str, body: str, number: int) -> Change:
    return Change(repo="acme/app", base_commit="", head_commit="", merge_commit=str(number), style=MergeStyle.MERGE,
                  created_at="", title=title, body=body, messages=(), number=number)  # fmt: skip


def swebench(pulls: int, comments: list[int]) -> dict[str, int]:
    """Requests of SWE-bench's collector, by kind; `comments` are those of each candidate's issue.

    Its loop over pages ends at the first empty one, so every list costs a request more than it has pages.
    """
    candidates = len(comments)
    return {
        "repository": 1,
        "lists of pull requests, 100 a page": math.ceil(pulls / 100) + 1,
        "commits of each pull request, to look for keywords": 2 * pulls,
        "issue of each candidate": candidates,
        "commits of each candidate, for the date of the first": 2 * candidates,
        "comments of each candidate's issue": sum(math.ceil(count / 100) + 1 for count in comments),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pulls", type=int, default=1000)
    parser.add_argument("--candidates", type=float, default=0.2)
    parser.add_argument("--page-size", type=int, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        candidates = build(world, given.pulls, given.candidates)
        with GithubServer(world) as server:
            requests, points, issues = ours(server, candidates, given.page_size)
            problems = server.problems
    assert not problems, problems
    assert issues == len(candidates), "every candidate has one issue"
    theirs = swebench(given.pulls, [place % COMMENTS for place in range(len(candidates))])
    print(f"{given.pulls} merged pull requests, {len(candidates)} candidates, an organisation of one repository\n")
    print(f"goldseam             {requests:6} API requests ({points} GraphQL points of 5,000 an hour)")
    print(f"SWE-bench collector  {sum(theirs.values()):6} API requests (computed), and {len(candidates)} diffs")
    for kind, count in theirs.items():
        print(f"{count:27}  {kind}")
    per_thousand = requests * 1000 / given.pulls
    fewer = sum(theirs.values()) / requests
    print(f"\n{fewer:.0f} times fewer; per 1,000 pull requests {per_thousand:.0f}, limit {LIMIT}")
    print(json.dumps({
        "pulls": given.pulls, "candidates": len(candidates), "requests": requests, "points": points,
        "swebench_requests": sum(theirs.values()), "limit": LIMIT, "holds": per_thousand <= LIMIT,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
