//! What happens to sessions, as lines of the log.

use fixbolt_codec::{BodyWriter, FromField, Message, Redacted, Tag};
use fixbolt_session::{
    Application, CodecOperation, Delivery, Event, Failure, Halt, LogonDecision, Misbehavior,
    RefusedConnection, Resend, ResendAnswer, ResendRange, Resume, SessionEnd, SessionId, Turn,
};

use super::{Counted, LINES, Line, Severity};

const REF_TAG_ID: Tag = Tag::new(371);
const SESSION_REJECT_REASON: Tag = Tag::new(373);

/// An application whose sessions' events are lines of the log, and then shown to a function.
#[derive(Debug)]
pub struct Told<A, F>(pub A, pub F);

impl<A: Application, F: Fn(&Event<'_>)> Application for Told<A, F> {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.0.on_message(message, turn)
    }

    fn on_logon(&mut self, logon: Message<'_>, turn: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        self.0.on_logon(logon, turn)
    }

    fn on_sending_logon(&mut self, logon: &mut BodyWriter<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        self.0.on_sending_logon(logon, turn)
    }

    fn on_resend_request(
        &mut self,
        range: ResendRange,
        turn: &mut Turn<'_>,
    ) -> Result<ResendAnswer, Failure> {
        self.0.on_resend_request(range, turn)
    }

    fn on_resend(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Resend, Failure> {
        self.0.on_resend(message, turn)
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        self.0.on_resume(resume)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        if let Some(lines) = LINES.get()
            && let Some((severity, kind)) = kind(event)
        {
            let session = turn.session_id();
            lines.write(Counted::Session, (kind, session), || line(severity, kind, session, event));
        }
        (self.1)(event);
        self.0.on_event(event, turn)
    }

    fn on_refused(&mut self, refused: &RefusedConnection) {
        self.0.on_refused(refused);
    }
}

/// Returns how much an event matters and its name for programs; `None` if it is not told.
fn kind(event: &Event<'_>) -> Option<(Severity, &'static str)> {
    use Severity::{Error, Info, Warning};
    Some(match event {
        // A busy session would write a line for every message.
        Event::Sent { .. } | Event::Warned { .. } | Event::WarnedOutbound { .. } => return None,
        // The engine has written a line.
        Event::AttemptFailed(_) => return None,
        Event::LoggedOn => (Info, "logged_on"),
        Event::CodecTime(_) => (Info, "codec_time"),
        Event::Ended(end) => match end {
            SessionEnd::LoggedOutByPeer | SessionEnd::LoggedOutByUs | SessionEnd::ScheduleEnded { .. } => {
                (Info, "ended")
            }
            SessionEnd::Halted(_) => (Error, "halted"),
            SessionEnd::PeerExpectsMore { .. } => (Error, "ended"),
            _ => (Warning, "ended"),
        },
        Event::Garbled { .. } => (Warning, "garbled"),
        Event::Rejected { .. } => (Warning, "rejected"),
        Event::RejectReceived { .. } => (Warning, "reject_received"),
        Event::LogoutReceived { .. } => (Info, "logout_received"),
        Event::GapDetected { .. } => (Info, "gap_detected"),
        Event::ResetAbandoned { .. } => (Warning, "reset_abandoned"),
        Event::ResendRequested { .. } => (Info, "resend_requested"),
        Event::SequenceChanged { .. } => (Info, "sequence_changed"),
        Event::NewStore => (Info, "new_store"),
        Event::NumbersGivenUp { .. } => (Warning, "numbers_given_up"),
        Event::StoreWarning { .. } => (Warning, "store_warning"),
        Event::SlowConsumer { .. } => (Warning, "slow_consumer"),
        Event::SlowConsumerRecovered { .. } => (Info, "slow_consumer_recovered"),
        Event::DuplicateIgnored { .. } => (Info, "duplicate_ignored"),
        Event::NotTaken { .. } => (Warning, "not_taken"),
        Event::NotSent { .. } => (Warning, "not_sent"),
        Event::Unreached { .. } => (Warning, "unreached"),
        Event::Clock(_) => (Warning, "clock"),
        Event::Waits(_) => (Info, "waits"),
        Event::Resumed => (Info, "resumed"),
        Event::CallbackFailed { .. } => (Error, "callback_failed"),
        Event::Note(_) => (Warning, "note"),
        _ => (Info, "event"),
    })
}

