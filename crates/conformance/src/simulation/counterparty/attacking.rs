//! What a hostile counterparty sends: messages of the session layer that no counterparty may send,
//! numbers that nobody expects, floods, and half a message. It keeps account of the numbers that it
//! uses, so that both sides can agree again once it behaves.

use std::io::Write as _;

use fixbolt_codec::Version;

use super::super::text::{self, Header, SECOND};
use super::{Counterparty, Emission, Kind, Moment, NEVER, Phase, Sent};

/// A kind of attack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Attack {
    /// A message of the session layer with a field that is missing, empty, doubled or of another
    /// type.
    Malformed,
    /// New messages that claim to be sent again.
    PossDup,
    /// An order whose number is far ahead.
    FarAhead,
    /// Many messages at once.
    Flood,
    /// The beginning of a message, then silence.
    HalfMessage,
    /// Bytes that are no message, or one with a BodyLength that no message has.
    Garbage,
    /// Something else instead of the next Logon.
    FalseStart,
}

impl Attack {
    pub(in super::super) const ALL: [Self; 7] = [
        Self::Malformed,
        Self::PossDup,
        Self::FarAhead,
        Self::Flood,
        Self::HalfMessage,
        Self::Garbage,
        Self::FalseStart,
    ];
}

/// A message that the session has to reject, or to end the connection for.
#[derive(Clone, Debug)]
pub(in super::super) struct Wrong {
    pub(in super::super) seq: u64,
    /// When the session had gone past it.
    pub(in super::super) passed: u64,
    pub(in super::super) what: String,
}

/// What it has in mind, and what it waits for, in its role as an attacker.
#[derive(Debug, Default)]
pub(in super::super) struct Attacks {
    /// Whether the session checks OrigSendingTime (122).
    pub(in super::super) has_122_checked: bool,
    mute_since: u64,
    /// Until then it neither reads nor sends; then it closes.
    pub(super) mute_until: u64,
    /// Whether it sends something else instead of its next Logon.
    false_start: bool,
    /// What it has sent instead of a Logon in this connection, if that can be taken for none.
    pub(in super::super) no_logon: Option<&'static str>,
    /// Whether it has attacked in this connection.
    pub(in super::super) in_connection: bool,
    /// Whether garbage may have swallowed what followed it in this connection.
    garbled: bool,
    /// What has not been rejected yet.
    pub(in super::super) wrong: Vec<Wrong>,
    /// The numbers, of all series, that were not those of right messages.
    pub(super) used: Vec<u64>,
}

impl Attacks {
    pub(super) fn connected(&mut self) {
        self.mute_until = 0;
        self.garbled = false;
        self.in_connection = false;
        self.no_logon = None;
        self.wrong.clear();
    }

    pub(super) fn series_began(&mut self) {
        self.wrong.clear();
    }

    pub(super) fn is_mute(&self) -> bool {
        self.mute_until > 0
    }

    /// Returns whether the session may reject the message with this number.
    pub(in super::super) fn may_be_rejected(&self, seq: u64) -> bool {
        self.used.contains(&seq)
    }
}

type Fields = Vec<(u32, Vec<u8>)>;

/// How a field is made wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    Missing,
    Empty,
    Doubled,
    OtherType,
}

impl Counterparty {
    /// Attacks, if it can now; returns what it did.
    pub(in super::super) fn attack(&mut self, now: Moment, attack: Attack) -> Option<String> {
        if attack != Attack::FalseStart {
            if self.phase != Phase::LoggedOn || self.resetting.is_some() || self.attacks.is_mute() {
                return None;
            }
            self.attacks.in_connection = true;
        }
        Some(match attack {
            Attack::Malformed => self.send_malformed(now),
            Attack::PossDup => self.send_new_as_duplicates(now),
            Attack::FarAhead => self.send_far_ahead(now),
            Attack::Flood => self.flood(now),
            Attack::HalfMessage => self.send_half(now),
            Attack::Garbage => self.send_garbage(now),
            Attack::FalseStart => {
                self.attacks.false_start = true;
                "something else than a Logon comes next".to_owned()
            }
        })
    }

    /// Returns since when it has said nothing, if it says nothing on purpose.
    pub(in super::super) fn silent_since(&self) -> Option<u64> {
        self.attacks.is_mute().then_some(self.attacks.mute_since)
    }

