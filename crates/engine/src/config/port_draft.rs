//! What a section says of the port at which it accepts connections, whether or not the rest of the
//! section is valid.

use std::net::SocketAddr;

use super::error::SourceLine;
use crate::tls::Tls;

/// An acceptor's section, seen from its port.
pub(super) struct PortDraft {
    /// The line of its `[SESSION]`.
    pub(super) place: SourceLine,
    /// Where it listens; `None` if that cannot be known.
    pub(super) listen: Option<SocketAddr>,
    pub(super) tls: PortTls,
    /// Whether it is a template, or may be, whose sessions are known by the CompID in their
    /// certificates.
    pub(super) may_bind_by_comp_id: bool,
}

/// Whether the connections are encrypted.
pub(super) enum PortTls {
    No,
    /// They are, with these settings if they are complete.
    Yes(Option<Box<Tls>>),
    /// A mistake is in what decides it.
    Unknown,
}
