//! What can be done before the first message, so that it does not wait for it.

use fixbolt_codec::{BodySink, Key, MsgType, NewBody};

use crate::api::application::Application;
use crate::calls::sessions::Sessions;
use crate::events::error::SendError;
use crate::perform::call::Call;
use crate::send::draft::Handle;
use crate::state::Phase;
use crate::values::key::SessionKey;
use crate::values::time::{Mono, Now};

/// The most sessions that are warmed up in one call of [`Sessions::warm_up_due`].
const MOST: usize = 16;

/// The order of a rehearsal: the fields that orders of all versions have.
const ORDER: [(u32, &[u8]); 6] =
    [(11, b"REHEARSAL"), (21, b"1"), (55, b"NONE"), (54, b"1"), (38, b"100"), (40, b"1")];

impl Sessions {
    /// Returns the memory of the session's outbox, so that the caller can have the system provide
    /// it before the first message: empty unless nothing is queued.
    pub fn unused_outbox(&mut self, key: SessionKey) -> &mut [u8] {
        match self.core.sessions.get_mut(key) {
            Some(session) if session.outbox.is_empty() => &mut session.outbox.memory,
            _ => &mut [],
        }
    }

    /// Writes an order as the session's application would, into the outbox and the store, and takes
    /// it back: the next message finds code, memory and the store's next page in the caches.
    ///
    /// It leaves no trace: no sequence number is used, no record is committed, nothing is queued,
    /// and neither application nor observer sees it. What refuses the order, such as validation or
    /// a full store, ends the rehearsal and nothing else. Returns whether it went through.
    pub fn warm_up(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> bool {
        self.call(now, key, app).is_some_and(|mut call| call.warm_up())
    }

    /// Warms up the sessions that are logged on, if that is due: at most 16 of them, and the others
    /// the next times. Returns when to call this again; `None` if it is off.
    pub fn warm_up_due(&mut self, now: Now, app: &mut dyn Application) -> Option<Mono> {
        let every = self.warm_up.every?;
        let due = *self.warm_up.due.get_or_insert(now.mono + every);
        if now.mono < due {
            return Some(due);
        }
        let (places, first) = (self.core.sessions.len(), self.warm_up.turn);
        let mut warmed = 0;
        for n in 0..places {
            let index = (first + n) % places;
            let logged_on = self.core.sessions.at(index).filter(|s| s.state.phase() == Phase::LoggedOn);
            let Some(key) = logged_on.map(|session| session.fixed.key) else { continue };
            if warmed == MOST {
                self.warm_up.turn = index;
                break;
            }
            warmed += 1;
            self.warm_up(now, key, app);
        }
        let next = now.mono + every;
        self.warm_up.due = Some(next);
        Some(next)
    }
}

impl Call<'_> {
    /// Writes an order and takes it back. Returns whether it went through.
    pub(crate) fn warm_up(&mut self) -> bool {
        if self.session().standing.halted.is_some() {
            return false;
        }
        self.begin();
        let timing = self.session_mut().tools.encoding.timing.take();
        let mut draft = Handle::new(self.now, self.core, self.own).draft(MsgType::new(b"D"));
        for (tag, value) in ORDER {
            draft.writer().bytes(Key::new(tag), value);
        }
        // Before the logon, too.
        if draft.refused == Some(SendError::NotLoggedOn) {
            draft.refused = None;
        }
        let is_written = draft.send().is_ok();
        let session = self.session_mut();
        session.tools.encoding.timing = timing;
        // The next message meets what refused this one, and says so.
        session.turn.refused = None;
        self.rollback();
        is_written
    }
}
