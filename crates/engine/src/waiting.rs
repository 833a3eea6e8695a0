//! How a worker waits, and the core that it runs on.

use core::time::Duration;
use std::io;

#[cfg(target_os = "linux")]
pub(crate) use fixbolt_journal::pin_to;

use crate::workers_error::WorkersError;

/// How a worker waits for messages, timers and other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Waiting {
    /// It sleeps until the system wakes it: the core is free for others meanwhile.
    #[default]
    Blocking,
    /// It never sleeps, and asks its sockets again and again whether there is something to read.
    ///
    /// A message is noticed some microseconds earlier, because nobody needs to be woken. The worker
    /// keeps a core busy whether there are messages or not, so it should have one for itself
    /// ([`EngineBuilder::worker_cores`](crate::EngineBuilder::worker_cores)): two of them on one
    /// core take turns of milliseconds.
    Spinning,
    /// It spins for so long after there was last something to do, then it sleeps.
    ///
    /// Messages that follow each other within that time are noticed as if it always spun, and the
    /// core is free while nothing happens. The first message after a pause costs what it costs a
    /// worker that blocks.
    SpinningFor(Duration),
}

/// How a dedicated worker runs;
/// [`EngineBuilder::dedicated_worker`](crate::EngineBuilder::dedicated_worker) makes one.
///
/// ```
/// use fixbolt::{Waiting, WorkerOptions};
///
/// let mut options = WorkerOptions::default();
/// options.waiting = Waiting::Spinning;
/// options.core = Some(3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct WorkerOptions {
    /// How it waits.
    pub waiting: Waiting,
    /// The core that it is pinned to, counted from 0; `None` leaves that to the system. Linux only.
    pub core: Option<usize>,
}

/// Checks whether the core of each worker that has one is its own, and whether threads can run on
/// it; the error says which core is wrong, and why.
pub(crate) fn check_cores(workers: &[WorkerOptions]) -> Result<(), WorkersError> {
    let named = || workers.iter().enumerate().filter_map(|(n, worker)| Some((n, worker.core?)));
    check_named_once(named())?;
    check_usable(named().map(|(_, core)| core))
}

/// Checks that no two workers share a core.
pub(crate) fn check_named_once(
    mut cores: impl Iterator<Item = (usize, usize)> + Clone,
) -> Result<(), WorkersError> {
    let all = cores.clone();
    cores.try_for_each(|(n, core)| match all.clone().find(|(other, of)| *other < n && *of == core) {
        Some((first, _)) => Err(WorkersError::CoreTwice { core, workers: [first, n] }),
        None => Ok(()),
    })
}

/// Checks whether threads can run on each of `cores` of this machine.
pub(crate) fn check_usable(mut cores: impl Iterator<Item = usize>) -> Result<(), WorkersError> {
    // On a thread of its own, which keeps nothing of it.
    let pinned = |core: usize| std::thread::scope(|s| s.spawn(|| pin_to(core)).join());
    cores.try_for_each(|core| match pinned(core) {
        Ok(Err(error)) => Err(refused(core, &error)),
        _ => Ok(()),
    })
}

fn refused(core: usize, error: &io::Error) -> WorkersError {
    // What sched_setaffinity(2) says of a core that does not exist, or of another control group's.
    if cfg!(target_os = "linux") && error.kind() == io::ErrorKind::InvalidInput {
        let present = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        return WorkersError::NoSuchCore { core, present: present.trim().to_owned() };
    }
    WorkersError::Core { core, kind: error.kind(), reason: error.to_string() }
}

/// Makes the calling thread run on this core only.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pin_to(_: usize) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "threads can be pinned to cores on Linux only; leave the cores out",
    ))
}

/// Returns a warning if there are more workers than the process has cores, or more that spin.
pub(crate) fn too_many(workers: &[WorkerOptions]) -> Option<String> {
    let cores = std::thread::available_parallelism().ok()?.get();
    let (all, noun) = (workers.len(), if cores == 1 { "core" } else { "cores" });
    let spinning = workers.iter().filter(|worker| worker.waiting != Waiting::Blocking).count();
    if spinning > cores {
        Some(format!(
            "{spinning} workers spin, and this process has {cores} {noun}: they take turns of milliseconds; start fewer, or let them block"
        ))
    } else if all > cores {
        Some(format!(
            "{all} workers start, shared and dedicated ones, and this process has {cores} {noun}: those that have messages at the same time wait for each other; start fewer"
        ))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_workers_than_cores_are_warned_of_and_that_they_spin() {
        let cores = std::thread::available_parallelism().unwrap().get();
        let workers = |waiting, count| vec![WorkerOptions { waiting, core: None }; count];
        assert_eq!(too_many(&workers(Waiting::Spinning, cores)), None);
        assert_eq!(too_many(&workers(Waiting::Blocking, cores)), None);
        let warning = too_many(&workers(Waiting::Blocking, cores + 1)).unwrap();
        assert!(warning.starts_with(&format!("{} workers start, ", cores + 1)), "{warning}");
        let warning = too_many(&workers(Waiting::SpinningFor(Duration::from_millis(1)), cores + 1)).unwrap();
        assert!(
            warning.starts_with(&format!("{} workers spin, and this process has ", cores + 1)),
            "{warning}"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_core_that_does_not_exist_is_named_and_one_that_does_is_accepted() {
        let on = |core| WorkerOptions { core: Some(core), ..WorkerOptions::default() };
        for core in [1023, 1024, usize::MAX] {
            let error = check_cores(&[on(core)]).unwrap_err();
            let said =
                format!("core {core} does not exist, or this process may not use it; this machine has ");
            assert!(matches!(error, WorkersError::NoSuchCore { core: named, .. } if named == core));
            assert!(error.to_string().starts_with(&said), "{error}");
        }
        let here = rustix::thread::sched_getaffinity(None).unwrap();
        let core = (0..1024).find(|core| here.is_set(*core)).unwrap();
        assert_eq!(check_cores(&[on(core)]), Ok(()));
        // The calling thread may go on wherever it did.
        assert_eq!(rustix::thread::sched_getaffinity(None).unwrap(), here);
        assert_eq!(
            check_cores(&[on(core), WorkerOptions::default(), on(core)]).unwrap_err(),
            WorkersError::CoreTwice { core, workers: [0, 2] }
        );
    }
}
