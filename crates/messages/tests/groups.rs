//! Repeating groups to any depth, and malformed groups that a counterparty may send.

mod support;

use fixbolt_messages::codec::{BodyWriter, EncodeError, EncodeErrorKind, Key, Memory, MsgType, Tag};
use fixbolt_messages::fix44::fields::{MDEntryType, SecurityIDSource, Side, SubscriptionRequestType};
use fixbolt_messages::fix44::groups::{
    instrmt_leg_grp, instrmt_md_req_grp, leg_sec_alt_id_grp, list_ord_grp, md_req_grp, quot_entry_grp,
    quot_set_grp,
};
use fixbolt_messages::fix44::prelude::*;
use fixbolt_messages::fix44::{
    MarketDataRequest, MassQuote, NewOrderList, NewOrderSingle, QuoteStatusRequest, market_data_request,
    mass_quote, new_order_list,
};
use fixbolt_messages::fix50sp2::fields::StreamAsgnReqType;
use fixbolt_messages::fix50sp2::{self, StreamAssignmentRequest, stream_assignment_request};
use fixbolt_messages::typed::{FieldError, FieldErrorKind, Sorted};

use support::{received, shown, text, written};

fn kind_of(error: EncodeError) -> (u32, EncodeErrorKind) {
    (error.tag.number(), error.kind)
}

#[test]
fn a_market_data_request_is_read_as_it_was_written() {
    let body = |to| {
        let required = market_data_request::Required {
            md_req_id: b"MDRQ-1487838687427",
            subscription_request_type: SubscriptionRequestType::SNAPSHOT_AND_UPDATES,
            market_depth: 1,
        };
        let body = MarketDataRequest::send(to, required, |request| {
            let mut types = request.md_entry_types();
            for md_entry_type in [MDEntryType::BID, MDEntryType::OFFER] {
                types.entry(md_req_grp::Required { md_entry_type });
            }
            request.related_sym().entry(instrmt_md_req_grp::Required { symbol: b"EUR/USD" });
        });
        let body = body.unwrap();
        assert_eq!(shown(&body), "262=MDRQ-1487838687427|263=1|264=1|267=2|269=0|269=1|146=1|55=EUR/USD|");
        body
    };
    written(&mut [0; 256], body, |message| {
        let request = MarketDataRequest::read(message).unwrap();
        assert_eq!(request.md_req_id(), Ok("MDRQ-1487838687427".into()));
        assert_eq!(request.market_depth(), Ok(1));
        let types: Vec<_> = request.md_entry_types().unwrap().map(|e| e.md_entry_type()).collect();
        assert_eq!(types, [Ok(MDEntryType::BID), Ok(MDEntryType::OFFER)]);
        let symbols: Vec<_> = request.related_sym().unwrap().map(|e| e.symbol()).collect();
        assert_eq!(symbols, [Ok(Some("EUR/USD".into()))]);
    });
}

type Leg = (&'static [u8], &'static [u8], &'static [(&'static [u8], &'static [u8])]);
const LEGS: [Leg; 3] = [
    (b"BCDEF", b"PQRS", &[(b"12345", b"QWERTYU"), (b"23456", b"ASDFGHJ")]),
    (b"CDEFG", b"QRST", &[(b"34567", b"ZXCVBNM")]),
    (b"DEFGH", b"RSTU", &[(b"45678", b"POIUYTR")]),
];

#[test]
fn a_quote_status_request_with_nested_groups_is_read_as_it_was_written() {
    let body = |to| {
        let body = QuoteStatusRequest::send(to, |request| {
            let mut legs = request.symbol("ABCDE").legs();
            for (leg_symbol, suffix, ids) in LEGS {
                let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol });
                let mut alt_ids = leg.leg_symbol_sfx(suffix).leg_security_alt_id();
                for (id, source) in ids {
                    alt_ids
                        .entry(leg_sec_alt_id_grp::Required { leg_security_alt_id: id })
                        .leg_security_alt_id_source(SecurityIDSource::from_value(source));
                }
            }
        });
        let body = body.unwrap();
        assert_eq!(
            shown(&body),
            "55=ABCDE|555=3|600=BCDEF|601=PQRS|604=2|605=12345|606=QWERTYU|605=23456|606=ASDFGHJ|\
             600=CDEFG|601=QRST|604=1|605=34567|606=ZXCVBNM|600=DEFGH|601=RSTU|604=1|605=45678|606=POIUYTR|"
        );
        body
    };
    written(&mut [0; 512], body, |message| {
        let request = QuoteStatusRequest::read(message).unwrap();
        assert_eq!(request.symbol(), Ok(Some("ABCDE".into())));
        let legs = request.legs().unwrap();
        assert_eq!(legs.len(), 3);
        for (leg, (symbol, suffix, ids)) in legs.zip(LEGS) {
            assert_eq!(leg.leg_symbol(), Ok(Some(symbol.into())));
            assert_eq!(leg.leg_symbol_sfx(), Ok(Some(suffix.into())));
            let read: Vec<_> = leg
                .leg_security_alt_id()
                .unwrap()
                .map(|id| {
                    let source = id.leg_security_alt_id_source().unwrap().unwrap();
                    (id.leg_security_alt_id().unwrap().as_bytes(), source.value())
                })
                .collect();
            assert_eq!(read, ids);
            // Nothing of the next leg is visible from this one.
            assert_eq!(leg.leg_ratio_qty(), Ok(None));
        }
    });
}

