//! Items that versions share, the transport's header for later versions, and dispatching by
//! MsgType.

mod support;

use fixbolt_messages::codec::{Key, Memory, Message, Tag};
use fixbolt_messages::{fix42, fix44, fix50sp2, fixt11};

use support::text;

#[test]
fn header_and_trailer_are_read_typed_and_by_any_tag() {
    let body = "50=DESK|57=FLOOR|43=Y|115=CLIENT|627=2|628=HUB1|630=7|628=HUB2|9001=x|11=ord1|9002=y|93=3|89=a\x01b|";
    text(b"D", body, |message| {
        let order = fix44::NewOrderSingle::read(message).unwrap();
        let header = order.header();
        assert_eq!(header.sender_comp_id(), Ok("TRADER".into()));
        assert_eq!(header.sender_sub_id(), Ok(Some("DESK".into())));
        assert_eq!(header.target_sub_id(), Ok(Some("FLOOR".into())));
        assert_eq!(header.on_behalf_of_comp_id(), Ok(Some("CLIENT".into())));
        assert_eq!(header.poss_dup_flag(), Ok(Some(true)));
        assert_eq!(header.poss_resend(), Ok(None));
        let hops = header.hops().unwrap();
        let hops: Vec<_> =
            hops.map(|hop| (hop.hop_comp_id().unwrap(), hop.hop_ref_id().unwrap().is_some())).collect();
        assert_eq!(hops, [("HUB1".into(), true), ("HUB2".into(), false)]);
        assert_eq!(order.trailer().signature(), Ok(Some(&b"a\x01b"[..])));
        assert_eq!(order.trailer().check_sum().map(|sum| sum.len()), Ok(3));
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
        assert_eq!(header(fix50sp2::Header::read(message)), 1);
    });
    let mut memory = [0; 256];
    let logon = fixt11::logon::Required {
        encrypt_method: fix50sp2::fields::EncryptMethod::NONE,
        heart_bt_int: 30,
        default_appl_ver_id: fixt11::fields::ApplVerID::FIX50SP2,
    };
    let body = fix50sp2::Logon::send(Memory(&mut memory), logon, |_| {}).unwrap();
    assert_eq!(body.bytes, b"98=0\x01108=30\x011137=9\x01");
}

#[test]
fn an_item_that_is_identical_in_two_versions_is_one_type() {
    let side: fix42::fields::AdvSide = fix44::fields::AdvSide::BUY;
    assert_eq!(side, fix50sp2::fields::AdvSide::BUY);
}

#[test]
fn a_message_has_the_names_of_other_versions_too() {
    let mut memory = [0; 256];
    let required = |ord_type| fix42::order_single::Required {
        cl_ord_id: b"ord1",
        handl_inst: fix42::fields::HandlInst::MANUAL_ORDER,
        symbol: b"IBM",
        side: fix42::fields::Side::BUY,
        transact_time: "20261121-10:00:00".parse().unwrap(),
        ord_type,
    };
    let required = required(fix42::fields::OrdType::MARKET);
    let body = fix42::OrderSingle::send(Memory(&mut memory), required, |_| {}).unwrap();
    support::received(body.msg_type, body.bytes, |message| {
        let order: fix42::NewOrderSingle<'_> = fix42::OrderSingle::read(message).unwrap();
        assert_eq!(order.cl_ord_id(), Ok("ord1".into()));
    });
}

/// Records which of its methods was called.
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
fn a_handler_gets_each_message_in_its_method_and_the_others_in_on_other() {
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
        assert_eq!(logout.text(), Ok(Some("bye".into())));
        assert!(matches!(fix50sp2::Message::read(message), fix50sp2::Message::Logout(_)));
    });
    text(b"UX", "58=bye|", |message| {
        let fix44::Message::Other(other) = fix44::Message::read(message) else { panic!("known") };
        assert_eq!(other.get(Key::new(58).tag()), Some(&b"bye"[..]));
    });
}
