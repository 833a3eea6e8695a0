//! Reads every field of a message as its type, through the generated views, in wire order.
//!
//! BeginString, BodyLength, MsgType and CheckSum are omitted: framing, the index and the view have
//! read them.

use std::hint::black_box;

use fixbolt_codec::{
    Char, Country, Currency, Date, Decimal, Digits, Message, MonthYear, SeqNum, Text, ToField, UtcTimestamp,
};
use fixbolt_messages::fix42::ExecutionReport;
use fixbolt_messages::fix44::prelude::*;
use fixbolt_messages::fix44::{MarketDataRequest, NewOrderMultileg, NewOrderSingle, QuoteStatusRequest};

/// What is done with each value.
pub trait Seen {
    /// Receives the value of field `tag`.
    fn see<T: Shown>(&mut self, tag: u32, value: T);
}

/// Only ensures that the value is read.
#[derive(Clone, Copy, Debug)]
pub struct Used;

impl Seen for Used {
    #[inline]
    fn see<T: Shown>(&mut self, _: u32, value: T) {
        black_box(value);
    }
}

/// Keeps the values as text, for comparison with the message.
#[derive(Clone, Debug, Default)]
pub struct Kept(pub Vec<(u32, Vec<u8>)>);

impl Kept {
    /// Returns the fields of a message, except those that are omitted.
    #[must_use]
    pub fn of(message: &Message<'_>) -> Self {
        let fields = message.fields().filter_map(|field| Some((field.tag?.number(), field.value.to_vec())));
        Self(fields.filter(|(tag, _)| ![8, 9, 35, 10].contains(tag)).collect())
    }
}

impl Seen for Kept {
    fn see<T: Shown>(&mut self, tag: u32, value: T) {
        let mut text = Vec::new();
        value.show(&mut text);
        self.0.push((tag, text));
    }
}

/// A value that can be written as it was on the wire.
pub trait Shown {
    /// Appends the text.
    fn show(self, to: &mut Vec<u8>);
}

impl Shown for &[u8] {
    fn show(self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
    }
}

impl Shown for &Text {
    fn show(self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
    }
}

/// A code of one character.
impl Shown for u8 {
    fn show(self, to: &mut Vec<u8>) {
        to.push(self);
    }
}

/// A number of entries.
impl Shown for usize {
    fn show(self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.to_string().as_bytes());
    }
}

impl Shown for SeqNum {
    fn show(self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.to_string().as_bytes());
    }
}

impl Shown for Digits<'_> {
    fn show(self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.as_bytes());
    }
}

macro_rules! shown_as_written {
    ($($type:ty)*) => {$(
        impl Shown for $type {
            fn show(self, to: &mut Vec<u8>) {
                let mut text = vec![0; <$type as ToField>::MAX_LEN];
                let length = self.write_to(&mut text);
                to.extend_from_slice(&text[..length]);
            }
        }
    )*};
}

shown_as_written!(bool i64 u32 Char Country Currency Date Decimal MonthYear UtcTimestamp);

/// NOS-222.
pub fn nos_222<'m, S: Seen>(message: Message<'m>, seen: &mut S) -> Option<()> {
    let order = NewOrderSingle::read(message).ok()?;
    let header = order.header();
    seen.see(49, header.sender_comp_id().ok()?);
    seen.see(56, header.target_comp_id().ok()?);
    seen.see(34, header.msg_seq_num().ok()?);
    seen.see(52, header.sending_time().ok()?);
    seen.see(50, header.sender_sub_id().ok()??);
    seen.see(57, header.target_sub_id().ok()??);
    seen.see(142, header.sender_location_id().ok()??);
    seen.see(60, order.transact_time().ok()?);
    seen.see(1, order.account().ok()??);
    seen.see(38, order.order_qty().ok()??);
    seen.see(44, order.price().ok()??);
    seen.see(11, order.cl_ord_id().ok()?);
    seen.see(21, order.handl_inst().ok()??.value());
    seen.see(40, order.ord_type().ok()?.value());
    seen.see(54, order.side().ok()?.value());
    seen.see(55, order.symbol().ok()??);
    seen.see(58, order.text().ok()??);
    seen.see(59, order.time_in_force().ok()??.value());
    seen.see(107, order.security_desc().ok()??);
    seen.see(167, order.security_type().ok()??.value());
    Some(())
}

