//! Pins: which public key a counterparty has, whoever signs its certificates.

use core::fmt;
use core::str::FromStr;

/// The SHA-256 of a certificate's public key (its SubjectPublicKeyInfo, as in RFC 7469).
///
/// It stays the same when the certificate is renewed with the same key. As text it is 64
/// hexadecimal digits, or 44 characters of Base64, with or without `sha256/` before it:
///
/// ```console
/// $ openssl x509 -in certificate.pem -pubkey -noout |
///       openssl pkey -pubin -outform der | openssl dgst -sha256
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyPin([u8; 32]);

impl KeyPin {
    /// Creates a pin from the digest.
    #[must_use]
    pub const fn new(sha256: [u8; 32]) -> Self {
        Self(sha256)
    }
}

/// Shows hexadecimal digits.
impl fmt::Display for KeyPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPin({self})")
    }
}

impl FromStr for KeyPin {
    type Err = InvalidPin;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.strip_prefix("sha256/").unwrap_or(text).as_bytes();
        let bytes = match text.len() {
            64 => digits(text, 4, hexadecimal),
            44 => text.strip_suffix(b"=").and_then(|text| digits(text, 6, base64)),
            _ => None,
        };
        bytes.map(Self).ok_or(InvalidPin)
    }
}

/// Returns 32 bytes from digits of `bits` bits each; `None` if one is not a digit, or bits are left
/// over that are not 0.
fn digits(text: &[u8], bits: u32, value: fn(u8) -> Option<u8>) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let (mut at, mut held, mut count) = (0, 0_u32, 0);
    for digit in text {
        (held, count) = (held << bits | u32::from(value(*digit)?), count + bits);
        if count >= 8 {
            count -= 8;
            *bytes.get_mut(at)? = (held >> count) as u8;
            (at, held) = (at + 1, held & ((1 << count) - 1));
        }
    }
    (at == bytes.len() && held == 0).then_some(bytes)
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

fn base64(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// The text is not a [`KeyPin`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidPin;

impl fmt::Display for InvalidPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pin is a SHA-256: 64 hexadecimal digits, or 44 characters of Base64")
    }
}

impl core::error::Error for InvalidPin {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_read_in_both_forms_and_anything_else_is_refused() {
        // RFC 7469, section 2.1.5.
        let text = "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=";
        let pin: KeyPin = text.parse().unwrap();
        let digits = "77aab346ef7338409bf7451ecf6ef15a5b4db23d1ed4c77b1a4618915a195a63";
        assert_eq!(pin.to_string(), digits);
        assert_eq!(digits.to_uppercase().parse(), Ok(pin));
        assert_eq!(format!("sha256/{text}").parse(), Ok(pin));
        let not_canonical = text.replace("mM=", "mN=");
        for wrong in ["", &text[1..], &digits[1..], &digits.replace('7', "g"), &not_canonical] {
            assert_eq!(wrong.parse::<KeyPin>(), Err(InvalidPin), "{wrong}");
        }
    }
}
