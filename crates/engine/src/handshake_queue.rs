//! The thread on which the steps of handshakes are computed. A step may cost a signature, which
//! takes up to milliseconds, for somebody who has not said who it is: no worker computes one. The
//! worker keeps the socket, leaves the step here, and is woken when it is done.
//!
//! Steps of handshakes that have begun and of those that begin take turns. Of either kind, the
//! address comes first that has fewest waiting, and of several the newest step: if there are more
//! than can be computed, those that have waited for long are of no use any more.
//!
//! The thread is started with the first step, and ends with the engine. The queue has at most one
//! step for each connection: whoever drops a [`Queued`] withdraws its step.

use core::fmt;
use core::net::IpAddr;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use fixbolt_journal::unpin;

use crate::origin::Origin;

/// How much the thread gives way to others where there are more threads than cores: sessions come
/// before those who want to begin one.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// The steps that wait, and the thread that computes them.
#[derive(Debug, Default)]
pub(crate) struct HandshakeQueue(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    steps: Vec<Step>,
    /// How many steps there have been.
    count: u64,
    /// Whether the last step was of a handshake that had begun.
    last_had_begun: bool,
    is_started: bool,
    is_ended: bool,
}

struct Step {
    number: u64,
    origin: Origin,
    has_begun: bool,
    /// How many steps of its origin waited when it came.
    ahead: usize,
    work: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("number", &self.number).finish_non_exhaustive()
    }
}

/// A step that waits, or is being computed. Dropping it withdraws the step if it waits.
#[derive(Debug)]
pub(crate) struct Queued {
    number: u64,
    queue: Weak<Shared>,
}

impl Queued {
    /// Returns the number of the step, which no other one has.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        let Some(shared) = self.queue.upgrade() else { return };
        let withdrawn = shared.lock().withdraw(self.number);
        // Without the lock.
        drop(withdrawn);
    }
}

impl HandshakeQueue {
    /// Adds a step of a handshake with somebody at this address. `work` is called with the step's
    /// number, on the thread.
    ///
    /// # Errors
    /// The system's, if the thread cannot be started.
    pub(crate) fn add(
        &self,
        address: IpAddr,
        has_begun: bool,
        work: impl FnOnce(u64) + Send + 'static,
    ) -> io::Result<Queued> {
        let mut queue = self.0.lock();
        if !queue.is_started {
            let shared = Arc::clone(&self.0);
            std::thread::Builder::new().name("fixbolt-handshakes".to_owned()).spawn(move || shared.run())?;
            queue.is_started = true;
        }
        let number = queue.add(address.into(), has_begun, work);
        drop(queue);
        self.0.changed.notify_one();
        Ok(Queued { number, queue: Arc::downgrade(&self.0) })
    }
}

/// Ends the thread after the step that it computes.
impl Drop for HandshakeQueue {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.is_ended = true;
        let left = core::mem::take(&mut queue.steps);
        drop(queue);
        self.0.changed.notify_one();
        drop(left);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes steps until the queue is dropped.
    fn run(&self) {
        unpin();
        #[cfg(target_os = "linux")]
        if let Err(error) = rustix::process::nice(NICE) {
            tracing::debug!(%error, "handshakes have the priority of sessions");
        }
        while let Some(work) = self.next() {
            // The worker is told by the step itself; the next one must not suffer from it.
            if catch_unwind(AssertUnwindSafe(work)).is_err() {
                tracing::error!("a step of a handshake has panicked");
            }
        }
    }

    /// Waits for the next step; `None` if there will be none.
    fn next(&self) -> Option<Box<dyn FnOnce() + Send>> {
        let mut queue = self.lock();
        loop {
            if queue.is_ended {
                return None;
            }
            if let Some(work) = queue.take() {
                return Some(work);
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Queue {
    fn add(&mut self, origin: Origin, has_begun: bool, work: impl FnOnce(u64) + Send + 'static) -> u64 {
        self.count += 1;
        let number = self.count;
        let of_it = |step: &&Step| step.origin == origin && step.has_begun == has_begun;
        let ahead = self.steps.iter().filter(of_it).count();
        let work = Box::new(move || work(number));
        self.steps.push(Step { number, origin, has_begun, ahead, work });
        number
    }

    /// Takes out the step whose turn it is.
    fn take(&mut self) -> Option<Box<dyn FnOnce() + Send>> {
        let turn = |step: &Step| (step.has_begun == self.last_had_begun, step.ahead, u64::MAX - step.number);
        let steps = self.steps.iter().enumerate();
        let (next, _) = steps.min_by_key(|(_, step)| turn(step))?;
        let step = self.steps.swap_remove(next);
        self.last_had_begun = step.has_begun;
        Some(step.work)
    }

    fn withdraw(&mut self, number: u64) -> Option<Step> {
        let place = self.steps.iter().position(|step| step.number == number)?;
        Some(self.steps.swap_remove(place))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn ip(n: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, n])
    }

    /// Returns the order in which these steps are computed.
    fn order(steps: &[(u8, bool)]) -> Vec<usize> {
        let (told, tells) = channel();
        let mut queue = Queue::default();
        for (n, (host, has_begun)) in steps.iter().enumerate() {
            let told = told.clone();
            queue.add(ip(*host).into(), *has_begun, move |_| told.send(n).unwrap());
        }
        while let Some(work) = queue.take() {
            work();
        }
        drop(told);
        tells.into_iter().collect()
    }

    #[test]
    fn an_address_with_many_steps_leaves_each_other_one_its_turn() {
        assert_eq!(order(&[(1, true), (1, true), (1, true), (2, true)]), [3, 0, 1, 2]);
    }

    #[test]
    fn of_several_addresses_the_newest_step_comes_first() {
        assert_eq!(order(&[(1, false), (2, false), (3, false)]), [2, 1, 0]);
    }

    #[test]
    fn handshakes_that_begin_and_those_that_go_on_take_turns() {
        assert_eq!(order(&[(1, false), (2, false), (3, true), (4, true)]), [3, 1, 2, 0]);
    }

    #[test]
    fn a_step_that_is_withdrawn_is_never_computed_and_a_panic_ends_only_its_own_step() {
        let queue = HandshakeQueue::default();
        let (go_on, goes_on) = channel::<()>();
        let (told, tells) = channel();
        let begun = told.clone();
        let first = queue.add(ip(1), true, move |number| {
            begun.send(number).unwrap();
            goes_on.recv().unwrap();
            panic!("the library has a fault");
        });
        let first = first.unwrap();
        assert_eq!(tells.recv().unwrap(), first.number());
        let step = |told: &std::sync::mpsc::Sender<u64>| {
            let told = told.clone();
            queue.add(ip(1), true, move |number| told.send(number).unwrap()).unwrap()
        };
        let (withdrawn, last) = (step(&told), step(&told));
        drop(withdrawn);
        // It is computed already: nothing is left to withdraw.
        drop(first);
        go_on.send(()).unwrap();
        assert_eq!(tells.recv().unwrap(), last.number());
        let shared = Arc::downgrade(&queue.0);
        drop((queue, told));
        assert!(tells.recv().is_err());
        // The thread has ended.
        while shared.strong_count() > 0 {
            std::thread::yield_now();
        }
    }
}
