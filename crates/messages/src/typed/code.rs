//! Values of code sets: one type per set, around the value on the wire.

use core::fmt;
use core::marker::PhantomData;

use fixbolt_codec::{Char, FromField, MultipleStringValue, ValueError};

/// A value of a code set. Every value has one code and every code one value, whether or not the
/// dictionary has a name for it.
pub trait Code: Copy {
    /// The value on the wire: `u8`, `i64` or `&[u8]`.
    type Value;

    /// The field whose codes these are, as [`CodesOf`]. Only sets with the same field convert into
    /// each other.
    type Field;

    /// Returns the code with this value on the wire.
    fn from_value(value: Self::Value) -> Self;

    /// Returns the value on the wire.
    fn value(self) -> Self::Value;
}

/// The codes of the field with this tag, in any version.
#[derive(Debug)]
pub enum CodesOf<const TAG: u32> {}

/// A type of values of codes.
pub trait CodeValue<'m>: Copy + PartialEq {
    /// Reads the value of a field.
    ///
    /// # Errors
    /// Returns a [`ValueError`] if the bytes are not a value of this type.
    fn read(value: &'m [u8]) -> Result<Self, ValueError>;

    /// Shows the value as one of `set`, for example `Side('Z')`.
    ///
    /// # Errors
    /// Returns the formatter's error.
    fn show(self, set: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl CodeValue<'_> for u8 {
    #[inline]
    fn read(value: &[u8]) -> Result<Self, ValueError> {
        Char::from_field(value).map(|value| value.0)
    }

    fn show(self, set: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{set}('{}')", [self].escape_ascii())
    }
}

impl CodeValue<'_> for i64 {
    #[inline]
    fn read(value: &[u8]) -> Result<Self, ValueError> {
        i64::from_field(value)
    }

    fn show(self, set: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{set}({self})")
    }
}

impl<'m> CodeValue<'m> for &'m [u8] {
    #[inline]
    fn read(value: &'m [u8]) -> Result<Self, ValueError> {
        <&[u8]>::from_field(value)
    }

    fn show(self, set: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{set}(\"{}\")", self.escape_ascii())
    }
}

/// A value of codes that can be another type of value without loss: any as itself, a byte as bytes.
pub trait IntoCodeValue<V> {
    /// Returns the same value.
    fn into_value(self) -> V;
}

impl<V> IntoCodeValue<V> for V {
    #[inline]
    fn into_value(self) -> V {
        self
    }
}

impl IntoCodeValue<&[u8]> for u8 {
    fn into_value(self) -> &'static [u8] {
        static BYTES: [u8; 256] = {
            let mut bytes = [0; 256];
            let mut n = 0;
            while n < bytes.len() {
                bytes[n] = n as u8;
                n += 1;
            }
            bytes
        };
        core::slice::from_ref(&BYTES[usize::from(self)])
    }
}

/// Returns the name of a value in the list of a set. Inlined, it would be compiled for each of some
/// hundred sets, twice.
#[must_use]
#[inline(never)]
pub fn code_name<V: PartialEq>(names: &[(V, &'static str)], value: V) -> Option<&'static str> {
    names.iter().find(|(known, _)| *known == value).map(|(_, name)| *name)
}

/// Defines the type of a code set: `CONSTANT = value "Name"` for each code.
#[doc(hidden)]
#[macro_export]
macro_rules! __codes {
    ($(#[$meta:meta])* $name:ident(u8) of $tag:literal $codes:tt) => {
        $crate::__codes!(@set [$(#[$meta])*] $name [] u8, u8, $tag, $codes);
    };
    ($(#[$meta:meta])* $name:ident(i64) of $tag:literal $codes:tt) => {
        $crate::__codes!(@set [$(#[$meta])*] $name [] i64, i64, $tag, $codes);
    };
    ($(#[$meta:meta])* $name:ident(bytes) of $tag:literal $codes:tt) => {
        $crate::__codes!(@set [$(#[$meta])*] $name ['m] &'m [u8], &'static [u8], $tag, $codes);
    };
    (
        @set [$($meta:tt)*] $name:ident [$($life:lifetime)?] $value:ty, $known:ty, $tag:literal,
        { $($(#[$doc:meta])* $code:ident = $wire:literal $text:literal,)* }
    ) => {
        $($meta)*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name$(<$life>)?($value);
        impl$(<$life>)? $name$(<$life>)? {
            $($(#[$doc])* pub const $code: Self = Self($wire);)*
            /// Returns the code with this value on the wire, known or not.
            #[inline]
            #[must_use]
            pub const fn from_value(value: $value) -> Self {
                Self(value)
            }
            /// Returns the value on the wire.
            #[inline]
            #[must_use]
            pub const fn value(self) -> $value {
                self.0
            }
            /// Returns the dictionary's name of the code, or `None` if it has none.
            #[must_use]
            pub fn name(self) -> ::core::option::Option<&'static str> {
                static NAMES: &[($known, &str)] = &[$(($wire, $text)),*];
                $crate::typed::code_name(NAMES, self.0)
            }
            /// Returns the same code of the set that another version has for the field.
            #[inline]
            #[must_use]
            pub fn convert<T>(self) -> T
            where
                T: $crate::typed::Code<Field = $crate::typed::CodesOf<$tag>>,
                $value: $crate::typed::IntoCodeValue<T::Value>,
            {
                T::from_value($crate::typed::IntoCodeValue::into_value(self.0))
            }
        }
        impl$(<$life>)? $crate::typed::Code for $name$(<$life>)? {
            type Value = $value;
            type Field = $crate::typed::CodesOf<$tag>;
            #[inline]
            fn from_value(value: $value) -> Self {
                Self(value)
            }
            #[inline]
            fn value(self) -> $value {
                self.0
            }
        }
        impl<'f $(: $life, $life)?> $crate::codec::FromField<'f> for $name$(<$life>)? {
            #[inline]
            fn from_field(
                value: &'f [u8],
            ) -> ::core::result::Result<Self, $crate::codec::ValueError> {
                match $crate::typed::CodeValue::read(value) {
                    ::core::result::Result::Ok(value) => ::core::result::Result::Ok(Self(value)),
                    ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
                }
            }
        }
        /// The name of a known code, the value of any other.
        impl$(<$life>)? ::core::fmt::Debug for $name$(<$life>)? {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self.name() {
                    ::core::option::Option::Some(name) => f.write_str(name),
                    ::core::option::Option::None => {
                        $crate::typed::CodeValue::show(self.0, ::core::stringify!($name), f)
                    }
                }
            }
        }
    };
}

/// Several codes separated by one space (MultipleValueString and its successors).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Codes<'m, C> {
    tokens: MultipleStringValue<'m>,
    code: PhantomData<fn() -> C>,
}

impl<'m, C: Code<Value = &'m [u8]>> Codes<'m, C> {
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
