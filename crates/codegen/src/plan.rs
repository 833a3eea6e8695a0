//! Everything that is worked out before printing: names, identical groups, the components of a
//! message and their positions, tags that occur both in a message and in a group of it.

use std::collections::{BTreeSet, HashMap, HashSet};

use fixbolt_codec::{MsgType, Tag, Version, is_admin};
use fixbolt_dictionary::{ComponentId, Definition, Dictionary, FieldDef, GroupId, Member, MessageDef};

use crate::kind::{self, CodeSet, Kind};
use crate::naming::{Naming, Renamed, Taken};
use crate::{GenerateError, names};

/// Fields that the session writes; the codec refuses them from anyone else.
pub(crate) const SESSION_FIELDS: [u32; 10] = [8, 9, 10, 34, 35, 43, 49, 52, 56, 122];

/// Everything that printing needs to know about a dictionary.
pub(crate) struct Plan<'d> {
    pub(crate) dictionary: &'d Dictionary,
    /// The version of the standard whose messages these are; `None` for a dialect under a name of
    /// its own.
    version: Option<Version>,
    naming: Naming,
    /// Messages to print.
    pub(crate) messages: Vec<&'d MessageDef>,
    /// Names of fields as methods.
    methods: HashMap<u32, String>,
    /// Names of groups as methods, by count tag.
    group_methods: HashMap<u32, String>,
    kinds: HashMap<u32, Kind>,
    /// Code sets that fields use, in the dictionary's order.
    pub(crate) code_sets: Vec<CodeSet<'d>>,
    /// For each group the first one that is identical.
    alike: Vec<GroupId>,
    /// Components that are always required where they occur: their required members are required.
    always: HashSet<ComponentId>,
    /// Tags that occur in some place and also in a group of that place.
    shadowed: BTreeSet<u32>,
    /// For each printed group the tags that may occur in an entry, including those of its groups.
    within: HashMap<GroupId, BTreeSet<u32>>,
    /// Length fields of data fields.
    lengths: HashSet<u32>,
    /// Components that are used.
    pub(crate) components: BTreeSet<ComponentId>,
    /// Groups that are used, one for each set of identical ones.
    pub(crate) groups: BTreeSet<GroupId>,
}

/// A member with its position, counted from 1, among all members of the message or entry, including
/// those of components.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) ordinal: u16,
    pub(crate) tag: u32,
    pub(crate) required: bool,
    pub(crate) group: Option<GroupId>,
}

/// The members of a message, header, trailer or group entry.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Members that are printed here: its own, and those that two components have.
    pub(crate) own: Vec<Placed>,
    /// All members, each tag once.
    pub(crate) all: Vec<Placed>,
    /// Components and the ordinal of their first member.
    pub(crate) components: Vec<(ComponentId, u16)>,
    /// Tags that also occur in a group of this place.
    pub(crate) shadowed: BTreeSet<u32>,
}

impl Layout {
    /// Groups of this place.
    pub(crate) fn groups(&self) -> impl Iterator<Item = GroupId> {
        self.all.iter().filter_map(|member| member.group)
    }

    /// The tags of all members in the order in which they stand.
    pub(crate) fn order(&self) -> impl Iterator<Item = u32> {
        let mut members: Vec<&Placed> = self.all.iter().collect();
        members.sort_by_key(|member| member.ordinal);
        members.into_iter().map(|member| member.tag)
    }

    /// Ordinal and count tag of the required groups.
    pub(crate) fn required_groups(&self) -> Vec<(u16, u32)> {
        let required = self.all.iter().filter(|member| member.required && member.group.is_some());
        required.map(|member| (member.ordinal, member.tag)).collect()
    }

    /// The required fields.
    pub(crate) fn required_fields(&self) -> impl Iterator<Item = &Placed> {
        self.all.iter().filter(|member| member.required && member.group.is_none())
    }
}

/// Returns an expression for the version that messages are read as.
pub(crate) fn wanted(version: Option<Version>) -> String {
    version.map_or_else(
        || "::core::option::Option::None".to_string(),
        |version| format!("::core::option::Option::Some(codec::Version::{version:?})"),
    )
}

