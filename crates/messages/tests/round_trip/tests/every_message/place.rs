//! The members of a message and their values. Both are determined by the round, the place and the
//! tag, so that the reading side can derive them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use fixbolt_dictionary::{Code as DictionaryCode, DataType, Dictionary, FieldDef, UnionType};
use fixbolt_messages::codec::{FromField, MultipleStringValue, Version};
use fixbolt_messages::typed::{Code, Codes, Entry, FieldError, Group};

use crate::values::{self, Draw};

/// The kind of message that a round makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Only required members.
    Required,
    /// Every member, and groups with this many entries.
    Everything { entries: usize },
    /// Each member with this probability, groups of 0 to 3 entries.
    Random { percent: u64 },
    /// Each member with a probability of 30 %, groups of 0 to 3 entries, and some codes that the
    /// dictionary does not know.
    Foreign,
    /// Each member with a probability of 30 %, groups of 0 to 3 entries, and some values that are
    /// empty or contain SOH.
    Mistakes,
}

/// One message of one type.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
    /// The code that a field must have, by tag.
    pub(crate) wanted: BTreeMap<u32, usize>,
    dictionary: Handle,
    mistake: Cell<bool>,
    foreign: Cell<bool>,
    codes: RefCell<BTreeSet<(u32, usize)>>,
}

/// A dictionary, which the `Debug` output of a round omits.
#[derive(Clone, Copy)]
struct Handle(&'static Dictionary);

impl Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.version().name)
    }
}

impl Round {
    pub(crate) fn new(dictionary: &'static Dictionary, kind: Kind, seed: u64) -> Self {
        Self {
            kind,
            seed,
            wanted: BTreeMap::new(),
            dictionary: Handle(dictionary),
            mistake: Cell::new(false),
            foreign: Cell::new(false),
            codes: RefCell::default(),
        }
    }

    /// Returns whether an invalid value was handed out.
    pub(crate) fn has_mistake(&self) -> bool {
        self.mistake.get()
    }

    /// Returns whether a code was handed out that the dictionary does not know.
    pub(crate) fn has_foreign_code(&self) -> bool {
        self.foreign.get()
    }

    /// Returns the tags and places of the dictionary's codes that were handed out.
    pub(crate) fn into_codes(self) -> BTreeSet<(u32, usize)> {
        self.codes.into_inner()
    }
}

/// ApplVerID, which says the version that a message may be read as.
const APPL_VER_ID: u32 = 1128;

/// Returns the codes of a field on the wire. One of those of FIX.4.2 is a description of others. A
/// message has no other version than its dictionary.
pub(crate) fn codes(
    dictionary: &'static Dictionary,
    tag: u32,
) -> impl Iterator<Item = &'static DictionaryCode> {
    let version = dictionary.version().known.and_then(Version::appl_ver_id);
    let is_own = move |code: &&DictionaryCode| tag != APPL_VER_ID || Some(&*code.value) == version;
    dictionary.codes(tag).iter().filter(|code| code.value != "ISO Country Code").filter(is_own)
}

/// A message, its header, or an entry of a group.
pub(crate) struct Place<'r> {
    round: &'r Round,
    seed: u64,
    depth: usize,
    groups: &'static [u32],
    fields: &'static [u32],
    written: RefCell<BTreeSet<u32>>,
}

impl<'r> Place<'r> {
    pub(crate) fn message(round: &'r Round, msg_type: &[u8]) -> Self {
        let seed = msg_type.iter().fold(round.seed, |seed, byte| values::mix(seed, u64::from(*byte)));
        Self::new(round, seed, 0)
    }

    fn new(round: &'r Round, seed: u64, depth: usize) -> Self {
        Self { round, seed, depth, groups: &[], fields: &[], written: RefCell::default() }
    }

