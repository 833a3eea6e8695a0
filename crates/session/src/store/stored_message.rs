//! Reads a message that is in the store or is about to be.

use fixbolt_codec::{DataFields, Frame, Framer, Index, Message, Place, Span};
use fixbolt_dictionary::Direction;

use crate::values::fix::SOH;

/// Storage for the index of one message, and for the places of its fields.
#[derive(Debug, Default)]
pub(crate) struct FieldStorage {
    pub(crate) tags: Vec<u32>,
    pub(crate) spans: Vec<Span>,
    pub(crate) places: Vec<Place>,
}

impl FieldStorage {
    pub(crate) fn new(fields: usize) -> Self {
        Self {
            tags: vec![0; fields],
            spans: vec![Span::default(); fields],
            places: Vec::with_capacity(fields),
        }
    }

    /// Makes room for at least `fields` fields.
    pub(crate) fn grow(&mut self, fields: usize) {
        if fields > self.tags.len() {
            *self = Self::new(fields);
        }
    }
}

/// What is wrong with a record that cannot be read.
pub(crate) const NO_MESSAGE: &str = "the stored bytes are not a FIX message";

/// Reads a whole message; `None` if the bytes are not one. CheckSum is verified unless the
/// counterparty wrote it: a session may accept a wrong one, and stores the message as it came.
/// Makes room for the fields, because a store may hold larger messages than the session accepts
/// now. `look` also gets memory for the places of the fields.
pub(crate) fn with_message<R>(
    bytes: &[u8],
    writer: Direction,
    data_fields: &DataFields,
    fields: &mut FieldStorage,
    look: impl for<'m> FnOnce(Message<'m>, &'m mut Vec<Place>) -> R,
) -> Option<R> {
    let Frame::Message(framed) = Framer::new(bytes.len()).next(bytes) else { return None };
    // No field is shorter than four bytes, but for those that a counterparty left empty.
    fields.grow(bytes.len() / 4);
    if writer == Direction::Inbound && bytes.iter().filter(|b| **b == SOH).count() > fields.tags.len() {
        fields.grow(bytes.len());
    }
    let FieldStorage { tags, spans, places } = fields;
    let mut index = Index::new(tags, spans)
        .with_data_fields(data_fields)
        .with_checksum_verified(writer == Direction::Outbound);
    index.build(framed).ok().map(|message| look(message, places))
}
