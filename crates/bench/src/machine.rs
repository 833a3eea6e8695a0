//! Which machine a figure was taken on: a figure without it says nothing.

use std::fmt;

/// The machine that this process runs on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Logical processors that this process may use.
    pub processors: usize,
    /// Operating system and its release.
    pub system: String,
    /// Whether this program was built with optimisation.
    pub optimised: bool,
}

impl Machine {
    /// Asks the system; what it does not tell is `unknown`.
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
            f.write_str(", UNOPTIMISED build: figures mean nothing")?;
        }
        Ok(())
    }
}
