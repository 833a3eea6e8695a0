//! When a counterparty that says nothing is asked, and when its connection ends.

use std::num::NonZeroU32;
use std::time::Duration;

use fixbolt_codec::{BodySink, Key, MsgType, NewBody};
use fixbolt_conformance::testing::{App, Side, kinds, settings};
use fixbolt_session::{DelayMultiplier, Delivery, Phase, Role, SendError, SessionEnd, SessionSettings};

/// A session whose HeartBtInt is 30 seconds.
fn side(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", Role::Acceptor).with(change);
    let mut side = Side::new(vec![settings]);
    side.log_on(0, 1, "");
    side
}

/// Lets the time of a silent counterparty pass. Returns after how many seconds it was asked, and
/// after how many its connection ended.
fn silent(change: impl FnOnce(&mut SessionSettings)) -> (u64, u64) {
    let mut side = side(change);
    let mut asked = 0;
    for second in 1..1000 {
        side.pass(Duration::from_secs(1));
        side.wake(0, &[]);
        if kinds(&side.take(0)).contains('1') && asked == 0 {
            asked = second;
        }
        if side.next(0).close {
            assert_eq!(side.disconnect(0), Some(SessionEnd::HeartbeatTimedOut));
            return (asked, second);
        }
    }
    panic!("the connection never ended")
}

// R-HEARTBEAT-5
#[test]
fn a_silent_connection_ends_when_the_settings_say_so() {
    assert_eq!(silent(|_| {}), (36, 72));
    assert_eq!(
        silent(|s| s.timing.heart_beat_timeout_multiplier = DelayMultiplier::from_percent(140)),
        (36, 72)
    );
    assert_eq!(
        silent(|s| s.timing.heart_beat_timeout_multiplier = DelayMultiplier::from_percent(400)),
        (36, 150)
    );
    // The counterparty has a fifth of HeartBtInt for its answer.
    assert_eq!(
        silent(|s| s.timing.heart_beat_timeout_multiplier = DelayMultiplier::from_percent(0)),
        (36, 42)
    );
    assert_eq!(
        silent(|s| s.timing.test_request_delay_multiplier = DelayMultiplier::from_percent(50).unwrap()),
        (45, 90)
    );
}

// R-HEARTBEAT-7
#[test]
fn the_connection_of_a_silent_counterparty_is_kept_where_its_heartbeats_are_not_checked() {
    let mut side = side(|s| s.timing.disable_heart_beat_check = true);
    let mut asked = 0;
    for _ in 0..720 {
        side.pass(Duration::from_secs(1));
        side.wake(0, &[]);
        asked += kinds(&side.take(0)).matches('1').count();
    }
    assert_eq!((side.phase(0), asked), (Phase::LoggedOn, 10));
    let notes = side.app.notes.iter().filter(|note| note.contains("DisableHeartBeatCheck")).count();
    assert_eq!(notes, 10);
    assert_eq!(kinds(&side.say(0, "35=1|34=2|112=x|")), "0");
}

// R-HEARTBEAT-6
#[test]
fn any_message_that_is_not_garbled_is_a_sign_of_life() {
    // Rejected, after a gap, processed before; then garbled.
    for (fields, is_heard) in [
        ("35=1|34=2|", true),
        ("35=0|34=9|", true),
        ("35=0|34=1|43=Y|122=20260105-09:00:00|", true),
        ("35=0|34=2|", false),
    ] {
        let mut side = side(|_| {});
        side.pass(Duration::from_secs(35));
        side.wake(0, &[]);
        let mut bytes = side.wire(0, fields);
        if !is_heard {
            let sum = bytes.len() - 2;
            bytes[sum] = if bytes[sum] == b'0' { b'1' } else { b'0' };
        }
        side.hear(0, &bytes);
        side.take(0);
        side.pass(Duration::from_secs(2));
        side.wake(0, &[]);
        assert_eq!(!kinds(&side.take(0)).contains('1'), is_heard, "{fields}");
    }
}

/// Returns an acceptor whose outbox is full, and whose counterparty has just been heard. It may be
/// silent for 42 seconds, and has 6 seconds to answer a TestRequest.
fn full() -> Side<App> {
    let settings = settings("PEER", Role::Acceptor).with(|s| {
        s.timing.heart_beat_timeout_multiplier = DelayMultiplier::from_percent(40);
        s.limits.max_message_size = 8192;
        s.limits.outbound_buffer_size = 40_000;
    });
    let mut side = Side::with_app(App::default(), vec![settings]).logged_on();
    side.app.message = Box::new(|_, turn| {
        for size in [3000, 300, 30, 10, 3, 1] {
            loop {
                let mut draft = turn.session().draft(MsgType::new(b"D"));
                draft.writer().bytes(Key::new(58), &vec![b'x'; size]);
                if draft.send().is_err() {
                    break;
                }
            }
        }
        Ok(Delivery::Done)
    });
    let bytes = side.wire(0, "35=D|34=2|11=b|");
    assert_eq!(side.receive(0, &bytes), bytes.len());
    side
}

/// Has the counterparty read everything, and checks that nothing is expected of it before its
/// Heartbeat is due.
fn goes_on(mut side: Side<App>) {
    let out = kinds(&side.take(0));
    assert!(!out.contains('1'), "it was asked nothing");
    side.pass(Duration::from_secs(29));
    side.wake(0, &[]);
    assert!(!side.next(0).close, "the connection ends: {}", kinds(&side.take(0)));
}

#[test]
fn a_test_request_of_an_operator_that_finds_no_room_needs_no_answer() {
    let mut side = full();
    assert_eq!(side.test_request(0), Err(SendError::BackPressure));
    goes_on(side);
}

#[test]
fn the_test_request_of_a_reset_in_the_session_that_finds_no_room_needs_no_answer() {
    let mut side = full();
    assert_eq!(side.reset_in_session(0, "a test"), Err(SendError::BackPressure.into()));
    goes_on(side);
}

// R-HEARTBEAT-8, R-HEARTBEAT-10
#[test]
fn without_heartbeats_a_test_request_that_waits_for_a_replay_ends_no_connection() {
    let settings = settings("PEER", Role::Acceptor).with(|s| s.resend.max_replay_rate = NonZeroU32::new(1));
    let mut side = Side::new(vec![settings]);
    side.connect(0);
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=0|")), "A");
    for n in 0..100 {
        side.send(0, &format!("o{n}"), 1).unwrap();
    }
    side.tell(0, "35=2|34=2|7=2|16=0|");
    side.test_request(0).unwrap();
    for _ in 0..40 {
        side.pass(Duration::from_secs(1));
        side.write(0, usize::MAX);
        side.wake(0, &[]);
    }
    assert!(side.is_replaying(0) && !side.next(0).close);
}
