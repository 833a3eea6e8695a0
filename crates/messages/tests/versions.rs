//! What the versions have in common, and what is special to the later ones: depth, the transport's header, a choice by MsgType.

mod support;

use fixbolt_messages::codec::{Country, Key, Memory, Message, Tag};
use fixbolt_messages::{fix_latest, fix42, fix44, fix50sp2, fixt11};

use support::{text, written};

#[test]
fn a_mass_quote_of_fix_latest_is_read_as_it_was_written_seven_groups_deep() {
    use fix_latest::components::*;
    use fix_latest::fields::{DeliveryScheduleSettlDay, StreamType};
    use fix_latest::groups::{
        instrmt_leg_grp, leg_stream_commodity_settl_day_grp, leg_stream_commodity_settl_period_grp,
        leg_stream_commodity_settl_time_grp, leg_stream_grp, quot_entry_grp, quot_set_grp,
    };
    use fix_latest::{MassQuote, mass_quote};

    const DAYS: [(DeliveryScheduleSettlDay, &[&[u8]]); 2] = [
        (DeliveryScheduleSettlDay::Monday, &[b"08:00", b"13:00"]),
        (DeliveryScheduleSettlDay::Friday, &[b"09:00"]),
    ];
    let body = |to| {
        let mut quote = MassQuote::write(to, mass_quote::Required { quote_id: b"Q" });
        quote.quote_sets([b"S1"], |new, quote_set_id| {
            new.entry(quot_set_grp::Required { quote_set_id, tot_no_quote_entries: 1 })
                .quote_entries([b"E1"], |new, quote_entry_id| {
                    new.entry(quot_entry_grp::Required { quote_entry_id })
                        .legs([b"L1", b"L2"], |new, leg_symbol| {
                            new.entry(instrmt_leg_grp::Required { leg_symbol })
                                .leg_streams([()], |new, ()| {
                                    let leg_stream_type = StreamType::PhysicalDelivery;
                                    new.entry(leg_stream_grp::Required { leg_stream_type })
                                        .leg_stream_commodity_settl_periods([()], |new, ()| {
                                            let required = leg_stream_commodity_settl_period_grp::Required {
                                                leg_stream_commodity_settl_country: Country::new("DE").unwrap(),
                                            };
                                            new.entry(required)
                                                .leg_stream_commodity_settl_days(DAYS, |new, (day, times)| {
                                                    let required = leg_stream_commodity_settl_day_grp::Required {
                                                        leg_stream_commodity_settl_day: day,
                                                    };
                                                    new.entry(required)
                                                        .leg_stream_commodity_settl_times(times, |new, start| {
                                                            new.entry(leg_stream_commodity_settl_time_grp::Required {
                                                                leg_stream_commodity_settl_start: start,
                                                            })
                                                            .leg_stream_commodity_settl_end(b"17:00")
                                                            .done()
                                                        })
                                                        .done()
                                                })
                                                .done()
                                        })
                                        .done()
                                })
                                .done()
                        })
                        .done()
                })
                .done()
        });
        quote.send().unwrap()
    };
    written(&mut [0; 1024], body, |message| {
        let quote = MassQuote::read(message).unwrap();
        let sets: Vec<_> = quote.quote_sets().unwrap().collect();
        let entries: Vec<_> = sets[0].quote_entries().unwrap().collect();
        let legs = entries[0].legs().unwrap();
        assert_eq!((sets.len(), entries.len(), legs.len()), (1, 1, 2));
        for (leg, symbol) in legs.zip([b"L1", b"L2"]) {
            assert_eq!(leg.leg_symbol(), Ok(Some(&symbol[..])));
            let stream = leg.leg_streams().unwrap().next().unwrap();
            let period = stream.leg_stream_commodity_settl_periods().unwrap().next().unwrap();
            let days = period.leg_stream_commodity_settl_days().unwrap();
            let read: Vec<_> = days
                .map(|day| {
                    let times = day.leg_stream_commodity_settl_times().unwrap();
                    let starts = times.map(|time| time.leg_stream_commodity_settl_start().unwrap());
                    (day.leg_stream_commodity_settl_day().unwrap(), starts.collect::<Vec<_>>())
                })
                .collect();
            assert_eq!(read, DAYS.map(|(day, times)| (day, times.to_vec())));
        }
    });
}

