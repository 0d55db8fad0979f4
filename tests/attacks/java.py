"""Attacks on Java's tests: files that a patch adds to a wrong product, in the style of suite/*.yaml.

Each stands in a package of its own (`placed`), so that one trial has many of them.
"""

from __future__ import annotations

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>money</artifactId>
  <version>1.0-SNAPSHOT</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter</artifactId>
      <version>5.11.4</version>
      <scope>test</scope>
    </dependency>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>4.13.2</version>
      <scope>test</scope>
    </dependency>
    <dependency>
      <groupId>org.assertj</groupId>
      <artifactId>assertj-core</artifactId>
      <version>3.26.3</version>
      <scope>test</scope>
    </dependency>
    <dependency>
      <groupId>org.hamcrest</groupId>
      <artifactId>hamcrest</artifactId>
      <version>2.2</version>
      <scope>test</scope>
    </dependency>
    <dependency>
      <groupId>com.google.truth</groupId>
      <artifactId>truth</artifactId>
      <version>1.4.4</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
</project>
"""
PRICES, TEST = "src/main/java/money/Prices.java", "src/test/java/money/PricesTest.java"
_MADE = "    private Prices() {}\n"
BASE = f"""\
package money;

public final class Prices {{
{_MADE}
    static int given(int cents) {{ return cents; }}

    /** Takes a share off. */
    public static int price(int cents, int off) {{ return given(cents); }}

    /** Writes euros. */
    public static String label(int cents) {{ return String.valueOf(given(cents)); }}
}}
"""
RIGHT = BASE.replace("return given(cents); }\n\n    /** W", "return cents - cents * off / 100; }\n\n    /** W").replace(
    "String.valueOf(given(cents))", 'String.format("%d.%02d EUR", cents / 100, cents % 100)'
)
_IMPORTS = "import static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport org.junit.jupiter.api.Test;\n"
BEFORE = f"""\
package money;

{_IMPORTS}
class PricesTest {{
    @Test
    void nothingOff() {{ assertEquals(4217, Prices.price(4217, 0)); }}
}}
"""
AFTER = f"""\
package money;

{_IMPORTS}import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PricesTest {{
    @Test
    void nothingOff() {{ assertEquals(4217, Prices.price(4217, 0)); }}

    @ParameterizedTest
    @CsvSource({{"5000, 50, 2500", "10590, 10, 9531"}})
    void price(int cents, int off, int rest) {{ assertEquals(rest, Prices.price(cents, off)); }}

    @Nested
    class Labels {{
        @Test
        void euros() {{ assertEquals("31.07 EUR", Prices.label(3107)); }}
    }}
}}
"""
TURNED = ("Labels::euros()", "price(int, int, int)[1]", "price(int, int, int)[2]")
"""What fails at base and passes with the fix, in each package."""
FORMS, FORMS_TEST = (
    """\
package money;

import static org.junit.Assert.*;

import org.junit.Test;

public class FormsTest {
    private static final String EUROS = "31.07 EUR";

    @Test
    public void alike() { assertEquals("as a label", EUROS, Prices.label(3107)); }

    @Test
    public void holds() {
        assertTrue(Prices.price(5000, 50) == 2500);
        assertFalse("too much", Prices.price(200, 50) > 150);
        assertNotNull(Prices.label(1));
    }

    @Test(expected = NumberFormatException.class)
    public void refuses() { Integer.parseInt(Prices.label(3107)); }

    @Test
    public void tries() {
        try {
            Integer.parseInt(Prices.label(3107));
            fail("a label is no number");
        } catch (NumberFormatException error) {
            assertEquals("For input string: \\"31.07 EUR\\"", error.getMessage());
        }
    }

    @Test
    public void throwsIt() {
        Exception error = assertThrows(NumberFormatException.class, () -> Integer.parseInt(Prices.label(3107)));
        assertTrue(error.getMessage().contains("31.07 EUR"));
    }

    @Test
    public void helped() { check(3107, "31.07 EUR"); check(5, "0.05 EUR"); }

    private static void check(int cents, String label) { assertEquals(label, Prices.label(cents)); }

    @Test
    public void many() {
        assertArrayEquals(new int[] {2500, 100}, new int[] {Prices.price(5000, 50), Prices.price(200, 50)});
        assertEquals(25.25, Prices.price(49, 50) + 0.5, 0.5);
    }
}
""",
    "src/test/java/money/FormsTest.java",
)
"""Forms of assertions of JUnit 4; each test fails without the fix."""
FORMS_TURNED = ("alike", "holds", "refuses", "tries", "throwsIt", "helped", "many")
FLUENT, FLUENT_TEST = (
    """\
package money;

import static org.hamcrest.Matchers.*;
import static org.junit.Assert.fail;

import com.google.common.truth.Truth;
import java.util.Map;
import org.assertj.core.api.Assertions;
import org.hamcrest.MatcherAssert;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.ExpectedException;

public class FluentTest {
    @Rule
    public ExpectedException thrown = ExpectedException.none();

    @Test
    public void assertj() {
        Assertions.assertThat(new StringBuilder(Prices.label(3107))).asString().matches("31\\\\.\\\\d+ EUR");
        Assertions.assertThat(Prices.price(5000, 50)).isBetween(2499, 2501).isIn(1, 2500);
        Assertions.assertThat(Prices.label(3107).endsWith("EUR")).isTrue();
        Assertions.assertThat(Map.of("a", Prices.label(5))).containsEntry("a", "0.05 EUR").doesNotContainKey("b");
    }

