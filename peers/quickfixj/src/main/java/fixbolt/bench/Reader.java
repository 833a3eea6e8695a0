package fixbolt.bench;

import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import quickfix.DataDictionary;
import quickfix.Field;
import quickfix.FieldMap;
import quickfix.FieldNotFound;
import quickfix.FieldType;
import quickfix.Group;
import quickfix.Message;

/**
 * Reads every field of a message as its type, including those of its groups. What is read is summed
 * up as a number; {@link #expected} computes the same from the text, without QuickFIX/J.
 */
final class Reader {
    /** Amounts are read as decimals: those of NewOrderMultileg do not fit into doubles. */
    private enum Kind {
        INT, DECIMAL, TIME, BOOLEAN, CHAR, STRING;

        static Kind of(FieldType type) {
            return switch (type) {
                case INT, NUMINGROUP, SEQNUM, LENGTH -> INT;
                case FLOAT, PRICE, PRICEOFFSET, AMT, QTY, PERCENTAGE -> DECIMAL;
                case UTCTIMESTAMP -> TIME;
                case BOOLEAN -> BOOLEAN;
                case CHAR -> CHAR;
                default -> STRING;
            };
        }
    }

    /** The fields of a part of a message. */
    private static final class Part {
        private final int[] tags;
        private final Kind[] kinds;
        private final int[] counts;
        private final Part[] entries;

        Part(FieldMap fields, DataDictionary dictionary) {
            List<Integer> numbers = new ArrayList<>();
            for (Iterator<Field<?>> all = fields.iterator(); all.hasNext(); ) {
                numbers.add(all.next().getTag());
            }
            List<Integer> groups = new ArrayList<>();
            fields.groupKeyIterator().forEachRemaining(groups::add);
            tags = numbers.stream().mapToInt(Integer::intValue).toArray();
            kinds = numbers.stream().map(tag -> Kind.of(dictionary.getFieldType(tag))).toArray(Kind[]::new);
            counts = groups.stream().mapToInt(Integer::intValue).toArray();
            entries = groups.stream().map(tag -> new Part(fields.getGroups(tag).get(0), dictionary)).toArray(Part[]::new);
        }

        long read(FieldMap fields) throws FieldNotFound {
            long sum = 0;
            for (int at = 0; at < tags.length; at++) {
                int tag = tags[at];
                sum += switch (kinds[at]) {
                    case INT -> fields.getInt(tag);
                    case DECIMAL -> sumOf(fields.getDecimal(tag));
                    case TIME -> sumOf(fields.getUtcTimeStamp(tag));
                    case BOOLEAN -> fields.getBoolean(tag) ? 2 : 1;
                    case CHAR -> fields.getChar(tag);
                    case STRING -> fields.getString(tag).length();
                };
            }
            for (int at = 0; at < counts.length; at++) {
                for (Group entry : fields.getGroups(counts[at])) {
                    sum += entries[at].read(entry);
                }
            }
            return sum;
        }
    }

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HH:mm:ss[.SSS]");

    private final Part header;
    private final Part body;
    private final Part trailer;

    /** Creates a reader for messages with the same fields as this one. */
    Reader(Message message, DataDictionary dictionary) {
        header = new Part(message.getHeader(), dictionary);
        body = new Part(message, dictionary);
        trailer = new Part(message.getTrailer(), dictionary);
    }

    long read(Message message) throws FieldNotFound {
        return header.read(message.getHeader()) + body.read(message) + trailer.read(message.getTrailer());
    }

    static long expected(String text, DataDictionary dictionary) {
        long sum = 0;
        for (String field : text.split("\001")) {
            int equals = field.indexOf('=');
            String value = field.substring(equals + 1);
            sum += switch (Kind.of(dictionary.getFieldType(Integer.parseInt(field.substring(0, equals))))) {
                case INT -> Integer.parseInt(value);
                case DECIMAL -> sumOf(new BigDecimal(value));
                case TIME -> sumOf(LocalDateTime.parse(value, TIME));
                case BOOLEAN -> value.equals("Y") ? 2 : 1;
                case CHAR -> value.charAt(0);
                case STRING -> value.length();
            };
        }
        return sum;
    }

    private static long sumOf(BigDecimal value) {
        return 3L * value.scale() + value.signum();
    }

    private static long sumOf(LocalDateTime value) {
        return value.getDayOfYear() + value.getSecond() + value.getNano();
    }
}
