"""What is left of a test file in Java, and what is taken out of it."""

from __future__ import annotations

import re

import pytest

from miner.languages.base import Mode
from miner.languages.java.stripping import helpers, literals, sites
from miner.languages.java.stripping.source import StrippedSource

FOUR = "import static org.junit.Assert.*;\nimport java.util.*;\nimport org.junit.Assert;\nimport org.junit.Test;\n"
FIVE = "import static org.junit.jupiter.api.Assertions.*;\nimport java.math.BigDecimal;\nimport java.util.List;\n"
TAKEN = re.compile(
    r"\{ try \{ goldseam\.Handout\.(\w+)\((\d+)(.*?)\); \} catch \(Throwable goldseamRaised\) \{[^}]*\} (\n*)\}",
    re.DOTALL,
)


def parsed(text: str) -> StrippedSource:
    return StrippedSource(text.encode(), path="src/test/java/money/ATest.java", first=0)


def best(source: StrippedSource) -> dict[int, Mode]:
    return {slot.number: slot.assertion.modes[0] for slot in source.slots}


def in_class(text: str, head: str = FIVE) -> str:
    return f"package money;\n{head}\nclass ATest {{\n{text}\n}}\n"


def in_method(body: str, head: str = FIVE) -> str:
    return in_class(f"@Test void a() {{\n{body}\n}}", head)


def shortened(text: str) -> str:
    """With each hand-out as `<SLOT: OPERANDS>`."""
    text = TAKEN.sub(r"<\1 \2\3>\4", text).replace("<values ", "<")
    return text.replace(", goldseam.Handout.of(", " | ").replace(")>", ">").replace(") | ", " | ")


def stripped(text: str) -> str:
    source = parsed(text)
    return source.stripped(best(source))


def left(body: str, head: str = FIVE) -> str:
    text = stripped(in_method(body, head)).partition("@Test void a() {\n")[2].rpartition("\n}\n}\n")[0]
    return shortened(text)


@pytest.mark.parametrize(
    ("head", "body", "wanted", "op"),
    [
        (FIVE, "assertEquals(3, f(1));", "<0 | f(1)>", "java.equals"),
        (FIVE, 'assertEquals("a", f(1), "message");', "<0 | f(1)>", "java.equals"),
        (FIVE, 'assertEquals("a", f(1), () -> "message");', "<0 | f(1)>", "java.equals"),
        (FIVE, "assertEquals(0.5, f(1), 0.01);", "<0 | f(1)>", "java.near"),
        (FIVE, "assertEquals(List.of(1, -2), f(1));", "<0 | f(1)>", "java.equals"),
        (FIVE, 'assertEquals(new BigDecimal("1.0"), f(1));', "<0 | f(1)>", "java.equals"),
        (FIVE, "assertEquals(f(1), g(2));", "<0 | f(1) | g(2)>", "java.equals"),
        (FIVE, "assertNotEquals(3, f(1));", "<0 | f(1)>", "java.equals"),
        (FIVE, "assertArrayEquals(new int[] {1, 2}, f(1));", "<0 | f(1)>", "java.arrays"),
        (FIVE, "assertIterableEquals(List.of(1), f(1));", "<0 | f(1)>", "java.items"),
        (FIVE, "assertTrue(f(1));", "<0 | f(1)>", "java.truth"),
        (FIVE, 'assertTrue(f(1), "message");', "<0 | f(1)>", "java.truth"),
        (FIVE, "assertFalse(f(1) == 3);", "<0 | f(1)>", "java.same"),
        (FIVE, "assertTrue(f(1) > 3);", "<0 | f(1)>", "java.>"),
        (FIVE, 'assertTrue("a".equals(f(1)));', "<0 | f(1)>", "java.equals"),
        (FIVE, 'assertTrue(!f(1).startsWith("a"));', "<0 | f(1)>", "java.starts"),
        (FIVE, 'assertTrue(f(1).contains("a"));', "<0 | goldseam.Handout.searched(f(1))>", "java.contains"),
        (FIVE, "assertNull(f(1));", "<0 | f(1)>", "java.null"),
        (FIVE, 'assertNotNull(f(1), "message");', "<0 | f(1)>", "java.null"),
        (FIVE, "assertSame(f(1), f(1));", "<0 | f(1) | f(1)>", "java.same"),
        (FIVE, "assertAll(() -> assertEquals(3, f(1)));", "assertAll(() -> <0 | f(1)>);", "java.equals"),
        (FIVE, "assertInstanceOf(A.class, f(1));", "<0 | f(1)>", "java.kind"),
        (FIVE, "if (x) assertEquals(3,\n  f(1));", "if (x) <0 | f(1)>\n", "java.equals"),
        (FOUR, 'assertEquals("message", 3, f(1));', "<0 | f(1)>", "java.equals"),
        (FOUR, "Assert.assertEquals(why(), 3L, f(1));", "<0 | f(1)>", "java.equals"),
        (FOUR, 'org.junit.Assert.assertEquals("message", 3.5, f(1), 1e-3);', "<0 | f(1)>", "java.near"),
        (FOUR, "assertEquals(3.5, f(1), 0);", "<0 | f(1)>", "java.near"),
        (FOUR, 'assertTrue("message", f(1));', "<0 | f(1)>", "java.truth"),
        (FOUR, 'assertNull("message", f(1));', "<0 | f(1)>", "java.null"),
        (FIVE, "assertEquals(3, f(1), Arrays.toString(f(1)));", "<0 | f(1)>", "java.equals"),
        (FIVE, 'assertTrue(f(1).matches("a+"));', "<0 | f(1)>", "java.matches"),
        (FIVE, "assertEquals(1, A.class.getConstructors().length);", "<0 | A.class.getConstructors().length>",
         "java.equals"),
        (FIVE, 'if (f(1) != 3) fail("not 3");', "<0 | f(1)>", "java.same"),
        (FIVE, 'if (f(1).isEmpty()) {\n throw new AssertionError("a"); }', "<0 | f(1).isEmpty()>\n", "java.truth"),
        ("import org.testng.Assert;\n", "Assert.assertEqualsNoOrder(f(1), new int[] {1, 2});", "<0 | f(1)>",
         "java.items"),
        ("import org.testng.Assert;\n", 'Assert.assertEquals(f(1), 3, "message");', "<0 | f(1)>", "java.equals"),
    ],
)  # fmt: skip
def test_an_assertion_hands_out_what_depends_on_the_product(head, body, wanted, op):
    assert left(body, head) == wanted
    assert [slot.assertion.op for slot in parsed(in_method(body, head)).slots] == [op]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("assertThrows(A.class, () -> f(1));", "goldseam.Handout.thrown(0, null, () -> f(1));"),
        ("A e = assertThrows(A.class, () -> f(1));", "A e = goldseam.Handout.thrown(0, A.class, () -> f(1));"),
        ("assertDoesNotThrow(() -> f(1));", "goldseam.Handout.thrown(0, null, () -> f(1));"),
        (
            'try { f(); fail("no"); } catch (A e) { assertEquals("m", e.a()); }',
            "try { f(); goldseam.Handout.raised(0, null); } catch (A e) { goldseam.Handout.raised(0, e); <1 | e.a()> }",
        ),
        (
            'try { f(); assertTrue("no", false); } catch (A e) { }',
            "try { f(); goldseam.Handout.raised(0, null); } catch (A e) { goldseam.Handout.raised(0, e); }",
        ),
        (
            'try { f(); fail(); } catch (A e) { } catch (B e) { throw e; } catch (Throwable t) { fail("no A " + t); }',
            (
                "try { f(); goldseam.Handout.raised(0, null); } catch (A e) { goldseam.Handout.raised(0, e); } "
                "catch (B e) { goldseam.Handout.raised(0, e); } catch (Throwable t) { goldseam.Handout.raised(0, t); }"
            ),
        ),
    ],
)
def test_what_is_to_be_thrown_comes_out(body, wanted):
    assert left(body) == wanted


def test_what_junit_4_expects_of_a_whole_method_comes_out():
    text = in_class("@Test(expected = A.class, timeout = 5) public void a() throws Exception { f(1); }", FOUR)
    assert (
        "@Test(timeout = 5) public void a() throws Exception { Throwable goldseamRaised = null; try { f(1); } "
        "catch (Throwable goldseamCaught) { goldseamRaised = goldseamCaught; } "
        "finally { goldseam.Handout.raised(0, goldseamRaised); } }"
    ) in stripped(text)
    source = parsed(text)
    assert "raised(0, goldseamRaised, goldseam.Handout.of(A.class))" in source.recording(best(source))


def test_what_a_rule_expects_comes_out():
    rule = "@Rule public ExpectedException thrown = ExpectedException.none();\n"
    body = 'f(0); thrown.expect(A.class);\nthrown.expectMessage(containsString("no"));\nf(1);'
    source = parsed(in_class(f"{rule}@Test public void a() {{ {body} }}", FOUR))
    assert (
        "f(0); Throwable goldseamRaised = null; try {\n\nf(1); } catch (Throwable goldseamCaught) "
        "{ goldseamRaised = goldseamCaught; } finally { goldseam.Handout.raised(0, goldseamRaised); } }"
    ) in source.stripped(best(source))
    [slot] = source.slots
    assert [part["op"] for part in slot.assertion.options["parts"]] == ["java.kind", "java.message"]
    assert parsed(in_class(rule + "@Test public void a() { if (x) { thrown.expect(A.class); } f(1); }")).slots == ()


