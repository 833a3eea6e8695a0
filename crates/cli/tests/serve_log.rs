//! What `fixbolt serve` writes to standard error, and that no session waits for whoever reads it.

mod command;

use std::fs::File;
use std::io::{ErrorKind, Read, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use command::{Ended, Server, directory, fixbolt, message, run};
use fixbolt_codec::UtcTimestamp;

/// A counterparty of FIX.4.4, whose messages have the next sequence number and the time.
struct Client {
    stream: TcpStream,
    name: &'static str,
    seq: u64,
    received: String,
}

impl Client {
    fn connect(server: &Server, name: &'static str) -> Self {
        let stream = TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self { stream, name, seq: 1, received: String::new() }
    }

    fn logged_on(server: &Server, name: &'static str) -> Self {
        let mut client = Self::connect(server, name);
        client.send("A", "98=0|108=30|");
        client.wait_for("|35=A|");
        client
    }

    fn message(&mut self, msg_type: &str, fields: &str) -> Vec<u8> {
        let (name, seq, now) = (self.name, self.seq, UtcTimestamp::now());
        self.seq += 1;
        message("FIX.4.4", &format!("35={msg_type}|49={name}|56=FIXBOLT|34={seq}|52={now}|{fields}")).into()
    }

    fn send(&mut self, msg_type: &str, fields: &str) {
        let bytes = self.message(msg_type, fields);
        self.stream.write_all(&bytes).unwrap();
    }

    fn order(&mut self, id: &str) {
        self.send("D", &format!("11={id}|55=IBM|54=1|60={}|38=100|40=1|", UtcTimestamp::now()));
    }

    /// Reads until this text was received.
    fn wait_for(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        while !self.received.contains(text) {
            let len = self.stream.read(&mut bytes).unwrap();
            assert_ne!(len, 0, "closed without {text}: {}", self.received);
            self.received += &String::from_utf8_lossy(&bytes[..len]).replace('\x01', "|");
        }
    }

    /// Reads until the connection is closed.
    fn wait_for_close(&mut self) {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
        }
    }

    /// Sends garbled messages, with a Heartbeat after each fifty: a counterparty whose messages are
    /// all garbled may be logged out.
    fn flood(&mut self, garbled: usize) {
        for _ in 0..garbled / 50 {
            let mut bytes = "8=FIX.4.4|9=5|35=0|10=000|".repeat(50).replace('|', "\x01").into_bytes();
            bytes.extend(self.message("0", ""));
            self.stream.write_all(&bytes).unwrap();
        }
        self.send("1", "112=after the flood|");
        self.wait_for("|112=after the flood|");
    }
}

/// A file for a server's standard error.
struct Log(PathBuf);

impl Log {
    fn new(folder: &Path) -> Self {
        Self(folder.join("serve.log"))
    }

    fn file(&self) -> File {
        File::create(&self.0).unwrap()
    }

    fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(&self.0).unwrap().lines().map(str::to_owned).collect()
    }

    /// Waits for a line that contains all of these words.
    fn wait_for(&self, words: &[&str]) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let lines = self.lines();
            if let Some(line) = lines.iter().find(|line| words.iter().all(|word| line.contains(word))) {
                return line.clone();
            }
            assert!(Instant::now() < deadline, "no line with {words:?}: {lines:#?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Writes a configuration of acceptor sessions with a journal.
fn configuration(folder: &Path, targets: &[&str]) -> String {
    let path = folder.join("venue.cfg");
    let journal = folder.join("journal");
    let mut text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=FIXBOLT\nFileStorePath={}\n",
        journal.display()
    );
    for target in targets {
        text += &format!("[SESSION]\nTargetCompID={target}\n");
    }
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Flips a bit of the journal of FIX.4.4:FIXBOLT->`target`, in these bytes.
fn damage(folder: &Path, target: &str, bytes: &[u8]) {
    let segment = folder.join(format!("journal/FIX.4.4-FIXBOLT-{target}/segment-000001"));
    let content = std::fs::read(&segment).unwrap();
    let at = content.windows(bytes.len()).position(|found| found == bytes).expect("they are in the journal");
    let file = File::options().write(true).open(segment).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[bytes[0] ^ 1], at as u64).unwrap();
}

