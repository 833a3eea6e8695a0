//! What the throttles of a session do to its messages: which one waits or is refused, until when,
//! and which one of the counterparty is too many.

use core::num::NonZeroU32;
use core::time::Duration;

use fixbolt_codec::{MsgType, SeqNum};

use crate::events::end::SessionEnd;
use crate::events::error::SendError;
use crate::limits::throttle::{Arrival, Awaited, Counted, Kind, OutboundThrottle, Rate};
use crate::state::Connection;
use crate::state::guarded::Guarded;
use crate::state::phase::PhaseState;
use crate::state::reading::BlockedBy;
use crate::state::session::{Limits, Session};
use crate::values::fix::msg_type;
use crate::values::time::Mono;
use crate::wire::header::Header;

/// How late a slowed-down replay may be without being slower.
const LATE: Duration = Duration::from_millis(10);
/// How often the application is told that its messages wait, at most.
const TELLS_WAITING_EVERY: Duration = Duration::from_secs(60);

/// What the throttles say to a new message of the application.
pub(crate) enum Throttled {
    No,
    /// It is stored, and has no sequence number before its turn.
    Waits,
    Refused(SendError),
}

impl Session {
    /// Returns what the throttles say to a new message of the application.
    #[inline]
    pub(crate) fn throttled(&mut self, msg_type: MsgType, now: Mono) -> Throttled {
        if self.limits.outbound_permits.is_none() && self.state.stored.wait == 0 {
            return Throttled::No;
        }
        self.throttled_by(msg_type, now)
    }

    // R-LIMIT-8
    fn throttled_by(&mut self, msg_type: MsgType, now: Mono) -> Throttled {
        let Some(kind) = Kind::of(msg_type.as_bytes()) else { return Throttled::No };
        if self.state.stored.wait > 0 {
            return Throttled::Waits;
        }
        let Some(throttle) = &mut self.limits.change().outbound_permits else { return Throttled::No };
        let Some(rate) = throttle.limit(kind) else { return Throttled::No };
        let counted = self.state.counted;
        let waits = self.fixed.settings.throttle.outbound_throttle == OutboundThrottle::Wait;
        let again_in = if self.state.keeps_back(&self.fixed.settings, msg_type) {
            // It has no permit until its turn: as many as have a permit may wait for theirs.
            if self.state.waiting() < u64::from(rate.messages()) {
                return Throttled::No;
            }
            rate.window()
        } else if !waits && throttle.is_full_since(self.transaction.snapshot.state.counted, counted, kind) {
            return Throttled::Refused(SendError::TooMany { limit: rate.messages() });
        } else {
            let at = throttle.free_at(counted, kind);
            if at <= now {
                return Throttled::No;
            }
            if !waits {
                throttle.await_permit(counted, kind);
            }
            (at - now).min(rate.window())
        };
        if waits { Throttled::Waits } else { Throttled::Refused(SendError::Throttled { again_in }) }
    }

    /// Returns when a message that a throttle has refused is to be asked again, unless that depends
    /// on the socket.
    pub(crate) fn throttled_until(&self) -> Option<Mono> {
        self.limits.outbound_permits.as_ref()?.due()
    }

    /// Returns whether a new message that was written during a replay may be sent, and otherwise
    /// remembers that it waits.
    pub(crate) fn may_follow(&mut self, msg_type: &[u8], now: Mono) -> bool {
        let Some(throttle) = &mut self.limits.change().outbound_permits else { return true };
        let Some(kind) = Kind::of(msg_type) else { return true };
        let may = throttle.free_at(self.state.counted, kind) <= now;
        throttle.set_follows((!may).then_some(kind));
        may
    }

    /// Counts a new message that was just queued.
    pub(crate) fn count_followed(&mut self, msg_type: &[u8]) {
        self.limits.take(&mut self.state.counted, msg_type, self.outbox.cursor.end());
    }

