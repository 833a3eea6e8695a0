//! A FIX engine: acceptors and initiators over TCP, with journal and configuration.
//!
//! An [`Engine`] runs its sessions on one worker thread, or on several. The application is a value
//! whose callbacks run on its worker's thread; everything that it writes in one callback takes
//! effect together with the message that caused it, or not at all. Other threads use a
//! [`SessionHandle`], and send through a [`Sender`]. Engines in one process are independent of each
//! other.
//!
//! The engine never guesses: a setting that it does not understand, a journal that is in use, or a
//! port that is taken stops the start, with one line that says what is wrong and where. A journal
//! that is damaged halts its session, and the others go on.
//! It binds to the address that it is given, and to loopback if a configuration file names none.
//!
//! # Errors
//!
//! The text of an error does not repeat its `source`, so that a report which prints the chain says
//! each thing once; `{error:#}` formats the chain as one line, and is what a program without such
//! reports should print. An error that adds nothing to the one it wraps ([`PostError::Encode`], for
//! example) reads as that one does, and has the same source.
//!
//! Below is the project's front page; its two programs are compiled with this crate's
//! documentation.
//!
// The front page's links are paths in the repository; if a link is defined twice, the first
// definition counts.
//! [architecture]: https://docs.rs/crate/fixbolt/latest/source/ARCHITECTURE.md
//! [benchmarking]: https://docs.rs/crate/fixbolt/latest/source/docs/benchmarking.md
//! [benchmarks]: https://docs.rs/crate/fixbolt/latest/source/docs/benchmarks.md
//! [changelog]: https://docs.rs/crate/fixbolt/latest/source/CHANGELOG.md
//! [codec]: https://docs.rs/crate/fixbolt/latest/source/docs/codec.md
//! [conformance]: https://docs.rs/crate/fixbolt/latest/source/docs/conformance.md
//! [configuration]: https://docs.rs/crate/fixbolt/latest/source/docs/configuration.md
//! [contributing]: https://docs.rs/crate/fixbolt/latest/source/CONTRIBUTING.md
//! [dialects]: https://docs.rs/crate/fixbolt/latest/source/docs/dialects.md
//! [example]: https://docs.rs/crate/fixbolt/latest/source/examples/acceptor.rs
//! [journal]: https://docs.rs/crate/fixbolt/latest/source/docs/journal.md
//! [presets]: https://docs.rs/crate/fixbolt/latest/source/docs/presets.md
//! [quickfix]: https://docs.rs/crate/fixbolt/latest/source/docs/quickfix.md
//! [session]: https://docs.rs/crate/fixbolt/latest/source/docs/session.md
//! [session-path]: https://docs.rs/crate/fixbolt/latest/source/docs/session-path.md
//! [notice]: https://docs.rs/crate/fixbolt/latest/source/NOTICE
//! [security]: https://docs.rs/crate/fixbolt/latest/source/SECURITY.md
//! [tls]: https://docs.rs/crate/fixbolt/latest/source/docs/security.md
//! [tuning]: https://docs.rs/crate/fixbolt/latest/source/docs/tuning.md
//! [validation]: https://docs.rs/crate/fixbolt/latest/source/docs/validation.md
//! [verification]: https://docs.rs/crate/fixbolt/latest/source/docs/verification.md
//! [versions]: https://docs.rs/crate/fixbolt/latest/source/examples/versions.rs
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// Marks a point of the loop where a test may end the process.
macro_rules! kill_point {
    ($point:ident) => {
        #[cfg(feature = "kill-points")]
        fixbolt_session::kill_points::reach(fixbolt_session::kill_points::Point::$point);
    };
}

