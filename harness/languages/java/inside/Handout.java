package goldseam;

// What stripped tests call (driver.py compiles it with Recorder.java; beside the tests lies Stub.java, which has the same
// methods and is what these are compiled against). A stripped assertion is
// `{ try { goldseam.Handout.values(SLOT, goldseam.Handout.of(OPERAND)); } catch (Throwable e) { goldseam.Handout.raised(SLOT, e); } }`:
// what is expected stays on the host, which compares. The test goes on, whatever comes out.

import java.io.File;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.Charset;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Currency;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.UUID;

public final class Handout {
    private static final int ITEMS = 20000;
    private static final int LETTERS = 1 << 18;
    private static final int LEVELS = 40;
    private static final int MOST_ASKED = 100; // of what is in a set, as each may be looked for at length
    private static final Class<?>[] TEXTS = {
        BigDecimal.class, BigInteger.class, URI.class, UUID.class, Locale.class, Charset.class, Currency.class, File.class,
        Path.class,
    };

    private Handout() {}

    /** What is called and watched for an exception. */
    public interface Body {
        void run() throws Throwable;
    }

    /** What gives a value where the test is to go on without it. */
    public interface Source<T> {
        T get() throws Throwable;
    }

    private static final class Primitive {
        private final Object value;

        private Primitive(Object value) {
            this.value = value;
        }
    }

    private static final class TooMuch extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    public static Object of(boolean value) {
        return new Primitive(value);
    }

    public static Object of(byte value) {
        return new Primitive(value);
    }

    public static Object of(short value) {
        return new Primitive(value);
    }

    public static Object of(char value) {
        return new Primitive(value);
    }

    public static Object of(int value) {
        return new Primitive(value);
    }

    public static Object of(long value) {
        return new Primitive(value);
    }

    public static Object of(float value) {
        return new Primitive(value);
    }

    public static Object of(double value) {
        return new Primitive(value);
    }

    public static Object of(Object value) {
        return value;
    }

    /** An enum's constant of that name; whatever else it is can't be told of outside. */
    public static Object constant(String name, Object value) {
        return value instanceof Enum && ((Enum<?>) value).name().equals(name) ? value : new Object();
    }

    /** What Java's own `contains` is asked of; of what has one of its own, only that tells. */
    public static Object searched(Object value) throws NoSuchMethodException {
        boolean plain = !(value instanceof Collection)
            || isOfLibrary(value.getClass().getMethod("contains", Object.class).getDeclaringClass());
        return plain ? value : new Object();
    }

    /** Whether a class is Java's, or of a jar: what a patch changes is compiled into a folder. */
    private static boolean isOfLibrary(Class<?> kind) {
        CodeSource source = kind.getProtectionDomain().getCodeSource();
        return kind.getName().startsWith("java.")
            || source != null && source.getLocation() != null && source.getLocation().getPath().endsWith(".jar");
    }

    /** What a message is made of, which may throw. */
    public static void said(String text) {}

    public static void values(int slot, Object... values) {
        hand(slot, values, "", null);
    }

    /** For recordings: what is primitive beside an object of the class that boxes it is boxed, as `equals` gets it. */
    public static void boxed(int slot, Object... values) {
        Set<Class<?>> kinds = new HashSet<>();
        for (Object value : values) {
            kinds.add(value == null || value instanceof Primitive ? null : value.getClass());
        }
        for (int i = 0; i < values.length; i++) {
            values[i] = values[i] instanceof Primitive && kinds.contains(bare(values[i]).getClass()) ? bare(values[i]) : values[i];
        }
        values(slot, values);
    }

    /** Hands out as well whether what is expected equals the other, as the classes themselves have it. */
    public static void equal(int slot, Object expected, Object value) {
        hand(slot, new Object[] {expected, value}, "," + Objects.equals(bare(expected), bare(value)), null);
    }

