//! Curves of percentiles: how long the fastest half took, the slowest tenth, hundredth, ...

use fixbolt_workloads::harness::{Latencies, PERCENTILES, carried_by};

use super::figures::{commas, short_time, time};
use super::palette::Palette;
use super::plot::{Axis, Key, Plot, Point, Shape, Sign};
use super::scale::Scale;
use super::times::{Times, curve, nines, nines_of, times};
use crate::results::row::is_baseline;
use crate::results::{TestReport, TimeKind, percentile_name};

/// The axes that all curves of a test share, so that they can be compared.
struct Frame {
    /// The nines at the right end.
    end: f64,
    scale: Scale,
}

/// Returns the plots of a test: one for each setting, with all engines; and one for each engine
/// that was measured in several settings.
pub(super) fn percentiles(test: &TestReport, palette: &Palette) -> [Vec<Plot>; 2] {
    let all = times(&test.series);
    let Some(frame) = Frame::around(all.iter().map(|times| &times.latencies)) else {
        return [Vec::new(), Vec::new()];
    };
    let (mut settings, mut engines) = (Vec::new(), Vec::new());
    for times in &all {
        let (name, engine) = (times.series.name.as_str(), times.series.engine.as_str());
        if !settings.contains(&name) {
            settings.push(name);
        }
        if !engines.contains(&engine) && !is_baseline(engine) {
            engines.push(engine);
        }
    }
    let of_setting = |setting: &str| {
        let shown: Vec<&Times<'_>> = all.iter().filter(|times| times.series.name == setting).collect();
        let class = |times: &Times<'_>| times.class(palette);
        frame.plot(format!("Latency: {setting}"), &shown, class, &engine_keys(&shown, palette))
    };
    let of_engine = |engine: &str| {
        let of_kind = |kind: TimeKind| {
            let shown = all.iter().filter(move |times| times.series.engine == engine && times.kind == kind);
            shown.collect::<Vec<_>>()
        };
        // A closed loop has no response times.
        let (kind, shown) = match of_kind(TimeKind::Response) {
            none if none.is_empty() => (TimeKind::Service, of_kind(TimeKind::Service)),
            some => (TimeKind::Response, some),
        };
        (shown.len() > 1).then(|| frame.by_setting(engine, kind, &shown, palette))
    };
    let by_engine = engines.into_iter().filter_map(of_engine).collect();
    [settings.into_iter().map(of_setting).collect(), by_engine]
}

/// Returns the curve of durations that belong to no series.
pub(super) fn of_latencies(title: &str, latencies: &Latencies, class: &str) -> Option<Plot> {
    let frame = Frame::around([latencies])?;
    let mut shapes = Vec::new();
    frame.draw(&mut shapes, latencies, class, title);
    let description = format!("{title}: {}.", in_words(latencies));
    Some(Plot {
        title: title.to_owned(),
        description,
        x: frame.x(),
        y: frame.y(),
        shapes,
        legend: Vec::new(),
    })
}

/// How many shades of an engine's color there are.
const STEPS: usize = 6;