    fn fall_silent(&mut self, now: Moment, nanos: u64) {
        (self.attacks.mute_since, self.attacks.mute_until) = (now.mono, now.mono + nanos);
    }

    /// From here on it does only what a counterparty may do.
    pub(in super::super) fn stop_attacking(&mut self) {
        self.attacks.false_start = false;
        // What it sent with a number far ahead is still expected.
        if self.attacks.in_connection || self.attacks.is_mute() {
            self.close();
        }
    }

    fn header_fields(&self, msg_type: &str, seq: &str, now: Moment) -> Fields {
        let mut time = Vec::new();
        text::write_time(&mut time, now.utc, self.dialect.whole_seconds());
        vec![
            (35, msg_type.into()),
            (49, self.own.into()),
            (56, self.other.into()),
            (34, seq.into()),
            (52, time),
        ]
    }

    fn emit(&mut self, now: Moment, bytes: Vec<u8>, covers: (u64, u64)) {
        self.last_sent = now.mono;
        self.out.push(Emission { bytes, covers, essential: false });
    }

    /// Sends a message that uses the next number, and that it fills when it is asked for it.
    fn emit_numbered(&mut self, now: Moment, fields: &Fields) -> u64 {
        let seq = self.next_out;
        self.next_out += 1;
        self.sent.resize(seq as usize, None);
        self.attacks.used.push(seq);
        let bytes = self.sealed(fields);
        self.emit(now, bytes, (seq, seq + 1));
        seq
    }

    fn sealed(&self, fields: &Fields) -> Vec<u8> {
        let mut body = Vec::with_capacity(128);
        for (tag, value) in fields {
            let _ = write!(body, "{tag}=");
            body.extend_from_slice(value);
            body.push(1);
        }
        text::frame(self.dialect.begin_string(), &body)
    }

    fn send_malformed(&mut self, now: Moment) -> String {
        let seq = self.next_out;
        let number = |n: u64| n.to_string().into_bytes();
        let (msg_type, body): (_, Fields) = match self.random.within(0, 8) {
            0 => ("0", vec![(112, b"x".to_vec())]),
            1 => ("1", vec![(112, b"x".to_vec())]),
            2 => ("2", vec![(7, number(1)), (16, number(self.dialect.infinity()))]),
            3 => ("3", vec![(45, number(1)), (58, b"because".to_vec())]),
            4 => ("5", vec![(58, b"bye".to_vec())]),
            _ => {
                let fills = if self.random.once_in(2) { b"Y" } else { b"N" };
                let to = seq + 1 + self.random.within(0, 50);
                ("4", vec![(123, fills.to_vec()), (36, number(to))])
            }
        };
        let mut fields = self.header_fields(msg_type, &seq.to_string(), now);
        let header = fields.len();
        fields.extend(body);
        // Faults of the body are the more interesting ones.
        let from = if self.random.once_in(4) { 0 } else { header };
        let place = self.random.within(from as u64, fields.len() as u64) as usize;
        let tag = fields[place].0;
        let change = self.change(tag, msg_type);
        apply(&mut fields, place, change);
        let what = format!("35={msg_type} with {tag} {change:?}");
        if tag == 34 && change != Change::Doubled {
            let bytes = self.sealed(&fields);
            self.emit(now, bytes, (0, 0));
            return what;
        }
        let seq = self.emit_numbered(now, &fields);
        // A Reject is never rejected.
        if place >= header && msg_type != "3" && !self.attacks.garbled {
            self.attacks.wrong.push(Wrong { seq, passed: NEVER, what: what.clone() });
        }
        what
    }

    /// Draws what is wrong with a field, so that it is wrong.
    fn change(&mut self, tag: u32, msg_type: &str) -> Change {
        let optional = matches!(tag, 58 | 123) || tag == 112 && msg_type == "0";
        let text = matches!(tag, 58 | 112);
        match self.random.within(0, 4) {
            0 if !optional => Change::Missing,
            1 => Change::Empty,
            2 if !text => Change::OtherType,
            _ => Change::Doubled,
        }
    }

