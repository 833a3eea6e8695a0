//! What the programs print, as values.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fixbolt_workloads::harness::Times;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What a program of round trips repeats of its options.
const ASKED: [&str; 3] = ["test", "validation", "dictionary"];

/// A run of `fix8-codec` for one operation.
#[derive(Clone, PartialEq, Debug)]
pub struct CodecRun {
    /// The engine and its version.
    pub engine: String,
    /// The version of the engine.
    pub version: String,
    /// `encode`, `build-encode`, `decode`, `decode-typed` or `decode-validated`.
    pub operation: String,
    /// Number of the run, from 1.
    pub run: u32,
    /// Number of messages.
    pub messages: u64,
    /// The time of all messages; why there is none otherwise.
    pub time: Result<CodecTime, String>,
    /// What else the program says of itself, such as its compiler flags.
    pub settings: BTreeMap<String, Value>,
}

/// Time that all messages of a run took.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
pub struct CodecTime {
    /// Seconds by the clock, as the published test measures.
    pub seconds: f64,
    /// Seconds of CPU of the thread.
    pub cpu_seconds: f64,
}

/// A message and operation of `fsfix` or of hffix's `codec`.
#[derive(Clone, PartialEq, Debug)]
pub struct MessageRow {
    /// The engine.
    pub engine: String,
    /// The version of the engine.
    pub version: String,
    /// MarketDataRequest, QuoteStatusRequest, QuoteStatusRequest-nested or NewOrderMultileg;
    /// NOS-222 or AIM-97.
    pub message: String,
    /// `write`, `parse`, `read` or `read-validated`; of hffix as in `codec`.
    pub operation: String,
    /// The time of one message; why there is none otherwise.
    pub time: Result<MessageTime, String>,
    /// What else the program says of itself, such as its virtual machine.
    pub settings: BTreeMap<String, Value>,
}

/// Nanoseconds that a message takes.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
pub struct MessageTime {
    /// CPU time of the thread, the median of the batches. The garbage collector has other threads.
    pub ns: f64,
    /// CPU time of the thread in the fastest batch.
    pub ns_min: f64,
    /// CPU time of the thread in the slowest batch.
    pub ns_max: f64,
    /// Time by the clock, the median of the batches.
    pub wall_ns: f64,
    /// Number of batches.
    pub batches: u32,
    /// Number of messages in a batch.
    pub messages: u64,
}

/// A run of `antenna` or `jlbh`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct RoundTripRun {
    /// The engine.
    pub engine: String,
    /// The version of the engine.
    pub version: String,
    /// Orders per second, as asked for.
    pub rate: u32,
    /// Number of orders.
    pub messages: u64,
    /// Number of orders that were sent before.
    pub warm_up: u64,
    /// Number of orders without a report.
    pub lost: u64,
    /// What else the program says: validation, store, log, threads.
    #[serde(flatten)]
    pub settings: BTreeMap<String, Value>,
    /// The times of every order by `CLOCK_MONOTONIC`, in the order in which they were sent: when it
    /// was due, when work on it began, and when its report had been parsed.
    #[serde(skip)]
    pub samples: Vec<Times>,
}

impl RoundTripRun {
    /// Returns the engine with its version, and what its program says of itself.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = format!("{} {}", self.engine, self.version);
        // The tests' own tables have what was asked for, and the dictionary is in a folder that is
        // gone.
        let said = self.settings.iter().filter(|(key, _)| !ASKED.contains(&key.as_str()));
        for (n, (key, value)) in said.enumerate() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let separator = if n == 0 { ':' } else { ';' };
            let _ = write!(words, "{separator} {key} {value}");
        }
        words
    }

    pub(super) fn samples_without_end(&self) -> u64 {
        self.samples.iter().filter(|sample| sample.ended.is_none()).count() as u64
    }
}

/// A line with figures, or with the reason why there are none.
#[derive(Deserialize)]
struct Line<Head> {
    engine: String,
    version: String,
    operation: String,
    unavailable: Option<String>,
    #[serde(flatten)]
    head: Head,
}

