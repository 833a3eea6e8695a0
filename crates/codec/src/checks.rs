//! What a field must satisfy to be written, for every kind of field: the way of [`BodyWriter`] for
//! all that is not common, and the only place that says what is wrong.

use core::ops::Range;

use crate::body_writer::BodyWriter;
use crate::data_fields::DataFields;
use crate::encode_error::EncodeErrorKind;
use crate::index::byte_sum;
use crate::key::{Key, Owner, is_header_field};
use crate::number::Tag;
use crate::soh::{self, SOH};
use crate::types::{FromField, ToField};

/// A length field of the standard that waits for its data field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced {
    pub(crate) length_tag: Tag,
    data_tag: u32,
    /// `None` if it is not a number.
    length: Option<u64>,
    /// Where the data field must begin.
    end: usize,
}

impl BodyWriter<'_> {
    /// Writes a field whose value must not contain SOH, or records what is wrong.
    #[inline(never)]
    pub(crate) fn any_bytes(&mut self, key: &Key, value: &[u8]) {
        if value.is_empty() {
            self.refuse(key.tag, EncodeErrorKind::Empty);
        } else if !self.plain_bytes(key, value) {
            self.checked_bytes(key, value);
        }
    }

    /// Writes a field from a typed value, whose bytes must not contain SOH, or records what is
    /// wrong.
    #[inline(never)]
    pub(crate) fn any_field<T: ToField>(&mut self, key: &Key, value: &T) {
        // Near the end the value may fit although the longest value of its type would not.
        let mut aside = [0; 128];
        if T::MAX_LEN <= aside.len() {
            let length = value.write_to(&mut aside);
            assert!(length <= T::MAX_LEN, "a value is longer than its type's MAX_LEN");
            return self.rendered_bytes(key, &aside[..length]);
        }
        let Some(before) = self.admit(key) else { return };
        let Some(place) = self.place(key, T::MAX_LEN) else { return };
        place.fill(0);
        let length = value.write_to(place);
        assert!(length <= T::MAX_LEN, "a value is longer than its type's MAX_LEN");
        self.complete(key, length, before);
    }

    /// Writes a field whose value was rendered, or records what is wrong.
    #[inline(never)]
    fn rendered_bytes(&mut self, key: &Key, value: &[u8]) {
        // Of an empty value it is said only then that it is, if the field may be written at all.
        if value.is_empty() { self.checked_bytes(key, value) } else { self.any_bytes(key, value) }
    }

    fn checked_bytes(&mut self, key: &Key, value: &[u8]) {
        let Some(before) = self.admit(key) else { return };
        let Some(place) = self.place(key, value.len()) else { return };
        place.copy_from_slice(value);
        self.complete(key, value.len(), before);
    }

    /// Writes a length field and its data field, or neither.
    pub(crate) fn length_and_data(&mut self, length: &Key, data: &Key, value: &[u8]) {
        if value.is_empty() {
            self.refuse(data.tag, EncodeErrorKind::Empty);
            return;
        }
        let before = self.at();
        let written = self.unpaired(length, |writer| {
            let mut digits = [0; u64::MAX_LEN];
            let count = (value.len() as u64).write_to(&mut digits);
            let place = writer.place(length, count)?;
            place.copy_from_slice(&digits[..count]);
            Some((count, byte_sum(&digits[..count])))
        }) && self.unpaired(data, |writer| {
            writer.place(data, value.len())?.copy_from_slice(value);
            Some((value.len(), byte_sum(value)))
        });
        if !written {
            self.set_at(before);
        } else if !length.paired {
            self.dialect_data = true;
        }
    }

    /// Writes one field of a pair that is written together. `write` returns length and sum of the
    /// value.
    fn unpaired(&mut self, key: &Key, write: impl FnOnce(&mut Self) -> Option<(usize, u8)>) -> bool {
        if self.admit(key).is_none() {
            return false;
        }
        let Some((length, sum)) = write(self) else { return false };
        self.end_field(key, length, sum);
        true
    }

    /// Records that the field is written here and returns the length field before it, if it waits
    /// for this field; or records that the field must not be written here.
    fn admit(&mut self, key: &Key) -> Option<Option<Announced>> {
        match key.owner {
            Owner::Body => {}
            Owner::Header if self.in_header() => {}
            Owner::Header => {
                self.refuse(key.tag, EncodeErrorKind::HeaderAfterBody);
                return None;
            }
            Owner::Session => {
                self.refuse(key.tag, EncodeErrorKind::SessionField);
                return None;
            }
        }
        if self.may_stand_in_scope(key.tag) && self.stands_in_scope(key) {
            self.refuse(key.tag, EncodeErrorKind::Duplicate);
            return None;
        }
        let before = self.announced.take();
        self.check_no_longer();
        if let Some(before) = before
            && (before.data_tag != key.tag.number() || before.end != self.at())
        {
            self.refuse(before.length_tag, EncodeErrorKind::DanglingLength);
            return None;
        }
        self.record(key.tag);
        Some(before)
    }

    /// Writes the key and returns the place of the value, which leaves space for SOH.
    pub(crate) fn place(&mut self, key: &Key, length: usize) -> Option<&mut [u8]> {
        let text = &key.text[..usize::from(key.len)];
        let (at, limit) = (self.at(), self.limit());
        let value_at = at + text.len();
        // Not `value_at + length`: no length may overflow.
        if value_at >= limit || length >= limit - value_at {
            self.refuse(key.tag, EncodeErrorKind::NoRoom);
            return None;
        }
        self.memory[at..value_at].copy_from_slice(text);
        Some(&mut self.memory[value_at..value_at + length])
    }

    /// Ends a field whose value, with this sum, is in place, so that the next one is written after
    /// it.
    pub(crate) fn end_field(&mut self, key: &Key, length: usize, sum: u8) {
        let end = self.at() + usize::from(key.len) + length;
        self.memory[end] = 1;
        let in_header = key.owner == Owner::Header && self.in_header();
        self.set_at(end + 1);
        if in_header {
            self.extend_header();
        }
        self.sum = self.sum.wrapping_add(u32::from(key.sum)).wrapping_add(u32::from(sum));
    }

    /// Ends a field whose value is in place, unless the value is refused. A refused value is
    /// overwritten by the next field, because the caller may go on writing.
    fn complete(&mut self, key: &Key, length: usize, before: Option<Announced>) {
        let value_at = self.at() + usize::from(key.len);
        let value = &self.memory[value_at..value_at + length];
        if value.is_empty() {
            self.refuse(key.tag, EncodeErrorKind::Empty);
            return;
        }
        if value.contains(&1) {
            self.refuse(key.tag, EncodeErrorKind::Soh);
            return;
        }
        if before.is_some_and(|before| before.length != Some(length as u64)) {
            self.refuse(key.tag, EncodeErrorKind::DataLength);
            return;
        }
        let announced = if key.paired { DataFields::STANDARD.data_tag(key.tag.number()) } else { None };
        let length_found = announced.and_then(|_| u64::from_field(value).ok());
        let sum = byte_sum(value);
        self.end_field(key, length, sum);
        if let Some(data_tag) = announced {
            let (length_tag, end) = (key.tag, self.at());
            self.announced = Some(Announced { length_tag, data_tag, length: length_found, end });
            self.check_all();
        }
    }

    /// Records a length field that waits for its data field at a place where there cannot be one.
    pub(crate) fn refuse_announced(&mut self) {
        if let Some(announced) = self.announced.take() {
            self.check_no_longer();
            self.refuse(announced.length_tag, EncodeErrorKind::DanglingLength);
        }
    }

    /// Returns whether this scope has a field with this key. Needed only if two tags share a bit.
    #[cold]
    fn stands_in_scope(&self, key: &Key) -> bool {
        self.stands_before(self.at(), key)
    }

    /// Returns whether this scope has a field with this key before `end`.
    pub(crate) fn stands_before(&self, end: usize, key: &Key) -> bool {
        let bytes = &self.memory[self.scope.start as usize..end];
        // If so, it stands there, or a data field has the look of it: the fields are read back.
        may_stand(bytes, key)
            && WrittenFields::of(bytes, self.dialect_data).any(|(tag, _)| tag == key.tag.number())
    }

    /// Returns the tags of the header fields that the body begins with.
    pub fn header_fields(&self) -> impl Iterator<Item = Tag> {
        WrittenFields::of(self.written(), self.dialect_data)
            .map_while(|(tag, _)| Tag::try_new(tag).filter(|_| is_header_field(tag)))
    }
}

