"""From the ids of a row's lists, as a test runner's output gave them, to the ids of tests here."""

from __future__ import annotations

import pytest

from miner.importing.ids import KnownIds, Way, file_of

KNOWN = KnownIds(
    [
        "tests/test_a.py::test_plain",
        "tests/test_a.py::TestA::test_in_class",
        "tests/test_a.py::test_param[a b-c]",
        "tests/test_a.py::test_param[a d]",
        "tests/test_a.py::test_param[\\n  x]",
        "tests/test_a.py::test_path[/testbed/tests/data/x.zip]",
        "tests/test_b.py::test_plain",
        "tests/deep/test_c.py::Case::test_old",
    ]
)


def mapped(given: str) -> tuple[Way, list[str]]:
    found = KNOWN.map(given)
    return found.way, [one.rpartition("::")[2] for one in found.ours]


def test_an_id_of_ours_is_taken_as_it_is():
    assert mapped("tests/test_a.py::TestA::test_in_class") == (Way.SAME, ["test_in_class"])


def test_an_id_of_an_old_pytest_is_the_one_that_it_prints():
    known = KnownIds(["t.py::TestA::()::test_a", "t.py::TestA::()::test_b[x y]"])
    assert known.map("t.py::TestA::test_a").ours == ("t.py::TestA::()::test_a",)
    assert known.map("t.py::TestA::test_b[x").ours == ("t.py::TestA::()::test_b[x y]",)


def test_an_id_cut_at_a_space_stands_for_every_test_it_is_the_beginning_of():
    assert mapped("tests/test_a.py::test_param[a") == (Way.TRUNCATED, ["test_param[a b-c]", "test_param[a d]"])


def test_an_id_cut_after_an_escape_stands_for_one_test():
    assert mapped("tests/test_a.py::test_param[\\n") == (Way.TRUNCATED, ["test_param[\\n  x]"])


def test_an_id_that_ends_inside_a_word_is_not_taken_for_a_cut_one():
    assert mapped("tests/test_a.py::test_par") == (Way.UNKNOWN, [])
    assert mapped("tests/test_a.py::test_path[/test") == (Way.UNKNOWN, [])


def test_a_path_cut_down_to_its_name_stands_for_the_whole_path():
    assert mapped("tests/test_a.py::test_path[/x.zip]") == (Way.SHORTENED, ["test_path[/testbed/tests/data/x.zip]"])


def test_a_bare_name_stands_for_every_function_of_that_name():
    way, _ = mapped("test_plain")
    assert (way, KNOWN.map("test_plain").ours) == (
        Way.NAMED,
        ("tests/test_a.py::test_plain", "tests/test_b.py::test_plain"),
    )


@pytest.mark.parametrize(
    "given", ["test_old (tests.deep.test_c.Case)", "test_old (deep.test_c.Case)", "test_old (test_c.Case.test_old)"]
)
def test_unittests_way_of_naming_a_test_is_understood(given):
    assert mapped(given) == (Way.NAMED, ["test_old"])


def test_unittests_way_of_naming_a_test_of_another_module_is_not_confused():
    assert mapped("test_old (other.Case)") == (Way.UNKNOWN, [])


@pytest.mark.parametrize(
    "given", ["[100%]", "", "PASSED", "[", "A sentence of a docstring.", "tests/test_a.py", "-", "99"]
)
def test_what_else_a_runner_prints_is_no_id(given):
    assert mapped(given) == (Way.NOT_AN_ID, [])


@pytest.mark.parametrize("given", ["tests/gone.py::test_x", "test_gone", "tests/test_a.py::test_param[zz]"])
def test_an_id_that_no_test_has_is_unknown(given):
    assert mapped(given) == (Way.UNKNOWN, [])


TITLED = KnownIds(
    [
        "tests/a.js::rule > valid > var a = 1;  b",
        "tests/a.js::rule > valid > twice",
        "tests/a.js::rule > valid > twice #2",
        "tests/b.js::rule > valid > twice",
    ]
)


def test_titles_as_a_runner_of_javascript_prints_them_stand_for_the_tests_that_have_them():
    assert TITLED.map("rule valid var a = 1; b:").ours == ("tests/a.js::rule > valid > var a = 1;  b",)
    found = TITLED.map("rule valid twice")
    assert (found.way, len(found.ours)) == (Way.TITLED, 3)
    assert TITLED.map("rule valid gone").way is Way.NOT_AN_ID


def test_a_file_of_javascript_stands_for_its_tests():
    found = TITLED.map("tests/a.js")
    assert (found.way, len(found.ours)) == (Way.FILE, 3)
    assert file_of("tests/a.js") == "tests/a.js"
    assert file_of("tests/test_a.py") is None
    assert file_of("rule valid a/b.js") is None


def test_titles_that_are_cut_at_a_space_are_the_one_test_that_begins_with_them():
    known = KnownIds(
        ["a.js::rule > wrong > a => { /* b */ c }", "a.js::rule > wrong > a", "a.js::rule > right > b c", "t.py::x > y"]
    )
    cut = known.map("rule wrong a => { /* b */:")
    assert (cut.way, cut.ours) == (Way.TRUNCATED, ("a.js::rule > wrong > a => { /* b */ c }",))
    assert [known.map(row).ours for row in ("rule wrong", "rule wrong a => { /", "x", ":")] == [()] * 4


