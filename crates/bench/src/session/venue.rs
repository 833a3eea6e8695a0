//! The application: it fills every order completely, at its price.

use fixbolt_codec::{BodySink, Decimal, Message, NewBody, Precision, UtcTimestamp};
use fixbolt_messages::fix44::components::{
    Instrument as _, InstrumentWriter as _, OrderQtyData as _, OrderQtyDataWriter as _,
};
use fixbolt_messages::fix44::fields::{ExecType, OrdStatus, Side};
use fixbolt_messages::fix44::{ExecutionReport, NewOrderSingle, execution_report};
use fixbolt_messages::typed::View as _;
use fixbolt_session::{Application, Delivery, Failure, Turn};

use crate::messages::Nos222;

/// What the application reads of an order.
#[derive(Clone, Copy)]
pub(super) struct Order<'m> {
    cl_ord_id: &'m [u8],
    symbol: &'m [u8],
    side: Side,
    quantity: Decimal,
    price: Decimal,
}

impl<'m> Order<'m> {
    /// An order that is known without reading one.
    pub(super) const KNOWN: Order<'static> = Order {
        cl_ord_id: b"7",
        symbol: b"AC",
        side: Side::BUY,
        quantity: Decimal::from_parts(17, 0),
        price: Decimal::from_parts(4_012, 1),
    };

    /// Reads five fields of an order as their types.
    #[inline]
    pub(super) fn read(message: Message<'m>) -> Result<Self, Failure> {
        let order = NewOrderSingle::read(message)?;
        let (cl_ord_id, side) = (order.cl_ord_id()?, order.side()?);
        let symbol = order.need(|order| order.symbol())?;
        let quantity = order.need(|order| order.order_qty())?;
        let price = order.need(|order| order.price())?;
        Ok(Self { cl_ord_id, symbol, side, quantity, price })
    }

    /// Returns whether these are the values of an order of the ring.
    pub(super) fn is(&self, order: &Nos222) -> bool {
        let Self { cl_ord_id, symbol, side, quantity, price } = *self;
        (cl_ord_id, symbol) == (order.cl_ord_id.as_bytes(), order.symbol.as_bytes())
            && side.value() == order.side as u8
            && (quantity, price) == (Decimal::from_parts(order.quantity.cast_signed(), 0), order.price)
    }

    /// Writes the report to `sink`, with `id` as OrderID and ExecID.
    #[inline]
    pub(super) fn report<'b, S: NewBody<'b>>(
        &self,
        sink: S,
        id: &[u8],
        time: u64,
    ) -> Result<<S::Draft as BodySink<'b>>::Receipt, <S::Draft as BodySink<'b>>::Error> {
        let Self { cl_ord_id, symbol, side, quantity, price } = *self;
        let transact_time = UtcTimestamp::from_unix_nanos(time, Precision::Millis);
        let required = execution_report::Required {
            order_id: id,
            exec_id: id,
            exec_type: ExecType::TRADE,
            ord_status: OrdStatus::FILLED,
            side,
            leaves_qty: Decimal::from(0),
            cum_qty: quantity,
            avg_px: price,
        };
        ExecutionReport::send(sink, required, |report| {
            report.cl_ord_id(cl_ord_id).symbol(symbol).order_qty(quantity).price(price);
            report.last_qty(quantity).last_px(price).transact_time(transact_time);
        })
    }
}

/// What the application does with an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Work {
    /// It reads the order and reports.
    #[default]
    ReadAndReport,
    /// It reports without reading the order.
    Report,
    /// It reads the order and reports nothing.
    Read,
}

/// Fills every order completely, at its price. Its OrderIDs are consecutive.
pub(super) struct Venue {
    pub(super) work: Work,
    orders: Count,
}

impl Venue {
    pub(super) fn new(work: Work) -> Self {
        Self { work, orders: Count::default() }
    }
}

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let order = if self.work == Work::Report { Order::KNOWN } else { Order::read(message)? };
        if self.work == Work::Read {
            std::hint::black_box(&order);
        } else {
            let time = turn.now().utc.0;
            order.report(turn.session(), self.orders.next(), time)?;
        }
        Ok(Delivery::Done)
    }
}

/// A counter as decimal digits.
pub(super) struct Count([u8; 10]);

impl Default for Count {
    fn default() -> Self {
        Self([b'0'; 10])
    }
}

impl Count {
    pub(super) fn next(&mut self) -> &[u8] {
        for digit in self.0.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                break;
            }
            *digit = b'0';
        }
        &self.0
    }
}
