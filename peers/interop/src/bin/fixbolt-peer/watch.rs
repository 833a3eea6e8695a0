//! Prints what the journal accepts as events. A store that wraps the journal prints each message
//! after its turn is committed, and a ledger keeps what the harness asks for. A printed message is
//! in the journal, whatever happens to the process next.

use fixbolt::codec::Tag;
use fixbolt::session::{Direction, SessionKey, StoredMessage};
use fixbolt::store::{Intercept, Intercepted, Position, Record, RecordFlags, RecordKind, Store, StoreError};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};

/// Prints what is committed to the store that it wraps.
pub(crate) struct Watched {
    ledger: Arc<Ledger>,
    turn: Vec<Noted>,
}

/// Sequence numbers, sent orders and delivered messages, according to the journal.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<Book>);

#[derive(Default)]
struct Book {
    next_in: u64,
    next_out: u64,
    logged_on: bool,
    silent: bool,
    /// The number of deliveries, by MsgType and ClOrdID.
    delivered: BTreeMap<String, HashMap<String, u64>>,
    /// The highest number of an order that was sent, by PREFIX.
    sent: HashMap<String, u64>,
    /// The parties of the message in the current turn.
    parties: String,
}

/// A record to be printed.
struct Noted {
    kind: RecordKind,
    flags: RecordFlags,
    seq: u64,
    next_in: u64,
    body: String,
}

impl Noted {
    fn of(record: &Record<'_>) -> Self {
        Self {
            kind: record.kind,
            flags: record.flags,
            seq: record.seq.0,
            next_in: record.next_in.0,
            body: String::from_utf8_lossy(record.body).into_owned(),
        }
    }

    fn stored(stored: &StoredMessage<'_>) -> Self {
        let delivered = if stored.delivered { RecordFlags::DELIVERED } else { RecordFlags::default() };
        let poss_dup = stored.message.get(Tag::new(43)) == Some(b"Y");
        let kind = match stored.direction {
            Direction::Inbound => RecordKind::Inbound,
            Direction::Outbound => RecordKind::Outbound,
        };
        Self {
            kind,
            flags: if poss_dup { delivered.with(RecordFlags::POSS_DUP) } else { delivered },
            seq: stored.seq.0,
            // The ledger is given both sequence numbers once everything is read.
            next_in: 0,
            body: String::from_utf8_lossy(stored.message.bytes()).into_owned(),
        }
    }

    fn has(&self, flag: RecordFlags) -> bool {
        self.flags.contains(flag)
    }

    /// Returns the first field with a tag; correct for messages without data fields.
    fn field(&self, tag: &str) -> &str {
        let mut fields = self.body.split('\u{1}').filter_map(|field| field.split_once('='));
        fields.find(|(found, _)| *found == tag).map_or("", |(_, value)| value)
    }
}

impl Ledger {
    /// Records a stored message without printing it.
    pub(crate) fn learn(&self, stored: &StoredMessage<'_>) {
        self.book().learn(&Noted::stored(stored));
    }

    /// Clears the ledger, before the journal is read again.
    pub(crate) fn begin_again(&self) {
        let mut book = self.book();
        book.delivered.clear();
        book.sent.clear();
    }

    pub(crate) fn set_numbers(&self, next_in: u64, next_out: u64) {
        let mut book = self.book();
        (book.next_in, book.next_out) = (next_in, next_out);
    }

    pub(crate) fn say_numbers(&self, event: &str) {
        let book = self.book();
        let numbers = [("next_out", book.next_out.into()), ("next_in", book.next_in.into())];
        say(event, &numbers);
    }

    pub(crate) fn say_tally(&self) {
        for (msg_type, orders) in &self.book().delivered {
            let again: u64 = orders.values().map(|times| times - 1).sum();
            let counts = [("distinct", (orders.len() as u64).into()), ("delivered_again", again.into())];
            say("tally", &[&[("msg_type", msg_type.clone().into())], &counts[..]].concat());
        }
        say("tally-end", &[]);
    }

