//! Compares an answer with the one a script expects, and describes the first difference.
//!
//! The rules: BeginString and MsgType are equal, and every tag occurs as often, in any order
//! outside repeating groups; 42, 52 and 122 need only be valid UTCTimestamps, 60 too unless the
//! script's value has a fraction and is a time (`00000000` is no date); everything else is equal
//! byte for byte. BodyLength and CheckSum are never compared with the script, but verified on the
//! answer itself. This module deliberately parses the answer with its own few lines of code, so
//! that a bug of the codec cannot hide itself.

use core::fmt;

use crate::script::ANY_TEST_REQ_ID;

/// Whether fields outside groups may come in another order than in the script, and others may be
/// there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// In any order outside repeating groups.
    #[default]
    Any,
    /// In the script's order (`--strict-order`).
    Strict,
    /// In any order outside repeating groups, with fields that the script does not have:
    /// QuickFIX/J's scripts do not say everything that is echoed.
    AnyAndMore,
}

/// Compares an answer with a script's line.
///
/// # Errors
/// Returns a [`Mismatch`] with the first difference.
pub fn compare(expected: &[u8], answer: &[u8], order: Order) -> Result<(), Mismatch> {
    let wrong = |difference| Mismatch { expected: readable(expected), got: readable(answer), difference };
    verify(answer).map_err(wrong)?;
    let line = fields(expected).map_err(|why| wrong(Difference::Script(why)))?;
    let got = fields(answer).map_err(|why| wrong(Difference::Unreadable(why)))?;
    differing(&line, &got, order).map_or(Ok(()), |difference| Err(wrong(difference)))
}

/// Verifies an answer's frame: 8, 9 and 35 come first, and BodyLength and CheckSum are right.
///
/// # Errors
/// Returns the [`Difference`] that describes what is wrong with the frame.
pub fn verify(answer: &[u8]) -> Result<(), Difference> {
    let all = fields(answer).map_err(Difference::Unreadable)?;
    let tag = |n: usize| all.get(n).map(|(tag, _)| *tag);
    if [tag(0), tag(1), tag(2)] != [Some(8), Some(9), Some(35)] || all.last().map(|(tag, _)| *tag) != Some(10)
    {
        return Err(Difference::Unreadable("it does not begin with 8, 9, 35 and end with 10".into()));
    }
    let (Some((_, begin)), Some((_, length)), Some((_, sum))) = (all.first(), all.get(1), all.last()) else {
        return Err(Difference::Unreadable("it has too few fields".into()));
    };
    let head = 2 + begin.len() + 1 + 2 + length.len() + 1;
    let trailer = answer.len() - (3 + sum.len() + 1);
    let counted = trailer.saturating_sub(head);
    if std::str::from_utf8(length).ok().and_then(|s| s.parse().ok()) != Some(counted) {
        return Err(Difference::BodyLength { said: readable(length), counted });
    }
    let added = answer[..trailer].iter().fold(0u8, |a, b| a.wrapping_add(*b));
    if *sum != format!("{added:03}").as_bytes() {
        return Err(Difference::CheckSum { said: readable(sum), added });
    }
    Ok(())
}

type Field<'a> = (u32, &'a [u8]);

fn fields(message: &[u8]) -> Result<Vec<Field<'_>>, String> {
    let body = message.strip_suffix(b"\x01").ok_or("its last field does not end with SOH")?;
    body.split(|b| *b == 1)
        .map(|field| {
            let at = field.iter().position(|b| *b == b'=');
            let (tag, value) = at.map_or((field, None), |at| (&field[..at], Some(&field[at + 1..])));
            let number = std::str::from_utf8(tag).ok().and_then(|s| s.parse().ok());
            number.zip(value).ok_or_else(|| format!("{:?} is not tag=value", readable(field)))
        })
        .collect()
}

