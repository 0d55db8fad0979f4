"""The HTTP server: `/api/v3`, `/api/graphql`, and git's smart protocol through `git http-backend`."""

from __future__ import annotations

import base64
import functools
import json
import os
import re
import threading
import time
import traceback
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from harness.core.process import run
from tests.github_server import graphql_api, schemas
from tests.local_http import LocalServer

if TYPE_CHECKING:
    from tests.github_server.faults import Fault
    from tests.github_server.world import Repo, World

APP_ID = "4711"
INSTALLATION = 42


@dataclass
class Request:
    """One request that the server has seen."""

    method: str
    path: str
    thread: int
    points: int = 0
    query: dict[str, Any] = field(default_factory=dict)


class GithubServer(LocalServer):
    """Serves a world on a port of this machine; a context manager."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.tokens = {"ghp_SecretOfAda0123456789"}
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.clones: list[str] = []
        self.problems: list[str] = []
        """What clients asked that GitHub would not understand, and what we answered that it would not."""
        self.issued = 0
        self._lock = threading.Lock()
        super().__init__(_Handler)

    @property
    def site(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def api_url(self) -> str:
        return f"{self.site}/api/v3"

    @functools.cached_property
    def key(self) -> rsa.RSAPrivateKey:
        """What the App signs with; made when it is first asked for, as it takes a while."""
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def app_key(self) -> str:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    def inject(self, *faults: Fault) -> None:
        self.faults.extend(faults)

    def struck(self, path: str, query: dict[str, Any]) -> Fault | None:
        with self._lock:
            return next((fault for fault in self.faults if fault.strikes(path, query)), None)


class _Handler(BaseHTTPRequestHandler):
    owner: GithubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        try:
            self._answer(self._body())
        except Exception:  # noqa: BLE001 - a fault of the server's own must fail the test, not be retried
            self.owner.problems.append(traceback.format_exc())
            self._send(400, {"message": "the test server is broken"})

    def _answer(self, body: bytes) -> None:
        path = urlsplit(self.path).path
        if re.search(r"\.git/", path):
            self._git(path, body)
            return
        query = json.loads(body) if path == "/api/graphql" else {}
        request = Request(method=self.command, path=path, thread=0, query=query)
        self.owner.requests.append(request)
        if (fault := self.owner.struck(path, query)) is not None:
            self._fail(fault)
        elif path.startswith("/api/v3/app/"):
            self._app(path)
        elif not self._known():
            self._send(401, {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"})
        elif path == "/api/graphql":
            self._graphql(query, request)
        elif path.startswith("/api/v3/"):
            self._rest(path.removeprefix("/api/v3"))
        else:
            self._send(404, {"message": "Not Found"})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _known(self) -> bool:
        kind, _, secret = self.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "basic":
            secret = base64.b64decode(secret).decode().partition(":")[2]
        return secret in self.owner.tokens

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        limits = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4999", "x-ratelimit-used": "1",
                  "x-ratelimit-reset": str(int(time.time()) + 3600)}  # fmt: skip
        self.send_response(status)
        sent = {"Content-Type": "application/json; charset=utf-8", **limits, **(headers or {})}
        for name, value in {**sent, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _fail(self, fault: Fault) -> None:
        if fault.drops:
            self.close_connection = True
            self.connection.close()
            return
        self._send(fault.status, fault.payload(), fault.headers)

    # -- GraphQL and REST

    def _graphql(self, query: dict[str, Any], request: Request) -> None:
        try:
            payload, request.points = graphql_api.answer(self.owner.world, query)
        except graphql_api.ProblemError as error:
            self.owner.problems.append(str(error))
            self._send(200, {"errors": [{"type": "INVALID", "message": str(error)}]})
            return
        self._send(200, payload)

    def _rest(self, path: str) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        if person := re.fullmatch(r"/users/([^/]+)", path):
            self._person(person[1])
            return
        found = re.fullmatch(r"/(orgs|users)/([^/]+)/repos", path)
        if self.command != "GET" or not found:
            self.owner.problems.append(f"{self.command} {path}: no client of ours should ask that")
            self._send(404, {"message": "Not Found"})
            return
        kind, login = found.groups()
        world = self.owner.world
        known = (login in world.users) == (kind == "users") and (login in world.users or world.of(login))
        template = "/orgs/{org}/repos" if kind == "orgs" else "/users/{username}/repos"
        if not known:
            self._send(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})
            return
        size, number = int(asked.get("per_page", ["30"])[0]), int(asked.get("page", ["1"])[0])
        every = world.of(login)
        body = [self._repository(repo) for repo in every[(number - 1) * size : number * size]]
        self._checked("GET", template, 200, body)

    def _person(self, login: str) -> None:
        if login in self.owner.world.users:
            self._checked(
                "GET",
                "/users/{username}",
                200,
                schemas.filled("public-user", login=login, url=f"{self.owner.api_url}/users/{login}"),
            )
        else:
            self._send(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})

    def _checked(self, method: str, template: str, status: int, body: Any) -> None:
        self.owner.problems += schemas.rest_problems(method, template, status, body)
        self._send(status, body)

    def _repository(self, repo: Repo) -> dict[str, Any]:
        owner, _, name = repo.full_name.partition("/")
        return schemas.filled(
            "minimal-repository",
            name=name,
            full_name=repo.full_name,
            owner=schemas.filled("simple-user", login=owner),
            private=repo.visibility != "public",
            visibility=repo.visibility,
            fork=repo.fork,
            archived=repo.archived,
            language=repo.language,
            topics=list(repo.topics),
            default_branch=repo.default_branch,
        )

    def _app(self, path: str) -> None:
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        claims = jwt.decode(token, self.owner.key.public_key(), algorithms=["RS256"]) if kind == "Bearer" else {}
        if claims.get("iss") != APP_ID or path != f"/api/v3/app/installations/{INSTALLATION}/access_tokens":
            self._send(401, {"message": "A JSON web token could not be decoded"})
            return
        self.owner.issued += 1
        token = f"ghs_InstallationSecret{self.owner.issued:04}"
        self.owner.tokens.add(token)
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        body = {"token": token, "expires_at": until, "permissions": {"contents": "read"}}
        self._checked("POST", "/app/installations/{installation_id}/access_tokens", 201, body)

    # -- git

    def _git(self, path: str, body: bytes) -> None:
        full_name = path.strip("/").split(".git/")[0]
        self.owner.clones.append(f"{self.command} {path}")
        if not self._known():
            self._send(401, b"", {"WWW-Authenticate": 'Basic realm="GitHub"'})
            return
        if self.owner.world.find(full_name) is None:
            self._send(404, b"Repository not found")
            return
        env = {
            "GIT_PROJECT_ROOT": str(self.owner.world.folder / "served"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PATH_INFO": path,
            "QUERY_STRING": urlsplit(self.path).query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "ada",
        }
        done = run(["git", "http-backend"], input=body, env=env, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
        status = int(headers.pop("Status", "200").split()[0])
        self._send(status, content, headers)