    /// Returns the previous value.
    pub(crate) fn set_logged_on(&self, yes: bool) -> bool {
        std::mem::replace(&mut self.book().logged_on, yes)
    }

    pub(crate) fn is_logged_on(&self) -> bool {
        self.book().logged_on
    }

    pub(crate) fn answer_orders(&self, yes: bool) {
        self.book().silent = !yes;
    }

    pub(crate) fn answers_orders(&self) -> bool {
        !self.book().silent
    }

    pub(crate) fn highest_sent(&self, prefix: &str) -> u64 {
        self.book().sent.get(prefix).copied().unwrap_or_default()
    }

    pub(crate) fn read_parties(&self, parties: String) {
        self.book().parties = parties;
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().expect("no holder panics")
    }
}

impl Book {
    fn learn(&mut self, record: &Noted) {
        self.next_in = record.next_in;
        match record.kind {
            RecordKind::Outbound if !record.has(RecordFlags::POSS_DUP) => {
                self.next_out = record.seq + 1;
                if let Some((prefix, n)) = record.field("11").rsplit_once('-')
                    && record.field("35") == "D"
                    && let Ok(n) = n.parse::<u64>()
                {
                    let highest = self.sent.entry(prefix.to_owned()).or_default();
                    *highest = n.max(*highest);
                }
            }
            RecordKind::Inbound if record.has(RecordFlags::DELIVERED) => {
                let orders = self.delivered.entry(record.field("35").to_owned()).or_default();
                *orders.entry(record.field("11").to_owned()).or_default() += 1;
            }
            RecordKind::Reset | RecordKind::Adjust => self.next_out = record.seq,
            _ => {}
        }
    }

    fn tell(&mut self, record: &Noted) {
        let direction = match record.kind {
            RecordKind::Inbound => "in",
            RecordKind::Outbound => "out",
            _ => return say("note", &[("text", format!("{:?}: {}", record.kind, record.body).into())]),
        };
        let mut fields: Vec<(&str, Value)> = vec![
            ("msg_type", record.field("35").into()),
            ("admin", record.has(RecordFlags::ADMIN).into()),
            ("seq", record.seq.into()),
            ("poss_dup", record.has(RecordFlags::POSS_DUP).into()),
        ];
        if record.has(RecordFlags::ADMIN) {
            fields.push(("raw", record.body.clone().into()));
        } else {
            fields.push(("cl_ord_id", record.field("11").into()));
            fields.push(("exec_id", record.field("17").into()));
        }
        say(direction, &fields);
        if record.kind == RecordKind::Inbound && record.has(RecordFlags::DELIVERED) {
            fields.push(("parties", std::mem::take(&mut self.parties).into()));
            fields.push(("text_bytes", record.field("58").len().into()));
            fields.push(("ord_status", record.field("39").into()));
            say("delivered", &fields);
        }
    }
}

/// Writes one event line.
pub(crate) fn say(event: &str, fields: &[(&str, Value)]) {
    let mut object = Map::new();
    object.insert("event".into(), event.into());
    object.extend(fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    let mut line = Value::Object(object).to_string();
    line.push('\n');
    if std::io::stdout().lock().write_all(line.as_bytes()).is_err() {
        std::process::exit(2); // nothing reads the events any more
    }
}

impl Watched {
    pub(crate) fn around<S: Store>(store: S, ledger: Arc<Ledger>) -> Intercepted<S, Self> {
        Intercepted::new(store, Self { ledger, turn: Vec::new() })
    }
}

impl<S: Store> Intercept<S> for Watched {
    fn begin(&mut self, store: &mut S) {
        self.turn.clear();
        store.begin();
    }

    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.turn.push(Noted::of(record));
        store.append(session, record)
    }

    fn commit(&mut self, store: &mut S) -> Result<Position, StoreError> {
        let position = store.commit()?.position;
        let mut book = self.ledger.book();
        for record in self.turn.drain(..) {
            book.learn(&record);
            book.tell(&record);
        }
        Ok(position)
    }

    fn rollback(&mut self, store: &mut S) {
        self.turn.clear();
        store.rollback();
    }
}
