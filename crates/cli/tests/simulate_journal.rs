//! `fixbolt simulate --from-journal`: journals of both sides of sessions that really ran are
//! replayed into the same core, which sends the same, and a journal that was changed is noticed.

mod command;
#[path = "simulate_journal/market.rs"]
mod market;
#[path = "simulate_journal/random.rs"]
mod random;

use std::path::{Path, PathBuf};
use std::time::Duration;

use command::{Ended, Server, directory, run};
use fixbolt::config::Configuration;
use fixbolt_codec::{Precision, SeqNum, Version};
use fixbolt_journal::{DirectoryStore, JournalReader};
use fixbolt_session::runtime::session_key;
use fixbolt_session::store::{Record, RecordKind, Store};
use fixbolt_session::{Role, SessionSettings};
use market::{ACCEPTOR, INITIATOR, Market, settings};

/// Returns the text of a configuration of one side, and its settings.
fn configuration(version: Version, role: Role, more: &str) -> (String, SessionSettings) {
    let (us, them, side) = match role {
        Role::Initiator => {
            ("T", "V", "initiator\nHeartBtInt=30\nSocketConnectHost=127.0.0.1\nSocketConnectPort=9880")
        }
        Role::Acceptor => ("V", "T", "acceptor\nSocketAcceptPort=0"),
    };
    let default = if version == Version::Fixt11 { "DefaultApplVerID=FIX.5.0SP2\n" } else { "" };
    let text = format!(
        "[SESSION]\nBeginString={version}\n{default}SenderCompID={us}\nTargetCompID={them}\n\
         FileStorePath=elsewhere\nConnectionType={side}\n{more}"
    );
    let read = Configuration::from_text("test", &text).unwrap();
    let own = settings(version, us, them, role);
    (text, read.sessions[0].settings().clone().with(|s| s.dictionary = own.dictionary))
}

/// Records a day with all that happens in a session. Returns the directories of both journals.
fn a_day(name: &str, version: Version) -> [PathBuf; 2] {
    let mut market = Market::new(name, version, |_| {});
    market.connect();
    for n in 1..=3 {
        market.order(&format!("a{n}"), "");
    }
    market.order("invalid", "59=%|");
    market.order("rejected", "58=reject|");
    market.order("refused", "58=refuse|");
    // A report is lost: the next one shows the gap, and is asked for.
    market.ends[ACCEPTOR].loses = 1;
    market.order("a4", "");
    market.order("a5", "");
    // An order is lost.
    market.ends[INITIATOR].loses = 1;
    market.order("a6", "");
    market.order("a7", "");
    market.pass(Duration::from_secs(100));
    // Nothing arrives of one side: the other one asks whether it is there.
    market.ends[ACCEPTOR].loses = 1;
    market.pass(Duration::from_secs(50));
    for side in [INITIATOR, ACCEPTOR] {
        market.ends[side].side.test_request(0).unwrap();
        market.exchange();
        market.pass(Duration::from_secs(7));
    }
    market.order("a8", "");
    // A reset in the session.
    market.ends[ACCEPTOR].side.reset_in_session(0, "jane: new day").unwrap();
    market.exchange();
    market.order("b1", "");
    market.pass(Duration::from_secs(40));
    market.log_out(INITIATOR);
    market.pass(Duration::from_secs(3_600));
    // The second connection goes on with the numbers, and is lost.
    market.connect();
    market.order("b2", "");
    market.pass(Duration::from_secs(65));
    market.disconnect();
    market.pass(Duration::from_secs(600));
    // An operator sets numbers.
    let numbers = (None, Some(SeqNum(500)));
    market.ends[ACCEPTOR].side.set_numbers(0, numbers, "jane: agreed on the telephone").unwrap();
    market.connect();
    market.order("b3", "");
    market.pass(Duration::from_secs(35));
    market.log_out(ACCEPTOR);
    market.close()
}

/// Returns the options for a replay of these journals.
fn replay(base: &Path, more: &[&str]) -> Ended {
    run(&[&["simulate", "--from-journal", base.to_str().unwrap()], more].concat())
}

/// Returns the messages of a summary: inbound, compared, equal, different, missing, extra.
fn summary(ended: &Ended) -> [u64; 6] {
    let lines = ended.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let summary = lines.into_iter().find(|line| line["kind"] == "summary").expect("there is a summary");
    ["inbound", "compared", "equal", "different", "missing", "extra"]
        .map(|key| summary[key].as_u64().unwrap())
}

