//! The versions of FIX: their names, their BeginString (8) and their ApplVerID (1128).

use core::fmt;
use core::str::FromStr;

/// A version of FIX, oldest first; the transport FIXT.1.1 comes last, since its sessions have what
/// FIX.4.4's have and more.
///
/// FIX.5.0 and later are application versions: their messages travel in sessions of FIXT.1.1, and
/// [`begin_string`](Self::begin_string) says so. The list is closed: FIX Latest stands for every
/// later extension pack.
///
/// ```
/// use fixbolt_codec::Version;
/// assert_eq!("fix44".parse(), Ok(Version::Fix44));
/// assert_eq!(Version::Fix50Sp2.to_string(), "FIX.5.0SP2");
/// assert_eq!(Version::Fix50Sp2.begin_string(), "FIXT.1.1");
/// assert_eq!(Version::Fix50Sp2.appl_ver_id(), Some("9"));
/// assert!(Version::Fix42 < Version::Fix44);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Version {
    /// FIX.4.0.
    Fix40,
    /// FIX.4.1.
    Fix41,
    /// FIX.4.2.
    Fix42,
    /// FIX.4.3.
    Fix43,
    /// FIX.4.4.
    Fix44,
    /// FIX.5.0, an application version.
    Fix50,
    /// FIX.5.0 SP1, an application version.
    Fix50Sp1,
    /// FIX.5.0 SP2, an application version.
    Fix50Sp2,
    /// FIX Latest, an application version.
    FixLatest,
    /// FIXT.1.1: header, trailer and session messages for FIX.5.0 and later.
    Fixt11,
}

impl Version {
    /// Every version, in ascending order.
    pub const ALL: [Self; 10] = [
        Self::Fix40,
        Self::Fix41,
        Self::Fix42,
        Self::Fix43,
        Self::Fix44,
        Self::Fix50,
        Self::Fix50Sp1,
        Self::Fix50Sp2,
        Self::FixLatest,
        Self::Fixt11,
    ];

    /// Returns the name: `FIX.4.4`, `FIX.5.0SP2`, `FIX.Latest`, `FIXT.1.1`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fix40 => "FIX.4.0",
            Self::Fix41 => "FIX.4.1",
            Self::Fix42 => "FIX.4.2",
            Self::Fix43 => "FIX.4.3",
            Self::Fix44 => "FIX.4.4",
            Self::Fix50 => "FIX.5.0",
            Self::Fix50Sp1 => "FIX.5.0SP1",
            Self::Fix50Sp2 => "FIX.5.0SP2",
            Self::FixLatest => "FIX.Latest",
            Self::Fixt11 => "FIXT.1.1",
        }
    }

    /// Returns the BeginString (8) of the version's messages: its name up to FIX.4.4, `FIXT.1.1`
    /// for all others.
    #[must_use]
    pub const fn begin_string(self) -> &'static str {
        if self.is_application() { Self::Fixt11.name() } else { self.name() }
    }

    /// Returns the version's value in ApplVerID (1128); `None` for the transport, which is no
    /// application version.
    #[must_use]
    pub const fn appl_ver_id(self) -> Option<&'static str> {
        match self {
            Self::Fix40 => Some("2"),
            Self::Fix41 => Some("3"),
            Self::Fix42 => Some("4"),
            Self::Fix43 => Some("5"),
            Self::Fix44 => Some("6"),
            Self::Fix50 => Some("7"),
            Self::Fix50Sp1 => Some("8"),
            Self::Fix50Sp2 => Some("9"),
            Self::FixLatest => Some("10"),
            Self::Fixt11 => None,
        }
    }

    /// Returns whether the version has only application messages, which travel in sessions of
    /// FIXT.1.1: FIX.5.0 and later.
    #[must_use]
    pub const fn is_application(self) -> bool {
        matches!(self, Self::Fix50 | Self::Fix50Sp1 | Self::Fix50Sp2 | Self::FixLatest)
    }

    /// Returns the version of a session whose messages have this BeginString (8), exactly as it is
    /// on the wire.
    ///
    /// ```
    /// use fixbolt_codec::Version;
    /// assert_eq!(Version::from_begin_string(b"FIXT.1.1"), Some(Version::Fixt11));
    /// assert_eq!(Version::from_begin_string(b"FIX.5.0"), None);
    /// ```
    #[must_use]
    pub fn from_begin_string(value: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|version| !version.is_application() && version.name().as_bytes() == value)
    }

    /// Returns the version that this value of ApplVerID (1128) or DefaultApplVerID (1137) names.
    ///
    /// ```
    /// use fixbolt_codec::Version;
    /// assert_eq!(Version::from_appl_ver_id(b"9"), Some(Version::Fix50Sp2));
    /// assert_eq!(Version::from_appl_ver_id(b"1"), None); // FIX.3.0
    /// ```
    #[must_use]
    pub fn from_appl_ver_id(value: &[u8]) -> Option<Self> {
        Some(match value {
            b"2" => Self::Fix40,
            b"3" => Self::Fix41,
            b"4" => Self::Fix42,
            b"5" => Self::Fix43,
            b"6" => Self::Fix44,
            b"7" => Self::Fix50,
            b"8" => Self::Fix50Sp1,
            b"9" => Self::Fix50Sp2,
            b"10" => Self::FixLatest,
            _ => return None,
        })
    }

    /// Returns the first field of all messages of this version, if no messages of another version
    /// have it.
    #[inline]
    pub(crate) const fn beginning(self) -> Option<&'static [u8]> {
        match self {
            Self::Fix40 => Some(b"8=FIX.4.0\x01"),
            Self::Fix41 => Some(b"8=FIX.4.1\x01"),
            Self::Fix42 => Some(b"8=FIX.4.2\x01"),
            Self::Fix43 => Some(b"8=FIX.4.3\x01"),
            Self::Fix44 => Some(b"8=FIX.4.4\x01"),
            Self::Fixt11 => Some(b"8=FIXT.1.1\x01"),
            Self::Fix50 | Self::Fix50Sp1 | Self::Fix50Sp2 | Self::FixLatest => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Version {
    type Err = UnknownVersion;

    /// Reads a name as people write it: `FIX.4.4`, `fix44`, `4.4`, `5.0sp2`, `latest`, `FIXT`.
    /// Case, dots, hyphens, underscores and spaces do not count, and the leading `FIX` may be left
    /// out, except that of the transport.
    fn from_str(name: &str) -> Result<Self, UnknownVersion> {
        let letters = |name: &'static str| significant(name);
        let is = |version: &Self| {
            significant(name).eq(letters(version.name()))
                || *version != Self::Fixt11 && significant(name).eq(letters(version.name()).skip(3))
                || *version == Self::Fixt11 && significant(name).eq(letters("FIXT"))
        };
        Self::ALL.into_iter().find(is).ok_or(UnknownVersion)
    }
}

/// The characters of a name that count.
fn significant(name: &str) -> impl Iterator<Item = u8> + '_ {
    name.bytes().filter(|b| !matches!(b, b'.' | b'-' | b'_' | b' ')).map(|b| b.to_ascii_uppercase())
}

