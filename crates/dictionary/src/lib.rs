//! FIX dictionaries: their model and readers, the shipped versions, and validation.
//!
//! A [`Dictionary`] describes one FIX version. A `Source` loads it from QuickFIX XML, FIX
//! Orchestra, or a compact table as this crate ships them. It contains only facts (numbers, names,
//! types, code values, structure) and no prose.
//!
//! FIX.5.0 and later have two layers: a [`DictionarySet`] holds a transport and the application
//! versions over it, and [`ApplicationVersions`] finds the version of each message in a session.
//!
//! Nothing is guessed: a reference to something undefined is an error with element, line and
//! reason. The network and external XML entities are never accessed, and of the file system only
//! the files that a `Source` names.
//!
//! ```
//! let fix44 = fixbolt_dictionary::fix44();
//! let side = fix44.field(54).expect("Side is defined");
//! assert_eq!(side.name, "Side");
//! assert_eq!(fix44.code(54, b"1").expect("1 is defined").display_name(), "BUY");
//! assert_eq!(fix44.message(b"D").expect("D is defined").name, "NewOrderSingle");
//! ```
//! # Features
//! - `files`, which is on by default: `Source`, dictionaries from files and texts. The shipped
//!   versions do not need it.
//! - `validation`, which is on by default: `Validator`, and what it is told. What generates code
//!   does not need it.
//!
//! A program that exchanges messages does not need the others:
//! - `compare`: `Dictionary::diff`, the differences between two dictionaries;
//! - `export`: `Dictionary::to_quickfix_xml` and `Dictionary::to_table`, a dictionary as text;
//! - `sample-messages`: a valid message of each type, for tests.
#![forbid(unsafe_code)]
// What the readers of files share with that of the shipped versions, and what validators read.
#![cfg_attr(not(all(feature = "files", feature = "validation")), allow(dead_code))]

mod application_versions;
mod assemble;
mod compact;
#[cfg(feature = "export")]
mod compact_writer;
#[cfg(feature = "export")]
mod corrections;
mod data_type;
#[cfg(feature = "compare")]
mod diff;
#[cfg(feature = "files")]
mod encoding;
#[cfg(feature = "files")]
mod hidden;
mod limits;
mod loaded;
mod locate;
mod model;
mod names;
#[cfg(feature = "files")]
mod orchestra;
#[cfg(feature = "files")]
mod pedigree;
mod prune;
#[cfg(feature = "files")]
mod quickfix_xml;
#[cfg(feature = "export")]
mod quickfix_xml_writer;
mod read;
#[cfg(feature = "validation")]
mod reject_codes;
#[cfg(feature = "sample-messages")]
pub mod sample;
mod set;
mod shipped;
#[cfg(feature = "files")]
mod source;
mod terms;
mod transport;
#[cfg(feature = "validation")]
mod validate;
#[cfg(feature = "files")]
mod vocabulary;
#[cfg(feature = "files")]
mod xml;

pub use application_versions::{
    ApplicationVersion, ApplicationVersions, Chosen, Direction, UnsupportedApplicationVersion,
};
pub use data_type::{DataType, UnionType};
#[cfg(feature = "compare")]
pub use diff::{Difference, MemberPath, NamedTag, Only, Scope};
#[cfg(feature = "files")]
pub use encoding::{Encoding, UnknownEncoding};
pub use fixbolt_codec::Version;
pub use loaded::Loaded;
pub use locate::Definition;
pub use model::{
    Code, CodeSet, CodeSetId, ComponentDef, ComponentId, Dictionary, DictionaryVersion, FieldDef, FlatMember,
    GroupDef, GroupId, Member, MessageDef, Origin,
};
pub use names::{field_names, message_names, upper_snake};
pub use read::{Faults, ReadError, Warning};
#[cfg(feature = "validation")]
pub use reject_codes::{BusinessRejectCode, SessionRejectCode};
pub use set::DictionarySet;
pub use shipped::{
    fix_latest, fix40, fix41, fix42, fix43, fix44, fix50, fix50sp1, fix50sp2, fixt11, shipped,
};
#[cfg(feature = "files")]
pub use source::{LoadError, Source};
pub use terms::{Presence, Rule, Scenario, Terms};
pub use transport::TransportMismatch;
#[cfg(feature = "validation")]
pub use validate::{
    Action, Check, CodeRules, EntryOrder, ExpectedOrder, Policy, RefTag, Requirements, Scratch, Section,
    TypeRules, Validator, Violation,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
