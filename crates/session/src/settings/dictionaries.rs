//! The dictionaries of a session: none, one, or those of a session of FIXT.1.1, of which each
//! message has one by its application version.

use core::fmt;
use std::sync::Arc;

use fixbolt_codec::{DataFields, Message, Place, Version};
use fixbolt_dictionary::{
    ApplicationVersion, ApplicationVersions, Direction, Scratch, UnsupportedApplicationVersion, Validator,
};

use crate::store::stored_message::{FieldStorage, with_message};

/// The dictionaries of a session of FIXT.1.1: that of the transport, and one for each application
/// version whose messages it carries.
///
/// ```
/// use std::sync::Arc;
///
/// use fixbolt_codec::Version;
/// use fixbolt_dictionary::{ApplicationVersion, DictionarySet, fix44, fix50sp2, fixt11};
/// use fixbolt_session::{FixtDictionaries, Role, SessionDictionary, SessionSettings};
///
/// let set = DictionarySet::new(fixt11().clone())?
///     .with(ApplicationVersion::new("9"), fix50sp2())?
///     .with(ApplicationVersion::new("6"), fix44())?;
/// let mut settings = SessionSettings::new("FIXT.1.1:VENUE->TRADER".parse()?, Role::Acceptor);
/// settings.default_appl_ver_id = Some(Version::Fix50Sp2);
/// let dictionaries = FixtDictionaries::new(set.validators());
/// settings.dictionary = SessionDictionary::Fixt(Arc::new(dictionaries));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FixtDictionaries {
    versions: ApplicationVersions<Arc<Validator>>,
    data_fields: DataFields,
}

impl FixtDictionaries {
    /// Puts the validators of a session together, as
    /// [`DictionarySet::validators`](fixbolt_dictionary::DictionarySet::validators) makes them. The
    /// default version is that of
    /// [`SessionSettings::default_appl_ver_id`](crate::SessionSettings::default_appl_ver_id).
    #[must_use]
    pub fn new(versions: ApplicationVersions<Arc<Validator>>) -> Self {
        Self { data_fields: versions.data_fields(), versions }
    }

    /// Returns the validators by version.
    #[must_use]
    pub const fn versions(&self) -> &ApplicationVersions<Arc<Validator>> {
        &self.versions
    }
}

/// The dictionary that a session's messages are checked against.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum SessionDictionary {
    /// The shipped dictionary of the session's version; for FIXT.1.1, that of the transport and
    /// that of the session's default application version. The engine replaces this with the
    /// dictionary when it starts; a session that is opened without an engine needs one of the other
    /// variants.
    #[default]
    Shipped,
    /// Another dictionary, of the session's version, which is not FIXT.1.1.
    Own(Arc<Validator>),
    /// Other dictionaries, of a session of FIXT.1.1.
    Fixt(Arc<FixtDictionaries>),
    /// No dictionary: only the syntax of fields and the lengths of data are checked.
    None,
}

impl SessionDictionary {
    /// Returns whether messages are checked against a dictionary; not until the engine has replaced
    /// `Shipped`.
    #[must_use]
    pub const fn checks(&self) -> bool {
        matches!(self, Self::Own(_) | Self::Fixt(_))
    }

    /// Returns the data fields that messages are read with.
    pub(crate) fn data_fields(&self) -> &DataFields {
        match self {
            Self::Own(validator) => validator.data_fields(),
            Self::Fixt(dictionaries) => &dictionaries.data_fields,
            Self::Shipped | Self::None => DataFields::STANDARD,
        }
    }
}

/// Two values of `Own` or `Fixt` are equal if they hold the same dictionaries.
impl PartialEq for SessionDictionary {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Own(one), Self::Own(other)) => Arc::ptr_eq(one, other),
            (Self::Fixt(one), Self::Fixt(other)) => Arc::ptr_eq(one, other),
            (Self::Shipped, Self::Shipped) | (Self::None, Self::None) => true,
            _ => false,
        }
    }
}

