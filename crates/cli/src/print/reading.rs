//! Prepares a message for output: every field with its name, its position and the name of its
//! value, and all errors.
//!
//! A message with a wrong length or checksum is read as if they were right, and reported as
//! invalid.

use std::ops::{ControlFlow, Range};

use fixbolt_cli::output::shown;
use fixbolt_codec::plumbing::PlacePlumbing as _;
use fixbolt_codec::{
    DataFields, Fault, FaultKind, Framed, Index, IndexError, Message, Place, Secrets, Section, Span, Version,
    is_secret,
};
use fixbolt_dictionary::{
    Action, Check, Dictionary, EntryOrder, ExpectedOrder, Policy, Scratch, Validator, Violation,
};

use super::garbled::{
    Wrong, begin_anew, number, seal_anew, split, tag_of, value_of, version_and_type, wrong_begin_string,
    wrong_frame,
};
use super::lexicon::{Known, Lexicon, policy};
use super::words::{FieldWords, Meaning, Words};

/// The number of fields for which there is always memory.
const MOST_FIELDS: usize = 4096;

/// Reads messages one after another, in memory that it keeps.
pub(crate) struct Reader {
    lexicon: Lexicon,
    policy: Policy,
    tags: Vec<u32>,
    spans: Vec<Span>,
    /// The message with another BeginString, the right BodyLength and CheckSum, followed by its own
    /// ones.
    sealed: Vec<u8>,
    /// A garbled message with its secrets replaced.
    masked: Vec<u8>,
    found: Found,
}

/// What was found in a message.
#[derive(Default)]
struct Found {
    fields: Vec<Shown>,
    problems: Vec<String>,
    /// The secrets of a message, ascending: fields may be parts of them, or have them in their
    /// data.
    secrets: Vec<Range<usize>>,
    /// The number of entries begun so far in the groups around a field, outermost first.
    entries: Vec<u32>,
    name: Option<u32>,
    /// Whether the end of the message is missing.
    is_cut_off: bool,
    layouts: Layouts,
    /// The layout that has the fields instead.
    layout: Option<usize>,
}

/// What the last messages without a fault looked like: most messages of a log have the fields of
/// one before, and only their values are new.
#[derive(Default)]
struct Layouts {
    layouts: Vec<Layout>,
    /// The one to forget next.
    oldest: usize,
}

struct Layout {
    /// Tells the dictionaries apart.
    dictionary: usize,
    msg_type: Vec<u8>,
    tags: Vec<u32>,
    places: Vec<Place>,
    fields: Vec<Shown>,
}

impl Layouts {
    const MOST: usize = 16;
    /// Larger messages are not remembered.
    const MOST_FIELDS: usize = 512;

    fn find(&self, dictionary: usize, message: &Message<'_>, places: &[Place]) -> Option<usize> {
        self.layouts.iter().position(|layout| {
            layout.tags == message.tags()
                && layout.places == places
                && layout.msg_type == message.msg_type()
                && layout.dictionary == dictionary
        })
    }

    fn remember(&mut self, layout: Layout) {
        if self.layouts.len() < Self::MOST {
            self.layouts.push(layout);
        } else {
            self.layouts[self.oldest] = layout;
            self.oldest = (self.oldest + 1) % Self::MOST;
        }
    }
}

/// Where the bytes are that a message is shown from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ShownFrom {
    /// In those that were read.
    Bytes,
    Sealed,
    Masked,
}

/// A message that was read.
pub(crate) struct Reading<'r> {
    /// BeginString (8).
    pub(crate) begin_string: &'r [u8],
    /// MsgType (35).
    pub(crate) msg_type: &'r [u8],
    /// The message's name, if a dictionary has it.
    pub(crate) name: Option<&'r str>,
    /// The fields in message order.
    pub(crate) fields: &'r [Shown],
    /// The errors in words; empty for a valid message.
    pub(crate) problems: &'r [String],
    /// Whether there is no dictionary for the version.
    pub(crate) unknown_version: bool,
    /// Whether all values are printable ASCII without `"` and `\`.
    pub(crate) is_plain: bool,
    bytes: &'r [u8],
    words: Option<&'r Words>,
}

