//! What drives a worker's sessions: connections, bytes, clock and store events come in; bytes and
//! requests come out.

use core::time::Duration;

use fixbolt_codec::{
    Frame, FrameError, Framed, Framer, Index, IndexError, Redacted, SeqNum, Version, is_admin,
};

use crate::api::application::Application;
use crate::calls::sessions::Sessions;
use crate::core::observer::observe_inbound;
use crate::core::slots;
use crate::core::stored_message::FieldStorage;
use crate::decide::inbound;
use crate::decide::logon;
use crate::events::end::{Halt, Misbehavior, SessionEnd};
use crate::events::event::{Event, GarbledError, Unreached};
use crate::limits::flood::Added;
use crate::perform::call::{Stop, Transaction};
use crate::perform::carry_out;
use crate::perform::clock;
use crate::perform::garbled::{self, GarbledHeader};
use crate::perform::leave::end_with;
use crate::perform::replay;
use crate::perform::reset;
use crate::send::sending::SendKind;
use crate::state::outbox::Outbox;
use crate::state::reading::{BlockedBy, Budget, Counts, Incomplete};
use crate::state::session::recovery;
use crate::state::{Phase, Unsent};
use crate::values::key::SessionKey;
use crate::values::time::{Mono, Now};
use crate::wire::admin_message::AdminMessage;
use crate::wire::mask::mask_garbled;
use crate::wire::oversized::{self, Oversized, Verdict};

impl Sessions {
    /// Begins a transport connection of the session. An initiator logs on; an acceptor waits for
    /// the Logon.
    pub fn connected(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        self.follow_schedule(now, key, app);
        if !self.can_connect(key) {
            return;
        }
        if self.warm_up.is_on() {
            self.warm_up(now, key, app);
        }
        let Some(mut tx) = self.transaction(now, key, app) else { return };
        tx.session_mut().connect(now);
        tx.tell_horizon();
        if !tx.session().is_acceptor() {
            // A failure ends the connection or halts the session, and the caller can see both.
            let _ = log_on(&mut tx);
        }
        self.debug_check(key);
    }

    /// Processes bytes of the counterparty, starting at the first that was not consumed before.
    /// Returns the number of bytes consumed. Unconsumed bytes are passed in again on the next call,
    /// together with any that have arrived since.
    ///
    /// At most 64 messages are processed, and no further one after 64 KiB: if
    /// [`has_more`](Self::has_more) then returns `true`, call this again after the other sessions
    /// have had their turn.
    pub fn receive(&mut self, now: Now, key: SessionKey, bytes: &[u8], app: &mut dyn Application) -> usize {
        let consumed = self.read(now, key, bytes, app);
        let replays = match self.session(key) {
            Some(session) if session.state.is_open() => session.state.replay().is_some(),
            _ => {
                self.debug_check(key);
                return bytes.len();
            }
        };
        // A replay continues even while nothing is read. The session records why a step stopped.
        if replays && let Some(mut tx) = self.transaction(now, key, app) {
            let _ = replay::pump(&mut tx);
        }
        self.debug_check(key);
        consumed
    }

    /// Processes messages until there are no more, or the session ends or waits. Returns the number
    /// of bytes consumed.
    fn read(&mut self, now: Now, key: SessionKey, bytes: &[u8], app: &mut dyn Application) -> usize {
        if let Some(session) = slots::find_mut(&mut self.table, key)
            && let Some(places) = &mut session.inbound_places
        {
            places.begin(now.mono);
        }
        let consumed = self.process(now, key, bytes, app);
        if let Some(session) = slots::find_mut(&mut self.table, key) {
            let reading = &session.reading;
            session.note_read(reading.blocked.is_some() || reading.budget.is_spent());
        }
        consumed
    }

