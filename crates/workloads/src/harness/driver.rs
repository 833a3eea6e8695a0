//! Runs a task by its plan.

use std::ops::Range;
use std::time::Duration;

use super::clock::Clock;
use super::control::Control;
use super::latencies::Latencies;
use super::outcome::{Invalid, Run, Times};
use super::plan::{Mode, Plan, Waiting};
use super::recorder::Recorder;
use super::schedule::Schedule;
use super::usage::{Usage, thread_cpu};
use crate::memory::available_memory;

/// A run of a closed loop ends when this many pieces in succession have been lost: each of them
/// takes the time-out.
const MOST_LOST: u32 = 3;

/// Work that is measured.
///
/// The harness calls [`Task::init`], begins the pieces of the warm-up, calls [`Task::warmed_up`],
/// then begins the pieces of each run and calls [`Task::run_complete`] after each run, and
/// [`Task::complete`] in the end, also after an error.
pub trait Task {
    /// Returns the names of the places within a piece that are recorded on the same clock.
    fn probes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Prepares the work. Threads that notice the end of pieces keep clones of `recorder`.
    ///
    /// # Errors
    /// Returns why nothing can be measured.
    fn init(&mut self, recorder: &Recorder) -> Result<(), String>;

    /// The warm-up is over.
    fn warmed_up(&mut self) {}

    /// Begins a piece. Whoever notices its end calls [`Recorder::finish`], perhaps later and in
    /// another thread.
    ///
    /// # Errors
    /// Returns why the measurement cannot continue.
    fn run(&mut self, piece: Piece) -> Result<(), String>;

    /// Called again and again while the harness waits: where a task that has no other thread looks
    /// for answers.
    ///
    /// # Errors
    /// Returns why the measurement cannot continue.
    fn idle(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// A run, counted from 0, is over.
    fn run_complete(&mut self, _run: usize) {}

    /// The measurement is over: checks what can only be checked now, and closes what was opened.
    ///
    /// # Errors
    /// Returns what is wrong with the results, which makes the figures worthless.
    fn complete(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// A piece of work that is due. Times are the harness's clock's, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Its number, through warm-up and all runs.
    pub number: u64,
    /// When it was due; different for each piece.
    pub intended: u64,
    /// When it began.
    pub started: u64,
}

/// Measures a task and returns its runs. If `control` stops the measurement, the runs so far and
/// the interrupted one are returned.
///
/// # Errors
/// Returns the task's error.
pub fn measure(
    plan: &Plan,
    task: &mut dyn Task,
    clock: &dyn Clock,
    control: &Control,
) -> Result<Vec<Run>, String> {
    let probes = task.probes();
    let pieces = pieces(plan, probes.len(), available_memory())?;
    let recorder = Recorder::new(pieces, probes.len());
    let mut driver = Driver { plan, clock, control, recorder, probes };
    let result = task.init(&driver.recorder).and_then(|()| driver.runs(task));
    let complete = task.complete();
    let mut runs = result?;
    complete?;
    for (run, numbers) in &mut runs {
        let ended = numbers.clone().filter(|&number| driver.recorder.ended(number).is_some()).count() as u64;
        run.late = ended.saturating_sub(run.service.count());
    }
    Ok(runs.into_iter().map(|(run, _)| run).collect())
}

/// Returns the number of pieces of a plan, or an error if their times do not fit into the memory
/// that is available.
fn pieces(plan: &Plan, probes: usize, available: Option<u64>) -> Result<u64, String> {
    /// Of a time.
    const SIZE: u64 = size_of::<u64>() as u64;
    let pieces =
        plan.iterations.checked_mul(plan.runs as u64).and_then(|runs| runs.checked_add(plan.warm_up));
    // When each was due, began, ended, and passed the probes; the schedule and times of one run.
    let recorded = pieces.and_then(|pieces| pieces.checked_mul((3 + probes as u64) * SIZE));
    let of_run = plan.iterations.max(plan.warm_up).checked_mul(SIZE + size_of::<Times>() as u64);
    let needed = recorded.zip(of_run).and_then(|(recorded, of_run)| recorded.checked_add(of_run));
    // The rest is for what is measured and for others.
    let usable = available.unwrap_or(u64::MAX) / 10 * 9;
    match pieces.filter(|_| needed.is_some_and(|needed| needed <= usable)) {
        Some(pieces) => Ok(pieces),
        None => Err(format!(
            "the times of {} runs of {} pieces take more than the {} MB of memory that are available: measure fewer",
            plan.runs,
            plan.iterations,
            usable / 1_000_000
        )),
    }
}

struct Driver<'a> {
    plan: &'a Plan,
    clock: &'a dyn Clock,
    control: &'a Control,
    recorder: Recorder,
    probes: &'static [&'static str],
}

