//! The contents of the two journals, read back from disk: the page's counts, and every
//! inconsistency.

use std::path::Path;

use fixbolt_cli::exit::Failure;
use fixbolt_codec::{Decimal, FromField, Index, Message, Span, Tag};
use fixbolt_journal::JournalReader;
use fixbolt_journal::inspect::{self, SessionReport};
use fixbolt_session::store::{RecordFlags, RecordKind};
use fixbolt_workloads::orders::order_number;
use fixbolt_workloads::own_messages::{OwnMessages, Spent};
use fixbolt_workloads::reports::Kind;

use super::run::{Measured, Run};
use crate::journal::refused;

/// The contents of both sides' journals.
#[derive(Debug)]
pub(super) struct Audit {
    /// The number of orders in the trader's journal.
    pub(super) orders: u64,
    /// The number of reports of each kind in the trader's journal, in the order of [`Kind::ALL`].
    pub(super) kinds: [u64; Kind::ALL.len()],
    /// The result of verifying each side's journal.
    pub(super) trader: SessionReport,
    pub(super) venue: SessionReport,
    /// The codec's time for the run's orders.
    pub(super) order_codec: Spent,
    /// The codec's time for the run's reports.
    pub(super) report_codec: Spent,
    /// The inconsistencies, one per line; empty if everything agrees.
    pub(super) complaints: Vec<String>,
}

/// The counts of one side's journal.
struct Side {
    orders: u64,
    kinds: [u64; Kind::ALL.len()],
    /// Messages that are neither an order nor a report of a known kind.
    others: u64,
    report: SessionReport,
}

impl Audit {
    /// Reads the journals of a run.
    pub(super) fn of(run: &Run, measured: &Measured) -> Result<Self, Failure> {
        let count = usize::try_from(run.all_orders()).unwrap_or(usize::MAX);
        let mut book = Book { fates: vec![Fate::default(); count], strangers: 0 };
        let (mut orders, mut reports) = (OwnMessages::default(), OwnMessages::default());
        let trader = side(&run.directory.join("trader"), RecordKind::Outbound, &mut |message| {
            book.add(message);
            match message.msg_type() {
                b"D" => orders.add(message.bytes()),
                _ => reports.add(message.bytes()),
            }
        })?;
        let venue = side(&run.directory.join("venue"), RecordKind::Inbound, &mut |_| {})?;
        let mut audit = Self {
            orders: trader.orders,
            kinds: trader.kinds,
            order_codec: orders.finish(),
            report_codec: reports.finish(),
            complaints: Vec::new(),
            trader: trader.report,
            venue: venue.report,
        };
        audit.compare(run, measured, &book, (trader.others, venue.others), (venue.orders, venue.kinds));
        Ok(audit)
    }

    /// Returns the number of reports of all kinds.
    pub(super) fn reports(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Returns whether each side's next outbound sequence number is the other's next inbound one.
    pub(super) fn numbers_agree(&self) -> bool {
        (self.trader.next_out, self.trader.next_in) == (self.venue.next_in, self.venue.next_out)
    }

    fn compare(
        &mut self,
        run: &Run,
        measured: &Measured,
        book: &Book,
        others: (u64, u64),
        (venue_orders, venue_kinds): (u64, [u64; Kind::ALL.len()]),
    ) {
        let mut complain = |wrong: bool, line: String| {
            if wrong {
                self.complaints.push(line);
            }
        };
        let all = run.all_orders();
        complain(
            self.orders != all,
            format!("the trader's journal contains {} orders, but {all} were sent", self.orders),
        );
        let orders = self.orders;
        complain(
            venue_orders != orders,
            format!("the venue's journal contains {venue_orders} orders, the trader's {orders}"),
        );
        for ((kind, trader), venue) in Kind::ALL.iter().zip(self.kinds).zip(venue_kinds) {
            let line =
                format!("{kind:?}: the venue's journal contains {venue} reports, the trader's {trader}");
            complain(venue != trader, line);
        }
        complain(
            others != (0, 0),
            format!("messages of unknown kind: {} at the trader, {} at the venue", others.0, others.1),
        );
        let open = book.fates.iter().position(|fate| !fate.is_complete());
        if let Some(number) = open {
            let count = book.fates.iter().filter(|fate| !fate.is_complete()).count();
            complain(true, format!("{count} orders did not get their reports; the first is number {number}"));
        }
        complain(book.strangers > 0, format!("{} reports belong to no order", book.strangers));
        let paced = measured.paced.as_ref().map_or(0, |run| run.response.count());
        let expected = run.paced_orders();
        complain(paced != expected, format!("{paced} paced orders were timed, but {expected} were sent"));
        let differing = self.order_codec.differing + self.report_codec.differing;
        complain(differing > 0, format!("{differing} messages had different bytes when written again"));
        let agree = (self.trader.next_out, self.trader.next_in) == (self.venue.next_in, self.venue.next_out);
        complain(
            !agree,
            format!(
                "the sequence numbers differ: trader {} out and {} in, venue {} in and {} out",
                self.trader.next_out, self.trader.next_in, self.venue.next_in, self.venue.next_out
            ),
        );
        for (name, report) in [("trader", &self.trader), ("venue", &self.venue)] {
            complain(
                !report.is_whole(),
                format!("the {name}'s journal is not whole: run `fixbolt journal verify` to see where"),
            );
        }
    }
}

/// What happened to an order, report by report.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    quantity: i64,
    filled: i64,
    first: u32,
    last: u32,
    reports: u32,
    /// Whether a report arrived that was not possible at that point.
    wrong: bool,
}

