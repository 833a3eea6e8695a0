//! The header of bytes that are no indexed message: they are garbled, were not kept whole, or come
//! from the outbox or the store.
//!
//! Data is not known here, which may contain SOH: what is read ends before the first field that may
//! be data.

use fixbolt_codec::{FromField, SeqNum, is_admin};

use crate::settings::SessionSettings;
use crate::values::fix::{SOH, YES};

/// The values of header fields, the first one of each tag.
#[derive(Default)]
pub(crate) struct RawHeader<'m> {
    pub(crate) begin_string: Option<&'m [u8]>,
    pub(crate) msg_seq_num: Option<&'m [u8]>,
    pub(crate) msg_type: Option<&'m [u8]>,
    pub(crate) sender_comp_id: Option<&'m [u8]>,
    pub(crate) target_comp_id: Option<&'m [u8]>,
    pub(crate) poss_dup_flag: Option<&'m [u8]>,
}

/// The other fields of the standard header that may stand between those, without data fields and
/// groups.
const OTHER_TAGS: [&[u8]; 22] = [
    b"9", b"50", b"52", b"57", b"97", b"115", b"116", b"122", b"128", b"129", b"142", b"143", b"144", b"145",
    b"347", b"369", b"370", b"1128", b"1129", b"1137", b"1156", b"1351",
];

impl<'m> RawHeader<'m> {
    /// Reads up to the first field that is not of the header: a later one may be part of data.
    pub(crate) fn read(bytes: &'m [u8]) -> Self {
        let mut found = Self::default();
        for (tag, value) in Fields::of(bytes) {
            let place = match tag {
                b"8" => &mut found.begin_string,
                b"34" => &mut found.msg_seq_num,
                b"35" => &mut found.msg_type,
                b"49" => &mut found.sender_comp_id,
                b"56" => &mut found.target_comp_id,
                b"43" => &mut found.poss_dup_flag,
                tag if OTHER_TAGS.contains(&tag) => continue,
                _ => break,
            };
            place.get_or_insert(value);
        }
        found
    }

    /// Returns whether BeginString and, as far as they are checked, the CompIDs are those of a
    /// message to the session with these settings.
    pub(crate) fn is_of(&self, settings: &SessionSettings) -> bool {
        let id = &settings.id;
        self.begin_string == Some(id.version().begin_string().as_bytes())
            && (!settings.validation.check_comp_id
                || self.sender_comp_id == Some(id.target_comp_id().as_bytes())
                    && self.target_comp_id == Some(id.sender_comp_id().as_bytes()))
    }

    /// Returns MsgSeqNum (34); `None` if it is missing or not a number that has a successor.
    pub(crate) fn seq(&self) -> Option<SeqNum> {
        SeqNum::from_field(self.msg_seq_num?).ok().filter(|seq| *seq < SeqNum::MAX)
    }

    /// Returns whether PossDupFlag (43) is Y.
    pub(crate) fn is_poss_dup(&self) -> bool {
        self.poss_dup_flag == Some(YES)
    }

    /// Returns MsgSeqNum (34) of a message that the application wrote; `None` if the session layer
    /// wrote it, or if it is sent again.
    pub(crate) fn application_seq(&self) -> Option<SeqNum> {
        let is_new = !is_admin(self.msg_type?) && !self.is_poss_dup();
        self.seq().filter(|_| is_new)
    }
}

/// Returns BodyLength (9), if it is the second field, and where the body begins; `None` also if the
/// bytes end before it does.
pub(crate) fn body_length(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut fields = Fields::of(bytes);
    fields.next()?;
    let (_, digits) = fields.next().filter(|(tag, _)| *tag == b"9")?;
    let length = core::str::from_utf8(digits).ok()?.parse().ok()?;
    (fields.at <= bytes.len()).then_some((length, fields.at))
}

/// The tags and values of bytes, up to the first field without `=`.
struct Fields<'m> {
    bytes: &'m [u8],
    /// Where the next field begins; after the end if the last one has no SOH.
    at: usize,
}

impl<'m> Fields<'m> {
    const fn of(bytes: &'m [u8]) -> Self {
        Self { bytes, at: 0 }
    }
}

impl<'m> Iterator for Fields<'m> {
    type Item = (&'m [u8], &'m [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..)?;
        let end = rest.iter().position(|byte| *byte == SOH).unwrap_or(rest.len());
        let equals = rest[..end].iter().position(|byte| *byte == b'=')?;
        self.at += end + 1;
        Some((&rest[..equals], &rest[equals + 1..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_up_to_the_first_field_of_the_body() {
        let bytes = b"8=FIX.4.4\x019=99\x0134=7\x0149=A\x0134=8\x0196=x\x0135=D\x0156=B\x0110=000\x01";
        let found = RawHeader::read(bytes);
        assert_eq!(found.begin_string, Some(&b"FIX.4.4"[..]));
        assert_eq!((found.msg_seq_num, found.sender_comp_id), (Some(&b"7"[..]), Some(&b"A"[..])));
        assert_eq!((found.msg_type, found.target_comp_id), (None, None));
        assert_eq!(RawHeader::read(b"8=FIX.4.4\x019\x0134=7\x01").msg_seq_num, None);
        assert!(RawHeader::read(b"").begin_string.is_none());
    }

    #[test]
    fn only_a_new_message_of_the_application_has_a_number_of_the_application() {
        let seq = |fields: &str| {
            let bytes = format!("8=FIX.4.4|9=99|{fields}|52=x|").replace('|', "\x01");
            RawHeader::read(bytes.as_bytes()).application_seq()
        };
        assert_eq!(seq("35=D|49=A|56=B|34=7"), Some(SeqNum(7)));
        assert_eq!(seq("35=D|49=A|56=B|34=7|43=N"), Some(SeqNum(7)));
        assert_eq!(seq("35=D|49=A|56=B|34=7|43=Y"), None);
        assert_eq!(seq("35=0|49=A|56=B|34=7"), None);
        assert_eq!(seq("35=D|49=A|56=B"), None);
        assert_eq!(seq("35=D|34=7|52=y|95=5|96=|43=Y"), Some(SeqNum(7)), "it is data");
    }

    #[test]
    fn the_length_of_a_body_is_that_of_the_second_field_once_it_has_ended() {
        for (bytes, length) in [
            (&b"8=FIX.4.4\x019=12\x0135=D\x01"[..], Some((12, 15))),
            (b"8=FIX.4.4\x019=12\x01", Some((12, 15))),
            (b"8=FIX.4.4\x019=12", None),
            (b"8=FIX.4.4\x019=\x01", None),
            (b"8=FIX.4.4\x019=-1\x01", None),
            (b"8=FIX.4.4\x0134=2\x019=12\x01", None),
            (b"8=FIX.4.4", None),
        ] {
            assert_eq!(body_length(bytes), length, "{}", bytes.escape_ascii());
        }
    }
}
