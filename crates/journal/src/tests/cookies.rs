//! File systems that are lost, or put back to an earlier state, while the machine runs.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{OpensLater, RecordKind, Recovered, Reports, Store, StoreError};

use super::*;
use crate::files::cookies::{self, Cookies};
use crate::layout::cookie::Entry;
use crate::layout::floor::Floor;
use crate::testing::{TempDir, forget, key, opened, outbound, reset, session, wait_for_creation};
use crate::tools::inspect::{self, adopt, repair, verify};
use crate::values::identity::JournalId;
use crate::values::reserve::RESERVE;

type Contents = BTreeMap<std::ffi::OsString, Vec<u8>>;

fn contents(directory: &Path) -> Contents {
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    files
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()))
        .collect()
}

/// Puts a directory back to what it was, in the same files.
fn put_back(directory: &Path, before: &Contents) {
    for name in contents(directory).keys().filter(|name| !before.contains_key(*name)) {
        std::fs::remove_file(directory.join(name)).unwrap();
    }
    for (name, bytes) in before {
        std::fs::write(directory.join(name), bytes).unwrap();
    }
}

fn opened_small(base: &Path) -> DirectoryStore {
    let mut store = small(base);
    open(&mut store);
    store
}

fn send(store: &mut DirectoryStore, numbers: std::ops::RangeInclusive<u64>) {
    for n in numbers {
        turn(store, key(0), &[outbound(n, &body(n))]);
    }
}

/// Returns what a start says, which is then killed.
fn start(base: &Path) -> (Recovered, Vec<String>) {
    let mut store = small(base);
    let (_, recovered) = open(&mut store);
    let said = std::iter::from_fn(|| store.take_warning()).map(|(_, said)| said).collect();
    store.crash();
    (recovered, said)
}

#[test]
fn files_that_are_older_than_the_cookie_use_no_number_again() {
    for (was_closed, is_closed, resets) in [
        (false, false, false),
        (false, true, false),
        (true, false, false),
        (true, true, false),
        (false, false, true),
        (true, true, true),
    ] {
        let dir = TempDir::new("cookies-older");
        let case = format!("closed: {was_closed}, {is_closed}; reset: {resets}");
        let mut store = small(dir.path());
        let (key, _) = open(&mut store);
        send(&mut store, 1..=14);
        if was_closed {
            store.close(key).unwrap();
        }
        let before = contents(&directory(dir.path()));
        if was_closed {
            open(&mut store);
        }
        send(&mut store, 15..=33);
        let (first_lost, next_out) = if resets {
            turn(&mut store, key, &[reset(1, 1)]);
            send(&mut store, 1..=3);
            (1, 4)
        } else {
            (15, 34)
        };
        if is_closed {
            store.close(key).unwrap();
        } else {
            store.crash();
        }
        put_back(&directory(dir.path()), &before);
        let report = &verify(dir.path()).unwrap()[0];
        assert!(!report.is_whole() && report.damage.is_empty(), "{case}");
        let older = report.older.as_deref().unwrap();
        let range = format!("{first_lost} to {}", next_out - 1);
        assert!(
            older.contains(&range) && older.contains(&format!("NextNumOut {next_out}")),
            "{case}: {older}"
        );
        let (recovered, said) = start(dir.path());
        assert_eq!(recovered.damage, None, "{case}");
        assert_eq!(recovered.next_out, SeqNum(next_out), "{case}");
        assert_eq!(recovered.given_up, Some(SeqNum(first_lost)..=SeqNum(next_out - 1)), "{case}");
        assert_eq!(recovered.generation.0, u32::from(resets), "{case}");
        assert!(
            said.iter().any(|line| line.contains("put back") && line.contains(&range)),
            "{case}: {said:?}"
        );
        // From here on the journal is as any other.
        let (again, said) = start(dir.path());
        assert_eq!((again.next_out, again.given_up), (SeqNum(next_out), None), "{case}");
        assert!(said.is_empty(), "{case}: {said:?}");
        assert!(verify(dir.path()).unwrap()[0].is_whole(), "{case}");
    }
}

#[test]
fn a_restored_copy_in_the_place_of_the_journal_continues_above_what_the_cookie_knows() {
    let (dir, aside) = (TempDir::new("cookies-restored"), TempDir::new("cookies-restored"));
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    send(&mut store, 1..=6);
    store.close(key).unwrap();
    let backup = inspect::backup(&directory(dir.path()), aside.path()).unwrap();
    open(&mut store);
    send(&mut store, 7..=12);
    store.close(key).unwrap();
    let place = directory(dir.path());
    std::fs::remove_dir_all(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    put_back(&place, &contents(&backup[0]));
    assert!(start(dir.path()).0.damage.unwrap().contains("this is a copy"));
    assert_eq!(adopt(&place, false).unwrap()[0].next_out, SeqNum(13));
    adopt(&place, true).unwrap();
    let (recovered, _) = start(dir.path());
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(13)));
}

