//! Reads the structure of FIX Orchestra repositories (v1.0 and v1.1, any namespace).
//!
//! Read: data types, code sets, fields, components, groups, messages, length ids, union types.
//! Fields and code sets are those of the base scenario, or of another one if there is no base;
//! components and groups are those of the scenario that a reference names; messages are read in
//! every scenario. Constant values and the conditions of rules are kept as text. Not read: other
//! scenarios of fields and code sets (with a warning), responses, actors, flows and annotations.

mod attributes;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use roxmltree::Node;

use crate::assemble::{Definition, Draft};
use crate::data_type::{DataType, UnionType};
use crate::limits;
use crate::loaded::{Loaded, Options};
use crate::locate::Key;
use crate::model::{
    CodeSet, CodeSetId, ComponentDef, ComponentId, DictionaryVersion, FieldDef, GroupDef, GroupId, Member,
    MessageDef, Origin,
};
use crate::pedigree::{Pedigree, Reference};
use crate::read::{Faults, Findings, tag_again};
use crate::terms::{AllTerms, Presence, Rule, Scenario, Terms};
use crate::xml;

/// Reads FIX Orchestra.
pub(crate) fn read(text: &str, options: &Options<'_>) -> Result<Loaded, Faults> {
    if options.base.is_some() {
        return Err(Faults::of_document("only QuickFIX XML can extend a dictionary"));
    }
    let plain = xml::plain(text);
    let document = xml::parse(&plain)?;
    let pedigree = match &options.as_of {
        None => None,
        Some(name) => {
            let unknown = || {
                Faults::of_document(format!(
                    "'{name}' is not a version that pedigrees name: FIX.4.0 to FIX.5.0SP2, FIX.Latest"
                ))
            };
            Some(Pedigree::new(name, document.root_element()).ok_or_else(unknown)?)
        }
    };
    let mut reader = Reader {
        found: Findings::in_text(&plain),
        pedigree,
        duplicate_tags: options.duplicate_tags,
        given_version: options.version.as_deref(),
        ..Reader::default()
    };
    let draft = reader.read(document.root_element(), options.origin(text));
    let Reader {
        found,
        field_nodes,
        code_set_nodes,
        mut component_nodes,
        mut group_nodes,
        message_nodes,
        scenario_nodes,
        ..
    } = reader;
    let Some(mut draft) = draft else { return Err(found.into_faults()) };
    if let Some(name) = &options.as_of {
        draft.version = DictionaryVersion::named(name);
        let kept = draft.prune();
        component_nodes = kept.components.into_iter().map(|at| component_nodes[at]).collect();
        group_nodes = kept.groups.into_iter().map(|at| group_nodes[at]).collect();
    }
    let node_of = |place: Definition| match place {
        Definition::Field(at) => field_nodes.get(at).copied(),
        Definition::CodeSet(at) => code_set_nodes.get(at).copied(),
        Definition::Component(at) => component_nodes.get(at).copied(),
        Definition::Group(at) => group_nodes.get(at).copied(),
        Definition::Message(at) => message_nodes.get(at).copied(),
        Definition::Scenario(at) => scenario_nodes.get(at).copied(),
        Definition::Header | Definition::Trailer => None,
    };
    xml::conclude(draft, found, options.standard_names, None, &document, &node_of)
}

#[derive(Default)]
struct Reader<'a, 'd> {
    found: Findings,
    /// The version to read, if not the whole file.
    pedigree: Option<Pedigree<'a, 'd>>,
    duplicate_tags: bool,
    given_version: Option<&'a str>,
    /// Names of scenarios by id.
    scenarios: HashMap<&'a str, &'a str>,
    /// Components and groups of scenarios other than base that something refers to.
    referred: HashSet<Target<'a>>,
    /// Definitions of another scenario that replace a missing base one.
    stand_ins: HashSet<u32>,
    /// The types that the file defines itself, with the types they are based on.
    data_types: HashMap<&'a str, &'a str>,
    /// Code sets by name: position (none if its codes are elsewhere), type and union type.
    sets: HashMap<&'a str, (Option<CodeSetId>, DataType, Option<UnionType>)>,
    /// The names of the fields by tag, of several with one tag that of the first.
    tags: HashMap<u32, &'a str>,
    /// Positions of components and of groups.
    places: HashMap<Target<'a>, u32>,
    /// Names of components and groups.
    names: HashMap<Target<'a>, String>,
    /// Ids of the components that are header and trailer, which are not members of a message's
    /// body.
    outer_ids: HashSet<u32>,
    field_nodes: Vec<Node<'a, 'd>>,
    code_set_nodes: Vec<Node<'a, 'd>>,
    component_nodes: Vec<Node<'a, 'd>>,
    group_nodes: Vec<Node<'a, 'd>>,
    message_nodes: Vec<Node<'a, 'd>>,
    /// Messages of scenarios other than base.
    scenario_nodes: Vec<Node<'a, 'd>>,
    terms: AllTerms,
}

