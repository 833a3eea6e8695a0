//! The messages of published figures, in rings of 64 that differ: the processor would memorize a
//! single message.
//!
//! The bytes of a ring are assembled as text here, so that they are an oracle for encoders.

use fixbolt_codec::{BodyWriter, Decimal, Key, UtcTimestamp, Version};

/// Number of messages in a ring.
pub const RING: usize = 64;

/// NOS-222: the NewOrderSingle of FIX.4.4, 222 bytes and 24 fields, with which Fix8 and QuickFIX
/// were compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Nos222 {
    /// MsgSeqNum (34).
    pub seq: u64,
    /// SendingTime (52), in nanoseconds since 1970.
    pub sending_time: u64,
    /// TransactTime (60).
    pub transact_time: UtcTimestamp,
    /// Account (1).
    pub account: String,
    /// OrderQty (38).
    pub quantity: u64,
    /// Price (44).
    pub price: Decimal,
    /// ClOrdID (11).
    pub cl_ord_id: String,
    /// Side (54).
    pub side: char,
    /// Symbol (55).
    pub symbol: String,
}

/// ER-235: the ExecutionReport of FIX.4.2, 235 bytes and 27 fields, of Fix8's hftest.
#[derive(Clone, PartialEq, Debug)]
pub struct Er235 {
    /// MsgSeqNum (34).
    pub seq: u64,
    /// SendingTime (52), in whole seconds, as nanoseconds since 1970.
    pub sending_time: u64,
    /// OrderID (37) and ExecID (17).
    pub order_id: String,
    /// ClOrdID (11).
    pub cl_ord_id: String,
    /// Symbol (55).
    pub symbol: String,
    /// OrderQty (38) and LeavesQty (151).
    pub quantity: u64,
    /// Price (44).
    pub price: Decimal,
    /// TransactTime (60).
    pub transact_time: UtcTimestamp,
}

/// 2026-11-21 09:00:00 UTC, in nanoseconds since 1970.
pub(crate) const MORNING: u64 = 1_795_251_600_000_000_000;
const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1000 * MILLI;

impl Nos222 {
    /// The version.
    pub const VERSION: Version = Version::Fix44;
    /// SenderCompID (49) and TargetCompID (56).
    pub const PARTIES: (&'static str, &'static str) = ("A12345B", "COMPARO");
    /// Length of the message and number of its fields.
    pub const SIZE: (usize, usize) = (222, 24);

    /// Creates member `n` of the ring.
    #[must_use]
    pub fn new(n: u64) -> Self {
        let millis = n * 37 % 1000;
        Self {
            seq: 10 + n,
            sending_time: MORNING + millis * MILLI,
            transact_time: moment(n, &format!(".{:03}", (millis + 991) % 1000)),
            account: format!("{:08}", 1_234_567 + n * 1_009),
            quantity: 10 + n,
            price: Decimal::from_parts(4_005 + n.cast_signed() * 7, 1),
            cl_ord_id: char::from(b'0' + (n % 10) as u8).to_string(),
            side: if n.is_multiple_of(3) { '2' } else { '1' },
            symbol: format!("{}C", char::from(b'A' + (n % 26) as u8)),
        }
    }

    /// Creates member `n` of a ring of at most 100,000 messages: each is sent in another second
    /// than the one before, and has another account.
    #[must_use]
    pub fn of_another_second(n: u64) -> Self {
        let small = Self::new(n % RING as u64);
        Self {
            sending_time: small.sending_time + n * SECOND,
            account: format!("{:08}", (1_234_567 + n * 1_009) % 100_000_000),
            ..small
        }
    }

    /// Returns the message as text.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let Self { seq, transact_time, account, quantity, price, cl_ord_id, side, symbol, .. } = self;
        let (sender, target) = Self::PARTIES;
        let millis = self.sending_time / MILLI % 1000;
        let second = 9 * 3600 + (self.sending_time - MORNING) / SECOND;
        let (day, hour, minute) = (21 + second / 86_400, second / 3600 % 24, second / 60 % 60);
        let second = second % 60;
        message(
            Self::VERSION.begin_string(),
            &format!(
                "35=D|49={sender}|56={target}|34={seq}|52=202611{day}-{hour:02}:{minute:02}:{second:02}.{millis:03}|50=2DEFGH4|57=G|142=AU,SY|60={transact_time}|1={account}|38={quantity}|44={price}|11={cl_ord_id}|21=1|40=2|54={side}|55={symbol}|58=NIGEL|59=0|107=AOZ3 C02000|167=OPT|"
            ),
        )
    }

    /// Writes header fields and body from the typed values.
    #[inline]
    pub fn write(&self, body: &mut BodyWriter<'_>) {
        const fn key(tag: u32) -> Key {
            Key::new(tag)
        }
        body.bytes(const { key(50) }, b"2DEFGH4")
            .bytes(const { key(57) }, b"G")
            .bytes(const { key(142) }, b"AU,SY")
            .field(const { key(60) }, &self.transact_time)
            .bytes(const { key(1) }, self.account.as_bytes())
            .field(const { key(38) }, &self.quantity)
            .field(const { key(44) }, &self.price)
            .bytes(const { key(11) }, self.cl_ord_id.as_bytes())
            .bytes(const { key(21) }, b"1")
            .bytes(const { key(40) }, b"2")
            .bytes(const { key(54) }, &[self.side as u8])
            .bytes(const { key(55) }, self.symbol.as_bytes())
            .bytes(const { key(58) }, b"NIGEL")
            .bytes(const { key(59) }, b"0")
            .bytes(const { key(107) }, b"AOZ3 C02000")
            .bytes(const { key(167) }, b"OPT");
    }
}

