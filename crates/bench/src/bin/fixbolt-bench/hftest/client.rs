//! The client's side: preloads, and follows the keys of its menu.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixbolt::config::Configuration;
use fixbolt_bench::hftest::{Desk, DeskError, Outcome, Preload, Progress, Sent, address, start_client};
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::interrupt::Interrupt;
use fixbolt_cli::note;
use fixbolt_workloads::memory::resident;

use super::keys::{Key, Keys};
use super::listener::Listener;
use super::log::{From, LineLog};
use super::{Hftest, conclude, warn, warnings};

/// How long the logon may take; in reliable mode there is no limit.
const LOGON: Duration = Duration::from_secs(30);
/// How often the client looks for keys and reports.
const TICK: Duration = Duration::from_millis(20);

/// The menu, as published.
const MENU: &str = "\
Key\tCommand
===\t=======
?\tHelp
N\tSend n NewOrderSingle msgs
a\tSend all Preloaded NewOrderSingle msgs
b\tBatch preload and send n NewOrderSingle msgs
l\tLogout
n\tSend a NewOrderSingle msg
p\tPreload n NewOrderSingle msgs
x\tExit
";

/// Preloads, connects, follows the keys, and prints the tables at the end.
pub(super) fn run(arguments: &Hftest, configuration: &Configuration) -> Result<Answer, Failure> {
    let interrupt =
        Interrupt::watch().map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    let session = match configuration.sessions.first() {
        Some(session) => session,
        None => return Err(Failure::usage("the configuration has no session")),
    };
    let Some(id) = session.id() else {
        return Err(Failure::usage("the session's CompIDs must be given"));
    };
    let mut log = LineLog::new(arguments.log.as_deref(), true)?;
    let warnings = warnings()?;
    say("0 NewOrderSingle msgs currently preloaded. loading...")?;
    warn(arguments.preload);
    let before = resident();
    let mut preload = Preload::new(arguments.seed);
    preload.add(arguments.preload, now()).map_err(Failure::usage)?;
    let preloaded = (arguments.preload > 0).then(|| (arguments.preload, resident().saturating_sub(before)));
    let progress = Arc::new(Progress::default());
    let (to, told) = channel();
    log.line(From::Command, "Starting session")?;
    let peer = address(configuration);
    log.line(From::Command, &format!("Trying to connect to: {peer} (1)"))?;
    let engine = start_client(configuration, &progress, to).map_err(Failure::usage)?;
    let desk = Desk::new(engine, id, Arc::clone(&progress), preload, arguments.reliable);
    let listener = Listener {
        interrupt,
        told,
        warnings,
        log,
        heart_bt_int: session.settings().timing.heart_bt_int,
        peer,
        attempts: 1,
        is_retrying: false,
        problem: None,
        times: Vec::new(),
        ended: None,
        failed: None,
    };
    let mut client = Client {
        desk: desk.map_err(Failure::usage)?,
        batch: arguments.batch.map(|batch| batch as usize),
        reliable: arguments.reliable,
        listener,
        waits: true,
        outcome: Outcome { preloaded, ..Outcome::default() },
        sending: None,
    };
    let result = client.log_on().and_then(|()| {
        say(&format!("{} NewOrderSingle msgs preloaded.", client.desk.preload().remaining()))?;
        client.menu()
    });
    client.conclude(arguments, result)
}

/// The client while it runs.
struct Client {
    desk: Desk,
    batch: Option<usize>,
    reliable: bool,
    listener: Listener,
    /// Whether a key is followed only when what was sent before is answered: nobody at a terminal
    /// decides when to press it.
    waits: bool,
    outcome: Outcome,
    /// Orders that were sent and wait for reports.
    sending: Option<Sent>,
}

/// What the menu does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    GoOn,
    End,
}

/// What the number is for that is being typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    Send,
    Batch,
    Preload,
}

