//! Messages that the application marks as possible duplicates (AllowPosDup).

use std::time::Duration;

use fixbolt_codec::{BodySink, Key, MsgType, NewBody, SeqNum};
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::{Accepted, Role, SendError, Utc};

fn logged_on(allow: bool) -> Side {
    let settings = settings("PEER", Role::Acceptor).with(|s| s.resend.allow_pos_dup = allow);
    let mut side = Side::new(vec![settings]);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side
}

/// Sends a News (B) that was first sent at this time.
fn pass_on(side: &mut Side, original: Utc) -> Result<Accepted, SendError> {
    side.act(0, |turn| {
        let mut draft = turn.session().possible_duplicate(original).draft(MsgType::new(b"B"));
        draft.writer().bytes(Key::new(148), b"headline");
        draft.send()
    })
}

// R-POSSDUP-7
#[test]
fn a_possible_duplicate_of_the_application_has_its_original_time_and_a_number_of_its_own() {
    let mut side = logged_on(true);
    let (original, now) = (side.time(), side.now.utc);
    side.pass(Duration::from_secs(5));
    assert_eq!(pass_on(&mut side, now).unwrap(), Accepted::Numbered(SeqNum(2)));
    let sent = side.take(0).remove(0);
    assert!(sent.contains(&format!("|34=2|43=Y|52={}.000|122={original}.000|", side.time())), "{sent}");
    // A time that has not come is no time at which anything was sent.
    pass_on(&mut side, now + Duration::from_secs(60)).unwrap();
    let sent = side.take(0).remove(0);
    assert!(sent.contains(&format!("|52={0}.000|122={0}.000|", side.time())), "{sent}");
    // The next one is no duplicate.
    side.send(0, "x", 1).unwrap();
    assert!(!side.take(0)[0].contains("|43="));
    // Sent again, it has the time at which it was sent first by this session.
    let again = side.say(0, "35=2|34=2|7=2|16=2|");
    let fields = |tag: &str| again[0].matches(tag).count();
    assert_eq!((fields("|43=Y|"), fields("|122=")), (1, 1), "{again:?}");
    assert!(again[0].contains(&format!("|122={}.000|", side.time())), "{again:?}");
}

// R-POSSDUP-7
#[test]
fn without_permission_a_possible_duplicate_is_refused_and_uses_no_number() {
    let mut side = logged_on(false);
    let now = side.now.utc;
    assert_eq!(pass_on(&mut side, now).err(), Some(SendError::PossDupNotAllowed));
    assert_eq!(side.numbers(0).unwrap().1, SeqNum(2));
}
