//! Orders and reports, written and read with typed messages.

mod support;

use fixbolt_messages::codec::{
    Currency, Decimal, EncodeError, EncodeErrorKind, Key, Memory, MonthYear, SeqNum, Tag, UtcTimestamp,
    ValueError,
};
use fixbolt_messages::fix44;
use fixbolt_messages::fix44::fields::{
    ExecInst, ExecType, OrdStatus, OrdType, PartyIDSource, PartyRole, SecurityIDSource, SecurityType, Side,
    TimeInForce,
};
use fixbolt_messages::fix44::groups::{contra_grp, parties, pre_alloc_grp, ptys_sub_grp};
use fixbolt_messages::fix44::prelude::*;
use fixbolt_messages::fix44::{ExecutionReport, NewOrderSingle, execution_report, new_order_single, tags};
use fixbolt_messages::typed::{FieldError, FieldErrorKind, Required, WrongMessage};

use support::{shown, text, written};

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn time(text: &str) -> UtcTimestamp {
    text.parse().unwrap()
}

fn required() -> new_order_single::Required<&'static str> {
    new_order_single::Required {
        cl_ord_id: "ord1",
        side: Side::BUY,
        transact_time: time("20261121-10:00:00.123"),
        ord_type: OrdType::LIMIT,
    }
}

fn error_of(write: impl FnOnce(&mut new_order_single::Writer<'_, '_>)) -> Option<(u32, EncodeErrorKind)> {
    let mut memory = [0; 1024];
    let sent = NewOrderSingle::send(Memory(&mut memory), required(), write);
    sent.err().map(|EncodeError { tag, kind, .. }| (tag.number(), kind))
}

#[test]
fn an_order_is_read_as_it_was_written() {
    let mut memory = [0; 1024];
    let body = |to| {
        let to = fix44::with_header(to, |header| {
            header.on_behalf_of_comp_id("CLIENT").poss_resend(true);
        });
        let sent = NewOrderSingle::send(to, required(), |order| {
            order
                .symbol("IBM")
                .security_type(SecurityType::COMMON_STOCK)
                .maturity_month_year("202612".parse().unwrap())
                .encoded_issuer(b"a\x01b")
                .order_qty(decimal("57.00"))
                .price(decimal("298.075"))
                .currency(Currency::new("USD").unwrap())
                .time_in_force(TimeInForce::FILL_OR_KILL)
                .exec_inst(&[ExecInst::HELD, ExecInst::from_value(b"?"), ExecInst::ALL_OR_NONE])
                .security_id_source(SecurityIDSource::from_value(b"M3"))
                .locate_reqd(false)
                .text(String::from("hello"));
            order.body().bytes(Key::new(5001), b"own");
        });
        sent.unwrap()
    };
    written(&mut memory, body, |message| {
        let order = NewOrderSingle::read(message).unwrap();
        assert_eq!(order.header().on_behalf_of_comp_id(), Ok(Some("CLIENT".into())));
        assert_eq!(order.header().poss_resend(), Ok(Some(true)));
        assert_eq!(order.header().msg_seq_num(), Ok(SeqNum(7)));
        assert_eq!(order.header().sender_comp_id(), Ok("TRADER".into()));
        assert_eq!(order.cl_ord_id(), Ok("ord1".into()));
        assert_eq!(order.side(), Ok(Side::BUY));
        assert_eq!(order.transact_time(), Ok(time("20261121-10:00:00.123")));
        assert_eq!(order.ord_type(), Ok(OrdType::LIMIT));
        assert_eq!(order.symbol(), Ok(Some("IBM".into())));
        assert_eq!(order.security_type(), Ok(Some(SecurityType::COMMON_STOCK)));
        assert_eq!(order.maturity_month_year(), Ok(Some("202612".parse::<MonthYear>().unwrap())));
        assert_eq!(order.encoded_issuer_len(), Ok(Some(3)));
        assert_eq!(order.encoded_issuer(), Ok(Some(&b"a\x01b"[..])));
        assert_eq!(order.order_qty().unwrap().unwrap().to_string(), "57.00");
        assert_eq!(order.price(), Ok(Some(decimal("298.075"))));
        assert_eq!(order.currency(), Ok(Currency::new("USD")));
        assert_eq!(order.time_in_force(), Ok(Some(TimeInForce::FILL_OR_KILL)));
        let exec_inst: Vec<_> = order.exec_inst().unwrap().unwrap().iter().collect();
        assert_eq!(exec_inst, [ExecInst::HELD, ExecInst::from_value(b"?"), ExecInst::ALL_OR_NONE]);
        assert_eq!(order.security_id_source(), Ok(Some(SecurityIDSource::from_value(b"M3"))));
        assert_eq!(order.locate_reqd(), Ok(Some(false)));
        assert_eq!(order.text(), Ok(Some("hello".into())));
        assert_eq!(order.stop_px(), Ok(None));
        assert_eq!(order.get(Tag::new(5001)), Some(&b"own"[..]));
        assert_eq!(order.trailer().check_sum().unwrap().len(), 3);
        assert_eq!(order.message().bytes(), message.bytes());
    });
}

