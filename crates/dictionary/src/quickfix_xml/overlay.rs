//! A dialect as what it adds to a dictionary or changes in it, in the same XML as a whole
//! dictionary.
//!
//! Definitions are identified as on the wire or in the dictionary: fields by number, messages by
//! msgtype, components and groups by name. New ones are added. An existing one gets the members and
//! values of the overlay after its own; `replace='Y'` replaces it by the definition of the overlay.
//! A contradiction is an error with its line: nothing is overwritten by accident.

use std::collections::HashSet;

use fixbolt_codec::Version;
use roxmltree::{Document, Node};

use super::{Named, Reader};
use crate::assemble::Draft;
use crate::data_type::{DataType, UnionType};
use crate::model::{
    Code, CodeSet, CodeSetId, ComponentId, Dictionary, GroupDef, GroupId, Member, MessageDef, Source,
};
use crate::read::{ReadError, Warning};
use crate::shipped;
use crate::xml;

impl Dictionary {
    /// Returns this dictionary with the additions and changes of an overlay.
    ///
    /// An overlay is QuickFIX XML that contains only the difference, and uses the names of this
    /// dictionary:
    /// - `<field>`: a new number is a new field. A known one gets the listed values added, for all
    ///   fields that share its codes.
    /// - `<component>`: a new name is a new component. A known one gets the members added. A
    ///   component around one `<group>` is that group, and a group of this dictionary is known by
    ///   the same name: `<component name='Parties'><group name='NoPartyIDs'>` adds members to it
    ///   wherever it is used.
    /// - `<message>`: a new msgtype is a new message. A known one gets the members added.
    /// - `<header>` and `<trailer>` get the members added.
    /// - For an existing member only its requiredness changes. An existing `<group>` gets members
    ///   added, in this place alone.
    /// - `replace='Y'` on a field, component or message replaces the old definition by the new one.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::from_quickfix_xml`], and whatever contradicts this
    /// dictionary: another name or type for a known number, a member that already comes with a
    /// component.
    ///
    /// ```
    /// use fixbolt_dictionary::fix44;
    ///
    /// let overlay = "<fix><fields>
    ///     <field number='5001' name='Colour' type='CHAR'>
    ///         <value enum='1' description='RED'/>
    ///     </field>
    ///     </fields><messages><message name='NewOrderSingle' msgtype='D'>
    ///     <field name='Colour' required='Y'/>
    ///     </message></messages></fix>";
    /// let (dialect, _) = fix44().extended(overlay).unwrap();
    /// assert_eq!(dialect.code(5001, b"1").unwrap().name, "RED");
    /// let order = dialect.message(b"D").unwrap();
    /// assert!(dialect.expand(&order.members).any(|member| member.tag == 5001 && member.required));
    ///
    /// let errors = fix44().extended(&overlay.replace("5001", "58")).unwrap_err();
    /// assert_eq!(errors[0].to_string(), "line 2: field 'Colour': field 58 is 'Text' in FIX.4.4");
    /// ```
    pub fn extended(&self, overlay: &str) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
        let plain = xml::plain(overlay);
        extended(self, &xml::parse(&plain).map_err(|error| vec![error])?, overlay)
    }
}

/// Returns the shipped version of this name with the changes of an overlay.
pub(super) fn shipped_extended(
    version: &str,
    document: &Document<'_>,
    text: &str,
) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
    match Version::ALL.into_iter().find(|known| known.name() == version) {
        Some(known) => extended(shipped::shipped(known), document, text),
        None => {
            let root = document.root_element();
            let reason = format!("extends='{version}': no version of this name is shipped");
            Err(vec![ReadError { line: xml::line(root), element: xml::label(root), reason }])
        }
    }
}

fn extended(
    base: &Dictionary,
    document: &Document<'_>,
    text: &str,
) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
    let root = document.root_element();
    let mut reader = Reader::over(base, root);
    let draft = reader.overlay(base, root);
    reader.conclude(draft, document, text)
}

