//! Makes a session from the settings of its section and the defaults, collecting every mistake.

use std::collections::BTreeMap;

use fixbolt_codec::Version;
use fixbolt_dictionary::{Action, Check};
use fixbolt_session::Compatibility;

use super::dictionaries::Dictionaries;
use super::draft::{ANY, CompIdsDraft, Draft};
use super::error::{ConfigError, ConfigWarning, SourceLine};
use super::fixt;
use super::port_draft::PortDraft;
use super::rows::{Effect, ROWS, Row, Scope};
use super::session::{CheckedSession, EffectiveSetting};
use super::text::{Section, Setting};

/// Reads a session's own section before the defaults.
pub(super) struct SessionReader<'s> {
    pub(super) own: &'s Section,
    pub(super) defaults: Option<&'s Section>,
    pub(super) draft: Draft,
    pub(super) mistakes: Vec<ConfigError>,
    pub(super) effective: Vec<EffectiveSetting>,
}

impl<'s> SessionReader<'s> {
    /// Checks the session with these settings, and returns it with what its section says of its
    /// port. `mistakes` are those already found in its section and in the defaults.
    pub(super) fn check(
        own: &'s Section,
        defaults: Option<&'s Section>,
        mistakes: Vec<ConfigError>,
        application: BTreeMap<String, String>,
        dictionaries: &mut Dictionaries,
        warnings: &mut Vec<ConfigWarning>,
    ) -> (CheckedSession, Option<PortDraft>) {
        let place = own.place.clone();
        let draft = match Draft::new() {
            Ok(draft) => draft,
            Err(error) => {
                let reason = error.to_string();
                let result = Err(vec![ConfigError::Contradiction { place: place.clone(), reason }]);
                return (CheckedSession { place, name: String::new(), effective: Vec::new(), result }, None);
            }
        };
        let mut reader = Self { own, defaults, draft, mistakes, effective: Vec::new() };
        if reader.find("ConnectionType").is_none() {
            reader.infer_role();
        }
        for row in ROWS {
            reader.apply(row);
        }
        reader.identity(warnings);
        reader.check_connection();
        let tls = reader.tls(warnings);
        reader.resolve();
        reader.schedule(warnings);
        reader.check_dedicated();
        reader.check_sizes_and_times();
        reader.check_partners(warnings);
        reader.check_validation(dictionaries, warnings);
        let name = reader.name();
        let port = reader.port(tls.as_ref());
        let Self { draft, effective, mistakes, .. } = reader;
        let result = match draft.finish(place.clone(), tls, application) {
            Some(session) if mistakes.is_empty() => Ok(session),
            _ => Err(mistakes),
        };
        (CheckedSession { place, name, effective, result }, port)
    }

    /// Returns the session's name, as far as it is known.
    fn name(&self) -> String {
        let unknown = if self.draft.dynamic { ANY } else { "?" };
        let comp_ids = |side: &CompIdsDraft| {
            side.comp_ids(unknown).map(|comp_ids| comp_ids.to_string()).unwrap_or_default()
        };
        let version = self.draft.version.map_or(unknown, Version::name);
        let qualifier = self.draft.qualifier.as_ref().map(|text| format!(":{text}")).unwrap_or_default();
        format!("{version}:{}->{}{qualifier}", comp_ids(&self.draft.sender), comp_ids(&self.draft.target))
    }

    /// Returns the settings of a row: those of the session's own section if it has any, else those
    /// of the defaults.
    fn settings(&self, row: &Row) -> (Vec<&'s Setting>, bool) {
        let of = |section: &'s Section| -> Vec<&'s Setting> {
            section.settings.iter().filter(|setting| row.is(&setting.key)).collect()
        };
        let (own, defaults) = (of(self.own), self.defaults.map(of).unwrap_or_default());
        match &row.effect {
            // Each key of such a row stands for itself.
            effect if effect.has_many_keys() => {
                let has = |setting: &&Setting| own.iter().any(|s| s.key.eq_ignore_ascii_case(&setting.key));
                let inherited: Vec<_> = defaults.into_iter().filter(|setting| !has(setting)).collect();
                let is_own = !own.is_empty();
                (inherited.into_iter().chain(own).collect(), is_own)
            }
            _ if own.is_empty() => (defaults, false),
            _ => (own, true),
        }
    }

