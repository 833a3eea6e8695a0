//! A short value as it is written, in registers.

use crate::short_value::Eight;
use crate::soh::SOH;

/// A value of up to 24 bytes as it is written, with their sum: no byte of it is SOH. Only types of
/// this crate make one, so what they write need not be looked at again.
// Public because a method of ToField returns it, and hidden: nobody else can make one.
#[derive(Clone, Copy, Debug)]
pub struct Rendered {
    /// The bytes, the first one lowest. Those after `length` have no meaning.
    pub(crate) words: [u64; 3],
    /// 1 to 24.
    pub(crate) length: usize,
    /// The sum of the bytes.
    pub(crate) sum: u32,
}

impl Rendered {
    /// Renders a byte, or returns `None` if it is SOH.
    #[inline(always)]
    pub(super) fn of_byte(byte: u8) -> Option<Self> {
        (byte != SOH).then_some(Self { words: [u64::from(byte), 0, 0], length: 1, sum: u32::from(byte) })
    }

    /// Renders two to eight bytes that are not SOH.
    #[inline(always)]
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let eight = Eight::load(bytes);
        Self { words: [eight.0, 0, 0], length: bytes.len(), sum: eight.sum() }
    }

    /// Writes the bytes, and others after them up to the end of so many words.
    #[inline(always)]
    pub(super) fn write_to(self, words: usize, out: &mut [u8]) -> usize {
        for (place, word) in out[..8 * words].as_chunks_mut::<8>().0.iter_mut().zip(self.words) {
            *place = word.to_le_bytes();
        }
        self.length
    }

    /// Puts a minus sign before up to fifteen bytes if `negative`.
    #[inline(always)]
    pub(super) const fn with_sign(self, negative: bool) -> Self {
        if !negative {
            return self;
        }
        let [low, high, _] = self.words;
        Self {
            words: [low << 8 | b'-' as u64, high << 8 | low >> 56, 0],
            length: self.length + 1,
            sum: self.sum + b'-' as u32,
        }
    }
}
