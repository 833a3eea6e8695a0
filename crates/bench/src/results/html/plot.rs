//! A plot: axes, lines and marks in SVG that takes whatever width there is.
//!
//! Places are per cent of the plot's area, so that neither text nor marks are scaled with it.

use super::figures::coordinate;
use super::markup::Markup;

/// A place: per cent from the left, and per cent from the bottom.
pub(super) type Point = (f64, f64);

/// A plot.
#[derive(Debug)]
pub(super) struct Plot {
    /// What is above it.
    pub(super) title: String,
    /// What it shows, for people who do not see it.
    pub(super) description: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) shapes: Vec<Shape>,
    pub(super) legend: Vec<Key>,
}

/// An axis.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) ticks: Vec<Tick>,
}

/// A value that an axis names.
#[derive(Debug)]
pub(super) struct Tick {
    pub(super) percent: f64,
    pub(super) text: String,
    /// Whether it is left out of a narrow plot.
    pub(super) only_wide: bool,
}

/// What is drawn. A class sets the color.
#[derive(Debug)]
pub(super) enum Shape {
    /// A line through points.
    Line { class: String, points: Vec<Point>, title: String },
    /// Small dots.
    Dots { class: String, points: Vec<Point> },
    /// A sign with a text that appears beside the pointer.
    Mark { class: String, sign: Sign, at: Point, title: String },
    /// From here to there on the axis x, with a text at its top.
    Band { class: String, from: f64, to: f64, text: String },
}

/// The form of a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sign {
    Dot,
    Circle,
    Square,
    Triangle,
    Cross,
}

/// An entry of a legend.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Key {
    pub(super) class: String,
    /// The sign; a line if there is none.
    pub(super) sign: Option<Sign>,
    pub(super) text: String,
}

impl Axis {
    /// Creates an axis. Every second tick of more than six is left out of a narrow plot.
    pub(super) fn new(label: &str, ticks: impl IntoIterator<Item = (f64, String)>) -> Self {
        let ticks: Vec<(f64, String)> = ticks.into_iter().collect();
        let many = ticks.len() > 6;
        let tick = |(n, (percent, text)): (usize, _)| Tick { percent, text, only_wide: many && n % 2 == 1 };
        Self { label: label.to_owned(), ticks: ticks.into_iter().enumerate().map(tick).collect() }
    }
}

impl Key {
    /// Creates an entry with a line.
    pub(super) fn line(class: impl Into<String>, text: impl Into<String>) -> Self {
        Self { class: class.into(), sign: None, text: text.into() }
    }

    /// Creates an entry with a sign.
    pub(super) fn sign(class: impl Into<String>, sign: Sign, text: impl Into<String>) -> Self {
        Self { class: class.into(), sign: Some(sign), text: text.into() }
    }
}

impl Sign {
    /// Returns its outline, in pixels around its place.
    const fn outline(self) -> &'static str {
        match self {
            Self::Dot => "M-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z",
            Self::Circle => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
            Self::Square => "M-3.5 -3.5h7v7h-7z",
            Self::Triangle => "M0 -4.5l4.5 8h-9z",
            Self::Cross => "M-4.5 -4.5l9 9m0 -9l-9 9",
        }
    }
}

impl Plot {
    /// Writes the plot; entries of its legend that are `elsewhere` are not repeated.
    pub(super) fn write(&self, to: &mut Markup, elsewhere: &[Key]) {
        let keys: Vec<Key> = self.legend.iter().filter(|key| !elsewhere.contains(key)).cloned().collect();
        to.inside("figure", &[("class", "plot")], |to| {
            to.element("figcaption", &[], &self.title);
            legend(to, &keys);
            let attributes = [("class", "area"), ("role", "img"), ("aria-label", self.title.as_str())];
            to.inside("svg", &attributes, |to| {
                to.element("desc", &[], &self.description);
                self.axes(to);
                // Lines are stretched with the area, but not their width.
                let stretched = [
                    ("viewBox", "0 0 100 100"),
                    ("preserveAspectRatio", "none"),
                    ("width", "100%"),
                    ("height", "100%"),
                ];
                to.inside("svg", &stretched, |to| self.shapes.iter().for_each(|shape| lines(to, shape)));
                self.shapes.iter().for_each(|shape| signs(to, shape));
            });
        });
    }