/// Asserts that a line begins with a time in UTC, in milliseconds.
fn has_time(line: &str) -> bool {
    let shape: String = line.chars().take(24).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}

/// Reads a JSON object without nested values: its members in order.
fn members(line: &str) -> Vec<(String, String)> {
    fn string(rest: &mut &str) -> String {
        *rest = rest.strip_prefix('"').unwrap_or_else(|| panic!("no string at {rest}"));
        let mut text = String::new();
        loop {
            let mut chars = rest.chars();
            let c = chars.next().expect("the string ends");
            *rest = chars.as_str();
            match c {
                '"' => return text,
                '\\' => {
                    let escaped = rest.chars().next().expect("the escape ends");
                    let code = if escaped == 'u' { 5 } else { 1 };
                    text.push_str(&rest[..code]);
                    *rest = &rest[code..];
                }
                c => {
                    assert!(c >= ' ', "a control character in {line:?}", line = rest);
                    text.push(c);
                }
            }
        }
    }
    let mut rest = line.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).expect(line);
    let mut members = Vec::new();
    while !rest.is_empty() {
        let name = string(&mut rest);
        rest = rest.strip_prefix(':').expect(line);
        let value = if rest.starts_with('"') {
            string(&mut rest)
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            assert!(number.parse::<u64>().is_ok(), "{number} in {line}");
            rest = after;
            number.to_owned()
        };
        members.push((name, value));
        assert!(rest.is_empty() || rest.starts_with(','), "{rest} in {line}");
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    members
}