/// AIM-158 with the hour of two digits.
pub fn aim_158<'m, S: Seen>(message: Message<'m>, seen: &mut S) -> Option<()> {
    let order = NewOrderSingle::read(message).ok()?;
    let header = order.header();
    seen.see(52, header.sending_time().ok()?);
    seen.see(49, header.sender_comp_id().ok()?);
    seen.see(56, header.target_comp_id().ok()?);
    seen.see(54, order.side().ok()?.value());
    seen.see(40, order.ord_type().ok()?.value());
    seen.see(60, order.transact_time().ok()?);
    seen.see(38, order.order_qty().ok()??);
    seen.see(59, order.time_in_force().ok()??.value());
    seen.see(44, order.price().ok()??);
    seen.see(55, order.symbol().ok()??);
    seen.see(11, order.cl_ord_id().ok()?);
    Some(())
}

/// ER-235.
pub fn er_235<'m, S: Seen>(message: Message<'m>, seen: &mut S) -> Option<()> {
    let report = ExecutionReport::read(message).ok()?;
    let header = report.header();
    seen.see(49, header.sender_comp_id().ok()?);
    seen.see(56, header.target_comp_id().ok()?);
    seen.see(34, header.msg_seq_num().ok()?);
    seen.see(52, header.sending_time().ok()?);
    seen.see(37, report.order_id().ok()?);
    seen.see(11, report.cl_ord_id().ok()??);
    seen.see(17, report.exec_id().ok()?);
    seen.see(20, report.exec_trans_type().ok()?.value());
    seen.see(150, report.exec_type().ok()?.value());
    seen.see(39, report.ord_status().ok()?.value());
    seen.see(55, report.symbol().ok()?);
    seen.see(54, report.side().ok()?.value());
    seen.see(38, report.order_qty().ok()??);
    seen.see(40, report.ord_type().ok()??.value());
    seen.see(44, report.price().ok()??);
    seen.see(59, report.time_in_force().ok()??.value());
    seen.see(29, report.last_capacity().ok()??.value());
    seen.see(151, report.leaves_qty().ok()?);
    seen.see(14, report.cum_qty().ok()?);
    seen.see(6, report.avg_px().ok()?);
    seen.see(60, report.transact_time().ok()??);
    seen.see(113, report.report_to_exch().ok()??);
    seen.see(21, report.handl_inst().ok()??.value());
    Some(())
}

/// MarketDataRequest.
pub fn market_data_request<'m, S: Seen>(message: Message<'m>, seen: &mut S) -> Option<()> {
    let request = MarketDataRequest::read(message).ok()?;
    let header = request.header();
    seen.see(34, header.msg_seq_num().ok()?);
    seen.see(49, header.sender_comp_id().ok()?);
    seen.see(52, header.sending_time().ok()?);
    seen.see(56, header.target_comp_id().ok()?);
    seen.see(262, request.md_req_id().ok()?);
    seen.see(263, request.subscription_request_type().ok()?.value());
    seen.see(264, request.market_depth().ok()?);
    let types = request.md_entry_types().ok()?;
    seen.see(267, types.len());
    for entry in types {
        seen.see(269, entry.md_entry_type().ok()?.value());
    }
    let symbols = request.related_sym().ok()?;
    seen.see(146, symbols.len());
    for entry in symbols {
        seen.see(55, entry.symbol().ok()??);
    }
    Some(())
}

/// QuoteStatusRequest, with and without groups in its legs.
pub fn quote_status_request<'m, S: Seen>(message: Message<'m>, seen: &mut S) -> Option<()> {
    let request = QuoteStatusRequest::read(message).ok()?;
    let header = request.header();
    seen.see(34, header.msg_seq_num().ok()?);
    seen.see(49, header.sender_comp_id().ok()?);
    seen.see(52, header.sending_time().ok()?);
    seen.see(56, header.target_comp_id().ok()?);
    seen.see(55, request.symbol().ok()??);
    let legs = request.legs().ok()?;
    seen.see(555, legs.len());
    for leg in legs {
        seen.see(600, leg.leg_symbol().ok()??);
        seen.see(601, leg.leg_symbol_sfx().ok()??);
        let alternatives = leg.leg_security_alt_id().ok()?;
        if alternatives.len() > 0 {
            seen.see(604, alternatives.len());
        }
        for alternative in alternatives {
            seen.see(605, alternative.leg_security_alt_id().ok()?);
            seen.see(606, alternative.leg_security_alt_id_source().ok()??.value());
        }
    }
    Some(())
}

