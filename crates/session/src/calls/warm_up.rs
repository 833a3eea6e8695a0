//! What can be done before the first message, so that it does not wait for it.

use fixbolt_codec::{BodySink, Key, MsgType, NewBody};

use crate::events::error::SendError;
use crate::perform::call::Call;
use crate::send::draft::Handle;

/// The order of a rehearsal: the fields that orders of all versions have.
const ORDER: [(u32, &[u8]); 6] =
    [(11, b"REHEARSAL"), (21, b"1"), (55, b"NONE"), (54, b"1"), (38, b"100"), (40, b"1")];

impl Call<'_> {
    /// Writes an order and takes it back. Returns whether it went through.
    pub(crate) fn warm_up(&mut self) -> bool {
        if self.session().standing.halted.is_some() {
            return false;
        }
        let (session, _) = self.begin();
        let timing = session.tools.encoding.timing.take();
        let hook = session.tools.before_send.take();
        let awaited = session.limits.awaited();
        let mut draft = Handle::new(self.now, self.core, self.own).draft(MsgType::new(b"D"));
        for (tag, value) in ORDER {
            draft.writer().bytes(Key::new(tag), value);
        }
        // Before the logon, too.
        if draft.refused == Some(SendError::NotLoggedOn) {
            draft.refused = None;
        }
        // One that waits would not be written.
        let is_written = !draft.waits && draft.send().is_ok();
        let session = self.session_mut();
        session.tools.encoding.timing = timing;
        session.tools.before_send = hook;
        session.limits.set_awaited(awaited);
        // The next message meets what refused this one, and says so.
        session.transaction.forget_error();
        self.rollback();
        is_written
    }
}
