//! `fixbolt check-config`, and what `serve` does with a configuration that has mistakes.

mod command;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use command::{Ended, directory, fixbolt, run, run_unread, run_with_input};

const VENUE: &str = "[DEFAULT]
ConnectionType=acceptor
Workers=2
SocketAcceptPort=0
SenderCompID=VENUE
FileLogHeartbeats=Y
DefaultMarketPrice=12.30
X-Password=hunter2
[SESSION]
BeginString=FIX.4.4
TargetCompID=TRADER
ResetOnLogon=Y
";

fn file(name: &str, text: &str) -> PathBuf {
    let path = directory(name).join("venue.cfg");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn whether_there_are_mistakes_is_the_exit_status_although_nobody_reads_which() {
    let (right, wrong) = (file("unread", VENUE), file("unread-wrong", "[SESSION]\nSenderCompID=VENUE\n"));
    let quietly = |arguments: &[&str]| {
        let ended = run_unread(arguments);
        assert_eq!(ended.err, "");
        ended.status
    };
    let status = |path: &PathBuf, format| quietly(&["check-config", path.to_str().unwrap(), "-o", format]);
    for format in ["text", "json"] {
        assert_eq!(status(&right, format), 0);
        assert_eq!(status(&wrong, format), 1);
    }
    // Much is written, and little.
    assert_eq!(quietly(&["dictionary", "diff", "FIX.4.0", "FIX.5.0SP2"]), 1);
    assert_eq!(quietly(&["dictionary", "diff", "FIX.4.4", "FIX.4.4"]), 0);
}

#[test]
fn a_file_without_mistakes_shows_each_sessions_settings() {
    let path = file("check-config", VENUE);
    let path = path.to_str().unwrap();
    let ended = run(&["check-config", path]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines[0], "messages are kept in: memory");
    assert!(lines[1].starts_with("listens on: 127.0.0.1:0 (without SocketAcceptHost only "), "{}", lines[1]);
    let all = run(&["check-config", path, "--all"]).out;
    let all: Vec<&str> = all.lines().collect();
    for (line, is_default) in [
        (format!("session FIX.4.4:VENUE->TRADER ({path}:9)"), false),
        ("  MaxSessions=4096".to_owned(), true),
        (format!("  Workers=2  ({path}:3)"), false),
        (format!("  ResetOnLogon=Y  ({path}:12)"), false),
        ("  ResetOnLogout=N".to_owned(), true),
        ("  LogonTimeout=10".to_owned(), true),
        ("  SocketUseSSL=N".to_owned(), true),
        (format!("  SocketAcceptPort=0  ({path}:4)"), false),
    ] {
        assert!(all.contains(&line.as_str()), "{line}: {all:?}");
        assert_eq!(lines.contains(&line.as_str()), !is_default, "{line}: {}", ended.out);
    }
    let has = |text: &str| lines.iter().any(|line| line.starts_with("warning: ") && line.contains(text));
    assert!(
        has("FileLogHeartbeats has no effect")
            && has("DefaultMarketPrice has no effect")
            && has("FileStorePath: none is set, so messages and sequence numbers are in memory only"),
        "{}",
        ended.out
    );
    assert!(lines.ends_with(&["1 session, no mistakes"]) && !ended.out.contains("hunter2"), "{}", ended.out);
}

#[test]
fn a_configuration_on_standard_input_is_read_and_its_includes_are_of_the_current_directory() {
    let check = |input: &[u8]| run_with_input(&["check-config", "-"], input);
    let ended = check(VENUE.as_bytes());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert!(ended.out.contains("\nsession FIX.4.4:VENUE->TRADER (standard input:9)\n"), "{}", ended.out);
    let folder = directory("check-config-stdin");
    std::fs::write(folder.join("more.cfg"), "ResetOnLogon=maybe\n").unwrap();
    let text = VENUE.replace("ResetOnLogon=Y", "include=more.cfg");
    let ended = Ended::from_run_with_input(
        fixbolt().args(["check-config", "-"]).current_dir(&folder),
        text.as_bytes(),
    );
    assert!(ended.status == 1 && ended.out.contains("mistake: more.cfg:1: "), "{}", ended.out);
    for (input, why) in [
        (&b"\xff\xfe[\0D\0"[..], "it is in UTF-16: `iconv -f UTF-16 -t UTF-8 | fixbolt check-config -`"),
        (b"[DEFAULT]\nSenderCompID=\xfc\n", "line 2 is not UTF-8"),
    ] {
        let ended = check(input);
        assert_eq!((ended.status, ended.err), (2, format!("fixbolt: cannot read standard input: {why}\n")));
    }
}

#[test]
fn more_workers_than_cores_are_a_warning_and_no_mistake() {
    for (workers, said) in [
        (
            "Workers=1000\nWorkerWaiting=spinning",
            "4: WorkerWaiting: 1000 workers spin, and this process has ",
        ),
        ("Workers=1000", "3: Workers: 1000 workers start, shared and dedicated ones, and this process has "),
    ] {
        let path = file("check-config-spinning", &VENUE.replace("Workers=2", workers));
        let ended = run(&["check-config", path.to_str().unwrap()]);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
        let said = format!("warning: {}:{said}", path.display());
        assert!(ended.out.contains(&said), "{said}: {}", ended.out);
    }
}

#[test]
fn what_stops_the_start_stops_check_config_with_the_same_lines() {
    let folder = directory("check-config-start");
    let at = |name: &str| folder.join(name).display().to_string();
    for (name, text) in [("file", "no directory"), ("empty.pem", ""), ("store.p12", "0\u{2}")] {
        std::fs::write(at(name), text).unwrap();
    }
    let tls = |chain: &str, key: &str, more: &str| {
        format!("SocketCertificateFile={}\nSocketPrivateKeyFile={}\n{more}", at(chain), at(key))
    };
    let certificates = folder.join("certificates");
    assert_eq!(run(&["certs", certificates.to_str().unwrap()]).status, 0);
    let right = |more: &str| {
        tls("certificates/FIXBOLT.pem", "certificates/FIXBOLT.key", "")
            + &format!("SocketCAFile={}\n{more}", at("certificates/ca.pem"))
    };
    let mut mistakes = vec![
        ("names of certificates that nobody is asked for", right("TLSPeerNames=CompID\nNeedClientAuth=N\n")),
        (
            "a revocation list that does not exist",
            right(&format!("NeedClientAuth=Y\nCertificateRevocationListFile={}\n", at("none.crl"))),
        ),
        (
            "an authority in an empty file",
            right("NeedClientAuth=Y\n").replace(&at("certificates/ca.pem"), &at("empty.pem")),
        ),
        ("a certificate that does not exist", tls("none.pem", "none.key", "NeedClientAuth=N\n")),
        ("a certificate in an empty file", tls("empty.pem", "empty.pem", "NeedClientAuth=N\n")),
        ("a keystore", format!("SocketKeyStore={}\nNeedClientAuth=N\n", at("store.p12"))),
        ("SSLCertificate with PKCS#12", format!("SSLCertificate={}\n", at("store.p12"))),
        ("a file as the journals' directory", format!("FileStorePath={}\n", at("file"))),
        ("a file above the journals' directory", format!("FileStorePath={}/journals\n", at("file"))),
        ("a file as the message log's directory", format!("FileLogPath={}/log\n", at("file"))),
        ("an address of another machine", "SocketAcceptHost=192.0.2.1\n".to_owned()),
        ("a dictionary that does not exist", format!("DataDictionary={}\n", at("none.xml"))),
        ("a core named twice", "WorkerCores=0,0\n".to_owned()),
        ("cores for fewer workers", "WorkerCores=0\n".to_owned()),
        ("memory twice", format!("Store=memory\nFileStorePath={}\n", at("journals"))),
        ("more sessions than MaxSessions", "MaxSessions=1\n".to_owned()),
        ("a link that leads nowhere", format!("FileStorePath={}/journals\n", at("link"))),
        ("addresses that overlap", "SocketAcceptHost=0.0.0.0\n".to_owned()),
    ];
    std::os::unix::fs::symlink("nowhere", folder.join("link")).unwrap();
    // Below those that the system gives to whoever asks for any: other tests do meanwhile.
    let own = 20_000 + (std::process::id() % 10_000) as u16;
    let is_free = |port: &u16| std::net::TcpListener::bind(("0.0.0.0", *port)).is_ok();
    let free = (own..own + 1000).find(is_free).unwrap();
    let another = "\n[SESSION]\nBeginString=FIX.4.4\nTargetCompID=SECOND\n";
    if cfg!(target_os = "linux") {
        mistakes.push(("a core that does not exist", "WorkerCores=1023\n".to_owned()));
    }
    for (what, setting) in mistakes {
        let text = VENUE.replace("Workers=2\n", if what.contains("core") { "" } else { "Workers=2\n" });
        let text = match what {
            "cores for fewer workers" => VENUE.to_owned(),
            "more sessions than MaxSessions" => text + another,
            "addresses that overlap" => {
                let at = format!("SocketAcceptHost=127.0.0.1\nSocketAcceptPort={free}\n");
                text.replace("SocketAcceptPort=0", &format!("SocketAcceptPort={free}")) + another + &at
            }
            _ => text,
        };
        let path = folder.join("venue.cfg");
        std::fs::write(&path, text.replace("[SESSION]", &format!("{setting}[SESSION]"))).unwrap();
        let path = path.to_str().unwrap();
        let checked = run(&["check-config", path]);
        assert_eq!(checked.status, 1, "{what}: {}", checked.out);
        let served = run(&["serve", "--config", path]);
        assert_eq!(served.status, 2, "{what}: {}", served.err);
        let mistakes: Vec<_> =
            checked.out.lines().filter_map(|line| line.strip_prefix("mistake: ")).collect();
        let refused: Vec<_> = served.err.lines().filter_map(|line| line.strip_prefix("fixbolt: ")).collect();
        assert!(!mistakes.is_empty(), "{what}: {}", checked.out);
        assert_eq!(mistakes, refused, "{what}");
    }
}

#[test]
fn what_a_running_engine_has_is_a_warning_that_names_its_process() {
    let folder = directory("check-config-running");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = VENUE.replace("SocketAcceptPort=0", &format!("SocketAcceptPort={port}"));
    let store = format!("FileStorePath={}\n[SESSION]", folder.join("journals").display());
    let path = folder.join("venue.cfg");
    std::fs::write(&path, text.replace("[SESSION]", &store)).unwrap();
    let path = path.to_str().unwrap();
    let mut server = fixbolt().args(["serve", "--config", path]).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, format!("listening 127.0.0.1:{port}\n"));
    let ended = run(&["check-config", path]);
    assert_eq!(ended.status, 0, "{}", ended.out);
    let told = |key: &str| {
        let line = format!("{path}:{}", if key == "SocketAcceptPort" { 4 } else { 9 });
        let start = format!("warning: {line}: {key}: ");
        ended.out.lines().find(|one| one.starts_with(&start)).map(str::to_owned)
    };
    let (of_port, of_journal) = (told("SocketAcceptPort"), told("FileStorePath"));
    let process = format!("process {}", server.id());
    let names = |line: &Option<String>| line.as_ref().is_some_and(|line| line.contains(&process));
    assert!(names(&of_journal), "{}", ended.out);
    assert!(names(&of_port) || !cfg!(target_os = "linux"), "{}", ended.out);
    // A second one says the same, and does not start.
    let second = run(&["serve", "--config", path]);
    assert_eq!(second.status, 2);
    assert!(second.err.contains(&process) || !cfg!(target_os = "linux"), "{}", second.err);
    server.kill().unwrap();
    server.wait().unwrap();
    let ended = run(&["check-config", path]);
    assert!(!ended.out.contains(&process), "{}", ended.out);
}