    /// Returns the setting of a key's row, from the session's section or the defaults.
    pub(super) fn find(&self, name: &str) -> Option<&'s Setting> {
        let row = ROWS.iter().find(|row| row.name == name)?;
        self.settings(row).0.first().copied()
    }

    /// Returns every setting of a key's row: those of the session's section, or the defaults.
    pub(super) fn find_all(&self, name: &str) -> Vec<&'s Setting> {
        ROWS.iter().find(|row| row.name == name).map(|row| self.settings(row).0).unwrap_or_default()
    }

    /// Returns the setting of a key's row, only from the session's own section.
    pub(super) fn find_own(&self, name: &str) -> Option<&'s Setting> {
        let row = ROWS.iter().find(|row| row.name == name)?;
        self.own.settings.iter().find(|setting| row.is(&setting.key))
    }

    fn apply(&mut self, row: &'static Row) {
        let (settings, own) = self.settings(row);
        if row.scope == Scope::Engine {
            if let (true, Some(setting)) = (own, settings.first()) {
                let reason = format!("{} applies to the whole engine; move it to [DEFAULT]", setting.key);
                self.contradicts(setting, reason);
            }
            return;
        }
        if let Some(role) = self.draft.role
            && !row.scope.includes(role)
        {
            if let (true, Some(setting)) = (own, settings.first()) {
                let (to, is) = match row.scope {
                    Scope::Initiator => ("initiators", "an acceptor"),
                    _ => ("acceptors", "an initiator"),
                };
                let key = &setting.key;
                let reason = format!("{key} applies to {to} only, and this session is {is}; remove it");
                self.contradicts(setting, reason);
            }
            return;
        }
        if let [first, others @ ..] = &settings[..]
            && !row.effect.has_many_keys()
        {
            for other in others.iter().filter(|other| other.value != first.value) {
                let (one, two) = (&first.key, &other.key);
                self.contradicts(other, format!("{one} and {two} are the same key, but their values differ"));
            }
        }
        for setting in &settings {
            self.mistakes.extend(row.apply(&mut self.draft, setting));
        }
        let one_key = !row.effect.has_many_keys();
        let words = row.default.starts_with("required") || matches!(row.default, "none" | "any");
        let has_default = one_key || matches!(row.effect, Effect::PerVersion { .. });
        if settings.is_empty() && has_default && !words && self.is_used(row) {
            let (key, value) = (row.name.to_owned(), self.default_of(row));
            self.effective.push(EffectiveSetting {
                key,
                value,
                place: None,
                is_default: true,
                meaning: row.meaning,
            });
        }
        for setting in settings {
            let (key, value) = (if one_key { row.name } else { &setting.key }, setting.shown());
            let is_default = one_key && value.eq_ignore_ascii_case(&self.default_of(row));
            self.effective.push(EffectiveSetting {
                key: key.to_owned(),
                value: value.to_owned(),
                place: Some(setting.place.clone()),
                is_default,
                meaning: row.meaning,
            });
        }
    }

    /// Returns whether sessions of this version have the dictionary that a row names.
    fn is_used(&self, row: &Row) -> bool {
        match (row.name, self.draft.version) {
            (fixt::TRANSPORT | fixt::APPLICATION, Some(version)) => version == Version::Fixt11,
            ("DataDictionary", Some(version)) => version != Version::Fixt11,
            _ => true,
        }
    }

    /// Returns the default of a row, which may depend on rows above it.
    fn default_of(&self, row: &Row) -> String {
        let Draft { settings, incoming, .. } = &self.draft;
        match row.name {
            "ValidationPolicy" => match settings.compatibility {
                Compatibility::QuickFix => "quickfix".to_owned(),
                Compatibility::QuickFixJ => "quickfixj".to_owned(),
                _ => "standard".to_owned(),
            },
            "TimestampPrecision" => settings.timing.timestamp_precision.digits().to_string(),
            "OutboundBufferSize" => {
                settings.limits.outbound_buffer_size.max(4 * settings.limits.max_message_size).to_string()
            }
            "OutboundLowWatermark" => self.draft.low_watermark.to_string(),
            "ValidateUnorderedGroupFields" if incoming.action(Check::GroupOrder) == Action::Ignore => {
                "N".to_owned()
            }
            "ValidateUnorderedGroupFields" => "Y".to_owned(),
            _ => row.default.to_owned(),
        }
    }

    /// Gives defaults that depend on rows below theirs their values.
    fn resolve(&mut self) {
        let has_tls = self.draft.tls.is_on();
        let longest = self.draft.initiation.max_reconnect_interval.as_secs();
        let resolved = [
            ("SocketUseSSL", if has_tls { "Y" } else { "N" }.to_owned(), !has_tls),
            ("MaxReconnectInterval", longest.to_string(), true),
        ];
        for setting in self.effective.iter_mut().filter(|setting| setting.place.is_none()) {
            if let Some((_, value, is_default)) = resolved.iter().find(|(key, ..)| *key == setting.key) {
                (setting.value, setting.is_default) = (value.clone(), *is_default);
            }
        }
    }

    pub(super) fn required(&mut self, name: &str, what: &str, required: bool) {
        if required && self.find(name).is_none() {
            self.missing(what);
        }
    }

    pub(super) fn missing(&mut self, what: &str) {
        let place: SourceLine = self.own.place.clone();
        self.mistakes.push(ConfigError::Missing {
            place,
            reason: format!("this session has no {what}; add it here or in [DEFAULT]"),
        });
    }

    pub(super) fn contradicts(&mut self, setting: &Setting, reason: impl Into<String>) {
        let place = setting.place.clone();
        self.mistakes.push(ConfigError::Contradiction { place, reason: reason.into() });
    }

    pub(super) fn wrong(&mut self, setting: &Setting, expected: impl Into<String>) {
        self.mistakes.push(setting.wrong(expected));
    }
}