    fn process(&mut self, now: Now, key: SessionKey, bytes: &[u8], app: &mut dyn Application) -> usize {
        let Some(session) = slots::find_mut(&mut self.table, key) else { return bytes.len() };
        session.unblock(now.mono);
        session.reading.budget = Budget::FULL;
        let mut at = 0;
        loop {
            // The session records why a step stopped: it is closing, or waits.
            let _ = self.process_kept(now, key, app);
            let Some(session) = slots::find_mut(&mut self.table, key) else { return bytes.len() };
            let reading = &session.reading;
            if !session.state.is_open() || reading.blocked.is_some() || reading.budget.is_spent() {
                return at;
            }
            if session.is_full() {
                session.block(now, BlockedBy::Outbox);
                return at;
            }
            if at == bytes.len() {
                session.reading.incomplete = None;
                return at;
            }
            if let Some(timing) = &mut session.encoding.timing {
                timing.begin();
            }
            let frame = session.reading.framer.next(&bytes[at..]);
            if session.reading.oversized.is_some() {
                match self.read_past(now, key, frame, &bytes[at..], app) {
                    0 => {}
                    passed => {
                        at += passed;
                        continue;
                    }
                }
            }
            let Some(session) = slots::find_mut(&mut self.table, key) else { return bytes.len() };
            match frame {
                Frame::Message(framed) => {
                    session.reading.incomplete = None;
                    session.reading.budget.spend(framed.bytes().len());
                    let next_in = session.state.stored.next_in;
                    let _ = self.message(now, key, framed, false, true, app);
                    let Some(session) = slots::find_mut(&mut self.table, key) else { return bytes.len() };
                    // A message that was processed is not passed in again, even if what follows
                    // from it has to wait.
                    let taken = session.reading.blocked.is_none() || session.state.stored.next_in > next_in;
                    session.reading.offered = !taken;
                    if taken {
                        at += framed.bytes().len();
                    }
                }
                Frame::Garbled { bytes: dropped, error } => {
                    session.reading.incomplete = None;
                    session.reading.budget.spend(dropped.len());
                    at += dropped.len();
                    let is_too_large = matches!(error, Some(FrameError::TooLarge { .. }));
                    if is_too_large && matches!(session.state.phase(), Phase::LoggedOn | Phase::LogoutSent) {
                        session.reading.oversized.insert(Box::new(Oversized::new(now.mono))).pass(dropped);
                        self.judge_oversized(now, key, false, app);
                        continue;
                    }
                    let error = error.map_or(GarbledError::Continued, GarbledError::Frame);
                    self.garbled(now, key, dropped, error, app);
                }
                Frame::Incomplete { .. } => {
                    let left = bytes.len() - at;
                    let reading = &mut session.reading;
                    if reading.incomplete.is_none_or(|known| known.bytes != left) {
                        reading.incomplete = Some(Incomplete { since: now.mono, bytes: left });
                    }
                    return at;
                }
            }
        }
    }

    /// Reads past what the framer has found of a message that is larger than the session accepts,
    /// or rejects it if something else has begun. Returns the number of bytes consumed.
    #[cold]
    fn read_past(
        &mut self,
        now: Now,
        key: SessionKey,
        frame: Frame<'_>,
        bytes: &[u8],
        app: &mut dyn Application,
    ) -> usize {
        let Some(session) = slots::find_mut(&mut self.table, key) else { return 0 };
        let reading = &mut session.reading;
        let Some(oversized) = &mut reading.oversized else { return 0 };
        let passed = match frame {
            Frame::Garbled { bytes: dropped, error: None } => dropped,
            // The framer keeps its last SOH, which may belong to the next message.
            Frame::Incomplete { .. } if oversized.ends_with(bytes) => {
                let size = reading.framer.max_message_size();
                reading.framer = Framer::new(size).with_recovery(recovery(&session.behavior));
                bytes
            }
            Frame::Incomplete { .. } if !bytes.starts_with(b"8") => return 0,
            _ => {
                self.judge_oversized(now, key, true, app);
                return 0;
            }
        };
        reading.incomplete = None;
        reading.budget.spend(passed.len());
        oversized.pass(passed);
        self.judge_oversized(now, key, false, app);
        passed.len()
    }

