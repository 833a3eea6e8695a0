//! How messages are sent again: how fast, and what is sent between them.

use std::num::NonZeroU32;
use std::time::Duration;

use fixbolt_codec::{BodySink, Key, MsgType, NewBody, SeqNum};
use fixbolt_conformance::testing::{Mood, Side, kinds, messages, settings};
use fixbolt_journal::MemoryStore;
use fixbolt_session::store::{Generation, Intercept, Intercepted, SessionKey};
use fixbolt_session::{Misbehavior, ReplayInterleave, Role, SessionEnd, SessionSettings};

/// A session that has sent `orders` orders since its Logon: MsgSeqNum 2 and on.
fn side(orders: u32, change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", Role::Acceptor).with(change);
    let mut side = Side::new(vec![settings]);
    side.log_on(0, 1, "");
    for order in 0..orders {
        side.send(0, &format!("o{order}"), 1).unwrap();
    }
    side.take(0);
    side
}

/// Returns MsgType and MsgSeqNum of each message; a `!` follows one that is not sent again.
fn brief(messages: &[String]) -> String {
    let value = |message: &str, tag: &str| {
        message.split(&format!("|{tag}=")).nth(1).and_then(|rest| rest.split('|').next()).map(str::to_owned)
    };
    let shown = messages.iter().map(|message| {
        let new = if value(message, "43").as_deref() == Some("Y") { "" } else { "!" };
        format!("{}{}{new}", value(message, "35").unwrap(), value(message, "34").unwrap())
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Has a counterparty request 200 orders, and another order and the answer to a TestRequest written
/// meanwhile. Returns all that is sent.
fn interleaved(interleave: ReplayInterleave) -> String {
    let mut side = side(200, |s| s.resend.replay_interleave = interleave);
    side.tell(0, "35=2|34=2|7=2|16=0|");
    let mut all = side.step(0);
    assert!(side.is_replaying(0));
    side.send(0, "new", 1).unwrap();
    side.tell(0, "35=1|34=3|112=x|");
    side.send(0, "newer", 1).unwrap();
    all.extend(side.take(0));
    // Every number is sent once, and none is left behind.
    assert_eq!(brief(&side.say(0, "35=1|34=4|112=y|")), "0205!");
    brief(&all)
}

// R-RESEND-7
#[test]
fn new_messages_follow_a_replay_unless_the_session_lets_them_through() {
    let run = |from: u32, to: u32| (from..=to).map(|seq| format!("D{seq}")).collect::<Vec<_>>().join(" ");
    assert_eq!(interleaved(ReplayInterleave::None), format!("{} D202! 0203! D204!", run(2, 201)));
    let heartbeats = interleaved(ReplayInterleave::Heartbeats);
    let (before, after) = heartbeats.split_once(" 0203! ").unwrap();
    // Whoever has not kept what was let through gets a gap fill in its turn.
    assert_eq!(format!("{before} {after}"), format!("{} D202! 4203 D204!", run(2, 201)));
    assert!(after.contains("D201 "), "{heartbeats}");
    let all = interleaved(ReplayInterleave::All);
    let (before, after) = all.split_once(" D202! ").unwrap();
    assert!(after.contains("0203! ") && after.contains("D204! ") && after.ends_with("D201"), "{all}");
    assert_eq!(format!("{before} {}", after.replace("0203! ", "").replace("D204! ", "")), run(2, 201));
}

// R-RESEND-7
#[test]
fn a_logout_never_overtakes_a_replay() {
    for interleave in [ReplayInterleave::None, ReplayInterleave::Heartbeats, ReplayInterleave::All] {
        let mut side = side(40, |s| s.resend.replay_interleave = interleave);
        side.tell(0, "35=2|34=2|7=2|16=0|");
        let mut all = side.step(0);
        side.send(0, "new", 1).unwrap();
        side.log_out(0, "bye").unwrap();
        all.extend(side.take(0));
        let all = brief(&all);
        assert!(all.ends_with("D41 D42! 543!") || all.ends_with("D41 543!"), "{interleave:?}: {all}");
        assert_eq!(all.matches("D42!").count(), 1, "{interleave:?}: {all}");
    }
}

#[test]
fn a_call_sends_at_most_16_messages_again_also_the_one_that_reads_the_request() {
    let mut side = side(40, |_| ());
    side.tell(0, "35=2|34=2|7=2|16=0|");
    // After the call that has read the request, there is a second one: it reads again.
    let pieces = std::iter::repeat_with(|| side.step(0).len()).take(2).collect::<Vec<_>>();
    assert_eq!(pieces, [2 * 16, 8]);
}

// R-RESEND-8
#[test]
fn heartbeats_that_were_let_through_are_gap_filled_in_their_turn() {
    let mut side = side(199, |s| s.resend.replay_interleave = ReplayInterleave::Heartbeats);
    side.tell(0, "35=2|34=2|7=2|16=0|");
    side.step(0);
    side.tell(0, "35=1|34=3|112=x|");
    side.send(0, "new", 1).unwrap();
    side.tell(0, "35=1|34=4|112=y|");
    side.send(0, "newer", 1).unwrap();
    let through = brief(&side.step(0));
    assert!(through.contains("0201!") && through.contains("0203!"), "{through}");
    // The counterparty keeps nothing that arrives before its turn, and asks for it too early.
    side.tell(0, "35=2|34=5|7=190|16=0|");
    let all = brief(&side.take(0));
    assert!(all.ends_with("D199 D200 4201 D202! 4203 D204!"), "{all}");
}

#[test]
fn what_was_let_through_is_sent_again_like_any_other_message() {
    let mut side = side(40, |s| s.resend.replay_interleave = ReplayInterleave::All);
    side.tell(0, "35=2|34=2|7=2|16=0|");
    side.step(0);
    side.send(0, "new", 1).unwrap();
    // The counterparty had no room to keep the message that arrived before its turn.
    side.tell(0, "35=2|34=3|7=30|16=0|");
    let all = brief(&side.take(0));
    assert!(all.ends_with("D40 D41 D42"), "{all}");
}

// R-RESEND-10
#[test]
fn a_replay_is_as_fast_as_it_may_be_and_other_messages_do_not_wait_for_it() {
    let mut side = side(400, |s| s.resend.max_replay_rate = NonZeroU32::new(100));
    side.tell(0, "35=2|34=2|7=2|16=201|");
    let mut sent = 0;
    let began = side.now.mono;
    for _ in 0..10_000 {
        sent += side.step(0).len();
        if !side.is_replaying(0) {
            break;
        }
        if !side.next(0).output {
            let due = side.next(0).deadline.unwrap();
            // Timers have a resolution of a millisecond.
            side.pass((due - side.now.mono).max(Duration::from_millis(1)));
        }
    }
    sent += side.take(0).len();
    assert_eq!(sent, 200);
    let took = side.now.mono - began;
    assert!((Duration::from_millis(1950)..Duration::from_millis(2050)).contains(&took), "{took:?}");
    // Messages that waited for the replay are not slowed down: 300 follow at once.
    side.tell(0, "35=2|34=3|7=2|16=2|");
    for _ in 0..300 {
        side.send(0, "new", 1).unwrap();
    }
    side.pass(Duration::from_millis(20));
    assert_eq!(kinds(&side.take(0)).len(), 1 + 300);
}

/// A store that finds no message before it was asked for one so often.
struct Slow(u32);

impl Intercept<MemoryStore> for Slow {
    fn seek(&mut self, _: &mut MemoryStore, _: SessionKey, _: Generation, _: SeqNum) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 == 0
    }
}

// R-RESEND-15
#[test]
fn while_a_store_looks_for_a_message_everything_else_goes_on() {
    let store = Intercepted::new(MemoryStore::new(), Slow(20));
    let mut side = Side::on_store(Box::new(store), vec![settings("PEER", Role::Acceptor)]);
    side.log_on(0, 1, "");
    for order in 0..3 {
        side.send(0, &format!("o{order}"), 1).unwrap();
    }
    side.take(0);
    let began = side.now.mono;
    side.tell(0, "35=2|34=2|7=2|16=3|");
    assert_eq!(brief(&side.step(0)), "");
    assert!(side.is_replaying(0));
    side.tell(0, "35=0|34=3|");
    side.send(0, "new", 1).unwrap();
    let mut sent = Vec::new();
    while side.is_replaying(0) {
        let due = side.next(0).deadline.unwrap();
        assert!(due - began < Duration::from_secs(1), "it is forgotten");
        side.pass((due - side.now.mono).max(Duration::from_millis(1)));
        sent.extend(side.step(0));
    }
    sent.extend(side.take(0));
    assert_eq!(brief(&sent), "D2 D3 D5!");
    let took = side.now.mono - began;
    assert!((Duration::from_millis(18)..Duration::from_millis(25)).contains(&took), "{took:?}");
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(4));
}

/// Returns how often a counterparty is asked for what is missing before `first`, of which it sends
/// nothing, until the session logs out.
fn requests(side: &mut Side, first: u64) -> usize {
    let mut asked = 0;
    for seq in first..first + 10 {
        match kinds(&side.say(0, &format!("35=0|34={seq}|"))).as_str() {
            "2" => asked += 1,
            "5" => break,
            "" => {}
            other => panic!("{other}"),
        }
        side.pass(Duration::from_secs(31));
    }
    asked
}

// R-GAP-7
#[test]
fn what_never_comes_is_requested_three_times_and_then_once_in_each_connection() {
    let mut side = side(0, |_| {});
    assert_eq!(requests(&mut side, 9), 3);
    assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(Misbehavior::GapNeverFilled)));
    for first in [200, 300] {
        let out = side.log_on(0, first, "");
        let asked = kinds(&out).matches('2').count() + requests(&mut side, first + 1);
        assert_eq!(asked, 1, "{out:?}");
        assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(Misbehavior::GapNeverFilled)));
    }
    // Once it has come, the next gap is requested as often as the first.
    side.log_on(0, 400, "");
    side.say(0, "35=4|34=2|43=Y|123=Y|36=401|");
    assert_eq!(requests(&mut side, 410), 3);
}

