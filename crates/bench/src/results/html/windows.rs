//! Latency over time: the median and the longest time of consecutive pieces.

use fixbolt_workloads::harness::{Run, Window};

use super::figures::{short_time, time};
use super::palette::Palette;
use super::percentiles::time_axis;
use super::plot::{Axis, Key, Plot, Shape, Sign};
use super::scale::Scale;
use crate::results::row::is_baseline;
use crate::results::{Series, TestReport};

/// How many of the longest times of a run are marked.
const OUTLIERS: usize = 3;

/// Returns a plot for each series whose runs have windows.
pub(super) fn windows(test: &TestReport, palette: &Palette) -> Vec<Plot> {
    test.series.iter().filter_map(|series| plot(series, palette)).collect()
}

/// The runs stand beside each other, all at the same scale.
#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn plot(series: &Series, palette: &Palette) -> Option<Plot> {
    let shown = |run: &Run| run.windows.iter().copied().filter(|it| it.count > 0).collect::<Vec<_>>();
    let runs: Vec<(usize, &Run, Vec<Window>)> =
        series.runs.iter().enumerate().map(|(n, run)| (n + 1, run, shown(run))).collect();
    let runs: Vec<_> = runs.into_iter().filter(|(.., windows)| !windows.is_empty()).collect();
    let all = || runs.iter().flat_map(|(.., windows)| windows);
    let longest = runs.iter().map(|(.., windows)| length(windows)).max()?;
    let y = Scale::log(all().flat_map(|window| [window.median.max(1) as f64, window.max.max(1) as f64]));
    let x = Scale::from_zero([longest as f64]);
    let class = palette.class(&series.engine);
    let (mut shapes, mut words, mut ticks) = (Vec::new(), Vec::new(), Vec::new());
    let share = 100.0 / runs.len() as f64;
    for (at, (number, run, windows)) in runs.iter().enumerate() {
        // A gap between runs.
        let (begin, width) = (at as f64 * share, if runs.len() > 1 { share * 0.96 } else { share });
        let place = |window: &Window, ns: u64| {
            (begin + x.percent(window.begin as f64) / 100.0 * width, y.percent(ns.max(1) as f64))
        };
        let invalid = run.invalid.as_ref().map_or_else(String::new, |why| format!(": INVALID, {why}"));
        // The names must fit above narrow plots.
        let text = match runs.len() {
            0..=8 => format!("run {number}"),
            9..=24 => number.to_string(),
            _ => String::new(),
        };
        let band = if run.invalid.is_some() { "bad" } else { "" };
        shapes.push(Shape::Band { class: band.to_owned(), from: begin, to: begin + width, text });
        shapes.push(Shape::Dots {
            class: class.clone(),
            points: windows.iter().map(|window| place(window, window.max)).collect(),
        });
        shapes.push(Shape::Line {
            class: class.clone(),
            points: windows.iter().map(|window| place(window, window.median)).collect(),
            title: format!("{}, run {number}: median{invalid}", series.engine),
        });
        let mut by_length: Vec<&Window> = windows.iter().collect();
        by_length.sort_by_key(|window| std::cmp::Reverse(window.max));
        for window in by_length.into_iter().take(OUTLIERS) {
            let (max, when) = (time(window.max as f64), time(window.begin as f64));
            let title = format!("run {number}: {max} at {when} (median {})", time(window.median as f64));
            let at = place(window, window.max);
            shapes.push(Shape::Mark {
                class: format!("{class} hollow"),
                sign: Sign::Circle,
                at,
                title: title.clone(),
            });
            words.push(title);
        }
        let most = if runs.len() > 3 { 2 } else { 8 / runs.len() };
        for tick in x.ticks(most) {
            // The end of one run is beside the beginning of the next.
            let percent = x.percent(tick);
            if runs.len() == 1 || percent < 90.0 {
                ticks.push((begin + percent / 100.0 * width, short_time(tick)));
            }
        }
    }
    let baseline = if is_baseline(&series.engine) { " (baseline)" } else { "" };
    let mut legend = vec![
        Key::line("ink", "median"),
        Key::sign("ink", Sign::Dot, "longest time"),
        Key::sign("ink hollow", Sign::Circle, format!("the {OUTLIERS} longest of a run")),
    ];
    if runs.iter().any(|(_, run, _)| run.invalid.is_some()) {
        legend.push(Key::sign("area", Sign::Square, "INVALID run"));
    }
    Some(Plot {
        title: format!("Over time: {}{baseline}, {}", series.engine, series.name),
        description: format!(
            "The median and the longest time of consecutive pieces. Longest: {}.",
            words.join("; ")
        ),
        x: Axis::new("time since the run began", ticks),
        y: time_axis(&y),
        shapes,
        legend,
    })
}

/// Returns the end of the last window; windows are equally long, or nearly so.
fn length(windows: &[Window]) -> u64 {
    let last = windows.last().map_or(0, |window| window.begin);
    last + last.checked_div(windows.len() as u64 - 1).unwrap_or(1)
}
