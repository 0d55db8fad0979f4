"""The submodules that a repository declares, and where their commits may be fetched from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from harness.core.process import run

REFS = "refs/submodules"


@dataclass(frozen=True, kw_only=True)
class Submodule:
    """One section of `.gitmodules`."""

    name: str
    """By which a clone keeps it below `.git/modules`; no way out of there."""
    path: str
    url: str

    @property
    def refs(self) -> str:
        """Where a copy of the repository keeps its refs, apart from the repository's own."""
        return f"{REFS}/{hashlib.sha256(self.name.encode()).hexdigest()[:16]}"


def declared(copy: Path, env: dict[str, str]) -> tuple[Submodule, ...]:
    """Those of the default branch's tip that have a name and a path inside of the tree."""
    words = ["git", f"--git-dir={copy}", "config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp", "."]
    sections: dict[str, dict[str, str]] = {}
    for setting in run(words, env=env, check=False).stdout.decode("utf-8", "replace").split("\0"):
        key, _, value = setting.partition("\n")
        section, _, key = key.rpartition(".")
        sections.setdefault(section.removeprefix("submodule."), {})[key] = value
    found = (
        Submodule(name=name, path=values.get("path", ""), url=values.get("url", ""))
        for name, values in sections.items()
    )
    return tuple(one for one in found if _is_inside(one.name) and _is_inside(one.path))


def _is_inside(path: str) -> bool:
    return bool(path) and not path.startswith("/") and not {"", ".", "..", ".git"} & set(path.lower().split("/"))


def beside(url: str, source: str) -> str:
    """A submodule's URL where the host of its repository serves it as well; empty for other hosts.

    What a repository declares must not send whoever mines it to just any address.
    """
    if url.startswith(("./", "../")):
        url = urljoin(f"{source.rstrip('/')}/", url)
    here, there = urlsplit(source), urlsplit(url)
    return url if here.scheme in ("http", "https", "ssh") and (here.scheme, here.netloc) == there[:2] else ""
