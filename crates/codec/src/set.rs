//! Setting fields of a body that is written, before it is sent.

use core::ops::Range;

use crate::body_writer::BodyWriter;
use crate::checks::WrittenFields;
use crate::data_fields::DataFields;
use crate::encode_error::EncodeErrorKind;
use crate::index::byte_sum;
use crate::key::{Key, Owner, is_header_field};
use crate::number::Tag;
use crate::soh::SOH;

impl BodyWriter<'_> {
    /// Returns the value of the first field with this tag that is written, in a body with these
    /// data fields.
    pub(crate) fn written_value(&self, tag: Tag, data_fields: &DataFields) -> Option<&[u8]> {
        let mut fields = WrittenFields::with(self.written(), data_fields, self.dialect_data);
        let value = fields.find(|(n, _)| *n == tag.number())?.1;
        Some(&self.written()[value])
    }

    /// Gives the field that has this key this value, in a body with these data fields, or adds it:
    /// a field of the header after those of the header, any other at the end.
    pub(crate) fn set(&mut self, key: Key, value: &[u8], data_fields: &DataFields) {
        if let Err(error) = self.finish() {
            return self.refuse(error.tag, error.kind);
        }
        if let Err(kind) = self.try_set(&key, value, data_fields) {
            self.refuse(key.tag, kind);
        }
    }

    /// Has each field that is written from here on compared with all that are in the body: also
    /// with those that were copied into it, which are not checked otherwise.
    pub(crate) const fn compare_with_all(&mut self) {
        self.scope.seen = [u8::MAX; 64];
        self.unchecked = true;
    }

    fn try_set(&mut self, key: &Key, value: &[u8], data_fields: &DataFields) -> Result<(), EncodeErrorKind> {
        let tag = key.tag.number();
        if key.owner == Owner::Session {
            return Err(EncodeErrorKind::SessionField);
        }
        if data_fields.data_tag(tag).is_some() || data_fields.length_tag(tag).is_some() {
            return Err(EncodeErrorKind::DataLength);
        }
        if value.is_empty() {
            return Err(EncodeErrorKind::Empty);
        }
        if value.contains(&SOH) {
            return Err(EncodeErrorKind::Soh);
        }
        let fields = || WrittenFields::with(self.written(), data_fields, self.dialect_data);
        let mut same = fields().filter(|(n, _)| *n == tag).map(|(_, value)| value);
        if let Some(before) = same.next() {
            if same.next().is_some() {
                return Err(EncodeErrorKind::Duplicate);
            }
            return self.splice(before, &[value]);
        }
        if key.owner == Owner::Body {
            self.bytes(*key, value);
            return Ok(());
        }
        let at =
            fields().take_while(|(n, _)| is_header_field(*n)).last().map_or(0, |(_, value)| value.end + 1);
        self.splice(at..at, &[&key.text[..usize::from(key.len)], value, &[SOH]])?;
        self.record(key.tag);
        Ok(())
    }

    /// Puts these bytes in the place of others of the body, of which none is the SOH that ends a
    /// field.
    fn splice(&mut self, place: Range<usize>, bytes: &[&[u8]]) -> Result<(), EncodeErrorKind> {
        let (start, end) = (self.at() - self.written().len(), self.at());
        let place = start + place.start..start + place.end;
        let length: usize = bytes.iter().map(|piece| piece.len()).sum();
        let rest = end - place.end;
        if length > self.limit() - place.start || rest > self.limit() - place.start - length {
            return Err(EncodeErrorKind::NoRoom);
        }
        let removed = byte_sum(&self.memory[place.clone()]);
        self.memory.copy_within(place.end..end, place.start + length);
        let (mut at, mut added) = (place.start, 0_u8);
        for piece in bytes {
            self.memory[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
            added = added.wrapping_add(byte_sum(piece));
        }
        self.sum = self.sum.wrapping_add(u32::from(added)).wrapping_sub(u32::from(removed));
        let in_header = self.in_header();
        self.set_at(place.start + length + rest);
        if in_header {
            self.extend_header();
        } else {
            // Of a shorter body the end may be where the header fields ended.
            self.end_header();
        }
        Ok(())
    }
}
