//! `fixbolt serve` as the attacked process.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use crate::files::{self, Folder, Size};
use crate::peer::Peer;
use crate::process::{Process, wait_for};

/// How a server is started.
#[derive(Debug)]
pub(crate) struct Setup {
    default: String,
    sessions: String,
    arguments: Vec<String>,
    /// What the command runs under, such as a lower limit of descriptors.
    wrapper: Vec<String>,
    is_stderr_read: bool,
    /// How many ports it has.
    ports: usize,
    folder: Folder,
}

impl Setup {
    /// An acceptor with the sessions GOOD, whose service is measured, and EVIL, which attacks; both
    /// have a journal.
    pub(crate) fn new() -> Self {
        Self::with_sessions("[SESSION]\nTargetCompID=GOOD\n[SESSION]\nTargetCompID=EVIL\n")
    }

    /// An acceptor with these sessions, sections of a configuration, at one port.
    pub(crate) fn with_sessions(sessions: &str) -> Self {
        Self {
            default: String::new(),
            sessions: sessions.to_owned(),
            arguments: Vec::new(),
            wrapper: Vec::new(),
            is_stderr_read: true,
            ports: 1,
            folder: Folder::create(),
        }
    }

    /// The session GOOD at a plain port, and these at one with TLS, with a certificate of
    /// `fixbolt certs`.
    pub(crate) fn with_tls(names: &[&str]) -> Self {
        let setup = Self::at_tls_port(names);
        let keys = setup.folder.0.join("keys");
        let made = Command::new(env!("CARGO_BIN_EXE_fixbolt")).arg("certs").arg(&keys).output();
        assert!(made.expect("the command starts").status.success());
        setup.certificate("FIXBOLT.pem", "FIXBOLT.key")
    }

    /// The session GOOD at a plain port, and these at one with TLS, with a self-signed certificate
    /// of RSA, of that many bits, which OpenSSL makes.
    pub(crate) fn with_rsa(names: &[&str], bits: u32) -> Self {
        let setup = Self::at_tls_port(names);
        let keys = setup.folder.0.join("keys");
        std::fs::create_dir_all(&keys).expect("the folder can be written");
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-newkey"]);
        openssl.arg(format!("rsa:{bits}")).args(["-keyout", "own.key", "-out", "own.pem"]);
        let made = openssl.current_dir(&keys).output().expect("OpenSSL is installed");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        setup.certificate("own.pem", "own.key")
    }

    fn at_tls_port(names: &[&str]) -> Self {
        // The certificate in [DEFAULT] is for the others.
        let mut setup = Self::with_sessions("[SESSION]\nTargetCompID=GOOD\nSocketUseSSL=N\n");
        for name in names {
            // Another address, since each may choose its port.
            let session =
                format!("[SESSION]\nTargetCompID={name}\nSocketAcceptAddress=127.0.0.2\nSocketUseSSL=Y\n");
            setup.sessions.push_str(&session);
        }
        setup.ports = 2;
        setup
    }

    fn certificate(self, chain: &str, key: &str) -> Self {
        let keys = self.folder.0.join("keys");
        let [chain, key] = [chain, key].map(|file| keys.join(file).display().to_string());
        self.default(&format!("SocketCertificateFile={chain}\nSocketPrivateKeyFile={key}\nNeedClientAuth=N"))
    }

    /// Adds lines to `[DEFAULT]`.
    pub(crate) fn default(mut self, lines: &str) -> Self {
        self.default.push_str(lines);
        self.default.push('\n');
        self
    }