/// A field as it is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// Where the tag is, as written in the message.
    tag: (u32, u32),
    value: (u32, u32),
    /// The tag as a number; 0 if it is none.
    number: u32,
    /// The index of its words.
    words: Option<u32>,
    /// Whether the value must not be shown.
    pub(crate) is_secret: bool,
    /// Header, body or trailer.
    pub(crate) section: Section,
    /// The number of groups around it.
    pub(crate) depth: u8,
    /// Whether it begins its entry.
    pub(crate) begins_entry: bool,
    /// The entry of the innermost group, counted from 1.
    pub(crate) entry: u32,
}

impl Shown {
    /// Returns whether this is the field with this tag.
    pub(crate) fn is(&self, tag: u32) -> bool {
        self.number == tag
    }
}

impl Reader {
    /// Creates a reader that takes names from this lexicon.
    pub(crate) fn new(lexicon: Lexicon) -> Self {
        let (tags, spans, sealed, masked) = Default::default();
        Self { lexicon, policy: policy(), tags, spans, sealed, masked, found: Found::default() }
    }

    /// Returns the same reader with the checks of this policy.
    pub(crate) fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Reads the message in `bytes`.
    pub(crate) fn read<'r>(&'r mut self, bytes: &'r [u8]) -> Reading<'r> {
        self.read_as(bytes, None)
    }

    /// Reads the message in `bytes`, over FIXT.1.1 as one of this version.
    pub(crate) fn read_as<'r>(&'r mut self, bytes: &'r [u8], version: Option<Version>) -> Reading<'r> {
        self.read_all(bytes, version, &[])
    }

    /// Reads the message in `bytes`. If it is garbled, these parts of it are not shown, beside what
    /// may be a secret.
    pub(crate) fn read_without<'r>(&'r mut self, bytes: &'r [u8], secrets: &[Range<usize>]) -> Reading<'r> {
        self.read_all(bytes, None, secrets)
    }

    fn read_all<'r>(
        &'r mut self,
        bytes: &'r [u8],
        version: Option<Version>,
        secrets: &[Range<usize>],
    ) -> Reading<'r> {
        let Self { lexicon, policy, tags, spans, sealed, masked, found } = self;
        let (begin_string, msg_type) = version_and_type(bytes);
        let mut known = lexicon.find(begin_string, msg_type, version);
        found.clear();
        // A field has at least its SOH; the message that is sealed anew has at most three fields
        // more.
        if tags.len() < bytes.len() {
            let most = memchr::memchr_iter(1, bytes).count() + 4;
            tags.resize(most.max(MOST_FIELDS).max(tags.len()), 0);
            spans.resize(tags.len(), Span::default());
        }
        let parts = known.as_deref_mut().map(Parts::of);
        let shown_from = found.read(
            (bytes, secrets),
            (begin_string, msg_type),
            parts,
            policy,
            (tags, spans),
            (sealed, masked),
        );
        let in_bytes = shown_from == ShownFrom::Bytes;
        let fields = match found.layout {
            Some(at) => &found.layouts.layouts[at].fields,
            None => &found.fields,
        };
        // A data field may have SOH in its value; then there are more of them than fields.
        let is_plain = in_bytes && is_plain(bytes) && memchr::memchr_iter(1, bytes).count() == fields.len();
        let words: Option<&Words> = known.map(|known| &known.words);
        let (begin_string, msg_type) =
            if in_bytes { (begin_string, msg_type) } else { version_and_type(masked) };
        Reading {
            begin_string,
            msg_type,
            fields,
            problems: &found.problems,
            unknown_version: words.is_none(),
            is_plain,
            bytes: match shown_from {
                ShownFrom::Bytes => bytes,
                ShownFrom::Sealed => sealed,
                ShownFrom::Masked => masked,
            },
            name: words.zip(found.name).map(|(words, index)| words.message(index)),
            words,
        }
    }
}

