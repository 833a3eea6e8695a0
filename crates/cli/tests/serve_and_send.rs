//! `fixbolt serve` and `fixbolt send` against each other: answers, rejects, refusals, and no
//! server.

mod command;

use std::net::TcpListener;

use command::{Server, directory, run};

const ORDER: [&str; 5] = ["Symbol=IBM", "Side=BUY", "OrderQty=100", "OrdType=LIMIT", "Price=298.075"];

/// Runs `send` with these arguments against this server.
fn send(server: &Server, words: &[&str]) -> command::Ended {
    let to = ["--to", server.address.as_str()];
    run(&[&["send"], words, &to[..]].concat())
}

fn order(server: &Server, more: &[&str]) -> command::Ended {
    send(server, &[&["NewOrderSingle"], &ORDER[..], more].concat())
}

#[test]
fn an_order_is_sent_filled_and_both_messages_are_shown() {
    let server = Server::start(&[]);
    for version in ["FIX.4.4", "FIX.4.2", "FIX.5.0", "5.0SP2", "FIX.Latest", "FIXT.1.1"] {
        let ended = order(&server, &["--version", version]);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
        for shown in
            ["  sent\n", "Symbol (55): IBM", "  received\n", "OrdStatus (39): FILLED (2)", "CumQty (14): 100"]
        {
            assert!(ended.out.contains(shown), "{shown}: {}", ended.out);
        }
        assert!(!ended.out.contains("INVALID"), "{}", ended.out);
        assert_eq!(ended.out.matches("MsgSeqNum (34): 2").count(), 2, "numbers begin at 1 each time");
    }
    let sender = order(&server, &["--sender", "ME", "--target", "YOU"]);
    assert_eq!(sender.status, 0, "{}", sender.err);
    assert!(sender.out.contains("SenderCompID (49): ME") && sender.out.contains("SenderCompID (49): YOU"));
}

/// Every version, with its BeginString and, over FIXT.1.1, that of the messages.
const VERSIONS: [(&str, &str); 9] = [
    ("FIX.4.0", ""),
    ("FIX.4.1", ""),
    ("FIX.4.2", ""),
    ("FIX.4.3", ""),
    ("FIX.4.4", ""),
    ("FIXT.1.1", "FIX.5.0"),
    ("FIXT.1.1", "FIX.5.0SP1"),
    ("FIXT.1.1", "FIX.5.0SP2"),
    ("FIXT.1.1", "FIX.Latest"),
];

#[test]
fn the_venue_and_send_exchange_valid_messages_in_every_version() {
    let folder = directory("serve-every-version");
    let mut text = "[DEFAULT]\nConnectionType=acceptor\nSenderCompID=FIXBOLT\nSocketAcceptPort=0\n\
                    ResetOnLogon=Y\nPersistMessages=N\nValidateOutgoingMessage=Y\n"
        .to_owned();
    for (n, (begin_string, application)) in VERSIONS.into_iter().enumerate() {
        text += &format!("[SESSION]\nBeginString={begin_string}\nTargetCompID=C{n}\n");
        if !application.is_empty() {
            text += &format!("DefaultApplVerID={application}\n");
        }
    }
    let config = folder.join("venue.cfg");
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let orders: [(&[&str], i32); 4] = [
        (&["OrdType=LIMIT", "Price=298.075"], 0),
        (&["OrdType=MARKET"], 0),
        (&["OrdType=LIMIT"], 1),
        (&["OrdType=3", "99=1"], 1),
    ];
    for server in [Server::start(&["--config", config]), Server::start(&[])] {
        for (n, (begin_string, application)) in VERSIONS.into_iter().enumerate() {
            let version = if application.is_empty() { begin_string } else { application };
            let sender = format!("C{n}");
            for (fields, status) in orders {
                let order = ["D", "Symbol=IBM", "Side=BUY", "OrderQty=100"];
                let of = ["--version", version, "--sender", &sender];
                let ended = send(&server, &[&order, fields, &of].concat());
                assert_eq!((ended.status, ended.err.as_str()), (status, ""), "{version} {}", ended.out);
                assert!(ended.out.contains("ExecutionReport (8)"), "{version} {fields:?}: {}", ended.out);
                assert!(!ended.out.contains("INVALID"), "{version} {fields:?}: {}", ended.out);
            }
        }
    }
}

