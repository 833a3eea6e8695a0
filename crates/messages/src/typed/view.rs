//! Reading the fields of a message or of an entry of a group.
//!
//! A look-up tries the field after the last hit first. Whatever a counterparty announces, nothing
//! here panics or reads beyond the message.

use core::cell::Cell;
use core::fmt;

use fixbolt_codec::{FieldError, FieldErrorKind, FromField, Message, MsgType, Tag, WrongMsgType, find_tag};

use super::group::{Group, GroupShape};

/// The fields of a message, or of one entry of a group.
#[derive(Clone)]
pub struct Fields<'m> {
    message: Message<'m>,
    /// All tags of the version, ascending. One of them that is not a member of a group ends the
    /// group. If there are none, every other tag does.
    known: &'static [u32],
    start: usize,
    end: usize,
    /// Where the next look-up begins: after the last hit.
    next: Cell<usize>,
    /// The last tag that was looked for and not found; 0 if there is none.
    missing: Cell<u32>,
}

/// Shows the fields as [`Redacted`](fixbolt_codec::Redacted) does.
impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.redacted(self.start..self.end).fmt(f)
    }
}

/// A type with getters: a message, its header, its trailer, an entry of a group.
pub trait View<'m> {
    /// The groups that a look-up must skip if they share the tag.
    const GROUPS: &'static [&'static GroupShape] = &[];

    /// Returns the fields under the view.
    fn fields(&self) -> &Fields<'m>;

    /// Reads an optional field that this program cannot do without. An absent field is an error
    /// that names its tag.
    ///
    /// # Errors
    /// Returns the getter's error, or [`FieldErrorKind::Missing`] with the tag of the field if the
    /// getter returned `Ok(None)`. If `read` looked for several fields, the tag is that of the last
    /// one that was not found; if each was found and `read` itself returned `Ok(None)`, it is that
    /// of the field found last.
    ///
    /// ```
    /// # #[cfg(feature = "fix44")] {
    /// use fixbolt_messages::codec::{Decimal, FieldError};
    /// use fixbolt_messages::fix44::NewOrderSingle;
    /// use fixbolt_messages::fix44::components::*;
    ///
    /// /// The dictionary does not require Symbol, OrderQty and Price; this venue does.
    /// fn accept<'m>(
    ///     order: &NewOrderSingle<'m>,
    /// ) -> Result<(&'m [u8], Decimal, Decimal), FieldError> {
    ///     let symbol = order.need(|o| o.symbol())?;
    ///     let quantity = order.need(|o| o.order_qty())?;
    ///     let price = order.need(|o| o.price())?;
    ///     Ok((symbol, quantity, price))
    /// }
    /// # use fixbolt_messages::codec::{Frame, Framer, Index, Span};
    /// # let (mut tags, mut spans) = ([0; 8], [Span::default(); 8]);
    /// # let mut index = Index::new(&mut tags, &mut spans);
    /// # let bytes = b"8=FIX.4.4\x019=21\x0135=D\x0155=IBM\x0138=57.00\x0110=008\x01";
    /// # let Frame::Message(framed) = Framer::new(64).next(bytes) else { panic!("{bytes:?}") };
    /// # let message = index.build(framed).unwrap();
    ///
    /// let order = NewOrderSingle::read(message).unwrap();
    /// let error = accept(&order).unwrap_err();
    /// assert_eq!(error.to_string(), "field 44 is required and missing");
    /// # }
    /// ```
    fn need<T>(&self, read: impl FnOnce(&Self) -> Result<Option<T>, FieldError>) -> Result<T, FieldError> {
        let fields = self.fields();
        fields.missing.set(0);
        read(self)?.ok_or_else(|| FieldError::missing(fields.last_missing()))
    }
}

/// An entry of a repeating group.
pub trait Entry<'m>: View<'m> {
    /// The shape of the group.
    const SHAPE: &'static GroupShape;

