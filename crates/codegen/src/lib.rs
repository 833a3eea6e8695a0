//! Generates Rust source for typed FIX messages from a dictionary.
//!
//! [`generate`] prints one module: a type for every code set, a view and a writer for every message
//! and group entry, a pair of traits for every component, and an enum and a trait over all
//! messages. Components, and groups with identical entries, are printed once and shared by all
//! messages. [`generate_together`] prints several versions, each of which re-exports what it shares
//! with earlier ones; [`Version::of_set`] makes those of a transport and its application versions.
//! The code builds on the `typed` module of the `fixbolt-messages` crate.
//!
//! A build script calls [`build`]. [`Module::new`] does the same without writing a file.
//!
//! Nothing is guessed: a type that Rust has no equivalent of, or that could not be read back, is an
//! error.
//!
//! ```
//! use fixbolt_codegen::{Options, generate};
//!
//! let fix42 = generate(fixbolt_dictionary::fix42(), &Options::default()).unwrap();
//! assert!(fix42.source().contains("pub fn cl_ord_id(&self)"));
//! ```
//!
//! # Names
//! Generated names are API. They follow fixed rules, so that a new field never renames an old one:
//! - a message, component or group keeps its name as a type, and has it in snake case as a module;
//! - a field has its name in snake case (`ClOrdID`: `cl_ord_id`, `NoPartyIDs` as a plain field:
//!   `no_party_ids`), a repeating group the name of its count field without `No` (`NoPartyIDs`:
//!   `party_ids`);
//! - a code set is a type without the suffix `CodeSet`, a code is a constant of it, in capitals:
//!   `PartiallyFilled` becomes `PARTIALLY_FILLED`, as [`fixbolt_dictionary::upper_snake`] does it.
//!   A name that two codes share has the value appended (`RED_2`);
//! - a keyword, the name of a view's own method and the name of one of the module's own items
//!   (`AnyMessage`, `Handler`, `fields`, ...) end with `_`; a name that begins with a digit gets a
//!   leading `_`;
//! - of two elements with the same name the later one is renamed: a field has its tag appended, a
//!   group its count tag, a message its MsgType, and any of them `_` if that does not help;
//! - letters that are not ASCII are left out, and a name that has no others is spelled by the
//!   numbers of its characters (`U65E5U672C`).
//!
//! [`check`] lists what is renamed; words of Rust among the names of the standard are not.
//!
//! Messages, and code sets named after a field, have the names of other versions and engines as
//! aliases, which are in `names.rs` of the dictionary crate. An alias never takes the name of an
//! item.
#![forbid(unsafe_code)]

mod alias;
#[cfg(feature = "files")]
mod build;
mod codes;
mod entry;
mod handler;
mod kind;
mod member;
mod message;
#[cfg(feature = "files")]
mod module;
mod names;
mod naming;
mod plan;
mod round_trip;
mod select;
mod share;

use std::fmt;

use fixbolt_dictionary::{ApplicationVersion, Definition, Dictionary, DictionarySet};

use crate::naming::Naming;
use crate::plan::Plan;
use crate::share::{Item, ItemModule, Sessions, Shelf};

#[cfg(feature = "files")]
pub use build::build;
#[cfg(feature = "files")]
pub use fixbolt_dictionary::Source;
pub use fixbolt_dictionary::Version as BaseVersion;
#[cfg(feature = "files")]
pub use module::{Finding, Module};
pub use naming::Renamed;
pub use round_trip::round_trip;

/// Options of the generated code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Path of the `fixbolt-messages` crate as seen from the generated code.
    pub library: String,
    /// The MsgTypes of the messages to generate; `None` for all. Components, groups and code sets
    /// are those that the messages use, with the same names as in all messages.
    pub messages: Option<Vec<String>>,
    /// The shipped version that the dictionary is a dialect of. What does not differ from it is
    /// re-exported from the library, whose feature of that version must be on: code that takes the
    /// base's code sets, components and groups takes the dialect's as well. Messages with groups
    /// differ if the dialect has fields of its own, because these may end a group; all messages do
    /// if it has messages of its own, because MsgType (35) in their header has more codes.
    ///
    /// A dialect whose name is no version of the standard has the messages of this one; without a
    /// base its views read messages of any version.
    pub base: Option<BaseVersion>,
}

impl Default for Options {
    fn default() -> Self {
        Options { library: "::fixbolt_messages".to_string(), messages: None, base: None }
    }
}

