//! Wire bytes as text, with secrets masked: for `Debug`, logs and error messages.

use core::fmt::{self, Write};
use core::ops::Range;

use crate::frame::{Framed, TRAILER_LEN};
use crate::index::byte_sum;
use crate::message::Message;
use crate::secrets::{SecretRanges, Secrets};

/// Shows wire bytes as text: SOH as `|`, bytes outside printable ASCII as `\xNN`, and `***` in
/// place of secrets.
///
/// Secrets are what [`is_secret`] says. Bytes that are a whole message, with the right BodyLength
/// and CheckSum, are read as its fields ([`Secrets::in_message`]). In any other, whatever may be a
/// secret is masked ([`Secrets::in_garbled`]), and so is RawData (96). `Display` and `Debug` write
/// the same text.
///
/// If the bytes begin inside a value, that value has no tag and is shown.
///
/// ```
/// use fixbolt_codec::Redacted;
///
/// let garbled = b"35=A\x01553=trader\x01554=open sesame\x0158=caf\xe9\x0110=";
/// assert_eq!(Redacted(garbled).to_string(), r"35=A|553=trader|554=***|58=caf\xe9|10=");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Redacted<'b>(pub &'b [u8]);

impl fmt::Display for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = if is_message(self.0) {
            Secrets::STANDARD.in_message(self.0)
        } else {
            Secrets::STANDARD.in_garbled(self.0)
        };
        write_bytes(f, self.0, hidden)
    }
}

impl fmt::Debug for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Bytes that a framer found to be no message. Those that `continue` others may be the rest of a
/// secret, and are not shown.
pub(crate) struct RedactedGarbled<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) continues: bool,
}

impl fmt::Debug for RedactedGarbled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.continues {
            return f.write_str("***");
        }
        write_bytes(f, self.bytes, Secrets::STANDARD.in_garbled(self.bytes))
    }
}

/// The bytes of a body, which do not include MsgType.
pub(crate) struct RedactedBody<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) msg_type: &'b [u8],
}

impl fmt::Debug for RedactedBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bytes(f, self.bytes, Secrets::STANDARD.in_body(self.bytes, self.msg_type == b"A"))
    }
}

/// Fields of a message, whose index says where values end.
pub(crate) struct RedactedFields<'m> {
    pub(crate) message: Message<'m>,
    pub(crate) positions: Range<usize>,
}

impl fmt::Display for RedactedFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message;
        let mut hidden = Secrets::STANDARD.in_message(message.bytes()).peekable();
        for position in self.positions.clone() {
            let (value, field) = (message.span(position), message.field_bytes(position));
            let start = value.end() - field.len();
            while hidden.next_if(|range| range.end <= start).is_some() {}
            // The index may know other data fields.
            let by_tag = is_secret(message.tags()[position], Some(message.msg_type()));
            match hidden.peek().filter(|range| range.start < value.end()) {
                // A part of the secret before it.
                Some(range) if range.start <= start => continue,
                Some(range) if !by_tag => write_escaped(f, &message.bytes()[start..range.start])?,
                _ if by_tag => write_escaped(f, &message.bytes()[start..value.start()])?,
                _ => {
                    write_escaped(f, field)?;
                    f.write_char('|')?;
                    continue;
                }
            }
            f.write_str("***|")?;
        }
        Ok(())
    }
}

impl fmt::Debug for RedactedFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns whether the value of a field is a secret by the standard: Password (554), NewPassword
/// (925), EncryptedPassword (1402) and EncryptedNewPassword (1404), and RawData (96) in a Logon.
/// With `None`, `msg_type` is not known and may be that of a Logon.
#[must_use]
#[inline]
pub fn is_secret(tag: u32, msg_type: Option<&[u8]>) -> bool {
    matches!(tag, 554 | 925 | 1402 | 1404) || tag == 96 && msg_type.is_none_or(|msg_type| msg_type == b"A")
}

pub(crate) fn write_masked(f: &mut fmt::Formatter<'_>, tag: u32) -> fmt::Result {
    write!(f, "{tag}=***")
}

pub(crate) fn write_escaped(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| match byte {
        b' '..=b'~' => f.write_char(char::from(*byte)),
        _ => write!(f, "\\x{byte:02x}"),
    })
}

/// Writes a value that may be data, in which a secret may be after an SOH.
pub(crate) fn write_data(f: &mut fmt::Formatter<'_>, value: &[u8]) -> fmt::Result {
    let first = value.iter().position(|byte| *byte == 1).unwrap_or(value.len());
    let (value, rest) = value.split_at(first);
    write_escaped(f, value)?;
    write_masking(f, rest, Secrets::STANDARD.in_garbled(rest), write_escaped)
}

fn write_bytes(f: &mut fmt::Formatter<'_>, bytes: &[u8], hidden: SecretRanges<'_, '_>) -> fmt::Result {
    write_masking(f, bytes, hidden, write_fields)
}

