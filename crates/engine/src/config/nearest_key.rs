//! The known key that a key with no meaning was probably meant to be.

use std::sync::LazyLock;

use super::fixt;
use super::other_keys::{EXAMPLE_KEYS, other_keys};
use super::rows::ROWS;

/// Words that no engine has, and the key that is meant by each. Misspelled ones count, too.
const SYNONYMS: &[(&str, &str)] = &[
    ("UseSSL", "SocketUseSSL"),
    ("UseTLS", "SocketUseSSL"),
    ("UseSSLTLS", "SocketUseSSL"),
    ("EnableSSL", "SocketUseSSL"),
    ("EnableTLS", "SocketUseSSL"),
    ("SSLEnabled", "SocketUseSSL"),
    ("TLSEnable", "SocketUseSSL"),
    ("TLSEnabled", "SocketUseSSL"),
    ("SocketUseTLS", "SocketUseSSL"),
    ("SocketSSL", "SocketUseSSL"),
    ("SocketTLS", "SocketUseSSL"),
    ("SocketSSLEnable", "SocketUseSSL"),
    ("SocketSSLEnabled", "SocketUseSSL"),
    ("SocketTLSEnable", "SocketUseSSL"),
    ("SocketEnableSSL", "SocketUseSSL"),
    ("SocketEnableTLS", "SocketUseSSL"),
    ("SSL", "SocketUseSSL"),
    ("SSLOn", "SocketUseSSL"),
    ("TLS", "SocketUseSSL"),
    ("Encrypted", "SocketUseSSL"),
    ("Encryption", "SocketUseSSL"),
    ("CertFile", "SocketCertificateFile"),
    ("CertificatePath", "SocketCertificateFile"),
    ("KeyFile", "SocketPrivateKeyFile"),
    ("PrivateKey", "SocketPrivateKeyFile"),
    ("CACertificate", "SocketCAFile"),
    ("CACertFile", "SocketCAFile"),
    ("ClientAuth", "NeedClientAuth"),
    ("VerifyClient", "NeedClientAuth"),
    ("HeartBeatInterval", "HeartBtInt"),
];

/// Other words, each with the keys that may be meant by it. They are too short or too common for a
/// misspelled one to count.
const WORDS: &[(&str, &[&str])] = &[
    ("ResetOnLogoff", &["ResetOnLogout"]),
    ("ResetSeqNumFlag", &["ResetOnLogon"]),
    ("ResetSequenceNumbers", &["ResetOnLogon"]),
    ("Certificate", &["SocketCertificateFile"]),
    ("Port", &["SocketAcceptPort", "SocketConnectPort"]),
    ("SocketPort", &["SocketAcceptPort", "SocketConnectPort"]),
    ("AcceptPort", &["SocketAcceptPort"]),
    ("ListenPort", &["SocketAcceptPort"]),
    ("ConnectPort", &["SocketConnectPort"]),
    ("Host", &["SocketConnectHost", "SocketAcceptHost"]),
    ("SocketHost", &["SocketConnectHost", "SocketAcceptHost"]),
    ("ConnectHost", &["SocketConnectHost"]),
    ("AcceptHost", &["SocketAcceptHost"]),
    ("ListenAddress", &["SocketAcceptHost"]),
    ("BindAddress", &["SocketAcceptHost"]),
    ("Sender", &["SenderCompID"]),
    ("Target", &["TargetCompID"]),
    ("Version", &["BeginString"]),
    ("FIXVersion", &["BeginString"]),
    ("StorePath", &["FileStorePath"]),
    ("LogPath", &["FileLogPath"]),
];

/// The key of a line that reads another file, which is no setting.
pub(super) const INCLUDE: &str = "include";
/// The names of sections, in lower case as [`INCLUDE`] is.
pub(super) const DEFAULT: &str = "default";
pub(super) const SESSION: &str = "session";

/// The fewest letters of a name's beginning or end that are enough to mean it.
const PART: usize = 6;

/// What may be written, in lower case, and the key that is meant by it; synonyms come last.
fn words() -> &'static [(String, String)] {
    static WORDS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
        let others = other_keys().map(|(name, _)| *name).filter(|name| !name.ends_with('*'));
        let others = others.chain(EXAMPLE_KEYS).map(str::to_owned);
        let known = ROWS.iter().flat_map(|row| row.names()).chain(fixt::versioned_keys()).chain(others);
        let synonyms = SYNONYMS.iter().map(|(word, meant)| (word.to_ascii_lowercase(), (*meant).to_owned()));
        let known = known.chain([INCLUDE.to_owned()]);
        known.map(|name| (name.to_ascii_lowercase(), name)).chain(synonyms).collect()
    });
    &WORDS
}

/// Returns how different a word may be from one that is meant, by the length of the shorter one.
fn tolerance(length: usize) -> usize {
    match length {
        0..=3 => 0,
        4..=5 => 1,
        _ => 2.max(length / 3),
    }
}

/// Returns whether a word may be a misspelled `meant`, which is in lower case.
pub(super) fn is_like(word: &str, meant: &str) -> bool {
    strsim::osa_distance(&word.to_ascii_lowercase(), meant) <= tolerance(word.len().min(meant.len()))
}

/// Returns how many letters only one of two words has: those of the one, and those of the other.
/// The distance of the words is at least the larger number. It is found much faster than the
/// distance itself, and leaves few words.
fn different_letters(one: &str, other: &str) -> (usize, usize) {
    let mut counts = [0_isize; 256];
    one.bytes().for_each(|letter| counts[usize::from(letter)] += 1);
    other.bytes().for_each(|letter| counts[usize::from(letter)] -= 1);
    let more: isize = counts.iter().filter(|count| **count > 0).sum();
    let less: isize = counts.iter().filter(|count| **count < 0).sum();
    (more.unsigned_abs(), less.unsigned_abs())
}

