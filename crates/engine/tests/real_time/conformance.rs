//! The conformance scripts against running engines over TCP, in real time: ours and, if the
//! reference folder is present, QuickFIX's. Every script has its own engine, so that scripts can
//! wait for heartbeats in parallel.
//!
//! The engines take turns in how their threads are arranged; with `FIXBOLT_THREADS=all` every
//! script runs in each arrangement.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fixbolt::codec::SeqNum;
use fixbolt::dictionary::{Policy, Validator, shipped};
use fixbolt::session::{
    AcceptedHeartBtInt, Compatibility, Role, SessionDictionary, SessionId, SessionSettings, SessionState, Utc,
};
use fixbolt::{
    Change, DrivenEngine, Engine, EngineError, Initiation, OperationError, SessionHandle, Stopper, Waiting,
    WorkerOptions,
};
use fixbolt_conformance::{
    Command, Echo, Edition, Failure, Family, Order, PATIENCE, Received, Script, Tcp, Transport,
    TransportError, run,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How the threads of an engine are arranged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Threads {
    /// One worker, which blocks.
    One,
    /// The session belongs to the second of two workers, and the first one listens.
    Two,
    /// A worker of its own, which spins before it sleeps, and a shared one that listens.
    Dedicated,
    /// A loop of the test's own.
    Driven,
}

impl Threads {
    const ALL: [Self; 4] = [Self::One, Self::Two, Self::Dedicated, Self::Driven];
}

/// An engine and its port; the engine can be told to log out.
struct Behind {
    tcp: Tcp,
    sessions: Vec<SessionHandle>,
    engine: Running,
}

enum Running {
    Threads(Engine<Echo>),
    Driven(Stopper, JoinHandle<Result<Echo, EngineError>>),
}

impl Running {
    fn stop(self) {
        match self {
            Self::Threads(engine) => drop(engine.stop().unwrap()),
            Self::Driven(stopper, thread) => {
                stopper.stop();
                drop(thread.join().unwrap().unwrap());
            }
        }
    }
}

/// Waits for the engine's descriptor until its deadline, and polls, until it is stopped. Says when
/// it has polled: until then, the thread that made the engine counts as the one that drives it.
fn drive(mut engine: DrivenEngine<Echo>, polled: &Sender<()>) -> Result<Echo, EngineError> {
    loop {
        match engine.poll() {
            Err(EngineError::Stopped) => return engine.stop(),
            result => result?,
        }
        let _ = polled.send(());
        let wait = engine.next_deadline().saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(wait).unwrap();
        poll(&mut [PollFd::new(&engine.as_fd(), PollFlags::IN)], Some(&wait)).unwrap();
    }
}

impl Transport for Behind {
    fn connect(&mut self, connection: u32) -> Result<(), TransportError> {
        self.tcp.connect(connection)
    }
    fn send(&mut self, connection: u32, bytes: &[u8]) -> Result<(), TransportError> {
        self.tcp.send(connection, bytes)
    }
    fn receive(&mut self, connection: u32, wait: Duration) -> Result<Received, TransportError> {
        self.tcp.receive(connection, wait)
    }
    fn close(&mut self, connection: u32) -> Result<(), TransportError> {
        self.tcp.close(connection)
    }
    fn utc(&self) -> Utc {
        self.tcp.utc()
    }
    fn command(&mut self, command: &Command) -> Result<(), TransportError> {
        let (Command::SetNextSenderSeqNum(id, _)
        | Command::SetNextTargetSeqNum(id, _)
        | Command::Logout(id, _)) = command;
        let session = self.sessions.iter().find(|session| session.id() == id);
        let session = session.expect("the script's session is there");
        let change = Change::new("script", "as it says");
        let done = match command {
            Command::SetNextSenderSeqNum(_, next) => {
                session.set_numbers(change, None, Some(SeqNum(*next)), PATIENCE)
            }
            Command::SetNextTargetSeqNum(_, next) => {
                session.set_numbers(change, Some(SeqNum(*next)), None, PATIENCE)
            }
            Command::Logout(_, text) => {
                // An initiator may not have read the answer to its Logon.
                let patience = Instant::now() + PATIENCE;
                while session.state() != SessionState::LoggedOn && Instant::now() < patience {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // The script continues at once: the engine waits for the script, its counterparty.
                let text = text.as_deref().unwrap_or("");
                let at_once = Duration::from_millis(20);
                while session.log_out(change, text, at_once) == Err(OperationError::Withdrawn) {}
                Ok(())
            }
        };
        done.map_err(|error| TransportError::Other(error.to_string()))
    }
}

/// Scripts and the sessions they are written for, or, if their role is the initiator's, made for.
struct Suite {
    name: &'static str,
    scripts: Vec<Script>,
    sessions: Vec<SessionSettings>,
}

fn settings(id: &str, reset_on_logon: bool) -> SessionSettings {
    let id: SessionId = id.parse().unwrap();
    let dictionary = shipped(id.version());
    SessionSettings::new(id, Role::Acceptor).with(|s| {
        s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
        s.reset.reset_on_logon = reset_on_logon;
        s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(dictionary)));
    })
}

