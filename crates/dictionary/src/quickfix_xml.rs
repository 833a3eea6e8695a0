//! Reads dictionaries in the XML of QuickFIX, QuickFIX/J and QuickFIX/n.
//!
//! Follows the standard where the loaders of those engines do not: requiredness is ANDed along the
//! path of components, a group is what is in a `<group>` element whatever the type of its count
//! field, and a component that only wraps a group is that group. What is odd but clear is read with
//! a warning. Undefined names and duplicate field numbers, which some loaders accept silently, are
//! refused.

use std::collections::{HashMap, HashSet};

use fixbolt_codec::Version;
use roxmltree::{Document, Node};

use crate::assemble::{Definition, Draft};
use crate::data_type::DataType;
use crate::limits;
use crate::loaded::{Loaded, Options, replaced_version};
use crate::model::{
    Code, CodeSet, CodeSetId, ComponentDef, ComponentId, Dictionary, DictionaryVersion, FieldDef, GroupDef,
    GroupId, Member, MessageDef, Origin,
};
use crate::read::{Faults, Findings, tag_again};
use crate::terms::AllTerms;
use crate::xml;

mod attributes;
mod overlay;

/// Reads QuickFIX XML.
pub(crate) fn read(text: &str, options: &Options<'_>) -> Result<Loaded, Faults> {
    if options.as_of.is_some() {
        let reason = "QuickFIX XML does not say what belonged to an earlier version";
        return Err(Faults::of_document(reason));
    }
    let plain = xml::plain(text);
    let document = xml::parse(&plain)?;
    let root = document.root_element();
    let mut found = Findings::in_text(&plain);
    let origin = options.origin(text);
    if let Some(base) = overlay::base(root, options, &found)? {
        if options.version.is_some() || options.duplicate_tags || options.standard_names {
            let reason = "version, duplicate tags and standard names cannot be set for a file that only extends a version";
            return Err(Faults::of_document(reason));
        }
        attributes::check(root, true, &mut found);
        let mut reader = Reader::over(base, root, found);
        let draft = reader.overlay(base, root, origin);
        return reader.conclude(draft, &document, false);
    }
    attributes::check(root, false, &mut found);
    let mut reader = Reader {
        found,
        duplicate_tags: options.duplicate_tags,
        given_version: options.version.as_deref(),
        file_version: options.file_version(),
        ..Reader::default()
    };
    let draft = reader.read(root, origin);
    reader.conclude(draft, &document, options.standard_names)
}

/// Returns how a file begins that only adds to a version.
fn extends(version: Version) -> String {
    format!("begin it with <fix extends='{version}'>")
}

/// What the name of a component refers to.
#[derive(Debug, Clone, Copy)]
enum Named {
    Component(ComponentId),
    /// The component only wraps a group.
    Group(GroupId),
}

#[derive(Default)]
struct Reader<'a, 'd> {
    found: Findings,
    /// What an overlay is based on.
    base: Option<&'a Dictionary>,
    duplicate_tags: bool,
    given_version: Option<&'a str>,
    /// The version whose name the file has.
    file_version: Option<Version>,
    fields: Vec<FieldDef>,
    /// Position of the first field with each tag.
    field_places: HashMap<u32, usize>,
    tags: HashMap<&'a str, u32>,
    code_sets: Vec<CodeSet>,
    /// Of an overlay: names of code sets, and positions of codes in their sets.
    code_set_names: HashSet<String>,
    code_places: HashMap<(CodeSetId, String), usize>,
    /// Members of the definitions that an overlay has changed so far.
    touched: u64,
    components: Vec<ComponentDef>,
    named: HashMap<&'a str, Named>,
    /// Components without members.
    empty: HashSet<u32>,
    groups: Vec<GroupDef>,
    /// Groups inside messages, components and groups, by their content: equal ones become one.
    inline_groups: HashMap<(u32, Vec<Member>), GroupId>,
    group_names: HashSet<String>,
    /// The last number that was appended to each name.
    group_numbers: HashMap<String, usize>,
    field_nodes: Vec<Node<'a, 'd>>,
    code_set_nodes: Vec<Node<'a, 'd>>,
    component_nodes: Vec<Node<'a, 'd>>,
    group_nodes: Vec<Node<'a, 'd>>,
    message_nodes: Vec<Node<'a, 'd>>,
}

