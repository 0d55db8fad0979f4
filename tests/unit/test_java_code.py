"""What a change of Java's sources does to what runs."""

from __future__ import annotations

import pytest

from miner.languages.java.code import CODE

CODE_OF_A = b"""package a;
import java.util.List;
import java.util.Set;
class A {
    List<String> x(int a) throws Late { int b = 1; return f(b); }
}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import java.util.Set;\n", ""),
        ("int a", "final int a"),
        ("int b", "final int b"),
        ("    List<", "    @Override List<"),
        ("    List<", '    @SuppressWarnings("unchecked") @java.lang.Deprecated List<'),
        ("class A", "@Deprecated\nclass A"),
    ],
)
def test_what_only_the_compiler_heeds_makes_no_other_form(before, after):
    changed = CODE_OF_A.replace(before.encode(), after.encode())
    assert changed != CODE_OF_A
    assert CODE.form("A.java", changed) == CODE.form("A.java", CODE_OF_A)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import java.util.List;", "import b.List;"),
        ("java.util.Set", "java.util.*"),
        ("class A", "final class A"),
        ("    List<", "    final List<"),
        ("    List<", "    @Test List<"),
        ("throws Late", ""),
    ],
)
def test_what_tests_may_see_makes_another_form(before, after):
    changed = CODE_OF_A.replace(before.encode(), after.encode())
    assert CODE.form("A.java", changed) != CODE.form("A.java", CODE_OF_A)


def test_a_function_of_a_test_file_has_the_names_that_junit_gives_it():
    [name] = CODE.functions("PriceTest.java", b"class PriceTest { class In { @Test void reads() {} } }") or ()
    names = CODE.test_ids("src/PriceTest.java", name.replace(".", "::"))
    assert names == ("src/PriceTest.java::In::reads", "src/PriceTest.java::In::reads()")
