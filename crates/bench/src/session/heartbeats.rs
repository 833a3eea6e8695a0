//! Heartbeats: one in, and one out when it is due.

use fixbolt_codec::Tier;

use super::Operation;
use super::acceptor::{Acceptor, is_next};
use crate::messages::RING;
use crate::results::Row;

/// Heartbeats that are received, and perhaps sent.
pub(super) struct Heartbeats {
    acceptor: Acceptor,
    /// Whether the session is woken after each, when its own is due.
    sends: bool,
}

impl Heartbeats {
    /// Creates the operation, and checks three rings: each Heartbeat is consumed and counted, and
    /// what is sent is one Heartbeat with the next sequence number, or nothing.
    pub(super) fn checked(acceptor: Acceptor, sends: bool) -> Result<Self, String> {
        let mut heartbeats = Self { acceptor, sends };
        heartbeats.prepare(3 * RING)?;
        for n in 0..3 * RING as u64 {
            let right = heartbeats.each(1, |bytes| match sends {
                true => is_next(bytes, b"0", 2 + n),
                false => bytes.is_empty(),
            });
            let numbers = heartbeats.acceptor.sessions.numbers(heartbeats.acceptor.key);
            let next_out = if sends { 3 + n } else { 2 };
            if right == 0
                || numbers.map(|(next_in, next_out)| (next_in.0, next_out.0)) != Some((3 + n, next_out))
            {
                return Err(format!("{}: Heartbeat {n} is wrong", heartbeats.acceptor.name));
            }
        }
        Ok(heartbeats)
    }

    #[inline]
    fn each(&mut self, heartbeats: usize, mut right: impl FnMut(&[u8]) -> bool) -> usize {
        let sends = self.sends;
        self.acceptor.each(heartbeats, |acceptor, now, heartbeat| {
            if !sends {
                return acceptor.feed(now, heartbeat, &mut right);
            }
            let silent = acceptor.feed(now, heartbeat, <[u8]>::is_empty);
            let Acceptor { sessions, key, venue, .. } = acceptor;
            sessions.wake(now, *key, &[], venue);
            silent && acceptor.sent(now, &mut right)
        })
    }
}

impl Operation for Heartbeats {
    fn row(&self) -> Row {
        Row::of_ns("session", "Heartbeat", self.acceptor.name, 0.0).tier(Tier::best().name())
    }

    fn prepare(&mut self, heartbeats: usize) -> Result<(), String> {
        self.acceptor.trader.heartbeats(heartbeats).ok_or_else(|| self.acceptor.unwritten("Heartbeat"))
    }

    fn work(&mut self, heartbeats: usize) -> usize {
        let sends = self.sends;
        self.each(heartbeats, |bytes| std::hint::black_box(bytes).is_empty() != sends)
    }
}
