//! Reading orders without sockets: bytes through a session, with journal and message log, into the
//! types of an application.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fixbolt::MessageLog;
use fixbolt_codec::{Decimal, Message, MsgType, SeqNum, Tag};
use fixbolt_dictionary::{Validator, fix42};
use fixbolt_journal::DirectoryStore;
use fixbolt_messages::fix42::NewOrderSingle;
use fixbolt_messages::fix42::fields::{HandlInst, OrdType, Side, TimeInForce};
use fixbolt_session::runtime::mono;
use fixbolt_session::{
    Application, Delivery, Failure, Now, Role, SessionDictionary, SessionKey, Sessions, Socket, Turn, Utc,
    WireObserver,
};
use fixbolt_workloads::harness::{Clock as _, Monotonic, Piece, Recorder, Task};
use fixbolt_workloads::wire::Encoder;

use super::messages::Jlbh;
use crate::folder::Folder;
use crate::loopback::exchange::{Exchange, ORDER};
use crate::loopback::pair::{Keeping, check_journals, check_logs, id, settings};

/// Orders that a session reads.
pub(super) struct Parse {
    /// Until the end.
    sessions: Option<Sessions>,
    key: SessionKey,
    reader: Reader,
    log: Option<Arc<MessageLog>>,
    dropped: Arc<AtomicU64>,
    /// The messages, one after the other, and where each is.
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
    /// What to add to the monotonic clock for the time of day.
    offset: u64,
    recorder: Option<Recorder>,
    read: u64,
    /// Removed after the sessions.
    folder: Folder,
}

/// An application that reads every field of each order.
#[derive(Default)]
struct Reader {
    orders: u64,
    quantity: i64,
}

/// An order as an application keeps it.
struct Order<'m> {
    ord_type: OrdType,
    side: Side,
    symbol: &'m [u8],
    handl_inst: HandlInst,
    transact_time: fixbolt_codec::UtcTimestamp,
    quantity: Decimal,
    price: Option<Decimal>,
    time_in_force: Option<TimeInForce>,
    maturity: Option<fixbolt_codec::MonthYear>,
    security_type: Option<&'m [u8]>,
    id_source: Option<&'m [u8]>,
    security_id: Option<&'m [u8]>,
    account: Option<&'m [u8]>,
    stamp: u64,
}

impl<'m> Order<'m> {
    fn read(message: Message<'m>) -> Result<Self, Failure> {
        let order = NewOrderSingle::read(message)?;
        Ok(Self {
            ord_type: order.ord_type()?,
            side: order.side()?,
            symbol: order.symbol()?.as_bytes(),
            handl_inst: order.handl_inst()?,
            transact_time: order.transact_time()?,
            quantity: message.required(Tag::new(38))?,
            price: order.price()?,
            time_in_force: order.time_in_force()?,
            maturity: message.optional(Tag::new(200))?,
            security_type: message.optional(Tag::new(167))?,
            id_source: message.optional(Tag::new(22))?,
            security_id: message.optional(Tag::new(48))?,
            account: message.optional(Tag::new(1))?,
            stamp: message.required(Tag::new(11))?,
        })
    }
}

impl Application for Reader {
    fn on_message(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if message.msg_type() != ORDER.as_bytes() {
            return Ok(Delivery::UNSUPPORTED);
        }
        let order = black_box(Order::read(message)?);
        let Order { ord_type, side, symbol, handl_inst, transact_time, price, .. } = order;
        let Order { time_in_force, maturity, security_type, id_source, security_id, account, .. } = order;
        black_box((ord_type, side, symbol, handl_inst, transact_time, price));
        black_box((time_in_force, maturity, security_type, id_source, security_id, account));
        // The orders come in the order of their stamps.
        if order.stamp != self.orders {
            let wrong = format!("order {} is read as {}", self.orders, order.stamp);
            return Err(std::io::Error::other(wrong).into());
        }
        self.orders += 1;
        self.quantity += order.quantity.mantissa();
        Ok(Delivery::Done)
    }
}

