//! The Rust names of a dictionary's messages, components and groups. Each is used once in its
//! module: of two that would be the same, the later one in the dictionary's order is renamed.

use std::collections::{HashMap, HashSet};
use std::fmt;

use fixbolt_dictionary::{ComponentId, Definition, Dictionary, GroupId};

use crate::names;

/// An element of a dictionary whose name in the generated code is not just its own in Rust's case:
/// Rust or the generated code reserves that, another element has it, or it has characters that are
/// left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The element, for example `field 5001 (Type)`.
    pub element: String,
    /// Its definition, if the dictionary can locate it:
    /// [`Loaded::line_of`](fixbolt_dictionary::Loaded::line_of) finds its line.
    pub definition: Option<Definition>,
    /// Its name in the generated code.
    pub name: String,
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.element, self.reason())
    }
}

impl Renamed {
    /// Returns what happens to the element, as a warning.
    pub fn reason(&self) -> String {
        format!(
            "generated code calls it `{}`, because its own name is taken, reserved or not ASCII",
            self.name
        )
    }
}

/// The names of messages, components and groups.
pub(crate) struct Naming {
    /// View and module by MsgType.
    messages: HashMap<String, [String; 2]>,
    /// Traits of the getters and of the setters.
    components: Vec<[String; 2]>,
    /// View and module.
    groups: Vec<[String; 2]>,
    pub(crate) renamed: Vec<Renamed>,
}

impl Naming {
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        let mut renamed = Vec::new();
        let mut taken = Taken::default();
        let mut messages = HashMap::new();
        for message in dictionary.messages() {
            let form = |name: &str| [names::view(name), names::submodule(name)];
            let suffix = names::value_suffix(&message.msg_type);
            let names = taken.take(&message.name, &suffix, form);
            if names[0] != names::camel(&message.name) || !names::is_ascii(&message.name) {
                renamed.push(Renamed {
                    element: format!("message {} ({})", message.name, message.msg_type),
                    definition: Some(Definition::Message(message.msg_type.clone())),
                    name: names[0].clone(),
                });
            }
            messages.insert(message.msg_type.clone(), names);
        }
        let mut taken = Taken::default();
        let mut components = Vec::new();
        for component in dictionary.components() {
            let form = |name: &str| {
                let name = names::camel(name);
                let writer = format!("{}Writer", name.trim_end_matches('_'));
                [name, writer]
            };
            let names = taken.take(&component.name, "", form);
            if names[0] != names::camel(&component.name) || !names::is_ascii(&component.name) {
                renamed.push(Renamed {
                    element: format!("component {}", component.name),
                    definition: Some(Definition::Component(component.name.clone())),
                    name: names[0].clone(),
                });
            }
            components.push(names);
        }
        let mut taken = Taken::default();
        let mut groups = Vec::new();
        for id in dictionary.group_ids() {
            let group = dictionary.group(id);
            let form = |name: &str| [names::camel(name), names::submodule(name)];
            let names = taken.take(&group.name, &group.count_tag.to_string(), form);
            if names[0] != names::camel(&group.name) || !names::is_ascii(&group.name) {
                renamed.push(Renamed {
                    element: format!("group {}", group.name),
                    definition: Some(Definition::Group(id)),
                    name: names[0].clone(),
                });
            }
            groups.push(names);
        }
        Naming { messages, components, groups, renamed }
    }

    /// Returns the view and the module of the message with this MsgType.
    pub(crate) fn message(&self, msg_type: &str) -> [&str; 2] {
        self.messages[msg_type].each_ref().map(String::as_str)
    }

    pub(crate) fn component(&self, id: ComponentId) -> [&str; 2] {
        self.components[id.index()].each_ref().map(String::as_str)
    }

    pub(crate) fn group(&self, id: GroupId) -> [&str; 2] {
        self.groups[id.index()].each_ref().map(String::as_str)
    }
}

/// The names that a module has.
#[derive(Default)]
pub(crate) struct Taken(HashSet<String>);

impl Taken {
    /// Returns the forms of the name, of the name with the suffix, or of that with `_` after it,
    /// whichever are first not taken.
    pub(crate) fn take<const N: usize>(
        &mut self,
        name: &str,
        suffix: &str,
        form: impl Fn(&str) -> [String; N],
    ) -> [String; N] {
        let mut forms = form(name);
        if !self.are_free(&forms) {
            forms = form(&format!("{name} {suffix}"));
        }
        while !self.are_free(&forms) {
            forms.iter_mut().for_each(|form| form.push('_'));
        }
        self.0.extend(forms.iter().cloned());
        forms
    }

    fn are_free<const N: usize>(&self, forms: &[String; N]) -> bool {
        let mut own = HashSet::new();
        forms.iter().all(|form| !self.0.contains(form) && own.insert(form))
    }
}
