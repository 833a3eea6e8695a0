//! What the throttles of a session do to its messages: which one waits or is refused, until when,
//! and which one of the counterparty is too many.

use fixbolt_codec::{MsgType, SeqNum};

use crate::events::error::SendError;
use crate::limits::throttle::{Arrival, Kind, OutboundThrottle, Rate};

use crate::state::session::Session;
use crate::state::{Connection, Phase};
use crate::values::fix::msg_type;
use crate::values::time::Mono;
use crate::wire::header::Header;

impl Session {
    /// Returns why a new message of the application is not sent now, if a throttle is the reason.
    pub(crate) fn throttled(&mut self, msg_type: MsgType, now: Mono) -> Option<SendError> {
        let throttle = self.limits.outbound_places.as_mut()?;
        let kind = Kind::of(msg_type.as_bytes())?;
        let rate = throttle.limit(kind)?;
        let counted = self.state.counted;
        let again_in = if self.state.keeps_back(&self.fixed.settings, msg_type) {
            // It has no place until its turn: as many as have a place may wait for theirs.
            if self.state.waiting() < u64::from(rate.messages()) {
                return None;
            }
            rate.window()
        } else if throttle.is_full_since(self.turn.snapshot.state.counted, counted, kind) {
            return Some(SendError::TooMany { limit: rate.messages() });
        } else {
            let at = throttle.free_at(counted, kind);
            if at <= now {
                return None;
            }
            throttle.await_place(kind);
            (at - now).min(rate.window())
        };
        Some(match self.fixed.settings.outbound_throttle {
            OutboundThrottle::Wait => SendError::BackPressure,
            OutboundThrottle::Refuse => SendError::Throttled { again_in },
        })
    }

    /// Returns when a message that a throttle has refused is to be asked again, unless that depends
    /// on the socket.
    pub(crate) fn throttled_until(&self) -> Option<Mono> {
        self.limits.outbound_places.as_ref()?.due(self.state.counted)
    }

    /// Returns whether a new message that was written during a replay may be sent, and otherwise
    /// remembers that it waits.
    pub(crate) fn may_follow(&mut self, msg_type: &[u8], now: Mono) -> bool {
        let Some(throttle) = &mut self.limits.outbound_places else { return true };
        let Some(kind) = Kind::of(msg_type) else { return true };
        let may = throttle.free_at(self.state.counted, kind) <= now;
        throttle.set_follows((!may).then_some(kind));
        may
    }

    /// Counts a new message that was just queued.
    pub(crate) fn count_followed(&mut self, msg_type: &[u8]) {
        if let Some(throttle) = &mut self.limits.outbound_places
            && let Some(kind) = Kind::of(msg_type)
        {
            throttle.take(&mut self.state.counted, kind, self.outbox.cursor.end());
        }
    }

    /// Returns whether an application message of the counterparty that is expected next may be
    /// delivered; that one that we requested does not wait has been checked.
    #[inline]
    pub(crate) fn admits(
        &self,
        connection: &Connection,
        header: &Header<'_>,
        seq: SeqNum,
        now: Mono,
    ) -> Admission {
        let Some(throttle) = &self.limits.inbound_places else { return Admission::Counted };
        if self.is_requested(connection, header, seq) {
            Admission::Requested
        } else if throttle.is_excess(self.state.counted, self.arrival(now)) {
            Admission::Exceeds(throttle.rate())
        } else {
            Admission::Counted
        }
    }

    /// Returns until when a message that is expected next stays unread, because we requested it and
    /// it comes too fast.
    #[cold]
    pub(crate) fn requested_waits(
        &self,
        connection: &Connection,
        header: &Header<'_>,
        seq: SeqNum,
        now: Mono,
    ) -> Option<Mono> {
        if !self.is_requested(connection, header, seq) {
            return None;
        }
        let pace = if header.is_session_layer() {
            self.limits.session_layer_pace.as_ref()?
        } else {
            &self.limits.inbound_places.as_ref()?.requested
        };
        pace.waits_until(now)
    }

    /// Returns whether requested messages that come too fast are left for the next connection,
    /// rather than read later: our Logout is on its way, its answer may be behind them, and the
    /// next connection goes on with the sequence numbers of this one.
    pub(crate) fn leaves_rest(&self) -> bool {
        let resets = self.fixed.settings.reset_on_logout || self.fixed.settings.reset_on_disconnect;
        self.state.phase() == Phase::LogoutSent && self.state.replay().is_none() && !resets
    }

    /// Returns when the message that is processed now can have arrived. Only one of the reorder
    /// buffer can be older than what is read with it.
    pub(crate) fn arrival(&self, now: Mono) -> Arrival {
        let read_now = || {
            let exact = Arrival { earliest: now, latest: now };
            self.limits.inbound_places.as_ref().map_or(exact, |places| places.arrival(now))
        };
        self.intake.reading.kept.unwrap_or_else(read_now)
    }

    /// Counts an application message of the counterparty that is about to be delivered, unless we
    /// requested it.
    #[inline]
    pub(crate) fn count_delivered(&mut self, header: &Header<'_>, seq: SeqNum, now: Mono) {
        if self.limits.inbound_places.is_none() {
            return;
        }
        let connection = self.state.connection.as_ref();
        if connection.is_some_and(|connection| self.is_requested(connection, header, seq)) {
            return;
        }
        let arrival = self.arrival(now);
        if let Some(throttle) = &mut self.limits.inbound_places {
            throttle.take(&mut self.state.counted, arrival);
        }
    }

    /// Counts an application message that we requested and that was delivered.
    #[cold]
    pub(crate) fn count_requested(&mut self, now: Mono) {
        if let Some(throttle) = &mut self.limits.inbound_places {
            throttle.requested.take(now);
        }
    }

    /// Called after bytes were passed to the session, with whether some are left.
    pub(crate) fn note_read(&mut self, leaves_some: bool) {
        if let Some(throttle) = &mut self.limits.inbound_places {
            throttle.end(leaves_some);
        }
    }

    /// Returns whether the message that is expected next is sent again because we requested it: an
    /// application message, a gap fill or a Reject, the only ones of the session layer that are
    /// sent again. Each number is requested once: once it is used, the next one is expected.
    pub(crate) fn is_requested(&self, connection: &Connection, header: &Header<'_>, seq: SeqNum) -> bool {
        header.poss_dup
            && (connection.logon.missing.is_some_and(|gap| seq <= gap.end) || self.was_dropped(seq))
            && (!header.is_session_layer()
                || [msg_type::SEQUENCE_RESET, msg_type::REJECT].contains(&header.msg_type))
    }

    fn was_dropped(&self, seq: SeqNum) -> bool {
        let generation = self.state.stored.generation;
        self.intake.reading.dropped.is_some_and(|(of, last)| of == generation && seq <= last)
    }

    /// Records that a message from after a gap is not in the reorder buffer. The counterparty sends
    /// it again if the request for what is missing has no end.
    pub(crate) fn note_dropped(&mut self, seq: SeqNum) {
        let connection = self.state.connection.as_ref();
        let gap = connection.and_then(|connection| connection.logon.missing);
        if gap.is_some_and(|gap| gap.asked_to.is_none()) && !self.was_dropped(seq) {
            self.intake.reading.dropped = Some((self.state.stored.generation, seq));
        }
    }
}

/// What happens to an application message of the counterparty that is expected next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    /// It is delivered, and counts if anything is counted.
    Counted,
    /// It is delivered, and counts for the pace of what we requested.
    Requested,
    /// It is one more than this rate allows.
    Exceeds(Rate),
}
