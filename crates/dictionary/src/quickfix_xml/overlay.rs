//! A dialect as what it adds to a dictionary or changes in it, in the same XML as a whole
//! dictionary.
//!
//! Definitions are identified as on the wire or in the dictionary: fields by number, messages by
//! msgtype, components and groups by name. New ones are added. An existing one gets the members and
//! values of the overlay after its own; `replace='Y'` replaces it by the definition of the overlay.
//! A new member is after the others, or where `before='Name'` or `after='Name'` puts it. A
//! contradiction is an error with its line: nothing is overwritten by accident.

use std::collections::{HashMap, HashSet};

use fixbolt_codec::Version;
use roxmltree::Node;

use super::{Named, Reader};
use crate::assemble::Draft;
use crate::data_type::DataType;
use crate::limits;
use crate::loaded::Options;
use crate::model::{
    Code, CodeSet, CodeSetId, ComponentId, Dictionary, GroupDef, GroupId, Member, MessageDef, Origin,
    licenses,
};
use crate::read::{Faults, Findings, ReadError};
use crate::shipped;
use crate::xml;

/// Returns what a file extends, if it only extends something.
pub(super) fn base<'b>(
    root: Node<'_, '_>,
    options: &Options<'b>,
    found: &Findings,
) -> Result<Option<&'b Dictionary>, Faults> {
    if options.base.is_some() {
        return Ok(options.base);
    }
    let Some(version) = root.attribute("extends") else { return Ok(None) };
    match Version::ALL.into_iter().find(|known| known.name() == version) {
        Some(known) => Ok(Some(shipped::shipped(known))),
        None => {
            let bare = |name: &str| name.replace('.', "").to_ascii_uppercase();
            let meant = Version::ALL.into_iter().find(|known| bare(known.name()) == bare(version));
            let reason = match meant {
                Some(meant) => format!("extends='{version}': write {}", meant.name()),
                None => format!("extends='{version}': no version of this name is shipped"),
            };
            let line = found.line(xml::line(root));
            Err(Faults::one(ReadError { line, element: xml::label(root), reason }))
        }
    }
}

impl<'a, 'd> Reader<'a, 'd> {
    /// Creates a reader that knows everything a dictionary defines.
    pub(super) fn over(base: &'a Dictionary, root: Node<'a, 'd>, found: Findings) -> Self {
        let mut reader = Reader {
            found,
            base: Some(base),
            fields: base.fields.clone(),
            code_sets: base.code_sets.clone(),
            components: base.components.clone(),
            groups: base.groups.clone(),
            field_nodes: vec![root; base.fields.len()],
            code_set_nodes: vec![root; base.code_sets.len()],
            component_nodes: vec![root; base.components.len()],
            group_nodes: vec![root; base.groups.len()],
            message_nodes: vec![root; base.messages.len()],
            ..Reader::default()
        };
        for (at, field) in base.fields.iter().enumerate() {
            reader.field_places.insert(field.tag, at);
        }
        for (id, set) in base.code_sets.iter().enumerate() {
            reader.code_set_names.insert(set.name.clone());
            let id = CodeSetId(id as u32);
            for (at, code) in set.codes.iter().enumerate() {
                reader.code_places.insert((id, code.value.clone()), at);
            }
        }
        reader.tags.extend(base.fields.iter().map(|field| (field.name.as_str(), field.tag)));
        for (group, id) in base.groups.iter().zip(base.group_ids()) {
            reader.named.insert(&group.name, Named::Group(id));
            reader.group_names.insert(group.name.clone());
        }
        for (component, id) in base.components.iter().zip(base.component_ids()) {
            reader.named.insert(&component.name, Named::Component(id));
        }
        reader
    }

