//! An application version over a transport: FIX.5.0 and later have no header, trailer and session
//! messages of their own.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::assemble::Draft;
use crate::locate::Key;
use crate::model::{
    Code, CodeSet, CodeSetId, ComponentDef, ComponentId, Dictionary, DictionaryVersion, GroupDef, GroupId,
    Member, MessageDef, Origin, licenses,
};
use crate::shipped::fixt11;

/// Why an application version cannot be put over a transport.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransportMismatch {
    /// Name of the application version.
    pub application: String,
    /// Name of the transport.
    pub transport: String,
    /// Everything that does not match.
    pub reasons: Vec<String>,
}

/// Reasons in the text of a mismatch.
const SHOWN: usize = 3;

impl fmt::Display for TransportMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, more) = self.reasons.split_at(self.reasons.len().min(SHOWN));
        write!(f, "{} over {}: {}", self.application, self.transport, first.join("; "))?;
        if more.is_empty() { Ok(()) } else { write!(f, " (and {} more)", more.len()) }
    }
}

impl std::error::Error for TransportMismatch {}

impl TransportMismatch {
    pub(crate) fn without_header(application: &Dictionary, transport: &Dictionary) -> TransportMismatch {
        TransportMismatch {
            application: application.version.name.clone(),
            transport: transport.version.name.clone(),
            reasons: vec!["the transport has no header".to_string()],
        }
    }
}

impl Dictionary {
    /// Returns the dictionary with which whole messages can be read: an application version without
    /// header over the shipped FIXT.1.1, any other as it is.
    ///
    /// # Errors
    /// Returns an error if a name has different tags in the two.
    pub fn whole(self) -> Result<Dictionary, TransportMismatch> {
        let transport = fixt11();
        let is_application = self.header.is_empty()
            && self.version.begin_string == transport.version.begin_string
            && self.version.known != transport.version.known;
        if is_application { self.over(transport) } else { Ok(self) }
    }

    /// Returns this application version with the header, the trailer and the session messages of
    /// `transport`, as one dictionary to validate whole messages with.
    ///
    /// Header, trailer and session messages of this version itself, which FIX.4.4 for example has,
    /// are replaced by the transport's. A tag that both define has the transport's type and the
    /// codes of both, so that MsgType(35) accepts every message of either. The result has this
    /// version's name and the transport's BeginString.
    ///
    /// # Errors
    /// Returns an error if the transport has no header, or a name has different tags in the two.
    ///
    /// ```
    /// use fixbolt_dictionary::{fix50sp2, fixt11};
    /// let dictionary = fix50sp2().over(fixt11()).unwrap();
    /// assert!(dictionary.message(b"A").is_some() && dictionary.message(b"D").is_some());
    /// assert!(dictionary.code(35, b"D").is_some());
    /// assert_eq!(dictionary.version().begin_string, "FIXT.1.1");
    /// ```
    pub fn over(&self, transport: &Dictionary) -> Result<Dictionary, TransportMismatch> {
        let mismatch = |reasons| TransportMismatch {
            application: self.version.name.clone(),
            transport: transport.version.name.clone(),
            reasons,
        };
        if transport.header.is_empty() {
            return Err(TransportMismatch::without_header(self, transport));
        }
        let mut draft = Draft {
            version: DictionaryVersion {
                begin_string: transport.version.begin_string.clone(),
                ..self.version.clone()
            },
            origin: Origin {
                license: licenses([&self.origin.license, &transport.origin.license]),
                ..self.origin.clone()
            },
            fields: self.fields.clone(),
            code_sets: self.code_sets.clone(),
            components: self.components.clone(),
            groups: self.groups.clone(),
            messages: self.messages.clone(),
            header: Vec::new(),
            trailer: Vec::new(),
            scenarios: self.scenarios.clone(),
            terms: self.terms.clone(),
        };
        let stays = |message: &MessageDef| {
            !message.is_admin() && transport.message(message.msg_type.as_bytes()).is_none()
        };
        draft.messages.retain(stays);
        draft.scenarios.retain(|scenario| stays(&scenario.message));
        draft.prune();
        add_fields(&mut draft, transport);
        add_structure(&mut draft, self, transport);
        draft.assemble().map_err(|faults| mismatch(faults.into_iter().map(|fault| fault.reason).collect()))
    }
}

