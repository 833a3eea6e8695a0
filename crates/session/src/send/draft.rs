//! Writing one message of one session, straight into its outbox.

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{
    BodySink, BodyWriter, EncodeError, EncodeErrorKind, Key, Message, MsgType, NewBody, SeqNum, Tag, Version,
};

use crate::core::Core;
use crate::events::error::SendError;
use crate::events::event::{Accepted, Ticket};
use crate::send::seal::{SendKind, headroom};
use crate::settings::SessionSettings;
use crate::state::Phase;
use crate::state::State;
use crate::state::guarded::Guarded;
use crate::state::outbox::{Outbox, OutboxCursor};
use crate::state::session::{Fixed, Limits, Session, Tools};
use crate::state::standing::Standing;
use crate::state::throttling::Throttled;
use crate::state::transaction::Transaction;
use crate::state::waiting::WaitingQueue;
use crate::store::Store;
use crate::values::fix::number::is_route_among;
use crate::values::fix::{key, tag};
use crate::values::time::{Now, Utc};
use crate::wire::before_send::show;

/// A handle that writes one message to one session.
pub struct Handle<'a> {
    pub(crate) now: Now,
    pub(crate) session: &'a mut Session,
    pub(crate) store: &'a mut (dyn Store + 'a),
    pub(crate) cause: Option<SeqNum>,
    pub(crate) route: Option<&'a Message<'a>>,
    /// ApplVerID (1128).
    pub(crate) version: Option<&'static str>,
    pub(crate) header: &'a [(Key, &'a [u8])],
    /// OrigSendingTime (122) of a message that the application marks as a possible duplicate.
    pub(crate) original: Option<Utc>,
    /// The ticket under which another thread posted the message.
    pub(crate) posted: Option<Ticket>,
    /// Whether the body is known to have no secrets, whatever its writer knows of it.
    pub(crate) has_no_secrets: bool,
    pub(crate) author: Author,
}

/// Who writes a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Author {
    Application,
    /// The application, whose body has waited for a throttle. It was checked and completed then.
    Waited,
    SessionLayer,
}

impl<'a> Handle<'a> {
    /// Creates a handle on the session at an index, for messages of the application.
    pub(crate) fn new(now: Now, core: &'a mut Core, index: usize) -> Self {
        let (session, store) = core.session_and_store(index);
        Self {
            now,
            session,
            store,
            cause: None,
            route: None,
            version: None,
            header: &[],
            original: None,
            posted: None,
            has_no_secrets: false,
            author: Author::Application,
        }
    }

