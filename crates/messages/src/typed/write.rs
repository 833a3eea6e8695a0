//! Writing a message's body field by field, and the entries of its groups in order.
//!
//! A mistake does not stop the writing. It is recorded, and `send` refuses the message because of
//! the first one.

use core::marker::PhantomData;

use fixbolt_codec::{BodySink, BodyWriter, EncodeErrorKind, Key, OpenGroup, Tag};

use super::code::Code;

/// A type with setters: a message's body, its header, an entry of a group.
pub trait Put<'b> {
    /// Returns the writer for the field `key`; `ordinal` is its position among the members.
    fn at(&mut self, ordinal: u16, key: Key) -> &mut BodyWriter<'b>;

    /// Records that the group at this position has entries.
    fn group_written(&mut self, ordinal: u16);

    /// Writes a group with one entry per item. Nothing is written if there are no items.
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

/// Proof that an entry was written. Only a finished entry returns it, and only for itself.
#[derive(Debug)]
#[must_use = "the group's closure returns it"]
pub struct Written<'g>(PhantomData<fn(&'g ()) -> &'g ()>);

/// An entry that was announced and must be written.
#[derive(Debug)]
pub struct NewEntry<'g, 'b>(&'g mut BodyWriter<'b>);

impl<'g, 'b> NewEntry<'g, 'b> {
    /// Begins the entry with its required members: fields, and groups by ordinal and count tag.
    /// `delimiter` is the tag of its first field.
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

/// The required fields of an entry, held back until their position is reached.
pub trait Required {
    /// Their positions among the entry's members, ascending.
    const FIELDS: &'static [u16];

    /// Writes field `n` of [`Required::FIELDS`].
    fn put(&self, n: usize, to: &mut BodyWriter<'_>);
}

/// An entry without required fields.
#[derive(Clone, Copy, Debug)]
pub struct NothingRequired;

impl Required for NothingRequired {
    const FIELDS: &'static [u16] = &[];

    fn put(&self, _: usize, _: &mut BodyWriter<'_>) {}
}

/// Writes an entry in the order of its group.
#[derive(Debug)]
pub struct EntryWriter<'g, 'b, R> {
    body: &'g mut BodyWriter<'b>,
    required: R,
    delimiter: u32,
    /// Number of required fields written so far.
    put: usize,
    /// Ordinal of the first optional member that was written; 0 before.
    first: u16,
    /// Ordinal of the last member that was written.
    last: u16,
    groups: RequiredGroups,
}

impl<'g, 'b, R: Required> EntryWriter<'g, 'b, R> {
    /// Returns the writer for a field, as [`Put::at`] does.
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

    /// Records that a group has entries, as [`Put::group_written`] does.
    pub fn group_written(&mut self, ordinal: u16) {
        self.groups.note(ordinal);
    }

    /// Returns the body, positioned after the entry's first field.
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
    /// Creates a writer over a draft. Required groups are given by ordinal and count tag.
    pub const fn new(draft: D, groups: &'static [(u16, u32)]) -> Self {
        Self { draft, groups: RequiredGroups { all: groups, written: 0 }, lent: PhantomData }
    }

    /// Returns the writer of the body.
    #[inline]
    pub fn body(&mut self) -> &mut BodyWriter<'b> {
        self.draft.writer()
    }

    /// Records that a group has entries, as [`Put::group_written`] does.
    pub fn group_written(&mut self, ordinal: u16) {
        self.groups.note(ordinal);
    }

    /// Sends the message.
    ///
    /// # Errors
    /// Returns the error of the sink, or the first mistake.
    #[inline]
    pub fn send(mut self) -> Result<D::Receipt, D::Error> {
        self.groups.check(self.draft.writer());
        self.draft.send()
    }
}

/// Required groups by ordinal and count tag, with a bit for each one that has entries. The
/// generator refuses more than 32.
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

/// Writes several codes separated by spaces, up to 256 bytes: over a hundred codes of one letter.
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
