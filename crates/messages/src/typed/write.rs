//! Writing a message's body field by field, and the entries of its groups in order.
//!
//! A mistake does not stop the writing. It is recorded, and the message is refused because of the
//! first one.

use core::fmt::Debug;
use core::marker::PhantomData;

use fixbolt_codec::plumbing::{BodyPlumbing as _, Members};
use fixbolt_codec::{BodySink, BodyWriter, EncodeErrorKind, Key, MsgType, NewBody, OpenGroup, Tag};

use super::code::Code;

/// A type with setters: a message's body, its header, an entry of a group.
pub trait Put<'b> {
    /// Returns the writer for the field `key`; `ordinal` is its position among the members.
    fn at(&mut self, ordinal: u16, key: Key) -> &mut BodyWriter<'b>;

    /// Returns the writer for a field that a group beside it may have as well.
    fn outside(&mut self, ordinal: u16, key: Key) -> &mut BodyWriter<'b>;

    /// Begins the group with this count field.
    fn group(&mut self, ordinal: u16, count: Key) -> GroupWriter<'_, 'b>;
}

/// What the closure that writes a message returns: nothing, or a `Result` whose error becomes that
/// of the whole call. The message is not sent after an error.
#[diagnostic::on_unimplemented(
    message = "the closure that writes a message must return `()` or `Result<(), E>`: end it with `;`",
    label = "this closure returns `{Self}`"
)]
pub trait Outcome<F> {
    /// The error of the call, which that of the sink, `F`, becomes.
    type Error: From<F>;

    /// Returns whether the closure has written the message.
    ///
    /// # Errors
    /// Returns the error of the closure.
    fn written(self) -> Result<(), Self::Error>;
}

impl<F> Outcome<F> for () {
    type Error = F;

    #[inline]
    fn written(self) -> Result<(), F> {
        Ok(())
    }
}

impl<F, E: From<F>> Outcome<F> for Result<(), E> {
    type Error = E;

    #[inline]
    fn written(self) -> Self {
        self
    }
}

/// Writes a message into a sink and sends it, as the `send` of every message does.
///
/// # Errors
/// Returns the error of `write`, of the sink, or the first mistake in the message.
#[inline]
pub fn send<'b, N, R>(
    to: N,
    msg_type: MsgType,
    required_groups: &'static [(u16, u32)],
    write: impl FnOnce(MessageWriter<'_, 'b>) -> R,
) -> Result<<N::Draft as BodySink<'b>>::Receipt, R::Error>
where
    N: NewBody<'b>,
    R: Outcome<<N::Draft as BodySink<'b>>::Error>,
{
    let mut draft = to.draft(msg_type);
    write(MessageWriter::new(draft.writer(), required_groups)).written()?;
    // A draft is large: it is sent from where it was made.
    Ok(draft.send()?)
}

/// A sink that has fields of the standard header written before the body.
#[derive(Debug)]
pub struct WithHeader<N, H> {
    to: N,
    header: H,
}

impl<N, H> WithHeader<N, H> {
    /// Creates the sink; `header` writes the fields.
    #[inline]
    pub const fn new(to: N, header: H) -> Self {
        Self { to, header }
    }
}

impl<'b, N: NewBody<'b>, H: FnOnce(MessageWriter<'_, 'b>)> NewBody<'b> for WithHeader<N, H> {
    type Draft = N::Draft;

    #[inline]
    fn draft(self, msg_type: MsgType) -> N::Draft {
        let mut draft = self.to.draft(msg_type);
        (self.header)(MessageWriter::new(draft.writer(), &[]));
        draft
    }
}

/// Writes the fields of a message or of its header, in any order.
#[derive(Debug)]
pub struct MessageWriter<'w, 'b> {
    body: &'w mut BodyWriter<'b>,
    groups: Groups<'b>,
}

impl<'w, 'b> MessageWriter<'w, 'b> {
    /// Creates a writer. Required groups are given by ordinal and count tag.
    #[inline]
    pub const fn new(body: &'w mut BodyWriter<'b>, required_groups: &'static [(u16, u32)]) -> Self {
        Self { body, groups: Groups::new(required_groups) }
    }

    /// Returns the writer of the body.
    #[inline]
    pub fn body(&mut self) -> &mut BodyWriter<'b> {
        self.groups.end(self.body);
        self.body
    }
}

impl<'b> Put<'b> for MessageWriter<'_, 'b> {
    #[inline]
    fn at(&mut self, _: u16, _: Key) -> &mut BodyWriter<'b> {
        self.body()
    }

    /// After the group, the counterparty could take the field for one of the last entry. It is
    /// refused after any group, whether or not that one has it.
    #[inline]
    fn outside(&mut self, _: u16, key: Key) -> &mut BodyWriter<'b> {
        self.groups.end(self.body);
        if self.groups.any {
            self.body.refuse(key.tag(), EncodeErrorKind::AfterGroup);
        }
        self.body
    }

    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))] // for keys that are constants
    fn group(&mut self, ordinal: u16, count: Key) -> GroupWriter<'_, 'b> {
        self.groups.end(self.body);
        self.groups.begin(self.body, ordinal, count)
    }
}