#[test]
fn how_often_a_gap_is_requested_is_a_setting() {
    let mut side = side(0, |s| s.resend.max_resend_requests = NonZeroU32::MIN);
    assert_eq!(kinds(&side.say(0, "35=0|34=9|")), "2");
    side.pass(Duration::from_secs(30));
    assert_eq!(kinds(&side.say(0, "35=0|34=10|")), "5");
}

#[test]
fn a_logout_that_waits_for_a_replay_is_sent_however_often_messages_are_requested_again() {
    for interleave in [ReplayInterleave::None, ReplayInterleave::Heartbeats, ReplayInterleave::All] {
        let mut side = side(400, |s| s.resend.replay_interleave = interleave);
        side.tell(0, "35=2|34=2|7=2|16=0|");
        let mut all = side.step(0);
        side.send(0, "new", 1).unwrap();
        side.log_out(0, "bye").unwrap();
        side.tell(0, "35=2|34=3|7=300|16=0|");
        side.tell(0, "35=1|34=4|112=x|");
        side.tell(0, "35=2|34=5|7=300|16=0|");
        all.extend(side.take(0));
        let all = brief(&all);
        assert_eq!(all.matches("5403!").count(), 1, "{interleave:?}: {all}");
        assert_eq!(kinds(&side.say(0, "35=5|34=6|")), "", "{interleave:?}");
        assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs), "{interleave:?}");
    }
}

