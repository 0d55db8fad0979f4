"""Local clones and clone URLs: a bare copy of our own, made without running anything that the source brought.

A hostile `.git/config` can run programs in many ways, even while git serves a clone from it (lazy fetches of a partial
clone, for one). So git never opens a local source: a *shadow* with our configuration borrows its objects and refs, and
the copy is cloned from the shadow.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from harness.core.errors import InfrastructureError, InputError
from harness.core.files import locked_in_turn
from harness.core.process import Completed, run
from miner.sources import submodules
from miner.sources.bare import ATTRIBUTES, SAFE_CONFIG, BareRepository, environment
from miner.sources.change import PullRequest
from miner.sources.github_auth import git_header
from miner.sources.messages import Message, read_message
from miner.sources.submodules import Submodule

_REFSPECS = (
    "+refs/heads/*:refs/heads/*",
    "+refs/tags/*:refs/tags/*",
    "+refs/pull/*/head:refs/pull/*/head",
    "+refs/remotes/origin/*:refs/remotes/origin/*",
)
_URL = re.compile(r"^(?:(?:file|https?|ssh|git|git\+ssh|ssh\+git)://|[\w.-]+@[\w.-]+:(?!//))", re.IGNORECASE)
_CREDENTIALS = re.compile(r"://[^/@\s]+@")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
FORMAT = "--format=%H%x00%P%x00%ct%x00%ae%x00%at%x00%B"
"""With `-z`, what `git log` has to print for `parse_commits`."""
_FIELDS = 6


@dataclass(frozen=True, kw_only=True)
class Access:
    """How to reach a clone URL that asks who we are, and which pull requests are wanted of it."""

    token: str = field(repr=False)
    pulls: Sequence[PullRequest] = ()
    """Their heads are fetched where they are needed to tell a squash from a rebase; no others are."""

    def environment(self, url: str) -> dict[str, str]:
        """Configuration for one git process: the token is on no disk and in no argument list."""
        site = "/".join(url.split("/")[:3])
        return {
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": f"http.{site}/.extraHeader",
            "GIT_CONFIG_VALUE_0": git_header(self.token),
            "GIT_CONFIG_KEY_1": "credential.helper",  # an empty value forgets the user's helpers: they would store it
            "GIT_CONFIG_VALUE_1": "",
        }


def is_url(source: str) -> bool:
    """Whether a source is a clone URL and not a path."""
    return bool(_URL.match(source))


def mask_credentials(text: str) -> str:
    """The text with user names, passwords and tokens of URLs hidden."""
    return _CREDENTIALS.sub("://***@", text)


def open_source(source: str, *, cache: Path, name: str | None = None, access: Access | None = None) -> BareRepository:
    """Copy a repository (a path or a clone URL) into `cache`, or bring an earlier copy up to date, and open it.

    `name` overrides the `owner/name` found in the origin remote, the URL or the folder's name; `access` is for a URL.

    Raises:
        InputError: no repository there, an empty one, or a shallow one.
        InfrastructureError: the clone failed; credentials in the message are masked.

    """
    cache.mkdir(parents=True, exist_ok=True)
    config = _write(cache / "safe.gitconfig", SAFE_CONFIG)
    url = is_url(source) and not source.lower().startswith("file://")
    where = source if url else str(_local_git_dir(source.removeprefix("file://"), config))
    folder = Path(where).parent if Path(where).name == ".git" else Path(where)
    key = f"{_safe(folder.name)[:40]}-{hashlib.sha256(where.encode()).hexdigest()[:16]}"
    copy = cache / f"{key}.git"
    with locked_in_turn(cache / f"{key}.lock"):
        _sweep(cache, key)
        if url:
            _copy_url(source, copy, _write(cache / "network.gitconfig", _network_config()), access)
        else:
            _copy_local(Path(where), copy, config)
        os.utime(copy)  # it is in use, see miner/images/downloads.py
    chosen = name or (_name_from_url(source) if url else _local_name(Path(where), config))
    return BareRepository(copy, name=_safe_name(chosen), config=config)


# -- names


def _safe(text: str) -> str:
    return _UNSAFE.sub("-", text).strip("-.") or "repo"


def _safe_name(name: str) -> str:
    owner, _, repo = name.rpartition("/")
    return f"{_safe(owner or 'local')}/{_safe(repo.removesuffix('.git'))}"


def _name_from_url(url: str) -> str:
    path = re.sub(r"^[a-z+]+://[^/]*", "", url, flags=re.IGNORECASE) if "://" in url else url.partition(":")[2]
    parts = [part for part in path.removesuffix("/").removesuffix(".git").split("/") if part]
    return "/".join(parts[-2:])


def _local_name(git_dir: Path, config: Path) -> str:
    origin = _setting(git_dir, config, "remote.origin.url")
    if origin and is_url(origin) and not origin.lower().startswith("file://"):
        return _name_from_url(origin)
    folder = git_dir.parent if git_dir.name == ".git" else git_dir
    return f"local/{folder.name.removesuffix('.git')}"


# -- local sources


def _setting(git_dir: Path, config: Path, key: str) -> str:
    """One value of a repository's config file, read as a file: it includes and runs nothing."""
    words = ["git", "config", "--file", str(git_dir / "config"), "--no-includes", "--get", key]
    return run(words, env=environment(config), check=False).stdout.decode("utf-8", "replace").strip()