#[test]
fn a_rejected_message_is_status_1_and_the_reason_is_shown() {
    let server = Server::start(&[]);
    let stop_order = send(&server, &["D", "55=IBM", "54=1", "38=100", "40=3", "99=1"]);
    assert_eq!(stop_order.status, 1);
    assert!(stop_order.out.contains("Text (58): only market (40=1) and limit (40=2) orders are filled"));
    let no_price = send(&server, &["D", "55=IBM", "54=1", "38=100", "40=2"]);
    assert!(no_price.status == 1 && no_price.out.contains("Text (58): a limit order needs Price (44)"));
    let huge = "1".repeat(40);
    for (fields, told) in [
        (
            ["40=1".to_owned(), format!("38={huge}")],
            "OrderQty (38) has more digits than this venue can count",
        ),
        (["40=1".to_owned(), "38=0".to_owned()], "OrderQty (38) must be above zero"),
        (["40=2".to_owned(), format!("44={huge}")], "Price (44) has more digits than this venue can count"),
    ] {
        let quantity = if fields[1].starts_with("38") { "58=none" } else { "38=1" };
        let ended = send(&server, &["D", "55=IBM", "54=1", &fields[0], &fields[1], quantity]);
        assert!(ended.status == 1 && ended.out.contains(&format!("Text (58): {told}\n")), "{}", ended.out);
    }
    let no_side = send(&server, &["D", "55=IBM", "40=1", "38=1"]);
    assert!(no_side.status == 1 && no_side.out.contains("Reject (3)"), "{}", no_side.out);
    assert!(no_side.out.contains("RefTagID (371): 54"), "{}", no_side.out);
    let unsupported = send(&server, &["OrderStatusRequest", "ClOrdID=1", "Symbol=IBM", "Side=BUY"]);
    assert!(unsupported.status == 1 && unsupported.out.contains("BusinessMessageReject (j)"));
}

