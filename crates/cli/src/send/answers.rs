//! Recognizes what belongs to an exchange that one message began, among everything that its session
//! sends and receives. Sans-IO.

use fixbolt_cli::output::shown;
use fixbolt_codec::{FromField, Message, MsgType, SeqNum, Tag};
use fixbolt_dictionary::fix44;

/// What is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Wait {
    /// The first answer
    Ack,
    /// The order's final state
    Filled,
}

/// Recognizes the answers to one message.
///
/// A field that names a request comes back in its answers; so does OrderID, once the first of them
/// has brought it. A cancel or replace is also answered by what names its order. A Reject or
/// BusinessMessageReject names MsgSeqNum of the message. Messages with PossDupFlag=Y belong to an
/// earlier exchange, and those whose MsgSeqNum was used before end the session.
#[derive(Debug)]
pub(super) struct Answers {
    wait: Wait,
    msg_type: MsgType,
    /// The fields by which answers name the message; none if it has no such field.
    names: Vec<(Tag, Vec<u8>)>,
    /// The order that the message cancels or replaces, if it does.
    changed: Option<ChangedOrder>,
    /// MsgSeqNum of the message, once it was sent.
    seq: Option<Vec<u8>>,
    /// OrderID of the order, once an answer has brought it.
    order_id: Option<Vec<u8>>,
    /// Whether our Logon was answered with a Logon.
    is_logged_on: bool,
    /// The highest MsgSeqNum that the counterparty has used since its Logon.
    last_in: Option<SeqNum>,
}

/// The order that an OrderCancelRequest or an OrderCancelReplaceRequest is about.
///
/// Some venues answer without ClOrdID of the request: their report has ClOrdID of the order, or
/// only OrderID.
#[derive(Debug)]
struct ChangedOrder {
    /// ClOrdID and OrigClOrdID of the request.
    cl_ord_ids: Vec<Vec<u8>>,
    /// OrderID, if the request has it.
    order_id: Option<Vec<u8>>,
}

impl ChangedOrder {
    fn of(msg_type: MsgType, fields: &[(Tag, Vec<u8>)]) -> Option<Self> {
        if !matches!(msg_type.as_bytes(), b"F" | b"G") {
            return None;
        }
        let is_id = |tag: &Tag| [CL_ORD_ID, ORIG_CL_ORD_ID].contains(tag);
        let cl_ord_ids = fields.iter().filter(|(tag, _)| is_id(tag)).map(|(_, value)| value.clone());
        let order_id = fields.iter().find(|(tag, _)| *tag == ORDER_ID).map(|(_, value)| value.clone());
        Some(Self { cl_ord_ids: cl_ord_ids.collect(), order_id })
    }

    /// Returns whether a message says what has become of the request: an OrderCancelReject, or an
    /// ExecutionReport of a cancel or replace. A fill of the order is no answer.
    fn is_decided_by(&self, message: &Message<'_>) -> bool {
        let decides = match message.msg_type() {
            b"9" => true,
            b"8" => {
                // FIX.4.0 has no ExecType. Canceled, replaced, pending cancel, rejected, pending
                // replace.
                let kind = message.get(EXEC_TYPE).or_else(|| message.get(ORD_STATUS));
                matches!(kind, Some(b"4" | b"5" | b"6" | b"8" | b"E"))
            }
            _ => false,
        };
        let is_named_in =
            |tag| message.get(tag).is_some_and(|value| self.cl_ord_ids.iter().any(|id| id == value));
        decides
            && (is_named_in(CL_ORD_ID)
                || is_named_in(ORIG_CL_ORD_ID)
                || self.order_id.is_some() && message.get(ORDER_ID) == self.order_id.as_deref())
    }
}

/// What a message is to the exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The message that begins it.
    Sent,
    /// The counterparty's Logout, or the Reject that refuses our Logon.
    End,
    /// An answer after which others are waited for.
    Progress,
    /// The answer that was waited for, and whether it is a good one.
    Last { good: bool },
    /// What came after the message and does not answer it.
    Other,
}

