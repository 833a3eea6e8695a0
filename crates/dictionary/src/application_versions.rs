//! Finds the application version of a message over FIXT.1.1.
//!
//! A session over FIXT.1.1 carries messages of several application versions. A message names its
//! version in ApplVerID(1128). If it does not, the Logons said which version its type has, and
//! which one all other types have. The session layer itself always has the version of the
//! transport. This module reads no dictionary and sends nothing.

use std::fmt;

use fixbolt_codec::{Message, Tag, is_admin};

use crate::model::sorted;
#[cfg(feature = "validation")]
use crate::reject_codes::SessionRejectCode;

/// Holds something for each application version of a session, for example a `Validator` or a
/// `Dictionary`, and finds the one for a message.
///
/// [`DictionarySet`](crate::DictionarySet) makes one of dictionaries or of validators. For a
/// session with FIX.5.0SP2 as its default that also accepts FIX.4.4 and a venue's own variant:
///
/// ```
/// use fixbolt_dictionary::{ApplicationVersion, DictionarySet, fix44, fix50sp2, fixt11};
/// # let venue = fix50sp2();
/// let versions = DictionarySet::new(fixt11().clone())?
///     .with(ApplicationVersion::new("9"), fix50sp2())?
///     .with(ApplicationVersion::new("6"), fix44())?
///     .with(ApplicationVersion::new("9").custom("VENUE-3"), venue)?
///     .with_default(ApplicationVersion::new("9"))
///     .expect("9 was added")
///     .validators();
/// # Ok::<(), fixbolt_dictionary::TransportMismatch>(())
/// ```
///
/// [`ApplicationVersions::read_logon`] reads the defaults of each Logon, sent and received.
/// [`ApplicationVersions::choose`] then finds the version of each message, without allocating. A
/// version is identified by ApplVerID, ApplExtID and CstmApplVerID together. An extension pack that
/// was not added is treated as the version that it extends. A custom version that was not added is
/// not supported, as only the parties know what it means.
#[derive(Debug, Clone)]
pub struct ApplicationVersions<T> {
    transport: T,
    known: Vec<(Named, T)>,
    configured: Option<usize>,
    inbound: Defaults,
    outbound: Defaults,
}

/// An application version in the form in which messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ApplicationVersion<'a> {
    /// ApplVerID(1128), RefApplVerID(1130) or DefaultApplVerID(1137): `9` for FIX.5.0SP2.
    pub appl_ver_id: &'a [u8],
    /// ApplExtID(1156), RefApplExtID(1406) or DefaultApplExtID(1407): the number of an extension
    /// pack.
    pub appl_ext_id: Option<&'a [u8]>,
    /// CstmApplVerID(1129), RefCstmApplVerID(1131) or DefaultCstmApplVerID(1408): a name that both
    /// parties agreed on.
    pub cstm_appl_ver_id: Option<&'a [u8]>,
}

impl<'a> ApplicationVersion<'a> {
    /// Returns the version without extension pack or custom name.
    pub const fn new(appl_ver_id: &'a str) -> ApplicationVersion<'a> {
        ApplicationVersion { appl_ver_id: appl_ver_id.as_bytes(), appl_ext_id: None, cstm_appl_ver_id: None }
    }

    /// Adds an extension pack.
    #[must_use]
    pub const fn extended(self, appl_ext_id: &'a str) -> ApplicationVersion<'a> {
        ApplicationVersion { appl_ext_id: Some(appl_ext_id.as_bytes()), ..self }
    }

    /// Adds a custom name.
    #[must_use]
    pub const fn custom(self, cstm_appl_ver_id: &'a str) -> ApplicationVersion<'a> {
        ApplicationVersion { cstm_appl_ver_id: Some(cstm_appl_ver_id.as_bytes()), ..self }
    }
}

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The counterparty.
    Inbound,
    /// This side.
    Outbound,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Inbound => "in",
            Direction::Outbound => "out",
        })
    }
}

/// The result of [`ApplicationVersions::choose`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chosen<'a, T> {
    /// The value that was added for the version.
    pub value: &'a T,
    /// The version as it was added; `None` for the session layer.
    pub version: Option<ApplicationVersion<'a>>,
    /// Whether the version of the message came from a default. A Reject of it then names the
    /// version in RefApplVerID(1130), RefApplExtID(1406) and RefCstmApplVerID(1131).
    pub by_default: bool,
}

