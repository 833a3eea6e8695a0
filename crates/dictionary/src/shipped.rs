//! The versions that this crate ships, as compact tables made by `fixbolt dictionary compile`.
//!
//! A table is read when its version is first used. `crates/dictionary/tables/README.md` names the
//! source of each one and the command that makes it.

use std::sync::LazyLock;

use fixbolt_codec::Version;

use crate::compact;
use crate::model::Dictionary;

macro_rules! ship {
    ($($(#[$doc:meta])+ $function:ident $version:ident $name:literal;)+) => {
        $(
            $(#[$doc])+
            pub fn $function() -> &'static Dictionary {
                static TABLE: LazyLock<Dictionary> =
                    LazyLock::new(|| load(include_str!(concat!("../tables/", $name, ".txt"))));
                &TABLE
            }
        )+

        /// Returns the dictionary of a version. Those of FIX.5.0 and later describe the
        /// application layer only, see [`Dictionary::over`].
        ///
        /// ```
        /// use fixbolt_dictionary::{Version, fix44, shipped};
        /// assert_eq!(shipped(Version::Fix44), fix44());
        /// ```
        pub fn shipped(version: Version) -> &'static Dictionary {
            match version {
                $(Version::$version => $function(),)+
            }
        }
    };
}

ship! {
    /// FIX 4.0.
    fix40 Fix40 "FIX.4.0";
    /// FIX 4.1.
    fix41 Fix41 "FIX.4.1";
    /// FIX 4.2.
    fix42 Fix42 "FIX.4.2";
    /// FIX 4.3.
    fix43 Fix43 "FIX.4.3";
    /// FIX 4.4.
    fix44 Fix44 "FIX.4.4";
    /// FIX 5.0: the application layer only, see [`Dictionary::over`].
    fix50 Fix50 "FIX.5.0";
    /// FIX 5.0 SP1: the application layer only, see [`Dictionary::over`].
    fix50sp1 Fix50Sp1 "FIX.5.0SP1";
    /// FIX 5.0 SP2: the application layer only, see [`Dictionary::over`].
    fix50sp2 Fix50Sp2 "FIX.5.0SP2";
    /// FIX Latest (extension pack 269): the application layer only, see [`Dictionary::over`].
    fix_latest FixLatest "FIX.Latest";
    /// FIXT 1.1: header, trailer and session messages for FIX 5.0 and later.
    fixt11 Fixt11 "FIXT.1.1";
}

/// # Panics
/// Panics if a committed table is invalid, which a test excludes.
fn load(table: &str) -> Dictionary {
    match compact::read(table) {
        Ok(loaded) => loaded.dictionary,
        Err(faults) => panic!("a shipped table is broken: {faults}"),
    }
}
