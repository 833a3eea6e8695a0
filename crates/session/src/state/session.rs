//! One session: its settings, its state, and its inbound and outbound bytes.
//!
//! The state is sorted by how long it lasts (see [`state`](crate::state)). This module knows how a
//! session begins and ends each lifetime, and what a rollback restores; it decides nothing about
//! messages.

use core::num::NonZeroU64;
use core::time::Duration;
use std::sync::Arc;

use fixbolt_codec::{
    Envelope, Message, Place, Precision, Recovery, SecondCache, SecondReader, SeqNum, Version,
};
use fixbolt_dictionary::{Direction, Scratch};

use crate::events::end::{Halt, SessionEnd};
use crate::events::error::SendError;
use crate::limits::flood::{Added, Growth};
use crate::limits::pace::Pace;
use crate::limits::refusals::RefusedLogons;
use crate::limits::resends::Resends;
use crate::limits::throttle::{InboundPermits, OutboundPermits};
use crate::schedule::calendar::Calendar;
use crate::settings::behavior::{Behavior, WrongBodyLength};
use crate::settings::dictionaries::Dictionaries;
use crate::settings::limits::LimitSettings;
use crate::settings::resend::WhileLoggedOff;
use crate::settings::{Role, SessionSettings};
use crate::state::backlog::Unsent;
use crate::state::guarded::Guarded;
use crate::state::intake::Intake;
use crate::state::outbound_check::OutboundCheck;
use crate::state::outbox::{Outbox, Watermarks};
use crate::state::phase::PhaseState;
use crate::state::reading::{BlockedBy, Reading};
use crate::state::reorder::ReorderBuffer;
use crate::state::standing::Standing;
use crate::state::transaction::{News, Snapshot, Transaction};
use crate::state::waiting::WaitingQueue;
use crate::state::{Connection, Phase, ResetStage, State, Stored};
use crate::store::{Position, Recovered, Store, StoreError};
use crate::values::codec_timing::{CodecTiming, EncodingTime};
use crate::values::fix;
use crate::values::key::SessionKey;
use crate::values::time::{Mono, Now};
use crate::values::waits_for::WaitsFor;
use crate::wire::before_send::BeforeSend;
use crate::wire::mask::SecretTags;
use crate::wire::raw_header::RawHeader;
use crate::wire::shape::Shapes;

/// A session.
pub(crate) struct Session {
    pub(crate) fixed: Guarded<Fixed>,
    pub(crate) state: State,
    /// What the open transaction has found.
    pub(crate) transaction: Guarded<Transaction>,
    pub(crate) outbox: Outbox,
    pub(crate) waiting: WaitingQueue,
    pub(crate) intake: Guarded<Intake>,
    pub(crate) standing: Guarded<Standing>,
    pub(crate) limits: Guarded<Limits>,
    pub(crate) tools: Tools,
}

/// What does not change while the session is open.
pub(crate) struct Fixed {
    pub(crate) key: SessionKey,
    pub(crate) settings: SessionSettings,
    pub(crate) behavior: Behavior,
    pub(crate) envelope: Envelope,
    /// What messages are checked against.
    pub(crate) dictionaries: Dictionaries,
    pub(crate) secret_tags: SecretTags,
    /// Whether messages can be read back from the store.
    pub(crate) keeps_messages: bool,
}

impl Fixed {
    /// Returns whether the version has fields 371 to 373 of Reject, BusinessMessageReject, and
    /// fractions of a second.
    pub(crate) fn is_42_or_later(&self) -> bool {
        self.settings.id.version() >= Version::Fix42
    }

    /// Returns the precision of the times we send.
    // R-SEND-2
    pub(crate) fn precision(&self) -> Precision {
        if !self.is_42_or_later() {
            return Precision::Seconds;
        }
        self.settings.timing.timestamp_precision
    }
}

/// What is counted against limits over time. It outlives connections, and no rollback takes it
/// back.
pub(crate) struct Limits {
    pub(crate) refusals: RefusedLogons,
    pub(crate) growth: Growth,
    /// What limits how many messages are sent and received, if anything does.
    pub(crate) outbound_permits: Option<Box<OutboundPermits>>,
    pub(crate) inbound_permits: Option<Box<InboundPermits>>,
    /// How fast messages of the session layer are read that we requested.
    pub(crate) session_layer_pace: Option<Box<Pace>>,
    /// How often messages were sent again, if that is limited.
    pub(crate) resends: Option<Box<Resends>>,
    /// When a replay that is slowed down may send its next message.
    pub(crate) replay_due: Mono,
    /// When the application is told again that its messages wait for a throttle.
    pub(crate) waits_told: Mono,
}

