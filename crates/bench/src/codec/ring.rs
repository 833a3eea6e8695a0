//! Rings of messages, and the storage that their indexes are built in.

use fixbolt_codec::{Index, Span, Tier};

use crate::messages::RING;

/// More fields than a message here has, by as many as the widest instructions write at a time.
const FIELDS: usize = 400;

/// Messages with the values they were made from.
pub(crate) struct Ring<V> {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<V>,
    pub(crate) bytes: Vec<Vec<u8>>,
    /// How many fields each message has.
    pub(crate) fields: Vec<usize>,
}

impl<V> Ring<V> {
    pub(crate) fn new(name: &'static str, values: Vec<V>, bytes: fn(&V) -> Vec<u8>) -> Self {
        let bytes = values.iter().map(bytes).collect();
        Self::of(name, values, bytes)
    }

    /// None of the messages has a data field with SOH.
    fn of(name: &'static str, values: Vec<V>, bytes: Vec<Vec<u8>>) -> Self {
        let fields = bytes.iter().map(|bytes| bytes.iter().filter(|byte| **byte == 1).count()).collect();
        Self { name, values, bytes, fields }
    }

    pub(crate) fn wrong(&self, operation: &str, n: usize) -> String {
        format!("{} {operation}: message {n} of the ring has a wrong result", self.name)
    }
}

impl Ring<u64> {
    pub(crate) fn numbered(name: &'static str, bytes: fn(u64) -> Vec<u8>) -> Self {
        let values: Vec<u64> = (0..RING as u64).collect();
        let bytes = values.iter().map(|n| bytes(*n)).collect();
        Self::of(name, values, bytes)
    }
}

/// Iterates over the members of a ring this many times.
pub(crate) fn around<T>(ring: &[T], rounds: usize) -> impl Iterator<Item = &T> {
    ring.iter().cycle().take(rounds * ring.len())
}

/// The storage of an index.
pub(crate) struct Storage {
    tags: Vec<u32>,
    spans: Vec<Span>,
    tier: Tier,
}

impl Storage {
    pub(crate) fn new(tier: Tier) -> Self {
        Self { tags: vec![0; FIELDS], spans: vec![Span::default(); FIELDS], tier }
    }

    pub(crate) fn index(&mut self) -> Index<'_> {
        Index::new(&mut self.tags, &mut self.spans).with_tier(self.tier)
    }
}
