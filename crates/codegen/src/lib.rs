//! Rust source for typed FIX messages, made from a dictionary.
//!
//! [`generate`] prints one module: enums of the code sets, a view and a writer for every message and group entry, a pair of
//! traits for every component, and an enum and a trait over all messages. Components, and groups whose entries are alike, are
//! printed once and shared by all messages. [`generate_together`] prints several versions, of which each takes from those in
//! front of it what they have just so. The printed code stands on the `typed` module of the `fixbolt-messages` crate.
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
//! - a code set is an enum without the suffix `CodeSet`, a code a variant; in a set whose names are all in capitals
//!   `PARTIALLY_FILLED` is `PartiallyFilled`; a code called `Other` and a name that two codes share have the value appended
//!   (`Other99`), for `Other` is the variant that holds every other value;
//! - a keyword, a name of the views' own methods and a name of the module's own items (`Message`, `Handler`, `fields`, ...) ends
//!   with `_`, a name that begins with a digit begins with `_`;
//! - of two fields with the same name the one with the higher tag has its tag appended.
//!
//! A message, and an enum named after its field, has the names of other versions and engines as aliases; they stand in
//! `names.rs` of the dictionary crate. An alias never takes a name that an item has.
#![forbid(unsafe_code)]

mod alias;
mod build;
mod codes;
mod entry;
mod handler;
mod kind;
mod member;
mod message;
mod module;
mod names;
mod plan;
mod round_trip;
mod share;

use std::fmt;

use fixbolt_dictionary::{Definition, Dictionary};

use crate::plan::Plan;
use crate::share::{Item, ItemModule, Sessions, Shelf};

pub use build::build;
pub use module::{Finding, Module};
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

/// A version among others that are printed together.
#[derive(Debug, Clone, Copy)]
pub struct Version<'d> {
    /// The module that its source is included into, beside the modules of the others.
    pub module: &'d str,
    /// The version; one over a transport with the transport's header, trailer and session messages.
    pub dictionary: &'d Dictionary,
    /// The version in front of this one that header, trailer and session messages are taken from (FIXT.1.1 for FIX.5.0 and
    /// later), by its module.
    pub transport: Option<&'d str>,
}

/// Prints the typed messages of a dictionary.
///
/// # Errors
/// Everything in the dictionary that cannot be printed, not only the first.
pub fn generate(dictionary: &Dictionary, options: &Options) -> Result<Generated, Vec<GenerateError>> {
    let mut generated = generate_together(&[Version { module: "", dictionary, transport: None }], options)?;
    Ok(generated.remove(0))
}

/// Prints the typed messages of several versions, whose modules stand beside one another.
///
/// An enum, component, group or message that a version in front has just so is re-exported from there. Whether two versions
/// have a type in common depends on these two alone, not on what else is printed.
///
/// # Errors
/// Everything in the dictionaries that cannot be printed, not only the first.
///
/// # Panics
/// When a transport is no version in front.
pub fn generate_together(
    versions: &[Version<'_>],
    options: &Options,
) -> Result<Vec<Generated>, Vec<GenerateError>> {
    let mut shelf = Shelf::default();
    let mut printed = Vec::new();
    for (n, version) in versions.iter().enumerate() {
        let plan = Plan::new(version.dictionary)?;
        let sessions = version.transport.map(|transport| {
            let transport = versions[..n].iter().find(|version| version.module == transport);
            sessions_of(transport.expect("a transport stands in front of what is printed over it"))
        });
        let mut items: Vec<Item> = codes::items(&plan).collect();
        items.extend(member::component_items(&plan));
        items.extend(entry::items(&plan));
        items.extend(message::header_items(&plan));
        items.extend(message::items(&plan));
        let sorted = shelf.sort(version.module, items, sessions.as_ref());

        let mut source = String::with_capacity(1 << 20);
        let out = &mut source;
        let name = &version.dictionary.version().name;
        line!(out, "// Printed from the dictionary of {name}; do not edit.");
        line!(out, "use {}::{{codec, typed}};", options.library);
        line!(out, "#[allow(unused_imports)] use {}::typed::{{Put as _, View as _}};", options.library);
        line!(out, "/// BeginString (8) of the version.");
        line!(out, "pub const BEGIN_STRING: &[u8] = b\"{}\";", version.dictionary.version().begin_string);
        line!(out, "#[allow(dead_code)] const KNOWN: &[u32] = &[\n{}\n];", plan.known_tags());
        line!(out, "/// Values of fields that have codes, an enum a code set.\npub mod fields {{");
        line!(out, "#[allow(unused_imports)] use super::{{codec, typed}};");
        sorted.print(out, ItemModule::Fields);
        alias::print_enums(out, &plan);
        line!(out, "}}");
        member::print_keys(out, &plan, &sorted.words_behind("keys::"));
        line!(
            out,
            "/// Members that several messages and groups share: for each component a trait of getters and one of setters. \
             With all of them `use components::*` imports `need`."
        );
        line!(out, "pub mod components {{");
        line!(out, "#[allow(unused_imports)] use super::{{codec, fields, groups, keys, typed}};");
        line!(out, "#[doc(no_inline)] pub use typed::View as _;");
        sorted.print(out, ItemModule::Components);
        line!(out, "}}");
        line!(out, "/// Entries of repeating groups: a view each, and a module with the writer.");
        line!(out, "pub mod groups {{");
        line!(out, "#[allow(unused_imports)] use super::{{codec, components, fields, groups, typed}};");
        line!(out, "#[allow(unused_imports)] use super::typed::View as _;");
        sorted.print(out, ItemModule::Groups);
        entry::print_twins(out, &plan);
        line!(out, "}}");
        sorted.print(out, ItemModule::Root);
        alias::print_messages(out, &plan);
        handler::print(out, &plan);
        printed.push(Generated { source });
    }
    Ok(printed)
}

/// What versions over this one take from it.
fn sessions_of(version: &Version<'_>) -> Sessions {
    let messages = version.dictionary.messages().iter().map(|message| names::view(&message.name));
    let own = ["Header", "HeaderWriter", "Trailer"].map(String::from);
    Sessions { module: version.module.to_string(), names: own.into_iter().chain(messages).collect() }
}

/// Appends a line. Writing to a `String` cannot fail.
macro_rules! line {
    ($out:expr, $($text:tt)*) => {{
        use std::fmt::Write as _;
        let _ = writeln!($out, $($text)*);
    }};
}
pub(crate) use line;
