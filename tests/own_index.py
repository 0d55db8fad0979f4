"""A package index and git repositories on this machine's loopback, with days of upload, yanked files and a password.

What it doesn't have itself it sends on to the public index, so that pytest and its like need not be here.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import tarfile
import zipfile
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

from harness.core.process import run
from tests.local_http import LocalServer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PUBLIC = "https://pypi.org"
_JSON = "application/vnd.pypi.simple.v1+json"


@dataclass(frozen=True, kw_only=True)
class File:
    """A wheel of the index."""

    name: str
    data: bytes = field(repr=False)
    uploaded: str
    """ISO 8601."""
    yanked: str = ""
    """Why it was taken back."""


def wheel(name: str, version: str, *, uploaded: str, yanked: str = "", requires: Sequence[str] = ()) -> File:
    """A wheel with one module that knows its version."""
    stem, told = f"{name}-{version}", io.BytesIO()
    metadata = "".join(f"Requires-Dist: {one}\n" for one in requires)
    with zipfile.ZipFile(told, "w") as archive:
        archive.writestr(f"{name}.py", f"VERSION = {version!r}\n")
        archive.writestr(
            f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}"
        )
        archive.writestr(
            f"{stem}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        listed = (f"{name}.py", *(f"{stem}.dist-info/{one}" for one in ("METADATA", "WHEEL", "RECORD")))
        archive.writestr(f"{stem}.dist-info/RECORD", "".join(f"{one},,\n" for one in listed))
    return File(name=f"{stem}-py3-none-any.whl", data=told.getvalue(), uploaded=uploaded, yanked=yanked)


def sdist(name: str, version: str, *, uploaded: str, setup: str) -> File:
    """A source distribution with this `setup.py` and nothing else."""
    told = io.BytesIO()
    with tarfile.open(fileobj=told, mode="w:gz") as archive:
        for path, text in {
            "setup.py": setup,
            "PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n",
        }.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return File(name=f"{name}-{version}.tar.gz", data=told.getvalue(), uploaded=uploaded)


class OwnIndex(LocalServer):
    """Serves `files` as `/simple/`, and bare repositories of `repositories` as `/git/`, these for `login` alone."""

    def __init__(self, files: Sequence[File] = (), *, repositories: Path | None = None, login: str = "") -> None:
        self.files = {file.name: file for file in files}
        self.repositories = repositories
        self.login = login
        self.asked: list[str] = []
        super().__init__(_Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/simple"

    def page(self, project: str) -> bytes | None:
        """The page of a distribution (PEP 691 with the times of PEP 700)."""
        mine = [file for file in self.files.values() if file.name.partition("-")[0].replace("_", "-") == project]
        files = [
            {
                "filename": file.name,
                "url": f"../../files/{file.name}",
                "hashes": {"sha256": hashlib.sha256(file.data).hexdigest()},
                "upload-time": file.uploaded,
                "yanked": file.yanked or False,
                "size": len(file.data),
            }
            for file in mine
        ]
        versions = sorted({file.name.removesuffix(".tar.gz").split("-")[1] for file in mine})
        told = {"meta": {"api-version": "1.1"}, "name": project, "versions": versions, "files": files}
        return json.dumps(told).encode() if mine else None


class _Handler(BaseHTTPRequestHandler):
    owner: OwnIndex
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        self.owner.asked.append(path)
        _, kind, *rest = path.split("/")
        if kind == "git":
            self._git(path, query, b"")
        elif kind == "files" and rest[0] in self.owner.files:
            self._say(self.owner.files[rest[0]].data, "application/octet-stream")
        elif kind == "simple" and (page := self.owner.page(rest[0])):
            self._say(page, _JSON)
        else:
            self._say(b"", "text/plain", HTTPStatus.FOUND, Location=f"{PUBLIC}{self.path}")

    do_HEAD = do_GET  # noqa: N815 - the base class's own word

    def do_POST(self) -> None:
        path, _, query = self.path.partition("?")
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        self._git(path, query, body)

    def _git(self, path: str, query: str, body: bytes) -> None:
        """Git's own server program, by CGI (RFC 3875)."""
        token = base64.b64encode(self.owner.login.encode()).decode()
        if self.owner.login and self.headers.get("Authorization") != f"Basic {token}":
            self._say(b"", "text/plain", HTTPStatus.UNAUTHORIZED, **{"WWW-Authenticate": 'Basic realm="git"'})
            return
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.owner.repositories),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "uploadpack.allowFilter",
            "GIT_CONFIG_VALUE_0": "true",
            "GIT_CONFIG_KEY_1": "safe.directory",
            "GIT_CONFIG_VALUE_1": "*",
            "PATH_INFO": path.removeprefix("/git"),
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        done = run(["git", "http-backend"], env=env, input=body)
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(headers.pop("Status", "200").split()[0])
        self._say(data, headers.pop("Content-Type", "text/plain"), status)

    def _say(self, data: bytes, kind: str, status: int = HTTPStatus.OK, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass
