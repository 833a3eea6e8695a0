//! One process: a session core on its store, and its application.

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody};
use fixbolt_conformance::disk::Disk;
use fixbolt_session::runtime::session_key;
use fixbolt_session::{
    Application, Delivery, Event, Failure, Handle, Now, SendError, SessionEnd, SessionKey, Sessions, Turn,
    Unreached,
};

use crate::bytes;
use crate::planted;
use crate::setup::Setup;

/// The session of each process: it is the only one, and is never closed.
pub(crate) const KEY: SessionKey = session_key(0, 0, 0);

/// A process that is never seen dead: it starts again as soon as it has died, because nothing that
/// happens in between could depend on it.
pub(crate) struct Side {
    pub(crate) sessions: Sessions,
    pub(crate) disk: Disk,
    pub(crate) app: App,
    /// Whether it believes that it is connected.
    pub(crate) attached: bool,
    /// Bytes that arrived and were not consumed.
    pub(crate) inbox: Vec<u8>,
    /// What its application has sent, in order.
    pub(crate) sent: Vec<Order>,
    /// Every new message that was on the wire: generation, sequence number, bytes.
    pub(crate) wire: Vec<(u32, u64, Vec<u8>)>,
}

/// An order that the session has taken.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) id: Vec<u8>,
    /// The generations of both sides when it was sent.
    pub(crate) generations: [u32; 2],
    /// Whether one side had reset its sequence numbers by then, and the other one had not.
    pub(crate) unsettled: bool,
    /// Whether the application was told that the session has taken it: the process did not die.
    pub(crate) told: bool,
}

/// An application that takes everything, and remembers what it was told.
#[derive(Default)]
pub(crate) struct App {
    /// Whether it answers each order in the same turn.
    answers: bool,
    /// How connections ended, until somebody has looked.
    pub(crate) ends: Vec<SessionEnd>,
    /// What it was told and should not have been.
    pub(crate) surprises: Vec<String>,
    /// How often it was told that the sequence numbers have changed.
    pub(crate) changes: u32,
}

impl Side {
    pub(crate) fn new(setup: &Setup, side: usize, now: Now) -> Self {
        let disk = Disk::new(setup.late);
        let mut app = App { answers: setup.answers && side == 1, ..App::default() };
        let sessions = open(setup, side, &disk, &mut app, now);
        Self { sessions, disk, app, attached: false, inbox: Vec::new(), sent: Vec::new(), wire: Vec::new() }
    }

    /// Starts the process again on what its store holds.
    pub(crate) fn restart(&mut self, setup: &Setup, side: usize, now: Now) {
        self.attached = false;
        self.inbox.clear();
        self.app.ends.clear();
        self.sessions = open(setup, side, &self.disk, &mut self.app, now);
    }

    /// Sends an order. Returns whether the session has taken it.
    pub(crate) fn order(&mut self, now: Now, id: &[u8]) -> bool {
        let act = |turn: &mut Turn<'_>| write(turn.session(), b"D", id);
        self.sessions.act(now, KEY, &mut self.app, act).is_ok()
    }
}

fn open(setup: &Setup, side: usize, disk: &Disk, app: &mut App, now: Now) -> Sessions {
    let mut sessions = Sessions::new(planted::store(disk, setup.defect), 8 * 1024);
    let key = sessions.open(now, setup.settings(side), app).expect("the settings are valid");
    assert_eq!(key, KEY);
    sessions
}

fn write(to: Handle<'_>, msg_type: &[u8], id: &[u8]) -> Result<(), SendError> {
    let mut draft = to.draft(MsgType::new(msg_type));
    draft.writer().bytes(Key::new(11), id);
    draft.send().map(drop)
}

impl Application for App {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if self.answers && message.msg_type() == b"D" {
            let id = bytes::id(message.bytes()).to_vec();
            write(turn.session(), b"8", &id)?;
        }
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        match event {
            Event::Ended(end) => self.ends.push((*end).clone()),
            Event::SequenceChanged { .. } => self.changes += 1,
            Event::Unreached { why: Unreached::Reset, .. } => {}
            Event::Garbled { .. }
            | Event::Rejected { .. }
            | Event::RejectReceived { .. }
            | Event::Unreached { .. }
            | Event::NumbersGivenUp { .. }
            | Event::CallbackFailed { .. } => self.surprises.push(event.to_string()),
            _ => {}
        }
        Ok(())
    }
}
