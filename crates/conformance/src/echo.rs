//! The application that the conformance scripts are written for.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, Tag};
use fixbolt_session::store::SessionKey;
use fixbolt_session::{Application, Delivery, Event, Failure, LogonDecision, Turn};

/// Sends D, d and C back with the same body and PossResend (97), ignores a D with PossResend=Y
/// whose ClOrdID is one of the last 1,000 of its session, and supports no other message. A Logon
/// with Password (554) `stranger` is refused without a Logout, and one with `expired` with the Text
/// "password expired".
#[derive(Debug, Default)]
pub struct Echo {
    seen: Seen,
}

/// The newest ClOrdIDs of each session, in memory that no counterparty can make grow: 8 KB a
/// session, however many there are and however long.
#[derive(Debug, Default)]
struct Seen {
    /// Keyed at random, so that nobody can choose ids that are taken for each other.
    hasher: RandomState,
    /// By the place of the session.
    newest: Vec<Option<(SessionKey, VecDeque<u64>)>>,
}

const POSS_RESEND: Key = Key::of(Tag::new(97));

/// The number of ClOrdIDs that are remembered of each session.
const REMEMBERED: usize = 1000;

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
        let poss_resend = message.get(Tag::new(97));
        if let Some(id) = cl_ord_id
            && poss_resend == Some(b"Y")
            && self.seen.has(turn.key(), id)
        {
            return Ok(Delivery::Done);
        }
        let session = turn.key();
        let header = poss_resend.filter(|value| !value.is_empty()).map(|value| [(POSS_RESEND, value)]);
        let header = header.as_ref().map_or(&[][..], |header| header);
        let mut draft = turn.session().with_header(header).draft(MsgType::new(msg_type));
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
        let id = self.hasher.hash_one(id);
        let place = session.index();
        if self.newest.len() <= place {
            self.newest.resize_with(place + 1, || None);
        }
        match &mut self.newest[place] {
            Some((key, newest)) if *key == session => {
                if newest.len() == REMEMBERED {
                    newest.pop_front();
                }
                newest.push_back(id);
            }
            // Another session had the place.
            other => *other = Some((session, VecDeque::from([id]))),
        }
    }

    fn has(&self, session: SessionKey, id: &[u8]) -> bool {
        let newest = self.newest.get(session.index()).and_then(Option::as_ref);
        newest.is_some_and(|(key, newest)| *key == session && newest.contains(&self.hasher.hash_one(id)))
    }

    fn forget(&mut self, session: SessionKey) {
        if let Some(newest) = self.newest.get_mut(session.index()) {
            *newest = None;
        }
    }
}

/// Returns whether a tag is outside the body. The session itself reverses the routing fields.
fn is_header_or_trailer(tag: Tag) -> bool {
    let tag = tag.number();
    matches!(tag, 8..=10 | 34 | 35 | 43 | 49 | 50 | 52 | 56 | 57 | 89..=91 | 93 | 97 | 115 | 116 | 122 | 128 | 129)
        || matches!(tag, 142..=145 | 212 | 213 | 347 | 369 | 370 | 627..=630 | 1128 | 1129 | 1156)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_session::runtime::session_key;

    const KEY: SessionKey = session_key(0, 1, 1);

    #[test]
    fn the_newest_ids_of_each_session_are_remembered_in_bounded_memory() {
        let mut seen = Seen::default();
        for n in 0..3 * REMEMBERED {
            seen.add(KEY, &[&[b'x'; 60_000][..], n.to_string().as_bytes()].concat());
        }
        seen.add(session_key(0, 0, 0), b"a");
        let id = |n: usize| [&[b'x'; 60_000][..], n.to_string().as_bytes()].concat();
        assert!(seen.has(KEY, &id(3 * REMEMBERED - 1)) && seen.has(KEY, &id(2 * REMEMBERED)));
        assert!(!seen.has(KEY, &id(2 * REMEMBERED - 1)) && !seen.has(KEY, b"a"));
        let room = |place: usize| seen.newest[place].as_ref().unwrap().1.capacity();
        assert!(room(1) <= 2 * REMEMBERED, "{}", room(1));
    }

    #[test]
    fn a_session_begins_with_nothing_after_a_reset_or_in_the_place_of_another_one() {
        let mut seen = Seen::default();
        seen.add(KEY, b"a");
        seen.forget(KEY);
        assert!(!seen.has(KEY, b"a"));
        seen.add(KEY, b"a");
        let next = session_key(0, 1, 2);
        assert!(!seen.has(next, b"a"));
        seen.add(next, b"b");
        assert!(seen.has(next, b"b") && !seen.has(KEY, b"a"));
    }
}
