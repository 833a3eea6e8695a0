//! The orders and reports that a benchmark exchanges.

use fixbolt_codec::{
    BodySink as _, BodyWriter, Index, Message, MsgType, NewBody as _, SeqNum, Span, Tag, Version,
};
use fixbolt_session::{Application, Delivery, Event, Failure, Turn};
use fixbolt_workloads::orders::NEW_ORDER_SINGLE;
use fixbolt_workloads::reports::EXECUTION_REPORT;
use fixbolt_workloads::wire;

use super::watch::Watch;
use crate::messages::MORNING;

/// The orders of a trader and the reports of a venue. The trader's stamp, a number that no other
/// order has, travels in ClOrdID (11) and comes back with the report.
pub(super) trait Exchange: Clone + Send + 'static {
    /// The version.
    const VERSION: Version;
    /// CompIDs of trader and venue.
    const PARTIES: (&'static str, &'static str);
    /// The names of the messages.
    const NAME: &'static str;

    /// Writes order `number` with a stamp.
    fn order(&mut self, number: u64, stamp: u64, body: &mut BodyWriter<'_>);

    /// Reads an order and writes its report.
    ///
    /// # Errors
    /// Returns an error if the order is not as it should be.
    fn report(&mut self, order: Message<'_>, body: &mut BodyWriter<'_>) -> Result<(), Failure>;

    /// Reads a report as an application does, and returns its stamp.
    ///
    /// # Errors
    /// Returns an error if the report is not as it should be.
    fn read(&mut self, report: Message<'_>) -> Result<u64, Failure> {
        Ok(report.required(Tag::new(11))?)
    }

    /// Returns why a report is not that of order `number`, if it is not. Called for the first ones.
    fn wrong(&self, number: u64, report: Message<'_>) -> Option<String>;

    /// The venue: answers an order in its turn.
    ///
    /// # Errors
    /// Returns an error if the message is no such order, or the report cannot be sent.
    fn answer(&mut self, order: Message<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let mut draft = turn.session().draft(EXECUTION_REPORT);
        self.report(order, draft.writer())?;
        draft.send()?;
        Ok(())
    }
}

/// The type of orders.
pub(super) const ORDER: MsgType = NEW_ORDER_SINGLE;

/// Returns the first of these fields that a message does not have with this value.
pub(super) fn differs(message: Message<'_>, fields: &[(u32, &[u8])]) -> Option<String> {
    let differs = |(tag, value): &&(u32, &[u8])| message.get(Tag::new(*tag)) != Some(*value);
    let (tag, value) = fields.iter().find(differs)?;
    let is = message.get(Tag::new(*tag)).unwrap_or(b"missing").escape_ascii();
    Some(format!("field {tag} is {is}, not {}", value.escape_ascii()))
}

/// The venue's application: answers each order with its report.
pub(super) struct Venue<E> {
    exchange: E,
    watch: Watch,
}

impl<E: Exchange> Venue<E> {
    pub(super) fn new(exchange: E, watch: &Watch) -> Self {
        Self { exchange, watch: watch.clone() }
    }
}

impl<E: Exchange> Application for Venue<E> {
    fn on_message(&mut self, order: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if order.msg_type() != ORDER.as_bytes() {
            return Ok(Delivery::UNSUPPORTED);
        }
        let answered = self.exchange.answer(order, turn);
        answered.inspect_err(|error| self.watch.fail(format!("the venue could not answer: {error}")))?;
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.watch.event("venue", event);
        Ok(())
    }
}

/// Returns what `look` returns of the message in `bytes`.
pub(super) fn read<R>(bytes: &[u8], look: impl FnOnce(Message<'_>) -> R) -> Option<R> {
    let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
    let mut index = Index::new(&mut tags, &mut spans);
    wire::read(&mut index, bytes).map(look)
}

/// Returns order 0 with a stamp, and its report, as whole messages with a MsgSeqNum of five digits.
pub(super) fn raw<E: Exchange>(exchange: &E, stamp: u64) -> Result<(Vec<u8>, Vec<u8>), String> {
    raw_at(exchange, SeqNum(10_000), (0, stamp))
}

/// Returns order `number` with a stamp, and its report, as whole messages with this MsgSeqNum.
pub(super) fn raw_at<E: Exchange>(
    exchange: &E,
    seq: SeqNum,
    (number, stamp): (u64, u64),
) -> Result<(Vec<u8>, Vec<u8>), String> {
    let mut exchange = exchange.clone();
    let (trader, venue) = E::PARTIES;
    let write = |body: &mut BodyWriter<'_>| exchange.order(number, stamp, body);
    let order = message::<E>((trader, venue), ORDER, seq, write);
    let order = order.ok_or("an order cannot be written")?;
    let report = read(&order, |order| {
        let mut answered = Ok(());
        let write = |body: &mut BodyWriter<'_>| answered = exchange.report(order, body);
        let report = message::<E>((venue, trader), EXECUTION_REPORT, seq, write);
        answered.ok().and(report)
    });
    Ok((order, report.flatten().ok_or("a report cannot be written")?))
}

fn message<E: Exchange>(
    (sender, target): (&str, &str),
    msg_type: MsgType,
    seq: SeqNum,
    write: impl FnOnce(&mut BodyWriter<'_>),
) -> Option<Vec<u8>> {
    let version = E::VERSION.begin_string().as_bytes();
    let mut encoder = wire::Encoder::new(version, sender.as_bytes(), target.as_bytes())?;
    let mut slot = vec![0; 1024];
    let range = encoder.encode(&mut slot, msg_type, seq, MORNING, write)?;
    Some(slot[range].to_vec())
}
