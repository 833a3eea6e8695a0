//! Whole messages with groups from typed values, with the generated writers, which write-typed
//! times.

use std::ops::Range;

use fixbolt_codec::{EncodeError, Precision, SeqNum};
use fixbolt_messages::fix44::fields::{MDEntryType, SecurityIDSource, SubscriptionRequestType};
use fixbolt_messages::fix44::groups::{instrmt_leg_grp, instrmt_md_req_grp, leg_sec_alt_id_grp, md_req_grp};
use fixbolt_messages::fix44::prelude::*;
use fixbolt_messages::fix44::{MarketDataRequest, QuoteStatusRequest, market_data_request as request};
use fixbolt_workloads::wire::{Encoder, Outgoing};

use crate::messages::RING;
use crate::more_messages::{LEG_IDS, legs, md_req_id, pair};

/// 2007-11-23 05:30:00 UTC, in nanoseconds since 1970.
const SENT: u64 = 1_195_795_800_000_000_000;

/// Returns SendingTime (52) of member `n` of a ring of FsFIX's messages, in nanoseconds since 1970.
#[inline]
pub(crate) fn sent(n: u64) -> u64 {
    SENT + n % 60 * 1_000_000_000 + n * 37 % 1000 * 1_000_000
}

/// The writer of a session, and the values that messages are made from.
#[derive(Debug)]
pub struct Session {
    encoder: Encoder,
    slot: Vec<u8>,
    values: Vec<Values>,
}

/// The values of a message of a ring.
#[derive(Debug)]
struct Values {
    md_req_id: String,
    pair: String,
    symbol: String,
    legs: [(String, &'static str); 3],
}

impl Session {
    /// Returns `None` if the parties are not CompIDs.
    #[must_use]
    pub fn new() -> Option<Self> {
        let encoder =
            Encoder::new(b"FIX.4.4", b"senderCompID", b"targetCompID")?.with_precision(Precision::Millis);
        let values = |n| Values {
            md_req_id: md_req_id(n),
            pair: pair(n),
            symbol: format!("ABC{}", 10 + n),
            legs: legs(n),
        };
        Some(Self { encoder, slot: vec![0; 1024], values: (0..RING as u64).map(values).collect() })
    }

    #[inline]
    fn message(
        &mut self,
        n: u64,
        write: impl FnOnce(Outgoing<'_, '_>, &Values) -> Result<Range<usize>, EncodeError>,
    ) -> Option<&[u8]> {
        let values = self.values.get(usize::try_from(n).ok()?)?;
        let message = self.encoder.message(&mut self.slot, SeqNum(10 + n), sent(n));
        let place = write(message, values).ok()?;
        self.slot.get(place)
    }
}

/// Writes MarketDataRequest `n`; returns `None` if a field was refused.
#[inline]
pub fn market_data_request(session: &mut Session, n: u64) -> Option<&[u8]> {
    session.message(n, |outgoing, values| {
        let required = request::Required {
            md_req_id: values.md_req_id.as_bytes(),
            subscription_request_type: SubscriptionRequestType::from_value(b'1'),
            market_depth: 1,
        };
        MarketDataRequest::send(outgoing, required, |message| {
            let mut types = message.md_entry_types();
            for code in [b'0', b'1'] {
                types.entry(md_req_grp::Required { md_entry_type: MDEntryType::from_value(code) });
            }
            let symbol = values.pair.as_bytes();
            message.related_sym().entry(instrmt_md_req_grp::Required { symbol });
        })
    })
}

/// Writes QuoteStatusRequest `n` with three legs; returns `None` if a field was refused.
#[inline]
pub fn quote_status_request(session: &mut Session, n: u64) -> Option<&[u8]> {
    session.message(n, |outgoing, values| {
        QuoteStatusRequest::send(outgoing, |message| {
            message.symbol(&values.symbol);
            let mut legs = message.legs();
            for (symbol, suffix) in &values.legs {
                let required = instrmt_leg_grp::Required { leg_symbol: symbol.as_bytes() };
                legs.entry(required).leg_symbol_sfx(suffix);
            }
        })
    })
}

/// Writes QuoteStatusRequest `n` with a group in each leg; returns `None` if a field was refused.
#[inline]
pub fn nested_quote_status_request(session: &mut Session, n: u64) -> Option<&[u8]> {
    session.message(n, |outgoing, values| {
        QuoteStatusRequest::send(outgoing, |message| {
            message.symbol(&values.symbol);
            let mut legs = message.legs();
            for ((symbol, suffix), ids) in values.legs.iter().zip(LEG_IDS) {
                let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol: symbol.as_bytes() });
                leg.leg_symbol_sfx(suffix);
                let mut alt_ids = leg.leg_security_alt_id();
                for (id, source) in ids {
                    let required = leg_sec_alt_id_grp::Required { leg_security_alt_id: id.as_bytes() };
                    let source = SecurityIDSource::from_value(source.as_bytes());
                    alt_ids.entry(required).leg_security_alt_id_source(source);
                }
            }
        })
    })
}
