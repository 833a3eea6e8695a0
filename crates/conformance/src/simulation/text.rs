//! Messages as text, for the counterparty: it reads and writes them without the codec and the
//! session core that it judges.

use std::io::Write as _;

/// Nanoseconds in a second.
pub(super) const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400;

/// A message whose frame and checksum are right.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    fields: Vec<(u32, u32, u32)>,
}

impl Text {
    /// Returns `None` if the bytes are not one whole message with the right BodyLength and
    /// CheckSum.
    pub(super) fn read(bytes: Vec<u8>) -> Option<Self> {
        let mut fields = Vec::with_capacity(24);
        let (mut at, mut end_of_body) = (0, 0);
        while at < bytes.len() {
            let equals = at + bytes[at..].iter().position(|b| *b == b'=')?;
            let end = equals + bytes[equals..].iter().position(|b| *b == 1)?;
            let tag = digits(&bytes[at..equals])?;
            if tag == 10 {
                end_of_body = at;
            }
            fields.push((u32::try_from(tag).ok()?, equals as u32 + 1, end as u32));
            at = end + 1;
        }
        let text = Self { bytes, fields };
        let [(8, ..), (9, _, length_end), (35, ..), .., (10, check, _)] = *text.fields.as_slice() else {
            return None;
        };
        let length = digits(text.get(9)?)? as usize;
        let sum = text.bytes[..end_of_body].iter().fold(0u8, |sum, b| sum.wrapping_add(*b));
        let right = length_end as usize + 1 + length == end_of_body
            && digits(&text.bytes[check as usize..check as usize + 3])? == u64::from(sum);
        right.then_some(text)
    }

    pub(super) fn get(&self, tag: u32) -> Option<&[u8]> {
        let (_, start, end) = self.fields.iter().find(|(name, ..)| *name == tag)?;
        Some(&self.bytes[*start as usize..*end as usize])
    }

    pub(super) fn number(&self, tag: u32) -> Option<u64> {
        digits(self.get(tag)?)
    }

    pub(super) fn is_yes(&self, tag: u32) -> bool {
        self.get(tag) == Some(b"Y")
    }

    pub(super) fn msg_type(&self) -> &[u8] {
        self.get(35).unwrap_or_default()
    }

    pub(super) fn seq(&self) -> u64 {
        self.number(34).unwrap_or_default()
    }
}

/// Returns the value of the first field of this tag in bytes that may be any.
pub(super) fn value_in(bytes: &[u8], tag: u32) -> Option<&[u8]> {
    let name = format!("{tag}=");
    bytes.split(|b| *b == 1).find_map(|field| field.strip_prefix(name.as_bytes()))
}

pub(super) fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0u64, |n, b| b.is_ascii_digit().then(|| n * 10 + u64::from(b - b'0')))
}

/// Returns the length of the first whole message in bytes that a correct writer has sent.
pub(super) fn first_message(bytes: &[u8]) -> Option<usize> {
    let start = bytes.windows(3).take(24).position(|window| window == b"\x019=")? + 3;
    let end = start + bytes[start..].iter().take(10).position(|b| *b == 1)?;
    let whole = end + 1 + digits(&bytes[start..end])? as usize + 7;
    (whole <= bytes.len()).then_some(whole)
}

/// The header of a message to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'h> {
    pub(super) begin_string: &'h str,
    pub(super) msg_type: &'h str,
    pub(super) seq: u64,
    pub(super) sender: &'h str,
    pub(super) target: &'h str,
    /// Nanoseconds since 1970.
    pub(super) sending_time: u64,
    /// OrigSendingTime of a message that is sent again.
    pub(super) original: Option<u64>,
    pub(super) poss_resend: bool,
    /// FIX.4.0 and FIX.4.1 have whole seconds.
    pub(super) whole_seconds: bool,
}

