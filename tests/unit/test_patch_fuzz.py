"""The security property of the parser, against git itself: what git would touch, and what it touches, was declared."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from harness.core.process import run
from harness.patches.patch import PatchError, parse
from tests.applied import built
from tests.repos import Repository

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MUTATIONS = int(os.environ.get("GOLDSEAM_PATCHES", "1000"))
"""Of each kind, the same each time; `make attacks` tries more."""
TOKENS = (
    b"--- a/x\n", b"+++ b/x\n", b"--- /dev/null\n", b"+++ /dev/null\n", b"@@ -1 +1 @@\n", b"@@ -0,0 +1 @@\n", b"\\\n",
    b"diff --git a/x b/x\n", b"diff --git a/x b/y\n", b"rename from x\n", b"rename to tests/test_x.py\n",
    b"new file mode 100644\n", b"new file mode 120000\n", b"deleted file mode 100644\n", b"index 1..2 120000\n",
    b"GIT binary patch\n", b"literal 0\nHcmV?d00001\n\n", b"\n", b" ", b"\t", b'"', b"\r", b"\0", b"/", b"..", b"\\303",
    b"\t1970-01-01 00:00:00 +0000", b" 2024-01-01 00:00:00", b"-- \n2.39\n", b"a/", b"b/", b".git/", b"--- x\n+++ x\n",
)  # fmt: skip


@pytest.fixture(scope="module")
def repo(tmp_path_factory) -> Repository:
    """A small history: text, binary, renames, modes, odd names, no last newline, CRLF."""
    repo = Repository(tmp_path_factory.mktemp("seeds") / "repo")
    repo.commit("1", {"a.py": "1\n2\n3\n" * 5, "tests/test_x.py": "x\n" * 9, "b c.txt": "q", "é.txt": "é\n"})
    repo.commit("2", {"a.py": "1\n2\nx\n" * 5, "new/deep.py": "n\n", "b c.txt": "r\n", "é.txt": None})
    repo.git("mv", "tests/test_x.py", "tests/moved.py")
    repo.commit("3", {"bin": bytes(range(256)), "crlf.txt": "a\r\nb\r\n"})
    repo.write("a.py", "1\n" * 12, executable=True)
    repo.commit("4", {"bin": bytes(range(255)), "crlf.txt": "a\r\nc\r\n"})
    return repo


@pytest.fixture(scope="module")
def seeds(repo) -> list[bytes]:
    """Diffs of it that git wrote, in many forms."""
    ranges = [("HEAD~3", "HEAD~2"), ("HEAD~2", "HEAD~1"), ("HEAD~1", "HEAD"), ("HEAD~3", "HEAD")]
    flags = [
        ["--binary"],
        ["--binary", "-M", "-U1"],
        ["--binary", "--src-prefix=x/", "--dst-prefix=y/"],
        ["--binary", "-U0", "-C"],
        ["--binary", "--no-prefix"],
        ["--binary", "--no-prefix", "-U0", "-M"],
    ]
    diff = ["git", "-C", repo.path, "diff", "--binary"]
    plain = [run([*diff, *flag, *pair], env=repo.env()).stdout for flag in flags for pair in ranges]
    return [form for text in plain for form in (text, text.replace(b"\n", b"\r\n"), text.replace(b"\r\n", b"\n"))]


def mutated(seed: bytes, rng: random.Random, other: bytes) -> bytes:
    data = seed
    for _ in range(rng.randint(1, 4)):
        lines = data.splitlines(keepends=True) or [b"\n"]
        at = rng.randrange(len(lines))
        kind = rng.randrange(7)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, rng.choice(TOKENS))
        elif kind == 2:
            lines.insert(at, rng.choice(lines))
        elif kind == 3:
            lines.insert(at, rng.choice(other.splitlines(keepends=True) or [b""]))
        elif kind == 4:
            cut = rng.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:cut] + rng.choice(TOKENS) + lines[at][cut:]
        elif kind == 5:
            line = bytearray(lines[at])
            line[rng.randrange(len(line))] = rng.randrange(256)
            lines[at] = bytes(line)
        else:
            lines[at:at] = other.splitlines(keepends=True)[: rng.randrange(12)]
        data = b"".join(lines)
    return data


def touched(patches: Sequence[bytes], folder: Path) -> list[set[str] | None]:
    """The paths that `git apply` reads in each patch; None where it refuses it. One process a patch."""
    env = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    found: list[set[str] | None] = []
    for patch in patches:
        done = run(["git", "apply", "--numstat", "-z", "-"], input=patch, cwd=folder, env=env, check=False)
        fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
        found.append({field.split("\t", 2)[-1] for field in fields} if done.returncode == 0 else None)
    return found


def test_git_touches_no_path_that_the_parser_did_not_declare(seeds, tmp_path):
    rng = random.Random(20240101)
    accepted = agreed = 0
    for _ in range(MUTATIONS):
        data = mutated(rng.choice(seeds), rng, rng.choice(seeds))
        try:
            patch = parse(data)
        except PatchError:
            continue
        accepted += 1
        (paths,) = touched([patch.raw], tmp_path)
        if paths is not None:
            agreed += 1
            assert paths <= patch.paths, (data, paths, patch.paths)
    assert agreed > MUTATIONS // 20, (accepted, agreed)


def found_in(folder: Path) -> Mapping[str, bytes | str | None]:
    """Everything below a folder, by path: a file's bytes, a link's target, None for a folder."""
    return {
        str(path.relative_to(folder)): path.readlink().as_posix()
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }


def test_nothing_changes_in_a_real_tree_or_beside_it_that_was_not_declared(repo, seeds, tmp_path):
    base, outer = tmp_path / "base", tmp_path / "outer"
    repo.git("worktree", "add", "--detach", str(base), "HEAD~3")
    (base / ".git").unlink()
    (base / "link").symlink_to("../outer/beside")
    (outer / "beside").mkdir(parents=True)
    (outer / "beside" / "a.py").write_text("1\n2\n3\n" * 5)
    before, beside = found_in(base), found_in(outer)
    rng = random.Random(5)
    applied = 0
    for _ in range(MUTATIONS):
        data = mutated(rng.choice(seeds), rng, rng.choice(seeds))
        try:
            patch = parse(data)
        except PatchError:
            continue
        applied += not built(base, patch, outer / "work")
        after = found_in(outer / "work")
        changed = {path for path in before.keys() | after.keys() if before.get(path, "") != after.get(path, "")}
        folders = {path for path in changed if before.get(path, b"") is None or after.get(path, b"") is None}
        assert changed - folders <= patch.paths, (data, changed, patch.paths)
        assert not any((outer / "work" / path).is_symlink() for path in changed), data
        everything = found_in(outer)
        assert {path: everything[path] for path in everything if path.split("/")[0] != "work"} == beside, data
    assert applied > MUTATIONS // 50, applied


def test_no_mutation_makes_the_parser_fail_in_another_way(seeds):
    rng = random.Random(7)
    for _ in range(10 * MUTATIONS):
        data = mutated(rng.choice(seeds), rng, rng.choice(seeds))
        try:
            patch = parse(data)
        except PatchError:
            continue
        assert parse(patch.raw).paths == patch.paths


def test_every_seed_is_read_by_both_alike(seeds, tmp_path):
    for seed in seeds:
        patch = parse(seed)
        (paths,) = touched([patch.raw], tmp_path)
        assert paths is not None
        assert paths <= patch.paths
