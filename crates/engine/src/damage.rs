//! What the tests of checks share: each check is seen to fail once for each of its conditions.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns what a check says of a value that was damaged.
///
/// # Panics
/// Panics if the check finds nothing.
pub(crate) fn said(check: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(check)).expect_err("the damage is not found");
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    panic.downcast_ref::<String>().cloned().or(text).expect("a check says what is wrong")
}
