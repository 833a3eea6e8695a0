package fixbolt.bench;

import java.time.LocalDateTime;
import quickfix.Message;
import quickfix.UtcTimestampPrecision;
import quickfix.field.MsgSeqNum;
import quickfix.field.SenderCompID;
import quickfix.field.SendingTime;
import quickfix.field.TargetCompID;

/**
 * A message of a ring, as text and as the object that an application would build. Members differ
 * in sequence number, SendingTime and some values, so that the processor cannot memorize one.
 */
abstract class Fixture {
    static final int RING = 64;

    final int seq;
    private final LocalDateTime sendingTime;

    Fixture(int n) {
        seq = 10 + n;
        sendingTime = LocalDateTime.of(2007, 11, 23, 5, 30, n % 60, n * 37 % 1000 * 1_000_000);
    }

    /** Builds the object, with all its groups, from values. */
    abstract Message build();

    /** Returns the message by the definition. */
    abstract String text();

    void setHeader(Message message) {
        Message.Header header = message.getHeader();
        header.setField(new MsgSeqNum(seq));
        header.setField(new SenderCompID("senderCompID"));
        header.setUtcTimeStamp(SendingTime.FIELD, sendingTime, UtcTimestampPrecision.MILLIS);
        header.setField(new TargetCompID("targetCompID"));
    }

    /** Returns the whole message, with SOH for `|`. */
    String wire(String msgType, String body) {
        String fields = String.format("35=%s|34=%d|49=senderCompID|52=20071123-05:30:%02d.%03d|56=targetCompID|%s",
                msgType, seq, sendingTime.getSecond(), sendingTime.getNano() / 1_000_000, body);
        String message = ("8=FIX.4.4|9=" + fields.length() + "|" + fields).replace('|', '\001');
        int sum = message.chars().sum() % 256;
        return message + String.format("10=%03d\001", sum);
    }
}
