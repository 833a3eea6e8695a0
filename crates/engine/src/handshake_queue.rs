//! The thread on which the steps of handshakes are computed. A step may cost a signature, which
//! takes up to milliseconds, for somebody who has not said who it is: no worker computes one. The
//! worker keeps the socket, leaves the step here, and is woken when it is done.
//!
//! Steps of our own handshakes, of those that go on and of those that begin take turns. Of each
//! kind, an address has at most [`FEW`] in line at a time, and its next one joins the end of the
//! line when one of them leaves it. Of the line, the first and the newest step take turns: so each
//! step is computed after a bounded number of others, and if there are more than can be computed,
//! a newcomer has a chance before it gives up.
//!
//! The thread is started with the first step, and ends with the engine. The queue has at most one
//! step for each connection: whoever drops a [`Queued`] withdraws its step.

use core::fmt;
use core::net::IpAddr;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use fixbolt_journal::spawn;

use crate::origin::Origin;

/// How much the thread gives way to others where there are more threads than cores: sessions come
/// before those who want to begin one.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// How many steps of an address are in line at a time: a firm with several sessions has its turn as
/// soon as others, and nobody has all turns.
const FEW: usize = 8;

/// Whose handshake a step belongs to, and how far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Of a connection that we make.
    Ours,
    /// Of a connection that was accepted, after the step that has cost our signature. Nobody gets
    /// here without a turn among those that begin.
    GoesOn,
    /// Of a connection that was accepted, up to that step.
    Begins,
}

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
    /// By kind.
    lines: [Line; 3],
    /// The line that had the last turn.
    last: usize,
    /// How many steps there have been.
    count: u64,
    is_started: bool,
    is_ended: bool,
}

/// The steps of a kind.
#[derive(Debug, Default)]
struct Line {
    steps: Vec<Step>,
    /// How many places in line there have been.
    places: u64,
    /// Whether it is the turn of the newest step.
    takes_newest: bool,
}