HELPERS = b"""package money;
import static org.junit.Assert.*;
public class Checks {
    static void assertValues(String[] want, Row got) { assertArrayEquals(want, got.values()); }
    static void assertToken(Token want, Token got) { if (got != want) fail("not " + want); }
    static void assertToken(Token want, Parser got) { assertToken(want, got.current()); }
    static void assertBoth(int a, int b) { assertEquals(a, b); assertTrue(a > 0); }
    static void assertSum(int want, int a, int b) { assertEquals(want, a + b); }
}
"""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ('Checks.assertValues(new String[] {"a"}, f(1));', "<0 | (f(1)).values()>"),
        ("assertToken(Token.END, f(1));", "<0 | f(1)>"),
        ("assertBoth(1, f(1));", "assertBoth(1, f(1));"),
        ("assertSum(1, f(1), 2);", "assertSum(1, f(1), 2);"),
        ("assertValues(f(1));", "assertValues(f(1));"),
    ],
)
def test_a_method_of_another_file_that_only_compares_is_read_where_it_is_called(body, wanted):
    text = in_method(f"{body}\nassertEquals(0, g());", FOUR)
    source = StrippedSource(text.encode(), path="ATest.java", first=0, helpers=helpers.helpers_in([HELPERS]))
    assert shortened(source.stripped(best(source))).partition("@Test void a() {\n")[2].startswith(f"{wanted}\n")


@pytest.mark.parametrize(
    ("head", "call", "is_read"),
    [
        ("", "Checks.assertValues(W, f(1));", True),
        ("", "assertValues(W, f(1));", True),
        ("import static money.Checks.assertValues;", "assertValues(W, f(1));", True),
        ("import money.*;", "money.Checks.assertValues(W, f(1));", True),
        ("import static other.Verify.assertValues;", "assertValues(W, f(1));", False),
        ("import other.Checks;", "Checks.assertValues(W, f(1));", False),
        ("", "Verify.assertValues(W, f(1));", False),
        ("", "new Own().assertValues(W, f(1));", False),
        ("", "own.assertValues(W, f(1));", False),
        ("", "assertValues(W, f(1)); } static class Checks { } void c() {", True),
        ("", "Checks.assertValues(W, f(1)); } static class Checks { } void c() {", False),
    ],
)
def test_a_method_of_another_file_is_read_by_its_own_class_s_name_alone(head, call, is_read):
    text = in_method(call.replace("W", 'new String[] {"a"}') + "\nassertEquals(0, g());", f"{FOUR}{head}")
    source = StrippedSource(text.encode(), path="ATest.java", first=0, helpers=helpers.helpers_in([HELPERS]))
    assert [slot.assertion.is_unread for slot in source.slots] == [not is_read, False]


def test_a_method_s_name_is_known_of_one_class_alone():
    other = b"package money; class Base { void assertValues(String[] want, Row got) { f(); g(); } }"
    assert "assertValues" not in helpers.helpers_in([HELPERS, other])
    assert "assertValues" in helpers.helpers_in([HELPERS, b"class Broken {"])


def test_a_file_knows_the_methods_of_files_that_it_or_these_name():
    sources = {
        "t/money/Checks.java": HELPERS,
        "t/money/ATest.java": b"package money; class ATest extends Base { }",
        "t/money/Base.java": b"package money; class Base { void a() { Checks.assertSame(1); } }",
        "t/money/BTest.java": b"package money; class BTest { void a() { Others.assertValues(1); } }",
    }
    known = helpers.helpers_for(sources)
    assert "assertValues" in known("t/money/ATest.java")
    assert known("t/money/BTest.java") == {}


def test_a_method_that_a_class_has_of_another_file_hides_one_that_is_imported():
    sources = {
        "t/ATest.java": b"import static a.Own.*;\nimport static org.junit.Assert.*;\n"
        b"class ATest extends b.Base<A> implements Checks {}",
        "t/Base.java": b"class Base extends Root { void assertEquals(A a, A b) {\n} int other() { return fail(); } }",
        "t/Root.java": b"class Root { protected <T> boolean assertTrue(T a) throws X { assertNull(a); return true; } }",
        "b/Assert.java": b"class Assert { static void assertNull(A a) {} }",
        "t/a/Own.java": b"class Own { static void assertSame(A a) { new A().assertNotNull(a); } }",
        "t/Checks.java": b"interface Checks { default void fail(String a) {} }",
        "t/Far.java": b"class Far { void assertNull(A a) {} }",
    }
    inherited = helpers.inheritance(sources)(sources["t/ATest.java"])
    assert inherited == {"assertEquals", "assertTrue", "assertSame", "fail"}
    text = in_method("assertEquals(3, f(1));\nassertNull(f(1));\nif (f(1)) { fail(); }")
    source = StrippedSource(text.encode(), path="ATest.java", first=0, inherited=inherited)
    assert [slot.assertion.is_unread for slot in source.slots] == [True, False]


def test_a_file_names_where_its_assertions_may_come_from():
    text = (
        b"package a.b;\nimport static a.Checks.assertX;\nimport a.d.Other;\nimport java.util.*;\n"
        b"class CTest extends Base { void x() { Beside.assertY(1); } }"
    )
    folder = "src/test/java/a"
    assert set(helpers.places_of(f"{folder}/b/CTest.java", text)) == {
        f"{folder}/b/Base.java", f"{folder}/b/Beside.java", f"{folder}/Checks.java", f"{folder}/d/Other.java",
    }  # fmt: skip


ASSERTJ = "import static org.assertj.core.api.Assertions.*;\n"
TRUTH = "import static com.google.common.truth.Truth.assertThat;\n"
HAMCREST = "import static org.hamcrest.MatcherAssert.assertThat;\nimport static org.hamcrest.Matchers.*;\n"


@pytest.mark.parametrize(
    ("head", "body", "wanted", "ops"),
    [
        (ASSERTJ, 'assertThat(f(1)).as("why").isEqualTo(3);', "<0 | f(1)>", ["java.equals"]),
        (ASSERTJ, 'assertThat(f(1)).isNotNull().hasSize(2).contains("a");', "<0 | f(1)>",
         ["java.null", "java.size", "java.contains"]),
        (ASSERTJ, "assertThat(f(1)).isCloseTo(1.5, within(0.1));", "<0 | f(1)>", ["java.near"]),
        (ASSERTJ, 'assertThatThrownBy(() -> f(1)).isInstanceOf(A.class).hasMessage("no");',
         "goldseam.Handout.thrown(0, null, () -> f(1));", ["java.kind", "java.message"]),
        (ASSERTJ, "assertThatExceptionOfType(A.class).isThrownBy(() -> f(1));",
         "goldseam.Handout.thrown(0, null, () -> f(1));", ["java.kind"]),
        (TRUTH, "assertThat(f(1)).isEqualTo(3);", "<0 | f(1)>", ["java.equals"]),
        (TRUTH, "assertThat(f(1)).containsExactly(1, 2).inOrder();", "<0 | f(1)>", ["java.items"]),
        (TRUTH, 'assertThat(e).hasMessageThat().isEqualTo("no");', "<0 | e>", ["java.message"]),
        (TRUTH, "assertThat(f(1)).isWithin(0.1).of(1.5);", "<0 | f(1)>", ["java.near"]),
        (HAMCREST, "assertThat(f(1), is(3));", "<0 | f(1)>", ["java.equals"]),
        (HAMCREST, 'assertThat("why", f(1), is(not(containsString("a"))));', "<0 | f(1)>", ["java.contains"]),
        (HAMCREST, "assertThat(f(1), contains(1, 2));", "<0 | f(1)>", ["java.items"]),
        (ASSERTJ, 'assertThat(f(1)).asString().matches("a+b");', "<0 | (f(1)).toString()>", ["java.matches"]),
        (ASSERTJ, "assertThat(f(1)).asList().contains(1);", "<0 | (java.util.List<?>) (f(1))>", ["java.contains"]),
        (ASSERTJ, "assertThat(f(1)).isBetween(1, 3);", "<0 | f(1)>", ["java.>=", "java.<="]),
        (ASSERTJ, "assertThat(f(1)).isIn(1, 3);", "<0 | f(1)>", ["java.among"]),
        (ASSERTJ, "assertThat(f(1).isEmpty()).isFalse();", "<0 | f(1).isEmpty()>", ["java.truth"]),
        (TRUTH, 'assertThat(e).hasCauseThat().hasMessageThat().contains("no");', "<0 | (e).getCause()>",
         ["java.message"]),
        (TRUTH, "assertThat(f(1)).asList().containsNoneOf(1, 2);", "<0 | f(1)>", ["java.contains"]),
        (TRUTH, "assertThat(f(1)).isNaN();", "<0 | f(1)>", ["java.number"]),
        (HAMCREST, 'assertThat(f(1), both(hasEntry("a", 1)).and(hasKey("b")));', "<0 | f(1)>",
         ["java.entry", "java.contains"]),
        (HAMCREST, "assertThat(f(1), is(anyOf(is(3), is(4))));", "<0 | f(1)>", ["java.equals", "java.equals"]),
        (HAMCREST, "assertThat(f(1), is(instanceOf(A.class)));", "<0 | f(1)>", ["java.kind"]),
        (HAMCREST, 'assertThat("why", f(1) > 3);', "<0 | f(1)>", ["java.>"]),
        (FOUR, "assertThat(f(1), org.hamcrest.CoreMatchers.nullValue());", "<0 | f(1)>", ["java.null"]),
    ],
)  # fmt: skip
def test_what_is_said_of_a_value_is_read_from_chains_and_matchers(head, body, wanted, ops):
    assert left(body, head) == wanted
    [slot] = parsed(in_method(body, head)).slots
    parts = slot.assertion.options.get("parts", [{"op": slot.assertion.op}])
    assert [part["op"] for part in parts] == ops


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (ASSERTJ, "assertThat(f(1)).satisfies(x -> g(x));"),
        (HAMCREST, "assertThat(f(1), hasSize(greaterThan(3)));"),
        (HAMCREST, "assertThat(f(1), anyOf(is(3), own(4)));"),
        (HAMCREST, 'assertThat("{}", isJson());'),
        (ASSERTJ, "assertThat(f(1)).matches(pattern);"),
        (ASSERTJ, "assertThat(f(1)).anySatisfy(x -> assertThat(x).isEqualTo(3));"),
        ("import static org.junit.Assert.*;\n", "await().untilAsserted(() -> assertEquals(3, f(1)));"),
    ],
)
def test_what_is_said_in_another_form_stays(head, body):
    assert parsed(in_method(body, head)).slots == ()


