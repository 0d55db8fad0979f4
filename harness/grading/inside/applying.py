# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names: applies a patch to the work
# tree. Where its text has lost the line ends of its files, on its way through a mailer, an editor or a program that reads
# text, it gets these back from the files.
import os


def apply_patch(patch, declared, absent=()):
    """Apply a patch to the work tree, without what it changes in `absent` files: why git refuses it, or nothing.

    `declared` is what the host says of it:

    `paths` that it may change; whether git is to take hunks without context (`zero_context`), at the lines they name; and
    for each file whose hunks hold no CRLF (`hunks`) where these begin and end, its path, and whether the whole text had
    CRLF ends. Then the file alone can tell; of other texts it is asked only if they don't apply as they are.
    """
    likely = with_line_ends(patch, [hunk for hunk in declared["hunks"] if hunk[3]])
    error = refusal(likely, declared, absent)
    if error:
        other = with_line_ends(patch, declared["hunks"])
        if other != likely and not refusal(other, declared, absent):
            return ""
    return error


def refusal(patch, declared, absent):
    """Apply a patch as it is: why git refuses it, or nothing."""
    flags = ["--exclude=" + path for path in absent] + ["--unidiff-zero"] * declared["zero_context"]
    code, out, err = git_apply(patch, "--numstat", "-z", "--apply", *flags)
    if code:
        return err.strip() or "git apply refused it"
    paths = sorted(path for path in numstat_paths(out) if path)
    if not set(paths) <= set(declared["paths"]):
        return "git reads other paths in it than were declared: %r" % (paths,)
    return ""


def with_line_ends(patch, hunks):
    """The patch with the line ends that the files have in the work tree."""
    parts, at = [], 0
    for start, end, path, _ in hunks:
        parts += [patch[at:start], with_ends_of(patch[start:end], content(path))]
        at = end
    return b"".join(parts) + patch[at:]


def content(path):
    """The bytes of a plain file of the work tree; none where there is no such file."""
    place = os.path.join(WORK.encode(), path.encode("utf-8", "surrogateescape"))
    if os.path.islink(place) or not os.path.isfile(place):
        return b""
    with open(place, "rb") as file:
        return file.read()


def with_ends_of(hunks, old):
    """Hunks with CRLF where the old file has it; lines that are added are like the old line before them in the hunk."""
    if b"\r\n" not in old:
        return hunks
    old_lines = set(old.split(b"\n"))
    mostly = 2 * old.count(b"\r\n") > old.count(b"\n")
    lines = hunks.split(b"\n")[:-1]
    like = mostly
    out = []
    for line, after in zip(lines, lines[1:] + [b""]):
        mark, text = line[:1] or b" ", line[1:]
        ends = False
        if mark in (b" ", b"-"):
            like = ends = text + b"\r" in old_lines and (mostly or text not in old_lines)
        elif mark == b"+":
            ends = like and not after.startswith(b"\\")
        elif mark == b"@":
            like = mostly
        out.append(mark + text + b"\r" if ends else line)
    return b"\n".join(out) + b"\n"
