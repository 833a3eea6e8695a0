package fixbolt.bench;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The command line after the test's name: `--name value` pairs. */
final class Options {
    private final Map<String, String> values = new HashMap<>();

    /** Throws IllegalArgumentException if an option is not among these, or lacks its value. */
    Options(String[] arguments, Set<String> accepted) {
        for (int at = 1; at < arguments.length; at += 2) {
            if (!accepted.contains(arguments[at])) {
                throw new IllegalArgumentException(arguments[at] + " is not an option of " + arguments[0]);
            } else if (at + 1 == arguments.length) {
                throw new IllegalArgumentException(arguments[at] + " needs a value");
            }
            values.put(arguments[at], arguments[at + 1]);
        }
    }

    String text(String option, String otherwise) {
        return values.getOrDefault(option, otherwise);
    }

    /** Returns a number that is not less than this. */
    int number(String option, int otherwise, int least) {
        String value = values.get(option);
        if (value == null) {
            return otherwise;
        }
        try {
            int number = Integer.parseInt(value);
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException wrong) {
            // reported below
        }
        throw new IllegalArgumentException(option + " must be a number from " + least + " on, not " + value);
    }
}
