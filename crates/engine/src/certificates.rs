//! Certificates in use, for the application: they are loaded again on request.

use std::sync::Arc;

use crate::error::EngineError;
use crate::tls::TlsContexts;

/// The certificates of an engine's sessions over TLS. Can be cloned, and used by any thread.
#[derive(Clone, Debug)]
pub struct Certificates(Arc<TlsContexts>);

impl Certificates {
    pub(crate) const fn new(contexts: Arc<TlsContexts>) -> Self {
        Self(contexts)
    }

    /// Loads all certificates, keys and revocation lists again, for connections that begin from now
    /// on. Files that have changed are loaded by themselves within a minute.
    ///
    /// # Errors
    /// [`EngineError::Certificates`]: what cannot be loaded. The old ones stay in use until it can,
    /// which is tried again each minute.
    pub fn reload(&self) -> Result<(), EngineError> {
        self.0.reload().map_err(|reason| EngineError::Certificates { reason })
    }
}