/// Memory that has no meaning between two calls, and clocks of what encoding takes.
pub(crate) struct Tools {
    /// The memory of the validators.
    pub(crate) scratch: Option<Box<Scratch>>,
    /// Checks the messages that the application sends, if the session wants that.
    pub(crate) outbound: Option<OutboundCheck>,
    /// Sees new messages before they are sent.
    pub(crate) before_send: Option<Arc<dyn BeforeSend>>,
    /// The buffer that a stored message is copied to before it is sent again.
    pub(crate) replay_buffer: Vec<u8>,
    /// The buffer that a message is copied to before it is masked.
    pub(crate) masked: Vec<u8>,
    pub(crate) shapes: Shapes,
    /// Reads SendingTime (52).
    pub(crate) second: SecondReader,
    pub(crate) encoding: EncodingTime,
}

impl Session {
    pub(crate) fn new(
        key: SessionKey,
        settings: SessionSettings,
        envelope: Envelope,
        recovered: &Recovered,
        keeps_messages: bool,
    ) -> Self {
        let behavior = settings.compatibility.behavior();
        let dictionaries = Dictionaries::new(&settings.dictionary, settings.appl_ver_id());
        let LimitSettings { outbound_buffer_size, outbound_watermarks, .. } = settings.limits;
        let watermarks = Watermarks {
            high: percent_of(outbound_buffer_size, outbound_watermarks.high()),
            low: percent_of(outbound_buffer_size, outbound_watermarks.low()),
        };
        let outbox = Outbox::new(outbound_buffer_size, watermarks);
        let stored = Stored::of(recovered);
        let state = State::new(stored);
        let snapshot = Snapshot { state: state.clone(), outbox: outbox.mark() };
        let calendar = settings
            .schedule
            .clone()
            .map(|schedule| Calendar::new(schedule, settings.timing.clock_jump_hold));
        let standing = Standing::begin(calendar, settings.resend.while_logged_off == WhileLoggedOff::Keep);
        let factor = settings.throttle.max_resent_rate_factor.get();
        let limits = Limits {
            refusals: RefusedLogons::new(),
            growth: Growth::default(),
            outbound_permits: OutboundPermits::new(
                settings.throttle.max_outbound_rate,
                settings.throttle.max_order_rate,
            ),
            inbound_permits: InboundPermits::new(settings.throttle.max_inbound_rate, factor),
            session_layer_pace: settings
                .limits
                .max_session_message_rate
                .map(|rate| Pace::new(rate.get(), Duration::from_secs(1), factor)),
            resends: settings
                .resend
                .max_resends
                .map(|most| Resends::new(most.get(), settings.resend.resend_period)),
            replay_due: Mono(0),
            waits_told: Mono(0),
        };
        let tools = Tools {
            scratch: dictionaries.scratch().map(Box::new),
            outbound: settings
                .validation
                .outgoing
                .filter(|_| settings.dictionary.checks())
                .map(|policy| OutboundCheck::new(policy, settings.limits.max_message_size)),
            before_send: None,
            replay_buffer: Vec::with_capacity(settings.limits.max_message_size),
            masked: Vec::new(),
            shapes: Shapes::new(),
            second: SecondReader::new(),
            encoding: EncodingTime { second: SecondCache::new(), timing: None },
        };
        let intake = Intake {
            reading: Reading::new(recovery(&behavior)),
            reorder: ReorderBuffer::new(settings.limits.reorder_buffer_size),
        };
        let secret_tags = SecretTags::new(&settings.masked_tags);
        let fixed = Fixed { key, settings, behavior, envelope, dictionaries, secret_tags, keeps_messages };
        let transaction = Transaction {
            number: 0,
            snapshot,
            store_error: None,
            unreached: None,
            waits: false,
            may_have_secrets: false,
        };
        let mut session = Self {
            fixed: Guarded::new(fixed),
            state,
            transaction: Guarded::new(transaction),
            outbox,
            waiting: WaitingQueue::default(),
            intake: Guarded::new(intake),
            standing: Guarded::new(standing),
            limits: Guarded::new(limits),
            tools,
        };
        session.recover(recovered, true);
        session
    }

