//! A venue and a trader in one program, each with its journal: two threads send orders, both sides
//! stop, and a second run continues the sequence numbers of the first. Every number is checked; the
//! program fails when one is wrong.
//!
//! ```sh
//! cargo run
//! cargo test
//! ```

mod trader;
mod venue;

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fixbolt::prelude::*;

use trader::{Told, Trader};
use venue::Venue;

/// Any error ends the program with its message, or fails a test.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Orders that each of the two threads sends.
const ORDERS: u64 = 50;

/// Messages of each side in one run: Logon, the first order or its report, those of both threads,
/// Logout.
const MESSAGES: u64 = 2 * ORDERS + 3;

/// How long anything may take before the program gives up.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> Outcome<()> {
    let journals = std::env::temp_dir().join(format!("fixbolt-outside-{}", std::process::id()));
    for run in 1..=2 {
        one_run(run, &journals)?;
    }
    std::fs::remove_dir_all(&journals)?;
    println!(
        "{} orders in two runs, the second with the sequence numbers of the first",
        2 * (2 * ORDERS + 1)
    );
    Ok(())
}

/// Starts both sides, trades, checks what came of it, and stops both sides.
fn one_run(run: u64, journals: &Path) -> Outcome<()> {
    let venue = Engine::builder()
        .accept("127.0.0.1:0".parse()?, venue::settings()?)
        .journal(journals.join("venue"))
        .start(Venue::default())?;
    let port = venue.addresses().first().ok_or("the venue listens nowhere")?.port();

    let (tells, told) = mpsc::channel();
    let settings = trader::settings()?;
    let id = settings.id.clone();
    let trader = Engine::builder()
        .connect(Initiation::new(settings, "127.0.0.1", port))
        .journal(journals.join("trader"))
        .start(Trader { first_order: format!("{run}-first-1"), tells })?;

    // The numbers after the Logons of this run continue those of the runs before it.
    let next = (run - 1) * MESSAGES + 2;
    check("logged on", told.recv_timeout(PATIENCE)?, Told::LoggedOn { next_in: next, next_out: next })?;
    check("first fill", told.recv_timeout(PATIENCE)?, filled(run, "first", 1))?;

    let sender = trader.session(&id).ok_or("the trader has no such session")?.sender();
    thread::scope(|scope| {
        let threads = ["rates", "credit"].map(|desk| {
            let sender = sender.clone();
            scope.spawn(move || send_orders(sender, run, desk))
        });
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })?;

    // Each thread's orders are filled in their order, whatever the other's do.
    let (mut rates, mut credit) = (0, 0);
    for _ in 0..2 * ORDERS {
        let fill = told.recv_timeout(PATIENCE)?;
        let of_rates = matches!(&fill, Told::Filled { desk, .. } if desk == "rates");
        let (desk, count) = if of_rates { ("rates", &mut rates) } else { ("credit", &mut credit) };
        *count += 1;
        check("fill", fill, filled(run, desk, *count))?;
    }
    check("fills of each thread", (rates, credit), (ORDERS, ORDERS))?;

    trader.stop()?;
    let filled: u64 = venue.stop()?.iter().map(|venue| venue.filled).sum();
    check("orders filled by the venue", filled, 2 * ORDERS + 1)
}

/// What one thread does.
fn send_orders(mut sender: Sender, run: u64, desk: &str) -> Outcome<()> {
    for n in 1..=ORDERS {
        let cl_ord_id = format!("{run}-{desk}-{n}");
        trader::order(sender.within(PATIENCE), &cl_ord_id, desk, UtcTimestamp::now())?;
    }
    Ok(())
}

/// The fill of order number `n` of a desk.
fn filled(run: u64, desk: &str, n: u64) -> Told {
    Told::Filled { cl_ord_id: format!("{run}-{desk}-{n}"), desk: desk.to_owned() }
}

fn check<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Outcome<()> {
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?}, expected {expected:?}").into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt::config::Configuration;
    use fixbolt::tls::Tls;

    #[test]
    fn without_the_feature_tls_a_setting_of_tls_stops_the_start() -> Outcome<()> {
        const ERROR: &str = "this build has no TLS; add `tls` to the features of `fixbolt` in Cargo.toml";
        let text = "[SESSION]\nConnectionType=initiator\nSocketConnectHost=localhost\nSocketConnectPort=9880\n\
                    BeginString=FIX.4.4\nSenderCompID=TRADER\nTargetCompID=VENUE\nHeartBtInt=30\nSocketUseSSL=";
        Configuration::from_text("trader.cfg", &format!("{text}N"))?;
        let error = Configuration::from_text("trader.cfg", &format!("{text}Y")).err().ok_or("it is read")?;
        assert!(error.to_string().contains(ERROR), "{error}");

        let mut session = Acceptance::from(venue::settings()?);
        session.tls = Some(Tls::new());
        let builder = Engine::builder().accept("127.0.0.1:0".parse()?, session);
        let error = builder.start(Venue::default()).err().ok_or("it starts")?;
        assert!(format!("{error:#}").contains(ERROR), "{error:#}");
        Ok(())
    }
}
