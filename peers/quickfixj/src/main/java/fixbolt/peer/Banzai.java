package fixbolt.peer;

import java.time.LocalDateTime;
import quickfix.Message;
import quickfix.field.MsgSeqNum;
import quickfix.field.MsgType;
import quickfix.field.TransactTime;

/**
 * The messages of QuickFIX/J's example Banzai, field by field. The example itself is a program with
 * windows, and not among the published libraries.
 */
final class Banzai {
    private Banzai() {
    }

    /** A NewOrderSingle of 100 IBM for the day; one at the market has no Price. */
    static Message order(String clOrdId, boolean limit, LocalDateTime now) {
        Message order = new Message();
        order.getHeader().setString(MsgType.FIELD, "D");
        order.setString(11, clOrdId);
        order.setString(21, "1"); // HandlInst in every version
        order.setString(38, "100");
        order.setString(40, limit ? "2" : "1");
        if (limit) {
            order.setDouble(44, 12.3); // a double, which writes 12.3
        }
        order.setString(54, "1");
        order.setString(55, "IBM");
        order.setString(59, "0");
        order.setUtcTimeStamp(TransactTime.FIELD, now, true);
        return order;
    }

    /** The BusinessMessageReject that answers any other message, even a BusinessMessageReject. */
    static Message unsupported(Message message) {
        Message reject = new Message();
        reject.getHeader().setString(MsgType.FIELD, "j");
        reject.setString(45, Peer.valueOf(message.getHeader(), MsgSeqNum.FIELD));
        reject.setString(372, Peer.valueOf(message.getHeader(), MsgType.FIELD));
        reject.setString(380, "3");
        reject.setString(58, "Unsupported Message Type");
        return reject;
    }
}