/// A message has an application version that the session does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedApplicationVersion {
    /// The field that names the version, for RefTagID(371): 1128 in the message itself, or 1130 or
    /// 1137 in the Logon. 1137 if no version is named anywhere.
    pub ref_tag: u32,
}

#[cfg(feature = "validation")]
impl UnsupportedApplicationVersion {
    /// Returns the SessionRejectReason(373), 18.
    pub const fn reason(self) -> SessionRejectCode {
        SessionRejectCode::INVALID_UNSUPPORTED_APPLICATION_VERSION
    }
}

impl fmt::Display for UnsupportedApplicationVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the application version in field {} is not supported", self.ref_tag)
    }
}

impl std::error::Error for UnsupportedApplicationVersion {}

impl<T> ApplicationVersions<T> {
    /// Creates a set without application versions; `transport` is for the session layer.
    pub const fn new(transport: T) -> ApplicationVersions<T> {
        ApplicationVersions {
            transport,
            known: Vec::new(),
            configured: None,
            inbound: Defaults::NONE,
            outbound: Defaults::NONE,
        }
    }

    /// Adds a version, or replaces the one that was added before.
    #[must_use]
    pub fn with(mut self, version: ApplicationVersion<'_>, value: T) -> ApplicationVersions<T> {
        match self.known.iter().position(|(known, _)| known.borrow() == version) {
            Some(at) => self.known[at].1 = value,
            None => self.known.push((Named::from(version), value)),
        }
        self
    }

    /// Sets the default for messages whose version neither the message nor a Logon names.
    ///
    /// # Errors
    /// Returns an error if the version was not added.
    pub fn with_default(
        mut self,
        version: ApplicationVersion<'_>,
    ) -> Result<ApplicationVersions<T>, UnsupportedApplicationVersion> {
        self.configured = Some(self.find(version).ok_or(UnsupportedApplicationVersion { ref_tag: 1137 })?);
        Ok(self)
    }

    /// Returns the value for the session layer.
    pub const fn transport(&self) -> &T {
        &self.transport
    }

    /// Returns the values for the application versions, in the order in which they were added.
    pub fn applications(&self) -> impl Iterator<Item = &T> {
        self.known.iter().map(|(_, value)| value)
    }

    /// Returns the application versions and their values, in the order in which they were added.
    pub fn versions(&self) -> impl Iterator<Item = (ApplicationVersion<'_>, &T)> {
        self.known.iter().map(|(version, value)| (version.borrow(), value))
    }

    /// Returns the same versions, with what `change` makes of each value. The defaults of Logons
    /// are not taken over.
    pub fn map<U>(&self, mut change: impl FnMut(&T) -> U) -> ApplicationVersions<U> {
        ApplicationVersions {
            transport: change(&self.transport),
            known: self.known.iter().map(|(version, value)| (version.clone(), change(value))).collect(),
            configured: self.configured,
            inbound: Defaults::NONE,
            outbound: Defaults::NONE,
        }
    }

    /// Reads the defaults of a Logon, which replace those of an earlier one in the same direction.
    /// Its default version applies to the messages of its sender. An entry of NoMsgTypes(384)
    /// applies to the messages that its sender sends (`S` in MsgDirection), receives (`R`), or both
    /// (no MsgDirection). Of several entries for a type the one with `Y` in
    /// DefaultVerIndicator(1410) counts; if there is none, the type has the version of all others.
    ///
    /// # Errors
    /// Returns an error if the default version is not supported; the previous one stays. An entry
    /// for a type with an unsupported version is not an error, only a message of that type is.
    pub fn read_logon(
        &mut self,
        logon: &Message<'_>,
        direction: Direction,
    ) -> Result<(), UnsupportedApplicationVersion> {
        let default = match named(logon, DEFAULT) {
            Some(version) => Some(self.find(version).ok_or(UnsupportedApplicationVersion { ref_tag: 1137 })?),
            None => None,
        };
        let (by_sender, by_receiver) = self.entries(logon);
        let (theirs, others) = match direction {
            Direction::Inbound => (&mut self.inbound, &mut self.outbound),
            Direction::Outbound => (&mut self.outbound, &mut self.inbound),
        };
        theirs.default = default;
        theirs.said_by_sender = by_sender;
        others.said_by_receiver = by_receiver;
        Ok(())
    }