    pub(crate) fn header(&self) -> Place<'r> {
        Self::new(self.round, values::mix(self.seed, u64::MAX), 0)
    }

    /// Returns the same place with its required members: fields, which have been written, and
    /// groups.
    pub(crate) fn requiring(&self, fields: &'static [u32], groups: &'static [u32]) -> Place<'r> {
        let written = fields.iter().copied().collect();
        let Self { round, seed, depth, .. } = *self;
        Self { round, seed, depth, groups, fields, written: RefCell::new(written) }
    }

    /// Returns whether the member must be written now: it is present and not yet written.
    pub(crate) fn writes(&self, tag: u32) -> bool {
        self.is_there(tag) && self.written.borrow_mut().insert(tag)
    }

    fn is_there(&self, tag: u32) -> bool {
        if self.fields.contains(&tag) || self.groups.contains(&tag) {
            return true;
        }
        match self.round.kind {
            Kind::Required => false,
            Kind::Everything { .. } => true,
            Kind::Random { percent } => values::mix(self.seed, u64::from(tag)) % 100 < percent,
            Kind::Foreign | Kind::Mistakes => values::mix(self.seed, u64::from(tag)) % 100 < 30,
        }
    }

    /// Returns a place for each entry of a group.
    pub(crate) fn entries(&self, tag: u32) -> std::vec::IntoIter<Place<'r>> {
        let least = usize::from(self.groups.contains(&tag));
        let most = [3, 3, 2, 1][self.depth.min(3)];
        let number = match self.round.kind {
            _ if !self.is_there(tag) => 0,
            Kind::Required => 1,
            Kind::Everything { entries } => entries.min(most).max(least),
            _ => self.draw(tag).within(least as u64, most as u64) as usize,
        };
        // NoSides (552) of FIX.4.4 has codes: one side or both.
        let counts = codes(self.round.dictionary.0, tag).filter_map(|code| code.value.parse().ok());
        let number = counts.max().map_or(number, |most: usize| number.min(most));
        let place = |n| Place::new(self.round, values::mix(self.draw(tag).seed(), n as u64), self.depth + 1);
        (0..number).map(place).collect::<Vec<_>>().into_iter()
    }

    fn draw(&self, tag: u32) -> Draw {
        Draw::new(values::mix(values::mix(self.seed, u64::from(tag)), 1))
    }

    fn field(&self, tag: u32) -> &'static FieldDef {
        self.round.dictionary.0.field(tag).expect("printed code knows fields only")
    }
}

/// The values of the members.
impl Place<'_> {
    pub(crate) fn bytes(&self, tag: u32) -> &'static [u8] {
        let mut draw = self.draw(tag);
        if self.round.kind == Kind::Mistakes && draw.one_in(10) {
            self.round.mistake.set(true);
            return if draw.one_in(2) { b"" } else { b"a\x01b" };
        }
        match self.field(tag).kind {
            // The only one with its value in the message.
            DataType::Xid => values::kept(format!("{:x}", draw.seed()).into_bytes()),
            _ => values::bytes(&mut draw),
        }
    }

    pub(crate) fn data(&self, tag: u32) -> &'static [u8] {
        values::data(&mut self.draw(tag))
    }

    /// Returns a value of any other type.
    pub(crate) fn value<T: FromField<'static>>(&self, tag: u32) -> T {
        let mut draw = self.draw(tag);
        let value = match self.code(tag, &mut draw) {
            Some(code) => code.as_bytes(),
            None => values::of_type(&mut draw, self.field(tag).kind),
        };
        T::from_field(value).unwrap_or_else(|error| panic!("{}: {error:?}", value.escape_ascii()))
    }

    /// Returns the value of a field of several tokens.
    pub(crate) fn tokens(&self, tag: u32) -> &'static [u8] {
        let mut draw = self.draw(tag);
        let number = draw.within(1, 4);
        let tokens: Vec<&[u8]> = (0..number)
            .map(|_| self.code(tag, &mut draw).map_or_else(|| values::letter(&mut draw), str::as_bytes))
            .collect();
        values::kept(tokens.join(&b' '))
    }

    /// Returns the value of a field of several tokens, each as a value of the enum.
    pub(crate) fn codes<C: Code<Value = &'static [u8]> + 'static>(&self, tag: u32) -> &'static [C] {
        self.tokens(tag).split(|byte| *byte == b' ').map(C::from_value).collect::<Vec<_>>().leak()
    }

    /// Returns a code of the dictionary, or none if the field has no codes or a foreign one is
    /// wanted.
    fn code(&self, tag: u32, draw: &mut Draw) -> Option<&'static str> {
        let codes: Vec<&'static DictionaryCode> = codes(self.round.dictionary.0, tag).collect();
        if codes.is_empty() || self.field(tag).kind == DataType::Boolean {
            return None;
        }
        let beside = self.field(tag).union == Some(UnionType::AnyValue) && draw.one_in(4);
        let is_foreign = self.round.kind == Kind::Foreign && tag != APPL_VER_ID && draw.one_in(3);
        if beside || is_foreign {
            self.round.foreign.set(true);
            return None;
        }
        let any = draw.within(0, codes.len() as u64 - 1) as usize;
        let at = self.round.wanted.get(&tag).copied().unwrap_or(any);
        self.round.codes.borrow_mut().insert((tag, at));
        Some(&codes[at].value)
    }
}