mod acceptance;
mod builder;
mod certificates;
mod clock;
mod command;
pub mod config;
mod configured;
#[cfg(test)]
mod damage;
mod descriptors;
mod distribution;
mod driven;
mod encoding;
mod engine;
mod error;
mod handshake_queue;
mod identity_template;
mod initiation;
mod limits;
mod memory;
mod message_log;
mod network;
mod operation;
mod origin;
mod outbound_queue;
mod pages;
mod port_holder;
mod ports;
mod posted_body;
mod preparation;
mod proxy_header;
mod ring;
mod room;
mod running_threads;
mod semaphore;
mod sender;
mod session_check;
mod session_handle;
mod session_registry;
mod settings_error;
mod shutdown_signals;
mod socket_options;
mod stopper;
mod sync;
mod team;
pub mod testing;
mod tier;
pub mod tls;
mod unanswered;
mod waiting;
mod worker;
mod worker_signal;
mod workers_error;
mod zones;

pub use acceptance::Acceptance;
pub use builder::EngineBuilder;
pub use certificates::Certificates;
pub use clock::codec_clock;
pub use driven::DrivenEngine;
pub use engine::Engine;
pub use error::{EngineError, ListenError};
pub use initiation::{HostSelection, Initiation};
pub use message_log::MessageLog;
pub use network::{InvalidNetwork, Network};
pub use operation::{Change, OperationError};
// For the fuzzer.
#[doc(hidden)]
pub use proxy_header::ProxyHeader;
pub use sender::{PatientSender, PostError, Sender, SenderDraft};
pub use session_handle::SessionHandle;
pub use settings_error::SettingsError;
pub use socket_options::SocketOptions;
pub use stopper::Stopper;
pub use tier::choose_tier;
pub use waiting::{Waiting, WorkerOptions};
pub use workers_error::WorkersError;

pub use fixbolt_codec as codec;
pub use fixbolt_messages as messages;