impl<'a, 'd> Reader<'a, 'd> {
    /// Creates a reader that knows everything a dictionary defines.
    fn over(base: &'a Dictionary, root: Node<'a, 'd>) -> Self {
        let mut reader = Reader {
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

    fn overlay(&mut self, base: &Dictionary, root: Node<'a, 'd>) -> Option<Draft> {
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
        let section = |name| xml::child(root, name).into_iter().flat_map(xml::elements);
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
        let is_known = |node: &Node<'a, 'd>| {
            let name = node.attribute("name").unwrap_or_default();
            base.components.iter().any(|known| known.name == name)
                || base.groups.iter().any(|known| known.name == name)
        };
        self.components(section("components").filter(|node| !is_known(node)));
        for node in section("components").filter(is_known) {
            self.overlay_component(node);
        }
        let mut messages = base.messages.clone();
        for node in section("messages") {
            self.overlay_message(node, &mut messages);
        }
        let (mut header, mut trailer) = (base.header.clone(), base.trailer.clone());
        for (name, place, members) in
            [("header", "Header", &mut header), ("trailer", "Trailer", &mut trailer)]
        {
            match xml::child(root, name) {
                Some(node) if version.begin_string == Version::Fixt11.name() && base.header.is_empty() => {
                    let reason = format!("{} has none: it is that of FIXT.1.1", version.name);
                    self.found.error(xml::line(node), xml::label(node), reason);
                }
                Some(node) => self.merge(members, node, place),
                None => {}
            }
        }
        let source = Source { name: format!("{}, extended", base.source.name), ..base.source.clone() };
        Some(self.draft(version, source, messages, [header, trailer]))
    }

    fn overlay_field(&mut self, node: Node<'a, 'd>, before_42: bool) {
        let tag = node.attribute("number").and_then(|number| number.parse::<u32>().ok());
        let Some(at) = self.fields.iter().position(|field| Some(field.tag) == tag) else {
            return self.field(node, before_42);
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
        if matches!(node.attribute("allowOtherValues"), Some("true" | "Y")) {
            self.fields[at].union = Some(UnionType::AnyValue);
        }
        if codes.is_empty() {
            return;
        }
        let set = match self.fields[at].codes {
            Some(set) => set,
            None => {
                let set = CodeSetId(self.code_sets.len() as u32);
                let name = format!("{}CodeSet", self.fields[at].name);
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
        match self.code_sets[set.index()].codes.iter().find(|known| known.value == code.value) {
            None => self.code_sets[set.index()].codes.push(code),
            Some(known) if crate::names::same_code_name(&known.name, &code.name) => {}
            Some(known) => {
                let reason = format!("value '{}' is already called '{}'", code.value, known.name);
                self.found.error(xml::line(node), xml::label(node), reason);
            }
        }
    }

    /// Gives the newest code set another name if its own is taken.
    fn name_code_set(&mut self, set: CodeSetId, other: &str) {
        let (older, newest) = self.code_sets.split_at_mut(set.index());
        if let Some(newest) = newest.first_mut()
            && older.iter().any(|known| known.name == newest.name)
        {
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

    fn overlay_message(&mut self, node: Node<'a, 'd>, messages: &mut Vec<MessageDef>) {
        let name = xml::required(node, "name", &mut self.found);
        let msg_type = xml::required(node, "msgtype", &mut self.found);
        let (Some(name), Some(msg_type)) = (name, msg_type) else { return };
        let version = self.version_name();
        if let Some(other) =
            messages.iter().find(|known| known.name.eq_ignore_ascii_case(name) && known.msg_type != msg_type)
        {
            let reason = format!("the name belongs to message type '{}'", other.msg_type);
            return self.found.error(xml::line(node), xml::label(node), reason);
        }
        let Some(at) = messages.iter().position(|known| known.msg_type == msg_type) else {
            messages.extend(self.message(node));
            // MsgType (35) has codes, too.
            let codes = self.fields.iter().find(|field| field.tag == 35).and_then(|field| field.codes);
            if let Some(set) = codes {
                self.add_code(set, Code { value: msg_type.to_string(), name: name.to_string() }, node);
            }
            return;
        };
        let same_name = self.base.and_then(|base| base.message_by_name(name));
        if !messages[at].name.eq_ignore_ascii_case(name) && same_name.is_none_or(|m| m.msg_type != msg_type) {
            let reason = format!("message type '{msg_type}' is '{}' in {version}", messages[at].name);
            return self.found.error(xml::line(node), xml::label(node), reason);
        }
        self.message_nodes[at] = node;
        let name = messages[at].name.clone();
        self.take_or_merge(&mut messages[at].members, node, &name);
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
        // An existing group is changed here alone: it becomes a group of its own.
        for node in xml::elements(scope).filter(|node| node.tag_name().name() == "group") {
            let tag = node.attribute("name").and_then(|name| self.tag(name));
            let Some(at) = members.iter().position(|member| self.count_tag(member) == tag && tag.is_some())
            else {
                continue;
            };
            let Member::Group { group, required } = members[at] else { continue };
            let required = node.attribute("required").map_or(required, |word| matches!(word, "Y" | "y"));
            let name = self.free_group_name(&format!("{place}{}", self.groups[group.index()].name));
            let own = GroupId(self.groups.len() as u32);
            self.groups.push(GroupDef { name, ..self.groups[group.index()].clone() });
            self.group_nodes.push(node);
            self.overlay_group(own, node, false);
            members[at] = Member::Group { group: own, required };
        }
        let there: HashSet<u32> = members.iter().filter_map(|member| self.count_tag(member)).collect();
        for (node, added) in self.members_by_node(scope, &there) {
            if let Some(known) = members.iter_mut().find(|known| same_member(known, &added)) {
                // If it is omitted it says nothing.
                if node.attribute("required").is_some() {
                    *known = added;
                }
                continue;
            }
            if let Some(component) = self.component_with(members, &added) {
                let name = &self.components[component.index()].name;
                let reason = format!("it comes with component '{name}' already: change it there");
                self.found.error(xml::line(node), xml::place(node), reason);
                continue;
            }
            members.push(added);
        }
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

    /// Returns the component among `members` that contains the tag of `added`.
    fn component_with(&self, members: &[Member], added: &Member) -> Option<ComponentId> {
        let tag = match *added {
            Member::Field { tag, .. } => tag,
            _ => self.count_tag(added)?,
        };
        // A component that contains itself is refused later: no definition is entered twice.
        let mut seen = HashSet::new();
        members.iter().find_map(|member| {
            let Member::Component { component: outermost, .. } = *member else { return None };
            let mut open = vec![outermost];
            while let Some(component) = open.pop() {
                if !seen.insert(component) {
                    continue;
                }
                for member in &self.components[component.index()].members {
                    match *member {
                        Member::Component { component, .. } => open.push(component),
                        Member::Field { tag: other, .. } if other == tag => return Some(component),
                        _ if self.count_tag(member) == Some(tag) => return Some(component),
                        _ => {}
                    }
                }
            }
            None
        })
    }

    fn count_tag(&self, member: &Member) -> Option<u32> {
        match *member {
            Member::Group { group, .. } => Some(self.groups[group.index()].count_tag),
            _ => None,
        }
    }

    fn replaces(&mut self, node: Node<'a, 'd>) -> bool {
        match node.attribute("replace") {
            None | Some("N" | "n") => false,
            Some("Y" | "y") => true,
            Some(other) => {
                let reason = format!("attribute 'replace' is '{other}', not Y or N");
                self.found.error(xml::line(node), xml::label(node), reason);
                false
            }
        }
    }

    fn base_name(&self, at: usize) -> &'a str {
        self.base.and_then(|base| base.fields.get(at)).map_or("", |field| field.name.as_str())
    }

    fn version_name(&self) -> &'a str {
        self.base.map_or("", |base| base.version.name.as_str())
    }
}

fn same_member(one: &Member, other: &Member) -> bool {
    match (*one, *other) {
        (Member::Field { tag: one, .. }, Member::Field { tag: other, .. }) => one == other,
        (Member::Component { component: one, .. }, Member::Component { component: other, .. }) => {
            one == other
        }
        (Member::Group { group: one, .. }, Member::Group { group: other, .. }) => one == other,
        _ => false,
    }
}
