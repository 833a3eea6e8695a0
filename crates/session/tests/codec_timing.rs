//! How long messages take to encode and decode is measured with the caller's clock, and reported
//! when the connection ends.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::runtime::mono;
use fixbolt_session::{
    CodecClock, CodecOperation, CodecTime, Role, SessionSettings, WireMessage, WireObserver,
};

thread_local! {
    static TIME: Cell<u64> = const { Cell::new(0) };
}

/// Each reading is a nanosecond later.
const CLOCK: CodecClock = CodecClock::new(|| {
    TIME.set(TIME.get() + 1);
    mono(TIME.get())
});

fn side(change: impl FnOnce(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)])
}

fn nanos(operation: CodecOperation, nanos: u64, messages: u64) -> CodecTime {
    CodecTime { operation, time: Duration::from_nanos(nanos), messages }
}

#[test]
fn every_message_of_a_connection_is_timed_by_two_readings_of_the_clock() {
    let mut side = side(|s| s.timing.codec_timing = Some(CLOCK));
    for connection in [1, 2] {
        let logon = if connection == 1 { 1 } else { 4 };
        assert_eq!(kinds(&side.log_on(0, logon, "")), "A");
        assert_eq!(kinds(&side.say(0, &format!("35=D|34={}|11=a|", logon + 1))), "8");
        assert_eq!(kinds(&side.say(0, &format!("35=1|34={}|112=x|", logon + 2))), "0");
        side.disconnect(0);
        // The Logon, the report and the Heartbeat; the Logon, the order and the TestRequest.
        let expected = [nanos(CodecOperation::Encode, 3, 3), nanos(CodecOperation::Decode, 3, 3)];
        assert_eq!(std::mem::take(&mut side.app.codec_times), expected);
    }
}

#[test]
fn a_message_that_waits_for_others_is_decoded_when_it_arrives_and_when_it_is_due() {
    let mut side = side(|s| s.timing.codec_timing = Some(CLOCK));
    side.log_on(0, 1, "");
    assert_eq!(kinds(&side.say(0, "35=D|34=3|11=b|")), "2");
    assert_eq!(kinds(&side.say(0, "35=D|34=2|11=a|43=Y|122=20260101-00:00:00|")), "88");
    assert_eq!(side.app.got, ["a", "b"]);
    side.disconnect(0);
    assert_eq!(side.app.codec_times[1], nanos(CodecOperation::Decode, 4, 4));
}

#[test]
fn nothing_is_measured_without_a_clock() {
    let mut side = side(|_| {});
    side.log_on(0, 1, "");
    side.say(0, "35=D|34=2|11=a|");
    side.disconnect(0);
    assert_eq!(side.app.codec_times, []);
}

/// Takes a second for each message.
struct Slow;

impl WireObserver for Slow {
    fn on_wire(&self, _: &WireMessage<'_>) {
        TIME.set(TIME.get() + 1_000_000_000);
    }
}

#[test]
fn an_observer_of_the_wire_is_not_part_of_decoding() {
    let mut side = side(|s| s.timing.codec_timing = Some(CLOCK)).observed_by(Arc::new(Slow));
    side.log_on(0, 1, "");
    side.say(0, "35=D|34=2|11=a|");
    side.disconnect(0);
    // The pause takes a reading more.
    let expected = [nanos(CodecOperation::Encode, 2, 2), nanos(CodecOperation::Decode, 4, 2)];
    assert_eq!(side.app.codec_times, expected);
}