def _local_git_dir(source: str, config: Path) -> Path:
    """The folder that holds objects and refs: of a work tree, a linked work tree or a bare repository."""
    path = Path(source).expanduser()
    if not path.exists():
        raise InputError(
            f"expected a repository at {source}, found nothing", hint="give a folder, a clone URL or owner/name"
        )
    path = path.resolve()
    dot_git = path / ".git"
    git_dir = dot_git if dot_git.exists() else path
    if git_dir.is_file() and (match := re.match(r"gitdir: (.+)", git_dir.read_text(errors="replace"))):
        git_dir = (path / match[1].strip()).resolve()
    if (common := git_dir / "commondir").is_file():
        git_dir = (git_dir / common.read_text().strip()).resolve()
    if not ((git_dir / "HEAD").exists() and (git_dir / "objects").is_dir() and (git_dir / "refs").is_dir()):
        parent = next((folder for folder in path.parents if (folder / ".git").exists()), None)
        hint = f"it lies inside the repository {parent}; mine that" if parent else "clone or `git init` it first"
        raise InputError(f"{source} is not a git repository", hint=hint)
    shallow = git_dir / "shallow"
    if shallow.is_file() and shallow.stat().st_size:
        raise InputError(
            f"{source} is a shallow clone: its history is cut off", hint=f"git -C {source} fetch --unshallow"
        )
    if _setting(git_dir, config, "extensions.refstorage") == "reftable":
        raise InputError(f"{source} stores its refs as a reftable", hint="mine a plain clone of it")
    return git_dir


def _copy_local(git_dir: Path, copy: Path, config: Path) -> None:
    env = environment(config)
    shadow = copy.with_suffix(f".{os.getpid()}.tmp")
    try:
        _make_shadow(git_dir, shadow, config)
        head = _choose_head(shadow, env)
        if any((git_dir / "objects" / "pack").glob("*.promisor")):
            # A partial clone cannot serve its history; it is copied as it is, and a change whose objects are
            # missing is rejected when it is looked at.
            (shadow / "objects" / "info" / "alternates").unlink()
            _copy_files(git_dir / "objects", shadow / "objects")
            shutil.rmtree(copy, ignore_errors=True)
            _set_head(shadow, head, env)
            shadow.rename(copy)
        else:
            _clone_or_fetch(str(shadow), copy, env, head, label=str(git_dir))
    finally:
        shutil.rmtree(shadow, ignore_errors=True)
    for submodule in submodules.declared(copy, env):
        checked_out = git_dir / "modules" / submodule.name, git_dir.parent / submodule.path / ".git"
        store = next((folder for folder in checked_out if (folder / "objects").is_dir()), None)
        if store is not None:
            try:
                _make_shadow(store, shadow, config)
                _fetch_submodule(submodule, str(shadow), copy, env)
            finally:
                shutil.rmtree(shadow, ignore_errors=True)


def _make_shadow(git_dir: Path, shadow: Path, config: Path) -> None:
    """A repository of our own configuration with the refs of another and, by reference, its objects."""
    algorithm = _setting(git_dir, config, "extensions.objectformat") or "sha1"
    words = ["git", "init", "--quiet", "--bare", "--template=", f"--object-format={algorithm}", str(shadow)]
    run(words, env=environment(config))
    objects = (git_dir / "objects").resolve()
    _write(shadow / "objects" / "info" / "alternates", f"{objects}\n")
    _copy_files(git_dir / "refs", shadow / "refs")
    shutil.rmtree(shadow / "refs" / "replace", ignore_errors=True)
    for file in ("HEAD", "packed-refs"):
        if (git_dir / file).is_file() and not (git_dir / file).is_symlink():
            shutil.copyfile(git_dir / file, shadow / file)
    _write(shadow / "info" / "attributes", ATTRIBUTES)


def _copy_files(source: Path, target: Path) -> None:
    """Copy a folder's plain files; links could lead anywhere, and alternates name other stores."""
    for folder, _, files in os.walk(source):
        relative = Path(folder).relative_to(source)
        (target / relative).mkdir(parents=True, exist_ok=True)
        for file in files:
            path = Path(folder) / file
            if path.is_file() and not path.is_symlink():
                shutil.copyfile(path, target / relative / file)


