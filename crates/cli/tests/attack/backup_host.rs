//! An initiator whose first host is no use.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::files::Folder;
use crate::message;
use crate::peer::Peer;

#[test]
fn a_backup_host_is_tried_after_a_primary_that_accepts_and_closes() {
    let primary = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let backup = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let port = |listener: &TcpListener| listener.local_addr().expect("it is bound").port();
    let folder = Folder::create();
    let config = folder.0.join("client.cfg");
    let text = format!(
        "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=CLIENT\n\
         TargetCompID=FIXBOLT\nHeartBtInt=30\nReconnectInterval=1\nSocketConnectHost=127.0.0.1\n\
         SocketConnectPort={}\nSocketConnectHost1=127.0.0.1\nSocketConnectPort1={}\n",
        port(&primary),
        port(&backup)
    );
    std::fs::write(&config, text).expect("the folder can be written");
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    std::thread::spawn(move || {
        for connection in primary.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
            drop(connection);
        }
    });
    std::thread::spawn(move || {
        let (stream, _) = backup.accept().expect("the initiator comes");
        let mut peer = Peer::new(stream, "FIXBOLT", "CLIENT");
        peer.next_of("A").expect("a Logon comes");
        peer.send("35=A|98=0|108=30").expect("the connection is open");
        let order = peer.next_of("D").expect("an order comes").expect("the connection is open");
        let id = order.get("11").expect("it has an id");
        let report =
            format!("35=8|37=O|11={id}|17=E|150=F|39=2|55=IBM|54=1|151=0|14=100|6=1|60={}", message::time(0));
        peer.send(&report).expect("the connection is open");
        // The Logout, if it comes before this test ends.
        if let Ok(Some(_)) = peer.next_of("5") {
            let _ = peer.send("35=5");
        }
    });
    let ended = Command::new(env!("CARGO_BIN_EXE_fixbolt"))
        .args(["send", "D", "55=IBM", "54=1", "38=100", "40=1", "--timeout", "15", "--config"])
        .arg(&config)
        .stdin(Stdio::null())
        .output()
        .expect("the command runs");
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let tries = tries.load(Ordering::Relaxed);
    assert!((1..=3).contains(&tries), "{tries} tries at the primary");
}
