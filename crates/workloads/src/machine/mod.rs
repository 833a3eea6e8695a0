//! The machine that a figure was measured on, without which it means nothing.

mod advice;
mod jitter;
mod reading;

use std::fmt;

pub use self::advice::{Advice, Finding};
pub use self::jitter::jitter;
use self::reading::System;
use crate::harness::Latencies;

/// The machine that this process runs on, and this program. What the system does not tell is
/// `None`, or `unknown` in a name.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Machine {
    /// The name of the processor.
    pub processor: String,
    /// The processor's flags that matter here: vector instructions, a constant and reliable TSC,
    /// whether a hypervisor is present.
    pub flags: Vec<String>,
    /// Number of logical processors that this process may use.
    pub processors: usize,
    /// The processors that this process may use, as the kernel writes lists: `0-1,4`.
    pub allowed: Option<String>,
    /// The processors that the scheduler leaves alone (`isolcpus`), empty if there are none.
    pub isolated: Option<String>,
    /// The processors without a timer tick while they have one thread (`nohz_full`).
    pub tickless: Option<String>,
    /// The frequency governor of the first processor.
    pub governor: Option<String>,
    /// Whether two threads share a core's units.
    pub smt: Option<bool>,
    /// The idle states of the first processor: name, and latency in microseconds.
    pub idle_states: Vec<(String, u64)>,
    /// The clock that the kernel reads the time from.
    pub clock_source: Option<String>,
    /// How the kernel uses huge pages: `always`, `madvise` or `never`.
    pub huge_pages: Option<String>,
    /// The operating system and its release.
    pub system: String,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Bytes of memory that programs could still get.
    pub available_memory: Option<u64>,
    /// Runnable threads on average over the last minute, before the measurement.
    pub load: Option<f64>,
    /// The gaps in a thread that only reads the clock, before the measurement; empty if it was not
    /// measured.
    pub jitter: Latencies,
    /// The compiler.
    pub rustc: String,
    /// Target and flags of the build.
    pub build: String,
    /// Whether this program was built with optimization.
    pub optimized: bool,
    /// The C library.
    pub libc: String,
    /// The allocator.
    pub allocator: String,
    /// The commit that this program was built from.
    pub commit: String,
}

impl Machine {
    /// Asks the system, which takes a few milliseconds.
    #[must_use]
    pub fn here() -> Self {
        System::default().machine()
    }

    /// Asks the system and measures the jitter of this thread's processor, which takes 200 ms.
    #[must_use]
    pub fn measured() -> Self {
        Self { jitter: jitter(std::time::Duration::from_millis(200)), ..Self::here() }
    }

    /// Returns whether figures of both are comparable at all.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.processor.clone(), it.processors, it.flags.clone(), it.optimized);
        key(self) == key(other)
    }

    /// Returns the number of isolated processors.
    #[must_use]
    pub fn isolated_processors(&self) -> usize {
        self.isolated.as_deref().map_or(0, reading::list_len)
    }
}

/// One line: processor, system, compiler, commit.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} processors, {}", self.processor, self.processors, self.system)?;
        write!(f, ", {}, commit {}", self.rustc, self.commit)?;
        if !self.optimized {
            f.write_str(", UNOPTIMIZED build: figures mean nothing")?;
        }
        Ok(())
    }
}
