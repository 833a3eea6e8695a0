//! What drives a worker's sessions: connections, bytes, clock and store events come in; bytes and
//! requests come out.

use core::time::Duration;

use crate::api::application::Application;
use crate::calls::sessions::Sessions;
use crate::events::end::SessionEnd;
use crate::events::event::Event;
use crate::state::outbox::Outbox;
use crate::state::reading::BlockedBy;
use crate::values::key::SessionKey;
use crate::values::time::{Mono, Now};

impl Sessions {
    /// Begins a transport connection of the session. An initiator logs on; an acceptor waits for
    /// the Logon.
    pub fn connected(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        let warms_up = self.warm_up.is_on();
        let Some(mut call) = self.call(now, key, app) else { return };
        call.follow_schedule();
        if call.session().can_connect() {
            if warms_up {
                call.warm_up();
            }
            call.connect();
        }
        call.debug_check();
    }

    /// Processes bytes of the counterparty, starting at the first that was not consumed before.
    /// Returns the number of bytes consumed. Unconsumed bytes are passed in again on the next call,
    /// together with any that have arrived since.
    ///
    /// At most 64 messages are processed, and no further one after 64 KiB: if
    /// [`has_more`](Self::has_more) then returns `true`, call this again after the other sessions
    /// have had their turn.
    pub fn receive(&mut self, now: Now, key: SessionKey, bytes: &[u8], app: &mut dyn Application) -> usize {
        let Some((mut call, reader)) = self.call_to_read(now, key, app) else { return bytes.len() };
        let consumed = call.receive(bytes, reader);
        call.debug_check();
        consumed
    }

    /// Does what is due: [`Sessions::next_deadline`] has passed, the application can take a message
    /// that it put off, or there is room for what waited. `buffered` holds the bytes that have not
    /// been consumed. Returns the number of bytes consumed now.
    ///
    /// No connection is needed: without one, `buffered` is empty.
    pub fn wake(&mut self, now: Now, key: SessionKey, buffered: &[u8], app: &mut dyn Application) -> usize {
        let Some((mut call, reader)) = self.call_to_read(now, key, app) else { return buffered.len() };
        let consumed = call.wake(buffered, reader);
        call.debug_check();
        consumed
    }

    /// Adds time that another thread took to write bodies for messages of the session's connection,
    /// if the session measures that ([`SessionSettings::codec_timing`](crate::SessionSettings)).
    pub fn add_encoding_time(&mut self, key: SessionKey, time: Duration) {
        let session = self.core.sessions.get_mut(key);
        if let Some(timing) = session.and_then(|session| session.tools.encoding.timing.as_mut()) {
            timing.add_encoding(time);
        }
    }

    /// Returns when to call [`Sessions::wake`]; `None` if only bytes change anything.
    #[must_use]
    pub fn next_deadline(&self, key: SessionKey) -> Option<Mono> {
        self.session(key)?.next_deadline()
    }