impl<'r> Reading<'r> {
    /// Returns whether the message is valid.
    pub(crate) fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns the value of the first field with this tag.
    pub(crate) fn value(&self, tag: u32) -> Option<&'r [u8]> {
        let field = self.fields.iter().find(|field| field.number == tag)?;
        (!field.is_secret).then(|| self.value_of(field))
    }

    /// Returns the tag of a field as it is written in the message.
    pub(crate) fn tag_of(&self, field: &Shown) -> &'r [u8] {
        &self.bytes[field.tag.0 as usize..field.tag.1 as usize]
    }

    /// Returns the value of a field, also if it is secret.
    pub(crate) fn value_of(&self, field: &Shown) -> &'r [u8] {
        &self.bytes[field.value.0 as usize..field.value.1 as usize]
    }

    /// Writes the value of a field as it is. A short one is copied together with the bytes after
    /// it, which is faster than as many bytes as it has.
    #[inline]
    pub(crate) fn copy_value(&self, out: &mut Vec<u8>, field: &Shown) {
        let (begin, end) = (field.value.0 as usize, field.value.1 as usize);
        match self.bytes.get(begin..).and_then(<[u8]>::first_chunk::<24>) {
            Some(block) if end - begin <= block.len() => {
                let end = out.len() + (end - begin);
                out.extend_from_slice(block);
                out.truncate(end);
            }
            _ => out.extend_from_slice(&self.bytes[begin..end]),
        }
    }

    /// Returns the words of a field, if the dictionary has it.
    pub(crate) fn words_of(&self, field: &Shown) -> Option<&'r FieldWords> {
        Some(self.words?.field(field.words?))
    }

    /// Returns the words of a field and what its value means, if it means something.
    pub(crate) fn meaning_of(&self, field: &Shown) -> (Option<&'r FieldWords>, Meaning<'r>) {
        let words = self.words_of(field);
        let meaning = match words {
            Some(words) if !field.is_secret => words.meaning(self.value_of(field)),
            _ => Meaning::None,
        };
        (words, meaning)
    }
}

/// The parts of a dictionary that a reading uses, each borrowed separately.
struct Parts<'k> {
    id: usize,
    dictionary: &'k Dictionary,
    validator: &'k Validator,
    scratch: &'k mut Scratch,
    words: &'k mut Words,
    header: &'k [u32],
}

impl<'k> Parts<'k> {
    fn of(known: &'k mut Known) -> Self {
        let Known { id, dictionary, validator, scratch, words, header } = known;
        // An application version over FIXT.1.1 leaves it to the session's dictionary.
        let header = if header.is_empty() { &HEADER } else { header.as_slice() };
        Self { id: *id, dictionary, validator, scratch, words, header }
    }
}

impl Found {
    fn clear(&mut self) {
        self.fields.clear();
        self.problems.clear();
        self.secrets.clear();
        self.name = None;
        self.is_cut_off = false;
        self.layout = None;
    }

