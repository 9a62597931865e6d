package org.example.depot;

import java.time.Duration;

/** Decides when and how much to order. */
public interface ReorderPolicy {
    /** Pieces to order now; zero when there is enough. */
    int piecesToOrder(int inStock, double soldPerDay, Duration deliveryTime);

    /** Orders up to a fixed level whenever stock falls below half of it. */
    static ReorderPolicy fixedLevel(int level) {
        return (inStock, soldPerDay, deliveryTime) -> inStock < level / 2 ? level - inStock : 0;
    }

    /** Keeps enough for the delivery time and some days of safety. */
    final class SafetyStock implements ReorderPolicy {
        private final int safetyDays;

        public SafetyStock(int safetyDays) {
            this.safetyDays = safetyDays;
        }

        @Override
        public int piecesToOrder(int inStock, double soldPerDay, Duration deliveryTime) {
            double days = deliveryTime.toHours() / 24.0 + safetyDays;
            int needed = (int) Math.ceil(days * soldPerDay);
            return Math.max(0, needed - inStock);
        }
    }
}
