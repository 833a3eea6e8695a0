//! `fixbolt send` against a counterparty written by hand: a busy one, a hostile one, and one that
//! refuses.

mod command;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use command::{Ended, directory, fixbolt, message};
use fixbolt_codec::{Precision, SecondCache};

const ORDER: [&str; 6] = ["D", "ClOrdID=mine", "Symbol=IBM", "Side=BUY", "OrderQty=100", "OrdType=MARKET"];

/// A venue that plays its part in a thread of its own, with one connection after another.
struct Venue {
    address: String,
    thread: JoinHandle<()>,
}

impl Venue {
    fn new(part: impl FnOnce(&mut dyn FnMut() -> Peer) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let thread = std::thread::spawn(move || part(&mut || Peer::on(listener.accept().unwrap().0)));
        Self { address, thread }
    }

    /// A venue that logs the session on, waits for the message, and then plays its part.
    fn after_the_message(part: impl FnOnce(&mut Peer) + Send + 'static) -> Self {
        Self::new(move |connect| {
            let mut peer = connect();
            peer.log_on();
            peer.receive();
            part(&mut peer);
            peer.wait_for_the_end();
        })
    }

    /// Runs `send` against it, and waits for both to end.
    fn asked(self, arguments: &[&str]) -> Ended {
        let ended = command::run(&[&["send", "--to", &self.address], arguments].concat());
        self.thread.join().expect("the venue has played its part");
        ended
    }
}

/// The venue's side of a connection.
struct Peer {
    stream: TcpStream,
    received: Vec<u8>,
    seq: u64,
}

fn timestamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let mut cache = SecondCache::new();
    String::from_utf8(cache.render(u64::try_from(now).unwrap(), Precision::Millis).to_vec()).unwrap()
}

/// Returns the fields of a report of an order.
fn report(fields: &str) -> String {
    format!("17=1|150=0|55=IBM|54=1|151=0|14=0|6=0|{fields}")
}

impl Peer {
    fn on(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { stream, received: Vec::new(), seq: 1 }
    }

    fn message(&self, msg_type: &str, seq: u64, fields: &str) -> String {
        let time = timestamp();
        message("FIX.4.4", &format!("35={msg_type}|49=FIXBOLT|56=CLIENT|34={seq}|52={time}|{fields}"))
    }

    fn send(&mut self, msg_type: &str, fields: &str) {
        let message = self.message(msg_type, self.seq, fields);
        self.seq += 1;
        self.stream.write_all(message.as_bytes()).unwrap();
    }

    /// Sends a message with the number of one before, as a replay does.
    fn send_again(&mut self, msg_type: &str, fields: &str) {
        let time = timestamp();
        let message = self.message(msg_type, self.seq - 1, &format!("43=Y|122={time}|{fields}"));
        self.stream.write_all(message.as_bytes()).unwrap();
    }

    /// Returns the next message, with `|` for SOH; an empty text at the end of the connection.
    fn receive(&mut self) -> String {
        loop {
            if let Some(at) = self.received.windows(4).position(|w| w == b"\x0110=")
                && let Some(end) = self.received[at + 1..].iter().position(|b| *b == 1)
            {
                let message: Vec<u8> = self.received.drain(..at + 1 + end + 1).collect();
                return String::from_utf8(message).unwrap().replace('\u{1}', "|");
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes).unwrap_or(0) {
                0 => return String::new(),
                n => self.received.extend_from_slice(&bytes[..n]),
            }
        }
    }

    fn log_on(&mut self) {
        let logon = self.receive();
        assert!(logon.contains("|35=A|"), "{logon}");
        self.send("A", "98=0|108=30|141=Y");
    }

    /// Answers the Logout.
    fn wait_for_the_end(&mut self) {
        while !self.receive().is_empty() {
            self.send("5", "58=bye");
        }
    }
}

