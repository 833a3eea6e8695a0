//! What drives a worker's sessions: connections, bytes, clock and store events come in; bytes and
//! what each session asks for come out.

use core::time::Duration;

use crate::api::application::Application;
use crate::calls::sessions::Sessions;
use crate::events::end::SessionEnd;
use crate::events::event::Event;
use crate::state::Phase;
use crate::values::key::SessionKey;
use crate::values::next::{Next, Socket, Writable};
use crate::values::time::{Mono, Now};

/// The most sessions that are warmed up in one call of [`Sessions::warm_up_due`].
const MOST_WARMED_UP: usize = 16;

impl Sessions {
    /// Returns a session that may ask for something new since it was last returned here, and what
    /// it asks for: each session that a call was about, and those that it wrote to, that the store
    /// released bytes of, that an event ended, or that can continue. Each is returned once until
    /// something happens to it again, in the order in which it happened.
    ///
    /// Call this until it returns `None`, after each call or after each round of calls.
    pub fn poll(&mut self) -> Option<(SessionKey, Next)> {
        let session = self.core.sessions.at_mut(self.core.work.next_changed()?)?;
        Some((session.fixed.key, session.tell_next()))
    }

    /// Begins a transport connection of the session. An initiator logs on; an acceptor waits for
    /// the Logon. Returns whether it has begun: a session that is not open, is halted or disabled,
    /// or whose window has ended since [`can_connect`](Self::can_connect) was asked takes none, and
    /// the transport is to be closed.
    pub fn connected(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> bool {
        let warms_up = self.warm_up.is_on();
        let Some(mut call) = self.call(now, key, app) else { return false };
        call.follow_schedule();
        let begins = call.session().can_connect();
        if begins {
            if warms_up {
                call.warm_up();
            }
            call.connect();
        }
        call.debug_check();
        begins
    }

    /// Processes bytes of the counterparty, starting at the first that was not consumed before.
    /// Returns the number of bytes consumed. Unconsumed bytes are passed in again on the next call,
    /// together with any that have arrived since.
    ///
    /// At most 64 messages are processed, and no further one after 64 KiB. If there may be more to
    /// process, the session reads [`Again`](crate::Read::Again).
    pub fn receive(&mut self, now: Now, key: SessionKey, bytes: &[u8], app: &mut dyn Application) -> usize {
        let Some((mut call, reader)) = self.call_to_read(now, key, app) else { return bytes.len() };
        let consumed = call.receive_on_time(bytes, reader);
        call.debug_check();
        consumed
    }

    /// Does what is due: the session's [`deadline`](Next::deadline) has passed, the application can
    /// take a message that it put off, or there is room for what waited. `buffered` holds the bytes
    /// that have not been consumed. Returns the number of bytes consumed now.
    ///
    /// No connection is needed: without one, `buffered` is empty.
    pub fn wake(&mut self, now: Now, key: SessionKey, buffered: &[u8], app: &mut dyn Application) -> usize {
        let Some((mut call, reader)) = self.call_to_read(now, key, app) else { return buffered.len() };
        let consumed = call.wake(buffered, reader);
        call.debug_check();
        consumed
    }

    /// Adds time that another thread took to write bodies for messages of the session's connection,
    /// if the session measures that ([`TimingSettings::codec_timing`](crate::TimingSettings)).
    pub fn add_encoding_time(&mut self, key: SessionKey, time: Duration) {
        let session = self.core.sessions.get_mut(key);
        if let Some(timing) = session.and_then(|session| session.tools.encoding.timing.as_mut()) {
            timing.add_encoding(time);
        }
    }

    /// Returns the bytes for the socket. They stay until [`Sessions::wrote`] is called.
    #[must_use]
    pub fn writable(&self, key: SessionKey) -> Writable<'_> {
        self.session(key).map_or(Writable::default(), |session| Writable {
            bytes: session.outbox.writable(),
            is_timed: session.limits.outbound_permits.is_some(),
        })
    }

    /// Records that the socket accepted `bytes` bytes of [`Sessions::writable`], 0 if it accepts
    /// none, and whether it is full now. `now` is read after the bytes were written, if that
    /// [counts](Writable::is_timed).
    pub fn wrote(&mut self, now: Now, key: SessionKey, bytes: usize, socket: Socket) {
        let core = &mut self.core;
        let Some(session) = core.sessions.get_mut(key) else { return };
        match socket {
            Socket::Full => session.outbox.written(now.mono, bytes),
            Socket::Open => session.outbox.taken(now.mono, bytes),
        }
        if bytes > 0 {
            session.limits.note_accepted(session.state.counted, session.outbox.position(), now.mono);
            session.wrote(now.mono);
            let can_go_on = session.standing.can_go_on || session.awaits_socket();
            session.standing.set_can_go_on(can_go_on);
            core.work.room_made(&mut core.sessions);
        }
        core.note_change(key.index());
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

    /// Lets the store do one small step of what it has to do ahead of time
    /// ([`Prepares`](crate::store::Prepares)), of some microseconds. Returns whether
    /// there may be another one. Call this when there is nothing else to do.
    pub fn prepare_store(&mut self) -> bool {
        self.core.store.prepare()
    }

    /// Ends the transport connection of the session. Returns how it ended, if there was one.
    pub fn disconnected(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
    ) -> Option<SessionEnd> {
        let mut call = self.call(now, key, app)?;
        call.session_mut().standing.set_can_go_on(false);
        let end = call.disconnected();
        call.debug_check();
        end
    }

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
        let (slots, first) = (self.core.sessions.len(), self.warm_up.next);
        let mut warmed = 0;
        for n in 0..slots {
            let index = (first + n) % slots;
            let logged_on = self.core.sessions.at(index).filter(|s| s.state.phase() == Phase::LoggedOn);
            let Some(key) = logged_on.map(|session| session.fixed.key) else { continue };
            if warmed == MOST_WARMED_UP {
                self.warm_up.next = index;
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
