//! How the threads of a benchmark wait, and where they run.

use fixbolt::Waiting;
use fixbolt_workloads::machine::Machine;

/// How the engines' workers wait, and the cores that they are pinned to, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// How they wait.
    pub waiting: Waiting,
    /// The venue's core.
    pub venue: Option<usize>,
    /// The trader's core.
    pub trader: Option<usize>,
}

impl Layout {
    /// Workers that wait in this way and run where the system puts them.
    #[must_use]
    pub const fn new(waiting: Waiting) -> Self {
        Self { waiting, venue: None, trader: None }
    }

    /// Pins the workers: the venue's to the first of these cores, the trader's to the second. With
    /// fewer than two cores nothing is pinned.
    #[must_use]
    pub fn pinned(self, cores: &[usize]) -> Self {
        match *cores {
            [venue, trader, ..] => Self { venue: Some(venue), trader: Some(trader), ..self },
            _ => self,
        }
    }

    /// Returns the name of the way of waiting.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.waiting {
            Waiting::Spinning => "spinning",
            _ => "epoll",
        }
    }

    /// Returns those of `all` cores to which no worker is pinned.
    pub(super) fn free(self, all: &[usize]) -> Vec<usize> {
        all.iter().copied().filter(|core| ![self.venue, self.trader].contains(&Some(*core))).collect()
    }

    /// Returns this layout in words.
    #[must_use]
    pub fn words(self) -> String {
        match (self.venue, self.trader) {
            (Some(venue), Some(trader)) => format!("{}, on cores {venue} and {trader}", self.name()),
            _ => format!("{}, not pinned", self.name()),
        }
    }
}

/// Keeps the calling thread on some cores; when dropped, lets it run on all of the process's again.
pub(super) struct OnCores<'c> {
    all: &'c [usize],
}

impl<'c> OnCores<'c> {
    /// Pins the calling thread to `cores` of `all` that the process may use; with no cores, or with
    /// all of them, it stays as it is.
    pub(super) fn pin(cores: &[usize], all: &'c [usize]) -> Result<Option<Self>, String> {
        if cores.is_empty() || cores == all {
            return Ok(None);
        }
        run_on(cores)?;
        Ok(Some(Self { all }))
    }
}

impl Drop for OnCores<'_> {
    fn drop(&mut self) {
        // It may use them, as it did before.
        let _ = run_on(self.all);
    }
}

/// Returns the cores that the process may use.
#[must_use]
pub(super) fn allowed() -> Vec<usize> {
    numbers(Machine::here().allowed.as_deref().unwrap_or_default())
}

/// Returns the cores to use: isolated ones if it can use two of them, which the system gives to no
/// thread that does not ask for them; else the last ones that it runs on, as interrupts tend to be
/// served by the first.
#[must_use]
pub(super) fn cores() -> Vec<usize> {
    let machine = Machine::here();
    let list = |text: &Option<String>| numbers(text.as_deref().unwrap_or_default());
    let isolated: Vec<usize> =
        list(&machine.isolated).into_iter().filter(|core| runs_on(*core).is_ok()).collect();
    if isolated.len() >= 2 { isolated } else { list(&machine.allowed).into_iter().rev().collect() }
}

/// Checks whether the threads of a venue and a trader can run on these cores.
///
/// # Errors
/// Returns which cannot, and why.
pub fn check_cores(cores: &[usize]) -> Result<(), String> {
    match cores {
        [] => {}
        [venue, trader] if venue == trader => {
            return Err(format!("core {venue} is named twice: venue and trader need one each"));
        }
        [_, _] => {}
        _ => return Err("name two: the venue's and the trader's".to_owned()),
    }
    cores.iter().try_for_each(|core| runs_on(*core))
}

/// Checks whether a thread can run on this core, with one of its own that keeps nothing of it.
fn runs_on(core: usize) -> Result<(), String> {
    match std::thread::scope(|scope| scope.spawn(|| run_on(&[core])).join()) {
        Ok(Err(_)) => Err(format!("core {core} does not exist, or this process may not use it")),
        _ => Ok(()),
    }
}

/// Pins the calling thread to a core, or lets it run on all of these again.
pub(super) fn run_on(cores: &[usize]) -> Result<(), String> {
    #[cfg(target_os = "linux")]
    {
        let mut set = rustix::thread::CpuSet::new();
        cores.iter().filter(|core| **core < rustix::thread::CpuSet::MAX_CPU).for_each(|core| set.set(*core));
        rustix::thread::sched_setaffinity(None, &set)
            .map_err(|error| format!("a thread cannot be pinned to {cores:?}: {error}"))?;
    }
    let _ = cores;
    Ok(())
}

/// Reads a list as the system writes it: `0-3,8`.
fn numbers(list: &str) -> Vec<usize> {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(part).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cores_is_read_as_the_system_writes_it() {
        assert_eq!(numbers("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(numbers(""), [0; 0]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_core_that_does_not_exist_and_one_that_is_named_twice_are_refused() {
        let core = cores()[0];
        assert_eq!(check_cores(&[]), Ok(()));
        assert_eq!(check_cores(&[core]).unwrap_err(), "name two: the venue's and the trader's");
        assert!(check_cores(&[core, core]).unwrap_err().ends_with("venue and trader need one each"));
        let error = "core 1023 does not exist, or this process may not use it";
        assert_eq!(check_cores(&[core, 1023]).unwrap_err(), error);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_is_kept_on_some_cores_and_may_run_on_all_again_afterwards() {
        let all = allowed();
        let of_this_thread = || {
            let cores = rustix::thread::sched_getaffinity(None).unwrap();
            (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| cores.is_set(*core)).collect::<Vec<_>>()
        };
        let last = &all[all.len() - 1..];
        let pinned = OnCores::pin(last, &all).unwrap();
        assert_eq!((of_this_thread(), pinned.is_some()), (last.to_vec(), all.len() > 1));
        drop(pinned);
        assert_eq!(of_this_thread(), all);
        assert!(OnCores::pin(&[], &all).unwrap().is_none() && OnCores::pin(&all, &all).unwrap().is_none());
    }

    #[test]
    fn cores_are_free_if_no_worker_is_pinned_to_them() {
        let layout = Layout::new(Waiting::Blocking);
        assert_eq!(layout.free(&[0, 1]), [0, 1]);
        assert_eq!(layout.pinned(&[1, 0]).free(&[0, 1]), [0; 0]);
        assert_eq!(layout.pinned(&[3, 1]).free(&[0, 1, 2, 3]), [0, 2]);
    }

    #[test]
    fn a_pair_is_pinned_only_if_there_are_two_cores() {
        let layout = Layout::new(Waiting::Spinning);
        assert_eq!(layout.pinned(&[3]), layout);
        assert_eq!(layout.pinned(&[3, 2, 1]).words(), "spinning, on cores 3 and 2");
        assert_eq!(layout.words(), "spinning, not pinned");
    }
}
