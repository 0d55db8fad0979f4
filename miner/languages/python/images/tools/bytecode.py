"""Runs inside a build, by the interpreter that it is for: byte code of all modules below folders, like `compileall`.

Code that was compiled in an earlier build is not compiled again: most modules of a repository's next commit, and of its
dependencies, are those of the last one. What was installed from uv's cache gets its byte code there, beside the source,
so that uv brings both the next time, also to what it builds with. What stands elsewhere is known by path and content.
"""

import argparse
import hashlib
import importlib.util
import marshal
import os
import re
import struct
import sys
from pathlib import Path

TYPE_CHECKING = False  # importing `typing` takes longer than the rest
if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = importlib.util.MAGIC_NUMBER
_HAS_HASHES = sys.version_info >= (3, 7)
_CHECKED_HASH = 3
_BY_CONTENT = _MAGIC + struct.pack("<L", _CHECKED_HASH)
_SUFFIX = f".{sys.implementation.cache_tag}.pyc"
_UNUSED = "/tests/"
"""Of what is installed, tests are left out."""
_FEW = 200
"""So many files are done before other processes have begun."""


def by_time(facts: os.stat_result) -> bytes:
    """What goes before the code (PEP 552) that is valid as long as its source is as old and as large."""
    flags = struct.pack("<L", 0) if _HAS_HASHES else b""
    return _MAGIC + flags + struct.pack("<LL", int(facts.st_mtime) & 0xFFFFFFFF, facts.st_size & 0xFFFFFFFF)


def by_content(source: bytes) -> bytes:
    """The same, valid as long as the source holds the same."""
    return _BY_CONTENT + importlib.util.source_hash(source)


def start_of(path: Path) -> bytes:
    """As much of a file as such a header has; nothing where there is no file."""
    try:
        with path.open("rb") as file:
            return file.read(16 if _HAS_HASHES else 12)
    except OSError:
        return b""


def put(target: Path, data: bytes, partial: Path) -> None:
    """Write a file that others may read meanwhile, if it can be: it is only a cache."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        partial.replace(target)
    except OSError:
        pass


def code_of(path: str, source: bytes, cache: str, origins: "list[str]") -> bytes:
    """The marshalled code of a module, which goes to where the module may have been installed from."""
    name = hashlib.sha256(path.encode("utf-8", "surrogateescape") + b"\0" + source).hexdigest()
    known, partial = Path(cache, name[:2], name), Path(cache, f"{name}.{os.getpid()}")
    try:
        code = known.read_bytes()
    except OSError:
        code = marshal.dumps(compile(source, path, "exec", dont_inherit=True))
    kept = [origin for origin in origins if same(origin, source)]
    for origin in kept:
        put(Path(importlib.util.cache_from_source(origin)), by_content(source) + code, partial)
    if not kept and not known.exists():
        put(known, code, partial)
    return code


def same(path: str, source: bytes) -> bool:
    """Whether a file holds this."""
    try:
        return Path(path).stat().st_size == len(source) and Path(path).read_bytes() == source
    except OSError:
        return False


def settled(path: str, *, by_hash: bool, installed: bool) -> bool:
    """Whether a module has byte code, without a look into it; what uv brought gets the header that it should have."""
    folder, _, name = path.rpartition("/")
    # a file of a layer below is copied where it is opened to be written
    mode = os.O_RDWR if installed and not by_hash else os.O_RDONLY
    try:
        file = os.open(f"{folder}/__pycache__/{name[:-3]}{_SUFFIX}", mode)
    except OSError:
        return False
    try:
        header = by_time(Path(path).stat())
        there = os.read(file, len(header))
        if there == header:
            return True
        if not installed or there[: len(_BY_CONTENT)] != _BY_CONTENT or not _HAS_HASHES:
            return False
        if not by_hash:
            if os.fstat(file).st_nlink > 1:  # what uv keeps itself
                return False
            os.pwrite(file, header, 0)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(file)


def compiled(path: str, cache: str, by_hash: bool, origins: "list[str]") -> bool:
    """Give one module that is not settled its byte code; whether it has it now."""
    try:
        target = Path(importlib.util.cache_from_source(path))
        header, there = by_time(Path(path).stat()), start_of(target)
        source = Path(path).read_bytes()
        if _HAS_HASHES:
            hashed = by_content(source)
            if there == hashed:
                return True
            header = hashed if by_hash else header
        code = code_of(path, source, cache, origins)
        target.parent.mkdir(exist_ok=True)
        if there:
            target.unlink()  # it may be a link to what uv keeps
        target.write_bytes(header + code)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return False  # such as a template, or a module for another Python
    return True


def modules(folders: "list[str]", left_out: str, *, tidy: bool) -> "Iterator[str]":
    """All modules below folders; with `tidy`, byte code of other interpreters goes."""
    for folder in folders:
        for root, below, names in os.walk(folder):
            if tidy and root.endswith("/__pycache__"):
                for name in names:
                    if not name.endswith(_SUFFIX):
                        Path(root, name).unlink()
            below[:] = [name for name in below if tidy or name != "__pycache__"]
            for name in names:
                path = f"{root}/{name}"
                if name.endswith(".py") and not (left_out and re.search(left_out, path)):
                    yield path


class Origins:
    """Where uv keeps what it installed into a folder."""

    def __init__(self, folder: str, cache: str) -> None:
        self._site = str(next(Path(folder).glob("python*/site-packages"), folder)) + "/"
        self._kept: dict[str, list[str]] = {}
        there = {path.name for path in Path(self._site).glob("*.dist-info")}
        for wheel in Path(cache).glob("archive-v*/*") if _HAS_HASHES else ():
            names = [path.name for path in wheel.iterdir()]
            if not there.isdisjoint(names):
                for name in names:
                    self._kept.setdefault(name, []).append(str(wheel))

    def of(self, path: str) -> "list[str]":
        """The paths that a module may have there."""
        if not path.startswith(self._site):
            return []
        relative = path[len(self._site) :]
        return [f"{wheel}/{relative}" for wheel in self._kept.get(relative.split("/")[0], ())]


def main() -> None:
    """Read the arguments, compile."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--cache", required=True, help="uv's")
    parser.add_argument("--by-hash", action="store_true", help="valid wherever the source is the same, at any time")
    parser.add_argument("--except", dest="left_out", default="", help="a regular expression of paths")
    parser.add_argument("--installed", action="store_true", help="the folder is where uv installed wheels")
    asked = parser.parse_args()
    cache = Path(asked.cache, "goldseam-bytecode", sys.implementation.cache_tag + "-" + _MAGIC.hex())
    left_out = asked.left_out or (_UNUSED if asked.installed else "")
    found = list(modules(asked.folders, left_out, tidy=asked.installed))
    left = [path for path in found if not settled(path, by_hash=asked.by_hash, installed=asked.installed)]
    if not left:
        return
    origins: list[list[str]] = [[] for _ in left]
    if asked.installed:
        cache.mkdir(parents=True, exist_ok=True)
        kept = Origins(asked.folders[0], asked.cache)
        origins = [kept.of(path) for path in left]
    jobs = (left, [str(cache)] * len(left), [asked.by_hash] * len(left), origins)
    if len(left) < _FEW:
        done = list(map(compiled, *jobs))
    else:
        import concurrent.futures  # noqa: PLC0415 - it takes longer than few files

        with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            done = list(pool.map(compiled, *jobs, chunksize=50))
    if not all(done):
        print(f"{len(done) - sum(done)} of {len(found)} files do not compile")


if __name__ == "__main__":
    main()