impl Client {
    /// Waits for the logon.
    fn log_on(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        let mut is_told = false;
        while !self.desk.progress().is_logged_on() {
            if !is_told && self.listener.problem.is_some() {
                is_told = true;
                say(&format!("Waiting for a server at {} ...", self.listener.peer))?;
            }
            if !self.listener.goes_on() {
                return Err(self.listener.why());
            }
            if began.elapsed() > LOGON && !self.reliable {
                let Listener { peer, problem, .. } = &self.listener;
                let (limit, why) = (LOGON.as_secs(), problem.as_deref().unwrap_or("no answer"));
                return Err(Failure::connection(format!(
                    "no logon with {peer} within {limit} s: {why}; start a server with `fixbolt bench hftest -s`"
                )));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.listener.listen()
    }

    /// Follows the keys until one ends the client.
    fn menu(&mut self) -> Result<(), Failure> {
        let mut keys = Keys::read();
        self.waits = !keys.is_terminal();
        if keys.is_terminal() {
            say("Press ? for the keys.")?;
        }
        let mut asked = None;
        loop {
            self.with_desk(|desk, goes_on| desk.resume(goes_on))?;
            self.received()?;
            if !self.listener.goes_on() {
                return Err(self.listener.why());
            }
            if let Some(end) = self.listener.ended.take().filter(|_| !self.reliable) {
                return Err(Failure::connection(format!(
                    "the session ended: {end}; restart the client in reliable mode (-r), which connects again and goes on"
                )));
            }
            if keys.is_asking() {
                match (keys.next_number(TICK), asked) {
                    (Some(Ok(number)), Some(asked)) => self.follow_number(asked, number)?,
                    (Some(Err(typed)), _) => say(&format!("not a number of messages: {typed}"))?,
                    _ => {}
                }
                continue;
            }
            let next = match keys.next(TICK) {
                Key::None => Next::GoOn,
                Key::Is(key) => self.follow(key, &mut keys, &mut asked)?,
                Key::End => Next::End,
            };
            if next == Next::End {
                return self.received();
            }
        }
    }

    fn follow(&mut self, key: char, keys: &mut Keys, asked: &mut Option<Asked>) -> Result<Next, Failure> {
        let mut ask = |what, question: &str| {
            *asked = Some(what);
            keys.ask(question);
        };
        match key {
            '?' => show(MENU)?,
            'a' => self.send(self.desk.preload().remaining())?,
            'n' => {
                self.desk.preload_mut().add_next(1, now()).map_err(Failure::usage)?;
                self.send(1)?;
            }
            'N' => ask(Asked::Send, "Number of NewOrderSingle msgs to send: "),
            'b' => ask(Asked::Batch, "Number of NewOrderSingle msgs to preload and send: "),
            'p' => ask(Asked::Preload, "Number of NewOrderSingle msgs to preload: "),
            'l' => {
                say("Logging out")?;
                return Ok(Next::End);
            }
            'x' => {
                say("Exit")?;
                return Ok(Next::End);
            }
            key if key.is_ascii_graphic() => say(&format!("unknown key {key}: press ? for the keys"))?,
            _ => {}
        }
        Ok(Next::GoOn)
    }

    fn follow_number(&mut self, asked: Asked, number: u32) -> Result<(), Failure> {
        let orders = self.desk.preload_mut();
        let added = match asked {
            Asked::Preload => {
                warn(number);
                orders.add(number, now())
            }
            Asked::Batch | Asked::Send => {
                warn(number);
                orders.add_next(number, now())
            }
        };
        if let Err(why) = added {
            return say(&why);
        }
        match asked {
            Asked::Preload => {
                say(&format!("{} NewOrderSingle msgs preloaded.", self.desk.preload().remaining()))
            }
            Asked::Batch => {
                say(&format!("{number} NewOrderSingle msgs preloaded."))?;
                self.send(number as usize)
            }
            Asked::Send => self.send(number as usize),
        }
    }

    /// Does something with the desk while the session is listened to.
    fn with_desk<R>(
        &mut self,
        act: impl FnOnce(&mut Desk, &mut dyn FnMut(&Progress) -> bool) -> Result<R, DeskError>,
    ) -> Result<R, Failure> {
        let listener = &mut self.listener;
        let done = act(&mut self.desk, &mut |_| listener.goes_on());
        done.map_err(|error| match error {
            DeskError::Connection(why) => Failure::connection(why),
            DeskError::Stopped => self.listener.why(),
        })
    }

    fn send(&mut self, count: usize) -> Result<(), Failure> {
        let batch = self.batch;
        let sent = self.with_desk(|desk, goes_on| desk.send(count, batch, goes_on))?;
        say(&format!("{} NewOrderSingle msgs sent", sent.orders))?;
        say(&format!("{} NewOrderSingle msgs remaining.", self.desk.preload().remaining()))?;
        if sent.orders == 0 {
            return Ok(());
        }
        // What is sent while others still wait for reports belongs to the same time.
        let before = self.sending.take();
        let began = before.map_or(sent.began, |before| before.began);
        self.sending = Some(Sent { orders: before.map_or(0, |before| before.orders) + sent.orders, began });
        if self.waits {
            self.with_desk(Desk::wait_for_answers)?;
        }
        self.received()
    }

    /// Says so when all reports have been received.
    fn received(&mut self) -> Result<(), Failure> {
        if !self.desk.is_answered() {
            return Ok(());
        }
        let Some(sent) = self.sending.take() else { return Ok(()) };
        self.outcome.orders += sent.orders;
        self.outcome.elapsed += self.desk.progress().since(sent.began);
        say(&format!("{} ExecutionReport msgs received", self.desk.progress().reports()))
    }

    /// Logs out, and prints the tables if something was measured.
    fn conclude(self, arguments: &Hftest, result: Result<(), Failure>) -> Result<Answer, Failure> {
        let Self { desk, mut listener, mut outcome, sending, .. } = self;
        let progress = Arc::clone(desk.progress());
        let stopped = desk.stop().map_err(Failure::usage);
        listener.listen()?;
        let preload = match (stopped, &result) {
            (Ok(preload), _) => preload,
            (Err(_), Err(_)) => return result.map(|()| Answer::No),
            (Err(failure), Ok(())) => return Err(failure),
        };
        let (sent, completed) = (preload.sent() as u64, progress.completed());
        if let Some(wrong) = progress.wrong() {
            note!("fixbolt: {wrong}");
            return Ok(Answer::No);
        }
        // The last ones may have come while the client logged out.
        if let Some(sending) = sending.filter(|_| completed >= sent) {
            outcome.orders += sending.orders;
            outcome.elapsed += progress.since(sending.began);
            say(&format!("{} ExecutionReport msgs received", progress.reports()))?;
        }
        outcome.reports = progress.reports();
        outcome.times = listener.times;
        if completed < sent {
            // There is no time from the first order to the last report.
            outcome.orders = 0;
        }
        // What was measured until a connection is lost or a signal arrives is displayed, too.
        let is_measured = if result.is_ok() { !outcome.times.is_empty() } else { sent > 0 };
        let shown = if is_measured { conclude(arguments, &outcome)? } else { Answer::Yes };
        result?;
        if completed < sent {
            note!("fixbolt: {} of {sent} orders have no last report", sent - completed);
            return Ok(Answer::No);
        }
        Ok(shown)
    }
}

/// Displays a line.
fn say(line: &str) -> Result<(), Failure> {
    show(&format!("{line}\n"))
}

fn show(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Returns the seconds since 1970.
fn now() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(now.as_secs()).unwrap_or(u32::MAX)
}
