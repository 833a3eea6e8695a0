//! Both sides of a session over journals, in virtual time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{Body, BodySink, Frame, Framer, Message, MsgType, NewBody, Tag, Version, byte_sum};
use fixbolt_conformance::testing::Side;
use fixbolt_dictionary::{ApplicationVersion, DictionarySet, Validator, shipped};
use fixbolt_journal::DirectoryStore;
use fixbolt_session::runtime::mono;
use fixbolt_session::{
    Accepted, Application, BusinessReject, BusinessRejectCode, Delivery, Event, Failure, FixtDictionaries,
    Mono, Now, Phase, Role, SendError, SessionDictionary, SessionId, SessionReject, SessionRejectCode,
    SessionSettings, Turn, Utc,
};

use crate::command::directory;

/// An application that answers orders with reports, and rejects some.
pub(crate) struct Desk {
    pub(crate) version: Version,
    /// Whether it says something once it is logged on.
    pub(crate) greets: bool,
    /// How often it fails.
    pub(crate) failures: u32,
}

impl Desk {
    fn send(&self, turn: &mut Turn<'_>, kind: &[u8], fields: &str) -> Result<Accepted, SendError> {
        let kind = MsgType::new(kind);
        let bytes = fields.replace('|', "\u{1}").into_bytes();
        let mut draft = turn.session().draft(kind);
        draft.writer().raw().body(&Body { msg_type: kind, bytes: &bytes, sum: byte_sum(&bytes) });
        draft.send()
    }

    fn report(&self, id: &str) -> String {
        let trans_type = if self.version == Version::Fix42 { "20=0|" } else { "" };
        format!("37=o{id}|11={id}|17=e{id}|{trans_type}150=0|39=0|55=IBM|54=1|38=100|151=100|14=0|6=0|")
    }
}

impl Application for Desk {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if message.msg_type() != b"D" {
            return Ok(Delivery::Done);
        }
        if self.failures > 0 {
            self.failures -= 1;
            return Err(Failure::new("no connection to the database"));
        }
        let id = String::from_utf8_lossy(message.required(Tag::new(11))?).into_owned();
        let report = self.report(&id);
        Ok(match message.get(Tag::new(58)) {
            Some(b"reject") => {
                let reject = SessionReject::new(SessionRejectCode::VALUE_IS_INCORRECT).tag(38);
                Delivery::Reject(reject.text("not a multiple of 7"))
            }
            Some(b"refuse") => {
                self.send(turn, b"8", &report)?;
                let reject = BusinessReject::new(BusinessRejectCode::UNKNOWN_SECURITY);
                Delivery::BusinessReject(reject.text("no such symbol").ref_id(id))
            }
            _ => {
                self.send(turn, b"8", &report)?;
                self.send(turn, b"8", &self.report(&format!("{id}-2")))?;
                Delivery::Done
            }
        })
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        if self.greets && matches!(event, Event::LoggedOn) {
            self.send(turn, b"8", &self.report("greeting"))?;
        }
        Ok(())
    }
}

/// One side of a session, with its journal.
pub(crate) struct End {
    pub(crate) side: Side<Desk>,
    pub(crate) base: PathBuf,
    /// Bytes that arrived and were not read.
    pub(crate) unread: Vec<u8>,
    /// The number of messages that it will send and that get lost.
    pub(crate) loses: usize,
    /// The number of messages that it will send and that get damaged.
    pub(crate) damages: usize,
}

/// An initiator and an acceptor.
pub(crate) struct Market {
    pub(crate) ends: [End; 2],
}

pub(crate) const INITIATOR: usize = 0;
pub(crate) const ACCEPTOR: usize = 1;

impl Market {
    pub(crate) fn new(name: &str, version: Version, change: impl Fn(&mut SessionSettings)) -> Self {
        let now = Now { mono: mono(3_000_000_000), utc: Utc(1_795_251_600_000_000_000) };
        let end = |us: &str, them: &str, role| {
            let base = directory(&format!("simulate-{name}-{us}"));
            let desk = Desk { version, greets: role == Role::Acceptor, failures: 0 };
            let settings = settings(version, us, them, role).with(&change);
            let side = Side::begin(now, desk, Box::new(DirectoryStore::new(&base)), vec![settings]);
            End { side, base, unread: Vec::new(), loses: 0, damages: 0 }
        };
        Self { ends: [end("T", "V", Role::Initiator), end("V", "T", Role::Acceptor)] }
    }

    /// Connects both sides.
    pub(crate) fn connect(&mut self) {
        for End { side, unread, .. } in self.ends.iter_mut().rev() {
            unread.clear();
            side.connect(0);
        }
        self.exchange();
    }

