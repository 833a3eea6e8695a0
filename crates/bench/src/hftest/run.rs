//! The whole test in one process: two engines over loopback.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixbolt::config::{Configuration, SessionConfiguration};
use fixbolt::session::SessionId;
use fixbolt_workloads::harness::Control;
use fixbolt_workloads::memory::resident;

use super::desk::{Desk, DeskError};
use super::preload::Preload;
use super::progress::{Progress, Told};
use super::results::{Mode, Outcome, Timed};
use super::settings::{set_address, start_client, start_server};

/// The test.
#[derive(Clone, Debug)]
pub struct Run {
    /// The number of orders.
    pub orders: u32,
    /// How many are sent before the next ones wait for their answers; `None` for all.
    pub batch: Option<u32>,
    /// The seed of the orders and of the answers.
    pub seed: u64,
    /// The client's configuration; the test sets its address.
    pub client: Configuration,
    /// The server's configuration; the system chooses its port.
    pub server: Configuration,
}

/// How long the logon may take.
const LOGON: Duration = Duration::from_secs(30);
/// The number of orders of the rehearsal.
const REHEARSED: u32 = 500;

/// Preloads the orders, sends them, and waits for all reports, each of which is checked. Before
/// that, a rehearsal with a few orders shows that the sides understand each other.
///
/// # Errors
/// Returns what went wrong; nothing is measured then.
pub fn run(run: &Run, control: &Control) -> Result<Outcome, String> {
    control.begin("rehearsal", 0);
    once(&Run { orders: REHEARSED.min(run.orders), ..run.clone() }, control)?;
    if control.is_stopped() {
        return Ok(Outcome::default());
    }
    once(run, control)
}

fn once(run: &Run, control: &Control) -> Result<Outcome, String> {
    let (mut client, mut server) = (run.client.clone(), run.server.clone());
    set_address(&mut server, "127.0.0.1", 0)?;
    let (tell_server, told_server) = channel();
    let venue = start_server(&server, run.seed, tell_server)?;
    let address = venue.addresses().first().copied().ok_or("the server does not listen")?;
    set_address(&mut client, "127.0.0.1", address.port())?;
    let before = resident();
    let mut preload = Preload::new(run.seed);
    preload.add(run.orders, now())?;
    let preloaded = Some((run.orders, resident().saturating_sub(before)));
    let progress = Arc::new(Progress::default());
    let (tell_client, told_client) = channel();
    let engine = start_client(&client, &progress, tell_client)?;
    let mut desk = Desk::new(engine, &session(&client)?, Arc::clone(&progress), preload, false)?;
    control.begin("orders answered", run.orders.into());
    let mut goes_on = |progress: &Progress| {
        control.progress(progress.completed());
        !control.is_stopped()
    };
    let (count, batch) = (run.orders as usize, run.batch.map(|batch| batch as usize));
    let sent = desk
        .wait_for_logon(LOGON, &mut goes_on)
        .and_then(|()| desk.send(count, batch, &mut goes_on))
        .and_then(|sent| desk.wait_for_answers(&mut goes_on).map(|()| sent));
    // Both log out whatever the result; the client first, because the server answers it.
    let (client, server) = (desk.stop(), venue.stop());
    let outcome = Outcome { times: times(&told_client, &told_server), preloaded, ..Outcome::default() };
    let sent = match sent {
        Ok(sent) => sent,
        Err(DeskError::Stopped) => return Ok(outcome),
        Err(DeskError::Connection(why)) => return Err(why),
    };
    client?;
    server.map_err(|error| format!("{error:#}"))?;
    if let Some(wrong) = progress.wrong() {
        return Err(wrong);
    }
    let (orders, reports) = (sent.orders, progress.reports());
    Ok(Outcome { orders, reports, elapsed: progress.since(sent.began), ..outcome })
}

fn times(client: &Receiver<Told>, server: &Receiver<Told>) -> Vec<Timed> {
    let of = |mode, told: &Receiver<Told>| -> Vec<Timed> {
        let timed = |told| if let Told::Times(time) = told { Some(Timed { mode, time }) } else { None };
        told.try_iter().filter_map(timed).collect()
    };
    [of(Mode::Client, client), of(Mode::Server, server)].concat()
}

/// Returns the identity of the configuration's session.
fn session(configuration: &Configuration) -> Result<SessionId, String> {
    let id = configuration.sessions.first().and_then(SessionConfiguration::id);
    id.cloned().ok_or_else(|| "the session's CompIDs must be given".to_owned())
}

/// Returns the seconds since 1970.
fn now() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(now.as_secs()).unwrap_or(u32::MAX)
}