/// The fields that name a request and come back in its answers, of the messages of FIX.4.4 with
/// what FIX.4.2 has of them. Only those of the first row that a message has a field of are used: an
/// order that refers to a quote is not answered by a quote.
const NAMES: [&[u32]; 21] = [
    // ClOrdID, OrigClOrdID, ListID
    &[11, 41, 66],
    // CrossID, OrigCrossID
    &[548, 551],
    // MassStatusReqID
    &[584],
    // MDReqID
    &[262],
    // RFQReqID
    &[644],
    // QuoteReqID, QuoteID, QuoteStatusReqID, QuoteRespID
    &[131, 117, 649, 693],
    // SecurityReqID
    &[320],
    // SecurityStatusReqID
    &[324],
    // TradSesReqID
    &[335],
    // TradeRequestID, TradeReportID
    &[568, 571],
    // AllocID, AllocReportID
    &[70, 755],
    // ConfirmReqID, ConfirmID
    &[859, 664],
    // SettlInstReqID, SettlInstMsgID
    &[791, 777],
    // RegistID
    &[513],
    // PosReqID, PosMaintRptID
    &[710, 721],
    // CollReqID, CollAsgnID, CollInquiryID
    &[894, 902, 909],
    // UserRequestID
    &[923],
    // NetworkRequestID
    &[933],
    // ClientBidID, BidID
    &[391, 390],
    // EmailThreadID, IOIid, AdvId
    &[164, 23, 2],
    // OrderID
    &[37],
];

/// Fields that say what has become of a request, with the values that say it is rejected.
const REJECTIONS: [(u32, &[&[u8]]); 15] = [
    // OrdStatus, ExecType
    (39, &[b"8"]),
    (150, &[b"8"]),
    // AllocStatus
    (87, &[b"1", b"2", b"5"]),
    // QuoteStatus
    (297, &[b"5"]),
    // SecurityResponseType
    (323, &[b"5"]),
    // RegistStatus
    (506, &[b"R"]),
    // MassCancelResponse, MassActionResponse
    (531, &[b"0"]),
    (1375, &[b"0"]),
    // ConfirmStatus, AffirmStatus
    (665, &[b"5"]),
    (940, &[b"2"]),
    // PosMaintStatus
    (722, &[b"2"]),
    // TradeRequestStatus, TrdRptStatus
    (750, &[b"2"]),
    (939, &[b"1"]),
    // CollAsgnRespType, CollInquiryStatus
    (905, &[b"3"]),
    (945, &[b"4"]),
];

const CL_ORD_ID: Tag = Tag::new(11);
const ORDER_ID: Tag = Tag::new(37);
const ORD_STATUS: Tag = Tag::new(39);
const ORIG_CL_ORD_ID: Tag = Tag::new(41);
const POSS_DUP_FLAG: Tag = Tag::new(43);
const MSG_SEQ_NUM: Tag = Tag::new(34);
const NEW_SEQ_NO: Tag = Tag::new(36);
const REF_SEQ_NUM: Tag = Tag::new(45);
const EXEC_TYPE: Tag = Tag::new(150);
const BUSINESS_REJECT_REF_ID: Tag = Tag::new(379);

impl Answers {
    /// Creates one for a message of this type with these fields.
    ///
    /// # Errors
    /// One line, if the message is no order whose final state can be waited for.
    pub(super) fn new(wait: Wait, msg_type: MsgType, fields: &[(Tag, Vec<u8>)]) -> Result<Self, String> {
        let of = |row: &&[u32]| -> Vec<(Tag, Vec<u8>)> {
            fields.iter().filter(|(tag, _)| row.contains(&tag.number())).cloned().collect()
        };
        let names = NAMES.iter().map(of).find(|names| !names.is_empty()).unwrap_or_default();
        if wait == Wait::Filled && !names.iter().any(|(tag, _)| *tag == CL_ORD_ID) {
            return Err(format!(
                "--wait filled needs an order, and {msg_type} has no ClOrdID (11): add ClOrdID=ID, or wait for ack"
            ));
        }
        let changed = ChangedOrder::of(msg_type, fields);
        Ok(Self {
            wait,
            msg_type,
            names,
            changed,
            seq: None,
            order_id: None,
            is_logged_on: false,
            last_in: None,
        })
    }