#[derive(Deserialize)]
struct CodecHead {
    run: u32,
    messages: u64,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct MessageHead {
    message: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

pub(super) fn codec_run(line: &str) -> Result<CodecRun, String> {
    let Line { engine, version, operation, unavailable, head } = parse::<Line<CodecHead>>(line)?;
    let CodecHead { run, messages, rest: mut settings } = head;
    let time = figures(unavailable, &mut settings, &["seconds", "cpu_seconds"])?;
    if let Ok(CodecTime { seconds, cpu_seconds }) = time
        && !(seconds > 0.0 && cpu_seconds >= 0.0)
    {
        return Err("a time is not positive".to_owned());
    }
    Ok(CodecRun { engine, version, operation, run, messages, time, settings })
}

pub(super) fn message_row(line: &str) -> Result<MessageRow, String> {
    let Line { engine, version, operation, unavailable, head } = parse::<Line<MessageHead>>(line)?;
    let MessageHead { message, rest: mut settings } = head;
    let keys = ["ns", "ns_min", "ns_max", "wall_ns", "batches", "messages"];
    let time: Result<MessageTime, String> = figures(unavailable, &mut settings, &keys)?;
    if let Ok(time) = time
        && !(time.ns > 0.0 && time.wall_ns > 0.0)
    {
        return Err("a time is not positive".to_owned());
    }
    if let Ok(time) = time
        && !(time.ns_min > 0.0 && time.ns_min <= time.ns && time.ns <= time.ns_max)
    {
        return Err("the median is not between the fastest and the slowest batch".to_owned());
    }
    Ok(MessageRow { engine, version, message, operation, time, settings })
}

pub(super) fn round_trip_run(line: &str) -> Result<RoundTripRun, String> {
    parse(line)
}

/// Returns how many messages a second were due; `None` if that cannot be told from so few.
#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
pub(super) fn rate_due(samples: &[Times]) -> Option<f64> {
    let (first, last) = (samples.first()?, samples.last()?);
    let ns = last.intended.saturating_sub(first.intended);
    (ns > 0).then(|| (samples.len() - 1) as f64 * 1e9 / ns as f64)
}

/// Reads the lines after the heading: `intended_ns,started_ns,ended_ns`, the last one empty if the
/// order has no report.
pub(super) fn samples(text: &str) -> Result<Vec<Times>, String> {
    let mut lines = text.lines();
    if lines.next() != Some("intended_ns,started_ns,ended_ns") {
        return Err("the file of samples has another heading than intended_ns,started_ns,ended_ns".to_owned());
    }
    let sample = |(n, line): (usize, &str)| {
        let whole = |text: &str| text.parse::<u64>().ok();
        let read = || {
            let values: Vec<&str> = line.split(',').collect();
            let [intended, started, ended] = values[..] else { return None };
            let ended = if ended.is_empty() { None } else { Some(whole(ended)?) };
            let sample = Times { intended: whole(intended)?, started: whole(started)?, ended };
            let in_order =
                sample.intended <= sample.started && ended.is_none_or(|ended| sample.started <= ended);
            in_order.then_some(sample)
        };
        read().ok_or_else(|| format!("line {} of the file of samples is no sample: {line}", n + 2))
    };
    lines.enumerate().map(sample).collect()
}

fn parse<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| error.to_string())
}

/// Takes the figures out of the settings, unless the line says why there are none.
fn figures<T: DeserializeOwned>(
    unavailable: Option<String>,
    settings: &mut BTreeMap<String, Value>,
    keys: &[&str],
) -> Result<Result<T, String>, String> {
    if let Some(reason) = unavailable {
        return Ok(Err(reason));
    }
    let figures = keys.iter().filter_map(|key| settings.remove_entry(*key)).collect();
    serde_json::from_value(Value::Object(figures)).map(Ok).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rival_is_told_with_its_version_and_settings() {
        let run = round_trip_run(
            r#"{"engine":"E","version":"1.2","test":"jlbh","rate":1,"messages":2,"warm_up":3,"lost":0,
                "validation":true,"dictionary":"/tmp/x","store":"file","log":"none","nodelay":true}"#,
        );
        assert_eq!(run.unwrap().words(), "E 1.2: log none; nodelay true; store file");
    }
}