fn quickfix(id: &str) -> SessionSettings {
    settings(id, true).with(|s| {
        s.compatibility = Compatibility::QuickFix;
        s.validation.incoming = Policy::quickfix();
    })
}

fn quickfixj(id: &str) -> SessionSettings {
    settings(id, true).with(|s| {
        s.compatibility = Compatibility::QuickFixJ;
        s.validation.incoming = Policy::quickfixj();
    })
}

fn suites() -> Vec<Suite> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = |name: &'static str, settings| Suite {
        name,
        scripts: Script::read_folder(&repository.join("conformance").join(name)).unwrap(),
        sessions: vec![settings],
    };
    let sub_ids = ["VENUE->TRADER44/DESK", "VENUE/FX->TRADER44/DESK/NY", "VENUE->MAKER44/DESK"];
    let sub_ids = sub_ids.map(|id| settings(&format!("FIX.4.4:{id}"), true));
    let mut suites = vec![
        own("fix42", settings("FIX.4.2:VENUE->TRADER42", true)),
        own("fix44", settings("FIX.4.4:VENUE->TRADER44", true)),
        own("fix42-continued", settings("FIX.4.2:VENUE->TRADER42", false)),
        own("fix44-continued", settings("FIX.4.4:VENUE->TRADER44", false)),
        own(
            "fix44-next-expected",
            settings("FIX.4.4:VENUE->TRADER44", false)
                .with(|s| s.resend.send_next_expected_msg_seq_num = true),
        ),
        own("fix40-quickfix", quickfix("FIX.4.0:VENUE->TRADER40")),
        own("fix41-quickfix", quickfix("FIX.4.1:VENUE->TRADER41")),
        own("fix42-quickfix", quickfix("FIX.4.2:VENUE->TRADER42")),
        own("fix43-quickfix", quickfix("FIX.4.3:VENUE->TRADER43")),
        own("fix44-quickfix", quickfix("FIX.4.4:VENUE->TRADER44")),
        own("fix44-quickfixj", quickfixj("FIX.4.4:VENUE->TRADER44")),
    ];
    let mut with_sub_ids = own("fix44-sub-ids", settings("FIX.4.4:VENUE->TRADER44", true));
    with_sub_ids.sessions.extend(sub_ids);
    suites.push(with_sub_ids);
    for (name, id) in [("fix42", "FIX.4.2:VENUE->TRADER42"), ("fix44", "FIX.4.4:VENUE->TRADER44")] {
        let folder = |suffix: &str| {
            Script::read_folder(&repository.join(format!("conformance/{name}{suffix}"))).unwrap()
        };
        let connects = |scripts, resets| Suite {
            name: if name == "fix42" { "fix42, connecting" } else { "fix44, connecting" },
            scripts,
            sessions: vec![settings(id, resets).with(|s| s.role = Role::Initiator)],
        };
        suites.push(connects(of_initiator(&folder(""), true), true));
        suites.push(connects(of_initiator(&folder("-continued"), false), false));
        suites.push(connects(folder("-initiator"), false));
    }
    for edition in Edition::ALL {
        for family in [Family::Reset, Family::Continued, Family::Initiator] {
            let id = edition.session().unwrap();
            let settings = SessionSettings::new(id, Role::Acceptor).with(|s| {
                s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
                s.reset.reset_on_logon = family == Family::Reset;
                let version = edition.version();
                s.default_appl_ver_id = version.is_application().then_some(version);
            });
            let name = edition.name();
            let mut scripts = edition.scripts(&repository.join("conformance"), family).unwrap();
            let connecting = settings.clone().with(|s| s.role = Role::Initiator);
            if family != Family::Initiator {
                let made = of_initiator(&scripts, family == Family::Reset);
                suites.push(Suite { name, scripts, sessions: vec![settings] });
                scripts = made;
            }
            suites.push(Suite { name, scripts, sessions: vec![connecting] });
        }
    }
    let shared =
        std::env::var_os("FIXBOLT_SHARED").map_or_else(|| repository.join("../shared"), PathBuf::from);
    let reference = shared.join("acceptance/quickfix");
    if reference.is_dir() {
        for (name, id) in [("fix42", "FIX.4.2:ISLD->TW42"), ("fix44", "FIX.4.4:ISLD->TW44")] {
            let label = if name == "fix42" { "quickfix/fix42" } else { "quickfix/fix44" };
            let scripts = Script::read_folder(&reference.join(name)).unwrap();
            suites.push(Suite { name: label, scripts, sessions: vec![quickfix(id)] });
        }
        // The rest of QuickFIX/J's scripts pass against the program; these set sequence numbers.
        let folder = shared.join("acceptance/quickfixj/nextExpectedMsgSeqNum/fix44");
        suites.push(Suite {
            name: "quickfixj/nextExpectedMsgSeqNum",
            scripts: Script::read_folder(&folder).unwrap(),
            sessions: vec![quickfixj("FIX.4.4:ISLD->TW").with(|s| {
                s.reset.reset_on_logon = false;
                s.resend.send_next_expected_msg_seq_num = true;
            })],
        });
    } else {
        eprintln!("shared folder absent: the scripts of QuickFIX were not run over TCP");
    }
    suites
}

