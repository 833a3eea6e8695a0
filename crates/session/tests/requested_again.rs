//! What a counterparty sends again because we requested it is paced: it is neither refused nor a
//! way around the limits.

use std::num::NonZeroU32;
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::{Compatibility, Mono, Phase, Read, Role, SessionEnd, SessionSettings};

const SECOND: Duration = Duration::from_secs(1);

fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", Role::Acceptor).with(change);
    let mut side = Side::new(vec![settings]);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side
}

/// A counterparty's bytes in a socket, and what the session does with them.
struct Socket {
    bytes: Vec<u8>,
    consumed: usize,
    /// When each message was delivered.
    delivered: Vec<Mono>,
    /// NextNumIn after each call, and when.
    numbers: Vec<(Mono, u64)>,
    /// The MsgTypes of what was sent.
    sent: String,
}

impl Socket {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, consumed: 0, delivered: Vec::new(), numbers: Vec::new(), sent: String::new() }
    }

    /// Lets the session read for this long, as an engine does: until it is blocked, and again at
    /// its deadlines.
    fn read(&mut self, side: &mut Side, time: Duration) {
        let end = side.now.mono + time;
        let mut at_once = 0;
        loop {
            loop {
                self.consumed += side.wake(0, &self.bytes[self.consumed..]);
                self.write(side);
                if side.next(0).read != Read::Again {
                    break;
                }
            }
            let now = side.now.mono;
            self.delivered.resize(side.app.got.len(), now);
            self.numbers.push((now, next_in(side)));
            let next = side.next(0).deadline.unwrap_or(end);
            // A replay of ours asks to be called again at once, for each of its parts.
            at_once = if next > now { 0 } else { at_once + 1 };
            assert!(at_once < 100 || now == end, "a busy loop");
            if next >= end {
                side.pass(end - now);
                return;
            }
            side.pass(next.max(now) - now);
        }
    }

    fn write(&mut self, side: &mut Side) {
        let written = side.write(0, usize::MAX);
        let text = String::from_utf8_lossy(&written).replace('\x01', "|");
        self.sent.extend(text.split("|35=").skip(1).map(|rest| rest.chars().next().unwrap()));
    }

    fn is_empty(&self) -> bool {
        self.consumed == self.bytes.len()
    }

    /// Returns the most messages that were delivered in a window.
    fn most_in(&self, window: Duration) -> usize {
        let times = &self.delivered;
        let within = |from: Mono| times.iter().filter(|at| **at >= from && **at - from < window).count();
        times.iter().map(|from| within(*from)).max().unwrap_or(0)
    }
}

fn next_in(side: &Side) -> u64 {
    side.numbers(0).unwrap().0.0
}

/// Messages with PossDupFlag=Y and these sequence numbers.
fn again(side: &Side, numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let time = side.time();
    numbers.flat_map(|n| side.wire(0, &format!("35=D|34={n}|43=Y|122={time}|11=o{n}|"))).collect()
}

// R-LIMIT-7
#[test]
fn new_orders_that_only_claim_to_be_sent_again_are_delivered_at_twenty_times_the_limit_at_most() {
    for factor in [20, 1, 7] {
        let mut side = logged_on(|s| {
            (s.throttle.max_inbound_rate, s.throttle.max_resent_rate_factor) =
                ("5".parse().ok(), NonZeroU32::new(factor).unwrap());
        });
        assert_eq!(kinds(&side.say(0, "35=D|34=2002|11=o2002|")), "2");
        let mut socket = Socket::new(again(&side, 2..=2001));
        socket.read(&mut side, Duration::from_millis(3100));
        let most = 5 * factor as usize;
        assert!(socket.most_in(SECOND) <= most, "{}", socket.most_in(SECOND));
        assert!((3 * most - 3..=4 * most).contains(&socket.delivered.len()), "{}", socket.delivered.len());
        assert!(!socket.sent.contains('j'), "nothing is refused");
    }
}

