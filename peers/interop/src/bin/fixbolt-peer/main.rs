//! Fixbolt as one side of a pairing, with the commands and events of `qf-peer`, so that the harness
//! need not know which engine it controls. Its only file is the journal, so after a restart it
//! knows only what is in there.

mod messages;
mod peer;
mod watch;

use fixbolt::codec::Version;
use fixbolt::dictionary::Policy;
use fixbolt::session::{
    AcceptedHeartBtInt, CompIds, Compatibility, Role, SessionId, SessionSettings, WhileLoggedOff,
};
use fixbolt::store::DirectoryStore;
use fixbolt::{Engine, Initiation, PostError, Sender};
use messages::{NewOrder, cancel};
use peer::Peer;
use std::collections::HashMap;
use std::io::BufRead;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use watch::{Ledger, Watched, say};

const USAGE: &str = "usage: fixbolt-peer acceptor|initiator --port P --version FIX.4.2|FIX.4.4|FIXT.1.1
                    --sender S --target T --store DIR [--heartbeat SECS]
                    [--kill-at encode|append|commit|send|idle --kill-on N] [--set KEY=VALUE]...
KEY=VALUE is a setting with its name in configuration files.
commands on standard input, a line each:
  orders N PREFIX [RATE]   continue to PREFIX-N behind what the journal has, RATE a second
  group-order CLORDID      send a NewOrderSingle with two parties (FIX.4.4)
  big-order CLORDID BYTES  send a NewOrderSingle with a Text of BYTES bytes
  cancel CLORDID           send an OrderCancelRequest for that order
  report on|off            answer each order with a filled ExecutionReport (on)
  numbers | tally          print both numbers; print the counts of what was delivered
  logout | logon           end the session; begin it again
  reset-logon              begin it again with ResetSeqNumFlag=Y (initiator)
  stop                     log out, print the tally, end";

