//! Reading and writing the values of fields by their data types.

/// Reads a typed value from the bytes of a field, between `=` and SOH.
pub trait FromField<'m>: Sized {
    /// The value of `bytes`.
    ///
    /// # Errors
    /// [`ValueError`] when the bytes are no value of the type.
    fn from_field(bytes: &'m [u8]) -> Result<Self, ValueError>;
}

/// Writes a value as the bytes of a field.
pub trait ToField {
    /// Most bytes that a value takes.
    const MAX_LEN: usize;

    /// Writes at the start of `out`, which has at least [`ToField::MAX_LEN`] bytes; gives the number written, at least 1.
    fn write_to(&self, out: &mut [u8]) -> usize;
}

/// Why bytes are no value of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ValueError {
    /// There are no bytes. SessionRejectReason 4.
    Empty,
    /// The bytes do not have the type's form. SessionRejectReason 6.
    Format,
    /// The form is right, the value outside what the type allows. SessionRejectReason 5.
    OutOfRange,
}

impl ToField for u64 {
    const MAX_LEN: usize = 20;

    fn write_to(&self, out: &mut [u8]) -> usize {
        let len = crate::digits(*self);
        let mut rest = *self;
        for place in out[..len].iter_mut().rev() {
            *place = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        len
    }
}