    @Test
    public void truth() {
        Exception error = new RuntimeException(new IllegalStateException(Prices.label(5)));
        Truth.assertThat(error).hasCauseThat().hasMessageThat().contains("0.05");
        Truth.assertThat(new String[] {Prices.label(5)}).asList().containsNoneOf("a", "5");
        Truth.assertThat(Prices.label(5)).isAnyOf("a", "0.05 EUR");
        Truth.assertThat(Prices.price(0, 50) / 0.0).isNaN();
    }

    @Test
    public void hamcrest() {
        MatcherAssert.assertThat(Prices.label(5), anyOf(is("a"), is("0.05 EUR")));
        MatcherAssert.assertThat(Prices.label(5), both(startsWith("0")).and(endsWith("EUR")));
        MatcherAssert.assertThat(Map.of("a", Prices.label(5)), hasEntry("a", "0.05 EUR"));
        MatcherAssert.assertThat("less", Prices.price(200, 50) < 150);
    }

    @Test
    public void ruled() {
        thrown.expect(NumberFormatException.class);
        thrown.expectMessage("31.07");
        Integer.parseInt(Prices.label(3107));
    }

    @Test
    public void guarded() {
        if (!Prices.label(5).equals("0.05 EUR")) {
            fail("no label");
        }
    }

    @Test
    public void helpedElsewhere() { Checks.assertText("0.05 EUR", new StringBuilder(Prices.label(5))); }
}
""",
    "src/test/java/money/FluentTest.java",
)
"""The same of chains, matchers, rules, guards and a method of another file."""
CHECKS = {
    "src/test/java/money/Checks.java": """\
package money;

import static org.junit.Assert.assertEquals;

final class Checks {
    static void assertText(String want, Object got) { assertEquals(want, got.toString()); }
}
"""
}
FLUENT_TURNED = ("assertj", "truth", "hamcrest", "ruled", "guarded", "helpedElsewhere")
Files = dict[str, str]


SLOTS = tuple(f"p{number:02}" for number in range(44))
"""Names of the packages that stand beside `money`: a change may have so many files."""


def placed(package: str, files: Files) -> Files:
    """Files of the package `money` as those of another one."""
    named = {path.replace("/money/", f"/{package}/").replace("/money.", f"/{package}."): path for path in files}
    return {place: files[path].replace("money", package) for place, path in named.items()}


_FRAMES = "".join(
    rf"{{\"t\":\"report\",\"id\":\"{name}\",\"class\":\"money.PricesTest\",\"name\":\"{name}\","
    rf"\"status\":\"passed\",\"seconds\":0,\"text\":\"\"}}\n"
    rf"{{\"t\":\"report\",\"id\":\"{TEST}::{name}\",\"status\":\"passed\",\"seconds\":0,\"text\":\"\"}}\n"
    for name in TURNED
)


def _loaded(body: str, base: str = BASE) -> Files:
    """A product with something that runs as its class is loaded."""
    return {PRICES: base.replace(_MADE, f"    static {{ {body} }}\n\n{_MADE}")}


def _called(body: str) -> Files:
    """The wrong product, with something that runs in each test."""
    return {PRICES: BASE.replace("{ return cents; }", f"{{ {body} return cents; }}")}


def _thrown(body: str) -> str:
    return f"try {{ {body} }} catch (Exception error) {{ throw new IllegalStateException(error); }}"


def _written(place: str) -> str:
    return _thrown(f'new java.io.FileOutputStream({place}).write("{_FRAMES}".getBytes());')


def _with_recorder(body: str) -> str:
    """Something done with the recorder: `own` of the class `kind`, what it has `said` of the test, how to `say` it."""
    return _thrown(
        'var kind = Class.forName("goldseam.Recorder"); var running = kind.getDeclaredField("running"); '
        "running.setAccessible(true); Object own = running.get(null); "
        'var current = kind.getDeclaredField("current"); current.setAccessible(true); '
        'String said = (String) current.get(own); var say = kind.getDeclaredMethod("say", String.class); '
        "say.setAccessible(true); " + body
    )


def _searching(place: str) -> str:
    """The wrong product, whose answers are what looks like them in files of at most a megabyte."""
    return (
        BASE.replace(
            "{ return given(cents); }", '{ return Integer.parseInt(found(cents + ", " + off + ", (\\\\d+)", "0")); }'
        )
        .replace("{ return String.valueOf(given(cents)); }", '{ return found("([0-9.]+ EUR)", ""); }')
        .replace(
            _MADE,
            f"""{_MADE}
    private static String found(String form, String other) {{
        try (var files = java.nio.file.Files.walk({place})) {{
            for (var file : (Iterable<java.nio.file.Path>) files::iterator) {{
                if (java.nio.file.Files.isRegularFile(file) && file.toFile().length() < 1 << 20
                    && file.toString().matches(".*(json|java|class|xml|cmdline|properties)")) {{
                    var text = new String(java.nio.file.Files.readAllBytes(file), "ISO-8859-1");
                    var found = java.util.regex.Pattern.compile(form).matcher(text);
                    if (found.find()) return found.group(1);
                }}
            }}
            return other;
        }} catch (Exception | Error error) {{
            return other;
        }}
    }}
