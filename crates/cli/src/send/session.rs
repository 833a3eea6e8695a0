//! Selects the session that a message is sent in: a temporary one, or one of a configuration.

use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fixbolt::config::{Configuration, ConnectionType, GroupsAsSent, SessionConfiguration};
use fixbolt::{Engine, EngineBuilder, Initiation};
use fixbolt_cli::address::host_and_port;
use fixbolt_cli::exit::{Failure, reason};
use fixbolt_cli::{note, options};
use fixbolt_dictionary::{Dictionary, Policy, Version};
use fixbolt_journal::{DirectoryStore, MemoryStore};
use fixbolt_session::schedule::Schedule;
use fixbolt_session::store::Store;
use fixbolt_session::{AcceptedHeartBtInt, CompIds, Role, SessionDictionary, SessionId, SessionSettings};

use super::Arguments;
use super::credentials::logon_fields;
use crate::check_config::refused;
use crate::dictionary::failure;
use crate::fixt;
use crate::print::policy;
use crate::tls;

/// The session to use, ready to start.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) builder: EngineBuilder,
    pub(super) store: Box<dyn Store>,
    pub(super) dictionary: Dictionary,
    /// Whether `dictionary` is the session's own, not the shipped one.
    pub(super) is_own_dictionary: bool,
    /// The checks of what is received.
    pub(super) policy: Policy,
    pub(super) groups_as_sent: GroupsAsSent,
    /// The version of messages that do not name theirs, over FIXT.1.1.
    pub(super) default: Option<Version>,
    /// The largest message that is received.
    pub(super) max_message_size: usize,
    /// How long the counterparty has to answer our Logon.
    pub(super) logon_timeout: Duration,
    /// The name of the counterparty in messages to the user.
    pub(super) peer: String,
    /// Where the journal is, if there is one.
    pub(super) journal: Option<PathBuf>,
    /// When there may be a connection.
    pub(super) schedule: Option<Arc<Schedule>>,
}

/// Returns the session for `--to`: with the journal of `--store`, or in memory, with sequence
/// numbers that begin at 1.
pub(super) fn direct(arguments: &Arguments) -> Result<Session, Failure> {
    options::stand_for(tls::OPTIONS);
    let (host, port) = host_and_port("--to", &arguments.to, 9880)?;
    let reset = arguments.reset || arguments.store.is_none();
    let is_asked = arguments.reset || arguments.store.is_some();
    if !is_asked && !is_loopback(host, port, &arguments.to)? {
        return Err(Failure::usage(format!(
            "--to {}: this is not a loopback address, and the sequence numbers of a counterparty are not reset unasked; add --store DIR to keep a journal in DIR and to continue its sequence numbers, or --reset to begin at 1 on both sides (ResetSeqNumFlag=Y), which gives up what the other side has not received",
            arguments.to
        )));
    }
    // FIX.5.0 and later are versions of messages in sessions of FIXT.1.1.
    let (version, default) = match arguments.version.unwrap_or(Version::Fix44) {
        Version::Fixt11 => (Version::Fixt11, Some(Version::Fix50Sp2)),
        application if application.is_application() => (Version::Fixt11, Some(application)),
        version => (version, None),
    };
    let dictionary = fixt::dictionary(version, default)?;
    let comp_ids = |given: &Option<CompIds>, default| given.clone().map_or_else(|| CompIds::new(default), Ok);
    let id = comp_ids(&arguments.sender, "CLIENT")
        .and_then(|sender| SessionId::between(version, sender, comp_ids(&arguments.target, "FIXBOLT")?))
        .map_err(|error| Failure::usage(error.to_string()))?;
    let logon = logon_fields(arguments, &dictionary)?;
    let settings = SessionSettings::new(id.clone(), Role::Initiator).with(|s| {
        s.reset.reset_on_logon = reset;
        s.default_appl_ver_id = default;
        if default.is_some() {
            s.dictionary = fixt::dictionaries();
        }
        s.timing.logon_timeout = Duration::from_secs(arguments.timeout);
        s.validation.incoming = policy();
        s.logon = logon;
        // It lasts for one exchange, whatever the counterparty asks for.
        s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
    });
    let max_message_size = settings.limits.max_message_size;
    let mut initiation = Initiation::new(settings, host, port);
    initiation.reconnect_interval = ONE_CONNECTION;
    initiation.tls = arguments.tls.of_initiator();
    initiation.socket_connect_timeout = Duration::from_secs(arguments.timeout);
    Ok(Session {
        id,
        builder: Engine::builder().connect(initiation),
        store: store(arguments.store.as_deref(), max_message_size),
        dictionary,
        is_own_dictionary: false,
        policy: policy(),
        groups_as_sent: GroupsAsSent::default(),
        default,
        max_message_size,
        logon_timeout: Duration::from_secs(arguments.timeout),
        peer: arguments.to.clone(),
        journal: arguments.store.clone(),
        schedule: None,
    })
}

/// Returns whether every address of a host is this machine's own for itself.
///
/// # Errors
/// No address of the host is known.
fn is_loopback(host: &str, port: u16, to: &str) -> Result<bool, Failure> {
    let addresses = (host, port).to_socket_addrs().map_err(|error| {
        let why = reason(&error);
        Failure::connection(format!(
            "cannot reach {to}: the address of the host could not be looked up: {why}"
        ))
    })?;
    Ok(addresses.into_iter().all(|address| address.ip().to_canonical().is_loopback()))
}

