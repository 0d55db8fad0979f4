"""Right patches in the forms that people and models send them in: what is applied is what git makes of them."""

from __future__ import annotations

import base64
import quopri
import random
import textwrap
from typing import TYPE_CHECKING

import pytest

from harness.core.process import run
from harness.patches.patch import NoPatchError, PatchError, UnsafePatchError, parse
from tests.applied import built
from tests.repos import Repository
from tests.unit.test_patch_fuzz import MUTATIONS, found_in, mutated, touched

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "".join(f"line {number} = x\n" for number in range(40))
ESC = "\x1b[31mred\x1b[0m\n"
NAMES = b"--- a/f.py\n+++ b/f.py\n"
HUNK = b"@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
PLAIN = NAMES + HUNK


@pytest.fixture
def repo(tmp_path) -> Repository:
    repo = Repository(tmp_path / "repo")
    repo.commit("base", {"pkg/m.py": TEXT, "colours.py": f"a\n{ESC}b\n\x1b[1mc\x1b[m\nd\n" * 3, "gone.py": TEXT})
    return repo


def tree(repo: Repository, name: str = "HEAD") -> dict[str, bytes]:
    """What the files of a commit hold."""
    names = repo.git("ls-tree", "-r", "--name-only", name).splitlines()
    return {path: run(["git", "-C", repo.path, "show", f"{name}:{path}"]).stdout for path in names}


def applied(repo: Repository, text: bytes, folder: Path, base: str = "main") -> dict[str, bytes]:
    """What the files hold after a patch in such a text is applied to a commit, by the supervisor's own code."""
    for name, data in tree(repo, base).items():
        (folder / "base" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "base" / name).write_bytes(data)
    assert built(folder / "base", parse(text), folder / "work") == ""
    return {path: data for path, data in found_in(folder / "work").items() if isinstance(data, bytes)}


def diff(repo: Repository, *words: str) -> bytes:
    return run(["git", "-C", repo.path, "diff", *words], env=repo.env()).stdout


def mails(repo: Repository, since: str, *words: str) -> bytes:
    return run(["git", "-C", repo.path, "format-patch", "--stdout", *words, since], env=repo.env()).stdout


def am(repo: Repository, text: bytes) -> dict[str, bytes]:
    """What `git am` makes of it, on the branch `main`."""
    repo.git("checkout", "-q", "-B", "am", "main")
    repo.git("am", "-q", input=text)
    return tree(repo, "am")


# -- fences


@pytest.mark.parametrize("blanks", ["  ", "   ", "      ", "\t"])
@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_fence_that_is_indented_is_read_as_if_it_were_not(blanks, fence):
    block = f"{fence}diff\n{PLAIN.decode()}{fence}\n"
    text = f"1. I changed it:\n\n{textwrap.indent(block, blanks)}\nThat is all.\n"
    assert (parse(text.encode()).raw, parse(text.encode()).repairs) == (PLAIN, ("indentation",))


def test_a_fence_behind_the_mark_of_a_list_is_read_by_its_lines():
    text = "- " + textwrap.indent(f"```diff\n{PLAIN.decode()}```\n", "  ").lstrip()
    assert parse(text.encode()).raw == PLAIN


def test_files_in_fences_of_different_depth_are_one_patch():
    other = PLAIN.decode().replace("f.py", "g.py")
    text = f"  ```\n{textwrap.indent(PLAIN.decode(), '  ')}  ```\n    ~~~\n{textwrap.indent(other, '    ')}    ~~~\n"
    assert parse(text.encode()).paths == {"f.py", "g.py"}


def test_blank_context_in_an_indented_fence_may_have_lost_its_blanks():
    hunk = b"@@ -1,4 +1,4 @@\n a\n\n-b\n+c\n\n"
    text = b"   ```\n" + b"".join(b"   " + line for line in (NAMES + hunk).splitlines(keepends=True)) + b"   ```\n"
    assert parse(text.replace(b"   \n", b"\n")).raw == NAMES + hunk


def test_a_fence_that_is_content_stays_content():
    text = b"--- a/R.md\n+++ b/R.md\n@@ -1,4 +1,4 @@\n   ```diff\n   --- a/x\n-  +++ b/x\n+  +++ b/y\n   @@ -1 +1 @@\n"
    assert parse(text).raw == text


