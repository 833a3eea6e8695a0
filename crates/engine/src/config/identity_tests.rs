//! The keys of a session's identity.

use super::tests::refused;
use super::*;

const DEFAULT: &str = "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=1\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n";

fn read(sessions: &str) -> Configuration {
    Configuration::from_text("a.cfg", &format!("{DEFAULT}{sessions}")).unwrap()
}

#[test]
fn sub_ids_and_location_ids_are_part_of_the_identity_in_both_roles() {
    let text = "[DEFAULT]\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n\
         [SESSION]\nSocketAcceptPort=1\nSenderSubID=S\nTargetSubID=T/U\n\
         [SESSION]\nSocketAcceptPort=2\nTargetLocationID=NY\nSenderLocationID=LN\n\
         [SESSION]\nSocketConnectHost=h\nSocketConnectPort=1\nHeartBtInt=30\nTargetSubID=T\nSessionQualifier=2\n";
    let names = ["FIX.4.4:A/S->B/T\\/U", "FIX.4.4:A//LN->B//NY", "FIX.4.4:A->B/T:2"];
    let checked = CheckedConfiguration::from_text("a.cfg", text);
    assert_eq!(checked.mistakes, []);
    assert_eq!(checked.warnings, []);
    for (session, name) in checked.sessions.iter().zip(names) {
        let id = session.result.as_ref().unwrap().id();
        assert_eq!(id, Some(&name.parse().unwrap()));
        assert_eq!(session.name, name);
    }
}

#[test]
fn a_dynamic_session_has_the_sub_ids_whose_keys_it_has() {
    let dynamic = "[SESSION]\nDynamicSession=Y\nTargetCompID=*\nTargetSubID=*\nSenderLocationID=LN\n";
    let checked = CheckedConfiguration::from_text("a.cfg", &format!("{DEFAULT}{dynamic}"));
    assert_eq!(checked.sessions[0].name, "FIX.4.4:A//LN->*/*");
    let session = checked.sessions[0].result.as_ref().unwrap();
    let ConnectionType::Acceptor { dynamic_session: Some(template), .. } = &session.connection else {
        panic!("{:?}", session.connection)
    };
    assert_eq!(template.target.comp_id, None);
    assert_eq!(template.target.sub_id, SubIdTemplate::Any);
    assert_eq!(template.target.location_id, SubIdTemplate::Ignored);
    assert_eq!(template.sender.location_id, SubIdTemplate::Only("LN".to_owned()));
    assert_eq!(session.settings().id.to_string(), checked.sessions[0].name);
}

#[test]
fn two_sessions_that_a_logon_could_be_for_stop_the_start() {
    let text = format!("{DEFAULT}[SESSION]\nTargetSubID=X\n[SESSION]\nTargetLocationID=NY\n");
    assert_eq!(
        refused(&text),
        "a.cfg:9: a Logon could be for it or for FIX.4.4:A->B/X at the same address, as neither has more SubIDs \
         and LocationIDs; give one of them those of both (see a.cfg:7)"
    );
    // Each Logon is for the more specific one, or the ports differ.
    assert_eq!(
        read("[SESSION]\n[SESSION]\nTargetSubID=X\n[SESSION]\nTargetSubID=X\nSenderSubID=S\n").sessions.len(),
        3
    );
    read("[SESSION]\nTargetSubID=X\n[SESSION]\nTargetLocationID=NY\nSocketAcceptPort=2\n");
    let twice = refused(&format!("{DEFAULT}[SESSION]\nTargetSubID=X\n[SESSION]\nTargetSubID=X\n"));
    assert_eq!(twice, "a.cfg:9: the session FIX.4.4:A->B/X is configured twice, first at a.cfg:7");
}

#[test]
fn an_id_that_cannot_be_is_a_mistake_at_its_line() {
    for (lines, mistake) in [
        (
            "TargetSubID=*",
            "a.cfg:8: TargetSubID=*: it stands for any value, which only an acceptor's session with DynamicSession=Y may have",
        ),
        ("SenderLocationID=", "a.cfg:8: SenderLocationID="),
        ("BeginString=FIX.4.0\nTargetLocationID=NY", "a.cfg:9: FIX.4.0 has no LocationIDs"),
        ("DynamicSession=Y\nBeginString=FIX.4.0\nTargetLocationID=*", "a.cfg:10: FIX.4.0 has no LocationIDs"),
    ] {
        let error = refused(&format!("{DEFAULT}[SESSION]\n{lines}\n"));
        assert!(error.starts_with(mistake), "{error}");
    }
    let long = "x".repeat(64);
    let all = ["SenderSubID", "SenderLocationID", "TargetSubID", "TargetLocationID"];
    let lines = all.map(|key| format!("{key}={long}\n")).concat();
    let error = refused(&format!("{DEFAULT}[SESSION]\n{lines}"));
    assert_eq!(error, "a.cfg:8: the parts of the identity have 265 bytes together, 240 at most");
    // What no file can be named after: each of these bytes takes three.
    let long = "-".repeat(64);
    let error = refused(&format!("{DEFAULT}[SESSION]\nSenderSubID={long}\nTargetSubID={long}\n"));
    assert!(
        error.starts_with("a.cfg:8: no file can have the session's name, which would have 397 bytes"),
        "{error}"
    );
    let lines = format!("SenderSubID={long}\nTargetSubID=---------------\n");
    assert!(Configuration::from_text("a.cfg", &format!("{DEFAULT}[SESSION]\n{lines}")).is_ok());
    let error = refused(&format!("[DEFAULT]\nFileLogPath=log\n{DEFAULT}[SESSION]\n{lines}"));
    assert!(
        error.contains("the name of its file in the message log (FileLogPath) would have 263 bytes"),
        "{error}"
    );
}

#[test]
fn a_qualifier_of_an_acceptors_session_is_a_warning_and_tells_no_two_of_them_apart() {
    let configuration = read("[SESSION]\nSessionQualifier=Q\n");
    assert_eq!(configuration.sessions[0].settings().id.to_string(), "FIX.4.4:A->B");
    let [warning] = &configuration.warnings[..] else { panic!("{:?}", configuration.warnings) };
    let said = "a.cfg:8: SessionQualifier has no effect: a Logon carries none, ";
    assert!(warning.to_string().starts_with(said), "{warning}");
    let two = refused(&format!("{DEFAULT}[SESSION]\nSessionQualifier=Q\n[SESSION]\nSessionQualifier=R\n"));
    assert!(two.contains("the session FIX.4.4:A->B is configured twice"), "{two}");
}
