//! Deliberately broken cores: a correct session behind a transport that makes it wrong in one way.
//!
//! They prove that the scripts catch the defects they are written for. Each defect changes bytes
//! between the script and the session under test, so that the session core itself needs no hook for
//! it.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use fixbolt_session::Utc;

use crate::runner::{Command, Received, Transport, TransportError};
use crate::script::find;
use crate::testing::sealed;

/// A defect of the core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defect {
    /// NextNumIn advances before the message is verified, so a garbled message uses a sequence
    /// number.
    NumberAdvancedEarly,
    /// The answer to a TestRequest has the sequence number of the previous message.
    NumberReused,
    /// Resent messages have no PossDupFlag (43).
    NoPossDupFlag,
    /// Resent messages have no OrigSendingTime (122).
    NoOrigSendingTime,
    /// NewSeqNo (36) of a gap fill is one too high.
    GapFillOffByOne,
    /// No Heartbeat is sent when the session is idle.
    NoHeartbeat,
    /// The Heartbeat that answers a TestRequest lacks its TestReqID (112).
    TestReqIdNotEchoed,
    /// A message whose sequence number is too low is processed as if it were expected.
    TooLowAccepted,
    /// Every message requested is sent twice.
    ResentTwice,
    /// A rejected message does not use its sequence number.
    RejectDoesNotAdvance,
    /// A Logout is not answered.
    LogoutNotAnswered,
    /// No ResendRequest is sent for a gap.
    GapNotAsked,
    /// CheckSum (10) is not verified.
    CheckSumNotVerified,
}

impl Defect {
    /// Every defect.
    pub const ALL: [Self; 13] = [
        Self::NumberAdvancedEarly,
        Self::NumberReused,
        Self::NoPossDupFlag,
        Self::NoOrigSendingTime,
        Self::GapFillOffByOne,
        Self::NoHeartbeat,
        Self::TestReqIdNotEchoed,
        Self::TooLowAccepted,
        Self::ResentTwice,
        Self::RejectDoesNotAdvance,
        Self::LogoutNotAnswered,
        Self::GapNotAsked,
        Self::CheckSumNotVerified,
    ];
}

/// A defect that the core once had, brought back for the simulated worlds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Relapse {
    /// A SequenceReset is acted on though its GapFillFlag (123) is not valid.
    SequenceResetNotVerified,
    /// A message with PossDupFlag=Y does not count for
    /// [`max_inbound_rate`](fixbolt_session::ThrottleSettings::max_inbound_rate).
    PossDupNotCounted,
}

impl Relapse {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::SequenceResetNotVerified, Self::PossDupNotCounted];

    /// Returns what the broken core takes these bytes for.
    pub(crate) fn arriving(self, bytes: Vec<u8>) -> Vec<u8> {
        if self != Self::SequenceResetNotVerified || crate::verify(&bytes).is_err() {
            return bytes;
        }
        let mut fields = Fields::of(&bytes);
        let values: Vec<_> =
            fields.0.iter().filter(|(tag, _)| tag == b"123").map(|(_, v)| v.as_slice()).collect();
        if fields.get(b"35") != Some(b"4") || matches!(values[..], [] | [b"Y" | b"N"]) {
            return bytes;
        }
        fields.remove(b"123");
        fields.finish()
    }

    /// Returns whether a message counts for a limit that is kept in front of the session.
    pub(crate) fn counts(bytes: &[u8]) -> bool {
        let fields = Fields::of(bytes);
        fields.get(b"43") != Some(b"Y") && matches!(fields.get(b"35"), Some(b"D" | b"8"))
    }
}

/// A transport to a session with a defect.
#[derive(Debug)]
pub struct BrokenCore<T> {
    inner: T,
    defect: Defect,
    connections: BTreeMap<u32, Pane>,
}

/// The state of one connection.
#[derive(Debug, Default)]
struct Pane {
    /// Messages that replace what the session sent, not yet received by the script.
    waiting: VecDeque<Vec<u8>>,
    /// The sequence number after the highest one sent to the session.
    next_in: u64,
    /// The amount added to sequence numbers sent to the session.
    shift_in: u64,
    /// The amount subtracted from sequence numbers sent by the session.
    shift_out: u64,
}

impl<T: Transport> BrokenCore<T> {
    /// Adds a defect to the session that `inner` connects to.
    pub const fn new(inner: T, defect: Defect) -> Self {
        Self { inner, defect, connections: BTreeMap::new() }
    }
}