def test_a_line_that_leaves_the_indentation_of_its_fence_is_refused():
    text = b"  ```\n  --- a/f.py\n  +++ b/f.py\n  @@ -1,2 +1,2 @@\n a\n  -b\n  +c\n  ```\n"
    with pytest.raises(PatchError, match=r"line 5: the diff in a fence is indented, .* send"):
        parse(text)


def test_a_diff_that_is_indented_without_a_fence_is_none():
    with pytest.raises(NoPatchError):
        parse(textwrap.indent(PLAIN.decode(), "    ").encode())


# -- names of copies


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("m.py.orig", "m.py", "m.py"),
        ("m.py.old", "./m.py", "m.py"),
        ("./m.py.bak", "./m.py", "m.py"),
        ("m.py~", "m.py", "m.py"),
        ("m.py", "m.py.new", "m.py"),
        ("a/pkg/m.py.orig", "b/pkg/m.py", "pkg/m.py"),
        ("pkg/m.py.orig", "pkg/m.py", "pkg/m.py"),
        ("project-old/pkg/m.py", "project-new/pkg/m.py", "pkg/m.py"),
        ("../project/pkg/m.py", "./pkg/m.py", "pkg/m.py"),
        ("/tmp/m.py", "pkg/m.py", "pkg/m.py"),
        ("/dev/fd/63", "pkg/m.py", "pkg/m.py"),
        ("-", "m.py", "m.py"),
    ],
)
@pytest.mark.parametrize("stamp", ["", "\t2024-01-01 10:00:00.000000000 +0000", "  2024-01-01 10:00:00 +0000"])
def test_a_diff_of_a_file_and_its_copy_is_of_the_file_as_patch_has_it(tmp_path, old, new, path, stamp):
    text = f"diff -u {old} {new}\n--- {old}{stamp}\n+++ {new}{stamp}\n".encode() + HUNK
    for place in ("base", "patched"):
        (tmp_path / place / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place / path).write_bytes(b"a\nb\n")
    is_below = path != new.removeprefix("./") and not new.endswith(".new")
    run(["patch", f"-p{int(is_below)}"], input=text, cwd=tmp_path / "patched")
    assert built(tmp_path / "base", parse(text), tmp_path / "work") == ""
    assert found_in(tmp_path / "work") == found_in(tmp_path / "patched")


@pytest.mark.parametrize(
    ("old", "new"), [("m.py", "n.py"), ("m.c", "m.cpp"), ("x/m.py.orig", "m.py"), ("old/project/m.py", "project/m.py")]
)
def test_names_that_can_mean_two_files_are_refused(old, new):
    with pytest.raises(PatchError, match="different files"):
        parse(f"--- {old}\n+++ {new}\n".encode() + HUNK)


def test_names_that_are_both_outside_of_the_tree_are_refused():
    with pytest.raises(UnsafePatchError):
        parse(b"--- ../m.py.orig\n+++ ../m.py\n" + HUNK)


def test_what_diff_says_is_from_1970_is_not_there(tmp_path):
    stamps = ("1970-01-01 00:00:00.000000000 +0000", "2024-01-01 10:00:00.000000000 +0000")
    new = f"--- old/n.py\t{stamps[0]}\n+++ new/n.py\t{stamps[1]}\n@@ -0,0 +1 @@\n+x\n"
    gone = f"--- old/pkg/__init__.py\t{stamps[1]}\n+++ new/pkg/__init__.py\t{stamps[0]}\n@@ -1 +0,0 @@\n-x\n"
    patch = parse((new + gone).encode())
    assert [(file.is_new, file.unmakes_file, file.path) for file in patch.files] == [
        (True, False, "n.py"), (False, True, "pkg/__init__.py"),
    ]  # fmt: skip
    (tmp_path / "base" / "pkg").mkdir(parents=True)
    (tmp_path / "base" / "pkg" / "__init__.py").write_bytes(b"x\n")
    assert built(tmp_path / "base", patch, tmp_path / "work") == ""
    assert found_in(tmp_path / "work") == {"n.py": b"x\n"}


# -- mails


def encoded(mail: bytes, encoding: str, charset: str = "utf-8") -> bytes:
    """A mail as a mail program sends it."""
    head, _, body = mail.partition(b"\n\n")
    text = quopri.encodestring(body) if encoding == "quoted-printable" else base64.encodebytes(body)
    kind = f"\nMIME-Version: 1.0\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}"
    return head + kind.encode() + b"\n\n" + text


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "Base64"])
def test_a_mail_is_decoded_as_git_am_does(repo, tmp_path, encoding):
    repo.branch("work")
    repo.commit("fix", {"pkg/m.py": TEXT.replace("7", "é = =3D" + "long " * 30 + "\t")})
    mail = encoded(mails(repo, "main"), encoding)
    assert applied(repo, mail, tmp_path) == am(repo, mail) == tree(repo, "work")
    assert "mail encoding" in parse(mail).repairs


