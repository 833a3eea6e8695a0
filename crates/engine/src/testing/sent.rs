//! A message that a session sent, for a test to inspect.

use core::fmt;

use fixbolt_codec::{Frame, Framer, FromField, Index, Message, Span, Tag};

/// A whole message that a session sent.
///
/// `Display` and `Debug` show it with `|` for SOH, secrets masked.
#[derive(Clone, PartialEq, Eq)]
pub struct Sent(Vec<u8>);

impl Sent {
    /// Extracts the messages from `bytes`.
    pub(super) fn all(bytes: &[u8]) -> Vec<Self> {
        let mut framer = Framer::new(bytes.len());
        let mut list = Vec::new();
        let mut at = 0;
        while let Frame::Message(framed) = framer.next(&bytes[at..]) {
            at += framed.bytes().len();
            list.push(Self(framed.bytes().to_vec()));
        }
        list
    }

    /// Returns the message from `8=` to the last SOH.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns MsgType (35).
    #[must_use]
    pub fn msg_type(&self) -> &str {
        self.get(35).unwrap_or_default()
    }

    /// Returns the value of the first field with this tag. A value that is not UTF-8 is returned as
    /// absent: see [`read`](Self::read).
    #[must_use]
    pub fn get(&self, tag: u32) -> Option<&str> {
        let tag = Tag::try_new(tag)?;
        let value = self.read(|message| {
            let position = message.position(tag)?;
            let span = message.span(position);
            Some(span.start()..span.end())
        })?;
        core::str::from_utf8(&self.0[value]).ok()
    }

    /// Returns the value of the first field with this tag, read as `T`; `None` if it is absent or
    /// not of that type.
    #[must_use]
    pub fn value<T: for<'m> FromField<'m>>(&self, tag: u32) -> Option<T> {
        self.get(tag).and_then(|value| T::from_field(value.as_bytes()).ok())
    }

    /// Passes the message to `look`, which can read it as a typed one, for example.
    ///
    /// # Panics
    /// Never: a session sends only messages that can be indexed.
    pub fn read<R>(&self, look: impl FnOnce(Message<'_>) -> R) -> R {
        let fields = self.0.iter().filter(|b| **b == 1).count();
        let (mut tags, mut spans) = (vec![0; fields], vec![Span::default(); fields]);
        let mut index = Index::new(&mut tags, &mut spans);
        let Frame::Message(framed) = Framer::new(self.0.len()).next(&self.0) else {
            unreachable!("it was framed before")
        };
        let message = index.build(framed).expect("a session sends messages");
        look(message)
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fixbolt_codec::Redacted(&self.0).fmt(f)
    }
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
