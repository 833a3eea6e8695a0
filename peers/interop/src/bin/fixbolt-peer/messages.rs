//! Orders and their reports in FIX.4.2 and FIX.4.4, as typed messages.

use fixbolt::codec::{Decimal, Message, Tag, UtcTimestamp, Version};
use fixbolt::messages::fix44::groups::parties;
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::{fix42, fix44};
use fixbolt::session::{SendError, Turn};
use fixbolt::{PostError, Sender};

/// A limit order to buy.
pub(crate) struct NewOrder<'o> {
    pub(crate) cl_ord_id: &'o str,
    pub(crate) quantity: u64,
    /// Whether it has the two parties that every peer writes in its group orders (FIX.4.4).
    pub(crate) parties: bool,
    /// Its Text (58), if not empty.
    pub(crate) text: &'o str,
}

const SYMBOL: &[u8] = b"FXBT";
const PRICE: Decimal = Decimal::from_parts(5700, 2);

/// Returns "id/source/role" of every party of an order or report, separated by commas.
pub(crate) fn parties_of(version: Version, message: Message<'_>) -> String {
    let group = match (version, message.msg_type()) {
        (Version::Fix44, b"D") => fix44::NewOrderSingle::read(message).ok().and_then(|m| m.party_ids().ok()),
        (Version::Fix44, b"8") => fix44::ExecutionReport::read(message).ok().and_then(|m| m.party_ids().ok()),
        _ => None,
    };
    let shown = group.into_iter().flatten().map(|party| {
        let id = party.party_id().unwrap_or("?".into()).escape_ascii();
        let source = party.party_id_source().ok().flatten().map_or(b'?', |source| source.value());
        let role = party.party_role().ok().flatten().map_or(-1, |role| role.value());
        format!("{id}/{}/{role}", char::from(source))
    });
    shown.collect::<Vec<_>>().join(",")
}

