//! `fixbolt journal` with journals that are whole, torn, damaged, repaired or missing.

mod command;

use std::path::{Path, PathBuf};

use command::{directory, message, run};
use fixbolt_codec::{SeqNum, Version};
use fixbolt_journal::DirectoryStore;
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{ConnectionNumber, Record, RecordFlags, RecordKind, Store};
use fixbolt_session::{SessionId, Utc};

/// Creates a journal of `count` outbound orders.
fn journal(name: &str, count: u64) -> PathBuf {
    let base = directory(name);
    let mut store = DirectoryStore::new(&base);
    let key = session_key(0, 0, 0);
    store.open(key, &SessionId::new(Version::Fix42, "VENUE", "TRADER").unwrap()).unwrap();
    for seq in 1..=count {
        let body = message(
            "FIX.4.2",
            &format!(
                "35=D|49=VENUE|56=TRADER|34={seq}|52=20261121-09:00:00|11=o{seq}|21=1|55=IBM|54=1|60=20261121-09:00:00|40=1|"
            ),
        );
        store.begin();
        let record = Record {
            kind: RecordKind::Outbound,
            flags: RecordFlags::default(),
            seq: SeqNum(seq),
            next_in: SeqNum::ONE,
            connection: ConnectionNumber(1),
            cause: None,
            utc: Utc(1_795_251_600_000_000_000 + seq),
            mono: mono(seq),
            body: body.as_bytes(),
        };
        store.append(key, &record).unwrap();
        store.commit().unwrap();
    }
    store.close(key).unwrap();
    base
}

/// Flips a byte of the message with this ClOrdID.
fn damage(base: &Path, cl_ord_id: &str) {
    let needle = format!("\u{1}11={cl_ord_id}\u{1}").into_bytes();
    for entry in std::fs::read_dir(base.join("FIX.4.2-VENUE-TRADER")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        if let Some(at) = bytes.windows(needle.len()).position(|window| window == needle) {
            bytes[at + 1] ^= 0xff;
            std::fs::write(&path, bytes).unwrap();
            return;
        }
    }
    panic!("no message {cl_ord_id}");
}

