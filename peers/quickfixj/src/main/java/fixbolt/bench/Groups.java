package fixbolt.bench;

import quickfix.Message;
import quickfix.field.LegSecurityAltID;
import quickfix.field.LegSecurityAltIDSource;
import quickfix.field.LegSymbol;
import quickfix.field.LegSymbolSfx;
import quickfix.field.MDEntryType;
import quickfix.field.MDReqID;
import quickfix.field.MarketDepth;
import quickfix.field.SubscriptionRequestType;
import quickfix.field.Symbol;
import quickfix.fix44.MarketDataRequest;
import quickfix.fix44.QuoteStatusRequest;

/** The three messages with groups. */
final class Groups {
    private Groups() {}

    /** MarketDataRequest: two groups of one field each. */
    static final class MarketData extends Fixture {
        private final String id;
        private final String pair;

        MarketData(int n) {
            super(n);
            id = "MDRQ-" + (1_487_838_687_427L + n * 1_009L);
            pair = "EUR/U" + letter(n) + 'D';
        }

        @Override
        Message build() {
            MarketDataRequest request = new MarketDataRequest();
            setHeader(request);
            request.set(new MDReqID(id));
            request.set(new SubscriptionRequestType('1'));
            request.set(new MarketDepth(1));
            MarketDataRequest.NoMDEntryTypes entry = new MarketDataRequest.NoMDEntryTypes();
            entry.set(new MDEntryType('0'));
            request.addGroup(entry);
            entry.set(new MDEntryType('1'));
            request.addGroup(entry);
            MarketDataRequest.NoRelatedSym related = new MarketDataRequest.NoRelatedSym();
            related.set(new Symbol(pair));
            request.addGroup(related);
            return request;
        }

        @Override
        String text() {
            return wire("V", "262=" + id + "|263=1|264=1|267=2|269=0|269=1|146=1|55=" + pair + '|');
        }
    }

    /** QuoteStatusRequest with a group of three legs, in the nested one with a group in each. */
    static final class QuoteStatus extends Fixture {
        private static final String[] SUFFIXES = {"PQRS", "QRST", "RSTU"};
        private static final String[][][] ALTERNATIVES = {
            {{"12345", "QWERTYU"}, {"23456", "ASDFGHJ"}}, {{"34567", "ZXCVBNM"}}, {{"45678", "POIUYTR"}}
        };

        private final boolean isNested;
        private final String symbol;
        private final String[] legs;

        QuoteStatus(int n, boolean isNested) {
            super(n);
            this.isNested = isNested;
            symbol = "ABC" + (10 + n);
            legs = new String[] {"BCDE" + letter(n), "CDEF" + letter(n), "DEFG" + letter(n)};
        }

        @Override
        Message build() {
            QuoteStatusRequest request = new QuoteStatusRequest();
            setHeader(request);
            request.set(new Symbol(symbol));
            for (int at = 0; at < legs.length; at++) {
                QuoteStatusRequest.NoLegs leg = new QuoteStatusRequest.NoLegs();
                leg.set(new LegSymbol(legs[at]));
                leg.set(new LegSymbolSfx(SUFFIXES[at]));
                if (isNested) {
                    for (String[] alternative : ALTERNATIVES[at]) {
                        QuoteStatusRequest.NoLegs.NoLegSecurityAltID id =
                                new QuoteStatusRequest.NoLegs.NoLegSecurityAltID();
                        id.set(new LegSecurityAltID(alternative[0]));
                        id.set(new LegSecurityAltIDSource(alternative[1]));
                        leg.addGroup(id);
                    }
                }
                request.addGroup(leg);
            }
            return request;
        }

        @Override
        String text() {
            StringBuilder body = new StringBuilder("55=" + symbol + "|555=3|");
            for (int at = 0; at < legs.length; at++) {
                body.append("600=").append(legs[at]).append("|601=").append(SUFFIXES[at]).append('|');
                if (isNested) {
                    body.append("604=").append(ALTERNATIVES[at].length).append('|');
                    for (String[] alternative : ALTERNATIVES[at]) {
                        body.append("605=").append(alternative[0]).append("|606=").append(alternative[1]).append('|');
                    }
                }
            }
            return wire("a", body.toString());
        }
    }

    private static char letter(int n) {
        return (char) ('A' + n % 26);
    }
}
