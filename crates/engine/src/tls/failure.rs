//! Why a connection over TLS was given up.

use core::fmt;

/// What is wrong with a connection over TLS, and what to do: one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TlsFailure(String);

impl TlsFailure {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for TlsFailure {}
