"""What a trial compiles again of a module of which a patch changes some sources."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from harness.core import process
from harness.languages.java.language import part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Change = Callable[[Mapping[str, str | None]], tuple[bool, list[str]]]

pytestmark = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")

SOURCES = {
    "a/Price.java": "package a;\npublic class Price {\n    public static final int OFF = 1;\n"
    "    public int of(int cents) { return cents - OFF; }\n    private int half() { return 2; }\n"
    "    static class Part { int of() { return 3; } }\n}\n",
    "a/Shop.java": "package a;\nclass Shop { int sum() { return new Price().of(7); } }\n",
    "a/Sale.java": "package a;\nclass Sale extends Price { }\n",
    "a/Sign.java": "package a;\ninterface Sign { int up(); }\n",
    "a/Kind.java": "package a;\nenum Kind { ONE }\n",
    "b/Tax.java": "package b;\nclass Tax { static final int ALL = a.Price.OFF + 1; }\n",
    "b/Bill.java": "package b;\nclass Bill { int all = Tax.ALL; }\n",
    "d/Tag.java": "package d;\nclass Tag {\n    static final int K = 1;\n    static int at$() { return K; }\n"
    "    static int by() { return K; }\n}\n",
    "d/Mark.java": "package d;\nclass Mark extends Tag { }\n",
    "d/Uses.java": "package d;\nclass Uses { int k = Mark.K; }\n",
    "d/Costs.java": "package d;\nclass Costs { int a = Tag.at$(); }\n",
    "d/Words.java": 'package d;\nclass Words { String no = "/*"; int b = Tag.\\u0062y(); } // */\n',
    "d/Left.java": "package d;\ninterface Left { }\n",
    "d/Right.java": "package d;\ninterface Right { default int up() { return 1; } }\n",
    "d/Heir.java": "package d;\nclass Heir implements /* { */ Right, Left { }\n",
    "d/Pair.java": "package d;\nrecord Pair(int one, int other) { }\n",
    **{f"c/C{number}.java": f"package c;\nclass C{number} {{ }}\n" for number in range(9)},
}


QUICK = ("+IgnoreUnrecognizedVMOptions", "TieredStopAtLevel=1", "+UseSerialGC")


def javac(archive: str) -> list[str]:
    """A compiler that begins quickly, with an option for an archive of its own classes: half of what it takes."""
    return ["javac", *(f"-J-XX:{option}" for option in (*QUICK, archive)), "-proc:none"]


def compile_all(compiler: list[str], folder: str) -> None:
    process.run([*compiler, "-d", folder, *map(str, Path("src").rglob("*.java"))])


def write(sources: Mapping[str, str | None]) -> None:
    for name, text in sources.items():
        path = Path("src", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink() if text is None else path.write_text(text)


def classes(folder: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*.class")}


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    """The compiler's own classes, as the first call leaves them."""
    return tmp_path_factory.mktemp("javac") / "classes.jsa"


@pytest.fixture(scope="module")
def base(tmp_path_factory, archive) -> Path:
    """The sources with their classes."""
    folder = tmp_path_factory.mktemp("base")
    with contextlib.chdir(folder):
        write(SOURCES)
        compile_all(javac(f"ArchiveClassesAtExit={archive}"), "classes")
    return folder


