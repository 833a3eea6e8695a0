//! The model that every reader fills: fields, code sets, components, groups and messages of one FIX
//! version.
//!
//! Components and groups are definitions that members refer to, so that they are shared;
//! [`Dictionary::expand`] flattens a member list. The model holds no messages and does not check
//! any.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;

use fixbolt_codec::{DataFields, Version};
use hmac_sha256::Hash;

use crate::data_type::{DataType, UnionType};
use crate::names;
use crate::terms::{AllTerms, Scenario};

/// A FIX version: its tags, types, codes, groups and messages.
///
/// [`Source`](crate::Source) loads one, and there are shipped versions. It is immutable.
#[derive(PartialEq, Eq)]
pub struct Dictionary {
    pub(crate) version: DictionaryVersion,
    pub(crate) origin: Origin,
    /// Ascending by tag.
    pub(crate) fields: Vec<FieldDef>,
    pub(crate) code_sets: Vec<CodeSet>,
    pub(crate) components: Vec<ComponentDef>,
    pub(crate) groups: Vec<GroupDef>,
    pub(crate) messages: Vec<MessageDef>,
    pub(crate) header: Vec<Member>,
    pub(crate) trailer: Vec<Member>,
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) terms: AllTerms,
    /// Indices into `fields`, ascending by name, ignoring case.
    pub(crate) fields_by_name: Vec<u32>,
    /// Indices into `messages`, ascending by message type.
    pub(crate) messages_by_type: Vec<u32>,
}

// Derived, it would be inline: every crate would compile the copying of whole dictionaries.
impl Clone for Dictionary {
    fn clone(&self) -> Self {
        Self {
            version: self.version.clone(),
            origin: self.origin.clone(),
            fields: self.fields.clone(),
            code_sets: self.code_sets.clone(),
            components: self.components.clone(),
            groups: self.groups.clone(),
            messages: self.messages.clone(),
            header: self.header.clone(),
            trailer: self.trailer.clone(),
            scenarios: self.scenarios.clone(),
            terms: self.terms.clone(),
            fields_by_name: self.fields_by_name.clone(),
            messages_by_type: self.messages_by_type.clone(),
        }
    }
}

/// The version that a dictionary describes: one of the standard, or one of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryVersion {
    /// The version's name, for example `FIX.4.4`, `FIX.5.0SP2`, `FIX.Latest`, `FIXT.1.1`.
    pub name: String,
    /// The value of BeginString(8): `FIXT.1.1` for every version from FIX.5.0 on.
    pub begin_string: String,
    /// The version of the standard that has this name.
    pub known: Option<Version>,
}

impl DictionaryVersion {
    /// The version called `name`, with the BeginString that goes with it.
    pub(crate) fn named(name: &str) -> DictionaryVersion {
        let known = Version::ALL.into_iter().find(|version| version.name() == name);
        let over_fixt = name.starts_with("FIX.5") || name.starts_with("FIXT");
        let begin_string = match known {
            Some(version) => version.begin_string(),
            None if over_fixt => Version::Fixt11.begin_string(),
            None => name,
        };
        DictionaryVersion { name: name.to_string(), begin_string: begin_string.to_string(), known }
    }

    /// The version's value in ApplVerID(1128), where it has one.
    pub fn appl_ver_id(&self) -> Option<&'static str> {
        self.known.and_then(Version::appl_ver_id)
    }
}

/// Where a dictionary comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Name of the source file; empty if there is none.
    pub name: String,
    /// SHA-256 of the source text, in lower-case hexadecimal.
    pub sha256: String,
    /// License under which the source's facts are used; empty if nothing was said. Facts of a
    /// shipped version bring that version's license into whatever is made from it.
    pub license: String,
}