fn main() -> ExitCode {
    let side = match Side::from_args(std::env::args().skip(1)) {
        Ok(side) => side,
        Err(why) => {
            eprintln!("fixbolt-peer: {why}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match side.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("fixbolt-peer: {why}");
            ExitCode::from(2)
        }
    }
}

struct Side {
    role: Role,
    version: Version,
    id: SessionId,
    port: u16,
    heartbeat: u32,
    store: PathBuf,
    settings: Vec<(String, String)>,
    ledger: Arc<Ledger>,
    stopping: Arc<AtomicBool>,
    engine: Option<Engine<Peer>>,
    threads: Vec<JoinHandle<()>>,
}

impl Side {
    fn from_args(mut args: impl Iterator<Item = String>) -> Result<Side, String> {
        let role = match args.next().as_deref() {
            Some("acceptor") => Role::Acceptor,
            Some("initiator") => Role::Initiator,
            _ => return Err("the role must be acceptor or initiator".into()),
        };
        let mut options = HashMap::new();
        let mut settings = Vec::new();
        while let Some(key) = args.next() {
            let value = args.next().ok_or(format!("{key} needs a value"))?;
            if key == "--set" {
                let (name, value) = value.split_once('=').ok_or(format!("{value}: not KEY=VALUE"))?;
                settings.push((name.to_owned(), value.to_owned()));
            } else {
                options.insert(key, value);
            }
        }
        let mut take = |key: &str| options.remove(key);
        let version: Version =
            take("--version").unwrap_or_default().parse().map_err(|e| format!("--version: {e}"))?;
        let needed = |value: Option<String>, key: &str| value.ok_or(format!("{key} is missing"));
        let sender = needed(take("--sender"), "--sender")?;
        let target = needed(take("--target"), "--target")?;
        let number = |value: String| value.parse::<u32>().map_err(|e| format!("{value}: {e}"));
        let sender = comp_ids(&sender, &settings, ["SenderSubID", "SenderLocationID"])?;
        let target = comp_ids(&target, &settings, ["TargetSubID", "TargetLocationID"])?;
        let side = Side {
            role,
            version,
            id: SessionId::between(version, sender, target).map_err(|e| e.to_string())?,
            port: needed(take("--port"), "--port")?.parse().map_err(|e| format!("--port: {e}"))?,
            heartbeat: number(take("--heartbeat").unwrap_or("30".into()))?,
            store: needed(take("--store"), "--store")?.into(),
            settings,
            ledger: Arc::default(),
            stopping: Arc::default(),
            engine: None,
            threads: Vec::new(),
        };
        if let (Some(point), Some(on)) = (take("--kill-at"), take("--kill-on")) {
            peer::kill_at(&point, number(on)?)?;
        }
        match options.keys().next() {
            Some(key) => Err(format!("unknown option {key}")),
            None => Ok(side),
        }
    }

    fn run(mut self) -> Result<(), String> {
        self.start(false)?;
        say("ready", &[]);
        for line in std::io::stdin().lock().lines() {
            let line = line.map_err(|e| e.to_string())?;
            let words: Vec<&str> = line.split_whitespace().collect();
            if words == ["stop"] {
                break;
            }
            self.obey(&words)?;
        }
        self.stop()?;
        self.ledger.say_numbers("numbers");
        self.ledger.say_tally();
        say("stopped", &[]);
        Ok(())
    }

    /// Starts the engine with the journal; an initiator logs on, with ResetSeqNumFlag=Y if `reset`.
    fn start(&mut self, reset: bool) -> Result<(), String> {
        let mut settings = SessionSettings::new(self.id.clone(), self.role);
        // The messages of FIX.4.4 that the peers send are right in FIX.5.0SP2, too.
        settings.default_appl_ver_id = (self.version == Version::Fixt11).then_some(Version::Fix50Sp2);
        settings.timing.heart_bt_int = self.heartbeat;
        settings.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
        settings.reset.reset_on_logon = reset;
        settings.timing.logout_timeout = Duration::from_secs(5);
        // An order that is sent while the connection is broken is numbered and stored in the
        // journal: the counterparty requests it.
        settings.resend.while_logged_off = WhileLoggedOff::Keep;
        for (key, value) in &self.settings {
            change(&mut settings, key, value)?;
        }
        let ledger = Arc::clone(&self.ledger);
        let store = Watched::around(DirectoryStore::new(&self.store), Arc::clone(&ledger));
        let builder = Engine::builder().store(Box::new(store));
        let builder = match self.role {
            Role::Acceptor => builder.accept(SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)), settings),
            Role::Initiator => {
                let mut initiation = Initiation::new(settings, "127.0.0.1", self.port);
                initiation.reconnect_interval = Duration::from_millis(200);
                initiation.max_reconnect_interval = initiation.reconnect_interval;
                builder.connect(initiation)
            }
        };
        self.engine = Some(builder.start(Peer::new(self.version, ledger)).map_err(|e| e.to_string())?);
        Ok(())
    }

    /// Logs out and closes the journal.
    fn stop(&mut self) -> Result<(), String> {
        self.stopping.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().map_err(|_| "a sending thread panicked")?;
        }
        self.stopping.store(false, Ordering::Relaxed);
        if let Some(engine) = self.engine.take() {
            engine.stop().map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn obey(&mut self, words: &[&str]) -> Result<(), String> {
        let number = |word: &str| word.parse::<u64>().map_err(|e| format!("{word}: {e}"));
        match *words {
            ["orders", count, prefix] => self.send_orders(number(count)?, prefix, 0)?,
            ["orders", count, prefix, rate] => self.send_orders(number(count)?, prefix, number(rate)?)?,
            ["group-order", id] => {
                let order = NewOrder { cl_ord_id: id, quantity: 100, parties: true, text: "" };
                order.send(&mut self.sender()?, self.version).map_err(|e| e.to_string())?;
            }
            ["big-order", id, bytes] => {
                let text = "x".repeat(number(bytes)? as usize);
                let order = NewOrder { cl_ord_id: id, quantity: 100, parties: false, text: &text };
                order.send(&mut self.sender()?, self.version).map_err(|e| e.to_string())?;
            }
            ["cancel", id] => {
                cancel(&mut self.sender()?, self.version, id.as_bytes()).map_err(|e| e.to_string())?;
            }
            ["report", "on"] => self.ledger.answer_orders(true),
            ["report", "off"] => self.ledger.answer_orders(false),
            ["numbers"] => self.ledger.say_numbers("numbers"),
            ["tally"] => self.ledger.say_tally(),
            ["logout"] if self.role == Role::Initiator => self.stop()?,
            ["logon"] if self.role == Role::Initiator => self.start(false)?,
            ["reset-logon"] if self.role == Role::Initiator => self.start(true)?,
            _ => {
                say("refused", &[("command", words.join(" ").into())]);
                return Ok(());
            }
        }
        say("done", &[("command", words.join(" ").into())]);
        Ok(())
    }

    fn sender(&self) -> Result<Sender, String> {
        let engine = self.engine.as_ref().ok_or("not started")?;
        engine.session(&self.id).map(|session| session.sender()).ok_or("no such session".into())
    }

    /// Sends orders up to PREFIX-COUNT from a separate thread, after those that are in the journal.
    fn send_orders(&mut self, count: u64, prefix: &str, rate: u64) -> Result<(), String> {
        let mut sender = self.sender()?;
        let (version, ledger) = (self.version, Arc::clone(&self.ledger));
        let (stopping, prefix) = (Arc::clone(&self.stopping), prefix.to_owned());
        self.threads.push(std::thread::spawn(move || {
            let first = ledger.highest_sent(&prefix) + 1;
            let begun = Instant::now();
            for n in first..=count {
                let cl_ord_id = format!("{prefix}-{n}");
                let order =
                    NewOrder { cl_ord_id: &cl_ord_id, quantity: 1 + n % 1000, parties: false, text: "" };
                loop {
                    if stopping.load(Ordering::Relaxed) {
                        return;
                    }
                    let posted = if ledger.is_logged_on() {
                        order.send(&mut sender, version)
                    } else {
                        Err(PostError::Full)
                    };
                    match posted {
                        Ok(_) => break,
                        Err(PostError::Full | PostError::NotLoggedOn) => {
                            std::thread::sleep(Duration::from_millis(1));
                        }
                        Err(why) => return say("not-sent", &[("why", why.to_string().into())]),
                    }
                }
                let due = ((n - first + 1) * 1_000_000_000).checked_div(rate).map(Duration::from_nanos);
                std::thread::sleep(due.unwrap_or_default().saturating_sub(begun.elapsed()));
            }
            say("orders-sent", &[("prefix", prefix.into()), ("count", count.into())]);
        }));
        Ok(())
    }
}

