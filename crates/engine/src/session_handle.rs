//! A session of a running engine, for any thread: its state, sending, and an operator's commands.

use core::fmt;
use core::time::Duration;

use fixbolt_codec::{EncodeError, EncodeErrorKind, SeqNum, Tag};
use fixbolt_session::{ChangeError, SendError, SessionEnd, SessionId, SessionState, WaitsFor};

use crate::command::{Command, Outcome};
use crate::operation::{Change, Operation, OperationError};
use crate::sender::Sender;
use crate::session_registry::SessionLink;

/// A session of a running engine, for any thread; [`Engine::session`](crate::Engine::session)
/// returns it.
///
/// What it reads is current, and needs no answer from the worker. Changes are made by the session's
/// worker: the call returns once the change is made or refused, and after `limit` at the latest.
/// Each change is recorded in the session's journal, with its author and the reason.
///
/// A callback that does not return, or a store that is slow, keeps the worker from everything else,
/// but not the thread that makes a call here. Either the worker has not begun by the end of `limit`
/// and never does ([`OperationError::Withdrawn`]), or it has begun and goes on
/// ([`OperationError::TimedOut`]). Seconds are a good limit; with zero, hardly anything is begun.
///
/// It must not be used for changes in a callback: that returns [`OperationError::OwnThread`].
///
/// Every change can fail with [`OperationError::NoSession`], [`OperationError::Stopped`],
/// [`OperationError::OwnThread`], [`OperationError::ChangeTooLong`], [`OperationError::Withdrawn`]
/// and [`OperationError::TimedOut`], and with [`OperationError::Refused`] if the session refuses
/// it: with [`ChangeError::Send`] if its store is closed or refuses the record, and with what is
/// listed with each method.
///
/// ```
/// use std::time::Duration;
///
/// use fixbolt::codec::{Message, SeqNum};
/// use fixbolt::session::{Application, ChangeError, Delivery, Failure, Role, SessionSettings};
/// use fixbolt::session::{SessionState, Turn};
/// use fixbolt::{Change, Engine, OperationError};
///
/// struct Venue;
///
/// impl Application for Venue {
///     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         Ok(Delivery::Done)
///     }
/// }
///
/// let settings = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
/// let id = settings.id.clone();
/// let engine = Engine::builder().accept("127.0.0.1:0".parse()?, settings).start(Venue)?;
/// let session = engine.session(&id).ok_or("no such session")?;
/// assert_eq!(session.state(), SessionState::Disconnected);
/// let limit = Duration::from_secs(5);
/// session.set_numbers(Change::new("jane", "agreed by telephone"), Some(SeqNum(12)), None, limit)?;
/// assert_eq!(session.next_in(), SeqNum(12));
/// let out = session.log_out(Change::new("jane", "end of day"), "", limit);
/// assert_eq!(out, Err(OperationError::Refused(ChangeError::NotLoggedOn)));
/// session.disable(Change::new("jane", "holiday"), "", limit)?;
/// assert_eq!(session.state(), SessionState::Disabled);
/// engine.stop()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SessionHandle {
    link: SessionLink,
}

impl SessionHandle {
    pub(crate) const fn new(link: SessionLink) -> Self {
        Self { link }
    }

