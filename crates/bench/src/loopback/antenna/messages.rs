//! NOS-FA and ER-FA, FIX.4.2.

use fixbolt::{PostError, Sender};
use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{
    BodySink as _, BodyWriter, Char, Decimal, FieldError, Key, Message, NewBody as _, SeqNum, Tag,
    UtcTimestamp, Version,
};
use fixbolt_session::{Failure, Turn};
use fixbolt_workloads::reports::EXECUTION_REPORT;
use fixbolt_workloads::wire::Encoder;

use super::prepared::Prepared;
use crate::loopback::exchange::{ORDER, differs};
use crate::loopback::open::LOOK;
use crate::messages::MORNING;

/// CompIDs of trader and venue.
pub(super) const PARTIES: (&str, &str) = ("INCA", "TW");
/// The version.
pub(super) const VERSION: Version = Version::Fix42;

/// Which fields a report has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fields {
    /// The published ones, which lack some that FIX.4.2 requires.
    Published,
    /// The published ones and those that FIX.4.2 requires.
    Completed,
}

const fn key(tag: u32) -> Key {
    Key::new(tag)
}

/// The price of all orders.
const PRICE: Decimal = Decimal::from_parts(30, 0);

/// Returns the quantity of an order.
const fn quantity(number: u64) -> Decimal {
    Decimal::from_parts(1 + (number % 10).cast_signed(), 0)
}

/// The orders of the trader.
pub(super) struct Orders {
    /// TransactTime (60): the published program creates its order once.
    created: UtcTimestamp,
    prepared: Option<Prepared>,
}

impl Orders {
    pub(super) fn new(is_prepared: bool) -> Self {
        let created = UtcTimestamp::now();
        let constants: [&[u8]; 4] =
            [b"11=", b"\x0121=1\x0155=EU\x0154=1\x0160=", b"\x0140=2\x0138=", b"\x0159=0\x0144=30\x01"];
        Self { created, prepared: is_prepared.then(|| Prepared::new(ORDER, &constants)) }
    }

    /// Sends an order from another thread than the session's.
    pub(super) fn send(&mut self, number: u64, sender: &mut Sender) -> Result<(), PostError> {
        if let Some(prepared) = &mut self.prepared {
            prepared.begin().value(&number).value(&self.created).value(&quantity(number));
            return sender.within(LOOK).send(&prepared.body()).map(drop);
        }
        let mut draft = sender.within(LOOK).draft(ORDER);
        self.write(number, draft.writer());
        draft.send().map(drop)
    }

    fn write(&self, number: u64, body: &mut BodyWriter<'_>) {
        body.field(const { key(11) }, &number)
            .bytes(const { key(21) }, b"1")
            .bytes(const { key(55) }, b"EU")
            .bytes(const { key(54) }, b"1")
            .field(const { key(60) }, &self.created)
            .bytes(const { key(40) }, b"2")
            .field(const { key(38) }, &quantity(number))
            .bytes(const { key(59) }, b"0")
            .field(const { key(44) }, &PRICE);
    }
}

/// What the venue reads of an order, each field as its type.
pub(super) struct Order<'m> {
    sender: &'m [u8],
    target: &'m [u8],
    cl_ord_id: &'m [u8],
    symbol: &'m [u8],
    side: Char,
    price: Option<Decimal>,
    quantity: Decimal,
    time_in_force: Option<Char>,
}

impl<'m> Order<'m> {
    /// Reads the nine fields of the published program.
    pub(super) fn read(message: &Message<'m>) -> Result<Self, FieldError> {
        let ord_type: Char = message.required(Tag::new(40))?;
        Ok(Self {
            sender: message.required(Tag::new(49))?,
            target: message.required(Tag::new(56))?,
            cl_ord_id: message.required(Tag::new(11))?,
            symbol: message.required(Tag::new(55))?,
            side: message.required(Tag::new(54))?,
            price: if ord_type == Char(b'2') { Some(message.required(Tag::new(44))?) } else { None },
            quantity: message.required(Tag::new(38))?,
            time_in_force: message.optional(Tag::new(59))?,
        })
    }

