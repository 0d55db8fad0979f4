import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Compiled once, so that the classes which the compiler loads for it are in an archive from which it starts sooner. */
public class Sample<T extends Comparable<T>> {
    enum Kind { ONE, OTHER }

    interface Shown { default String shown() { return toString(); } }

    @FunctionalInterface
    interface Source<S> { S get() throws Exception; }

    private final List<T> items = new ArrayList<>();

    @Override
    public String toString() {
        Map<Boolean, List<T>> parts = items.stream().collect(Collectors.partitioningBy(item -> item.compareTo(null) > 0));
        return String.format("%s of %d", parts, items.size()) + parts.get(true).stream().map(String::valueOf).count();
    }

    static int number(Kind kind, int... others) throws Exception {
        Function<Integer, Integer> twice = number -> number * 2;
        Source<Shown> source = () -> new Shown() { };
        try (AutoCloseable closed = () -> { }) {
            for (int other : others) {
                switch (kind) {
                    case ONE: return twice.apply(other);
                    default: break;
                }
            }
        } catch (RuntimeException error) {
            throw new IllegalStateException(source.get().shown(), error);
        } finally {
            assert others.length > 0 : kind;
        }
        return kind == Kind.OTHER ? (int) 1L : -1;
    }
}
