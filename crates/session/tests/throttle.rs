//! How many messages an application may send in a window, and what happens to those that are one
//! too many.

use std::time::Duration;

use fixbolt_codec::{BodySink, Key, MsgType, NewBody, SeqNum};
use fixbolt_conformance::testing::{Side, kinds, report, settings};
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::{
    Accepted, Mono, OutboundThrottle, Phase, Rate, Read, ReplayInterleave, Role, SendError, SessionEnd,
    SessionKey, SessionSettings, WhileLoggedOff,
};

const KEY: SessionKey = session_key(0, 0, 0);

fn rate(text: &str) -> Option<Rate> {
    Some(text.parse().unwrap())
}

fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let mut side = Side::new(vec![settings("PEER", Role::Acceptor).with(change)]);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side
}

/// Sends a message of this type from the application.
fn send(side: &mut Side, msg_type: &[u8]) -> Result<Accepted, SendError> {
    side.act(0, |turn| {
        let mut draft = turn.session().draft(MsgType::new(msg_type));
        draft.writer().bytes(Key::new(58), b"text");
        draft.send()
    })
}

/// Returns a session that is logged on and refuses what its throttle does not allow.
fn refusing(change: impl FnOnce(&mut SessionSettings)) -> Side {
    logged_on(|s| {
        s.throttle.outbound_throttle = OutboundThrottle::Refuse;
        change(s);
    })
}

/// Sends a message that the throttle of the session refuses.
fn is_refused(side: &mut Side, msg_type: &[u8]) -> bool {
    matches!(send(side, msg_type), Err(SendError::Throttled { .. }))
}

/// Sends orders until the throttle refuses one, or has it wait; returns how many have a number.
fn fill(side: &mut Side) -> usize {
    (0..).find(|_| !matches!(send(side, b"D"), Ok(Accepted::Numbered(_)))).unwrap()
}