/// Adds the fields of the transport: new ones unchanged, known ones with the transport's type and
/// the codes of both.
fn add_fields(draft: &mut Draft, transport: &Dictionary) {
    let places: HashMap<u32, usize> =
        draft.fields.iter().enumerate().map(|(at, field)| (field.tag, at)).collect();
    let mut names: HashSet<String> = draft.code_sets.iter().map(|set| set.name.clone()).collect();
    let mut by_codes: HashMap<Vec<Code>, CodeSetId> = HashMap::new();
    for (at, set) in draft.code_sets.iter().enumerate() {
        by_codes.entry(set.codes.clone()).or_insert(CodeSetId(at as u32));
    }
    // One code set for each pair of sets that meet: fields that share a set continue to share one.
    let mut merged: HashMap<(Option<CodeSetId>, CodeSetId), CodeSetId> = HashMap::new();
    for field in &transport.fields {
        let known = places.get(&field.tag).copied();
        let own = known.and_then(|at| draft.fields[at].codes);
        let codes = field.codes.map(|theirs| {
            *merged.entry((own, theirs)).or_insert_with(|| {
                let theirs = transport.code_set(theirs);
                let own = own.map_or(&[][..], |own| &draft.code_sets[own.index()].codes);
                let codes = union(own, &theirs.codes);
                if let Some(&known) = by_codes.get(&codes) {
                    return known;
                }
                let name = unused(&theirs.name, &mut names);
                let id = CodeSetId(draft.code_sets.len() as u32);
                by_codes.insert(codes.clone(), id);
                draft.code_sets.push(CodeSet { name, codes });
                id
            })
        });
        let mut field = field.clone();
        field.codes = codes.or(own);
        match known {
            Some(at) => draft.fields[at] = field,
            None => draft.fields.push(field),
        }
    }
}

/// Returns the codes of both, each value once.
fn union(own: &[Code], theirs: &[Code]) -> Vec<Code> {
    let known: HashSet<&str> = own.iter().map(|code| code.value.as_str()).collect();
    let new = theirs.iter().filter(|code| !known.contains(code.value.as_str()));
    own.iter().chain(new).cloned().collect()
}

