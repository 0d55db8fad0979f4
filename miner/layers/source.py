"""The tree at base_commit as every task's image has it: in a repository with one commit, and once more for trials."""

from __future__ import annotations

from collections.abc import Mapping

from miner.evidence.tree import TESTBED
from miner.layers.layer import SOURCE_NAME, Input, Layer, unpacked

KIND = "task"
"""The kind of the layer, the last of an image."""
PRISTINE = "/opt/goldseam/src"
"""The finished tree again, as hard links and without .git: graders copy it onto a tmpfs over /testbed."""
UNPACK = unpacked(SOURCE_NAME)
_GIT = "git -c gc.auto=0 -c commit.gpgsign=false -c init.defaultBranch=main"
_IDENTITY = (("user.name", "goldseam"), ("user.email", "goldseam@localhost"))
_WHO = "GIT_{0}_NAME=goldseam GIT_{0}_EMAIL=goldseam@localhost GIT_{0}_DATE=2000-01-01T00:00:00Z"


def committed(unversioned: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Commands that unpack the tree and commit it, byte for byte; `unversioned` are patterns that git is to ignore."""
    ignored = "".join(rf"{pattern}\n" for pattern in unversioned)
    return (
        UNPACK,
        f"cd {TESTBED}",
        f"{_GIT} init -q",
        # byte for byte: no line ending, filter or keyword of .gitattributes may change what is committed
        "printf '* -text -eol -ident -filter -working-tree-encoding\\n' > .git/info/attributes",
        f"printf '{ignored}' > .git/info/exclude",
        f"{_GIT} add -f -A .",
        f"{_WHO.format('AUTHOR')} {_WHO.format('COMMITTER')} {_GIT} commit -q --allow-empty -m base",
        # one file of objects, not one for each: that takes as much disk as the tree, in blocks of its own
        f"{_GIT} repack -q -a -d -n --window=0",
        "rm -f .git/hooks/*.sample",
        # tests that commit need somebody to commit as, as on a developer's machine and in CI
        *(f"git config --system {key} > /dev/null || git config --system {key} {value}" for key, value in _IDENTITY),
    )


def copied() -> tuple[str, ...]:
    """Commands that keep the finished tree for trials; whoever reads it there need not be root."""
    return (f"cp -al {TESTBED} {PRISTINE}", f"rm -rf {PRISTINE}/.git")


def layer(
    parent: str,
    tree: Input,
    *,
    repo: str,
    commit: str,
    programs: str,
    commands: tuple[str, ...],
    env: Mapping[str, str] | None = None,
) -> Layer:
    """The last layer of an image; `programs` is the first folder of its PATH, `env` are further variables."""
    return Layer(
        kind=KIND,
        parent=parent,
        foreign=True,
        inputs=(tree,),
        env={
            "PATH": f"{programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            **(env or {}),
            "TZ": "UTC",
            "LANG": "C.UTF-8",
        },
        workdir=TESTBED,
        labels={"dev.goldseam.repo": repo, "dev.goldseam.base-commit": commit},
        commands=commands,
    )