    /// Finds fields and problems. Returns where the fields are. What may be a secret in a garbled
    /// message is replaced before it is read again.
    fn read(
        &mut self,
        (bytes, secrets): (&[u8], &[Range<usize>]),
        (begin_string, msg_type): (&[u8], &[u8]),
        known: Option<Parts<'_>>,
        policy: &Policy,
        (tags, spans): (&mut [u32], &mut [Span]),
        (sealed, masked): (&mut Vec<u8>, &mut Vec<u8>),
    ) -> ShownFrom {
        let data_fields = known.as_ref().map_or(DataFields::STANDARD, |known| known.validator.data_fields());
        let mut index = Index::new(tags, spans).with_data_fields(data_fields);
        let wrong = match Framed::try_new(bytes).map(|framed| index.build(framed)) {
            Ok(Ok(message)) => {
                // Only an application version's name has the form of another BeginString.
                let expected = known.as_ref().map(|known| known.dictionary.version().begin_string.as_bytes());
                if expected.is_some_and(|expected| expected != begin_string) {
                    self.problems.extend(wrong_begin_string(begin_string));
                }
                self.fill(&message, known, policy);
                return ShownFrom::Bytes;
            }
            Ok(Err(error)) => Wrong::Other(error.to_string()),
            Err(error) => wrong_frame(bytes, begin_string, error),
        };
        self.problems.extend(wrong_begin_string(begin_string));
        self.is_cut_off = wrong == Wrong::CutOff;
        self.problems.extend(wrong.text());
        masked.clear();
        masked.extend_from_slice(bytes);
        if wrong == Wrong::BeginString {
            begin_anew(masked, sealed);
        } else {
            mask(masked, secrets);
            seal_anew(masked, sealed);
        }
        let message = match Framed::try_new(sealed) {
            Ok(framed) => index.build(framed),
            Err(_) => Err(IndexError::MsgTypeNotThird),
        };
        match message {
            Ok(message) => {
                self.fill(&message, known, policy);
                self.restore(masked, sealed);
                ShownFrom::Sealed
            }
            Err(error) => {
                mask(masked, secrets);
                let text = error.to_string();
                // Where a message is cut off, its last field is, too.
                let whole = split(masked).filter(|field| !matches!(tag_of(field), Some(8..=10))).count();
                if whole > usize::from(self.is_cut_off) && !self.problems.contains(&text) {
                    self.problems.push(text);
                }
                self.fill_plainly(masked, msg_type, known);
                ShownFrom::Masked
            }
        }
    }

    fn fill(&mut self, message: &Message<'_>, known: Option<Parts<'_>>, policy: &Policy) {
        if may_have_secrets(message) {
            self.secrets.extend(Secrets::STANDARD.in_message(message.bytes()));
        }
        let Some(Parts { id, dictionary, validator, scratch, words, header }) = known else {
            if let Some(fault) =
                message.fault().filter(|fault| !(self.is_cut_off && fault_follows_from_cut(*fault, message)))
            {
                let is_hidden = is_hidden(&self.secrets, fault.tag.start());
                self.problems.push(fault_text(message, fault, is_hidden));
            }
            for position in 0..message.len() {
                let tag = message.tags()[position];
                let section = section_without_dictionary(tag, self.fields.last());
                self.push(message, position, Place::new(tag, section, 0), None);
            }
            return;
        };
        self.name = words.prepare_message(dictionary, message.msg_type());
        // An application version over FIXT.1.1 leaves header and trailer to the session's
        // dictionary.
        let over_fixt = dictionary.header().is_empty();
        let Self { problems, secrets, is_cut_off, .. } = self;
        let places = validator.for_each(message, policy, scratch, |violation| {
            if violation.action != Action::Reject || *is_cut_off && follows_from_cut(&violation, message) {
                return ControlFlow::Continue(());
            }
            let start = |at| message.span(at).end() - message.field_bytes(at).len();
            let tag = match violation.position {
                Some(at) if is_hidden(secrets, start(at)) => "***".to_owned(),
                _ => violation.tag.to_string(),
            };
            let number = tag.parse().ok();
            if over_fixt && number.is_some_and(|tag| HEADER.contains(&tag) || TRAILER.contains(&tag)) {
                return ControlFlow::Continue(());
            }
            let field = number.and_then(|tag| dictionary.field(tag));
            let field =
                field.map_or_else(|| format!("field {tag}"), |field| format!("{} ({tag})", field.name));
            let mut problem = format!("{field}: {}", lower_first(violation.text()));
            // A group may violate the same rule in every entry: the first one is shown.
            let is_it = |known: &String| {
                let more = known.strip_prefix(&problem);
                more.is_some_and(|more| more.is_empty() || more.starts_with(IN_ENTRY))
            };
            if !problems.iter().any(is_it) {
                if let Some(order) = &violation.order {
                    problem += &order_text(order, dictionary);
                }
                problems.push(problem);
            }
            ControlFlow::Continue(())
        });
        let places = places.unwrap_or_default();
        let is_ordinary = message.fault().is_none() && self.secrets.is_empty();
        if is_ordinary {
            self.layout = self.layouts.find(id, message, places);
            if let Some(at) = self.layout {
                let mut begin = 0;
                for (position, field) in self.layouts.layouts[at].fields.iter_mut().enumerate() {
                    let value = message.span(position);
                    field.tag = span(begin, value.start() - 1);
                    field.value = span(value.start(), value.end());
                    begin = value.end() + 1;
                }
                return;
            }
        }
        self.entries.clear();
        let header_end = header_end(message, places, header);
        for (position, mut place) in places.iter().copied().enumerate() {
            if place.section() == Section::Header
                && position >= header_end
                && !header.contains(&message.tags()[position])
            {
                place = Place::new(place.tag(), Section::Body, 0);
            }
            if over_fixt && TRAILER.contains(&message.tags()[position]) {
                place = Place::new(place.tag(), Section::Trailer, 0);
            }
            let depth = place.depth();
            self.entries.truncate(depth);
            if place.begins_entry() {
                self.entries.resize(depth, 0);
                self.entries[depth - 1] += 1;
            }
            self.push(message, position, place, Some((dictionary, words)));
        }
        if is_ordinary && message.len() <= Layouts::MOST_FIELDS {
            self.layouts.remember(Layout {
                dictionary: id,
                msg_type: message.msg_type().to_vec(),
                tags: message.tags().to_vec(),
                places: places.to_vec(),
                fields: self.fields.clone(),
            });
        }
    }

