//! Which instructions the index is built with. The results are the same; only the time differs.
//!
//! Nothing has to be called: the best that the processor has is found at the first use. Benchmarks and tests name a tier.

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::data_fields::DataFields;
use crate::index::Span;
use crate::scan::Found;

/// A set of instructions that this processor has.
///
/// ```
/// use fixbolt_codec::{Tier, TierError};
/// assert_eq!(Tier::named("scalar"), Ok(Tier::SCALAR));
/// assert_eq!(Tier::named("abacus"), Err(TierError::Unknown));
/// assert!(Tier::available().any(|tier| tier == Tier::best()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tier(Instructions);

/// Only [`Tier`]'s own functions make one, after a look at the processor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
enum Instructions {
    Scalar = 1,
    #[cfg(target_arch = "x86_64")]
    Avx2 = 2,
}

/// Why there is no such tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TierError {
    /// No tier has this name.
    Unknown,
    /// The processor does not have its instructions.
    Unavailable,
}

impl fmt::Display for TierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("not one of scalar, avx2"),
            Self::Unavailable => f.write_str("this processor does not have its instructions"),
        }
    }
}

impl core::error::Error for TierError {}

/// The tier of the process; 0 before it is known.
static CURRENT: AtomicU8 = AtomicU8::new(0);

impl Tier {
    /// No vector instructions: works everywhere.
    pub const SCALAR: Self = Self(Instructions::Scalar);

    /// The names of all tiers, the plainest first.
    pub const NAMES: [&'static str; 2] = ["scalar", "avx2"];

    /// The tier with this name.
    ///
    /// # Errors
    /// [`TierError`]: there is none, or not on this processor.
    pub fn named(name: &str) -> Result<Self, TierError> {
        match name {
            "scalar" => Ok(Self::SCALAR),
            #[cfg(target_arch = "x86_64")]
            "avx2" if has_avx2() => Ok(Self(Instructions::Avx2)),
            "avx2" => Err(TierError::Unavailable),
            _ => Err(TierError::Unknown),
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Instructions::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "avx2",
        }
    }

    /// The tiers that this processor has, the plainest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::NAMES.into_iter().filter_map(|name| Self::named(name).ok())
    }

    /// The fastest one that this processor has.
    #[must_use]
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::SCALAR)
    }

    /// The one that an [`Index`](crate::Index) uses that is told nothing: the best, unless [`Tier::use_everywhere`] said
    /// otherwise.
    #[must_use]
    #[inline]
    pub fn current() -> Self {
        match CURRENT.load(Ordering::Relaxed) {
            1 => Self::SCALAR,
            // Written only from a tier that this processor has.
            #[cfg(target_arch = "x86_64")]
            2 => Self(Instructions::Avx2),
            _ => Self::first_look(),
        }
    }

    /// Makes this the tier of the process, from the next [`Index`](crate::Index) on.
    pub fn use_everywhere(self) {
        CURRENT.store(self.0 as u8, Ordering::Relaxed);
    }

    #[cold]
    fn first_look() -> Self {
        let best = Self::best();
        best.use_everywhere();
        best
    }

    /// Sums the bytes of a framed message and finds its fields, or the first ones of them.
    #[inline]
    #[allow(unsafe_code)]
    pub(crate) fn find(
        self,
        bytes: &[u8],
        data_fields: &DataFields,
        tags: &mut [u32],
        spans: &mut [Span],
    ) -> Found {
        match self.0 {
            Instructions::Scalar => Found::nothing(bytes),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a tier is made only on a processor that has its instructions; only an index calls this, with what a
            // framer passed.
            Instructions::Avx2 => unsafe { crate::simd::avx2::find(bytes, data_fields, tags, spans) },
        }
    }
}

/// Whether processor and operating system have AVX2, and what came with it: BMI1, BMI2, LZCNT, POPCNT.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code)]
fn has_avx2() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    #[target_feature(enable = "xsave")]
    fn saved_state() -> u64 {
        // SAFETY: the caller has seen that the operating system lets XGETBV run.
        unsafe { _xgetbv(0) }
    }
    let all = |register: u32, bits: &[u32]| bits.iter().all(|bit| register >> bit & 1 == 1);
    if __cpuid(0).eax < 7 || __cpuid(0x8000_0000).eax < 0x8000_0001 {
        return false;
    }
    // POPCNT, XSAVE, OSXSAVE, AVX.
    if !all(__cpuid(1).ecx, &[23, 26, 27, 28]) {
        return false;
    }
    // SAFETY: XSAVE and OSXSAVE were seen.
    let state = unsafe { saved_state() };
    // The system keeps SSE and AVX registers; BMI1, AVX2, BMI2; LZCNT.
    state & 6 == 6 && all(__cpuid_count(7, 0).ebx, &[3, 5, 8]) && all(__cpuid(0x8000_0001).ecx, &[5])
}

/// Miri knows no CPUID: what it was told to emulate is there.
#[cfg(all(target_arch = "x86_64", miri))]
fn has_avx2() -> bool {
    cfg!(target_feature = "avx2")
}
