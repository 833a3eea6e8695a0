//! What always holds of the state that transactions change.

use fixbolt_codec::SeqNum;

use crate::state::backlog::{Backlog, Replay, Unsent};
use crate::state::missing::Missing;
use crate::state::{Connection, Logon, Phase, ResetStage, State, Stored};

impl State {
    /// Checks what holds after each transaction, committed or rolled back.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        let Self { stored, unsent, connection, .. } = self;
        stored.check();
        if let Some(unsent) = unsent {
            unsent.check();
        }
        if let Some(connection) = connection {
            connection.check(*stored);
        }
    }
}

impl Stored {
    fn check(&self) {
        let Self { next_in, next_out, .. } = *self;
        assert!(next_in >= SeqNum::ONE, "NextNumIn is 0");
        assert!(next_out >= SeqNum::ONE, "NextNumOut is 0");
    }
}

impl Unsent {
    fn check(&self) {
        let Self { first, last } = *self;
        assert!(first >= SeqNum::ONE, "unsent messages begin at 0");
        assert!(first <= last, "unsent messages {first} to {last} are none");
    }
}

impl Connection {
    fn check(&self, stored: Stored) {
        let Self { logged_on, resetting, logon, .. } = self;
        let phase = logon.phase();
        let is_after_logon = matches!(phase, Phase::LoggedOn | Phase::LogoutSent);
        let is_before_logon = matches!(phase, Phase::AwaitingLogon | Phase::LogonSent);
        assert!(*logged_on || !is_after_logon, "{phase:?} without an exchange of Logons");
        assert!(!logged_on || !is_before_logon, "{phase:?} after the exchange of Logons");
        if let Some(resetting) = resetting {
            assert!(logged_on, "a reset in the session began before the logon");
            assert!(
                resetting.stage != ResetStage::LogonSent
                    || phase != Phase::LoggedOn
                    || logon.ours == Some(SeqNum::ONE),
                "our Logon with ResetSeqNumFlag=Y has number {:?}",
                logon.ours
            );
        }
        logon.check(stored);
    }
}

impl Logon {
    fn check(&self, stored: Stored) {
        let Self { missing, backlog, ours, .. } = *self;
        let phase = self.phase();
        let logout = self.phase.leave().and_then(|leave| leave.seq);
        let Backlog { replay, withheld_from, .. } = backlog;
        let next_out = stored.next_out;
        if let Some(missing) = missing {
            missing.check(stored);
        }
        if let Some(replay) = replay {
            replay.check(stored);
        }
        for (seq, what) in
            [(withheld_from, "a withheld message"), (ours, "our Logon"), (logout, "our Logout")]
        {
            if let Some(seq) = seq {
                assert!(seq >= SeqNum::ONE && seq < next_out, "{what} has number {seq} of {next_out}");
            }
        }
        assert!(phase != Phase::LoggedOn || ours.is_some(), "logged on without a Logon of ours");
        if withheld_from.is_some() {
            let may_withhold = matches!(phase, Phase::LogonSent | Phase::LoggedOn);
            assert!(may_withhold, "messages are withheld in {phase:?}");
            assert!(replay.is_none(), "messages are withheld that would follow the replay");
        }
    }
}

impl Missing {
    fn check(&self, stored: Stored) {
        let Self { begin, asked_from, end, asked_to, request, .. } = *self;
        let (next_in, next_out) = (stored.next_in, stored.next_out);
        if let Some(request) = request.waits_as() {
            assert!(request < next_out, "our ResendRequest has number {request} of {next_out}");
        }
        assert!(begin >= SeqNum::ONE && begin <= end, "the gap {begin} to {end} is none");
        assert!(asked_from <= begin, "{asked_from} was requested, and the gap begins at {begin}");
        assert!(begin <= next_in, "the gap begins at {begin}, and {next_in} is expected");
        if let Some(last) = asked_to {
            assert!(last <= end, "{last} was requested, and the gap ends with {end}");
        }
    }
}

