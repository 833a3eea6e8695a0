//! Which Logons a dynamic session is for, and which identity each of them gets.

use fixbolt_codec::Version;
use fixbolt_session::{CompIds, SessionId};

/// The identities of dynamic sessions that one template makes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct IdentityTemplate {
    /// BeginString; `None` for any.
    pub version: Option<Version>,
    /// Our side.
    pub sender: CompIdsTemplate,
    /// The counterparty's side.
    pub target: CompIdsTemplate,
}

/// One side of the sessions that one template makes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct CompIdsTemplate {
    /// CompID; `None` for any.
    pub comp_id: Option<String>,
    /// SubID.
    pub sub_id: SubIdTemplate,
    /// LocationID.
    pub location_id: SubIdTemplate,
}

/// What a SubID or LocationID of a Logon means to a template.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum SubIdTemplate {
    /// Nothing: it is not part of the sessions' identities.
    #[default]
    Ignored,
    /// It is part of the identity as the Logon has it, also if the Logon has none; one that no
    /// identity can have (more than 64 bytes, or not printable ASCII) counts as none.
    Any,
    /// The Logon must have this one, which is part of the identity.
    Only(String),
}

impl IdentityTemplate {
    /// The template for any Logon, with its SubIDs and LocationIDs in the identity.
    pub(crate) fn with_sub_ids() -> Self {
        let any =
            || CompIdsTemplate { comp_id: None, sub_id: SubIdTemplate::Any, location_id: SubIdTemplate::Any };
        Self { version: None, sender: any(), target: any() }
    }

    /// Returns the identity of the session for a Logon that names `logon`, seen from our side;
    /// `None` if it is not for this template.
    pub(crate) fn identity(&self, logon: &SessionId) -> Option<SessionId> {
        self.version.is_none_or(|only| only == logon.version()).then_some(())?;
        let (sender, target) = (self.sender.comp_ids(logon.sender())?, self.target.comp_ids(logon.target())?);
        SessionId::between(logon.version(), sender, target).ok()
    }
}

impl CompIdsTemplate {
    fn comp_ids(&self, named: &CompIds) -> Option<CompIds> {
        let is_any = self.comp_id.as_deref().is_none_or(|only| only == named.comp_id());
        let comp_ids = CompIds::new(named.comp_id()).ok().filter(|_| is_any)?;
        let sub_id = self.sub_id.taken(named.sub_id())?;
        comp_ids.with_ids(sub_id, self.location_id.taken(named.location_id())?).ok()
    }
}

impl SubIdTemplate {
    /// Returns the ID that is part of the identity for a Logon that names this one, if any is;
    /// `None` if the Logon is not for this template.
    fn taken<'n>(&self, named: Option<&'n str>) -> Option<Option<&'n str>> {
        match self {
            Self::Ignored => Some(None),
            Self::Any => Some(named),
            Self::Only(only) => (named == Some(only)).then_some(named),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sub_ids_of_the_template_become_part_of_the_identity() {
        let any = IdentityTemplate::default();
        let whole = IdentityTemplate::with_sub_ids();
        let mut desk = IdentityTemplate::default();
        desk.sender.comp_id = Some("VENUE".to_owned());
        desk.target.sub_id = SubIdTemplate::Only("DESK".to_owned());
        desk.target.location_id = SubIdTemplate::Any;
        for (template, logon, identity) in [
            (&any, "VENUE/X->A/DESK/NY", Some("VENUE->A")),
            (&whole, "VENUE/X->A/DESK/NY", Some("VENUE/X->A/DESK/NY")),
            (&whole, "VENUE->A", Some("VENUE->A")),
            (&desk, "VENUE/X->A/DESK/NY", Some("VENUE->A/DESK/NY")),
            (&desk, "VENUE->A/DESK", Some("VENUE->A/DESK")),
            (&desk, "VENUE->A/DESKS", None),
            (&desk, "VENUE->A", None),
            (&desk, "OTHER->A/DESK", None),
        ] {
            let id = |text: &str| format!("FIX.4.4:{text}").parse::<SessionId>().unwrap();
            assert_eq!(template.identity(&id(logon)), identity.map(id), "{logon}");
        }
        let only = IdentityTemplate { version: Some(Version::Fix42), ..whole };
        assert_eq!(only.identity(&"FIX.4.4:A->B".parse().unwrap()), None);
    }
}
