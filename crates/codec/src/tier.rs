//! The instructions that the index is built with. Results do not differ, only the time.
//!
//! Nothing need be called: the best tier of the processor is chosen at the first use. Benchmarks
//! and tests select a tier explicitly.

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::data_fields::DataFields;
use crate::index::Span;
use crate::scan::Found;

/// A set of instructions that this processor supports.
///
/// ```
/// use fixbolt_codec::{Tier, TierError};
/// assert_eq!(Tier::named("scalar"), Ok(Tier::SCALAR));
/// assert_eq!(Tier::named("abacus"), Err(TierError::Unknown));
/// assert!(Tier::available().any(|tier| tier == Tier::best()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tier(Instructions);

/// Only [`Tier`]'s own functions create one, after examining the processor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
enum Instructions {
    Scalar = 1,
    #[cfg(target_arch = "x86_64")]
    Avx2 = 2,
    #[cfg(target_arch = "x86_64")]
    Avx512 = 3,
}

/// Why a tier is not available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TierError {
    /// No tier has this name.
    Unknown,
    /// The processor does not support its instructions.
    Unavailable,
}

impl fmt::Display for TierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such tier; known are scalar, avx2 and avx512"),
            Self::Unavailable => f.write_str("this processor does not support the instructions"),
        }
    }
}

impl core::error::Error for TierError {}

/// The tier of the process; 0 until it is chosen.
static CURRENT: AtomicU8 = AtomicU8::new(0);

impl Tier {
    /// No vector instructions: available everywhere.
    pub const SCALAR: Self = Self(Instructions::Scalar);

    /// The names of all tiers, the simplest first.
    pub const NAMES: &'static [&'static str] = &["scalar", "avx2", "avx512"];

    /// Returns the tier with this name.
    ///
    /// # Errors
    /// Returns [`TierError`] if there is no such tier, or this processor does not support it.
    pub fn named(name: &str) -> Result<Self, TierError> {
        match name {
            "scalar" => Ok(Self::SCALAR),
            #[cfg(target_arch = "x86_64")]
            "avx2" if has_avx2() => Ok(Self(Instructions::Avx2)),
            #[cfg(target_arch = "x86_64")]
            "avx512" if has_avx512() => Ok(Self(Instructions::Avx512)),
            "avx2" | "avx512" => Err(TierError::Unavailable),
            _ => Err(TierError::Unknown),
        }
    }

    /// Returns the name of the tier.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Instructions::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => "avx512",
        }
    }

    /// Returns the tiers that this processor supports, the simplest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::NAMES.iter().filter_map(|name| Self::named(name).ok())
    }

    /// Returns the fastest tier that this processor supports.
    #[must_use]
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::SCALAR)
    }

    /// Returns the tier that an [`Index`](crate::Index) uses by default: the best one, unless
    /// [`Tier::use_everywhere`] was called.
    #[must_use]
    #[inline]
    pub fn current() -> Self {
        match CURRENT.load(Ordering::Relaxed) {
            1 => Self::SCALAR,
            // Written only from a tier that this processor supports.
            #[cfg(target_arch = "x86_64")]
            2 => Self(Instructions::Avx2),
            #[cfg(target_arch = "x86_64")]
            3 => Self(Instructions::Avx512),
            _ => Self::first_look(),
        }
    }

    /// Makes this the default tier of the process, from the next [`Index`](crate::Index) on.
    pub fn use_everywhere(self) {
        CURRENT.store(self.0 as u8, Ordering::Relaxed);
    }

    #[cold]
    fn first_look() -> Self {
        let best = Self::best();
        best.use_everywhere();
        best
    }

    /// Sums the bytes of a framed message and finds its fields, or only the first ones.
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
            // SAFETY: a tier is created only on a processor that supports it. Only an index calls
            // this, with the bytes of a framer.
            Instructions::Avx2 => unsafe { crate::simd::avx2::find(bytes, data_fields, tags, spans) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Instructions::Avx512 => unsafe { crate::simd::avx512::find(bytes, data_fields, tags, spans) },
        }
    }
}

/// Returns whether the processor and the operating system support AVX2 and what came with it: BMI1,
/// BMI2, LZCNT, POPCNT.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn has_avx2() -> bool {
    // BMI1, AVX2, BMI2.
    has(XMM_AND_YMM, &[3, 5, 8], &[])
}

/// Returns whether they support AVX-512 with VBMI and VBMI2, too.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn has_avx512() -> bool {
    // BMI1, AVX2, BMI2, AVX512F, AVX512BW, AVX512VL; AVX512_VBMI, AVX512_VBMI2.
    has(XMM_AND_YMM | MASKS_AND_ZMM, &[3, 5, 8, 16, 30, 31], &[1, 6])
}

/// Registers that the system saves, as bits of XCR0.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const XMM_AND_YMM: u64 = 0b110;
#[cfg(all(target_arch = "x86_64", not(miri)))]
const MASKS_AND_ZMM: u64 = 0b1110_0000;

/// Returns whether the system saves these registers, and the processor has LZCNT, POPCNT and what
/// these bits of EBX and ECX in CPUID's leaf 7 say.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code)]
fn has(saved: u64, ebx: &[u32], ecx: &[u32]) -> bool {
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
    let seven = __cpuid_count(7, 0);
    // LZCNT.
    state & saved == saved
        && all(seven.ebx, ebx)
        && all(seven.ecx, ecx)
        && all(__cpuid(0x8000_0001).ecx, &[5])
}

/// Miri has no CPUID: use what it was told to emulate.
#[cfg(all(target_arch = "x86_64", miri))]
fn has_avx2() -> bool {
    cfg!(target_feature = "avx2")
}

/// Miri does not know the instructions.
#[cfg(all(target_arch = "x86_64", miri))]
fn has_avx512() -> bool {
    false
}