    /// Returns how an answer names the message, in words. Of a cancel, its OrderID is among it.
    pub(super) fn naming(&self) -> String {
        let order_id = self.changed.as_ref().and_then(|changed| changed.order_id.as_ref());
        let names = self.names.iter().map(|(tag, value)| (*tag, value));
        let ways: Vec<String> = names
            .chain(order_id.map(|id| (ORDER_ID, id)))
            .chain(self.seq.iter().map(|seq| (REF_SEQ_NUM, seq)))
            .map(|(tag, value)| {
                let name = fix44().field(tag.number()).map_or("field", |field| &field.name);
                format!("{name} ({tag}) {}", shown(value))
            })
            .collect();
        let any = if self.names.is_empty() { "is any application message, or " } else { "" };
        format!("{any}has {}", ways.join(" or "))
    }

    /// Takes the next message of the session; `None` if it does not belong to the exchange, and
    /// came before it or keeps the session alive.
    pub(super) fn take(&mut self, sent: bool, message: &Message<'_>) -> Option<Part> {
        let part = self.part(sent, message);
        if part.is_some() || sent || self.seq.is_none() {
            return part;
        }
        // Heartbeat, TestRequest, Logon.
        (!matches!(message.msg_type(), b"0" | b"1" | b"A")).then_some(Part::Other)
    }

    fn part(&mut self, sent: bool, message: &Message<'_>) -> Option<Part> {
        if message.get(POSS_DUP_FLAG) == Some(b"Y") {
            return None;
        }
        let msg_type = message.msg_type();
        if sent {
            let is_ours = self.seq.is_none()
                && msg_type == self.msg_type.as_bytes()
                && (self.names.is_empty() || self.is_named_in(message));
            self.seq =
                self.seq.take().or_else(|| Some(message.get(MSG_SEQ_NUM)?.to_vec()).filter(|_| is_ours));
            return is_ours.then_some(Part::Sent);
        }
        self.is_logged_on |= msg_type == b"A";
        let is_new = self.note_number(message);
        if msg_type == b"5" || msg_type == b"3" && !self.is_logged_on {
            return Some(Part::End);
        }
        // The session ends with it.
        if !is_new {
            return None;
        }
        let refers = match msg_type {
            b"0" | b"1" | b"2" | b"4" | b"A" => false,
            b"3" => self.refers_to_ours(message),
            b"j" => {
                self.refers_to_ours(message) || message.get(REF_SEQ_NUM).is_none() && self.answers(message)
            }
            _ => self.answers(message),
        };
        // Nothing answers what was not sent.
        (refers && self.seq.is_some()).then(|| self.judge(message))
    }

    /// Takes note of the number of a message of the counterparty. Returns whether it is higher than
    /// those before it, or is missing.
    fn note_number(&mut self, message: &Message<'_>) -> bool {
        let number = |tag| message.get(tag).and_then(|value| SeqNum::from_field(value).ok());
        let Some(seq) = number(MSG_SEQ_NUM) else { return true };
        // A Logon may have reset the numbers.
        let is_new = message.msg_type() == b"A" || self.last_in.is_none_or(|last| seq > last);
        if is_new {
            self.last_in = Some(seq);
        }
        if message.msg_type() == b"4"
            && let Some(next) = number(NEW_SEQ_NO)
        {
            self.last_in = self.last_in.max(Some(SeqNum(next.0.saturating_sub(1))));
        }
        is_new
    }

    /// Returns whether a reject is of our message.
    fn refers_to_ours(&self, message: &Message<'_>) -> bool {
        self.seq.is_some() && message.get(REF_SEQ_NUM) == self.seq.as_deref()
    }

    fn answers(&self, message: &Message<'_>) -> bool {
        self.names.is_empty()
            || self.is_named_in(message)
            || self.order_id.is_some() && message.get(ORDER_ID) == self.order_id.as_deref()
            || self.changed.as_ref().is_some_and(|changed| changed.is_decided_by(message))
    }

