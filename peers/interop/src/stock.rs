//! QuickFIX/J's examples against what Fixbolt's README shows: the executor, which is run as it is
//! published, against an initiator, and the messages of Banzai, a program with windows that is not
//! published, against the README's acceptor. A BusinessMessageReject must not be answered.

use crate::pairing::{Outcome, free_port};
use crate::side::{Engine, Event, Plan, Role, Side, java};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A stock program with what it is run against.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) run: fn(&Path) -> Outcome,
}

pub(crate) const PROGRAMS: &[Program] = &[
    Program {
        name: "FIX.4.2 fixbolt -> executor of QuickFIX/J",
        what: EXECUTOR_STEP,
        run: |folder| executor(folder, "FIX.4.2", &["ValidationPolicy=quickfixj"]),
    },
    Program {
        name: "FIX.4.4 fixbolt -> executor of QuickFIX/J",
        what: EXECUTOR_STEP,
        run: |folder| executor(folder, "FIX.4.4", &["ValidationPolicy=quickfixj"]),
    },
    Program {
        name: "FIX.4.4 fixbolt (tolerant) -> executor of QuickFIX/J",
        what: EXECUTOR_STEP,
        run: |folder| executor(folder, "FIX.4.4", &["ValidationPolicy=tolerant"]),
    },
    Program {
        name: "FIXT.1.1 fixbolt -> executor of QuickFIX/J",
        what: EXECUTOR_STEP,
        run: |folder| {
            executor(folder, "FIXT.1.1", &["ValidationPolicy=quickfixj", "DefaultApplVerID=FIX.5.0"])
        },
    },
    Program {
        name: "FIX.4.4 banzai of QuickFIX/J -> acceptor of the README",
        what: "orders filled, a market order rejected, its BusinessMessageReject not answered",
        run: banzai,
    },
];

const EXECUTOR_STEP: &str = "orders and both reports of each, a cancel that it does not support";

/// A program that neither takes commands nor prints events; it ends when it is dropped.
struct Stock(Child);