    #[inline]
    fn push(
        &mut self,
        message: &Message<'_>,
        position: usize,
        place: Place,
        known: Option<(&Dictionary, &mut Words)>,
    ) {
        let value = message.span(position);
        let begin = if position == 0 { 0 } else { message.span(position - 1).end() + 1 };
        if is_hidden(&self.secrets, begin) {
            return;
        }
        // Without `=` the whole field is the tag.
        let equals = value.start().checked_sub(1).filter(|at| *at >= begin && message.bytes()[*at] == b'=');
        let shown = Shown {
            number: message.tags()[position],
            tag: span(begin, equals.unwrap_or(value.end())),
            value: if equals.is_some() {
                span(value.start(), value.end())
            } else {
                span(value.end(), value.end())
            },
            words: None,
            is_secret: false,
            section: place.section(),
            depth: place.depth() as u8,
            begins_entry: place.begins_entry(),
            entry: self.entries.get(place.depth().wrapping_sub(1)).copied().unwrap_or(0),
        };
        self.add(shown, message.bytes(), message.msg_type(), known);
    }

    /// Adds a field and looks up what it means.
    #[inline]
    fn add(
        &mut self,
        mut shown: Shown,
        bytes: &[u8],
        msg_type: &[u8],
        known: Option<(&Dictionary, &mut Words)>,
    ) {
        if shown.number == 0 {
            // `054` is no tag for the index, but what is meant is shown.
            let tag = &bytes[shown.tag.0 as usize..shown.tag.1 as usize];
            shown.number = number(tag).unwrap_or(0);
        }
        let (from, end) = (shown.value.0 as usize, shown.value.1 as usize);
        shown.is_secret = is_secret(shown.number, Some(msg_type))
            || first_beyond(&self.secrets, from).is_some_and(|hidden| hidden.start < end);
        if let Some((dictionary, words)) = known {
            shown.words = words.prepare_field(dictionary, shown.number);
        }
        self.fields.push(shown);
    }

