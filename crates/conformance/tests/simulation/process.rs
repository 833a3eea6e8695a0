//! A process: its sessions while it runs, its disk, and an application that sometimes fails.

use std::collections::HashSet;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, SeqNum, Tag};
use fixbolt_session::runtime::session_key;
use fixbolt_session::{
    Accepted, Application, Delivery, Event, Failure, Halt, Handle, LogonDecision, Now, Resend, SendError,
    SessionKey, SessionSettings, Sessions, Turn, Unreached,
};

use fixbolt_conformance::disk::Disk;
use fixbolt_conformance::simulation::Random;

/// Returns the key of session `n` of a process: sessions are always opened in the same order and
/// never closed.
pub(crate) fn key_of(n: u32) -> SessionKey {
    session_key(0, n, n)
}

pub(crate) struct Process {
    pub(crate) disk: Disk,
    pub(crate) settings: Vec<SessionSettings>,
    pub(crate) sessions: Option<Sessions>,
    pub(crate) app: App,
    /// The difference between its wall clock and the simulation's, in nanoseconds.
    pub(crate) skew: i64,
    /// Generation and NextNumOut of each session at the last check.
    pub(crate) next_out: Vec<(u32, SeqNum)>,
}

/// An application that counts events and fails at random.
pub(crate) struct App {
    random: Random,
    /// Whether it may fail now.
    pub(crate) fails: bool,
    /// The session to which a venue copies its reports.
    copies_to: Option<SessionKey>,
    pub(crate) failures: u64,
    pub(crate) not_now: u64,
    pub(crate) resends: u64,
    pub(crate) gaps: u64,
    pub(crate) duplicates: u64,
    pub(crate) slow: u64,
    pub(crate) recovered: u64,
    /// Session and sequence number of messages that were reported as beyond the horizon.
    pub(crate) beyond: HashSet<(usize, u64)>,
    pub(crate) notes: Vec<String>,
}

/// The payload of the panics that the simulation causes.
const SIMULATED: &str = "simulated";

/// Keeps the panics that the simulation causes from being printed.
pub(crate) fn silence_simulated_panics() {
    use std::sync::Once;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload().downcast_ref::<&str>() != Some(&SIMULATED) {
                print(info);
            }
        }));
    });
}

impl Process {
    pub(crate) fn new(
        settings: Vec<SessionSettings>,
        copies_to: Option<SessionKey>,
        seed: u64,
        late: bool,
    ) -> Self {
        let next_out = vec![(0, SeqNum::ONE); settings.len()];
        let app = App {
            random: Random::new(seed),
            fails: true,
            copies_to,
            failures: 0,
            not_now: 0,
            resends: 0,
            gaps: 0,
            duplicates: 0,
            slow: 0,
            recovered: 0,
            beyond: HashSet::new(),
            notes: Vec::new(),
        };
        Self { disk: Disk::new(late), settings, sessions: None, app, skew: 0, next_out }
    }

    pub(crate) fn start(&mut self, now: Now) {
        // Few enough bytes that all that waits for a throttle leaves in the end.
        let mut sessions = Sessions::new(Box::new(self.disk.clone()), 64 * 1024).with_outbound_queue(8 << 10);
        for settings in &self.settings {
            sessions.open(now, settings.clone(), &mut self.app).unwrap();
        }
        self.sessions = Some(sessions);
    }

    /// Retries each session that halted because its application failed too often.
    pub(crate) fn retry(&mut self, now: Now) {
        let Some(sessions) = &mut self.sessions else { return };
        for n in 0..self.settings.len() {
            let key = key_of(u32::try_from(n).unwrap());
            match sessions.halted(key) {
                Some(Halt::PoisonMessage { .. }) => {
                    sessions.retry(now, key, "the world: again", &mut self.app).unwrap()
                }
                None => {}
                Some(halt) => panic!("halted: {halt}"),
            }
        }
    }
}

impl App {
    /// Fails once in `n` times, in a random way.
    fn fail(&mut self, n: u64) -> Result<Option<Delivery>, SendError> {
        if !self.fails || !self.random.once_in(n) {
            return Ok(None);
        }
        match self.random.within(0, 8) {
            0 => {
                self.failures += 1;
                std::panic::panic_any(SIMULATED)
            }
            1 => {
                self.failures += 1;
                Err(SendError::Application("a bad day"))
            }
            2 => Err(SendError::BackPressure),
            _ => {
                self.not_now += 1;
                Ok(Some(Delivery::NotNow))
            }
        }
    }
}

impl Application for App {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if let Some(delivery) = self.fail(60)? {
            return Ok(delivery);
        }
        let id = message.get(Tag::new(11)).unwrap_or(b"?");
        if message.msg_type() == b"D" {
            report(turn.session(), id)?;
            // A failure in the middle must leave no trace.
            if let Some(delivery) = self.fail(60)? {
                return Ok(delivery);
            }
            if let Some(copy) = self.copies_to.and_then(|key| turn.to(key)) {
                report(copy, id)?;
            }
        }
        if let Some(delivery) = self.fail(60)? {
            return Ok(delivery);
        }
        Ok(Delivery::Done)
    }

    fn on_logon(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        if self.fails && self.random.once_in(40) {
            self.failures += 1;
            std::panic::panic_any(SIMULATED)
        }
        Ok(LogonDecision::Accept)
    }

    fn on_resend(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Resend, Failure> {
        self.resends += 1;
        if self.fails && self.random.once_in(400) {
            self.failures += 1;
            std::panic::panic_any(SIMULATED)
        }
        Ok(Resend::Send)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let session = turn.key();
        match event {
            Event::GapDetected { .. } => self.gaps += 1,
            Event::DuplicateIgnored { .. } => self.duplicates += 1,
            Event::SlowConsumer { .. } => self.slow += 1,
            Event::SlowConsumerRecovered { .. } => self.recovered += 1,
            Event::Unreached { begin, end, why: Unreached::BeyondHorizon { .. } } => {
                self.beyond.extend((begin.0..=end.0).map(|seq| (session.index(), seq)));
            }
            Event::Ended(end) => self.notes.push(format!("{session:?} {end:?}")),
            Event::Note(text) => self.notes.push(format!("{session:?} {text}")),
            _ => {}
        }
        if self.fails && self.random.once_in(300) {
            self.failures += 1;
            std::panic::panic_any(SIMULATED)
        }
        Ok(())
    }
}

fn report(to: Handle<'_>, id: &[u8]) -> Result<Accepted, SendError> {
    let mut draft = to.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), id).bytes(Key::new(39), b"2");
    draft.send()
}
