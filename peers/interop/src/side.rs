//! One side of a pairing: a child process that reads commands from standard input, one per line,
//! and prints events to standard output, one JSON object per line. Both engines use the same
//! commands and events (the usage of each peer lists them), so every step works with any pairing.
//! This module judges nothing; the steps do.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a step waits for an event before it fails. It is generous, because it only limits a
/// hang and measures nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running side and all events that it has printed so far.
pub(crate) struct Side {
    /// What it runs and where.
    pub(crate) plan: Plan,
    child: Child,
    commands: Option<ChildStdin>,
    heard: Arc<Heard>,
}

/// What a side runs, and where.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) engine: Engine,
    pub(crate) role: Role,
    pub(crate) version: &'static str,
    pub(crate) port: u16,
    /// Contains the message store, the events file and the standard error of the process.
    pub(crate) folder: PathBuf,
    /// For QuickFIX C++; the other peers have their own dictionaries.
    pub(crate) dictionary: Option<PathBuf>,
    /// Settings, each `KEY=VALUE`, with the names that QuickFIX's configuration files have.
    pub(crate) settings: &'static [&'static str],
    /// For Fixbolt: the point at which the process kills itself, and on which visit to that point.
    pub(crate) kill_at: Option<(&'static str, u32)>,
}

/// The engine of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Fixbolt,
    QuickFixCpp,
    QuickFixJ,
    QuickFixGo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Initiator,
    Acceptor,
}

/// An event: one line that a side printed.
#[derive(Clone, Debug)]
pub(crate) struct Event(Map<String, Value>);

/// Next outgoing and next expected MsgSeqNum of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) next_out: u64,
    pub(crate) next_in: u64,
}

#[derive(Default)]
struct Heard {
    events: Mutex<(Vec<Event>, bool)>,
    more: Condvar,
}

