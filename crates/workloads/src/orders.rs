//! The orders of the demo: fill-or-kill limit buys, FIX.4.2, random quantity and price.

use fixbolt_codec::{BodyWriter, Decimal, FieldError, Key, Message, MsgType, Tag, UtcTimestamp};

use crate::random::Random;

/// NewOrderSingle.
pub const NEW_ORDER_SINGLE: MsgType = MsgType::new(b"D");

const SYMBOLS: [&[u8]; 8] = [b"BHP", b"IBM", b"VOD", b"SAP", b"TTE", b"NVS", b"ULVR", b"AIR"];

/// A NewOrderSingle (D), as the demo writes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Order<'o> {
    /// ClOrdID (11).
    pub cl_ord_id: &'o [u8],
    /// Symbol (55).
    pub symbol: &'o [u8],
    /// TransactTime (60).
    pub transact_time: UtcTimestamp,
    /// OrderQty (38).
    pub quantity: Decimal,
    /// Price (44).
    pub price: Decimal,
}

impl<'o> Order<'o> {
    /// Writes the order's body: HandlInst automated (1), Side buy (1), OrdType limit (2),
    /// TimeInForce fill or kill (4).
    pub fn write(&self, body: &mut BodyWriter<'_>) {
        const CL_ORD_ID: Key = Key::new(11);
        const HANDL_INST: Key = Key::new(21);
        const SYMBOL: Key = Key::new(55);
        const SIDE: Key = Key::new(54);
        const TRANSACT_TIME: Key = Key::new(60);
        const ORDER_QTY: Key = Key::new(38);
        const ORD_TYPE: Key = Key::new(40);
        const PRICE: Key = Key::new(44);
        const TIME_IN_FORCE: Key = Key::new(59);
        body.bytes(CL_ORD_ID, self.cl_ord_id)
            .bytes(HANDL_INST, b"1")
            .bytes(SYMBOL, self.symbol)
            .bytes(SIDE, b"1")
            .field(TRANSACT_TIME, &self.transact_time)
            .field(ORDER_QTY, &self.quantity)
            .bytes(ORD_TYPE, b"2")
            .field(PRICE, &self.price)
            .bytes(TIME_IN_FORCE, b"4");
    }

    /// Reads an order that [`Order::write`] wrote.
    ///
    /// # Errors
    /// Returns an error for the first field that is missing or not of its type.
    pub fn read(message: &Message<'o>) -> Result<Self, FieldError> {
        Ok(Self {
            cl_ord_id: message.required(Tag::new(11))?,
            symbol: message.required(Tag::new(55))?,
            transact_time: message.required(Tag::new(60))?,
            quantity: message.required(Tag::new(38))?,
            price: message.required(Tag::new(44))?,
        })
    }
}

/// The orders of a seed, one after another.
#[derive(Clone, Debug)]
pub struct Orders {
    random: Random,
    cl_ord_id: Vec<u8>,
    prefix: usize,
    number: u64,
}

impl Orders {
    /// Creates orders whose ClOrdIDs begin with `prefix` and end with their number, from 0.
    #[must_use]
    pub fn new(seed: u64, prefix: &str) -> Self {
        let cl_ord_id = format!("{prefix}-").into_bytes();
        let prefix = cl_ord_id.len();
        Self { random: Random::new(seed), cl_ord_id, prefix, number: 0 }
    }

    /// Returns the next order: quantity 1 to 10,000, price 1.000 to 500.000.
    pub fn next(&mut self, transact_time: UtcTimestamp) -> Order<'_> {
        self.cl_ord_id.truncate(self.prefix);
        self.cl_ord_id.extend_from_slice(self.number.to_string().as_bytes());
        self.number += 1;
        let symbol = SYMBOLS[(self.random.next() % 8) as usize];
        let quantity = self.random.between(1, 10_000).cast_signed();
        let price = self.random.between(1_000, 500_000).cast_signed();
        Order {
            cl_ord_id: &self.cl_ord_id,
            symbol,
            transact_time,
            quantity: Decimal::from_parts(quantity, 0),
            price: Decimal::from_parts(price, 3),
        }
    }
}

/// Returns the number at the end of a ClOrdID of [`Orders`].
#[must_use]
pub fn order_number(cl_ord_id: &[u8]) -> Option<u64> {
    let digits = cl_ord_id.rsplit(|byte| *byte == b'-').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_within_their_bounds_and_repeat_with_their_seed() {
        let now: UtcTimestamp = "20261121-09:00:00.123".parse().unwrap();
        let (mut one, mut other) = (Orders::new(1, "run"), Orders::new(1, "run"));
        for n in 0..10_000 {
            let order = one.next(now);
            assert_eq!(order, other.next(now));
            assert_eq!(order_number(order.cl_ord_id), Some(n));
            assert!((1..=10_000).contains(&order.quantity.mantissa()));
            assert!((1_000..=500_000).contains(&order.price.mantissa()) && order.price.scale() == 3);
        }
        assert_ne!(Orders::new(2, "run").next(now), Orders::new(1, "run").next(now));
        assert_eq!(order_number(b"hand-made"), None);
    }
}