struct Step {
    number: u64,
    origin: Origin,
    /// Its place in line, if it is among the first [`FEW`] of its origin.
    place: Option<u64>,
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
        kind: Kind,
        work: impl FnOnce(u64) + Send + 'static,
    ) -> io::Result<Queued> {
        let mut queue = self.0.lock();
        if !queue.is_started {
            let shared = Arc::clone(&self.0);
            spawn("fixbolt-handshakes", Box::new(move || shared.run()))?;
            queue.is_started = true;
        }
        let number = queue.add(address.into(), kind, work);
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
        let left = core::mem::take(&mut queue.lines);
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
        #[cfg(target_os = "linux")]
        if let Err(error) = fixbolt_journal::give_way(NICE) {
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
    fn add(&mut self, origin: Origin, kind: Kind, work: impl FnOnce(u64) + Send + 'static) -> u64 {
        self.count += 1;
        let number = self.count;
        self.lines[kind as usize].add(number, origin, Box::new(move || work(number)));
        number
    }

    /// Takes out the step whose turn it is.
    fn take(&mut self) -> Option<Box<dyn FnOnce() + Send>> {
        let count = self.lines.len();
        for line in (1..=count).map(|n| (self.last + n) % count) {
            if let Some(step) = self.lines[line].take() {
                self.last = line;
                return Some(step.work);
            }
        }
        None
    }

    fn withdraw(&mut self, number: u64) -> Option<Step> {
        self.lines.iter_mut().find_map(|line| {
            let index = line.steps.iter().position(|step| step.number == number)?;
            Some(line.remove(index))
        })
    }
}

impl Line {
    fn add(&mut self, number: u64, origin: Origin, work: Box<dyn FnOnce() + Send>) {
        let ahead = self.steps.iter().filter(|step| step.origin == origin).count();
        let place = (ahead < FEW).then(|| self.next_place());
        self.steps.push(Step { number, origin, place, work });
    }

    const fn next_place(&mut self) -> u64 {
        self.places += 1;
        self.places
    }

    fn take(&mut self) -> Option<Step> {
        let steps = self.steps.iter().enumerate();
        let in_line = steps.filter_map(|(index, step)| Some((step.place?, step.number, index)));
        let (_, _, index) =
            if self.takes_newest { in_line.max_by_key(|(_, number, _)| *number) } else { in_line.min() }?;
        self.takes_newest = !self.takes_newest;
        Some(self.remove(index))
    }

    /// Removes a step. The next one of its origin gets in line.
    fn remove(&mut self, index: usize) -> Step {
        let removed = self.steps.swap_remove(index);
        if removed.place.is_some() {
            let place = self.next_place();
            let waits = |step: &&mut Step| step.origin == removed.origin && step.place.is_none();
            if let Some(next) = self.steps.iter_mut().filter(waits).min_by_key(|step| step.number) {
                next.place = Some(place);
            }
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::Kind::{Begins, GoesOn, Ours};
    use super::*;

    fn ip(n: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, n])
    }

    /// Returns the order in which these steps are computed.
    fn order(steps: &[(u8, Kind)]) -> Vec<usize> {
        let (told, tells) = channel();
        let mut queue = Queue::default();
        for (n, (host, kind)) in steps.iter().enumerate() {
            let told = told.clone();
            queue.add(ip(*host).into(), *kind, move |_| told.send(n).unwrap());
        }
        while let Some(work) = queue.take() {
            work();
        }
        drop(told);
        tells.into_iter().collect()
    }

    #[test]
    fn of_several_addresses_the_oldest_and_the_newest_step_take_turns() {
        assert_eq!(order(&[(1, Begins), (2, Begins), (3, Begins)]), [0, 2, 1]);
        // A firm with several sessions is not behind strangers with an address each.
        assert_eq!(order(&[(1, Begins), (2, Begins), (3, Begins), (3, Begins)]), [0, 3, 1, 2]);
    }

    #[test]
    fn addresses_take_turns_however_many_steps_one_of_them_has() {
        // Nine addresses with two steps each, in the middle of one with two hundred.
        let mut steps = vec![(100, Begins); 100];
        steps.extend((0..18).map(|n| (n / 2, Begins)));
        steps.extend([(100, Begins); 100]);
        let order = order(&steps);
        assert_eq!(order.len(), steps.len());
        let last = order.iter().rposition(|n| (100..118).contains(n)).unwrap();
        assert!(last < 2 * (FEW + 18), "{last}: {order:?}");
    }

    #[test]
    fn a_step_that_leaves_the_line_has_the_next_one_of_its_address_join_it() {
        let mut queue = Queue::default();
        let numbers: Vec<u64> = (0..=FEW).map(|_| queue.add(ip(1).into(), Begins, |_| {})).collect();
        let is_in_line = |queue: &Queue, number| {
            let steps = &queue.lines[Begins as usize].steps;
            steps.iter().any(|step| step.number == number && step.place.is_some())
        };
        assert_eq!(FEW, 8, "docs/security.md says eight");
        assert!(!is_in_line(&queue, numbers[FEW]));
        // Whether it is withdrawn or computed.
        drop(queue.withdraw(numbers[3]));
        assert!(is_in_line(&queue, numbers[FEW]));
        let late = queue.add(ip(1).into(), Begins, |_| {});
        assert!(!is_in_line(&queue, late));
        (queue.take().unwrap())();
        assert!(is_in_line(&queue, late));
    }

    #[test]
    fn each_of_a_firms_steps_is_computed_soon_although_more_newcomers_arrive_than_can_be_computed() {
        // Alone, and behind somebody with many.
        for (before, within) in [(0, 2 * 4), (30, 2 * (FEW + 4))] {
            let (told, tells) = channel();
            let mut queue = Queue::default();
            for _ in 0..before {
                queue.add(ip(2).into(), Begins, |_| {});
            }
            for n in 0..4 {
                let told = told.clone();
                queue.add(ip(1).into(), Begins, move |_| told.send(n).unwrap());
            }
            for n in 0..within {
                for k in 0..2 {
                    let newcomer = IpAddr::from([10, 0, k, n as u8]);
                    queue.add(newcomer.into(), Begins, |_| {});
                }
                (queue.take().unwrap())();
            }
            assert_eq!(tells.try_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
        }
    }

    #[test]
    fn our_own_handshakes_those_that_begin_and_those_that_go_on_take_turns() {
        let steps = [(1, Begins), (2, Begins), (3, GoesOn), (4, GoesOn), (5, Ours), (6, Ours)];
        assert_eq!(order(&steps), [2, 0, 4, 3, 1, 5]);
    }

    #[test]
    fn a_step_that_is_withdrawn_is_never_computed_and_a_panic_ends_only_its_own_step() {
        let queue = HandshakeQueue::default();
        let (go_on, goes_on) = channel::<()>();
        let (told, tells) = channel();
        let begun = told.clone();
        let first = queue.add(ip(1), GoesOn, move |number| {
            begun.send(number).unwrap();
            goes_on.recv().unwrap();
            panic!("the library has a fault");
        });
        let first = first.unwrap();
        assert_eq!(tells.recv().unwrap(), first.number());
        let step = |told: &std::sync::mpsc::Sender<u64>| {
            let told = told.clone();
            queue.add(ip(1), GoesOn, move |number| told.send(number).unwrap()).unwrap()
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
