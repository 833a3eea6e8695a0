//! Values of code sets whose codes are text.

use core::marker::PhantomData;

use fixbolt_codec::{FromField, MultipleStringValue, ValueError};

/// A value of a code set whose codes are text.
pub trait Code<'m>: Copy {
    /// Returns the code with this value on the wire.
    fn from_value(value: &'m [u8]) -> Self;

    /// Returns the value on the wire.
    fn value(self) -> &'m [u8];
}

/// Several codes separated by one space (MultipleValueString and its successors).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Codes<'m, C> {
    tokens: MultipleStringValue<'m>,
    code: PhantomData<fn() -> C>,
}

impl<'m, C: Code<'m>> Codes<'m, C> {
    /// Returns the codes in the sender's order.
    pub fn iter(&self) -> impl Iterator<Item = C> + use<'m, C> {
        self.tokens.iter().map(|token| C::from_value(token.as_bytes()))
    }

    /// Returns the bytes on the wire.
    #[must_use]
    pub const fn as_bytes(&self) -> &'m [u8] {
        self.tokens.as_bytes()
    }
}

impl<'m, C> FromField<'m> for Codes<'m, C> {
    fn from_field(value: &'m [u8]) -> Result<Self, ValueError> {
        MultipleStringValue::from_field(value).map(|tokens| Self { tokens, code: PhantomData })
    }
}
