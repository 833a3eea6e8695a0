//! From a loaded dictionary to a module, with errors that name file and line.

use std::fmt;
use std::path::{Path, PathBuf};

use fixbolt_dictionary::{Dictionary, LoadError, Loaded, ReadError, Version};

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

impl Finding {
    /// Returns everything for which a source was not loaded.
    pub fn all_of(error: &LoadError) -> Vec<Finding> {
        match error {
            LoadError::Refused { name, faults } => {
                let more = faults.count() - faults.first().len();
                let more = (more > 0).then(|| Finding {
                    file: name.into(),
                    line: None,
                    element: "document".to_string(),
                    reason: format!("{more} more errors are not shown"),
                });
                let finding = |error: &ReadError| Finding {
                    file: name.into(),
                    line: Some(error.line),
                    element: error.element.clone(),
                    reason: error.reason.clone(),
                };
                faults.first().iter().map(finding).chain(more).collect()
            }
            LoadError::File { file, error } => vec![Finding {
                file: file.clone(),
                line: None,
                element: "file".to_string(),
                reason: format!("it cannot be read: {error}"),
            }],
            other => vec![Finding {
                file: PathBuf::new(),
                line: None,
                element: "source".to_string(),
                reason: other.to_string(),
            }],
        }
    }
}

impl Module {
    /// Generates the module of a dictionary that was loaded from `file`, or from the shipped
    /// version of this name: `FIX.4.4` becomes the module `fix44`. A version of the application
    /// layer alone (FIX.5.0 and later) gets header, trailer and session messages of FIXT.1.1.
    ///
    /// # Errors
    /// Returns everything that cannot be generated.
    pub fn new(file: &Path, loaded: Loaded, options: &Options) -> Result<Module, Vec<Finding>> {
        let fault = |line, element: &str, reason: &str| Finding {
            file: file.to_path_buf(),
            line,
            element: element.to_string(),
            reason: reason.to_string(),
        };
        let warnings = loaded.warnings.iter().map(|w| fault(Some(w.line), &w.element, &w.reason)).collect();
        let loaded = loaded.whole().map_err(|error| vec![fault(None, "fix", &error.to_string())])?;
        let generated = generate(&loaded.dictionary, options).map_err(|errors| {
            let line = |definition| loaded.line_of(definition);
            let faults =
                errors.iter().map(|e| fault(e.definition.as_ref().and_then(line), &e.element, &e.reason));
            faults.collect::<Vec<_>>()
        })?;
        let name = match file.to_str().and_then(|name| name.parse().ok()) {
            Some(version) => names::module_of(Version::name(version)),
            None => names::module(&file.file_stem().unwrap_or_default().to_string_lossy()),
        };
        Ok(Module { name, dictionary: loaded.dictionary, generated, warnings })
    }
}
