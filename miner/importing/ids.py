"""From the ids of a row's lists to the ids of tests here. Pure.

SWE-bench reads its ids from what test runners print, so they come cut at a space, with shortened paths, as bare names,
or are no ids at all (its parsers are in `swebench/harness/log_parsers/`). Each rule here undoes one of these and
nothing else; an id that is one of ours is taken as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from harness.core.test_ids import ORDINAL, has_titles, stable

_NODE = re.compile(r"[^\s:]+\.\w+::\S.*", re.DOTALL)
"""`path/file.py::…`, as pytest names a test."""
_UNITTEST = re.compile(r"(\w+) \(([\w.]+)\)")
"""`test_x (package.module.Class)`, as unittest names one; from Python 3.11 on the test stands in the brackets too."""
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\[.*)?", re.DOTALL)
"""A function alone, as some runners name a test."""
_FILE = re.compile(r"(?:[\w.@-]+/)+[\w.@-]+\.\w+")
_UNSEEN = re.compile(
    r"(?:\w+::)+\w+|(?:Test|Example|Fuzz)\w*/\S+"
    r"|(?:[\w$-]+[.:])*(?:Test\w*|\w+(?:Tests?|TestCase|IT|Spec))(?:\$\w+)*(?: > |[.#:])\S.*"
    r"|[^\s(]+\((?:\w+\.)+[\w$]+\)",
    re.DOTALL,
)
"""A test of Rust, a subtest of Go, a method of Java or one in surefire's old way, by its looks."""
_JAVA = (".java", ".kt", ".groovy")
_PARAMETERS = re.compile(r"[({]([\w.$<>\[\], ]*)[)}](?=\[|$)")
_PACKAGE = re.compile(r"[\w.$]+[.$](?=\w)")
_GRADLE_ROW = re.compile(r" > \[(\d+)\].*", re.DOTALL)
"""A row as Gradle shows it behind its method: `FooTest > sum(int, int) > [2] 3, 4`."""
_SUREFIRE = re.compile(r"([^\s.#:>(]+)\(((?:\w+\.)*[\w$]+)\)")
"""`method(package.Class)`, as surefire before 3 and JUnit 4 name a test."""
_ENCLOSED = re.compile(r"(?P<type>[\w.]+\$(?P<inner>[\w$]+))::(?:\[.*?\]::)?(?P<name>.*)\((?P=type)\)")
"""A test of a class that JUnit 4 runs as one enclosed in another, as ids here have it."""
_JOINTS = re.compile(r" > |::|[#$:]")
_METHOD = re.compile(r"(?P<name>.*?)(?P<parameters>\([^()]*\))?(?P<row>\[.*\])?", re.DOTALL)
_SHOWN = ".py"
"""Files that pytest shows as it goes on: their names are no ids."""


class Way(StrEnum):
    """How an id of a row leads to ids here."""

    SAME = "same"
    TRUNCATED = "truncated"
    """It was cut at a space: every id here that begins with it and a space is meant."""
    SHORTENED = "shortened"
    """A path in its parameter was cut down to the file's name."""
    NAMED = "named"
    """It is the name of a function, or a way of unittest's, surefire's or Gradle's to name one."""
    TITLED = "titled"
    """It is the titles around a test and its own, as a runner prints them, without the file."""
    FILE = "file"
    """It is a file, or a class of Java: every test in it is meant."""
    UNKNOWN = "unknown"
    """It looks like an id, and no test here is called so."""
    NOT_AN_ID = "not_an_id"
    """It is something else that a test runner printed, such as `[100%]`."""


@dataclass(frozen=True, kw_only=True)
class Mapped:
    """What an id of a row stands for."""

    row_id: str
    way: Way
    ours: tuple[str, ...] = ()
    """Ids of tests here, sorted; more than one only where the row's id does not tell them apart."""


