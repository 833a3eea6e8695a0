//! The run itself: two engines, the orders, and the measurements.

use std::io::{IsTerminal, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixbolt::{Engine, Initiation, PostError, Sender};
use fixbolt_cli::exit::Failure;
use fixbolt_cli::interrupt::Interrupt;
use fixbolt_cli::note;
use fixbolt_codec::{BodySink, NewBody, Precision, UtcTimestamp, Version};
use fixbolt_session::store::Store;
use fixbolt_session::{Role, SessionId, SessionSettings};
use fixbolt_workloads::harness::{Arrivals, Control, Monotonic, Piece, Plan, Recorder, Task, measure};
use fixbolt_workloads::orders::{NEW_ORDER_SINGLE, Orders};

use super::trader::{Paced, Progress, Trader, WatchedVenue};
use crate::serve::cannot_start;
use crate::venue::{Venue, first_execution};

/// How long the paced part takes.
pub(super) const PACED: Duration = Duration::from_secs(10);
/// How long nothing may arrive before the run counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// The parameters of a run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) orders: u64,
    /// Orders per second in the paced part; 0 omits it.
    pub(super) rate: u32,
    pub(super) seed: u64,
    pub(super) directory: PathBuf,
    /// Creates a side's store.
    pub(super) store: fn(&Path) -> Box<dyn Store>,
}

/// The measurements of a run.
#[derive(Debug)]
pub(super) struct Measured {
    /// From the first order posted to the last report of the last unpaced order.
    pub(super) elapsed: Duration,
    /// The number of reports for those orders.
    pub(super) reports: u64,
    /// The paced part: each order from when it was due until its first report.
    pub(super) paced: Option<fixbolt_workloads::harness::Run>,
}

impl Run {
    /// Returns the number of orders in the paced part.
    pub(super) fn paced_orders(&self) -> u64 {
        u64::from(self.rate) * PACED.as_secs()
    }

    /// Returns the number of orders in both parts.
    pub(super) fn all_orders(&self) -> u64 {
        self.orders + self.paced_orders()
    }

    /// Executes the run; ClOrdIDs begin with `name`.
    pub(super) fn execute(&self, name: &str) -> Result<Measured, Failure> {
        let interrupt =
            Interrupt::watch().map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
        let progress = Arc::new(Progress::default());
        let venue = self.venue(name, &progress)?;
        let address = venue.addresses()[0];
        let trader = self.trader(address, &progress)?;
        let mut floor = Floor {
            run: self,
            interrupt,
            progress: Arc::clone(&progress),
            sender: trader
                .session(&id(Role::Initiator)?)
                .ok_or_else(|| Failure::usage("the trader has no session"))?
                .sender(),
            orders: Orders::new(self.seed, name),
            told: Instant::now(),
        };
        let result = floor.trade();
        // Both log out and close their journals whatever the result; the trader first, because the
        // venue answers it.
        let (trader, venue) = (trader.stop(), venue.stop());
        if let Some(line) = progress.broken_journal() {
            return Err(Failure::usage(line));
        }
        let measured = result?;
        trader.map_err(|error| cannot_start(&error))?;
        venue.map_err(|error| cannot_start(&error))?;
        Ok(measured)
    }

    fn venue(&self, name: &str, progress: &Arc<Progress>) -> Result<Engine<WatchedVenue>, Failure> {
        let venue = Venue::new(Some(self.seed), format!("V{name}"), first_execution(0));
        Engine::builder()
            .accept(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), settings(Role::Acceptor)?)
            .store((self.store)(&self.directory.join("venue")))
            .start(WatchedVenue::new(venue, Arc::clone(progress)))
            .map_err(|error| cannot_start(&error))
    }

    fn trader(&self, address: SocketAddr, progress: &Arc<Progress>) -> Result<Engine<Trader>, Failure> {
        let host = address.ip().to_string();
        Engine::builder()
            .connect(Initiation::new(settings(Role::Initiator)?, &host, address.port()))
            .store((self.store)(&self.directory.join("trader")))
            .start(Trader::new(Arc::clone(progress)))
            .map_err(|error| cannot_start(&error))
    }
}

/// Returns the session's identity, seen from either side.
pub(super) fn id(role: Role) -> Result<SessionId, Failure> {
    let (sender, target) = match role {
        Role::Acceptor => ("VENUE", "TRADER"),
        Role::Initiator => ("TRADER", "VENUE"),
    };
    SessionId::new(Version::Fix42, sender, target).map_err(|error| Failure::usage(error.to_string()))
}

fn settings(role: Role) -> Result<SessionSettings, Failure> {
    Ok(SessionSettings::new(id(role)?, role))
}

/// Sends the orders.
struct Floor<'r> {
    run: &'r Run,
    interrupt: Interrupt,
    progress: Arc<Progress>,
    sender: Sender,
    orders: Orders,
    told: Instant,
}

