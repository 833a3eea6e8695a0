//! Decides whether a request of the counterparty for messages again is refused. Nothing is changed
//! here.

use core::ops::RangeInclusive;
use std::borrow::Cow;

use fixbolt_codec::SeqNum;
use fixbolt_dictionary::SessionRejectCode;

use crate::settings::resend::ResendOverLimit;
use crate::state::session::Session;
use crate::values::fix::tag;
use crate::values::time::Mono;
use crate::wire::admin_message::Reject;

/// Returns the Reject of a ResendRequest for more than the settings allow, if such a request is
/// refused.
pub(crate) fn over_limit(
    session: &Session,
    range: RangeInclusive<SeqNum>,
    now: Mono,
) -> Option<Reject<'static>> {
    let settings = &session.fixed.settings;
    if settings.resend.resend_over_limit != ResendOverLimit::Refuse {
        return None;
    }
    let (begin, end) = range.into_inner();
    let requested = end.0 - begin.0 + 1;
    // R-RESEND-11
    if let Some(most) = settings.resend.max_resend_range.filter(|most| requested > most.get()) {
        return Some(refusal(format!(
            "{begin} to {end} are {requested} messages, and at most {most} are sent again at once"
        )));
    }
    let (sent, times, time) = session.sent_before(begin..=end, now)?;
    let (begin, end) = sent.into_inner();
    // So that the counterparty, which waits for so long, is not too early.
    let seconds = time.as_secs() + 1;
    Some(refusal(format!(
        "{begin} to {end} were sent again {times} times, and are not again for {seconds} s"
    )))
}

/// Returns the Reject of a request, whichever of its fields asks for too much.
pub(crate) fn refusal<'m>(text: impl Into<Cow<'m, str>>) -> Reject<'m> {
    Reject { text: text.into(), ..Reject::naming(SessionRejectCode::VALUE_IS_INCORRECT, tag::BEGIN_SEQ_NO) }
}