#[test]
fn a_tag_from_5000_on_is_accepted_without_a_configuration_and_as_the_configuration_says_with_one() {
    let server = Server::start(&[]);
    let ended = order(&server, &["9001=mine"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert!(ended.out.contains("(9001): mine") && ended.out.contains("OrdStatus (39): FILLED (2)"));
    let unknown = order(&server, &["4999=mine"]);
    assert!(unknown.status == 1 && unknown.out.contains("RefTagID (371): 4999"), "{}", unknown.out);

    let folder = directory("serve-user-defined");
    for (line, status) in [("", 1), ("ValidateUserDefinedFields=N\n", 0)] {
        let config = folder.join("venue.cfg");
        let text = format!(
            "[SESSION]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=FIXBOLT\nTargetCompID=CLIENT\nSocketAcceptPort=0\nResetOnLogon=Y\nFileStorePath={}\n{line}",
            folder.join("journal").display()
        );
        std::fs::write(&config, text).unwrap();
        let server = Server::start(&["--config", config.to_str().unwrap()]);
        let ended = order(&server, &["9001=mine"]);
        assert_eq!(ended.status, status, "{line}{}{}", ended.out, ended.err);
        assert_eq!(ended.out.contains("RefTagID (371): 9001"), status == 1, "{}", ended.out);
    }
}

#[test]
fn a_sub_id_selects_the_session_on_both_sides_and_names_its_journal() {
    let folder = directory("serve-sub-ids");
    let venue = folder.join("venue.cfg");
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=FIXBOLT\nTargetCompID=CLIENT\n\
         SocketAcceptPort=0\nFileStorePath={}\n[SESSION]\n[SESSION]\nTargetSubID=DESK\nTargetLocationID=NY\n",
        folder.join("venue").display()
    );
    std::fs::write(&venue, text).unwrap();
    let server = Server::start(&["--config", venue.to_str().unwrap()]);
    let ended = order(&server, &["--sender", "CLIENT/DESK/NY"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.out.contains("SenderSubID (50): DESK") && ended.out.contains("TargetLocationID (143): NY"));
    let other = order(&server, &["--sender", "CLIENT//NY"]);
    assert_eq!(other.status, 0, "{}", other.err);
    assert!(!other.out.contains("TargetLocationID"), "for the session without SubIDs: {}", other.out);

    let trader = folder.join("trader.cfg");
    let text = format!(
        "[DEFAULT]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=CLIENT\nTargetCompID=FIXBOLT\n\
         HeartBtInt=30\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\nResetOnLogon=Y\n\
         [SESSION]\n[SESSION]\nSenderSubID=DESK\nSenderLocationID=NY\n",
        server.address.rsplit_once(':').unwrap().1
    );
    std::fs::write(&trader, text).unwrap();
    for (sender, has_sub_id) in [("CLIENT", false), ("CLIENT/DESK", true), ("CLIENT//NY", true)] {
        let config = ["--config", trader.to_str().unwrap(), "--sender", sender];
        let ended = run(&[&["send", "NewOrderSingle"], &ORDER[..], &config].concat());
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
        assert_eq!(ended.out.contains("TargetSubID (57): DESK"), has_sub_id, "{sender}: {}", ended.out);
    }
    drop(server);
    let journal = folder.join("venue/FIX.4.4-FIXBOLT-CLIENT+DESK+NY");
    let stat = run(&["journal", "stat", journal.to_str().unwrap()]);
    assert!(stat.out.contains("FIX.4.4:FIXBOLT->CLIENT/DESK/NY"), "{}{}", stat.out, stat.err);
}

#[test]
fn json_is_a_line_for_what_was_sent_and_one_for_the_answer() {
    let server = Server::start(&[]);
    let ended = order(&server, &["-o", "json"]);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with(r#"{"kind":"sent","begin_string":"FIX.4.4","msg_type":"D""#));
    assert!(lines[1].starts_with(r#"{"kind":"received","begin_string":"FIX.4.4","msg_type":"8""#));
}

#[test]
fn the_random_venue_answers_the_same_for_the_same_seed() {
    let answer = |seed: &str| {
        let server = Server::start(&["--random", seed]);
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"].map(|id| {
            let ended = order(&server, &[&format!("ClOrdID={id}")]);
            let line = ended.out.lines().rfind(|line| line.contains("OrdStatus (39)"));
            line.map(str::to_owned).expect("there is an answer")
        })
    };
    let one = answer("1");
    assert_eq!(one, answer("1"));
    assert!(one.iter().any(|line| line.contains("NEW (0)")), "{one:?}");
}

#[test]
fn the_echo_sends_an_order_back() {
    let server = Server::start(&["--app", "echo"]);
    let ended = order(&server, &[]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!(ended.out.matches("NewOrderSingle (D)").count(), 2, "{}", ended.out);
}

#[test]
fn each_signal_stops_it_with_its_own_exit_status() {
    assert_eq!(Server::start(&[]).stop("-TERM"), Some(0));
    assert_eq!(Server::start(&[]).stop("-INT"), Some(130));
}

#[test]
fn with_a_configuration_sequence_numbers_and_journal_continue() {
    let folder = directory("serve-config");
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let journal = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let session = "BeginString=FIX.4.2\nHeartBtInt=30\n[SESSION]\n";
    let venue = write(
        "venue.cfg",
        format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nFileStorePath={}\n{session}SenderCompID=VENUE\nTargetCompID=TRADER\n",
            journal("venue")
        ),
    );
    let server = Server::start(&["--config", &venue]);
    let port = server.address.rsplit(':').next().unwrap();
    let trader = write(
        "trader.cfg",
        format!(
            "[DEFAULT]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nFileStorePath={}\n{session}SenderCompID=TRADER\nTargetCompID=VENUE\n",
            journal("trader")
        ),
    );
    let send = || run(&[&["send", "D"], &ORDER[..], &["--config", &trader]].concat());
    for seq in ["2", "5"] {
        let ended = send();
        assert_eq!(ended.status, 0, "{}", ended.err);
        assert!(ended.out.contains(&format!("MsgSeqNum (34): {seq}\n")), "{}", ended.out);
    }
    // It is not part of the answer.
    let text = std::fs::read_to_string(&trader).unwrap();
    std::fs::write(&trader, text.replace("[DEFAULT]\n", "[DEFAULT]\nCodecTiming=Y\n")).unwrap();
    let ended = send();
    assert_eq!(ended.status, 0, "{}", ended.err);
    let lines: Vec<&str> = ended.err.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("Encode: ") && lines[1].starts_with("Decode: "),
        "{lines:?}"
    );
    assert_eq!(server.stop("-TERM"), Some(0));
    for side in ["venue", "trader"] {
        let verified = run(&["journal", "verify", &journal(side)]);
        assert_eq!(verified.status, 0, "{}{}", verified.out, verified.err);
        assert!(
            verified.out.contains("whole, ") && verified.out.contains("next in 10, next out 10"),
            "{}",
            verified.out
        );
    }
    let printed = run(&["print", "--oneline", &journal("trader")]);
    assert_eq!((printed.status, printed.err.as_str()), (0, ""));
    let orders =
        printed.out.lines().filter(|line| line.starts_with("sent ") && line.contains("OrderSingle (D)"));
    assert_eq!(orders.count(), 3, "{}", printed.out);
    assert!(printed.out.contains("Logon (A)") && printed.out.contains("Logout (5)"), "{}", printed.out);
    let blocks = run(&["print", &journal("venue")]);
    assert!(
        blocks.out.contains("FIX.4.2:VENUE->TRADER (") && blocks.out.contains(" sent, "),
        "{}",
        blocks.out
    );
    // After the server has stopped there is no connection.
    let gone = send();
    assert_eq!(gone.status, 3);
    assert!(gone.err.contains("cannot reach 127.0.0.1:"), "{}", gone.err);
    // With a damaged journal it does not even connect.
    let segment = folder.join("trader/FIX.4.2-TRADER-VENUE/segment-000001");
    let mut bytes = std::fs::read(&segment).unwrap();
    let at = bytes.windows(7).position(|bytes| bytes == b"55=IBM\x01").expect("the order is in it");
    bytes[at] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let damaged = send();
    assert_eq!(damaged.status, 2, "{}", damaged.err);
    assert!(
        damaged.err.contains("the session is halted") && damaged.err.lines().count() == 1,
        "{}",
        damaged.err
    );
    // The command that it names ends the halt.
    let named = damaged.err.rsplit('`').nth(1).expect("it names a command");
    let words: Vec<&str> = named.split(' ').collect();
    assert_eq!(words[..3], ["fixbolt", "journal", "repair"], "{named}");
    assert_eq!(run(&words[1..]).status, 0);
    // It connects again; nobody listens there any more.
    let repaired = send();
    assert!(repaired.err.starts_with("fixbolt: cannot reach "), "{}", repaired.err);
}

#[test]
fn sequence_numbers_are_reset_on_loopback_or_if_asked_and_continue_with_a_store() {
    let folder = directory("send-store");
    let config = folder.join("venue.cfg");
    let text = format!(
        "[SESSION]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=FIXBOLT\nTargetCompID=CLIENT\nSocketAcceptPort=0\nFileStorePath={}\n",
        folder.join("venue").display()
    );
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let store = folder.join("client");
    let store = store.to_str().unwrap();
    let number = |more: &[&str]| {
        let ended = order(&server, more);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{more:?}: {}", ended.out);
        let line = ended.out.lines().find(|line| line.contains("MsgSeqNum (34): ")).unwrap();
        line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!([number(&["--store", store]), number(&["--store", store])], [2, 5]);
    assert_eq!(number(&["--store", store, "--reset"]), 2);
    assert_eq!(number(&["--store", store]), 5);
    assert_eq!(number(&[]), 2);
    let verified = run(&["journal", "verify", store]);
    assert!(verified.status == 0 && verified.out.contains("next out 7"), "{}", verified.out);
    // A counterparty without a journal has begun at 1 again, or knows none of our numbers.
    let forgetful = Server::start(&[]);
    let ended = order(&forgetful, &["--store", store]);
    assert_eq!(ended.status, 3, "{}", ended.out);
    assert!(ended.err.ends_with("; with --reset both sides begin at 1\n"), "{}", ended.err);
    // This address is another one for the same machine.
    let port = server.address.rsplit_once(':').unwrap().1;
    let to = format!("0.0.0.0:{port}");
    let elsewhere = |more: &[&str]| run(&[&["send", "D"], &ORDER[..], &["--to", &to], more].concat());
    let refused = elsewhere(&[]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("--reset") && refused.err.contains("--store DIR"), "{}", refused.err);
    assert_eq!(elsewhere(&["--reset"]).status, 0);
    let ended = run(&["send", "D", "55=IBM", "--to", "nowhere.invalid:1"]);
    assert!(ended.status == 3 && ended.err.starts_with("fixbolt: cannot reach nowhere.invalid:1: "));
}

#[test]
fn no_connection_is_status_3_and_so_is_no_answer() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let ended = run(&["send", "D", "55=IBM", "--to", &address, "--timeout", "1"]);
    assert_eq!(ended.status, 3);
    assert_eq!(
        ended.err,
        format!("fixbolt: no logon with {address}: it did not answer our Logon within 1 s\n")
    );
    drop(silent);
    let ended = run(&["send", "D", "55=IBM", "--to", &address]);
    assert_eq!(
        (ended.status, ended.err),
        (
            3,
            format!(
                "fixbolt: cannot reach {address}: cannot connect (is the counterparty running?), address {address}, error Connection refused\n"
            )
        )
    );
}

#[test]
fn an_interrupt_while_waiting_is_status_130() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let mut child = command::fixbolt()
        .args(["send", "D", "55=IBM", "--to", &address, "--timeout", "60"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let (connection, _) = silent.accept().unwrap();
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(connection);
}

#[test]
fn wrong_usage_is_status_2_and_says_what_to_do() {
    for (arguments, told) in [
        (&["send", "NewOrdrSingle"][..], "did you mean NewOrderSingle?"),
        (
            &["send", "NewOrderSingle"],
            "Side (54), OrdType (40); write for example `fixbolt send NewOrderSingle Side=BUY",
        ),
        (&["send", "D", "Symbl=IBM"], "did you mean Symbol?"),
        (&["send", "D", "Side=BYU"], "Side (54) has no value BYU; it has BUY (1)"),
        (&["send", "D", "--to", "nowhere"], "write HOST:PORT"),
        (&["send", "D", "--to", "192.0.2.1:1"], "add --store DIR to keep a journal in DIR"),
        (&["send", "D", "--to", "[2001:db8::1]:1"], "or --reset to begin at 1 on both sides"),
        (&["send", "D", "--config", "trader.cfg", "--reset"], "cannot be used with '--reset'"),
        (&["send", "D", "--config", "trader.cfg", "--store", "x"], "cannot be used with '--store <DIR>'"),
        (&["send", "D", "--version", "FIX.9"], "none of the versions FIX.4.0, FIX.4.1, "),
        (&["send", "A", "--version", "5.0SP2"], "A is sent only by the session itself"),
        (&["send", "D", "--sender", ""], "CompID is empty"),
        (&["send", "D", "--sender", "A/"], "SubID is empty"),
        (&["send", "D", "--config", "nowhere.cfg"], "nowhere.cfg"),
        (&["serve", "--config", "nowhere.cfg"], "nowhere.cfg"),
        (&["serve", "--listen", "somewhere"], "invalid value 'somewhere'"),
        (&["serve", "--app", "echo", "--random", "1"], "--random cannot be used with --app echo"),
    ] {
        let ended = run(arguments);
        assert_eq!(ended.status, 2, "{arguments:?}");
        assert!(ended.err.contains(told), "{arguments:?}: {}", ended.err);
        assert_eq!(ended.out, "");
    }
}

#[test]
fn a_port_in_use_and_a_wrong_key_stop_the_start() {
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap().to_string();
    let ended = run(&["serve", "--listen", &address]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.starts_with(&format!("fixbolt: cannot listen on {address}: ")), "{}", ended.err);
    let path = directory("serve-port").join("venue.cfg");
    let port = holder.local_addr().unwrap().port();
    let text = format!(
        "[SESSION]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=V\nTargetCompID=T\nSocketAcceptPort={port}\n"
    );
    std::fs::write(&path, text).unwrap();
    let ended = run(&["serve", "--config", path.to_str().unwrap()]);
    let place = format!("fixbolt: {}:6: SocketAcceptPort: cannot listen on {address}: ", path.display());
    let last = ended.err.lines().last().unwrap();
    assert!(ended.status == 2 && last.starts_with(&place), "{}", ended.err);
    let path = directory("serve-key").join("venue.cfg");
    std::fs::write(&path, "[DEFAULT]\nHeartBeatInt=30\n").unwrap();
    let ended = run(&["serve", "--config", path.to_str().unwrap()]);
    assert_eq!(ended.status, 2);
    assert!(
        ended.err.contains("venue.cfg:2: unknown key HeartBeatInt; did you mean HeartBtInt? A key"),
        "{}",
        ended.err
    );
}

#[test]
fn a_journal_in_use_is_refused_with_an_error_that_names_its_holder() {
    let folder = directory("serve-lock");
    let path = folder.join("venue.cfg");
    let journal = folder.join("journal");
    std::fs::write(&path, format!("[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nFileStorePath={}\n[SESSION]\nBeginString=FIX.4.4\nSenderCompID=V\nTargetCompID=T\n", journal.display())).unwrap();
    let config = path.to_str().unwrap();
    let server = Server::start(&["--config", config]);
    // A new journal is made while the server listens already.
    let is_made = || {
        let mut sessions = std::fs::read_dir(&journal).into_iter().flatten().flatten();
        sessions.any(|session| session.path().join("head").exists())
    };
    while !is_made() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let second = run(&["serve", "--config", config]);
    assert_eq!(second.status, 2);
    let last = second.err.lines().last().unwrap();
    let place = format!("fixbolt: {config}:4: FileStorePath: session FIX.4.4:V->T: ");
    assert!(last.starts_with(&place) && last.contains("in use by"), "{last}");
    let repair = run(&["journal", "repair", journal.to_str().unwrap()]);
    assert!(repair.status == 2 && repair.err.contains("in use by"), "{}", repair.err);
    drop(server);
}

#[test]
fn send_says_why_no_session_of_a_file_is_the_one_to_send_with() {
    let path = directory("send-acceptor").join("venue.cfg");
    let session = |target: &str| {
        format!(
            "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID={target}\n\
             HeartBtInt=30\nSocketConnectHost=localhost\nSocketConnectPort=1\n"
        )
    };
    let acceptor = "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=V\nTargetCompID=T\n";
    for (text, told) in [
        (acceptor.to_owned(), "no session with ConnectionType=initiator"),
        (session("B"), "no session with ConnectionType=initiator fits these options; there is FIX.4.4:A->B"),
        (
            session("Z")
                + &session("Z/DESK").replace("Z/DESK", "Z\nTargetSubID=DESK\nSessionQualifier=1")
                + acceptor,
            "several sessions with ConnectionType=initiator fit; choose one with --target, --qualifier: there are FIX.4.4:A->Z, FIX.4.4:A->Z/DESK:1",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let config = path.to_str().unwrap();
        let more: &[&str] = if told.contains("several") { &[] } else { &["--target", "Z"] };
        let ended = run(&[&["send", "D", "55=IBM", "--config", config], more].concat());
        assert_eq!((ended.status, ended.err), (2, format!("fixbolt: {config}: {told}\n")));
    }
}

#[test]
fn version_and_qualifier_select_one_of_the_sessions_of_a_file() {
    let path = directory("send-version").join("banzai.cfg");
    let mut text =
        "[DEFAULT]\nConnectionType=initiator\nSenderCompID=BANZAI\nTargetCompID=EXEC\nHeartBtInt=30\n\
                    Store=memory\nSocketConnectHost=127.0.0.1\n"
            .to_owned();
    for (port, session) in [
        (1, "FIX.4.2"),
        (2, "FIX.4.4"),
        (3, "FIX.4.4\nSessionQualifier=drop"),
        (4, "FIXT.1.1\nDefaultApplVerID=FIX.5.0"),
    ] {
        text += &format!("[SESSION]\nBeginString={session}\nSocketConnectPort={port}\n");
    }
    std::fs::write(&path, text).unwrap();
    let config = path.to_str().unwrap();
    let send = |options: &[&str]| {
        run(&[&["send", "D", "55=IBM", "54=1", "38=100", "40=1", "--config", config], options].concat())
    };
    for (options, port) in [
        (&["--version", "FIX.4.2"][..], 1),
        (&["--version", "FIX.4.4", "--qualifier", ""], 2),
        (&["--qualifier", "drop"], 3),
        (&["--version", "FIX.5.0"], 4),
        (&["--version", "FIXT.1.1", "--sender", "BANZAI", "--target", "EXEC"], 4),
    ] {
        let ended = send(options);
        let to = format!("127.0.0.1:{port}");
        assert!(ended.status == 3 && ended.err.contains(&to), "{options:?}: {}", ended.err);
    }
    let all = "FIX.4.2:BANZAI->EXEC, FIX.4.4:BANZAI->EXEC, FIX.4.4:BANZAI->EXEC:drop, FIXT.1.1:BANZAI->EXEC";
    for (options, told) in [
        (&["--sender", "BANZAI"][..], format!("several sessions with ConnectionType=initiator fit; choose one with --version, --qualifier: there are {all}")),
        (
            &["--version", "FIX.4.4"],
            "several sessions with ConnectionType=initiator fit; choose one with --qualifier: there are FIX.4.4:BANZAI->EXEC, FIX.4.4:BANZAI->EXEC:drop".to_owned(),
        ),
        (
            &["--version", "FIX.5.0SP2"],
            format!("no session with ConnectionType=initiator fits these options; there are {all}"),
        ),
    ] {
        let ended = send(options);
        assert_eq!((ended.status, ended.err), (2, format!("fixbolt: {config}: {told}\n")));
    }
}

#[test]
fn an_initiator_in_a_served_file_is_told_with_what_runs_it() {
    let path = directory("serve-initiator").join("both.cfg");
    let config = path.to_str().unwrap();
    let initiator = "[DEFAULT]\nBeginString=FIX.4.4\nSenderCompID=A\nStore=memory\n[SESSION]\nConnectionType=initiator\n\
                     TargetCompID=B\nHeartBtInt=30\nSocketConnectHost=127.0.0.1\nSocketConnectPort=1\n";
    let acceptor = "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nTargetCompID=C\n";
    let is = "this session is an initiator, and `fixbolt serve` runs acceptors only; ";
    let send = format!("`fixbolt send --config {config}` connects with it");
    for (text, others) in
        [(initiator.to_owned(), ""), (initiator.to_owned() + acceptor, "--keep-going serves the others; ")]
    {
        std::fs::write(&path, text).unwrap();
        let ended = run(&["serve", "--config", config]);
        let last = ended.err.lines().last().unwrap_or_default();
        assert_eq!((ended.status, last), (2, format!("fixbolt: {config}:5: {is}{others}{send}").as_str()));
    }
    let log = path.with_extension("log");
    let server =
        Server::start_with_log(&["--config", config, "--keep-going"], std::fs::File::create(&log).unwrap());
    assert_eq!(server.stop("-TERM"), Some(0));
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains(&format!("not served: {config}:5: {is}{send}\n")), "{log}");
}
