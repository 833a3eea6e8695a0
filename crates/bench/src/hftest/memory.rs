//! Whether there is memory for the orders.

use super::preload::Preload;

/// Returns a warning if `orders` more orders do not fit into the available memory, with how many
/// do.
#[must_use]
pub fn memory_warning(orders: u32, available: Option<u64>) -> Option<String> {
    /// The client also keeps a byte for what it knows of an order.
    const EACH: u64 = Preload::ORDER_SIZE as u64 + 1;
    let (needed, available) = (u64::from(orders) * EACH, available?);
    // The rest is for the sessions and for others.
    let usable = available / 10 * 9;
    (needed > usable).then(|| {
        let mb = |bytes: u64| bytes.div_ceil(1_000_000);
        format!(
            "{orders} orders take {} MB, and {} MB of memory are available: preload at most {} at a time",
            mb(needed),
            available / 1_000_000,
            usable / EACH
        )
    })
}
