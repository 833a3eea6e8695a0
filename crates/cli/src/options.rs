//! The options of a command in place of the keys of a configuration.
//!
//! The engine's messages say which setting they are about by its key. A command that has no
//! configuration has an option instead: whatever it says names that one.

use std::borrow::Cow;
use std::sync::OnceLock;

static NAMES: OnceLock<&'static [(&'static str, &'static str)]> = OnceLock::new();

/// Names settings by these options from now on, each in place of its key, in everything that the
/// process says. Called once, by a command without a configuration.
pub fn stand_for(keys: &'static [(&'static str, &'static str)]) {
    // A second call would be a bug in this command, and would only leave the keys in its words.
    let _ = NAMES.set(keys);
}

/// Returns a text with the options of the command, if it has options for keys.
pub fn named(text: &str) -> Cow<'_, str> {
    NAMES.get().map_or(Cow::Borrowed(text), |names| replaced(text, names))
}

/// Replaces whole words, with `=Y` after them: an option that is there is on.
fn replaced<'t>(text: &'t str, names: &[(&str, &str)]) -> Cow<'t, str> {
    if !names.iter().any(|(key, _)| text.contains(key)) {
        return Cow::Borrowed(text);
    }
    let mut new = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (before, words) = rest.split_at(begin);
        let end = words.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(words.len());
        let (word, mut after) = words.split_at(end);
        new.push_str(before);
        match names.iter().find(|(key, _)| *key == word) {
            Some((_, option)) => {
                new.push_str(option);
                after = after.strip_prefix("=Y").unwrap_or(after);
            }
            None => new.push_str(word),
        }
        rest = after;
    }
    new.push_str(rest);
    Cow::Owned(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_replaced_and_nothing_else() {
        let names = [("SocketCAFile", "--ca"), ("SocketUseSSL", "--tls")];
        let shown = |text: &'static str| replaced(text, &names);
        assert_eq!(shown("SocketCAFile: no.pem: No such file"), "--ca: no.pem: No such file");
        assert_eq!(shown("set SocketUseSSL=Y here (SocketUseSSL)"), "set --tls here (--tls)");
        for text in ["", "NewSocketCAFile", "SocketCAFiles", "write SocketCA", "caf\u{e9} 10=\u{1}"] {
            assert_eq!(shown(text), text);
        }
        assert!(matches!(shown("nothing"), Cow::Borrowed(_)));
    }
}
