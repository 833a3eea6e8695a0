//! `fixbolt serve` and `fixbolt send` over TLS, with the certificates of `fixbolt certs`, against
//! each other and against OpenSSL.

mod command;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use command::{Server, directory, run};

const ORDER: [&str; 6] = ["send", "D", "55=IBM", "54=1", "38=100", "40=1"];

/// Makes certificates in a new folder, and returns a function that names the files in it.
fn certificates(name: &str) -> impl Fn(&str) -> String {
    let folder = directory(name);
    let ended = run(&["certs", folder.to_str().unwrap()]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert_eq!(ended.out.lines().count(), 5);
    move |file| folder.join(file).to_str().unwrap().to_owned()
}

#[test]
fn certificates_are_made_once_and_their_keys_are_their_owners() {
    let file = certificates("tls-certs");
    for (name, mode) in [("ca.pem", 0o644), ("FIXBOLT.pem", 0o644), ("CLIENT.key", 0o600)] {
        let metadata = std::fs::metadata(file(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, mode, "{name}");
    }
    let again = run(&["certs", Path::new(&file("ca.pem")).parent().unwrap().to_str().unwrap()]);
    assert_eq!(again.status, 2);
    assert!(again.err.contains("ca.pem: File exists; choose another folder"), "{}", again.err);
    let wrong = run(&["certs", "nowhere", "--name", "../a"]);
    assert!(wrong.status == 2 && wrong.err.contains("--name ../a: write letters"), "{}", wrong.err);
}

#[test]
fn an_order_is_filled_over_tls_and_whoever_is_not_trusted_is_told_why() {
    let (file, other) = (certificates("tls-serve"), certificates("tls-other"));
    let (ca, own) = (file("ca.pem"), [file("FIXBOLT.pem"), file("FIXBOLT.key")]);
    let server = Server::start(&["--tls", "--ca", &ca, "--cert", &own[0], "--key", &own[1]]);
    let to = server.address.replace("127.0.0.1", "localhost");
    let send = |more: &[&str]| run(&[&ORDER[..], &["--to", &to], more].concat());
    let (cert, key) = (file("CLIENT.pem"), file("CLIENT.key"));
    let with = ["--tls", "--ca", &ca, "--cert", &cert, "--key", &key];
    let ended = send(&with);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert!(ended.out.contains("FILLED (2)"), "{}", ended.out);
    let no_certificate = send(&with[..3]);
    assert_eq!(no_certificate.status, 3);
    let told = "it requires a certificate of ours; set --cert and --key";
    assert!(no_certificate.err.contains(told), "{}", no_certificate.err);
    let unknown = send(&["--tls", "--ca", &other("ca.pem")]);
    assert!(
        unknown.status == 3 && unknown.err.contains("an authority of which --ca has its name"),
        "{}",
        unknown.err
    );
    let plain = send(&[]);
    assert!(plain.status == 3 && plain.err.contains("whether its port expects TLS (--tls)"), "{}", plain.err);
    let none = run(&["serve", "--tls"]);
    assert!(none.status == 2 && none.err.contains("--cert FILE --key FILE"), "{}", none.err);
}

#[test]
fn certificates_are_loaded_again_at_a_hangup() {
    let (file, other) = (certificates("tls-hangup"), certificates("tls-hangup-other"));
    let own = [file("FIXBOLT.pem"), file("FIXBOLT.key")];
    let server = Server::start(&["--tls", "--cert", &own[0], "--key", &own[1]]);
    let send = |ca: &str| {
        let to = server.address.replace("127.0.0.1", "localhost");
        run(&[&ORDER[..], &["--to", &to, "--tls", "--ca", ca]].concat()).status
    };
    assert_eq!(send(&file("ca.pem")), 0);
    for name in ["FIXBOLT.pem", "FIXBOLT.key"] {
        std::fs::copy(other(name), file(name)).unwrap();
    }
    server.signal("-HUP");
    // It takes a moment.
    let new = (0..100).any(|_| send(&other("ca.pem")) == 0);
    assert!(new && send(&file("ca.pem")) == 3);
    assert_eq!(server.stop("-TERM"), Some(0));
}

#[test]
fn a_configuration_with_tls_is_served() {
    let file = certificates("tls-config");
    let config = file("venue.cfg");
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=FIXBOLT\nSocketUseSSL=Y\nSocketCertificateFile={}\nSocketPrivateKeyFile={}\nSocketCAFile={}\nNeedClientAuth=Y\nTLSPeerNames=CompID\n[SESSION]\nTargetCompID=CLIENT\n[SESSION]\nTargetCompID=OTHER\n",
        file("FIXBOLT.pem"),
        file("FIXBOLT.key"),
        file("ca.pem"),
    );
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--config", &config]);
    let port = server.address.rsplit(':').next().unwrap();
    let trader = file("trader.cfg");
    let text = format!(
        "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=CLIENT\nTargetCompID=FIXBOLT\nHeartBtInt=30\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nSocketCAFile={}\nClientCertificateFile={}\nClientCertificateKeyFile={}\n",
        file("ca.pem"),
        file("CLIENT.pem"),
        file("CLIENT.key"),
    );
    std::fs::write(&trader, &text).unwrap();
    let ended = run(&[&ORDER[..], &["--config", &trader]].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    // The certificate is CLIENT's.
    std::fs::write(&trader, text.replace("SenderCompID=CLIENT", "SenderCompID=OTHER")).unwrap();
    assert_eq!(run(&[&ORDER[..], &["--config", &trader]].concat()).status, 3);
}

/// What QuickFIX/N's example acceptor says, with files in PEM.
fn as_in_quickfixn(file: &impl Fn(&str) -> String) -> String {
    let own = file("own.pem");
    let pem = ["FIXBOLT.pem", "FIXBOLT.key"].map(|name| std::fs::read_to_string(file(name)).unwrap());
    std::fs::write(&own, pem.concat()).unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o600)).unwrap();
    format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nResetOnLogon=Y\nSSLEnable=Y\nSSLCertificate={own}\nSSLCertificatePassword=hunter2\nSSLCACertificate={}\nSSLCheckCertificateRevocation=N\nSSLProtocols=Tls12\n[SESSION]\nBeginString=FIX.4.4\nSenderCompID=FIXBOLT\nTargetCompID=CLIENT\n",
        file("ca.pem")
    )
}