impl Replay {
    fn check(&self, stored: Stored) {
        let Self { next, end, gap_from, live, began } = *self;
        let next_out = stored.next_out;
        assert!(next >= SeqNum::ONE, "the replay continues at 0");
        assert!(next <= end.next(), "the replay is at {next}, and it ends with {end}");
        assert!(end < live, "the replay ends with {end}, and new messages begin at {live}");
        assert!(live <= next_out, "new messages begin at {live}, and {next_out} is the next one");
        assert!(began <= next_out, "the replay began at {began}, and {next_out} is the next one");
        if let Some(from) = gap_from {
            assert!(from >= SeqNum::ONE && from < next, "a gap fill from {from} ends before {next}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::invariants::said;
    use crate::state::Resetting;
    use crate::state::missing::{Request, Resent};
    use crate::state::phase::{Leave, PhaseState};
    use crate::store::{ConnectionNumber, Generation};
    use crate::values::time::{Mono, Now, Utc};

    /// Returns a state in which everything is under way that may be at once: a gap, a replay, a
    /// TestRequest, unsent messages.
    fn state() -> State {
        let stored = Stored {
            next_in: SeqNum(5),
            next_out: SeqNum(20),
            generation: Generation(1),
            connection: ConnectionNumber(1),
            attempts: 0,
            wait: 0,
            waited: 0,
            began: Some(Utc(1)),
        };
        let now = Now { mono: Mono(1), utc: Utc(1) };
        let mut connection = Connection::begin(now, PhaseState::LoggedOn { held: None }, 30);
        connection.logged_on = true;
        connection.test_requests = 2;
        connection.test_request = Some(Mono(1));
        connection.logon.ours = Some(SeqNum(1));
        connection.logon.missing = Some(Missing {
            begin: SeqNum(4),
            asked_from: SeqNum(4),
            end: SeqNum(8),
            asked_to: Some(SeqNum(6)),
            asked: 1,
            asked_at: Mono(1),
            request: Request::waiting(SeqNum(19)),
            resent: Resent::Nothing,
        });
        connection.logon.backlog.replay = Some(Replay {
            next: SeqNum(7),
            end: SeqNum(10),
            gap_from: Some(SeqNum(6)),
            live: SeqNum(18),
            began: SeqNum(17),
        });
        let unsent = Some(Unsent { first: SeqNum(18), last: SeqNum(19) });
        State { unsent, connection: Some(connection), ..State::new(stored) }
    }

    fn leave() -> Leave {
        Leave { until: Mono(9), seq: Some(SeqNum(19)), is_ours: false, end: None }
    }

    fn connection(state: &mut State) -> &mut Connection {
        state.connection.as_mut().unwrap()
    }

    fn logon(state: &mut State) -> &mut Logon {
        &mut connection(state).logon
    }

    fn unsent(state: &mut State) -> &mut Unsent {
        state.unsent.as_mut().unwrap()
    }

    fn gap(state: &mut State) -> &mut Missing {
        logon(state).missing.as_mut().unwrap()
    }

    fn replay(state: &mut State) -> &mut Replay {
        logon(state).backlog.replay.as_mut().unwrap()
    }

    fn resets(state: &mut State) {
        let (stage, why) = (ResetStage::LogonSent, String::new());
        connection(state).resetting =
            Some(Arc::new(Resetting { stage, until: Mono(9), test_request: 1, why }));
    }

    /// Changes the state, and what `check` says then.
    type Damage = (fn(&mut State), &'static str);

    /// One for each condition.
    const DAMAGES: [Damage; 24] = [
        (|s| s.stored.next_in = SeqNum::ZERO, "NextNumIn is 0"),
        (|s| s.stored.next_out = SeqNum::ZERO, "NextNumOut is 0"),
        (|s| unsent(s).first = SeqNum::ZERO, "unsent messages begin at 0"),
        (|s| unsent(s).last = SeqNum(17), "unsent messages 18 to 17 are none"),
        (|s| connection(s).logged_on = false, "LoggedOn without an exchange of Logons"),
        (
            |s| logon(s).phase = PhaseState::LogonSent { until: Mono(9), asks_reset: false },
            "LogonSent after the exchange of Logons",
        ),
        (
            |s| {
                resets(s);
                connection(s).logged_on = false;
                logon(s).phase = PhaseState::LogoutAnswered(leave());
            },
            "a reset in the session began before the logon",
        ),
        (
            |s| {
                resets(s);
                logon(s).ours = Some(SeqNum(2));
            },
            "our Logon with ResetSeqNumFlag=Y has number Some(",
        ),
        (|s| logon(s).ours = Some(SeqNum(20)), "our Logon has number 20 of 20"),
        (
            |s| logon(s).phase = PhaseState::LogoutSent(Leave { seq: Some(SeqNum::ZERO), ..leave() }),
            "our Logout has number 0 of 20",
        ),
        (|s| logon(s).backlog.withheld_from = Some(SeqNum(20)), "a withheld message has number 20 of 20"),
        (|s| logon(s).ours = None, "logged on without a Logon of ours"),
        (
            |s| {
                logon(s).phase = PhaseState::LogoutSent(leave());
                logon(s).backlog.withheld_from = Some(SeqNum(19));
            },
            "messages are withheld in LogoutSent",
        ),
        (
            |s| logon(s).backlog.withheld_from = Some(SeqNum(19)),
            "messages are withheld that would follow the replay",
        ),
        (|s| gap(s).end = SeqNum(3), "the gap 4 to 3 is none"),
        (|s| gap(s).request = Request::waiting(SeqNum(20)), "our ResendRequest has number 20 of 20"),
        (|s| gap(s).begin = SeqNum(6), "the gap begins at 6, and 5 is expected"),
        (|s| gap(s).asked_to = Some(SeqNum(9)), "9 was requested, and the gap ends with 8"),
        (|s| replay(s).next = SeqNum(12), "the replay is at 12, and it ends with 10"),
        (|s| replay(s).live = SeqNum(10), "the replay ends with 10, and new messages begin at 10"),
        (|s| replay(s).live = SeqNum(21), "new messages begin at 21, and 20 is the next one"),
        (|s| replay(s).began = SeqNum(21), "the replay began at 21, and 20 is the next one"),
        (|s| replay(s).gap_from = Some(SeqNum(7)), "a gap fill from 7 ends before 7"),
        (
            |s| {
                let gap_from = None;
                *replay(s) = Replay { next: SeqNum::ZERO, gap_from, ..*replay(s) };
            },
            "the replay continues at 0",
        ),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        state().check();
        for (n, (damage, says)) in DAMAGES.iter().enumerate() {
            let mut state = state();
            damage(&mut state);
            let said = said(|| state.check());
            assert!(said.contains(says), "damage {n}: {said}, not {says}");
        }
    }

    #[test]
    fn the_lifetimes_begin_in_order() {
        let mut state = state();
        let now = Now { mono: Mono(1), utc: Utc(1) };
        let until = Mono(9);
        for phase in [PhaseState::AwaitingLogon { until }, PhaseState::LogonSent { until, asks_reset: false }]
        {
            state.connection = Some(Connection::begin(now, phase, 30));
            state.check();
            state.reset();
            state.check();
        }
        state.connection = None;
        state.check();
    }
}
