//! The harness under a clock that the tests move.

use std::cell::Cell;
use std::time::Duration;

use super::*;

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// A clock that goes on only as its user says, and jumps to the deadline of a pause.
#[derive(Default)]
struct Simulated(Cell<u64>);

impl Simulated {
    fn pass(&self, ns: u64) {
        self.0.set(self.0.get() + ns);
    }
}

impl Clock for Simulated {
    fn now(&self) -> u64 {
        self.0.get()
    }

    fn pause(&self, deadline: u64, _: bool) {
        self.0.set(deadline.max(self.0.get()));
    }
}

/// Work whose pieces take as long as a closure says; they have ended when `run` returns.
struct Work<'c, F> {
    clock: &'c Simulated,
    takes: F,
    recorder: Option<Recorder>,
    calls: Vec<&'static str>,
}

impl<'c, F: FnMut(Piece) -> u64> Work<'c, F> {
    fn new(clock: &'c Simulated, takes: F) -> Self {
        Self { clock, takes, recorder: None, calls: Vec::new() }
    }
}

impl<F: FnMut(Piece) -> u64> Task for Work<'_, F> {
    fn probes(&self) -> &'static [&'static str] {
        &["half"]
    }

    fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
        self.recorder = Some(recorder.clone());
        self.calls.push("init");
        Ok(())
    }

    fn warmed_up(&mut self) {
        self.calls.push("warmed_up");
    }

    fn run(&mut self, piece: Piece) -> Result<(), String> {
        let ns = (self.takes)(piece);
        let recorder = self.recorder.as_ref().unwrap();
        self.clock.pass(ns / 2);
        recorder.mark(0, piece.number, self.clock.now());
        self.clock.pass(ns - ns / 2);
        recorder.finish_stamped(piece.intended, self.clock.now());
        Ok(())
    }

    fn run_complete(&mut self, run: usize) {
        self.calls.push(["run 0", "run 1"][run]);
    }

    fn complete(&mut self) -> Result<(), String> {
        self.calls.push("complete");
        Ok(())
    }
}

fn near(ns: u64, expected: u64) -> bool {
    ns.abs_diff(expected) <= expected / 500 + 1
}

#[test]
fn a_system_that_stalls_for_100_ms_every_second_shows_it_in_response_time_and_not_in_service_time() {
    let clock = Simulated::default();
    let mut next_stall = 0;
    let mut work = Work::new(&clock, |piece: Piece| {
        if piece.started >= next_stall {
            next_stall = piece.started - piece.started % SECOND + SECOND;
            100 * MILLI
        } else {
            10 * MICRO
        }
    });
    let plan = Plan::open(Arrivals::Fixed, 1_000.0).iterations(20_000);
    let run = measure(&plan, &mut work, &clock, &Control::default()).unwrap().remove(0);
    // A tenth of the pieces was due during a stall, but only one in a thousand hit one.
    assert!(near(run.service.ns_at(99.0), 10 * MICRO), "{run:?}");
    assert!(near(run.service.ns_at(100.0), 100 * MILLI));
    assert!(run.response.ns_at(99.0) > 85 * MILLI, "{:?}", run.response.table());
    assert!(run.response.ns_at(95.0) > 45 * MILLI && run.response.ns_at(85.0) < 20 * MICRO);
    // It catches up, so the rate is kept.
    assert_eq!((run.invalid, run.lost), (None, 0));
    let worst = run.windows.iter().map(|window| window.max).max();
    assert!(near(worst.unwrap(), 100 * MILLI) && run.windows.len() == 200);
    // Each stall is due in the last piece of a window, and delays those of the next.
    assert_eq!(run.windows.iter().filter(|window| window.max > 50 * MILLI).count(), 40);
}

#[test]
fn a_generator_that_is_too_slow_is_reported() {
    let clock = Simulated::default();
    let mut work = Work::new(&clock, |_| 2 * MILLI);
    let plan = Plan::open(Arrivals::Fixed, 1_000.0).iterations(1_000);
    let run = measure(&plan, &mut work, &clock, &Control::default()).unwrap().remove(0);
    let Some(Invalid::SlowGenerator(offered, target)) = run.invalid else { panic!("{run:?}") };
    assert!((offered - 500.0).abs() < 1.0 && (target - 1_000.0).abs() < 1e-6);
    assert!(run.response.ns_at(100.0) > 990 * MILLI && near(run.service.ns_at(100.0), 2 * MILLI));
    // What the generator added is on record.
    assert!(run.delay.ns_at(100.0) > 990 * MILLI);
}

