/*
 * Copyright of somebody.
 */
package depot;

import java.util.List;

/** Keeps parcels. */
@Service
@SuppressWarnings({"a", "b"})
public final class Depot<T extends Parcel> extends Base implements Store<T>, AutoCloseable {
    /** How many fit. */
    public static final int CAPACITY = 12;
    final static String NAME = "depot";
    @Inject private List<T> parcels, spare;
    private final Runnable cleanup = () -> { int local = 1; };

    static {
        System.out.println(NAME);
    }

    {
        parcels = List.of();
    }

    // Makes an empty one.
    public Depot() { this(0); }

    @Deprecated
    Depot(int size) {
        super(size);
    }

    /**
     * Stores one.
     *
     * @param parcel what to store
     */
    @Override
    public <R> R put(final @Nonnull T parcel, int times) throws Full {
        class Local { void inside() {} }
        Runnable anonymous = new Runnable() {
            private int count;
            @Override public void run() { count++; }
        };
        return null;
    }

    public void put(T parcel) { } public void remove() { }

    abstract static class Shelf {
        abstract int height();
        interface Listener { void changed(Shelf shelf); }
    }

    native long address();
}

/** A size. */
enum Size {
    SMALL,
    /** With an own rule. */
    LARGE(2) { @Override int factor() { return 3; } };

    private final int factor = 1;
    int factor() { return factor; }
}

record Parcel(int id, @Nullable String label) {
    static int made = 0;
    Parcel {
        if (id < 0) throw new IllegalArgumentException();
    }
    String shown() { return label; }
}

interface Store<T> {
    int LIMIT = 5;
    void put(T parcel);
    default int size() { return LIMIT; }
}

@interface Marked {
    String value() default "";
    int[] levels() default {};
}

class DepotTest {
    @Test
    void storesOne() { }

    @DisplayName("keeps") @ParameterizedTest(name = "{0}")
    void keepsMany(int times) { }

    @BeforeEach void open() { }
}
