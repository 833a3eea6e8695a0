//! Two engines that are connected by loopback TCP, with what they keep.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt::{Engine, EngineBuilder, Initiation, MessageLog, WorkerOptions};
use fixbolt_codec::Version;
use fixbolt_dictionary::Policy;
use fixbolt_journal::JournalReader;
use fixbolt_session::store::RecordKind;
use fixbolt_session::{Application, Role, SessionDictionary, SessionId, SessionSettings, WireObserver};

use super::layout::Layout;
use super::watch::Watch;
use crate::folder::Folder;

/// The most sessions of a pair.
const MOST_SESSIONS: usize = 4096;

/// What both sides do beside exchanging messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Keeping {
    /// Whether messages are validated against the dictionary.
    pub(super) validates: bool,
    /// Whether they are journaled on disk; otherwise they are kept in memory.
    pub(super) journals: bool,
    /// Whether they are written to a message log.
    pub(super) logs: bool,
}

/// A side's engine, and where it keeps what.
pub(super) struct Side<A> {
    pub(super) engine: Engine<A>,
    ids: Vec<SessionId>,
    directory: PathBuf,
    log: Option<Arc<MessageLog>>,
    keeping: Keeping,
}

/// A venue and a trader; their folder is removed when dropped.
pub(super) struct Pair<V, T> {
    pub(super) venue: Side<V>,
    pub(super) trader: Side<T>,
    _folder: Folder,
}

/// Returns the identity of session `n`, seen from one side.
pub(super) fn id(
    version: Version,
    (trader, venue): (&str, &str),
    n: usize,
    role: Role,
) -> Result<SessionId, String> {
    let trader = if n == 0 { trader.to_owned() } else { format!("{trader}{n}") };
    let (sender, target) = match role {
        Role::Acceptor => (venue, trader.as_str()),
        Role::Initiator => (trader.as_str(), venue),
    };
    SessionId::new(version, sender, target).map_err(|error| error.to_string())
}

/// Returns the settings of a session of a benchmark.
pub(super) fn settings(id: SessionId, role: Role, keeping: Keeping) -> SessionSettings {
    SessionSettings::new(id, role).with(|s| {
        s.reset.reset_on_logon = true;
        if !keeping.validates {
            s.dictionary = SessionDictionary::None;
            s.validation.incoming = Policy::tolerant();
        }
    })
}

impl<V: Application + Send + 'static, T: Application + Send + 'static> Pair<V, T> {
    /// Starts both sides with this number of sessions, and waits until all are logged on.
    pub(super) fn start(
        identity: (Version, (&str, &str)),
        sessions: usize,
        layout: Layout,
        keeping: Keeping,
        (venue, trader): (V, T),
        watch: &Watch,
    ) -> Result<Self, String> {
        Self::start_each(identity, sessions, layout, keeping, (vec![venue], vec![trader]), watch)
    }

    /// Starts both sides with one session, which has a dedicated worker that waits and runs as the
    /// layout says, beside a shared one that sleeps. The applications are those of both workers.
    pub(super) fn start_dedicated(
        identity: (Version, (&str, &str)),
        layout: Layout,
        keeping: Keeping,
        (venues, traders): ([V; 2], [T; 2]),
        watch: &Watch,
    ) -> Result<Self, String> {
        Self::start_each(identity, 1, layout, keeping, (venues.into(), traders.into()), watch)
    }