#[test]
fn a_gap_at_the_same_number_after_a_reset_is_requested_as_often_as_the_first() {
    let mut side = side(0, |_| {});
    assert_eq!(requests(&mut side, 9), 3);
    side.disconnect(0);
    assert_eq!(kinds(&side.log_on(0, 1, "141=Y|")), "A");
    assert_eq!(requests(&mut side, 9), 3);
}

#[test]
fn what_was_given_up_is_requested_once_also_if_it_was_announced() {
    let mut side = side(0, |s| s.resend.send_next_expected_msg_seq_num = true);
    assert_eq!(requests(&mut side, 9), 3);
    side.disconnect(0);
    assert_eq!(kinds(&side.log_on(0, 20, "789=6|")), "A");
    assert_eq!(requests(&mut side, 21), 1);
}

#[test]
fn a_test_request_is_answered_at_once_in_the_slowest_replay_if_heartbeats_are_let_through() {
    for interleave in [ReplayInterleave::Heartbeats, ReplayInterleave::All] {
        let mut side = side(40, |s| {
            s.resend.replay_interleave = interleave;
            s.resend.max_replay_rate = NonZeroU32::new(1);
        });
        side.tell(0, "35=2|34=2|7=2|16=0|");
        side.step(0);
        side.pass(Duration::from_millis(300));
        side.tell(0, "35=1|34=3|112=x|");
        assert_eq!(brief(&side.step(0)), "042!", "{interleave:?}");
    }
}