    /// Discards the defaults of Logons, for a new connection.
    pub fn forget_logons(&mut self) {
        self.inbound = Defaults::NONE;
        self.outbound = Defaults::NONE;
    }

    /// Finds the version of a message: for the session layer (MsgType 0 to 5 and A) the
    /// transport's, else the version that the message names, else the one that the Logons set for
    /// its type, the sender's before the receiver's, else the sender's default, else the configured
    /// default.
    ///
    /// # Errors
    /// Returns an error if the version is not supported, or no version is named anywhere.
    pub fn choose(
        &self,
        message: &Message<'_>,
        direction: Direction,
    ) -> Result<Chosen<'_, T>, UnsupportedApplicationVersion> {
        if is_admin(message.msg_type()) {
            return Ok(Chosen { value: &self.transport, version: None, by_default: false });
        }
        // R-FIXT-3
        if let Some(version) = named(message, OWN) {
            let at = self.find(version).ok_or(UnsupportedApplicationVersion { ref_tag: 1128 })?;
            return Ok(self.chosen(at, false));
        }
        let defaults = match direction {
            Direction::Inbound => &self.inbound,
            Direction::Outbound => &self.outbound,
        };
        if let Some(found) = defaults.of_type(message.msg_type()) {
            let at = found.ok_or(UnsupportedApplicationVersion { ref_tag: 1130 })?;
            return Ok(self.chosen(at, true));
        }
        let at = defaults.default.or(self.configured);
        at.map(|at| self.chosen(at, true)).ok_or(UnsupportedApplicationVersion { ref_tag: 1137 })
    }

    /// Returns whether a message of this type that we send must name its version, although it has
    /// the default one: the counterparty has said that it receives such messages as another
    /// version, and we have not said how we send them.
    #[must_use]
    pub fn must_be_named(&self, msg_type: &[u8]) -> bool {
        let Defaults { default, said_by_sender, said_by_receiver } = &self.outbound;
        let expected = said_by_receiver.get(msg_type);
        expected.is_some_and(|expected| {
            said_by_sender.get(msg_type).is_none() && expected != default.or(self.configured)
        })
    }

    fn chosen(&self, at: usize, by_default: bool) -> Chosen<'_, T> {
        let (version, value) = &self.known[at];
        Chosen { value, version: Some(version.borrow()), by_default }
    }

    fn find(&self, version: ApplicationVersion<'_>) -> Option<usize> {
        let exact = |version| self.known.iter().position(|(known, _)| known.borrow() == version);
        exact(version).or_else(|| exact(ApplicationVersion { appl_ext_id: None, ..version }))
    }

    /// Returns the entries of NoMsgTypes(384) for the messages of the Logon's sender and of its
    /// receiver.
    fn entries(&self, logon: &Message<'_>) -> (ByType, ByType) {
        let (mut by_sender, mut by_receiver) = (Vec::new(), Vec::new());
        let mut entry: Option<Entry<'_>> = None;
        let start = logon.position(const { Tag::new(384) }).map_or(logon.len(), |count| count + 1);
        for field in logon.fields().skip(start) {
            let tag = field.tag.map_or(0, Tag::number);
            if tag == 372 {
                self.add(entry.replace(Entry::of(field.value)), &mut by_sender, &mut by_receiver);
                continue;
            }
            let Some(entry) = &mut entry else { break };
            match tag {
                385 => entry.direction = Some(field.value),
                1130 => entry.version.appl_ver_id = field.value,
                1406 => entry.version.appl_ext_id = Some(field.value),
                1131 => entry.version.cstm_appl_ver_id = Some(field.value),
                1410 => entry.is_default = field.value == b"Y",
                _ => break,
            }
        }
        self.add(entry, &mut by_sender, &mut by_receiver);
        (ByType::of(&by_sender), ByType::of(&by_receiver))
    }

    fn add(&self, entry: Option<Entry<'_>>, by_sender: &mut Vec<Said>, by_receiver: &mut Vec<Said>) {
        let Some(entry) = entry.filter(|entry| !entry.version.appl_ver_id.is_empty()) else { return };
        let said = Said {
            msg_type: entry.msg_type.into(),
            version: self.find(entry.version),
            is_default: entry.is_default,
        };
        if entry.direction != Some(b"R") {
            by_sender.push(said.clone());
        }
        if entry.direction != Some(b"S") {
            by_receiver.push(said);
        }
    }
}