    pub(super) fn overlay(&mut self, base: &Dictionary, root: Node<'a, 'd>, own: Origin) -> Option<Draft> {
        let version = base.version.clone();
        if root.tag_name().name() != "fix" {
            self.found.error(xml::line(root), xml::label(root), "the root element is not <fix>");
            return None;
        }
        if let Some(other) = root.attribute("extends").filter(|name| *name != version.name) {
            let reason = format!("it extends {other}, not {}", version.name);
            self.found.error(xml::line(root), xml::label(root), reason);
            return None;
        }
        // A section may be split; its parts are combined.
        let section = |name| xml::children(root, name).flat_map(xml::elements);
        for node in xml::elements(root) {
            let known = ["header", "messages", "trailer", "components", "fields"];
            if !known.contains(&node.tag_name().name()) {
                self.found.warn(xml::line(node), xml::label(node), "unknown section, not read");
            }
        }
        let before_42 = version.known.is_some_and(|version| version < Version::Fix42);
        for node in section("fields") {
            self.overlay_field(node, before_42);
        }
        let components = base.components.iter().map(|known| known.name.as_str());
        let known: HashSet<&str> =
            components.chain(base.groups.iter().map(|known| known.name.as_str())).collect();
        let is_known = |node: &Node<'a, 'd>| known.contains(node.attribute("name").unwrap_or_default());
        self.components(section("components").filter(|node| !is_known(node)));
        for node in section("components").filter(is_known) {
            self.overlay_component(node);
        }
        let mut messages = Messages::of(base);
        for node in section("messages") {
            self.overlay_message(node, &mut messages);
        }
        let messages = messages.list;
        let (mut header, mut trailer) = (base.header.clone(), base.trailer.clone());
        for (name, place, members) in
            [("header", "Header", &mut header), ("trailer", "Trailer", &mut trailer)]
        {
            for node in xml::children(root, name) {
                if version.begin_string == Version::Fixt11.name() && base.header.is_empty() {
                    let reason = format!("{} has none: it is that of FIXT.1.1", version.name);
                    self.found.error(xml::line(node), xml::label(node), reason);
                } else {
                    self.merge(members, node, place);
                }
            }
        }
        let origin = Origin {
            name: format!("{}, extended", base.origin.name),
            sha256: own.sha256,
            license: licenses([&base.origin.license, &own.license]),
        };
        Some(self.draft(version, origin, messages, [header, trailer]))
    }

    fn overlay_field(&mut self, node: Node<'a, 'd>, before_42: bool) {
        let tag = node.attribute("number").and_then(|number| number.parse::<u32>().ok());
        let Some(&at) = tag.and_then(|tag| self.field_places.get(&tag)) else {
            let known = self.code_sets.len();
            self.field(node, before_42);
            self.code_set_names.extend(self.code_sets[known..].iter().map(|set| set.name.clone()));
            return;
        };
        let Some(name) = xml::required(node, "name", &mut self.found) else { return };
        self.field_nodes[at] = node;
        if self.replaces(node) {
            let before = self.fields.len();
            self.tags.remove(self.base_name(at));
            self.field(node, before_42);
            if self.fields.len() > before
                && let Some(mut field) = self.fields.pop()
            {
                self.field_nodes.pop();
                if let Some(codes) = field.codes {
                    self.name_code_set(codes, &format!("{name}{}CodeSet", field.tag));
                }
                field.length_tag = self.fields[at].length_tag.filter(|_| field.kind.is_data());
                self.fields[at] = field;
            }
            return;
        }
        let version = self.version_name();
        let known = &self.fields[at];
        let same_name = self.base.and_then(|base| base.field_by_name(name)).map(|field| field.tag);
        if !known.name.eq_ignore_ascii_case(name) && same_name != tag {
            let reason = format!("field {} is '{}' in {version}", known.tag, known.name);
            return self.found.error(xml::line(node), xml::label(node), reason);
        }
        if let Some(other) =
            node.attribute("type").filter(|name| DataType::from_name(name) != Some(known.kind))
        {
            let reason =
                format!("its type is {} in {version}, not {other}; replace='Y' changes it", known.kind);
            return self.found.error(xml::line(node), xml::label(node), reason);
        }
        let codes = self.codes(node);
        if node.attribute("allowOtherValues").or(node.attribute("unionDataType")).is_some() {
            self.fields[at].union = self.union_of(node);
        }
        if codes.is_empty() {
            return;
        }
        let set = match self.fields[at].codes {
            Some(set) => set,
            None => {
                let set = CodeSetId(self.code_sets.len() as u32);
                let name = format!("{}CodeSet", self.fields[at].name);
                self.code_set_names.insert(name.clone());
                self.code_sets.push(CodeSet { name, codes: Vec::new() });
                self.code_set_nodes.push(node);
                self.fields[at].codes = Some(set);
                set
            }
        };
        for code in codes {
            self.add_code(set, code, node);
        }
    }

