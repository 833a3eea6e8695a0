//! Masks passwords and other secrets of a Logon before anything is stored. A Logon is never sent
//! again, so nothing is lost.

use fixbolt_codec::DataFields;

/// Copies `message` into `to` with every byte of the values of `tags` replaced by `*`. Returns
/// whether any of them was found; otherwise `to` is unchanged.
pub(crate) fn mask(message: &[u8], tags: &[u32], to: &mut Vec<u8>) -> bool {
    let mut found = false;
    let mut at = 0;
    let mut announced: Option<(u32, usize)> = None;
    while at < message.len() {
        let Some(equals) = message[at..].iter().position(|b| *b == b'=').map(|n| at + n) else { break };
        let tag = number(&message[at..equals]).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        let value = equals + 1;
        let end = match announced.take() {
            Some((data_tag, length)) if data_tag == tag => value.saturating_add(length).min(message.len()),
            _ => message[value..].iter().position(|b| *b == 1).map_or(message.len(), |n| value + n),
        };
        if tags.contains(&tag) {
            if !found {
                found = true;
                to.clear();
                to.extend_from_slice(message);
            }
            to[value..end].fill(b'*');
        }
        if let Some(data_tag) = DataFields::STANDARD.data_tag(tag) {
            announced = number(&message[value..end])
                .and_then(|n| usize::try_from(n).ok())
                .map(|length| (data_tag, length));
        }
        at = end + 1;
    }
    found
}

fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_unreadable_also_when_it_is_raw_data_with_soh() {
        let mut to = Vec::new();
        let logon = b"35=A\x0195=5\x0196=a\x01b=c\x01553=me\x01554=secret\x01";
        assert!(mask(logon, &[554, 925, 96], &mut to));
        assert_eq!(to, b"35=A\x0195=5\x0196=*****\x01553=me\x01554=******\x01");
        assert!(!mask(b"35=A\x01553=me\x01", &[554, 925, 96], &mut to));
    }
}
