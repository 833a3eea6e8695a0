package fixbolt.peer;

import java.nio.charset.StandardCharsets;

/**
 * A line of output: one JSON object, flushed at once. Objects are never nested, so that a reader
 * needs no JSON library.
 */
final class Event {
    private final StringBuilder line = new StringBuilder("{\"event\":");

    Event(String name) {
        quote(name);
    }

    Event text(String key, String value) {
        key(key);
        quote(value);
        return this;
    }

    Event number(String key, long value) {
        key(key);
        line.append(value);
        return this;
    }

    Event flag(String key, boolean value) {
        key(key);
        line.append(value);
        return this;
    }

    /** Writes the line. */
    void say() {
        byte[] bytes = line.append("}\n").toString().getBytes(StandardCharsets.US_ASCII);
        synchronized (Event.class) {
            System.out.write(bytes, 0, bytes.length);
            System.out.flush();
            if (System.out.checkError()) {
                Runtime.getRuntime().halt(2); // nothing reads the events any more
            }
        }
    }

    /**
     * Returns the value of the first field with this tag in raw wire text, or "". Correct for
     * messages without data fields, the only ones that the peer uses.
     */
    static String fieldOf(String raw, int tag) {
        String head = "\001" + tag + '=';
        int at = raw.indexOf(head); // the first field, BeginString, is never asked for
        if (at < 0) {
            return "";
        }
        at += head.length();
        int end = raw.indexOf('\001', at);
        return raw.substring(at, end < 0 ? raw.length() : end);
    }

    private void key(String key) {
        line.append(',');
        quote(key);
        line.append(':');
    }

    /**
     * Characters outside printable ASCII are written as \\u00XX, so that a line is valid JSON
     * whatever the counterparty sent.
     */
    private void quote(String value) {
        line.append('"');
        for (int at = 0; at < value.length(); at++) {
            char next = value.charAt(at);
            if (next == '"' || next == '\\') {
                line.append('\\').append(next);
            } else if (next < 0x20 || next >= 0x7f) {
                line.append(String.format("\\u%04x", (int) next));
            } else {
                line.append(next);
            }
        }
        line.append('"');
    }
}
