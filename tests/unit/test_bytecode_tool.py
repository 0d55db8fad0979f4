"""The program that makes byte code inside builds, by its cache."""

from __future__ import annotations

import importlib.util
import marshal
import os
import py_compile
import shutil
import sys
from pathlib import Path

import pytest

from harness.core import process

TOOL = Path(__file__).parents[2] / "miner/languages/python/images/tools/bytecode.py"


def make(folder: Path, cache: Path, *more: str) -> str:
    done = process.run([sys.executable, "-I", "-S", "-W", "ignore", TOOL, folder, "--cache", cache, *more])
    return done.stdout.decode()


def code_file(module: Path) -> Path:
    return Path(importlib.util.cache_from_source(str(module)))


def written(file: Path) -> tuple[int, ...]:
    """What changes when a file is written anew, and not when it is only read."""
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "lib/package/module.py"
    path.parent.mkdir(parents=True)
    path.write_text("value = 'wünsche'\n\n\ndef ask():\n    return value\n", encoding="utf-8")
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.mark.parametrize("by_hash", [False, True])
def test_it_is_what_the_interpreter_makes_itself(module: Path, cache: Path, *, by_hash: bool) -> None:
    mode = py_compile.PycInvalidationMode.CHECKED_HASH if by_hash else py_compile.PycInvalidationMode.TIMESTAMP
    py_compile.compile(str(module), invalidation_mode=mode)
    header, own = code_file(module).read_bytes()[:16], marshal.loads(code_file(module).read_bytes()[16:])
    code_file(module).unlink()
    assert make(module.parent, cache, *(["--by-hash"] if by_hash else [])) == ""
    made = code_file(module).read_bytes()
    assert made[:16] == header
    assert marshal.loads(made[16:]) == own


def test_what_was_compiled_once_comes_out_of_the_cache(module: Path, cache: Path) -> None:
    make(module.parent, cache)
    (kept,) = [path for path in cache.rglob("*") if path.is_file()]
    kept.write_bytes(marshal.dumps(compile("value = 'kept'", str(module), "exec")))
    shutil.rmtree(code_file(module).parent)
    os.utime(module, (1, 1))
    make(module.parent, cache)
    found = process.run([sys.executable, "-c", "import module; print(module.value)"], cwd=module.parent)
    assert found.stdout == b"kept\n"


def test_another_source_and_another_path_are_compiled_anew(module: Path, cache: Path) -> None:
    make(module.parent, cache)
    module.write_text("value = 2\n")
    shutil.copy(module, module.with_name("copy.py"))
    make(module.parent, cache)
    assert len([path for path in cache.rglob("*") if path.is_file()]) == 3
    assert b"value" in code_file(module).read_bytes()
    assert marshal.loads(code_file(module.with_name("copy.py")).read_bytes()[16:]).co_filename.endswith("copy.py")


@pytest.mark.parametrize("first", [(), ("--by-hash",)])
def test_byte_code_that_is_valid_is_left_alone(module: Path, cache: Path, first: tuple[str, ...]) -> None:
    make(module.parent, cache, *first)
    before = written(code_file(module))
    make(module.parent, cache, "--by-hash")
    make(module.parent, cache)
    assert written(code_file(module)) == before


def test_byte_code_by_hash_stays_valid_in_a_copy(module: Path, cache: Path, tmp_path: Path) -> None:
    make(module.parent, cache, "--by-hash")
    shutil.copytree(module.parent, tmp_path / "copy", copy_function=shutil.copyfile)
    code = "import sys, module; sys.exit(module.__spec__.cached != module.__cached__)"
    before = code_file(tmp_path / "copy/module.py").read_bytes()
    process.run([sys.executable, "-c", code], cwd=tmp_path / "copy")
    assert code_file(tmp_path / "copy/module.py").read_bytes() == before


def test_what_is_no_module_of_this_python_is_counted_and_the_rest_is_made(module: Path, cache: Path) -> None:
    module.with_name("old.py").write_text("print 'no'\n")
    module.with_name("nul.py").write_bytes(b"\0")
    module.with_name("gone.py").symlink_to("nowhere")
    assert make(module.parent, cache) == "3 of 4 files do not compile\n"
    assert code_file(module).exists()


