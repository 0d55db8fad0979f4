"""Assertions of base classes in Java, copied into test files that extend them."""

from __future__ import annotations

import pytest

from miner.languages.java.stripping import helpers
from miner.languages.java.stripping.borrowing import borrow, lend
from miner.languages.java.stripping.source import StrippedSource

BASE = """\
package money;

import static org.junit.Assert.*;
import java.util.List;
import other.Kind;

abstract class Base extends Root {
    private int secret;
    private List<String> secrets() { return null; }

    protected void assertPrice(String want, List<String> given) { assertEquals(want, price(given)); }
    protected void assertKind(Kind want) { assertEquals(want, kind()); }
    protected void assertSecret(int want) { assertEquals(want, secret); }
    protected void assertSecrets(int want) { assertEquals(want, secrets().size()); }
    protected void assertSame(int want) { super.assertSame(want); assertEquals(want, 3); }
    protected final void assertLast(int want) { assertEquals(want, last()); }
    protected void assertHere(int want) { assertEquals(want, here); }
    @Before public void prepared() { assertEquals(1, f()); }
    protected String price(List<String> given) { return Prices.of(given); }
}
"""
ROOT = """\
package money;

class Root {
    protected void assertRoot(int want) { org.junit.Assert.assertEquals(want, Prices.root()); }
    protected void assertPrice(String want, List<String> given) { fail("not this"); }
}
"""
TEST = """\
package money;

import org.junit.Test;
import mine.Kind;

public class OneTest extends Base {
    private int here;

    void assertPrice(String want) { super.assertPrice(want, null); }

    @Test public void one() {
        assertPrice("5 EUR");
        assertRoot(7);
    }
}
"""
OTHERS = [BASE.encode(), ROOT.encode()]


def test_methods_that_assert_are_copied_with_what_they_import_unless_they_mean_another_thing_there():
    text = borrow(TEST.encode(), OTHERS).decode()
    assert set(text.partition("import mine.Kind;")[2].partition("\n")[0].strip(" ;").split("; ")) == {
        "import static org.junit.Assert.*",
        "import java.util.List",
    }
    copied = text.rpartition("assertRoot(7);\n    }\n")[2]
    assert sorted(copied.replace("}\n}\n", "}\n").splitlines()) == [
        "protected void assertPrice(String want, List<String> given) { assertEquals(want, price(given)); }",
        "protected void assertRoot(int want) { org.junit.Assert.assertEquals(want, Prices.root()); }",
    ]
    assert "void assertPrice(String want) { assertPrice(want, null); }" in text


def test_what_they_expect_is_told_by_the_calls_in_the_file():
    source = StrippedSource(borrow(TEST.encode(), OTHERS), path="src/test/java/money/OneTest.java", first=0)
    sides = {slot.function: [side.static for side in slot.assertion.operands] for slot in source.slots}
    assert sides == {("assertPrice",): [True, False], ("assertRoot",): [True, False]}
    stripped = source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots})
    assert "5 EUR" not in stripped
    assert "7" not in stripped


@pytest.mark.parametrize(
    "test",
    [
        "class OneTest {}",
        "class OneTest extends Elsewhere {}",
        "package money; class OneTest extends Base { void broken( }",
        "class OneTest extends Base {}",  # without a package or an import that others could stand behind
    ],
)
def test_a_file_stays_that_extends_nothing_of_these_or_is_not_read(test):
    assert borrow(test.encode(), OTHERS) == test.encode()


def test_a_method_of_a_general_class_stays_and_classes_that_extend_each_other_end():
    general = b"package money; class Base<T> extends OneTest { void assertIt(T want) { assertEquals(want, f()); } }"
    test = b"package money; class OneTest extends Base<Integer> { }"
    assert borrow(test, [general, test]) == test


@pytest.mark.parametrize(("kind", "moves"), [("Kind", True), ("String", True), ("Beside", False)])
def test_a_method_of_another_package_is_copied_if_the_file_can_name_what_it_names(kind, moves):
    head = "package other; import all.Kind; public class Base { "
    base = f"{head}protected void assertIt({kind} want) {{ assertEquals(want, f()); }} }}".encode()
    test = b"package money; import other.Base; class OneTest extends Base { }"
    assert (borrow(test, [base]) != test) is moves


