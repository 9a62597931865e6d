package org.example.depot;

import java.util.LinkedHashMap;
import java.util.Map;

/** Translates between HTTP and the ledger. */
public class StockController {
    private final StockLedger ledger;

    public StockController(StockLedger ledger) {
        this.ledger = ledger;
    }

    /** All routes of the service. */
    public Router routes() {
        return new Router()
                .on("GET", "/items/{sku}", (parameters, body) -> show(parameters.get("sku")))
                .on("POST", "/items/{sku}/withdraw", this::withdraw);
    }

    private Router.Reply show(String sku) {
        StockLedger.Level level = ledger.level(sku);
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("sku", Json.write(sku));
        fields.put("pieces", Json.write(level.pieces()));
        fields.put("version", Json.write(level.version()));
        return new Router.Reply(200, Json.write(fields));
    }

    /** Maps the ledger's exceptions to status codes: 409 for a lost race, 422 when goods are missing. */
    private Router.Reply withdraw(Map<String, String> parameters, String body) {
        String sku = parameters.get("sku");
        try {
            ledger.withdraw(sku, Warehouse.CITY, Integer.parseInt(body.trim()), ledger.level(sku).version());
            return show(sku);
        } catch (StockLedger.StaleVersionException lost) {
            return failure(409, lost);
        } catch (StockLedger.OutOfStockException missing) {
            return failure(422, missing);
        }
    }

    private static Router.Reply failure(int status, RuntimeException cause) {
        return new Router.Reply(status, "{\"error\": " + Json.write(cause.getMessage()) + "}");
    }
}
