//! What a certificate says (X.509, RFC 5280). The library has verified those of counterparties; it
//! shows neither the common name nor the end of the validity, which are read here.

use fixbolt_session::Utc;
use ring::digest::{SHA256, digest};
use rustls::pki_types::CertificateDer;
use webpki::EndEntityCert;

use super::der::element;
use super::name::Name;
use super::peer::PeerCertificate;
use super::pin::KeyPin;

const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The explicit tag of the version.
const VERSION: u8 = 0xa0;
/// The explicit tag of the extensions.
const EXTENSIONS: u8 = 0xa3;
const BOOLEAN: u8 = 0x01;
/// id-ce-subjectAltName, 2.5.29.17.
const ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
/// id-ce-extKeyUsage, 2.5.29.37.
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// id-kp-serverAuth.
pub(super) const SERVERS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
/// id-kp-clientAuth.
pub(super) const CLIENTS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];
/// The longest serial number, in bytes, with the one that only says that it is positive.
const MAX_SERIAL: usize = 21;

/// Returns what matters of a counterparty's certificate; `None` if it cannot be read.
pub(super) fn of_peer(der: &CertificateDer<'_>) -> Option<PeerCertificate> {
    let certificate = EndEntityCert::try_from(der).ok()?;
    let key = digest(&SHA256, &certificate.subject_public_key_info());
    let subject = Name(certificate.subject());
    Some(PeerCertificate {
        key: KeyPin::new(key.as_ref().try_into().ok()?),
        // Bytes that are no text are no name.
        common_name: subject.common_name().and_then(|name| String::from_utf8(name.into()).ok()),
        dns_names: certificate.valid_dns_names().map(str::to_owned).collect(),
        uris: certificate.valid_uri_names().map(str::to_owned).collect(),
        subject: subject.to_string(),
        serial: hexadecimal(certificate.serial()),
        expires: validity(der).and_then(|(_, not_after, _)| shown_time(not_after)),
    })
}

/// Returns the common name of a certificate's subject and the end of its validity.
pub(super) fn name_and_end(der: &[u8]) -> Option<(String, Utc)> {
    let (_, not_after, subject) = validity(der)?;
    let name = Name(subject)
        .common_name()
        .map_or_else(|| "without a common name".into(), |name| String::from_utf8_lossy(name).into_owned());
    Some((name, time(not_after)?))
}

/// Returns the beginning and the end of a certificate's validity, in seconds since 1970.
pub(super) fn validity_in_seconds(der: &[u8]) -> Option<(u64, u64)> {
    let (not_before, not_after, _) = validity(der)?;
    Some((time(not_before)?.0 / 1_000_000_000, time(not_after)?.0 / 1_000_000_000))
}

/// Returns whether a certificate has version 1, and so no extensions.
pub(super) fn is_version_1(der: &[u8]) -> bool {
    signed_part(der).and_then(element).is_some_and(|(tag, ..)| tag != VERSION)
}

/// Returns whether a certificate has a DNS name or an IP address as subjectAltName: whether it is
/// for a host.
pub(super) fn is_for_a_host(der: &[u8]) -> bool {
    let Some((_, mut names, _)) = extension(der, ALTERNATIVE_NAME).and_then(element) else { return false };
    while let Some((tag, _, rest)) = element(names) {
        if matches!(tag, DNS_NAME | IP_ADDRESS) {
            return true;
        }
        names = rest;
    }
    false
}

/// Returns whether a certificate may be used for this purpose, one of [`SERVERS`] and [`CLIENTS`]:
/// it names it, or no purpose at all.
pub(super) fn is_for(der: &[u8], purpose: &[u8]) -> bool {
    let Some(purposes) = extension(der, EXTENDED_KEY_USAGE) else { return true };
    let Some((_, mut purposes, _)) = element(purposes) else { return false };
    while let Some((_, one, rest)) = element(purposes) {
        if one == purpose {
            return true;
        }
        purposes = rest;
    }
    false
}

/// Returns the value of a certificate's extension.
fn extension<'c>(der: &'c [u8], kind: &[u8]) -> Option<&'c [u8]> {
    let mut rest = signed_part(der)?;
    let (_, extensions, _) = loop {
        let (tag, contents, after) = element(rest)?;
        if tag == EXTENSIONS {
            break element(contents)?;
        }
        rest = after;
    };
    let mut rest = extensions;
    loop {
        let (_, one, after) = element(rest)?;
        let (_, of, value) = element(one)?;
        if of == kind {
            // Whether it is critical may come before the value.
            return match element(value)? {
                (BOOLEAN, _, value) => Some(element(value)?.1),
                (_, value, _) => Some(value),
            };
        }
        rest = after;
    }
}

/// Returns the contents of the part of a certificate that its issuer has signed.
fn signed_part(der: &[u8]) -> Option<&[u8]> {
    let (_, certificate, _) = element(der)?;
    let (_, signed, _) = element(certificate)?;
    Some(signed)
}

/// Returns the beginning and the end of a certificate's validity, each with what follows it, and
/// the subject.
fn validity(der: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let signed = signed_part(der)?;
    let rest = match element(signed)? {
        (VERSION, _, rest) => rest,
        _ => signed,
    };
    // Serial number, signature algorithm and issuer.
    let rest = (0..3).try_fold(rest, |rest, _| Some(element(rest)?.2))?;
    let (_, validity, rest) = element(rest)?;
    let (_, _, not_after) = element(validity)?;
    let (_, subject, _) = element(rest)?;
    Some((validity, not_after, subject))
}

