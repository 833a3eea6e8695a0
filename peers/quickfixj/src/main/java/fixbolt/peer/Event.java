package fixbolt.peer;

/** A line that begins with the name of an event. */
final class Event extends Line {
    Event(String name) {
        text("event", name);
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
}
