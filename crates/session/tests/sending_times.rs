//! SendingTime (52) and OrigSendingTime (122) that end a session: what is said of them.

use fixbolt_codec::Precision;
use fixbolt_conformance::testing::{Side, kinds, settings, settings_of};
use fixbolt_session::{Compatibility, Misbehavior, Role, SessionEnd, SessionSettings, Utc};

fn logged_on(change: fn(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

// R-TIME-2
#[test]
fn the_end_for_a_sending_time_out_of_the_threshold_says_how_far_off_it_was() {
    for (logged_on, offset, told) in [
        (true, 300, "was 300.000 s behind our clock; the limit is 120.000 s"),
        (true, -300, "was 300.000 s ahead of our clock; the limit is 120.000 s"),
        (false, 300, "was 300.000 s behind our clock; the limit is 120.000 s"),
    ] {
        let mut side = Side::new(vec![settings("PEER", Role::Acceptor)]);
        let fields = if logged_on {
            side.log_on(0, 1, "");
            "35=0|34=2|"
        } else {
            side.connect(0);
            "35=A|34=1|98=0|108=30|"
        };
        let bytes = side.wire(0, fields);
        side.now.utc = Utc(side.now.utc.0.checked_add_signed(offset * 1_000_000_000).unwrap());
        side.hear(0, &bytes);
        let end = side.disconnect(0).unwrap();
        assert!(matches!(end, SessionEnd::PeerMisbehaved(Misbehavior::SendingTime { .. })), "{end:?}");
        assert!(end.to_string().contains(told), "{end}");
    }
}

#[test]
fn an_orig_sending_time_that_ends_a_session_is_not_blamed_on_the_clocks() {
    let mut side = logged_on(|s| s.compatibility = Compatibility::QuickFixJ);
    let out = side.say(0, "35=0|34=1|43=Y|122=20260105-23:59:59|");
    assert_eq!(kinds(&out), "35");
    let end = side.disconnect(0);
    assert_eq!(end, Some(SessionEnd::PeerMisbehaved(Misbehavior::OrigSendingTime)));
}

// R-SEND-2
#[test]
fn times_have_as_many_digits_of_a_second_as_is_set_and_none_before_fix_4_2() {
    for (version, set, sent) in [
        ("FIX.4.0", Precision::Nanos, 0),
        ("FIX.4.1", Precision::Millis, 0),
        ("FIX.4.2", Precision::Seconds, 0),
        ("FIX.4.2", Precision::Millis, 3),
        ("FIX.4.4", Precision::Micros, 6),
        ("FIX.4.4", Precision::Picos, 12),
    ] {
        let settings = settings_of(&format!("{version}:US->PEER"), Role::Initiator);
        let mut side = Side::new(vec![settings.with(|s| s.timing.timestamp_precision = set)]);
        side.connect(0);
        let logon = side.take(0).remove(0);
        let time = logon.split("|52=").nth(1).unwrap().split('|').next().unwrap();
        let digits = time.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        assert_eq!(digits, sent, "{version}: {time}");
    }
}