impl<T: Transport> Transport for BrokenCore<T> {
    fn connect(&mut self, connection: u32) -> Result<(), TransportError> {
        self.connections.insert(connection, Pane { next_in: 1, ..Pane::default() });
        self.inner.connect(connection)
    }

    fn send(&mut self, connection: u32, bytes: &[u8]) -> Result<(), TransportError> {
        let pane = self.connections.entry(connection).or_default();
        let bytes = pane.arriving(self.defect, bytes);
        self.inner.send(connection, &bytes)
    }

    fn receive(&mut self, connection: u32, wait: Duration) -> Result<Received, TransportError> {
        loop {
            let pane = self.connections.entry(connection).or_default();
            if let Some(message) = pane.waiting.pop_front() {
                return Ok(Received::Message(message));
            }
            match self.inner.receive(connection, wait)? {
                Received::Message(message) => pane.leaving(self.defect, &message),
                other => return Ok(other),
            }
        }
    }

    fn close(&mut self, connection: u32) -> Result<(), TransportError> {
        self.inner.close(connection)
    }

    fn utc(&self) -> Utc {
        self.inner.utc()
    }

    fn command(&mut self, command: &Command) -> Result<(), TransportError> {
        self.inner.command(command)
    }
}

impl Pane {
    fn arriving(&mut self, defect: Defect, bytes: &[u8]) -> Vec<u8> {
        let mut fields = Fields::of(bytes);
        let number = fields.number(b"34").unwrap_or(0);
        let sound = crate::verify(bytes).is_ok();
        if !sound {
            return match defect {
                Defect::NumberAdvancedEarly if number > 0 => {
                    fields.set(b"35", b"0");
                    fields.keep(&[b"8", b"35", b"34", b"49", b"52", b"56"]);
                    fields.finish()
                }
                Defect::CheckSumNotVerified if fields.get(b"10").is_some() => fields.finish(),
                _ => bytes.to_vec(),
            };
        }
        let repeated = fields.get(b"43") == Some(b"Y");
        let sequenced = !repeated && fields.get(b"35") != Some(b"4") && number > 0;
        if sequenced && fields.get(b"35") == Some(b"A") {
            (self.next_in, self.shift_in) = (number, 0);
        }
        if sequenced && defect == Defect::TooLowAccepted && number < self.next_in {
            fields.set(b"34", self.next_in.to_string().as_bytes());
            self.next_in += 1;
            return fields.finish();
        }
        if fields.get(b"35") == Some(b"4") {
            self.next_in = fields.number(b"36").unwrap_or(0).max(self.next_in);
        }
        self.next_in = self.next_in.max(number + 1);
        if sequenced && self.shift_in > 0 {
            fields.set(b"34", (number + self.shift_in).to_string().as_bytes());
            return fields.finish();
        }
        bytes.to_vec()
    }

    fn leaving(&mut self, defect: Defect, message: &[u8]) {
        let mut fields = Fields::of(message);
        let msg_type = fields.get(b"35").unwrap_or_default().to_vec();
        let repeated = fields.get(b"43") == Some(b"Y");
        let mut times = 1;
        match (defect, msg_type.as_slice()) {
            (Defect::NumberReused, b"0") if fields.get(b"112").is_some() => self.shift_out += 1,
            (Defect::NoPossDupFlag, _) if repeated => fields.remove(b"43"),
            (Defect::NoOrigSendingTime, _) if repeated => fields.remove(b"122"),
            (Defect::GapFillOffByOne, b"4") => {
                let new = fields.number(b"36").unwrap_or(0) + 1;
                fields.set(b"36", new.to_string().as_bytes());
            }
            (Defect::NoHeartbeat, b"0") if fields.get(b"112").is_none() => times = 0,
            (Defect::TestReqIdNotEchoed, b"0") => fields.remove(b"112"),
            (Defect::ResentTwice, _) if repeated => times = 2,
            (Defect::RejectDoesNotAdvance, b"3") => self.shift_in += 1,
            (Defect::LogoutNotAnswered, b"5") | (Defect::GapNotAsked, b"2") => times = 0,
            _ => {}
        }
        if times == 0 {
            // A message that was not sent used no sequence number either.
            self.shift_out += 1;
        }
        if self.shift_out > 0 && !repeated {
            let number = fields.number(b"34").unwrap_or(0).saturating_sub(self.shift_out);
            fields.set(b"34", number.to_string().as_bytes());
        }
        for _ in 0..times {
            self.waiting.push_back(fields.finish());
        }
    }
}

/// The fields of a message, for changing some of them.
struct Fields(Vec<(Vec<u8>, Vec<u8>)>);