    /// Returns whether a message has one of the fields by which answers name ours, in a group, too.
    /// BusinessRejectRefID has the value of any of them.
    fn is_named_in(&self, message: &Message<'_>) -> bool {
        message.fields().any(|field| {
            self.names.iter().any(|(tag, value)| {
                field.value == value && (field.tag == Some(*tag) || field.tag == Some(BUSINESS_REJECT_REF_ID))
            })
        })
    }

    fn judge(&mut self, message: &Message<'_>) -> Part {
        let msg_type = message.msg_type();
        if msg_type == b"8" && self.order_id.is_none() {
            self.order_id = message.get(ORDER_ID).filter(|id| *id != b"NONE").map(<[u8]>::to_vec);
        }
        let status = message.get(ORD_STATUS).filter(|_| msg_type == b"8");
        let is_one = |(tag, values): &(u32, &[&[u8]])| {
            message.get(Tag::new(*tag)).is_some_and(|value| values.contains(&value))
        };
        let rejects = matches!(msg_type, b"3" | b"j" | b"9" | b"Y" | b"AG") || REJECTIONS.iter().any(is_one);
        match (self.wait, status) {
            _ if rejects => Part::Last { good: false },
            (Wait::Ack, _) | (Wait::Filled, Some(b"2")) => Part::Last { good: true },
            // Done for day, canceled, calculated, expired.
            (Wait::Filled, Some(b"3" | b"4" | b"B" | b"C")) => Part::Last { good: false },
            (Wait::Filled, _) => Part::Progress,
        }
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::{Frame, Framer, Index, Span};
    use fixbolt_conformance::testing::message;
    use fixbolt_dictionary::{DataType, fix50sp2};

    use super::*;

    /// An exchange, whose message had MsgSeqNum 2.
    struct Exchange(Answers);

    impl Exchange {
        fn of(wait: Wait, msg_type: &'static str, fields: &str) -> Self {
            let split = |field: &str| {
                let (tag, value) = field.split_once('=').unwrap();
                (Tag::new(tag.parse().unwrap()), value.as_bytes().to_vec())
            };
            let all: Vec<_> = fields.split('|').map(split).collect();
            let msg_type = MsgType::try_new(msg_type.as_bytes()).unwrap();
            let mut exchange = Self(Answers::new(wait, msg_type, &all).unwrap());
            assert_eq!(exchange.take(false, "35=A|98=0|108=30"), None);
            let sent = exchange.take(true, &format!("35={msg_type}|34=2|{fields}"));
            assert_eq!(sent, Some(Part::Sent));
            exchange
        }

        fn take(&mut self, sent: bool, fields: &str) -> Option<Part> {
            let bytes = message("FIX.4.4", fields);
            let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
            let Frame::Message(framed) = Framer::new(bytes.len()).next(&bytes) else { panic!("{fields}") };
            self.0.take(sent, &Index::new(&mut tags, &mut spans).build(framed).unwrap())
        }

        fn receives(&mut self, fields: &str) -> Option<Part> {
            self.take(false, fields).filter(|part| *part != Part::Other)
        }
    }

    const GOOD: Option<Part> = Some(Part::Last { good: true });
    const BAD: Option<Part> = Some(Part::Last { good: false });

    #[test]
    fn every_naming_field_is_an_identifier_of_the_dictionary() {
        for tag in NAMES.concat() {
            let field = fix44().field(tag).unwrap();
            assert_eq!(field.kind, DataType::String, "{tag}");
            assert!(field.name.to_lowercase().ends_with("id"), "{}", field.name);
        }
    }

    #[test]
    fn every_rejection_is_a_code_of_the_dictionary_that_says_so() {
        for (tag, values) in REJECTIONS {
            for value in values {
                let code = fix50sp2().code(tag, value).or_else(|| fix44().code(tag, value));
                let name = code.unwrap_or_else(|| panic!("{tag}")).display_name().to_lowercase();
                assert!(name.contains("reject"), "{tag}: {name}");
            }
        }
    }

    #[test]
    fn an_answer_that_rejects_in_a_field_of_its_own_is_no_good_one() {
        for (msg_type, fields, good, bad) in [
            ("J", "70=a|71=0", "35=P|70=a|87=0", "35=P|70=a|87=1"),
            ("i", "117=q|296=1", "35=b|117=q|297=0", "35=b|117=q|297=5"),
            ("q", "11=m|530=7", "35=r|11=m|37=1|530=7|531=7", "35=r|11=m|37=1|530=7|531=0"),
            ("AD", "568=t|569=0", "35=AQ|568=t|749=0|750=0", "35=AQ|568=t|749=8|750=2"),
            ("AE", "571=t|487=0", "35=AR|571=t|939=0", "35=AR|571=t|939=1"),
        ] {
            assert_eq!(Exchange::of(Wait::Ack, msg_type, fields).receives(good), GOOD, "{good}");
            assert_eq!(Exchange::of(Wait::Ack, msg_type, fields).receives(bad), BAD, "{bad}");
        }
    }

    #[test]
    fn an_order_is_answered_by_its_cl_ord_id_and_by_nobody_elses() {
        let mut order = Exchange::of(Wait::Ack, "D", "11=a|55=IBM");
        assert_eq!(order.receives("35=8|11=b|37=1|39=2"), None);
        assert_eq!(order.receives("35=8|37=1|39=2"), None);
        assert_eq!(order.receives("35=8|43=Y|11=a|37=1|39=2"), None);
        assert_eq!(order.receives("35=W|55=IBM"), None);
        assert_eq!(order.receives("35=8|11=a|37=1|39=0"), GOOD);
        assert_eq!(order.receives("35=8|11=a|37=1|39=8"), BAD);
        assert_eq!(order.receives("35=8|11=a|37=1|39=0|150=8"), BAD);
    }

    #[test]
    fn a_message_whose_number_was_used_answers_nothing() {
        let mut order = Exchange::of(Wait::Ack, "D", "11=a");
        assert_eq!(order.receives("35=0|34=2"), None);
        assert_eq!(order.take(false, "35=8|34=2|11=a|37=1|39=0"), Some(Part::Other));
        assert_eq!(order.receives("35=4|34=3|123=Y|36=7"), None);
        assert_eq!(order.receives("35=8|34=6|11=a|37=1|39=0"), None);
        assert_eq!(order.receives("35=8|34=7|11=a|37=1|39=0"), GOOD);
        // The Logon resets the numbers.
        let mut order = Exchange::of(Wait::Ack, "D", "11=a");
        assert_eq!(order.receives("35=0|34=900"), None);
        assert_eq!(order.receives("35=A|34=1|141=Y"), None);
        assert_eq!(order.receives("35=8|34=2|11=a|37=1|39=0"), GOOD);
    }

    #[test]
    fn the_session_layers_messages_answer_nothing() {
        let mut message = Exchange::of(Wait::Ack, "B", "148=news");
        for msg_type in ["0", "1|112=x", "2|7=1|16=0", "4|36=5", "A|98=0|108=30"] {
            assert_eq!(message.receives(&format!("35={msg_type}")), None);
        }
        assert_eq!(message.receives("35=5|58=closed"), Some(Part::End));
    }

    #[test]
    fn a_reject_before_any_logon_refuses_ours() {
        let fields = [(CL_ORD_ID, b"a".to_vec())];
        let mut exchange = Exchange(Answers::new(Wait::Ack, MsgType::new(b"D"), &fields).unwrap());
        assert_eq!(exchange.take(false, "35=3|45=1|371=98|373=5"), Some(Part::End));
        assert_eq!(exchange.take(false, "35=A|98=0|108=30"), None);
        assert_eq!(exchange.take(false, "35=3|45=1|371=98|373=5"), None);
    }

    #[test]
    fn a_reject_answers_the_message_whose_number_it_names() {
        let mut order = Exchange::of(Wait::Ack, "D", "11=a");
        assert_eq!(order.receives("35=3|45=1"), None);
        assert_eq!(order.receives("35=j|45=1|372=D|379=a|380=1"), None);
        assert_eq!(order.receives("35=3"), None);
        assert_eq!(order.receives("35=3|45=2"), BAD);
        assert_eq!(order.receives("35=j|45=2|372=D|380=1"), BAD);
        // RefSeqNum is optional there.
        assert_eq!(order.receives("35=j|372=D|379=b|380=1"), None);
        assert_eq!(order.receives("35=j|372=D|379=a|380=1"), BAD);
    }

    #[test]
    fn a_cancel_or_replace_is_answered_by_either_of_its_ids_or_by_order_id() {
        for msg_type in ["F", "G"] {
            let received =
                |fields: &str| Exchange::of(Wait::Ack, msg_type, "11=c|41=a|37=7").receives(fields);
            for other in [
                // Fills of the order before, in the words of several versions.
                "35=8|11=a|37=7|39=1",
                "35=8|11=a|37=7|150=F|39=2",
                "35=8|11=a|37=7|150=1|39=6",
                "35=8|11=x|37=8|150=4|39=4",
                "35=9|11=x|41=y|37=8|39=2",
                "35=W|37=8|262=c",
            ] {
                assert_eq!(received(other), None, "{other}");
            }
            for answer in [
                "35=8|11=c|41=a|37=8|150=4|39=4",
                "35=8|11=c|37=8|39=4",
                "35=8|41=a|37=8|39=4",
                "35=8|11=a|37=8|150=5|39=0",
                "35=8|11=a|41=c|37=8|150=E|39=E",
                "35=8|37=7|150=6|39=6",
                "35=8|11=x|37=7|39=4",
            ] {
                assert_eq!(received(answer), GOOD, "{answer}");
            }
            for refusal in ["35=9|11=c|41=a|37=NONE|39=8", "35=9|11=a|37=NONE|39=8", "35=9|37=7|39=2"] {
                assert_eq!(received(refusal), BAD, "{refusal}");
            }
        }
        let order = "35=8|11=x|37=7|150=4|39=4";
        assert_eq!(Exchange::of(Wait::Ack, "D", "11=c|37=7").receives(order), None, "it is no cancel");
    }

    #[test]
    fn other_requests_are_answered_by_the_id_of_their_kind() {
        for (msg_type, fields, other, answer) in [
            ("V", "262=r", "35=W|262=x|55=IBM", "35=W|262=r|55=IBM"),
            ("V", "262=r", "35=W|55=IBM", "35=X|262=r"),
            ("R", "131=q|117=z", "35=S|131=x|117=y", "35=S|131=q|117=y"),
            ("c", "320=s", "35=d|320=x", "35=d|320=s"),
            ("g", "335=t", "35=h|335=x", "35=h|335=t"),
            ("E", "66=l|73=1|11=a", "35=N|66=x|73=1|11=b", "35=N|66=x|73=1|11=a"),
        ] {
            let mut request = Exchange::of(Wait::Ack, msg_type, fields);
            assert_eq!(request.receives(other), None, "{other}");
            assert_eq!(request.receives(answer), GOOD, "{answer}");
        }
        assert_eq!(Exchange::of(Wait::Ack, "V", "262=r").receives("35=Y|262=r"), BAD);
        // An order that refers to a quote.
        assert_eq!(Exchange::of(Wait::Ack, "D", "11=a|117=q").receives("35=S|117=q"), None);
    }

    #[test]
    fn a_message_without_an_id_is_answered_by_the_first_application_message() {
        let mut news = Exchange::of(Wait::Ack, "B", "148=news");
        assert_eq!(news.receives("35=8|43=Y|11=a"), None);
        assert_eq!(news.receives("35=3|45=1"), None);
        assert_eq!(news.receives("35=8|11=a|39=0"), GOOD);
    }

    #[test]
    fn the_final_state_of_an_order_ends_it_well_only_if_it_is_filled() {
        let after = |status: &str| {
            let mut order = Exchange::of(Wait::Filled, "D", "11=a");
            assert_eq!(order.receives("35=8|11=a|37=7|39=0"), Some(Part::Progress));
            // Somebody else's fill, then one that names the order by OrderID only.
            assert_eq!(order.receives("35=8|11=b|37=8|39=2"), None);
            assert_eq!(order.receives("35=8|11=x|37=7|39=1"), Some(Part::Progress));
            order.receives(&format!("35=8|37=7|39={status}"))
        };
        assert_eq!(after("2"), GOOD);
        for ended in ["3", "4", "8", "B", "C"] {
            assert_eq!(after(ended), BAD, "{ended}");
        }
        for open in ["0", "1", "5", "6", "7", "9", "A", "D", "E"] {
            assert_eq!(after(open), Some(Part::Progress), "{open}");
        }
    }

    #[test]
    fn an_order_id_of_none_names_no_order() {
        let mut order = Exchange::of(Wait::Filled, "D", "11=a");
        assert_eq!(order.receives("35=8|11=a|37=NONE|39=A"), Some(Part::Progress));
        assert_eq!(order.receives("35=8|11=b|37=NONE|39=2"), None);
    }

    #[test]
    fn nothing_answers_before_the_message_is_sent_and_a_resent_one_is_not_it() {
        let fields = [(CL_ORD_ID, b"a".to_vec())];
        let mut exchange = Exchange(Answers::new(Wait::Ack, MsgType::new(b"D"), &fields).unwrap());
        assert_eq!(exchange.receives("35=A|98=0|108=30"), None);
        assert_eq!(exchange.receives("35=8|11=a|39=0"), None);
        assert_eq!(exchange.receives("35=3"), None);
        assert_eq!(exchange.take(true, "35=D|34=2|43=Y|11=a"), None);
        assert_eq!(exchange.take(true, "35=D|34=3|11=kept"), None);
        assert_eq!(exchange.take(true, "35=D|34=4|11=a"), Some(Part::Sent));
        assert_eq!(exchange.take(true, "35=D|34=5|11=a"), None);
        assert_eq!(exchange.receives("35=3|45=4"), BAD);
    }

    #[test]
    fn what_comes_after_the_message_and_is_no_answer_is_told_apart_from_heartbeats() {
        let fields = [(CL_ORD_ID, b"a".to_vec())];
        let mut exchange = Exchange(Answers::new(Wait::Ack, MsgType::new(b"D"), &fields).unwrap());
        assert_eq!(exchange.take(false, "35=A|98=0|108=30"), None);
        assert_eq!(exchange.take(false, "35=8|11=b|39=0"), None, "it came before");
        assert_eq!(exchange.take(true, "35=D|34=2|11=a"), Some(Part::Sent));
        for other in ["35=8|11=b|39=0", "35=8|43=Y|11=a|39=0", "35=3|45=1", "35=2|7=2|16=0", "35=B|148=x"] {
            assert_eq!(exchange.take(false, other), Some(Part::Other), "{other}");
        }
        for alive in ["35=0", "35=1|112=x", "35=A|98=0|108=30"] {
            assert_eq!(exchange.take(false, alive), None, "{alive}");
        }
        assert_eq!(exchange.take(true, "35=2|7=1|16=0"), None, "it is ours");
    }

    #[test]
    fn how_an_answer_names_the_message_is_said_in_words() {
        let naming = |msg_type, fields| Exchange::of(Wait::Ack, msg_type, fields).0.naming();
        assert_eq!(naming("D", "11=a|55=IBM"), "has ClOrdID (11) a or RefSeqNum (45) 2");
        assert_eq!(
            naming("F", "11=c|41=a|37=7"),
            "has ClOrdID (11) c or OrigClOrdID (41) a or OrderID (37) 7 or RefSeqNum (45) 2"
        );
        assert_eq!(naming("B", "148=x"), "is any application message, or has RefSeqNum (45) 2");
    }

    #[test]
    fn only_an_order_can_be_waited_for_until_it_is_filled() {
        let request = [(Tag::new(262), b"r".to_vec())];
        let refused = Answers::new(Wait::Filled, MsgType::new(b"V"), &request).unwrap_err();
        assert!(refused.contains("--wait filled needs an order, and V has no ClOrdID (11)"), "{refused}");
    }
}