@pytest.mark.parametrize(("kind", "brings"), [("List", True), ("String", False)])
def test_a_whole_package_is_imported_for_a_name_that_nothing_else_explains(kind, brings):
    method = f"static void assertIt({kind} want) {{ assertEquals(want, f()); }}"
    base = f"package money; import java.util.*; class Base {{ {method} }}"
    text = borrow(b"package money; class OneTest extends Base { }", [base.encode()]).decode()
    assert "static void assertIt(" in text
    assert ("import java.util.*;" in text) is brings


def test_the_files_above_a_test_are_the_nearest_first():
    sources = {"a/money/OneTest.java": TEST, "a/money/Base.java": BASE, "a/money/Root.java": ROOT, "a/Other.java": ""}
    above = helpers.ancestors({path: text.encode() for path, text in sources.items()})
    assert above(TEST.encode()) == OTHERS


def test_what_a_file_declares_is_not_what_it_calls():
    source = (
        b"class A { void assertIt(int a) { } void b() { assertIt(3); if (c(1)) { } } int d(List<A> e) throws F { } }"
    )
    left = helpers.undeclared(source)
    assert left.count(b"assertIt(") == 1
    assert b"c(1)" in left
    assert b"d(" not in left


LENDER = """\
package all;

import static org.junit.Assert.*;
import java.util.List;

public final class Prices {
    private static final String UNIT = "EUR";

    @BeforeAll public static void prepared() { }
    public static void assertPrice(String want, Object price) { assertPrice(want, price, List.of()); }
    public static void assertPrice(String want, Object price, List<String> more) {
        assertNotNull(price);
        assertEquals(want, format(price));
    }
    private static String format(Object price) { return price + " " + UNIT + Prices.class.getName(); }
}
"""
CALLING = """\
package money;

import static all.Prices.assertPrice;
import all.Prices;

class OneTest {
    @Test void one() { assertPrice("5 EUR", f(5)); Prices.assertPrice("6 EUR", f(6)); }
}
"""


def lent(test: str = CALLING, lender: str = LENDER, known: tuple[str, ...] = ()) -> str:
    return lend(test.encode(), "a/OneTest.java", lender.encode(), known).decode()


def test_a_class_whose_static_methods_assert_is_copied_under_a_name_of_its_own():
    text = lent()
    name = text.partition("final class ")[2].partition(" ")[0]
    assert name.startswith("Prices_")
    assert f"import static money.{name}.assertPrice;" in text
    assert {"import java.util.List;", "import static org.junit.Assert.*;"} <= set(
        text.partition("class")[0].replace("; ", ";\n").split("\n")
    )
    assert f'assertPrice("5 EUR", f(5)); {name}.assertPrice("6 EUR", f(6));' in text
    assert f"{name}.class.getName()" in text
    assert "public final class" not in text
    assert "prepared" not in text
    assert text.index("OneTest") < text.index("final class")
    assert text.count("\n", 0, text.index("OneTest")) == CALLING.count("\n", 0, CALLING.index("OneTest"))


def test_what_is_expected_of_a_class_that_is_copied_goes_with_the_calls():
    source = StrippedSource(lent().encode(), path="src/test/java/money/OneTest.java", first=0)
    stripped = source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots})
    assert "5 EUR" not in stripped
    assert "6 EUR" not in stripped