    /** The same where each has to equal the other, as TestNG asks. */
    public static void alike(int slot, Object expected, Object value) {
        boolean equal = Objects.equals(bare(expected), bare(value)) && Objects.equals(bare(value), bare(expected));
        hand(slot, new Object[] {expected, value}, "," + equal, null);
    }

    /** Hands out as well whether both are one object. */
    public static void same(int slot, Object expected, Object value) {
        hand(slot, new Object[] {expected, value}, "," + (bare(expected) == bare(value)), null);
    }

    public static void raised(int slot, Throwable error, Object... kept) {
        hand(slot, kept, "", error);
    }

    /** Hands out what a body throws, and gives it where it is of that class. */
    public static <T extends Throwable> T thrown(int slot, Class<T> kind, Body body, Object... kept) {
        Throwable error = null;
        try {
            body.run();
        } catch (Throwable raised) {
            error = raised;
        }
        hand(slot, kept, "", error);
        return kind != null && kind.isInstance(error) ? kind.cast(error) : null;
    }

    /** For the compiler: what a block that catches this may throw. */
    public static <T extends Throwable> void throwing() throws T {}

    /** What a source gives, or something else where it throws. */
    public static <T> T tried(T other, Source<T> source) {
        try {
            return source.get();
        } catch (Throwable ends) {
            return other;
        }
    }

    private static Object bare(Object value) {
        return value instanceof Primitive ? ((Primitive) value).value : value;
    }

    private static void hand(int slot, Object[] values, String result, Throwable error) {
        if (!Recorder.takes(slot)) {
            return;
        }
        StringBuilder told = new StringBuilder();
        for (Object value : values) {
            told.append(told.length() == 0 ? "" : ",").append(encoded(value));
        }
        Recorder.hand(slot, told + result, error == null ? "null" : encoded(error));
    }

    private static String encoded(Object value) {
        StringBuilder out = new StringBuilder("[\"java\",").append(value instanceof Primitive).append(',');
        try {
            new Writer(out).value(bare(value), 0);
        } catch (Throwable unreadable) {
            return "[\"java\",false,[\"x\",\"it can't be read\"]]";
        }
        return out.append(']').toString();
    }

    /** Writes one value as JSON; docs/judging.md has its form. */
    private static final class Writer {
        private StringBuilder out;
        private int items = ITEMS;
        private int letters = LETTERS;

        private Writer(StringBuilder out) {
            this.out = out;
        }