#[test]
fn required_fields_are_of_any_type_that_setters_take() {
    let mut memory = [0; 1024];
    let required = execution_report::Required {
        order_id: format!("{}", 37),
        exec_id: [b'1', b'7'],
        exec_type: ExecType::TRADE,
        ord_status: OrdStatus::PARTIALLY_FILLED,
        side: Side::BUY,
        leaves_qty: 40_u32,
        cum_qty: 60_i64,
        avg_px: decimal("1.25"),
    };
    let sent = ExecutionReport::send(Memory(&mut memory), required, |report| {
        // An entry keeps what it is given until its place is reached.
        report.contra_brokers().entry(contra_grp::Required { contra_broker: String::from("B") });
        let mut parties = report.party_ids();
        for id in ["A".as_bytes(), b"B"] {
            write_party(parties.entry(parties::Required { party_id: id.to_vec() }));
        }
        write_party(parties.entry(parties::Required { party_id: b"C" }));
    });
    let parties = "453=3|448=A|452=1|448=B|452=1|448=C|452=1|";
    let expected = format!("37=37|17=17|150=F|39=1|54=1|151=40|14=60|6=1.25|382=1|375=B|{parties}");
    assert_eq!(shown(&sent.unwrap()), expected);

    let required = new_order_single::Required {
        cl_ord_id: b"ord1",
        side: Side::BUY,
        transact_time: std::time::UNIX_EPOCH,
        ord_type: OrdType::MARKET,
    };
    let sent = NewOrderSingle::send(Memory(&mut memory), required, |_| {}).unwrap();
    assert!(shown(&sent).starts_with("11=ord1|54=1|60=19700101-00:00:00"), "{}", shown(&sent));
}

/// Writes an entry, whatever its required fields are of.
fn write_party(mut party: parties::Writer<'_, '_, impl Required>) {
    party.party_role(PartyRole::EXECUTING_FIRM);
}

#[test]
fn a_report_has_its_required_fields_in_the_dictionarys_order() {
    let mut memory = [0; 1024];
    let required = execution_report::Required {
        order_id: "37",
        exec_id: "17",
        exec_type: ExecType::TRADE,
        ord_status: OrdStatus::PARTIALLY_FILLED,
        side: Side::from_value(b'~'),
        leaves_qty: 40,
        cum_qty: decimal("60"),
        avg_px: decimal("1.25"),
    };
    let sent = ExecutionReport::send(Memory(&mut memory), required, |report| {
        report.cl_ord_id("ord1");
    });
    let body = sent.unwrap();
    assert_eq!(shown(&body), "37=37|17=17|150=F|39=1|54=~|151=40|14=60|6=1.25|11=ord1|");
    written(
        &mut [0; 1024],
        |to| {
            let sent = fix44::Heartbeat::send(to, |heartbeat| _ = heartbeat.test_req_id("T"));
            sent.unwrap()
        },
        |message| {
            let wrong = WrongMessage::msg_type(ExecutionReport::MSG_TYPE);
            assert_eq!(ExecutionReport::read(message).unwrap_err(), wrong);
            assert_eq!(fix44::Heartbeat::read(message).unwrap().test_req_id(), Ok(Some("T".into())));
        },
    );
    text(b"8", &shown(&body), |message| {
        let report = ExecutionReport::read(message).unwrap();
        assert_eq!(report.side(), Ok(Side::from_value(b'~')));
        // Against the order of the wire, and twice.
        assert_eq!(report.cl_ord_id(), Ok(Some("ord1".into())));
        assert_eq!(report.avg_px(), Ok(decimal("1.25")));
        assert_eq!(report.order_id(), Ok("37".into()));
        assert_eq!(report.order_id(), Ok("37".into()));
    });
}

#[test]
fn a_field_that_cannot_be_read_says_what_a_reject_needs() {
    text(b"D", "11=ord1|54=XX|40=2|38=1e3|15=usd|60=yesterday|", |message| {
        let order = NewOrderSingle::read(message).unwrap();
        let value = |tag, error| FieldError::new(Tag::new(tag), FieldErrorKind::Value(error));
        assert_eq!(order.side(), Err(value(54, ValueError::Format)));
        assert_eq!(order.order_qty(), Err(value(38, ValueError::Format)));
        assert_eq!(order.order_qty().unwrap_err().session_reject_reason(), 6);
        assert_eq!(order.currency(), Err(value(15, ValueError::Format)));
        assert_eq!(order.transact_time().unwrap_err().kind, FieldErrorKind::Value(ValueError::Format));
    });
    text(b"D", "11=ord1|", |message| {
        let order = NewOrderSingle::read(message).unwrap();
        let missing = order.side().unwrap_err();
        assert_eq!((missing.tag.number(), missing.session_reject_reason()), (54, 1));
        assert_eq!(order.text(), Ok(None));
    });
}

#[test]
fn a_setter_called_twice_is_refused() {
    assert_eq!(error_of(|order| _ = order.text("a").text("b")), Some((58, EncodeErrorKind::Duplicate)));
    assert_eq!(error_of(|order| _ = order.text("a")), None);
}

