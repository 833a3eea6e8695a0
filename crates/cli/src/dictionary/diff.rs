//! `fixbolt dictionary diff`: shows the differences between two dictionaries.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output::{self, Format, Object, quoted, shown};
use fixbolt_dictionary::{Code, Difference, MemberPath, NamedTag, Only, UnionType};

use super::argument::SourceOptions;
use super::check::number;

/// Compares two dictionaries, down to each member of each message.
///
/// One line per difference: `-` only A has it, `+` only B has it, `~` both have it, but
/// differently. Messages and fields come first, then members with their path:
/// `- member AE TradeCaptureReport/NoSides(552)/OrderID(37)`. Something that one side lacks
/// entirely is one line. The names of components, groups and codes are not compared, because they
/// change no message.
///
/// Exit status: 0 no differences; 1 they differ; 2 a file cannot be read, or is not a dictionary.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt dictionary diff FIX.4.4 venue.xml\n  fixbolt dictionary diff 4.2 4.4 | grep 'NewOrderSingle'\n  fixbolt dictionary diff FIX.4.4 venue.xml -o json | jq 'select(.kind==\"required\")'"
)]
pub(crate) struct Diff {
    /// A shipped version (FIX.4.4, fix44, latest), or a file: QuickFIX XML, FIX Orchestra or a
    /// compiled table
    #[arg(value_name = "A")]
    left: PathBuf,
    /// The dictionary to compare it with
    #[arg(value_name = "B")]
    right: PathBuf,
    #[command(flatten)]
    source_options: SourceOptions,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Runs the command.
pub(super) fn run(arguments: &Diff) -> Result<Answer, Failure> {
    let source_options = &arguments.source_options;
    let [left, right] = source_options.load_both([&arguments.left, &arguments.right])?;
    let differences = left.dictionary.diff(&right.dictionary);
    let mut out = output::verdict();
    match arguments.output {
        Format::Json => {
            differences.iter().try_for_each(|difference| writeln!(out, "{}", json(difference)))?
        }
        Format::Text => {
            writeln!(out, "--- {}", shown(arguments.left.to_string_lossy().as_bytes()))?;
            writeln!(out, "+++ {}", shown(arguments.right.to_string_lossy().as_bytes()))?;
            for difference in &differences {
                writeln!(out, "{}", shown(difference.to_string().as_bytes()))?;
            }
            writeln!(out, "{}", summary(&differences))?;
        }
    }
    out.flush()?;
    Ok(if differences.is_empty() { Answer::Yes } else { Answer::No })
}

/// Returns the number of differences of each kind.
fn summary(differences: &[Difference]) -> String {
    if differences.is_empty() {
        return "no differences".to_owned();
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for difference in differences {
        *kinds.entry(difference.kind()).or_default() += 1;
    }
    let kinds: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    format!("{}: {}", number(differences.len(), "difference"), kinds.join(", "))
}

fn json(difference: &Difference) -> Object {
    let object = Object::new().text("kind", difference.kind());
    match difference {
        Difference::Version { left, right } => sides(object, quoted(left), quoted(right)),
        Difference::Message { msg_type, name, only } => {
            lone(object.text("msg_type", msg_type).text("name", name), *only)
        }
        Difference::MessageName { msg_type, left, right } => {
            sides(object.text("msg_type", msg_type), quoted(left), quoted(right))
        }
        Difference::Field { field, only } => lone(named(object, field), *only),
        Difference::FieldName { tag, left, right } => {
            sides(object.raw("tag", tag), quoted(left), quoted(right))
        }
        Difference::DataType { field, left, right } => {
            sides(named(object, field), quoted(left.name()), quoted(right.name()))
        }
        Difference::Codes { field, left, right } => {
            let code = |code: &Code| Object::new().text("value", &code.value).text("name", &code.name);
            named(object, field).array("left", left.iter().map(code)).array("right", right.iter().map(code))
        }
        Difference::Union { field, left, right } => {
            let name = |union: &Option<UnionType>| union.map_or_else(null, |union| quoted(union.name()));
            sides(named(object, field), name(left), name(right))
        }
        Difference::LengthField { field, left, right } => {
            let tag = |tag: &Option<u32>| tag.map_or_else(null, |tag| tag.to_string());
            sides(named(object, field), tag(left), tag(right))
        }
        Difference::Section { scope, only, inside } => {
            lone(object.text("place", &scope.to_string()).raw("members", inside), *only)
        }
        Difference::Member { place, member, only, inside } => {
            let object = named(at(object, place), member);
            lone(inside.iter().fold(object, |object, inside| object.raw("members", inside)), *only)
        }
        Difference::Repeating { place, member, only } | Difference::Required { place, member, only } => {
            let (left, right) = (*only == Only::Left, *only == Only::Right);
            named(at(object, place), member).raw("left", left).raw("right", right)
        }
        Difference::Delimiter { place, left, right } => {
            sides(at(object, place), left.tag.to_string(), right.tag.to_string())
        }
        Difference::Order { place, moved } => {
            at(object, place).array("moved", moved.iter().map(|member| named(Object::new(), member)))
        }
        // A kind that a later version of the library adds is shown in its words.
        other => object.text("text", &other.to_string()),
    }
}

fn null() -> String {
    "null".to_owned()
}

fn sides(object: Object, left: String, right: String) -> Object {
    object.raw("left", left).raw("right", right)
}

fn lone(object: Object, only: Only) -> Object {
    object.text("only", if only == Only::Left { "left" } else { "right" })
}

fn named(object: Object, field: &NamedTag) -> Object {
    object.raw("tag", field.tag).text("name", &field.name)
}

fn at(object: Object, place: &MemberPath) -> Object {
    object.text("place", &place.to_string())
}
