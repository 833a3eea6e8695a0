//! `fixbolt dictionary show`: shows what a name, tag, message type or code means.

mod json;
mod text;

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::note;
use fixbolt_cli::output::{self, Format, shown};
use fixbolt_dictionary::{
    Code, ComponentDef, ComponentId, Dictionary, FieldDef, GroupDef, GroupId, Member, MessageDef, Version,
    shipped,
};

use super::argument::SourceOptions;
use crate::nearest::nearest;

/// Shows what a name, tag, MsgType or code means.
///
/// Shows a field with its type, its codes, and the messages and groups that contain it; a message,
/// component, group, `header` or `trailer` as a tree of its members, each with tag, type and a `*`
/// if it is required where its parent is present; a code by its name with the fields that have it.
/// Case matters only for a MsgType; names from other versions and from QuickFIX are accepted. Every
/// meaning of NAME is shown: for example, 8 is both a field and a message.
///
/// Exit status: 0 shown; 1 nothing has this name (similar names and other versions that have it are
/// suggested); 2 the dictionary cannot be read.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt dictionary show Side\n  fixbolt dictionary show 54\n  fixbolt dictionary show D | grep '^ *\\*'\n  fixbolt dictionary show -d FIX.5.0SP2 Parties\n  fixbolt dictionary show FILL_OR_KILL"
)]
pub(crate) struct Show {
    /// The name of a field, message, component, group or code, a tag, or a MsgType
    #[arg(value_name = "NAME-OR-TAG")]
    word: String,
    /// A shipped version (FIX.4.4, fix44, latest), or a file: QuickFIX XML, FIX Orchestra or a
    /// compiled table
    #[arg(short, long, value_name = "DICTIONARY", default_value = "FIX.4.4")]
    dictionary: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
    #[command(flatten)]
    source_options: SourceOptions,
}

/// A meaning of a word.
#[derive(Clone, Copy)]
enum Found<'d> {
    Field(&'d FieldDef),
    Message(&'d MessageDef),
    Component(ComponentId),
    Group(GroupId),
    Header,
    Trailer,
    /// A code of a field.
    Code(&'d FieldDef, &'d Code),
}

/// The parent of a member.
enum Holder<'d> {
    Header,
    Message(&'d MessageDef),
    Component(&'d ComponentDef),
    Group(&'d GroupDef),
    Trailer,
}

/// Runs the command.
pub(super) fn run(arguments: &Show) -> Result<Answer, Failure> {
    let loaded = arguments.source_options.load(&arguments.dictionary)?;
    let (dictionary, word) = (&loaded.dictionary, arguments.word.trim());
    let found = find(dictionary, word);
    if found.is_empty() {
        let place = shown(arguments.dictionary.to_string_lossy().as_bytes());
        note!(
            "fixbolt: nothing in {place} is called '{}'{}",
            shown(word.as_bytes()),
            hints(dictionary, word)
        );
        return Ok(Answer::No);
    }
    let mut out = output::stdout();
    for (at, found) in found.iter().enumerate() {
        match arguments.output {
            Format::Json => writeln!(out, "{}", json::object(dictionary, found))?,
            Format::Text => {
                let one_line = matches!(found, Found::Code(..));
                if at > 0 && !one_line {
                    writeln!(out)?;
                }
                for line in text::lines(dictionary, found) {
                    writeln!(out, "{}", shown(line.as_bytes()))?;
                }
            }
        }
    }
    out.flush()?;
    Ok(Answer::Yes)
}

/// Returns everything that the word means.
fn find<'d>(dictionary: &'d Dictionary, word: &str) -> Vec<Found<'d>> {
    let tag: Option<u32> = word.parse().ok();
    let mut found = Vec::new();
    let field = tag.map_or_else(|| dictionary.field_by_name(word), |tag| dictionary.field(tag));
    found.extend(field.map(Found::Field));
    let by_type = dictionary.message(word.as_bytes());
    let by_name =
        dictionary.message_by_name(word).filter(|message| by_type.is_none_or(|first| first != *message));
    found.extend(by_type.into_iter().chain(by_name).map(Found::Message));
    let called = |name: &str| name.eq_ignore_ascii_case(word);
    let components = dictionary.component_ids().filter(|id| called(&dictionary.component(*id).name));
    found.extend(components.map(Found::Component));
    found.extend(dictionary.group_ids().filter(|id| called(&dictionary.group(*id).name)).map(Found::Group));
    for (section, members, names) in [
        (Found::Header, dictionary.header(), ["Header", "StandardHeader"]),
        (Found::Trailer, dictionary.trailer(), ["Trailer", "StandardTrailer"]),
    ] {
        if !members.is_empty() && names.into_iter().any(called) {
            found.push(section);
        }
    }
    if tag.is_none() {
        found.extend(codes(dictionary, word));
    }
    found
}

/// Returns the codes with this name. The codes of MsgType are omitted, because the messages are
/// shown instead.
fn codes<'d>(dictionary: &'d Dictionary, word: &str) -> Vec<Found<'d>> {
    let msg_type = dictionary.field(35).and_then(|field| field.codes);
    let others = dictionary.fields().iter().filter(|field| field.codes.is_some() && field.codes != msg_type);
    let with_code = |field: &'d FieldDef| Some(Found::Code(field, dictionary.code_by_name(field.tag, word)?));
    others.filter_map(with_code).collect()
}

