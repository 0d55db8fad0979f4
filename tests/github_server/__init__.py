"""A GitHub for tests: REST, GraphQL and git over HTTP, checked against GitHub's own descriptions of them."""

from tests.github_server.faults import Fault
from tests.github_server.server import GithubServer
from tests.github_server.world import Comment, Issue, Pull, World

__all__ = ["Comment", "Fault", "GithubServer", "Issue", "Pull", "World"]