def _choose_head(shadow: Path, env: dict[str, str]) -> str:
    """The ref of the default branch, or a SHA for a detached HEAD without a main branch.

    A clone knows its remote's default branch (`origin/HEAD`), which matters when the user stands on another one; of a
    local branch and its remote twin, the one that is ahead counts.
    """

    def git(*words: str) -> Completed:
        return run(["git", f"--git-dir={shadow}", *words], env=env, check=False)

    def exists(ref: str) -> bool:
        return git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").returncode == 0

    remote = git("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD").stdout.decode().strip()
    local = remote.replace("refs/remotes/origin/", "refs/heads/") if remote else ""
    local = local or git("symbolic-ref", "--quiet", "HEAD").stdout.decode().strip()
    if remote and exists(remote):
        behind = exists(local) and git("merge-base", "--is-ancestor", remote, local).returncode == 0
        return local if behind else remote
    for ref in (local, "refs/heads/main", "refs/heads/master", "HEAD"):
        if ref and exists(ref):
            return git("rev-parse", "HEAD").stdout.decode().strip() if ref == "HEAD" else ref
    refs = git("for-each-ref", "--format=%(refname)", "--count=1", "refs/heads").stdout.decode().strip()
    if refs and exists(refs):
        return refs
    raise InputError("the repository is empty: it has no commit", hint="give a repository with a history")


# -- copies


def _clone_or_fetch(
    source: str,
    copy: Path,
    env: dict[str, str],
    head: str | None,
    *,
    label: str,
    refspecs: Sequence[str] = _REFSPECS,
) -> None:
    if not copy.exists():
        building = copy.with_suffix(f".{os.getpid()}.new.tmp")
        # clone adds branches and tags of its own accord
        further = [word for spec in refspecs[2:] for word in ("-c", f"remote.origin.fetch={spec}")]
        words = ["clone", "--quiet", "--bare", "--no-local", "--template=", *further, "--end-of-options", source]
        try:
            _network(["git", *words, str(building)], label, env)
            _finish(building, source, head, env)
            building.rename(copy)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return
    _write(copy / "info" / "attributes", ATTRIBUTES)
    words = ["fetch", "--quiet", "--prune", "--force", "--no-write-fetch-head", "--no-recurse-submodules"]
    _network(["git", f"--git-dir={copy}", *words, "--end-of-options", source, *refspecs], label, env)
    _finish(copy, source, head, env)


def _finish(copy: Path, source: str, head: str | None, env: dict[str, str]) -> None:
    _write(copy / "info" / "attributes", ATTRIBUTES)
    run(["git", f"--git-dir={copy}", "config", "--unset-all", "remote.origin.url"], env=env, check=False)
    _set_head(copy, head or _remote_head(source, env), env)