    /// Creates the view over the entry's fields.
    fn over(fields: Fields<'m>) -> Self;
}

impl<'m> Fields<'m> {
    /// Returns all fields of a message. `known` are all tags of the version, ascending. One of them
    /// that is not a member of a group ends the group; if `known` is empty, every other tag does.
    #[must_use]
    pub const fn of(message: Message<'m>, known: &'static [u32]) -> Self {
        // After BeginString, BodyLength, MsgType.
        Self { message, known, start: 0, end: message.len(), next: Cell::new(3), missing: Cell::new(0) }
    }

    /// Returns all fields of a message of the type `wanted`; `known` as for [`Fields::of`].
    ///
    /// # Errors
    /// Returns [`WrongMsgType`] if the message has another type.
    pub fn read(message: Message<'m>, wanted: MsgType, known: &'static [u32]) -> Result<Self, WrongMsgType> {
        if message.msg_type() == wanted.as_bytes() {
            Ok(Self::of(message, known))
        } else {
            Err(WrongMsgType::new(wanted))
        }
    }

    /// Returns the fields of an entry.
    pub(super) const fn of_entry(
        message: Message<'m>,
        known: &'static [u32],
        start: usize,
        end: usize,
    ) -> Self {
        Self { message, known, start, end, next: Cell::new(start), missing: Cell::new(0) }
    }

    /// Returns the message.
    #[must_use]
    pub const fn message(&self) -> Message<'m> {
        self.message
    }

    /// Returns the value of the first field with this tag.
    #[must_use]
    pub fn get(&self, tag: Tag) -> Option<&'m [u8]> {
        let tags = &self.message.tags()[self.start..self.end];
        let at = tags.iter().position(|t| *t == tag.number())?;
        Some(self.message.value(self.start + at))
    }

    /// Reads a required field.
    ///
    /// # Errors
    /// Returns [`FieldError`] if the field is missing or its value is not a `T`.
    #[inline]
    pub fn required<T: FromField<'m>>(&self, tag: u32) -> Result<T, FieldError> {
        self.value(tag, self.find(tag)).transpose().unwrap_or(Err(missing(tag)))
    }

    /// Reads an optional field.
    ///
    /// # Errors
    /// Returns [`FieldError`] if its value is not a `T`.
    #[inline]
    pub fn optional<T: FromField<'m>>(&self, tag: u32) -> Result<Option<T>, FieldError> {
        self.value(tag, self.find(tag))
    }

    /// Returns the entries of a group, which is empty if the group is absent.
    ///
    /// # Errors
    /// Returns [`FieldError`] if the count field is not a number, or not the number of entries.
    pub fn group<E: Entry<'m>>(&self) -> Result<Group<'m, E>, FieldError> {
        self.entries(self.find(E::SHAPE.count))
    }

    /// Returns the entries of a required group.
    ///
    /// # Errors
    /// Returns [`FieldError`] as [`Fields::group`] does, and if the group is absent.
    pub fn required_group<E: Entry<'m>>(&self) -> Result<Group<'m, E>, FieldError> {
        match self.find(E::SHAPE.count) {
            None => Err(missing(E::SHAPE.count)),
            found => self.entries(found),
        }
    }

    /// Returns the same fields without those in the given groups, for tags that occur inside and
    /// outside.
    #[must_use]
    pub const fn outside<'f>(&'f self, groups: &'static [&'static GroupShape]) -> Outside<'f, 'm> {
        Outside { fields: self, groups }
    }

    /// Returns the position of the next field with this tag after the last hit, or else of the
    /// first one.
    #[inline]
    fn find(&self, tag: u32) -> Option<usize> {
        let tags = &self.message.tags()[..self.end];
        let next = self.next.get();
        if tags.get(next) == Some(&tag) {
            self.next.set(next + 1);
            return Some(next);
        }
        self.search(tag)
    }

    fn search(&self, tag: u32) -> Option<usize> {
        let tags = &self.message.tags()[..self.end];
        let from = self.next.get().min(self.end);
        let found = match find_tag(&tags[from..], tag) {
            Some(at) => from + at,
            None => match find_tag(&tags[self.start..from], tag) {
                Some(at) => self.start + at,
                None => {
                    self.missing.set(tag);
                    return None;
                }
            },
        };
        self.next.set(found + 1);
        Some(found)
    }

    /// Returns the tag that [`View::need`] reports.
    #[cold]
    fn last_missing(&self) -> Tag {
        let found = || self.message.tags().get(self.next.get().checked_sub(1)?.max(self.start)).copied();
        let tag = Tag::try_new(self.missing.get()).or_else(|| Tag::try_new(found()?));
        // Nothing was looked for, or a field without a tag ended a group.
        tag.unwrap_or(Tag::new(35))
    }

    #[inline]
    fn value<T: FromField<'m>>(&self, tag: u32, at: Option<usize>) -> Result<Option<T>, FieldError> {
        let Some(at) = at else { return Ok(None) };
        match T::from_field(self.message.value(at)) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(FieldError::new(Tag::new(tag), FieldErrorKind::Value(error))),
        }
    }

    fn entries<E: Entry<'m>>(&self, count_at: Option<usize>) -> Result<Group<'m, E>, FieldError> {
        let shape = E::SHAPE;
        let (mut start, mut end, mut entries) = (0, 0, 0);
        if let Some(at) = count_at {
            let announced = self.value::<u32>(shape.count, count_at)?.unwrap_or(0);
            let region = shape.region(self.message.tags(), at + 1, self.end, self.known);
            (start, end, entries) = (at + 1, region.end, region.entries);
            if u32::try_from(entries) != Ok(announced) {
                return Err(FieldError::new(Tag::new(shape.count), FieldErrorKind::Count));
            }
            self.next.set(end);
        }
        Ok(Group::new(self.message, self.known, start..end, entries))
    }
}