/// ApplVerID, ApplExtID and CstmApplVerID of a message.
const OWN: [Tag; 3] = [Tag::new(1128), Tag::new(1156), Tag::new(1129)];
/// DefaultApplVerID, DefaultApplExtID and DefaultCstmApplVerID of a Logon.
const DEFAULT: [Tag; 3] = [Tag::new(1137), Tag::new(1407), Tag::new(1408)];

fn named<'m>(message: &Message<'m>, fields: [Tag; 3]) -> Option<ApplicationVersion<'m>> {
    let appl_ver_id = message.get(fields[0])?;
    Some(ApplicationVersion {
        appl_ver_id,
        appl_ext_id: message.get(fields[1]),
        cstm_appl_ver_id: message.get(fields[2]),
    })
}

/// An application version that is stored.
#[derive(Debug, Clone)]
struct Named {
    appl_ver_id: Box<[u8]>,
    appl_ext_id: Option<Box<[u8]>>,
    cstm_appl_ver_id: Option<Box<[u8]>>,
}

impl Named {
    fn borrow(&self) -> ApplicationVersion<'_> {
        ApplicationVersion {
            appl_ver_id: &self.appl_ver_id,
            appl_ext_id: self.appl_ext_id.as_deref(),
            cstm_appl_ver_id: self.cstm_appl_ver_id.as_deref(),
        }
    }
}

impl From<ApplicationVersion<'_>> for Named {
    fn from(version: ApplicationVersion<'_>) -> Named {
        Named {
            appl_ver_id: version.appl_ver_id.into(),
            appl_ext_id: version.appl_ext_id.map(Into::into),
            cstm_appl_ver_id: version.cstm_appl_ver_id.map(Into::into),
        }
    }
}

/// Versions by message type, ascending by type; `None` if the version is not supported.
#[derive(Debug, Clone)]
struct ByType(Vec<(Box<[u8]>, Option<usize>)>);

impl ByType {
    /// Keeps one version for each type: the only one, or the first one marked as default.
    fn of(said: &[Said]) -> ByType {
        let order = sorted(said.len(), &|left, right| {
            said[left].msg_type.cmp(&said[right].msg_type).then(left.cmp(&right))
        });
        let mut by_type = Vec::new();
        for of_type in order.chunk_by(|left, right| said[*left].msg_type == said[*right].msg_type) {
            let one = match of_type {
                [only] => Some(only),
                several => several.iter().find(|one| said[**one].is_default),
            };
            by_type.extend(one.map(|one| (said[*one].msg_type.clone(), said[*one].version)));
        }
        ByType(by_type)
    }

    fn get(&self, msg_type: &[u8]) -> Option<Option<usize>> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(msg_type)).ok().map(|at| self.0[at].1)
    }
}

/// The defaults for messages in one direction.
#[derive(Debug, Clone)]
struct Defaults {
    default: Option<usize>,
    said_by_sender: ByType,
    said_by_receiver: ByType,
}

impl Defaults {
    const NONE: Defaults =
        Defaults { default: None, said_by_sender: ByType(Vec::new()), said_by_receiver: ByType(Vec::new()) };

    fn of_type(&self, msg_type: &[u8]) -> Option<Option<usize>> {
        self.said_by_sender.get(msg_type).or_else(|| self.said_by_receiver.get(msg_type))
    }
}

/// An entry of NoMsgTypes(384) while it is read.
struct Entry<'m> {
    msg_type: &'m [u8],
    direction: Option<&'m [u8]>,
    version: ApplicationVersion<'m>,
    is_default: bool,
}

impl<'m> Entry<'m> {
    fn of(msg_type: &'m [u8]) -> Entry<'m> {
        Entry { msg_type, direction: None, version: ApplicationVersion::new(""), is_default: false }
    }
}

/// What an entry says of a type.
#[derive(Debug, Clone)]
struct Said {
    msg_type: Box<[u8]>,
    version: Option<usize>,
    is_default: bool,
}