#[test]
fn an_answer_to_what_arrives_after_our_logout_waits_for_the_next_connection() {
    for interleave in [ReplayInterleave::None, ReplayInterleave::Heartbeats, ReplayInterleave::All] {
        for logs_out_first in [false, true] {
            let mut side = side(400, |s| s.resend.replay_interleave = interleave);
            if logs_out_first {
                side.log_out(0, "bye").unwrap();
                assert_eq!(brief(&side.take(0)), "5402!");
            }
            side.tell(0, "35=2|34=2|7=2|16=0|");
            let mut all = side.step(0);
            if !logs_out_first {
                side.log_out(0, "bye").unwrap();
            }
            side.tell(0, "35=D|34=3|11=late|");
            assert_eq!(side.app.got, ["late"]);
            all.extend(side.take(0));
            let all = brief(&all);
            assert!(!all.contains("8403"), "{interleave:?} {logs_out_first}: {all}");
            assert_eq!(all.contains("5402!"), !logs_out_first);
            assert_eq!(kinds(&side.say(0, "35=5|34=4|")), "");
            assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
            side.log_on(0, 5, "");
            assert_eq!(brief(&side.say(0, "35=2|34=6|7=402|16=0|")), "4402 8403 4404", "{interleave:?}");
        }
    }
}

#[test]
fn what_was_sent_before_its_turn_is_not_reported_as_lost() {
    let mut side = side(0, |s| s.resend.replay_interleave = ReplayInterleave::All);
    side.disconnect(0);
    assert_eq!(kinds(&side.log_on(0, 5, "")), "A2");
    for _ in 0..40 {
        side.send(0, "held", 1).unwrap();
    }
    side.tell(0, "35=4|34=2|43=Y|123=Y|36=6|");
    assert!(side.is_replaying(0));
    let sent = side.act(0, |turn| {
        let mut draft = turn.session().draft(MsgType::new(b"BE"));
        draft.writer().bytes(Key::new(923), b"u").bytes(Key::new(553), b"me").bytes(Key::new(554), b"secret");
        draft.send()
    });
    let seq = sent.unwrap().seq().unwrap();
    side.log_out(0, "bye").unwrap();
    let all = brief(&side.take(0));
    assert_eq!(all.matches(&format!("BE{seq}!")).count(), 1, "{all}");
    assert!(all.ends_with(&format!("5{}!", seq.next())), "{all}");
    assert_eq!(side.app.unreached, []);
}

/// Returns how many messages of a slow replay a silent counterparty got before it was asked, and
/// how its connection ended, if it did within 110 s.
fn asked_during_a_slow_replay(interleave: ReplayInterleave) -> (usize, Option<SessionEnd>) {
    let mut side = side(100, |s| {
        (s.resend.replay_interleave, s.resend.max_replay_rate) = (interleave, NonZeroU32::new(1))
    });
    side.tell(0, "35=2|34=2|7=2|16=0|");
    let mut all = Vec::new();
    for _ in 0..110 {
        side.pass(Duration::from_secs(1));
        all.extend(side.step(0));
        if side.next(0).close {
            break;
        }
    }
    let before = kinds(&all).find('1').unwrap();
    (before, side.next(0).close.then(|| side.disconnect(0).unwrap()))
}

