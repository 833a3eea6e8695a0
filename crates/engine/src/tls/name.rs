//! The name of a certificate's subject (X.501), as one line: RFC 4514, with the escapes that
//! OpenSSL makes by default. Whoever chose the name can neither begin another line nor write an
//! attribute that the certificate does not have.

use core::fmt::{self, Write};

use super::der::element;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT: u8 = 0x06;
/// id-at-commonName, 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// The most bytes of a name that are shown.
const LONGEST: usize = 512;

/// The attributes with a name of their own (RFC 4514, section 3, and the common ones besides).
const ATTRIBUTES: [(&[u8], &str); 13] = [
    (COMMON_NAME, "CN"),
    (&[0x55, 0x04, 0x04], "SN"),
    (&[0x55, 0x04, 0x05], "serialNumber"),
    (&[0x55, 0x04, 0x06], "C"),
    (&[0x55, 0x04, 0x07], "L"),
    (&[0x55, 0x04, 0x08], "ST"),
    (&[0x55, 0x04, 0x09], "STREET"),
    (&[0x55, 0x04, 0x0a], "O"),
    (&[0x55, 0x04, 0x0b], "OU"),
    (&[0x55, 0x04, 0x2a], "GN"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x01], "emailAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x01], "UID"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x19], "DC"),
];

/// A subject, by the contents of its SEQUENCE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'n>(pub(super) &'n [u8]);

/// An attribute of a name.
struct Attribute<'n> {
    kind: &'n [u8],
    value: &'n [u8],
}

impl<'n> Name<'n> {
    /// Returns the first common name, as its bytes.
    pub(super) fn common_name(self) -> Option<&'n [u8]> {
        let parts = self.parts()?;
        let mut attributes = parts.iter().flatten();
        attributes.find(|attribute| attribute.kind == COMMON_NAME).map(|attribute| attribute.value)
    }

    /// Returns the attributes of each part, in the order of the certificate; `None` if it is none.
    fn parts(self) -> Option<Vec<Vec<Attribute<'n>>>> {
        let (mut name, mut parts) = (self.0, Vec::new());
        while !name.is_empty() {
            let (SET, mut set, rest) = element(name)? else { return None };
            let mut part = Vec::new();
            while !set.is_empty() {
                let (SEQUENCE, attribute, others) = element(set)? else { return None };
                let (OBJECT, kind, value) = element(attribute)? else { return None };
                part.push(Attribute { kind, value: element(value)?.1 });
                set = others;
            }
            parts.push(part);
            name = rest;
        }
        Some(parts)
    }
}

/// Shows the attributes, the last one first, each as `CN=TRADER`: printable ASCII, at most 512
/// bytes of it.
impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parts) = self.parts() else { return f.write_str("(unreadable)") };
        let mut text = String::new();
        for (n, part) in parts.iter().rev().enumerate() {
            for (m, Attribute { kind, value }) in part.iter().enumerate() {
                if text.len() > LONGEST {
                    break;
                }
                text.push_str(match (n, m) {
                    (0, 0) => "",
                    (_, 0) => ",",
                    _ => "+",
                });
                match ATTRIBUTES.iter().find(|(known, _)| known == kind) {
                    Some((_, name)) => text.push_str(name),
                    None => write_oid(&mut text, kind)?,
                }
                text.push('=');
                write_value(&mut text, value)?;
            }
        }
        if text.len() > LONGEST {
            // It is ASCII.
            text.truncate(LONGEST);
            text.push_str("...");
        }
        f.write_str(&text)
    }
}

fn write_oid(text: &mut String, oid: &[u8]) -> fmt::Result {
    let mut number: u64 = 0;
    let mut is_first = true;
    for byte in oid.iter().take(LONGEST) {
        // A number that is too large for anybody is shown as the largest.
        number = number.saturating_mul(128).saturating_add(u64::from(byte & 0x7f));
        if byte & 0x80 == 0 {
            if core::mem::take(&mut is_first) {
                let first = (number / 40).min(2);
                write!(text, "{first}.{}", number - 40 * first)?;
            } else {
                write!(text, ".{number}")?;
            }
            number = 0;
        }
    }
    Ok(())
}

/// Writes a value with the escapes of RFC 4514, section 2.4, and whatever is not printable ASCII as
/// hexadecimal digits.
fn write_value(text: &mut String, value: &[u8]) -> fmt::Result {
    for (n, byte) in value.iter().enumerate().take(LONGEST) {
        let is_edge = n == 0 || n + 1 == value.len();
        match byte {
            b'"' | b'+' | b',' | b';' | b'<' | b'=' | b'>' | b'\\' => {
                write!(text, "\\{}", char::from(*byte))?
            }
            b' ' if is_edge => text.push_str("\\ "),
            b'#' if n == 0 => text.push_str("\\#"),
            b' '..=b'~' => text.push(char::from(*byte)),
            other => write!(text, "\\{other:02X}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a subject with these attributes.
    fn subject(attributes: &[(&[u8], &[u8])]) -> Vec<u8> {
        let element = |tag: u8, contents: &[u8]| {
            let length = u16::try_from(contents.len()).unwrap().to_be_bytes();
            [&[tag, 0x82], &length[..], contents].concat()
        };
        let part = |(kind, value): &(&[u8], &[u8])| {
            let attribute = [element(OBJECT, kind), element(0x0c, value)].concat();
            element(SET, &element(SEQUENCE, &attribute))
        };
        attributes.iter().flat_map(part).collect()
    }

    fn shown(attributes: &[(&[u8], &[u8])]) -> String {
        Name(&subject(attributes)).to_string()
    }

    #[test]
    fn a_subject_is_shown_as_in_rfc_4514() {
        let (country, organization) = (&[0x55, 0x04, 0x06], &[0x55, 0x04, 0x0a]);
        let subject = shown(&[(country, b"DE"), (organization, b"A firm"), (COMMON_NAME, b"TRADER")]);
        assert_eq!(subject, "CN=TRADER,O=A firm,C=DE");
        assert_eq!(shown(&[(&[0x2b, 0x06, 0x01, 0x84, 0x01], b"x")]), "1.3.6.1.513=x");
        assert_eq!(shown(&[]), "");
        assert_eq!(Name(b"no name").to_string(), "(unreadable)");
    }

    #[test]
    fn a_hostile_subject_is_one_line_of_printable_ascii_and_bounded() {
        let line = "X\r\n2026-01-01T00:00:00Z error: \x1b[31mbroken, serial 00\0\u{202e}\u{85}\u{2028}";
        assert_eq!(
            shown(&[(COMMON_NAME, line.as_bytes())]),
            "CN=X\\0D\\0A2026-01-01T00:00:00Z error: \\1B[31mbroken\\, serial 00\\00\\E2\\80\\AE\\C2\\85\\E2\\80\\A8"
        );
        assert_eq!(shown(&[(COMMON_NAME, b" #a+O=b\"\\ ")]), "CN=\\ #a\\+O\\=b\\\"\\\\\\ ");
        let long = [b'x'; 3000];
        for attributes in [vec![(COMMON_NAME, &long[..]); 3], vec![(&long[..2000], &b"x"[..])]] {
            let text = shown(&attributes);
            assert!(text.len() <= LONGEST + 3 && text.ends_with("..."), "{} bytes", text.len());
        }
    }

    #[test]
    fn a_cut_subject_is_no_reason_to_panic() {
        let whole = subject(&[(COMMON_NAME, b"TRADER"), (&[0x2b, 0x86], b"x")]);
        for length in 0..whole.len() {
            let name = Name(&whole[..length]);
            let _ = (name.to_string(), name.common_name());
        }
    }
}
