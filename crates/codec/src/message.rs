//! A message as a view over its bytes and their index: fields by position or by tag.
//!
//! It interprets nothing: what a field means and whether it is allowed is decided elsewhere.

use core::fmt;
use core::ops::Range;

use crate::field_error::{FieldError, FieldErrorKind};
use crate::index::{Fault, Span};
use crate::look_up;
use crate::message_version::MessageVersion;
use crate::number::Tag;
use crate::place::{Depth, Place};
use crate::redacted::{RedactedFields, is_secret, write_data, write_masked};
use crate::scope::Scope;
use crate::types::FromField;
use crate::version::Version;

/// One field of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Field<'m> {
    /// The tag, or `None` if the bytes before `=` are not a tag.
    pub tag: Option<Tag>,
    /// The bytes between `=` and SOH, or the whole field if it has no `=`.
    pub value: &'m [u8],
}

/// Shows the field as [`Redacted`](crate::Redacted) does. RawData (96) is masked in any message, as
/// is a field without a tag, which may be a part of a secret, and whatever looks like a secret in
/// data with SOH.
impl fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tag.map(Tag::number) {
            Some(tag) if is_secret(tag, None) => return write_masked(f, tag),
            Some(tag) => write!(f, "{tag}=")?,
            None => return f.write_str("***"),
        }
        write_data(f, self.value)
    }
}

/// A message whose length and checksum are right: a view over its bytes and their index, cheap to
/// copy.
#[derive(Clone, Copy)]
pub struct Message<'m> {
    bytes: &'m [u8],
    tags: &'m [u32],
    spans: &'m [Span],
    fault: Option<&'m Fault>,
    /// As many as there are tags, or none.
    places: &'m [Place],
    version: MessageVersion,
    /// The sum of the bytes before CheckSum.
    sum: u8,
}

/// Shows the fields as [`Redacted`](crate::Redacted) does:
/// `8=FIX.4.4|9=20|35=D|11=ord1|55=IBM|10=122|`.
impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.redacted(0..self.len()), f)
    }
}

impl<'m> Message<'m> {
    #[inline]
    pub(crate) const fn new(
        bytes: &'m [u8],
        tags: &'m [u32],
        spans: &'m [Span],
        fault: Option<&'m Fault>,
        sum: u8,
    ) -> Self {
        Self { bytes, tags, spans, fault, places: &[], version: MessageVersion::Named, sum }
    }

