//! The application of a replayed session: it does what the recorded one did.

use std::collections::BTreeMap;
use std::mem;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{
    Body, BodySink, BodyWriter, Key, Message, MsgType, NewBody, SeqNum, Tag, Version, byte_sum,
};
use fixbolt_session::store::{Record, RecordFlags, RecordKind};
use fixbolt_session::{
    Accepted, Application, BusinessReject, BusinessRejectCode, Delivery, Event, Failure, LogonDecision,
    ResendAnswer, ResendRange, SendError, SessionReject, SessionRejectCode,
};

use super::turn::Turn;
use super::wire::{self, msg_type, number, text, value, with_message, written_by_application};

/// What the application did with the message that is replayed.
#[derive(Default)]
pub(super) struct Part {
    /// MsgSeqNum of the message.
    seq: Option<SeqNum>,
    /// What it sent because of it.
    messages: Vec<Vec<u8>>,
    /// What it returned.
    delivery: Option<Delivery>,
    /// Our Logon as it was sent.
    our_logon: Option<Vec<u8>>,
    /// The Text with which it refused the Logon.
    refusal: Option<String>,
    /// The Text with which it, or a limit, refused the ResendRequest.
    refused_request: Option<String>,
    /// What it sent once the session was logged on.
    once_logged_on: Vec<Vec<u8>>,
}

impl Part {
    /// Returns the application's part of a turn.
    pub(super) fn of(turn: &Turn<'_>) -> Self {
        let mut part = Self {
            our_logon: turn.our_logon().map(|record| record.body.to_vec()),
            refusal: refusal(turn),
            refused_request: refused_request(turn),
            ..Self::default()
        };
        let Some(inbound) = turn.inbound() else { return part };
        part.seq = Some(inbound.seq);
        if !inbound.flags.contains(RecordFlags::DELIVERED) {
            return part;
        }
        for record in turn.outbound() {
            match msg_type(record.body) {
                b"3" => part.delivery = Some(reject(record.body)),
                b"j" if is_by_session(record.body) => part.delivery = Some(business_reject(record.body)),
                _ if wire::is_session_layer(record.body) => {}
                _ => part.messages.push(record.body.to_vec()),
            }
        }
        part
    }

    /// Adds what the application sent in the next turn, once the session was logged on.
    pub(super) fn then(&mut self, next: &Turn<'_>) {
        self.once_logged_on = next.by_application().map(|record| record.body.to_vec()).collect();
    }
}

/// The application.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) part: Part,
    /// What it did with messages that wait for others.
    pub(super) waiting: BTreeMap<SeqNum, Part>,
    /// Why something that it sent was refused.
    pub(super) refused: Vec<String>,
}

impl Application for Recorded {
    fn on_message(
        &mut self,
        _: Message<'_>,
        turn: &mut fixbolt_session::Turn<'_>,
    ) -> Result<Delivery, Failure> {
        let Some(seq) = turn.seq() else { return Ok(Delivery::Done) };
        let waited = self.waiting.remove(&seq);
        let Some(mut part) =
            waited.or_else(|| self.part.seq.eq(&Some(seq)).then(|| mem::take(&mut self.part)))
        else {
            return Ok(Delivery::Done);
        };
        for message in part.messages {
            if let Err(error) = write(turn, &message) {
                self.refused.push(error.to_string());
            }
        }
        Ok(part.delivery.take().unwrap_or(Delivery::Done))
    }

    fn on_logon(
        &mut self,
        _: Message<'_>,
        _: &mut fixbolt_session::Turn<'_>,
    ) -> Result<LogonDecision, Failure> {
        Ok(match &self.part.refusal {
            Some(text) => LogonDecision::refuse(text),
            None => LogonDecision::Accept,
        })
    }

    fn on_resend_request(
        &mut self,
        _: ResendRange,
        _: &mut fixbolt_session::Turn<'_>,
    ) -> Result<ResendAnswer, Failure> {
        Ok(self.part.refused_request.as_ref().map_or(ResendAnswer::AsUsual, ResendAnswer::refuse))
    }

    /// Adds the fields that the settings do not have, such as a password or those of the recorded
    /// application.
    fn on_sending_logon(
        &mut self,
        logon: &mut BodyWriter<'_>,
        turn: &mut fixbolt_session::Turn<'_>,
    ) -> Result<(), Failure> {
        let Some(recorded) = &self.part.our_logon else { return Ok(()) };
        let session = turn.session_id().clone();
        let own = written_by_application(recorded, &session).len();
        with_message(recorded, |message| {
            // The fields after the session's header, without CheckSum.
            let mut length = recorded.len() - own - b"10=000\x01".len();
            for position in 0..message.len().saturating_sub(1) {
                let field = message.field(position);
                let Some(tag) = field.tag else { continue };
                let size = tag.number().to_string().len() + 1 + field.value.len() + 1;
                if length > 0 {
                    length = length.saturating_sub(size);
                    continue;
                }
                if value(logon.written(), tag.number()).is_none() {
                    logon.raw().field(Key::of(Tag::new(tag.number())), field.value);
                }
            }
        });
        Ok(())
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut fixbolt_session::Turn<'_>) -> Result<(), Failure> {
        if matches!(event, Event::LoggedOn) {
            for message in mem::take(&mut self.part.once_logged_on) {
                if let Err(error) = write(turn, &message) {
                    self.refused.push(error.to_string());
                }
            }
        }
        Ok(())
    }
}

