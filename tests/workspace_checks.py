"""What every workspace owes an agent, as one list of checks: `CHECKS`, each a function of an open, fresh workspace.

A new kind of workspace passes all of them, or it is none. The tree is that of `tests.tiny`.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.core import process
from harness.solve.workspace.tree import BaseTree
from tests import tiny

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.solve.base import Workspace

SECONDS = 240.0
"""What no command takes, on a busy machine either."""
Tree = dict[str, tuple[str, bytes]]


def shell(workspace: Workspace, script: str, *, seconds: float = SECONDS) -> str:
    """The output of a script that ends well."""
    ran = workspace.run(("sh", "-c", script), seconds=seconds)
    assert ran.exit_code == 0, ran
    return ran.output


_RESET = """\
chmod -R u+rwX . && find . -mindepth 1 -delete && find /tmp -mindepth 1 -delete && cp -a /opt/goldseam/src/. . \\
&& git init -q && git add -A && git commit -qm base"""


def reset(workspace: Workspace) -> None:
    """Put a workspace's tree back to the base commit: a new container for each check takes long."""
    shell(workspace, _RESET)


def applied(patch: bytes, folder: Path, files: Mapping[str, str] = tiny.FILES) -> Tree:
    """Mode and bytes by path of the tree that git makes of a patch, on a plain copy of the base commit."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    if patch:
        process.run(["git", "-c", "core.filemode=true", "apply", "--whitespace=nowarn", "-"], input=patch, cwd=folder)
    return tree_of(folder)


def tree_of(folder: Path) -> Tree:
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()).encode())
        elif path.is_file():
            found[name] = ("exec" if path.stat().st_mode & 0o100 else "file", path.read_bytes())
    return found


def base_tree(folder: Path, files: Mapping[str, str] = tiny.FILES) -> BaseTree:
    """The base commit of a tree, from a repository like an image's."""
    made = folder / "image"
    for path, text in files.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_bytes(text.encode())
    git = ["git", "-C", made, "-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "-f", "-A"], ["commit", "-qm", "base"]):
        process.run([*git, *words])
    inner = {f".git/{path.relative_to(made / '.git')}": path for path in (made / ".git").rglob("*") if path.is_file()}
    (folder / "trusted").mkdir()
    return BaseTree.from_image(folder / "trusted", {name: path.read_bytes() for name, path in inner.items()})


def lists_the_tracked_files(workspace: Workspace) -> None:
    assert workspace.files() == tuple(sorted(tiny.FILES))


def reads_what_the_commit_holds(workspace: Workspace) -> None:
    assert workspace.read(tiny.CALC) == tiny.BUGGY.encode()


def reads_what_was_written(workspace: Workspace) -> None:
    workspace.write("new/folder/file", b"\0\xff\r\n")
    assert workspace.read("new/folder/file") == b"\0\xff\r\n"
    assert workspace.read("./new/folder/../folder/file") == b"\0\xff\r\n"


def takes_large_files(workspace: Workspace) -> None:
    data = bytes(range(256)) * 12_000
    workspace.write("large", data)
    assert workspace.read("large") == data


def has_no_files_but_those_of_the_tree(workspace: Workspace) -> None:
    shell(workspace, "ln -s /etc/passwd out; ln -s no-such-thing broken; mkdir folder")
    for path in (
        "no/such/file",
        "/etc/passwd",
        "../etc/passwd",
        "src/../../etc/passwd",
        "out",
        "broken",
        "folder",
        "",
        ".",
    ):
        with pytest.raises(FileNotFoundError):
            workspace.read(path)


def writes_nothing_outside(workspace: Workspace) -> None:
    for path in ("/tmp/escaped", "../escaped", "src/../../escaped", "..", "a\0b"):
        with pytest.raises(OSError, match="no such place"):
            workspace.write(path, b"x")


def says_why_it_cannot_write(workspace: Workspace) -> None:
    with pytest.raises(OSError, match="cannot write src"):
        workspace.write("src", b"a folder is there")


def runs_at_the_root_and_shows_both_streams(workspace: Workspace) -> None:
    ran = workspace.run(("sh", "-c", "cat src/calc/__init__.py; echo oops >&2; exit 3"), seconds=SECONDS)
    assert ran.exit_code == 3
    assert tiny.BUGGY in ran.output
    assert "oops" in ran.output
    assert not ran.timed_out


def tells_of_a_program_that_is_not_there(workspace: Workspace) -> None:
    ran = workspace.run(("no-such-program",), seconds=SECONDS)
    assert ran.exit_code == 127
    assert "no-such-program" in ran.output


def gives_commands_an_empty_input(workspace: Workspace) -> None:
    assert shell(workspace, "cat | wc -c").strip() == "0"


def takes_any_argument(workspace: Workspace) -> None:
    words = ("-n", "--", "a b", "$HOME", "'\"\\", "ä\n€", "")
    assert workspace.run(("printf", "%s|", *words), seconds=SECONDS).output == "".join(f"{word}|" for word in words)
    for impossible in ("a\0b", "x" * 3_000_000):
        assert workspace.run(("echo", impossible), seconds=SECONDS).exit_code == 126


def shows_output_that_is_no_text(workspace: Workspace) -> None:
    assert workspace.run(("printf", r"\377\376"), seconds=SECONDS).output == "\ufffd\ufffd"


def cuts_long_output_in_the_middle(workspace: Workspace) -> None:
    ran = workspace.run(("sh", "-c", "echo first; seq 100000; echo last"), seconds=SECONDS, max_output=2000)
    assert ran.output.startswith("first\n")
    assert ran.output.endswith("last\n")
    assert "bytes left out" in ran.output
    assert len(ran.output) < 2200


def ends_what_takes_too_long_and_all_that_it_started(workspace: Workspace) -> None:
    began = time.monotonic()
    script = "trap '' TERM HUP INT; (setsid sh -c \"trap '' TERM; sleep 333\" &); echo here; sleep 333"
    ran = workspace.run(("sh", "-c", script), seconds=1)
    assert (ran.timed_out, ran.exit_code, ran.output) == (True, 137, "here\n")
    assert time.monotonic() - began < 300
    assert "333" not in shell(workspace, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").replace("/proc/[0-9]*/cmdline", "")


def ends_a_command_that_closes_its_output_and_stays(workspace: Workspace) -> None:
    ran = workspace.run(("sh", "-c", "exec >&- 2>&-; sleep 60"), seconds=1)
    assert ran.timed_out


def does_not_wait_for_what_runs_in_the_background(workspace: Workspace) -> None:
    began = time.monotonic()
    assert shell(workspace, "(setsid sh -c 'sleep 444; echo late' &); echo done") == "done\n"
    assert time.monotonic() - began < 400
    assert "444" in shell(workspace, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")


def outlives_a_fork_bomb(workspace: Workspace) -> None:
    bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"
    assert workspace.run(("python", "-c", bomb), seconds=1).timed_out
    assert shell(workspace, "echo alive") == "alive\n"


def ends_a_flood(workspace: Workspace) -> None:
    ran = workspace.run(("yes", "y" * 1000), seconds=SECONDS)
    assert ran.exit_code != 0
    assert not ran.timed_out
    assert "printed too much" in ran.output
    assert len(ran.output) < 110_000


def outlives_a_full_disk(workspace: Workspace) -> None:
    ran = workspace.run(("dd", "if=/dev/zero", "of=big", "bs=1M"), seconds=SECONDS)
    assert "No space left" in ran.output
    with pytest.raises(OSError, match="No space left"):
        workspace.write("another", b"x" * 100_000)
    shell(workspace, "rm big; echo room again > another")


def outlives_a_command_that_takes_all_memory(workspace: Workspace) -> None:
    ran = workspace.run(("python", "-c", "x = [bytearray(1 << 20) for _ in range(1 << 12)]"), seconds=SECONDS)
    assert ran.exit_code == 137
    assert shell(workspace, "echo alive") == "alive\n"


def outlives_an_agent_that_kills_everything(workspace: Workspace) -> None:
    workspace.run(("sh", "-c", "kill -9 1; kill -9 -1"), seconds=SECONDS)
    assert shell(workspace, "echo alive") == "alive\n"


def is_locked(workspace: Workspace) -> None:
    status = shell(workspace, "cat /proc/self/status; touch /opt/x /root/x /etc/x 2>&1; true")
    [users] = [set(line.split()[1:]) for line in status.splitlines() if line.startswith("Uid:")]
    assert len(users) == 1
    assert int(users.pop()) >= 20000
    assert "CapBnd:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert status.count("Read-only file system") + status.count("Permission denied") == 3
    assert shell(
        workspace, "ls /sys/class/net; ls /var/run/docker.sock /run/docker.sock 2>&1 | grep -c 'No such'"
    ).split() == ["lo", "2"]


CHECKS: tuple[Callable[[Workspace], None], ...] = (
    lists_the_tracked_files,
    reads_what_the_commit_holds,
    reads_what_was_written,
    takes_large_files,
    has_no_files_but_those_of_the_tree,
    writes_nothing_outside,
    says_why_it_cannot_write,
    runs_at_the_root_and_shows_both_streams,
    tells_of_a_program_that_is_not_there,
    gives_commands_an_empty_input,
    takes_any_argument,
    shows_output_that_is_no_text,
    cuts_long_output_in_the_middle,
    ends_what_takes_too_long_and_all_that_it_started,
    ends_a_command_that_closes_its_output_and_stays,
    does_not_wait_for_what_runs_in_the_background,
    outlives_a_fork_bomb,
    ends_a_flood,
    outlives_a_full_disk,
    outlives_a_command_that_takes_all_memory,
    outlives_an_agent_that_kills_everything,
    is_locked,
)

_SWAP = "mv src/calc/__init__.py x; mv tests/test_calc.py src/calc/__init__.py; mv x tests/test_calc.py"
_SAME_TIME = (
    "touch -r pyproject.toml t; printf X | dd of=pyproject.toml seek=1 bs=1 conv=notrunc;"
    "touch -r t pyproject.toml; rm t"
)
_NO_UTF8 = "python -c \"open(b'caf\\xe9', 'w').write('1')\""
CHANGES: Mapping[str, str] = {
    "a changed line": "sed -i 's/a - b/a + b/' src/calc/__init__.py",
    "CRLF line endings": "sed -i 's/$/\\r/' src/calc/__init__.py",
    "no newline at the end": "printf x >> src/calc/__init__.py",
    "an emptied file": ": > src/calc/__init__.py",
    "a deleted file": "rm tests/test_calc.py",
    "a deleted folder": "rm -r src",
    "a new file": "echo 1 > src/calc/more.py",
    "a new, empty file": ": > src/calc/empty.py",
    "a new program": "echo 1 > run.sh; chmod +x run.sh",
    "a mode and nothing else": "chmod +x src/calc/__init__.py",
    "a renamed file": "mv src/calc/__init__.py src/calc/add.py",
    "a file in place of a folder": "rm -r tests; echo 1 > tests",
    "a folder in place of a file": "rm pyproject.toml; mkdir pyproject.toml; echo 1 > pyproject.toml/x",
    "bytes that are no text": "printf '\\000\\001\\377' > blob; printf '\\000' >> src/calc/__init__.py",
    "text that is no UTF-8": "printf 'caf\\351\\n' >> src/calc/__init__.py",
    "a link": "ln -s src/calc/__init__.py link",
    "a link in place of a file": "ln -sf /etc/passwd pyproject.toml",
    "names that need quoting": "for n in 'a b' 'c\"d\\e' -f ä \"$(printf 'n\\nl')\"; do echo 1 > \"$n\"; done",
    "a name that is no UTF-8": _NO_UTF8,
    "a change that hides its time": _SAME_TIME,
    "two files that change places": _SWAP,
    "hard links": "ln src/calc/__init__.py other.py; echo 1 > a; ln a b",
}
"""What an agent may do to a tree, as scripts."""

_PROGRAM = "printf '#!/bin/sh\\ntouch /tmp/ran\\n' > {0}; chmod +x {0}"
SABOTAGE: Mapping[str, str] = {
    "commits it": "git add -A; git commit -qm x",
    "has git forget it": "git update-index --assume-unchanged src/calc/__init__.py; echo '*' > .git/info/exclude",
    "removes git's folder": "rm -rf .git",
    "makes git's folder a file": "rm -rf .git; echo gitdir: /nowhere > .git",
    "makes another history": "rm -rf .git; git init -q; git add -A; git commit -qm x",
    "plants hooks": (
        "mkdir -p .git/hooks; cd .git/hooks; for h in post-checkout post-index-change pre-commit reference-transaction;"
        f" do {_PROGRAM.format('$h')}; done"
    ),
    "plants an external diff, a text converter and a filter": (
        "git config diff.external 'touch /tmp/ran'; git config core.fsmonitor 'touch /tmp/ran';"
        "git config diff.x.textconv 'touch /tmp/ran; echo'; git config filter.x.clean 'touch /tmp/ran; echo x';"
        "printf '* diff=x filter=x\\n' > .git/info/attributes"
    ),
    "puts other programs first": (
        f"mkdir /tmp/bin; {_PROGRAM.format('/tmp/bin/git')}; for p in find tar; do cp /tmp/bin/git"
        " /tmp/bin/$p; done; echo 'export PATH=/tmp/bin:$PATH' > /tmp/.profile"
    ),
}
"""What an agent may do so that its fix, already made, is not seen, or so that something of it runs where it may not."""
