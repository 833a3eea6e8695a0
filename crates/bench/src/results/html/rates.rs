//! A sweep over rates: what a larger load does to the latency.

use super::figures::{thousands, time};
use super::palette::Palette;
use super::percentiles::time_axis;
use super::plot::{Axis, Key, Plot, Point, Shape, Sign};
use super::scale::Scale;
use crate::results::row::is_baseline;
use crate::results::{Series, TestReport, percentile_name};

/// The percentiles that are drawn, and how.
const DRAWN: [(f64, Sign, &str); 3] =
    [(50.0, Sign::Circle, "p50"), (99.0, Sign::Square, "p99"), (100.0, Sign::Triangle, "worst")];

/// An engine in one setting at several rates.
struct Sweep<'a> {
    engine: &'a str,
    /// What is left of the series' names without the rates.
    setting: String,
    /// In the order of the rates.
    steps: Vec<(f64, &'a Series)>,
}

/// Returns a plot of the engines that were measured at several rates, if there are any: one for
/// each setting.
pub(super) fn rates(test: &TestReport, palette: &Palette) -> Vec<Plot> {
    let sweeps = sweeps(&test.series);
    let mut settings: Vec<&str> = Vec::new();
    for sweep in &sweeps {
        if !settings.contains(&sweep.setting.as_str()) {
            settings.push(&sweep.setting);
        }
    }
    let of_setting = |setting: &&str| {
        let shown: Vec<&Sweep<'_>> = sweeps.iter().filter(|sweep| sweep.setting == *setting).collect();
        plot(setting, &shown, palette)
    };
    settings.iter().map(of_setting).collect()
}

fn sweeps(all: &[Series]) -> Vec<Sweep<'_>> {
    let mut sweeps: Vec<Sweep<'_>> = Vec::new();
    for series in all {
        let Some(rate) = series.runs.first().and_then(|run| run.target_rate) else { continue };
        let setting = without_rate(&series.name, rate);
        let at = sweeps.iter().position(|it| it.engine == series.engine && it.setting == setting);
        let at = at.unwrap_or_else(|| {
            sweeps.push(Sweep { engine: &series.engine, setting, steps: Vec::new() });
            sweeps.len() - 1
        });
        sweeps[at].steps.push((rate, series));
    }
    for sweep in &mut sweeps {
        sweep.steps.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        sweep.steps.dedup_by(|(a, _), (b, _)| a == b);
    }
    sweeps.retain(|sweep| sweep.steps.len() > 1);
    sweeps
}

/// Returns a name without the rate in it: `10,000/s, journal` at 10,000 is `journal`.
fn without_rate(name: &str, rate: f64) -> String {
    let is_rate = |word: &str| {
        let number = word.trim_end_matches([',', ';', ':']).trim_end_matches("/s");
        number.replace([',', '_'], "").parse::<f64>().is_ok_and(|number| (number - rate).abs() < 0.5)
    };
    name.split_whitespace().filter(|word| !is_rate(word)).collect::<Vec<_>>().join(" ")
}

fn plot(setting: &str, sweeps: &[&Sweep<'_>], palette: &Palette) -> Plot {
    let steps = || sweeps.iter().flat_map(|sweep| &sweep.steps);
    let x = Scale::log(steps().map(|(rate, _)| *rate));
    let drawn = |series: &Series| DRAWN.map(|(percentile, ..)| series_ns(series, percentile));
    let y = Scale::log(steps().flat_map(|(_, series)| drawn(series)).flatten());
    let (mut shapes, mut keys, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for sweep in sweeps {
        let class = palette.class(sweep.engine);
        let baseline = if is_baseline(sweep.engine) { " (baseline)" } else { "" };
        keys.push(Key::line(class.clone(), format!("{}{baseline}", sweep.engine)));
        for (percentile, sign, name) in DRAWN {
            let mut points: Vec<Point> = Vec::new();
            let mut marks = Vec::new();
            for (rate, series) in &sweep.steps {
                let Some(ns) = series_ns(series, percentile) else { continue };
                let at = (x.percent(*rate), y.percent(ns));
                points.push(at);
                let invalid = series.runs.iter().find_map(|run| run.invalid.as_ref());
                let why = invalid.map_or_else(String::new, |why| format!(", INVALID: {why}"));
                let title = format!(
                    "{}, {}: {} {}{why}",
                    sweep.engine,
                    series.name,
                    percentile_name(percentile),
                    time(ns)
                );
                let hollow = if series.is_valid() { "" } else { " hollow" };
                words.push(title.clone());
                marks.push(Shape::Mark { class: format!("{class}{hollow}"), sign, at, title: title.clone() });
                if invalid.is_some() {
                    marks.push(Shape::Mark { class: "bad".to_owned(), sign: Sign::Cross, at, title });
                }
            }
            let title = format!("{}: {name}", sweep.engine);
            shapes.push(Shape::Line { class: format!("{class} {name}"), points, title });
            shapes.extend(marks);
        }
    }
    keys.extend(DRAWN.map(|(_, sign, name)| Key::sign("ink", sign, name)));
    if sweeps
        .iter()
        .flat_map(|sweep| &sweep.steps)
        .any(|(_, series)| series.runs.iter().any(|run| run.invalid.is_some()))
    {
        keys.push(Key::sign("bad", Sign::Cross, "with an INVALID run"));
    }
    let title =
        if setting.is_empty() { "Latency by rate".to_owned() } else { format!("Latency by rate: {setting}") };
    Plot {
        title,
        description: format!(
            "Response times; p50 and p99 are medians of the runs, the worst is of all runs. {}.",
            words.join("; ")
        ),
        x: Axis::new(
            "pieces per second",
            x.ticks(9).into_iter().map(|rate| (x.percent(rate), thousands(rate))),
        ),
        y: time_axis(&y),
        shapes,
        legend: keys,
    }
}

/// Returns the figure of a percentile.
fn series_ns(series: &Series, percentile: f64) -> Option<f64> {
    series.row(series.judged(), percentile)?.ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_no_part_of_a_setting() {
        assert_eq!(without_rate("10000/s", 10_000.0), "");
        assert_eq!(without_rate("journal, 10,000/s", 10_000.0), "journal,");
        assert_eq!(without_rate("10,000/s, journal of 10", 10_000.0), "journal of 10");
        assert_eq!(without_rate("10000/s", 2_000.0), "10000/s");
    }
}