fn differing(line: &[Field<'_>], got: &[Field<'_>], order: Order) -> Option<Difference> {
    let value = |all: &[Field<'_>], tag| all.iter().find(|(t, _)| *t == tag).map(|(_, v)| readable(v));
    for tag in [8, 35] {
        let (wanted, came) = (value(line, tag), value(got, tag));
        if wanted != came {
            return Some(Difference::Value {
                tag,
                wanted: wanted.unwrap_or_default(),
                came: came.unwrap_or_default(),
            });
        }
    }
    let rest = |all: &[(u32, &[u8])]| -> Vec<u32> {
        all.iter().map(|(tag, _)| *tag).filter(|tag| !matches!(tag, 8..=10)).collect()
    };
    let (line_tags, got_tags) = (rest(line), rest(got));
    let count = |tags: &[u32], tag: u32| tags.iter().filter(|t| **t == tag).count();
    for tag in &line_tags {
        let (wanted, came) = (count(&line_tags, *tag), count(&got_tags, *tag));
        if wanted > came {
            return Some(Difference::Missing { tag: *tag, wanted, came });
        }
    }
    for tag in &got_tags {
        let (wanted, came) = (count(&line_tags, *tag), count(&got_tags, *tag));
        if came > wanted && (order != Order::AnyAndMore || wanted > 0) {
            return Some(Difference::Unexpected { tag: *tag, value: value(got, *tag).unwrap_or_default() });
        }
    }
    if order == Order::Strict
        && let Some((wanted, came)) = line_tags.iter().zip(&got_tags).find(|(a, b)| a != b)
    {
        return Some(Difference::Order { wanted: *wanted, came: *came });
    }
    // A tag that occurs more than once belongs to a group, and the order of such fields matters.
    let grouped = |all: &[Field<'_>], tags: &[u32], repeated: bool| -> Vec<(u32, Vec<u8>)> {
        let mut some: Vec<_> = all
            .iter()
            .filter(|(tag, _)| line_tags.contains(tag) && (count(tags, *tag) > 1) == repeated)
            .map(|(tag, value)| (*tag, value.to_vec()))
            .collect();
        if !repeated {
            some.sort_by_key(|(tag, _)| line_tags.iter().position(|t| t == tag));
        }
        some
    };
    for repeated in [false, true] {
        let pairs = grouped(line, &line_tags, repeated).into_iter().zip(grouped(got, &got_tags, repeated));
        for ((tag, wanted), (got_tag, came)) in pairs {
            if tag != got_tag {
                return Some(Difference::Order { wanted: tag, came: got_tag });
            }
            if !matches(tag, &wanted, &came) {
                return Some(Difference::Value { tag, wanted: readable(&wanted), came: readable(&came) });
            }
        }
    }
    None
}

fn matches(tag: u32, wanted: &[u8], came: &[u8]) -> bool {
    match tag {
        42 | 52 | 122 => is_utc_timestamp(came),
        60 if !wanted.contains(&b'.') || wanted.starts_with(b"00000000-") => is_utc_timestamp(came),
        112 if wanted == ANY_TEST_REQ_ID => !came.is_empty(),
        _ => wanted == came,
    }
}

/// Returns whether a value is `YYYYMMDD-HH:MM:SS` with up to twelve digits of fraction.
fn is_utc_timestamp(value: &[u8]) -> bool {
    let (whole, fraction) = match value.iter().position(|b| *b == b'.') {
        Some(at) => (&value[..at], Some(&value[at + 1..])),
        None => (value, None),
    };
    let number = |from: usize, to: usize| -> Option<u32> {
        let digits = whole.get(from..to)?;
        digits.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))
    };
    let in_range = || -> Option<bool> {
        let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
        let (hour, minute, second) = (number(9, 11)?, number(12, 14)?, number(15, 17)?);
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let last = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let separators = whole.len() == 17 && whole[8] == b'-' && whole[11] == b':' && whole[14] == b':';
        let date = (1..=12).contains(&month) && (1..=last).contains(&day);
        Some(separators && date && hour < 24 && minute < 60 && second <= 60)
    };
    let fraction_fits =
        fraction.is_none_or(|f| (1..=12).contains(&f.len()) && f.iter().all(u8::is_ascii_digit));
    fraction_fits && in_range() == Some(true)
}

/// Returns a message as text, with `|` for SOH.
#[must_use]
pub fn readable(message: &[u8]) -> String {
    String::from_utf8_lossy(message).replace('\x01', "|")
}

/// An answer that is not the expected one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The script's line.
    pub expected: String,
    /// The answer.
    pub got: String,
    /// The first difference.
    pub difference: Difference,
}

