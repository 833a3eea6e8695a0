//! The acceptor: a session that is logged on, its application, and the counterparty.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::{Index, Message, Span, Tag, Tier};
use fixbolt_dictionary::{Policy, Validator, fix44};
use fixbolt_session::store::{SessionKey, Store};
use fixbolt_session::{Now, Role, SessionDictionary, SessionId, SessionSettings, Sessions, Socket};
use fixbolt_workloads::wire::read;

use super::Operation;
use super::trader::{Trader, at, logon};
use super::venue::{Venue, Work};
use crate::folder::Folder;
use crate::messages::{Nos222, RING};
use crate::results::Row;

/// More fields than a message here has, by as many as the widest instructions write at a time.
pub(super) const FIELDS: usize = 160;

/// An acceptor that differs from the one that users have.
#[derive(Clone, Copy, Default)]
pub(super) struct Without {
    pub(super) dictionary: bool,
    pub(super) work: Work,
}

/// A session that is logged on, its application, and the orders for it.
pub(super) struct Acceptor {
    pub(super) name: &'static str,
    pub(super) sessions: Sessions,
    pub(super) key: SessionKey,
    pub(super) venue: Venue,
    pub(super) trader: Trader,
    /// The directory of the journal, which must be removed after the sessions.
    _folder: Option<Folder>,
}

impl Acceptor {
    pub(super) fn new(
        name: &'static str,
        store: Box<dyn Store>,
        folder: Option<Folder>,
        without: Without,
    ) -> Result<Self, String> {
        let (trader, venue) = Nos222::PARTIES;
        let id = SessionId::new(Nos222::VERSION, venue, trader).map_err(|error| error.to_string())?;
        let settings = SessionSettings::new(id, Role::Acceptor).with(|s| {
            s.dictionary = match without.dictionary {
                true => SessionDictionary::None,
                false => SessionDictionary::Own(Arc::new(Validator::new(fix44()))),
            };
        });
        let mut sessions = Sessions::new(store, settings.limits.max_message_size);
        let mut venue = Venue::new(without.work);
        let now = at(Duration::ZERO);
        let key = sessions.open(now, settings, &mut venue).map_err(|error| format!("{name}: {error}"))?;
        sessions.connected(now, key, &mut venue);
        let mut acceptor = Self { name, sessions, key, venue, trader: Trader::new()?, _folder: folder };
        if acceptor.feed(now, &logon(), |answer| is_next(answer, b"A", 1)) {
            Ok(acceptor)
        } else {
            Err(format!("{name}: the Logon is not answered"))
        }
    }

    /// Receives a message; `right` checks what is sent. Returns whether the message was consumed
    /// and the answer is right.
    #[inline]
    pub(super) fn feed(&mut self, now: Now, bytes: &[u8], right: impl FnOnce(&[u8]) -> bool) -> bool {
        let Self { sessions, key, venue, .. } = self;
        let taken = sessions.receive(now, *key, bytes, venue);
        self.sent(now, right) && taken == bytes.len()
    }

    /// Takes what is to be sent; `right` checks it.
    #[inline]
    pub(super) fn sent(&mut self, now: Now, right: impl FnOnce(&[u8]) -> bool) -> bool {
        let Self { sessions, key, .. } = self;
        let answer = sessions.writable(*key).bytes;
        let (right, len) = (right(answer), answer.len());
        sessions.wrote(now, *key, len, Socket::Full);
        right
    }

    /// Feeds the next messages of the block, each with `act`; returns how many of them it found
    /// right.
    #[inline]
    pub(super) fn each(
        &mut self,
        messages: usize,
        mut act: impl FnMut(&mut Self, Now, &[u8]) -> bool,
    ) -> usize {
        let mut block = std::mem::take(&mut self.trader.block);
        let right = block.take(messages).filter(|(now, bytes)| act(self, *now, black_box(bytes))).count();
        self.trader.block = block;
        right
    }

    /// Feeds the block's next orders; returns how many were consumed and answered.
    pub(super) fn answer(&mut self, orders: usize) -> usize {
        self.each(orders, |acceptor, now, order| {
            acceptor.feed(now, order, |report| !black_box(report).is_empty())
        })
    }

    /// Returns an error about what the counterparty cannot write.
    pub(super) fn unwritten(&self, what: &str) -> String {
        format!("{}: no {what} can be written", self.name)
    }
}

/// Orders that are answered with a report each.
pub(super) struct Orders(pub(super) Acceptor);

impl Orders {
    /// Creates the operation, and checks every report of three rings: one valid message, with the
    /// next sequence number, about its order.
    pub(super) fn checked(acceptor: Acceptor) -> Result<Self, String> {
        let mut orders = Self(acceptor);
        orders.check()?;
        Ok(orders)
    }

    pub(super) fn check(&mut self) -> Result<(), String> {
        let validator = Validator::new(fix44());
        let mut scratch = validator.scratch();
        self.prepare(3 * RING)?;
        let about = self.0.venue.work == Work::ReadAndReport;
        for n in 0..3 * RING {
            let right = self.0.each(1, |acceptor, now, order| {
                let reports = acceptor.venue.work != Work::Read;
                acceptor.feed(now, order, |report| {
                    if !reports {
                        return report.is_empty();
                    }
                    is_next(report, b"8", 2 + n as u64)
                        && of(report, |report| {
                            let found = validator.all(&report, &Policy::standard(), &mut scratch);
                            found.is_empty() && (!about || of(order, |order| is_fill(report, order)))
                        })
                })
            });
            if right == 0 {
                return Err(format!("{}: report {n} is wrong", self.0.name));
            }
        }
        Ok(())
    }
}

impl Operation for Orders {
    fn row(&self) -> Row {
        Row::of_ns("session", "NOS-222", self.0.name, 0.0).tier(Tier::best().name())
    }

    fn prepare(&mut self, orders: usize) -> Result<(), String> {
        self.0.trader.orders(orders).ok_or_else(|| self.0.unwritten("order"))
    }

    fn work(&mut self, orders: usize) -> usize {
        if self.0.venue.work == Work::Read {
            return self.0.each(orders, |acceptor, now, order| acceptor.feed(now, order, <[u8]>::is_empty));
        }
        self.0.answer(orders)
    }
}

/// Returns the result of `look` for the message in `bytes`, or `false` if they are not a message.
pub(super) fn of(bytes: &[u8], look: impl FnOnce(Message<'_>) -> bool) -> bool {
    let (mut tags, mut spans) = ([0; FIELDS], [Span::default(); FIELDS]);
    let mut index = Index::new(&mut tags, &mut spans);
    read(&mut index, bytes).is_some_and(|message| message.bytes() == bytes && look(message))
}

/// Returns whether `bytes` are a message of this type with this sequence number.
pub(super) fn is_next(bytes: &[u8], msg_type: &[u8], seq: u64) -> bool {
    of(bytes, |message| {
        message.msg_type() == msg_type && message.get(Tag::new(34)) == Some(seq.to_string().as_bytes())
    })
}

/// Returns whether a report says that its order is completely filled at its price.
fn is_fill(report: Message<'_>, order: Message<'_>) -> bool {
    let same = [(11, 11), (55, 55), (54, 54), (38, 38), (44, 44), (32, 38), (31, 44), (14, 38), (6, 44)];
    same.into_iter().all(|(its, the_orders)| {
        report.get(Tag::new(its)).is_some() && report.get(Tag::new(its)) == order.get(Tag::new(the_orders))
    }) && report.get(Tag::new(151)) == Some(b"0")
}
