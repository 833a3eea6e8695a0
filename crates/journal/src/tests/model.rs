//! The directory store against the simplest possible model, over random turns, rollbacks, deaths
//! and resets, with pages made ready in between.

use std::collections::BTreeMap;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, Prepares, Record, RecordFlags, RecordKind, Store};
use proptest::prelude::*;

use super::*;
use crate::JournalReader;
use crate::testing::{TempDir, attempt, inbound, outbound, reset};

#[derive(Clone, Debug)]
enum Step {
    /// A turn: the lengths of its outbound bodies, whether an inbound message began it, and whether
    /// it is committed.
    Turn {
        outbound: Vec<usize>,
        inbound: bool,
        commit: bool,
    },
    Copy {
        back: u64,
    },
    Attempt,
    Reset {
        commit: bool,
    },
    Reopen,
    Die,
    DieInTurn {
        outbound: Vec<usize>,
    },
    Read {
        from: u64,
        to: u64,
    },
    Prepare {
        steps: usize,
    },
}

/// Returns steps with bodies of less than `most` bytes.
fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let length = prop_oneof![2 => 0..3000usize, 1 => 0..most];
    let lengths = move || prop::collection::vec(length.clone(), 0..6);
    let step = prop_oneof![
        8 => (lengths(), any::<bool>(), prop::bool::weighted(0.8))
            .prop_map(|(outbound, inbound, commit)| Step::Turn { outbound, inbound, commit }),
        1 => (1u64..5).prop_map(|back| Step::Copy { back }),
        1 => Just(Step::Attempt),
        1 => any::<bool>().prop_map(|commit| Step::Reset { commit }),
        1 => Just(Step::Reopen),
        1 => Just(Step::Die),
        1 => lengths().prop_map(|outbound| Step::DieInTurn { outbound }),
        3 => (0u64..30, 0u64..40).prop_map(|(from, to)| Step::Read { from, to }),
        2 => (1usize..50).prop_map(|steps| Step::Prepare { steps }),
    ];
    prop::collection::vec(step, 1..40)
}

#[derive(Clone, Default)]
struct Model {
    generation: u32,
    next_in: u64,
    next_out: u64,
    attempts: u32,
    records: usize,
    messages: BTreeMap<(u32, u64), Vec<u8>>,
}

fn text(n: u64, length: usize) -> Vec<u8> {
    (0..length).map(|i| (n as usize * 31 + i * 7) as u8).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]
    #[test]
    fn the_store_remembers_what_the_model_remembers(steps in steps(3000)) {
        let dir = TempDir::new("model");
        follow(steps, &dir, &mut small(dir.path()).looking_every(Duration::ZERO))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn so_it_does_in_segments_whose_pages_are_filled_ahead(steps in steps(100 << 10)) {
        let dir = TempDir::new("model-large");
        follow(steps, &dir, &mut DirectoryStore::new(dir.path()).with_segments(1 << 20, 1 << 20))?;
    }
}

/// Takes the steps, and compares the store with the model after each.
fn follow(steps: Vec<Step>, dir: &TempDir, store: &mut DirectoryStore) -> Result<(), TestCaseError> {
    let (mut key, _) = open(store);
    let mut model = Model { next_in: 1, next_out: 1, ..Model::default() };
    for step in steps {
        let mut reopened = None;
        match step {
            Step::Turn { outbound: lengths, inbound: begins, commit } => {
                let mut after = model.clone();
                store.begin();
                if begins {
                    store.append(key, &inbound(after.next_in, b"in")).unwrap();
                    after.next_in += 1;
                    after.attempts = 0;
                    after.records += 1;
                }
                append(store, key, &mut after, &lengths);
                if commit {
                    store.commit().unwrap();
                    model = after;
                } else {
                    store.rollback();
                }
            }
            Step::Copy { back } => {
                if model.next_out > back {
                    let copy = Record {
                        flags: RecordFlags::POSS_DUP,
                        next_in: SeqNum(model.next_in),
                        ..outbound(model.next_out - back, b"again")
                    };
                    turn(store, key, &[copy]);
                    model.records += 1;
                }
            }
            Step::Attempt => {
                turn(store, key, &[attempt(model.next_in)]);
                model.attempts += 1;
                model.records += 1;
            }
            Step::Reset { commit } => {
                store.begin();
                store.append(key, &reset(1, 1)).unwrap();
                if commit {
                    store.commit().unwrap();
                    model = Model {
                        generation: model.generation + 1,
                        next_in: 1,
                        next_out: 1,
                        attempts: 0,
                        records: 1,
                        messages: model.messages,
                    };
                } else {
                    store.rollback();
                }
            }
            Step::Reopen => {
                store.close(key).unwrap();
                reopened = Some(open(store));
            }
            Step::Die => {
                store.crash();
                reopened = Some(open(store));
            }
            Step::DieInTurn { outbound: lengths } => {
                store.begin();
                append(store, key, &mut model.clone(), &lengths);
                store.crash();
                reopened = Some(open(store));
            }
            Step::Prepare { steps } => {
                (0..steps).take_while(|_| store.prepare()).for_each(|_| {});
            }
            Step::Read { from, to } => {
                let range = (model.generation, from)..=(model.generation, to.max(from));
                let expected = model.messages.range(range).next().map(|(k, v)| (k.1, v.clone()));
                let found = store
                    .read(key, Generation(model.generation), SeqNum(from)..=SeqNum(to.max(from)))
                    .unwrap()
                    .map(|r| (r.seq.0, r.body.to_vec()));
                prop_assert_eq!(found, expected);
            }
        }
        if let Some((again, recovered)) = reopened {
            key = again;
            prop_assert_eq!(recovered.generation, Generation(model.generation));
            prop_assert_eq!(recovered.next_in, SeqNum(model.next_in));
            prop_assert_eq!(recovered.next_out, SeqNum(model.next_out));
            prop_assert_eq!(recovered.attempts, model.attempts);
            prop_assert_eq!(recovered.given_up, None);
            prop_assert_eq!(recovered.damage, None);
        }
        prop_assert_eq!(count(store, key), model.records);
    }
    for ((generation, n), body) in &model.messages {
        if *generation == model.generation {
            prop_assert_eq!(read_body(store, key, *generation, *n), Some(body.clone()));
        }
    }
    // Closed generations are for readers. A new journal may not be on disk yet.
    store.close(key).unwrap();
    let reader = JournalReader::open(&directory(dir.path())).unwrap();
    let found: BTreeMap<_, _> = reader.sessions()[0]
        .records()
        .filter(|r| r.record.kind == RecordKind::Outbound && !r.record.flags.contains(RecordFlags::POSS_DUP))
        .map(|r| ((r.generation.0, r.record.seq.0), r.record.body.to_vec()))
        .collect();
    prop_assert_eq!(found, model.messages);
    Ok(())
}

fn append(store: &mut DirectoryStore, key: SessionKey, model: &mut Model, lengths: &[usize]) {
    for length in lengths {
        let body = text(model.next_out, *length);
        let record = Record { next_in: SeqNum(model.next_in), ..outbound(model.next_out, &body) };
        store.append(key, &record).unwrap();
        model.messages.insert((model.generation, model.next_out), body);
        model.next_out += 1;
        model.records += 1;
    }
}
