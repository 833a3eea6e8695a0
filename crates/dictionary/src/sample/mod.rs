//! Sample messages of any dictionary: for every message a valid one with as few fields as possible,
//! and one with all fields.
//!
//! For tests, fuzzing and load, behind the feature `sample-messages`; engines do not need it. A
//! sample records the position of each field, so that a test can break it in one place on purpose.
//! The values are of the right types but have no meaning: two parties of an order may be the same
//! one.
//!
//! ```
//! use fixbolt_dictionary::{fix44, sample::Samples};
//!
//! let order = fix44().message(b"D").expect("it is defined");
//! let least = Samples::new(fix44(), 0).minimal(order);
//! assert!(least.bytes().starts_with(b"8=FIX.4.4\x019="));
//! assert!(least.fields().iter().any(|field| field.tag == 11));
//! ```

mod values;

use std::collections::{HashMap, HashSet};

use crate::data_type::DataType;
use crate::model::{Dictionary, FlatMember, GroupId, Member, MessageDef};
use crate::validate::Section;
use values::value;

/// Makes the samples of one dictionary.
#[derive(Debug, Clone)]
pub struct Samples<'d> {
    dictionary: &'d Dictionary,
    /// A value for each field.
    values: HashMap<u32, Vec<u8>>,
    /// Data field to its length field, and vice versa.
    partners: HashMap<u32, u32>,
    /// Members of each group's entries.
    entries: Vec<Vec<FlatMember>>,
}

/// A message as a list of fields, without BeginString, BodyLength and CheckSum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    begin_string: String,
    fields: Vec<SampleField>,
}

/// One field of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleField {
    /// Its tag.
    pub tag: u32,
    /// Its value.
    pub value: Vec<u8>,
    /// Header, body or trailer.
    pub section: Section,
    /// The entry it belongs to; `None` outside groups.
    pub entry: Option<SampleEntry>,
    /// The group whose entries it counts.
    pub counts: Option<GroupId>,
    /// Whether the dictionary requires it in its message or entry.
    pub required: bool,
    /// Whether it is a data field or the length field before one.
    pub is_data_or_length: bool,
}

/// An entry of a group in a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleEntry {
    /// The group.
    pub group: GroupId,
    /// Position of the group's count field among the sample's fields.
    pub count_at: usize,
    /// Number of the entry, from 1.
    pub number: u32,
    /// Nesting depth of the group, from 1.
    pub depth: usize,
}

/// How many fields a sample has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Minimal,
    Full,
}

impl<'d> Samples<'d> {
    /// Creates the samples of this dictionary; `variant` chooses among the codes of each field.
    pub fn new(dictionary: &'d Dictionary, variant: usize) -> Samples<'d> {
        let counts: HashSet<u32> = dictionary.groups().iter().map(|group| group.count_tag).collect();
        let mut values: HashMap<u32, Vec<u8>> = dictionary
            .fields()
            .iter()
            .map(|field| (field.tag, value(dictionary, field, counts.contains(&field.tag), variant)))
            .collect();
        // ApplVerID says which version this is.
        if let (Some(says), Some(is)) = (values.get_mut(&1128), dictionary.version().appl_ver_id()) {
            *says = is.as_bytes().to_vec();
        }
        let is_data = |tag: u32| dictionary.field(tag).is_some_and(|field| field.kind.is_data());
        let pairs = dictionary.length_data_pairs().into_iter().filter(|(_, data)| is_data(*data));
        let partners = pairs.flat_map(|(length, data)| [(length, data), (data, length)]).collect();
        let entries = dictionary.groups().iter().map(|group| dictionary.expand(&group.members).collect());
        Samples { dictionary, values, partners, entries: entries.collect() }
    }

    /// Returns the message with only its required fields; required groups have one entry.
    pub fn minimal(&self, message: &MessageDef) -> Sample {
        self.sample(message, Extent::Minimal)
    }

    /// Returns the message with all fields of header, body and trailer. Groups of the first and
    /// second level have two entries, deeper ones have one.
    pub fn full(&self, message: &MessageDef) -> Sample {
        self.sample(message, Extent::Full)
    }

    fn sample(&self, message: &MessageDef, extent: Extent) -> Sample {
        let mut writer = Writer { samples: self, extent, section: Section::Header, fields: Vec::new() };
        writer.push(35, message.msg_type.clone().into_bytes(), true, None);
        writer.outside_groups(self.dictionary.header());
        writer.section = Section::Body;
        writer.outside_groups(&message.members);
        writer.section = Section::Trailer;
        writer.outside_groups(self.dictionary.trailer());
        writer.identify();
        Sample { begin_string: self.dictionary.version().begin_string.clone(), fields: writer.fields }
    }
}

impl Sample {
    /// Returns the fields from MsgType (35) on, without CheckSum (10).
    pub fn fields(&self) -> &[SampleField] {
        &self.fields
    }

