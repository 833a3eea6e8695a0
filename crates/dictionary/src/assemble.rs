//! Turns what a reader collected into a [`Dictionary`], with the checks that all sources share.
//!
//! Duplicate tags, names and message types, empty groups, definitions that contain themselves or
//! grow beyond the limits, and groups that contain their own count field are refused. Readers
//! resolve names; this module only sees ids.

use std::collections::{HashMap, HashSet};

use fixbolt_codec::{DataFields, Version};

use crate::data_type::DataType;
use crate::limits;
use crate::model::{
    CodeSet, ComponentDef, Dictionary, DictionaryVersion, FieldDef, GroupDef, Member, MessageDef, Origin,
    compare_without_case, sorted,
};
use crate::read::brief;
use crate::terms::{AllTerms, Scenario};

/// Everything a reader collects.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) version: DictionaryVersion,
    pub(crate) origin: Origin,
    pub(crate) fields: Vec<FieldDef>,
    pub(crate) code_sets: Vec<CodeSet>,
    pub(crate) components: Vec<ComponentDef>,
    pub(crate) groups: Vec<GroupDef>,
    pub(crate) messages: Vec<MessageDef>,
    pub(crate) header: Vec<Member>,
    pub(crate) trailer: Vec<Member>,
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) terms: AllTerms,
}

/// The definition with a fault, so that the reader can find its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definition {
    Field(usize),
    CodeSet(usize),
    Component(usize),
    Group(usize),
    Message(usize),
    Scenario(usize),
    Header,
    Trailer,
}

/// What is wrong with a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DraftError {
    pub(crate) place: Definition,
    pub(crate) reason: String,
}

impl Draft {
    /// Adds the missing length field to every data field: from the standard's pairs, or by name
    /// (`XLen`, `XLength`). A one-byte type with longer codes becomes a string. Returns what was
    /// changed, for warnings.
    pub(crate) fn complete(&mut self) -> Vec<DraftError> {
        let mut bent = Vec::new();
        let tags: HashMap<String, u32> =
            self.fields.iter().map(|field| (field.name.to_ascii_lowercase(), field.tag)).collect();
        let defined: HashSet<u32> = tags.values().copied().collect();
        for (at, field) in self.fields.iter_mut().enumerate() {
            if field.kind.is_data() && field.length_tag.is_none() {
                let by_name = ["len", "length"]
                    .iter()
                    .find_map(|end| tags.get(&(field.name.to_ascii_lowercase() + end)));
                field.length_tag = DataFields::STANDARD
                    .length_tag(field.tag)
                    .filter(|tag| defined.contains(tag))
                    .or(by_name.copied());
                if field.length_tag.is_none() {
                    let reason = "is a data field without a length field".to_string();
                    bent.push(DraftError { place: Definition::Field(at), reason });
                }
            }
            let codes = field.codes.map(|id| &self.code_sets[id.index()].codes);
            if field.kind == DataType::Char
                && codes.is_some_and(|codes| codes.iter().any(|code| code.value.len() > 1))
            {
                field.kind = DataType::String;
                let reason = "is of type char but has codes of several bytes: read as String".to_string();
                bent.push(DraftError { place: Definition::Field(at), reason });
            }
        }
        bent
    }

    /// Returns whether the header is missing; application versions over FIXT.1.1 have none.
    pub(crate) fn lacks_header(&self) -> bool {
        let over_fixt = self.version.begin_string == Version::Fixt11.name();
        self.header.is_empty() && (!over_fixt || self.version.known == Some(Version::Fixt11))
    }

    /// Returns whether references lead to definitions whose sizes are within the limits.
    pub(crate) fn has_sound_references(&self) -> bool {
        let mut faults = Vec::new();
        self.check_references(&mut faults);
        faults.is_empty()
    }

