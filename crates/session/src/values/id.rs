//! The identity of a session.

use core::fmt;
use core::str::FromStr;

use fixbolt_codec::{Envelope, Message, Tag, Version};

use crate::values::comp_ids::{self, CompIds, InvalidSessionId};
use crate::values::fix::tag;

/// The identity of a session: version, our side, the counterparty's side, and a qualifier where two
/// sessions share all of these.
///
/// Displayed as QuickFIX/J writes it, `FIX.4.4:SENDER/SUB/LOCATION->TARGET/SUB/LOCATION:QUALIFIER`
/// without what there is none of, and parsed from the same form; a LocationID without a SubID is
/// `SENDER//LOCATION`. No two identities have the same text: [`CompIds`] says how `/`, `:` and `->`
/// are written in an ID.
///
/// ```
/// use fixbolt_codec::Version;
/// use fixbolt_session::SessionId;
/// let id: SessionId = "FIX.4.4:VENUE->TRADER".parse().unwrap();
/// assert_eq!(id, SessionId::new(Version::Fix44, "VENUE", "TRADER").unwrap());
/// assert_eq!(id.sender_comp_id(), "VENUE");
/// assert_eq!(id.to_string(), "FIX.4.4:VENUE->TRADER");
///
/// let desk: SessionId = "FIX.4.4:VENUE->TRADER/DESK".parse().unwrap();
/// assert_eq!(desk.target().sub_id(), Some("DESK"));
/// assert!(id.accepts(&desk) && !desk.accepts(&id));
/// ```
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId {
    version: Version,
    sender: CompIds,
    target: CompIds,
    qualifier: Box<str>,
}

// Derived, it would be inline, and compiled wherever an identity is copied.
impl Clone for SessionId {
    fn clone(&self) -> Self {
        Self {
            version: self.version,
            sender: self.sender.clone(),
            target: self.target.clone(),
            qualifier: self.qualifier.clone(),
        }
    }
}

/// SenderSubID, SenderLocationID, TargetSubID and TargetLocationID, in the order in which
/// [`SessionId::sub_ids`] returns their values.
const SUB_IDS: [Tag; 4] =
    [tag::SENDER_SUB_ID, tag::SENDER_LOCATION_ID, tag::TARGET_SUB_ID, tag::TARGET_LOCATION_ID];

/// Maximum length of all parts of an identity together, so that a journal has room for it.
const LONGEST: usize = 240;
/// Maximum length of the name of a file, in bytes.
const LONGEST_NAME: usize = 255;

impl SessionId {
    /// Creates the identity of a session without SubIDs, LocationIDs and a qualifier.
    ///
    /// # Errors
    /// Returns [`InvalidSessionId`] if a part is empty, has bytes outside printable ASCII, or is
    /// longer than 64 bytes, and for FIX.5.0 and later: these are application versions, whose
    /// sessions use FIXT.1.1.
    pub fn new(
        version: Version,
        sender_comp_id: &str,
        target_comp_id: &str,
    ) -> Result<Self, InvalidSessionId> {
        let sender = CompIds::new(sender_comp_id).map_err(|error| error.of("Sender"))?;
        let target = CompIds::new(target_comp_id).map_err(|error| error.of("Target"))?;
        Self::between(version, sender, target)
    }

    /// Creates the identity of a session between two sides: ours and the counterparty.
    ///
    /// # Errors
    /// Returns [`InvalidSessionId`] if the parts have more than 240 bytes together, or
    /// [`SessionId::file_name`] would have more than 255, for FIX.4.0 with a LocationID, and for
    /// FIX.5.0 and later.
    pub fn between(version: Version, sender: CompIds, target: CompIds) -> Result<Self, InvalidSessionId> {
        if version.is_application() {
            return Err(InvalidSessionId::new(format!(
                "{version} is an application version; its sessions are of FIXT.1.1"
            )));
        }
        if version < Version::Fix41 && (sender.location_id().is_some() || target.location_id().is_some()) {
            return Err(InvalidSessionId::new(format!("{version} has no LocationIDs")));
        }
        Self { version, sender, target, qualifier: Box::default() }.within_limits()
    }

    /// Creates the identity of a session with a qualifier; an empty one stands for none.
    ///
    /// # Errors
    /// Returns [`InvalidSessionId`] if a CompID is empty, if a part has bytes outside printable
    /// ASCII or is longer than 64 bytes, if the parts have more than 240 bytes together or
    /// [`SessionId::file_name`] would have more than 255, and for FIX.5.0 and later.
    pub fn qualified(
        version: Version,
        sender_comp_id: &str,
        target_comp_id: &str,
        qualifier: &str,
    ) -> Result<Self, InvalidSessionId> {
        Self::new(version, sender_comp_id, target_comp_id)?.with_qualifier(qualifier)
    }