def test_a_mails_bytes_are_not_changed_by_the_charset_it_names(repo, tmp_path):
    repo.branch("work")
    repo.commit("fix", {"pkg/m.py": TEXT.replace("7", "é")})
    mail = encoded(mails(repo, "main"), "quoted-printable", "utf-16")
    assert applied(repo, mail, tmp_path) == am(repo, mail.replace(b"utf-16", b"latin-1")) == tree(repo, "work")


def test_a_part_of_a_mail_is_decoded_by_its_own_header(repo, tmp_path):
    repo.branch("work")
    repo.commit("fix", {"pkg/m.py": TEXT.replace("7", "=3D")})
    plain = mails(repo, "main", "--attach=B")
    start = plain.index(b"diff --git")
    end = plain.index(b"\n\n--", start)
    head = plain[:start].rpartition(b"8bit")
    mail = head[0] + b"base64" + head[2] + base64.encodebytes(plain[start:end]) + plain[end:]
    assert applied(repo, mail, tmp_path) == am(repo, mail) == tree(repo, "work")


def test_a_mail_that_somebody_has_decoded_already_is_read_as_it_is():
    text = b"From: a\nSubject: b\nContent-Transfer-Encoding: quoted-printable\n\n" + PLAIN.replace(b"+c", b"+c = x=3D")
    assert parse(text).raw == PLAIN.replace(b"+c", b"+c = x=3D")


def test_a_mail_that_is_not_what_its_header_says_is_refused():
    with pytest.raises(PatchError, match="says base64"):
        parse(b"From: a\nSubject: b\nContent-Transfer-Encoding: base64\n\n" + b"QUJD" * 3 + b"Q\n")


def test_a_header_of_a_mail_that_is_content_stays_content():
    hunk = b"@@ -1,4 +1,4 @@\n From: a\n Content-Transfer-Encoding: quoted-printable\n \n-b\n+=3D\n"
    assert parse(NAMES + hunk).raw == NAMES + hunk


# -- patches in a row


def test_mails_that_change_one_file_are_applied_one_after_the_other(repo, tmp_path):
    repo.branch("work")
    repo.commit("one", {"pkg/m.py": TEXT.replace("line 7", "new\nline 7").replace("line 30", "30"), "n.py": "a\nb\n"})
    repo.commit("two", {"pkg/m.py": TEXT.replace("line 7", "newer\nline seven"), "n.py": "a\nc", "gone.py": None})
    repo.git("mv", "pkg/m.py", "pkg/moved.py")
    repo.write("n.py", "a\nc", executable=True)
    repo.commit("three", {"gone.py": "again\n"})
    text = mails(repo, "main")
    assert applied(repo, text, tmp_path) == am(repo, text) == tree(repo, "work")
    patch = parse(text)
    assert len(patch.files) == len({file.path for file in patch.files}) == 3
    assert ("patches in a row" in patch.repairs, parse(patch.raw).files) == (True, patch.files)


def test_diffs_of_one_file_one_after_the_other_are_what_git_apply_makes_of_them(repo, tmp_path):
    middle = TEXT.replace("line 7", "new\nnew\nline 7")
    repo.commit("one", {"pkg/m.py": middle})
    repo.commit("two", {"pkg/m.py": middle.replace("line 8", "8").replace("line 33", "33")})
    text = diff(repo, "main~2", "main~1") + b"\nand then:\n\n" + diff(repo, "main~1", "main")
    repo.branch("git", "main~2")
    repo.git("apply", "--index", input=text)
    repo.git("commit", "-qm", "applied")
    assert applied(repo, text, tmp_path, "main~2") == tree(repo, "git") == tree(repo, "main")


def test_a_copy_is_of_what_the_mails_before_leave(repo, tmp_path):
    repo.branch("work")
    repo.commit("one", {"pkg/m.py": TEXT.replace("line 7", "new\nline 7")})
    middle = TEXT.replace("line 7", "new\nline 7")
    repo.commit("two", {"pkg/copy.py": middle.replace("line 30", "30"), "pkg/m.py": middle.replace("line 2", "2")})
    text = mails(repo, "main", "-C")
    assert b"copy from" in text
    assert applied(repo, text, tmp_path) == am(repo, text) == tree(repo, "work")