impl Stock {
    /// Starts it in `folder` and waits until it listens.
    fn start(mut command: Command, folder: &Path, port: u16) -> Result<Stock, String> {
        let said = |e: std::io::Error| e.to_string();
        let output = File::create(folder.join("output")).map_err(said)?;
        command.current_dir(folder).stdin(Stdio::piped());
        command.stdout(output.try_clone().map_err(said)?).stderr(output);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpStream::connect(address).is_ok() {
            return Err(format!("another program listens on port {port}"));
        }
        let mut stock = Stock(command.spawn().map_err(said)?);
        let until = Instant::now() + Duration::from_secs(30);
        while Instant::now() < until {
            if TcpStream::connect(address).is_ok() {
                return Ok(stock);
            }
            if let Some(status) = stock.0.try_wait().map_err(said)? {
                return Err(format!("it ended with {status}, see {}/output", folder.display()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(format!("it does not listen on port {port}"))
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        // SIGTERM, which `timeout` passes on. All of these fail only if the process has already
        // ended, which is the goal.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        for _ in 0..100 {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Orders of our initiator: the executor answers each with OrdStatus 0 and ExecType 2, which is no
/// longer in FIX.4.4, and then fills it.
fn executor(folder: &Path, version: &'static str, settings: &'static [&'static str]) -> Outcome {
    const ORDERS: usize = 100;
    let port = free_port()?;
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let file = folder.join("executor.cfg");
    // Its own configuration with our CompIDs, one session and one port, on this machine only.
    let appl_ver_id = if version == "FIXT.1.1" { "DefaultApplVerID=FIX.5.0\n" } else { "" };
    let text = format!(
        "[default]\nFileStorePath=store\nConnectionType=acceptor\nStartTime=00:00:00\nEndTime=00:00:00\n\
         HeartBtInt=30\nValidOrderTypes=1,2,F\nSenderCompID=VENUE\nTargetCompID=TRADER\nUseDataDictionary=Y\n\
         DefaultMarketPrice=12.30\nSocketAcceptAddress=127.0.0.1\n\
         [session]\nBeginString={version}\nSocketAcceptPort={port}\n{appl_ver_id}"
    );
    std::fs::write(&file, text).map_err(|e| e.to_string())?;
    let mut command = java("quickfix.examples.executor.Executor");
    command.arg(&file);
    let _executor = Stock::start(command, folder, port)?;
    let mut trader = Side::start(initiator(Engine::Fixbolt, version, port, folder, settings))?;
    trader.wait(0, "logon", |e| e.is("logon"))?;
    trader.tell(&format!("orders {ORDERS} STOCK"))?;
    for (status, what) in [("0", "a report of each new order"), ("2", "a report of each filled order")] {
        trader.wait_for(0, ORDERS, what, |e| e.is_delivered("8") && e.text("ord_status") == status)?;
    }
    let mark = trader.mark();
    trader.tell("cancel STOCK-1")?;
    trader.wait(mark, "the BusinessMessageReject of the cancel", |e| e.is_message("in", "j"))?;
    // An answer of ours to that would have gone out before the next heartbeat.
    trader.wait(mark, "a heartbeat", |e| e.is_message("out", "0"))?;
    let complaints = trader.count(0, |e| e.is_message("out", "3") || e.is_message("out", "j"));
    let rejects = trader.count(0, |e| e.is_message("in", "3"));
    if complaints + rejects != 0 {
        return Err(format!("{complaints} messages of the executor rejected, {rejects} of ours"));
    }
    trader.stop()?;
    Ok(format!("{ORDERS} orders, {} reports, 1 BusinessMessageReject", 2 * ORDERS))
}

/// Banzai answers our BusinessMessageReject of its market order with one of its own, which must not
/// be answered again.
fn banzai(folder: &Path) -> Outcome {
    // The README's acceptor, built from crates/engine/examples/acceptor.rs, with its own port.
    const PORT: u16 = 9881;
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    // It would not notice the end of this program, but its port would be in use.
    let mut acceptor = Command::new("timeout");
    acceptor.arg("120").arg(Engine::Fixbolt.built().with_file_name("readme-acceptor"));
    let _acceptor = Stock::start(acceptor, folder, PORT)?;
    // The README's acceptor refuses a HeartBtInt of less than five seconds.
    let plan = initiator(Engine::QuickFixJ, "FIX.4.4", PORT, folder, &["HeartBtInt=30"]);
    let mut banzai = Side::start(plan)?;
    banzai.wait(0, "logon", |e| e.is("logon"))?;
    let filled = |id: &'static str| {
        move |e: &Event| e.is_delivered("8") && e.text("cl_ord_id") == id && e.text("ord_status") == "2"
    };
    banzai.tell("banzai-order BANZAI-1 limit")?;
    banzai.wait(0, "the report", filled("BANZAI-1"))?;
    banzai.tell("banzai-order BANZAI-2 market")?;
    banzai.wait(0, "our BusinessMessageReject of an order without Price", |e| e.is_message("in", "j"))?;
    banzai.wait(0, "its answer to that", |e| e.is_message("out", "j"))?;
    banzai.tell("banzai-order BANZAI-3 limit")?;
    banzai.wait(0, "the report", filled("BANZAI-3"))?;
    // An answer to Banzai's BusinessMessageReject would come before this one.
    banzai.tell("testrequest LAST")?;
    banzai.wait(0, "the Heartbeat that answers", |e| e.is_message("in", "0") && e.holds("112=LAST"))?;
    let business = banzai.count(0, |e| e.is_message("in", "j"));
    let rejects = banzai.count(0, |e| e.is_message("in", "3") || e.is_message("out", "3"));
    if business != 1 || rejects != 0 {
        return Err(format!("{business} BusinessMessageRejects and {rejects} Rejects instead of 1 and 0"));
    }
    banzai.stop()?;
    Ok("2 orders filled, 1 BusinessMessageReject each way".into())
}

fn initiator(
    engine: Engine,
    version: &'static str,
    port: u16,
    folder: &Path,
    settings: &'static [&'static str],
) -> Plan {
    let (role, folder) = (Role::Initiator, folder.join("initiator"));
    Plan { engine, role, version, port, folder, dictionary: None, settings, kill_at: None }
}
