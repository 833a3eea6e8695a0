//! Writing: a message's body field by field, and the entries of its groups in their order.
//!
//! A mistake does not stop the writing; it is remembered, and `send` refuses the message with the first one.

use core::marker::PhantomData;

use fixbolt_codec::{BodySink, BodyWriter, EncodeErrorKind, Key, OpenGroup, Tag};

use super::code::Code;

/// What has setters: a message's body, its header, an entry of a group.
pub trait Put<'b> {
    /// Where the field `key` is written; `ordinal` is its place among the members.
    fn at(&mut self, ordinal: u16, key: Key) -> &mut BodyWriter<'b>;

    /// Notes that the group at this place has entries.
    fn group_written(&mut self, ordinal: u16);

    /// Writes a group with an entry for each item. Without items nothing is written.
    #[inline]
    fn put_group<I: IntoIterator<IntoIter: ExactSizeIterator>>(
        &mut self,
        ordinal: u16,
        count: Key,
        items: I,
        mut each: impl for<'g> FnMut(NewEntry<'g, 'b>, I::Item) -> Written<'g>,
    ) {
        let items = items.into_iter();
        if items.len() == 0 {
            return;
        }
        let body = self.at(ordinal, count);
        let mut group: OpenGroup = body.group(count, items.len());
        for item in items {
            body.entry(&mut group);
            let Written(_) = each(NewEntry(body), item);
        }
        body.end_group(group);
        self.group_written(ordinal);
    }
}

/// Proof that an entry was written: only a finished entry gives it, and only for itself.
#[derive(Debug)]
#[must_use = "the group's closure returns it"]
pub struct Written<'g>(PhantomData<fn(&'g ()) -> &'g ()>);

/// An entry that was announced and is to be written.
#[derive(Debug)]
pub struct NewEntry<'g, 'b>(&'g mut BodyWriter<'b>);

impl<'g, 'b> NewEntry<'g, 'b> {
    /// Begins the entry with what it must have: fields, and groups by ordinal and count tag. `delimiter` is the tag of its first
    /// field.
    #[inline]
    pub const fn begin<R: Required>(
        self,
        required: R,
        delimiter: u32,
        groups: &'static [(u16, u32)],
    ) -> EntryWriter<'g, 'b, R> {
        let groups = RequiredGroups { all: groups, written: 0 };
        EntryWriter { body: self.0, required, delimiter, put: 0, first: 0, last: 0, groups }
    }
}

/// The required fields of an entry, held back until their place comes.
pub trait Required {
    /// Their places among the entry's members, ascending.
    const FIELDS: &'static [u16];

    /// Writes field `n` of [`Required::FIELDS`].
    fn put(&self, n: usize, to: &mut BodyWriter<'_>);
}

/// An entry of which no field is required.
#[derive(Clone, Copy, Debug)]
pub struct NothingRequired;

impl Required for NothingRequired {
    const FIELDS: &'static [u16] = &[];

    fn put(&self, _: usize, _: &mut BodyWriter<'_>) {}
}

/// Writes an entry in its group's order.
#[derive(Debug)]
pub struct EntryWriter<'g, 'b, R> {
    body: &'g mut BodyWriter<'b>,
    required: R,
    delimiter: u32,
    /// Required fields that are written.
    put: usize,
    /// Ordinal of the first optional member that was written, 0 before.
    first: u16,
    /// Ordinal of the last one.
    last: u16,
    groups: RequiredGroups,
}

impl<'g, 'b, R: Required> EntryWriter<'g, 'b, R> {
    /// As [`Put::at`].
    #[inline]
    pub fn at(&mut self, ordinal: u16, key: Key) -> &mut BodyWriter<'b> {
        if ordinal < self.last {
            self.body.refuse(key.tag(), EncodeErrorKind::GroupOrder);
        }
        self.put_required_before(ordinal);
        if self.first == 0 {
            self.first = ordinal;
        }
        self.last = ordinal;
        self.body
    }

    /// As [`Put::group_written`].
    pub fn group_written(&mut self, ordinal: u16) {
        self.groups.note(ordinal);
    }

    /// The body, behind the entry's first field.
    #[inline]
    pub fn body(&mut self) -> &mut BodyWriter<'b> {
        self.put_required_before(2);
        self.body
    }

    /// Ends the entry; nothing can be written to it afterwards.
    #[inline]
    pub fn done(&mut self) -> Written<'g> {
        self.put_required_before(u16::MAX);
        if R::FIELDS.first() != Some(&1) && self.first != 1 {
            self.body.refuse(Tag::new(self.delimiter), EncodeErrorKind::GroupOrder);
        }
        self.groups.check(self.body);
        self.last = u16::MAX;
        Written(PhantomData)
    }

    #[inline]
    fn put_required_before(&mut self, ordinal: u16) {
        while let Some(next) = R::FIELDS.get(self.put)
            && *next < ordinal
        {
            self.required.put(self.put, self.body);
            self.put += 1;
        }
    }
}

/// Writes a message's body into the draft of a sink.
#[derive(Debug)]
pub struct MessageWriter<'b, D> {
    draft: D,
    groups: RequiredGroups,
    lent: PhantomData<&'b mut [u8]>,
}

impl<'b, D: BodySink<'b>> MessageWriter<'b, D> {
    /// Over a draft; the groups that the message must have are given by ordinal and count tag.
    pub const fn new(draft: D, groups: &'static [(u16, u32)]) -> Self {
        Self { draft, groups: RequiredGroups { all: groups, written: 0 }, lent: PhantomData }
    }

    /// The body.
    #[inline]
    pub fn body(&mut self) -> &mut BodyWriter<'b> {
        self.draft.writer()
    }

    /// As [`Put::group_written`].
    pub fn group_written(&mut self, ordinal: u16) {
        self.groups.note(ordinal);
    }

    /// Hands the body over.
    ///
    /// # Errors
    /// The sink's own, and the first mistake.
    #[inline]
    pub fn send(mut self) -> Result<D::Receipt, D::Error> {
        self.groups.check(self.draft.writer());
        self.draft.send()
    }
}

/// Groups that must have entries, by ordinal and count tag, and a bit for each that has. Printing refuses more than 32.
#[derive(Debug)]
struct RequiredGroups {
    all: &'static [(u16, u32)],
    written: u32,
}

impl RequiredGroups {
    #[inline]
    fn note(&mut self, ordinal: u16) {
        if let Some(n) = self.all.iter().position(|group| group.0 == ordinal) {
            self.written |= 1 << n;
        }
    }

    #[inline]
    fn check(&self, body: &mut BodyWriter<'_>) {
        let missing = self.all.iter().enumerate().find(|(n, _)| self.written & 1 << n == 0);
        if let Some((_, (_, tag))) = missing {
            body.refuse(Tag::new(*tag), EncodeErrorKind::Missing);
        }
    }
}

/// Writes several codes with a space between them. 256 bytes are room for over a hundred of one letter.
pub fn put_codes<'v, C: Code<'v>>(to: &mut BodyWriter<'_>, key: Key, codes: &[C]) {
    let mut text = [0; 256];
    let mut length = 0;
    for code in codes {
        let value = code.value();
        if value.is_empty() {
            to.refuse(key.tag(), EncodeErrorKind::Empty);
            return;
        }
        let start = length + usize::from(length > 0);
        let end = start + value.len();
        if end > text.len() {
            to.refuse(key.tag(), EncodeErrorKind::NoRoom);
            return;
        }
        text[length..start].fill(b' ');
        text[start..end].copy_from_slice(value);
        length = end;
    }
    to.bytes(key, &text[..length]);
}
