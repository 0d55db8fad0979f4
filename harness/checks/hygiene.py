"""What of a fix or its hidden tests can be found in an image: every file and git object searched, as bytes. Pure.

Searched for are the lines that only the fix and its tests bring, the names of the new tests, the files that are new
with them, and the fix's commit. The tree at base_commit may hold some such lines by chance; these are no evidence
anywhere.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from harness.core.wording import counted
from harness.patches import patch

TREES = ("testbed/", "opt/goldseam/src/")
"""Where a task's image holds the tree at base_commit."""

_SHORTEST_LINE = 12
_ENOUGH = 3
"""So many different lines in one file may be no chance; where there are fewer in all, only likely places count."""
LARGEST_TEXT = 32 * 1024 * 1024
_LARGEST_ARCHIVE = 8 * LARGEST_TEXT
"""Bytes of texts that are read of one archive."""
ARCHIVE = b"PK\x03\x04"
"""What a zip begins with: a wheel, a jar, a module of Go."""
LONG_TEXT = 1 << 14
"""Bytes of a text that is searched in a binary file."""
_AT_ONCE = 1 << 22
_CONTROLS = bytes(byte < 32 and byte not in b"\t\n\f\r" for byte in range(256))  # noqa: PLR2004 - a blank
_NO_TEXT = re.compile(rb"[^\0]")
_POMS = "META-INF/maven/"
"""Where a jar has its pom: many name the libraries that a fix may add."""
_CLASS = re.compile(r"\.(?:java|kt|groovy|scala)$")
_LISTING = re.compile(r"!(\d{4}-\d\d-\d\d)")
_TOLD = "1990"
"""The first year that tells when a class was made: many builds write the first one that a zip can say."""
_COMMIT = re.compile(rb"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_DIGITS = bytes(b"x"[0] if byte in b"0123456789abcdef" else b" "[0] for byte in range(256))
_SHA = b"x" * 40
"""What has to be in a text by that table before it is worth looking through by the pattern, ten times as slow."""
_TEST_NAME = re.compile(rb"^\+\s*(?:async\s+)?(?:def|class)\s+(test\w+|Test\w+)")
_IN_BYTE_CODE = re.compile(rb"""(?:\b(?:def|class)\s+(?!__)(\w{12,200})|["'](?!__\w+__["'])([^"'\\{}%]{12,200})["'])""")
_BETWEEN = re.compile(rb"""["']\s*\n\s*["']""")
"""What stands between two texts that Python makes one of."""
_HUNK = re.compile(rb"^@@ -", re.MULTILINE)
_CACHE = re.compile(r"(^|/)(\.cache/(pip|uv)|uv-cache|pip-cache|archive-v\d+|wheels-v\d+|sdists-v\d+)/")


_SETTINGS = re.compile(
    r"\.(?:editorconfig|git(?:ignore|attributes)|npmignore|prettier(?:rc|ignore)|eslint(?:rc|ignore)|nycrc)(?:\.\w+)?"
    r"|(?:commitlint|eslint|prettier|stylelint)\.config\.\w+|biome\.jsonc?|package(?:-lock)?\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock"
    r"|go\.(?:mod|sum)|Cargo\.lock|(?:LICEN[CS]E|COPYING)(?:[.-]\w+)*"
)
"""What most packages have, or holds what is installed: no fix shows in it."""
_VENDORED = re.compile(r"(?:^|/)(?:_?vendor|vendored|third_party|node_modules)/")
"""Folders of libraries' copies, which others have as well, such as Go's own tools."""


@dataclass(frozen=True, kw_only=True)
class FileSecrets:
    """What the fix or its hidden tests add to one file."""

    path: str
    lines: frozenset[bytes]
    results: tuple[tuple[bytes, bytes], ...]
    """What each hunk that adds something finds and leaves there, context included."""
    hunks: tuple[frozenset[bytes], ...] = ()
    """Those of `lines` that each hunk adds, hunks without one left out."""
    context: frozenset[bytes] = frozenset()
    """What stands around the added lines, unchanged."""
    words: frozenset[bytes] = frozenset()
    """New names and literals that its byte code holds too: of definitions and of texts without gaps."""

    @property
    def name(self) -> str:
        return _name(self.path)


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """What an image must not hold."""

    lines: frozenset[bytes]
    """Added by the fix or its tests and not to be seen in their patches otherwise; without white space around."""
    by_file: tuple[FileSecrets, ...]
    """The same by file that a patch adds such lines to."""
    names: frozenset[bytes]
    """Of new test functions and classes."""
    new_paths: frozenset[str]
    commits: frozenset[bytes] = frozenset()
    """Full SHAs of the fix, in hexadecimal."""
    classes: frozenset[bytes] = frozenset()
    """What the compiler makes of changed files, by paths from whichever of the folders around them."""
    day: str = ""
    """Of the fix, as YYYY-MM-DD; empty if it is not known."""

    @cached_property
    def texts(self) -> frozenset[bytes]:
        """The lines that files are searched for: what is added, what stands around it, and classes in an archive."""
        return self.lines.union(self.classes, *(file.context for file in self.by_file))

    @cached_property
    def words(self) -> frozenset[bytes]:
        """What byte code is searched for."""
        return self.names.union(*(file.words for file in self.by_file))


@dataclass(frozen=True, kw_only=True)
class Leak:
    """A place in an image that gives something away."""

    where: str
    text: str


def secrets(gold: bytes, tests: bytes, *, commits: Iterable[str] = (), made: str = "") -> Secrets:
    """What only the fix and its hidden tests have. `made` is when the fix was, ISO 8601.

    Raises:
        PatchError: one of them is no patch.

    """
    files = [*patch.parse(gold, trusted=True).files, *patch.parse(tests, trusted=True).files]
    files = [file for file in files if not (_SETTINGS.fullmatch(_name(file.path)) or _VENDORED.search(file.path))]
    old = {line for file in files for line in _marked(file.raw, b" -")}
    joined = {_BETWEEN.sub(b"", before) for file in files for before, _ in file.sides()}
    added = [(file, frozenset(set(_marked(file.raw, b"+")) - old)) for file in files]
    test_names = {match[1] for file in files for line in file.raw.split(b"\n") if (match := _TEST_NAME.match(line))}
    return Secrets(
        lines=frozenset().union(*(lines for _, lines in added)),
        by_file=tuple(
            FileSecrets(
                path=file.path,
                lines=lines,
                results=tuple(file.sides()),
                hunks=tuple(_hunks(file.raw, lines)),
                context=frozenset(_marked(file.raw, b" ")),
                words=frozenset(word for word in _words(file.raw) if not any(word in text for text in (*old, *joined))),
            )
            for file, lines in added
            if lines
        ),
        names=frozenset(name for name in test_names if not any(name in line for line in old)),
        new_paths=frozenset(file.path for file in files if file.is_new),
        commits=frozenset(commit.encode() for commit in commits if commit),
        classes=frozenset(name for file in files for path in file.paths for name in _classes(path)),
        day=made[:10],
    )


def _classes(path: str) -> Iterator[bytes]:
    """The class of a source, by all paths that it may have below a folder of sources."""
    if _CLASS.search(path):
        *folders, name = path.encode("utf-8", "surrogateescape").split(b"/")
        parts = [*folders, name.rpartition(b".")[0] + b".class"]
        yield from (b"/".join(parts[at:]) for at in range(len(folders)))


def _marked(raw: bytes, marks: bytes) -> Iterator[bytes]:
    """Lines of hunks with one of the marks, where they say enough to be known again."""
    for line in raw.split(b"\n"):
        if line[:1] and line[:1] in marks and not line.startswith((b"+++ ", b"--- ")):
            text = plain(line[1:])
            if len(text) >= _SHORTEST_LINE and any(97 <= byte <= 122 for byte in text.lower()):  # noqa: PLR2004 - a-z
                yield text


def plain(line: bytes) -> bytes:
    """A line as formatters and bundlers leave it: without what is around it or ends it, in one kind of quotes."""
    return line.replace(b"'", b'"').strip().rstrip(b";,")


def _hunks(raw: bytes, lines: frozenset[bytes]) -> Iterator[frozenset[bytes]]:
    """Of some added lines those of each hunk."""
    for hunk in _HUNK.split(raw)[1:]:
        if added := lines.intersection(_marked(hunk.partition(b"\n")[2], b"+")):
            yield added


def _words(raw: bytes) -> Iterator[bytes]:
    """Names and texts of added lines of Python that are long enough to be known again in byte code."""
    for line in raw.split(b"\n"):
        if line.startswith(b"+") and not line.startswith(b"+++ "):
            yield from (match[1] or match[2] for match in _IN_BYTE_CODE.finditer(line))


@dataclass(kw_only=True)
class Search:
    """Fed every file of an image once, in any order; then asked for the leaks."""

    secrets: Secrets
    unpack: Callable[[bytes], Iterable[tuple[str, bytes]]]
    """Takes a git pack apart: the objects in it, by name."""
    _tree: set[bytes] = field(default_factory=set)
    _applied: dict[str, None] = field(default_factory=dict)
    _tree_words: set[bytes] = field(default_factory=set)
    _compiled: dict[str, set[bytes]] = field(default_factory=dict)
    _hits: dict[str, set[bytes]] = field(default_factory=dict)
    _leaks: list[Leak] = field(default_factory=list)

    def feed(self, path: str, data: bytes) -> None:
        """One file, by its path without a leading slash."""
        tree = next((prefix for prefix in TREES if path.startswith(prefix)), None)
        if tree and not is_of_git(path) and not path.endswith(".pyc"):
            self._of_tree(path, path[len(tree) :], data)
            return
        if not tree and is_cached_package(path):
            self.hit(path, cached=True)
        for where, content in contents(path, data, self.unpack):
            if path.endswith(".pyc"):
                self.hit(where, words={word for word in self.secrets.words if word in content})
            else:
                self.hit(where, lines=self._lines(content), commits=_commits(content))

    def hit(
        self,
        where: str,
        *,
        lines: Collection[bytes] = (),
        words: Collection[bytes] = (),
        commits: Collection[bytes] = (),
        cached: bool = False,
    ) -> None:
        """What a file or a git object outside of the tree has of the secrets."""
        if cached:
            self._leaks.append(Leak(where=where, text="left in a package cache"))
        if lines:
            self._hits.setdefault(where, set()).update(lines)
        if words:
            self._compiled.setdefault(where, set()).update(words)
        if not self.secrets.commits.isdisjoint(commits):
            self._leaks.append(Leak(where=where, text="it names the fix's commit"))

    def _of_tree(self, path: str, inner: str, data: bytes) -> None:
        if inner in self.secrets.new_paths:
            self._leaks.append(Leak(where=path, text="a file that only the fix or its hidden tests add"))
            return
        self._tree_words |= {word for word in self.secrets.words if word in data}
        lines = self._lines(data)
        self._tree |= lines
        results = next((file.results for file in self.secrets.by_file if file.path == inner), ())
        is_there = results and all(after in data for _, after in results)
        if is_there and not any(before in data and before not in after for before, after in results):
            self._applied[path] = None  # a file that repeats itself may have what comes beside what goes

    def _lines(self, data: bytes) -> set[bytes]:
        return {line for part in data.split(b"\n") if (line := plain(part)) in self.secrets.texts}

    def leaks(self) -> tuple[Leak, ...]:
        """Everything found; only to be asked once all files were fed."""
        applied = (Leak(where=path, text="the fix or its hidden tests are in it already") for path in self._applied)
        return (*self._leaks, *self._byte_code(), *applied, *self._copied(), *self._released())

    def _released(self) -> Iterator[Leak]:
        """Archives that have a changed class as it was made on the day of the fix or later, or don't tell when."""
        for where, hits in sorted(self._hits.items()):
            named, match = sorted(hits & self.secrets.classes), _LISTING.search(where)
            if named and match and not _TOLD <= match[1] < self.secrets.day:
                yield Leak(where=where, text=f"a later release, which has {named[0].decode('utf-8', 'replace')}")

    def _byte_code(self) -> Iterator[Leak]:
        """Byte code with names of hidden tests, or with half of the new names and texts of a fixed file.

        What the tree's own sources have too tells nothing, nor does what modules of several packages have. Nor does a
        single name in the byte code of something else: other projects have a `test_identity`, too. One or two names
        tell in the fixed file's own folder alone: other packages have a `requirements` module, too.
        """
        common = self._tree_words | _common(self._compiled, lambda path: path.rsplit("/", 3)[-3:])
        for path, words in sorted(self._compiled.items()):
            tests = sorted((words & self.secrets.names) - self._tree_words)
            files = [file for file in self.secrets.by_file if _stem(file.name) == _stem(_name(path))]
            of_files = set().union(*(file.words for file in files)) - common
            words_found = of_files & words
            is_likely = len(words_found) >= _ENOUGH or any(_is_in_folder_of(path, file) for file in files)
            if tests and (path.startswith(TREES) or files or len(tests) >= _ENOUGH):
                yield Leak(where=path, text=f"byte code that names the hidden test {tests[0].decode()}")
            elif words_found and 2 * len(words_found) >= len(of_files) and is_likely:
                sample = min(words_found).decode("utf-8", "replace")[:60]
                yield Leak(where=path, text=f"byte code of the fix or its hidden tests, which has {sample!r}")

    def _copied(self) -> Iterator[Leak]:
        """Anything else with lines that the tree does not have.

        A git object tells by one line. Another file has to hold several that are rare, and these all that one hunk
        adds, or half of what the patch adds to a file; everyday lines meet in any large file. A file that has the name
        of one of the patch tells by all that is added there; where these are one or two lines, in the same folder or
        with all that stands around them.
        """
        unknown = self.secrets.lines - self._tree
        sources = {where: hits for where, hits in self._hits.items() if not is_of_git(where)}
        rare = unknown - _common(sources, _name)
        for where, hits in sorted(self._hits.items()):
            leaked = hits & unknown
            copies = (_is_copy(where, file, hits, unknown, rare) for file in self.secrets.by_file)
            if leaked and (is_of_git(where) or any(copies)):
                sample = min(leaked).decode("utf-8", "replace")[:60]
                yield Leak(
                    where=where,
                    text=f"{counted(len(leaked), 'line')} of the fix or its hidden tests, such as {sample!r}",
                )


def _common(hits: Mapping[str, set[bytes]], name: Callable[[str], object]) -> set[bytes]:
    """Secrets that files of several names have: copies of a fixed file would have one name, or two."""
    names: dict[bytes, set[str]] = {}
    for where, secrets in hits.items():
        for secret in secrets:
            names.setdefault(secret, set()).add(str(name(where)))
    return {secret for secret, files in names.items() if len(files) >= _ENOUGH}


def _is_copy(
    where: str, file: FileSecrets, hits: set[bytes], unknown: frozenset[bytes], rare: frozenset[bytes]
) -> bool:
    """Whether a file holds too much of what a patch adds to another for chance; see `Search._copied`."""
    lines = file.lines & unknown
    if lines and lines <= hits and _name(where) == file.name:
        return len(lines) >= _ENOUGH or _is_in_folder_of(where, file) or (bool(file.context) and file.context <= hits)
    telling = hits & rare & file.lines
    if len(telling) < _ENOUGH:
        return False
    hunks = (hunk & unknown for hunk in file.hunks)
    return 2 * len(telling) >= len(lines) or any(len(hunk) >= _ENOUGH and hunk <= hits for hunk in hunks)


def _is_in_folder_of(where: str, file: FileSecrets) -> bool:
    """Whether a file, or the source of byte code, is in a folder of the name that a patched file's has, if any."""
    parts = [part for part in where.split("/") if part != "__pycache__"]
    return "/" not in file.path or parts[-2:-1] == file.path.split("/")[-2:-1]


def contents(
    path: str, data: bytes, unpack: Callable[[bytes], Iterable[tuple[str, bytes]]]
) -> Iterator[tuple[str, bytes]]:
    """What of a file outside of the tree is searched, by where it is.

    Git objects and the texts in archives come one by one, of classes in archives their names, and of other binary files
    the long texts, such as an interpreter has of its own library.
    """
    inner = path.rpartition(".git/")[2] if is_of_git(path) else ""
    if inner.startswith("objects/pack/") and inner.endswith(".pack"):
        yield from ((f"{path}:{name}", content) for name, content in unpack(data))
    elif re.fullmatch(r"objects/[0-9a-f]{2}/[0-9a-f]{38,62}", inner):
        try:
            yield path, zlib.decompressobj().decompress(data, LARGEST_TEXT).partition(b"\0")[2]
        except zlib.error:  # a broken one, such as a test of git's brings
            yield path, data
    elif data.startswith(ARCHIVE):
        yield from _archived(path, data)
    elif inner or path.endswith(".pyc") or (len(data) <= LARGEST_TEXT and b"\0" not in data[:8192]):
        yield path, data
    elif text := b"\n".join(_texts(data)):
        yield path, text


def archive_of(where: str) -> str:
    """The archive in which something was found; empty if it was in none."""
    path, mark, _ = where.partition("!")
    return path if mark and path.endswith((".whl", ".jar", ".zip")) else ""


def _texts(data: bytes) -> Iterator[bytes]:
    """The long texts in a binary file."""
    for at in range(0, len(data), _AT_ONCE):
        part = data[at : at + _AT_ONCE]
        controls, end = part.translate(_CONTROLS), 0
        while (start := controls.find(bytes(LONG_TEXT), end)) >= 0:
            after = _NO_TEXT.search(controls, start + LONG_TEXT)
            end = after.start() if after is not None else len(part)
            yield part[start:end]


def _archived(path: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """The names of the classes in an archive, by the day on which they were made, and its texts."""
    left = _LARGEST_ARCHIVE
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            compiled = [entry for entry in entries if entry.filename.endswith(".class")]
            if compiled:
                day = "{:04}-{:02}-{:02}".format(*max(entry.date_time for entry in compiled))
                names = "\n".join(entry.filename for entry in compiled)
                yield f"{path}!{day}", names.encode("utf-8", "surrogateescape")
            for entry in entries:
                is_text = not entry.filename.endswith(".class") and not entry.filename.startswith(_POMS)
                if is_text and entry.file_size <= min(left, LARGEST_TEXT):
                    with archive.open(entry) as member:
                        content = member.read(entry.file_size)
                    left -= len(content)
                    if b"\0" not in content[:8192]:
                        yield f"{path}!/{entry.filename}", content
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError, NotImplementedError):
        return  # broken, encrypted or packed in another way: such as a test brings


def _commits(data: bytes) -> list[bytes]:
    return _COMMIT.findall(data) if _SHA in data.translate(_DIGITS) else []


def is_of_git(path: str) -> bool:
    """Whether a file is one of git's own."""
    return f"/{path}".find("/.git/") >= 0


def is_cached_package(path: str) -> bool:
    """Whether a file was left by an installer in its cache."""
    return _CACHE.search(path) is not None


def fingerprints(path: str, data: bytes) -> Iterator[bytes]:
    """All that could be a secret of some fix in one of `contents`: lines, commits, names and texts of byte code."""
    if path.endswith(".pyc"):
        yield from (
            WORD + data[match.start() + 2 : match.start() + 2 + match[1][0]] for match in _SHORT_TEXT.finditer(data)
        )
        return
    yield from (LINE + text for line in set(data.split(b"\n")) if len(text := plain(line)) >= _SHORTEST_LINE)
    yield from (COMMIT + commit for commit in set(_commits(data)))


LINE, WORD, COMMIT = b"l", b"w", b"c"
"""What a fingerprint begins with, by what it is of."""
_SHORT_TEXT = re.compile(rb"(?=[zZ\xda\xfa]([\x05-\xff]))", re.DOTALL)
"""Where marshal has a text of up to 255 ASCII characters: its kind, its length, then the text.

Source: `w_complex_object`, https://github.com/python/cpython/blob/main/Python/marshal.c
"""


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _stem(name: str) -> str:
    return name.split(".", maxsplit=1)[0]
