//! What is wrong with the settings of a session, wherever that is looked for: the limits are here,
//! and nowhere else.
//!
//! [`wrong_settings`] finds all of it, in one order. A caller looks for what can be wrong by then:
//! an engine fills in the dictionary after it has read a configuration, and only the store says
//! whether it keeps messages.

use fixbolt_codec::Version;
use fixbolt_dictionary::ApplicationVersion;

use crate::settings::SessionSettings;
use crate::settings::dictionaries::SessionDictionary;
use crate::settings::resend::WhileLoggedOff;
use crate::values::fix::MAX_MESSAGE_SIZE_BEFORE_LOGON;
use crate::values::time::Utc;

/// The values of a setting that is a whole number.
///
/// ```
/// use fixbolt_session::SettingRange;
///
/// assert_eq!(SettingRange::MAX_MESSAGE_SIZE.key, "MaxMessageSize");
/// assert!(SettingRange::MAX_MESSAGE_SIZE.contains(8192));
/// assert!(!SettingRange::MAX_MESSAGE_SIZE.contains(8191));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SettingRange {
    /// The key of the setting in a configuration.
    pub key: &'static str,
    /// The smallest value.
    pub from: u64,
    /// The largest value.
    pub to: u64,
    /// Why another value is refused, in the words of [`SessionSettings`].
    pub reason: &'static str,
}

impl SettingRange {
    /// [`LimitSettings::outbound_buffer_size`](crate::LimitSettings::outbound_buffer_size), in
    /// bytes: room for the largest message of the session layer, and for some of the application's.
    pub const OUTBOUND_BUFFER_SIZE: Self =
        Self::at_least("OutboundBufferSize", 16 << 10, "the outbox must have at least 16 KiB");
    /// [`LimitSettings::max_message_size`](crate::LimitSettings::max_message_size), in bytes: that
    /// of a Logon.
    pub const MAX_MESSAGE_SIZE: Self = Self::at_least(
        "MaxMessageSize",
        MAX_MESSAGE_SIZE_BEFORE_LOGON as u64,
        "MaxMessageSize must be at least 8192",
    );

    const fn at_least(key: &'static str, from: u64, reason: &'static str) -> Self {
        Self { key, from, to: u64::MAX, reason }
    }

    /// Returns whether a value is in the range.
    #[must_use]
    pub const fn contains(&self, value: u64) -> bool {
        self.from <= value && value <= self.to
    }
}

/// Something that is wrong with the settings of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WrongSetting {
    /// A session of FIXT.1.1 has no version of its application messages.
    NoApplicationVersion,
    /// Nobody has filled in the dictionary that is shipped.
    DictionaryNotFilledIn,
    /// A session of FIXT.1.1 has one dictionary.
    OneDictionaryOfFixt,
    /// A session of another version has several dictionaries.
    SeveralDictionaries,
    /// A session of FIXT.1.1 has no dictionary of its DefaultApplVerID.
    NoDictionaryOfDefault,
    /// Outbound messages are to be checked without a dictionary.
    NothingToCheckBy,
    /// A number is not in its range.
    OutOfRange {
        /// The setting's key and values.
        range: SettingRange,
        /// Its value.
        found: u64,
    },
    /// The schedule has resets in the session, and the version has no ResetSeqNumFlag.
    NoResetInSession,
    /// A field of the Logon cannot be written.
    UnwritableLogon,
    /// Messages are to be kept while logged off, and the store keeps none.
    NothingKept,
    /// A field is to be masked that the session itself writes and reads.
    MaskedHeader,
    /// A SubID or LocationID of the session is to be masked.
    MaskedSubId,
}