    /// Adds a code; one that exists under another name is an error.
    fn add_code(&mut self, set: CodeSetId, code: Code, node: Node<'a, 'd>) {
        let codes = &mut self.code_sets[set.index()].codes;
        let at = *self.code_places.entry((set, code.value.clone())).or_insert(codes.len());
        match codes.get(at) {
            None => codes.push(code),
            Some(known) if crate::names::same_code_name(&known.name, &code.name) => {}
            Some(known) => {
                let reason = format!("value '{}' is already called '{}'", code.value, known.name);
                self.found.error(xml::line(node), xml::label(node), reason);
            }
        }
    }

    /// Gives the newest code set another name if its own is taken.
    fn name_code_set(&mut self, set: CodeSetId, other: &str) {
        let newest = &mut self.code_sets[set.index()];
        if !self.code_set_names.insert(newest.name.clone()) {
            newest.name = other.to_string();
        }
    }

    fn overlay_component(&mut self, node: Node<'a, 'd>) {
        let Some(name) = xml::required(node, "name", &mut self.found) else { return };
        match self.named.get(name) {
            Some(&Named::Component(id)) => {
                self.component_nodes[id.index()] = node;
                let mut members = std::mem::take(&mut self.components[id.index()].members);
                self.take_or_merge(&mut members, node, name);
                self.components[id.index()].members = members;
            }
            Some(&Named::Group(id)) => {
                let mut children = xml::elements(node);
                match (children.next(), children.next()) {
                    (Some(group), None) if group.tag_name().name() == "group" => {
                        let replace = self.replaces(node);
                        self.overlay_group(id, group, replace);
                    }
                    _ => {
                        let reason = "it is a group: its one child is the <group> with what is added";
                        self.found.error(xml::line(node), xml::label(node), reason);
                    }
                }
            }
            None => {}
        }
    }

    fn overlay_group(&mut self, id: GroupId, node: Node<'a, 'd>, replace: bool) {
        let Some(count_tag) = self.tag_of(node) else { return };
        let known = self.groups[id.index()].count_tag;
        if count_tag != known {
            let reason = format!("group {} is counted by field {known}", self.groups[id.index()].name);
            return self.found.error(xml::line(node), xml::place(node), reason);
        }
        self.group_nodes[id.index()] = node;
        let name = self.groups[id.index()].name.clone();
        let mut members = std::mem::take(&mut self.groups[id.index()].members);
        if replace || self.replaces(node) {
            members = self.members(node, 1);
        } else {
            self.merge(&mut members, node, &name);
        }
        self.groups[id.index()].members = members;
    }

    fn overlay_message(&mut self, node: Node<'a, 'd>, messages: &mut Messages) {
        let name = xml::required(node, "name", &mut self.found);
        let msg_type = xml::required(node, "msgtype", &mut self.found);
        let (Some(name), Some(msg_type)) = (name, msg_type) else { return };
        let version = self.version_name();
        let by_name = messages.by_name.get(&name.to_ascii_lowercase()).map(|at| &messages.list[*at]);
        if let Some(other) = by_name.filter(|known| known.msg_type != msg_type) {
            let reason = format!("the name belongs to message type '{}'", other.msg_type);
            return self.found.error(xml::line(node), xml::label(node), reason);
        }
        let Some(&at) = messages.by_type.get(msg_type) else {
            messages.extend(self.message(node));
            // MsgType (35) has codes, too.
            let codes = self.field_places.get(&35).and_then(|at| self.fields[*at].codes);
            if let Some(set) = codes {
                self.add_code(set, Code { value: msg_type.to_string(), name: name.to_string() }, node);
            }
            return;
        };
        let same_name = self.base.and_then(|base| base.message_by_name(name));
        if !messages.list[at].name.eq_ignore_ascii_case(name)
            && same_name.is_none_or(|m| m.msg_type != msg_type)
        {
            let reason = format!("message type '{msg_type}' is '{}' in {version}", messages.list[at].name);
            return self.found.error(xml::line(node), xml::label(node), reason);
        }
        self.message_nodes[at] = node;
        let name = messages.list[at].name.clone();
        self.take_or_merge(&mut messages.list[at].members, node, &name);
    }

