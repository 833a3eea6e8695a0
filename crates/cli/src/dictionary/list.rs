//! `fixbolt dictionary list`: what is inside.

use std::io::Write as _;

use clap::Args;
use fixbolt_dictionary::{Dictionary, Version, shipped};

use crate::exit::{Answer, Failure};
use crate::output::{self, Format, Object};

/// Shows the FIX versions that are known without any file.
///
/// For each: what BeginString (8) says on the wire, its value in ApplVerID (1128), how many messages, fields, code sets, codes,
/// components and groups it has, and the source of its facts. FIX.5.0 and later hold the application's messages; header, trailer
/// and session messages are FIXT.1.1's.
///
/// Exit status: 0 shown.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt dictionary list -o json | jq -r .version")]
pub(crate) struct List {
    /// Form of the answer
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
            writeln!(out, "  {}", dictionary.source().name)?;
        }
    } else {
        for dictionary in versions {
            writeln!(out, "{}", json(dictionary))?;
        }
    }
    out.flush()?;
    Ok(Answer::Yes)
}

/// How many messages, fields, code sets, codes, components and groups there are.
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
    let (version, source) = (dictionary.version(), dictionary.source());
    let keys = ["messages", "fields", "code_sets", "codes", "components", "groups"];
    let object = Object::new()
        .text("version", &version.name)
        .text("begin_string", &version.begin_string)
        .maybe_text("appl_ver_id", version.appl_ver_id());
    let object =
        keys.into_iter().zip(counts(dictionary)).fold(object, |object, (key, count)| object.raw(key, count));
    object.text("source", &source.name).text("sha256", &source.sha256).text("licence", &source.licence)
}