/// Returns the number of messages of a journal: received and sent.
fn messages(base: &Path) -> [u64; 2] {
    let reader = JournalReader::open(base).unwrap();
    let count = |kind| {
        let records = reader.sessions()[0].records().filter(|record| record.record.kind == kind);
        records.count() as u64
    };
    [RecordKind::Inbound, RecordKind::Outbound].map(count)
}

fn assert_equal(base: &Path, version: Version) {
    let text = replay(base, &[]);
    assert_eq!((text.status, text.err.as_str()), (0, ""), "{version}: {}", text.out);
    let [inbound, outbound] = messages(base);
    assert!(inbound > 20 && outbound > 20, "{version}: {inbound} {outbound}");
    assert_eq!(
        summary(&replay(base, &["-o", "json"])),
        [inbound, outbound, outbound, 0, 0, 0],
        "{version}: {}",
        text.out
    );
}

#[test]
fn both_journals_of_a_day_are_replayed_with_every_message_equal() {
    for version in [Version::Fix42, Version::Fix44, Version::Fixt11] {
        for base in a_day(&format!("day-{version}"), version) {
            assert_equal(&base, version);
        }
    }
}

#[test]
fn settings_that_the_journal_shows_are_taken_from_it() {
    for (name, change) in [
        ("on-logon", (|s| s.reset.reset_on_logon = true) as fn(&mut SessionSettings)),
        ("on-logout", |s| s.reset.reset_on_logout = true),
        ("on-disconnect", |s| s.reset.reset_on_disconnect = true),
        ("next-expected", |s| s.resend.send_next_expected_msg_seq_num = true),
        ("last-processed", |s| s.resend.enable_last_msg_seq_num_processed = true),
        ("micros", |s| s.timing.timestamp_precision = Precision::Micros),
        ("password", |s| s.logon.password = "open sesame".into()),
    ] {
        let mut market = Market::new(name, Version::Fix44, change);
        for day in 1..=3 {
            market.connect();
            market.ends[ACCEPTOR].loses = 1;
            for n in 1..=3 {
                market.order(&format!("{day}-{n}"), "");
            }
            market.pass(Duration::from_secs(95));
            if day == 2 {
                market.disconnect();
            } else {
                market.log_out(day / 2);
            }
            market.pass(Duration::from_secs(1_000));
        }
        for base in market.close() {
            let text = replay(&base, &[]);
            assert_eq!((text.status, text.err.as_str()), (0, ""), "{name}: {}", text.out);
            let [inbound, outbound] = messages(&base);
            assert_eq!(
                summary(&replay(&base, &["-o", "json"])),
                [inbound, outbound, outbound, 0, 0, 0],
                "{name}: {}",
                text.out
            );
            assert!(!text.out.contains("sesame"));
        }
    }
}

