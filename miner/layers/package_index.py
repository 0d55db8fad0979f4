"""What a package index has of a distribution: which releases there are, and since when. Asked, never guessed.

The simple API in JSON: PEP 691 for the form, PEP 700 for `upload-time`; and of npm's registry and Go's
module proxy which toolchains there are.
"""

from __future__ import annotations

import base64
import contextlib
import html
import json
import platform
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.config.settings import MiningSettings
from harness.core.records import PartialRecord
from harness.core.wording import counted
from miner.layers import secrets

SECONDS = 20.0
"""Time that one answer may take."""
_LARGEST = 64 * 1024 * 1024
_NOT_FOUND = 404
_JSON = "application/vnd.pypi.simple.v1+json"
_ANY = f"{_JSON}, text/html;q=0.5"
_LINK = re.compile(r"<a\s[^>]*?href=[\"']([^\"']+)")
_NPM, _NPM_FORM = "https://registry.npmjs.org", "application/vnd.npm.install-v1+json"
_GO_PROXY = "https://proxy.golang.org"
_OLDEST_NODE = 6
"""The oldest line that images are made with."""
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
_GO_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    filename: str
    uploaded: datetime | None = Field(default=None, alias="upload-time")
    yanked: bool | str = False


class _Project(PartialRecord):
    files: tuple[_File, ...]


@dataclass(frozen=True, kw_only=True)
class Index:
    """A package index; each distribution is asked for once."""

    url: str | None
    """Of its simple API; None where none is named, so that nothing is asked of anyone."""
    ca_bundle: Path | None = None
    _releases: dict[str, tuple[datetime, ...] | None] = field(default_factory=dict, repr=False)

    def releases_since(self, name: str | None, moment: datetime) -> int | None:
        """How many releases of a distribution are newer than a moment; yanked ones do not count.

        0 where the index does not know the distribution; None where it can't be asked or does not tell times.
        """
        if self.url is None or not name:
            return None
        key = canonicalize_name(name)
        if key not in self._releases:
            self._releases[key] = self._ask(key)
        times = self._releases[key]
        return None if times is None else sum(time > moment for time in times)

    def _ask(self, name: str) -> tuple[datetime, ...] | None:
        """When each release came, by its first file."""
        try:
            return release_times(_read(f"{self.url}".rstrip("/") + f"/{name}/", _JSON, self.ca_bundle))
        except urllib.error.HTTPError as error:
            error.close()
            return () if error.code == _NOT_FOUND else None
        except (OSError, ValueError):
            return None


def release_times(data: bytes) -> tuple[datetime, ...] | None:
    """When each release came, by its first file that is not yanked; None where the answer does not tell.

    Raises:
        ValueError: it is no answer of the simple API in JSON.

    """
    try:
        project = _Project.model_validate(json.loads(data))
    except ValidationError as error:
        raise ValueError(f"no answer of the simple API: {counted(error.error_count(), 'problem')}") from error
    first: dict[str, datetime] = {}
    for file in project.files:
        version = _version(file.filename)
        if version is None or file.yanked:
            continue
        if file.uploaded is None:
            return None
        moment = file.uploaded.replace(tzinfo=file.uploaded.tzinfo or UTC)
        first[version] = min(moment, first.get(version, moment))
    return tuple(sorted(first.values()))


def _version(filename: str) -> str | None:
    try:
        if filename.endswith(".whl"):
            return str(parse_wheel_filename(filename)[1])
        return str(parse_sdist_filename(filename)[1])
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


