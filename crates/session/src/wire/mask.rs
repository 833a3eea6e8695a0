//! Masks passwords and other secrets before anything is stored or shown. A message that is stored
//! with masked secrets is never sent again.

use fixbolt_codec::plumbing::{BodyPlumbing as _, TagSet};
use fixbolt_codec::{BodyWriter, Message, SecretRanges, Secrets, Tag, byte_sum};

use crate::settings::SessionSettings;
use crate::values::fix::SOH;
use crate::values::fix::msg_type::LOGON;
use crate::values::fix::number::secret_everywhere;

/// The tags of a session's secrets, in the forms in which messages are compared with them.
pub(crate) struct SecretTags {
    all: Vec<u32>,
    /// The tags that are secrets in every message, four at a time; the last ones may be repeated.
    fours: Vec<[u32; 4]>,
    set: TagSet,
}

impl SecretTags {
    pub(crate) fn new(all: &[u32]) -> Self {
        let everywhere: Vec<u32> = secret_everywhere(all).collect();
        let four = |some: &[u32]| core::array::from_fn(|n| some[n % some.len()]);
        Self {
            all: all.to_vec(),
            fours: everywhere.chunks(4).map(four).collect(),
            set: TagSet::of(secret_everywhere(all).filter_map(Tag::try_new)),
        }
    }

    /// Returns whether one of these tags is a secret in every message.
    pub(crate) fn may_be_among(&self, tags: &[u32]) -> bool {
        self.fours.iter().any(|four| is_any_in(tags, four))
    }

    /// Returns whether a message may have secrets; `false` is certain.
    pub(crate) fn may_be_in(&self, message: &Message<'_>) -> bool {
        may_be_anywhere_in(message) || self.may_be_among(message.tags())
    }

    /// Returns whether a body that was written here may have secrets; `false` is certain.
    pub(crate) fn may_be_written(&self, body: &BodyWriter<'_>) -> bool {
        body.msg_type().as_bytes() == LOGON || body.may_contain(&self.set)
    }

    /// Returns the secrets of the session with these settings.
    pub(crate) fn of<'s>(&'s self, settings: &'s SessionSettings) -> Secrets<'s> {
        Secrets::new(&self.all, settings.dictionary.data_fields())
    }
}

/// Returns whether a message may have secrets whatever its tags are.
#[inline]
pub(crate) fn may_be_anywhere_in(message: &Message<'_>) -> bool {
    // What is wrong with a broken field may be its tag. In a Logon, RawData is a secret.
    message.msg_type() == LOGON || message.fault().is_some()
}

/// Length of CheckSum (10) with its tag and SOH.
const TRAILER_LEN: usize = 7;

/// Copies a whole message into `to` with every byte of its secrets replaced by `*` and the CheckSum
/// corrected. Returns whether any was found; otherwise `to` is unchanged.
pub(crate) fn mask_message(secrets: Secrets<'_>, message: &[u8], to: &mut Vec<u8>) -> bool {
    let found = mask(message, secrets.in_message(message), to);
    if found
        && let Some((all, [b'1', b'0', b'=', digits @ .., SOH])) = to.split_last_chunk_mut::<TRAILER_LEN>()
    {
        let sum = byte_sum(all);
        *digits = [sum / 100, sum / 10 % 10, sum % 10].map(|digit| b'0' + digit);
    }
    found
}

/// Copies bytes that are not a message into `to` with their secrets replaced by `*`. Those that
/// `continue` others may be the rest of a secret: all of them are replaced. Returns whether any
/// were; otherwise `to` is unchanged.
pub(crate) fn mask_garbled(secrets: Secrets<'_>, bytes: &[u8], continues: bool, to: &mut Vec<u8>) -> bool {
    if continues {
        to.clear();
        to.resize(bytes.len(), b'*');
        return true;
    }
    mask(bytes, secrets.in_garbled(bytes), to)
}

fn mask(bytes: &[u8], ranges: SecretRanges<'_, '_>, to: &mut Vec<u8>) -> bool {
    let mut found = false;
    for range in ranges {
        if !found {
            to.clear();
            to.extend_from_slice(bytes);
        }
        found = true;
        to[range].fill(b'*');
    }
    found
}

