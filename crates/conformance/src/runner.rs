//! Runs a script step by step against a session behind a [`Transport`], and reports where it fails.
//!
//! The runner knows scripts and timeouts. The transport decides how bytes travel and which clock
//! counts: a TCP port in real time ([`Tcp`](crate::Tcp)), or the session core in virtual time.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use fixbolt_session::{SessionId, Utc};

use crate::compare::{Mismatch, Order, compare, readable};
use crate::script::{Action, Line, Script, Step, find};

/// The connection to the session under test. Scripts identify connections by numbers.
pub trait Transport {
    /// Opens a connection.
    ///
    /// # Errors
    /// Returns a [`TransportError`] if nothing listens there.
    fn connect(&mut self, connection: u32) -> Result<(), TransportError>;

    /// Sends bytes unchanged. Bytes sent to a connection that the session has closed are lost; the
    /// next expectation notices the closed connection.
    ///
    /// # Errors
    /// Returns a [`TransportError`] if the connection was never opened.
    fn send(&mut self, connection: u32, bytes: &[u8]) -> Result<(), TransportError>;

    /// Returns what arrives next on the connection within `wait`.
    ///
    /// # Errors
    /// Returns a [`TransportError`] if the connection was never opened, or failed other than by
    /// being closed.
    fn receive(&mut self, connection: u32, wait: Duration) -> Result<Received, TransportError>;

    /// Closes the connection from the counterparty's side.
    ///
    /// # Errors
    /// Returns a [`TransportError`] if the connection was never opened.
    fn close(&mut self, connection: u32) -> Result<(), TransportError>;

    /// Returns the time that `<TIME>` stands for.
    fn utc(&self) -> Utc;

    /// Runs a command on the acceptor itself.
    ///
    /// # Errors
    /// Returns [`TransportError::OutOfReach`] if the acceptor is another process; the script then
    /// counts as not run.
    fn command(&mut self, command: &Command) -> Result<(), TransportError>;
}

/// What arrived on a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// A message, or bytes that are not one.
    Message(Vec<u8>),
    /// The session closed the connection.
    Disconnected,
    /// Nothing arrived in time.
    Nothing,
}

/// A command to the acceptor itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Sets NextNumOut.
    SetNextSenderSeqNum(SessionId, u64),
    /// Sets NextNumIn.
    SetNextTargetSeqNum(SessionId, u64),
    /// Logs out, with a Text.
    Logout(SessionId, Option<String>),
}

/// Why a transport failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransportError {
    /// The step needs the acceptor in the same process.
    OutOfReach,
    /// The script uses a connection that it has not opened.
    NotConnected(u32),
    /// Anything else, in words.
    Other(String),
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfReach => f.write_str("needs the acceptor in the same process"),
            Self::NotConnected(n) => write!(f, "connection {n} was not opened by an iCONNECT line"),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for TransportError {}

/// The shortest time that an `E` line or an `eDISCONNECT` waits.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Runs one script. Connections that it leaves open are closed.
///
/// # Errors
/// Returns a [`Failure`] with the line that failed.
pub fn run(script: &Script, transport: &mut dyn Transport, order: Order) -> Result<(), Failure> {
    let mut run = Run { transport, order, heart_bt_int: BTreeMap::new(), test_req_id: BTreeMap::new() };
    let mut open = Vec::new();
    let mut outcome = Ok(());
    for step in &script.steps {
        match step.action {
            Action::Connect => open.push(step.connection),
            Action::Disconnect => open.retain(|c| *c != step.connection),
            _ => {}
        }
        if let Err(kind) = run.step(step) {
            outcome = Err(Failure { script: script.path.clone(), line: step.line, kind });
            break;
        }
    }
    for connection in open {
        // The session may have closed it already; in either case there is nothing more to report.
        let _ = run.transport.close(connection);
    }
    outcome
}

struct Run<'t> {
    transport: &'t mut dyn Transport,
    order: Order,
    /// HeartBtInt of the Logon sent on each connection: an `E` line waits three times this if that
    /// is longer.
    heart_bt_int: BTreeMap<u32, Duration>,
    /// The last TestReqID (112) received on each connection.
    test_req_id: BTreeMap<u32, Vec<u8>>,
}

