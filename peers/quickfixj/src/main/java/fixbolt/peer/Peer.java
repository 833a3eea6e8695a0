package fixbolt.peer;

import java.io.IOException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicLong;
import quickfix.Application;
import quickfix.DoNotSend;
import quickfix.FieldMap;
import quickfix.FieldNotFound;
import quickfix.Group;
import quickfix.Message;
import quickfix.Session;
import quickfix.SessionID;
import quickfix.SessionNotFound;
import quickfix.UnsupportedMessageType;
import quickfix.field.BeginString;
import quickfix.field.MsgSeqNum;
import quickfix.field.MsgType;
import quickfix.field.SenderCompID;
import quickfix.field.SendingTime;
import quickfix.field.TargetCompID;
import quickfix.field.TransactTime;

/**
 * The application of the QuickFIX/J session. It executes commands and answers orders. It does not
 * decide whether a run has passed: the harness does, from the events.
 */
final class Peer implements Application {
    /** Unique across restarts of the process, as an ExecID must be. */
    private static final String PROCESS = ProcessHandle.current().pid() + "." + System.currentTimeMillis();

    private final SessionID id;
    private final Tally tally;
    private final AtomicLong executions = new AtomicLong();
    private volatile boolean answering = true;
    private volatile boolean likeBanzai;
    private volatile boolean resetting;
    private Session session;

    Peer(SessionID id, Tally tally) {
        this.id = id;
        this.tally = tally;
    }

    /** Returns the session, which QuickFIX/J itself forgets when the connector stops. */
    synchronized Session session() {
        if (session == null) {
            session = Session.lookupSession(id);
        }
        if (session == null) {
            throw new IllegalStateException("QuickFIX/J knows no session " + id);
        }
        return session;
    }

    /** Whether each NewOrderSingle gets a filled ExecutionReport. */
    void answerOrders(boolean yes) {
        answering = yes;
    }

    /** Answers what is neither an ExecutionReport nor an OrderCancelReject as Banzai does. */
    void answerLikeBanzai() {
        likeBanzai = true;
    }

    /** The next Logon has ResetSeqNumFlag=Y; those after it do not. */
    void resetAtLogon() {
        resetting = true;
    }

    /** Sends NewOrderSingles PREFIX-1 to PREFIX-COUNT; at most `rate` per second, 0 for no limit. */
    void sendOrders(long count, String prefix, long rate) {
        long start = System.nanoTime();
        for (long i = 1; i <= count; i++) {
            send(order(prefix + '-' + i, 1 + i % 1000));
            long due = rate > 0 ? start + 1_000_000_000L * i / rate - System.nanoTime() : 0;
            if (due > 0) {
                try {
                    Thread.sleep(due / 1_000_000, (int) (due % 1_000_000));
                } catch (InterruptedException stopped) {
                    return;
                }
            }
        }
        new Event("orders-sent").text("prefix", prefix).number("count", count).say();
    }

    /**
     * Numbers and stores orders as if they had been sent, but does not send them: the counterparty
     * misses them, as it misses a message that was lost on the wire.
     */
    void loseOrders(long count, String prefix) throws IOException {
        Session session = session();
        for (long i = 1; i <= count; i++) {
            int seqNum = session.getExpectedSenderNum();
            Message message = order(prefix + '-' + i, 1 + i % 1000);
            Message.Header header = message.getHeader();
            header.setString(BeginString.FIELD, id.getBeginString());
            header.setString(SenderCompID.FIELD, id.getSenderCompID());
            header.setString(TargetCompID.FIELD, id.getTargetCompID());
            header.setInt(MsgSeqNum.FIELD, seqNum);
            header.setUtcTimeStamp(SendingTime.FIELD, now(), true);
            session.getStore().set(seqNum, message.toString());
            session.setNextSenderMsgSeqNum(seqNum + 1);
        }
        new Event("orders-lost").text("prefix", prefix).number("count", count).say();
    }

    /** Sends a NewOrderSingle with two parties (FIX.4.4). */
    void sendGroupOrder(String clOrdId) {
        Message message = order(clOrdId, 100);
        message.addGroup(party("DEUTDEFF", "D", "1"));
        message.addGroup(party("TRADER7", "D", "11"));
        send(message);
    }

    /** Sends a NewOrderSingle with a Text of this many bytes. */
    void sendBigOrder(String clOrdId, int bytes) {
        Message message = order(clOrdId, 100);
        message.setString(58, "x".repeat(bytes));
        send(message);
    }

    /** Sends the NewOrderSingle of Banzai. */
    void sendBanzaiOrder(String clOrdId, boolean limit) {
        send(Banzai.order(clOrdId, limit, now()));
    }

    void sendTestRequest(String testReqId) {
        Message message = new Message();
        message.getHeader().setString(MsgType.FIELD, MsgType.TEST_REQUEST);
        message.setString(112, testReqId);
        send(message);
    }

    void sayNumbers(String event) {
        Session session = session();
        new Event(event)
                .number("next_out", session.getExpectedSenderNum())
                .number("next_in", session.getExpectedTargetNum())
                .flag("logged_on", session.isLoggedOn())
                .say();
    }

