//! Multi-byte text: EncodedText (355), EncodedIssuer (349) and the like, in the encoding that
//! MessageEncoding (347) in the header names. Behind the feature `encoding`.
//!
//! A message has one encoding for all of its Encoded fields. Other text is ISO 8859-1 whatever
//! field 347 says (FIX 4.2 and later, volume 1, "Encoded fields"). Supported are the four names of
//! the standard, in any case, and `ISO-8859-1`, the default without field 347.
//!
//! Nothing is guessed or lost: an unknown name, bytes that are not text of the encoding and a
//! character that the encoding lacks are errors, never a `?`. Encoding and decoding follow the
//! web's standard (crate `encoding_rs`): Shift_JIS is Microsoft's, and a character that would be
//! read back as another one (`¥` in Shift_JIS, halfwidth katakana in ISO-2022-JP) counts as
//! lacking.
//!
//! ```
//! use fixbolt_codec::{BodyWriter, DataKey, Key, MsgType};
//! use fixbolt_messages::encoding::Encoding;
//!
//! let mut memory = [0; 256];
//! let mut news = BodyWriter::new(MsgType::new(b"B"), &mut memory);
//! let encoding = Encoding::ShiftJis;
//! encoding.announce(&mut news);
//! news.bytes(Key::new(148), b"Toyota");
//! encoding.write(&mut news, DataKey::new(358, 359), "トヨタ")?;
//! assert_eq!(
//!     news.finish().unwrap().bytes,
//!     b"347=Shift_JIS\x01148=Toyota\x01358=6\x01359=\x83g\x83\x88\x83^\x01"
//! );
//! // Of a message that comes in: `Encoding::of(&message)?`.
//! assert_eq!(Encoding::from_name(b"SHIFT_JIS")?.decode(b"\x83g\x83\x88\x83^")?, "トヨタ");
//! # Ok::<(), fixbolt_messages::encoding::EncodingError>(())
//! ```
//!
//! With typed messages, the header comes first:
//!
//! ```
//! # #[cfg(feature = "fix44")] {
//! use fixbolt_codec::{EncodeError, Memory};
//! use fixbolt_messages::encoding::Encoding;
//! use fixbolt_messages::fix44::{self, News, fields::MessageEncoding, news};
//!
//! let text = Encoding::Utf8.encode("Größe").unwrap();
//! let mut memory = [0; 256];
//! let to = fix44::with_header(Memory(&mut memory), |header| {
//!     header.message_encoding(MessageEncoding::UTF8);
//! });
//! let required = news::Required { headline: "Size" };
//! // Without a group: News requires one with its lines (33).
//! let refused = News::send(to, required, |news| {
//!     news.encoded_headline(&text);
//! });
//! assert_eq!(refused.unwrap_err().tag.number(), 33);
//! # }
//! ```

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use encoding_rs::{EUC_JP, EncoderResult, ISO_2022_JP, SHIFT_JIS};
use fixbolt_codec::{BodyWriter, DataKey, Key, Message, Tag};

/// The encoding of a message's Encoded fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Encoding {
    /// ISO 8859-1: each byte is the character with its number. The default without MessageEncoding.
    #[default]
    Iso8859_1,
    /// UTF-8.
    Utf8,
    /// Shift_JIS, as Microsoft's code page 932.
    ShiftJis,
    /// EUC-JP. Characters of JIS X 0212 are read but not written.
    EucJp,
    /// ISO-2022-JP, which switches character sets with escape sequences.
    Iso2022Jp,
}

/// Why text could not be decoded or encoded.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EncodingError {
    /// MessageEncoding (347) names an unknown encoding.
    Unknown {
        /// The name in the message.
        name: Vec<u8>,
    },
    /// The bytes are not text of the encoding.
    Malformed {
        /// The encoding.
        encoding: Encoding,
    },
    /// The encoding has no such character.
    Unmappable {
        /// The encoding.
        encoding: Encoding,
        /// The first such character.
        character: char,
    },
}

impl Encoding {
    /// All supported encodings.
    pub const ALL: [Self; 5] = [Self::Iso8859_1, Self::Utf8, Self::ShiftJis, Self::EucJp, Self::Iso2022Jp];