/// Returns what to try instead: similar names, and other versions that have the word.
fn hints(dictionary: &Dictionary, word: &str) -> String {
    let mut hints = String::new();
    let fields = dictionary.fields().iter().map(|field| field.name.as_str());
    let messages = dictionary.messages().iter().map(|message| message.name.as_str());
    let components = dictionary.components().iter().map(|component| component.name.as_str());
    let groups = dictionary.groups().iter().map(|group| group.name.as_str());
    let names: Vec<&str> = fields.chain(messages).chain(components).chain(groups).collect();
    if word.parse::<u32>().is_err() {
        let small = word.to_ascii_lowercase();
        let with_it = |name: &&&str| small.len() >= 4 && name.to_ascii_lowercase().contains(&small);
        let with_it: Vec<&str> = names.iter().filter(with_it).take(5).copied().collect();
        let near = nearest(word, names.iter().copied(), 3);
        if !with_it.is_empty() {
            hints = format!("; names that contain it: {}", with_it.join(", "));
        } else if !near.is_empty() {
            hints = format!("; did you mean {}?", near.join(" or "));
        }
    }
    let knows = |version: &Version| {
        let other = shipped(*version);
        other != dictionary && !find(other, word).is_empty()
    };
    let versions: Vec<Version> = Version::ALL.into_iter().filter(knows).collect();
    let latest = versions.iter().find(|version| **version == Version::FixLatest);
    if let Some(last) = latest.or(versions.last()) {
        let names: Vec<&str> = versions.iter().map(|version| version.name()).collect();
        let (versions, have) = (names.join(", "), if names.len() == 1 { "has" } else { "have" });
        hints += &format!("; {versions} {have} it: try -d {last}");
    }
    hints
}

/// Returns the parents of a field, with components replaced by their members, and whether each
/// requires it.
fn holders_of_field(dictionary: &Dictionary, tag: u32) -> Vec<(Holder<'_>, bool)> {
    let required = |members: &[Member]| {
        let member = dictionary.expand(members).find(|member| member.tag == tag)?;
        Some(member.required)
    };
    let mut holders = Vec::new();
    holders.extend(required(dictionary.header()).map(|required| (Holder::Header, required)));
    for message in dictionary.messages() {
        holders.extend(required(&message.members).map(|required| (Holder::Message(message), required)));
    }
    for group in dictionary.groups() {
        holders.extend(required(&group.members).map(|required| (Holder::Group(group), required)));
    }
    holders.extend(required(dictionary.trailer()).map(|required| (Holder::Trailer, required)));
    holders
}

/// Returns the direct parents of a component or group, and whether each requires it.
fn holders_of_definition<'d>(
    dictionary: &'d Dictionary,
    required: impl Fn(&Member) -> Option<bool>,
) -> Vec<(Holder<'d>, bool)> {
    let required = |members: &[Member]| members.iter().find_map(&required);
    let mut holders = Vec::new();
    holders.extend(required(dictionary.header()).map(|required| (Holder::Header, required)));
    for message in dictionary.messages() {
        holders.extend(required(&message.members).map(|required| (Holder::Message(message), required)));
    }
    for component in dictionary.components() {
        holders.extend(required(&component.members).map(|required| (Holder::Component(component), required)));
    }
    for group in dictionary.groups() {
        holders.extend(required(&group.members).map(|required| (Holder::Group(group), required)));
    }
    holders.extend(required(dictionary.trailer()).map(|required| (Holder::Trailer, required)));
    holders
}

/// Returns the parents of this component.
fn holders_of_component(dictionary: &Dictionary, wanted: ComponentId) -> Vec<(Holder<'_>, bool)> {
    holders_of_definition(dictionary, |member| match *member {
        Member::Component { component, required } if component == wanted => Some(required),
        _ => None,
    })
}

/// Returns the parents of this group.
fn holders_of_group(dictionary: &Dictionary, wanted: GroupId) -> Vec<(Holder<'_>, bool)> {
    holders_of_definition(dictionary, |member| match *member {
        Member::Group { group, required } if group == wanted => Some(required),
        _ => None,
    })
}

/// Returns the data field whose length is in the field with this tag.
fn data_of(dictionary: &Dictionary, tag: u32) -> Option<&FieldDef> {
    dictionary.fields().iter().find(|field| field.length_tag == Some(tag))
}