@pytest.mark.parametrize(
    "body",
    [
        "assertEquals(3, 3);",
        "try { assertEquals(3, f(1)); } catch (A e) { }",
        "assertEquals(3, f(1), unknown());",
        "assertThrows(kind, () -> f(1));",
        "assertTrue(() -> f(1));",
        "other.assertEquals(3, f(1));",
        'fail("here");',
    ],
)
def test_what_is_not_read_stays(body):
    assert [slot for slot in parsed(in_method(body)).slots if not slot.assertion.is_unread] == []


def test_a_helper_of_another_file_is_known_to_stay():
    source = parsed(in_method("assertEquals(3, f(1)); assertLabel(f(1)); other.assertSame(f(1));"))
    assert [slot.assertion.is_unread for slot in source.slots] == [False, True, True]


def test_a_name_that_only_expectations_read_goes_and_another_stays():
    text = in_class(
        'private static final String WANT = "wanted", IN = "input";\n private static final String ALONE = "alone";\n'
        '@Test void a() {\n String local = "local"; int[] both = {1, 2};\n assertEquals(local, f(IN));\n'
        " assertEquals(ALONE, f(both)); assertEquals(WANT, f(1));\n assertArrayEquals(both, f(2));\n}"
    )
    after = stripped(text)
    assert '"local"' not in after
    assert '"alone"' not in after
    assert '"input"' in after
    assert "int[] both = {1, 2};" in after
    assert shortened(after).count("| both | ") == 1  # what the product is given it may change
    assert after.count("\n") == text.count("\n")


def test_a_collection_goes_that_is_filled_for_an_expectation_alone():
    after = stripped(
        in_class('@Test void a() { List<String> want = new java.util.ArrayList<>(); List<String> in = make();\n'
                 ' want.add("x"); in.add("y");\nassertEquals(want, f(in)); }', FIVE.replace(".List", ".*"))
    )  # fmt: skip
    assert "want" not in after
    assert 'in.add("y");' in after


def test_what_the_product_is_given_is_expected_too_if_nothing_can_change_it():
    body = 'BigDecimal in = new BigDecimal("1.0"); List<String> list = new java.util.ArrayList<>(List.of("a"));\n'
    assert left(f"{body}assertEquals(in, f(in));\nassertEquals(list, f(list));").splitlines()[1:] == [
        "<0 | f(in)>",
        "<1 | list | f(list)>",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "int[][] rows = {{3}, {2}}; for (int[] row : rows) { f(row); }\nassertEquals(rows[0][0], f(1));",
        "int[][] rows = {{3}, {2}}; for (int[] row : rows) {\nassertEquals(row[0], f(row)); }",
        "int[][] rows = {{3}, {2}}; int[] row = rows[0]; f(row);\nassertEquals(rows[0][0], f(1));",
        "int want[] = {3}; f(want);\nassertEquals(want[0], f(1));",
        'char[] want = "abc".toCharArray(); f(want);\nassertEquals(want[0], f(1));',
        "Object want = (Object) new int[] {3}; f(want);\nassertEquals(want, f(1));",
        "int[] want = true ? new int[] {3} : new int[] {2}; f(want);\nassertEquals(want[0], f(1));",
        "int[] want = new int[] {3}.clone(); f(want);\nassertEquals(want[0], f(1));",
        "List<int[]> want = List.of(new int[] {3}); f(want.get(0));\nassertEquals(want.get(0), f(1));",
        "List<int[]> want = List.of(new int[] {3}); f(want);\nassertEquals(want.get(0)[0], f(1));",
        "List<A> want = new java.util.ArrayList<>(); f(want.iterator());\nassertEquals(want.size(), f(1));",
    ],
)
def test_what_the_product_gets_a_part_of_is_not_expected(body):
    head = FIVE.replace("util.List", "util.*")
    assert "| f(" in left(body, head).splitlines()[1].partition(" | ")[2]


@pytest.mark.parametrize(
    "body",
    [
        "int[] rows = {3, 2}; int in = rows[1]; f(in);\nassertEquals(rows[0], f(rows[1]));",
        'for (String row : new String[] {"a", "b"}) {\nassertEquals(row, f(row)); }',
        "Object[][] rows = {{1, 2}}; for (Object[] row : rows) {\nassertEquals(row[1], f(row[0])); }",
        'List<String> rows = Arrays.asList("a", "b"); f(rows.get(0));\nassertEquals(rows.get(1), f(1));',
        "int[] want = {3}; int[] same = want; f(same[0]);\nassertEquals(want[0], f(1));",
    ],
)
def test_what_nothing_can_change_is_expected_of_what_the_product_gets_a_part_of(body):
    head = FIVE.replace("util.List", "util.*")
    assert " | " not in left(body, head).splitlines()[1].partition("<0 | ")[2]


@pytest.mark.parametrize("more", ["} class Other {", "} abstract class Base {"])
def test_rows_are_those_of_the_test_s_own_class_and_of_none_below_it(more):
    head = '@ParameterizedTest @MethodSource("rows") void a(String want, int n) { assertEquals(want, f(n)); }'
    source = '{ return Stream.of(Arguments.of("wanted", 1)); }'
    own = f"{head} static Stream<Arguments> rows() {source}"
    assert "wanted" not in stripped(in_class(own))
    assert "wanted" in stripped(in_class(f"{head} {more} static Stream<Arguments> rows() {source}"))
    below = StrippedSource(in_class(own).encode(), path="ATest.java", first=0, relatives=((), {"rows"}))
    assert "wanted" in below.stripped(best(below))


def test_a_class_of_the_package_is_not_javas():
    beside = helpers.classes_beside(["src/main/java/money/Optional.java", "src/main/java/other/List.java"])
    assert beside(b"package money;") == {"Optional"}
    text = in_method(
        "assertEquals(Optional.of(3), f(1)); assertEquals(Duration.ofDays(3), f(2)); assertEquals(List.of(), f(3));",
        FIVE.replace("util.List", "util.*"),
    )
    source = StrippedSource(text.encode(), path="ATest.java", first=0, beside={"Optional"})
    assert [slot.assertion.is_expected for slot in source.slots] == [False, False, True]


def test_what_an_exception_is_to_say_by_an_annotation_is_not_read():
    text = '@Test(expectedExceptions = A.class, expectedExceptionsMessageRegExp = "b.*") public void a() { f(1); }'
    assert parsed(in_class(f"{text}\n@Test void c() {{ assertEquals(3, f(1)); }}")).slots[0].function == ("c",)


def test_an_argument_goes_that_a_helper_only_expects():
    after = stripped(
        in_class('@Test void a() { check("in", "wanted", 7); }\nvoid check(String in, String want, int n) {\n'
                 " assertEquals(want, f(in)); assertEquals(n, g(in));\n}")
    )  # fmt: skip
    assert 'check("in", (String) null, 0);' in after


@pytest.mark.parametrize(
    "more",
    [
        "ATest.check(f(2), f(2));",
        "new ATest().check(f(2), f(2));",
        "f(3).accept(this::check);",
        "} @CsvSource({}) void c() {",
    ],
)
def test_what_else_a_helper_may_be_given_counts(more):
    helper = "void check(String want, String got) { assertEquals(want, got); }"
    text = in_class(f'@Test void a() {{ check("wanted", f(1)); }} @Test void b() {{ {more} }}\n{helper}')
    assert ("wanted" in stripped(text)) is (more[0] != "}")


@pytest.mark.parametrize(
    ("annotations", "parameter", "more"),
    [
        ('@MethodSource("b")', "String want", ""),
        ("", "@ConvertWith(A.class) String want", ""),
        ("", "String want", "void c() { test(1, f(2)); }"),
        ("", "String want", "void c() { f(2).accept(this::test); }"),
    ],
)
def test_what_else_a_test_with_rows_may_be_given_counts(annotations, parameter, more):
    head = f'@ParameterizedTest @CsvSource({{"1, wanted"}}) {annotations}'
    rows = 'Stream<Arguments> b() { return Stream.of(Arguments.of(1, "b"), f(1)); }'
    text = in_class(f"{head}\nvoid test(int in, {parameter}) {{ assertEquals(want, f(in)); }}\n{rows}{more}")
    assert "1, wanted" in stripped(text)
    assert "1, wanted" not in stripped(
        text.replace(annotations or "\0", "").replace(parameter, "String want").replace(more or "\0", "")
    )


def test_a_field_is_that_of_the_class_which_is_named():
    classes = 'static class A { static final String W = "a"; } static class B { static final String W = f(0); }'
    text = in_class(f"{classes}\n@Test void a() {{ assertEquals(A.W, f(1)); assertEquals(B.W, f(2)); }}")
    assert [slot.assertion.is_expected for slot in parsed(text).slots] == [True, False]


@pytest.mark.parametrize("name", ["RED", "red", "Red"])
def test_constants_of_enums_are_expected_however_they_are_written(name):
    text = in_class(f"enum Kind {{ {name}, other }} @Test void a() {{ assertEquals(Kind.{name}, f(1)); }}")
    assert [slot.assertion.is_expected for slot in parsed(text).slots] == [True]


def test_a_column_of_rows_goes_that_only_expectations_read():
    after = stripped(
        in_class('@ParameterizedTest @CsvSource({"a, 1, 2", "\'b, c\', 3, 4"})\n'
                 "void a(String in, int n, int want) { assertEquals(want, f(in, n)); }")
    )  # fmt: skip
    assert '@CsvSource({"a, 1, 0", "\'b, c\', 3, 0"})' in after


@pytest.mark.parametrize(
    ("annotation", "source"),
    [
        ("@MethodSource", 'Stream<Arguments> test() { return Stream.of(Arguments.of("a", 1), arguments("b", 2)); }'),
        (
            '@Test(dataProvider = "r")',
            '@DataProvider(name = "r") Object[][] r() { return new Object[][] {{"a", 1}, {"b", 2}}; }',
        ),
    ],
)
def test_a_column_goes_of_rows_that_a_method_gives(annotation, source):
    after = stripped(
        in_class(f"{annotation}\nvoid test(String in, int want) {{ assertEquals(want, f(in)); }}\n{source}")
    )
    for row in ('"a", 0', '"b", 0'):
        assert row in after


