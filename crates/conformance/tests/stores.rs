//! The stores that tests share do what they say.

use fixbolt_codec::{SeqNum, Version};
use fixbolt_conformance::store::Late;
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{
    Acknowledges, ConnectionNumber, Position, Record, RecordFlags, RecordKind, Store,
};
use fixbolt_session::{SessionId, Utc};

#[test]
fn a_late_store_acknowledges_a_commit_three_turns_later() {
    let mut store = Late::around(MemoryStore::new());
    let key = session_key(0, 0, 0);
    store.open(key, &SessionId::new(Version::Fix44, "VENUE", "TRADER").unwrap()).unwrap();
    let mut committed = Vec::new();
    for n in 1..=10 {
        let record = Record {
            kind: RecordKind::Outbound,
            flags: RecordFlags::default(),
            seq: SeqNum(n),
            next_in: SeqNum::ONE,
            connection: ConnectionNumber(1),
            cause: None,
            utc: Utc(n),
            mono: mono(n),
            body: b"x",
        };
        store.begin();
        store.append(key, &record).unwrap();
        committed.push(store.commit().unwrap().position);
        let expected = if n > 3 { committed[n as usize - 4] } else { Position(0) };
        assert_eq!(store.durable(key), expected, "after turn {n}");
    }
    for position in &committed[7..] {
        assert_eq!(store.durable(key), *position, "an idle driver that asks gets the rest");
    }
}
