//! The reports of the server, in the form of the published ones.

use fixbolt_codec::{BodyWriter, Decimal, Key};
use fixbolt_workloads::orders::Order;
use fixbolt_workloads::reports::Kind;

/// An ExecutionReport (8) on an order.
#[derive(Clone, Copy, Debug)]
pub(super) struct HfReport<'r> {
    pub(super) kind: Kind,
    pub(super) order_id: &'r [u8],
    pub(super) exec_id: &'r [u8],
    pub(super) order: Order<'r>,
    pub(super) leaves: Decimal,
    pub(super) cumulated: Decimal,
}

impl HfReport<'_> {
    /// Writes the body. The published confirmation has LastCapacity 5, which FIX.4.2 does not know:
    /// here it is 4, so that the client can validate everything.
    pub(super) fn write(&self, body: &mut BodyWriter<'_>) {
        const ORDER_ID: Key = Key::new(37);
        const CL_ORD_ID: Key = Key::new(11);
        const EXEC_ID: Key = Key::new(17);
        const EXEC_TRANS_TYPE: Key = Key::new(20);
        const EXEC_TYPE: Key = Key::new(150);
        const ORD_STATUS: Key = Key::new(39);
        const SYMBOL: Key = Key::new(55);
        const SIDE: Key = Key::new(54);
        const ORDER_QTY: Key = Key::new(38);
        const ORD_TYPE: Key = Key::new(40);
        const PRICE: Key = Key::new(44);
        const TIME_IN_FORCE: Key = Key::new(59);
        const LAST_CAPACITY: Key = Key::new(29);
        const LEAVES_QTY: Key = Key::new(151);
        const CUM_QTY: Key = Key::new(14);
        const AVG_PX: Key = Key::new(6);
        const TRANSACT_TIME: Key = Key::new(60);
        const REPORT_TO_EXCH: Key = Key::new(113);
        const HANDL_INST: Key = Key::new(21);
        let Self { kind, order_id, exec_id, order, leaves, cumulated } = self;
        // Fills are published with ExecType NEW, too.
        let exec_type = match kind {
            Kind::Rejected | Kind::Canceled => kind.ord_status(),
            Kind::Confirmed | Kind::PartialFill | Kind::Fill => b"0",
        };
        body.bytes(ORDER_ID, order_id)
            .bytes(CL_ORD_ID, order.cl_ord_id)
            .bytes(EXEC_ID, exec_id)
            .bytes(EXEC_TRANS_TYPE, b"0")
            .bytes(EXEC_TYPE, exec_type)
            .bytes(ORD_STATUS, kind.ord_status())
            .bytes(SYMBOL, order.symbol)
            .bytes(SIDE, b"1")
            .field(ORDER_QTY, &order.quantity)
            .bytes(ORD_TYPE, b"2")
            .field(PRICE, &order.price)
            .bytes(TIME_IN_FORCE, b"4");
        if *kind == Kind::Confirmed {
            body.bytes(LAST_CAPACITY, b"4");
        }
        let average =
            if cumulated.is_zero() { Decimal::from_parts(0, order.quantity.scale()) } else { order.price };
        body.field(LEAVES_QTY, leaves)
            .field(CUM_QTY, cumulated)
            .field(AVG_PX, &average)
            .field(TRANSACT_TIME, &order.transact_time);
        if *kind == Kind::Confirmed {
            body.bytes(REPORT_TO_EXCH, b"Y");
        }
        body.bytes(HANDL_INST, b"1");
    }
}