    /// Returns whether the values are those of the test's orders.
    pub(super) fn is_expected(&self) -> bool {
        let parties = (PARTIES.0.as_bytes(), PARTIES.1.as_bytes());
        (self.sender, self.target, self.symbol) == (parties.0, parties.1, b"EU")
            && (self.side, self.price, self.time_in_force) == (Char(b'1'), Some(PRICE), Some(Char(b'0')))
    }
}

/// The reports of the venue.
#[derive(Clone)]
pub(super) struct Reports {
    fields: Fields,
    prepared: Option<Prepared>,
    /// ExecID (17) and OrderID (37) of the next one.
    id: u64,
}

/// The fields after LeavesQty (151) of a completed report.
const COMPLETION: &[u8] = b"\x0120=0\x01150=0\x0139=0\x0155=EU\x0154=1\x0114=0\x016=0\x01";

impl Reports {
    pub(super) fn new(fields: Fields, is_prepared: bool) -> Self {
        let end = if fields == Fields::Completed { COMPLETION } else { b"\x01" };
        let constants: [&[u8]; 8] =
            [b"11=", b"\x0144=", b"\x0138=", b"\x0160=", b"\x0117=", b"\x0137=", b"\x01151=", end];
        Self { fields, prepared: is_prepared.then(|| Prepared::new(EXECUTION_REPORT, &constants)), id: 0 }
    }

    /// Answers an order in its turn.
    pub(super) fn answer(&mut self, order: &Order<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let mut draft = turn.session().draft(EXECUTION_REPORT);
        self.write(order, UtcTimestamp::now(), draft.writer());
        draft.send()?;
        Ok(())
    }

    fn write(&mut self, order: &Order<'_>, now: UtcTimestamp, body: &mut BodyWriter<'_>) {
        let (id, price) = (self.id, order.price.unwrap_or(PRICE));
        self.id += 1;
        if let Some(prepared) = &mut self.prepared {
            prepared.begin().bytes(order.cl_ord_id).value(&price).value(&order.quantity).value(&now);
            prepared.value(&id).value(&id).value(&order.quantity);
            body.raw().body(&prepared.body());
            return;
        }
        body.bytes(const { key(11) }, order.cl_ord_id)
            .field(const { key(44) }, &price)
            .field(const { key(38) }, &order.quantity)
            .field(const { key(60) }, &now)
            .field(const { key(17) }, &id)
            .field(const { key(37) }, &id)
            .field(const { key(151) }, &order.quantity);
        if self.fields == Fields::Completed {
            body.bytes(const { key(20) }, b"0")
                .bytes(const { key(150) }, b"0")
                .bytes(const { key(39) }, b"0")
                .bytes(const { key(55) }, b"EU")
                .bytes(const { key(54) }, b"1")
                .field(const { key(14) }, &0u64)
                .field(const { key(6) }, &0u64);
        }
    }
}

/// What the trader reads of a report before it takes the time: its order's number and quantity.
pub(super) fn read(report: &Message<'_>) -> Result<(u64, Decimal), FieldError> {
    Ok((report.required(Tag::new(11))?, report.required(Tag::new(38))?))
}

/// Returns why a report is not that of its order, if it is not.
pub(super) fn wrong(
    report: Message<'_>,
    (number, of_report): (u64, Decimal),
    fields: Fields,
) -> Option<String> {
    let expected = quantity(number);
    if of_report != expected {
        return Some(format!("its quantity is {of_report}, not {expected}"));
    }
    let leaves = expected.to_string();
    let published: &[(u32, &[u8])] = &[(44, b"30"), (151, leaves.as_bytes())];
    let completion: &[(u32, &[u8])] = &[(20, b"0"), (150, b"0"), (39, b"0"), (55, b"EU"), (14, b"0")];
    let completion = completion.iter().filter(|_| fields == Fields::Completed);
    differs(report, &published.iter().chain(completion).copied().collect::<Vec<_>>())
}

