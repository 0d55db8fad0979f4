"""Examples in the documentation of Rust's code (doctests), as the tests of a change that has no others.

rustdoc runs fenced code in documentation (https://doc.rust-lang.org/rustdoc/write-documentation/documentation-tests.html).
The examples of changed files go into a file of their own, so that a patch may shape and document its code as it likes.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.languages.rust.inside import inline as rust
from harness.languages.rust.language import EXAMPLES
from miner.candidates.inline import blob_id
from miner.evidence.tree import folders_above
from miner.languages.base import Contents
from miner.sources.change import Kind

MOST_OLD = 20
"""So many examples of a file that the change leaves as they are go along."""
_TESTS = frozenset({Kind.TEST, Kind.MIXED, Kind.SUPPORT})
_DOCUMENTED = re.compile(rb"^[+]\s*//[/!]", re.MULTILINE)
_FENCE = re.compile(rb"(`{3,}|~{3,})([^`]*)$")
_OF_RUST = re.compile(
    rb"(?:\.[\w-]+|rust|should_panic|no_run|ignore(?:-[\w-]+)?|compile_fail|E\d{4}|edition\d{4}|standalone(?:_crate)?"
    rb"|test_harness)$"
)
"""What is said of an example behind its fence; other words are of other languages."""
_ITEM = re.compile(
    rb"\s*(?:pub(?:\([^)]*\))?\s+|(?:unsafe|async|const|default|auto|extern(?:\s+\"[^\"]*\")?)\s+)*"
    rb"(?:(?:fn|struct|enum|union|trait|mod|type|const|static|macro|use|impl)\b|macro_rules!)\s*(?:<[^>]*>\s*)?(?:r#)?(\w*)"
)
_MANIFEST = "Cargo.toml"


@dataclass(frozen=True)
class _Example:
    """An example: the name of what it documents, and its lines without the marks of comments."""

    item: str
    lines: tuple[bytes, ...]


def files_with_examples(repo: Contents, base: str, head: str, kinds: Mapping[str, Kind]) -> list[str]:
    """Paths of Rust whose documentation gets other examples, for a change of code that touches no other test.

    Raises:
        MissingObjectsError: of a partial clone, which lacks a file.

    """
    paths = [path for path, kind in kinds.items() if kind is Kind.GOLD and path.endswith(".rs")]
    if not paths or not _TESTS.isdisjoint(kinds.values()):
        return []
    sections = repo.diff_sections(base, head)
    if not any(_DOCUMENTED.search(sections.get(path, b"")) for path in paths):
        return []
    sides = {path: (repo.read_file(base, path) or b"", repo.read_file(head, path) or b"") for path in paths}
    if all(_code(old) == _code(new) for old, new in sides.values()):
        return []
    return [path for path, (old, new) in sides.items() if set(_texts(new)) - set(_texts(old))]


def test_patch(repo: Contents, base: str, head: str, paths: Sequence[str]) -> dict[str, bytes]:
    """Files of tests with the examples of these files as they are after the change, by path, as sections of a diff.

    One a package, in its folder of tests.
    """
    by_place: dict[str, list[bytes]] = {}
    for path in paths:
        old = set(_texts(repo.read_file(base, path) or b""))
        left = MOST_OLD
        stem = re.sub(r"\W", "_", posixpath.basename(path).removesuffix(".rs"))
        lines = by_place.setdefault(posixpath.join(_package(repo, head, path), "tests", EXAMPLES), [])
        for example in _examples(repo.read_file(head, path) or b""):
            left -= example.lines in old
            if example.lines not in old or left >= 0:
                lines += [b"/// " + line if line else b"///" for line in example.lines]
                lines.append(f"pub mod {stem}_{example.item} {{}}".encode())
    return {place: _added(place, _unique(lines)) for place, lines in by_place.items()}


test_patch.__test__ = False  # type: ignore[attr-defined]  # pytest must not take it for a test


def _unique(lines: Sequence[bytes]) -> list[bytes]:
    """The lines with modules of different names."""
    times: Counter[bytes] = Counter()
    named = []
    for line in lines:
        times[line] += line.startswith(b"pub mod ")
        named.append(line if times[line] < 2 else line.replace(b" {}", b"_%d {}" % times[line]))  # noqa: PLR2004
    return named


def _added(path: str, lines: Sequence[bytes]) -> bytes:
    name = path.encode("utf-8", "surrogateescape")
    blob = blob_id([line + b"\n" for line in lines])
    head = b"diff --git a/%s b/%s\nnew file mode 100644\nindex %s..%s\n--- /dev/null\n+++ b/%s\n" % (
        *(name, name, b"0" * 40, blob, name),
    )
    return head + b"@@ -0,0 +1,%d @@\n" % len(lines) + b"".join(b"+%s\n" % line for line in lines)


def _package(repo: Contents, head: str, path: str) -> str:
    """The folder of the package that a file is in; the root where none is found."""
    above = folders_above(path)
    return next(folder for folder in above if not folder or repo.read_file(head, f"{folder}/{_MANIFEST}") is not None)


def _texts(content: bytes) -> list[tuple[bytes, ...]]:
    return [example.lines for example in _examples(content)]


def _examples(content: bytes) -> Iterator[_Example]:
    """The examples that rustdoc compiles: fenced code of Rust in line comments that document something."""
    lines = rust.lines_of(content)
    for start, end in rust.stretches(_documentation(lines)):
        opened, mark, is_rust = start, b"", False
        texts = [re.sub(rb"^ ", b"", line.strip()[3:]).rstrip() for line in lines[start:end]]
        for place, text in enumerate(texts):
            fence = _FENCE.match(text.strip())
            if fence and not mark:
                opened, mark = place, fence[1]
                is_rust = all(map(_OF_RUST.match, re.findall(rb"[^\s,{}]+", fence[2])))
            elif fence and fence[1].startswith(mark) and not fence[2]:
                if is_rust:
                    yield _Example(_item(lines, start, end), tuple(texts[opened : place + 1]))
                mark = b""


def _item(lines: Sequence[bytes], start: int, end: int) -> str:
    """The name of what lines of documentation stand before; empty of a module's or a crate's own, and of fields."""
    if lines[start].lstrip().startswith(b"//!"):
        return "itself"
    following = (line for line in lines[end : end + 20] if not line.lstrip().startswith((b"#", b"//")) and line.strip())
    match = _ITEM.match(next(following, b""))
    return match[1].decode() if match and match[1] else "item"


def _code(content: bytes) -> list[bytes]:
    lines = rust.lines_of(content)
    documentation = _documentation(lines)
    return [line for place, line in enumerate(lines) if place not in documentation and line.strip()]


def _documentation(lines: Sequence[bytes]) -> frozenset[int]:
    """Places of the lines that are comments which document something; not of such as are in texts."""
    starts, at = {}, 0
    for place, line in enumerate(lines):
        starts[at + len(line) - len(line.lstrip())] = place
        at += len(line)
    text = b"".join(lines).decode("latin-1")
    places = (
        starts.get(start) for start, _ in rust.words_in(text) if re.match(r"//!|///(?!/)", text[start : start + 4])
    )
    return frozenset(place for place in places if place is not None)
