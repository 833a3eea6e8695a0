package fixbolt.peer;

import quickfix.Log;

/** Makes the wire traffic of the session visible. */
final class WireLog implements Log {
    private final Tally tally;

    WireLog(Tally tally) {
        this.tally = tally;
    }

    @Override
    public void clear() {
    }

    @Override
    public void onIncoming(String raw) {
        tally.received(raw);
        note("in", raw);
    }

    @Override
    public void onOutgoing(String raw) {
        note("out", raw);
    }

    @Override
    public void onEvent(String text) {
        new Event("note").text("text", text).say();
    }

    @Override
    public void onErrorEvent(String text) {
        onEvent("error: " + text);
    }

    /** Prints session messages with their whole text, application messages in short. */
    private static void note(String direction, String raw) {
        String type = Event.fieldOf(raw, 35);
        boolean admin = type.length() == 1 && "0A12345".contains(type);
        Line event = new Event(direction)
                .text("msg_type", type)
                .flag("admin", admin)
                .number("seq", Peer.numberOf(Event.fieldOf(raw, 34)))
                .flag("poss_dup", Event.fieldOf(raw, 43).equals("Y"));
        if (admin) {
            event.text("raw", raw);
        } else {
            event.text("cl_ord_id", Event.fieldOf(raw, 11)).text("exec_id", Event.fieldOf(raw, 17));
        }
        event.say();
    }
}
