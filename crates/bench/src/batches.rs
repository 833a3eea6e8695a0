//! Codec-type measures: CPU time of the thread per message, the median of batches in which the
//! operations alternate.

use fixbolt_workloads::clock::timed;
use fixbolt_workloads::harness::{Contest, Control, alternate};

use crate::messages::RING;
use crate::results::{Part, Row};

/// How many batches each operation has.
pub const BATCHES: usize = 11;

/// What one process measured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Measured {
    /// The figures.
    pub rows: Vec<Row>,
    /// What was not measured, and why.
    pub notes: Vec<String>,
}

/// An operation over a ring of messages, checked and ready to be timed.
pub struct Work<'w> {
    /// What it is; its figure is not measured yet.
    pub row: Row,
    /// The number of messages in its ring.
    pub messages: usize,
    /// Does it with every message of the ring, this many times.
    pub rounds: Box<dyn FnMut(usize) + 'w>,
}

impl std::fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("row", &self.row).finish_non_exhaustive()
    }
}

impl<'w> Work<'w> {
    /// Creates an operation.
    pub fn new(row: Row, messages: usize, rounds: impl FnMut(usize) + 'w) -> Self {
        Self { row, messages, rounds: Box::new(rounds) }
    }
}

/// Measures each operation in `batches` batches of `rounds` rounds, in turn, and returns their
/// rows: the median batch, and how far apart the batches are in per cent, named `spread`. A ring
/// of more than [`RING`] messages has fewer rounds, at least one, so that its batches are not
/// longer than they have to be. If `control` stops the measurement before the first batches, there
/// are no rows.
#[must_use]
pub fn measure(works: &mut [Work<'_>], batches: usize, rounds: usize, control: &Control) -> Vec<Row> {
    let mut contestants: Vec<_> = works
        .iter_mut()
        .map(|work| {
            let Work { row, messages, rounds: run } = work;
            let rounds = (rounds * RING / (*messages).max(RING)).max(1);
            let messages = *messages * rounds;
            Contest::new(row.key(), move || {
                let (time, ()) = timed(|| run(rounds));
                #[expect(clippy::cast_precision_loss, reason = "less than 2^53 ns")]
                Ok(time.as_nanos() as f64 / messages as f64)
            })
        })
        .collect();
    let measured = alternate(&mut contestants, batches, control);
    drop(contestants);
    let measured = measured.unwrap_or_default();
    let figure = |(work, batches): (&Work<'_>, Vec<f64>)| work.row.clone().median_of(Part::Batch, batches);
    works.iter().zip(measured).filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_has_its_batches_in_turn_and_a_figure_per_message() {
        let order = std::cell::RefCell::new(Vec::new());
        let work = |operation: &'static str, messages: usize, spin: u64| {
            let order = &order;
            Work::new(Row::of_ns("codec", "NOS-222", operation, 0.0), messages, move |rounds| {
                order.borrow_mut().push((operation, rounds));
                std::hint::black_box((0..spin).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
            })
        };
        let mut works = [work("index", 64, 100_000), work("encode", 1, 100_000)];
        let rows = measure(&mut works, 3, 10, &Control::default());
        let turns = [("index", 10), ("encode", 10)];
        assert_eq!(*order.borrow(), [turns, turns, turns].concat());
        assert_eq!(rows.iter().map(|row| row.operation.as_str()).collect::<Vec<_>>(), ["index", "encode"]);
        assert!(rows.iter().all(|row| row.figure().0 > 0.0 && row.more["spread"] >= 0.0));
    }

    #[test]
    fn a_large_ring_has_fewer_rounds_but_one_at_least() {
        let all = std::cell::RefCell::new(Vec::new());
        let work = |messages: usize| {
            let all = &all;
            Work::new(Row::of_ns("codec", "NOS-222", "index", 0.0), messages, move |rounds| {
                all.borrow_mut().push(rounds);
            })
        };
        let mut works = [1, RING, 10 * RING, 1000 * RING].map(work);
        assert_eq!(measure(&mut works, 1, 100, &Control::default()).len(), 4);
        assert_eq!(*all.borrow(), [100, 100, 10, 1]);
    }

    #[test]
    fn a_measurement_that_is_stopped_at_once_has_no_rows() {
        let control = Control::default();
        control.stop();
        let mut works = [Work::new(Row::of_ns("codec", "NOS-222", "index", 0.0), 1, |_| ())];
        assert_eq!(measure(&mut works, 3, 1, &control), []);
    }

    #[test]
    fn the_figure_is_the_median_and_one_batch_has_no_spread() {
        let row = Row::of_ns("codec", "NOS-222", "index", 0.0);
        let of = |batches: &[f64]| row.clone().median_of(Part::Batch, batches.to_vec());
        let figure = of(&[10.0, 30.0, 20.0]).unwrap();
        assert_eq!((figure.ns, figure.worst, figure.more["spread"]), (Some(20.0), Some(30.0), 100.0));
        assert_eq!(figure.statistic.to_string(), "median of 3 batches");
        assert!(of(&[10.0]).unwrap().more.is_empty() && of(&[]).is_none());
    }
}