impl<'d> Plan<'d> {
    /// Works out what to print. A dialect under a name of its own has the version `base`.
    pub(crate) fn new(dictionary: &'d Dictionary, base: Option<Version>) -> Result<Self, Vec<GenerateError>> {
        let mut errors = Vec::new();
        let mut plan = Plan {
            dictionary,
            version: dictionary.version().known.or(base),
            naming: Naming::new(dictionary),
            messages: dictionary.messages().iter().collect(),
            methods: HashMap::new(),
            group_methods: HashMap::new(),
            kinds: HashMap::new(),
            code_sets: Vec::new(),
            alike: alike(dictionary),
            always: HashSet::new(),
            shadowed: BTreeSet::new(),
            within: HashMap::new(),
            lengths: dictionary.fields().iter().filter_map(|field| field.length_tag).collect(),
            components: BTreeSet::new(),
            groups: BTreeSet::new(),
        };
        plan.reach();
        plan.check_messages(&mut errors);
        plan.check_members(&mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        for group in plan.groups.clone() {
            plan.find_tags_within(group);
        }
        plan.name_methods();
        plan.code_sets = kind::code_sets(dictionary, &mut plan.naming.renamed);
        plan.kinds = kind::kinds(dictionary, &plan.code_sets, &mut errors);
        plan.always = plan.always_present();
        for layout in plan.layouts() {
            plan.shadowed.extend(layout.shadowed);
        }
        plan.check_groups(&mut errors);
        if errors.is_empty() { Ok(plan) } else { Err(errors) }
    }

    pub(crate) fn field(&self, tag: u32) -> &'d FieldDef {
        self.dictionary.field(tag).expect("members were checked")
    }

    /// Returns the view of a message and its module.
    pub(crate) fn message_names(&self, message: &MessageDef) -> [&str; 2] {
        self.naming.message(&message.msg_type)
    }

    /// Returns the version of the standard whose messages these are; `None` for a dialect under a
    /// name of its own.
    pub(crate) const fn version(&self) -> Option<Version> {
        self.version
    }

    /// Returns the version that a message is read as, as an expression. Session messages over the
    /// transport are the transport's.
    pub(crate) fn version_of(&self, message: &MessageDef) -> String {
        let is_transport = self.dictionary.version().begin_string == Version::Fixt11.begin_string();
        let version = match is_transport && is_admin(message.msg_type.as_bytes()) {
            true => Some(Version::Fixt11),
            false => self.version,
        };
        wanted(version)
    }

    /// Returns a component's trait of getters and that of setters.
    pub(crate) fn component_names(&self, id: ComponentId) -> [&str; 2] {
        self.naming.component(id)
    }

    /// Returns the view of a group's entries and its module.
    pub(crate) fn group_names(&self, id: GroupId) -> [&str; 2] {
        self.naming.group(id)
    }

    /// Returns everything whose name is not just the dictionary's in Rust's case.
    pub(crate) fn renamed(&self) -> &[Renamed] {
        &self.naming.renamed
    }

    pub(crate) fn method(&self, tag: u32) -> &str {
        &self.methods[&tag]
    }

    pub(crate) fn group_method(&self, count_tag: u32) -> &str {
        &self.group_methods[&count_tag]
    }

    pub(crate) fn kind(&self, tag: u32) -> &Kind {
        &self.kinds[&tag]
    }

    /// Returns the name of the constant for a tag that is written.
    pub(crate) fn key_name(&self, tag: u32) -> String {
        self.method(tag).to_uppercase()
    }

    /// Returns the one group that is printed for all identical ones.
    pub(crate) fn printed(&self, group: GroupId) -> GroupId {
        self.alike[group.index()]
    }

    /// Groups that are identical to a printed one, which has another name.
    pub(crate) fn twins(&self) -> impl Iterator<Item = (GroupId, GroupId)> {
        self.dictionary
            .group_ids()
            .map(|group| (group, self.printed(group)))
            .filter(|(group, printed)| group != printed && self.groups.contains(printed))
    }

    /// Returns whether a length field is written together with its data field.
    pub(crate) fn is_length(&self, tag: u32) -> bool {
        self.lengths.contains(&tag)
    }

    /// Returns whether a component's tag needs a look-up that skips groups in some place with the
    /// component.
    pub(crate) fn shadowed_somewhere(&self, tag: u32) -> bool {
        self.shadowed.contains(&tag)
    }