/// Copies a journal, with what `change` makes of each record: other ones, or none.
fn copy(base: &Path, name: &str, mut change: impl FnMut(usize, &Record<'_>) -> Vec<Vec<u8>>) -> PathBuf {
    let to = directory(&format!("simulate-copy-{name}"));
    let reader = JournalReader::open(base).unwrap();
    let journal = &reader.sessions()[0];
    let mut store = DirectoryStore::new(&to);
    let key = session_key(0, 0, 0);
    store.open(key, journal.session().unwrap()).unwrap();
    let (mut turn, mut sent) = (None, 0);
    for at in journal.records() {
        if turn != Some(at.turn) {
            if turn.is_some() {
                store.commit().unwrap();
            }
            store.begin();
            turn = Some(at.turn);
        }
        let bodies = match at.record.kind {
            RecordKind::Outbound => {
                sent += 1;
                change(sent, &at.record)
            }
            _ => vec![at.record.body.to_vec()],
        };
        for body in &bodies {
            let seq = if at.record.kind == RecordKind::Outbound { msg_seq_num(body) } else { at.record.seq };
            store.append(key, &Record { body, seq, ..at.record }).unwrap();
        }
    }
    store.commit().unwrap();
    store.close(key).unwrap();
    to
}

/// Returns a message with something else in place of a text, and the right CheckSum.
fn replaced(message: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(message.to_vec()).unwrap().replace('\u{1}', "|");
    assert!(text.contains(from), "{text}");
    let fields = text.replace(from, to).split('|').skip(2).collect::<Vec<_>>().join("|");
    let (fields, _) = fields.rsplit_once("10=").unwrap();
    let begin_string = text.split('|').next().unwrap().strip_prefix("8=").unwrap().to_owned();
    command::message(&begin_string, fields).into_bytes()
}

fn msg_seq_num(message: &[u8]) -> SeqNum {
    let text = String::from_utf8_lossy(message);
    let seq = text.split('\u{1}').find_map(|field| field.strip_prefix("34="));
    SeqNum(seq.unwrap().parse().unwrap())
}

fn kind(record: &Record<'_>) -> String {
    let text = String::from_utf8_lossy(record.body).into_owned();
    text.split('\u{1}').find_map(|field| field.strip_prefix("35=")).unwrap().to_owned()
}

#[test]
fn one_message_that_was_changed_is_the_one_difference() {
    let [initiator, acceptor] = a_day("changed", Version::Fix44);
    let changed = copy(&acceptor, "changed", |_, record| {
        let is_answer = record.body.windows(6).any(|bytes| bytes == b"\x01112=1") && kind(record) == "0";
        vec![if is_answer { replaced(record.body, "112=1|", "112=7|") } else { record.body.to_vec() }]
    });
    let text = replay(&changed, &[]);
    assert_eq!((text.status, text.err.as_str()), (1, ""), "{}", text.out);
    let lines: Vec<_> = text.out.lines().filter(|line| line.starts_with("FIX.4.4")).collect();
    assert_eq!(lines.len(), 3, "{}", text.out);
    assert!(
        lines[1].starts_with("FIX.4.4:V->T: different: 20261121-09:02:08.")
            && lines[1]
                .ends_with(", MsgSeqNum 26; first: recorded TestReqID (112): 7, replayed TestReqID (112): 1"),
        "{}",
        lines[1]
    );
    assert!(
        text.out.contains("\nHeartbeat (0)  recorded\n") && text.out.contains("\nHeartbeat (0)  replayed\n")
    );
    assert!(lines[2].contains("equal, 1 different, 0 missing, 0 extra ("), "{}", lines[2]);
    let json = replay(&changed, &["-o", "json"]);
    let line = json.out.lines().find(|line| line.contains("\"kind\":\"difference\"")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["what"], &line["seq"]), (&"different".into(), &26.into()));
    assert_eq!(line["field"]["recorded"], "TestReqID (112): 7");
    assert_eq!(line["recorded"]["name"], "Heartbeat");
    assert_eq!(line["replayed"]["fields"][5]["name"], "MsgSeqNum");

    // Heartbeats that are not there, or that nothing asked for.
    let mut beats = 0;
    let without = copy(&initiator, "without", |_, record| {
        beats += usize::from(kind(record) == "0");
        if kind(record) == "0" && beats == 2 { Vec::new() } else { vec![record.body.to_vec()] }
    });
    let [.., equal, different, missing, extra] = summary(&replay(&without, &["-o", "json"]));
    assert_eq!((different, missing, extra), (0, 0, 1), "{equal} {}", replay(&without, &[]).out);
}

#[test]
fn the_session_is_replayed_with_the_settings_of_its_configuration() {
    let [_, acceptor] = a_day("config", Version::Fix44);
    let configuration = |more: &str, target: &str| {
        let path = acceptor.join(format!("venue{}.cfg", more.len() + target.len()));
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=V\nSocketAcceptPort=0\n\
             FileStorePath=elsewhere\n{more}[SESSION]\nTargetCompID={target}\n"
        );
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let same = replay(&acceptor, &["--config", &configuration("", "T")]);
    assert_eq!((same.status, same.err.as_str()), (0, ""), "{}", same.out);
    assert!(same.out.contains("acceptor, settings of "), "{}", same.out);
    let other = replay(&acceptor, &["--config", &configuration("UseDataDictionary=N\n", "T"), "-o", "json"]);
    assert_eq!(other.status, 1, "{}", other.out);
    let [.., different, missing, extra] = summary(&other);
    assert_eq!((different, missing), (0, 1), "the Reject of the invalid order: {extra} {}", other.out);
    for (file, wrong) in [
        (configuration("", "SOMEBODY"), "there is no session FIX.4.4:V->T, whose journal this is"),
        (configuration("Nonsense=Y\n", "T"), "Nonsense"),
        ("nowhere.cfg".to_owned(), "nowhere.cfg"),
    ] {
        let ended = replay(&acceptor, &["--config", &file]);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{}", ended.err);
        assert!(ended.err.contains(wrong), "{}", ended.err);
    }
}