/// A name is that of no version. The text lists the names that are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownVersion;

impl fmt::Display for UnknownVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("none of the versions ")?;
        for (n, version) in Version::ALL.into_iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}{version}")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownVersion {}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_version_is_known_by_every_usual_spelling() {
        for (names, version) in [
            (
                &["FIX.4.4", "fix44", "FIX44", "4.4", "44", "Fix-4.4", "FIX_4_4", "fix.4.4"][..],
                Version::Fix44,
            ),
            (&["5.0", "FIX50", "FIX.5.0"], Version::Fix50),
            (&["5.0sp2", "FIX.5.0SP2", "FIX50SP2", "fix 5.0 sp2", "50-SP2"], Version::Fix50Sp2),
            (&["latest", "FIX.Latest", "fixlatest", "FIX-Latest", "FIX Latest"], Version::FixLatest),
            (&["FIXT", "fixt", "FIXT.1.1", "fixt11", "FIXT1.1"], Version::Fixt11),
        ] {
            for name in names {
                assert_eq!(name.parse(), Ok(version), "{name}");
            }
        }
        for name in ["", "FIX", ".", "4.5", "FIX.4", "T", "T11", "FIX44.xml", "sp2"] {
            assert_eq!(name.parse::<Version>(), Err(UnknownVersion), "{name}");
        }
        assert_eq!(
            UnknownVersion.to_string(),
            "none of the versions FIX.4.0, FIX.4.1, FIX.4.2, FIX.4.3, FIX.4.4, FIX.5.0, FIX.5.0SP1, FIX.5.0SP2, FIX.Latest, \
             FIXT.1.1"
        );
    }

    #[test]
    fn versions_are_in_order_and_each_name_is_its_own() {
        assert!(Version::ALL.is_sorted());
        for version in Version::ALL {
            assert_eq!(version.name().parse(), Ok(version));
            let of_session = Version::from_begin_string(version.begin_string().as_bytes());
            assert_eq!(of_session, Some(if version.is_application() { Version::Fixt11 } else { version }));
            if let Some(id) = version.appl_ver_id() {
                assert_eq!(Version::from_appl_ver_id(id.as_bytes()), Some(version));
            }
            if let Some(beginning) = version.beginning() {
                let field = std::format!("8={}\x01", version.begin_string());
                assert_eq!(beginning, field.as_bytes());
            }
        }
        assert_eq!(Version::from_begin_string(b"fix.4.4"), None);
    }
}
