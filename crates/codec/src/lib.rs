//! FIX tag=value bytes to fields and back: framing, index, field types, encoder. No allocation, no `std`.
//!
//! In: [`Framer`] cuts a stream into messages, [`Index`] finds their fields, [`FromField`] reads a value. Out: [`BodyWriter`]
//! writes fields into memory that a [`NewBody`] lends, [`Envelope`] puts number, times, BodyLength and CheckSum around them.
#![no_std]
#![deny(unsafe_code)]

mod body;
mod data_fields;
mod envelope;
mod framer;
mod index;
mod msg_type;
mod number;
mod types;

pub use body::{
    Body, BodySink, BodyWriter, EncodeError, EncodeErrorKind, Key, Memory, MemoryDraft, NewBody, OpenGroup,
};
pub use data_fields::DataFields;
pub use envelope::{BEGIN_STRING_LEN, COMP_ID_LEN, Envelope, NoHeadroom, Stamp, digits};
pub use framer::{Frame, FrameError, Framed, Framer};
pub use index::{Fault, FaultKind, Field, Index, IndexError, Message, Span, byte_sum};
pub use msg_type::{MsgType, is_admin};
pub use number::{SeqNum, Tag};
pub use types::{
    Char, Country, Currency, Date, DayOfMonth, Decimal, Digits, Exchange, FromField, Language, Length,
    LocalMktTime, MonthYear, MonthYearPart, MultipleCharValue, MultipleStringValue, NumInGroup, Precision,
    SecondCache, Tenor, TenorUnit, Text, ToField, TzTimeOnly, TzTimestamp, UtcTimeOnly, UtcTimestamp,
    ValueError, WideDecimal, Zone,
};
