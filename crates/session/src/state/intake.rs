//! What comes in: bytes, and messages that wait for those before them. No rollback restores it.

use core::time::Duration;

use fixbolt_codec::{Frame, FrameError, Framed, Framer, Recovery, SeqNum};

use crate::limits::throttle::Arrival;
use crate::state::guarded::Guarded;
use crate::state::reading::{Budget, Incomplete, Reading};
use crate::state::reorder::{ReorderBuffer, Reordered, Series};
use crate::values::time::{Mono, Utc};
use crate::wire::oversized::Oversized;

/// What comes in: bytes, and messages that wait for those before them.
pub(crate) struct Intake {
    /// Belongs to the connection and is replaced with it.
    pub(crate) reading: Reading,
    pub(crate) reorder: ReorderBuffer,
}

/// What was found behind the head of a message that is larger than the session accepts.
pub(crate) enum Past<'b> {
    /// More of the message.
    More(&'b [u8]),
    /// Nothing that can be told yet.
    Unclear,
    /// Something else.
    Other,
}

impl Guarded<Intake> {
    /// Begins a call, which may process as much as one call may.
    pub(crate) fn begin_call(&mut self) {
        self.change().reading.budget = Budget::FULL;
    }

    /// Ends the call after the current message.
    pub(crate) fn end_call(&mut self) {
        self.change().reading.budget.spend_all();
    }

    /// Returns what the bytes begin with.
    #[inline]
    pub(crate) fn next_frame<'b>(&mut self, bytes: &'b [u8]) -> Frame<'b> {
        self.change().reading.framer.next(bytes)
    }

    /// Accepts messages of up to `max_message_size` bytes from now on.
    pub(crate) fn accept_up_to(&mut self, max_message_size: usize) {
        self.change().reading.framer.set_max_message_size(max_message_size);
    }

    /// Records that the bytes begin with a whole message, or with a garbled piece, of this size.
    #[inline]
    pub(crate) fn note_whole(&mut self, bytes: usize) {
        let reading = &mut self.change().reading;
        reading.incomplete = None;
        reading.budget.spend(bytes);
    }

    /// Records that the bytes begin with a part of a message, and how many of them there are.
    pub(crate) fn note_incomplete(&mut self, now: Mono, bytes: usize) {
        let reading = &mut self.change().reading;
        if reading.incomplete.is_none_or(|known| known.bytes != bytes) {
            reading.incomplete = Some(Incomplete { since: now, bytes });
        }
    }

    /// Records that no bytes are left.
    #[inline]
    pub(crate) fn note_empty(&mut self) {
        self.change().reading.incomplete = None;
    }

    /// Gives up the message that the bytes begin with a part of. Returns the bytes that are given
    /// up, and what is wrong with them; `None` if the message has become whole.
    pub(crate) fn give_up<'b>(&mut self, bytes: &'b [u8]) -> Option<(&'b [u8], Option<FrameError>)> {
        let reading = &mut self.change().reading;
        reading.incomplete = None;
        // Bytes may have arrived that were not read yet.
        let is_still = matches!(reading.framer.clone().next(bytes), Frame::Incomplete { .. });
        if !is_still || bytes.is_empty() {
            return None;
        }
        match reading.framer.give_up(bytes) {
            Frame::Garbled { bytes, error } => Some((bytes, error)),
            _ => None,
        }
    }

    /// Records whether the first message that was not processed has been offered.
    #[inline]
    pub(crate) fn set_offered(&mut self, offered: bool) {
        self.change().reading.offered = offered;
    }

    /// Records when messages were sent that are read for the first time
    /// ([`Reading::note_sent`]).
    pub(crate) fn note_sent(&mut self, sent: u64, now: Utc, threshold: Duration) {
        self.change().reading.note_sent(sent, now, threshold);
    }

    /// Records that the application was warned of a message.
    pub(crate) fn note_warned(&mut self, seq: SeqNum) {
        self.change().reading.warned_of = Some(seq);
    }

    /// Leaves the messages that come for the next connection.
    pub(crate) fn leave_rest(&mut self) {
        self.change().reading.leaves_rest = true;
    }

    /// Begins to read past a message that is larger than the session accepts.
    pub(crate) fn begin_oversized(&mut self, now: Mono, head: &[u8]) {
        self.change().reading.oversized.insert(Box::new(Oversized::new(now))).pass(head);
    }

    /// Reads past what the framer has found at the beginning of the bytes, if that belongs to the
    /// message that is larger than the session accepts.
    pub(crate) fn read_past<'b>(
        &mut self,
        frame: Frame<'b>,
        bytes: &'b [u8],
        recovery: Recovery,
    ) -> Past<'b> {
        let reading = &mut self.change().reading;
        let Some(oversized) = &mut reading.oversized else { return Past::Other };
        let passed = match frame {
            Frame::Garbled { bytes: dropped, error: None } => dropped,
            // The framer keeps its last SOH, which may belong to the next message.
            Frame::Incomplete { .. } if oversized.ends_with(bytes) => {
                let size = reading.framer.max_message_size();
                reading.framer = Framer::new(size).with_recovery(recovery);
                bytes
            }
            Frame::Incomplete { .. } if !bytes.starts_with(b"8") => return Past::Unclear,
            _ => return Past::Other,
        };
        oversized.pass(passed);
        self.note_whole(passed.len());
        Past::More(passed)
    }

    /// Ends reading past a message that is larger than the session accepts.
    pub(crate) fn take_oversized(&mut self) -> Option<Box<Oversized>> {
        self.change().reading.oversized.take()
    }

    /// Counts a message that is not garbled.
    #[inline]
    pub(crate) fn count_well_formed(&mut self) {
        self.change().reading.flood.well_formed();
    }

    /// Counts garbled bytes. Returns whether they are too many.
    pub(crate) fn count_garbled(&mut self, limit: Option<u32>) -> bool {
        self.change().reading.flood.garbled(limit)
    }

    /// Counts a message of the session layer. Returns whether they are too many.
    pub(crate) fn count_session_layer(&mut self, now: Mono, limit: Option<u32>) -> bool {
        self.change().reading.flood.session_layer(now, limit)
    }

    /// Adds a message to the reorder buffer; `false` if there is no room.
    pub(crate) fn keep(
        &mut self,
        series: Series,
        seq: SeqNum,
        message: Framed<'_>,
        arrival: Arrival,
    ) -> bool {
        self.change().reorder.keep(series, seq, message, arrival)
    }

    /// Begins to process the message with this sequence number, if it is in the reorder buffer: it
    /// is copied. Returns whether it is.
    #[inline]
    pub(crate) fn begin_reordered(&mut self, series: Series, seq: SeqNum, to: &mut Reordered) -> bool {
        let Intake { reading, reorder } = self.change();
        let Some(arrival) = reorder.copy(series, seq, to) else { return false };
        reading.reordered = Some(arrival);
        reading.budget.spend(to.len());
        true
    }

    /// Ends the processing of a message of the reorder buffer.
    pub(crate) fn end_reordered(&mut self) {
        self.change().reading.reordered = None;
    }

    /// Drops the messages in the reorder buffer.
    pub(crate) fn forget_reordered(&mut self) {
        self.change().reorder.clear();
    }
}