/// Has the socket accept what is queued, without a call that goes on.
fn written(side: &mut Side) -> Vec<String> {
    let bytes = side.write(0, usize::MAX);
    let text = String::from_utf8(bytes).unwrap().replace('\x01', "|");
    text.split_inclusive("|10=").filter(|part| part.contains("|35=")).map(str::to_owned).collect()
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn one_message_more_waits_until_the_first_one_is_a_window_old() {
    let mut side = refusing(|s| s.throttle.max_outbound_rate = rate("3/100"));
    for _ in 0..3 {
        send(&mut side, b"8").unwrap();
        side.take(0);
        side.pass(millis(10));
    }
    assert!(is_refused(&mut side, b"8"));
    let began = side.now.mono;
    assert_eq!(side.next(0).deadline, Some(began + millis(70)));
    side.pass(Duration::from_nanos(69_999_999));
    assert!(is_refused(&mut side, b"8"));
    side.pass(Duration::from_nanos(1));
    send(&mut side, b"8").unwrap();
    assert!(is_refused(&mut side, b"8"), "the second is younger");
}

#[test]
fn a_message_that_the_socket_has_not_accepted_keeps_its_place() {
    let mut side = refusing(|s| s.throttle.max_outbound_rate = rate("2/100"));
    assert_eq!(fill(&mut side), 2);
    side.pass(millis(10_000));
    assert_eq!(fill(&mut side), 0);
    assert!(side.next(0).deadline > Some(side.now.mono), "there is nothing to wake for");
    // All but the last byte: the last message is not there.
    let queued = side.writable(0).len();
    side.written(0, queued - 1);
    assert_eq!(side.next(0).deadline, Some(mono(0)), "there is something to wake for");
    side.pass(millis(100));
    assert_eq!(fill(&mut side), 1);
}

#[test]
fn a_message_is_refused_with_the_time_after_which_it_is_accepted() {
    let mut side = logged_on(|s| {
        (s.throttle.max_outbound_rate, s.throttle.outbound_throttle) = (rate("2"), OutboundThrottle::Refuse);
    });
    let again_in = |millis| Err(SendError::Throttled { again_in: Duration::from_millis(millis) });
    assert_eq!(fill(&mut side), 2);
    side.take(0);
    side.pass(millis(300));
    assert_eq!(send(&mut side, b"D"), again_in(700));
    side.pass(millis(699));
    assert_eq!(send(&mut side, b"D"), again_in(1));
    side.pass(millis(1));
    assert_eq!(fill(&mut side), 2);
    side.take(0);
    assert_eq!(send(&mut side, b"D"), again_in(1000));
}

#[test]
fn orders_have_a_limit_of_their_own_and_count_for_the_other_one_too() {
    let mut side = refusing(|s| {
        (s.throttle.max_outbound_rate, s.throttle.max_order_rate) = (rate("5"), rate("2"));
    });
    assert_eq!(fill(&mut side), 2);
    for order in [&b"F"[..], b"G", b"AB", b"s", b"q"] {
        assert!(is_refused(&mut side, order));
    }
    for _ in 0..3 {
        send(&mut side, b"V").unwrap();
    }
    assert!(is_refused(&mut side, b"V"));
    let mut side = refusing(|s| s.throttle.max_order_rate = rate("1"));
    assert_eq!(fill(&mut side), 1);
    assert!((0..100).all(|_| send(&mut side, b"8").is_ok()), "what is no order has no limit");
}

#[test]
fn the_session_layer_is_never_held_up() {
    let mut side = logged_on(|s| s.throttle.max_outbound_rate = rate("1/3600000"));
    assert_eq!(fill(&mut side), 1);
    assert_eq!(side.numbers(0).unwrap().1, SeqNum(3), "one more waits");
    assert_eq!(kinds(&side.say(0, "35=1|34=2|112=x|")), "D0");
    side.pass(Duration::from_secs(30));
    side.wake(0, &[]);
    assert_eq!(kinds(&side.take(0)), "0");
    assert_eq!(kinds(&side.say(0, "35=5|34=3|")), "5");
}

#[test]
fn a_message_whose_answer_has_to_wait_is_offered_again_if_the_throttle_refuses() {
    {
        let mut side = refusing(|s| s.throttle.max_outbound_rate = rate("2/100"));
        let mut bytes: Vec<u8> =
            (2..7).flat_map(|n| side.wire(0, &format!("35=D|34={n}|11=o{n}|"))).collect();
        let mut times = Vec::new();
        let began = side.now.mono;
        let used = side.hear(0, &bytes);
        bytes.drain(..used);
        for _ in 0..100 {
            times.extend(written(&mut side).iter().map(|_| (side.now.mono - began).as_millis()));
            if times.len() == 5 {
                break;
            }
            // Once after a write it can go on, as there may be room.
            if side.next(0).deadline == Some(mono(0)) {
                let used = side.wake(0, &bytes);
                bytes.drain(..used);
            }
            assert!(side.next(0).read == Read::Nothing);
            // Not only the usual time after which it would be asked.
            let due = side.next(0).deadline.unwrap();
            assert!(due > side.now.mono, "it is asked without end");
            side.pass(due - side.now.mono);
            let used = side.wake(0, &bytes);
            bytes.drain(..used);
        }
        assert_eq!(times, [0, 0, 100, 100, 200]);
        assert_eq!(side.app.got, ["o2", "o3", "o4", "o5", "o6"]);
        assert!(bytes.is_empty() && side.app.notes.is_empty(), "{:?}", side.app.notes);
    }
}

#[test]
fn what_is_written_to_another_session_waits_for_that_sessions_window() {
    let all = vec![
        settings("TRADER", Role::Acceptor),
        settings("COPY", Role::Acceptor).with(|s| s.throttle.max_outbound_rate = rate("1/100")),
    ];
    let mut side = Side::new(all);
    let copy = session_key(0, 1, 1);
    side.log_on(0, 1, "");
    side.log_on(1, 1, "");
    side.app.copies_to = Some(copy);
    assert_eq!(kinds(&side.say(0, "35=D|34=2|11=a|")), "8");
    assert_eq!(kinds(&side.take(1)), "8");
    assert_eq!(kinds(&side.say(0, "35=D|34=3|11=b|")), "8", "only the copy waits");
    assert_eq!(kinds(&side.take(1)), "");
    assert_eq!(side.next(1).deadline, Some(side.now.mono + millis(100)));
    side.pass(millis(100));
    side.wake(1, &[]);
    assert_eq!(kinds(&side.take(1)), "8");
}

#[test]
fn a_turn_that_needs_more_than_a_window_can_never_be_sent_and_is_not_tried_for_ever() {
    let mut side = refusing(|s| s.throttle.max_outbound_rate = rate("2"));
    let sent = side.act(0, |turn| {
        for _ in 0..3 {
            report(turn.session(), b"x")?;
        }
        Ok::<_, SendError>(())
    });
    assert_eq!(sent, Err(SendError::TooMany { limit: 2 }));
    assert_eq!(fill(&mut side), 2, "what was rolled back has no place");
}

#[test]
fn a_message_whose_answer_can_never_be_sent_is_rejected() {
    let all = vec![settings("TRADER", Role::Acceptor).with(|s| {
        (s.throttle.max_outbound_rate, s.throttle.outbound_throttle) = (rate("1"), OutboundThrottle::Refuse);
    })];
    let mut side = Side::new(all);
    side.app.copies_to = Some(KEY);
    side.log_on(0, 1, "");
    let answer = side.say(0, "35=D|34=2|11=a|");
    assert_eq!(kinds(&answer), "j");
    assert!(
        answer[0].contains("|58=the answer is more than the 1 messages that the session may send"),
        "{answer:?}"
    );
    assert!(!side.next(0).close);
}

#[test]
fn a_rollback_gives_the_places_back() {
    let mut side =
        refusing(|s| (s.throttle.max_outbound_rate, s.throttle.max_order_rate) = (rate("3"), rate("2")));
    send(&mut side, b"D").unwrap();
    let before = side.sessions().snapshot(KEY);
    for _ in 0..10 {
        let failed = side.act(0, |turn| {
            report(turn.session(), b"x")?;
            report(turn.session(), b"y")?;
            Err::<(), _>(SendError::Application("no"))
        });
        assert_eq!(failed, Err(SendError::Application("no")));
        assert_eq!(side.sessions().snapshot(KEY), before);
    }
    side.take(0);
    assert_eq!(fill(&mut side), 1);
    send(&mut side, b"8").unwrap();
    assert!(is_refused(&mut side, b"8"));
}

#[test]
fn the_window_goes_on_over_connections_and_resets() {
    for resets in [false, true] {
        let mut side = refusing(|s| {
            (s.throttle.max_outbound_rate, s.reset.reset_on_logon) = (rate("2"), resets);
        });
        assert_eq!(fill(&mut side), 2);
        side.take(0);
        side.pass(millis(400));
        side.disconnect(0);
        side.log_on(0, if resets { 1 } else { 2 }, if resets { "141=Y|" } else { "" });
        assert_eq!(side.phase(0), Phase::LoggedOn);
        assert_eq!(fill(&mut side), 0);
        side.pass(millis(600));
        assert_eq!(fill(&mut side), 2);
        // These are never sent: they have no place in the next connection.
        side.disconnect(0);
        let next = side.numbers(0).unwrap().0;
        let seq = if resets { 1 } else { next.0 };
        side.log_on(0, seq, if resets { "141=Y|" } else { "" });
        assert_eq!(fill(&mut side), 2);
    }
}

#[test]
fn messages_that_are_sent_again_do_not_count_and_new_ones_follow_within_the_limit() {
    {
        let mut side = refusing(|s| s.throttle.max_outbound_rate = rate("20/100"));
        for _ in 0..5 {
            assert_eq!(fill(&mut side), 20);
            side.take(0);
            side.pass(millis(100));
        }
        let request = side.wire(0, "35=2|34=2|7=2|16=0|");
        side.hear(0, &request);
        assert!(side.is_replaying(0));
        // As many wait as have a place.
        assert_eq!(fill(&mut side), 20);
        let new = side.take(0).iter().filter(|m| !m.contains("|43=Y|")).count();
        assert_eq!((new, fill(&mut side)), (20, 0));
        side.pass(millis(100));
        assert_eq!(fill(&mut side), 20);
    }
}

#[test]
fn what_waits_for_the_end_of_a_replay_is_sent_as_the_window_allows() {
    let mut side = refusing(|s| {
        (s.throttle.max_outbound_rate, s.resend.while_logged_off) = (rate("4/100"), WhileLoggedOff::Keep);
    });
    for _ in 0..20 {
        side.pass(millis(100));
        assert_eq!(fill(&mut side), 4);
        side.take(0);
    }
    let request = side.wire(0, "35=2|34=2|7=2|16=0|");
    side.hear(0, &request);
    // The replay began right after four new messages.
    assert_eq!(fill(&mut side), 4);
    let began = side.now.mono;
    let mut times = Vec::new();
    for _ in 0..1000 {
        let new = side.step(0).iter().filter(|m| !m.contains("|43=Y|")).count();
        times.extend(std::iter::repeat_n((side.now.mono - began).as_millis(), new));
        if times.len() == 4 && !side.is_replaying(0) {
            break;
        }
        if !side.next(0).output {
            let due = side.next(0).deadline.unwrap();
            assert!(due > side.now.mono || side.is_replaying(0));
            side.pass(due - side.now.mono);
            side.wake(0, &[]);
        }
    }
    assert_eq!(times, [100; 4]);
    assert_eq!(fill(&mut side), 0);
}

#[test]
fn an_answer_that_waits_behind_a_replay_is_not_asked_for_without_end() {
    let mut side = refusing(|s| s.throttle.max_outbound_rate = rate("1/100"));
    for _ in 0..60 {
        side.pass(millis(100));
        assert_eq!(fill(&mut side), 1);
        side.take(0);
    }
    let bytes = side.wire(0, "35=2|34=2|7=2|16=0|");
    side.hear(0, &bytes);
    let orders = [3, 4, 5].map(|n| side.wire(0, &format!("35=D|34={n}|11=o{n}|"))).concat();
    let mut left = orders.clone();
    let used = side.hear(0, &left);
    left.drain(..used);
    let began = side.now.mono;
    let (mut wakes, mut reports) = (0, 0);
    loop {
        let sent = written(&mut side);
        reports += sent.iter().filter(|m| m.contains("|35=8|")).count();
        if reports == 3 {
            break;
        }
        let due = side.next(0).deadline.unwrap();
        side.pass(due - side.now.mono);
        let used = side.wake(0, &left);
        left.drain(..used);
        wakes += 1;
        assert!(wakes < 100, "{} reports after {:?}", reports, side.now.mono - began);
    }
    assert_eq!(side.app.got, ["o3", "o4", "o5"]);
    assert_eq!(side.now.mono - began, millis(300));
}

#[test]
fn a_logout_follows_what_waits_for_its_window() {
    let mut side = refusing(|s| s.throttle.max_outbound_rate = rate("2/100"));
    for _ in 0..60 {
        side.pass(millis(100));
        assert_eq!(fill(&mut side), 2);
        side.take(0);
    }
    let request = side.wire(0, "35=2|34=2|7=2|16=0|");
    side.hear(0, &request);
    assert_eq!(fill(&mut side), 2);
    side.log_out(0, "").unwrap();
    let mut new = String::new();
    for _ in 0..1000 {
        let sent = side.step(0);
        new.push_str(&kinds(&sent.into_iter().filter(|m| !m.contains("|43=Y|")).collect::<Vec<_>>()));
        if new.ends_with('5') {
            break;
        }
        if !side.next(0).output {
            let due = side.next(0).deadline.unwrap();
            side.pass(due - side.now.mono);
            side.wake(0, &[]);
        }
        assert!(!side.next(0).close, "after {new}");
    }
    assert_eq!(new, "DD5");
    let logout = side.wire(0, "35=5|34=3|");
    side.hear(0, &logout);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
}

/// A generator of numbers below `most`.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// A counterparty that reads what it likes, requests messages again and loses connections, and an
/// application that sends as fast as it can.
fn run(seed: u64) -> usize {
    let mut random = Random(seed);
    let r = &mut random;
    let limits = [1 + r.below(8), 1 + r.below(8)].map(|n| n as u32);
    let windows = [1 + r.below(30), 1 + r.below(30)].map(millis);
    let [messages, orders] = [0, 1].map(|n| Rate::new(limits[n], windows[n]));
    let interleave = [ReplayInterleave::None, ReplayInterleave::All][r.below(2) as usize];
    let throttle = [OutboundThrottle::Wait, OutboundThrottle::Refuse][r.below(2) as usize];
    let mut side = logged_on(|s| {
        (s.throttle.max_outbound_rate, s.throttle.max_order_rate) = (messages, orders);
        (s.throttle.outbound_throttle, s.resend.replay_interleave) = (throttle, interleave);
        s.limits.outbound_buffer_size = 16 * 1024;
    });
    side.written(0, usize::MAX / 2);
    let mut wire = Vec::new();
    // When the socket has accepted the last byte of each new message.
    let mut accepted: [Vec<Mono>; 2] = [Vec::new(), Vec::new()];
    let mut next_in = 2;
    for _ in 0..3000 {
        side.pass(Duration::from_micros(r.below(4) * 500));
        match r.below(60) {
            0 => {
                let begin = 1 + r.below(side.numbers(0).unwrap().1.0);
                let request = side.wire(0, &format!("35=2|34={next_in}|7={begin}|16=0|"));
                side.hear(0, &request);
            }
            1 if r.below(4) == 0 => {
                side.disconnect(0);
                wire.clear();
                next_in = side.numbers(0).unwrap().0.0;
                side.connect(0);
                let logon = side.wire(0, &format!("35=A|34={next_in}|98=0|108=30|"));
                side.hear(0, &logon);
            }
            2 => {
                let fails = side.act(0, |turn| {
                    report(turn.session(), b"x")?;
                    Err::<(), _>(SendError::Application("no"))
                });
                assert!(fails.is_err());
            }
            3..=40 => drop(send(&mut side, [&b"D"[..], b"8"][r.below(2) as usize])),
            41..=55 => {
                let bytes = side.writable(0);
                let taken = (r.below(600) as usize).min(bytes.len());
                wire.extend_from_slice(&bytes[..taken]);
                side.written(0, taken);
                let text = String::from_utf8_lossy(&wire).replace('\x01', "|");
                let mut at = 0;
                while let Some(end) = text[at..].find("|10=").map(|end| at + end + 8)
                    && end <= text.len()
                {
                    let message = &text[at..end];
                    let is_order = message.contains("|35=D|");
                    if (is_order || message.contains("|35=8|")) && !message.contains("|43=Y|") {
                        accepted[0].push(side.now.mono);
                        accepted[1].extend(is_order.then_some(side.now.mono));
                    }
                    at = end;
                }
                wire.drain(..at);
                side.wake(0, &[]);
            }
            _ => drop(side.wake(0, &[])),
        }
        next_in = side.numbers(0).unwrap().0.0;
        assert!(!side.next(0).close, "seed {seed}: {:?}", side.disconnect(0));
    }
    for n in 0..2 {
        let most = limits[n] as usize;
        for times in accepted[n].windows(most + 1) {
            let within = times[most] - times[0];
            assert!(within >= windows[n], "seed {seed}: {} messages in {within:?}", most + 1);
        }
    }
    accepted[0].len()
}

// R-LIMIT-5
#[test]
fn the_socket_never_accepts_more_in_a_window_whatever_happens() {
    let sent: usize = (0..60).map(run).sum();
    assert!(sent > 5000, "{sent}");
}

/// An answer of two messages needs two permits, and one is free: it is asked again when the second
/// is, not at once and again and again.
#[test]
fn an_answer_of_two_messages_for_which_one_permit_is_free_is_not_asked_for_without_end() {
    {
        let mut side = refusing(|s| s.throttle.max_outbound_rate = rate("2/10000"));
        // Each message is answered with two.
        side.app.copies_to = Some(session_key(0, 0, 0));
        send(&mut side, b"8").unwrap();
        assert_eq!(kinds(&side.take(0)), "8");
        let order = side.wire(0, "35=D|34=2|11=a|");
        assert_eq!(side.hear(0, &order), 0, "it waits");
        let mut woken = 0;
        while side.next(0).deadline.is_some_and(|at| at <= side.now.mono) && woken < 1000 {
            assert_eq!(side.wake(0, &order), 0);
            woken += 1;
        }
        assert!(woken < 3, "it was asked {woken} times at once, and asks for {:?}", side.next(0));
    }
}

/// A drop copy's session is closing with a full outbox, after an order of it was refused by a
/// throttle that has room by now: the session that writes to it does not ask without end.
#[test]
fn a_session_that_is_closing_is_not_asked_for_room_without_end() {
    let all = vec![
        settings("TRADER", Role::Acceptor),
        settings("COPY", Role::Acceptor).with(|s| {
            (s.throttle.max_order_rate, s.limits.outbound_buffer_size) = (rate("1/100"), 16 << 10);
            s.throttle.outbound_throttle = OutboundThrottle::Refuse;
        }),
    ];
    let mut side = Side::new(all).logged_on();
    side.app.copies_to = Some(session_key(0, 1, 1));
    side.send(1, "a", 10).unwrap();
    side.take(1);
    let refused = Err(SendError::Throttled { again_in: Duration::from_millis(100) });
    assert_eq!(side.send(1, "b", 10), refused);
    for size in [1000, 1] {
        while side
            .act(1, |turn| {
                let mut draft = turn.session().draft(MsgType::new(b"8"));
                draft.writer().bytes(Key::new(58), &vec![b'x'; size]);
                draft.send()
            })
            .is_ok()
        {}
    }
    // Its application fails, and its counterparty reads nothing.
    let _: Result<(), _> = side.act(1, |_| panic!("application bug"));
    assert!(side.next(1).close && side.next(1).output);
    side.pass(Duration::from_millis(200));
    let order = side.wire(0, "35=D|34=2|11=a|");
    assert_eq!(side.hear(0, &order), 0, "the copy has no room");
    let mut woken = 0;
    while woken < 1000 {
        let due: Vec<_> =
            (0..2).filter(|n| side.next(*n).deadline.is_some_and(|at| at <= side.now.mono)).collect();
        if due.is_empty() {
            break;
        }
        woken += 1;
        for n in due {
            side.wake(n, if n == 0 { &order } else { &[] });
        }
    }
    assert!(woken < 3, "woken {woken} times at once: {:?}", side.next(0));
}