/// Sends what the application wrote of a recorded message; the session adds its own part.
pub(super) fn write(turn: &mut fixbolt_session::Turn<'_>, message: &[u8]) -> Result<Accepted, SendError> {
    let session = turn.session_id().clone();
    let mut body = written_by_application(message, &session);
    let key = turn.key();
    let mut handle = turn.to(key).ok_or(SendError::Unavailable)?;
    if session.version() == Version::Fixt11
        && let Some(rest) = body.strip_prefix(b"1128=")
        && let Some(end) = rest.iter().position(|byte| *byte == 1)
        && let Some(version) = Version::from_appl_ver_id(&rest[..end])
    {
        handle = handle.with_version(version);
        body = &rest[end + 1..];
    }
    let own = message.len() - body.len();
    let header = &message[..own.min(message.len())];
    if value(header, 43) == Some(b"Y")
        && let Some(original) = wire::time(header, 122)
    {
        handle = handle.possible_duplicate(original);
    }
    let kind = MsgType::new(msg_type(message));
    let mut draft = handle.draft(kind);
    let body = Body { msg_type: kind, bytes: body, sum: byte_sum(body) };
    draft.writer().raw().body(&body);
    draft.send()
}

/// Returns the Text with which the application refused a Logon. The session refuses others, with
/// Texts of its own.
fn refusal(turn: &Turn<'_>) -> Option<String> {
    const BY_SESSION: [&str; 13] = [
        "MsgSeqNum too low",
        "Received message without MsgSeqNum",
        "Logon attempt not within session time",
        "SendingTime accuracy problem",
        "Invalid Logon message",
        "EncryptMethod",
        "HeartBtInt",
        "DefaultApplVerID",
        "MaxMessageSize",
        "TestMessageIndicator",
        "ResetSeqNumFlag",
        "NextExpectedMsgSeqNum",
        "Tag 789",
    ];
    let logon = turn.inbound().filter(|record| msg_type(record.body) == b"A")?;
    let mut messages = turn.of(RecordKind::Outbound);
    let (first, none) = (messages.next()?, messages.next().is_none());
    let is_refused = none && msg_type(first.body) == b"5" && first.cause == Some(logon.seq);
    let text = text(first.body, 58);
    (is_refused && !BY_SESSION.iter().any(|own| text.starts_with(own))).then_some(text)
}

/// Returns the Text with which a ResendRequest was refused. The session refuses others, which ask
/// for nothing or are not valid, before the application is asked.
fn refused_request(turn: &Turn<'_>) -> Option<String> {
    let request = turn.inbound().filter(|record| msg_type(record.body) == b"2")?;
    let rejects = |record: &&Record<'_>| {
        msg_type(record.body) == b"3" && number(record.body, 45) == Some(request.seq.0)
    };
    let text = text(turn.outbound().find(rejects)?.body, 58);
    // Without RefTagID, the session adds it.
    let own = [" (7)", ", field=7"].iter().find_map(|suffix| text.strip_suffix(suffix));
    Some(own.map_or(text.clone(), ToOwned::to_owned))
}

/// Returns the Reject (35=3) that the application asked for.
fn reject(message: &[u8]) -> Delivery {
    let reason = number(message, 373).and_then(|reason| u16::try_from(reason).ok());
    let reason = reason.map_or(SessionRejectCode::OTHER, SessionRejectCode::from_value);
    let mut reject = SessionReject::new(reason).text(text(message, 58));
    if let Some(tag) = number(message, 371).and_then(|tag| u32::try_from(tag).ok()).filter(|tag| *tag > 0) {
        reject = reject.tag(tag);
    }
    Delivery::Reject(reject)
}

/// Returns whether a BusinessMessageReject has the form of the session's: an application may write
/// others.
fn is_by_session(message: &[u8]) -> bool {
    const FIELDS: [(&[u8], bool); 7] = [
        (b"45", true),
        (b"372", true),
        (b"1130", false),
        (b"379", false),
        (b"380", true),
        (b"58", false),
        (b"1137", false),
    ];
    const ROUTE: [&[u8]; 6] = [b"115", b"116", b"144", b"128", b"129", b"145"];
    let tags = message.split(|byte| *byte == 1).filter_map(|field| field.split(|byte| *byte == b'=').next());
    let mut tags = tags
        .skip_while(|tag| *tag != b"45" && !ROUTE.contains(tag))
        .skip_while(|tag| ROUTE.contains(tag))
        .peekable();
    for (tag, is_required) in FIELDS {
        if tags.peek() == Some(&tag) {
            tags.next();
        } else if is_required {
            return false;
        }
    }
    tags.next() == Some(b"10".as_slice())
}

/// Returns the BusinessMessageReject (35=j) that the application asked for.
fn business_reject(message: &[u8]) -> Delivery {
    let reason = number(message, 380).and_then(|reason| u16::try_from(reason).ok()).unwrap_or_default();
    let reject = BusinessReject::new(BusinessRejectCode::from_value(reason));
    Delivery::BusinessReject(reject.text(text(message, 58)).ref_id(text(message, 379)))
}