    /// Sends new orders with PossDupFlag=Y: right ones, faster than any limit, or one without
    /// OrigSendingTime or from the future.
    fn send_new_as_duplicates(&mut self, now: Moment) -> String {
        if self.random.once_in(4) && self.dialect.since(Version::Fix42) && self.attacks.has_122_checked {
            let mut fields = self.header_fields("D", &self.next_out.to_string(), now);
            fields.insert(4, (43, b"Y".to_vec()));
            let ahead = self.random.once_in(2);
            let seq = self.next_out;
            if ahead {
                let mut later = Vec::new();
                text::write_time(&mut later, now.utc + 3600 * SECOND, self.dialect.whole_seconds());
                fields.push((122, later));
                // Nothing else is wrong with it.
                self.add_new_order(&mut fields);
                let what = "an order with 122 after 52".to_owned();
                self.attacks.wrong.push(Wrong { seq, passed: NEVER, what });
            }
            self.emit_numbered(now, &fields);
            return format!("an order with 43=Y, {}", if ahead { "122 after 52" } else { "without 122" });
        }
        let count = self.random.within(1, 120);
        for _ in 0..count {
            self.send_new_order(now, Some(now.utc));
        }
        format!("{count} new orders with 43=Y")
    }

    /// Returns the body of an order with a new ID.
    fn new_order(&mut self) -> Vec<u8> {
        self.ids += 1;
        self.dialect.body(Kind::Order, &self.ids.to_string())
    }

    /// Adds the fields of an order with a new ID.
    fn add_new_order(&mut self, fields: &mut Fields) {
        self.ids += 1;
        let id = self.ids.to_string();
        self.dialect.each_field(Kind::Order, &id, |tag, value| fields.push((tag, value.into())));
    }

    /// Sends a new order, which may claim to be sent again, with the next number, and keeps it.
    fn send_new_order(&mut self, now: Moment, original: Option<u64>) {
        let (seq, body) = (self.next_out, self.new_order());
        let header = Header { original, ..self.header("D", seq, now.utc) };
        let bytes = text::compose(&header, &body);
        self.next_out += 1;
        self.sent.resize(seq as usize - 1, None);
        let id = self.ids;
        self.sent.push(Some(Sent { msg_type: "D", body, at: now.utc, id: Some(id), poss_resend: false }));
        self.sent_ids.push(super::SentId { id, seq, series: self.series });
        self.attacks.used.push(seq);
        self.emit(now, bytes, (seq, seq + 1));
    }

    fn send_far_ahead(&mut self, now: Moment) -> String {
        let near = self.next_out + self.random.within(100_000, 1_000_000);
        let far = ["1000000000000", "9223372036854775807", "18446744073709551615", "99999999999999999999999"];
        let seq =
            if self.random.once_in(2) { near.to_string() } else { (*self.random.pick(&far)).to_owned() };
        let mut fields = self.header_fields("D", &seq, now);
        if self.random.once_in(4) {
            fields[0].1 = b"4".to_vec();
            fields.push((123, b"Y".to_vec()));
            fields.push((36, (near + 1000).to_string().into_bytes()));
        } else {
            self.add_new_order(&mut fields);
        }
        let bytes = self.sealed(&fields);
        self.emit(now, bytes, (0, 0));
        format!("a message with number {seq}")
    }

    fn flood(&mut self, now: Moment) -> String {
        let many = self.random.within(50, 1500);
        let (count, what) = match self.random.within(0, 6) {
            0 => (many, "Heartbeats"),
            1 => (many, "TestRequests"),
            2 => (many / 30, "ResendRequests for everything"),
            3 => (many, "Rejects"),
            4 => (many, "garbled messages"),
            _ => (many / 4, "orders"),
        };
        for _ in 0..count {
            match what {
                "Heartbeats" => self.send(now, "0", Vec::new(), None, false),
                "TestRequests" => self.send(now, "1", b"112=flood\x01".to_vec(), None, false),
                "ResendRequests for everything" => {
                    let body = format!("7=1\x0116={}\x01", self.dialect.infinity());
                    self.send(now, "2", body.into_bytes(), None, false);
                }
                "Rejects" => self.send(now, "3", b"45=1\x0158=no\x01".to_vec(), None, false),
                "orders" => self.send_new_order(now, None),
                _ => {
                    let last = self.next_out - 1;
                    let mut bytes = text::compose(&self.header("0", last, now.utc), b"");
                    let digit = bytes.len() - 2;
                    bytes[digit] ^= 1;
                    // Another wrong byte could make it right. One that is rejected uses its number.
                    let covers = (last, self.next_out);
                    self.out.push(Emission { bytes, covers, essential: true });
                }
            }
        }
        format!("a flood of {count} {what}")
    }

