"""The text that a patch is sent in: a mail that is encoded, a terminal's colours, an indented fence. Pure.

Each is undone only where it hides the patch: a mail is decoded as its own header says, as `git am` does it, and colours
and indentation are taken away only where no file header begins a line.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

_HEADER = re.compile(rb"^(?:diff --git |--- [^\n]*\n\+\+\+ [^\n]*\n@@ -)", re.MULTILINE)

_HEAD = rb"(?:[!-9;-~]+:[^\n]*\n(?:[ \t]+[^\s][^\n]*\n)*)+"
"""Lines of a mail's header, with those that go on in the next."""
_MAIL = re.compile(rb"(?:From [^\n]*\n)?" + _HEAD + rb"\r?\n")
_PART = re.compile(rb"(" + _HEAD + rb")\r?\n")
_POSTMARK = rb"From [^\n]*\d\d:\d\d:\d\d [^\n]*"
_BOUNDARY = re.compile(rb"\bboundary=(?:\"([^\"\r\n]{1,70})\"|([^\s;\"]{1,70}))", re.IGNORECASE)
_MAX_BOUNDARIES = 100
_ENCODING = re.compile(rb"^content-transfer-encoding:\s*(quoted-printable|base64)\b", re.IGNORECASE | re.MULTILINE)
_NOT_QUOTED_PRINTABLE = re.compile(rb"=(?![0-9A-Fa-f]{2}|[ \t]*\r?\n)")

_CODE = rb"\x1b\[[0-9;]*m"
_ANY_CODE = re.compile(_CODE)
_COLOURED_HEADER = re.compile(rb"^" + _CODE + rb"(?:diff --git |--- )[^\n\x1b]*(" + _CODE + rb")\r?$", re.MULTILINE)
_COLOURED_HUNK = re.compile(_CODE + rb"@@ -")

_FENCE = re.compile(rb"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})[^`]*")


def plain(data: bytes, repairs: dict[str, None]) -> bytes:
    """The text with the diff as the program that made it printed it; what was undone becomes a key of `repairs`.

    Raises:
        ValueError: an encoding or an indentation that does not hold for all it should; the message says what to send.

    """
    if _MAIL.match(data.lstrip()) and _ENCODING.search(data):
        data = _undone(_decoded(data), data, "mail encoding", repairs)
    if not _HEADER.search(data) and (header := _COLOURED_HEADER.search(data)) is not None:
        data = _undone(_uncoloured(data, header[1]), data, "terminal colours", repairs)
    if not _HEADER.search(data) and (b"```" in data or b"~~~" in data):
        data = _undone(b"\n".join(_unindented(data.split(b"\n"))), data, "indentation", repairs)
    return data


def _undone(text: bytes, before: bytes, repair: str, repairs: dict[str, None]) -> bytes:
    if text != before:
        repairs[repair] = None
    return text


def _decoded(data: bytes) -> bytes:
    """Mails with the bodies that their headers say are encoded as they were before, each part of one by its own.

    The charset is not looked at: `git am` takes a patch's bytes as they are, too.
    """
    boundaries = {quoted or bare for quoted, bare in _BOUNDARY.findall(data)}
    if len(boundaries) > _MAX_BOUNDARIES:
        raise ValueError(f"a mail of more than {_MAX_BOUNDARIES} parts: send the diff alone")
    between = [_POSTMARK, *(b"--" + re.escape(boundary) + rb"(?:--)?[ \t\r]*" for boundary in sorted(boundaries))]
    pieces = re.split(rb"^((?:" + b"|".join(between) + rb")\n)", data.lstrip(), flags=re.MULTILINE)
    return b"".join(map(_decoded_part, pieces))


