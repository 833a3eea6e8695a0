//! The venue and the trader of a round trip, in one process or each in its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fixbolt::{EngineBuilder, Initiation};
use fixbolt_codec::Message;
use fixbolt_dictionary::Policy;
use fixbolt_session::{
    Application, Delivery, Event, Failure, Role, SessionDictionary, SessionEnd, SessionSettings, Turn,
};
use fixbolt_workloads::harness::{Clock as _, Monotonic, Recorder};

use super::configurations::Configuration;
use super::messages::{Fields, Order, PARTIES, Reports, VERSION, read, wrong};
use crate::loopback::exchange::ORDER;
use crate::loopback::layout::Layout;
use crate::loopback::pair::{Keeping, Side, engine, id};
use crate::loopback::watch::Watch;

/// What is validated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Validation {
    /// What the configuration says.
    Chosen,
    /// Everything.
    Everything,
    /// Nothing, with the published bytes of the report, which are not valid.
    Nothing,
}

impl Validation {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::Everything => "everything",
            Self::Nothing => "nothing",
        }
    }

    pub(super) const fn fields(self) -> Fields {
        match self {
            Self::Nothing => Fields::Published,
            _ => Fields::Completed,
        }
    }
}

/// How both sides are set up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Setup {
    pub(super) configuration: Configuration,
    pub(super) validation: Validation,
    pub(super) layout: Layout,
}

impl Setup {
    fn settings(&self, role: Role) -> Result<SessionSettings, String> {
        Ok(SessionSettings::new(id(VERSION, PARTIES, 0, role)?, role).with(|s| {
            s.reset.reset_on_logon = true;
            match self.validation {
                Validation::Chosen => s.validation.incoming = self.configuration.policy(),
                Validation::Everything => s.validation.incoming = Policy::standard(),
                Validation::Nothing => {
                    s.dictionary = SessionDictionary::None;
                    s.validation.incoming = Policy::tolerant();
                }
            }
        }))
    }

    fn keeping(&self) -> Keeping {
        Keeping { validates: self.validation != Validation::Nothing, journals: true, logs: false }
    }

    fn start<A: Application + Clone + Send + 'static>(
        &self,
        builder: EngineBuilder,
        role: Role,
        directory: PathBuf,
        app: A,
    ) -> Result<Side<A>, String> {
        let workers = self.configuration.workers;
        let (ids, apps) = (vec![id(VERSION, PARTIES, 0, role)?], vec![app; workers]);
        Side::start_each(builder, ids, directory, self.keeping(), (workers, apps))
    }

    pub(super) fn venue(
        &self,
        address: SocketAddr,
        directory: PathBuf,
        app: Venue,
    ) -> Result<Side<Venue>, String> {
        let builder = engine(self.layout, self.layout.venue).accept(address, self.settings(Role::Acceptor)?);
        self.start(builder, Role::Acceptor, directory, app)
    }

    pub(super) fn trader(
        &self,
        (host, port): (&str, u16),
        directory: PathBuf,
        app: Trader,
    ) -> Result<Side<Trader>, String> {
        let mut initiation = Initiation::new(self.settings(Role::Initiator)?, host, port);
        initiation.reconnect_interval = Duration::from_millis(200);
        initiation.max_reconnect_interval = Duration::from_millis(200);
        let builder = engine(self.layout, self.layout.trader).connect(initiation);
        self.start(builder, Role::Initiator, directory, app)
    }
}

/// The venue's application, of which each worker has one: reads the nine fields of each order, and
/// answers with its report.
#[derive(Clone)]
pub(super) struct Venue {
    reports: Reports,
    watch: Watch,
    /// How many orders were answered.
    answered: Arc<AtomicU64>,
    /// Whether its client has logged out, where that is the end.
    gone: Option<Arc<AtomicBool>>,
}

impl Venue {
    pub(super) fn new(setup: &Setup, watch: &Watch) -> Self {
        let reports = Reports::new(setup.validation.fields(), setup.configuration.is_prepared);
        Self { reports, watch: watch.clone(), answered: Arc::default(), gone: None }
    }

    /// Has the client's logout noted instead of counted as a failure. Returns the number of orders
    /// answered, and whether the session has ended.
    pub(super) fn apart(&mut self) -> (Arc<AtomicU64>, Arc<AtomicBool>) {
        (Arc::clone(&self.answered), Arc::clone(self.gone.get_or_insert_default()))
    }

    fn answer(&mut self, message: &Message<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let order = Order::read(message)?;
        if !order.is_expected() {
            return Err(Failure::new("the order has other values than those of the test"));
        }
        self.reports.answer(&order, turn)?;
        self.answered.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Application for Venue {
    fn on_message(&mut self, order: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if order.msg_type() != ORDER.as_bytes() {
            return Ok(Delivery::UNSUPPORTED);
        }
        let answered = self.answer(&order, turn);
        answered.inspect_err(|error| self.watch.fail(format!("the venue could not answer: {error}")))?;
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        match (&self.gone, event) {
            (Some(gone), Event::Ended(end)) => {
                if !matches!(end, SessionEnd::LoggedOutByPeer | SessionEnd::PeerDidNotClose) {
                    self.watch.event("venue", event);
                }
                gone.store(true, Ordering::Release);
            }
            _ => self.watch.event("venue", event),
        }
        Ok(())
    }
}

/// The trader's application: records when the report of each order has been read.
#[derive(Clone)]
pub(super) struct Trader {
    fields: Fields,
    watch: Watch,
    recorder: Recorder,
}

impl Trader {
    pub(super) fn new(setup: &Setup, watch: &Watch, recorder: &Recorder) -> Self {
        Self { fields: setup.validation.fields(), watch: watch.clone(), recorder: recorder.clone() }
    }
}

impl Application for Trader {
    fn on_message(&mut self, report: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let read = read(&report);
        let now = Monotonic.now();
        let (number, quantity) =
            read.inspect_err(|error| self.watch.fail(format!("a report is wrong: {error}")))?;
        self.recorder.finish(number, now);
        if let Some(wrong) = wrong(report, (number, quantity), self.fields) {
            self.watch.fail(format!("the report of order {number} is wrong: {wrong}"));
        }
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.watch.event("trader", event);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::configurations::CONFIGURATIONS;
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn a_side_has_the_workers_of_a_pool_and_one_without_a_pool() {
        let [default, aggressive, ..] = CONFIGURATIONS.map(|it| it.with_workers(3));
        for (configuration, workers) in [(CONFIGURATIONS[0], 1), (default, 3), (aggressive, 1)] {
            let (validation, layout) = (Validation::Chosen, configuration.layout(&[]));
            let setup = Setup { configuration, validation, layout };
            let (watch, folder) = (Watch::default(), Folder::new().unwrap());
            let anywhere = "127.0.0.1:0".parse().unwrap();
            let side = setup.venue(anywhere, folder.0.join("venue"), Venue::new(&setup, &watch)).unwrap();
            assert_eq!(side.engine.stop().unwrap().len(), workers, "{}", configuration.name);
        }
    }
}
