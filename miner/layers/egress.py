"""Which hosts a build that runs code of the repository may reach: package indexes, and what its requirements name.

What the user's own settings name may be anywhere. What a repository names may be on the public internet alone.
"""

from __future__ import annotations

import ipaddress
import re
import threading
import urllib.parse
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from miner.evidence.tree import Tree
from miner.layers import package_index
from miner.layers.secrets import BuildSecrets

_WEB = (80, 443)
_OWN_INDEX = "https://pypi.org/simple"
_OF_GITHUB = ("codeload.github.com", "objects.githubusercontent.com", "release-assets.githubusercontent.com")
_FILES_OF = {
    "pypi.org": ("files.pythonhosted.org",),
    "github.com": _OF_GITHUB,
    "services.gradle.org": ("downloads.gradle.org", "github.com", *_OF_GITHUB),
}
"""Hosts that others send one on to for files."""
_DEFAULTS = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
_FURTHER = ("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_FIND_LINKS", "PIP_FIND_LINKS")
_ASKED_FOR = ("pytest", "pip")
"""Distributions that an index surely has, by which it tells where its files are."""

_ADDRESS = r"(?:https?|ssh)://[^\s\"'<>,;\])]+"
_NAMED = re.compile(
    rf"git\+({_ADDRESS})"
    rf"|@\s*({_ADDRESS})"
    rf"|(?:--(?:extra-)?index-url|--find-links|^\s*-[if])[=\s]+({_ADDRESS})"
    rf"|^\s*({_ADDRESS}\.(?:whl|zip|tar\.\w+|tgz)\b)",
    re.MULTILINE,
)
_CRATE = "Cargo.toml"
_CRATES = ("index.crates.io", "static.crates.io")
"""The package index of Rust: where cargo has the crates from that an extension needs."""
NPM, GO, MAVEN = "registry.npmjs.org", "proxy.golang.org", "repo.maven.apache.org"
GRADLE = ("plugins.gradle.org", "plugins-artifacts.gradle.org")
"""Where Gradle has plugins from."""
_INDEXES = frozenset({*_CRATES, NPM, GO, MAVEN})
_IN_TABLES = re.compile(rf"\b(?:git|url)\s*=\s*[\"']({_ADDRESS})")
"""Of poetry's and uv's tables: what a requirement comes from, and indexes."""
_TABLES = ("pyproject.toml", "Pipfile", "uv.toml", _CRATE)
_READ = re.compile(
    r"(?:[^/]+/){0,2}(?:setup\.(?:py|cfg)|tox\.ini|noxfile\.py|environment\.ya?ml|(?:pyproject|Cargo)\.toml|Pipfile|uv\.toml"
    r"|[^/]*(?:require|constraint)[^/]*\.(?:txt|in))|(?:[^/]+/)?requirements?/[^/]+\.(?:txt|in)"
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_MOST_FILES = 60
_LARGEST = 1_000_000

_guard = threading.Lock()
_file_hosts: dict[str, tuple[str, ...]] = {}


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """The hosts of a build."""

    hosts: frozenset[tuple[str, int]]
    suffixes: tuple[str, ...] = ()
    """Ends of host names, such as `.example.org`, on the ports of the web."""
    declared: frozenset[tuple[str, int]] = frozenset()
    """Hosts that the repository names: reached at public addresses only."""

    @classmethod
    def of(cls, names: Iterable[str]) -> Allowed:
        """Of `host` (on the ports of the web), `host:port`, `*.host`."""
        hosts: set[tuple[str, int]] = set()
        suffixes: list[str] = []
        for name in names:
            host, colon, port = name.lower().rpartition(":")
            if name.startswith("*."):
                suffixes.append(name[1:].lower())
            elif colon and port.isdigit():
                hosts.add((host.strip("[]"), int(port)))
            else:
                hosts.update((name.lower(), web) for web in _WEB)
        return cls(hosts=frozenset(hosts), suffixes=tuple(suffixes))

    def and_named(self, names: Collection[str]) -> Allowed:
        """These, and hosts that a repository names, with those that their files come from; a pattern is no name.

        Those of Rust, npm and Go may be at any address, as Python's may: their names are no repository's to choose.
        """
        more = Allowed.of(host for name in names for host in (name, *_FILES_OF.get(name, ())) if "*" not in host)
        index = Allowed.of(name for name in names if name in _INDEXES)
        return replace(self, hosts=self.hosts | index.hosts, declared=self.declared | more.hosts)

    def has(self, host: str, port: int) -> bool:
        return self.trusts(host, port) or (_plain(host), port) in self.declared

    def trusts(self, host: str, port: int) -> bool:
        """Whether the user's own settings name a host, so that it may be at any address."""
        return (_plain(host), port) in self.hosts or (port in _WEB and _plain(host).endswith(self.suffixes))

    def reaches(self, host: str) -> bool:
        """Whether a host may be reached on some port."""
        plain = _plain(host)
        return any(plain == name for name, _ in self.hosts | self.declared) or plain.endswith(self.suffixes)


def _plain(host: str) -> str:
    return host.lower().rstrip(".")


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet's.

    By IANA's registries of special-purpose addresses (RFC 6890), which `ipaddress` knows, and stricter: of IPv6 only
    global unicast addresses (2000::/3) are, and those that carry an IPv4 address (RFC 3056, RFC 6052) where that is
    one; IPv4-mapped addresses are none.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not ip.is_multicast and not ip.is_reserved
    carried = ip.sixtofour
    if carried is None and ip in _NAT64:
        carried = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if carried is not None:
        return is_public(str(carried))
    return ip in _GLOBAL_UNICAST and ip.is_global


def allowed(secrets: BuildSecrets, *, further: Iterable[str] = ()) -> Allowed:
    """The indexes that the user's variables name, else the public one; the hosts of their files; and the others."""
    registries = [
        secrets.variables.get("NPM_CONFIG_REGISTRY", ""),
        *re.split(r"[,|]", secrets.variables.get("GOPROXY", "")),
    ]
    hosts = [*map(host_of, registries)]
    for address in _indexes(secrets.variables):
        hosts += [host_of(address), *_files_of(address, secrets)]
    return Allowed.of([*filter(None, hosts), *further])


def host_of(address: str) -> str:
    """`host`, or `host:port` where an address names a port; empty where it can't be read."""
    try:
        parts = urllib.parse.urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    return f"{host}:{port}" if port else host


def named_hosts(tree: Tree, requirements: Iterable[str] = ()) -> tuple[str, ...]:
    """The hosts that requirements name: repositories, files, indexes; those of the tree's files, and `requirements`."""
    texts = [("", "\n".join(requirements))]
    for path in sorted((path for path in tree.files() if _READ.fullmatch(path)), key=len)[:_MOST_FILES]:
        data = tree.read(path)
        if data is not None and len(data) <= _LARGEST:
            texts.append((path, data.decode("utf-8", "replace")))
    hosts_named: list[str] = []
    for path, text in texts:
        hosts_named += ["".join(groups) for groups in _NAMED.findall(text)]
        if path.rpartition("/")[2] in _TABLES:
            hosts_named += _IN_TABLES.findall(text)
        if path.rpartition("/")[2] == _CRATE:
            hosts_named += [f"https://{host}" for host in _CRATES]
    return tuple(sorted({host for address in hosts_named if (host := host_of(address))}))


def _indexes(variables: Mapping[str, str]) -> list[str]:
    default = next((variables[name] for name in _DEFAULTS if variables.get(name)), _OWN_INDEX)
    more = [word for name in _FURTHER for word in variables.get(name, "").split()]
    urls = (word.partition("=")[2] if "=" in word.partition("://")[0] else word for word in (default, *more))
    return list(dict.fromkeys(url for url in urls if "://" in url))


def _files_of(address: str, secrets: BuildSecrets) -> tuple[str, ...]:
    """The hosts that an index's files come from, as it tells itself; asked once, and again where it did not answer."""
    host = host_of(address)
    if host in _FILES_OF:
        return _FILES_OF[host]
    with _guard:
        if host not in _file_hosts:
            hosts = next(
                filter(None, (package_index.file_hosts(address, name, secrets.ca_bundle) for name in _ASKED_FOR)), None
            )
            if hosts is None:
                return ()
            _file_hosts[host] = tuple(file_host for name in hosts for file_host in (name, *_FILES_OF.get(name, ())))
        return _file_hosts[host]
