//! The identity of a session.

use core::fmt;
use core::str::FromStr;

use fixbolt_codec::Version;

/// The identity of a session: version, our CompID, the counterparty's CompID, and a qualifier where
/// two sessions share all of these.
///
/// Displayed as QuickFIX writes it, `FIX.4.4:SENDER->TARGET[:QUALIFIER]`, and parsed from the same
/// form. A CompID may contain `:` and `->`, so two identities may have the same text: code that
/// must identify a session stores the parts.
///
/// ```
/// use fixbolt_codec::Version;
/// use fixbolt_session::SessionId;
/// let id: SessionId = "FIX.4.4:VENUE->TRADER".parse().unwrap();
/// assert_eq!(id, SessionId::new(Version::Fix44, "VENUE", "TRADER").unwrap());
/// assert_eq!(id.sender_comp_id(), "VENUE");
/// assert_eq!(id.to_string(), "FIX.4.4:VENUE->TRADER");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId {
    version: Version,
    sender_comp_id: String,
    target_comp_id: String,
    qualifier: String,
}

impl SessionId {
    /// Creates the identity of a session without a qualifier.
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
        Self::qualified(version, sender_comp_id, target_comp_id, "")
    }

    /// Creates the identity of a session with a qualifier; an empty one stands for none.
    ///
    /// # Errors
    /// The same as those of [`SessionId::new`].
    pub fn qualified(
        version: Version,
        sender_comp_id: &str,
        target_comp_id: &str,
        qualifier: &str,
    ) -> Result<Self, InvalidSessionId> {
        let part = |name: &'static str, value: &str, may_be_empty: bool| {
            if value.is_empty() && !may_be_empty {
                return Err(InvalidSessionId(format!("{name} is empty")));
            }
            if value.len() > 64 {
                return Err(InvalidSessionId(format!("{name} has {} bytes, 64 at most", value.len())));
            }
            if let Some(bad) = value.bytes().find(|b| !(0x20..0x7f).contains(b)) {
                return Err(InvalidSessionId(format!(
                    "{name} holds the byte 0x{bad:02x}; printable ASCII only"
                )));
            }
            Ok(value.to_owned())
        };
        if version.is_application() {
            return Err(InvalidSessionId(format!(
                "{version} is an application version; its sessions are of FIXT.1.1"
            )));
        }
        Ok(Self {
            version,
            sender_comp_id: part("SenderCompID", sender_comp_id, false)?,
            target_comp_id: part("TargetCompID", target_comp_id, false)?,
            qualifier: part("SessionQualifier", qualifier, true)?,
        })
    }

    /// Returns the version, whose name is the BeginString (8) of every message.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Returns our CompID: the SenderCompID (49) of what we send.
    #[must_use]
    pub fn sender_comp_id(&self) -> &str {
        &self.sender_comp_id
    }

    /// Returns the counterparty's CompID: the TargetCompID (56) of what we send.
    #[must_use]
    pub fn target_comp_id(&self) -> &str {
        &self.target_comp_id
    }

    /// Returns the qualifier, which is empty for most sessions.
    #[must_use]
    pub fn qualifier(&self) -> &str {
        &self.qualifier
    }

    /// Returns a name for files: the parts joined with `-`, every byte outside `A-Z a-z 0-9 . _`
    /// written as `%XX`, so that two sessions never share a name and no name leaves its directory.
    #[must_use]
    pub fn file_name(&self) -> String {
        let mut name = String::new();
        let parts = [self.version.name(), &self.sender_comp_id, &self.target_comp_id, &self.qualifier];
        for (n, part) in parts.into_iter().enumerate() {
            if n == 3 && part.is_empty() {
                continue;
            }
            if n > 0 {
                name.push('-');
            }
            for b in part.bytes() {
                if b.is_ascii_alphanumeric() || b == b'.' || b == b'_' {
                    name.push(char::from(b));
                } else {
                    name.push_str(&format!("%{b:02X}"));
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
        let mut parts = name.splitn(4, '-').map(part);
        let [version, sender, target] = [parts.next()??, parts.next()??, parts.next()??];
        let qualifier = parts.next().unwrap_or_else(|| Some(String::new()))?;
        let id = Self::qualified(version.parse().ok()?, &sender, &target, &qualifier).ok()?;
        (id.file_name() == name).then_some(id)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}->{}", self.version, self.sender_comp_id, self.target_comp_id)?;
        if !self.qualifier.is_empty() {
            write!(f, ":{}", self.qualifier)?;
        }
        Ok(())
    }
}

impl FromStr for SessionId {
    type Err = InvalidSessionId;
    fn from_str(text: &str) -> Result<Self, InvalidSessionId> {
        let wrong =
            || InvalidSessionId(format!("{text:?} is not of the form FIX.4.4:SENDER->TARGET[:QUALIFIER]"));
        let (version, rest) = text.split_once(':').ok_or_else(wrong)?;
        let version =
            version.parse().map_err(|unknown| InvalidSessionId(format!("{version:?} is {unknown}")))?;
        let (sender, rest) = rest.split_once("->").ok_or_else(wrong)?;
        let (target, qualifier) = rest.split_once(':').unwrap_or((rest, ""));
        Self::qualified(version, sender, target, qualifier)
    }
}

/// Why a text or its parts do not make a [`SessionId`].
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidSessionId(String);

impl fmt::Display for InvalidSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Shows the sentence, since this is how `main` prints an error.
impl fmt::Debug for InvalidSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for InvalidSessionId {}

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
        for id in [a, b, qualified] {
            assert_eq!(SessionId::from_file_name(&id.file_name()), Some(id));
        }
        for other in
            ["", "FIX.4.4", "FIX.4.4-A", "FIX.4.4-A-", "FIX.4.4-A-B%2", "FIX.4.4-A-B%zz", "FIX.4.4-A-%2fB"]
        {
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
}
