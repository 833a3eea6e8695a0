//! One session of ours in a world, with its counterparty and the network between them.

use std::collections::{BTreeMap, BTreeSet};

use crate::broken::Relapse;
use fixbolt_session::runtime::session_key;
use fixbolt_session::{Compatibility, Next, Role, SessionKey, SessionSettings};

use super::counterparty::Counterparty;
use super::dialect::Dialect;
use super::diary::{Arrived, Diary};
use super::edges::{Beginning, Plan};
use super::faults::Faults;
use super::habits::{Habits, MILLI};
use super::network::{Losses, Pipe};
use super::random::Random;
use super::settings;
use super::text::SECOND;
use super::world::NEVER;

pub(super) struct Link {
    /// The index of its key.
    pub(super) place: usize,
    pub(super) dialect: Dialect,
    pub(super) plan: Plan,
    pub(super) settings: SessionSettings,
    pub(super) key: SessionKey,
    /// What the session asks for.
    pub(super) next: Next,
    pub(super) peer: Counterparty,
    pub(super) to_us: Pipe,
    pub(super) to_peer: Pipe,
    pub(super) losses_in: Losses,
    pub(super) losses_out: Losses,
    pub(super) attached: bool,
    pub(super) peer_attached: bool,
    /// When each side notices that the connection has ended.
    pub(super) end_at: u64,
    pub(super) peer_end_at: u64,
    pub(super) inbox: Vec<u8>,
    pub(super) unread: Vec<u8>,
    /// Whether a read takes all that is there, not one message or a part of one.
    pub(super) reads_much: bool,
    pub(super) closing_since: Option<u64>,
    pub(super) connect_at: u64,
    pub(super) next_order: u64,
    pub(super) order_interval: u64,
    pub(super) stalled_until: u64,
    pub(super) enable_at: u64,
    pub(super) diary: Diary,
    pub(super) arrived: Arrived,
    pub(super) generation: u32,
    /// The generation in which the operators of both sides agreed on the numbers last.
    pub(super) agreed: u32,
    /// Whether the numbers were reset at this moment.
    pub(super) just_reset: bool,
    pub(super) peer_resets: u32,
    pub(super) peer_series: u32,
    pub(super) must_reset_peer: bool,
    /// The bodies that were on the wire, by generation and number.
    pub(super) wire: BTreeMap<(u32, u64), Vec<u8>>,
    pub(super) written_at: Vec<(u64, bool)>,
    /// When messages were sent again, by generation and number, since the process began.
    pub(super) again_at: BTreeMap<(u32, u64), Vec<u64>>,
    /// Since when messages can have arrived that nothing has held back and that were delivered.
    pub(super) delivered_at: Vec<u64>,
    /// When bytes of the counterparty were read last, and the time before that.
    pub(super) read_at: u64,
    pub(super) read_before: u64,
    /// When messages were last being sent again.
    pub(super) replaying_at: u64,
    pub(super) unreached: Vec<(u32, u64, u64)>,
    /// Tickets of messages that have waited and of which the application was told.
    pub(super) left: BTreeSet<u64>,
    /// Tickets of messages that have waited and that the store has lost.
    pub(super) lost_waiting: BTreeSet<u64>,
    pub(super) rejected: Vec<(u32, u64)>,
    pub(super) pending_tests: Vec<(u64, u64, u64)>,
    pub(super) last_new: (u32, u64),
    /// A defect of the session.
    pub(super) relapse: Option<Relapse>,
    /// When messages arrived that count for the limit that a broken core keeps.
    counted_at: Vec<u64>,
    /// The highest NextNumOut that the store has had.
    pub(super) most_out: u64,
}

/// CompIDs of the counterparties of a world.
const PEERS: [&str; 3] = ["PEER", "PEER2", "PEER3"];

