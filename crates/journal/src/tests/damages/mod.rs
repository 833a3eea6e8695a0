//! A table of damages and their outcomes, and random combinations of them.
//!
//! Whatever is done to a journal's files, after a clean close or the death of the process: opening
//! it continues with sequence numbers that are not too low, or halts with a reason and changes
//! nothing. After a halt, a repair makes the journal usable without lowering a sequence number or
//! losing a byte.
//!
//! A failing combination prints its operations, which can be added to the table as they are.

mod journal;
mod operations;
mod outcome;

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use journal::{Journal, Moment, Stranger, Variant};
use operations::Operation::{self, *};
use operations::{LEFT, PAIRS, Part, Random, Target};

type Row = Vec<Operation>;

/// Returns what is done to `target`, as rows of one operation each.
fn rows(target: Target) -> Vec<Row> {
    let mut random = Random::new(target as u64);
    let mut rows = vec![Deleted(target), Zeroed(target, Part::Whole), Zeroed(target, Part::FirstPage)];
    rows.extend(LEFT.map(|left| Truncated(target, left)));
    rows.extend([(); 2].map(|()| Zeroed(target, random.part())));
    rows.extend([3, 60, 300, 500].map(|place| Flipped(target, place)));
    rows.extend([Stranger::OtherSession, Stranger::SameSession].map(|stranger| Foreign(target, stranger)));
    rows.extend(Moment::ALL.map(|moment| Older(target, moment)));
    rows.into_iter().map(|row| vec![row]).collect()
}

/// Damages a journal of each variant, and returns the outcomes that are wrong, with the variants in
/// which they occurred.
fn failures(operations: &[Operation], variants: &[Variant]) -> Vec<(String, Vec<&'static str>)> {
    let mut wrong: Vec<(String, Vec<&str>)> = Vec::new();
    for variant in variants {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut journal = Journal::new(*variant);
            if !operations[0].applies(&journal) {
                return Vec::new();
            }
            for operation in operations {
                operation.apply(&mut journal);
            }
            outcome::judge(&journal)
        }));
        for line in outcome.unwrap_or_else(|_| vec!["panics".to_owned()]) {
            match wrong.iter_mut().find(|(known, _)| *known == line) {
                Some((_, names)) => names.push(variant.name()),
                None => wrong.push((line, vec![variant.name()])),
            }
        }
    }
    wrong
}

