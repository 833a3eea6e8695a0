//! FIX tag=value bytes to fields and back: framing, index, field types, encoder. No allocation, no `std`.
//!
//! In: [`Framer`] cuts a stream into messages, [`Index`] finds their fields, [`FromField`] reads a value. Out: [`BodyWriter`]
//! writes fields into memory that a [`NewBody`] lends, [`Envelope`] puts number, times, BodyLength and CheckSum around them.
//!
//! The standard's data types and what reads and writes them:
//!
//! | FIX | here |
//! |---|---|
//! | int | `i64`, or `u64` and `u32` where the program wants nothing below 0 |
//! | Length, TagNum, SeqNum, NumInGroup, DayOfMonth | [`Length`], [`Tag`], [`SeqNum`], [`NumInGroup`], [`DayOfMonth`] |
//! | float, Qty, Price, PriceOffset, Amt, Percentage | [`Decimal`]; [`WideDecimal`] for up to 38 digits, [`Digits`] beyond |
//! | char, Boolean | [`Char`], `bool` |
//! | String, XID, XIDREF; CHAR of FIX.4.0 and 4.1 | [`Text`] |
//! | MultipleCharValue, MultipleStringValue, MultipleValueString | [`MultipleCharValue`], [`MultipleStringValue`] for both others |
//! | Country, Currency, Exchange, Language | the types of these names |
//! | MonthYear | [`MonthYear`] |
//! | UTCTimestamp (TIME), UTCTimeOnly | [`UtcTimestamp`], [`UtcTimeOnly`] |
//! | UTCDateOnly (UTCDate), LocalMktDate (DATE) | [`Date`] |
//! | LocalMktTime, TZTimeOnly, TZTimestamp | [`LocalMktTime`], [`TzTimeOnly`], [`TzTimestamp`] |
//! | data, XMLData | `&[u8]`, written together with their length by [`BodyWriter::data`] |
//! | Tenor | [`Tenor`] |
//! | Reserved100Plus and the like, Qty beside codes | the code's type; the dictionary's validation knows the union |
//!
//! Features, both off by default and without effect on anything else: `f64` (conversions of decimals from and to binary
//! fractions), `rust_decimal` (from and to that crate's decimals).
#![no_std]
#![deny(unsafe_code)]

mod body;
mod body_writer;
mod copy_value;
mod data_fields;
mod encode_error;
mod envelope;
mod field_error;
mod frame;
mod framer;
mod head;
mod index;
mod key;
mod look_up;
mod message;
mod msg_type;
mod number;
mod redacted;
mod scan;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod simd;
mod tier;
mod types;
mod version;

pub use body::{Body, BodySink, Memory, MemoryDraft, NewBody};
pub use body_writer::{BodyWriter, OpenGroup};
pub use data_fields::DataFields;
pub use encode_error::{EncodeError, EncodeErrorKind};
pub use envelope::{BEGIN_STRING_LEN, COMP_ID_LEN, Envelope, NoHeadroom, Stamp, digits};
pub use field_error::{FieldError, FieldErrorKind, WrongMsgType};
pub use frame::{Frame, FrameError, Framed};
pub use framer::{Framer, Recovery};
pub use index::{Fault, FaultKind, Index, IndexError, Span, byte_sum};
pub use key::Key;
pub use look_up::find_tag;
pub use message::{Field, Message};
pub use msg_type::{MsgType, is_admin};
pub use number::{SeqNum, Tag};
pub use redacted::Redacted;
pub use tier::{Tier, TierError};
pub use types::{
    Char, Country, Currency, Date, DayOfMonth, Decimal, Digits, Exchange, FromField, Language, Length,
    LocalMktTime, MonthYear, MonthYearPart, MultipleCharValue, MultipleStringValue, NumInGroup, Precision,
    Rounding, SecondCache, Tenor, TenorUnit, Text, ToField, TzTimeOnly, TzTimestamp, UtcTimeOnly,
    UtcTimestamp, ValueError, WideDecimal, Zone,
};
pub use version::{UnknownVersion, Version};