/// Adds components, groups, messages, header and trailer of the transport. A definition with the
/// same name and members in this version is shared; one that differs gets a name of its own.
fn add_structure(draft: &mut Draft, application: &Dictionary, transport: &Dictionary) {
    let mut names: HashSet<String> = draft
        .components
        .iter()
        .map(|component| component.name.clone())
        .chain(draft.groups.iter().map(|group| group.name.clone()))
        .collect();
    let kept: HashMap<&str, u32> =
        (0..).zip(&draft.groups).map(|(at, own)| (own.name.as_str(), at)).collect();
    let own: HashMap<&str, u32> =
        (0..).zip(&application.groups).map(|(at, own)| (own.name.as_str(), at)).collect();
    let mut equal = HashSet::new();
    let known: Vec<Option<GroupId>> = transport
        .groups
        .iter()
        .zip(transport.group_ids())
        .map(|(group, id)| {
            let at = *kept.get(group.name.as_str())?;
            let own = GroupId(*own.get(group.name.as_str())?);
            are_equal((application, own), (transport, id), &mut equal).then_some(GroupId(at))
        })
        .collect();
    let mut groups = Vec::with_capacity(transport.groups.len());
    let mut new_groups = Vec::new();
    for (group, known) in transport.groups.iter().zip(known) {
        groups.push(known.unwrap_or_else(|| {
            let name = unused(&group.name, &mut names);
            draft.groups.push(GroupDef { name, members: Vec::new(), ..group.clone() });
            new_groups.push(group);
            GroupId(draft.groups.len() as u32 - 1)
        }));
    }
    let first_component = draft.components.len();
    let mut components = Vec::with_capacity(transport.components.len());
    for component in &transport.components {
        let name = unused(&component.name, &mut names);
        components.push(ComponentId(draft.components.len() as u32));
        draft.components.push(ComponentDef { name, members: Vec::new() });
    }
    let moved = |members: &[Member]| {
        let member = |member: &Member| match *member {
            Member::Field { .. } => *member,
            Member::Group { group, required } => Member::Group { group: groups[group.index()], required },
            Member::Component { component, required } => {
                Member::Component { component: components[component.index()], required }
            }
        };
        members.iter().map(member).collect::<Vec<Member>>()
    };
    let first_group = draft.groups.len() - new_groups.len();
    for (own, theirs) in draft.groups[first_group..].iter_mut().zip(new_groups) {
        own.members = moved(&theirs.members);
    }
    for (own, theirs) in draft.components[first_component..].iter_mut().zip(&transport.components) {
        own.members = moved(&theirs.members);
    }
    for message in &transport.messages {
        let mut message = message.clone();
        message.members = moved(&message.members);
        draft.messages.push(message);
    }
    for scenario in &transport.scenarios {
        let mut scenario = scenario.clone();
        scenario.message.members = moved(&scenario.message.members);
        draft.scenarios.push(scenario);
    }
    let new_groups = transport.groups.iter().zip(&groups);
    let new_groups =
        new_groups.map(|(old, new)| (old.name.as_str(), draft.groups[new.index()].name.as_str()));
    let new_groups: HashMap<&str, &str> = new_groups.collect();
    let new_components = transport.components.iter().zip(&components);
    let new_components =
        new_components.map(|(old, new)| (old.name.as_str(), draft.components[new.index()].name.as_str()));
    let new_components: HashMap<&str, &str> = new_components.collect();
    let named = |key: &Key| match key {
        Key::Group(name) => Key::Group(renamed(name, &new_groups)),
        Key::Component(name) => Key::Component(renamed(name, &new_components)),
        other => other.clone(),
    };
    let terms = transport.terms.iter();
    draft.terms.extend(terms.map(|((place, member), terms)| ((named(place), named(member)), terms.clone())));
    draft.header = moved(&transport.header);
    draft.trailer = moved(&transport.trailer);
    draft.prune();
}

/// Returns whether two groups have the same members with the same requirements, including those of
/// groups inside them. `equal` holds the pairs that were found to be.
fn are_equal(
    own: (&Dictionary, GroupId),
    theirs: (&Dictionary, GroupId),
    equal: &mut HashSet<(GroupId, GroupId)>,
) -> bool {
    let mut open = vec![(own.1, theirs.1)];
    let mut seen = HashSet::new();
    while let Some(pair) = open.pop() {
        if equal.contains(&pair) || !seen.insert(pair) {
            continue;
        }
        let (left, right) = (own.0.group(pair.0), theirs.0.group(pair.1));
        let mut left_members = own.0.expand(&left.members);
        let mut right_members = theirs.0.expand(&right.members);
        if left.count_tag != right.count_tag {
            return false;
        }
        loop {
            match (left_members.next(), right_members.next()) {
                (None, None) => break,
                (Some(one), Some(other)) if (one.tag, one.required) == (other.tag, other.required) => {
                    match (one.group, other.group) {
                        (None, None) => {}
                        (Some(one), Some(other)) => open.push((one, other)),
                        _ => return false,
                    }
                }
                _ => return false,
            }
        }
    }
    equal.extend(seen);
    true
}

/// Returns the new name of what had this name.
fn renamed(name: &str, names: &HashMap<&str, &str>) -> String {
    names.get(name).map_or(name, |name| *name).to_string()
}

/// Returns `name`, or `name` with a number if it is taken.
fn unused(name: &str, names: &mut HashSet<String>) -> String {
    let mut unused = name.to_string();
    let mut number = 1;
    while !names.insert(unused.clone()) {
        number += 1;
        unused = format!("{name}{number}");
    }
    unused
}