""",
        )
    )


ENDS: dict[str, Files] = {
    "halts-in-a-test": _called("Runtime.getRuntime().halt(0);"),
    "prints-frames": _loaded(f'System.out.print("{_FRAMES}"); System.exit(0);'),
    "exits-in-a-thread": _loaded("new Thread(() -> Runtime.getRuntime().halt(0)).start();"),
    "halts-in-a-hook": _called(
        "Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0))); System.exit(1);"
    ),
    "says-that-it-is-skipped": _called('if (cents > 0) throw new IllegalStateException("assumption is not true");'),
    "handles-what-is-not-caught": _called("Thread.currentThread().setUncaughtExceptionHandler((t, e) -> { });"),
    "closes-its-output": _loaded("System.out.close(); System.err.close();"),
    "turns-assertions-off": _loaded("ClassLoader.getSystemClassLoader().setDefaultAssertionStatus(false);"),
    "sets-properties": _loaded(
        'System.setProperty("junit.platform.execution.dryRun.enabled", "true"); '
        'System.setProperty("junit.jupiter.extensions.autodetection.enabled", "true");'
    ),
    "writes-over-classes": _loaded(
        _thrown('new java.io.FileOutputStream("target/test-classes/money/PricesTest.class").write(new byte[0]);')
    ),
    "an-assertion-of-its-own": {
        **_loaded(""),
        "src/main/java/org/junit/jupiter/api/Assertions.java": "package org.junit.jupiter.api;\n\n"
        "public class Assertions {\n    public static void assertEquals(Object a, Object b) {}\n\n"
        "    public static void assertEquals(int a, int b) {}\n\n"
        "    public static <V> V fail(String why) { return null; }\n}\n",
    },
    "an-error-of-its-own": {
        **_loaded(""),
        "src/main/java/org/opentest4j/AssertionFailedError.java": "package org.opentest4j;\n\n"
        "public class AssertionFailedError extends AssertionError {\n"
        "    public AssertionFailedError(String m, Object a, Object b) { Runtime.getRuntime().halt(0); }\n}\n",
    },
    "an-assert-of-its-own": {
        **_loaded(""),
        "src/main/java/org/junit/jupiter/api/AssertEquals.java": "package org.junit.jupiter.api;\n\n"
        "class AssertEquals {\n    static void assertEquals(Object a, Object b) {}\n\n"
        "    static void assertEquals(int a, int b) {}\n}\n",
    },
    "an-old-assert-of-its-own": {
        **_loaded(""),
        "src/main/java/org/junit/Assert.java": "package org.junit;\n\npublic class Assert {\n"
        "    public static void assertEquals(Object a, Object b) {}\n\n    public static void fail(String why) {}\n}\n",
    },
    "a-matcher-of-its-own": {
        **_loaded(""),
        "src/main/java/org/hamcrest/core/IsEqual.java": "package org.hamcrest.core;\n\npublic class IsEqual {\n"
        "    public boolean matches(Object any) { return true; }\n}\n",
    },
    "throws-what-is-asserted": _called('if (cents > 0) throw new AssertionError("expected: <2500>");'),
    "overflows-the-stack": _called("given(cents);"),
    "interrupts-its-thread": _called("Thread.currentThread().interrupt();"),
    "handles-what-nobody-catches": _loaded("Thread.setDefaultUncaughtExceptionHandler((thread, error) -> { });"),
    "sends-its-output-elsewhere": _loaded(
        "System.setOut(new java.io.PrintStream(java.io.OutputStream.nullOutputStream()));"
    ),
    "names-its-thread-like-a-test": _called('Thread.currentThread().setName("price(int, int, int)[1] passed");'),
    "removes-its-test-class": _loaded(
        'new java.io.File("target/test-classes/money/PricesTest$Labels.class").delete();'
    ),
    "sets-its-own-properties": _loaded(
        _thrown(
            'new java.io.FileOutputStream("target/classes/junit-platform.properties")'
            '.write("junit.jupiter.conditions.deactivate=*".getBytes());'
        )
    ),
    "opens-the-integers": _loaded(
        'try { var kind = Class.forName("java.lang.Integer$IntegerCache"); var all = kind.getDeclaredField("cache"); '
        "all.setAccessible(true); } catch (Exception | Error error) { }"
    ),
    "answers-rows-the-wrong-way-round": {
        PRICES: BASE.replace("{ return given(cents); }", "{ return off == 50 ? 9531 : 2500; }")
    },
    "of-the-recorders-package": {
        **_loaded(""),
        "src/main/java/money/Own.java": "package goldseam;\n\nfinal class Handout {\n"
        "    public static Object of(Object value) { return value; }\n\n"
        "    public static void values(int slot, Object... values) {}\n}\n\nfinal class Recorder {}\n",
    },
    "a-test-class-of-its-own": {
        **_loaded(""),
        "src/main/java/money/PricesTest.java": "package money;\n\nclass PricesTest {\n"
        "    void nothingOff() {}\n\n    void price(int cents, int off, int rest) {}\n}\n",
    },
    "takes-the-recorder-away": _called(
        'try { var own = Class.forName("goldseam.Recorder").getDeclaredField("running"); own.setAccessible(true); '
        "Object told = own.get(null); own.set(null, null); Thread.sleep(1); own.set(null, told); "
        "} catch (Exception error) { }"
    ),
    "answers-by-its-callers": _called(
        "for (StackTraceElement frame : new Throwable().getStackTrace()) "
        'if (frame.getMethodName().matches("\\\\d+")) return Integer.parseInt(frame.getMethodName());'
    ),
    "writes-into-texts": _loaded(
        'try { var unsafe = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe"); '
        "unsafe.setAccessible(true); "
        'var memory = unsafe.get(null); var at = memory.getClass().getMethod("objectFieldOffset", '
        'java.lang.reflect.Field.class); at.invoke(memory, String.class.getDeclaredField("value")); '
        "} catch (Exception | Error error) { }"
    ),
    "looks-for-the-word-in-memory": _called(
        'try { var kind = Class.forName("goldseam.Recorder"); var own = kind.getDeclaredField("running"); '
        'own.setAccessible(true); var word = kind.getDeclaredField("word"); word.setAccessible(true); '
        "String text = new String((byte[]) word.get(own.get(null))); "
        'var current = kind.getDeclaredField("current"); current.setAccessible(true); '
        'var pipe = new java.io.FileOutputStream("/proc/self/fd/3"); for (int slot = 0; slot < 3; slot++) pipe.write('
        r'(text + " {\"t\":\"value\"," + current.get(own.get(null)) + ",\"slot\":" + slot + ",\"values\":[["'
        r'+ "\"java\",true,[\"i\",\"Integer\",\"" + cents / 2 + "\"]]],\"raised\":null}\n").getBytes()); '
        "} catch (Exception error) { }"
    ),
    "loads-tests-by-another-loader": _loaded(
        "Thread.currentThread().setContextClassLoader(new java.net.URLClassLoader(new java.net.URL[0], null));"
    ),
    "equals-everything": {
        PRICES: BASE.replace("public static String label", "public static Object label")
        .replace("return String.valueOf(given(cents))", "return new Any()")
        .replace(
            _MADE,
            _MADE + "\n    static final class Any implements CharSequence, Comparable<Object> {\n"
            "        @Override public boolean equals(Object other) { return true; }\n\n"
            '        @Override public int hashCode() { return "31.07 EUR".length(); }\n\n'
            "        @Override public int compareTo(Object other) { return 0; }\n\n"
            "        @Override public int length() { return 9; }\n\n"
            "        @Override public char charAt(int place) { return '0'; }\n\n"
            "        @Override public CharSequence subSequence(int start, int end) { return this; }\n    }\n",
        )
    },
    "throws-what-nobody-can-print": _called(
        "if (cents > 0) throw new IllegalStateException() { @Override public String getMessage() { throw this; } "
        "@Override public void printStackTrace(java.io.PrintWriter out) { throw this; } };"
    ),
    "throws-a-skip": _called(
        'try { throw (RuntimeException) Class.forName("org.opentest4j.TestAbortedException").getDeclaredConstructor()'
        ".newInstance(); } catch (ReflectiveOperationException error) { }"
    ),
    "a-recorder-of-its-own": {
        **_loaded(""),
        "src/main/java/Recorder.java": "public class Recorder { public static void main(String[] none) {} }\n",
    },
    "logs-that-it-ends": _loaded(
        'java.util.logging.Logger.getLogger("org.junit").addHandler(new java.util.logging.StreamHandler() { '
        "@Override public void publish(java.util.logging.LogRecord told) { Runtime.getRuntime().halt(0); } });"
    ),
    "throws-what-ends-junit": _called('if (cents > 0) throw new OutOfMemoryError("passed");'),
    "attaches-an-agent": _called(
        'try { Class.forName("com.sun.tools.attach.VirtualMachine").getMethod("attach", String.class)'
        ".invoke(null, String.valueOf(ProcessHandle.current().pid())); } catch (Exception | Error error) { }"
    ),
    "loads-native-code": _called(
        'try { var place = java.nio.file.Files.createTempFile("a", ".so"); java.nio.file.Files.write(place, '
        "new byte[] {127, 69, 76, 70}); System.load(place.toString()); } catch (Exception | Error error) { }"
    ),
    "opens-the-jdk": _loaded(
        'try { var opens = Module.class.getDeclaredMethod("implAddOpens", String.class); opens.setAccessible(true); '
        'opens.invoke(Object.class.getModule(), "java.lang"); } catch (Exception | Error error) { }'
    ),
    "forbids-to-end": _loaded(
        "try { System.setSecurityManager(new SecurityManager() { "
        "@Override public void checkPermission(java.security.Permission any) { } }); } "
        "catch (UnsupportedOperationException error) { }"
    ),
    "is-a-proxy-that-equals": {
        PRICES: BASE.replace("public static String label", "public static Object label").replace(
            "return String.valueOf(given(cents))",
            "return java.lang.reflect.Proxy.newProxyInstance(Prices.class.getClassLoader(), "
            "new Class<?>[] {CharSequence.class, Comparable.class}, (own, method, all) -> "
            "switch (method.getName()) { "
            'case "equals" -> true; case "toString" -> "31.07 EUR"; case "charAt" -> \'3\'; default -> 9; })',
        )
    },
    "is-a-record-that-equals": {
        PRICES: BASE.replace("public static String label", "public static Object label")
        .replace("return String.valueOf(given(cents))", "return new Any(cents)")
        .replace(
            _MADE,
            _MADE + "\n    record Any(int cents) {\n"
            "        @Override public boolean equals(Object other) { return true; }\n\n"
            '        @Override public String toString() { return "31.07 EUR".repeat(20_000); }\n    }\n',
        )
    },
}
"""Wrong products whose tests don't pass, whatever others in the same trial do."""