impl Origin {
    /// Returns the SHA-256 of a source text, as `sha256sum` prints it.
    pub(crate) fn hash_of(text: &str) -> String {
        Hash::hash(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Returns the licenses of what was put together, each once.
pub(crate) fn licenses(of: [&str; 2]) -> String {
    match of {
        [one, other] if one == other || other.is_empty() => one.to_string(),
        ["", other] => other.to_string(),
        [one, other] => format!("{one}; {other}"),
    }
}

/// A field: its tag, its name and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDef {
    /// Tag number, 1 to 2^31 - 1.
    pub tag: u32,
    /// The field's name.
    pub name: String,
    /// The type of its values.
    pub kind: DataType,
    /// The code set its values come from.
    pub codes: Option<CodeSetId>,
    /// What the field accepts in addition to its codes.
    pub union: Option<UnionType>,
    /// For a data field: the tag of its length field.
    pub length_tag: Option<u32>,
}

/// A set of codes, shared by the fields that use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSet {
    /// The set's name.
    pub name: String,
    /// The codes in the order of the source, each value once.
    pub codes: Vec<Code>,
}

/// A value of a code set and its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Code {
    /// The value on the wire.
    pub value: String,
    /// The name in the source.
    pub name: String,
}

impl Code {
    /// Returns the name in the form for display: `GOOD_TILL_CANCEL`.
    pub fn display_name(&self) -> String {
        names::upper_snake(&self.name)
    }
}

/// Identifies a code set in [`Dictionary::code_sets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeSetId(pub(crate) u32);

/// Identifies a component in [`Dictionary::components`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComponentId(pub(crate) u32);

/// Identifies a group in [`Dictionary::groups`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub(crate) u32);

impl CodeSetId {
    /// Returns the index into [`Dictionary::code_sets`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl ComponentId {
    /// Returns the index into [`Dictionary::components`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl GroupId {
    /// Returns the index into [`Dictionary::groups`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One entry of a member list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Member {
    /// A field.
    Field {
        /// Its tag.
        tag: u32,
        /// Whether it is required in its message, entry or component.
        required: bool,
    },
    /// A repeating group.
    Group {
        /// Its definition.
        group: GroupId,
        /// Whether it is required, with at least one entry, in its message, entry or component.
        required: bool,
    },
    /// A component, which is replaced by its members.
    Component {
        /// Its definition.
        component: ComponentId,
        /// Whether it is required; the members of an optional component are optional.
        required: bool,
    },
}

/// A component: members that several messages share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentDef {
    /// The component's name.
    pub name: String,
    /// Its members in order.
    pub members: Vec<Member>,
}

/// A repeating group: the count field and the members of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupDef {
    /// The group's name, unique among the groups of a dictionary (a count tag is not: FIX 4.4 has
    /// eight groups under 555).
    pub name: String,
    /// Tag of the field that counts the entries.
    pub count_tag: u32,
    /// Members of an entry in order, without the count field.
    pub members: Vec<Member>,
    /// Whether a QuickFIX file wraps the group in a component and marks it as optional inside.
    /// QuickFIX and QuickFIX/J then never require it, whatever the mark of the component says. The
    /// standard does not define a meaning for the mark inside.
    pub optional_inside: bool,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageDef {
    /// Value of MsgType(35).
    pub msg_type: String,
    /// The message's name.
    pub name: String,
    /// Members of the body in order, without header and trailer.
    pub members: Vec<Member>,
}

impl MessageDef {
    /// Returns whether the message belongs to the session layer: MsgType 0 to 5 and A, whatever
    /// category a dictionary says.
    pub fn is_admin(&self) -> bool {
        fixbolt_codec::is_admin(self.msg_type.as_bytes())
    }
}

/// A member after components were replaced by their members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlatMember {
    /// Tag of the field; for a group, of its count field.
    pub tag: u32,
    /// Whether it is required, taking the components around it into account.
    pub required: bool,
    /// The group, if the member is one.
    pub group: Option<GroupId>,
}

/// Shows which dictionary it is, and how much it has.
impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary")
            .field("version", &self.version)
            .field("origin", &self.origin)
            .field("fields", &self.fields.len())
            .field("components", &self.components.len())
            .field("groups", &self.groups.len())
            .field("messages", &self.messages.len())
            .finish_non_exhaustive()
    }
}