/// The first difference between an answer and a script's line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Difference {
    /// A field has another value.
    Value {
        /// The field.
        tag: u32,
        /// The script's value.
        wanted: String,
        /// The answer's value.
        came: String,
    },
    /// A field is missing, or occurs too few times.
    Missing {
        /// The field.
        tag: u32,
        /// The number of times it occurs in the script.
        wanted: usize,
        /// The number of times it occurs in the answer.
        came: usize,
    },
    /// A field that is not in the script, or occurs too many times.
    Unexpected {
        /// The field.
        tag: u32,
        /// Its first value.
        value: String,
    },
    /// A field is in the wrong place.
    Order {
        /// The field expected here.
        wanted: u32,
        /// The field found here.
        came: u32,
    },
    /// BodyLength (9) is not the number of bytes.
    BodyLength {
        /// The value in the answer.
        said: String,
        /// The number of bytes.
        counted: usize,
    },
    /// CheckSum (10) is not the checksum as three digits.
    CheckSum {
        /// The value in the answer.
        said: String,
        /// The checksum.
        added: u8,
    },
    /// The answer is not a FIX message.
    Unreadable(String),
    /// The script's own line is not a FIX message.
    Script(String),
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  expected {}", self.expected)?;
        writeln!(f, "  got      {}", self.got)?;
        write!(f, "  first difference: {}", self.difference)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { tag, wanted, came } => {
                let (wanted_name, came_name) =
                    if *tag == 35 { (msg_type_name(wanted), msg_type_name(came)) } else { ("", "") };
                write!(f, "field {tag} should be {wanted:?}{wanted_name} but is {came:?}{came_name}")
            }
            Self::Missing { tag, wanted: 1, came: 0 } => write!(f, "field {tag} is missing"),
            Self::Missing { tag, wanted, came } => {
                write!(f, "field {tag} should occur {wanted} times but occurs {came} times")
            }
            Self::Unexpected { tag, value } => write!(f, "field {tag} (={value}) was not expected"),
            Self::Order { wanted, came } => {
                write!(f, "field {wanted} should be here, but it is field {came}")
            }
            Self::BodyLength { said, counted } => {
                write!(f, "BodyLength (9) is {said}, but the body has {counted} bytes")
            }
            Self::CheckSum { said, added } => {
                write!(f, "CheckSum (10) is {said}, but the checksum of the bytes is {added:03}")
            }
            Self::Unreadable(why) => write!(f, "the answer is not a FIX message: {why}"),
            Self::Script(why) => write!(f, "the script's line is not a FIX message: {why}"),
        }
    }
}

