//! When a thread of the store works for which session: what is rung for comes first, in the order
//! of the rings; then what is due, in the order of its times.
//!
//! It knows the sessions that have rung from their bell, and those that are due from the times that
//! their work has named. It looks at no other one, however many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fixbolt_session::store::StoreError;

use crate::open::bell::{Bell, Caller, Task};
use crate::open::shared::Shared;
use crate::threads::work::{Next, Pace, Work, on_grid};
use crate::values::mutex::lock;

/// Sessions that the thread has not seen yet.
#[derive(Default)]
pub(crate) struct Arrivals(Mutex<Vec<(Caller, Arc<Shared>)>>);

impl Arrivals {
    pub(crate) fn add(&self, caller: Caller, session: &Arc<Shared>) {
        lock(&self.0).push((caller, Arc::clone(session)));
    }
}

/// A thread at work.
pub(crate) struct Scheduler<'t> {
    name: &'t str,
    task: Task,
    pace: Pace,
    bell: &'t Bell,
    arrivals: &'t Arrivals,
    /// Begins the work on a session.
    begin: &'t dyn Fn(Arc<Shared>, Instant) -> Box<dyn Work>,
    began: Instant,
    works: BTreeMap<Caller, Scheduled>,
    /// The sessions whose work goes on at a time, by it.
    due: BTreeSet<(Instant, Caller)>,
    /// The sessions that had rung when they were last looked for.
    callers: Vec<Caller>,
    /// Whether somebody has rung since arrivals were looked for.
    rung: bool,
}

/// The work on a session, and when it goes on if nobody rings earlier.
struct Scheduled {
    work: Box<dyn Work>,
    due: Option<Instant>,
}

/// How long the sessions that are there already wait for new ones at most.
const GATHER_MOST: Duration = Duration::from_secs(1);

impl<'t> Scheduler<'t> {
    pub(crate) fn new(
        name: &'t str,
        task: Task,
        pace: Pace,
        bell: &'t Bell,
        arrivals: &'t Arrivals,
        begin: &'t dyn Fn(Arc<Shared>, Instant) -> Box<dyn Work>,
    ) -> Self {
        Self {
            name,
            task,
            pace,
            bell,
            arrivals,
            begin,
            began: Instant::now(),
            works: BTreeMap::new(),
            due: BTreeSet::new(),
            callers: Vec::new(),
            rung: false,
        }
    }

    /// Works until the thread is to end.
    pub(crate) fn run(mut self) {
        while self.pass() {
            let next = self.due.first().map(|(at, _)| at.saturating_duration_since(Instant::now()));
            if !self.rung && next != Some(Duration::ZERO) {
                self.bell.wait(next);
            }
        }
    }

    /// Works for each session that has rung or is due, once if nobody rings meanwhile. Returns
    /// whether there is more to do, now or later.
    fn pass(&mut self) -> bool {
        // What is looked at comes after this: whoever changes it rings afterwards.
        self.bell.take();
        self.rung = false;
        if self.bell.ended.load(Ordering::Acquire) {
            return false;
        }
        if self.take_arrivals() {
            self.gather();
        }
        self.answer();
        let now = Instant::now();
        let later = self.due.split_off(&(now, Caller(u64::MAX)));
        for (at, caller) in mem::replace(&mut self.due, later) {
            // It may have rung meanwhile.
            if self.works.get(&caller).is_some_and(|scheduled| scheduled.due == Some(at)) {
                self.round(caller, now);
                // What others ask for does not wait until the disk has served all.
                self.attend();
            }
        }
        true
    }

    /// Takes the sessions that are new. Returns whether there were any.
    fn take_arrivals(&mut self) -> bool {
        let arrivals = mem::take(&mut *lock(&self.arrivals.0));
        let (now, any) = (Instant::now(), !arrivals.is_empty());
        for (caller, shared) in arrivals {
            let work = (self.begin)(shared, now);
            self.works.insert(caller, Scheduled { work, due: Some(now) });
            self.due.insert((now, caller));
        }
        any
    }

    /// Waits for further sessions.
    fn gather(&mut self) {
        let (until, gather) = (Instant::now() + GATHER_MOST, self.pace.gather);
        while !gather.is_zero() && Instant::now() < until {
            self.bell.wait(Some(gather));
            self.attend();
            if !self.take_arrivals() {
                return;
            }
        }
    }

    /// Does a round for each session that has asked for it, if somebody has rung. Sessions may have
    /// arrived as well, or the thread be about to end: that is seen to afterwards.
    fn attend(&mut self) {
        if self.bell.take() {
            self.rung = true;
            self.answer();
        }
    }

