//! What a build without TLS has in place of contexts and streams: calls that refuse, before there
//! is a connection.

use std::io::{self, Read, Write};
use std::sync::Arc;

use fixbolt_session::{Role, TlsFailure, Utc};

use super::faults::TlsFaults;
use super::peer::PeerCertificate;
use super::settings::{NOT_BUILT, Tls};

/// There is none.
#[derive(Debug)]
pub(crate) enum TlsContext {}

impl TlsContext {
    pub(crate) fn accept(&self) -> Result<TlsStream, TlsFailure> {
        match *self {}
    }

    pub(crate) fn connect(&self, _: &str) -> Result<TlsStream, TlsFailure> {
        match *self {}
    }
}

pub(crate) fn doubts(_: &Tls, _: Role, _: Utc) -> Vec<String> {
    Vec::new()
}

/// None.
#[derive(Debug, Default)]
pub(crate) struct TlsContexts;

impl TlsContexts {
    pub(crate) const fn tried() -> Self {
        Self
    }

    pub(crate) fn of_port(self: &Arc<Self>, _: &Tls) -> Result<Arc<TlsContext>, TlsFaults> {
        Err(NOT_BUILT.to_owned().into())
    }

    pub(crate) fn of_initiator(self: &Arc<Self>, _: &Tls, _: &str) -> Result<Arc<TlsContext>, TlsFaults> {
        Err(NOT_BUILT.to_owned().into())
    }

    #[expect(clippy::unused_self, reason = "as in a build with TLS")]
    pub(crate) const fn leave_out_keys(&self, _: bool) {}

    #[expect(clippy::unused_self, reason = "as in a build with TLS")]
    pub(crate) fn reload(&self) -> Result<(), String> {
        Ok(())
    }
}

/// There is none.
#[derive(Debug)]
pub(crate) enum TlsStream {}

/// The outcome of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decrypted {
    pub(crate) count: usize,
    pub(crate) more: bool,
    pub(crate) end: bool,
}

impl TlsStream {
    pub(crate) fn fill(&mut self, _: &mut impl Read, _: bool) -> bool {
        match *self {}
    }

    pub(crate) fn has_step(&self) -> bool {
        match *self {}
    }

    pub(crate) fn has_hello(&self) -> bool {
        match *self {}
    }

    pub(crate) fn has_signed(&self) -> bool {
        match *self {}
    }

    pub(crate) fn has_just_signed(&self) -> bool {
        match *self {}
    }

    pub(crate) fn step(&mut self) {
        match *self {}
    }

    pub(crate) fn peer_has_left(&self) -> bool {
        match *self {}
    }

    pub(crate) fn receive(&mut self, _: &mut impl Read, _: &mut [u8], _: bool) -> Decrypted {
        match *self {}
    }

    pub(crate) fn send(&mut self, _: &mut impl Write, _: &[u8]) -> io::Result<(usize, bool)> {
        match *self {}
    }

    pub(crate) fn flush(&mut self, _: &mut impl Write) -> io::Result<bool> {
        match *self {}
    }

    pub(crate) fn has_unsent(&self) -> bool {
        match *self {}
    }

    pub(crate) fn say_goodbye(&mut self, _: &mut impl Write) {
        match *self {}
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        match *self {}
    }

    pub(crate) fn failure(&self) -> Option<&TlsFailure> {
        match *self {}
    }

    pub(crate) fn peer(&self) -> Option<PeerCertificate> {
        match *self {}
    }
}