#[test]
fn a_replay_stops_after_the_message_that_until_names() {
    let [initiator, _] = a_day("until", Version::Fix44);
    // The last generation begins with the reset in the session.
    let short = replay(&initiator, &["--until", "3", "-o", "json"]);
    assert_eq!(short.status, 0, "{}{}", short.out, short.err);
    let [inbound, compared, equal, ..] = summary(&short);
    let all = messages(&initiator);
    assert!(inbound < all[0] && compared < all[1] && equal == compared, "{inbound} {compared}");
    let next = summary(&replay(&initiator, &["--until", "4", "-o", "json"]));
    assert_eq!(next[0], inbound + 1);
    let none = replay(&initiator, &["--until", "77"]);
    assert_eq!((none.status, none.out.as_str()), (2, ""));
    assert!(
        none.err.contains("no inbound message has MsgSeqNum 77 since the last reset of the sequence numbers: they have 1 to 5"),
        "{}",
        none.err
    );
}

#[test]
fn what_is_no_journal_is_one_line_and_status_2() {
    let empty = directory("simulate-empty");
    let file = empty.join("file");
    let [initiator, acceptor] = a_day("several", Version::Fix44);
    std::fs::create_dir(empty.join("nothing")).unwrap();
    std::fs::write(&file, "8=FIX.4.4").unwrap();
    for (path, wrong) in [
        (empty.join("nowhere"), "nowhere"),
        (empty.join("nothing"), "neither a session's journal nor a directory of journals"),
        (file, "this is a file; name the directory of the session's journal"),
    ] {
        let ended = replay(&path, &[]);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{}", ended.err);
        assert!(ended.err.lines().count() == 1 && ended.err.contains(wrong), "{}", ended.err);
        assert!(ended.err.contains(path.to_str().unwrap()), "{}", ended.err);
    }
    assert_eq!(run(&["simulate", "--until", "3"]).status, 2);
    // Both journals in one directory.
    let both = directory("simulate-both");
    for base in [&initiator, &acceptor] {
        for entry in std::fs::read_dir(base).unwrap().map(Result::unwrap) {
            std::fs::rename(entry.path(), both.join(entry.file_name())).unwrap();
        }
    }
    let ended = replay(&both, &["-o", "json"]);
    assert_eq!((ended.status, ended.out.matches("\"kind\":\"summary\"").count()), (0, 2), "{}", ended.out);
    let ended = replay(&both, &["--until", "3"]);
    assert!(ended.status == 2 && ended.err.contains("it has 2 sessions"), "{}", ended.err);
    // A damaged one is refused.
    let damaged = both.join("FIX.4.4-V-T/segment-000001");
    let mut bytes = std::fs::read(&damaged).unwrap();
    let at = bytes.windows(6).position(|window| window == b"\x0111=a2").unwrap();
    bytes[at + 1] ^= 0xff;
    std::fs::write(&damaged, bytes).unwrap();
    let ended = replay(&both, &[]);
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    assert!(ended.err.contains("damaged, so that not all of it can be replayed"), "{}", ended.err);
}

