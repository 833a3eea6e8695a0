//! A series in the text format of HdrHistogram's plotters (`.hgrm`): the distribution of its
//! percentiles, in microseconds.

use fixbolt_workloads::harness::Latencies;

use super::Series;

/// How many lines there are for each halving of the distance to 100 %.
const TICKS: u32 = 5;

/// Returns the judged times of all runs of a series as one distribution. A comment says if they
/// must not be used.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
pub fn hgrm(series: &Series) -> String {
    let all = series.merged(series.judged());
    let mut text = String::from("       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    let buckets = all.buckets();
    let (mut seen, mut next, mut tick) = (0, buckets.iter(), 0u32);
    let mut value = 0;
    while seen < all.count() {
        // Percentile levels 0, 0.1, 0.2, ... 0.5, 0.55, ...: the steps halve as the rest does.
        let (halvings, step) = (tick / TICKS, tick % TICKS);
        let rest = 0.5f64.powi(halvings.cast_signed());
        let level = 1.0 - rest + rest / 2.0 * f64::from(step) / f64::from(TICKS);
        while (seen as f64) < level * all.count() as f64 || seen == 0 {
            let Some(&(ns, count)) = next.next() else { break };
            (value, seen) = (ns, seen + count);
        }
        if seen == all.count() {
            break;
        }
        text.push_str(&line(value, level, seen, Some(1.0 / (1.0 - level))));
        tick += 1;
    }
    text.push_str(&line(all.ns_at(100.0), 1.0, all.count(), None));
    text.push_str(&summary(&all));
    if let Some(why) = series.invalid() {
        text.push_str(&format!("#[INVALID: {why}]\n"));
    }
    text
}

fn line(ns: u64, level: f64, count: u64, inverse: Option<f64>) -> String {
    let micros = ns as f64 / 1e3;
    let inverse = inverse.map_or_else(|| "inf".to_owned(), |inverse| format!("{inverse:.2}"));
    format!("{micros:12.3} {level:2.12} {count:10} {inverse:>14}\n")
}

fn summary(all: &Latencies) -> String {
    let (count, mean) = (all.count().max(1) as f64, all.mean_ns());
    let squares = all.buckets().iter().map(|&(ns, n)| (ns as f64 - mean).powi(2) * n as f64).sum::<f64>();
    format!(
        "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]\n#[Max     = {:12.3}, Total count    = {:12}]\n",
        mean / 1e3,
        (squares / count).sqrt() / 1e3,
        all.ns_at(100.0) as f64 / 1e3,
        all.count()
    )
}
