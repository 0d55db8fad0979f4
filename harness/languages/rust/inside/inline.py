# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names, where files of Rust hold code
# and tests at once; miner/candidates/inline.py cuts changes of them by the same rule.
#
# A Rust file's tests are its items under `#[cfg(test)]`, `#[test]` and the like
# (https://doc.rust-lang.org/book/ch11-03-test-organization.html).
import difflib
import os
import re
from typing import FrozenSet, Iterator, List, Sequence, Tuple


def put_back_tests(tree: str, pristine: str, paths: Sequence[str]) -> None:
    """Undo in some files what a patch has changed of the tests in them: the hidden ones go onto those of the base."""
    for path in paths:
        place, original = os.path.join(tree, path), os.path.join(pristine, path)
        if os.path.isfile(place) and not os.path.islink(place):
            with open(place, "rb") as file:
                new = lines_of(file.read())
            old = []  # type: List[bytes]
            if os.path.isfile(original):
                with open(original, "rb") as file:
                    old = lines_of(file.read())
            content = b"".join(with_tests_of(old, new))
            if content != b"".join(new):
                with open(place, "wb") as file:
                    file.write(content)


def lines_of(content: bytes) -> List[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+", content)


def with_tests_of(before: Sequence[bytes], after: Sequence[bytes]) -> List[bytes]:
    """The lines of an old file with the changes to its code that a new one has, and without those to its tests."""
    in_old, in_new = with_gaps(before), with_gaps(after)
    old = [line for place, line in enumerate(before) if place not in in_old]
    new = [line for place, line in enumerate(after) if place not in in_new]
    where = []  # type: List[int]  # of each place in the old code: that in the new code
    for tag, _, old_to, new_from, new_to in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        step = 1 if tag == "equal" else 0
        where += [(new_from if step else new_to) + step * place for place in range(old_to - len(where))]
    where.append(len(new))
    between, done = [], 0  # type: Tuple[List[bytes], int]
    for start, end in stretches(in_old):
        at = where[start - sum(place in in_old for place in range(start))]
        between += [*new[done:at], *before[start:end]]
        done = max(done, at)
    return between + new[done:]


def with_gaps(lines: Sequence[bytes]) -> FrozenSet[int]:
    """The lines of tests, with empty ones and comments between two of them: those come and go with the tests."""
    places = test_lines(lines)
    runs = stretches(places)
    gaps = [range(last[1], following[0]) for last, following in zip(runs, runs[1:])]
    empty = [gap for gap in gaps if all(lines[place].lstrip()[:2] in (b"", b"//") for place in gap)]
    return places.union(*empty)


def place_of_module(place: str) -> str:
    """Where a module's file is: a patch may have moved it from `a.rs` to `a/mod.rs`, or back."""
    other = place[: -len("/mod.rs")] + ".rs" if place.endswith("/mod.rs") else place[: -len(".rs")] + "/mod.rs"
    return other if not os.path.lexists(place) and os.path.isfile(other) else place


def with_hidden_tests(place: str, tests: bytes) -> bytes:
    """A file of a tree with other tests in it: those of a file that holds nothing but tests."""
    if not os.path.isfile(place) or os.path.islink(place):
        return tests
    with open(place, "rb") as file:
        lines = lines_of(file.read())
    new_lines = lines_of(tests)
    old, new = stretches(test_lines(lines)), stretches(test_lines(new_lines))
    hidden = [b"".join(new_lines[start:end]) for start, end in new]
    parts = []  # type: List[bytes]
    at = 0
    for number, (start, end) in enumerate(old):
        parts += lines[at:start]
        parts += [hidden[number]] if len(old) == len(new) else []
        at = end
    parts += lines[at:]
    if len(old) != len(new):
        parts += [b"\n"] + hidden
    return b"".join(parts)


def without_code(content: bytes) -> bytes:
    """A file with the lines of its tests, and empty ones for all others."""
    lines = lines_of(content)
    kept = test_lines(lines)
    return b"".join(line if place in kept else b"\n" for place, line in enumerate(lines))


def stretches(places: FrozenSet[int]) -> List[Tuple[int, int]]:
    """Lines that follow each other, by where they begin and end."""
    found = []  # type: List[Tuple[int, int]]
    for place in sorted(places):
        if found and found[-1][1] == place:
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found


def test_lines(lines: Sequence[bytes]) -> FrozenSet[int]:
    """Places of the lines of a Rust file that are there for its tests only."""
    text = b"".join(lines).decode("latin-1")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    plain = without_words(text)
    line_numbers = set()
    end = 0
    for match in TEST_OR_MADE.finditer(plain):
        if match.start() < end:
            continue
        if match["opening"]:
            end = closing(plain, match.end() - 1)
            continue
        end = item_end(plain, match.end())
        own = [place for place, start in enumerate(starts[:-1]) if match.start() < starts[place + 1] and start < end]
        while own[0] and lines[own[0] - 1].lstrip().startswith((b"#[", b"///")):  # more attributes of the same item
            own.insert(0, own[0] - 1)
        line_numbers.update(own)
    return frozenset(line_numbers)


TEST_OR_MADE = re.compile(
    r"#\[\s*(?:[\w:]*\btest\b|cfg\s*\(\s*(?:all\s*\(\s*)?test\b)[^\]]{0,2000}\]"
    r"|\b(?:parse_)?quote(?:_spanned)?!\s*(?P<opening>[{(\[])"
)
"""What makes the next item one of tests, and what makes syntax, which is none."""


def closing(plain: str, at: int) -> int:
    """Behind the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(plain)):
        depth += (plain[place] in "{[(") - (plain[place] in "}])")
        if not depth:
            return place + 1
    return len(plain)


def item_end(plain: str, at: int) -> int:
    """Where the item behind an attribute ends: at its closing brace, or at a semicolon before any."""
    depth = 0
    for place in range(at, len(plain)):
        character = plain[place]
        if character in "{[(":
            depth += 1
        elif character in "}])":
            depth -= 1
            if character == "}" and depth == 0:
                return place + 1
        elif character == ";" and depth == 0:
            return place + 1
    return len(plain)


WORDS = re.compile(
    r'//[^\n]*|b?r(?P<marks>#*)".*?(?:"(?P=marks)|\Z)|b?"(?:\\.|[^"\\])*"|b?\'(?:\\(?:x[0-9a-fA-F]{2}|u\{[0-9a-fA-F_]+\}|.)|[^\'\\])\''
    r"|/\*",
    re.DOTALL,
)


def without_words(text: str) -> str:
    """Rust with comments, strings and characters blanked: every brace left is one of the language."""
    parts = []  # type: List[str]
    at = 0
    for start, end in words_in(text):
        parts += (text[at:start], " " * (end - start))
        at = end
    return "".join(parts + [text[at:]])


def words_in(text: str) -> Iterator[Tuple[int, int]]:
    """Comments, strings and characters, by where they begin and end."""
    at = 0
    while True:
        match = WORDS.search(text, at)
        if match is None:
            return
        at = comment_end(text, match.start()) if match[0] == "/*" else match.end()
        yield match.start(), at


def comment_end(text: str, at: int) -> int:
    """Behind a block comment; they nest."""
    depth = 0
    for mark in re.finditer(r"/\*|\*/", text[at:]):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return at + mark.end()
    return len(text)
