//! FIX messages as bytes, written and read without Fixbolt's crates.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A whole message that was received.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Message(pub(crate) Vec<u8>);

impl Message {
    /// Returns the value of the first field with this tag.
    pub(crate) fn get(&self, tag: &str) -> Option<String> {
        self.0.split(|byte| *byte == 1).find_map(|field| {
            let at = field.iter().position(|byte| *byte == b'=')?;
            (&field[..at] == tag.as_bytes()).then(|| String::from_utf8_lossy(&field[at + 1..]).into_owned())
        })
    }

    /// Returns the MsgType.
    pub(crate) fn kind(&self) -> String {
        self.get("35").unwrap_or_default()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.0).replace('\u{1}', "|");
        write!(f, "{}", text.chars().take(400).collect::<String>())
    }
}

/// Returns the first complete message of `bytes` and its length, with nothing checked but where it
/// ends.
pub(crate) fn first(bytes: &[u8]) -> Option<(Message, usize)> {
    let trailer = bytes.windows(4).position(|bytes| bytes == b"\x0110=")? + 4;
    let end = trailer + bytes[trailer..].iter().position(|byte| *byte == 1)? + 1;
    Some((Message(bytes[..end].to_vec()), end))
}

/// Returns a whole message: BeginString, BodyLength, `fields` with `|` for SOH, and CheckSum.
pub(crate) fn whole(begin_string: &str, fields: &str) -> Vec<u8> {
    let mut body = fields.replace('|', "\u{1}").into_bytes();
    if body.last() != Some(&1) {
        body.push(1);
    }
    with_trailer([format!("8={begin_string}\u{1}9={}\u{1}", body.len()).into_bytes(), body].concat())
}

/// Adds the CheckSum.
pub(crate) fn with_trailer(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.extend(format!("10={sum:03}\u{1}").bytes());
    bytes
}

/// Returns the time in milliseconds in FIX's form, `seconds` from now.
pub(crate) fn time(seconds: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    let millis = i64::try_from(now.as_millis()).expect("it is before the year 292 million") + seconds * 1000;
    let (day, in_day) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    // Days to a date of the Gregorian calendar whose years begin in March (Howard Hinnant's
    // `civil_from_days`).
    let z = day + 719_468;
    let (era, of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (date, month) =
        (of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (in_day / 3_600_000, in_day / 60_000 % 60, in_day / 1000 % 60);
    format!("{year:04}{month:02}{date:02}-{hour:02}:{minute:02}:{second:02}.{:03}", in_day % 1000)
}

#[test]
fn messages_are_written_and_read_as_the_standard_says() {
    let bytes = whole("FIX.4.4", "35=0|49=A|56=B|34=2|52=20261123-02:30:00|");
    assert!(bytes.starts_with(b"8=FIX.4.4\x019=41\x0135=0\x01"), "{bytes:?}");
    let (message, length) = first(&[&bytes[..], b"8=FIX"].concat()).expect("it is whole");
    assert_eq!((message.kind().as_str(), length), ("0", bytes.len()));
    assert_eq!(message.get("34").as_deref(), Some("2"));
    assert_eq!(first(&bytes[..bytes.len() - 1]), None);
    let time = time(0);
    assert!(time.len() == 21 && time.as_str() > "20260101-00:00:00.000", "{time}");
}