    /// Returns this identity with a qualifier; an empty one stands for none.
    ///
    /// # Errors
    /// Returns [`InvalidSessionId`] if the qualifier has bytes outside printable ASCII or is longer
    /// than 64 bytes, or if the parts have more than 240 bytes together, or
    /// [`SessionId::file_name`] would have more than 255.
    pub fn with_qualifier(self, qualifier: &str) -> Result<Self, InvalidSessionId> {
        let qualifier = match qualifier {
            "" => Box::default(),
            qualifier => comp_ids::checked("SessionQualifier", qualifier)?,
        };
        Self { qualifier, ..self }.within_limits()
    }

    fn within_limits(self) -> Result<Self, InvalidSessionId> {
        let ids = self.sender.text_ids().chain(self.target.text_ids()).chain([self.qualifier()]);
        let length = self.version.name().len() + ids.map(str::len).sum::<usize>();
        if length > LONGEST {
            return Err(InvalidSessionId::new(format!(
                "the parts of the identity have {length} bytes together, {LONGEST} at most"
            )));
        }
        let length = self.file_name().len();
        if length > LONGEST_NAME {
            return Err(InvalidSessionId::new(format!(
                "no file can have the session's name, which would have {length} bytes, {LONGEST_NAME} at most: each byte of an ID outside A-Z a-z 0-9 . _ takes three; shorten the IDs"
            )));
        }
        Ok(self)
    }

    /// Returns the identity that a message to us names, seen from our side. SubIDs and LocationIDs
    /// that no identity can have are left out.
    pub(crate) fn named_by(version: Version, message: &Message<'_>) -> Result<Self, InvalidSessionId> {
        let text = |tag| message.get(tag).and_then(|value| core::str::from_utf8(value).ok());
        let comp_ids = |[comp_id, sub_id, location_id]: [Tag; 3]| {
            let mut comp_ids = CompIds::new(text(comp_id).unwrap_or_default())?;
            if let Some(named) = text(sub_id).and_then(|id| comp_ids.clone().with_sub_id(id).ok()) {
                comp_ids = named;
            }
            let location_id = text(location_id).filter(|_| version >= Version::Fix41);
            if let Some(named) = location_id.and_then(|id| comp_ids.clone().with_location_id(id).ok()) {
                comp_ids = named;
            }
            Ok(comp_ids)
        };
        let ours = comp_ids([tag::TARGET_COMP_ID, tag::TARGET_SUB_ID, tag::TARGET_LOCATION_ID])?;
        let theirs = comp_ids([tag::SENDER_COMP_ID, tag::SENDER_SUB_ID, tag::SENDER_LOCATION_ID])?;
        let (our_comp_id, their_comp_id) = (ours.comp_id().to_owned(), theirs.comp_id().to_owned());
        Self::between(version, ours, theirs).or_else(|_| Self::new(version, &our_comp_id, &their_comp_id))
    }

    /// Returns the version, whose name is the BeginString (8) of every message.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Returns our side: the CompID (49), SubID (50) and LocationID (142) of the sender of what we
    /// send.
    #[must_use]
    pub const fn sender(&self) -> &CompIds {
        &self.sender
    }

    /// Returns the counterparty's side: the CompID (56), SubID (57) and LocationID (143) of the
    /// target of what we send.
    #[must_use]
    pub const fn target(&self) -> &CompIds {
        &self.target
    }

    /// Returns our CompID: the SenderCompID (49) of what we send.
    #[must_use]
    pub fn sender_comp_id(&self) -> &str {
        self.sender.comp_id()
    }

    /// Returns the counterparty's CompID: the TargetCompID (56) of what we send.
    #[must_use]
    pub fn target_comp_id(&self) -> &str {
        self.target.comp_id()
    }

    /// Returns the qualifier, which is empty for most sessions.
    #[must_use]
    pub fn qualifier(&self) -> &str {
        &self.qualifier
    }

    /// Returns the SubIDs and LocationIDs: those of our side, then those of the counterparty's.
    fn sub_ids(&self) -> [Option<&str>; 4] {
        let ([a, b], [c, d]) = (self.sender.sub_ids(), self.target.sub_ids());
        [a, b, c, d]
    }

    /// Returns the tags of the SubIDs and LocationIDs that the session writes into each message.
    pub(crate) fn written_sub_ids(&self) -> [Option<Tag>; 4] {
        let ids = self.sub_ids();
        core::array::from_fn(|n| ids[n].map(|_| SUB_IDS[n]))
    }

