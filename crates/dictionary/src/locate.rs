//! Definitions of a dictionary, by what they are found under in the text that it was read from: a
//! fault that is found after reading should still name a line.

use crate::model::{Dictionary, GroupId};

/// A definition of a dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Definition {
    /// The field with this tag.
    Field(u32),
    /// The component with this name.
    Component(String),
    /// A group.
    Group(GroupId),
    /// The message with this type.
    Message(String),
    /// The standard header.
    Header,
    /// The standard trailer.
    Trailer,
}

/// A definition, whatever dictionary it came into.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    Field(u32),
    Component(String),
    Group(String),
    Message(String),
    /// A message in a scenario: the scenario's name, and the message's type.
    Scenario(String, String),
    Header,
    Trailer,
}

impl Key {
    pub(crate) fn of(definition: &Definition, dictionary: &Dictionary) -> Key {
        match definition {
            Definition::Field(tag) => Key::Field(*tag),
            Definition::Component(name) => Key::Component(name.clone()),
            Definition::Group(id) => Key::Group(dictionary.group(*id).name.clone()),
            Definition::Message(msg_type) => Key::Message(msg_type.clone()),
            Definition::Header => Key::Header,
            Definition::Trailer => Key::Trailer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, fix44};

    #[test]
    fn a_definition_is_found_in_each_form() {
        let text = "<fix extends='FIX.4.4'>
            <fields><field number='5001' name='Colour' type='CHAR'/><field number='5002' name='NoColours' type='NUMINGROUP'/></fields>
            <components>
            <component name='Parties'><group name='NoPartyIDs'><field name='Colour'/></group></component>
            <component name='Paint'><field name='Colour'/><component name='Parties'/></component></components>
            <messages>
            <message name='Paint' msgtype='U1'><component name='Paint'/>
            <group name='NoColours'><field name='Colour'/></group></message></messages></fix>";
        let dialect = Source::text(text).load().unwrap();
        let group = |name: &str| {
            let ids = dialect.dictionary.group_ids();
            let found = ids.zip(dialect.dictionary.groups()).find(|(_, group)| group.name == name);
            Definition::Group(found.unwrap().0)
        };
        let line = |definition| dialect.line_of(&definition);
        assert_eq!(line(Definition::Field(5002)), Some(2));
        assert_eq!(line(group("Parties")), Some(4));
        assert_eq!(line(Definition::Component("Paint".to_string())), Some(5));
        assert_eq!(line(Definition::Message("U1".to_string())), Some(7));
        assert_eq!(line(group("ColoursGrp")), Some(8));
        assert_eq!(line(Definition::Message("D".to_string())), None);
        assert_eq!(line(Definition::Header), None);

        let table = fix44().to_table();
        let loaded = Source::text(&table).load().unwrap();
        let number =
            |start: &str| table.lines().position(|line| line.starts_with(start)).map(|at| at as u32 + 1);
        assert_eq!(loaded.line_of(&Definition::Field(54)), number("field 54 "));
        assert_eq!(loaded.line_of(&Definition::Message("D".to_string())), number("message D "));
        assert_eq!(loaded.line_of(&Definition::Header), number("header "));

        let xml = fix44().to_quickfix_xml();
        let loaded = Source::text(&xml).load().unwrap();
        let header = xml.lines().position(|line| line.trim() == "<header>").map(|at| at as u32 + 1);
        assert_eq!(loaded.line_of(&Definition::Header), header);
    }
}
