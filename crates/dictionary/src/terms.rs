//! What a dictionary says of members beyond their places: constant values and conditions; and the
//! scenarios of messages. FIX Orchestra can say both, QuickFIX XML neither.
//!
//! Conditions are text: nothing here evaluates them, and no message is checked against them.

use std::collections::HashMap;
use std::fmt;

use crate::locate::{Definition, Key};
use crate::model::{Dictionary, Member, MessageDef};

/// What a dictionary says of a member beside its place and whether it is required.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Terms {
    /// The only value that the member has here.
    pub constant: Option<String>,
    /// The conditions that change its presence, in the order of the source.
    pub rules: Vec<Rule>,
}

/// A condition that changes the presence of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The rule's name; empty if it has none.
    pub name: String,
    /// The presence where the condition holds.
    pub presence: Presence,
    /// The condition, in the words of the source.
    pub when: String,
}

/// Whether a member is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Presence {
    /// It must be there.
    Required,
    /// It may be there.
    Optional,
    /// It must not be there.
    Forbidden,
    /// It may be there, and has no meaning.
    Ignored,
    /// It has one value only.
    Constant,
}

impl Presence {
    const ALL: [Presence; 5] =
        [Presence::Required, Presence::Optional, Presence::Forbidden, Presence::Ignored, Presence::Constant];

    /// Returns FIX Orchestra's word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Presence::Required => "required",
            Presence::Optional => "optional",
            Presence::Forbidden => "forbidden",
            Presence::Ignored => "ignored",
            Presence::Constant => "constant",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Presence> {
        Presence::ALL.into_iter().find(|presence| presence.name() == name)
    }
}

impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A message as a scenario other than base has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scenario {
    /// The scenario's name.
    pub name: String,
    /// The message, with the members and the presence that it has there.
    pub message: MessageDef,
}

/// Terms by the definition that lists a member, and the member.
pub(crate) type AllTerms = HashMap<(Key, Key), Terms>;

impl Dictionary {
    /// Returns what the dictionary says of a member that this definition lists, beside its place
    /// and whether it is required: a constant value, conditions.
    ///
    /// ```
    /// use fixbolt_dictionary::{Definition, Member, Source};
    /// let text = "<repository name='FIX.4.4'>
    ///     <fields><field id='22' name='SecurityIDSource' type='String'/></fields>
    ///     <messages><message name='Order' msgType='D'><structure>
    ///     <fieldRef id='22' presence='constant' value='4'/>
    ///     </structure></message></messages></repository>";
    /// let dictionary = Source::text(text).load().unwrap().dictionary;
    /// let order = Definition::Message("D".to_string());
    /// let terms = dictionary.terms(&order, &Member::Field { tag: 22, required: false }).unwrap();
    /// assert_eq!(terms.constant.as_deref(), Some("4"));
    /// ```
    pub fn terms(&self, place: &Definition, member: &Member) -> Option<&Terms> {
        self.terms.get(&(Key::of(place, self), self.key_of(member)))
    }

    /// Returns every message in every scenario other than base, in the order of the source.
    pub fn scenarios(&self) -> &[Scenario] {
        &self.scenarios
    }

    /// Returns the dictionary with the messages of this scenario in place of those of base, as far
    /// as it has messages of its own; `None` if it has none.
    pub fn in_scenario(&self, name: &str) -> Option<Dictionary> {
        if !self.scenarios.iter().any(|scenario| scenario.name == name) {
            return None;
        }
        let mut dictionary = self.clone();
        for scenario in self.scenarios.iter().filter(|scenario| scenario.name == name) {
            let msg_type = &scenario.message.msg_type;
            // A message without base is among the messages, too.
            let messages = &mut dictionary.messages;
            if let Some(message) = messages.iter_mut().find(|message| message.msg_type == *msg_type) {
                *message = scenario.message.clone();
            }
            let (base, own) = (Key::Message(msg_type.clone()), scenario.key());
            dictionary.terms.retain(|(place, _), _| *place != base);
            for ((_, member), terms) in self.terms.iter().filter(|((place, _), _)| *place == own) {
                dictionary.terms.insert((base.clone(), member.clone()), terms.clone());
            }
        }
        Some(dictionary)
    }

    fn key_of(&self, member: &Member) -> Key {
        match *member {
            Member::Field { tag, .. } => Key::Field(tag),
            Member::Group { group, .. } => Key::Group(self.group(group).name.clone()),
            Member::Component { component, .. } => Key::Component(self.component(component).name.clone()),
        }
    }
}

impl Scenario {
    /// Returns what the message is found under.
    pub(crate) fn key(&self) -> Key {
        Key::Scenario(self.name.clone(), self.message.msg_type.clone())
    }
}