_INSTANCE = "::()"
"""What pytest before 4.0 puts behind a class in its ids, and leaves out wherever it prints them."""


class KnownIds:
    """The ids of all tests that were seen here, ready to be looked up."""

    def __init__(self, ids: Collection[str]) -> None:
        self._ids = {printed(test_id): test_id for test_id in ids}
        self._by_name: dict[str, list[str]] = {}
        self._by_short: dict[str, list[str]] = {}
        self._by_dotted: dict[str, list[tuple[str, str]]] = {}
        self._parametrised: dict[str, list[str]] = {}
        self._by_titles: dict[str, list[str]] = {}
        self._by_file: dict[str, list[str]] = {}
        self._by_method: dict[str, list[str]] = {}
        self._by_class: dict[str, list[str]] = {}
        for test_id in sorted(self._ids):
            whole, _, _ = test_id.partition("[")
            path, *names = whole.split("::")
            if not names:
                continue
            titles = ORDINAL.sub("", test_id.partition("::")[2]).replace(" > ", " ")
            self._by_titles.setdefault(_titles(titles), []).append(test_id)
            if path.endswith(_JAVA):
                for method in dict.fromkeys(_java_methods(path, titles)):
                    self._by_method.setdefault(method, []).append(test_id)
                for called in _java_classes(path, titles):
                    self._by_class.setdefault(called, []).append(test_id)
            self._by_file.setdefault(path, []).append(test_id)
            self._by_name.setdefault(test_id[test_id.rfind("::", 0, len(whole)) + 2 :], []).append(test_id)
            dotted = ".".join([re.sub(r"\.\w+$", "", path).replace("/", "."), *names])
            self._by_dotted.setdefault(names[-1], []).append((dotted, test_id))
            if "[" in test_id:
                self._parametrised.setdefault(whole, []).append(test_id)
                self._by_short.setdefault(_shortened(test_id), []).append(test_id)

    def map(self, row_id: str) -> Mapped:
        """What one id of a row stands for here."""
        for spelling in (row_id, stable(row_id)):  # of an object's address nothing is left here
            if spelling in self._ids:
                return Mapped(row_id=row_id, way=Way.SAME, ours=(self._ids[spelling],))
        way, ours = self._of_pytest(row_id)
        if not ours:
            way, ours = next(((other, found) for other, found in self._of_others(row_id) if found), (way, []))
        if not ours and (way is not Way.NOT_AN_ID or _UNSEEN.fullmatch(row_id)):
            way = Way.UNKNOWN
        return Mapped(row_id=row_id, way=way, ours=tuple(self._ids[our] for our in ours))

    def _of_pytest(self, row_id: str) -> tuple[Way, list[str]]:
        """What an id stands for as pytest, unittest or a function's name has it."""
        unittest = _UNITTEST.fullmatch(row_id)
        if _NODE.fullmatch(row_id):
            return self._node(row_id)
        if unittest:
            return Way.NAMED, self._unittest(unittest[1], unittest[2])
        ours = self._by_name.get(row_id, []) if _NAME.fullmatch(row_id) else []
        is_name = ours or (_NAME.fullmatch(row_id) and _looks_like_a_test(row_id))
        return Way.NAMED if is_name else Way.NOT_AN_ID, ours

    def _of_others(self, row_id: str) -> Iterator[tuple[Way, list[str]]]:
        """What an id stands for as a method or class of Java, by its titles, or as a file."""
        dotted = _dotted(row_id)
        yield Way.NAMED, self._by_method.get(dotted, [])
        yield Way.FILE, self._by_class.get(dotted, [])
        yield Way.TITLED, self._by_titles.get(_titles(row_id), [])
        yield Way.TRUNCATED, self._begun(_titles(row_id))
        yield Way.FILE, [] if row_id.endswith(_SHOWN) else self._by_file.get(row_id, [])

    def _begun(self, cut: str) -> list[str]:
        """The tests of JavaScript whose titles begin with a text, up to a space, where these titles are the same."""
        begun = [
            test_ids
            for titles, test_ids in self._by_titles.items()
            if titles.startswith(f"{cut} ") and has_titles(test_ids[0])
        ]
        return begun[0] if len(begun) == 1 and cut else []

    def _node(self, row_id: str) -> tuple[Way, list[str]]:
        whole, bracket, _ = row_id.partition("[")
        if not bracket:
            return Way.UNKNOWN, []
        if cut := [
            parametrised
            for parametrised in self._parametrised.get(whole, ())
            if re.match(re.escape(row_id) + r"\s", parametrised)
        ]:
            return Way.TRUNCATED, cut
        return Way.SHORTENED, self._by_short.get(row_id, [])

    def _unittest(self, name: str, place: str) -> list[str]:
        suffix = place if place.endswith(f".{name}") else f"{place}.{name}"
        pairs = self._by_dotted.get(name, ())
        return [test_id for dotted, test_id in pairs if dotted == suffix or dotted.endswith(f".{suffix}")]


