//! `fixbolt bench codec`.

use clap::Args;
use fixbolt_bench::batches::Measured;
use fixbolt_bench::codec;
use fixbolt_bench::results::TestReport;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_workloads::harness::Control;

use super::batches::{self, Batches, Measure, PROCESSES, Rows, SHORT};

/// Measures the codec: bytes to values and back.
///
/// NOS-222 (NewOrderSingle, FIX.4.4, 24 fields), AIM-97 and AIM-158 (the same, shorter), ER-235
/// (ExecutionReport, FIX.4.2, 27 fields) and FsFIX's four messages of FIX.4.4 with groups (the last
/// one has 1,521 bytes), 64 differing messages each:
///   index          framing, BodyLength and CheckSum verified, every field located
///   validate       index, and every check of the dictionary (ER-235 with LastCapacity 4, because
///                  FIX.4.2 has no 5; AIM-158 with a two-digit hour, and rejected because it has no
///                  MsgSeqNum)
///   validate-miss  the same if no message with its layout was validated before
///   typed-six      index, and six fields read as typed values, not in message order
///   typed-all      index, and every field read as its type, including groups
///   ...-unplaced   the same without the places that the two before read with
///   forward        index, and sent again in another session: its header, the body copied
///   enrich         the same with fields inserted, one replaced and one removed
///   encode         from typed values, with both times, BodyLength and CheckSum
///   template       the same from a template of each account, side and symbol, in which the other
///                  values are holes
///   write-typed    the same with the generated writers, including groups
///   write          the same with keys that are not constants, as in a program that converts
///                  messages; write-untyped: from values that are bytes, which are not checked
/// NOS-222-64, -4096 and -100000 are NOS-222 in rings of that many messages, each of another second
/// than the one before, which caches of the second and of the processor help less; of the best tier
/// alone. MarketDataRefresh-300 is a message of 300 fields, in 48 entries of a group.
///
/// random-44 and random-42 are messages that this run generates: 64 of any types of the version,
/// their fields, values and, where the standard leaves it open, order at random; random-order-44
/// are NewOrderSingles of the same kind. typed-all of these reads each field in message order, and
/// uses no places.
///
/// Places say of each field whether it is in the header, the body or a group. A validator finds
/// them: before the time counts in typed-six and typed-all, since an engine that validates has them
/// when its application reads. Where nothing is validated a message has none, as in `-unplaced`.
///
/// Columns, of which those are left out that have nothing to say:
///   engine       whose figure it is, if others are measured, too
///   message      the message
///   operation    what is done with it
///   tier         the instruction set that the index is built with (each one that the processor
///                has); `-` where there is no index
///   ns           nanoseconds per message, CPU time of the thread: the median of several processes,
///                in each the median of several batches in which the operations alternate
///   worst        the worst process, if there are several
///   statistic    how the figure comes from what was measured, if not all do in the same way
///   fields       how many fields the messages have on average
///   spread       (max - min) / median, in per cent, of the processes, or of the batches of one
///   layout_hits  of how many messages in a hundred the layout was known to validation, from a
///                message before, so that only values were checked
///
/// hffix, a C++ library of headers, reads and writes NOS-222 and AIM-97 in the same run if its
/// benchmark programs are built from a source tree of yours (see peers/README.md; FIXBOLT_PEERS
/// names the folder): a build with -O3 -march=native, and one with -O2.
///
/// Exit status: 0 measured; 1 an operation returned a wrong result; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench codec -o json")]
pub(crate) struct Codec {
    /// Seed of the generated messages; another one in each run unless it is given
    #[arg(long, value_name = "N", conflicts_with = "once")]
    seed: Option<u64>,
    #[command(flatten)]
    measure: Measure,
}

/// Runs the command.
pub(super) fn run(Codec { seed, measure }: &Codec) -> Result<Answer, Failure> {
    let test = Test { seed: seed.unwrap_or_else(new_seed) };
    batches::run(&test, measure)
}

/// The test with generated messages of this seed.
struct Test {
    seed: u64,
}

impl Batches for Test {
    const NAME: &'static str = "codec";

    fn arguments(&self) -> Vec<String> {
        vec!["--seed".to_owned(), self.seed.to_string()]
    }

    fn measure(&self, batches: usize, control: &Control) -> Result<Measured, String> {
        codec::measure(batches, self.seed, control)
    }

    fn report(&self, measured: Measured, batches: usize) -> TestReport {
        codec::report(measured, batches, self.seed)
    }

    fn once(&self) -> Rows {
        codec::once()
    }
}

/// Measures what the page has.
pub(super) fn page(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![batches::measured(&Test { seed: new_seed() }, 5, PROCESSES, control)?])
}

/// Measures the short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    let (batches, processes) = SHORT;
    Ok(vec![batches::measured(&Test { seed: new_seed() }, batches, processes, control)?])
}

/// Returns another seed in each run.
fn new_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed.
    now.as_nanos() as u64 % 1_000_000_000
}