    /// Returns the value of BeginString (8).
    pub fn begin_string(&self) -> &str {
        &self.begin_string
    }

    /// Returns the message as it is on the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for field in &self.fields {
            field.write_to(&mut body);
        }
        framed(&self.begin_string, &body)
    }
}

impl SampleField {
    /// Appends `tag=value` and the delimiter.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.tag.to_string().as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(&self.value);
        bytes.push(1);
    }
}

/// Adds BeginString, BodyLength and CheckSum to `fields`, which begin with MsgType and end with a
/// delimiter.
pub fn framed(begin_string: &str, fields: &[u8]) -> Vec<u8> {
    let mut bytes = format!("8={begin_string}\x019={}\x01", fields.len()).into_bytes();
    bytes.extend_from_slice(fields);
    let sum = fixbolt_codec::byte_sum(&bytes);
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

/// Writes one sample.
struct Writer<'s, 'd> {
    samples: &'s Samples<'d>,
    extent: Extent,
    section: Section,
    fields: Vec<SampleField>,
}

impl Writer<'_, '_> {
    /// Writes the members of header, body or trailer. A minimal message has its groups last: an
    /// entry without an optional field would take one of the body that follows as its own.
    fn outside_groups(&mut self, members: &[Member]) {
        let mut members: Vec<FlatMember> = self.samples.dictionary.expand(members).collect();
        if self.extent == Extent::Minimal {
            members.sort_by_key(|member| member.group.is_some());
        }
        self.members(&members, None);
    }

    fn members(&mut self, members: &[FlatMember], entry: Option<SampleEntry>) {
        let mut done: HashSet<u32> = HashSet::from([8, 9, 35, 10]);
        for (at, member) in members.iter().enumerate() {
            let begins_entry = entry.is_some() && at == 0;
            let partner = self.samples.partners.get(&member.tag);
            let partner = partner.and_then(|tag| members.iter().find(|member| member.tag == *tag)).copied();
            let required = member.required || partner.is_some_and(|partner| partner.required);
            if !(self.extent == Extent::Full || required || begins_entry) || !done.insert(member.tag) {
                continue;
            }
            if let Some(partner) = partner {
                done.insert(partner.tag);
                self.data_with_length(*member, partner, entry);
            } else if let Some(group) = member.group {
                self.group(group, member.required, entry);
            } else {
                self.push(member.tag, self.samples.values[&member.tag].clone(), member.required, entry);
            }
        }
    }

    fn data_with_length(&mut self, one: FlatMember, other: FlatMember, entry: Option<SampleEntry>) {
        let kind = |member: FlatMember| self.samples.dictionary.field(member.tag).map(|field| field.kind);
        let (length, data) =
            if kind(one).is_some_and(DataType::is_data) { (other, one) } else { (one, other) };
        let value = self.samples.values[&data.tag].clone();
        self.push(length.tag, value.len().to_string().into_bytes(), length.required, entry);
        self.push(data.tag, value, data.required, entry);
        for field in self.fields.iter_mut().rev().take(2) {
            field.is_data_or_length = true;
        }
    }

    fn group(&mut self, group: GroupId, required: bool, around: Option<SampleEntry>) {
        let samples = self.samples;
        let depth = around.map_or(0, |entry| entry.depth) + 1;
        let entries = if self.extent == Extent::Full && depth <= 2 { 2 } else { 1 };
        let count_at = self.fields.len();
        let count_tag = samples.dictionary.group(group).count_tag;
        self.push(count_tag, entries.to_string().into_bytes(), required, around);
        self.fields[count_at].counts = Some(group);
        for number in 1..=entries {
            let entry = SampleEntry { group, count_at, number, depth };
            self.members(&samples.entries[group.index()], Some(entry));
        }
    }

    /// Gives each identifier (XID) a value of its own, and makes references (XIDREF) refer to the
    /// first.
    fn identify(&mut self) {
        let kind = |tag| self.samples.dictionary.field(tag).map(|field| field.kind);
        for (number, field) in self.fields.iter_mut().enumerate() {
            if kind(field.tag) == Some(DataType::Xid) {
                field.value = format!("id{number}").into_bytes();
            }
        }
        let first = self.fields.iter().find(|field| kind(field.tag) == Some(DataType::Xid));
        if let Some(first) = first.map(|field| field.value.clone()) {
            for field in &mut self.fields {
                if kind(field.tag) == Some(DataType::XidRef) {
                    field.value.clone_from(&first);
                }
            }
        }
    }

    fn push(&mut self, tag: u32, value: Vec<u8>, required: bool, entry: Option<SampleEntry>) {
        let section = self.section;
        self.fields.push(SampleField {
            tag,
            value,
            section,
            entry,
            counts: None,
            required,
            is_data_or_length: false,
        });
    }
}
