//! Requests of the counterparty for messages again: how each is answered, by the settings first and
//! then by the application, and the beginning of the replay.

use std::borrow::Cow;

use fixbolt_codec::SeqNum;

use crate::api::application::{ResendAnswer, ResendRange};
use crate::decide::reaction::{Agreed, Answer, Then, Told};
use crate::decide::requests;
use crate::events::event::Unreached;
use crate::perform::call::Call;
use crate::state::Phase;
use crate::state::backlog::Replay;
use crate::wire::admin_message::AdminMessage;
use crate::wire::header::Header;

impl Call<'_> {
    /// Returns an answer with what is decided about the request in it, if there is one: the replay,
    /// a gap fill of it, or a Reject. Returns whether the connection goes on: the application may
    /// have ended it.
    pub(crate) fn decide_request<'m>(&mut self, header: &Header<'m>, answer: &mut Answer<'m>) -> bool {
        let session = self.session();
        let (range, gap_fills) = match &mut answer.then {
            Then::Replay { begin, end, gap_fills } => {
                let Some(Replay { next, end, .. }) = session.replay_of(*begin, *end) else {
                    return true;
                };
                (ResendRange { begin: next, end, at_logon: false }, gap_fills)
            }
            Then::LoggedOn(Agreed { replay_from: Some(begin), gap_fills, .. }) => {
                // An acceptor's own Logon is written with this answer.
                let connection = session.state.connection.as_ref();
                let ours = connection.and_then(|connection| connection.logon.ours);
                let end = ours.unwrap_or(session.state.stored.next_out);
                (ResendRange { begin: *begin, end, at_logon: true }, gap_fills)
            }
            _ => return true,
        };
        let ResendRange { begin, end, at_logon } = range;
        let over_limit =
            if at_logon { None } else { requests::over_limit(session, begin..=end, self.now.mono) };
        let reject = match over_limit {
            Some(reject) => reject,
            // R-RESEND-14
            None => match self.ask("on_resend_request", |app, turn| app.on_resend_request(range, turn)) {
                None => return false,
                Some(ResendAnswer::AsUsual) => return true,
                Some(ResendAnswer::Refuse { text }) if !at_logon => requests::refusal(Cow::Owned(text)),
                Some(ResendAnswer::GapFill | ResendAnswer::Refuse { .. }) => {
                    *gap_fills = true;
                    return true;
                }
            },
        };
        // Nothing is wrong with the message, whose number is used. It is rejected in place of an
        // answer, so that a setting for bad messages does not end the connection.
        let seq = header.seq.unwrap_or(SeqNum::ZERO);
        answer.reply = Some(AdminMessage::Reject { seq, msg_type: header.msg_type, reject });
        (answer.then, answer.told) = (Then::Pardon, Told::Nothing);
        true
    }

    /// Begins the replay that the counterparty requested, or has a gap fill sent in its place. A
    /// second request during a replay restarts the range.
    pub(crate) fn begin_replay(&mut self, begin: SeqNum, end: SeqNum, gap_fills: bool) {
        let session = self.session_mut();
        if session.state.phase() == Phase::LoggedOn {
            session.state.release();
        }
        let Some(mut replay) = session.replay_of(begin, end) else { return };
        if gap_fills {
            (replay.next, replay.gap_from) = (replay.end.next(), Some(replay.next));
        }
        session.note_replay(Some(replay));
    }

    /// Notifies the application of messages that are gap-filled because it wants that.
    pub(crate) fn tell_gap_filled(&mut self) {
        if let Some(Replay { next, end, gap_from: Some(from), .. }) = self.session().state.replay()
            && next > end
        {
            self.tell_unreached(from, end, Unreached::ByApplication);
        }
    }
}
