//! What sessions in memory cost that come and go. A process of its own: it measures itself.
#![cfg(target_os = "linux")]

use fixbolt_codec::{SeqNum, Version};
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{ConnectionNumber, Record, RecordFlags, RecordKind, Store};
use fixbolt_session::{SessionId, Utc};

/// Returns the bytes of memory that this process uses.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

/// A counterparty may take one name after another: each is a session of 16 MiB that holds little.
#[test]
fn sessions_that_come_and_go_use_no_more_memory_than_what_is_written_to_them() {
    let mut store = MemoryStore::new();
    let before = resident();
    for round in 0..4 {
        for n in 0..16 {
            let key = session_key(0, n, n);
            if round > 0 {
                store.close(key).unwrap();
            }
            let session = SessionId::new(Version::Fix44, "VENUE", &format!("N{round}-{n}")).unwrap();
            store.open(key, &session).unwrap();
            store.begin();
            let record = Record {
                kind: RecordKind::Outbound,
                flags: RecordFlags::default(),
                seq: SeqNum(1),
                next_in: SeqNum(1),
                connection: ConnectionNumber(1),
                cause: None,
                utc: Utc(1),
                mono: mono(1),
                body: b"a message",
            };
            store.append(key, &record).unwrap();
            store.commit().unwrap();
        }
    }
    let used = resident().saturating_sub(before);
    // The sessions together have 256 MiB.
    assert!(used < 64 << 20, "{} MiB", used >> 20);
}
