//! Messages are lost, those that answer our ResendRequests among them: while no number is lost
//! MaxResendRequests times, the session ends in step, with one request for each run of lost
//! messages and one more. A number that is always lost ends it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use fixbolt_conformance::testing::{Side, settings};
use fixbolt_session::{Phase, Role};
use proptest::prelude::*;

/// The number of messages that the counterparty sends after its Logon.
const MESSAGES: u64 = 200;

/// When the counterparty sends the messages of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answers {
    /// Before its next new message.
    AtOnce,
    /// One before each new message.
    Between,
    /// After its last new message.
    Afterwards,
}

/// A counterparty that answers every ResendRequest whole, one after the other.
struct Peer {
    side: Side,
    /// The numbers that it sends as gap fills, not as orders.
    fills: fn(u64) -> bool,
    /// Whether a run of gap fills is one message.
    merges: bool,
    random: u64,
    percent: u64,
    /// How many times each number was lost.
    lost: BTreeMap<u64, u32>,
    /// How many times a number may be lost.
    most: u32,
    last_was_lost: bool,
    /// Lost runs, of new messages and of answers.
    runs: u32,
    requests: u32,
    /// The last number it has used.
    last: u64,
    /// BeginSeqNo of each request whose answer has not begun.
    requested: VecDeque<u64>,
    /// What is still to be sent of an answer: the first and the last number of each message.
    answer: VecDeque<(u64, u64)>,
    delivered: Vec<u64>,
}

impl Peer {
    fn is_lost(&mut self, first: u64, last: u64) -> bool {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let is_lost = (self.random >> 33) % 100 < self.percent
            && (first..=last).all(|seq| self.lost.get(&seq).is_none_or(|times| *times < self.most));
        if is_lost {
            (first..=last).for_each(|seq| *self.lost.entry(seq).or_default() += 1);
            self.runs += u32::from(!self.last_was_lost);
        }
        self.last_was_lost = is_lost;
        is_lost
    }

    fn send(&mut self, fields: &str) {
        for message in self.side.say(0, fields) {
            let field = |tag: &str| {
                let value = message.split(&format!("|{tag}=")).nth(1)?.split('|').next()?;
                value.trim_start_matches("ord").parse::<u64>().ok()
            };
            if message.contains("|35=2|") {
                self.requests += 1;
                self.requested.push_back(field("7").unwrap());
            } else if message.contains("|35=8|") {
                self.delivered.push(field("11").unwrap());
            }
        }
    }

    /// Begins the next answer: it has what was sent until now.
    fn begin_answer(&mut self) {
        let Some(mut first) = self.requested.pop_front() else { return };
        self.last_was_lost = false;
        while first <= self.last {
            let mut last = first;
            while self.merges && (self.fills)(first) && last < self.last && (self.fills)(last + 1) {
                last += 1;
            }
            self.answer.push_back((first, last));
            first = last + 1;
        }
    }

    fn send_new(&mut self) {
        self.last += 1;
        let seq = self.last;
        if !self.is_lost(seq, seq) {
            let fields = if (self.fills)(seq) { "35=0".to_owned() } else { format!("35=D|11=ord{seq}") };
            self.send(&format!("{fields}|34={seq}|"));
        }
    }

    fn send_again(&mut self) -> bool {
        if self.answer.is_empty() {
            self.begin_answer();
        }
        let Some((first, last)) = self.answer.pop_front() else { return false };
        if !self.is_lost(first, last) {
            let time = self.side.time();
            let fields = if (self.fills)(first) {
                format!("35=4|123=Y|36={}", last + 1)
            } else {
                format!("35=D|11=ord{first}")
            };
            self.send(&format!("{fields}|34={first}|43=Y|122={time}|"));
        }
        true
    }

    fn run(&mut self, when: Answers) {
        for _ in 0..MESSAGES {
            self.send_new();
            while when != Answers::Afterwards && self.send_again() && when == Answers::AtOnce {}
        }
        while self.send_again() {}
        // What was lost at the end shows with the next message, and an answer that was lost whole
        // with the time.
        self.percent = 0;
        for _ in 0..4 {
            self.side.pass(Duration::from_secs(31));
            self.send_new();
            while self.send_again() {}
        }
    }
}

fn peer(fills: fn(u64) -> bool, merges: bool, random: u64, percent: u64) -> Peer {
    let settings = settings("PEER", Role::Acceptor);
    let most = settings.resend.max_resend_requests.get() - 1;
    let side = Side::new(vec![settings]).logged_on();
    Peer {
        side,
        fills,
        merges,
        random,
        percent,
        lost: BTreeMap::new(),
        most,
        last_was_lost: false,
        runs: 0,
        requests: 0,
        last: 1,
        requested: VecDeque::new(),
        answer: VecDeque::new(),
        delivered: Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_session_whose_gaps_have_gaps_ends_in_step(
        random in any::<u64>(),
        percent in 1..=30_u64,
        when in prop::sample::select(vec![Answers::AtOnce, Answers::Between, Answers::Afterwards]),
        has_fills in any::<bool>(),
        merges in any::<bool>(),
    ) {
        let fills: fn(u64) -> bool = if has_fills { |seq| seq % 7 < 3 } else { |_| false };
        let mut peer = peer(fills, merges, random, percent);
        peer.run(when);
        prop_assert_eq!(peer.side.phase(0), Phase::LoggedOn);
        prop_assert_eq!(peer.side.numbers(0).unwrap().0.0, peer.last + 1);
        let orders: Vec<_> = (2..=peer.last).filter(|seq| !fills(*seq)).collect();
        prop_assert_eq!(&peer.delivered, &orders);
        prop_assert!(peer.requests <= peer.runs + 1, "{} requests for {} lost runs", peer.requests, peer.runs);
    }
}

// R-GAP-7
#[test]
fn a_number_that_is_always_lost_ends_the_session() {
    let mut peer = peer(|_| false, false, 0, 0);
    let most = peer.most + 1;
    peer.last = 2;
    for _ in 0..MESSAGES {
        peer.send_new();
        peer.begin_answer();
        while let Some((first, _)) = peer.answer.front().copied() {
            if first == 2 {
                peer.answer.pop_front();
            } else {
                peer.send_again();
            }
        }
    }
    assert_eq!((peer.requests, peer.side.phase(0)), (most, Phase::LogoutAnswered));
}
