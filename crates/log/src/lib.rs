//! Reads FIX messages from the logs of any engine, and from Fixbolt's journals, with their places,
//! times and directions.
//!
//! A message begins at `8=FIX`; text before it on its line is the log's prefix. SOH may be written
//! as itself, as `|` (with or without spaces), `^A`, `^`, `\x01`, `\u0001`, `\001`, `<SOH>`,
//! `[SOH]`, `<01>` or U+2401, or as `;`, `~`, a tab or a space before a tag. So the message logs of
//! Fixbolt, QuickFIX, QuickFIX/J and quickfixgo are read, those of other engines that write a
//! message on a line, and what was copied out of them.
//!
//! A [`Reader`] finds messages and does not check them: for that they are indexed and validated. It
//! skips nothing that has content, and needs less than 100 MiB for a log, whatever is in it: larger
//! messages and longer lines are cut after 16 MiB. What is compressed, or in UTF-16, is not read.
//!
//! ```
//! use fixbolt_codec::Index;
//! use fixbolt_log::{Content, Reader};
//! use fixbolt_session::Direction;
//!
//! let log = "20261121-09:00:00.123 IN  8=FIX.4.2|9=5|35=0|10=161|
//! 20261121-09:00:07.001 OUT 8=FIX.4.2|9=5|35=1|10=162|
//! 20261121-09:00:09.500 OUT 8=FIX.4.2|9=50|35=0|10=161|
//! connection closed
//! ";
//! let (mut tags, mut spans) = ([0; 64], [Default::default(); 64]);
//! let mut seen = Vec::new();
//! let mut reader = Reader::new(log.as_bytes());
//! while let Some(entry) = reader.next()? {
//!     let what = match entry.content {
//!         Content::Message(framed) => match Index::new(&mut tags, &mut spans).build(framed) {
//!             Ok(message) => String::from_utf8_lossy(message.msg_type()).into_owned(),
//!             Err(error) => error.to_string(),
//!         },
//!         Content::Garbled { error, .. } => error.to_string(),
//!         _ => "text".to_owned(),
//!     };
//!     let is_ours = entry.direction() == Some(Direction::Outbound);
//!     seen.push((entry.line, entry.offset, is_ours, what));
//! }
//! let garbled = "BodyLength (9) is wrong: no CheckSum (10) at byte 65".to_owned();
//! assert_eq!(seen, [
//!     (Some(1), 26, false, "0".to_owned()),
//!     (Some(2), 79, true, "1".to_owned()),
//!     (Some(3), 132, true, garbled),
//!     (Some(4), 160, false, "text".to_owned()),
//! ]);
//! # Ok::<(), fixbolt_log::ReadError>(())
//! ```
#![forbid(unsafe_code)]

mod entry;
mod error;
mod form;
mod input;
mod journal;
mod prefix;
mod reader;
mod scan;

pub use entry::{Content, Entry, Time};
pub use error::ReadError;
pub use form::Form;
pub use prefix::Prefix;
pub use reader::Reader;