/// The acceptor's scripts whose connections begin with an exchange of Logons.
fn of_initiator(scripts: &[Script], resets: bool) -> Vec<Script> {
    scripts.iter().filter_map(|script| script.for_initiator(resets)).collect()
}

impl Suite {
    /// Returns how answers are compared.
    fn order(&self) -> Order {
        if self.name.starts_with("quickfixj/") { Order::AnyAndMore } else { Order::Any }
    }

    /// Starts an engine with sessions of its own for this script.
    fn start(&self, script: &Script, threads: Threads) -> Behind {
        let mut builder = Engine::builder();
        if threads == Threads::Two {
            let nobody = SessionSettings::new("FIX.4.4:NOBODY->NEVER".parse().unwrap(), Role::Acceptor);
            builder = builder.accept(ANYWHERE, nobody);
        }
        let mut tcp = None;
        let mut ids: Vec<SessionId> = Vec::new();
        if let Some(connects) = self.sessions.iter().find(|settings| settings.role == Role::Initiator) {
            let (counterparty, address) = Tcp::listening().unwrap();
            tcp = Some(counterparty);
            let settings =
                connects.clone().with(|s| s.timing.heart_bt_int = script.heart_bt_int().unwrap_or(30));
            ids.push(settings.id.clone());
            let mut initiation = Initiation::new(settings, &address.ip().to_string(), address.port());
            initiation.reconnect_interval = Duration::from_millis(50);
            initiation.max_reconnect_interval = Duration::from_millis(50);
            builder = builder.connect(initiation);
        } else {
            for settings in &self.sessions {
                ids.push(settings.id.clone());
                builder = builder.accept(ANYWHERE, settings.clone());
            }
        }
        let tcp = |addresses: Vec<SocketAddr>| tcp.unwrap_or_else(|| Tcp::new(addresses[0]));
        if threads == Threads::Driven {
            let engine = builder.driven(Echo::new()).unwrap();
            let sessions = ids.iter().map(|id| engine.session(id).unwrap()).collect();
            let (tcp, stopper) = (tcp(engine.addresses()), engine.stopper());
            let (polled, has_polled) = channel();
            let engine = Running::Driven(stopper, std::thread::spawn(move || drive(engine, &polled)));
            has_polled.recv().unwrap();
            return Behind { tcp, sessions, engine };
        }
        if threads == Threads::Dedicated {
            let mut options = WorkerOptions::default();
            // A hundred of them on a few cores.
            options.waiting = Waiting::SpinningFor(Duration::from_micros(20));
            builder = builder.together(ids.iter().cloned()).dedicated_worker(ids[0].clone(), options);
        }
        let workers = if threads == Threads::Two { 2 } else { 1 };
        let engine = builder.start_with(workers, |_| Echo::new()).unwrap();
        let sessions = ids.iter().map(|id| engine.session(id).unwrap()).collect();
        Behind { tcp: tcp(engine.addresses()), sessions, engine: Running::Threads(engine) }
    }
}

/// A port of this machine that the system chooses.
const ANYWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// The number of scripts that run at the same time.
const AT_ONCE: usize = 100;

#[test]
fn every_script_passes_over_tcp_in_real_time() {
    let suites = suites();
    let scripts = || suites.iter().flat_map(|suite| suite.scripts.iter().map(move |script| (suite, script)));
    let all: Vec<(&Suite, &Script, Threads)> = if std::env::var("FIXBOLT_THREADS").is_ok_and(|v| v == "all") {
        let each = |threads| scripts().map(move |(suite, script)| (suite, script, threads));
        Threads::ALL.into_iter().flat_map(each).collect()
    } else {
        let turns = Threads::ALL.into_iter().cycle();
        scripts().zip(turns).map(|((suite, script), threads)| (suite, script, threads)).collect()
    };
    let next = AtomicUsize::new(0);
    let passed = Mutex::new(Vec::new());
    let failures = Mutex::new(Vec::<(Threads, Failure)>::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((suite, script, threads)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut behind = suite.start(script, *threads);
                    match run(script, &mut behind, suite.order()) {
                        Ok(()) => passed.lock().unwrap().push(suite.name),
                        Err(failure) => failures.lock().unwrap().push((*threads, failure)),
                    }
                    behind.engine.stop();
                }
            });
        }
    });
    let (passed, failures) = (passed.into_inner().unwrap(), failures.into_inner().unwrap());
    for name in suites.iter().map(|suite| suite.name).collect::<BTreeSet<_>>() {
        let count = passed.iter().filter(|passed| **passed == name).count();
        eprintln!("{name}: {count} scripts passed over TCP");
    }
    let told: Vec<String> =
        failures.iter().map(|(threads, failure)| format!("{threads:?}: {failure}")).collect();
    assert!(failures.is_empty(), "{}", told.join("\n"));
    assert_eq!(passed.len(), all.len());
}
