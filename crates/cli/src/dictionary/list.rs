//! `fixbolt dictionary list`: lists the shipped dictionaries.

use std::io::Write as _;

use clap::Args;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output::{self, Format, Object};
use fixbolt_dictionary::{Dictionary, Version, shipped};

/// Lists the FIX versions that are known without a file.
///
/// Shows for each one its BeginString (8), its value in ApplVerID (1128), the number of its
/// messages, fields, code sets, codes, components and groups, and the source of its data. FIX.5.0
/// and later contain the application messages; header, trailer and session messages are in
/// FIXT.1.1.
///
/// Exit status: 0 shown.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt dictionary list -o json | jq -r .version")]
pub(crate) struct List {
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Runs the command.
pub(super) fn run(arguments: &List) -> Result<Answer, Failure> {
    let mut out = output::stdout();
    let versions = Version::ALL.map(shipped);
    if arguments.output == Format::Text {
        let titles = ["messages", "fields", "code sets", "codes", "components", "groups"];
        writeln!(
            out,
            "{:<10}  {:<11}  {:<9}  {}  source",
            "version",
            "BeginString",
            "ApplVerID",
            titles.join("  ")
        )?;
        for dictionary in versions {
            let version = dictionary.version();
            let (name, begin_string) = (&version.name, &version.begin_string);
            let appl_ver_id = version.appl_ver_id().unwrap_or("-");
            write!(out, "{name:<10}  {begin_string:<11}  {appl_ver_id:<9}")?;
            for (title, count) in titles.iter().zip(counts(dictionary)) {
                write!(out, "  {count:>width$}", width = title.len())?;
            }
            writeln!(out, "  {}", dictionary.origin().name)?;
        }
    } else {
        for dictionary in versions {
            writeln!(out, "{}", json(dictionary))?;
        }
    }
    out.flush()?;
    Ok(Answer::Yes)
}

/// Returns the number of messages, fields, code sets, codes, components and groups.
fn counts(dictionary: &Dictionary) -> [usize; 6] {
    [
        dictionary.messages().len(),
        dictionary.fields().len(),
        dictionary.code_sets().len(),
        dictionary.code_sets().iter().map(|set| set.codes.len()).sum(),
        dictionary.components().len(),
        dictionary.groups().len(),
    ]
}

fn json(dictionary: &Dictionary) -> Object {
    let (version, source) = (dictionary.version(), dictionary.origin());
    let keys = ["messages", "fields", "code_sets", "codes", "components", "groups"];
    let object = Object::new()
        .text("version", &version.name)
        .text("begin_string", &version.begin_string)
        .maybe_text("appl_ver_id", version.appl_ver_id());
    let object =
        keys.into_iter().zip(counts(dictionary)).fold(object, |object, (key, count)| object.raw(key, count));
    object.text("source", &source.name).text("sha256", &source.sha256).text("license", &source.license)
}