        private void value(Object value, int level) {
            if (--items < 0 || level > LEVELS) {
                throw new TooMuch();
            }
            Class<?> kind = value == null ? null : value.getClass();
            if (kind == null) {
                out.append("null");
            } else if (value instanceof Boolean) {
                out.append("[\"b\",").append(value).append(']');
            } else if (value instanceof Byte || value instanceof Short || value instanceof Integer || value instanceof Long) {
                tagged("i", kind.getSimpleName(), value.toString());
            } else if (value instanceof Character) {
                tagged("c", "Character", Integer.toString((Character) value));
            } else if (value instanceof Float || value instanceof Double) {
                tagged("f", kind.getSimpleName(), value.toString());
            } else if (value instanceof String) {
                out.append("[\"s\",").append(text((String) value)).append(']');
            } else if (value instanceof Enum) {
                tagged("e", ((Enum<?>) value).getDeclaringClass().getName(), ((Enum<?>) value).name());
            } else if (value instanceof Class) {
                out.append("[\"K\",").append(text(((Class<?>) value).getName())).append(']');
            } else if (value instanceof Throwable) {
                error((Throwable) value);
            } else if (value instanceof byte[]) {
                bytes((byte[]) value);
            } else if (kind.isArray()) {
                out.append("[\"a\",").append(text(kind.getComponentType().getName())).append(",[");
                for (int i = 0; i < Array.getLength(value); i++) {
                    next(i);
                    value(Array.get(value, i), level + 1);
                }
                out.append("]]");
            } else if (isText(value, kind)) {
                boolean local = value instanceof Path && ((Path) value).getFileSystem() == FileSystems.getDefault();
                Class<?> shown = local ? Path.class : kind;
                tagged("n", shown.getName(), value instanceof Locale ? told((Locale) value) : value.toString());
            } else if (kind == Date.class) {
                tagged("n", kind.getName(), Long.toString(((Date) value).getTime()));
            } else if (value instanceof Optional) {
                out.append("[\"O\",[");
                if (((Optional<?>) value).isPresent()) {
                    value(((Optional<?>) value).get(), level + 1);
                }
                out.append("]]");
            } else if (value instanceof Map) {
                Map<?, ?> map = (Map<?, ?>) value;
                List<String> told = pairs(map, level + 1);
                if (isMiscounted(map, told.size()) || isMapAtOdds(map)) {
                    out.append("[\"x\",").append(text(kind.getName())).append(']');
                } else {
                    boolean sound = isSound(value);
                    boolean ordered = order(value) != null && !sound || isOrdered(value) || isLost(map);
                    listed(ordered ? "M" : "m", told, value, sound);
                }
            } else if (value instanceof Collection) {
                Collection<?> all = (Collection<?>) value;
                List<String> told = items(all, level + 1);
                if (isMiscounted(all, told.size())) {
                    listed("q", told, value, false);
                } else if (isAtOdds(all, all)) {
                    out.append("[\"x\",").append(text(kind.getName())).append(']');
                } else {
                    boolean sound = isSound(value);
                    boolean ordered = order(value) != null && !sound || value instanceof Set && isOrdered(value);
                    listed(value instanceof List ? "l" : !(value instanceof Set) ? "q" : ordered ? "T" : "t", told, value, sound);
                }
            } else {
                out.append("[\"x\",").append(text(kind.getName())).append(']');
            }
        }

        /** Whether a set or map takes for equal what is not, by an order or a way of its own to look for things. */
        private static boolean isOrdered(Object value) {
            if (value.getClass().getName().matches("java\\.util\\.(?:(?:Linked)?Hash(?:Set|Map)|ImmutableCollections.*)")) {
                return false;
            }
            boolean known = order(value) == null;
            try {
                Set<Object> plain = new HashSet<>();
                held(value).stream().filter(one -> !near(one).isEmpty()).forEach(plain::add);
                return !known && plain.size() < held(value).size() || plain.stream().limit(MOST_ASKED).anyMatch(
                    one -> near(one).stream().anyMatch(other -> !plain.contains(other) && held(value).contains(other)));
            } catch (RuntimeException unknown) { // it takes these alone
                return false;
            }
        }

        /** What a set or map orders. */
        private static Set<?> held(Object value) {
            return value instanceof Map ? ((Map<?, ?>) value).keySet() : (Set<?>) value;
        }

        /** The order of a set or map, if it is another than that of its values and the contrary of that. */
        @SuppressWarnings("unchecked")
        private static Comparator<Object> order(Object value) {
            Comparator<?> order = value instanceof SortedSet ? ((SortedSet<?>) value).comparator()
                : value instanceof SortedMap ? ((SortedMap<?, ?>) value).comparator() : null;
            return order == Comparator.naturalOrder() || order == Collections.reverseOrder() ? null : (Comparator<Object>) order;
        }

        /** What an order may take for equal to a text or number. */
        private static List<Object> near(Object one) {
            if (one instanceof BigDecimal) {
                return Arrays.asList(((BigDecimal) one).setScale(((BigDecimal) one).scale() + 1));
            } else if (one instanceof Character) {
                return Arrays.asList(Character.toUpperCase((Character) one), Character.toLowerCase((Character) one), 'a', 'b');
            } else if (one instanceof String) {
                String text = one.equals("") ? "a" : (String) one;
                String other = text.substring(0, text.length() - 1) + (text.endsWith("a") ? "b" : "a");
                return Arrays.asList(text.toUpperCase(Locale.ROOT), text.toLowerCase(Locale.ROOT), text + " ", other);
            }
            return one instanceof Integer ? Arrays.asList((Integer) one + 1, -(Integer) one)
                : one instanceof Long ? Arrays.asList((Long) one + 1, -(Long) one) : Collections.emptyList();
        }