    /// Returns whether the sequence numbers are reset before the next connection, if this one ends.
    #[cold]
    pub(crate) fn resets_next(&self) -> bool {
        let settings = &self.fixed.settings;
        let calendar = self.standing.calendar.as_ref();
        let by_schedule = |began| calendar.is_some_and(|calendar| calendar.resets_next(began));
        settings.reset.reset_on_logon
            || settings.reset.reset_on_logout
            || settings.reset.reset_on_disconnect
            || self.state.stored.began.is_some_and(by_schedule)
    }

    /// Continues from the contents of the store, halted if they require it. Returns the messages
    /// that can no longer be sent, because the sequence numbers were reset since. `was_new` says
    /// whether nothing had been sent before: a store that has lost everything does not undo that.
    pub(crate) fn recover(&mut self, recovered: &Recovered, was_new: bool) -> Option<Unsent> {
        let same = self.state.stored.generation == recovered.generation;
        let lost = if same { None } else { self.state.unsent.take() };
        if !same {
            self.state.gave_up_at = SeqNum::ZERO;
        }
        self.state.stored = Stored::of(recovered);
        let standing = self.standing.change();
        standing.store_is_new = was_new && recovered.since.is_none();
        standing.opened_at = recovered.next_in;
        standing.halted = if let Some(reason) = &recovered.damage {
            Some(Halt::StoreDamaged { reason: reason.clone() })
        } else if recovered.attempts >= self.fixed.settings.limits.max_delivery_attempts.get() {
            Some(Halt::PoisonMessage { seq: recovered.next_in, attempts: recovered.attempts })
        } else {
            None
        };
        self.publish();
        lost
    }

