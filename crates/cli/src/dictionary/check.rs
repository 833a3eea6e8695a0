//! `fixbolt dictionary check`: reports whether a file is a dictionary, and anything odd in it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output::{self, Format, Object, shown};
use fixbolt_dictionary::{Definition, Dictionary, LoadError, Loaded};

use super::argument::{SourceOptions, failure};

/// Checks whether a file is a dictionary, and reports everything that is wrong or odd.
///
/// Reads QuickFIX XML, FIX Orchestra or a compiled table; the text itself shows which. Errors make
/// a dictionary invalid: a name or tag that is not defined, or defined twice, or a group without
/// members. Warnings do not: they say what is odd and how it is read, and which names generated
/// code must change. Each is one line, `FILE:LINE: error: WHERE: WHAT`. The first 1,000 are shown,
/// and the number of all.
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
    #[command(flatten)]
    source_options: SourceOptions,
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
    let mut out = output::verdict();
    let mut answer = Answer::Yes;
    for path in &arguments.files {
        let report = Report::of(path, &arguments.source_options)?;
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
    /// Errors, with those that are not among `errors`.
    error_count: usize,
    warnings: Vec<Finding>,
}

/// Returns what `fixbolt generate` would refuse, or else rename.
fn of_generated_code(loaded: &Loaded) -> Vec<Finding> {
    let line = |definition: &Option<Definition>| {
        definition.as_ref().and_then(|definition| loaded.line_of(definition)).unwrap_or(1)
    };
    match fixbolt_codegen::check(&loaded.dictionary) {
        Ok(renamed) => renamed
            .into_iter()
            .map(|renamed| Finding {
                line: line(&renamed.definition),
                reason: renamed.reason(),
                element: renamed.element,
            })
            .collect(),
        Err(errors) => errors
            .into_iter()
            .map(|error| Finding {
                line: line(&error.definition),
                reason: format!("no typed messages can be generated: {}", error.reason),
                element: error.element,
            })
            .collect(),
    }
}

impl Report {
    fn of(path: &Path, source_options: &SourceOptions) -> Result<Report, Failure> {
        let file = path.display().to_string();
        Ok(match source_options.source(path)?.load() {
            Ok(loaded) => {
                let finding = |warning: fixbolt_dictionary::Warning| Finding {
                    line: warning.line,
                    element: warning.element,
                    reason: warning.reason,
                };
                let of_code = of_generated_code(&loaded);
                let mut warnings: Vec<Finding> = loaded.warnings.into_iter().map(finding).collect();
                warnings.extend(of_code);
                let dictionary = Some(loaded.dictionary);
                Report { file, dictionary, errors: Vec::new(), error_count: 0, warnings }
            }
            Err(LoadError::Refused { faults, .. }) => {
                let finding = |error: &fixbolt_dictionary::ReadError| Finding {
                    line: error.line,
                    element: error.element.clone(),
                    reason: error.reason.clone(),
                };
                let mut errors: Vec<Finding> = faults.first().iter().map(finding).collect();
                errors.sort_by_key(|error| error.line);
                Report { file, dictionary: None, errors, error_count: faults.count(), warnings: Vec::new() }
            }
            Err(error) => return Err(failure(path, &error)),
        })
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.errors.iter().map(|error| error.text(&self.file, "error")).collect();
        lines.extend(self.warnings.iter().map(|warning| warning.text(&self.file, "warning")));
        let verdict = match &self.dictionary {
            None => format!("{}: not a dictionary, {}", self.file, self.number_of_errors()),
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

    fn number_of_errors(&self) -> String {
        let shown = match self.error_count > self.errors.len() {
            true => format!(", of which {} are shown", self.errors.len()),
            false => String::new(),
        };
        number(self.error_count, "error") + &shown
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
            .raw("error_count", self.error_count)
            .array("errors", self.errors.iter().map(Finding::json))
            .array("warnings", self.warnings.iter().map(Finding::json))
    }
}

/// Returns a count and its noun, such as "2 errors".
pub(super) fn number(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
