//! Pseudo-random numbers from a seed (splitmix64).

/// A source of numbers: the same seed makes the same ones on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the source of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// Returns a source of its own for one part of the world, so that what another part draws does
    /// not change it.
    pub fn fork(&mut self) -> Self {
        Self::new(self.next())
    }

    /// Returns any number.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number from `low` up to, but not including, `high`.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }

    /// Returns true once in `n` times on average.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    /// Returns true `per_mille` times in a thousand on average.
    pub fn chance(&mut self, per_mille: u16) -> bool {
        per_mille > 0 && self.next() % 1000 < u64::from(per_mille)
    }

    /// Returns one of them.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.within(0, from.len() as u64) as usize]
    }
}