    /// Returns the message with its version and the place of each field by the session's
    /// dictionary, so that the application reads it as the session does. Without a dictionary it
    /// has no places.
    pub(crate) fn placed<'m>(
        &mut self,
        mut message: Message<'m>,
        direction: Direction,
        places: &'m mut Vec<Place>,
    ) -> Message<'m> {
        let (Ok(Some(validator)), Some(scratch)) = (
            self.fixed.dictionaries.after(&self.state.versions).of(&mut message, direction),
            &mut self.tools.scratch,
        ) else {
            return message;
        };
        places.clear();
        places.extend_from_slice(validator.places(&message, scratch));
        message.with_places(places)
    }

    /// Returns what messages are checked against in this connection.
    #[inline]
    pub(crate) fn dictionaries(&self) -> &Dictionaries {
        self.fixed.dictionaries.after(&self.state.versions)
    }

    /// Publishes the status for other threads, who see only what is committed.
    pub(crate) fn publish(&self) {
        let Stored { next_in, next_out, .. } = self.state.stored;
        self.standing.status.publish(
            self.state.phase(),
            self.standing.enabled,
            self.standing.halted.as_ref(),
            self.waits_for(),
            next_in,
            next_out,
        );
    }

    /// Returns what the session waits for.
    #[inline]
    fn waits_for(&self) -> Option<WaitsFor> {
        if self.standing.calendar.as_ref().is_some_and(Calendar::is_held) {
            return Some(WaitsFor::Clock);
        }
        self.state.waits_for()
    }

    /// Begins a transport connection.
    pub(crate) fn connect(&mut self, now: Now) {
        let until = now.mono + self.fixed.settings.timing.logon_timeout;
        let phase = if self.is_acceptor() {
            PhaseState::AwaitingLogon { until }
        } else {
            PhaseState::LogonSent { until, asks_reset: false }
        };
        let number = &mut self.state.stored.connection;
        number.0 = number.0.wrapping_add(1);
        let counted = self.standing.counted(now);
        self.state.stored.began.get_or_insert(counted.utc);
        if let Some(calendar) = &mut self.standing.change().calendar {
            calendar.connected();
        }
        self.state.versions = None;
        self.intake.change().reading = Reading::new(recovery(&self.fixed.behavior));
        self.tools.encoding.timing = self.fixed.settings.timing.codec_timing.map(CodecTiming::new);
        self.note_read(false);
        self.state.connection = Some(Connection::begin(now, phase, self.fixed.settings.timing.heart_bt_int));
        self.publish();
    }

    /// Ends the transport connection with everything it holds; `None` if there is none. Returns it,
    /// and the messages that can no longer be sent, because the sequence numbers were reset since.
    pub(crate) fn disconnect(&mut self) -> Option<(Connection, Option<Unsent>)> {
        self.intake.change().reading = Reading::new(recovery(&self.fixed.behavior));
        let lost = self.drop_output();
        let connection = self.state.connection.take();
        self.publish();
        connection.map(|connection| (connection, lost))
    }

    /// Drops the queued bytes. What the application has sent stays in the store until the
    /// counterparty requests it; returns what it no longer can, because the sequence numbers were
    /// reset since.
    pub(crate) fn drop_output(&mut self) -> Option<Unsent> {
        let mut lost: Option<Unsent> = None;
        for (message, before_reset) in self.outbox.unwritten() {
            let Some(seq) = RawHeader::read(message).application_seq() else { continue };
            let one = Unsent { first: seq, last: seq };
            if before_reset {
                lost = Some(lost.map_or(one, |lost| Unsent { last: seq, ..lost }));
            } else {
                self.state.keep_back(one);
            }
        }
        if let Some(permits) = &mut self.limits.change().outbound_permits {
            permits.forget_queued(&mut self.state.counted);
        }
        self.outbox.clear();
        lost
    }

    /// Counts the message in hand as decoded, if that is measured and was not done before.
    #[inline]
    pub(crate) fn decoded(&mut self) {
        if let Some(timing) = &mut self.tools.encoding.timing {
            timing.decoded();
        }
    }

    pub(crate) fn is_acceptor(&self) -> bool {
        matches!(self.fixed.settings.role, Role::Acceptor)
    }

    /// Returns whether BusinessRejectReason (380) may be 8, "Throttle limit exceeded": if the
    /// session's dictionary has it, or without one since FIX.5.0SP2, to which Extension Pack 116
    /// has added it.
    pub(crate) fn knows_throttle_limit(&self) -> bool {
        match self.fixed.dictionaries.application(self.fixed.settings.appl_ver_id()) {
            Some(dictionary) => dictionary.has_code(fix::key::BUSINESS_REJECT_REASON.tag().number(), b"8"),
            None => self.fixed.settings.default_appl_ver_id >= Some(Version::Fix50Sp2),
        }
    }

    /// Records that the counterparty does not send the message that is expected next.
    pub(crate) fn give_up(&mut self) {
        self.state.gave_up_at = self.state.stored.next_in;
    }

    /// Returns whether the counterparty did not send the message that is expected next, however
    /// often it was requested, in this connection or an earlier one.
    pub(crate) fn has_given_up(&self) -> bool {
        self.state.gave_up_at == self.state.stored.next_in
    }

    /// Returns whether a new application message may be written now; `answering` says whether it
    /// answers a message of the counterparty.
    // R-LOGON-24
    pub(crate) fn may_send(&self, answering: bool) -> Result<(), SendError> {
        if self.standing.halted.is_some() {
            return Err(SendError::Unavailable);
        }
        match self.state.phase() {
            // A store that cannot return the message after the replay cannot keep it until then.
            Phase::LoggedOn if !self.fixed.keeps_messages && self.state.replay().is_some() => {
                Err(SendError::BackPressure)
            }
            // R-RESET-7
            // An answer may still go out in front of our Logon, but nothing that would be lost by
            // the reset.
            Phase::LoggedOn => match self.state.reset_stage() {
                None => Ok(()),
                Some(ResetStage::Testing(_)) if answering => Ok(()),
                Some(_) => Err(SendError::BackPressure),
            },
            // What the counterparty sent before it saw our Logout is processed; the answers are
            // sent in the next connection. R-LOGOUT-8
            Phase::LogoutSent if answering => Ok(()),
            // R-STORE-4
            _ if self.fixed.settings.resend.while_logged_off == WhileLoggedOff::Keep => Ok(()),
            _ => Err(SendError::NotLoggedOn),
        }
    }

    /// Returns the longest value from the counterparty that an answer of the session layer can
    /// contain, in bytes.
    pub(crate) fn largest_reflected_value(&self) -> usize {
        /// The header, trailer and other fields of such an answer.
        const AROUND: usize = 384;
        let message = self.state.peer_max_message_size().min(self.fixed.settings.limits.max_message_size);
        message.min(self.outbox.size() / 2).saturating_sub(AROUND)
    }

    /// Returns whether the outbox has no room for an answer: nothing is read until the socket has
    /// accepted some of it.
    pub(crate) fn is_full(&self) -> bool {
        self.outbox.room() < self.outbox.size() / 4
    }

    /// Stops reading: because the outbox is full, or else because of `by`.
    pub(crate) fn block(&mut self, now: Now, by: BlockedBy) {
        let by = if self.is_full() { BlockedBy::Outbox } else { by };
        self.intake.change().reading.block(now, by);
    }

    /// Stops reading as [`Session::block`] does, but until `until` at the latest, if there is such
    /// a time.
    pub(crate) fn block_until(&mut self, now: Now, by: BlockedBy, until: Option<Mono>) {
        self.block(now, by);
        if let Some(blocked) = &mut self.intake.change().reading.blocked {
            blocked.until = until;
        }
    }

    /// Counts what was added to the store since `before` and no application asked for. Returns
    /// whether it is more than the session allows.
    pub(crate) fn count_growth(&mut self, now: Now, before: Added) -> bool {
        let added = self.state.added.since(before);
        let limit = self.fixed.settings.limits.max_session_journal_growth.map(NonZeroU64::get);
        self.limits.change().growth.add(added, now.mono, limit)
    }

    /// Returns why there may be no logon now, if the schedule allows none.
    pub(crate) fn outside_schedule(&self) -> Option<SessionEnd> {
        let calendar = self.standing.calendar.as_ref().filter(|calendar| !calendar.allows_connection())?;
        Some(SessionEnd::OutsideSchedule { next: calendar.next_connection() })
    }

    /// Returns whether the session can begin a transport connection now. Outside its schedule an
    /// initiator cannot; an acceptor can, and refuses the Logon.
    // R-SCHEDULE-2
    pub(crate) fn can_connect(&self) -> bool {
        let scheduled = self.is_acceptor() || self.outside_schedule().is_none();
        self.standing.halted.is_none()
            && self.standing.enabled
            // R-LOGON-5
            && self.state.connection.is_none()
            && scheduled
    }

    /// Closes the session's store. Opening it again will report its state; there is nobody to tell
    /// of an error now.
    ///
    /// `committed` is the position of the last commit.
    pub(crate) fn close_store(&mut self, store: &mut dyn Store, committed: Position) {
        let standing = self.standing.change();
        standing.store_is_open = false;
        standing.store_is_new &= store.durable(self.fixed.key).unwrap_or(committed) == Position::default();
        let _ = store.close(self.fixed.key);
    }

    /// Returns whether the application must be notified of the transaction that was committed here.
    pub(crate) fn has_news(&self) -> bool {
        self.transaction.unreached.is_some()
            || self.transaction.waits
            || self.waiting.has_left(self.state.stored.waiting())
            || self.tools.outbound.as_ref().is_some_and(OutboundCheck::has_warnings)
    }

    /// Takes the events that the application has not been notified of.
    pub(crate) fn take_news(&mut self, now: Mono) -> News {
        let warned = self.tools.outbound.as_mut().map(OutboundCheck::take_warnings).unwrap_or_default();
        let left = self.waiting.take_left(self.state.stored.waiting());
        let Transaction { unreached, waits, .. } = self.transaction.change();
        let (unreached, begins) = (unreached.take(), core::mem::take(waits));
        News { unreached, waits: begins && self.limits.tells_waiting(now), left, warned }
    }

    /// Takes the snapshot of a session that the transaction touches for the first time; `false` if
    /// it was touched before.
    pub(crate) fn touch(&mut self, number: u64) -> bool {
        if self.transaction.number == number {
            return false;
        }
        self.outbox.compact();
        let Transaction { number: last, snapshot, store_error, unreached, waits, may_have_secrets } =
            self.transaction.change();
        (*last, *store_error, *unreached, *waits, *may_have_secrets) = (number, None, None, false, false);
        snapshot.state.clone_from(&self.state);
        snapshot.outbox = self.outbox.mark();
        true
    }

    /// Restores the snapshot. Returns why the store refused a record, if it did: the session is to
    /// be halted.
    pub(crate) fn rollback(&mut self) -> Option<StoreError> {
        self.state.clone_from(&self.transaction.snapshot.state);
        self.outbox.rollback(self.transaction.snapshot.outbox);
        self.waiting.forget_after(self.state.stored.waiting());
        self.transaction.change().unreached = None;
        if let Some(check) = &mut self.tools.outbound {
            check.forget();
        }
        self.transaction.change().store_error.take()
    }
}

