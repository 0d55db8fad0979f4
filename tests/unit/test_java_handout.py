"""What a test in Java hands out, by the program that it calls: run here."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from harness.core import process
from harness.languages.java.language import part

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")

RECORDER = """package goldseam;
final class Recorder {
    static boolean takes(int slot) { return true; }
    static void hand(int slot, String values, String raised) { System.out.println("[" + values + "]"); }
    static String quoted(String text, int most) { return '"' + text + '"'; }
}
"""


def handed(folder: Path, *calls: str) -> list[list[object]]:
    """What these calls of the hand-out tell."""
    body = "".join(f"Handout.{call};" for call in calls)
    enum = "enum Kind { ODD; static final Kind OTHER = ODD; }"
    main = f"public static void main(String[] none) throws Exception {{ {body} }}"
    text = f"import goldseam.*; class Main {{ {enum} {main} }}"
    sources = {"Handout.java": part("Handout.java"), "Recorder.java": RECORDER, "Main.java": text}
    for name, source in sources.items():
        (folder / name).write_text(source, encoding="utf-8")
    process.run(["javac", "-proc:none", "-d", folder, *(folder / name for name in sources)])
    return [json.loads(line) for line in process.run(["java", "-cp", folder, "Main"]).stdout.splitlines()]


def test_a_recording_tells_whether_a_number_was_boxed_and_which_constant_is_an_enums(tmp_path):
    told = handed(
        tmp_path,
        "boxed(0, Handout.of(3L), Handout.of((Object) 3L))",
        "boxed(0, Handout.of(3), Handout.of((Object) 3L))",
        "boxed(0, Handout.of(3), Handout.of(3))",
        "boxed(0, Handout.of((Object) null), Handout.of(3))",
        'values(0, Handout.constant("ODD", Kind.ODD), Handout.constant("OTHER", Kind.OTHER))',
    )
    are_primitive = [[value[1] for value in values] for values in told[:4]]
    assert are_primitive == [[False, False], [True, False], [True, True], [False, True]]
    assert [value[2][0] for value in told[4]] == ["e", "x"]


def test_what_has_its_own_way_to_be_searched_does_not_come_out_for_that(tmp_path):
    collection = "new java.util.ArrayList<Object>() {{ public boolean contains(Object o) {{ return {}; }} }}"
    told = handed(
        tmp_path,
        f"values(0, Handout.searched({collection.format('true')}))",
        "values(0, Handout.searched(new java.util.ArrayList<Object>() {}))",
        'values(0, Handout.searched("a"))',
        "values(0, Handout.searched(null))",
    )
    assert [value[2] for [value] in told] == [["x", "java.lang.Object"], ["l", []], ["s", "a"], None]


def test_a_collection_tells_whether_it_has_an_order_or_an_equality_of_its_own(tmp_path):
    by_case = 'new java.util.TreeSet<String>(String.CASE_INSENSITIVE_ORDER) { { add("a"); } }'
    odd = "new java.util.ArrayList<Object>() { public boolean equals(Object o) { return o == this; } }"
    own = "new java.util.ArrayList<Object>() { public boolean equals(Object o) { return super.equals(o); } }"
    broken = "new java.util.TreeMap<Integer, Integer>((a, b) -> 1) { { put(1, 2); } }"
    told = handed(
        tmp_path,
        *(f"values(0, Handout.of({made}))" for made in (by_case, odd, own, broken)),
        "values(0, Handout.of(new java.util.TreeSet<>(java.util.Collections.reverseOrder())))",
        'values(0, Handout.of(new java.util.TreeSet<String>((a, b) -> b.compareTo(a)) { { add("a"); } }))',
    )
    pair = [["i", "Integer", "1"], ["i", "Integer", "2"]]
    assert [value[2] for [value] in told] == [
        ["T", [["s", "a"]]], ["w", ["l", []]], ["l", []], ["w", ["M", [pair]]], ["t", []], ["t", [["s", "a"]]],
    ]  # fmt: skip


def test_each_of_two_has_to_equal_the_other_where_that_is_asked(tmp_path):
    lenient = "new Object() { public boolean equals(Object o) { return true; } }"
    told = handed(tmp_path, f'alike(0, Handout.of({lenient}), "a")', 'alike(0, "a", Handout.of("a"))')
    assert [values[-1] for values in told] == [False, True]


def test_a_formatter_of_dates_does_not_come_out_as_what_it_says(tmp_path):
    told = handed(
        tmp_path,
        "values(0, Handout.of(java.time.format.DateTimeFormatter.ISO_DATE))",
        "values(0, Handout.of(java.time.Year.of(2020)))",
    )
    assert [value[2][0] for [value] in told] == ["x", "n"]


def test_a_collection_of_a_library_is_searched_as_it_says_itself(tmp_path):
    own = "public class Own extends java.util.ArrayList<Object> { public boolean contains(Object o) { return true; } }"
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "Own.java").write_text(own, encoding="utf-8")
    process.run(["javac", "-proc:none", "-d", tmp_path / "lib", tmp_path / "lib" / "Own.java"])
    process.run(["jar", "--create", "--file", tmp_path / "own.jar", "-C", tmp_path / "lib", "Own.class"])
    loaded = (
        f'new java.net.URLClassLoader(new java.net.URL[] {{new java.net.URL("file:{tmp_path}/%s")}})'
        '.loadClass("Own").getConstructor().newInstance()'
    )
    told = handed(tmp_path, *(f"values(0, Handout.searched({loaded % place}))" for place in ("own.jar", "lib/")))
    assert [value[2][0] for [value] in told] == ["l", "x"]


def test_what_java_has_in_another_order_in_each_run_comes_out_in_one(tmp_path):
    listed = "java.util.Arrays.asList(5, 3, 4, 1, 2)"
    told = handed(
        tmp_path,
        f"values(0, Handout.of(java.util.Set.copyOf({listed})))",
        f"values(0, Handout.of({listed}))",
        "values(0, Handout.of(java.util.Map.of(2, 2, 3, 3, 1, 1)))",
    )
    assert [[item[2] for item in value[2][1]] for [value] in told[:2]] == [list("12345"), list("53412")]
    assert [key[2] for key, _ in told[2][0][2][1]] == list("123")


def test_a_collection_that_tells_another_size_or_does_not_find_what_is_in_it_comes_out_so(tmp_path):
    lost = "public Integer get(Object key) { return null; }"
    kept = "public Integer get(Object key) { return super.get(key); }"
    most = "public int size() { return 2; }"
    one = 'new java.util.HashMap<String, Integer>() {{ {{ super.put("a", 1); }} {} }}'
    listed = "new java.util.AbstractCollection<String>() {{ public java.util.Iterator<String> iterator() {{ {} }} {} }}"
    twice = 'return java.util.Arrays.asList("a", "a").iterator();'
    told = handed(
        tmp_path,
        *(f"values(0, Handout.of({one.format(own)}))" for own in (lost, kept, most)),
        "values(0, Handout.of(new java.util.IdentityHashMap<>(java.util.Collections.singletonMap(1, 2))))",
        "values(0, Handout.of(new java.util.IdentityHashMap<>()))",
        f"values(0, Handout.of({listed.format('return java.util.Collections.emptyIterator();', most)}))",
        f"values(0, Handout.of({listed.format(twice, most)}))",
    )
    tags = [(value[2][0], value[2][1][0] if value[2][0] == "w" else "") for [value] in told]
    assert tags == [("w", "M"), ("m", ""), ("x", ""), ("w", "M"), ("m", ""), ("w", "q"), ("q", "")]


def test_a_collection_that_takes_for_equal_what_is_not_comes_out_so_whatever_its_class(tmp_path):
    by_case = "new java.util.TreeSet<{}>({}) {{ {{ add({}); }} }}"
    of_text = by_case.format("String", "String.CASE_INSENSITIVE_ORDER", '"a"')
    of_letter = by_case.format("Character", "(a, b) -> Character.toLowerCase(a) - Character.toLowerCase(b)", "'a'")
    own = "public boolean containsKey(Object key) { return super.containsKey(key.toString().toLowerCase()); }"
    told = handed(
        tmp_path,
        f"values(0, Handout.of(java.util.Collections.unmodifiableSet({of_text})))",
        f"values(0, Handout.of({of_letter}))",
        f'values(0, Handout.of(new java.util.HashMap<String, Integer>() {{ {{ super.put("a", 1); }} {own} }}))',
        'values(0, Handout.of(new java.util.TreeSet<>(java.util.Arrays.asList(new java.math.BigDecimal("1.0")))))',
        'values(0, Handout.of(java.util.Collections.unmodifiableSet(new java.util.TreeSet<>(java.util.Set.of("a")))))',
        "values(0, Handout.of(new java.util.TreeSet<>(java.util.Set.of('a'))))",
    )
    assert [value[2][0] for [value] in told] == ["T", "T", "M", "T", "t", "t"]


def test_a_collection_that_tells_by_another_of_its_methods_what_it_does_not_give_does_not_come_out(tmp_path):
    of_list = 'new java.util.ArrayList<String>(java.util.Arrays.asList("a", "b")) {{ {} }}'
    of_map = 'new java.util.HashMap<String, Integer>(java.util.Collections.singletonMap("a", 1)) {{ {} }}'
    lists = (
        "public java.util.ListIterator<String> listIterator() { throw new UnsupportedOperationException(); }",
        "public boolean isEmpty() { return true; }",
        "public int size() { throw new UnsupportedOperationException(); }",
        'public Object[] toArray() { return new Object[] {"b", "a"}; }',
        "public java.util.stream.Stream<String> stream() { return java.util.stream.Stream.empty(); }",
        "public boolean contains(Object one) { return false; }",
    )
    maps = (
        "public boolean isEmpty() { return true; }",
        "public java.util.Set<String> keySet() { return new java.util.HashSet<>(); }",
        "public java.util.Collection<Integer> values() { return new java.util.ArrayList<>(); }",
        "public boolean containsValue(Object one) { return false; }",
    )
    odd = [*map(of_list.format, lists), *map(of_map.format, maps)]
    odd.append(f"java.util.Collections.unmodifiableList({of_list.format(lists[1])})")
    plain = [of_list.format(""), of_map.format(""), f"java.util.Collections.unmodifiableList({of_list.format('')})"]
    told = handed(tmp_path, *(f"values(0, Handout.of({made}))" for made in (*odd, *plain)))
    assert [value[2][0] for [value] in told] == [*("x" for _ in odd), "l", "m", "l"]


def test_a_locale_without_a_language_and_a_path_of_another_file_system_come_out_as_such(tmp_path):
    archive = f'java.nio.file.FileSystems.newFileSystem(java.net.URI.create("jar:file:{tmp_path}/a.zip"), {{}})'
    archive = archive.format('new java.util.HashMap<String, String>() {{ put("create", "true"); }}')
    made = ("java.util.Locale.ROOT", 'new java.util.Locale("", "", "x")', 'java.util.Locale.forLanguageTag("und-Latn")')
    paths = ('java.nio.file.Paths.get("/a")', f'{archive}.getPath("/a")')
    told = handed(tmp_path, *(f"values(0, Handout.of({one}))" for one in (*made, *paths)))
    assert told[0][0][2] == ["n", "java.util.Locale", ""]
    assert len({json.dumps(values) for values in told}) == len(told)
