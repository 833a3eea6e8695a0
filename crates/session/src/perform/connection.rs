//! How a transport connection begins, goes on and ends.

use std::sync::Arc;

use fixbolt_codec::{SeqNum, Version};

use crate::decide::logon;
use crate::events::end::SessionEnd;
use crate::events::event::{Event, Unreached};
use crate::perform::call::Call;
use crate::perform::read::Reader;
use crate::send::seal::SendKind;
use crate::state::Phase;
use crate::state::phase::PhaseState;
use crate::wire::admin_message::AdminMessage;

impl Call<'_> {
    /// Begins a transport connection. An initiator logs on.
    pub(crate) fn connect(&mut self) {
        let now = self.now;
        self.session_mut().connect(now);
        self.tell_horizon();
        if !self.session().is_acceptor() {
            self.log_on();
        }
    }

    /// Does what is due, and goes on with the bytes that were not consumed. Returns the number of
    /// bytes consumed.
    pub(crate) fn wake(&mut self, buffered: &[u8], reader: &mut Reader) -> usize {
        let now = self.now.mono;
        let session = self.session();
        let is_due = session.next_look().is_some_and(|at| at <= now);
        let has_come = !buffered.is_empty() || !session.intake.reorder.is_empty();
        // What has come is answered before our Logout.
        let comes_first = is_due && has_come && session.state.is_open();
        if is_due && !comes_first {
            self.follow_schedule();
        }
        let session = self.session_mut();
        if session.state.connection.is_none() {
            self.retry_store();
            return buffered.len();
        }
        if !session.state.is_open() {
            return buffered.len();
        }
        session.limits.note_asked(now);
        if comes_first {
            self.edge_may_have_passed();
        }
        self.fire_timers();
        let consumed = self.receive_late(buffered, reader);
        if comes_first {
            self.follow_schedule();
        }
        consumed
    }

    /// Ends the transport connection. Returns how it ended, if there was one.
    // R-LOGOUT-11
    pub(crate) fn disconnected(&mut self) -> Option<SessionEnd> {
        let (connection, lost) = self.session_mut().disconnect()?;
        self.tell_horizon();
        self.tell_lost(lost.map(|lost| (lost, Unreached::Reset)));
        if let Some(resetting) = &connection.resetting {
            self.reset_is_cut_off(resetting);
        }
        // A counterparty that closes instead of answering our Logout does not hide why it was sent.
        let left = || connection.logon.phase.leave().and_then(|leave| leave.end.clone());
        let end = connection.end.clone().or_else(left).map(Arc::unwrap_or_clone);
        let end = end.unwrap_or(match connection.logon.phase() {
            Phase::LogoutAnswered => SessionEnd::LoggedOutByPeer,
            Phase::LogonSent => SessionEnd::LogonUnanswered,
            _ => SessionEnd::ConnectionLost,
        });
        self.reset_after(&end, connection.logged_on);
        if let Some(timing) = self.session_mut().tools.encoding.timing.take() {
            for total in timing.totals() {
                self.notify(&Event::CodecTime(total));
            }
        }
        self.notify(&Event::Ended(&end));
        self.follow_schedule();
        self.close_halted_store();
        Some(end)
    }

    /// Resets the sequence numbers because of how a connection has ended, if the session does that.
    /// A stranger whose Logon was refused resets nothing. A failure here halts the session.
    // R-RESET-11
    fn reset_after(&mut self, end: &SessionEnd, logged_on: bool) {
        let session = self.session();
        let settings = &session.fixed.settings;
        let is_error = matches!(end, SessionEnd::PeerMisbehaved(_));
        let why = if settings.reset.reset_on_disconnect && (logged_on || !session.is_acceptor()) {
            "ResetOnDisconnect"
        } else if settings.reset.reset_on_error && is_error && logged_on {
            "ResetOnError"
        } else {
            return;
        };
        if session.standing.halted.is_some() {
            return;
        }
        let before = session.state.added;
        if self.run(|call| call.reset(why)) {
            self.notify_numbers(why);
        }
        // Too much of it is noticed at the next Logon.
        let now = self.now;
        self.session_mut().count_growth(now, before);
    }

    /// Logs on as an initiator, with a reset of the sequence numbers if the session resets at each
    /// logon.
    // R-LOGON-3
    fn log_on(&mut self) {
        let reset = self.session().fixed.settings.reset.reset_on_logon;
        let heart_bt_int = self.session().fixed.settings.timing.heart_bt_int;
        let next_in = if reset { SeqNum::ONE } else { self.session().state.stored.next_in };
        let mut logon = AdminMessage::Logon(logon::ours(self.session(), heart_bt_int, reset, next_in));
        if !self.complete_logon(&mut logon, reset) {
            return;
        }
        self.run(|call| {
            if reset {
                call.reset("ResetOnLogon")?;
                // R-RESET-5
                // FIX.4.0 has no ResetSeqNumFlag: the counterparty resets because it was agreed.
                let asks = call.session().fixed.settings.id.version() >= Version::Fix41;
                if let Some(connection) = call.connection_mut()
                    && let PhaseState::LogonSent { asks_reset, .. } = &mut connection.logon.phase
                {
                    *asks_reset = asks;
                }
            }
            call.send(SendKind::New { cause: None }, None, &logon)?;
            if let Some(connection) = call.connection_mut() {
                // What was written before our Logon has a lower number: the counterparty asks for
                // it.
                connection.logon.backlog.withheld_from = None;
            }
            Ok(())
        });
    }
}