#[test]
fn a_log_that_nobody_reads_stops_no_session_and_not_the_end_of_the_process() {
    // The pipe is full before the first line.
    let (_unread, mut log) = pipe().unwrap();
    let flags = rustix::fs::fcntl_getfl(&log).unwrap();
    rustix::fs::fcntl_setfl(&log, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
    while log.write(&[b'x'; 1024]).is_ok() {}
    while log.write(b"x").is_ok() {}
    rustix::fs::fcntl_setfl(&log, flags).unwrap();
    let server = Server::start_with_log(&[], log);
    let mut other = Client::logged_on(&server, "OTHER");
    let mut garbling = Client::logged_on(&server, "GARBLING");
    garbling.flood(20_000);
    // Every refused connection is a line, too.
    for _ in 0..200 {
        let mut stranger = Client::connect(&server, "STRANGER");
        stranger.stream.write_all(b"GET / HTTP/1.1\r\n\r\n8=FIX.4.4\x019=1\x0110=000\x01").unwrap();
        stranger.wait_for_close();
    }
    other.order("during the flood");
    other.wait_for("|11=during the flood|");
    drop((other, garbling));
    assert_eq!(server.stop("-TERM"), Some(0));
}

#[test]
fn a_flood_of_garbled_messages_is_a_few_lines_a_second_that_count_all_of_them() {
    let folder = directory("serve-log-flood");
    let log = Log::new(&folder);
    let server = Server::start_with_log(&[], log.file());
    let begin = Instant::now();
    let mut garbling = Client::logged_on(&server, "GARBLING");
    garbling.flood(50_000);
    let seconds = begin.elapsed().as_secs() + 2;
    drop(garbling);
    assert_eq!(server.stop("-TERM"), Some(0));
    let lines = log.lines();
    assert!(lines.iter().all(|line| has_time(line)), "{lines:#?}");
    let garbled: Vec<_> = lines.iter().filter(|line| line.contains(" garbled bytes were dropped")).collect();
    assert!(garbled.len() as u64 <= 11 * seconds, "{} lines in {seconds} s", garbled.len());
    assert!(
        garbled.iter().all(|line| line.contains(" warning: FIX.4.4:FIXBOLT->GARBLING: ")),
        "{garbled:#?}"
    );
    let counted = garbled.iter().map(|line| match line.split_once(" more like this in the last second") {
        Some((before, _)) => before.rsplit(' ').next().unwrap().parse::<usize>().unwrap(),
        None => 1,
    });
    assert_eq!(counted.sum::<usize>(), 50_000, "{garbled:#?}");
}

#[test]
fn lines_say_what_an_operator_needs_and_a_counterparty_cannot_forge_one() {
    let folder = directory("serve-log-lines");
    let log = Log::new(&folder);
    let config = configuration(&folder, &["CLIENT"]);
    let server = Server::start_with_log(&["--config", &config], log.file());
    let mut stranger = Client::connect(&server, "NOBODY");
    stranger.send("A", "98=0|108=30|");
    stranger.wait_for_close();
    let peer = stranger.stream.local_addr().unwrap().to_string();
    log.wait_for(&[" FIX.4.4:FIXBOLT->NOBODY: closed before logon, ", &peer, "there is no such session"]);

    let mut client = Client::logged_on(&server, "CLIENT");
    let mut second = Client::connect(&server, "CLIENT");
    second.send("A", "98=0|108=30|");
    second.wait_for_close();
    let [first, second] = [&client, &second].map(|peer| peer.stream.local_addr().unwrap());
    log.wait_for(&[
        "warning: FIX.4.4:FIXBOLT->CLIENT: ",
        &format!("the session is connected already, peer {second}, connected {first}"),
    ]);
    client.seq = 1;
    client.send("0", "");
    client.wait_for_close();
    log.wait_for(&[
        "warning: FIX.4.4:FIXBOLT->CLIENT: ",
        "MsgSeqNum (34) was too low: 2 was expected, 1 was rec",
    ]);

    let mut client = Client::connect(&server, "CLIENT");
    client.seq = 2;
    client.send("A", "98=0|108=30|");
    client.wait_for("|35=A|");
    client.send("5", "58=bye\n2026-01-01T00:00:00.000Z FIX.4.4:FIXBOLT->CLIENT: logged on\x1b[2J|");
    client.wait_for("|35=5|");
    drop(client);
    log.wait_for(&["CLIENT: the counterparty sent a Logout: bye\\x0a2026-01-01T00:00:00.000Z FIX.4.4:FIXB"]);
    assert_eq!(server.stop("-TERM"), Some(0));
    let text = std::fs::read_to_string(&log.0).unwrap();
    assert!(!text.contains('\x1b') && !text.contains("\n2026-01-01"), "{text}");
    assert!(text.lines().all(has_time), "{text}");
}

#[test]
fn without_a_configuration_any_heart_bt_int_is_accepted() {
    let server = Server::start(&[]);
    for (name, seconds) in [("NONE", 0), ("SHORT", 1), ("LONG", 86_400)] {
        let mut client = Client::connect(&server, name);
        client.send("A", &format!("98=0|108={seconds}|"));
        client.wait_for(&format!("|108={seconds}|"));
    }
}

#[test]
fn a_malformed_sequence_number_is_told_from_one_that_is_missing() {
    let log = Log::new(&directory("serve-log-malformed"));
    let server = Server::start_with_log(&[], log.file());
    for seq in ["34=2x|", "34=-1|", ""] {
        let mut client = Client::logged_on(&server, "CLIENT");
        let heartbeat = format!("35=0|49=CLIENT|56=FIXBOLT|{seq}52={}|", UtcTimestamp::now());
        client.stream.write_all(message("FIX.4.4", &heartbeat).as_bytes()).unwrap();
        client.wait_for_close();
    }
    assert_eq!(server.stop("-TERM"), Some(0));
    let lines = log.lines();
    let told = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    assert_eq!(told("the counterparty sent a message with a malformed MsgSeqNum (34)"), 2, "{lines:#?}");
    assert_eq!(told("the counterparty sent a message without MsgSeqNum (34)"), 1, "{lines:#?}");
}

#[test]
fn json_is_an_object_for_each_line_with_its_values_by_name() {
    let folder = directory("serve-log-json");
    let log = Log::new(&folder);
    let config = configuration(&folder, &["CLIENT"]);
    let server = Server::start_with_log(&["-o", "json", "--config", &config], log.file());
    let mut client = Client::logged_on(&server, "CLIENT");
    client.send("3", "45=1|371=98|373=5|");
    client.seq = 1;
    client.send("0", "");
    client.wait_for_close();
    let mut stranger = Client::connect(&server, "NO \"BODY\\");
    stranger.send("A", "98=0|108=30|");
    stranger.wait_for_close();
    assert_eq!(server.stop("-TERM"), Some(0));
    let lines = log.lines();
    let member = |line: &[(String, String)], name: &str| {
        line.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let lines: Vec<_> = lines.iter().map(|line| members(line)).collect();
    for line in &lines {
        let names: Vec<_> = line.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[..3], ["time", "level", "kind"], "{line:?}");
        assert!(has_time(&member(line, "time")) && !member(line, "text").is_empty(), "{line:?}");
    }
    let kind = |kind: &str, level: &str| {
        let found = lines.iter().find(|line| member(line, "kind") == kind && member(line, "level") == level);
        found.unwrap_or_else(|| panic!("no {kind}: {lines:#?}"))
    };
    let ended = kind("ended", "warning");
    assert_eq!((member(ended, "expected"), member(ended, "received")), ("3".into(), "1".into()));
    assert_eq!(
        (member(ended, "session"), member(ended, "by")),
        ("FIX.4.4:FIXBOLT->CLIENT".into(), "peer".into())
    );
    let rejected = kind("reject_received", "warning");
    assert_eq!(
        member(rejected, "text"),
        "the counterparty rejected message 1: Value is incorrect (out of range) for this tag (RefTagID 371 is 98, SessionRejectReason 373 is 5)"
    );
    assert_eq!((member(rejected, "tag"), member(rejected, "reject_reason")), ("98".into(), "5".into()));
    let refused = kind("closed_before_logon", "info");
    // The text of an identity writes a backslash as two.
    assert_eq!(member(refused, "session"), r#"FIX.4.4:FIXBOLT->NO "BODY\\"#);
    assert_eq!(member(refused, "peer"), stranger.stream.local_addr().unwrap().to_string());
    assert_eq!(member(refused, "reason"), "there is no such session at this address");

    let ended: Ended =
        fixbolt().args(["serve", "-o", "json", "--listen", "1.1.1.1:1"]).output().unwrap().into();
    assert_eq!((ended.status, ended.err.lines().count()), (2, 1));
    let line = members(ended.err.trim_end());
    assert_eq!(member(&line, "kind"), "failure");
    assert!(member(&line, "text").starts_with("cannot listen on 1.1.1.1:1: "), "{line:?}");
}

#[test]
fn with_all_sessions_halted_it_says_so_and_ends_with_status_1_unless_told_to_stay() {
    let folder = directory("serve-log-halted");
    let log = Log::new(&folder);
    let both = configuration(&folder, &["DAMAGED", "WHOLE"]);
    let server = Server::start_with_log(&["--config", &both], log.file());
    for name in ["DAMAGED", "WHOLE"] {
        let mut client = Client::logged_on(&server, name);
        client.order("an order");
        client.wait_for("|35=8|");
        client.send("5", "");
        client.wait_for("|35=5|");
    }
    assert_eq!(server.stop("-TERM"), Some(0));
    damage(&folder, "DAMAGED", b"55=IBM\x01");

    // The other session is served.
    let server = Server::start_with_log(&["--config", &both], log.file());
    let repair =
        format!("fixbolt journal repair {}/FIX.4.4-FIXBOLT-DAMAGED", folder.join("journal").display());
    log.wait_for(&[" error: FIX.4.4:FIXBOLT->DAMAGED: the session is halted, ", &repair]);
    let told = log.wait_for(&[" error: FIX.4.4:FIXBOLT->DAMAGED: not served until its halt is ended: "]);
    assert!(told.contains(&format!("run `{repair}`, and start this process again")), "{told}");
    let mut whole = Client::connect(&server, "WHOLE");
    whole.seq = 4;
    whole.send("A", "98=0|108=30|");
    whole.wait_for("|35=A|");
    // Then it halts as well: what it is asked for again is damaged.
    damage(&folder, "WHOLE", b"150=");
    whole.send("2", "7=1|16=0|");
    assert_eq!(server.ended(), Some(1));
    let repair = repair.replace("DAMAGED", "WHOLE");
    log.wait_for(&[" error: FIX.4.4:FIXBOLT->WHOLE: not served until its halt is ended: ", &repair]);
    log.wait_for(&[" error: all 2 sessions are halted: nobody can be served"]);

    let ended = run(&["serve", "--config", &both]);
    assert_eq!((ended.status, ended.out.as_str()), (1, ""), "{}", ended.err);
    assert!(ended.err.contains(" error: all 2 sessions are halted: nobody can be served\n"), "{}", ended.err);

    let server = Server::start_with_log(&["--config", &both, "--stay"], log.file());
    log.wait_for(&["nobody can be served"]);
    assert_eq!(server.stop("-TERM"), Some(0));

    // Whoever else may connect can be served.
    let text = std::fs::read_to_string(&both).unwrap() + "[SESSION]\nTargetCompID=*\nDynamicSession=Y\n";
    std::fs::write(&both, text).unwrap();
    let server = Server::start_with_log(&["--config", &both], log.file());
    Client::logged_on(&server, "ANOTHER");
    assert_eq!(server.stop("-TERM"), Some(0));
}

/// Returns how often the threads of a process with this name have slept.
#[cfg(target_os = "linux")]
fn slept(process: u32, name: &str) -> Vec<u64> {
    let threads = fixbolt_conformance::testing::ThreadStatus::of_process(process).into_iter();
    threads.filter(|thread| thread.name() == name).map(|thread| thread.slept()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn the_thread_that_watches_for_halts_sleeps_while_no_session_halts() {
    let config = configuration(&directory("serve-log-idle"), &["CLIENT"]);
    let server = Server::start_with_log(&["--config", &config], Stdio::null());
    let mut client = Client::logged_on(&server, "CLIENT");
    let before = slept(server.id(), "fixbolt-halts");
    for n in 0..20 {
        client.order(&format!("order {n}"));
        client.wait_for(&format!("|11=order {n}|"));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(before.len(), 1);
    assert_eq!(slept(server.id(), "fixbolt-halts"), before);
    assert_eq!(server.stop("-TERM"), Some(0));
}

#[test]
fn a_server_serves_although_nobody_reads_where_it_listens() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let (unread, stdout) = pipe().unwrap();
    drop(unread);
    let mut command = fixbolt();
    command.args(["serve", "--listen", &address]).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut stream = loop {
        match TcpStream::connect(&address) {
            Ok(stream) => break stream,
            Err(error) => assert!(Instant::now() < deadline, "{error}; {:?}", child.try_wait()),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let now = UtcTimestamp::now();
    let logon = message("FIX.4.4", &format!("35=A|49=CLIENT|56=FIXBOLT|34=1|52={now}|98=0|108=30|"));
    stream.write_all(logon.as_bytes()).unwrap();
    let mut bytes = [0; 4096];
    let len = stream.read(&mut bytes).unwrap();
    assert!(bytes[..len].windows(5).any(|bytes| bytes == b"\x0135=A"), "{:?}", child.try_wait());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_session_with_codec_timing_says_at_its_end_how_long_its_messages_took() {
    let folder = directory("codec-timing");
    let config = configuration(&folder, &["TIMED"]);
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("[DEFAULT]\n", "[DEFAULT]\nCodecTiming=Y\n")).unwrap();
    let log = Log::new(&folder);
    let server = Server::start_with_log(&["--config", &config], log.file());
    let mut client = Client::logged_on(&server, "TIMED");
    client.order("1");
    client.wait_for("|35=8|");
    client.send("5", "");
    client.wait_for("|35=5|");
    client.wait_for_close();
    server.stop("-TERM");
    // The Logon, a report and the Logout; the Logon, the order and the Logout.
    for operation in ["Encode: ", "Decode: "] {
        let line = log.wait_for(&["FIX.4.4:FIXBOLT->TIMED", operation]);
        assert!(line.contains(" secs, 3 msgs, ") && line.ends_with(" msgs/sec"), "{line}");
    }
}