// R-LIMIT-7
#[test]
fn an_honest_replay_arrives_whole_and_in_order_without_a_heartbeat_lost() {
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix] {
        let mut side = logged_on(|s| {
            (s.throttle.max_inbound_rate, s.compatibility) = ("5".parse().ok(), compatibility);
        });
        side.say(0, "35=D|34=2002|11=o2002|");
        let mut bytes = again(&side, 2..=2001);
        bytes.extend(side.wire(0, "35=1|34=2003|112=alive|"));
        bytes.extend(side.wire(0, "35=D|34=2004|11=o2004|"));
        let mut socket = Socket::new(bytes);
        socket.read(&mut side, Duration::from_secs(35));
        // What nobody requested has the limit's five besides.
        assert!(socket.is_empty() && socket.most_in(SECOND) <= 105, "{}", socket.most_in(SECOND));
        let all: Vec<_> = (2..=2002).chain([2004]).map(|n| format!("o{n}")).collect();
        assert_eq!(side.app.got, all);
        assert_eq!(socket.sent.matches('0').count(), 1, "the TestRequest is answered");
        assert_eq!(next_in(&side), 2005);
    }
}

#[test]
fn silence_that_the_pace_causes_is_not_held_against_the_counterparty() {
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix] {
        // One in ten minutes: between two messages there are twenty heartbeats.
        let mut side = logged_on(|s| {
            (s.throttle.max_inbound_rate, s.throttle.max_resent_rate_factor) =
                ("1/600000".parse().ok(), NonZeroU32::MIN);
            s.compatibility = compatibility;
        });
        side.say(0, "35=D|34=6|11=o6|");
        let mut socket = Socket::new(again(&side, 2..=5));
        socket.read(&mut side, Duration::from_secs(3 * 600 + 10));
        assert_eq!(side.app.got.len(), 5);
        assert!(!side.next(0).close);
        let paced = socket.delivered[3] - socket.delivered[0];
        assert_eq!(paced, Duration::from_secs(3 * 600));
        assert_eq!(socket.sent.matches('1').count(), 0, "{}", socket.sent);
        assert!(socket.sent.matches('0').count() >= 3 * 19, "{}", socket.sent);
    }
}

#[test]
fn a_number_is_exempt_once_and_one_beyond_what_was_requested_never() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = "2".parse().ok());
    side.say(0, "35=D|34=5|11=o5|");
    // 5 itself is kept, and counts.
    let bytes = again(&side, [2, 2, 2, 3, 3, 4, 4, 6, 7, 8].into_iter());
    let mut socket = Socket::new(bytes);
    socket.read(&mut side, Duration::from_millis(900));
    assert!(socket.is_empty());
    assert_eq!(side.app.got, ["o2", "o3", "o4", "o5", "o6"]);
    assert_eq!(socket.sent.matches('j').count(), 2, "{}", socket.sent);
}

#[test]
fn gaps_again_and_again_do_not_evade_the_pace() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = "5".parse().ok());
    // Each pair is a gap of one, which is requested.
    let mut bytes = Vec::new();
    for n in (2..4000).step_by(2) {
        bytes.extend(side.wire(0, &format!("35=D|34={}|11=o{}|", n + 1, n + 1)));
        bytes.extend(again(&side, n..=n));
    }
    let mut socket = Socket::new(bytes);
    socket.read(&mut side, Duration::from_millis(3900));
    assert!(socket.most_in(SECOND) <= 105, "{}", socket.most_in(SECOND));
    // Nor does another connection.
    side.disconnect(0);
    let next = next_in(&side);
    assert!(kinds(&side.log_on(0, next, "")).starts_with('A'));
    side.say(0, &format!("35=D|34={}|11=x|", next + 300));
    let before = socket.delivered.len();
    socket.bytes = again(&side, next + 1..next + 300);
    socket.consumed = 0;
    socket.read(&mut side, Duration::from_millis(1));
    assert!(socket.delivered.len() - before <= 1);
}

#[test]
fn a_message_that_the_application_puts_off_is_counted_once_by_the_pace() {
    use fixbolt_conformance::testing::Mood;
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = "5".parse().ok());
    side.say(0, "35=D|34=302|11=o302|");
    let mut socket = Socket::new(again(&side, 2..=301));
    side.app.mood = Mood::NotNow;
    socket.read(&mut side, Duration::from_secs(100));
    side.app.mood = Mood::Done;
    socket.read(&mut side, Duration::from_millis(3300));
    assert_eq!(side.app.got.len(), 301);
    assert!(socket.most_in(SECOND) <= 105, "{}", socket.most_in(SECOND));
}