/// Returns the MsgTypes that were shown, with their direction.
fn shown(ended: &Ended) -> Vec<String> {
    let heads = ended.out.lines().filter(|line| line.ends_with("  sent") || line.ends_with("  received"));
    heads.map(|line| line.replace("  ", " ")).collect()
}

#[test]
fn what_others_do_and_what_was_before_is_no_answer_and_is_not_shown() {
    let venue = Venue::after_the_message(|peer| {
        peer.send("8", &report("11=theirs|37=1|39=2"));
        peer.send_again("8", &report("11=mine|37=2|39=8"));
        peer.send("3", "45=1|373=1");
        peer.send("j", "45=1|372=D|380=1");
        peer.send("B", "148=closing soon|33=1|58=x");
        peer.send("8", &report("11=mine|37=2|39=0"));
    });
    let ended = venue.asked(&ORDER);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert_eq!(shown(&ended), ["NewOrderSingle (D) sent", "ExecutionReport (8) received"]);
    assert!(ended.out.contains("OrdStatus (39): NEW (0)"), "{}", ended.out);
}

#[test]
fn what_came_and_is_no_answer_is_shown_if_no_answer_comes() {
    for (arguments, missing) in [
        (&["--timeout", "1"][..], "no answer from"),
        (&["--timeout", "1", "--wait", "filled"], "no final state of the order from"),
    ] {
        let venue = Venue::after_the_message(|peer| {
            peer.send("8", &report("11=Mine|37=1|39=0"));
            peer.send_again("8", &report("11=mine|37=2|39=0"));
            peer.send("3", "45=1|371=98|373=5");
            peer.send("0", "");
            peer.send("B", &format!("148={}|33=1|58=x", "long".repeat(1000)));
        });
        let address = venue.address.clone();
        let ended = venue.asked(&[&ORDER[..], arguments].concat());
        let told = format!(
            "fixbolt: {missing} {address} within 1 s; an answer has ClOrdID (11) mine or RefSeqNum (45) 2\n"
        );
        assert_eq!((ended.status, ended.err), (3, told));
        let lines: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("received")).collect();
        assert_eq!(lines.len(), 4, "{}", ended.out);
        for (line, (begin, part)) in lines.iter().zip([
            ("received, no answer: ", "FIXBOLT->CLIENT #2 ExecutionReport (8) ExecID=1 ExecType=NEW"),
            ("received again (PossDupFlag=Y), no answer: ", " ClOrdID=mine "),
            ("received, no answer: ", " #3 Reject (3) RefSeqNum=1 RefTagID=98 SessionRejectReason="),
            ("received, no answer: ", " News (B) Headline=longlong"),
        ]) {
            assert!(line.starts_with(begin) && line.contains(part), "{line}");
            assert!(line.len() < 600, "{} bytes", line.len());
        }
    }
    // The whole message, for programs.
    let venue = Venue::after_the_message(|peer| {
        peer.send("8", &report("11=theirs|37=1|39=0"));
        peer.send("5", "58=closing");
    });
    let ended = venue.asked(&[&ORDER[..], &["-o", "json"]].concat());
    assert_eq!(ended.status, 3, "{}", ended.err);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ended.out);
    assert!(lines[2].starts_with(r#"{"kind":"unmatched","begin_string":"FIX.4.4","msg_type":"8""#));
    assert!(lines[2].contains(r#""value":"theirs""#), "{}", lines[2]);
    // A message with an answer says nothing of it.
    let venue = Venue::after_the_message(|peer| {
        peer.send("8", &report("11=theirs|37=1|39=0"));
        peer.send("8", &report("11=mine|37=2|39=0"));
    });
    let ended = venue.asked(&ORDER);
    assert!(ended.status == 0 && !ended.out.contains("theirs"), "{}", ended.out);
}

#[test]
fn only_a_reject_that_names_the_message_rejects_it() {
    let venue = Venue::after_the_message(|peer| {
        peer.send("3", "45=7|373=1|58=not yours");
        peer.send("3", "45=2|373=1|58=yours");
    });
    let ended = venue.asked(&ORDER);
    assert_eq!(ended.status, 1, "{}", ended.err);
    assert!(ended.out.contains("Text (58): yours") && !ended.out.contains("not yours"), "{}", ended.out);
}

#[test]
fn an_answer_that_is_not_valid_is_shown_so_and_is_status_1() {
    // Side has no such value, and ExecType is missing.
    for (wrong, told) in [
        ("17=1|150=0|55=IBM|54=?|151=0|14=0|6=0|11=mine|37=1|39=0", "INVALID: Side (54)"),
        ("17=1|55=IBM|54=1|151=0|14=0|6=0|11=mine|37=1|39=0", "INVALID: ExecType (150)"),
    ] {
        let ended = Venue::after_the_message(move |peer| peer.send("8", wrong)).asked(&ORDER);
        assert_eq!((ended.status, ended.err.as_str()), (1, ""), "{}", ended.out);
        assert!(ended.out.contains(told), "{}", ended.out);
    }
    // One that is not the last, too.
    let venue = Venue::after_the_message(|peer| {
        peer.send("8", "17=1|150=0|55=IBM|54=?|151=0|14=0|6=0|11=mine|37=7|39=0");
        peer.send("8", &report("11=mine|37=7|39=2"));
    });
    let ended = venue.asked(&[&ORDER[..], &["--wait", "filled"]].concat());
    assert_eq!((ended.status, ended.err.as_str()), (1, ""), "{}", ended.out);
    assert_eq!(shown(&ended).len(), 3, "{}", ended.out);
    // Tags from 5000 on are the counterparty's own.
    let venue = Venue::after_the_message(|peer| peer.send("8", &report("11=mine|37=7|39=0|9001=x")));
    let ended = venue.asked(&ORDER);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
}

#[test]
fn a_flood_of_other_messages_is_not_kept() {
    let size = |id: u32| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let (ready_to, ready) = std::sync::mpsc::channel();
    let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
    let venue = Venue::after_the_message(move |peer| {
        let long = "x".repeat(8000);
        for round in 0..2 {
            // The first time it learns how much memory it needs.
            for n in 0..[100, 4000][round] {
                peer.send("8", &report(&format!("11=theirs{n}|37=1|39=2|58={long}")));
            }
            peer.send("1", "112=read all");
            while !peer.receive().contains("|112=read all|") {}
            ready_to.send(()).unwrap();
            goes_on.recv().unwrap();
        }
        peer.send("8", &report("11=mine|37=2|39=0"));
    });
    let mut command = fixbolt();
    command.args(["send", "--to", &venue.address, "--timeout", "60"]).args(ORDER);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut sizes = [0; 2];
    for size_now in &mut sizes {
        ready.recv_timeout(Duration::from_secs(60)).unwrap();
        *size_now = size(child.id());
        go_on.send(()).unwrap();
    }
    let ended = Ended::from(child.wait_with_output().unwrap());
    venue.thread.join().unwrap();
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!(shown(&ended).len(), 2);
    // The flood has 32,000 kB, and the store of the session keeps 1,000 of anything.
    assert!(sizes[1] - sizes[0] < 4_000, "{sizes:?}");
}

#[test]
fn the_final_state_of_an_order_is_waited_for_and_decides() {
    for (status, expected) in [("2", 0), ("4", 1), ("C", 1), ("3", 1)] {
        let venue = Venue::after_the_message(move |peer| {
            peer.send("8", &report("11=mine|37=7|39=0"));
            peer.send("8", &report("11=theirs|37=8|39=2"));
            peer.send("8", &report("37=7|39=1"));
            peer.send("8", &report(&format!("37=7|39={status}")));
        });
        let ended = venue.asked(&[&ORDER[..], &["--wait", "filled"]].concat());
        assert_eq!((ended.status, ended.err.as_str()), (expected, ""), "{}", ended.out);
        assert_eq!(shown(&ended).len(), 4, "{}", ended.out);
    }
    let venue = Venue::after_the_message(|peer| peer.send("8", &report("11=mine|37=7|39=0")));
    let address = venue.address.clone();
    let ended = venue.asked(&[&ORDER[..], &["--wait", "filled", "--timeout", "1"]].concat());
    assert_eq!(ended.status, 3);
    assert_eq!(ended.err, format!("fixbolt: no final state of the order from {address} within 1 s\n"));
    let ended = command::run(&["send", "B", "Headline=x", "33=1", "58=x", "--wait", "filled"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("--wait filled needs an order"), "{}", ended.err);
}

#[test]
fn a_refused_logon_is_status_1_and_the_counterpartys_text_is_shown() {
    let at_once = Venue::new(|connect| {
        let mut peer = connect();
        peer.receive();
        peer.send("5", "58=unknown session");
    });
    let after_all = Venue::new(|connect| {
        let mut peer = connect();
        peer.receive();
        let logon = peer.message("A", 1, "98=0|108=30|141=Y");
        let logout = peer.message("5", 2, "58=unknown session");
        peer.stream.write_all((logon + &logout).as_bytes()).unwrap();
        peer.receive();
    });
    for (venue, why) in [
        (at_once, "the counterparty refused the logon: unknown session"),
        (after_all, "the counterparty sent a Logout: unknown session"),
    ] {
        let told = format!("fixbolt: not sent to {}: {why}\n", venue.address);
        let ended = venue.asked(&ORDER);
        assert_eq!((ended.status, ended.err.as_str()), (1, told.as_str()), "{}", ended.out);
        assert_eq!(shown(&ended), ["Logout (5) received"]);
        assert!(ended.out.contains("Text (58): unknown session"), "{}", ended.out);
    }
}

#[test]
fn a_reject_of_the_logon_is_status_1_and_its_field_and_reason_are_shown() {
    for (output, parts) in [
        ("text", ["RefTagID (371): 98", "SessionRejectReason (373): ", "(5)"]),
        ("json", [r#""tag":371,"name":"RefTagID","value":"98""#, r#""tag":373"#, r#""value":"5""#]),
    ] {
        let venue = Venue::new(|connect| {
            let mut peer = connect();
            peer.receive();
            peer.send("3", "45=1|371=98|373=5|58=no such desk");
            peer.receive();
        });
        let why = "the counterparty refused the logon: no such desk (RefTagID 371 is 98, SessionRejectReason 373 is 5)";
        let told = format!("fixbolt: not sent to {}: {why}\n", venue.address);
        let ended = venue.asked(&[&ORDER[..], &["-o", output]].concat());
        assert_eq!((ended.status, ended.err), (1, told), "{}", ended.out);
        for part in parts {
            assert!(ended.out.contains(part), "{part}: {}", ended.out);
        }
    }
}

#[test]
fn a_message_that_cannot_be_sent_after_the_logon_says_why() {
    let venue = Venue::new(|connect| {
        let mut peer = connect();
        peer.receive();
        let logon = peer.message("A", 1, "98=0|108=30|141=Y");
        let low = peer.message("0", 1, "");
        peer.stream.write_all((logon + &low).as_bytes()).unwrap();
        while !peer.receive().is_empty() {}
    });
    let address = venue.address.clone();
    let ended = venue.asked(&ORDER);
    let told = format!(
        "fixbolt: not sent to {address}: the counterparty's MsgSeqNum (34) was too low: 2 was expected, 1 was received\n"
    );
    assert_eq!((ended.status, ended.err), (3, told), "{}", ended.out);
}

#[test]
fn username_and_password_are_in_the_logon_and_the_password_is_not_shown() {
    let folder = directory("send-password");
    let file = |name: &str, text: &[u8], mode: u32| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let store = folder.join("store");
    let store = store.to_str().unwrap();
    for (name, text, mode, version) in [
        ("unix", &b"correct horse\n"[..], 0o600, "FIX.4.4"),
        ("dos", b"correct horse\r\n", 0o640, "FIX.4.3"),
        ("bare", b"correct horse", 0o604, "FIX.5.0SP2"),
    ] {
        let venue = Venue::new(move |connect| {
            let mut peer = connect();
            let logon = peer.receive();
            assert!(logon.contains("|553=desk 1|554=correct horse|"), "{logon}");
        });
        let path = file(name, text, mode);
        let arguments =
            ["--version", version, "--username", "desk 1", "--password-file", &path, "--store", store];
        let ended = venue.asked(&[&ORDER[..], &arguments].concat());
        assert_eq!(ended.status, 3, "{}", ended.err);
        let warning = format!(
            "fixbolt: warning: --password-file {path}: others than its owner may read this password (mode {mode:04o})"
        );
        assert_eq!(ended.err.contains(&warning), mode != 0o600, "{}", ended.err);
        assert!(!format!("{ended:?}").contains("horse"));
    }
    let printed = command::run(&["print", &format!("{store}/FIX.4.4-CLIENT-FIXBOLT")]);
    assert!(
        printed.out.contains("Username (553): desk 1") && !printed.out.contains("horse"),
        "{}",
        printed.out
    );

    let good = file("good", b"correct horse\n", 0o600);
    for (arguments, told) in [
        (["--password-file", &*file("empty", b"", 0o600)], "/empty: it is empty"),
        (["--password-file", &*file("blank", b"\n", 0o600)], "/blank: it is empty"),
        (["--password-file", &*file("two", b"correct\nhorse\n", 0o600)], "/two: it has a control character"),
        (["--password-file", &*file("bytes", b"\xff", 0o600)], "/bytes: stream did not contain valid UTF-8"),
        (["--password-file", "nowhere"], "--password-file nowhere: No such file"),
        (["--username", ""], "--username: a name has at least one character"),
    ] {
        let ended = command::run(&[&["send"], &ORDER[..], &arguments].concat());
        assert!(ended.status == 2 && ended.err.contains(told), "{arguments:?}: {}", ended.err);
        assert!(!ended.err.contains("horse") && ended.err.lines().count() == 1, "{}", ended.err);
    }
    for (option, value, told) in [
        ("--username", "desk", "--username: the Logon of FIX.4.2 has no Username (553)"),
        ("--password-file", &*good, "--password-file: the Logon of FIX.4.2 has no Password (554)"),
    ] {
        let ended = command::run(&[&["send"], &ORDER[..], &["--version", "FIX.4.2", option, value]].concat());
        assert!(ended.status == 2 && ended.err.contains(told), "{}", ended.err);
    }
}

#[test]
fn a_logout_instead_of_an_answer_is_shown_and_is_status_3() {
    let venue = Venue::new(|connect| {
        let mut peer = connect();
        peer.log_on();
        peer.receive();
        peer.send("5", "58=closing");
        let answer = peer.receive();
        assert!(answer.contains("|35=5|"), "{answer}");
    });
    let ended = venue.asked(&ORDER);
    assert_eq!(ended.status, 3, "{}", ended.out);
    assert_eq!(shown(&ended), ["NewOrderSingle (D) sent", "Logout (5) received"]);
    assert!(ended.err.contains(": the session has ended: the counterparty logged out"), "{}", ended.err);
}

#[test]
fn a_logout_ends_the_wait_even_if_the_connection_stays_open() {
    let (ended_to, ended) = std::sync::mpsc::channel::<()>();
    let venue = Venue::new(move |connect| {
        let mut peer = connect();
        peer.log_on();
        peer.receive();
        peer.send("5", "58=closing");
        peer.receive();
        // The connection stays open until the command has ended.
        let _ = ended.recv_timeout(Duration::from_secs(60));
    });
    let Venue { address, thread } = venue;
    let told = command::run(&[&["send", "--to", &address, "--timeout", "30"], &ORDER[..]].concat());
    drop(ended_to);
    thread.join().unwrap();
    assert_eq!(told.status, 3, "{}", told.out);
    assert!(told.err.ends_with(": the session has ended: the counterparty logged out\n"), "{}", told.err);
}

#[test]
fn a_counterparty_may_choose_any_heart_bt_int() {
    for seconds in [0, 1, 86_400] {
        let venue = Venue::new(move |connect| {
            let mut peer = connect();
            peer.receive();
            peer.send("A", &format!("98=0|108={seconds}|141=Y"));
            peer.receive();
            peer.send("8", &report("11=mine|37=2|39=0"));
            peer.wait_for_the_end();
        });
        let ended = venue.asked(&ORDER);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{seconds}");
    }
}

/// Checks why there is no logon with a venue that has received our Logon and answers it in its way.
fn no_logon_because(why: &str, answer: impl FnOnce(&mut Peer) + Send + 'static) {
    let venue = Venue::new(|connect| {
        let mut peer = connect();
        peer.receive();
        answer(&mut peer);
        peer.receive();
    });
    let address = venue.address.clone();
    let ended = venue.asked(&ORDER);
    assert_eq!((ended.status, ended.err), (3, format!("fixbolt: no logon with {address}: {why}\n")));
}

#[test]
fn whoever_ends_the_logon_is_named() {
    no_logon_because("the counterparty's first message was not a Logon", |peer| peer.send("0", ""));
}

#[test]
fn a_counterparty_that_only_closes_is_status_3() {
    let venue = Venue::new(|connect| drop(connect()));
    let address = venue.address.clone();
    let ended = venue.asked(&ORDER);
    assert_eq!(ended.status, 3, "{}", ended.out);
    let told = format!("fixbolt: no logon with {address}: the counterparty closed the connection ");
    assert!(ended.err.starts_with(&told) && ended.err.lines().count() == 1, "{}", ended.err);
}

#[test]
fn a_logon_in_another_version_is_told_as_that() {
    no_logon_because("the counterparty sent another BeginString (8) than the session's", |peer| {
        let logon = format!("35=A|49=FIXBOLT|56=CLIENT|34=1|52={}|98=0|108=30|141=Y", timestamp());
        peer.stream.write_all(message("FIX.4.2", &logon).as_bytes()).unwrap();
    });
}

#[test]
fn what_comes_and_is_no_message_is_told() {
    let no_logon = Venue::new(|connect| {
        let mut peer = connect();
        peer.receive();
        peer.stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        peer.receive();
    });
    let ended = no_logon.asked(&[&["--timeout", "1"], &ORDER[..]].concat());
    assert_eq!(ended.status, 3, "{}", ended.err);
    assert!(ended.err.contains(" within 1 s; 28 garbled bytes were dropped: "), "{}", ended.err);
    let no_answer = Venue::after_the_message(|peer| {
        let fields = report("11=mine|37=2|39=0");
        let answer = peer.message("8", peer.seq, &fields);
        let (rest, sum) = answer.split_at(answer.len() - 4);
        let wrong = if sum == "000\u{1}" { "001\u{1}" } else { "000\u{1}" };
        peer.stream.write_all(format!("{rest}{wrong}").as_bytes()).unwrap();
    });
    let ended = no_answer.asked(&[&["--timeout", "1"], &ORDER[..]].concat());
    assert_eq!(ended.status, 3, "{}", ended.err);
    assert!(ended.err.contains("garbled bytes were dropped: CheckSum (10) is "), "{}", ended.err);
}

#[test]
fn a_report_whose_number_was_used_before_is_no_answer() {
    let venue = Venue::after_the_message(|peer| {
        peer.seq -= 1;
        peer.send("8", &report("11=mine|37=2|39=0"));
    });
    let ended = venue.asked(&ORDER);
    assert_eq!(ended.status, 3, "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("received, no answer: "), "{}", ended.out);
    let why = "the counterparty's MsgSeqNum (34) was too low: 2 was expected, 1 was received";
    assert!(ended.err.contains(why), "{}", ended.err);
}

#[test]
fn what_is_wrong_in_the_arguments_is_told_at_once() {
    let ended = command::run(&["send", "NewOrdrSingle", "Symbl=IBM", "=5"]);
    let lines = [
        "fixbolt: FIX.4.4 has no message NewOrdrSingle; did you mean NewOrderSingle?",
        "fixbolt: FIX.4.4 has no field Symbl; did you mean Symbol?",
        "fixbolt: =5: there is no name; write a field as NAME=VALUE or TAG=VALUE",
    ];
    assert_eq!((ended.status, ended.err.lines().collect::<Vec<_>>()), (2, lines.to_vec()));
    let ended = command::run(&["send", "D", "Symbol=IBM", "--to", "::1"]);
    let why = "write HOST:PORT, such as 127.0.0.1:9880; an IPv6 address is in brackets: [::1]:9880";
    assert_eq!((ended.status, ended.err), (2, format!("fixbolt: --to ::1: {why}\n")));
}

#[test]
fn outside_the_schedule_the_opening_is_told_at_once() {
    let config = directory("send-schedule").join("trader.cfg");
    // Of a weekday that is neither today nor tomorrow.
    let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 86_400;
    let day = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
        [(today as usize + 3) % 7];
    let text = format!(
        "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=CLIENT\n\
         TargetCompID=FIXBOLT\nHeartBtInt=30\nSocketConnectHost=127.0.0.1\nSocketConnectPort=1\n\
         StartDay={day}\nEndDay={day}\nStartTime=10:00:00\nEndTime=11:00:00\n"
    );
    std::fs::write(&config, text).unwrap();
    let ended = command::run(&[&["send", "--config", config.to_str().unwrap()], &ORDER[..]].concat());
    let why =
        "fixbolt: not sent to 127.0.0.1:1: the session's schedule allows no connection now; it opens at ";
    assert!(
        ended.status == 3 && ended.err.starts_with(why) && ended.err.ends_with("T10:00:00Z\n"),
        "{}",
        ended.err
    );
}

/// Returns a configuration whose session tries these venues in turn.
fn configuration(name: &str, venues: [&Venue; 2]) -> String {
    let config = directory(name).join("trader.cfg");
    let mut text = "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=CLIENT\n\
                    TargetCompID=FIXBOLT\nHeartBtInt=30\nResetOnLogon=Y\n"
        .to_owned();
    for (venue, n) in venues.into_iter().zip(["", "1"]) {
        let (host, port) = venue.address.split_once(':').unwrap();
        text += &format!("SocketConnectHost{n}={host}\nSocketConnectPort{n}={port}\n");
    }
    std::fs::write(&config, text).unwrap();
    config.to_str().unwrap().to_owned()
}

#[test]
fn the_hosts_of_a_configuration_are_tried_in_turn() {
    let closes = Venue::new(|connect| drop(connect()));
    let answers = Venue::after_the_message(|peer| peer.send("8", &report("11=mine|37=2|39=0")));
    let config = configuration("send-hosts", [&closes, &answers]);
    let ended = command::run(&[&["send", "--config", &config], &ORDER[..]].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    for venue in [closes, answers] {
        venue.thread.join().unwrap();
    }
}

#[test]
fn why_a_message_is_not_sent_is_what_the_host_says_that_refuses() {
    let closes = Venue::new(|connect| drop(connect()));
    let refuses = Venue::new(|connect| {
        let mut peer = connect();
        peer.receive();
        peer.send("5", "58=unknown session");
    });
    let config = configuration("send-refusing-host", [&closes, &refuses]);
    let ended = command::run(&[&["send", "--config", &config], &ORDER[..]].concat());
    let why = ": the counterparty refused the logon: unknown session\n";
    assert!(ended.status == 1 && ended.err.ends_with(why), "{}", ended.err);
    for venue in [closes, refuses] {
        venue.thread.join().unwrap();
    }
}