/// Returns an order and its report as whole messages, with a ClOrdID of four digits as most have.
pub(super) fn raw(fields: Fields) -> Result<(Vec<u8>, Vec<u8>), String> {
    let (trader, venue) = PARTIES;
    let orders = Orders::new(false);
    let order = message((trader, venue), |encoder, slot| {
        encoder.encode(slot, ORDER, SeqNum(5_000), MORNING, |body| orders.write(4_321, body))
    });
    let order = order.ok_or("an order cannot be written")?;
    let report = crate::loopback::exchange::read(&order, |order| {
        let order = Order::read(&order).ok()?;
        message((venue, trader), |encoder, slot| {
            let mut reports = Reports { id: 4_321, ..Reports::new(fields, false) };
            let now = UtcTimestamp::now();
            encoder.encode(slot, EXECUTION_REPORT, SeqNum(5_000), MORNING, |body| {
                reports.write(&order, now, body);
            })
        })
    });
    Ok((order, report.flatten().ok_or("a report cannot be written")?))
}

fn message(
    (sender, target): (&str, &str),
    write: impl FnOnce(&mut Encoder, &mut [u8]) -> Option<std::ops::Range<usize>>,
) -> Option<Vec<u8>> {
    let mut encoder = Encoder::new(VERSION.begin_string().as_bytes(), sender.as_bytes(), target.as_bytes())?;
    let mut slot = vec![0; 1024];
    let range = write(&mut encoder, &mut slot)?;
    Some(slot[range].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "20261121-08:59:58.123";

    fn text(write: impl FnOnce(&mut BodyWriter<'_>)) -> String {
        let mut memory = [0; 512];
        let mut body = BodyWriter::new(ORDER, &mut memory);
        write(&mut body);
        String::from_utf8(body.finish().unwrap().bytes.to_vec()).unwrap().replace('\u{1}', "|")
    }

    fn now() -> UtcTimestamp {
        UtcTimestamp::from_unix_nanos(MORNING, fixbolt_codec::Precision::Millis)
    }

    #[test]
    fn a_prepared_order_has_the_bytes_and_the_sum_of_a_written_one() {
        let mut orders = Orders { created: now(), ..Orders::new(true) };
        for number in [0, 9, 10, 9_999, 1_234_567] {
            let prepared = orders.prepared.as_mut().unwrap();
            prepared.begin().value(&number).value(&orders.created).value(&quantity(number));
            let mut memory = [0; 512];
            let mut body = BodyWriter::new(ORDER, &mut memory);
            orders.write(number, &mut body);
            assert_eq!(orders.prepared.as_ref().unwrap().body(), body.finish().unwrap(), "{number}");
        }
        let written = text(|body| orders.write(9, body));
        let created = now();
        assert_eq!(written, format!("11=9|21=1|55=EU|54=1|60={created}|40=2|38=10|59=0|44=30|"));
    }

    #[test]
    fn a_report_has_the_published_fields_and_completed_what_fix_4_2_requires() {
        let (order, _) = raw(Fields::Published).unwrap();
        let written = |fields, is_prepared| {
            let written = crate::loopback::exchange::read(&order, |order| {
                let order = Order::read(&order).unwrap();
                assert!(order.is_expected());
                text(|body| Reports::new(fields, is_prepared).write(&order, now(), body))
            });
            written.unwrap().replace(&now().to_string(), NOW)
        };
        let published = "11=4321|44=30|38=2|60=20261121-08:59:58.123|17=0|37=0|151=2|";
        assert_eq!(written(Fields::Published, false), published);
        let completed = format!("{published}20=0|150=0|39=0|55=EU|54=1|14=0|6=0|");
        assert_eq!(written(Fields::Completed, false), completed);
        assert_eq!(written(Fields::Completed, true), completed);
        assert_eq!(written(Fields::Published, true), published);
    }

    #[test]
    fn a_report_of_another_order_is_noticed() {
        let (_, report) = raw(Fields::Published).unwrap();
        let wrong = |number, fields| {
            crate::loopback::exchange::read(&report, |report| wrong(report, (number, quantity(1)), fields))
                .unwrap()
        };
        assert_eq!(wrong(4_321, Fields::Published), None);
        assert_eq!(wrong(4_322, Fields::Published).unwrap(), "its quantity is 2, not 3");
        assert_eq!(wrong(4_321, Fields::Completed).unwrap(), "field 20 is missing, not 0");
    }
}