impl Run<'_> {
    fn step(&mut self, step: &Step) -> Result<(), FailureKind> {
        let connection = step.connection;
        match &step.action {
            Action::Connect => self.transport.connect(connection)?,
            Action::Disconnect => self.transport.close(connection)?,
            Action::Send(line) => {
                let remembered = self.test_req_id.get(&connection).map(Vec::as_slice);
                let bytes = line.to_send(self.transport.utc(), remembered);
                if field(&bytes, b"35") == Some(b"A")
                    && let Some(seconds) = field(&bytes, b"108").and_then(number)
                {
                    self.heart_bt_int.insert(connection, Duration::from_secs(seconds));
                }
                self.transport.send(connection, &bytes)?;
            }
            Action::Expect(line) => self.expect(connection, line)?,
            Action::ExpectDisconnect => {
                let wait = self.patience(connection);
                match self.transport.receive(connection, wait)? {
                    Received::Disconnected => {}
                    Received::Message(bytes) => return Err(FailureKind::NotClosed(readable(&bytes))),
                    Received::Nothing => return Err(FailureKind::StillOpen(wait)),
                }
            }
            Action::ExpectSilence(seconds) => {
                match self.transport.receive(connection, Duration::from_secs(*seconds))? {
                    Received::Nothing => {}
                    Received::Message(bytes) => return Err(FailureKind::NotSilent(readable(&bytes))),
                    Received::Disconnected => return Err(FailureKind::NotSilent("a disconnect".into())),
                }
            }
            Action::SetNextSenderSeqNum(id, n) => {
                self.transport.command(&Command::SetNextSenderSeqNum(id.clone(), *n))?;
            }
            Action::SetNextTargetSeqNum(id, n) => {
                self.transport.command(&Command::SetNextTargetSeqNum(id.clone(), *n))?;
            }
            Action::Logout(id, text) => {
                self.transport.command(&Command::Logout(id.clone(), text.clone()))?;
            }
        }
        Ok(())
    }

    fn expect(&mut self, connection: u32, line: &Line) -> Result<(), FailureKind> {
        let wait = self.patience(connection);
        let answer = self.transport.receive(connection, wait)?;
        let expected = line.render(self.transport.utc(), None);
        match answer {
            Received::Message(bytes) => {
                compare(&expected, &bytes, self.order)?;
                if let Some(id) = field(&bytes, b"112") {
                    self.test_req_id.insert(connection, id.to_vec());
                }
                Ok(())
            }
            Received::Disconnected => Err(FailureKind::ClosedInstead(readable(&expected))),
            Received::Nothing => Err(FailureKind::NoAnswer(readable(&expected), wait)),
        }
    }

    fn patience(&self, connection: u32) -> Duration {
        self.heart_bt_int
            .get(&connection)
            .map_or(PATIENCE, |interval| PATIENCE.max(interval.saturating_mul(3)))
    }
}

fn field<'a>(message: &'a [u8], tag: &[u8]) -> Option<&'a [u8]> {
    let start = find(message, &[b"\x01", tag, b"="].concat())? + tag.len() + 2;
    message[start..].split(|b| *b == 1).next()
}

fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Removes the first whole message from `buffer`. A message ends with the first `10=...` field; its
/// BodyLength is only verified later, on the answer itself.
pub(super) fn take_message(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let trailer = find(buffer, b"\x0110=")?;
    let end = trailer + 4 + buffer[trailer + 4..].iter().position(|b| *b == 1)? + 1;
    let rest = buffer.split_off(end);
    Some(std::mem::replace(buffer, rest))
}

/// A step that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The script.
    pub script: PathBuf,
    /// The line number, counted from 1.
    pub line: usize,
    /// What went wrong.
    pub kind: FailureKind,
}

/// What went wrong in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FailureKind {
    /// A message other than the expected one arrived.
    Mismatch(Box<Mismatch>),
    /// The expected message did not arrive in time.
    NoAnswer(String, Duration),
    /// The connection was closed instead of the expected message.
    ClosedInstead(String),
    /// A message arrived where the connection should have been closed.
    NotClosed(String),
    /// The connection was still open at the end of the time.
    StillOpen(Duration),
    /// Something arrived where nothing should have.
    NotSilent(String),
    /// The transport failed.
    Transport(TransportError),
}

impl From<TransportError> for FailureKind {
    fn from(e: TransportError) -> Self {
        Self::Transport(e)
    }
}

impl From<Mismatch> for FailureKind {
    fn from(m: Mismatch) -> Self {
        Self::Mismatch(Box::new(m))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.script.display(), self.line)?;
        match &self.kind {
            FailureKind::Mismatch(m) => write!(f, "the answer is not the expected one\n{m}"),
            FailureKind::NoAnswer(expected, wait) => {
                write!(f, "no message arrived within {} s\n  expected {expected}", wait.as_secs())
            }
            FailureKind::ClosedInstead(expected) => {
                write!(f, "the connection was closed instead of a message\n  expected {expected}")
            }
            FailureKind::NotClosed(got) => {
                write!(f, "a message arrived where the connection should be closed\n  got      {got}")
            }
            FailureKind::StillOpen(wait) => {
                write!(f, "the connection was not closed within {} s", wait.as_secs())
            }
            FailureKind::NotSilent(got) => write!(f, "nothing should arrive here\n  got      {got}"),
            FailureKind::Transport(e) => write!(f, "{e}"),
        }
    }
}

