//! Samples that are deliberately broken in one place, each with the violation that validation must
//! find.

use std::collections::{HashMap, HashSet};

use fixbolt_dictionary::sample::{Sample, SampleField, framed};
use fixbolt_dictionary::{Check, DataType, Dictionary, FieldDef, GroupId, Member, MessageDef, Section};

/// One way to break a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mutation {
    UnknownMsgType,
    TagZero,
    TagWithLeadingZero,
    TagNotANumber,
    FieldWithoutEquals,
    UnknownTag,
    UserDefinedTag,
    TagOfAnotherMessage,
    GroupFieldWithoutGroup,
    Duplicate,
    DuplicateInEntry,
    DuplicateGroup,
    EmptyValue,
    WrongType,
    OutOfRange,
    WrongCode,
    RequiredFieldDropped,
    RequiredGroupDropped,
    RequiredInEntryDropped,
    CountNotANumber,
    CountNegative,
    CountPlusOne,
    CountMinusOne,
    LastEntryDropped,
    DelimiterMissing,
    MembersSwapped,
    HeaderFieldInBody,
    BodyFieldInTrailer,
    DataLengthWrong,
}

/// What validation must find in a broken message: a violation's check, SessionRejectReason and
/// RefTagID. If the check is not made, `follow` is found instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) check: Check,
    pub(crate) reason: u16,
    pub(crate) tag: String,
    pub(crate) follow: &'static [Check],
}

impl Mutation {
    pub(crate) const ALL: [Mutation; 29] = [
        Mutation::UnknownMsgType,
        Mutation::TagZero,
        Mutation::TagWithLeadingZero,
        Mutation::TagNotANumber,
        Mutation::FieldWithoutEquals,
        Mutation::UnknownTag,
        Mutation::UserDefinedTag,
        Mutation::TagOfAnotherMessage,
        Mutation::GroupFieldWithoutGroup,
        Mutation::Duplicate,
        Mutation::DuplicateInEntry,
        Mutation::DuplicateGroup,
        Mutation::EmptyValue,
        Mutation::WrongType,
        Mutation::OutOfRange,
        Mutation::WrongCode,
        Mutation::RequiredFieldDropped,
        Mutation::RequiredGroupDropped,
        Mutation::RequiredInEntryDropped,
        Mutation::CountNotANumber,
        Mutation::CountNegative,
        Mutation::CountPlusOne,
        Mutation::CountMinusOne,
        Mutation::LastEntryDropped,
        Mutation::DelimiterMissing,
        Mutation::MembersSwapped,
        Mutation::HeaderFieldInBody,
        Mutation::BodyFieldInTrailer,
        Mutation::DataLengthWrong,
    ];
}

/// A sample with the structure of its message, ready to be broken.
pub(crate) struct Subject<'d> {
    dictionary: &'d Dictionary,
    sample: Sample,
    /// The scopes that contain a tag, among those that the message can reach.
    scopes: HashMap<u32, HashSet<Scope>>,
    counts: HashSet<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Scope {
    Header,
    Body,
    Trailer,
    Entry(GroupId),
}

/// A broken message and what is expected.
pub(crate) type Broken = (Vec<u8>, Expected);