#[test]
fn a_run_that_takes_far_longer_than_its_schedule_is_given_up() {
    let clock = Simulated::default();
    let mut work = Work::new(&clock, |_| SECOND);
    let plan = Plan::open(Arrivals::Fixed, 1_000.0).iterations(1_000).timeout(Duration::from_secs(1));
    let run = measure(&plan, &mut work, &clock, &Control::default()).unwrap().remove(0);
    assert_eq!((run.invalid, run.service.count()), (Some(Invalid::TimedOut), 4));
}

#[test]
fn the_task_is_called_in_order_and_the_warm_up_is_paced_but_not_measured() {
    let clock = Simulated::default();
    let mut begun = Vec::new();
    let mut work = Work::new(&clock, |piece: Piece| {
        begun.push(piece.started);
        if piece.number < 10 { 90 * MICRO } else { 7 * MICRO }
    });
    let plan = Plan::open(Arrivals::Fixed, 10_000.0).warm_up(10).iterations(20).runs(2);
    let runs = measure(&plan, &mut work, &clock, &Control::default()).unwrap();
    assert_eq!(work.calls, ["init", "warmed_up", "run 0", "run 1", "complete"]);
    for run in &runs {
        assert_eq!((run.response.count(), run.invalid.clone()), (20, None));
        assert!(near(run.response.ns_at(100.0), 7 * MICRO) && near(run.response.min_ns(), 7 * MICRO));
        let (name, half) = &run.probes[0];
        assert!(name == "half" && near(half.ns_at(50.0), 3_500) && half.count() == 20);
    }
    assert!(begun[..10].windows(2).all(|pair| pair[1] - pair[0] == 100 * MICRO));
}

/// Work whose pieces end when their time has come, which is noticed while the harness waits.
struct Answers<'c> {
    clock: &'c Simulated,
    recorder: Option<Recorder>,
    /// How long after its beginning a piece ends; `None` for one that does not.
    takes: fn(u64) -> Option<u64>,
    pending: Vec<(u64, u64)>,
}

impl Task for Answers<'_> {
    fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
        self.recorder = Some(recorder.clone());
        Ok(())
    }

    fn run(&mut self, piece: Piece) -> Result<(), String> {
        self.pending.extend((self.takes)(piece.number).map(|takes| (piece.number, piece.started + takes)));
        self.idle()
    }

    fn idle(&mut self) -> Result<(), String> {
        let (now, recorder) = (self.clock.now(), self.recorder.as_ref().unwrap());
        self.pending.retain(|&(number, at)| {
            if at <= now {
                recorder.finish(number, at);
            }
            at > now
        });
        Ok(())
    }
}

fn answers(plan: &Plan, takes: fn(u64) -> Option<u64>) -> Vec<Run> {
    let clock = Simulated::default();
    let mut task = Answers { clock: &clock, recorder: None, takes, pending: Vec::new() };
    measure(plan, &mut task, &clock, &Control::default()).unwrap()
}

#[test]
fn lost_samples_make_a_run_invalid_and_late_ones_are_told_from_them() {
    let plan = Plan::open(Arrivals::Fixed, 1_000.0).iterations(100).runs(2).timeout(Duration::from_millis(5));
    let takes = |number| match number {
        20 => None,
        // After its run's time is over, but during the next run.
        99 => Some(20 * MILLI),
        _ => Some(30 * MICRO),
    };
    let runs = answers(&plan, takes);
    assert_eq!(runs.iter().map(|run| (run.lost, run.late)).collect::<Vec<_>>(), [(2, 1), (0, 0)]);
    assert_eq!((&runs[0].invalid, &runs[1].invalid), (&Some(Invalid::Lost(2)), &None));
    assert!(near(runs[0].response.ns_at(100.0), 30 * MICRO) && runs[0].response.count() == 98);
}

#[test]
fn a_system_that_completes_too_few_is_told_from_a_slow_generator() {
    let plan = Plan::open(Arrivals::Fixed, 1_000.0).iterations(1_000);
    // One every 2 ms.
    let run = answers(&plan, |number| Some((number + 1) * MILLI)).remove(0);
    assert!(matches!(run.invalid, Some(Invalid::SlowSystem(achieved, _)) if (achieved - 500.0).abs() < 1.0));
    assert!(near(run.delay.ns_at(100.0), 1));
}

