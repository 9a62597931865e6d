package org.example.depot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class StockLedgerTest {
    @Test
    void deliveredPiecesCanBeWithdrawn() {
        StockLedger ledger = new StockLedger();
        ledger.deliver("bolt-8", Warehouse.CITY, 10, 0);
        assertEquals(7, ledger.withdraw("bolt-8", Warehouse.CITY, 3, 1).pieces());
    }

    @Test
    void aStaleVersionIsRefused() {
        StockLedger ledger = new StockLedger();
        ledger.deliver("bolt-8", Warehouse.CITY, 10, 0);
        assertThrows(
                StockLedger.StaleVersionException.class,
                () -> ledger.deliver("bolt-8", Warehouse.CITY, 1, 0));
    }
}
