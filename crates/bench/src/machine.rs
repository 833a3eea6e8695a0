//! The machine that a figure was measured on, without which it means nothing.

use std::fmt;

/// The machine that this process runs on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The name of the processor.
    pub processor: String,
    /// Number of logical processors that this process may use.
    pub processors: usize,
    /// The operating system and its release.
    pub system: String,
    /// Whether this program was built with optimization.
    pub optimised: bool,
}

impl Machine {
    /// Asks the system; what it does not say is `unknown`.
    #[must_use]
    pub fn here() -> Self {
        let cpu_info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = cpu_info
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
            .map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned());
        let system = rustix::system::uname();
        Self {
            processor,
            processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            system: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
            optimised: !cfg!(debug_assertions),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} processors, {}", self.processor, self.processors, self.system)?;
        if !self.optimised {
            f.write_str(", UNOPTIMIZED build: figures mean nothing")?;
        }
        Ok(())
    }
}
