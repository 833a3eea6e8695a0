//! The preloaded orders.

use fixbolt_codec::{Decimal, Precision, UtcTimestamp};
use fixbolt_workloads::orders::Order;
use fixbolt_workloads::random::Random;

/// The values of an order that differ from those of the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preloaded {
    /// The number of orders that it was preloaded with.
    batch: u32,
    /// Seconds since 1970.
    transact_time: u32,
    /// In thousandths.
    price: u32,
    quantity: u16,
}

impl Preloaded {
    /// Returns the order that is the `number`th to be sent, from 1. `cl_ord_id` is where its
    /// ClOrdID is written.
    pub fn order<'o>(&self, number: u32, cl_ord_id: &'o mut Vec<u8>) -> Order<'o> {
        let Self { batch, transact_time, price, quantity } = *self;
        cl_ord_id.clear();
        cl_ord_id.extend_from_slice(b"ord");
        push_number(cl_ord_id, number.into());
        cl_ord_id.push(b'-');
        push_number(cl_ord_id, batch.into());
        Order {
            cl_ord_id,
            symbol: b"BHP",
            transact_time: UtcTimestamp::from_unix_nanos(
                u64::from(transact_time) * 1_000_000_000,
                Precision::Seconds,
            ),
            // Two places, as published: 57.00.
            quantity: Decimal::from_parts(i64::from(quantity) * 100, 2),
            price: Decimal::from_parts(i64::from(price), 3),
        }
    }
}

/// Writes a number without allocating.
pub(super) fn push_number(to: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    to.extend_from_slice(&digits[at..]);
}

/// Returns the number of an order from its ClOrdID.
pub(super) fn number_of(cl_ord_id: &[u8]) -> Option<u32> {
    let rest = std::str::from_utf8(cl_ord_id.strip_prefix(b"ord")?).ok()?;
    rest.split_once('-')?.0.parse().ok()
}

/// Orders that wait to be sent, and those that were sent: their values are needed again if a
/// connection is lost before they are answered.
#[derive(Debug)]
pub struct Preload {
    orders: Vec<Preloaded>,
    random: Random,
    /// The number of orders that were sent.
    sent: usize,
}

impl Preload {
    /// The bytes that a preloaded order takes.
    pub const ORDER_SIZE: usize = size_of::<Preloaded>();
    /// The most orders of a run.
    pub const MOST: u32 = 100_000_000;

    /// Creates an empty preload; the values of the orders depend on the seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { orders: Vec::new(), random: Random::new(seed), sent: 0 }
    }

    /// Preloads `count` orders whose TransactTime is `now`, in seconds since 1970.
    ///
    /// # Errors
    /// Returns an error if there is no memory for them, or too many orders in all.
    pub fn add(&mut self, count: u32, now: u32) -> Result<(), String> {
        self.insert(self.orders.len(), count, now)
    }

    /// Preloads `count` orders that are sent before those that wait. Their TransactTime is `now`,
    /// in seconds since 1970.
    ///
    /// # Errors
    /// Returns an error if there is no memory for them, or too many orders in all.
    pub fn add_next(&mut self, count: u32, now: u32) -> Result<(), String> {
        self.insert(self.sent, count, now)
    }

    fn insert(&mut self, at: usize, count: u32, now: u32) -> Result<(), String> {
        if self.orders.len().saturating_add(count as usize) > Self::MOST as usize {
            return Err(format!("a run has at most {} orders", Self::MOST));
        }
        self.orders
            .try_reserve_exact(count as usize)
            .map_err(|_| format!("there is no memory for {count} orders"))?;
        let random = &mut self.random;
        let orders = (0..count).map(|_| {
            let quantity = random.between(1, 10_000) as u16;
            let price = random.between(1_000, 500_000) as u32;
            Preloaded { batch: count, transact_time: now, price, quantity }
        });
        self.orders.splice(at..at, orders);
        Ok(())
    }

    /// Returns the number of orders that wait to be sent.
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.orders.len() - self.sent
    }

    /// Returns the number of orders that were sent.
    #[must_use]
    pub const fn sent(&self) -> usize {
        self.sent
    }

    /// Returns the next order to send and its number.
    #[must_use]
    pub fn next(&self) -> Option<(u32, Preloaded)> {
        let number = u32::try_from(self.sent + 1).ok()?;
        Some((number, self.get(number)?))
    }

    /// Records that the next order was sent.
    pub const fn advance(&mut self) {
        if self.remaining() > 0 {
            self.sent += 1;
        }
    }

    /// Returns an order by its number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<Preloaded> {
        self.orders.get((number as usize).checked_sub(1)?).copied()
    }
}
