//! Messages of the application that wait for a throttle: they are stored and have no sequence
//! number yet.
//!
//! Which of them wait is part of the state, so that a rollback restores it; the bodies are here. A
//! rollback drops those that began to wait in its transaction, and one that has left is here until
//! the application has heard of it.

use core::ops::RangeInclusive;
use std::collections::VecDeque;

use fixbolt_codec::{MsgType, Precision, SeqNum, UtcTimestamp, byte_sum};

use crate::events::error::SendError;
use crate::events::event::Ticket;
use crate::store::{Record, RecordFlags, WaitingMessages};
use crate::values::fix::SOH;
use crate::values::time::Utc;
use crate::wire::header::unix_nanos;

/// A message that waits, or has just left.
pub(crate) struct WaitingBody {
    pub(crate) ticket: Ticket,
    pub(crate) msg_type: MsgType,
    /// Application header fields, then body fields.
    pub(crate) bytes: Box<[u8]>,
    pub(crate) sum: u8,
    /// MsgSeqNum of the counterparty's message that caused it.
    pub(crate) cause: Option<SeqNum>,
    /// OrigSendingTime of a possible duplicate.
    pub(crate) original: Option<Utc>,
    /// Whether the store no longer has it, or has it without its secrets: it cannot be sent.
    pub(crate) is_lost: bool,
    /// What has become of it, once it has left; means nothing before.
    pub(crate) outcome: Result<SeqNum, SendError>,
}

impl WaitingBody {
    /// Returns the body of its record: MsgType, 43 and 122 of a possible duplicate, and what the
    /// application wrote, as it is or with its secrets masked.
    pub(crate) fn stored(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stored = Vec::with_capacity(bytes.len() + 48);
        let kind = self.msg_type.as_bytes();
        stored.extend([b"35=", kind, b"\x01"].concat());
        if let Some(original) = self.original {
            let original = UtcTimestamp::from_unix_nanos(original.0, Precision::Nanos);
            stored.extend(format!("43=Y\x01122={original}\x01").bytes());
        }
        stored.extend(bytes);
        stored
    }

    /// Reads a message that waits from its record, under its number; as one that is lost if there
    /// is none, or if its secrets are masked.
    pub(crate) fn of(number: u64, record: Option<&Record<'_>>) -> Self {
        let lost = Self {
            ticket: Ticket::Waiting(number),
            msg_type: MsgType::new(b"0"),
            bytes: Box::default(),
            sum: 0,
            cause: None,
            original: None,
            is_lost: true,
            outcome: Err(SendError::Unavailable),
        };
        let read = |record: &Record<'_>| {
            let (msg_type, mut bytes) = field(record.body, b"35=")?;
            let mut original = None;
            if let Some((b"Y", rest)) = field(bytes, b"43=")
                && let Some((time, rest)) = field(rest, b"122=")
            {
                original = Some(Utc(unix_nanos(time)?));
                bytes = rest;
            }
            let is_type = (1..=15).contains(&msg_type.len());
            (is_type && !record.flags.contains(RecordFlags::MASKED)).then(|| Self {
                msg_type: MsgType::new(msg_type),
                bytes: bytes.into(),
                sum: byte_sum(bytes),
                cause: record.cause,
                original,
                is_lost: false,
                ticket: Ticket::Waiting(number),
                outcome: Err(SendError::Unavailable),
            })
        };
        record.and_then(read).unwrap_or(lost)
    }
}

/// Reads the first field, if it has this tag: its value, and what follows.
fn field<'b>(bytes: &'b [u8], tag: &[u8]) -> Option<(&'b [u8], &'b [u8])> {
    let rest = bytes.strip_prefix(tag)?;
    let end = rest.iter().position(|byte| *byte == SOH)?;
    Some((&rest[..end], &rest[end + 1..]))
}

/// What a body costs besides its bytes.
const AROUND: usize = size_of::<WaitingBody>();