/// Sessions and applications: what a program sets, implements and receives.
///
/// In the order in which a program meets them:
///
/// - [`SessionSettings`] say what a session is ([`SessionId`], [`Role`]), and what it does in
///   another way than by default. They are passed to the
///   [`EngineBuilder`], or come from a file ([`config`]).
/// - [`Application`] is what the program implements. Each callback gets a [`Turn`], which knows the
///   session and writes messages: into [`Turn::session`], or into another one.
/// - A callback returns what it decides ([`Delivery`], [`LogonDecision`], [`Resend`]), or a
///   [`Failure`], to which `?` converts every error. [`SessionReject`] and [`BusinessReject`] are
///   answers that the program gives itself.
/// - [`Event`] tells what has happened to a session, [`SessionEnd`] why its connection ended,
///   [`Halt`] why it waits for an operator. [`FailedAttempt`] and [`RefusedConnection`] are about
///   connections that never became one.
/// - Other threads have a [`SessionHandle`], which shows the session's
///   [`SessionState`] and operates it, and a [`Sender`] with a [`Ticket`] for each
///   message.
///
/// [`Application`]: session::Application
/// [`BusinessReject`]: session::BusinessReject
/// [`Delivery`]: session::Delivery
/// [`Event`]: session::Event
/// [`FailedAttempt`]: session::FailedAttempt
/// [`Failure`]: session::Failure
/// [`Halt`]: session::Halt
/// [`LogonDecision`]: session::LogonDecision
/// [`RefusedConnection`]: session::RefusedConnection
/// [`Resend`]: session::Resend
/// [`Role`]: session::Role
/// [`SessionEnd`]: session::SessionEnd
/// [`SessionId`]: session::SessionId
/// [`SessionReject`]: session::SessionReject
/// [`SessionSettings`]: session::SessionSettings
/// [`SessionState`]: session::SessionState
/// [`Ticket`]: session::Ticket
/// [`Turn`]: session::Turn
/// [`Turn::session`]: session::Turn::session
///
/// A venue that asks for a password, tried without sockets:
///
/// ```
/// use fixbolt::codec::Message;
/// use fixbolt::session::{
///     Application, Delivery, Failure, LogonDecision, Role, SessionSettings, Turn,
/// };
/// use fixbolt::testing::TestSession;
///
/// struct Venue;
///
/// impl Application for Venue {
///     fn on_logon(&mut self, logon: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
///         Ok(match logon.get(554) {
///             Some(b"correct horse") => LogonDecision::Accept,
///             _ => LogonDecision::refuse("wrong password"),
///         })
///     }
///
///     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         Ok(Delivery::UNSUPPORTED)
///     }
/// }
///
/// let settings = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
/// let mut venue = TestSession::new(settings, Venue)?;
/// venue.connect();
/// let answer = venue.receive("35=A|98=0|108=30|553=desk|554=battery|");
/// assert_eq!((answer[0].msg_type(), answer[0].get(58)), ("5", Some("wrong password")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A member that may send two orders a second, and takes two messages a second:
///
/// ```
/// use std::time::Duration;
///
/// use fixbolt::codec::{BodySink, Key, Message, MsgType, NewBody};
/// use fixbolt::session::{
///     Application, Delivery, Failure, OutboundThrottle, Role, SendError, SessionDictionary,
///     SessionSettings, Turn,
/// };
/// use fixbolt::testing::TestSession;
///
/// struct Member;
///
/// impl Application for Member {
///     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         Ok(Delivery::Done)
///     }
/// }
///
/// fn order(turn: &mut Turn<'_>) -> Result<(), SendError> {
///     let mut order = turn.session().draft(MsgType::new(b"D"));
///     order.writer().bytes(Key::new(11), b"ord1");
///     order.send().map(drop)
/// }
///
/// let mut settings = SessionSettings::new("FIX.4.4:MEMBER->VENUE".parse()?, Role::Initiator);
/// settings.throttle.max_order_rate = Some("2".parse()?);
/// settings.throttle.outbound_throttle = OutboundThrottle::Refuse;
/// settings.throttle.max_inbound_rate = Some("2".parse()?);
/// # settings.dictionary = SessionDictionary::None;
/// let mut member = TestSession::new(settings, Member)?;
/// member.log_on();
///
/// for _ in 0..2 {
///     member.act(order)?;
/// }
/// member.advance(Duration::from_millis(300));
/// let again_in = Duration::from_millis(700);
/// assert_eq!(member.act(order).err(), Some(SendError::Throttled { again_in }));
/// member.advance(again_in);
/// assert!(member.act(order).is_ok());
///
/// for id in ["report1", "report2"] {
///     assert!(member.receive(&format!("35=8|17={id}|")).is_empty());
/// }
/// let reject = &member.receive("35=8|17=report3|")[0];
/// assert_eq!((reject.msg_type(), reject.get(380)), ("j", Some("0")));
/// assert_eq!(reject.get(58), Some("Throttle limit exceeded: at most 2 messages in 1s"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod session {
    pub use fixbolt_session::{
        Accepted, AcceptedHeartBtInt, Application, AttemptFailure, BeforeSend, BusinessReject,
        BusinessRejectCode, CertificateFault, CertificateMismatch, ChangeError, Clock, CodecClock,
        CodecOperation, CodecTime, CompIds, Compatibility, DelayMultiplier, Delivery, Direction, Draft,
        EndedBy, Event, FailedAttempt, Failure, FirstMessageFault, FixtDictionaries, GarbledError, Halt,
        Handle, InboundThrottle, InvalidDelayMultiplier, InvalidHeartBtInt, InvalidRate, InvalidSessionId,
        LimitSettings, LogonDecision, LogonFault, LogonFields, LogonRefusal, Misbehavior, Mono, NextAttempt,
        Now, ORDER_MSG_TYPES, OpenError, OutboundThrottle, OutboundWatermarks, Outgoing, Phase, Rate,
        Refusal, RefusedConnection, RefusingAnswer, ReplayInterleave, Resend, ResendAnswer, ResendOverLimit,
        ResendRange, ResendSettings, ResetSettings, Resume, Role, Secret, SendError, SessionDictionary,
        SessionEnd, SessionId, SessionKey, SessionReject, SessionRejectCode, SessionSettings, SessionState,
        SessionWaker, SettingRange, StoredMessage, TestMessageIndicator, ThrottleSettings, Ticket,
        TimingSettings, TlsFailure, TooLowAtLogon, Turn, Unreached, Utc, ValidationSettings, WaitsFor,
        WhileLoggedOff, WireMessage, WireObserver, WrongSetting,
    };
}