impl Drop for MessageWriter<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        self.groups.end(self.body);
        self.groups.check(self.body);
    }
}

/// The groups of a message or entry: the one that is being written, and which of the required ones
/// have entries.
#[derive(Debug)]
struct Groups<'b> {
    /// Ordinal and count tag. The generator refuses more than 32.
    required: &'static [(u16, u32)],
    /// A bit for each one that has entries.
    written: u32,
    /// Whether any group has entries.
    any: bool,
    open: Option<Open<'b>>,
}

/// A group that is being written. Whatever is written next beside it ends it.
#[derive(Debug)]
struct Open<'b> {
    ordinal: u16,
    /// Whether there is an entry, and whether it has ended.
    entries: Entries,
    group: OpenGroup<'b>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entries {
    None,
    Begun,
    Ended,
}

impl<'b> Groups<'b> {
    #[inline]
    const fn new(required: &'static [(u16, u32)]) -> Self {
        Self { required, written: 0, any: false, open: None }
    }

    #[inline]
    fn begin<'g>(
        &'g mut self,
        body: &'g mut BodyWriter<'b>,
        ordinal: u16,
        count: Key,
    ) -> GroupWriter<'g, 'b> {
        let group = body.group(count);
        let open = Open { ordinal, entries: Entries::None, group };
        GroupWriter { body, open: self.open.insert(open), order: PhantomData }
    }

    /// Ends the open group, if there is one. Returns its ordinal if it has no entries.
    #[inline]
    fn end(&mut self, body: &mut BodyWriter<'b>) -> Option<u16> {
        if self.open.is_some() { self.end_open(body) } else { None }
    }

    fn end_open(&mut self, body: &mut BodyWriter<'b>) -> Option<u16> {
        let open = self.open.as_ref()?;
        open.refuse_unended(body);
        body.end_group_in_place(&open.group);
        let (ordinal, entries) = (open.ordinal, open.entries);
        self.open = None;
        if entries == Entries::None {
            return Some(ordinal);
        }
        self.any = true;
        if let Some(n) = self.required.iter().position(|group| group.0 == ordinal) {
            self.written |= 1 << n;
        }
        None
    }

    #[inline]
    fn check(&self, body: &mut BodyWriter<'_>) {
        let missing = self.required.iter().enumerate().find(|(n, _)| self.written & 1 << n == 0);
        if let Some((_, (_, tag))) = missing {
            body.refuse(Tag::new(*tag), EncodeErrorKind::Missing);
        }
    }
}

impl Open<'_> {
    /// Refuses an entry that was kept from ending (`mem::forget`).
    #[inline]
    fn refuse_unended(&self, body: &mut BodyWriter<'_>) {
        if self.entries == Entries::Begun {
            body.refuse(self.group.count_tag(), EncodeErrorKind::OpenGroup);
        }
    }
}

/// Writes the entries of a group. The group ends when its message or entry is written to again, or
/// ends itself; then its entries are counted.
#[derive(Debug)]
#[must_use = "a group has entries"]
pub struct GroupWriter<'g, 'b, O = AsWritten> {
    body: &'g mut BodyWriter<'b>,
    open: &'g mut Open<'b>,
    order: PhantomData<O>,
}

impl<'g, 'b> GroupWriter<'g, 'b> {
    /// Returns a writer whose entries are sorted.
    #[inline]
    pub const fn unordered(self) -> GroupWriter<'g, 'b, Sorted> {
        GroupWriter { body: self.body, open: self.open, order: PhantomData }
    }
}

impl<'b, O: Order> GroupWriter<'_, 'b, O> {
    /// Begins the next entry with its required members: fields, and groups by ordinal and count
    /// tag. `members` are the tags of all members in their order.
    #[inline]
    pub fn entry<R: Required>(
        &mut self,
        required: R,
        members: &'static [u32],
        groups: &'static [(u16, u32)],
    ) -> EntryWriter<'_, 'b, R, O> {
        self.open.refuse_unended(self.body);
        self.body.entry(&mut self.open.group);
        self.open.entries = Entries::Begun;
        let entries = &mut self.open.entries;
        let (groups, order) = (Groups::new(groups), O::default());
        EntryWriter { body: self.body, entries, required, members, put: 0, first: 0, last: 0, groups, order }
    }
}

/// The order in which the members of an entry are written.
pub trait Order: Default + Debug {
    /// Where the members begin, if they are sorted.
    #[doc(hidden)]
    fn members(&mut self) -> Option<&mut Members>;
}

/// The members of an entry are written in their order, and refused in any other.
#[derive(Debug, Default)]
pub struct AsWritten;

