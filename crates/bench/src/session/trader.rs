//! The counterparty of a session: it writes messages ahead of time, with consecutive sequence
//! numbers, and nobody times it.

use std::ops::Range;
use std::time::Duration;

use fixbolt_codec::{BodyWriter, Key, MsgType, SeqNum};
use fixbolt_session::runtime::mono;
use fixbolt_session::{Now, Utc};
use fixbolt_workloads::orders::NEW_ORDER_SINGLE;
use fixbolt_workloads::wire::Encoder;

use crate::messages::{MORNING, Nos222, RING, message};

const HEARTBEAT: MsgType = MsgType::new(b"0");
const RESEND_REQUEST: MsgType = MsgType::new(b"2");

/// Time from one order to the next.
const STEP: Duration = Duration::from_micros(10);
/// HeartBtInt (108) of the session, after which each side sends a Heartbeat. Messages of the
/// session layer come as far apart: more of them would be a flood.
pub(super) const HEART_BT_INT: Duration = Duration::from_secs(30);

/// Writes the counterparty's messages. Orders are NOS-222 in turn, each with the next sequence
/// number and its own SendingTime.
pub(super) struct Trader {
    pub(super) ring: Vec<Nos222>,
    encoder: Encoder,
    /// Time since the Logon.
    clock: Duration,
    /// MsgSeqNum of the last message.
    last: u64,
    orders: usize,
    pub(super) block: Block,
}

impl Trader {
    pub(super) fn new() -> Result<Self, String> {
        let (sender, target) = Nos222::PARTIES;
        let encoder =
            Encoder::new(Nos222::VERSION.begin_string().as_bytes(), sender.as_bytes(), target.as_bytes());
        let encoder = encoder.ok_or("the ring's parties are not CompIDs")?;
        let ring = (0..RING as u64).map(Nos222::new).collect();
        // The Logon was 1.
        Ok(Self { ring, encoder, clock: Duration::ZERO, last: 1, orders: 0, block: Block::default() })
    }

    /// Replaces the block by the next orders; returns `None` if one cannot be written.
    pub(super) fn orders(&mut self, orders: usize) -> Option<()> {
        self.block.clear();
        let ring = std::mem::take(&mut self.ring);
        let next = ring.iter().cycle().skip(self.orders % RING).take(orders);
        let written = next.map(|order| self.add(STEP, NEW_ORDER_SINGLE, |body| order.write(body)));
        let written: Option<()> = written.collect();
        self.orders += orders;
        self.ring = ring;
        written
    }

    /// Replaces the block by Heartbeats, each when it is due.
    pub(super) fn heartbeats(&mut self, heartbeats: usize) -> Option<()> {
        self.block.clear();
        (0..heartbeats).try_for_each(|_| self.add(HEART_BT_INT, HEARTBEAT, |_| {}))
    }

    /// Replaces the block by ResendRequests for these ranges.
    pub(super) fn resend_requests(&mut self, ranges: &[Range<u64>]) -> Option<()> {
        const BEGIN_SEQ_NO: Key = Key::new(7);
        const END_SEQ_NO: Key = Key::new(16);
        self.block.clear();
        ranges.iter().try_for_each(|range| {
            self.add(HEART_BT_INT, RESEND_REQUEST, |body| {
                body.field(BEGIN_SEQ_NO, &range.start).field(END_SEQ_NO, &(range.end - 1));
            })
        })
    }

    /// Adds a message that arrives `step` after the one before.
    fn add(
        &mut self,
        step: Duration,
        msg_type: MsgType,
        write: impl FnOnce(&mut BodyWriter<'_>),
    ) -> Option<()> {
        let mut slot = [0; 1024];
        self.clock += step;
        self.last += 1;
        let now = at(self.clock);
        let place = self.encoder.encode(&mut slot, msg_type, SeqNum(self.last), now.utc.0, write)?;
        self.block.add(now, slot.get(place)?);
        Some(())
    }
}

/// Returns the clocks at a time since the Logon.
pub(super) fn at(since: Duration) -> Now {
    let nanos = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
    Now { mono: mono(nanos), utc: Utc(MORNING.saturating_add(nanos)) }
}

/// Returns the Logon.
pub(super) fn logon() -> Vec<u8> {
    let (sender, target) = Nos222::PARTIES;
    let seconds = HEART_BT_INT.as_secs();
    let fields = format!("35=A|49={sender}|56={target}|34=1|52=20261121-09:00:00.000|98=0|108={seconds}|");
    message(Nos222::VERSION.begin_string(), &fields)
}

/// Messages with the time at which each arrives.
#[derive(Default)]
pub(super) struct Block {
    bytes: Vec<u8>,
    messages: Vec<(Now, Range<usize>)>,
    taken: usize,
}

impl Block {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.messages.clear();
        self.taken = 0;
    }

    pub(super) fn add(&mut self, now: Now, message: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        self.messages.push((now, start..self.bytes.len()));
    }

    /// Returns the next `messages` messages, or as many as there are.
    pub(super) fn take(&mut self, messages: usize) -> impl Iterator<Item = (Now, &[u8])> {
        let first = self.taken;
        self.taken = self.messages.len().min(first + messages);
        let bytes = &self.bytes;
        self.messages[first..self.taken].iter().map(|(now, place)| (*now, &bytes[place.clone()]))
    }
}