impl Side {
    pub(crate) fn start(plan: Plan) -> Result<Side, String> {
        std::fs::create_dir_all(&plan.folder).map_err(|e| format!("{}: {e}", plan.folder.display()))?;
        let append = |name: &str| {
            File::options()
                .create(true)
                .append(true)
                .open(plan.folder.join(name))
                .map_err(|e| format!("{}/{name}: {e}", plan.folder.display()))
        };
        let mut events_file = append("events")?;
        let mut child = plan
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(append("errors")?)
            .spawn()
            .map_err(|e| format!("{:?} does not start: {e}", plan.engine))?;
        let commands = child.stdin.take();
        let output = child.stdout.take().expect("stdout is piped");
        let heard = Arc::new(Heard::default());
        let listener = Arc::clone(&heard);
        std::thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n') {
                let Ok(line) = line else { break };
                let _ = events_file.write_all(&[&line[..], b"\n"].concat());
                // A process killed in the middle of a line leaves an incomplete one.
                if let Ok(Value::Object(fields)) = serde_json::from_slice(&line) {
                    listener.events.lock().expect("no holder panics").0.push(Event(fields));
                    listener.more.notify_all();
                }
            }
            listener.events.lock().expect("no holder panics").1 = true;
            listener.more.notify_all();
        });
        let side = Side { plan, child, commands, heard };
        side.wait(0, "ready", |e| e.is("ready"))?;
        Ok(side)
    }

    /// Sends a command and waits until the process confirms it; its effects may take longer.
    pub(crate) fn tell(&mut self, command: &str) -> Result<(), String> {
        let mark = self.mark();
        self.write(command)?;
        let answer = self.wait(mark, command, |e| e.is("refused") || e.is("done"))?;
        if answer.is("done") { Ok(()) } else { Err(format!("{} refuses {command:?}", self.name())) }
    }

    fn write(&mut self, command: &str) -> Result<(), String> {
        let pipe = self.commands.as_mut().ok_or("its standard input is closed")?;
        pipe.write_all(format!("{command}\n").as_bytes())
            .and_then(|()| pipe.flush())
            .map_err(|e| format!("{} does not accept commands: {e}", self.name()))
    }

    /// Returns the number of events so far, from which a later `wait` can begin.
    pub(crate) fn mark(&self) -> usize {
        self.heard.events.lock().expect("no holder panics").0.len()
    }

    /// Waits for the first event since `mark` that matches.
    pub(crate) fn wait(
        &self,
        mark: usize,
        what: &str,
        fits: impl Fn(&Event) -> bool,
    ) -> Result<Event, String> {
        let mut last = None;
        self.wait_until(mark, what, |event| {
            let fit = fits(event);
            if fit {
                last = Some(event.clone());
            }
            fit
        })?;
        Ok(last.expect("the closure saw it"))
    }

    /// Waits for `count` events since `mark` that match.
    pub(crate) fn wait_for(
        &self,
        mark: usize,
        count: usize,
        what: &str,
        fits: impl Fn(&Event) -> bool,
    ) -> Result<(), String> {
        let mut seen = 0;
        if count == 0 {
            return Ok(());
        }
        self.wait_until(mark, what, |event| {
            seen += usize::from(fits(event));
            seen == count
        })
        .map_err(|why| format!("{why} ({seen} of {count})"))
    }

    /// Returns the number of events since `mark` that match.
    pub(crate) fn count(&self, mark: usize, fits: impl Fn(&Event) -> bool) -> usize {
        let heard = self.heard.events.lock().expect("no holder panics");
        heard.0[mark..].iter().filter(|e| fits(e)).count()
    }

    /// Returns the ClOrdID of every message of a type that was delivered since `mark`.
    pub(crate) fn cl_ord_ids(&self, mark: usize, msg_type: &str) -> Vec<String> {
        let heard = self.heard.events.lock().expect("no holder panics");
        heard.0[mark..]
            .iter()
            .filter(|e| e.is_delivered(msg_type))
            .map(|e| e.text("cl_ord_id").to_owned())
            .collect()
    }

    /// Requests both sequence numbers.
    pub(crate) fn numbers(&mut self) -> Result<Numbers, String> {
        let mark = self.mark();
        self.tell("numbers")?;
        Ok(self.wait(mark, "numbers", |e| e.is("numbers"))?.numbers())
    }

    /// Stops the process with `stop`, which logs out first, and waits until it has ended.
    pub(crate) fn stop(&mut self) -> Result<(), String> {
        self.write("stop")?;
        match self.gone()? {
            status if status.success() => Ok(()),
            status => Err(format!("{} ended with {status}", self.name())),
        }
    }

    /// Waits until the process has ended.
    pub(crate) fn gone(&mut self) -> Result<ExitStatus, String> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().map_err(|e| e.to_string())? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("{} does not end", self.name()))
    }

    /// Sends SIGKILL and waits until the process has ended.
    pub(crate) fn kill(&mut self) {
        // Both fail only if the process has already ended, which is the goal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Suspends the process (SIGSTOP) or resumes it (SIGCONT), to simulate a counterparty that
    /// falls silent.
    pub(crate) fn freeze(&self, yes: bool) -> Result<(), String> {
        let signal = if yes { Signal::STOP } else { Signal::CONT };
        kill_process(Pid::from_child(&self.child), signal).map_err(|e| e.to_string())
    }

    /// Returns engine and role, for messages.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.plan.engine.name(), self.plan.role.name())
    }

    fn wait_until(
        &self,
        mark: usize,
        what: &str,
        mut done: impl FnMut(&Event) -> bool,
    ) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        let mut next = mark;
        let mut heard = self.heard.events.lock().expect("no holder panics");
        loop {
            while next < heard.0.len() {
                next += 1;
                if done(&heard.0[next - 1]) {
                    return Ok(());
                }
            }
            if heard.1 {
                return Err(format!("{} ended before this event: {what}", self.name()));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("{}: no such event in time: {what}", self.name()));
            }
            heard = self.heard.more.wait_timeout(heard, left).expect("no holder panics").0;
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Plan {
    fn command(&self) -> Command {
        let (sender, target) = match self.role {
            Role::Initiator => ("TRADER", "VENUE"),
            Role::Acceptor => ("VENUE", "TRADER"),
        };
        let mut command = self.engine.command();
        command.arg(self.role.name()).args(["--version", self.version, "--heartbeat", "1"]);
        command.args(["--sender", sender, "--target", target, "--port"]).arg(self.port.to_string());
        command.arg("--store").arg(self.folder.join("store"));
        if let Some(file) = &self.dictionary {
            command.arg("--dictionary").arg(file);
        }
        for setting in self.settings {
            command.args(["--set", setting]);
        }
        if let Some((point, on)) = self.kill_at {
            command.args(["--kill-at", point, "--kill-on", &on.to_string()]);
        }
        command
    }
}

