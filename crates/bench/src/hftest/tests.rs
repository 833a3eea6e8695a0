use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

use fixbolt::session::{
    Application, CodecOperation, CodecTime, Delivery, Event, Failure, Role, SessionSettings, Turn,
};
use fixbolt::testing::Pair;
use fixbolt_codec::{BodySink, Decimal, Message, NewBody, Precision, SeqNum, UtcTimestamp};
use fixbolt_workloads::harness::Control;
use fixbolt_workloads::memory::available_memory;
use fixbolt_workloads::orders::{NEW_ORDER_SINGLE, Order};
use fixbolt_workloads::reports::{EXECUTION_REPORT, Kind};
use fixbolt_workloads::wire::Encoder;

use super::report::HfReport;
use super::*;

/// The published order.
const ORDER: &str =
    "11=ord509647-500000|21=1|55=BHP|54=1|60=20121227-11:20:14|38=57.00|40=2|44=298.075|59=4|";
/// Its confirmation, with LastCapacity 4 instead of 5.
const CONFIRMATION: &str = "37=ord499647|11=ord509647-500000|17=ord499647|20=0|150=0|39=0|55=BHP|54=1|38=57.00|40=2|44=298.07|59=4|29=4|151=57.00|14=0.00|6=0.00|60=20121227-11:20:14|113=Y|21=1|";
/// Its fill.
const FILL: &str = "37=ord499647|11=ord509647-500000|17=exec1463279|20=0|150=0|39=2|55=BHP|54=1|38=57.00|40=2|44=298.07|59=4|151=0.00|14=57.00|6=298.07|60=20121227-11:20:14|21=1|";

fn order(price: Decimal) -> Order<'static> {
    Order {
        cl_ord_id: b"ord509647-500000",
        symbol: b"BHP",
        transact_time: UtcTimestamp::from_unix_nanos(1_356_607_214_000_000_000, Precision::Seconds),
        quantity: Decimal::from_parts(5700, 2),
        price,
    }
}