impl Dictionary {
    /// Returns the version.
    pub fn version(&self) -> &DictionaryVersion {
        &self.version
    }

    /// Returns where the facts come from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns all fields, ascending by tag.
    pub fn fields(&self) -> &[FieldDef] {
        &self.fields
    }

    /// Returns all code sets in the order of the source.
    pub fn code_sets(&self) -> &[CodeSet] {
        &self.code_sets
    }

    /// Returns all components in the order of the source, without header and trailer.
    pub fn components(&self) -> &[ComponentDef] {
        &self.components
    }

    /// Returns all groups in the order of the source.
    pub fn groups(&self) -> &[GroupDef] {
        &self.groups
    }

    /// Returns the ids of all groups, in the order of [`Dictionary::groups`].
    pub fn group_ids(&self) -> impl Iterator<Item = GroupId> + use<> {
        (0..self.groups.len() as u32).map(GroupId)
    }

    /// Returns the ids of all components, in the order of [`Dictionary::components`].
    pub fn component_ids(&self) -> impl Iterator<Item = ComponentId> + use<> {
        (0..self.components.len() as u32).map(ComponentId)
    }

    /// Returns all messages in the order of the source.
    pub fn messages(&self) -> &[MessageDef] {
        &self.messages
    }

    /// Returns the members of the standard header in order; empty for application versions over
    /// FIXT.
    pub fn header(&self) -> &[Member] {
        &self.header
    }

    /// Returns the members of the standard trailer in order; empty for application versions over
    /// FIXT.
    pub fn trailer(&self) -> &[Member] {
        &self.trailer
    }

    /// Returns the field with this tag.
    pub fn field(&self, tag: u32) -> Option<&FieldDef> {
        self.fields.binary_search_by_key(&tag, |field| field.tag).ok().map(|at| &self.fields[at])
    }

    /// Returns the field with this name, in any case. Names that other versions, QuickFIX and
    /// QuickFIX/J have for the same tag are accepted too.
    pub fn field_by_name(&self, name: &str) -> Option<&FieldDef> {
        self.fields_by_name
            .binary_search_by(|&at| compare_without_case(&self.fields[at as usize].name, name))
            .ok()
            .map(|at| &self.fields[self.fields_by_name[at] as usize])
            .or_else(|| names::field_alias(name).and_then(|tag| self.field(tag)))
    }

    /// Returns the message with this MsgType.
    pub fn message(&self, msg_type: &[u8]) -> Option<&MessageDef> {
        self.messages_by_type
            .binary_search_by(|&at| self.messages[at as usize].msg_type.as_bytes().cmp(msg_type))
            .ok()
            .map(|at| &self.messages[self.messages_by_type[at] as usize])
    }

    /// Returns the message with this name, in any case. Names of other versions, QuickFIX and
    /// QuickFIX/J are accepted too.
    pub fn message_by_name(&self, name: &str) -> Option<&MessageDef> {
        self.messages
            .iter()
            .find(|message| message.name.eq_ignore_ascii_case(name))
            .or_else(|| names::message_alias(name).and_then(|msg_type| self.message(msg_type.as_bytes())))
    }

    /// Returns the code set with this id.
    pub fn code_set(&self, id: CodeSetId) -> &CodeSet {
        &self.code_sets[id.index()]
    }

    /// Returns the component with this id.
    pub fn component(&self, id: ComponentId) -> &ComponentDef {
        &self.components[id.index()]
    }

    /// Returns the group with this id.
    pub fn group(&self, id: GroupId) -> &GroupDef {
        &self.groups[id.index()]
    }

    /// Returns the codes of the field with this tag; empty if it has no code set.
    pub fn codes(&self, tag: u32) -> &[Code] {
        self.field(tag).and_then(|field| field.codes).map_or(&[], |id| &self.code_set(id).codes)
    }

    /// Returns the code with this `value` of the field with this tag.
    pub fn code(&self, tag: u32, value: &[u8]) -> Option<&Code> {
        self.codes(tag).iter().find(|code| code.value.as_bytes() == value)
    }