impl WrongSetting {
    /// Returns the key of the setting in a configuration.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::NoApplicationVersion => "DefaultApplVerID",
            Self::DictionaryNotFilledIn | Self::SeveralDictionaries => "DataDictionary",
            Self::OneDictionaryOfFixt => "TransportDataDictionary",
            Self::NoDictionaryOfDefault => "AppDataDictionary",
            Self::NothingToCheckBy => "ValidateOutgoingMessage",
            Self::OutOfRange { range, .. } => range.key,
            Self::NoResetInSession => "ResetSeqTime",
            Self::UnwritableLogon => "LogonTag",
            Self::NothingKept => "WhileLoggedOff",
            Self::MaskedHeader | Self::MaskedSubId => "MaskedTags",
        }
    }

    /// Returns whether no session can be opened with it. Without an engine, which refuses them, a
    /// session can have the others: it then checks nothing, or is not reset while it is logged on.
    #[must_use]
    pub const fn prevents_opening(&self) -> bool {
        !matches!(self, Self::NothingToCheckBy | Self::NoResetInSession)
    }

    /// Returns what is wrong, and how to correct it, in the words of [`SessionSettings`].
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NoApplicationVersion => {
                "a session of FIXT.1.1 needs the version of its application messages, FIX.5.0SP2 for example (SessionSettings::default_appl_ver_id)"
            }
            Self::DictionaryNotFilledIn => {
                "SessionDictionary::Shipped is filled in by an engine; without one, set SessionDictionary::Own (for FIXT.1.1, Fixt) or SessionDictionary::None"
            }
            Self::OneDictionaryOfFixt => {
                "a session of FIXT.1.1 has several dictionaries (SessionDictionary::Fixt)"
            }
            Self::SeveralDictionaries => {
                "only a session of FIXT.1.1 has several dictionaries (SessionDictionary::Fixt)"
            }
            Self::NoDictionaryOfDefault => "there is no dictionary of the session's DefaultApplVerID",
            Self::NothingToCheckBy => "outgoing messages cannot be validated: there is no dictionary",
            Self::OutOfRange { range, .. } => range.reason,
            Self::NoResetInSession => {
                "the version has no ResetSeqNumFlag, with which a session that is logged on is reset"
            }
            Self::UnwritableLogon => {
                "the fields of a Logon must not contain SOH (0x01), except RawData, and LogonFields::others must not have fields that the session writes itself"
            }
            Self::NothingKept => "messages cannot be kept while logged off: the store keeps no messages",
            Self::MaskedHeader => {
                "the fields 8, 9, 10, 34, 35, 43, 49, 52, 56, 122 and 369 cannot be masked: the session itself writes and reads them"
            }
            Self::MaskedSubId => {
                "SubIDs and LocationIDs of the session's identity cannot be masked: each message has them, and none could be sent again"
            }
        }
    }
}

/// Returns everything that is wrong with the settings of a session whose store keeps messages or
/// not.
///
/// ```
/// use fixbolt_session::{Role, SessionDictionary, SessionSettings, SettingRange, WrongSetting};
/// use fixbolt_session::wrong_settings;
///
/// let id = "FIX.4.4:VENUE->TRADER".parse()?;
/// let mut settings = SessionSettings::new(id, Role::Acceptor);
/// settings.dictionary = SessionDictionary::None;
/// assert_eq!(wrong_settings(&settings, true).next(), None);
/// settings.limits.max_message_size = 1024;
/// let wrong = wrong_settings(&settings, true).next();
/// let range = SettingRange::MAX_MESSAGE_SIZE;
/// assert_eq!(wrong, Some(WrongSetting::OutOfRange { range, found: 1024 }));
/// # Ok::<(), fixbolt_session::InvalidSessionId>(())
/// ```
pub fn wrong_settings(
    settings: &SessionSettings,
    keeps_messages: bool,
) -> impl Iterator<Item = WrongSetting> + use<> {
    let s = settings;
    let not_in = |range: SettingRange, found: u64| {
        (!range.contains(found)).then_some(WrongSetting::OutOfRange { range, found })
    };
    let if_so = |wrong, is_wrong: bool| is_wrong.then_some(wrong);
    let resets_in_session =
        s.schedule.as_ref().is_some_and(|schedule| schedule.in_session_resets_at(Utc(0)).is_some());
    let mut sub_ids = s.id.written_sub_ids().into_iter().flatten();
    [
        wrong_version(s),
        wrong_dictionary(s),
        if_so(WrongSetting::NothingToCheckBy, s.validation.outgoing.is_some() && !s.dictionary.checks()),
        not_in(SettingRange::OUTBOUND_BUFFER_SIZE, s.limits.outbound_buffer_size as u64),
        not_in(SettingRange::MAX_MESSAGE_SIZE, s.limits.max_message_size as u64),
        if_so(WrongSetting::NoResetInSession, resets_in_session && s.id.version() < Version::Fix41),
        if_so(WrongSetting::UnwritableLogon, !s.logon.can_be_written()),
        if_so(
            WrongSetting::NothingKept,
            s.resend.while_logged_off == WhileLoggedOff::Keep && !keeps_messages,
        ),
        if_so(
            WrongSetting::MaskedHeader,
            !s.masked_tags.iter().all(|tag| SessionSettings::can_be_masked(*tag)),
        ),
        if_so(WrongSetting::MaskedSubId, sub_ids.any(|tag| s.masked_tags.contains(&tag.number()))),
    ]
    .into_iter()
    .flatten()
}

