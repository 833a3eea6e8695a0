//! Bars that compare: the floor, Fixbolt, other engines, and what their pages say.

use super::figures::{coordinate, digits, figure, short_figure};
use super::markup::Markup;
use super::palette::Palette;
use super::plot::share;
use super::scale::Scale;
use crate::results::row::{legend, shared_statistic};
use crate::results::{Row, TestReport};

/// Shorter bars than a hundredth of the longest one need a logarithmic axis.
const LINEAR: f64 = 40.0;

/// The figures of one message, or of the latencies of one setting, in one unit.
#[derive(Debug)]
struct Block<'a> {
    title: String,
    unit: &'a str,
    rows: Vec<&'a Row>,
    groups: Vec<Group>,
}

/// What is compared: one operation, or one percentile.
#[derive(Debug)]
struct Group {
    operation: String,
    bars: Vec<Bar>,
}

#[derive(Clone, PartialEq, Debug)]
struct Bar {
    name: String,
    engine: String,
    value: f64,
    /// The worst part of what was measured.
    worst: Option<f64>,
    /// From another engine's page.
    published: bool,
    /// It must not be used.
    invalid: bool,
}

/// Writes the bars of a test, if it has figures.
pub(super) fn bars(to: &mut Markup, test: &TestReport, palette: &Palette) {
    let blocks = blocks(&test.rows);
    if blocks.is_empty() {
        return;
    }
    to.inside("div", &[("class", "plots")], |to| blocks.iter().for_each(|block| block.write(to, palette)));
}

fn blocks(rows: &[Row]) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for row in rows {
        let unit = row.unit.as_deref().unwrap_or("ns");
        // Latencies have a block for each setting, and a group for each percentile.
        let (title, operation) = match row.percentile {
            None => (row.message.clone(), row.operation.clone()),
            Some(_) => {
                let title = format!("{} {}", row.message, row.operation);
                (title.trim().to_owned(), row.what().replacen(&row.operation, "", 1).trim().to_owned())
            }
        };
        let at = blocks.iter().position(|it| it.title == title && it.unit == unit);
        let at = at.unwrap_or_else(|| {
            blocks.push(Block { title, unit, rows: Vec::new(), groups: Vec::new() });
            blocks.len() - 1
        });
        blocks[at].rows.push(row);
        let groups = &mut blocks[at].groups;
        let at = groups.iter().position(|it| it.operation == operation).unwrap_or_else(|| {
            groups.push(Group { operation, bars: Vec::new() });
            groups.len() - 1
        });
        groups[at].add(row);
    }
    blocks.iter_mut().for_each(|block| block.groups.retain(|group| !group.bars.is_empty()));
    blocks.retain(|block| !block.groups.is_empty());
    blocks
}

impl Group {
    /// Adds the bars of a row: the floor first, if no other row has the same.
    fn add(&mut self, row: &Row) {
        let bar = |name: String, engine: &str, value: f64, published| Bar {
            name,
            engine: engine.to_owned(),
            value,
            worst: None,
            published,
            invalid: false,
        };
        let mut add = |bar: Bar| {
            if bar.value.is_finite() && !self.bars.contains(&bar) {
                self.bars.push(bar);
            }
        };
        if let (Some(floor), None) = (row.floor_ns, &row.unit) {
            add(bar("floor".to_owned(), "floor", floor, false));
        }
        let tier = row.tier.as_ref().map(|tier| format!(" {tier}")).unwrap_or_default();
        if row.is_measured() {
            let name = format!("{}{tier}{}", row.engine, if row.invalid.is_some() { " INVALID" } else { "" });
            let measured = bar(name, &row.engine, row.figure().0, false);
            add(Bar { worst: row.worst, invalid: row.invalid.is_some(), ..measured });
        }
        if let Some(published) = row.published {
            // A figure beside one of Fixbolt is another engine's.
            let fixbolt = row.engine == "fixbolt";
            let name = if fixbolt { "published".to_owned() } else { format!("{}, published", row.engine) };
            add(bar(name, if fixbolt { "floor" } else { &row.engine }, published, true));
        }
    }

    /// Returns the best figure of Fixbolt, which others are compared with.
    fn ours(&self, larger_is_better: bool) -> Option<f64> {
        let ours = self.bars.iter().filter(|bar| bar.engine == "fixbolt" && !bar.invalid);
        let ours = ours.map(|bar| bar.value);
        ours.reduce(if larger_is_better { f64::max } else { f64::min }).filter(|ours| *ours > 0.0)
    }
}