    /// Returns the dictionary, or all faults.
    pub(crate) fn assemble(mut self) -> Result<Dictionary, Vec<DraftError>> {
        let mut faults = Vec::new();
        self.check_unique(&mut faults);
        self.check_references(&mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        self.prune_terms();
        // Tags, names and types are unique.
        let by_tag =
            sorted(self.fields.len(), &|left, right| self.fields[left].tag.cmp(&self.fields[right].tag));
        let mut fields: Vec<Option<FieldDef>> = self.fields.into_iter().map(Some).collect();
        self.fields = by_tag.into_iter().filter_map(|at| fields[at].take()).collect();
        let fields_by_name = sorted(self.fields.len(), &|left, right| {
            compare_without_case(&self.fields[left].name, &self.fields[right].name)
        });
        let messages_by_type = sorted(self.messages.len(), &|left, right| {
            self.messages[left].msg_type.as_bytes().cmp(self.messages[right].msg_type.as_bytes())
        });
        let index = |order: Vec<usize>| order.into_iter().map(|at| at as u32).collect();
        Ok(Dictionary {
            version: self.version,
            origin: self.origin,
            fields: self.fields,
            code_sets: self.code_sets,
            components: self.components,
            groups: self.groups,
            messages: self.messages,
            header: self.header,
            trailer: self.trailer,
            scenarios: self.scenarios,
            terms: self.terms,
            fields_by_name: index(fields_by_name),
            messages_by_type: index(messages_by_type),
        })
    }

    fn check_unique(&self, faults: &mut Vec<DraftError>) {
        if self.fields.len() > limits::FIELDS {
            let reason = format!("there are more than {} fields", limits::FIELDS);
            faults.push(DraftError { place: Definition::Field(limits::FIELDS), reason });
        }
        let own = self.fields.iter().filter_map(|field| field.length_tag);
        let standard = DataFields::STANDARD.pairs();
        let lengths: HashSet<u32> = own.chain(standard.iter().map(|pair| pair.0)).collect();
        if lengths.len() > DataFields::CAPACITY {
            let most = DataFields::CAPACITY - standard.len();
            let reason = format!("there are more than {most} data fields beside those of the standard");
            let last = self.fields.iter().rposition(|field| field.length_tag.is_some());
            faults.push(DraftError { place: Definition::Field(last.unwrap_or(0)), reason });
        }
        let mut tags = HashMap::new();
        let mut names = HashMap::new();
        for (at, field) in self.fields.iter().enumerate() {
            let place = Definition::Field(at);
            if field.tag == 0 || field.tag > i32::MAX as u32 {
                faults.push(DraftError {
                    place,
                    reason: format!("tag {} is not in 1 to 2147483647", field.tag),
                });
            }
            if let Some(first) = tags.insert(field.tag, at) {
                faults.push(DraftError {
                    place,
                    reason: format!(
                        "tag {} already belongs to '{}'",
                        field.tag,
                        brief(&self.fields[first].name)
                    ),
                });
            }
            if let Some(first) = names.insert(field.name.to_ascii_lowercase(), field.tag) {
                let reason = format!("the name '{}' already belongs to field {first}", brief(&field.name));
                faults.push(DraftError { place, reason });
            }
        }
        let mut unique = |names: &mut dyn Iterator<Item = &String>, place: fn(usize) -> Definition| {
            let mut seen = HashSet::new();
            for (at, name) in names.enumerate().filter(|(_, name)| !seen.insert(name.as_str())) {
                let reason = format!("the name '{}' is already defined", brief(name));
                faults.push(DraftError { place: place(at), reason });
            }
        };
        unique(&mut self.code_sets.iter().map(|set| &set.name), Definition::CodeSet);
        unique(&mut self.components.iter().map(|component| &component.name), Definition::Component);
        unique(&mut self.groups.iter().map(|group| &group.name), Definition::Group);
        let mut types = HashSet::new();
        for (at, message) in self.messages.iter().enumerate() {
            if message.msg_type.is_empty() {
                faults.push(DraftError {
                    place: Definition::Message(at),
                    reason: "the message type is empty".to_string(),
                });
            }
            if !types.insert(message.msg_type.as_str()) {
                let reason = format!("message type '{}' is already defined", brief(&message.msg_type));
                faults.push(DraftError { place: Definition::Message(at), reason });
            }
        }
        let mut types = HashSet::new();
        for (at, Scenario { name, message }) in self.scenarios.iter().enumerate() {
            if !types.insert((name.as_str(), message.msg_type.as_str())) {
                let reason = format!(
                    "message type '{}' is already defined in '{}'",
                    brief(&message.msg_type),
                    brief(name)
                );
                faults.push(DraftError { place: Definition::Scenario(at), reason });
            }
        }
    }

    /// Definitions are nodes and members are edges: no node may reach itself, and every group needs
    /// a first field.
    fn check_references(&self, faults: &mut Vec<DraftError>) {
        self.check_tags(faults);
        for (at, group) in self.groups.iter().enumerate() {
            if group.members.is_empty() {
                faults.push(DraftError {
                    place: Definition::Group(at),
                    reason: "the group has no members".to_string(),
                });
            } else if let Some(Member::Component { component, .. }) = group.members.first()
                && self.components[component.index()].members.is_empty()
            {
                let reason = "the group begins with an empty component".to_string();
                faults.push(DraftError { place: Definition::Group(at), reason });
            }
        }
        for (at, component) in self.components.iter().enumerate() {
            if let Some(Member::Component { component: inner, .. }) = component.members.first()
                && self.components[inner.index()].members.is_empty()
            {
                let reason = "the component begins with an empty component".to_string();
                faults.push(DraftError { place: Definition::Component(at), reason });
            }
        }
        let nodes = self.components.len() + self.groups.len();
        let mut walk = Walk { state: vec![Visit::New; nodes], sizes: vec![0; nodes] };
        for node in 0..nodes {
            self.visit(node, &mut walk, faults);
        }
        self.check_sizes(&walk.sizes, faults);
        if faults.is_empty() {
            self.check_count_tags(faults);
        }
    }

    /// Checks how large messages, header, trailer and all definitions together become when
    /// components and groups are replaced by their members.
    fn check_sizes(&self, sizes: &[u64], faults: &mut Vec<DraftError>) {
        let scopes = (self.messages.len() + self.scenarios.len() + self.groups.len()) as u64;
        if scopes.saturating_mul(self.fields.len() as u64) > limits::CELLS {
            let reason = format!(
                "{scopes} messages and groups and {} fields are too many: their product is limited to {}",
                self.fields.len(),
                limits::CELLS
            );
            faults.push(DraftError { place: Definition::Header, reason });
        }
        let messages = self.messages.iter().enumerate();
        let lists = messages.map(|(at, message)| (Definition::Message(at), message.members.as_slice()));
        let outer = [(Definition::Header, &*self.header), (Definition::Trailer, &*self.trailer)];
        let mut all: u64 =
            sizes[self.components.len()..].iter().fold(0, |all, size| all.saturating_add(*size));
        let scenarios = self.scenarios.iter().enumerate();
        let scenarios = scenarios.map(|(at, one)| (Definition::Scenario(at), one.message.members.as_slice()));
        for (place, members) in lists.chain(scenarios).chain(outer) {
            let size = self.size_of(members, sizes);
            if size > limits::MEMBERS {
                faults.push(DraftError { place, reason: too_large(size) });
            }
            all = all.saturating_add(size);
            if all > limits::ALL_MEMBERS {
                let reason = format!(
                    "messages and groups have more than {} members together, components and groups replaced",
                    limits::ALL_MEMBERS
                );
                faults.push(DraftError { place, reason });
                return;
            }
        }
    }

    /// Returns the number of members after components and groups are replaced, from the sizes of
    /// the definitions.
    fn size_of(&self, members: &[Member], sizes: &[u64]) -> u64 {
        members.iter().fold(0, |sum, member| {
            sum.saturating_add(match *member {
                Member::Field { .. } => 1,
                Member::Component { component, .. } => sizes[component.index()],
                Member::Group { group, .. } => sizes[self.components.len() + group.index()].saturating_add(1),
            })
        })
    }

    /// Checks that no group contains the field that counts it: where such a field stood in a
    /// message, it could not be said which group it counts. The sizes were checked before.
    fn check_count_tags(&self, faults: &mut Vec<DraftError>) {
        for (at, group) in self.groups.iter().enumerate() {
            let mut open: Vec<&[Member]> = vec![&group.members];
            let mut seen = HashSet::new();
            let inside = 'found: {
                while let Some(members) = open.pop() {
                    for member in members {
                        let node = match *member {
                            Member::Field { tag, .. } if tag == group.count_tag => break 'found true,
                            Member::Field { .. } => continue,
                            Member::Component { component, .. } => component.index(),
                            Member::Group { group: inner, .. } => {
                                if self.groups[inner.index()].count_tag == group.count_tag {
                                    break 'found true;
                                }
                                self.components.len() + inner.index()
                            }
                        };
                        if seen.insert(node as u32) {
                            open.push(self.definition(node));
                        }
                    }
                }
                false
            };
            if inside && group.count_tag != 0 {
                let reason = format!("the group contains the field that counts it, {}", group.count_tag);
                faults.push(DraftError { place: Definition::Group(at), reason });
            }
        }
    }

