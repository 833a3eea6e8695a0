//! What happened in a world, for a reader.

use super::text::time;

/// Lines with their times.
#[derive(Debug, Default)]
pub(super) struct Record {
    lines: Vec<(u64, String)>,
}

impl Record {
    pub(super) fn add(&mut self, utc: u64, line: String) {
        self.lines.push((utc, line));
    }

    /// Returns the lines as text.
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|(utc, line)| format!("{} {line}\n", time(*utc))).collect()
    }
}