def test_paths_can_be_left_out(module: Path, cache: Path) -> None:
    module.with_name("test_it.py").write_text("")
    make(module.parent, cache, "--except", r"/test_[^/]*[.]py$")
    assert [path.name.split(".")[0] for path in code_file(module).parent.iterdir()] == ["module"]


def test_a_cache_that_cannot_be_written_costs_time_only(module: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert make(module.parent, tmp_path / "cache") == ""
    assert code_file(module).exists()


def test_many_files_are_made_by_several_processes(module: Path, cache: Path) -> None:
    for number in range(300):
        module.with_name(f"part{number}.py").write_text(f"value = {number}\n")
    assert make(module.parent, cache) == ""
    assert len(list(code_file(module).parent.iterdir())) == 301


@pytest.fixture
def wheel(cache: Path) -> Path:
    """A distribution as uv keeps it."""
    folder = cache / "archive-v0/a1b2"
    (folder / "package/tests").mkdir(parents=True)
    (folder / "package/__init__.py").write_text("value = 1\n")
    (folder / "package/tests/test_it.py").write_text("value = 2\n")
    (folder / "package-1.dist-info").mkdir()
    (folder / "package-1.dist-info/RECORD").write_text("")
    return folder


def installed(wheel: Path, target: Path) -> Path:
    site = target / "python3/site-packages"
    shutil.copytree(wheel, site, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return site


def test_what_was_installed_has_its_byte_code_brought_along_the_next_time(wheel: Path, cache: Path, tmp_path: Path):
    first = installed(wheel, tmp_path / "first") / "package/__init__.py"
    make(tmp_path / "first", cache, "--installed", "--except", "/tests/")
    kept = code_file(wheel / "package/__init__.py")
    made = py_compile.compile(
        str(first), str(tmp_path / "c"), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
    )
    assert kept.read_bytes()[:16] == Path(str(made)).read_bytes()[:16]
    assert marshal.loads(kept.read_bytes()[16:]) == marshal.loads(code_file(first).read_bytes()[16:])
    assert not code_file(wheel / "package/tests/test_it.py").exists()
    assert list((cache / "goldseam-bytecode").rglob("*.pyc")) == []

    kept.write_bytes(kept.read_bytes()[:16] + marshal.dumps(compile("value = 'kept'", "kept", "exec")))
    second = installed(wheel, tmp_path / "second") / "package/__init__.py"
    make(tmp_path / "second", cache, "--installed", "--except", "/tests/")
    loaded = code_file(second).read_bytes()
    assert marshal.loads(loaded[16:]).co_consts[0] == "kept"
    assert loaded[:16] == Path(py_compile.compile(str(second), str(tmp_path / "t"))).read_bytes()[:16]


def test_a_module_that_differs_from_what_uv_keeps_has_byte_code_of_its_own(wheel: Path, cache: Path, tmp_path: Path):
    module = installed(wheel, tmp_path / "lib") / "package/__init__.py"
    module.write_text("value = 3\n")
    make(tmp_path / "lib", cache, "--installed")
    assert not code_file(wheel / "package/__init__.py").exists()
    assert marshal.loads(code_file(module).read_bytes()[16:]).co_consts[0] == 3


def test_what_uv_linked_is_not_written_to(wheel: Path, cache: Path, tmp_path: Path):
    installed(wheel, tmp_path / "first")
    make(tmp_path / "first", cache, "--installed")
    kept = code_file(wheel / "package/__init__.py")
    before = kept.read_bytes()
    site = tmp_path / "second/python3/site-packages"
    shutil.copytree(wheel, site, copy_function=os.link)
    make(tmp_path / "second", cache, "--installed")
    assert kept.read_bytes() == before
    assert code_file(site / "package/__init__.py").read_bytes()[16:] == before[16:]


def test_byte_code_of_other_interpreters_does_not_come_along(wheel: Path, cache: Path, tmp_path: Path):
    other = wheel / "package/__pycache__/__init__.cpython-27.pyc"
    other.parent.mkdir()
    other.write_bytes(b"")
    site = installed(wheel, tmp_path / "lib")
    make(tmp_path / "lib", cache, "--installed")
    assert [path.name for path in (site / "package/__pycache__").iterdir()] == [
        code_file(site / "package/__init__.py").name
    ]
    assert other.exists()
