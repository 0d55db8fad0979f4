// Runs tests of some classes on JUnit's platform (driver.py starts it) and reports each as it starts and ends on descriptor
// 3, a line each, behind a word that this run alone has. What to do comes on standard input, one line each: that word, then
// `class NAME`; `only CLASS NAME` for single tests; `past ID` for what an earlier run has begun; `order SEED`.
// Handout.java tells by it what tests hand out.

package goldseam;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestEngine;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

public final class Recorder implements TestExecutionListener {
    private static final String[] ENGINES = {
        "org.junit.jupiter.engine.JupiterTestEngine",
        "org.junit.vintage.engine.VintageTestEngine",
        "org.junit.support.testng.engine.TestNGTestEngine",
        "net.jqwik.engine.JqwikTestEngine",
        "org.spockframework.runtime.SpockEngine",
    };
    private static final int MOST = 6000;
    private static final int TIMES = 5001; // of one assertion in one test: with more than 5000 it is not judged on the host, and one more says so
    private static final String NONE = "\"id\":\"\",\"class\":\"\",\"name\":\"\"";

    private static final Map<String, String> FEATURES = new HashMap<>(); // names of Spock's, by class and number

    private static Recorder running;

    private final byte[] word;
    private final OutputStream out;
    private final Map<String, Long> began = new HashMap<>();
    private final Set<String> told = new HashSet<>();
    private final Map<String, Map<Integer, Integer>> handed = new ConcurrentHashMap<>(); // by test, how often each slot is come to
    private volatile String current; // the test that runs
    private volatile Map<Integer, Integer> times; // what it has handed out
    private TestPlan plan;
    private boolean well = true;

    private Recorder(String word, OutputStream out) {
        this.word = word.getBytes(StandardCharsets.US_ASCII);
        this.out = out;
        enter(NONE);
    }

