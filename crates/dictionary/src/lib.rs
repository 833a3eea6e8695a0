//! FIX dictionaries: their model and readers, the shipped versions, and validation.
//!
//! A [`Dictionary`] describes one FIX version. It is read from QuickFIX XML, from FIX Orchestra, or
//! from the compact tables that this crate ships, and written as QuickFIX XML or such a table;
//! [`Dictionary::diff`] compares two. It contains only facts (numbers, names, types, code values,
//! structure) and no prose.
//!
//! FIX.5.0 and later have two layers: [`Dictionary::over`] puts an application version over
//! FIXT.1.1, and [`ApplicationVersions`] finds the version of each message in such a session.
//!
//! Nothing is guessed: a reference to something undefined is an error with element, line and
//! reason. The network, the file system and external XML entities are never accessed.
//!
//! ```
//! let fix44 = fixbolt_dictionary::fix44();
//! let side = fix44.field(54).expect("Side is defined");
//! assert_eq!(side.name, "Side");
//! assert_eq!(fix44.code(54, b"1").expect("1 is defined").display_name(), "BUY");
//! assert_eq!(fix44.message(b"D").expect("D is defined").name, "NewOrderSingle");
//! ```
#![forbid(unsafe_code)]

mod application_versions;
mod assemble;
mod compact;
mod compile;
mod data_type;
mod diff;
mod encoding;
mod locate;
mod model;
mod names;
mod options;
mod orchestra;
mod pedigree;
mod prune;
mod quickfix_xml;
mod quickfix_xml_writer;
mod read;
#[cfg(feature = "sample-messages")]
pub mod sample;
mod shipped;
mod transport;
mod validate;
mod vocabulary;
mod xml;

pub use application_versions::{
    ApplicationVersion, ApplicationVersions, Chosen, Direction, UnsupportedApplicationVersion,
};
pub use compile::compile;
pub use data_type::{DataType, UnionType};
pub use diff::{Difference, MemberPath, NamedTag, Only, Scope};
pub use encoding::source_text;
pub use fixbolt_codec::Version;
pub use locate::Definition;
pub use model::{
    Code, CodeSet, CodeSetId, ComponentDef, ComponentId, Dictionary, DictionaryVersion, FieldDef, FlatMember,
    GroupDef, GroupId, Member, MessageDef, Source,
};
pub use names::{field_names, message_names, upper_snake};
pub use options::ReadOptions;
pub use read::{ReadError, Warning};
pub use shipped::{
    fix_latest, fix40, fix41, fix42, fix43, fix44, fix50, fix50sp1, fix50sp2, fixt11, shipped,
};
pub use transport::TransportMismatch;
pub use validate::{
    Action, Check, Policy, RefTag, Requirements, Scratch, Section, SessionRejectReason, TypeRules, Validator,
    Violation,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
