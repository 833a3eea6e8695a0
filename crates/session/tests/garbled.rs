//! Garbled messages in sessions that reject them, and messages with a wrong CheckSum in sessions
//! that do not check it.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use fixbolt_codec::{Message, SeqNum, Version};
use fixbolt_conformance::testing::{Side, kinds, message, settings};
use fixbolt_session::{
    Application, Compatibility, Delivery, Direction, Failure, Identity, Misbehavior, Resume, Role,
    SessionEnd, SessionId, SessionSettings, Turn, identify,
};

fn side(role: Role, change: impl FnOnce(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", role).with(change)])
}

fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let mut side = side(Role::Acceptor, change);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side
}

/// A session that is logged on and rejects garbled messages.
fn rejecting(change: impl FnOnce(&mut SessionSettings)) -> Side {
    logged_on(|s| {
        s.validation.reject_garbled_message = true;
        change(s);
    })
}

/// Returns the message with another CheckSum.
fn with_wrong_sum(mut message: Vec<u8>) -> Vec<u8> {
    let at = message.len() - 4;
    message[at..at + 3].copy_from_slice(b"256");
    message
}

/// Passes a message with a wrong CheckSum. Returns the messages sent in answer.
fn say_garbled(side: &mut Side, fields: &str) -> Vec<String> {
    let bytes = with_wrong_sum(side.wire(0, fields));
    side.hear(0, &bytes);
    side.take(0)
}

fn next_in(side: &Side) -> u64 {
    side.numbers(0).unwrap().0.0
}

/// Returns the fields of a message after its SendingTime.
fn body(message: &str) -> &str {
    message.split_once("|52=").unwrap().1.split_once('|').unwrap().1.rsplit_once("10=").unwrap().0
}

// R-FRAME-6
#[test]
fn a_garbled_message_is_ignored_by_default() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&say_garbled(&mut side, "35=D|34=2|11=a|")), "");
    assert_eq!(next_in(&side), 2);
    assert!(side.app.got.is_empty());
}

// R-FRAME-6
#[test]
fn a_garbled_message_is_rejected_and_its_sequence_number_used() {
    let mut side = rejecting(|_| {});
    let answer = say_garbled(&mut side, "35=D|34=2|11=a|");
    assert_eq!(kinds(&answer), "3");
    assert_eq!(body(&answer[0]), "45=2|372=D|373=99|58=Message failed basic validity check|");
    assert_eq!(next_in(&side), 3);
    assert_eq!(kinds(&side.say(0, "35=D|34=3|11=b|")), "8");
    assert_eq!(side.app.got, ["b"]);
}

#[test]
fn a_garbled_message_that_is_not_the_expected_one_is_rejected_and_nothing_is_used() {
    let mut side = rejecting(|_| {});
    for seq in [1, 7] {
        let answer = say_garbled(&mut side, &format!("35=D|34={seq}|11=a|"));
        assert!(answer[0].contains(&format!("|45={seq}|")), "{answer:?}");
        assert_eq!((kinds(&answer).as_str(), next_in(&side)), ("3", 2));
    }
}

#[test]
fn messages_that_waited_for_a_garbled_one_are_processed_after_its_reject() {
    let mut side = rejecting(|_| {});
    assert_eq!(kinds(&side.say(0, "35=D|34=3|11=b|")), "2");
    assert_eq!(kinds(&say_garbled(&mut side, "35=D|34=2|43=Y|122=20260105-00:00:00|11=a|")), "38");
    assert_eq!((side.app.got.as_slice(), next_in(&side)), (&["b".to_owned()][..], 4));
}

#[test]
fn a_message_whose_fields_cannot_be_read_is_rejected() {
    let mut side = rejecting(|_| {});
    for (seq, fields, more) in [
        (2, "34=2|35=0|49=PEER|56=US|", "372=0|"),
        (3, "34=3|49=PEER|56=US|", ""),
        (4, "35=|34=4|49=PEER|56=US|", ""),
    ] {
        side.hear(0, &message("FIX.4.4", fields));
        let answer = side.take(0);
        assert_eq!(kinds(&answer), "3", "{fields}");
        assert!(body(&answer[0]).starts_with(&format!("45={seq}|{more}373=99|")), "{answer:?}");
        assert_eq!(next_in(&side), seq + 1);
    }
}