#[test]
fn the_journals_of_processes_are_replayed_also_while_they_run() {
    let folder = directory("simulate-processes");
    let configuration = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let base = |name: &str| folder.join(name);
    for (n, (version, more)) in
        [("FIX.4.2", ""), ("FIX.4.4", ""), ("FIXT.1.1", "DefaultApplVerID=FIX.5.0SP2\n")]
            .into_iter()
            .enumerate()
    {
        let venue = configuration(
            "venue.cfg",
            format!(
                "[DEFAULT]\nConnectionType=acceptor\nBeginString={version}\n{more}SocketAcceptPort=0\n\
                 FileStorePath={}\n[SESSION]\nSenderCompID=VENUE{n}\nTargetCompID=TRADER\n",
                base("venue").display()
            ),
        );
        let password = if version == "FIX.4.2" { "" } else { "Password=open sesame\n" };
        let server = Server::start(&["--config", &venue]);
        let (_, port) = server.address.rsplit_once(':').unwrap();
        let trader = configuration(
            "trader.cfg",
            format!(
                "[DEFAULT]\nConnectionType=initiator\nBeginString={version}\n{more}HeartBtInt=30\n\
                 SocketConnectHost=127.0.0.1\nSocketConnectPort={port}\n{password}\
                 FileStorePath={}\n[SESSION]\nSenderCompID=TRADER\nTargetCompID=VENUE{n}\n",
                base("trader").display()
            ),
        );
        for (order_type, status) in [("MARKET", 0), ("LIMIT", 1), ("3", 1)] {
            let order = ["send", "D", "Symbol=IBM", "Side=BUY", "OrderQty=100", "--config", &trader];
            let ended = run(&[&order[..], &[&format!("OrdType={order_type}")]].concat());
            assert_eq!(ended.status, status, "{}{}", ended.out, ended.err);
        }
        for (journal, config) in [("venue", &venue), ("trader", &trader)] {
            let directory = if journal == "venue" {
                base(journal).join(format!("{version}-VENUE{n}-TRADER"))
            } else {
                base(journal).join(format!("{version}-TRADER-VENUE{n}"))
            };
            for options in [&[][..], &["--config", config]] {
                let ended = replay(&directory, options);
                assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
                assert!(
                    ended.out.contains(" 3 connections")
                        || ended.out.contains(" 0 different, 0 missing, 0 extra")
                );
                assert!(!ended.out.contains("sesame"));
            }
        }
        drop(server);
    }
}

/// Returns what a replay counts of things that it does not replay as they were.
fn limits(ended: &Ended) -> Vec<(u64, String)> {
    let line = ended.out.lines().find(|line| line.contains("\"kind\":\"summary\"")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let limits = line["limits"].as_array().unwrap().iter();
    limits
        .map(|limit| (limit["times"].as_u64().unwrap(), limit["what"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn what_the_journal_does_not_have_is_counted_and_no_difference() {
    let mut market = Market::new("not-there", Version::Fix44, |s| s.validation.reject_garbled_message = true);
    market.connect();
    market.order("a1", "");
    // It is garbled, and rejected.
    market.ends[INITIATOR].damages = 1;
    market.order("a2", "");
    market.order("a3", "");
    // The application fails once, and the order is sent again after the next logon.
    market.ends[ACCEPTOR].side.app.failures = 1;
    market.order("a4", "");
    market.disconnect();
    market.pass(Duration::from_secs(60));
    market.connect();
    market.order("a5", "");
    market.pass(Duration::from_secs(70));
    market.log_out(INITIATOR);
    let [_, acceptor] = market.close();
    let ended = replay(&acceptor, &["-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", replay(&acceptor, &[]).out);
    let limits = limits(&ended);
    for (times, what) in [
        (1, "failed attempts of the application, not replayed"),
        (1, "messages that answer one that is not recorded (garbled or too large), not replayed"),
    ] {
        let found = limits.iter().find(|(_, limit)| limit.starts_with(what));
        assert_eq!(found.map(|(times, _)| *times), Some(times), "{what}: {limits:?}");
    }
    let [_, outbound] = messages(&acceptor);
    assert_eq!(summary(&ended)[1..], [outbound - 1, outbound - 1, 0, 0, 0]);
}

#[test]
fn numbers_that_were_given_up_after_an_unclean_stop_are_skipped() {
    let mut market = Market::new("given-up", Version::Fix42, |_| {});
    for _ in 0..2 {
        market.connect();
        market.order("a1", "");
        market.pass(Duration::from_secs(31));
        market.disconnect();
    }
    let [initiator, _] = market.close();
    let given_up = copy(&initiator, "given-up", |_, record| {
        let seq = format!("|34={}|", record.seq);
        vec![match record.connection.0 {
            2 => replaced(record.body, &seq, &format!("|34={}|", record.seq.0 + 1000)),
            _ => record.body.to_vec(),
        }]
    });
    let ended = replay(&given_up, &["-o", "json"]);
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
    assert!(
        limits(&ended).contains(&(1000, "MsgSeqNums given up after an unclean stop, skipped".to_owned())),
        "{}",
        ended.out
    );
}