    /// Returns whether the session has more to write than fits now: call [`Sessions::wake`] again
    /// once the socket has accepted some of it.
    #[must_use]
    pub fn is_replaying(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| session.state.is_open() && session.state.replay().is_some())
    }

    /// Returns whether the session can continue once its socket has accepted more bytes, or has
    /// something to tell its application about that: call [`Sessions::wake`] then.
    #[must_use]
    pub fn awaits_socket(&self, key: SessionKey) -> bool {
        self.is_replaying(key)
            || self.session(key).is_some_and(|session| {
                session.intake.reading.blocked.is_some_and(|blocked| blocked.by == BlockedBy::Outbox)
                    || session.outbox.has_passed_watermark()
                    || session.limits.outbound_places.as_ref().is_some_and(|places| places.is_awaited())
            })
    }

    /// Returns whether the session has stopped reading: the application returned `NotNow`, an
    /// outbox is full, or messages that we requested come too fast.
    #[must_use]
    pub fn is_blocked(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| session.intake.reading.blocked.is_some())
    }

    /// Returns whether the last call of [`Sessions::receive`] or [`Sessions::wake`] stopped because
    /// it had processed enough, although there may be more to process.
    #[must_use]
    pub fn has_more(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| {
            let reading = &session.intake.reading;
            session.state.is_open() && reading.blocked.is_none() && reading.budget.is_spent()
        })
    }

    /// Returns the bytes for the socket that the store has released.
    #[must_use]
    pub fn writable(&self, key: SessionKey) -> &[u8] {
        self.session(key).map_or(&[], |session| session.outbox.writable())
    }

    /// Returns whether bytes are queued, released or not.
    #[must_use]
    pub fn has_queued(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| !session.outbox.is_empty())
    }

    /// Returns a session that may have something to write since it was last returned: it or another
    /// session wrote to it, the store released something, or [`Sessions::note_output`] was called
    /// for it. Call this until it returns `None`, after each round of other calls.
    pub fn next_output(&mut self) -> Option<SessionKey> {
        let session = self.core.sessions.at_mut(self.core.work.next_output()?)?;
        session.standing.has_output = false;
        Some(session.fixed.key)
    }

    /// Returns the number of sessions that [`Sessions::next_output`] would return now. A loop that
    /// writes this many and then waits for its sockets is finite, however much the sessions write
    /// meanwhile.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.core.work.outputs()
    }

    /// Has [`Sessions::next_output`] return the session again, because its socket can accept bytes
    /// or is to be closed.
    pub fn note_output(&mut self, key: SessionKey) {
        if let Some(session) = self.core.sessions.get_mut(key) {
            self.core.work.note_output(key.index(), session);
        }
    }

    /// Returns a session that waited for another one's outbox and can continue: call
    /// [`Sessions::wake`] for it. Call this until it returns `None`.
    pub fn next_ready(&mut self) -> Option<SessionKey> {
        let place = self.core.work.next_ready()?;
        Some(self.core.sessions.at(place)?.fixed.key)
    }

    /// Returns whether the session limits how many messages it sends. Their windows begin at the
    /// time that [`Sessions::written`] and [`Sessions::taken`] are given: one that was read before
    /// the bytes were written would begin them too early.
    #[must_use]
    pub fn times_writes(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| session.limits.outbound_places.is_some())
    }

    /// Records that the socket accepted `bytes` bytes of [`Sessions::writable`], and no more for
    /// now; 0 if it accepts none.
    pub fn written(&mut self, now: Now, key: SessionKey, bytes: usize) {
        self.accepted(now, key, bytes, Outbox::written);
    }

    /// Records that the socket accepted all `bytes` bytes that it was offered, a part of
    /// [`Sessions::writable`], and may accept more. The counterparty is not blamed for what waits
    /// until the socket refuses some of it.
    pub fn taken(&mut self, now: Now, key: SessionKey, bytes: usize) {
        self.accepted(now, key, bytes, Outbox::taken);
    }

    fn accepted(&mut self, now: Now, key: SessionKey, bytes: usize, record: fn(&mut Outbox, Mono, usize)) {
        let Some(session) = self.core.sessions.get_mut(key) else { return };
        record(&mut session.outbox, now.mono, bytes);
        if bytes > 0 {
            if let Some(places) = &mut session.limits.outbound_places {
                places.accept(session.state.counted, session.outbox.position(), now.mono);
            }
            session.wrote(now.mono);
            self.core.work.room_made();
        }
    }

    /// Called when the store's durable position may have advanced, or the store has failed:
    /// releases what waited, and halts sessions.
    pub fn store_advanced(&mut self, now: Now, app: &mut dyn Application) {
        self.core.release();
        while let Some((key, error)) = self.core.store.take_failure() {
            if let Some(mut call) = self.call(now, key, app) {
                call.store_failed(error);
            }
        }
        while let Some((key, what)) = self.core.store.take_warning() {
            self.notify(now, key, &Event::StoreWarning { what: &what }, app);
        }
    }

    /// Returns whether the transport is to be closed once nothing is left to write.
    #[must_use]
    pub fn wants_close(&self, key: SessionKey) -> bool {
        self.session(key)
            .and_then(|session| session.state.connection.as_ref())
            .is_some_and(|connection| connection.end.is_some())
    }

    /// Ends the transport connection of the session. Returns how it ended, if there was one.
    pub fn disconnected(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
    ) -> Option<SessionEnd> {
        let mut call = self.call(now, key, app)?;
        let end = call.disconnected();
        call.debug_check();
        end
    }
}