#[test]
fn required_members_of_an_entry_are_written_in_their_places() {
    let list = new_order_list::Required {
        list_id: b"L",
        bid_type: fixbolt_messages::fix44::fields::BidType::from_value(3),
        tot_no_orders: 1,
    };
    let mut memory = [0; 512];
    let order = NewOrderList::send(Memory(&mut memory), list, |list| {
        let required = list_ord_grp::Required { cl_ord_id: b"c", list_seq_no: 1, side: Side::SELL };
        list.orders().entry(required).secondary_cl_ord_id("second").symbol("IBM").text("last");
    });
    let body = order.unwrap();
    assert_eq!(shown(&body), "66=L|394=3|68=1|73=1|11=c|526=second|67=1|55=IBM|54=2|58=last|");
}

/// Writes a QuoteStatusRequest whose only leg is written by `write`.
fn leg_error(
    write: impl FnOnce(&mut instrmt_leg_grp::Writer<'_, '_, instrmt_leg_grp::Required<&str>>),
) -> Option<(u32, EncodeErrorKind)> {
    let mut memory = [0; 512];
    let sent = QuoteStatusRequest::send(Memory(&mut memory), |request| {
        write(&mut request.legs().entry(instrmt_leg_grp::Required { leg_symbol: "A" }));
    });
    sent.err().map(kind_of)
}

#[test]
fn a_component_inside_an_entry_keeps_the_groups_order() {
    let before =
        |before, group| EncodeErrorKind::GroupOrder { before: Tag::new(before), group: Tag::new(group) };
    let wrong = leg_error(|leg| _ = leg.leg_cfi_code("x").leg_symbol_sfx("WI"));
    assert_eq!(wrong, Some((601, before(608, 555))));
    assert_eq!(leg_error(|leg| _ = leg.leg_symbol_sfx("WI").leg_cfi_code("x")), None);
}

#[test]
fn an_entrys_first_field_cannot_be_written_again_through_its_component() {
    assert_eq!(leg_error(|leg| _ = leg.leg_symbol("B")), Some((600, EncodeErrorKind::Duplicate)));
}

#[test]
fn a_group_of_unknown_length_is_counted_and_without_entries_it_is_not_written() {
    for entries in [0, 1, 9, 10, 123] {
        let mut memory = vec![0; 1 << 14];
        let ids = (0..1000).map(|n| format!("{n}")).filter(|id| id.len() < 9).take(entries);
        let body = QuoteStatusRequest::send(Memory(&mut memory), |request| {
            let mut legs = request.symbol("ABC").legs();
            for id in ids {
                let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol: id.as_bytes() });
                _ = leg.leg_security_alt_id();
            }
            request.quote_status_req_id("Q");
        });
        let body = body.unwrap();
        let legs: String = (0..entries).map(|n| format!("600={n}|")).collect();
        let count = if entries > 0 { format!("555={entries}|") } else { String::new() };
        assert_eq!(shown(&body), format!("55=ABC|{count}{legs}649=Q|"));
    }
}

