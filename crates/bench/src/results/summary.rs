//! The figures of a test side by side: floor, Fixbolt, rivals, published.

use super::row::{legend, shared_statistic};
use super::{Row, Table, TestReport};

impl TestReport {
    /// Returns the table of the test's figures: one line for each figure of Fixbolt, with the
    /// floor, each rival measured in the same run, the ratio to Fixbolt's, and the published
    /// figure. Beside a figure of several parts stands the worst of them. There is no ratio to a
    /// figure that must not be used. Columns without a figure are left out. `None` if there are no
    /// figures.
    #[must_use]
    pub fn summary(&self) -> Option<Table> {
        let ours: Vec<&Row> = self.rows.iter().filter(|row| row.engine == "fixbolt").collect();
        let mut rivals: Vec<&str> = Vec::new();
        for row in &self.rows {
            if row.engine != "fixbolt" && !rivals.contains(&row.engine.as_str()) {
                rivals.push(&row.engine);
            }
        }
        if ours.is_empty() {
            return None;
        }
        let statistic = shared_statistic(self.rows.iter());
        let columns =
            ["figure", "statistic", "unit", "floor", "Fixbolt", "worst"].map(str::to_owned).into_iter();
        let of_rivals =
            rivals.iter().flat_map(|rival| [(*rival).to_owned(), "worst".to_owned(), "ratio".to_owned()]);
        let mut table = Table::new("", columns.chain(of_rivals).chain(["published".to_owned()]));
        for row in ours {
            let (value, unit) = row.figure();
            let tier = row.tier.as_ref().map(|tier| format!(" ({tier})")).unwrap_or_default();
            let known = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), display);
            let cells = [
                format!("{} {}{tier}", row.message, row.what()),
                if statistic.is_some() { "-".to_owned() } else { row.statistic.to_string() },
                unit.to_owned(),
                known(row.floor_ns),
                if row.is_measured() { display(value) + &row.marks() } else { "-".to_owned() },
                known(row.worst),
            ];
            let rivals = rivals.iter().flat_map(|rival| {
                let is_theirs = |other: &&Row| {
                    other.engine == *rival && other.is_measured() && other.is_of_the_work_of(row)
                };
                let theirs = self.rows.iter().find(is_theirs);
                let figure = theirs.map(|row| display(row.figure().0) + &row.marks());
                let worst = theirs.and_then(|row| row.worst);
                let ratio = theirs.and_then(|theirs| row.ratio_to(theirs));
                let ratio = ratio.map(|ratio| format!("{ratio:.2}x"));
                let unknown = || "-".to_owned();
                [figure.unwrap_or_else(unknown), known(worst), ratio.unwrap_or_else(unknown)]
            });
            table.row(cells.into_iter().chain(rivals).chain([known(row.published)]));
        }
        table.drop_empty_columns();
        table.notes.extend(statistic);
        table.notes.extend(legend(self.rows.iter()));
        Some(table)
    }
}

/// Returns a figure with as many digits as it carries.
pub(super) fn display(figure: f64) -> String {
    match figure.abs() {
        size if size >= 1_000.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_stands_beside_its_floor_its_rivals_and_what_was_published() {
        let mut test = TestReport::new("codec", "");
        assert_eq!(test.summary(), None);
        test.rows = vec![
            Row::of_ns("codec", "NOS-222", "encode", 50.0).floor_ns(Some(40.0)).published(1_920.0),
            Row::of_ns("codec", "NOS-222", "index", 60.0),
            Row::of_ns("codec", "NOS-222", "encode", 3_000.0).engine("QuickFIX C++"),
            Row { ns: None, ..Row::of_ns("codec", "NOS-222", "index", 0.0).engine("QuickFIX C++") },
            Row::of_value("stream", "NOS-222", "one way", 4e6, "messages/s"),
            Row::of_value("stream", "NOS-222", "one way", 1e6, "messages/s").engine("QuickFIX C++"),
        ];
        let table = test.summary().unwrap();
        let expected = ["figure", "unit", "floor", "Fixbolt", "QuickFIX C++", "ratio", "published"];
        assert_eq!(table.columns, expected);
        let expected = [
            ["NOS-222 encode", "ns", "40.0", "50.0", "3000", "60.00x", "1920"],
            ["NOS-222 index", "ns", "-", "60.0", "-", "-", "-"],
            ["NOS-222 one way", "messages/s", "-", "4000000", "1000000", "4.00x", "-"],
        ];
        assert_eq!(table.rows, expected);
    }
}