def test_words_for_people_go():
    after = stripped(in_method('// comment\n/* more\n lines */ assertEquals(3, f(1)); if (x) { fail("wanted 3"); }'))
    assert "comment" not in after
    assert "more" not in after
    assert "wanted" not in after


def test_a_constant_is_expected_if_it_turns_out_to_be_an_enums():
    source = parsed(in_method("assertEquals(Colour.RED, f(1));"))
    assert left("assertEquals(Colour.RED, f(1));") == "<0 | f(1)>"
    recorded = source.recording(best(source))
    assert 'boxed(0, goldseam.Handout.constant("RED", Colour.RED), goldseam.Handout.of(f(1)))' in recorded
    result = source.stripped({0: Mode.RESULT})
    assert "equal(0, goldseam.Handout.of(Colour.RED), goldseam.Handout.of(f(1)))" in result


def test_a_recording_hands_out_both_sides_and_a_result_what_the_classes_make_of_them():
    source = parsed(in_method("assertEquals(3, f(1));\nassertTrue(f(1) == g(2));\nassertNotEquals(a, f(1));"))
    assert "boxed(0, goldseam.Handout.of(3), goldseam.Handout.of(f(1)))" in source.recording(best(source))
    results = source.stripped(dict.fromkeys(range(3), Mode.RESULT))
    assert "equal(0, goldseam.Handout.of(3), goldseam.Handout.of(f(1)))" in results
    assert "equal(1, goldseam.Handout.of(true), goldseam.Handout.of(f(1) == g(2)))" in results
    assert "equal(2, goldseam.Handout.of(false), goldseam.Handout.of(java.util.Objects.equals(a, f(1))))" in results


@pytest.mark.parametrize(
    ("test_id", "name"),
    [("a/T.java::b(int, int)[2]", "b"), ("a/T.java::C::b()", "C::b"), ("a/T.java::b[0]", "b"), ("a/T.java::b", "b")],
)
def test_a_test_is_of_the_method_in_its_classes(test_id, name):
    assert literals.function_of_test(test_id) == f"a/T.java::{name}"


def test_a_test_is_of_the_method_of_the_class_that_its_own_extends_where_only_that_has_it():
    sources = {
        "a/OneTest.java": "public class OneTest<T> extends b.BaseTest<T> { @Test void own() {} }",
        "b/BaseTest.java": "abstract class BaseTest extends Root { @Test public void shared() {} }",
        "b/Root.java": "class Root { @Test void deep () {} }",
    }
    for name, path in (("own", "a/OneTest"), ("shared", "b/BaseTest"), ("deep", "b/Root"), ("nowhere", "b/Root")):
        assert literals.function_of_test(f"a/OneTest.java::{name}()[2]", sources) == f"{path}.java::{name}"


def test_a_slot_tells_its_method_and_lines():
    source = parsed(in_class("@Nested class B {\n@Test void c() {\nassertEquals(3,\nf(1)); } }"))
    [slot] = source.slots
    assert slot.function == ("B", "c")
    assert slot.lines == range(9, 11)


def test_tests_go_on_without_what_the_compiler_complains_of():
    source = parsed(
        in_method("var x = f(1);\n\tother(); missing(2); final byte[] y[] = h();\nassertEquals(3, g(x, y));")
    )
    text = source.stripped(best(source))
    going = source.unstopped(text, "ATest.java:9:18: cannot find symbol", 0)
    assert "other();" in going
    assert "var x = goldseam.Handout.tried(null, () -> f(1));" in going
    y = re.escape("byte[][] @ = null; try { @ = h(); } catch (Throwable goldseamEnds) { } final byte[] y[] = @;")
    assert re.search(y.replace("@", r"(goldseam\d+)", 1).replace("@", r"\1"), going)
    assert "missing" not in going
    assert source.unstopped(going, "", 1) == going
    at = going.split("\n")[7].index("f(1)") + 1
    refused = f"ATest.java:8:{at}: local variables referenced from a lambda must be final or effectively final"
    assert "var x = f(1);" in source.unstopped(going, refused, 1)
    unknown = "ATest.java:8:1: cannot find symbol\n  symbol:   class A\n"
    assert "Object a = null;" in parsed(in_method("A a = f();")).unstopped(in_method("A a = f();"), unknown, 1)
    assert source.unstopped(going, "ATest.java:99:1: of lines that a build has written into it", 1) == going


def test_tests_go_on_where_something_that_goes_on_as_well_could_throw_what_is_caught():
    source = parsed(in_method("try { g(); } catch (A | b.B e) { } catch (Exception e) { } assertEquals(3, f());"))
    going = source.unstopped(source.stripped(best(source)), "", 0)
    assert "try { if (false) throw (A) null; if (false) throw (b.B) null; try { g(); }" in going


@pytest.mark.parametrize(
    ("call", "at", "words", "wanted"),
    [
        (
            "F.f(1, true)",
            ".f(",
            "method f in class F cannot be applied to given types;\n[ERROR]   required: int",
            "F.f(1)",
        ),
        (
            "new F(true).g()",
            "new F",
            "constructor F cannot be applied to given types;\n  required: no arguments",
            "new F().g()",
        ),
        ("F.f(a, true)", ".f(", "method f cannot be applied to given types;\n  required: java.util.Map<K,V>", "F.f(a)"),
        ("F.f(1, Mode.FAR)", "Mode", "cannot find symbol\n[ERROR]   symbol:   variable Mode", "F.f(1)"),
        ("F.make().g(true).h(1)", ".g(", "cannot find symbol\n[ERROR]   symbol:   method g(boolean)", "F.make().h(1)"),
    ],
)
def test_calls_go_on_without_what_a_tree_does_not_take_yet(call, at, words, wanted):
    source = parsed(in_method(f"assertEquals(3, {call});"))
    text = source.stripped(best(source))
    row, line = next((row, line) for row, line in enumerate(text.split("\n"), 1) if call in line)
    output = f"ATest.java:{row}:{line.index(call) + call.index(at) + 1}: {words}\n"
    assert f"goldseam.Handout.of({wanted})" in source.unstopped(text, output, 0)


def test_literals_are_read_as_values():
    text = in_method("f(\"a\\n\", -3, 0x10L, 1.5f, new int[] {1, 2}, true, null, 'c');")
    found = list(literals.READING.written(text))
    for value in ("a\n", -3, 16, 1.5, [1, 2], True, None, "c"):
        assert value in found


SAME = "void same(int got, int want) { assertEquals(want, got); }\n"


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ("if (Lib.isA()) same(Lib.f(), 1); else same(Lib.f(), 2);", Mode.OPERANDS),
        ("if (Lib.isA()) { same(Lib.f(), 1); return; } same(Lib.f(), 2);", Mode.OPERANDS),
        ("switch (Lib.kind()) { case 1: same(Lib.f(), 1); break; default: same(Lib.f(), 2); }", Mode.OPERANDS),
        ("if (Lib.isA()) same(Lib.f(), 1); else same(Lib.g(), 1);", Mode.EXPECTED),
        ("same(Lib.f(), 1); same(Lib.f(), 2);", Mode.EXPECTED),
        ("for (int want : new int[] {1, 2}) { if (!lib.takes(want)) continue; same(Lib.f(), want); }", Mode.OPERANDS),
        ("for (int want : new int[] {1, 2}) { same(Lib.f(), want); }", Mode.EXPECTED),
        ("for (int want : new int[] {1, 2}) { if (want == 2) continue; same(Lib.f(), want); }", Mode.EXPECTED),
    ],
)
def test_what_the_product_says_which_call_or_row_of_is_come_to_is_not_expected(body, mode):
    text = in_class(f"Lib lib = new Lib();\n{SAME}@Test void a() {{ {body} }}\n")
    assert best(parsed(text))[0] is mode


CHECK = "} void check(String want, String x) { assertEquals(want, x);"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (
            'String want = "a";\nassertEquals(want, f());\nwant = "b";\nassertEquals(want, g());',
            "\n<0 | f()>\n\n<1 | g()>",
        ),
        ('String want;\nwant = "a";\nassertEquals(want, f());', "\n\n<0 | f()>"),
        ("for (int i = 0; i < 3; i++) assertEquals(i, f(i));", "for (int i = 0; i < 3; i++) <0 | f(i)>"),
        (
            'for (int i = 4; i > 0; i -= 2)\nfor (int j = 0; j < i; ++j) assertEquals("" + i * j, f());',
            "for (int i = 4; i > 0; i -= 2)\nfor (int j = 0; j < i; ++j) <0 | f()>",
        ),
    ],
)
def test_a_local_name_that_is_set_in_turn_and_a_counter_are_expected(body, wanted):
    assert left(body) == wanted


LIST, ITEMS, TEXT = "java.util.List<Integer> w = new java.util.ArrayList<>(); ", "int[] w = {1, 2}; ", 'String w = ""; '
TURNS = "for (int i = 0; i < 3; i++) "


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (LIST + TURNS + "{ w.add(i); } ", TURNS + "{  } "),
        (LIST + TURNS + "w.add(i); ", TURNS + "; "),
        ('StringBuilder w = new StringBuilder(); for (String s : List.of("a", "b")) w.append(s); ', None),
        (ITEMS + "w[0] = 3; ", ""),
        (ITEMS + TURNS + "w[i] = 2 * i; ", TURNS + "; "),
        (TEXT + TURNS + "{ w += i; } ", TURNS + "{  } "),
    ],
)
def test_what_the_test_alone_fills_or_sets_in_loops_is_expected_and_goes(body, left):
    source = parsed(in_method(body + "assertEquals(w, f());"))
    assert [operand.static for operand in source.slots[0].assertion.operands] == [True, False]
    text = source.stripped(best(source))
    assert "w" not in re.findall(r"\w+", text.partition("void a()")[2])
    assert left is None or f"{left}{{ try" in text