@pytest.fixture
def change(base, archive, tmp_path, monkeypatch) -> Change:
    """Changes sources; whether only some were compiled, and which in each call.

    All classes are then as if all had been.
    """
    shutil.copytree(base, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    compiler = javac(f"SharedArchiveFile={archive}")
    driver, calls = part("driver.py"), list[str]()
    names: dict[str, Any] = {name.__name__: name for name in (os, re, shutil, tempfile)}
    names["subprocess"] = process.subprocess
    exec(driver[driver.index("def compiled") : driver.index("def compile_all")], names)
    exec(part("incremental.py"), names)
    compiled = names["compiled"]
    monkeypatch.setitem(
        names,
        "compiled",
        lambda argv, paths: calls.append(" ".join(Path(path).stem for path in paths)) or compiled(argv, paths),
    )

    def changed(sources: Mapping[str, str | None]) -> tuple[bool, list[str]]:
        before = classes("classes")
        write(sources)
        by_parts = [*compiler, "-classpath", "classes", "-sourcepath", "/nowhere", "-implicit:none"]
        module = SimpleNamespace(parts_javac=by_parts, sources=["src"], output="classes")
        well = names["compile_changed"](module, [f"src/{name}" for name in sources])
        if well:
            compile_all(compiler, "expected")
        assert classes("classes") == (classes("expected") if well else before)
        return well, calls

    return changed


PRICE = SOURCES["a/Price.java"]


@pytest.mark.parametrize(
    ("before", "after", "calls"),
    [
        ("cents - OFF", "cents", ["Price"]),
        ("int half", "long third", ["Price"]),
        ("cents - OFF", "new Object() { int x() { return 4; } }.x()", ["Price"]),
        ("OFF = 1", "OFF = 5", ["Price", "Price Tax", "Price Bill Tax"]),
        ("public int", "public final int", ["Price", "Price Sale Shop"]),
        ("static class Part { int of() { return 3; } }", "", ["Price"]),
    ],
    ids=["body", "private", "anonymous", "constant", "method", "nested"],
)
def test_what_may_see_a_change_is_compiled_with_it_and_nothing_else(change, before, after, calls):
    assert change({"a/Price.java": PRICE.replace(before, after)}) == (True, calls)


def test_a_new_source_is_compiled_alone(change):
    assert change({"c/New.java": "package c;\nclass New { }\n"}) == (True, ["New"])


@pytest.mark.parametrize(
    "sources",
    [
        {"a/Price.java": "class {"},
        {"a/Price.java": PRICE.replace("public int of", "protected int off")},  # its user can't be compiled any more
        {"a/Sign.java": "package a;\ninterface Sign { int up(); int down(); }\n"},
        {"a/Kind.java": "package a;\nenum Kind { ONE, TWO }\n"},
        {"a/Sale.java": "package a;\nclass Sale { }\n"},
        {"a/Sale.java": None},
        {f"c/C{number}.java": f"package c;\nclass C{number} {{ int x; }}\n" for number in range(12)},
        {"z/Own.java": "package a;\nclass Shop { int sum() { return 0; } }\n"},  # there are two of it now
        {"z/Own.java": "package a;\nclass Price { }\n"},
        {"d/Mark.java": "package d;\nclass Mark extends Tag { private int K; }\n"},  # and nobody else may use it
        {"d/Tag.java": SOURCES["d/Tag.java"].replace("at$", "on$")},
        {"d/Tag.java": SOURCES["d/Tag.java"].replace("by", "of")},
        {"d/Left.java": "package d;\ninterface Left { default int up() { return 2; } }\n"},
        {"d/Pair.java": "package d;\nrecord Pair(int other, int one) { }\n"},
    ],
    ids=[
        *("broken", "user", "abstract", "enum", "parent", "gone", "most", "twice", "twice-of-many"),
        *("hidden", "dollar", "escaped", "comment", "record"),
    ],
)
def test_all_is_compiled_where_a_change_may_be_seen_by_more_than_its_names_tell(change, sources):
    well, _ = change(sources)
    assert not well


def test_a_module_declaration_is_left_to_the_build():
    driver, names = part("driver.py"), dict[str, Any](os=os)
    exec(driver[driver.index("MODULE_INFO =") : driver.index("HANDOUT =")], names)
    exec(driver[driver.index("def is_source") : driver.index("def compile_product")], names)
    exec(driver[driver.index("def inside") : driver.index("def build")], names)
    module = SimpleNamespace(javac=["javac"], sources=["src"])
    told = [names["is_source"](module, f"src/{name}.java") for name in ("a/Price", "module-info", "a/package-info")]
    assert told == [True, False, True]


def test_images_that_were_made_before_compile_all():
    names: dict[str, Any] = {}
    exec(part("incremental.py"), names)
    assert not names["compile_changed"](SimpleNamespace(parts_javac=()), ["src/a/Price.java"])
