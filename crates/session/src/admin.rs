//! TestRequest, ResendRequest and SequenceReset: the session layer's own messages while a session is logged on.

use fixbolt_codec::{Message, SeqNum};

use crate::application::Event;
use crate::inbound::{Header, Reject, number, tag};
use crate::scene::{Scene, Stop};
use crate::state::{Phase, Replay};

impl Scene<'_> {
    /// TestRequest (1): a Heartbeat with the same TestReqID, at once (test case 4b).
    pub(crate) fn test_request(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Result<(), Stop> {
        if header.poss_dup {
            return self.accept(header, seq, message);
        }
        match message.get(tag::TEST_REQ_ID).filter(|id| !id.is_empty()) {
            Some(id) => self.take(header, seq, message, |scene| {
                scene.heartbeat(Some(id), Some(seq))?;
                Ok(())
            }),
            None => {
                let reject = Reject { reason: 1, tag: Some(b"112"), text: "Required tag missing" };
                self.reject(seq, message, reject)
            }
        }
    }

    /// ResendRequest (2): begins to send again what was asked for (test case 8). Its own number is used up when it was due.
    pub(crate) fn resend_requested(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Result<(), Stop> {
        if header.poss_dup || self.core().state.request_answered == Some(seq) {
            return self.accept(header, seq, message);
        }
        let last = self.core().state.next_out.previous();
        let begin = number(message, tag::BEGIN_SEQ_NO).map(SeqNum);
        let end = number(message, tag::END_SEQ_NO).map(SeqNum);
        let quickfix = self.core().is_quickfix();
        let fault = |tag: &'static [u8], present: bool| {
            if present {
                Reject { reason: 5, tag: Some(tag), text: "Value is incorrect (out of range) for this tag" }
            } else {
                Reject { reason: 1, tag: Some(tag), text: "Required tag missing" }
            }
        };
        let Some(begin) = begin else {
            let present = message.get(tag::BEGIN_SEQ_NO).is_some();
            return self.reject(seq, message, fault(b"7", present));
        };
        let Some(end) = end else {
            let present = message.get(tag::END_SEQ_NO).is_some();
            return self.reject(seq, message, fault(b"16", present));
        };
        // 0 is infinity from FIX.4.2 on, 999999 up to FIX.4.1; both are taken from everybody.
        let open_ended = end == SeqNum::ZERO || end == SeqNum(999_999) || end > last;
        let end = if open_ended { last } else { end };
        if !quickfix {
            if begin == SeqNum::ZERO || begin > last {
                return self.reject(seq, message, fault(b"7", true));
            }
            if begin > end {
                return self.reject(seq, message, fault(b"16", true));
            }
        }
        let begin = begin.max(SeqNum::ONE);
        self.take(header, seq, message, |scene| {
            let state = &mut scene.core().state;
            if begin <= end {
                // A second request while one is answered restarts the range; live messages that wait are not part of it.
                let live = state.replay.map_or(state.next_out, |replay| replay.live);
                let end = end.min(live.previous());
                if begin <= end {
                    let (mut next, mut last) = (begin, end);
                    // What the first one asked for and has not got is not forgotten.
                    if let Some(open) = state.replay {
                        let at = open.gap_from.unwrap_or(open.next);
                        if at <= open.end {
                            (next, last) = (begin.min(at), end.max(open.end));
                        }
                    }
                    state.replay = Some(Replay { next, end: last, gap_from: None, live });
                }
            }
            Ok(())
        })?;
        self.tell(&Event::ResendRequested { begin, end });
        // What fits goes out now, in front of whatever is written next.
        self.pump_replay()
    }

    /// SequenceReset (4): GapFill (10a to 10e) and Reset (11a to 11c).
    pub(crate) fn sequence_reset(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Result<(), Stop> {
        let gap_fill = message.get(tag::GAP_FILL_FLAG) == Some(b"Y");
        let next_in = self.core().state.next_in;
        let Some(new) = number(message, tag::NEW_SEQ_NO).map(SeqNum) else {
            let reject = match message.get(tag::NEW_SEQ_NO) {
                None => Reject { reason: 1, tag: Some(b"36"), text: "Required tag missing" },
                Some(_) => Reject { reason: 6, tag: Some(b"36"), text: "Incorrect data format for value" },
            };
            return self.reject(seq, message, reject);
        };
        let quickfix = self.core().is_quickfix();
        if new == SeqNum::MAX {
            // The last number is never used.
            let text = "Value is incorrect (out of range) for this tag";
            return self.reject(seq, message, Reject { reason: 5, tag: Some(b"36"), text });
        }
        if gap_fill && new <= seq && !quickfix {
            // 10e.
            let text = format!("attempt to lower sequence number, invalid value NewSeqNo(36)={new}");
            let reject = Reject { reason: 5, tag: Some(b"36"), text: &text };
            return self.reject(seq, message, reject);
        }
        if new < next_in {
            // 11c: the number stays where it is, even when the message's own was due. QuickFIX treats 10e alike.
            let text = "Value is incorrect (out of range) for this tag";
            let named: Option<&[u8]> = if quickfix { None } else { Some(b"36") };
            let reject = Reject { reason: 5, tag: named, text };
            return self.turn(|scene| {
                scene.record(seq, message, header.flags)?;
                scene.write_reject(seq, message, reject)
            });
        }
        self.turn(|scene| {
            let state = &mut scene.core().state;
            state.next_in = new;
            state.attempts = 0;
            scene.record(seq, message, header.flags)
        })?;
        if !gap_fill {
            let next_out = self.core().state.next_out;
            let reason = if new == next_in { "SequenceReset to the same number" } else { "SequenceReset" };
            self.tell(&Event::SequenceChanged { next_in: new, next_out, reason });
        }
        if self.core().state.phase == Phase::Disconnected {
            return Err(Stop);
        }
        self.gap_may_be_closed()
    }
}
