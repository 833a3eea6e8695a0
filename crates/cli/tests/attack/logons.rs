//! What a Logon may ask for, and who has the session when two want it.

use crate::peer::Peer;
use crate::server::Setup;

#[test]
fn a_heart_bt_int_that_the_session_does_not_accept_refuses_the_logon_and_says_so() {
    let sessions = "[SESSION]\nTargetCompID=GOOD\nAcceptedHeartBtInt=0,5-3600\n\
                    [SESSION]\nTargetCompID=EVIL\nAcceptedHeartBtInt=5-3600\n[SESSION]\nTargetCompID=FIXED\nAcceptedHeartBtInt=30\n\
                    [SESSION]\nTargetCompID=ANY\nAcceptedHeartBtInt=any\n";
    let server = Setup::with_sessions(sessions).start();
    let log_on = |name: &str, seconds: &str| {
        let mut peer = Peer::connect(&server.address, name);
        peer.log_on(&format!("98=0|108={seconds}|141=Y"))
    };
    for (name, seconds) in [("EVIL", "0"), ("EVIL", "1"), ("EVIL", "3601"), ("FIXED", "31"), ("GOOD", "4")] {
        let answer = log_on(name, seconds);
        let text = answer.as_ref().and_then(|answer| answer.get("58"));
        assert!(text.is_some_and(|text| text.contains("HeartBtInt (108)")), "{name} {seconds}: {answer:?}");
    }
    for (name, seconds) in [("EVIL", "5"), ("EVIL", "3600"), ("FIXED", "30"), ("GOOD", "0"), ("ANY", "1")] {
        let answer = log_on(name, seconds);
        assert_eq!(answer.map(|answer| answer.kind()).as_deref(), Some("A"), "{name} {seconds}");
    }
    server.lines.wait_for(&["EVIL", "AcceptedHeartBtInt"]);
}

#[test]
fn a_second_connection_is_closed_and_logged_and_the_first_one_stays() {
    let server = Setup::new().start();
    let mut good = server.good();
    let first = good.stream.local_addr().expect("it is connected").to_string();
    let mut second = Peer::connect(&server.address, "GOOD");
    let address = second.stream.local_addr().expect("it is connected").to_string();
    // Test case 1S-b: without a message.
    assert_eq!(second.log_on("98=0|108=30"), None);
    let line = server.lines.wait_for(&["GOOD", &address]);
    assert!(line.contains(&first), "{line} does not name {first}");
    good.round_trip("in");
    // The sequence numbers are those of the first connection alone.
    good.send("35=5").expect("the connection is open");
    assert!(good.next_of("5").expect("there is an answer").is_some());
}
