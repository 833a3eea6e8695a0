//! The versions this crate ships, as compact tables made by [`compile`](crate::compile).
//!
//! A table is read when its version is first asked for. `crates/dictionary/tables/README.md` names the source of each and the
//! command that makes it.

use std::sync::LazyLock;

use crate::model::Dictionary;

/// Names of the shipped versions, oldest first, the transport last.
pub const SHIPPED: [&str; 10] = [
    "FIX.4.0",
    "FIX.4.1",
    "FIX.4.2",
    "FIX.4.3",
    "FIX.4.4",
    "FIX.5.0",
    "FIX.5.0SP1",
    "FIX.5.0SP2",
    "FIX.Latest",
    "FIXT.1.1",
];

macro_rules! ship {
    ($($(#[$doc:meta])+ $function:ident $version:literal;)+) => {
        $(
            $(#[$doc])+
            pub fn $function() -> &'static Dictionary {
                static TABLE: LazyLock<Dictionary> =
                    LazyLock::new(|| load(include_str!(concat!("../tables/", $version, ".txt"))));
                &TABLE
            }
        )+

        /// The shipped version of this name: `FIX.4.4`, `FIX.5.0SP2`, `FIX.Latest`, `FIXT.1.1`. For the versions before FIX.5.0
        /// and for FIXT.1.1 the name is also what BeginString(8) says.
        ///
        /// ```
        /// use fixbolt_dictionary::{fix44, shipped};
        /// assert_eq!(shipped(b"FIX.4.4"), Some(fix44()));
        /// assert_eq!(shipped(b"FIX.6.0"), None);
        /// ```
        pub fn shipped(name: &[u8]) -> Option<&'static Dictionary> {
            $(if name == $version.as_bytes() {
                return Some($function());
            })+
            None
        }
    };
}

ship! {
    /// FIX 4.0.
    fix40 "FIX.4.0";
    /// FIX 4.1.
    fix41 "FIX.4.1";
    /// FIX 4.2.
    fix42 "FIX.4.2";
    /// FIX 4.3.
    fix43 "FIX.4.3";
    /// FIX 4.4.
    fix44 "FIX.4.4";
    /// FIX 5.0: the application layer only, see [`Dictionary::over`].
    fix50 "FIX.5.0";
    /// FIX 5.0 SP1: the application layer only, see [`Dictionary::over`].
    fix50sp1 "FIX.5.0SP1";
    /// FIX 5.0 SP2: the application layer only, see [`Dictionary::over`].
    fix50sp2 "FIX.5.0SP2";
    /// FIX Latest (extension pack 269): the application layer only, see [`Dictionary::over`].
    fix_latest "FIX.Latest";
    /// FIXT 1.1: header, trailer and session messages for FIX 5.0 and later.
    fixt11 "FIXT.1.1";
}

/// The shipped version that this value of ApplVerID(1128) or DefaultApplVerID(1137) names: `2` is FIX.4.0, `9` FIX.5.0SP2, `10`
/// FIX.Latest. FIX.2.7 and FIX.3.0, `0` and `1`, are not shipped.
///
/// ```
/// use fixbolt_dictionary::{fix50sp2, shipped_application};
/// assert_eq!(shipped_application(b"9"), Some(fix50sp2()));
/// assert_eq!(shipped_application(b"1"), None);
/// ```
pub fn shipped_application(appl_ver_id: &[u8]) -> Option<&'static Dictionary> {
    let known = crate::model::APPL_VER_IDS.iter().find(|(_, id)| id.as_bytes() == appl_ver_id)?;
    shipped(known.0.as_bytes())
}

/// # Panics
/// If a committed table is broken, which a test excludes.
fn load(table: &str) -> Dictionary {
    Dictionary::from_table(table).unwrap_or_else(|errors| panic!("a shipped table is broken: {}", errors[0]))
}
