//! The messages of the exchange, exactly as sent and received, for the command's thread to show.
//! Of whatever else the counterparty sends meanwhile, little is kept: to show why nothing answers.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fixbolt_codec::{Frame, Framer, Index, Span, Tag, Version};
use fixbolt_session::{Direction, WireMessage, WireObserver};

use super::answers::{Answers, Part};

/// A message of the exchange.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) part: Part,
    /// The application version, over FIXT.1.1.
    pub(super) version: Option<Version>,
    /// The whole message, secrets masked.
    pub(super) bytes: Vec<u8>,
}

/// Passes the messages of the exchange to the command's thread. The engine's thread never waits for
/// it for longer than it takes to add or take a message.
#[derive(Debug)]
pub(super) struct Tap {
    watched: Mutex<Watched>,
    changed: Condvar,
}

#[derive(Debug)]
struct Watched {
    answers: Answers,
    /// The application versions of messages that do not name theirs: ours, and those of the
    /// counterparty, which its Logon sets.
    ours: Option<Version>,
    theirs: Option<Version>,
    /// Whether our Logon was sent: there is a connection.
    is_connected: bool,
    /// Whether the last answer was seen.
    is_over: bool,
    seen: VecDeque<Seen>,
    /// The number of messages that nobody had taken when more came than are kept.
    left_out: u64,
    /// The first messages that are no answers, and the number of those that are not kept.
    others: Vec<Seen>,
    more_others: u64,
    tags: Vec<u32>,
    spans: Vec<Span>,
}

/// The most answers that are kept for the command's thread. The last one is kept in any case.
const MOST_KEPT: usize = 256;

/// The most messages that are kept and are no answers.
const MOST_OTHERS: usize = 10;

impl Tap {
    /// Creates a tap for messages of up to `max_message_size` bytes, over FIXT.1.1 with the
    /// session's default application version.
    pub(super) fn new(answers: Answers, max_message_size: usize, default: Option<Version>) -> Self {
        // No field is shorter than `1=a` and SOH.
        let fields = max_message_size / 4;
        let (tags, spans) = (vec![0; fields], vec![Span::default(); fields]);
        let (ours, theirs) = (default, default);
        let (seen, others) = (VecDeque::new(), Vec::new());
        let watched = Watched {
            answers,
            ours,
            theirs,
            is_connected: false,
            is_over: false,
            seen,
            left_out: 0,
            others,
            more_others: 0,
            tags,
            spans,
        };
        Self { watched: Mutex::new(watched), changed: Condvar::new() }
    }

    /// Returns the next message of the exchange; `None` if there is none within this time.
    pub(super) fn next(&self, patience: Duration) -> Option<Seen> {
        let watched = self.lock();
        let waited = self.changed.wait_timeout_while(watched, patience, |watched| watched.seen.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.seen.pop_front()
    }

    /// Returns the number of answers that were not kept.
    pub(super) fn left_out(&self) -> u64 {
        self.lock().left_out
    }

    /// Returns the first messages that came and are no answers, and the number of further ones.
    pub(super) fn others(&self) -> (Vec<Seen>, u64) {
        let watched = self.lock();
        (watched.others.clone(), watched.more_others)
    }

    /// Returns whether our Logon was sent: there is a connection, or was one.
    pub(super) fn is_connected(&self) -> bool {
        self.lock().is_connected
    }

    /// Returns how an answer names the message, in words.
    pub(super) fn naming(&self) -> String {
        self.lock().answers.naming()
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        // What a thread that panicked has left is whole: only single steps are taken.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WireObserver for Tap {
    fn on_wire(&self, message: &WireMessage<'_>) {
        if message.garbled {
            return;
        }
        if self.lock().take(message.direction == Direction::Outbound, message.bytes) {
            self.changed.notify_one();
        }
    }
}

impl Watched {
    /// Keeps a message if it belongs to the exchange, or is one of the first that do not. Returns
    /// whether there is one more to show.
    fn take(&mut self, sent: bool, bytes: &[u8]) -> bool {
        if self.is_over {
            return false;
        }
        let mut index = Index::new(&mut self.tags, &mut self.spans);
        let Frame::Message(framed) = Framer::new(bytes.len()).next(bytes) else { return false };
        let Ok(message) = index.build(framed) else { return false };
        self.is_connected |= sent;
        if !sent && message.msg_type() == b"A" {
            let named = message.get(const { Tag::new(1137) }).and_then(Version::from_appl_ver_id);
            self.theirs = named.or(self.theirs);
        }
        let Some(part) = self.answers.take(sent, &message) else { return false };
        self.is_over = matches!(part, Part::Last { .. });
        if part == Part::Other && self.others.len() >= MOST_OTHERS {
            self.more_others += 1;
            return false;
        }
        if !self.is_over && self.seen.len() >= MOST_KEPT {
            self.left_out += 1;
            return false;
        }
        let default = if sent { self.ours } else { self.theirs };
        let version = match message.get(const { Tag::new(1128) }) {
            Some(named) => Version::from_appl_ver_id(named),
            None => default,
        };
        let seen = Seen { part, version, bytes: bytes.to_vec() };
        if part == Part::Other {
            self.others.push(seen);
            return false;
        }
        self.seen.push_back(seen);
        true
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::MsgType;
    use fixbolt_conformance::testing::message;

    use super::super::answers::Wait;
    use super::*;

    #[test]
    fn more_answers_than_are_kept_cost_no_memory_and_the_last_one_is_kept() {
        let fields = [(Tag::new(11), b"a".to_vec())];
        let answers = Answers::new(Wait::Filled, MsgType::new(b"D"), &fields).unwrap();
        let tap = Tap::new(answers, 1024, None);
        let observe = |sent, fields: &str| tap.lock().take(sent, &message("FIX.4.4", fields));
        assert!(observe(true, "35=D|34=2|11=a"));
        for n in 0..1000 {
            observe(false, &format!("35=8|34={}|11=b|39=0", 2 * n + 1));
            observe(false, &format!("35=8|34={}|11=a|39=0", 2 * n + 2));
        }
        assert_eq!((tap.others().0.len(), tap.others().1), (MOST_OTHERS, 1000 - MOST_OTHERS as u64));
        assert!(observe(false, "35=8|34=2001|11=a|39=2"));
        assert!(!observe(false, "35=8|34=2002|11=a|39=2"));
        let parts: Vec<Part> =
            std::iter::from_fn(|| tap.next(Duration::ZERO)).map(|seen| seen.part).collect();
        assert_eq!(parts.len() as u64 + tap.left_out(), 1002);
        assert_eq!(parts.len(), MOST_KEPT + 1);
        assert_eq!((parts[0], parts[1]), (Part::Sent, Part::Progress));
        assert_eq!(parts[MOST_KEPT], Part::Last { good: true });
    }
}
