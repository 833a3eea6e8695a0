//! The differences between two dictionaries: messages, fields, codes, and the members of each
//! message along their paths.
//!
//! The comparison covers how messages are structured and checked. Sources, the names of code sets,
//! components and groups, and the names of codes (which every engine spells in its own way) are not
//! compared: they do not change a byte.

mod comparison;

use std::fmt;

use crate::data_type::{DataType, UnionType};
use crate::model::{Code, Dictionary};
use comparison::Comparison;

/// A difference between two dictionaries, left and right, shown as a line that begins with `-`
/// (only left has it), `+` (only right has it) or `~` (both do, differently).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The dictionaries describe different versions.
    Version {
        /// The name on the left.
        left: String,
        /// The name on the right.
        right: String,
    },
    /// A message that only one side has.
    Message {
        /// Its MsgType.
        msg_type: String,
        /// Its name.
        name: String,
        /// Which side has it.
        only: Only,
    },
    /// The name of a message.
    MessageName {
        /// Its MsgType.
        msg_type: String,
        /// Its name on the left.
        left: String,
        /// Its name on the right.
        right: String,
    },
    /// A field that only one side has.
    Field {
        /// The field.
        field: NamedTag,
        /// Which side has it.
        only: Only,
    },
    /// The name of a field.
    FieldName {
        /// Its tag.
        tag: u32,
        /// Its name on the left.
        left: String,
        /// Its name on the right.
        right: String,
    },
    /// The data type of a field.
    DataType {
        /// The field.
        field: NamedTag,
        /// Its type on the left.
        left: DataType,
        /// Its type on the right.
        right: DataType,
    },
    /// The codes of a field.
    Codes {
        /// The field.
        field: NamedTag,
        /// Codes whose value only the left side has.
        left: Vec<Code>,
        /// Codes whose value only the right side has.
        right: Vec<Code>,
    },
    /// What a field accepts in addition to its codes.
    Union {
        /// The field.
        field: NamedTag,
        /// Its union type on the left.
        left: Option<UnionType>,
        /// Its union type on the right.
        right: Option<UnionType>,
    },
    /// The length field of a data field.
    LengthField {
        /// The data field.
        field: NamedTag,
        /// Tag of its length on the left.
        left: Option<u32>,
        /// Tag of its length on the right.
        right: Option<u32>,
    },
    /// The whole header or trailer, which application versions over FIXT do not have.
    Section {
        /// Which of the two.
        scope: Scope,
        /// Which side has it.
        only: Only,
        /// The number of its members, including those of groups.
        inside: usize,
    },
    /// A member of a message, header, trailer or group that only one side has.
    Member {
        /// What it is a member of.
        place: MemberPath,
        /// The field, or the count field of the group.
        member: NamedTag,
        /// Which side has it.
        only: Only,
        /// For a group: the number of its members, including those of groups inside it.
        inside: Option<usize>,
    },
    /// A member that is a repeating group on one side and a plain field on the other.
    Repeating {
        /// What it is a member of.
        place: MemberPath,
        /// The field.
        member: NamedTag,
        /// The side on which it is a group.
        only: Only,
    },
    /// Whether a member is required.
    Required {
        /// What it is a member of.
        place: MemberPath,
        /// The field, or the count field of the group.
        member: NamedTag,
        /// The side that requires it.
        only: Only,
    },
    /// The first field of every entry of a group.
    Delimiter {
        /// The group.
        place: MemberPath,
        /// The first field on the left.
        left: NamedTag,
        /// The first field on the right.
        right: NamedTag,
    },
    /// The order of the members that both sides have.
    Order {
        /// What they are members of.
        place: MemberPath,
        /// The smallest set of members that would have to move, in the order of the left side.
        moved: Vec<NamedTag>,
    },
}

/// One of the two dictionaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Only {
    /// The one that [`Dictionary::diff`] was called on.
    Left,
    /// Its argument.
    Right,
}

/// A field by tag and name; shown as `Side(54)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedTag {
    /// The tag.
    pub tag: u32,
    /// Its name, the left one if both sides know the field.
    pub name: String,
}

/// A list of members (a message's body, the header or trailer, or the entries of a group in them),
/// shown as `AE TradeCaptureReport/NoSides(552)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemberPath {
    /// Where the path begins.
    pub scope: Scope,
    /// Count fields of the groups along the path, outermost first.
    pub groups: Vec<NamedTag>,
}

/// The beginning of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The standard header.
    Header,
    /// The body of a message.
    Message {
        /// Its MsgType.
        msg_type: String,
        /// Its name on the left.
        name: String,
    },
    /// The standard trailer.
    Trailer,
}

