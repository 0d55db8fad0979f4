"""Attacks on Java's tests: files that a patch adds to a wrong product, in the style of suite/*.yaml."""

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
  </dependencies>
</project>
"""
MAIN, TEST = "src/main/java/com/example/money", "src/test/java/com/example/money"
PRICES, PRICES_TEST = f"{MAIN}/Prices.java", f"{TEST}/PricesTest.java"
BASE = """\
package com.example.money;

public final class Prices {
    private Prices() {}

    static int given(int cents) { return cents; }

    /** Takes a share off. */
    public static int price(int cents, int off) { return given(cents); }

    /** Writes euros. */
    public static String label(int cents) { return String.valueOf(given(cents)); }
}
"""
RIGHT = BASE.replace("return given(cents); }\n\n    /** W", "return cents - cents * off / 100; }\n\n    /** W").replace(
    "String.valueOf(given(cents))", 'String.format("%d.%02d EUR", cents / 100, cents % 100)'
)
BEFORE = """\
package com.example.money;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PricesTest {
    @Test
    void nothingOff() { assertEquals(4217, Prices.price(4217, 0)); }
}
"""
AFTER = """\
package com.example.money;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PricesTest {
    @Test
    void nothingOff() { assertEquals(4217, Prices.price(4217, 0)); }

    @ParameterizedTest
    @CsvSource({"5000, 50, 2500", "10590, 10, 9531"})
    void price(int cents, int off, int rest) { assertEquals(rest, Prices.price(cents, off)); }

    @Nested
    class Labels {
        @Test
        void euros() { assertEquals("31.07 EUR", Prices.label(3107)); }
    }
}
"""
TURNED = ("Labels::euros()", "price(int, int, int)[1]", "price(int, int, int)[2]")
"""What fails at base and passes with the fix."""

_CLASS = "com.example.money.PricesTest"
_FRAMES = "".join(
    rf"{{\"t\":\"report\",\"id\":\"{name}\",\"class\":\"{_CLASS}\",\"name\":\"{name}\",\"status\":\"passed\","
    rf"\"seconds\":0,\"text\":\"\"}}\n"
    for name in ("nothingOff()", *TURNED)
)
_OUTER = "".join(
    rf"{{\"t\":\"report\",\"id\":\"{PRICES_TEST}::{name}\",\"status\":\"passed\",\"seconds\":0,\"text\":\"\"}}\n"
    for name in ("nothingOff()", *TURNED)
)


def _static(body: str, more: str = "") -> dict[str, str]:
    """The wrong product, with something that runs as its class is loaded."""
    return {
        PRICES: BASE.replace(
            "    private Prices() {}\n", f"    static {{ {body} }}\n{more}\n    private Prices() {{}}\n"
        )
    }


def _thrown(body: str) -> str:
    return f"try {{ {body} }} catch (Exception error) {{ throw new IllegalStateException(error); }}"


def _given(body: str) -> dict[str, str]:
    """The wrong product, with something that runs in each test."""
    return {PRICES: BASE.replace("{ return cents; }", f"{{ {body} return cents; }}")}


def _written(text: str, descriptor: str) -> str:
    return _thrown(f'new java.io.FileOutputStream("/proc/self/fd/{descriptor}").write("{text}".getBytes());')


_EVERYWHERE = (
    "for (int fd = 1; fd < 64; fd++) { try { "
    f'new java.io.FileOutputStream("/proc/self/fd/" + fd).write("{_FRAMES}{_OUTER}".getBytes()); '
    "} catch (Exception closed) { } }"
)
_SERVICES = "src/main/resources/META-INF/services"

ATTACKS: dict[str, dict[str, str]] = {
    "exits": _static("System.exit(0);"),
    "exits-while-tests-run": _given("System.exit(0);"),
    "halts": _static("Runtime.getRuntime().halt(0);"),
    "halts-while-tests-run": _given("Runtime.getRuntime().halt(0);"),
    "prints-frames": _static(f'System.out.print("{_FRAMES}{_OUTER}"); System.exit(0);'),
    "forged-frames": _static(_written(_FRAMES, "3")),
    "forged-frames-and-exit": _static(_written(_FRAMES, "3") + " Runtime.getRuntime().halt(0);"),
    "forged-frames-everywhere": _static(_EVERYWHERE),
    "forged-frames-to-its-parent": _static(
        _thrown(
            'new java.io.FileOutputStream("/proc/" + ProcessHandle.current().parent().get().pid() + "/fd/3")'
            f'.write("{_OUTER}".getBytes());'
        )
    ),
    "kills-its-parent": _static("ProcessHandle.current().parent().ifPresent(ProcessHandle::destroyForcibly);"),
    "kills-everything": _static(_thrown('new ProcessBuilder("/bin/sh", "-c", "kill -9 -1").start().waitFor();')),
    "a-thread-that-exits": _static("new Thread(() -> Runtime.getRuntime().halt(0)).start();"),
    "a-hook-that-halts": _static(
        "Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0))); System.exit(1);"
    ),
    "skips-itself": {
        PRICES: BASE.replace(
            "{ return cents; }", '{ throw new IllegalStateException("Assumption failed: assumption is not true"); }'
        )
    },
    "catches-nothing": _given("Thread.currentThread().setUncaughtExceptionHandler((t, e) -> { });"),
    "interrupts-the-runner": _given("Thread.currentThread().interrupt();"),
    "another-runner-in-front": {
        "src/main/java/org/junit/jupiter/api/Assertions.java": "package org.junit.jupiter.api;\n\n"
        "public class Assertions {\n    public static void assertEquals(Object a, Object b) {}\n\n"
        "    public static void assertEquals(int a, int b) {}\n}\n"
    },
    "another-assertion-error": {
        "src/main/java/org/opentest4j/AssertionFailedError.java": "package org.opentest4j;\n\n"
        "public class AssertionFailedError extends AssertionError {\n"
        "    public AssertionFailedError(String m, Object a, Object b) { Runtime.getRuntime().halt(0); }\n}\n"
    },
    "another-recorder": {
        "src/main/java/Recorder.java": "public class Recorder { public static void main(String[] a) {} }\n"
    },
    "a-listener-as-a-service": {
        f"{MAIN}/Late.java": "package com.example.money;\n\npublic class Late { static { System.exit(0); } }\n",
        f"{_SERVICES}/org.junit.platform.launcher.TestExecutionListener": "com.example.money.Late\n",
    },
    "an-extension-as-a-service": {
        f"{_SERVICES}/org.junit.jupiter.api.extension.Extension": "com.example.money.Late\n",
        "src/main/resources/junit-platform.properties": "junit.jupiter.extensions.autodetection.enabled=true\n"
        "junit.jupiter.conditions.deactivate=*\n",
    },
    "properties-of-the-platform": {
        "src/main/resources/junit-platform.properties": "junit.platform.execution.dryRun.enabled=true\n"
    },
    "an-engine-as-a-service": {f"{_SERVICES}/org.junit.platform.engine.TestEngine": "com.example.money.Late\n"},
    "own-tests": {
        f"{TEST}/LateTest.java": "package com.example.money;\n\nclass LateTest { static { System.exit(0); } }\n"
    },
    "another-test-of-the-name": {PRICES_TEST: "package com.example.money;\n\nclass PricesTest {}\n"},
    "a-pom-that-skips-tests": {"pom.xml": POM.replace("<properties>", "<properties>\n    <skipTests>true</skipTests>")},
    "a-pom-with-an-agent": {
        "pom.xml": POM.replace("<properties>", "<properties>\n    <argLine>-javaagent:a.jar</argLine>")
    },
    "a-pom-without-sources": {
        "pom.xml": POM.replace(
            "</properties>", "</properties>\n  <build><testSourceDirectory>x</testSourceDirectory></build>"
        )
    },
    "an-extension-of-maven": {".mvn/extensions.xml": "<extensions/>\n", ".mvn/jvm.config": "-Dmaven.test.skip=true\n"},
    "compiled-tests": {"target/test-classes/com/example/money/PricesTest.class": "x\n"},
    "a-library-in-the-tree": {"lib/junit.jar": "x\n"},
    "a-processor-that-exits": {
        f"{_SERVICES}/javax.annotation.processing.Processor": "com.example.money.Late\n",
        f"{MAIN}/Late.java": "package com.example.money;\n\nimport javax.annotation.processing.AbstractProcessor;\n\n"
        "public class Late extends AbstractProcessor {\n    static { System.exit(0); }\n\n    public boolean process("
        "java.util.Set<? extends javax.lang.model.element.TypeElement> a, "
        "javax.annotation.processing.RoundEnvironment r) { return false; }\n}\n",
    },
    "a-module-of-the-jdk": {
        "src/main/java/java/lang/AssertionError.java": "package java.lang;\n\npublic class AssertionError extends Error {}\n"
    },
}
"""Files by path, over the wrong product; each costs a run of its own."""

FORGERIES: dict[str, dict[str, str]] = {
    "reads-the-hidden-test": {
        PRICES: BASE.replace(
            "{ return given(cents); }",
            '{ return Integer.parseInt(found(cents + ", " + off + ", (\\\\d+)", String.valueOf(cents))); }',
        )
        .replace("{ return String.valueOf(given(cents)); }", '{ return found("\\"([^\\"]* EUR)", ""); }')
        .replace(
            "    private Prices() {}\n",
            f"""    private Prices() {{}}

    private static String found(String form, String other) {{
        try {{
            String source = new String(java.nio.file.Files.readAllBytes(java.nio.file.Paths.get("{PRICES_TEST}")));
            java.util.regex.Matcher found = java.util.regex.Pattern.compile(form).matcher(source);
            return found.find() ? found.group(1) : other;
        }} catch (java.io.IOException error) {{
            return other;
        }}
    }}