    public static void main(String[] none) throws IOException {
        OutputStream out = new FileOutputStream("/proc/self/fd/3");
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Recorder recorder = new Recorder(asked.readLine(), out);
        running = recorder;
        List<String> classes = new ArrayList<>();
        Set<String> only = new HashSet<>();
        Set<String> past = new HashSet<>();
        String order = null;
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            String value = line.substring(line.indexOf(' ') + 1);
            if (line.startsWith("class ")) {
                classes.add(value);
            } else if (line.startsWith("only ")) {
                only.add(value);
            } else if (line.startsWith("past ")) {
                past.add(value);
            } else {
                order = value;
            }
        }
        System.setIn(new ByteArrayInputStream(new byte[0]));
        int code = 1;
        try {
            code = recorder.run(classes, only, past, order) ? 0 : 1;
            recorder.say("\"t\":\"done\"");
        } catch (Throwable error) {
            error.printStackTrace();
        }
        System.out.flush();
        Runtime.getRuntime().halt(code);
    }

    private boolean run(List<String> names, Set<String> only, Set<String> past, String order) {
        Set<String> whole = new HashSet<>(names);
        only.forEach(test -> whole.remove(test.substring(0, test.indexOf(' '))));
        LauncherConfig.Builder config = LauncherConfig.builder();
        for (Method method : LauncherConfig.Builder.class.getMethods()) { // more of them in each version of the platform
            if (method.getName().matches("enable\\w+AutoRegistration")) {
                try {
                    method.invoke(config, false);
                } catch (ReflectiveOperationException error) {
                    throw new IllegalStateException(error);
                }
            }
        }
        for (String name : ENGINES) {
            try {
                config.addTestEngines((TestEngine) Class.forName(name).getDeclaredConstructor().newInstance());
            } catch (ClassNotFoundException absent) {
                continue;
            } catch (ReflectiveOperationException | LinkageError error) {
                error.printStackTrace();
            }
        }
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String name : names) {
            try {
                selectors.add(DiscoverySelectors.selectClass(
                    Class.forName(name, false, Recorder.class.getClassLoader())));
            } catch (Throwable error) {
                say("\"t\":\"lost\",\"class\":" + quoted(name) + ",\"text\":" + quoted(trace(error)));
            }
        }
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request().selectors(selectors)
            .configurationParameter("junit.jupiter.execution.parallel.enabled", "false");
        request.filters((PostDiscoveryFilter) found -> {
            List<UniqueId.Segment> segments = found.getUniqueId().getSegments();
            UniqueId.Segment last = segments.get(segments.size() - 1);
            if (last.getType().equals("feature")) {
                FEATURES.put(segments.get(1).getValue() + " " + last.getValue(), found.getDisplayName());
            }
            if (!found.isTest() && !found.mayRegisterTests()) {
                return FilterResult.included("");
            }
            Place place = new Place(found.getUniqueId());
            String name = place.name.replaceAll("\\[[^\\]]*\\]", ""); // JUnit 4 knows its rows beforehand
            boolean wanted = whole.contains(place.type) || only.contains(place.type + " " + name);
            String id = found.getUniqueId().toString();
            return FilterResult.includedIf(wanted && past.stream().noneMatch(one -> (one + "/").startsWith(id + "/")));
        });
        if (order != null) {
            String random = "org.junit.jupiter.api.";
            request.configurationParameter("junit.jupiter.execution.order.random.seed", order)
                .configurationParameter("junit.jupiter.testmethod.order.default", random + "MethodOrderer$Random")
                .configurationParameter("junit.jupiter.testclass.order.default", random + "ClassOrderer$Random");
        }
        Launcher launcher = LauncherFactory.create(config.build());
        plan = launcher.discover(request.build());
        launcher.execute(plan, this);
        return well;
    }

    /** Where a test stands: its class, and its name in it. */
    private static final class Place {
        private String type = "";
        private String name = "";

        private Place(UniqueId id) {
            for (UniqueId.Segment segment : id.getSegments()) {
                String kind = segment.getType();
                String value = segment.getValue();
                if (kind.equals("engine")) {
                    continue;
                } else if (type.isEmpty()) {
                    int index = value.lastIndexOf(':'); // TestNG's classes stand in suites
                    type = value.substring(index + 1);
                } else if (kind.equals("test") && value.endsWith("(" + type + ")")) {
                    name = value.substring(0, value.length() - type.length() - 2); // JUnit 4's runners repeat their rows
                } else if (value.startsWith("#")) {
                    name += "[" + value.substring(1) + "]";
                } else if (kind.equals("feature")) {
                    name = FEATURES.getOrDefault(type + " " + value, value);
                } else if (kind.equals("invoc") || kind.equals("iteration")) { // rows of TestNG and Spock
                    name += "[" + value + "]";
                } else {
                    name += (name.isEmpty() ? "" : "::") + value;
                }
            }
        }
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        began.put(test.getUniqueId(), System.nanoTime());
        if (test.isTest() && !test.isContainer()) { // Spock's feature with rows is both
            enter(named(test));
            say("\"t\":\"start\"," + current);
        }
    }

    private void enter(String test) {
        current = test;
        times = handed.computeIfAbsent(test, any -> new ConcurrentHashMap<>());
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        below(test, "skipped", null);
    }

    /** Whether an assertion still hands out what it looks at, by how often the test that runs has come to it. */
    static boolean takes(int slot) {
        if (running == null) {
            return false;
        }
        Map<Integer, Integer> times = running.times;
        Integer before = times.get(slot);
        return (before == null || before < TIMES) && times.merge(slot, 1, Integer::sum) <= TIMES;
    }

    /** Tells what an assertion of the test that runs hands out. */
    static void hand(int slot, String values, String raised) {
        if (running != null) {
            running.say("\"t\":\"value\"," + running.current + ",\"slot\":" + slot + ",\"values\":[" + values
                + "],\"raised\":" + raised);
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Throwable error = result.getThrowable().orElse(null);
        boolean failed = result.getStatus() == TestExecutionResult.Status.FAILED;
        String status = failed ? "failed" : result.getStatus() == TestExecutionResult.Status.ABORTED ? "skipped" : "passed";
        if (test.isTest()) {
            enter(NONE);
        }
        if ((test.isTest() || failed) && plan.getChildren(test).isEmpty()) {
            report(test, status, error);
        } else if (!status.equals("passed")) {
            below(test, status, error);
        }
        well &= !failed;
    }

    /** Reports what did not run since something around it failed or was skipped. */
    private void below(TestIdentifier test, String status, Throwable error) {
        Set<TestIdentifier> children = plan.getChildren(test);
        if (children.isEmpty()) {
            if (!began.containsKey(test.getUniqueId())) {
                report(test, status, error);
            }
        }
        for (TestIdentifier child : children) {
            below(child, status, error);
        }
    }

    private void report(TestIdentifier test, String status, Throwable error) {
        if (!told.add(test.getUniqueId())) {
            return;
        }
        long start = began.getOrDefault(test.getUniqueId(), System.nanoTime());
        StringBuilder raised = new StringBuilder();
        if (status.equals("failed") && error != null) {
            for (Class<?> kind = error.getClass(); kind != Object.class; kind = kind.getSuperclass()) {
                raised.append(raised.length() == 0 ? "" : ",").append(quoted(kind.getSimpleName()));
            }
        }
        say("\"t\":\"report\"," + named(test) + ",\"status\":\"" + status + "\",\"seconds\":"
            + (System.nanoTime() - start) / 1e9
            + ",\"text\":" + quoted(status.equals("failed") && error != null ? trace(error) : "")
            + (raised.length() == 0 ? "" : ",\"raised\":[{\"names\":[" + raised + "]}]"));
    }

    private static String named(TestIdentifier test) {
        Place place = new Place(UniqueId.parse(test.getUniqueId()));
        return "\"id\":" + quoted(test.getUniqueId()) + ",\"class\":" + quoted(place.type) + ",\"name\":" + quoted(place.name);
    }

    private static String trace(Throwable error) {
        StringWriter text = new StringWriter();
        try {
            error.printStackTrace(new PrintWriter(text));
        } catch (Throwable another) {
            text.append(error.getClass().getName());
        }
        return text.toString();
    }

    private synchronized void say(String body) {
        byte[] line = (new String(word, StandardCharsets.US_ASCII) + " {" + body + "}\n").getBytes(StandardCharsets.UTF_8);
        try {
            out.write(line);
        } catch (IOException closed) {
            Runtime.getRuntime().halt(1);
        }
    }

    private static String quoted(String text) {
        return quoted(text, MOST);
    }

    static String quoted(String text, int most) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < Math.min(text.length(), most); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c)) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
