//! From the text of a dictionary file to a module, with errors that name file and line.

use std::fmt;
use std::path::{Path, PathBuf};

use fixbolt_dictionary::{Dictionary, Version, fixt11, shipped};

use crate::{Generated, Options, generate, names};

/// The typed messages of a dictionary file.
#[derive(Debug, Clone)]
pub struct Module {
    /// The name of the module: the file's name without its extension, as a Rust name (`paint` for
    /// `Paint.xml`).
    pub name: String,
    /// The dictionary that was read.
    pub dictionary: Dictionary,
    /// The generated items.
    pub generated: Generated,
    /// Oddities in the file that were accepted.
    pub warnings: Vec<Finding>,
}

/// Something in a dictionary file that is wrong or odd: `paint.xml:12: field 'Colour' in message
/// 'Paint': no field has this name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, if it is known.
    pub line: Option<u32>,
    /// The element.
    pub element: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { file, line, element, reason } = self;
        write!(f, "{}:", file.display())?;
        if let Some(line) = line {
            write!(f, "{line}:")?;
        }
        write!(f, " {element}: {reason}")
    }
}

impl std::error::Error for Finding {}

impl Module {
    /// Generates the module of a dictionary in any form that [`Dictionary::from_source`] reads;
    /// `file` is where `text` comes from. A version of the application layer alone (FIX.5.0 and
    /// later) gets header, trailer and session messages of FIXT.1.1.
    ///
    /// # Errors
    /// Returns everything that is wrong with the file: why it cannot be read, or else what cannot
    /// be generated.
    pub fn from_text(file: &Path, text: &str, options: &Options) -> Result<Module, Vec<Finding>> {
        let fault = |line, element: &str, reason: &str| Finding {
            file: file.to_path_buf(),
            line,
            element: element.to_string(),
            reason: reason.to_string(),
        };
        let (dictionary, warnings) = Dictionary::from_source(text).map_err(|errors| {
            errors.iter().map(|e| fault(Some(e.line), &e.element, &e.reason)).collect::<Vec<_>>()
        })?;
        let warnings = warnings.iter().map(|w| fault(Some(w.line), &w.element, &w.reason)).collect();
        let dictionary = whole(dictionary).map_err(|reason| vec![fault(None, "fix", &reason)])?;
        let generated = generate(&dictionary, options).map_err(|errors| {
            let line = |definition| dictionary.line_of(definition, text);
            let faults =
                errors.iter().map(|e| fault(e.definition.as_ref().and_then(line), &e.element, &e.reason));
            faults.collect::<Vec<_>>()
        })?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Module { name: names::module(&stem), dictionary, generated, warnings })
    }

    /// Generates the module of a shipped version, named like the feature of `fixbolt-messages`:
    /// `fix44` for `FIX.4.4`.
    ///
    /// # Errors
    /// The shipped versions can all be generated, so this does not fail.
    pub fn shipped(version: Version, options: &Options) -> Result<Module, Vec<Finding>> {
        let name = match version {
            Version::FixLatest => "fix_latest".to_string(),
            other => other.name().replace('.', "").to_lowercase(),
        };
        let fault = |element: String, reason: String| {
            let file = PathBuf::from(version.name());
            Finding { file, line: None, element, reason }
        };
        let dictionary =
            whole(shipped(version).clone()).map_err(|reason| vec![fault(version.to_string(), reason)])?;
        let generated = generate(&dictionary, options).map_err(|errors| {
            errors.into_iter().map(|error| fault(error.element, error.reason)).collect::<Vec<_>>()
        })?;
        Ok(Module { name, dictionary, generated, warnings: Vec::new() })
    }
}

/// Adds what FIXT.1.1 puts around the messages to a version of the application layer alone.
fn whole(dictionary: Dictionary) -> Result<Dictionary, String> {
    if dictionary.header().is_empty() && dictionary.version().begin_string == Version::Fixt11.name() {
        return dictionary.over(fixt11()).map_err(|error| error.to_string());
    }
    Ok(dictionary)
}