def _titles(text: str) -> str:
    """Titles as they compare: without repeated white space, and the colon that parsers leave behind the last."""
    return " ".join(text.split()).removesuffix(":").rstrip()


def _dotted(name: str) -> str:
    """A name of Java's as it compares: with a dot for each runner's own sign, and types without packages."""
    if surefire := _SUREFIRE.fullmatch(name):
        name = f"{surefire[2]}.{surefire[1]}"
    name = _GRADLE_ROW.sub(r"[\1]", name)
    name = _PARAMETERS.sub(lambda match: f"({_PACKAGE.sub('', match[1])})", name)
    return _JOINTS.sub(".", name)


def _java_methods(path: str, test: str) -> Iterator[str]:
    """What a test of Java goes by: from any of its packages and classes on, with parameters and row or without."""
    enclosed = _ENCLOSED.fullmatch(test)
    test = f"{enclosed['inner']}::{enclosed['name']}" if enclosed else test
    method = _METHOD.fullmatch(_dotted(test))
    if method is None:
        return
    names = f"{_java_class(path)}.{method['name']}".split(".")
    for start in range(len(names)):
        name = ".".join(names[start:])
        for row in ("", method["row"] or ""):
            yield name + row
            yield f"{name}{method['parameters'] or '()'}{row}"


def _java_classes(path: str, test: str) -> Iterator[str]:
    """What the classes around a test of Java go by, from any of their packages on."""
    whole = _java_class(path).split(".")
    *inner, _ = test.partition("(")[0].partition("[")[0].split("::")
    for nested in range(len(inner) + 1):
        for start in range(len(whole)):
            yield ".".join([*whole[start:], *inner[:nested]])


def _java_class(path: str) -> str:
    return path.rpartition(".")[0].replace("/", ".")


def _shortened(test_id: str) -> str:
    """An id as SWE-bench writes it where the parameter is a path: `test[/a/b/c.py]` is `test[/c.py]` there."""
    whole, _, option = test_id.partition("[")
    option = option.removesuffix("]")
    if option.startswith("/") and not option.startswith("//") and "*" not in option:
        return f"{whole}[/{option.rsplit('/', 1)[-1]}]"
    return test_id


def _looks_like_a_test(name: str) -> bool:
    return name.partition("[")[0].rpartition(".")[2].lower().startswith("test")


def printed(test_id: str) -> str:
    """An id here as pytest prints it."""
    whole, bracket, option = test_id.partition("[")
    return whole.replace(_INSTANCE, "") + bracket + option


def file_of(test_name: str) -> str | None:
    """The file that an id of a row names, where it is of the form `path::…`, or may be a file itself."""
    if _NODE.fullmatch(test_name):
        return test_name.split("::", 1)[0]
    return test_name if _FILE.fullmatch(test_name) and not test_name.endswith(_SHOWN) else None