#[test]
fn an_error_in_the_middle_of_a_group_is_returned_and_nothing_is_sent() {
    #[derive(Debug)]
    enum Error {
        Parse,
        Encode(EncodeError),
    }
    impl From<std::num::ParseIntError> for Error {
        fn from(_: std::num::ParseIntError) -> Self {
            Error::Parse
        }
    }
    impl From<EncodeError> for Error {
        fn from(error: EncodeError) -> Self {
            Error::Encode(error)
        }
    }
    fn send(memory: &mut [u8], ratios: &str) -> Result<String, Error> {
        let body = QuoteStatusRequest::send(Memory(memory), |request| {
            let mut legs = request.legs();
            for ratio in ratios.split(' ') {
                let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol: b"A" });
                leg.leg_ratio_qty(ratio.parse::<i32>()?);
            }
            Ok::<(), Error>(())
        })?;
        Ok(shown(&body))
    }
    let mut memory = [0; 256];
    assert_eq!(send(&mut memory, "1 2").unwrap(), "555=2|600=A|623=1|600=A|623=2|");
    assert!(matches!(send(&mut memory, "1 x"), Err(Error::Parse)));
    let error = send(&mut [0; 20], "1 2").unwrap_err();
    assert!(matches!(error, Error::Encode(error) if error.kind == EncodeErrorKind::NoRoom));
}

#[test]
fn an_entry_that_is_kept_from_ending_is_refused() {
    for more in [false, true] {
        let mut memory = [0; 256];
        let sent = QuoteStatusRequest::send(Memory(&mut memory), |request| {
            let mut legs = request.legs();
            std::mem::forget(legs.entry(instrmt_leg_grp::Required { leg_symbol: b"A" }));
            if more {
                legs.entry(instrmt_leg_grp::Required { leg_symbol: b"B" });
            }
        });
        assert!(sent.is_err(), "{more}");
    }
}

#[test]
fn fields_unknown_to_the_dictionary_are_written_after_the_entrys_first_field() {
    let body = |to| {
        let body = QuoteStatusRequest::send(to, |request| {
            let mut legs = request.legs();
            for leg_symbol in [b"A", b"B"] {
                let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol });
                leg.body().bytes(Key::new(5001), b"own");
                leg.leg_symbol_sfx("WI");
            }
        });
        let body = body.unwrap();
        assert_eq!(shown(&body), "555=2|600=A|5001=own|601=WI|600=B|5001=own|601=WI|");
        body
    };
    written(&mut [0; 512], body, |message| {
        let request = QuoteStatusRequest::read(message).unwrap();
        for leg in request.legs().unwrap() {
            assert_eq!(leg.get(Tag::new(5001)), Some(&b"own"[..]));
            assert_eq!(leg.leg_symbol_sfx(), Ok(Some("WI".into())));
        }
    });
}

#[test]
fn a_required_group_that_is_omitted_is_refused() {
    let required = || mass_quote::Required { quote_id: b"Q" };
    let set = || quot_set_grp::Required { quote_set_id: b"S", tot_no_quote_entries: 1 };
    let mut memory = [0; 512];
    let without = MassQuote::send(Memory(&mut memory), required(), |_| {});
    assert_eq!(without.map_err(kind_of).unwrap_err(), (296, EncodeErrorKind::Missing));
    let begun = MassQuote::send(Memory(&mut memory), required(), |quote| _ = quote.quote_sets());
    assert_eq!(begun.map_err(kind_of).unwrap_err(), (296, EncodeErrorKind::Missing));
    let empty = MassQuote::send(Memory(&mut memory), required(), |quote| {
        quote.quote_sets().entry(set());
    });
    assert_eq!(empty.map_err(kind_of).unwrap_err(), (295, EncodeErrorKind::Missing));
    let whole = MassQuote::send(Memory(&mut memory), required(), |quote| {
        let mut sets = quote.quote_sets();
        let mut set = sets.entry(set());
        set.quote_entries().entry(quot_entry_grp::Required { quote_entry_id: b"E" }).symbol("IBM");
    });
    let body = whole.unwrap();
    assert_eq!(shown(&body), "117=Q|296=1|302=S|304=1|295=1|299=E|55=IBM|");
    received(body.msg_type, body.bytes, |message| {
        let quote = MassQuote::read(message).unwrap();
        let set = quote.quote_sets().unwrap().next().unwrap();
        assert_eq!(set.quote_entries().unwrap().next().unwrap().symbol(), Ok(Some("IBM".into())));
    });
    text(b"i", "117=Q|", |message| {
        let error = MassQuote::read(message).unwrap().quote_sets().unwrap_err();
        assert_eq!((error.tag.number(), error.kind), (296, FieldErrorKind::Missing));
    });
}