impl<'d> Subject<'d> {
    pub(crate) fn new(dictionary: &'d Dictionary, message: &MessageDef, sample: Sample) -> Subject<'d> {
        let counts = dictionary.groups().iter().map(|group| group.count_tag).collect();
        let mut subject = Subject { dictionary, sample, scopes: HashMap::new(), counts };
        let mut seen = HashSet::new();
        subject.reach(Scope::Header, dictionary.header(), &mut seen);
        subject.reach(Scope::Trailer, dictionary.trailer(), &mut seen);
        subject.reach(Scope::Body, &message.members, &mut seen);
        subject
    }

    fn reach(&mut self, scope: Scope, members: &[Member], seen: &mut HashSet<GroupId>) {
        for member in self.dictionary.expand(members) {
            self.scopes.entry(member.tag).or_default().insert(scope);
            if let Some(group) = member.group
                && seen.insert(group)
            {
                self.reach(Scope::Entry(group), &self.dictionary.group(group).members, seen);
            }
        }
    }

    /// Returns the message broken in this way, if it has a place for it; `pick` chooses among
    /// several.
    pub(crate) fn broken(&self, mutation: Mutation, pick: usize) -> Option<Broken> {
        let fields = self.sample.fields();
        let chosen = |wanted: &dyn Fn(usize, &SampleField) -> bool| -> Option<usize> {
            let places: Vec<usize> = (1..fields.len()).filter(|&at| wanted(at, &fields[at])).collect();
            (!places.is_empty()).then(|| places[pick % places.len()])
        };
        let mut wire = Wire(fields.iter().map(bytes_of).collect());
        let body_end =
            fields.iter().position(|field| field.section == Section::Trailer).unwrap_or(fields.len());
        let has_body = fields.iter().any(|field| field.section == Section::Body);
        let plain = |field: &SampleField| field.counts.is_none() && !field.is_data_or_length;
        let tag_of = |at: usize| fields[at].tag.to_string();
        let expected = match mutation {
            Mutation::UnknownMsgType => {
                wire.set(0, b"35=~~");
                found(Check::MsgType, 11, "35")
            }
            Mutation::TagZero => wire.stray(body_end, "0=x", found(Check::TagSyntax, 0, "0")),
            Mutation::TagWithLeadingZero => wire.stray(body_end, "058=x", found(Check::TagSyntax, 0, "058")),
            Mutation::TagNotANumber => wire.stray(body_end, "5a=x", found(Check::TagSyntax, 0, "5a")),
            Mutation::FieldWithoutEquals => {
                wire.stray(body_end, "nothing", found(Check::TagSyntax, 0, "nothing"))
            }
            Mutation::UnknownTag => {
                let unknown = (1..5000).rev().filter(|tag| self.dictionary.field(*tag).is_none());
                let tag = unknown.into_iter().nth(pick % 100)?;
                wire.stray(body_end, &format!("{tag}=x"), found(Check::UnknownTag, 0, tag))
            }
            Mutation::UserDefinedTag => {
                let tag = (5000..).skip(pick % 5000).find(|tag| self.dictionary.field(*tag).is_none())?;
                wire.stray(body_end, &format!("{tag}=x"), found(Check::UserDefinedTag, 0, tag))
            }
            Mutation::TagOfAnotherMessage => {
                let strange = |field: &&FieldDef| {
                    self.is_text(field)
                        && !self.scopes.contains_key(&field.tag)
                        && !(5000..40_000).contains(&field.tag)
                };
                let strange: Vec<u32> =
                    self.dictionary.fields().iter().filter(strange).map(|field| field.tag).collect();
                let tag = *strange.get(pick % strange.len().max(1))?;
                wire.stray(body_end, &format!("{tag}=x"), found(Check::TagNotInMessage, 2, tag))
            }
            Mutation::GroupFieldWithoutGroup => {
                let here: HashSet<Scope> =
                    fields.iter().filter_map(|field| field.counts).map(Scope::Entry).collect();
                let strange = |field: &&FieldDef| {
                    let in_groups = |scopes: &HashSet<Scope>| {
                        scopes.iter().all(|scope| matches!(scope, Scope::Entry(_)) && !here.contains(scope))
                    };
                    self.is_text(field) && self.scopes.get(&field.tag).is_some_and(in_groups)
                };
                let strange: Vec<u32> =
                    self.dictionary.fields().iter().filter(strange).map(|field| field.tag).collect();
                let tag = *strange.get(pick % strange.len().max(1))?;
                wire.stray(body_end, &format!("{tag}=x"), found(Check::TagNotInMessage, 2, tag))
            }
            Mutation::Duplicate => {
                let at =
                    chosen(&|_, field| field.entry.is_none() && plain(field) && self.is_sole(field.tag))?;
                wire.repeat(at..at + 1);
                found(Check::DuplicateTag, 13, tag_of(at))
            }
            Mutation::DuplicateInEntry => {
                let at = chosen(&|at, field| {
                    let last = field.entry.is_some_and(|entry| self.entries(entry.count_at) == entry.number);
                    last && !self.begins_entry(at) && plain(field) && self.is_sole(field.tag)
                })?;
                wire.repeat(at..at + 1);
                found(Check::DuplicateTag, 13, tag_of(at))
            }
            Mutation::DuplicateGroup => {
                let at = chosen(&|_, field| {
                    field.counts.is_some() && field.entry.is_none() && self.is_sole(field.tag)
                })?;
                wire.repeat(at..self.group_end(at));
                found(Check::DuplicateTag, 13, tag_of(at))
            }
            Mutation::EmptyValue => {
                let at = chosen(&|_, field| plain(field))?;
                wire.give(at, b"", fields);
                found(Check::EmptyValue, 4, tag_of(at))
            }
            Mutation::WrongType => {
                let wrong = |field: &SampleField| {
                    let definition = self.dictionary.field(field.tag)?;
                    let fixed = definition.union.is_none() && !self.counts.contains(&field.tag);
                    of_wrong_type(definition.kind).filter(|_| fixed)
                };
                let at = chosen(&|_, field| plain(field) && wrong(field).is_some())?;
                wire.give(at, wrong(&fields[at])?, fields);
                let (check, tag) = (Check::DataType, tag_of(at));
                Expected { check, reason: 6, tag, follow: &[Check::EnumValue] }
            }
            Mutation::OutOfRange => {
                let wrong = |field: &SampleField| match self.dictionary.field(field.tag)?.kind {
                    DataType::Length => Some(b"0"),
                    DataType::SeqNum if !matches!(field.tag, 16 | 34 | 369) => Some(b"0"),
                    DataType::DayOfMonth => Some(b"0"),
                    _ => None,
                };
                let at = chosen(&|_, field| plain(field) && wrong(field).is_some())?;
                wire.give(at, b"0", fields);
                found(Check::DataType, 5, tag_of(at))
            }
            Mutation::WrongCode => {
                let wrong = |field: &SampleField| self.no_code(self.dictionary.field(field.tag)?);
                let at = chosen(&|_, field| plain(field) && wrong(field).is_some())?;
                wire.give(at, wrong(&fields[at])?, fields);
                found(Check::EnumValue, 5, tag_of(at))
            }
            Mutation::RequiredFieldDropped => {
                let at = chosen(&|_, field| {
                    field.required && field.entry.is_none() && plain(field) && self.is_sole(field.tag)
                })?;
                wire.drop(at..at + 1);
                found(Check::RequiredField, 1, tag_of(at))
            }
            Mutation::RequiredGroupDropped => {
                let at = chosen(&|at, field| {
                    field.required
                        && field.counts.is_some()
                        && !self.begins_entry(at)
                        && self.is_sole(field.tag)
                })?;
                wire.drop(at..self.group_end(at));
                match fields[at].entry {
                    None => found(Check::RequiredField, 1, tag_of(at)),
                    Some(_) => found(Check::RequiredInGroup, 1, tag_of(at)),
                }
            }
            Mutation::RequiredInEntryDropped => {
                let at = chosen(&|at, field| {
                    field.required
                        && field.entry.is_some()
                        && !self.begins_entry(at)
                        && plain(field)
                        && self.is_sole(field.tag)
                })?;
                wire.drop(at..at + 1);
                found(Check::RequiredInGroup, 1, tag_of(at))
            }
            Mutation::CountNotANumber => {
                let at = chosen(&|at, field| field.counts.is_some() && self.ends_clearly(at))?;
                wire.give(at, b"two", fields);
                let (check, tag) = (Check::DataType, tag_of(at));
                Expected { check, reason: 6, tag, follow: &[Check::EnumValue] }
            }
            Mutation::CountNegative => {
                let at = chosen(&|at, field| field.counts.is_some() && self.ends_clearly(at))?;
                wire.give(at, b"-1", fields);
                let (check, tag) = (Check::DataType, tag_of(at));
                Expected { check, reason: 16, tag, follow: &[Check::EnumValue] }
            }
            Mutation::CountPlusOne => {
                let at = chosen(&|at, field| {
                    field.counts.is_some()
                        && self.ends_clearly(at)
                        && self.may_count(at, self.entries(at) + 1)
                })?;
                wire.give(at, (self.entries(at) + 1).to_string().as_bytes(), fields);
                found(Check::GroupCount, 16, tag_of(at))
            }
            Mutation::CountMinusOne => {
                let at = chosen(&|at, field| {
                    let delimiter = field.counts.map(|group| self.dictionary.delimiter(group));
                    delimiter.is_some_and(|tag| self.is_sole(tag)) && self.may_count(at, self.entries(at) - 1)
                })?;
                wire.give(at, (self.entries(at) - 1).to_string().as_bytes(), fields);
                found(Check::GroupCount, 16, tag_of(at))
            }
            Mutation::LastEntryDropped => {
                let at = chosen(&|at, field| {
                    field.counts.is_some() && self.entries(at) > 1 && self.ends_clearly(at)
                })?;
                let end = self.group_end(at);
                let last = (at..end).filter(|&n| {
                    fields[n]
                        .entry
                        .is_some_and(|entry| entry.count_at == at && entry.number == self.entries(at))
                });
                wire.drop(last.min()?..end);
                found(Check::GroupCount, 16, tag_of(at))
            }
            Mutation::DelimiterMissing => {
                let at = chosen(&|at, field| {
                    let first = field.entry.is_some_and(|entry| entry.number == 1);
                    let more = fields.get(at + 1).is_some_and(|next| next.entry == field.entry);
                    first && self.begins_entry(at) && plain(field) && more
                })?;
                wire.drop(at..at + 1);
                let (check, tag) = (Check::GroupDelimiter, tag_of(at + 1));
                Expected { check, reason: 15, tag, follow: &[Check::RequiredInGroup] }
            }
            Mutation::MembersSwapped => {
                let at = chosen(&|at, field| {
                    let next = fields.get(at + 1);
                    field.entry.is_some()
                        && !self.begins_entry(at)
                        && plain(field)
                        && next.is_some_and(|next| next.entry == field.entry && plain(next))
                })?;
                wire.0.swap(at, at + 1);
                found(Check::GroupOrder, 15, tag_of(at))
            }
            Mutation::HeaderFieldInBody => {
                let at = chosen(&|_, field| {
                    has_body
                        && field.section == Section::Header
                        && field.entry.is_none()
                        && plain(field)
                        && self.is_sole(field.tag)
                })?;
                let moved = wire.0.remove(at);
                wire.0.insert(body_end - 1, moved);
                found(Check::SectionOrder, 14, tag_of(at))
            }
            Mutation::BodyFieldInTrailer => {
                let at = chosen(&|_, field| {
                    field.section == Section::Body
                        && field.entry.is_none()
                        && plain(field)
                        && self.is_sole(field.tag)
                })?;
                if body_end == fields.len() {
                    wire.0.extend([b"93=1".to_vec(), b"89=x".to_vec()]);
                }
                let moved = wire.0.remove(at);
                wire.0.push(moved);
                found(Check::SectionOrder, 14, tag_of(at))
            }
            Mutation::DataLengthWrong => {
                let at = chosen(&|at, field| {
                    let is_data = |at: usize| {
                        fields
                            .get(at)
                            .and_then(|field| self.dictionary.field(field.tag))
                            .map(|field| field.kind.is_data())
                    };
                    field.is_data_or_length && is_data(at) == Some(false) && is_data(at + 1) == Some(true)
                })?;
                let length = fields[at + 1].value.len() + pick % 2 * 2 - 1;
                wire.give(at, length.to_string().as_bytes(), fields);
                // The data of a sample has a delimiter.
                let (check, tag) = (Check::DataLength, tag_of(at));
                Expected { check, reason: 5, tag, follow: &[Check::TagSyntax] }
            }
        };
        Some((wire.framed(self.sample.begin_string()), expected))
    }

    /// Returns whether the tag has only one place in this message, so that nothing else can be
    /// meant by it.
    fn is_sole(&self, tag: u32) -> bool {
        self.scopes.get(&tag).is_some_and(|scopes| scopes.len() == 1)
    }

    /// Any text is valid for the field.
    fn is_text(&self, field: &FieldDef) -> bool {
        field.kind == DataType::String
            && field.codes.is_none()
            && field.union.is_none()
            && !matches!(field.tag, 8 | 9 | 10 | 35)
            && !self.counts.contains(&field.tag)
    }

    fn entries(&self, count_at: usize) -> u32 {
        let text = std::str::from_utf8(&self.sample.fields()[count_at].value).expect("a count is digits");
        text.parse().expect("a count is a number")
    }

    /// NoSides (552) has codes for the numbers that it may have.
    fn may_count(&self, count_at: usize, entries: u32) -> bool {
        let tag = self.sample.fields()[count_at].tag;
        let codes = self.dictionary.codes(tag);
        codes.is_empty() || self.dictionary.code(tag, entries.to_string().as_bytes()).is_some()
    }

    fn begins_entry(&self, at: usize) -> bool {
        let fields = self.sample.fields();
        fields[at].entry.is_some_and(|entry| {
            let first = |n: &usize| fields[*n].entry == Some(entry);
            (entry.count_at + 1..=at).find(first) == Some(at)
        })
    }

    /// Returns the position after the last field of a group.
    fn group_end(&self, count_at: usize) -> usize {
        let fields = self.sample.fields();
        let inside = |at: usize| {
            let mut entry = fields[at].entry;
            while let Some(around) = entry {
                if around.count_at == count_at {
                    return true;
                }
                entry = fields[around.count_at].entry;
            }
            false
        };
        (count_at + 1..fields.len()).find(|at| !inside(*at)).unwrap_or(fields.len())
    }

    /// Returns whether what follows the group cannot be one of its fields.
    fn ends_clearly(&self, count_at: usize) -> bool {
        let fields = self.sample.fields();
        let Some(next) = fields.get(self.group_end(count_at)) else { return true };
        let mut groups: Vec<GroupId> = fields[count_at].counts.into_iter().collect();
        let mut at = 0;
        while at < groups.len() {
            for member in self.dictionary.expand(&self.dictionary.group(groups[at]).members) {
                if member.tag == next.tag {
                    return false;
                }
                groups.extend(member.group.filter(|group| !groups.contains(group)));
            }
            at += 1;
        }
        true
    }

    /// Returns a value of the field's type that is not one of its codes.
    fn no_code(&self, field: &FieldDef) -> Option<&'static [u8]> {
        if field.codes.is_none() || field.union.is_some() || matches!(field.tag, 35 | 372) {
            return None;
        }
        let candidates: &[&'static [u8]] = match field.kind {
            DataType::Int => &[b"98765"],
            DataType::Char => &[b"~"],
            DataType::String => &[b"no code"],
            kind if kind.is_multiple() => &[b"z", b"Q", b"9", b"q"],
            _ => &[],
        };
        candidates.iter().copied().find(|value| self.dictionary.code(field.tag, value).is_none())
    }
}