    /// Returns whether a component's required members are required wherever the component occurs.
    pub(crate) fn is_always(&self, component: ComponentId) -> bool {
        self.always.contains(&component)
    }

    /// Returns whether the version has a header and trailer of its own, as all do except those over
    /// a transport.
    pub(crate) fn has_header(&self) -> bool {
        !self.dictionary.header().is_empty()
    }

    /// Returns all tags of the version, ascending, as a list.
    pub(crate) fn known_tags(&self) -> String {
        let tags: Vec<String> = self.dictionary.fields().iter().map(|field| field.tag.to_string()).collect();
        tags.chunks(20).map(|line| line.join(", ")).collect::<Vec<_>>().join(",\n")
    }

    /// Fields of the header that the application may write.
    pub(crate) fn application_header(&self) -> Vec<Member> {
        let session = |member: &&Member| match member {
            Member::Field { tag, .. } => !SESSION_FIELDS.contains(tag),
            _ => true,
        };
        self.dictionary.header().iter().filter(session).copied().collect()
    }

    pub(crate) fn message_layout(&self, message: &MessageDef) -> Layout {
        self.layout(&message.members, None)
    }

    /// Returns the layout of a group's entry. Its first field is required, as every entry begins
    /// with it.
    pub(crate) fn entry_layout(&self, group: GroupId) -> Layout {
        self.layout(&self.dictionary.group(group).members, Some(self.dictionary.delimiter(group)))
    }

    pub(crate) fn layout(&self, members: &[Member], delimiter: Option<u32>) -> Layout {
        let mut layout = Layout::default();
        let mut walk = Walk { ordinal: 0, seen: BTreeSet::new(), twice: BTreeSet::new() };
        self.place(members, true, true, &mut walk, &mut layout);
        for member in &mut layout.all {
            if Some(member.tag) == delimiter && member.group.is_none() {
                member.required = true;
            } else if delimiter.is_some() && self.field(member.tag).length_tag == delimiter {
                // Written with its length field, which begins the entry.
                (member.required, member.ordinal) = (true, 1);
            }
        }
        let own: BTreeSet<u32> = layout.own.iter().map(|member| member.tag).collect();
        layout.own = layout
            .all
            .iter()
            .filter(|member| own.contains(&member.tag) || walk.twice.contains(&member.tag))
            .copied()
            .collect();
        let nested: HashSet<u32> =
            layout.groups().flat_map(|group| self.tags_within(group)).copied().collect();
        layout.shadowed =
            layout.all.iter().map(|member| member.tag).filter(|tag| nested.contains(tag)).collect();
        layout
    }

    /// Returns all tags that may occur in an entry of a printed group, including those of its
    /// groups.
    pub(crate) fn tags_within(&self, group: GroupId) -> &BTreeSet<u32> {
        &self.within[&group]
    }

    /// Members of an entry whose second occurrence is the field of that tag after the group.
    pub(crate) fn ending_tags(&self, group: GroupId) -> Vec<u32> {
        let layout = self.layout(&self.dictionary.group(group).members, None);
        let direct = layout.all.iter().map(|member| member.tag);
        direct.filter(|tag| self.shadowed.contains(tag) && !layout.shadowed.contains(tag)).collect()
    }

    fn place(
        &self,
        members: &[Member],
        required_so_far: bool,
        own: bool,
        walk: &mut Walk,
        layout: &mut Layout,
    ) {
        for member in members {
            let (tag, required, group) = match *member {
                Member::Field { tag, required } => (tag, required, None),
                Member::Group { group, required } => {
                    (self.dictionary.group(group).count_tag, required, Some(self.printed(group)))
                }
                Member::Component { component, required } => {
                    if layout.components.iter().all(|(other, _)| *other != component) {
                        layout.components.push((component, walk.ordinal + 1));
                    }
                    let members = &self.dictionary.component(component).members;
                    self.place(members, required_so_far && required, false, walk, layout);
                    continue;
                }
            };
            walk.ordinal += 1;
            let required = required && required_so_far;
            let placed = Placed { ordinal: walk.ordinal, tag, required, group };
            if !walk.seen.insert(tag) {
                walk.twice.insert(tag);
                continue;
            }
            layout.all.push(placed);
            if own {
                layout.own.push(placed);
            }
        }
    }

