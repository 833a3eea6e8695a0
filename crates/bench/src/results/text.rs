//! A report as text for the terminal.

use std::fmt;

use super::{Report, TestReport};

/// The report as text: each test with its settings, tables and remarks, then the machine.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for test in &self.tests {
            writeln!(f, "{test}")?;
        }
        writeln!(f, "machine: {}", self.machine)?;
        for warning in self.machine.warnings() {
            writeln!(f, "  {warning}")?;
        }
        if self.partial {
            writeln!(f, "The measurement was INTERRUPTED: this is the part that was done.")?;
        }
        Ok(())
    }
}

impl fmt::Display for TestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.name, self.title)?;
        let settings: Vec<String> =
            self.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
        if !settings.is_empty() {
            writeln!(f, "{}", settings.join(", "))?;
        }
        for table in &self.tables {
            write!(f, "\n{table}")?;
        }
        if !self.notes.is_empty() {
            writeln!(f)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}
