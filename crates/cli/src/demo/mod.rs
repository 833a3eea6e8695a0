//! `fixbolt demo`: runs the whole engine and prints one page about it.

mod audit;
mod page;
mod run;
mod trader;

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use fixbolt_journal::DirectoryStore;

use audit::Audit;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::note;
use fixbolt_cli::output::Format;
use run::Run;

/// Runs a venue and a trader against each other and shows the results.
///
/// One process, two engines: a venue (acceptor) and a trader (initiator) on loopback TCP, FIX.4.2,
/// each with a journal on disk. The trader sends NewOrderSingles (fill-or-kill limit buys, random
/// quantity and price) as fast as back-pressure allows; the venue answers each with a reject, a
/// cancel, or a confirmation and one to six fills. Then the trader sends orders at an even rate for
/// 10 s, and each is timed from the moment it was due to its first report.
///
/// Afterwards both journals are read back from disk, and the page's counts are taken from them. The
/// codec's times are thread CPU time over the run's own messages, each read as typed values and
/// written again to the same bytes.
///
/// Exit status: 0 every order got its reports, both sides' sequence numbers agree, and both
/// journals are whole; 1 one of these is not so; 2 it cannot start or a journal cannot be read; 3
/// the connection failed or got stuck; 130 interrupted.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt demo\n  fixbolt demo --orders 1000000 --rate 10000 --dir /var/tmp/demo\n  fixbolt demo --orders 1000 --rate 0 -o json"
)]
pub(crate) struct Arguments {
    /// Orders to send as fast as back-pressure allows
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    orders: u64,
    /// Orders per second in the paced part; 0 omits it
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    rate: u32,
    /// Seed of the random values
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Directory for the journals, which must not contain any [default: a new one in the system's
    /// temporary directory]
    #[arg(long, value_name = "D")]
    dir: Option<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let directory = arguments
        .dir
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("fixbolt-demo-{since}-{}", std::process::id())));
    for side in ["venue", "trader"] {
        let journal = directory.join(side);
        if journal.exists() {
            let place = journal.display();
            return Err(Failure::usage(format!(
                "{place} already exists: choose a directory without journals"
            )));
        }
    }
    let run = Run {
        orders: arguments.orders,
        rate: arguments.rate,
        seed: arguments.seed,
        directory,
        store: |directory| Box::new(DirectoryStore::new(directory)),
    };
    note!("journals in {}", run.directory.display());
    let measured = run.execute(&format!("S{}", run.seed))?;
    note!("reading both journals back");
    let audit = Audit::of(&run, &measured)?;
    page::show(&run, &measured, &audit, arguments.output)?;
    Ok(if audit.complaints.is_empty() { Answer::Yes } else { Answer::No })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_conformance::store::Late;

    #[test]
    fn the_demo_runs_over_a_store_that_acknowledges_three_turns_late() {
        let directory = std::env::temp_dir().join(format!("fixbolt-demo-late-{}", std::process::id()));
        let run = Run {
            orders: 2_000,
            rate: 20,
            seed: 7,
            directory,
            store: |directory| Box::new(Late::around(DirectoryStore::new(directory))),
        };
        let measured = run.execute("late").unwrap();
        let audit = Audit::of(&run, &measured).unwrap();
        assert!(audit.complaints.is_empty(), "{:?}", audit.complaints);
        assert_eq!(
            (audit.orders, measured.paced.as_ref().map(|run| (run.response.count(), run.stray))),
            (2_200, Some((200, 0)))
        );
        assert!(audit.numbers_agree() && audit.reports() > audit.orders);

        // Damages a byte of a report in the venue's journal. The report is then no longer counted,
        // and the journal is reported as damaged.
        let segment = std::fs::read_dir(&audit.venue.directory).unwrap().find_map(|entry| {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let at = bytes.windows(10).position(|bytes| bytes == b"11=late-9\x01");
            at.map(|at| (path, bytes, at))
        });
        let (path, mut bytes, at) = segment.expect("order 9 is in a segment");
        bytes[at + 3] ^= 1;
        std::fs::write(path, bytes).unwrap();
        let audit = Audit::of(&run, &measured).unwrap();
        std::fs::remove_dir_all(&run.directory).unwrap();
        let told = audit.complaints.join("\n");
        assert!(told.contains("the venue's journal contains 2199 orders, the trader's 2200"), "{told}");
        assert!(told.contains("the venue's journal is not whole"), "{told}");
    }
}
