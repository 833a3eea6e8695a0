//! A share of a processor for a thread.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Keeps a thread to half a core: attackers have no more, and the burner that takes their place has
/// no less. It also gives way at once to the threads that are measured, since a real attacker does
/// not work on the same machine.
#[derive(Debug)]
pub(crate) struct HalfACore {
    began: Instant,
    used_before: Duration,
}

impl HalfACore {
    /// Begins to count, for the thread that calls it.
    pub(crate) fn begin() -> Self {
        give_way();
        Self { began: Instant::now(), used_before: used() }
    }

    /// Sleeps for as long as this thread has used more than half of the time.
    pub(crate) fn rest(&self) {
        let ahead = ((used() - self.used_before) * 2).saturating_sub(self.began.elapsed());
        // A shorter sleep costs about as much as it saves.
        if ahead > Duration::from_micros(200) {
            std::thread::sleep(ahead);
        }
    }
}

/// Keeps this thread to the last core, so that the server has the others. Counterparties do not
/// work on the server's machine: a client that becomes ready on the core of a busy worker would
/// wait up to 4 ms for it, while the server has long answered.
pub(crate) fn leave_a_core() {
    #[cfg(target_os = "linux")]
    {
        let mut cores = rustix::thread::sched_getaffinity(None).expect("a thread has cores");
        let last = (0..rustix::thread::CpuSet::MAX_CPU).rev().find(|core| cores.is_set(*core));
        if let Some(last) = last.filter(|_| cores.count() > 1) {
            cores.clear();
            cores.set(last);
            rustix::thread::sched_setaffinity(None, &cores).expect("one of its cores");
        }
    }
}

/// Has every other thread that becomes ready run in place of this one: a lower priority alone lets
/// it finish its slice, and the client that is measured then waits for a processor for as long as
/// 300 us while the server has answered.
fn give_way() {
    #[cfg(not(target_os = "linux"))]
    let _ = rustix::process::nice(10);
    // Of the calling thread alone; nobody may refuse to lower it.
    #[cfg(target_os = "linux")]
    {
        let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
        let chrt = Command::new("chrt").args(["--idle", "--pid", "0", &thread]).stdin(Stdio::null()).status();
        assert!(
            chrt.is_ok_and(|status| status.success()),
            "chrt (util-linux) gives a thread the idle policy"
        );
    }
}

/// Uses half a core until the time is over.
pub(crate) fn burn(until: Instant) {
    let share = HalfACore::begin();
    while Instant::now() < until {
        let piece = Instant::now() + Duration::from_micros(300);
        while Instant::now() < piece {
            std::hint::spin_loop();
        }
        share.rest();
    }
}

/// Returns the processor time that this thread has used.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[test]
fn a_burner_uses_at_most_half_a_core() {
    let (before, began) = (used(), Instant::now());
    burn(Instant::now() + Duration::from_millis(300));
    let (used, took) = (used() - before, began.elapsed());
    assert!(used > Duration::ZERO && used < took * 3 / 5, "{used:?} of {took:?}");
}
