//! The versions this crate ships, as compact tables made by [`compile`](crate::compile) from the official FIX Orchestra files.

use std::sync::LazyLock;

use crate::model::Dictionary;

/// FIX 4.2.
pub fn fix42() -> &'static Dictionary {
    static FIX42: LazyLock<Dictionary> = LazyLock::new(|| load(include_str!("../tables/FIX.4.2.txt")));
    &FIX42
}

/// FIX 4.4.
pub fn fix44() -> &'static Dictionary {
    static FIX44: LazyLock<Dictionary> = LazyLock::new(|| load(include_str!("../tables/FIX.4.4.txt")));
    &FIX44
}

/// The shipped version of this BeginString (8).
pub fn shipped(begin_string: &[u8]) -> Option<&'static Dictionary> {
    match begin_string {
        b"FIX.4.2" => Some(fix42()),
        b"FIX.4.4" => Some(fix44()),
        _ => None,
    }
}

/// # Panics
/// If a committed table is broken, which a test excludes.
fn load(table: &str) -> Dictionary {
    Dictionary::from_table(table).unwrap_or_else(|errors| panic!("a shipped table is broken: {}", errors[0]))
}