#[test]
fn a_run_of_one_piece_has_no_rate_and_still_a_response_time() {
    let plan = Plan::open(Arrivals::Fixed, 1_000.0).iterations(1);
    let run = answers(&plan, |_| Some(MILLI)).remove(0);
    assert_eq!((run.target_rate, run.response.count()), (None, 1));
    assert_eq!(run.latencies(), &run.response);
}

#[test]
fn a_closed_loop_waits_for_each_piece_and_has_no_response_time() {
    let plan = Plan::closed().iterations(50);
    let run = answers(&plan, |number| Some(if number == 9 { 100 * MILLI } else { 10 * MICRO })).remove(0);
    assert_eq!((run.response.count(), run.service.count(), run.target_rate), (0, 50, None));
    assert_eq!(run.latencies(), &run.service);
    assert!(near(run.service.ns_at(50.0), 10 * MICRO) && near(run.service.ns_at(100.0), 100 * MILLI));
}

#[test]
fn a_closed_loop_ends_when_nothing_is_answered_any_more() {
    let plan = Plan::closed().iterations(10_000);
    let run = answers(&plan, |number| (number < 5 || number == 6).then_some(10 * MICRO)).remove(0);
    // The sixth is lost alone, then the eighth and those after it.
    assert_eq!((run.service.count(), run.lost, run.invalid), (6, 4, Some(Invalid::Lost(4))));
}

#[test]
fn ends_of_no_piece_and_second_ends_are_counted() {
    struct Twice(Option<Recorder>);
    impl Task for Twice {
        fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
            self.0 = Some(recorder.clone());
            Ok(())
        }
        fn run(&mut self, piece: Piece) -> Result<(), String> {
            let recorder = self.0.as_ref().unwrap();
            recorder.finish(piece.number, piece.started + 5);
            recorder.finish(piece.number, piece.started + 9);
            recorder.finish_stamped(piece.intended + 1, piece.started + 9);
            Ok(())
        }
    }
    let plan = Plan::open(Arrivals::Fixed, 1_000.0).iterations(10);
    let run = measure(&plan, &mut Twice(None), &Simulated::default(), &Control::default()).unwrap().remove(0);
    assert_eq!((run.stray, run.service.ns_at(100.0), run.invalid), (20, 5, None));
}

#[test]
fn an_interrupted_measurement_returns_what_it_has() {
    let (clock, control) = (Simulated::default(), Control::default());
    let mut work = Work::new(&clock, |piece: Piece| {
        if piece.number == 29 {
            control.stop();
        }
        MICRO
    });
    let plan = Plan::open(Arrivals::Fixed, 1_000.0).iterations(20).runs(2);
    let runs = measure(&plan, &mut work, &clock, &control).unwrap();
    let found: Vec<_> = runs.iter().map(|run| (run.service.count(), run.invalid.clone())).collect();
    assert_eq!(found, [(20, None), (10, Some(Invalid::Interrupted))]);
    assert_eq!(work.calls.last(), Some(&"complete"));
}

#[test]
fn the_error_of_a_task_ends_the_measurement_and_the_task_is_completed() {
    struct Fails(bool);
    impl Task for Fails {
        fn init(&mut self, _: &Recorder) -> Result<(), String> {
            Ok(())
        }
        fn run(&mut self, _: Piece) -> Result<(), String> {
            Err("no session".into())
        }
        fn complete(&mut self) -> Result<(), String> {
            self.0 = true;
            Err("not this one".into())
        }
    }
    let mut task = Fails(false);
    let plan = Plan::open(Arrivals::Fixed, 1_000.0);
    let measured = measure(&plan, &mut task, &Simulated::default(), &Control::default());
    assert_eq!((measured, task.0), (Err("no session".to_owned()), true));
}

