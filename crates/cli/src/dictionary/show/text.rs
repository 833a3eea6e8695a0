//! Search results for people: a headline, then lines that begin with their kind, so that `grep`
//! finds them.

use fixbolt_dictionary::{DataType, Definition, Dictionary, FieldDef, Member, UnionType};

use super::{Found, Holder, data_of, holders_of_component, holders_of_field, holders_of_group};
use crate::dictionary::named;

/// Returns the lines for one result.
pub(super) fn lines(dictionary: &Dictionary, found: &Found<'_>) -> Vec<String> {
    let version = &dictionary.version().name;
    match *found {
        Found::Field(field) => self::field(dictionary, field),
        Found::Message(message) => {
            let headline = format!("message {} ({}), {version}", message.name, message.msg_type);
            let place = Definition::Message(message.msg_type.clone());
            tree(dictionary, headline, &place, &message.members)
        }
        Found::Header => {
            tree(dictionary, format!("header, {version}"), &Definition::Header, dictionary.header())
        }
        Found::Trailer => {
            tree(dictionary, format!("trailer, {version}"), &Definition::Trailer, dictionary.trailer())
        }
        Found::Component(id) => {
            let component = dictionary.component(id);
            let headline = format!("component {}, {version}", component.name);
            let place = Definition::Component(component.name.clone());
            let mut lines = tree(dictionary, headline, &place, &component.members);
            lines.extend(holders(&holders_of_component(dictionary, id)));
            lines
        }
        Found::Group(id) => {
            let group = dictionary.group(id);
            let count = named(dictionary, group.count_tag);
            let headline = format!("group {}, counted by {count}, {version}", group.name);
            let mut lines = tree(dictionary, headline, &Definition::Group(id), &group.members);
            lines.extend(holders(&holders_of_group(dictionary, id)));
            lines
        }
        Found::Code(field, code) => {
            vec![format!("code {} = {} of {} ({})", code.display_name(), code.value, field.name, field.tag)]
        }
    }
}

fn row(label: &str, value: &str) -> String {
    format!("  {label:<8} {value}")
}

fn field(dictionary: &Dictionary, field: &FieldDef) -> Vec<String> {
    let version = &dictionary.version().name;
    let mut lines = vec![format!("field {} ({}), {}, {version}", field.name, field.tag, field.kind)];
    if let Some(tag) = field.length_tag {
        lines.push(row("length", &format!("in {}", named(dictionary, tag))));
    }
    if let Some(data) = data_of(dictionary, field.tag) {
        lines.push(row("data", &format!("of {}", named(dictionary, data.tag))));
    }
    for group in dictionary.groups().iter().filter(|group| group.count_tag == field.tag) {
        lines.push(row("counts", &format!("group {}", group.name)));
    }
    let codes = dictionary.codes(field.tag);
    let width = codes.iter().map(|code| code.value.chars().count()).max().unwrap_or(0);
    lines.extend(
        codes.iter().map(|code| row("code", &format!("{:<width$}  {}", code.value, code.display_name()))),
    );
    if let Some(union) = field.union {
        lines.push(row("or", &beside_codes(union)));
    }
    lines.extend(holders(&holders_of_field(dictionary, field.tag)));
    lines
}

/// Returns in words what a field allows besides its codes.
fn beside_codes(union: UnionType) -> String {
    match union {
        UnionType::Reserved100Plus => "an agreed integer of at least 100".to_owned(),
        UnionType::Reserved1000Plus => "an agreed integer of at least 1000".to_owned(),
        UnionType::Reserved4000Plus => "an agreed integer of at least 4000".to_owned(),
        UnionType::Tenor => "a term such as M3".to_owned(),
        UnionType::Qty => "a quantity".to_owned(),
        UnionType::AnyValue => "any other value".to_owned(),
        other => other.name().to_owned(),
    }
}

fn holders(holders: &[(Holder<'_>, bool)]) -> Vec<String> {
    let line = |(holder, required): &(Holder<'_>, bool)| {
        let name = match holder {
            Holder::Header => "header".to_owned(),
            Holder::Message(message) => format!("message {} {}", message.msg_type, message.name),
            Holder::Component(component) => format!("component {}", component.name),
            Holder::Group(group) => format!("group {}", group.name),
            Holder::Trailer => "trailer".to_owned(),
        };
        row("in", &format!("{name}{}", if *required { ", required" } else { "" }))
    };
    holders.iter().map(line).collect()
}

/// A member as shown in the tree.
struct Row {
    required: bool,
    tag: Option<u32>,
    depth: usize,
    name: String,
    what: String,
}

fn tree(dictionary: &Dictionary, headline: String, place: &Definition, members: &[Member]) -> Vec<String> {
    let mut rows = Vec::new();
    collect(dictionary, (place, members), 0, &mut rows);
    let width = rows.iter().map(|row| 2 * row.depth + row.name.chars().count()).max().unwrap_or(0);
    let legend = if rows.iter().any(|row| row.required) { " (* required)" } else { "" };
    let mut lines = vec![headline + legend];
    lines.extend(rows.into_iter().map(|Row { required, tag, depth, name, what }| {
        let mark = if required { '*' } else { ' ' };
        let tag = tag.map_or_else(String::new, |tag| tag.to_string());
        let name = format!("{:indent$}{name}", "", indent = 2 * depth);
        format!("  {mark} {tag:>5}  {name:<width$}  {what}")
    }));
    lines
}

fn collect(
    dictionary: &Dictionary,
    (place, members): (&Definition, &[Member]),
    depth: usize,
    rows: &mut Vec<Row>,
) {
    for member in members {
        let said = said(dictionary, place, member);
        match *member {
            Member::Field { tag, required } => {
                let Some(field) = dictionary.field(tag) else { continue };
                let (name, what) = (field.name.clone(), kind(dictionary, field) + &said);
                rows.push(Row { required, tag: Some(tag), depth, name, what });
            }
            Member::Component { component, required } => {
                let component = dictionary.component(component);
                let (name, what) = (component.name.clone(), format!("component{said}"));
                let place = Definition::Component(component.name.clone());
                rows.push(Row { required, tag: None, depth, name, what });
                collect(dictionary, (&place, &component.members), depth + 1, rows);
            }
            Member::Group { group, required } => {
                let place = Definition::Group(group);
                let group = dictionary.group(group);
                let name =
                    dictionary.field(group.count_tag).map_or("", |field| field.name.as_str()).to_owned();
                let what = format!("group {}{said}", group.name);
                rows.push(Row { required, tag: Some(group.count_tag), depth, name, what });
                collect(dictionary, (&place, &group.members), depth + 1, rows);
            }
        }
    }
}

/// Returns what else the dictionary says of a member: its constant value, its conditions.
fn said(dictionary: &Dictionary, place: &Definition, member: &Member) -> String {
    let Some(terms) = dictionary.terms(place, member) else { return String::new() };
    let constant = terms.constant.iter().map(|value| format!(", always {value}"));
    let rules = terms.rules.iter().map(|rule| format!(", {} when {}", rule.presence, rule.when));
    constant.chain(rules).collect()
}

/// Returns the type and its details.
fn kind(dictionary: &Dictionary, field: &FieldDef) -> String {
    let codes = dictionary.codes(field.tag).len();
    match field.length_tag {
        Some(length) => format!("{}, length in {length}", field.kind),
        None if codes > 0 && field.kind != DataType::Boolean => format!("{}, {codes} codes", field.kind),
        None => field.kind.to_string(),
    }
}
