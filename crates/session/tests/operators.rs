//! What operators do to sequence numbers and to a message on which the application fails.

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Mood, Side, settings};
use fixbolt_session::{ChangeError, Halt, Role, SessionSettings};

fn logged_on(change: fn(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

// R-SEQ-8
#[test]
fn a_sequence_number_that_cannot_be_set_halts_nothing() {
    let mut side = logged_on(|_| {});
    let out_of_range = |found| ChangeError::SeqNumOutOfRange { found };
    for (numbers, error) in [
        ((None, Some(SeqNum::MAX)), out_of_range(SeqNum::MAX)),
        ((Some(SeqNum::MAX), None), out_of_range(SeqNum::MAX)),
        ((Some(SeqNum::ZERO), None), out_of_range(SeqNum::ZERO)),
        ((None, Some(SeqNum(1))), ChangeError::NextNumOutTooLow { least: SeqNum(2), found: SeqNum(1) }),
    ] {
        assert_eq!(side.set_numbers(0, numbers, "typing error"), Err(error));
        assert_eq!((side.halted(0), side.next(0).close), (None, false));
    }
}

fn poisoned(side: &mut Side) {
    side.app.mood = Mood::Fails;
    for _ in 0..3 {
        let (next_in, _) = side.numbers(0).unwrap();
        side.log_on(0, next_in.0 + u64::from(next_in == SeqNum(2)), "");
        side.say(0, "35=D|34=2|11=a|");
        side.disconnect(0);
    }
    side.app.mood = Mood::Done;
    assert!(matches!(side.halted(0), Some(Halt::PoisonMessage { seq: SeqNum(2), .. })));
}

#[test]
fn skipping_a_poison_message_does_not_undo_what_an_operator_has_set() {
    let mut side = Side::new(["A", "B"].map(|name| settings(name, Role::Acceptor)).to_vec());
    poisoned(&mut side);
    side.set_numbers(0, (Some(SeqNum(10)), None), "by hand").unwrap();
    side.skip(0, "desk: seen").unwrap();
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(10));
}
