//! Decides what follows from the time, from the schedule, from an operator's wish, and from a
//! counterparty that costs too much. Nothing is changed here.

use crate::decide::reaction::SessionReaction;
use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::error::SendError;
use crate::settings::behavior::Farewell;
use crate::state::phase::PhaseState;
use crate::state::session::Session;
use crate::state::timers::Timer;
use crate::state::{Connection, Phase, ResetStage};
use crate::wire::oversized;

/// Text (58) of the Logout at the end of a window, and of what rejects an order that comes then.
pub(crate) const SESSION_END: &str = "session end";

/// Decides what a timer does that is due, if it does anything.
pub(crate) fn timer(
    session: &Session,
    connection: &Connection,
    timer: Timer,
) -> Option<SessionReaction<'static>> {
    Some(match timer {
        Timer::Phase => phase(connection),
        Timer::Cut => SessionReaction::CutReplay,
        Timer::Reset => reset(session),
        // R-LIMIT-4
        Timer::Unread => SessionReaction::close(SessionEnd::PeerDidNotRead),
        Timer::Watermark => SessionReaction::TellWatermark,
        Timer::SlowConsumer => SessionReaction::close(SessionEnd::SlowConsumer),
        Timer::Oversized => {
            let why = Misbehavior::MessageTooLarge { limit: oversized::LARGEST };
            SessionReaction::end_with(why.to_string(), SessionEnd::PeerMisbehaved(why))
        }
        Timer::Silence => silence(session, connection),
        Timer::Heartbeat => SessionReaction::Heartbeat,
        // The schedule was looked at before; reading and sending go on afterwards.
        Timer::Schedule | Timer::Incomplete | Timer::Replay | Timer::Waiting | Timer::Offer | Timer::Room => {
            return None;
        }
    })
}

/// What the phase waits for has not come.
fn phase(connection: &Connection) -> SessionReaction<'static> {
    SessionReaction::close(match &connection.logon.phase {
        // What is missing before the counterparty's Logon has not come.
        PhaseState::LoggedOn { .. } => return SessionReaction::Release,
        // R-LOGON-2
        PhaseState::AwaitingLogon { .. } | PhaseState::LogonSent { .. } => SessionEnd::LogonTimedOut,
        // R-LOGOUT-1
        PhaseState::LogoutSent(leave) => leave.end_or(SessionEnd::LogoutTimedOut),
        PhaseState::LogoutAnswered(_) => SessionEnd::PeerDidNotClose,
    })
}

/// A reset in the session has taken too long.
fn reset(session: &Session) -> SessionReaction<'static> {
    if let Some(ResetStage::Testing(_)) = session.state.reset_stage() {
        // R-RESET-8
        return SessionReaction::AbandonReset("the counterparty did not answer the TestRequest in time");
    }
    // R-RESET-9
    SessionReaction::end_with("ResetSeqNumFlag=Y was not answered in time", SessionEnd::ResetUnanswered)
}

/// The counterparty is silent.
fn silence(session: &Session, connection: &Connection) -> SessionReaction<'static> {
    let end = SessionEnd::HeartbeatTimedOut;
    if connection.test_request.is_none() {
        SessionReaction::Test
    } else if session.fixed.settings.timing.disable_heart_beat_check {
        SessionReaction::KeepSilent
    } else if session.fixed.behavior.unanswered_test_request == Farewell::Logout {
        // R-HEARTBEAT-7
        SessionReaction::end_with("Timed out waiting for heartbeat", end)
    } else {
        SessionReaction::close(end)
    }
}

/// Decides about a connection whose window may have ended, or that may have begun in another window
/// of the session.
pub(crate) fn edge(session: &Session) -> Option<SessionReaction<'static>> {
    let phase = session.state.phase();
    let calendar = session.standing.calendar.as_ref()?;
    // A connection that waits for its Logon outside the windows is told then.
    let ends = calendar.is_over() && (calendar.has_changed() || phase != Phase::AwaitingLogon);
    if !ends || !session.state.is_open() {
        return None;
    }
    let next = if calendar.allows_connection() { None } else { calendar.next_connection() };
    let end = SessionEnd::ScheduleEnded { next };
    match phase {
        // R-SCHEDULE-1
        Phase::LoggedOn => Some(SessionReaction::Leave(Box::new((SESSION_END.into(), end)))),
        Phase::AwaitingLogon | Phase::LogonSent => Some(SessionReaction::close(end)),
        Phase::LogoutAnswered => Some(SessionReaction::Hurry),
        Phase::Disconnected | Phase::LogoutSent => None,
    }
}

/// What an operator's or an application's wish to log out does.
#[derive(Debug)]
pub(crate) enum LogOutByUs {
    /// A Logout is sent.
    Send,
    /// The connection ends without another one.
    End(SessionReaction<'static>),
    /// Nothing: the end is under way.
    Nothing,
}

/// Decides what an operator's or an application's wish to log out does.
///
/// # Errors
/// Returns [`SendError::NotLoggedOn`] if there is no connection.
pub(crate) fn log_out(session: &Session) -> Result<LogOutByUs, SendError> {
    match session.state.phase() {
        Phase::LoggedOn => Ok(LogOutByUs::Send),
        Phase::Disconnected => Err(SendError::NotLoggedOn),
        // Nothing has been agreed.
        Phase::AwaitingLogon | Phase::LogonSent => {
            Ok(LogOutByUs::End(SessionReaction::close(SessionEnd::LoggedOutByUs)))
        }
        // The counterparty should close, but whoever logs out now does not wait for that: only for
        // the rest of a replay, which goes before our answer.
        Phase::LogoutAnswered if session.state.replay().is_none() => {
            Ok(LogOutByUs::End(SessionReaction::close(SessionEnd::LoggedOutByPeer)))
        }
        Phase::LogoutAnswered => Ok(LogOutByUs::End(SessionReaction::Hurry)),
        Phase::LogoutSent => Ok(LogOutByUs::Nothing),
    }
}
