//! Whatever is done to the bytes of a closed journal: opening and repairing it never panics, and no
//! sequence number is lowered.

use std::path::PathBuf;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Record, Store};
use proptest::prelude::*;

use super::*;
use crate::testing::{TempDir, inbound, outbound, reset};
use crate::tools::inspect::{repair, verify};

#[derive(Clone, Debug)]
enum Harm {
    Flip {
        at: usize,
        mask: u8,
    },
    Zero {
        at: usize,
        length: usize,
    },
    Fill {
        at: usize,
        length: usize,
        byte: u8,
    },
    /// Part of the file written over another part, as by a disk that confuses its sectors.
    Copy {
        from: usize,
        to: usize,
        length: usize,
    },
    Truncate {
        at: usize,
    },
    Remove,
}

fn harms() -> impl Strategy<Value = Vec<(usize, Harm)>> {
    let at = || prop_oneof![0usize..2048, 0usize..16384];
    let length = || prop_oneof![1usize..200, Just(512), Just(4096)];
    let harm = prop_oneof![
        4 => (at(), 1u8..).prop_map(|(at, mask)| Harm::Flip { at, mask }),
        2 => (at(), length()).prop_map(|(at, length)| Harm::Zero { at, length }),
        1 => (at(), length(), any::<u8>()).prop_map(|(at, length, byte)| Harm::Fill { at, length, byte }),
        2 => (at(), at(), length()).prop_map(|(from, to, length)| Harm::Copy {
            from: from & !7,
            to: to & !7,
            length
        }),
        1 => at().prop_map(|at| Harm::Truncate { at }),
        1 => Just(Harm::Remove),
    ];
    prop::collection::vec((0usize..5, harm), 1..5)
}

fn harm(path: &PathBuf, harm: &Harm) {
    let Ok(mut bytes) = std::fs::read(path) else { return };
    let length = bytes.len();
    let range = |at: usize, n: usize| at.min(length)..(at + n).min(length);
    match *harm {
        Harm::Flip { at, mask } => bytes[range(at, 1)].iter_mut().for_each(|b| *b ^= mask),
        Harm::Zero { at, length } => bytes[range(at, length)].fill(0),
        Harm::Fill { at, length, byte } => bytes[range(at, length)].fill(byte),
        Harm::Copy { from, to, length } => {
            let part = bytes[range(from, length)].to_vec();
            let to = range(to, part.len());
            let n = to.len();
            bytes[to].copy_from_slice(&part[..n]);
        }
        Harm::Truncate { at } => bytes.truncate(at),
        Harm::Remove => {
            std::fs::remove_file(path).unwrap();
            return;
        }
    }
    std::fs::write(path, bytes).unwrap();
}

/// Truncates a file in or directly after its header, with a log that ends anywhere in the file
/// after it.
#[test]
fn a_file_cut_off_near_its_beginning_is_reported() {
    for turns in 1..=60 {
        let dir = TempDir::new("cut");
        let mut store = small(dir.path());
        let (key, _) = open(&mut store);
        for n in 1..=turns {
            let bytes = body(n);
            let outbound = Record { next_in: SeqNum(n + 1), ..outbound(n, &bytes) };
            turn(&mut store, key, &[inbound(n, b"in"), outbound]);
        }
        store.close(key).unwrap();
        let directory = directory(dir.path());
        for name in ["head", "segment-000001", "segment-000002", "segment-000003"] {
            let Ok(whole) = std::fs::read(directory.join(name)) else { continue };
            for length in [0, 1, 511, 512, 513, 600, 672] {
                std::fs::write(directory.join(name), &whole[..length.min(whole.len())]).unwrap();
                let report = verify(dir.path()).unwrap().remove(0);
                assert!(
                    report.bytes_used <= report.bytes_allocated,
                    "{name} of {turns} turns cut off at {length}: {report:?}"
                );
            }
            std::fs::write(directory.join(name), &whole).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_corruption_lowers_a_sequence_number(harms in harms(), resets in 0u64..3) {
        let dir = TempDir::new("corruption");
        let mut store = small(dir.path());
        let (key, _) = open(&mut store);
        for generation in 0..=resets {
            if generation > 0 {
                turn(&mut store, key, &[reset(1, 1)]);
            }
            for n in 1..=40 {
                let bytes = body(n);
                turn(&mut store, key, &[inbound(n, b"in"), Record { next_in: SeqNum(n + 1), ..outbound(n, &bytes) }]);
            }
        }
        store.close(key).unwrap();
        let directory = directory(dir.path());
        let mut removed_all = true;
        for (file, what) in &harms {
            let name = ["head", "segment-000001", "segment-000002", "segment-000003", "head"][*file];
            harm(&directory.join(name), what);
        }
        for name in ["head", "segment-000001", "segment-000002", "segment-000003"] {
            removed_all &= !directory.join(name).exists();
        }
        prop_assume!(!removed_all);
        // Opening makes a new one.
        let head_is_lost = !directory.join("head").exists();
        verify(dir.path()).unwrap();
        let (key, recovered) = open(&mut store);
        let place = format!("{recovered:?}");
        // A journal without its head and all of its records is a new one: only then do sequence
        // numbers begin at 1 again.
        let nothing_left = head_is_lost && recovered == Recovered::default();
        if recovered.damage.is_none() && !nothing_left {
            prop_assert!(recovered.next_out >= SeqNum(41), "{}", place);
        }
        for n in 1..=40 {
            let _ = store.read(key, Generation(resets as u32), SeqNum(n)..=SeqNum(n));
        }
        let _ = store.replay(key, &mut |_| ControlFlow::Continue(()));
        store.close(key).unwrap();
        if recovered.damage.is_some() && repair(dir.path(), None).is_ok() {
            prop_assert!(verify(dir.path()).unwrap()[0].damage.is_empty(), "{}", place);
            let (key, repaired) = open(&mut store);
            prop_assert_eq!(&repaired.damage, &None, "{}", place);
            prop_assert!(repaired.next_out >= SeqNum(41), "{:?} after {}", repaired, place);
            let next = repaired.next_out;
            turn(&mut store, key, &[Record { next_in: repaired.next_in, ..outbound(next.0, b"on") }]);
            store.crash();
            prop_assert_eq!(open(&mut store).1.next_out, next.next());
        }
    }
}