@pytest.mark.parametrize(
    ("test", "lender", "known"),
    [
        (CALLING, LENDER, ("assertPrice",)),
        (CALLING.replace("assertPrice", "format"), LENDER, ()),
        (CALLING, LENDER.replace("static void", "void"), ()),
        (CALLING, LENDER.replace("class Prices", "class Prices extends Base"), ()),
        (CALLING, LENDER.replace("class Prices", "class Prices<T>"), ()),
        (CALLING, LENDER.replace("format(", "assertEquals("), ()),
        (CALLING.replace("import all.Prices;", "import java.awt.List;"), LENDER, ()),
        (CALLING.replace("package money;", ""), LENDER, ()),
        (CALLING.replace("OneTest {", "OneTest extends Prices {"), LENDER, ()),
        (CALLING.replace("all.Prices", "other.Prices"), LENDER, ()),
        (CALLING, "interface Prices { }", ()),
        (CALLING, "class Prices {", ()),
        ("class OneTest {", LENDER, ()),
    ],
    ids=[
        *("read where it is called", "asserts nothing", "not static", "extends another", "general", "hides JUnit's"),
        *(
            "another class of a name",
            "no package",
            "its base",
            "of another package",
            "no class",
            "not read",
            "not read itself",
        ),
    ],
)
def test_a_class_is_not_copied_that_is_not_needed_or_may_mean_something_else(test, lender, known):
    assert lent(test, lender, known) == test


STAR = "import static org.junit.jupiter.api.Assertions.*;\n"


def checks(text: str, package: str = "money", head: str = STAR) -> str:
    return f"package {package};\n{head}public class Checks {{ {text} }}\n"


ASSERTING = "public static void assertIt(Object want, String got) { assertNotNull(got); assertEquals(want, got); }"


@pytest.mark.parametrize(
    ("test", "lender", "beside"),
    [
        ("import all.Checks; class A { B }", checks(ASSERTING), ()),
        ("class A { B static class Checks { } }", checks(ASSERTING), ()),
        ("class A { B Object a = new Checks.Strict(); }", checks(f"static class Strict {{ }} {ASSERTING}"), ()),
        ("class A { B Object a = Checks.STRICT; }", checks(f'static final String STRICT = "a"; {ASSERTING}'), ()),
        ("import money.Checks.Strict; class A { B }", checks(f"static class Strict {{ }} {ASSERTING}"), ()),
        ("class A { B }", checks(f"static final Object STRICT = new Object(); {ASSERTING}"), ()),
        ("class A { B }", checks(f"private static int calls; {ASSERTING}"), ()),
        ("class A { B }", checks(f"static List<String> all = List.of(); {ASSERTING}"), ()),
        (
            "class A { B }",
            checks(f"private static final List<String> ALL = f(); static void a() {{ ALL.add(b); }} {ASSERTING}"),
            (),
        ),
        (
            "class A { B }",
            checks(f"private static final int[] ALL = {{1}}; static int[] a() {{ return ALL; }} {ASSERTING}"),
            (),
        ),
        (
            "class A { B }",
            checks(f"private static final Clock CLOCK = f(); static void a() {{ CLOCK.setTime(1); }} {ASSERTING}"),
            (),
        ),
        ("import static org.junit.Assert.*; class A { B }", checks(ASSERTING), ()),
        ("import static org.junit.Assert.assertNotNull; class A { B }", checks(ASSERTING), ()),
        (
            "import all.Checks; class A { B }",
            checks(ASSERTING.replace("want, got)", "want, Strings.clean(got))"), "all"),
            ("Strings",),
        ),
        ("import all.Checks; class A { B } class Strings { }", checks(f"Strings a; {ASSERTING}", "all"), ()),
        ("import all.*; class A { B }", checks(ASSERTING, "all"), ("Checks",)),
        ("import all.Checks; class A { B }", checks(f'Object a = f().getResource("a"); {ASSERTING}', "all"), ()),
    ],
    ids=[
        *("another of the name is imported", "a class of the file", "a class of it is named", "a field of it is named"),
        *("a class of it is imported", "what is one object", "a number that is set", "a list that is set"),
        *("a list that is filled", "an array that is handed out", "an object that is set"),
        *("all of another library", "a name of another library", "a class of the package", "another class of the file"),
        *("one of its own package", "a file beside it"),
    ],
)
def test_a_class_is_not_copied_whose_copy_would_mean_or_keep_something_else(test, lender, beside):
    text = f"package money;\n{test.replace('B', 'void b() { Checks.assertIt(1, f()); }')}".encode()
    assert lend(text, "a/A.java", lender.encode(), (), beside) == text