def _decoded_part(text: bytes) -> bytes:
    part = _PART.match(text)
    encoding = _ENCODING.search(part[1]) if part is not None else None
    if part is None or encoding is None:
        return text
    body = text[part.end() :]
    if encoding[1].lower() == b"base64":
        try:
            body = binascii.a2b_base64(body)
        except binascii.Error as error:
            raise ValueError(f"a mail whose header says base64, which its text is not ({error})") from None
    elif _NOT_QUOTED_PRINTABLE.search(body) is None:  # else somebody has decoded it and left the header
        body = binascii.a2b_qp(body)
    return part[0] + body + (b"" if body.endswith(b"\n") else b"\n")


def _uncoloured(data: bytes, reset: bytes) -> bytes:
    """A diff without the codes that `git diff` or `diff` puts around its lines, those within the lines left alone.

    `reset` is the code that ends a coloured line.
    """
    end = re.escape(reset) + rb"(\r?)"
    whole = re.compile(rb"(" + _CODE + rb")([^\n]*)" + end)
    signed = re.compile(rb"(" + _CODE + rb")([-+])" + re.escape(reset) + rb"([^\n]*)")
    context = re.compile(rb"([ \\][^\n]*)" + end)
    blank = _CODE + rb"[ \t\r\v\f]+" + re.escape(reset)  # git marks white space that looks wrong
    text = _CODE + rb"[^\x1b]+" + re.escape(reset)
    marked = re.compile(rb"(?:" + blank + rb"|\t)*+(?:" + text + rb"(?:" + blank + rb")*+)?")
    lines = data.split(b"\n")
    inside = list(_in_hunks(lines))
    around = (line for line, is_in in zip(lines, inside, strict=True) if is_in and line[:1] == b" ")
    resets = all(map(context.fullmatch, around))

    def bare(line: bytes, is_in: bool) -> bytes:
        if _COLOURED_HUNK.match(line):
            return _ANY_CODE.sub(b"", line)
        if (match := signed.fullmatch(line)) is not None:
            if marked.fullmatch(match[3]):
                return match[2] + _ANY_CODE.sub(b"", match[3])
            inner = whole.fullmatch(match[3])
            if inner is not None and inner[1] == match[1]:
                return match[2] + inner[2] + inner[3]
            if match[2] == b"+":
                return line  # of colours that git does not write
        if (match := whole.fullmatch(line)) is not None:
            return match[2] + match[3]
        if is_in and resets and (match := context.fullmatch(line)) is not None:
            return match[1] + match[2]
        return line

    return b"\n".join(map(bare, lines, inside))


def _in_hunks(lines: list[bytes]) -> Iterator[bool]:
    """Of each line, whether it can be one of a coloured hunk."""
    inside = False
    for line in lines:
        inside = _COLOURED_HUNK.match(line) is not None or (inside and line[:1] in (b" ", b"\\", b"\x1b"))
        yield inside


def _unindented(lines: list[bytes]) -> Iterator[bytes]:
    """The lines with the fenced blocks of diffs moved to where lines begin."""
    at = 0
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at])
        if opening is None:
            yield lines[at]
            at += 1
            continue
        closing = re.compile(rb"([ \t]*)" + re.escape(opening[1][:1]) + b"{%d,}" % len(opening[1]) + rb"[ \t\r]*")
        first = next((lines[number] for number in range(at + 1, len(lines)) if lines[number].strip()), b"")
        indent = first[: len(first) - len(first.lstrip(b" \t"))]
        end = at + 1
        while end < len(lines) and not ((mark := closing.fullmatch(lines[end])) and len(mark[1]) <= len(indent)):
            end += 1
        block = lines[at + 1 : end]
        if indent and _HEADER.search(b"\n".join(line.removeprefix(indent) for line in block)):
            for number, line in enumerate(block, start=at + 2):
                if line.strip() and not line.startswith(indent):
                    raise ValueError(f"line {number}: the diff in a fence is indented, and this line is not as the"
                                     " others are: send the diff with its lines at the margin")  # fmt: skip
            yield lines[at].lstrip()
            yield from (line.removeprefix(indent) if line.strip() else line[len(indent) :] for line in block)
            yield from (line.lstrip() for line in lines[end : end + 1])
        else:
            yield from lines[at : end + 1]
        at = end + 1