#[test]
fn a_session_whose_directory_is_gone_halts_until_it_is_repaired_or_forgotten() {
    for is_closed in [false, true] {
        let dir = TempDir::new("cookies-gone");
        let place = directory(dir.path());
        for way_out in ["repair", "forget"] {
            let mut store = small(dir.path());
            let (key, recovered) = open(&mut store);
            let first = recovered.next_out.0;
            assert_eq!(recovered.damage, None, "{way_out}");
            send(&mut store, first..=first + 32);
            turn(&mut store, key, &[crate::testing::inbound(11, b"in")]);
            if is_closed {
                store.close(key).unwrap();
            } else {
                store.crash();
            }
            std::fs::remove_dir_all(&place).unwrap();
            let Err(StoreError::Damaged { reason, .. }) = small(dir.path()).look(&session("A")) else {
                panic!("check-config does not miss it")
            };
            assert!(reason.contains("is gone"), "{reason}");
            let mut store = small(dir.path());
            let halted = store.open_lazily(key, &session("A")).unwrap().damage.unwrap();
            store.close(key).unwrap();
            let halted_again = start(dir.path()).0.damage.unwrap();
            assert_eq!(halted, halted_again);
            for part in [
                &format!("NextNumOut {} and NextNumIn 12", first + 33),
                "`fixbolt journal forget ",
                "`fixbolt journal repair ",
            ] {
                assert!(halted.contains(part), "{halted}");
            }
            if way_out == "repair" {
                repair(&place, None).unwrap();
                let (recovered, _) = start(dir.path());
                assert_eq!((recovered.next_out, recovered.next_in), (SeqNum(34), SeqNum(12)));
            } else {
                for act in [false, true] {
                    let forgotten = inspect::forget(&place, act).unwrap();
                    assert_eq!((forgotten.next_in, forgotten.next_out), (SeqNum(12), SeqNum(first + 33)));
                }
                assert!(inspect::forget(&place, true).unwrap_err().to_string().contains("there was none"));
                let (recovered, said) = start(dir.path());
                assert_eq!((recovered, said), (Recovered::default(), vec![]));
                send(&mut opened_small(dir.path()), 1..=1);
                let refused = inspect::forget(&place, true).unwrap_err().to_string();
                assert!(refused.contains("it is there, and not gone"), "{refused}");
            }
        }
    }
}

#[test]
fn a_journal_that_has_used_no_number_is_not_missed() {
    let dir = TempDir::new("cookies-unused");
    let mut store = small(dir.path());
    open(&mut store);
    store.crash();
    std::fs::remove_dir_all(directory(dir.path())).unwrap();
    assert_eq!(start(dir.path()), (Recovered::default(), vec![]));
}

#[test]
fn without_a_cookie_the_mark_decides_after_an_unclean_stop_only() {
    let dir = TempDir::new("cookies-none");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    send(&mut store, 1..=14);
    store.close(key).unwrap();
    forget(&directory(dir.path()));
    let (_, recovered) = open(&mut store);
    assert_eq!((recovered.next_out, recovered.given_up), (SeqNum(15), None));
    assert_eq!(store.take_warning(), None);
    send(&mut store, 15..=15);
    store.crash();
    forget(&directory(dir.path()));
    let (recovered, said) = start(dir.path());
    assert!(recovered.next_out > SeqNum(RESERVE), "{recovered:?}");
    assert_eq!(recovered.given_up, Some(SeqNum(16)..=recovered.next_out.previous()));
    assert!(said[0].contains("no cookie says whether the disk has kept everything"), "{said:?}");
    let (again, said) = start(dir.path());
    assert_eq!((again.next_out, said), (recovered.next_out, vec![]));
}

#[test]
fn a_cookie_that_is_older_than_the_head_does_not_count() {
    let (dir, other) = (TempDir::new("cookies-outdated"), TempDir::new("cookies-outdated-in"));
    let elsewhere = || small(dir.path()).with_cookies(other.path().join("cookies"));
    let mut store = small(dir.path());
    open(&mut store);
    send(&mut store, 1..=5);
    store.crash();
    // A container, which does not see the cookie.
    let mut store = elsewhere();
    let (_, recovered) = open(&mut store);
    let first = recovered.next_out.0;
    assert!(first > RESERVE);
    send(&mut store, first..=first + 3);
    store.crash();
    // What is noted in the directory is found without being told.
    let mut store = small(dir.path());
    let (_, recovered) = open(&mut store);
    assert_eq!(recovered.next_out, SeqNum(first + 4));
    store.crash();
    let mut store = elsewhere();
    let (_, recovered) = open(&mut store);
    assert!(recovered.next_out >= SeqNum(first + 4), "{recovered:?}");
}