#[test]
fn rejects_and_gap_fills_that_were_requested_are_read_at_twenty_times_the_rate_at_most() {
    for body in ["35=3|34={n}|43=Y|122={t}|45=1|", "35=4|34={n}|43=Y|122={t}|123=Y|36={m}|"] {
        let mut side = logged_on(|s| s.limits.max_session_message_rate = NonZeroU32::new(10));
        assert_eq!(kinds(&side.say(0, "35=D|34=20000|11=late|")), "2");
        let time = side.time();
        let mut bytes = Vec::new();
        for n in 2..8000u64 {
            let (this, next) = (n.to_string(), (n + 1).to_string());
            let text = body.replace("{n}", &this).replace("{m}", &next).replace("{t}", &time);
            bytes.extend(side.wire(0, &text));
        }
        let mut socket = Socket::new(bytes);
        socket.read(&mut side, Duration::from_secs(9));
        assert!(!side.next(0).close, "what was requested is not refused");
        let numbers = &socket.numbers;
        for (from, before) in numbers {
            let within = |at: &Mono| *at >= *from && *at - *from < SECOND;
            let last = numbers.iter().rfind(|(at, _)| within(at)).map_or(*before, |(_, next)| *next);
            assert!(last - before <= 200, "{body}: {} in a second", last - before);
        }
        assert!((1500..=2000).contains(&next_in(&side)), "{}", next_in(&side));
    }
}

#[test]
fn what_the_reorder_buffer_dropped_was_requested_too() {
    let mut side = logged_on(|s| {
        (s.throttle.max_inbound_rate, s.limits.reorder_buffer_size) = ("5".parse().ok(), 1000);
    });
    assert_eq!(kinds(&side.say(0, "35=D|34=10|11=o10|")), "2");
    // They come while our request is on its way, and the buffer has room for few.
    for n in 11..60 {
        side.pass(Duration::from_millis(200));
        side.say(0, &format!("35=D|34={n}|11=o{n}|"));
    }
    let mut answers = String::new();
    for n in 2..60 {
        side.pass(Duration::from_millis(1));
        let bytes = again(&side, n..=n);
        side.hear(0, &bytes);
        answers += &kinds(&side.take(0));
    }
    assert_eq!(answers, "8".repeat(58));
    assert_eq!(side.app.got.len(), 58);
    // A number after the last of them was not requested.
    let bytes = again(&side, 60..=70);
    side.hear(0, &bytes);
    assert!(kinds(&side.take(0)).ends_with("jjjjj"));
}

#[test]
fn our_own_replay_goes_on_while_the_pace_stops_reading() {
    let mut side = logged_on(|s| {
        (s.throttle.max_inbound_rate, s.throttle.max_resent_rate_factor) =
            ("10/60000".parse().ok(), NonZeroU32::MIN);
        s.resend.max_replay_rate = NonZeroU32::new(100);
    });
    for n in 0..200 {
        side.send(0, &format!("x{n}"), 10).unwrap();
        side.take(0);
    }
    let mut bytes = side.wire(0, "35=2|34=500|7=1|16=0|");
    bytes.extend(again(&side, 2..=199));
    let mut socket = Socket::new(bytes);
    socket.read(&mut side, Duration::from_secs(4));
    assert_eq!(side.app.got.len(), 10);
    assert!(side.next(0).read == Read::Nothing);
    assert_eq!(socket.sent.matches('D').count(), 200, "{}", socket.sent);
}

/// A session that has sent its Logout while it reads a replay of 2,000 messages, with `more` after
/// them, and the settings of `change`.
fn leaving(more: &str, change: impl FnOnce(&mut SessionSettings)) -> (Side, Socket) {
    let mut side = logged_on(|s| {
        s.throttle.max_inbound_rate = "5".parse().ok();
        change(s);
    });
    side.say(0, "35=D|34=2002|11=o2002|");
    let mut bytes = again(&side, 2..=2001);
    if !more.is_empty() {
        bytes.extend(side.wire(0, more));
    }
    let mut socket = Socket::new(bytes);
    socket.read(&mut side, Duration::from_millis(10));
    assert!(side.next(0).read == Read::Nothing);
    side.log_out(0, "bye").unwrap();
    (side, socket)
}