/// Fields as on the wire, without delimiters.
struct Wire(Vec<Vec<u8>>);

impl Wire {
    fn set(&mut self, at: usize, field: &[u8]) {
        self.0[at] = field.to_vec();
    }

    /// Returns another value for a field of the sample.
    fn give(&mut self, at: usize, value: &[u8], fields: &[SampleField]) {
        self.0[at] = [fields[at].tag.to_string().as_bytes(), b"=", value].concat();
    }

    /// Returns a field that does not belong here.
    fn stray(&mut self, at: usize, field: &str, expected: Expected) -> Expected {
        self.0.insert(at, field.as_bytes().to_vec());
        expected
    }

    fn repeat(&mut self, range: std::ops::Range<usize>) {
        let copy = self.0[range.clone()].to_vec();
        self.0.splice(range.end..range.end, copy);
    }

    fn drop(&mut self, range: std::ops::Range<usize>) {
        self.0.drain(range);
    }

    fn framed(&self, begin_string: &str) -> Vec<u8> {
        let mut body = Vec::new();
        for field in &self.0 {
            body.extend_from_slice(field);
            body.push(1);
        }
        framed(begin_string, &body)
    }
}

fn bytes_of(field: &SampleField) -> Vec<u8> {
    let mut bytes = Vec::new();
    field.write_to(&mut bytes);
    bytes.pop();
    bytes
}

