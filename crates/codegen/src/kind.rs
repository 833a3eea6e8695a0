//! The Rust types of values: which fields have codes, and which other types are read and written.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use fixbolt_codec::{DataFields, Tag};
use fixbolt_dictionary::{Code, CodeSetId, DataType, Definition, Dictionary, FieldDef};

use crate::naming::{Renamed, Taken};
use crate::{GenerateError, names};

/// The Rust type of a field's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text: read as `Text`, written from bytes.
    Bytes,
    /// Raw bytes with a length field.
    Data(DataPair),
    /// A single byte.
    Char,
    /// A `Copy` type that the codec reads and writes.
    Plain(&'static str),
    /// Tokens without a code set.
    Tokens,
    /// A code.
    Code(String, Holds),
    /// Tokens, each a code.
    Codes(String),
}

/// A length field and its data field, each by its tag. Its text is the call that creates the
/// `DataKey`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DataPair {
    pub(crate) length: u32,
    data: u32,
}

impl DataPair {
    /// Returns `None` if a tag of the standard is in another pair than the standard's, or in none.
    fn new(length: u32, data: u32) -> Option<Self> {
        let pair = Self { length, data };
        let own = |tag| Tag::try_new(tag).is_some_and(|tag| !tag.is_of_standard());
        (pair.is_of_standard() || length != data && own(length) && own(data)).then_some(pair)
    }

    fn is_of_standard(self) -> bool {
        DataFields::STANDARD.data_tag(self.length) == Some(self.data)
    }
}

impl fmt::Display for DataPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constructor = if self.is_of_standard() { "new" } else { "of_dialect" };
        write!(f, "{constructor}({}, {})", self.length, self.data)
    }
}

/// What a code is on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Byte,
    Int,
    Text,
}

/// A code set.
pub(crate) struct CodeSet<'d> {
    /// Whether it is printed: all are, except in a subset of the messages.
    pub(crate) printed: bool,
    pub(crate) name: String,
    /// The field that it is named after, or else the first one that uses it.
    pub(crate) tag: u32,
    pub(crate) holds: Holds,
    /// By length and order of the values.
    pub(crate) constants: Vec<Constant<'d>>,
    /// The fields that use it.
    pub(crate) fields: Vec<&'d FieldDef>,
}

/// A code as a constant of its set.
pub(crate) struct Constant<'d> {
    pub(crate) name: String,
    pub(crate) code: &'d Code,
}

/// Returns the code sets of a dictionary that fields use, in its order. A Boolean is always a
/// `bool`, whatever its codes are called.
pub(crate) fn code_sets<'d>(dictionary: &'d Dictionary, renamed: &mut Vec<Renamed>) -> Vec<CodeSet<'d>> {
    let mut sets = Vec::new();
    let mut users: BTreeMap<CodeSetId, Vec<&FieldDef>> = BTreeMap::new();
    for field in dictionary.fields() {
        if let Some(set) = field.codes.filter(|_| field.kind != DataType::Boolean) {
            users.entry(set).or_default().push(field);
        }
    }
    let mut taken = Taken::default();
    for (id, fields) in users {
        let set = dictionary.code_set(id);
        let short = set.name.strip_suffix("CodeSet").unwrap_or(&set.name);
        let [name] = taken.take(short, "CodeSet", |name| [names::camel(name)]);
        let first = fields[0];
        let mut rename = |element: String, name: &str| {
            let definition = Some(Definition::Field(first.tag));
            renamed.push(Renamed { element, definition, name: name.to_string() });
        };
        if name != names::camel(short) || !names::is_ascii(short) {
            rename(format!("code set {} of field {} ({})", set.name, first.tag, first.name), &name);
        }
        let constants = constants(&set.codes);
        for Constant { name, code } in &constants {
            if *name != names::constant(&code.name) || !names::is_ascii(&code.name) {
                let Code { name: of, value } = code;
                rename(format!("code {of} ({value}) of field {} ({})", first.tag, first.name), name);
            }
        }
        let all = |kind: fn(&FieldDef) -> bool, value: fn(&str) -> bool| {
            fields.iter().all(|field| kind(field)) && set.codes.iter().all(|code| value(&code.value))
        };
        let holds = if all(|field| field.kind == DataType::Char, |value| value.len() == 1) {
            Holds::Byte
        } else if all(|field| is_int(field.kind), |v| v.parse::<i64>().is_ok_and(|n| n.to_string() == v)) {
            Holds::Int
        } else {
            Holds::Text
        };
        let named = fields.iter().find(|field| names::camel(&field.name) == name);
        let tag = named.unwrap_or(&fields[0]).tag;
        sets.push(CodeSet { printed: true, name, tag, holds, constants, fields });
    }
    sets
}

