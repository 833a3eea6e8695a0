//! The groups that a session reads as they are sent, as its key names them.

use core::fmt;
use core::str::FromStr;
use std::error::Error;

use fixbolt_dictionary::Validator;

/// GroupsAsSent: the groups that are read as they are sent ([`Validator::read_as_sent`]).
///
/// ```
/// use fixbolt::config::GroupsAsSent;
/// use fixbolt::dictionary::{Validator, fix44};
///
/// let mut validator = Validator::new(fix44());
/// let groups: GroupsAsSent = "453,268".parse()?;
/// assert_eq!(groups.unknown_to([&validator]), None);
/// groups.apply(&mut validator);
/// # Ok::<(), fixbolt::config::InvalidGroupsAsSent>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GroupsAsSent {
    /// The groups with these count fields.
    CountedBy(Vec<u32>),
    /// All groups.
    All,
}

/// No groups.
impl Default for GroupsAsSent {
    fn default() -> Self {
        Self::CountedBy(Vec::new())
    }
}

/// The form of GroupsAsSent.
pub(super) const FORM: &str = "none, all, or tags of count fields separated by commas, such as 453,268";

impl GroupsAsSent {
    /// Returns whether no group is named.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::CountedBy(tags) if tags.is_empty())
    }

    /// Returns the first of the count fields that counts no group of any of these dictionaries.
    #[must_use]
    pub fn unknown_to<'v>(&self, validators: impl IntoIterator<Item = &'v Validator> + Clone) -> Option<u32> {
        let Self::CountedBy(tags) = self else { return None };
        let counts =
            |tag: u32| validators.clone().into_iter().any(|one| one.count_tags().any(|known| known == tag));
        tags.iter().copied().find(|tag| !counts(*tag))
    }

    /// Lets a validator read these groups as they are sent, those of its dictionary.
    pub fn apply(&self, validator: &mut Validator) {
        let tags = match self {
            Self::CountedBy(tags) => tags.clone(),
            Self::All => validator.count_tags().collect(),
        };
        for tag in tags {
            // Over FIXT.1.1 not every version has it.
            let _ = validator.read_as_sent(tag);
        }
    }
}

/// A text names no groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidGroupsAsSent;

impl fmt::Display for InvalidGroupsAsSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM} expected")
    }
}

impl Error for InvalidGroupsAsSent {}

/// The text of the key: `none`, `all` or `453,268`.
impl FromStr for GroupsAsSent {
    type Err = InvalidGroupsAsSent;

    fn from_str(text: &str) -> Result<Self, InvalidGroupsAsSent> {
        match text {
            "none" => Ok(Self::default()),
            "all" => Ok(Self::All),
            tags => {
                let tag = |text: &str| text.trim().parse().ok().filter(|tag: &u32| *tag > 0);
                let mut tags: Vec<u32> =
                    tags.split(',').map(tag).collect::<Option<_>>().ok_or(InvalidGroupsAsSent)?;
                tags.sort_unstable();
                tags.dedup();
                Ok(Self::CountedBy(tags))
            }
        }
    }
}