/// Writes `***` for what is hidden, and the rest by `write`.
fn write_masking(
    f: &mut fmt::Formatter<'_>,
    bytes: &[u8],
    hidden: SecretRanges<'_, '_>,
    write: fn(&mut fmt::Formatter<'_>, &[u8]) -> fmt::Result,
) -> fmt::Result {
    let mut at = 0;
    for range in hidden {
        write(f, &bytes[at..range.start])?;
        f.write_str("***")?;
        at = range.end;
    }
    write(f, &bytes[at..])
}

/// Writes bytes with `|` for SOH.
fn write_fields(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    let mut fields = bytes.split(|byte| *byte == 1);
    write_escaped(f, fields.next().unwrap_or_default())?;
    fields.try_for_each(|field| {
        f.write_char('|')?;
        write_escaped(f, field)
    })
}

/// Returns whether bytes are one message: the standard calls it garbled for BeginString,
/// BodyLength, MsgType and CheckSum.
fn is_message(bytes: &[u8]) -> bool {
    Framed::try_new(bytes).is_ok_and(|framed| {
        let (before, trailer) = bytes.split_at(bytes.len() - TRAILER_LEN);
        let digits = &trailer[3..6];
        before[framed.body_start()..].starts_with(b"35=")
            && digits.iter().fold(0, |n, d| n * 10 + u16::from(d - b'0')) == u16::from(byte_sum(before))
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::format;
    use std::string::ToString;

    use super::*;

    #[test]
    fn passwords_are_masked_in_bytes_that_are_no_message() {
        for (bytes, shown) in [
            (&b"554=s\x01925=n\x01"[..], "554=***|925=***|"),
            (b"554=s", "554=***"),
            (b"1401=1\x011402=e\x011403=3\x011404=n\x01w\x01", "1401=1|1402=***|1403=3|1404=***|"),
            (b"0554=s\x01", "0554=***|"),
            (b"x\x01=\x01554=s", "x|=|554=***"),
            (b"35=A| 554=secret\x0158=x", "35=A| 554=***|58=x"),
            (b"^A925=secret^A\x0158=x", "^A925=***|58=x"),
            (b"554=s\x01ecret\x0158=x", "554=***|***|58=x"),
            (b"554\x01554=", "554|554=***"),
            (b"99999999999999999999=1|2\\\x00\x7f", r"99999999999999999999=1|2\\x00\x7f"),
            (b"", ""),
        ] {
            assert_eq!(Redacted(bytes).to_string(), shown);
            assert_eq!(format!("{:?}", Redacted(bytes)), shown);
        }
    }

    #[test]
    fn raw_data_is_masked_in_a_logon_and_where_the_message_is_not_known() {
        for (bytes, shown) in [
            (&b"35=A\x0195=3\x0196=abc\x0158=x\x01"[..], "35=A|95=3|96=***|58=x|"),
            // What says that it is News may be what is garbled.
            (b"35=B\x0195=3\x0196=abc\x01", "35=B|95=3|96=***|"),
            (b"96=abc\x01", "96=***"),
            // A secret that contains SOH, and lengths that are wrong or too large.
            (b"35=A\x0195=5\x0196=ab\x01cd\x0158=x\x01", "35=A|95=5|96=***|58=x|"),
            (b"35=A\x0195=2\x0196=abcd\x0158=x\x01", "35=A|95=2|96=***"),
            (b"35=A\x0195=99\x0196=ab\x01cd\x0158=x\x01", "35=A|95=99|96=***"),
            (b"35=A\x0195=18446744073709551615\x0196=ab", "35=A|95=18446744073709551615|96=***"),
            (b"35=A\x0195=4\x0158=x\x0196=ab\x0158=x", "35=A|95=4|58=x|96=***"),
        ] {
            assert_eq!(Redacted(bytes).to_string(), shown);
        }
    }

    #[test]
    fn a_whole_message_is_read_by_its_lengths_and_garbled_bytes_are_not() {
        for (msg_type, shown) in [("B", "96=a|554=b"), ("A", "96=***")] {
            let body = format!("35={msg_type}\x0195=7\x0196=a\x01554=b\x0158=x\x01");
            let message = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
            let message = format!("{message}10={:03}\x01", byte_sum(message.as_bytes()));
            let text = Redacted(message.as_bytes()).to_string();
            assert!(text.contains(&format!("|35={msg_type}|95=7|{shown}|58=x|10=")), "{text}");
            for garbled in [message.replace("10=", "10=9"), message.replace("\x0135=", "\x0134=1\x0135=")] {
                let text = Redacted(garbled.as_bytes()).to_string();
                assert!(text.contains("|95=7|96=***|58=x|10="), "{text}");
            }
        }
    }
}
