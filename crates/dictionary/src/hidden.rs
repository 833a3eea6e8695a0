//! What a dictionary lists but no message can have: a member whose tag comes before it in the same
//! definition, by itself or with a component; and one of a message that is in the header or
//! trailer.

use std::collections::{BTreeMap, HashMap};

use crate::assemble::Definition;
use crate::limits;
use crate::model::{Dictionary, Member};
use crate::read::brief;

/// Returns the members that are hidden, each with the definition that lists it and a reason that
/// names it and what hides it. What is hidden within a component is a matter of that component
/// alone, not of everything that has it.
pub(crate) fn hidden_members(dictionary: &Dictionary) -> Vec<(Definition, String)> {
    let mut found = Vec::new();
    // Members that were looked at: a small file may list large components again and again.
    let mut looked = 0_u64;
    let outer = outer_tags(dictionary);
    for (place, members) in definitions(dictionary) {
        let is_message = matches!(place, Definition::Message(_) | Definition::Scenario(_));
        let mut places: HashMap<u32, usize> = HashMap::with_capacity(members.len());
        for (at, member) in members.iter().enumerate() {
            // By the member that hides some of this one: the first of these tags, and how many.
            let mut hidden: BTreeMap<Hides<'_>, (u32, usize)> = BTreeMap::new();
            for flat in dictionary.expand(std::slice::from_ref(member)) {
                looked += 1;
                let first = *places.entry(flat.tag).or_insert(at);
                let by = match outer.get(&flat.tag).filter(|_| is_message) {
                    Some(section) => Hides::Section(section),
                    None if first < at => Hides::Member(first),
                    None => continue,
                };
                hidden.entry(by).or_insert((flat.tag, 0)).1 += 1;
            }
            for (by, (tag, count)) in hidden {
                let one = named(dictionary, member, tag);
                let other = match by {
                    Hides::Section(section) => format!("that of the {section}"),
                    Hides::Member(first) => format!("{} before it", named(dictionary, &members[first], tag)),
                };
                let more = match count {
                    1 => String::new(),
                    _ => format!(" (and {} more)", count - 1),
                };
                found.push((place, format!("{one} is hidden by {other}{more}")));
            }
            if looked > limits::ALL_MEMBERS {
                found.push((place, "from here on, hidden members are not looked for".to_string()));
                return found;
            }
        }
    }
    found
}

/// What hides a member.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Hides<'n> {
    /// The header or trailer.
    Section(&'n str),
    /// The member with this index in the same definition.
    Member(usize),
}

/// Returns the tags of the header and of the trailer, each with the name of the section.
fn outer_tags(dictionary: &Dictionary) -> HashMap<u32, &'static str> {
    let sections = [("header", &dictionary.header), ("trailer", &dictionary.trailer)];
    let tags = sections
        .into_iter()
        .flat_map(|(name, members)| dictionary.expand(members).map(move |flat| (flat.tag, name)));
    tags.collect()
}

fn definitions(dictionary: &Dictionary) -> Vec<(Definition, &[Member])> {
    let mut all: Vec<(Definition, &[Member])> = Vec::new();
    for (at, one) in dictionary.components.iter().enumerate() {
        all.push((Definition::Component(at), &one.members));
    }
    for (at, one) in dictionary.groups.iter().enumerate() {
        all.push((Definition::Group(at), &one.members));
    }
    for (at, one) in dictionary.messages.iter().enumerate() {
        all.push((Definition::Message(at), &one.members));
    }
    for (at, one) in dictionary.scenarios.iter().enumerate() {
        all.push((Definition::Scenario(at), &one.message.members));
    }
    all.push((Definition::Header, &dictionary.header));
    all.push((Definition::Trailer, &dictionary.trailer));
    all
}

/// Returns the name of what has this tag in a member: `'Symbol' of component 'Instrument'`.
fn named(dictionary: &Dictionary, member: &Member, tag: u32) -> String {
    let name = brief(dictionary.field(tag).map_or("", |field| &field.name));
    match *member {
        Member::Field { .. } => format!("field '{name}'"),
        Member::Group { .. } => format!("group '{name}'"),
        Member::Component { component, .. } => {
            format!("'{name}' of component '{}'", brief(&dictionary.component(component).name))
        }
    }
}