#[test]
fn a_value_that_would_forge_a_field_is_refused_in_every_kind_of_value() {
    assert_eq!(error_of(|order| _ = order.text("a\x0144=1")), Some((58, EncodeErrorKind::Soh)));
    assert_eq!(
        error_of(|order| _ = order.handl_inst(fix44::fields::HandlInst::from_value(1))),
        Some((21, EncodeErrorKind::Soh))
    );
    assert_eq!(
        error_of(|order| _ = order.security_id_source(SecurityIDSource::from_value(b"\x01"))),
        Some((22, EncodeErrorKind::Soh))
    );
    assert_eq!(
        error_of(|order| _ = order.exec_inst(&[ExecInst::from_value(b"\x01")])),
        Some((18, EncodeErrorKind::Soh))
    );
    assert_eq!(error_of(|order| _ = order.exec_inst(&[])), Some((18, EncodeErrorKind::Empty)));
    assert_eq!(error_of(|order| _ = order.text("")), Some((58, EncodeErrorKind::Empty)));
}

#[test]
fn groups_and_groups_in_groups_are_read_as_they_were_written() {
    let mut memory = [0; 1024];
    type Subs = &'static [(&'static [u8], i64)];
    let entries: [(&[u8], Subs); 3] =
        [(b"A", &[(b"desk", 1), (b"floor", 2)]), (b"B", &[]), (b"C", &[(b"x", 4)])];
    let body = |to| {
        let sent = NewOrderSingle::send(to, required(), |order| {
            let mut parties = order.party_ids();
            for (party_id, subs) in entries {
                let mut party = parties.entry(parties::Required { party_id });
                party.party_id_source(PartyIDSource::PROPRIETARY).party_role(PartyRole::EXECUTING_FIRM);
                let mut sub_ids = party.party_sub_ids();
                for (sub_id, kind) in subs {
                    sub_ids
                        .entry(ptys_sub_grp::Required { party_sub_id: sub_id })
                        .party_sub_id_type(fix44::fields::PartySubIDType::from_value(*kind));
                }
            }
            order.allocs().entry(pre_alloc_grp::Required { alloc_account: b"acc" });
            order.text("after");
        });
        sent.unwrap()
    };
    written(&mut memory, body, |message| {
        let order = NewOrderSingle::read(message).unwrap();
        let parties = order.party_ids().unwrap();
        assert_eq!(parties.len(), 3);
        for (party, (party_id, subs)) in parties.zip(entries) {
            assert_eq!(party.party_id(), Ok(party_id.into()));
            assert_eq!(party.party_role(), Ok(Some(PartyRole::EXECUTING_FIRM)));
            assert_eq!(party.get(Tag::new(58)), None);
            let read: Vec<_> = party
                .party_sub_ids()
                .unwrap()
                .map(|sub| {
                    let kind = sub.party_sub_id_type().unwrap().unwrap();
                    (sub.party_sub_id().unwrap().as_bytes(), kind.value())
                })
                .collect();
            assert_eq!(read, subs);
            assert_eq!(party.party_id_source(), Ok(Some(PartyIDSource::PROPRIETARY)));
        }
        assert_eq!(order.allocs().unwrap().count(), 1);
        assert_eq!(order.text(), Ok(Some("after".into())));
        assert_eq!(order.underlyings().unwrap().len(), 0);
    });
}

#[test]
fn a_group_without_entries_is_not_written() {
    let mut memory = [0; 1024];
    let sent = NewOrderSingle::send(Memory(&mut memory), required(), |order| _ = order.party_ids());
    assert!(!shown(&sent.unwrap()).contains("453="));
}

#[test]
fn a_group_that_is_begun_twice_is_refused() {
    let twice = error_of(|order| {
        order.party_ids().entry(parties::Required { party_id: b"A" });
        order.party_ids().entry(parties::Required { party_id: b"B" });
    });
    assert_eq!(twice, Some((453, EncodeErrorKind::Duplicate)));
}

#[test]
fn a_member_out_of_its_groups_order_is_refused() {
    let wrong = error_of(|order| {
        let mut parties = order.party_ids();
        let mut party = parties.entry(parties::Required { party_id: b"A" });
        party.party_role(PartyRole::EXECUTING_FIRM).party_id_source(PartyIDSource::BIC);
    });
    let before_role = EncodeErrorKind::GroupOrder { before: tags::PARTY_ROLE.tag(), group: Tag::new(453) };
    assert_eq!(wrong, Some((447, before_role)));
    let told = EncodeError::new(Tag::new(447), before_role).to_string();
    assert_eq!(told, "field 447 must stand before field 452 in an entry of group 453");
    let twice = error_of(|order| {
        let mut parties = order.party_ids();
        let mut party = parties.entry(parties::Required { party_id: b"A" });
        party.party_role(PartyRole::EXECUTING_FIRM).party_role(PartyRole::CLEARING_FIRM);
    });
    assert_eq!(twice, Some((452, EncodeErrorKind::Duplicate)));
}