#[test]
fn header_and_trailer_are_read_typed_and_by_any_tag() {
    let body = "50=DESK|57=FLOOR|43=Y|115=CLIENT|627=2|628=HUB1|630=7|628=HUB2|9001=x|11=ord1|9002=y|93=3|89=a\x01b|";
    text(b"D", body, |message| {
        let order = fix44::NewOrderSingle::read(message).unwrap();
        let header = order.header();
        assert_eq!(header.sender_comp_id(), Ok(&b"TRADER"[..]));
        assert_eq!(header.sender_sub_id(), Ok(Some(&b"DESK"[..])));
        assert_eq!(header.target_sub_id(), Ok(Some(&b"FLOOR"[..])));
        assert_eq!(header.on_behalf_of_comp_id(), Ok(Some(&b"CLIENT"[..])));
        assert_eq!(header.poss_dup_flag(), Ok(Some(true)));
        assert_eq!(header.poss_resend(), Ok(None));
        let hops = header.hops().unwrap();
        let hops: Vec<_> =
            hops.map(|hop| (hop.hop_comp_id().unwrap(), hop.hop_ref_id().unwrap().is_some())).collect();
        assert_eq!(hops, [(&b"HUB1"[..], true), (b"HUB2", false)]);
        assert_eq!(order.trailer().signature(), Ok(Some(&b"a\x01b"[..])));
        assert_eq!(order.trailer().check_sum().map(<[u8]>::len), Ok(3));
        for view in [header.get(Tag::new(9001)), order.get(Tag::new(9001))] {
            assert_eq!(view, Some(&b"x"[..]));
        }
    });
}

#[test]
fn versions_over_fixt_have_its_header_and_session_messages() {
    fn header(header: fixt11::Header<'_>) -> usize {
        header.hops().unwrap().count()
    }
    text(b"n", "1128=9|627=1|628=HUB|212=4|213=<x/>|", |message| {
        assert_eq!(header(fix50sp2::XMLnonFIX::read(message).unwrap().header()), 1);
        assert_eq!(header(fix_latest::Header::read(message)), 1);
    });
    let mut memory = [0; 256];
    let logon = fixt11::logon::Required {
        encrypt_method: fix_latest::fields::EncryptMethod::None,
        heart_bt_int: 30,
        default_appl_ver_id: fixt11::fields::ApplVerID::FIX50SP2,
    };
    let body = fix50sp2::Logon::write(Memory(&mut memory), logon).send().unwrap();
    assert_eq!(body.bytes, b"98=0\x01108=30\x011137=9\x01");
}

#[test]
fn what_two_versions_have_just_so_is_one_type() {
    let side: fix42::fields::AdvSide = fix44::fields::AdvSide::Buy;
    assert_eq!(side, fix_latest::fields::AdvSide::Buy);
}

#[test]
fn a_message_has_the_names_of_other_versions_too() {
    let mut memory = [0; 256];
    let required = |ord_type| fix42::order_single::Required {
        cl_ord_id: b"ord1",
        handl_inst: fix42::fields::HandlInst::ManualOrder,
        symbol: b"IBM",
        side: fix42::fields::Side::Buy,
        transact_time: "20261121-10:00:00".parse().unwrap(),
        ord_type,
    };
    let order = fix42::OrderSingle::write(Memory(&mut memory), required(fix42::fields::OrdType::Market));
    let body = order.send().unwrap();
    support::received(body.msg_type, body.bytes, |message| {
        let order: fix42::NewOrderSingle<'_> = fix42::OrderSingle::read(message).unwrap();
        assert_eq!(order.cl_ord_id(), Ok(&b"ord1"[..]));
    });
}

/// Notes which of its methods was called.
#[derive(Default)]
struct Desk(Vec<String>);

impl fix44::Handler<str> for Desk {
    type Answer = usize;

    fn on_other(&mut self, message: Message<'_>, context: &mut str) -> usize {
        self.0.push(format!("{context}: other {}", message.msg_type().escape_ascii()));
        0
    }

    fn on_new_order_single(&mut self, message: fix44::NewOrderSingle<'_>, context: &mut str) -> usize {
        self.0.push(format!("{context}: order {}", message.cl_ord_id().unwrap().escape_ascii()));
        1
    }
}

#[test]
fn a_handler_gets_each_message_by_its_type_and_the_rest_elsewhere() {
    let mut desk = Desk::default();
    let mut turn = String::from("turn");
    let answers = [("D", "11=a|"), ("8", "37=b|"), ("U1", "58=c|"), ("0", "")].map(|(msg_type, body)| {
        text(msg_type.as_bytes(), body, |message| fix44::dispatch(message, &mut desk, &mut *turn))
    });
    assert_eq!(answers, [1, 0, 0, 0]);
    assert_eq!(desk.0, ["turn: order a", "turn: other 8", "turn: other U1", "turn: other 0"]);
}

#[test]
fn a_message_is_chosen_by_its_type_session_messages_too() {
    text(b"5", "58=bye|", |message| {
        let fix44::Message::Logout(logout) = fix44::Message::read(message) else { panic!("no Logout") };
        assert_eq!(logout.text(), Ok(Some(&b"bye"[..])));
        assert!(matches!(fix_latest::Message::read(message), fix_latest::Message::Logout(_)));
    });
    text(b"UX", "58=bye|", |message| {
        let fix44::Message::Other(other) = fix44::Message::read(message) else { panic!("known") };
        assert_eq!(other.get(Key::new(58).tag()), Some(&b"bye"[..]));
    });
}
