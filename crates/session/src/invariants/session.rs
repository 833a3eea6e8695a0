//! What always holds between the parts of a session.

use crate::events::end::Halt;
use crate::settings::Role;
use crate::state::Phase;
use crate::state::intake::Intake;
use crate::state::phase::PhaseState;
use crate::state::reading::BlockedBy;
use crate::state::session::Session;
use crate::state::standing::Standing;

impl Session {
    /// Checks what holds after each transaction, committed or rolled back.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        let Self { state, outbox, standing, .. } = self;
        let halted = &standing.halted;
        state.check();
        outbox.check();
        self.waiting.check(state.stored.waiting());
        let next_out = state.stored.next_out;
        if let Some(unsent) = state.unsent
            && halted.is_none()
        {
            let last = unsent.last;
            assert!(last < next_out, "message {last} is unsent, and {next_out} is the next one");
        }
        match &state.connection {
            None => {
                let queued = outbox.queued();
                assert!(queued == 0, "{queued} bytes are queued without a connection");
            }
            Some(connection) => {
                let logon = &connection.logon;
                let is_acceptor = matches!(self.fixed.settings.role, Role::Acceptor);
                let other_side = if is_acceptor { Phase::LogonSent } else { Phase::AwaitingLogon };
                assert!(logon.phase() != other_side, "{other_side:?} is a phase of the other side");
                assert!(
                    halted.is_none() || connection.end.is_some(),
                    "a halted session keeps its connection"
                );
                if let Some(gap) = logon.missing {
                    let most = self.fixed.settings.resend.max_resend_requests.get();
                    assert!(gap.asked <= most, "a gap was requested {} times of {most}", gap.asked);
                }
            }
        }
        assert!(
            self.standing.store_is_open || halted.is_some(),
            "the store is closed, and the session is not halted"
        );
        assert!(
            self.standing.retry.is_none() || matches!(halted, Some(Halt::StoreFailed(_))),
            "a store is tried again that has not failed"
        );
        assert!(
            self.transaction.store_error.is_none(),
            "the store refused a record of a transaction that has ended"
        );
    }

    /// Checks what holds between two calls, besides [`Session::check`].
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check_between_calls(&self) {
        let Self { state, outbox, intake, standing, .. } = self;
        let Intake { reading, reorder } = &**intake;
        let Standing { halted, status, .. } = &**standing;
        reorder.check(state.series());
        let stored = state.stored;
        let phase = state.phase();
        if let Some(places) = &self.limits.outbound_permits {
            places.check(state.counted, outbox.cursor.end());
        }
        if let Some(resends) = &self.limits.resends {
            resends.check();
        }
        let (attempts, most) = (stored.attempts, self.fixed.settings.limits.max_delivery_attempts.get());
        assert!(
            attempts < most || halted.is_some(),
            "the application failed {attempts} times of {most}, and the session is not halted"
        );
        assert!(
            !outbox.waits_for_store() || self.standing.awaits_store,
            "bytes wait for the store, and nobody releases them"
        );
        assert!(reading.reordered.is_none(), "a message of the reorder buffer is being processed");
        if let Some(blocked) = reading.blocked
            && blocked.by == BlockedBy::Pace
        {
            assert!(blocked.until.is_some(), "a message waits for its time, and has none");
        }
        if let Some(connection) = &state.connection
            && connection.end.is_none()
            && let PhaseState::LogoutSent(leave) = &connection.logon.phase
        {
            assert!(leave.seq.is_some(), "an answer is awaited to a Logout that has no number");
        }
        let published = (status.next_in(), status.next_out());
        assert!(
            published == (stored.next_in, stored.next_out),
            "other threads see numbers {published:?}, and the session has {} and {}",
            stored.next_in,
            stored.next_out
        );
        let is_halted = status.is_halted();
        assert!(is_halted == halted.is_some(), "other threads see that the session is halted: {is_halted}");
        let is_logged_on = status.is_logged_on();
        assert!(
            is_logged_on == (phase == Phase::LoggedOn && halted.is_none()),
            "other threads see that the session is logged on: {is_logged_on}, in {phase:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::SeqNum;

    use super::*;
    use crate::invariants::{said, session};
    use crate::limits::throttle::Arrival;
    use crate::state::Connection;
    use crate::state::backlog::Unsent;
    use crate::state::missing::{Missing, Request, Resent};
    use crate::state::phase::Leave;
    use crate::state::reading::Blocked;
    use crate::store::retry::StoreRetry;
    use crate::store::{Position, StoreError};
    use crate::values::time::{Mono, Now, Utc};

    /// Returns a Logout of ours with this number.
    fn leave(seq: Option<SeqNum>) -> Leave {
        Leave { until: Mono(9), seq, is_ours: false, end: None }
    }

    fn connection(session: &mut Session) -> &mut Connection {
        session.state.connection.as_mut().unwrap()
    }

    fn queue(session: &mut Session) {
        session.outbox.cursor.push(9, 3);
        session.outbox.committed(Position(1), Position(0));
    }

    const FAILED: StoreError = StoreError::Locked { place: String::new(), holder: String::new() };

    /// Changes the session, and what a check says then.
    type Damage = (fn(&mut Session), &'static str);

    const AFTER_A_TRANSACTION: [Damage; 9] = [
        (|s| s.state.stored.next_in = SeqNum::ZERO, "NextNumIn is 0"),
        (|s| s.outbox.cursor.push(9, 3), "bytes end at 9, and up to 0 they are released"),
        (
            |s| s.state.unsent = Some(Unsent { first: SeqNum(1), last: SeqNum(2) }),
            "message 2 is unsent, and 2 is the next one",
        ),
        (
            |s| {
                queue(s);
                s.state.connection = None;
            },
            "9 bytes are queued without a connection",
        ),
        (
            |s| {
                let now = Now { mono: Mono(1), utc: Utc(1) };
                s.state.connection = Some(Connection::begin(
                    now,
                    PhaseState::LogonSent { until: Mono(9), asks_reset: false },
                    30,
                ));
            },
            "LogonSent is a phase of the other side",
        ),
        (
            |s| s.standing.of_test().halted = Some(Halt::StoreFailed(FAILED)),
            "a halted session keeps its connection",
        ),
        (
            |s| {
                let (begin, end, asked) = (SeqNum(1), SeqNum(1), u32::MAX);
                let (request, resent) = (Request::Sent, Resent::Nothing);
                let (asked_from, asked_at) = (begin, Mono(1));
                let gap =
                    Missing { begin, asked_from, end, asked_to: None, asked, asked_at, request, resent };
                connection(s).logon.missing = Some(gap);
            },
            "a gap was requested 4294967295 times of",
        ),
        (
            |s| s.standing.of_test().store_is_open = false,
            "the store is closed, and the session is not halted",
        ),
        (
            |s| s.standing.of_test().retry = Some(StoreRetry::begin(Mono(1))),
            "a store is tried again that has not failed",
        ),
    ];

    const BETWEEN_CALLS: [Damage; 9] = [
        (|s| s.state.stored.attempts = 99, "the application failed 99 times of"),
        (queue, "bytes wait for the store, and nobody releases them"),
        (
            |s| s.intake.of_test().reading.reordered = Some(Arrival { earliest: Mono(1), latest: Mono(1) }),
            "a message of the reorder buffer is being processed",
        ),
        (
            |s| {
                s.intake.of_test().reading.blocked =
                    Some(Blocked { since: Mono(1), by: BlockedBy::Pace, until: None })
            },
            "a message waits for its time, and has none",
        ),
        (
            |s| connection(s).logon.phase = PhaseState::LogoutSent(leave(None)),
            "an answer is awaited to a Logout that has no number",
        ),
        (|s| s.state.stored.next_out = SeqNum(3), "and the session has 2 and 3"),
        (|s| s.state.stored.next_in = SeqNum(3), "and the session has 3 and 2"),
        (
            |s| s.standing.of_test().halted = Some(Halt::StoreFailed(FAILED)),
            "other threads see that the session is halted: false",
        ),
        (
            |s| connection(s).logon.phase = PhaseState::LogoutAnswered(leave(Some(SeqNum(1)))),
            "other threads see that the session is logged on: true, in LogoutAnswered",
        ),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        for (damages, check) in [
            (AFTER_A_TRANSACTION, Session::check as fn(&Session)),
            (BETWEEN_CALLS, Session::check_between_calls),
        ] {
            check(&session());
            for (damage, says) in damages {
                let mut session = session();
                damage(&mut session);
                let said = said(|| check(&session));
                assert!(said.contains(says), "{said}, not {says}");
            }
        }
        let mut session = session();
        session.transaction.of_test().store_error = Some(FAILED);
        let said = said(|| session.check());
        assert!(said.contains("the store refused a record"), "{said}");
    }
}
