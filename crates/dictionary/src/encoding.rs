//! Decodes the bytes of a dictionary file.
//!
//! Most files are UTF-8. Some venues use ISO-8859-1, and some editors save UTF-16. Nothing else is
//! guessed.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::read::{Faults, ReadError};

/// How the bytes of a dictionary file are text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// ISO-8859-1; Windows-1252 is read in the same way.
    Latin1,
    /// UTF-16, little-endian unless a byte order mark says otherwise.
    Utf16,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Encoding; 3] = [Encoding::Utf8, Encoding::Latin1, Encoding::Utf16];

    /// Returns the name as XML declarations have it.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Latin1 => "ISO-8859-1",
            Encoding::Utf16 => "UTF-16",
        }
    }

    /// Returns what the bytes say: UTF-16 if a byte order mark does, ISO-8859-1 if the XML
    /// declaration names it or Windows-1252 and the bytes are not UTF-8, else UTF-8.
    fn of(bytes: &[u8]) -> Encoding {
        match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Encoding::Utf16,
            _ if declares_latin(bytes) && std::str::from_utf8(bytes).is_err() => Encoding::Latin1,
            _ => Encoding::Utf8,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name is that of no supported encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownEncoding;

impl fmt::Display for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not one of UTF-8, ISO-8859-1, UTF-16")
    }
}

impl std::error::Error for UnknownEncoding {}

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    fn from_str(name: &str) -> Result<Encoding, UnknownEncoding> {
        let is = |encoding: &Encoding| encoding.name().eq_ignore_ascii_case(name);
        Encoding::ALL.into_iter().find(is).ok_or(UnknownEncoding)
    }
}

/// Returns the text of a dictionary file in this encoding, or else in the one that the bytes say.
///
/// # Errors
/// Returns an error with its line if a byte is not valid in the encoding.
pub(crate) fn decode(bytes: &[u8], encoding: Option<Encoding>) -> Result<Cow<'_, str>, Faults> {
    match encoding.unwrap_or_else(|| Encoding::of(bytes)) {
        Encoding::Utf8 => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            Faults::one(ReadError {
                line: u32::try_from(line).unwrap_or(u32::MAX),
                element: "document".to_string(),
                reason: format!(
                    "byte {} is not UTF-8: this is not a dictionary, or its encoding must be stated",
                    before.len()
                ),
            })
        }),
        Encoding::Latin1 => Ok(Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect())),
        Encoding::Utf16 => {
            let is_big = bytes.starts_with(&[0xfe, 0xff]);
            let rest = if is_big || bytes.starts_with(&[0xff, 0xfe]) { &bytes[2..] } else { bytes };
            let unit =
                |pair: [u8; 2]| if is_big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) };
            let (units, odd) = rest.as_chunks::<2>();
            let text = char::decode_utf16(units.iter().map(|pair| unit(*pair))).collect::<Result<_, _>>();
            match text {
                Ok(text) if odd.is_empty() => Ok(Cow::Owned(text)),
                _ => Err(Faults::of_document("the bytes are not UTF-16, although they should be")),
            }
        }
    }
}

/// Returns whether the XML declaration names a single-byte encoding that begins as ISO-8859-1 does.
fn declares_latin(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'>').next().unwrap_or_default();
    let first = String::from_utf8_lossy(&first[..first.len().min(200)]).to_ascii_lowercase();
    let named = first.split_once("encoding").map_or("", |(_, named)| named);
    let named = named.trim_start_matches([' ', '=', '"', '\'']);
    first.trim_start().starts_with("<?xml")
        && ["iso-8859-1", "iso8859-1", "latin1", "latin-1", "windows-1252", "cp1252"]
            .iter()
            .any(|name| named.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_is_read_in_both_orders() {
        let text = "<fix name='Zürich'/>";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&[&[0xff, 0xfe], &little[..]].concat(), None).unwrap(), text);
        assert_eq!(decode(&[&[0xfe, 0xff], &big[..]].concat(), None).unwrap(), text);
        assert!(decode(&[&[0xfe, 0xff, 0], &big[..]].concat(), None).is_err());
    }

    #[test]
    fn an_encoding_that_is_not_declared_is_not_guessed() {
        let error = decode(b"<?xml version='1.0' encoding='UTF-8'?>\n<!-- \xfc -->", None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: document: byte 44 is not UTF-8: this is not a dictionary, or its encoding must be stated"
        );
        assert!(decode(b"<?xml version='1.0' encoding='ISO-8859-15'?>\xa4", None).is_ok());
        assert!(decode(b"<?xml version='1.0' encoding='KOI8-R'?>\xa4", None).is_err());
    }

    #[test]
    fn an_encoding_that_is_stated_overrides_what_the_bytes_say() {
        let latin = b"<?xml version='1.0' encoding='UTF-8'?><!-- \xfc -->";
        assert!(decode(latin, Some(Encoding::Latin1)).unwrap().ends_with("<!-- \u{fc} -->"));
        assert_eq!(decode(b"a\0b\0", Some(Encoding::Utf16)).unwrap(), "ab");
        assert!(decode(b"\xff\xfea\0", Some(Encoding::Utf8)).is_err());
        assert_eq!("iso-8859-1".parse(), Ok(Encoding::Latin1));
        assert_eq!("KOI8-R".parse::<Encoding>(), Err(UnknownEncoding));
    }
}