/// Reads fields back: their tags and the positions of their values.
///
/// The pairs of a dialect are not known here: in a body with one of them, two fields that the
/// standard does not have are taken for a pair if the length leads to an SOH.
pub(crate) struct WrittenFields<'b> {
    bytes: &'b [u8],
    at: usize,
    before: Option<(u32, Range<usize>)>,
    data_fields: &'b DataFields,
    dialect_data: bool,
}

impl<'b> WrittenFields<'b> {
    pub(crate) const fn of(bytes: &'b [u8], dialect_data: bool) -> Self {
        Self { bytes, at: 0, before: None, data_fields: DataFields::STANDARD, dialect_data }
    }

    /// Reads fields of which more pairs are known than those of the standard.
    pub(crate) const fn with(bytes: &'b [u8], data_fields: &'b DataFields, dialect_data: bool) -> Self {
        Self { bytes, at: 0, before: None, data_fields, dialect_data }
    }

    /// Returns where the data field with this tag and beginning of its value ends, or `None` if it
    /// is none.
    fn end_of_data(&self, tag: u32, value: usize) -> Option<usize> {
        let (length_tag, length) = self.before.clone()?;
        let own = |tag| Tag::try_new(tag).is_some_and(|tag| !tag.is_of_standard());
        match self.data_fields.data_tag(length_tag) {
            Some(data_tag) if data_tag == tag => {}
            None if self.dialect_data && own(length_tag) && own(tag) => {}
            _ => return None,
        }
        let length = u64::from_field(&self.bytes[length]).ok()?;
        let end = value.checked_add(usize::try_from(length).ok()?)?;
        (self.bytes.get(end) == Some(&1)).then_some(end)
    }
}