impl Order for AsWritten {
    #[inline]
    fn members(&mut self) -> Option<&mut Members> {
        None
    }
}

/// The members of an entry are written in any order, and sorted when it ends.
#[derive(Debug, Default)]
pub struct Sorted(Members);

impl Order for Sorted {
    #[inline]
    fn members(&mut self) -> Option<&mut Members> {
        Some(&mut self.0)
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

/// Writes an entry of a group. The entry ends when this is dropped.
#[derive(Debug)]
pub struct EntryWriter<'e, 'b, R: Required, O: Order = AsWritten> {
    body: &'e mut BodyWriter<'b>,
    entries: &'e mut Entries,
    required: R,
    /// The tags of all members in their order.
    members: &'static [u32],
    /// Number of required fields written so far.
    put: usize,
    /// Ordinal of the first optional member that was written; 0 before.
    first: u16,
    /// Ordinal of the last member that was written.
    last: u16,
    groups: Groups<'b>,
    order: O,
}

impl<'b, R: Required, O: Order> Put<'b> for EntryWriter<'_, 'b, R, O> {
    #[inline]
    fn at(&mut self, ordinal: u16, key: Key) -> &mut BodyWriter<'b> {
        self.move_to(ordinal, key.tag());
        self.body
    }

    /// The order of the entry decides.
    #[inline]
    fn outside(&mut self, ordinal: u16, key: Key) -> &mut BodyWriter<'b> {
        self.at(ordinal, key)
    }

    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))] // for keys that are constants
    fn group(&mut self, ordinal: u16, count: Key) -> GroupWriter<'_, 'b> {
        self.move_to(ordinal, count.tag());
        self.groups.begin(self.body, ordinal, count)
    }
}

impl<'b, R: Required, O: Order> EntryWriter<'_, 'b, R, O> {
    /// Returns the body, positioned after the entry's first field. If that is the count of a group,
    /// the group is written before. What is written into an entry that is sorted comes to stand
    /// after its members.
    #[inline]
    pub fn body(&mut self) -> &mut BodyWriter<'b> {
        self.end_group();
        if let Some(members) = self.order.members() {
            self.body.begin_member(u16::MAX, members);
            return self.body;
        }
        self.put_required_before(2);
        self.check_first();
        self.body
    }

    #[inline]
    fn move_to(&mut self, ordinal: u16, tag: Tag) {
        self.end_group();
        if let Some(members) = self.order.members() {
            return self.body.begin_member(ordinal, members);
        }
        if ordinal < self.last {
            refuse_late(self.body, tag, self.members);
        }
        self.put_required_before(ordinal);
        if self.first == 0 {
            self.first = ordinal;
        }
        self.last = ordinal;
    }

    /// Ends the open group. One without entries is not the entry's first member.
    #[inline]
    fn end_group(&mut self) {
        if self.groups.end(self.body).is_some_and(|empty| empty == self.first) {
            self.first = 0;
        }
    }

    /// Refuses an entry that does not begin with its first field.
    #[inline]
    fn check_first(&mut self) {
        if R::FIELDS.first() != Some(&1) && self.first != 1 {
            refuse_start(self.body, self.members);
        }
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

impl<R: Required, O: Order> Drop for EntryWriter<'_, '_, R, O> {
    #[inline]
    fn drop(&mut self) {
        self.end_group();
        if let Some(members) = self.order.members() {
            for (n, ordinal) in R::FIELDS.iter().enumerate() {
                self.body.begin_member(*ordinal, members);
                self.required.put(n, self.body);
            }
            self.first = self.body.sort_members(members).unwrap_or(0);
        } else {
            self.put_required_before(u16::MAX);
        }
        self.check_first();
        self.groups.check(self.body);
        *self.entries = Entries::Ended;
    }
}

/// Refuses a member of an entry that stands after one that it must stand before.
// Not a method, so that the writer of the entry need not be in memory.
#[cold]
fn refuse_late(body: &mut BodyWriter<'_>, tag: Tag, members: &[u32]) {
    let group = body.innermost_group().unwrap_or(tag);
    // Of a group without entries nothing stands in the entry.
    if let Some(before) = body.first_member_after(tag, members) {
        body.refuse(tag, EncodeErrorKind::GroupOrder { before, group });
    }
}

/// Refuses an entry that does not begin with the first of its members.
#[cold]
fn refuse_start(body: &mut BodyWriter<'_>, members: &[u32]) {
    let delimiter = members.first().copied().and_then(Tag::try_new).unwrap_or(Tag::new(35));
    let group = body.innermost_group().unwrap_or(delimiter);
    body.refuse(delimiter, EncodeErrorKind::EntryStart { group });
}

/// Writes several codes separated by spaces, up to 256 bytes: over a hundred codes of one letter.
pub fn put_codes<'v, C: Code<Value = &'v [u8]>>(to: &mut BodyWriter<'_>, key: Key, codes: &[C]) {
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