    /// Layouts of everything that is printed.
    pub(crate) fn layouts(&self) -> Vec<Layout> {
        let mut layouts: Vec<Layout> =
            self.messages.iter().map(|message| self.message_layout(message)).collect();
        layouts.extend(self.groups.iter().map(|group| self.entry_layout(*group)));
        layouts.push(self.layout(self.dictionary.header(), None));
        layouts.push(self.layout(self.dictionary.trailer(), None));
        layouts
    }

    /// Member lists of everything, components last.
    fn member_lists(&self) -> Vec<(String, &'d [Member])> {
        let dictionary = self.dictionary;
        let mut lists =
            vec![("header".to_string(), dictionary.header()), ("trailer".to_string(), dictionary.trailer())];
        lists.extend(dictionary.messages().iter().map(|m| (format!("message {}", m.name), &m.members[..])));
        lists.extend(
            self.groups
                .iter()
                .map(|g| dictionary.group(*g))
                .map(|g| (format!("group {}", g.name), &g.members[..])),
        );
        lists.extend(
            self.components
                .iter()
                .map(|c| dictionary.component(*c))
                .map(|c| (format!("component {}", c.name), &c.members[..])),
        );
        lists
    }

    fn find_tags_within(&mut self, group: GroupId) {
        if self.within.contains_key(&group) {
            return;
        }
        let mut tags = BTreeSet::new();
        for member in self.dictionary.expand(&self.dictionary.group(group).members) {
            tags.insert(member.tag);
            if let Some(nested) = member.group {
                let nested = self.printed(nested);
                self.find_tags_within(nested);
                tags.extend(&self.within[&nested]);
            }
        }
        self.within.insert(group, tags);
    }

    /// Finds the components and groups that are used.
    pub(crate) fn reach(&mut self) {
        let dictionary = self.dictionary;
        self.components.clear();
        self.groups.clear();
        let mut open: Vec<&[Member]> = vec![dictionary.header(), dictionary.trailer()];
        open.extend(self.messages.iter().map(|message| &message.members[..]));
        while let Some(members) = open.pop() {
            for member in members {
                match *member {
                    Member::Group { group, .. } => {
                        let group = self.printed(group);
                        if self.groups.insert(group) {
                            open.push(&dictionary.group(group).members);
                        }
                    }
                    Member::Component { component, .. } => {
                        if self.components.insert(component) {
                            open.push(&dictionary.component(component).members);
                        }
                    }
                    Member::Field { .. } => {}
                }
            }
        }
    }

    fn check_messages(&self, errors: &mut Vec<GenerateError>) {
        for message in self.dictionary.messages() {
            if MsgType::try_new(message.msg_type.as_bytes()).is_none() {
                errors.push(GenerateError {
                    element: format!("message {}", message.name),
                    definition: Some(Definition::Message(message.msg_type.clone())),
                    reason: format!("its MsgType {:?} has no bytes, more than 15, or SOH", message.msg_type),
                });
            }
        }
    }

    fn check_members(&self, errors: &mut Vec<GenerateError>) {
        for (element, members) in self.member_lists() {
            for member in members {
                let tag = match *member {
                    Member::Field { tag, .. } => tag,
                    Member::Group { group, .. } => self.dictionary.group(group).count_tag,
                    Member::Component { .. } => continue,
                };
                if self.dictionary.field(tag).is_none() {
                    let reason = format!("its member {tag} is not a field of the dictionary");
                    errors.push(GenerateError { element: element.clone(), definition: None, reason });
                }
            }
        }
    }

    fn check_groups(&self, errors: &mut Vec<GenerateError>) {
        for &id in &self.groups {
            let group = self.dictionary.group(id);
            let delimiter = self.dictionary.delimiter(id);
            let layout = self.entry_layout(id);
            if layout.groups().any(|nested| self.tags_within(nested).contains(&delimiter)) {
                errors.push(GenerateError {
                    element: format!("group {}", group.name),
                    definition: Some(Definition::Group(id)),
                    reason: format!("{delimiter}, with which its entries begin, is also in a group within"),
                });
            }
        }
        for layout in self.layouts() {
            if layout.required_groups().len() > 32 {
                errors.push(GenerateError {
                    element: "dictionary".to_string(),
                    definition: None,
                    reason: "more than 32 groups are required in one place".to_string(),
                });
            }
        }
    }