def _set_head(copy: Path, head: str, env: dict[str, str]) -> None:
    git = ["git", f"--git-dir={copy}"]
    if head.startswith("refs/"):
        run([*git, "symbolic-ref", "HEAD", head], env=env)
    else:
        run([*git, "update-ref", "--no-deref", "HEAD", head], env=env)
    if run([*git, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"], env=env, check=False).returncode != 0:
        raise InputError("the repository is empty: its default branch has no commit")


def _remote_head(source: str, env: dict[str, str]) -> str:
    out = _network(["git", "ls-remote", "--symref", "--end-of-options", source, "HEAD"], source, env).stdout.decode()
    if match := re.search(r"^ref: (refs/\S+)\tHEAD$", out, re.MULTILINE):
        return match[1]
    if match := re.search(r"^([0-9a-f]{40,64})\tHEAD$", out, re.MULTILINE):
        return match[1]
    raise InputError("the repository is empty: it has no commit", hint="give a repository with a history")


def _copy_url(source: str, copy: Path, config: Path, access: Access | None) -> None:
    env = {**environment(config), "GIT_ALLOW_PROTOCOL": "http:https:ssh:git:file"}
    if not any(os.environ.get(variable) for variable in ("GIT_SSH_COMMAND", "GIT_SSH")):
        env["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"  # never wait for a password nobody will type
    if access is None:
        _clone_or_fetch(source, copy, env, None, label=source)
    else:
        env |= access.environment(source)
        _clone_or_fetch(source, copy, env, None, label=source, refspecs=_REFSPECS[:2])
        _fetch_pulls(source, copy, env, access.pulls)
    for submodule in submodules.declared(copy, env):
        if url := submodules.beside(submodule.url, source):
            _fetch_submodule(submodule, url, copy, env)


def _fetch_submodule(submodule: Submodule, source: str, copy: Path, env: dict[str, str]) -> None:
    """Bring a submodule's history into a copy, as far as it can be had: a tree is archived without what is missing."""
    kept = ("heads/*", "tags/*", "remotes/origin/*")
    refspecs = [f"+HEAD:{submodule.refs}/HEAD", *(f"+refs/{names}:{submodule.refs}/{names}" for names in kept)]
    words = ["fetch", "--quiet", "--prune", "--force", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
    run(["git", f"--git-dir={copy}", *words, "--end-of-options", source, *refspecs], env=env, check=False)


def _fetch_pulls(source: str, copy: Path, env: dict[str, str], pulls: Sequence[PullRequest]) -> None:
    """Fetch the heads that the copy lacks: of squashes and rebases, and the merges of branches that are gone."""
    git = ["git", f"--git-dir={copy}"]
    merges = "\n".join(pull.merge_commit for pull in pulls if pull.merge_commit).encode()
    listed = run([*git, "cat-file", "--batch-check=%(objectname)"], env=env, input=merges).stdout.decode().split("\n")
    lines = {line for line in listed if re.fullmatch(r"[0-9a-f]+", line)}
    completed = run([*git, "rev-list", "--no-walk", "--parents", "--stdin"], env=env, input="\n".join(lines).encode())
    merged = {words[0] for line in completed.stdout.decode().splitlines() if len(words := line.split()) > 2}  # noqa: PLR2004
    have = run([*git, "for-each-ref", "--format=%(refname)", "refs/pull"], env=env).stdout.decode().split()
    refs_wanted = {f"refs/pull/{pull.number}/head" for pull in pulls if pull.merge_commit not in merged} - set(have)
    if not refs_wanted:
        return
    argv = ["git", "ls-remote", "--end-of-options", source, "refs/pull/*/head"]
    offered = _network(argv, source, env).stdout.decode()
    specs = [f"+{ref}:{ref}" for line in offered.splitlines() if (ref := line.partition("\t")[2]) in refs_wanted]
    words = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--stdin"]
    if specs:
        _network([*git, *words, "--end-of-options", source], source, env, input="\n".join(specs).encode())


def _network(
    argv: list[str],
    source: str,
    env: dict[str, str],
    *,
    input: bytes | None = None,  # noqa: A002 - subprocess's own word
) -> Completed:
    """Run a git command that talks to a source."""
    completed = run(argv, env=env, input=input, check=False)
    if completed.returncode != 0:
        raise InfrastructureError(
            f"git could not read {mask_credentials(source)}: {mask_credentials(completed.error_text)}",
            hint=f"try: git ls-remote {mask_credentials(source)}",
        )
    return completed


def _network_config() -> str:
    """The user's own settings (proxies, credential helpers, ssh), which are trusted, and then ours."""
    home = Path.home()
    xdg = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git" / "config"
    files = [os.environ["GIT_CONFIG_GLOBAL"]] if "GIT_CONFIG_GLOBAL" in os.environ else [xdg, home / ".gitconfig"]
    return "".join(f'[include]\n\tpath = "{file}"\n' for file in files) + SAFE_CONFIG


def _write(path: Path, text: str) -> Path:
    """Write a small file of ours whole, so that another process never reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text() != text:
        fresh = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        fresh.write_text(text)
        fresh.replace(path)
    return path


def _sweep(cache: Path, key: str) -> None:
    """Remove what a killed process left of this copy; the caller holds the lock, so nobody is at it."""
    for stray in cache.glob(f"{key}.*.tmp"):
        shutil.rmtree(stray, ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class Commit:
    sha: str
    parents: tuple[str, ...]
    time: int
    author: tuple[str, str, str]
    """Mail, time and subject: what a rebase keeps."""
    message: str
    parsed: Message


def commits_of(repo: BareRepository, words: Sequence[str]) -> Iterator[Commit]:
    """What a `git log -z` with `FORMAT` tells."""
    with repo.stream(*words) as output:
        yield from parse_commits(_split_nul(output))


def _split_nul(output: IO[bytes]) -> Iterator[bytes]:
    """Cut a stream at its NUL bytes, holding no more than one read at a time."""
    rest = b""
    while block := output.read(1 << 16):
        *whole, rest = (rest + block).split(b"\0")
        yield from whole
    yield rest


def parse_commits(fields: Iterable[bytes]) -> Iterator[Commit]:
    """Read the fields of `FORMAT`, cut at their NUL bytes."""
    record: list[str] = []
    for raw in fields:
        record.append(raw.decode("utf-8", "replace"))
        if len(record) == _FIELDS:
            sha, parents, time, mail, written, message = record
            record = []
            yield Commit(
                sha=sha.strip(),
                parents=tuple(parents.split()),
                time=int(time),
                author=(mail, written, message.partition("\n")[0]),
                message=message.strip(),
                parsed=read_message(message),
            )