    /// Decides about the message that is being read past. `begins` says whether another one begins
    /// after the bytes so far.
    fn judge_oversized(&mut self, now: Now, key: SessionKey, begins: bool, app: &mut dyn Application) {
        let Some(session) = slots::find_mut(&mut self.table, key) else { return };
        let verdict = session.reading.oversized.as_ref().map(|oversized| oversized.verdict(begins));
        let Some(verdict) = verdict.filter(|verdict| *verdict != Verdict::Partial) else { return };
        let Some(oversized) = session.reading.oversized.take() else { return };
        let max_message_size = session.settings.max_message_size;
        let header = oversized.header(&session.settings);
        match (verdict, header) {
            (Verdict::Whole, Some(header)) => {
                session.reading.flood.well_formed();
                if let Some(connection) = &mut session.state.connection {
                    connection.hear(now.mono);
                }
                let before = session.added;
                if let Some(mut tx) = self.transaction(now, key, app) {
                    // The session records why it stopped.
                    let _ = carry_out::too_large(&mut tx, header, oversized.len());
                }
                self.count_cost(now, key, false, before, app);
            }
            (Verdict::TooLarge, _) => {
                let why = Misbehavior::MessageTooLarge { limit: oversized::LARGEST };
                self.end_flood(now, key, why, app);
            }
            _ => {
                let error = GarbledError::Frame(FrameError::TooLarge { limit: max_message_size });
                self.garbled(now, key, oversized.head(), error, app);
            }
        }
    }

    /// Does what is due: [`Sessions::next_deadline`] has passed, the application can take a message
    /// that it put off, or there is room for what waited. `buffered` holds the bytes that have not
    /// been consumed. Returns the number of bytes consumed now.
    ///
    /// No connection is needed: without one, `buffered` is empty.
    pub fn wake(&mut self, now: Now, key: SessionKey, buffered: &[u8], app: &mut dyn Application) -> usize {
        self.follow_schedule_if_due(now, key, app);
        let Some(session) = slots::find_mut(&mut self.table, key) else { return buffered.len() };
        if session.state.connection.is_none() {
            self.retry_store(now, key, app);
            return buffered.len();
        }
        if !session.state.is_open() {
            return buffered.len();
        }
        if let Some(places) = &mut session.outbound_places {
            places.asked(session.state.counted, now.mono);
        }
        if let Some(mut tx) = self.transaction(now, key, app) {
            let _ = clock::timers(&mut tx);
        }
        let Some(session) = slots::find_mut(&mut self.table, key) else { return buffered.len() };
        let Some(connection) = &session.state.connection else { return buffered.len() };
        let patience = session.patience_inside_a_message(connection);
        if session.reading.incomplete.is_some_and(|known| now.mono - known.since >= patience) {
            let reading = &mut session.reading;
            reading.incomplete = None;
            // Bytes may have arrived that were not read yet.
            let still = matches!(reading.framer.clone().next(buffered), Frame::Incomplete { .. });
            if still
                && !buffered.is_empty()
                && let Frame::Garbled { bytes, error } = reading.framer.give_up(buffered)
            {
                let dropped = bytes.len();
                let error = error.map_or(GarbledError::Continued, GarbledError::Frame);
                self.garbled(now, key, bytes, error, app);
                return dropped + self.receive(now, key, &buffered[dropped..], app);
            }
        }
        self.receive(now, key, buffered, app)
    }

