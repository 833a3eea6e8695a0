//! Whose a certificate is, by what the builder was given: checked before anything is opened.

use core::net::SocketAddr;

use fixbolt_session::SessionId;

use super::EngineBuilder;
use super::starting::Refused;
use crate::error::EngineError;
use crate::preparation::wrong_tls;
use crate::tls::{PeerRules, SAYS_NOTHING, Tls};

impl EngineBuilder {
    /// Checks that no session is open to the certificates of a template's sessions unless it says
    /// so: at an address where these are known by their CompID, the others say whose theirs are.
    /// Those that do not are refused with [`EngineError::Settings`], or [`EngineError::Listen`] for
    /// a template.
    pub(super) fn check_binding(&mut self, refused: &mut Refused) {
        let by_comp_id = self.templates.iter().filter(|(_, template)| template.binds_by_comp_id());
        let addresses: Vec<SocketAddr> = by_comp_id.map(|(address, _)| *address).collect();
        let is_open = |address: &SocketAddr, tls: Option<&Tls>| {
            addresses.contains(address) && tls.is_some_and(Tls::says_nothing_of_peer)
        };
        self.acceptances.retain(|(address, acceptance)| {
            let id = &acceptance.settings.id;
            let is_open = is_open(address, acceptance.tls.as_ref());
            if is_open {
                refused.session(id, wrong_tls(id, &SAYS_NOTHING));
            }
            !is_open
        });
        self.templates.retain(|(address, template)| {
            let (address, is_open) = (*address, is_open(address, template.tls.as_ref()));
            if is_open {
                let error = EngineError::listen_for_sessions(address, SAYS_NOTHING.to_owned());
                refused.session(&"any counterparty", error);
            }
            !is_open
        });
    }

    /// Returns the rules about certificates of the sessions that are accepted.
    pub(super) fn bound(&self) -> Vec<(SocketAddr, SessionId, PeerRules)> {
        let bound = self.acceptances.iter().filter_map(|(address, acceptance)| {
            let id = &acceptance.settings.id;
            let rules = PeerRules::new(acceptance.tls.as_ref()?, id.target_comp_id());
            Some((*address, id.clone(), rules))
        });
        bound.collect()
    }
}
