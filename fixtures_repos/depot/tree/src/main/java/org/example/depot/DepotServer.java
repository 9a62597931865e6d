package org.example.depot;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** Starts the HTTP server. */
public final class DepotServer {
    /** The port used when the environment names none. */
    static final int DEFAULT_PORT = 8085;

    private DepotServer() {}

    public static void main(String[] arguments) throws IOException {
        Router router = new StockController(new StockLedger()).routes();
        HttpServer server = HttpServer.create(new InetSocketAddress(portFromEnvironment()), 0);
        server.createContext("/", exchange -> answer(router, exchange));
        server.start();
    }

    /** Reads DEPOT_PORT. */
    static int portFromEnvironment() {
        String value = System.getenv("DEPOT_PORT");
        return value == null ? DEFAULT_PORT : Integer.parseInt(value);
    }

    private static void answer(Router router, HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        Router.Reply reply =
                router.dispatch(exchange.getRequestMethod(), exchange.getRequestURI().getPath(), body);
        byte[] bytes = reply.json().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(reply.status(), bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