impl Dictionary {
    /// Returns all differences between this dictionary (left) and `other` (right): version,
    /// messages, fields by tag, then members in header, messages and trailer. Empty if they
    /// describe the same messages.
    ///
    /// Constant values, conditions and scenarios of messages are not compared. A dictionary that
    /// lists the codes `Y` and `N` of a Boolean equals one that does not. A
    /// message or group that one side lacks is a single difference, without its members; so is a
    /// header or trailer.
    ///
    /// ```
    /// use fixbolt_dictionary::{fix42, fix44};
    /// let lines: Vec<String> = fix42().diff(fix44()).iter().map(ToString::to_string).collect();
    /// assert!(lines.contains(&"~ field 32 name: LastShares -> LastQty".to_string()));
    /// assert!(lines.contains(&"+ message AE TradeCaptureReport".to_string()));
    /// assert!(fix44().diff(fix44()).is_empty());
    /// ```
    pub fn diff(&self, other: &Dictionary) -> Vec<Difference> {
        Comparison::run(self, other)
    }
}

impl Difference {
    /// Returns the kind of the difference in a word or two, which is the same for all values of a
    /// variant.
    pub fn kind(&self) -> &'static str {
        match self {
            Difference::Version { .. } => "version",
            Difference::Message { .. } => "message",
            Difference::MessageName { .. } => "message name",
            Difference::Field { .. } => "field",
            Difference::FieldName { .. } => "field name",
            Difference::DataType { .. } => "type",
            Difference::Codes { .. } => "codes",
            Difference::Union { .. } => "union",
            Difference::LengthField { .. } => "length field",
            Difference::Section { .. } => "section",
            Difference::Member { .. } => "member",
            Difference::Repeating { .. } => "repeating",
            Difference::Required { .. } => "required",
            Difference::Delimiter { .. } => "delimiter",
            Difference::Order { .. } => "order",
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Version { left, right } => write!(f, "~ version: {left} -> {right}"),
            Difference::Message { msg_type, name, only } => write!(f, "{only} message {msg_type} {name}"),
            Difference::MessageName { msg_type, left, right } => {
                write!(f, "~ message {msg_type} name: {left} -> {right}")
            }
            Difference::Field { field, only } => write!(f, "{only} field {field}"),
            Difference::FieldName { tag, left, right } => write!(f, "~ field {tag} name: {left} -> {right}"),
            Difference::DataType { field, left, right } => {
                write!(f, "~ field {field} type: {left} -> {right}")
            }
            Difference::Codes { field, left, right } => {
                write!(f, "~ field {field} codes:")?;
                left.iter().try_for_each(|code| write!(f, " -{}={}", code.value, code.name))?;
                right.iter().try_for_each(|code| write!(f, " +{}={}", code.value, code.name))
            }
            Difference::Union { field, left, right } => {
                let name = |union: &Option<UnionType>| union.map_or("none", UnionType::name);
                write!(f, "~ field {field} union: {} -> {}", name(left), name(right))
            }
            Difference::LengthField { field, left, right } => {
                let tag = |tag: &Option<u32>| tag.map_or_else(|| "none".to_string(), |tag| tag.to_string());
                write!(f, "~ field {field} length field: {} -> {}", tag(left), tag(right))
            }
            Difference::Section { scope, only, inside } => write!(f, "{only} {scope} ({inside} members)"),
            Difference::Member { place, member, only, inside } => {
                write!(f, "{only} member {place}/{member}")?;
                inside.map_or(Ok(()), |inside| write!(f, " (group of {inside})"))
            }
            Difference::Repeating { place, member, only } => {
                let (left, right) = only.of("group", "field");
                write!(f, "~ member {place}/{member}: {left} -> {right}")
            }
            Difference::Required { place, member, only } => {
                let (left, right) = only.of("required", "optional");
                write!(f, "~ member {place}/{member}: {left} -> {right}")
            }
            Difference::Delimiter { place, left, right } => {
                write!(f, "~ delimiter {place}: {left} -> {right}")
            }
            Difference::Order { place, moved } => {
                write!(f, "~ order {place}:")?;
                moved.iter().try_for_each(|member| write!(f, " {member}"))
            }
        }
    }
}

impl Only {
    /// Returns what the line says of left and right, if one side has it and the other does not.
    fn of(self, has: &'static str, lacks: &'static str) -> (&'static str, &'static str) {
        if self == Only::Left { (has, lacks) } else { (lacks, has) }
    }
}

impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.of("-", "+").0)
    }
}

