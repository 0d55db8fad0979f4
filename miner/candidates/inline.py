"""Files that hold code and tests of it at once: cut by the line in Rust, told in other languages.

A Rust file's tests are its items under `#[cfg(test)]`, `#[test]` and the like
(https://doc.rust-lang.org/book/ch11-03-test-organization.html). The state between the two patches is the old file
with the code's changes and without the tests'.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.languages.rust.inside import inline as rust
from miner.languages.base import Contents
from miner.sources.change import Kind

_C_FAMILY = re.compile(
    rb"^[+-]\s*(?:TEST_CASE|TEST_CASE_TEMPLATE|SCENARIO|TEST|TEST_F|TEST_P|BOOST_AUTO_TEST_CASE)\s*\(", re.MULTILINE
)
_SCRIPT = re.compile(rb"^[+-].*\bimport\.meta\.vitest\b", re.MULTILINE)
_MARKS: Mapping[str, re.Pattern[bytes]] = {
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hh", ".hxx"), _C_FAMILY),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"), _SCRIPT),
    ".py": re.compile(
        rb"^[+-]\s*(?:class \w*Test\w*\((?:unittest\.)?TestCase\)|def test_\w+\(\)\s*(?:->\s*None)?:)", re.MULTILINE
    ),
    ".rb": re.compile(rb"^[+-]\s*class \w+ < (?:Minitest::Test|Test::Unit::TestCase)", re.MULTILINE),
    ".php": re.compile(rb"^[+-]\s*(?:final )?class \w+ extends (?:\\?PHPUnit\\Framework\\)?TestCase\b", re.MULTILINE),
    ".cs": re.compile(rb"^[+-]\s*\[(?:Fact|Theory|Test|TestCase|TestMethod)\b", re.MULTILINE),
    **dict.fromkeys((".java", ".kt"), re.compile(rb"^[+-]\s*@(?:org\.junit\.[\w.]*)?Test\b", re.MULTILINE)),
    ".go": re.compile(rb"^[+-]func Test[A-Z]\w*\(\w+ \*testing\.T\)", re.MULTILINE),
}
"""What a test looks like inside a file of code, on a line that a change adds or removes."""
_RUST_CHANGE = re.compile(rb"^[ +-].*#\[(?:[\w:]*test\b|cfg\((?:all\()?test\b)|^@@.*\bmod tests?\b", re.MULTILINE)
_COMMON = (".rs", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hh", ".hxx")
"""Languages in which a change whose tests all stand within the code is usual."""


def holds_tests(path: str, raw: bytes) -> bool:
    """Whether a section of a diff changes (or, in Rust, lies next to) tests inside a file of code."""
    if path.endswith(".rs"):
        return bool(_RUST_CHANGE.search(raw))
    marks = _MARKS.get("." + path.rpartition(".")[2].lower())
    return bool(marks and marks.search(raw))


def files_with_tests_inside(repo: Contents, base: str, head: str, kinds: Mapping[str, Kind]) -> list[str]:
    """Paths of code with tests inside, for a change that touches no test file and whose language is used to that."""
    paths = [path for path, kind in kinds.items() if kind is Kind.GOLD and path.endswith(_COMMON)]
    if not paths or Kind.TEST in kinds.values():
        return []
    sections = repo.diff_sections(base, head)
    return [path for path in paths if holds_tests(path, sections.get(path, b""))]


def cut(path: str, raw: bytes, old: bytes | None, new: bytes | None) -> tuple[bytes, bytes] | None:
    """A section of a diff in two, one to be applied after the other: of the code, then of the tests inside it.

    Either is empty where that side doesn't change. None where the language has no such cut, or the file goes away.
    """
    if not path.endswith(".rs") or new is None or b"\nGIT binary patch\n" in raw:
        return None
    before, after = rust.lines_of(old or b""), rust.lines_of(new)
    between = rust.with_tests_of(before, after)
    header = raw[: raw.index(b"\n@@ ") + 1] if b"\n@@ " in raw else raw
    code = _section(header, before, between, is_new=old is None)
    if between == after:
        return raw, b""
    if between == before and old is not None and b"\nold mode " not in header:
        return b"", raw
    return code, _section(_modified(header), between, after, is_new=False, around=rust.test_lines(between))


# -- sections

_Opcode = tuple[str, int, int, int, int]


def _section(
    header: bytes, old: Sequence[bytes], new: Sequence[bytes], *, is_new: bool, around: Collection[int] | None = None
) -> bytes:
    """A section of a diff with a header like the given one; of context it has these places of the old lines alone."""
    ids = [blob_id(old) if not is_new else b"0" * 40, blob_id(new)]
    header = re.sub(rb"^index [0-9a-f]+\.\.[0-9a-f]+", b"index " + b"..".join(ids), header, flags=re.MULTILINE)
    return header + b"".join(_hunks(old, new, around))


def blob_id(lines: Sequence[bytes]) -> bytes:
    """The id that git gives a file of these lines."""
    content = b"".join(lines)
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest().encode()  # noqa: S324 - git's own


def _modified(header: bytes) -> bytes:
    """The header of a later change to the same file: no mode changes, nothing new."""
    lines = header.splitlines(keepends=True)
    modes = [line for line in lines if line.startswith((b"new file mode ", b"new mode "))]
    name = next(line for line in lines if line.startswith(b"+++ "))
    older = name.replace(b"+++ b/", b"--- a/", 1).replace(b'+++ "b/', b'--- "a/', 1)
    index = next(line for line in lines if line.startswith(b"index ")).rstrip(b"\n")
    if modes:
        index = index.partition(b" 1")[0] + b" " + modes[0].rsplit(b" ", 1)[1].rstrip(b"\n")
    return b"".join((lines[0], index + b"\n", older, name))


def _hunks(old: Sequence[bytes], new: Sequence[bytes], around: Collection[int] | None) -> Iterator[bytes]:
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        opcodes = group if around is None else _within(group, around)
        first, last = opcodes[0], opcodes[-1]
        yield b"@@ -%s +%s @@\n" % (_range(first[1], last[2]), _range(first[3], last[4]))
        for tag, old_from, old_to, new_from, new_to in opcodes:
            if tag == "equal":
                yield from (_marked(b" ", line) for line in old[old_from:old_to])
                continue
            yield from (_marked(b"-", line) for line in old[old_from:old_to])
            yield from (_marked(b"+", line) for line in new[new_from:new_to])


def _within(group: Sequence[_Opcode], around: Collection[int]) -> list[_Opcode]:
    """A hunk with such context alone, as code beside the tests may be another; git wants a line behind the changes."""
    opcodes = list(group)
    tag, start, end, _, new_end = opcodes[0]
    if tag == "equal":
        begin = end
        while begin > start and begin - 1 in around:
            begin -= 1
        opcodes[0] = (tag, begin, end, new_end - (end - begin), new_end)
    tag, start, end, new_start, _ = opcodes[-1]
    if tag == "equal":
        stop = min(start + 1, end)
        while stop < end and stop in around:
            stop += 1
        opcodes[-1] = (tag, start, stop, new_start, new_start + stop - start)
    return opcodes


def _range(start: int, end: int) -> bytes:
    """A range of lines as unified diffs write it: empty ones stand behind the line before."""
    length = end - start
    return b"%d,%d" % (start + 1 if length else start, length)


def _marked(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"