    /// Adds header fields of the application (SenderSubID 50, TargetSubID 57, OnBehalfOfCompID 115,
    /// PossResend 97, ...). Fields that the session layer writes are refused by `send`, and so are
    /// the SubIDs and LocationIDs of the session's identity, which every message has already.
    #[must_use]
    pub const fn with_header(mut self, fields: &'a [(Key, &'a [u8])]) -> Self {
        self.header = fields;
        self
    }

    /// Marks the message as a possible duplicate: PossDupFlag (43) is Y, and OrigSendingTime (122)
    /// is `original`, or SendingTime if that is earlier. It gets a sequence number of its own all
    /// the same. `send` refuses it unless
    /// [`ResendSettings::allow_pos_dup`](crate::ResendSettings::allow_pos_dup) is set.
    #[must_use]
    pub const fn possible_duplicate(mut self, original: Utc) -> Self {
        self.original = Some(original);
        self
    }

    /// Says under which ticket another thread posted the message, so that it keeps it if it waits
    /// for a throttle; and whether the body, which is copied unseen, may have one of the session's
    /// [`secret_fields`](crate::SessionSettings::secret_fields). If not, the message is not
    /// searched for them.
    #[must_use]
    pub const fn posted_as(mut self, ticket: Ticket, may_have_secrets: bool) -> Self {
        self.posted = Some(ticket);
        self.has_no_secrets = !may_have_secrets;
        self
    }

    /// Names the version of the message in ApplVerID (1128), which a message in a session of
    /// FIXT.1.1 needs if its version is not the session's default
    /// ([`SessionSettings::default_appl_ver_id`](crate::SessionSettings::default_appl_ver_id)). In
    /// other sessions this does nothing.
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        let is_fixt = self.session.fixed.settings.id.version() == Version::Fixt11;
        self.version = version.appl_ver_id().filter(|_| is_fixt);
        self
    }

    pub(crate) fn open(self, msg_type: MsgType, kind: SendKind<'a>) -> Draft<'a> {
        let Self { now, session, store, cause, route, version, header, original, posted, author, .. } = self;
        // What is added to the body may have some.
        let has_no_secrets = self.has_no_secrets && header.is_empty() && route.is_none();
        let session_layer = author == Author::SessionLayer;
        let original = original.map(|original| original.min(now.utc));
        if let Some(timing) = &mut session.tools.encoding.timing {
            timing.begin();
        }
        let is_named = author != Author::Waited
            && matches!(kind, SendKind::New { .. })
            && !msg_type.is_admin()
            && session.dictionaries().must_be_named(msg_type.as_bytes());
        // R-FIXT-6
        let names_version = is_named && version.is_none();
        // If nothing was queued before this turn, what does not fit now never will.
        let alone = !session.outbox.was_queued(session.transaction.snapshot.outbox);
        let (mut waits, mut refused) = (false, None);
        if author == Author::Application {
            refused = if msg_type.is_admin() {
                // R-SEND-5
                Some(SendError::SessionMessage)
            // R-POSSDUP-7
            } else if original.is_some() && !session.fixed.settings.resend.allow_pos_dup {
                Some(SendError::PossDupNotAllowed)
            } else {
                session.may_send(cause.is_some()).err()
            };
            if refused.is_none() {
                // R-LIMIT-5
                match session.throttled(msg_type, now.mono) {
                    Throttled::No => {}
                    Throttled::Waits => waits = true,
                    Throttled::Refused(error) => refused = Some(error),
                }
            }
        }
        // Half of the outbox is reserved for answers: a session that sends as fast as it can must
        // still read, or two of them wait for each other.
        let unasked = cause.is_none() && !session_layer && !session.outbox.is_empty();
        let most = if unasked { session.outbox.half() } else { usize::MAX };
        let Session { fixed, standing, state, transaction, outbox, waiting, limits, tools, .. } = session;
        let Outbox { memory, cursor, .. } = outbox;
        let tail = cursor.tail();
        let mut body_start = tail + headroom(fixed, state, cursor, msg_type, kind, original.is_some());
        if names_version {
            body_start += version_field(&fixed.settings).into_iter().map(<[u8]>::len).sum::<usize>();
        }
        // Leaves room for CheckSum, and for a body that moves because BodyLength has more digits
        // than guessed.
        let (mut start, mut limit) = (body_start, memory.len().saturating_sub(SPARE).min(most));
        let alone = alone || tail == 0;
        if start >= limit {
            (start, limit) = (0, 0);
            refused.get_or_insert_with(|| no_room(fixed, state, tail, alone));
        }
        let opened = OpenedBody { memory: memory.as_ptr().addr(), start, limit, msg_type };
        let mut writer = BodyWriter::within(msg_type, memory, start, limit);
        if let Some(version) = version {
            writer.bytes(key::APPL_VER_ID, version.as_bytes());
        }
        for (key, value) in header {
            writer.bytes(*key, value);
        }
        if let Some(inbound) = route {
            let longest = if session_layer { ROUTE_MAX } else { usize::MAX };
            reverse_route(&mut writer, inbound, longest, fixed.settings.id.version());
        }
        let sender =
            Sender { now, fixed, standing, state, transaction, cursor, waiting, limits, tools, store };
        Draft {
            writer,
            opened,
            kind,
            original,
            refused,
            alone,
            author,
            posted,
            has_no_secrets,
            names_version,
            waits,
            sender,
        }
    }
}

/// Returns ApplVerID (1128) of messages of the session's default version, in three pieces.
pub(super) fn version_field(settings: &SessionSettings) -> [&[u8]; 3] {
    [b"1128=", settings.appl_ver_id().unwrap_or_default().as_bytes(), b"\x01"]
}

/// The body for which a draft was opened. The application has a reference to the draft's writer, by
/// which it could put another one in its place.
struct OpenedBody {
    /// Address of the memory.
    memory: usize,
    start: usize,
    limit: usize,
    msg_type: MsgType,
}

impl OpenedBody {
    fn is_of(&self, writer: &BodyWriter<'_>) -> bool {
        let body = writer.written().as_ptr_range();
        let (start, limit) = (self.memory + self.start, self.memory + self.limit);
        body.start.addr() == start && body.end.addr() <= limit && writer.msg_type() == self.msg_type
    }
}

/// Returns back-pressure if the turn will fit once the socket has accepted what was queued before
/// it. If nothing was queued, it never will.
fn no_room(fixed: &Fixed, state: &State, tail: usize, alone: bool) -> SendError {
    if !alone && state.phase() != Phase::Disconnected {
        return SendError::BackPressure;
    }
    let memory = fixed.settings.limits.outbound_buffer_size.saturating_sub(SPARE);
    let message = state.peer_max_message_size().min(fixed.settings.limits.max_message_size);
    SendError::TooLarge { limit: if tail == 0 { message.min(memory) } else { memory } }
}