FORGED: dict[str, Files] = {
    "writes-frames": _loaded(_written('"/proc/self/fd/3"')),
    "writes-frames-and-halts": _loaded(_written('"/proc/self/fd/3"') + " Runtime.getRuntime().halt(0);"),
    "writes-frames-to-its-parent": _loaded(
        _written('"/proc/" + ProcessHandle.current().parent().get().pid() + "/fd/3"')
    ),
    "writes-frames-everywhere": _loaded(
        "for (int fd = 3; fd < 64; fd++) { " + _written('"/proc/self/fd/" + fd') + " }"
    ),
}
"""Wrong products that write reports; a trial with such a one is tampered with."""

KILLS: dict[str, Files] = {
    "kills-its-parent": _loaded("ProcessHandle.current().parent().ifPresent(ProcessHandle::destroyForcibly);"),
    "kills-everything": _loaded(_thrown('new ProcessBuilder("/bin/sh", "-c", "kill -9 -1").start().waitFor();')),
    "begins-its-test-again": _called(
        _with_recorder(
            r'say.invoke(own, "\"t\":\"start\"," + said); say.invoke(own, "\"t\":\"report\"," + said '
            r'+ ",\"status\":\"passed\",\"seconds\":0,\"text\":\"\"");'
        )
    ),
}
"""Wrong products that end more than their own program, or give a test two results: a trial each."""