#[test]
fn the_search_finds_the_highest_rate_that_keeps_the_bound_whatever_the_range() {
    let bound = Bound { percentile: 99.0, ns: MILLI };
    // A system that takes longer the more it has to do.
    let at = |rate: f64| {
        let clock = Simulated::default();
        let mut work = Work::new(&clock, |_| if rate > 30_000.0 { 40 * MICRO } else { 5 * MICRO });
        let plan = Plan::open(Arrivals::Fixed, rate).iterations(5_000);
        measure(&plan, &mut work, &clock, &Control::default())
    };
    let found = highest_rate(bound, (1_000.0, 1_000_000.0), 0.02, at).unwrap();
    let (rate, too_high) = (found.rate.unwrap(), found.too_high.unwrap());
    assert!(rate <= 30_000.0 && too_high > 30_000.0 && too_high <= rate * 1.02, "{rate} {too_high}");
    let found = highest_rate(bound, (1_000.0, 20_000.0), 0.02, at).unwrap();
    assert_eq!((found.rate, found.too_high), (Some(20_000.0), None));
    let found = highest_rate(bound, (50_000.0, 90_000.0), 0.02, at).unwrap();
    assert_eq!((found.rate, found.too_high, found.tried.len()), (None, Some(50_000.0), 1));
}

#[test]
fn a_rate_whose_run_was_interrupted_is_not_too_high_and_one_without_samples_keeps_no_bound() {
    let bound = Bound { percentile: 99.0, ns: MILLI };
    let at = |rate: f64| {
        let clock = Simulated::default();
        let control = Control::default();
        let mut work = Work::new(&clock, |piece| {
            if rate > 1_500.0 && piece.number == 10 {
                control.stop();
            }
            5 * MICRO
        });
        measure(&Plan::open(Arrivals::Fixed, rate).iterations(100), &mut work, &clock, &control)
    };
    let found = highest_rate(bound, (1_000.0, 1_000_000.0), 0.02, at).unwrap();
    assert_eq!((found.rate, found.too_high, found.tried.len()), (Some(1_000.0), None, 2));
    assert!(!bound.is_kept_by(&[Run::open(&[])]));
}

/// Work of a fixed duration that owns what it needs.
struct Fixed<'c>(Work<'c, fn(Piece) -> u64>);

impl Task for Fixed<'_> {
    fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
        self.0.init(recorder)
    }
    fn run(&mut self, piece: Piece) -> Result<(), String> {
        self.0.run(piece)
    }
}

#[test]
fn a_load_measures_each_rate_or_searches_or_closes_the_loop() {
    let control = Control::default();
    let measured = |load: &Load| {
        // A task borrows the clock for good.
        let clock: &'static Simulated = Box::leak(Box::default());
        let task = || Ok(Box::new(Fixed(Work::new(clock, |_| 10 * MICRO))) as Box<dyn Task>);
        load.measure(clock, &control, task).unwrap()
    };
    let mut load = Load::at(Plan::closed().iterations(500).runs(2), &[1_000.0, 200_000.0]);
    let sweep = measured(&load);
    let valid = |runs: &[Run]| runs.iter().all(|run| run.invalid.is_none());
    let found: Vec<_> = sweep.rates.iter().map(|(rate, runs)| (*rate, runs.len(), valid(runs))).collect();
    assert_eq!(found, [(Some(1_000.0), 2, true), (Some(200_000.0), 2, false)]);
    assert_eq!(sweep.found, None);
    load.bound = Some("p99<=12us".parse().unwrap());
    let found = measured(&load).found.unwrap();
    assert!(found.rate.unwrap() > 90_000.0 && found.rate.unwrap() <= 101_000.0, "{:?}", found.rate);
    load.arrivals = None;
    let closed = measured(&load);
    assert!(closed.found.is_none() && closed.rates[0].0.is_none() && closed.rates[0].1.len() == 2);
}

#[test]
fn a_bound_is_read_from_text() {
    let read = |text: &str| text.parse::<Bound>();
    assert_eq!(read("p99<=100us"), Ok(Bound { percentile: 99.0, ns: 100_000 }));
    assert_eq!(read("p99.9 <= 1.5 ms"), Ok(Bound { percentile: 99.9, ns: 1_500_000 }));
    for wrong in ["", "p99", "p99<=100", "p0<=1us", "99<=1us", "p99<=us", "p99<=-1us"] {
        assert_eq!(read(wrong), Err(format!("{wrong:?} is no bound like p99<=100us")));
    }
}

#[test]
fn the_real_clock_paces_both_ways_of_waiting() {
    for waiting in [Waiting::Sleep, Waiting::Spin] {
        let plan = Plan::open(Arrivals::Fixed, 1_000.0).iterations(30).waiting(waiting);
        let begin = Monotonic.now();
        let run = measure(&plan, &mut Nothing::default(), &Monotonic, &Control::default()).unwrap().remove(0);
        assert!(Monotonic.now() - begin >= 29 * MILLI);
        assert_eq!((run.response.count(), run.lost), (30, 0));
    }
}

