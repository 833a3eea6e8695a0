//! The application that the conformance scripts are written for.

use std::collections::{BTreeSet, VecDeque};

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, Tag};
use fixbolt_session::store::SessionKey;
use fixbolt_session::{Application, Delivery, Event, Failure, LogonDecision, Turn};

/// Sends D, d and C back with the same body, ignores a D with PossResend=Y whose ClOrdID it has
/// seen in this session, and supports no other message. A Logon with Password (554) `stranger` is
/// refused without a Logout, and one with `expired` with the Text "password expired".
#[derive(Debug, Default)]
pub struct Echo {
    seen: Seen,
}

/// The newest ClOrdIDs of each session.
#[derive(Debug, Default)]
struct Seen {
    ids: BTreeSet<(SessionKey, Vec<u8>)>,
    order: VecDeque<(SessionKey, Vec<u8>)>,
}

/// The most ClOrdIDs that are remembered, so that a counterparty cannot fill the memory with them.
const REMEMBERED: usize = 100_000;

impl Echo {
    /// Creates an application that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Application for Echo {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let msg_type = message.msg_type();
        if !matches!(msg_type, b"D" | b"d" | b"C") {
            return Ok(Delivery::UNSUPPORTED);
        }
        let cl_ord_id = message.get(Tag::new(11)).filter(|_| msg_type == b"D");
        let poss_resend = message.get(Tag::new(97)) == Some(b"Y");
        if let Some(id) = cl_ord_id
            && poss_resend
            && self.seen.ids.contains(&(turn.key(), id.to_vec()))
        {
            return Ok(Delivery::Done);
        }
        let session = turn.key();
        let mut draft = turn.reply().draft(MsgType::new(msg_type));
        for field in message.fields() {
            if let Some(tag) = field.tag.filter(|tag| !is_header_or_trailer(*tag)) {
                draft.writer().raw().field(Key::of(tag), field.value);
            }
        }
        draft.send()?;
        if let Some(id) = cl_ord_id {
            self.seen.add(session, id);
        }
        Ok(Delivery::Done)
    }

    fn on_logon(&mut self, logon: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        Ok(match logon.get(Tag::new(554)) {
            Some(b"stranger") => LogonDecision::RefuseSilently,
            Some(b"expired") => LogonDecision::refuse("password expired"),
            _ => LogonDecision::Accept,
        })
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let session = turn.key();
        // After a reset of the sequence numbers (the Logons have used the first ones) the session
        // counts as another one, which has seen nothing.
        if let Event::SequenceChanged { next_in, next_out, .. } = event
            && next_in.0 <= 2
            && next_out.0 <= 2
        {
            self.seen.forget(session);
        }
        Ok(())
    }
}

impl Seen {
    fn add(&mut self, session: SessionKey, id: &[u8]) {
        if self.ids.insert((session, id.to_vec())) {
            self.order.push_back((session, id.to_vec()));
            if self.order.len() > REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.ids.remove(&oldest);
            }
        }
    }

    fn forget(&mut self, session: SessionKey) {
        self.ids.retain(|(s, _)| *s != session);
        self.order.retain(|(s, _)| *s != session);
    }
}

/// Returns whether a tag is outside the body. The session itself reverses the routing fields.
fn is_header_or_trailer(tag: Tag) -> bool {
    let tag = tag.number();
    matches!(tag, 8..=10 | 34 | 35 | 43 | 49 | 50 | 52 | 56 | 57 | 89..=91 | 93 | 97 | 115 | 116 | 122 | 128 | 129)
        || matches!(tag, 142..=145 | 212 | 213 | 347 | 369 | 370 | 627..=630 | 1128 | 1129 | 1156)
}