    /// Adds time that another thread took to write bodies for messages of the session's connection,
    /// if the session measures that ([`SessionSettings::codec_timing`](crate::SessionSettings)).
    pub fn add_encoding_time(&mut self, key: SessionKey, time: Duration) {
        if let Some(timing) =
            slots::find_mut(&mut self.table, key).and_then(|session| session.encoding.timing.as_mut())
        {
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
                session.reading.blocked.is_some_and(|blocked| blocked.by == BlockedBy::Outbox)
                    || session.outbox.has_passed_watermark()
                    || session.outbound_places.as_ref().is_some_and(|places| places.is_awaited())
            })
    }

    /// Returns whether the session has stopped reading: the application returned `NotNow`, an
    /// outbox is full, or messages that we requested come too fast.
    #[must_use]
    pub fn is_blocked(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| session.reading.blocked.is_some())
    }

    /// Returns whether the last call of [`Sessions::receive`] or [`Sessions::wake`] stopped because
    /// it had processed enough, although there may be more to process.
    #[must_use]
    pub fn has_more(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| {
            let reading = &session.reading;
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
        let session = self.table[self.lists.next_output()?].as_mut()?;
        session.has_output = false;
        Some(session.key)
    }

    /// Returns the number of sessions that [`Sessions::next_output`] would return now. A loop that
    /// writes this many and then waits for its sockets is finite, however much the sessions write
    /// meanwhile.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.lists.outputs()
    }

    /// Has [`Sessions::next_output`] return the session again, because its socket can accept bytes
    /// or is to be closed.
    pub fn note_output(&mut self, key: SessionKey) {
        if let Some(session) = slots::find_mut(&mut self.table, key) {
            self.lists.note_output(key.index(), session);
        }
    }

    /// Returns a session that waited for another one's outbox and can continue: call
    /// [`Sessions::wake`] for it. Call this until it returns `None`.
    pub fn next_ready(&mut self) -> Option<SessionKey> {
        let place = self.lists.next_ready()?;
        Some(self.table[place].as_ref()?.key)
    }

    /// Returns whether the session limits how many messages it sends. Their windows begin at the
    /// time that [`Sessions::written`] and [`Sessions::taken`] are given: one that was read before
    /// the bytes were written would begin them too early.
    #[must_use]
    pub fn times_writes(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| session.outbound_places.is_some())
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
        let Some(session) = slots::find_mut(&mut self.table, key) else { return };
        record(&mut session.outbox, now.mono, bytes);
        if bytes > 0 {
            if let Some(places) = &mut session.outbound_places {
                places.accept(session.state.counted, session.outbox.position(), now.mono);
            }
            session.wrote(now.mono);
            self.lists.room_made();
        }
    }

    /// Called when the store's durable position may have advanced, or the store has failed:
    /// releases what waited, and halts sessions.
    pub fn store_advanced(&mut self, now: Now, app: &mut dyn Application) {
        let mut waiting = self.lists.take_awaiting_store();
        waiting.retain(|place| {
            let Some(session) = self.table[*place].as_mut() else { return false };
            session.outbox.advance(self.store.durable(session.key));
            session.awaits_store = session.outbox.waits_for_store();
            if !session.outbox.writable().is_empty() {
                self.lists.note_output(*place, session);
            }
            session.awaits_store
        });
        self.lists.put_awaiting_store(waiting);
        while let Some((key, error)) = self.store.take_failure() {
            let Some(session) = slots::find_mut(&mut self.table, key) else { continue };
            let halt = Halt::StoreFailed(error);
            let note = format!("the session is halted: {halt}");
            session.halt(now.mono, halt);
            let lost = session.drop_output();
            self.lists.note_end(key.index(), session);
            self.notify(now, key, &Event::Note(&note), app);
            if let Some(Unsent { first, last }) = lost {
                let event = Event::Unreached { begin: first, end: last, why: Unreached::Reset };
                self.notify(now, key, &event, app);
            }
            self.close_halted_store(key);
        }
        while let Some((key, what)) = self.store.take_warning() {
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
        let mut tx = self.transaction(now, key, app)?;
        let (connection, lost) = tx.session_mut().disconnect()?;
        tx.tell_horizon();
        if let Some(Unsent { first, last }) = lost {
            tx.notify(&Event::Unreached { begin: first, end: last, why: Unreached::Reset });
        }
        if let Some(resetting) = connection.resetting {
            reset::is_cut_off(&mut tx, *resetting);
        }
        // A counterparty that closes instead of answering our Logout does not hide why it was sent.
        let end =
            connection.end.or(connection.leaving).map(|end| *end).unwrap_or(match connection.logon.phase {
                Phase::LogoutAnswered => SessionEnd::LoggedOutByPeer,
                Phase::LogonSent => SessionEnd::LogonUnanswered,
                _ => SessionEnd::ConnectionLost,
            });
        // A stranger whose Logon was refused resets nothing. A failure here halts the session.
        let settings = &tx.session().settings;
        let is_error = matches!(end, SessionEnd::PeerMisbehaved(_));
        let why = if settings.reset_on_disconnect && (connection.logged_on || !tx.session().is_acceptor()) {
            Some("ResetOnDisconnect")
        } else if settings.reset_on_error && is_error && connection.logged_on {
            Some("ResetOnError")
        } else {
            None
        };
        if let Some(why) = why
            && tx.session().halted.is_none()
        {
            let before = tx.session().added;
            if tx.run(|tx| tx.reset(why)).is_ok() {
                tx.notify_numbers(why);
            }
            // Too much of it is noticed at the next Logon.
            tx.session_mut().count_growth(now, before);
        }
        if let Some(timing) = tx.session_mut().encoding.timing.take() {
            for total in timing.totals() {
                tx.notify(&Event::CodecTime(total));
            }
        }
        tx.notify(&Event::Ended(&end));
        self.follow_schedule(now, key, app);
        self.close_halted_store(key);
        self.debug_check(key);
        Some(end)
    }

    /// Indexes one framed message and runs the session's checks. `verified` says whether CheckSum
    /// is verified.
    fn message(
        &mut self,
        now: Now,
        key: SessionKey,
        framed: Framed<'_>,
        kept: bool,
        verified: bool,
        app: &mut dyn Application,
    ) -> Result<(), Stop> {
        let Self { table, dictionaries, store, waker, wire, inbound, stored, turns, touched, lists, .. } =
            self;
        let data_fields = dictionaries[key.index()].data_fields();
        let FieldStorage { tags, spans, places } = inbound;
        let mut index =
            Index::new(tags, spans).with_data_fields(data_fields).with_checksum_verified(verified);
        match index.build(framed) {
            Ok(message) => {
                if let Some(session) = slots::find_mut(table, key)
                    && !kept
                    && !session.reading.offered
                {
                    session.reading.flood.well_formed();
                    observe_inbound(wire.as_deref(), session, now, framed.bytes(), None);
                }
                let mut tx = Transaction {
                    now,
                    own: key.index(),
                    table,
                    dictionaries,
                    store: &mut **store,
                    app,
                    waker,
                    wire: wire.as_deref(),
                    turns,
                    touched,
                    lists,
                    fields: stored,
                    telling: 0,
                };
                let session = tx.session_mut();
                let limit = session.settings.max_session_journal_growth;
                if session.state.phase() == Phase::AwaitingLogon && session.growth.is_over(now.mono, limit) {
                    let limit = limit.unwrap_or_default();
                    session.close(SessionEnd::PeerMisbehaved(Misbehavior::JournalGrowth { limit }));
                    return Err(Stop);
                }
                session.reading.counts = Counts::Fully;
                let before = session.added;
                let msg_type = message.msg_type();
                let result = if inbound::is_garbled(tx.session(), &message) {
                    garbled::without_equals(&mut tx, &message)
                } else {
                    carry_out::receive(&mut tx, framed, message, kept, places)
                };
                let reading = &tx.session().reading;
                if reading.counts != Counts::Nowhere {
                    let is_new = !kept && !reading.offered && reading.counts == Counts::Fully;
                    let counts = is_new && is_admin(msg_type);
                    self.count_cost(now, key, counts, before, app);
                }
                result
            }
            // A right CheckSum costs no look at the settings.
            Err(IndexError::CheckSum { .. })
                if slots::find(table, key).is_some_and(|session| !session.settings.validate_checksum) =>
            {
                self.message(now, key, framed, kept, false, app)
            }
            // Some are shorter than any that are right, and their message is not garbled.
            Err(IndexError::TooManyFields { limit }) if limit < framed.bytes().len() => {
                self.inbound.grow(framed.bytes().len());
                self.message(now, key, framed, kept, verified, app)
            }
            Err(error) => {
                self.garbled(now, key, framed.bytes(), GarbledError::Index(error), app);
                self.reject_garbled(now, key, framed, app)
            }
        }
    }

    /// Answers a garbled message, if the session does that.
    #[cold]
    fn reject_garbled(
        &mut self,
        now: Now,
        key: SessionKey,
        framed: Framed<'_>,
        app: &mut dyn Application,
    ) -> Result<(), Stop> {
        let Some(session) = self.session(key) else { return Ok(()) };
        let Some(header) = GarbledHeader::read(session, framed.bytes()) else { return Ok(()) };
        let before = session.added;
        let Some(mut tx) = self.transaction(now, key, app) else { return Ok(()) };
        let result = garbled::reject(&mut tx, header);
        self.count_cost(now, key, true, before, app);
        result
    }

    /// Counts what a message that was not for the application has added to the store, and the
    /// message itself if `counts`: if it is one of the session layer. A counterparty that sends too
    /// many of them is disconnected.
    fn count_cost(
        &mut self,
        now: Now,
        key: SessionKey,
        counts: bool,
        before: Added,
        app: &mut dyn Application,
    ) {
        let Some(session) = slots::find_mut(&mut self.table, key) else { return };
        let rate = session.settings.max_session_message_rate;
        let grew_too_much = session.count_growth(now, before);
        if !session.state.is_open() {
            return;
        }
        let why = if grew_too_much {
            let limit = session.settings.max_session_journal_growth.unwrap_or_default();
            Misbehavior::JournalGrowth { limit }
        } else if counts && session.reading.flood.session_layer(now.mono, rate) {
            Misbehavior::SessionMessageRate { limit: rate.unwrap_or_default() }
        } else {
            return;
        };
        self.end_flood(now, key, why, app);
    }

    /// Reports garbled bytes. A counterparty that sends nothing else is disconnected.
    fn garbled(
        &mut self,
        now: Now,
        key: SessionKey,
        bytes: &[u8],
        error: GarbledError,
        app: &mut dyn Application,
    ) {
        let mut masked = Vec::new();
        let mut found = false;
        if let Some(session) = slots::find_mut(&mut self.table, key) {
            observe_inbound(self.wire.as_deref(), session, now, bytes, Some(error));
            let continues = error == GarbledError::Continued;
            let secrets = session.secret_tags.of(&session.settings);
            found = mask_garbled(secrets, bytes, continues, &mut masked);
        }
        let shown = Redacted(if found { &masked } else { bytes });
        self.notify(now, key, &Event::Garbled { bytes: shown, error }, app);
        let Some(session) = slots::find_mut(&mut self.table, key) else { return };
        if session.state.phase() == Phase::AwaitingLogon {
            return session.close(SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon));
        }
        let limit = session.settings.max_garbled_messages;
        if session.reading.flood.garbled(limit) {
            self.end_flood(now, key, Misbehavior::Garbled { limit: limit.unwrap_or_default() }, app);
        }
    }

    /// Ends the connection of a counterparty that costs too much, with a Logout that says why if
    /// there is room for it.
    #[cold]
    fn end_flood(&mut self, now: Now, key: SessionKey, why: Misbehavior, app: &mut dyn Application) {
        let Some(mut tx) = self.transaction(now, key, app) else { return };
        let end = SessionEnd::PeerMisbehaved(why);
        if tx.session().state.is_open() && tx.session().state.phase() == Phase::LoggedOn {
            // The session records why it stopped.
            let _ = end_with(&mut tx, why.to_string().into(), end);
        } else {
            tx.close(end);
        }
    }

    /// Processes messages in the reorder buffer that are now expected.
    fn process_kept(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> Result<(), Stop> {
        loop {
            let Self { table, kept, .. } = self;
            let Some(session) = slots::find_mut(table, key) else { return Err(Stop) };
            let (due, epoch) = (session.state.stored.next_in, session.state.epoch());
            let is_spent = session.reading.budget.is_spent();
            if !session.state.is_open() || is_spent {
                return Ok(());
            }
            let Some(arrival) = session.reorder.copy(epoch, due, kept) else { return Ok(()) };
            session.reading.kept = Some(arrival);
            session.reading.budget.spend(kept.len());
            if let Some(timing) = &mut session.encoding.timing {
                timing.begin();
            }
            let message = core::mem::take(kept);
            let result = match message.framed() {
                Some(framed) => self.message(now, key, framed, true, true, app),
                None => Ok(()),
            };
            self.kept = message;
            let Some(session) = slots::find_mut(&mut self.table, key) else { return Err(Stop) };
            session.reading.kept = None;
            result?;
            if session.state.stored.next_in == due {
                return Ok(());
            }
        }
    }
}

/// Logs on as an initiator, with a reset of the sequence numbers if the session resets at each
/// logon.
fn log_on(tx: &mut Transaction<'_>) -> Result<(), Stop> {
    let reset = tx.session().settings.reset_on_logon;
    let heart_bt_int = tx.session().settings.heart_bt_int;
    let next_in = if reset { SeqNum::ONE } else { tx.session().state.stored.next_in };
    let mut logon = AdminMessage::Logon(logon::ours(tx.session(), heart_bt_int, reset, next_in));
    tx.complete_logon(&mut logon, reset)?;
    tx.run(|tx| {
        if reset {
            tx.reset("ResetOnLogon")?;
            // FIX.4.0 has no ResetSeqNumFlag: the counterparty resets because it was agreed.
            let asks = tx.session().settings.id.version() >= Version::Fix41;
            if let Some(connection) = tx.connection_mut() {
                connection.reset_asked = asks;
            }
        }
        tx.send(SendKind::New { cause: None }, None, &logon)?;
        if let Some(connection) = tx.connection_mut() {
            // What was written before our Logon has a lower number: the counterparty asks for it.
            connection.logon.kept_from = None;
        }
        Ok(())
    })
}
