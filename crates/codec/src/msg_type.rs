//! MsgType (35) as a small value.

use core::fmt;

use crate::soh::SOH;

/// A MsgType (35): 1 to 15 bytes, no SOH.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MsgType {
    len: u8,
    bytes: [u8; 15],
}

impl MsgType {
    /// Creates a MsgType from its bytes.
    ///
    /// # Panics
    /// Panics if there are no bytes, more than 15, or one is SOH; in a constant this fails the
    /// build.
    #[must_use]
    pub const fn new(value: &[u8]) -> Self {
        match Self::try_new(value) {
            Some(msg_type) => msg_type,
            None => panic!("a MsgType has 1 to 15 bytes and no SOH"),
        }
    }

    /// Creates a MsgType, or returns `None` if the bytes are not one.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // at most 15
    pub const fn try_new(value: &[u8]) -> Option<Self> {
        if value.is_empty() || value.len() > 15 {
            return None;
        }
        let mut bytes = [0; 15];
        let mut n = 0;
        while n < value.len() {
            if value[n] == 1 {
                return None;
            }
            bytes[n] = value[n];
            n += 1;
        }
        Some(Self { len: value.len() as u8, bytes })
    }

    /// What [`MsgType::try_new`] does, in fewer instructions for the usual lengths.
    #[inline(always)]
    pub(crate) fn of_message(value: &[u8]) -> Option<Self> {
        match *value {
            [one] if one != SOH => {
                Some(Self { len: 1, bytes: [one, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] })
            }
            [one, two] if one != SOH && two != SOH => {
                Some(Self { len: 2, bytes: [one, two, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] })
            }
            _ => Self::try_new(value),
        }
    }

    /// Returns the bytes on the wire.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns the bytes and what is after them, if there are at most eight.
    #[inline]
    pub(crate) const fn short(&self) -> Option<&[u8; 8]> {
        if self.len <= 8 { self.bytes.first_chunk() } else { None }
    }

    /// Returns whether the session layer handles the type: one of 0 1 2 3 4 5 A.
    #[must_use]
    #[inline]
    pub fn is_admin(&self) -> bool {
        is_admin(self.as_bytes())
    }
}

/// Returns whether a MsgType belongs to the session layer: one of 0 1 2 3 4 5 A. XMLnonFIX (n) is
/// application data whatever a dictionary says.
#[must_use]
#[inline]
pub const fn is_admin(msg_type: &[u8]) -> bool {
    matches!(msg_type, [b'0'..=b'5' | b'A'])
}

impl fmt::Debug for MsgType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MsgType({})", self.as_bytes().escape_ascii())
    }
}

impl fmt::Display for MsgType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_bytes().escape_ascii())
    }
}