    /// Returns whether a message to us names each SubID and LocationID that the session has.
    pub(crate) fn sub_ids_are_in(&self, message: &Message<'_>) -> bool {
        let [ours, our_location, theirs, their_location] = SUB_IDS;
        [theirs, their_location, ours, our_location]
            .into_iter()
            .zip(self.sub_ids())
            .all(|(tag, id)| id.is_none_or(|id| message.get(tag) == Some(id.as_bytes())))
    }

    /// Returns the constant part of the session's messages.
    pub(crate) fn envelope(&self) -> Option<Envelope> {
        Envelope::between(self.version.begin_string().as_bytes(), self.sender.ids(), self.target.ids())
    }

    /// Returns whether a Logon may be for this session: version and CompIDs are equal, and so is
    /// each SubID and LocationID that this identity has. `logon` is the identity that the Logon
    /// names, seen from our side ([`identify`](crate::identify())).
    #[must_use]
    pub fn accepts(&self, logon: &Self) -> bool {
        self.version == logon.version
            && self.qualifier == logon.qualifier
            && self.sender.includes(&logon.sender)
            && self.target.includes(&logon.target)
    }

    /// Returns how many SubIDs and LocationIDs the identity has. Of the sessions that accept a
    /// Logon, it is for the one that has most.
    #[must_use]
    pub fn specificity(&self) -> usize {
        self.sub_ids().iter().flatten().count()
    }

    /// Returns whether a Logon could be for either session, since neither is more specific:
    /// `A->B/DESK` and `A->B//NY` both accept one that names desk and location.
    #[must_use]
    pub fn is_ambiguous_with(&self, other: &Self) -> bool {
        let differ =
            |(own, other): (Option<&str>, Option<&str>)| own.is_some() && other.is_some() && own != other;
        // Most have none, and each session of a port is compared with every other.
        self.specificity() > 0
            && self.specificity() == other.specificity()
            && self != other
            && (self.version, &self.qualifier) == (other.version, &other.qualifier)
            && self.sender_comp_id() == other.sender_comp_id()
            && self.target_comp_id() == other.target_comp_id()
            && !self.sub_ids().into_iter().zip(other.sub_ids()).any(differ)
    }

    /// Returns a name for files: the parts joined with `-`, SubID and LocationID after their CompID
    /// with `+`, every byte outside `A-Z a-z 0-9 . _` written as `%XX`, so that two sessions never
    /// share a name and no name leaves its directory. It has at most 255 bytes.
    #[must_use]
    pub fn file_name(&self) -> String {
        let mut name = self.version.name().to_owned();
        let sides = [&self.sender, &self.target].map(|side| side.text_ids().collect::<Vec<_>>());
        let qualifier = (!self.qualifier.is_empty()).then(|| vec![self.qualifier()]);
        for ids in sides.into_iter().chain(qualifier) {
            for (n, id) in ids.into_iter().enumerate() {
                name.push(if n == 0 { '-' } else { '+' });
                for b in id.bytes() {
                    if b.is_ascii_alphanumeric() || b == b'.' || b == b'_' {
                        name.push(char::from(b));
                    } else {
                        name.push_str(&format!("%{b:02X}"));
                    }
                }
            }
        }
        name
    }

    /// Returns the identity whose [`SessionId::file_name`] this is, or `None` if there is none.
    #[must_use]
    pub fn from_file_name(name: &str) -> Option<Self> {
        let part = |text: &str| {
            let mut bytes = Vec::new();
            let mut rest = text;
            while let Some((before, code)) = rest.split_once('%') {
                bytes.extend_from_slice(before.as_bytes());
                let (code, after) = code.split_at_checked(2)?;
                bytes.push(u8::from_str_radix(code, 16).ok()?);
                rest = after;
            }
            bytes.extend_from_slice(rest.as_bytes());
            String::from_utf8(bytes).ok()
        };
        let side = |text: &str| {
            let ids: Vec<String> = text.split('+').map(part).collect::<Option<_>>()?;
            CompIds::of_text_ids(&ids).ok()
        };
        let mut parts = name.splitn(4, '-');
        let version = part(parts.next()?)?;
        let (sender, target) = (side(parts.next()?)?, side(parts.next()?)?);
        let qualifier = parts.next().map_or_else(|| Some(String::new()), part)?;
        let id =
            Self::between(version.parse().ok()?, sender, target).ok()?.with_qualifier(&qualifier).ok()?;
        (id.file_name() == name).then_some(id)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}->{}", self.version, self.sender, self.target)?;
        if !self.qualifier.is_empty() {
            f.write_str(":")?;
            comp_ids::write_escaped(&self.qualifier, f)?;
        }
        Ok(())
    }
}

