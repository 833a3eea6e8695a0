//! What is wrong with settings of TLS: everything that was found, each with the key of a
//! configuration that it is about.

use core::fmt;

/// What is wrong, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TlsFault {
    /// The key, if it is about a single one.
    pub(crate) key: Option<&'static str>,
    /// What is wrong; begins with the file's name if it is about a file.
    pub(crate) reason: String,
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.reason)
    }
}

/// Several of these, displayed in one line.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct TlsFaults(pub(crate) Vec<TlsFault>);

impl TlsFaults {
    /// Returns what was loaded; keeps why it was not.
    #[cfg(feature = "tls")]
    pub(super) fn keep<T>(&mut self, key: Option<&'static str>, loaded: Result<T, String>) -> Option<T> {
        loaded.map_err(|reason| self.0.push(TlsFault { key, reason })).ok()
    }
}

/// What is wrong is about no single key.
impl From<String> for TlsFaults {
    fn from(reason: String) -> Self {
        Self(vec![TlsFault { key: None, reason }])
    }
}

impl fmt::Display for TlsFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, fault) in self.0.iter().enumerate() {
            let before = if n == 0 { "" } else { "; " };
            write!(f, "{before}{fault}")?;
        }
        Ok(())
    }
}