impl Floor<'_> {
    /// Runs both parts.
    fn trade(&mut self) -> Result<Measured, Failure> {
        let logged_on = |progress: &Progress| u64::from(progress.logged_on.load(Ordering::Relaxed));
        self.wait_for(1, logged_on, "no logon")?;
        let begin = Instant::now();
        for _ in 0..self.run.orders {
            self.post()?;
            self.tell();
        }
        let completed = |progress: &Progress| progress.completed.load(Ordering::Relaxed);
        self.wait_for(self.run.orders, completed, "orders without their reports")?;
        let (elapsed, reports) = (begin.elapsed(), self.progress.reports.load(Ordering::Relaxed));
        let paced = (self.run.rate > 0).then(|| self.pace()).transpose()?;
        self.wait_for(self.run.all_orders(), completed, "orders without their reports")?;
        self.clear_line();
        Ok(Measured { elapsed, reports, paced })
    }

    fn pace(&mut self) -> Result<fixbolt_workloads::harness::Run, Failure> {
        let plan = Plan::open(Arrivals::Fixed, self.run.rate.into())
            .iterations(self.run.paced_orders())
            .timeout(PATIENCE);
        let mut task = PacedOrders { floor: self, failure: None };
        let measured = measure(&plan, &mut task, &Monotonic, &Control::default());
        let failure = task.failure.take();
        let runs = measured.map_err(|why| failure.unwrap_or_else(|| Failure::connection(why)))?;
        runs.into_iter().next().ok_or_else(|| Failure::connection("nothing was measured"))
    }

    /// Posts the next order, waiting while the session's queue is full.
    fn post(&mut self) -> Result<(), Failure> {
        may_go_on(&self.interrupt, &self.progress)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now =
            UtcTimestamp::from_unix_nanos(u64::try_from(now.as_nanos()).unwrap_or(0), Precision::Millis);
        let order = self.orders.next(now);
        let mut full_since = None;
        loop {
            let mut draft = (&mut self.sender).draft(NEW_ORDER_SINGLE);
            order.write(draft.writer());
            match draft.send() {
                Ok(_) => return Ok(()),
                Err(PostError::Full) => {}
                Err(error) => return Err(Failure::connection(format!("an order was not posted: {error}"))),
            }
            may_go_on(&self.interrupt, &self.progress)?;
            let since = *full_since.get_or_insert_with(Instant::now);
            if since.elapsed() > PATIENCE {
                return Err(Failure::connection("the venue has not read anything for 30 s"));
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Waits until a count is reached; fails if nothing arrives for too long.
    fn wait_for(&mut self, count: u64, of: fn(&Progress) -> u64, missing: &str) -> Result<(), Failure> {
        let mut last = (of(&self.progress), Instant::now());
        loop {
            may_go_on(&self.interrupt, &self.progress)?;
            let now = of(&self.progress);
            if now >= count {
                return Ok(());
            }
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > PATIENCE {
                return Err(Failure::connection(format!("{missing} for 30 s: {now} of {count} arrived")));
            }
            self.tell();
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Shows the progress on standard error: in place on a terminal, otherwise a line every two
    /// seconds.
    fn tell(&mut self) {
        let terminal = std::io::stderr().is_terminal();
        let pause = Duration::from_millis(if terminal { 100 } else { 2_000 });
        if self.told.elapsed() < pause {
            return;
        }
        self.told = Instant::now();
        let (orders, reports) = (&self.progress.completed, &self.progress.reports);
        let (orders, reports) = (orders.load(Ordering::Relaxed), reports.load(Ordering::Relaxed));
        let all = self.run.all_orders();
        let part = if self.progress.paced.get().is_some() { "paced" } else { "as fast as possible" };
        if terminal {
            _ = write!(
                std::io::stderr(),
                "\r{orders} of {all} orders done, {reports} reports ({part})\x1b[K"
            );
            // A failure here does not matter.
            let _ = std::io::stderr().flush();
        } else {
            note!("{orders} of {all} orders done, {reports} reports ({part})");
        }
    }

    fn clear_line(&self) {
        if std::io::stderr().is_terminal() {
            _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// The paced part as a task of the latency harness.
struct PacedOrders<'f, 'r> {
    floor: &'f mut Floor<'r>,
    /// Why the part cannot continue: the harness knows only its text.
    failure: Option<Failure>,
}

impl PacedOrders<'_, '_> {
    fn kept(&mut self, result: Result<(), Failure>) -> Result<(), String> {
        result.map_err(|failure| {
            let text = failure.to_string();
            self.failure = Some(failure);
            text
        })
    }
}

impl Task for PacedOrders<'_, '_> {
    fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
        // Nothing else sets it.
        let paced = Paced { first: self.floor.run.orders, recorder: recorder.clone() };
        _ = self.floor.progress.paced.set(paced);
        Ok(())
    }

    fn run(&mut self, _: Piece) -> Result<(), String> {
        let posted = self.floor.post();
        self.floor.tell();
        self.kept(posted)
    }

    fn idle(&mut self) -> Result<(), String> {
        let may = may_go_on(&self.floor.interrupt, &self.floor.progress);
        self.kept(may)
    }
}

/// Fails if the user or a failed connection ends the demo.
fn may_go_on(interrupt: &Interrupt, progress: &Progress) -> Result<(), Failure> {
    if interrupt.came() {
        return Err(Failure::interrupted("interrupted"));
    }
    progress.trouble().map_or(Ok(()), |trouble| Err(Failure::connection(trouble)))
}