impl Iterator for WrittenFields<'_> {
    type Item = (u32, Range<usize>);

    fn next(&mut self) -> Option<(u32, Range<usize>)> {
        let rest = self.bytes.get(self.at..)?;
        let digits = rest.iter().position(|byte| *byte == b'=')?;
        let (tag, value) = (number(&rest[..digits]), self.at + digits + 1);
        let end = self.end_of_data(tag, value).unwrap_or_else(|| {
            value + self.bytes[value..].iter().position(|byte| *byte == 1).unwrap_or(self.bytes.len() - value)
        });
        self.at = end + 1;
        self.before = Some((tag, value..end));
        Some((tag, value..end))
    }
}

/// Returns `false` if these fields certainly have none with this key: nowhere do SOH and its first
/// three bytes follow each other.
fn may_stand(fields: &[u8], key: &Key) -> bool {
    if fields.starts_with(&key.text[..usize::from(key.len)]) {
        return true;
    }
    let [first, second, third, ..] = key.text;
    // A key of one digit has two bytes: after SOH any byte may follow them.
    let text = [SOH, first, second, third];
    let length = if key.len == 2 { 3 } else { 4 };
    soh::contains_start(fields, text, length)
}

/// Returns the number that these digits form. Other bytes yield some number and never a panic.
fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |n: u32, d| n.wrapping_mul(10).wrapping_add(u32::from(d.wrapping_sub(b'0'))))
}