    /// Returns the rate that an application message of the counterparty exceeds that is expected
    /// next and that we did not request, if it exceeds one.
    #[inline]
    pub(crate) fn exceeded(&self, now: Mono) -> Option<Rate> {
        let throttle = self.limits.inbound_permits.as_ref()?;
        throttle.is_excess(self.state.counted, self.arrival(now)).then(|| throttle.rate())
    }

    /// Returns whether the message that is expected next is sent again because we requested it: an
    /// application message, a gap fill or a Reject, the only ones of the session layer that are
    /// sent again. Each number is requested once: once it is used, the next one is expected.
    pub(crate) fn requested(
        &self,
        connection: &Connection,
        header: &Header<'_>,
        seq: SeqNum,
    ) -> Option<Requested> {
        let is_within = connection.logon.missing.is_some_and(|gap| seq <= gap.end) || self.was_dropped(seq);
        if !header.poss_dup || !is_within {
            return None;
        }
        if !header.is_session_layer() {
            return Some(Requested::Application);
        }
        [msg_type::SEQUENCE_RESET, msg_type::REJECT]
            .contains(&header.msg_type)
            .then_some(Requested::SessionLayer)
    }

    /// Returns until when a message that we requested stays unread, because it comes too fast.
    #[cold]
    pub(crate) fn requested_waits(&self, requested: Requested, now: Mono) -> Option<Mono> {
        let pace = match requested {
            Requested::SessionLayer => self.limits.session_layer_pace.as_ref()?,
            Requested::Application => &self.limits.inbound_permits.as_ref()?.requested,
        };
        pace.waits_until(now)
    }

    /// Counts a message that we requested and that did not wait.
    #[cold]
    pub(crate) fn count_requested(&mut self, requested: Requested, now: Mono) {
        let pace = match requested {
            Requested::SessionLayer => self.limits.change().session_layer_pace.as_deref_mut(),
            Requested::Application => {
                self.limits.change().inbound_permits.as_mut().map(|throttle| &mut *throttle.requested)
            }
        };
        if let Some(pace) = pace {
            pace.take(now);
        }
    }

    /// Returns from when on a message that would stay unread is left for the next connection, with
    /// those after it: our Logout is on its way, and its answer may be behind them. Messages that
    /// were requested are left at once, because the next connection requests them again, unless
    /// the counterparty still reads a replay before it answers. Others, and those that a reset of
    /// the sequence numbers would lose, are left once half of the time for the answer is over.
    /// `None` while our Logout waits.
    // R-LOGOUT-13
    pub(crate) fn leaves_rest_at(&self, by: BlockedBy) -> Option<Mono> {
        let logon = &self.state.connection.as_ref()?.logon;
        let PhaseState::LogoutSent(leave) = &logon.phase else { return None };
        if logon.logout_is_held() {
            None
        } else if by == BlockedBy::Pace && logon.backlog.replay.is_none() && !self.loses_rest() {
            Some(Mono(0))
        } else {
            Some(self.half_gone(leave))
        }
    }

    /// Returns whether what is left after our Logout is lost, because the sequence numbers are
    /// reset before the next connection.
    pub(crate) fn loses_rest(&self) -> bool {
        let connection = self.state.connection.as_ref();
        let end = connection.and_then(|connection| connection.logon.phase.leave()?.end.as_deref());
        let is_error = matches!(end, Some(SessionEnd::PeerMisbehaved(_)));
        self.resets_next() || self.fixed.settings.reset.reset_on_error && is_error
    }

    /// Returns when the message that is processed now can have arrived. Only one of the reorder
    /// buffer can be older than what is read with it.
    pub(crate) fn arrival(&self, now: Mono) -> Arrival {
        let read_now = || {
            let exact = Arrival { earliest: now, latest: now };
            self.limits.inbound_permits.as_ref().map_or(exact, |permits| permits.arrival(now))
        };
        self.intake.reading.reordered.unwrap_or_else(read_now)
    }

