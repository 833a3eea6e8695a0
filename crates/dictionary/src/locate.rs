//! Finds a definition in the text that it was read from: a dictionary keeps no lines, and a fault
//! that is found later should still name one.

use roxmltree::Node;

use crate::model::{Dictionary, GroupId};
use crate::xml;

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

impl Dictionary {
    /// Returns the line, from 1, on which `source` defines something. `source` is the text that
    /// this dictionary was read from. `None` if it says nothing about the definition, as an overlay
    /// about what it does not change.
    ///
    /// ```
    /// use fixbolt_dictionary::{Definition, Dictionary};
    /// let text = "<fix extends='FIX.4.4'>\n<fields>\n\
    ///     <field number='5001' name='Colour' type='CHAR'/>\n</fields></fix>";
    /// let (dialect, _) = Dictionary::from_source(text).unwrap();
    /// assert_eq!(dialect.line_of(&Definition::Field(5001), text), Some(3));
    /// assert_eq!(dialect.line_of(&Definition::Field(54), text), None);
    /// ```
    pub fn line_of(&self, definition: &Definition, source: &str) -> Option<u32> {
        let Ok(document) = xml::parse(source) else { return self.line_of_table(definition, source) };
        let is = |node: &Node<'_, '_>, kind: &str, key: &str, value: &str| {
            node.tag_name().name() == kind && node.attribute(key) == Some(value)
        };
        let find = |wanted: &dyn Fn(&Node<'_, '_>) -> bool| {
            document.descendants().find(|node| node.is_element() && wanted(node)).map(xml::line)
        };
        match definition {
            Definition::Field(tag) => {
                let tag = tag.to_string();
                find(&|node| is(node, "field", "number", &tag))
                    .or_else(|| find(&|node| is(node, "field", "id", &tag)))
            }
            Definition::Component(name) => find(&|node| is(node, "component", "name", name) && defines(node)),
            Definition::Group(id) => {
                let group = self.group(*id);
                let count = self.field(group.count_tag).map_or("", |field| field.name.as_str());
                find(&|node| is(node, "component", "name", &group.name) && defines(node))
                    .or_else(|| find(&|node| is(node, "group", "name", &group.name)))
                    .or_else(|| find(&|node| is(node, "group", "name", count)))
            }
            Definition::Message(msg_type) => find(&|node| is(node, "message", "msgtype", msg_type))
                .or_else(|| find(&|node| is(node, "message", "msgType", msg_type))),
            Definition::Header => find(&|node| {
                node.tag_name().name() == "header" || is(node, "component", "name", "StandardHeader")
            }),
            Definition::Trailer => find(&|node| {
                node.tag_name().name() == "trailer" || is(node, "component", "name", "StandardTrailer")
            }),
        }
    }

    fn line_of_table(&self, definition: &Definition, table: &str) -> Option<u32> {
        let start = match definition {
            Definition::Field(tag) => format!("field {tag} "),
            Definition::Component(name) => format!("component {name} "),
            Definition::Group(id) => format!("group {} ", self.group(*id).name),
            Definition::Message(msg_type) => format!("message {msg_type} "),
            Definition::Header => "header".to_string(),
            Definition::Trailer => "trailer".to_string(),
        };
        table.lines().position(|line| line.starts_with(&start)).map(|at| at as u32 + 1)
    }
}

/// Returns whether an element defines a component rather than refers to one.
fn defines(node: &Node<'_, '_>) -> bool {
    xml::elements(*node).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix44;

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
        let (dialect, _) = Dictionary::from_source(text).unwrap();
        let group = |name: &str| {
            let ids = dialect.group_ids();
            Definition::Group(ids.zip(dialect.groups()).find(|(_, group)| group.name == name).unwrap().0)
        };
        let line = |definition| dialect.line_of(&definition, text);
        assert_eq!(line(Definition::Field(5002)), Some(2));
        assert_eq!(line(group("Parties")), Some(4));
        assert_eq!(line(Definition::Component("Paint".to_string())), Some(5));
        assert_eq!(line(Definition::Message("U1".to_string())), Some(7));
        assert_eq!(line(group("ColoursGrp")), Some(8));
        assert_eq!(line(Definition::Message("D".to_string())), None);
        assert_eq!(line(Definition::Header), None);

        let table = fix44().to_table();
        let number =
            |start: &str| table.lines().position(|line| line.starts_with(start)).map(|at| at as u32 + 1);
        assert_eq!(fix44().line_of(&Definition::Field(54), &table), number("field 54 "));
        assert_eq!(fix44().line_of(&Definition::Message("D".to_string()), &table), number("message D "));
        assert_eq!(fix44().line_of(&Definition::Header, &table), number("header "));
    }
}