fn msg_type_name(msg_type: &str) -> &'static str {
    match msg_type {
        "0" => " (Heartbeat)",
        "1" => " (TestRequest)",
        "2" => " (ResendRequest)",
        "3" => " (Reject)",
        "4" => " (SequenceReset)",
        "5" => " (Logout)",
        "A" => " (Logon)",
        "j" => " (BusinessMessageReject)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &str) -> Vec<u8> {
        crate::testing::message("FIX.4.4", body)
    }

    fn line(text: &str) -> Vec<u8> {
        format!("8=FIX.4.4|{text}").replace('|', "\x01").into_bytes()
    }

    fn against(script: &str, answer: &str) -> Option<Difference> {
        compare(&line(script), &message(answer), Order::Any).err().map(|m| m.difference)
    }

    const BEAT: &str = "35=0|34=2|49=V|52=20261121-20:00:00.123|56=T|112=HI|";

    #[test]
    fn the_order_of_fields_is_free_unless_it_is_asked_for() {
        let script = "35=0|34=2|56=T|49=V|112=HI|52=00000000-00:00:00|";
        assert_eq!(against(script, BEAT), None);
        let strict = compare(&line(script), &message(BEAT), Order::Strict).unwrap_err();
        assert_eq!(strict.difference, Difference::Order { wanted: 56, came: 49 });
    }

    #[test]
    fn more_fields_than_the_script_has_are_allowed_only_if_it_says_so_and_those_it_has_count() {
        let script = line("35=0|49=V|112=HI|");
        let more = |script: &[u8], order| compare(script, &message(BEAT), order).err().map(|m| m.difference);
        assert_eq!(more(&script, Order::AnyAndMore), None);
        let unexpected = Difference::Unexpected { tag: 34, value: "2".into() };
        assert_eq!(more(&script, Order::Any), Some(unexpected));
        for wrong in ["35=0|49=V|112=HO|", "35=0|49=V|112=HI|7=1|", "35=0|49=V|49=V|112=HI|"] {
            assert!(more(&line(wrong), Order::AnyAndMore).is_some(), "{wrong}");
        }
    }

    #[test]
    fn length_and_sum_of_the_script_do_not_count_those_of_the_answer_do() {
        assert_eq!(against("9=999|35=0|34=2|49=V|52=0|56=T|112=HI|10=0|", BEAT), None);
        let mut answer = message(BEAT);
        let at = answer.len() - 2;
        answer[at] = if answer[at] == b'0' { b'1' } else { b'0' };
        let script = line("35=0|34=2|49=V|52=0|56=T|112=HI|");
        let found = compare(&script, &answer, Order::Any).unwrap_err().difference;
        assert!(matches!(found, Difference::CheckSum { .. }), "{found}");
        let longer = String::from_utf8(message(BEAT)).unwrap().replace("112=HI", "112=HIGH");
        let found = compare(&script, longer.as_bytes(), Order::Any).unwrap_err().difference;
        assert!(matches!(found, Difference::BodyLength { .. }), "{found}");
    }

    #[test]
    fn a_missing_an_additional_and_a_different_field_are_told_apart() {
        let script = "35=0|34=2|49=V|52=0|56=T|112=HI|";
        let found = against(script, "35=0|34=2|49=V|52=20261121-20:00:00|56=T|");
        assert_eq!(found, Some(Difference::Missing { tag: 112, wanted: 1, came: 0 }));
        let found = against(script, "35=0|34=2|49=V|52=20261121-20:00:00|56=T|112=HI|58=x|");
        assert_eq!(found, Some(Difference::Unexpected { tag: 58, value: "x".into() }));
        let found = against(script, "35=0|34=3|49=V|52=20261121-20:00:00|56=T|112=HI|");
        assert_eq!(found, Some(Difference::Value { tag: 34, wanted: "2".into(), came: "3".into() }));
        let found = against(script, "35=1|34=2|49=V|52=20261121-20:00:00|56=T|112=HI|").unwrap();
        let words = r#"field 35 should be "0" (Heartbeat) but is "1" (TestRequest)"#;
        assert_eq!(found.to_string(), words);
    }

    #[test]
    fn members_of_a_group_keep_their_order() {
        let script = "35=D|34=2|386=2|336=AM|336=PM|";
        assert_eq!(against(script, "35=D|386=2|34=2|336=AM|336=PM|"), None);
        let found = against(script, "35=D|34=2|386=2|336=PM|336=AM|");
        assert_eq!(found, Some(Difference::Value { tag: 336, wanted: "AM".into(), came: "PM".into() }));
        let found = against("35=D|1=a|2=b|1=c|2=d|", "35=D|1=a|1=c|2=b|2=d|");
        assert_eq!(found, Some(Difference::Order { wanted: 2, came: 1 }));
    }

    #[test]
    fn times_need_only_be_timestamps_unless_transact_time_has_a_fraction() {
        let script = "35=D|52=<>|122=0|60=00000000-00:00:00|";
        let good = "35=D|52=20261121-20:00:00.123456789|122=20240229-23:59:60|60=20261121-20:00:00|";
        assert_eq!(against(script, good), None);
        let script = "35=D|52=<>|122=0|60=00000000-00:00:00.000|";
        assert_eq!(against(script, good), None, "not a time, so nothing to be equal to");
        for bad in
            ["20230229-00:00:00", "20261121-24:00:00", "20261121 20:00:00", "20261121-20:00:00.", "now"]
        {
            let answer = format!("35=D|52={bad}|122=20240229-23:59:60|60=20261121-20:00:00|");
            assert!(matches!(against(script, &answer), Some(Difference::Value { tag: 52, .. })), "{bad}");
        }
        let found = against("35=D|60=20261121-20:00:00.5|", "35=D|60=20261121-20:00:00|");
        assert!(matches!(found, Some(Difference::Value { tag: 60, .. })));
    }

    #[test]
    fn an_answer_that_is_no_message_is_said_to_be_none() {
        let found = compare(&line("35=0|"), b"hello", Order::Any).unwrap_err();
        assert!(matches!(found.difference, Difference::Unreadable(_)));
        let found = compare(&line("35=0|"), b"9=5\x0135=0\x01", Order::Any).unwrap_err();
        assert!(matches!(found.difference, Difference::Unreadable(_)));
    }
}