    /// Returns the code with this name of the field with this tag; case, `_`, `-` and spaces are
    /// ignored.
    pub fn code_by_name(&self, tag: u32, name: &str) -> Option<&Code> {
        self.codes(tag).iter().find(|code| names::same_code_name(&code.name, name))
    }

    /// Returns the data fields for splitting messages of this version: its own, and those of the
    /// standard whose length field it does not define differently.
    pub fn data_fields(&self) -> DataFields {
        let mut pairs = self.length_data_pairs();
        pairs.extend(DataFields::STANDARD.pairs().iter().filter(|(length, _)| self.field(*length).is_none()));
        DataFields::new(&in_order(pairs, &|one, other| one.cmp(other)))
    }

    /// Returns every pair of length tag and data tag that the version defines, ascending by length
    /// tag.
    pub fn length_data_pairs(&self) -> Vec<(u32, u32)> {
        let pairs = self.fields.iter().filter_map(|field| Some((field.length_tag?, field.tag))).collect();
        let mut pairs: Vec<(u32, u32)> = in_order(pairs, &|one, other| one.cmp(other));
        pairs.dedup_by_key(|pair| pair.0);
        pairs
    }

    /// Returns the first tag of every entry of a group: its first field, or the count tag of the
    /// group that it begins with, with components resolved.
    pub fn delimiter(&self, group: GroupId) -> u32 {
        let mut members: &[Member] = &self.group(group).members;
        loop {
            // Readers refuse cycles, and an empty group or component as the first member.
            match members[0] {
                Member::Field { tag, .. } => return tag,
                Member::Group { group, .. } => return self.group(group).count_tag,
                Member::Component { component, .. } => members = &self.component(component).members,
            }
        }
    }

    /// Returns the members with components replaced by their members, in order. A member is
    /// required if it and every component around it are. A repeated tag keeps its first position.
    /// Groups are not entered.
    pub fn expand(&self, members: &[Member]) -> impl Iterator<Item = FlatMember> + use<> {
        let mut flat = Vec::with_capacity(members.len());
        self.expand_into(members, true, &mut HashSet::new(), &mut flat);
        let mut seen = HashSet::with_capacity(flat.len());
        flat.retain(|member| seen.insert(member.tag));
        flat.into_iter()
    }

    /// A component that was seen before adds nothing. Without this, sixty components that each
    /// contain the previous one twice would not end.
    fn expand_into(
        &self,
        members: &[Member],
        required_so_far: bool,
        met: &mut HashSet<u32>,
        flat: &mut Vec<FlatMember>,
    ) {
        for member in members {
            match *member {
                Member::Field { tag, required } => {
                    flat.push(FlatMember { tag, required: required && required_so_far, group: None });
                }
                Member::Group { group, required } => flat.push(FlatMember {
                    tag: self.group(group).count_tag,
                    required: required && required_so_far,
                    group: Some(group),
                }),
                Member::Component { component, required } => {
                    if met.insert(component.0) {
                        let members = &self.component(component).members;
                        self.expand_into(members, required && required_so_far, met, flat);
                    }
                }
            }
        }
    }
}

/// Sorts positions. This is one function for all that is sorted once, as each closure's own would
/// be compiled anew.
pub(crate) fn sort_positions(positions: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    positions.sort_unstable_by(|left, right| compare(*left, *right));
}

/// Returns the positions of `count` items in order.
pub(crate) fn sorted(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    sort_positions(&mut positions, compare);
    positions
}

/// Returns the items in order. Those that are equal stay as they were.
pub(crate) fn in_order<T>(items: Vec<T>, compare: &dyn Fn(&T, &T) -> Ordering) -> Vec<T> {
    let order =
        sorted(items.len(), &|left, right| compare(&items[left], &items[right]).then(left.cmp(&right)));
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| items[at].take()).collect()
}

pub(crate) fn compare_without_case(left: &str, right: &str) -> Ordering {
    let lower = |byte: u8| byte.to_ascii_lowercase();
    left.bytes().map(lower).cmp(right.bytes().map(lower))
}