impl Fate {
    fn is_complete(&self) -> bool {
        let filled = if self.reports == 1 { self.filled == 0 } else { self.filled == self.quantity };
        self.quantity > 0 && !self.wrong && self.first == 1 && self.last == 1 && filled
    }

    fn add(&mut self, kind: Kind, last_quantity: i64) {
        self.wrong |= self.last > 0 || (self.reports == 0) != kind.is_first();
        self.reports += 1;
        self.filled += last_quantity;
        self.first += u32::from(kind.is_first());
        self.last += u32::from(kind.is_last());
    }
}

/// Every order of the run by its number.
struct Book {
    fates: Vec<Fate>,
    strangers: u64,
}

impl Book {
    fn add(&mut self, message: &Message<'_>) {
        let number = message.get(Tag::new(11)).and_then(order_number);
        let place = number.and_then(|number| usize::try_from(number).ok());
        let Some(fate) = place.and_then(|place| self.fates.get_mut(place)) else {
            self.strangers += 1;
            return;
        };
        let whole = |tag| {
            let value = message.get(Tag::new(tag)).and_then(|value| Decimal::from_field(value).ok());
            value.map_or(0, Decimal::mantissa)
        };
        if message.msg_type() == b"D" {
            fate.wrong |= fate.quantity > 0;
            fate.quantity = whole(38);
        } else if let Some(kind) = message.get(Tag::new(39)).and_then(Kind::of) {
            fate.add(kind, whole(32));
        }
    }
}

/// Counts a side's journal; its orders went in the direction `orders`, its reports in the other
/// one. Calls `each` for both.
fn side(directory: &Path, orders: RecordKind, each: &mut dyn FnMut(&Message<'_>)) -> Result<Side, Failure> {
    let reader = JournalReader::open(directory).map_err(|error| refused(&error))?;
    let mut reports = inspect::verify(directory).map_err(|error| refused(&error))?;
    let (Some(journal), Some(report)) = (reader.sessions().first(), reports.pop()) else {
        return Err(Failure::usage(format!("{}: contains no journal", directory.display())));
    };
    let mut side = Side { orders: 0, kinds: [0; Kind::ALL.len()], others: 0, report };
    let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
    let mut index = Index::new(&mut tags, &mut spans);
    for at in journal.records() {
        let record = at.record;
        let is_message = matches!(record.kind, RecordKind::Inbound | RecordKind::Outbound);
        let copy = record.flags.contains(RecordFlags::POSS_DUP);
        if !is_message || copy || record.flags.contains(RecordFlags::ADMIN) {
            continue;
        }
        let Some(message) = fixbolt_workloads::wire::read(&mut index, record.body) else {
            side.others += 1;
            continue;
        };
        let kind = message.get(Tag::new(39)).and_then(Kind::of);
        match (message.msg_type(), kind) {
            (b"D", _) if record.kind == orders => side.orders += 1,
            (b"8", Some(kind)) if record.kind != orders => {
                let place = Kind::ALL.iter().position(|other| *other == kind);
                side.kinds[place.unwrap_or_default()] += 1;
            }
            _ => {
                side.others += 1;
                continue;
            }
        }
        each(&message);
    }
    Ok(side)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(reports: &[(Kind, i64)]) -> Fate {
        let mut fate = Fate { quantity: 100, ..Fate::default() };
        for (kind, quantity) in reports {
            fate.add(*kind, *quantity);
        }
        fate
    }

    #[test]
    fn an_order_is_complete_with_exactly_its_reports() {
        use Kind::{Canceled, Confirmed, Fill, PartialFill, Rejected};
        for good in [
            &[(Rejected, 0)][..],
            &[(Canceled, 0)],
            &[(Confirmed, 0), (Fill, 100)],
            &[(Confirmed, 0), (PartialFill, 40), (PartialFill, 10), (Fill, 50)],
        ] {
            assert!(fate(good).is_complete(), "{good:?}");
        }
        for bad in [
            &[][..],
            &[(Confirmed, 0)],
            &[(Fill, 100)],
            &[(Rejected, 0), (Rejected, 0)],
            &[(Confirmed, 0), (Fill, 99)],
            &[(Confirmed, 0), (Confirmed, 0), (Fill, 100)],
            &[(Confirmed, 0), (Fill, 100), (PartialFill, 0)],
            &[(PartialFill, 100), (Confirmed, 0), (Fill, 0)],
        ] {
            assert!(!fate(bad).is_complete(), "{bad:?}");
        }
    }
}
