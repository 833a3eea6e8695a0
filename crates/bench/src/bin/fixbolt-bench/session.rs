//! `fixbolt bench session`.

use clap::Args;
use fixbolt_bench::batches::Measured;
use fixbolt_bench::results::TestReport;
use fixbolt_bench::session;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_workloads::harness::Control;

use super::batches::{self, Batches, Measure, PROCESSES, Rows, SHORT};

/// Measures the session layer without sockets: an order in, its report out, and more.
///
/// An acceptor of FIX.4.4 receives NOS-222 (NewOrderSingle; 64 differing messages in turn, each
/// with the next MsgSeqNum), validates and stores it; its application reads the order and answers
/// with a typed ExecutionReport, which gets its sequence number and is stored:
///   order-report         with the journal on disk that sessions have by default, in the system's
///                        folder for temporary files: 3 MB per batch, removed at the end
///   order-report-memory  with a store in memory
///   heartbeat            a Heartbeat in, and one out that is due
///   heartbeat-in         a Heartbeat in
///   resend               a report that is sent again from the journal: ResendRequests ask for the
///                        last 1,000 reports
///   resend-memory        the same from a store in memory
///   without-store        order-report if the session stores nothing
///   without-validation   the same, and the session has no dictionary
///   without-reads        stores nothing, and the application does not read the order
///   without-report       stores nothing, and the application sends no report
///   receive              an order in, which the application reads and does not answer, with the
///                        journal on disk
///   send                 a report out that no order caused, with the journal on disk
///   stage-...            a stage of order-report alone: the same work without a session around it;
///                        stage-index includes framing, stage-validate and stage-reads include both
/// Nanoseconds per order with its report, Heartbeat or message that is sent again: CPU time of the
/// session's thread without the threads of the journal: the median of several processes, in each
/// the median of several batches in which the operations alternate. `worst` is the worst process.
/// `tier` is the instruction set that the index is built with; `floor` is
/// the time of the stages alone, one after another. One table adds the stages up to order-report.
/// The last one has the percentiles of `receive` and `send`, of which each message is timed by
/// itself, by the clock: the median of the processes.
///
/// Exit status: 0 measured; 1 a message was wrong or missing; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench session -o json")]
pub(crate) struct Session {
    #[command(flatten)]
    measure: Measure,
}

/// Runs the command.
pub(super) fn run(Session { measure }: &Session) -> Result<Answer, Failure> {
    batches::run(&Test, measure)
}

struct Test;

impl Batches for Test {
    const NAME: &'static str = "session";

    fn arguments(&self) -> Vec<String> {
        Vec::new()
    }

    fn measure(&self, batches: usize, control: &Control) -> Result<Measured, String> {
        session::measure(batches, control)
    }

    fn report(&self, measured: Measured, batches: usize) -> TestReport {
        session::report(measured, batches)
    }

    fn once(&self) -> Rows {
        session::once()
    }
}

/// Measures what the page has.
pub(super) fn page(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![batches::measured(&Test, 3, PROCESSES, control)?])
}

/// Measures the short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    let (batches, processes) = SHORT;
    Ok(vec![batches::measured(&Test, batches, processes, control)?])
}