    /// Adds arguments of `fixbolt serve`.
    pub(crate) fn arguments(mut self, words: &[&str]) -> Self {
        self.arguments.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// Starts it under another command.
    pub(crate) fn under(mut self, words: &[&str]) -> Self {
        self.wrapper = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Allows the process this number of descriptors.
    pub(crate) fn descriptors(self, limit: u32) -> Self {
        self.under(&["sh", "-c", &format!("ulimit -n {limit} && exec \"$@\""), "sh"])
    }

    /// Connects standard error to a pipe that nobody reads.
    pub(crate) fn unread(mut self) -> Self {
        self.is_stderr_read = false;
        self
    }

    /// Returns where the journals are.
    pub(crate) fn journal(&self) -> std::path::PathBuf {
        self.folder.0.join("journal")
    }

    /// Runs the command to its end, without a client.
    pub(crate) fn command(&self) -> Command {
        let config = self.folder.0.join("venue.cfg");
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nFileStorePath={}\n\
             BeginString=FIX.4.4\nSenderCompID=VENUE\n{}{}",
            self.journal().display(),
            self.default,
            self.sessions
        );
        std::fs::write(&config, text).expect("the folder can be written");
        let mut words = self.wrapper.clone();
        words.extend([env!("CARGO_BIN_EXE_fixbolt"), "serve", "--config"].map(str::to_owned));
        words.push(config.to_str().expect("the path is text").to_owned());
        words.extend(self.arguments.iter().cloned());
        let mut command = Command::new(&words[0]);
        // Cargo's folders would have the loader open files that the faults are counted by.
        command.env_remove("LD_LIBRARY_PATH");
        command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the server and waits until it listens.
    pub(crate) fn start(self) -> Server {
        let mut child = self.command().spawn().expect("the command starts");
        let lines = Lines::default();
        let stderr = child.stderr.take().expect("it is piped");
        let unread = if self.is_stderr_read {
            lines.collect(stderr);
            None
        } else {
            Some(stderr)
        };
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut next_address = || {
            let mut line = String::new();
            out.read_line(&mut line).expect("it prints a line");
            line.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ':')
                .find(|word| word.contains('.') && word.contains(':'))
                .unwrap_or_else(|| panic!("no address in {line:?}; {:?}", lines.first(10)))
                .to_owned()
        };
        let address = next_address();
        let attacked = if self.ports > 1 { next_address() } else { address.clone() };
        // Under another command, the server is that one's only child.
        let own = child.id();
        let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children"));
        let inner = children.ok().and_then(|ids| ids.split_whitespace().next()?.parse().ok());
        let process = Process(inner.unwrap_or(own));
        Server { child, process, address, attacked, lines, _unread: unread, setup: self }
    }
}

/// A running server, which is killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) process: Process,
    /// Where GOOD logs on.
    pub(crate) address: String,
    /// Where attackers connect: the port with TLS, if there is one.
    pub(crate) attacked: String,
    pub(crate) lines: Lines,
    _unread: Option<ChildStderr>,
    setup: Setup,
}

impl Server {
    /// Logs the session GOOD on.
    pub(crate) fn good(&self) -> Peer {
        Peer::logged_on(&self.address, "GOOD")
    }

    /// Returns where the journals are.
    pub(crate) fn journal(&self) -> std::path::PathBuf {
        self.setup.journal()
    }

    /// Returns the certificate of the authority of [`Setup::with_tls`].
    pub(crate) fn authority(&self) -> std::path::PathBuf {
        self.setup.folder.0.join("keys").join("ca.pem")
    }

    /// Measures the journals.
    pub(crate) fn disk(&self) -> Size {
        files::size(&self.setup.journal())
    }

    /// Asks it to end; nothing waits for it.
    pub(crate) fn terminate(&self) {
        let id = self.process.0.to_string();
        let killed = Command::new("kill").args(["-TERM", &id]).status().expect("kill is there");
        assert!(killed.success());
    }

    /// Asks it to end, and returns how it ended, and the setup, with which it can be started again.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub(crate) fn stop(mut self) -> (ExitStatus, Setup) {
        self.terminate();
        let child = &mut self.child;
        let status = wait_for("the server ends", 20, || child.try_wait().expect("it is a child"));
        let setup = std::mem::replace(&mut self.setup, Setup::with_sessions(""));
        (status, setup)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A tracer would let its process run on.
        if self.process.0 != self.child.id() && self.process.is_running() {
            let _ = Command::new("kill").args(["-KILL", &self.process.0.to_string()]).status();
        }
        // It may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a process wrote to standard error.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lines(Arc<Mutex<Written>>);

#[derive(Default, Debug)]
struct Written {
    count: u64,
    bytes: u64,
    kept: Vec<String>,
}

/// The most lines that are kept; further ones are counted.
const KEPT: usize = 20_000;

impl Lines {
    fn collect(&self, stderr: impl Read + Send + 'static) {
        let lines = self.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
                let mut written = lines.lock();
                written.count += 1;
                written.bytes += line.len() as u64 + 1;
                if written.kept.len() < KEPT {
                    written.kept.push(String::from_utf8_lossy(&line).into_owned());
                }
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.0.lock().expect("no holder panics")
    }

    /// Returns how many there are.
    pub(crate) fn count(&self) -> u64 {
        self.lock().count
    }

    /// Returns the first ones.
    pub(crate) fn first(&self, count: usize) -> Vec<String> {
        self.lock().kept.iter().take(count).cloned().collect()
    }

    /// Returns those that contain all of these words, in any case.
    pub(crate) fn with(&self, words: &[&str]) -> Vec<String> {
        let contains = |line: &&String| {
            let line = line.to_lowercase();
            words.iter().all(|word| line.contains(&word.to_lowercase()))
        };
        self.lock().kept.iter().filter(contains).cloned().collect()
    }

    /// Waits for a line that contains all of these words, and returns it.
    pub(crate) fn wait_for(&self, words: &[&str]) -> String {
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(line) = self.with(words).first() {
                return line.clone();
            }
            assert!(
                std::time::Instant::now() < deadline,
                "no line has {words:?}; the last of {} are {:#?}",
                self.count(),
                self.lock().kept.iter().rev().take(15).collect::<Vec<_>>()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