#[test]
fn a_file_of_quickfixn_is_served_over_tls_to_clients_with_a_certificate_and_to_no_others() {
    let file = certificates("tls-quickfixn");
    let config = file("executor.cfg");
    std::fs::write(&config, as_in_quickfixn(&file)).unwrap();
    let checked = run(&["check-config", &config]);
    assert_eq!(checked.status, 0, "{}", checked.out);
    assert!(checked.out.ends_with("1 session, no mistakes\n") && !checked.out.contains("hunter2"));
    let server = Server::start(&["--config", &config]);
    let to = server.address.replace("127.0.0.1", "localhost");
    let send = |more: &[&str]| run(&[&ORDER[..], &["--to", &to], more].concat()).status;
    let (ca, cert, key) = (file("ca.pem"), file("CLIENT.pem"), file("CLIENT.key"));
    assert_eq!(send(&["--tls", "--ca", &ca, "--cert", &cert, "--key", &key]), 0);
    assert_eq!(send(&["--tls", "--ca", &ca]), 3, "without a certificate");
    assert_eq!(send(&[]), 3, "in plain text");
}

#[test]
fn check_config_and_the_start_refuse_the_same_files() {
    let file = certificates("tls-check");
    let config = file("executor.cfg");
    let text = as_in_quickfixn(&file);
    let (own, ca) = (file("own.pem"), file("ca.pem"));
    let pkcs12 = [0x30, 0x82, 0, 0, 2, 1, 3];
    std::fs::write(file("store"), pkcs12).unwrap();
    let (absent, store) = (file("absent.pem"), file("store"));
    for (text, place, said) in [
        (text.replace(&own, &absent), 6, format!("SSLCertificate: {absent}: No such file")),
        (text.replace(&own, &store), 6, "this is a PKCS#12 keystore".to_owned()),
        (text.replace(&own, &ca), 6, format!("{ca}: there is no private key")),
        (text.replace(&ca, &absent), 8, format!("SSLCACertificate: {absent}: No such file")),
        (text.replace(&own, "Venue"), 6, "openssl pkcs12 -in FILE.pfx -nodes".to_owned()),
        (
            text.replace(&format!("SSLCACertificate={ca}\n"), ""),
            10,
            "this session has no SocketCAFile".to_owned(),
        ),
    ] {
        std::fs::write(&config, text).unwrap();
        let checked = run(&["check-config", &config]);
        let mistakes: Vec<_> = checked.out.lines().filter(|line| line.starts_with("mistake: ")).collect();
        let [mistake] = mistakes[..] else { panic!("{said}: {mistakes:?}") };
        assert!(mistake.starts_with(&format!("mistake: {config}:{place}: ")), "{mistake}");
        assert!(mistake.contains(&said) && checked.status == 1, "{mistake}");
        let served = run(&["serve", "--config", &config]);
        assert_eq!((served.status, served.out.as_str()), (2, ""), "{said}");
    }
}

