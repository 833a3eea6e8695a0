//! Wire bytes as text, with secrets masked: for `Debug`, logs and error messages.

use core::fmt::{self, Write};
use core::ops::Range;

use crate::data_fields::DataFields;
use crate::message::Message;

/// Shows wire bytes as text: SOH as `|`, bytes outside printable ASCII as `\xNN`, and `***` in
/// place of secrets.
///
/// Secrets are what [`is_secret`] says, and RawData (96) where no MsgType (35) precedes it.
/// `Display` and `Debug` write the same text.
///
/// The bytes need not be a message. If they begin inside a value, that value has no tag and is
/// shown.
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
        write_bytes(f, self.0, None)
    }
}

impl fmt::Debug for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The bytes of a body, which do not include MsgType.
pub(crate) struct RedactedBody<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) msg_type: &'b [u8],
}

impl fmt::Debug for RedactedBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bytes(f, self.bytes, Some(self.msg_type))
    }
}

/// Fields of a message, whose index says where values end.
pub(crate) struct RedactedFields<'m> {
    pub(crate) message: Message<'m>,
    pub(crate) positions: Range<usize>,
}

impl fmt::Display for RedactedFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for position in self.positions.clone() {
            let field = self.message.field_bytes(position);
            match tag_of(field).filter(|tag| is_secret(*tag, Some(self.message.msg_type()))) {
                Some(tag) => write_masked(f, tag)?,
                None => write_escaped(f, field)?,
            }
            f.write_char('|')?;
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

fn write_bytes(f: &mut fmt::Formatter<'_>, bytes: &[u8], msg_type: Option<&[u8]>) -> fmt::Result {
    let (mut rest, mut msg_type) = (bytes, msg_type);
    // The data field that the field before announces, and the length of its value.
    let mut announced: Option<(u32, usize)> = None;
    while !rest.is_empty() {
        let first_soh = soh_from(rest, 0);
        let field = &rest[..first_soh];
        let tag = tag_of(field);
        let value = field.iter().position(|byte| *byte == b'=').map_or(first_soh, |equals| equals + 1);
        let length =
            announced.take().filter(|(data_tag, _)| tag == Some(*data_tag)).map(|(_, length)| length);
        let end = match tag.filter(|tag| is_secret(*tag, msg_type)) {
            Some(secret) => {
                write_masked(f, secret)?;
                // A secret may hold SOH. Its length may be wrong: it reaches to the end of a field
                // at least.
                soh_from(rest, value.saturating_add(length.unwrap_or(0)))
            }
            None => {
                write_escaped(f, field)?;
                first_soh
            }
        };
        match tag {
            Some(35) => msg_type = Some(&field[value..]),
            Some(tag) => {
                let data_tag = DataFields::STANDARD.data_tag(tag);
                announced = data_tag.and_then(|data_tag| Some((data_tag, decimal(&field[value..])?)));
            }
            None => {}
        }
        if end < rest.len() {
            f.write_char('|')?;
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Ok(())
}

/// Returns the position of the first SOH at or after `from`, or the length.
fn soh_from(bytes: &[u8], from: usize) -> usize {
    let from = from.min(bytes.len());
    bytes[from..].iter().position(|byte| *byte == 1).map_or(bytes.len(), |at| from + at)
}

/// Returns the tag before `=`. It is less strict than the index: a leading zero must not reveal a
/// secret.
fn tag_of(field: &[u8]) -> Option<u32> {
    let equals = field.iter().position(|byte| *byte == b'=')?;
    decimal(&field[..equals]).and_then(|tag| u32::try_from(tag).ok())
}

fn decimal(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0_usize, |n, digit| {
        let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
        n.checked_mul(10)?.checked_add(digit)
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
            (b"0554=s\x01", "554=***|"),
            (b"x\x01=\x01554=s", "x|=|554=***"),
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
            (b"35=B\x0195=3\x0196=abc\x01", "35=B|95=3|96=abc|"),
            (b"96=abc\x01", "96=***|"),
            // A secret that contains SOH, and lengths that are wrong or too large.
            (b"35=A\x0195=5\x0196=ab\x01cd\x0158=x\x01", "35=A|95=5|96=***|58=x|"),
            (b"35=A\x0195=2\x0196=abcd\x0158=x\x01", "35=A|95=2|96=***|58=x|"),
            (b"35=A\x0195=99\x0196=ab\x01cd\x0158=x\x01", "35=A|95=99|96=***"),
            (b"35=A\x0195=18446744073709551615\x0196=ab", "35=A|95=18446744073709551615|96=***"),
            (b"35=A\x0195=4\x0158=x\x0196=ab\x0158=x", "35=A|95=4|58=x|96=***|58=x"),
        ] {
            assert_eq!(Redacted(bytes).to_string(), shown);
        }
    }
}
