//! What the sessions of a port say together of TLS, and of whose its certificates are.
//!
//! Every section counts, valid or not: what a port is does not depend on which sessions are left
//! out, nor on their order.

use fixbolt_session::Role;

use super::classifying::is_understood;
use super::error::ConfigError;
use super::nearest_key::nearest;
use super::port_draft::{PortDraft, PortTls};
use super::reading::SessionReader;
use super::rows::row_of;
use super::securing::is_of_tls;
use super::session::{CheckedSession, ConnectionType, SessionConfiguration};
use super::text::Setting;
use crate::tls::{SAYS_NOTHING, Tls};

/// Returns whether both sessions are acceptors' of the same address.
pub(super) fn share_a_port(this: &SessionConfiguration, other: &SessionConfiguration) -> bool {
    matches!((&this.connection, &other.connection), (
        ConnectionType::Acceptor { listen, .. },
        ConnectionType::Acceptor { listen: other, .. },
    ) if listen == other)
}

/// Checks that the sessions of a port have the same TLS, and that none is open to the certificates
/// of others unless it says so. `drafts` are in the order of the sessions; `None` for an initiator.
pub(super) fn check_ports(sessions: &mut [CheckedSession], drafts: &[Option<PortDraft>]) {
    for (index, this) in drafts.iter().enumerate() {
        for (other_index, other) in drafts[..index].iter().enumerate() {
            let both = this.as_ref().zip(other.as_ref());
            if let Some(mistake) = both.and_then(|(this, other)| differs_in_tls(this, other)) {
                refuse(&mut sessions[other_index], &mistake);
                refuse(&mut sessions[index], &mistake);
            }
        }
    }
    for session in sessions {
        let valid = session.result.as_ref().ok();
        if let Some(reason) = valid.and_then(|this| is_open(this, drafts.iter().flatten())) {
            refuse(session, &ConfigError::Contradiction { place: session.place.clone(), reason });
        }
    }
}

/// Adds a mistake to a session that has none yet: it is the same in each session of a port.
fn refuse(session: &mut CheckedSession, mistake: &ConfigError) {
    if session.result.is_ok() {
        session.result = Err(vec![mistake.clone()]);
    }
}

/// Returns what is wrong with the sessions of a port that have not the same TLS.
fn differs_in_tls(this: &PortDraft, other: &PortDraft) -> Option<ConfigError> {
    if this.listen.is_none() || this.listen != other.listen {
        return None;
    }
    let what = match (&this.tls, &other.tls) {
        (PortTls::Yes(this), PortTls::Yes(other)) => this.as_ref()?.differs_from(other.as_ref()?)?,
        (PortTls::Yes(_), PortTls::No) | (PortTls::No, PortTls::Yes(_)) => {
            "whether there is any (SocketUseSSL)"
        }
        (PortTls::No, PortTls::Unknown) => return Some(may_differ(this, other)),
        (PortTls::Unknown, PortTls::No) => return Some(may_differ(other, this)),
        _ => return None,
    };
    let reason = format!(
        "the sessions of a port have the same TLS, because the handshake comes before the Logon; this one differs in {what} from the one at {}; make them equal, or give them different ports",
        other.place
    );
    Some(ConfigError::Contradiction { place: this.place.clone(), reason })
}

/// Returns the mistake that a port is plain for one session, and may have TLS for another one.
fn may_differ(plain: &PortDraft, unknown: &PortDraft) -> ConfigError {
    let reason = format!(
        "the sessions of a port have the same TLS, and this one has none; whether the one at {} has any is not known before its mistakes are corrected; correct them first, or give the sessions different ports",
        unknown.place
    );
    ConfigError::Contradiction { place: plain.place.clone(), reason }
}

/// Returns what is wrong with a session that says nothing of its counterparty's certificate, at a
/// port where a template's sessions are known by their CompID, wherever it is in the file.
fn is_open<'d>(
    this: &SessionConfiguration,
    mut drafts: impl Iterator<Item = &'d PortDraft>,
) -> Option<String> {
    let ConnectionType::Acceptor { listen, acceptance, .. } = &this.connection else { return None };
    if !acceptance.tls.as_ref().is_some_and(Tls::says_nothing_of_peer) {
        return None;
    }
    let template = drafts.find(|draft| {
        draft.may_bind_by_comp_id && draft.listen.is_none_or(|of_template| of_template == *listen)
    })?;
    Some(format!("{SAYS_NOTHING} (see {})", template.place))
}

impl SessionReader<'_> {
    /// Returns what the section says of its port, with its TLS if that is complete; `None` for an
    /// initiator.
    pub(super) fn port(&self, tls: Option<&Tls>) -> Option<PortDraft> {
        if self.draft.role == Some(Role::Initiator) {
            return None;
        }
        let is_row = |key: &str, names: &[&str]| row_of(key).is_some_and(|row| names.contains(&row.name));
        let is_doubtful = |names: &[&str]| self.is_doubtful(|key| is_row(key, names));
        let is_known = !is_doubtful(&["SocketAcceptPort", "SocketAcceptHost"]);
        let tls = match (self.draft.tls.is_on(), self.is_doubtful(is_of_tls)) {
            (true, _) => PortTls::Yes(tls.cloned().map(Box::new)),
            (false, true) => PortTls::Unknown,
            (false, false) => PortTls::No,
        };
        let is_template = self.draft.dynamic || is_doubtful(&["DynamicSession"]);
        let binds = self.draft.tls.tls.binds_by_comp_id() || is_doubtful(&["TLSPeerNames"]);
        Some(PortDraft {
            place: self.own.place.clone(),
            listen: self.draft.listen().filter(|_| is_known),
            tls,
            may_bind_by_comp_id: is_template && binds,
        })
    }

    /// Returns whether there is a mistake in a setting of these keys, or in one of the section that
    /// was probably meant as one.
    fn is_doubtful(&self, is_one: impl Fn(&str) -> bool) -> bool {
        let sections = [Some(self.own), self.defaults].into_iter().flatten();
        let mut settings = sections.flat_map(|section| &section.settings);
        let is_wrong = |setting: &Setting| {
            let is_here = |mistake: &ConfigError| mistake.place() == Some(&setting.place);
            setting.value.is_none() || self.mistakes.iter().any(is_here)
        };
        let unknown = self.own.settings.iter().map(|setting| &setting.key).filter(|key| !is_understood(key));
        let mut meant = unknown.chain(&self.own.unread).filter_map(|key| nearest(key));
        settings.any(|setting| is_one(&setting.key) && is_wrong(setting)) || meant.any(is_one)
    }
}
