//! Whose the certificates of a port are, by what its sessions say together.

use super::session::{ConnectionType, Identity, SessionConfiguration};
use crate::tls::{SAYS_NOTHING, Tls};

/// Returns whether both sessions are acceptors' of the same address.
pub(super) fn share_a_port(this: &SessionConfiguration, other: &SessionConfiguration) -> bool {
    match (&this.connection, &other.connection) {
        (ConnectionType::Acceptor { listen, .. }, ConnectionType::Acceptor { listen: other_listen, .. }) => {
            listen == other_listen
        }
        _ => false,
    }
}

/// Returns what is wrong with a session that says nothing of its counterparty's certificate, at a
/// port where a template's sessions are known by their CompID, wherever it is in the file.
pub(super) fn is_open<'s>(
    this: &SessionConfiguration,
    mut all: impl Iterator<Item = &'s SessionConfiguration>,
) -> Option<String> {
    if !this.tls.as_ref().is_some_and(Tls::says_nothing_of_peer) {
        return None;
    }
    let template = all.find(|other| {
        matches!(other.identity, Identity::Dynamic(_))
            && other.tls.as_ref().is_some_and(Tls::binds_by_comp_id)
            && share_a_port(this, other)
    })?;
    Some(format!("{SAYS_NOTHING} (see {})", template.place))
}
