//! The two orders, as bytes and as values.

use fixbolt_codec::{BodyWriter, Decimal, Key, UtcTimestamp};

use crate::messages::{MORNING, RING, message};
use crate::more_messages::{aim_97, aim_158, valid_aim_158};

/// The rings of one of the orders.
pub(super) struct Orders {
    pub(super) name: &'static str,
    /// Whether it is the one with 15 fields.
    pub(super) long: bool,
    /// What decode and gateway receive: as published, which is one byte more than `valid` where the
    /// hour has one digit.
    pub(super) published: Vec<Vec<u8>>,
    /// What is decoded to values: the same with a two-digit hour.
    pub(super) valid: Vec<Vec<u8>>,
    /// What encode begins with.
    pub(super) values: Vec<Values>,
    /// What gateway and encode write.
    pub(super) encoded: Vec<Vec<u8>>,
    pub(super) forwarded: Vec<Vec<u8>>,
}

/// The values of an order.
pub(super) struct Values {
    pub(super) seq: u64,
    pub(super) sending_time: u64,
    quantity: u64,
    price: Decimal,
    cl_ord_id: String,
    transact_time: UtcTimestamp,
}

/// SenderCompID (49) and TargetCompID (56).
pub(super) const PARTIES: (&str, &str) = ("TEST_INSTANCE1", "aimsGateway");

impl Orders {
    pub(super) fn aim_97() -> Self {
        Self::new("AIM-97", false, aim_97, aim_97)
    }

    pub(super) fn aim_158() -> Self {
        Self::new("AIM-158", true, aim_158, valid_aim_158)
    }

    fn new(name: &'static str, long: bool, published: fn(u64) -> Vec<u8>, valid: fn(u64) -> Vec<u8>) -> Self {
        let ring = || 0..RING as u64;
        let (published, valid): (Vec<_>, Vec<_>) =
            (ring().map(published).collect(), ring().map(valid).collect());
        let values: Vec<Values> = ring().map(Values::new).collect();
        let written = |of: &[Vec<u8>]| values.iter().zip(of).map(|(values, of)| values.written(of)).collect();
        let (encoded, forwarded) = (written(&valid), written(&published));
        Self { name, long, encoded, forwarded, published, valid, values }
    }
}

impl Values {
    fn new(n: u64) -> Self {
        let time = "20131112-22:36:26".parse();
        Self {
            seq: 1_000 + n,
            sending_time: MORNING + n * 1_000_000,
            quantity: 100 + n,
            price: Decimal::from_parts((3_000 + n * 7).cast_signed(), 0),
            cl_ord_id: format!("{}_{}", 137_386 + n * 31, n % 10),
            transact_time: time.expect("it is a time"),
        }
    }

    /// Writes the body in the order of the page.
    #[inline]
    pub(super) fn write(&self, body: &mut BodyWriter<'_>, long: bool) {
        const fn key(tag: u32) -> Key {
            Key::new(tag)
        }
        if long {
            body.bytes(const { key(54) }, b"1").bytes(const { key(40) }, b"2");
            body.field(const { key(60) }, &self.transact_time);
        }
        body.field(const { key(38) }, &self.quantity);
        if long {
            body.bytes(const { key(59) }, b"3");
        }
        body.field(const { key(44) }, &self.price)
            .bytes(const { key(55) }, b"AIMS.L")
            .bytes(const { key(11) }, self.cl_ord_id.as_bytes());
    }

    /// Returns what a session writes: its own header, which also has MsgSeqNum (34) and
    /// SendingTime (52), and the body of `of`. By the definition, as text.
    fn written(&self, of: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(of);
        let body: String = text
            .split_inclusive('\u{1}')
            .filter(|field| {
                !["8", "9", "35", "49", "56", "52", "10"].contains(&field.split('=').next().unwrap_or(""))
            })
            .collect();
        let (sender, target) = PARTIES;
        let millis = (self.sending_time - MORNING) / 1_000_000;
        let (seq, time) = (self.seq, format!("20261121-09:00:00.{millis:03}"));
        message("FIX.4.4", &format!("35=D|49={sender}|56={target}|34={seq}|52={time}|{body}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_messages_and_the_session_adds_two_fields() {
        let sizes = |orders: &Orders| {
            [&orders.published, &orders.valid, &orders.encoded, &orders.forwarded]
                .map(|ring| (ring[0].len(), ring[0].iter().filter(|byte| **byte == 1).count()))
        };
        assert_eq!(sizes(&Orders::aim_97()), [(97, 10), (97, 10), (131, 12), (131, 12)]);
        // SendingTime is there already; BodyLength has three digits in both.
        assert_eq!(sizes(&Orders::aim_158()), [(158, 15), (159, 15), (167, 16), (166, 16)]);
    }
}
