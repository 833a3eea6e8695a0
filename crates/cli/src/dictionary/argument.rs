//! What people write for a dictionary: the name of a shipped version, in any usual spelling, or a file.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use fixbolt_dictionary::{Dictionary, SHIPPED, Warning, shipped, source_text};

use crate::exit::Failure;

/// A dictionary, and what its reader had to say.
pub(crate) struct Loaded {
    pub(crate) dictionary: Cow<'static, Dictionary>,
    pub(crate) warnings: Vec<Warning>,
}

/// The dictionary that an argument names: a shipped version, or else a file in QuickFIX XML, FIX Orchestra or a compiled table. A
/// file that is called like a version is written with its folder: `./FIX44`.
pub(crate) fn load(argument: &Path) -> Result<Loaded, Failure> {
    let word = argument.to_str().unwrap_or_default();
    if let Some(dictionary) = version_named(word).and_then(|name| shipped(name.as_bytes())) {
        return Ok(Loaded { dictionary: Cow::Borrowed(dictionary), warnings: Vec::new() });
    }
    let looks_like_a_file =
        argument.extension().is_some_and(|end| !end.as_encoded_bytes()[0].is_ascii_digit())
            || argument.components().count() > 1;
    if !looks_like_a_file && !argument.exists() {
        let versions = SHIPPED.join(", ");
        let word = argument.display();
        return Err(Failure::usage(format!("{word} is none of the versions {versions}, and no such file")));
    }
    load_file(argument)
}

/// The dictionary in a file.
pub(crate) fn load_file(path: &Path) -> Result<Loaded, Failure> {
    let read = Dictionary::from_source(&read_text(path)?);
    let (dictionary, warnings) = read.map_err(|errors| {
        let first = errors.first().map_or_else(String::new, ToString::to_string);
        let more = match errors.len() {
            0 | 1 => String::new(),
            many => format!(" ({} more: `fixbolt dictionary check` shows all)", many - 1),
        };
        Failure::usage(format!("{}: not a dictionary: {first}{more}", path.display()))
    })?;
    Ok(Loaded { dictionary: Cow::Owned(dictionary), warnings })
}

/// The name of the shipped version that `word` means: `FIX.4.4`, `fix44`, `4.4`, `5.0sp2`, `latest`, `FIXT`.
pub(crate) fn version_named(word: &str) -> Option<&'static str> {
    let key = |name: &str| -> String {
        let letters = name.chars().filter(|c| !matches!(c, '.' | '-' | '_' | ' '));
        let letters: String = letters.map(|c| c.to_ascii_uppercase()).collect();
        match letters.strip_prefix("FIX") {
            Some("T") => "T11".to_owned(),
            Some(rest) => rest.to_owned(),
            None => letters,
        }
    };
    // Without its FIX the transport's name would be no more than a letter and two digits.
    let wanted = key(word);
    let begins_like = |name: &str| !name.starts_with("FIXT") || word.to_ascii_uppercase().starts_with("FIX");
    SHIPPED.into_iter().find(|name| key(name) == wanted && begins_like(name))
}

/// The text of a dictionary file; a byte that is none of its encoding is told with its line.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::file("read", path, &error))?;
    let text = source_text(&bytes).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    Ok(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_by_every_usual_spelling() {
        for (words, name) in [
            (&["FIX.4.4", "fix44", "FIX44", "4.4", "44", "Fix-4.4", "FIX_4_4", "fix.4.4"][..], "FIX.4.4"),
            (&["5.0", "FIX50", "FIX.5.0"], "FIX.5.0"),
            (&["5.0sp2", "FIX.5.0SP2", "FIX50SP2", "fix 5.0 sp2", "50-SP2"], "FIX.5.0SP2"),
            (&["latest", "FIX.Latest", "fixlatest", "FIX-Latest"], "FIX.Latest"),
            (&["FIXT", "fixt", "FIXT.1.1", "fixt11", "FIXT1.1"], "FIXT.1.1"),
        ] {
            for word in words {
                assert_eq!(version_named(word), Some(name), "{word}");
            }
        }
        for word in ["", "FIX", ".", "4.5", "FIX.4", "T", "FIX44.xml", "sp2"] {
            assert_eq!(version_named(word), None, "{word}");
        }
    }
}