impl<'a, 'd> Reader<'a, 'd> {
    /// Returns the dictionary, or everything that is wrong.
    fn conclude(
        mut self,
        draft: Option<Draft>,
        document: &'a Document<'d>,
        standard_names: bool,
    ) -> Result<Loaded, Faults> {
        let Some(draft) = draft else { return Err(self.found.into_faults()) };
        if let (None, Some(known)) =
            (self.base, replaced_version(&draft.version, &draft.header, &draft.messages, &draft.fields))
        {
            let reason = format!("it replaces all of {known}; if it only adds to that, {}", extends(known));
            let root = document.root_element();
            self.found.warn(xml::line(root), xml::label(root), reason);
        }
        let node_of = |place: Definition| match place {
            Definition::Field(at) => self.field_nodes.get(at).copied(),
            Definition::CodeSet(at) => self.code_set_nodes.get(at).copied(),
            Definition::Component(at) => self.component_nodes.get(at).copied(),
            Definition::Group(at) => self.group_nodes.get(at).copied(),
            Definition::Message(at) => self.message_nodes.get(at).copied(),
            Definition::Scenario(_) | Definition::Header | Definition::Trailer => None,
        };
        xml::conclude(draft, self.found, standard_names, self.base, document, &node_of)
    }

    /// Returns the draft, or `None` if there is too little to continue; errors are in `found`.
    fn read(&mut self, root: Node<'a, 'd>, origin: Origin) -> Option<Draft> {
        if root.tag_name().name() != "fix" {
            self.found.error(xml::line(root), xml::label(root), "the root element is not <fix>");
            return None;
        }
        let version = self.version(root)?;
        for section in xml::elements(root) {
            if !matches!(
                section.tag_name().name(),
                "header" | "messages" | "trailer" | "components" | "fields"
            ) {
                self.found.warn(xml::line(section), xml::label(section), "unknown section, not read");
            }
        }
        // A section may be split; its parts are combined.
        let section = |name| xml::children(root, name).flat_map(xml::elements);
        if xml::child(root, "fields").is_none() || xml::child(root, "messages").is_none() {
            let mut reason = "there is no <fields> or no <messages> section".to_string();
            if let Some(known) = version.known {
                reason += &format!("; if it only adds to {known}, {}", extends(known));
            }
            self.found.error(xml::line(root), "fix", reason);
            return None;
        }
        let before_42 = version.known.is_some_and(|version| version < Version::Fix42);
        for node in section("fields") {
            self.field(node, before_42);
        }
        self.components(section("components"));
        let messages = section("messages").filter_map(|node| self.message(node)).collect();
        let (header, trailer) = (self.listed(section("header"), 0), self.listed(section("trailer"), 0));
        Some(self.draft(version, origin, messages, [header, trailer]))
    }

    /// Adds the parts that the reader does not have.
    fn draft(
        &mut self,
        version: DictionaryVersion,
        origin: Origin,
        messages: Vec<MessageDef>,
        [header, trailer]: [Vec<Member>; 2],
    ) -> Draft {
        Draft {
            version,
            origin,
            fields: std::mem::take(&mut self.fields),
            code_sets: std::mem::take(&mut self.code_sets),
            components: std::mem::take(&mut self.components),
            groups: std::mem::take(&mut self.groups),
            messages,
            header,
            trailer,
            scenarios: self.base.map_or_else(Vec::new, |base| base.scenarios.clone()),
            terms: self.base.map_or_else(AllTerms::new, |base| base.terms.clone()),
        }
    }

    fn version(&mut self, root: Node<'a, 'd>) -> Option<DictionaryVersion> {
        if let Some(name) = self.given_version {
            return Some(DictionaryVersion::named(name));
        }
        let kind = self.kind_of(root);
        let (major, minor) =
            (xml::number(root, "major", &mut self.found), xml::number(root, "minor", &mut self.found));
        let pack = root.attribute("servicepack").map(|pack| pack.trim().trim_start_matches("SP"));
        let name = |pack: &str| Some(format!("{kind}.{}.{}{pack}", major?, minor?));
        let service_pack = match pack {
            None | Some("") => {
                // QuickFIX/J's files of FIX.5.0SP1 and FIX.5.0SP2 say it only in their names.
                let plain = name("")?;
                let file_version = self.file_version.map(Version::name);
                let of_file = file_version.filter(|of_file| {
                    of_file.strip_prefix(plain.as_str()).is_some_and(|pack| pack.starts_with("SP"))
                });
                if let Some(of_file) = of_file {
                    let reason = format!(
                        "says {plain} without a service pack, and the file's name is that of {of_file}: read as {of_file}"
                    );
                    self.found.warn(xml::line(root), xml::label(root), reason);
                }
                return Some(DictionaryVersion::named(of_file.unwrap_or(&plain)));
            }
            Some(pack) => match pack.parse::<u32>() {
                Ok(0) => String::new(),
                Ok(pack) => format!("SP{pack}"),
                Err(_) => {
                    let reason = format!("attribute 'servicepack' is '{pack}', not a whole number");
                    self.found.error(xml::line(root), xml::place(root), reason);
                    return None;
                }
            },
        };
        Some(DictionaryVersion::named(&name(&service_pack)?))
    }