@pytest.mark.parametrize(
    "body",
    [
        LIST + "for (String s : f()) w.add(1); assertEquals(w, g());",
        LIST + TURNS + "{ if (p(i)) continue; w.add(i); } assertEquals(w, g());",
        LIST + TURNS + "{ try { g(i); w.add(i); } catch (A e) { } } assertEquals(w, f());",
        LIST + TURNS + "{ w.add(i); g(w); } assertEquals(w, f());",
        LIST + TURNS + "{ w.add(i); if (p(i)) assertEquals(w, f()); }",
        TEXT + TURNS + "{ w += i; if (p(i)) assertEquals(w, f()); }",
        TURNS + "{ " + LIST + "w.add(i); if (p(i)) assertEquals(w, f()); }",
        ITEMS + "w[0] = g(); assertEquals(w, f());",
        ITEMS + "w[g()] = 1; assertEquals(w, f());",
        ITEMS + "w[1]++; assertEquals(w, f());",
        ITEMS + "g(w); w[0] = 1; assertEquals(w, f());",
        ITEMS + "int[] v = w; v[0] = g(); assertEquals(w, f());",
        LIST + "Runnable r = () -> { w.add(w.size()); g(); w.add(w.size() + 1); }; r.run(); assertEquals(w, f());",
    ],
)
def test_what_the_product_has_a_say_in_is_not_expected_where_a_test_fills_or_sets_it_in_loops(body):
    [slot] = parsed(in_method(body)).slots
    assert not any(operand.static for operand in slot.assertion.operands)


def test_what_the_product_has_a_say_in_is_not_expected_where_names_are_set_or_loops_run():
    for body in (
        'String want = "a"; if (p()) want = "b"; assertEquals(want, f());',
        'String want = "a"; want += f(); assertEquals(want, f());',
        'String want = "a"; if (p()) check(want, f()); want = "b"; check(want, g()); ' + CHECK,
        "for (int i = 0; i < g().size(); i++) assertEquals(i, f(i));",
        "for (int i = 0; i < 3; i++) { i = f(i); assertEquals(i, g()); }",
        "for (int i = 0; i < 3; i++) { if (p()) continue; assertEquals(i, g()); }",
        "for (int i = 0; i < 3; i++) { try { g(i); } catch (A e) { continue; } assertEquals(i, f()); }",
        'for (String row : List.of("a", "b")) { try { g(row); } catch (A e) { continue; } assertEquals(row, f()); }',
        "for (int i = 0; i < 3; i++) for (X x : f(i)) assertEquals(i, x.a());",
        'for (String row : List.of("a", "b")) for (X x : f(row)) assertEquals(row, x.a());',
        'for (String row : List.of("a", "b")) for (int j = 0; j < f(row); j++) assertEquals(row, g(j));',
        'for (String row : List.of("a", "b")) f(row).forEach(x -> assertEquals(row, x.a()));',
        'for (X x : f()) check("a", x.a()); check("b", g()); ' + CHECK,
        'f().forEach(x -> check("a", x)); check("b", g()); ' + CHECK,
        'if (p()) for (String a : List.of("a")) check(a, f()); else for (String a : List.of("b")) check(a, f()); '
        + CHECK,
    ):
        [slot] = parsed(in_method(body)).slots
        assert not any(operand.static for operand in slot.assertion.operands), body


ROWS = 'for (String row : List.of("a", "b")) { '


@pytest.mark.parametrize(
    "left_out",
    [
        "switch (g(row)) { case 0: continue; default: }",
        "switch (g(row)) { case 0 -> { continue; } default -> { } }",
        "for (int j = 0; j < 1; j++) { if (g(row)) continue rows; }",
        "for (int j = 0; j < 1; j++) { if (g(row)) break; continue rows; }",
        "synchronized (this) { if (g(row)) continue; }",
        "{ if (g(row)) continue; }",
        'if (row.equals("a")) { if (g(row)) continue; }',
        "if (this.lib.takes(row)) continue;",
        "if (new Lib().takes(row)) continue;",
        'switch (row) { case "a": if (g(row)) continue; }',
    ],
)
def test_a_row_that_a_loop_leaves_out_in_a_statement_within_another_is_not_expected(left_out):
    text = in_class(f"Lib lib; @Test void a() {{ rows: {ROWS}{left_out} assertEquals(row, f(row)); }} }}")
    [slot] = parsed(text).slots
    assert not slot.assertion.is_expected


@pytest.mark.parametrize(
    "statement",
    [
        "for (int j = 0; j < 3; j++) { if (g(j)) break; }",
        "switch (g(row)) { case 0: break; default: }",
        "for (String x : g(row)) { if (x.isEmpty()) continue; }",
        "g(row).forEach(x -> { if (x == null) return; });",
        'switch (row) { case "b": continue; default: }',
        'if (row.isEmpty()) { if (row.equals("b")) continue; }',
    ],
)
def test_what_ends_within_a_statement_or_by_what_is_written_out_leaves_no_row_out_by_the_product(statement):
    [slot] = parsed(in_method(f"{ROWS}{statement} assertEquals(row, f(row)); }}")).slots
    assert slot.assertion.is_expected


@pytest.mark.parametrize(
    "body",
    [
        'String want = row + "!"; if (g(row)) continue; assertEquals(want, f(row));',
        "String same = row; String want = same; if (g(row)) continue; assertEquals(want, f(row));",
        "String want; want = row; if (g(row)) continue; assertEquals(want, f(row));",
        "g(row, new Consumer<String>() { public void accept(String x) { assertEquals(row, x); } });",
        "class C implements Consumer<String> { public void accept(String x) { assertEquals(row, x); } } g(new C());",
        "try { g(row); one(row, f(row)); } catch (A e) { } } } void one(String a, String b) { { assertEquals(a, b);",
    ],
)
def test_what_a_turn_of_a_loop_makes_is_not_expected_where_the_product_says_of_which_turn_it_is(body):
    [slot] = parsed(in_method(f"{ROWS}{body} }}")).slots
    assert not slot.assertion.is_expected


def test_what_is_the_same_in_each_turn_of_a_loop_is_expected_and_so_is_what_all_turns_come_to():
    same = 'String want = "x"; if (g(row)) continue; assertEquals(want, f(row));'
    turns = 'String want = row + "!"; assertEquals(want, f(row));'
    tried = "try { one(row, f(row)); } catch (A e) { fail(); } } } void one(String a, String b) { { assertEquals(a, b);"
    for body in (same, turns, tried, "assertThrows(A.class, new Executable() { public void execute() { f(row); } });"):
        [slot] = parsed(in_method(f"{ROWS}{body} }}")).slots
        assert slot.assertion.is_expected, body


@pytest.mark.parametrize(
    ("calls", "is_expected"),
    [
        ("if (p()) one(); else two();", False),
        ("if (p()) { one(); return; } two();", False),
        ("p(this::one, this::two);", False),
        ("p(() -> one(), () -> two());", False),
        ("p(new R() { void a() { one(); } void b() { two(); } });", False),
        ("p(new R() { void a() { one(); } }, new R() { void a() { two(); } });", False),
        ("one(); two();", True),
        ("if (p()) one();", True),
        ("if (p()) both();", True),
        ("} @Test void b() { one(); } @Test void c() { two();", True),
        ("} @Test void b() { p(new R() { void a() { one(); } }); } @Test void c() { two();", True),
    ],
)
def test_what_the_product_says_which_method_that_asserts_is_come_to_of_is_not_expected(calls, is_expected):
    methods = f"{SAME} void one() {{ same(f(), 1); }} void two() {{ same(f(), 2); }} void both() {{ one(); two(); }}"
    [slot] = parsed(in_class(f"{methods} @Test void a() {{ {calls} }}")).slots
    assert slot.assertion.is_expected is is_expected


CALLS = '@Test void a() { row("a", "1"); row("b", "2"); } void row(String in, String want) { '


@pytest.mark.parametrize(
    ("body", "is_expected"),
    [
        ("if (!p(in)) return; assertEquals(want, f(in));", False),
        ("if (p(in)) assertEquals(want, f(in));", False),
        ("for (String x : f(in)) assertEquals(want, x);", False),
        ("f(in).forEach(x -> assertEquals(want, x));", False),
        ('String own = want + "!"; if (!p(in)) return; assertEquals(own, f(in));', False),
        ("if (p(in)) same(want, f(in)); } void same(String want, String got) { assertEquals(want, got);", False),
        ("again(in, want); } void again(String in, String want) { if (p(in)) assertEquals(want, f(in));", False),
        ("assertEquals(want, f(in));", True),
        ('if (in.equals("z")) return; assertEquals(want, f(in));', True),
        ("for (int i = 0; i < 3; i++) assertEquals(want, f(i));", True),
        ("same(want, f(in)); } void same(String want, String got) { assertEquals(want, got);", True),
    ],
)
def test_what_a_method_is_given_is_not_expected_where_the_product_says_of_which_call_it_is(body, is_expected):
    [slot] = parsed(in_class(f"{CALLS}{body} }}")).slots
    assert slot.assertion.is_expected is is_expected


def test_what_all_calls_give_a_method_is_expected_wherever_it_is():
    for calls in (CALLS.replace('row("b", "2")', 'row("b", "1")'), CALLS.replace(' row("b", "2");', "")):
        [slot] = parsed(in_class(f"{calls} if (!p(in)) return; assertEquals(want, f(in)); }}")).slots
        assert slot.assertion.is_expected


def test_many_turns_that_a_loop_leaves_out_take_no_longer_than_others():
    left_out = " ".join(f'if (row.equals("{number}")) continue;' for number in range(60))
    body = f'for (String row : List.of("a", "b")) {{ {left_out} assertEquals(row, f(row)); }}'
    assert parsed(in_method(body)).slots[0].assertion.operands[0].static


def test_assertions_in_a_try_whose_handlers_only_fail_come_out_and_what_it_catches_can_be_thrown():
    handlers = "catch (IOException | A e) { g(); throw new B(e); } catch (Exception e) { fail(); }"
    body = f'try {{ assertEquals("a", f()); }} {handlers}'
    throwing = "goldseam.Handout.<IOException>throwing(); goldseam.Handout.<A>throwing();"
    assert left(body).startswith(f"try {{ {throwing} <0 | f()> }} catch (IOException | A e)")