/// Returns a whole message; `body` is fields, each with its SOH.
pub(super) fn compose(header: &Header<'_>, body: &[u8]) -> Vec<u8> {
    let mut rest = Vec::with_capacity(128 + body.len());
    let _ = write!(rest, "35={}\x01", header.msg_type);
    let _ = write!(rest, "49={}\x0156={}\x0134={}\x01", header.sender, header.target, header.seq);
    if header.original.is_some() {
        rest.extend_from_slice(b"43=Y\x01");
    }
    if header.poss_resend {
        rest.extend_from_slice(b"97=Y\x01");
    }
    rest.extend_from_slice(b"52=");
    write_time(&mut rest, header.sending_time, header.whole_seconds);
    if let Some(original) = header.original {
        rest.extend_from_slice(b"\x01122=");
        write_time(&mut rest, original, header.whole_seconds);
    }
    rest.push(1);
    rest.extend_from_slice(body);
    frame(header.begin_string, &rest)
}

/// Puts BeginString, BodyLength and CheckSum around the fields between them.
pub(super) fn frame(begin_string: &str, fields: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(fields.len() + 32);
    let _ = write!(bytes, "8={begin_string}\x019={}\x01", fields.len());
    bytes.extend_from_slice(fields);
    let sum = bytes.iter().fold(0u8, |sum, b| sum.wrapping_add(*b));
    let _ = write!(bytes, "10={sum:03}\x01");
    bytes
}

/// Writes a UTCTimestamp.
pub(super) fn write_time(to: &mut Vec<u8>, nanos: u64, whole_seconds: bool) {
    let seconds = nanos / SECOND;
    let (days, of_day) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let number =
        |to: &mut Vec<u8>, n: u64| to.extend_from_slice(&[b'0' + (n / 10) as u8, b'0' + (n % 10) as u8]);
    number(to, year / 100);
    number(to, year % 100);
    number(to, month);
    number(to, day);
    to.push(b'-');
    number(to, hour);
    to.push(b':');
    number(to, minute);
    to.push(b':');
    number(to, second);
    if !whole_seconds {
        let millis = nanos % SECOND / 1_000_000;
        to.extend_from_slice(&[b'.', b'0' + (millis / 100) as u8]);
        number(to, millis % 100);
    }
}

/// Returns year, month and day of a number of days since 1970-01-01.
pub(super) const fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the day of a leap year is their last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year + era * 400 + if month <= 2 { 1 } else { 0 }, month, day)
}

/// Returns a time as a person reads it.
pub(super) fn time(nanos: u64) -> String {
    let mut text = Vec::new();
    write_time(&mut text, nanos, false);
    String::from_utf8(text).unwrap_or_default()
}

/// Returns bytes as a person reads them: `|` for SOH, and what cannot be printed escaped.
pub(super) fn readable(bytes: &[u8]) -> String {
    bytes.iter().map(|b| if *b == 1 { "|".to_owned() } else { b.escape_ascii().to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_composed_is_read_again() {
        let header = Header {
            begin_string: "FIX.4.4",
            msg_type: "D",
            seq: 7,
            sender: "A",
            target: "B",
            sending_time: 1_795_000_000_123_000_000,
            original: Some(1_795_000_000_000_000_000),
            poss_resend: false,
            whole_seconds: false,
        };
        let bytes = compose(&header, b"11=x\x01");
        assert_eq!(first_message(&bytes), Some(bytes.len()));
        assert_eq!(first_message(&bytes[..bytes.len() - 1]), None);
        let text = Text::read(bytes.clone()).unwrap();
        assert_eq!((text.msg_type(), text.seq(), text.get(11)), (&b"D"[..], 7, Some(&b"x"[..])));
        assert_eq!(text.get(52), Some(&b"20261118-11:06:40.123"[..]));
        assert_eq!(text.get(122), Some(&b"20261118-11:06:40.000"[..]));
        for at in 0..bytes.len() {
            let mut garbled = bytes.clone();
            garbled[at] ^= 1;
            assert!(Text::read(garbled).is_none(), "byte {at}");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, date_there) in
            [(0, (1970, 1, 1)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29)), (20_775, (2026, 11, 18))]
        {
            assert_eq!(date(days), date_there, "{days}");
        }
    }
}
