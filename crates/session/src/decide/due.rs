//! Decides what follows from the time, from the schedule, from an operator's wish, and from a
//! counterparty that costs too much. Nothing is changed here.

use crate::decide::reaction::Reaction;
use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::error::SendError;
use crate::settings::behavior::Farewell;
use crate::state::session::Session;
use crate::state::timers::Timer;
use crate::state::{Connection, Phase, ResetStage};
use crate::wire::oversized;

/// Text (58) of the Logout at the end of a window.
const SESSION_END: &str = "session end";

/// Decides what a timer does that is due.
pub(crate) fn timer(session: &Session, connection: &Connection, timer: Timer) -> Reaction<'static> {
    match timer {
        Timer::Phase => phase(connection),
        Timer::Reset => reset(session),
        Timer::Unread => Reaction::close(SessionEnd::PeerDidNotRead),
        Timer::Watermark => Reaction::TellWatermark,
        Timer::SlowConsumer => Reaction::close(SessionEnd::SlowConsumer),
        Timer::Oversized => {
            let why = Misbehavior::MessageTooLarge { limit: oversized::LARGEST };
            Reaction::end_with(why.to_string(), SessionEnd::PeerMisbehaved(why))
        }
        Timer::Silence => silence(session, connection),
        Timer::Heartbeat => Reaction::Heartbeat,
        // The schedule was looked at before; reading and sending go on afterwards.
        Timer::Schedule | Timer::Incomplete | Timer::Replay | Timer::Offer | Timer::Room => Reaction::Ignore,
    }
}

/// What the phase waits for has not come.
fn phase(connection: &Connection) -> Reaction<'static> {
    Reaction::close(match connection.logon.phase {
        // What is missing before the counterparty's Logon has not come.
        Phase::LoggedOn => return Reaction::Release,
        Phase::AwaitingLogon | Phase::LogonSent => SessionEnd::LogonTimedOut,
        Phase::LogoutSent => connection.leaving.as_deref().cloned().unwrap_or(SessionEnd::LogoutTimedOut),
        Phase::LogoutAnswered => SessionEnd::PeerDidNotClose,
        Phase::Disconnected => SessionEnd::PeerMisbehaved(Misbehavior::FirstMessageNotLogon),
    })
}

/// A reset in the session has taken too long.
fn reset(session: &Session) -> Reaction<'static> {
    if let Some(ResetStage::Testing(_)) = session.state.reset_stage() {
        return Reaction::AbandonReset("the counterparty did not answer the TestRequest in time");
    }
    Reaction::end_with("ResetSeqNumFlag=Y was not answered in time", SessionEnd::ResetUnanswered)
}

/// The counterparty is silent.
fn silence(session: &Session, connection: &Connection) -> Reaction<'static> {
    let end = SessionEnd::HeartbeatTimedOut;
    if connection.test_request.is_none() {
        Reaction::Test
    } else if !session.fixed.settings.check_heartbeats {
        Reaction::KeepSilent
    } else if session.fixed.behavior.unanswered_test_request == Farewell::Logout {
        Reaction::end_with("Timed out waiting for heartbeat", end)
    } else {
        Reaction::close(end)
    }
}

/// Decides about a connection whose window may have ended, or that may have begun in another window
/// of the session.
pub(crate) fn edge(session: &Session) -> Reaction<'static> {
    let phase = session.state.phase();
    let Some(calendar) = &session.standing.calendar else { return Reaction::Ignore };
    // A connection that waits for its Logon outside the windows is told then.
    let ends = calendar.has_changed() || !calendar.allows_connection() && phase != Phase::AwaitingLogon;
    if !ends || !session.state.is_open() {
        return Reaction::Ignore;
    }
    let next = if calendar.allows_connection() { None } else { calendar.next_connection() };
    let end = SessionEnd::ScheduleEnded { next };
    match phase {
        Phase::LoggedOn => Reaction::Leave(Box::new((SESSION_END.into(), end))),
        Phase::AwaitingLogon | Phase::LogonSent => Reaction::close(end),
        Phase::Disconnected | Phase::LogoutSent | Phase::LogoutAnswered => Reaction::Ignore,
    }
}

/// Decides what an operator's or an application's wish to log out does; `None` if a Logout is sent.
///
/// # Errors
/// Returns [`SendError::NotLoggedOn`] if there is no connection.
pub(crate) fn log_out(session: &Session) -> Result<Option<Reaction<'static>>, SendError> {
    Ok(Some(match session.state.phase() {
        Phase::LoggedOn => return Ok(None),
        Phase::Disconnected => return Err(SendError::NotLoggedOn),
        // Nothing has been agreed, or the end is under way.
        Phase::AwaitingLogon | Phase::LogonSent => Reaction::close(SessionEnd::LoggedOutByUs),
        // The counterparty should close, but whoever logs out now does not wait for that: only for
        // the rest of a replay, which goes before our answer.
        Phase::LogoutAnswered if session.state.replay().is_none() => {
            Reaction::close(SessionEnd::LoggedOutByPeer)
        }
        Phase::LogoutSent | Phase::LogoutAnswered => Reaction::Ignore,
    }))
}

/// Decides about a counterparty that costs too much.
pub(crate) fn flood(session: &Session, why: Misbehavior) -> Reaction<'static> {
    let end = SessionEnd::PeerMisbehaved(why);
    if session.state.is_open() && session.state.phase() == Phase::LoggedOn {
        Reaction::end_with(why.to_string(), end)
    } else {
        Reaction::close(end)
    }
}
