//! Two directions of one connection: messages are delayed, split, lost and garbled, and those in
//! flight die with it.

use std::collections::VecDeque;

use super::random::Random;

/// Bytes on their way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
    /// The numbers that its last byte completes, without the last; empty if it completes none.
    pub(super) covers: (u64, u64),
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    flights: VecDeque<Flight>,
    bytes: usize,
    last: u64,
}

impl Pipe {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flights.is_empty()
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns when the last bytes arrive that were sent.
    pub(super) const fn last(&self) -> u64 {
        self.last
    }

    /// Returns when the next bytes arrive.
    pub(super) fn next(&self) -> u64 {
        self.flights.front().map_or(u64::MAX, |flight| flight.at)
    }

    /// Sends bytes, not before what was sent earlier.
    pub(super) fn send(&mut self, at: u64, bytes: Vec<u8>, covers: (u64, u64)) {
        let at = at.max(self.last);
        self.last = at;
        self.bytes += bytes.len();
        self.flights.push_back(Flight { at, bytes, covers });
    }

    pub(super) fn take(&mut self, now: u64) -> Option<Flight> {
        self.flights.front().filter(|flight| flight.at <= now)?;
        let flight = self.flights.pop_front()?;
        self.bytes -= flight.bytes.len();
        Some(flight)
    }

    /// Removes what is on its way, the next first.
    pub(super) fn drop_next(&mut self) -> Option<Flight> {
        let flight = self.flights.pop_front()?;
        self.bytes -= flight.bytes.len();
        Some(flight)
    }
}

/// Loses messages at a rate, alone or in runs.
#[derive(Debug)]
pub(super) struct Losses {
    per_mille: u16,
    in_run: bool,
    runs: bool,
}

impl Losses {
    pub(super) fn new(per_mille: u16, random: &mut Random) -> Self {
        Self { per_mille, in_run: false, runs: random.once_in(2) }
    }

    pub(super) fn stop(&mut self) {
        (self.per_mille, self.in_run) = (0, false);
    }

    /// Returns whether the next message is lost, and whether it begins a run.
    pub(super) fn next(&mut self, random: &mut Random) -> Option<bool> {
        if self.per_mille == 0 {
            return None;
        }
        let goes_on = self.in_run && self.runs && random.once_in(2);
        let lost = goes_on || random.chance(self.per_mille);
        let begins = lost && !self.in_run;
        self.in_run = lost;
        lost.then_some(begins)
    }
}

/// Changes a byte so that the checksum is wrong: one of its own digits, or any after BodyLength but
/// the last one, without which the message behind it would be lost too.
pub(super) fn garble(bytes: &mut [u8], only_checksum: bool, random: &mut Random) {
    let len = bytes.len() as u64;
    let from = if only_checksum { len - 4 } else { 20.min(len - 4) };
    let at = random.within(from, len - 1) as usize;
    bytes[at] ^= 1 << random.within(0, 7);
}
