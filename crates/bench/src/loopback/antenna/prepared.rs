//! A prepared message: the constant part of a body is written once, the holes are filled in.
//!
//! The codec has no such template yet. This one uses its public types only: typed values, and a
//! finished [`Body`] with its sum.

use fixbolt_codec::{Body, MsgType, ToField, byte_sum};

/// The most bytes of a body.
const ROOM: usize = 512;

/// A body whose memory is used again and again. Values are not checked as they are by a writer.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    msg_type: MsgType,
    /// What stands before, between and after the holes, each with the sum of its bytes.
    constants: Vec<(&'static [u8], u8)>,
    memory: Box<[u8]>,
    at: usize,
    sum: u8,
    /// The next one of the constants.
    next: usize,
}

impl Prepared {
    /// Creates a body with a hole between each two of the constants.
    pub(super) fn new(msg_type: MsgType, constants: &[&'static [u8]]) -> Self {
        let constants = constants.iter().map(|part| (*part, byte_sum(part))).collect();
        Self { msg_type, constants, memory: vec![0; ROOM].into(), at: 0, sum: 0, next: 0 }
    }

    /// Begins the next message.
    pub(super) fn begin(&mut self) -> &mut Self {
        (self.at, self.sum, self.next) = (0, 0, 0);
        self.constant()
    }

    /// Fills the next hole with a value.
    pub(super) fn value<T: ToField>(&mut self, value: &T) -> &mut Self {
        let end = self.at + value.write_to(&mut self.memory[self.at..]);
        self.sum = self.sum.wrapping_add(byte_sum(&self.memory[self.at..end]));
        self.at = end;
        self.constant()
    }

    /// Fills the next hole with bytes.
    pub(super) fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.append(value, byte_sum(value));
        self.constant()
    }

    /// Returns the body. Every hole has been filled.
    pub(super) fn body(&self) -> Body<'_> {
        debug_assert_eq!(self.next, self.constants.len(), "a hole is empty");
        Body { msg_type: self.msg_type, bytes: &self.memory[..self.at], sum: self.sum }
    }

    fn constant(&mut self) -> &mut Self {
        let (bytes, sum) = self.constants[self.next];
        self.next += 1;
        self.append(bytes, sum);
        self
    }

    fn append(&mut self, bytes: &[u8], sum: u8) {
        self.memory[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
        self.sum = self.sum.wrapping_add(sum);
    }
}
