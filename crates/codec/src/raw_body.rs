//! Writing fields that are not checked, for programs that copy messages.

use core::fmt;

use crate::body::Body;
use crate::body_writer::BodyWriter;
use crate::encode_error::EncodeErrorKind;
use crate::index::byte_sum;
use crate::key::{Key, Owner};
use crate::short_value::copy_long;

/// Writes fields into a body without checking them, unlike [`BodyWriter`]: for programs that send
/// again what was a message before, such as a replay.
///
/// Only fields of the session and missing space are refused. The caller is responsible for the
/// rest: an empty value is not valid in FIX, and one with SOH is read as several fields.
///
/// ```
/// use fixbolt_codec::plumbing::BodyPlumbing as _;
/// use fixbolt_codec::{BodyWriter, Key, MsgType};
///
/// let mut memory = [0; 64];
/// let mut copy = BodyWriter::new(MsgType::new(b"B"), &mut memory);
/// copy.raw().field(Key::new(20001), b"3").field(Key::new(20002), b"a\x01b");
/// assert_eq!(copy.finish().unwrap().bytes, b"20001=3\x0120002=a\x01b\x01");
/// ```
pub struct RawBody<'w, 'b>(&'w mut BodyWriter<'b>);

impl<'w, 'b> RawBody<'w, 'b> {
    pub(crate) const fn new(writer: &'w mut BodyWriter<'b>) -> Self {
        writer.unchecked = true;
        Self(writer)
    }

    /// Writes a field.
    #[inline]
    pub fn field(&mut self, key: Key, value: &[u8]) -> &mut Self {
        if !self.0.short_raw(&key, value) {
            let copy = key;
            self.any_field(&copy, value);
        }
        self
    }

    #[inline(never)]
    fn any_field(&mut self, key: &Key, value: &[u8]) {
        if key.owner == Owner::Session {
            self.0.refuse(key.tag, EncodeErrorKind::SessionField);
        } else if let Some(place) = self.0.place(key, value.len()) {
            let sum = if value.len() >= 16 {
                copy_long(place, value).0
            } else {
                place.copy_from_slice(value);
                byte_sum(value)
            };
            self.0.end_field(key, value.len(), sum);
        }
    }

    /// Appends the fields of a finished body.
    pub fn body(&mut self, body: &Body<'_>) -> &mut Self {
        self.0.append(body.bytes);
        self.0.sum = self.0.sum.wrapping_add(u32::from(byte_sum(body.bytes)));
        self.0.end_header();
        self
    }
}

impl fmt::Debug for RawBody<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RawBody").field(&self.0).finish()
    }
}
