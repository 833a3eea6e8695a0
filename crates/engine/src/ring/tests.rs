//! The ring compared with an oracle, with concurrent writers, and in every interleaving of a few
//! steps.

use std::sync::Arc;

use fixbolt_codec::{Body, MsgType};

use super::*;

const ORDER: MsgType = MsgType::new(b"D");

fn push(ring: &Ring, msg_type: MsgType, bytes: &[u8], number: u64) -> Result<u64, Refused> {
    let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    let body = Body { msg_type, bytes, sum };
    ring.push(&PostedBody { body, may_have_secrets: has_secrets(bytes) }, || number)
}

/// Half of the bodies may have secrets.
fn has_secrets(body: &[u8]) -> bool {
    !body.len().is_multiple_of(2)
}

/// Removes and returns the oldest record: number, MsgType, body. Its checksum must be that of the
/// body.
fn pop(ring: &Ring) -> Option<(u64, MsgType, Vec<u8>)> {
    let mut body = Vec::new();
    let record = ring.peek(&mut body)?;
    assert_eq!(record.sum, body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
    assert_eq!(record.may_have_secrets, has_secrets(&body));
    ring.consume(record);
    Some((record.number, record.msg_type, body))
}

#[cfg(not(loom))]
mod alone {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_debug_text_of_a_ring_shows_no_word_of_a_body() {
        let ring = Ring::new(Arc::new(Pages::with_shift(4, 10)), 8);
        push(&ring, ORDER, b"swordfish", 1).unwrap();
        let word = u64::from_le_bytes(*b"swordfis").to_string();
        assert!(!format!("{ring:?}").contains(&word));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(Vec<u8>),
        Peek,
        Pop,
        Shrink,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => prop::collection::vec(any::<u8>(), 0..200).prop_map(Step::Push),
            1 => Just(Step::Peek),
            3 => Just(Step::Pop),
            1 => Just(Step::Shrink),
        ]
    }

    /// The interpreter is slow.
    const STEPS: usize = if cfg!(miri) { 40 } else { 200 };

    /// The most bytes that a ring of 1,000 bytes may take: an additional page at either end, and a
    /// record's head.
    const MOST: usize = 1000 + 3 * 64 + HEAD * WORD;

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 4 } else { 512 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn it_is_a_queue_of_bodies(steps in prop::collection::vec(step(), 0..STEPS)) {
            let types = [ORDER, MsgType::new(b"AE"), MsgType::new(b"0123456789abcde")];
            // Pages of 8 words; there are enough for every place of the ring.
            let pages = Arc::new(Pages::with_shift(100, 3));
            let ring = Ring::new(Arc::clone(&pages), 1000);
            let mut oracle = VecDeque::new();
            let mut size = 0;
            for (n, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push(body) => {
                        let msg_type = types[n % types.len()];
                        let pushed = push(&ring, msg_type, &body, n as u64);
                        let after = size + record_size(body.len());
                        prop_assert!(pushed.is_ok() || after > 1000 - 64, "refused at {size}");
                        prop_assert!(pushed.is_err() || after <= MOST, "taken at {size}");
                        if pushed.is_ok() {
                            size = after;
                            oracle.push_back((n as u64, msg_type, body));
                        }
                    }
                    Step::Peek => {
                        let mut body = vec![1; 7];
                        let record = ring.peek(&mut body);
                        prop_assert_eq!(record.map(|record| record.number), oracle.front().map(|(n, ..)| *n));
                    }
                    Step::Pop => {
                        let popped = pop(&ring);
                        prop_assert_eq!(&popped, &oracle.pop_front());
                        size -= popped.map_or(0, |(_, _, body)| record_size(body.len()));
                    }
                    Step::Shrink => {
                        ring.shrink();
                        prop_assert!(!oracle.is_empty() || ring.queued() == 0);
                    }
                }
                prop_assert_eq!(ring.queued(), size);
                ring.check();
            }
            while let Some(expected) = oracle.pop_front() {
                prop_assert_eq!(pop(&ring), Some(expected));
            }
            prop_assert_eq!(pop(&ring), None);
            drop(ring);
            prop_assert_eq!(pages.held(), 0, "every page was given back");
        }
    }

    /// Exchanges a number of a ring with two records, another number, and what `check` says then.
    type Damage = (fn(&Ring, u64) -> u64, u64, &'static str);

    const DAMAGES: [Damage; 4] = [
        (
            |it, to| it.first.swap(to, Ordering::Relaxed),
            7,
            "page 1 is read, and those before 7 were returned",
        ),
        (|it, to| it.tail.0.swap(to, Ordering::Relaxed), 8, "9 words were consumed of 8"),
        (|it, to| it.tail.0.swap(to, Ordering::Relaxed), 8000, "pages 1 to 999 are in 18 places"),
        (
            |it, to| it.place(3).swap(to as u32, Ordering::Relaxed).into(),
            0,
            "page 3 is not there, and words of it are reserved",
        ),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        for (exchange, wrong, says) in DAMAGES {
            let ring = Ring::new(Arc::new(Pages::with_shift(100, 3)), 1000);
            ring.check();
            for (bytes, number) in [(40, 1), (40, 2), (100, 3)] {
                push(&ring, ORDER, &vec![7; bytes], number).unwrap();
                ring.check();
            }
            pop(&ring).unwrap();
            ring.close();
            ring.check();
            let right = exchange(&ring, wrong);
            let said = crate::damage::said(|| ring.check());
            assert!(said.contains(says), "{said}, not {says}");
            // The end of the ring reads what is there.
            exchange(&ring, right);
        }
    }

    #[test]
    fn a_record_as_large_as_the_ring_fits_wherever_it_begins() {
        for before in (0..20).step_by(if cfg!(miri) { 7 } else { 1 }) {
            let ring = Ring::new(Arc::new(Pages::with_shift(100, 3)), 1000);
            push(&ring, ORDER, &vec![7; before * 8], 1).unwrap();
            pop(&ring).unwrap();
            let body: Vec<u8> = (0..1000).map(|n| n as u8).collect();
            push(&ring, ORDER, &body, 2).unwrap();
            assert_eq!(pop(&ring), Some((2, ORDER, body)));
        }
    }

    #[test]
    fn a_closed_ring_refuses_records_and_those_it_has_are_still_read() {
        let pages = Arc::new(Pages::with_shift(100, 3));
        let ring = Ring::new(Arc::clone(&pages), 1000);
        push(&ring, ORDER, b"first", 1).unwrap();
        push(&ring, ORDER, &[b'x'; 500], 2).unwrap();
        ring.close();
        assert_eq!(push(&ring, ORDER, b"late", 3), Err(Refused::Closed));
        assert!(!ring.is_empty());
        assert_eq!([pop(&ring).unwrap().0, pop(&ring).unwrap().0], [1, 2]);
        assert!(ring.is_empty() && ring.queued() == 0);
        ring.shrink();
        assert_eq!(pages.held(), 0, "no page is lost");
        assert_eq!(push(&ring, ORDER, b"late", 3), Err(Refused::Closed));
    }

    #[test]
    fn a_ring_that_nobody_empties_leaves_pages_to_the_others() {
        let pages = Arc::new(Pages::with_shift(12, 3));
        let [stuck, other] = [0, 1].map(|_| Ring::new(Arc::clone(&pages), 10_000));
        while push(&stuck, ORDER, b"stuck", 1).is_ok() {}
        assert_eq!(push(&other, ORDER, b"other", 2), Ok(2));
        assert_eq!(pop(&other), Some((2, ORDER, b"other".to_vec())));
        assert_eq!(pop(&stuck), Some((1, ORDER, b"stuck".to_vec())));
    }

    #[test]
    fn threads_that_write_at_once_lose_nothing_and_keep_their_order() {
        const THREADS: u64 = 3;
        const EACH: u64 = if cfg!(miri) { 10 } else { 20_000 };
        let pages = Arc::new(Pages::with_shift(8, 4));
        let ring = Ring::new(Arc::clone(&pages), 600);
        let mut next = [0; THREADS as usize];
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let ring = &ring;
                scope.spawn(move || {
                    for n in 0..EACH {
                        // Lengths differ, so that records end at different places in a page.
                        let body = vec![b'a' + thread as u8; (n * 7 % 200) as usize];
                        while push(ring, ORDER, &body, thread * EACH + n).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let mut seen = 0;
            while seen < THREADS * EACH {
                ring.check();
                let Some((number, _, body)) = pop(&ring) else {
                    ring.shrink();
                    std::thread::yield_now();
                    continue;
                };
                let (thread, n) = (number / EACH, number % EACH);
                assert_eq!(n, next[thread as usize], "thread {thread}");
                assert_eq!(body, vec![b'a' + thread as u8; (n * 7 % 200) as usize]);
                next[thread as usize] += 1;
                seen += 1;
            }
        });
        assert_eq!(pop(&ring), None);
        drop(ring);
        assert_eq!(pages.held(), 0);
    }
}

#[cfg(loom)]
mod every_interleaving {
    use super::*;

    /// Two threads each write a record of the given size into pages of 4 words; the reader removes
    /// them.
    fn two_writers(bytes: [usize; 2]) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let pages = Arc::new(Pages::with_shift(16, 2));
            let ring = Arc::new(Ring::new(Arc::clone(&pages), 120));
            let writers = [1u8, 2].map(|number| {
                let ring = Arc::clone(&ring);
                let len = bytes[usize::from(number) - 1];
                loom::thread::spawn(move || {
                    push(&ring, ORDER, &vec![number; len], number.into()).unwrap();
                })
            });
            let mut seen = [false; 2];
            while seen != [true; 2] {
                let Some((number, msg_type, body)) = pop(&ring) else {
                    loom::thread::yield_now();
                    continue;
                };
                let n = usize::try_from(number).unwrap() - 1;
                assert_eq!((msg_type, body), (ORDER, vec![n as u8 + 1; bytes[n]]));
                assert!(!core::mem::replace(&mut seen[n], true), "once");
            }
            for writer in writers {
                writer.join().unwrap();
            }
            ring.shrink();
            assert_eq!(pages.held(), 0, "no page is lost");
        });
    }

    #[test]
    fn loom_what_the_reader_checks_holds_while_another_thread_writes() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let pages = Arc::new(Pages::with_shift(16, 2));
            let ring = Arc::new(Ring::new(Arc::clone(&pages), 120));
            let writer = {
                let ring = Arc::clone(&ring);
                loom::thread::spawn(move || {
                    push(&ring, ORDER, b"1", 1).unwrap();
                    push(&ring, ORDER, b"", 2).unwrap();
                })
            };
            for number in [1, 2] {
                ring.check();
                while pop(&ring).map(|(popped, ..)| popped) != Some(number) {
                    loom::thread::yield_now();
                }
                ring.check();
            }
            writer.join().unwrap();
            ring.shrink();
            ring.check();
        });
    }

    #[test]
    fn loom_records_within_pages() {
        two_writers([0, 0]);
    }

    #[test]
    fn loom_records_over_the_ends_of_pages() {
        two_writers([3, 9]);
    }

    #[test]
    fn loom_a_ring_shrinks_while_another_thread_writes() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let pages = Arc::new(Pages::with_shift(16, 3));
            let ring = Arc::new(Ring::new(Arc::clone(&pages), 120));
            // The ring is empty, and has a page of which half is left.
            push(&ring, ORDER, b"", 1).unwrap();
            pop(&ring).unwrap();
            let writer = {
                let ring = Arc::clone(&ring);
                loom::thread::spawn(move || {
                    push(&ring, ORDER, b"", 2).unwrap();
                    push(&ring, ORDER, b"3", 3).unwrap();
                })
            };
            ring.shrink();
            for expected in [(2, ORDER, b"".to_vec()), (3, ORDER, b"3".to_vec())] {
                let popped = loop {
                    match pop(&ring) {
                        Some(popped) => break popped,
                        None => loom::thread::yield_now(),
                    }
                };
                assert_eq!(popped, expected);
            }
            writer.join().unwrap();
            ring.shrink();
            assert_eq!(pages.held(), 0, "no page is lost");
        });
    }

    #[test]
    fn loom_a_record_is_read_or_refused_when_the_ring_is_closed() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let pages = Arc::new(Pages::with_shift(16, 2));
            let ring = Arc::new(Ring::new(Arc::clone(&pages), 120));
            let writer = {
                let ring = Arc::clone(&ring);
                loom::thread::spawn(move || push(&ring, ORDER, b"1", 1))
            };
            ring.close();
            let mut read = Vec::new();
            while !ring.is_empty() {
                match pop(&ring) {
                    Some((number, ..)) => read.push(number),
                    None => loom::thread::yield_now(),
                }
            }
            ring.shrink();
            match writer.join().unwrap() {
                Ok(number) => assert_eq!(read, [number]),
                Err(refused) => assert!(refused == Refused::Closed && read.is_empty()),
            }
        });
    }

    #[test]
    fn loom_a_full_ring_takes_records_again_once_it_was_read() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let ring = Arc::new(Ring::new(Arc::new(Pages::with_shift(8, 2)), 0));
            push(&ring, ORDER, b"", 1).unwrap();
            push(&ring, ORDER, b"", 2).unwrap();
            let reader = {
                let ring = Arc::clone(&ring);
                loom::thread::spawn(move || {
                    assert_eq!(pop(&ring).unwrap().0, 1);
                })
            };
            let third = push(&ring, ORDER, b"third", 3);
            reader.join().unwrap();
            assert_eq!(pop(&ring).unwrap().0, 2);
            assert_eq!(pop(&ring).map(|(number, ..)| number), third.ok());
        });
    }
}
