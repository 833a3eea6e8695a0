//! The keys of sessions that are closed and opened.

use fixbolt_codec::{SeqNum, Version};
use fixbolt_conformance::testing::{Side, settings};
use fixbolt_session::runtime::session_key;
use fixbolt_session::{OpenError, Phase, Role, SendError, SessionId, SessionKey, SessionSettings};

const KEY: SessionKey = session_key(0, 0, 0);

fn logged_on(change: fn(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

#[test]
fn a_key_is_never_given_to_another_session_and_a_closed_session_does_nothing() {
    let mut side = logged_on(|_| {});
    assert_eq!(side.close(0), Err(OpenError::Connected));
    side.disconnect(0);
    assert_eq!(side.close(0), Ok(()));
    assert_eq!(side.close(0), Err(OpenError::NotOpen));
    let again = side.open(settings("OTHER", Role::Acceptor)).unwrap();
    assert_eq!((again.index(), again == KEY), (KEY.index(), false));
    // Calls with the old key do not reach the new session.
    side.connect(0);
    assert_eq!(side.phase(1), Phase::Disconnected);
    assert_eq!(side.receive(0, b"8=FIX"), 5);
    assert_eq!(side.wake(0, b"8=FIX"), 5);
    assert_eq!(side.log_out(0, ""), Err(SendError::Unavailable));
    assert_eq!(side.send(0, "x", 1), Err(SendError::Unavailable));
    assert_eq!((side.numbers(0), side.sessions().settings(KEY).is_none()), (None, true));
    assert_eq!(side.sessions().keys().collect::<Vec<_>>(), [again]);
    // The first one continues where it was, under a new key.
    let third = side.open(settings("PEER", Role::Acceptor)).unwrap();
    assert_eq!(side.numbers(2), Some((SeqNum(2), SeqNum(2))));
    let id = SessionId::new(Version::Fix44, "US", "PEER").unwrap();
    assert_eq!(side.sessions().find(&id), Some(third));
}
