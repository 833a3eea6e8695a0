//! Compares what a replayed session sends with what is recorded.

use std::borrow::Cow;
use std::collections::VecDeque;

use fixbolt_codec::SeqNum;
use fixbolt_session::Utc;
use fixbolt_session::store::Record;

use super::outcome::{Difference, Finding, Outcome};
use super::recorder::Made;
use super::turn::Turn;
use super::wire::{msg_type, renumbered};

/// What the session has sent, and what was found so far.
#[derive(Default)]
pub(super) struct Comparison {
    /// What was not compared yet.
    sent: VecDeque<Made>,
    /// By how much recorded MsgSeqNums are higher than those of the session.
    pub(super) shift: i128,
    pub(super) outcome: Outcome,
}

impl Comparison {
    /// Adds a message that the session has sent.
    pub(super) fn add(&mut self, made: Made) {
        self.sent.push_back(made);
    }

    /// Returns whether a message of this type was sent and not compared yet.
    pub(super) fn has(&self, kind: &[u8]) -> bool {
        self.sent.iter().any(|made| msg_type(&made.body) == kind)
    }

    /// Returns whether everything that was sent was compared.
    pub(super) fn is_done(&self) -> bool {
        self.sent.is_empty()
    }

    /// Compares the messages of a turn with what the session has sent. `refused` says why it has
    /// refused what the application sent.
    pub(super) fn compare(&mut self, turn: &Turn<'_>, mut refused: Vec<String>) {
        for recorded in turn.outbound() {
            let equal = self.equal_to(recorded);
            let alike = || {
                let kind = msg_type(recorded.body);
                let mut sent = self.sent.iter().take(turn.outbound().count() + 1);
                sent.position(|made| msg_type(&made.body) == kind)
            };
            let Some(found) = equal.or_else(alike) else {
                self.outcome.missing += 1;
                self.shift += 1;
                let why = refused.pop();
                let found = Some(recorded.body.to_vec());
                self.find(Difference { utc: recorded.utc, recorded: found, replayed: None, why });
                continue;
            };
            for _ in 0..found {
                self.leave_first(recorded.utc);
            }
            let Some(made) = self.sent.pop_front() else { continue };
            let shift = i128::from(recorded.seq.0) - i128::from(made.seq.0);
            if equal.is_some() {
                self.outcome.equal += 1;
                self.shift = shift;
            } else {
                self.outcome.different += 1;
                let replayed = Some(shifted(&made, self.shift).into_owned());
                let utc = recorded.utc;
                let found = Some(recorded.body.to_vec());
                self.find(Difference { utc, recorded: found, replayed, why: None });
                self.shift = shift;
            }
        }
    }

    /// Returns which of the messages that the session has sent is the recorded one. Those before it
    /// make its MsgSeqNum higher.
    pub(super) fn equal_to(&self, recorded: &Record<'_>) -> Option<usize> {
        let mut sent = self.sent.iter().zip(0..);
        sent.position(|(made, before)| {
            made.body == recorded.body || shifted(made, self.shift - before) == recorded.body
        })
    }

    /// Reports everything that the session has sent and the journal does not have.
    pub(super) fn leave_rest(&mut self, utc: Utc) {
        while !self.sent.is_empty() {
            self.leave_first(utc);
        }
    }

    fn leave_first(&mut self, utc: Utc) {
        let Some(first) = self.sent.pop_front() else { return };
        let replayed = Some(shifted(&first, self.shift).into_owned());
        self.outcome.extra += 1;
        self.shift -= 1;
        self.find(Difference { utc, recorded: None, replayed, why: None });
    }

    fn find(&mut self, difference: Difference) {
        self.outcome.findings.push(Finding::Difference(difference));
    }

    /// Reports something that happened to the session.
    pub(super) fn note(&mut self, utc: Utc, text: String) {
        self.outcome.findings.push(Finding::Note { utc, text });
    }

    /// Counts what is not replayed as it was.
    pub(super) fn count(&mut self, what: &'static str, times: u64) {
        if times > 0 {
            *self.outcome.limits.entry(what).or_default() += times;
        }
    }
}

/// Returns a message of the session with a MsgSeqNum that is higher by `shift`, or lower.
fn shifted(made: &Made, shift: i128) -> Cow<'_, [u8]> {
    if shift == 0 {
        return Cow::Borrowed(&made.body);
    }
    let seq = u64::try_from(i128::from(made.seq.0) + shift).unwrap_or_default();
    Cow::Owned(renumbered(&made.body, SeqNum(seq)))
}