// R-HEARTBEAT-10
#[test]
fn a_silent_counterparty_is_asked_when_the_question_can_reach_it_and_never_ended_without_it() {
    assert_eq!(asked_during_a_slow_replay(ReplayInterleave::None), (100, None));
    let (before, end) = asked_during_a_slow_replay(ReplayInterleave::Heartbeats);
    assert!((35..40).contains(&before), "{before}");
    assert_eq!(end, Some(SessionEnd::HeartbeatTimedOut));
}

// R-GAP-6
#[test]
fn our_own_request_follows_the_answer_to_one_from_after_a_gap() {
    for interleave in [ReplayInterleave::None, ReplayInterleave::Heartbeats] {
        let mut side = side(1, |s| s.resend.replay_interleave = interleave);
        let out = side.say(0, "35=2|34=5|7=1|16=0|");
        assert_eq!(brief(&out), "41 D2 23!", "{interleave:?}: {out:?}");
    }
}

// R-RESEND-10
#[test]
fn a_replay_is_as_fast_as_it_may_be_while_the_application_puts_a_message_off() {
    let mut side = side(100, |s| s.resend.max_replay_rate = NonZeroU32::new(50));
    side.tell(0, "35=2|34=2|7=2|16=0|");
    side.app.mood = Mood::NotNow;
    let order = side.wire(0, "35=D|34=3|11=later|");
    assert_eq!(side.hear(0, &order), 0);
    let mut sent = Vec::new();
    let began = side.now.mono;
    while side.is_replaying(0) {
        sent.extend(side.write(0, usize::MAX));
        let due = side.next(0).deadline.unwrap();
        side.pass((due - side.now.mono).max(Duration::from_millis(1)));
        assert_eq!(side.wake(0, &order), 0);
    }
    sent.extend(side.write(0, usize::MAX));
    let sent = messages(&sent).len();
    let took = side.now.mono - began;
    assert!(sent == 100 && took < Duration::from_millis(2050), "{sent} in {took:?}");
}

#[test]
fn a_burst_of_requests_from_after_a_gap_goes_on_with_a_replay_once_a_call() {
    let mut side = side(200, |_| ());
    side.tell(0, "35=2|34=5|7=2|16=0|");
    side.write(0, usize::MAX);
    let time = side.time();
    let burst: Vec<u8> =
        (6..60).flat_map(|n| side.wire(0, &format!("35=2|34={n}|43=Y|122={time}|7=2|16=0|"))).collect();
    side.receive(0, &burst);
    assert_eq!(messages(&side.write(0, usize::MAX)).len(), 16);
}

// R-RESEND-7
#[test]
fn while_a_message_is_put_off_a_replay_passes_over_any_number_of_heartbeats() {
    let mut side = Side::new(vec![settings("PEER", Role::Acceptor)]);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    for n in 2..2002 {
        assert_eq!(kinds(&side.say(0, &format!("35=1|34={n}|112=t|"))), "0");
    }
    side.app.mood = Mood::NotNow;
    let bytes = [side.wire(0, "35=2|34=2002|7=1|16=0|"), side.wire(0, "35=D|34=2003|11=late|")].concat();
    let mut used = side.hear(0, &bytes);
    let mut sent = messages(&side.write(0, usize::MAX));
    // As often as the session asks for it, in 10 ms.
    for _ in 0..1000 {
        if side.next(0).deadline.is_some_and(|due| due > side.now.mono) {
            side.pass(Duration::from_micros(10));
        } else {
            used += side.wake(0, &bytes[used..]);
            sent.extend(messages(&side.write(0, usize::MAX)));
        }
    }
    assert!(kinds(&sent) == "4" && sent[0].contains("|36=2002|"), "{sent:?}");
}
