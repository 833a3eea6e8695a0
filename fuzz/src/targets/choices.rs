//! Reads choices from an input; zeros once it ends.

pub(super) struct Choices<'d>(&'d [u8]);

impl<'d> Choices<'d> {
    pub(super) const fn new(data: &'d [u8]) -> Self {
        Self(data)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// Returns at most `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> &'d [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Returns a number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let number =
            usize::from(self.byte()) << 16 | usize::from(self.byte()) << 8 | usize::from(self.byte());
        if bound == 0 { 0 } else { number % bound }
    }
}