    /// Returns the name of the encoding in MessageEncoding (347).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iso8859_1 => "ISO-8859-1",
            Self::Utf8 => "UTF-8",
            Self::ShiftJis => "Shift_JIS",
            Self::EucJp => "EUC-JP",
            Self::Iso2022Jp => "ISO-2022-JP",
        }
    }

    /// Returns the encoding with this name, in any case: later versions of the standard write
    /// `SHIFT_JIS`.
    ///
    /// # Errors
    /// Returns [`EncodingError::Unknown`] if there is no such encoding.
    pub fn from_name(name: &[u8]) -> Result<Self, EncodingError> {
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.name().as_bytes().eq_ignore_ascii_case(name))
            .ok_or_else(|| EncodingError::Unknown { name: name.to_vec() })
    }

    /// Returns the encoding of a message's Encoded fields: the one that its header names, or ISO
    /// 8859-1.
    ///
    /// # Errors
    /// Returns [`EncodingError::Unknown`] if the header names an unknown encoding.
    pub fn of(message: &Message<'_>) -> Result<Self, EncodingError> {
        message.get(MESSAGE_ENCODING).map_or(Ok(Self::default()), Self::from_name)
    }

    /// Decodes the text of a field.
    ///
    /// # Errors
    /// Returns [`EncodingError::Malformed`] if the bytes are not text of the encoding.
    pub fn decode(self, value: &[u8]) -> Result<Cow<'_, str>, EncodingError> {
        let web = match self {
            Self::Iso8859_1 if value.is_ascii() => None,
            Self::Iso8859_1 => return Ok(value.iter().copied().map(char::from).collect::<String>().into()),
            Self::Utf8 => None,
            Self::ShiftJis => Some(SHIFT_JIS),
            Self::EucJp => Some(EUC_JP),
            Self::Iso2022Jp => Some(ISO_2022_JP),
        };
        match web {
            None => core::str::from_utf8(value).ok().map(Cow::Borrowed),
            Some(web) => web.decode_without_bom_handling_and_without_replacement(value),
        }
        .ok_or(EncodingError::Malformed { encoding: self })
    }

    /// Encodes a text.
    ///
    /// # Errors
    /// Returns [`EncodingError::Unmappable`] for the first character that the encoding lacks.
    pub fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, EncodingError> {
        let web = match self {
            Self::Utf8 => return Ok(text.as_bytes().into()),
            Self::Iso8859_1 => {
                let byte = |character: char| u8::try_from(character).map_err(|_| self.lacks(character));
                return text.chars().map(byte).collect::<Result<Vec<u8>, _>>().map(Cow::Owned);
            }
            Self::ShiftJis => SHIFT_JIS,
            Self::EucJp => EUC_JP,
            Self::Iso2022Jp => ISO_2022_JP,
        };
        let mut encoder = web.new_encoder();
        // The longest result; a text for which this overflows does not fit into memory.
        let room = encoder.max_buffer_length_from_utf8_without_replacement(text.len()).unwrap_or(0);
        let mut bytes = Vec::with_capacity(room);
        if let (EncoderResult::Unmappable(character), _) =
            encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true)
        {
            return Err(self.lacks(character));
        }
        // Some characters are encoded as others: compare with what will be read.
        let back = self.decode(&bytes)?;
        match text.chars().zip(back.chars()).find(|(sent, read)| sent != read) {
            Some((character, _)) => Err(self.lacks(character)),
            None => Ok(bytes.into()),
        }
    }

    /// Writes MessageEncoding (347), a header field, before the body. Nothing is written for ISO
    /// 8859-1, which is the default.
    pub fn announce(self, body: &mut BodyWriter<'_>) {
        if self != Self::default() {
            body.bytes(Key::of(MESSAGE_ENCODING), self.name().as_bytes());
        }
    }

    /// Writes an Encoded field after its length field. Nothing is written if this fails.
    ///
    /// # Errors
    /// Returns [`EncodingError::Unmappable`] for the first character that the encoding lacks.
    /// Mistakes such as an empty or repeated field are recorded in the writer.
    pub fn write(self, body: &mut BodyWriter<'_>, key: DataKey, text: &str) -> Result<(), EncodingError> {
        body.data(key, &self.encode(text)?);
        Ok(())
    }

    const fn lacks(self, character: char) -> EncodingError {
        EncodingError::Unmappable { encoding: self, character }
    }
}

const MESSAGE_ENCODING: Tag = Tag::new(347);

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for EncodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => {
                write!(f, "MessageEncoding (347) '{}' is unknown; known are", name.escape_ascii())?;
                let mut separator = "";
                for encoding in Encoding::ALL {
                    write!(f, "{separator} {encoding}")?;
                    separator = ",";
                }
                Ok(())
            }
            Self::Malformed { encoding } => write!(f, "the bytes are not text in {encoding}"),
            Self::Unmappable { encoding, character } => {
                write!(f, "{encoding} has no character {character:?} (U+{:04X})", u32::from(*character))
            }
        }
    }
}

impl core::error::Error for EncodingError {}