    /// Starts both sides with an application for each worker, of which the second one is dedicated.
    fn start_each(
        (version, parties): (Version, (&str, &str)),
        sessions: usize,
        layout: Layout,
        keeping: Keeping,
        (venue, trader): (Vec<V>, Vec<T>),
        watch: &Watch,
    ) -> Result<Self, String> {
        let folder = Folder::new()?;
        let ids = |role| (0..sessions).map(|n| id(version, parties, n, role)).collect::<Result<Vec<_>, _>>();
        let (venues, traders) = (ids(Role::Acceptor)?, ids(Role::Initiator)?);
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let begun = |core, ids: &[SessionId], workers| match (workers, ids) {
            (2, [id]) => {
                let mut worker = WorkerOptions::default();
                (worker.waiting, worker.core) = (layout.waiting, core);
                engine(Layout::default(), None).dedicated_worker(id.clone(), worker)
            }
            _ => engine(layout, core),
        };
        let builder = begun(layout.venue, &venues, venue.len());
        let builder = venues.iter().fold(builder, |builder, id| {
            builder.accept(anywhere, settings(id.clone(), Role::Acceptor, keeping))
        });
        let venue = Side::start_each(builder, venues, folder.0.join("venue"), keeping, (1, venue))?;
        let port = venue.engine.addresses()[0].port();
        let builder = begun(layout.trader, &traders, trader.len());
        let builder = traders.iter().fold(builder, |builder, id| {
            let settings = settings(id.clone(), Role::Initiator, keeping);
            builder.connect(Initiation::new(settings, "127.0.0.1", port))
        });
        let trader = Side::start_each(builder, traders, folder.0.join("trader"), keeping, (1, trader))?;
        watch.await_logons(2 * sessions as u64)?;
        Ok(Self { venue, trader, _folder: folder })
    }

    /// Stops both sides, and checks that each has kept every message: `orders` in one direction and
    /// `reports` in the other. Returns how many lines the message logs have dropped.
    pub(super) fn stop(self, watch: &Watch, orders: u64, reports: u64) -> Result<u64, String> {
        watch.end();
        let Self { venue, trader, .. } = self;
        let trader = trader.stop((orders, reports));
        let venue = venue.stop((reports, orders));
        Ok(trader? + venue?)
    }
}

/// Returns the builder of an engine with one worker.
pub(super) fn engine(layout: Layout, core: Option<usize>) -> EngineBuilder {
    Engine::builder()
        .worker_waiting(layout.waiting)
        .worker_cores(core)
        .outbound_queue_budget(256 << 20)
        // All connections come from one address, and at once.
        .max_connections_per_address(MOST_SESSIONS)
        .max_pending_connections(MOST_SESSIONS)
}

impl<A: Application + Send + 'static> Side<A> {
    /// Starts an engine with its journals and message logs below a directory.
    pub(super) fn start(
        builder: EngineBuilder,
        ids: Vec<SessionId>,
        directory: PathBuf,
        keeping: Keeping,
        app: A,
    ) -> Result<Self, String> {
        Self::start_each(builder, ids, directory, keeping, (1, vec![app]))
    }

    /// Starts the same with an application for each worker: this many shared ones, and those that
    /// the builder dedicates to sessions.
    pub(super) fn start_each(
        mut builder: EngineBuilder,
        ids: Vec<SessionId>,
        directory: PathBuf,
        keeping: Keeping,
        (shared, apps): (usize, Vec<A>),
    ) -> Result<Self, String> {
        let mut log = None;
        if keeping.logs {
            let started = MessageLog::start(directory.join("log"));
            let started = started.map_err(|error| format!("{}: {error}", directory.display()))?;
            builder = builder.observe(Arc::clone(log.insert(Arc::new(started))) as Arc<dyn WireObserver>);
        }
        if keeping.journals {
            builder = builder.journal(directory.join("journal"));
        }
        let mut apps: Vec<Option<A>> = apps.into_iter().map(Some).collect();
        let app = |worker: usize| apps[worker].take().expect("each worker asks once");
        let engine = builder.start_with(shared, app).map_err(|error| format!("{error:#}"))?;
        Ok(Self { engine, ids, directory, log, keeping })
    }

    /// Stops the engine and checks what it has kept. Returns how many lines its log has dropped.
    pub(super) fn stop(self, messages: (u64, u64)) -> Result<u64, String> {
        let Self { engine, ids, directory, log, keeping } = self;
        engine.stop().map_err(|error| format!("{error:#}"))?;
        let dropped = log.as_ref().map_or(0, |log| log.dropped());
        drop(log);
        if keeping.journals {
            check_journals(&directory.join("journal"), &ids, messages)?;
        }
        if keeping.logs {
            check_logs(&directory.join("log"), &ids, messages.0 + messages.1, dropped)?;
        }
        Ok(dropped)
    }
}

/// Returns whether these bytes are an order or a report.
fn is_application(message: &[u8]) -> bool {
    [b"\x0135=D\x01", b"\x0135=8\x01"].iter().any(|field| message.windows(6).any(|at| at == *field))
}

