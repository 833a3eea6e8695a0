//! An observer of the wire: every message of a worker's sessions, as received and as sent.

use core::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_codec::{Frame, Framer, Message, Redacted};
use fixbolt_dictionary::Direction;

use crate::events::event::GarbledError;
use crate::state::session::Session;
use crate::values::codec_timing::CodecTiming;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;
use crate::values::time::Now;
use crate::wire::mask::{mask_garbled, mask_message};

/// Sees every message of a worker's sessions, for message logs, captures and counters. It is
/// independent of the store and changes nothing. It is called on the thread of the session's
/// worker, so the time it takes delays every session of the worker. Engines with several workers
/// call it from several threads. If it panics, the connection ends, but the worker continues.
pub trait WireObserver: Send + Sync {
    /// Called when a message was received, or is about to be sent. Outbound messages are shown once
    /// they are committed, in the order in which they are sent, including those sent again; if the
    /// connection is lost, the last ones may not have been sent. Bytes that are not a message are
    /// shown as received, with [`WireMessage::garbled`].
    fn on_wire(&self, message: &WireMessage<'_>);
}

/// A message on the wire.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct WireMessage<'w> {
    /// The session of the connection.
    pub session: &'w SessionId,
    /// The session's key.
    pub key: SessionKey,
    /// Who sent it.
    pub direction: Direction,
    /// The clocks when it was read or committed.
    pub now: Now,
    /// The whole message from `8=` to the last SOH. The values of
    /// [`SessionSettings::masked_tags`](crate::SessionSettings::masked_tags) are replaced by `*`,
    /// and CheckSum (10) is that of the masked message. They are replaced in garbled bytes too, as
    /// is whatever may be the rest of such a value.
    pub bytes: &'w [u8],
    /// Whether the bytes are not a message: framing failed, or the checksum is wrong.
    pub garbled: bool,
}

impl fmt::Debug for WireMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let garbled = if self.garbled { " garbled" } else { "" };
        write!(f, "{} {}{garbled} {}", self.session, self.direction, Redacted(self.bytes))
    }
}

/// What is known of bytes that are shown.
#[derive(Clone, Copy)]
enum Shown {
    Message { may_have_secrets: bool },
    Garbled(GarbledError),
}

/// Shows a message that the counterparty sent. Returns whether the observer did not panic.
pub(crate) fn observe_inbound(
    wire: Option<&dyn WireObserver>,
    session: &mut Session,
    now: Now,
    message: &Message<'_>,
) -> bool {
    let Some(observer) = wire else { return true };
    let may_have_secrets = session.fixed.secret_tags.may_be_in(message);
    show_inbound(observer, session, now, message.bytes(), Shown::Message { may_have_secrets })
}

/// Shows bytes of the counterparty that are not a message. Returns whether the observer did not
/// panic.
pub(crate) fn observe_garbled(
    wire: Option<&dyn WireObserver>,
    session: &mut Session,
    now: Now,
    bytes: &[u8],
    error: GarbledError,
) -> bool {
    wire.is_none_or(|observer| show_inbound(observer, session, now, bytes, Shown::Garbled(error)))
}

fn show_inbound(
    observer: &dyn WireObserver,
    session: &mut Session,
    now: Now,
    bytes: &[u8],
    shown: Shown,
) -> bool {
    let mut timing = session.tools.encoding.timing.take();
    let kept =
        CodecTiming::paused(&mut timing, || show(observer, session, Direction::Inbound, now, bytes, shown));
    session.tools.encoding.timing = timing;
    kept
}

/// Shows the messages that the open transaction has queued in this session. Returns whether the
/// observer did not panic.
pub(crate) fn observe_outbound(wire: Option<&dyn WireObserver>, session: &mut Session, now: Now) -> bool {
    let Some(observer) = wire else { return true };
    let mut at = session.transaction.snapshot.outbox.tail();
    let tail = session.outbox.cursor.tail();
    // Moved out, so that the message can be shown together with its session.
    let memory = core::mem::take(&mut session.outbox.memory);
    let mut framer = Framer::new(memory.len());
    let shown = Shown::Message { may_have_secrets: session.transaction.may_have_secrets };
    let mut kept = true;
    while at < tail {
        let Frame::Message(framed) = framer.next(&memory[at..tail]) else { break };
        kept &= show(observer, session, Direction::Outbound, now, framed.bytes(), shown);
        at += framed.bytes().len();
    }
    session.outbox.memory = memory;
    kept
}

fn show(
    observer: &dyn WireObserver,
    session: &mut Session,
    direction: Direction,
    now: Now,
    bytes: &[u8],
    shown: Shown,
) -> bool {
    let (secrets, to) = (session.fixed.secret_tags.of(&session.fixed.settings), &mut session.tools.masked);
    let masked = match shown {
        // Bytes that cannot be parsed may still contain secrets.
        Shown::Garbled(error) => mask_garbled(secrets, bytes, error == GarbledError::Continued, to),
        Shown::Message { may_have_secrets } => may_have_secrets && mask_message(secrets, bytes, to),
    };
    let bytes = if masked { &session.tools.masked } else { bytes };
    let (id, key) = (&session.fixed.settings.id, session.fixed.key);
    let garbled = matches!(shown, Shown::Garbled(_));
    let message = WireMessage { session: id, key, direction, now, bytes, garbled };
    catch_unwind(AssertUnwindSafe(|| observer.on_wire(&message))).is_ok()
}
