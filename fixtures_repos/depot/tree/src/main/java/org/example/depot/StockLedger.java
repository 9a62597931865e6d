package org.example.depot;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How many pieces of which item lie where. Changes are optimistic: the caller names the version it has seen.
 */
public class StockLedger {
    private final Map<String, Level> levels = new ConcurrentHashMap<>();
    private final List<Movement> movements = Collections.synchronizedList(new ArrayList<>());

    /** The pieces of one item in every warehouse, at one version. Immutable. */
    public static final class Level {
        private final long version;
        private final EnumMap<Warehouse, Integer> pieces;

        Level(long version, EnumMap<Warehouse, Integer> pieces) {
            this.version = version;
            this.pieces = pieces;
        }

        public long version() {
            return version;
        }

        /** Pieces in one warehouse. */
        public int pieces(Warehouse warehouse) {
            return pieces.getOrDefault(warehouse, 0);
        }

        /** Pieces in all warehouses together. */
        public int pieces() {
            return pieces.values().stream().mapToInt(Integer::intValue).sum();
        }

        private Level changed(Warehouse warehouse, int difference) {
            EnumMap<Warehouse, Integer> copy = pieces.clone();
            copy.merge(warehouse, difference, Integer::sum);
            return new Level(version + 1, copy);
        }
    }

    /** One booked change, for the audit trail. */
    public record Movement(String sku, Warehouse warehouse, int difference, long version) {
        /** Whether goods left the building. */
        public boolean isWithdrawal() {
            return difference < 0;
        }
    }

    /** Somebody else changed the stock in between; the HTTP layer answers 409. */
    public static class StaleVersionException extends RuntimeException {
        StaleVersionException(long expected, long found) {
            super("expected version " + expected + " but found " + found);
        }
    }

    /** There are fewer pieces than were asked for. */
    public static class OutOfStockException extends RuntimeException {
        OutOfStockException(String sku, int missing) {
            super(missing + " pieces of " + sku + " are missing");
        }
    }

    /** The current level of an item; an unknown item has none of anything. */
    public Level level(String sku) {
        return levels.computeIfAbsent(sku, key -> new Level(0, new EnumMap<>(Warehouse.class)));
    }

    /** Takes pieces out, if the version is still the one that the caller has seen. */
    public Level withdraw(String sku, Warehouse warehouse, int count, long seenVersion) {
        Level before = level(sku);
        if (before.pieces(warehouse) < count) {
            throw new OutOfStockException(sku, count - before.pieces(warehouse));
        }
        return compareAndSet(sku, before, warehouse, -count, seenVersion);
    }

    /** Books a delivery. */
    public Level deliver(String sku, Warehouse warehouse, int count, long seenVersion) {
        return compareAndSet(sku, level(sku), warehouse, count, seenVersion);
    }

    private Level compareAndSet(String sku, Level before, Warehouse warehouse, int difference, long seenVersion) {
        if (before.version() != seenVersion) {
            throw new StaleVersionException(seenVersion, before.version());
        }
        Level after = before.changed(warehouse, difference);
        if (!levels.replace(sku, before, after)) {
            throw new StaleVersionException(seenVersion, level(sku).version());
        }
        movements.add(new Movement(sku, warehouse, difference, after.version()));
        return after;
    }

    /** Everything that was booked for an item, oldest first. */
    public List<Movement> auditTrail(String sku) {
        synchronized (movements) {
            return movements.stream().filter(movement -> movement.sku().equals(sku)).toList();
        }
    }
}