    /// Restores the original BeginString, BodyLength and CheckSum of a message that was read with
    /// other ones, or removes them if the original message had none.
    fn restore(&mut self, original: &[u8], sealed: &mut Vec<u8>) {
        if let Some(at) = self.layout.take() {
            self.fields.extend_from_slice(&self.layouts.layouts[at].fields);
        }
        // Data may have fields of these tags in it, between the first two and the last.
        let check_sum = split(original).last().and_then(|field| field.strip_prefix(b"10="));
        let check_sum = check_sum.or_else(|| value_of(original, 10));
        for (tag, value) in [(8, value_of(original, 8)), (9, value_of(original, 9)), (10, check_sum)] {
            let mut fields = self.fields.iter();
            let at = match tag {
                10 => fields.rposition(|field| field.number == tag),
                _ => fields.position(|field| field.number == tag),
            };
            match (at, value) {
                (Some(at), Some(value)) => {
                    self.fields[at].value = span(sealed.len(), sealed.len() + value.len());
                    sealed.extend_from_slice(value);
                }
                (Some(at), None) => drop(self.fields.remove(at)),
                (None, _) => {}
            }
        }
    }

    /// Adds the fields without structure, for bytes that cannot be indexed.
    fn fill_plainly(&mut self, bytes: &[u8], msg_type: &[u8], known: Option<Parts<'_>>) {
        let mut known = known.map(|known| (known.dictionary, known.words));
        if let Some((dictionary, words)) = &mut known {
            self.name = words.prepare_message(dictionary, msg_type);
        }
        let mut end = 0;
        for field in bytes.split(|byte| *byte == 1) {
            let begin = end;
            end = begin + field.len() + 1;
            if field.is_empty() {
                continue;
            }
            let equals = field.iter().position(|byte| *byte == b'=').unwrap_or(field.len());
            let section = section_without_dictionary(tag_of(field).unwrap_or(0), self.fields.last());
            let shown = Shown {
                number: tag_of(field).unwrap_or(0),
                tag: span(begin, begin + equals),
                value: span(begin + field.len().min(equals + 1), begin + field.len()),
                words: None,
                is_secret: false,
                section,
                depth: 0,
                begins_entry: false,
                entry: 0,
            };
            let known = known.as_mut().map(|(dictionary, words)| (*dictionary, &mut **words));
            self.add(shown, bytes, msg_type, known);
        }
    }
}

/// Returns whether a violation may be due to the missing end of a message that is cut off.
fn follows_from_cut(violation: &Violation<'_>, message: &Message<'_>) -> bool {
    use Check::{DataLength, GroupCount, RequiredField, RequiredInGroup};
    matches!(violation.check, RequiredField | RequiredInGroup | GroupCount | DataLength)
        || violation.position.is_some_and(|at| is_last_of_body(message, at))
}

fn fault_follows_from_cut(fault: Fault, message: &Message<'_>) -> bool {
    fault.kind == FaultKind::DataLength || is_last_of_body(message, fault.field)
}

/// Returns whether only CheckSum follows the field at this position.
fn is_last_of_body(message: &Message<'_>, position: usize) -> bool {
    position + 2 == message.len()
}

/// Replaces what may be a secret in bytes that are not a message, and these parts of them.
fn mask(bytes: &mut [u8], secrets: &[Range<usize>]) {
    let found: Vec<_> = Secrets::STANDARD.in_garbled(bytes).collect();
    for secret in found.iter().chain(secrets) {
        bytes[secret.clone()].fill(b'*');
    }
}

/// Returns a part of a message, of which a piece of input is the largest.
fn span(begin: usize, end: usize) -> (u32, u32) {
    (begin as u32, end as u32)
}