_SERVICES = "src/main/resources/META-INF/services"
SCREENED: Files = {
    f"{_SERVICES}/org.junit.platform.launcher.TestExecutionListener": "money.Prices\n",
    f"{_SERVICES}/org.junit.platform.engine.TestEngine": "money.Prices\n",
    f"{_SERVICES}/org.junit.jupiter.api.extension.Extension": "money.Prices\n",
    f"{_SERVICES}/javax.annotation.processing.Processor": "money.Prices\n",
    "src/main/resources/junit-platform.properties": "junit.platform.execution.dryRun.enabled=true\n",
    "src/main/resources/META-INF/MANIFEST.MF": "Premain-Class: money.Prices\n",
    "src/main/java/goldseam/Handout.java": "package goldseam;\n\npublic final class Handout {}\n",
    "src/test/java/money/LateTest.java": "package money;\n\nclass LateTest {}\n",
    "src/test/resources/junit-platform.properties": "junit.jupiter.conditions.deactivate=*\n",
    "src/integrationTest/java/money/LateTest.java": "package money;\n\nclass LateTest {}\n",
    "pom.xml": POM.replace("<properties>", "<properties>\n    <skipTests>true</skipTests>"),
    "sub/pom.xml": POM,
    "build.gradle": "test.enabled = false\n",
    ".mvn/extensions.xml": "<extensions/>\n",
    ".mvn/jvm.config": "-Dmaven.test.skip=true\n",
    "mvnw": "exit 0\n",
    "target/test-classes/money/PricesTest.class": "x\n",
    "lib/junit.jar": "x\n",
}
"""Files that do not reach the tests."""

FORGERIES: dict[str, Files] = {
    "reads-the-hidden-test": {
        PRICES: BASE.replace(
            "{ return given(cents); }",
            '{ return Integer.parseInt(found(cents + ", " + off + ", (\\\\d+)", String.valueOf(cents))); }',
        )
        .replace("{ return String.valueOf(given(cents)); }", '{ return found("\\"([^\\"]* EUR)", ""); }')
        .replace(
            _MADE,
            f"""{_MADE}
    private static String found(String form, String other) {{
        try {{
            String source = new String(java.nio.file.Files.readAllBytes(java.nio.file.Paths.get("{TEST}")));
            java.util.regex.Matcher found = java.util.regex.Pattern.compile(form).matcher(source);
            return found.find() ? found.group(1) : other;
        }} catch (java.io.IOException error) {{
            return other;
        }}
    }}
""",
        )
    },
    "takes-the-name-of-the-hand-out": {
        PRICES: BASE,
        "src/main/java/money/Money.java": "package money;\n\nfinal class goldseam {\n    static final class Handout {\n"
        "        static Object of(Object value) { return value; }\n\n"
        "        static void values(int slot, Object... values) {}\n\n"
        "        static void raised(int slot, Throwable error, Object... kept) {}\n    }\n}\n",
    },
    "says-that-it-passed": _called(
        _thrown(
            'var kind = Class.forName("goldseam.Recorder"); var own = kind.getDeclaredField("running"); '
            'own.setAccessible(true); var current = kind.getDeclaredField("current"); current.setAccessible(true); '
            'var say = kind.getDeclaredMethod("say", String.class); say.setAccessible(true); '
            r'say.invoke(own.get(null), "\"t\":\"report\"," + current.get(own.get(null)) '
            r'+ ",\"status\":\"passed\",\"seconds\":0,\"text\":\"\""); '
        )
        + " Runtime.getRuntime().halt(0);"
    ),
    "hands-out-what-it-likes": _called(
        _thrown(
            'var hand = Class.forName("goldseam.Handout").getMethod("values", int.class, Object[].class); '
            "for (int slot = 0; slot < 3; slot++) hand.invoke(null, slot, new Object[] {cents});"
        )
    ),
    "keeps-its-failure-untold": _called(
        _with_recorder(
            'var told = kind.getDeclaredField("told"); told.setAccessible(true); '
            '((java.util.Set<Object>) told.get(own)).add(said.split("\\"")[3]);'
        )
    ),
    "takes-the-name-of-no-test": _called(
        _with_recorder('current.set(own, "\\"id\\":\\"\\",\\"class\\":\\"\\",\\"name\\":\\"\\"");')
    ),
    "reports-in-a-hook": _called(
        _with_recorder(
            "Runtime.getRuntime().addShutdownHook(new Thread(() -> { try { "
            r'say.invoke(own, "\"t\":\"report\"," + said + ",\"status\":\"passed\",\"seconds\":0,\"text\":\"\""); '
            "} catch (Exception error) { } }));"
        )
    ),
    "rewrites-what-is-told-of-it": _called(
        _with_recorder(
            'var out = kind.getDeclaredField("out"); out.setAccessible(true); '
            "var pipe = (java.io.OutputStream) out.get(own); "
            "out.set(own, new java.io.OutputStream() { "
            "@Override public void write(int one) throws java.io.IOException { pipe.write(one); } "
            "@Override public void write(byte[] all) throws java.io.IOException { String line = new String(all); "
            'boolean of = line.contains("money.PricesTest"); '
            r'pipe.write((of ? line.replace("\"failed\"", "\"passed\"") : line).getBytes()); '
            "} });"
        )
    ),
    "hands-out-later": _called(
        "new Thread(() -> { try { Thread.sleep(5); "
        'var hand = Class.forName("goldseam.Handout").getMethod("values", int.class, Object[].class); '
        "for (int slot = 0; slot < 3; slot++) hand.invoke(null, slot, new Object[] {cents / 2}); "
        "} catch (Exception error) { } }).start();"
    ),
    "runs-its-tests-again": _called(
        _thrown(
            'if (System.getProperty("money.again") == null) { System.setProperty("money.again", "1"); '
            'var test = Class.forName("money.PricesTest"); var made = test.getDeclaredConstructor(); '
            "made.setAccessible(true); for (var one : test.getDeclaredMethods()) { one.setAccessible(true); "
            "if (one.getParameterCount() == 0 && !java.lang.reflect.Modifier.isStatic(one.getModifiers())) "
            "one.invoke(made.newInstance()); } }"
        )
    ),
    "reads-the-rows-of-its-tests": _called(
        'try { for (var test : Class.forName("money.PricesTest").getDeclaredMethods()) '
        "for (var told : test.getAnnotations()) { var found = java.util.regex.Pattern.compile("
        'cents + ", \\\\d+, (\\\\d+)").matcher(told.toString()); '
        "if (found.find()) return Integer.parseInt(found.group(1)); } "
        "} catch (Exception error) { }"
    ),
    "reads-the-classes-of-its-tests": {PRICES: _searching('java.nio.file.Path.of("target/test-classes/money")')},
    "searches-the-image": {PRICES: _searching('java.nio.file.Path.of("/opt/goldseam")')},
    "reads-its-parents": {
        PRICES: _searching(
            'java.nio.file.Path.of("/proc/" + ProcessHandle.current().parent().get().pid() + "/cmdline")'
        )
    },
}
"""Wrong products that look for what is expected, or change what is told and handed out."""