@pytest.mark.parametrize(
    "more",
    [
        'private static final Pattern BLANK = Pattern.compile(" "); static String a() { return BLANK.matcher(b).c(); }',
        'private static final List<String> ALL = List.of("a"); static int a() { return ALL.size(); }',
        "private static final Parser PARSER = new Parser(); static Object a(String b) { return PARSER.parse(b); }",
        'static final String WANT = "a"; int calls;',
        "private static class Shown { static final Shown ONE = new Shown(); } static Object a() { return Shown.ONE; }",
    ],
)
def test_a_class_is_copied_that_keeps_nothing_that_changes(more):
    text = f"package money;\n{STAR}class A {{ void b() {{ Checks.assertIt(1, f()); }} }}".encode()
    assert lend(text, "a/A.java", checks(f"{more} {ASSERTING}").encode()) != text


def test_a_class_is_copied_that_names_all_of_the_file_s_package_and_whose_methods_are_all_imported():
    head = "import static all.Checks.*; import static org.mockito.Mockito.*;"
    text = f"package money;\n{head} class A {{ void b() {{ assertIt(1, f()); }} }}".encode()
    lender = checks(f"Strings a; {ASSERTING}", "all", f"{STAR}import money.*;\n").encode()
    assert lend(text, "a/A.java", lender, (), ("Strings",)) != text


def test_imports_of_one_name_and_of_all_beside_it_are_the_same():
    head = "import static org.junit.jupiter.api.Assertions.assertNotNull; import static org.mockito.Mockito.*;"
    text = f"package money;\n{head} class A {{ void b() {{ Checks.assertIt(1, f()); }} }}".encode()
    assert lend(text, "a/A.java", checks(ASSERTING).encode()) != text


IT = "void assertIt(String want, String got) { assertEquals(want, norm(got)); }"


@pytest.mark.parametrize(
    ("test", "others"),
    [
        ("class A extends Base { }", [f"class Base {{ {IT} }}", f"class Base {{ {IT.replace('norm', 'f')} }}"]),
        ("class A extends Base { static String norm(Object a) { return a; } }", [f"class Base {{ {IT} }}"]),
        ("class A extends Base { String norm(String a) { return a; } }", [f"class Base {{ {IT} }}"]),
        (
            "class A extends Base { String norm(String a) { return a; } }",
            [f"class Base {{ {IT} String norm(Object a) {{ return a; }} }}"],
        ),
        ("class A extends Base { }", [f"class Base extends Root {{ @Override {IT} }}", f"class Root {{ {IT} }}"]),
        ("class A extends Base { }", ["class Base extends Root { int norm; }", f"class Root {{ int norm; {IT} }}"]),
        (
            "class A extends Base { }",
            ["class Base extends Root { static String norm(String a) { return a; } }", f"class Root {{ {IT} }}"],
        ),
    ],
    ids=[
        *("two of the name", "a static one hides it", "another one", "one that fits better"),
        *("overridden between", "a field between", "a static one between"),
    ],
)
def test_a_method_is_not_copied_that_would_call_or_be_something_else(test, others):
    if "int norm" in others[0]:
        others = [other.replace("norm(got)", "got + norm") for other in others]
    own = f"package money;\n{test}"
    sources = [f"package money;\n{STAR}{other}".encode() for other in others]
    assert borrow(own.encode(), sources) == own.encode()


def test_a_method_is_copied_that_calls_one_which_the_class_overrides():
    base = f"class Base {{ {IT} String norm(String a) {{ return a; }} }}"
    own = "package money;\nclass A extends Base { String norm(String a) { return a.trim(); } }"
    assert IT in borrow(own.encode(), [f"package money;\n{STAR}{base}".encode()]).decode()


def test_a_base_class_is_the_one_of_its_package():
    far = f"package far;\n{STAR}class Base {{ void assertIt(String a) {{ assertEquals(a, f()); }} }}".encode()
    near = far.replace(b"package far", b"package money").replace(b"f()", b"g()")
    for head, called in (("", "g()"), ("import far.Base; ", "f()"), ("import far.*; import far.Base; ", "f()")):
        own = f"package money; {head}class A extends Base {{ }}".encode()
        text = borrow(own, [near, far]).decode()
        assert f"assertEquals(a, {called});" in text
