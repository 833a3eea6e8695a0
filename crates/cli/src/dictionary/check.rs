//! `fixbolt dictionary check`: reports whether a file is a dictionary, and anything odd in it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use fixbolt_dictionary::Dictionary;

use super::argument::read_text;
use crate::exit::{Answer, Failure};
use crate::output::{self, Format, Object, shown};

/// Checks whether a file is a dictionary, and reports everything that is wrong or odd.
///
/// Reads QuickFIX XML, FIX Orchestra or a compiled table; the text itself shows which. Errors make
/// a dictionary invalid: a name or tag that is not defined, or defined twice, or a group without
/// members. Warnings do not: they say what is odd and how it is read. Each is one line,
/// `FILE:LINE: error: WHERE: WHAT`.
///
/// Exit status: 0 it is a dictionary, perhaps with warnings; 1 it has errors; 2 it cannot be read.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt dictionary check venue.xml\n  fixbolt dictionary check -o json *.xml | jq -c 'select(.valid|not)'"
)]
pub(crate) struct Check {
    /// The dictionaries to check
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// An error or warning about a file.
struct Finding {
    line: u32,
    element: String,
    reason: String,
}

impl Finding {
    fn text(&self, file: &str, kind: &str) -> String {
        let Finding { line, element, reason } = self;
        shown(format!("{file}:{line}: {kind}: {element}: {reason}").as_bytes())
    }

    fn json(&self) -> Object {
        Object::new().raw("line", self.line).text("element", &self.element).text("reason", &self.reason)
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Check) -> Result<Answer, Failure> {
    let mut out = output::stdout();
    let mut answer = Answer::Yes;
    for path in &arguments.files {
        let report = Report::of(path)?;
        if !report.errors.is_empty() {
            answer = Answer::No;
        }
        match arguments.output {
            Format::Json => writeln!(out, "{}", report.json())?,
            Format::Text => report.lines().iter().try_for_each(|line| writeln!(out, "{line}"))?,
        }
    }
    out.flush()?;
    Ok(answer)
}

struct Report {
    file: String,
    dictionary: Option<Dictionary>,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
}

impl Report {
    fn of(path: &Path) -> Result<Report, Failure> {
        let file = path.display().to_string();
        Ok(match Dictionary::from_source(&read_text(path)?) {
            Ok((dictionary, warnings)) => {
                let finding = |warning: fixbolt_dictionary::Warning| Finding {
                    line: warning.line,
                    element: warning.element,
                    reason: warning.reason,
                };
                let warnings = warnings.into_iter().map(finding).collect();
                Report { file, dictionary: Some(dictionary), errors: Vec::new(), warnings }
            }
            Err(errors) => {
                let finding = |error: fixbolt_dictionary::ReadError| Finding {
                    line: error.line,
                    element: error.element,
                    reason: error.reason,
                };
                let mut errors: Vec<Finding> = errors.into_iter().map(finding).collect();
                errors.sort_by_key(|error| error.line);
                Report { file, dictionary: None, errors, warnings: Vec::new() }
            }
        })
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.errors.iter().map(|error| error.text(&self.file, "error")).collect();
        lines.extend(self.warnings.iter().map(|warning| warning.text(&self.file, "warning")));
        let verdict = match &self.dictionary {
            None => format!("{}: not a dictionary, {}", self.file, number(self.errors.len(), "error")),
            Some(dictionary) => format!(
                "{}: a dictionary of {}, {}, {}, {}",
                self.file,
                dictionary.version().name,
                number(dictionary.messages().len(), "message"),
                number(dictionary.fields().len(), "field"),
                number(self.warnings.len(), "warning"),
            ),
        };
        lines.push(shown(verdict.as_bytes()));
        lines
    }

    fn json(&self) -> Object {
        let object = Object::new().text("file", &self.file).raw("valid", self.dictionary.is_some());
        let object = match &self.dictionary {
            None => object,
            Some(dictionary) => object
                .text("version", &dictionary.version().name)
                .raw("messages", dictionary.messages().len())
                .raw("fields", dictionary.fields().len()),
        };
        object
            .array("errors", self.errors.iter().map(Finding::json))
            .array("warnings", self.warnings.iter().map(Finding::json))
    }
}

/// Returns a count and its noun, such as "2 errors".
pub(super) fn number(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
