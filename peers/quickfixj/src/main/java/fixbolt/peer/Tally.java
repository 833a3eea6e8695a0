package fixbolt.peer;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts received messages, so that a run can be judged: did every order arrive exactly once, is
 * one missing, was a sequence number used twice? It sees the wire text, before QuickFIX/J discards
 * messages that it already has.
 */
final class Tally {
    private static final class Counts {
        /** On the wire, of any kind. */
        long copies;
        /** On the wire without PossDupFlag. */
        long live;
        /** Delivered to the application. */
        long delivered;
    }

    /** By MsgType and ClOrdID. */
    private final Map<String, Map<String, Counts>> byType = new TreeMap<>();
    /**
     * What each MsgSeqNum of the current session was used for: "MsgType ClOrdID ExecID".
     * SequenceReset is omitted, because it may have any MsgSeqNum.
     */
    private final Map<Long, String> bySeqNum = new HashMap<>();
    private long reusedNumbers;

    /** Counts one message as received from the wire. */
    synchronized void received(String raw) {
        String type = Event.fieldOf(raw, 35);
        String clOrdId = Event.fieldOf(raw, 11);
        boolean possDup = Event.fieldOf(raw, 43).equals("Y");
        if (type.equals("A") && Event.fieldOf(raw, 141).equals("Y")) {
            bySeqNum.clear();
        }
        if (!clOrdId.isEmpty()) {
            Counts counts = counts(type, clOrdId);
            counts.copies++;
            counts.live += possDup ? 0 : 1;
        }
        if (type.equals("4")) {
            return;
        }
        long seqNum = Peer.numberOf(Event.fieldOf(raw, 34));
        String identity = type + ' ' + clOrdId + ' ' + Event.fieldOf(raw, 17);
        String known = bySeqNum.putIfAbsent(seqNum, identity);
        if (known != null && (!known.equals(identity) || !possDup)) {
            reusedNumbers++;
            new Event("reused-number").number("seq", seqNum).text("was", known).text("is", identity).say();
        }
    }

    /** Counts one application message that QuickFIX/J delivered. */
    synchronized void delivered(String msgType, String clOrdId) {
        if (!clOrdId.isEmpty()) {
            counts(msgType, clOrdId).delivered++;
        }
    }

    /**
     * Writes one `tally` event for each application message type seen, then one `tally-numbers`
     * event.
     */
    synchronized void report() {
        byType.forEach(Tally::report);
        new Event("tally-numbers").number("reused", reusedNumbers).say();
    }

    private static void report(String msgType, Map<String, Counts> orders) {
        long copies = 0, duplicates = 0, delivered = 0, again = 0, undelivered = 0;
        // By PREFIX: the highest number, and how many there are.
        Map<String, long[]> runs = new HashMap<>();
        for (Map.Entry<String, Counts> order : orders.entrySet()) {
            Counts counts = order.getValue();
            copies += counts.copies;
            duplicates += Math.max(0, counts.live - 1);
            delivered += counts.delivered > 0 ? 1 : 0;
            undelivered += counts.delivered == 0 ? 1 : 0;
            again += Math.max(0, counts.delivered - 1);
            int dash = order.getKey().lastIndexOf('-');
            if (dash >= 0 && counts.delivered > 0) {
                long[] run = runs.computeIfAbsent(order.getKey().substring(0, dash), prefix -> new long[2]);
                run[0] = Math.max(run[0], Peer.numberOf(order.getKey().substring(dash + 1)));
                run[1]++;
            }
        }
        long missing = runs.values().stream().mapToLong(run -> run[0] - run[1]).sum();
        new Event("tally")
                .text("msg_type", msgType)
                .number("distinct", orders.size())
                .number("copies", copies)
                .number("duplicates_without_possdup", duplicates)
                .number("delivered", delivered)
                .number("delivered_again", again)
                .number("undelivered", undelivered)
                .number("missing", missing)
                .say();
    }

    private Counts counts(String msgType, String clOrdId) {
        return byType.computeIfAbsent(msgType, type -> new HashMap<>())
                .computeIfAbsent(clOrdId, order -> new Counts());
    }
}