#[test]
fn everything_that_is_wrong_with_the_files_of_a_session_is_told_at_once() {
    let file = certificates("tls-all-wrong");
    let (cert, key, ca) = (file("no.pem"), file("no.key"), file("no-ca.pem"));
    std::fs::write(&key, "no key").unwrap();
    let keys = ["SocketCertificateFile", "SocketPrivateKeyFile", "SocketCAFile"];
    let told = [
        format!("{cert}: No such file or directory"),
        format!("{key}: there is no private key"),
        format!("{ca}: No such file or directory"),
    ];
    let configuration = |name: &str, connection: &str| {
        let config = file(name);
        let text = format!(
            "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nSocketCertificateFile={cert}\nSocketPrivateKeyFile={key}\nSocketCAFile={ca}\n{connection}\n"
        );
        std::fs::write(&config, text).unwrap();
        config
    };
    let venue = configuration("venue.cfg", "SocketAcceptPort=0\nNeedClientAuth=Y");
    let trader = configuration("trader.cfg", "SocketConnectHost=a\nSocketConnectPort=1\nHeartBtInt=30");
    for config in [&venue, &trader] {
        let checked = run(&["check-config", config]);
        let mistakes: Vec<_> = checked.out.lines().filter(|line| line.starts_with("mistake: ")).collect();
        assert_eq!((checked.status, mistakes.len()), (1, 3), "{mistakes:?}");
        for (n, (mistake, key)) in mistakes.iter().zip(keys).enumerate() {
            let begin = format!("mistake: {config}:{}: {key}: {}", n + 5, told[n]);
            assert!(mistake.starts_with(&begin), "{mistake} for {begin}");
        }
    }
    let files = ["--tls", "--cert", &cert, "--key", &key, "--ca", &ca];
    for arguments in [
        vec!["serve", "--config", &venue],
        [&["serve", "--listen", "127.0.0.1:0"], &files[..]].concat(),
        [&ORDER[..], &["--config", &trader]].concat(),
        [&ORDER[..], &files].concat(),
    ] {
        let ended = run(&arguments);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{arguments:?}: {}", ended.err);
        for told in &told {
            assert!(ended.err.contains(told), "{arguments:?}: {}", ended.err);
        }
    }
}