def file_hosts(address: str, name: str, ca_bundle: Path | None) -> tuple[str, ...] | None:
    """The hosts (`host`, or `host:port`) that the files of a distribution come from, with one that it is sent on to.

    None where the index at `address` can't be asked, or does not know the distribution.
    """
    opener = _opener(ca_bundle)
    try:
        with opener.open(_request(f"{address.rstrip('/')}/{name}/", _ANY), timeout=SECONDS) as answer:
            text, landed = answer.read(_LARGEST).decode("utf-8", "replace"), answer.geturl()
        files = [urllib.parse.urljoin(landed, link) for link in _links(text)]
    except (OSError, ValueError):
        return None
    if not files:
        return None
    with contextlib.suppress(OSError, ValueError):  # it is only asked whether it is sent on
        request = _request(files[-1].partition("#")[0], _ANY)
        request.method = "HEAD"
        with opener.open(request, timeout=SECONDS) as answer:
            files.append(answer.geturl())
    netlocs = (urllib.parse.urlsplit(url).netloc for url in (landed, *files))
    return tuple(dict.fromkeys(netloc.rpartition("@")[2].lower() for netloc in netlocs if netloc))


def _links(page: str) -> list[str]:
    """The files' addresses, of a page of the simple API in either form (PEP 691, PEP 503)."""
    if page.lstrip().startswith("{"):
        return [str(file["url"]) for file in json.loads(page).get("files", ())]
    return [html.unescape(link) for link in _LINK.findall(page)]


def _opener(ca_bundle: Path | None) -> urllib.request.OpenerDirector:
    context = ssl.create_default_context(cafile=str(ca_bundle) if ca_bundle else None)
    return urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))


def _read(address: str, accept: str, ca_bundle: Path | None) -> bytes:
    with _opener(ca_bundle).open(_request(address, accept), timeout=SECONDS) as answer:
        data: bytes = answer.read(_LARGEST)
    return data


def _request(address: str, accept: str) -> urllib.request.Request:
    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"a package index has an address with http or https, not {parts.scheme!r}")
    user, _, host = parts.netloc.rpartition("@")
    request = urllib.request.Request(  # noqa: S310 - http and https only
        urllib.parse.urlunsplit(parts._replace(netloc=host)), headers={"Accept": accept, "User-Agent": "goldseam"}
    )
    if user:
        token = base64.b64encode(urllib.parse.unquote(user).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {token}")  # an index's own secret goes nowhere else
    return request


def go_versions(env: Mapping[str, str] | None = None) -> tuple[str, ...] | None:
    """The minor versions of Go that the module proxy has for this machine, oldest first; None if it can't be asked."""
    build_secrets = secrets.collect(env)
    proxies = re.split(r"[,|]", build_secrets.variables.get("GOPROXY", ""))
    proxy = next((proxy.rstrip("/") for proxy in proxies if "://" in proxy), _GO_PROXY)
    machine = _GO_MACHINES.get(platform.machine(), platform.machine())
    form = re.compile(rf"v[\d.]+-go1\.(\d+)[.\d]*\.linux-{machine}")
    try:
        address = f"{proxy}/golang.org/toolchain/@v/list"
        lines = _read(address, "text/plain", build_secrets.ca_bundle).decode().split()
    except (OSError, ValueError):
        return None
    return tuple(f"1.{minor}" for minor in sorted({int(match[1]) for match in map(form.fullmatch, lines) if match}))


def node_lines(env: Mapping[str, str] | None = None) -> tuple[str, ...] | None:
    """The lines of Node that npm's registry has for this machine, oldest first; None where it can't be asked."""
    build_secrets = secrets.collect(env)
    variables = {name.lower(): value for name, value in build_secrets.variables.items()}
    registry = variables.get("npm_config_registry", _NPM)
    machine = _MACHINES.get(platform.machine(), platform.machine())
    address = f"{registry.rstrip('/')}/node-linux-{machine}"
    try:
        versions = json.loads(_read(address, _NPM_FORM, build_secrets.ca_bundle))["versions"]
        lines = {int(version.partition(".")[0]) for version in versions}
        return tuple(str(line) for line in sorted(lines) if line >= _OLDEST_NODE)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def configured(settings: MiningSettings, env: Mapping[str, str] | None = None) -> Index:
    """The index that settings name, else the one that the environment names for builds, else none."""
    build_secrets = secrets.collect(env)
    urls = (build_secrets.variables.get(name) for name in _VARIABLES)
    url = settings.package_index or next((url_given for url_given in urls if url_given), None)
    return Index(url=url, ca_bundle=build_secrets.ca_bundle)