/// What a reference to a component or group names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Target<'a> {
    kind: Reference,
    id: u32,
    scenario: &'a str,
}

impl<'a, 'd> Reader<'a, 'd> {
    /// Returns the draft, or `None` if there is too little to continue; errors are in `found`.
    fn read(&mut self, root: Node<'a, 'd>, mut origin: Origin) -> Option<Draft> {
        if root.tag_name().name() != "repository" {
            self.found.error(xml::line(root), xml::label(root), "the root element is not <repository>");
            return None;
        }
        attributes::check(root, &mut self.found);
        let version = self.version(root)?;
        if origin.license.is_empty() {
            origin.license = rights(root).unwrap_or_default();
        }
        self.note_scenarios(root);
        let data_types = xml::children(root, "datatypes").flat_map(xml::elements);
        self.data_types.extend(
            data_types.filter_map(|node| Some((node.attribute("name")?, node.attribute("baseType")?))),
        );
        let code_sets = self.code_sets(root);
        let fields = self.fields(root);
        let (components, header_node, trailer_node) = self.component_names(root);
        let groups = self.definitions(root, "group");
        for (at, node) in groups.iter().enumerate() {
            let Some(id) = xml::number(*node, "id", &mut self.found) else { continue };
            let key = Target { kind: Reference::Group, id, scenario: self.scenario_of(*node) };
            let name = self.name_of(*node);
            self.names.insert(key, name);
            if self.places.insert(key, at as u32).is_some() {
                let reason = format!("group id {id} is already defined");
                self.found.error(xml::line(*node), xml::label(*node), reason);
            }
        }
        let components = components.into_iter().map(|node| self.component(node)).collect();
        let groups = groups.into_iter().filter_map(|node| self.group(node)).collect();
        let messages = self.definitions(root, "message");
        let mut message_nodes = Vec::new();
        let messages = messages.into_iter().filter_map(|node| {
            let message = self.message(node, Key::Message)?;
            message_nodes.push(node);
            Some(message)
        });
        let messages = messages.collect();
        self.message_nodes = message_nodes;
        let scenarios = self.scenarios_of_messages();
        let whole = !self.pedigree.as_ref().is_some_and(Pedigree::is_over_fixt);
        let header = header_node.filter(|_| whole);
        let header = header.map_or_else(Vec::new, |node| self.members(node, &Key::Header));
        let trailer = trailer_node.filter(|_| whole);
        let trailer = trailer.map_or_else(Vec::new, |node| self.members(node, &Key::Trailer));
        let terms = std::mem::take(&mut self.terms);
        Some(Draft {
            version,
            origin,
            fields,
            code_sets,
            components,
            groups,
            messages,
            header,
            trailer,
            scenarios,
            terms,
        })
    }

    /// Finds the version, which published files state in different ways: name `FIX.4.4`, name
    /// `FIXT` with an application version, name `FIX4SESSION` with version `FIX.4.4`.
    fn version(&mut self, root: Node<'a, 'd>) -> Option<DictionaryVersion> {
        if let Some(name) = self.given_version {
            return Some(DictionaryVersion::named(name));
        }
        let name = xml::required(root, "name", &mut self.found)?;
        let version = root.attribute("version").unwrap_or(name);
        let version = match name {
            "FIXT" => "FIXT.1.1",
            name if name.starts_with("FIX.") || name.starts_with("FIXT.") => name,
            _ => version,
        };
        let version = version.split('_').next().unwrap_or(version);
        if !version.starts_with("FIX") {
            let reason =
                format!("does not name a version of FIX: '{version}' is used as its name and BeginString");
            self.found.warn(xml::line(root), xml::label(root), reason);
        }
        Some(DictionaryVersion::named(version))
    }