#[test]
fn a_message_with_a_field_without_equals_is_rejected_where_that_makes_it_garbled() {
    let mut side = rejecting(|s| s.compatibility = Compatibility::QuickFixJ);
    let answer = side.say(0, "35=D|34=2|11=a|oops|");
    assert!(body(&answer[0]).ends_with("58=Message failed basic validity check|"), "{answer:?}");
    assert_eq!((kinds(&answer).as_str(), next_in(&side)), ("3", 3));
}

#[test]
fn a_garbled_message_is_ignored_if_its_length_is_wrong_or_its_header_is_not_of_the_session() {
    let mut side = rejecting(|_| {});
    let time = side.time();
    for garbled in [
        side.wire(0, "35=D|34=2|11=a|").iter().copied().filter(|byte| *byte != b'a').collect(),
        with_wrong_sum(side.wire(0, "35=D|11=a|34=2|")),
        with_wrong_sum(side.wire(0, "35=D|34=x|11=a|")),
        with_wrong_sum(side.wire(0, "35=D|34=18446744073709551615|11=a|")),
        with_wrong_sum(message("FIX.4.3", &format!("35=D|34=2|49=PEER|56=US|52={time}|"))),
        with_wrong_sum(message("FIX.4.4", &format!("35=D|34=2|49=OTHER|56=US|52={time}|"))),
        with_wrong_sum(message("FIX.4.4", &format!("35=D|34=2|49=PEER|52={time}|11=a|56=US|"))),
    ] {
        side.hear(0, &garbled);
        assert_eq!(kinds(&side.take(0)), "", "{}", garbled.escape_ascii());
        assert_eq!(next_in(&side), 2);
    }
    let mut side = rejecting(|s| s.validation.check_comp_id = false);
    side.hear(0, &with_wrong_sum(message("FIX.4.4", "35=D|34=2|49=OTHER|")));
    assert_eq!(kinds(&side.take(0)), "3");
}

#[test]
fn a_garbled_reject_is_not_rejected_and_a_garbled_logon_or_sequence_reset_uses_no_number() {
    let mut side = rejecting(|_| {});
    assert_eq!(kinds(&say_garbled(&mut side, "35=3|34=2|45=1|")), "");
    assert_eq!(kinds(&say_garbled(&mut side, "35=4|34=2|123=Y|36=9|")), "3");
    assert_eq!(kinds(&say_garbled(&mut side, "35=A|34=2|98=0|108=30|")), "3");
    assert_eq!(next_in(&side), 2);
}

#[test]
fn a_garbled_message_before_the_logon_is_not_answered() {
    let mut side = side(Role::Acceptor, |s| s.validation.reject_garbled_message = true);
    side.connect(0);
    assert_eq!(kinds(&say_garbled(&mut side, "35=A|34=1|98=0|108=30|")), "");
    assert!(side.next(0).close);
}

// R-REJECT-1
#[test]
fn a_reject_of_a_garbled_message_has_the_fields_of_its_version() {
    for (version, fields) in [
        (Version::Fix42, "45=2|372=D|58=Message failed basic validity check|"),
        (Version::Fix41, "45=2|58=Message failed basic validity check|"),
    ] {
        let mut side = rejecting(|s| s.id = SessionId::new(version, "US", "PEER").unwrap());
        assert_eq!(body(&say_garbled(&mut side, "35=D|34=2|11=a|")[0]), fields);
    }
}

#[test]
fn rejects_of_garbled_messages_are_as_limited_as_other_answers() {
    let ended = |side: &mut Side| {
        assert!(side.next(0).close);
        side.disconnect(0)
    };
    let mut side = rejecting(|_| {});
    let answers: String = (2..)
        .map_while(|n| {
            let open = !side.next(0).close;
            open.then(|| kinds(&say_garbled(&mut side, &format!("35=D|34={n}|"))))
        })
        .collect();
    assert_eq!(answers, "3".repeat(99) + "5");
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(Misbehavior::Garbled { limit: 100 })));

    // A message between them begins the count of garbled ones again, but not the other counts.
    let bytes = |side: &Side, n: u64| {
        let mut bytes = with_wrong_sum(side.wire(0, &format!("35=D|34={n}|")));
        bytes.extend(side.wire(0, &format!("35=D|34={}|11=o|", n + 1)));
        bytes
    };
    let mut side = rejecting(|s| s.limits.max_session_message_rate = NonZeroU32::new(10));
    let mut next = 2;
    for _ in 0..6 {
        for _ in 0..11 {
            let pair = bytes(&side, next);
            side.hear(0, &pair);
            side.take(0);
            next += 2;
        }
        side.pass(Duration::from_secs(1));
    }
    let why = Misbehavior::SessionMessageRate { limit: 10 };
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(why)));

    let mut side = rejecting(|s| s.limits.max_session_journal_growth = NonZeroU64::new(10_000));
    let mut next = 2;
    while !side.next(0).close && next < 1000 {
        let pair = bytes(&side, next);
        side.hear(0, &pair);
        side.take(0);
        next += 2;
    }
    let why = Misbehavior::JournalGrowth { limit: 10_000 };
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(why)));
}