SEVERAL = KnownIds(
    [
        "money/money_test.go::TestPrice",
        "money/money_test.go::TestPrice/a_half",
        "src/lib.rs::de::tests::empty",
        "tests/regression.rs::issue979::test",
        "tests/cli.rs::works",
    ]
)


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("TestPrice", "money/money_test.go::TestPrice"),
        ("TestPrice/a_half", "money/money_test.go::TestPrice/a_half"),
        ("de::tests::empty", "src/lib.rs::de::tests::empty"),
        ("issue979::test", "tests/regression.rs::issue979::test"),
        ("works", "tests/cli.rs::works"),
    ],
)
def test_names_that_go_and_cargo_print_stand_for_their_tests(given, ours):
    assert SEVERAL.map(given).ours == (ours,)


@pytest.mark.parametrize("given", ["TestGone", "TestPrice/gone", "de::tests::gone", "gone(acme.OldTest)"])
def test_a_name_of_go_rust_or_java_that_no_test_has_is_unknown(given):
    assert SEVERAL.map(given).way is Way.UNKNOWN


_TESTS = "core/src/test/java/acme/"
JAVA = KnownIds(
    [
        f"{_TESTS}FooTest.java::half()",
        f"{_TESTS}FooTest.java::old",
        f"{_TESTS}FooTest.java::Inner::deep()",
        f"{_TESTS}FooTest.java::sum()",
        f"{_TESTS}FooTest.java::sum(int, java.lang.String)[1]",
        f"{_TESTS}FooTest.java::sum(int, java.lang.String)[2]",
        f"{_TESTS}OldTest.java::rows[0]",
        f"{_TESTS}OldTest.java::rows[1]",
        f"{_TESTS}BothTest.java::acme.BothTest$Rows::[row=1]::name[row=1](acme.BothTest$Rows)",
        "src/test/kotlin/acme/PriceTest.kt::names are nice()",
        "src/test/groovy/acme/PriceSpec.groovy::of #n it is #price[0]",
        "web/src/test/java/other/FooTest.java::half()",
    ]
)


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("acme.FooTest.half", ["half()"]),
        ("acme.FooTest#half", ["half()"]),  # as `mvn -Dtest` is given it
        ("acme.FooTest:half", ["half()"]),
        ("acme.FooTest > half", ["half()"]),
        ("acme.FooTest > half()", ["half()"]),
        ("half(acme.FooTest)", ["half()"]),
        ("FooTest.half", ["half()", "half()"]),  # of two packages
        ("FooTest > half()", ["half()", "half()"]),
        ("half", ["half()", "half()"]),
        ("FooTest > old()", ["old"]),
        ("acme.FooTest$Inner.deep", ["deep()"]),
        ("acme.FooTest$Inner > deep()", ["deep()"]),
        ("FooTest > Inner > deep()", ["deep()"]),
        ("FooTest.sum()", ["sum()"]),
        ("acme.FooTest.sum(int, String)", ["sum(int, java.lang.String)[1]", "sum(int, java.lang.String)[2]"]),
        ("acme.FooTest.sum(int, String)[2]", ["sum(int, java.lang.String)[2]"]),
        ("acme.FooTest.sum{int, String}[2]", ["sum(int, java.lang.String)[2]"]),
        ("FooTest > sum(int, String) > [2] 3, three", ["sum(int, java.lang.String)[2]"]),
        ("FooTest.sum[1]", ["sum(int, java.lang.String)[1]"]),
        ("FooTest.sum", ["sum()", "sum(int, java.lang.String)[1]", "sum(int, java.lang.String)[2]"]),
        ("acme.OldTest.rows[1]", ["rows[1]"]),
        ("rows[1](acme.OldTest)", ["rows[1]"]),
        ("acme.OldTest > rows", ["rows[0]", "rows[1]"]),
        ("acme.BothTest$Rows.name[row=1]", ["name[row=1](acme.BothTest$Rows)"]),
        ("acme.PriceTest.names are nice()", ["names are nice()"]),
        ("PriceSpec > of #n it is #price[0]", ["of #n it is #price[0]"]),
    ],
)
def test_a_method_as_runners_of_java_print_it_stands_for_its_tests(given, ours):
    found = JAVA.map(given)
    assert (found.way, [one.rpartition("::")[2] for one in found.ours]) == (Way.NAMED, ours)


@pytest.mark.parametrize(("given", "count"), [("acme.OldTest", 2), ("FooTest", 7), ("acme.FooTest$Inner", 1)])
def test_a_class_of_java_stands_for_its_tests(given, count):
    found = JAVA.map(given)
    assert (found.way, len(found.ours)) == (Way.FILE, count)


@pytest.mark.parametrize(
    "given", ["acme.FooTest.gone", "other.OldTest.rows", "FooTest > sum(long)", "half(other.OldTest)"]
)
def test_a_method_of_another_class_package_or_list_of_parameters_is_not_confused(given):
    assert JAVA.map(given).way is Way.UNKNOWN


@pytest.mark.parametrize("given", ["BUILD SUCCESS", "> Task :test", "ok  acme/money 0.01s", "Tests run: 3"])
def test_what_else_go_cargo_maven_and_gradle_print_is_no_id(given):
    assert JAVA.map(given).way is Way.NOT_AN_ID
