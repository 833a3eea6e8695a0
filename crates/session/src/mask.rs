//! Masks passwords and other secrets before anything is stored or shown. A message that is stored
//! with masked secrets is never sent again.

use fixbolt_codec::{BodyWriter, DataFields, Message, Tag, TagSet, byte_sum};

use crate::fix::msg_type::LOGON;
use crate::fix::{SOH, number};
use crate::settings::SessionSettings;

/// The tags of a session's secrets, in the forms in which messages are compared with them.
pub(crate) struct SecretTags {
    all: Vec<u32>,
    /// Those that are secrets in every message, four at a time; the last ones may be repeated.
    fours: Vec<[u32; 4]>,
    set: TagSet,
}

impl SecretTags {
    pub(crate) fn new(all: &[u32]) -> Self {
        let everywhere: Vec<u32> = all.iter().copied().filter(|tag| *tag != number::RAW_DATA).collect();
        let four = |some: &[u32]| core::array::from_fn(|n| some[n % some.len()]);
        Self {
            all: all.to_vec(),
            fours: everywhere.chunks(4).map(four).collect(),
            set: everywhere.iter().copied().filter_map(Tag::try_new).collect(),
        }
    }

    /// Returns whether a message may have secrets; `false` is certain. A Logon, where RawData is
    /// one, comes rarely enough to be searched.
    pub(crate) fn may_be_in(&self, message: &Message<'_>) -> bool {
        message.msg_type() == LOGON
            || self.fours.iter().any(|four| is_any_in(message.tags(), four))
            // What is wrong with a broken field may be its tag.
            || message.fault().is_some()
    }

    /// The same for a body that was written here.
    pub(crate) fn may_be_written(&self, body: &BodyWriter<'_>) -> bool {
        body.msg_type().as_bytes() == LOGON || body.may_contain(&self.set)
    }

    /// Returns the secrets of the session with these settings.
    pub(crate) fn of<'s>(&'s self, settings: &'s SessionSettings) -> Secrets<'s> {
        Secrets { tags: &self.all, data_fields: settings.dictionary.data_fields() }
    }
}

/// What is a secret, and how long it is.
#[derive(Clone, Copy)]
pub(crate) struct Secrets<'s> {
    tags: &'s [u32],
    /// The data fields of the session's dialect: only their values hold SOH.
    data_fields: &'s DataFields,
}

/// Length of CheckSum (10) with its tag and SOH.
const TRAILER_LEN: usize = 7;

impl Secrets<'_> {
    /// Returns whether the values of a tag are secrets: those of RawData (96) in a Logon only.
    pub(crate) fn contain(self, tag: u32, in_logon: bool) -> bool {
        self.tags.contains(&tag) && (in_logon || tag != number::RAW_DATA)
    }

    /// Copies a whole message into `to` with every byte of its secrets replaced by `*` and the
    /// CheckSum corrected. Returns whether any was found; otherwise `to` is unchanged.
    pub(crate) fn mask_message(self, message: &[u8], to: &mut Vec<u8>) -> bool {
        let found = self.mask(message, 0, Bytes::Message, to);
        if found
            && let Some((all, [b'1', b'0', b'=', digits @ .., SOH])) =
                to.split_last_chunk_mut::<TRAILER_LEN>()
        {
            let sum = byte_sum(all);
            *digits = [sum / 100, sum / 10 % 10, sum % 10].map(|digit| b'0' + digit);
        }
        found
    }

    /// The same for bytes that are not a message. If they `continue` others, they may begin inside
    /// a secret: everything up to the first SOH is masked.
    pub(crate) fn mask_garbled(self, bytes: &[u8], continues: bool, to: &mut Vec<u8>) -> bool {
        self.mask(bytes, if continues { soh_from(bytes, 0) } else { 0 }, Bytes::Garbled, to)
    }

    /// Masks the first bytes, and every secret after them.
    ///
    /// The announced length of a secret may be wrong: it extends at least to the end of its field,
    /// and a part after it without a tag belongs to it, too. In a message, other data fields end
    /// where they say, if an SOH is there; in garbled bytes a secret inside any field is masked:
    /// the sender may separate fields by something else.
    fn mask(self, bytes: &[u8], first: usize, kind: Bytes, to: &mut Vec<u8>) -> bool {
        let mut found = false;
        let mut hide = |from: usize, end: usize| {
            if !found {
                to.clear();
                to.extend_from_slice(bytes);
            }
            found = true;
            to[from..end].fill(b'*');
        };
        if first > 0 {
            hide(0, first);
        }
        let mut at = first;
        let mut announced: Option<(u32, usize)> = None;
        let (mut is_logon, mut after_secret) = (kind == Bytes::Garbled, first > 0);
        while at < bytes.len() {
            let mut end = soh_from(bytes, at);
            let length = announced.take();
            let within = match kind {
                Bytes::Message => None,
                Bytes::Garbled => self.secret_within(bytes, at, end),
            };
            let Some((tag, value)) = tag_and_value(bytes, at, end) else {
                if let Some(from) = after_secret.then_some(at).or(within) {
                    hide(from, end);
                    after_secret = true;
                }
                at = end + 1;
                continue;
            };
            after_secret = self.contain(tag, is_logon);
            if let Some((data_tag, length)) = length
                && data_tag == tag
            {
                let announced_end = value.saturating_add(length);
                let data_end = soh_from(bytes, announced_end);
                if match kind {
                    Bytes::Message if data_end + TRAILER_LEN >= bytes.len() => false,
                    Bytes::Message => after_secret || data_end == announced_end,
                    Bytes::Garbled => after_secret,
                } {
                    end = data_end;
                }
            }
            if after_secret {
                hide(value, end);
            } else if let Some(data_tag) = self.data_fields.data_tag(tag) {
                announced = decimal(&bytes[value..end])
                    .and_then(|length| usize::try_from(length).ok())
                    .map(|length| (data_tag, length));
            } else if tag == number::MSG_TYPE && kind == Bytes::Message {
                is_logon |= &bytes[value..end] == LOGON;
            }
            if !after_secret && let Some(from) = within {
                hide(from, end);
                after_secret = true;
            }
            at = end + 1;
        }
        found
    }

    /// Returns the position of the first secret of garbled bytes between two positions.
    fn secret_within(self, bytes: &[u8], at: usize, end: usize) -> Option<usize> {
        let equals = (at..end).filter(|n| bytes[*n] == b'=');
        let mut values = equals.filter(|n| {
            let before = bytes[at..*n].trim_ascii_end();
            let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            decimal(&before[before.len() - digits..]).is_some_and(|tag| self.contain(tag, true))
        });
        values.next().map(|equals| equals + 1)
    }
}

