//! Reads a message that is in the store or is about to be.

use fixbolt_codec::{DataFields, Frame, Framer, Index, Message, Span};

/// Storage for the index of one message.
#[derive(Debug, Default)]
pub(crate) struct FieldStorage {
    pub(crate) tags: Vec<u32>,
    pub(crate) spans: Vec<Span>,
}

impl FieldStorage {
    pub(crate) fn new(fields: usize) -> Self {
        Self { tags: vec![0; fields], spans: vec![Span::default(); fields] }
    }

    /// Makes room for at least `fields` fields.
    pub(crate) fn grow(&mut self, fields: usize) {
        if fields > self.tags.len() {
            *self = Self::new(fields);
        }
    }
}

/// Reads a whole message; `None` if the bytes are not one.
pub(crate) fn with_message<R>(
    bytes: &[u8],
    data_fields: &DataFields,
    fields: &mut FieldStorage,
    look: impl FnOnce(Message<'_>) -> R,
) -> Option<R> {
    let Frame::Message(framed) = Framer::new(bytes.len()).next(bytes) else { return None };
    let mut index = Index::new(&mut fields.tags, &mut fields.spans).with_data_fields(data_fields);
    index.build(framed).ok().map(look)
}
