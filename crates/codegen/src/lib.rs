//! Rust source for typed FIX messages, made from a dictionary.
//!
//! [`generate`] prints one module: enums of the code sets, a view and a writer for every message and group entry, and a pair of
//! traits for every component. Components, and groups whose entries are alike, are printed once and shared by all messages. The
//! printed code stands on the `typed` module of the `fixbolt-messages` crate.
//!
//! A build script calls [`build`]; [`Module::from_text`] is the same for whoever wants to write the file elsewhere.
//!
//! This crate refuses to guess: what has no Rust type, or could not be read back, is an error.
//!
//! ```
//! let fix42 = fixbolt_codegen::generate(fixbolt_dictionary::fix42(), &fixbolt_codegen::Options::default()).unwrap();
//! assert!(fix42.source().contains("pub fn cl_ord_id(&self) -> Result<&'m [u8], typed::FieldError>"));
//! ```
//!
//! # Names
//! Generated names are API. They follow from the dictionary by fixed rules, so that a new field never renames an old one:
//! - a message, component or group keeps its name as a type and has it in snake case as a module;
//! - a field is its name in snake case (`ClOrdID`: `cl_ord_id`, `NoPartyIDs` as a plain field: `no_party_ids`), a repeating
//!   group its count field's name without `No` (`NoPartyIDs`: `party_ids`);
//! - a code set is an enum without the suffix `CodeSet`, a code a variant; a code called `Other` and a name that two codes share
//!   have the value appended (`Other99`), for `Other` is the variant that holds every other value;
//! - a keyword or a name of the views' own methods ends with `_`, a name that begins with a digit begins with `_`;
//! - of two fields with the same name the one with the higher tag has its tag appended.
#![forbid(unsafe_code)]

mod build;
mod codes;
mod entry;
mod kind;
mod member;
mod message;
mod module;
mod names;
mod plan;
mod round_trip;

use std::fmt;

use fixbolt_dictionary::{Definition, Dictionary};

use crate::plan::Plan;

pub use build::build;
pub use module::{Fault, Module};
pub use round_trip::round_trip;

/// What the printed code depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Path of the `fixbolt-messages` crate as the printed code sees it.
    pub library: String,
}

impl Default for Options {
    fn default() -> Self {
        Options { library: "::fixbolt_messages".to_string() }
    }
}

/// The printed source of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    source: String,
}

impl Generated {
    /// The items of one module, to be `include!`d into it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Lines of the source.
    pub fn lines(&self) -> usize {
        self.source.lines().count()
    }
}

/// Why a dictionary has no typed messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerateError {
    /// The element at fault, for example `field 5001 (Colour)`.
    pub element: String,
    /// Where it is defined, if it is one definition: [`Dictionary::line_of`] finds its line.
    pub definition: Option<Definition>,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.element, self.reason)
    }
}

impl std::error::Error for GenerateError {}

/// Prints the typed messages of a dictionary.
///
/// # Errors
/// Everything in the dictionary that cannot be printed, not only the first.
pub fn generate(dictionary: &Dictionary, options: &Options) -> Result<Generated, Vec<GenerateError>> {
    let plan = Plan::new(dictionary)?;
    let mut source = String::with_capacity(4 << 20);
    message::print_root(&mut source, &plan, options);
    codes::print_fields(&mut source, &plan);
    member::print_keys(&mut source, &plan);
    member::print_components(&mut source, &plan);
    entry::print_groups(&mut source, &plan);
    message::print_messages(&mut source, &plan);
    Ok(Generated { source })
}

/// Appends a line. Writing to a `String` cannot fail.
macro_rules! line {
    ($out:expr, $($text:tt)*) => {{
        use std::fmt::Write as _;
        let _ = writeln!($out, $($text)*);
    }};
}
pub(crate) use line;