impl NewOrder<'_> {
    /// Sends it from this thread.
    pub(crate) fn send(&self, to: &mut Sender, version: Version) -> Result<(), PostError> {
        let cl_ord_id = self.cl_ord_id;
        let transact_time = UtcTimestamp::now();
        let quantity = Decimal::from(self.quantity as i64);
        match version {
            Version::Fix42 => {
                use fix42::fields::{HandlInst, OrdType, Side};
                fix42::OrderSingle::send(
                    to,
                    fix42::order_single::Required {
                        cl_ord_id,
                        handl_inst: HandlInst::AUTOMATED_EXECUTION_NO_INTERVENTION,
                        symbol: SYMBOL,
                        side: Side::BUY,
                        transact_time,
                        ord_type: OrdType::LIMIT,
                    },
                    |order| {
                        order.order_qty(quantity).price(PRICE);
                        if !self.text.is_empty() {
                            order.text(self.text);
                        }
                    },
                )?;
            }
            _ => {
                use fix44::fields::{OrdType, PartyIDSource, PartyRole, Side};
                let required = fix44::new_order_single::Required {
                    cl_ord_id,
                    side: Side::BUY,
                    transact_time,
                    ord_type: OrdType::LIMIT,
                };
                fix44::NewOrderSingle::send(to, required, |order| {
                    order.symbol(SYMBOL).order_qty(quantity).price(PRICE);
                    if !self.text.is_empty() {
                        order.text(self.text);
                    }
                    if !self.parties {
                        return;
                    }
                    let both: [(&[u8], _); 2] = [
                        (b"DEUTDEFF", PartyRole::EXECUTING_FIRM),
                        (b"TRADER7", PartyRole::ORDER_ORIGINATION_TRADER),
                    ];
                    let mut parties = order.party_ids();
                    for (party_id, role) in both {
                        parties
                            .entry(parties::Required { party_id })
                            .party_id_source(PartyIDSource::PROPRIETARY)
                            .party_role(role);
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// Sends an OrderCancelRequest for an order.
pub(crate) fn cancel(to: &mut Sender, version: Version, orig_cl_ord_id: &[u8]) -> Result<(), PostError> {
    let cl_ord_id = &[b"CANCEL-", orig_cl_ord_id].concat();
    let transact_time = UtcTimestamp::now();
    if version == Version::Fix42 {
        use fix42::fields::Side;
        let symbol = SYMBOL;
        let required = fix42::order_cancel_request::Required {
            orig_cl_ord_id,
            cl_ord_id,
            symbol,
            side: Side::BUY,
            transact_time,
        };
        fix42::OrderCancelRequest::send(to, required, |_| {})?;
    } else {
        use fix44::fields::Side;
        let required = fix44::order_cancel_request::Required {
            orig_cl_ord_id,
            cl_ord_id,
            side: Side::BUY,
            transact_time,
        };
        fix44::OrderCancelRequest::send(to, required, |cancel| {
            cancel.symbol(SYMBOL).order_qty(Decimal::from(1));
        })?;
    }
    Ok(())
}

/// Answers an order with a report that fills it, with the Text and the parties of the order.
pub(crate) fn report_filled(
    order: Message<'_>,
    turn: &mut Turn<'_>,
    version: Version,
) -> Result<(), SendError> {
    let cl_ord_id = order.get(Tag::new(11)).unwrap_or(b"?");
    let symbol = order.get(Tag::new(55)).unwrap_or(SYMBOL);
    let order_id = [b"O-", cl_ord_id].concat();
    let exec_id = [b"E-", cl_ord_id].concat();
    let decimal = |tag| order.get(Tag::new(tag)).and_then(|value| Decimal::parse(value).ok());
    let (quantity, price) = (decimal(38).unwrap_or(Decimal::from(0)), decimal(44).unwrap_or(PRICE));
    let text = order.get(Tag::new(58));
    match version {
        Version::Fix42 => {
            use fix42::fields::{ExecTransType, ExecType, OrdStatus, Side};
            fix42::ExecutionReport::send(
                turn.session(),
                fix42::execution_report::Required {
                    order_id: &order_id,
                    exec_id: &exec_id,
                    exec_trans_type: ExecTransType::NEW,
                    exec_type: ExecType::FILL,
                    ord_status: OrdStatus::FILLED,
                    symbol,
                    side: Side::BUY,
                    leaves_qty: 0,
                    cum_qty: quantity,
                    avg_px: price,
                },
                |report| {
                    report.cl_ord_id(cl_ord_id).order_qty(quantity).price(price);
                    report.last_shares(quantity).last_px(price);
                    if let Some(text) = text {
                        report.text(text);
                    }
                },
            )?;
        }
        _ => {
            use fix44::fields::{ExecType, OrdStatus, Side};
            let required = fix44::execution_report::Required {
                order_id: &order_id,
                exec_id: &exec_id,
                exec_type: ExecType::TRADE,
                ord_status: OrdStatus::FILLED,
                side: Side::BUY,
                leaves_qty: 0,
                cum_qty: quantity,
                avg_px: price,
            };
            fix44::ExecutionReport::send(turn.session(), required, |report| {
                report.cl_ord_id(cl_ord_id).symbol(symbol).order_qty(quantity).price(price);
                report.last_qty(quantity).last_px(price);
                if let Some(text) = text {
                    report.text(text);
                }
                let ordered =
                    fix44::NewOrderSingle::read(order).ok().and_then(|order| order.party_ids().ok());
                let mut parties = report.party_ids();
                for party in ordered.into_iter().flatten() {
                    let party_id = party.party_id().unwrap_or("?".into());
                    let mut entry = parties.entry(parties::Required { party_id });
                    if let Ok(Some(source)) = party.party_id_source() {
                        entry.party_id_source(source);
                    }
                    if let Ok(Some(role)) = party.party_role() {
                        entry.party_role(role);
                    }
                }
            })?;
        }
    }
    Ok(())
}