    fn name_methods(&mut self) {
        let mut taken = Taken::default();
        for field in self.dictionary.fields() {
            let [name] = taken.take(&field.name, &field.tag.to_string(), |name| [names::snake(name)]);
            let plain = names::snake(&field.name);
            let standard = Tag::try_new(field.tag).is_some_and(Tag::is_of_standard);
            let reserved = plain.ends_with('_') && !standard;
            if name != plain || reserved || !names::is_ascii(&field.name) {
                self.naming.renamed.push(Renamed {
                    element: format!("field {} ({})", field.tag, field.name),
                    definition: Some(Definition::Field(field.tag)),
                    name: name.clone(),
                });
            }
            self.methods.insert(field.tag, name);
        }
        let mut stripped = HashMap::new();
        for group in &self.groups {
            let count = self.dictionary.group(*group).count_tag;
            let rest = self.field(count).name.strip_prefix("No");
            let rest = rest.filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
            stripped.insert(count, rest.map_or_else(|| self.method(count).to_string(), names::snake));
        }
        // A field of the same name next to the group keeps it, and so does the first of two groups.
        let layouts = self.layouts();
        let mut full = HashSet::new();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for layout in &layouts {
                let (groups, fields): (Vec<&Placed>, Vec<&Placed>) =
                    layout.all.iter().partition(|member| member.group.is_some());
                let mut taken: HashSet<String> =
                    fields.iter().map(|member| self.method(member.tag).to_string()).collect();
                for member in groups {
                    let name = stripped.get_mut(&member.tag).expect("every group has a name");
                    while !taken.insert(name.clone()) {
                        changed = true;
                        if full.insert(member.tag) {
                            *name = self.method(member.tag).to_string();
                        } else {
                            name.push('_');
                        }
                    }
                }
            }
        }
        self.group_methods = stripped;
    }

    /// Components that are required everywhere they occur.
    fn always_present(&self) -> HashSet<ComponentId> {
        let mut optional: HashSet<ComponentId> = HashSet::new();
        loop {
            let before = optional.len();
            for (_, members) in self.member_lists() {
                for member in members {
                    if let Member::Component { component, required: false } = member {
                        optional.insert(*component);
                    }
                }
            }
            for &outer in &self.components {
                if optional.contains(&outer) {
                    for member in &self.dictionary.component(outer).members {
                        if let Member::Component { component, .. } = member {
                            optional.insert(*component);
                        }
                    }
                }
            }
            if optional.len() == before {
                return self.components.difference(&optional.into_iter().collect()).copied().collect();
            }
        }
    }
}

struct Walk {
    ordinal: u16,
    seen: BTreeSet<u32>,
    twice: BTreeSet<u32>,
}

/// For each group the first one with the same count tag and identical members.
fn alike(dictionary: &Dictionary) -> Vec<GroupId> {
    #[derive(PartialEq, Eq, Hash)]
    enum Key {
        Field(u32, bool),
        Group(u32, bool),
        Component(ComponentId, bool),
    }
    struct Classes<'d> {
        dictionary: &'d Dictionary,
        numbers: HashMap<(u32, Vec<Key>), u32>,
        of: HashMap<GroupId, u32>,
    }
    impl Classes<'_> {
        fn class(&mut self, id: GroupId) -> u32 {
            if let Some(class) = self.of.get(&id) {
                return *class;
            }
            let group = self.dictionary.group(id);
            let members = group.members.iter().map(|member| match *member {
                Member::Field { tag, required } => Key::Field(tag, required),
                Member::Group { group, required } => Key::Group(self.class(group), required),
                Member::Component { component, required } => Key::Component(component, required),
            });
            let key = (group.count_tag, members.collect());
            let next = self.numbers.len() as u32;
            let class = *self.numbers.entry(key).or_insert(next);
            self.of.insert(id, class);
            class
        }
    }
    let mut classes = Classes { dictionary, numbers: HashMap::new(), of: HashMap::new() };
    let mut first: HashMap<u32, GroupId> = HashMap::new();
    dictionary
        .group_ids()
        .map(|id| {
            let class = classes.class(id);
            *first.entry(class).or_insert(id)
        })
        .collect()
}