    @Override
    public void onCreate(SessionID session) {
    }

    @Override
    public void onLogon(SessionID session) {
        sayNumbers("logon");
    }

    @Override
    public void onLogout(SessionID session) {
        sayNumbers("logout");
    }

    @Override
    public void toAdmin(Message message, SessionID session) {
        if (resetting && valueOf(message.getHeader(), MsgType.FIELD).equals(MsgType.LOGON)) {
            resetting = false;
            message.setString(141, "Y");
        }
    }

    /**
     * QuickFIX/J notes that it has sent a Logout only after it was sent. If the answer comes first, it
     * takes it for a request and answers it, too: wait until it knows.
     */
    @Override
    public void fromAdmin(Message message, SessionID session) {
        boolean isLogout = valueOf(message.getHeader(), MsgType.FIELD).equals(MsgType.LOGOUT);
        long until = System.nanoTime() + 1_000_000_000L;
        while (isLogout && !session().isEnabled() && !session().sentLogout() && System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void toApp(Message message, SessionID session) throws DoNotSend {
    }

    @Override
    public void fromApp(Message message, SessionID session) throws FieldNotFound, UnsupportedMessageType {
        FieldMap header = message.getHeader();
        String type = valueOf(header, MsgType.FIELD);
        String clOrdId = valueOf(message, 11);
        tally.delivered(type, clOrdId);
        Line event = new Event("delivered")
                .text("msg_type", type)
                .text("cl_ord_id", clOrdId)
                .number("seq", numberOf(valueOf(header, MsgSeqNum.FIELD)))
                .flag("poss_dup", valueOf(header, 43).equals("Y"))
                .number("text_bytes", valueOf(message, 58).length());
        if (type.equals("8")) {
            event.text("exec_id", valueOf(message, 17)).text("ord_status", valueOf(message, 39));
        }
        if (message.hasGroup(453)) {
            event.text("parties", partiesOf(message));
        }
        event.say();
        if (likeBanzai) {
            if (!type.equals("8") && !type.equals("9")) {
                send(Banzai.unsupported(message));
            }
        } else if (type.equals("D") && answering) {
            answer(message);
        } else if (!type.equals("D") && !type.equals("8") && !type.equals("j")) {
            throw new UnsupportedMessageType();
        }
    }

    /** Returns 0 for what is not a number. */
    static long numberOf(String digits) {
        return digits.matches("[0-9]{1,18}") ? Long.parseLong(digits) : 0;
    }

    private boolean isFix42() {
        return id.getBeginString().equals("FIX.4.2");
    }

    private Message order(String clOrdId, long quantity) {
        Message order = new Message();
        order.getHeader().setString(MsgType.FIELD, "D");
        order.setString(11, clOrdId);
        if (isFix42()) {
            order.setString(21, "1");
        }
        order.setString(55, "FXBT");
        order.setString(54, "1");
        order.setUtcTimeStamp(TransactTime.FIELD, now(), true);
        order.setString(40, "2");
        order.setString(38, Long.toString(quantity));
        order.setString(44, "57.00");
        return order;
    }

    private void answer(Message order) throws FieldNotFound {
        String execution = PROCESS + '.' + executions.incrementAndGet();
        Message report = new Message();
        report.getHeader().setString(MsgType.FIELD, "8");
        report.setString(37, "O" + execution);
        report.setString(17, "E" + execution);
        if (isFix42()) {
            report.setString(20, "0");
        }
        report.setString(150, isFix42() ? "2" : "F");
        report.setString(39, "2");
        for (int tag : new int[] {11, 38, 44, 54, 55, 58}) { // as the order has them
            if (order.isSetField(tag)) {
                report.setString(tag, order.getString(tag));
            }
        }
        report.setString(32, valueOf(order, 38));
        report.setString(31, valueOf(order, 44));
        report.setString(151, "0");
        report.setString(14, valueOf(order, 38));
        report.setString(6, valueOf(order, 44));
        for (Group party : order.getGroups(453)) {
            report.addGroup(party(valueOf(party, 448), valueOf(party, 447), valueOf(party, 452)));
        }
        send(report);
    }

    private void send(Message message) {
        try {
            Session.sendToTarget(message, id);
        } catch (SessionNotFound stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    private static Group party(String partyId, String source, String role) {
        Group party = new Group(453, 448, new int[] {448, 447, 452});
        party.setString(448, partyId);
        party.setString(447, source);
        party.setString(452, role);
        return party;
    }

    /** Returns "id/source/role" of every party, separated by commas. */
    private static String partiesOf(Message message) {
        StringJoiner all = new StringJoiner(",");
        for (Group party : message.getGroups(453)) {
            all.add(valueOf(party, 448) + '/' + valueOf(party, 447) + '/' + valueOf(party, 452));
        }
        return all.toString();
    }

    static String valueOf(FieldMap fields, int tag) {
        try {
            return fields.isSetField(tag) ? fields.getString(tag) : "";
        } catch (FieldNotFound absent) {
            return "";
        }
    }

    private static LocalDateTime now() {
        return LocalDateTime.now(ZoneOffset.UTC);
    }
}
