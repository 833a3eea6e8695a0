//! A venue's reports on an order: ExecutionReports of every version, and how many of each kind.

use fixbolt_codec::{
    BodyWriter, Decimal, FieldError, FieldErrorKind, Key, Message, MsgType, Tag, UtcTimestamp, ValueError,
    Version,
};

use crate::random::Random;

/// ExecutionReport.
pub const EXECUTION_REPORT: MsgType = MsgType::new(b"8");

/// The kinds of ExecutionReport, by OrdStatus (39).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// The order is rejected (8).
    Rejected,
    /// The order is canceled (4).
    Canceled,
    /// The order is accepted (0).
    Confirmed,
    /// Part of the order is filled (1).
    PartialFill,
    /// The order is filled completely (2).
    Fill,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Rejected, Self::Canceled, Self::Confirmed, Self::PartialFill, Self::Fill];

    /// Returns the kind with this OrdStatus (39).
    #[must_use]
    pub const fn of(ord_status: &[u8]) -> Option<Self> {
        match ord_status {
            b"8" => Some(Self::Rejected),
            b"4" => Some(Self::Canceled),
            b"0" => Some(Self::Confirmed),
            b"1" => Some(Self::PartialFill),
            b"2" => Some(Self::Fill),
            _ => None,
        }
    }

    /// Returns OrdStatus (39), which in FIX.4.2 is also ExecType (150).
    #[must_use]
    pub const fn ord_status(self) -> &'static [u8] {
        match self {
            Self::Rejected => b"8",
            Self::Canceled => b"4",
            Self::Confirmed => b"0",
            Self::PartialFill => b"1",
            Self::Fill => b"2",
        }
    }

    /// Returns whether no further report follows.
    #[must_use]
    pub const fn is_last(self) -> bool {
        matches!(self, Self::Rejected | Self::Canceled | Self::Fill)
    }

    /// Returns whether it is the first report for an order of the mix.
    #[must_use]
    pub const fn is_first(self) -> bool {
        matches!(self, Self::Rejected | Self::Canceled | Self::Confirmed)
    }
}

/// The fate of an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// One report: rejected.
    Reject,
    /// One report: canceled.
    Cancel,
    /// Confirmed, then filled in this many parts.
    Fills(u64),
}

impl Fate {
    /// Decides the fate of an order: 8 in 100 are rejected, 8 canceled, the others confirmed and
    /// filled in one to six parts (never more than its quantity), about 3.9 reports per order on
    /// average. It depends only on the seed and ClOrdID, so that a message that is delivered again
    /// gets the same reports.
    #[must_use]
    pub fn of(seed: u64, cl_ord_id: &[u8], quantity: u64) -> Self {
        let mut random = Random::of(seed, cl_ord_id);
        match random.between(1, 100) {
            1..=8 => Self::Reject,
            9..=16 => Self::Cancel,
            _ => Self::Fills(random.between(1, 6).min(quantity.max(1))),
        }
    }

    /// Returns the number of reports.
    #[must_use]
    pub const fn reports(self) -> u64 {
        match self {
            Self::Reject | Self::Cancel => 1,
            Self::Fills(parts) => 1 + parts,
        }
    }
}

/// An ExecutionReport (8).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report<'r> {
    /// Its kind.
    pub kind: Kind,
    /// OrderID (37).
    pub order_id: &'r [u8],
    /// ExecID (17).
    pub exec_id: &'r [u8],
    /// ClOrdID (11).
    pub cl_ord_id: &'r [u8],
    /// Symbol (55).
    pub symbol: &'r [u8],
    /// Side (54).
    pub side: &'r [u8],
    /// OrderQty (38).
    pub quantity: Decimal,
    /// Price (44), of a limit order.
    pub price: Option<Decimal>,
    /// LastShares, LastQty (32) and LastPx (31), for a fill.
    pub last: Option<(Decimal, Decimal)>,
    /// LeavesQty (151).
    pub leaves: Decimal,
    /// CumQty (14).
    pub cumulated: Decimal,
    /// AvgPx (6).
    pub average: Decimal,
    /// TransactTime (60).
    pub transact_time: UtcTimestamp,
    /// Text (58).
    pub text: Option<&'r [u8]>,
}