    /// Counts an application message of the counterparty that is about to be delivered and that we
    /// did not request.
    #[inline]
    pub(crate) fn count_delivered(&mut self, now: Mono) {
        if self.limits.inbound_permits.is_none() {
            return;
        }
        let arrival = self.arrival(now);
        if let Some(throttle) = &mut self.limits.change().inbound_permits {
            throttle.take(&mut self.state.counted, arrival);
        }
    }

    /// Called after bytes were passed to the session, with whether some are left.
    pub(crate) fn note_read(&mut self, leaves_some: bool) {
        if let Some(throttle) = &mut self.limits.change().inbound_permits {
            throttle.end(leaves_some);
        }
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
            self.intake.change().reading.dropped = Some((self.state.stored.generation, seq));
        }
    }
}

impl Guarded<Limits> {
    /// Begins to read what has come.
    pub(crate) fn begin_read(&mut self, now: Mono) {
        if let Some(permits) = &mut self.change().inbound_permits {
            permits.begin(now);
        }
    }

    /// Counts a new message that was just queued and ends in the outbox at `end`.
    #[inline]
    pub(crate) fn take(&mut self, counted: &mut Counted, msg_type: &[u8], end: u64) {
        if let Some(permits) = &mut self.change().outbound_permits
            && let Some(kind) = Kind::of(msg_type)
        {
            permits.take(counted, kind, end);
        }
    }

    /// Records that the socket has accepted what is before `position` in the outbox.
    pub(crate) fn note_accepted(&mut self, counted: Counted, position: u64, now: Mono) {
        if let Some(permits) = &mut self.change().outbound_permits {
            permits.accept(counted, position, now);
        }
    }

    /// Returns whether the application is told that its messages wait, and counts it if so.
    pub(crate) fn tells_waiting(&mut self, now: Mono) -> bool {
        let is_time = self.waits_told <= now;
        if is_time {
            self.change().waits_told = now + TELLS_WAITING_EVERY;
        }
        is_time
    }

    /// Records that a message is asked for again that waits for a permit.
    pub(crate) fn note_asked(&mut self, now: Mono) {
        if let Some(permits) = &mut self.change().outbound_permits {
            permits.asked(now);
        }
    }

    /// Returns what a throttle has refused and is to be asked again.
    pub(crate) fn awaited(&self) -> Awaited {
        self.outbound_permits.as_ref().map(|permits| permits.awaited()).unwrap_or_default()
    }

    /// Goes back to an earlier [`Self::awaited`].
    pub(crate) fn set_awaited(&mut self, awaited: Awaited) {
        if let Some(permits) = &mut self.change().outbound_permits {
            permits.set_awaited(awaited);
        }
    }

    /// Returns whether one more refused Logon may be answered, and counts it if so.
    pub(crate) fn answer_refused(&mut self, now: Mono) -> bool {
        self.change().refusals.answer(now)
    }

    /// Returns whether more was added to the store than the session allows.
    pub(crate) fn is_growth_over(&mut self, now: Mono, limit: Option<u64>) -> bool {
        self.change().growth.is_over(now, limit)
    }

    /// Has a replay wait until a point in time.
    pub(crate) fn delay_replay(&mut self, until: Mono) {
        let due = &mut self.change().replay_due;
        *due = (*due).max(until);
    }

    /// Counts a message that is sent again, of which `rate` may be in a second. A timer that is a
    /// little late does not make the replay slower.
    pub(crate) fn pace_replay(&mut self, rate: NonZeroU32, now: Mono) {
        let due = &mut self.change().replay_due;
        let from = if now - *due > LATE { now } else { *due };
        *due = from + Duration::from_secs(1) / rate.get();
    }
}

/// A message that is sent again because we requested it, for whose pace it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Requested {
    Application,
    SessionLayer,
}