    fn note_scenarios(&mut self, root: Node<'a, 'd>) {
        let scenarios = xml::children(root, "scenarios").flat_map(xml::elements);
        self.scenarios
            .extend(scenarios.filter_map(|node| Some((node.attribute("id")?, node.attribute("name")?))));
        for node in root.descendants() {
            if let Some(kind) = Reference::of(node)
                && let Some(id) = node.attribute("id").and_then(|id| id.parse().ok())
            {
                let scenario = self.scenario(node);
                if scenario != BASE {
                    self.referred.insert(Target { kind, id, scenario });
                }
            }
        }
    }

    /// Returns the scenario that an element names, in v1.1 also by id; base if it names none.
    fn scenario(&self, node: Node<'a, 'd>) -> &'a str {
        let by_id = || match node.attribute("scenarioId")? {
            "1" => Some(BASE),
            id => Some(self.scenarios.get(id).copied().unwrap_or(id)),
        };
        node.attribute("scenario").or_else(by_id).unwrap_or(BASE)
    }

    /// Returns the scenario under which a definition is found.
    fn scenario_of(&self, node: Node<'a, 'd>) -> &'a str {
        if self.stand_ins.contains(&node.id().get()) { BASE } else { self.scenario(node) }
    }

    /// Returns the definitions of one kind: those of the base scenario, or of another one if there
    /// is no base; for components and groups also those of the scenarios that something refers to.
    /// Sections are only headings.
    fn definitions(&mut self, root: Node<'a, 'd>, element: &'static str) -> Vec<Node<'a, 'd>> {
        let key = match element {
            "message" => "msgType",
            "codeSet" => "name",
            _ => "id",
        };
        let sections: &[&str] = match element {
            "codeSet" => &["codeSets"],
            "field" => &["fields"],
            "message" => &["messages"],
            _ => &["components", "groups"],
        };
        let all: Vec<Node<'a, 'd>> = xml::elements(root)
            .filter(|node| sections.contains(&node.tag_name().name()))
            .flat_map(|section| xml::children(section, element))
            .filter(|node| self.pedigree.as_ref().is_none_or(|pedigree| pedigree.has_definition(*node)))
            .collect();
        let key_of = |node: &Node<'a, 'd>| node.attribute(key).unwrap_or_default();
        let mut known: HashSet<&str> =
            all.iter().filter(|node| self.scenario(**node) == BASE).map(key_of).collect();
        let mut nodes = Vec::with_capacity(all.len());
        for node in all {
            let scenario = self.scenario(node);
            let kind = if element == "group" { Reference::Group } else { Reference::Component };
            let id = node.attribute("id").and_then(|id| id.parse().ok());
            let is_referred = matches!(element, "component" | "group")
                && id.is_some_and(|id| self.referred.contains(&Target { kind, id, scenario }));
            if scenario == BASE || is_referred {
                nodes.push(node);
            } else if known.insert(key_of(&node)) {
                let reason = format!("has no scenario base: scenario '{scenario}' is read instead");
                self.found.warn(xml::line(node), xml::label(node), reason);
                self.stand_ins.insert(node.id().get());
                nodes.push(node);
                if element == "message" {
                    self.scenario_nodes.push(node);
                }
            } else if element == "message" {
                self.scenario_nodes.push(node);
            } else {
                let reason = format!("scenario '{scenario}' is not read, only base is");
                self.found.warn(xml::line(node), xml::label(node), reason);
            }
        }
        nodes
    }

    fn code_sets(&mut self, root: Node<'a, 'd>) -> Vec<CodeSet> {
        let mut sets = Vec::new();
        for node in self.definitions(root, "codeSet") {
            let Some(name) = xml::required(node, "name", &mut self.found) else { continue };
            let Some(kind) =
                xml::required(node, "type", &mut self.found).and_then(|name| self.data_type(node, name))
            else {
                continue;
            };
            let mut codes = xml::Codes::default();
            for code in xml::elements(node).filter(|node| node.tag_name().name() == "code") {
                if self.pedigree.as_ref().is_some_and(|pedigree| !pedigree.has_code(node, code)) {
                    continue;
                }
                let value = xml::required(code, "value", &mut self.found);
                let name = xml::required(code, "name", &mut self.found);
                let (Some(value), Some(name)) = (value, name) else { continue };
                if let Err(reason) = codes.add(value, name) {
                    self.found.warn(xml::line(code), xml::place(code), reason);
                }
            }
            let codes = codes.read;
            let union = self.union_type(node);
            // An external code set names a page instead of codes: every value of the type is
            // allowed.
            let id = (!codes.is_empty()).then_some(CodeSetId(sets.len() as u32));
            if self.sets.insert(name, (id, kind, union)).is_some() {
                self.found.error(xml::line(node), xml::label(node), "this name is already defined");
            }
            if id.is_some() {
                sets.push(CodeSet { name: name.to_string(), codes });
                self.code_set_nodes.push(node);
            }
        }
        sets
    }

    /// Returns the FIX type called `name`, or the one that a type of the file itself is based on.
    fn data_type(&mut self, node: Node<'a, 'd>, name: &'a str) -> Option<DataType> {
        let mut base = name;
        let mut kind = DataType::from_name(base);
        for _ in 0..limits::DEPTH {
            let Some(next) = self.data_types.get(base).filter(|_| kind.is_none()) else { break };
            base = *next;
            kind = DataType::from_name(base);
        }
        if kind.is_none() {
            let reason = format!("'{name}' is neither a data type of FIX nor a code set of this file");
            self.found.error(xml::line(node), xml::place(node), reason);
        }
        kind
    }

    fn union_type(&mut self, node: Node<'a, 'd>) -> Option<UnionType> {
        let name = node.attribute("unionDataType")?;
        let union = UnionType::from_name(name);
        if union.is_none() {
            let reason = format!("unknown union type '{name}', every value of the base type is accepted");
            self.found.warn(xml::line(node), xml::place(node), reason);
        }
        union.or(Some(UnionType::AnyValue))
    }

    fn fields(&mut self, root: Node<'a, 'd>) -> Vec<FieldDef> {
        let mut fields = Vec::new();
        let nodes = self.definitions(root, "field");
        for &node in &nodes {
            let tag = xml::number(node, "id", &mut self.found);
            let name = xml::required(node, "name", &mut self.found);
            // v1.0 has the code set as the type, v1.1 in a separate attribute.
            let set_name = node.attribute("codeSet").or_else(|| xml::required(node, "type", &mut self.found));
            let (Some(tag), Some(name), Some(set_name)) = (tag, name, set_name) else { continue };
            let (codes, kind, set_union) = match self.sets.get(set_name) {
                Some(&set) => set,
                None => {
                    let Some(kind) = self.data_type(node, set_name) else { continue };
                    (None, kind, None)
                }
            };
            let union = self.union_type(node).or(set_union);
            let length_tag =
                node.attribute("lengthId").and_then(|_| xml::number(node, "lengthId", &mut self.found));
            match self.tags.entry(tag) {
                Entry::Vacant(entry) => _ = entry.insert(name),
                Entry::Occupied(first) if self.duplicate_tags => {
                    let reason = tag_again(tag, name, first.get());
                    self.found.warn(xml::line(node), xml::label(node), reason);
                    continue;
                }
                Entry::Occupied(_) => {}
            }
            fields.push(FieldDef { tag, name: name.to_string(), kind, codes, union, length_tag });
            self.field_nodes.push(node);
        }
        for (field, node) in fields.iter_mut().zip(&self.field_nodes) {
            // The published session files have lengthId="1" everywhere; the standard's pairs are
            // used instead.
            if let Some(length_tag) = field.length_tag.filter(|tag| !self.tags.contains_key(tag)) {
                let reason = format!("lengthId {length_tag} is not a field, not used");
                self.found.warn(xml::line(*node), xml::label(*node), reason);
                field.length_tag = None;
            }
        }
        fields
    }

    /// Components get ids; StandardHeader and StandardTrailer are kept separately.
    fn component_names(
        &mut self,
        root: Node<'a, 'd>,
    ) -> (Vec<Node<'a, 'd>>, Option<Node<'a, 'd>>, Option<Node<'a, 'd>>) {
        let (mut components, mut header, mut trailer) = (Vec::new(), None, None);
        for node in self.definitions(root, "component") {
            let Some(id) = xml::number(node, "id", &mut self.found) else { continue };
            let scenario = self.scenario_of(node);
            let outer = match node.attribute("name").filter(|_| scenario == BASE) {
                Some("StandardHeader") => Some(&mut header),
                Some("StandardTrailer") => Some(&mut trailer),
                _ => None,
            };
            let key = Target { kind: Reference::Component, id, scenario };
            let twice = scenario == BASE && self.outer_ids.contains(&id) || self.places.contains_key(&key);
            if twice {
                self.found.error(
                    xml::line(node),
                    xml::label(node),
                    format!("component id {id} is already defined"),
                );
            } else if let Some(outer) = outer {
                *outer = Some(node);
                self.outer_ids.insert(id);
            } else {
                let name = self.name_of(node);
                self.names.insert(key, name);
                self.places.insert(key, components.len() as u32);
                components.push(node);
            }
        }
        (components, header, trailer)
    }

    /// Returns the name of a component or group, followed by its scenario if that is not base.
    fn name_of(&self, node: Node<'a, 'd>) -> String {
        let name = node.attribute("name").unwrap_or_default();
        match self.scenario_of(node) {
            BASE => name.to_string(),
            scenario => format!("{name}-{scenario}"),
        }
    }

    /// Returns the name of a component or group that is defined here, followed by its scenario if
    /// that is not base. Records an error if it has no name.
    fn definition_name(&mut self, node: Node<'a, 'd>) -> String {
        xml::required(node, "name", &mut self.found);
        self.name_of(node)
    }

    fn component(&mut self, node: Node<'a, 'd>) -> ComponentDef {
        let name = self.definition_name(node);
        self.component_nodes.push(node);
        let members = self.members(node, &Key::Component(name.clone()));
        ComponentDef { name, members }
    }

    fn group(&mut self, node: Node<'a, 'd>) -> Option<GroupDef> {
        let name = self.definition_name(node);
        self.group_nodes.push(node);
        let count_tag = match xml::child(node, "numInGroup") {
            Some(count) => self.field_tag(count),
            None => {
                self.found.error(xml::line(node), xml::label(node), "the group has no numInGroup");
                None
            }
        };
        // Positions of groups are fixed now: an invalid group keeps its position, and the errors
        // refuse the file.
        let members = self.members(node, &Key::Group(name.clone()));
        Some(GroupDef { name, count_tag: count_tag.unwrap_or_default(), members, optional_inside: false })
    }

    /// Reads the messages of scenarios other than base, once all groups have names.
    fn scenarios_of_messages(&mut self) -> Vec<Scenario> {
        let mut scenarios = Vec::new();
        let nodes = std::mem::take(&mut self.scenario_nodes);
        for node in nodes {
            let name = self.scenario(node).to_string();
            let place = |msg_type| Key::Scenario(name.clone(), msg_type);
            if let Some(message) = self.message(node, place) {
                self.scenario_nodes.push(node);
                scenarios.push(Scenario { name, message });
            }
        }
        scenarios
    }

    fn message(&mut self, node: Node<'a, 'd>, place: impl FnOnce(String) -> Key) -> Option<MessageDef> {
        let name = xml::required(node, "name", &mut self.found);
        let msg_type = xml::required(node, "msgType", &mut self.found);
        let structure = xml::child(node, "structure");
        if structure.is_none() {
            self.found.error(xml::line(node), xml::label(node), "the message has no structure");
        }
        let members = self.members(structure?, &place(msg_type.unwrap_or_default().to_string()));
        Some(MessageDef { msg_type: msg_type?.to_string(), name: name?.to_string(), members })
    }

    /// Returns the constant value and the rules of a reference.
    fn terms_of(&mut self, node: Node<'a, 'd>) -> Terms {
        let mut terms = Terms::default();
        if node.attribute("presence") == Some("constant") {
            terms.constant = node.attribute("value").map(str::to_string);
        }
        for rule in xml::children(node, "rule") {
            let word = rule.attribute("presence").unwrap_or("optional");
            let when = xml::child(rule, "when").and_then(|when| when.text()).map(words).unwrap_or_default();
            match Presence::from_name(word) {
                Some(_) if when.is_empty() => {
                    self.found.warn(xml::line(rule), xml::place(rule), "a rule without <when>, not read");
                }
                Some(presence) => {
                    let name = rule.attribute("name").unwrap_or_default().to_string();
                    terms.rules.push(Rule { name, presence, when });
                }
                None => {
                    let reason =
                        format!("presence '{word}' is not one of FIX Orchestra's, the rule is not read");
                    self.found.warn(xml::line(rule), xml::place(rule), reason);
                }
            }
        }
        terms
    }

    fn field_tag(&mut self, node: Node<'a, 'd>) -> Option<u32> {
        let tag = xml::number(node, "id", &mut self.found)?;
        if self.tags.contains_key(&tag) {
            return Some(tag);
        }
        self.found.error(xml::line(node), xml::place(node), "no field has this id");
        None
    }

    fn members(&mut self, scope: Node<'a, 'd>, place: &Key) -> Vec<Member> {
        let mut members = Vec::new();
        let mut seen = HashSet::new();
        for node in xml::elements(scope) {
            let Some(kind) = Reference::of(node) else { continue };
            let required = match node.attribute("presence") {
                Some("required") => true,
                None | Some("optional" | "constant") => false,
                Some("forbidden" | "ignored") => continue,
                Some(other) => {
                    let reason = format!("presence '{other}' is not one of FIX Orchestra's");
                    self.found.error(xml::line(node), xml::place(node), reason);
                    false
                }
            };
            let Some(id) = xml::number(node, "id", &mut self.found) else { continue };
            if let Some(pedigree) = &mut self.pedigree
                && !pedigree.has_reference(node, kind, id)
            {
                continue;
            }
            let key = Target { kind, id, scenario: self.scenario(node) };
            let member = match kind {
                Reference::Field => self.field_tag(node).map(|tag| Member::Field { tag, required }),
                Reference::Group => {
                    self.places.get(&key).map(|&at| Member::Group { group: GroupId(at), required })
                }
                Reference::Component if self.outer_ids.contains(&id) => continue,
                Reference::Component => self
                    .places
                    .get(&key)
                    .map(|&at| Member::Component { component: ComponentId(at), required }),
            };
            match member {
                None if kind == Reference::Field => {}
                None => {
                    self.found.error(xml::line(node), xml::place(node), "nothing is defined under this id")
                }
                Some(member) if seen.insert((kind, id)) => {
                    members.push(member);
                    let terms = self.terms_of(node);
                    if terms != Terms::default() {
                        let name = |reader: &Self| match kind {
                            Reference::Field => Some(Key::Field(id)),
                            Reference::Component => reader.names.get(&key).cloned().map(Key::Component),
                            Reference::Group => reader.names.get(&key).cloned().map(Key::Group),
                        };
                        self.terms.extend(name(self).map(|member| ((place.clone(), member), terms)));
                    }
                }
                Some(_) => {
                    self.found.warn(xml::line(node), xml::place(node), "is listed twice, the first is kept")
                }
            }
        }
        if let Some(pedigree) = &mut self.pedigree {
            pedigree.put_moved(scope, &mut members);
        }
        members
    }
}

/// Returns the words of an element without line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The scenario of elements that name none.
const BASE: &str = "base";

/// Returns the license or else the rights in the metadata of a repository, as one line.
fn rights(root: Node<'_, '_>) -> Option<String> {
    let metadata = xml::child(root, "metadata")?;
    let said = ["license", "license", "rights"].iter().find_map(|name| xml::child(metadata, name)?.text())?;
    Some(words(said))
}