    fn send_half(&mut self, now: Moment) -> String {
        let body = self.new_order();
        let mut bytes = text::compose(&self.header("D", self.next_out, now.utc), &body);
        bytes.truncate(self.random.within(1, bytes.len() as u64) as usize);
        self.emit(now, bytes, (0, 0));
        self.fall_silent(now, 600 * SECOND);
        "half an order, then silence".to_owned()
    }

    fn send_garbage(&mut self, now: Moment) -> String {
        let begin = self.dialect.begin_string();
        let lengths = ["60000", "99999999", "18446744073709551616", "-5", "0", "", "x"];
        let bytes = if self.random.once_in(2) {
            (0..self.random.within(1, 3000)).map(|_| self.random.next() as u8).collect()
        } else {
            let length = *self.random.pick(&lengths);
            format!("8={begin}\x019={length}\x0135=0\x0134={}\x0110=000\x01", self.next_out).into_bytes()
        };
        self.emit(now, bytes, (0, 0));
        self.attacks.garbled = true;
        self.attacks.wrong.clear();
        if self.random.once_in(2) {
            self.fall_silent(now, 600 * SECOND);
            return "garbage, then silence".to_owned();
        }
        // It goes on as if nothing had been.
        self.deadline = now.mono + self.random.within(0, 20) * SECOND;
        "garbage".to_owned()
    }

    /// Sends something else instead of a Logon that resets nothing, if it is in the mood; returns
    /// whether it did. Then it says nothing more, and closes soon.
    pub(super) fn starts_falsely(&mut self, now: Moment, logon: &[u8]) -> bool {
        if !std::mem::take(&mut self.attacks.false_start) {
            return false;
        }
        self.attacks.in_connection = true;
        let seq = self.next_out;
        let pause = self.random.within(0, 5) * SECOND + 1;
        self.fall_silent(now, pause);
        let mut fields = self.header_fields("A", &seq.to_string(), now);
        for field in logon.split(|b| *b == 1).filter(|field| !field.is_empty()) {
            let equals = field.iter().position(|b| *b == b'=').unwrap_or(0);
            let tag = text::digits(&field[..equals]).unwrap_or(0) as u32;
            fields.push((tag, field[equals + 1..].to_vec()));
        }
        let draw = self.random.within(0, 10);
        self.attacks.no_logon = match draw {
            0 => Some("a Heartbeat"),
            1 => Some("an order"),
            2 | 3 => Some("another CompID"),
            4 => Some("MsgSeqNum 0"),
            6 => Some("a ResetSeqNumFlag that is neither Y nor N"),
            _ => None,
        };
        match draw {
            0 => fields[0].1 = b"0".to_vec(),
            1 => {
                let body = self.new_order();
                let bytes = text::compose(&self.header("D", seq, now.utc), &body);
                self.emit(now, bytes, (0, 0));
                return true;
            }
            2 => fields[1].1 = b"OTHER".to_vec(),
            3 => fields[2].1 = b"OTHER".to_vec(),
            4 => fields[3].1 = b"0".to_vec(),
            5 => {
                let old = now.utc - 86_400 * SECOND;
                fields[4].1.clear();
                text::write_time(&mut fields[4].1, old, self.dialect.whole_seconds());
            }
            6 => fields.push((141, b"X".to_vec())),
            _ => {
                let place = self.random.within(1, fields.len() as u64) as usize;
                let change =
                    *self.random.pick(&[Change::Missing, Change::Empty, Change::Doubled, Change::OtherType]);
                apply(&mut fields, place, change);
            }
        }
        let counts = fields[0].1 == b"A"
            && fields.iter().any(|(tag, value)| *tag == 34 && text::digits(value) == Some(seq));
        if counts {
            self.emit_numbered(now, &fields);
        } else {
            let bytes = self.sealed(&fields);
            self.emit(now, bytes, (0, 0));
        }
        true
    }
}

fn apply(fields: &mut Fields, place: usize, change: Change) {
    match change {
        Change::Missing => drop(fields.remove(place)),
        Change::Empty => fields[place].1.clear(),
        Change::Doubled => {
            let twin = fields[place].clone();
            fields.insert(place, twin);
        }
        Change::OtherType => fields[place].1 = b"x!".to_vec(),
    }
}