impl Parse {
    /// Opens a session that logs on, and writes this many orders for it.
    pub(super) fn new(orders: u64) -> Result<Self, String> {
        let keeping = Keeping { validates: true, journals: true, logs: true };
        let folder = Folder::new()?;
        let log = MessageLog::start(folder.0.join("log")).map_err(|error| error.to_string())?;
        let log = Arc::new(log);
        let store = Box::new(DirectoryStore::new(folder.0.join("journal")));
        let id = id(Jlbh::VERSION, Jlbh::PARTIES, 0, Role::Acceptor)?;
        let mut settings = settings(id, Role::Acceptor, keeping);
        settings.dictionary = SessionDictionary::Own(Arc::new(Validator::new(fix42())));
        let mut sessions = Sessions::new(store, settings.limits.max_message_size)
            .observed_by(Arc::clone(&log) as Arc<dyn WireObserver>);
        let utc = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let offset = u64::try_from(utc.as_nanos()).unwrap_or(0).saturating_sub(Monotonic.now());
        let mut reader = Reader::default();
        let now = at(Monotonic.now(), offset);
        let key = sessions.open(now, settings, &mut reader).map_err(|error| error.to_string())?;
        sessions.connected(now, key, &mut reader);
        let (trader, venue) = Jlbh::PARTIES;
        let encoder =
            Encoder::new(Jlbh::VERSION.begin_string().as_bytes(), trader.as_bytes(), venue.as_bytes());
        let mut encoder = encoder.ok_or("the CompIDs are wrong")?;
        let mut parse = Self {
            sessions: Some(sessions),
            key,
            reader,
            log: Some(log),
            dropped: Arc::default(),
            bytes: Vec::new(),
            places: Vec::new(),
            offset,
            recorder: None,
            read: 0,
            folder,
        };
        let mut slot = [0; 1024];
        let logon = MsgType::new(b"A");
        let utc = now.utc.0;
        let logon = encoder.encode(&mut slot, logon, SeqNum(1), utc, |body| {
            body.bytes(fixbolt_codec::Key::new(98), b"0")
                .bytes(fixbolt_codec::Key::new(108), b"30")
                .bytes(fixbolt_codec::Key::new(141), b"Y");
        });
        let logon = logon.ok_or("the Logon cannot be written")?;
        parse.receive(now, &slot[logon])?;
        let mut exchange = Jlbh::as_published();
        for number in 0..orders {
            let range = encoder.encode(&mut slot, ORDER, SeqNum(number + 2), utc, |body| {
                exchange.order(number, number, body);
            });
            let message = &slot[range.ok_or("an order cannot be written")?];
            parse.places.push(parse.bytes.len()..parse.bytes.len() + message.len());
            parse.bytes.extend_from_slice(message);
        }
        Ok(parse)
    }

    /// Adds the lines that the message log drops to a count.
    pub(super) fn count_dropped(mut self, dropped: &Arc<AtomicU64>) -> Self {
        self.dropped = Arc::clone(dropped);
        self
    }

    fn receive(&mut self, now: Now, bytes: &[u8]) -> Result<(), String> {
        let sessions = self.sessions.as_mut().ok_or("the session is closed")?;
        let taken = sessions.receive(now, self.key, bytes, &mut self.reader);
        let answer = sessions.writable(self.key).bytes.len();
        if answer > 0 {
            sessions.wrote(now, self.key, answer, Socket::Full);
        }
        (taken == bytes.len())
            .then_some(())
            .ok_or_else(|| "the session does not read its messages".to_owned())
    }
}

fn at(nanos: u64, offset: u64) -> Now {
    Now { mono: mono(nanos), utc: Utc(nanos + offset) }
}

impl Task for Parse {
    fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
        self.recorder = Some(recorder.clone());
        Ok(())
    }

    fn run(&mut self, piece: Piece) -> Result<(), String> {
        let place = self.places.get(piece.number as usize).ok_or("there are not enough orders")?.clone();
        let bytes = std::mem::take(&mut self.bytes);
        let received = self.receive(at(piece.started, self.offset), black_box(&bytes[place]));
        self.bytes = bytes;
        if let Some(recorder) = &self.recorder {
            recorder.finish(piece.number, Monotonic.now());
        }
        self.read += 1;
        received
    }

    fn complete(&mut self) -> Result<(), String> {
        let Reader { orders, quantity } = self.reader;
        if (orders, quantity) != (self.read, self.read.cast_signed()) {
            return Err(format!("{orders} of {} orders were read, with a quantity of {quantity}", self.read));
        }
        // Closed, so that what it has kept is complete.
        drop(self.sessions.take());
        let dropped = self.log.take().map_or(0, |log| log.dropped());
        self.dropped.fetch_add(dropped, Ordering::Relaxed);
        let ids = [id(Jlbh::VERSION, Jlbh::PARTIES, 0, Role::Acceptor)?];
        check_journals(&self.folder.0.join("journal"), &ids, (0, self.read))?;
        // With the Logon and its answer.
        check_logs(&self.folder.0.join("log"), &ids, self.read, dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_workloads::harness::{Control, Plan, measure};

    /// Loses a folder of what was kept before the end.
    struct Forgetful(Parse, &'static str);

    impl Task for Forgetful {
        fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
            self.0.init(recorder)
        }

        fn run(&mut self, piece: Piece) -> Result<(), String> {
            self.0.run(piece)
        }

        fn complete(&mut self) -> Result<(), String> {
            if !self.1.is_empty() {
                std::fs::remove_dir_all(self.0.folder.0.join(self.1)).unwrap();
            }
            self.0.complete()
        }
    }

    #[test]
    fn what_was_read_is_in_the_journal_and_in_the_message_log() {
        let read = |loses: &'static str| {
            let mut task = Forgetful(Parse::new(30).unwrap(), loses);
            measure(&Plan::closed().iterations(30), &mut task, &Monotonic, &Control::default())
        };
        assert_eq!(read("").unwrap()[0].service.count(), 30);
        assert!(read("journal").is_err() && read("log").is_err());
    }
}
