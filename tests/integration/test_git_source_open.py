"""open_source: what it accepts, what it refuses, what it never runs."""

from __future__ import annotations

import os
import shutil
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from harness.core.errors import InfrastructureError, InputError
from miner.candidates.scan import scan
from miner.sources.git import mask_credentials, open_source
from tests import program
from tests.repos import FIX, Repository, project


def test_a_work_tree_is_copied_bare(tmp_path):
    repo = project(tmp_path / "app")
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.tip() == repo.sha()
        assert copy.default_branch() == "main"
        assert copy.name == "local/app"
        assert (copy.path / "HEAD").is_file()


def test_a_bare_repository_is_copied(tmp_path):
    repo = project(tmp_path / "app")
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "app.git"))
    with open_source(str(tmp_path / "app.git"), cache=tmp_path / "cache") as copy:
        assert copy.tip() == repo.sha()
        assert copy.name == "local/app"


def test_a_linked_work_tree_is_copied_from_its_main_repository(tmp_path):
    repo = project(tmp_path / "app")
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "other")
    with open_source(str(tmp_path / "linked"), cache=tmp_path / "cache") as copy:
        assert copy.tip() == repo.sha("main")


def test_a_file_url_is_a_local_source(tmp_path):
    repo = project(tmp_path / "app")
    with open_source(f"file://{repo.path}", cache=tmp_path / "cache") as copy:
        assert copy.tip() == repo.sha()


def test_opening_again_fetches_what_is_new_and_forgets_what_is_gone(tmp_path):
    repo = project(tmp_path / "app")
    repo.git("branch", "old")
    open_source(str(repo.path), cache=tmp_path / "cache").close()
    repo.git("branch", "-D", "old")
    new = repo.commit("Fix add (#2)", FIX)
    repo.pull_head(2)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.tip() == new
        assert copy.pull_heads() == {2: new}
        assert b"refs/heads/old" not in copy.git("for-each-ref").stdout


def test_a_force_pushed_branch_is_followed(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Wrong", {"src/app.py": "1\n"})
    open_source(str(repo.path), cache=tmp_path / "cache").close()
    repo.git("reset", "--quiet", "--hard", "HEAD^")
    right = repo.commit("Right", {"src/app.py": "2\n"})
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.tip() == right


def test_what_a_killed_process_left_is_swept(tmp_path):
    repo = project(tmp_path / "app")
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        stray = copy.path.with_suffix(".999999.new.tmp")
    stray.mkdir()
    shutil.rmtree(copy.path)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.tip() == repo.sha()
    assert not list((tmp_path / "cache").glob("*.tmp"))


def test_pull_request_heads_that_the_source_offers_are_fetched(tmp_path):
    repo = project(tmp_path / "app")
    repo.pull_head(7)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.pull_heads() == {7: repo.sha()}


def test_the_remotes_default_branch_counts_when_the_user_stands_on_another(tmp_path):
    upstream = project(tmp_path / "upstream")
    upstream.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    clone.branch("feature")
    clone.commit("Work in progress", {"src/app.py": "x\n"})
    with open_source(str(clone.path), cache=tmp_path / "cache") as copy:
        assert copy.default_branch() == "main"
        assert copy.tip() == upstream.sha()


def test_a_detached_head_falls_back_to_main(tmp_path):
    repo = project(tmp_path / "app")
    tip = repo.commit("Fix", FIX)
    repo.git("checkout", "--quiet", "--detach", "HEAD^")
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.tip() == tip


# -- names


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ("https://git.example.org/acme/widget.git", "acme/widget"),
        ("git@git.example.org:acme/widget.git", "acme/widget"),
        ("ssh://git@git.example.org:2222/group/sub/widget", "sub/widget"),
        ("https://git.example.org/acme/odd name%20.git", "acme/odd-name-20"),
        ("/some/folder/elsewhere", "local/app"),
    ],
)
def test_the_name_comes_from_the_origin_remote(tmp_path, origin, name):
    repo = project(tmp_path / "app")
    repo.git("remote", "add", "origin", origin)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.name == name