#[test]
fn every_mistake_is_reported_with_its_line_and_a_suggestion() {
    let wrong = VENUE.replace("ResetOnLogon=Y", "RestOnLogon=Y\nLogoutTimeout=two\nDataDictionary=venue.xml");
    let path = file("check-config-wrong", &wrong);
    let path = path.to_str().unwrap();
    let ended = run(&["check-config", path]);
    assert_eq!((ended.status, ended.err.as_str()), (1, ""));
    let mistakes: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("mistake: ")).collect();
    assert_eq!(
        mistakes[0],
        format!(
            "mistake: {path}:12: unknown key RestOnLogon; did you mean ResetOnLogon? A key of the application belongs in [APP], or is written X-RestOnLogon"
        )
    );
    assert!(
        mistakes[1].ends_with("venue.cfg:13: LogoutTimeout=two: a whole number from 1 to 86400 expected")
    );
    assert!(
        mistakes[2].contains("leave the key out (then the shipped one of FIX.4.4 is used)"),
        "{}",
        mistakes[2]
    );
    assert_eq!(mistakes.len(), 3);
    assert!(ended.out.ends_with("1 session, 0 without mistakes; 3 mistakes\n"), "{}", ended.out);

    let ended = run(&["check-config", path, "-o", "json"]);
    assert_eq!(ended.status, 1);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines[0], r#"{"kind":"summary","listening":[],"connecting":[]}"#);
    let engine = r#"{"kind":"engine","settings":[{"key":"Workers","value":"2","#;
    assert!(lines.iter().any(|line| line.starts_with(engine)), "{}", ended.out);
    let last = lines.last().unwrap();
    let session = r#"{"kind":"session","name":"FIX.4.4:VENUE->TRADER","place":""#;
    assert!(last.starts_with(session), "{last}");
    let settings = r#""valid":false,"settings":[{"key":"ConnectionType","value":"acceptor","place":""#;
    assert!(last.contains(settings), "{last}");
    let mistake = lines.iter().find(|line| line.contains("RestOnLogon")).unwrap();
    assert!(mistake.starts_with(r#"{"kind":"mistake","place":""#), "{mistake}");
    assert!(mistake.ends_with(r#""nearest":"ResetOnLogon"}"#), "{mistake}");

    // `serve` refuses the file for the same reasons.
    let ended = run(&["serve", "--config", path]);
    assert_eq!((ended.status, ended.err.lines().count()), (2, 3), "{}", ended.err);
    assert!(ended.err.lines().all(|line| line.starts_with("fixbolt: ")), "{}", ended.err);
}

#[test]
fn a_file_that_cannot_be_read_is_status_2() {
    let ended = run(&["check-config", "/no/such/file.cfg"]);
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    assert!(ended.err.starts_with("fixbolt: cannot read /no/such/file.cfg: "), "{}", ended.err);
}

#[test]
fn with_keep_going_the_sessions_without_mistakes_are_served() {
    let more = "[SESSION]\nBeginString=FIX.5.0\nTargetCompID=OLD\n";
    let path = file("serve-keep-going", &format!("{VENUE}{more}"));
    let path = path.to_str().unwrap();
    assert_eq!(run(&["serve", "--config", path]).status, 2);
    let mut server = fixbolt()
        .args(["serve", "--keep-going", "--config", path])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let address = first.strip_prefix("listening ").expect("it listens").trim().to_owned();
    let order = ["Symbol=IBM", "Side=BUY", "OrdType=LIMIT", "OrderQty=5", "Price=1"];
    let to = ["--to", &address, "--sender", "TRADER", "--target", "VENUE"];
    let ended = run(&[&["send", "NewOrderSingle"], &order[..], &to[..]].concat());
    assert_eq!(ended.status, 0, "{}", ended.err);
    server.kill().unwrap();
    let told = server.wait_with_output().unwrap();
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("not served: ") && told.contains("BeginString=FIX.5.0 is not available"), "{told}");
    // No session is without mistakes.
    let path = file("serve-keep-going-none", &VENUE.replace("FIX.4.4", "FIX.5.0"));
    assert_eq!(run(&["serve", "--keep-going", "--config", path.to_str().unwrap()]).status, 2);
}

#[test]
fn what_may_not_do_what_was_hoped_is_a_warning() {
    let folder = directory("check-config-doubtful");
    let path = folder.join("venue.cfg");
    for (setting, key, warning) in [
        (
            "SenderSubID=DESK # the desk",
            "SenderSubID",
            "`DESK # the desk` is the value, to its end: a comment must",
        ),
        (
            "FileStorePath=~/journals",
            "FileStorePath",
            "`~/journals` is a directory called ~ here, since only a shell",
        ),
        (
            "StartTime=08:00:00\nEndTime=09:00:00\nLogonTime=10:00:00\nLogoutTime=11:00:00",
            "LogonTime",
            "FIX.4.4:VENUE/DESK->TRADER can never log on: its schedule allows no connection within three",
        ),
    ] {
        let setting = match key {
            "LogonTime" => format!("SenderSubID=DESK\n{setting}"),
            _ => setting.to_owned(),
        };
        std::fs::write(&path, VENUE.replace("[SESSION]", &format!("{setting}\n[SESSION]"))).unwrap();
        let ended = run(&["check-config", path.to_str().unwrap()]);
        assert_eq!(ended.status, 0, "{}", ended.out);
        let said = format!(": {key}: {warning}");
        assert_eq!(ended.out.lines().filter(|line| line.contains(&said)).count(), 1, "{said}: {}", ended.out);
    }
    let initiator = "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=T\nTargetCompID=V\n\
                     HeartBtInt=30\nSocketConnectHost=127.0.0.1\nSocketConnectPort=9880\n\
                     SocketConnectSourceHost=192.0.2.7\n";
    std::fs::write(&path, initiator).unwrap();
    let ended = run(&["check-config", path.to_str().unwrap()]);
    let said = ":9: SocketConnectSourceHost: FIX.4.4:T->V can never connect to 127.0.0.1:9880: 192.0.2.7 is no address of this machine: ";
    assert!(ended.status == 0 && ended.out.contains(said), "{}", ended.out);
    let dictionary = folder.join("venue.xml");
    std::fs::write(
        &dictionary,
        "<fix extends='FIX.4.4'><fields><field number='5001' name='Odd' type='ODD'/></fields></fix>",
    )
    .unwrap();
    let setting = format!("DataDictionary={}\n[SESSION]", dictionary.display());
    std::fs::write(&path, VENUE.replace("[SESSION]", &setting)).unwrap();
    let ended = run(&["check-config", path.to_str().unwrap()]);
    let said = "DataDictionary: line 1: field 'Odd': unknown type 'ODD', read as String";
    assert!(ended.status == 0 && ended.out.contains(said), "{}", ended.out);
}

#[test]
fn a_certificate_that_expires_soon_is_a_warning_with_its_key() {
    let folder = directory("check-config-expired");
    let at = |name: &str| folder.join(name).display().to_string();
    let make = |name: &str, days: &str| {
        let made = Command::new("openssl")
            .args(["req", "-x509", "-nodes", "-subj", "/CN=VENUE", "-newkey", "ec", "-pkeyopt"])
            .args(["ec_paramgen_curve:P-256", "-days", days, "-keyout", &at("key.pem"), "-out", &at(name)])
            .output();
        made.is_ok_and(|made| made.status.success())
    };
    if !make("soon.pem", "10") {
        return eprintln!("NOT TESTED: openssl is not installed, so no certificate expires");
    }
    let path = folder.join("venue.cfg");
    let tls = format!(
        "SocketCertificateFile={}\nSocketPrivateKeyFile={}\nNeedClientAuth=N\n[SESSION]",
        at("soon.pem"),
        at("key.pem")
    );
    std::fs::write(&path, VENUE.replace("[SESSION]", &tls)).unwrap();
    let ended = run(&["check-config", path.to_str().unwrap()]);
    let said = format!("SocketCertificateFile: {}: the certificate of VENUE expires soon (", at("soon.pem"));
    assert!(ended.status == 0 && ended.out.contains(&said), "{}", ended.out);
}

#[test]
fn a_private_key_that_is_slow_to_sign_with_is_a_warning_that_says_what_a_signature_takes() {
    let folder = directory("check-config-slow-key");
    for (bits, is_slow) in [("2048", false), ("3072", true)] {
        let (key, own) = (folder.join(bits), folder.join("own.pem"));
        let made = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-nodes",
                "-subj",
                "/CN=VENUE",
                "-newkey",
                &format!("rsa:{bits}"),
                "-keyout",
            ])
            .arg(&key)
            .arg("-out")
            .arg(&own)
            .output();
        if !made.is_ok_and(|made| made.status.success()) {
            return eprintln!("NOT TESTED: openssl is not installed, so there is no key of RSA");
        }
        let path = folder.join("venue.cfg");
        let session = |name| format!("[SESSION]\nBeginString=FIX.4.4\nTargetCompID={name}\n");
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nSenderCompID=VENUE\nSocketCertificateFile={}\nSocketPrivateKeyFile={}\nNeedClientAuth=N\n{}{}",
            own.display(),
            key.display(),
            session("A"),
            session("B"),
        );
        std::fs::write(&path, text).unwrap();
        let ended = run(&["check-config", path.to_str().unwrap()]);
        assert_eq!(ended.status, 0, "{}", ended.err);
        let warnings: Vec<_> = ended.out.lines().filter(|line| line.contains("a signature with")).collect();
        assert_eq!(warnings.len(), usize::from(is_slow), "{}", ended.out);
        let of_key = format!(
            "warning: {}:6: SocketPrivateKeyFile: {}: a signature with this key (RSA, 3072 bits) takes ",
            path.display(),
            key.display()
        );
        assert!(warnings.iter().all(|warning| warning.starts_with(&of_key)), "{warnings:?}");
    }
}

