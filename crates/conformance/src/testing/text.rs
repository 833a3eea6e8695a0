//! Messages as text, and settings that need no more than an identity.

use fixbolt_codec::{Frame, Framer};
use fixbolt_session::{Role, SessionDictionary, SessionSettings};

/// Returns the settings of session `FIX.4.4:US->name`, without a dictionary.
///
/// # Panics
/// Panics if `name` is not a CompID.
#[must_use]
pub fn settings(name: &str, role: Role) -> SessionSettings {
    settings_of(&format!("FIX.4.4:US->{name}"), role)
}

/// Returns the settings of the session with this identity (`FIX.4.2:US->A`), without a dictionary.
///
/// # Panics
/// Panics if `id` is not an identity.
#[must_use]
pub fn settings_of(id: &str, role: Role) -> SessionSettings {
    SessionSettings::new(id.parse().unwrap(), role).with(|s| s.dictionary = SessionDictionary::None)
}

/// Returns a whole message: `fields` begin with MsgType (35), the last `|` may be omitted.
/// BeginString, BodyLength and CheckSum are added.
///
/// ```
/// use fixbolt_conformance::testing::message;
///
/// let heartbeat = message("FIX.4.4", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|");
/// assert!(heartbeat.starts_with(b"8=FIX.4.4\x019=41\x0135=0\x01"));
/// assert!(heartbeat.ends_with(b"\x0110=127\x01"));
/// assert_eq!(message("FIX.4.4", "35=0|112=x"), message("FIX.4.4", "35=0|112=x|"));
/// ```
#[must_use]
pub fn message(begin_string: &str, fields: &str) -> Vec<u8> {
    let mut fields = fields.replace('|', "\x01");
    if !fields.ends_with('\x01') {
        fields.push('\x01');
    }
    sealed(begin_string.as_bytes(), fields.as_bytes())
}

/// Returns `fields` with BeginString, BodyLength and CheckSum around them. The checksum is computed
/// here, independently of the codec, because tests compare the codec's checksum with it.
pub(crate) fn sealed(begin_string: &[u8], fields: &[u8]) -> Vec<u8> {
    let mut message =
        [b"8=", begin_string, format!("\x019={}\x01", fields.len()).as_bytes(), fields].concat();
    let sum = message.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    message.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    message
}

/// Returns the MsgTypes (35) of the messages, in order.
#[must_use]
pub fn kinds(list: &[String]) -> String {
    list.iter().map(|m| m.split("|35=").nth(1).and_then(|m| m.split('|').next()).unwrap_or("?")).collect()
}

/// Returns the messages in `bytes` as text.
///
/// # Panics
/// Panics if there is anything else between them.
#[must_use]
pub fn messages(bytes: &[u8]) -> Vec<String> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Frame::Message(framed) = Framer::new(1 << 20).next(&bytes[at..]) else { panic!("no message") };
        at += framed.bytes().len();
        list.push(String::from_utf8_lossy(framed.bytes()).replace('\x01', "|"));
    }
    list
}

/// Returns the value of the first field with this tag of a message in text.
#[must_use]
pub fn value<'m>(message: &'m str, tag: &str) -> Option<&'m str> {
    message.split('|').find_map(|field| field.strip_prefix(tag)?.strip_prefix('='))
}