#[test]
fn tools_find_the_cookies_where_the_store_was_told_to_keep_them() {
    let (dir, other) = (TempDir::new("cookies-told"), TempDir::new("cookies-told-in"));
    let mut store = small(dir.path()).with_cookies(other.path().join("cookies"));
    open(&mut store);
    wait_for_creation(&directory(dir.path()));
    let before = contents(&directory(dir.path()));
    send(&mut store, 1..=5);
    let lock = std::fs::read(directory(dir.path()).join("lock")).unwrap();
    store.crash();
    put_back(&directory(dir.path()), &before);
    std::fs::write(directory(dir.path()).join("lock"), lock).unwrap();
    assert!(verify(dir.path()).unwrap()[0].older.as_deref().unwrap().contains("NextNumOut 6"));
    let mut store = small(dir.path()).with_cookies(other.path().join("cookies"));
    assert_eq!(open(&mut store).1.next_out, SeqNum(6));
}

#[test]
fn why_there_can_be_no_cookie_is_told_and_the_session_starts() {
    let (dir, other) = (TempDir::new("cookies-refused"), TempDir::new("cookies-refused-in"));
    let disk = TempDir::on_disk("cookies-refused");
    let [open_to_all, file] = ["open", "file"].map(|name| other.path().join(name));
    DirBuilder::new().mode(0o700).create(&open_to_all).unwrap();
    std::fs::set_permissions(&open_to_all, std::fs::Permissions::from_mode(0o722)).unwrap();
    std::fs::write(&file, b"").unwrap();
    let missing = other.path().join("no/such");
    let places = [
        (disk.path().join("cookies"), "is not in memory"),
        (open_to_all, "others may write there"),
        (file, "it is not a directory"),
        (missing, "No such file or directory"),
    ];
    for (place, why) in places {
        let mut store = small(dir.path()).with_cookies(&place);
        let (_, recovered) = open(&mut store);
        assert_eq!(recovered.damage, None);
        let said: Vec<_> = std::iter::from_fn(|| store.take_warning()).map(|(_, said)| said).collect();
        let last = said.last().unwrap();
        assert!(last.starts_with("there can be no cookie") && last.contains(why), "{said:?}");
        assert!(last.contains(&place.display().to_string()), "{last}");
        store.crash();
        forget(&directory(dir.path()));
    }
}

#[test]
fn sessions_of_several_processes_have_entries_of_their_own() {
    let (dir, other) = (TempDir::new("cookies-many"), TempDir::new("cookies-many-in"));
    let place = other.path().join("cookies");
    let name = |thread: u64, n: u64| format!("session-{thread}-{n}");
    let floor = |thread, n| Floor { turn: 1, next_out: SeqNum(1000 * thread + n + 1), ..Floor::EMPTY };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (dir, place) = (&dir, &place);
            scope.spawn(move || {
                let cookies = Cookies::open(place, dir.path()).unwrap();
                for n in 0..100 {
                    let (name, id) = (name(thread, n), JournalId([thread as u8; 16]));
                    let entry =
                        Entry { name: name.as_bytes(), id, salt: 7, serial: n, floor: floor(thread, n) };
                    cookies.write(&entry).unwrap();
                }
            });
        }
    });
    let cookies = Cookies::open(&place, dir.path()).unwrap();
    for (thread, n) in (0..4).flat_map(|thread| (0..100).map(move |n| (thread, n))) {
        let name = name(thread, n);
        let found = cookies.find(name.as_ref()).unwrap();
        assert_eq!((found.serial, found.floor), (n, floor(thread, n)), "{name}");
        assert_eq!(cookies::find(Some(&place), &dir.path().join(name)), Some(found));
    }
    assert_eq!(cookies.find("session-4-1".as_ref()), None);
}

#[test]
fn cookies_of_base_directories_that_are_gone_do_not_pile_up() {
    let other = TempDir::new("cookies-old-in");
    let place = other.path().join("cookies");
    let stays = TempDir::new("cookies-old");
    let entry = Entry { name: b"a", id: JournalId([1; 16]), salt: 7, serial: 2, floor: Floor::EMPTY };
    Cookies::open(&place, stays.path()).unwrap().write(&entry).unwrap();
    for _ in 0..1100 {
        Cookies::open(&place, TempDir::new("cookies-old").path()).unwrap();
    }
    assert!(std::fs::read_dir(&place).unwrap().count() <= 1024);
    assert!(Cookies::open(&place, stays.path()).unwrap().find("a".as_ref()).is_some());
}

#[test]
fn the_record_of_a_loss_says_why() {
    let dir = TempDir::new("cookies-record");
    let mut store = small(dir.path());
    open(&mut store);
    wait_for_creation(&directory(dir.path()));
    let before = contents(&directory(dir.path()));
    send(&mut store, 1..=2);
    store.crash();
    put_back(&directory(dir.path()), &before);
    let mut store = small(dir.path());
    let (key, _) = opened(&mut store, "A").unwrap();
    store.close(key).unwrap();
    let reader = crate::JournalReader::open(dir.path()).unwrap();
    let last = reader.sessions()[0].records().next_back().unwrap();
    assert_eq!(last.record.kind, RecordKind::Adjust);
    let said = String::from_utf8_lossy(last.record.body);
    assert!(said.contains("put back to an earlier state; outbound sequence numbers 1 to 2"), "{said}");
}