    /// Returns the message from `8=` to the last SOH.
    #[must_use]
    pub const fn bytes(&self) -> &'m [u8] {
        self.bytes
    }

    /// Returns the sum of the bytes before CheckSum (10), which the index has computed, whatever
    /// CheckSum says.
    #[inline]
    pub(crate) const fn sum(&self) -> u8 {
        self.sum
    }

    /// Returns the number of fields, including 8, 9 and 10.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a message has at least 8, 9, 35 and 10
    pub const fn len(&self) -> usize {
        self.tags.len()
    }

    /// Returns the first field that breaks the syntax, if there is one.
    #[must_use]
    pub const fn fault(&self) -> Option<Fault> {
        self.fault.copied()
    }

    /// Returns BeginString (8).
    #[must_use]
    #[inline]
    pub fn begin_string(&self) -> &'m [u8] {
        self.value(0)
    }

    /// Returns MsgType (35).
    #[must_use]
    #[inline]
    pub fn msg_type(&self) -> &'m [u8] {
        self.value(2)
    }

    /// Returns the tags in the order of the message; 0 for a field without a tag.
    #[must_use]
    pub const fn tags(&self) -> &'m [u32] {
        self.tags
    }

    /// Returns the position of the value of field `position` in [`Message::bytes`].
    ///
    /// # Panics
    /// Panics if `position` is not below [`Message::len`].
    #[must_use]
    pub const fn span(&self, position: usize) -> Span {
        self.spans[position]
    }

    /// Returns the value of field `position`.
    ///
    /// # Panics
    /// Panics if `position` is not below [`Message::len`].
    #[must_use]
    #[inline]
    pub fn value(&self, position: usize) -> &'m [u8] {
        let span = self.spans[position];
        &self.bytes[span.start()..span.end()]
    }

    /// Returns field `position`.
    ///
    /// # Panics
    /// Panics if `position` is not below [`Message::len`].
    #[must_use]
    pub fn field(&self, position: usize) -> Field<'m> {
        Field { tag: Tag::try_new(self.tags[position]), value: self.value(position) }
    }

    /// Returns the bytes of field `position` as sent, with tag and `=` but without SOH.
    ///
    /// # Panics
    /// Panics if `position` is not below [`Message::len`].
    #[must_use]
    pub fn field_bytes(&self, position: usize) -> &'m [u8] {
        let start = if position == 0 { 0 } else { self.spans[position - 1].end() + 1 };
        &self.bytes[start..self.spans[position].end()]
    }

    /// Returns all fields in order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = Field<'m>> + use<'m> {
        let message = *self;
        (0..self.tags.len()).map(move |position| message.field(position))
    }

    /// Returns the fields at these positions as text, as `Debug` shows the whole message: SOH as
    /// `|`, secrets as `***`.
    ///
    /// # Panics
    /// Writing the text panics if a position is not below [`Message::len`].
    #[must_use]
    pub fn redacted(&self, positions: Range<usize>) -> impl fmt::Display + fmt::Debug + use<'m> {
        RedactedFields { message: *self, positions }
    }

    /// Returns the same message with the place of each field in a dictionary's structure. From then
    /// on the message's own fields are those outside the groups that the dictionary defines.
    ///
    /// An engine attaches the places by the session's dictionary before its application sees the
    /// message.
    ///
    /// # Panics
    /// Panics unless there is one place for each field.
    #[must_use]
    #[inline]
    pub fn with_places(self, places: &'m [Place]) -> Self {
        assert!(places.len() == self.tags.len(), "{} places of {} fields", places.len(), self.tags.len());
        Self { places, ..self }
    }

    /// Returns the place of each field, if a dictionary's were attached.
    #[must_use]
    #[inline]
    pub const fn places(&self) -> Option<&'m [Place]> {
        if self.places.is_empty() { None } else { Some(self.places) }
    }

    /// Returns the same message as one of this application version, where its own bytes do not say
    /// which it has: an application message of FIXT.1.1. `None` says that the version is not known.
    /// Any other message stays what it is.
    ///
    /// An engine attaches the version that the message or the Logons name before its application
    /// sees the message.
    #[must_use]
    pub fn with_version(self, version: Option<Version>) -> Self {
        Self { version: MessageVersion::of_session(&self, version), ..self }
    }

    /// Returns the version of the message, if it is known: that of its BeginString (8). An
    /// application message of FIXT.1.1 has the version that was attached
    /// ([`Message::with_version`]), or else the one in ApplVerID (1128).
    ///
    /// ```
    /// use fixbolt_codec::{Message, Version};
    ///
    /// fn is_old(message: Message<'_>) -> bool {
    ///     message.version().is_some_and(|version| version < Version::Fix44)
    /// }
    /// ```
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.version.of(self)
    }

    /// Returns whether the message may be read as one of this version.
    ///
    /// It may if that is its [`version`](Message::version). Besides, every message with that
    /// BeginString (8) is one of FIXT.1.1, and a session message of FIXT.1.1 one of FIX.5.0 and
    /// later. A message of FIX.5.0SP2 may also be read as one of FIX Latest, which is FIX.5.0SP2
    /// with its extension packs and often named as that; one of FIX Latest is not one of
    /// FIX.5.0SP2. An application message of FIXT.1.1 about which nothing says the version, neither
    /// ApplVerID (1128) nor a session, may be read as one of any version that has an ApplVerID.
    #[must_use]
    #[inline]
    pub fn is_of(&self, version: Version) -> bool {
        let is_at_once = match version.beginning() {
            Some(beginning) => self.bytes.starts_with(beginning),
            None => self.version == MessageVersion::Is(version),
        };
        is_at_once || self.version.may_be(self, version)
    }

    /// Returns the fields outside groups.
    #[must_use]
    #[inline]
    pub fn scope(&self) -> Scope<'m> {
        Scope::whole(*self, self.places)
    }

    /// Returns the position of the first field with this tag. If the message has places, fields in
    /// groups are not the message's own and are skipped.
    #[must_use]
    #[inline]
    pub fn position(&self, tag: impl Into<Tag>) -> Option<usize> {
        let tag = tag.into();
        let at = look_up::find(self.tags, tag.number())?;
        let is_own = self.places.get(at).is_none_or(|place| place.belongs_at(Depth::new(0)));
        if is_own { Some(at) } else { self.position_outside_groups(tag) }
    }

    #[cold]
    fn position_outside_groups(&self, tag: Tag) -> Option<usize> {
        self.scope().position(tag.number())
    }

    /// Returns the value of the first field with this tag, as [`Message::position`] finds it.
    ///
    /// ```
    /// use fixbolt_codec::Message;
    ///
    /// /// The desk, which the dialect of a venue has in field 5001.
    /// fn desk(order: Message<'_>) -> Option<&[u8]> {
    ///     order.get(5001)
    /// }
    /// ```
    #[must_use]
    #[inline]
    pub fn get(&self, tag: impl Into<Tag>) -> Option<&'m [u8]> {
        self.value_of(tag.into())
    }

    fn value_of(&self, tag: Tag) -> Option<&'m [u8]> {
        self.position(tag).map(|position| self.value(position))
    }

    /// Reads the first field with this tag, as [`Message::position`] finds it; it must be present.
    ///
    /// # Errors
    /// Returns [`FieldErrorKind::Missing`] if no field has this tag, and [`FieldErrorKind::Value`]
    /// if the value of the first one is not a `T`.
    ///
    /// ```
    /// use fixbolt_codec::{Decimal, FieldError, FieldErrorKind, Message};
    ///
    /// fn price(order: Message<'_>) -> Result<Decimal, FieldError> {
    ///     order.required(44)
    /// }
    /// # use fixbolt_codec::{Frame, Framer, Index, Span};
    /// # let (mut tags, mut spans) = ([0; 8], [Span::default(); 8]);
    /// # let mut index = Index::new(&mut tags, &mut spans);
    /// # let bytes = b"8=FIX.4.4\x019=10\x0135=D\x0155=A\x0110=204\x01";
    /// # let Frame::Message(framed) = Framer::new(64).next(bytes) else { panic!() };
    /// # let order = index.build(framed).unwrap();
    ///
    /// let error = price(order).unwrap_err();
    /// assert_eq!((error.tag.number(), error.kind), (44, FieldErrorKind::Missing));
    /// let text: Option<&[u8]> = order.optional(58)?;
    /// assert_eq!(text, None);
    /// # Ok::<(), FieldError>(())
    /// ```
    pub fn required<T: FromField<'m>>(&self, tag: impl Into<Tag>) -> Result<T, FieldError> {
        let tag = tag.into();
        self.optional(tag)?.ok_or(FieldError::missing(tag))
    }

    /// Reads the first field with this tag, as [`Message::position`] finds it, if there is one.
    ///
    /// # Errors
    /// Returns [`FieldErrorKind::Value`] if its value is not a `T`.
    pub fn optional<T: FromField<'m>>(&self, tag: impl Into<Tag>) -> Result<Option<T>, FieldError> {
        let tag = tag.into();
        let value = self.get(tag).map(T::from_field).transpose();
        value.map_err(|error| FieldError::new(tag, FieldErrorKind::Value(error)))
    }
}