impl Engine {
    /// The counterparties that Fixbolt runs against.
    pub(crate) const PEERS: [Engine; 3] = [Engine::QuickFixCpp, Engine::QuickFixJ, Engine::QuickFixGo];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Engine::Fixbolt => "fixbolt",
            Engine::QuickFixCpp => "quickfix-cpp",
            Engine::QuickFixJ => "quickfixj",
            Engine::QuickFixGo => "quickfixgo",
        }
    }

    /// Returns the file that the makefile of a peer, or cargo for Fixbolt, creates last.
    pub(crate) fn built(self) -> PathBuf {
        let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        match self {
            Engine::Fixbolt => std::env::current_exe().unwrap_or_default().with_file_name("fixbolt-peer"),
            Engine::QuickFixCpp => peers.join("quickfix-cpp/build/qf-peer"),
            Engine::QuickFixJ => peers.join("quickfixj/build/classpath"),
            Engine::QuickFixGo => peers.join("quickfixgo/build/qfgo-peer"),
        }
    }

    fn command(self) -> Command {
        if self == Engine::QuickFixJ { java("fixbolt.peer.Main") } else { Command::new(self.built()) }
    }
}

/// Returns the command that runs a class of the QuickFIX/J peer, or of the libraries that it uses.
/// The process is the virtual machine itself, so that signals reach it.
pub(crate) fn java(class: &str) -> Command {
    let classpath = Engine::QuickFixJ.built();
    let libraries = std::fs::read_to_string(&classpath).unwrap_or_default();
    let classes = classpath.with_file_name("classes");
    let mut command = Command::new("java");
    // These make a short run cheap: most of its time is the start.
    command.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx512m", "-cp"]);
    command.arg(format!("{}:{}", classes.display(), libraries.trim())).arg(class);
    command
}

impl Role {
    pub(crate) fn other(self) -> Role {
        match self {
            Role::Initiator => Role::Acceptor,
            Role::Acceptor => Role::Initiator,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Initiator => "initiator",
            Role::Acceptor => "acceptor",
        }
    }
}

impl Event {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.text("event") == name
    }

    /// Returns whether it is a message that was received (`direction` "in") or sent ("out").
    pub(crate) fn is_message(&self, direction: &str, msg_type: &str) -> bool {
        self.is(direction) && self.text("msg_type") == msg_type
    }

    /// Returns whether it is an application message that the engine delivered to its application.
    pub(crate) fn is_delivered(&self, msg_type: &str) -> bool {
        self.is("delivered") && self.text("msg_type") == msg_type
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn number(&self, key: &str) -> u64 {
        self.0.get(key).and_then(Value::as_u64).unwrap_or_default()
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns whether the wire text of a session message contains `tag=value`.
    pub(crate) fn holds(&self, field: &str) -> bool {
        self.text("raw").split('\u{1}').any(|one| one == field)
    }

    /// Returns the value of a field in the wire text of a session message.
    pub(crate) fn field(&self, tag: u32) -> Option<&str> {
        let head = format!("{tag}=");
        self.text("raw").split('\u{1}').find_map(|field| field.strip_prefix(head.as_str()))
    }

    pub(crate) fn numbers(&self) -> Numbers {
        Numbers { next_out: self.number("next_out"), next_in: self.number("next_in") }
    }
}
