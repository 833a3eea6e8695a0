//! Why a field of a received message cannot be read.

use core::fmt;

use crate::number::Tag;
use crate::types::ValueError;

/// Why a field cannot be read: which field, and what is wrong with it.
///
/// What is wrong with a value is the error's [`source`](core::error::Error::source); `{:#}` formats
/// it as well.
///
/// ```
/// use fixbolt_codec::{FieldError, FieldErrorKind, Tag, ValueError};
///
/// let missing = FieldError::missing(Tag::new(55));
/// assert_eq!(missing.to_string(), "field 55 is required and missing");
/// assert_eq!(missing.session_reject_reason(), 1);
///
/// let price = FieldError::new(Tag::new(44), FieldErrorKind::Value(ValueError::Format));
/// assert_eq!(price.to_string(), "field 44 cannot be read");
/// assert_eq!(
///     format!("{price:#}"),
///     "field 44 cannot be read: the value does not have the form of its type"
/// );
/// assert_eq!(price.session_reject_reason(), 6);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct FieldError {
    /// The field.
    pub tag: Tag,
    /// What is wrong with it.
    pub kind: FieldErrorKind,
}

/// What is wrong with a field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FieldErrorKind {
    /// The field is required and missing.
    Missing,
    /// The value is not one of the field's type.
    Value(ValueError),
    /// The field counts the entries of a repeating group, and the group has a different number of
    /// them.
    Count,
}

impl FieldError {
    /// Returns the error of this kind in the field `tag`.
    #[must_use]
    pub const fn new(tag: Tag, kind: FieldErrorKind) -> Self {
        Self { tag, kind }
    }

    /// Returns the error for a required field that is missing.
    #[must_use]
    pub const fn missing(tag: Tag) -> Self {
        Self::new(tag, FieldErrorKind::Missing)
    }

    /// Returns the SessionRejectReason (373) that names this error. RefTagID (371) is
    /// [`FieldError::tag`].
    #[must_use]
    pub const fn session_reject_reason(&self) -> u16 {
        match self.kind {
            FieldErrorKind::Missing => 1,
            FieldErrorKind::Value(error) => error.session_reject_reason(),
            FieldErrorKind::Count => 16,
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tag = self.tag;
        match self.kind {
            FieldErrorKind::Missing => write!(f, "field {tag} is required and missing"),
            FieldErrorKind::Value(error) if f.alternate() => write!(f, "field {tag} cannot be read: {error}"),
            FieldErrorKind::Value(_) => write!(f, "field {tag} cannot be read"),
            FieldErrorKind::Count => {
                write!(f, "field {tag} is not the number of entries in its repeating group")
            }
        }
    }
}

impl core::error::Error for FieldError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.kind {
            FieldErrorKind::Value(error) => Some(error),
            FieldErrorKind::Missing | FieldErrorKind::Count => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use core::error::Error;

    use super::*;

    #[test]
    fn an_error_in_a_value_has_the_values_error_as_its_source() {
        let tag = Tag::new(44);
        let value = FieldError::new(tag, FieldErrorKind::Value(ValueError::Empty));
        let source = value.source().and_then(|source| source.downcast_ref());
        assert_eq!(source, Some(&ValueError::Empty));
        assert!(FieldError::missing(tag).source().is_none());
        assert!(FieldError::new(tag, FieldErrorKind::Count).source().is_none());
    }
}
