//! The latency harness: runs any piece of work by a schedule, and records when it was due, when it
//! began and when it ended.
//!
//! In an open loop the schedule is fixed before the first piece begins, and no stall moves it:
//! *response time* counts from when a piece was due, *service time* from when it really began. Both
//! come from the same run, so their difference is what a measurement with coordinated omission
//! hides. In a closed loop a piece begins when the one before it has ended; there is only service
//! time then, and no rate is promised.
//!
//! Recording a sample is one store to memory that was written before; percentiles, rates and losses
//! are computed after the run. Nothing here knows FIX.
//!
//! ```
//! use fixbolt_workloads::harness::{Arrivals, Control, Monotonic, Piece, Plan, Recorder, Task};
//! use fixbolt_workloads::harness::{Clock as _, measure};
//!
//! /// Sorts a thousand numbers, backwards at first.
//! struct Sort(Option<Recorder>);
//!
//! impl Task for Sort {
//!     fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
//!         self.0 = Some(recorder.clone());
//!         Ok(())
//!     }
//!
//!     fn run(&mut self, piece: Piece) -> Result<(), String> {
//!         let mut numbers: Vec<u32> = (0..1_000).rev().collect();
//!         numbers.sort_unstable();
//!         assert_eq!(numbers[0], 0);
//!         self.0.as_ref().unwrap().finish(piece.number, Monotonic.now());
//!         Ok(())
//!     }
//! }
//!
//! let plan = Plan::open(Arrivals::Fixed, 2_000.0).iterations(200).runs(2);
//! let runs = measure(&plan, &mut Sort(None), &Monotonic, &Control::default())?;
//! assert_eq!((runs.len(), runs[0].response.count(), runs[0].lost), (2, 200, 0));
//! # Ok::<(), String>(())
//! ```

mod alternate;
mod clock;
mod control;
mod driver;
mod latencies;
mod load;
mod nothing;
mod outcome;
mod plan;
mod recorder;
mod schedule;
mod search;
mod system_calls;
mod usage;

#[cfg(test)]
mod tests;

pub use self::alternate::{Contest, SLICES, again_if, alternate};
pub use self::clock::{Clock, Monotonic};
pub use self::control::Control;
pub use self::driver::{Piece, Task, measure};
pub use self::latencies::{Latencies, PERCENTILES, Percentile, carried_by, spread, variation};
pub use self::load::{Load, Measured};
pub use self::nothing::Nothing;
pub use self::outcome::{Invalid, Run, Times, Window};
pub use self::plan::{LEAST_RATE, Mode, Plan, Waiting};
pub use self::recorder::Recorder;
pub use self::schedule::{Arrivals, Schedule};
pub use self::search::{Bound, Found, highest_rate};
pub use self::system_calls::counting_system_calls;
pub use self::usage::Usage;