def test_a_file_that_the_last_of_a_row_takes_away_again_is_no_change(repo, tmp_path):
    repo.branch("work")
    repo.commit("one", {"n.py": "a\n", "pkg/m.py": TEXT.replace("7", "8")})
    repo.commit("two", {"n.py": None})
    assert parse(mails(repo, "main")).paths == {"pkg/m.py"}


def test_a_row_of_random_changes_is_what_git_am_makes_of_it(repo, tmp_path):
    rng = random.Random(3)
    for number in range(max(12, MUTATIONS // 100)):
        repo.git("checkout", "-q", "-B", "work", "main")
        lines = {path: TEXT.splitlines(keepends=True) for path in ("pkg/m.py", "gone.py")}
        for commit in range(rng.randint(2, 5)):
            for path in rng.sample(sorted(lines), rng.randint(1, 2)):
                for _ in range(rng.randint(1, 3)):
                    at = rng.randrange(len(lines[path]))
                    lines[path][at : at + rng.randrange(3)] = [f"{commit} {number}\n"] * rng.randrange(3)
            lines["pkg/m.py"] += [f"{commit}\n"]
            repo.commit(f"{commit}", {path: "".join(text) for path, text in lines.items()})
        text = mails(repo, "main", f"-U{rng.choice((0, 1, 3))}") if number % 3 else mails(repo, "main")
        place = tmp_path / str(number)
        assert applied(repo, text, place) == tree(repo, "work"), text


def test_a_row_of_renames_copies_and_deletions_is_what_git_am_makes_of_it_or_refused(repo, tmp_path):
    rng = random.Random(7)
    accepted = 0
    for number in range(max(40, MUTATIONS // 25)):
        repo.git("checkout", "-q", "-B", "work", "main")
        texts = {path: data.decode() for path, data in tree(repo).items() if path != "colours.py"}
        for commit in range(rng.randint(2, 4)):
            before = dict(texts)
            for path in rng.sample(sorted(texts), rng.randint(1, len(texts))):
                lines = texts[path].splitlines(keepends=True)
                lines[rng.randrange(len(lines))] = f"{number} {commit} {path}\n"
                match rng.randrange(6):
                    case 0:
                        texts[f"{rng.choice('xyz')}.py"] = texts.pop(path)
                    case 1:
                        texts[f"{rng.choice('xyz')}.py"] = "".join(lines)
                    case 2 if len(texts) > 1:
                        del texts[path]
                    case _:
                        texts[path] = "".join(lines)
            repo.commit(f"{commit}", {**dict.fromkeys(before.keys() - texts.keys()), **texts})
        text = mails(repo, "main", rng.choice(("-M", "-C", "--no-renames")))
        try:
            parse(text)
        except PatchError:
            continue
        accepted += 1
        assert applied(repo, text, tmp_path / str(number)) == tree(repo, "work"), text
    assert accepted > 15, accepted


def test_a_copy_that_is_deleted_again_leaves_its_source():
    copy = b"diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n"
    gone = b"diff --git a/y b/y\ndeleted file mode 100644\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    header = b"From " + b"a" * 40 + b" Mon Sep 17 00:00:00 2001\n"
    assert parse(header + copy + header + gone + PLAIN).paths == {"f.py"}


CONTRADICTIONS = {
    "the same again": PLAIN + PLAIN,
    "lines that are gone": PLAIN + NAMES + b"@@ -1,2 +1,2 @@\n a\n-b\n+d\n",
    "a file that is gone": b"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- a/f\n+++ b/f\n" + HUNK,
    "a new file that is there": PLAIN + b"--- /dev/null\n+++ b/f.py\n@@ -0,0 +1 @@\n+x\n",
    "a rename without order": PLAIN + b"diff --git a/f.py b/g.py\nrename from f.py\nrename to g.py\n",
    "two that change places": b"".join(
        b"diff --git a/%c b/%c\nrename from %c\nrename to %c\n" % (one, two, one, two) for one, two in (b"xy", b"yx")
    ),
    "hunks that go back": NAMES + b"@@ -9 +9 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n" + NAMES + b"@@ -20 +20 @@\n-a\n+b\n",
    "binary data": b"diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n" * 2,
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_row_whose_later_part_does_not_follow_is_refused_and_says_what_to_send(name):
    with pytest.raises(PatchError, match=r"touched by two sections .* send one diff against the base commit"):
        parse(CONTRADICTIONS[name])


def test_a_row_without_end_is_refused_soon():
    line = b"-" + b"x" * 50 + b"\n"
    parts = [NAMES + b"@@ -%d,0 +%d @@\n+%d\n" % (number, number + 1, number) for number in range(9_000)]
    with pytest.raises(PatchError, match="too much"):
        parse(b"".join([NAMES + b"@@ -1,999 +0,0 @@\n" + line * 999, *parts]))


# -- terminal colours


CHANGED = "    D  \n \t    e\n\t\t\n      \n    g\r\n\x1b[32mx\x1b[m\ny \x1b[0m\n\n+\n-"


@pytest.mark.parametrize("words", [(), ("-U0",), ("--color-moved",), ("--ws-error-highlight=old,new",), ("-R",)])
@pytest.mark.parametrize("settings", [(), ("color.diff.context=yellow", "color.diff.func=bold red 123")])
def test_the_colours_of_git_are_taken_off_and_those_in_the_files_stay(repo, words, settings):
    repo.write("colours.py", f"a\n{ESC}b\n\x1b[1mc\x1b[m\n{CHANGED}")
    repo.write("pkg/m.py", TEXT.replace("line 7", "def seven\n  \t"))
    given = [word for setting in settings for word in ("-c", setting)]
    coloured = run(["git", "-C", repo.path, *given, "diff", "--color=always", *words], env=repo.env()).stdout
    assert parse(coloured).raw == diff(repo, *words)
    assert "terminal colours" in parse(coloured).repairs


def test_the_colours_of_diff_are_taken_off_and_those_in_the_files_stay(tmp_path):
    (tmp_path / "m.py.orig").write_bytes(f"a\n{ESC}b\n\x1b[1mc\x1b[m\n".encode())
    (tmp_path / "m.py").write_bytes(f"a\n{ESC}b\n{CHANGED}".encode())
    plain, coloured = (
        run(["diff", "-u", f"--color={when}", "m.py.orig", "m.py"], cwd=tmp_path, check=False).stdout
        for when in ("never", "always")
    )
    assert parse(coloured).raw == parse(plain).raw


def test_codes_in_the_lines_of_a_plain_diff_are_content(repo, tmp_path):
    repo.branch("work")
    repo.commit("fix", {"colours.py": f"a\n{ESC}\x1b[32m+\x1b[m\x1b[32mb\x1b[m\n"})
    text = diff(repo, "main", "work")
    assert parse(text).raw == text
    assert applied(repo, text, tmp_path) == tree(repo, "work")


def test_colours_within_words_are_not_guessed_at():
    with pytest.raises(PatchError):
        parse(b"\x1b[1m--- a/f.py\x1b[m\n\x1b[1m+++ b/f.py\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[31m-a\n\x1b[32m+b\n")


# -- all of them


def test_git_touches_no_path_in_any_form_that_the_parser_did_not_declare(repo, tmp_path):
    repo.branch("work")
    repo.commit("one", {"pkg/m.py": TEXT.replace("line 7", "new\nline 7"), "n.py": "a\nb\n"})
    repo.commit("two", {"pkg/m.py": TEXT.replace("line 9", "9"), "n.py": "a\nc\n"})
    row = mails(repo, "main")
    indented = b"1. ```diff\n" + textwrap.indent(diff(repo, "main", "work").decode(), "   ").encode() + b"   ```\n"
    forms = [row, indented, diff(repo, "--color=always", "main", "work"), row.replace(b"--- a/pkg", b"--- /tmp/pkg")]
    forms += [encoded(mails(repo, "work~1"), encoding) for encoding in ("base64", "quoted-printable")]
    forms += [PLAIN.replace(b"a/f.py", b"f.py.orig\t2024-01-01 10:00:00").replace(b"b/f.py", b"f.py")]
    rng = random.Random(11)
    accepted = 0
    for _ in range(MUTATIONS):
        data = mutated(rng.choice(forms), rng, rng.choice(forms))
        try:
            patch = parse(data)
        except PatchError:
            continue
        accepted += 1
        (paths,) = touched([patch.raw], tmp_path)
        assert paths is None or paths <= patch.paths, (data, paths, patch.paths)
        assert parse(patch.raw).files == patch.files
    assert accepted > MUTATIONS // 20, accepted