    fn take_or_merge(&mut self, members: &mut Vec<Member>, node: Node<'a, 'd>, place: &str) {
        if self.replaces(node) {
            *members = self.members(node, 0);
        } else {
            self.merge(members, node, place);
        }
    }

    /// Adds the members that `scope` lists to `members` of the definition `place`.
    fn merge(&mut self, members: &mut Vec<Member>, scope: Node<'a, 'd>, place: &str) {
        if !self.may_change(members.len(), scope) {
            return;
        }
        // An existing group is changed here alone: it becomes a group of its own.
        let mut counted: HashMap<u32, usize> = HashMap::new();
        for (at, member) in members.iter().enumerate() {
            self.count_tag(member).into_iter().for_each(|tag| {
                counted.entry(tag).or_insert(at);
            });
        }
        for node in xml::elements(scope).filter(|node| node.tag_name().name() == "group") {
            let tag = node.attribute("name").and_then(|name| self.tag(name));
            let Some(&at) = tag.and_then(|tag| counted.get(&tag)) else { continue };
            let Member::Group { group, required } = members[at] else { continue };
            let required =
                if node.attribute("required").is_some() { self.is_required(node) } else { required };
            if !self.may_change(self.groups[group.index()].members.len(), node) {
                return;
            }
            if node.attribute("before").or(node.attribute("after")).is_some() {
                let reason = "it is there already: only a new member has before or after";
                self.found.error(xml::line(node), xml::place(node), reason);
            }
            let name = self.free_group_name(&format!("{place}{}", self.groups[group.index()].name));
            let own = GroupId(self.groups.len() as u32);
            self.groups.push(GroupDef { name, ..self.groups[group.index()].clone() });
            self.group_nodes.push(node);
            self.overlay_group(own, node, false);
            members[at] = Member::Group { group: own, required };
        }
        let there: HashSet<u32> = members.iter().filter_map(|member| self.count_tag(member)).collect();
        let mut places: HashMap<Listed, usize> = HashMap::new();
        for (at, member) in members.iter().enumerate() {
            places.entry(Listed::of(member)).or_insert(at);
        }
        let within = self.tags_of_components(members);
        if !self.may_change(within.len(), scope) {
            return;
        }
        for (node, added) in self.members_by_node(scope, &there) {
            let place = self.place_of(node, &places, members);
            if let Some(&at) = places.get(&Listed::of(&added)) {
                if place.is_some() {
                    let reason = "it is there already: only a new member has before or after";
                    self.found.error(xml::line(node), xml::place(node), reason);
                }
                // If it is omitted it says nothing.
                if node.attribute("required").is_some() {
                    members[at] = added;
                }
                continue;
            }
            let tag = match added {
                Member::Field { tag, .. } => Some(tag),
                _ => self.count_tag(&added),
            };
            if let Some(component) = tag.and_then(|tag| within.get(&tag)) {
                let name = &self.components[component.index()].name;
                let reason = format!("it comes with component '{name}' already: change it there");
                self.found.error(xml::line(node), xml::place(node), reason);
                continue;
            }
            let Some(at) = place else {
                places.insert(Listed::of(&added), members.len());
                members.push(added);
                continue;
            };
            places.values_mut().filter(|known| **known >= at).for_each(|known| *known += 1);
            places.insert(Listed::of(&added), at);
            members.insert(at, added);
        }
    }

    /// Returns where `before` or `after` puts a new member.
    fn place_of(
        &mut self,
        node: Node<'a, 'd>,
        places: &HashMap<Listed, usize>,
        members: &[Member],
    ) -> Option<usize> {
        let (name, after) = match (node.attribute("before"), node.attribute("after")) {
            (None, None) => return None,
            (Some(name), None) => (name, 0),
            (None, Some(name)) => (name, 1),
            (Some(_), Some(_)) => {
                let reason = "attributes 'before' and 'after' exclude each other";
                self.found.error(xml::line(node), xml::place(node), reason);
                return None;
            }
        };
        if !self.may_change(members.len(), node) {
            return None;
        }
        let listed = match self.named.get(name) {
            Some(Named::Component(id)) => places.get(&Listed::Component(*id)),
            Some(Named::Group(id)) => places.get(&Listed::Group(*id)),
            None => None,
        };
        let tag = self.tag(name);
        let by_tag = || {
            let tag = tag?;
            let counts = || members.iter().position(|member| self.count_tag(member) == Some(tag));
            places.get(&Listed::Field(tag)).copied().or_else(counts)
        };
        let at = listed.copied().or_else(by_tag);
        if at.is_none() {
            let reason = format!("'{name}' is not a member here, so nothing can be put before or after it");
            self.found.error(xml::line(node), xml::place(node), reason);
        }
        at.map(|at| at + after)
    }

