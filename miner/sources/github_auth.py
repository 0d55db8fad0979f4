"""Who we are to GitHub: an App's installation, a token, netrc, or what `gh` knows, in this order.

A credential is never printed: its `repr` hides it, and `scrub` takes it out of any text on its way to a person.
"""

from __future__ import annotations

import base64
import netrc
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness.config.settings import GithubSettings
from harness.core.errors import InputError
from harness.core.process import run, which

if TYPE_CHECKING:
    from github import Auth


GITHUB_API = "https://api.github.com"
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_TOKEN_VARIABLES = ("GOLDSEAM_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
_ENTERPRISE_VARIABLES = (
    "GOLDSEAM_GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_TOKEN",
    "GITHUB_TOKEN",
)
_GH_SECONDS = 20.0
_MASK = "***"
_SHORTEST_SECRET = 4


@dataclass(frozen=True, kw_only=True)
class Host:
    """One GitHub: github.com, or an Enterprise server."""

    api_url: str
    """Without a slash at its end, such as `https://github.example.com/api/v3`."""
    web_url: str
    """Where repositories are cloned from, such as `https://github.example.com`."""

    @property
    def name(self) -> str:
        """Host name and, where it is not the usual one, port."""
        return urlsplit(self.web_url).netloc

    def clone_url(self, repository: str) -> str:
        return f"{self.web_url}/{repository}.git"


def host_of(api_url: str | None) -> Host:
    """The GitHub behind an API address; github.com without one. A bare host name is completed.

    Raises:
        InputError: no address, or one that would send a credential unencrypted.

    """
    if not api_url:
        return Host(api_url=GITHUB_API, web_url="https://github.com")
    address = api_url if "://" in api_url else f"https://{api_url}"
    parts = urlsplit(address.rstrip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise InputError(
            f"expected the address of a GitHub API, found {api_url.rpartition('@')[2]!r}",
            hint="for example https://github.example.com/api/v3",
        )
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise InputError(
            f"{api_url} is not encrypted: a token sent there could be read on the way",
            hint=f"use https://{parts.netloc}{parts.path}",
        )
    if parts.hostname in ("api.github.com", "github.com"):
        return host_of(None)
    if parts.hostname.startswith("api.") and parts.hostname.endswith(".ghe.com"):  # Enterprise Cloud, data residency
        return Host(api_url=f"https://{parts.netloc}", web_url=f"https://{parts.netloc.removeprefix('api.')}")
    path = parts.path or "/api/v3"
    return Host(api_url=f"{parts.scheme}://{parts.netloc}{path}", web_url=f"{parts.scheme}://{parts.netloc}")


@dataclass(frozen=True, kw_only=True)
class Credential:
    """One way to be somebody: makes PyGithub's authentication anew for each client, as clients are not shared."""

    kind: str
    """`app`, `token`, `netrc` or `gh`."""
    secret: str = field(repr=False)
    """A token, a password, or an App's private key."""
    app_id: str = ""
    installation: int = 0

    def auth(self) -> Auth.Auth:
        """PyGithub's form of it, for one client."""
        from github import Auth  # noqa: PLC0415 - loaded where GitHub is asked

        if self.kind == "app":
            return Auth.AppInstallationAuth(Auth.AppAuth(self.app_id, self.secret), self.installation)
        return Auth.Token(self.secret)

    @property
    def renews(self) -> bool:
        """Whether a refused token can be had anew."""
        return self.kind == "app"


def git_header(token: str) -> str:
    """The header that lets git clone as the bearer of a token."""
    pair = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return f"Authorization: Basic {pair}"


def scrub(text: str, *secrets: str) -> str:
    """A text without secrets, neither as they are nor in a header of git's."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _MASK).replace(git_header(secret).rpartition(" ")[2], _MASK)
    return text


def find_credential(host: Host, settings: GithubSettings) -> Credential:
    """The first credential there is for a host.

    Raises:
        InputError: there is none, or one that is there can't be used.

    """
    env = os.environ
    credential = _app(settings, env) or _token(host, env) or _netrc(host, env) or _gh(host)
    if credential is None:
        raise InputError(
            f"no credential for {host.name}: GitHub shows pull requests only to authenticated users",
            hint="set GITHUB_TOKEN (scope `repo`, or `public_repo` for public ones), or run `gh auth login`; "
            f"without one, mine a clone URL such as {host.clone_url('owner/name')}",
        )
    return credential


def _app(settings: GithubSettings, env: Mapping[str, str]) -> Credential | None:
    key = env.get("GOLDSEAM_GITHUB_APP_PRIVATE_KEY", "")
    file = settings.app_private_key_file
    if not settings.app_id and not settings.app_installation_id and not key and file is None:
        return None
    if not settings.app_id or not settings.app_installation_id or not (key or file):
        raise InputError(
            "a GitHub App needs three settings: its id, its installation's id and its private key",
            hint="GOLDSEAM_GITHUB_APP_ID, GOLDSEAM_GITHUB_APP_INSTALLATION_ID, GOLDSEAM_GITHUB_APP_PRIVATE_KEY_FILE",
        )
    if not key and file is not None:
        try:
            key = file.expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not text"
            raise InputError(f"the App's private key {file} can't be read: {reason}") from None
    if "PRIVATE KEY" not in key:
        raise InputError("the App's private key is not in PEM form", hint="give the .pem file that GitHub offered")
    key = key.replace("\\n", "\n")  # variables of CI systems often hold it in one line
    return Credential(kind="app", secret=key, app_id=settings.app_id, installation=settings.app_installation_id)


def _token(host: Host, env: Mapping[str, str]) -> Credential | None:
    names = _TOKEN_VARIABLES if host.api_url == GITHUB_API else _ENTERPRISE_VARIABLES
    token = next((value.strip() for name in names if (value := env.get(name, "")).strip()), "")
    if not token:
        return None
    if not token.isascii() or any(character.isspace() for character in token):
        raise InputError("the GitHub token holds blanks or letters that no token has", hint="set it again")
    return Credential(kind="token", secret=token)


def _netrc(host: Host, env: Mapping[str, str]) -> Credential | None:
    file = Path(env.get("NETRC") or Path(env.get("HOME") or Path.home()) / ".netrc")
    if not file.is_file():
        return None
    try:
        entries = netrc.netrc(file)
    except (OSError, netrc.NetrcParseError):
        raise InputError(f"{file} can't be read as a netrc file", hint="fix it, or set GITHUB_TOKEN") from None
    for address in (host.api_url, host.web_url):
        name = urlsplit(address).hostname or ""
        if name in entries.hosts and (password := entries.hosts[name][2]):
            return Credential(kind="netrc", secret=password)
    return None


def _gh(host: Host) -> Credential | None:
    if which("gh") is None:
        return None
    completed = run(["gh", "auth", "token", "--hostname", host.name], check=False, timeout=_GH_SECONDS)
    token = completed.stdout.decode("utf-8", "replace").strip()
    return Credential(kind="gh", secret=token) if completed.returncode == 0 and token else None
