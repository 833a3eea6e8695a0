//! The Rust types of values: which fields have an enum, and which other types are read and written.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use fixbolt_codec::{DataFields, Tag};
use fixbolt_dictionary::{CodeSetId, DataType, Definition, Dictionary, FieldDef};

use crate::{GenerateError, names};

/// The Rust type of a field's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Plain bytes.
    Bytes,
    /// Raw bytes with a length field.
    Data(DataPair),
    /// A single byte.
    Char,
    /// A `Copy` type that the codec reads and writes.
    Plain(&'static str),
    /// Tokens without a code set.
    Tokens,
    /// An enum.
    Code(String, Holds),
    /// Tokens, each a value of the enum.
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

/// What `Other` of an enum holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Byte,
    Int,
    Text,
}

/// An enum to print.
pub(crate) struct CodeEnum<'d> {
    pub(crate) name: String,
    pub(crate) holds: Holds,
    /// (variant, value), by length and order of the values.
    pub(crate) variants: Vec<(String, &'d str)>,
    /// The fields that use it.
    pub(crate) fields: Vec<&'d FieldDef>,
}

/// Returns the enums of a dictionary in the order of its code sets. A Boolean is always a `bool`,
/// whatever its codes are called.
pub(crate) fn enums(dictionary: &Dictionary) -> Vec<CodeEnum<'_>> {
    let mut enums = Vec::new();
    let mut users: BTreeMap<CodeSetId, Vec<&FieldDef>> = BTreeMap::new();
    for field in dictionary.fields() {
        if let Some(set) = field.codes.filter(|_| field.kind != DataType::Boolean) {
            users.entry(set).or_default().push(field);
        }
    }
    let mut taken = HashSet::new();
    for (id, fields) in users {
        let set = dictionary.code_set(id);
        let short = names::camel(set.name.strip_suffix("CodeSet").unwrap_or(&set.name));
        let name = if taken.contains(&short) { names::camel(&set.name) } else { short };
        taken.insert(name.clone());
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
        let mut variants = Vec::new();
        let mut used = HashSet::from(["Other".to_string()]);
        let mut count: HashMap<String, usize> = HashMap::new();
        let upper = set.codes.iter().all(|code| !code.name.contains(|c: char| c.is_ascii_lowercase()));
        let name_of = if upper { names::camel_of_upper } else { names::camel };
        for code in &set.codes {
            *count.entry(name_of(&code.name)).or_default() += 1;
        }
        for code in &set.codes {
            let mut variant = name_of(&code.name);
            if variant == "Other" || count[&variant] > 1 {
                variant += &names::value_suffix(&code.value);
            }
            while !used.insert(variant.clone()) {
                variant.push('_');
            }
            variants.push((variant, code.value.as_str()));
        }
        variants.sort_by_key(|(_, value)| (value.len(), *value));
        enums.push(CodeEnum { name, holds, variants, fields });
    }
    enums
}

/// Returns the type of every field that has one, and adds an error for each of the others.
pub(crate) fn kinds(
    dictionary: &Dictionary,
    enums: &[CodeEnum<'_>],
    errors: &mut Vec<GenerateError>,
) -> HashMap<u32, Kind> {
    let codes: HashMap<u32, (&str, Holds)> = enums
        .iter()
        .flat_map(|e| e.fields.iter().map(|field| (field.tag, (e.name.as_str(), e.holds))))
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
