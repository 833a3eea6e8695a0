//! Decodes the bytes of a dictionary file.
//!
//! Most files are UTF-8. Some venues use ISO-8859-1, and some editors save UTF-16. Nothing else is
//! guessed.

use std::borrow::Cow;

use crate::read::ReadError;

/// Returns the text of a dictionary file: UTF-16 if a byte order mark says so, ISO-8859-1 (or
/// Windows-1252, read in the same way) if the XML declaration does, else UTF-8.
///
/// # Errors
/// Returns an error with its line if a byte is not valid in the encoding.
///
/// ```
/// use fixbolt_dictionary::source_text;
/// assert_eq!(source_text(b"<fix/>").unwrap(), "<fix/>");
/// let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><!-- M\xfcller -->";
/// assert!(source_text(latin).unwrap().ends_with("<!-- Müller -->"));
/// assert_eq!(source_text(b"a\n\xff").unwrap_err().line, 2);
/// ```
pub fn source_text(bytes: &[u8]) -> Result<Cow<'_, str>, ReadError> {
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let (units, odd) = rest.as_chunks::<2>();
        let text = String::from_utf16(&units.iter().map(|pair| unit(*pair)).collect::<Vec<u16>>());
        match text {
            Ok(text) if odd.is_empty() => Ok(Cow::Owned(text)),
            _ => Err(ReadError::of_document(
                "the bytes are not UTF-16, although their byte order mark says so",
            )),
        }
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => return wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return wide(rest, u16::from_be_bytes),
        _ => {}
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) if declares_latin(bytes) => {
            Ok(Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()))
        }
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            Err(ReadError {
                line: u32::try_from(line).unwrap_or(u32::MAX),
                element: "document".to_string(),
                reason: format!("byte {} is not UTF-8; this is not a dictionary", before.len()),
            })
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
        assert_eq!(source_text(&[&[0xff, 0xfe], &little[..]].concat()).unwrap(), text);
        assert_eq!(source_text(&[&[0xfe, 0xff], &big[..]].concat()).unwrap(), text);
        assert!(source_text(&[&[0xfe, 0xff, 0], &big[..]].concat()).is_err());
    }

    #[test]
    fn an_encoding_that_is_not_declared_is_not_guessed() {
        let error = source_text(b"<?xml version='1.0' encoding='UTF-8'?>\n<!-- \xfc -->").unwrap_err();
        assert_eq!(error.to_string(), "line 2: document: byte 44 is not UTF-8; this is not a dictionary");
        assert!(source_text(b"<?xml version='1.0' encoding='ISO-8859-15'?>\xa4").is_ok());
        assert!(source_text(b"<?xml version='1.0' encoding='KOI8-R'?>\xa4").is_err());
    }
}
