//! A table with a title and notes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A table. Every row has a cell for each column.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Table {
    /// The title, perhaps empty.
    pub title: String,
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// Remarks below the table, one per line.
    pub notes: Vec<String>,
    /// Whether it only lists figures of the report, all of which a summary shows, too.
    #[serde(default)]
    pub lists_rows: bool,
}

impl Table {
    /// Creates a table without rows.
    #[must_use]
    pub fn new<S: Into<String>>(title: impl Into<String>, columns: impl IntoIterator<Item = S>) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { title: title.into(), columns, rows: Vec::new(), notes: Vec::new(), lists_rows: false }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// Panics if it does not have a cell for each column.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.columns.len(), "a cell for each of {:?}: {cells:?}", self.columns);
        self.rows.push(cells);
        self
    }

    /// Adds a column; `-` where it has no cell.
    pub(crate) fn column(&mut self, head: impl Into<String>, cells: Vec<String>) {
        self.columns.push(head.into());
        let mut cells = cells.into_iter();
        self.rows.iter_mut().for_each(|row| row.push(cells.next().unwrap_or_else(|| "-".to_owned())));
    }

    /// Adds a remark.
    pub fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.notes.push(note.into());
        self
    }

    /// Removes the columns in which every cell is `-`.
    pub(super) fn drop_empty_columns(&mut self) {
        let kept: Vec<bool> =
            (0..self.columns.len()).map(|column| self.rows.iter().any(|row| row[column] != "-")).collect();
        for cells in self.rows.iter_mut().chain([&mut self.columns]) {
            let mut kept = kept.iter();
            cells.retain(|_| *kept.next().unwrap_or(&true));
        }
    }

    /// Returns whether the cells of a column are aligned to the right: those of figures are.
    #[must_use]
    pub fn is_figures(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column)).filter(|cell| *cell != "-");
        let figure = |cell: &String| {
            let cell = cell.trim_end_matches(['*', '!', 'x', '%']);
            cell.is_empty() || cell.replace([',', '\u{202f}'], "").parse::<f64>().is_ok()
        };
        column > 0 && cells.clone().any(|cell| !cell.is_empty()) && cells.all(figure)
    }
}

/// Aligned columns, two spaces apart.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.title.is_empty() {
            writeln!(f, "{}\n", self.title)?;
        }
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&self.columns]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let columns: Vec<_> =
            (0..self.columns.len()).map(|column| (width(column), self.is_figures(column))).collect();
        for row in [&self.columns].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (cell, (width, right)) in row.iter().zip(&columns) {
                if !line.is_empty() {
                    line.push_str("  ");
                }
                let cell = if *right { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
                line.push_str(&cell);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_aligned_to_the_right_and_text_to_the_left() {
        let mut table = Table::new("Times", ["what", "us", "remark"]);
        table.row(["encode", "1.25", "-"]).row(["decode", "10.00*", "cold"]).note("* few samples");
        assert_eq!(
            table.to_string(),
            "Times\n\nwhat        us  remark\nencode    1.25  -\ndecode  10.00*  cold\n* few samples\n"
        );
    }
}