#[test]
fn a_command_names_its_option_and_a_configuration_its_key() {
    let (file, other) = (certificates("tls-options"), certificates("tls-options-other"));
    let (cert, key, ca, no) = (file("CLIENT.pem"), file("CLIENT.key"), file("ca.pem"), file("no.pem"));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--tls"];
    let send = [&ORDER[..], &["--tls"]].concat();
    for command in [&serve[..], &send] {
        for (options, told) in [
            (["--cert", &no, "--key", &key, "--ca", &ca], format!("--cert: {no}: No such file")),
            (["--cert", &cert, "--key", &no, "--ca", &ca], format!("--key: {no}: No such file")),
            (["--cert", &cert, "--key", &key, "--ca", &no], format!("--ca: {no}: No such file")),
            (
                ["--cert", &cert, "--key", &other("CLIENT.key"), "--ca", &ca],
                format!(
                    "--key: {}: this private key is not that of the certificate in {cert}",
                    other("CLIENT.key")
                ),
            ),
        ] {
            let ended = run(&[command, &options].concat());
            assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{}", ended.err);
            assert!(ended.err.contains(&told) && !ended.err.contains("Socket"), "{told}: {}", ended.err);
        }
    }
    let config = file("trader.cfg");
    let text = format!(
        "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nHeartBtInt=30\nSocketConnectHost=a\nSocketConnectPort=1\nSocketCAFile={no}\n"
    );
    std::fs::write(&config, text).unwrap();
    let ended = run(&[&ORDER[..], &["--config", &config]].concat());
    let told = format!("SocketCAFile: {no}: No such file");
    assert!(ended.status == 2 && ended.err.contains(&told) && !ended.err.contains("--ca"), "{}", ended.err);
}

#[test]
fn a_private_key_that_others_may_read_is_a_warning_of_check_config_and_of_the_start() {
    let file = certificates("tls-mode");
    let (config, own) = (file("executor.cfg"), file("own.pem"));
    let workers = std::thread::available_parallelism().unwrap().get() + 1;
    let text = as_in_quickfixn(&file).replace("[SESSION]", &format!("Workers={workers}\n[SESSION]"));
    std::fs::write(&config, text).unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o644)).unwrap();
    let said =
        format!("{own}: others than its owner may read this private key (mode 0644); run `chmod 600 {own}`");
    let checked = run(&["check-config", &config]);
    assert_eq!(checked.status, 0, "{}", checked.out);
    let warning = format!("warning: {config}:6: SSLCertificate: {said}");
    assert!(checked.out.lines().any(|line| line.starts_with(&warning)), "{}", checked.out);
    let mut server = command::fixbolt()
        .args(["serve", "--config", &config])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("listening "), "{line}");
    let mut told = server.stderr.take().unwrap();
    end(server);
    let mut all = String::new();
    told.read_to_string(&mut all).unwrap();
    // Once, with its line: what was told of the file is not told of the engine again.
    for said in [format!(": SSLCertificate: {said}"), format!(": Workers: {workers} workers start, ")] {
        assert_eq!(all.matches(&said).count(), 1, "{said}: {all}");
    }
    for said in ["others than its owner may read", "workers start"] {
        assert_eq!(all.matches(said).count(), 1, "{said}: {all}");
    }
}

#[test]
fn the_log_of_a_logon_names_the_certificate_of_the_counterparty() {
    let file = certificates("tls-log");
    let (ca, own, log) = (file("ca.pem"), [file("FIXBOLT.pem"), file("FIXBOLT.key")], file("venue.log"));
    let arguments = ["--tls", "--ca", &ca, "--cert", &own[0], "--key", &own[1]];
    let server = Server::start_with_log(&arguments, std::fs::File::create(&log).unwrap());
    let to = server.address.replace("127.0.0.1", "localhost");
    let (cert, key) = (file("CLIENT.pem"), file("CLIENT.key"));
    let with = ["--to", &to, "--tls", "--ca", &ca, "--cert", &cert, "--key", &key];
    assert_eq!(run(&[&ORDER[..], &with].concat()).status, 0);
    assert_eq!(server.stop("-TERM"), Some(0));
    let log = std::fs::read_to_string(log).unwrap();
    let line = log.lines().find(|line| line.contains(": connected, peer 127.0.0.1:")).expect(&log);
    let (_, certificate) = line.split_once(", serial ").expect(line);
    let (serial, rest) = certificate.split_once(", expires 20").expect(line);
    assert!(serial.len() >= 2 && serial.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
    assert!(rest.ends_with("Z, subject CN=CLIENT"), "{line}");
}

/// Returns a command of OpenSSL; `None`, and says so, if it is not there.
fn openssl() -> Option<Command> {
    if Command::new("openssl").arg("version").output().is_ok_and(|output| output.status.success()) {
        return Some(Command::new("openssl"));
    }
    eprintln!("NOT TESTED: openssl is not installed, so TLS was tried against itself only");
    None
}

fn message(msg_type: &str, seq: u32, sides: [&str; 2], fields: &str) -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let time =
        Command::new("date").args(["-u", "-d", &format!("@{now}"), "+%Y%m%d-%H:%M:%S"]).output().unwrap();
    let time = String::from_utf8(time.stdout).unwrap();
    let [sender, target] = sides;
    let body = format!("35={msg_type}|49={sender}|56={target}|34={seq}|52={}|{fields}", time.trim())
        .replace('|', "\x01");
    let text = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    let sum = text.bytes().fold(0_u8, u8::wrapping_add);
    format!("{text}10={sum:03}\x01").into_bytes()
}