    fn field(&mut self, node: Node<'a, 'd>, before_42: bool) {
        let tag = xml::number(node, "number", &mut self.found);
        let name = xml::required(node, "name", &mut self.found);
        let type_name = xml::required(node, "type", &mut self.found);
        let (Some(tag), Some(name)) = (tag, name) else { return };
        if let Some(first) = self.field_places.get(&tag).filter(|_| self.duplicate_tags) {
            let reason = tag_again(tag, name, &self.fields[*first].name);
            self.found.warn(xml::line(node), xml::label(node), reason);
            self.tags.entry(name).or_insert(tag);
            return;
        }
        let kind = match DataType::from_name(type_name.unwrap_or("STRING")) {
            // Before FIX 4.2 a char was a string of any length.
            Some(DataType::Char) if before_42 => DataType::String,
            Some(kind) => kind,
            None => {
                let reason = format!("unknown type '{}', read as String", type_name.unwrap_or_default());
                self.found.warn(xml::line(node), xml::label(node), reason);
                DataType::String
            }
        };
        let codes = self.codes(node);
        let codes = (!codes.is_empty()).then(|| {
            let id = CodeSetId(self.code_sets.len() as u32);
            if self.base.is_some() {
                let places = codes.iter().enumerate().map(|(at, code)| ((id, code.value.clone()), at));
                self.code_places.extend(places);
            }
            self.code_sets.push(CodeSet { name: format!("{name}CodeSet"), codes });
            self.code_set_nodes.push(node);
            id
        });
        let union = self.union_of(node);
        self.tags.insert(name, tag);
        self.field_places.entry(tag).or_insert(self.fields.len());
        self.fields.push(FieldDef { tag, name: name.to_string(), kind, codes, union, length_tag: None });
        self.field_nodes.push(node);
    }

    fn codes(&mut self, field: Node<'a, 'd>) -> Vec<Code> {
        let mut codes = xml::Codes::default();
        for value in xml::elements(field) {
            if value.tag_name().name() != "value" {
                self.found.warn(xml::line(value), xml::place(value), "unknown element, not read");
                continue;
            }
            let Some(code) = xml::required(value, "enum", &mut self.found) else { continue };
            let name = value.attribute("description").filter(|name| !name.is_empty()).unwrap_or(code);
            if let Err(reason) = codes.add(code, name) {
                self.found.warn(xml::line(value), xml::label(field), reason);
            }
        }
        codes.read
    }

    /// Names first, bodies second: a component may be defined after the one that uses it.
    fn components(&mut self, components: impl Iterator<Item = Node<'a, 'd>>) {
        let mut wrappers = Vec::new();
        let mut others = Vec::new();
        for node in components {
            let Some(name) = xml::required(node, "name", &mut self.found) else { continue };
            let mut children = xml::elements(node);
            let only_group = match (children.next(), children.next()) {
                (Some(first), None) if first.tag_name().name() == "group" && first.has_children() => {
                    Some(first)
                }
                _ => None,
            };
            let named = match only_group {
                Some(group) => {
                    let id = GroupId(self.groups.len() as u32);
                    let optional_inside = !self.is_required(group);
                    self.groups.push(GroupDef {
                        name: name.to_string(),
                        count_tag: 0,
                        members: Vec::new(),
                        optional_inside,
                    });
                    self.group_nodes.push(node);
                    self.group_names.insert(name.to_string());
                    wrappers.push((id, group));
                    Named::Group(id)
                }
                None => {
                    let id = ComponentId(self.components.len() as u32);
                    self.components.push(ComponentDef { name: name.to_string(), members: Vec::new() });
                    self.component_nodes.push(node);
                    if xml::elements(node).next().is_none() {
                        self.empty.insert(id.0);
                    }
                    others.push((id, node));
                    Named::Component(id)
                }
            };
            if self.named.insert(name, named).is_some() {
                self.found.error(xml::line(node), xml::label(node), "this name is already defined");
            }
        }
        for (id, node) in wrappers {
            if let Some(tag) = self.tag_of(node) {
                self.groups[id.index()].count_tag = tag;
            }
            self.groups[id.index()].members = self.members(node, 1);
        }
        for (id, node) in others {
            self.components[id.index()].members = self.members(node, 0);
        }
    }