/// Returns whether one of the four is among the tags, without branches: the compiler compares four
/// tags at a time.
fn is_any_in(tags: &[u32], four: &[u32; 4]) -> bool {
    let Some(last) = tags.last_chunk::<4>() else { return tags.iter().any(|tag| four.contains(tag)) };
    let [a, b, c, d] = *four;
    let equal = |one: u32, other: u32| u32::from(one == other).wrapping_neg();
    let add = |found: [u32; 4], some: &[u32; 4]| {
        let hit = |tag| equal(tag, a) | equal(tag, b) | equal(tag, c) | equal(tag, d);
        core::array::from_fn(|n| found[n] | hit(some[n]))
    };
    // The last four overlap those before them.
    let found = tags.as_chunks::<4>().0.iter().fold([0; 4], add);
    add(found, last).iter().fold(0, |all, one| all | one) != 0
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::{Frame, Framer, Index, Key, MsgType, SecondReader, Span};

    use super::*;
    use crate::wire::header::Header;
    use crate::wire::shape::Shapes;

    const SECRETS: Secrets<'_> = Secrets::STANDARD;

    #[test]
    fn a_secret_is_found_among_any_number_of_tags_and_nothing_else_is() {
        let secrets = SecretTags::new(&[554, 925, 1402, 1404, 96, 9999]);
        let is_in = |tags: &[u32]| secrets.fours.iter().any(|four| is_any_in(tags, four));
        for length in 0..40 {
            let mut tags: Vec<u32> = (1..=length).collect();
            assert!(!is_in(&tags), "{length}");
            for at in 0..tags.len() {
                for secret in [554, 925, 1402, 1404, 9999] {
                    let before = core::mem::replace(&mut tags[at], secret);
                    assert!(is_in(&tags), "{secret} at {at} of {length}");
                    tags[at] = before;
                }
            }
        }
        assert!(!is_in(&[96, 42, 0, u32::MAX, 96]));
        for repeated in [[9999, 9999, 554, 925], [554, 9999, 9999, 925], [554, 925, 9999, 9999]] {
            assert!(is_any_in(&[1, 2, 9999, 3, 4], &repeated), "{repeated:?}");
        }
        assert!(SecretTags::new(&[]).fours.is_empty());
    }

    #[test]
    fn only_a_logon_is_searched_for_secrets_without_a_tag_of_one() {
        let secrets = SecretTags::new(&[554, 925, 1402, 1404, 96]);
        for (fields, may) in [
            ("35=0|112=x|", false),
            // RawData is a secret in a Logon only.
            ("35=0|95=1|96=x|", false),
            ("35=D|11=1|95=1|96=x|", false),
            ("35=A|98=0|108=30|", true),
            ("35=5|58=x|554=y|", true),
            // A broken field.
            ("35=0|112=|", true),
        ] {
            let (msg_type, fields) = fields.split_once('|').unwrap();
            let (msg_type, fields) = (&msg_type[3..], fields.replace('|', "\x01"));
            let counted =
                format!("35={msg_type}\x0149=A\x0156=B\x0134=2\x0152=20261121-09:00:00\x01{fields}");
            let message = format!("8=FIX.4.4\x019={}\x01{counted}", counted.len());
            let message = format!("{message}10={:03}\x01", byte_sum(message.as_bytes()));
            let Frame::Message(framed) = Framer::new(1_000).next(message.as_bytes()) else { panic!() };
            let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
            let mut index = Index::new(&mut tags, &mut spans);
            let message = index.build(framed).unwrap();
            let header =
                Header::read(&message, &Shapes::new().of(&message, &secrets), &mut SecondReader::new());
            assert_eq!(header.may_have_secrets, may, "{counted:?}");
        }
        let written = |msg_type: &'static [u8], tag| {
            let mut memory = [0; 100];
            let mut body = BodyWriter::new(MsgType::new(msg_type), &mut memory);
            body.bytes(Key::new(tag), b"x");
            secrets.may_be_written(&body)
        };
        assert!(!written(b"0", 112) && written(b"A", 98) && written(b"5", 925) && !written(b"D", 55));
    }

    #[test]
    fn a_password_is_unreadable_also_when_it_is_raw_data_with_soh() {
        let mut to = Vec::new();
        let logon = b"35=A\x0195=5\x0196=a\x01b=c\x01553=me\x01554=secret\x0110=000\x01";
        assert!(mask_message(SECRETS, logon, &mut to));
        assert_eq!(to, b"35=A\x0195=5\x0196=*****\x01553=me\x01554=******\x0110=204\x01");
        assert_eq!(byte_sum(&to[..to.len() - 7]), 204);
        assert!(!mask_message(SECRETS, b"35=A\x01553=me\x0110=000\x01", &mut to));
    }

    #[test]
    fn raw_data_is_a_secret_in_a_logon_only_and_data_fields_are_not_read_as_fields() {
        let mut to = Vec::new();
        for kept in [
            &b"35=B\x0195=5\x0196=a\x01b=c\x0110=000\x01"[..],
            // As long as it says: text that looks like a password is none.
            b"35=B\x0195=7\x0196=a\x01554=b\x0158=c\x0110=000\x01",
        ] {
            assert!(!mask_message(SECRETS, kept, &mut to), "{}", kept.escape_ascii());
        }
        for (bytes, masked) in [
            (
                &b"35=BE\x01554=a\x0195=7\x0196=a\x01554=b\x01925=c\x0110=000\x01"[..],
                &b"35=BE\x01554=*\x0195=7\x0196=a\x01554=b\x01925=*\x01"[..],
            ),
            (
                b"35=BE\x011401=3\x011402=a\x01b\x011403=1\x011404=c\x0110=000\x01",
                b"35=BE\x011401=3\x011402=***\x011403=1\x011404=*\x01",
            ),
            // In a Logon, data may have a length that only seems to be right.
            (b"35=A\x0193=7\x0189=a\x01554=b\x0110=000\x01", b"35=A\x0193=7\x0189=a\x01554=*\x01"),
            // Lengths that are wrong, and a password with SOH.
            (
                b"35=B\x0195=6\x0196=a\x01554=b\x0158=c\x0110=000\x01",
                b"35=B\x0195=6\x0196=a\x01554=*\x0158=c\x01",
            ),
            (b"35=BE\x011401=99\x011402=a\x01b\x0110=000\x01", b"35=BE\x011401=99\x011402=***\x01"),
            (b"35=BE\x01554=a\x01b\x01553=c\x0110=000\x01", b"35=BE\x01554=*\x01*\x01553=c\x01"),
            // Blanks around the tag.
            (b"35=BE\x01 554=a\x01925 =b\x0110=000\x01", b"35=BE\x01 554=*\x01925 =*\x01"),
            // A Logon with a second MsgType.
            (b"35=A\x0135=0\x0195=1\x0196=a\x0110=000\x01", b"35=A\x0135=0\x0195=1\x0196=*\x01"),
        ] {
            assert!(mask_message(SECRETS, bytes, &mut to), "{}", bytes.escape_ascii());
            let (before, sum) = to.split_at(to.len() - 7);
            assert_eq!(before.escape_ascii().to_string(), masked.escape_ascii().to_string());
            assert_eq!(sum, format!("10={:03}\x01", byte_sum(before)).as_bytes());
        }
    }

    #[test]
    fn a_password_in_broken_bytes_is_unreadable() {
        let mut to = Vec::new();
        for (bytes, continues, masked) in [
            (&b"junk\x01554=secret\x01"[..], false, &b"junk\x01554=******\x01"[..]),
            (b"93=90\x0189=a\x01554=secret\x01", false, b"93=90\x0189=a\x01554=******\x01"),
            (b"95=1\x0196=secret\x0158=a", false, b"95=1\x0196=***********"),
            (b"95=99\x0196=a\x01b\x01", false, b"95=99\x0196=****"),
            (b"93=7\x0189=a\x01554=b\x01", false, b"93=7\x0189=a\x01554=*\x01"),
            (b"554=a\x01b\x0158=c", false, b"554=*\x01*\x0158=c"),
            (b"ret\x01554=a\x01", true, b"**********"),
            (b"secret", true, b"******"),
            // Other separators than SOH.
            (b"8=FIX.4.4|35=A|554=a|553=b|\x0158=c", false, b"8=FIX.4.4|35=A|554=********\x0158=c"),
            (b"^A925=a^A\x01b\x0158=c", false, b"^A925=***\x01*\x0158=c"),
            (b"2554=a 5540=b; 554 =c=d\x01", false, b"2554=a 5540=b; 554 =***\x01"),
        ] {
            assert!(mask_garbled(SECRETS, bytes, continues, &mut to));
            assert_eq!(to, masked, "{}", bytes.escape_ascii());
        }
    }
}