fn found(check: Check, reason: u16, tag: impl ToString) -> Expected {
    Expected { check, reason, tag: tag.to_string(), follow: &[] }
}

/// Returns a value that no field of this type may have, or `None` if every value is valid.
fn of_wrong_type(kind: DataType) -> Option<&'static [u8]> {
    Some(match kind {
        DataType::Int | DataType::Length | DataType::SeqNum | DataType::DayOfMonth | DataType::TagNum => {
            b"1x"
        }
        DataType::Float
        | DataType::Qty
        | DataType::Price
        | DataType::PriceOffset
        | DataType::Amt
        | DataType::Percentage => b"1,5",
        DataType::Char => b"AB",
        DataType::Boolean => b"true",
        DataType::MultipleValueString | DataType::MultipleStringValue | DataType::MultipleCharValue => {
            b"A  B"
        }
        DataType::Country => b"DEU",
        DataType::Currency => b"EURO",
        DataType::Language => b"eng",
        DataType::MonthYear => b"2026-11",
        DataType::UtcTimestamp | DataType::TzTimestamp => b"2026-11-21",
        DataType::UtcTimeOnly | DataType::LocalMktTime | DataType::TzTimeOnly => b"9:00",
        DataType::UtcDateOnly | DataType::LocalMktDate => b"20261131",
        DataType::Tenor => b"3M",
        _ => return None,
    })
}