def test_assertions_stay_in_a_try_that_may_go_on():
    handlers = ("", "if (x) return; fail();", "if (x) fail();", "throw new TestAbortedException();", "g();")
    handled = [f"catch (IOException e) {{ {handler} }}" for handler in handlers]
    for handler in (*handled, "catch (A e) { fail(); } catch (B e) { }", "catch (A e) { fail(); } finally { return; }"):
        body = f'try {{ assertEquals("a", f()); }} {handler} assertEquals(3, f());'
        assert 'assertEquals("a", f())' in left(body)
        assert parsed(in_method(body)).slots[0].assertion.is_unread


def test_what_is_to_throw_may_be_an_object_of_an_interface_for_that():
    object_of = "new Executable() { public void execute() { f(); } }"
    thrown = f"goldseam.Handout.thrown(0, null, ({object_of})::execute);"
    assert left(f'assertThrows(A.class, {object_of}, "why");') == thrown
    assert left("Executable e = f(); assertDoesNotThrow(e);").endswith(
        "goldseam.Handout.thrown(0, null, (e)::execute);"
    )
    other, _ = parsed(in_method("Object e = f(); assertThrows(A.class, e, () -> g()); assertTrue(h());")).slots
    assert other.assertion.is_unread


def test_an_assertion_of_constants_leaves_a_test_as_it_is_unless_it_fails():
    [slot] = parsed(in_method('assertTrue(true); assertEquals("a", "a"); assertEquals(3, f());')).slots
    assert not slot.assertion.is_unread
    unread, _ = parsed(in_method("if (f()) { g(); assertTrue(false); } assertEquals(3, f());")).slots
    assert unread.assertion.is_unread


@pytest.mark.parametrize(
    ("method", "is_expected"),
    [
        ('String made(String of) { return of.trim() + ";"; }', True),
        ('String made(String... of) { return String.join("\\n", of) + ending(1); }', True),
        ('String made(String of) { String all = ""; for (char c : of.toCharArray()) { all += c; } return all; }', True),
        ("BigDecimal made(String of) { return new BigDecimal(of); }", True),
        ("BigDecimal made(String of) { return UNIT.add(new BigDecimal(of)); }", True),
        ("String made(String of) { return made(of, 1); } String made(String of, int n) { return of + n; }", True),
        ("String made(String of) { return Prices.made(of); }", False),
        ("String made(String of) { return new Prices(of).toString(); }", False),
        ("String made(String of) { return prices.made(of); }", False),
        ("String made(String of) { return elsewhere(of); }", False),
        ("String made(String of) { return this.toString(); }", False),
        ('String made(String of) { return "" + ATest.class.getResource(of); }', False),
        ("String made(String of) { return System.getProperty(of); }", False),
        ("String made(String of) { calls++; return of + calls; }", False),
        ("String made(String of) { return of; } String made(Object of) { return null; }", False),
        ("String made(String of) { return made(of + 1); }", False),
        ("String made(String of) { money.Maker a = x -> x; return a.twice(of); }", False),
        ("String made(String of) { Maker a = x -> x; return a.twice(of); }", False),
        (
            "String made(String of) { return of(x -> x, of); } String of(Maker a, String b) { return a.twice(b); }",
            False,
        ),
        ("String made(String of) { Lib a = x -> x; return a.twice(of); }", False),
        ("<T> String made(T of) { List<T> all = new ArrayList<>(); all.add(of); return all.toString(); }", True),
        ("String made(CharSequence of) { Object a = of; return (String) a; }", True),
    ],
)
def test_what_a_method_of_the_file_makes_of_what_is_expected_is_expected(method, is_expected):
    fields = 'private static final BigDecimal UNIT = new BigDecimal("1"); private int calls; private Prices prices;'
    beside = "private static String ending(int n) { return String.valueOf(n); }"
    head = f"{FIVE}import java.util.*; import other.Lib;"
    text = in_class(f'{fields} {beside} {method} @Test void a() {{ assertEquals(made("5 EUR"), f(1)); }}', head)
    source = StrippedSource(text.encode(), path="ATest.java", first=0, beside={"Maker"})
    [slot] = source.slots
    assert [operand.static for operand in slot.assertion.operands] == [is_expected, False]
    assert ("5 EUR" in source.stripped(best(source))) is not is_expected


@pytest.mark.parametrize(
    ("head", "relatives"),
    [
        ("String made(String of) { return of; }", ({"made"}, ())),
        ("String made(String of) { return of; }", ((), {"made"})),
        ("private String made(String of) { return of; }", ({"made"}, ())),
        ("String made(String of) { return of; } String made(String of, int... more) { return of; }", ((), ())),
        ("String made(String of) { return of; } class Inner extends Lib { void a() { A } }", ((), ())),
        ("String made(String of) { return of; } void a() { f(new Lib() { void a() { A } }); }", ((), ())),
        ("class Own { String made(String of) { return of; } } class Inner { void a() { A } }", ((), ())),
    ],
)
def test_what_a_method_makes_that_may_be_another_class_s_is_not_expected(head, relatives):
    text = in_class(head.replace("A }", 'assertEquals(made("x"), f(1)); }'))
    text = text if 'made("x")' in text else in_class(f'{head} @Test void a() {{ assertEquals(made("x"), f(1)); }}')
    source = StrippedSource(text.encode(), path="ATest.java", first=0, relatives=relatives)
    assert [slot.assertion.is_expected for slot in source.slots] == [False]


def test_a_method_that_only_another_class_s_private_one_is_called_like_makes_what_is_expected():
    text = in_class('private String made(String of) { return of; } @Test void a() { assertEquals(made("x"), f(1)); }')
    source = StrippedSource(text.encode(), path="ATest.java", first=0, relatives=((), {"made"}))
    assert source.slots[0].assertion.is_expected


def test_methods_of_classes_that_a_file_s_own_extend_or_that_extend_these_are_told():
    sources = {
        "t/ATest.java": b"class ATest extends Base { }",
        "t/BTest.java": b"class BTest extends ATest { String under(int a) { return null; } }",
        "t/CTest.java": b"class CTest { String aside(int a) { return null; } }",
    }
    base = {"t/Base.java": b"class Base extends Lib { String over(int a) { return null; } }"}
    relatives = helpers.relatives(sources, {**base, "m/Lib.java": b"class Lib { String top() { return null; } }"})
    assert relatives("t/ATest.java") == ({"over", "top"}, {"under"})


@pytest.mark.parametrize(
    "want",
    [
        "names(Color.class)",
        "kind.getEnumConstants().length",
        "List.of(Color.class).get(0).getModifiers()",
        'new File("a").length()',
        "file.length()",
        'Path.of("a").toFile().length()',
        'size("a")',
        'System.getProperties().get("a")',
        'new File("a").isFile()',
    ],
)
def test_what_a_class_has_and_what_is_on_the_disk_is_not_expected(want):
    methods = (
        "String names(Class<?> of) { return Arrays.toString(of.getEnumConstants()); }"
        "long size(String of) { return new File(of).length(); }"
    )
    head = f"{FIVE}import java.util.*; import java.io.*; import java.nio.file.*;"
    body = f'var kind = Color.class; var file = new File("a"); assertEquals({want}, f());'
    [slot] = parsed(in_class(f"{methods} @Test void a() {{ {body} }}", head)).slots
    assert not slot.assertion.is_expected
    [slot] = parsed(in_method('assertEquals("abc".length() + new int[] {1}.length, f());')).slots
    assert slot.assertion.is_expected