/// When a session takes place: daily and weekly windows, holidays, early closes, time zones.
///
/// A session of New York's trading days that begins in the evening before:
///
/// ```
/// use std::sync::Arc;
///
/// use fixbolt::schedule::{Edge, Schedule, TimeOfDay, Weekdays, Window, Zone, time_zone};
/// use fixbolt::session::{Role, SessionSettings};
///
/// // `time_zone` reads the system's database, which not every system has.
/// let zone = time_zone("America/New_York").unwrap_or_else(|_| Zone::utc());
/// let edge = |time: &str| time.parse::<TimeOfDay>().map(|time| Edge::new(time, zone.clone()));
/// let days = "Sun,Mon,Tue,Wed,Thu".split(',').map(str::parse).collect::<Result<Weekdays, _>>()?;
/// let window = Window::daily(days, edge("17:00:00")?, edge("16:00:00")?);
/// let schedule = Schedule::new([window]).with_holidays(["20261224".parse()?]);
/// let mut settings = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
/// settings.schedule = Some(Arc::new(schedule));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod schedule {
    pub use crate::zones::{TimeZoneError, local_time_zone, time_zone};
    pub use fixbolt_session::schedule::{
        Edge, InvalidTime, InvalidZone, Schedule, ScheduleReset, TimeOfDay, Weekday, Weekdays, Window,
        WindowPosition, Zone,
    };
}

/// The storage of messages and sequence numbers, and what a custom store implements.
///
/// Most programs name a directory, `Engine::builder().journal("journals")`, or none. A store for
/// each worker that keeps less in memory than the default:
///
/// ```
/// use fixbolt::Engine;
/// use fixbolt::store::{MemoryStore, Store};
///
/// let builder = Engine::builder().stores(|_worker| Box::new(MemoryStore::with_limit(1 << 20)));
/// # drop(builder);
/// ```
pub mod store {
    pub use fixbolt_journal::{DirectoryStore, MemoryStore, NoStore, Retention};
    pub use fixbolt_session::WorkerWaker;
    pub use fixbolt_session::store::{
        Abilities, Acknowledges, Committed, ConnectionNumber, Forgets, Generation, Intercept, Intercepted,
        OpensLater, Position, Prepares, Record, RecordFlags, RecordKind, Recovered, Reports, Seeks, Store,
        StoreError, StoreKind, WaitingMessages,
    };
}

/// Messages out of files: the logs of any engine, and journals. With the feature `log`.
///
/// How many messages of each type a log has, and what in it is no message:
///
/// ```
/// use std::collections::BTreeMap;
///
/// use fixbolt::codec::Index;
/// use fixbolt::log::{Content, Reader};
///
/// # let path = std::env::temp_dir().join(format!("log-module-{}.log", std::process::id()));
/// # std::fs::write(&path, "20261121-09:00:00.123 : 8=FIX.4.2|9=5|35=0|10=161|\nrestarted\n")?;
/// let mut reader = Reader::open(&path)?;
/// let (mut tags, mut spans) = ([0; 512], [Default::default(); 512]);
/// let mut counts = BTreeMap::new();
/// while let Some(entry) = reader.next()? {
///     let Content::Message(framed) = entry.content else {
///         println!("{}:{}: {:?}", path.display(), entry.line.unwrap_or(0), entry.content);
///         continue;
///     };
///     let mut index = Index::new(&mut tags, &mut spans);
///     let message = index.build(framed)?;
///     *counts.entry(message.msg_type().to_vec()).or_insert(0) += 1;
/// }
/// assert_eq!(counts, BTreeMap::from([(b"0".to_vec(), 1)]));
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "log")]
pub mod log {
    pub use fixbolt_log::{Content, Entry, Form, Prefix, ReadError, Reader, Time};
}