impl FromStr for SessionId {
    type Err = InvalidSessionId;

    fn from_str(text: &str) -> Result<Self, InvalidSessionId> {
        let wrong = || {
            InvalidSessionId::new(format!(
                "{text:?} is not of the form FIX.4.4:SENDER[/SUB[/LOCATION]]->TARGET[/SUB[/LOCATION]][:QUALIFIER]"
            ))
        };
        let (version, rest) = text.split_once(':').ok_or_else(wrong)?;
        let version =
            version.parse().map_err(|unknown| InvalidSessionId::new(format!("{version:?} is {unknown}")))?;
        let (sender, rest) = comp_ids::split_once(rest, "->").ok_or_else(wrong)?;
        let (target, qualifier) = comp_ids::split_once(rest, ":").unwrap_or((rest, ""));
        let side = |name: &str, text: &str| {
            let ids = CompIds::text_ids_in(text).ok_or_else(wrong)?;
            CompIds::of_text_ids(&ids).map_err(|error| error.of(name))
        };
        let (sender, target) = (side("Sender", sender)?, side("Target", target)?);
        let qualifier = comp_ids::unescaped(qualifier).ok_or_else(wrong)?;
        Self::between(version, sender, target)?.with_qualifier(&qualifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_never_leaves_its_directory_and_never_collides() {
        let a = SessionId::new(Version::Fix44, "../X", "A-B").unwrap();
        let b = SessionId::new(Version::Fix44, "../X-A", "B").unwrap();
        assert_eq!(a.file_name(), "FIX.4.4-..%2FX-A%2DB");
        assert_ne!(a.file_name(), b.file_name());
        let qualified = SessionId::qualified(Version::Fixt11, "a%", "~-", "2-3").unwrap();
        assert_eq!(qualified.file_name(), "FIXT.1.1-a%25-%7E%2D-2%2D3");
        for id in [a, b, qualified] {
            assert_eq!(SessionId::from_file_name(&id.file_name()), Some(id));
        }
        for other in [
            "",
            "FIX.4.4",
            "FIX.4.4-A",
            "FIX.4.4-A-",
            "FIX.4.4-A-B%2",
            "FIX.4.4-A-B%zz",
            "FIX.4.4-A-%2fB",
            "FIX.4.4-A-B+",
            "FIX.4.4-A-B++",
            "FIX.4.4-A-B+C+",
            "FIX.4.4-A-B+C+D+E",
            "FIX.4.4-A-B+%2fC",
            "FIX.4.0-A-B++C",
        ] {
            assert_eq!(SessionId::from_file_name(other), None, "{other}");
        }
    }

    #[test]
    fn a_qualifier_survives_printing_and_parsing() {
        let id = SessionId::qualified(Version::Fix42, "A", "B", "2").unwrap();
        assert_eq!(id.to_string().parse::<SessionId>().unwrap(), id);
        assert!("FIX.4.2:A".parse::<SessionId>().is_err());
        assert_eq!("fix42:A->B:2".parse::<SessionId>().unwrap(), id);
    }

    #[test]
    fn a_version_that_is_unknown_or_has_no_sessions_is_refused() {
        let error = "FIX.4.5:A->B".parse::<SessionId>().unwrap_err().to_string();
        assert!(error.starts_with("\"FIX.4.5\" is none of the versions FIX.4.0, "), "{error}");
        let error = SessionId::new(Version::Fix50Sp2, "A", "B").unwrap_err().to_string();
        assert_eq!(error, "FIX.5.0SP2 is an application version; its sessions are of FIXT.1.1");
    }

    /// Identities whose parts hold everything that separates parts.
    fn identities() -> Vec<SessionId> {
        let ids = [None, Some("X"), Some("a/b"), Some("a+b"), Some("->"), Some(":"), Some(".."), Some("\\")];
        let sides: Vec<CompIds> = ["A", "A/X", "A->", ".."]
            .into_iter()
            .flat_map(|comp_id| ids.into_iter().map(move |sub_id| (comp_id, sub_id)))
            .flat_map(|(comp_id, sub_id)| {
                ids.into_iter().map(move |id| CompIds::new(comp_id).unwrap().with_ids(sub_id, id).unwrap())
            })
            .collect();
        let mut all = Vec::new();
        for (n, sender) in sides.iter().enumerate() {
            for target in &sides {
                let id = SessionId::between(Version::Fix44, sender.clone(), target.clone()).unwrap();
                all.push(id.with_qualifier(["", "2", "B:2", "X/->"][n % 4]).unwrap());
            }
        }
        all
    }

    #[test]
    fn no_two_identities_share_a_text_or_a_file_name_and_both_are_read_back() {
        let (mut texts, mut names) = (std::collections::HashSet::new(), std::collections::HashSet::new());
        for id in identities() {
            let (text, name) = (id.to_string(), id.file_name());
            assert_eq!(text.parse(), Ok(id.clone()), "{text}");
            assert_eq!(SessionId::from_file_name(&name), Some(id));
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-+%".contains(&b)), "{name}");
            assert!(texts.insert(text) && names.insert(name));
        }
    }

    #[test]
    fn sub_ids_and_location_ids_are_in_text_and_file_name() {
        for (text, name) in [
            ("FIX.4.4:A/S/L->B:Q", "FIX.4.4-A+S+L-B-Q"),
            ("FIX.4.4:A->B/T", "FIX.4.4-A-B+T"),
            ("FIX.4.4:A//L->B/T/M", "FIX.4.4-A++L-B+T+M"),
            ("FIX.4.0:A/S->B", "FIX.4.0-A+S-B"),
        ] {
            let id: SessionId = text.parse().unwrap();
            assert_eq!((id.to_string().as_str(), id.file_name().as_str()), (text, name));
        }
    }

    #[test]
    fn a_side_that_cannot_be_is_refused_by_name() {
        for (text, reason) in [
            ("FIX.4.4:/A->B", "SenderCompID is empty"),
            ("FIX.4.4:A->B/", "TargetSubID is empty"),
            ("FIX.4.4:A->B//", "TargetLocationID is empty"),
            ("FIX.4.0:A->B//L", "FIX.4.0 has no LocationIDs"),
        ] {
            assert_eq!(text.parse::<SessionId>().unwrap_err().to_string(), reason);
        }
        let long = "X".repeat(64);
        let comp_ids = CompIds::new(&long).unwrap().with_sub_id(&long).unwrap();
        let error = SessionId::between(Version::Fix44, comp_ids.clone(), comp_ids).unwrap_err().to_string();
        assert_eq!(error, "the parts of the identity have 263 bytes together, 240 at most");
        assert!(SessionId::qualified(Version::Fixt11, &long, &long, &long).is_ok());
    }

    #[test]
    fn an_identity_that_no_file_can_be_named_after_is_refused() {
        let dashes = |count: usize| "-".repeat(count);
        let name = |id: SessionId| id.file_name().len();
        // FIX.4.4, two separators, and three bytes for each dash.
        assert_eq!(SessionId::new(Version::Fix44, &dashes(41), &dashes(41)).map(name), Ok(255));
        let error = SessionId::new(Version::Fix44, &dashes(41), &dashes(42)).unwrap_err().to_string();
        assert_eq!(
            error,
            "no file can have the session's name, which would have 258 bytes, 255 at most: each byte of an ID outside A-Z a-z 0-9 . _ takes three; shorten the IDs"
        );
        let id = SessionId::new(Version::Fix44, &dashes(41), &dashes(41)).unwrap();
        assert!(id.with_qualifier("Q").is_err());
        assert!(format!("FIX.4.4:{}->{}", dashes(64), dashes(64)).parse::<SessionId>().is_err());
    }

    #[test]
    fn the_most_specific_session_accepts_a_logon_and_equal_ones_are_ambiguous() {
        let id = |text: &str| format!("FIX.4.4:{text}").parse::<SessionId>().unwrap();
        assert!(id("A->B").accepts(&id("A/S->B/T/L")));
        assert!(id("A/S->B/T").accepts(&id("A/S->B/T/L")));
        assert!(!id("A/S->B/T").accepts(&id("A->B/T/L")));
        assert!(!id("A->B:Q").accepts(&id("A->B")), "no Logon has a qualifier");
        assert!(!id("A->B").accepts(&"FIX.4.2:A->B".parse().unwrap()));
        assert_eq!((id("A->B").specificity(), id("A/S->B//L").specificity()), (0, 2));
        for (one, other, ambiguous) in [
            ("A->B", "A->B", false),
            ("A->B", "A->B/T", false),
            ("A->B/T", "A->B/U", false),
            ("A->B/T", "A->B//L", true),
            ("A/S->B", "A->B/T", true),
            ("A/S->B/T", "A/S->B//L", true),
            ("A/S->B/T", "A/R->B//L", false),
            ("A->B/T", "A->C//L", false),
        ] {
            assert_eq!(id(one).is_ambiguous_with(&id(other)), ambiguous, "{one} {other}");
            assert_eq!(id(other).is_ambiguous_with(&id(one)), ambiguous, "{other} {one}");
        }
    }
}