/// The dictionaries of a session.
#[derive(Clone, Debug)]
pub(crate) enum Dictionaries {
    None,
    One(Arc<Validator>),
    Fixt(Box<ApplicationVersions<Arc<Validator>>>),
    /// No dictionaries, in a session of FIXT.1.1: only which version a message has is known.
    FixtVersions {
        versions: Box<ApplicationVersions<()>>,
        /// Whether the counterparty's default version is none of these.
        is_unknown: bool,
    },
}

/// The dictionaries of a session, with the default versions that the Logons of a connection have
/// named. Replaced whole, so that a snapshot of the state costs no copy.
#[derive(Clone)]
pub(crate) struct NamedVersions(Arc<Dictionaries>);

impl PartialEq for NamedVersions {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for NamedVersions {}

impl fmt::Debug for NamedVersions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedVersions")
    }
}

impl Dictionaries {
    /// Returns these dictionaries with the default versions that Logons have named, if any have.
    #[inline]
    pub(crate) fn after<'d>(&'d self, logons: &'d Option<NamedVersions>) -> &'d Self {
        logons.as_ref().map_or(self, |named| &named.0)
    }

    /// Returns the dictionaries of a session whose messages have the version `default_appl_ver_id`
    /// unless they or a Logon say otherwise.
    pub(crate) fn new(dictionary: &SessionDictionary, default_appl_ver_id: Option<&'static str>) -> Self {
        match (dictionary, default_appl_ver_id.map(ApplicationVersion::new)) {
            (SessionDictionary::Own(validator), _) => Self::One(Arc::clone(validator)),
            (SessionDictionary::Fixt(dictionaries), Some(default)) => {
                Self::Fixt(Box::new(beginning_with(dictionaries.versions.clone(), default)))
            }
            (SessionDictionary::Shipped | SessionDictionary::None, Some(default)) => {
                let ids = Version::ALL.into_iter().filter_map(Version::appl_ver_id);
                let all = ids.map(ApplicationVersion::new);
                let versions = all.fold(ApplicationVersions::new(()), |versions, one| versions.with(one, ()));
                let versions = Box::new(beginning_with(versions, default));
                Self::FixtVersions { versions, is_unknown: false }
            }
            _ => Self::None,
        }
    }

    /// Returns the memory for checking a message.
    pub(crate) fn scratch(&self) -> Option<Scratch> {
        match self {
            Self::None | Self::FixtVersions { .. } => None,
            Self::One(validator) => Some(validator.scratch()),
            Self::Fixt(versions) => Some(versions.scratch()),
        }
    }

    /// Returns the dictionary that a message is checked against, if it is checked. An application
    /// message of FIXT.1.1 learns its version.
    ///
    /// # Errors
    /// There is no dictionary of its application version.
    #[inline]
    pub(crate) fn of(
        &self,
        message: &mut Message<'_>,
        direction: Direction,
    ) -> Result<Option<&Validator>, UnsupportedApplicationVersion> {
        match self {
            Self::None => Ok(None),
            Self::One(validator) => Ok(Some(validator)),
            Self::Fixt(_) | Self::FixtVersions { .. } => self.of_fixt(message, direction),
        }
    }

    fn of_fixt(
        &self,
        message: &mut Message<'_>,
        direction: Direction,
    ) -> Result<Option<&Validator>, UnsupportedApplicationVersion> {
        let Self::Fixt(versions) = self else {
            *message = message.with_version(self.version_of(message, direction));
            return Ok(None);
        };
        let chosen = versions.choose(message, direction);
        let found = chosen.as_ref().ok().and_then(|chosen| read_as(chosen.version?, chosen.value));
        *message = message.with_version(found);
        chosen.map(|chosen| Some(&**chosen.value))
    }

    /// Returns the dictionary of the application messages that we write, if there is one.
    pub(crate) fn application(&self, default_appl_ver_id: Option<&'static str>) -> Option<&Validator> {
        match self {
            Self::None | Self::FixtVersions { .. } => None,
            Self::One(validator) => Some(validator),
            Self::Fixt(versions) => {
                let default = default_appl_ver_id.map(ApplicationVersion::new)?;
                let (_, validator) = versions.versions().find(|(version, _)| *version == default)?;
                Some(validator)
            }
        }
    }

