//! Why a log or journal cannot be read.

use std::error::Error;
use std::path::PathBuf;
use std::{fmt, io};

use fixbolt_session::store::StoreError;

use crate::form::Form;

/// Why a log or journal cannot be read. `{error:#}` adds the reason of the system.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The file, or the input, cannot be opened or read.
    Io {
        /// The file; `None` for an input that has no name.
        file: Option<PathBuf>,
        /// The reason.
        error: io::Error,
    },
    /// The file, or the input, is no text.
    NotText {
        /// The file; `None` for an input that has no name.
        file: Option<PathBuf>,
        /// What it is.
        form: Form,
    },
    /// The directory has no journal, or it cannot be read.
    Journal(StoreError),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |file: &Option<PathBuf>| match file {
            Some(file) => file.display().to_string(),
            None => "the input".to_owned(),
        };
        match self {
            Self::Io { file, error } => {
                write!(f, "cannot read {}", name(file))?;
                if f.alternate() { write!(f, ": {error}") } else { Ok(()) }
            }
            Self::NotText { file, form } => {
                let command = form.as_text(file.as_deref());
                write!(f, "{} is {form}: `{command}` writes it as text", name(file))
            }
            Self::Journal(error) => error.fmt(f),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::NotText { .. } => None,
            Self::Journal(error) => error.source(),
        }
    }
}