    /// Returns the members of `scope` with their elements, without groups counted by a tag of
    /// `without`.
    fn members_by_node(
        &mut self,
        scope: Node<'a, 'd>,
        without: &HashSet<u32>,
    ) -> Vec<(Node<'a, 'd>, Member)> {
        let mut members = Vec::new();
        for node in xml::elements(scope) {
            let count = node.attribute("name").and_then(|name| self.tag(name));
            if node.tag_name().name() == "group" && count.is_some_and(|tag| without.contains(&tag)) {
                continue;
            }
            members.extend(self.member(node, 0).map(|member| (node, member)));
        }
        members
    }

    /// Returns whether a definition with so many members may be changed once more: each change
    /// costs as much as the definition has members, and a file may change one many times.
    fn may_change(&mut self, members: usize, node: Node<'a, 'd>) -> bool {
        let was_within = self.touched <= limits::ALL_MEMBERS;
        self.touched += members as u64;
        let within_limit = self.touched <= limits::ALL_MEMBERS;
        if was_within && !within_limit {
            let reason = format!(
                "the changes up to here are of definitions with more than {} members together",
                limits::ALL_MEMBERS
            );
            self.found.error(xml::line(node), xml::place(node), reason);
        }
        within_limit
    }

    /// Returns the tags that come with the components among `members`, each with its component.
    fn tags_of_components(&self, members: &[Member]) -> HashMap<u32, ComponentId> {
        let mut tags = HashMap::new();
        // A component that contains itself is refused later: no definition is entered twice.
        let mut seen = HashSet::new();
        let components = |members: &[Member]| {
            let component = |member: &Member| match *member {
                Member::Component { component, .. } => Some(component),
                _ => None,
            };
            members.iter().filter_map(component).collect::<Vec<_>>()
        };
        let mut open = components(members);
        while let Some(component) = open.pop() {
            if !seen.insert(component.0) {
                continue;
            }
            let inner = &self.components[component.index()].members;
            open.extend(components(inner));
            for member in inner {
                let tag = match *member {
                    Member::Field { tag, .. } => Some(tag),
                    _ => self.count_tag(member),
                };
                tag.into_iter().for_each(|tag| {
                    tags.entry(tag).or_insert(component);
                });
            }
        }
        tags
    }

    fn count_tag(&self, member: &Member) -> Option<u32> {
        match *member {
            Member::Group { group, .. } => Some(self.groups[group.index()].count_tag),
            _ => None,
        }
    }

    fn base_name(&self, at: usize) -> &'a str {
        self.base.and_then(|base| base.fields.get(at)).map_or("", |field| field.name.as_str())
    }

    fn version_name(&self) -> &'a str {
        self.base.map_or("", |base| base.version.name.as_str())
    }
}

/// The messages of an overlay so far.
struct Messages {
    list: Vec<MessageDef>,
    by_type: HashMap<String, usize>,
    /// In lower case.
    by_name: HashMap<String, usize>,
}

impl Messages {
    fn of(base: &Dictionary) -> Messages {
        let mut messages = Messages { list: Vec::new(), by_type: HashMap::new(), by_name: HashMap::new() };
        messages.extend(base.messages.iter().cloned());
        messages
    }

    fn extend(&mut self, others: impl IntoIterator<Item = MessageDef>) {
        for message in others {
            self.by_type.entry(message.msg_type.clone()).or_insert(self.list.len());
            self.by_name.entry(message.name.to_ascii_lowercase()).or_insert(self.list.len());
            self.list.push(message);
        }
    }
}

/// What a member refers to, whether it is required or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Listed {
    Field(u32),
    Group(GroupId),
    Component(ComponentId),
}

impl Listed {
    fn of(member: &Member) -> Listed {
        match *member {
            Member::Field { tag, .. } => Listed::Field(tag),
            Member::Group { group, .. } => Listed::Group(group),
            Member::Component { component, .. } => Listed::Component(component),
        }
    }
}
