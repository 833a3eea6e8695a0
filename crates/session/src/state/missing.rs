//! What we ask for: messages of the counterparty that are missing.

use core::num::NonZeroU64;

use fixbolt_codec::SeqNum;

use crate::values::time::Mono;

/// Missing messages that were requested, or that the counterparty sends unasked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Missing {
    /// NextNumIn at the time of the request, or of the last progress since.
    pub(crate) begin: SeqNum,
    /// BeginSeqNo of the request.
    pub(crate) asked_from: SeqNum,
    /// The last sequence number that is known to be missing and that the request asks for.
    pub(crate) end: SeqNum,
    /// The last sequence number that was requested; `None` if the request was open-ended.
    pub(crate) asked_to: Option<SeqNum>,
    /// How many times these were requested without progress.
    pub(crate) asked: u32,
    /// When our request was queued for the socket.
    pub(crate) asked_at: Mono,
    pub(crate) request: Request,
    pub(crate) resent: Resent,
}

/// Where our last request is. One that the counterparty does not have, it has not failed to answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    /// It has this sequence number, and waits for the end of a replay or is withheld.
    Waits(NonZeroU64),
    /// It was queued for the socket, or none was needed. A journal does not say when the socket
    /// accepts it, and what follows from a journal is the same again.
    Sent,
}

impl Request {
    /// Returns that it waits and has this sequence number.
    pub(crate) fn waiting(seq: SeqNum) -> Self {
        // There is no number 0.
        NonZeroU64::new(seq.0).map_or(Self::Sent, Self::Waits)
    }

    /// Returns the number of one that waits.
    pub(crate) fn waits_as(self) -> Option<SeqNum> {
        match self {
            Self::Waits(seq) => Some(SeqNum(seq.get())),
            Self::Sent => None,
        }
    }
}

/// How far the counterparty has come with the answer to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resent {
    /// Nothing of it has come. An earlier request is still being answered, and this is the last
    /// sequence number that was sent again because of it.
    AfterAnother(SeqNum),
    /// Nothing of it has come.
    Nothing,
    /// It has begun.
    Begun,
}

impl Missing {
    /// Returns how far the counterparty has come with a message that was sent again. It belongs to
    /// the answer to an earlier request unless ours is sent. The messages of an answer come in
    /// their order, and those of the next one after them: it begins with a lower number. One that
    /// begins below ours belongs to an earlier request, of which there may be several: each
    /// ResendRequest of the counterparty may have caused one.
    pub(crate) fn resent_with(&self, seq: SeqNum) -> Resent {
        match self.resent {
            Resent::Nothing | Resent::AfterAnother(_) if self.request != Request::Sent => {
                Resent::AfterAnother(seq)
            }
            Resent::AfterAnother(last) if seq > last => Resent::AfterAnother(seq),
            _ if seq < self.asked_from => Resent::AfterAnother(seq),
            _ => Resent::Begun,
        }
    }

    /// Records that message `seq` was sent again. As long as it belongs to the answer to an earlier
    /// request, to which these messages belonged, ours is not answered too late.
    pub(crate) fn sent_again(&mut self, seq: SeqNum, now: Mono) {
        self.resent = self.resent_with(seq);
        if matches!(self.resent, Resent::AfterAnother(_)) && seq <= self.end {
            self.asked_at = now;
        }
    }

    /// Records that message `seq` was sent again and has been processed. A request that was made
    /// because of it is answered after the one that it belongs to.
    pub(crate) const fn requested_after(&mut self, seq: SeqNum) {
        if matches!(self.resent, Resent::Nothing) {
            self.resent = Resent::AfterAnother(seq);
        }
    }
}