/// Runs `case` for all of `cases`, several at a time, as they mostly wait, and returns what they
/// return, in their order.
fn in_parallel<C: Sync, R: Send>(cases: &[C], case: impl Fn(&C) -> R + Sync) -> Vec<R> {
    const THREADS: usize = 4;
    let each = cases.len().div_ceil(THREADS).max(1);
    let run = &|part: &[C]| part.iter().map(&case).collect::<Vec<R>>();
    std::thread::scope(|scope| {
        let threads: Vec<_> = cases.chunks(each).map(|part| scope.spawn(move || run(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Checks rows of the table in all variants and prints all that fail.
fn check(rows: Vec<Row>) {
    let (mut text, mut failed) = (String::new(), 0);
    for (row, wrong) in rows.iter().zip(in_parallel(&rows, |row| failures(row, &Variant::ALL))) {
        failed += usize::from(!wrong.is_empty());
        for (line, variants) in wrong {
            writeln!(text, "{row:?} ({}): {line}", variants.join(", ")).unwrap();
        }
    }
    assert!(failed == 0, "{failed} of {} rows fail:\n{text}", rows.len());
}

#[test]
fn an_undamaged_journal_opens_where_it_ended() {
    for variant in Variant::ALL {
        let journal = Journal::new(variant);
        assert!(outcome::is_undamaged(&journal), "{}", variant.name());
    }
}

#[test]
fn damages_to_the_head() {
    check(rows(Target::Head));
}

#[test]
fn damages_to_the_first_segment() {
    check(rows(Target::FirstSegment));
}

#[test]
fn damages_to_a_middle_segment() {
    check(rows(Target::MiddleSegment));
}

#[test]
fn damages_to_the_last_segment() {
    check(rows(Target::LastSegment));
}

#[test]
fn damages_to_the_lock() {
    check(rows(Target::Lock));
}

#[test]
fn damages_to_all_segments() {
    check(rows(Target::AllSegments));
}

#[test]
fn damages_to_everything_but_the_lock() {
    check(rows(Target::AllButLock));
}

#[test]
fn damages_to_everything() {
    check(rows(Target::Everything));
}

#[test]
fn damages_to_the_last_turns() {
    let mut random = Random::new(20);
    let mut rows = vec![vec![UnpublishedLastTurn]];
    rows.extend([1, 2, 20, 57, 105].map(|count| vec![ZeroedLastTurns(count)]));
    rows.extend([(); 4].map(|()| vec![ZeroedLastTurns(3 + random.below(106))]));
    check(rows);
}

#[test]
fn segments_that_are_confused() {
    let mut rows: Vec<Row> = PAIRS.map(|[from, to]| vec![CopiedOver(from, to)]).into();
    rows.extend([0, 1, 3].map(|n| vec![Swapped(PAIRS[n][0], PAIRS[n][1])]));
    rows.extend(Target::SEGMENTS.map(|segment| vec![CopiedAsNext(segment)]));
    check(rows);
}

#[test]
fn directories_that_are_lost_or_copied() {
    let mut rows = vec![vec![DeletedDirectory]];
    for original_left in [false, true] {
        let copied = CopiedDirectory { original_left };
        rows.push(vec![copied]);
        rows.extend(Moment::ALL.map(|moment| vec![copied, OlderDirectory(moment)]));
    }
    rows.extend(Moment::ALL.map(|moment| vec![OlderDirectory(moment)]));
    check(rows);
}

#[test]
fn combinations_of_damages() {
    use Moment::{FirstClose, HalfTime, Late};
    use Target::{AllSegments, Everything, FirstSegment, Head, LastSegment, Lock};
    check(vec![
        vec![Deleted(Lock), Deleted(Head)],
        vec![Deleted(Head), Deleted(LastSegment)],
        vec![Deleted(Head), ZeroedLastTurns(20)],
        vec![Zeroed(Head, Part::Whole), UnpublishedLastTurn],
        vec![Deleted(Lock), ZeroedLastTurns(20)],
        vec![Deleted(Lock), Older(AllSegments, Late)],
        vec![Older(Head, FirstClose), Deleted(LastSegment)],
        vec![Older(Head, Late), Older(LastSegment, Late)],
        vec![Older(Everything, HalfTime), Deleted(LastSegment)],
        vec![Deleted(Everything), Older(AllSegments, HalfTime)],
        vec![OlderDirectory(Late), Deleted(Head)],
        vec![OlderDirectory(Late), Deleted(Lock)],
        vec![Swapped(FirstSegment, LastSegment), Flipped(Head, 3)],
        vec![CopiedAsNext(LastSegment), ZeroedLastTurns(1)],
        vec![CopiedDirectory { original_left: true }, ZeroedLastTurns(20)],
    ]);
}

#[test]
fn a_thousand_combinations_of_damages() {
    let (mut text, mut failed) = (String::new(), 0);
    let seeds: Vec<u64> = (0..1000).collect();
    let outcomes = in_parallel(&seeds, |seed| {
        let mut random = Random::new(*seed);
        let variant = random.one_of(&Variant::ALL);
        let operations: Row = (0..2 + random.below(2)).map(|_| random.operation()).collect();
        let wrong = failures(&operations, &[variant]);
        (operations, wrong)
    });
    for (seed, (operations, wrong)) in seeds.iter().zip(outcomes) {
        failed += usize::from(!wrong.is_empty());
        for (line, variants) in wrong {
            writeln!(text, "seed {seed}: {operations:?} ({}): {line}", variants.join(", ")).unwrap();
        }
    }
    assert!(failed == 0, "{failed} of 1000 combinations fail:\n{text}");
}