    fn axes(&self, to: &mut Markup) {
        for tick in &self.y.ticks {
            let y = share(100.0 - tick.percent);
            to.empty("line", &[("class", "grid"), ("x1", "0"), ("x2", "100%"), ("y1", &y), ("y2", &y)]);
            let attributes = [("class", "tick y"), ("x", "-8"), ("y", &y), ("dy", "0.35em")];
            to.element("text", &attributes, &tick.text);
        }
        for tick in &self.x.ticks {
            let x = share(tick.percent);
            let wide = if tick.only_wide { " wide" } else { "" };
            let class = format!("grid{wide}");
            to.empty("line", &[("class", &class), ("x1", &x), ("x2", &x), ("y1", "0"), ("y2", "100%")]);
            let class = format!("tick x{wide}");
            to.element("text", &[("class", &class), ("x", &x), ("y", "100%"), ("dy", "1.5em")], &tick.text);
        }
        // Above a tick at the very top.
        to.element("text", &[("class", "axis y"), ("x", "-8"), ("y", "0"), ("dy", "-1.1em")], &self.y.label);
        let attributes = [("class", "axis x"), ("x", "100%"), ("y", "100%"), ("dy", "3.1em")];
        to.element("text", &attributes, &self.x.label);
    }
}

/// Writes a legend.
pub(super) fn legend(to: &mut Markup, keys: &[Key]) {
    if keys.is_empty() {
        return;
    }
    to.inside("ul", &[("class", "legend")], |to| {
        for key in keys {
            to.inside("li", &[], |to| {
                let attributes =
                    [("class", "key"), ("width", "24"), ("height", "12"), ("aria-hidden", "true")];
                to.inside("svg", &attributes, |to| match key.sign {
                    Some(sign) => {
                        let class = format!("sign {}", key.class);
                        to.empty(
                            "path",
                            &[("class", &class), ("transform", "translate(12 6)"), ("d", sign.outline())],
                        );
                    }
                    None => {
                        let class = format!("line {}", key.class);
                        to.empty("path", &[("class", &class), ("d", "M0 6h24")]);
                    }
                });
                to.text(&key.text);
            });
        }
    });
}

/// Writes what is stretched with the area.
fn lines(to: &mut Markup, shape: &Shape) {
    let place = |(x, y): &Point| format!("{} {}", coordinate(*x), coordinate(100.0 - y));
    match shape {
        Shape::Line { class, points, title } => {
            let class = format!("line {class}");
            let points = points.iter().map(place).collect::<Vec<_>>().join(" ");
            to.inside("polyline", &[("class", &class), ("points", &points)], |to| {
                to.element("title", &[], title);
            });
        }
        Shape::Dots { class, points } => {
            let class = format!("dots {class}");
            // A line without length, whose ends are round, is a dot.
            let dots: String = points.iter().map(|point| format!("M{}h0", place(point))).collect();
            to.empty("path", &[("class", &class), ("d", &dots)]);
        }
        Shape::Band { class, from, to: end, .. } => {
            let class = format!("band {class}");
            let (x, width) = (coordinate(*from), coordinate(end - from));
            let attributes =
                [("class", class.as_str()), ("x", &x), ("width", &width), ("y", "0"), ("height", "100")];
            to.empty("rect", &attributes);
        }
        Shape::Mark { .. } => {}
    }
}

/// Writes what has its size in pixels.
fn signs(to: &mut Markup, shape: &Shape) {
    match shape {
        Shape::Mark { class, sign, at: (x, y), title } => {
            let (x, y) = (share(*x), share(100.0 - y));
            to.inside("svg", &[("class", "at"), ("x", &x), ("y", &y)], |to| {
                let class = format!("sign {class}");
                to.inside("path", &[("class", &class), ("d", sign.outline())], |to| {
                    to.element("title", &[], title);
                });
            });
        }
        Shape::Band { class, from, text, .. } => {
            let (x, class) = (share(*from), format!("tick band {class}"));
            to.element("text", &[("class", &class), ("x", &x), ("dy", "-0.5em")], text);
        }
        Shape::Line { .. } | Shape::Dots { .. } => {}
    }
}

/// Returns a share of the area.
pub(super) fn share(percent: f64) -> String {
    format!("{}%", coordinate(percent))
}
