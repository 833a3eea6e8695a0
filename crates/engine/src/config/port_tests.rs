//! What a port is depends neither on which of its sessions are left out, nor on their order.

use super::*;

const TLS: &str =
    "SocketCertificateFile=a.pem\nSocketPrivateKeyFile=a.key\nNeedClientAuth=Y\nSocketCAFile=ca.pem";

/// Returns the sections that start without those that have mistakes, by TargetCompID.
fn started(defaults: &str, sections: [&str; 2]) -> Vec<String> {
    let [one, other] = sections.map(|lines| format!("[SESSION]\n{lines}\n"));
    let start = |one: &str, other: &str| {
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=9\nBeginString=FIX.4.4\nSenderCompID=A\n{defaults}\n{one}{other}"
        );
        let usable = CheckedConfiguration::from_text("a.cfg", &text).usable();
        let sessions = usable.map(|usable| usable.sessions).unwrap_or_default();
        let name = |session: SessionConfiguration| {
            session.id().map_or_else(|| "*".to_owned(), |id| id.target_comp_id().to_owned())
        };
        let mut names: Vec<_> = sessions.into_iter().map(name).collect();
        names.sort();
        names
    };
    let names = start(&one, &other);
    assert_eq!(start(&other, &one), names, "{one}{other}");
    names
}

#[test]
fn a_session_that_names_nobody_is_refused_beside_a_template_that_is_left_out() {
    const TEMPLATE: &str = "DynamicSession=Y\nTargetCompID=*\nTLSPeerNames=CompID";
    for mistake in
        ["ResetOnLogon=yes", "Quux=1", "SocketAcceptPort=98800", "SocketCAFle=b.pem", "hello there"]
    {
        let template = format!("{TEMPLATE}\n{mistake}");
        assert_eq!(started(TLS, ["TargetCompID=B", &template]), [""; 0], "{mistake}");
        assert_eq!(started(TLS, ["TargetCompID=B\nTLSPeerNames=none", &template]), ["B"], "{mistake}");
    }
    // A mistake in what makes it such a template.
    for (right, wrong) in [
        ("TLSPeerNames=CompID", "TLSPeerName=CompID"),
        ("TLSPeerNames=CompID", "TLSPeerNames CompID"),
        ("TLSPeerNames=CompID", "TLSPeerNames=x,,CompID"),
        ("TLSPeerNames=CompID", "TLSPeerNames=${FIXBOLT_NO_SUCH_VARIABLE}"),
        ("DynamicSession=Y", "DynamicSession=yes"),
        ("DynamicSession=Y", "DynamicSesion=Y"),
    ] {
        let template = TEMPLATE.replace(right, wrong);
        assert_eq!(started(TLS, ["TargetCompID=B", &template]), [""; 0], "{wrong}");
    }
    // Of another port, or one that does not bind, it says nothing of this one.
    let template = format!("{TEMPLATE}\nSocketAcceptPort=10\nQuux=1");
    assert_eq!(started(TLS, ["TargetCompID=B", &template]), ["B"]);
    assert_eq!(started(TLS, ["TargetCompID=B", "DynamicSession=Y\nTargetCompID=*\nQuux=1"]), ["B"]);
}

#[test]
fn a_port_of_a_session_with_tls_that_is_left_out_is_not_plain_for_another() {
    let encrypted = format!("TargetCompID=B\n{TLS}");
    for mistake in ["ResetOnLogon=yes", "Quux=1", "SSLProtocols=TLSv1.2", "hello there"] {
        let broken = format!("{encrypted}\n{mistake}");
        assert_eq!(started("", ["TargetCompID=C", &broken]), [""; 0], "{mistake}");
        assert_eq!(started("", ["TargetCompID=C\nSocketAcceptPort=10", &broken]), ["C"], "{mistake}");
    }
    // A mistake in what would turn TLS on.
    for line in [
        "SocketUseSSL=maybe",
        "SocketUseSSL=",
        "SocketUseSSL Y",
        "SocketUsSSL=Y",
        "UseTLS=Y",
        "SocketUseSSL=${FIXBOLT_NO_SUCH_VARIABLE}",
        "EnabledProtocols=TLSv1.2",
    ] {
        let broken = format!("TargetCompID=B\n{line}");
        assert_eq!(started("", ["TargetCompID=C", &broken]), [""; 0], "{line}");
        assert_eq!(started("", ["TargetCompID=C\nSocketAcceptPort=10", &broken]), ["C"], "{line}");
    }
    // Both are valid, except together.
    assert_eq!(started("", ["TargetCompID=C", &encrypted]), [""; 0]);
    let other = encrypted.replace("=B\n", "=C\n").replace("ca.pem", "other.pem");
    assert_eq!(started("", [&other, &encrypted]), [""; 0]);
    assert_eq!(started("", [&other.replace("other.pem", "ca.pem"), &encrypted]), ["B", "C"]);
}

#[test]
fn a_session_that_is_left_out_for_anything_else_leaves_the_others_of_its_port_alone() {
    for mistake in ["ResetOnLogon=yes", "Quux=1", "hello there", "LogonTimeout=${FIXBOLT_NO_SUCH_VARIABLE}"] {
        let broken = format!("TargetCompID=B\n{mistake}");
        assert_eq!(started("", ["TargetCompID=C", &broken]), ["C"], "{mistake}");
        assert_eq!(started(TLS, ["TargetCompID=C", &broken]), ["C"], "{mistake}");
    }
}

#[test]
fn what_a_session_that_is_left_out_leaves_unknown_is_said_with_what_to_do() {
    let text = "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=9\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n";
    let other = text.replace("=B", "=C");
    let checked = CheckedConfiguration::from_text("a.cfg", &format!("{text}{other}UseTLS=Y\n"));
    let mistakes: Vec<_> = checked.mistakes.iter().map(ToString::to_string).collect();
    assert_eq!(
        mistakes[0],
        "a.cfg:1: the sessions of a port have the same TLS, and this one has none; whether the one at a.cfg:7 has any is not known before its mistakes are corrected; correct them first, or give the sessions different ports"
    );
    assert!(mistakes[1].starts_with("a.cfg:13: unknown key UseTLS"), "{mistakes:?}");
    assert_eq!(mistakes.len(), 2, "{mistakes:?}");
}
