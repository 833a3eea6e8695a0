//! What an input is that is no text, by its first bytes: compressed, or in UTF-16.

use std::fmt;
use std::path::Path;

/// What an input is that is no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Compressed with gzip.
    Gzip,
    /// Compressed with bzip2.
    Bzip2,
    /// Compressed with xz.
    Xz,
    /// Compressed with Zstandard.
    Zstd,
    /// Text in UTF-16, with its byte order mark.
    Utf16,
}

impl Form {
    /// The most bytes that tell.
    pub const LONGEST: usize = 6;

    /// Returns what an input with these bytes at its beginning is; nothing if it may be text.
    pub const fn of(beginning: &[u8]) -> Option<Self> {
        Some(match beginning {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', ..] => Self::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Self::Utf16,
            _ => return None,
        })
    }

    /// Returns the command that writes the input as text to standard output: of a file, or of
    /// standard input.
    pub fn as_text(self, file: Option<&Path>) -> String {
        let command = match self {
            Self::Gzip => "zcat",
            Self::Bzip2 => "bzcat",
            Self::Xz => "xzcat",
            Self::Zstd => "zstdcat",
            Self::Utf16 => "iconv -f UTF-16 -t UTF-8",
        };
        match file {
            Some(file) => format!("{command} {}", quoted(&file.display().to_string())),
            None => command.to_owned(),
        }
    }
}

/// Shows the rest of "it is".
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "compressed with gzip",
            Self::Bzip2 => "compressed with bzip2",
            Self::Xz => "compressed with xz",
            Self::Zstd => "compressed with zstd",
            Self::Utf16 => "in UTF-16",
        })
    }
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:=@%".contains(&byte) || byte >= 0x80;
    if word.bytes().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_and_text_is_text() {
        for (beginning, form, command) in [
            (&b"\x1f\x8b\x08\0"[..], Form::Gzip, "zcat"),
            (b"BZh91AY&SY", Form::Bzip2, "bzcat"),
            (b"\xfd7zXZ\0\0", Form::Xz, "xzcat"),
            (b"\x28\xb5\x2f\xfd\x04", Form::Zstd, "zstdcat"),
            (b"\xff\xfe8\0=\0", Form::Utf16, "iconv -f UTF-16 -t UTF-8"),
            (b"\xfe\xff\08\0=", Form::Utf16, "iconv -f UTF-16 -t UTF-8"),
        ] {
            assert_eq!(Form::of(&beginning[..beginning.len().min(Form::LONGEST)]), Some(form));
            assert_eq!(form.as_text(None), command);
        }
        for text in [&b""[..], b"\x1f", b"8=FIX.4.2\x01", b"BZh9 is a name", b"(\xb5", b"\xef\xbb\xbf8=FIX"] {
            assert_eq!(Form::of(text), None);
        }
        assert_eq!(Form::Gzip.as_text(Some(Path::new("logs/x.log.gz"))), "zcat logs/x.log.gz");
        assert_eq!(Form::Gzip.as_text(Some(Path::new("a b's"))), r"zcat 'a b'\''s'");
    }
}