/// The messages of a session that wait.
#[derive(Default)]
pub(crate) struct WaitingQueue {
    bodies: VecDeque<WaitingBody>,
    /// The number of the first of them.
    first: u64,
    /// What all of them cost.
    bytes: usize,
    /// What they may cost at most, in bytes.
    pub(crate) limit: usize,
}

impl WaitingQueue {
    /// Returns the oldest message that waits.
    #[inline]
    pub(crate) fn head(&self, waiting: WaitingMessages) -> Option<&WaitingBody> {
        if waiting.count == 0 {
            return None;
        }
        self.bodies.get(waiting.first().checked_sub(self.first)? as usize)
    }

    /// Records what becomes of the messages with these numbers once the open transaction is
    /// committed.
    pub(crate) fn set_outcome(&mut self, numbers: RangeInclusive<u64>, outcome: &Result<SeqNum, SendError>) {
        let place = |number: u64| (number.saturating_sub(self.first) as usize).min(self.bodies.len());
        let places = place(*numbers.start())..place(numbers.end() + 1);
        for body in self.bodies.range_mut(places) {
            body.outcome.clone_from(outcome);
        }
    }

    /// Returns whether a body of this length may wait besides those that do. One may always.
    pub(crate) fn has_room(&self, len: usize, limit: usize) -> bool {
        self.bodies.is_empty() || self.bytes + len + AROUND <= limit
    }

    /// Adds the message with this number, which follows that of the last one.
    pub(crate) fn push(&mut self, number: u64, body: WaitingBody) {
        if self.bodies.is_empty() {
            self.first = number;
        }
        self.bytes += body.bytes.len() + AROUND;
        self.bodies.push_back(body);
    }

    /// Drops the bodies of messages that began to wait in a transaction that was rolled back.
    pub(crate) fn forget_after(&mut self, waiting: WaitingMessages) {
        while self.first + self.bodies.len() as u64 > waiting.last + 1
            && let Some(body) = self.bodies.pop_back()
        {
            self.bytes -= body.bytes.len() + AROUND;
        }
    }

    /// Returns whether a message has left of which the application has not heard.
    #[inline]
    pub(crate) fn has_left(&self, waiting: WaitingMessages) -> bool {
        !self.bodies.is_empty() && self.first < waiting.first()
    }

    /// Takes the messages that have left.
    pub(crate) fn take_left(&mut self, waiting: WaitingMessages) -> Vec<(Ticket, Result<SeqNum, SendError>)> {
        let mut left = Vec::new();
        while self.first < waiting.first()
            && let Some(body) = self.bodies.pop_front()
        {
            self.first += 1;
            self.bytes -= body.bytes.len() + AROUND;
            left.push((body.ticket, body.outcome));
        }
        left
    }

    /// Takes all bodies with their numbers, to compare them with what a store has.
    pub(crate) fn take_all(&mut self) -> Vec<(u64, WaitingBody)> {
        self.bytes = 0;
        (self.first..).zip(core::mem::take(&mut self.bodies)).collect()
    }

    /// Returns the messages that wait, with their numbers, oldest first.
    pub(crate) fn iter(&self, waiting: WaitingMessages) -> impl Iterator<Item = (u64, &WaitingBody)> {
        let numbers = waiting.numbers();
        (self.first..).zip(&self.bodies).filter(move |(number, _)| numbers.contains(number))
    }

    /// Checks that each message that waits is here.
    ///
    /// # Panics
    /// Panics if one is not.
    pub(crate) fn check(&self, waiting: WaitingMessages) {
        let here = self.iter(waiting).count();
        assert!(here == waiting.count as usize, "{} messages wait, and {here} are here", waiting.count);
        let after = (self.first + self.bodies.len() as u64).saturating_sub(waiting.last + 1);
        assert!(self.bodies.is_empty() || after == 0, "{after} bodies are of messages that do not wait");
        let bytes: usize = self.bodies.iter().map(|body| body.bytes.len() + AROUND).sum();
        assert!(bytes == self.bytes, "bodies that wait cost {bytes}, and {} are counted", self.bytes);
    }
}