fn percent_of(size: usize, percent: u8) -> usize {
    (size as u64 * u64::from(percent) / 100) as usize
}

pub(crate) const fn recovery(behavior: &Behavior) -> Recovery {
    match behavior.wrong_body_length {
        WrongBodyLength::CostsOneMessage => Recovery::NextMessage,
        WrongBodyLength::SwallowsTheNext => Recovery::NextCheckSum,
    }
}

impl Stored {
    pub(crate) fn of(recovered: &Recovered) -> Self {
        let Recovered { next_in, next_out, generation, connection, attempts, waiting, since, .. } =
            *recovered;
        Self {
            next_in,
            next_out,
            generation,
            connection,
            attempts,
            wait: waiting.count,
            waited: waiting.last,
            began: since,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::limits::throttle::Counted;
    use crate::settings::dictionaries::SessionDictionary;
    use crate::state::backlog::{Backlog, Replay};
    use crate::state::missing::{Missing, Request, Resent};
    use crate::state::phase::Leave;
    use crate::state::{Logon, Resetting};
    use crate::store::{ConnectionNumber, Generation};
    use crate::values::id::SessionId;
    use crate::values::time::Utc;

    fn session() -> Session {
        let id = SessionId::new(Version::Fix44, "US", "PEER").unwrap();
        let envelope = Envelope::new(b"FIX.4.4", b"US", b"PEER").unwrap();
        let settings = SessionSettings::new(id, Role::Acceptor);
        let mut session =
            Session::new(SessionKey::new(0, 0, 0), settings, envelope, &Recovered::default(), true);
        session.connect(Now { mono: Mono(1), utc: Utc(1) });
        session
    }

    const LOGON: &[u8] = b"8=FIXT.1.1\x019=60\x0135=A\x0134=1\x0149=A\x0156=B\x0152=20261121-20:00:00\x0198=0\x01108=30\x011137=7\x0110=049\x01";

    /// Returns a state in which every field differs from that of `session`. It lists every field,
    /// so that a new field does not compile until it is added here.
    fn other_state() -> State {
        let seq = SeqNum(7);
        let stored = Stored {
            next_in: seq,
            next_out: seq,
            generation: Generation(7),
            connection: ConnectionNumber(7),
            attempts: 7,
            wait: 7,
            waited: 7,
            began: Some(Utc(7)),
        };
        let end = Some(Arc::new(SessionEnd::LogoutTimedOut));
        let logon = Logon {
            phase: PhaseState::LogoutSent(Leave { until: Mono(7), seq: Some(seq), is_ours: true, end }),
            missing: Some(Missing {
                begin: seq,
                asked_from: seq,
                end: seq,
                asked_to: Some(seq),
                asked: 7,
                asked_at: Mono(7),
                request: Request::waiting(seq),
                resent: Resent::Begun,
            }),
            backlog: Backlog {
                replay: Some(Replay { next: seq, end: seq, gap_from: Some(seq), live: seq, began: seq }),
                withheld_from: Some(seq),
            },
            request_answered: Some(seq),
            logout_waits: Some(seq),
            ours: Some(seq),
            resets: 7,
        };
        let connection = Connection {
            heart_bt_int: 7,
            peer_max_message_size: 7,
            last_sent: Mono(7),
            last_received: Mono(7),
            test_request: Some(Mono(7)),
            test_requests: 7,
            resetting: Some(Arc::new(Resetting {
                stage: ResetStage::LogonSent,
                until: Mono(7),
                test_request: 7,
                why: "7".into(),
            })),
            logged_on: true,
            end: Some(Arc::new(SessionEnd::LogonTimedOut)),
            logon,
        };
        let counted = Counted { messages: 7, orders: 7, inbound: 7 };
        State {
            stored,
            unsent: Some(Unsent { first: seq, last: seq }),
            counted,
            gave_up_at: seq,
            accepted_too_low: true,
            added: Added::of(7),
            versions: Dictionaries::new(&SessionDictionary::None, Some("9")).read_our_logon(LOGON),
            connection: Some(connection),
        }
    }

    /// Changes one field of the session to its value in the other state.
    type Change = fn(&mut State, &State);

    fn logon(state: &mut State) -> &mut Logon {
        &mut state.connection.as_mut().unwrap().logon
    }

    /// One change for each field: of the store, of a connection, of a logon.
    const CHANGES: [Change; 33] = [
        |s, o| s.stored.next_in = o.stored.next_in,
        |s, o| s.stored.next_out = o.stored.next_out,
        |s, o| s.stored.generation = o.stored.generation,
        |s, o| s.stored.connection = o.stored.connection,
        |s, o| s.stored.attempts = o.stored.attempts,
        |s, o| s.stored.wait = o.stored.wait,
        |s, o| s.stored.waited = o.stored.waited,
        |s, o| s.stored.began = o.stored.began,
        |s, o| s.unsent = o.unsent,
        |s, o| s.counted.messages = o.counted.messages,
        |s, o| s.counted.orders = o.counted.orders,
        |s, o| s.counted.inbound = o.counted.inbound,
        |s, o| s.gave_up_at = o.gave_up_at,
        |s, o| s.accepted_too_low = o.accepted_too_low,
        |s, o| s.added = o.added,
        |s, o| s.versions = o.versions.clone(),
        |s, o| connection(s).heart_bt_int = connection(&mut o.clone()).heart_bt_int,
        |s, o| connection(s).peer_max_message_size = connection(&mut o.clone()).peer_max_message_size,
        |s, o| connection(s).last_sent = connection(&mut o.clone()).last_sent,
        |s, o| connection(s).last_received = connection(&mut o.clone()).last_received,
        |s, o| connection(s).test_request = connection(&mut o.clone()).test_request,
        |s, o| connection(s).test_requests = connection(&mut o.clone()).test_requests,
        |s, o| connection(s).resetting = connection(&mut o.clone()).resetting.clone(),
        |s, o| connection(s).logged_on = connection(&mut o.clone()).logged_on,
        |s, o| connection(s).end = connection(&mut o.clone()).end.clone(),
        |s, o| logon(s).phase = logon(&mut o.clone()).phase.clone(),
        |s, o| logon(s).missing = logon(&mut o.clone()).missing,
        |s, o| logon(s).backlog.replay = logon(&mut o.clone()).backlog.replay,
        |s, o| logon(s).request_answered = logon(&mut o.clone()).request_answered,
        |s, o| logon(s).logout_waits = logon(&mut o.clone()).logout_waits,
        |s, o| logon(s).backlog.withheld_from = logon(&mut o.clone()).backlog.withheld_from,
        |s, o| logon(s).ours = logon(&mut o.clone()).ours,
        |s, o| logon(s).resets = logon(&mut o.clone()).resets,
    ];

    fn connection(state: &mut State) -> &mut Connection {
        state.connection.as_mut().unwrap()
    }

    #[test]
    fn a_rollback_restores_every_field() {
        let other = other_state();
        let mut all = session().state;
        for (n, change) in CHANGES.iter().enumerate() {
            let mut session = session();
            assert!(session.touch(1) && !session.touch(1));
            let before = session.transaction.snapshot.clone();
            change(&mut session.state, &other);
            session.outbox.cursor.push(9, 9);
            assert_ne!(session.state, before.state, "change {n} changes nothing");
            assert_eq!(session.rollback(), None);
            let after = Snapshot { state: session.state, outbox: session.outbox.mark() };
            assert_eq!(after, before, "change {n}");
            change(&mut all, &other);
        }
        assert_eq!(all, other, "a field without a change");
    }

    #[test]
    fn a_reset_begins_numbers_and_logon_anew_and_keeps_the_connection() {
        let mut state = other_state();
        let mut expected = state.clone();
        let lost = state.reset();
        expected.stored = Stored {
            next_in: SeqNum::ONE,
            next_out: SeqNum::ONE,
            generation: Generation(8),
            connection: ConnectionNumber(7),
            attempts: 0,
            wait: 0,
            waited: 7,
            began: None,
        };
        expected.gave_up_at = SeqNum::ZERO;
        let end = Some(Arc::new(SessionEnd::LogoutTimedOut));
        let leave = Leave { until: Mono(7), seq: None, is_ours: true, end };
        connection(&mut expected).logon = Logon::begin(PhaseState::LogoutSent(leave));
        assert_eq!(lost, expected.unsent.take());
        assert_eq!(state, expected);
    }
}