    /// Returns whether a message that we send must name its version, although it has the default
    /// one, because the counterparty would read it as another.
    #[inline]
    pub(crate) fn must_be_named(&self, msg_type: &[u8]) -> bool {
        !matches!(self, Self::None | Self::One(_)) && self.must_be_named_in_fixt(msg_type)
    }

    fn must_be_named_in_fixt(&self, msg_type: &[u8]) -> bool {
        match self {
            Self::Fixt(versions) => versions.must_be_named(msg_type),
            Self::FixtVersions { versions, .. } => versions.must_be_named(msg_type),
            Self::None | Self::One(_) => false,
        }
    }

    /// Returns the application version of a message in a session of FIXT.1.1; `None` if it is of
    /// the session layer or of a version that is not known.
    pub(crate) fn version_of(&self, message: &Message<'_>, direction: Direction) -> Option<Version> {
        let version = match self {
            Self::Fixt(versions) => versions.choose(message, direction).ok()?.version?,
            Self::FixtVersions { versions, is_unknown } => {
                let chosen = versions.choose(message, direction).ok()?;
                let is_unknown = *is_unknown && direction == Direction::Inbound;
                chosen.version.filter(|_| !(is_unknown && chosen.by_default))?
            }
            Self::None | Self::One(_) => return None,
        };
        known(version)
    }

    /// Reads the defaults of a Logon, which count for the messages after it. With a default version
    /// that is not known, the versions of messages that do not name one are not known either.
    pub(crate) fn read_logon(&self, logon: &Message<'_>, direction: Direction) -> Option<NamedVersions> {
        let mut named = self.clone();
        let _ = match &mut named {
            Self::Fixt(versions) => versions.read_logon(logon, direction),
            Self::FixtVersions { versions, is_unknown } => {
                let read = versions.read_logon(logon, direction);
                if direction == Direction::Inbound {
                    *is_unknown = read.is_err();
                }
                read
            }
            Self::None | Self::One(_) => return None,
        };
        Some(NamedVersions(Arc::new(named)))
    }

    /// Reads the defaults of a Logon of ours, given as bytes.
    pub(crate) fn read_our_logon(&self, bytes: &[u8]) -> Option<NamedVersions> {
        if matches!(self, Self::None | Self::One(_)) {
            return None;
        }
        let mut fields = FieldStorage::default();
        let mut named = None;
        let read = |logon: Message<'_>, _: &mut Vec<Place>| {
            named = self.read_logon(&logon, Direction::Outbound);
        };
        let _ = with_message(bytes, Direction::Outbound, DataFields::STANDARD, &mut fields, read);
        named
    }

    /// Returns whether the default version of a Logon has a dictionary, or none is needed.
    pub(crate) fn support(&self, logon: &Message<'_>) -> bool {
        match self {
            Self::Fixt(versions) => {
                let mut versions = versions.clone();
                versions.read_logon(logon, Direction::Inbound).is_ok()
            }
            Self::None | Self::One(_) | Self::FixtVersions { .. } => true,
        }
    }
}

/// Returns the version of the standard that an application version is, or extends.
#[inline]
fn known(version: ApplicationVersion<'_>) -> Option<Version> {
    Version::from_appl_ver_id(version.appl_ver_id)
}

/// Returns the version that a message is read as: FIX Latest if its dictionary is, since messages
/// of it may name FIX.5.0SP2, whose extension packs it is. Otherwise ApplVerID counts, as many
/// dictionaries do not name their service pack.
#[inline]
fn read_as(version: ApplicationVersion<'_>, validator: &Validator) -> Option<Version> {
    validator.version().filter(|own| *own == Version::FixLatest).or_else(|| known(version))
}

/// Returns the versions with a default for messages of which nothing else says it. Settings whose
/// default is not among the versions do not open a session.
fn beginning_with<T: Clone>(
    versions: ApplicationVersions<T>,
    default: ApplicationVersion<'_>,
) -> ApplicationVersions<T> {
    versions.clone().with_default(default).unwrap_or(versions)
}
