//! Reading the fields of a message or of an entry of a group.
//!
//! A look-up returns the first field with its tag in its own scope, in whatever order one asks.
//! Where the scope ends is decided by the message's places, which the session's dictionary defines;
//! a message without places is read by the structure that the view was compiled with. Whatever a
//! counterparty announces, nothing here panics or reads beyond the message.

use core::cell::Cell;
use core::fmt;
use core::ops::Range;

use fixbolt_codec::{
    FieldError, FieldErrorKind, FromField, Message, MsgType, Scope, Tag, ValueError, Version, WrongMessage,
    WrongVersion,
};

use super::group::{Group, GroupShape};

/// The fields of a message, or of one entry of a group.
#[derive(Clone)]
pub struct Fields<'m> {
    scope: Scope<'m>,
    /// All tags of the version, ascending. In a message without places, one of them that is not a
    /// member of a group ends the group. If there are none, every other tag does. Behind a
    /// reference, because a view of more than 128 bytes is copied by a call.
    known: &'static &'static [u32],
    /// The position after the last hit, where the next field is likely to be.
    next: Cell<u32>,
    /// The last tag that was looked for and not found; 0 if there is none.
    missing: Cell<u32>,
}

/// Shows the fields as [`Redacted`](fixbolt_codec::Redacted) does.
impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scope.message().redacted(self.scope.positions()).fmt(f)
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
    /// use fixbolt_messages::fix44::prelude::*;
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
    #[inline]
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
    /// Returns the fields of a message. `known` are all tags of the version, ascending. In a
    /// message without places, one of them that is not a member of a group ends the group; if
    /// `known` is empty, every other tag does.
    #[must_use]
    #[inline]
    pub fn of(message: Message<'m>, known: &'static &'static [u32]) -> Self {
        Self::within(message.scope(), known)
    }

    /// Returns all fields of a message of the type `wanted` and of this version, if one is given;
    /// `known` as for [`Fields::of`].
    ///
    /// # Errors
    /// Returns [`WrongMessage`] if the message has another type or is of another version.
    #[inline(always)] // 50 instructions less than a call
    pub fn read(
        message: Message<'m>,
        wanted: MsgType,
        version: Option<Version>,
        known: &'static &'static [u32],
    ) -> Result<Self, WrongMessage> {
        if message.msg_type() == wanted.as_bytes() && version.is_none_or(|version| message.is_of(version)) {
            Ok(Self::of(message, known))
        } else {
            Err(wrong_message(&message, wanted, version))
        }
    }

    /// Returns the fields of a scope.
    #[inline]
    pub(super) const fn within(scope: Scope<'m>, known: &'static &'static [u32]) -> Self {
        // A message begins with BeginString, BodyLength and MsgType.
        let next = match scope.positions().start {
            0 => 3,
            start => start as u32,
        };
        Self { scope, known, next: Cell::new(next), missing: Cell::new(0) }
    }

    /// Returns the message.
    #[must_use]
    #[inline]
    pub const fn message(&self) -> Message<'m> {
        self.scope.message()
    }

    /// Returns the value of the first field with this tag.
    #[must_use]
    pub fn get(&self, tag: impl Into<Tag>) -> Option<&'m [u8]> {
        self.scope.get(tag)
    }

    /// Reads a required field.
    ///
    /// # Errors
    /// Returns [`FieldError`] if the field is missing or its value is not a `T`.
    #[inline]
    pub fn required<T: FromField<'m>>(&self, tag: u32) -> Result<T, FieldError> {
        match self.find(tag) {
            Some(at) => self.value(tag, at),
            None => Err(missing(tag)),
        }
    }

    /// Reads an optional field.
    ///
    /// # Errors
    /// Returns [`FieldError`] if its value is not a `T`.
    #[inline]
    pub fn optional<T: FromField<'m>>(&self, tag: u32) -> Result<Option<T>, FieldError> {
        match self.find(tag) {
            Some(at) => self.value(tag, at).map(Some),
            None => Ok(None),
        }
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
    /// Returns [`FieldError`] if the group is absent, or if the count field is not a number, or not
    /// the number of entries.
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

    /// Returns the position of the first field with this tag in the scope: at once if it is the one
    /// after the last hit.
    #[inline]
    fn find(&self, tag: u32) -> Option<usize> {
        let next = self.next.get();
        if self.scope.is_first(next as usize, tag) {
            self.next.set(next + 1);
            return Some(next as usize);
        }
        self.search(tag)
    }

    /// Searches the field, which is not the one after the last hit or may not be the first.
    // Cold, so that a getter saves its registers for this call only.
    #[cold]
    fn search(&self, tag: u32) -> Option<usize> {
        self.noted(tag, self.scope.position_near(tag, self.next.get() as usize))
    }

    /// Records a hit, or for [`View::need`] that there was none.
    #[inline]
    fn noted(&self, tag: u32, found: Option<usize>) -> Option<usize> {
        match found {
            Some(at) => self.next.set(at as u32 + 1),
            None => self.missing.set(tag),
        }
        found
    }

    /// Returns the tag that [`View::need`] reports.
    #[cold]
    fn last_missing(&self) -> Tag {
        // If all was found, the field of the last hit; if nothing was looked for, MsgType or the
        // first field of the entry.
        let last = (self.next.get() as usize).saturating_sub(1).max(self.scope.positions().start);
        let found = self.message().tags().get(last).copied().unwrap_or_default();
        [self.missing.get(), found].into_iter().find_map(Tag::try_new).unwrap_or(Tag::new(35))
    }

    #[inline]
    fn value<T: FromField<'m>>(&self, tag: u32, at: usize) -> Result<T, FieldError> {
        match T::from_field(self.message().value(at)) {
            Ok(value) => Ok(value),
            Err(error) => Err(invalid(tag, error)),
        }
    }

    /// Returns the entries of the group that the field at `count_at` counts. If the message has
    /// places and its dictionary defines that field, the entries are those that it found, whatever
    /// number was announced: a wrong one that reaches the application is accepted by the policy.
    fn entries<E: Entry<'m>>(&self, count_at: Option<usize>) -> Result<Group<'m, E>, FieldError> {
        let Some(at) = count_at else {
            let none = self.scope.delimited(0..0, E::SHAPE.delimiter, 0);
            return Ok(Group::new(none, self.known));
        };
        if let Some(entries) = self.scope.group_at(at) {
            return Ok(Group::new(entries, self.known));
        }
        let shape = E::SHAPE;
        let announced = self.value::<u32>(shape.count, at)?;
        let end = self.scope.positions().end;
        let region = shape.region(self.message().tags(), at + 1, end, self.known);
        if u32::try_from(region.entries) != Ok(announced) {
            return Err(FieldError::new(Tag::new(shape.count), FieldErrorKind::Count));
        }
        let positions = at + 1..region.end;
        let entries = self.scope.delimited(positions, shape.delimiter, region.entries);
        Ok(Group::new(entries, self.known))
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
    /// Returns [`FieldError`] if the field is missing or its value is not a `T`.
    pub fn required<T: FromField<'m>>(&self, tag: u32) -> Result<T, FieldError> {
        self.optional(tag)?.ok_or_else(|| missing(tag))
    }

    /// Reads an optional field, as [`Fields::optional`] does.
    ///
    /// # Errors
    /// Returns [`FieldError`] if its value is not a `T`.
    pub fn optional<T: FromField<'m>>(&self, tag: u32) -> Result<Option<T>, FieldError> {
        self.find(tag).map(|at| self.fields.value(tag, at)).transpose()
    }

    /// Returns the entries of a group, as [`Fields::group`] does.
    ///
    /// # Errors
    /// Returns [`FieldError`] if the count field is not a number, or not the number of entries.
    pub fn group<E: Entry<'m>>(&self) -> Result<Group<'m, E>, FieldError> {
        self.fields.entries(self.find(E::SHAPE.count))
    }

    /// Returns the entries of a required group, as [`Fields::required_group`] does.
    ///
    /// # Errors
    /// Returns [`FieldError`] if the group is absent, or if the count field is not a number, or not
    /// the number of entries.
    pub fn required_group<E: Entry<'m>>(&self) -> Result<Group<'m, E>, FieldError> {
        match self.find(E::SHAPE.count) {
            None => Err(missing(E::SHAPE.count)),
            found => self.fields.entries(found),
        }
    }

    fn find(&self, tag: u32) -> Option<usize> {
        let Fields { scope, known, .. } = self.fields;
        if scope.message().places().is_some() {
            return self.fields.find(tag);
        }
        let tags = scope.message().tags();
        let Range { start: mut at, end } = scope.positions();
        while at < end && tags[at] != tag {
            at = match self.groups.iter().find(|shape| shape.count == tags[at]) {
                Some(shape) => shape.region(tags, at + 1, end, known).end,
                None => at + 1,
            };
        }
        self.fields.noted(tag, (at < end).then_some(at))
    }
}

/// Returns an error unless the message may be read as one of `wanted`
/// ([`Message::is_of`](fixbolt_codec::Message::is_of)), or any version is.
///
/// # Errors
/// Returns [`WrongMessage`] with both versions.
#[inline]
pub fn check_version(message: &Message<'_>, wanted: Option<Version>) -> Result<(), WrongMessage> {
    match wanted {
        Some(wanted) if !message.is_of(wanted) => Err(WrongVersion::new(message, &[wanted]).into()),
        _ => Ok(()),
    }
}

#[cold]
fn wrong_message(message: &Message<'_>, wanted: MsgType, version: Option<Version>) -> WrongMessage {
    match check_version(message, version) {
        Err(wrong) if message.msg_type() == wanted.as_bytes() => wrong,
        _ => WrongMessage::msg_type(wanted),
    }
}

#[cold]
fn missing(tag: u32) -> FieldError {
    FieldError::missing(Tag::new(tag))
}

#[cold]
fn invalid(tag: u32, error: ValueError) -> FieldError {
    FieldError::new(Tag::new(tag), FieldErrorKind::Value(error))
}