/// Checks that the journals of these sessions hold this many application messages out and in.
pub(super) fn check_journals(
    base: &Path,
    ids: &[SessionId],
    (sent, received): (u64, u64),
) -> Result<(), String> {
    let (mut out, mut inn) = (0, 0);
    for id in ids {
        let directory = base.join(id.file_name());
        let reader = JournalReader::open(&directory).map_err(|error| format!("{id}: {error}"))?;
        for record in reader.sessions().iter().flat_map(|session| session.records()) {
            match record.record.kind {
                RecordKind::Outbound if is_application(record.record.body) => out += 1,
                RecordKind::Inbound if is_application(record.record.body) => inn += 1,
                _ => {}
            }
        }
    }
    if (out, inn) == (sent, received) {
        return Ok(());
    }
    let wrong = "the journals have other messages than were exchanged";
    Err(format!("{wrong}: {out} of {sent} sent and {inn} of {received} received"))
}

/// Checks that the message logs have a line for each message that was not dropped.
pub(super) fn check_logs(base: &Path, ids: &[SessionId], messages: u64, dropped: u64) -> Result<(), String> {
    let mut lines = 0;
    for id in ids {
        let path = base.join(format!("{}.messages.log", id.file_name()));
        let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        lines += text.split(|byte| *byte == b'\n').filter(|line| is_application(line)).count() as u64;
    }
    // What was dropped may have been a Logon or a Heartbeat.
    (lines <= messages && lines + dropped >= messages).then_some(()).ok_or_else(|| {
        format!(
            "the message logs have {lines} lines of orders and reports, and {messages} were exchanged ({dropped} dropped)"
        )
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use fixbolt_codec::Message;
    use fixbolt_session::{Delivery, Event, Failure, Turn};

    use super::*;

    /// Notes the name of its thread at the logon.
    struct Named(Watch, Arc<Mutex<Vec<String>>>);

    impl Application for Named {
        fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
            Ok(Delivery::UNSUPPORTED)
        }

        fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
            if matches!(event, Event::LoggedOn) {
                let name = std::thread::current().name().unwrap_or_default().to_owned();
                self.1.lock().unwrap().push(name);
            }
            self.0.event("side", event);
            Ok(())
        }
    }

    #[test]
    fn a_session_with_a_dedicated_worker_runs_on_it_and_on_no_shared_one() {
        let identity = (Version::Fix42, ("TRADER", "VENUE"));
        let keeping = Keeping { validates: true, journals: false, logs: false };
        for dedicated in [false, true] {
            let (watch, names) = (Watch::default(), Arc::default());
            let app = || Named(watch.clone(), Arc::clone(&names));
            let pair = if dedicated {
                let apps = ([app(), app()], [app(), app()]);
                Pair::start_dedicated(identity, Layout::default(), keeping, apps, &watch)
            } else {
                Pair::start(identity, 1, Layout::default(), keeping, (app(), app()), &watch)
            };
            pair.unwrap().stop(&watch, 0, 0).unwrap();
            let names = names.lock().unwrap();
            let expected = if dedicated { "fixbolt-1" } else { "fixbolt-0" };
            assert_eq!(*names, [expected; 2]);
        }
    }

    #[test]
    fn heartbeats_in_a_message_log_do_not_stand_for_orders_that_are_missing() {
        let folder = Folder::new().unwrap();
        let id = id(Version::Fix42, ("TRADER", "VENUE"), 0, Role::Initiator).unwrap();
        let line = |msg_type: &str| format!("20261123-09:00:00.000 : 8=FIX.4.2\x0135={msg_type}\x01\n");
        let lines = ["A", "D", "8", "0", "0"].map(line).concat();
        std::fs::write(folder.0.join(format!("{}.messages.log", id.file_name())), lines).unwrap();
        let check = |messages, dropped| check_logs(&folder.0, std::slice::from_ref(&id), messages, dropped);
        assert_eq!((check(2, 0), check(3, 1)), (Ok(()), Ok(())));
        let error = check(3, 0).unwrap_err();
        assert!(error.starts_with("the message logs have 2 lines of orders and reports, "), "{error}");
        assert!(check(1, 0).is_err());
    }
}