/// Reads until this text has come.
fn read_until(from: &mut impl Read, text: &str) -> String {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(text) {
        let mut bytes = [0; 512];
        let n = from.read(&mut bytes).unwrap();
        assert!(n > 0, "{text}: {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&bytes[..n]);
    }
    String::from_utf8_lossy(&seen).into_owned()
}

fn end(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn the_client_of_openssl_logs_on_with_a_certificate() {
    let Some(_) = openssl() else { return };
    let file = certificates("tls-s-client");
    let (ca, own) = (file("ca.pem"), [file("FIXBOLT.pem"), file("FIXBOLT.key")]);
    let server = Server::start(&["--tls", "--ca", &ca, "--cert", &own[0], "--key", &own[1]]);
    for version in ["-tls1_2", "-tls1_3"] {
        let mut client = openssl()
            .unwrap()
            .args(["s_client", "-quiet", "-verify_return_error", "-verify_hostname", "localhost", version])
            .args(["-connect", &server.address, "-CAfile", &ca])
            .args(["-cert", &file("CLIENT.pem"), "-key", &file("CLIENT.key")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut to, mut from) = (client.stdin.take().unwrap(), client.stdout.take().unwrap());
        let sides = ["CLIENT", "FIXBOLT"];
        to.write_all(&message("A", 1, sides, "98=0|108=30|141=Y|")).unwrap();
        read_until(&mut from, "\x0135=A\x01");
        to.write_all(&message("5", 2, sides, "")).unwrap();
        read_until(&mut from, "\x0135=5\x01");
        end(client);
    }
}

#[test]
fn a_session_logs_on_to_the_server_of_openssl() {
    let Some(mut openssl) = openssl() else { return };
    let file = certificates("tls-s-server");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = openssl
        .args(["s_server", "-accept", &port.to_string(), "-CAfile", &file("ca.pem"), "-Verify", "1"])
        .args(["-cert", &file("FIXBOLT.pem"), "-key", &file("FIXBOLT.key"), "-verify_return_error"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
    let mut line = String::new();
    while !line.contains("ACCEPT") {
        line.clear();
        assert!(from.read_line(&mut line).unwrap() > 0, "it ends");
    }
    let answers = std::thread::spawn(move || {
        let logon = read_until(&mut from, "\x0135=A\x01");
        to.write_all(&message("A", 1, ["FIXBOLT", "CLIENT"], "98=0|108=30|141=Y|")).unwrap();
        let order = read_until(&mut from, "\x0135=D\x01");
        to.write_all(&message("3", 2, ["FIXBOLT", "CLIENT"], "45=2|58=no|")).unwrap();
        (logon, order)
    });
    let to = format!("localhost:{port}");
    let (ca, cert, key) = (file("ca.pem"), file("CLIENT.pem"), file("CLIENT.key"));
    let with = ["--to", &to, "--timeout", "20", "--tls", "--ca", &ca, "--cert", &cert, "--key", &key];
    let ended = run(&[&ORDER[..], &with].concat());
    let (logon, _) = answers.join().unwrap();
    assert_eq!(ended.status, 1, "{} {}", ended.out, ended.err);
    // It says so of a client's certificate.
    assert!(logon.contains("CN = CLIENT") || logon.contains("CN=CLIENT"), "{logon}");
    end(server);
}