    /// Ends the connection.
    pub(crate) fn disconnect(&mut self) {
        for End { side, unread, .. } in &mut self.ends {
            unread.clear();
            side.disconnect(0);
        }
    }

    fn now(&self) -> Mono {
        self.ends[INITIATOR].side.now.mono
    }

    fn move_clocks(&mut self, time: Duration) {
        for end in &mut self.ends {
            end.side.pass(time);
        }
    }

    /// Brings what each side sends to the other one, until there is nothing more.
    pub(crate) fn exchange(&mut self) {
        loop {
            let mut is_quiet = true;
            for from in [INITIATOR, ACCEPTOR] {
                self.move_clocks(Duration::from_micros(30));
                let sent = self.ends[from].take();
                let to = &mut self.ends[1 - from];
                to.unread.extend_from_slice(&sent);
                let read = to.side.receive(0, &to.unread);
                to.unread.drain(..read);
                is_quiet &= sent.is_empty() && !to.side.is_replaying(0) && !to.side.next(0).output;
            }
            if is_quiet {
                return;
            }
        }
    }

    /// Lets time pass. Timers are a little late.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.now() + time;
        loop {
            let due = self.ends.iter().filter_map(|end| end.side.next(0).deadline).min();
            let late = Duration::from_micros(437);
            let next = due.map_or(until, |due| due + late).min(until);
            self.move_clocks(next - self.now());
            for End { side, unread, .. } in &mut self.ends {
                if side.next(0).deadline.is_some_and(|due| due <= side.now.mono) {
                    let read = side.wake(0, unread);
                    unread.drain(..read);
                }
            }
            self.exchange();
            if self.now() >= until {
                return;
            }
        }
    }

    pub(crate) fn is_logged_on(&self, side: usize) -> bool {
        let End { side, .. } = &self.ends[side];
        side.phase(0) == Phase::LoggedOn && !side.next(0).close
    }

    /// Sends an order, and lets a moment pass.
    pub(crate) fn order(&mut self, id: &str, more: &str) {
        let side = &mut self.ends[INITIATOR].side;
        let version = side.app.version;
        let handling = if version == Version::Fix42 { "21=1|" } else { "" };
        let fields = format!("11={id}|{handling}55=IBM|54=1|60=20261121-09:00:00|38=100|40=1|{more}");
        let other = Desk { version, greets: false, failures: 0 };
        side.act(0, |turn| other.send(turn, b"D", &fields)).unwrap();
        self.exchange();
        self.pass(Duration::from_millis(250));
    }

    /// Has one side log out, and both close the connection.
    pub(crate) fn log_out(&mut self, side: usize) {
        self.ends[side].side.log_out(0, "good night").unwrap();
        self.exchange();
        self.disconnect();
    }

    /// Closes the journals. Returns the directories: the initiator's, and the acceptor's.
    pub(crate) fn close(self) -> [PathBuf; 2] {
        self.ends.map(|End { side, base, .. }| {
            side.close_all().unwrap();
            base
        })
    }
}

impl End {
    /// Takes what the session sends, except what gets lost.
    fn take(&mut self) -> Vec<u8> {
        let Self { side, loses, damages, .. } = self;
        side.store_advanced();
        let bytes = side.write(0, usize::MAX);
        if side.is_replaying(0) {
            side.receive(0, &[]);
        }
        let (mut arrives, mut rest) = (Vec::new(), &bytes[..]);
        while let Frame::Message(framed) = Framer::new(1 << 20).next(rest) {
            rest = &rest[framed.bytes().len()..];
            if *loses > 0 {
                *loses -= 1;
            } else if *damages > 0 {
                *damages -= 1;
                let (message, check_sum) = framed.bytes().split_at(framed.bytes().len() - 4);
                arrives.extend_from_slice(message);
                arrives.extend_from_slice(if check_sum == b"000\x01" { b"001\x01" } else { b"000\x01" });
            } else {
                arrives.extend_from_slice(framed.bytes());
            }
        }
        arrives
    }
}

pub(crate) fn settings(version: Version, us: &str, them: &str, role: Role) -> SessionSettings {
    SessionSettings::new(SessionId::new(version, us, them).unwrap(), role).with(|s| {
        s.dictionary = if version == Version::Fixt11 {
            s.default_appl_ver_id = Some(Version::Fix50Sp2);
            let set = DictionarySet::new(shipped(version).clone()).unwrap();
            let set = set.with(ApplicationVersion::new("9"), shipped(Version::Fix50Sp2)).unwrap();
            SessionDictionary::Fixt(Arc::new(FixtDictionaries::new(set.validators())))
        } else {
            SessionDictionary::Own(Arc::new(Validator::new(shipped(version))))
        };
    })
}