/// What a getter must return.
#[allow(dead_code)] // a version may have no required fields of some kind
impl Place<'_> {
    pub(crate) fn required<T: PartialEq + Debug>(&self, tag: u32, got: Result<T, FieldError>, value: T) {
        assert_eq!(got, Ok(value), "field {tag}");
    }

    pub(crate) fn optional<T: PartialEq + Debug>(
        &self,
        tag: u32,
        got: Result<Option<T>, FieldError>,
        value: T,
    ) {
        assert_eq!(got, Ok(self.is_there(tag).then_some(value)), "field {tag}");
    }

    /// FIX.4.2 calls a length an int.
    pub(crate) fn required_length<T: Into<i64>>(&self, tag: u32, got: Result<T, FieldError>, data: u32) {
        assert_eq!(got.map(T::into), Ok(self.data(data).len() as i64), "field {tag}");
    }

    pub(crate) fn optional_length<T: Into<i64>>(
        &self,
        tag: u32,
        got: Result<Option<T>, FieldError>,
        data: u32,
    ) {
        let length = self.is_there(data).then(|| self.data(data).len() as i64);
        assert_eq!(got.map(|length| length.map(T::into)), Ok(length), "field {tag}");
    }

    pub(crate) fn required_codes<'m, C: Code<Value = &'m [u8]>>(
        &self,
        tag: u32,
        got: Result<Codes<'m, C>, FieldError>,
    ) {
        self.optional_codes(tag, got.map(Some));
    }

    pub(crate) fn optional_codes<'m, C: Code<Value = &'m [u8]>>(
        &self,
        tag: u32,
        got: Result<Option<Codes<'m, C>>, FieldError>,
    ) {
        let got = got.unwrap().map(|codes| codes.iter().map(C::value).collect::<Vec<_>>());
        let tokens = || self.tokens(tag).split(|byte| *byte == b' ').collect();
        assert_eq!(got, self.is_there(tag).then(tokens), "field {tag}");
    }

    pub(crate) fn required_tokens(&self, tag: u32, got: Result<MultipleStringValue<'_>, FieldError>) {
        self.optional_tokens(tag, got.map(Some));
    }

    pub(crate) fn optional_tokens(&self, tag: u32, got: Result<Option<MultipleStringValue<'_>>, FieldError>) {
        let tokens = || MultipleStringValue::from_field(self.tokens(tag)).unwrap();
        assert_eq!(got, Ok(self.is_there(tag).then(tokens)), "field {tag}");
    }

    pub(crate) fn group<'m, E: Entry<'m>>(
        &self,
        tag: u32,
        got: Result<Group<'m, E>, FieldError>,
        read: fn(&E, &Place<'_>),
    ) {
        let entries = got.unwrap();
        let places = self.entries(tag);
        assert_eq!(entries.len(), places.len(), "group {tag}");
        for (entry, place) in entries.zip(places) {
            read(&entry, &place);
        }
    }
}
