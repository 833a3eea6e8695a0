//! NOS-JLBH and ER-JLBH, FIX.4.2.

use fixbolt_codec::{BodyWriter, Decimal, Key, Message, Tag, Version};
use fixbolt_session::Failure;

use crate::loopback::exchange::{self, Exchange, differs};
use crate::messages::RING;

/// The messages of the published test.
#[derive(Clone, Copy, Debug)]
pub(in crate::loopback) struct Jlbh {
    /// Whether quantity and price differ from order to order, in a ring of 64.
    varies: bool,
}

impl Jlbh {
    /// Orders that differ in ClOrdID only, as published.
    pub(in crate::loopback) const fn as_published() -> Self {
        Self { varies: false }
    }

    /// Orders that differ in quantity and price as well.
    pub(in crate::loopback) const fn varying() -> Self {
        Self { varies: true }
    }
}

const fn key(tag: u32) -> Key {
    Key::new(tag)
}

/// TransactTime (60): the message is made once.
const CREATION: &[u8] = b"20261121-08:59:58.123";
const EXEC_ID: &[u8] = b"tkacct.151124.e.EFX.122.6";

impl Exchange for Jlbh {
    const VERSION: Version = Version::Fix42;
    const PARTIES: (&'static str, &'static str) = ("QFJCLIENT", "QFJSERVER");
    const NAME: &'static str = "NOS-JLBH";

    #[inline]
    fn order(&mut self, number: u64, stamp: u64, body: &mut BodyWriter<'_>) {
        let n = if self.varies { number % RING as u64 } else { 0 };
        body.bytes(const { key(40) }, b"2")
            .bytes(const { key(54) }, b"1")
            .bytes(const { key(55) }, b"LCOM1")
            .bytes(const { key(21) }, b"3")
            .bytes(const { key(60) }, CREATION)
            .field(const { key(38) }, &(1 + n))
            .field(const { key(44) }, &Decimal::from_parts(2000 + n.cast_signed(), 1))
            .bytes(const { key(59) }, b"0")
            .bytes(const { key(200) }, b"201106")
            .bytes(const { key(167) }, b"FUT")
            .bytes(const { key(22) }, b"5")
            .bytes(const { key(48) }, b"LCOM1")
            .bytes(const { key(1) }, b"ABCTEST1")
            .field(const { key(11) }, &stamp);
    }

    #[inline]
    fn report(&mut self, order: Message<'_>, body: &mut BodyWriter<'_>) -> Result<(), Failure> {
        let cl_ord_id: &[u8] = order.required(Tag::new(11))?;
        body.field(const { key(6) }, &Decimal::from_parts(11_011, 2))
            .field(const { key(14) }, &7u64)
            .bytes(const { key(109) }, b"TEST")
            .bytes(const { key(17) }, EXEC_ID)
            .bytes(const { key(37) }, EXEC_ID)
            .bytes(const { key(54) }, b"1")
            .bytes(const { key(55) }, b"EFX")
            .bytes(const { key(150) }, b"2")
            .bytes(const { key(20) }, b"0")
            .bytes(const { key(39) }, b"0")
            .field(const { key(151) }, &0u64)
            .bytes(const { key(11) }, cl_ord_id);
        Ok(())
    }

    fn wrong(&self, _: u64, report: Message<'_>) -> Option<String> {
        differs(
            report,
            &[(6, b"110.11"), (14, b"7"), (17, EXEC_ID), (37, EXEC_ID), (55, b"EFX"), (150, b"2")],
        )
    }
}

/// Returns an order and its report as whole messages, with a stamp of as many digits as a clock's.
pub(in crate::loopback) fn raw() -> Result<(Vec<u8>, Vec<u8>), String> {
    exchange::raw(&Jlbh::as_published(), 1_234_567_890_123)
}