""",
        )
    },
}
"""What gets through where a task is judged inside, and is told by that word alone."""

HONEST: dict[str, dict[str, str]] = {
    "with-another-class": {
        PRICES: RIGHT.replace("cents - cents * off / 100", "Shares.off(cents, off)"),
        f"{MAIN}/Shares.java": "package com.example.money;\n\nfinal class Shares {\n"
        "    static int off(int cents, int off) { return cents - cents * off / 100; }\n}\n",
    },
    "with-its-own-test": {
        PRICES: RIGHT,
        f"{TEST}/MoreTest.java": "package com.example.money;\n\nclass MoreTest { broken }\n",
    },
    "with-threads-that-outlive": {
        PRICES: RIGHT.replace(
            "    private Prices() {}\n",
            "    static { new Thread(() -> { while (true) { Thread.onSpinWait(); } }).start(); }\n\n    private Prices() {}\n",
        )
    },
    "that-prints": {
        PRICES: RIGHT.replace(
            "    private Prices() {}\n",
            '    static { System.out.println("{\\"t\\": \\"report\\"}"); }\n\n    private Prices() {}\n',
        )
    },
    "with-a-service-of-its-own": {
        PRICES: RIGHT,
        f"{MAIN}/Rounding.java": "package com.example.money;\n\npublic interface Rounding {}\n",
    },
}
"""Right patches that differ from the fix."""