/// What is masked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bytes {
    /// A whole message.
    Message,
    /// Other bytes: no length is trusted, and any message may be a Logon.
    Garbled,
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

/// Returns the position of the first SOH at or after `at`, or the end.
fn soh_from(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(|rest| rest.iter().position(|b| *b == SOH)).map_or(bytes.len(), |n| at + n)
}

/// Returns the tag of the field from `at` to `end` and the position of its value. Blanks around the
/// tag make the field a broken one, and its value no less a secret.
fn tag_and_value(bytes: &[u8], at: usize, end: usize) -> Option<(u32, usize)> {
    let equals = at + bytes[at..end].iter().position(|b| *b == b'=')?;
    Some((decimal(bytes[at..equals].trim_ascii())?, equals + 1))
}

fn decimal(digits: &[u8]) -> Option<u32> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::{Frame, Framer, Index, Key, MsgType, Span};

    use super::*;

    const SECRETS: Secrets<'_> =
        Secrets { tags: &[554, 925, 1402, 1404, 96], data_fields: DataFields::STANDARD };

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
            assert_eq!(secrets.may_be_in(&index.build(framed).unwrap()), may, "{counted:?}");
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
        assert!(SECRETS.mask_message(logon, &mut to));
        assert_eq!(to, b"35=A\x0195=5\x0196=*****\x01553=me\x01554=******\x0110=204\x01");
        assert_eq!(byte_sum(&to[..to.len() - 7]), 204);
        assert!(!SECRETS.mask_message(b"35=A\x01553=me\x0110=000\x01", &mut to));
    }

    #[test]
    fn raw_data_is_a_secret_in_a_logon_only_and_data_fields_are_not_read_as_fields() {
        let mut to = Vec::new();
        for kept in [
            &b"35=B\x0195=5\x0196=a\x01b=c\x0110=000\x01"[..],
            // As long as it says: text that looks like a password is none.
            b"35=B\x0195=7\x0196=a\x01554=b\x0158=c\x0110=000\x01",
            b"35=A\x0193=7\x0189=a\x01554=b\x0110=000\x01",
        ] {
            assert!(!SECRETS.mask_message(kept, &mut to), "{}", kept.escape_ascii());
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
            // Lengths that are wrong, and a password with SOH.
            (
                b"35=B\x0195=6\x0196=a\x01554=b\x0158=c\x0110=000\x01",
                b"35=B\x0195=6\x0196=a\x01554=*\x0158=c\x01",
            ),
            (b"35=BE\x011401=99\x011402=a\x01b\x0110=000\x01", b"35=BE\x011401=99\x011402=*\x01*\x01"),
            (b"35=BE\x01554=a\x01b\x01553=c\x0110=000\x01", b"35=BE\x01554=*\x01*\x01553=c\x01"),
            // Blanks around the tag.
            (b"35=BE\x01 554=a\x01925 =b\x0110=000\x01", b"35=BE\x01 554=*\x01925 =*\x01"),
            // A Logon with a second MsgType.
            (b"35=A\x0135=0\x0195=1\x0196=a\x0110=000\x01", b"35=A\x0135=0\x0195=1\x0196=*\x01"),
        ] {
            assert!(SECRETS.mask_message(bytes, &mut to), "{}", bytes.escape_ascii());
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
            (b"95=1\x0196=secret\x0158=a", false, b"95=1\x0196=******\x0158=a"),
            (b"95=99\x0196=a\x01b\x01", false, b"95=99\x0196=****"),
            (b"93=7\x0189=a\x01554=b\x01", false, b"93=7\x0189=a\x01554=*\x01"),
            (b"554=a\x01b\x0158=c", false, b"554=*\x01*\x0158=c"),
            (b"ret\x01554=a\x01", true, b"***\x01554=*\x01"),
            (b"secret", true, b"******"),
            // Other separators than SOH.
            (b"8=FIX.4.4|35=A|554=a|553=b|\x0158=c", false, b"8=FIX.4.4|35=A|554=********\x0158=c"),
            (b"^A925=a^A\x01b\x0158=c", false, b"^A925=***\x01*\x0158=c"),
            (b"2554=a 5540=b; 554 =c=d\x01", false, b"2554=a 5540=b; 554 =***\x01"),
        ] {
            assert!(SECRETS.mask_garbled(bytes, continues, &mut to));
            assert_eq!(to, masked, "{}", bytes.escape_ascii());
        }
    }
}