fn constants(codes: &[Code]) -> Vec<Constant<'_>> {
    let mut count: HashMap<String, usize> = HashMap::new();
    for code in codes {
        *count.entry(names::constant(&code.name)).or_default() += 1;
    }
    // By value, so that names do not depend on the order of the source.
    let mut codes: Vec<&Code> = codes.iter().collect();
    codes.sort_by_key(|code| (code.value.len(), &code.value[..]));
    let mut constants = Vec::new();
    let mut used = HashSet::new();
    for code in codes {
        let mut name = names::constant(&code.name);
        if count[&name] > 1 {
            name = format!("{name}_{}", names::value_suffix(&code.value));
        }
        while !used.insert(name.clone()) {
            name.push('_');
        }
        constants.push(Constant { name, code });
    }
    constants
}

/// Returns the type of every field that has one, and adds an error for each of the others.
pub(crate) fn kinds(
    dictionary: &Dictionary,
    sets: &[CodeSet<'_>],
    errors: &mut Vec<GenerateError>,
) -> HashMap<u32, Kind> {
    let codes: HashMap<u32, (&str, Holds)> = sets
        .iter()
        .flat_map(|set| set.fields.iter().map(|field| (field.tag, (set.name.as_str(), set.holds))))
        .collect();
    let mut kinds = HashMap::new();
    for field in dictionary.fields() {
        let code = codes.get(&field.tag);
        let kind = match (field.kind, code) {
            (DataType::Data | DataType::XmlData, _) => match field.length_tag {
                Some(length_tag) if let Some(pair) = DataPair::new(length_tag, field.tag) => Kind::Data(pair),
                length_tag => {
                    let reason = length_tag.map_or_else(
                        || "a data field without a length field".to_string(),
                        |length_tag| {
                            format!(
                                "length field {length_tag} is not its length field in the standard; a data field of a dialect and its length field have tags from 5000 to 39999"
                            )
                        },
                    );
                    errors.push(GenerateError {
                        element: format!("field {} ({})", field.tag, field.name),
                        definition: Some(Definition::Field(field.tag)),
                        reason,
                    });
                    continue;
                }
            },
            (kind, Some((name, _))) if kind.is_multiple() => Kind::Codes((*name).to_string()),
            (kind, None) if kind.is_multiple() => Kind::Tokens,
            (_, Some((name, holds))) => Kind::Code((*name).to_string(), *holds),
            (kind, None) => match plain(kind) {
                Some(kind) => kind,
                None => {
                    errors.push(GenerateError {
                        element: format!("field {} ({})", field.tag, field.name),
                        definition: Some(Definition::Field(field.tag)),
                        reason: format!("no Rust type is known for the data type {kind}"),
                    });
                    continue;
                }
            },
        };
        kinds.insert(field.tag, kind);
    }
    kinds
}

const fn is_int(kind: DataType) -> bool {
    matches!(kind, DataType::Int | DataType::SeqNum | DataType::NumInGroup | DataType::Length)
}

/// Returns the type of a field without a code set that is neither data nor a list of tokens.
fn plain(kind: DataType) -> Option<Kind> {
    Some(match kind {
        DataType::Int => Kind::Plain("i64"),
        DataType::Length | DataType::NumInGroup => Kind::Plain("u32"),
        DataType::TagNum => Kind::Plain("codec::Tag"),
        DataType::SeqNum => Kind::Plain("codec::SeqNum"),
        DataType::DayOfMonth => Kind::Plain("codec::DayOfMonth"),
        DataType::Float
        | DataType::Qty
        | DataType::Price
        | DataType::PriceOffset
        | DataType::Amt
        | DataType::Percentage => Kind::Plain("codec::Decimal"),
        DataType::Char => Kind::Char,
        DataType::Boolean => Kind::Plain("bool"),
        DataType::String | DataType::Exchange | DataType::Xid | DataType::XidRef => Kind::Bytes,
        DataType::Country => Kind::Plain("codec::Country"),
        DataType::Currency => Kind::Plain("codec::Currency"),
        DataType::Language => Kind::Plain("codec::Language"),
        DataType::MonthYear => Kind::Plain("codec::MonthYear"),
        DataType::UtcTimestamp => Kind::Plain("codec::UtcTimestamp"),
        DataType::UtcTimeOnly => Kind::Plain("codec::UtcTimeOnly"),
        DataType::UtcDateOnly | DataType::LocalMktDate => Kind::Plain("codec::Date"),
        DataType::LocalMktTime => Kind::Plain("codec::LocalMktTime"),
        DataType::TzTimeOnly => Kind::Plain("codec::TzTimeOnly"),
        DataType::TzTimestamp => Kind::Plain("codec::TzTimestamp"),
        DataType::Tenor => Kind::Plain("codec::Tenor"),
        _ => return None,
    })
}