#[test]
fn a_whole_journal_is_status_0_and_its_sequence_numbers_are_shown() {
    let base = journal("journal-whole", 20);
    let dir = base.to_str().unwrap();
    let verified = run(&["journal", "verify", dir]);
    assert_eq!((verified.status, verified.err.as_str()), (0, ""));
    assert!(
        verified.out.starts_with("FIX.4.2:VENUE->TRADER: whole, 20 records, next in 1, next out 21 ("),
        "{}",
        verified.out
    );
    let stat = run(&["journal", "stat", dir]);
    assert_eq!(stat.status, 0);
    for line in ["records      0 in, 20 out, 0 resets", "2026", "bytes ", "closed cleanly"] {
        assert!(stat.out.contains(line), "{line}: {}", stat.out);
    }
    let json = run(&["journal", "stat", "-o", "json", dir]);
    assert_eq!(json.out.lines().count(), 1);
    assert!(json.out.contains(r#""whole":true,"records":20,"next_in":1,"next_out":21"#), "{}", json.out);
    let repair = run(&["journal", "repair", dir]);
    assert!(repair.status == 0 && repair.out.contains("nothing to do"), "{}{}", repair.out, repair.err);
}

#[test]
fn damage_is_status_1_and_a_repair_makes_the_journal_usable() {
    let base = journal("journal-damaged", 20);
    damage(&base, "o7");
    let dir = base.to_str().unwrap();
    let verified = run(&["journal", "verify", dir]);
    assert_eq!(verified.status, 1);
    assert!(verified.out.contains("NOT WHOLE") && verified.out.contains("damaged: "), "{}", verified.out);
    let printed = run(&["print", "--oneline", dir]);
    assert_eq!(printed.status, 1);
    assert_eq!(printed.out.lines().count(), 19, "what is whole is shown: {}", printed.out);
    let repair = run(&["journal", "repair", dir]);
    assert_eq!(repair.status, 0, "{}", repair.err);
    assert!(
        repair.out.contains("usable, next in 1, next out ") && !repair.out.contains("nothing to do"),
        "{}",
        repair.out
    );
    let verified = run(&["journal", "verify", dir]);
    assert_eq!(verified.status, 0, "{}", verified.out);
}

#[test]
fn a_repair_says_first_what_it_would_do() {
    let base = journal("journal-dry-run", 20);
    damage(&base, "o7");
    let dir = base.to_str().unwrap();
    let planned = run(&["journal", "repair", "--dry-run", dir]);
    assert_eq!((planned.status, planned.err.as_str()), (0, ""));
    assert!(planned.out.contains("a repair would make it usable, next in 1, next out 21"), "{}", planned.out);
    assert_eq!(run(&["journal", "verify", dir]).status, 1, "nothing was changed");
    let done = run(&["journal", "repair", dir]);
    let lines =
        |text: &str| text.lines().skip(1).filter(|l| !l.contains("kept")).map(str::to_owned).collect();
    let [planned, done]: [Vec<String>; 2] = [lines(&planned.out), lines(&done.out)];
    assert_eq!(planned, done);
}

#[test]
fn a_copy_is_made_while_the_session_runs_and_used_only_after_it_was_adopted() {
    let base = journal("journal-backup", 20);
    let to = directory("journal-backup-copy");
    let [dir, copy] = [base.to_str().unwrap(), to.to_str().unwrap()];
    let made = run(&["journal", "backup", dir, copy]);
    assert_eq!((made.status, made.out.lines().count()), (0, 1), "{}", made.err);
    assert_eq!(run(&["journal", "backup", dir, copy]).status, 2, "nothing is overwritten");
    let verified = run(&["journal", "verify", copy]);
    assert_eq!(verified.status, 1);
    assert!(verified.out.contains("copy: this is a copy of journal "), "{}", verified.out);
    let asked = run(&["journal", "adopt", copy]);
    assert_eq!(asked.status, 1);
    assert!(
        asked.out.contains("a copy, next in 1, next out 21") && asked.out.contains("--yes"),
        "{}",
        asked.out
    );
    let adopted = run(&["journal", "adopt", "--yes", copy]);
    assert_eq!(adopted.status, 0, "{}", adopted.err);
    assert!(adopted.out.contains("adopted, next in 1, next out 21"), "{}", adopted.out);
    assert_eq!(run(&["journal", "verify", copy]).status, 0);
    assert!(run(&["journal", "adopt", "--yes", dir]).out.contains("not a copy"));
}

#[test]
fn a_missing_journal_is_one_line_and_status_2() {
    let empty = directory("journal-none");
    for command in ["verify", "stat", "repair"] {
        for dir in [empty.to_str().unwrap(), "nowhere"] {
            let ended = run(&["journal", command, dir]);
            assert_eq!(ended.status, 2, "{command} {dir}: {}", ended.out);
            assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
            assert!(ended.err.contains(dir), "{}", ended.err);
        }
    }
    let base = journal("journal-skip", 3);
    let skip = run(&["journal", "repair", "--skip", "9", base.to_str().unwrap()]);
    assert!(skip.status == 2 && skip.err.contains('9'), "{}{}", skip.out, skip.err);
}

#[test]
fn the_numbers_of_a_stopped_session_are_set_and_the_journal_says_who_and_why() {
    let base = journal("journal-set-numbers", 20);
    let dir = base.to_str().unwrap();
    let reason = ["--by", "jane", "--why", "agreed on the telephone", dir];
    let set = |options: &[&str]| run(&[&["journal", "set-numbers"], options, &reason].concat());
    let planned = set(&["--in", "7", "--out", "30", "--dry-run"]);
    assert_eq!((planned.status, planned.err.as_str()), (0, ""));
    assert!(
        planned
            .out
            .starts_with("FIX.4.2:VENUE->TRADER: would be set, next in 7 (was 1), next out 30 (was 21) ("),
        "{}",
        planned.out
    );
    assert!(run(&["journal", "verify", dir]).out.contains("next in 1, next out 21"));
    let done = set(&["--in", "7", "--out", "30"]);
    assert!(done.status == 0 && done.out.contains(": set, next in 7 (was 1)"), "{}{}", done.out, done.err);
    let json = set(&["--in", "3", "-o", "json"]);
    assert!(
        json.out.contains(
            r#""changed":true,"was_next_in":7,"was_next_out":30,"next_in":3,"next_out":30,"generation":0,"given_up":[],"not_sent":0}"#
        ),
        "{}{}",
        json.out,
        json.err
    );
    let verified = run(&["journal", "verify", dir]);
    assert!(verified.status == 0 && verified.out.contains("next in 3, next out 30"), "{}", verified.out);
    let shown = run(&["print", dir]);
    assert!(shown.out.contains("jane: agreed on the telephone"), "{}", shown.out);
}

#[test]
fn next_num_out_goes_down_only_with_a_reset() {
    let base = journal("journal-reset", 20);
    let dir = base.to_str().unwrap();
    let reason = ["--by", "jane", "--why", "new day", dir];
    let lower = run(&[&["journal", "set-numbers", "--out", "20"][..], &reason].concat());
    assert_eq!((lower.status, lower.out.as_str()), (2, ""));
    for part in ["NextNumOut is 21", "down to 20", "`fixbolt journal reset`"] {
        assert!(lower.err.contains(part), "{part}: {}", lower.err);
    }
    let planned = run(&[&["journal", "reset", "--dry-run"][..], &reason].concat());
    assert!(
        planned.out.contains("would be reset, next in 1 (was 1), next out 1 (was 21)"),
        "{}",
        planned.out
    );
    assert!(run(&["journal", "stat", dir]).out.contains(" 0 resets"), "nothing was changed");
    let done = run(&[&["journal", "reset"][..], &reason].concat());
    assert!(done.status == 0 && done.out.contains(": reset, next in 1"), "{}{}", done.out, done.err);
    let stat = run(&["journal", "stat", dir]).out;
    assert!(stat.contains("whole") && stat.contains("20 out, 1 resets"), "{stat}");
    assert!(stat.contains("next out 1 ("), "{stat}");
}

#[test]
fn numbers_are_changed_in_no_journal_that_is_damaged_copied_in_use_or_one_of_several() {
    let reason = ["--by", "jane", "--why", "test"];
    let refused = |dir: &Path, parts: &[&str]| {
        for command in [&["set-numbers", "--in", "5"][..], &["reset"], &["reset", "--dry-run"]] {
            let ended = run(&[&["journal"], command, &reason, &[dir.to_str().unwrap()]].concat());
            assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{command:?}: {}", ended.err);
            assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
            for part in parts {
                assert!(ended.err.contains(part), "{part}: {}", ended.err);
            }
        }
    };
    let base = journal("journal-change-refused", 20);
    let copy = directory("journal-change-refused-copy");
    assert_eq!(run(&["journal", "backup", base.to_str().unwrap(), copy.to_str().unwrap()]).status, 0);
    refused(&copy, &["this is a copy of journal", "`fixbolt journal adopt "]);

    let mut store = DirectoryStore::new(&base);
    let id = |target| SessionId::new(Version::Fix42, "VENUE", target).unwrap();
    store.open(session_key(0, 0, 0), &id("TRADER")).unwrap();
    let holder = format!("in use by process {} on ", std::process::id());
    refused(&base, &[&holder]);
    drop(store);

    damage(&base, "o7");
    let before = run(&["journal", "stat", base.to_str().unwrap()]).out;
    refused(&base, &["`fixbolt journal repair "]);
    let state = |text: &str| text.split("last opened").next().unwrap().to_owned();
    assert_eq!(state(&run(&["journal", "stat", base.to_str().unwrap()]).out), state(&before));

    let mut store = DirectoryStore::new(&base);
    let other = session_key(0, 1, 1);
    store.open(other, &id("OTHER")).unwrap();
    store.close(other).unwrap();
    refused(&base, &["holds 2 sessions: name one"]);
    refused(&directory("journal-change-none"), &["neither a session's journal nor"]);
}

#[test]
fn a_journal_that_is_gone_is_forgotten_only_with_yes() {
    let base = journal("journal-forget", 7);
    let place = base.join("FIX.4.2-VENUE-TRADER");
    let dir = place.to_str().unwrap();
    let there = run(&["journal", "forget", "--yes", dir]);
    assert!(there.status == 2 && there.err.contains("it is there, and not gone"), "{}", there.err);
    std::fs::remove_dir_all(&place).unwrap();
    let shown = run(&["journal", "forget", dir]);
    assert_eq!(shown.status, 1, "{}", shown.err);
    assert!(
        shown.out.contains("next in 1 and next out 8") && shown.out.contains("add --yes"),
        "{}",
        shown.out
    );
    let shown = run(&["journal", "forget", "-o", "json", dir]);
    assert!(shown.out.contains(r#""forgotten":false,"next_in":1,"next_out":8}"#), "{}", shown.out);
    let done = run(&["journal", "forget", "--yes", dir]);
    assert!(done.status == 0 && done.out.contains("are forgotten"), "{}{}", done.out, done.err);
    let again = run(&["journal", "forget", "--yes", dir]);
    assert!(again.status == 2 && again.err.contains("there was none"), "{}", again.err);
}

#[test]
fn a_journal_that_was_put_back_is_not_whole() {
    let base = journal("journal-older", 3);
    let place = base.join("FIX.4.2-VENUE-TRADER");
    let files = || std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
    let before: Vec<_> = files().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    let planned =
        run(&["journal", "set-numbers", "--out", "9", "--by", "me", "--why", "w", base.to_str().unwrap()]);
    assert_eq!(planned.status, 0, "{}", planned.err);
    for (path, bytes) in before {
        std::fs::write(path, bytes).unwrap();
    }
    let verified = run(&["journal", "verify", base.to_str().unwrap()]);
    assert_eq!(verified.status, 1, "{}", verified.err);
    let says = "the next start gives up outbound sequence numbers 4 to 8 and continues with NextNumOut 9";
    assert!(verified.out.contains("  older: ") && verified.out.contains(says), "{}", verified.out);
    let verified = run(&["journal", "verify", "-o", "json", base.to_str().unwrap()]);
    assert!(verified.out.contains(r#""older":"the files are older"#), "{}", verified.out);
}

#[test]
fn a_change_needs_a_number_an_author_and_a_reason() {
    let base = journal("journal-change-usage", 1);
    let dir = base.to_str().unwrap();
    for (arguments, part) in [
        (&["set-numbers", "--by", "jane", "--why", "x", dir][..], "--in <N>"),
        (&["set-numbers", "--in", "5", "--why", "x", dir], "--by <WHO>"),
        (&["reset", "--by", "jane", dir], "--why <TEXT>"),
        (&["reset", "--by", "jane", "--why", " ", dir], "must not be empty"),
        (&["set-numbers", "--in", "0", "--by", "jane", "--why", "x", dir], "must be at least 1"),
        (
            &["set-numbers", "--out", "18446744073709551615", "--by", "j", "--why", "x", dir],
            "below the largest",
        ),
    ] {
        let ended = run(&[&["journal"], arguments].concat());
        assert!(ended.status == 2 && ended.err.contains(part), "{arguments:?}: {}{}", ended.out, ended.err);
    }
    assert!(run(&["journal", "verify", dir]).out.contains("1 records, next in 1, next out 2"));
}
