//! What the process used while it was measured.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What the process has used, in all of its threads. What the system does not tell is `None`.
///
/// In the runs of the harness, the time in which the thread that begins pieces waits for the next
/// one is left out of the CPU time: it polls the clock, which is the measurement's work.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Usage {
    /// CPU time.
    #[cfg_attr(feature = "serde", serde(rename = "cpu_ns", with = "nanos"))]
    pub cpu: Duration,
    /// Times a thread gave up its processor to wait.
    pub voluntary_switches: Option<u64>,
    /// Times a thread lost its processor to another one.
    pub involuntary_switches: Option<u64>,
    /// Page faults that needed no disk.
    pub minor_faults: Option<u64>,
    /// Page faults that needed one.
    pub major_faults: Option<u64>,
}

impl Usage {
    /// Asks the system. Threads that have ended no longer count for the switches.
    #[must_use]
    pub fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The name of the program, in parentheses, may contain spaces: fields are counted after it.
        let stat: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        let number = |at: usize| stat.get(at).and_then(|text| text.parse().ok());
        let switches = switches();
        Self {
            cpu: cpu(ClockId::ProcessCPUTime),
            voluntary_switches: switches.map(|(voluntary, _)| voluntary),
            involuntary_switches: switches.map(|(_, involuntary)| involuntary),
            minor_faults: number(7),
            major_faults: number(9),
        }
    }

    /// Returns what was used since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let less = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        Self {
            cpu: self.cpu.saturating_sub(before.cpu),
            voluntary_switches: less(self.voluntary_switches, before.voluntary_switches),
            involuntary_switches: less(self.involuntary_switches, before.involuntary_switches),
            minor_faults: less(self.minor_faults, before.minor_faults),
            major_faults: less(self.major_faults, before.major_faults),
        }
    }

    /// Returns the same without the CPU time that a thread spent on waiting: all of its `thread`,
    /// but for `work`, which the clock says that it worked.
    #[must_use]
    pub(super) fn without_waiting(self, thread: Duration, work: Duration) -> Self {
        Self { cpu: self.cpu.saturating_sub(thread.saturating_sub(work)), ..self }
    }
}

/// Returns the CPU time of the calling thread.
pub(super) fn thread_cpu() -> Duration {
    cpu(ClockId::ThreadCPUTime)
}

fn cpu(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(feature = "serde")]
mod nanos {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_nanos)
    }
}

/// Returns the voluntary and involuntary context switches of all threads.
fn switches() -> Option<(u64, u64)> {
    let mut sums = (0, 0);
    for thread in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        // A thread may end meanwhile.
        let Ok(status) = std::fs::read_to_string(thread.path().join("status")) else { continue };
        for line in status.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim().parse().unwrap_or(0);
            match name {
                "voluntary_ctxt_switches" => sums.0 += value,
                "nonvoluntary_ctxt_switches" => sums.1 += value,
                _ => {}
            }
        }
    }
    Some(sums)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn work_sleep_and_fresh_memory_are_seen() {
        let before = Usage::now();
        std::thread::sleep(Duration::from_millis(1));
        // More than the allocator keeps.
        let memory = vec![1u8; 64 << 20];
        std::hint::black_box(memory.iter().map(|&byte| u64::from(byte)).sum::<u64>());
        let used = Usage::now().since(&before);
        assert!(used.cpu > Duration::ZERO && used.voluntary_switches > Some(0), "{used:?}");
        assert!(used.minor_faults > Some(0) && used.major_faults.is_some(), "{used:?}");
    }

    #[test]
    fn a_thread_that_polls_the_clock_between_its_pieces_has_used_what_they_took() {
        let [all, thread, work] = [900, 700, 100].map(Duration::from_micros);
        let usage = Usage { cpu: all, minor_faults: Some(3), ..Usage::default() };
        let left = usage.without_waiting(thread, work);
        assert_eq!(left, Usage { cpu: Duration::from_micros(300), ..usage });
        // It slept in its pieces, or lost its core: the clock says more than the processor.
        assert_eq!(usage.without_waiting(work, thread), usage);
    }
}