mod summaries {
    use proptest::prelude::*;

    use super::super::latencies::*;

    fn of(values: &[u64]) -> Latencies {
        let mut latencies = Latencies::default();
        values.iter().for_each(|&ns| latencies.add_ns(ns));
        latencies
    }

    proptest! {
        #[test]
        fn histograms_agree_with_exact_percentiles_within_their_resolution(
            mut values in prop::collection::vec(prop_oneof![1u64..2_000, 1u64..3_600_000_000_000], 1..400),
            percentile in 0.1f64..100.0,
        ) {
            let latencies = of(&values);
            values.sort_unstable();
            for percentile in PERCENTILES.into_iter().chain([percentile]) {
                let rank = (percentile / 100.0 * values.len() as f64 - 1e-9).ceil() as usize;
                let exact = values[rank.clamp(1, values.len()) - 1];
                let found = latencies.ns_at(percentile);
                prop_assert!(
                    found >= exact && found - exact <= exact / 1_000,
                    "{percentile}: {found} for {exact}"
                );
            }
            prop_assert_eq!(latencies.count(), values.len() as u64);
        }

        #[test]
        fn merging_runs_is_associative_and_equals_one_long_run(
            runs in prop::array::uniform3(prop::collection::vec(1u64..10_000_000_000, 0..50)),
        ) {
            let [a, b, c] = [0, 1, 2].map(|run| of(&runs[run]));
            let merged = |a: &Latencies, b: &Latencies| {
                let mut both = a.clone();
                both.merge(b);
                both
            };
            let left = merged(&merged(&a, &b), &c);
            prop_assert_eq!(&left, &merged(&a, &merged(&b, &c)));
            prop_assert_eq!(&left, &of(&runs.concat()));
        }

        #[test]
        fn buckets_make_an_equal_one(values in prop::collection::vec(1u64..10_000_000_000, 0..50)) {
            let latencies = of(&values);
            let mut again = Latencies::default();
            latencies.buckets().into_iter().for_each(|(ns, count)| again.add_many(ns, count));
            prop_assert_eq!(again.table(), latencies.table());
            prop_assert_eq!(again.buckets(), latencies.buckets());
        }
    }

    #[test]
    fn a_rank_that_is_whole_is_not_rounded_up() {
        // 1 to 2,000 us, each once: p99.9 is the 1,998th.
        let latencies = of(&(1..=2_000).map(|n| n * 1_000).collect::<Vec<_>>());
        for (percentile, micros) in [(50.0, 1_000), (90.0, 1_800), (99.0, 1_980), (99.9, 1_998)] {
            let found = latencies.ns_at(percentile);
            // Three digits: the buckets here are 1,024 ns wide.
            assert!((micros * 1_000..micros * 1_000 + 1_024).contains(&found), "{percentile}: {found}");
        }
        assert_eq!(latencies.ns_at(100.0) / 1_000, 2_000);
    }

    #[test]
    fn percentiles_that_the_count_does_not_carry_are_marked_and_kept() {
        let carried = |count| {
            let mut latencies = Latencies::default();
            latencies.add_many(5_000, count);
            latencies.table().map(|row| row.carried)
        };
        assert_eq!(carried(99_999), [true, true, true, false, false, true]);
        assert_eq!(carried(100_000), [true, true, true, true, false, true]);
        assert_eq!(carried(1_000_000), [true; 6]);
        assert_eq!(carried(0), [false; 6]);
    }

    #[test]
    fn the_variation_is_that_of_the_published_tables() {
        // Chronicle FIX and QuickFIX/J, JLBH Examples 4: the percentiles of three runs, and their
        // % Variation. Percentages are truncated or rounded there.
        for (runs, published) in [
            ([184.32, 176.13, 176.13], 0.00),
            ([573.44, 270.34, 249.86], 5.18),
            ([26.11, 30.21, 23.04], 17.18),
            ([35.84, 39.94, 33.79], 10.81),
            ([16.90, 16.90, 16.13], 3.08),
        ] {
            let found = variation(&runs).unwrap();
            assert!((found - published).abs() < 0.06, "{runs:?}: {found}");
        }
        assert_eq!(variation(&[1.0, 2.0]), None);
        assert_eq!(spread(&[10.0, 12.0, 9.0]), Some(30.0));
        assert_eq!(spread(&[10.0]), None);
    }
}