/// Returns a serial number as OpenSSL shows it; the beginning of one that is longer than any may be
/// (20 bytes, RFC 5280, section 4.1.2.2).
fn hexadecimal(serial: &[u8]) -> String {
    let serial = match serial {
        [0, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    let mut text: String = serial.iter().take(MAX_SERIAL).map(|byte| format!("{byte:02X}")).collect();
    if serial.len() > MAX_SERIAL {
        text.push_str("...");
    }
    text
}

/// Reads a time: YYMMDDhhmmssZ, or with four digits of the year.
fn time(bytes: &[u8]) -> Option<Utc> {
    let [year, month, day, hour, minute, second] = parts_of_time(bytes)?;
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    // 9999-12-31, for a certificate without an end, is later than a `Utc` can be; 1950 is earlier.
    Some(Utc(u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000)))
}

/// Returns such a time as it is shown, whatever the year.
fn shown_time(bytes: &[u8]) -> Option<String> {
    let [year, month, day, hour, minute, second] = parts_of_time(bytes)?;
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// Returns its year, month, day, hour, minute and second.
fn parts_of_time(bytes: &[u8]) -> Option<[i64; 6]> {
    let (tag, text, _) = element(bytes)?;
    let text = text.strip_suffix(b"Z")?;
    let year_digits = match tag {
        UTC_TIME => 2,
        GENERALIZED_TIME => 4,
        _ => return None,
    };
    let (year, rest) = text.split_at_checked(year_digits)?;
    if rest.len() != "MMDDhhmmss".len() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |digits: &[u8]| core::str::from_utf8(digits).ok()?.parse::<i64>().ok();
    let year = match number(year)? {
        year @ 0..50 if year_digits == 2 => 2000 + year,
        year if year_digits == 2 => 1900 + year,
        year => year,
    };
    let mut parts = rest.chunks(2).map(number);
    let mut next = || parts.next()?;
    Some([year, next()?, next()?, next()?, next()?, next()?])
}

/// Returns the days between 1970-01-01 and a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_certificate_says_is_read() {
        let mut parameters =
            rcgen::CertificateParams::new(vec!["trader.example".to_owned(), "192.0.2.1".to_owned()]).unwrap();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters.distinguished_name.push(rcgen::DnType::OrganizationName, "A firm");
        parameters.distinguished_name.push(rcgen::DnType::CommonName, "TRADER");
        parameters.not_after = rcgen::date_time_ymd(2031, 3, 1);
        parameters.serial_number = Some(rcgen::SerialNumber::from_slice(&[0x9a, 0x0b]));
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let peer = of_peer(certificate.der()).unwrap();
        assert_eq!(peer.common_name.as_deref(), Some("TRADER"));
        assert_eq!(peer.dns_names, ["trader.example"]);
        assert_eq!((peer.subject.as_str(), peer.serial.as_str()), ("CN=TRADER,O=A firm", "9A0B"));
        assert_eq!(peer.expires.as_deref(), Some("2031-03-01T00:00:00Z"));
        let digest = digest(&SHA256, &rcgen::PublicKeyData::subject_public_key_info(&key));
        assert_eq!(peer.key, KeyPin::new(digest.as_ref().try_into().unwrap()));
        let (name, end) = name_and_end(certificate.der()).unwrap();
        assert_eq!((name.as_str(), end), ("TRADER", Utc(1_930_089_600_000_000_000)));
        // A cut certificate is no reason to panic.
        for length in 0..certificate.der().len() {
            assert_eq!(name_and_end(&certificate.der()[..length]), None);
        }
    }

    #[test]
    fn a_serial_number_is_shown_as_hexadecimal_digits_and_bounded() {
        assert_eq!(hexadecimal(&[0]), "00");
        assert_eq!(hexadecimal(&[0, 0x80, 1]), "8001");
        assert_eq!(hexadecimal(&[0x7f; 4000]), "7F".repeat(MAX_SERIAL) + "...");
    }

    #[test]
    fn times_are_read_in_both_forms() {
        let read = |tag, text: &str| {
            let mut bytes = vec![tag, text.len() as u8];
            bytes.extend(text.bytes());
            time(&bytes).map(|time| time.0 / 1_000_000_000)
        };
        assert_eq!(read(UTC_TIME, "700101000000Z"), Some(0));
        assert_eq!(read(UTC_TIME, "500101000000Z"), Some(0), "no earlier than a `Utc` can be");
        let never = [&[GENERALIZED_TIME, 15], &b"99991231235959Z"[..]].concat();
        assert_eq!(shown_time(&never).as_deref(), Some("9999-12-31T23:59:59Z"));
        assert_eq!(read(UTC_TIME, "491231235959Z"), Some(2_524_607_999));
        assert_eq!(read(GENERALIZED_TIME, "20500101000000Z"), Some(2_524_608_000));
        assert_eq!(read(GENERALIZED_TIME, "20240229120000Z"), Some(1_709_208_000));
        for wrong in ["", "Z", "70010100000Z", "7001010000", "70010x000000Z"] {
            assert_eq!(read(UTC_TIME, wrong), None, "{wrong}");
        }
    }
}