/// Returns how different two words are, the smaller the more similar; `None` if they are too
/// different. Of words with the same distance, one that lacks a letter, or has two in the wrong
/// order, is more similar than one with another letter.
fn difference(word: &str, meant: &str) -> Option<(usize, usize)> {
    let most = tolerance(word.len().min(meant.len()));
    if word.len().abs_diff(meant.len()) > most {
        return None;
    }
    let (more, less) = different_letters(word, meant);
    let distance = (more.max(less) <= most).then(|| strsim::osa_distance(word, meant))?;
    (distance <= most).then_some((distance, more + less))
}

/// Returns the known key that `key` was probably meant to be: the one with the most similar
/// spelling, if it is similar enough, or the shortest one that ends or begins with it, or the
/// family of keys whose common beginning is similar.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    similar(key).first().copied()
}

/// Returns the keys to suggest in place of one that is unknown: those that are meant by the word,
/// or the nearest ones.
pub(super) fn suggested(key: &str) -> Vec<&'static str> {
    let word = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(key));
    word.map_or_else(|| similar(key), |(_, meant)| meant.to_vec())
}

/// Returns the nearest key, followed by others that are as similar.
fn similar(key: &str) -> Vec<&'static str> {
    let wanted = key.to_ascii_lowercase();
    let mut similar: Vec<_> = words()
        .iter()
        .filter_map(|(word, meant)| Some((difference(&wanted, word)?, meant.as_str())))
        .collect();
    if let Some(least) = similar.iter().map(|(difference, _)| *difference).min() {
        similar.retain(|(difference, _)| *difference == least);
        let mut all: Vec<_> = similar.into_iter().map(|(_, meant)| meant).collect();
        // Synonyms of a key are beside each other.
        all.dedup();
        return all;
    }
    let part = || {
        let parts = words().iter().filter(|(word, _)| {
            wanted.len() >= PART && (word.ends_with(&wanted) || word.starts_with(&wanted))
        });
        parts.min_by_key(|(word, _)| (!word.ends_with(&wanted), word.len())).map(|(_, meant)| meant)
    };
    match part() {
        Some(meant) => vec![meant],
        None => other_keys().map(|(name, _)| *name).filter(|name| is_of_family(&wanted, name)).collect(),
    }
}

/// Returns whether a word, in lower case, begins like the keys of a family, such as `MySQL*`, with
/// one mistake.
fn is_of_family(word: &str, family: &str) -> bool {
    let Some(stem) = family.strip_suffix('*').map(str::to_ascii_lowercase) else { return false };
    let beginnings = (stem.len() - 1..=stem.len() + 1).filter_map(|length| word.get(..length));
    beginnings.into_iter().any(|begin| strsim::osa_distance(begin, &stem) <= 1)
}

#[cfg(test)]
mod tests {
    use super::super::other_keys::treatment;
    use super::super::rows::row_of;
    use super::*;

    #[test]
    fn a_misspelt_key_is_near_the_right_one_and_nonsense_is_near_none() {
        let nearest = |key| nearest(key).unwrap_or("");
        assert_eq!(nearest("HeartBeatInt"), "HeartBtInt");
        assert_eq!(nearest("SenderCompId1"), "SenderCompID");
        assert_eq!(nearest("TragetCompID"), "TargetCompID");
        assert_eq!(nearest("FileStorPath"), "FileStorePath");
        assert_eq!(nearest("Incoming.UnknownTags"), "Incoming.UnknownTag");
        for nonsense in ["Quux", "Tag", "Desk", "OrderEntryDesk", ""] {
            assert_eq!(nearest(nonsense), "", "{nonsense}");
        }
    }

    #[test]
    fn a_word_for_a_key_and_a_part_of_one_are_near_it() {
        let nearest = |key| nearest(key).unwrap_or("");
        assert_eq!(nearest("UseSSL"), "SocketUseSSL");
        assert_eq!(nearest("UseSLL"), "SocketUseSSL");
        assert_eq!(nearest("CertFile"), "SocketCertificateFile");
        assert_eq!(nearest("CAFile"), "SocketCAFile");
        assert_eq!(nearest("PrivateKeyFile"), "SocketPrivateKeyFile");
        assert_eq!(nearest("KeyStore"), "SocketKeyStore");
        assert_eq!(nearest("UseSNIs"), "UseSNI");
        assert_eq!(nearest("SSLCertificat"), "SSLCertificate");
    }

    #[test]
    fn a_common_word_suggests_keys_and_what_is_spelled_like_it_does_not() {
        assert_eq!(suggested("ResetOnLogoff"), ["ResetOnLogout"]);
        assert_eq!(suggested("certificate"), ["SocketCertificateFile"]);
        assert_eq!(suggested("Port"), ["SocketAcceptPort", "SocketConnectPort"]);
        assert_eq!(suggested("HeartBeatInt"), ["HeartBtInt"]);
        for other in ["Sort", "Cost", "Market", "Vendor", "Person"] {
            assert_eq!(suggested(other), [""; 0], "{other}");
        }
        // What a port is does not depend on it.
        assert_eq!(nearest("Port"), None);
    }

    #[test]
    fn each_synonym_means_a_known_key_and_is_none() {
        for (word, meant) in SYNONYMS {
            assert!(row_of(meant).is_some(), "{meant}");
            assert!(row_of(word).is_none() && treatment(word).is_none(), "{word}");
        }
        for (word, meant) in WORDS {
            assert!(meant.iter().all(|meant| row_of(meant).is_some()), "{meant:?}");
            assert!(row_of(word).is_none() && treatment(word).is_none(), "{word}");
        }
    }
}
