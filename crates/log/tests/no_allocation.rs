//! That a message of a log costs no allocation.

#[path = "../../engine/tests/support/allocations.rs"]
mod allocations;

use allocations::ALLOCATIONS;
use fixbolt_log::Reader;

#[test]
fn nothing_is_allocated_for_a_message_unless_it_is_larger_than_all_before() {
    for separator in ["\u{1}", "|", " | ", " "] {
        let line = "09:00:00 IN 8=FIX.4.2\u{1}9=5\u{1}35=0\u{1}10=161\u{1}\n".replace('\u{1}', separator);
        let log = line.repeat(50_000);
        let mut reader = Reader::new(log.as_bytes());
        let mut messages = 0;
        let mut after_first = 0;
        while let Some(entry) = reader.next().unwrap() {
            assert!(entry.bytes().is_some() && entry.time().is_some());
            messages += 1;
            if messages == 1 {
                after_first = ALLOCATIONS.get();
            }
        }
        assert_eq!((messages, ALLOCATIONS.get() - after_first), (50_000, 0), "{separator}");
    }
}