impl Link {
    pub(super) fn new(
        place: usize,
        r: &mut Random,
        faults: Faults,
        dialect: Dialect,
        role: Role,
        beginning: Beginning,
    ) -> Self {
        let mut settings = settings::draw(&mut r.fork(), faults, dialect, role, PEERS[place]);
        let mut edges = r.fork();
        let plan =
            if faults.schedule { Plan::draw(&mut edges, beginning, &mut settings) } else { Plan::None };
        let mut habits = Habits::draw(&mut r.fork(), faults);
        if role == Role::Acceptor && settings.reset.reset_on_logon {
            habits.resets_on_logon = true;
        }
        if dialect.whole_seconds() && dialect.begin_string() == "FIX.4.0" {
            habits.resets_on_logon = false;
        }
        let mut peer = Counterparty::new(PEERS[place], dialect, role == Role::Acceptor, habits, r.fork());
        peer.attacks.has_122_checked = settings.compatibility != Compatibility::QuickFix;
        Self {
            place,
            dialect,
            plan,
            settings,
            key: session_key(0, 0, 0),
            next: Next::default(),
            peer,
            to_us: Pipe::default(),
            to_peer: Pipe::default(),
            losses_in: Losses::new(faults.inbound, r),
            losses_out: Losses::new(faults.outbound, r),
            attached: false,
            peer_attached: false,
            end_at: NEVER,
            peer_end_at: NEVER,
            inbox: Vec::new(),
            unread: Vec::new(),
            reads_much: r.once_in(2),
            closing_since: None,
            connect_at: 0,
            next_order: 5 * SECOND,
            order_interval: *r.pick(&[30, 100, 500, 3000]) * MILLI,
            stalled_until: 0,
            enable_at: NEVER,
            diary: Diary::default(),
            arrived: Arrived::default(),
            generation: 0,
            agreed: 0,
            just_reset: false,
            peer_resets: 0,
            peer_series: 0,
            must_reset_peer: false,
            wire: BTreeMap::new(),
            written_at: Vec::new(),
            again_at: BTreeMap::new(),
            delivered_at: Vec::new(),
            read_at: 0,
            replaying_at: 0,
            read_before: 0,
            unreached: Vec::new(),
            left: BTreeSet::new(),
            lost_waiting: BTreeSet::new(),
            rejected: Vec::new(),
            pending_tests: Vec::new(),
            last_new: (0, 0),
            relapse: None,
            counted_at: Vec::new(),
            most_out: 1,
        }
    }

    /// Returns the index of the session in the store.
    pub(super) const fn stored(&self) -> u32 {
        self.place as u32
    }

    /// Returns the settings that its session is opened with.
    pub(super) fn opened_with(&self) -> SessionSettings {
        let mut settings = self.settings.clone();
        if self.relapse == Some(Relapse::PossDupNotCounted) {
            settings.throttle.max_inbound_rate = None;
        }
        settings
    }

    /// Returns when a message arrives at a session that keeps its limit by not reading.
    pub(super) fn arrives_at(&mut self, at: u64, bytes: &[u8]) -> u64 {
        let Some(rate) = self.settings.throttle.max_inbound_rate else { return at };
        if self.relapse != Some(Relapse::PossDupNotCounted) || !Relapse::counts(bytes) {
            return at;
        }
        let mut at = at.max(self.to_us.last());
        if let Some(first) = self.counted_at.iter().rev().nth(rate.messages() as usize - 1) {
            at = at.max(first + rate.window().as_nanos() as u64 + 1);
        }
        self.counted_at.push(at);
        at
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::Version;

    use super::super::dialect::DIALECTS;
    use super::super::edges::BEGINNINGS;
    use super::*;

    #[test]
    fn either_side_both_or_none_says_in_its_logon_what_it_expects() {
        let faults: Faults = "settings".parse().unwrap();
        for dialect in DIALECTS.into_iter().filter(|dialect| dialect.since(Version::Fix44)) {
            for role in [Role::Initiator, Role::Acceptor] {
                let mut seen = [[false; 2]; 2];
                for seed in 0..100 {
                    let mut random = Random::new(seed);
                    let link = Link::new(0, &mut random, faults, dialect, role, BEGINNINGS[0]);
                    let (ours, theirs) =
                        (link.settings.resend.send_next_expected_msg_seq_num, link.peer.habits.next_expected);
                    seen[usize::from(ours)][usize::from(theirs)] = true;
                }
                assert_eq!(seen, [[true; 2]; 2], "{dialect:?} {role:?}");
            }
        }
    }
}