impl Er235 {
    /// The version.
    pub const VERSION: Version = Version::Fix42;
    /// SenderCompID (49) and TargetCompID (56).
    pub const PARTIES: (&'static str, &'static str) = ("TEX_DLD", "DLD_TEX");
    /// Length of the message and number of its fields.
    pub const SIZE: (usize, usize) = (235, 27);

    /// Creates member `n` of the ring.
    #[must_use]
    pub fn new(n: u64) -> Self {
        Self {
            seq: 1_962_926 + n * 13,
            sending_time: MORNING + n % 60 * 1000 * MILLI,
            order_id: format!("ord{}", 499_647 + n * 31),
            cl_ord_id: format!("ord{}-{}", 509_647 + n * 31, 500_000 + n),
            symbol: format!("BH{}", char::from(b'A' + (n % 26) as u8)),
            quantity: 10 + n,
            price: Decimal::from_parts(29_807 + n.cast_signed() * 11, 2),
            transact_time: moment(n + 7, ""),
        }
    }

    /// Returns the message as text, with LastCapacity (29) 5 as published.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.text(5)
    }

    /// Returns a valid message: FIX.4.2 allows 1 to 4 for LastCapacity (29).
    #[must_use]
    pub fn valid_bytes(&self) -> Vec<u8> {
        self.text(4)
    }

    fn text(&self, last_capacity: u8) -> Vec<u8> {
        let Self { seq, order_id, cl_ord_id, symbol, quantity, price, transact_time, .. } = self;
        let (sender, target) = Self::PARTIES;
        let second = (self.sending_time - MORNING) / MILLI / 1000;
        message(
            Self::VERSION.begin_string(),
            &format!(
                "35=8|49={sender}|56={target}|34={seq}|52=20261121-09:00:{second:02}|37={order_id}|11={cl_ord_id}|17={order_id}|20=0|150=0|39=0|55={symbol}|54=1|38={quantity}|40=2|44={price}|59=4|29={last_capacity}|151={quantity}|14=0|6=0|60={transact_time}|113=Y|21=1|"
            ),
        )
    }

    /// Writes the body from the typed values.
    #[inline]
    pub fn write(&self, body: &mut BodyWriter<'_>) {
        const fn key(tag: u32) -> Key {
            Key::new(tag)
        }
        body.bytes(const { key(37) }, self.order_id.as_bytes())
            .bytes(const { key(11) }, self.cl_ord_id.as_bytes())
            .bytes(const { key(17) }, self.order_id.as_bytes())
            .bytes(const { key(20) }, b"0")
            .bytes(const { key(150) }, b"0")
            .bytes(const { key(39) }, b"0")
            .bytes(const { key(55) }, self.symbol.as_bytes())
            .bytes(const { key(54) }, b"1")
            .field(const { key(38) }, &self.quantity)
            .bytes(const { key(40) }, b"2")
            .field(const { key(44) }, &self.price)
            .bytes(const { key(59) }, b"4")
            .bytes(const { key(29) }, b"5")
            .field(const { key(151) }, &self.quantity)
            .field(const { key(14) }, &0u64)
            .field(const { key(6) }, &0u64)
            .field(const { key(60) }, &self.transact_time)
            .bytes(const { key(113) }, b"Y")
            .bytes(const { key(21) }, b"1");
    }
}

fn moment(n: u64, fraction: &str) -> UtcTimestamp {
    let text = format!("20261121-08:{:02}:{:02}{fraction}", n % 60, n * 7 % 60);
    text.parse().expect("a moment of the morning")
}

/// Returns a whole message of `fields` (with `|` for SOH), with BodyLength and CheckSum by the
/// definition.
pub(crate) fn message(begin_string: &str, fields: &str) -> Vec<u8> {
    let fields = fields.replace('|', "\u{1}");
    let mut message = format!("8={begin_string}\u{1}9={}\u{1}{fields}", fields.len());
    let sum = message.bytes().fold(0u8, u8::wrapping_add);
    message.push_str(&format!("10={sum:03}\u{1}"));
    message.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_member_of_a_ring_has_the_published_size_and_differs_from_the_others() {
        let sizes = |ring: &[Vec<u8>]| -> BTreeSet<(usize, usize)> {
            ring.iter().map(|bytes| (bytes.len(), bytes.iter().filter(|byte| **byte == 1).count())).collect()
        };
        let nos: Vec<Vec<u8>> = (0..RING as u64).map(|n| Nos222::new(n).bytes()).collect();
        assert_eq!(sizes(&nos), [Nos222::SIZE].into());
        assert_eq!(nos.iter().collect::<BTreeSet<_>>().len(), RING);
        let er: Vec<Vec<u8>> = (0..RING as u64).map(|n| Er235::new(n).bytes()).collect();
        assert_eq!(sizes(&er), [Er235::SIZE].into());
        assert_eq!(er.iter().collect::<BTreeSet<_>>().len(), RING);
        // Across midnight.
        let late: Vec<Nos222> = (53_990..54_010).map(Nos222::of_another_second).collect();
        let bytes: Vec<Vec<u8>> = late.iter().map(Nos222::bytes).collect();
        assert_eq!(sizes(&bytes), [Nos222::SIZE].into());
        let text = |at: usize| String::from_utf8_lossy(&bytes[at]).into_owned();
        assert!(text(9).contains("\u{1}52=20261121-23:59:59."), "{}", text(9));
        assert!(text(10).contains("\u{1}52=20261122-00:00:00."), "{}", text(10));
        let all: BTreeSet<String> = (0..100_000).map(|n| Nos222::of_another_second(n).account).collect();
        assert_eq!(all.len(), 100_000);
    }
}
