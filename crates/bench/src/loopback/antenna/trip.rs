//! The round trips of one connection, as a task of the harness.

use std::net::{Ipv4Addr, SocketAddr};

use fixbolt::Sender;
use fixbolt_session::Role;
use fixbolt_workloads::harness::{Piece, Recorder, Task, Times};

use super::messages::{Orders, PARTIES, VERSION};
use super::sides::{Setup, Trader, Venue};
use crate::folder::Folder;
use crate::loopback::layout::run_on;
use crate::loopback::open::put;
use crate::loopback::pair::{Side, id};
use crate::loopback::watch::Watch;

/// Orders out and reports back.
pub(super) struct Trip {
    setup: Setup,
    /// Where the venue is; `None` for one of this process.
    venue: Option<(String, u16)>,
    /// The core of the thread that sends.
    core: Option<usize>,
    /// The cores that it may use afterwards.
    cores: Vec<usize>,
    orders: Orders,
    watch: Watch,
    running: Option<Running>,
    recorder: Option<Recorder>,
    /// When each order was due, and when it was put.
    begun: Vec<(u64, u64)>,
}

struct Running {
    venue: Option<Side<Venue>>,
    trader: Side<Trader>,
    sender: Sender,
    _folder: Folder,
}

impl Trip {
    /// Creates the round trips of `orders` orders.
    pub(super) fn new(setup: Setup, orders: u64) -> Self {
        let (watch, begun) = (Watch::default(), Vec::with_capacity(orders as usize));
        let orders = Orders::new(setup.configuration.is_prepared);
        let (running, recorder) = (None, None);
        Self { setup, venue: None, core: None, cores: Vec::new(), orders, watch, running, recorder, begun }
    }

    /// Connects to a venue of another process.
    pub(super) fn to(mut self, host: &str, port: u16) -> Self {
        self.venue = Some((host.to_owned(), port));
        self
    }

    /// Pins the thread that sends to a core; afterwards it may run on `all`.
    pub(super) fn sending_on(mut self, core: Option<usize>, all: Vec<usize>) -> Self {
        (self.core, self.cores) = (core, all);
        self
    }

    /// Returns the times of the orders after the first `warm_up`.
    pub(super) fn times(&self, warm_up: u64) -> Vec<Times> {
        let orders = self.begun.iter().enumerate().skip(warm_up as usize);
        let ended = |number: usize| self.recorder.as_ref()?.ended(number as u64);
        orders
            .map(|(number, &(intended, started))| Times { intended, started, ended: ended(number) })
            .collect()
    }

    fn start(&self, recorder: &Recorder) -> Result<Running, String> {
        let folder = Folder::new()?;
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let venue = match self.venue {
            None => {
                let app = Venue::new(&self.setup, &self.watch);
                Some(self.setup.venue(anywhere, folder.0.join("venue"), app)?)
            }
            Some(_) => None,
        };
        let (host, port) = match (&self.venue, &venue) {
            (Some((host, port)), _) => (host.as_str(), *port),
            (None, Some(venue)) => ("127.0.0.1", venue.engine.addresses()[0].port()),
            (None, None) => return Err("there is no venue".to_owned()),
        };
        let app = Trader::new(&self.setup, &self.watch, recorder);
        let trader = self.setup.trader((host, port), folder.0.join("trader"), app)?;
        let logons = if venue.is_some() { 2 } else { 1 };
        self.watch.await_logons(logons).map_err(|why| match venue {
            Some(_) => why,
            None => format!(
                "no session with {host}:{port}: {why}. Is a server of this test there, and has it no other client?"
            ),
        })?;
        let session = trader.engine.session(&id(VERSION, PARTIES, 0, Role::Initiator)?);
        let sender = session.ok_or("the trader has no session")?.sender();
        Ok(Running { venue, trader, sender, _folder: folder })
    }
}

impl Task for Trip {
    fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
        self.recorder = Some(recorder.clone());
        self.running = Some(self.start(recorder)?);
        // After the start: threads run where the one does that starts them.
        if let Some(core) = self.core {
            run_on(&[core])?;
        }
        Ok(())
    }

    fn run(&mut self, piece: Piece) -> Result<(), String> {
        self.watch.check()?;
        let Some(running) = &mut self.running else { return Err("the engines do not run".to_owned()) };
        self.begun.push((piece.intended, piece.started));
        put(&self.watch, || self.orders.send(piece.number, &mut running.sender))
    }

    fn idle(&mut self) -> Result<(), String> {
        self.watch.check()
    }

    fn complete(&mut self) -> Result<(), String> {
        if self.core.is_some() {
            run_on(&self.cores)?;
        }
        let Some(Running { venue, trader, sender, _folder }) = self.running.take() else { return Ok(()) };
        drop(sender);
        let orders = self.begun.len() as u64;
        let all = self.times(0).iter().all(|it| it.ended.is_some());
        self.watch.end();
        let trader = trader.stop((orders, orders));
        let venue = venue.map_or(Ok(0), |venue| venue.stop((orders, orders)));
        self.watch.check()?;
        // Orders that are still on their way are in one journal and not in the other: such a run is
        // marked as one that has lost samples.
        if all {
            trader?;
            venue?;
        }
        Ok(())
    }
}
