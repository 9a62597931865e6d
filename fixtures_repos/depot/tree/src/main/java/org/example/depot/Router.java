package org.example.depot;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the handler for a method and a path with placeholders such as {@code /items/{sku}}. */
public class Router {
    private final List<Route> routes = new ArrayList<>();

    /** Answers one request. */
    @FunctionalInterface
    public interface Handler {
        Reply handle(Map<String, String> parameters, String body);
    }

    /** A status code and a JSON text. */
    public record Reply(int status, String json) {
        static Reply notFound() {
            return new Reply(404, "{\"error\": \"no such path\"}");
        }
    }

    private record Route(String method, Pattern pattern, List<String> names, Handler handler) {}

    /** Adds a route; earlier ones win. */
    public Router on(String method, String template, Handler handler) {
        List<String> names = new ArrayList<>();
        Matcher placeholders = Pattern.compile("\\{(\\w+)}").matcher(template);
        while (placeholders.find()) {
            names.add(placeholders.group(1));
        }
        Pattern pattern = Pattern.compile(template.replaceAll("\\{\\w+}", "([^/]+)"));
        routes.add(new Route(method, pattern, names, handler));
        return this;
    }

    /** Runs the first route that fits, or answers 404. */
    public Reply dispatch(String method, String path, String body) {
        for (Route route : routes) {
            Matcher match = route.pattern().matcher(path);
            if (route.method().equals(method) && match.matches()) {
                Map<String, String> parameters = new LinkedHashMap<>();
                for (int i = 0; i < route.names().size(); i++) {
                    parameters.put(route.names().get(i), match.group(i + 1));
                }
                return route.handler().handle(parameters, body);
            }
        }
        return Reply.notFound();
    }
}
