package org.example.depot;

import java.util.Map;
import java.util.StringJoiner;

/** Writes JSON; we never read more than single numbers, so there is no parser here. */
final class Json {
    private Json() {}

    /** A string in quotes with everything escaped that must be. */
    static String write(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            switch (letter) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                default -> {
                    if (letter < ' ') {
                        out.append(String.format("\\u%04x", (int) letter));
                    } else {
                        out.append(letter);
                    }
                }
            }
        }
        return out.append('"').toString();
    }

    /** A number. */
    static String write(long number) {
        return Long.toString(number);
    }

    /** An object whose values are already JSON. */
    static String write(Map<String, String> fields) {
        StringJoiner joined = new StringJoiner(", ", "{", "}");
        fields.forEach((name, value) -> joined.add(write(name) + ": " + value));
        return joined.toString();
    }
}
