//! The turns of a journal: records that became visible together.

use fixbolt_codec::SeqNum;
use fixbolt_journal::{JournalRecord, SessionJournal};
use fixbolt_session::store::{ConnectionNumber, Generation, Record, RecordKind};

use super::wire::{is_session_layer, msg_type};

/// One turn, with at least one record.
pub(super) struct Turn<'j> {
    records: Vec<Record<'j>>,
    pub(super) generation: Generation,
}

impl<'j> Turn<'j> {
    /// Returns the turns of a journal, oldest first.
    pub(super) fn all(journal: &'j SessionJournal) -> Vec<Self> {
        let mut turns: Vec<(u64, Self)> = Vec::new();
        for JournalRecord { record, generation, turn, .. } in journal.records() {
            match turns.last_mut() {
                Some((last, open)) if *last == turn => {
                    open.records.push(record);
                    open.generation = generation;
                }
                _ => turns.push((turn, Self { records: vec![record], generation })),
            }
        }
        turns.into_iter().map(|(_, turn)| turn).collect()
    }

    pub(super) fn records(&self) -> &[Record<'j>] {
        &self.records
    }

    /// Returns the first record, which has the time and the connection of all.
    pub(super) fn first(&self) -> &Record<'j> {
        &self.records[0]
    }

    pub(super) fn connection(&self) -> ConnectionNumber {
        self.first().connection
    }

    /// Returns the message of the counterparty.
    pub(super) fn inbound(&self) -> Option<&Record<'j>> {
        self.of(RecordKind::Inbound).next()
    }

    /// Returns the messages that were sent.
    pub(super) fn outbound(&self) -> impl Iterator<Item = &Record<'j>> {
        self.of(RecordKind::Outbound)
    }

    pub(super) fn of(&self, kind: RecordKind) -> impl Iterator<Item = &Record<'j>> {
        self.records.iter().filter(move |record| record.kind == kind)
    }

    /// Returns our Logon.
    pub(super) fn our_logon(&self) -> Option<&Record<'j>> {
        self.outbound().find(|record| msg_type(record.body) == b"A")
    }

    /// Returns whether this turn begins a connection, if its number is a new one.
    pub(super) fn has_logon(&self) -> bool {
        let mut messages = self.inbound().into_iter().chain(self.outbound());
        messages.any(|record| msg_type(record.body) == b"A")
    }

    /// Returns whether a message of either side shows that the connection is still there.
    pub(super) fn shows_connection(&self) -> bool {
        self.inbound().is_some() || self.outbound().any(|record| is_session_layer(record.body))
    }

    /// Returns the message of the session layer that no message of the counterparty in this turn
    /// caused: a timer may have sent it.
    pub(super) fn unasked(&self) -> Option<&Record<'j>> {
        let first = self.outbound().next()?;
        (self.inbound().is_none() && is_session_layer(first.body)).then_some(first)
    }

    /// Returns whether the turn answers a message that is not recorded: one that was garbled or too
    /// large is rejected without being read.
    pub(super) fn answers_unread(&self) -> bool {
        self.inbound().is_none() && self.outbound().any(|record| msg_type(record.body) == b"3")
    }

    /// Returns the messages that only the application can have sent.
    pub(super) fn by_application(&self) -> impl Iterator<Item = &Record<'j>> {
        self.outbound().filter(|record| !is_session_layer(record.body))
    }

    /// Returns NextNumIn before the turn, as far as it shows.
    pub(super) fn next_in_before(&self) -> Option<SeqNum> {
        if self.of(RecordKind::Reset).chain(self.of(RecordKind::Adjust)).next().is_some() {
            return None;
        }
        let first = self.first();
        Some(match first.kind {
            RecordKind::Inbound if first.next_in == first.seq.next() => first.seq,
            _ => first.next_in,
        })
    }
}
