//! Masks passwords and other secrets of a Logon before anything is stored or shown. A Logon is
//! never sent again, so nothing is lost.

use fixbolt_codec::{DataFields, byte_sum};

/// What is a secret, and how long it is.
#[derive(Clone, Copy)]
pub(crate) struct Secrets<'s> {
    pub(crate) tags: &'s [u32],
    /// The data fields of the session's dialect: only their values hold SOH.
    pub(crate) data_fields: &'s DataFields,
}

impl Secrets<'_> {
    /// Copies a whole message into `to` with every byte of its secrets replaced by `*` and the
    /// CheckSum corrected. Returns whether any was found; otherwise `to` is unchanged.
    pub(crate) fn mask_message(self, message: &[u8], to: &mut Vec<u8>) -> bool {
        let found = self.mask(message, 0, to);
        if found && let Some((all, [b'1', b'0', b'=', digits @ .., 1])) = to.split_last_chunk_mut::<7>() {
            let sum = byte_sum(all);
            *digits = [sum / 100, sum / 10 % 10, sum % 10].map(|digit| b'0' + digit);
        }
        found
    }

    /// The same for bytes that are not a message. If they `continue` others, they may begin inside
    /// a secret: everything up to the first SOH is masked.
    pub(crate) fn mask_garbled(self, bytes: &[u8], continues: bool, to: &mut Vec<u8>) -> bool {
        self.mask(bytes, if continues { soh_from(bytes, 0) } else { 0 }, to)
    }

    /// Masks the first bytes, and every secret after them.
    ///
    /// The announced length of a secret may be wrong: it extends at least to the end of its field.
    /// The length of any other data field is not trusted: a secret inside it is masked.
    fn mask(self, bytes: &[u8], first: usize, to: &mut Vec<u8>) -> bool {
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
        while at < bytes.len() {
            let mut end = soh_from(bytes, at);
            let length = announced.take();
            if let Some(equals) = bytes[at..end].iter().position(|b| *b == b'=')
                && let Some(tag) = number(&bytes[at..at + equals])
            {
                let value = at + equals + 1;
                if self.tags.contains(&tag) {
                    let length =
                        length.map_or(0, |(data_tag, length)| if data_tag == tag { length } else { 0 });
                    end = soh_from(bytes, value.saturating_add(length));
                    hide(value, end);
                } else if let Some(data_tag) = self.data_fields.data_tag(tag) {
                    announced = number(&bytes[value..end])
                        .and_then(|length| usize::try_from(length).ok())
                        .map(|length| (data_tag, length));
                }
            }
            at = end + 1;
        }
        found
    }
}

/// Returns the position of the first SOH at or after `at`, or the end.
fn soh_from(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(|rest| rest.iter().position(|b| *b == 1)).map_or(bytes.len(), |n| at + n)
}

fn number(digits: &[u8]) -> Option<u32> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRETS: Secrets<'_> = Secrets { tags: &[554, 925, 96], data_fields: DataFields::STANDARD };

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
    fn a_password_in_broken_bytes_is_unreadable() {
        let mut to = Vec::new();
        for (bytes, continues, masked) in [
            (&b"junk\x01554=secret\x01"[..], false, &b"junk\x01554=******\x01"[..]),
            (b"93=90\x0189=a\x01554=secret\x01", false, b"93=90\x0189=a\x01554=******\x01"),
            (b"95=1\x0196=secret\x0158=a", false, b"95=1\x0196=******\x0158=a"),
            (b"95=99\x0196=a\x01b\x01", false, b"95=99\x0196=****"),
            (b"ret\x01554=a\x01", true, b"***\x01554=*\x01"),
            (b"secret", true, b"******"),
        ] {
            assert!(SECRETS.mask_garbled(bytes, continues, &mut to));
            assert_eq!(to, masked, "{}", bytes.escape_ascii());
        }
    }
}