/// Returns the journal, or a store for one exchange: it keeps what the counterparty may request
/// again, and little of what it sends.
fn store(journal: Option<&Path>, max_message_size: usize) -> Box<dyn Store> {
    match journal {
        Some(base) => Box::new(DirectoryStore::new(base)),
        None => Box::new(MemoryStore::with_limit((4 * max_message_size).max(1 << 20))),
    }
}

/// Longer than any exchange, so that there is no second attempt.
const ONE_CONNECTION: Duration = Duration::from_secs(86_400);

fn is_initiator(session: &SessionConfiguration) -> bool {
    matches!(session.connection, ConnectionType::Initiator(_))
}

/// Returns whether messages of this version are sent in a session. Over FIXT.1.1 it is the one that
/// messages have unless they name another.
fn is_of_version(session: &SessionConfiguration, version: Version) -> bool {
    if version.is_application() {
        return session.settings().default_appl_ver_id == Some(version);
    }
    session.settings().id.version() == version
}

fn ids(sessions: &[SessionConfiguration]) -> Vec<SessionId> {
    sessions.iter().map(|session| session.settings().id.clone()).collect()
}

/// Returns why these sessions, out of all initiators of a file, are not the one to use, and how to
/// choose.
fn not_one(fitting: &[SessionConfiguration], initiators: &[SessionId]) -> String {
    if initiators.is_empty() {
        return "no session with ConnectionType=initiator".to_owned();
    }
    if fitting.is_empty() {
        return format!(
            "no session with ConnectionType=initiator fits these options; there {}",
            listed(initiators)
        );
    }
    let candidates = ids(fitting);
    let differ =
        |one: fn(&SessionId, &SessionId) -> bool| candidates.windows(2).any(|two| one(&two[0], &two[1]));
    let options = [
        ("--version", differ(|a, b| a.version() != b.version())),
        ("--sender", differ(|a, b| a.sender() != b.sender())),
        ("--target", differ(|a, b| a.target() != b.target())),
        ("--qualifier", differ(|a, b| a.qualifier() != b.qualifier())),
    ];
    let options: Vec<_> = options.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
    format!(
        "several sessions with ConnectionType=initiator fit; choose one with {}: there {}",
        options.join(", "),
        listed(&candidates)
    )
}

/// Returns the first of some sessions, as the end of a sentence.
fn listed(ids: &[SessionId]) -> String {
    const MOST: usize = 10;
    let some: Vec<_> = ids.iter().take(MOST).map(ToString::to_string).collect();
    let verb = if ids.len() == 1 { "is" } else { "are" };
    let more = match ids.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{verb} {}{more}", some.join(", "))
}

/// Returns the initiator session of a configuration, with its journal and its sequence numbers.
pub(super) fn configured(arguments: &Arguments, file: &Path) -> Result<Session, Failure> {
    let mut configuration = Configuration::from_file(file).map_err(|mistakes| refused(&mistakes))?;
    for warning in &configuration.warnings {
        note!("warning: {warning}");
    }
    let fits = |session: &SessionConfiguration, is: fn(&CompIds, &CompIds) -> bool| {
        let id = &session.settings().id;
        let sides = [(&arguments.sender, id.sender()), (&arguments.target, id.target())];
        arguments.version.is_none_or(|version| is_of_version(session, version))
            && arguments.qualifier.as_ref().is_none_or(|qualifier| qualifier == id.qualifier())
            && sides.into_iter().all(|(wanted, side)| wanted.as_ref().is_none_or(|wanted| is(wanted, side)))
    };
    configuration.sessions.retain(is_initiator);
    let initiators = ids(&configuration.sessions);
    configuration.sessions.retain(|session| fits(session, CompIds::includes));
    // CLIENT is also a session without a SubID next to those of CLIENT/DESK.
    if configuration.sessions.len() > 1
        && configuration.sessions.iter().any(|session| fits(session, CompIds::eq))
    {
        configuration.sessions.retain(|session| fits(session, CompIds::eq));
    }
    let place = file.display();
    let [session] = configuration.sessions.as_mut_slice() else {
        let wrong = not_one(&configuration.sessions, &initiators);
        return Err(Failure::usage(format!("{place}: {wrong}")));
    };
    let mut peer = String::new();
    if let ConnectionType::Initiator(initiation) = &mut session.connection {
        initiation.reconnect_interval = ONE_CONNECTION;
        let hosts: Vec<String> =
            initiation.hosts.iter().map(|(host, port)| format!("{host}:{port}")).collect();
        peer = hosts.join(", ");
    }
    let settings = session.settings();
    let id = settings.id.clone();
    let max_message_size = settings.limits.max_message_size;
    let logon_timeout = settings.timing.logon_timeout;
    let journal = session.journal.clone();
    let schedule = settings.schedule.clone();
    let store = store(journal.as_deref(), max_message_size);
    let source = session.data_dictionary.clone();
    let is_own_dictionary = source.is_some();
    let groups_as_sent = session.groups_as_sent.clone();
    let default = settings.default_appl_ver_id;
    let policy = match settings.dictionary {
        SessionDictionary::None => Policy::ignoring(),
        _ => settings.validation.incoming,
    };
    let dictionary = match source {
        Some(source) => source.load().map_err(|error| failure(file, &error))?.dictionary,
        None => fixt::dictionary(id.version(), default)?,
    };
    // One session needs one worker.
    configuration.engine.workers = None;
    let builder = EngineBuilder::from_config(&configuration);
    Ok(Session {
        id,
        builder,
        store,
        dictionary,
        is_own_dictionary,
        policy,
        groups_as_sent,
        default,
        max_message_size,
        logon_timeout,
        peer,
        journal,
        schedule,
    })
}
