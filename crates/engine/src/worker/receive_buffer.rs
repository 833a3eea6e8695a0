//! Bytes from one socket, until the session has consumed them. Bounded; never reallocated while
//! data is being received.

use crate::memory;

/// Received bytes, followed by free space.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

/// The most bytes that one read takes from a socket.
pub(crate) const READ_SIZE: usize = 64 * 1024;

impl ReceiveBuffer {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { bytes: vec![0; capacity].into_boxed_slice(), start: 0, end: 0 }
    }

    /// Returns the bytes received but not yet consumed.
    pub(crate) fn filled(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Removes the first `bytes` bytes.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start = self.start.saturating_add(bytes).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Returns the space for the next read: at most [`READ_SIZE`] bytes, none if the buffer is
    /// full.
    pub(crate) fn free(&mut self) -> &mut [u8] {
        let read_size = READ_SIZE.min(self.bytes.len() / 2);
        if self.start > 0 && self.bytes.len() - self.end < read_size {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let end = self.bytes.len().min(self.end + READ_SIZE);
        &mut self.bytes[self.end..end]
    }

    /// Records that a read put `bytes` bytes into [`ReceiveBuffer::free`].
    pub(crate) fn received(&mut self, bytes: usize) {
        self.end = (self.end + bytes).min(self.bytes.len());
    }

    /// Makes room for `capacity` bytes, once a connection belongs to a session.
    pub(crate) fn grow(&mut self, capacity: usize) {
        let mut larger = Self::new(capacity.max(self.filled().len()));
        if memory::is_locked() {
            memory::touch(&mut larger.bytes);
        }
        larger.bytes[..self.filled().len()].copy_from_slice(self.filled());
        larger.end = self.filled().len();
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(buffer: &mut ReceiveBuffer, bytes: &[u8]) -> usize {
        let free = buffer.free();
        let n = free.len().min(bytes.len());
        free[..n].copy_from_slice(&bytes[..n]);
        buffer.received(n);
        n
    }

    #[test]
    fn every_byte_comes_out_once_and_in_order_however_it_is_cut() {
        let text: Vec<u8> = (0..10_000u32).map(|n| (n % 251) as u8).collect();
        let mut buffer = ReceiveBuffer::new(64);
        let (mut sent, mut out) = (0, Vec::new());
        for step in (1..40).cycle() {
            sent += receive(&mut buffer, &text[sent..text.len().min(sent + step)]);
            let take = buffer.filled().len().min(41 - step);
            out.extend_from_slice(&buffer.filled()[..take]);
            buffer.consume(take);
            if sent == text.len() && buffer.filled().is_empty() {
                break;
            }
        }
        assert_eq!(out, text);
    }

    #[test]
    fn a_full_buffer_takes_nothing_and_growing_keeps_what_is_there() {
        let mut buffer = ReceiveBuffer::new(8);
        assert_eq!(receive(&mut buffer, b"0123456789"), 8);
        assert_eq!(buffer.free().len(), 0);
        buffer.consume(2);
        buffer.grow(16);
        assert_eq!(buffer.filled(), b"234567");
        assert_eq!(receive(&mut buffer, b"0123456789abcdef"), 10);
    }
}