fn line(severity: Severity, kind: &'static str, session: &SessionId, event: &Event<'_>) -> Line {
    let line = Line::new(severity, kind, event.to_string()).session(session.to_string());
    let text = |line: Line, name, text: &Redacted<'_>| {
        if text.0.is_empty() { line } else { line.told(name, text.to_string()) }
    };
    match event {
        Event::CodecTime(total) => {
            let nanos = u64::try_from(total.time.as_nanos()).unwrap_or(u64::MAX);
            let operation = match total.operation {
                CodecOperation::Encode => "encode",
                CodecOperation::Decode => "decode",
            };
            line.told("operation", operation).number("ns", nanos).number("messages", total.messages)
        }
        Event::Ended(end) => ended(line.told("by", end.by().to_string()), end),
        Event::Garbled { bytes, error } => {
            line.number("bytes", bytes.0.len() as u64).told("reason", error.to_string())
        }
        Event::Rejected { seq, reason, tag, text: answer, order } => {
            let line = line.number("seq", seq.0).number("reject_reason", u64::from(*reason));
            let line = text(line, "tag", tag).told("answer", *answer);
            match order {
                Some(order) => line.told("order", order.to_string()),
                None => line,
            }
        }
        Event::RejectReceived { message, seq, text: words } => {
            let line = match seq {
                Some(seq) => line.number("seq", seq.0),
                None => line,
            };
            let line = match message.get(SESSION_REJECT_REASON).and_then(|value| u64::from_field(value).ok())
            {
                Some(reason) => line.number("reject_reason", reason),
                None => line,
            };
            let line = text(line, "tag", &Redacted(message.get(REF_TAG_ID).unwrap_or_default()));
            text(line, "counterparty_text", words)
        }
        Event::LogoutReceived { text: words, .. } => text(line, "counterparty_text", words),
        Event::GapDetected { expected, received } => {
            line.number("expected", expected.0).number("received", received.0)
        }
        Event::ResendRequested { begin, end } | Event::NumbersGivenUp { begin, end } => {
            line.number("begin", begin.0).number("end", end.0)
        }
        Event::Unreached { begin, end, why } => {
            line.number("begin", begin.0).number("end", end.0).told("reason", why.to_string())
        }
        Event::SequenceChanged { next_in, next_out, reason } => {
            line.number("next_in", next_in.0).number("next_out", next_out.0).told("reason", *reason)
        }
        Event::SlowConsumer { queued, size } => {
            line.number("queued", *queued as u64).number("size", *size as u64)
        }
        Event::SlowConsumerRecovered { queued, after } => {
            let millis = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            line.number("queued", *queued as u64).number("slow_ms", millis)
        }
        Event::DuplicateIgnored { seq } | Event::NotTaken { seq, .. } => line.number("seq", seq.0),
        Event::NotSent { ticket, why } => {
            line.number("ticket", ticket.number()).told("reason", why.to_string())
        }
        Event::Waits(what) => line.told("reason", what.to_string()),
        Event::CallbackFailed { callback, why } => line.told("callback", *callback).told("reason", *why),
        Event::ResetAbandoned { why } => line.told("reason", *why),
        Event::StoreWarning { what } => line.told("reason", *what),
        _ => line,
    }
}

fn ended(line: Line, end: &SessionEnd) -> Line {
    match end {
        SessionEnd::PeerMisbehaved(what) => {
            let line = line.told("reason", what.to_string());
            match what {
                Misbehavior::MsgSeqNumTooLow { expected, received } => {
                    line.number("expected", expected.0).number("received", received.0)
                }
                Misbehavior::SendingTime { sent, now, limit } => {
                    let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
                    line.number("off_ms", sent.0.abs_diff(now.0) / 1_000_000).number("limit_ms", limit)
                }
                Misbehavior::HeartBtInt { received, accepted } => {
                    line.number("received", u64::from(*received)).told("accepted", accepted.to_string())
                }
                Misbehavior::Garbled { limit } | Misbehavior::SessionMessageRate { limit } => {
                    line.number("limit", u64::from(*limit))
                }
                Misbehavior::MessageRate { limit } => {
                    let millis = u64::try_from(limit.window().as_millis()).unwrap_or(u64::MAX);
                    line.number("limit", u64::from(limit.messages())).number("window_ms", millis)
                }
                Misbehavior::JournalGrowth { limit } => line.number("limit", *limit),
                _ => line,
            }
        }
        SessionEnd::Halted(halt) => {
            let line = line.told("reason", halt.to_string());
            match halt {
                Halt::PoisonMessage { seq, attempts } => {
                    line.number("seq", seq.0).number("attempts", u64::from(*attempts))
                }
                _ => line,
            }
        }
        SessionEnd::PeerExpectsMore { expected, next_out } => {
            line.told("reason", end.to_string()).number("expected", expected.0).number("next_out", next_out.0)
        }
        SessionEnd::ApplicationFailed { seq, .. } => {
            line.told("reason", end.to_string()).number("seq", seq.0)
        }
        end => line.told("reason", end.to_string()),
    }
}