def test_what_a_method_of_the_file_says_itself_is_not_expected_and_what_it_makes_may_be_changed():
    made = 'List<String> made(String of) { return List.of(of); } String alone() { return "5 EUR"; }'
    body = 'assertEquals(alone(), f(1)); List<String> want = made("a"); f(want); assertEquals(want, f(2));'
    source = parsed(in_class(f"{made} @Test void a() {{ {body} }}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS, Mode.OPERANDS]


def test_a_text_of_many_lines_is_expected():
    lines = " + ".join(f'"line {number}\\n"' for number in range(300))
    assert left(f"assertEquals({lines}, f());") == "<0 | f()>"


TESTNG = "import static org.testng.Assert.*;\n"
WIDENS = {"promotes": "widening"}
ITEMS = {"takes": "ltTq"}
MANY = {"takes": "sltTqaB"}
JOINED = [
    {"op": "java.equals", "count": 1, "options": {"arrays": True, "boxed": True}},
    {"op": "java.null", "count": 0, "options": {}},
]


@pytest.mark.parametrize(
    ("head", "body", "ops"),
    [
        (FOUR, "assertNotEquals(1.5, f(), 0.1);", [("java.near", ["kept", "out", "kept"])]),
        (FOUR, 'assertNotEquals("why", 1.5, f(), 0.1);', [("java.near", ["kept", "out", "kept"])]),
        (FIVE, "assertNotEquals(1.5, f(), 0.1);", [("java.near", ["kept", "out", "kept"])]),
        (FOUR, 'assertNotEquals("why", 3, f());', [("java.equals", ["kept", "out"])]),
        (FOUR, "assertNotEquals(1.5, f(), Other.EPSILON);", []),
        (FOUR, "assertNotEquals(1.5, f(), epsilon());", []),
    ],
)
def test_a_tolerance_of_what_is_not_to_be_equal_is_read_and_never_taken_for_a_value(head, body, ops):
    slots = parsed(in_method(f"{body}\nassertEquals(3, f());", head)).slots[:-1]
    read = [slot.assertion for slot in slots if not slot.assertion.is_unread]
    sides = [["kept" if operand.static else "out" for operand in assertion.operands] for assertion in read]
    assert [(assertion.op, of) for assertion, of in zip(read, sides, strict=True)] == ops


@pytest.mark.parametrize(
    ("head", "body", "options"),
    [
        (ASSERTJ, "assertThat(f()).doesNotContain(BANNED);", {"any": True, "not": True, "spread": True, **MANY}),
        (ASSERTJ, "assertThat(f()).isGreaterThan(0.0);", {"total": True, **WIDENS}),
        (ASSERTJ, "assertThat(f()).isGreaterThanOrEqualTo(0.0);", WIDENS),
        (ASSERTJ, "assertThat(f()).isPresent();", {"takes": "O", "not": True}),
        (ASSERTJ, "assertThat(f()).containsExactly(1, 2);", {"takes": "ltTqaB", "each": True}),
        (TRUTH, "assertThat(f()).hasLength(1);", {"takes": "saB"}),
        (HAMCREST, 'assertThat(f(), not(containsString("a")));', {"takes": "s", "null": False, "not": True}),
        (HAMCREST, "assertThat(f(), hasSize(1));", {**ITEMS, "null": False}),
        (ASSERTJ, "assertThat(f()).isCloseTo(0.5, within(0.1));", WIDENS),
        (ASSERTJ, 'assertThat(f()).isNotIn("a", "b");', {"converts": True, "not": True}),
        (ASSERTJ, "assertThat(f()).isSameAs(3);", {"boxed": True}),
        (TRUTH, "assertThat(f()).isAtLeast(0.0);", {"total": True, **WIDENS}),
        (TRUTH, "assertThat(f()).isWithin(0.1).of(0.5);", WIDENS),
        (TRUTH, "assertThat(f()).containsNoneOf(1, 2);", {"any": True, "not": True, "called": True, **ITEMS}),
        (HAMCREST, "assertThat(f(), not(lessThan(0.0)));", {"total": True, "boxed": True, "null": False, "not": True}),
        (HAMCREST, "assertThat(f(), not(hasItems(BANNED)));", {"spread": True, "null": False, "not": True, **ITEMS}),
        (HAMCREST, "assertThat(f(), closeTo(0.5, 0.1));", {"null": False, **WIDENS}),
        (HAMCREST, "assertThat(f(), not(nullValue()));", {"not": True}),
        (HAMCREST, "assertThat(f(), either(is(3)).or(nullValue()));", {"parts": JOINED, "any": True, "null": False}),
        (HAMCREST, "assertThat(f(), both(is(3)).and(nullValue()));", {"parts": JOINED, "null": False}),
        (HAMCREST, "assertThat(f(), anyOf(is(3), nullValue()));", {"parts": JOINED, "any": True}),
        (FOUR, "assertEquals(3, f());", {"promotes": "whole"}),
        (FIVE, "assertEquals(3, f());", {}),
        (FIVE, "assertTrue(Objects.equals(3, f()));", {"boxed": True}),
        (FIVE, "assertFalse(List.of(1).contains(f()));", {"called": True, "not": True}),
        (FIVE, "assertFalse(Arrays.asList(1).contains(f()));", {"not": True}),
        (FIVE, "assertIterableEquals(List.of(1), f());", {"flat": True}),
        (FIVE, "assertTrue(Arrays.equals(new int[] {1}, f()));", {"flat": True}),
        (FIVE, "assertSame(3, f());", {"boxed": True}),
        (FIVE, "assertTrue(f() >= 0.0);", {}),
    ],
)
def test_an_assertion_tells_what_its_library_has_in_another_way_than_java(head, body, options):
    [slot] = parsed(in_method(body, head)).slots
    assert slot.assertion.options == options


MATCHERS = "import static org.hamcrest.MatcherAssert.assertThat;\n"


@pytest.mark.parametrize(
    ("head", "matcher", "is_read"),
    [
        ("import static org.hamcrest.Matchers.*;", 'endsWith("a")', True),
        ("import static org.hamcrest.CoreMatchers.endsWith;", 'endsWith("a")', True),
        ("import org.hamcrest.Matchers;", 'Matchers.endsWith("a")', True),
        ("import org.hamcrest.*;", 'Matchers.endsWith("a")', True),
        ("import org.hamcrest.core.StringEndsWith;", 'StringEndsWith.endsWith("a")', True),
        ("import static org.hamcrest.Matchers.is;import static own.Mine.endsWith;", 'is(endsWith("a"))', False),
        ("import static org.hamcrest.Matchers.is;import static own.Mine.*;", 'endsWith("a")', False),
        ("import static org.hamcrest.Matchers.*;", 'Mine.endsWith("a")', False),
        ("import own.Matchers;", 'Matchers.endsWith("a")', False),
        ("import static org.hamcrest.Matchers.*;", 'startsWith("a")', False),
        ("import static org.hamcrest.Matchers.*;", 'not(contains("a"))', False),
    ],
)
def test_a_matcher_of_another_class_is_not_hamcrest_s_whose_name_it_has(head, matcher, is_read):
    own = "Matcher<String> startsWith(String of) { return null; }"
    text = in_class(f"{own} @Test void a() {{ assertThat(f(), {matcher}); }}", MATCHERS + head)
    source = StrippedSource(text.encode(), path="ATest.java", first=0, relatives=({"contains"}, ()))
    assert [slot.assertion.is_unread for slot in source.slots if not slot.assertion.is_unread] == [False] * is_read
    rule = "@Rule public ExpectedException thrown = ExpectedException.none();"
    test = f"@Test public void a() {{ thrown.expectMessage({matcher}); f(); }}"
    body = f"{test} @Test public void b() {{ assertNull(g()); }}"
    slots = parsed(in_class(f"{own}{rule}{body}", FOUR + head)).slots
    assert [slot.assertion.form for slot in slots] == [*(["rule"] if is_read else []), "values"]


def test_testng_asks_each_of_two_whether_it_equals_the_other():
    text = in_method("assertEquals(f(1), g(1));", TESTNG)
    assert "alike(0, goldseam.Handout.of(f(1)), goldseam.Handout.of(g(1)))" in parsed(text).stripped({0: Mode.RESULT})


def test_a_class_of_the_file_is_not_the_library_s_whose_name_it_has():
    own = "static class Assert { static void assertEquals(int a, int b) { } }"
    text = in_class(f"{own} @Test void a() {{ Assert.assertEquals(3, f()); assertTrue(f() > 2); }}", FOUR)
    assert [slot.assertion.op for slot in parsed(text).slots if not slot.assertion.is_unread] == ["java.>"]


@pytest.mark.parametrize(
    "want",
    [
        "Date want = Date.from(Instant.EPOCH);",
        'byte[] want = new BigInteger("10").toByteArray();',
        "char[] want = Character.toChars(65);",
        "DayOfWeek[] want = DayOfWeek.values();",
        'TimeZone want = TimeZone.getTimeZone("UTC");',
        'var want = Pattern.compile("a").matcher("a");',
    ],
)
def test_what_a_method_of_java_makes_that_can_change_is_not_expected_where_the_product_gets_it(want):
    head = f"{FIVE}import java.util.*; import java.time.*; import java.math.*; import java.util.regex.*;"
    for given, is_expected in ((" f(want);", False), ("", True)):
        [slot] = parsed(in_method(f"{want}{given} assertEquals(want, g());", head)).slots
        assert slot.assertion.is_expected is is_expected


@pytest.mark.parametrize(
    ("rows", "is_expected"),
    [
        ('Set.of("a", "b")', False),
        ('Map.of("a", 1, "b", 2).keySet()', False),
        ('Set.copyOf(List.of("a", "b"))', False),
        ("ALL", False),
        ('List.of("a", "b")', True),
        ('new TreeSet<>(List.of("a", "b"))', True),
    ],
)
def test_rows_are_not_expected_that_come_in_another_order_in_each_run(rows, is_expected):
    head = f"{FIVE}import java.util.*;"
    field = 'private static final Set<String> ALL = Set.of("a", "b");'
    [slot] = parsed(
        in_class(f"{field} @Test void a() {{ for (String row : {rows}) assertEquals(row, f(row)); }}", head)
    ).slots
    assert slot.assertion.is_expected is is_expected


def test_rows_of_a_test_are_not_expected_that_come_in_another_order_in_each_run():
    head = '@ParameterizedTest @MethodSource("rows") void a(String want, int n) { assertEquals(want, f(n)); }'
    for kind, is_expected in (("Set", False), ("List", True)):
        listed = f'{kind}.of(Arguments.of("a", 1), Arguments.of("b", 2))'
        source = f"static Stream<Arguments> rows() {{ return {listed}.stream(); }}"
        [slot] = parsed(in_class(f"{head} {source}", f"{FIVE}import java.util.*;")).slots
        assert slot.assertion.is_expected is is_expected


@pytest.mark.parametrize(
    ("declared", "is_expected"),
    [
        ('@Option private String want = "a";', False),
        ('@lib.Inject private String want = "a";', False),
        ('@SuppressWarnings("unused") private String want = "a";', True),
        ('@Option private final String want = "a";', True),
        ('private String want = "a";', True),
    ],
)
def test_a_field_with_an_annotation_may_be_set_by_what_reads_it(declared, is_expected):
    [slot] = parsed(in_class(f"{declared} @Test void a() {{ assertEquals(want, f(this)); }}")).slots
    assert slot.assertion.is_expected is is_expected


CHECKING = 'void on(String want) { assertEquals(want, f()); } @Test void a() { on("a"); f(this); }'


@pytest.mark.parametrize(
    ("text", "is_expected"),
    [
        (f"class ATest implements Lib.Listener {{ public {CHECKING} }}", False),
        (f"class ATest extends Lib.Base {{ @Override {CHECKING} }}", False),
        (f"class ATest {{ class Own extends Lib.Base {{ {CHECKING} }} }}", False),
        (f"class ATest implements Lib.Listener {{ {CHECKING} }}", True),
        (f"class ATest implements Lib.Listener {{ private {CHECKING} }}", True),
        (f"class ATest extends BaseTest {{ {CHECKING} }}", True),
        (f"class ATest {{ public {CHECKING} }}", True),
    ],
)
def test_what_a_method_is_given_is_not_expected_where_the_product_may_call_it_too(text, is_expected):
    [slot] = parsed(f"package money; {FIVE} {text}").slots
    assert slot.assertion.is_expected is is_expected


def test_rows_of_another_class_are_not_those_of_the_file_s_own_provider():
    own = '@DataProvider(name = "r") Object[][] r() { return new Object[][] {{"a", 1}}; }'
    for more, is_expected in ((", dataProviderClass = Rows.class", False), ("", True)):
        test = f'@Test(dataProvider = "r"{more}) void a(String in, int want) {{ assertEquals(f(in), want); }}'
        [slot] = parsed(in_class(f"{own} {test}", TESTNG)).slots
        assert slot.assertion.is_expected is is_expected


def test_a_method_of_a_base_class_hides_one_of_java_that_is_imported():
    text = in_method('assertEquals(format("%s", 1), f());', f"{FIVE}import static java.lang.String.format;")
    for above, is_expected in (({"format"}, False), ((), True)):
        source = StrippedSource(text.encode(), path="ATest.java", first=0, relatives=(above, ()))
        assert source.slots[0].assertion.is_expected is is_expected


@pytest.mark.parametrize(
    ("method", "is_read"),
    [
        ("try { of.run(); } catch (AssertionError e) { of.run(); }", False),
        ("try { of.run(); } catch (Exception | Error e) { }", False),
        ("try { of.run(); } catch (Exception e) { throw e; }", True),
        ("of.run();", True),
    ],
)
def test_an_assertion_stays_in_what_a_method_of_the_file_may_try_again(method, is_read):
    test = "@Test void a() { again(() -> assertEquals(3, f())); assertTrue(g()); }"
    text = in_class(f"void again(Runnable of) {{ {method} }} {test}")
    assert [not slot.assertion.is_unread for slot in parsed(text).slots] == [is_read, True]
    once = "assertThat(f()).satisfiesOnlyOnce(x -> assertThat(x).isEqualTo(3)); assertThat(g()).isEqualTo(3);"
    assert not any(slot.assertion.is_expected for slot in parsed(in_method(once, ASSERTJ)).slots[:-1])


@pytest.mark.parametrize(
    ("head", "body", "before", "after"),
    [
        (FOUR, 'assertEquals("is " + lib.name() + n, 3, f());', '"" + (lib.name())', ""),
        (FIVE, 'assertEquals(3, f(), "is " + lib.name() + other);', "", '"" + (lib.name()) + (other)'),
        (FIVE, 'assertEquals(3, f(), String.format("want 3, is %s", lib.name()));', "", '"" + (lib.name())'),
        (FIVE, 'assertEquals(3, f(), lib.describe("want 3"));', "", ""),
        (FIVE, 'assertEquals(3, f(), () -> "is " + lib.name());', "", ""),
        (HAMCREST, "assertThat(lib.name(), f(), is(3));", '"" + (lib.name())', ""),
        (ASSERTJ, 'assertThat(f()).as("want 3 %s", lib.name()).isEqualTo(3);', "", '"" + (lib.name())'),
    ],
)
def test_what_a_message_asks_of_the_product_is_still_asked_and_not_what_is_written_out_in_it(head, body, before, after):
    said = [f"goldseam.Handout.said({part});" if part else "" for part in (before, after)]
    text = stripped(in_class(f"Lib lib, other; int n; @Test void a() {{ {body} }}", head))
    values = "goldseam.Handout.values(0, goldseam.Handout.of(f()));"
    assert f"{{ try {{ {said[0]}{values}{said[1]} }} catch" in text
    assert "want 3" not in text


GUAVA = f"{FIVE}import com.google.common.collect.*;"


@pytest.mark.parametrize(
    ("body", "is_expected"),
    [
        ("ImmutableList.Builder<A> want = ImmutableList.builder(); want.add(f()); T(want.build());", False),
        ("ImmutableList.Builder<A> want = ImmutableList.builder(); if (p()) want.add(1); T(want.build());", False),
        ("ImmutableList<A> want = ImmutableList.<A>builder().add(1).build(); g(want); T(want);", True),
        ("List<A> want = new ArrayList<>(); g(() -> T(want)); want.add(1); h(); want.add(2);", False),
        ("List<A> want = new ArrayList<>(); want.add(1); assertAll(() -> T(want));", True),
        ("List<A> want = new ArrayList<>(List.of(1)); Lib.assertSorted(want); T(want);", False),
        ("List<A> want = new ArrayList<>(List.of(1)); assertSorted(want); T(want);", True),
        ("List<A> want = new ArrayList<>(List.of(1)); other.Lib.assertSorted(want); T(want);", False),
        ("List<A> want = new ArrayList<>(List.of(1)); org.junit.Assert.assertNotNull(want); T(want);", True),
        ('T(new File("a").toURI());', False),
        ('T(new File("a").toPath().toUri());', False),
        (
            "g(new L()); T(w); } final List<A> w = new ArrayList<>(); class L { void a() { ATest.this.w.add(1); }",
            False,
        ),
        (
            "g(new L()); T(w); } final List<A> w = new ArrayList<>(); class L { ATest b; void a() { b.w.add(1); }",
            False,
        ),
        ("g(new L()); T(all[0]); } final int[] all = {0}; class L { void on(A a) { ATest.this.all[0]++; }", False),
        ("A other = f(); g(other.all); T(all); } final List<A> all = new ArrayList<>(List.of(1)); {", True),
        ("} record Row(int W) { void is() { T(W); } } static final int W = 3; {", False),
        ("T(W); } static final int W = 3; record Row(int W) {", True),
        ("} static final int W = 3; class Own extends Lib.Base { void is() { T(W); }", False),
        ("new Lib.Base() { void is() { T(W); } }.is(); } static final int W = 3; {", False),
        ("} static final int W = 3; class Own extends Named { void is() { T(W); } } class Named { int W = f();", False),
        ("new Runnable() { public void run() { T(W); } }.run(); } static final int W = 3; {", True),
        ("} static final int W = 3; class Own extends Named { void is() { T(W); } } class Named {", True),
        ("switch (f()) { case Row(int n, int W) -> T(W); } } static final int W = 3; {", False),
        ("switch (f()) { case Integer W -> T(W); } } static final int W = 3; {", False),
    ],
)
def test_what_a_name_stands_for_that_something_else_sets_or_fills_is_not_expected(body, is_expected):
    text = in_class(
        f"@Test void a() {{ {body.replace('T(', 'assertEquals(Lib.x(), ')} }}",
        f"{GUAVA} import java.util.*; import java.io.*;",
    )
    source = StrippedSource(text.encode(), path="ATest.java", first=0, beside={"Lib"})
    [slot] = [slot for slot in source.slots if not slot.assertion.is_unread]
    assert slot.assertion.is_expected is is_expected


def test_a_method_of_another_file_takes_what_it_is_given_as_its_parameters_say():
    checks = b"""class Checks {
    static void assertIs(Object want, Object got) { assertEquals(want, got); }
    static void assertLongs(long want, long got) { org.junit.Assert.assertEquals(want, got); }
    static void assertMore(int want, int got) { assertTrue(got > want); }
}"""
    known = helpers.helpers_in([f"import static org.junit.jupiter.api.Assertions.*;{checks.decode()}".encode()])
    assert {name: dict(helper.options) for name, helper in known.items()} == {
        "assertIs": {"boxed": True}, "assertLongs": {}, "assertMore": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "head", "body"),
    [
        ("core/src/main/java/org/assertj/core/api/Assertions.java", ASSERTJ, "assertThat(f()).isEqualTo(3);"),
        ("src/main/java/com/google/common/truth/Truth.java", TRUTH, "assertThat(f()).isEqualTo(3);"),
        ("src/main/java/org/hamcrest/MatcherAssert.java", HAMCREST, "assertThat(f(), is(3));"),
        ("src/main/java/org/hamcrest/MatcherAssert.java", FOUR, "assertThat(f(), org.hamcrest.CoreMatchers.is(3));"),
        ("src/main/java/org/junit/jupiter/api/Assertions.java", FIVE, "assertEquals(3, f());"),
        ("src/main/java/org/testng/Assert.java", "import org.testng.Assert;", "Assert.assertEquals(f(), 3);"),
    ],
)
def test_what_a_library_asserts_in_its_own_repository_is_the_product_s_to_say(path, head, body):
    for paths, is_read in (([path], False), ([f"src/test/java/other/{path.rpartition('/')[2]}"], True)):
        source = StrippedSource(
            in_method(body, head).encode(), path="ATest.java", first=0, products=sites.products_in(paths)
        )
        assert bool(source.slots) is is_read


def test_what_is_printed_goes_only_where_no_test_looks_at_it():
    body = '{} System.out.println("secret"); p.print("secret"); assertFalse(mask(o.toString()).contains("a"));'
    assert left(body.format("")).count("secret") == 1
    assert left(body.format("System.setOut(new PrintStream(o));")).count("secret") == 2
    assert "secret" in left('p.fail("secret"); assertEquals(3, f(1));')


def test_a_number_is_between_two_of_its_own_class():
    [slot] = parsed(in_method("assertThat(f()).isBetween(1, 3);", ASSERTJ)).slots
    assert [part["options"] for part in slot.assertion.options["parts"]] == [{"total": True, "boxed": True}] * 2


@pytest.mark.parametrize(
    ("wanted", "is_static"),
    [
        ("want.toString()", False), ('String.join(",", Set.of("a", "b"))', False), ("new ArrayList<>(want)", False),
        ("List.copyOf(want)", False), ("want.size()", True), ("new HashSet<>(want)", True),
        ("List.of(1).toString()", True),
    ],
)  # fmt: skip
def test_the_order_of_what_has_another_one_in_each_run_is_not_expected(wanted, is_static):
    body = f'Set<String> want = Set.of("a", "b"); assertEquals({wanted}, f(1));'
    [slot] = parsed(in_method(body, FOUR)).slots
    assert slot.assertion.operands[0].static is is_static


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (FOUR, "errors.checkThat(f(1), is(3));"),
        ("import static org.testng.Assert.*;\n", "expectThrows(A.class, () -> f(1));"),
        ("import static org.assertj.core.api.BDDAssertions.then;\n", "then(f(1)).isEqualTo(3);"),
        ("import static org.mockito.BDDMockito.*;\n", "then(f).should().g(3);"),
    ],
)
def test_an_assertion_of_another_name_that_stays_inside_is_known(head, body):
    source = parsed(in_method(body + " org.junit.Assert.assertEquals(3, f(1));", head))
    assert [slot.assertion.is_unread for slot in source.slots] == [True, False]
