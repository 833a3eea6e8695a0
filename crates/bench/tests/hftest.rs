//! `fixbolt bench hftest` as a user runs it: two terminals, keys, a server that dies, wrong usage.

mod command;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use command::{bench, directory, run};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A command in a terminal of its own.
struct Terminal {
    child: Child,
    controller: File,
    /// What the terminal shows, with `\n` as the end of a line.
    shown: Arc<Mutex<String>>,
    /// Up to where it was read.
    at: usize,
}

impl Terminal {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let terminal = File::options().read(true).write(true).open(name).unwrap();
        let stdio = || Stdio::from(terminal.try_clone().unwrap());
        let child = bench()
            .args(["hftest"])
            .args(arguments)
            .current_dir(folder)
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .unwrap();
        let controller = File::from(controller);
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut from, to) = (controller.try_clone().unwrap(), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal that nobody has open any more is an error.
            while let Ok(len @ 1..) = from.read(&mut bytes) {
                to.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..len]).replace('\r', ""));
            }
        });
        Self { child, controller, shown, at: 0 }
    }

    fn press(&mut self, keys: &str) {
        self.controller.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the terminal shows this text after what was waited for before. Returns all that
    /// is shown.
    fn wait_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let shown = self.shown.lock().unwrap().clone();
            if let Some(found) = shown[self.at..].find(text) {
                self.at += found + text.len();
                return shown;
            }
            assert!(Instant::now() < deadline, "no {text:?} after {}:\n{shown}", self.at);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the command ends. Returns its exit status and all that was shown.
    fn end(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // What it wrote last is still on its way.
                std::thread::sleep(Duration::from_millis(100));
                return (status.code(), self.shown.lock().unwrap().clone());
            }
            let shown = self.shown.lock().unwrap().clone();
            assert!(Instant::now() < deadline, "it does not end:\n{shown}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server on a port that the system chooses, and its address.
fn server(folder: &Path, more: &[&str]) -> (Terminal, String) {
    let listen = ["-sl", "server", "--listen", "127.0.0.1:0"];
    let mut server = Terminal::start(folder, &[&listen[..], more].concat());
    server.wait_for("listening ");
    let shown = server.wait_for("\n");
    let address = shown.trim_start_matches("listening ").trim().to_owned();
    (server, address)
}

/// Replaces what differs from run to run: figures of tables and times, and the port. Leaves out the
/// machine.
fn masked(shown: &str) -> String {
    let (session, results) = shown.split_once("hftest: ").unwrap_or((shown, ""));
    let results = results.split("\nmachine: ").next().unwrap_or(results);
    let mut masked = session.lines().map(|line| masked_line(line) + "\n").collect::<String>();
    for line in results.lines() {
        let mut last = ' ';
        for c in line.chars() {
            let c = if c.is_ascii_digit() || c == '.' && last == '#' { '#' } else { c };
            if c != last || !matches!(c, '#' | ' ') {
                masked.push(c);
            }
            last = c;
        }
        masked.push('\n');
    }
    masked
}

/// Masks what differs from run to run in a line of a session.
fn masked_line(line: &str) -> String {
    let time = "2013-05-03 20:15:00.855875931".len();
    // A line of the log: its number, where it comes from, and the time.
    let text = match (line.split_at_checked(10), line.get(10 + time..)) {
        (Some((number, _)), Some(text)) if number.ends_with(" A ") || number.ends_with(" B ") => {
            format!("{number}#{text}")
        }
        _ => line.to_owned(),
    };
    for after in ["listening 127.0.0.1:", "Trying to connect to: 127.0.0.1:", "Encode: ", "Decode: "] {
        if let Some((before, _)) = text.split_once(after) {
            return format!("{before}{after}#");
        }
    }
    text
}

/// Asserts that the log has lines for what was encoded and decoded, as `grep -E` finds them: so
/// many messages, and the Heartbeats of a slow machine.
fn has_times(log: &Path, encoded: u64, decoded: u64) {
    let text = std::fs::read_to_string(log).unwrap();
    for (word, messages) in [("Encode: ", encoded), ("Decode: ", decoded)] {
        let line = text.lines().find(|line| line.contains(word)).expect(&text);
        let counted: u64 = line.split(" msgs,").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
        assert!((messages..messages + 20).contains(&counted), "{messages}: {line}");
        let shape: String = line.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert!(shape.starts_with("0000000 A 0000-00-00 00:00:00.000000000 "), "{line}");
        assert!(shape.contains(" secs/msg, ") && shape.ends_with(" msgs/sec"), "{line}");
    }
}

#[test]
fn the_transcript_has_the_words_of_the_page() {
    let shared = std::env::var_os("FIXBOLT_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        std::path::PathBuf::from,
    );
    let Ok(page) = std::fs::read_to_string(shared.join("published/fix8-quickfix.txt")) else {
        return eprintln!("the published page is not here: only the committed transcript is compared");
    };
    // The page has lost its ends of lines, and other numbers.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = words(&page);
    let transcript = include_str!("published/hftest-client.txt");
    let menu = transcript.find("Key\t").unwrap()..transcript.find("unknown key").unwrap();
    for published in [
        "0 NewOrderSingle msgs currently preloaded. loading...",
        "NewOrderSingle msgs preloaded.",
        &words(&transcript[menu]),
        "NewOrderSingle msgs sent",
        "0 NewOrderSingle msgs remaining.",
        "ExecutionReport msgs received",
        " Starting session ",
        " Trying to connect to: 127.0.0.1:",
        " Connection successful ",
        " Session connected ",
        " Client setting heartbeat interval to 10 ",
        " Heartbeat interval is 10 ",
    ] {
        assert!(page.contains(published), "{published}");
        assert!(words(transcript).contains(published), "{published}");
    }
}

#[test]
fn two_terminals_show_what_the_published_page_shows() {
    let folder = directory("hftest-two");
    let (server, address) = server(&folder, &["--once"]);
    let mut client = Terminal::start(&folder, &["-l", "client", "--client", &address, "-p", "1000"]);
    let modes = |client: &Terminal| rustix::termios::tcgetattr(&client.controller).unwrap().local_modes;
    client.wait_for("1000 NewOrderSingle msgs preloaded.\n");
    client.wait_for("keys.\n");
    client.press("?");
    client.wait_for("x\tExit\n");
    client.press("z");
    client.wait_for("unknown key z");
    client.press("n");
    client.wait_for("ExecutionReport msgs received\n");
    client.press("p");
    client.wait_for("preload: ");
    client.press("many\n");
    client.wait_for("not a number of messages: many\n");
    client.press("p");
    client.wait_for("preload: ");
    // A backspace corrects what was typed.
    client.press("9\x7f\x7f50\n");
    client.wait_for("1050 NewOrderSingle msgs preloaded.\n");
    client.press("b");
    client.wait_for("send: ");
    client.press("20\n");
    client.wait_for("ExecutionReport msgs received\n");
    client.press("N");
    client.wait_for("send: ");
    client.press("3\n");
    client.wait_for("ExecutionReport msgs received\n");
    client.press("a");
    client.wait_for("ExecutionReport msgs received\n");
    client.press("a");
    client.wait_for("0 NewOrderSingle msgs remaining.\n");
    assert!(!modes(&client).contains(rustix::termios::LocalModes::ICANON));
    client.press("l");
    client.wait_for("Logging out\n");
    client.wait_for("machine: ");
    assert!(modes(&client).contains(rustix::termios::LocalModes::ICANON));
    let (status, shown) = client.end();
    assert_eq!(status, Some(0), "{shown}");
    assert_eq!(masked(&shown), include_str!("published/hftest-client.txt"));
    let (status, shown) = server.end();
    assert_eq!(status, Some(0), "{shown}");
    assert_eq!(masked(&shown), include_str!("published/hftest-server.txt"));
    // 1074 orders with Logon and Logout; their reports, which the seed decides.
    has_times(&folder.join("client"), 1076, 4247);
    has_times(&folder.join("server"), 4247, 1076);
}

#[test]
fn in_reliable_mode_every_order_is_answered_although_the_server_was_killed() {
    let folder = directory("hftest-killed");
    let (first, address) = server(&folder, &[]);
    let mut client =
        Terminal::start(&folder, &["-rl", "client", "--client", &address, "-p", "8000", "-b", "1"]);
    client.wait_for("Heartbeat interval is 10\n");
    client.wait_for("8000 NewOrderSingle msgs preloaded.\n");
    client.wait_for("keys.\n");
    client.press("a");
    // All of them take seconds.
    std::thread::sleep(Duration::from_millis(100));
    // Without a Logout.
    drop(first);
    client.wait_for("Session ended: ");
    let mut again = Terminal::start(&folder, &["-sl", "again", "--listen", &address, "--once"]);
    again.wait_for("listening ");
    client.wait_for("Session connected\n");
    client.wait_for("8000 NewOrderSingle msgs sent\n0 NewOrderSingle msgs remaining.\n");
    client.wait_for("ExecutionReport msgs received\n");
    client.press("l");
    let (status, shown) = client.end();
    assert_eq!(status, Some(0), "{shown}");
    assert_eq!(again.end().0, Some(0));
    // One pair for each connection.
    let log = std::fs::read_to_string(folder.join("client")).unwrap();
    assert_eq!((log.matches("Encode: ").count(), log.matches("Decode: ").count()), (2, 2), "{log}");
}

#[test]
fn a_client_that_is_not_reliable_says_that_its_session_was_lost() {
    let folder = directory("hftest-lost");
    let (server, address) = server(&folder, &[]);
    let mut client = Terminal::start(&folder, &["--client", &address, "-p", "10"]);
    client.wait_for("keys.\n");
    drop(server);
    client.wait_for("restart the client in reliable mode (-r)");
    assert_eq!(client.end().0, Some(3));
}

#[test]
fn a_client_that_is_interrupted_shows_what_was_measured_and_restores_the_terminal() {
    let folder = directory("hftest-interrupted");
    let (_server, address) = server(&folder, &[]);
    let mut client = Terminal::start(&folder, &["--client", &address, "-p", "10"]);
    client.wait_for("keys.\n");
    client.press("a");
    client.wait_for("ExecutionReport msgs received\n");
    let id = client.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    client.wait_for("client  encode");
    client.wait_for("interrupted\n");
    let modes = rustix::termios::tcgetattr(&client.controller).unwrap().local_modes;
    assert!(modes.contains(rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO));
    assert_eq!(client.end().0, Some(130));
}

#[test]
fn a_client_that_leaves_before_the_last_report_has_no_time_end_to_end() {
    let folder = directory("hftest-leaves");
    let (server, address) = server(&folder, &[]);
    let arguments = ["-l", "client", "--client", &address, "-p", "20000"];
    let mut client = Terminal::start(&folder, &arguments);
    client.wait_for("Press ? for the keys.");
    client.press("al");
    let (status, shown) = client.end();
    drop(server);
    // On a fast machine everything may have been answered.
    if status == Some(0) {
        return eprintln!("every order was answered before the logout");
    }
    assert!(shown.contains("have no last report"), "{shown}");
    assert!(shown.contains("Tabulated results") && !shown.contains("End to end"), "{shown}");
}

#[test]
fn outputs_that_cannot_be_written_are_noticed_before_the_session_begins() {
    for side in [&["-s", "--listen", "127.0.0.1:0"][..], &["--client", "127.0.0.1:1"]] {
        let ended = run(&[&["hftest", "--json", "/no/such/file"], side].concat());
        assert!(ended.status == 2 && ended.err.starts_with("fixbolt: cannot write "), "{}", ended.err);
        assert_eq!(ended.out, "");
    }
}

#[test]
fn keys_may_come_from_a_pipe_and_the_server_ends_with_a_signal() {
    let folder = directory("hftest-pipe");
    let (server, address) = server(&folder, &[]);
    let client = |keys: &str| {
        let arguments = ["hftest", "--client", &address, "-p", "100"];
        command::run_with_input(&arguments, keys.as_bytes())
    };
    for keys in ["a", "a\nl\n", "n\nax"] {
        let ended = client(keys);
        assert_eq!(ended.status, 0, "{keys}: {}", ended.err);
        assert!(ended.out.contains("\n0 NewOrderSingle msgs remaining.\n"), "{}", ended.out);
        assert!(ended.out.contains(" ExecutionReport msgs received\n"), "{}", ended.out);
        assert!(ended.out.contains("\nEnd to end, "), "{}", ended.out);
    }
    let id = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let (status, shown) = server.end();
    // Three connections, one table.
    assert!(status == Some(0) && shown.matches("server  encode").count() == 1, "{status:?} {shown}");
}

#[test]
fn both_sides_run_in_one_process_and_its_figures_are_data() {
    let ended = run(&["hftest", "-p", "500", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    for operation in ["client encode", "client decode", "server encode", "server decode", "preloaded values"]
    {
        let row = format!("\"operation\":\"{operation}\"");
        assert!(ended.out.lines().any(|line| line.contains(&row)), "{operation}: {}", ended.out);
    }
    assert!(ended.out.contains("\"published\":2740"), "{}", ended.out);
}

#[test]
fn the_supplied_configurations_are_printed_and_can_be_used() {
    let folder = directory("hftest-config");
    for (side, more) in [("server", &["-s"][..]), ("client", &[])] {
        let ended = run(&[&["hftest", "--print-config"], more].concat());
        assert_eq!(ended.status, 0);
        std::fs::write(folder.join(format!("{side}.cfg")), ended.out).unwrap();
    }
    let (server, address) = server(&folder, &["-c", "server.cfg", "--once"]);
    let config = folder.join("client.cfg");
    let config = config.to_str().unwrap();
    let arguments = ["hftest", "--client", &address, "-p", "5", "-c", config];
    let ended = command::run_with_input(&arguments, b"a");
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn wrong_usage_says_what_to_do() {
    let wrong = |arguments: &[&str], status, words: &str| {
        let ended = run(&[&["hftest"], arguments].concat());
        assert_eq!(ended.status, status, "{arguments:?}: {}{}", ended.out, ended.err);
        assert!(ended.err.contains(words), "{arguments:?}: {}", ended.err);
    };
    wrong(&["-p", "0"], 2, "there is nothing to send");
    wrong(&["-p", "200000000"], 2, "100000000");
    wrong(&["-p", "many"], 2, "many");
    wrong(&["-c", "x.cfg"], 2, "--config is for one side");
    wrong(&["-s", "-c", "missing.cfg"], 2, "missing.cfg");
    wrong(&["-s", "--client"], 2, "cannot be used with");
    wrong(&["-s", "-r"], 2, "cannot be used with");
    wrong(&["--listen", "127.0.0.1:0"], 2, "--server");
    wrong(&["--client", "nowhere"], 2, "write HOST:PORT");
    wrong(&["--client", "127.0.0.1:99999"], 2, "write HOST:PORT");
    wrong(&["-s", "-l", "missing/server"], 2, "cannot write missing/server");
    wrong(&["-s", "--listen", "192.0.2.1:1"], 2, "192.0.2.1:1");
    wrong(&["--client", "--json", "missing/x.json"], 2, "cannot write missing/x.json");
}
