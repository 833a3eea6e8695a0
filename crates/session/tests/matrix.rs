//! Every state of the standard's matrix that a session can be in between two calls, reached.

use std::collections::BTreeSet;
use std::time::Duration;

use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::runtime::session_key;
use fixbolt_session::{MatrixState, Role, SessionKey, SessionState};

const KEY: SessionKey = session_key(0, 0, 0);

fn state(side: &Side) -> MatrixState {
    side.sessions().matrix_state(KEY).unwrap()
}

#[test]
fn a_session_is_in_every_state_of_the_matrix_that_is_shown() {
    let mut reached = BTreeSet::new();
    let mut expect = |side: &Side, expected: MatrixState| {
        assert_eq!(state(side), expected);
        let seen = side.sessions().status(KEY).unwrap().state();
        let number = expected.number();
        let of_a_program: &[SessionState] = match number {
            1 | 2 | 4 | 5 => &[SessionState::Disconnected],
            6..=9 | 18 => &[SessionState::LoggingOn],
            10..=14 | 17 => &[SessionState::LoggedOn],
            15 | 16 => &[SessionState::LoggingOut],
            _ => &[SessionState::LoggingOn, SessionState::LoggedOn, SessionState::LoggingOut],
        };
        assert!(of_a_program.contains(&seen), "{seen:?} in state {number}");
        reached.insert(expected);
    };
    let mut side = Side::new(vec![settings("PEER", Role::Acceptor)]);
    assert_eq!(side.sessions().matrix_state(session_key(0, 1, 1)), None);
    expect(&side, MatrixState::NotConnectedToday);
    side.connect(0);
    expect(&side, MatrixState::Connected);
    side.disconnect(0);
    expect(&side, MatrixState::NotConnectedToday);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    expect(&side, MatrixState::ActiveSession);

    // A gap, and its end.
    assert_eq!(kinds(&side.say(0, "35=D|34=3|11=b|")), "2");
    expect(&side, MatrixState::AwaitingResend);
    let time = side.time();
    side.say(0, &format!("35=D|34=2|43=Y|122={time}|11=a|"));
    expect(&side, MatrixState::ActiveSession);

    // Nothing is received; a TestRequest is sent, and answered.
    side.pass(Duration::from_secs(40));
    side.wake(0, b"");
    assert!(kinds(&side.take(0)).contains('1'));
    expect(&side, MatrixState::AwaitingHeartbeat);
    side.say(0, "35=0|34=4|112=1|");
    expect(&side, MatrixState::ActiveSession);

    // More is asked for again than is sent in a call.
    for n in 0..200 {
        side.send(0, &format!("report{n}"), 10).unwrap();
    }
    side.take(0);
    let request = side.wire(0, "35=2|34=5|7=1|16=0|");
    side.hear(0, &request);
    expect(&side, MatrixState::HandlingResendRequest);
    side.take(0);
    expect(&side, MatrixState::ActiveSession);

    // We log out; then the counterparty does instead.
    side.log_out(0, "").unwrap();
    expect(&side, MatrixState::LogoutSent);
    side.take(0);
    side.disconnect(0);
    expect(&side, MatrixState::Disconnected);
    side.log_on(0, 6, "");
    assert_eq!(kinds(&side.say(0, "35=5|34=7|")), "5");
    expect(&side, MatrixState::LogoutReceived);
    side.disconnect(0);
    side.log_on(0, 8, "");
    expect(&side, MatrixState::ActiveSession);
    side.say(0, "35=0|34=1|");
    expect(&side, MatrixState::BrokenConnection);

    let mut initiator = Side::new(vec![settings("PEER", Role::Initiator)]);
    initiator.connect(0);
    expect(&initiator, MatrixState::AwaitingLogonAnswer);

    let not_shown = [4, 5, 7, 8, 9, 11, 13];
    let shown = MatrixState::ALL.into_iter().filter(|state| !not_shown.contains(&state.number()));
    assert_eq!(reached.into_iter().collect::<Vec<_>>(), shown.collect::<Vec<_>>());
}