#[test]
fn a_group_that_does_not_have_as_many_entries_as_announced_is_an_error() {
    let count = FieldError::new(Tag::new(453), FieldErrorKind::Count);
    assert_eq!(count.session_reject_reason(), 16);
    for (body, expected) in [
        ("453=2|448=A|447=D|448=B|58=x|", Ok(2)),
        ("453=1|448=A|447=D|448=B|58=x|", Err(count)),
        ("453=3|448=A|447=D|448=B|58=x|", Err(count)),
        // An entry begins with its first field; 447 before it does not begin one.
        ("453=1|447=D|448=A|58=x|", Err(count)),
        // The third 448 follows a field of the message.
        ("453=3|448=A|448=B|58=x|448=C|", Err(count)),
        ("453=0|58=x|", Ok(0)),
        ("453=0|448=A|", Err(count)),
        ("453=1|58=x|", Err(count)),
        ("453=4294967295|448=A|58=x|", Err(count)),
        ("58=x|453=1|", Err(count)),
        ("58=x|", Ok(0)),
        // A tag that no FIX.4.4 dictionary knows belongs to the entry.
        ("453=2|448=A|40000=?|448=B|40001=?|58=x|", Ok(2)),
    ] {
        text(b"D", body, |message| {
            let order = NewOrderSingle::read(message).unwrap();
            let parties = order.party_ids().map(|parties| {
                let announced = parties.len();
                assert_eq!(parties.count(), announced);
                announced
            });
            assert_eq!(parties, expected, "{body}");
        });
    }
    for wrong in ["453=-1|448=A|", "453=x|448=A|", "453=99999999999999999999|448=A|"] {
        text(b"D", wrong, |message| {
            let error = NewOrderSingle::read(message).unwrap().party_ids().unwrap_err();
            assert!(matches!(error.kind, FieldErrorKind::Value(_)), "{wrong}");
        });
    }
}

#[test]
fn no_order_of_fields_makes_a_view_panic_or_read_outside_its_region() {
    // Every sequence of six of these fields, 7^6 messages.
    let fields = ["555=1|", "555=2|", "600=A|", "604=1|", "605=I|", "606=S|", "58=x|"];
    for mut number in 0..fields.len().pow(6) {
        let mut body = String::new();
        for _ in 0..6 {
            body += fields[number % fields.len()];
            number /= fields.len();
        }
        let bytes = body.replace('|', "\x01");
        received(MsgType::new(b"AB"), bytes.as_bytes(), |message| {
            let order = fixbolt_messages::fix44::NewOrderMultileg::read(message).unwrap();
            let Ok(legs) = order.legs() else { return };
            let mut seen = 0;
            for leg in legs {
                assert_eq!(leg.leg_symbol(), Ok(Some("A".into())), "{body}");
                assert_eq!(leg.get(Tag::new(58)), None, "{body}");
                if let Ok(ids) = leg.leg_security_alt_id() {
                    ids.for_each(|id| assert_eq!(id.leg_security_alt_id(), Ok("I".into())));
                }
                seen += 1;
            }
            let announced = message.get(Tag::new(555)).map_or(0, |count| usize::from(count[0] - b'0'));
            assert_eq!(seen, announced, "{body}");
        });
    }
}

#[test]
fn a_field_that_the_dictionary_does_not_know_cannot_begin_an_entry() {
    let sent = |group_first: bool| {
        let mut memory = [0; 256];
        let required = stream_assignment_request::Required {
            stream_asgn_req_id: b"R",
            stream_asgn_req_type: StreamAsgnReqType::STREAM_ASSIGNMENT_FOR_NEW_CUSTOMER,
        };
        let sent = StreamAssignmentRequest::send(Memory(&mut memory), required, |request| {
            let mut requests = request.asgn_reqs();
            let mut entry = requests.entry();
            if group_first {
                entry.party_ids().entry(fix50sp2::groups::parties::Required { party_id: b"P" });
            }
            entry.body().bytes(Key::new(9001), b"x");
            if !group_first {
                entry.party_ids().entry(fix50sp2::groups::parties::Required { party_id: b"P" });
            }
        });
        sent.map(|body| shown(&body)).map_err(kind_of)
    };
    assert_eq!(sent(true), Ok("1497=R|1498=1|1499=1|453=1|448=P|9001=x|".to_string()));
    // The entry would begin with 9001, and the counterparty would not find it.
    assert_eq!(sent(false), Err((453, EncodeErrorKind::EntryStart { group: Tag::new(1499) })));
}

#[test]
fn the_same_group_in_two_messages_is_two_groups_when_its_members_differ() {
    // NoLegs (555) has NestedParties in QuoteStatusReport, none in QuoteStatusRequest.
    text(b"AI", "117=Q|555=1|600=A|539=1|524=P|", |message| {
        let report = fixbolt_messages::fix44::QuoteStatusReport::read(message).unwrap();
        let leg = report.legs().unwrap().next().unwrap();
        assert_eq!(leg.nested_party_ids().unwrap().next().unwrap().nested_party_id(), Ok("P".into()));
    });
    text(b"a", "117=Q|555=1|600=A|539=1|524=P|", |message| {
        let request = QuoteStatusRequest::read(message).unwrap();
        let leg = request.legs().unwrap().next().unwrap();
        assert_eq!(leg.get(Tag::new(539)), None);
    });
}

