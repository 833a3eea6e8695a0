//! One connection at a time between two sessions: two pipes that delay, split, lose and garble
//! bytes.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use fixbolt_conformance::simulation::Random;
use fixbolt_session::Mono;
use fixbolt_session::runtime::mono;

/// Bytes in flight in one direction.
#[derive(Default)]
pub(crate) struct Pipe {
    /// Pieces, each with the time of its arrival; ascending.
    pieces: VecDeque<(Mono, Vec<u8>)>,
    bytes: usize,
    /// Bytes since one was garbled: two garbled bytes in one message could cancel out in its
    /// checksum.
    since_garbled: usize,
    /// Whether the sender has closed the connection.
    pub(crate) closed: bool,
}

/// Bytes that the network accepts before the sender must wait.
const CAPACITY: usize = 16 * 1024;
/// Longer than any message.
const BETWEEN_GARBLED: usize = 20_000;

impl Pipe {
    pub(crate) fn room(&self) -> usize {
        CAPACITY.saturating_sub(self.bytes)
    }

    /// Sends bytes in pieces of random size. Returns whether a byte was garbled.
    pub(crate) fn push(&mut self, now: Mono, bytes: &[u8], garble: bool, random: &mut Random) -> bool {
        let mut bytes = bytes.to_vec();
        self.since_garbled += bytes.len();
        let garbled = garble && self.since_garbled > BETWEEN_GARBLED && random.once_in(4);
        if garbled {
            self.since_garbled = 0;
            let at = random.within(0, bytes.len() as u64) as usize;
            match random.within(0, 3) {
                0 => bytes[at] ^= random.within(1, 256) as u8,
                1 => drop(bytes.splice(at..at, (0..random.within(1, 40)).map(|_| random.next() as u8))),
                _ => drop(bytes.splice(at..at, *b"8=FIX.4.4\x019=9999\x0135=D\x01")),
            }
        }
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let most = if random.once_in(3) { 20 } else { 4000 };
            let (piece, behind) = rest.split_at((random.within(1, most) as usize).min(rest.len()));
            rest = behind;
            let delay = Duration::from_micros(random.within(10, 20_000));
            let last = self.pieces.back().map_or(mono(0), |(at, _)| *at);
            self.pieces.push_back(((now + delay).max(last), piece.to_vec()));
            self.bytes += piece.len();
        }
        garbled
    }

    /// Returns the time at which the next piece, or the end of the connection, arrives.
    pub(crate) fn next_arrival(&self, now: Mono) -> Option<Mono> {
        match self.pieces.front() {
            Some((at, _)) => Some(*at),
            None => self.closed.then_some(now),
        }
    }

    pub(crate) fn take(&mut self, now: Mono) -> Option<Vec<u8>> {
        if self.pieces.front()?.0 > now {
            return None;
        }
        let (_, piece) = self.pieces.pop_front()?;
        self.bytes -= piece.len();
        Some(piece)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.closed && self.pieces.is_empty()
    }

    pub(crate) fn cut(&mut self) {
        *self = Self::default();
    }
}

/// One side of a link.
pub(crate) struct End {
    pub(crate) process: usize,
    pub(crate) session: u32,
    /// Whether the session believes that it is connected.
    pub(crate) attached: bool,
    /// The time at which it will notice that the connection is lost.
    pub(crate) lost_at: Option<Mono>,
    /// The time since which the session has wanted to close, with bytes left to write.
    pub(crate) closing_since: Option<Mono>,
    /// Bytes that arrived and were not consumed.
    pub(crate) inbox: Vec<u8>,
    /// The bytes that this side sends.
    pub(crate) out: Pipe,
    /// The end of what it wrote in this connection, which is not a complete message yet.
    pub(crate) unread: Vec<u8>,
    /// Generation and sequence number of every new message that it wrote in this connection.
    pub(crate) new: BTreeSet<(u32, u64)>,
}

impl End {
    fn new(process: usize, session: u32) -> Self {
        Self {
            process,
            session,
            attached: false,
            lost_at: None,
            closing_since: None,
            inbox: Vec::new(),
            out: Pipe::default(),
            unread: Vec::new(),
            new: BTreeSet::new(),
        }
    }

    pub(crate) fn attach(&mut self) {
        self.attached = true;
        self.lost_at = None;
        self.closing_since = None;
        self.inbox.clear();
        self.unread.clear();
        self.new.clear();
        self.out.cut();
    }

    pub(crate) fn detach(&mut self) {
        self.attached = false;
        self.lost_at = None;
        self.closing_since = None;
        self.inbox.clear();
        self.out.closed = true;
    }
}

/// A connection between two sessions; the initiator's end comes first.
pub(crate) struct Link {
    pub(crate) ends: [End; 2],
    pub(crate) connect_at: Option<Mono>,
}

impl Link {
    pub(crate) fn new(initiator: (usize, u32), acceptor: (usize, u32)) -> Self {
        Self {
            ends: [End::new(initiator.0, initiator.1), End::new(acceptor.0, acceptor.1)],
            connect_at: None,
        }
    }

    /// Cuts the connection: all bytes in flight are lost, and both sides notice at some later time.
    pub(crate) fn cut(&mut self, now: Mono, random: &mut Random) {
        for end in &mut self.ends {
            end.out.cut();
            if end.attached {
                end.lost_at = Some(now + Duration::from_millis(random.within(0, 3000)));
            }
        }
    }

    pub(crate) fn is_down(&self) -> bool {
        !self.ends[0].attached && !self.ends[1].attached
    }
}