/// The meaning of messages: dictionaries, shipped or read from files, and validation with a policy.
///
/// A [`Source`] is loaded to a [`Dictionary`], with warnings; a [`Validator`] is made of it, which
/// the [`SessionDictionary`](crate::session::SessionDictionary) of a session's settings takes. What
/// becomes of a [`Violation`] is decided by the [`Policy`], for each [`Check`].
///
/// [`Check`]: dictionary::Check
/// [`Dictionary`]: dictionary::Dictionary
/// [`Policy`]: dictionary::Policy
/// [`Source`]: dictionary::Source
/// [`Validator`]: dictionary::Validator
/// [`Violation`]: dictionary::Violation
///
/// A session whose counterparty has a field of its own, and sends values that no dictionary lists:
///
/// ```
/// use std::sync::Arc;
///
/// use fixbolt::dictionary::{Action, Check, Policy, Source, Validator};
/// use fixbolt::session::{Role, SessionDictionary, SessionSettings};
///
/// let dialect = "<fix extends='FIX.4.4'>
///   <fields><field number='5001' name='DeskCode' type='STRING'/></fields>
///   <messages>
///     <message name='NewOrderSingle' msgtype='D'><field name='DeskCode' required='N'/></message>
///   </messages>
/// </fix>";
/// let loaded = Source::text(dialect).load()?;
/// assert!(loaded.warnings.is_empty());
/// let mut settings = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
/// settings.dictionary = SessionDictionary::Own(Arc::new(Validator::new(&loaded.dictionary)));
/// settings.validation.incoming = Policy::standard().with(Check::EnumValue, Action::Warn);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod dictionary {
    pub use fixbolt_dictionary::{
        Action, ApplicationVersion, ApplicationVersions, Check, Chosen, CodeRules, Dictionary, DictionarySet,
        Encoding, EntryOrder, ExpectedOrder, Faults, LoadError, Loaded, Policy, ReadError, RefTag,
        Requirements, Scratch, Source, TransportMismatch, TypeRules, UnknownEncoding,
        UnsupportedApplicationVersion, Validator, Violation, Warning, fix_latest, fix40, fix41, fix42, fix43,
        fix44, fix50, fix50sp1, fix50sp2, fixt11, shipped,
    };

    /// The parts of a [`Dictionary`]: fields, codes, components, groups and messages.
    ///
    /// ```
    /// use fixbolt::dictionary::model::Member;
    ///
    /// let fix44 = fixbolt::dictionary::fix44();
    /// let order = fix44.message_by_name("NewOrderSingle").expect("FIX.4.4 has it");
    /// assert!(order.members.contains(&Member::Field { tag: 11, required: true }));
    /// assert_eq!(fix44.field(11).map(|field| field.name.as_str()), Some("ClOrdID"));
    /// ```
    pub mod model {
        pub use fixbolt_dictionary::{
            Code, CodeSet, CodeSetId, ComponentDef, ComponentId, DataType, Definition, DictionaryVersion,
            FieldDef, FlatMember, GroupDef, GroupId, Member, MessageDef, Origin, Presence, Rule, Scenario,
            Terms, UnionType,
        };
    }
}

/// The items that most programs use: among them the types of the callbacks of an
/// [`Application`](crate::session::Application) and of [`EngineBuilder::before_send`].
///
/// ```
/// use fixbolt::prelude::*;
///
/// struct Trader;
///
/// impl Application for Trader {
///     fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         println!("{}: {message:?}", turn.session_id());
///         Ok(Delivery::Done)
///     }
/// }
///
/// let settings = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
/// let session = Initiation::new(settings, "localhost", 9881);
/// let engine = Engine::builder().connect(session).start(Trader)?;
/// engine.stop()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod prelude {
    pub use crate::codec::{
        BodySink, BodyWriter, Decimal, Key, Message, NewBody, Precision, SeqNum, Tag, UtcTimestamp, Version,
    };
    pub use crate::config::Configuration;
    pub use crate::messages::typed::View as _;
    pub use crate::session::{
        Application, BusinessReject, BusinessRejectCode, Delivery, Event, Failure, LogonDecision, Outgoing,
        RefusedConnection, Resend, ResendAnswer, ResendRange, Resume, Role, SendError, SessionId,
        SessionReject, SessionRejectCode, SessionSettings, Turn,
    };
    pub use crate::{
        Acceptance, Change, Engine, EngineBuilder, EngineError, Initiation, Sender, SessionHandle,
    };
}