impl core::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::path::Path;

    /// Answers with the prepared answers, whatever is sent.
    struct Canned {
        answers: VecDeque<Received>,
        waits: Vec<u64>,
        sent: Vec<Vec<u8>>,
    }

    impl Transport for Canned {
        fn connect(&mut self, _: u32) -> Result<(), TransportError> {
            Ok(())
        }
        fn send(&mut self, _: u32, bytes: &[u8]) -> Result<(), TransportError> {
            self.sent.push(bytes.to_vec());
            Ok(())
        }
        fn receive(&mut self, _: u32, wait: Duration) -> Result<Received, TransportError> {
            self.waits.push(wait.as_secs());
            Ok(self.answers.pop_front().unwrap_or(Received::Nothing))
        }
        fn close(&mut self, _: u32) -> Result<(), TransportError> {
            Ok(())
        }
        fn utc(&self) -> Utc {
            Utc(0)
        }
        fn command(&mut self, _: &Command) -> Result<(), TransportError> {
            Err(TransportError::OutOfReach)
        }
    }

    fn message(text: &str) -> Vec<u8> {
        let line = format!("I8=FIX.4.4|{text}");
        let script = Script::parse(Path::new("m"), line.as_bytes()).unwrap();
        let Action::Send(line) = &script.steps[0].action else { panic!() };
        line.to_send(Utc(0), None)
    }

    fn play(script: &str, answers: Vec<Received>) -> (Result<(), Failure>, Canned) {
        let script = Script::parse(Path::new("x.def"), script.as_bytes()).unwrap();
        let mut canned = Canned { answers: answers.into(), waits: Vec::new(), sent: Vec::new() };
        let result = run(&script, &mut canned, Order::Any);
        (result, canned)
    }

    #[test]
    fn an_expectation_waits_ten_seconds_or_three_heartbeats_if_longer() {
        let (result, canned) = play(
            "iCONNECT\nI8=FIX.4.4|35=0|\neDISCONNECT\nI8=FIX.4.4|35=A|108=30|\neDISCONNECT\nI8=FIX.4.4|35=A|108=2|\neDISCONNECT",
            vec![Received::Disconnected, Received::Disconnected, Received::Disconnected],
        );
        assert_eq!(result, Ok(()));
        assert_eq!(canned.waits, [10, 90, 10]);
    }

    #[test]
    fn a_disconnect_must_not_be_preceded_by_a_message() {
        let (result, _) = play("iCONNECT\neDISCONNECT", vec![Received::Message(message("35=0|"))]);
        let failure = result.unwrap_err();
        assert_eq!(failure.line, 2);
        assert!(matches!(failure.kind, FailureKind::NotClosed(_)));
        let (result, _) = play("iCONNECT\neDISCONNECT", vec![]);
        assert!(matches!(result.unwrap_err().kind, FailureKind::StillOpen(_)));
    }

    #[test]
    fn the_test_req_id_that_came_goes_back() {
        let (result, canned) = play(
            "iCONNECT\nE8=FIX.4.4|35=1|112=<TESTREQID>|\nI8=FIX.4.4|35=0|112=<TESTREQID>|",
            vec![Received::Message(message("35=1|112=Q7|"))],
        );
        assert_eq!(result, Ok(()));
        assert_eq!(canned.sent[0], message("35=0|112=Q7|"));
    }

    #[test]
    fn silence_is_broken_by_a_message_and_by_a_disconnect() {
        assert_eq!(play("iCONNECT\neSILENCE 60", vec![]).0, Ok(()));
        for broken in [Received::Message(message("35=0|")), Received::Disconnected] {
            let (result, canned) = play("iCONNECT\neSILENCE 60", vec![broken]);
            assert!(matches!(result.unwrap_err().kind, FailureKind::NotSilent(_)));
            assert_eq!(canned.waits, [60]);
        }
    }

    #[test]
    fn a_stream_is_cut_behind_each_trailer() {
        let mut stream = [message("35=0|34=1|"), message("35=0|34=2|"), b"8=FIX.4.4\x019=".to_vec()].concat();
        assert_eq!(take_message(&mut stream), Some(message("35=0|34=1|")));
        assert_eq!(take_message(&mut stream), Some(message("35=0|34=2|")));
        assert_eq!(take_message(&mut stream), None);
        assert_eq!(stream, b"8=FIX.4.4\x019=");
    }
}