impl<'r> Report<'r> {
    /// Writes the body of the report. Up to FIX.4.2 it has ExecTransType (20), and ExecType (150),
    /// since FIX.4.1, equals OrdStatus (39); from FIX.4.3 on the ExecType of a fill is `F`. Up to
    /// FIX.4.1 every report has LastShares (32) and LastPx (31); FIX.4.0 has no LeavesQty (151).
    pub fn write(&self, body: &mut BodyWriter<'_>, version: Version) {
        const ORDER_ID: Key = Key::new(37);
        const CL_ORD_ID: Key = Key::new(11);
        const EXEC_ID: Key = Key::new(17);
        const EXEC_TRANS_TYPE: Key = Key::new(20);
        const EXEC_TYPE: Key = Key::new(150);
        const ORD_STATUS: Key = Key::new(39);
        const SYMBOL: Key = Key::new(55);
        const SIDE: Key = Key::new(54);
        const ORDER_QTY: Key = Key::new(38);
        const PRICE: Key = Key::new(44);
        const LAST_QTY: Key = Key::new(32);
        const LAST_PX: Key = Key::new(31);
        const LEAVES_QTY: Key = Key::new(151);
        const CUM_QTY: Key = Key::new(14);
        const AVG_PX: Key = Key::new(6);
        const TRANSACT_TIME: Key = Key::new(60);
        const TEXT: Key = Key::new(58);
        body.bytes(ORDER_ID, self.order_id).bytes(CL_ORD_ID, self.cl_ord_id).bytes(EXEC_ID, self.exec_id);
        let until_42 = version <= Version::Fix42;
        if until_42 {
            body.bytes(EXEC_TRANS_TYPE, b"0");
        }
        let filled = matches!(self.kind, Kind::PartialFill | Kind::Fill);
        let exec_type = if filled && !until_42 { b"F" } else { self.kind.ord_status() };
        if version >= Version::Fix41 {
            body.bytes(EXEC_TYPE, exec_type);
        }
        body.bytes(ORD_STATUS, self.kind.ord_status())
            .bytes(SYMBOL, self.symbol)
            .bytes(SIDE, self.side)
            .field(ORDER_QTY, &self.quantity);
        if let Some(price) = &self.price {
            body.field(PRICE, price);
        }
        let none = Decimal::from_parts(0, 0);
        let last = self.last.or((version <= Version::Fix41).then_some((none, none)));
        if let Some((quantity, price)) = &last {
            body.field(LAST_QTY, quantity).field(LAST_PX, price);
        }
        if version >= Version::Fix41 {
            body.field(LEAVES_QTY, &self.leaves);
        }
        body.field(CUM_QTY, &self.cumulated)
            .field(AVG_PX, &self.average)
            .field(TRANSACT_TIME, &self.transact_time);
        if let Some(text) = self.text {
            body.bytes(TEXT, text);
        }
    }

    /// Reads a report that [`Report::write`] wrote.
    ///
    /// # Errors
    /// Returns an error for the first field that is missing or not of its type.
    pub fn read(message: &Message<'r>) -> Result<Self, FieldError> {
        let text = |tag| message.required(Tag::new(tag));
        let amount = |tag| message.required(Tag::new(tag));
        let (order_id, cl_ord_id, exec_id) = (text(37)?, text(11)?, text(17)?);
        let status = FieldError::new(Tag::new(39), FieldErrorKind::Value(ValueError::OutOfRange));
        let kind = Kind::of(text(39)?).ok_or(status)?;
        let (symbol, side, quantity) = (text(55)?, text(54)?, amount(38)?);
        let price = message.optional(Tag::new(44))?;
        let last = match kind {
            Kind::PartialFill | Kind::Fill => Some((amount(32)?, amount(31)?)),
            _ => None,
        };
        let (leaves, cumulated, average) = (amount(151)?, amount(14)?, amount(6)?);
        let transact_time = message.required(Tag::new(60))?;
        let text = if kind == Kind::Rejected { message.optional(Tag::new(58))? } else { None };
        Ok(Self {
            kind,
            order_id,
            exec_id,
            cl_ord_id,
            symbol,
            side,
            quantity,
            price,
            last,
            leaves,
            cumulated,
            average,
            transact_time,
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_about_three_point_nine_reports_an_order_and_repeats() {
        let (mut reports, mut rejects, mut cancels) = (0, 0, 0);
        for n in 0..10_000_u32 {
            let id = format!("o-{n}");
            let fate = Fate::of(1, id.as_bytes(), 100);
            assert_eq!(fate, Fate::of(1, id.as_bytes(), 100));
            reports += fate.reports();
            rejects += u32::from(fate == Fate::Reject);
            cancels += u32::from(fate == Fate::Cancel);
        }
        assert!((38_000..40_500).contains(&reports), "{reports}");
        assert!((650..950).contains(&rejects) && (650..950).contains(&cancels), "{rejects} {cancels}");
        assert!(
            (0..1_000_u32).all(|n| Fate::of(1, &n.to_be_bytes(), 1).reports() <= 2),
            "one share is one fill"
        );
    }

    #[test]
    fn every_kind_is_found_by_its_status() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.ord_status()), Some(kind));
        }
        assert_eq!(Kind::of(b"Z"), None);
    }
}