/// Returns one side of the session, with the SubID and LocationID that these keys of the settings
/// say.
fn comp_ids(comp_id: &str, settings: &[(String, String)], keys: [&str; 2]) -> Result<CompIds, String> {
    let value = |key: &str| settings.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    let comp_ids =
        CompIds::new(comp_id).and_then(|comp_ids| comp_ids.with_ids(value(keys[0]), value(keys[1])));
    comp_ids.map_err(|e| e.to_string())
}

/// Changes a setting as the configuration file's key does.
fn change(settings: &mut SessionSettings, key: &str, value: &str) -> Result<(), String> {
    let bad = |why: &dyn std::fmt::Display| format!("{key}={value}: {why}");
    match (key, value) {
        // Parts of the identity.
        ("SenderSubID" | "SenderLocationID" | "TargetSubID" | "TargetLocationID", _) => {}
        ("EnableNextExpectedMsgSeqNum", "Y") => settings.resend.send_next_expected_msg_seq_num = true,
        ("Compatibility", "quickfix") => settings.compatibility = Compatibility::QuickFix,
        ("Compatibility", "quickfixj") => settings.compatibility = Compatibility::QuickFixJ,
        ("ResetOnLogon", "Y") => settings.reset.reset_on_logon = true,
        ("MaxMessageSize", _) => settings.limits.max_message_size = value.parse().map_err(|e| bad(&e))?,
        ("ResendRequestChunkSize", _) => {
            settings.resend.resend_request_chunk_size = Some(value.parse().map_err(|e| bad(&e))?);
        }
        ("ValidationPolicy", "quickfixj") => settings.validation.incoming = Policy::quickfixj(),
        ("ValidationPolicy", "tolerant") => settings.validation.incoming = Policy::tolerant(),
        ("DefaultApplVerID", _) => {
            settings.default_appl_ver_id = Some(value.parse().map_err(|e| bad(&e))?);
        }
        _ => return Err(bad(&"not a setting that this peer knows")),
    }
    Ok(())
}