/// The fields of a message or entry that are not in any of the given groups.
#[derive(Clone, Copy, Debug)]
pub struct Outside<'f, 'm> {
    fields: &'f Fields<'m>,
    groups: &'static [&'static GroupShape],
}

impl<'m> Outside<'_, 'm> {
    /// Reads a required field, as [`Fields::required`] does.
    ///
    /// # Errors
    /// Returns an error as [`Fields::required`] does.
    pub fn required<T: FromField<'m>>(&self, tag: u32) -> Result<T, FieldError> {
        self.optional(tag)?.ok_or(missing(tag))
    }

    /// Reads an optional field, as [`Fields::optional`] does.
    ///
    /// # Errors
    /// Returns an error as [`Fields::optional`] does.
    pub fn optional<T: FromField<'m>>(&self, tag: u32) -> Result<Option<T>, FieldError> {
        self.fields.value(tag, self.find(tag))
    }

    /// Returns the entries of a group, as [`Fields::group`] does.
    ///
    /// # Errors
    /// Returns an error as [`Fields::group`] does.
    pub fn group<E: Entry<'m>>(&self) -> Result<Group<'m, E>, FieldError> {
        self.fields.entries(self.find(E::SHAPE.count))
    }

    /// Returns the entries of a required group, as [`Fields::required_group`] does.
    ///
    /// # Errors
    /// Returns an error as [`Fields::required_group`] does.
    pub fn required_group<E: Entry<'m>>(&self) -> Result<Group<'m, E>, FieldError> {
        match self.find(E::SHAPE.count) {
            None => Err(missing(E::SHAPE.count)),
            found => self.fields.entries(found),
        }
    }

    fn find(&self, tag: u32) -> Option<usize> {
        let tags = self.fields.message.tags();
        let (mut at, end) = (self.fields.start, self.fields.end);
        while at < end {
            if tags[at] == tag {
                self.fields.next.set(at + 1);
                return Some(at);
            }
            at = match self.groups.iter().find(|shape| shape.count == tags[at]) {
                Some(shape) => shape.region(tags, at + 1, end, self.fields.known).end,
                None => at + 1,
            };
        }
        self.fields.missing.set(tag);
        None
    }
}

const fn missing(tag: u32) -> FieldError {
    FieldError::missing(Tag::new(tag))
}
