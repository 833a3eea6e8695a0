//! Dictionary arguments: the name of a shipped version, in any usual spelling, or a file.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use fixbolt_dictionary::{Dictionary, Version, Warning, shipped, source_text};

use crate::exit::Failure;

/// A dictionary, and the warnings of its reader.
pub(crate) struct Loaded {
    pub(crate) dictionary: Cow<'static, Dictionary>,
    pub(crate) warnings: Vec<Warning>,
}

/// Returns the dictionary that an argument names: a shipped version, or else a file in QuickFIX
/// XML, FIX Orchestra or a compiled table. A file with the name of a version must be written with
/// its folder: `./FIX44`.
pub(crate) fn load(argument: &Path) -> Result<Loaded, Failure> {
    let word = argument.to_str().unwrap_or_default();
    let unknown = match word.parse::<Version>() {
        Ok(version) => {
            return Ok(Loaded { dictionary: Cow::Borrowed(shipped(version)), warnings: Vec::new() });
        }
        Err(unknown) => unknown,
    };
    let looks_like_a_file =
        argument.extension().is_some_and(|end| !end.as_encoded_bytes()[0].is_ascii_digit())
            || argument.components().count() > 1;
    if !looks_like_a_file && !argument.exists() {
        return Err(Failure::usage(format!("{} is {unknown}, and no such file", argument.display())));
    }
    load_file(argument)
}

/// Reads the dictionary in a file.
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

/// Reads the text of a dictionary file. A byte that is invalid in its encoding is reported with its
/// line.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::file("read", path, &error))?;
    let text = source_text(&bytes).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    Ok(text.into_owned())
}
