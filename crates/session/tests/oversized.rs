//! Messages of the counterparty that are larger than the session accepts.

use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::{Misbehavior, Phase, Role, SessionEnd, SessionSettings};

fn side(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", Role::Acceptor).with(|s| s.limits.max_message_size = 10_000).with(change);
    let mut side = Side::new(vec![settings]);
    side.log_on(0, 1, "");
    side
}

fn large(side: &Side, seq: u64, more: &str, size: usize) -> Vec<u8> {
    side.wire(0, &format!("35=B|34={seq}|{more}148=x|58={}|", "x".repeat(size)))
}

/// Passes bytes to the session as a socket does: in pieces, and with what was not consumed before.
fn hear(side: &mut Side, bytes: &[u8], piece: usize) {
    let mut buffer = Vec::new();
    for piece in bytes.chunks(piece) {
        buffer.extend_from_slice(piece);
        let consumed = side.hear(0, &buffer);
        buffer.drain(..consumed);
        assert!(buffer.len() <= 10_000, "{} bytes are waiting", buffer.len());
    }
}

// R-FRAME-9
#[test]
fn a_message_that_is_too_large_is_rejected_under_its_own_number_and_the_session_goes_on() {
    for piece in [1, 13, 1000, 1_000_000] {
        let mut side = side(|_| {});
        let bytes = large(&side, 2, "", 70_000);
        let size = bytes.len();
        hear(&mut side, &bytes, piece);
        let out = side.take(0);
        assert_eq!(kinds(&out), "3", "{piece}: {out:?}");
        let text = format!("58=the message has {size} bytes, and at most 10000 are accepted|");
        assert!(out[0].contains("|45=2|372=B|373=99|") && out[0].contains(&text), "{out:?}");
        let order = side.wire(0, "35=D|34=3|11=next|");
        let both = [&large(&side, 4, "", 20_000)[..], &side.wire(0, "35=D|34=5|11=last|")].concat();
        hear(&mut side, &order, piece);
        hear(&mut side, &both, piece);
        assert_eq!(kinds(&side.take(0)), "838", "{piece}");
        assert_eq!(side.app.got, ["next", "last"]);
        assert_eq!(side.numbers(0).unwrap().0, SeqNum(6));
    }
}

#[test]
fn one_after_a_gap_is_asked_for_and_one_that_was_processed_is_passed_over() {
    let mut side = side(|_| {});
    let bytes = large(&side, 3, "", 20_000);
    hear(&mut side, &bytes, 999);
    assert_eq!(kinds(&side.take(0)), "2");
    let dup = format!("43=Y|122={}|", side.time());
    assert_eq!(kinds(&side.say(0, &format!("35=D|34=2|{dup}11=missing|"))), "8");
    let bytes = large(&side, 3, &dup, 20_000);
    hear(&mut side, &bytes, 999);
    assert_eq!(kinds(&side.take(0)), "3");
    hear(&mut side, &bytes, 999);
    assert_eq!(kinds(&side.take(0)), "");
    let bytes = large(&side, 2, "", 20_000);
    hear(&mut side, &bytes, 999);
    assert_eq!(kinds(&side.take(0)), "5");
    let too_low = Misbehavior::MsgSeqNumTooLow { expected: SeqNum(4), received: SeqNum(2) };
    assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(too_low)));
}

#[test]
fn bytes_that_are_no_message_cost_no_more_than_up_to_the_next_one() {
    let mut side = side(|_| {});
    // BodyLength is wrong, a bit is wrong, and the CompIDs are those of another session.
    let whole = large(&side, 2, "", 20_000);
    let text = String::from_utf8(whole.clone()).unwrap();
    let (head, rest) = text.split_once("\x0135=").unwrap();
    let length: usize = head.rsplit('=').next().unwrap().parse().unwrap();
    let mut flipped = whole.clone();
    flipped[5000] ^= 1;
    let other = text.replace("49=PEER", "49=REEP").into_bytes();
    for broken in [
        format!("8=FIX.4.4\x019={}\x0135={rest}", length + 1).into_bytes(),
        format!("8=FIX.4.4\x019={}\x0135={rest}", length + 100_000).into_bytes(),
        flipped,
        other,
    ] {
        let seq = side.numbers(0).unwrap().0;
        let next = side.wire(0, &format!("35=1|34={seq}|112=alive|"));
        hear(&mut side, &[&broken[..], &next].concat(), 777);
        assert_eq!(kinds(&side.take(0)), "0", "{}", broken[..30].escape_ascii());
    }
    assert_eq!(side.phase(0), Phase::LoggedOn);
}

// R-FRAME-9
#[test]
fn a_message_beyond_what_is_read_past_ends_the_connection_and_so_does_one_that_never_ends() {
    let end = Some(SessionEnd::PeerMisbehaved(Misbehavior::MessageTooLarge { limit: 16 << 20 }));
    let mut too_large = side(|_| {});
    too_large.hear(0, b"8=FIX.4.4\x019=16777300\x0135=B\x0158=");
    let piece = [b'x'; 1 << 16];
    for n in 0..256 {
        assert!(!too_large.next(0).close, "after {n} pieces");
        too_large.hear(0, &piece);
    }
    assert_eq!(kinds(&too_large.take(0)), "5");
    assert_eq!(too_large.disconnect(0), end);
    let mut slow = side(|s| s.timing.disable_heart_beat_check = true);
    let bytes = large(&slow, 2, "", 100_000);
    for second in 0..60 {
        let piece = &bytes[second * 1000..][..1000];
        assert_eq!(slow.hear(0, piece), 1000);
        slow.pass(Duration::from_secs(1));
        assert!(!slow.next(0).close, "after {second} s");
        slow.wake(0, &[]);
    }
    assert!(kinds(&slow.take(0)).ends_with('5'));
    assert_eq!(slow.disconnect(0), end);
}

#[test]
fn the_next_number_survives_a_restart_and_a_session_that_ends_with_errors_ends() {
    let mut side = side(|s| s.validation.disconnect_on_error = true);
    let bytes = large(&side, 2, "", 20_000);
    hear(&mut side, &bytes, 999);
    assert_eq!(kinds(&side.take(0)), "35");
    side.disconnect(0);
    assert_eq!(kinds(&side.log_on(0, 3, "")), "A");
}

#[test]
fn before_the_logon_a_message_that_is_too_large_is_garbage() {
    let settings = settings("PEER", Role::Acceptor);
    let mut side = Side::new(vec![settings]);
    side.connect(0);
    let bytes = large(&side, 1, "", 20_000);
    hear(&mut side, &bytes, 999);
    assert!(side.next(0).close);
    assert_eq!(kinds(&side.take(0)), "");
}