def test_a_given_name_wins(tmp_path):
    repo = project(tmp_path / "repo")
    with open_source(str(repo.path), cache=tmp_path / "cache", name="acme/widget") as copy:
        assert copy.name == "acme/widget"


# -- refused


def test_a_missing_path_is_refused(tmp_path):
    with pytest.raises(InputError, match="found nothing"):
        open_source(str(tmp_path / "none"), cache=tmp_path / "cache")


def test_a_plain_folder_is_refused(tmp_path):
    (tmp_path / "plain").mkdir()
    with pytest.raises(InputError, match="not a git repository"):
        open_source(str(tmp_path / "plain"), cache=tmp_path / "cache")


def test_a_folder_inside_a_repository_is_refused_and_the_repository_named(tmp_path):
    repo = project(tmp_path / "app")
    with pytest.raises(InputError, match="not a git repository") as error:
        open_source(str(repo.path / "src"), cache=tmp_path / "cache")
    assert str(repo.path) in str(error.value.hint)


def test_an_empty_repository_is_refused(tmp_path):
    Repository(tmp_path / "app")
    with pytest.raises(InputError, match="empty"):
        open_source(str(tmp_path / "app"), cache=tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*.tmp"))


def test_a_shallow_clone_is_refused_and_the_cure_named(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Fix", FIX)
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    with pytest.raises(InputError, match="shallow") as error:
        open_source(str(tmp_path / "shallow"), cache=tmp_path / "cache")
    assert "--unshallow" in str(error.value.hint)


def test_a_url_that_cannot_be_read_fails_with_gits_words_and_no_credentials(tmp_path):
    with pytest.raises(InfrastructureError) as error:
        open_source("http://user:sesame@127.0.0.1:9/acme/widget.git", cache=tmp_path / "cache")
    assert "sesame" not in f"{error.value} {error.value.hint}"
    assert "127.0.0.1" in str(error.value)


def test_credentials_are_masked():
    assert mask_credentials("to https://me:token@example.org/x failed") == "to https://***@example.org/x failed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_users_repository_works(tmp_path):
    repo = project(tmp_path / "app")
    tip = repo.sha()
    for folder, _, files in os.walk(repo.path):
        for file in ("", *files):
            os.lchown(Path(folder) / file, 12345, 12345)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.tip() == tip


# -- hostile sources


def test_nothing_a_hostile_repository_configures_is_run(tmp_path):
    canary = tmp_path / "canary"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    script.chmod(0o755)
    repo = project(tmp_path / "app")
    repo.commit("Attributes", {".gitattributes": "* diff=evil filter=evil\n*.py diff=evil\n"})
    head = repo.commit("Fix", FIX)
    for key in (
        "core.fsmonitor", "core.sshCommand", "core.pager", "diff.external", "diff.evil.command", "diff.evil.textconv",
        "filter.evil.clean", "filter.evil.smudge", "uploadpack.packObjectsHook", "core.alternateRefsCommand",
        "remote.origin.uploadpack", "credential.helper", "gpg.program",
    ):  # fmt: skip
        repo.git("config", key, str(script))
    for hook in ("post-checkout", "pre-upload", "post-upload", "reference-transaction", "pre-auto-gc"):
        shutil.copy(script, repo.path / ".git" / "hooks" / hook)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        copy.diff(copy.resolve("HEAD^"), head)
        copy.archive_bytes(head)
        copy.read_file(head, "src/app.py")
    assert not canary.exists()


def test_a_partial_clone_never_asks_its_remote(tmp_path):
    canary = tmp_path / "canary"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\n")
    script.chmod(0o755)
    upstream = project(tmp_path / "upstream")
    upstream.git("config", "uploadpack.allowFilter", "true")
    upstream.commit("Fix", FIX)
    upstream.git("clone", "--quiet", "--bare", "--filter=blob:none", f"file://{upstream.path}", str(tmp_path / "part"))
    part = Repository(tmp_path / "part", bare=True)
    part.git("config", "remote.origin.uploadpack", str(script))
    with open_source(str(part.path), cache=tmp_path / "cache") as copy:
        assert copy.tip() == upstream.sha()
        with pytest.raises(InputError, match="lacks objects"):
            copy.diff(copy.resolve("HEAD^"), copy.tip())
    assert not canary.exists()


def test_a_scan_of_a_partial_clone_leaves_what_it_lacks_and_goes_on(tmp_path):
    upstream = project(tmp_path / "upstream")
    upstream.git("config", "uploadpack.allowFilter", "true")
    for number in range(1, 4):
        upstream.branch(f"topic-{number}", "main")
        upstream.commit(f"Fix {number}", {f"src/m{number}.py": f"{number}\n", f"tests/test_m{number}.py": "1\n"})
        upstream.pull_head(number)
        upstream.checkout("main")
        other = {f"src/m{number}.py": "other\n", f"tests/test_m{number}.py": "2\n"}
        upstream.commit(f"Fix {number} (#{number})", other)
    upstream.git("clone", "--quiet", "--bare", "--filter=blob:none", f"file://{upstream.path}", str(tmp_path / "part"))
    part = Repository(tmp_path / "part", bare=True)
    part.git("fetch", "--quiet", "origin", "+refs/pull/*:refs/pull/*")
    with open_source(str(part.path), cache=tmp_path / "cache") as copy:
        reasons = {looked.change.number: getattr(looked.outcome, "reason", "") for looked in scan(copy)}
    assert [reasons[number] for number in (1, 2, 3)] == ["missing_objects"] * 3


def test_grafts_and_replace_refs_of_the_source_alter_nothing(tmp_path):
    repo = project(tmp_path / "app")
    first = repo.sha()
    second = repo.commit("Second", {"src/app.py": "2\n"})
    third = repo.commit("Third", {"src/app.py": "3\n"})
    repo.git("replace", second, first)
    (repo.path / ".git" / "info" / "grafts").write_text(f"{third} {first}\n")
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.resolve(f"{third}^") == second
        assert copy.read_file(second, "src/app.py") == b"2\n"


def test_symbolic_links_in_a_hostile_git_folder_are_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("0" * 40 + "\n")
    repo = project(tmp_path / "app")
    (repo.path / ".git" / "refs" / "heads" / "leak").symlink_to(secret)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert b"leak" not in copy.git("for-each-ref").stdout


# -- reading


def test_an_archive_is_the_tree_byte_for_byte(tmp_path):
    repo = project(tmp_path / "app")
    repo.write(".gitattributes", "secret.txt export-ignore\n*.txt export-subst text eol=crlf\n*.py ident\n")
    repo.write("secret.txt", "kept $Format:%H$\n")
    repo.write("dos.txt", b"a\r\nb\n")
    repo.write("id.py", "# $Id$\n")
    repo.write("run.sh", "#!/bin/sh\n", executable=True)
    repo.write("naïve é.txt", "x\n")
    repo.write(b"latin-\xe9.txt", "y\n")
    repo.link("link", "run.sh")
    head = repo.commit("Tree")
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        archive = copy.archive_bytes(head)
        assert archive == copy.archive_bytes(head)
        with tarfile.open(fileobj=BytesIO(archive), errors="surrogateescape") as tar:
            members = {member.name: member for member in tar.getmembers() if not member.isdir()}
            assert set(members) == set(copy.list_files(head))
            for path, member in members.items():
                if member.isreg():
                    assert tar.extractfile(member).read() == copy.read_file(head, path)
            several = copy.read_files(head, [*reversed(members), "not there", "src"])
            assert several == {path: copy.read_file(head, path) for path in members}
            small = {path: content for path, content in several.items() if members[path].isreg() and len(content) <= 6}
            assert dict(copy.files(head, largest=6)) == small
        assert members["run.sh"].mode == 0o755
        assert members["dos.txt"].mode == 0o644
        assert members["link"].linkname == "run.sh"
        assert members["run.sh"].mtime == int(copy.commit_date(head).timestamp())
    assert head.encode() not in archive


def test_a_missing_file_reads_as_none(tmp_path):
    repo = project(tmp_path / "app")
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.read_file(repo.sha(), "none.py") is None
        assert copy.read_file(repo.sha(), "src") is None


@pytest.mark.parametrize(
    ("tags", "version"),
    [
        (["v1.2.0"], "1.2.0"),
        (["release-2.0rc1"], "2.0rc1"),
        (["nightly"], None),
        (["1.0", "1.0.1", "latest"], "1.0.1"),
        (["REL_1_4"], "1.4"),
    ],
)
def test_the_nearest_version_is_that_of_the_nearest_reachable_tag(tmp_path, tags, version):
    repo = project(tmp_path / "app")
    for tag in tags:
        repo.git("tag", "-m", tag, tag)
    repo.commit("Later", {"src/app.py": "3\n"})
    repo.branch("beyond")
    repo.commit("Beyond", {"src/app.py": "4\n"})
    repo.git("tag", "v9.0")
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert copy.nearest_version(repo.sha("main")) == version


def test_an_unknown_revision_is_an_input_error(tmp_path):
    repo = project(tmp_path / "app")
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        with pytest.raises(InputError, match="no commit"):
            copy.resolve("f" * 40)
        with pytest.raises(InputError, match="no commit"):
            copy.resolve("--help")


# -- clone URLs


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """An ssh that runs the command it is given on this machine: git speaks its real protocol through it."""
    script = tmp_path / "ssh"
    script.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    script.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    monkeypatch.setenv("GIT_SSH_VARIANT", "simple")


def test_a_clone_url_is_copied_and_brought_up_to_date(tmp_path, ssh):
    repo = project(tmp_path / "acme" / "app")
    repo.pull_head(1)
    url = f"ssh://git@localhost{repo.path}"
    with open_source(url, cache=tmp_path / "cache") as copy:
        assert (copy.tip(), copy.default_branch(), copy.name) == (repo.sha(), "main", "acme/app")
        assert copy.pull_heads() == {1: repo.sha()}
    new = repo.commit("Fix add", FIX)
    with open_source(url, cache=tmp_path / "cache") as copy:
        assert copy.tip() == new


def test_an_empty_repository_at_a_url_is_refused_and_leaves_nothing(tmp_path, ssh):
    Repository(tmp_path / "app")
    with pytest.raises(InputError, match="empty"):
        open_source(f"ssh://git@localhost{tmp_path}/app", cache=tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*.git"))
    assert not list((tmp_path / "cache").glob("*.tmp"))


EVIL_KEYS = (
    "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "diff.external",
    "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
    "merge.evil.driver", "merge.default", "uploadpack.packObjectsHook", "core.alternateRefsCommand",
    "remote.origin.uploadpack", "remote.origin.vcs", "credential.helper", "gpg.program", "gpg.ssh.program",
    "sequence.editor", "trailer.sign.command", "interactive.diffFilter", "alias.diff-tree", "alias.log",
)  # fmt: skip


def test_a_whole_mine_of_a_hostile_repository_runs_nothing_of_it(tmp_path):
    canary, script = tmp_path / "canary", tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    script.chmod(0o755)
    repo = project(tmp_path / "app")
    repo.commit("Attributes", {
        ".gitattributes": "* diff=evil filter=evil merge=evil ident text eol=crlf\n",
        ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = ext::{script}\n\tupdate = !{script}\n',
    })  # fmt: skip
    repo.branch("topic")
    repo.commit("Fix add", FIX)
    repo.pull_head(1)
    repo.checkout("main")
    repo.commit("Half of it", {"src/app.py": FIX["src/app.py"]})
    repo.commit("Fix add (#1)", {"tests/test_app.py": FIX["tests/test_app.py"], "src/app.py": FIX["src/app.py"] + "\n"})
    for key in EVIL_KEYS:
        repo.git("config", key, f"!{script}" if key.startswith("alias.") else str(script))
    repo.git("config", "protocol.ext.allow", "always")
    (tmp_path / "more.config").write_text(f"[diff]\n\texternal = {script}\n")
    repo.git("config", "include.path", str(tmp_path / "more.config"))
    for hook in ("post-checkout", "post-merge", "pre-upload", "post-upload", "reference-transaction", "pre-auto-gc",
                 "post-index-change", "fsmonitor-watchman", "update", "post-update", "pre-receive"):  # fmt: skip
        shutil.copy(script, repo.path / ".git" / "hooks" / hook)
    (repo.path / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil merge=evil\n")
    for _ in range(2):  # the second time brings an earlier copy up to date
        words = ("mine", repo.path, "-o", tmp_path / "dataset", "--no-validate", "--pr", "1", "--json")
        done = program.goldseam(*words, GOLDSEAM_CACHE_DIR=str(tmp_path / "cache"))
        assert done.returncode == 0, done.error_text
    assert not canary.exists()
    repo.git("status")
    assert canary.exists(), "the trap itself works"


@pytest.mark.parametrize(
    "source", ["ext::{script}", "ssh://-oProxyCommand={script}/x", "--upload-pack={script}", "fd::17/x", "-c{script}"]
)
def test_a_source_that_would_run_a_program_is_refused(tmp_path, source):
    canary, script = tmp_path / "canary", tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\n")
    script.chmod(0o755)
    with pytest.raises((InputError, InfrastructureError)):
        open_source(source.format(script=script), cache=tmp_path / "cache")
    assert not canary.exists()


def test_a_clone_url_brings_no_replace_refs(tmp_path, ssh):
    repo = project(tmp_path / "app")
    first, second = repo.sha(), repo.commit("Second", {"src/app.py": "2\n"})
    repo.git("replace", second, first)
    with open_source(f"ssh://git@localhost{repo.path}", cache=tmp_path / "cache") as copy:
        assert b"refs/replace" not in copy.git("for-each-ref").stdout
        assert copy.read_file(second, "src/app.py") == b"2\n"


def test_a_partial_clone_lacks_what_a_merge_needs_and_says_so(tmp_path):
    upstream = project(tmp_path / "upstream")
    upstream.git("config", "uploadpack.allowFilter", "true")
    whole = [f"{number}\n" for number in range(30)]
    upstream.commit("Lines", {"src/lines.py": "".join(whole), "src/same.py": "1\n"})
    upstream.branch("topic")
    upstream.commit("Fix", {"src/lines.py": "".join(["fixed\n", *whole[1:]]), "src/same.py": "2\n"})
    upstream.pull_head(5)
    upstream.checkout("main")
    upstream.commit("Move on", {"src/lines.py": "".join([*whole[:29], "moved\n"]), "src/same.py": "2\n"})
    upstream.squash("topic", "Fix (#5)")
    upstream.git("clone", "--quiet", "--bare", "--filter=blob:none", f"file://{upstream.path}", str(tmp_path / "part"))
    part = Repository(tmp_path / "part", bare=True)
    part.git("fetch", "--quiet", "origin", "+refs/pull/*:refs/pull/*")
    with open_source(str(part.path), cache=tmp_path / "cache") as copy:
        [reason] = [getattr(one.outcome, "reason", "") for one in scan(copy) if one.change.number == 5]
    assert reason == "missing_objects"
