//! The conformance scripts against running engines over TCP, in real time: ours and, if the
//! reference folder is present, QuickFIX's. Every script has its own engine, so that scripts can
//! wait for heartbeats in parallel.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fixbolt::codec::SeqNum;
use fixbolt::dictionary::{Policy, Validator, fix42, fix44};
use fixbolt::session::{
    AcceptedHeartBtInt, Compatibility, Role, SessionDictionary, SessionSettings, SessionState, Utc,
};
use fixbolt::{Change, Engine, Initiation};
use fixbolt_conformance::{
    Command, Echo, Edition, Failure, Family, Order, PATIENCE, Received, Script, Tcp, Transport,
    TransportError, run,
};

/// An engine and its port; the engine can be told to log out.
struct Behind {
    tcp: Tcp,
    engine: Engine<Echo>,
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
        let session = self.engine.session(id).expect("the script's session is there");
        let change = Change::new("script", "as it says");
        let done = match command {
            Command::SetNextSenderSeqNum(_, next) => session.set_numbers(change, None, Some(SeqNum(*next))),
            Command::SetNextTargetSeqNum(_, next) => session.set_numbers(change, Some(SeqNum(*next)), None),
            Command::Logout(_, text) => {
                // An initiator may not have read the answer to its Logon.
                let patience = Instant::now() + PATIENCE;
                while session.state() != SessionState::LoggedOn && Instant::now() < patience {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // The script continues at once: the engine waits for the script, its counterparty.
                let _ = session.log_out(change, text.as_deref().unwrap_or(""), Duration::ZERO);
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
    let dictionary = if id.starts_with("FIX.4.2") { fix42() } else { fix44() };
    SessionSettings::new(id.parse().unwrap(), Role::Acceptor).with(|s| {
        s.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
        s.reset_on_logon = reset_on_logon;
        s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(dictionary)));
    })
}

fn quickfix(id: &str) -> SessionSettings {
    settings(id, true).with(|s| {
        s.compatibility = Compatibility::QuickFix;
        s.policy = Policy::quickfix();
    })
}

fn quickfixj(id: &str) -> SessionSettings {
    settings(id, true).with(|s| {
        s.compatibility = Compatibility::QuickFixJ;
        s.policy = Policy::quickfixj();
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
            settings("FIX.4.4:VENUE->TRADER44", false).with(|s| s.next_expected_msg_seq_num = true),
        ),
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
                s.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
                s.reset_on_logon = family == Family::Reset;
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
                s.reset_on_logon = false;
                s.next_expected_msg_seq_num = true;
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
    fn start(&self, script: &Script) -> Behind {
        let Some(connects) = self.sessions.iter().find(|settings| settings.role == Role::Initiator) else {
            let listens = self.sessions.iter().fold(Engine::builder(), |builder, settings| {
                builder.accept("127.0.0.1:0".parse().unwrap(), settings.clone())
            });
            let engine = listens.start(Echo::new()).unwrap();
            return Behind { tcp: Tcp::new(engine.addresses()[0]), engine };
        };
        let (tcp, address) = Tcp::listening().unwrap();
        let settings = connects.clone().with(|s| s.heart_bt_int = script.heart_bt_int().unwrap_or(30));
        let mut initiation = Initiation::new(settings, &address.ip().to_string(), address.port());
        initiation.reconnect_interval = Duration::from_millis(50);
        initiation.max_reconnect_interval = Duration::from_millis(50);
        Behind { tcp, engine: Engine::builder().connect(initiation).start(Echo::new()).unwrap() }
    }
}

/// The number of scripts that run at the same time.
const AT_ONCE: usize = 100;

#[test]
fn every_script_passes_over_tcp_in_real_time() {
    let suites = suites();
    let all: Vec<(&Suite, &Script)> =
        suites.iter().flat_map(|suite| suite.scripts.iter().map(move |script| (suite, script))).collect();
    let next = AtomicUsize::new(0);
    let passed = Mutex::new(Vec::new());
    let failures = Mutex::new(Vec::<Failure>::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((suite, script)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut behind = suite.start(script);
                    match run(script, &mut behind, suite.order()) {
                        Ok(()) => passed.lock().unwrap().push(suite.name),
                        Err(failure) => failures.lock().unwrap().push(failure),
                    }
                    behind.engine.stop().unwrap();
                }
            });
        }
    });
    let (passed, failures) = (passed.into_inner().unwrap(), failures.into_inner().unwrap());
    for name in suites.iter().map(|suite| suite.name).collect::<BTreeSet<_>>() {
        let count = passed.iter().filter(|passed| **passed == name).count();
        eprintln!("{name}: {count} scripts passed over TCP");
    }
    let told: Vec<String> = failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}", told.join("\n"));
    assert_eq!(passed.len(), all.len());
}