/// The longest routing field in a message of the session layer, so that no counterparty makes its
/// Rejects too large for the outbox.
const ROUTE_MAX: usize = 256;

/// Bytes reserved after the body for CheckSum and for a body that must move.
const SPARE: usize = 24;

/// Copies the routing fields of `inbound` to the answer, reversed (standard: third-party routing;
/// QuickFIX script ReverseRoute).
///
/// Omits values longer than `longest`, and fields that the version does not have: FIX.4.0 has no
/// locations.
// R-SEND-6
fn reverse_route(writer: &mut BodyWriter<'_>, inbound: &Message<'_>, longest: usize, version: Version) {
    // Few messages have a route, which one look at the tags shows.
    if !is_route_among(inbound.tags()) {
        return;
    }
    for (there, back) in key::REVERSED_ROUTE {
        let is_location = there == tag::ON_BEHALF_OF_LOCATION_ID || there == tag::DELIVER_TO_LOCATION_ID;
        if is_location && version < Version::Fix41 {
            continue;
        }
        if let Some(value) = inbound.get(there)
            && !value.is_empty()
            && value.len() <= longest
        {
            writer.bytes(back, value);
        }
    }
}

impl<'a> NewBody<'a> for Handle<'a> {
    type Draft = Draft<'a>;

    fn draft(self, msg_type: MsgType) -> Draft<'a> {
        let cause = self.cause;
        self.open(msg_type, SendKind::New { cause })
    }
}

/// A message that is being written. If it is dropped without `send`, it leaves no trace: no
/// sequence number is used and no byte is sent.
#[must_use = "nothing is sent until `send`"]
pub struct Draft<'d> {
    pub(super) writer: BodyWriter<'d>,
    opened: OpenedBody,
    pub(super) kind: SendKind<'d>,
    /// OrigSendingTime (122) of a new message that is a possible duplicate.
    pub(super) original: Option<Utc>,
    /// Why `send` will refuse the message, whatever is written.
    pub(crate) refused: Option<SendError>,
    alone: bool,
    pub(super) author: Author,
    pub(super) posted: Option<Ticket>,
    pub(super) has_no_secrets: bool,
    /// Whether the message must name its version, which is the default one if the body does not say
    /// another. There is room for that field before the body.
    pub(super) names_version: bool,
    /// Whether the message waits for a throttle.
    pub(crate) waits: bool,
    pub(super) sender: Sender<'d>,
}

/// The session that sends a message, but for the memory of its outbox, into which the body is
/// written.
pub(super) struct Sender<'d> {
    pub(super) now: Now,
    pub(super) fixed: &'d Fixed,
    pub(super) standing: &'d Guarded<Standing>,
    pub(super) state: &'d mut State,
    pub(super) transaction: &'d mut Guarded<Transaction>,
    pub(super) cursor: &'d mut OutboxCursor,
    pub(super) waiting: &'d mut WaitingQueue,
    pub(super) limits: &'d mut Guarded<Limits>,
    pub(super) tools: &'d mut Tools,
    pub(super) store: &'d mut (dyn Store + 'd),
}

impl Draft<'_> {
    /// Returns why the message cannot be sent, whatever the finished body is.
    #[inline]
    pub(super) fn refusal(&mut self) -> Option<SendError> {
        if self.refused.is_some() {
            return self.refused.take();
        }
        if let Some(refusal) = self.show() {
            return Some(refusal);
        }
        if !self.opened.is_of(&self.writer) {
            return Some(EncodeError::new(Tag::new(35), EncodeErrorKind::Replaced).into());
        }
        if let Some(EncodeError { kind: EncodeErrorKind::NoRoom, .. }) = self.writer.error() {
            let Sender { fixed, state, cursor, .. } = &self.sender;
            return Some(no_room(fixed, state, cursor.tail(), self.alone));
        }
        None
    }

    /// Shows a new message to what sees it before it is sent. Returns why it is refused then.
    #[inline]
    fn show(&mut self) -> Option<SendError> {
        let hook = self.sender.tools.before_send.as_deref()?;
        // One that has waited was shown before it waited. What is wrong with the body, such as that
        // it does not fit, is said without the hook, which would see a part of it.
        let is_new = self.author != Author::Waited && matches!(self.kind, SendKind::New { .. });
        if !is_new || self.writer.finish().is_err() {
            return None;
        }
        self.has_no_secrets = false;
        show(hook, &mut self.writer, &self.sender.fixed.settings, self.author == Author::SessionLayer).err()
    }

    /// Sends a message of the session layer, which never waits for a throttle.
    pub(crate) fn send_numbered(self) -> Result<SeqNum, SendError> {
        match self.send()? {
            Accepted::Numbered(seq) => Ok(seq),
            Accepted::Waits(_) => Err(SendError::BackPressure),
        }
    }
}