impl Block<'_> {
    fn write(&self, to: &mut Markup, palette: &Palette) {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let values = || bars().map(|bar| bar.value).filter(|value| *value > 0.0);
        let (least, most) = values().fold((f64::MAX, 0.0f64), |(a, b), value| (a.min(value), b.max(value)));
        let scale = if most > least * LINEAR {
            // The shortest bar must be visible.
            Scale::log(values().chain([least / 2.0]))
        } else {
            Scale::from_zero(values())
        };
        let published = bars().any(|bar| bar.published);
        // What was published elsewhere has no ratio: that would be no comparison.
        let measured = |group: &Group| group.bars.iter().filter(|bar| !bar.published).count();
        let compared = self.groups.iter().any(|group| measured(group) > 1 && group.ours(false).is_some());
        let unit = if self.unit == "ns" { "time" } else { self.unit };
        let title = if self.title.is_empty() { unit.to_owned() } else { format!("{}: {unit}", self.title) };
        let statistic = shared_statistic(self.rows.iter().copied());
        let worst = bars().any(|bar| bar.worst.is_some());
        let columns = Columns { worst, compared };
        to.inside("figure", &[("class", "bars")], |to| {
            to.element("figcaption", &[], &title);
            to.inside("table", &[], |to| {
                to.inside("thead", &[], |to| self.head(to, &scale, columns));
                for group in &self.groups {
                    self.group(to, group, &scale, columns, palette);
                }
            });
            let log = scale.is_log().then_some("Logarithmic axis.");
            let published = published.then_some("Hatched: published, on another machine, in another year.");
            let ratio = compared.then_some("Ratio: how many times better Fixbolt's best figure is.");
            let remarks: Vec<&str> = log.into_iter().chain(ratio).chain(published).collect();
            if !remarks.is_empty() {
                to.element("p", &[("class", "remark")], &remarks.join(" "));
            }
            let statistics = statistic.map_or_else(|| self.statistics(), |one| vec![one]);
            for line in statistics {
                to.element("p", &[("class", "remark")], &line);
            }
            for line in legend(self.rows.iter().copied()) {
                let class = if line.starts_with('!') { "remark bad" } else { "remark" };
                to.element("p", &[("class", class)], &line);
            }
        });
    }

    /// Returns which figures come from what was measured in which way.
    fn statistics(&self) -> Vec<String> {
        let mut lines: Vec<(String, Vec<String>)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.is_measured()) {
            let (statistic, what) = (row.statistic.to_string(), row.what());
            let what = format!("{} {what}", row.engine);
            match lines.iter_mut().find(|(known, _)| *known == statistic) {
                Some((_, of)) => of.push(what),
                None => lines.push((statistic, vec![what])),
            }
        }
        lines.into_iter().map(|(statistic, of)| format!("{statistic}: {}", of.join(", "))).collect()
    }

    fn head(&self, to: &mut Markup, scale: &Scale, columns: Columns) {
        to.inside("tr", &[], |to| {
            to.element("th", &[("scope", "col")], "operation");
            to.inside("th", &[("scope", "col"), ("class", "scale")], |to| {
                to.inside("svg", &[("class", "scale"), ("aria-hidden", "true")], |to| {
                    for value in scale.ticks(4) {
                        let x = share(scale.percent(value));
                        let text = short_figure(value, self.unit);
                        to.element("text", &[("class", "tick x"), ("x", &x), ("y", "11")], &text);
                    }
                });
            });
            to.element("th", &[("scope", "col"), ("class", "figure")], "figure");
            if columns.worst {
                to.element("th", &[("scope", "col"), ("class", "figure")], "worst");
            }
            if columns.compared {
                to.element("th", &[("scope", "col"), ("class", "figure")], "ratio");
            }
        });
    }

    fn group(&self, to: &mut Markup, group: &Group, scale: &Scale, columns: Columns, palette: &Palette) {
        let flat = self.groups.iter().all(|group| group.bars.len() == 1);
        let larger_is_better = self.unit.ends_with("/s");
        let ours = group.ours(larger_is_better);
        to.inside("tbody", &[], |to| {
            if !flat {
                to.inside("tr", &[("class", "group")], |to| {
                    let number = 3 + usize::from(columns.worst) + usize::from(columns.compared);
                    let attributes = [("scope", "rowgroup"), ("colspan", &number.to_string())];
                    to.element("th", &attributes, &group.operation);
                });
            }
            for bar in &group.bars {
                to.inside("tr", &[], |to| {
                    let name =
                        if flat { format!("{} {}", group.operation, besides(bar)) } else { bar.name.clone() };
                    let class = if bar.invalid { &[("class", "bad")][..] } else { &[] };
                    let attributes: Vec<_> =
                        [("scope", "row")].into_iter().chain(class.iter().copied()).collect();
                    to.element("th", &attributes, name.trim());
                    to.inside("td", &[("class", "bar")], |to| draw(to, bar, scale, palette));
                    to.element("td", &[("class", "figure")], &figure(bar.value, self.unit));
                    if columns.worst {
                        let worst = bar.worst.map(|worst| figure(worst, self.unit)).unwrap_or_default();
                        to.element("td", &[("class", "figure")], &worst);
                    }
                    if columns.compared {
                        let is_compared = !bar.published && !bar.invalid && bar.value > 0.0;
                        let ratio = ours.filter(|_| is_compared).map(|ours| {
                            let ratio = if larger_is_better { ours / bar.value } else { bar.value / ours };
                            format!("{}x", digits(ratio))
                        });
                        let ratio = ratio.unwrap_or_default();
                        to.element("td", &[("class", "figure")], &ratio);
                    }
                });
            }
        });
    }
}