    /// Does a round for each session that has rung.
    fn answer(&mut self) {
        let mut callers = mem::take(&mut self.callers);
        self.bell.take_callers(&mut callers);
        let now = Instant::now();
        for caller in &callers {
            // One that was not seen yet will have its first round, and another one may have had a
            // round since it rang.
            let work = self.works.get(caller).map(|scheduled| &scheduled.work);
            if work.is_some_and(|work| work.shared().calls.is_rung(self.task)) {
                self.round(*caller, now);
            }
        }
        self.callers = callers;
    }

    /// Does a round for a session, or forgets it if it was closed.
    fn round(&mut self, caller: Caller, now: Instant) {
        let Some(Scheduled { work, due }) = self.works.get_mut(&caller) else { return };
        work.shared().calls.take_ring(self.task);
        if let Some(due) = due.take() {
            self.due.remove(&(due, caller));
        }
        let is_over = |shared: &Shared| shared.position.closed.load(Ordering::Relaxed);
        if is_over(work.shared()) {
            self.works.remove(&caller);
            self.bell.expect_one_less();
            return;
        }
        if work.shared().failure.failed.load(Ordering::Relaxed) {
            return;
        }
        // The other sessions go on, which may be those of other engines.
        let done = catch_unwind(AssertUnwindSafe(|| {
            let done = work.round(now);
            if cfg!(debug_assertions) {
                work.shared().check();
            }
            done
        }));
        let done = done.unwrap_or_else(|_| {
            Err(StoreError::Io {
                doing: format!("serving {}", work.shared().directory.display()),
                reason: format!("the thread {} has panicked", self.name),
            })
        });
        *due = match done {
            Ok(Next::AtOnce) => Some(now),
            Ok(Next::Exactly(at)) => Some(at),
            Ok(Next::At(at)) => Some(on_grid(self.began, self.pace.grid, at)),
            Ok(Next::WhenRung) => None,
            Err(error) => {
                if !is_over(work.shared()) {
                    work.shared().failure.fail(error);
                }
                None
            }
        };
        self.due.extend(due.map(|at| (at, caller)));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;

    use super::*;
    use crate::open::bell::Bells;
    use crate::open::invariants::tests::opened;
    use crate::open::log::Log;
    use crate::testing::TempDir;

    const FAR: Duration = Duration::from_secs(1 << 20);

    /// What the works of a test do, and have done.
    #[derive(Default)]
    struct Script {
        /// The sessions that had a round, by their directories' names.
        rounds: Vec<String>,
        /// What the next rounds do.
        next: VecDeque<Box<dyn FnOnce() -> Next>>,
    }

    struct Scripted {
        shared: Arc<Shared>,
        script: Rc<RefCell<Script>>,
    }

    impl Work for Scripted {
        fn shared(&self) -> &Shared {
            &self.shared
        }

        fn round(&mut self, _: Instant) -> Result<Next, StoreError> {
            let mut script = self.script.borrow_mut();
            let name = self.shared.directory.file_name().unwrap().to_str().unwrap();
            script.rounds.push(name.to_owned());
            let next = script.next.pop_front();
            drop(script);
            Ok(next.map_or(Next::WhenRung, |next| next()))
        }
    }

    /// Has `test` schedule rounds of sessions that were handed over and had their first ones.
    fn scheduled(
        name: &str,
        sessions: &[&str],
        test: impl FnOnce(&mut Scheduler<'_>, &[Log], &RefCell<Script>),
    ) {
        let dir = TempDir::new(name);
        let logs: Vec<_> = sessions.iter().map(|name| opened(&dir, name)).collect();
        let (bells, arrivals) = (Arc::<Bells>::default(), Arrivals::default());
        let bell = bells.of(Task::Sync);
        for (n, log) in (0..).zip(&logs) {
            bell.expect_one_more();
            log.shared.calls.answered_by(&bells, Caller(n), || arrivals.add(Caller(n), &log.shared));
        }
        let script = Rc::new(RefCell::new(Script::default()));
        let of_works = Rc::clone(&script);
        let begin =
            move |shared, _| -> Box<dyn Work> { Box::new(Scripted { shared, script: Rc::clone(&of_works) }) };
        let pace = Pace { grid: FAR, gather: Duration::ZERO };
        let mut scheduler = Scheduler::new("fixbolt-test", Task::Sync, pace, bell, &arrivals, &begin);
        assert!(scheduler.pass());
        assert_eq!(
            std::mem::take(&mut script.borrow_mut().rounds),
            sessions,
            "one round each, in this order"
        );
        test(&mut scheduler, &logs, &script);
    }

    /// Returns which sessions a pass has had rounds for.
    fn pass(scheduler: &mut Scheduler<'_>, script: &RefCell<Script>) -> Vec<String> {
        assert!(scheduler.pass());
        std::mem::take(&mut script.borrow_mut().rounds)
    }

    fn ring(log: &Log) {
        log.shared.calls.ring(Task::Sync);
    }

    #[test]
    fn only_sessions_that_have_rung_have_rounds_in_the_order_of_their_rings() {
        scheduled("scheduler-rings", &["a", "b", "c"], |scheduler, logs, script| {
            assert_eq!(pass(scheduler, script), [""; 0]);
            for n in [2, 0, 2, 2] {
                ring(&logs[n]);
            }
            assert_eq!(pass(scheduler, script), ["c", "a"]);
            assert_eq!(pass(scheduler, script), [""; 0]);
            ring(&logs[2]);
            assert_eq!(pass(scheduler, script), ["c"]);
        });
    }

    #[test]
    fn works_that_go_on_at_once_take_turns_and_a_session_that_rings_does_not_wait_for_them() {
        scheduled("scheduler-turns", &["a", "b", "c"], |scheduler, logs, script| {
            let c = Arc::clone(&logs[2].shared);
            ring(&logs[0]);
            ring(&logs[1]);
            script.borrow_mut().next.extend([
                Box::new(|| Next::AtOnce) as Box<dyn FnOnce() -> Next>,
                Box::new(|| Next::AtOnce),
                Box::new(move || {
                    c.calls.ring(Task::Sync);
                    Next::AtOnce
                }),
            ]);
            assert_eq!(pass(scheduler, script), ["a", "b", "a", "c", "b"]);
            assert_eq!(pass(scheduler, script), ["a"]);
            assert_eq!(scheduler.due, BTreeSet::new());
        });
    }

    #[test]
    fn a_round_that_comes_earlier_replaces_the_time_that_the_last_one_has_named() {
        scheduled("scheduler-times", &["a"], |scheduler, logs, script| {
            let (near, far) = (Instant::now(), Instant::now() + FAR);
            ring(&logs[0]);
            script.borrow_mut().next.push_back(Box::new(move || Next::Exactly(far)));
            assert_eq!(pass(scheduler, script), ["a"]);
            assert_eq!(scheduler.due, BTreeSet::from([(far, Caller(0))]));
            ring(&logs[0]);
            script.borrow_mut().next.push_back(Box::new(move || Next::Exactly(near)));
            // It was due at once, and then no more.
            assert_eq!(pass(scheduler, script), ["a", "a"]);
            assert_eq!(scheduler.due, BTreeSet::new());
            ring(&logs[0]);
            script.borrow_mut().next.push_back(Box::new(move || Next::At(near)));
            assert_eq!(pass(scheduler, script), ["a"]);
            let on_grid = on_grid(scheduler.began, FAR, near);
            assert_eq!(scheduler.due, BTreeSet::from([(on_grid, Caller(0))]));
        });
    }

    #[test]
    fn a_session_that_is_closed_is_forgotten_and_one_that_has_failed_has_no_rounds() {
        scheduled("scheduler-closed", &["a", "b", "c"], |scheduler, logs, script| {
            logs[0].shared.position.closed.store(true, Ordering::Relaxed);
            let reason = "a fault".to_owned();
            logs[1].shared.failure.fail(StoreError::Io { doing: "testing".to_owned(), reason });
            logs.iter().for_each(ring);
            assert_eq!(pass(scheduler, script), ["c"]);
            assert!(scheduler.works.keys().eq(&[Caller(1), Caller(2)]));
            assert_eq!(Arc::strong_count(&logs[0].shared), 1);
            // It has rung before it was closed, or rings afterwards.
            logs.iter().for_each(ring);
            assert_eq!(pass(scheduler, script), ["c"]);
        });
    }

    #[test]
    fn what_a_session_has_rung_for_before_it_is_known_is_answered_by_its_first_round() {
        let dir = TempDir::new("scheduler-first");
        let log = opened(&dir, "a");
        ring(&log);
        let (bells, arrivals) = (Arc::<Bells>::default(), Arrivals::default());
        let bell = bells.of(Task::Sync);
        bell.expect_one_more();
        log.shared.calls.answered_by(&bells, Caller(7), || arrivals.add(Caller(7), &log.shared));
        let script = Rc::new(RefCell::new(Script::default()));
        let of_works = Rc::clone(&script);
        let begin =
            move |shared, _| -> Box<dyn Work> { Box::new(Scripted { shared, script: Rc::clone(&of_works) }) };
        let pace = Pace { grid: FAR, gather: Duration::ZERO };
        let mut scheduler = Scheduler::new("fixbolt-test", Task::Sync, pace, bell, &arrivals, &begin);
        // It rings when the thread looks for sessions that have rung, and not for new ones.
        ring(&log);
        scheduler.attend();
        assert_eq!(script.borrow().rounds, [""; 0]);
        assert_eq!(pass(&mut scheduler, &script), ["a"]);
        ring(&log);
        assert_eq!(pass(&mut scheduler, &script), ["a"]);
    }
}