    fn message(&mut self, node: Node<'a, 'd>) -> Option<MessageDef> {
        let name = xml::required(node, "name", &mut self.found);
        let msg_type = xml::required(node, "msgtype", &mut self.found);
        let members = self.members(node, 0);
        let (name, msg_type) = (name?.to_string(), msg_type?.to_string());
        self.message_nodes.push(node);
        Some(MessageDef { msg_type, name, members })
    }

    fn members(&mut self, scope: Node<'a, 'd>, depth: usize) -> Vec<Member> {
        if depth > limits::DEPTH {
            let reason = format!("groups are nested deeper than {}", limits::DEPTH);
            self.found.error(xml::line(scope), xml::place(scope), reason);
            return Vec::new();
        }
        self.listed(xml::elements(scope), depth)
    }

    /// Reads the members of one definition, which may be listed in several elements.
    fn listed(&mut self, nodes: impl Iterator<Item = Node<'a, 'd>>, depth: usize) -> Vec<Member> {
        let mut members = Vec::new();
        let mut seen = HashSet::new();
        for node in nodes {
            if self.base.is_some() && node.attribute("before").or(node.attribute("after")).is_some() {
                let reason =
                    "before and after are for members that are added to a definition; list these in order";
                self.found.error(xml::line(node), xml::place(node), reason);
            }
            let Some(member) = self.member(node, depth) else { continue };
            if seen.insert((node.tag_name().name(), node.attribute("name").unwrap_or_default())) {
                members.push(member);
            } else {
                self.found.warn(xml::line(node), xml::place(node), "is listed twice, the first is kept");
            }
        }
        members
    }

    fn member(&mut self, node: Node<'a, 'd>, depth: usize) -> Option<Member> {
        let required = self.is_required(node);
        match node.tag_name().name() {
            "field" => self.tag_of(node).map(|tag| Member::Field { tag, required }),
            "group" if xml::elements(node).next().is_none() => {
                let reason = "a group without members, read as a field";
                self.found.warn(xml::line(node), xml::place(node), reason);
                self.tag_of(node).map(|tag| Member::Field { tag, required })
            }
            "group" => self.inline_group(node, depth).map(|group| Member::Group { group, required }),
            "component" => self.component_member(node, required),
            _ => {
                self.found.warn(xml::line(node), xml::place(node), "unknown element, not read");
                None
            }
        }
    }

    fn tag_of(&mut self, node: Node<'a, 'd>) -> Option<u32> {
        let name = xml::required(node, "name", &mut self.found)?;
        let tag = self.tag(name);
        if tag.is_none() {
            self.found.error(xml::line(node), xml::place(node), "no field has this name");
        }
        tag
    }

    fn tag(&self, name: &str) -> Option<u32> {
        let of_base = || Some(self.base?.field_by_name(name)?.tag);
        self.tags.get(name).copied().or_else(of_base)
    }

    /// A wrapped group is as required as its wrapper: files made from Orchestra say N inside
    /// without meaning it.
    fn component_member(&mut self, node: Node<'a, 'd>, required: bool) -> Option<Member> {
        let name = xml::required(node, "name", &mut self.found)?;
        match self.named.get(name) {
            Some(&Named::Component(component)) if self.empty.contains(&component.0) => {
                self.found.warn(xml::line(node), xml::place(node), "the component has no members, not read");
                None
            }
            Some(&Named::Component(component)) => Some(Member::Component { component, required }),
            Some(&Named::Group(group)) => Some(Member::Group { group, required }),
            None => {
                self.found.error(xml::line(node), xml::place(node), "no component has this name");
                None
            }
        }
    }

    fn inline_group(&mut self, node: Node<'a, 'd>, depth: usize) -> Option<GroupId> {
        let count_tag = self.tag_of(node);
        let members = self.members(node, depth + 1);
        let count_tag = count_tag?;
        if members.is_empty() {
            self.found.error(xml::line(node), xml::place(node), "the group has no members");
            return None;
        }
        if let Some(&id) = self.inline_groups.get(&(count_tag, members.clone())) {
            return Some(id);
        }
        let count_name = node.attribute("name").unwrap_or_default();
        let name =
            self.free_group_name(&format!("{}Grp", count_name.strip_prefix("No").unwrap_or(count_name)));
        let id = GroupId(self.groups.len() as u32);
        self.groups.push(GroupDef { name, count_tag, members: members.clone(), optional_inside: false });
        self.group_nodes.push(node);
        self.inline_groups.insert((count_tag, members), id);
        Some(id)
    }

    /// Reserves and returns the name, or the name with the first number that no group has.
    fn free_group_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = self.group_numbers.get(wanted).copied().unwrap_or(1);
        while self.named.contains_key(name.as_str()) || !self.group_names.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}{number}");
        }
        self.group_numbers.insert(wanted.to_string(), number);
        name
    }
}