#[test]
#[cfg(unix)]
fn too_few_file_descriptors_for_the_journals_stop_the_check_and_the_start() {
    let others: String =
        (0..60).map(|n| format!("[SESSION]\nBeginString=FIX.4.4\nTargetCompID=T{n}\n")).collect();
    let directory = directory("few-descriptors");
    let path = directory.join("venue.cfg");
    let store = format!("FileStorePath={}\n[SESSION]\n", directory.join("store").display());
    std::fs::write(&path, VENUE.replacen("[SESSION]\n", &store, 1) + &others).unwrap();
    let limited = |limit: &str, command: &str| {
        let program = env!("CARGO_BIN_EXE_fixbolt");
        let line = format!("ulimit {limit}; exec {program} {command} {}", path.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).stdin(Stdio::null());
        shell
    };
    let within = |limit: &str, command: &str| {
        let ended = limited(limit, command).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (ended.status.code(), text(&ended.stdout) + &text(&ended.stderr))
    };
    let needs = "FileStorePath: the process may open ";
    for command in ["check-config", "serve --config"] {
        let (status, said) = within("-n 100", command);
        let line = said.lines().find(|line| line.contains(needs)).unwrap_or_else(|| panic!("{said}"));
        assert!(status != Some(0) && line.contains("more files, and the start needs "), "{said}");
        assert!(line.contains(&path.display().to_string()) && line.contains("`ulimit -n`"), "{said}");
    }
    let (status, said) = within("-n 180", "check-config");
    assert!(status == Some(0) && said.contains("too few for 61 sessions that are connected"), "{said}");
    assert!(!within("-n 1000", "check-config").1.contains(needs));
    // What the process may raise is no obstacle, and `serve` raises it.
    assert_eq!(within("-Sn 100", "check-config").0, Some(0));
    let mut server = limited("-Sn 100", "serve --config").stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("listening "), "{first}");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_journal_that_halts_its_session_is_a_warning_and_all_of_them_are_status_1() {
    let folder = directory("check-config-halted");
    let path = folder.join("venue.cfg");
    let store = format!("FileStorePath={}\n[SESSION]\n", folder.join("journals").display());
    let another = "[SESSION]\nBeginString=FIX.4.4\nTargetCompID=SECOND\n";
    std::fs::write(&path, VENUE.replacen("[SESSION]\n", &store, 1) + another).unwrap();
    let path = path.to_str().unwrap();
    let mut server = fixbolt().args(["serve", "--config", path]).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(run(&["check-config", path]).status, 0);
    for (target, status) in [("TRADER", 0), ("SECOND", 1)] {
        let journal = folder.join("journals").join(format!("FIX.4.4-VENUE-{target}"));
        std::fs::write(journal.join("head"), "x").unwrap();
        let ended = run(&["check-config", path]);
        let halted = format!("FileStorePath: session FIX.4.4:VENUE->{target} is halted when it starts: ");
        let line =
            ended.out.lines().find(|line| line.contains(&halted)).unwrap_or_else(|| panic!("{}", ended.out));
        assert!(line.ends_with(&format!("see `fixbolt journal repair {}`", journal.display())), "{line}");
        assert_eq!(ended.status, status, "{}", ended.out);
    }
    assert_eq!(run(&["serve", "--config", path]).status, 1);
}