impl Frame {
    /// Returns axes with room for all curves; `None` if there are none.
    #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
    fn around<'a>(all: impl IntoIterator<Item = &'a Latencies>) -> Option<Self> {
        let all: Vec<&Latencies> = all.into_iter().filter(|latencies| latencies.count() > 0).collect();
        let end = all.iter().map(|latencies| nines_of(latencies.count())).reduce(f64::max)?;
        let values =
            all.iter().flat_map(|latencies| [latencies.min_ns() as f64, latencies.ns_at(100.0) as f64]);
        Some(Self { end: end.max(2.0), scale: Scale::log(values) })
    }

    fn plot(
        &self,
        title: String,
        shown: &[&Times<'_>],
        class: impl Fn(&Times<'_>) -> String,
        keys: &[Key],
    ) -> Plot {
        let mut shapes = Vec::new();
        for times in shown {
            let name = format!("{}{}", times.name(), times.care());
            self.draw(&mut shapes, &times.latencies, &class(times), &name);
        }
        let words = shown.iter().map(|times| format!("{}: {}", times.name(), in_words(&times.latencies)));
        let description =
            format!("Percentiles on logarithmic axes. {}.", words.collect::<Vec<_>>().join("; "));
        let mut legend = keys.to_vec();
        let has = |kind: TimeKind| shown.iter().any(|times| times.kind == kind);
        if has(TimeKind::Response) && has(TimeKind::Service) {
            legend.push(Key::line("ink response", "response time, from when due"));
            legend.push(Key::line("ink service", "service time, from when begun"));
        } else if has(TimeKind::Service) {
            legend.push(Key::line("ink service", "service time (closed loop)"));
        }
        if shown.iter().any(|times| !carried_by(99.99, times.latencies.count())) {
            legend.push(Key::line("ink few", "fewer than 100 samples above"));
        }
        Plot { title, description, x: self.x(), y: self.y(), shapes, legend }
    }

    /// Returns a plot of one engine, with a shade of its color for each setting.
    fn by_setting(&self, engine: &str, kind: TimeKind, shown: &[&Times<'_>], palette: &Palette) -> Plot {
        let class = |times: &Times<'_>| {
            let at = shown.iter().position(|it| std::ptr::eq(*it, times)).unwrap_or(0);
            let step = at * (STEPS - 1) / (shown.len() - 1).max(1);
            format!("{} step{step}", times.class(palette))
        };
        let key =
            |times: &&Times<'_>| Key::line(class(times), format!("{}{}", times.series.name, times.care()));
        let keys: Vec<Key> = shown.iter().map(key).collect();
        self.plot(format!("{engine}: {} time by setting", kind.name()), shown, class, &keys)
    }

    /// Draws a curve: the part that the number of samples carries, the rest, and marks at the
    /// percentiles of the tables.
    #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
    fn draw(&self, shapes: &mut Vec<Shape>, latencies: &Latencies, class: &str, name: &str) {
        let place = |nines: f64, ns: f64| -> Point { (nines / self.end * 100.0, self.scale.percent(ns)) };
        let (points, carried) = curve(latencies);
        let places: Vec<Point> = points.iter().map(|&(nines, ns)| place(nines, ns)).collect();
        let (many, few) = (&places[..=carried], &places[carried..]);
        for (points, class) in [(many, class.to_owned()), (few, format!("{class} few"))] {
            if points.len() > 1 {
                shapes.push(Shape::Line { class, points: points.to_vec(), title: name.to_owned() });
            }
        }
        let count = latencies.count();
        for percentile in PERCENTILES {
            let at = if percentile >= 100.0 { nines_of(count) } else { nines(percentile) };
            if at > nines_of(count) {
                continue;
            }
            let ns = latencies.ns_at(percentile) as f64;
            let few = if carried_by(percentile, count) { "" } else { "*" };
            let title = format!("{name}: {} {}{few}", percentile_name(percentile), time(ns));
            shapes.push(Shape::Mark { class: class.to_owned(), sign: Sign::Dot, at: place(at, ns), title });
        }
    }

    fn x(&self) -> Axis {
        let names = ["0", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999", "99.999999"];
        let ticks = names.into_iter().zip(0u32..).map(|(name, nines)| (f64::from(nines), name));
        let ticks = ticks.filter(|(nines, _)| *nines <= self.end + 1e-9);
        Axis::new("percentile", ticks.map(|(nines, name)| (nines / self.end * 100.0, name.to_owned())))
    }

    fn y(&self) -> Axis {
        time_axis(&self.scale)
    }
}

/// Returns an axis of durations.
pub(super) fn time_axis(scale: &Scale) -> Axis {
    Axis::new("time", scale.ticks(8).into_iter().map(|ns| (scale.percent(ns), short_time(ns))))
}

fn engine_keys(shown: &[&Times<'_>], palette: &Palette) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for times in shown {
        let engine = &times.series.engine;
        let baseline = if is_baseline(engine) { " (baseline)" } else { "" };
        let key = Key::line(palette.class(engine), format!("{engine}{baseline}{}", times.care()));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
fn in_words(latencies: &Latencies) -> String {
    let shown = latencies.table().into_iter().map(|row| {
        let few = if row.carried { "" } else { "*" };
        format!("{} {}{few}", percentile_name(row.percentile), time(row.ns as f64))
    });
    format!("{} of {} samples", shown.collect::<Vec<_>>().join(", "), commas(latencies.count() as f64))
}
