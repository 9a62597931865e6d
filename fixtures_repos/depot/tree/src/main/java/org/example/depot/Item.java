package org.example.depot;

import java.math.BigDecimal;
import java.util.Objects;

/**
 * Something that can lie on a shelf. Two items are the same when their stock keeping units are.
 */
public final class Item {
    private final String sku;
    private final String title;
    private final BigDecimal unitPrice;

    /** Creates an item; the stock keeping unit must not be blank. */
    public Item(String sku, String title, BigDecimal unitPrice) {
        if (sku.isBlank()) {
            throw new IllegalArgumentException("an item needs a stock keeping unit");
        }
        this.sku = sku;
        this.title = title;
        this.unitPrice = unitPrice;
    }

    /** An item without a price, as samples are. */
    public Item(String sku, String title) {
        this(sku, title, BigDecimal.ZERO);
    }

    public String sku() {
        return sku;
    }

    public String title() {
        return title;
    }

    /** What a number of pieces costs, with a rebate of five percent from a hundred pieces on. */
    public BigDecimal priceOf(int pieces) {
        BigDecimal full = unitPrice.multiply(BigDecimal.valueOf(pieces));
        return pieces < 100 ? full : full.multiply(new BigDecimal("0.95"));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Item && ((Item) other).sku.equals(sku);
    }

    @Override
    public int hashCode() {
        return Objects.hash(sku);
    }
}