    /// Checks that every tag in use is that of a field. The XML readers have checked their members
    /// before; the lines of a table come here unchecked.
    fn check_tags(&self, faults: &mut Vec<DraftError>) {
        let defined: HashSet<u32> = self.fields.iter().map(|field| field.tag).collect();
        let mut check = |place: Definition, tag: u32| {
            // 0 stands for a count field that the reader has reported already.
            if tag != 0 && !defined.contains(&tag) {
                faults.push(DraftError { place, reason: format!("tag {tag} is not a field") });
            }
        };
        for (at, field) in self.fields.iter().enumerate() {
            field.length_tag.into_iter().for_each(|tag| check(Definition::Field(at), tag));
        }
        let tags = |members: &[Member]| {
            let tag = |member: &Member| match *member {
                Member::Field { tag, .. } => Some(tag),
                Member::Group { .. } | Member::Component { .. } => None,
            };
            members.iter().filter_map(tag).collect::<Vec<u32>>()
        };
        tags(&self.header).into_iter().for_each(|tag| check(Definition::Header, tag));
        tags(&self.trailer).into_iter().for_each(|tag| check(Definition::Trailer, tag));
        for (at, component) in self.components.iter().enumerate() {
            tags(&component.members).into_iter().for_each(|tag| check(Definition::Component(at), tag));
        }
        for (at, group) in self.groups.iter().enumerate() {
            check(Definition::Group(at), group.count_tag);
            tags(&group.members).into_iter().for_each(|tag| check(Definition::Group(at), tag));
        }
        for (at, message) in self.messages.iter().enumerate() {
            tags(&message.members).into_iter().for_each(|tag| check(Definition::Message(at), tag));
        }
        for (at, scenario) in self.scenarios.iter().enumerate() {
            tags(&scenario.message.members).into_iter().for_each(|tag| check(Definition::Scenario(at), tag));
        }
    }