impl fmt::Display for NamedTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.tag)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Header => f.write_str("header"),
            Scope::Message { msg_type, name } => write!(f, "{msg_type} {name}"),
            Scope::Trailer => f.write_str("trailer"),
        }
    }
}

impl fmt::Display for MemberPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.scope)?;
        self.groups.iter().try_for_each(|group| write!(f, "/{group}"))
    }
}

#[cfg(test)]
mod tests {

    const LEFT: &str = "table 1\nversion FIX.4.4\nsource - sha256: x\ncodes S 1=Buy 2=Sell\ncodes B Y=Yes N=No\n\
        field 1 Account String\nfield 4 Flag Boolean codes=B\nfield 11 ClOrdID String\nfield 54 Side char codes=S union=Qty\n\
        field 95 Len Length\nfield 96 Raw data length=95\nfield 453 NoParties NumInGroup\nfield 448 PartyID String\n\
        component C 54! 1\ngroup P 453 448! 1\nheader 11!\ntrailer 1\nmessage D Order 11! @C! *P 95 96\nmessage U1 Lone 1\n";

    fn lines(right: &str) -> Vec<String> {
        let read = |text: &str| crate::Source::text(text).load().unwrap().dictionary;
        read(LEFT).diff(&read(right)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_changes_no_byte_is_no_difference() {
        let right = LEFT
            .replace("codes S 1=Buy 2=Sell", "codes Other 2=SELL 1=BUY")
            .replace("codes=S", "codes=Other")
            .replace("codes B Y=Yes N=No\n", "")
            .replace(" codes=B", "")
            .replace("component C 54! 1\n", "")
            .replace("@C!", "54! 1")
            .replace("group P", "group Parties")
            .replace("*P", "*Parties");
        assert_eq!(lines(&right), [""; 0]);
    }

    #[test]
    fn every_fact_of_version_messages_and_fields_is_compared() {
        for (from, to, line) in [
            ("version FIX.4.4", "version FIX.4.3", "~ version: FIX.4.4 -> FIX.4.3"),
            ("message U1 Lone 1\n", "", "- message U1 Lone"),
            ("message U1 Lone 1\n", "message U1 Lone 1\nmessage U2 Two 1\n", "+ message U2 Two"),
            ("Lone", "Single", "~ message U1 name: Lone -> Single"),
            ("field 11 ", "field 2 New String\nfield 11 ", "+ field New(2)"),
            ("Account", "AccountID", "~ field 1 name: Account -> AccountID"),
            ("Account String", "Account int", "~ field Account(1) type: String -> int"),
            ("2=Sell", "3=Cross", "~ field Side(54) codes: -2=Sell +3=Cross"),
            ("codes=S union", "union", "~ field Side(54) codes: -1=Buy -2=Sell"),
            ("union=Qty", "union=Tenor", "~ field Side(54) union: Qty -> Tenor"),
            (" length=95", "", "~ field Raw(96) length field: 95 -> none"),
            ("N=No", "N=No M=Maybe", "~ field Flag(4) codes: +M=Maybe"),
        ] {
            assert_eq!(lines(&LEFT.replace(from, to)), [line]);
        }
    }

    #[test]
    fn members_are_compared_along_their_path() {
        for (from, to, expected) in [
            ("448! 1\nh", "448!\nh", vec!["- member D Order/NoParties(453)/Account(1)"]),
            (
                "448! 1\nh",
                "448 1\nh",
                vec!["~ member D Order/NoParties(453)/PartyID(448): required -> optional"],
            ),
            (" *P", "", vec!["- member D Order/NoParties(453) (group of 2)"]),
            (" *P", " 453", vec!["~ member D Order/NoParties(453): group -> field"]),
            ("@C!", "@C", vec!["~ member D Order/Side(54): required -> optional"]),
            (
                "trailer 1",
                "trailer 11 1!",
                vec!["~ member trailer/Account(1): optional -> required", "+ member trailer/ClOrdID(11)"],
            ),
            ("header 11!", "header", vec!["- header (1 members)"]),
            (
                "header 11!",
                "header 1 11",
                vec!["~ member header/ClOrdID(11): required -> optional", "+ member header/Account(1)"],
            ),
            (
                "448! 1\nh",
                "1 448!\nh",
                vec![
                    "~ delimiter D Order/NoParties(453): PartyID(448) -> Account(1)",
                    "~ order D Order/NoParties(453): PartyID(448)",
                ],
            ),
        ] {
            assert_eq!(lines(&LEFT.replace(from, to)), expected);
        }
    }
}