/// NewOrderMultileg. Amounts with more digits than an `i64` holds are read as checked digits, and
/// invalid countries and currencies as bytes.
pub fn new_order_multileg<'m, S: Seen>(message: Message<'m>, seen: &mut S) -> Option<()> {
    let order = NewOrderMultileg::read(message).ok()?;
    let header = order.header();
    seen.see(34, header.msg_seq_num().ok()?);
    seen.see(49, header.sender_comp_id().ok()?);
    seen.see(52, header.sending_time().ok()?);
    seen.see(56, header.target_comp_id().ok()?);
    seen.see(11, order.cl_ord_id().ok()?);
    seen.see(526, order.secondary_cl_ord_id().ok()??);
    seen.see(453, order.party_ids().ok()?.len());
    seen.see(229, order.trade_origination_date().ok()??);
    seen.see(75, order.trade_date().ok()??);
    seen.see(1, order.account().ok()??);
    seen.see(660, order.acct_id_source().ok()??.value());
    seen.see(581, order.account_type().ok()??.value());
    seen.see(589, order.day_booking_inst().ok()??.value());
    seen.see(590, order.booking_unit().ok()??.value());
    seen.see(70, order.alloc_id().ok()??);
    seen.see(78, order.allocs().ok()?.len());
    seen.see(63, order.settl_type().ok()??.value());
    seen.see(64, order.settl_date().ok()??);
    seen.see(544, order.cash_margin().ok()??.value());
    seen.see(635, order.clearing_fee_indicator().ok()??.value());
    seen.see(21, order.handl_inst().ok()??.value());
    seen.see(110, order.fields().optional::<Digits<'_>>(110).ok()??);
    seen.see(111, order.max_floor().ok()??);
    seen.see(100, order.ex_destination().ok()??);
    seen.see(386, order.trading_sessions().ok()?.len());
    seen.see(81, order.process_code().ok()??.value());
    seen.see(54, order.side().ok()?.value());
    seen.see(55, order.symbol().ok()??);
    seen.see(65, order.symbol_sfx().ok()??);
    seen.see(48, order.security_id().ok()??);
    seen.see(22, order.security_id_source().ok()??.value());
    seen.see(454, order.security_alt_id().ok()?.len());
    seen.see(461, order.cfi_code().ok()??);
    seen.see(167, order.security_type().ok()??.value());
    seen.see(762, order.security_sub_type().ok()??);
    seen.see(200, order.maturity_month_year().ok()??);
    seen.see(541, order.maturity_date().ok()??);
    seen.see(201, order.put_or_call().ok()??.value());
    seen.see(224, order.coupon_payment_date().ok()??);
    seen.see(239, order.repo_collateral_security_type().ok()??);
    seen.see(226, order.repurchase_term().ok()??);
    seen.see(227, order.fields().optional::<Digits<'_>>(227).ok()??);
    seen.see(228, order.fields().optional::<Digits<'_>>(228).ok()??);
    seen.see(255, order.credit_rating().ok()??);
    seen.see(543, order.instr_registry().ok()??);
    seen.see(470, order.fields().optional::<&[u8]>(470).ok()??);
    seen.see(472, order.locale_of_issue().ok()??);
    seen.see(240, order.redemption_date().ok()??);
    seen.see(202, order.fields().optional::<Digits<'_>>(202).ok()??);
    seen.see(947, order.fields().optional::<&[u8]>(947).ok()??);
    seen.see(206, order.opt_attribute().ok()??);
    seen.see(231, order.fields().optional::<Digits<'_>>(231).ok()??);
    seen.see(223, order.fields().optional::<Digits<'_>>(223).ok()??);
    seen.see(106, order.issuer().ok()??);
    seen.see(348, order.encoded_issuer_len().ok()??);
    seen.see(349, order.encoded_issuer().ok()??);
    seen.see(107, order.security_desc().ok()??);
    seen.see(350, order.encoded_security_desc_len().ok()??);
    seen.see(351, order.encoded_security_desc().ok()??);
    seen.see(691, order.pool().ok()??);
    seen.see(875, order.cp_program().ok()??.value());
    seen.see(876, order.cp_reg_type().ok()??);
    seen.see(864, order.events().ok()?.len());
    seen.see(873, order.dated_date().ok()??);
    seen.see(874, order.interest_accrual_date().ok()??);
    seen.see(140, order.fields().optional::<Digits<'_>>(140).ok()??);
    seen.see(555, order.legs().ok()?.len());
    seen.see(114, order.locate_reqd().ok()??);
    seen.see(60, order.transact_time().ok()?);
    seen.see(854, order.qty_type().ok()??.value());
    seen.see(152, order.cash_order_qty().ok()??);
    seen.see(516, order.fields().optional::<Digits<'_>>(516).ok()??);
    seen.see(468, order.rounding_direction().ok()??.value());
    seen.see(469, order.fields().optional::<Digits<'_>>(469).ok()??);
    seen.see(40, order.ord_type().ok()?.value());
    seen.see(44, order.price().ok()??);
    seen.see(99, order.fields().optional::<Digits<'_>>(99).ok()??);
    seen.see(15, order.currency().ok()??);
    seen.see(376, order.compliance_id().ok()??);
    seen.see(377, order.solicited_flag().ok()??);
    seen.see(23, order.ioiid().ok()??);
    seen.see(117, order.quote_id().ok()??);
    seen.see(168, order.effective_time().ok()??);
    seen.see(432, order.expire_date().ok()??);
    seen.see(126, order.expire_time().ok()??);
    seen.see(427, order.gt_booking_inst().ok()??.value());
    seen.see(12, order.fields().optional::<Digits<'_>>(12).ok()??);
    seen.see(13, order.comm_type().ok()??.value());
    seen.see(479, order.fields().optional::<&[u8]>(479).ok()??);
    seen.see(497, order.fund_renew_waiv().ok()??.value());
    seen.see(529, order.order_restrictions().ok()??.as_bytes());
    seen.see(582, order.cust_order_capacity().ok()??.value());
    seen.see(121, order.forex_req().ok()??);
    seen.see(120, order.fields().optional::<&[u8]>(120).ok()??);
    seen.see(775, order.booking_type().ok()??.value());
    seen.see(58, order.text().ok()??);
    seen.see(354, order.encoded_text_len().ok()??);
    seen.see(355, order.encoded_text().ok()??);
    seen.see(77, order.position_effect().ok()??.value());
    seen.see(203, order.covered_or_uncovered().ok()??.value());
    seen.see(210, order.fields().optional::<Digits<'_>>(210).ok()??);
    seen.see(211, order.fields().optional::<Digits<'_>>(211).ok()??);
    seen.see(836, order.peg_offset_type().ok()??.value());
    seen.see(837, order.peg_limit_type().ok()??.value());
    seen.see(838, order.peg_round_direction().ok()??.value());
    seen.see(840, order.peg_scope().ok()??.value());
    seen.see(388, order.discretion_inst().ok()??.value());
    seen.see(389, order.fields().optional::<Digits<'_>>(389).ok()??);
    seen.see(841, order.discretion_move_type().ok()??.value());
    seen.see(842, order.discretion_offset_type().ok()??.value());
    seen.see(843, order.discretion_limit_type().ok()??.value());
    seen.see(844, order.discretion_round_direction().ok()??.value());
    seen.see(846, order.discretion_scope().ok()??.value());
    seen.see(847, order.target_strategy().ok()??.value());
    seen.see(848, order.target_strategy_parameters().ok()??);
    seen.see(849, order.participation_rate().ok()??);
    seen.see(480, order.cancellation_rights().ok()??.value());
    seen.see(481, order.money_laundering_status().ok()??.value());
    seen.see(513, order.regist_id().ok()??);
    seen.see(563, order.multi_leg_rpt_type_req().ok()??.value());
    Some(())
}
