//! The header of bytes that are no indexed message, because they are garbled or were not kept.

use crate::settings::SessionSettings;
use crate::values::fix::SOH;

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
        for field in bytes.split(|byte| *byte == SOH) {
            let Some(equals) = field.iter().position(|byte| *byte == b'=') else { break };
            let value = &field[equals + 1..];
            let place = match &field[..equals] {
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
        let SessionSettings { id, check_comp_id, .. } = settings;
        self.begin_string == Some(id.version().begin_string().as_bytes())
            && (!check_comp_id
                || self.sender_comp_id == Some(id.target_comp_id().as_bytes())
                    && self.target_comp_id == Some(id.sender_comp_id().as_bytes()))
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
}