impl Fields {
    fn of(message: &[u8]) -> Self {
        let fields = message.split(|b| *b == 1).filter(|field| !field.is_empty()).map(|field| {
            let at = find(field, b"=").unwrap_or(field.len());
            (field[..at].to_vec(), field.get(at + 1..).unwrap_or_default().to_vec())
        });
        Self(fields.collect())
    }

    fn get(&self, tag: &[u8]) -> Option<&[u8]> {
        self.0.iter().find(|(t, _)| t == tag).map(|(_, value)| value.as_slice())
    }

    fn number(&self, tag: &[u8]) -> Option<u64> {
        std::str::from_utf8(self.get(tag)?).ok()?.parse().ok()
    }

    fn set(&mut self, tag: &[u8], value: &[u8]) {
        if let Some((_, old)) = self.0.iter_mut().find(|(t, _)| t == tag) {
            *old = value.to_vec();
        }
    }

    fn remove(&mut self, tag: &[u8]) {
        self.0.retain(|(t, _)| t != tag);
    }

    fn keep(&mut self, tags: &[&[u8]]) {
        self.0.retain(|(t, _)| tags.contains(&t.as_slice()));
    }

    /// Returns the message with the right BodyLength and CheckSum.
    fn finish(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for (tag, value) in self.0.iter().filter(|(t, _)| !matches!(t.as_slice(), b"8" | b"9" | b"10")) {
            body.extend_from_slice(&[tag, b"=".as_slice(), value, b"\x01"].concat());
        }
        let begin = self.get(b"8").unwrap_or_default();
        sealed(begin, &body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Script};
    use std::path::Path;

    fn message(text: &str) -> Vec<u8> {
        let script = Script::parse(Path::new("m"), format!("I8=FIX.4.4|{text}").as_bytes()).unwrap();
        let Action::Send(line) = &script.steps[0].action else { panic!() };
        line.to_send(Utc(0), None)
    }

    fn seen(defect: Defect, sent: &[&str]) -> Vec<Vec<u8>> {
        let mut pane = Pane::default();
        for text in sent {
            pane.leaving(defect, &message(text));
        }
        pane.waiting.into()
    }

    #[test]
    fn a_message_that_the_defect_does_not_touch_passes_unchanged() {
        let logon = "35=A|34=1|49=V|56=T|52=20261121-20:00:00|98=0|108=30|";
        for defect in Defect::ALL {
            assert_eq!(seen(defect, &[logon]), [message(logon)], "{defect:?}");
            let mut pane = Pane { next_in: 1, ..Pane::default() };
            assert_eq!(pane.arriving(defect, &message(logon)), message(logon), "{defect:?}");
            assert_eq!(pane.arriving(defect, b"hello"), b"hello", "{defect:?}");
        }
    }

    #[test]
    fn defects_of_what_is_sent_change_it_in_one_way() {
        let fill = "35=4|34=2|43=Y|122=20261121-20:00:00|36=7|123=Y|";
        assert_eq!(seen(Defect::GapFillOffByOne, &[fill]), [message(&fill.replace("36=7", "36=8"))]);
        assert_eq!(seen(Defect::NoPossDupFlag, &[fill]), [message(&fill.replace("43=Y|", ""))]);
        assert_eq!(seen(Defect::ResentTwice, &[fill]), [message(fill), message(fill)]);
        let beats = ["35=0|34=2|", "35=0|34=3|112=x|"];
        assert_eq!(seen(Defect::NoHeartbeat, &beats), [message("35=0|34=2|112=x|")]);
        assert_eq!(seen(Defect::NumberReused, &beats), [message("35=0|34=2|"), message("35=0|34=2|112=x|")]);
    }

    #[test]
    fn defects_of_what_is_received_change_what_the_session_sees() {
        let mut pane = Pane { next_in: 5, ..Pane::default() };
        let low = pane.arriving(Defect::TooLowAccepted, &message("35=0|34=2|"));
        assert_eq!(low, message("35=0|34=5|"));
        let mut pane = Pane::default();
        pane.leaving(Defect::RejectDoesNotAdvance, &message("35=3|34=2|45=2|"));
        let next = pane.arriving(Defect::RejectDoesNotAdvance, &message("35=0|34=3|"));
        assert_eq!(next, message("35=0|34=4|"));
        let garbled = message("35=1|34=2|112=x|10=000|");
        let summed = pane.arriving(Defect::CheckSumNotVerified, &garbled);
        assert_eq!(summed, message("35=1|34=2|112=x|"));
    }
}