    /// Depth-first over the definitions with an explicit stack, so that a long chain in a file
    /// cannot overflow ours. The depth of finished nodes is limited, so that later walks over the
    /// model may be recursive.
    fn visit(&self, start: usize, walk: &mut Walk, faults: &mut Vec<DraftError>) {
        let Walk { state, sizes } = walk;
        if state[start] != Visit::New {
            return;
        }
        state[start] = Visit::Open;
        let mut stack = vec![(start, 0usize, 0usize)];
        while let Some((node, next, deepest)) = stack.last_mut() {
            let (node, child) = (*node, self.definition(*node).get(*next));
            let Some(child) = child else {
                let depth = *deepest + 1;
                if depth == limits::DEPTH + 1 {
                    let reason = format!("definitions are nested deeper than {}", limits::DEPTH);
                    faults.push(DraftError { place: self.place(node), reason });
                }
                let size = self.size_of(self.definition(node), sizes);
                if size > limits::MEMBERS {
                    faults.push(DraftError { place: self.place(node), reason: too_large(size) });
                } else {
                    // One that is too large is reported once, not with everything that uses it.
                    sizes[node] = size;
                }
                state[node] = Visit::Done(depth);
                stack.pop();
                if let Some((_, _, deepest)) = stack.last_mut() {
                    *deepest = depth.max(*deepest);
                }
                continue;
            };
            *next += 1;
            let child = match *child {
                Member::Field { .. } => continue,
                Member::Component { component, .. } => component.index(),
                Member::Group { group, .. } => self.components.len() + group.index(),
            };
            match state[child] {
                Visit::New => {
                    state[child] = Visit::Open;
                    stack.push((child, 0, 0));
                }
                Visit::Open => {
                    let reason = "the definition contains itself".to_string();
                    faults.push(DraftError { place: self.place(child), reason });
                }
                Visit::Done(depth) => *deepest = depth.max(*deepest),
            }
        }
    }

    /// Returns the members of the definition with this node number: components first, then groups.
    fn definition(&self, node: usize) -> &[Member] {
        match node.checked_sub(self.components.len()) {
            None => &self.components[node].members,
            Some(group) => &self.groups[group].members,
        }
    }

    fn place(&self, node: usize) -> Definition {
        match node.checked_sub(self.components.len()) {
            None => Definition::Component(node),
            Some(group) => Definition::Group(group),
        }
    }
}

fn too_large(size: u64) -> String {
    format!(
        "it has {size} members when its components and groups are replaced by theirs; the limit is {}",
        limits::MEMBERS
    )
}

/// The warning about a dictionary without header.
pub(crate) const NO_HEADER: &str = "there is no header: no message of this dictionary can be valid; \
    add one, or put the dictionary over a transport";

/// The state of the walk over components and groups, by node.
struct Walk {
    state: Vec<Visit>,
    /// Members after components and groups are replaced; 0 while that is not known.
    sizes: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    /// Finished, with the number of levels below it.
    Done(usize),
}