/// Which columns there are besides those that always are.
#[derive(Clone, Copy)]
struct Columns {
    worst: bool,
    compared: bool,
}

/// Returns what an operation's only bar is besides Fixbolt's.
fn besides(bar: &Bar) -> &str {
    bar.name.strip_prefix("fixbolt").unwrap_or(&bar.name)
}

fn draw(to: &mut Markup, bar: &Bar, scale: &Scale, palette: &Palette) {
    to.inside("svg", &[("class", "bar"), ("aria-hidden", "true")], |to| {
        for value in scale.ticks(4) {
            let x = share(scale.percent(value));
            to.empty("line", &[("class", "grid"), ("x1", &x), ("x2", &x), ("y1", "0"), ("y2", "100%")]);
        }
        let class = palette.class(&bar.engine);
        let width = format!("{}%", coordinate(scale.percent(bar.value)));
        let place = [("width", width.as_str()), ("y", "3"), ("height", "12"), ("rx", "1.5")];
        let (class, hatching) = if bar.published {
            (format!("published {class}"), Some(format!("url(#hatch-{class})")))
        } else {
            // The style sheet fills it, or leaves it hollow.
            (format!("fill {class}{}", if bar.invalid { " invalid" } else { "" }), None)
        };
        let hatching = hatching.as_deref().map(|hatching| ("fill", hatching));
        let attributes: Vec<_> =
            place.into_iter().chain([("class", class.as_str())]).chain(hatching).collect();
        to.empty("rect", &attributes);
    });
}

/// Writes the hatchings of published figures, one for each color.
pub(super) fn hatchings(to: &mut Markup) {
    let others = (0..super::palette::COLORS).map(|n| format!("other{n}"));
    to.inside(
        "svg",
        &[("class", "hatchings"), ("width", "0"), ("height", "0"), ("aria-hidden", "true")],
        |to| {
            for class in ["fixbolt".to_owned(), "base".to_owned()].into_iter().chain(others) {
                let id = format!("hatch-{class}");
                let attributes = [
                    ("id", id.as_str()),
                    ("width", "6"),
                    ("height", "6"),
                    ("patternUnits", "userSpaceOnUse"),
                    ("patternTransform", "rotate(45)"),
                ];
                to.inside("pattern", &attributes, |to| {
                    let class = format!("line {class}");
                    to.empty("path", &[("class", &class), ("d", "M0 0v6")]);
                });
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_its_floor_once_and_published_figures_beside_what_was_measured() {
        let rows = [
            Row::of_ns("t", "m", "index", 60.0).tier("avx2").floor_ns(Some(50.0)),
            Row::of_ns("t", "m", "index", 90.0).tier("scalar").floor_ns(Some(50.0)).published(203.0),
            Row::of_ns("t", "m", "index", 300.0).engine("QuickFIX").published(310.0),
            Row { ns: None, ..Row::of_ns("t", "m", "index", 0.0).engine("Fix8").published(70.0) },
            Row::of_value("t", "m", "one way", 3e6, "messages/s"),
        ];
        let blocks = blocks(&rows);
        let names: Vec<&str> = blocks[0].groups[0].bars.iter().map(|bar| bar.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "floor",
                "fixbolt avx2",
                "fixbolt scalar",
                "published",
                "QuickFIX",
                "QuickFIX, published",
                "Fix8, published"
            ]
        );
        assert_eq!((blocks.len(), blocks[1].unit), (2, "messages/s"));
        assert_eq!(blocks[0].groups[0].ours(false), Some(60.0));
    }
}