/// Returns the whole message with this body, as text.
fn encoded(
    (sender, target, msg_type, seq): (&str, &str, fixbolt_codec::MsgType, u64),
    second: u64,
    write: impl FnOnce(&mut fixbolt_codec::BodyWriter<'_>),
) -> String {
    let mut slot = [0; 1024];
    let mut encoder = Encoder::new(b"FIX.4.2", sender.as_bytes(), target.as_bytes())
        .unwrap()
        .with_precision(Precision::Seconds);
    let place = encoder.encode(&mut slot, msg_type, SeqNum(seq), second * 1_000_000_000, write).unwrap();
    String::from_utf8(slot[place].to_vec()).unwrap().replace('\x01', "|")
}

#[test]
fn an_order_is_the_published_one_byte_for_byte() {
    let header = ("DLD_TEX", "TEX_DLD", NEW_ORDER_SINGLE, 499_650);
    let written = encoded(header, 1_356_607_243, |body| order(Decimal::from_parts(298_075, 3)).write(body));
    let header = "8=FIX.4.2|9=146|35=D|49=DLD_TEX|56=TEX_DLD|34=499650|52=20121227-11:20:43|";
    assert_eq!(written, format!("{header}{ORDER}10=170|"));
}

#[test]
fn the_reports_are_the_published_ones_byte_for_byte() {
    let report = |kind, exec_id, leaves, cumulated| HfReport {
        kind,
        order_id: b"ord499647",
        exec_id,
        order: order(Decimal::from_parts(29_807, 2)),
        leaves: Decimal::from_parts(leaves, 2),
        cumulated: Decimal::from_parts(cumulated, 2),
    };
    for (report, seq, length, body) in [
        (report(Kind::Confirmed, b"ord499647", 5700, 0), 1_962_926, 224, CONFIRMATION),
        (report(Kind::Fill, b"exec1463279", 0, 5700), 1_962_929, 217, FILL),
    ] {
        let header = ("TEX_DLD", "DLD_TEX", EXECUTION_REPORT, seq);
        let written = encoded(header, 1_356_607_327, |body| report.write(body));
        let header = "35=8|49=TEX_DLD|56=DLD_TEX|34=";
        let begin = format!("8=FIX.4.2|9={length}|{header}{seq}|52=20121227-11:22:07|{body}10=");
        assert!(written.starts_with(&begin), "{written}");
    }
}

#[test]
fn preloaded_orders_are_small_unique_within_their_bounds_and_repeat_with_their_seed() {
    const { assert!(Preload::ORDER_SIZE * 500_000 < 40_000_000) };
    let (mut one, mut other) = (Preload::new(1), Preload::new(1));
    one.add(6_000, 1_356_607_214).unwrap();
    one.add(4_000, 1_356_607_214).unwrap();
    other.add(10_000, 0).unwrap();
    let (mut id, mut same) = (Vec::new(), Vec::new());
    for number in 1..=10_000 {
        let order = one.get(number).unwrap().order(number, &mut id);
        let other = other.get(number).unwrap().order(number, &mut same);
        assert_eq!((order.quantity, order.price), (other.quantity, other.price));
        let batch = if number <= 6_000 { 6_000 } else { 4_000 };
        assert_eq!(order.cl_ord_id, format!("ord{number}-{batch}").as_bytes());
        assert!((100..=1_000_000).contains(&order.quantity.mantissa()) && order.quantity.scale() == 2);
        assert!((1_000..=500_000).contains(&order.price.mantissa()) && order.price.scale() == 3);
    }
    assert_eq!((one.remaining(), one.sent()), (10_000, 0));
    one.advance();
    assert_eq!((one.remaining(), one.next().unwrap().0), (9_999, 2));
    // One that is sent before those that wait.
    let waits = one.next().unwrap().1;
    one.add_next(1, 7).unwrap();
    assert_eq!((one.remaining(), one.get(3)), (10_000, Some(waits)));
    assert!(one.add(Preload::MOST, 0).is_err());
}

#[test]
fn the_memory_warning_says_how_many_orders_fit() {
    assert_eq!(memory_warning(500_000, Some(8_000_000_000)), None);
    assert_eq!(memory_warning(500_000, None), None);
    let warning = memory_warning(500_000, Some(7_000_000)).unwrap();
    let expected =
        "500000 orders take 9 MB, and 7 MB of memory are available: preload at most 370588 at a time";
    assert_eq!(warning, expected);
    assert!(available_memory().is_none_or(|bytes| bytes > 1_000_000));
}

fn short(orders: u32) -> Run {
    let client = configuration(None, CLIENT, true).unwrap();
    let server = configuration(None, SERVER, false).unwrap();
    assert_eq!((client.warnings.as_slice(), server.warnings.as_slice()), (&[][..], &[][..]));
    assert_eq!((address(&client), address(&server)), (address(&server), "127.0.0.1:11002".to_owned()));
    Run { orders, batch: None, seed: 1, client, server }
}

#[test]
fn every_order_is_answered_and_both_sides_say_what_their_messages_took() {
    for batch in [None, Some(700)] {
        let outcome = run(&Run { batch, ..short(2_000) }, &Control::default()).unwrap();
        assert_eq!(outcome.orders, 2_000);
        assert!((7_200..8_400).contains(&outcome.reports), "{}", outcome.reports);
        let messages = |mode, operation| outcome.total(mode, operation).unwrap().messages;
        // With Logon and Logout.
        assert_eq!(messages(Mode::Client, CodecOperation::Encode), 2_002);
        assert_eq!(messages(Mode::Server, CodecOperation::Decode), 2_002);
        assert_eq!(messages(Mode::Server, CodecOperation::Encode), outcome.reports + 2);
        assert_eq!(messages(Mode::Client, CodecOperation::Decode), outcome.reports + 2);
    }
}

#[test]
fn a_run_that_was_stopped_has_no_orders() {
    let control = Control::default();
    control.stop();
    assert_eq!(run(&short(2_000), &control).unwrap().orders, 0);
}

#[test]
fn a_configuration_of_the_other_side_or_of_several_sessions_is_refused() {
    let wrong = |text: &str, connects| configuration(None, text, connects).unwrap_err();
    assert_eq!(wrong(CLIENT, false), "hftest: the session must have ConnectionType=acceptor");
    assert_eq!(wrong(SERVER, true), "hftest: the session must have ConnectionType=initiator");
    let two = format!(
        "{SERVER}[SESSION]\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nSocketAcceptPort=0\n"
    );
    assert_eq!(wrong(&two, false), "hftest: the test has one session, the file has 2");
    assert!(wrong("[SESSION]\n", false).contains("BeginString"));
}

#[test]
fn the_tables_are_laid_out_as_on_the_page() {
    let timed = |mode, operation, nanos, messages| Timed {
        mode,
        time: CodecTime { operation, time: Duration::from_nanos(nanos), messages },
    };
    let (encode, decode) = (CodecOperation::Encode, CodecOperation::Decode);
    let outcome = Outcome {
        times: vec![
            timed(Mode::Client, encode, 1_372_111_365, 500_005),
            timed(Mode::Client, decode, 13_087_327_673, 1_963_246),
            timed(Mode::Server, encode, 5_719_571_982, 1_967_623),
            timed(Mode::Server, decode, 2_238_811_756, 500_004),
        ],
        orders: 500_000,
        reports: 1_967_000,
        elapsed: Duration::from_secs(20),
        preloaded: Some((500_000, 10_000_000)),
    };
    let report = outcome.report();
    let tables: Vec<String> = report.tables.iter().map(ToString::to_string).collect();
    assert_eq!(tables[..2].join("\n"), include_str!("tables.txt"));
    assert_eq!(report.rows.len(), 7);
    // What is beside other figures says what it is.
    assert!(tables[3].contains("Fix8 preloads message objects"), "{}", tables[3]);
    assert!(report.notes.iter().any(|note| note.contains("Fix8 itself took 0.58 to 1.45 us a message")));
    // A side of its own says only what it knows.
    let server = Outcome { times: outcome.times[2..].to_vec(), ..Outcome::default() };
    assert_eq!((server.report().tables.len(), server.report().rows.len()), (1, 2));
}

/// A server that sends one report after the logon, whatever was ordered.
struct Wrong(Kind, &'static [u8], i64, i64);

impl Application for Wrong {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        if matches!(event, Event::LoggedOn) {
            let Self(kind, cl_ord_id, leaves, cumulated) = *self;
            let order = Order { cl_ord_id, ..order(Decimal::from_parts(29_807, 2)) };
            let (leaves, cumulated) = (Decimal::from_parts(leaves, 2), Decimal::from_parts(cumulated, 2));
            let report = HfReport { kind, order_id: b"ord1", exec_id: b"exec1", order, leaves, cumulated };
            let mut draft = turn.session().draft(EXECUTION_REPORT);
            report.write(draft.writer());
            draft.send()?;
        }
        Ok(())
    }
}

#[test]
fn a_report_that_is_wrong_is_noticed() {
    for (wrong, expected) in [
        (Wrong(Kind::Confirmed, b"ord1-1", 5700, 0), None),
        (Wrong(Kind::Confirmed, b"ord2-1", 5700, 0), Some("no order has this ClOrdID")),
        (Wrong(Kind::Confirmed, b"x", 5700, 0), Some("no order has this ClOrdID")),
        (Wrong(Kind::Confirmed, b"ord1-1", 5600, 0), Some("the quantities do not add up")),
        (Wrong(Kind::Fill, b"ord1-1", 0, 5700), Some("it does not follow the one before it")),
    ] {
        let settings = |id: &str, role| SessionSettings::new(id.parse().unwrap(), role);
        let progress = Arc::new(Progress::default());
        progress.sent.store(1, Ordering::Relaxed);
        let client = Client::new(Arc::clone(&progress), channel().0);
        let mut pair = Pair::new(
            (settings("FIX.4.2:DLD_TEX->TEX_DLD", Role::Initiator), client),
            (settings("FIX.4.2:TEX_DLD->DLD_TEX", Role::Acceptor), wrong),
        )
        .unwrap();
        pair.connect();
        assert_eq!(progress.reports(), 1);
        let found = progress.wrong();
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        assert!(expected.is_none_or(|expected| found.unwrap().contains(expected)));
    }
}