/// Returns whether bytes need no escaping in any form: printable ASCII without `"` and `\`, and
/// SOH.
fn is_plain(bytes: &[u8]) -> bool {
    // Without branches, so that many bytes are compared at a time.
    let strange = |byte: &u8| {
        u8::from(*byte < 0x20) & u8::from(*byte != 1)
            | u8::from(*byte > 0x7e)
            | u8::from(*byte == b'"')
            | u8::from(*byte == b'\\')
    };
    bytes.iter().fold(0, |found, byte| found | strange(byte)) == 0
}

/// What stands between a problem and where it is.
const IN_ENTRY: &str = ", in entry ";

/// Returns where the order of a group is not the expected one, and how to have it accepted.
fn order_text(order: &EntryOrder, dictionary: &Dictionary) -> String {
    let name = |tag: u32| match dictionary.field(tag) {
        Some(field) => format!("{} ({tag})", field.name),
        None => format!("field {tag}"),
    };
    let expected = match order.expected {
        ExpectedOrder::First(tag) => format!("whose entries begin with {}", name(tag)),
        ExpectedOrder::Before(tag) => format!("where it belongs before {}", name(tag)),
    };
    let (entry, count) = (order.entry, order.count_tag);
    let key = match order.is_accepted_as_sent() {
        true => format!("; --groups-as-sent {count} accepts the order"),
        false => String::new(),
    };
    format!("{IN_ENTRY}{entry} of {}, {expected}{key}", name(count))
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Returns whether a message has to be searched for secrets: one that is data may have a length
/// that is wrong or missing, without a fault for it, and in a Logon other data may contain one.
fn may_have_secrets(message: &Message<'_>) -> bool {
    let msg_type = message.msg_type();
    message.fault().is_some()
        || msg_type == b"A"
        || message.tags().iter().any(|tag| is_secret(*tag, Some(msg_type)))
}

/// Returns whether what begins at this position is a part of one of the secrets.
fn is_hidden(secrets: &[Range<usize>], at: usize) -> bool {
    first_beyond(secrets, at).is_some_and(|hidden| hidden.start <= at)
}

/// Returns the first secret that ends after this position.
fn first_beyond(secrets: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    secrets.get(secrets.partition_point(|hidden| hidden.end <= at))
}

fn fault_text(message: &Message<'_>, fault: Fault, is_hidden: bool) -> String {
    let tag = &message.bytes()[fault.tag.start()..fault.tag.end()];
    let tag = if is_hidden { "***".to_owned() } else { shown(tag) };
    match fault.kind {
        FaultKind::EmptyValue => format!("field {tag}: tag specified without a value"),
        FaultKind::NoEquals => format!("field {tag}: has no '='"),
        FaultKind::DataLength => format!("field {tag}: is not the length of the data after it"),
        _ => format!("field {tag}: invalid tag number"),
    }
}

/// The standard header.
const HEADER: [u32; 27] = [
    8, 9, 35, 1128, 1156, 1129, 49, 56, 115, 128, 90, 91, 34, 50, 142, 57, 143, 116, 144, 129, 145, 43, 97,
    52, 122, 212, 213,
];
/// The standard trailer.
const TRAILER: [u32; 3] = [93, 89, 10];

/// Returns how many fields of a message are its header: up to the last one of the header that comes
/// before the first of another section. The validator takes what it does not know for a field of
/// the section, and of the entry, before it.
fn header_end(message: &Message<'_>, places: &[Place], header: &[u32]) -> usize {
    let end = places.iter().position(|place| place.section() != Section::Header).unwrap_or(places.len());
    (0..end).rev().find(|at| header.contains(&message.tags()[*at])).map_or(0, |last| last + 1)
}

/// Returns the section without a dictionary: the standard header up to the first field of the body,
/// and the three fields of the trailer.
fn section_without_dictionary(tag: u32, last: Option<&Shown>) -> Section {
    let in_header = last.is_none_or(|last| last.section == Section::Header);
    match tag {
        tag if TRAILER.contains(&tag) => Section::Trailer,
        tag if in_header && HEADER.contains(&tag) => Section::Header,
        _ => Section::Body,
    }
}