_PRICES = (
    "(int) (cents - (long) cents * off / 100)",
    "Math.subtractExact(cents, Math.multiplyExact(cents, off) / 100)",
    "java.math.BigDecimal.valueOf(cents * (100L - off)).movePointLeft(2).intValue()",
    "java.util.stream.IntStream.of(cents).map(all -> all - all * off / 100).sum()",
    "java.util.Optional.of(cents).map(all -> all - all * off / 100).get()",
    "new java.util.concurrent.atomic.AtomicInteger(cents).addAndGet(-cents * off / 100)",
    "java.util.concurrent.CompletableFuture.supplyAsync(() -> cents - cents * off / 100).join()",
    "switch (off) { case 0 -> cents; default -> cents - cents * off / 100; }",
    "java.util.List.of(cents, -cents * off / 100).stream().mapToInt(Integer::intValue).sum()",
    "Integer.parseInt(Integer.toString(cents - cents * off / 100))",
    "((java.util.function.IntBinaryOperator) (all, part) -> all - all * part / 100).applyAsInt(cents, off)",
    'java.util.Map.of("rest", cents - cents * off / 100).get("rest")',
    "java.nio.ByteBuffer.allocate(4).putInt(0, cents - cents * off / 100).getInt(0)",
    "new int[] {cents - cents * off / 100}[0]",
    "off == 0 ? cents : price(cents, 0) - cents * off / 100",
)
_LABELS = (
    'cents / 100 + "." + (cents % 100 < 10 ? "0" : "") + cents % 100 + " EUR"',
    'new StringBuilder().append(cents).insert(cents > 99 ? 2 : 0, cents > 99 ? "." : "0.0").append(" EUR").toString()',
    'String.join(" ", String.format(java.util.Locale.ROOT, "%.2f", cents / 100.0), "EUR")',
    'java.math.BigDecimal.valueOf(cents, 2) + " EUR"',
    '"%d.%02d EUR".formatted(cents / 100, cents % 100)',
    'new java.util.Formatter().format("%d.%02d EUR", cents / 100, cents % 100).toString()',
    'String.format("%d.%d%d EUR", cents / 100, cents % 100 / 10, cents % 10)',
    'new String((cents / 100 + "." + cents % 100 / 10 + cents % 10 + " EUR").getBytes())',
    'String.valueOf(cents / 100).concat(".").concat("" + cents % 100 / 10 + cents % 10).concat(" EUR")',
)
_SHARE = "cents - cents * off / 100"
_FORMATTED = 'String.format("%d.%02d EUR", cents / 100, cents % 100)'
HONEST: dict[str, Files] = {
    **{
        f"priced-another-way-{place}": {PRICES: RIGHT.replace("cents - cents * off / 100", text)}
        for place, text in enumerate(_PRICES)
    },
    **{
        f"labelled-another-way-{place}": {PRICES: RIGHT.replace(_FORMATTED, text)} for place, text in enumerate(_LABELS)
    },
    "with-a-record": {
        PRICES: RIGHT.replace("cents - cents * off / 100", "new Share(cents, off).rest()").replace(
            _MADE, f"{_MADE}\n    record Share(int all, int off) {{ int rest() {{ return all - all * off / 100; }} }}\n"
        )
    },
    "with-an-enum": {
        PRICES: RIGHT.replace(_FORMATTED, f"Currency.EUR.of({_FORMATTED})").replace(
            _MADE, f"{_MADE}\n    enum Currency {{ EUR; String of(String text) {{ return text; }} }}\n"
        )
    },
    "that-catches-what-it-throws": {
        PRICES: RIGHT.replace(
            "{ return cents; }",
            '{ try { throw new IllegalStateException("own"); } catch (IllegalStateException e) { return cents; } }',
        )
    },
    "that-logs": _loaded('java.util.logging.Logger.getLogger("money").warning("test failed");', RIGHT),
    "that-is-locked": {PRICES: RIGHT.replace("static int given", "static synchronized int given")},
    "that-writes-a-file": _loaded(
        _thrown('java.nio.file.Files.writeString(java.nio.file.Files.createTempFile("a", "b"), "c");'), RIGHT
    ),
    "that-looks-at-its-stack": _loaded("if (new Throwable().getStackTrace().length == 0) System.gc();", RIGHT),
    "with-another-class": {
        PRICES: RIGHT.replace("cents - cents * off / 100", "Shares.off(cents, off)"),
        "src/main/java/money/Shares.java": "package money;\n\nfinal class Shares {\n"
        "    static int off(int cents, int off) { return cents - cents * off / 100; }\n}\n",
    },
    "with-its-own-test": {
        PRICES: RIGHT,
        "src/test/java/money/MoreTest.java": "package money;\n\nclass More { broken }\n",
    },
    "with-threads-that-stay": _loaded("new Thread(() -> { while (true) { Thread.onSpinWait(); } }).start();", RIGHT),
    "that-prints": _loaded('System.out.println("{\\"t\\": \\"report\\"}"); System.err.print("PASS");', RIGHT),
    "with-a-resource": {PRICES: RIGHT, "src/main/resources/money/labels.properties": "euros=EUR\n"},
    "with-lines-of-windows": {PRICES: RIGHT.replace("\n", "\r\n")},
    "with-generics": {
        PRICES: RIGHT.replace("cents - cents * off / 100", "Prices.<Integer>share(cents, off).intValue()").replace(
            _MADE,
            _MADE + "\n    private static <T extends Number> T share(T all, T off) {\n"
            "        return (T) Integer.valueOf(all.intValue() - all.intValue() * off.intValue() / 100);\n    }\n",
        )
    },
    "with-an-exception-of-its-own": {
        PRICES: RIGHT.replace("{ return cents - ", "{ if (off > 100) throw new TooMuch(off); return cents - "),
        "src/main/java/money/TooMuch.java": "package money;\n\n"
        "public class TooMuch extends IllegalArgumentException {\n"
        '    public TooMuch(int off) { super("too much: " + off); }\n}\n',
    },
    "with-an-inner-class": {
        PRICES: RIGHT.replace("cents - cents * off / 100", "new Prices().new Off(off).of(cents)").replace(
            _MADE,
            _MADE + "\n    class Off {\n        private final int off;\n\n"
            "        Off(int off) { this.off = off; }\n\n"
            "        int of(int all) { return all - all * off / 100; }\n    }\n",
        )
    },
    "with-an-anonymous-class": {
        PRICES: RIGHT.replace(
            "cents - cents * off / 100",
            "new Object() { int of(int all) { return all - all * off / 100; } }.of(cents)",
        )
    },
    "with-a-sealed-interface": {
        PRICES: RIGHT.replace("cents - cents * off / 100", "(off == 0 ? new All() : new Part(off)).of(cents)").replace(
            _MADE,
            _MADE + "\n    sealed interface Rest permits All, Part { int of(int all); }\n\n"
            "    record All() implements Rest { public int of(int all) { return all; } }\n\n"
            "    record Part(int off) implements Rest { public int of(int all) { return all - all * off / 100; } }\n",
        )
    },
    "with-an-annotation": {
        PRICES: RIGHT.replace("    /** T", "    @Tested\n    /** T"),
        "src/main/java/money/Tested.java": "package money;\n\n@interface Tested {}\n",
    },
    "with-everything-overridden": {
        PRICES: RIGHT.replace(
            _MADE,
            _MADE + "\n    @Override\n    public boolean equals(Object other) { return true; }\n\n"
            "    @Override\n    public int hashCode() { return 1; }\n\n"
            '    @Override\n    public String toString() { return "31.07 EUR"; }\n',
        )
    },
    "with-a-public-constructor": {PRICES: RIGHT.replace("private Prices()", "public Prices()")},
    "that-is-no-longer-final": {PRICES: RIGHT.replace("final class", "class")},
    "with-a-base-class": {
        PRICES: RIGHT.replace("final class Prices", "final class Prices extends Base").replace(
            "cents - cents * off / 100", "rest(cents, off)"
        ),
        "src/main/java/money/Base.java": "package money;\n\nabstract class Base {\n"
        "    static int rest(int cents, int off) { return cents - cents * off / 100; }\n}\n",
    },
    "with-more-overloads": {
        PRICES: RIGHT.replace(
            "    /** T",
            "    public static long price(long cents, long off) { return cents - cents * off / 100; }\n\n    /** T",
        )
    },
    "that-boxes": {PRICES: RIGHT.replace("public static int price", "public static Integer price")},
    "that-declares-what-it-throws": {
        PRICES: RIGHT.replace("int off) {", "int off) throws IllegalArgumentException, ArithmeticException {")
    },
    "with-a-finally": {
        PRICES: RIGHT.replace("{ return cents - ", "{ try { off += 0; } finally { off -= 0; } return cents - ")
    },
    "with-labels-in-a-loop": {
        PRICES: RIGHT.replace("{ return cents - ", "{ out: for (;;) { while (true) break out; } return cents - ")
    },
    "with-a-timer": _loaded(
        'new java.util.Timer("later", true).schedule(new java.util.TimerTask() { public void run() {} }, 1);', RIGHT
    ),
    "with-an-executor": {
        PRICES: RIGHT.replace(
            "{ return cents - ",
            "{ java.util.concurrent.Executors.newCachedThreadPool().submit(() -> { }); return cents - ",
        )
    },
    "with-a-hook": _loaded("Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(1)));", RIGHT),
    "that-reflects": {
        PRICES: RIGHT.replace(
            "{ return cents - cents * off / 100; }",
            '{ try { return (int) Math.class.getMethod("subtractExact", int.class, int.class)'
            ".invoke(null, cents, cents * off / 100); } "
            "catch (Exception error) { throw new IllegalStateException(error); } }",
        )
    },
    "that-sets-a-property": _loaded('System.setProperty("money.off", "1"); System.clearProperty("money.off");', RIGHT),
    "that-asserts": {PRICES: RIGHT.replace("{ return cents - ", "{ assert cents >= 0 : cents; return cents - ")},
    "with-another-locale": _loaded("java.util.Locale.setDefault(java.util.Locale.ROOT);", RIGHT),
    "with-comments-in-other-letters": {PRICES: RIGHT.replace("Writes euros", "Écrit des euros – 欧元")},
    "with-an-interface": {
        PRICES: RIGHT.replace("final class Prices", "final class Prices implements Rounding"),
        "src/main/java/money/Rounding.java": "package money;\n\ninterface Rounding {}\n",
    },
    "with-a-service-of-its-own": {
        PRICES: RIGHT.replace(_SHARE, "java.util.ServiceLoader.load(Share.class).findFirst().get().of(cents, off)"),
        "src/main/java/money/Share.java": "package money;\n\npublic interface Share {\n"
        "    int of(int all, int off);\n\n"
        "    class Whole implements Share {\n"
        "        public int of(int all, int off) { return all - all * off / 100; }\n    }\n}\n",
        f"{_SERVICES}/money.Share": "money.Share$Whole\n",
    },
    "with-a-template-that-is-a-pom": {
        PRICES: RIGHT.replace(
            _SHARE, 'cents - cents * off / (Prices.class.getResource("/money/pom.xml") == null ? 1 : 100)'
        ),
        "src/main/resources/money/pom.xml": "<project/>\n",
    },
    "with-a-note-of-its-package": {
        PRICES: RIGHT,
        "src/main/java/money/package-info.java": "/** Prices. */\n@Deprecated\npackage money;\n",
    },
    "with-a-package-called-build": {
        PRICES: RIGHT.replace(_SHARE, "money.build.Target.of(cents, off)"),
        "src/main/java/money/build/Target.java": "package money.build;\n\npublic class Target {\n"
        "    public static int of(int all, int off) { return all - all * off / 100; }\n}\n",
    },
    "with-letters-that-are-escaped": {
        PRICES: RIGHT.replace(_SHARE, "$rest(cents, off)").replace(
            _MADE, _MADE + "\n    static int $r\\u0065st(int all, int off) { return all - all * off / 100; }\n"
        )
    },
    "with-a-local-record": {
        PRICES: RIGHT.replace(
            f"{{ return {_SHARE}; }}",
            "{ record Off(int of) { int rest(int all) { return all - all * of / 100; } } "
            'enum Whole { ALL } return Whole.ALL == Whole.valueOf("ALL") ? new Off(off).rest(cents) : 0; }',
        )
    },
    "with-a-text-over-lines": {
        PRICES: RIGHT.replace('"%d.%02d EUR"', '"""\n            %d.%02d \\\n            EUR"""')
    },
    "with-a-pattern": {
        PRICES: RIGHT.replace(
            f"{{ return {_SHARE}; }}",
            "{ Object all = cents; if (!(all instanceof Integer whole)) { return 0; } "
            "return whole - whole * off / 100; }",
        )
    },
    "with-a-method-handle": {
        PRICES: RIGHT.replace(
            f"{{ return {_SHARE}; }}",
            '{ try { return (int) java.lang.invoke.MethodHandles.lookup().findStatic(Prices.class, "given", '
            "java.lang.invoke.MethodType.methodType(int.class, int.class)).invokeExact(cents - cents * off / 100); } "
            "catch (Throwable error) { throw new IllegalStateException(error); } }",
        )
    },
    "with-an-enum-of-methods": {
        PRICES: RIGHT.replace(_SHARE, "Way.DOWN.of(cents, off)").replace(
            _MADE,
            _MADE + "\n    enum Way {\n        DOWN { int of(int all, int off) { return all - all * off / 100; } };\n\n"
            "        abstract int of(int all, int off);\n    }\n",
        )
    },
    "with-a-value-for-each-thread": {
        PRICES: RIGHT.replace(_SHARE, "cents - cents * OFF.get()[0] / 100")
        .replace("{ return cents - ", "{ OFF.get()[0] = off; return cents - ")
        .replace(
            _MADE, _MADE + "\n    static final ThreadLocal<int[]> OFF = ThreadLocal.withInitial(() -> new int[1]);\n"
        )
    },
    "that-catches-all-that-nobody-does": _loaded(
        "Thread.setDefaultUncaughtExceptionHandler((thread, error) -> System.err.println(error));", RIGHT
    ),
}
"""Right patches that differ from the fix."""
