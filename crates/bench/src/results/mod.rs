//! Results: what every benchmark returns, and the forms in which it is shown and kept.
//!
//! A [`Report`] is one run of `fixbolt bench`: the machine and, for each test, figures ([`Row`]),
//! series of latency runs ([`Series`]) and [`Table`]s laid out as people know them. The tests fill
//! it in; they do not know how it is displayed.

mod assertion;
mod compare;
mod csv;
mod glance;
mod hgrm;
mod html;
mod json;
mod markdown;
mod parts;
mod report;
pub(crate) mod row;
mod series;
mod statistic;
mod summary;
mod table;
mod text;

pub use self::assertion::{Assertion, Judgement};
pub use self::compare::{Comparison, Difference, compare};
pub use self::csv::csv;
pub use self::hgrm::hgrm;
pub use self::html::html;
pub use self::json::{from_json_lines, json_lines};
pub use self::markdown::markdown;
pub use self::parts::of_parts;
pub use self::report::{Report, TestReport};
pub use self::row::{Row, STEADY};
pub(crate) use self::row::{noted, percentile_name, unsteady};
#[cfg(test)]
pub(crate) use self::series::percentile_table;
pub use self::series::{Series, TimeKind};
pub use self::statistic::{Part, Parts, Statistic};
pub use self::table::Table;

#[cfg(test)]
mod tests;