        /** Whether a collection equals a plain one of the same and nothing else, and finds by its order what is in it. */
        private static boolean isSound(Object value) {
            if (!(value instanceof Map || value instanceof List || value instanceof Set)) {
                return true;
            }
            try {
                Method equals = value.getClass().getMethod("equals", Object.class);
                int size = value instanceof Map ? ((Map<?, ?>) value).size() : ((Collection<?>) value).size();
                if (value instanceof Map && isLost((Map<?, ?>) value)) {
                    return false;
                }
                if (!isOfLibrary(equals.getDeclaringClass()) && size <= ITEMS) {
                    return value.equals(plain(value, false)) && !value.equals(plain(value, true)) && !value.equals(null);
                }
                return order(value) == null || held(value).stream().allMatch(held(value)::contains);
            } catch (ReflectiveOperationException | RuntimeException unreadable) {
                return false;
            }
        }

        /** Whether a collection that is no library's tells another size than what it gives has. */
        private static boolean isMiscounted(Object value, int there) {
            try {
                return !isOfLibrary(value.getClass())
                    && there != (value instanceof Map ? ((Map<?, ?>) value).size() : ((Collection<?>) value).size());
            } catch (RuntimeException untold) {
                return false;
            }
        }

        /** Whether a collection that is no library's, or that wraps one, tells by another of its methods what it does not give. */
        private static boolean isAtOdds(Object value, Collection<?> all) {
            if (isOfLibrary(value.getClass()) && !value.getClass().getName().startsWith("java.util.Collections$")) {
                return false;
            }
            try {
                List<Object> given = new ArrayList<>();
                for (Object one : all) {
                    given.add(one);
                }
                boolean empty = value instanceof Map ? ((Map<?, ?>) value).isEmpty() : all.isEmpty();
                List<Object> each = new ArrayList<>();
                all.forEach(each::add);
                List<Object> listed = new ArrayList<>();
                (value instanceof List ? ((List<?>) value).listIterator() : all.iterator()).forEachRemaining(listed::add);
                boolean found = given.size() > MOST_ASKED || order(value) != null || given.stream().allMatch(all::contains);
                return !found || empty != given.isEmpty() || all.size() != given.size() || !isSame(each, given)
                    || !isSame(Arrays.asList(all.toArray()), given) || !isSame(Arrays.asList(all.stream().toArray()), given)
                    || !isSame(listed, given);
            } catch (RuntimeException untold) {
                return true;
            }
        }

        /** The same of a map, by its keys, its values and its pairs. */
        private static boolean isMapAtOdds(Map<?, ?> map) {
            Collection<?> values = map.values();
            return isAtOdds(map, map.keySet()) || map.keySet().size() != map.size() || values.size() != map.size()
                || !isOfLibrary(map.getClass()) && map.size() <= MOST_ASKED && !values.stream().allMatch(map::containsValue);
        }

        /** Whether two lists have the same objects. */
        private static boolean isSame(List<Object> left, List<Object> other) {
            boolean same = left.size() == other.size();
            for (int i = 0; same && i < left.size(); i++) {
                same = left.get(i) == other.get(i) || Objects.equals(left.get(i), other.get(i));
            }
            return same;
        }

        /** Whether a map that has a way of its own to look for keys does not find one that it has, or what equals it. */
        private static boolean isLost(Map<?, ?> map) {
            if (map instanceof IdentityHashMap) {
                return !map.isEmpty();
            }
            try {
                boolean plain = isOfLibrary(map.getClass().getMethod("get", Object.class).getDeclaringClass())
                    && isOfLibrary(map.getClass().getMethod("containsKey", Object.class).getDeclaringClass());
                return !plain && map.size() <= ITEMS && !new ArrayList<Map.Entry<?, ?>>(map.entrySet()).stream().allMatch(
                    one -> map.containsKey(one.getKey()) && Objects.equals(map.get(one.getKey()), one.getValue()));
            } catch (ReflectiveOperationException | RuntimeException unreadable) {
                return true;
            }
        }