#[test]
fn a_garbled_message_that_is_rejected_ends_the_connection_if_any_rejected_message_does() {
    let mut side = rejecting(|s| s.validation.disconnect_on_error = true);
    let answer = say_garbled(&mut side, "35=D|34=2|11=a|");
    assert_eq!(kinds(&answer), "35");
    assert_eq!(kinds(&side.say(0, "35=5|34=3|")), "");
    assert_eq!(
        side.disconnect(0),
        Some(SessionEnd::PeerMisbehaved(Misbehavior::InvalidMessage { seq: SeqNum(2) }))
    );
}

// R-FRAME-5
#[test]
fn a_wrong_checksum_counts_as_right_if_it_is_not_checked() {
    let mut side = logged_on(|s| {
        s.validation.validate_checksum = false;
        s.limits.max_garbled_messages = NonZeroU32::new(2);
    });
    for seq in 2..12 {
        assert_eq!(kinds(&say_garbled(&mut side, &format!("35=D|34={seq}|11=o|"))), "8");
    }
    assert_eq!((side.app.got.len(), next_in(&side)), (10, 12));
    // After a gap, too.
    assert_eq!(kinds(&say_garbled(&mut side, "35=D|34=13|11=late|")), "2");
    assert_eq!(kinds(&say_garbled(&mut side, "35=D|34=12|11=missed|")), "88");
    assert_eq!(side.app.got[10..], ["missed", "late"]);
}

#[test]
fn what_else_makes_a_message_garbled_is_still_checked() {
    let mut side = logged_on(|s| s.validation.validate_checksum = false);
    let too_long = side.wire(0, "35=D|34=2|11=a|").iter().copied().filter(|byte| *byte != b'a').collect();
    for garbled in [too_long, message("FIX.4.4", "34=2|35=0|49=PEER|56=US|")] {
        side.hear(0, &with_wrong_sum(garbled));
        assert_eq!(kinds(&side.take(0)), "");
        assert_eq!(next_in(&side), 2);
    }
}

#[test]
fn a_logon_with_a_wrong_checksum_names_its_session_which_accepts_it_only_if_it_does_not_check() {
    for (validate, answer) in [(true, ""), (false, "A")] {
        let mut side = side(Role::Acceptor, |s| s.validation.validate_checksum = validate);
        let logon = with_wrong_sum(side.wire(0, "35=A|34=1|98=0|108=30|"));
        let id = "FIX.4.4:US->PEER".parse().unwrap();
        assert_eq!(identify(&logon), Identity::LogonWithWrongCheckSum(id));
        side.connect(0);
        side.hear(0, &logon);
        assert_eq!(kinds(&side.take(0)), answer);
    }
}

/// Reads the counterparty's messages in the store: the sequence number of each, and whether its
/// CheckSum is the wrong one.
#[derive(Default)]
struct Reader(Vec<(u64, bool)>);

impl Application for Reader {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::Done)
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        resume.messages(|stored| {
            if stored.direction == Direction::Inbound {
                self.0.push((stored.seq.0, stored.message.bytes().ends_with(b"\x0110=256\x01")));
            }
            Ok(())
        })
    }
}

#[test]
fn an_application_resumes_after_messages_with_a_wrong_checksum_and_after_rejected_ones() {
    for (validate, stored) in [
        (false, &[(1, false), (2, true), (3, false)][..]),
        // The rejected message is not in the store.
        (true, &[(1, false), (3, false)]),
    ] {
        let mut side = rejecting(|s| s.validation.validate_checksum = validate);
        say_garbled(&mut side, "35=D|34=2|11=a|");
        side.say(0, "35=D|34=3|11=b|");
        let mut side = side.handed_to(Reader::default());
        side.show_store(0);
        assert_eq!(side.app.0, stored);
        assert_eq!(side.halted(0), None);
    }
}