/// Returns what is wrong with the version that the session's application messages have.
fn wrong_version(settings: &SessionSettings) -> Option<WrongSetting> {
    let is_missing = settings.id.version() == Version::Fixt11 && settings.appl_ver_id().is_none();
    is_missing.then_some(WrongSetting::NoApplicationVersion)
}

/// Returns what is wrong with the dictionaries, as the versions of the session's messages are.
fn wrong_dictionary(settings: &SessionSettings) -> Option<WrongSetting> {
    let is_fixt = settings.id.version() == Version::Fixt11;
    match &settings.dictionary {
        SessionDictionary::Shipped => Some(WrongSetting::DictionaryNotFilledIn),
        SessionDictionary::Own(_) if is_fixt => Some(WrongSetting::OneDictionaryOfFixt),
        SessionDictionary::Fixt(_) if !is_fixt => Some(WrongSetting::SeveralDictionaries),
        SessionDictionary::Fixt(dictionaries) => {
            let default = ApplicationVersion::new(settings.appl_ver_id()?);
            let known = dictionaries.versions().versions().any(|(version, _)| version == default);
            (!known).then_some(WrongSetting::NoDictionaryOfDefault)
        }
        SessionDictionary::Own(_) | SessionDictionary::None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Role;

    type Change = fn(&mut SessionSettings);

    fn settings(id: &str) -> SessionSettings {
        SessionSettings::new(id.parse().unwrap(), Role::Acceptor)
            .with(|s| s.dictionary = SessionDictionary::None)
    }

    fn wrong(id: &str, change: Change) -> Vec<WrongSetting> {
        wrong_settings(&settings(id).with(change), true).collect()
    }

    #[test]
    fn the_smallest_values_of_numbers_are_right_and_those_below_are_not() {
        let numbers: [(Change, Change, SettingRange); 2] = [
            (
                |s| s.limits.outbound_buffer_size = 16384,
                |s| s.limits.outbound_buffer_size = 16383,
                SettingRange::OUTBOUND_BUFFER_SIZE,
            ),
            (
                |s| s.limits.max_message_size = 8192,
                |s| s.limits.max_message_size = 8191,
                SettingRange::MAX_MESSAGE_SIZE,
            ),
        ];
        for (right, not_right, range) in numbers {
            assert_eq!(wrong("FIX.4.4:A->B", right), [], "{}", range.key);
            assert_eq!(
                wrong("FIX.4.4:A->B", not_right),
                [WrongSetting::OutOfRange { range, found: range.from - 1 }]
            );
        }
    }

    #[test]
    fn each_mistake_is_found_alone() {
        let mistakes: [(&str, Change, WrongSetting); 6] = [
            (
                "FIX.4.4:A->B",
                |s| s.dictionary = SessionDictionary::Shipped,
                WrongSetting::DictionaryNotFilledIn,
            ),
            ("FIXT.1.1:A->B", |_| {}, WrongSetting::NoApplicationVersion),
            (
                "FIX.4.4:A->B",
                |s| s.validation.outgoing = Some(fixbolt_dictionary::Policy::standard()),
                WrongSetting::NothingToCheckBy,
            ),
            ("FIX.4.4:A->B", |s| s.logon.username = "\x01".to_owned(), WrongSetting::UnwritableLogon),
            ("FIX.4.4:A->B", |s| s.masked_tags.push(34), WrongSetting::MaskedHeader),
            ("FIX.4.4:A/DESK->B", |s| s.masked_tags.push(50), WrongSetting::MaskedSubId),
        ];
        for (id, change, mistake) in mistakes {
            assert_eq!(wrong(id, change), [mistake]);
        }
        let keeps = settings("FIX.4.4:A->B").with(|s| s.resend.while_logged_off = WhileLoggedOff::Keep);
        assert_eq!(wrong_settings(&keeps, true).next(), None);
        assert_eq!(wrong_settings(&keeps, false).collect::<Vec<_>>(), [WrongSetting::NothingKept]);
    }
}
