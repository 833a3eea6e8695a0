package fixbolt.peer;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A line of output: one JSON object, flushed at once. Objects are never nested, so that a reader
 * needs no JSON library.
 */
public class Line {
    private final StringBuilder line = new StringBuilder();

    public Line text(String key, String value) {
        key(key);
        quote(value);
        return this;
    }

    public Line number(String key, long value) {
        key(key);
        line.append(value);
        return this;
    }

    /** Adds the number with six decimal places. */
    public Line real(String key, double value) {
        key(key);
        line.append(String.format(Locale.ROOT, "%.6f", value));
        return this;
    }

    public Line flag(String key, boolean value) {
        key(key);
        line.append(value);
        return this;
    }

    /** Writes the line. */
    public void say() {
        byte[] bytes = line.append("}\n").toString().getBytes(StandardCharsets.US_ASCII);
        synchronized (Line.class) {
            System.out.write(bytes, 0, bytes.length);
            System.out.flush();
            if (System.out.checkError()) {
                Runtime.getRuntime().halt(2); // nothing reads the events any more
            }
        }
    }

    private void key(String key) {
        line.append(line.length() == 0 ? '{' : ',');
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