#[test]
fn the_answer_to_our_logout_is_found_behind_what_comes_too_fast_and_the_rest_is_requested_next_time() {
    for limit in ["5", "1/3600000"] {
        let (mut side, mut socket) =
            leaving("35=5|34=2003|", |s| s.throttle.max_inbound_rate = limit.parse().ok());
        socket.read(&mut side, Duration::from_secs(60));
        assert!(socket.is_empty());
        assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
        let (before, next) = (side.app.got.len(), next_in(&side));
        assert_eq!(next, before as u64 + 2, "what was not delivered has not used its number");
        side.log_on(0, 2004, "");
        let mut bytes = again(&side, next..=2001);
        bytes.extend(side.wire(0, "35=4|34=2002|43=Y|123=Y|36=2005|"));
        let mut socket = Socket::new(bytes);
        socket.read(&mut side, Duration::from_secs(30));
        if limit == "5" {
            assert_eq!(next_in(&side), 2005);
            let all: Vec<_> = (2..=2001).map(|n| format!("o{n}")).collect();
            assert_eq!(side.app.got, all);
        }
    }
}

#[test]
fn a_counterparty_that_goes_on_after_our_logout_evades_no_pace_and_holds_nothing_up() {
    let (mut side, mut socket) = leaving("", |_| {});
    let mut next = 2003;
    let before = side.app.got.len();
    for _ in 0..40 {
        // More of what was requested, new orders, and TestRequests.
        socket.bytes.extend(again(&side, next_in(&side)..=next_in(&side) + 20));
        for body in ["35=D|34={n}|11=x|", "35=1|34={n}|112=x|"] {
            socket.bytes.extend(side.wire(0, &body.replace("{n}", &next.to_string())));
            next += 1;
        }
        if side.next(0).close {
            break;
        }
        socket.read(&mut side, Duration::from_millis(100));
    }
    assert!(side.app.got.len() - before <= 100 && socket.most_in(SECOND) <= 105);
    assert!(!socket.sent.contains('2'), "nothing is requested any more: {}", socket.sent);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogoutTimedOut));
}

#[test]
fn after_our_logout_a_resend_request_behind_what_comes_too_fast_is_answered() {
    let (mut side, mut socket) = leaving("35=2|34=2003|7=1|16=0|", |_| {});
    socket.read(&mut side, Duration::from_millis(100));
    assert!(socket.is_empty() && side.phase(0) == Phase::LogoutSent);
    assert!(socket.sent.contains('4') && !socket.sent.contains('2'), "{}", socket.sent);
    side.say(0, "35=5|34=2004|");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
}

// R-LOGOUT-13
#[test]
fn what_a_reset_after_the_logout_would_lose_is_read_at_its_pace_for_half_of_the_time() {
    for change in [(|s| s.reset.reset_on_logout = true) as fn(&mut SessionSettings), |s| {
        s.reset.reset_on_disconnect = true
    }] {
        let (mut side, mut socket) = leaving("35=5|34=2003|", change);
        socket.read(&mut side, Duration::from_millis(900));
        assert!(!socket.is_empty() && side.next(0).read == Read::Nothing, "it is read at the pace");
        socket.read(&mut side, Duration::from_millis(200));
        assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
        assert_eq!(side.numbers(0), Some((SeqNum(1), SeqNum(1))));
        let lost = "are lost, because the sequence numbers are reset: they were requested, and come too fast";
        assert!(side.app.notes.iter().any(|note| note.contains(lost)), "{:?}", side.app.notes);
    }
}

#[test]
fn a_gap_fill_far_ahead_requests_nothing() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = "5".parse().ok());
    assert_eq!(kinds(&side.say(0, "35=0|34=3|")), "2");
    assert_eq!(kinds(&side.say(0, "35=4|34=1000000000000|123=Y|36=1000000000001|")), "");
    // The gap is closed, and a PossDupFlag changes nothing.
    side.say(0, "35=0|34=2|");
    let bytes = again(&side, 4..=14);
    side.hear(0, &bytes);
    assert_eq!(kinds(&side.take(0)), "88888jjjjjj");
}