    /// Returns the identity of the session.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.link.queue.id
    }

    /// Returns the state of the session: [`SessionState::Closed`] also if its worker has died.
    #[must_use]
    pub fn state(&self) -> SessionState {
        if self.link.signal.is_stopped() { SessionState::Closed } else { self.link.queue.status.state() }
    }

    /// Returns what new messages of the application wait for; `None` if they do not wait.
    #[must_use]
    pub fn waits_for(&self) -> Option<WaitsFor> {
        self.link.queue.status.waits_for()
    }

    /// Returns NextNumIn: the MsgSeqNum (34) that is expected next.
    ///
    /// It is read without the worker, as is [`SessionHandle::next_out`]: each is correct at some
    /// moment during the call, but the two need not be from the same moment.
    #[must_use]
    pub fn next_in(&self) -> SeqNum {
        self.link.queue.status.next_in()
    }

    /// Returns NextNumOut: the MsgSeqNum (34) that is used next.
    #[must_use]
    pub fn next_out(&self) -> SeqNum {
        self.link.queue.status.next_out()
    }

    /// Returns a sender for messages of this session.
    #[must_use]
    pub fn sender(&self) -> Sender {
        Sender::new(self.link.queue.clone(), self.link.signal.clone())
    }

    /// Connects an initiator now, without waiting for its reconnect interval, and waits until it is
    /// logged on, for at most `limit`.
    ///
    /// # Errors
    /// [`OperationError::NotInitiator`], [`OperationError::Disabled`], [`ChangeError::Halted`].
    pub fn log_on(&self, change: Change<'_>, limit: Duration) -> Result<(), OperationError> {
        self.operate(Operation::LogOn, change, limit).map(drop)
    }

    /// Sends a Logout with `text` (empty: none) and waits until the connection has ended, for at
    /// most `limit`.
    ///
    /// Returns how the connection ended. An initiator logs on again after its reconnect interval,
    /// and an acceptor when its counterparty does: [`SessionHandle::disable`] keeps it logged off.
    ///
    /// # Errors
    /// [`ChangeError::NotLoggedOn`] if there is no connection; [`ChangeError::Send`] if `text`
    /// contains SOH.
    pub fn log_out(
        &self,
        change: Change<'_>,
        text: &str,
        limit: Duration,
    ) -> Result<SessionEnd, OperationError> {
        let operation = Operation::LogOut { text: logout_text(text)? };
        self.operate(operation, change, limit)?.ok_or(OperationError::Refused(ChangeError::NotLoggedOn))
    }

    /// Enables the session: an initiator connects at once.
    ///
    /// # Errors
    /// What every change can fail with: see [`SessionHandle`].
    pub fn enable(&self, change: Change<'_>, limit: Duration) -> Result<(), OperationError> {
        self.operate(Operation::Enable, change, limit).map(drop)
    }

    /// Disables the session until it is enabled, or the engine is restarted.
    ///
    /// An initiator does not connect, and a connection to an acceptor is closed without an answer.
    /// A session that is logged on is logged out first, with `text` (empty: none); the call waits
    /// for the end, for at most `limit`.
    ///
    /// # Errors
    /// [`ChangeError::Send`] if `text` contains SOH.
    pub fn disable(&self, change: Change<'_>, text: &str, limit: Duration) -> Result<(), OperationError> {
        let operation = Operation::Disable { text: logout_text(text)? };
        self.operate(operation, change, limit).map(drop)
    }

    /// Sets NextNumIn and NextNumOut; `None` leaves a number unchanged. NextNumOut never decreases:
    /// [`SessionHandle::reset`] begins again.
    ///
    /// # Errors
    /// [`ChangeError::NextNumOutTooLow`], [`ChangeError::SeqNumOutOfRange`].
    pub fn set_numbers(
        &self,
        change: Change<'_>,
        next_in: Option<SeqNum>,
        next_out: Option<SeqNum>,
        limit: Duration,
    ) -> Result<(), OperationError> {
        self.operate(Operation::SetNumbers { next_in, next_out }, change, limit).map(drop)
    }

    /// Resets both sequence numbers to 1; the journal archives its messages. The counterparty must
    /// do the same. For a session that is logged on, see [`SessionHandle::reset_in_session`].
    ///
    /// # Errors
    /// [`ChangeError::Connected`], [`ChangeError::Halted`].
    pub fn reset(&self, change: Change<'_>, limit: Duration) -> Result<(), OperationError> {
        self.operate(Operation::Reset, change, limit).map(drop)
    }

    /// Begins to reset both sequence numbers in a session that is logged on, at a time that the two
    /// sides have agreed on (24-hour reset): a TestRequest, its answer, and a Logon with
    /// ResetSeqNumFlag=Y, which the counterparty answers in the same way. The journal archives the
    /// earlier messages.
    ///
    /// Returns once the reset has begun. Application messages wait until it has ended, which is an
    /// event: [`Event::SequenceChanged`](fixbolt_session::Event::SequenceChanged), or
    /// [`Event::ResetAbandoned`](fixbolt_session::Event::ResetAbandoned) if the counterparty is not
    /// quiet, or the session ends first. If it does not answer the Logon, the connection ends with
    /// [`SessionEnd::ResetUnanswered`].
    ///
    /// # Errors
    /// [`ChangeError::NotLoggedOn`], [`ChangeError::Halted`], [`ChangeError::MessagesPending`],
    /// [`ChangeError::ResetHasBegun`], [`ChangeError::NoResetSeqNumFlag`].
    pub fn reset_in_session(&self, change: Change<'_>, limit: Duration) -> Result<(), OperationError> {
        self.operate(Operation::ResetInSession, change, limit).map(drop)
    }

    /// Sends a TestRequest. If the counterparty does not answer in time, the connection ends, as
    /// after any silence.
    ///
    /// # Errors
    /// [`ChangeError::NotLoggedOn`]; [`ChangeError::Send`] if the outbox is full.
    pub fn send_test_request(&self, limit: Duration) -> Result<(), OperationError> {
        self.ask(Operation::TestRequest, String::new(), limit).map(drop)
    }

    /// Skips the message on which the application failed, which ends `Halted(PoisonMessage)`.
    ///
    /// # Errors
    /// [`ChangeError::NotHalted`].
    pub fn skip_poison_message(&self, change: Change<'_>, limit: Duration) -> Result<(), OperationError> {
        self.operate(Operation::SkipPoisonMessage, change, limit).map(drop)
    }

    /// Offers the message on which the application failed again after the next logon, which ends
    /// `Halted(PoisonMessage)`.
    ///
    /// # Errors
    /// [`ChangeError::NotHalted`].
    pub fn retry_poison_message(&self, change: Change<'_>, limit: Duration) -> Result<(), OperationError> {
        self.operate(Operation::RetryPoisonMessage, change, limit).map(drop)
    }

    /// Ends every other halt without a restart.
    ///
    /// Call it when the session's store can take records again, or after `fixbolt journal repair`.
    /// The application is shown what the store holds, and the session continues with its next
    /// connection. Does nothing if the session is not halted.
    ///
    /// A store that failed is also retried periodically, without a call.
    ///
    /// # Errors
    /// [`OperationError::Store`] if the session remains halted.
    pub fn resume(&self, change: Change<'_>, limit: Duration) -> Result<(), OperationError> {
        self.operate(Operation::Resume, change, limit).map(drop)
    }

    /// Has the time that the wall clock shows count for the session's schedule, after a jump for
    /// which its edges are held
    /// ([`TimingSettings::clock_jump_hold`](fixbolt_session::TimingSettings::clock_jump_hold));
    /// [`Event::Clock`](fixbolt_session::Event::Clock) says so. Only the record in the journal is
    /// made if no edges are held.
    ///
    /// Each session with a schedule is confirmed on its own: what the new time does to it, such as
    /// a reset of its sequence numbers, is agreed with its counterparty.
    ///
    /// # Errors
    /// What every change can fail with: see [`SessionHandle`].
    pub fn confirm_clock(&self, change: Change<'_>, limit: Duration) -> Result<(), OperationError> {
        self.operate(Operation::ConfirmClock, change, limit).map(drop)
    }

    /// Removes the session from the engine and closes its journal.
    ///
    /// All its handles and senders are refused from then on. The engine keeps listening on an
    /// acceptor's address. [`Engine::accept`](crate::Engine::accept) and
    /// [`Engine::connect`](crate::Engine::connect) can add the session again.
    ///
    /// # Errors
    /// [`ChangeError::Connected`]; [`OperationError::Store`] if the journal could not be closed
    /// cleanly (the session is removed all the same).
    pub fn remove(&self, change: Change<'_>, limit: Duration) -> Result<(), OperationError> {
        self.operate(Operation::Remove, change, limit).map(drop)
    }

    /// Asks for a change, which is recorded.
    fn operate(&self, operation: Operation, change: Change<'_>, limit: Duration) -> Outcome {
        let (most, found) = (Change::MAX_SIZE, change.by.len().saturating_add(change.why.len()));
        if found > most {
            return Err(OperationError::ChangeTooLong { most, found });
        }
        self.ask(operation, change.to_string(), limit)
    }

    fn ask(&self, operation: Operation, why: String, limit: Duration) -> Outcome {
        let SessionLink { queue, signal } = &self.link;
        if signal.must_not_be_awaited() {
            return Err(OperationError::OwnThread);
        }
        let session = queue.session;
        signal.ask(limit, |answer| Command::Operate { session, operation, why, limit, answer })?
    }
}

/// Checks the Text (58) of a Logout.
fn logout_text(text: &str) -> Result<String, OperationError> {
    if text.contains('\u{1}') {
        let error = EncodeError::new(Tag::new(58), EncodeErrorKind::Soh);
        return Err(ChangeError::Send(SendError::Encode(error)).into());
    }
    Ok(text.to_owned())
}

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionHandle")
            .field("id", self.id())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
