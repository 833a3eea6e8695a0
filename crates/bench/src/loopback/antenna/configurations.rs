//! The six configurations: what their page says of each, what runs here instead, and the published
//! figures: FIX Antenna C++ 2.19.0 beside QuickFIX C++ 1.14.3 (two hosts, Xeon E5-2643 v3 and
//! E5-2687W v3, 10 GbE).

use fixbolt::Waiting;

use crate::loopback::layout::{Layout, cores};

/// A configuration by its published name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Configuration {
    /// Its name.
    pub name: &'static str,
    /// Prepared messages, affinity, and Onload, as published.
    pub(super) prepared: bool,
    pub(super) affinity: bool,
    pub(super) onload: bool,
    /// Threads, as published.
    pub(super) threads: &'static str,
    /// Whether its threads spin here.
    pub(super) spins: bool,
    /// Whether messages are validated against the dictionary here: our choice, since the stored
    /// page does not have theirs.
    pub(super) validates: bool,
}

const POOL: &str = "pool of 10";
const AGGRESSIVE: &str = "aggressive";

const fn row(
    name: &'static str,
    (prepared, affinity, onload): (bool, bool, bool),
    threads: &'static str,
    spins: bool,
    validates: bool,
) -> Configuration {
    Configuration { name, prepared, affinity, onload, threads, spins, validates }
}

/// All of them, in the order of the page.
pub const CONFIGURATIONS: [Configuration; 6] = [
    row("default", (false, false, false), POOL, false, true),
    row("aggressive", (false, false, false), AGGRESSIVE, false, true),
    row("balanced", (false, true, false), AGGRESSIVE, false, false),
    row("optimized.hard.spin", (true, false, false), AGGRESSIVE, true, false),
    row("balanced.onload", (false, true, true), AGGRESSIVE, false, false),
    row("optimized.hard", (true, true, true), AGGRESSIVE, true, false),
];

/// The published round trips in microseconds, in the same order: minimum, maximum, average, 50 %,
/// 95 % and 99 %.
pub(super) const PUBLISHED: [[f64; 6]; 6] = [
    [47.1, 190.7, 51.6, 49.8, 59.9, 67.1],
    [46.1, 218.0, 51.1, 48.8, 59.0, 90.4],
    [27.3, 217.5, 31.5, 29.9, 38.9, 45.8],
    [19.0, 223.7, 21.6, 21.0, 24.0, 25.3],
    [11.3, 199.5, 13.2, 11.8, 18.6, 24.6],
    [8.3, 13.2, 8.7, 8.5, 9.3, 10.4],
];

/// The same of QuickFIX C++, without validation and with it.
pub(super) const QUICKFIX: [[f64; 6]; 2] =
    [[155.0, 371.5, 158.9, 157.6, 165.0, 177.4], [157.0, 377.8, 161.8, 159.5, 167.1, 183.5]];

impl Configuration {
    /// Returns how the engines' workers wait and run. With affinity, venue and trader run on these
    /// cores, or on those that suit if there are none.
    #[must_use]
    pub fn layout(&self, named: &[usize]) -> Layout {
        let waiting = if self.spins { Waiting::Spinning } else { Waiting::Blocking };
        let layout = Layout::new(waiting);
        match (self.affinity, named) {
            (false, _) => layout,
            (true, []) => layout.pinned(&cores()),
            (true, named) => layout.pinned(named),
        }
    }

    /// Returns a cell of the settings for each property: theirs, and ours.
    pub(super) fn cells(&self) -> [String; 5] {
        let theirs = |is: bool| if is { "Yes" } else { "No" };
        let both = |theirs: &str, ours: &str| format!("{theirs} | {ours}");
        [
            both(theirs(self.prepared), "no"),
            both(theirs(self.affinity), if self.affinity { "yes" } else { "no" }),
            both(self.threads, if self.spins { "1 worker, spins" } else { "1 worker, epoll" }),
            both("PersistentMM", "journal, mapped"),
            both(theirs(self.onload), "no"),
        ]
    }
}

/// The properties of [`Configuration::cells`], as the page names them.
pub(super) const PROPERTIES: [&str; 5] = [
    "Prepared messages",
    "Affinity",
    "Thread Pool or Aggressive Mode",
    "Storage type",
    "Solarflare OpenOnload",
];