        /** A plain collection of the same, or of something else as well. */
        private static Object plain(Object value, boolean more) {
            if (value instanceof Map) {
                Map<Object, Object> pairs = new HashMap<>((Map<?, ?>) value);
                if (more) {
                    pairs.put(new Object(), null);
                }
                return pairs;
            }
            Collection<Object> items = value instanceof Set ? new HashSet<>((Set<?>) value) : new ArrayList<>((Collection<?>) value);
            if (more) {
                items.add(new Object());
            }
            return items;
        }

        /** A locale, also of no language and no country, for which it says nothing itself. */
        private static String told(Locale locale) {
            String text = locale.toString();
            return text.isEmpty() && !locale.equals(Locale.ROOT)
                ? "__" + locale.getVariant() + "_#" + locale.getScript() + locale.getExtensionKeys() + locale.toLanguageTag() : text;
        }

        private static boolean isText(Object value, Class<?> kind) {
            if (kind.getName().startsWith("java.time.")) { // what formats and rules of zones say is not all that they are
                return !kind.getName().matches("java\\.time\\.(?:format|zone)\\..*");
            }
            for (Class<?> known : TEXTS) {
                if (known.isInstance(value)) {
                    return known == Path.class || known == Charset.class || kind == known;
                }
            }
            return false;
        }

        private List<String> items(Collection<?> values, int level) {
            List<String> told = new ArrayList<>();
            for (Object value : values) {
                told.add(apart(() -> value(value, level)));
            }
            return told;
        }

        private List<String> pairs(Map<?, ?> map, int level) {
            List<String> told = new ArrayList<>();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                told.add(apart(() -> {
                    out.append('[');
                    value(entry.getKey(), level);
                    out.append(',');
                    value(entry.getValue(), level);
                    out.append(']');
                }));
            }
            return told;
        }

        /** What is written while something runs, alone. */
        private String apart(Runnable writes) {
            StringBuilder whole = out;
            out = new StringBuilder();
            writes.run();
            String part = out.toString();
            out = whole;
            return part;
        }

        /** Writes what is in a collection; what has another order in each run of Java has one here. */
        private void listed(String tag, List<String> told, Object collection, boolean sound) {
            String kind = collection.getClass().getName();
            if (kind.startsWith("java.util.ImmutableCollections$") && !(collection instanceof List)) {
                Collections.sort(told);
            }
            out.append(sound ? "" : "[\"w\",").append("[\"").append(tag).append("\",[").append(String.join(",", told));
            out.append(sound ? "]]" : "]]]");
        }

        private void error(Throwable error) {
            out.append("[\"E\",[");
            int place = 0;
            for (Class<?> kind = error.getClass(); kind != Object.class; kind = kind.getSuperclass()) {
                next(place++);
                out.append(text(kind.getName()));
            }
            String message;
            try {
                message = error.getMessage();
            } catch (Throwable unreadable) {
                message = null;
            }
            out.append("],").append(message == null ? "null" : text(message)).append(']');
        }

        private void bytes(byte[] data) {
            StringBuilder digits = new StringBuilder();
            for (int i = 0; i < data.length && digits.length() <= LETTERS; i++) {
                digits.append(Character.forDigit(data[i] >> 4 & 15, 16)).append(Character.forDigit(data[i] & 15, 16));
            }
            out.append("[\"B\",").append(text(digits.toString())).append(']');
        }

        private void tagged(String tag, String kind, String text) {
            out.append("[\"").append(tag).append("\",").append(text(kind)).append(',').append(text(text)).append(']');
        }

        private void next(int place) {
            if (place > 0) {
                out.append(',');
            }
        }

        private String text(String text) {
            letters -= text.length();
            if (letters < 0) {
                throw new TooMuch();
            }
            return Recorder.quoted(text, text.length());
        }
    }
}
