//! NOS-FA and ER-FA, FIX.4.2.

use fixbolt_codec::{BodyWriter, Char, Decimal, Key, Message, Precision, Tag, UtcTimestamp, Version};
use fixbolt_session::Failure;

use crate::loopback::exchange::{Exchange, differs};

/// The messages of the published test. ClOrdID (11) is the number of the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Antenna {
    /// Whether the report has only the published fields, without those that FIX.4.2 requires.
    only_published: bool,
    reports: u64,
}

impl Antenna {
    pub(super) const fn new(only_published: bool) -> Self {
        Self { only_published, reports: 0 }
    }
}

const fn key(tag: u32) -> Key {
    Key::new(tag)
}

/// Returns the time of day.
fn now() -> UtcTimestamp {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    UtcTimestamp::from_unix_nanos(u64::try_from(now.as_nanos()).unwrap_or(0), Precision::Millis)
}

impl Exchange for Antenna {
    const VERSION: Version = Version::Fix42;
    const PARTIES: (&'static str, &'static str) = ("INCA", "TW");
    const NAME: &'static str = "NOS-FA";
    const IS_NUMBERED: bool = true;

    fn order(&mut self, number: u64, _: u64, body: &mut BodyWriter<'_>) {
        body.field(const { key(11) }, &number)
            .bytes(const { key(21) }, b"1")
            .bytes(const { key(55) }, b"EU")
            .bytes(const { key(54) }, b"1")
            .field(const { key(60) }, &now())
            .bytes(const { key(40) }, b"2")
            .field(const { key(38) }, &(1 + number % 10))
            .bytes(const { key(59) }, b"0")
            .field(const { key(44) }, &30u64);
    }

    fn report(&mut self, order: Message<'_>, body: &mut BodyWriter<'_>) -> Result<(), Failure> {
        // The nine typed reads.
        let text = |tag| order.required::<&[u8]>(Tag::new(tag));
        let (sender, target, cl_ord_id, symbol) = (text(49)?, text(56)?, text(11)?, text(55)?);
        let (side, ord_type): (Char, Char) = (order.required(Tag::new(54))?, order.required(Tag::new(40))?);
        let price: Option<Decimal> =
            if ord_type == Char(b'2') { order.optional(Tag::new(44))? } else { None };
        let quantity: Decimal = order.required(Tag::new(38))?;
        let time_in_force: Option<Char> = order.optional(Tag::new(59))?;
        std::hint::black_box((sender, target, symbol, side, time_in_force));
        body.bytes(const { key(11) }, cl_ord_id);
        if let Some(price) = price {
            body.field(const { key(44) }, &price);
        }
        body.field(const { key(38) }, &quantity)
            .field(const { key(60) }, &now())
            .field(const { key(17) }, &self.reports)
            .field(const { key(37) }, &self.reports)
            .field(const { key(151) }, &quantity);
        if !self.only_published {
            body.bytes(const { key(20) }, b"0")
                .bytes(const { key(150) }, b"0")
                .bytes(const { key(39) }, b"0")
                .bytes(const { key(55) }, symbol)
                .field(const { key(54) }, &side)
                .field(const { key(14) }, &0u64)
                .field(const { key(6) }, &0u64);
        }
        self.reports += 1;
        Ok(())
    }

    fn wrong(&self, number: u64, report: Message<'_>) -> Option<String> {
        let (id, quantity) = (number.to_string(), (1 + number % 10).to_string());
        let quantity = quantity.as_bytes();
        differs(report, &[(11, id.as_bytes()), (38, quantity), (151, quantity), (44, b"30")])
    }
}
