//! The settings of a session. Everything except the identity has a safe default.

pub(crate) mod behavior;
pub(crate) mod check;
pub(crate) mod delay_multiplier;
pub(crate) mod dictionaries;
pub(crate) mod heart_bt_int;
pub(crate) mod limits;
pub(crate) mod logon_fields;
pub(crate) mod resend;
pub(crate) mod reset;
pub(crate) mod throttle;
pub(crate) mod timing;
pub(crate) mod validation;

use std::sync::Arc;

use fixbolt_codec::plumbing::TagSet;
use fixbolt_codec::{Tag, Version};

use crate::schedule::Schedule;
use crate::settings::behavior::Compatibility;
use crate::settings::dictionaries::SessionDictionary;
use crate::settings::limits::LimitSettings;
use crate::settings::logon_fields::LogonFields;
use crate::settings::resend::ResendSettings;
use crate::settings::reset::ResetSettings;
use crate::settings::throttle::ThrottleSettings;
use crate::settings::timing::TimingSettings;
use crate::settings::validation::ValidationSettings;
use crate::values::fix::number::{WRITTEN_ANEW, secret_everywhere};
use crate::values::id::SessionId;

/// Who opens the transport connection and sends the first Logon.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// We connect and send the first Logon.
    Initiator,
    /// The counterparty connects and sends the first Logon.
    Acceptor,
}

/// The settings of one session.
///
/// Each has the name of its key in a configuration, in a group of those that it belongs to. New
/// settings are added over time, so a value begins with [`SessionSettings::new`]:
///
/// ```
/// use fixbolt_session::{Role, SessionSettings};
///
/// let id = "FIX.4.4:VENUE->TRADER".parse()?;
/// let settings = SessionSettings::new(id, Role::Acceptor).with(|s| {
///     s.timing.heart_bt_int = 10;
///     s.reset.reset_on_logon = true;
/// });
/// assert_eq!(settings.timing.heart_bt_int, 10);
/// # Ok::<(), fixbolt_session::InvalidSessionId>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct SessionSettings {
    /// The identity of the session.
    pub id: SessionId,
    /// Who opens the connection.
    pub role: Role,
    /// The version of application messages that do not name one, in a session of FIXT.1.1, which
    /// needs it: DefaultApplVerID (1137) of our Logons. Other sessions do not use it.
    ///
    /// The counterparty's Logon says which version its own messages have. A message names another
    /// one in ApplVerID (1128), and so does the application in one that it sends
    /// ([`Handle::with_version`](crate::Handle::with_version)).
    pub default_appl_ver_id: Option<Version>,
    /// The dictionary that messages are checked against.
    pub dictionary: SessionDictionary,
    /// Which engine to imitate where engines differ.
    pub compatibility: Compatibility,
    /// What is checked in messages.
    pub validation: ValidationSettings,
    /// Heartbeats, waits and times.
    pub timing: TimingSettings,
    /// Messages that are requested and sent again.
    pub resend: ResendSettings,
    /// Sizes, and how much a counterparty may ask.
    pub limits: LimitSettings,
    /// How many messages are sent and accepted in a period of time.
    pub throttle: ThrottleSettings,
    /// When sequence numbers start at 1 again.
    pub reset: ResetSettings,
    /// When the session takes place; `None` for always. At the end of a window the session logs
    /// out; outside its windows an initiator does not connect, and an acceptor refuses the Logon.
    /// The schedule also says when the sequence numbers are reset.
    pub schedule: Option<Arc<Schedule>>,
    /// Additional fields in each Logon that is sent.
    pub logon: LogonFields,
    /// Tags whose values are replaced by `*` wherever a message of either side is stored or shown
    /// to an observer; RawData (96) in a Logon only. What is sent is not changed. `Debug` of a
    /// message, which does not know the session, always hides the default ones.
    ///
    /// An application message with such a field is sent when it is written, and never from the
    /// store: a gap fill replaces it, and the application hears of it by
    /// [`Event::Unreached`](crate::Event::Unreached). Fields that the session writes itself cannot
    /// be masked ([`SessionSettings::can_be_masked`]).
    pub masked_tags: Vec<u32>,
}

impl SessionSettings {
    /// Returns the default settings: what docs/configuration.md says of each key, the shipped
    /// dictionary, and no schedule.
    #[must_use]
    pub fn new(id: SessionId, role: Role) -> Self {
        Self {
            id,
            role,
            default_appl_ver_id: None,
            dictionary: SessionDictionary::Shipped,
            compatibility: Compatibility::Standard,
            validation: ValidationSettings::default(),
            timing: TimingSettings::default(),
            resend: ResendSettings::default(),
            limits: LimitSettings::default(),
            throttle: ThrottleSettings::default(),
            reset: ResetSettings::default(),
            schedule: None,
            logon: LogonFields::default(),
            masked_tags: vec![554, 925, 1402, 1404, 96],
        }
    }

    /// Returns DefaultApplVerID (1137) of our Logons, if the session is of FIXT.1.1.
    pub(crate) fn appl_ver_id(&self) -> Option<&'static str> {
        self.default_appl_ver_id
            .and_then(Version::appl_ver_id)
            .filter(|_| self.id.version() == Version::Fixt11)
    }

    /// Returns whether the values of a tag can be masked: not those of fields that the session
    /// writes itself, which it also reads in its store.
    #[must_use]
    pub fn can_be_masked(tag: u32) -> bool {
        !WRITTEN_ANEW.contains(&tag)
    }

    /// Returns the fields whose values are masked in every message of the session, for
    /// `may_contain` of a body: all of [`masked_tags`](Self::masked_tags) but RawData (96), which
    /// is a secret in a Logon only.
    #[doc(hidden)]
    #[must_use]
    pub fn secret_fields(&self) -> TagSet {
        TagSet::of(secret_everywhere(&self.masked_tags).filter_map(Tag::try_new))
    }

    /// Returns these settings with what `change` does to them.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
