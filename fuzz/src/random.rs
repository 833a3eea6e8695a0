//! A small seeded generator (SplitMix64): the same numbers on every machine and for good.
//!
//! A failing input is reported as seed, target and number; a generator from a library, whose
//! sequence may change with its version (`fastrand` did in 2.1), would make old reports worthless.

/// Random numbers from a seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator that begins at `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Creates a generator whose seed is made of several numbers.
    #[must_use]
    pub fn of(parts: &[u64]) -> Self {
        let mut random = Self(0x9E37_79B9_7F4A_7C15);
        for part in parts {
            random.0 ^= *part;
            random.0 = random.next();
        }
        random
    }

    /// Creates a generator whose seed is made of bytes (FNV-1a), for choices that belong to an
    /// input.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
        }))
    }

    /// Returns the next number.
    #[allow(clippy::should_implement_trait)] // an endless iterator would be less clear
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }

    /// Returns true once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns one of several.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Returns a byte.
    pub fn byte(&mut self) -> u8 {
        self.next() as u8
    }
}