#[test]
fn a_view_is_shown_as_the_text_of_its_fields_without_secrets() {
    text(b"D", "453=2|448=A|447=D|448=B|447=D|554=secret|58=x|", |message| {
        let order = NewOrderSingle::read(message).unwrap();
        let shown = format!("{order:?}");
        assert!(shown.starts_with("NewOrderSingle(8=FIX.4.4|9="), "{shown}");
        assert!(shown.contains("|453=2|448=A|447=D|448=B|447=D|554=***|58=x|10="), "{shown}");
        let mut parties = order.party_ids().unwrap();
        let first = parties.next().unwrap();
        assert_eq!(format!("{first:?}"), "Parties(448=A|447=D|)");
        assert_eq!(format!("{parties:?}"), "Group { left: 1, fields: 448=B|447=D| }");
    });
}

#[test]
fn an_unordered_entry_is_sorted_with_the_groups_in_it_and_what_the_dictionary_does_not_know_is_last() {
    let body = |write: &dyn Fn(&mut instrmt_leg_grp::Entries<'_, '_, Sorted>)| {
        let mut memory = [0; 512];
        let sent = QuoteStatusRequest::send(Memory(&mut memory), |request| {
            write(&mut request.legs().unordered());
            request.symbol("IBM");
        });
        sent.map(|body| shown(&body)).map_err(kind_of)
    };
    let sorted = body(&|legs| {
        let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol: b"A" });
        leg.leg_cfi_code("OCAXXX");
        leg.body().bytes(Key::new(9001), b"x");
        // A group without entries leaves nothing.
        _ = leg.leg_security_alt_id();
        leg.body().bytes(Key::new(9002), b"y");
        leg.leg_symbol_sfx("WI");
        drop(leg);
        let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol: b"B" });
        leg.leg_product(3);
        let mut ids = leg.leg_security_alt_id();
        for id in [b"1", b"2"] {
            ids.entry(leg_sec_alt_id_grp::Required { leg_security_alt_id: id });
        }
        leg.leg_security_id("C");
    });
    let expected = "555=2|600=A|601=WI|608=OCAXXX|9001=x|9002=y|600=B|602=C|604=2|605=1|605=2|607=3|55=IBM|";
    assert_eq!(sorted, Ok(expected.to_string()));
    let twice = body(&|legs| {
        let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol: b"A" });
        leg.leg_cfi_code("x").leg_symbol_sfx("WI").leg_cfi_code("y");
    });
    assert_eq!(twice, Err((608, EncodeErrorKind::Duplicate)));
    let many = body(&|legs| {
        let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol: b"A" });
        for _ in 0..257 {
            _ = leg.leg_security_alt_id();
            leg.body();
        }
    });
    assert_eq!(many, Err((555, EncodeErrorKind::NoRoom)));
    let elsewhere = body(&|legs| {
        let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol: b"A" });
        leg.leg_cfi_code("x");
        *leg.body() = BodyWriter::new(MsgType::new(b"a"), Vec::leak(vec![0; 300]));
        leg.leg_symbol_sfx("WI");
    });
    assert!(elsewhere.is_err(), "{elsewhere:?}");
}

#[test]
fn an_unordered_entry_needs_its_first_field() {
    let sent = |has_parties: bool| {
        let mut memory = [0; 512];
        let required = stream_assignment_request::Required {
            stream_asgn_req_id: b"R",
            stream_asgn_req_type: StreamAsgnReqType::STREAM_ASSIGNMENT_FOR_NEW_CUSTOMER,
        };
        let sent = StreamAssignmentRequest::send(Memory(&mut memory), required, |request| {
            let mut entries = request.asgn_reqs().unordered();
            let mut entry = entries.entry();
            entry.body().bytes(Key::new(9001), b"x");
            if has_parties {
                entry.party_ids().entry(fix50sp2::groups::parties::Required { party_id: b"P" });
            }
        });
        sent.map(|body| shown(&body)).map_err(kind_of)
    };
    assert_eq!(sent(true), Ok("1497=R|1498=1|1499=1|453=1|448=P|9001=x|".to_string()));
    assert_eq!(sent(false), Err((453, EncodeErrorKind::EntryStart { group: Tag::new(1499) })));
}
