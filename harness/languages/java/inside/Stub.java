package goldseam;

// Laid beside stripped tests, which are compiled against it; when they run, the methods of Handout.java come before these.
public final class Handout {
    private Handout() {}

    public interface Body {
        void run() throws Throwable;
    }

    public interface Source<T> {
        T get() throws Throwable;
    }

    public static Object of(boolean value) {
        return null;
    }

    public static Object of(byte value) {
        return null;
    }

    public static Object of(short value) {
        return null;
    }

    public static Object of(char value) {
        return null;
    }

    public static Object of(int value) {
        return null;
    }

    public static Object of(long value) {
        return null;
    }

    public static Object of(float value) {
        return null;
    }

    public static Object of(double value) {
        return null;
    }

    public static Object of(Object value) {
        return null;
    }

    public static Object constant(String name, Object value) {
        return null;
    }

    public static Object searched(Object value) {
        return null;
    }

    public static void said(String text) {}

    public static void values(int slot, Object... values) {}

    public static void boxed(int slot, Object... values) {}

    public static void equal(int slot, Object expected, Object value) {}

    public static void alike(int slot, Object expected, Object value) {}

    public static void same(int slot, Object expected, Object value) {}

    public static void raised(int slot, Throwable error, Object... kept) {}

    public static <T extends Throwable> T thrown(int slot, Class<T> kind, Body body, Object... kept) {
        return null;
    }

    public static <T extends Throwable> void throwing() throws T {}

    public static <T> T tried(T other, Source<T> source) {
        return null;
    }
}