/// The generated source of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    source: String,
    renamed: Vec<Renamed>,
}

impl Generated {
    /// Returns the items of one module, for `include!`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns what has another name than its own in Rust's case, as [`check`] does.
    pub fn renamed(&self) -> &[Renamed] {
        &self.renamed
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.source.lines().count()
    }
}

/// Why no typed messages can be generated from a dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerateError {
    /// The element, for example `field 5001 (Colour)`.
    pub element: String,
    /// Its definition, if it is a single one: `Loaded::line_of` finds its line.
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

/// One of several versions that are generated together.
#[derive(Debug, Clone)]
pub struct Version<'d> {
    /// The module that its source is included into, next to the modules of the others.
    pub module: String,
    /// The version. One over a transport includes the transport's header, trailer and session
    /// messages.
    pub dictionary: &'d Dictionary,
    /// The module of the earlier version that header, trailer and session messages are taken from
    /// (FIXT.1.1 for FIX.5.0 and later).
    pub transport: Option<String>,
}

impl<'d> Version<'d> {
    /// Returns a version that stands alone, in the module that its name makes: `fix44` for
    /// `FIX.4.4`.
    pub fn of(dictionary: &'d Dictionary) -> Version<'d> {
        Version { module: names::module_of(&dictionary.version().name), dictionary, transport: None }
    }

    /// Returns the versions of a set: the transport, and the application versions over it, whose
    /// header, trailer and session messages are the transport's. A custom version is in the module
    /// that its name makes.
    pub fn of_set(set: &'d DictionarySet) -> Vec<Version<'d>> {
        let transport = Version::of(set.transport());
        let over = |(version, dictionary): (ApplicationVersion<'d>, &'d Dictionary)| {
            let custom = version.cstm_appl_ver_id.map(|name| names::module(&String::from_utf8_lossy(name)));
            let module = custom.unwrap_or_else(|| names::module_of(&dictionary.version().name));
            Version { module, dictionary, transport: Some(transport.module.clone()) }
        };
        let applications: Vec<Version<'d>> = set.applications().map(over).collect();
        std::iter::once(transport).chain(applications).collect()
    }
}

/// Generates the typed messages of a dictionary.
///
/// # Errors
/// Returns everything in the dictionary that cannot be generated, not only the first.
pub fn generate(dictionary: &Dictionary, options: &Options) -> Result<Generated, Vec<GenerateError>> {
    let mut generated =
        generate_together(&[Version { module: String::new(), dictionary, transport: None }], options)?;
    Ok(generated.remove(0))
}

/// Returns what would have another name in the typed messages of a dictionary than its own in
/// Rust's case, without generating them.
///
/// # Errors
/// Returns everything in the dictionary that cannot be generated, as [`generate`] does.
pub fn check(dictionary: &Dictionary) -> Result<Vec<Renamed>, Vec<GenerateError>> {
    Plan::new(dictionary, None).map(|plan| plan.renamed().to_vec())
}

/// Generates the typed messages of several versions, whose modules are next to one another.
///
/// A code set, component or group that is identical in an earlier version is re-exported from
/// there. So is a message, if the earlier one is a dialect of the same version. Whether two
/// versions share a type depends only on these two versions, not on the others.
///
/// # Errors
/// Returns everything in the dictionaries that cannot be generated, not only the first.
///
/// # Panics
/// Panics if a transport is not one of the earlier versions.
pub fn generate_together(
    versions: &[Version<'_>],
    options: &Options,
) -> Result<Vec<Generated>, Vec<GenerateError>> {
    let mut shelf = Shelf::default();
    if let Some(base) = options.base {
        put_on_shelf(&mut shelf, base, &options.library)?;
    }
    let mut printed = Vec::new();
    for (n, version) in versions.iter().enumerate() {
        let mut plan = Plan::new(version.dictionary, options.base)?;
        if let Some(messages) = &options.messages {
            plan.select(messages)?;
        }
        let sessions = version.transport.as_ref().map(|transport| {
            let transport = versions[..n].iter().find(|version| version.module == *transport);
            sessions_of(transport.expect("a transport comes before the versions over it"))
        });
        let sorted = shelf.sort(&version.module, items(&plan), sessions.as_ref());

        let mut source = String::with_capacity(1 << 20);
        let out = &mut source;
        let name = names::in_a_line(&version.dictionary.version().name);
        line!(out, "// Generated from the dictionary of {name}; do not edit.");
        line!(out, "use {}::{{codec, typed}};", options.library);
        line!(out, "#[allow(unused_imports)] use {}::typed::{{Put as _, View as _}};", options.library);
        let begin_string = version.dictionary.version().begin_string.as_bytes().escape_ascii();
        line!(out, "/// BeginString (8) of the version.");
        line!(out, "pub const BEGIN_STRING: &[u8] = b\"{begin_string}\";");
        if let Some(version) = plan.version() {
            line!(
                out,
                "/// The version whose messages these are. [`dispatch`] and the views read no others."
            );
            line!(out, "pub const VERSION: codec::Version = codec::Version::{version:?};");
        }
        line!(out, "#[allow(dead_code)] const KNOWN: &[u32] = &[\n{}\n];", plan.known_tags());
        line!(
            out,
            "/// Values of fields that have codes: one type per code set, with a constant per code.\npub mod fields {{"
        );
        line!(out, "#[allow(unused_imports)] use super::{{codec, typed}};");
        sorted.print(out, ItemModule::Fields);
        alias::print_code_sets(out, &plan);
        line!(out, "}}");
        line!(
            out,
            "/// The tag of each field: it is read with it (`get`), and written (`bytes` and `field` of a `BodyWriter`).\npub mod tags {{"
        );
        line!(out, "#[allow(unused_imports)] use super::codec::Key;");
        sorted.print(out, ItemModule::Tags);
        line!(out, "}}");
        line!(
            out,
            "/// Members that several messages and groups share: one trait of getters and one of setters per component."
        );
        line!(out, "pub mod components {{");
        line!(out, "#[allow(unused_imports)] use super::{{codec, fields, groups, tags, typed}};");
        sorted.print(out, ItemModule::Components);
        line!(out, "}}");
        member::print_prelude(out, &plan);
        line!(out, "/// Entries of repeating groups: a view and a module with the writer for each group.");
        line!(out, "pub mod groups {{");
        line!(out, "#[allow(unused_imports)] use super::{{codec, components, fields, groups, typed}};");
        line!(out, "#[allow(unused_imports)] use super::typed::View as _;");
        sorted.print(out, ItemModule::Groups);
        entry::print_twins(out, &plan);
        line!(out, "}}");
        sorted.print(out, ItemModule::Root);
        alias::print_messages(out, &plan);
        handler::print(out, &plan);
        printed.push(Generated { source, renamed: plan.renamed().to_vec() });
    }
    Ok(printed)
}

/// Returns everything of a version that another one may have as well.
fn items(plan: &Plan<'_>) -> Vec<Item> {
    let mut items: Vec<Item> = codes::items(plan).collect();
    items.extend(member::tag_items(plan));
    items.extend(member::component_items(plan));
    items.extend(entry::items(plan));
    items.extend(message::header_items(plan));
    items.extend(message::items(plan));
    items
}

/// Puts the items of a shipped version on the shelf, under their place in the library. One over
/// FIXT.1.1 is compared with its header and session messages, as dialects have them.
fn put_on_shelf(shelf: &mut Shelf, base: BaseVersion, library: &str) -> Result<(), Vec<GenerateError>> {
    let shipped = fixbolt_dictionary::shipped(base);
    let over;
    let dictionary = if shipped.header().is_empty() {
        over = shipped.over(fixbolt_dictionary::fixt11()).expect("FIXT.1.1 carries the shipped versions");
        &over
    } else {
        shipped
    };
    let module = format!("{library}::{}", names::module_of(&shipped.version().name));
    shelf.sort(&module, items(&Plan::new(dictionary, None)?), None);
    Ok(())
}

/// Returns what versions over this one take from it.
fn sessions_of(version: &Version<'_>) -> Sessions {
    let naming = Naming::new(version.dictionary);
    let messages = version.dictionary.messages().iter();
    let messages = messages.map(|message| naming.message(&message.msg_type)[0].to_string());
    let own = ["Header", "HeaderWriter", "Trailer", "with_header"].map(String::from);
    Sessions { module: version.module.clone(), names: own.into_iter().chain(messages).collect() }
}

/// Appends a line. Writing to a `String` cannot fail.
macro_rules! line {
    ($out:expr, $($text:tt)*) => {{
        use std::fmt::Write as _;
        let _ = writeln!($out, $($text)*);
    }};
}
pub(crate) use line;