/// How the pieces of a run ended.
struct Pieces {
    numbers: Range<u64>,
    timed_out: bool,
    /// How long this thread was in [`Task::run`], by the clock. The rest of its time it waited.
    work: Duration,
}

impl Driver<'_> {
    fn runs(&mut self, task: &mut dyn Task) -> Result<Vec<(Run, Range<u64>)>, String> {
        self.control.begin("warm-up", self.plan.warm_up);
        self.pieces(task, 0, self.plan.warm_up)?;
        task.warmed_up();
        let mut runs = Vec::new();
        for run in 0..self.plan.runs {
            if self.control.is_stopped() {
                break;
            }
            self.control.begin(format!("run {} of {}", run + 1, self.plan.runs), self.plan.iterations);
            let first = self.plan.warm_up + run as u64 * self.plan.iterations;
            let (stray, usage, thread) = (self.stray(), Usage::now(), thread_cpu());
            let pieces = self.pieces(task, first, self.plan.iterations)?;
            let thread = thread_cpu().saturating_sub(thread);
            let usage = Usage::now().since(&usage).without_waiting(thread, pieces.work);
            let stray = self.stray() - stray;
            runs.push((self.outcome(&pieces, stray, usage), pieces.numbers));
            task.run_complete(run);
        }
        Ok(runs)
    }

    fn stray(&self) -> u64 {
        self.recorder.duplicates() + self.recorder.unknown()
    }

    /// Begins `count` pieces and waits until all have ended.
    fn pieces(&mut self, task: &mut dyn Task, first: u64, count: u64) -> Result<Pieces, String> {
        self.recorder.skip_to(first, self.clock.now());
        match self.plan.mode {
            Mode::Open { arrivals, rate } => {
                let schedule = Schedule::new(arrivals, rate, count);
                self.open(task, first, schedule.times())
            }
            Mode::Closed => self.closed(task, first, count),
        }
    }

    fn open(&self, task: &mut dyn Task, first: u64, times: &[u64]) -> Result<Pieces, String> {
        let sleeps = self.plan.waiting == Waiting::Sleep;
        let timeout = u64::try_from(self.plan.timeout.as_nanos()).unwrap_or(u64::MAX);
        let mut now = self.clock.now();
        // Not at once, so that the first piece is not late.
        let begin = now + 1_000_000;
        let last = begin + times.last().copied().unwrap_or(0);
        // A system that blocks in `run` could take forever.
        let give_up = last.saturating_add((last - begin) * 2).saturating_add(timeout);
        let (mut begun, mut timed_out, mut work) = (0, false, 0);
        'pieces: for (n, &time) in (first..).zip(times) {
            let due = begin + time;
            while now < due {
                task.idle()?;
                if self.control.is_stopped() {
                    break 'pieces;
                }
                now = self.clock.now();
                if now < due {
                    self.clock.pause(due, sleeps);
                    now = self.clock.now();
                }
            }
            timed_out = now > give_up;
            if timed_out || self.control.is_stopped() {
                break;
            }
            self.recorder.begin(n, due, now);
            let started = now;
            task.run(Piece { number: n, intended: due, started })?;
            begun += 1;
            self.control.progress(begun);
            // Also where the wait for the next piece begins.
            now = self.clock.now();
            work += now.saturating_sub(started);
        }
        let numbers = first..first + begun;
        self.wait_for(task, numbers.clone(), timeout)?;
        Ok(Pieces { numbers, timed_out, work: Duration::from_nanos(work) })
    }

    fn closed(&self, task: &mut dyn Task, first: u64, count: u64) -> Result<Pieces, String> {
        let timeout = u64::try_from(self.plan.timeout.as_nanos()).unwrap_or(u64::MAX);
        let (mut begun, mut lost, mut work) = (0, 0, 0);
        for n in first..first + count {
            if self.control.is_stopped() || lost == MOST_LOST {
                break;
            }
            let now = self.clock.now();
            self.recorder.begin(n, now, now);
            task.run(Piece { number: n, intended: now, started: now })?;
            work += self.clock.now().saturating_sub(now);
            begun += 1;
            self.control.progress(begun);
            if self.recorder.ended(n).is_none() {
                self.wait_for(task, n..n + 1, timeout)?;
            }
            lost = if self.recorder.ended(n).is_some() { 0 } else { lost + 1 };
        }
        Ok(Pieces { numbers: first..first + begun, timed_out: false, work: Duration::from_nanos(work) })
    }

    /// Waits until all these pieces have ended, or for the time-out.
    fn wait_for(&self, task: &mut dyn Task, numbers: Range<u64>, timeout: u64) -> Result<(), String> {
        let give_up = self.clock.now().saturating_add(timeout);
        let closed = self.plan.mode == Mode::Closed;
        let mut first = numbers.start;
        loop {
            while first < numbers.end && self.recorder.ended(first).is_some() {
                first += 1;
            }
            let now = self.clock.now();
            if first == numbers.end || now >= give_up || self.control.is_stopped() {
                return Ok(());
            }
            task.idle()?;
            // In an open loop nothing begins from here on.
            let step = if closed { 1_000 } else { 200_000 };
            self.clock.pause(give_up.min(now + step), !closed);
        }
    }

    fn outcome(&self, pieces: &Pieces, stray: u64, usage: Usage) -> Run {
        let Pieces { numbers, timed_out, .. } = pieces;
        let recorder = &self.recorder;
        let mut probes: Vec<_> =
            self.probes.iter().map(|name| ((*name).to_owned(), Latencies::default())).collect();
        let mut times = Vec::with_capacity((numbers.end - numbers.start) as usize);
        for n in numbers.clone() {
            let Some((intended, started)) = recorder.begun(n) else { continue };
            for (probe, (_, latencies)) in probes.iter_mut().enumerate() {
                if let Some(at) = recorder.marked(probe, n) {
                    latencies.add_ns(at.saturating_sub(intended));
                }
            }
            times.push(Times { intended, started, ended: recorder.ended(n) });
        }
        let run = match self.plan.mode {
            Mode::Open { .. } => Run::open(&times),
            Mode::Closed => Run::closed(&times),
        };
        let interrupted =
            self.control.is_stopped() && ((times.len() as u64) < self.plan.iterations || run.lost > 0);
        let invalid = if *timed_out {
            Some(Invalid::TimedOut)
        } else if interrupted {
            Some(Invalid::Interrupted)
        } else {
            run.invalid.clone()
        };
        Run { probes, stray, usage, invalid, ..run }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::harness::Arrivals;

    #[test]
    fn a_plan_whose_times_do_not_fit_into_the_memory_is_refused_before_it_begins() {
        let plan = Plan::closed().warm_up(50).iterations(1_000).runs(3);
        // 3,050 times three times, and the schedule and times of 1,000.
        assert_eq!(pieces(&plan, 0, Some(1_000_000)), Ok(3_050));
        let error = pieces(&plan, 0, Some(100_000)).unwrap_err();
        assert!(error.starts_with("the times of 3 runs of 1000 pieces take more than the 0 MB "), "{error}");
        assert!(pieces(&plan, 1_000, Some(1_000_000)).is_err());
        for plan in [plan.clone().iterations(u64::MAX), plan.clone().warm_up(u64::MAX)] {
            assert!(pieces(&plan, 0, None).is_err());
        }
        assert_eq!(pieces(&plan, 0, None), Ok(3_050));
    }

    /// A clock that goes on as a piece says, and jumps to the end of a pause.
    #[derive(Default)]
    struct Jumping(Cell<u64>);

    impl Clock for Jumping {
        fn now(&self) -> u64 {
            self.0.get()
        }

        fn pause(&self, deadline: u64, _: bool) {
            self.0.set(deadline.max(self.0.get()));
        }
    }

    /// Work that takes 10 us in this thread, and ends 20 us later.
    struct Work<'c>(&'c Jumping, Recorder);

    impl Task for Work<'_> {
        fn init(&mut self, _: &Recorder) -> Result<(), String> {
            Ok(())
        }

        fn run(&mut self, piece: Piece) -> Result<(), String> {
            self.0.0.set(self.0.now() + 10_000);
            self.1.finish(piece.number, self.0.now() + 20_000);
            Ok(())
        }
    }

    #[test]
    fn the_time_of_a_thread_in_its_pieces_is_work_and_between_them_it_waits() {
        for plan in [Plan::open(Arrivals::Fixed, 1_000.0), Plan::closed()] {
            let (clock, recorder) = (Jumping::default(), Recorder::new(20, 0));
            let mut work = Work(&clock, recorder.clone());
            let control = Control::default();
            let mut driver = Driver { plan: &plan, clock: &clock, control: &control, recorder, probes: &[] };
            let pieces = driver.pieces(&mut work, 0, 20).unwrap();
            assert_eq!((pieces.numbers, pieces.work), (0..20, Duration::from_micros(200)));
        }
    }
}
